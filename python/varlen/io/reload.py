"""A set of shards opened again: the rows that it had, compared with those that are there now."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from varlen.errors import error_of, file_error
from varlen.io.compaction import CompactedFile, sources_of
from varlen.io.differences import level_difference, value_difference
from varlen.io.errors import StaleFileError
from varlen.io.file import File
from varlen.io.layout import Identity
from varlen.io.shard_index import INDEX
from varlen.io.shard_set import ShardSet, open_shards
from varlen.io.urls import is_url

__all__: list[str] = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

_ROWS_AT_ONCE = 4096


def reload_shards(old: ShardSet) -> ShardSet:
    """The set that its path gives now. Its first rows are those of `old`, or an error says what differs."""
    new = open_again(old)
    compare_sets(old, new)
    return new


def compare_sets(old: ShardSet, new: ShardSet) -> None:
    """Refuse a set whose first rows are not those of another, but for rows that were deleted."""
    _check_keys(old, new)
    trace = trace_rows(old, new)
    rows = None if trace is None else [trace.old, trace.new]
    counts = [len(old), len(new)] if rows is None else [*map(len, rows)]
    if counts[1] < counts[0]:
        path = new.paths[0] if new.paths else ""
        raise file_error(path, f"{counts[1]} rows, but there were {counts[0]}", "reload")
    for shard in np.flatnonzero(old.counts).tolist():
        if not is_same(old, new, shard) and (trace is None or shard not in trace.same_shards):
            _compare(old, new, shard, rows)


class Trace(NamedTuple):
    """Rows of a set, and where they are in another; `same_shards` hold what they held."""

    old: Ints
    new: Ints
    same_shards: frozenset[int] = frozenset()


def trace_rows(old: ShardSet, new: ShardSet) -> Trace | None:
    """Where the rows of a set are that were not deleted; None if they lie where they were."""
    ends = old.offsets[1:]
    if np.array_equal(ends, new.offsets[1 : len(ends) + 1]):
        return None
    trace = _trace_files(old, new)
    if trace is not None or not (old.has_deletions or new.has_deletions):
        return trace
    return Trace(_rest_of(old), _rest_of(new))


def _trace_files(old: ShardSet, new: ShardSet) -> Trace | None:
    """By the files that took the place of others, and say which rows they left out."""
    homes: dict[str, int] = {path: shard for shard, path in enumerate(new.paths)}
    origins: dict[str, tuple[int, list[CompactedFile]]] = {}
    for path in homes.keys() - set(old.paths):
        sources = sources_of(new.file(homes[path]))
        for i, source in enumerate(sources):
            origins[place_beside(path, source.name)] = homes[path], sources[i:]
    if not origins.keys() & set(old.paths):
        return None
    old_rows, new_rows, same_shards = [], [], set[int]()
    for shard, path in enumerate(old.paths):
        if path in homes:
            home, sources = homes[path], list[CompactedFile]()
            is_same_file = _is_same_file(old, new, shard, home)
        elif path in origins:
            home, sources = origins[path]
            is_same_file = _was_file(old, shard, sources[0])
        else:
            return None
        same_shards |= {shard} if is_same_file else set()
        rows = np.arange(old.counts[shard])
        for source in sources:
            rows = np.delete(rows, source.deletions)
        if len(rows) != new.counts[home]:
            return None
        old_rows.append(rows + old.offsets[shard])
        new_rows.append(np.arange(len(rows)) + new.offsets[home])
    one, two = np.concatenate(old_rows), np.concatenate(new_rows)
    if (np.diff(two) < 0).any():
        return None
    is_left = np.isin(one, _rest_of(old)) & np.isin(two, _rest_of(new))
    return Trace(one[is_left], two[is_left], frozenset(same_shards))


def place_beside(path: str, name: str) -> str:
    """The path of another file of the same folder."""
    return path[: len(path) - len(path.replace("\\", "/").rpartition("/")[2])] + name


def _was_file(old: ShardSet, shard: int, source: CompactedFile) -> bool:
    identity, size = known_identity(old, shard), old._shards[shard].size
    if identity is not None:
        return identity[:2] == (source.size, source.time)
    return size is not None and (size, old.counts[shard]) == (source.size, source.rows)


def count_known_rows(old: ShardSet, new: ShardSet) -> int:
    """How many of the rows of a set that were not deleted were there before."""
    trace = trace_rows(old, new)
    if trace is not None:
        return len(trace.old)
    return len(old) if new.rest is None else int(new.rest.searchsorted(len(old)))


def _rest_of(shards: ShardSet) -> Ints:
    return np.arange(len(shards)) if shards.rest is None else shards.rest


def open_again(old: ShardSet) -> ShardSet:
    """The set of the same path, opened with the same options."""
    on_bad_shard: Any
    path, on_bad_shard = old._origin or (old.paths[0], "error")
    verify: Any = "open" if on_bad_shard == "skip" else old._verify
    return open_shards(
        path, mmap=old._maps or old.waits, keys=old._keys, cache=old._cache,
        storage_options=old._options, verify=verify, on_bad_shard=on_bad_shard,
    )  # fmt: skip


def _check_keys(old: ShardSet, new: ShardSet) -> None:
    path = new.paths[0] if new.paths else ""
    if not len(old):
        return
    for name, field in old.fields.items():
        other = new.fields.get(name)
        if other is None:
            raise file_error(path, f"there was a key {name!r}, which is gone", "reload")
        if (field.dim, field.trailing) != (other.dim, other.trailing):
            was, now = (
                f"dim {field.dim}, rows of {field.trailing}",
                f"dim {other.dim}, rows of {other.trailing}",
            )
            raise file_error(path, f"key {name!r} is at {now}; it was at {was}", "reload")
    extras = [name for name in new.fields if name not in old.fields]
    if extras:
        raise file_error(path, f"there is a key {extras[0]!r}, which the rows did not have", "reload")
    if old.row_ids != new.row_ids:
        raise file_error(path, f"the row ids are {new.row_ids!r}, but were {old.row_ids!r}", "reload")


def is_same(old: ShardSet, new: ShardSet, shard: int) -> bool:
    """Whether a shard is the file that it was, at the same rows."""
    if shard >= len(new.counts) or old.offsets[shard + 1] != new.offsets[shard + 1]:
        return False
    return _is_same_file(old, new, shard, shard)


def _is_same_file(old: ShardSet, new: ShardSet, shard: int, home: int) -> bool:
    was, now = old._shards[shard], new._shards[home]
    if was.path != now.path:
        return False
    identity = known_identity(old, shard)
    if identity is not None and not is_url(now.path):
        stat = os.stat(now.path)
        return identity == (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    if identity is not None:
        return identity == new.file(home).identity
    return (was.rows, was.size, was.checksum) == (now.rows, now.size, now.checksum)


def known_identity(shards: ShardSet, shard: int) -> Identity | None:
    """The identity of a shard's file, where it was opened; a copy in a cache has another."""
    if isinstance(shards._cache, str):
        return None
    file: File | None = shards._files[shard]
    if file is not None:
        return file.identity
    return shards._expected[shard] if shards._expected else None


def _compare(old: ShardSet, new: ShardSet, shard: int, rest: list[Ints] | None) -> None:
    """Compare the rows of a shard of the old set, which may lie in other files now.

    `rest` are the rows of both sets that were not deleted, where they are compared one by one.
    """
    begin, end = old.offsets[shard : shard + 2].tolist()
    if rest is not None:
        begin, end = rest[0].searchsorted([begin, end]).tolist()
    if begin == end:
        return
    places = rest or [np.arange(end)] * 2
    path = old.paths[shard]
    if old._files[shard] is None and (path in new.paths or is_url(path) or not os.path.exists(path)):
        now = _path_at(new, int(places[1][begin]))
        what = "was written anew" if now == path else f"was rows {begin} to {end - 1}, which are in {now} now"
        home = new.paths.index(now)
        state = new.counts[home], new.file(home).identity[0]
        if now == path and new._shards[home].size is None and old._shards[shard][1:3] == state:
            what = f"is listed by no {INDEX} any more"
        text = f"{what}, and cannot be compared, as it was not read before"
        raise error_of(StaleFileError, "reload", text, "open it again", file=path)
    for first in range(begin, end, _ROWS_AT_ONCE):
        stop = min(first + _ROWS_AT_ONCE, end)
        one, two = (shards.read_many(own[first:stop]) for shards, own in zip((old, new), places, strict=True))
        difference = level_difference(one, two, one.depth) or value_difference(one, two)
        if difference is not None:
            row = first + difference.row
            file = _path_at(new, int(places[1][row]))
            text = f"row {row} has {difference.other} in {difference.what!r}, but had {difference.one}"
            advice = "rows may only be added at the end"
            raise error_of(StaleFileError, "reload", text, advice, file=file, row=row)


def _path_at(shards: ShardSet, row: int) -> str:
    return shards.paths[int(shards.offsets[1:].searchsorted(row, side="right"))]
