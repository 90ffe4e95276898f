"""Joints in memory as one sequence of rows: what `varlen.io.ShardSet` is for files."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import padding_id
from varlen.data.options import view_of
from varlen.errors import type_error, value_error
from varlen.interop.arrow_parts import is_foreign
from varlen.io.dtypes import common_dtype, refuse_misfits, widen
from varlen.io.ranges import clip_windows
from varlen.io.row_ids import RowIds, ids_error
from varlen.io.schema import joint_metadata
from varlen.io.waits import map_items
from varlen.joint import JointNestedRaggedTensorDict

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike
    from varlen.io.file import BitColumn


__all__ = ["Column"]

Array = np.ndarray[tuple[Any, ...], np.dtype]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]
_T = TypeVar("_T")


class ColumnLike(Protocol):
    """One key: a `Column`, or a `varlen.io.Field`."""

    @property
    def dim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype: ...
    @property
    def trailing(self) -> tuple[int, ...]: ...
    @property
    def vocabulary(self) -> tuple[str, ...] | None: ...
    @property
    def unit(self) -> str | None: ...
    @property
    def padding_id(self) -> int | None: ...


class Source(Protocol):
    """Rows of one or more shards, numbered across all of them."""

    mmap: bool
    decodes: bool  # not mmap, but batches are planned as of maps, and decoded from them
    row_ids: str | None
    counts: Ints
    offsets: Ints

    def __len__(self) -> int: ...
    @property
    def opens_together(self) -> bool: ...  # whether all shards may be opened for one batch
    @property
    def checks_reads(self) -> bool: ...  # whether `touch` still has bytes to compare
    @property
    def fields(self) -> Mapping[str, ColumnLike]: ...
    @property
    def paths(self) -> list[str]: ...
    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint: ...
    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]: ...
    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None: ...
    def wider(self, shard: int) -> Mapping[str, np.dtype]: ...
    def read_many(
        self,
        rows: Indices,
        starts: RowsLike | None = None,
        ends: RowsLike | None = None,
        keys: Sequence[str] | None = None,
    ) -> _core.Joint: ...
    def ends(self, shard: int, dim: int) -> Ints: ...
    def values(self, shard: int, name: str) -> Array: ...
    def rows_of(self, ids: RowsLike) -> Ints: ...
    def guard(self, shards: Iterable[int] | None = None) -> None: ...


def rest_of(source: object) -> Ints | None:
    """The rows of a source that were not deleted, in order; None where none was."""
    rows: Ints | None = getattr(source, "rest", None)
    return rows


def map_shards(
    source: Source, function: Callable[[int], _T], shards: Iterable[int] | None = None
) -> list[_T]:
    """What a function makes of each shard, or of each with rows; many at once where files are not mapped."""
    full = np.flatnonzero(source.counts).tolist() if shards is None else shards
    return map_items(function, full, not (source.mmap and source.opens_together))


def rows_in_shards(source: Source, rows: Ints) -> tuple[Ints, Ints]:
    """The shards that rows lie in, and the place of each row where these shards lie end to end."""
    owners = source.offsets[1:].searchsorted(rows, side="right")
    has_rows = np.bincount(owners, minlength=len(source.counts)) > 0
    counts = source.counts * has_rows
    return np.flatnonzero(has_rows), rows + (np.cumsum(counts) - counts - source.offsets[:-1])[owners]


@dataclass(frozen=True)
class Column:
    """One key of a dataset."""

    dim: int
    dtype: np.dtype
    trailing: tuple[int, ...] = ()
    vocabulary: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def unit(self) -> str | None:
        """The unit of time, such as "ns"; None for other values."""
        return np.datetime_data(self.dtype)[0] if self.dtype.kind in "mM" else None

    @functools.cached_property  # each batch that is read first asks for it
    def padding_id(self) -> int | None:
        """The id of the word "[PAD]", which stands for no value; None if the vocabulary lacks it."""
        return padding_id(self.vocabulary)


def as_joint(value: Any, argument: str) -> _core.Joint:
    """The core's joint of a JointNestedRaggedTensorDict, or itself."""
    joint = view_of(value)
    if joint is None and is_foreign(value):
        joint = view_of(JointNestedRaggedTensorDict(value))
    if joint is None:
        kind = type(value).__name__
        hint = ""
        if isinstance(value, Mapping):
            hint = "; JointNestedRaggedTensorDict(...) makes one of it"
        elif hasattr(value, "levels"):
            hint = f"; give it a name: JointNestedRaggedTensorDict({{'x': {kind.lower()}}})"
        elif isinstance(value, (str, os.PathLike)):
            hint = "; varlen.open(...) opens files"
        elif hasattr(value, "concat"):
            hint = "; it is a dataset as it is, and a.concat(b) joins two"
        raise type_error(argument, f"expected a JointNestedRaggedTensorDict, got {kind}{hint}")
    return joint


class MemorySource:
    """Joints one after another, with the same keys at the same dims; parts without rows are not compared."""

    mmap = True
    decodes = checks_reads = False
    opens_together = True

    def __init__(self, joints: Sequence[_core.Joint], row_ids: str | None = None) -> None:
        self.row_ids = row_ids
        self._ids: RowIds | None = None
        self.counts: Ints = np.array([len(joint) for joint in joints], np.int64)
        self.offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        full = [joint for joint in joints if len(joint)] or list(joints[:1])
        self.fields = joined_columns([columns_of(joint) for joint in full])
        metadata = joint_metadata(self.fields, row_ids)
        self._joints = [joint if joint.meta == metadata else joint.with_meta(metadata) for joint in joints]
        self._wider = [self._dtypes_to_widen(joint) for joint in self._joints]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def paths(self) -> list[str]:
        """Empty strings: nothing is in a file."""
        return [""] * len(self._joints)

    def joint(self, shard: int, keys: Sequence[str] | None = None) -> _core.Joint:
        """The rows of one part, with its own dtypes."""
        return self._joints[shard]

    def plan_source(
        self, shard: int, keys: Sequence[str] | None = None
    ) -> tuple[_core.Joint, list[BitColumn]]:
        """What a batch is planned with: the rows of one part, and no key beside them."""
        return self._joints[shard], []

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Nothing to compare: memory has no checksums."""

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a part has in a narrower dtype than `fields`, and that of `fields`."""
        return self._wider[shard]

    def read_many(
        self, rows: Any, starts: Any = None, ends: Any = None, keys: Sequence[str] | None = None
    ) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        joints = self._joints if keys is None else [joint.select(keys) for joint in self._joints]
        if len(joints) == 1:
            return cut_windows(joints[0].take(rows), starts, ends)
        shards = self.offsets[1:].searchsorted(rows, side="right")
        parts = [
            widen(joints[s].take(rows[shards == s] - self.offsets[s]), self._wider[s], rows[shards == s])
            for s in np.unique(shards)
        ]
        if not parts:
            return joints[0].take(rows) if joints else _core.Joint([], [], [], [], 0)
        return cut_windows(in_order(parts, shards), starts, ends)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one part."""
        return self._joints[shard].bounds(dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one part, with its own dtype."""
        return self._joints[shard].values(name)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ids_error()
        if self._ids is None:
            name = self.row_ids
            parts = [joint.values(name) for joint in self._joints if len(joint)]
            self._ids = RowIds(parts, self.fields[name].vocabulary)
        return self._ids.rows_of(ids)

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Nothing to check: memory does not change."""

    def __iter__(self) -> Iterator[_core.Joint]:
        return iter(self._joints)

    def __reduce__(self) -> tuple[Any, ...]:
        return MemorySource, (self._joints, self.row_ids)

    def _dtypes_to_widen(self, joint: _core.Joint) -> dict[str, np.dtype]:
        own = {} if len(joint) == 0 else columns_of(joint)
        wider = {name: self.fields[name].dtype for name in own if own[name].dtype != self.fields[name].dtype}
        refuse_misfits(joint, wider)
        return wider


def joined_columns(
    parts: Sequence[Mapping[str, ColumnLike]], labels: Sequence[str] = ()
) -> dict[str, Column]:
    """The columns of parts that go together, each with the dtype and the words that hold those of all.

    Raises ValueError, which names the part and the key that does not fit.
    """
    fields: dict[str, Column] = {}
    for i, columns in enumerate(parts):
        part = labels[i] if labels else f"part {i}"
        for name, column in columns.items():
            entry = Column(column.dim, column.dtype, column.trailing, column.vocabulary)
            first = fields.setdefault(name, entry) if i == 0 else fields.get(name)
            if first is None:
                raise value_error("", f"{part}: has a key {name!r}, which other parts lack")
            if (entry.dim, entry.trailing) != (first.dim, first.trailing):
                raise value_error(
                    "",
                    f"{part}: {name!r} lies at dim {entry.dim} with rows of {entry.trailing}, in other "
                    f"parts at dim {first.dim} with rows of {first.trailing}",
                )
            dtype = common_dtype(first.dtype, entry.dtype)
            if dtype is None:
                raise value_error("", f"{part}: {name!r} is {entry.dtype}, in other parts {first.dtype}")
            fields[name] = replace(first, dtype=dtype, vocabulary=_longer_words(part, name, first, entry))
        for name in sorted(fields.keys() - set(columns)):
            raise value_error("", f"{part}: has no key {name!r}, which other parts have")
    return fields


def in_order(parts: Sequence[_core.Joint], owners: Array) -> _core.Joint:
    """Rows that were taken part after part, in the order in which their owners are listed."""
    order = np.argsort(np.argsort(owners, kind="stable"), kind="stable")
    return _core.Joint.concat(list(parts)).take(order)


def cut_windows(joint: _core.Joint, starts: Any, ends: Any) -> _core.Joint:
    """Of each row only the events `[starts, ends)` of its first level, counted and clipped as slices do."""
    if starts is None and ends is None:
        return joint
    offsets = joint.level(1).offsets
    begins, stops = clip_windows(offsets[:-1], offsets[1:], starts, ends)
    level = _core.Level.from_lengths(stops - begins)
    events = np.repeat(begins - level.offsets[:-1], stops - begins) + np.arange(level.total)
    deep = [(name, dim) for name, dim in zip(joint.names, joint.dims, strict=True) if dim > 0]
    part = _core.Joint(
        [name for name, _ in deep],
        [dim - 1 for _, dim in deep],
        [joint.values(name) for name, _ in deep],
        [joint.level(dim) for dim in range(2, joint.depth + 1)],
        joint.level(1).total,
    ).take(events)
    values = [(part if dim > 0 else joint).values(n) for n, dim in zip(joint.names, joint.dims, strict=True)]
    levels = [level, *(part.level(dim) for dim in range(1, part.depth + 1))]
    return _core.Joint(joint.names, joint.dims, values, levels, len(joint), joint.meta)


def _longer_words(part: str, name: str, first: Column, entry: Column) -> tuple[str, ...] | None:
    """The longer vocabulary of two parts. One has to begin with the other: an id means one word."""
    a, b = first.vocabulary, entry.vocabulary
    if a is b:
        return a
    if a is None or b is None:
        why = "it has words" if a is None else "it has no words"
        advice = f"varlen.io.Writer(path, vocabularies={{{name!r}: words}}) writes files with these words"
    elif a[: len(b)] != b[: len(a)]:
        i = next(i for i, (old, new) in enumerate(zip(a, b, strict=False)) if old != new)
        why = f"id {i} is {b[i]!r}, not {a[i]!r}"
        advice = "Dataset(a).concat(Dataset(b)) joins words, as JointNestedRaggedTensorDict.concatenate does"
    else:
        return max(a, b, key=len)
    fault = f"{part}: {name!r} has another vocabulary than the parts before: {why}"
    raise value_error("", fault, advice)


def columns_of(joint: _core.Joint, lift: int = 0) -> dict[str, Column]:
    """The columns of a joint. With `lift` a level more: those of a batch in which it is one record."""
    words = (joint.meta or {}).get("vocabularies", {})
    out = {}
    for name, dim in zip(joint.names, joint.dims, strict=True):
        if dim + lift >= 0:
            values = joint.values(name)
            out[name] = Column(dim + lift, values.dtype, values.shape[1:], words.get(name))
    return out
