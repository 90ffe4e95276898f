"""Arrow tables as rows: a column is a key, its lists are levels, and a schema replaces nulls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from varlen import _core
from varlen.arguments import PADDING
from varlen.errors import twin_error, type_error
from varlen.interop.arrow import Column, columns_of
from varlen.io.columns import check_names, check_nesting, fold_levels
from varlen.io.declared_nulls import DeclaredNulls
from varlen.io.intent import Schema

__all__: list[str] = []

_FILL = "fill them, or give a Schema in which floats and times are nullable, for NaN"


def as_table(rows: object) -> pa.Table:
    """The table itself, or one from an object that exports one.

    >>> as_table(pa.record_batch({"x": [1]})).num_rows
    1
    """
    if isinstance(rows, pa.Table):
        return rows
    if isinstance(rows, pa.RecordBatch):
        return pa.Table.from_batches([rows])
    try:
        if hasattr(rows, "get_columns"):  # Polars exports a frame by its threads, which a forked worker lacks
            return pa.table({column.name: pa.chunked_array(column) for column in rows.get_columns()})
        return pa.table(rows)
    except (pa.ArrowException, TypeError, ValueError) as wrong:
        raise type_error("rows", f"{type(rows).__name__} exports no table of Arrow: {wrong}") from None


def joint_of_table(
    rows: object, schema: Schema | None, first_words: Callable[[str], Sequence[str]]
) -> _core.Joint:
    """The columns of a table under the levels that they share.

    >>> joint_of_table(pa.table({"x": [[7, 8], [9]]}), None, list).values("x")
    array([7, 8, 9])
    """
    table = as_table(rows)
    check_names(table.column_names, "rows")
    nulls = DeclaredNulls(why=_FILL, schema=schema)
    names: list[str] = []
    dims: list[int] = []
    values: list[Any] = []
    levels: list[_core.Level] = []
    first: list[str] = []
    words: dict[str, tuple[str, ...]] = {}
    for name in table.column_names:
        for key, column in columns_of(table.column(name), name, nulls).items():
            if key in names:
                raise twin_error("rows", key, f"; {name!r} gives one of them")
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
            names.append(key)
            dims.append(len(own))
            values.append(flat)
    meta = {"vocabularies": words} if words else None
    return _core.Joint(names, dims, values, levels, table.num_rows, meta)


def _with_first(flat: Any, column: Column, first: Sequence[str]) -> tuple[Any, tuple[str, ...]]:
    """Ids after the first words of a vocabulary."""
    own = column.vocabulary or ()
    if not first or PADDING in own:
        return flat, own
    return flat + len(first), (*first, *own)
