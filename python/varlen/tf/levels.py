"""Levels as TensorFlow's functions are given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from varlen._core import Level
from varlen.arguments import as_int
from varlen.backends.values import as_ints
from varlen.levels import level_from

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]


def level_of_ids(ids: object, count: object, argument: str, count_name: str) -> Level:
    """The level of row numbers, of as many sequences where a count is given."""
    sequences = -1 if count is None else as_int(count, count_name)
    return level_from(ids, lambda x: Level.from_row_ids(as_ints(x), sequences), argument)
