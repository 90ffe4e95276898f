"""Sequences side by side: packed rows under a permutation, columns of time-major blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray


def permute_rows(x: NDArray[Any], rows: Any, back: Any) -> NDArray[Any]:
    """x[rows], where `rows` is a permutation and `back` its inverse.

    Examples
    --------
    >>> permute_rows(np.array([1, 2, 3]), np.array([2, 0, 1]), np.array([1, 2, 0]))
    array([3, 1, 2])
    """
    return _core.take_rows(x, rows)


def pack_rows(x: NDArray[Any], table: Any) -> NDArray[Any]:
    """Rows of sequences in packed order.

    Examples
    --------
    >>> pack_rows(np.array([3, 1, 4]), vl.RankTable([1, 2], [1, 0]))
    array([1, 3, 4])
    """
    return _core.ragged2packed(x, table.level, "stable", table._fields)[0]


def unpack_rows(x: NDArray[Any], table: Any) -> NDArray[Any]:
    """Packed rows in the order of their sequences.

    Examples
    --------
    >>> unpack_rows(np.array([1, 3, 4]), vl.RankTable([1, 2], [1, 0]))
    array([3, 1, 4])
    """
    return _core.packed2ragged(x, *table._fields)[0]


def take_columns(data: NDArray[Any], columns: NDArray[Any]) -> NDArray[Any]:
    """Some columns of a block (steps, columns, ...), in any order.

    Examples
    --------
    >>> take_columns(np.array([[1, 2, 3]]), np.array([2, 0]))
    array([[3, 1]])
    """
    return data.take(columns, axis=1)
