"""Numbers looked up in sequences of tensors that ascend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen.backends.numpy import search as on_host
from varlen.backends.numpy.search import is_before
from varlen.backends.torch.memory import like, readable

if TYPE_CHECKING:
    from varlen._core import Level

_UNORDERED = (torch.uint16, torch.uint32, torch.uint64)  # on devices torch cannot compare them


def search(values: torch.Tensor, level: Level, queries: Any, sequences: Any, side: str) -> torch.Tensor:
    """The place in its sorted sequence before which each query goes; a device waits for nothing."""
    asked = queries if isinstance(queries, torch.Tensor) else torch.from_numpy(queries)
    if values.device.type == "cpu" or {values.dtype, asked.dtype} & {*_UNORDERED}:
        numbers = on_host.search(readable(values), level, readable(asked), sequences, side)
        return like(numbers, values)
    rows, asked = values.detach(), asked.detach().to(values.device)
    begin: Any = like(level.offsets[sequences], values)
    low, high = begin, like(level.offsets[sequences + 1], values)
    for _ in range(int(level.longest).bit_length()):
        middle = (low + high) >> 1
        candidates = rows[middle.clamp(max=len(rows) - 1)]
        behind = is_before(candidates, asked) if side == "left" else ~is_before(asked, candidates)
        behind = behind & (low < high)
        low, high = torch.where(behind, middle + 1, low), torch.where(behind, high, middle)
    return low - begin
