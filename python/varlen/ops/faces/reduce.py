"""Sequences to one row each."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen.ops.reduce import count_rows, end_row, extreme, extreme_place, reduce_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, Axes, Lengths, Rows, RowsT

__all__ = [
    "argmax",
    "argmin",
    "count",
    "reduce_all",
    "reduce_any",
    "reduce_first",
    "reduce_last",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_mode",
    "reduce_norm",
    "reduce_prod",
    "reduce_ptp",
    "reduce_std",
    "reduce_sum",
    "reduce_var",
]


@overload
def reduce_sum(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> ArrayT | Any: ...
@overload
def reduce_sum(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RowsT: ...
def reduce_sum(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = 0, out: Any = None,
    dtype: Any = None, overflow: str = "wrap",
) -> Rows:
    """The sum of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.
    dtype
        The dtype of accumulator and result, as in NumPy: values are converted to it first.
    overflow
        Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises an
        error. The check is exact; it takes a second pass only if the values could overflow.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; bools and signed integers
        give int64, unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.
    OverflowError
        With "raise": the dtype cannot hold a result. The error names its sequence and column.

    Notes
    -----
    As Thinc's `Ops.reduce_sum`; any dtype, any trailing dimensions. Float16 and bfloat16 are added in
    float32, float32 in blocks of 4096 rows and the blocks in float64. A sequence gives the same bits alone,
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
    return reduce_rows("sum", X, lengths, axis, level, empty, out, 0, dtype, overflow)


@overload
def reduce_mean(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_mean(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None, dtype: Any = None,
) -> RowsT: ...
def reduce_mean(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = 0, out: Any = None,
    dtype: Any = None,
) -> Rows:
    """The mean of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.
    dtype
        The dtype of accumulator and result. For an integer dtype values are converted to it first, and the
        mean is truncated.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_mean`, which gives zeros for a sequence without rows.

    Examples
    --------
    >>> vl.ops.reduce_mean(np.array([1.0, 2.0, 6.0]), [1, 2])
    array([1., 4.])
    >>> vl.ops.reduce_mean(np.array([1, 2, 7]), [1, 2], dtype=np.float32)
    array([1. , 4.5], dtype=float32)
    """
    return reduce_rows("mean", X, lengths, axis, level, empty, out, 0, dtype)


@overload
def reduce_prod(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 1,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> ArrayT | Any: ...
@overload
def reduce_prod(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 1,
    out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RowsT: ...
def reduce_prod(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = 1, out: Any = None,
    dtype: Any = None, overflow: str = "wrap",
) -> Rows:
    """The product of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.
    dtype
        The dtype of accumulator and result, as in NumPy: values are converted to it first.
    overflow
        Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises an
        error. The check is exact; it takes a second pass only if the values could overflow.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; bools and signed integers
        give int64, unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.
    OverflowError
        With "raise": the dtype cannot hold a result. The error names its sequence and column.

    Examples
    --------
    >>> vl.ops.reduce_prod([2, 3, 4], [2, 1])
    array([6, 4])
    """
    return reduce_rows("prod", X, lengths, axis, level, empty, out, 0, dtype, overflow)


@overload
def reduce_max(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_max(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> RowsT: ...
@overload
def reduce_max(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[ArrayT | Any, ArrayT | Any]: ...
@overload
def reduce_max(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...
def reduce_max(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: bool = False, out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The largest number of each sequence, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    which
        Also return the position of the number in its sequence, the first of equal ones. Not along other axes,
        and not with `out`.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. If a sequence holds NaN, the
        maximum is NaN.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_max`, which always returns the positions too, as `varlen.thinc.VarlenOps` does.

    Examples
    --------
    >>> X = np.array([[4, 1], [2, 3], [5, 5]])
    >>> vl.ops.reduce_max(X, [2, 1]).tolist()
    [[4, 3], [5, 5]]
    >>> vl.ops.reduce_max(X, [2, 1], which=True)[1].tolist()
    [[0, 1], [0, 0]]
    """
    return extreme("max", X, lengths, axis, level, empty, which, out)


@overload
def reduce_min(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_min(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> RowsT: ...
@overload
def reduce_min(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[ArrayT | Any, ArrayT | Any]: ...
@overload
def reduce_min(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...
def reduce_min(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: bool = False, out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The smallest number of each sequence, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    which
        Also return the position of the number in its sequence, the first of equal ones. Not along other axes,
        and not with `out`.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. If a sequence holds NaN, the
        minimum is NaN.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    The counterpart of `reduce_max`, which Thinc lacks.

    Examples
    --------
    >>> X = np.array([[4, 1], [2, 3], [5, 5]])
    >>> vl.ops.reduce_min(X, [2, 1]).tolist()
    [[2, 1], [5, 5]]
    >>> vl.ops.reduce_min(X, [2, 1], which=True)[1].tolist()
    [[1, 0], [0, 0]]
    """
    return extreme("min", X, lengths, axis, level, empty, which, out)


@overload
def argmax(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
) -> ArrayT | Any: ...
@overload
def argmax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
) -> RowsT: ...
def argmax(X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None) -> Rows:
    """The position of each sequence's largest number, column by column: int64 (n, ...).

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis along which places are counted, numbered as in NumPy: that of the
        innermost sequences, or one of their rows.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        An integer: the result for a sequence without rows; None raises an error.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), counted inside the sequence; the first of equal numbers. For more levels a Ragged of
        those above.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.argmax([3, 9, 9, 4], [3, 1])
    array([1, 0])
    """
    return extreme_place("max", X, lengths, axis, level, empty)


@overload
def argmin(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
) -> ArrayT | Any: ...
@overload
def argmin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
) -> RowsT: ...
def argmin(X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None) -> Rows:
    """The position of each sequence's smallest number, column by column: int64 (n, ...).

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis along which places are counted, numbered as in NumPy: that of the
        innermost sequences, or one of their rows.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        An integer: the result for a sequence without rows; None raises an error.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), counted inside the sequence; the first of equal numbers. For more levels a Ragged of
        those above.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.argmin([3, 9, 9, 4], [3, 1])
    array([0, 0])
    """
    return extreme_place("min", X, lengths, axis, level, empty)


@overload
def reduce_first(
    X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1, empty: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_first(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, empty: Any = None,
) -> RowsT: ...
def reduce_first(X: Any, lengths: Any = None, *, level: int = -1, empty: Any = None) -> Rows:
    """The first row of each sequence.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows, a number or a row; None raises an error.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_first`, which also returns the offsets. Dtype and trailing dimensions stay even
    without sequences.

    Examples
    --------
    >>> vl.ops.reduce_first([3, 1, 4], [2, 1])
    array([3, 4])
    """
    return end_row(X, lengths, level, False, empty)


@overload
def reduce_last(
    X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1, empty: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_last(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, empty: Any = None,
) -> RowsT: ...
def reduce_last(X: Any, lengths: Any = None, *, level: int = -1, empty: Any = None) -> Rows:
    """The last row of each sequence.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows, a number or a row; None raises an error.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_last`, which also returns the numbers of the rows.

    Examples
    --------
    >>> vl.ops.reduce_last([3, 1, 4], [2, 1])
    array([1, 4])
    """
    return end_row(X, lengths, level, True, empty)


@overload
def reduce_any(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = False,
    out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_any(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = False,
    out: Any = None,
) -> RowsT: ...
def reduce_any(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = False, out: Any = None,
) -> Rows:
    """Whether any row of each sequence is true, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, NaN included.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.reduce_any([0, 3, 0], [2, 1])
    array([ True, False])
    """
    return reduce_rows("any", X, lengths, axis, level, empty, out)


@overload
def reduce_all(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = True,
    out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_all(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = True,
    out: Any = None,
) -> RowsT: ...
def reduce_all(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = True, out: Any = None,
) -> Rows:
    """Whether all rows of each sequence are true, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, NaN included.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.reduce_all([0, 3, 1], [2, 1])
    array([False,  True])
    """
    return reduce_rows("all", X, lengths, axis, level, empty, out)


@overload
def reduce_norm(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_norm(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = 0,
    out: Any = None,
) -> RowsT: ...
def reduce_norm(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = 0, out: Any = None,
) -> Rows:
    """The Euclidean norm of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. Squares are added in float64.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.reduce_norm([3.0, 4.0, 1.0], [2, 1])
    array([5., 1.])
    """
    return reduce_rows("norm", X, lengths, axis, level, empty, out)


@overload
def reduce_var(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_var(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> RowsT: ...
def reduce_var(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> Rows:
    """The variance of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    ddof
        Delta degrees of freedom, as in NumPy: the divisor is the number of rows minus `ddof`.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. NaN for sequences of at most `ddof` rows.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    Computes the mean first, then the squared differences, so that large means lose no precision. Float16 and
    bfloat16 are computed in float32; float32 by blocks, as `reduce_sum` adds.

    Examples
    --------
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    >>> vl.ops.reduce_var(np.array([1.0, 3.0, 5.0]), [2, 1], ddof=1)
    array([ 2., nan])
    """
    return reduce_rows("var", X, lengths, axis, level, empty, out, ddof)


@overload
def reduce_std(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_std(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> RowsT: ...
def reduce_std(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, ddof: float = 0,
    empty: Any = float("nan"), out: Any = None,
) -> Rows:
    """The standard deviation of each sequence's rows, column by column: the root of `reduce_var`.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    ddof
        Delta degrees of freedom, as in NumPy: the divisor is the number of rows minus `ddof`.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. NaN for sequences of at most `ddof` rows.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.reduce_std(np.array([1.0, 3.0, 5.0]), [2, 1])
    array([1., 0.])
    """
    return reduce_rows("std", X, lengths, axis, level, empty, out, ddof)


@overload
def reduce_logsumexp(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1,
    empty: Any = float("-inf"), out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_logsumexp(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1,
    empty: Any = float("-inf"), out: Any = None,
) -> RowsT: ...
def reduce_logsumexp(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = float("-inf"),
    out: Any = None,
) -> Rows:
    """The logarithm of the sum of exponentials of each sequence, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. -inf if all numbers are -inf; +inf or NaN if a number is.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.reduce_logsumexp(np.array([1000.0, 1000.0, 5.0]), [2, 1]) - np.log(2)
    array([1000.        ,    4.30685282])
    """
    return reduce_rows("logsumexp", X, lengths, axis, level, empty, out)


@overload
def reduce_ptp(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_ptp(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    out: Any = None,
) -> RowsT: ...
def reduce_ptp(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None, out: Any = None,
) -> Rows:
    """The largest number of each sequence minus its smallest, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above. NaN if a number is.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As `np.ptp`: integers wrap.

    Examples
    --------
    >>> vl.ops.reduce_ptp([3, 1, 4], [2, 1])
    array([2, 0])
    """
    return reduce_rows("ptp", X, lengths, axis, level, empty, out)


@overload
def reduce_mode(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    out: Any = None,
) -> ArrayT | Any: ...
@overload
def reduce_mode(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    out: Any = None,
) -> RowsT: ...
def reduce_mode(
    X: Any, lengths: Any = None, *, axis: Axes = None, level: int = -1, empty: Any = None, out: Any = None,
) -> Rows:
    """The most frequent number of each sequence, column by column; the smallest in a tie.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
        sequences, position by position; the result is as long as the longest sequence.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.
    empty
        The result for a sequence without rows; None raises an error.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
        dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
    IndexError
        There is no such level.

    Notes
    -----
    As `scipy.stats.mode` computes it with `nan_policy="propagate"`: NaN are equal to each other and come
    after all numbers, so NaN is the result only if it is more frequent than every number.

    Examples
    --------
    >>> vl.ops.reduce_mode([3, 1, 3, 5, 4], [3, 2])
    array([3, 4])
    """
    return reduce_rows("mode", X, lengths, axis, level, empty, out)


@overload
def count(X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1) -> ArrayT | Any: ...
@overload
def count(X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1) -> RowsT: ...
def count(X: Any, lengths: Any = None, *, level: int = -1) -> Rows:
    """The number of rows of each sequence: int64 (n,), read-only.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose sequences become one row each; levels below it are merged, levels above it are kept.
        -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n,), an array or tensor like the values; for more levels a Ragged of those above. Counts the
        rows below the level, not the items of levels in between.

    Raises
    ------
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.count([3, 1, 4], [2, 1])
    array([2, 1])
    """
    return count_rows(X, lengths, level)
