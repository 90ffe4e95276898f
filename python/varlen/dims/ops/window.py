"""Windows along a dim, and their reductions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_int, one_of
from varlen.backends import backend_of
from varlen.dims.axes import place, places
from varlen.dims.make import check_dim
from varlen.dims.ops.amounts import check_lengths, options_of_dims, result_dim
from varlen.dims.ops.pad import fill_positions
from varlen.dims.ops.reduce import reduce
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import (
    has_inner,
    lay_along,
    lengths_of,
    place_values,
    positions_taken,
    rows_of,
    target_of,
    with_dims,
)
from varlen.dims.plan_cache import cached_plan
from varlen.dims.vocabulary import padding_class
from varlen.errors import overflow_error, value_error
from varlen.levels import equal_lengths
from varlen.ops.faces.folds import EMPTY as FOLDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

_FAR = 1 << 60  # lengths with twice as many positions and a window more fit 63 bits


class Windows:
    """The windows along rows: their number in each row, and the positions that they read."""

    def __init__(self, size: int, stride: int, dilation: int, padding: str | int) -> None:
        self.size = as_int(size, "size", 1)
        self.stride = as_int(stride, "stride", 1)
        self.dilation = as_int(dilation, "dilation", 1)
        self.span = (self.size - 1) * self.dilation
        if self.span > _FAR:
            raise overflow_error(
                "dilation", f"{size} positions with a dilation of {dilation} do not fit 60 bits"
            )
        self.is_same = padding == "same"
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise value_error("padding", f"expected 'same', 'valid' or an int, got {padding!r}")
            self.left = self.span // 2 if self.is_same else 0
        else:
            self.left = as_int(padding, "padding")
            if self.left > _FAR:
                raise overflow_error("padding", f"{padding} positions do not fit 60 bits")

    def counts(self, lengths: Any) -> Any:
        """The number of windows of rows."""
        starts = lengths if self.is_same else np.maximum(lengths + 2 * self.left - self.span, 0)
        return -(-starts // self.stride)

    def count(self, dim: Dim) -> Data[Any]:
        """The number of windows of a dim's rows."""
        lengths = lengths_of(dim)
        return lengths._like(self.counts(lengths._values))

    def out_dim(self, dim: Dim) -> Dim:
        """The dim of the windows, where the filter is centred on positions of a dim."""
        if not self.is_same:
            dim = self.left + dim + self.left
            dim = dim.sub_left(self.span // 2).sub_right(self.span - self.span // 2)
        return dim if self.stride == 1 else dim.ceildiv_right(self.stride)

    def positions(self, level: Level) -> NDArray[np.int64]:
        """The row that each position of each window reads, (windows, size); -1 outside of its sequence."""
        windows = Level.from_lengths(self.counts(level.lengths))
        ids = windows.row_ids
        first = (np.arange(windows.total) - windows.offsets[:-1][ids]) * self.stride - self.left
        i = first[:, None] + np.arange(self.size) * self.dilation
        is_there = (i >= 0) & (i < level.lengths[ids][:, None])
        return np.where(is_there, level.offsets[:-1][ids][:, None] + i, -1)

    def row_windows(self, values: Any, level: Level, value: Any = 0) -> Any:
        """Windows of rows: (windows, size, ...)."""
        rows = self.read(values, level, value)
        return rows.reshape((int(self.counts(level.lengths).sum()), self.size, *values.shape[1:]))

    def read(self, values: Any, level: Level, value: Any = 0) -> Any:
        """Windows of rows, in some shape."""
        backend = backend_of(values)
        if not (self.is_same or self.left) and self.dilation == 1:
            rows, _, _ = backend.windows(values, level, self.size, self.stride, True)
        elif self.is_same and self.left % self.dilation == 0 and type(value) is int and value == 0:
            left = self.left // self.dilation
            rows, _ = backend.seq2col(values, level, left, self.size - 1 - left, self.dilation, self.stride)
        else:
            rows = fill_positions(values, self.positions(level).reshape(-1), value)
        return rows


def window(
    x: Data[Any],
    axis: Axis,
    width: Dim,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str | int = "same",
    value: Any = None,
    out_dim: Dim | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Cut a dim into windows, row by row.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim to cut.
    width
        The Dim of the positions inside a window; its size is the width.
    stride
        The distance between the starts of two windows, in positions.
    dilation
        The distance between two neighbours inside a window, in positions.
    padding
        "same": a window for every `stride` positions of the row; an even width reaches one position further
        behind than before. "valid": only windows inside the row. An int: the number of positions added at
        both ends of the row.
    value
        The number where a window reaches beyond the row. By default the class "[PAD]" of a vocabulary, else
        0. Sequences there are empty.
    out_dim
        The dim of the windows; without lengths, it receives them. By default the dim itself for "same", dim -
        width + 1 for "valid", and with a stride `ceildiv_right(stride)` of that. With a dilation, the result
        of `conv_out_dim`.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The windows, with their dim, then `width`, in place of `axis`.

    Raises
    ------
    ValueError
        A width, stride or dilation is below 1, the padding is unknown, or the width has no fixed size.
    TypeError
        `width` is not a Dim.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `window`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> width = vl.Dim("width", 2)
    >>> vl.dims.window(x, "T", width).to_list()
    [[[3, 1], [1, 4], [4, 0]], [[5, 0]]]
    >>> vl.dims.window(x, "T", width, padding="valid").to_list()
    [[[3, 1], [1, 4]], []]
    """
    k = place(x, axis)
    inner = has_inner(x._shape, k)
    if not inner:
        x, k = lay_along(x, k)
    size = _size_of(width)
    is_known = type(stride) is int and type(dilation) is int and type(padding) in (int, str)
    find = _cached_plan if is_known and (out_dim is None or type(out_dim) is Dim) else _plan_of
    plan = find(x._shape, x._order, k, width, size, stride, dilation, padding, out_dim)
    if inner:
        return check_out_shape(_with_inner(x, k, width, plan), out_shape)
    rows = backend_of(x._values).contiguous(rows_of(x, k + 1))
    rows = plan.windows.read(rows, plan.level, padding_class(x.vocab) if value is None else value)
    return check_out_shape(place_values(x, rows, plan.target, x._shape.dims[k], plan.dim), out_shape)


def _size_of(width: Any) -> int:
    check_dim(width, "width")
    if not width.is_defined or width.over:
        raise value_error("width", f"'{width.name}' has no one size")
    return int(width.max_size())


class _Plan(NamedTuple):
    windows: Windows
    level: Level
    dim: Dim
    target: tuple[Shape, tuple[int, ...] | None]


def _plan_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    width: Dim,
    size: int,
    stride: int,
    dilation: int,
    padding: str | int,
    out_dim: Dim | None,
) -> _Plan:
    dim = shape.dims[k]
    windows = Windows(size, stride, dilation, padding)
    out = windows.out_dim(dim)
    if padding != "same" and dilation == 1:
        out = windows.left + dim + windows.left - width + 1
        out = out if stride == 1 else out.ceildiv_right(stride)
    out = result_dim(out, out_dim, [windows.count(dim)])
    level = shape.span(k, k + 1)
    check_lengths("window", out, shape.dims[:k], windows.counts(level.lengths))
    target = (shape, order) if has_inner(shape, k) else target_of(shape, order, k, [out, width])
    return _Plan(windows, level, out, target)


_cached_plan = cached_plan(_plan_of)


def _with_inner(x: Data[Any], k: int, width: Dim, plan: _Plan) -> Data[Any]:
    """Windows of sequences of several dims."""
    axis_dim, windows = x._shape.dims[k], plan.windows

    def change(lengths: Data[Any]) -> Data[Any]:
        axis = lengths._shape.find(axis_dim)
        if has_inner(lengths._shape, axis):
            return _with_inner(lengths, axis, width, plan)
        lengths, axis = lay_along(lengths, axis)
        level = lengths._shape.span(axis, axis + 1)
        rows = windows.read(backend_of(lengths._values).contiguous(rows_of(lengths, axis + 1)), level)
        return with_dims(lengths, axis, rows, [plan.dim, width])

    positions = windows.positions(x._shape.span(k, k + 1)).reshape(-1)
    return positions_taken(x, k, positions, [plan.dim, width], change)


def pool(
    x: Data[Any],
    mode: str,
    axis: Axis | Sequence[Axis],
    size: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    *,
    dilation: int | Sequence[int] = 1,
    padding: str | int | Sequence[str | int] = "valid",
    empty: Any = ...,
    out_dim: Dim | Sequence[Dim | None] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Reduce each window of a dim; positions outside a row do not count.

    Parameters
    ----------
    x
        Numbers.
    mode
        A mode of `reduce` that returns one number, such as "max", "mean" or "sum".
    axis
        The dim that windows go along, or several dims for boxes.
    size
        The number of positions in a window. For several dims, one for all or a list.
    stride
        The distance between the starts of two windows, in positions; None takes `size`.
    dilation, padding
        As in `window`.
    empty
        The result of a window without positions, as in `reduce`.
    out_dim
        The Dim of the result, or a list for several dims; without lengths, it receives them. By default the
        result of `conv_out_dim`.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The results, with the dim of the windows in place of `axis`.

    Raises
    ------
    ValueError
        The mode or padding is unknown; a size, stride or dilation is below 1; or the lengths of other dims
        depend on `axis`.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `pool`, where padding counts in a mean.

    Examples
    --------
    >>> x = vl.Data(np.array([3.0, 1.0, 4.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.pool(x, "max", "T", 2, padding="same").to_list()
    [[3.0, 4.0], [5.0]]
    >>> vl.dims.pool(x, "mean", "T", 2, 1).to_list()
    [[2.0, 2.5], []]
    """
    one_of(mode, "mode", tuple(FOLDS))
    axis_dims = [x._shape.dims[k] for k in places(x, axis)]
    options = options_of_dims(
        len(axis_dims), size=size, stride=stride, dilation=dilation, padding=padding, out_dim=out_dim
    )
    for dim, sizes, strides, dilations, pads, out in zip(axis_dims, *options, strict=True):
        windows = Windows(sizes, sizes if strides is None else strides, dilations, pads)
        x = _pool(x, mode, dim, windows, result_dim(windows.out_dim(dim), out, [windows.count(dim)]), empty)
    return check_out_shape(x, out_shape)


def _pool(x: Data[Any], mode: str, dim: Dim, windows: Windows, out: Dim, empty: Any) -> Data[Any]:
    x, k = lay_along(x, x._shape.find(dim))
    level = x._shape.span(k, k + 1)
    counts = windows.counts(level.lengths)
    check_lengths("pool", out, x._shape.dims[:k], counts)
    backend = backend_of(x._values)
    rows = backend.contiguous(rows_of(x, k + 1))
    total = int(counts.sum())
    is_cut = not windows.left and windows.stride == windows.size
    if windows.dilation == 1 and is_cut and (counts * windows.size == level.lengths).all():
        width_level = equal_lengths(total, windows.size)
    elif windows.dilation == 1:
        rows, width_level = _spans(rows, level, counts, windows)
    else:
        positions = windows.positions(level)
        width_level = Level.from_lengths((positions >= 0).sum(1))
        rows = backend.take_rows(rows, positions[positions >= 0])
    front = [*x._shape.dims[:k], out]
    width = Dim(name="window")._bound(width_level.lengths, front) if front else out
    patches = with_dims(x, k, rows, [out, width])
    options = {} if empty is ... else {"empty": empty}
    return reduce(patches, mode, width, **options)


def _spans(rows: Any, level: Level, counts: Any, windows: Windows) -> tuple[Any, Level]:
    """The rows of all windows, end to end, and how many each has."""
    groups = Level.from_lengths(counts)
    ids = groups.row_ids
    first = (np.arange(groups.total) - groups.offsets[:-1][ids]) * windows.stride - windows.left
    ends = np.clip(first + windows.size, 0, level.lengths[ids])
    begins = np.minimum(np.maximum(first, 0), ends)
    pairs = np.stack([begins, ends], axis=1).reshape(-1)
    result: tuple[Any, Level] = backend_of(rows).spans(rows, level, groups, pairs)
    return result
