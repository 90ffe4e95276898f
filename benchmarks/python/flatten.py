"""Flatten: lists of short arrays end to end, with gaps and without, and the views again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

COUNT = 100_000


def _thinc() -> Any:
    from thinc.backends import NumpyOps

    return NumpyOps()


@row("flatten", "flatten 100,000 arrays of mean 4")
def _(case: Case) -> None:
    source = sample.rows(case.size(COUNT, 17), 4)
    arrays = sample.arrays(source)
    case.reference = source.values
    case.per("an array", len(arrays), 12, best=124)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return varlen.ops.flatten, arrays

    @case.contender("np.concatenate")
    def _() -> Any:
        return np.concatenate, arrays

    @case.contender("Thinc", needs="thinc")
    def _() -> Any:
        return _thinc().flatten, arrays

    @case.contender("torch.cat", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        return torch.cat, [torch.from_numpy(array) for array in arrays]


@row("flatten.pad", "flatten 20,000 arrays of mean 4 x 64, with gaps of 4")
def _(case: Case) -> None:
    source = sample.rows(case.size(20_000, 17), 4, 64)
    arrays = sample.arrays(source)
    gap = np.zeros((4, 64), np.float32)
    parts = [part for array in arrays if len(array) for part in (gap, array)]
    case.reference = np.concatenate([*parts, gap])
    block = np.zeros_like(case.reference)
    case.yardstick("memcpy", yardstick.memcpy, block, case.reference)
    case.over("memcpy", 1.5)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return varlen.ops.flatten, arrays, None, 4

    @case.contender("np.concatenate")
    def _() -> Any:
        def with_gaps() -> np.ndarray:
            there = (part for array in arrays if len(array) for part in (gap, array))
            return np.concatenate([*there, gap])

        return with_gaps

    @case.contender("Thinc", needs="thinc")
    def _() -> Any:
        return _thinc().flatten, arrays, None, 4


@row("unflatten", "unflatten to 100,000 arrays of mean 4")
def _(case: Case) -> None:
    source = sample.rows(case.size(COUNT, 17), 4)
    values, lengths = source.values, source.lengths.astype(np.int32)
    case.reference = [values[a:b] for a, b in pairwise(source.offsets)]
    case.per("an array", len(lengths), 60, best=145)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        return varlen.ops.unflatten, values, lengths

    @case.contender("slices")
    def _() -> Any:
        def by_slices() -> list[np.ndarray]:
            ends = [0, *np.cumsum(lengths).tolist()]
            return [values[a:b] for a, b in pairwise(ends)]

        return by_slices

    @case.contender("np.split")
    def _() -> Any:
        return lambda: np.split(values, np.cumsum(lengths))[:-1]

    @case.contender("Thinc", needs="thinc")
    def _() -> Any:
        return _thinc().unflatten, values, lengths
