"""Convolutions along a dim, within each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_int, one_of
from varlen.backends import backend_of
from varlen.dims.axes import describe, place, place_into
from varlen.dims.base import NO_FACTS, check_data, is_data, make_data
from varlen.dims.make import check_dim
from varlen.dims.ops.amounts import check_lengths, result_dim
from varlen.dims.ops.window import Windows
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import align, lay_along, lengths_of, move, order_of, rows_of
from varlen.errors import index_error, naming, value_error

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def conv_out_dim(
    dim: Dim, filter: Dim | int, *, stride: int = 1, dilation: int = 1, padding: str | int = "valid"
) -> Dim:
    """Return the dim of a convolution's or pooling's result, without running it.

    Parameters
    ----------
    dim
        The dim that the filter goes along.
    filter
        The filter's size, or a Dim of that size.
    stride
        The distance between two placements of the filter, in positions.
    dilation
        The distance between two taps of the filter, in positions.
    padding
        "same", "valid", or the number of positions added at both ends.

    Returns
    -------
    Dim
        For "same" the dim itself; for "valid" the dim without the positions on which the filter cannot be
        centred. With a stride, `ceildiv_right(stride)` of that.

    Raises
    ------
    ValueError
        A size, stride or dilation is below 1, or the padding is unknown.

    Notes
    -----
    As RETURNN's `make_conv_out_spatial_dims`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[5, 3, 0])
    >>> vl.dims.conv_out_dim(time, 3).lengths
    array([3, 1, 0])
    >>> vl.dims.conv_out_dim(time, 3, stride=2, padding=1) == time.ceildiv_right(2)
    True
    """
    check_dim(dim, "dim")
    size: Any = filter.max_size() if type(filter) is Dim else filter
    with naming(size="filter"):
        windows = Windows(size, stride, dilation, padding)
    return windows.out_dim(dim)


def conv1d(
    x: Data[Any],
    filter: Data[Any],
    axis: Axis,
    in_dim: Dim,
    out_dim: Dim,
    *,
    stride: int = 1,
    dilation: int = 1,
    padding: str | int = "valid",
    groups: int = 1,
    bias: Data[Any] | None = None,
    out_spatial_dim: Dim | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Convolve along one dim, as in neural networks: the filter is not reversed.

    Parameters
    ----------
    x
        Numbers with channels.
    filter
        Weights over three dims: `in_dim`, `out_dim`, and the positions of the filter. With groups, over
        `in_dim // groups` or `in_dim.div_left(groups)`.
    axis
        The dim that the filter goes along. Other dims of `x` stay.
    in_dim
        The input channels.
    out_dim
        The output channels; may equal `in_dim`.
    stride
        The distance between two placements of the filter, in positions.
    dilation
        The distance between two taps of the filter, in positions.
    padding
        "valid": the filter stays inside the row. "same": it is centred on every `stride`-th position, and
        reads 0 outside the row. An int: the number of zeros added at both ends of the row.
    groups
        The number of groups of channels; each output group reads only its own input group.
    bias
        A Data over `out_dim`, added to the result. By default nothing is added.
    out_spatial_dim
        The Dim of the result; without lengths, it receives them. By default the result of `conv_out_dim`.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The result, with `out_spatial_dim` in place of `axis` and `out_dim` in place of `in_dim`. Each row
        gives the same result in any batch, because it is padded only at its own ends.

    Raises
    ------
    ValueError
        The filter has other dims; a stride, dilation or number of groups is below 1; the groups do not divide
        the channels; or the lengths of other dims depend on `axis`.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `conv`, in one dimension.

    Examples
    --------
    >>> time, one, taps = vl.Dim("time", lengths=[3, 1]), vl.Dim("one", 1), vl.Dim("taps", 2)
    >>> x = vl.Data(np.array([[3.0], [1.0], [4.0], [5.0]]), [vl.dims.batch_dim, time, one])
    >>> out = vl.Dim("out", 1)
    >>> filter = vl.Data(np.array([[[-1.0]], [[1.0]]]), [taps, one, out])
    >>> vl.dims.conv1d(x, filter, time, one, out)
    Data([batch(2), time-1(0 to 2), out(1)], float64)
    >>> vl.dims.conv1d(x, filter, time, one, out).values.ravel()
    array([-2.,  3.])
    """
    x, k, weights, size, new = _operands(x, filter, axis, in_dim, out_dim, as_int(groups, "groups", 1))
    windows = Windows(size, stride, dilation, padding)
    dim = x._shape.dims[k]
    out = result_dim(windows.out_dim(dim), out_spatial_dim, [windows.count(dim)])
    level = x._shape.span(k, k + 1)
    check_lengths("conv1d", out, x._shape.dims[:k], windows.counts(level.lengths))
    values = backend_of(x._values).contiguous(rows_of(x, k + 1))
    patches = windows.row_windows(values, level)  # (places, size, others, channels)
    result = _product(patches, weights, groups)
    return check_out_shape(_with_channels(x, k, result, out, new, bias), out_shape)


def transposed_conv1d(
    x: Data[Any],
    filter: Data[Any],
    axis: Axis,
    in_dim: Dim,
    out_dim: Dim,
    *,
    stride: int = 1,
    padding: str = "valid",
    bias: Data[Any] | None = None,
    out_spatial_dim: Dim | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Transposed convolution: each position adds a scaled copy of the filter, `stride` apart.

    Parameters
    ----------
    x
        Numbers with channels.
    filter
        Weights over three dims: `in_dim`, `out_dim`, and the positions of the filter.
    axis
        The dim that grows.
    in_dim, out_dim
        The input and output channels.
    stride
        The distance between two copies of the filter, in positions.
    padding
        "valid": whole filters stay. "same": each row is `stride` times as long, cut at both ends.
    bias
        A Data over `out_dim`, added to the result. By default nothing is added.
    out_spatial_dim
        The Dim of the result; without lengths, it receives them. By default dim * stride for "same", and dim
        * stride + (size - stride) for "valid".
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The result, with the longer dim in place of `axis` and `out_dim` in place of `in_dim`.

    Raises
    ------
    ValueError
        The filter has other dims, the stride is below 1, the padding is unknown, or the lengths of other dims
        depend on `axis`.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `transposed_conv`, in one dimension.

    Examples
    --------
    >>> time, one, taps = vl.Dim("time", lengths=[2, 1]), vl.Dim("one", 1), vl.Dim("taps", 3)
    >>> x = vl.Data(np.array([[1.0], [10.0], [5.0]]), [vl.dims.batch_dim, time, one])
    >>> out = vl.Dim("out", 1)
    >>> filter = vl.Data(np.ones((3, 1, 1)), [taps, one, out])
    >>> y = vl.dims.transposed_conv1d(x, filter, time, one, out, stride=2)
    >>> y, y.values.ravel()
    (Data([batch(2), time*2+1(3 to 5), out(1)], float64), array([ 1.,  1., 11., 10., 10.,  5.,  5.,  5.]))
    """
    one_of(padding, "padding", ("same", "valid"))
    step = as_int(stride, "stride", 1)
    x, k, weights, size, new = _operands(x, filter, axis, in_dim, out_dim, 1)
    dim = x._shape.dims[k]
    excess = max(size - step, 0)
    crop = excess // 2 if padding == "same" else 0
    excess = 0 if padding == "same" else excess
    count = lengths_of(dim)
    out = (dim if step == 1 else dim * step) + excess
    out = result_dim(out, out_spatial_dim, [count._like(count._values * step + excess)])
    level = x._shape.span(k, k + 1)
    lengths = level.lengths * step + excess
    check_lengths("transposed_conv1d", out, x._shape.dims[:k], lengths)
    backend = backend_of(x._values)
    values = backend.contiguous(rows_of(x, k + 1))
    mid, channels = tuple(values.shape[1:-1]), weights.shape[2]
    copies = values @ backend.transpose(weights, (1, 0, 2)).reshape((weights.shape[1], size * channels))
    copies = copies.reshape((len(values), *mid, size, channels))
    axes = (0, len(mid) + 1, *range(1, len(mid) + 1), len(mid) + 2)
    copies = backend.contiguous(backend.transpose(copies, axes)).reshape((len(values) * size, *mid, channels))
    longer = Level.from_lengths(lengths)
    ids = level.row_ids
    first = (np.arange(level.total) - level.offsets[:-1][ids]) * step - crop
    i = (first[:, None] + np.arange(size)).reshape(-1)
    is_there = (i >= 0) & (i < np.repeat(lengths[ids], size))
    places = np.repeat(longer.offsets[:-1][ids], size) + i
    if not is_there.all():
        copies, places = backend.take_rows(copies, np.flatnonzero(is_there)), places[is_there]
    table = backend.zeros(copies, (longer.total, *mid, channels))
    result = backend.add_rows(table, copies, places)
    return check_out_shape(_with_channels(x, k, result, out, new, bias), out_shape)


def _operands(
    x: Data[Any], filter: Data[Any], axis: Axis, in_dim: Dim, out_dim: Dim, groups: int
) -> tuple[Data[Any], int, Any, int, Dim]:
    """The input with its channels last, the dim that is gone along, and weights (size, in, out)."""
    check_data(x, "x")
    check_data(filter, "filter")
    check_dim(in_dim, "in_dim")
    check_dim(out_dim, "out_dim")
    dim = x._shape.dims[place(x, axis)]
    channels = x._shape.find(in_dim)
    if channels < 0:
        raise index_error("in_dim", f"'{in_dim.name}' is not among {describe(x.dims)}")
    if dim == in_dim:
        raise value_error("axis", f"'{dim.name}' holds the channels; expected another dim")
    count = x._shape.extent(channels)
    if count % groups:
        raise value_error("groups", f"{groups} do not divide the {count} positions of '{in_dim.name}'")
    filter_dims = filter._shape.dims
    few = [in_dim] if groups == 1 else [in_dim // groups, in_dim.div_left(groups)]
    comes = next((k for item in few if (k := place_into(filter, item)) >= 0), -1)
    goes = next((j for j, item in enumerate(filter_dims) if j != comes and item == out_dim), -1)
    if len(filter_dims) != 3 or min(comes, goes) < 0:
        raise value_error(
            "filter",
            f"expected '{few[0].name}', '{out_dim.name}' and the positions of the filter, "
            f"got {describe(filter.dims)}",
        )
    if groups > 1 and filter._shape.extent(goes) % groups:
        raise value_error("groups", f"{groups} do not divide the positions of '{out_dim.name}'")
    taps = 3 - comes - goes
    weights = move(filter, Shape([filter_dims[taps], filter_dims[comes], filter_dims[goes]]))
    order = [*[item for j, item in enumerate(x._shape.dims) if j != channels], x._shape.dims[channels]]
    target = Shape(order)
    if target is not x._shape:
        result = x._like(move(x, target))
        result._shape, result._order = target, order_of(target, x.dims)
        x = result
    x, k = lay_along(x, x._shape.find(dim))
    if not isinstance(x._values, np.ndarray) and isinstance(weights, np.ndarray):
        weights = backend_of(x._values).like(weights, x._values)
    new = filter_dims[goes]
    new = new if not new.match_priority else new.copy(match_priority=0)
    return x, k, weights, filter._shape.extent(taps), new


def _product(patches: Any, weights: Any, groups: int) -> Any:
    """(places, size, others, channels) times (size, channels, out): (places, others, out)."""
    backend = backend_of(patches, weights)
    count, size, *mid, channels = tuple(patches.shape)
    out = weights.shape[2]
    if mid:
        axes = (0, *range(2, 2 + len(mid)), 1, 2 + len(mid))
        patches = backend.transpose(patches, axes)
    if groups == 1:
        rows = patches.reshape((count * int(np.prod(mid)), size * channels))
        return (rows @ weights.reshape((size * channels, out))).reshape((count, *mid, out))
    few = channels // groups
    rows = patches.reshape((count * int(np.prod(mid)), size, groups, few))
    rows = backend.transpose(rows, (2, 0, 1, 3)).reshape((groups, -1, size * few))
    kernel = backend.transpose(weights.reshape((size, few, groups, out // groups)), (2, 0, 1, 3))
    result = rows @ kernel.reshape((groups, size * few, out // groups))
    return backend.transpose(result, (1, 0, 2)).reshape((count, *mid, out))


def _with_channels(
    x: Data[Any], k: int, values: Values, out: Dim, channels: Dim, bias: Data[Any] | None
) -> Data[Any]:
    dims = list(x._shape.dims)
    new_dims = {dims[k]: out, dims[-1]: channels}
    dims[k], dims[-1] = out, channels
    shape = Shape(dims)
    if bias is not None:
        if not is_data(bias) or bias._shape.rank != 1 or bias._shape.find(channels) < 0:
            raise value_error("bias", f"expected numbers over '{channels.name}', got {bias!r}")
        values = values + align(bias._values, bias._shape, Shape([channels]))
    facts = x._facts
    if facts is not NO_FACTS:
        roles = [new_dims.get(item, item) for item in (facts.time_dim, facts.feature_dim)]  # type: ignore[arg-type]
        facts = facts._replace(name=None, sparse_dim=None, time_dim=roles[0], feature_dim=roles[1])
    return make_data(values.reshape(shape.array_shape), shape, x._order, facts)
