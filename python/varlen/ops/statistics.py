"""Sequences to one row each: variances, and the logarithm of a sum of exponentials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen.ops.reduce import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, Axes, Lengths, Rows, RowsT

    Array: TypeAlias = NDArray[Any] | torch.Tensor


@overload
def reduce_var(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_var(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_var(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    ddof: float = 0,
    empty: Any = float("nan"),
    out: Any = None,
) -> Rows:
    """The variance of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    axis, level
        As those of `reduce_sum`.
    ddof
        What is taken off the number of rows before squares are divided by it, as NumPy calls it.
    empty
        What a sequence without rows gives; None refuses such a sequence.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. NaN in sequences of no more than `ddof` rows.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, a `ddof` that
        is not a number.

    Notes
    -----
    The mean first, then the squares of the differences, so that large means do no harm. Float16 and bfloat16
    are computed in float32; float32 by blocks, as `reduce_sum` adds.

    Examples
    --------
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1], ddof=1)
    array([ 2., nan])
    """
    return reduced("var", X, lengths, axis, level, empty, out, ddof)


@overload
def reduce_std(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_std(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_std(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    ddof: float = 0,
    empty: Any = float("nan"),
    out: Any = None,
) -> Rows:
    """The standard deviation of each sequence's rows, column by column: the root of `reduce_var`.

    Parameters
    ----------
    X, lengths, axis, level, ddof, empty, out
        As those of `reduce_var`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above, with the dtypes of `reduce_var`.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_var`.

    Examples
    --------
    >>> vl.ops.reduce_std(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    """
    return reduced("std", X, lengths, axis, level, empty, out, ddof)


@overload
def reduce_logsumexp(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1,
    empty: Any = float("-inf"), out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_logsumexp(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1,
    empty: Any = float("-inf"), out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_logsumexp(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = float("-inf"),
    out: Any = None,
) -> Rows:
    """The logarithm of the sum of the exponentials of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out
        As those of `reduce_var`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. -inf where all numbers are -inf, +inf where there is one, NaN where there is one.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_var`.

    Examples
    --------
    >>> vl.ops.reduce_logsumexp(np.array([1000.0, 1000.0, 5.0]), [2, 1]) - np.log(2)
    array([1000.        ,    4.30685282])
    """
    return reduced("logsumexp", X, lengths, axis, level, empty, out)
