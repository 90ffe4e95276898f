"""Rows of one file behind a URL, by reads of only their bytes; and whole files, fetched once into a folder.

A part of the second layer of reading, beside `file.py`. Bytes come from `stores.py`.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
import urllib.parse
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from varlen import _core
from varlen.io import atomic
from varlen.io.bits import BitReader
from varlen.io.cache import Cache, CacheStore, open_store
from varlen.io.checksums import checksum_in
from varlen.io.dtypes import dtype_of
from varlen.io.errors import StaleFileError, format_error, stale_error
from varlen.io.file import Array, File
from varlen.io.formats import explain
from varlen.io.layout import FileLayout, Identity
from varlen.io.ranges import Steps
from varlen.io.stores import Store, store_of
from varlen.io.urls import Place, State

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike


__all__ = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
_T = TypeVar("_T")

_HEAD = 64 * 1024  # holds most headers, so that opening is one request
_MAX_HEADER = 100_000_000
# Bytes between two ranges that cost less than a request of their own: 20 ms of waiting, shared by 64 that
# wait at once, at 200 MB a second.
_GAP = 64 * 1024
_MOST_ENDS = 4 * 1024 * 1024  # bytes of a level that are read whole, and kept for the next batches
_MOST_CACHED = 256 * 1024 * 1024  # bytes of all levels that a process keeps
_PIECE = 8 * 1024 * 1024  # of a longer range, fetched at once with the others


class RemoteFile(File):
    """A `.nrt` file behind a URL. It keeps the header and small levels, and pickles as URL and identity."""

    __slots__ = ("_cache", "_options", "_state", "_store")

    is_remote = True

    def __init__(
        self,
        url: str,
        expect: Identity | None = None,
        options: Mapping[str, Any] | None = None,
        cache: Cache | None = None,
        checksum: str | None = None,
    ) -> None:
        self._path, self._mmap, self._options, self._cache = url, False, options, cache
        self._store: Store = open_store(url, options, cache)
        head, state = _known_head(self._store, url, expect, checksum) or self._store.head(url, _HEAD)
        self._state = state
        self._identity = identity_of(state)
        if expect is not None and self._identity != expect:
            raise stale_error(url, f"is another file than before: {expect[0]} bytes then, {state.size} now")
        length = int.from_bytes(head[:8], "little")
        if len(head) < 8 or length > min(_MAX_HEADER, state.size - 8):
            error = format_error(url, f"header of {length} bytes in a file of {state.size}: not safetensors")
            raise explain(error, url, head)
        text = head[8 : 8 + length]
        if len(text) < length:
            text += self._store.ranges([Place(url, state, len(head), 8 + length)])[0]
            self._store.check({url: state})
        self._levels, self._joints, self._bits = {}, {}, {}
        self._right_tensors = set()
        start = _Start(
            np.frombuffer(head, np.uint8)[8 + length :], Ranges(url, self._store, state, 8 + length)
        )
        self._layout = self._name_file(
            lambda: FileLayout(
                _core.Header(text, state.size - 8 - length), lambda begin, end: start.read([begin], [end])
            )
        )
        start.close()
        reader = self._decoder(start)
        for number, begin, end in self._small_levels():
            entry = self._layout.stored(self._layout.bounds[number - 1])
            if self._layout.outer.describe(entry)[4] <= len(start.data):
                self._store_ends(number, reader.read([begin], [end]))

    def head(self) -> bytes:
        """The header and its length."""
        text = self._store.ranges([Place(self._path, self._state, 0, self._layout.outer.data_start)])[0]
        self._store.check({self._path: self._state})
        return text

    def check(self) -> None:
        """Refuse a URL that no longer leads to the file that was opened."""
        try:
            now = self._store.state(self._path)
        except FileNotFoundError:
            raise stale_error(self._path, "cannot be found any more") from None
        if now != self._state:
            raise stale_error(self._path, "was changed since it was opened; open it again")

    def guard(self) -> None:
        """Nothing to do: every read sees a change."""

    def will_need(self, begins: Array, ends: Array) -> None:
        """Nothing to do: nothing is kept."""

    def reader(self) -> Any:
        """A reader of many ranges of its data at once."""
        return self._decoder(self._outer_reader())

    def _outer_reader(self) -> Ranges:
        """A reader of the file's own data."""
        return Ranges(self._path, self._store, self._state, self._layout.outer.data_start)

    def level(self, number: int) -> Array | _core.Level:
        """The ends of a level."""
        if 1 <= number <= self.depth and self._layout.bounds[number - 1] >= 0:
            (ends,) = read_together([self], [self.level_ends(number)])
            if ends is not None:
                return ends
        return super().level(number)

    def level_ends(self, number: int) -> Steps[Ints | None]:
        """The ends of a level; None if they are too many to keep. Small levels are read in one step."""
        ends = _level_cache.get((self._path, self._identity, number))
        if ends is not None:
            return ends
        levels = {n: (begin, end) for n, begin, end in self._small_levels()}
        if number not in levels:
            return None
        begins, stops = (np.array(edge, np.int64) for edge in zip(*levels.values(), strict=True))
        raw = yield begins, stops
        parts = np.split(raw, np.cumsum(stops - begins)[:-1])
        arrays = {n: self._store_ends(n, part) for n, part in zip(levels, parts, strict=True)}
        return arrays[number]

    def _small_levels(self) -> list[tuple[int, int, int]]:
        """The number of each level that is kept, and the bytes of its ends in the data."""
        out = []
        for number, index in enumerate(self._layout.bounds, start=1):
            if index >= 0:
                begin, end = self.header.describe(index)[3:]
                if end - begin <= _MOST_ENDS:
                    out.append((number, begin, end))
        return out

    def _store_ends(self, number: int, raw: Array) -> Ints:
        tag = self.header.describe(self._layout.bounds[number - 1])[1]
        ends = np.array(raw).view(dtype_of(tag)).astype(np.int64, copy=False)
        ends.flags.writeable = False
        _level_cache.put((self._path, self._identity, number), ends)
        return ends

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (self._path, self._identity, self._options, self._cache)


class _LevelCache:
    """The ends of levels that were used last, up to a number of bytes. Any number of threads may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._arrays: dict[tuple[str, Identity, int], Ints] = {}
        self._bytes = 0

    def get(self, key: tuple[str, Identity, int]) -> Ints | None:
        with self._lock:
            array = self._arrays.pop(key, None)
            if array is not None:
                self._arrays[key] = array  # now the last to go
            return array

    def put(self, key: tuple[str, Identity, int], array: Ints) -> None:
        with self._lock:
            old = self._arrays.pop(key, None)
            self._bytes += array.nbytes - (0 if old is None else old.nbytes)
            self._arrays[key] = array
            while self._bytes > _MOST_CACHED:
                self._bytes -= self._arrays.pop(next(iter(self._arrays))).nbytes

    def forget(self, url: str) -> None:
        with self._lock:
            for key in [key for key in self._arrays if key[0] == url]:
                self._bytes -= self._arrays.pop(key).nbytes

    def renew(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it


_level_cache = _LevelCache()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_level_cache.renew)


class Ranges:
    """Reads ranges of the data of a file; one request reads ranges that lie close together."""

    def __init__(self, url: str, store: Store, state: State, data_start: int) -> None:
        self._url, self._store, self._state, self._data_start = url, store, state, data_start
        self._has_read = False

    def read(self, begins: RowsLike, ends: RowsLike) -> Array:
        """The bytes of all ranges, end to end."""
        first, last = (np.asarray(edge, np.int64).reshape(-1) for edge in (begins, ends))
        blocks = self.blocks(first, last)
        return self.join(first, last, blocks, self._store.ranges(self.places(blocks)) if blocks else [])

    def blocks(self, first: Ints, last: Ints) -> list[tuple[int, int]]:
        """The ranges to ask for."""
        limit = self._state.size - self._data_start
        bad = np.flatnonzero((first < 0) | (last < first) | (last > limit))
        if len(bad):
            start = bad[0]
            raise format_error(self._url, f"bytes {first[start]} to {last[start]} are not in {limit} of data")
        picks = np.flatnonzero(last > first)
        self._has_read = self._has_read or len(picks) > 0
        return _blocks(first[picks], last[picks]) if len(picks) else []

    def places(self, blocks: Sequence[tuple[int, int]]) -> list[Place]:
        """The same in the file."""
        start = self._data_start
        return [Place(self._url, self._state, begin + start, end + start) for begin, end in blocks]

    def join(
        self, first: Ints, last: Ints, blocks: Sequence[tuple[int, int]], pieces: Sequence[bytes]
    ) -> Array:
        """The bytes of all ranges, end to end, of the blocks that were asked for."""
        sizes = last - first
        out = np.empty(int(sizes.sum()), np.uint8)
        if not blocks:
            return out
        picks = np.flatnonzero(sizes)
        starts = np.array([begin for begin, _ in blocks])
        data = np.frombuffer(b"".join(pieces), np.uint8)
        shifts = starts - np.cumsum([0, *(len(piece) for piece in pieces[:-1])])
        shift = shifts[np.searchsorted(starts, first[picks], side="right") - 1]
        places = (np.cumsum(sizes) - sizes)[picks]
        for place, size, source in zip(places, sizes[picks], first[picks] - shift, strict=True):
            out[place : place + size] = data[source : source + size]
        return out

    def close(self) -> None:
        """Refuse a file that changed while it was read."""
        _close_all([self])


class _Start:
    """Reads ranges of the data of a file whose first bytes are there."""

    def __init__(self, data: Array, rest: Ranges) -> None:
        self.data, self._rest = data, rest

    def read(self, begins: RowsLike, ends: RowsLike) -> Array:
        """The bytes of all ranges, end to end."""
        first, last = (np.asarray(edge, np.int64).reshape(-1) for edge in (begins, ends))
        if len(last) and last.max() > len(self.data):
            return self._rest.read(first, last)
        parts = [self.data[begin:end] for begin, end in zip(first.tolist(), last.tolist(), strict=True)]
        return np.concatenate(parts) if parts else self.data[:0]

    def close(self) -> None:
        """Refuse a file that changed while it was read."""
        self._rest.close()


def read_together(files: Sequence[RemoteFile], steps: Sequence[Steps[_T]]) -> list[_T]:
    """The results of steps, one for each file. Each round asks for the ranges of all files at once."""
    steps = [
        own if f.layout.bits is None else _stored_steps(f, own) for f, own in zip(files, steps, strict=True)
    ]
    results: dict[int, _T] = {}
    readers = {number: file._outer_reader() for number, file in enumerate(files)}
    needs: dict[int, tuple[Ints, Ints]] = {}

    def advance(number: int, data: Array | None) -> None:
        try:
            needs[number] = next(steps[number]) if data is None else steps[number].send(data)
        except StopIteration as stop:
            results[number] = stop.value

    try:
        for number in readers:
            advance(number, None)
        while needs:
            plans = {n: readers[n].blocks(*ranges) for n, ranges in needs.items()}
            pieces = _ask_stores({n: readers[n] for n in plans}, plans)
            ranges_of, needs = needs, {}
            for number, (first, last) in ranges_of.items():
                advance(number, readers[number].join(first, last, plans[number], pieces[number]))
    except OSError:
        readers.clear()  # the store itself looked at the file
        raise
    finally:
        _close_all(list(readers.values()))
    return [results[number] for number in range(len(steps))]


def _stored_steps(file: RemoteFile, steps: Steps[_T]) -> Steps[_T]:
    """Steps over the bytes of a compressed file, for steps over the plain data."""
    table = file.layout.bits
    assert table is not None
    decoder = BitReader(table, file.path, records=file._bits)
    try:
        ranges = next(steps)
        while True:
            ranges = steps.send((yield from decoder.steps(*ranges)))
    except StopIteration as stop:
        result: _T = stop.value
        return result


def _ask_stores(
    readers: Mapping[int, Ranges], plans: Mapping[int, Sequence[tuple[int, int]]]
) -> dict[int, list[bytes]]:
    """The blocks of each reader, by one call for all files of a store."""
    groups: dict[Hashable, list[int]] = {}
    for number, reader in readers.items():
        groups.setdefault(reader._store.group, []).append(number)
    pieces: dict[int, list[bytes]] = {}
    for numbers in groups.values():
        places = [place for n in numbers for place in readers[n].places(plans[n])]
        bodies = iter(readers[numbers[0]]._store.ranges(places) if places else [])
        for n in numbers:
            pieces[n] = list(itertools.islice(bodies, len(plans[n])))
    return pieces


def _close_all(readers: Sequence[Ranges]) -> None:
    """Refuse files that changed while they were read; where the reads did not see it, by one look at all."""
    stores: dict[Hashable, tuple[Store, dict[str, State]]] = {}
    for reader in readers:
        if reader._has_read:
            store = reader._store
            stores.setdefault(store.group, (store, {}))[1][reader._url] = reader._state
    for store, states in stores.values():
        try:
            store.check(states)
        except StaleFileError:
            for url in states:
                _level_cache.forget(url)
            raise


def _blocks(first: Ints, last: Ints) -> list[tuple[int, int]]:
    """Ranges that together hold the given ones: near ones joined, long ones in pieces, in order.

    >>> _blocks(np.array([500_000, 0, 40]), np.array([500_008, 8, 48]))
    [(0, 48), (500000, 500008)]
    """
    order = np.argsort(first, kind="stable")
    reach = np.maximum.accumulate(last[order])
    cuts = np.flatnonzero(first[order][1:] > reach[:-1] + _GAP) + 1
    begins = first[order][np.concatenate([[0], cuts])].tolist()
    ends = reach[np.concatenate([cuts - 1, [len(reach) - 1]])].tolist()
    out = []
    for begin, end in zip(begins, ends, strict=True):
        out += [(edge, min(edge + _PIECE, end)) for edge in range(begin, end, _PIECE)]
    return out


def _known_head(
    store: Store, url: str, expect: Identity | None, checksum: str | None
) -> tuple[bytes, State] | None:
    """The first bytes of a file from a cache, where they are known to be those of the file that is meant."""
    if not isinstance(store, CacheStore) or (expect is None and checksum is None):
        return None
    start = store.known_head(url, _HEAD)
    if start is None or expect is not None:
        return start if start is not None and identity_of(start[1]) == expect else None
    head = start[0]
    return start if checksum_in(head[8 : 8 + int.from_bytes(head[:8], "little")]) == checksum else None


def identity_of(state: State) -> Identity:
    """The identity of a file in a state.

    >>> identity_of(State(9, "a"))[::2]
    (9, 0)
    """
    digest = hashlib.sha256(state.mark.encode()).digest()
    return state.size, int.from_bytes(digest[:7], "little"), 0


def fetch_whole(url: str, folder: str, options: Mapping[str, Any] | None = None) -> str:
    """The path of a copy of the file in a folder, made unless a current one exists; it asks the server first.
    A copy appears once it is complete.
    """
    store = store_of(url, options)
    state = store.state(url)
    key = hashlib.sha256(f"{url}\n{state.size}\n{state.mark}".encode()).hexdigest()[:16]
    name = os.path.basename(urllib.parse.urlsplit(url).path) or "file"
    path = os.path.join(os.path.abspath(folder), f"{key}-{name}")
    if state.mark and os.path.exists(path) and os.path.getsize(path) == state.size:
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with atomic.replace_file(path, False) as fd:
        for begins in _batches(state.size):
            places = [Place(url, state, begin, min(begin + _PIECE, state.size)) for begin in begins]
            atomic.write_all(fd, store.ranges(places))
        store.check({url: state})
    return path


def _batches(size: int) -> Iterator[list[int]]:
    begins = list(range(0, size, _PIECE))
    for start in range(0, len(begins), 4):
        yield begins[start : start + 4]
