"""Sources opened again: those of files may have more rows at the end."""

from __future__ import annotations

from typing import Any, cast

from varlen.data.manifest import reload_manifest
from varlen.data.sources.alignment import AlignedSource, TakenSource
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.extra_key import KeyedSource
from varlen.data.sources.memory import Source
from varlen.errors import value_error
from varlen.io import ShardSet
from varlen.io.reload import reload_shards

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
    if isinstance(source, TakenSource):
        inner = reload_source(source._source)
        if len(inner) != len(source._source):
            reason = f"a dataset that was joined has {len(inner) - len(source._source)} new rows"
            raise value_error("reload", reason, "reload both, and join them again")
        return TakenSource(inner, source._index, source.on)
    if isinstance(source, AlignedSource) and source.manifest is not None:
        return reload_manifest(source)
    if isinstance(source, AlignedSource):
        parts = [reload_source(part) for part in source._parts]
        for part in parts[1:]:
            if len(part) != len(parts[0]):
                reason = f"{len(parts[0])} rows, but {len(part)} of the keys {sorted(part.fields)}"
                raise value_error("reload", reason, "add rows to all, then reload")
        result = AlignedSource(parts)
        result.check()
        return result
    if isinstance(source, JoinedSource):
        parts = [reload_source(part) for part in source._sources]
        for i, (part, old) in enumerate(zip(parts[:-1], source._sources[:-1], strict=True)):
            if len(part) != len(old):
                reason = f"part {i} of the concatenation has {len(part)} rows, but had {len(old)}"
                raise value_error("reload", reason, "only the last part may grow")
        return JoinedSource(parts)
    if isinstance(source, KeyedSource):
        inner = reload_source(source._source)
        if len(inner) != len(source):
            reason = f"there are {len(inner) - len(source)} new rows, which have no {source._name!r}"
            raise value_error("reload", reason, "reload before with_key")
        return KeyedSource(inner, source._name, source._column, source._values)
    return source
