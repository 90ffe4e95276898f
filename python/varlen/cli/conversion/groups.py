"""Consecutive rows of a table as groups, which become the records and their sequences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen._core import Level
from varlen.errors import row_error, value_error

__all__ = ["codes_of", "concat_rows", "group_keys", "group_rows", "without_dictionaries"]


def _changes(table: pa.Table, names: Sequence[str], first_row: int) -> npt.NDArray[np.bool_]:
    """True at each row whose group differs from that of the row before; the first row starts a group."""
    out = np.zeros(table.num_rows, bool)
    out[:1] = True
    for name in names:
        column = group_keys(table, name, first_row)
        out[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return out


def group_keys(table: pa.Table, name: str, first_row: int) -> pa.Array:
    """The values of a column that groups rows, in one array."""
    column = _plain_array(table.column(name))
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if column.null_count or pa.types.is_floating(column.type):
        wrong = np.flatnonzero(pc.is_null(column, nan_is_null=True).to_numpy(zero_copy_only=False))
        if len(wrong):
            raise row_error(name, "null", first_row + int(wrong[0]), advice="a group needs a value")
    return column


def _plain_array(column: pa.ChunkedArray) -> pa.Array:
    """One array of values, from chunks and dictionaries."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    array = column.combine_chunks()
    return pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array


def _split_group(name: str, key: object, names: Sequence[str]) -> ValueError:
    return value_error(
        name,
        f"the rows of {key!r} are not together",
        f"sort the input by {', '.join(names)}, or let --regroup gather them",
    )


def codes_of(column: pa.ChunkedArray) -> np.ndarray:
    """A number for each distinct value, in the order of first appearance."""
    codes: np.ndarray = _plain_array(column).dictionary_encode().indices.to_numpy()
    return codes


def concat_rows(tables: Sequence[pa.Table]) -> pa.Table:
    """The rows of all tables; words of a dictionary in some of them become plain ones."""
    if any(table.schema != tables[0].schema for table in tables):
        tables = [without_dictionaries(table) for table in tables]
    return pa.concat_tables(tables, promote_options="permissive")


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The same rows, with plain words."""
    for i, kind in enumerate(table.schema.types):
        if pa.types.is_dictionary(kind):
            table = table.set_column(i, table.column_names[i], table.column(i).cast(kind.value_type))
    return table


def group_rows(tables: Iterator[pa.Table], names: Sequence[str]) -> Iterator[tuple[pa.Table, list[Level]]]:
    """Whole outer groups of consecutive rows, with a level for each name. At most one group is held back."""
    all_keys: set[Any] = set()
    open_group: pa.Table | None = None

    rows_done = 0

    def finish(table: pa.Table) -> tuple[pa.Table, list[Level]]:
        starts = [np.flatnonzero(_changes(table, names[: k + 1], rows_done)) for k in range(len(names))]
        for key in table.column(names[0]).take(pa.array(starts[0])).to_pylist():
            if key in all_keys:
                raise _split_group(names[0], key, names)
            all_keys.add(key)
        for k in range(1, len(names)):
            keys = codes_of(table.column(names[k]).take(pa.array(starts[k])))
            parents = np.searchsorted(starts[k - 1], starts[k], side="right")
            _, first, count = np.unique(
                np.stack([parents, keys]), axis=1, return_index=True, return_counts=True
            )
            if count.max() > 1:
                row = starts[k][first[count > 1].min()]
                raise _split_group(names[k], table.column(names[k])[int(row)].as_py(), names)
        ends = [*starts, np.arange(table.num_rows)]
        total = [len(rows) for rows in ends]
        levels = []
        for k in range(len(names)):
            offsets = np.searchsorted(ends[k + 1], np.append(ends[k], table.num_rows))
            offsets[-1] = total[k + 1]
            levels.append(Level.from_offsets(offsets))
        return table, levels

    for table in tables:
        if table.num_rows == 0:  # of an input without rows
            yield table, [Level.from_lengths(np.zeros(0, np.int64)) for _ in names]
            continue
        pending = table if open_group is None else concat_rows([open_group, table])
        last = int(np.flatnonzero(_changes(pending, names[:1], rows_done))[-1])
        open_group = pending.slice(last)
        if last:
            yield finish(pending.slice(0, last).combine_chunks())
            rows_done += last
    if open_group is not None:
        yield finish(open_group.combine_chunks())
