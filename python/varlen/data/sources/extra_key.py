"""The rows of a source with one more key, whose values are in memory."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.sources.memory import Array, Column, Ints, Source, cut_windows
from varlen.data.sources.wrapper import WrappedSource
from varlen.io.schema import joint_metadata

if TYPE_CHECKING:
    from varlen.io.file import BitColumn


__all__ = []


class KeyedSource(WrappedSource):
    """`values` are those of all rows of the source, end to end, under its levels."""

    def __init__(self, source: Source, name: str, column: Column, values: Array) -> None:
        super().__init__(source, {name: column})
        self._name, self._column, self._values = name, column, values
        self.mmap, self.decodes = source.mmap, source.decodes
        self.row_ids = None if name == source.row_ids and column.dim != 0 else source.row_ids

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

    def _source_keys(self, keys: Sequence[str] | None) -> tuple[str, ...] | None:
        return None if keys is None else tuple(name for name in keys if name != self._name)

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one shard, with its own dtypes; of `keys` the bytes are read."""
        return self._with_key(self._source.joint(shard, self._source_keys(keys)), shard)

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with; of `keys` the bytes are read."""
        joint, columns = self._source.plan_source(shard, self._source_keys(keys))
        return self._with_key(joint, shard), [column for column in columns if column[0] != self._name]

    def _with_key(self, joint: _core.Joint, shard: int) -> _core.Joint:
        if len(joint) == 0:
            return joint
        metadata = joint_metadata(self.fields, self.row_ids)
        return joint.with_column(self._name, self._column.dim, self.values(shard, self._name), metadata)

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

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        if name != self._name:
            return self._source.values(shard, name)
        return self._values[self._places[shard] : self._places[shard + 1]]

    def __reduce__(self) -> tuple[Any, ...]:
        return KeyedSource, (self._source, self._name, self._column, self._values)
