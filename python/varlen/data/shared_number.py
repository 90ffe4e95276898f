"""A number that worker processes share: the epoch of a collator."""

from __future__ import annotations

import os
from typing import Any

__all__: list[str] = []


class SharedNumber:
    """A number in memory that worker processes share, however they were started.

    Forked workers share the memory itself; spawned workers get it with the pickle that starts them. So they
    see an epoch that is set after they started, as `persistent_workers=True` needs. Any other pickle is a
    copy. Only the process that made it sets the number for all; a worker sets only its own.
    """

    def __init__(self) -> None:
        self._use(_shared_number())

    def _use(self, number: Any) -> None:
        self._number, self._process = number, os.getpid()

    def get(self) -> int | None:
        """The number."""
        number: int = self._number.value
        return None if number < 0 else number

    def set(self, number: int) -> None:
        """Sets the number, for the workers of this process too."""
        if os.getpid() != self._process:
            self._use(_shared_number())
        self._number.value = number

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
