"""Rows of several sources, files and memory together, one after another."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from operator import is_not
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.sources.memory import (
    Array,
    Column,
    ColumnLike,
    Ints,
    Source,
    in_order,
    joined_columns,
    rest_of,
)
from varlen.io.dtypes import widen
from varlen.io.row_ids import RowIds, ids_error
from varlen.io.schema import joint_metadata

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike
    from varlen.io.file import BitColumn


__all__ = []


class JoinedSource:
    """The shards of all sources, counted through. Keys are at the same dims; dtypes are widened."""

    def __init__(self, parts: Sequence[Source]) -> None:
        self._sources: list[Source] = []  # none of them joined itself
        for part in parts:
            self._sources += part._sources if isinstance(part, JoinedSource) else [part]
        sources = self._sources
        self.mmap = all(source.mmap for source in sources)
        self.decodes = not self.mmap and all(source.mmap or source.decodes for source in sources)
        self.counts: Ints = np.concatenate([source.counts for source in sources])
        self.offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        self._begins = np.cumsum([0, *(len(source) for source in sources)])
        self._places = [(source, i) for source in sources for i in range(len(source.counts))]
        self._full = [source for source in sources if len(source)] or self._sources[:1]
        self._cache: tuple[list[Mapping[str, ColumnLike]], dict[str, Column]] = [], {}
        ids = {source.row_ids for source in self._full}
        self.row_ids = ids.pop() if len(ids) == 1 else None
        self._ids: RowIds | None = None
        self._is_open = self._is_checked = False
        self._check_fields()
        if self.row_ids not in self.fields:
            self.row_ids = None  # `keys` left them out

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @functools.cached_property
    def rest(self) -> Ints | None:
        """The rows that were not deleted, in order; None where none was."""
        parts = [(rest_of(source), source) for source in self._sources]
        if all(rest is None for rest, _ in parts):
            return None
        rows = [np.arange(len(source)) if rest is None else rest for rest, source in parts]
        return np.concatenate([own + begin for own, begin in zip(rows, self._begins.tolist(), strict=False)])

    @property
    def opens_together(self) -> bool:
        """Whether all shards may be opened for one batch; once they may, that stays."""
        self._is_open = self._is_open or all(source.opens_together for source in self._sources)
        return self._is_open

    @property
    def checks_reads(self) -> bool:
        """Whether `touch` still has bytes to compare; once it has none, it has none for good."""
        self._is_checked = self._is_checked or not any(source.checks_reads for source in self._sources)
        return not self._is_checked

    @property
    def fields(self) -> Mapping[str, Column]:
        """Each key's column, with the words of all shards that are open so far."""
        return self._check_fields()

    def _check_fields(self) -> dict[str, Column]:
        now = [source.fields for source in self._full]  # another object once one has more words
        previous, columns = self._cache
        if not previous or any(map(is_not, now, previous)):
            columns = joined_columns(now)
            self._cache = now, columns
        return columns

    @functools.cached_property
    def paths(self) -> list[str]:
        """The files, in the order of their rows; an empty string for rows in memory."""
        return [path for source in self._sources for path in source.paths]

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read."""
        if not self.checks_reads:
            return
        numbers = np.asarray(rows).reshape(-1)
        numbers = np.where(numbers < 0, numbers + len(self), numbers)
        owners = self._begins[1:].searchsorted(numbers, side="right")
        for owner, source in enumerate(self._sources):
            mine = numbers[owners == owner]
            if len(mine):
                source.touch(mine - self._begins[owner], keys)

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one shard, with its own dtypes; of `keys` the bytes are read."""
        source, own = self._places[shard]
        return source.joint(own, keys).with_meta(joint_metadata(self.fields, self.row_ids))

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with; of `keys` the bytes are read."""
        source, own = self._places[shard]
        joint, columns = source.plan_source(own, keys)
        return joint.with_meta(joint_metadata(self.fields, self.row_ids)), columns

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a shard has in a narrower dtype than `fields`, and that of `fields`."""
        source, own = self._places[shard]
        if source.counts[own] == 0:
            return {}
        narrow = set(source.wider(own))
        return {
            name: field.dtype
            for name, field in self.fields.items()
            if name in narrow or source.fields[name].dtype != field.dtype
        }

    def read_many(
        self, rows: Any, starts: Any = None, ends: Any = None, keys: Sequence[str] | None = None
    ) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        owners = self._begins[1:].searchsorted(rows, side="right")
        dtypes = {name: field.dtype for name, field in self.fields.items() if keys is None or name in keys}
        parts = []
        for owner in np.unique(owners) if len(rows) else [self._sources.index(self._full[0])]:
            mine = owners == owner
            first, last = (None if window is None else window[mine] for window in (starts, ends))
            part = self._sources[owner].read_many(rows[mine] - self._begins[owner], first, last, keys)
            wider = {name: dtype for name, dtype in dtypes.items() if part.values(name).dtype != dtype}
            paths = self._sources[owner].paths
            parts.append(widen(part, wider, rows[mine], paths[0] if len(paths) == 1 else ""))
        metadata = joint_metadata(self.fields, self.row_ids)  # reading may have added words
        return in_order([part.with_meta(metadata) for part in parts], owners)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one shard."""
        source, own = self._places[shard]
        return source.ends(own, dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        source, own = self._places[shard]
        return source.values(own, name)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ids_error("some or all of these rows")
        if self._ids is None:
            parts = [self.values(s, self.row_ids) for s in range(len(self.counts)) if self.counts[s]]
            if self.rest is not None:
                parts = [np.concatenate(parts)[self.rest]]
            self._ids = RowIds(parts, self.fields[self.row_ids].vocabulary)
        rows = self._ids.rows_of(ids)
        return rows if self.rest is None else self.rest[rows]

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Refuse mapped files that were changed in place."""
        for shard in range(len(self.counts)) if shards is None else shards:
            source, own = self._places[shard]
            source.guard([own])

    def __reduce__(self) -> tuple[Any, ...]:
        return JoinedSource, (self._sources,)
