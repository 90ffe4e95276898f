"""Rows of one file behind a URL, by reads of only their bytes; and whole files, fetched once into a folder.

A part of the second layer of reading, beside `file.py`. Bytes come from `stores.py`.
"""

from __future__ import annotations

import hashlib
import os
import urllib.parse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.io import atomic
from varlen.io.errors import format_error, stale_error
from varlen.io.file import Array, File
from varlen.io.formats import explain
from varlen.io.layout import FileLayout, Identity
from varlen.io.stores import Store, store_of
from varlen.io.urls import State

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike


__all__ = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

_HEAD = 64 * 1024  # holds most headers, so that opening is one request
_MAX_HEADER = 100_000_000
_GAP = 64 * 1024  # bytes between two ranges that cost less than a request of their own
_PIECE = 8 * 1024 * 1024  # of a longer range, fetched at once with the others


class RemoteFile(File):
    """A `.nrt` file behind a URL. It keeps only the header, and pickles as URL and identity."""

    __slots__ = ("_state", "_store")

    def __init__(self, url: str, expect: Identity | None = None) -> None:
        self._path, self._mmap = url, False
        self._store: Store = store_of(url)
        head, state = self._store.head(url, _HEAD)
        self._state = state
        self._identity = _identity(state)
        if expect is not None and self._identity != expect:
            raise stale_error(url, f"is another file than before: {expect[0]} bytes then, {state.size} now")
        length = int.from_bytes(head[:8], "little")
        if len(head) < 8 or length > min(_MAX_HEADER, state.size - 8):
            error = format_error(url, f"header of {length} bytes in a file of {state.size}: not safetensors")
            raise explain(error, url, head)
        text = head[8 : 8 + length]
        if len(text) < length:
            text += self._store.ranges(url, state, [len(head)], [8 + length])[0]
        self._layout = self._name_file(lambda: FileLayout(_core.Header(text, state.size - 8 - length)))
        self._levels, self._joints = {}, {}

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
        return _Ranges(self._path, self._store, self._state, self.header.data_start)

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteFile, (self._path, self._identity)


class _Ranges:
    """Reads ranges of the data of a file; one request reads ranges that lie close together."""

    def __init__(self, url: str, store: Store, state: State, data_start: int) -> None:
        self._url, self._store, self._state, self._data_start = url, store, state, data_start

    def read(self, begins: RowsLike, ends: RowsLike) -> Array:
        """The bytes of all ranges, end to end."""
        first, last = (np.asarray(edge, np.int64).reshape(-1) for edge in (begins, ends))
        limit = self._state.size - self._data_start
        bad = np.flatnonzero((first < 0) | (last < first) | (last > limit))
        if len(bad):
            start = bad[0]
            raise format_error(self._url, f"bytes {first[start]} to {last[start]} are not in {limit} of data")
        sizes = last - first
        picks = np.flatnonzero(sizes)
        out = np.empty(int(sizes.sum()), np.uint8)
        if not len(picks):
            return out
        blocks = _blocks(first[picks], last[picks])
        start = self._data_start
        pieces = self._store.ranges(
            self._url, self._state, [int(b) + start for b, _ in blocks], [int(e) + start for _, e in blocks]
        )
        starts = np.array([begin for begin, _ in blocks])
        data = np.frombuffer(b"".join(pieces), np.uint8)
        shifts = starts - np.cumsum([0, *(len(piece) for piece in pieces[:-1])])
        shift = shifts[np.searchsorted(starts, first[picks], side="right") - 1]
        places = (np.cumsum(sizes) - sizes)[picks]
        for place, size, source in zip(places, sizes[picks], first[picks] - shift, strict=True):
            out[place : place + size] = data[source : source + size]
        return out

    def close(self) -> None:
        """Nothing is open."""


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


def _identity(state: State) -> Identity:
    digest = hashlib.sha256(state.mark.encode()).digest()
    return state.size, int.from_bytes(digest[:7], "little"), 0


def fetch_whole(url: str, folder: str) -> str:
    """The path of a copy of the file in a folder, made unless a current one exists; it asks the server first.
    A copy appears once it is complete.
    """
    store = store_of(url)
    state = store.state(url)
    key = hashlib.sha256(f"{url}\n{state.size}\n{state.mark}".encode()).hexdigest()[:16]
    name = os.path.basename(urllib.parse.urlsplit(url).path) or "file"
    path = os.path.join(os.path.abspath(folder), f"{key}-{name}")
    if os.path.exists(path) and os.path.getsize(path) == state.size:
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with atomic.replace_file(path, False) as fd:
        for begins in _batches(state.size):
            ends = [min(begin + _PIECE, state.size) for begin in begins]
            atomic.write_all(fd, tuple(store.ranges(url, state, begins, ends)))
    return path


def _batches(size: int) -> Iterator[list[int]]:
    begins = list(range(0, size, _PIECE))
    for start in range(0, len(begins), 4):
        yield begins[start : start + 4]
