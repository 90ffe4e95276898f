"""Convolutions along sequences: all lie end to end in one long sequence, apart by the padding of each."""

from __future__ import annotations

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
    lengths = level.lengths
    extents = np.where(lengths > 0, lengths + left + right, 0)
    counts = np.where(extents > reach, (extents - reach - 1) // step + 1, 0)
    # Each begins at a multiple of the step, so that its windows begin there too.
    spans = -(-extents // step) * step
    starts = np.cumsum(spans) - spans
    total = max(int(spans.sum()), reach + 1)
    order, device = np.arange(len(lengths)), str(x.device)
    blocks = ToPlaces.apply(x, places_of(level, order, starts + left, total, device))
    y = function(blocks.T.unsqueeze(0), weight, bias, step, 0, gap, groups)[0].T
    result = Level(counts)
    return FromPlaces.apply(y, places_of(result, order, starts // step, len(y), device)), result


def _number(value: Any) -> int:
    """One number, alone or as torch's modules have it, in a tuple."""
    return int(value[0] if isinstance(value, (tuple, list)) else value)
