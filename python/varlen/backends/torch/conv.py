"""Convolutions and pooling along sequences, which lie end to end in one, apart by the padding of each."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from varlen._core import Level
from varlen.backends.torch.blocks import FromPlaces, ToPlaces, places_of
from varlen.errors import value_error


def convolve(
    function: Callable[..., torch.Tensor], x: torch.Tensor, level: Level, weight: torch.Tensor,
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
    windows = functools.partial(function, weight=weight, bias=bias, stride=step, dilation=gap, groups=groups)
    return _slide(windows, x, level, reach, step, (left, right))


def pool(
    function: Callable[..., torch.Tensor], x: torch.Tensor, level: Level, kernel: Any, stride: Any,
    padding: Any, dilation: Any, is_max: bool, counts_padding: bool,
) -> tuple[torch.Tensor, Level]:  # fmt: skip
    """The largest or the mean of windows of rows, and their level."""
    width, step, pad, gap = map(_number, (kernel, stride, padding, dilation))
    reach = gap * (width - 1)
    if not 0 <= 2 * pad <= width:
        raise value_error("padding", f"expected 0 to half of the kernel, {width // 2}, got {pad}", number=pad)
    options = {"dilation": gap} if is_max else {}
    windows = functools.partial(function, kernel_size=width, stride=step, **options)
    rows, result = _slide(windows, x, level, reach, step, (pad, pad), -math.inf if is_max else 0.0)
    if not is_max and not counts_padding and pad:
        rows = rows / _slide(windows, torch.ones_like(x[:, :1]), level, reach, step, (pad, pad))[0]
    return rows, result


def _slide(
    windows: Callable[[torch.Tensor], torch.Tensor], x: torch.Tensor, level: Level, reach: int, step: int,
    padding: tuple[int, int], fill: float = 0.0,
) -> tuple[torch.Tensor, Level]:  # fmt: skip
    """What a function of windows gives along each sequence."""
    left, right = padding
    lengths = level.lengths
    extents = np.where(lengths > 0, lengths + left + right, 0)
    counts = np.where(extents > reach, (extents - reach - 1) // step + 1, 0)
    # Each begins at a multiple of the step, so that its windows begin there too.
    spans = -(-extents // step) * step
    starts = np.cumsum(spans) - spans
    total = max(int(spans.sum()), reach + 1)
    order, device = np.arange(len(lengths)), str(x.device)
    places = places_of(level, order, starts + left, total, device)
    blocks = ToPlaces.apply(x, places)
    if fill and places.padding is not None:
        blocks = blocks.index_fill(0, places.padding, fill)
    y = windows(blocks.T.unsqueeze(0))[0].T
    result = Level(counts)
    return FromPlaces.apply(y, places_of(result, order, starts // step, len(y), device)), result


def _number(value: Any) -> int:
    """One number, alone or as torch's modules have it, in a tuple."""
    return int(value[0] if isinstance(value, (tuple, list)) else value)
