"""Sources opened again: those of files may have more rows at the end, and others deleted."""

from __future__ import annotations

from typing import Any, cast

from varlen.data.manifest import reload_manifest
from varlen.data.sources.alignment import (
    AlignedSource,
    TakenSource,
    align,
    bare,
    check_counts,
    check_losses,
    flat_parts,
    lost_rows,
    moved_rows,
)
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.extra_key import KeyedSource
from varlen.data.sources.memory import Ints, Source
from varlen.data.sources.translation import TranslatedSource, join_vocabularies, open_all
from varlen.data.sources.wrapper import WrappedSource
from varlen.errors import value_error
from varlen.io import ShardSet
from varlen.io.reload import count_known_rows, reload_shards

__all__: list[str] = []


def reload_source(source: Source) -> Source:
    """The source as its files are now; its rows are the first of the result.

    >>> import varlen as vl
    >>> ds = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [1, 2]}))
    >>> reload_source(ds.source) is ds.source
    True
    """
    own: Any = source
    if isinstance(own, ShardSet):
        return cast("Source", reload_shards(own))
    if bare(source) is not source:
        return reload_source(bare(source))
    if isinstance(source, TakenSource):
        inner = reload_source(source._source)
        if len(inner) < len(source._source):
            reason = "deleted rows were taken out of the files of a dataset that was joined"
            raise value_error("reload", reason, "reload both, and join them again")
        if len(inner) != len(source._source):
            reason = f"a dataset that was joined has {len(inner) - len(source._source)} new rows"
            raise value_error("reload", reason, "reload both, and join them again")
        return TakenSource(inner, source._index, source.on)
    if isinstance(source, AlignedSource) and source.manifest is not None:
        return reload_manifest(source)
    if isinstance(source, AlignedSource):
        return _reload_join(source)
    if isinstance(source, JoinedSource):
        raw = [part._source if isinstance(part, TranslatedSource) else part for part in source._sources]
        parts = [reload_source(part) for part in raw]
        for i, (part, old) in enumerate(zip(parts[:-1], source._sources[:-1], strict=True)):
            if len(part) != len(old):
                reason = f"part {i} of the concatenation has {len(part)} rows, but had {len(old)}"
                raise value_error("reload", reason, "only the last part may grow")
        vocabularies = {n: own for n, column in source.fields.items() if (own := column.vocabulary)}
        return JoinedSource(join_vocabularies(parts, vocabularies))  # with ids for new words behind
    if isinstance(source, TranslatedSource):
        inner = reload_source(source._source)
        open_all(inner)
        for name, table in source.tables.items():
            words = inner.fields[name].vocabulary or ()
            if len(words) != len(table):
                reason = f"{name!r} has the new word {words[len(table)]!r}, which has no id in the vocabulary"
                raise value_error("reload", reason, "reload the data sets, and mix or concat them again")
        return TranslatedSource(inner, source._columns, source.tables)
    if isinstance(source, KeyedSource):
        inner = reload_source(source._source)
        if len(inner) < len(source):
            reason = f"deleted rows were taken out of the files, and {source._name!r} has values for them"
            raise value_error("reload", reason, "reload before with_key")
        if len(inner) != len(source):
            reason = f"there are {len(inner) - len(source)} new rows, which have no {source._name!r}"
            raise value_error("reload", reason, "reload before with_key")
        return KeyedSource(inner, source._name, source._column, source._values)
    return source


def _reload_part(source: Source, gaps: Ints) -> Source:
    """A source of a join; one whose rows are found by ids is without those at `gaps`."""
    if not isinstance(source, TakenSource) or source.on is None:
        return reload_source(source)
    inner = reload_source(source._source)
    rows = moved_rows(source, inner, gaps) if len(inner) <= len(source._source) else None
    return reload_source(source) if rows is None else TakenSource(inner, rows, source.on)


def _reload_join(source: AlignedSource) -> AlignedSource:
    """The sources of a join, opened again and joined again."""
    first = reload_source(source._origins[0])
    gaps = lost_rows(source._parts[0], flat_parts([first])[0][0])
    origins = [first, *(_reload_part(origin, gaps) for origin in source._origins[1:])]
    parts = flat_parts(origins)[0]
    check_counts(parts)
    check_losses(source._parts, parts)
    names = iter([source._own(i, None) for i in range(len(parts))])
    own_names = []
    for origin in origins:
        own_names.append(next(names))
        for _ in flat_parts([origin])[0][1:]:
            next(names)
    result = align(origins, names=own_names)
    result.check()
    return result


def count_known(old: Source, new: Source) -> int:
    """How many rows of a source that was reloaded, but for those that were deleted, were there before.

    >>> import varlen as vl
    >>> ds = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [1, 2]}))
    >>> count_known(ds.source, ds.source)
    2
    """
    one: Any = bare(old)
    two: Any = bare(new)
    if isinstance(one, ShardSet) and isinstance(two, ShardSet):
        return count_known_rows(one, two)
    if isinstance(one, AlignedSource):
        return count_known(one._parts[0], two._parts[0])
    if isinstance(one, WrappedSource):
        return count_known(one._source, two._source)
    if isinstance(one, JoinedSource):
        return sum(count_known(*pair) for pair in zip(one._sources, two._sources, strict=True))
    return len(one)
