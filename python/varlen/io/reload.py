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

_ROWS_AT_ONCE = 4096


def reload_shards(old: ShardSet) -> ShardSet:
    """The set that its path gives now. Its first rows are those of `old`, or an error says what differs."""
    new = open_again(old)
    compare_sets(old, new)
    return new


def compare_sets(old: ShardSet, new: ShardSet) -> None:
    """Refuse a set whose first rows are not those of another."""
    _check_keys(old, new)
    if len(new) < len(old):
        raise file_error(
            new.paths[0] if new.paths else "", f"{len(new)} rows, but there were {len(old)}", "reload"
        )
    for shard in np.flatnonzero(old.counts).tolist():
        if not _is_same(old, new, shard):
            _compare(old, new, shard)


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


def _is_same(old: ShardSet, new: ShardSet, shard: int) -> bool:
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


def _compare(old: ShardSet, new: ShardSet, shard: int) -> None:
    """Compare the rows of a shard of the old set, which may lie in other files now."""
    begin, end = old.offsets[shard : shard + 2].tolist()
    path = old.paths[shard]
    if old._files[shard] is None:
        now = _path_at(new, begin)
        what = "was written anew" if now == path else f"was rows {begin} to {end - 1}, which are in {now} now"
        text = f"{what}, and cannot be compared, as it was not read before"
        raise error_of(StaleFileError, "reload", text, "open it again", file=path)
    for first in range(begin, end, _ROWS_AT_ONCE):
        rows = np.arange(first, min(first + _ROWS_AT_ONCE, end))
        pair = old.read_many(rows), new.read_many(rows)
        difference = level_difference(*pair, pair[0].depth) or value_difference(*pair)
        if difference is not None:
            row, file = first + difference.row, _path_at(new, first + difference.row)
            text = f"row {row} has {difference.other} in {difference.what!r}, but had {difference.one}"
            advice = "rows may only be added at the end"
            raise error_of(StaleFileError, "reload", text, advice, file=file, row=row)


def _path_at(shards: ShardSet, row: int) -> str:
    return shards.paths[int(shards.offsets[1:].searchsorted(row, side="right"))]
