"""How rows lie, in plain Python: gaps between sequences, and which rows see which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def spaced(nested: Sequence[Any], gap: int, zero: Any = 0) -> list[Any]:
    """Rows end to end, with so many zeros before each sequence that has rows and behind the last.

    >>> spaced([[1, 2], [], [3]], 1)
    [0, 1, 2, 0, 3, 0]
    """
    there = [row for row in nested if len(row)]
    rows = [x for row in there for x in [*[zero] * gap, *row]]
    return rows + [zero] * (gap if there else 0)


def block_mask(lengths: Sequence[int], before: int, behind: int) -> list[list[bool]]:
    """Which rows see which: those of their own sequence that are near enough.

    >>> block_mask([2], 1, 0)
    [[True, False], [True, True]]
    """
    of = [i for i, length in enumerate(lengths) for _ in range(length)]
    rows = range(len(of))
    return [[of[i] == of[j] and -before <= j - i <= behind for j in rows] for i in rows]
