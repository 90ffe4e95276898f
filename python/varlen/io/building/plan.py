"""From partitions to a folder of shards: the drafts, their common fields, and the index at the end."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from varlen.arguments import as_bool, as_few, as_path, dtypes_of, vocabularies_of
from varlen.errors import as_record, instance_error, name_place, type_error, value_error
from varlen.io.account import Account
from varlen.io.building.drafts import Draft, Shard, agrees, is_whole, make_draft, write_shard
from varlen.io.building.engines import TaskError, as_partitions, engine_of
from varlen.io.building.folder import (
    check_folder,
    draft_path,
    has_shard,
    is_complete,
    publish,
    shard_path,
    waiting_path,
)
from varlen.io.checksums import as_checksums
from varlen.io.file import File, open_file
from varlen.io.file_counts import read_all_written
from varlen.io.folder_lock import lock_folder
from varlen.io.intent import Schema
from varlen.io.row_ids import check_row_ids
from varlen.io.schema import Field, id_dtype
from varlen.io.shard_index import Shard as Listed
from varlen.io.shard_set import ShardSet, open_shards

__all__ = ["build"]


# Each is an interpreter of its own.
_MOST_WORKERS = 1024


def build(
    partitions: Any,
    make: Callable[[Any], Any] | None,
    folder: str | os.PathLike[str],
    *,
    engine: Any = None,
    workers: int = 1,
    schema: Schema | Mapping[str, DTypeLike] | None = None,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    row_ids: str | None = None,
    durable: bool = True,
    progress: bool = False,
    padding_id: bool = True,
    checksums: bool = False,
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

    Returns
    -------
    ShardSet
        The shards, opened; `varlen.open(folder)` gives the dataset.

    Raises
    ------
    ValueError, TypeError
        There are no partitions; a partition, named by its number, has keys or dtypes that do not fit the
        earlier ones; the folder holds files of something else, or of another partition or other options.
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
    parts = as_partitions(partitions)
    if not parts:
        raise value_error("partitions", "there are none")
    if make is not None and not callable(make):
        raise instance_error("make", "a function", make)
    with engine_of(engine, partitions, as_few(workers, "workers", _MOST_WORKERS, 1)) as run:
        words = {name: tuple(word_list) for name, word_list in vocabularies_of(vocabularies).items()}
        durable, show = as_bool(durable, "durable"), as_bool(progress, "progress")
        options: dict[str, Any] = {
            "schema": schema if isinstance(schema, Schema) else dtypes_of(schema),
            "vocabularies": words,
            "row_ids": check_row_ids(row_ids),
            "durable": durable,
            "padding_id": as_bool(padding_id, "padding_id"),
            "checksums": as_checksums(checksums),
        }
        path = as_path(folder, "folder")
        if not path:
            raise value_error("folder", "expected a path, got an empty one")
        path = os.path.abspath(path)
        drafts = [_draft(i, part, path, make, options) for i, part in enumerate(parts)]
        if is_complete(path, drafts):
            return open_shards(path)
        os.makedirs(path, exist_ok=True)
        with lock_folder(path):
            check_folder(path, drafts)
            reuse = {draft.number for draft in drafts if has_shard(path, draft)}
            tasks = [
                (draft, part)
                for draft, part in zip(drafts, parts, strict=True)
                if draft.number not in reuse and not is_whole(draft)
            ]
            _run(run, make_draft, tasks, "partitions" if show else None)
            sources = [shard_path(path, d.number) if d.number in reuse else d.path for d in drafts]
            files = [open_file(source) for source in sources]
            dtypes, words, fields = _agree(files, words)
            ready = {
                i: file.path for i, file in enumerate(files) if i not in reuse and agrees(file, dtypes, words)
            }
            intent = schema if isinstance(schema, Schema) else None
            shards = [
                Shard(
                    i, file.path, waiting_path(path, i), dtypes, words, durable, intent, options["checksums"]
                )
                for i, file in enumerate(files)
                if not agrees(file, dtypes, words)
            ]
            _run(run, write_shard, [(shard, None) for shard in shards], "shards" if show else None)
            ready.update((shard.number, shard.path) for shard in shards)
            results = [open_file(ready.get(i, file.path)) for i, file in enumerate(files)]
            entries = [
                Listed(shard_path(path, i), file.count, file.identity[0], checksum=file.checksum)
                for i, file in enumerate(results)
            ]
            account = _account(files, [ready.get(i, file.path) for i, file in enumerate(files)], words)
            publish(path, ready, entries, fields, drafts, durable, account)
    return open_shards(path)


def _account(files: Sequence[File], paths: list[str], words: Mapping[str, tuple[str, ...]]) -> Account | None:
    """The accounts of all partitions together, checked against the shards; None if a shard has none."""
    parts = [file.account for file in files]
    accounts = [part for part in parts if part is not None]
    if len(accounts) < len(parts):
        return None
    account = sum(accounts[1:], accounts[0])
    account.set_result(*read_all_written(paths), words)
    account.check()
    return account


def _run(engine: Any, task: Any, tasks: Sequence[tuple[Any, Any]], unit: str | None) -> None:
    """Runs all tasks, with a progress bar if wanted."""
    results: Iterator[int] = engine(task, tasks) if tasks else iter(())
    if unit is not None:
        from tqdm.auto import tqdm

        results = iter(tqdm(results, total=len(tasks), unit=f" {unit}"))
    try:
        for _ in results:
            pass
    except TaskError as failed:
        error = failed.error
        says_it = isinstance(error, (ValueError, TypeError, RuntimeError)) and any(error.args)
        text = None if says_it else ": ".join(filter(None, (type(error).__name__, f"{error}")))
        record = as_record(error, RuntimeError, text=text)
        cause = error.__cause__ if record is error else error
        raise name_place(record, f"partition {failed.number}", RuntimeError) from cause


def _draft(number: int, part: object, path: str, make: Any, options: Mapping[str, Any]) -> Draft:
    names = ["schema", "vocabularies", "row_ids", *["padding_id"] * (not options["padding_id"])]
    names += ["checksums"] * options["checksums"]
    plain = repr([(name, str(options[name])) for name in names])
    texts = (_identity(part) + str(number).encode(), _name_of(make) + plain.encode())
    fingerprint = "-".join(hashlib.blake2b(text, digest_size=16).hexdigest() for text in texts)
    return Draft(number, draft_path(path, number), fingerprint, make, options)


def _name_of(make: object) -> bytes:
    """Bytes that are the same for the same function: its name, or a pickle of another object."""
    if make is None or hasattr(make, "__qualname__"):
        owner = getattr(make, "__self__", None)
        name = f"{getattr(make, '__module__', '')}.{getattr(make, '__qualname__', '')}".encode()
        return name if owner is None or isinstance(owner, ModuleType) else name + _name_of(owner)
    try:
        return pickle.dumps(make, protocol=4)
    except Exception:
        return f"{type(make).__module__}.{type(make).__qualname__}".encode()


def _identity(part: Any) -> bytes:
    """Bytes that are the same for the same partition: its key in Dask, the block's in Ray, a pickle."""
    if hasattr(part, "dask") and hasattr(part, "key"):
        return repr(part.key).encode()
    if type(part).__module__.partition(".")[0] == "ray":
        return bytes(part.binary())
    try:
        return pickle.dumps(part, protocol=4)
    except Exception as error:
        raise type_error("partitions", f"{part!r} cannot be pickled: {error}") from None


def _agree(
    files: Sequence[File], words: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, np.dtype], dict[str, tuple[str, ...]], dict[str, Field]]:
    """The dtype of each key, the words of keys that have some, and the fields of the index."""
    fields: dict[str, Field] = {}
    with_values: set[str] = set()
    id_map = {name: {word: i for i, word in enumerate(word_list)} for name, word_list in words.items()}
    for i, file in enumerate(files):
        if fields and file.names and set(file.fields) != set(fields):
            differ = sorted(set(file.fields) ^ set(fields))
            keys = f"{sorted(file.fields)}, not {sorted(fields)}"
            raise value_error("", f"has keys {keys}: {differ} differ", context=f"partition {i}")
        for name, entry in file.fields.items():
            has_values = file.layout.rows[entry.dim] > 0
            try:
                fields[name] = _join_fields(fields.get(name), entry, name in with_values, has_values)
            except ValueError as error:
                raise name_place(error, f"partition {i}: key {name!r} does not fit those before") from None
            if has_values:
                with_values.add(name)
            if entry.vocabulary is not None:
                ids = id_map.setdefault(name, {})
                for word in entry.vocabulary:
                    ids.setdefault(word, len(ids))
    lists = {name: tuple(id_map[name]) for name, field in fields.items() if field.vocabulary is not None}
    for name, word_list in lists.items():
        dtype = id_dtype(len(word_list))
        fields[name] = replace(fields[name], dtype=dtype, tag=f"U{8 * dtype.itemsize}", vocabulary=word_list)
    return {name: field.dtype for name, field in fields.items()}, lists, fields


def _join_fields(first: Field | None, entry: Field, had_values: bool, has_values: bool) -> Field:
    """The field of the partitions so far; without a value, any dtype and any words fit."""
    bare = replace(entry, vocabulary=None if entry.vocabulary is None else ())
    if first is None:
        return bare
    if not (had_values and has_values):
        kind = bare if has_values else first
        bare = replace(bare, dtype=kind.dtype, tag=kind.tag, vocabulary=kind.vocabulary)
        first = replace(first, dtype=kind.dtype, tag=kind.tag, vocabulary=kind.vocabulary)
    elif (bare.vocabulary is None) != (first.vocabulary is None):
        raise value_error("", "it has no words" if bare.vocabulary is None else "it has words")
    conflict = first.conflict(bare, words=False, widen=True)
    if conflict:
        raise value_error("", f"it has {conflict}")
    union = first.join(bare)
    if union.dtype.kind == "f" and not {first.dtype.kind, bare.dtype.kind} & {"f", "V"}:
        raise value_error("", f"no dtype holds both {first.dtype} and {bare.dtype}", "name one in schema")
    return union
