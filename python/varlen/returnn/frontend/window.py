"""Windows, pooling and convolutions along dims, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen import dims as _dims
from varlen.dims import Data, Dim
from varlen.errors import value_error
from varlen.returnn.frontend.convert import number
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.tensor import Tensor, as_tensor


def window(
    source: Data[Any],
    *,
    spatial_dim: Dim,
    window_dim: Dim,
    window_right: Dim | int | None = None,
    window_left: Dim | int | None = None,
    padding: str = "same",
    pad_value: Data[Any] | float | None = None,
    stride: int = 1,
    out_spatial_dim: Dim | None = None,
    use_mask: bool | None = None,
) -> tuple[Tensor, Dim]:
    """Cut a dim into windows, row by row.

    Parameters
    ----------
    source
        Any values.
    spatial_dim
        The dim.
    window_dim
        The dim of the positions in a window.
    window_right, window_left
        For padding "same", the number of positions in a window after its own position, and before it; by
        default half each, with an odd one after it.
    padding
        "same" for one window for each position, "valid" for windows inside the row.
    pad_value
        The value of positions outside the row; by default the class "[PAD]" of a vocabulary,
        else 0.
    stride
        The distance between windows.
    out_spatial_dim
        The dim of the windows.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    tuple of Tensor and Dim
        The dim of the windows.

    Raises
    ------
    ValueError
        Both sides are given, and do not fit the size of the window.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time, width = vl.Dim("time", lengths=[3, 1]), vl.Dim("width", 2)
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, time])
    >>> rf.window(x, spatial_dim=time, window_dim=width)[0].to_list()
    [[[3, 1], [1, 4], [4, 0]], [[5, 0]]]
    >>> rf.window(x, spatial_dim=time, window_dim=width, window_right=0)[0].to_list()
    [[[0, 3], [3, 1], [1, 4]], [[0, 5]]]
    """
    check_tensor(source, "source")
    if pad_value is not None:
        check_operand(pad_value, "pad_value")
    value = None if pad_value is None else number(pad_value, "pad_value")
    options: dict[str, Any] = {"stride": stride, "padding": padding, "value": value}
    if out_spatial_dim is not None:
        options["out_dim"] = out_spatial_dim
    place = source.dims.index(source.axis(spatial_dim))
    if padding == "same" and not (window_left is None and window_right is None):
        own = source.axis(spatial_dim)
        left, right = _sides(window_left, window_right, window_dim.max_size())
        source = _dims.pad(source, own, left, right, value=value)
        out = own if stride == 1 else own.ceildiv_right(stride)
        options = {"out_dim": out, **options, "padding": "valid"}
        spatial_dim = source.dims[place]
    result = _dims.window(source, spatial_dim, window_dim, **options)
    return as_tensor(result), result.dims[place]


def _sides(left: Dim | int | None, right: Dim | int | None, width: int) -> tuple[int, int]:
    """How many positions of a window are before the one that it belongs to, and behind it."""
    left_size, right_size = (side.max_size() if isinstance(side, Dim) else side for side in (left, right))
    left_size = width - 1 - (right_size or 0) if left_size is None else left_size
    right_size = width - 1 - left_size if right_size is None else right_size
    if left_size + 1 + right_size != width:
        raise value_error(
            "window_left", f"{left_size} + {right_size} + 1 differs from the size of window_dim, {width}"
        )
    return left_size, right_size


def pool(
    source: Data[Any],
    *,
    nd: int | None = None,
    mode: str,
    pool_size: int | Sequence[int],
    padding: str | int | Sequence[int] = "valid",
    dilation_rate: int | Sequence[int] = 1,
    strides: int | Sequence[int] | None = None,
    in_spatial_dims: Dim | Sequence[Dim],
    out_spatial_dims: Dim | Sequence[Dim] | None = None,
    use_mask: bool | None = None,
) -> tuple[Tensor, list[Dim]]:
    """Pool the numbers in windows along some dims.

    Parameters
    ----------
    source
        Numbers.
    nd
        The number of dims, to check it.
    mode
        "max" or "avg".
    pool_size
        The size of a window, for all dims or for each.
    padding
        "valid", "same", or the number of positions to add at both ends.
    dilation_rate
        The distance between positions of a window.
    strides
        The distance between windows; `pool_size` by default.
    in_spatial_dims
        The dims.
    out_spatial_dims
        The dims of the windows.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    tuple of Tensor and list of Dim
        The dims of the windows.

    Raises
    ------
    ValueError
        The mode is unknown, or the number of dims is not `nd`.

    Notes
    -----
    Positions outside a row do not count; RETURNN counts them as 0 in a mean.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[4, 2])
    >>> x = vl.Data(np.array([3.0, 1, 4, 1, 5, 9]), [vl.dims.batch_dim, time])
    >>> rf.pool(x, mode="avg", pool_size=2, in_spatial_dims=[time])[0].to_list()
    [[2.0, 2.5], [7.0]]
    """
    check_tensor(source, "source")
    modes = {"max": "max", "avg": "mean"}
    if mode not in modes:
        raise value_error("mode", f"expected 'max' or 'avg', got {mode!r}")
    axis_dims, out = _several(in_spatial_dims), _several(out_spatial_dims)
    if nd not in (None, len(axis_dims)):
        raise value_error("nd", f"{nd}, but there are {len(axis_dims)} dims")
    places = [source.dims.index(source.axis(dim)) for dim in axis_dims]
    options: dict[str, Any] = {"dilation": dilation_rate, "padding": padding}
    if out:
        options["out_dim"] = out
    result = _dims.pool(source, modes[mode], axis_dims, pool_size, strides or None, **options)
    return as_tensor(result), [result.dims[place] for place in places]


def _several(dims: Dim | Sequence[Dim] | None) -> list[Dim]:
    return [] if dims is None else [dims] if isinstance(dims, Dim) else list(dims)


def pool1d(
    source: Data[Any],
    *,
    mode: str,
    pool_size: int,
    padding: str = "valid",
    dilation_rate: int = 1,
    strides: int | None = None,
    in_spatial_dim: Dim,
    out_spatial_dim: Dim | None = None,
) -> tuple[Tensor, Dim]:
    """Pool the numbers in windows along a dim.

    Parameters
    ----------
    source, mode, pool_size, padding, dilation_rate, strides
        As in `pool`.
    in_spatial_dim
        The dim.
    out_spatial_dim
        The dim of the windows.

    Returns
    -------
    tuple of Tensor and Dim
        The dim of the windows.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[4, 2])
    >>> x = vl.Data(np.array([3.0, 1, 4, 1, 5, 9]), [vl.dims.batch_dim, time])
    >>> rf.pool1d(x, mode="avg", pool_size=2, in_spatial_dim=time)[0].to_list()
    [[2.0, 2.5], [7.0]]
    """
    check_tensor(source, "source")
    result, (dim,) = pool(
        source,
        mode=mode,
        pool_size=pool_size,
        padding=padding,
        dilation_rate=dilation_rate,
        strides=strides,
        in_spatial_dims=in_spatial_dim,
        out_spatial_dims=out_spatial_dim,
    )
    return result, dim


def conv(
    source: Data[Any],
    *,
    in_dim: Dim,
    out_dim: Dim,
    in_spatial_dims: Sequence[Dim],
    out_spatial_dims: Sequence[Dim] | None = None,
    filter: Data[Any],
    filter_size: Sequence[Dim],
    padding: str | int | Sequence[int],
    strides: int | Sequence[int] | None = None,
    dilation_rate: int | Sequence[int] | None = None,
    groups: int | None = None,
    bias: Data[Any] | None = None,
    use_mask: bool | None = None,
) -> tuple[Tensor, list[Dim]]:
    """Convolve along one dim, without reversing the filter.

    Parameters
    ----------
    source
        Numbers with channels.
    in_dim, out_dim
        The input and output channels.
    in_spatial_dims
        The dim to convolve along, in a list.
    out_spatial_dims
        The dim of the result, in a list.
    filter
        Weights over `in_dim`, `out_dim` and the dim of `filter_size`.
    filter_size
        The dim of the filter's positions, in a list.
    padding
        "valid", "same", or the number of zeros to add at both ends.
    strides
        The distance between places of the filter; 1 by default.
    dilation_rate
        The distance between the positions that one place reads; 1 by default.
    groups
        The number of groups of channels that do not mix; 1 by default.
    bias
        A number for each output channel.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    tuple of Tensor and list of Dim
        The result, and its dim.

    Raises
    ------
    ValueError
        There are several dims, or the filter has other dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time, one, taps = vl.Dim("time", lengths=[3, 1]), vl.Dim("one", 1), vl.Dim("taps", 2)
    >>> x = vl.Data(np.array([[3.0], [1.0], [4.0], [5.0]]), [vl.dims.batch_dim, time, one])
    >>> difference = vl.Data(np.array([[[-1.0]], [[1.0]]]), [taps, one, vl.Dim("out", 1)])
    >>> dims = {"in_dim": one, "out_dim": difference.dims[2], "in_spatial_dims": [time]}
    >>> y, (shorter,) = rf.conv(x, filter=difference, filter_size=[taps], padding="valid", **dims)
    >>> y.to_list(), shorter == time - 1
    ([[[-2.0], [3.0]], []], True)
    """
    check_tensor(source, "source")
    check_tensor(filter, "filter")
    if bias is not None:
        check_tensor(bias, "bias")
    place = source.dims.index(source.axis(_one(in_spatial_dims, "in_spatial_dims")))
    _check_taps(filter, filter_size)
    result = _dims.conv1d(
        source,
        filter,
        source.dims[place],
        in_dim,
        out_dim,
        stride=_one(strides, "strides", 1),
        dilation=_one(dilation_rate, "dilation_rate", 1),
        padding=_one(padding, "padding"),
        groups=groups or 1,
        bias=bias,
        out_spatial_dim=_one(out_spatial_dims, "out_spatial_dims"),
    )
    return as_tensor(result), [result.dims[place]]


def transposed_conv(
    source: Data[Any],
    *,
    in_dim: Dim,
    out_dim: Dim,
    in_spatial_dims: Sequence[Dim],
    out_spatial_dims: Sequence[Dim] | None = None,
    filter: Data[Any],
    filter_size: Sequence[Dim],
    padding: str,
    remove_padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int | None] | None = None,
    strides: int | Sequence[int] | None = None,
    bias: Data[Any] | None = None,
    use_mask: bool | None = None,
) -> tuple[Tensor, list[Dim]]:
    """Transposed convolution along one dim: each position adds a scaled copy of the filter.

    Parameters
    ----------
    source, in_dim, out_dim, in_spatial_dims, out_spatial_dims, filter, filter_size, bias, use_mask
        As in `conv`.
    padding
        "valid" or "same".
    remove_padding
        The number of positions to cut off at both ends of the result.
    output_padding
        None or 0.
    strides
        The distance between copies; the size of the filter by default.

    Returns
    -------
    tuple of Tensor and list of Dim
        The result, and its dim.

    Raises
    ------
    ValueError
        There are several dims, the filter has other dims, or `output_padding` is not 0.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time, one, taps = vl.Dim("time", lengths=[2, 1]), vl.Dim("one", 1), vl.Dim("taps", 2)
    >>> x = vl.Data(np.array([[1.0], [10.0], [5.0]]), [vl.dims.batch_dim, time, one])
    >>> twice = vl.Data(np.ones((2, 1, 1)), [taps, one, vl.Dim("out", 1)])
    >>> dims = {"in_dim": one, "out_dim": twice.dims[2], "in_spatial_dims": [time]}
    >>> y, (longer,) = rf.transposed_conv(x, filter=twice, filter_size=[taps], padding="valid", **dims)
    >>> y.values.ravel(), longer == time * 2
    (array([ 1.,  1., 10., 10.,  5.,  5.]), True)
    """
    check_tensor(source, "source")
    check_tensor(filter, "filter")
    if bias is not None:
        check_tensor(bias, "bias")
    place = source.dims.index(source.axis(_one(in_spatial_dims, "in_spatial_dims")))
    _check_taps(filter, filter_size)
    if _one(output_padding, "output_padding"):
        raise value_error("output_padding", f"expected None or 0, got {output_padding}")
    cut = _one(remove_padding, "remove_padding", 0)
    user_dim = _one(out_spatial_dims, "out_spatial_dims")
    result = _dims.transposed_conv1d(
        source,
        filter,
        source.dims[place],
        in_dim,
        out_dim,
        stride=_one(strides, "strides", filter_size[0].max_size()),
        padding=padding,
        bias=bias,
        out_spatial_dim=None if cut else user_dim,
    )
    if cut:
        result = _dims.slice(result, result.dims[place], cut, -cut, out_dim=user_dim)
    return as_tensor(result), [result.dims[place]]


def _one(value: Any, argument: str, default: Any = None) -> Any:
    """The value for the one dim."""
    if value is None:
        return default
    if not isinstance(value, (list, tuple)):
        return value
    if len(value) != 1:
        raise value_error(argument, f"expected one dim, along which the convolution runs, got {len(value)}")
    return value[0]


def _check_taps(filter: Data[Any], filter_size: Sequence[Dim]) -> None:
    taps = _one(filter_size, "filter_size")
    if taps not in filter.dims_set:
        raise value_error("filter_size", f"'{taps.name}' is not among the dims of {filter!r}")


def make_conv_out_spatial_dims(
    in_spatial_dims: Sequence[Dim],
    *,
    filter_size: Dim | int | Sequence[Dim | int],
    padding: str | int | Sequence[int],
    strides: int | Sequence[int] = 1,
    dilation_rate: int | Sequence[int] = 1,
    description_prefix: str | None = None,
) -> list[Dim]:
    """The dims of the result of a convolution or a pooling.

    Parameters
    ----------
    in_spatial_dims
        The dims to convolve along.
    filter_size
        The size of the filter, for all dims or for each.
    padding, strides, dilation_rate
        As in `conv`, for all dims or for each.
    description_prefix
        Accepted for compatibility: the dims get the names of their expressions.

    Returns
    -------
    list of Dim
        One dim for each.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[5, 3])
    >>> rf.make_conv_out_spatial_dims([time], filter_size=3, padding="valid")[0].lengths
    array([3, 1])
    """
    options = [
        list(option) if isinstance(option, (list, tuple)) else [option] * len(in_spatial_dims)
        for option in (filter_size, strides, dilation_rate, padding)
    ]
    return [
        _dims.conv_out_dim(dim, size, stride=stride, dilation=dilation, padding=pads)
        for dim, size, stride, dilation, pads in zip(in_spatial_dims, *options, strict=True)
    ]
