"""Joints in memory as one sequence of rows: what `varlen.io.ShardSet` is for files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from varlen import _core
from varlen.io.dtypes import common_dtype, widened
from varlen.io.row_ids import RowIds

__all__ = ["Column"]

Array = np.ndarray[Any, Any]
Ints = np.ndarray[Any, np.dtype[np.int64]]


class ColumnLike(Protocol):
    """One key: a `Column`, or a `varlen.io.Field`."""

    @property
    def dim(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def trailing(self) -> tuple[int, ...]: ...


class Source(Protocol):
    """Rows in one or more shards, counted through."""

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

    Examples
    --------
    >>> Column(1, np.dtype("f4")).trailing
    ()
    """

    dim: int
    dtype: np.dtype[Any]
    trailing: tuple[int, ...] = ()


def joint_of(value: Any, argument: str) -> _core.Joint:
    """The core's joint of a JointNestedRaggedTensorDict, or itself."""
    if isinstance(value, _core.Joint):
        return value
    view = getattr(value, "_view", None)
    found = view() if callable(view) else None
    if isinstance(found, _core.Joint):
        return found
    raise TypeError(f"{argument}: expected a JointNestedRaggedTensorDict, got {type(value).__name__}")


class MemorySource:
    """Joints one after another. They have the same keys at the same dims; a part without rows says
    nothing.
    """

    mmap = True

    def __init__(self, joints: Sequence[_core.Joint], row_ids: str | None = None) -> None:
        self._joints = list(joints)
        self.row_ids = row_ids
        self._ids: RowIds | None = None
        self.counts: Ints = np.array([len(joint) for joint in joints], np.int64)
        self.offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(self.counts)])
        self.fields: dict[str, Column] = {}
        full = [joint for joint in joints if len(joint)] or self._joints[:1]
        for part, joint in enumerate(full):
            self._add(part, columns_of(joint))
        _check_words([(joint.meta or {}).get("vocabularies", {}) for joint in full])
        for part, joint in enumerate(full):
            for name in sorted(self.fields.keys() - set(joint.names)):
                raise ValueError(f"part {part}: has no key {name!r}, which other parts have")
        self._wider = [self._wider_of(joint) for joint in self._joints]

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def paths(self) -> list[str]:
        """Nothing is in a file."""
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
        every = self.offsets[1:].searchsorted(rows, side="right")
        parts = [
            widened(self._joints[s].take(rows[every == s] - self.offsets[s]), self._wider[s])
            for s in np.unique(every)
        ]
        if not parts:
            return self._joints[0].take(rows) if self._joints else _core.Joint([], [], [], [], 0)
        order = np.argsort(np.argsort(every, kind="stable"), kind="stable")
        return _core.Joint.concat(parts).take(order)

    def rows_of(self, ids: Any) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ValueError("ids: no key of these rows is named as their ids")
        if self._ids is None:
            name = self.row_ids
            parts = [joint.values(name) for joint in self._joints if len(joint)]
            self._ids = RowIds(parts)
        return self._ids.rows_of(ids)

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Memory stays as it is."""

    def __iter__(self) -> Iterator[_core.Joint]:
        return iter(self._joints)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, ([_parts(joint) for joint in self._joints], self.row_ids)

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
                self.fields[name] = Column(known.dim, dtype, known.trailing)

    def _wider_of(self, joint: _core.Joint) -> dict[str, np.dtype[Any]]:
        own = {} if len(joint) == 0 else columns_of(joint)
        return {name: self.fields[name].dtype for name in own if own[name].dtype != self.fields[name].dtype}


def _check_words(every: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Refuses parts whose ids stand for other words; one vocabulary may go on where another ends."""
    known: dict[str, Sequence[str]] = dict(every[0]) if every else {}
    for part, words in enumerate(every):
        for name in known.keys() | words.keys():
            a, b = known.get(name, ()), words.get(name, ())
            if (name in known) != (name in words) or tuple(a[: len(b)]) != tuple(b[: len(a)]):
                raise ValueError(
                    f"part {part}: {name!r} has another vocabulary than the parts before; "
                    "JointNestedRaggedTensorDict.concatenate gives them one"
                )
            known[name] = max(a, b, key=len)


def columns_of(joint: _core.Joint, lift: int = 0) -> dict[str, Column]:
    """The columns of a joint; lifted, those of the batch of which it is one record."""
    out = {}
    for name, dim in zip(joint.names, joint.dims, strict=True):
        if dim + lift >= 0:
            values = joint.values(name)
            out[name] = Column(dim + lift, values.dtype, values.shape[1:])
    return out


def _parts(joint: _core.Joint) -> tuple[list[str], list[int], list[Array], list[_core.Level], int]:
    kept = [(name, dim) for name, dim in zip(joint.names, joint.dims, strict=True) if dim >= 0]
    levels = [joint.level(d) for d in range(1, joint.depth + 1)]
    arrays = [joint.values(name) for name, _ in kept]
    return [name for name, _ in kept], [dim for _, dim in kept], arrays, levels, len(joint)


def _rebuild(parts: list[Any], row_ids: str | None) -> MemorySource:
    return MemorySource([_core.Joint(*part) for part in parts], row_ids)
