"""Rows of arrays in packed order, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core

if TYPE_CHECKING:
    from varlen._core import Level


def ragged2packed(values: Any, level: Level, table: Any) -> Any:
    """Rows of sequences in the packed order of a table."""
    return _core.ragged2packed(values, level, "stable", table._fields)[0]


def packed2ragged(values: Any, table: Any) -> Any:
    """Packed rows in the order of their sequences."""
    return _core.packed2ragged(values, *table._fields)[0]


def permute_rows(values: Any, rows: Any, inverse: Any) -> Any:
    """Rows under a permutation, whose inverse is `inverse`."""
    return _core.take_rows(values, rows)
