"""All bytes of a data set compared with their checksums, and every fault that there is."""

from __future__ import annotations

import os
from collections.abc import Iterator

from varlen.io.checksums import library
from varlen.io.errors import FileFormatError, format_error
from varlen.io.file import File, open_file
from varlen.io.shard_index import Shard, find_shards
from varlen.io.shard_set import Paths, open_shards
from varlen.io.urls import is_url
from varlen.io.verification import check_header, check_tensors, tensors_of

__all__ = ["verify"]


def verify(path: Paths) -> list[Exception]:
    """Compare every byte of a data set with its checksums, and check all bounds and ids of words.

    Parameters
    ----------
    path
        A file, a list of files, a pattern, or a folder of shards, as `varlen.open` takes them.

    Returns
    -------
    list of errors
        Every fault: of the index, and of each file that it lists. Empty if all is as it was written. Errors
        are a `ChecksumError` or another `FileFormatError`, and know the `file` and the `argument`.

    Raises
    ------
    FileNotFoundError
        There is no such file or folder.
    ImportError
        The package xxhash is missing.

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
    library("verify")
    try:
        shards = find_shards(path, verify=True, sizes=False)
    except FileFormatError as error:
        return [error]
    faults: list[Exception] = []
    for shard in shards:
        faults += faults_of(shard)
    if not faults:
        try:
            open_shards(path).validate()
        except ValueError as error:
            faults.append(error)
    return faults


def faults_of(shard: Shard) -> Iterator[FileFormatError]:
    """The faults of one file: of its size, its header and its tensors."""
    try:
        if shard.is_listed and not is_url(shard.path):
            _check_size(shard)
        file = _open(shard.path)
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


def _open(path: str) -> File:
    if not is_url(path):
        return open_file(path)
    from varlen.io.remote import RemoteFile

    return RemoteFile(path)
