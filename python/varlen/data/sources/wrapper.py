"""The rows of a source with other keys, or other values: what stays as the source has it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from varlen.data.sources.memory import Array, ColumnLike, Ints, Source, rest_of
from varlen.io.row_ids import RowIds, ids_error

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike


__all__ = []


class WrappedSource:
    """The rows of a source; `columns` are the keys that differ, whose values are not those of the source."""

    def __init__(self, source: Source, columns: Mapping[str, ColumnLike]) -> None:
        self._source, self._columns = source, columns
        self.row_ids = source.row_ids
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
            self._fields = own, {**own, **self._columns}
        return self._fields[1]

    @property
    def paths(self) -> list[str]:
        """The files of the source."""
        return self._source.paths

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read."""
        self._source.touch(rows, self._source_keys(keys))

    def _source_keys(self, keys: Sequence[str] | None) -> tuple[str, ...] | None:
        """The keys that are read of the source."""
        return None if keys is None else tuple(keys)

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a shard has in a narrower dtype than `fields`, and that of `fields`."""
        own = self._source.wider(shard)
        return {name: dtype for name, dtype in own.items() if name not in self._columns}

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one shard."""
        return self._source.ends(shard, dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        return self._source.values(shard, name)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ids_error()
        if self.row_ids not in self._columns:
            return self._source.rows_of(ids)
        if self._ids is None:
            parts = [self.values(int(shard), self.row_ids) for shard in np.flatnonzero(self.counts)]
            values = np.concatenate(parts) if parts else np.empty(0, self._columns[self.row_ids].dtype)
            values = values if self.rest is None else values[self.rest]
            self._ids = RowIds([values], self._columns[self.row_ids].vocabulary)
        rows = self._ids.rows_of(ids)
        return rows if self.rest is None else self.rest[rows]

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Refuse mapped files that were changed in place."""
        self._source.guard(shards)
