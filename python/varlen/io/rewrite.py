"""Files and folders of shards as plain files, or as compressed ones, bit for bit the same numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from varlen.errors import value_error
from varlen.io import atomic
from varlen.io.bits import Array, compress_file
from varlen.io.building.engines import engine_of
from varlen.io.building.origin import state_of_file
from varlen.io.checksums import CHECKSUM, checksum_in, read_tensors, with_checksums, zeros_of
from varlen.io.file import File, open_file
from varlen.io.save import data_order, header_bytes
from varlen.io.shard_index import INDEX, find_shards, index_bytes
from varlen.io.work_folder import Part, replace_folder, work_folder

__all__: list[str] = []

_CHUNK = 16 * 1024 * 1024  # bytes; a multiple of every number's


class RewriteTask(NamedTuple):
    """The arguments of a task that writes a file again."""

    number: int
    source: str
    target: str
    compress: bool
    checksums: bool
    durable: bool


def rewrite(
    source: str,
    target: str,
    *,
    compress: bool,
    checksums: bool = False,
    durable: bool = True,
    engine: Any = None,
    workers: int = 1,
) -> list[str]:
    """Writes a file, or each file of a folder and its index, and returns the paths of the files.

    Compressed files become plain ones with `compress=False`, plain ones compressed ones with `compress=True`.
    A file has checksums where its source has them, or with `checksums=True`. A folder appears once it is
    complete, and a call that was stopped goes on; `engine` and `workers` write its files, as in `build`.
    """
    if not os.path.isdir(source):
        write_again(RewriteTask(0, source, target, compress, checksums, durable))
        return [target]
    if os.path.exists(target):
        raise FileExistsError(17, "there is such a folder", target)
    shards = find_shards(source)
    names = [os.path.basename(shard.path) for shard in shards]
    with work_folder(target) as work:
        parts = [
            Part(
                (state_of_file(shard.path), compress, checksums),
                (os.path.join(os.path.basename(work.result), name),),
                shard.path,
                RewriteTask(i, shard.path, os.path.join(work.result, name), compress, checksums, durable),
                None,
            )
            for i, (shard, name) in enumerate(zip(shards, names, strict=True))
        ]
        with engine_of(engine, [], workers) as run:
            marks = dict(zip(names, work.run(run, write_again, parts), strict=True))
        work.delete_others()
        if os.path.exists(os.path.join(source, INDEX)):
            _rewrite_index(source, work.result, marks, durable)
        replace_folder(work.result, target)
    return [os.path.join(target, name) for name in names]


def write_again(task: RewriteTask, partition: object = None) -> str | None:
    """Writes the file, and gives the checksum of the new header."""
    _, source, target, compress, checksums, durable = task
    if os.path.exists(target) and os.path.samefile(source, target):
        raise value_error("target", f"{target} is the source")
    file = open_file(source)
    with atomic.replace_file(target, durable) as out:
        if not compress:
            mark = _write_plain(file, out, checksums)
        else:
            plain, path = atomic.temporary(target)
            try:
                os.unlink(path)
                mark = _write_plain(file, plain, checksums)
                mark = compress_file(plain, out, mark is not None)
            finally:
                os.close(plain)
    file.guard()
    return mark


def _write_plain(file: File, fd: int, checksums: bool) -> str | None:
    """The plain file, byte for byte, unless it gets checksums that it has not; gives that of its header."""
    header, table = file.header, file.layout.bits
    metadata, names = header.metadata, header.names
    start = file.head() if table is None else table.start
    if not checksums or CHECKSUM in metadata:
        atomic.write_all(fd, (start,))
        for piece in _pieces(file, sorted(range(len(names)), key=lambda i: header.describe(i)[3:])):
            atomic.write_all(fd, (piece,))
        return metadata.get(CHECKSUM)
    tensors = [header.describe(i)[:3] for i in range(len(names))]
    metadata = with_checksums(metadata, zeros_of(names))
    atomic.write_all(fd, (header_bytes(tensors, metadata),))
    for piece in _pieces(file, sorted(range(len(names)), key=lambda i: data_order(tensors[i]))):
        atomic.write_all(fd, (piece,))
    start = header_bytes(tensors, with_checksums(metadata, read_tensors(fd)))
    os.lseek(fd, 0, os.SEEK_SET)
    atomic.write_all(fd, (start,))
    return checksum_in(start)


def _pieces(file: File, order: list[int]) -> Iterator[Array]:
    """The bytes of tensors, one after another."""
    reader = file.reader()
    try:
        for number in order:
            begin, end = file.header.describe(number)[3:]
            for start in range(begin, end, _CHUNK):
                yield reader.read(np.array([start]), np.array([min(start + _CHUNK, end)]))
    finally:
        reader.close()


def _rewrite_index(source: str, folder: str, marks: dict[str, str | None], durable: bool) -> None:
    """The index, with the sizes and the checksums of the new files."""
    with open(os.path.join(source, INDEX), "rb") as file:
        table = json.load(file)
    table.pop("old_files", None)
    for shard in table["shards"]:
        name = shard["path"]
        shard.pop("checksum", None)
        shard["size"] = os.stat(os.path.join(folder, name)).st_size
        if marks[name] is not None:
            shard["checksum"] = marks[name]
    with atomic.replace_file(os.path.join(folder, INDEX), durable) as fd:
        atomic.write_all(fd, (index_bytes(table),))
