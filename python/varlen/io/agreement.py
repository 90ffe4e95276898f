"""The common fields of the shards of a data set: keys, dtypes, vocabularies and row ids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from varlen.errors import error_of
from varlen.io.errors import FileFormatError, format_error
from varlen.io.file import File, refuse_left_behind
from varlen.io.schema import Field, joint_metadata
from varlen.io.shard_index import Shard

__all__: list[str] = []


class Agreement:
    """The fields of all shards so far. The first file states them; every other file must agree.

    Dtypes widen to hold the values of all shards, and one vocabulary may continue another.
    """

    def __init__(self, file: File, keys: Sequence[str] | None) -> None:
        names = file.names if keys is None else keys
        missing = [name for name in names if name not in file.fields]
        if missing:
            raise error_of(
                KeyError, "keys", f"{missing} not in {file.path}; available: {sorted(file.fields)}"
            )
        if any(file.fields[name].dim < 0 for name in names):
            refuse_left_behind(file)
        self._all_keys = keys is None
        self._path = file.path
        self.fields: dict[str, Field] = {name: file.fields[name] for name in names}
        self.row_ids = file.row_ids
        self._declarations = file.layout.schema.declared
        self._cache: tuple[dict[str, Field], tuple[Any]] | None = None

    @property
    def metadata(self) -> tuple[Any]:
        """The metadata of a Joint of any shard, in a tuple that is the same object until a field changes."""
        fields, cache = self.fields, self._cache
        if cache is None or cache[0] is not fields:
            self._cache = cache = fields, (joint_metadata(fields, self.row_ids),)
        return cache[1]

    def add_stated(self, shard: Shard) -> None:
        """Compare the fields that an index states for a shard that is not open, and keep the new ones."""
        assert shard.fields is not None
        for name, field in self.fields.items():
            self._join(shard.path, name, replace(shard.fields[name], vocabulary=field.vocabulary))

    def add(self, shard: Shard, file: File) -> None:
        """Compare the fields of a file, and keep the new ones."""
        if shard.rows is not None and shard.rows != file.count:
            raise format_error(file.path, f"has {file.count} rows, its index says {shard.rows}")
        if shard.size is not None and shard.size != file.identity[0]:
            raise format_error(file.path, f"has {file.identity[0]} bytes, its index says {shard.size}")
        if not file.names and file.count == 0:
            return
        for name, field in (shard.fields or {}).items():
            if name in file.fields:
                conflict = field.conflict(file.fields[name], words=False)
                if conflict:
                    raise _conflict_error(file.path, name, "the index says", conflict)
        intents = file.layout.schema.declared
        for name, field in self.fields.items():
            if name not in file.fields:
                raise format_error(file.path, f"has no key {name!r}, as {self._other_files()} have")
            entry = file.fields[name]
            if file.count == 0:  # no value, so any dtype fits
                entry = replace(entry, dtype=field.dtype, tag=field.tag)
            if file.count and name in intents and name in self._declarations:
                differ = _difference(intents[name], self._declarations[name])
                if differ:
                    raise _conflict_error(file.path, name, f"{self._other_files()} have", differ)
            self._join(file.path, name, entry)
        if self._all_keys and len(file.fields) > len(self.fields):
            extras = sorted(set(file.fields) - set(self.fields))
            raise format_error(file.path, f"has keys {extras} that {self._other_files()} have not")
        if file.row_ids != self.row_ids:
            raise format_error(
                file.path, f"row ids are {file.row_ids!r}, {self._other_files()} have {self.row_ids!r}"
            )

    def _join(self, path: str, name: str, entry: Field) -> None:
        field = self.fields[name]
        conflict = field.conflict(entry, widen=True)
        if conflict:
            raise _conflict_error(path, name, f"{self._other_files()} have", conflict)
        union = field.join(entry)
        if union is not field:
            self.fields = {**self.fields, name: union}  # a new dict, for threads that read the old one

    def _other_files(self) -> str:
        return f"the others (such as {self._path})"


def _difference(mine: Mapping[str, object], theirs: Mapping[str, object]) -> str | None:
    """The difference of two declarations of a key: its kind, its time zone or the names of its dims."""
    if mine.get("kind") != theirs.get("kind"):
        return f"values of kind {mine.get('kind')!r}, not {theirs.get('kind')!r}"
    if mine.get("zone") != theirs.get("zone"):
        zones = (
            f"times of {z}" if z else "times without a zone" for z in (mine.get("zone"), theirs.get("zone"))
        )
        return ", not ".join(zones)
    dims = mine.get("dims"), theirs.get("dims")
    if None not in dims and dims[0] != dims[1]:
        return f"dims {dims[0]}, not {dims[1]}"
    return None


def _conflict_error(path: str, name: str, others: str, conflict: str) -> FileFormatError:
    return format_error(path, f"key {name!r} does not fit what {others}: it has {conflict}")
