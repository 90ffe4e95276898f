"""What the forms of levels mean, in plain Python on nested lists: the oracle of their doors and views."""

from __future__ import annotations

from typing import Any

from oracles.verbs import Rows, offsets


def size(nested: Rows, depth: int) -> int:
    """How many rows lie `depth` levels below a list.

    >>> size([[7, 8], [], [9]], 1)
    3
    """
    return len(nested) if depth == 0 else sum(size(each, depth - 1) for each in nested)


def absolute(nested: Rows, depth: int) -> list[list[int]]:
    """Offsets of each of `depth` levels, outermost first, all in rows.

    >>> absolute([[[7, 8], [9]], []], 2)
    [[0, 3, 3], [0, 2, 3]]
    """
    out = []
    for below in reversed(range(depth)):
        out.append(offsets([size(each, below) for each in nested]))
        nested = [x for each in nested for x in each]
    return out


def seq_pos(nested: Rows, depth: int) -> list[list[int]]:
    """Where sequences start in the one that holds them, breadth first.

    >>> seq_pos([[[7, 8], [9]], [[4]]], 2)
    [[0, 3], [0, 2], [0]]
    """
    out, group = [], [nested]
    for below in reversed(range(depth)):
        out += [offsets([size(each, below) for each in one])[:-1] for one in group]
        group = [each for one in group for each in one]
    return out


def routed(nested: Rows, mask: list[Any], depth: int, which: bool) -> list[Any]:
    """The sequences `depth` lists down that a mask says `which` of; it is used up from its front.

    >>> routed([[7, 8], [], [9]], [True, False, True], 1, True)
    [[7], [], [9]]
    """
    if depth:
        return [routed(each, mask, depth - 1, which) for each in nested]
    return [each for each in nested if mask.pop(0) == which]
