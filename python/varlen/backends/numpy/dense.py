"""Some sequences of arrays as a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.levels import equal_lengths

if TYPE_CHECKING:
    from varlen.levels import Levels


def picked_levels(levels: Levels, indices: Any) -> Levels:
    """The levels of the sequences that indices name."""
    levels_of_picked: Levels = _core.gather(np.empty((levels[-1].total, 0), np.uint8), levels, indices)[1]
    return levels_of_picked


def numbers_named(levels: Levels, indices: Any) -> Any:
    """The numbers of the sequences that indices name, for which no length is looked at."""
    count = len(levels[0])
    return _core.gather(np.arange(count), (equal_lengths(count, 1),), indices)[0]


class DenseOptions(NamedTuple):
    """What the core's `gather_dense` takes behind values, levels and indices, in its order."""

    padding_side: str = "right"
    fill: Any = None
    max_len: Any = None
    truncate: str = "right"
    dtype: Any = None
    pad_to_multiple: int = 1
    max_bytes: int | None = None


def gather_dense(values: Any, levels: Levels, indices: Any, positions: bool, *args: Any) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for, by `DenseOptions`."""
    nest, source = levels, None
    if indices is not None:
        nest, source = picked_levels(levels, indices), levels
    return _core.gather_dense(values, nest, source, indices, positions, *args)
