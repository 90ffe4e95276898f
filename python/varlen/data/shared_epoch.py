"""The epoch of a collator, which its copies in worker processes read too."""

from __future__ import annotations

import os
from typing import Any

__all__: list[str] = []


class SharedEpoch:
    """An epoch in memory that worker processes share, however they were started.

    Forked workers share the memory itself; workers that are spawned get it with the pickle that starts them.
    So they see an epoch that is set after they started, as `persistent_workers=True` needs. Any other pickle
    is a copy. Only the process that made it sets the epoch of all; a worker that sets one keeps it to itself.

    Examples
    --------
    >>> epoch = SharedEpoch()
    >>> epoch.get() is None
    True
    >>> epoch.set(3)
    >>> epoch.get()
    3
    """

    def __init__(self) -> None:
        self._use(_shared_number())

    def _use(self, number: Any) -> None:
        self._number, self._process = number, os.getpid()

    def get(self) -> int | None:
        """The epoch.

        Returns
        -------
        int or None
            None where none was set.

        Examples
        --------
        >>> SharedEpoch().get() is None
        True
        """
        epoch: int = self._number.value
        return None if epoch < 0 else epoch

    def set(self, epoch: int) -> None:
        """Sets the epoch, for the workers of this process too.

        Parameters
        ----------
        epoch
            At least 0.

        Examples
        --------
        >>> epoch = SharedEpoch()
        >>> epoch.set(3)
        >>> epoch.get()
        3
        """
        if os.getpid() != self._process:
            self._use(_shared_number())
        self._number.value = epoch

    def __getstate__(self) -> Any:
        from multiprocessing.context import get_spawning_popen

        return self._number.value if get_spawning_popen() is None else self._number

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, int):
            self._use(_shared_number(state))
        else:
            self._number, self._process = state, -1


def _shared_number(value: int = -1) -> Any:
    from ctypes import c_int64
    from multiprocessing.sharedctypes import RawValue

    return RawValue(c_int64, value)
