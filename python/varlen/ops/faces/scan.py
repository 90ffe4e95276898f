"""Each row with those before it."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen.ops.scan import scan_rows, scanned_extreme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
]


@overload
def cumsum(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RaggedT: ...
@overload
def cumsum(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, out: Any = None, dtype: Any = None,
    overflow: str = "wrap",
) -> RowsT: ...
def cumsum(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> Rows:
    """The running sum of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
        position by position.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    exclusive
        Leave out the row itself: the first row is 0, the next one the first row of X, and so on.
    reverse
        Run from the last row of each sequence to the first.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.
    dtype
        The dtype of accumulator and result, as in NumPy: values are converted to it first.
    overflow
        Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises an
        error. The check is exact; it takes a second pass only if the values could overflow.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged. Floats keep their dtype; bools and signed integers give int64,
        unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
    IndexError
        There is no such level.
    OverflowError
        With `overflow="raise"`: the dtype cannot hold a number. The error names it and its position.

    Notes
    -----
    Float32 is added in float64, float16 and bfloat16 in float32, and each number that is written is rounded
    once; float64 is added row after row, as `np.cumsum` does. A sequence gives the same bits alone, in a
    batch and with any number of threads. Nothing is ever subtracted: NaN, an infinity or a large number stays
    in its sequence.

    Examples
    --------
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2])
    array([3, 4, 8, 1, 6])
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2], exclusive=True)
    array([0, 3, 4, 0, 1])
    >>> vl.ops.cumsum(vl.Ragged([3, 1, 4, 1, 5], [3, 2]), reverse=True).to_list()
    [[8, 5, 4], [6, 5]]
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2], dtype=np.float32)
    array([3., 4., 8., 1., 6.], dtype=float32)
    """
    return scan_rows("sum", X, lengths, axis, level, exclusive, reverse, out, dtype, overflow)


@overload
def cumprod(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RaggedT: ...
@overload
def cumprod(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, out: Any = None, dtype: Any = None,
    overflow: str = "wrap",
) -> RowsT: ...
def cumprod(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> Rows:
    """The running product of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
        position by position.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    exclusive
        Leave out the row itself: the first row is 1.
    reverse
        Run from the last row of each sequence to the first.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.
    dtype
        The dtype of accumulator and result, as in NumPy: values are converted to it first.
    overflow
        Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises an
        error. The check is exact; it takes a second pass only if the values could overflow.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged. Floats keep their dtype; bools and signed integers give int64,
        unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
    IndexError
        There is no such level.
    OverflowError
        With `overflow="raise"`: the dtype cannot hold a number. The error names it and its position.

    Examples
    --------
    >>> vl.ops.cumprod([3, 2, 4, 5, 2], [3, 2])
    array([ 3,  6, 24,  5, 10])
    """
    return scan_rows("prod", X, lengths, axis, level, exclusive, reverse, out, dtype, overflow)


@overload
def cummax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RaggedT: ...
@overload
def cummax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RowsT: ...
@overload
def cummax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RaggedT, RaggedT]: ...
@overload
def cummax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...
def cummax(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: bool = False, out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The largest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
        position by position.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    exclusive
        Leave out the row itself: the first row is the lowest number of the dtype, -inf for floats.
    reverse
        Run from the last row of each sequence to the first.
    which
        Also return its position in the sequence.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (total, ...) of the dtype of X, a Ragged for a Ragged. With `which` also int64 of the same shape: the
        row inside the sequence that holds the number, the first of equal ones in the direction of the scan;
        -1 where no row came before.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Notes
    -----
    With `which` as `torch.cummax`, except that the first of equal numbers wins, as in `reduce_max`.

    Examples
    --------
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2])
    array([3, 3, 4, 1, 5])
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2], which=True)[1]
    array([0, 0, 2, 0, 1])
    """
    return scanned_extreme("max", X, lengths, axis, level, exclusive, reverse, which, out)


@overload
def cummin(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RaggedT: ...
@overload
def cummin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RowsT: ...
@overload
def cummin(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RaggedT, RaggedT]: ...
@overload
def cummin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...
def cummin(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: bool = False, out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The smallest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
        position by position.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    exclusive
        Leave out the row itself: the first row is the highest number of the dtype, inf for floats.
    reverse
        Run from the last row of each sequence to the first.
    which
        Also return its position in the sequence.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (total, ...) of the dtype of X, a Ragged for a Ragged. With `which` also int64 of the same shape: the
        row inside the sequence that holds the number, the first of equal ones in the direction of the scan;
        -1 where no row came before.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
    IndexError
        There is no such level.

    Examples
    --------
    >>> vl.ops.cummin([3, 1, 4, 1, 5], [3, 2])
    array([3, 1, 1, 1, 1])
    """
    return scanned_extreme("min", X, lengths, axis, level, exclusive, reverse, which, out)
