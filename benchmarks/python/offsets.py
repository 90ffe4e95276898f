"""Lengths to offsets, the longest and the total."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


@row("offsets", "offsets, longest and total from lengths")
def _(case: Case) -> None:
    count = case.size(16_384, 33)
    lengths = sample.lengths(count, 16)
    case.reference = [np.concatenate([[0], np.cumsum(lengths)]), int(lengths.max()), int(lengths.sum())]
    case.per("a row", count, 0.25, best=0.28)

    @case.contender("varlen", show=lambda level: [level.offsets, level.longest, level.total])
    def _() -> Any:
        import varlen

        make = varlen.Level.from_lengths

        def known() -> Any:
            level = make(lengths)
            _ = level.longest, level.total
            return level

        return known

    @case.contender("np.cumsum and max")
    def _() -> Any:
        def by_numpy() -> Any:
            offsets = np.empty(count + 1, np.int64)
            offsets[0] = 0
            np.cumsum(lengths, out=offsets[1:])
            return offsets, lengths.max(), offsets[-1]

        return by_numpy

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from . import by_hand

        def by_kernel() -> Any:
            offsets = np.empty(count + 1, np.int64)
            longest, total = by_hand.offsets_of(lengths, offsets)
            return offsets, longest, total

        return by_kernel

    @case.contender("fbgemm cumsum, torch max", needs=("torch", "fbgemm_gpu"))
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        given = torch.from_numpy(lengths)

        def by_fbgemm() -> Any:
            offsets = torch.ops.fbgemm.asynchronous_complete_cumsum(given)
            return offsets, given.max(), offsets[-1]

        return by_fbgemm
