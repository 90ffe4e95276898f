"""Some sequences of arrays as a rectangle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.levels import equal_lengths

if TYPE_CHECKING:
    from varlen.levels import Levels


def picked_levels(levels: Levels, indices: Any) -> Levels:
    """The levels of the sequences that indices name.

    Raises
    ------
    IndexError
        One is out of range.

    Examples
    --------
    >>> picked_levels((vl.Level([3, 0, 2]),), [2, 2])
    (Level(2 sequences, 4 rows, lengths 2 to 2),)
    """
    levels_of_picked: Levels = _core.gather(np.empty((levels[-1].total, 0), np.uint8), levels, indices)[1]
    return levels_of_picked


def numbers_named(levels: Levels, indices: Any) -> Any:
    """The numbers of the sequences that indices name, for which no length is looked at.

    Raises
    ------
    IndexError
        One is out of range.

    Examples
    --------
    >>> numbers_named((vl.Level([3, 0, 2]),), [-1, 0])
    array([2, 0])
    """
    count = len(levels[0])
    return _core.gather(np.arange(count), (equal_lengths(count, 1),), indices)[0]


class DenseOptions(NamedTuple):
    """What the core's `gather_dense` takes behind values, levels and indices, in its order.

    Examples
    --------
    >>> DenseOptions("left", -1).pad_to_multiple
    1
    """

    padding_side: str = "right"
    fill: Any = None
    max_len: Any = None
    truncate: str = "right"
    dtype: Any = None
    pad_to_multiple: int = 1
    max_bytes: int | None = None


def gather_dense(values: Any, levels: Levels, indices: Any, positions: bool, *given: Any) -> tuple[Any, ...]:
    """A rectangle and its mask, with positions behind them where they are asked for, by `DenseOptions`.

    Examples
    --------
    >>> gather_dense(np.array([3, 1, 4]), (vl.Level([2, 1]),), [1, 0], False, *DenseOptions(fill=-1))[0]
    array([[ 4, -1],
           [ 3,  1]])
    """
    picked, source = levels, None
    if indices is not None:
        picked, source = picked_levels(levels, indices), levels
    return _core.gather_dense(values, picked, source, indices, positions, *given)
