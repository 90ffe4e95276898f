"""What order inside sequences means, in plain Python on lists: the oracle of sorting and of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def places(row: Sequence[Any], descending: bool = False) -> list[int]:
    """The places of a row in the order of its numbers: NaN last, equal ones in their order.

    >>> places([3, 1, 4, 1]), places([3, 1, 4, 1], descending=True)
    ([1, 3, 0, 2], [2, 0, 1, 3])
    """
    sign = -1 if descending else 1
    keys = [(1, 0) if x != x else (0, sign * x) for x in row]
    return sorted(range(len(row)), key=lambda i: keys[i])


def groups(row: Sequence[Any], descending: bool = False) -> list[list[int]]:
    """The places of each distinct number, in the order of the numbers; all NaN are one.

    >>> groups([3, 1, 4, 1])
    [[1, 3], [0], [2]]
    """
    out: list[list[int]] = []
    for i in places(row, descending):
        last = row[out[-1][0]] if out else None
        if out and (row[i] == last or (row[i] != row[i] and last != last)):
            out[-1].append(i)
        else:
            out.append([i])
    return out


def ranks(row: Sequence[Any], method: str, descending: bool = False) -> list[Any]:
    """The rank of each number of a row, from 1; `method` says what equal ones get.

    >>> ranks([3, 1, 4, 1], "min"), ranks([3, 1, 4, 1], "average"), ranks([3, 1, 4, 1], "dense")
    ([3, 1, 4, 1], [3.0, 1.5, 4.0, 1.5], [2, 1, 3, 1])
    """
    out: list[Any] = [None] * len(row)
    before = 0
    for number, group in enumerate(groups(row, descending), start=1):
        low, high = before + 1, before + len(group)
        for k, i in enumerate(group):
            of = {"ordinal": low + k, "min": low, "max": high, "dense": number, "average": (low + high) / 2}
            out[i] = of[method]
        before = high
    return out
