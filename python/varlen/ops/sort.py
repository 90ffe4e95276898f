"""Sequences in order: sorted, the best of each, ranks, distinct numbers, and the gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_bool, as_int, axis_of, check_output
from varlen.backends import backend_of
from varlen.backends.values import as_values, like
from varlen.errors import naming, value_error
from varlen.ops.reduce import wrap_units
from varlen.ops.support.axes import in_line, places_along
from varlen.ops.support.inputs import as_level, regroup, rows_along, rows_and_level, same_kind, units_of
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import (
        ArrayT,
        Axes,
        Lengths,
        Output,
        RaggedT,
        Rows,
        RowsLike,
        RowsT,
        SameT,
        SequencesLike,
    )
    from varlen.types import Ragged


def sort(
    X: SameT | Sequence[Any],
    lengths: Lengths | None = None,
    *,
    axis: int | None = None,
    level: int = -1,
    descending: bool = False,
    out: Any = None,
) -> SameT:
    """Sort the rows of each sequence in ascending order, column by column, as NumPy's `sort(axis=0)`.

    Parameters
    ----------
    X
        (T, ...) numbers or bools, an array or a tensor, or a `Ragged`.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis along which numbers are sorted, counted as in NumPy. Everything else
        stays where it is.
    level
        The level whose sequences are sorted; levels below it are merged. -1 is the innermost.
    descending
        The largest first.
    out
        (T, ...) of the dtype of X, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The sorted rows: (T, ...) of the dtype of X in the machine's byte order; a Ragged for a Ragged. NaN
        comes last, ascending and descending; -0.0 and 0.0 are equal. Equal numbers keep their order.

    Raises
    ------
    TypeError
        The values are not numbers, or lengths are given with a Ragged.
    ValueError
        Lengths are negative or do not add up to T, or `out` has another shape.

    See Also
    --------
    argsort : their original positions. backprop_sort : the gradient.

    Notes
    -----
    Sequences up to 64 rows are sorted by counting, longer ones by digits, very long ones by all threads
    together: the same bits alone, in a batch and with any number of threads. In descending order torch puts
    NaN first; here NaN comes after all numbers.

    Examples
    --------
    >>> vl.ops.sort([3, 1, 4, 1, 5], [3, 2])
    array([1, 3, 4, 1, 5])
    >>> vl.ops.sort(np.array([[0, 9], [1, 8], [2, 7]]), [2, 1])
    array([[0, 8],
           [1, 9],
           [2, 7]])
    """
    result: SameT = sort_rows(X, lengths, axis, level, descending, False, out)
    return result


@overload
def argsort(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, descending: bool = False
) -> RaggedT: ...
@overload
def argsort(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    descending: bool = False,
) -> RowsT: ...  # fmt: skip
def argsort(
    X: Any,
    lengths: Lengths | None = None,
    *,
    axis: int | None = None,
    level: int = -1,
    descending: bool = False,
) -> Rows:
    """The positions that sort each sequence, column by column.

    Parameters
    ----------
    X, lengths, axis, level, descending
        As in `sort`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The positions: int64 (T, ...); a Ragged for a Ragged. Equal numbers keep their order, also in
        descending order. Positions are counted along the sorted axis, as in NumPy: inside each sequence, or
        for `axis=0` by the numbers of the sequences, without those that are too short.

    Raises
    ------
    TypeError, ValueError
        As in `sort`.

    Examples
    --------
    >>> vl.ops.argsort([3, 1, 4, 1, 5], [3, 2])
    array([1, 0, 2, 0, 1])
    >>> vl.Ragged([3, 1, 4, 0, 5], [3, 0, 2]).argsort(axis=0).to_list()  # 0 is in sequence 2, 3 in sequence 0
    [[2, 0, 0], [], [0, 2]]
    """
    return sort_rows(X, lengths, axis, level, descending, True)


@overload
def topk(
    X: RaggedT, lengths: None = None, *, k: int, level: int = -1, largest: bool = True,
    dense: Literal[False] = False, fill: RowsLike = 0,
) -> tuple[RaggedT, RaggedT]: ...  # fmt: skip
@overload
def topk(
    X: RowsT | Sequence[Any], lengths: Lengths, *, k: int, level: int = -1, largest: bool = True,
    dense: Literal[False] = False, fill: RowsLike = 0,
) -> tuple[Ragged[RowsT], Ragged[RowsT]]: ...  # fmt: skip
@overload
def topk(
    X: RaggedBase[ArrayT], lengths: None = None, *, k: int, level: int = -1, largest: bool = True,
    dense: bool, fill: RowsLike = 0,
) -> tuple[ArrayT | Any, ArrayT | Any]: ...  # fmt: skip
@overload
def topk(
    X: RowsT | Sequence[Any], lengths: Lengths, *, k: int, level: int = -1, largest: bool = True, dense: bool,
    fill: RowsLike = 0,
) -> tuple[RowsT | Any, RowsT | Any]: ...  # fmt: skip
def topk(
    X: Any,
    lengths: Lengths | None = None,
    *,
    k: int,
    level: int = -1,
    largest: bool = True,
    dense: bool = False,
    fill: RowsLike = 0,
) -> tuple[Rows, Rows]:
    """The k best numbers of each sequence in order, and their positions.

    Parameters
    ----------
    X, lengths
        As in `sort`.
    k
        The number to keep, at least 1; a shorter sequence keeps all.
    level
        As in `sort`.
    largest
        True for the largest numbers, largest first; False for the smallest, smallest first.
    dense
        If True, return rectangles, filled up where a sequence is shorter.
    fill
        The fill of the values; positions are filled with -1.

    Returns
    -------
    values : Ragged, numpy.ndarray or torch.Tensor
        The first k rows of `sort`, in the dtype of X: a Ragged with min(length, k) rows in each sequence.
        With `dense` an array (n, k, ...), or for a deeper Ragged a Ragged of the levels above with such rows.
    places : Ragged, numpy.ndarray or torch.Tensor
        The first k rows of `argsort`, int64, in the same form. NaN is chosen last; of equal numbers, the
        earlier.

    Raises
    ------
    TypeError, ValueError
        As in `sort`; or k is below 1, or the dtype cannot hold `fill`.

    See Also
    --------
    backprop_topk : the gradient.

    Notes
    -----
    A few of many numbers are found in one pass, without sorting all. If lengths lie only on a device, the
    number of result rows is read from it, which waits; with `dense` nothing waits.

    Examples
    --------
    >>> best, which = vl.ops.topk([3, 1, 4, 5], [3, 1], k=2)
    >>> best.to_list(), which.to_list()
    ([[4, 3], [5]], [[2, 0], [0]])
    >>> vl.ops.topk([3, 1, 4, 5], [3, 1], k=2, dense=True, fill=-9)[0]
    array([[ 4,  3],
           [ 5, -9]])
    """
    values, units, outer_levels = units_of(X, lengths, level)
    backend, count = backend_of(values), as_int(k, "k", 1)
    # How many rows are the best of lengths on a device nobody knows; a rectangle of them holds any number.
    as_blocks = as_bool(dense, "dense")
    first = None if as_blocks and not units.is_on_host else count
    best, which, new_level = backend.sort(values, units, as_bool(largest, "largest"), first, True, True)
    if not as_blocks:
        levels = (*outer_levels, new_level)
        return ragged_like(X, best, levels), ragged_like(X, which, levels)
    with naming(values="k", sizes="k"):
        best = backend.pad(best, (new_level,), fill=fill, max_len=count, sizes=[count])
        which = backend.pad(which, (new_level,), fill=-1, max_len=count, sizes=[count])
    return wrap_units(X, best, outer_levels), wrap_units(X, which, outer_levels)


@overload
def unique(
    X: RaggedT, lengths: None = None, *, level: int = -1, inverse: Literal[False] = False,
    counts: Literal[False] = False,
) -> RaggedT: ...  # fmt: skip
@overload
def unique(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, inverse: Literal[False] = False,
    counts: Literal[False] = False,
) -> Ragged[RowsT]: ...  # fmt: skip
@overload
def unique(
    X: RaggedT, lengths: None = None, *, level: int = -1, inverse: Literal[True],
    counts: Literal[False] = False,
) -> tuple[RaggedT, RaggedT]: ...  # fmt: skip
@overload
def unique(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, inverse: Literal[True],
    counts: Literal[False] = False,
) -> tuple[Ragged[RowsT], RowsT]: ...  # fmt: skip
@overload
def unique(
    X: RaggedT, lengths: None = None, *, level: int = -1, inverse: Literal[False] = False,
    counts: Literal[True],
) -> tuple[RaggedT, RaggedT]: ...  # fmt: skip
@overload
def unique(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, inverse: Literal[False] = False,
    counts: Literal[True],
) -> tuple[Ragged[RowsT], Ragged[RowsT]]: ...  # fmt: skip
@overload
def unique(
    X: RaggedT, lengths: None = None, *, level: int = -1, inverse: Literal[True], counts: Literal[True]
) -> tuple[RaggedT, RaggedT, RaggedT]: ...
@overload
def unique(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, inverse: Literal[True],
    counts: Literal[True],
) -> tuple[Ragged[RowsT], RowsT, Ragged[RowsT]]: ...  # fmt: skip
@overload
def unique(
    X: SequencesLike, lengths: Lengths | None = None, *, level: int = -1, inverse: bool, counts: bool
) -> Rows | tuple[Rows, ...]: ...
@eager_only()
def unique(
    X: Any,
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    inverse: bool = False,
    counts: bool = False,
) -> Rows | tuple[Rows, ...]:
    """The distinct numbers of each sequence, ascending.

    Parameters
    ----------
    X
        (T,) numbers or bools, an array or a tensor, or a `Ragged` of such.
    lengths, level
        As in `sort`.
    inverse
        If True, also return, for each row, the position of its number among the distinct ones of its
        sequence.
    counts
        If True, also return the number of times that each distinct number occurs.

    Returns
    -------
    values : Ragged
        The distinct numbers of each sequence in ascending order, in the dtype of X. All NaN count as one,
        which comes last; of -0.0 and 0.0, the earlier stands for both.
    inverse : numpy.ndarray, torch.Tensor or Ragged
        With `inverse`: int64 (T,), a Ragged for a Ragged, the position of each number among the values.
    counts : Ragged
        With `counts`: int64, the number of times that each value occurs.

    Raises
    ------
    TypeError
        As in `sort`.
    ValueError
        As in `sort`; or the values have several dimensions.

    Examples
    --------
    >>> values, often = vl.ops.unique([3, 1, 3, 5], [3, 1], counts=True)
    >>> values.to_list(), often.to_list()
    ([[1, 3], [5]], [[1, 2], [1]])
    >>> vl.ops.unique([3, 1, 3, 5], [3, 1], inverse=True)[1]
    array([1, 0, 1, 0])
    """
    values, units, outer_levels = units_of(X, lengths, level)
    distinct, which, often, new_level = backend_of(values).unique(
        values, units, as_bool(inverse, "inverse"), as_bool(counts, "counts")
    )
    levels = (*outer_levels, new_level)
    result = ragged_like(X, distinct, levels)
    if not (inverse or counts):
        return result
    rest = (regroup(X, which, (*outer_levels, units)),) if inverse else ()
    return (result, *rest, ragged_like(X, often, levels)) if counts else (result, *rest)


@overload
def rank(
    X: RaggedT, lengths: None = None, *, level: int = -1, method: str = "ordinal", descending: bool = False
) -> RaggedT: ...
@overload
def rank(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, method: str = "ordinal",
    descending: bool = False,
) -> RowsT: ...  # fmt: skip
def rank(
    X: Any,
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    method: str = "ordinal",
    descending: bool = False,
) -> Rows:
    """The rank of each number inside its sequence, column by column, counted from 1.

    Parameters
    ----------
    X, lengths, level
        As in `sort`; the levels below stay.
    method
        The rank of equal numbers: "ordinal" ranks them in their order; "min", "max" and "average" give them
        the least, the largest or the mean of these ranks; "dense" counts distinct numbers.
    descending
        If True, the largest number has rank 1.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The ranks: int64 (T, ...), float64 for "average"; a Ragged for a Ragged. All NaN are equal, and rank
        last.

    Raises
    ------
    TypeError, ValueError
        As in `sort`; or the method is unknown.

    Notes
    -----
    The methods and their numbers are those of SciPy's `rankdata`, where the default is "average".

    Examples
    --------
    >>> vl.ops.rank([30, 10, 30, 50], [3, 1])
    array([2, 1, 3, 1])
    >>> vl.ops.rank([30, 10, 30, 50], [3, 1], method="average")
    array([2.5, 1. , 2.5, 1. ])
    """
    values, units, _ = units_of(X, lengths, level)
    return same_kind(X, backend_of(values).rank(values, units, method, as_bool(descending, "descending")))


def backprop_sort(
    dY: SameT | Sequence[Any], which: Any, lengths: Lengths | None = None, *, out: Any = None
) -> SameT:
    """The gradient of `sort`: each number goes back to its original position.

    Parameters
    ----------
    dY
        (T, ...) numbers, an array or a tensor, or a `Ragged`.
    which
        (T, ...) integers, the result of `argsort`: an array, a tensor or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    out
        (T, ...) of the dtype of dY, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (T, ...) of the dtype of dY; a Ragged for a Ragged. A row that `which` does not name gets zeros; one
        that it names twice gets the later number.

    Raises
    ------
    IndexError
        A position is out of range for its sequence; the message names the number, the row and the length.
    TypeError, ValueError
        Shapes differ, or lengths do not add up to T.

    Examples
    --------
    >>> vl.ops.backprop_sort(np.array([1.0, 2.0, 3.0]), [1, 0, 0], [2, 1])
    array([2., 1., 3.])
    """
    if out is not None:
        check_output(out, dY, which, lengths)
    rows, level = rows_and_level(dY, lengths, "dY")
    result = _sort_gradient(rows, level, level, which, out)
    output: SameT = dY._make(result, dY._levels) if isinstance(dY, RaggedBase) else result
    return output


def backprop_topk(dY: SameT | Sequence[Any], which: Any, lengths: Lengths, *, out: Any = None) -> SameT:
    """The gradient of `topk`: each number goes back to its original position, the others get zero.

    Parameters
    ----------
    dY
        The gradient of the values: a `Ragged`, or a rectangle (n, k, ...) if they are dense.
    which
        The positions that `topk` returned with them, in the same form. A position of -1 is skipped.
    lengths
        The lengths of X: integers, or a `Level`.
    out
        (T, ...) of the dtype of dY, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (T, ...) of the dtype of dY; a Ragged for a Ragged.

    Raises
    ------
    IndexError
        A position is out of range for its sequence; the message names the number, the row and the length.
    TypeError, ValueError
        Shapes or the numbers of sequences differ.

    Examples
    --------
    >>> best, which = vl.ops.topk([3.0, 1.0, 4.0, 5.0], [3, 1], k=2)
    >>> vl.ops.backprop_topk(best * 10, which, [3, 1]).to_list()
    [[30.0, 0.0, 40.0], [50.0]]
    >>> vl.ops.backprop_topk(np.array([[1.0, 2.0]]), np.array([[2, 0]]), [3])
    array([2., 0., 1.])
    """
    if out is not None:
        check_output(out, dY, which, lengths)
    level = as_level(lengths)
    if isinstance(dY, RaggedBase):
        result = _sort_gradient(dY._values, level, dY._levels[-1], which, out)
        output: SameT = dY._make(result, (*dY._levels[:-1], level))
        return output
    rows = as_values(dY, "dY")
    places = as_values(which, "which")
    if rows.ndim < 2 or rows.shape != places.shape:
        raise value_error(
            "which", f"expected (n, k, ...) like dY, got {tuple(places.shape)} beside {tuple(rows.shape)}"
        )
    n, k = rows.shape[:2]
    new_level = Level.from_lengths(np.full(n, k))
    flat = (n * k, *rows.shape[2:])
    return cast("SameT", _sort_gradient(rows.reshape(flat), level, new_level, places.reshape(flat), out))


def sort_rows(
    X: Any, lengths: Any, axis: Axes, level: int, descending: object, places: bool, out: Output | None = None
) -> Any:
    """Numbers in order, or their places, in the sequences of a level or along an axis."""
    if out is not None:
        check_output(out, X, lengths)
    part = 1 if places else 0
    if axis is None:
        values, units, outer_levels = units_of(X, lengths, level)
        if type(descending) is not bool:
            descending = as_bool(descending, "descending")
        parts = backend_of(values).sort(values, units, descending, None, not places, places, out)
        return regroup(X, parts[part], (*outer_levels, units))
    values, levels = rows_along(X, lengths, axis, level)
    dim = axis_of(axis, len(levels) + values.ndim)
    rows, units, restore = in_line(values, levels, dim)
    backend = backend_of(rows)
    parts = backend.sort(rows, units, as_bool(descending, "descending"), None, not places, places)
    entries: Any = parts[part]
    if places and dim < len(levels):  # what comes together lies in sequences here and there
        starts = like(units.offsets[:-1][units.row_ids], entries)
        numbers: Any = in_line(places_along(levels, dim), levels, dim)[0]
        entries = like(numbers, entries)[entries + starts.reshape(-1, *(1 for _ in entries.shape[1:]))]
    result = restore(entries)
    return same_kind(X, result if out is None else backend.assign(out, result))


def _sort_gradient(
    rows: SequencesLike, level: Level, new_level: Level, which: SequencesLike, out: Output | None
) -> Any:
    places = which._values if isinstance(which, RaggedBase) else as_values(which, "which")
    return backend_of(rows).unsort(rows, level, new_level, places, out)
