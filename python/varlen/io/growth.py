"""A finished folder of shards to which rows are added: what they must be like, and the new index."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from varlen import _core
from varlen.errors import file_error, row_error, value_error
from varlen.io import atomic
from varlen.io.account import Account
from varlen.io.dtypes import as_kind_of, cast_exactly, dtype_of, has_stand_in, kind_of, row_of
from varlen.io.file_counts import read_all_written
from varlen.io.folder_lock import FolderLock
from varlen.io.intent import Schema
from varlen.io.pieces import Piece, as_piece
from varlen.io.schema import Field
from varlen.io.shard_index import (
    INDEX,
    Shard,
    listed_names,
    read_index,
    read_table,
    write_index,
)
from varlen.io.shard_set import ShardSet
from varlen.io.writer import Writer

__all__: list[str] = []

_PART = re.compile(r"part-(\d+)(-\d+)?\.nrt")  # the second number is of a file that was compacted

# Kinds of dtypes whose values another kind may hold, and then holds exactly.
_HOLDS = {"i": "iu", "u": "iu", "f": "iuf"}


@dataclass
class Folder:
    """The shards of a finished folder, and the fields that new rows must have."""

    path: str
    shards: tuple[Shard, ...]
    fields: dict[str, Field]
    depth: int
    row_ids: str | None
    schema: Schema | None
    account: Account | None
    has_checksums: bool
    has_bits: bool
    old_files: tuple[str, ...]  # files that no index lists any more

    @property
    def options(self) -> dict[str, Any]:
        """Those of a writer of rows for this folder."""
        numbers = {name: field.dtype for name, field in self.fields.items() if field.vocabulary is None}
        return {
            "row_ids": self.row_ids,
            "checksums": self.has_checksums,
            "schema": self.schema or numbers,
        }

    @property
    def id_dtypes(self) -> dict[str, np.dtype]:
        """The dtypes of keys of words."""
        return {name: dtype_of(f.tag) for name, f in self.fields.items() if f.vocabulary is not None}

    def begin(self, writer: Writer) -> None:
        """Give a writer the keys of the folder."""
        writer._id_dtypes = self.id_dtypes
        if self.fields:
            writer._begin_with(self.fields, self.depth)

    def read(self, rows: Any, writer: Writer) -> _core.Joint:
        """Rows in whatever form they come, in the dtypes of the folder; an error names what does not fit."""
        how = writer._first_words, writer._intent, writer._shape_of
        return joint_of(self.fit(as_piece(rows, {}, *how)))

    def sum_accounts(
        self, part: Account | None, new: Sequence[str], fields: Mapping[str, Field]
    ) -> Account | None:
        """The account of the folder with that of new files; None where the folder has none."""
        if self.account is None and part is None:
            return None
        if part is None:
            counts = read_all_written(list(new))
            part = Account({"append": counts.rows})
            for name, count in counts.values.items():
                part.column(name).source.values = count
        if self.account is None:
            raise value_error("account", f"{self.path} has none", "leave it out")
        account = (self.account + part).successor()
        totals = read_all_written([*(shard.path for shard in self.shards), *new])
        words = {name: field.vocabulary for name, field in fields.items() if field.vocabulary}
        account.set_result(*totals, words)
        account.check()
        return account

    def fit(self, piece: Piece) -> Piece:
        """The piece in the dtypes of the folder; an error names the key that does not fit."""
        if not self.fields:
            return piece
        missing = sorted(self.fields.keys() - piece.columns.keys())
        extras = sorted(piece.columns.keys() - self.fields.keys())
        if missing or extras:
            faults = [f"keys {missing} are missing"] * bool(missing) + [f"keys {extras} are new"] * bool(
                extras
            )
            raise value_error(
                (missing + extras)[0], f"{' and '.join(faults)}; {self.path} has {[*self.fields]}"
            )
        columns = {
            name: (dim, self._cast(name, dim, array, piece)) for name, (dim, array) in piece.columns.items()
        }
        if len(piece.levels) != self.depth:
            raise value_error("rows", f"{len(piece.levels)} levels, but {self.depth} in {self.path}")
        return piece._replace(columns=columns)

    def _cast(self, name: str, dim: int, array: Any, piece: Piece) -> Any:
        field, dtype = self.fields[name], self.fields[name].dtype
        levels = piece.levels[: max(dim, 0)]
        if dim != field.dim or array.shape[1:] != field.trailing:
            own, other = (dim, array.shape[1:]), (field.dim, field.trailing)
            reason = f"dim {own[0]}, trailing shape {own[1]}, but {other[0]} and {other[1]} in {self.path}"
            raise value_error(name, reason)
        is_text = array.dtype.kind in "UTO" or name in piece.vocabularies
        if array.size and is_text != (field.vocabulary is not None):
            kinds = ("words", "numbers") if is_text else ("numbers without a vocabulary", "words")
            raise value_error(name, f"{kinds[0]}, but {self.path} holds {kinds[1]}")
        array = as_kind_of(array, dtype)
        if is_text or field.vocabulary is not None or array.dtype == dtype:
            return array
        if array.size and kind_of(array.dtype) not in _HOLDS.get(kind_of(dtype), dtype.kind):
            nulls = np.argwhere(array != array)
            if len(nulls):
                row = row_of(levels, int(nulls[0][0]))
                raise row_error(name, "a null or NaN", row, f", but {self.path} holds {dtype}")
            fault = f"dtype {array.dtype}, but {dtype} in {self.path}: {array.flat[0]}"
            raise row_error(name, fault, row_of(levels, 0), advice="cast it first")
        cast = cast_exactly(name, array, dtype, levels=levels)
        place = _find_rounded(array, cast)
        if place is not None:
            rest = f" would be rounded to {dtype}, as {self.path} holds it"
            raise row_error(name, str(array[place]), row_of(levels, place[0]), rest, "cast it first")
        return cast


def _find_rounded(array: Any, cast: Any) -> tuple[int, ...] | None:
    """The place of the first float that another dtype rounds."""
    if kind_of(array.dtype) != "f" or np.can_cast(array.dtype, cast.dtype, "safe"):
        return None
    with np.errstate(all="ignore"):
        bad = (cast.astype(array.dtype) != array) & (array == array)
    return tuple(np.argwhere(bad)[0].tolist()) if bad.any() else None


def read_folder(path: str) -> Folder:
    """The state of a folder that an index makes complete."""
    index = os.path.join(path, INDEX)
    if not os.path.exists(index):
        raise file_error(path, "has no index.json, so it is not a finished folder", "append")
    shards = read_index(index)
    has_checksums = bool(shards) and all(shard.checksum is not None for shard in shards)
    if has_checksums:
        shards = read_index(index, verify=True)
    own = ShardSet(shards, True, None)
    for number in range(len(shards)):
        own.file(number)  # each may bring words
    fields = {name: field for name, field in own.fields.items() if field.dim >= 0}
    for name, field in fields.items():
        if has_stand_in(field.tag):
            raise value_error(name, f"is {field.tag} in {path}, which needs the package ml_dtypes here")
        if any(shard.rows and name not in (shard.fields or {}) for shard in shards):
            raise file_error(index, f"does not state the dtype of key {name!r}", "append")
    table = read_table(path)
    return Folder(
        path,
        shards,
        fields,
        own.depth,
        own.row_ids,
        own.schema if len(own.declared) else None,
        own.account if table.get("account") is not None else None,
        has_checksums,
        bool(shards) and all(own.file(number).layout.bits is not None for number in range(len(shards))),
        tuple(table.get("old_files", ())),
    )


def joint_of(piece: Piece) -> _core.Joint:
    """A piece as a Joint."""
    names = list(piece.columns)
    values = [a.astype(str) if a.dtype.kind == "O" else a for _, a in piece.columns.values()]
    dims = [dim for dim, _ in piece.columns.values()]
    meta = {"vocabularies": piece.vocabularies} if piece.vocabularies else None
    return _core.Joint(names, dims, values, piece.levels, piece.rows, meta)


def number_of(path: str) -> int | None:
    """The number in the name of a shard."""
    match = _PART.fullmatch(os.path.basename(path))
    return None if match is None else int(match[1])


def next_number(path: str) -> int:
    """The first number that no shard of the folder has, nor any that is larger."""
    return max((n for n in map(number_of, os.listdir(path)) if n is not None), default=-1) + 1


def next_names(path: str, count: int) -> list[str]:
    """Names of shards that no file of the folder has."""
    first = next_number(path)
    return [f"part-{first + i:05d}.nrt" for i in range(count)]


def publish(
    folder: Folder,
    lock: FolderLock,
    new: Sequence[Shard],
    fields: Mapping[str, Field],
    durable: bool,
    account: Account | None,
) -> None:
    """Give new shards their names, and then an index that lists them: a reader sees the old one or the new.

    A failure takes the names back, unless the new index is there.
    """
    names = next_names(folder.path, len(new))
    lock.promise(names)
    paths = [os.path.join(folder.path, name) for name in names]
    new_paths = []
    try:
        for shard, path in zip(new, paths, strict=True):
            os.rename(shard.path, path)
            new_paths.append(path)
        if durable:
            atomic.sync_folder(folder.path)
        new_shards = [shard._replace(path=path) for shard, path in zip(new, paths, strict=True)]
        write_index(folder.path, [*folder.shards, *new_shards], fields, durable, account, folder.old_files)
    except BaseException:
        if not set(names) & set(listed_names(os.path.join(folder.path, INDEX))):
            for path in new_paths:
                os.unlink(path)
        raise
