"""Plans of ops, which depend on dims alone and are cached for the next call."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape

if TYPE_CHECKING:
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")

_MOST = 256
_MOST_BYTES = 16 << 20


class _Plans:
    """Those that were made lately, of all ops; the oldest goes first."""

    def __init__(self) -> None:
        self.entries: dict[Any, tuple[Any, Any, int]] = {}  # the plan, what it is for, its bytes
        self.epoch = 0
        self.bytes = 0
        self.changing = Lock()

    def keep(self, key: object, plan: object, args: object, epoch: int) -> None:
        size = _bytes_of(plan) + _bytes_of(args)
        # Nobody waits: in a forked child, the one that is at it may not exist.
        if size > _MOST_BYTES // 4 or not self.changing.acquire(blocking=False):
            return
        try:
            if self.epoch != epoch:
                self.entries, self.epoch, self.bytes = {}, epoch, 0
            if key not in self.entries:
                self.entries[key] = plan, args, size
                self.bytes += size
            while len(self.entries) > _MOST or self.bytes > _MOST_BYTES:
                self.bytes -= self.entries.pop(next(iter(self.entries)))[2]
        finally:
            self.changing.release()


_plans = _Plans()


def _bytes_of(x: object) -> int:
    """Roughly what is held: positions, and levels, which may know the sequence of each of their rows."""
    if isinstance(x, np.ndarray):
        return x.nbytes
    if isinstance(x, Level):
        return 8 * (len(x) + x.total)
    if isinstance(x, Shape):
        return 8 * x.count(x.ragged)
    return sum(map(_bytes_of, x)) if isinstance(x, (tuple, list)) else 0


def cached_plan(make: Callable[P, R]) -> Callable[P, R]:
    """What a function of dims gives, kept for the next call with the same ones.

    It is given shapes, dims, numbers and words, by position, and gives a plan that nobody changes. A dim is
    the same where it is the same object, as equal ones may be bound to other lengths. Plans go when dims are
    declared the same, and where they hold too much.
    """

    @wraps(make)
    def plan(*args: P.args, **kwargs: P.kwargs) -> R:
        epoch = Shape.epoch()
        key = (make, epoch, *[id(x) if type(x) is Dim else x for x in args])
        entry: Any = _plans.entries.get(key)
        if entry is None:
            entry = make(*args, **kwargs), args
            _plans.keep(key, entry[0], args, epoch)
        result: R = entry[0]
        return result

    return plan
