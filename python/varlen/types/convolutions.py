"""Layers of torch that go along each sequence, alone: convolutions, pooling, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import as_int, one_of
from varlen.errors import type_error, value_error
from varlen.ops.support.inputs import regroup
from varlen.types.channels import call_arguments, channel_rows

if TYPE_CHECKING:
    from collections.abc import Callable

_PADS = ("constant", "reflect", "replicate", "circular")


def _conv(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A convolution along each sequence."""
    x = call_arguments("input weight bias stride padding dilation groups", args, kwargs)
    r: Any = x.pop("input")
    values = channel_rows(r, name)
    from varlen.backends.torch.conv import convolve

    rows, level = convolve(values, r._levels[-1], **x)
    return regroup(r, rows, (*r._levels[:-1], level))


def _conv_transpose(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A transposed convolution along each sequence."""
    x = call_arguments("input weight bias stride padding output_padding groups dilation", args, kwargs)
    r: Any = x.pop("input")
    values = channel_rows(r, name)
    from varlen.backends.torch.conv import convolve_transposed

    rows, level = convolve_transposed(values, r._levels[-1], **x)
    return regroup(r, rows, (*r._levels[:-1], level))


def _pool(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The largest or the mean of the rows of each window along a sequence."""
    is_max = name != "avg_pool1d"
    options = "dilation ceil_mode return_indices" if is_max else "ceil_mode count_include_pad"
    x = call_arguments(f"input kernel_size stride padding {options}", args, kwargs)
    r, values = x["input"], channel_rows(x["input"], name)
    if name == "max_pool1d_with_indices":
        raise type_error("return_indices", "pooling of a Ragged gives no indices", "leave it out")
    from varlen.backends.torch.conv import pool

    stride = x.get("stride") or x["kernel_size"]
    rows, level = pool(
        values, r._levels[-1], x["kernel_size"], stride, x.get("padding", 0), x.get("dilation", 1),
        is_max, x.get("count_include_pad", True), x.get("ceil_mode", False),
    )  # fmt: skip
    return regroup(r, rows, (*r._levels[:-1], level))


def _pad(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Rows in front of each sequence and behind it; numbers for channels come first, as torch has them."""
    x = call_arguments("input pad mode value", args, kwargs)
    r, mode, values = x["input"], x.get("mode", "constant"), channel_rows(x["input"], name)
    one_of(mode, "mode", _PADS)
    numbers = [as_int(number, "pad") for number in x["pad"]]
    if mode == "constant" and len(numbers) == 2:
        way = f"for sequences pass pad=(0, 0, {numbers[0]}, {numbers[1]}), for channels {(*numbers, 0, 0)}"
        raise value_error("pad", "2 numbers may be for channels or for sequences", way)
    if len(numbers) != (count := 4 if mode == "constant" else 2):
        raise value_error("pad", f"expected {count} numbers, got {len(numbers)}", number=len(numbers))
    from varlen.backends.torch.conv import extend, extend_alike

    if mode == "constant":
        fill = x.get("value") or 0
        left, right = numbers[2:]
        rows, level = extend(func(values, numbers[:2], value=fill), r._levels[-1], left, right, fill)
    else:
        left, right = numbers
        rows, level = extend_alike(values, r._levels[-1], left, right, mode)
    return regroup(r, rows, (*r._levels[:-1], level))


CONVOLUTIONS: dict[str, Callable[[str, Callable[..., Any], Any, dict[str, Any]], Any]] = {
    "conv1d": _conv,
    "conv_transpose1d": _conv_transpose,
    "max_pool1d": _pool,
    "max_pool1d_with_indices": _pool,
    "avg_pool1d": _pool,
    "pad": _pad,
}
