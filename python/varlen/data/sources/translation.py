"""Words of several sources under common ids: ids are looked up in a table as rows are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.sources.memory import Array, Column, ColumnLike, Source, joined_columns, map_shards
from varlen.data.sources.wrapper import WrappedSource
from varlen.errors import name_file, value_error
from varlen.io import FileFormatError
from varlen.io.schema import ids_of_words, joint_metadata, union_of_words

if TYPE_CHECKING:
    from varlen.io.file import BitColumn


__all__ = []

#: The new id of each word, by key.
Tables = Mapping[str, Array]


class TranslatedSource(WrappedSource):
    """The rows of a source, where words of some keys have the ids of other vocabularies."""

    mmap = decodes = False  # ids are translated after they were read

    def __init__(self, source: Source, columns: Mapping[str, ColumnLike], tables: Tables) -> None:
        super().__init__(source, columns)
        self.tables = tables
        self.waits = bool(getattr(source, "waits", False))

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one shard, with its own dtypes; of `keys` the bytes are read."""
        return self._translate(self._source.joint(shard, keys), self._path(shard))

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with: all of its rows, and no key beside them."""
        return self.joint(shard), []

    def read_many(
        self, rows: Any, starts: Any = None, ends: Any = None, keys: Sequence[str] | None = None
    ) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        paths = self.paths
        joint = self._source.read_many(rows, starts, ends, keys)
        return self._translate(joint, paths[0] if len(paths) == 1 else "")

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        values = self._source.values(shard, name)
        return self._new_ids(name, values, self._path(shard)) if name in self.tables else values

    def _path(self, shard: int) -> str:
        return self.paths[shard] if self.paths else ""

    def _translate(self, joint: _core.Joint, path: str) -> _core.Joint:
        metadata = joint_metadata(self.fields, self.row_ids)
        for name, dim in zip(joint.names, joint.dims, strict=True):
            if name in self.tables:
                joint = joint.with_column(name, dim, self._new_ids(name, joint.values(name), path))
        return joint.with_meta(metadata)

    def _new_ids(self, name: str, values: Array, path: str) -> Array:
        table = self.tables[name]
        is_signed = values.dtype.kind == "i"
        if values.size and (values.max() >= len(table) or (is_signed and values.min() < 0)):
            number = int(values[(values < 0) | (values >= len(table))][0])
            error = value_error("", f"{name!r} has the id {number}, but there are {len(table)} words")
            raise name_file(error, path, FileFormatError) if path else error
        return table.take(values, mode="clip")  # ids were checked: another mode would do it again

    def __reduce__(self) -> tuple[Any, ...]:
        return TranslatedSource, (self._source, self._columns, self.tables)


def open_all(source: Source) -> None:
    """Open all shards, since each may add words to a vocabulary."""
    map_shards(source, source.wider)


def union_of_vocabularies(
    parts: Sequence[Mapping[str, ColumnLike]], first: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """One vocabulary for each key that has words in all parts: the first words, then those of each part."""
    common = set.intersection(*(set(columns) for columns in parts))
    words = {name: [columns[name].vocabulary for columns in parts] for name in sorted(common)}
    return {
        name: union_of_words([first.get(name, ()), *(own for own in vocabularies if own is not None)])
        for name, vocabularies in words.items()
        if None not in vocabularies
    }


def join_vocabularies(
    sources: Sequence[Source], vocabularies: Mapping[str, Sequence[str]], labels: Sequence[str] = ()
) -> list[Source]:
    """The sources with the same ids for the same words: of `vocabularies`, then of each source with rows."""
    places = [i for i, source in enumerate(sources) if len(source)] or [0]
    full = [sources[i] for i in places]
    if any(field.vocabulary is not None for source in full for field in source.fields.values()):
        for source in full:
            open_all(source)
    union = union_of_vocabularies([source.fields for source in full], vocabularies)
    for name in vocabularies.keys() - union.keys():
        raise value_error("vocabularies", f"{name!r} is no key with words in all sources")
    parts = {i: translate_source(sources[i], union) for i in places}
    names = [labels[i] if labels else f"part {i}" for i in places]
    joined_columns([source.fields for source in parts.values()], names)
    return [parts.get(i, source) for i, source in enumerate(sources)]


def translate_source(source: Source, vocabularies: Mapping[str, tuple[str, ...]]) -> Source:
    """The source with these vocabularies; itself where they begin with its own."""
    columns, tables = dict[str, ColumnLike](), dict[str, Array]()
    for name, words in vocabularies.items():
        column = source.fields[name]
        own = column.vocabulary or ()
        if own != words[: len(own)]:
            ids = ids_of_words(own, words)
            # New words of a run that goes on change no dtype while it holds their ids.
            is_held = len(words) - 1 <= np.iinfo(column.dtype).max
            tables[name] = ids.astype(column.dtype) if is_held else ids
            columns[name] = Column(column.dim, tables[name].dtype, column.trailing, words)
    return TranslatedSource(source, columns, tables) if tables else source
