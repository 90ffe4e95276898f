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
    keys = queries if isinstance(queries, torch.Tensor) else torch.from_numpy(queries)
    if values.device.type == "cpu" or {values.dtype, keys.dtype} & {*_UNORDERED}:
        numbers = on_host.search(readable(values), level, readable(keys), sequences, side)
        return like(numbers, values)
    rows, keys = values.detach(), keys.detach().to(values.device)
    begin: Any = like(level.offsets[sequences], values)
    low, high = begin, like(level.offsets[sequences + 1], values)
    for _ in range(int(level.longest).bit_length()):
        middle = (low + high) >> 1
        candidates = rows[middle.clamp(max=len(rows) - 1)]
        is_right = is_before(candidates, keys) if side == "left" else ~is_before(keys, candidates)
        is_right = is_right & (low < high)
        low, high = torch.where(is_right, middle + 1, low), torch.where(is_right, high, middle)
    return low - begin
