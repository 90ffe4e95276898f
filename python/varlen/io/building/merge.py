"""The fields that the drafts of a build have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from varlen.errors import name_place, value_error
from varlen.io.dtypes import schema_hint
from varlen.io.file import File
from varlen.io.schema import Field, id_dtype

__all__: list[str] = []


def merge_fields(
    files: Sequence[File], words: Mapping[str, tuple[str, ...]], places: Sequence[int]
) -> tuple[dict[str, tuple[str, ...]], dict[str, Field]]:
    """The words of keys that have some, and the fields of all.

    `places` are the numbers of the partitions, for errors.
    """
    fields: dict[str, Field] = {}
    with_values: set[str] = set()
    id_map = {name: {word: i for i, word in enumerate(word_list)} for name, word_list in words.items()}
    for i, file in zip(places, files, strict=True):
        if fields and file.names and set(file.fields) != set(fields):
            differ = sorted(set(file.fields) ^ set(fields))
            keys = f"{sorted(file.fields)}, not {sorted(fields)}"
            raise value_error("", f"has keys {keys}: {differ} differ", context=f"partition {i}")
        for name, entry in file.fields.items():
            has_values = file.layout.rows[entry.dim] > 0
            try:
                fields[name] = join_fields(fields.get(name), entry, name in with_values, has_values)
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
    return lists, fields


def join_fields(first: Field | None, entry: Field, had_values: bool, has_values: bool) -> Field:
    """The field of the partitions so far; without a value, any dtype, any words and a deeper dim fit."""
    bare = replace(entry, vocabulary=None if entry.vocabulary is None else ())
    if first is None:
        return bare
    if not (had_values and has_values):
        kind = bare if has_values else first
        bare = replace(bare, dtype=kind.dtype, tag=kind.tag, vocabulary=kind.vocabulary)
        first = replace(first, dtype=kind.dtype, tag=kind.tag, vocabulary=kind.vocabulary)
    elif (bare.vocabulary is None) != (first.vocabulary is None):
        raise value_error("", "it has no words" if bare.vocabulary is None else "it has words")
    if not (had_values if first.dim < bare.dim else has_values):  # lists that end before their values
        dim = max(first.dim, bare.dim)
        first, bare = replace(first, dim=dim), replace(bare, dim=dim)
    conflict = first.conflict(bare, words=False, widen=True)
    if conflict:
        raise value_error("", f"it has {conflict}", schema_hint(first.dtype, bare.dtype))
    union = first.join(bare)
    if union.dtype.kind == "f" and not {first.dtype.kind, bare.dtype.kind} & {"f", "V"}:
        raise value_error("", f"no dtype holds both {first.dtype} and {bare.dtype}", "name one in schema")
    return union
