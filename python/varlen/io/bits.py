"""Files whose numbers lie in blocks of bits: the header and the data of a plain file, in fewer bytes.

Such a file holds the header of a plain file as it is, and each tensor as blocks, which the core decodes. What
reads files sees the plain header, and reads ranges of the plain data.
"""

from __future__ import annotations

import itertools
import json
import math
import mmap
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from varlen import _core
from varlen.errors import error_of, name_file, name_place, type_error
from varlen.io import atomic
from varlen.io.checksums import CHECKSUM, checksum_in, read_tensors, seal, with_checksums, zeros_of
from varlen.io.dtypes import dtype_of, has_stand_in
from varlen.io.errors import FileFormatError, format_error

__all__: list[str] = []

#: The format that such a file says in its metadata.
FORMAT = "varlen.bits"
#: The version of metadata of such files. Of plain ones it is 1, so that older versions refuse these.
VERSION = 2

# The tensor that is the plain file's header, and what the others' names begin with. Versions that do not know
# such files say the name.
_HEADER = "compressed header"
_PREFIX = "compressed/"
_SIZE = "varlen.bits.data_size"  # the metadata that says how long the plain data is

_BLOCK = 1024  # numbers
_RECORD = np.dtype([("base", "<u8"), ("place", "<u8"), ("rest", "<u8")])
_CHUNK = 4096 * _BLOCK  # numbers that are encoded at once

Array = np.ndarray[tuple[Any, ...], np.dtype]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


class Reader(Protocol):
    """Reads ranges of the data of a file, all in one array."""

    def read(self, begins: Any, ends: Any, /) -> Array: ...
    def close(self) -> None: ...


class BitTable:
    """The plain header in a file of bits, and where the blocks of its tensors are."""

    __slots__ = ("_text", "begins", "header", "is_numeric", "numbers", "place", "places", "widths")

    def __init__(self, outer: _core.Header, read: Callable[[int, int], Array]) -> None:
        metadata = outer.metadata
        _check_version(metadata)
        names = outer.names
        entries = {name: outer.describe(i) for i, name in enumerate(names)}
        size = metadata.get(_SIZE, "")
        if _HEADER not in entries or not (size.isascii() and size.isdigit() and len(size) < 19):
            raise error_of(FileFormatError, "", "is a file of bits without the header of the plain file")
        text = read(*entries[_HEADER][3:]).tobytes()
        if len(text) < 8 or int.from_bytes(text[:8], "little") != len(text) - 8:
            raise error_of(FileFormatError, _HEADER, "is not as long as it says")
        self._text = text
        self.header = _core.Header(text[8:], int(size))
        numbers = {name: i for i, name in enumerate(names)}
        self.place = numbers.pop(_HEADER)  # of the plain header among the tensors of the file's own
        self.numbers: list[int] = []  # of the tensors in the file's own header
        self.begins: list[int] = []
        self.widths: list[int] = []
        self.places: list[tuple[int, int]] = []  # of the blocks of each tensor
        for number, name in enumerate(self.header.names):
            entry = entries.get(_PREFIX + name)
            if entry is None or entry[1] != "U8":
                raise error_of(FileFormatError, _PREFIX + name, "there are no blocks for this tensor")
            _, tag, _, begin, _ = self.header.describe(number)
            self.numbers.append(numbers.pop(_PREFIX + name))
            self.begins.append(begin)
            self.widths.append(dtype_of(tag).itemsize)
            self.places.append((entry[3], entry[4]))
        for name in numbers:
            raise error_of(FileFormatError, name, "there is no such tensor in the plain file")
        # Whether NumPy has all dtypes, so that the core makes batches of the numbers.
        self.is_numeric = not any(has_stand_in(self.header.describe(i)[1]) for i in range(len(self.header)))

    @property
    def start(self) -> bytes:
        """All that is in the plain file before its data."""
        return self._text

    def count(self, number: int) -> int:
        """The numbers of a tensor."""
        return math.prod(self.header.describe(number)[2])

    def spans(self) -> list[tuple[int, int]]:
        """The bytes of each tensor in the plain data, in their order."""
        return sorted((begin, _end(self, number)) for number, begin in enumerate(self.begins))

    def nbytes(self, number: int) -> int:
        """The bytes that a tensor takes in the file."""
        begin, end = self.places[number]
        return end - begin


def as_compress(value: object) -> bool:
    """True or False; a name of a codec is refused."""
    if not isinstance(value, (bool, np.bool_)):
        what = f"expected True or False, got {value!r}"
        raise type_error("compress", what, "each block takes what suits its numbers")
    return bool(value)


def has_bits(metadata: Mapping[str, str]) -> bool:
    """Whether a header belongs to a file of bits."""
    return metadata.get("format") == FORMAT


def _check_version(metadata: Mapping[str, str]) -> None:
    text = metadata.get("varlen.version", "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise error_of(FileFormatError, "", f"metadata varlen.version: {text!r} is not a version")
    if int(text) > VERSION:
        what = f"written as version {text}; this varlen reads files of bits up to {VERSION}, take a newer one"
        raise error_of(FileFormatError, "", what)


class BitReader:
    """Reads ranges of the plain data: of each, the blocks that hold it, which are decoded.

    `blocks_of` gives the blocks of a tensor that is mapped; otherwise `fetch` reads ranges of the file.
    """

    __slots__ = ("_blocks_of", "_fetch", "_path", "_records", "_starts", "_table", "_tensors")

    def __init__(
        self,
        table: BitTable,
        path: str,
        *,
        blocks_of: Callable[[int], _core.Bits] | None = None,
        fetch: Reader | None = None,
        records: dict[int, Array] | None = None,
    ) -> None:
        self._table, self._path, self._blocks_of, self._fetch = table, path, blocks_of, fetch
        self._records = {} if records is None else records
        full = [number for number, begin in enumerate(table.begins) if begin < _end(table, number)]
        self._tensors = sorted(full, key=table.begins.__getitem__)
        self._starts = np.array([table.begins[number] for number in self._tensors], np.int64)

    def read(self, begins: Any, ends: Any) -> Array:
        """The bytes of all ranges of the plain data, end to end."""
        if self._blocks_of is not None:
            return _concat(
                [self._decode(self._blocks_of(n), n, *edges) for n, *edges in self._split(begins, ends)]
            )
        assert self._fetch is not None
        steps = self.steps(begins, ends)
        try:
            ranges = next(steps)
            while True:
                ranges = steps.send(self._fetch.read(*ranges))
        except StopIteration as stop:
            data: Array = stop.value
            return data

    def steps(self, begins: Any, ends: Any) -> Generator[tuple[Ints, Ints], Array, Array]:
        """The same step by step: it yields ranges of the file's own data, and is sent their bytes.

        Records that are not known yet are one step, the blocks of all ranges another.
        """
        parts = self._split(begins, ends)
        yield from self._read_records(dict.fromkeys(number for number, _, _ in parts))
        picks = [self._pick_blocks(*part) for part in parts]
        if not picks:
            return _concat([])
        data = yield _concat([pick.begins for pick in picks]), _concat([pick.ends for pick in picks])
        out, place = [], 0
        for pick in picks:
            size = int((pick.ends - pick.begins).sum())
            out.append(
                self._decode(pick.bits(data[place : place + size]), pick.number, pick.first, pick.last)
            )
            place += size
        return _concat(out)

    def close(self) -> None:
        """Closes what the blocks are read with."""
        if self._fetch is not None:
            self._fetch.close()

    def _split(self, begins: Any, ends: Any) -> list[tuple[int, Ints, Ints]]:
        """The tensors whose bytes the ranges are, one after another, and of each its ranges in numbers."""
        first, last = (np.asarray(edge, np.int64).reshape(-1) for edge in (begins, ends))
        has_bytes = last > first
        if not has_bytes.all():
            first, last = first[has_bytes], last[has_bytes]
        if not len(first):
            return []
        owners = self._starts.searchsorted(first, side="right") - 1
        cuts = np.flatnonzero(owners[1:] != owners[:-1]) + 1
        edges = [0, *cuts.tolist(), len(owners)]
        return [self._as_numbers(int(owners[a]), first[a:b], last[a:b]) for a, b in itertools.pairwise(edges)]

    def _as_numbers(self, owner: int, first: Ints, last: Ints) -> tuple[int, Ints, Ints]:
        number = self._tensors[owner] if owner >= 0 else -1
        start, width = (self._table.begins[number], self._table.widths[number]) if number >= 0 else (0, 1)
        low, high = int(first.min()), int(last.max())
        if (
            number < 0
            or high > _end(self._table, number)
            or (width > 1 and bool(((first | last) % width).any()))
        ):
            raise format_error(self._path, f"bytes {low} to {high} are not numbers of one tensor")
        if width > 1 or start:
            first, last = (first - start) // width, (last - start) // width
        return number, first, last

    def _decode(self, bits: _core.Bits, number: int, first: Ints, last: Ints) -> Array:
        try:
            return bits.read(first, last)
        except ValueError as error:
            name = self._table.header.describe(number)[0]
            raise name_file(name_place(error, name), self._path, FileFormatError) from None

    def _pick_blocks(self, number: int, first: Ints, last: Ints) -> _Pick:
        """The blocks that hold the ranges."""
        table, (begin, _) = self._table, self._table.places[number]
        records = self._records[number]
        heads, tails = first // _BLOCK, (last - 1) // _BLOCK + 1
        marks = np.zeros(len(records) + 1, np.int64)
        np.add.at(marks, heads, 1)
        np.add.at(marks, tails, -1)
        blocks = np.flatnonzero(np.cumsum(marks)[:-1])
        edges = np.append(records["place"].astype(np.int64), self._room(number))
        if (edges[1:] < edges[:-1]).any() or edges[0] < 0:  # a difference may wrap
            raise self._refuse(number, "its records are out of order")
        sizes = edges[blocks + 1] - edges[blocks]
        own_records = records[blocks]
        own_records["place"] = np.cumsum(sizes) - sizes
        missing = len(records) * _BLOCK - table.count(number) if blocks[-1] == len(records) - 1 else 0
        shift = (blocks.searchsorted(heads) - heads) * _BLOCK
        return _Pick(
            number,
            first + shift,
            last + shift,
            begin + edges[blocks],
            begin + edges[blocks + 1],
            own_records,
            len(blocks) * _BLOCK - missing,
            table.widths[number],
        )

    def _read_records(self, numbers: Iterable[int]) -> Generator[tuple[Ints, Ints], Array, None]:
        """Reads the records of tensors, which are kept."""
        unread = [number for number in numbers if number not in self._records]
        if not unread:
            return
        begins = np.array([self._table.places[n][0] + self._room(n) for n in unread], np.int64)
        ends = np.array([self._table.places[n][1] for n in unread], np.int64)
        raw = yield begins, ends
        for number, part in zip(unread, np.split(raw, np.cumsum(ends - begins)[:-1]), strict=True):
            self._records[number] = part.copy().view(_RECORD)

    def _room(self, number: int) -> int:
        """The bytes of the blocks of a tensor, which are before its records."""
        begin, end = self._table.places[number]
        count = -(-self._table.count(number) // _BLOCK)
        room = end - begin - count * _RECORD.itemsize
        if room < 0:
            raise self._refuse(number, f"has {end - begin} bytes, fewer than {count} blocks need")
        return room

    def _refuse(self, number: int, text: str) -> FileFormatError:
        return format_error(self._path, text, self._table.header.describe(number)[0])


class _Pick(NamedTuple):
    """Blocks of a tensor that are read: as a tensor of those alone."""

    number: int
    first: Ints
    last: Ints
    begins: Ints
    ends: Ints
    records: Array
    total: int
    width: int

    def bits(self, data: Array) -> _core.Bits:
        """The same, once their bytes are there."""
        return _core.Bits(np.concatenate([data, self.records.view(np.uint8)]), self.total, self.width)


def _concat(parts: Sequence[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.empty(0, np.uint8)


def _end(table: BitTable, number: int) -> int:
    return table.begins[number] + table.count(number) * table.widths[number]


def write_bits(
    fd: int, header: bytes, arrays: Sequence[tuple[str, Array]], checksums: bool = False
) -> str | None:
    """Writes a plain file, of which `header` is all before its data, as blocks of bits.

    arrays: each tensor's name and numbers, as they lie in the data. Gives the checksum of its own header.
    """
    names = [_HEADER, *(_PREFIX + name for name, _ in arrays)]
    metadata = {
        "format": FORMAT,
        "varlen.version": str(VERSION),
        _SIZE: str(sum(array.nbytes for _, array in arrays)),
    }
    if checksums:  # known once the blocks are there; their texts are as long as these
        metadata = with_checksums(metadata, zeros_of(names))
    limits = [len(header), *(2 * array.nbytes + 64 for _, array in arrays)]
    room = len(_outer_header(metadata, names, limits))
    os.lseek(fd, room, os.SEEK_SET)
    atomic.write_all(fd, (header,))
    lengths = [len(header), *(_write_tensor(fd, array) for _, array in arrays)]
    _write_start(fd, _outer_header(metadata, names, lengths, room))
    if not checksums:
        return None
    text = _outer_header(with_checksums(metadata, read_tensors(fd)), names, lengths, room)
    text = seal(text, CHECKSUM)
    _write_start(fd, text)
    return checksum_in(text)


def _write_start(fd: int, text: bytes) -> None:
    os.lseek(fd, 0, os.SEEK_SET)
    atomic.write_all(fd, (text,))
    os.lseek(fd, 0, os.SEEK_END)


def compress_file(plain: int, fd: int, checksums: bool = False) -> str | None:
    """Writes the plain file behind a descriptor as blocks of bits; it is mapped, not read into memory."""
    size = os.fstat(plain).st_size
    raw = np.frombuffer(mmap.mmap(plain, size, access=mmap.ACCESS_READ), np.uint8)
    start = 8 + int.from_bytes(raw[:8].tobytes(), "little")
    text = raw[:start].tobytes()
    header = _core.Header(text[8:], size - start)
    entries = sorted((header.describe(i) for i in range(len(header))), key=lambda entry: entry[3:])
    arrays = [
        (name, raw[start + begin : start + end].view(dtype_of(tag))) for name, tag, _, begin, end in entries
    ]
    return write_bits(fd, text, arrays, checksums)


def _write_tensor(fd: int, array: Array) -> int:
    place, records = 0, []
    for numbers in _chunks(array):
        blocks, part = _core.encode_bits(numbers, place)
        atomic.write_all(fd, (blocks,))
        records.append(part)
        place += len(blocks)
    atomic.write_all(fd, records)
    return place + sum(len(part) for part in records)


def _chunks(array: Array) -> Iterator[Array]:
    flat = array.reshape(-1)
    for start in range(0, len(flat), _CHUNK):
        yield flat[start : start + _CHUNK]


def _outer_header(
    metadata: Mapping[str, str], names: Sequence[str], lengths: Sequence[int], room: int = 0
) -> bytes:
    table: dict[str, Any] = {"__metadata__": metadata}
    offset = 0
    for name, length in zip(names, lengths, strict=True):
        table[name] = {"dtype": "U8", "shape": [length], "data_offsets": [offset, offset + length]}
        offset += length
    text = json.dumps(table, ensure_ascii=False, separators=(",", ":")).encode()
    total = room or -(-(8 + len(text)) // 64) * 64
    return (total - 8).to_bytes(8, "little") + text.ljust(total - 8)
