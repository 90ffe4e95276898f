"""Each row with its neighbours beside it, and the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

# Of memcpy, where the best peers take 0.63 to 0.83.
GOAL = 0.6


def _rows(case: Case, width: int) -> sample.Rows:
    """About 6000 rows."""
    return sample.rows(case.size(300, 5), 20, width)


def _reference(rows: sample.Rows, window: int) -> np.ndarray:
    """Place by place, in plain NumPy."""
    values, lengths, offsets = rows
    total, width = values.shape
    out = np.zeros((total, 2 * window + 1, width), values.dtype)
    inside = np.arange(total) - np.repeat(offsets[:-1], lengths)
    after = np.repeat(lengths, lengths) - 1 - inside
    for k in range(-window, window + 1):
        there = np.flatnonzero((inside + k >= 0) & (after - k >= 0))
        out[there, k + window] = values[there + k]
    return out.reshape(total, -1)


def _forward(case: Case, window: int, width: int) -> None:
    rows = _rows(case, width)
    values, lengths, offsets = rows
    case.reference = _reference(rows, window)
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        level, seq2col = varlen.Level.from_lengths(lengths), varlen.ops.seq2col
        return lambda: seq2col(values, window, lengths=level, out=out)

    @case.contender("varlen, fresh output")
    def _() -> Any:
        import varlen

        level, seq2col = varlen.Level.from_lengths(lengths), varlen.ops.seq2col
        return lambda: seq2col(values, window, lengths=level)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.seq2col, rows.flat, offsets, width, window, out.reshape(-1)

    @case.contender("thinc", needs="thinc")
    def _() -> Any:
        from thinc.api import NumpyOps

        given, ops = lengths.astype(np.int32), NumpyOps()
        return lambda: ops.seq2col(values, window, lengths=given)

    case.yardstick("memcpy", yardstick.memcpy, out, np.ones_like(out))
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


def _back(case: Case, window: int, width: int) -> None:
    rows = _rows(case, width)
    values, lengths, offsets = rows
    given = sample.rows(case.size(300, 5), 20, (2 * window + 1) * width, seed=0).values
    case.reference = _summed(given, lengths, offsets, window)
    out = case.buffer(values.shape, values.dtype)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        level, backprop = varlen.Level.from_lengths(lengths), varlen.ops.backprop_seq2col
        return lambda: backprop(given, window, lengths=level, out=out)

    @case.contender("varlen, fresh output")
    def _() -> Any:
        import varlen

        level, backprop = varlen.Level.from_lengths(lengths), varlen.ops.backprop_seq2col
        return lambda: backprop(given, window, lengths=level)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.backprop_seq2col, given.reshape(-1), offsets, width, window, out.reshape(-1)

    @case.contender("thinc", needs="thinc")
    def _() -> Any:
        from thinc.api import NumpyOps

        counts, ops = lengths.astype(np.int32), NumpyOps()
        return lambda: ops.backprop_seq2col(given, window, lengths=counts)

    case.yardstick("memcpy", yardstick.memcpy, np.ones_like(given), given)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


def _summed(given: np.ndarray, lengths: np.ndarray, offsets: np.ndarray, window: int) -> np.ndarray:
    """The places of each row, added up; whole numbers, so that the order does not count."""
    total = len(given)
    parts = given.reshape(total, 2 * window + 1, -1)
    inside = np.arange(total) - np.repeat(offsets[:-1], lengths)
    after = np.repeat(lengths, lengths) - 1 - inside
    out = np.zeros((total, parts.shape[2]), given.dtype)
    for k in range(-window, window + 1):
        there = np.flatnonzero((inside + k >= 0) & (after - k >= 0))
        out[there + k] += parts[there, k + window]
    return out


for _window in (1, 2, 3):
    for _width in (96, 300):
        _named = f"window of {_window}, {_width} wide"
        row(f"window.{_window}.{_width}", f"{_named}: the neighbours of each row")(
            lambda case, window=_window, width=_width: _forward(case, window, width)
        )
        row(f"window.{_window}.{_width}.back", f"{_named}: the gradient")(
            lambda case, window=_window, width=_width: _back(case, window, width)
        )
