"""Rows of any dtype that change places inside their sequence: reversed, shifted, rolled."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.backends.values import as_ints
from varlen.ops.inputs import rows_and_level, same_kind
from varlen.types.shifts import reversed_rows, rolled, shifted


def reverse(X: Any, lengths: Any = None, *, out: Any = None) -> Any:
    """The rows of each sequence, last to first.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, an array or a tensor, or a `Ragged`, whose innermost level
        is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    out
        (total, ...) of the dtype of X, C-contiguous, not in its memory: filled and given back.

    Returns
    -------
    (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        Arrays of Python objects, lengths that are negative or do not add up to the rows.

    Notes
    -----
    As Paddle's `sequence_reverse`, of any dtype, and with no rows.

    Examples
    --------
    >>> vl.ops.reverse([3, 1, 4, 1, 5], [3, 2])
    array([4, 1, 3, 5, 1])
    """
    values, level = rows_and_level(X, lengths)
    return same_kind(X, reversed_rows(values, level, out))


def shift(X: Any, lengths: Any = None, *, by: Any, fill: Any = 0, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on. What leaves the sequence is lost.

    Parameters
    ----------
    X, lengths, out
        As those of `reverse`.
    by
        How many places, towards the end of the sequence where it is above 0: an int, or (n,) integers, one
        for each sequence. It may exceed the length.
    fill
        What is put where no row arrives: a number, or a row. One number of tensors. 0 is zero bytes.

    Returns
    -------
    (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        As `reverse`; `by` that is no integer, or not one for each sequence; a fill that the dtype cannot
        hold.
    OverflowError
        `by` beyond 64 bits.

    Examples
    --------
    >>> vl.ops.shift([3, 1, 4, 1, 5], [3, 2], by=1)
    array([0, 3, 1, 0, 1])
    >>> vl.ops.shift([3, 1, 4, 1, 5], [3, 2], by=[-2, 0], fill=9)
    array([4, 9, 9, 1, 5])
    """
    values, level = rows_and_level(X, lengths)
    return same_kind(X, shifted(values, level, by, fill, out))


def roll(X: Any, lengths: Any = None, *, by: Any, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on, where those that leave it come in again at its other end.

    Parameters
    ----------
    X, lengths, out
        As those of `reverse`.
    by
        As that of `shift`.

    Returns
    -------
    (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `shift`.

    Notes
    -----
    `np.roll` of each sequence.

    Examples
    --------
    >>> vl.ops.roll([3, 1, 4, 1, 5], [3, 2], by=1)
    array([4, 3, 1, 5, 1])
    """
    values, level = rows_and_level(X, lengths)
    return same_kind(X, rolled(values, level, by, out))


def backprop_reverse(dY: Any, lengths: Any = None, *, out: Any = None) -> Any:
    """The gradient of `reverse`: the same.

    Examples
    --------
    >>> vl.ops.backprop_reverse(np.array([1.0, 2.0, 4.0]), [2, 1])
    array([2., 1., 4.])
    """
    values, level = rows_and_level(dY, lengths, "dY")
    return same_kind(dY, reversed_rows(values, level, out))


def backprop_shift(dY: Any, lengths: Any = None, *, by: Any, out: Any = None) -> Any:
    """The gradient of `shift`: as many places back, zeros where no row arrives.

    Examples
    --------
    >>> vl.ops.backprop_shift(np.array([1.0, 2.0, 4.0]), [2, 1], by=1)
    array([2., 0., 0.])
    """
    values, level = rows_and_level(dY, lengths, "dY")
    return same_kind(dY, shifted(values, level, _back(by), 0, out))


def backprop_roll(dY: Any, lengths: Any = None, *, by: Any, out: Any = None) -> Any:
    """The gradient of `roll`: as many places back.

    Examples
    --------
    >>> vl.ops.backprop_roll(np.array([1.0, 2.0, 4.0]), [3], by=1)
    array([2., 4., 1.])
    """
    values, level = rows_and_level(dY, lengths, "dY")
    return same_kind(dY, rolled(values, level, _back(by), out))


def _back(by: Any) -> Any:
    """As many places back; what is no integer is left for the core to refuse."""
    if isinstance(by, int) and not isinstance(by, bool):
        return -by
    each = np.asarray(as_ints(by))
    if each.size == 0:
        return each.astype(np.int64)
    return -each.astype(np.int64) if each.dtype.kind in "iu" else by
