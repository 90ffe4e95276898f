"""Partitions to a folder of shards: which drafts are wanted, what they agree on, the index at the end."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from varlen.arguments import as_bool, as_int, as_mapping, dtypes_of, words_of
from varlen.io.building.drafts import Draft, Shard, fingerprint_of, is_whole, make_draft, write_shard
from varlen.io.building.engines import Failed, as_partitions, engine_of
from varlen.io.file import File, open_file
from varlen.io.schema import Field, id_dtype
from varlen.io.shard_index import INDEX, write_index
from varlen.io.shard_index import Shard as Listed
from varlen.io.shard_set import ShardSet, open_shards

__all__ = ["build"]

_LOCK = ".build-lock"


def build(
    partitions: Any,
    make: Callable[[Any], Any] | None,
    folder: str | os.PathLike[str],
    *,
    engine: Any = None,
    workers: int = 1,
    schema: Mapping[str, DTypeLike] | None = None,
    vocabularies: Mapping[str, Sequence[str]] | None = None,
    row_ids: str | None = None,
    durable: bool = True,
    progress: bool = False,
) -> ShardSet:
    """A folder of shards and their index, one shard a partition, by many processes or machines.

    Each partition is made once, into a draft with dtypes and words of its own. Then what the drafts say is
    merged: dtypes that hold the values of all, and for each key of strings one vocabulary, in the order of
    the partitions. At last the shards are written, and the index when all of them are there. The result is
    the same with every engine and any number of workers.

    A build that was stopped goes on: drafts that are whole are not made again, where the partition and the
    options are the same. A worker that is killed costs its partition alone, which is begun again, three
    times at most. Nobody reads the folder before its index is written. Files are `part-00000.nrt` and so on.

    Parameters
    ----------
    partitions
        A list of anything that can be pickled, such as paths; or a bag, a data frame or an array of Dask,
        or a Dataset of Ray, whose own partitions are taken.
    make
        Takes a partition, gives its rows: a joint dict, a mapping of keys to nested lists or arrays as
        `varlen.io.Writer.append` takes it, or an iterator of those. None: the partitions are the rows. With
        other processes it is pickled, so a function of a module.
    folder
        Where the shards go; made where it is not there. Engines on several machines need to share it.
    engine
        None: a loop, or processes of this machine where `workers` is more than 1, or what the partitions
        come from. "processes"; "dask", or a Client of Dask; "ray".
    workers
        How many processes. Dask and Ray know their own.
    schema
        Keys to dtypes, as `Writer` takes it.
    vocabularies
        Keys to their first words; others follow.
    row_ids
        The name of the `dim0` key whose values identify rows.
    durable
        False leaves out fsync.
    progress
        Show a progress bar.

    Returns
    -------
    ShardSet
        The shards, opened; `varlen.open(folder)` gives the dataset.

    Raises
    ------
    ValueError, TypeError
        No partitions; a partition whose keys or dtypes do not fit those before, named by its number; a
        folder with files that are not of this build.
    RuntimeError
        A partition failed, or its worker ended three times. It is named; other drafts stay.
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
    (ShardSet(2 files, 4 rows, 2 keys, depth 1), ('b', 'w0', 'a', 'w2'))
    >>> folder.cleanup()
    """
    parts = as_partitions(partitions)
    if not parts:
        raise ValueError("partitions: there are none")
    if make is not None and not callable(make):
        raise TypeError(f"make: expected a function, got {type(make).__name__}")
    with engine_of(engine, partitions, as_int(workers, "workers", 1)) as run:
        given_words = (
            {} if vocabularies is None else as_mapping(vocabularies, "vocabularies", "keys to words")
        )
        words = {name: tuple(words_of(name, each)) for name, each in given_words.items()}
        durable, show = as_bool(durable, "durable"), as_bool(progress, "progress")
        options = {"schema": dtypes_of(schema), "vocabularies": words, "row_ids": row_ids, "durable": durable}
        path = os.path.abspath(os.fspath(folder))
        os.makedirs(path, exist_ok=True)
        with _alone(path):
            drafts = [_draft(i, part, path, make, options) for i, part in enumerate(parts)]
            _check_folder(path, drafts)
            wanted = [(draft, part) for draft, part in zip(drafts, parts, strict=True) if not is_whole(draft)]
            _run(run, make_draft, wanted, "partitions" if show else None)
            dtypes, words, fields = _agreed([open_file(draft.path) for draft in drafts], words)
            shards = [_shard(draft, path, dtypes, words, durable) for draft in drafts]
            _run(run, write_shard, [(shard, None) for shard in shards], "shards" if show else None)
            paths = [shard.path for shard in shards]
            listed = [Listed(each, open_file(each).count, os.stat(each).st_size) for each in paths]
            write_index(path, listed, fields, durable)
            for draft in drafts:
                os.unlink(draft.path)
    return open_shards(path)


def _run(engine: Any, task: Any, tasks: Sequence[tuple[Any, Any]], shown: str | None) -> None:
    """All tasks, with a bar of progress where it is wanted."""
    done: Iterator[int] = engine(task, tasks) if tasks else iter(())
    if shown is not None:
        from tqdm.auto import tqdm

        done = iter(tqdm(done, total=len(tasks), unit=f" {shown}"))
    try:
        for _ in done:
            pass
    except Failed as failed:
        raise RuntimeError(f"partition {failed.number}: {failed.error}") from failed.error


@contextlib.contextmanager
def _alone(path: str) -> Iterator[None]:
    """Nobody else builds in the folder; the system lets go of the lock when the process ends."""
    lock = os.path.join(path, _LOCK)
    fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(11, "another build is at work in the folder", path) from None
        yield
        with contextlib.suppress(OSError):
            os.unlink(lock)
    finally:
        os.close(fd)


def _draft(number: int, part: Any, path: str, make: Any, options: Mapping[str, Any]) -> Draft:
    plain = repr([(name, str(options[name])) for name in ("schema", "vocabularies", "row_ids")])
    name = "" if make is None else f"{getattr(make, '__module__', '')}.{getattr(make, '__qualname__', make)}"
    text = _identity(part) + f"{number} {name} {plain}".encode()
    digest = hashlib.blake2b(text, digest_size=16).hexdigest()
    return Draft(number, os.path.join(path, f".part-{number:05d}.draft"), digest, make, options)


def _identity(part: Any) -> bytes:
    """Bytes that are the same for the same partition: its key in Dask, the block's in Ray, a pickle."""
    if hasattr(part, "dask") and hasattr(part, "key"):
        return repr(part.key).encode()
    if type(part).__module__.partition(".")[0] == "ray":
        return bytes(part.binary())
    try:
        return pickle.dumps(part, protocol=4)
    except Exception as error:
        raise TypeError(f"partitions: {part!r} cannot be pickled: {error}") from None


def _check_folder(path: str, drafts: Sequence[Draft]) -> None:
    """Refuse shards that this build would not write itself."""
    own = {f"part-{draft.number:05d}.nrt": draft.fingerprint for draft in drafts}
    for each in sorted(glob.glob(os.path.join(glob.escape(path), "*.nrt"))):
        name = os.path.basename(each)
        if name not in own or fingerprint_of(open_file(each)) != own[name]:
            raise FileExistsError(17, f"the folder holds {name}, which is not of this build", path)
    index = os.path.join(path, INDEX)
    if os.path.exists(index):
        os.unlink(index)  # the shards are made again from the same partitions


def _agreed(
    files: Sequence[File], words: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, np.dtype[Any]], dict[str, tuple[str, ...]], dict[str, Field]]:
    """The dtype of each key, the words of those that have some, and the fields of the index."""
    fields: dict[str, Field] = {}
    known = {name: {word: i for i, word in enumerate(each)} for name, each in words.items()}
    full = [(i, file) for i, file in enumerate(files) if file.names]
    for i, file in full:
        if fields and set(file.fields) != set(fields):
            differ = sorted(set(file.fields) ^ set(fields))
            keys = f"{sorted(file.fields)}, not {sorted(fields)}"
            raise ValueError(f"partition {i}: has keys {keys}: {differ} differ")
        for name, found in file.fields.items():
            _add_words(known, i, name, found, fields.get(name))
            bare = replace(found, vocabulary=None)
            before = fields.get(name)
            if before is not None:
                conflict = before.conflict(bare, words=False, widen=True)
                if conflict:
                    what = f"key {name!r} does not fit those before: it has {conflict}"
                    raise ValueError(f"partition {i}: {what}")
                bare = before.joined(bare)
            fields[name] = replace(bare, vocabulary=() if found.vocabulary is not None else None)
    lists = {name: tuple(each) for name, each in known.items() if name in fields}
    for name, each in lists.items():
        dtype = id_dtype(len(each))
        fields[name] = replace(fields[name], dtype=dtype, tag=f"U{8 * dtype.itemsize}", vocabulary=each)
    return {name: field.dtype for name, field in fields.items()}, lists, fields


def _add_words(
    known: dict[str, dict[str, int]], i: int, name: str, found: Field, before: Field | None
) -> None:
    if before is not None and (found.vocabulary is None) != (before.vocabulary is None):
        has = "no words" if found.vocabulary is None else "words"
        raise ValueError(f"partition {i}: key {name!r} has {has}, unlike those before")
    if found.vocabulary is not None:
        ids = known.setdefault(name, {})
        for word in found.vocabulary:
            ids.setdefault(word, len(ids))


def _shard(
    draft: Draft, path: str, dtypes: Mapping[str, Any], words: Mapping[str, tuple[str, ...]], durable: bool
) -> Shard:
    own = open_file(draft.path).fields
    return Shard(
        draft.number,
        draft.path,
        os.path.join(path, f"part-{draft.number:05d}.nrt"),
        {name: dtype for name, dtype in dtypes.items() if name in own},
        {name: each for name, each in words.items() if name in own},
        durable,
    )
