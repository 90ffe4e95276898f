"""Running sums, products and extremes: each row with those before it. The gradients are in scan_back.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen.arguments import as_bool, axis_of
from varlen.backends import backend_of
from varlen.ops.accumulator import accumulate, is_plain
from varlen.ops.axes import in_line
from varlen.ops.inputs import rows_along, same_kind, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT


@overload
def cumsum(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RaggedT: ...  # fmt: skip
@overload
def cumsum(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, out: Any = None, dtype: Any = None,
    overflow: str = "wrap",
) -> RowsT: ...  # fmt: skip
def cumsum(
    X: Any,
    lengths: Any = None,
    *,
    axis: int | None = None,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Rows:
    """The running sum of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a `Ragged`.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    axis
        In place of `level`: the axis along which it runs, as NumPy counts those of the container: 0 is across
        the sequences, place by place.
    level
        The level whose sequences start anew, with all that nests below them; -1 is the innermost.
    exclusive
        Leave the row itself out: the first row is 0, the next one the first row of X, and so on.
    reverse
        From the last row of each sequence to the first.
    out
        (total, ...) of the result's dtype, C-contiguous, not in the memory of X: filled and given back.
    dtype, overflow
        As those of `reduce_sum`: in which rows are added up, and what becomes of integers beyond it.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged. Floats keep their dtype; bools and signed integers give int64,
        unsigned ones uint64, which wrap.

    Raises
    ------
    TypeError, ValueError
        Values that are not numbers, lengths that are negative or do not add up to the rows.
    OverflowError
        With `overflow="raise"` a number that its dtype cannot hold, in any row; it is named, with its place.

    Notes
    -----
    Float32 is added in float64, float16 and bfloat16 in float32, and each number that is written is rounded
    once; float64 is added row after row, as `np.cumsum` does. A sequence gives the same bits alone, in a
    batch and with any number of threads. Nothing is ever subtracted: NaN, an infinity or a large number
    stays in its sequence.

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
    return scanned("sum", X, lengths, axis, level, exclusive, reverse, out, dtype, overflow)


@overload
def cumprod(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, out: Any = None, dtype: Any = None, overflow: str = "wrap",
) -> RaggedT: ...  # fmt: skip
@overload
def cumprod(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, out: Any = None, dtype: Any = None,
    overflow: str = "wrap",
) -> RowsT: ...  # fmt: skip
def cumprod(
    X: Any,
    lengths: Any = None,
    *,
    axis: int | None = None,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Rows:
    """The running product of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X, lengths, axis, level, reverse, out, dtype, overflow
        As those of `cumsum`.
    exclusive
        Leave the row itself out: the first row is 1.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged, with the dtypes and the rounding of `cumsum`.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.
    OverflowError
        As `cumsum`.

    Examples
    --------
    >>> vl.ops.cumprod([3, 2, 4, 5, 2], [3, 2])
    array([ 3,  6, 24,  5, 10])
    """
    return scanned("prod", X, lengths, axis, level, exclusive, reverse, out, dtype, overflow)


@overload
def cummax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RaggedT: ...  # fmt: skip
@overload
def cummax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RowsT: ...  # fmt: skip
@overload
def cummax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RaggedT, RaggedT]: ...  # fmt: skip
@overload
def cummax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
def cummax(
    X: Any,
    lengths: Any = None,
    *,
    axis: int | None = None,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    which: bool = False,
    out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The largest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X, lengths, axis, level, reverse, out
        As those of `cumsum`.
    exclusive
        Leave the row itself out: the first row is the lowest number of the dtype, -inf of floats.
    which
        Say which row it is, too.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (total, ...) of the dtype of X, a Ragged for a Ragged. With `which` also int64 of the same shape: the
        row inside the sequence that holds the number, the first of equal ones in the direction of the scan;
        -1 where no row came before.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Notes
    -----
    As `torch.cummax` with `which`, but that it names the first of equal numbers, as `reduce_max` does.

    Examples
    --------
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2])
    array([3, 3, 4, 1, 5])
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2], which=True)[1]
    array([0, 0, 2, 0, 1])
    """
    return _extreme("max", X, lengths, axis, level, exclusive, reverse, which, out)


@overload
def cummin(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RaggedT: ...  # fmt: skip
@overload
def cummin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[False] = False, out: Any = None,
) -> RowsT: ...  # fmt: skip
@overload
def cummin(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, exclusive: bool = False,
    reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RaggedT, RaggedT]: ...  # fmt: skip
@overload
def cummin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    exclusive: bool = False, reverse: bool = False, which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
def cummin(
    X: Any,
    lengths: Any = None,
    *,
    axis: int | None = None,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    which: bool = False,
    out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The smallest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X, lengths, axis, level, reverse, which, out
        As those of `cummax`.
    exclusive
        Leave the row itself out: the first row is the highest number of the dtype, inf of floats.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (total, ...) of the dtype of X, a Ragged for a Ragged. With `which` also int64 of the same shape: the
        row inside the sequence that holds the number, the first of equal ones in the direction of the scan;
        -1 where no row came before.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Examples
    --------
    >>> vl.ops.cummin([3, 1, 4, 1, 5], [3, 2])
    array([3, 1, 1, 1, 1])
    """
    return _extreme("min", X, lengths, axis, level, exclusive, reverse, which, out)


def scanned(
    op: str,
    X: Any,
    lengths: Any,
    axis: Any,
    level: int,
    exclusive: bool,
    reverse: bool,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Any:
    """Each row with those before it, in the sequences of a level or along an axis."""
    if axis is None:
        values, units, _ = units_of(X, lengths, level)
        return same_kind(X, _scan(op, values, units, exclusive, reverse, out, dtype, overflow))
    values, levels = rows_along(X, lengths, axis, level)
    rows, units, back = in_line(values, levels, axis_of(axis, len(levels) + values.ndim))
    result = back(_scan(op, rows, units, exclusive, reverse, None, dtype, overflow, axis))
    return same_kind(X, result if out is None else backend_of(rows).assign(out, result))


def _scan(
    op: str,
    rows: Any,
    units: Any,
    exclusive: bool,
    reverse: bool,
    out: Any,
    dtype: Any,
    overflow: str,
    axis: Any = None,
) -> Any:
    if is_plain(dtype, overflow):
        return backend_of(rows).scan(op, rows, units, exclusive, reverse, out)
    where = "sequence {}" if axis is None else f"line {{}} along axis {axis}"
    how = {"exclusive": exclusive, "reverse": reverse}
    return accumulate("scan", op, rows, units, how, dtype, overflow, out, where)


def _extreme(
    op: str,
    X: Any,
    lengths: Any,
    axis: Any,
    level: int,
    exclusive: bool,
    reverse: bool,
    which: bool,
    out: Any,
) -> Any:
    if not as_bool(which, "which"):
        return scanned(op, X, lengths, axis, level, exclusive, reverse, out)
    if axis is not None:
        raise ValueError("axis: cannot be combined with which=True")
    values, units, _ = units_of(X, lengths, level)
    found, places = backend_of(values).scan_extreme(op, values, units, exclusive, reverse, out)
    return same_kind(X, found), same_kind(X, places)
