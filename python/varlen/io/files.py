"""The files of one sequence: opened when they are needed, refused where they do not go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from varlen import _core
from varlen.io.errors import FileFormatError
from varlen.io.facts import Identity
from varlen.io.file import File, open_file
from varlen.io.schema import Field, joint_metadata
from varlen.io.shards import Shard

__all__ = []

Ints = np.ndarray[Any, np.dtype[np.int64]]


class Files:
    """What `Source` knows about its files; the rows are its own."""

    def __init__(
        self,
        shards: tuple[Shard, ...],
        mmap: bool,
        keys: tuple[str, ...] | None,
        identities: Sequence[Identity | None] | None = None,
        file: File | None = None,
    ) -> None:
        self.mmap = mmap
        self._shards = shards
        self._keys = keys
        self._files: list[File | None] = [None] * len(shards)
        self._known = identities
        self._first = 0
        self._fields: dict[str, Field] | None = None
        self._row_ids: str | None = None
        self._rows: tuple[Ints, Ints] | None = None
        self._wider: dict[int, dict[str, np.dtype[Any]]] = {}
        self._opened = 0  # shards; each may bring further words
        self._metadata: tuple[int, tuple[Any]] | None = None
        self._joints: dict[int, tuple[tuple[Any], _core.Joint]] = {}
        if file is not None:
            self._files[0] = file
            self._length = file.count
            if keys is not None:
                self._adopt(0)
            return
        first = next((i for i, shard in enumerate(shards) if shard.rows != 0), 0)
        if shards:
            self._adopt(first)
            self._foresee()
        self._length = int(self.offsets[-1])

    @property
    def counts(self) -> Ints:
        """int64, the rows of each shard."""
        return self._spread()[0]

    @property
    def offsets(self) -> Ints:
        """int64, the row at which each shard begins, and the number of rows."""
        return self._spread()[1]

    @property
    def row_ids(self) -> str | None:
        """The name of the key whose values identify rows, or None."""
        self._told()
        return self._row_ids

    @property
    def paths(self) -> list[str]:
        """The files, in the order of their rows."""
        return [shard.path for shard in self._shards]

    @property
    def fields(self) -> Mapping[str, Field]:
        """Each exposed key's dim, dtype, trailing dimensions and vocabulary.

        Where shards were narrowed each on its own, the dtype is the one that holds them all: rows are read,
        and batches made, with that.
        """
        return self._told()

    @property
    def names(self) -> list[str]:
        """The keys that are exposed."""
        return list(self._told())

    @property
    def depth(self) -> int:
        """Levels of nesting of the deepest key exposed."""
        if self._keys is None and self._shards:
            return self.file(self._first).depth
        return max((field.dim for field in self._told().values()), default=0)

    @property
    def joints(self) -> list[_core.Joint]:
        """One Joint a shard, of its own dtypes: views of the maps; with `mmap=False` files are read whole."""
        return [self.joint(shard) for shard in range(len(self.counts))]

    def joint(self, shard: int) -> _core.Joint:
        """The rows of one shard, with the dtypes that its file has, and the words of all shards so far."""
        file = self.file(shard)
        joint = file.joint() if self._keys is None or not file.names else file.joint(self._keys)
        if len(self._files) == 1:
            return joint
        metadata = self._joint_metadata()
        known = self._joints.get(shard)
        if known is None or known[0] is not metadata:
            known = (metadata, joint.with_meta(*metadata))
            if self.mmap:
                self._joints[shard] = known
        return known[1]

    def _joint_metadata(self) -> tuple[Any]:
        """What every Joint of the shards carries: the same object until another shard is opened."""
        opened = self._opened
        known = self._metadata
        if known is None or known[0] != opened:
            known = self._metadata = (opened, (joint_metadata(self._told(), self.row_ids),))
        return known[1]

    def wider(self, shard: int) -> Mapping[str, np.dtype[Any]]:
        """The keys that the file of a shard has in a narrower dtype than `fields`, and that of `fields`."""
        found = self._wider.get(shard)
        if found is None:
            own = self.file(shard).fields if len(self._files) > 1 else {}
            told = self._told() if own else {}
            found = {name: f.dtype for name, f in told.items() if name in own and own[name].dtype != f.dtype}
            self._wider[shard] = found
        return found

    def file(self, shard: int) -> File:
        """The opened file of a shard; opened the first time, and refused where it does not fit the others."""
        file = self._files[shard]
        if file is None:
            file = self._open(shard)
            self._check_shard(shard, file)
            self._files[shard] = file
        return file

    def check(self) -> None:
        """Raises StaleFileError where a file that is open was replaced or changed since."""
        for file in self._files:
            if file is not None:
                file.check()

    def guard(self, shards: Iterable[int] | None = None) -> None:
        """Raises StaleFileError where a mapped file was changed in place: for use before large reads."""
        for shard in range(len(self._files)) if shards is None else shards:
            file = self._files[shard]
            if file is not None and self.mmap:
                file.guard()

    def validate(self) -> None:
        """Opens every shard and reads every bound once; FileFormatError says what does not fit."""
        for shard in range(len(self.counts)):
            self.file(shard).validate()

    def _spread(self) -> tuple[Ints, Ints]:
        if self._rows is None:
            shards = enumerate(self._shards)
            rows = [self.file(i).count if shard.rows is None else shard.rows for i, shard in shards]
            counts: Ints = np.array(rows, np.int64)
            offsets: Ints = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
            counts.flags.writeable = offsets.flags.writeable = False
            self._rows = counts, offsets
        return self._rows

    def _told(self) -> dict[str, Field]:
        # One file is looked into when something of it is asked for, many when they are opened.
        if self._fields is None:
            if self._shards:
                self._adopt(self._first)
            else:
                self._fields = {}
        assert self._fields is not None
        return self._fields

    def _open(self, shard: int) -> File:
        path, known = self._shards[shard].path, self._known[shard] if self._known else None
        file = open_file(path, mmap=self.mmap)
        if known is not None and known != file.identity:
            file = File(path, self.mmap, known)  # says in which way it is another
        return file

    def _adopt(self, shard: int) -> None:
        """Takes keys and ids from this shard: all others must agree with it.

        From the next that has rows, where it has none; from the next that has keys, where none has rows.
        """
        file = self._files[shard] or self._open(shard)
        for other in range(shard + 1, len(self._files)):
            if file.names and file.count:
                break
            found = self._open(other)
            if found.names and (found.count or not file.names):
                shard, file = other, found
        self._first = shard
        names = file.names if self._keys is None else self._keys
        missing = [name for name in names if name not in file.fields]
        if missing:
            raise KeyError(f"keys: {missing} not in {file.path}; available: {sorted(file.fields)}")
        self._fields = {name: file.fields[name] for name in names}
        self._row_ids = file.row_ids
        self._check_shard(shard, file)
        self._files[shard] = file

    def _foresee(self) -> None:
        """Widens the dtypes to those of all shards: of an index by its word, others are opened."""
        told, heard = self._told(), set()
        for i, shard in enumerate(self._shards):
            if shard.rows == 0:
                continue  # holds no value, so any dtype holds its values
            if shard.fields is None or not told.keys() <= shard.fields.keys():
                self.file(i)
            elif id(shard.fields) not in heard:
                heard.add(id(shard.fields))
                for name, field in told.items():
                    stated = replace(shard.fields[name], vocabulary=field.vocabulary)
                    told[name] = self._join(shard.path, name, stated)

    def _check_shard(self, shard: int, file: File) -> None:
        expected = self._shards[shard]
        if expected.rows is not None and expected.rows != file.count:
            raise FileFormatError(f"{file.path}: has {file.count} rows, its index says {expected.rows}")
        if expected.size is not None and expected.size != file.identity[0]:
            raise FileFormatError(
                f"{file.path}: has {file.identity[0]} bytes, its index says {expected.size}"
            )
        if not file.names and file.count == 0:
            return
        told = self._told()
        for name, field in (expected.fields or {}).items():
            if name in file.fields:
                conflict = field.conflict(file.fields[name], words=False)
                if conflict:
                    raise _unfit(file.path, name, "the index says", conflict)
        for name, field in told.items():
            if name not in file.fields:
                raise FileFormatError(f"{file.path}: has no key {name!r}, as {self._others()} have")
            found = file.fields[name]
            if file.count == 0:  # as above
                found = replace(found, dtype=field.dtype, tag=field.tag)
            told[name] = self._join(file.path, name, found)
        self._opened += 1
        if self._keys is None and len(file.fields) > len(told):
            more = sorted(set(file.fields) - set(told))
            raise FileFormatError(f"{file.path}: has keys {more} that {self._others()} have not")
        if file.row_ids != self.row_ids:
            raise FileFormatError(
                f"{file.path}: row ids are {file.row_ids!r}, {self._others()} have {self.row_ids!r}"
            )

    def _join(self, path: str, name: str, found: Field) -> Field:
        field = self._told()[name]
        conflict = field.conflict(found, widen=True)
        if conflict:
            raise _unfit(path, name, f"{self._others()} have", conflict)
        return field.joined(found)

    def _others(self) -> str:
        return f"the others (such as {self._shards[self._first].path})"


def _unfit(path: str, name: str, who: str, conflict: str) -> FileFormatError:
    return FileFormatError(f"{path}: key {name!r} does not fit what {who}: it has {conflict}")
