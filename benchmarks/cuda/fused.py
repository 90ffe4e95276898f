"""What is done at once, beside what its parts do one after another."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..python import sample
from .moves import places
from .timing import DeviceCase, row

BYTES = 1 << 28
COLUMNS = 64


def _source(case: DeviceCase, mean: int = 128) -> sample.Rows:
    """Rows of 256 B with numbers of which no sum is rounded."""
    count = case.size(BYTES // (4 * COLUMNS) // mean, 30)
    source = sample.rows(count, case.size(mean, 5), COLUMNS, "float32")
    return source._replace(values=(source.values % 9 - 4).astype(np.float32))


def _block(case: DeviceCase, source: sample.Rows, values: Any) -> tuple[Any, Any]:
    where = places(case, source)
    block = values.new_zeros((len(source.lengths), int(source.lengths.max(initial=0)), *values.shape[1:]))
    block[where] = values
    return block, where


@row(
    "fused.batch", "as many sequences of 128 rows of 256 B on average, by index, to a rectangle and its mask"
)
def _(case: DeviceCase) -> None:
    import varlen
    from varlen import ops

    source = _source(case)
    values = case.tensor(source.values)
    index = np.random.default_rng(3).permutation(len(source.lengths))
    block, _ = _block(case, source, values)
    case.reference = block[case.tensor(index)]
    case.copy(values.nbytes, case.reference.nbytes)
    ragged = varlen.Ragged(values, lengths=source.lengths)
    case.yardstick("pad alone", ragged.to_dense)
    case.at_least(1 / 1.05, "pad alone")

    @case.contender("varlen", show=lambda result: result[0])
    def _() -> Any:
        return lambda: ops.gather_dense(ragged, index)

    @case.contender("varlen, one after another", show=lambda result: result[0])
    def _() -> Any:
        return lambda: ragged[index].to_dense(mask=True)

    @case.contender("torch index_select")
    def _() -> Any:
        there = case.tensor(index)
        return lambda: block.index_select(0, there)


@row("fused.pool", "means of the rows of a rectangle of sequences of 128 rows of 256 B on average")
def _(case: DeviceCase) -> None:
    import torch
    import varlen
    from varlen import ops

    source = _source(case)
    values = case.tensor(source.values)
    block, where = _block(case, source, values)
    level = varlen.Level(source.lengths)
    lengths = case.tensor(np.maximum(source.lengths, 1).astype(np.float32))[:, None]
    case.close = 1e-5
    case.reference = block.sum(1) / lengths
    case.copy(values.nbytes, case.reference.nbytes)
    case.at_least(0.80)

    @case.contender("varlen")
    def _() -> Any:
        return lambda: ops.reduce_dense(block, level)

    @case.contender("varlen, one after another")
    def _() -> Any:
        return lambda: varlen.Ragged.from_dense(block, lengths=level).mean()

    @case.contender("torch where and sum")
    def _() -> Any:
        mask = torch.zeros(block.shape[:2], dtype=torch.bool, device=case.device)
        mask[where] = True
        return lambda: torch.where(mask[..., None], block, 0).sum(1) / lengths


@row("fused.attention", "sequences of 128 rows of 256 B on average, pooled by the softmax of a score a row")
def _(case: DeviceCase) -> None:
    import torch
    import varlen
    from varlen import ops

    source = _source(case)
    values = case.tensor(source.values)
    scores = case.tensor(np.random.default_rng(6).random(len(values), np.float32))
    block, where = _block(case, source, values)
    wide = scores.new_full(block.shape[:2], -np.inf)
    wide[where] = scores
    case.close = 1e-4
    shares = torch.softmax(wide.double(), 1).nan_to_num().float()
    case.reference = (shares[:, None] @ block)[:, 0]
    case.copy(values.nbytes + 3 * scores.nbytes, case.reference.nbytes)
    case.at_least(0.80)
    ragged = varlen.Ragged(values, lengths=source.lengths)

    @case.contender("varlen")
    def _() -> Any:
        return lambda: ragged.attention_pool(scores)

    @case.contender("varlen, one after another")
    def _() -> Any:
        level = ragged.levels[0]
        return lambda: ops.reduce_sum(values * ops.softmax(scores, level)[:, None], level)

    @case.contender("torch padded", show=lambda result: result.nan_to_num())
    def _() -> Any:
        return lambda: (torch.softmax(wide, 1)[:, None] @ block)[:, 0]
