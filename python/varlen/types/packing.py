"""Rows and sub-sequences from their original order to steps, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends import backend_of
from varlen.errors import instance_error, value_error
from varlen.levels import Levels, check_levels
from varlen.types.ranks import RankTable

if TYPE_CHECKING:
    from varlen.backends.values import Values


def to_steps(values: Values, table: RankTable, inner: Levels) -> tuple[Values, RankTable, Levels]:
    """The parts of a `Packed`: values and the levels below in packed order, and the table."""
    if inner:
        rows, levels = permute(values, inner, table.rows, table.places)
        return rows, table, levels
    return backend_of(values).ragged2packed(values, table.level, table), table, ()


def from_steps(values: Values, table: RankTable, inner: Levels) -> tuple[Values, Levels]:
    """Values and the levels below of a `Packed`, in their original order."""
    if inner:
        return permute(values, inner, table.places, table.rows)
    return backend_of(values).packed2ragged(values, table), ()


def permute(values: Values, levels: Levels, order: object, inverse: object) -> tuple[Values, Levels]:
    """Sequences, or the rows themselves without levels, under a permutation and its inverse."""
    backend = backend_of(values)
    return (
        backend.gather(values, levels, order)
        if levels
        else (backend.permute_rows(values, order, inverse), ())
    )


def check_total(count: int, table: RankTable, inner: Levels) -> None:
    """Refuse values or inner levels whose count differs from the total of the lengths."""
    if inner:
        check_levels(count, inner, "inner")
    elements = len(inner[0]) if inner else count
    if elements != table.total:
        what = "inner: level 0 has" if inner else "values: there are"
        raise value_error("", f"{what} {elements}, but the lengths add up to {table.total}")


def rank_table(lengths: Any, indices: Any, is_sorted: bool = False) -> RankTable:
    """The table of lengths by rank."""
    original = np.empty(len(lengths), np.int64)
    original[indices] = lengths
    return RankTable(original, None if is_sorted else indices)


def check_table(result: RankTable, table: RankTable, argument: str) -> RankTable:
    """The caller's table, which must equal `result`, apart from empty sequences."""
    if not isinstance(table, RankTable):
        raise instance_error("table", "a RankTable", table)
    given_count = table.active(0)
    given_order = table.indices[:given_count]
    count = result.active(0)
    # Both orders are counted among the sequences that are not empty.
    expected = np.searchsorted(np.sort(given_order), given_order)
    result_order = np.searchsorted(np.sort(result.indices[:count]), result.indices[:count])
    for name, a, b in (
        ("lengths", result.lengths[:count], table.lengths[:given_count]),
        ("order", result_order, expected),
    ):
        if not np.array_equal(a, b):
            raise value_error(argument, f"differs from the table in its {name}")
    return table
