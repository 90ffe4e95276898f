"""Rows of a finished folder that are deleted: its index lists them, and no file is written but the index."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from varlen.errors import error_of, value_error
from varlen.io.errors import StaleFileError
from varlen.io.folder_lock import lock_folder
from varlen.io.reload import is_same, open_again
from varlen.io.shard_index import INDEX, entry_of, folder_of, read_index, read_table, write_table
from varlen.io.shard_set import ShardSet

__all__: list[str] = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

_SAVE = "save(path, rows_per_shard=...) writes a folder of shards, from which rows can be deleted"


def folder_with_index(shards: ShardSet) -> str:
    """The folder whose index lists all shards of a set; an error says why there is none."""
    path = shards.paths[0] if shards.paths else ""
    if shards.waits:
        raise _error(f"{path} is behind a URL", "delete the rows where the files are")
    if shards.bad_shards:
        raise _error(f"{shards.bad_shards[0].path} was left out", "open the folder without on_bad_shard")
    if not all(shard.is_listed for shard in shards._shards) or not path:
        what = f"{path} is no folder with an index" if path else "there are no files"
        raise _error(what, _SAVE)
    folders = {folder_of(name) for name in shards.paths}
    if len(folders) > 1:
        raise _error(f"the rows are in {len(folders)} folders", "open each, and delete its rows")
    return folders.pop()


def _error(reason: str, advice: str) -> ValueError:
    return value_error("", reason, advice, context="delete")


def delete_rows(shards: ShardSet, rows: Ints, durable: bool = True) -> None:
    """Add rows to those that the index of a folder lists as deleted, at once for every reader."""
    folder = folder_with_index(shards)
    with lock_folder(folder):
        now = open_again(shards)
        for i, shard in enumerate(shards._shards):
            if i >= len(now.paths) or not is_same(shards, now, i):
                text = "was written anew since it was opened, so its rows may have other numbers"
                raise error_of(
                    StaleFileError, "delete", text, "reload, and find the rows again", file=shard.path
                )
        table, index = read_table(folder), os.path.join(folder, INDEX)
        if table["shards"] and all("checksum" in entry for entry in table["shards"]):
            read_index(index, verify=True)
        homes = shards.offsets[1:].searchsorted(rows, side="right")
        for home in np.unique(homes).tolist():
            shard = now._shards[home]
            own = rows[homes == home] - shards.offsets[home]
            deletions = np.union1d(own, own[:0] if shard.deletions is None else shard.deletions)
            table["shards"][home] = entry_of(shard._replace(deletions=deletions))
        write_table(folder, table, durable)
