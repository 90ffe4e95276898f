"""What it costs to call into the core with three arrays and nothing to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row


@row("boundary", "a call with three arrays, nothing to do")
def _(case: Case) -> None:
    values, offsets, index = np.zeros(4, np.float32), np.zeros(5, np.int64), np.zeros(4, np.int64)
    case.within("<= 110 ns", 110, "ns")

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, _core

        # A rectangle, a level and an output, all of no rows: every check is made, nothing is moved.
        return _core.unpad, values[:0].reshape(0, 4), Level.from_lengths(index[:0]), "right", values[:0]

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from . import by_hand

        return by_hand.nothing, values, offsets, index

    @case.contender("python function")
    def _() -> Any:
        return lambda a, b, c: None, values, offsets, index
