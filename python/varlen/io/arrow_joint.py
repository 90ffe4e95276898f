"""Columns of Arrow under the levels that they share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from varlen import _core
from varlen.arguments import PADDING
from varlen.interop.arrow_parts import table_columns
from varlen.interop.column import Column
from varlen.interop.nulls import Nulls
from varlen.io.columns import check_names, check_nesting, fold_levels
from varlen.io.intent import Schema
from varlen.io.schema import make_metadata

__all__: list[str] = []


def joint_of_arrow(
    data: object, first_words: Callable[[str], Sequence[str]], row_ids: str | None = None
) -> _core.Joint:
    """The columns of a table of any library, which keep their dtypes."""
    columns = table_columns(data, Nulls(why="fill it first"))
    check_names(list(columns), "raw_tensors")
    joint = joint_of_columns(columns, -1, first_words)
    words = (joint.meta or {}).get("vocabularies") or {}
    return joint.with_meta(make_metadata(words, row_ids))


def joint_of_columns(
    columns: Mapping[str, Column],
    count: int,
    first_words: Callable[[str], Sequence[str]],
    schema: Schema | None = None,
) -> _core.Joint:
    """The columns under the levels that they share; a schema says their trailing dims.

    >>> import numpy as np
    >>> joint_of_columns({"x": Column(np.array([7, 8]))}, 2, list).values("x")
    array([7, 8])
    """
    dims: list[int] = []
    values: list[Any] = []
    levels: list[_core.Level] = []
    first: list[str] = []
    words: dict[str, tuple[str, ...]] = {}
    for key, column in columns.items():
        row_shape = schema[key].trailing if schema is not None and key in schema else ()
        flat, own = fold_levels(key, column.values, column.levels, row_shape)
        if schema is not None and key in schema:
            schema[key].check_zone(key, flat.dtype, column.zone is not None)
        if column.vocabulary is not None:
            flat, words[key] = _with_first(flat, column, first_words(key))
        for number, (have, new) in enumerate(zip(levels, own, strict=False), start=1):
            check_nesting(have, new, number, key, first[number - 1])
        first += [key] * (len(own) - len(levels))
        levels += own[len(levels) :]
        dims.append(len(own))
        values.append(flat)
    meta = {"vocabularies": words} if words else None
    return _core.Joint(list(columns), dims, values, levels, count, meta)


def _with_first(flat: Any, column: Column, first: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Ids after the first words of a vocabulary."""
    own = column.vocabulary or ()
    if not first or PADDING in own:
        return flat, own
    return flat + len(first), (*first, *own)
