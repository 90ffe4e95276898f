"""From partitions to a folder of shards: the drafts, their common fields, and the index at the end."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import DTypeLike

from varlen.arguments import as_bool, as_few, as_path, dtypes_of, vocabularies_of
from varlen.errors import instance_error, value_error
from varlen.io.account import Account
from varlen.io.bits import as_compress
from varlen.io.building.append import append_partitions
from varlen.io.building.drafts import Shard, Step, agrees, is_whole, make_draft, write_shard
from varlen.io.building.engines import MOST_WORKERS, as_partitions, engine_of, run_tasks
from varlen.io.building.folder import (
    check_folder,
    has_shard,
    is_complete,
    publish,
    shard_path,
    waiting_path,
)
from varlen.io.building.merge import merge_fields
from varlen.io.building.origin import draft_of
from varlen.io.checksums import as_checksums
from varlen.io.file import File, open_file
from varlen.io.file_counts import read_all_written
from varlen.io.folder_lock import lock_folder
from varlen.io.intent import Schema
from varlen.io.row_ids import check_row_ids
from varlen.io.shard_index import Shard as Listed
from varlen.io.shard_set import ShardSet, open_shards

__all__ = ["build"]


def build(
    partitions: Any,
    make: Callable[[Any], Any] | None,
    folder: str | os.PathLike[str],
    *,
    append: bool = False,
    engine: Any = None,
    workers: int = 1,
    schema: Schema | Mapping[str, DTypeLike] | None = None,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    row_ids: str | None = None,
    durable: bool = True,
    progress: bool = False,
    padding_id: bool = True,
    checksums: bool = False,
    compress: bool = False,
) -> ShardSet:
    """Build a folder of shards with an index, one shard per partition, on many processes or machines.

    `build` makes each partition once, into a draft with its own dtypes and words. Then it merges the drafts:
    it picks dtypes that hold all values, and one vocabulary for each key of strings, in the order of the
    partitions. Last it writes the shards, and then the index. The result is the same for every engine and any
    number of workers.

    A stopped build resumes. It skips finished partitions whose contents, number, `make` function and options
    are the same. So a complete build returns at once and writes nothing. If you add partitions at the end, or
    delete a shard, `build` makes only those. The folder then equals a build from scratch: shards are
    rewritten from their own contents if new partitions bring words or wider dtypes. A killed worker costs
    only its partition, which gets three tries. Files are `part-00000.nrt` and so on.

    A reader that opens the folder meanwhile gets the old data set or the new one, or an error while files are
    being renamed, never some of the rows.

    Parameters
    ----------
    partitions
        A list of picklable objects, such as paths; or a Dask bag, data frame or array, or a Ray Dataset, with
        its own partitions. Partitions of Ray and of `dask.delayed` differ at each call, so `build` makes them
        anew.
    make
        A function from a partition to its rows: a joint dict, a mapping of keys to nested lists or arrays as
        `varlen.io.Writer.append` takes it, an Arrow table or record batch, or an iterator of these. None: the
        partitions are the rows. Other processes need to pickle it, so define it in a module.
    folder
        The folder for the shards, created if it is missing. Engines on several machines must share it.
    append
        True: the folder is a finished data set, and the partitions are added to it, a shard each. It may come
        from any writer with an index. Old files stay, and a reader sees the old data set or the new one.
        Keys, dims, dtypes, vocabularies, row ids and checksums are those of the folder, as with
        `ShardWriter(append=True)`; words may be new. Partitions that the folder has already are not added
        again, so a stopped append resumes, and the list may have old partitions in any order.
    engine
        None: the library of the partitions, or a loop, or processes of this machine if `workers` is more than
        1. "processes"; "dask", or a Client of Dask; "ray".
    workers
        The number of processes, at most 1024. Dask and Ray use their own.
    schema
        Dtypes of keys, or a `Schema`, as in `Writer`. It holds for all partitions, now and later.
    vocabularies
        The first words of each key; others follow.
    row_ids
        The name of the `dim0` key whose values identify rows.
    durable
        False leaves out fsync.
    progress
        Show a progress bar.
    padding_id
        As in `varlen.io.Writer`: new vocabularies begin with "[PAD]".
    checksums
        True: shards and index have checksums, as in `varlen.io.save`.
    compress
        As in `varlen.io.save`: the shards store their numbers in as few bits as they need. Shards that are
        added to a folder of compressed ones do so in any case.

    Returns
    -------
    ShardSet
        The shards, opened; `varlen.open(folder)` gives the dataset.

    Raises
    ------
    ValueError, TypeError
        There are no partitions; a partition, named by its number, has keys or dtypes that do not fit the
        earlier ones, or with `append` the folder; the folder holds files of something else, or of another
        partition or other options.
    FileNotFoundError
        There is no folder to append to.
    RuntimeError
        A partition failed, or its worker ended three times. The error names it; other drafts stay.
    BlockingIOError
        Another build is at work in the folder.

    Examples
    --------
    >>> import tempfile, varlen.io
    >>> folder = tempfile.TemporaryDirectory()
    >>> def make(first):
    ...     words = np.array(["b", f"w{first}", "a"])
    ...     return {"dim0/id": np.arange(2) + first, "dim1/bounds": np.array([2, 3]), "dim1/word": words}
    >>> shards = varlen.io.build([0, 2], make, f"{folder.name}/visits")
    >>> shards, shards.fields["word"].vocabulary
    (ShardSet(2 files, 4 rows, 2 keys, depth 1), ('[PAD]', 'b', 'w0', 'a', 'w2'))
    >>> folder.cleanup()
    """
    is_append = as_bool(append, "append")
    parts = as_partitions(partitions)
    if not parts:
        raise value_error("partitions", "there are none")
    if make is not None and not callable(make):
        raise instance_error("make", "a function", make)
    with engine_of(engine, partitions, as_few(workers, "workers", MOST_WORKERS, 1)) as run:
        words = {name: tuple(word_list) for name, word_list in vocabularies_of(vocabularies).items()}
        durable, show = as_bool(durable, "durable"), as_bool(progress, "progress")
        options: dict[str, Any] = {
            "schema": schema if isinstance(schema, Schema) else dtypes_of(schema),
            "vocabularies": words,
            "row_ids": check_row_ids(row_ids),
            "durable": durable,
            "padding_id": as_bool(padding_id, "padding_id"),
            "checksums": as_checksums(checksums),
            "compress": as_compress(compress),
        }
        path = os.path.abspath(as_path(folder, "folder"))
        if is_append:
            append_partitions(run, parts, make, path, options, show)
            return open_shards(path)
        build_folder(run, parts, make, path, options, show)
    return open_shards(path)


def build_folder(
    run: Any,
    parts: Sequence[Any],
    make: Any,
    path: str,
    options: Mapping[str, Any],
    show: bool,
    first: Account | None = None,
) -> None:
    """Make what the folder lacks of the partitions' shards, and publish all of them.

    `options` are those of `Writer`. `first` is the account of what the partitions are parts of.
    """
    drafts = [draft_of(i, part, path, make, options) for i, part in enumerate(parts)]
    if is_complete(path, drafts):
        return
    words, durable = options["vocabularies"], options["durable"]
    os.makedirs(path, exist_ok=True)
    with lock_folder(path):
        check_folder(path, drafts)
        reuse = {draft.number for draft in drafts if has_shard(path, draft)}
        tasks = [
            (draft, part)
            for draft, part in zip(drafts, parts, strict=True)
            if draft.number not in reuse and not is_whole(draft)
        ]
        names = {d.number: make.sources(part) for d, part in tasks} if isinstance(make, Step) else None
        run_tasks(run, make_draft, tasks, "partitions" if show else None, sources=names)
        sources = [shard_path(path, d.number) if d.number in reuse else d.path for d in drafts]
        files = [open_file(source) for source in sources]
        words, fields = merge_fields(files, words, range(len(files)))
        ready = {
            i: file.path for i, file in enumerate(files) if i not in reuse and agrees(file, fields, words)
        }
        intent = options["schema"] if isinstance(options["schema"], Schema) else None
        how = options["checksums"], options["compress"]
        shards = [
            Shard(i, file.path, waiting_path(path, i), fields, words, durable, intent, *how)
            for i, file in enumerate(files)
            if not agrees(file, fields, words)
        ]
        run_tasks(run, write_shard, [(shard, None) for shard in shards], "shards" if show else None)
        ready.update((shard.number, shard.path) for shard in shards)
        results = [open_file(ready.get(i, file.path)) for i, file in enumerate(files)]
        entries = [
            Listed(shard_path(path, i), file.count, file.identity[0], checksum=file.checksum)
            for i, file in enumerate(results)
        ]
        account = sum_accounts(files, [file.path for file in results], words, first, make)
        publish(path, ready, entries, fields, drafts, durable, account)


def sum_accounts(
    files: Sequence[File],
    paths: list[str],
    words: Mapping[str, tuple[str, ...]],
    first: Account | None = None,
    make: Any = None,
) -> Account | None:
    """The accounts of all partitions together, checked against the shards; None if a shard has none.

    With `first`, the account of what they are parts of: that, and the reasons of all of them.
    """
    parts = [file.account for file in files]
    accounts = [part for part in parts if part is not None]
    if len(accounts) < len(parts):
        return None
    account = sum(accounts[1:], accounts[0]) if first is None else first.successor()
    if first is not None:
        _add_reasons(account, accounts)
    if isinstance(make, Step):
        make.settle(account, files)
    account.set_result(*read_all_written(paths), words)
    account.check()
    return account


def _add_reasons(account: Account, parts: Sequence[Account]) -> None:
    """What the partitions left out, made and changed, as reasons of the whole."""
    total = sum(parts, Account())
    for name, balance in ((None, total.rows), *total.columns.items()):
        own = account.rows if name is None else account.column(name)
        for why, reason in balance.reasons.items():
            own.add(why, reason)
