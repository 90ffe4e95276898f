"""Rows and sub-sequences from their original order to steps, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends import backend_of
from varlen.levels import Levels, check_levels
from varlen.types.ranks import RankTable

if TYPE_CHECKING:
    from varlen.backends.values import Values


def laid(values: Values, table: RankTable, inner: Levels) -> tuple[Values, RankTable, Levels]:
    """What a `Packed` is made of: values in packed order, the table, and the levels below in packed order.

    Examples
    --------
    >>> laid(np.array([3, 1, 4]), vl.RankTable([1, 2], [1, 0]), ())[0]
    array([1, 3, 4])
    """
    if inner:
        rows, levels = reordered(values, inner, table.rows, table.places)
        return rows, table, levels
    return backend_of(values).ragged2packed(values, table.level, table), table, ()


def relaid(values: Values, table: RankTable, inner: Levels) -> tuple[Values, Levels]:
    """The way back: values and the levels below, in their original order.

    Examples
    --------
    >>> relaid(np.array([1, 3, 4]), vl.RankTable([1, 2], [1, 0]), ())[0]
    array([3, 1, 4])
    """
    if inner:
        return reordered(values, inner, table.places, table.rows)
    return backend_of(values).packed2ragged(values, table), ()


def reordered(values: Values, levels: Levels, order: Any, back: Any) -> tuple[Values, Levels]:
    """Sequences, or the rows themselves where there are no levels, under a permutation and its inverse.

    Examples
    --------
    >>> reordered(np.array([3, 1, 4]), (vl.Level([1, 2]),), [1, 0], [1, 0])
    (array([1, 4, 3]), (Level(2 sequences, 3 rows, lengths 1 to 2),))
    """
    backend = backend_of(values)
    return (
        backend.gather(values, levels, order) if levels else (backend.permute_rows(values, order, back), ())
    )


def fits(count: int, table: RankTable, inner: Levels) -> None:
    """Refuse values and inner levels that are not as many as the elements of all steps.

    Raises
    ------
    ValueError
        Naming what is not.

    Examples
    --------
    >>> fits(4, vl.RankTable([2, 1]), ())
    Traceback (most recent call last):
    ValueError: values: there are 4, but the lengths add up to 3
    """
    if inner:
        check_levels(count, inner, "inner")
    elements = len(inner[0]) if inner else count
    if elements != table.total:
        what = "inner: level 0 has" if inner else "values: there are"
        raise ValueError(f"{what} {elements}, but the lengths add up to {table.total}")


def table_of(lengths: Any, indices: Any, presorted: bool = False) -> RankTable:
    """The table of lengths by rank.

    Examples
    --------
    >>> table_of(np.array([2, 1]), np.array([1, 0])).level.lengths
    array([1, 2])
    """
    original = np.empty(len(lengths), np.int64)
    original[indices] = lengths
    return RankTable(original, None if presorted else indices)


def agreed(result: RankTable, table: RankTable, argument: str) -> RankTable:
    """The table that the caller gave, which has to be the one made of all sequences that are not empty.

    Raises
    ------
    TypeError, ValueError
        No table, one of other lengths or of another order.

    Examples
    --------
    >>> agreed(vl.RankTable([2, 1]), vl.RankTable([2, 1, 0]), "padded")
    RankTable(3 sequences, 2 steps, 3 rows, lengths 0 to 2)
    """
    if not isinstance(table, RankTable):
        raise TypeError(f"table: expected a RankTable, got {type(table).__name__}")
    there = table.active(0)
    names = table.indices[:there]
    kept = result.active(0)
    order = np.searchsorted(np.sort(names), names)  # what is left is numbered anew
    mine = np.searchsorted(np.sort(result.indices[:kept]), result.indices[:kept])
    for name, a, b in (("lengths", result.lengths[:kept], table.lengths[:there]), ("order", mine, order)):
        if not np.array_equal(a, b):
            raise ValueError(f"{argument}: its {name} are not those of the table")
    return table
