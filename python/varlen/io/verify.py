"""All bytes of a data set compared with their checksums, and every fault that there is."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, cast

from varlen.arguments import as_bool, as_few, as_mapping, as_path
from varlen.io.building.engines import MOST_WORKERS, engine_of, run_tasks
from varlen.io.checksums import library
from varlen.io.errors import FileFormatError, format_error
from varlen.io.file import File, open_file
from varlen.io.manifest_file import is_manifest, manifest_parts
from varlen.io.shard_index import Shard, find_shards, refuse_options
from varlen.io.shard_set import Paths, ShardSet, open_shards
from varlen.io.urls import is_url
from varlen.io.verification import check_header, check_tensors, tensors_of

__all__ = ["verify"]


class _Check(NamedTuple):
    """A task: the number of a shard, where it is, and the options of its file system."""

    number: int
    shard: Shard
    options: Mapping[str, Any] | None = None


def verify(
    path: Paths,
    *,
    engine: Any = None,
    workers: int = 1,
    resume: str | os.PathLike[str] | None = None,
    progress: bool = False,
    storage_options: Mapping[str, Any] | None = None,
) -> list[Exception]:
    """Compare every byte of a data set with its checksums, and check all bounds and ids of words.

    Parameters
    ----------
    path
        A file, a list of files, a pattern, a folder of shards, or a manifest, as `varlen.open` takes them. Of
        a manifest all files of its last version, which have to be those that it keeps.
    engine, workers
        What checks the files, one a task: "processes", "dask", a Client of Dask or "ray", and the number of
        processes, as in `varlen.io.build`. The result is the same.
    resume
        A file, such as "verify.jsonl", that notes each file that was found right, with its size and time. A
        run that was stopped goes on from there, and the next one checks only files that are new, changed or
        wrong.
    progress
        Show a progress bar.
    storage_options
        The options of the file system of the URLs, as in `varlen.open`.

    Returns
    -------
    list of errors
        Every fault, in the order of the files: of the index, and of each file that it lists. Empty if all is
        as it was written. Errors are a `ChecksumError` or another `FileFormatError`, and know the `file` and
        the `argument`.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder.
    ImportError
        The package xxhash is missing.
    RuntimeError
        A worker ended three times. The error names the file by its number.

    Examples
    --------
    >>> import tempfile, varlen.io
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     varlen.io.save(f"{folder}/a.nrt", {"dim0/x": np.arange(8)}, checksums=True)
    ...     varlen.io.verify(f"{folder}/a.nrt")
    ...     with open(f"{folder}/a.nrt", "r+b") as file:
    ...         position, count = file.seek(-1, 2), file.write(b"1")
    ...     [(fault.key, fault.dim) for fault in varlen.io.verify(f"{folder}/a.nrt")]
    []
    [('x', 0)]
    """
    count, show = as_few(workers, "workers", MOST_WORKERS, 1), as_bool(progress, "progress")
    notes = None if resume is None else as_path(resume, "resume", "a file")
    options = None if storage_options is None else as_mapping(storage_options, "storage_options", "options")
    with engine_of(engine, [], count) as run:
        try:
            groups, losses = _groups_of(path, options)
        except FileFormatError as error:
            return [error]
        library("verify")
        shards = [shard for group in groups for shard in group]
        lines = _read_notes(notes)
        states = [_note_of(shard) for shard in shards]
        refuse_options(path, shards, options)
        tasks = [
            (_Check(i, shard, options if is_url(shard.path) else None), None)
            for i, shard in enumerate(shards)
            if states[i] not in lines
        ]
        results: dict[int, list[Exception]] = {}

        def take(number: int, result: list[Exception] | OSError) -> None:
            if isinstance(result, OSError):
                raise result
            results[number] = result
            note = states[number]
            is_same = note is not None and note == _note_of(shards[number])
            if notes is not None and not result and is_same:
                with open(notes, "a", encoding="utf-8") as file:
                    file.write(f"{note}\n")

        run_tasks(run, _check_file, tasks, "files" if show else None, take=take)
    faults = [*losses, *(fault for number in sorted(results) for fault in results[number])]
    if not faults:
        try:
            for group in groups:
                agreement = (
                    ShardSet(group, not is_url(path), None, storage_options=options)
                    if is_manifest(path)
                    else open_shards(path, storage_options=options)
                )
                for number in range(len(group)):
                    agreement.file(number)
        except ValueError as error:
            faults.append(error)
    return faults


def _groups_of(
    path: Paths, options: Mapping[str, Any] | None
) -> tuple[list[tuple[Shard, ...]], list[FileFormatError]]:
    """Files that have the same keys, and the faults of those that a manifest lists."""
    if not is_manifest(path):
        return [tuple(find_shards(path, options, verify=True, sizes=False))], []
    parts = manifest_parts(cast("str", path), options=options)
    return [part.shards for part in parts], [fault for part in parts for fault in part.faults]


def _check_file(job: _Check, _: object) -> list[Exception] | OSError:
    """The faults of one file; an error of the system, which is nobody's fault, as it is."""
    faults: list[Exception]
    try:
        faults = [*faults_of(job.shard, job.options)]
        if not faults:
            try:
                open_shards(job.shard.path, storage_options=job.options).validate()
            except ValueError as error:
                faults.append(error)
    except OSError as error:
        return error
    return faults


def _note_of(shard: Shard) -> str | None:
    """A line for a file in this state, which its index states too; None for one that has no time."""
    try:
        stat = None if is_url(shard.path) else os.stat(shard.path)
    except OSError:
        return None
    if stat is None:
        return None
    return json.dumps([shard.path, stat.st_size, stat.st_mtime_ns, stat.st_ino, shard.size, shard.checksum])


def _read_notes(path: str | None) -> set[str | None]:
    try:
        with open(path or "", encoding="utf-8") as file:
            return {line[:-1] for line in file if line.endswith("\n")}
    except FileNotFoundError:
        return set()


def faults_of(shard: Shard, options: Mapping[str, Any] | None = None) -> Iterator[FileFormatError]:
    """The faults of one file: of its size, its header and its tensors."""
    try:
        if shard.is_listed and not is_url(shard.path):
            _check_size(shard)
        file = _open(shard.path, options)
        check_header(file, shard)
    except FileFormatError as error:
        yield error
        return
    file._right_tensors.clear()  # what was read before is read again
    for number in tensors_of(file, None):
        try:
            check_tensors(file, [number])
        except FileFormatError as error:
            yield error


def _check_size(shard: Shard) -> None:
    try:
        size = os.stat(shard.path).st_size
    except FileNotFoundError:
        raise format_error(shard.path, "is gone, and its index lists it") from None
    if size != shard.size:
        raise format_error(shard.path, f"has {size} bytes, its index says {shard.size}")


def _open(path: str, options: Mapping[str, Any] | None) -> File:
    if not is_url(path):
        return open_file(path)
    from varlen.io.remote import RemoteFile

    return RemoteFile(path, options=options)
