"""Comparing the bytes of files with their checksums: the header, each tensor, all of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from varlen.io.checksums import CHECKSUM, bytes_of, checksum_of, compare, library
from varlen.io.dtypes import dtype_of
from varlen.io.errors import FileFormatError, checksum_error, format_error
from varlen.io.file import Array, File
from varlen.io.save import split_name
from varlen.io.shard_index import Shard

__all__: list[str] = []

# Of a file that is not mapped: large, since a server has one request for it.
_CHUNK = 64 * 1024 * 1024


def check_header(file: File, shard: Shard) -> None:
    """Compare a file's header with its checksum, and that with the one in the index."""
    library("verify")
    checksums = compare(file.head(), CHECKSUM)
    if checksums is None or not file.checksums:
        raise _no_checksums(file.path)
    if shard.is_listed and shard.checksum is None:
        raise _no_checksums(file.path, "its index has no checksum of it")
    expected, actual = checksums
    if expected != actual:
        raise checksum_error(file.path, "header", expected, actual)
    if shard.is_listed and shard.checksum != expected:
        raise checksum_error(file.path, "header", str(shard.checksum), expected)
    if file.layout.bits is not None:  # the header of the plain file
        _check_tensor(file, file.layout.bits.place, "header")


def _no_checksums(path: str, reason: str = "it has no checksums") -> FileFormatError:
    return format_error(path, f"its bytes cannot be verified: {reason}", "", "write it with checksums=True")


def check_tensors(file: File, tensors: Iterable[int]) -> None:
    """Compare tensors, by their numbers in the header, with their checksums; each once in a process."""
    for number in tensors:
        if number in file._right_tensors:
            continue
        _check_tensor(file, file.layout.stored(number), file.header.describe(number)[0])
        file._right_tensors.add(number)


def _check_tensor(file: File, number: int, full: str) -> None:
    """Compare one, by its number among those that the file begins with; errors have its name."""
    expected = file.checksums.get(file.layout.outer.describe(number)[0])
    if expected is None:
        raise _no_checksums(file.path, f"it has no checksum of {full}")
    actual = checksum_of(_bytes(file, number))
    if actual != expected:
        dim, key = split_name(full)
        raise checksum_error(file.path, full, expected, actual, *((key, dim) if dim is not None else ()))


def _bytes(file: File, number: int) -> Iterator[Any]:
    _, tag, _, begin, end = file.layout.outer.describe(number)
    if file._mmap:
        file.guard()
        array: Array = file._core.view(number, dtype_of(tag))
        yield bytes_of(array)
        return
    reader = file._outer_reader()
    try:
        for start in range(begin, end, _CHUNK):
            yield reader.read([start], [min(start + _CHUNK, end)])
    finally:
        reader.close()


def tensors_of(file: File, keys: Sequence[str] | None) -> list[int]:
    """The numbers of the tensors that keys need, which are all levels too; of all tensors for None."""
    if keys is None:
        return list(range(len(file.header)))
    numbers = [file.entry(name).number for name in keys if name in file.fields]
    return [*levels_of(file, file.depth), *numbers]


def levels_of(file: File, depth: int) -> list[int]:
    """The numbers of the tensors that hold the outermost levels."""
    pairs = zip(file.layout.bounds[:depth], file.layout.lengths[:depth], strict=True)
    return [bounds if bounds >= 0 else lengths for bounds, lengths in pairs]
