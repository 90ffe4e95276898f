"""The folder of a build: the owner of its files, the lock on it, and the names of new shards."""

from __future__ import annotations

import contextlib
import glob
import os
from collections.abc import Iterable, Mapping, Sequence

from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.building.drafts import Draft, fingerprint_of
from varlen.io.errors import FileFormatError
from varlen.io.file import open_file
from varlen.io.folder_lock import LOCK
from varlen.io.schema import Field
from varlen.io.shard_index import INDEX, Shard, listed_names, read_index, read_table, write_index

__all__: list[str] = []


def shard_path(folder: str, number: int) -> str:
    """The final path of the shard of a partition."""
    return os.path.join(folder, f"part-{number:05d}.nrt")


def draft_path(folder: str, number: int) -> str:
    """The path at which the rows of a partition wait, with their own dtypes and words."""
    return os.path.join(folder, f".part-{number:05d}.draft")


def waiting_path(folder: str, number: int) -> str:
    """The path at which a shard with the dtypes and words of all waits for the others."""
    return os.path.join(folder, f".part-{number:05d}.shard")


def is_complete(path: str, drafts: Sequence[Draft]) -> bool:
    """Whether the folder holds the complete data set of these partitions, and no build is under way."""
    try:
        shards = read_index(os.path.join(path, INDEX))
    except (FileNotFoundError, NotADirectoryError, FileFormatError):
        return False
    if [shard.path for shard in shards] != [shard_path(path, draft.number) for draft in drafts]:
        return False
    if os.path.exists(os.path.join(path, LOCK)):
        return False
    for draft in drafts:
        if os.path.exists(draft.path) or os.path.exists(waiting_path(path, draft.number)):
            return False
    return all(has_shard(path, draft) for draft in drafts)


def has_shard(path: str, draft: Draft) -> bool:
    """Whether the shard of this very partition exists."""
    try:
        return fingerprint_of(open_file(shard_path(path, draft.number))) == draft.fingerprint
    except FileNotFoundError:
        return False


def check_folder(path: str, drafts: Sequence[Draft]) -> None:
    """Refuse shards that this build would not write itself."""
    own = {os.path.basename(shard_path(path, draft.number)): draft for draft in drafts}
    for file in sorted(glob.glob(os.path.join(glob.escape(path), "*.nrt"))):
        name = os.path.basename(file)
        fingerprint = fingerprint_of(open_file(file))
        if name not in own or fingerprint is None:
            raise FileExistsError(17, f"the folder holds {name}, which is not of this build", path)
        expected = own[name].fingerprint
        if fingerprint != expected:
            same_options = fingerprint.partition("-")[2] == expected.partition("-")[2]
            what = "another partition" if same_options else "another make or other options"
            text = f"the folder holds {name}, which was made of {what}; give another folder, or delete it"
            raise FileExistsError(17, text, path)
    names = listed_names(os.path.join(path, INDEX))
    if names and (count := sum(len(entry.get("deleted", ())) for entry in read_table(path)["shards"])):
        text = f"{count} rows were deleted from the folder; append=True adds to it"
        raise FileExistsError(17, text, path)
    for name in names:
        if name not in own:
            raise FileExistsError(17, f"the index lists {name}, which is not of this build", path)


def delete_files(paths: Iterable[str]) -> None:
    """Delete files, some of which may be gone."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)


def publish(
    path: str,
    ready: Mapping[int, str],
    shards: Sequence[Shard],
    fields: Mapping[str, Field],
    drafts: Iterable[Draft],
    durable: bool,
    account: Account | None = None,
) -> None:
    """Name the shards and write the index, so that no reader sees only some of the rows.

    A folder without an index consists of all its files, so the index comes first: it names missing files, and
    readers refuse it. If there is an index, new names that it does not list come first.
    """
    names = {ready[number]: shard_path(path, number) for number in sorted(ready)}
    is_new = {source: not os.path.exists(name) for source, name in names.items()}
    if os.path.exists(os.path.join(path, INDEX)):
        for source, name in names.items():
            if is_new[source]:
                os.replace(source, name)
    write_index(path, shards, fields, durable, account)
    for source, name in names.items():
        if os.path.exists(source):
            os.replace(source, name)
    if durable:
        atomic.sync_folder(path)
    delete_files(draft.path for draft in drafts)
    for name in ("..part-*.draft", "..part-*.shard", f".{INDEX}"):
        # Of processes that were killed while they wrote.
        delete_files(glob.glob(os.path.join(glob.escape(path), f"{name}.*{atomic.SUFFIX}")))
