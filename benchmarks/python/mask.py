"""Masks: which rows of packed sequences see which."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


@row("mask.block", "causal block mask of 4096 packed rows, mean 64")
def _(case: Case) -> None:
    lengths = sample.lengths(case.size(64, 5), 64)
    total = int(lengths.sum())
    ids, at = np.repeat(np.arange(len(lengths)), lengths), np.arange(total)
    case.reference = (ids[:, None] == ids[None, :]) & (at[:, None] >= at[None, :])
    out = case.buffer((total, total), np.bool_)
    case.yardstick("fill", yardstick.memset, out)
    case.over("fill", 1.2)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        level = varlen.Level(lengths)
        return lambda: varlen.ops.block_mask(level, True, out=out)

    @case.contender("numpy, comparisons")
    def _() -> Any:
        return lambda: (ids[:, None] == ids[None, :]) & (at[:, None] >= at[None, :])

    @case.contender("numpy, a slice a sequence")
    def _() -> Any:
        def by_slices() -> np.ndarray:
            out[...] = False
            start = 0
            for n in lengths.tolist():
                out[start : start + n, start : start + n] = np.tri(n, dtype=np.bool_)
                start += n
            return out

        return by_slices

    @case.contender("numba", needs="numba")
    def _() -> Any:
        import numba

        def fill(ends: np.ndarray, into: np.ndarray) -> np.ndarray:
            start = 0
            for end in ends:
                for i in range(start, end):
                    into[i, :start] = False
                    into[i, start : i + 1] = True
                    into[i, i + 1 :] = False
                start = end
            return into

        return numba.njit(fill), np.cumsum(lengths), out
