"""Convolution through sequences: windows of rows times a filter."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import SMALLEST, as_int
from varlen.backends import backend_of
from varlen.backends.numeric import (
    as_of,
    as_pairs,
    as_row_dtype,
    cast,
    common_dtype,
    conjugate,
    from_pairs,
    gradient_as,
    is_complex,
    numbers,
    product,
    widen_halves,
)
from varlen.backends.values import like
from varlen.errors import value_error
from varlen.ops.support.inputs import units_of
from varlen.ops.window import backprop_seq2col
from varlen.sequence.inputs import gradient_rows, scatter_rows, sequences
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike, Values

_FARTHEST = 2**31  # rows from a row to its window


@eager_only()
def sequence_conv(
    input: RaggedT,
    filter: Any,
    context_start: int | None = None,
    context_length: int | None = None,
    context_stride: int = 1,
    padding_data: Any = None,
    bias: Any = None,
    *,
    level: int = -1,
) -> RaggedT:
    """Multiply the window of each row, `context_length` rows from `context_start` on, with a filter.

    Parameters
    ----------
    input
        `Ragged` of rows (T, D), or (T,), which count as (T, 1): floats, or complex numbers.
    filter
        (context_length * D, M): its first rows apply to the first place of the window.
    context_start
        The start of the window, counted from the row: by default -(context_length // 2), which puts the row
        in the middle. It may lie after the row, at most 2**31 rows away.
    context_length
        The rows of the window, 1 or more; by default as many as the filter has.
    context_stride
        Only rows 0, context_stride, ... of each sequence get a window.
    padding_data
        Rows for places outside the sequence, by default zeros: (before + behind, D), with
        before = max(0, -context_start) rows in front of every sequence, and
        behind = max(0, context_start + context_length - 1) rows behind it. May be trained.
    bias
        (M,), added to every result row.
    level
        The level whose sequences bound the windows; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        Rows (T, M), nested as `input`; with a stride, fewer rows under the levels down to `level`. Float16
        and bfloat16 are added in float32.

    Raises
    ------
    ValueError
        The window has no rows or is too far from the row, or a filter, padding or bias has another shape.
    TypeError
        `input` is not a Ragged, an argument does not hold numbers, or arrays and tensors are mixed.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's op `sequence_conv`: `paddle.static.nn.sequence_conv` makes the filter and the bias itself from
    num_filters and filter_size, and calls context_start padding_start. Its gradient is wrong for windows that
    lie behind the rows, and it refuses windows that end before them. The product is that of NumPy or torch.

    Examples
    --------
    >>> r = vl.Ragged([[1.0], [2.0], [3.0], [4.0]], [3, 1])
    >>> vl.sequence_conv(r, np.array([[1.0], [10.0], [100.0]])).values.ravel()
    array([210., 321.,  32.,  40.])
    >>> pads = np.array([[7.0], [8.0]])
    >>> vl.sequence_conv(r, np.array([[1.0], [10.0], [100.0]]), padding_data=pads).values.ravel()
    array([217., 321., 832., 847.])
    """
    r = sequences(input, "input")
    rows = _matrix(r.values, "input")
    filter = as_row_dtype(filter, "filter", rows)
    window = _window(r, rows, filter, context_start, context_length, context_stride, level)
    bias_row = None if bias is None else as_row_dtype(bias, "bias", rows)
    if bias_row is not None and tuple(bias_row.shape) != (filter.shape[1],):
        raise value_error("bias", f"expected shape ({filter.shape[1]},), got {tuple(bias_row.shape)}")
    result = product(_columns(rows, window, padding_data), filter)
    if bias_row is not None:
        result = as_of(result + bias_row, result, bias_row)
    return typing.cast(
        "RaggedT", r._make(result, r.levels if window.stride == 1 else (*window.outer_levels, window.level))
    )


def backprop_sequence_conv(
    dY: Any,
    input: SequencesLike,
    filter: Any,
    context_start: int | None = None,
    context_length: int | None = None,
    context_stride: int = 1,
    padding_data: Any = None,
    *,
    level: int = -1,
) -> tuple[Ragged[Any], Any, Any, Any]:
    """The gradients of `sequence_conv`.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_conv`: a `Ragged`, or its rows.
    input, filter, context_start, context_length, context_stride, padding_data, level
        The arguments of `sequence_conv`.

    Returns
    -------
    d_input : Ragged
        Nests as `input`, of its shape and dtype.
    d_filter : numpy.ndarray or torch.Tensor
        (context_length * D, M), of the dtype of `filter`.
    d_padding : numpy.ndarray, torch.Tensor or None
        Of the shape and dtype of `padding_data`; None without it.
    d_bias : numpy.ndarray or torch.Tensor
        (M,), of the dtype of dY.

    Raises
    ------
    ValueError, TypeError, IndexError
        As in `sequence_conv`; or dY has another shape or nesting, or is an array beside tensors.

    Notes
    -----
    Gradients of complex numbers are those of torch: dY times the conjugates.

    Examples
    --------
    >>> r, weights = vl.Ragged([[1.0], [2.0]], [2]), np.array([[1.0], [10.0]])
    >>> dx, dfilter, _, dbias = vl.sequence.backprop_sequence_conv([[1.0], [1.0]], r, weights, 0)
    >>> dx.values.ravel(), dfilter.ravel(), dbias
    (array([ 1., 11.]), array([3., 2.]), array([2.]))
    """
    r = sequences(input, "input")
    rows = _matrix(r.values, "input")
    filter = as_row_dtype(filter, "filter", rows)
    window = _window(r, rows, filter, context_start, context_length, context_stride, level)
    columns = _columns(rows, window, padding_data)
    levels = r.levels if window.stride == 1 else (*window.outer_levels, window.level)
    d = as_row_dtype(gradient_rows(dY, len(columns), levels, inner=(filter.shape[1],)), "dY", rows)
    d_columns = product(widen_halves(d), conjugate(widen_halves(filter)).T)
    d_columns = d_columns.reshape(len(d), window.length, rows.shape[1])
    has_pairs = is_complex(d_columns)  # sums are of real numbers only
    real_columns = as_pairs(d_columns) if has_pairs else d_columns
    first, left, right = window.reach
    d_rows = backprop_seq2col(
        real_columns, 0, left=left, right=right, stride=window.stride, lengths=window.units
    )
    if first:
        d_rows = backend_of(d_rows).shift(d_rows, window.units, first)
    d_rows = gradient_as(from_pairs(d_rows) if has_pairs else d_rows, rows, d, filter)
    d_padding = None
    if padding_data is not None:
        slots, which = window.padding_places()
        padding = as_row_dtype(padding_data, "padding_data", rows)
        d_padding = scatter_rows(_merge_windows(real_columns)[like(slots, d)], which, len(padding))
        d_padding = gradient_as(from_pairs(d_padding) if has_pairs else d_padding, padding, d, filter)
    d_filter = gradient_as(product(conjugate(widen_halves(columns)).T, widen_halves(d)), filter, columns, d)
    d_bias = as_of(widen_halves(d).sum(0), d)
    return r._make(d_rows.reshape(r.values.shape), r.levels), d_filter, d_padding, d_bias


@dataclass
class _Window:
    """Where the rows of windows lie."""

    units: Level
    level: Level
    outer_levels: tuple[Level, ...]
    start: int
    length: int
    stride: int

    @property
    def reach(self) -> tuple[int, int, int]:
        """How far rows are shifted, so that each window holds its row; then its reach to both sides."""
        last = self.start + self.length - 1
        first = max(self.start, 0) + min(last, 0)
        return first, first - self.start, last - first

    @property
    def places_in_front(self) -> int:
        """Places of a window that may lie in front of a sequence."""
        return max(0, -self.start)

    @property
    def padding(self) -> int:
        """Places of a window that may lie outside a sequence, on both sides together."""
        return self.places_in_front + max(0, self.start + self.length - 1)

    def padding_places(self) -> tuple[Any, Any]:
        """The places of all windows that lie outside their sequence, and the rows of padding for them."""
        rows = self.level.positions * self.stride
        lengths = np.repeat(self.units.lengths, self.level.lengths)
        at_edges = np.flatnonzero(
            (rows + self.start < 0) | (rows + self.start + self.length > lengths)
        )  # fmt: skip
        places = rows[at_edges, None] + np.arange(self.start, self.start + self.length)
        ends = lengths[at_edges, None]
        which = np.where(places < 0, self.places_in_front + places, self.places_in_front + places - ends)
        is_outside = (places < 0) | (places >= ends)
        slots = at_edges[:, None] * self.length + np.arange(self.length)
        return slots[is_outside], which[is_outside]


def _window(
    r: Ragged[Any], rows: Any, filter: Any, start: int | None, length: int | None, stride: int, level: int
) -> _Window:
    _, units, outer_levels = units_of(r, None, level)
    if filter.ndim != 2:
        raise value_error(
            "filter", f"expected (context_length * {rows.shape[1]}, M), got {tuple(filter.shape)}"
        )
    if length is None:
        length = len(filter) // rows.shape[1] if rows.shape[1] else 1
        as_int(length, "context_length", 1)
    size = as_int(length, "context_length", 1)
    if len(filter) != size * rows.shape[1]:
        raise value_error(
            "filter", f"has {len(filter)} rows, expected {size} * {rows.shape[1]} = {size * rows.shape[1]}"
        )
    step = as_int(stride, "context_stride", 1)
    begin = -(size // 2) if start is None else as_int(start, "context_start", SMALLEST, None)
    if abs(begin) > _FARTHEST:
        raise value_error("context_start", f"expected {-_FARTHEST} to {_FARTHEST}, got {begin}")
    empty_rows = np.empty((units.total, 0), np.uint8)
    out_level = units if step == 1 else _core.seq2col(empty_rows, units, 0, 0, 1, step)[1]
    return _Window(units, out_level, outer_levels, begin, size, step)


def _columns(rows: Any, window: _Window, padding: Any) -> Any:
    """The windows, laid flat: (T, length * D)."""
    if padding is not None:
        padding = as_row_dtype(padding, "padding_data", rows)
        shape = (window.padding, rows.shape[1])
        if tuple(padding.shape) != shape:
            raise value_error("padding_data", f"expected shape {shape}, got {tuple(padding.shape)}")
        dtype = common_dtype(rows, padding)
        rows, padding = cast(rows, dtype), cast(padding, dtype)
    if is_complex(rows):
        pairs = None if padding is None else as_pairs(padding)
        return from_pairs(_unfold(as_pairs(rows), window, pairs))
    return _unfold(rows, window, padding)


def _unfold(rows: Any, window: _Window, padding: object) -> Any:
    first, left, right = window.reach
    if first:
        rows = backend_of(rows).shift(rows, window.units, -first)
    columns = backend_of(rows).seq2col(rows, window.units, left, right, 1, window.stride)[0]
    if padding is None:
        return columns
    slots, which = window.padding_places()
    flat = columns.reshape(len(columns) * window.length, rows.shape[1])
    backend = backend_of(rows)
    flat = backend.put_rows(flat, slots, backend.take_rows(padding, which))
    return flat.reshape(columns.shape)


def _merge_windows(d_columns: Any) -> Any:
    return d_columns.reshape(d_columns.shape[0] * d_columns.shape[1], d_columns.shape[2])


def _matrix(values: Values, argument: str) -> Any:
    if values.ndim > 2:
        raise value_error(argument, f"expected rows (T, D), got shape {tuple(values.shape)}")
    numbers(values, argument, True)
    return values if values.ndim == 2 else values.reshape(-1, 1)
