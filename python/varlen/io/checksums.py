"""Checksums: of each tensor, of the header that holds them, and of an index that holds those of headers.

They are xxh3 of 64 bits by the package xxhash, as text, "xxh3_64:0123456789abcdef". A header and an index
hold their own too, and count its digits as zeros. So a chain leads from an index to each byte of its files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_bool
from varlen.errors import error_of
from varlen.io.errors import FileFormatError
from varlen.io.schema import load_json

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

#: Metadata of a file: the checksum of its header, and JSON with the checksum of each tensor by full name.
CHECKSUM = "varlen.checksum"
CHECKSUMS = "varlen.checksums"

_ALGORITHM = "xxh3_64"
#: The place of a checksum that is not known yet.
NO_CHECKSUM = f"{_ALGORITHM}:{16 * '0'}"
_CHUNK = 4 * 1024 * 1024


def library(argument: str) -> Any:
    """The package that computes checksums."""
    try:
        import xxhash
    except ImportError as error:
        text = "checksums need the package xxhash, which is not installed"
        record = error_of(ModuleNotFoundError, argument, text, "pip install varlen[checksums]")
        record.name = "xxhash"
        raise record from error
    return xxhash


def as_checksums(value: object) -> bool:
    """Whether checksums are to be written; refused where nothing can compute them."""
    wants = as_bool(value, "checksums")
    if wants:
        library("checksums")
    return wants


def checksum_of(parts: Iterable[Any]) -> str:
    """The checksum of bytes that come in parts."""
    state = library("checksums").xxh3_64()
    for part in parts:
        state.update(part)
    return f"{_ALGORITHM}:{state.hexdigest()}"


def bytes_of(array: Array) -> Array:
    """A contiguous array as bytes."""
    return array.reshape(-1).view(np.uint8)


def with_checksums(metadata: Mapping[str, str], checksums: Mapping[str, str]) -> dict[str, str]:
    """The metadata of a file with the checksums of its tensors, and the place of the header's own."""
    text = json.dumps(dict(sorted(checksums.items())), ensure_ascii=False, separators=(",", ":"))
    return {**metadata, CHECKSUM: NO_CHECKSUM, CHECKSUMS: text}


def zeros_of(names: Iterable[str]) -> dict[str, str]:
    """Checksums that hold the place of others, which are not known yet."""
    return dict.fromkeys(names, NO_CHECKSUM)


def read_checksums(metadata: Mapping[str, str]) -> dict[str, str]:
    """The checksums of a file's tensors by full name; empty if it holds none."""
    table = load_json(metadata.get(CHECKSUMS, "{}"), f"metadata {CHECKSUMS}")
    if not isinstance(table, dict) or not all(isinstance(text, str) for text in table.values()):
        raise error_of(FileFormatError, "", f"metadata {CHECKSUMS}: not an object of texts")
    return table


def seal(text: bytes, key: str) -> bytes:
    """A header or an index with its own checksum in the place of zeros under `key`."""
    begin, end = _place(text, key)
    return text[:begin] + checksum_of((text,)).encode() + text[end:]


def compare(text: bytes, key: str) -> tuple[str, str] | None:
    """The checksum that a header or an index holds under `key`, and that of its bytes; None without one."""
    begin, end = _place(text, key)
    if begin < 0:
        return None
    own = text[begin:end].decode("ascii", "replace")
    return own, checksum_of((text[:begin], NO_CHECKSUM.encode(), text[end:]))


def checksum_in(header: bytes) -> str:
    """The checksum that a header holds of itself; empty if it holds none."""
    begin, end = _place(header, CHECKSUM)
    return header[begin:end].decode("ascii", "replace")


def _place(text: bytes, key: str) -> tuple[int, int]:
    """The begin and the end of the checksum under `key`; -1 if there is none. A quote in a JSON string has a
    backslash before it, so that a name in quotes is a name.
    """
    for colon in (":", ": "):
        mark = f'"{key}"{colon}"'.encode()
        begin = text.find(mark)
        if begin >= 0:
            begin += len(mark)
            end = begin + len(NO_CHECKSUM)
            return (begin, end) if text[end : end + 1] == b'"' else (-1, -1)
    return -1, -1


def read_tensors(fd: int) -> dict[str, str]:
    """The checksums of the tensors of a whole file, by its descriptor."""
    size = int.from_bytes(os.pread(fd, 8, 0), "little")
    table = _core.Header(os.pread(fd, size, 8), os.fstat(fd).st_size - 8 - size)
    out = {}
    for i in range(len(table)):
        name, _, _, begin, end = table.describe(i)
        out[name] = checksum_of(_read(fd, 8 + size + begin, 8 + size + end))
    return out


def _read(fd: int, begin: int, end: int) -> Iterator[memoryview]:
    buffer = memoryview(bytearray(min(_CHUNK, end - begin)))
    while begin < end:
        count = os.preadv(fd, [buffer[: min(len(buffer), end - begin)]], begin)
        if not count:
            raise OSError(5, "the file ends early")
        yield buffer[:count]
        begin += count
