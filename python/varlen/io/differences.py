"""Where the same rows of two data sets differ: in a level, or in a value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from varlen import _core
from varlen.io.dtypes import joint_row

__all__: list[str] = []


class Difference(NamedTuple):
    """A row, what differs in it, and both numbers."""

    what: str
    row: int
    one: object
    other: object


def level_difference(one: _core.Joint, other: _core.Joint, depth: int) -> Difference | None:
    """The first of the levels down to `depth` in which a sequence has another length."""
    for dim in range(1, depth + 1):
        a, b = one.level(dim), other.level(dim)
        if a is b or (len(a) == len(b) and np.array_equal(a.offsets, b.offsets)):
            continue
        count = min(len(a), len(b))  # they are as many, where the level above is the same
        place = int(np.argmax(a.lengths[:count] != b.lengths[:count]))
        numbers = int(a.lengths[place]), int(b.lengths[place])
        return Difference(f"dim{dim}", joint_row(one, dim - 1, place), *numbers)
    return None


def value_difference(one: _core.Joint, other: _core.Joint) -> Difference | None:
    """The first value of the first key that differs; NaN is as NaN."""
    for name, dim in zip(one.names, one.dims, strict=True):
        a, b = one.values(name), other.values(name)
        bad = (a != b) & ~((a != a) & (b != b))
        if bad.any():
            place = tuple(np.argwhere(bad)[0].tolist())
            return Difference(name, joint_row(one, dim, place[0]), a[place], b[place])
    return None
