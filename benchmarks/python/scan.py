"""What runs along a sequence: sums and extremes of all rows so far."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _of(op: str, source: sample.Rows) -> np.ndarray:
    """The reference: NumPy's, a sequence at a time."""
    out = np.empty_like(source.values)
    by_numpy = {"sum": np.add, "max": np.maximum}[op]
    for start, n in zip(source.offsets, source.lengths, strict=False):
        by_numpy.accumulate(source.values[start : start + n], axis=0, out=out[start : start + n])
    return out


def _less_the_start(values: np.ndarray, lengths: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """NumPy's idiom: one running sum over everything, less what it was where the sequence starts."""
    sums = np.cumsum(values, axis=0)
    before = np.concatenate([np.zeros_like(sums[:1]), sums])[offsets[:-1]]
    return sums - np.repeat(before, lengths, axis=0)


def _plain(case: Case, op: str, lengths: np.ndarray, limit: float) -> None:
    """Plain numbers: the price of a number."""
    source = sample.of_lengths(lengths)
    values, _, offsets = source
    case.reference = _of(op, source)
    out = case.buffer(len(values), np.float32)
    case.per("an element", len(values), limit)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level, scan = Level.from_lengths(lengths), getattr(ops, f"cum{op}")
        return lambda: scan(values, level, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scan as by_hand_scan

        return getattr(by_hand_scan, f"cum{op}"), values, offsets, out

    if op == "sum":

        @case.contender("np.cumsum less the start")
        def _() -> Any:
            return _less_the_start, values, lengths, offsets

    case.yardstick("memcpy", yardstick.memcpy, out, values)


for _mean, _limit in ((4, 1.2), (16, 0.6), (64, 0.6), (1024, 0.6)):

    @row(f"scan.sum.{_mean}", f"running sum of plain numbers, mean length {_mean}, in cache")
    def _(case: Case, mean: int = _mean, limit: float = _limit) -> None:
        _plain(case, "sum", sample.lengths(case.size(65_536 // mean, 21), mean), limit)


@row("scan.sum.giant", "running sum of 65 536 plain numbers, one sequence, in cache")
def _(case: Case) -> None:
    _plain(case, "sum", np.array([case.size(65_536, 21)]), 0.6)


@row("scan.max.16", "running maximum of plain numbers, mean length 16, in cache")
def _(case: Case) -> None:
    _plain(case, "max", sample.lengths(case.size(4096, 21), 16), 1.5)


@row("scan.rows.64", "running sum of rows of 64 numbers, mean length 16, 16 MB")
def _(case: Case) -> None:
    source = sample.rows(case.size(4096, 21), 16, 64)
    values, lengths, offsets = source
    case.reference = _of("sum", source)
    out = case.buffer(values.shape, np.float32)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.cumsum(values, level, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scan as by_hand_scan

        return by_hand_scan.cumsum_rows, values, offsets, out

    @case.contender("np.cumsum less the start")
    def _() -> Any:
        return _less_the_start, values, lengths, offsets

    case.yardstick("memcpy", yardstick.memcpy, out, values)
    case.over("memcpy", 1.25, text="<= 1.25 of memcpy")
