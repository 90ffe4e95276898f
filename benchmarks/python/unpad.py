"""Padded to ragged."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _contenders(case: Case, source: sample.Rows) -> None:
    values, lengths, offsets = source
    dense = sample.padded(source)
    dense[np.arange(dense.shape[1]) >= lengths[:, None]] = -7  # what must not be read
    case.reference = values
    out = case.buffer(values.shape, values.dtype)

    @case.contender("varlen", show=lambda ragged: ragged.values)
    def _() -> Any:
        import varlen

        level = varlen.Level.from_lengths(lengths)
        return lambda: varlen.Ragged.from_dense(dense, lengths=level, out=out)

    @case.contender("varlen, fresh output", show=lambda ragged: ragged.values)
    def _() -> Any:
        import varlen

        return lambda: varlen.Ragged.from_dense(dense, lengths=lengths)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.unpad, dense, offsets, 1, out

    @case.contender("numpy take", show=lambda _: out)
    def _() -> Any:
        index = np.flatnonzero(np.arange(dense.shape[1]) < lengths[:, None])  # worked out beforehand
        return lambda: np.take(dense.reshape(-1), index, out=out, mode="clip")

    @case.contender("numpy mask")
    def _() -> Any:
        mask = np.arange(dense.shape[1]) < lengths[:, None]
        return lambda: dense[mask]

    @case.contender(
        "fbgemm", needs=("torch", "fbgemm_gpu"), show=lambda result: result[0].numpy().reshape(-1)
    )
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        block = torch.from_numpy(dense).unsqueeze(-1)
        at = [torch.from_numpy(offsets)]
        return lambda: torch.ops.fbgemm.dense_to_jagged(block, at, len(values))

    whole = np.zeros_like(dense)
    case.yardstick("memcpy", yardstick.memcpy, whole, dense)


@row("unpad.4", "padded to ragged, 4 B x mean 4")
def _(case: Case) -> None:
    source = sample.rows(case.size(131_072, 21), 4)
    _contenders(case, source)
    case.per("a value", len(source.values), 0.5, best=0.72)


@row("unpad.64", "padded to ragged, rows of mean 64")
def _(case: Case) -> None:
    _contenders(case, sample.rows(case.size(16_384, 21), 64))
    case.over("memcpy", 0.4, text="<= 0.4 memcpy of the padded side")
