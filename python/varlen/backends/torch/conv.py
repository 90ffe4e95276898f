"""Convolutions and pooling along sequences, which lie end to end in one, apart by the padding of each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn.functional import avg_pool1d, max_pool1d

from varlen._core import Level
from varlen.backends.torch.blocks import FromPlaces, ToPlaces, places_of
from varlen.backends.torch.layer_op import LayerOp, Tensors
from varlen.errors import value_error


def convolve(
    x: torch.Tensor, level: Level, weight: torch.Tensor,
    bias: torch.Tensor | None = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> tuple[torch.Tensor, Level]:  # fmt: skip
    """Rows (total, channels out) and their level; a sequence shorter than the kernel has none."""
    step, gap = _number(stride), _number(dilation)
    reach = gap * (weight.shape[-1] - 1)
    if padding == "same":
        left, right = reach // 2, reach - reach // 2
    else:
        left = right = 0 if padding == "valid" else _number(padding)
    if x.shape[1] != weight.shape[1] * groups:
        raise value_error(
            "input", f"rows have {x.shape[1]} channels, the weight takes {weight.shape[1] * groups}"
        )
    inputs = [x, weight] if bias is None else [x, weight, bias]
    result: tuple[torch.Tensor, Level] = _conv(inputs, [level], step, left, right, gap, groups)
    return result


def _run_conv(
    inputs: Tensors, levels: list[Level], step: int, left: int, right: int, gap: int, groups: int
) -> tuple[torch.Tensor, Level]:
    x, weight, *bias = inputs
    windows = functools.partial(
        torch.conv1d, weight=weight, bias=bias[0] if bias else None, stride=step, dilation=gap, groups=groups
    )
    return _slide(windows, x, levels[0], gap * (weight.shape[-1] - 1), step, (left, right))


_conv: LayerOp = LayerOp(
    "conv1d",
    "SymInt step, SymInt left, SymInt right, SymInt gap, SymInt groups",
    _run_conv,
    lambda inputs, *_: [inputs[1].shape[:1]],
    nests=True,
)


def convolve_transposed(
    x: torch.Tensor, level: Level, weight: torch.Tensor,
    bias: torch.Tensor | None = None, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
    groups: int = 1, dilation: Any = 1,
) -> tuple[torch.Tensor, Level]:  # fmt: skip
    """Rows (total, channels out) and their level; each row of x adds to those around its place."""
    step, pad, extra, gap = [_number(value) for value in (stride, padding, output_padding, dilation)]
    if x.shape[1] != weight.shape[0]:
        raise value_error("input", f"rows have {x.shape[1]} channels, the weight takes {weight.shape[0]}")
    if not 0 <= extra < max(step, gap):
        text = f"expected less than the stride or the dilation, {max(step, gap)}, got {extra}"
        raise value_error("output_padding", text, number=extra)
    inputs = [x, weight] if bias is None else [x, weight, bias]
    result: tuple[torch.Tensor, Level] = _conv_transpose(inputs, [level], step, pad, extra, gap, groups)
    return result


def _run_conv_transpose(
    inputs: Tensors, levels: list[Level], step: int, pad: int, extra: int, gap: int, groups: int
) -> tuple[torch.Tensor, Level]:
    (x, weight, *bias), level = inputs, levels[0]
    lengths, reach = level.lengths, gap * (weight.shape[-1] - 1)
    extents = (lengths - 1) * step + reach + 1
    counts = np.where(lengths > 0, np.maximum(extents + extra - 2 * pad, 0), 0)
    # Apart by as many rows as keep what they add from each other.
    spans = np.where(lengths > 0, -(-(extents + max(extra - pad, 0)) // step), 0)
    starts = np.cumsum(spans) - spans
    order, device = np.arange(len(lengths)), str(x.device)
    blocks = ToPlaces.apply(x, places_of(level, order, starts, int(spans.sum()) + 1, device))
    y = torch.conv_transpose1d(
        blocks.T.unsqueeze(0), weight, bias[0] if bias else None, stride=step, groups=groups, dilation=gap
    )[0].T
    result = Level(counts)
    return FromPlaces.apply(y, places_of(result, order, starts * step + pad, len(y), device)), result


_conv_transpose: LayerOp = LayerOp(
    "conv_transpose1d",
    "SymInt step, SymInt pad, SymInt extra, SymInt gap, SymInt groups",
    _run_conv_transpose,
    lambda inputs, offsets, step, pad, extra, gap, groups: [(inputs[1].shape[1] * groups,)],
    nests=True,
)


def extend(x: torch.Tensor, level: Level, left: int, right: int, fill: float) -> tuple[torch.Tensor, Level]:
    """Rows with as many of one number in front of each sequence and behind it, and their level."""
    result: tuple[torch.Tensor, Level] = _extend([x], [level], left, right, fill)
    return result


def _run_extend(
    inputs: Tensors, levels: list[Level], left: int, right: int, fill: float
) -> tuple[torch.Tensor, Level]:
    (x,), (level,) = inputs, levels
    result = Level(level.lengths + (left + right))
    places = places_of(
        level, np.arange(len(level)), result.offsets[:-1] + left, result.total, str(x.device)
    )  # fmt: skip
    rows = ToPlaces.apply(x, places)
    return rows if not fill or places.padding is None else rows.index_fill(0, places.padding, fill), result


_extend: LayerOp = LayerOp(
    "extend_rows",
    "SymInt left, SymInt right, float fill",
    _run_extend,
    lambda inputs, *_: [inputs[0].shape[1:]],
    nests=True,
    casts=False,
)


def extend_alike(
    x: torch.Tensor, level: Level, left: int, right: int, mode: str
) -> tuple[torch.Tensor, Level]:
    """Rows with others of their own sequence in front of it and behind it; an empty one stays empty."""
    result: tuple[torch.Tensor, Level] = _extend_alike([x], [level], left, right, mode)
    return result


def _run_extend_alike(
    inputs: Tensors, levels: list[Level], left: int, right: int, mode: str
) -> tuple[torch.Tensor, Level]:
    (x,), (level,) = inputs, levels
    lengths = level.lengths
    minimum = {"reflect": max(left, right) + 1, "circular": max(left, right), "replicate": 1}[mode]
    short = np.flatnonzero((lengths > 0) & (lengths < minimum))
    if len(short):
        row = int(short[0])
        text = f"{mode} by {max(left, right)} takes {minimum} rows, sequence {row} has {lengths[row]}"
        raise value_error("pad", text, row=row, number=int(lengths[row]))
    result = Level(np.where(lengths > 0, lengths + (left + right), 0))
    steps, last = result.positions - left, lengths[result.row_ids] - 1
    if mode == "reflect":
        steps = last - np.abs(last - np.abs(steps))
    else:
        steps = steps % (last + 1) if mode == "circular" else np.clip(steps, 0, last)
    sources = torch.from_numpy(level.offsets[result.row_ids] + steps)
    return x.index_select(0, sources.to(x.device)), result


_extend_alike: LayerOp = LayerOp(
    "extend_rows_alike",
    "SymInt left, SymInt right, str mode",
    _run_extend_alike,
    lambda inputs, *_: [inputs[0].shape[1:]],
    nests=True,
    casts=False,
)


def pool(
    x: torch.Tensor, level: Level, kernel: Any, stride: Any, padding: Any, dilation: Any, is_max: bool,
    counts_padding: bool, is_ceil: bool, has_places: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """The largest or the mean of windows of rows, and their level; `is_ceil`: some may end outside.

    `has_places`: behind them the places of the largest in their sequences.
    """
    width, step, pad, gap = [_number(value) for value in (kernel, stride, padding, dilation)]
    if not 0 <= 2 * pad <= width:
        raise value_error("padding", f"expected 0 to half of the kernel, {width // 2}, got {pad}", number=pad)
    options = (width, step, pad, gap, is_max, counts_padding, is_ceil, has_places)
    result: tuple[Any, ...] = _pool([x], [level], *options)
    return result


def _run_pool(
    inputs: Tensors, levels: list[Level], width: int, step: int, pad: int, gap: int, is_max: bool,
    counts_padding: bool, is_ceil: bool, has_places: bool,
) -> tuple[Any, ...]:  # fmt: skip
    (x,), (level,) = inputs, levels
    windows = (
        functools.partial(max_pool1d, kernel_size=width, stride=step, dilation=gap, return_indices=has_places)
        if is_max
        else functools.partial(avg_pool1d, kernel_size=width, stride=step)
    )
    ends = (pad, pad), -math.inf if is_max else 0.0, pad if is_ceil else None
    rows, result, *numbers = _slide(windows, x, level, gap * (width - 1), step, *ends)
    if not is_max and (is_ceil or (pad and not counts_padding)):
        first, lengths = result.positions * step - pad, level.lengths[result.row_ids]
        start, stop = (-pad, lengths + pad) if counts_padding else (0, lengths)
        sizes = np.minimum(first + width, stop) - np.maximum(first, start)
        shares = width / torch.from_numpy(sizes).to(x.device)
        rows = rows * shares.to(x.dtype if x.itemsize > 4 else torch.float32)[:, None]
    return (rows.to(x.dtype), result, *numbers)


_pool: LayerOp = LayerOp(
    "pool1d",
    "SymInt width, SymInt step, SymInt pad, SymInt gap, bool is_max, bool counts_padding, bool is_ceil,"
    " bool has_places",
    _run_pool,
    lambda inputs, *options: [inputs[0].shape[1:]] * (2 if options[-1] else 1),
    nests=True,
    casts=False,
)


def _slide(
    windows: Callable[[torch.Tensor], Any], x: torch.Tensor, level: Level, reach: int, step: int,
    padding: tuple[int, int], fill: float = 0.0, overhang: int | None = None,
) -> Any:  # fmt: skip
    """What a function of windows gives along each sequence, the level, and places, if it gives some.

    `overhang`: windows may end outside, that begin in a sequence or in so many rows in front of it.
    """
    left, right = padding
    lengths = level.lengths
    extents = np.where(lengths > 0, lengths + left + right, 0)
    if overhang is None:
        counts = np.where(extents > reach, (extents - reach - 1) // step + 1, 0)
    else:
        counts = np.maximum((extents - reach - 2 + step) // step + 1, 0)
        counts = np.where(lengths > 0, counts - ((counts - 1) * step >= lengths + overhang), 0)
        extents = np.where(counts > 0, np.maximum(extents, (counts - 1) * step + reach + 1), extents)
    # Each begins at a multiple of the step, so that its windows begin there too.
    spans = -(-extents // step) * step
    starts = np.cumsum(spans) - spans
    total = max(int(spans.sum()), reach + 1)
    order, device = np.arange(len(lengths)), str(x.device)
    places = places_of(level, order, starts + left, total, device)
    blocks = ToPlaces.apply(x, places)
    if fill and places.padding is not None:
        blocks = blocks.index_fill(0, places.padding, fill)
    results = windows(blocks.T.unsqueeze(0))
    results = results if isinstance(results, tuple) else (results,)
    result = Level(counts)
    places = places_of(result, order, starts // step, results[0].shape[-1], device)
    rows, *numbers = (FromPlaces.apply(y[0].T, places) for y in results)
    begins = torch.from_numpy((starts + left)[result.row_ids, None]).to(x.device) if numbers else 0
    return (rows, result, *(item - begins for item in numbers))


def _number(value: Any) -> int:
    """One number, alone or as torch's modules have it, in a tuple."""
    return int(value[0] if isinstance(value, (tuple, list)) else value)
