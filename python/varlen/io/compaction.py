"""A folder whose deleted rows are taken out of its files."""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from varlen.arguments import as_bool, as_few, as_path
from varlen.errors import file_error, value_error
from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.building.engines import MOST_WORKERS, engine_of, run_tasks
from varlen.io.building.folder import delete_files
from varlen.io.building.origin import hash_of, state_of_file
from varlen.io.errors import FileFormatError
from varlen.io.file import File, open_file
from varlen.io.file_counts import read_all_written
from varlen.io.folder_lock import FolderLock, delete_drafts, lock_folder
from varlen.io.growth import Folder, next_number, number_of, read_folder
from varlen.io.save import save
from varlen.io.shard_index import INDEX, Ints, Shard, as_deletions, listed_names, write_index
from varlen.io.shard_set import ShardSet, open_shards
from varlen.io.urls import is_url
from varlen.io.verification import check_header, check_tensors, tensors_of

__all__ = ["compact"]

# What a compacted file says of the file and the rows that it was made of.
_ORIGIN = "compact.rows"
_SOURCES = "compact.sources"


# Bytes of a header that say what a file was made of; beyond that, readers compare the rows.
_MOST_SOURCES = 1 << 18


class CompactedFile(NamedTuple):
    """A file whose rows another one has, but for those that were taken out."""

    name: str
    rows: int
    size: int
    time: int
    deletions: Ints

    def as_entry(self) -> list[Any]:
        """The entry of a header: gaps between rows, compressed."""
        gaps = np.diff(self.deletions, prepend=0)
        packed = zlib.compress(gaps.astype("<u8").view(np.uint8).reshape(-1, 8).T.tobytes())
        return [*self[:4], base64.b64encode(packed).decode()]

    @classmethod
    def from_entry(cls, entry: list[Any]) -> CompactedFile:
        """The file of an entry; ValueError if it is none."""
        name, rows, size, time, text = entry
        if not isinstance(name, str) or not all(type(n) is int and n >= 0 for n in (rows, size, time)):
            raise value_error("", "a file has a name and three counts")
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(base64.b64decode(text), 8 * rows + 1)
        if not unpacker.eof:
            raise value_error("", "the deleted rows are cut off, or more than there are rows")
        gaps = np.frombuffer(raw, np.uint8).reshape(8, -1).T.copy().view("<u8").reshape(-1)
        deletions = as_deletions(np.cumsum(gaps.astype(np.int64)).tolist(), rows)
        if not isinstance(deletions, np.ndarray):
            raise value_error("", deletions or "no row was taken out")
        return cls(name, rows, size, time, deletions)


def sources_of(file: File) -> list[CompactedFile]:
    """The files that a file was made of, each of the one before; a reader may have opened any of them.

    None where the file does not say, or what it says makes no sense: then rows are compared.
    """
    try:
        entries = json.loads(file.header.metadata.get(_SOURCES, "[]"))
        return [CompactedFile.from_entry(entry) for entry in entries]
    except (ValueError, TypeError, zlib.error, RecursionError, OverflowError):
        return []


class _Job(NamedTuple):
    """A task: the number of a shard, the shard, the file to write, and what that says of its origin."""

    number: int
    shard: Shard
    path: str
    origin: str
    durable: bool


def compact(
    folder: str | os.PathLike[str],
    *,
    clean: bool = False,
    engine: Any = None,
    workers: int = 1,
    durable: bool = True,
    progress: bool = False,
) -> ShardSet:
    """Take the rows that `Dataset.delete` deleted out of the files of a folder.

    Only files with deleted rows are written anew, beside the old ones, and with their dtypes, vocabularies,
    row ids and checksums. Then one new index names them all: a reader sees the same rows before and after it.
    A run that was stopped goes on with the files that are missing. The account counts the deleted rows.

    Parameters
    ----------
    folder
        A folder of shards with an index.
    clean
        Delete the old files, of this run and of those before. Whoever opened the folder earlier needs them
        for rows that it has not read yet, and so do versions of manifests that were kept before rows were
        deleted. By default they stay.
    engine, workers
        What writes the files, one a task: "processes", "dask", a Client of Dask or "ray", and the number of
        processes, as in `varlen.io.build`. The result is the same.
    durable
        False leaves out fsync.
    progress
        Show a progress bar.

    Returns
    -------
    ShardSet
        The shards, opened.

    Raises
    ------
    FileNotFoundError
        There is no such folder.
    ValueError
        It has no index, or is a file or a URL.
    varlen.io.FileFormatError
        A file is damaged, or not as it was written.
    RuntimeError
        A worker ended three times. The error names the file by its number.
    BlockingIOError
        Another writer is at work in the folder.

    Examples
    --------
    >>> import tempfile, varlen as vl
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = f"{folder.name}/visits"
    >>> vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3], []]})).save(path, rows_per_shard=2)
    >>> ds = vl.open(path).delete([0])
    >>> ds.source.counts, vl.io.compact(path, clean=True).counts
    (array([2, 1]), array([1, 1]))
    >>> vl.open(path)[:].to_list() == ds[:].to_list()
    True
    >>> folder.cleanup()
    """
    is_clean, is_durable = as_bool(clean, "clean"), as_bool(durable, "durable")
    count, show = as_few(workers, "workers", MOST_WORKERS, 1), as_bool(progress, "progress")
    path = as_path(folder, "folder", "a folder")
    if is_url(path):
        raise value_error("folder", f"{path} is a URL", "compact the folder where its files are")
    path = os.path.abspath(path)
    if os.path.isfile(path) and os.path.basename(path) != INDEX:
        raise file_error(path, "is a file, and rows are deleted from folders of shards alone", "compact")
    path = os.path.dirname(path) if os.path.isfile(path) else path
    if not os.path.isdir(path):
        raise FileNotFoundError(2, "there is no such folder", path)
    with engine_of(engine, [], count) as run, lock_folder(path) as lock:
        delete_drafts(path)
        own = read_folder(path)
        jobs = _jobs(own, is_durable)
        tasks = [(job, None) for job in jobs if not _is_whole(job)]
        run_tasks(run, _try_write, tasks, "files" if show else None, take=_raise)
        if jobs:
            own = _publish(own, lock, jobs, is_durable)
        if is_clean and own.old_files:
            delete_files(os.path.join(path, name) for name in own.old_files)
            write_index(path, own.shards, own.fields, is_durable, own.account)
    return open_shards(path)


def _jobs(folder: Folder, durable: bool) -> list[_Job]:
    """What to write for each shard with deleted rows: a file with its number and a second one."""
    names, new = os.listdir(folder.path), next_number(folder.path)
    jobs = []
    for place, shard in enumerate(folder.shards):
        if shard.deletions is None:
            continue
        number = number_of(shard.path)
        if number is None:  # a name that another program gave
            number, new = new, new + 1
        matches = [re.fullmatch(rf"part-{number:05d}-(\d+)\.nrt", name) for name in names]
        second = max((int(match[1]) for match in matches if match), default=0) + 1
        path = os.path.join(folder.path, f".part-{number:05d}-{second}.shard")
        jobs.append(_Job(place, shard, path, _origin_of(shard), durable))
    return jobs


def _origin_of(shard: Shard) -> str:
    assert shard.deletions is not None
    state = os.path.basename(shard.path), *state_of_file(shard.path)[1:]
    return hash_of(repr(state).encode() + shard.deletions.tobytes())


def _is_whole(job: _Job) -> bool:
    """Whether the file was written before, of the same rows."""
    try:
        return open_file(job.path).header.metadata.get(_ORIGIN) == job.origin
    except (FileNotFoundError, ValueError):
        return False


def _try_write(job: _Job, _: object) -> Exception | None:
    """The fault of a file or of the system, which names its place itself."""
    try:
        _write_rest(job)
    except (FileFormatError, OSError) as error:
        return error
    return None


def _raise(_: int, fault: Exception | None) -> None:
    if fault is not None:
        raise fault


def _write_rest(job: _Job) -> None:
    """Write the rows of a file that were not deleted."""
    shard, file = job.shard, open_file(job.shard.path)
    if shard.checksum is not None:  # wrong bytes would get a right checksum
        check_header(file, shard)
        check_tensors(file, tensors_of(file, None))
    assert shard.deletions is not None
    stat, name = os.stat(shard.path), os.path.basename(shard.path)
    source = CompactedFile(name, file.count, stat.st_size, stat.st_mtime_ns, shard.deletions)
    sources = json.dumps([one.as_entry() for one in (*sources_of(file), source)])
    rest = np.delete(np.arange(file.count), shard.deletions)
    joint = file.joint().take(rest)
    entries: dict[str, Any] = {f"dim{d}/bounds": joint.bounds(d) for d in range(1, file.depth + 1)}
    dims = dict(zip(joint.names, joint.dims, strict=True))
    entries |= {f"dim{dim}/{name}": joint.values(name) for name, dim in dims.items()}
    words = {name: field.vocabulary for name, field in file.fields.items() if field.vocabulary is not None}
    save(
        job.path,
        entries,
        vocabularies=words or None,
        row_ids=file.row_ids,
        metadata={
            **file.user_metadata,
            _ORIGIN: job.origin,
            _SOURCES: sources if len(sources) <= _MOST_SOURCES else "[]",
        },
        durable=job.durable,
        schema=file.schema if file.layout.schema.declared else None,
        account=_account_of(file, shard.deletions, {name: joint.rows(dim) for name, dim in dims.items()}),
        checksums=file.checksum is not None,
        compress=file.layout.bits is not None,
    )


def _account_of(file: File, deletions: Ints, counts: Mapping[str, int]) -> Account | None:
    """The account of a file without its deleted rows."""
    if file.account is None:
        return None
    account, rows = file.account.successor(), file.layout.rows
    _leave_out(
        account, deletions, {name: rows[file.fields[name].dim] - count for name, count in counts.items()}
    )
    account.set_result(file.count - len(deletions), counts)
    return account


def _leave_out(account: Account, deletions: Ints, counts: Mapping[str, int]) -> None:
    account.leave_out(None, "deleted", len(deletions), first=[f"row {row}" for row in deletions[:3].tolist()])
    for name, count in counts.items():
        account.leave_out(name, "deleted", count, None)


def _publish(folder: Folder, lock: FolderLock, jobs: list[_Job], durable: bool) -> Folder:
    """Give the new files their names, and then an index that lists them; a failure takes the names back."""
    shards, begins = list(folder.shards), np.cumsum([0, *(shard.rows or 0 for shard in folder.shards)])
    names = [f"{os.path.basename(job.path)[1:].removesuffix('.shard')}.nrt" for job in jobs]
    paths = [os.path.join(folder.path, name) for name in names]
    account = None
    if folder.account is not None:
        account = folder.account.successor()
        deletions = [
            job.shard.deletions + begins[job.number] for job in jobs if job.shard.deletions is not None
        ]
        counts = read_all_written([job.shard.path for job in jobs]).values
        rest = read_all_written([job.path for job in jobs]).values
        _leave_out(
            account, np.concatenate(deletions), {n: count - rest.get(n, 0) for n, count in counts.items()}
        )
        now = {job.number: job.path for job in jobs}
        totals = read_all_written([now.get(i, shard.path) for i, shard in enumerate(shards)])
        words = {name: field.vocabulary for name, field in folder.fields.items() if field.vocabulary}
        account.set_result(*totals, words)
        account.check()
    lock.promise(names)
    index = os.path.join(folder.path, INDEX)
    new_paths = []
    try:
        for job, path in zip(jobs, paths, strict=True):
            file = open_file(job.path)
            shards[job.number] = Shard(path, file.count, file.identity[0], checksum=file.checksum)
            os.rename(job.path, path)
            new_paths.append(path)
        if durable:
            atomic.sync_folder(folder.path)
        old_files = (*folder.old_files, *(os.path.basename(job.shard.path) for job in jobs))
        write_index(folder.path, shards, folder.fields, durable, account, old_files)
    except BaseException:
        if not set(names) & set(listed_names(index)):
            delete_files(new_paths)
        raise
    return replace(folder, shards=tuple(shards), account=account, old_files=old_files)
