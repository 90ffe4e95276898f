"""Windows: the neighbours of every row beside it, windows that step through sequences, and the ways back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, check_output, fits_memory
from varlen.backends import backend_of
from varlen.errors import type_error, value_error
from varlen.ops.support.inputs import as_level, rows_of, units_of
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.table import Backend
    from varlen.backends.values import Lengths, Output, RaggedT, Rows, RowsT, SameT, SequencesLike
    from varlen.types import Ragged


def _rows(X: SequencesLike, argument: str) -> tuple[Any, Backend]:
    """The rows of an array, a tensor or a container, and the backend that they belong to."""
    rows = rows_of(X, argument)
    return rows, backend_of(rows)


def _level_of(X: SequencesLike | None, rows: Any, lengths: Any) -> Level:
    """The sequences of X: its own, those of lengths, or one."""
    if isinstance(X, RaggedBase):
        if lengths is not None:
            raise type_error("lengths", "not allowed, because X is a Ragged, which has its own")
        return X._levels[-1]
    return Level.from_lengths(np.array([len(rows)])) if lengths is None else as_level(lengths)


def _sides(nW: int, left: int | None, right: int | None) -> tuple[int, int]:
    """How many places stand left and right of a row."""
    size = as_int(nW, "nW")
    return (
        size if left is None else as_int(left, "left"),
        size if right is None else as_int(right, "right"),
    )


@eager_only()
def seq2col(
    X: SameT | Sequence[Any],
    nW: int,
    *,
    lengths: Lengths | None = None,
    left: int | None = None,
    right: int | None = None,
    dilation: int = 1,
    stride: int = 1,
    out: Output | None = None,
    max_bytes: int | None = None,
) -> SameT:
    """Join each row with its neighbours: nW to the left, itself, nW to the right.

    Places outside the row's own sequence are zero. There are K = left + 1 + right places.

    Parameters
    ----------
    X
        (T, ...), an array of any dtype of fixed width, or a `Ragged`, whose innermost sequences are taken.
    nW
        The number of places on each side, 0 or more. It may exceed the length of a sequence.
    lengths
        The lengths: integers, or a `Level`. Without them an array is one sequence.
    left, right
        The number of places on that side, instead of nW.
    dilation
        Neighbours are this many rows apart.
    stride
        Only rows 0, stride, 2 stride, ... of each sequence get a window: ceil(length / stride) of each.
    out
        C-contiguous, of the result's shape and dtype: filled and returned.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or Ragged
        (T', K * O) for X of shape (T, O), place by place; (T', K) for (T,), which counts as (T, 1). With more
        dimensions (T', K, ...). T' is T, or less with a stride. A Ragged for a Ragged, with the lengths that
        the stride leaves.

    Raises
    ------
    TypeError
        X is not an array, it holds Python objects, or `lengths` are given with a Ragged.
    ValueError
        nW or a length is negative (the message names the row), a dilation or stride is below 1, lengths do
        not add up to T, `out` has another shape, or the result exceeds max_bytes.
    OverflowError
        A size does not fit 63 bits.

    See Also
    --------
    backprop_seq2col : the way back.

    Notes
    -----
    As Thinc's `Ops.seq2col`, but for any dtype and number of dimensions.

    Examples
    --------
    >>> vl.ops.seq2col(np.array([[1], [2], [3], [4]]), 1, lengths=[1, 3])
    array([[0, 1, 0],
           [0, 2, 3],
           [2, 3, 4],
           [3, 4, 0]])
    >>> vl.ops.seq2col(vl.Ragged([1, 2, 3, 4], [1, 3]), 0, right=1, stride=2).to_list()
    [[[1, 0]], [[2, 3], [4, 0]]]
    """
    n_left, n_right = _sides(nW, left, right)
    if out is not None:
        check_output(out, X, lengths)
    rows, backend = _rows(X, "X")
    level = _level_of(X, rows, lengths)
    result, new_level = backend.seq2col(rows, level, n_left, n_right, dilation, stride, out, max_bytes)
    output: SameT = X._make(result, (*X._levels[:-1], new_level)) if isinstance(X, RaggedBase) else result
    return output


def backprop_seq2col(
    dY: SameT | Sequence[Any],
    nW: int,
    *,
    lengths: Lengths | None = None,
    left: int | None = None,
    right: int | None = None,
    dilation: int = 1,
    stride: int = 1,
    out: Output | None = None,
    max_bytes: int | None = None,
) -> SameT:
    """The gradient of `seq2col`: each row of X sums the gradients of all places that use it.

    Parameters
    ----------
    dY
        The gradient of the result of `seq2col`: (T', K * O), or (T', K, ...) with more dimensions, of bool,
        integers or floats; an array or a `Ragged`.
    nW
        The arguments of `seq2col`.
    lengths
        The lengths of X. With a stride they are required, because they give the number of rows of X. Without
        a stride, omit them with a Ragged; an array without them is one sequence.
    left, right, dilation, stride
        The arguments of `seq2col`.
    out
        C-contiguous, of the result's shape and dtype: filled and returned.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or Ragged
        (T, O), or (T, ...) for more than two dimensions, of the dtype of dY in the machine's byte order. Rows
        are added in the order of the rows of dY, float16 and bfloat16 in float32 and rounded once. Integers
        wrap; bools are combined by "or".

    Raises
    ------
    TypeError
        dY is not an array, it has another dtype, or lengths are missing with a stride.
    ValueError
        A row of dY does not divide into K places, or lengths do not fit its rows; or as in `seq2col`.

    Notes
    -----
    As Thinc's `Ops.backprop_seq2col`, which cuts off a width that does not divide.

    Examples
    --------
    >>> vl.ops.backprop_seq2col(np.arange(9.0).reshape(3, 3), 1)
    array([[ 4.],
           [12.],
           [12.]])
    """
    n_left, n_right = _sides(nW, left, right)
    if out is not None:
        check_output(out, dY, lengths)
    rows, backend = _rows(dY, "dY")
    if lengths is None and as_int(stride, "stride", 1) > 1:
        raise type_error("lengths", "required, because a stride needs those of X")
    level = _level_of(dY, rows, None) if lengths is None else as_level(lengths)
    new_level = dY._levels[-1] if isinstance(dY, RaggedBase) else None
    dX = backend.backprop_seq2col(rows, level, n_left, n_right, dilation, stride, out, max_bytes, new_level)
    result: SameT = dY._make(dX, (*dY._levels[:-1], level)) if isinstance(dY, RaggedBase) else dX
    return result


@overload
def windows(
    X: RaggedT, lengths: None = None, *, size: int, step: int, drop_last: bool = False,
    max_bytes: int | None = None,
) -> RaggedT: ...  # fmt: skip
@overload
def windows(
    X: RowsT | Sequence[Any], lengths: Lengths | None = None, *, size: int, step: int,
    drop_last: bool = False, max_bytes: int | None = None,
) -> Ragged[RowsT]: ...  # fmt: skip
@eager_only()
def windows(
    X: Any,
    lengths: Lengths | None = None,
    *,
    size: int,
    step: int,
    drop_last: bool = False,
    max_bytes: int | None = None,
) -> Rows:
    """Cut every sequence into windows of `size` rows, `step` rows apart.

    They begin at rows 0, step, 2 step, ... until one reaches the end of the sequence. The last may be
    shorter, so a sequence shorter than `size` has one window. An empty sequence has none.

    Parameters
    ----------
    X
        (T, ...), an array of any dtype of fixed width, or a `Ragged`, whose innermost sequences are taken.
    lengths
        The lengths: integers, or a `Level`. Without them an array is one sequence.
    size
        Rows of a window, 1 or more.
    step
        The number of rows from one beginning to the next, 1 or more. If it exceeds `size`, the rows in
        between are left out.
    drop_last
        If True, leave out windows shorter than `size`.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    Ragged
        A Ragged with one level more than X: sequences > windows > rows. The values are a copy.

    Raises
    ------
    TypeError
        X is not an array, it holds Python objects, or `lengths` are given with a Ragged.
    ValueError
        The size or step is below 1, a length is negative, lengths do not add up to T, or the result exceeds
        max_bytes.

    See Also
    --------
    average_windows : the way back, for overlapping windows. backprop_windows : the gradient.

    Examples
    --------
    >>> r = vl.ops.windows(vl.Ragged([1, 2, 3, 4, 5, 6], [5, 1]), size=3, step=2)
    >>> r.to_list()
    [[[1, 2, 3], [3, 4, 5]], [[6]]]
    >>> vl.ops.windows(np.arange(4), size=3, step=2, drop_last=True).to_list()
    [[[0, 1, 2]]]
    """
    return _windows(X, lengths, size, step, drop_last, max_bytes, False, "X")


@overload
def average_windows(
    Y: RaggedT, lengths: Lengths, *, size: int, step: int, drop_last: bool = False,
    max_bytes: int | None = None,
) -> RaggedT: ...  # fmt: skip
@overload
def average_windows(
    Y: RowsT | Sequence[Any], lengths: Lengths, *, size: int, step: int, drop_last: bool = False,
    max_bytes: int | None = None,
) -> RowsT: ...  # fmt: skip
@eager_only()
def average_windows(
    Y: SequencesLike,
    lengths: Lengths,
    *,
    size: int,
    step: int,
    drop_last: bool = False,
    max_bytes: int | None = None,
) -> Rows:
    """Turn windows back into sequences: each row is the mean of its places in the windows.

    Parameters
    ----------
    Y
        Windows as `windows` returns them, with any numbers in the rows: a `Ragged`, or its values as an
        array.
    lengths
        The lengths of X: integers, or a `Level`.
    size, step, drop_last
        The arguments of `windows`.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or Ragged
        The means: (T, ...) of the dtype of Y; float64 for bool and integers. Rows are added in the order of
        the windows, float16 and bfloat16 in float32 and rounded once. Rows in no window (with drop_last, or
        if step > size) are 0. For a Ragged, a Ragged with one level fewer.

    Raises
    ------
    TypeError
        The argument is not an array of bool, integers or floats.
    ValueError
        Y does not fit the windows that lengths, size and step make; the message names the sequence or the
        window.

    Examples
    --------
    >>> r = vl.ops.windows(np.array([1.0, 2.0, 3.0]), size=2, step=1)
    >>> vl.ops.average_windows(r, [3], size=2, step=1).to_list()
    [[1.0, 2.0, 3.0]]
    >>> vl.ops.average_windows(np.array([0.0, 4.0, 2.0, 8.0]), [3], size=2, step=1)
    array([0., 3., 8.])
    """
    return _merge(Y, lengths, size, step, drop_last, True, max_bytes, "Y")


def backprop_windows(
    dY: SameT | Sequence[Any],
    lengths: Lengths,
    *,
    size: int,
    step: int,
    drop_last: bool = False,
    max_bytes: int | None = None,
) -> SameT:
    """The gradient of `windows`: each row sums its places in the windows.

    Parameters
    ----------
    dY
        (T', ...), the gradient of the result of `windows`: a `Ragged`, or its values as an array.
    lengths
        The lengths of X: integers, or a `Level`.
    size, step, drop_last
        The arguments of `windows`.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    numpy.ndarray or Ragged
        (T, ...) of the dtype of dY. Rows are added in the order of the windows, float16 and bfloat16 in
        float32 and rounded once. Integers wrap. Rows in no window are 0. For a Ragged, a Ragged with one
        level fewer.

    Raises
    ------
    TypeError
        The argument is not an array of bool, integers or floats.
    ValueError
        dY does not fit the windows that lengths, size and step make; the message names the sequence or the
        window.

    See Also
    --------
    average_windows : the mean instead of the sum.

    Examples
    --------
    >>> vl.ops.backprop_windows(np.array([0.0, 4.0, 2.0, 8.0]), [3], size=2, step=1)
    array([0., 6., 8.])
    """
    result: SameT = _merge(dY, lengths, size, step, drop_last, False, max_bytes, "dY")
    return result


@overload
def backprop_average_windows(
    dX: RaggedT, lengths: None = None, *, size: int, step: int, drop_last: bool = False,
    max_bytes: int | None = None,
) -> RaggedT: ...  # fmt: skip
@overload
def backprop_average_windows(
    dX: RowsT | Sequence[Any], lengths: Lengths | None = None, *, size: int, step: int,
    drop_last: bool = False, max_bytes: int | None = None,
) -> Ragged[RowsT]: ...  # fmt: skip
def backprop_average_windows(
    dX: Any,
    lengths: Lengths | None = None,
    *,
    size: int,
    step: int,
    drop_last: bool = False,
    max_bytes: int | None = None,
) -> Rows:
    """The gradient of `average_windows`: windows of rows, each divided by the number of windows it is in.

    Parameters
    ----------
    dX
        (T, ...) floats, the gradient of the result of `average_windows`: an array, a tensor or a `Ragged`.
    lengths
        The lengths of the sequences: integers, or a `Level`; omit them with a Ragged. An array without them
        is one sequence.
    size, step, drop_last
        The arguments of `average_windows`.
    max_bytes
        Refuse a result larger than this; half of the machine's memory by default.

    Returns
    -------
    Ragged
        A Ragged, sequences > windows > rows, of the dtype of dX. The values are a copy.

    Raises
    ------
    TypeError
        dX is not an array of floats, or `lengths` are given with a Ragged.
    ValueError
        The size or step is below 1, a length is negative, lengths do not add up to T, or the result exceeds
        max_bytes.

    Examples
    --------
    >>> vl.ops.backprop_average_windows(np.array([1.0, 3.0, 5.0]), [3], size=2, step=1).to_list()
    [[[1.0, 1.5], [1.5, 5.0]]]
    """
    return _windows(dX, lengths, size, step, drop_last, max_bytes, True, "dX")


@overload
def sliding_window(X: RaggedT, lengths: None = None, *, width: int, level: int = -1) -> RaggedT: ...
@overload
def sliding_window(
    X: RowsT | Sequence[Any], lengths: Lengths, *, width: int, level: int = -1
) -> Ragged[RowsT]: ...
@eager_only()
def sliding_window(X: Any, lengths: Any = None, *, width: int, level: int = -1) -> Rows:
    """Join each row with the next `width` - 1 rows of its sequence, if there are enough: rows (width, ...).

    Parameters
    ----------
    X
        (T, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.
    width
        Rows of a window, 1 or more.
    level
        The level whose sequences are processed; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        The windows, under the levels above. A sequence loses `width` - 1 rows, or all.

    Raises
    ------
    ValueError
        The width is below 1, or the result exceeds half of the machine's memory.

    See Also
    --------
    windows : windows with a step, which may be shorter at the end.

    Notes
    -----
    As NumPy's `sliding_window_view` and TensorFlow's `tf.strings.ngrams` of each sequence; a copy.

    Examples
    --------
    >>> vl.ops.sliding_window([3, 1, 4, 1, 5], [3, 0, 2], width=2).to_list()
    [[[3, 1], [1, 4]], [], [[1, 5]]]
    """
    values, units, outer_levels = units_of(X, lengths, level)
    size = fits_memory(as_int(width, "width", 1), "width")
    rows, new_level, _ = backend_of(values).windows(values, units, size, 1, True)
    return ragged_like(X, rows.reshape(new_level.total, size, *values.shape[1:]), (*outer_levels, new_level))


def _windows(
    X: SequencesLike,
    lengths: Lengths | None,
    size: int,
    step: int,
    drop_last: bool,
    max_bytes: int | None,
    share: bool,
    argument: str,
) -> Ragged[Any]:
    rows, backend = _rows(X, argument)
    level = _level_of(X, rows, lengths)
    values, outer, inner = backend.windows(rows, level, size, step, drop_last, max_bytes, share)
    outer_levels = X._levels[:-1] if isinstance(X, RaggedBase) else ()
    result: Ragged[Any] = ragged_like(X, values, (*outer_levels, outer, inner))
    return result


def _merge(
    Y: SequencesLike,
    lengths: Lengths,
    size: int,
    step: int,
    drop_last: bool,
    mean: bool,
    max_bytes: int | None,
    argument: str,
) -> Any:
    rows, backend = _rows(Y, argument)
    level = as_level(lengths)
    if not isinstance(Y, RaggedBase):
        return backend.merge_windows(rows, None, level, size, step, drop_last, mean, max_bytes)
    if len(Y._levels) < 2:
        raise value_error(argument, "expected two levels, windows and their rows, got one")
    result = backend.merge_windows(rows, Y._levels[-2:], level, size, step, drop_last, mean, max_bytes)
    return Y._make(result, (*Y._levels[:-2], level))
