"""A set of shards opened again: the rows that it had, compared with those that are there now."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from varlen.errors import error_of, file_error
from varlen.io.differences import level_difference, value_difference
from varlen.io.errors import StaleFileError
from varlen.io.file import File
from varlen.io.layout import Identity
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
    rows = None if has_same_places(old, new) else [_rest_of(old), _rest_of(new)]
    counts = [len(old), len(new)] if rows is None else [*map(len, rows)]
    if counts[1] < counts[0]:
        path = new.paths[0] if new.paths else ""
        raise file_error(path, f"{counts[1]} rows, but there were {counts[0]}", "reload")
    for shard in np.flatnonzero(old.counts).tolist():
        if not is_same(old, new, shard):
            _compare(old, new, shard, rows)


def has_same_places(old: ShardSet, new: ShardSet) -> bool:
    """Whether the rows of a set lie where they were in its files: none was taken out of them."""
    ends = old.offsets[1:]
    return np.array_equal(ends, new.offsets[1 : len(ends) + 1]) or not (
        old.has_deletions or new.has_deletions
    )


def count_known_rows(old: ShardSet, new: ShardSet) -> int:
    """How many of the rows of a set that were not deleted were there before."""
    if not has_same_places(old, new):
        return len(_rest_of(old))
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
    if shard >= len(new.paths) or old.offsets[shard + 1] != new.offsets[shard + 1]:
        return False
    was, now = old._shards[shard], new._shards[shard]
    if was.path != now.path:
        return False
    identity = known_identity(old, shard)
    if identity is not None and not is_url(now.path):
        stat = os.stat(now.path)
        return identity == (stat.st_size, stat.st_mtime_ns, stat.st_ino)
    if identity is not None:
        return identity == new.file(shard).identity
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
