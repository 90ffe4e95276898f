"""What edit distance and CTC mean, in plain Python on lists."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any


def edits(a: Sequence[Any], b: Sequence[Any]) -> tuple[int, int]:
    """The fewest edits that make `a` from `b`, and the fewest substitutions among such ways.

    >>> edits("kitten", "sitting")
    (3, 2)
    """
    row = [(j, 0) for j in range(len(b) + 1)]
    for i, x in enumerate(a):
        above, row = row, [(i + 1, 0)]
        for j, y in enumerate(b):
            corner = above[j] if x == y else (above[j][0] + 1, above[j][1] + 1)
            row.append(min(corner, *((n + 1, s) for n, s in (row[j], above[j + 1]))))
    return row[-1]


def ctc_loss(log_probs: Sequence[Sequence[float]], labels: Sequence[int], blank: int = 0) -> float:
    """Minus the log of the probability of the labels: that of all ways to give a class to each row.

    >>> round(ctc_loss([[math.log(0.25), math.log(0.75)]], [1]), 4)
    0.2877
    """
    # For the labels so far, the probability by the last class.
    ways: dict[tuple[int, ...], dict[int, float]] = {(): {blank: 1.0}}
    for row in log_probs:
        before, ways = ways, {}
        for seen, by_last in before.items():
            for last, p in by_last.items():
                for c in {blank, last, *labels}:
                    now = seen if c in (blank, last) else (*seen, c)
                    ways.setdefault(now, {}).setdefault(c, 0.0)
                    ways[now][c] += p * math.exp(row[c])
    p = sum(ways.get(tuple(labels), {}).values())
    return -math.log(p) if p else math.inf
