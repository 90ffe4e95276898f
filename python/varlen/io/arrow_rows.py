"""Arrow tables as rows: a column is a key, its lists are levels, and a schema replaces nulls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pyarrow as pa

from varlen import _core
from varlen.errors import twin_error, type_error
from varlen.interop.arrow import Column, columns_of
from varlen.io.arrow_joint import joint_of_columns
from varlen.io.columns import check_names
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
    columns: dict[str, Column] = {}
    for name in table.column_names:
        for key, column in columns_of(table.column(name), name, nulls).items():
            if key in columns:
                raise twin_error("rows", key, f"; {name!r} gives one of them")
            columns[key] = column
    return joint_of_columns(columns, table.num_rows, first_words, schema)
