"""Convolutions through sequences: windows of rows times a filter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.ops.window import backprop_seq2col
from varlen.sequence.given import gradient_rows, put_back, sequences
from varlen.types import Ragged
from varlen.types.arguments import whole
from varlen.types.shifts import shifted
from varlen.types.values import as_values, is_tensor, like


def sequence_conv(
    input: Any,
    filter: Any,
    context_start: int | None = None,
    context_length: int | None = None,
    context_stride: int = 1,
    padding_data: Any = None,
    bias: Any = None,
    *,
    level: int = -1,
) -> Ragged:
    """For each row its window, `context_length` rows from `context_start` on, laid flat, times a filter.

    Parameters
    ----------
    input
        `Ragged` of rows (T, D), or (T,), which count as (T, 1): floats.
    filter
        (context_length * D, M): what stands first in the window meets the first rows of it.
    context_start
        Where the window begins, counted from the row: -(context_length // 2) by default, which puts the row
        in the middle. May lie behind the row.
    context_length
        Rows of the window, 1 or more; as the filter says by default.
    context_stride
        Only rows 0, context_stride, ... of each sequence get a window.
    padding_data
        Rows for places outside the sequence, which are zero without: (before + behind, D), with
        before = max(0, -context_start) rows that stand in front of every sequence, and
        behind = max(0, context_start + context_length - 1) rows that stand behind. May be trained.
    bias
        (M,), added to every row.
    level
        The level whose sequences windows do not leave, with all rows below; -1 is the innermost.

    Returns
    -------
    Ragged
        Rows (T, M), nested as `input`; with a stride the levels down to `level` with fewer rows.

    Raises
    ------
    ValueError
        A window of no rows; a filter, padding or bias of another shape.
    TypeError
        `input` is no Ragged; arrays beside tensors.
    IndexError
        No such level.

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
    filter = _alike(filter, "filter", rows)
    window = _window(r, rows, filter, context_start, context_length, context_stride, level)
    made = _columns(rows, window, padding_data) @ filter
    if bias is not None:
        added = _alike(bias, "bias", rows)
        if tuple(added.shape) != (filter.shape[1],):
            raise ValueError(f"bias: expected shape ({filter.shape[1]},), got {tuple(added.shape)}")
        made = made + added
    return r._make(made, r.levels if window.stride == 1 else (*window.above, window.kept))


def backprop_sequence_conv(
    dY: Any,
    input: Any,
    filter: Any,
    context_start: int | None = None,
    context_length: int | None = None,
    context_stride: int = 1,
    padding_data: Any = None,
    *,
    level: int = -1,
) -> tuple[Ragged, Any, Any, Any]:
    """The gradients of `sequence_conv`: of input, filter, padding_data (None without) and bias.

    Parameters
    ----------
    dY
        The gradient of what `sequence_conv` gave: a `Ragged`, or its rows.
    input, filter, context_start, context_length, context_stride, padding_data, level
        As they were given to `sequence_conv`.

    Examples
    --------
    >>> r, weights = vl.Ragged([[1.0], [2.0]], [2]), np.array([[1.0], [10.0]])
    >>> dx, dfilter, _, dbias = vl.sequence.backprop_sequence_conv([[1.0], [1.0]], r, weights, 0)
    >>> dx.values.ravel(), dfilter.ravel(), dbias
    (array([ 1., 11.]), array([3., 2.]), array([2.]))
    """
    r = sequences(input, "input")
    rows = _matrix(r.values, "input")
    filter = _alike(filter, "filter", rows)
    window = _window(r, rows, filter, context_start, context_length, context_stride, level)
    columns = _columns(rows, window, padding_data)
    levels = r.levels if window.stride == 1 else (*window.above, window.kept)
    d = gradient_rows(dY, len(columns), levels)
    d_columns = (d @ filter.T).reshape(len(d), window.length, rows.shape[1])
    first, left, right = window.around
    d_rows = backprop_seq2col(
        d_columns, 0, left=left, right=right, stride=window.stride, lengths=window.over
    )  # fmt: skip
    if first:
        d_rows = shifted(d_rows, window.over, first)
    d_padding = None
    if padding_data is not None:
        at, which = window.outside()
        d_padding = put_back(_flat(d_columns)[like(at, d)], which, len(padding_data))
    return r._make(d_rows.reshape(r.values.shape), r.levels), columns.T @ d, d_padding, d.sum(0)


def row_conv(input: Any, filter: Any, *, level: int = -1) -> Any:
    """Each row and those behind it, number by number times a row of a filter each, added up.

    Parameters
    ----------
    input
        `Ragged` of rows (T, D); or an array or a tensor (n, T, D), n sequences of T rows.
    filter
        (1 + future, D): the first row is for the row itself, the next for the one behind it, and so on. Rows
        behind the end of a sequence are zero.
    level
        The level whose sequences are gone through, with all rows below; -1 is the innermost.

    Returns
    -------
    Of the shape and structure of `input`.

    Raises
    ------
    ValueError
        A filter of no rows, or of another width.
    TypeError
        `input` is neither.
    IndexError
        No such level.

    Notes
    -----
    As Paddle's `row_conv`, which makes the filter itself from future_context_size, refuses empty sequences,
    and does not look at the width of the filter.

    Examples
    --------
    >>> r = vl.Ragged([[1.0], [2.0], [3.0]], [2, 1])
    >>> vl.row_conv(r, np.array([[1.0], [10.0]])).values.ravel()
    array([21.,  2.,  3.])
    """
    r, shape = _sequences_of(input)
    filter = _filter_of_rows(r, filter)
    values, over, _ = r._over(level)
    made = values * filter[0]
    for k in range(1, len(filter)):
        made = made + shifted(values, over, -k) * filter[k]
    return r._make(made, r.levels) if shape is None else made.reshape(shape)


def backprop_row_conv(dY: Any, input: Any, filter: Any, *, level: int = -1) -> tuple[Any, Any]:
    """The gradients of `row_conv`: of input and of filter.

    Parameters
    ----------
    dY
        The gradient of what `row_conv` gave, of its structure; or its rows.
    input, filter, level
        As they were given to `row_conv`.

    Examples
    --------
    >>> r = vl.Ragged([[1.0], [2.0], [3.0]], [2, 1])
    >>> dx, dfilter = vl.sequence.backprop_row_conv(np.ones((3, 1)), r, np.array([[1.0], [10.0]]))
    >>> dx.values.ravel(), dfilter.ravel()
    (array([ 1., 11.,  1.]), array([6., 2.]))
    """
    r, shape = _sequences_of(input)
    filter = _filter_of_rows(r, filter)
    values, over, _ = r._over(level)
    d = gradient_rows(dY if shape is None else as_values(dY, "dY").reshape(r.values.shape), r.total, r.levels)
    dX, taps = d * filter[0], [(values * d).sum(0)]
    for k in range(1, len(filter)):
        dX = dX + shifted(d, over, k) * filter[k]
        taps.append((shifted(values, over, -k) * d).sum(0))
    if is_tensor(d):
        import torch

        d_filter = torch.stack(taps)
    else:
        d_filter = np.stack(taps)
    return (r._make(dX, r.levels) if shape is None else dX.reshape(shape)), d_filter


@dataclass
class _Window:
    """Where the rows of windows lie."""

    over: Level
    kept: Level
    above: tuple[Level, ...]
    start: int
    length: int
    stride: int

    @property
    def around(self) -> tuple[int, int, int]:
        """By how much rows move, so that a window holds its row; how far it goes left and right then."""
        last = self.start + self.length - 1
        first = max(self.start, 0) + min(last, 0)
        return first, first - self.start, last - first

    @property
    def before(self) -> int:
        """Places that may lie in front of a sequence."""
        return max(0, -self.start)

    @property
    def padding(self) -> int:
        """Places that may lie outside a sequence, on either side."""
        return self.before + max(0, self.start + self.length - 1)

    def outside(self) -> tuple[Any, Any]:
        """The places of all windows that lie outside their sequence, and the rows of padding for them."""
        rows = self.kept.positions * self.stride
        lengths = np.repeat(self.over.lengths, self.kept.lengths)
        near = np.flatnonzero(
            (rows + self.start < 0) | (rows + self.start + self.length > lengths)
        )  # fmt: skip
        places = rows[near, None] + np.arange(self.start, self.start + self.length)
        ends = lengths[near, None]
        which = np.where(places < 0, self.before + places, self.before + places - ends)
        there = (places < 0) | (places >= ends)
        at = near[:, None] * self.length + np.arange(self.length)
        return at[there], which[there]


def _window(
    r: Ragged, rows: Any, filter: Any, start: int | None, length: int | None, stride: int, level: int
) -> _Window:
    _, over, above = r._over(level)
    if filter.ndim != 2:
        raise ValueError(f"filter: expected (context_length * {rows.shape[1]}, M), got {tuple(filter.shape)}")
    if length is None:
        length = len(filter) // rows.shape[1] if rows.shape[1] else 1
        whole(length, "context_length", 1)
    size = whole(length, "context_length", 1)
    if len(filter) != size * rows.shape[1]:
        raise ValueError(
            f"filter: has {len(filter)} rows, expected {size} * {rows.shape[1]} = {size * rows.shape[1]}"
        )
    step = whole(stride, "context_stride", 1)
    begin = -(size // 2) if start is None else whole(start, "context_start", -(2**31), 2**31)
    nothing = np.empty((over.total, 0), np.uint8)
    kept = over if step == 1 else _core.seq2col(nothing, over, 0, 0, 1, step)[1]
    return _Window(over, kept, above, begin, size, step)


def _columns(rows: Any, window: _Window, padding: Any) -> Any:
    """The windows, laid flat: (T, length * D)."""
    first, left, right = window.around
    if first:
        rows = shifted(rows, window.over, -first)
    kernels: Any = _core
    if is_tensor(rows):
        from varlen.interop import torch_window as kernels
    columns = kernels.seq2col(rows, window.over, left, right, 1, window.stride)[0]
    if padding is None:
        return columns
    padding = _alike(padding, "padding_data", rows)
    shape = (window.padding, rows.shape[1])
    if tuple(padding.shape) != shape:
        raise ValueError(f"padding_data: expected shape {shape}, got {tuple(padding.shape)}")
    at, which = window.outside()
    flat = columns.reshape(len(columns) * window.length, rows.shape[1])
    if is_tensor(rows):
        from varlen.interop.torch_span import take_rows

        flat = flat.index_copy(0, like(at, rows), take_rows(padding, which))
    else:
        flat[at] = padding[which]
    return flat.reshape(columns.shape)


def _flat(d_columns: Any) -> Any:
    return d_columns.reshape(d_columns.shape[0] * d_columns.shape[1], d_columns.shape[2])


def _alike(given: Any, argument: str, rows: Any) -> Any:
    """An array where the rows are one, a tensor where they are."""
    made = as_values(given, argument)
    if is_tensor(made) != is_tensor(rows):
        kind = "a tensor" if is_tensor(rows) else "an array"
        raise TypeError(f"{argument}: expected {kind} as input is one, got {type(given).__name__}")
    return made


def _matrix(values: Any, argument: str) -> Any:
    if values.ndim > 2:
        raise ValueError(f"{argument}: expected rows (T, D), got shape {tuple(values.shape)}")
    return values if values.ndim == 2 else values.reshape(-1, 1)


def _sequences_of(input: Any) -> tuple[Ragged, tuple[int, ...] | None]:
    """A Ragged as it is, a rectangle as sequences of one length, and its shape."""
    if isinstance(input, Ragged):
        return input, None
    block = as_values(input, "input")
    if block.ndim != 3:
        raise ValueError(f"input: expected a Ragged or (n, T, D), got shape {tuple(block.shape)}")
    n, length, width = block.shape
    level = Level.from_lengths(np.full(n, length))
    return Ragged._make(block.reshape(n * length, width), (level,)), tuple(block.shape)


def _filter_of_rows(r: Ragged, given: Any) -> Any:
    wanted = tuple(r.values.shape[1:])
    filter = _alike(given, "filter", r.values)
    if tuple(filter.shape[1:]) != wanted or not len(filter):
        raise ValueError(f"filter: expected one row or more of shape {wanted}, got {tuple(filter.shape)}")
    return filter
