"""Numbers looked up in sequences of arrays that ascend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from varlen._core import Level


def search(values: Any, level: Level, queries: Any, sequences: Any, side: str) -> Any:
    """The place inside its sequence, which ascends, before which each query goes: int64."""
    begin = level.offsets[sequences]
    low, high = begin.copy(), level.offsets[sequences + 1]
    for _ in range(int(level.longest).bit_length()):
        middle = (low + high) >> 1
        candidates = values[np.minimum(middle, len(values) - 1)]
        is_right = is_before(candidates, queries) if side == "left" else ~is_before(queries, candidates)
        is_right &= low < high
        low, high = np.where(is_right, middle + 1, low), np.where(is_right, high, middle)
    return low - begin


def is_before(a: Any, b: Any) -> Any:
    """Whether a comes before b, in the order of sorting: NaN last."""
    return (a < b) | ((b != b) & (a == a))
