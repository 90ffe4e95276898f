"""Rows that change places inside their sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

# Of memcpy.
GOAL = 1.15


def _inside(source: sample.Rows) -> tuple[np.ndarray, np.ndarray]:
    """Where the sequence of each row starts, and the place of the row in it."""
    starts = np.repeat(source.offsets[:-1], source.lengths)
    return starts, np.arange(len(source.values)) - starts


def _reverse(case: Case, count: int, mean: int, width: int) -> None:
    source = sample.rows(count, mean, width)
    values, lengths, offsets = source
    starts, inside = _inside(source)
    case.reference = values[starts + np.repeat(lengths, lengths) - 1 - inside]
    out = case.buffer(values.shape, values.dtype)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.reverse(values, level, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scan as by_hand_scan

        return by_hand_scan.reverse_rows if width else by_hand_scan.reverse, values, offsets, out

    @case.contender("NumPy index")
    def _() -> Any:
        return lambda: values[np.repeat(offsets[:-1] + offsets[1:] - 1, lengths) - np.arange(len(values))]

    if not width:

        @case.contender("awkward", needs="awkward", show=lambda result: result.to_numpy())
        def _() -> Any:
            import awkward

            content = awkward.contents.NumpyArray(values)
            array = awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(offsets), content))
            return lambda: awkward.flatten(array[:, ::-1])

    case.yardstick("memcpy", yardstick.memcpy, out, values)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


for _mean, _width in ((64, 0), (1024, 0), (64, 64), (64, 300)):
    _named = f"rows of {_width} numbers" if _width else "plain numbers"

    @row(
        f"shift.reverse.{_mean}.{_width or 1}",
        f"{_named}, reversed in sequences of {_mean}, 8 MB",
    )
    def _(case: Case, mean: int = _mean, width: int = _width) -> None:
        _reverse(case, case.size(2_097_152 // mean // max(1, width), 21), mean, width)


@row("shift.by.64", "plain numbers, one place on in each sequence, mean length 64, 8 MB")
def _(case: Case) -> None:
    source = sample.rows(case.size(32_768, 21), 64)
    values, lengths, offsets = source
    starts, inside = _inside(source)
    case.reference = np.where(inside > 0, values[np.maximum(starts, starts + inside - 1)], 0)
    out = case.buffer(values.shape, values.dtype)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.shift(values, level, by=1, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scan as by_hand_scan

        return by_hand_scan.shift, values, offsets, 1, out

    @case.contender("NumPy, all at once")
    def _() -> Any:
        def moved() -> np.ndarray:
            out[1:] = values[:-1]
            out[offsets[:-1][lengths > 0]] = 0
            return out

        return moved

    case.yardstick("memcpy", yardstick.memcpy, out, values)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")
