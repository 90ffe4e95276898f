"""Batches of keys that lie in several mapped sources, of which some have the rows in another order.

Each source makes its batch by its own plan, and these are put together: so rows are moved once, from the map.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from varlen.data.options import BatchOptions, select_columns
from varlen.data.sources.alignment import AlignedSource, TakenSource
from varlen.data.sources.memory import ColumnLike, Ints, Source

__all__: list[str] = []

# Options that are of the whole batch: then its rows are read first.
_OF_ALL = ("prefix", "suffix", "max_bytes")
_PER_KEY = ("dtype", "fill", "nan")
# What a batch has beside its keys.
_NONE_BESIDE = dict.fromkeys(("masks", "lengths", "positions", "parts", "windows", "cu_seqlens"), False)
# What rows without levels have of the options.
_OF_FLAT = ("framework", "layout", *_PER_KEY)
# What a batch has of a level before the keys there.
_OF_LEVEL = ("mask", "offsets", "cu_seqlens", "max_length")


class JoinPart(NamedTuple):
    """Keys of one source; places: where its rows are that come in another order."""

    source: Source
    places: Ints | None
    options: BatchOptions
    has_levels: bool


class JoinPlan(NamedTuple):
    """The sources of a batch, and the order of what it has."""

    parts: list[JoinPart]
    order: list[str]

    def merge(self, batches: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The arrays of all batches, in the order that those of one source have."""
        arrays: dict[str, Any] = {}
        for batch in batches:
            arrays.update(batch)
        return {**{name: arrays[name] for name in self.order if name in arrays}, **arrays}


def plan_join(source: Any, options: BatchOptions) -> JoinPlan | None:
    """The sources of a batch with these options; None where it is not made of theirs."""
    if not isinstance(source, AlignedSource) or not any(isinstance(p, TakenSource) for p in source._parts):
        return None
    values: Mapping[str, Any] = options.values
    is_plain = values["layout"] in ("padded", "ragged") and not values["flatten"]
    is_alone = options.model is None and options.device is None and options.goes_to is None
    has_axes = any(len(options.per_axis(name)) > 1 for name in ("max_len", "pad_to", "pad_to_multiple_of"))
    if not is_plain or not is_alone or has_axes or any(values[name] is not None for name in _OF_ALL):
        return None
    for name in _PER_KEY:
        if isinstance(values[name], Mapping) and not values[name].keys() <= source.fields.keys():
            return None  # and an error there
    keys = list(select_columns(source.fields, values["keys"]))
    entries = []
    for part, index, own in _mapped_parts(source):
        names = [key for key in keys if key in own]
        if names and not (part.mmap or part.decodes):
            return None
        if names:
            entries.append((part, index, names, max(source.fields[key].dim for key in names)))
    depths = [depth for *_, depth in entries]
    if max(depths, default=0) == 0:
        return None
    first = depths.index(max(depths))  # it has what is of all levels
    dims = [{source.fields[key].dim for key in names} - {0} for _, _, names, _ in entries]
    parts = []
    for i, (part, index, names, depth) in enumerate(entries):
        others = [dims[first], *dims[:i]]  # a batch has the masks of the dims of its keys
        extras = {} if i == first else {**_NONE_BESIDE}
        if i != first and dims[i] - set().union(*others):
            extras.pop("masks")
        parts.append(JoinPart(part, index, _options_of(options, names, depth > 0, extras), depth > 0))
    return JoinPlan(parts, _usual_order({key: source.fields[key] for key in keys}))


def _mapped_parts(source: AlignedSource) -> list[tuple[Any, Ints | None, list[str]]]:
    """The sources in their own order as one, then each other one; with their keys."""
    plain = [i for i, part in enumerate(source._parts) if not isinstance(part, TakenSource)]
    others = [i for i in range(len(source._parts)) if i not in plain]
    result: list[tuple[Any, Ints | None, list[str]]] = []
    if plain:
        names = [source._own(i, None) for i in plain]
        keys = [key for own in names for key in own]
        parts = [source._parts[i] for i in plain]
        own = parts[0] if len(parts) == 1 else AlignedSource(parts, names=names)
        result.append((own, None, keys))
    for i in others:
        part: Any = source._parts[i]
        result.append((part._source, part._index, source._own(i, None)))
    return result


def _options_of(
    options: BatchOptions, keys: list[str], has_levels: bool, extras: Mapping[str, Any]
) -> BatchOptions:
    """The options as far as they are of these keys, and `extras` instead of others."""
    own: dict[str, Any] = dict(options.user_options)
    if not has_levels:
        own = {name: own[name] for name in _OF_FLAT if name in own}
    own |= extras
    for name in _PER_KEY:
        if isinstance(own.get(name), Mapping):
            own[name] = {key: value for key, value in own[name].items() if key in keys}
    own["keys"] = keys
    return type(options)(**own)


def _usual_order(columns: Mapping[str, ColumnLike]) -> list[str]:
    """What a batch has, dim by dim: what is of a dim, then its keys."""
    names: list[str] = []
    for dim in range(max(column.dim for column in columns.values()) + 1):
        names += [f"dim{dim}/{what}" for what in _OF_LEVEL]
        for key, column in columns.items():
            if column.dim == dim:
                names += [key, f"{key}/mask"]
    return names
