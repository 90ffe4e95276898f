"""The rows of a source with one more key, whose values are in memory."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.sources.memory import Array, Column, ColumnLike, Ints, Source, cut_windows, rest_of
from varlen.io.row_ids import RowIds, ids_error
from varlen.io.schema import joint_metadata

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike
    from varlen.io.file import BitColumn


__all__ = []


class KeyedSource:
    """`values` are those of all rows of the source, end to end, under its levels."""

    def __init__(self, source: Source, name: str, column: Column, values: Array) -> None:
        self._source = source
        self._name, self._column, self._values = name, column, values
        self.mmap, self.decodes = source.mmap, source.decodes
        self.row_ids = None if name == source.row_ids and column.dim != 0 else source.row_ids
        self.counts, self.offsets = source.counts, source.offsets
        self._fields: tuple[Mapping[str, ColumnLike], dict[str, ColumnLike]] | None = None
        self._ids: RowIds | None = None

    def __len__(self) -> int:
        return len(self._source)

    @property
    def rest(self) -> Ints | None:
        """The rows that were not deleted, in order; None where none was."""
        return rest_of(self._source)

    @property
    def opens_together(self) -> bool:
        """Whether all shards may be opened for one batch."""
        return self._source.opens_together

    @property
    def checks_reads(self) -> bool:
        """Whether `touch` still has bytes to compare."""
        return self._source.checks_reads

    @property
    def fields(self) -> Mapping[str, ColumnLike]:
        """Each key's column; the same object until those of the source are others."""
        own = self._source.fields
        if self._fields is None or self._fields[0] is not own:
            self._fields = own, {**own, self._name: self._column}
        return self._fields[1]

    @property
    def paths(self) -> list[str]:
        """The files of the other keys."""
        return self._source.paths

    @functools.cached_property
    def _places(self) -> Ints:
        """Where the values of each shard begin."""
        if self._column.dim == 0:
            return self.offsets
        counts = np.zeros(len(self.counts) + 1, np.int64)
        for shard in np.flatnonzero(self.counts):
            ends = self._source.ends(int(shard), self._column.dim)
            counts[shard + 1] = ends[-1] if len(ends) else 0
        return np.cumsum(counts)

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read."""
        self._source.touch(rows, self._other_keys(keys))

    def _other_keys(self, keys: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if keys is None else tuple(name for name in keys if name != self._name)

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one shard, with its own dtypes; of `keys` the bytes are read."""
        return self._with_key(self._source.joint(shard, self._other_keys(keys)), shard)

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with; of `keys` the bytes are read."""
        joint, columns = self._source.plan_source(shard, self._other_keys(keys))
        return self._with_key(joint, shard), [column for column in columns if column[0] != self._name]

    def _with_key(self, joint: _core.Joint, shard: int) -> _core.Joint:
        if len(joint) == 0:
            return joint
        metadata = joint_metadata(self.fields, self.row_ids)
        return joint.with_column(self._name, self._column.dim, self.values(shard, self._name), metadata)

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a shard has in a narrower dtype than `fields`, and that of `fields`."""
        return {name: dtype for name, dtype in self._source.wider(shard).items() if name != self._name}

    @functools.cached_property
    def _key_joint(self) -> _core.Joint:
        """The key and its levels, of all shards."""
        parts = []
        for shard in np.flatnonzero(self.counts):
            levels = [self._source.ends(int(shard), dim) for dim in range(1, self._column.dim + 1)]
            values = self.values(int(shard), self._name)
            parts.append(
                _core.Joint([self._name], [self._column.dim], [values], levels, int(self.counts[shard]))
            )
        if not parts:
            levels = [np.zeros(0, np.int64)] * self._column.dim
            return _core.Joint([self._name], [self._column.dim], [self._values], levels, 0)
        return parts[0] if len(parts) == 1 else _core.Joint.concat(parts)

    def read_many(
        self, rows: Any, starts: Any = None, ends: Any = None, keys: Sequence[str] | None = None
    ) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        others = [name for name in (self.fields if keys is None else keys) if name != self._name]
        metadata = joint_metadata(self.fields, self.row_ids)
        if keys is not None and self._name not in keys:
            return self._source.read_many(rows, starts, ends, keys).with_meta(metadata)
        own = self._key_joint.take(rows)
        own = cut_windows(own, starts, ends) if self._column.dim else own
        if not others:
            return own.with_meta(metadata)
        flat = all(self.fields[name].dim == 0 for name in others)
        first, last = (None, None) if flat else (starts, ends)
        joint = self._source.read_many(rows, first, last, others)
        if self._column.dim <= joint.depth:
            return joint.with_column(self._name, self._column.dim, own.values(self._name), metadata)
        for name, dim in zip(joint.names, joint.dims, strict=True):
            own = own.with_column(name, dim, joint.values(name))
        return own.with_meta(metadata)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one shard."""
        return self._source.ends(shard, dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        if name != self._name:
            return self._source.values(shard, name)
        return self._values[self._places[shard] : self._places[shard + 1]]

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ids_error()
        if self.row_ids != self._name:
            return self._source.rows_of(ids)
        if self._ids is None:
            values = self._values if self.rest is None else self._values[self.rest]
            self._ids = RowIds([values], self._column.vocabulary)
        rows = self._ids.rows_of(ids)
        return rows if self.rest is None else self.rest[rows]

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Refuse mapped files that were changed in place."""
        self._source.guard(shards)

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyedSource, (self._source, self._name, self._column, self._values)
