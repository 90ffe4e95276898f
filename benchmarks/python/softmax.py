"""Softmax inside sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _thinc() -> Any:
    from thinc.backends import NumpyOps

    return NumpyOps()


def _case(case: Case, count: int, mean: int, columns: int, limit: float, best: float) -> None:
    lengths = np.maximum(sample.lengths(count, mean), 1)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    shape = (int(offsets[-1]), columns) if columns > 1 else (int(offsets[-1]),)
    values = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    out = case.buffer(shape, np.float32)

    def by_numpy() -> Any:
        less = values - np.repeat(np.maximum.reduceat(values, offsets[:-1], axis=0), lengths, axis=0)
        np.exp(less, out=less)
        less /= np.repeat(np.add.reduceat(less, offsets[:-1], axis=0), lengths, axis=0)
        return less

    reference = by_numpy()
    case.reference = reference
    case.per("an element", values.size, limit, best=best)

    def shown(result: Any) -> Any:
        """The reference, where the result is as good."""
        result = np.asarray(result).reshape(shape)
        return reference if np.allclose(result, reference, rtol=2e-6, atol=1e-9) else result

    @case.contender("varlen", show=shown)
    def _() -> Any:
        from varlen import Level, _core

        level = Level.from_lengths(lengths)
        return lambda: _core.softmax(values, level, False, 1.0, out)

    @case.contender("numba", needs="numba", show=lambda _: shown(out))
    def _() -> Any:
        from .by_hand import softmax as by_hand

        flat, result = values.reshape(-1), out.reshape(-1)
        powers, most, total = (
            np.empty(n, k) for n, k in ((values.size, "i4"), (columns, "f4"), (columns, "f4"))
        )
        if columns == 1:
            return by_hand.softmax, flat, offsets, result, result.view(np.int32), powers
        return (
            by_hand.softmax_rows,
            flat,
            offsets,
            result,
            result.view(np.int32),
            powers,
            columns,
            most,
            total,
        )

    @case.contender("NumPy", show=shown)
    def _() -> Any:
        return by_numpy

    @case.contender("Thinc", needs="thinc", show=shown)
    def _() -> Any:
        return _thinc().softmax_sequences, values.reshape(len(values), -1), lengths.astype(np.int32)

    case.yardstick("memcpy", yardstick.memcpy, out, values)


for _mean, _limit, _best in ((4, 2.0, 4.3), (16, 0.7, 1.75), (64, 0.45, 0.85), (1024, 0.25, 0.42)):

    @row(f"softmax.{_mean}", f"softmax of plain numbers, mean length {_mean}, in cache")
    def _(case: Case, mean: int = _mean, limit: float = _limit, best: float = _best) -> None:
        _case(case, case.size(65_536 // mean, 21), mean, 1, limit, best)


@row("softmax.rows", "softmax of rows of 64 numbers, mean length 16, in cache")
def _(case: Case) -> None:
    _case(case, case.size(128, 21), 16, 64, 0.45, 0.85)
