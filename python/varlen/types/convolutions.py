"""Layers of torch that go along each sequence, alone: convolutions, pooling, padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen._core import RaggedBase
from varlen.arguments import as_int, one_of
from varlen.errors import value_error
from varlen.ops.support.inputs import regroup, same_kind
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
    from varlen.backends.torch.conv import pool

    stride = x.get("stride") or x["kernel_size"]
    rows, level, *numbers = pool(
        values, r._levels[-1], x["kernel_size"], stride, x.get("padding", 0), x.get("dilation", 1),
        is_max, x.get("count_include_pad", True), x.get("ceil_mode", False),
        has_places=name == "max_pool1d_with_indices" or bool(x.get("return_indices")),
    )  # fmt: skip
    results = [regroup(r, part, (*r._levels[:-1], level)) for part in (rows, *numbers)]
    return tuple(results) if numbers else results[0]


def _lp_pool(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The root of the sum of powers of the rows of each window, as torch has it."""
    x = call_arguments("input norm_type kernel_size stride ceil_mode", args, kwargs)
    r, power, width = x["input"], x["norm_type"], x["kernel_size"]
    channel_rows(r, name)
    from torch import sign
    from torch.nn.functional import avg_pool1d, relu

    mean: Any = avg_pool1d(r**power, width, x.get("stride"), 0, x.get("ceil_mode", False))
    width = width[0] if isinstance(width, (tuple, list)) else width
    return (sign(mean) * relu(abs(mean)) * width) ** (1.0 / power)


def _pad(name: str, func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """Rows in front of each sequence and behind it; numbers for channels come first, as torch has them."""
    x = call_arguments("input pad mode value", args, kwargs)
    r, mode = x["input"], x.get("mode", "constant")
    if isinstance(r, RaggedBase) and r._values.ndim == 1:  # numbers have no channels
        pads = (0, 0, *x["pad"]) if mode == "constant" and len(x["pad"]) == 2 else x["pad"]
        result = _pad(name, func, (), {**x, "input": same_kind(r, r._values.reshape(-1, 1)), "pad": pads})
        return same_kind(result, result._values[:, 0])
    values = channel_rows(r, name)
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
    "lp_pool1d": _lp_pool,
    "pad": _pad,
}

# Functions of torch that pool the steps of a batch to a number of them, and the method that pools to one.
POOLS = {
    "adaptive_avg_pool1d": "mean",
    "adaptive_max_pool1d": "max",
    "adaptive_max_pool1d_with_indices": "max",
}
