"""Sequences to one row each, from all their rows. Ends are in reduce_ends.py, gradients in reduce_back.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen.backends import backend_of
from varlen.ops.accumulator import accumulate, is_plain
from varlen.ops.axes import along, axes_of
from varlen.ops.inputs import regroup, rows_along, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, Axes, Lengths, Rows, RowsT

    Array: TypeAlias = NDArray[Any] | torch.Tensor


@overload
def reduce_sum(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_sum(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RowsT: ...  # fmt: skip
def reduce_sum(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = 0,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Rows:
    """The sum of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: 0 is
        across the sequences, place by place, and what is left is as long as the longest that come together.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
    empty
        What a sequence without rows gives; None refuses such a sequence.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.
    dtype
        In which rows are added up, and what the result has, as NumPy's `dtype`: values become it first.
    overflow
        What becomes of integers that the result's dtype cannot hold. "wrap" keeps what is left of them modulo
        2 to its bits, as NumPy does. "raise" refuses them: exactly, and for a look at the values where none
        can be so large, a second pass where one could.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; bools and signed integers
        give int64, unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold, an `overflow` that there is not, or "raise" for others than integers.
    OverflowError
        With "raise" a sum that its dtype cannot hold; the sum, its sequence and its column are named.

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
    >>> x = np.array([100, 100, 1], np.int8)
    >>> vl.ops.reduce_sum(x, [2, 1]), vl.ops.reduce_sum(x, [2, 1], dtype=np.int8)
    (array([200,   1]), array([-56,   1], dtype=int8))
    >>> vl.ops.reduce_sum(x, [2, 1], dtype=np.int8, overflow="raise")
    Traceback (most recent call last):
    OverflowError: sum: 200 in sequence 0 is beyond int8, which holds -128 to 127; ...
    """
    return reduced("sum", X, lengths, axis, level, empty, out, 0, dtype, overflow)


@overload
def reduce_mean(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_mean(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_mean(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = 0,
    out: Any = None,
    dtype: Any = None,
) -> Rows:
    """The mean of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out
        As those of `reduce_sum`.
    dtype
        As that of `reduce_sum`. Integers are no accumulator of a mean: values become them, and the mean of
        those is cut to one.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Notes
    -----
    As Thinc's `Ops.reduce_mean`, of which a sequence without rows gives zeros.

    Examples
    --------
    >>> vl.ops.reduce_mean(np.array([1.0, 2.0, 6.0]), [1, 2])
    array([1., 4.])
    >>> vl.ops.reduce_mean(np.array([1, 2, 7]), [1, 2], dtype=np.float32)
    array([1. , 4.5], dtype=float32)
    """
    return reduced("mean", X, lengths, axis, level, empty, out, 0, dtype)


@overload
def reduce_prod(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 1,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_prod(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 1,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RowsT: ...  # fmt: skip
def reduce_prod(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = 1,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Rows:
    """The product of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out, dtype, overflow
        As those of `reduce_sum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above, with the dtypes of `reduce_sum`.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.
    OverflowError
        As `reduce_sum`.

    Examples
    --------
    >>> vl.ops.reduce_prod([2, 3, 4], [2, 1])
    array([6, 4])
    """
    return reduced("prod", X, lengths, axis, level, empty, out, 0, dtype, overflow)


@overload
def reduce_any(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = False,
    out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_any(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = False,
    out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_any(
    X: Any, lengths: Any = None, *, axis: Any = None, level: int = -1, empty: Any = False, out: Any = None
) -> Rows:
    """Whether any row of each sequence is true, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_any([0, 3, 0], [2, 1])
    array([ True, False])
    """
    return reduced("any", X, lengths, axis, level, empty, out)


@overload
def reduce_all(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = True,
    out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_all(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = True,
    out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_all(
    X: Any, lengths: Any = None, *, axis: Any = None, level: int = -1, empty: Any = True, out: Any = None
) -> Rows:
    """Whether all rows of each sequence are true, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_any`.

    Examples
    --------
    >>> vl.ops.reduce_all([0, 3, 1], [2, 1])
    array([False,  True])
    """
    return reduced("all", X, lengths, axis, level, empty, out)


@overload
def reduce_norm(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_norm(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None,
) -> RowsT: ...  # fmt: skip
def reduce_norm(
    X: Any, lengths: Any = None, *, axis: Any = None, level: int = -1, empty: Any = 0, out: Any = None
) -> Rows:
    """The Euclidean norm of each sequence's rows, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, out
        As those of `reduce_sum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. Squares are added in float64.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows, an `empty` that
        the dtype cannot hold.

    Examples
    --------
    >>> vl.ops.reduce_norm([3.0, 4.0, 1.0], [2, 1])
    array([5., 1.])
    """
    return reduced("norm", X, lengths, axis, level, empty, out)


@overload
def count(X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1) -> ArrayT | Any: ...
@overload
def count(X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1) -> RowsT: ...
def count(X: Any, lengths: Any = None, *, level: int = -1) -> Rows:
    """How many rows each sequence has: int64 (n,), read-only.

    Parameters
    ----------
    X, lengths, level
        As those of `reduce_sum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n,), of the kind that the values have; for more levels a Ragged of those above.

    Examples
    --------
    >>> vl.ops.count([3, 1, 4], [2, 1])
    array([2, 1])
    """
    values, units, above = units_of(X, lengths, level)
    return wrap_units(X, backend_of(values).of_level(units, "lengths", values), above)


def reduced(
    op: str,
    X: Any,
    lengths: Any,
    axis: Any,
    level: int,
    empty: Any,
    out: Any = None,
    ddof: float = 0,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Any:
    """One row for each sequence of a level, or along axes: what `reduce_sum` and its kin share."""
    if axis is None:
        values, units, above = units_of(X, lengths, level)
        rows = _rows_of(op, values, units, empty, out, ddof, dtype, overflow)
        return wrap_units(X, rows, above)
    values, levels = rows_along(X, lengths, axis, level)
    axes = axes_of(axis, len(levels) + values.ndim)
    values, units, above, is_one = along(values, levels, axes)
    rows = _rows_of(op, values, units, empty, out, ddof, dtype, overflow, axis)
    return rows[0] if is_one else wrap_units(X, rows, above)


def _rows_of(
    op: str,
    values: Any,
    units: Any,
    empty: Any,
    out: Any,
    ddof: float,
    dtype: Any,
    overflow: str,
    axis: Any = None,
) -> Any:
    if is_plain(dtype, overflow):
        return backend_of(values).reduce(op, values, units, empty, out, ddof)
    where = "sequence {}" if axis is None else f"line {{}} along axis {axis}"
    return accumulate("reduce", op, values, units, {"empty": empty}, dtype, overflow, out, where)


def wrap_units(X: Any, rows: Any, above: Any) -> Any:
    """Rows of units, under the levels above them where there are such: then of the class of X."""
    return regroup(X, rows, above) if above else rows
