"""Counts of a file's rows and values, read from its bytes: the side of an account that no writer states."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.errors import error_of
from varlen.io.bits import BitReader, BitTable, Reader, has_bits
from varlen.io.errors import FileFormatError

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]


class FileCounts(NamedTuple):
    """The rows of the outermost dim, and the values by key, from the bounds and the header of a file."""

    rows: int
    values: dict[str, int]


class _Ranges:
    """Reads ranges of the data of an open file."""

    def __init__(self, fd: int, start: int) -> None:
        self._fd, self._start = fd, start

    def read(self, begins: Any, ends: Any, /) -> Array:
        """The bytes of all ranges, end to end."""
        pieces = [
            os.pread(self._fd, int(end - begin), self._start + int(begin))
            for begin, end in zip(begins, ends, strict=True)
        ]
        return np.frombuffer(bytearray(b"".join(pieces)), np.uint8)

    def close(self) -> None:
        """The file stays open."""


def read_written(fd: int) -> FileCounts:
    """The counts of a whole file, by its descriptor; its size and the last bound of each level must fit."""
    size = int.from_bytes(os.pread(fd, 8, 0), "little")
    raw = os.pread(fd, size, 8)
    header = _core.Header(raw, os.fstat(fd).st_size - 8 - size)
    reader: Reader = _Ranges(fd, 8 + size)
    if has_bits(header.metadata):
        ranges = reader
        table = BitTable(header, lambda begin, end: ranges.read([begin], [end]))
        header, reader = table.header, BitReader(table, "", fetch=ranges)
    depth, bounds, _, rows = header.layout()
    if depth == 0 and not header.columns():
        return FileCounts(max(rows[0], 0), {})
    for level in range(depth):
        _, _, shape, begin, _ = header.describe(bounds[level])
        place = begin + 8 * (shape[0] - 1)
        end = int(reader.read([place], [place + 8]).view("<i8")[0]) if shape[0] else 0
        if rows[level + 1] >= 0 and end != rows[level + 1]:
            raise error_of(
                FileFormatError,
                f"dim{level + 1}/bounds",
                f"ends at {end}, but {rows[level + 1]} rows are below it",
            )
    values = {name: header.describe(index)[2][0] for name, _, index in header.columns()}
    return FileCounts(max(rows[0], 0), values)


def read_all_written(paths: list[str]) -> FileCounts:
    """The total counts of several files."""
    rows, values = 0, dict[str, int]()
    for path in paths:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            part = read_written(fd)
        finally:
            os.close(fd)
        rows += part.rows
        for name, n in part.values.items():
            values[name] = values.get(name, 0) + n
    return FileCounts(rows, values)
