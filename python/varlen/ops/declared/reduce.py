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
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.
    OverflowError
        With "raise" a result that its dtype cannot hold; it is named with its sequence and column.

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
        In which rows are added up, and what the result has. Integers are no accumulator of a mean: values
        become them, and the mean of those is cut to one.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

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
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.
    OverflowError
        With "raise" a result that its dtype cannot hold; it is named with its sequence and column.

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
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: 0 is
        across the sequences, place by place, and what is left is as long as the longest that come together.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
    empty
        What a sequence without rows gives; None refuses such a sequence.
    which
        Give also the first row inside each sequence that holds the number; not along other axes, and not with
        `out`.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. A NaN is the maximum, wherever
        it is.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_max`, which always gives the rows too: `varlen.thinc.VarlenOps` does.

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
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: 0 is
        across the sequences, place by place, and what is left is as long as the longest that come together.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
    empty
        What a sequence without rows gives; None refuses such a sequence.
    which
        Give also the first row inside each sequence that holds the number; not along other axes, and not with
        `out`.
    out
        (n, ...) of the result's dtype, C-contiguous: filled and given back.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. A NaN is the minimum, wherever
        it is.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
    """The first row inside each sequence that holds its largest number, column by column: int64 (n, ...).

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
        An integer, what a sequence without rows gives; None refuses such a sequence.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), for more levels a Ragged of those above.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
    """The first row inside each sequence that holds its smallest number, column by column: int64 (n, ...).

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
        An integer, what a sequence without rows gives; None refuses such a sequence.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), for more levels a Ragged of those above.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
        (n,) integers, or a `Level`; none beside a Ragged.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
    empty
        What a sequence without rows gives, a number or a row; None refuses such a sequence.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_first`, which gives the offsets too; dtype and trailing dimensions stay with no
    sequences as well.

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
        (n,) integers, or a `Level`; none beside a Ragged.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
    empty
        What a sequence without rows gives, a number or a row; None refuses such a sequence.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Notes
    -----
    As Thinc's `Ops.reduce_last`, which gives the numbers of the rows too.

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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        bool (n, ...), for more levels a Ragged of those above. Every number but 0 is true, and so is NaN.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. Squares are added in float64.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: 0 is
        across the sequences, place by place, and what is left is as long as the longest that come together.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
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
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

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
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis or axes that are reduced, as NumPy counts those of the container: 0 is
        across the sequences, place by place, and what is left is as long as the longest that come together.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.
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
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
    """The logarithm of the sum of the exponentials of each sequence's rows, column by column.

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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...), for more levels a Ragged of those above. Floats keep their dtype; integers and bools give
        float64. -inf where all numbers are -inf, +inf where there is one, NaN where there is one.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
    """The largest number of each sequence less its smallest one, column by column.

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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above. NaN where there is one.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
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
    """The most frequent number of each sequence, column by column; of equally frequent ones the least.

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

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    TypeError
        Values that are not numbers.
    ValueError
        Lengths that are negative or do not add up to the rows; a sequence without rows where `empty` is None,
        which is named; an `empty` that the dtype cannot hold; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Notes
    -----
    As `scipy.stats.mode` computes it with `nan_policy="propagate"`: NaN are equal to each other and come
    after all numbers, so NaN is the result where it is more frequent than any number.

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
    """How many rows each sequence has: int64 (n,), read-only.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    level
        The level whose sequences become one row each, together with all that nests below it; -1 is the
        innermost. The levels above it are kept.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n,), of the kind that the values have; for more levels a Ragged of those above. All that lies
        below the level counts, levels in between do not.

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
