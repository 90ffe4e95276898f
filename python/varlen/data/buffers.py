"""Output memory that batches reuse."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from varlen.errors import type_error, value_error

__all__ = ["Buffers"]

_PAGE = 4096
_MOST_SLACK = 1000


class Buffers(dict[str, "np.ndarray[tuple[Any, ...], np.dtype]"]):
    """Named buffers for `out=`: allocated on first use, enlarged when needed, otherwise reused.

    Reused memory is several times faster to fill than new memory. A batch in buffers is valid until the next
    one is made in them.

    Parameters
    ----------
    slack
        The share by which a buffer is made larger than needed, because batches differ.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> buffers = vl.data.Buffers()
    >>> first = ds.batch([0, 1], out=buffers)["x"]
    >>> second = ds.batch([2, 1], out=buffers)["x"]
    >>> bool(np.shares_memory(first, second))
    True
    """

    def __init__(self, slack: float = 0.25) -> None:
        super().__init__()
        if not isinstance(slack, (int, float)):
            raise type_error("slack", f"expected a number, got {slack!r}")
        if not 0 <= slack <= _MOST_SLACK:
            raise value_error("slack", f"expected 0 to {_MOST_SLACK}, got {slack}", number=slack)
        self.slack = slack

    def grow(self, name: str, dtype: np.dtype, count: int) -> np.ndarray:
        """A flat array of at least `count` entries: the existing one if it is large enough, else a new one.

        Parameters
        ----------
        name
            The name of the buffer.
        dtype
            The dtype of its entries.
        count
            The number of entries needed.

        Returns
        -------
        ndarray
            One dimension, kept under the name.

        Examples
        --------
        >>> Buffers(slack=0.5).grow("x", np.dtype("f4"), 100).shape
        (150,)
        """
        buffer = self.get(name)
        if buffer is None or buffer.dtype != dtype or buffer.size < count:
            buffer = self[name] = _align(dtype, count + int(count * self.slack))
        return buffer

    @property
    def is_free(self) -> bool:
        """Whether no batch made in the buffers is still held, neither as a view nor as a tensor.

        Examples
        --------
        >>> buffers = Buffers()
        >>> batch = buffers.grow("x", np.dtype("f4"), 100)[:3]
        >>> buffers.is_free
        False
        >>> del batch
        >>> buffers.is_free
        True
        """
        return all(count == _ALONE[is_view] for is_view, count in self._references())

    def _references(self) -> list[tuple[bool, int]]:
        return [
            (buffer.base is not None, sys.getrefcount(buffer) + sys.getrefcount(buffer.base))
            if buffer.base is not None
            else (False, sys.getrefcount(buffer))
            for buffer in self.values()
        ]

    @property
    def nbytes(self) -> int:
        """The size of all buffers in bytes.

        Examples
        --------
        >>> buffers = Buffers(slack=0)
        >>> _ = buffers.grow("x", np.dtype("f4"), 100)
        >>> buffers.nbytes
        400
        """
        return sum(array.nbytes for array in self.values())


def _align(dtype: np.dtype, count: int) -> np.ndarray:
    # From the start of a page, so that full lines can be stored past the caches.
    size = count * dtype.itemsize
    if size < _PAGE:
        return np.empty(count, dtype)
    raw = np.empty(size + _PAGE, np.uint8)
    skip = -raw.ctypes.data % _PAGE
    return raw[skip : skip + size].view(dtype)


def _free_references() -> dict[bool, int]:
    """The references to a buffer that nobody holds, as this interpreter counts them."""
    buffers = Buffers(0)
    buffers.grow("own memory", np.dtype(np.uint8), 1)
    buffers.grow("a view", np.dtype(np.uint8), _PAGE)
    return dict(buffers._references())


_ALONE = _free_references()
