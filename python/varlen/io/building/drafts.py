"""The two tasks of a build, which run where the engine likes: a draft of a shard, and the shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from varlen.io.account import Account
from varlen.io.building.counting import count_piece, name_of
from varlen.io.dtypes import cast_exactly
from varlen.io.errors import FileFormatError
from varlen.io.file import File, open_file
from varlen.io.growth import Folder
from varlen.io.intent import Schema
from varlen.io.save import save
from varlen.io.schema import Field, id_dtype
from varlen.io.writer import Writer

FINGERPRINT = "build.partition"


class Draft(NamedTuple):
    """The arguments of the first task: the draft's path and origin, and how to make and write its rows."""

    number: int
    path: str
    fingerprint: str
    make: Callable[[Any], Any] | Step | None
    options: Mapping[str, Any]
    folder: Folder | None = None  # that the rows are added to


class Step:
    """A function of partitions that counts what comes in and is left out itself, such as of `Dataset.map`.

    `identity` is the same for the same function.
    """

    identity: bytes

    def pieces(self, partition: Any, account: Account) -> Iterator[Any]:
        """The rows made of a partition, at least one piece, and its account."""
        raise NotImplementedError

    def sources(self, partition: Any) -> tuple[str, ...]:
        """The files that a partition is read from, for errors."""
        return ()

    def options(self, piece: Any) -> dict[str, Any]:
        """Options of the writer that depend on the first piece."""
        return {}

    def settle(self, account: Account, files: Sequence[File]) -> None:
        """Adds what all partitions have in common to the sum of their accounts; `files` hold their rows."""


def make_draft(draft: Draft, partition: Any) -> int:
    """Writes the rows of one partition with their own dtypes and words, and returns their number."""
    if is_whole(draft):  # an engine may ask again for what was lost with a worker
        return open_file(draft.path).count
    metadata = {FINGERPRINT: draft.fingerprint}
    account, name = Account(), name_of(partition, draft.number)
    if isinstance(draft.make, Step):
        pieces = draft.make.pieces(partition, account)
        first = next(pieces)
        own = {**draft.options, **draft.make.options(first)}
        with Writer(draft.path, metadata=metadata, account=account, **own) as writer:
            for piece in chain([first], pieces):
                writer.append(piece)
        return writer.rows
    rows = partition if draft.make is None else draft.make(partition)
    schema = draft.options.get("schema")
    row_shapes = {n: c.trailing for n, c in schema.items()} if isinstance(schema, Schema) else None
    with Writer(draft.path, metadata=metadata, account=account, **draft.options) as writer:
        if draft.folder is not None:
            draft.folder.begin(writer)
        for piece in [rows] if isinstance(rows, Mapping) or not hasattr(rows, "__next__") else rows:
            writer.append(piece if draft.folder is None else draft.folder.read(piece, writer))
            count_piece(account, name, piece, row_shapes)  # what is no piece was refused
    return writer.rows


class Shard(NamedTuple):
    """The arguments of the second task: the rows, their path, and the fields of all shards."""

    number: int
    source: str
    path: str
    fields: Mapping[str, Field]
    words: Mapping[str, tuple[str, ...]]
    durable: bool
    schema: Schema | None = None
    checksums: bool = False
    compress: bool = False


def agrees(file: File, fields: Mapping[str, Field], words: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a file has the dims, dtypes and words of all already."""
    return all(
        (field.dim, field.dtype, field.vocabulary) == (fields[name].dim, fields[name].dtype, words.get(name))
        for name, field in file.fields.items()
    )


def write_shard(shard: Shard, partition: object = None) -> int:
    """Rewrites rows with the dims, dtypes and words of all, and returns their number."""
    file = open_file(shard.source)
    own = {name: vocabulary for name, vocabulary in shard.words.items() if name in file.fields}
    save(
        shard.path,
        _entries(file, shard),
        vocabularies=own or None,
        row_ids=file.row_ids,
        metadata=file.user_metadata,
        durable=shard.durable,
        schema=shard.schema,
        account=file.account,
        checksums=shard.checksums,
        compress=shard.compress,
    )
    return file.count


def _entries(file: File, shard: Shard) -> dict[str, Any]:
    joint = file.joint()
    entries: dict[str, Any] = {f"dim{d}/bounds": joint.bounds(d) for d in range(1, file.depth + 1)}
    depth = max((shard.fields[name].dim for name in file.fields), default=0)
    for d in range(file.depth + 1, depth + 1):  # no value has so many lists around it
        entries[f"dim{d}/bounds"] = np.empty(0, np.int64)
    for name, field in file.fields.items():
        values, words = joint.values(name), shard.words.get(name)
        if words is not None:
            id_map = {word: i for i, word in enumerate(words)}
            ids = np.array([id_map[word] for word in field.vocabulary or ()], id_dtype(len(words)))
            values = ids[values] if values.size else values.astype(ids.dtype)
        dim, dtype = shard.fields[name].dim, shard.fields[name].dtype
        entries[f"dim{dim}/{name}"] = cast_exactly(f"key {name!r}", values, dtype)
    return entries


def fingerprint_of(file: File) -> str | None:
    """The fingerprint of the origin of a draft or a shard."""
    return file.header.metadata.get(FINGERPRINT)


def is_whole(draft: Draft) -> bool:
    """Whether the draft of the same partition exists."""
    try:
        return fingerprint_of(open_file(draft.path)) == draft.fingerprint
    except (FileNotFoundError, FileFormatError):
        return False
