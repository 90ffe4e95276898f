"""Bytes of many columns, appended in turns and copied out column by column, in bounded memory."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from varlen.io import atomic

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

# The memory of all columns together, and the size of a read where the system cannot copy between files.
_BUDGET = 64 * 1024 * 1024
_CHUNK = 4 * 1024 * 1024


class ColumnBuffer:
    """One unnamed temporary file beside the target, which is gone when the process ends."""

    def __init__(self, target: str, budget: int = _BUDGET) -> None:
        self._target = target
        self._budget = budget
        self._fd = -1
        self._end = 0
        self._nbytes = 0
        # For each column the parts in the file, as (offset, size), and the bytes that are still in memory.
        self._extents: dict[object, list[tuple[int, int]]] = {}
        self._tails: dict[object, list[Array]] = {}

    def append(self, column: object, data: Array) -> None:
        """Add bytes, a uint8 array that does not change afterwards, to a column."""
        self._tails.setdefault(column, []).append(data)
        self._nbytes += data.nbytes
        if self._nbytes > self._budget:
            self._flush()

    def chunks(self, column: object) -> Iterator[Array]:
        """The bytes of a column, in pieces of bounded size."""
        for offset, size in self._extents.get(column, ()):
            for start in range(offset, offset + size, _CHUNK):
                yield self._read(start, min(_CHUNK, offset + size - start))
        yield from self._tails.get(column, ())

    def copy(self, column: object, out: int) -> None:
        """Writes a column's bytes to a descriptor."""
        for offset, size in self._extents.get(column, ()):
            rest = size
            with contextlib.suppress(OSError, AttributeError):  # other systems, other file systems
                while rest:
                    count = os.copy_file_range(self._fd, out, rest, offset + size - rest)
                    if not count:
                        break
                    rest -= count
            for start in range(offset + size - rest, offset + size, _CHUNK):
                atomic.write_all(out, (self._read(start, min(_CHUNK, offset + size - start)),))
        atomic.write_all(out, self._tails.get(column, ()))

    def close(self) -> None:
        """Free the memory and the disk space."""
        self._extents.clear()
        self._tails.clear()
        self._nbytes = 0
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _flush(self) -> None:
        if self._fd < 0:
            self._fd, path = atomic.temporary(self._target)
            os.unlink(path)
        for column, tails in self._tails.items():
            size = sum(tail.nbytes for tail in tails)
            if size:
                with atomic.naming_target(self._target):
                    atomic.write_all(self._fd, tails)
                self._extents.setdefault(column, []).append((self._end, size))
                self._end += size
            tails.clear()
        self._nbytes = 0

    def _read(self, offset: int, size: int) -> Array:
        out = np.empty(size, np.uint8)
        count = 0
        while count < size:
            got = os.preadv(self._fd, [out[count:].data], offset + count)
            if not got:
                raise OSError(5, "the temporary file ends early", self._target)
            count += got
        return out
