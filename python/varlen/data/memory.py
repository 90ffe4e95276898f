"""Joints in memory as one sequence of rows: what `varlen.io.ShardSet` is for files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from varlen import _core
from varlen.data.options import view_of
from varlen.io.dtypes import common_dtype, widened
from varlen.io.row_ids import RowIds
from varlen.io.schema import joint_metadata

__all__ = ["Column"]

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


class ColumnLike(Protocol):
    """One key: a `Column`, or a `varlen.io.Field`."""

    @property
    def dim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def trailing(self) -> tuple[int, ...]: ...
    @property
    def vocabulary(self) -> tuple[str, ...] | None: ...
    @property
    def unit(self) -> str | None: ...


class Source(Protocol):
    """Rows of one or more shards, numbered across all of them."""

    mmap: bool
    row_ids: str | None
    counts: Ints
    offsets: Ints

    def __len__(self) -> int: ...
    @property
    def fields(self) -> Mapping[str, ColumnLike]: ...
    @property
    def paths(self) -> list[str]: ...
    def joint(self, shard: int) -> _core.Joint: ...
    def wider(self, shard: int) -> Mapping[str, np.dtype[Any]]: ...
    def read_many(self, rows: Any, starts: Any = None, ends: Any = None) -> _core.Joint: ...
    def rows_of(self, ids: Any) -> Ints: ...
    def guard(self, shards: Iterable[int] | None = None) -> None: ...


@dataclass(frozen=True)
class Column:
    """One key of a dataset.

    Attributes
    ----------
    dim
        Ragged levels that it lies under; 0 is one value a row.
    dtype
        Of its values in a batch. Where parts were narrowed on their own, the one that holds all of them.
    trailing
        Fixed dimensions behind the ragged ones.
    vocabulary
        The strings that integer values stand for, or None.

    Examples
    --------
    >>> Column(1, np.dtype("M8[s]")).unit
    's'
    """

    dim: int
    dtype: np.dtype[Any]
    trailing: tuple[int, ...] = ()
    vocabulary: tuple[str, ...] | None = field(default=None, repr=False)

    @property
    def unit(self) -> str | None:
        """The unit of time, such as "ns"; None for other values."""
        return np.datetime_data(self.dtype)[0] if self.dtype.kind in "mM" else None


def as_joint(value: Any, argument: str) -> _core.Joint:
    """The core's joint of a JointNestedRaggedTensorDict, or itself."""
    joint = view_of(value)
    if joint is None:
        kind = type(value).__name__
        hint = ""
        if isinstance(value, Mapping):
            hint = "; JointNestedRaggedTensorDict(...) makes one of it"
        elif hasattr(value, "levels"):
            hint = f"; give it a name: JointNestedRaggedTensorDict({{'x': {kind.lower()}}})"
        elif isinstance(value, (str, os.PathLike)):
            hint = "; varlen.open(...) opens files"
        raise TypeError(f"{argument}: expected a JointNestedRaggedTensorDict, got {kind}{hint}")
    return joint


class MemorySource:
    """Joints one after another, with the same keys at the same dims; parts without rows are not compared."""

    mmap = True

    def __init__(self, joints: Sequence[_core.Joint], row_ids: str | None = None) -> None:
        self.row_ids = row_ids
        self._ids: RowIds | None = None
        self.counts: Ints = np.array([len(joint) for joint in joints], np.int64)
        self.offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        self.fields: dict[str, Column] = {}
        full = [joint for joint in joints if len(joint)] or list(joints[:1])
        for part, joint in enumerate(full):
            self._add(part, columns_of(joint))
        for part, joint in enumerate(full):
            for name in sorted(self.fields.keys() - set(joint.names)):
                raise ValueError(f"part {part}: has no key {name!r}, which other parts have")
        metadata = joint_metadata(self.fields, row_ids)
        self._joints = [joint if joint.meta == metadata else joint.with_meta(metadata) for joint in joints]
        self._wider = [self._dtypes_to_widen(joint) for joint in self._joints]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def paths(self) -> list[str]:
        """Empty strings: nothing is in a file."""
        return [""] * len(self._joints)

    def joint(self, shard: int) -> _core.Joint:
        """The rows of one part, with its own dtypes."""
        return self._joints[shard]

    def wider(self, shard: int) -> Mapping[str, np.dtype[Any]]:
        """The keys that a part has in a narrower dtype than `fields`, and that of `fields`."""
        return self._wider[shard]

    def read_many(self, rows: Any, starts: Any = None, ends: Any = None) -> _core.Joint:
        """The rows, in their order, as one Joint of its own."""
        if len(self._joints) == 1:
            return self._joints[0].take(rows)
        shards = self.offsets[1:].searchsorted(rows, side="right")
        parts = [
            widened(self._joints[s].take(rows[shards == s] - self.offsets[s]), self._wider[s])
            for s in np.unique(shards)
        ]
        if not parts:
            return self._joints[0].take(rows) if self._joints else _core.Joint([], [], [], [], 0)
        order = np.argsort(np.argsort(shards, kind="stable"), kind="stable")
        return _core.Joint.concat(parts).take(order)

    def rows_of(self, ids: Any) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ValueError("ids: these rows have no ids; name their key with row_ids=")
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

    def _add(self, part: int, columns: Mapping[str, Column]) -> None:
        if part == 0:
            self.fields = dict(columns)
            return
        for name, found in columns.items():
            known = self.fields.get(name)
            if known is None:
                raise ValueError(f"part {part}: has a key {name!r}, which other parts have not")
            if (found.dim, found.trailing) != (known.dim, known.trailing):
                raise ValueError(
                    f"part {part}: {name!r} lies at dim {found.dim} with rows of {found.trailing}, in other "
                    f"parts at dim {known.dim} with rows of {known.trailing}"
                )
            if found.dtype != known.dtype:
                dtype = common_dtype(known.dtype, found.dtype)
                if dtype is None:
                    raise ValueError(f"part {part}: {name!r} is {found.dtype}, in other parts {known.dtype}")
                self.fields[name] = replace(known, dtype=dtype)
            self.fields[name] = replace(self.fields[name], vocabulary=_longer_words(part, name, known, found))

    def _dtypes_to_widen(self, joint: _core.Joint) -> dict[str, np.dtype[Any]]:
        own = {} if len(joint) == 0 else columns_of(joint)
        return {name: self.fields[name].dtype for name in own if own[name].dtype != self.fields[name].dtype}


def _longer_words(part: int, name: str, known: Column, found: Column) -> tuple[str, ...] | None:
    """The longer vocabulary of two parts. One has to begin with the other: an id means one word."""
    a, b = known.vocabulary, found.vocabulary
    if a is b:
        return a
    if a is None or b is None or a[: len(b)] != b[: len(a)]:
        raise ValueError(
            f"part {part}: {name!r} has another vocabulary than the parts before; "
            "JointNestedRaggedTensorDict.concatenate gives them one"
        )
    return max(a, b, key=len)


def columns_of(joint: _core.Joint, lift: int = 0) -> dict[str, Column]:
    """The columns of a joint. With `lift` a level more: those of a batch in which it is one record."""
    words = (joint.meta or {}).get("vocabularies", {})
    out = {}
    for name, dim in zip(joint.names, joint.dims, strict=True):
        if dim + lift >= 0:
            values = joint.values(name)
            out[name] = Column(dim + lift, values.dtype, values.shape[1:], words.get(name))
    return out
