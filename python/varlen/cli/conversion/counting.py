"""Counts of a conversion's input, before anything changes it, for its account."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.io.account import REPEATS, Account

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import Joint

__all__ = ["count_groups", "count_list"]


def count_list(items: Sequence[object], depth: int, *, careful: bool) -> tuple[int, int]:
    """The number of values in nested lists and, if `careful`, of nulls.

    >>> count_list([[1, 2], None, [None]], 1, careful=True)
    (3, 1)
    """
    for _ in range(depth - 1):
        items = list(chain.from_iterable(item for item in items if type(item) is list))
    if depth == 0:
        return len(items), items.count(None) if careful else 0
    lists: Iterable[list[Any]] = [item for item in items if type(item) is list]
    return sum(map(len, lists)), sum(item.count(None) for item in lists) if careful else 0


def count_groups(account: Account, rows: int, source: Joint, result: Joint, groups: tuple[str, ...]) -> None:
    """Counts the rows that share a record, and the repeated values of group and constant columns."""
    if not groups:
        return
    account.leave_out(None, "nested into groups", rows - len(result))
    counts = [len(source), *(source.level(dim).total for dim in range(1, len(groups) + 1))]
    for name, dim, old in zip(result.names, result.dims, source.dims, strict=True):
        if name in groups:
            account.leave_out(name, REPEATS, rows - counts[groups.index(name)], 0)
        elif dim != old:
            nulls = [_nulls(joint.values(name)) for joint in (source, result)]
            account.leave_out(name, REPEATS, rows - counts[0], nulls[0] - nulls[1])


def _nulls(values: np.ndarray[tuple[Any, ...], np.dtype]) -> int:
    if values.dtype.kind in "mM":
        return int(np.count_nonzero(np.isnat(values)))
    return int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
