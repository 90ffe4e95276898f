"""Rows of arrays in packed order, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core

if TYPE_CHECKING:
    from varlen._core import Level


def ragged2packed(values: Any, level: Level, table: Any) -> Any:
    """Rows of sequences in the packed order of a table.

    Examples
    --------
    >>> table = vl.RankTable([1, 2], [1, 0])
    >>> ragged2packed(np.array([3, 1, 4]), table.level, table)
    array([1, 3, 4])
    """
    return _core.ragged2packed(values, level, "stable", table._fields)[0]


def packed2ragged(values: Any, table: Any) -> Any:
    """Packed rows in the order of their sequences.

    Examples
    --------
    >>> packed2ragged(np.array([1, 3, 4]), vl.RankTable([1, 2], [1, 0]))
    array([3, 1, 4])
    """
    return _core.packed2ragged(values, *table._fields)[0]


def permute_rows(values: Any, rows: Any, back: Any) -> Any:
    """Rows under a permutation, whose inverse is `back`.

    Examples
    --------
    >>> permute_rows(np.array([3, 1, 4]), np.array([2, 0, 1]), np.array([1, 2, 0]))
    array([4, 3, 1])
    """
    return _core.take_rows(values, rows)
