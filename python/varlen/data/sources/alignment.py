"""The same rows in several sources: the keys of all as one, with nothing copied."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core
from varlen.data.sources.memory import Array, ColumnLike, Ints, Source, rest_of
from varlen.errors import value_error
from varlen.io import ShardSet
from varlen.io.differences import level_difference
from varlen.io.reload import trace_rows
from varlen.io.row_ids import RowIds, ids_error
from varlen.io.schema import joint_metadata
from varlen.io.shard_index import folder_of

if TYPE_CHECKING:
    from varlen.backends.values import Indices, RowsLike
    from varlen.io.file import BitColumn


__all__ = []

Keys = Sequence[str] | None


class TakenSource:
    """Rows of a source in another order, each read when it is asked for."""

    mmap = decodes = False
    opens_together = True

    def __init__(self, source: Source, index: Ints, on: tuple[str, str] | None = None) -> None:
        self._source, self._index = source, index
        self.on = on  # the keys of ids by which the rows were found: those of the rows, and of the source
        self.counts: Ints = np.array([len(index)], np.int64)
        self.offsets: Ints = np.array([0, len(index)], np.int64)
        self.row_ids = source.row_ids
        self.waits = bool(getattr(source, "waits", False))
        self._ids: RowIds | None = None

    def __len__(self) -> int:
        return len(self._index)

    @property
    def checks_reads(self) -> bool:
        """Whether `touch` still has bytes to compare."""
        return self._source.checks_reads

    @property
    def fields(self) -> Mapping[str, ColumnLike]:
        """Each key's column."""
        return self._source.fields

    @property
    def paths(self) -> list[str]:
        """The only file, or an empty string."""
        paths = self._source.paths
        return [paths[0] if len(paths) == 1 else ""]

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read."""
        self._source.touch(self._index[np.asarray(rows).reshape(-1)], keys)

    def joint(self, shard: int, keys: Keys = None) -> _core.Joint:
        """All rows, read."""
        return self._source.read_many(self._index)

    def plan_source(self, shard: int, keys: Keys = None) -> tuple[_core.Joint, list[BitColumn]]:
        """All rows, read, and no key beside them."""
        return self.joint(shard, keys), []

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """Nothing: rows that are read have the dtypes of `fields`."""
        return {}

    def read_many(self, rows: Any, starts: Any = None, ends: Any = None, keys: Keys = None) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        return self._source.read_many(self._index[rows], starts, ends, keys)

    @functools.cached_property
    def _levels(self) -> _core.Joint:
        depth = depth_of(self._source)
        parts = [
            joint_of_levels(self._source, int(shard), depth) for shard in np.flatnonzero(self._source.counts)
        ]
        if not parts:
            return _core.Joint([], [], [], [np.zeros(0, np.int64)] * depth, 0)
        return (parts[0] if len(parts) == 1 else _core.Joint.concat(parts)).take(self._index)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level."""
        return self._levels.bounds(dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key."""
        return self._source.read_many(self._index, keys=[name]).values(name)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        if self.row_ids is None:
            raise ids_error()
        if self._ids is None:
            self._ids = RowIds([self.values(0, self.row_ids)], self.fields[self.row_ids].vocabulary)
        return self._ids.rows_of(ids)

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Refuse mapped files that were changed in place."""
        self._source.guard()

    def __reduce__(self) -> tuple[Any, ...]:
        return TakenSource, (self._source, self._index, self.on)


class AlignedSource:
    """Sources with the same rows and levels, and other keys.

    A shard here is a range of rows that lies in one shard of each source, so that its keys are views. Levels
    are compared before a shard is first used, or all at once by `check`. `keys` are those that it shows, by
    default all, and `names` those of each source; `manifest` is the path and the version that was asked for.
    `origins` are the sources that `reload` opens again, those of a manifest together.
    """

    decodes = False  # rows of compressed files are read

    def __init__(
        self,
        parts: Sequence[Source],
        keys: Keys = None,
        manifest: tuple[str, int | None] | None = None,
        names: Sequence[Keys] | None = None,
        origins: Sequence[Source] | None = None,
    ) -> None:
        self._parts, own_names = flat_parts(parts, names)
        self._origins = list(self._parts if origins is None else origins)
        self._wants, self.manifest = keys, manifest
        self.mmap = all(part.mmap for part in self._parts)
        self.waits = any(getattr(part, "waits", False) for part in self._parts)
        edges = np.unique(np.concatenate([np.zeros(1, np.int64), *(part.offsets for part in self._parts)]))
        self.offsets: Ints = edges
        self.counts: Ints = np.diff(edges)
        if not len(self.counts):
            self.offsets, self.counts = np.zeros(2, np.int64), np.zeros(1, np.int64)
        # Of each source: the shard that each range of rows is in, and where it begins there.
        self._homes: list[tuple[Ints, Ints]] = []
        for part in self._parts:
            homes = part.offsets[1:].searchsorted(self.offsets[:-1], side="right")
            homes = np.minimum(homes, len(part.counts) - 1)
            self._homes.append((homes, self.offsets[:-1] - part.offsets[homes]))
        self._columns: tuple[list[Mapping[str, ColumnLike]], dict[str, ColumnLike]] = [], {}
        self._joints: dict[int, tuple[list[_core.Joint], _core.Joint]] = {}
        self._equal: set[int] = set()  # shards whose levels were compared
        self._owners: dict[str, int] = {}
        for i, (part, own) in enumerate(zip(self._parts, own_names, strict=True)):
            for name in part.fields:
                if (keys is None or name in keys) and (own is None or name in own):
                    self._owners.setdefault(name, i)
        self.row_ids = next((part.row_ids for part in self._parts if part.row_ids is not None), None)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @property
    def rest(self) -> Ints | None:
        """The rows that were deleted in no source, in order; None where none was."""
        return rest_of(self._parts[0])

    @property
    def opens_together(self) -> bool:
        """Whether all shards may be opened for one batch."""
        return all(part.opens_together for part in self._parts)

    @property
    def checks_reads(self) -> bool:
        """Whether `touch` still has bytes to compare."""
        return any(part.checks_reads for part in self._parts)

    @property
    def fields(self) -> Mapping[str, ColumnLike]:
        """Each key's column; the same object until those of a source are others."""
        now = [part.fields for part in self._parts]
        previous, columns = self._columns
        if not previous or any(a is not b for a, b in zip(now, previous, strict=True)):
            columns = {name: now[i][name] for name, i in self._owners.items()}
            self._columns = now, columns
        return columns

    @property
    def paths(self) -> list[str]:
        """The files of the first source."""
        paths = self._parts[0].paths
        return [paths[home] if len(paths) else "" for home in self._homes[0][0].tolist()]

    def touch(self, rows: Indices, keys: tuple[str, ...] | None = None) -> None:
        """Compare bytes with their checksums before they are first read."""
        for i, part in enumerate(self._parts):
            own = self._own(i, keys)
            if own:
                part.touch(rows, tuple(own))

    def joint(self, shard: int, keys: Keys = None) -> _core.Joint:
        """The rows of one shard, with its own dtypes; of `keys` the bytes are read."""
        self._compare(shard)
        users = [i for i in range(len(self._parts)) if i == 0 or i in self._owners.values()]
        joints = [
            self._parts[i].joint(int(self._homes[i][0][shard]), None if keys is None else self._own(i, keys))
            for i in users
        ]
        entry = self._joints.get(shard)
        if entry is not None and all(a is b for a, b in zip(entry[0], joints, strict=True)):
            return entry[1]
        parts = []
        for i, joint in zip(users, joints, strict=True):
            own = self._own(i, None)
            part = joint if len(own) == len(joint.names) else joint.select(own)
            parts.append(self._cut(i, part, shard))
        result = self._merge(parts)
        if self.mmap:
            self._joints[shard] = joints, result
        return result

    def plan_source(self, shard: int, keys: Keys = None) -> tuple[_core.Joint, list[BitColumn]]:
        """What batches of rows of one shard are planned with."""
        return self.joint(shard, keys), []

    def wider(self, shard: int) -> Mapping[str, np.dtype]:
        """The keys that a shard has in a narrower dtype than `fields`, and that of `fields`."""
        return {
            name: dtype
            for i, part in enumerate(self._parts)
            for name, dtype in part.wider(int(self._homes[i][0][shard])).items()
            if self._owners[name] == i
        }

    def read_many(self, rows: Any, starts: Any = None, ends: Any = None, keys: Keys = None) -> _core.Joint:
        """The rows, in their order, as one Joint of its own; of each only `[starts, ends)` of its events."""
        self.compare(rows)
        joints = []
        for i, part in enumerate(self._parts):
            own = self._own(i, keys)
            if own or (i == 0 and keys is not None and not len(keys)):
                has_levels = any(part.fields[name].dim > 0 for name in own)
                first, last = (starts, ends) if has_levels else (None, None)
                joints.append(part.read_many(rows, first, last, own))
        return self._merge(joints)

    def ends(self, shard: int, dim: int) -> Ints:
        """The ends of a level of one shard."""
        i = next(i for i, part in enumerate(self._parts) if depth_of(part) >= dim)
        return self._levels_of(i, shard, dim).bounds(dim)

    def values(self, shard: int, name: str) -> Array:
        """The flat values of a key of one shard, with its own dtype."""
        i = self._owners[name]
        home, begin = (int(places[shard]) for places in self._homes[i])
        part = self._parts[i]
        if begin == 0 and part.counts[home] == self.counts[shard]:
            return part.values(home, name)
        return self._cut(i, part.joint(home, [name]), shard).values(name)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id."""
        for part in self._parts:
            if part.row_ids is not None:
                return part.rows_of(ids)
        raise ids_error()

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Refuse mapped files that were changed in place."""
        numbers = None if shards is None else np.array(list(shards), np.int64)
        for part, (homes, _) in zip(self._parts, self._homes, strict=True):
            part.guard(None if numbers is None else np.unique(homes[numbers]).tolist())

    def compare(self, rows: Any) -> None:
        """Compare the levels of the shards that rows lie in, the first time."""
        if len(self._equal) < len(self.counts):
            for shard in np.unique(self.offsets[1:].searchsorted(rows, side="right")).tolist():
                self._compare(shard)

    def check(self) -> None:
        """Compare all levels; an error names the row, the keys and both numbers."""
        for shard in range(len(self.counts)):
            self._compare(shard)

    def __reduce__(self) -> tuple[Any, ...]:
        names = [self._own(i, None) for i in range(len(self._parts))]
        return AlignedSource, (self._parts, self._wants, self.manifest, names, self._origins)

    def _own(self, i: int, keys: Keys) -> list[str]:
        """The keys of a source, or those that are asked for."""
        return [name for name in (self._owners if keys is None else keys) if self._owners.get(name) == i]

    def _cut(self, i: int, joint: _core.Joint, shard: int) -> _core.Joint:
        begin, count = int(self._homes[i][1][shard]), int(self.counts[shard])
        return joint if begin == 0 and len(joint) == count else joint.slice(begin, begin + count)

    def _merge(self, joints: Sequence[_core.Joint]) -> _core.Joint:
        """The keys of all, under the levels of the deepest."""
        metadata = joint_metadata(self.fields, self.row_ids)
        result = max(joints, key=lambda joint: joint.depth)
        for joint in joints:
            for name, dim in zip(joint.names, joint.dims, strict=True):
                if joint is not result and name not in result.names:
                    result = result.with_column(name, dim, joint.values(name), metadata)
        return result.with_meta(metadata)

    def _levels_of(self, i: int, shard: int, depth: int) -> _core.Joint:
        levels = joint_of_levels(self._parts[i], int(self._homes[i][0][shard]), depth)
        return self._cut(i, levels, shard)

    def _compare(self, shard: int) -> None:
        """Compare the levels of a shard, the first time."""
        if shard in self._equal or not self.counts[shard]:
            return
        depths = [depth_of(part) for part in self._parts]
        order = sorted(range(len(depths)), key=depths.__getitem__)
        *others, deepest = order
        levels = self._levels_of(deepest, shard, depths[deepest])
        for i in others:
            own = self._levels_of(i, shard, depths[i])
            first, second = sorted((i, deepest))
            pair = (own, levels) if first == i else (levels, own)
            difference = level_difference(*pair, depths[i])
            if difference is None:
                continue
            dim, row = int(difference.what[3:]), difference.row + int(self.offsets[shard])
            names = [self._key_at(part, dim) for part in (first, second)]
            one, other = difference.one, difference.other
            text = f"row {row} has a sequence of {other} in {names[1]!r}, but of {one} in {names[0]!r}"
            raise value_error("", text, file=self._path_of(second, shard), row=row)
        self._equal.add(shard)

    def _key_at(self, i: int, dim: int) -> str:
        return next(name for name, field in self._parts[i].fields.items() if field.dim >= dim)

    def _path_of(self, i: int, shard: int) -> str:
        paths = self._parts[i].paths
        return paths[int(self._homes[i][0][shard])] if paths else ""


def align(
    parts: Sequence[Source],
    keys: Keys = None,
    manifest: tuple[str, int | None] | None = None,
    names: Sequence[Keys] | None = None,
) -> AlignedSource:
    """An aligned source; where its parts have other rows deleted, of the rest of each."""
    origins: list[Source] = []
    for part in parts:
        is_join = isinstance(part, AlignedSource) and part.manifest is None
        origins += part._origins if is_join else [part]  # type: ignore[attr-defined]
    own, names = flat_parts(parts, names)
    first, *others = [(rest_of(part), len(part)) for part in own]
    if all(_is_same_rest(first, other) for other in others):
        return AlignedSource(own, keys, manifest, names, origins)
    rest: list[Source] = []
    for part in own:
        rows = rest_of(part)
        rest.append(part if rows is None else TakenSource(part, rows))
    return AlignedSource(rest, keys, manifest, names, origins)


def flat_parts(
    parts: Sequence[Source], names: Sequence[Keys] | None = None
) -> tuple[list[Source], list[Keys]]:
    """The sources, none of them aligned itself, and the keys that each shows."""
    own: list[Source] = []
    own_names: list[Keys] = []
    for i, part in enumerate(parts):
        if isinstance(part, AlignedSource):
            own += part._parts
            own_names += [part._own(j, None) for j in range(len(part._parts))]
        else:
            own.append(part)
            own_names.append(None if names is None else names[i])
    return own, own_names


def bare(part: Source) -> Source:
    """The source behind a part that is those of its rows that were not deleted."""
    is_rest = isinstance(part, TakenSource) and part._index is rest_of(part._source)
    return part._source if is_rest else part  # type: ignore[attr-defined]


def lost_rows(old: Source, new: Source) -> Ints:
    """Of the rows of a source that were not deleted, the places of those that were deleted since."""
    one: Any = bare(old)
    if not isinstance(one, ShardSet):
        return np.empty(0, np.int64)
    two = cast("ShardSet", bare(new))
    old_rows, trace = rest_of(one), trace_rows(one, two)
    rows = two.rest if trace is None else trace.old
    if rows is None:
        return np.empty(0, np.int64)
    return np.flatnonzero(~np.isin(np.arange(len(one)) if old_rows is None else old_rows, rows))


def check_counts(parts: Sequence[Source]) -> None:
    """Refuse sources of which one, without its deleted rows, has another number of rows than the first."""
    counts = [len(part) if (rows := rest_of(part)) is None else len(rows) for part in parts]
    for part, count in zip(parts[1:], counts[1:], strict=True):
        if count != counts[0]:
            reason = f"{_name_part(parts[0])} has {counts[0]} rows, {_name_part(part)} has {count}"
            advice = "add rows to all, or delete the same in all, then reload"
            raise value_error("reload", reason, advice, number=count)


def check_losses(old: Sequence[Source], new: Sequence[Source]) -> None:
    """Refuse sources of which one lost other rows than the first, but for those that are found by ids."""
    first = lost_rows(old[0], new[0])
    for one, other in zip(old[1:], new[1:], strict=True):
        losses = first if isinstance(bare(other), TakenSource) else lost_rows(one, other)
        differences = np.setxor1d(first, losses)
        if len(differences):
            rest = rest_of(old[0])
            count = len(old[0] if rest is None else rest)
            names = [_name_part(part) for part in (new[0], other)]
            counts = " and ".join(
                f"{name} has {count - len(rows)}" for name, rows in zip(names, (first, losses), strict=True)
            )
            row = int(differences[0])
            name = names[0] if row in first else names[1]
            reason = f"of {count} rows {counts}: row {row} was deleted in {name} alone"
            raise value_error("reload", reason, "delete the same in all, then reload", row=row)


def moved_rows(part: TakenSource, source: Source, gaps: Ints) -> Ints | None:
    """The rows of a part, but those at `gaps`, as its source numbers them now; None if one is gone."""
    rows: Ints = np.delete(part._index, gaps)
    one: Any = bare(part._source)
    two: Any = bare(source)
    if not (isinstance(one, ShardSet) and isinstance(two, ShardSet)):
        return rows if len(source) == len(part._source) else None
    trace = trace_rows(one, two)
    if trace is None:
        return rows
    places = np.minimum(trace.old.searchsorted(rows), max(len(trace.old) - 1, 0))
    is_there = len(trace.old) > 0 and np.array_equal(trace.old[places], rows)
    return trace.new[places] if is_there else None


def _name_part(part: Source) -> str:
    """A source by the folder of its files and its keys."""
    paths = part._source.paths if isinstance(part, TakenSource) else part.paths
    return f"{folder_of(paths[0]) if paths else 'a part in memory'} with {sorted(part.fields)}"


def _is_same_rest(one: tuple[Ints | None, int], other: tuple[Ints | None, int]) -> bool:
    if one[0] is None or other[0] is None:
        return one[0] is other[0]
    return one[1] == other[1] and np.array_equal(one[0], other[0])


def depth_of(source: Source) -> int:
    """The number of levels of the deepest key."""
    return max((field.dim for field in source.fields.values()), default=0)


def joint_of_levels(source: Source, shard: int, depth: int) -> _core.Joint:
    """The levels of a shard, without keys."""
    ends = [source.ends(shard, dim) for dim in range(1, depth + 1)]
    return _core.Joint([], [], [], ends, int(source.counts[shard]))
