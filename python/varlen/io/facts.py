"""What the header of a file says, worked out once for each state of the file."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.io.dtypes import dtype_of
from varlen.io.errors import FileFormatError
from varlen.io.schema import Field, Schema, check_version, decode_metadata

__all__: list[str] = []

Array = np.ndarray[Any, Any]

# (size, mtime_ns, inode)
Identity = tuple[int, int, int]


class Place(NamedTuple):
    """Where the values of a key lie, and what they are."""

    entry: int
    dim: int
    stored: np.dtype[Any]
    dtype: np.dtype[Any]
    straight: bool  # at a multiple of what the dtype wants


class Facts:
    """Keys, dims, dtypes and levels. Immutable; `view` gives a tensor by its place in the header."""

    __slots__ = ("_fields", "_places", "_schema", "bounds", "count", "depth", "header", "lengths", "rows")

    def __init__(self, header: _core.Header) -> None:
        check_version(header.metadata)
        self.header = header
        self.depth, self.bounds, self.lengths, self.rows = header.layout()
        self.count = max(self.rows[0], 0)
        self._schema: Schema | None = None
        self._fields: Mapping[str, Field] | None = None
        self._places: dict[str, Place] = {}

    @property
    def schema(self) -> Schema:
        """What the metadata says; empty for files of other libraries."""
        if self._schema is None:
            self._schema = decode_metadata(self.header.metadata)
        return self._schema

    @property
    def known_fields(self) -> Mapping[str, Field] | None:
        """What `fields` gives, where it was asked before."""
        return self._fields

    def fields(self, view: Callable[[int], Array]) -> Mapping[str, Field]:
        """Each key's dim, dtype, trailing dimensions and vocabulary."""
        if self._fields is None:
            schema, fields, places = self.schema, {}, {}
            for name, (dim, entry) in self._read_keys(view).items():
                _, tag, shape, begin, _ = self.header.describe(entry)
                stored = dtype_of(tag)
                dtype = schema.dtype(name, stored) if schema.dtypes else stored
                fields[name] = Field(dim, dtype, tag, shape[1:], schema.vocabulary(name))
                straight = (self.header.data_start + begin) % stored.alignment == 0
                places[name] = Place(entry, dim, stored, dtype, straight)
            self._places = places
            self._fields = fields
        return self._fields

    def place(self, name: str) -> Place:
        """Where a key lies; `fields` comes first."""
        return self._places[name]

    def key_of(self, entry: int) -> str | None:
        """The key that lies at a place in the header; None for levels and keys left behind."""
        return next((name for name, p in self._places.items() if p.entry == entry and p.dim >= 0), None)

    def _read_keys(self, view: Callable[[int], Array]) -> dict[str, tuple[int, int]]:
        keys = {name: (dim, entry) for name, dim, entry in self.header.columns()}
        if any(entry >= 0 for entry in self.lengths) and not self._is_first_generation(view):
            for dim, entry in enumerate(self.lengths, start=1):
                if entry >= 0 and self.bounds[dim - 1] >= 0:
                    self._add_lengths_key(keys, dim, entry, view)
        return keys

    def _add_lengths_key(
        self, keys: dict[str, tuple[int, int]], dim: int, entry: int, view: Callable[[int], Array]
    ) -> None:
        rows = self.rows[dim]
        shape = self.header.describe(entry)[2]
        if rows < 0:
            ends = view(self.bounds[dim - 1])
            rows = int(ends[-1]) if len(ends) else 0
        if "lengths" in keys:
            raise FileFormatError(f"dim{dim}/lengths: the same name is there at another depth")
        if shape[0] != rows:
            raise FileFormatError(f"dim{dim}/lengths: has {shape[0]} rows, but dim {dim} has {rows}")
        keys["lengths"] = (dim, entry)

    def _is_first_generation(self, view: Callable[[int], Array]) -> bool:
        """True where every level has, beside its bounds, the lengths of the first generation.

        A later file may hold a key that somebody called "lengths": not the differences of the bounds.
        """
        if self.schema.version is not None or any(entry < 0 for entry in self.lengths):
            return False
        for b, n in zip(self.bounds, self.lengths, strict=True):
            if b >= 0:
                ends, counts = view(b), view(n)
                zero = ends.dtype.type(0)
                if ends.shape != counts.shape or not np.array_equal(np.diff(ends, prepend=zero), counts):
                    return False
        return True


# Headers of files that were open a moment ago. Kept by identity, and only where the file is older than the
# clock of the file system is coarse: a later change then shows in its time.
_recent: dict[Identity, Facts] = {}
_lock = threading.Lock()
_MOST = 64
_LARGEST = 256 * 1024
_SETTLED_NS = 100_000_000


def recall(identity: Identity) -> Facts | None:
    """The facts of a file in this state, where they are still known."""
    return _recent.get(identity)


def header_of(identity: Identity) -> _core.Header | None:
    """The header of a file in this state, where it is still known."""
    facts = _recent.get(identity)
    return None if facts is None else facts.header


def remember(identity: Identity, facts: Facts) -> None:
    """Keeps the facts for the next open."""
    if identity in _recent or facts.header.data_start > _LARGEST:
        return
    if time.time_ns() - identity[1] < _SETTLED_NS:
        return
    with _lock:
        while len(_recent) >= _MOST:
            del _recent[next(iter(_recent))]
        _recent[identity] = facts


def forget_lock() -> None:
    """A forked child has a lock of its own: another thread may have held the parent's."""
    global _lock
    _lock = threading.Lock()
