"""Partitions that are added to a finished folder, one shard each."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from varlen.errors import value_error
from varlen.io.account import Account
from varlen.io.building.drafts import Draft, Shard, agrees, fingerprint_of, is_whole, make_draft, write_shard
from varlen.io.building.engines import run_tasks
from varlen.io.building.folder import delete_files, waiting_path
from varlen.io.building.merge import merge_fields
from varlen.io.building.origin import draft_of, half_of, identity_of
from varlen.io.checksums import as_checksums
from varlen.io.file import File, open_file
from varlen.io.folder_lock import delete_drafts, lock_folder
from varlen.io.growth import Folder, next_number, number_of, publish, read_folder
from varlen.io.schema import Field
from varlen.io.shard_index import Shard as Listed

__all__: list[str] = []

# What the folder has already.
_OF_FOLDER = ("schema", "vocabularies")


def append_partitions(
    run: Any,
    parts: Sequence[Any],
    make: Callable[[Any], Any] | None,
    path: str,
    options: Mapping[str, Any],
    show: bool,
) -> None:
    """Make one shard of each partition that the folder lacks, and publish them together."""
    for name in _OF_FOLDER:
        if options[name]:
            raise value_error(name, "is the folder's with append=True", "leave it out")
    if not options["padding_id"]:
        raise value_error("padding_id", "False is for new vocabularies, and the folder has its own")
    if not os.path.isdir(path):
        raise FileNotFoundError(2, "there is no such folder", path)
    with lock_folder(path) as lock:
        delete_drafts(path)
        folder = read_folder(path)
        _check_options(folder, options)
        new = _new_parts(folder, parts)
        if not new:
            return
        drafts = _drafts(folder, [part for _, part in new], make, options)
        places = {draft.number: place for draft, (place, _) in zip(drafts, new, strict=True)}
        tasks = [(draft, part) for draft, (_, part) in zip(drafts, new, strict=True) if not is_whole(draft)]
        run_tasks(run, make_draft, tasks, "partitions" if show else None, places)
        files = [open_file(draft.path) for draft in drafts]
        words, fields = _grow_fields(folder, files, [*places.values()])
        compress = options["compress"] or folder.has_bits
        how = options["durable"], folder.schema, folder.has_checksums, compress
        shards = [
            Shard(draft.number, file.path, waiting_path(path, draft.number), fields, words, *how)
            for draft, file in zip(drafts, files, strict=True)
            if not agrees(file, fields, words)
        ]
        run_tasks(run, write_shard, [(shard, None) for shard in shards], "shards" if show else None, places)
        paths = {shard.number: shard.path for shard in shards}
        results = [open_file(paths.get(draft.number, draft.path)) for draft in drafts]
        accounts = [file.account or Account() for file in files]
        account = None
        if folder.account is not None:
            account = folder.sum_accounts(sum(accounts, Account()), [file.path for file in results], fields)
        entries = [Listed(f.path, f.count, f.identity[0], checksum=f.checksum) for f in results]
        publish(folder, lock, entries, fields, options["durable"], account)
        delete_files(_leftovers(path))


def _check_options(folder: Folder, options: Mapping[str, Any]) -> None:
    if options["row_ids"] not in (None, folder.row_ids):
        raise value_error("row_ids", f"{options['row_ids']!r}, but {folder.row_ids!r} in {folder.path}")
    if options["checksums"] and not folder.has_checksums:
        raise value_error("checksums", f"{folder.path} has none", "leave it out")
    as_checksums(folder.has_checksums)


def _new_parts(folder: Folder, parts: Sequence[Any]) -> list[tuple[int, Any]]:
    """The partitions that no shard was made of, each with its place."""
    halves: dict[str, list[int]] = {}
    for shard in folder.shards:
        fingerprint, number = fingerprint_of(open_file(shard.path)), number_of(shard.path)
        if fingerprint is not None and number is not None:
            halves.setdefault(fingerprint.partition("-")[0], []).append(number)
    numbers = [number for group in halves.values() for number in group]
    new = []
    for place, part in enumerate(parts):
        identity = identity_of(part)
        match = next((n for n in numbers if n in halves.get(half_of(identity, n), ())), None)
        if match is None:
            new.append((place, part))
        else:
            numbers.remove(match)  # one shard is of one partition, where two are the same
    return new


def _drafts(
    folder: Folder, parts: Sequence[Any], make: Callable[[Any], Any] | None, options: Mapping[str, Any]
) -> list[Draft]:
    """The drafts, numbered as their shards will be. They name the folder, and write in its dtypes."""
    how = {"checksums": folder.has_checksums, "compress": options["compress"] or folder.has_bits}
    own = {**options, "row_ids": folder.row_ids, **how}
    first, template = next_number(folder.path), replace(folder, shards=(), account=None)
    return [
        draft_of(first + i, part, folder.path, make, own)._replace(
            options={**own, **folder.options}, folder=template
        )
        for i, part in enumerate(parts)
    ]


def _grow_fields(
    folder: Folder, files: Sequence[File], places: Sequence[int]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Field]]:
    """The words and fields of the folder with those of new files; ids have to fit the dtypes there are."""
    words = {name: f.vocabulary for name, f in folder.fields.items() if f.vocabulary is not None}
    words, fields = merge_fields(files, words, places)
    if not folder.fields:
        return words, fields
    for name, dtype in folder.id_dtypes.items():
        limit = int(np.iinfo(dtype).max)
        if len(words[name]) - 1 > limit:
            raise value_error(
                name, f"the word {words[name][limit + 1]!r} gets an id that does not fit {dtype}"
            )
    return words, {name: replace(f, vocabulary=words.get(name)) for name, f in folder.fields.items()}


def _leftovers(path: str) -> list[str]:
    """Drafts of this build and of those that were given up: their numbers are taken now."""
    return [
        name
        for end in ("draft", "shard")
        for name in glob.glob(os.path.join(glob.escape(path), f".part-*.{end}"))
    ]
