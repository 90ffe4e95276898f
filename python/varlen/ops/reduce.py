"""Sequences to one row each, from all their rows. Ends are in reduce_ends.py, gradients in reduce_back.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends.values import like
from varlen.ops.inputs import rows_and_level
from varlen.types.reductions import reduced

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def reduce_sum(X: Any, lengths: Any = None, *, empty: Any = 0, out: Any = None) -> Array:
    """The sum of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged, whose innermost level is taken.
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
    return reduced("sum", values, level, empty, out)


def reduce_mean(X: Any, lengths: Any = None, *, empty: Any = 0, out: Any = None) -> Array:
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
    return reduced("mean", values, level, empty, out)


def reduce_prod(X: Any, lengths: Any = None, *, empty: Any = 1, out: Any = None) -> Array:
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
    return reduced("prod", values, level, empty, out)


def reduce_any(X: Any, lengths: Any = None, *, empty: Any = False, out: Any = None) -> Array:
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
    return reduced("any", values, level, empty, out)


def reduce_all(X: Any, lengths: Any = None, *, empty: Any = True, out: Any = None) -> Array:
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
    return reduced("all", values, level, empty, out)


def reduce_norm(X: Any, lengths: Any = None, *, empty: Any = 0, out: Any = None) -> Array:
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
    return reduced("norm", values, level, empty, out)


def reduce_count(X: Any, lengths: Any = None) -> Array:
    """How many rows each sequence has: int64 (n,), read-only.

    Examples
    --------
    >>> vl.ops.reduce_count([3, 1, 4], [2, 1])
    array([2, 1])
    """
    values, level = rows_and_level(X, lengths)
    return like(level.lengths, values)
