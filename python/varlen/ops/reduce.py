"""Sequences to one row each. The gradients are in reduce_back.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.ops.given import not_empty, rows_and_level

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


def reduce_sum(X: Any, lengths: Any = None, *, empty: Any = 0, out: Array | None = None) -> Array:
    """The sum of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    empty
        What a sequence without rows gives; None refuses such a sequence.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.

    Returns
    -------
    (n, ...): floats of the same dtype, int64 for bools and signed, uint64 for unsigned integers, which wrap.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Notes
    -----
    As Thinc's `Ops.reduce_sum`; any dtype, any trailing dimensions. Float16 and bfloat16 are added in
    float32, float32 in blocks of 4096 rows and the blocks in float64: a sequence gives the same bits alone,
    in a batch and with any number of threads.

    Examples
    --------
    >>> vl.ops.reduce_sum(np.array([[0, 1], [2, 3], [4, 5]]), [2, 0, 1])
    array([[2, 4],
           [0, 0],
           [4, 5]])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("sum", values, level, empty, out)


def reduce_mean(X: Any, lengths: Any = None, *, empty: Any = 0, out: Array | None = None) -> Array:
    """The mean of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    (n, ...): floats of the same dtype, float64 for integers and bools.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Notes
    -----
    As Thinc's `Ops.reduce_mean`, of which a sequence without rows gives zeros.

    Examples
    --------
    >>> vl.ops.reduce_mean(np.array([1.0, 2.0, 6.0]), [1, 2])
    array([1., 4.])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("mean", values, level, empty, out)


def reduce_prod(X: Any, lengths: Any = None, *, empty: Any = 1, out: Array | None = None) -> Array:
    """The product of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    (n, ...): dtypes as those of `reduce_sum`.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_prod([2, 3, 4], [2, 1])
    array([6, 4])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("prod", values, level, empty, out)


def reduce_any(X: Any, lengths: Any = None, *, empty: Any = False, out: Array | None = None) -> Array:
    """Whether any row of each sequence is true, column by column.

    Parameters
    ----------
    X, lengths, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    bool (n, ...). What is not zero is true, NaN too.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_any([0, 3, 0], [2, 1])
    array([ True, False])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("any", values, level, empty, out)


def reduce_all(X: Any, lengths: Any = None, *, empty: Any = True, out: Array | None = None) -> Array:
    """Whether all rows of each sequence are true, column by column.

    Parameters
    ----------
    X, lengths, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    bool (n, ...). What is not zero is true, NaN too.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_all([0, 3, 1], [2, 1])
    array([False,  True])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("all", values, level, empty, out)


def reduce_norm(X: Any, lengths: Any = None, *, empty: Any = 0, out: Array | None = None) -> Array:
    """The Euclidean norm of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    (n, ...): floats of the same dtype, float64 for integers and bools. Squares are added in float64.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_norm([3.0, 4.0, 1.0], [2, 1])
    array([5., 1.])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce("norm", values, level, empty, out)


def reduce_max(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The largest number of each sequence, column by column, and the row that holds it.

    Parameters
    ----------
    X, lengths
        As those of `reduce_sum`.
    empty
        What a sequence without rows gives; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n, ...): the first row inside the sequence that holds it, -1 in a
    sequence without rows. A NaN is the maximum, wherever it is.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.
    TypeError
        Values that are no numbers.
    OverflowError
        A row number beyond int32.

    Notes
    -----
    As Thinc's `Ops.reduce_max`, but that NaN is the maximum wherever it is, and any dtype is taken.

    Examples
    --------
    >>> most, which = vl.ops.reduce_max(np.array([[4, 1], [2, 3], [5, 5]]), [2, 1])
    >>> most.tolist(), which.tolist()
    ([[4, 3], [5, 5]], [[0, 1], [0, 0]])
    """
    values, level = rows_and_level(X, lengths)
    found = _core.reduce("max", values, level, empty)
    return found, _as_int32(_core.reduce_which(values, level, found), level, "which")


def argmax(X: Any, lengths: Any = None) -> Array:
    """The first row inside each sequence that holds its largest number, column by column: int64 (n, ...).

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_max`.

    Examples
    --------
    >>> vl.ops.argmax([3, 9, 9, 4], [3, 1])
    array([1, 0])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce_which(values, level, _core.reduce("max", values, level))


def reduce_min(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The smallest number of each sequence, column by column, and the row that holds it.

    Parameters
    ----------
    X, lengths
        As those of `reduce_sum`.
    empty
        What a sequence without rows gives; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n, ...): the first row inside the sequence that holds it, -1 in a
    sequence without rows. A NaN is the minimum, wherever it is.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.
    TypeError
        Values that are no numbers.
    OverflowError
        A row number beyond int32.

    Notes
    -----
    The counterpart of `reduce_max`, which Thinc lacks.

    Examples
    --------
    >>> most, which = vl.ops.reduce_min(np.array([[4, 1], [2, 3], [5, 5]]), [2, 1])
    >>> most.tolist(), which.tolist()
    ([[2, 1], [5, 5]], [[1, 0], [0, 0]])
    """
    values, level = rows_and_level(X, lengths)
    found = _core.reduce("min", values, level, empty)
    return found, _as_int32(_core.reduce_which(values, level, found), level, "which")


def argmin(X: Any, lengths: Any = None) -> Array:
    """The first row inside each sequence that holds its smallest number, column by column: int64 (n, ...).

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_min`.

    Examples
    --------
    >>> vl.ops.argmin([3, 9, 9, 4], [3, 1])
    array([0, 0])
    """
    values, level = rows_and_level(X, lengths)
    return _core.reduce_which(values, level, _core.reduce("min", values, level))


def reduce_first(X: Any, lengths: Any = None) -> tuple[Array, Array]:
    """The first row of each sequence, and the offsets.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers above 0, or a `Level`; none beside a Ragged.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n + 1,), which `backprop_reduce_first` takes.

    Raises
    ------
    ValueError
        A sequence without rows; it is named. Lengths that do not add up to the rows.

    Notes
    -----
    As Thinc's `Ops.reduce_first`; dtype and trailing dimensions stay with no sequences too.

    Examples
    --------
    >>> vl.ops.reduce_first([3, 1, 4], [2, 1])
    (array([3, 4]), array([0, 2, 3], dtype=int32))
    """
    values, level = rows_and_level(X, lengths)
    not_empty(level)
    rows = _core.gather_column(values, (level,), 0)[0]
    return rows, _as_int32(level.offsets, level, "starts_ends")


def reduce_last(X: Any, lengths: Any = None) -> tuple[Array, Array]:
    """The last row of each sequence, and the rows that they are.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers above 0, or a `Level`; none beside a Ragged.

    Returns
    -------
    (n, ...) of the dtype of X, and int64 (n,), which `backprop_reduce_last` takes.

    Raises
    ------
    ValueError
        A sequence without rows; it is named. Lengths that do not add up to the rows.

    Notes
    -----
    As Thinc's `Ops.reduce_last`; dtype and trailing dimensions stay with no sequences too.

    Examples
    --------
    >>> vl.ops.reduce_last([3, 1, 4], [2, 1])
    (array([1, 4]), array([1, 2]))
    """
    values, level = rows_and_level(X, lengths)
    not_empty(level)
    rows = _core.gather_column(values, (level,), -1)[0]
    return rows, level.offsets[1:] - 1


def reduce_count(X: Any, lengths: Any = None) -> Array:
    """How many rows each sequence has: int64 (n,), read-only.

    Examples
    --------
    >>> vl.ops.reduce_count([3, 1, 4], [2, 1])
    array([2, 1])
    """
    return rows_and_level(X, lengths)[1].lengths


def _as_int32(numbers: Array, level: Level, argument: str) -> Array:
    if level.total > np.iinfo(np.int32).max:
        raise OverflowError(f"{argument}: {level.total} rows do not fit int32")
    return numbers.astype(np.int32)
