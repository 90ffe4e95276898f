"""Products: the rows of all sequences with one matrix, and the matrix of each sequence with another."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample

FLAT = 1 / 0.9  # 90 % of the product alone
WIDTH = 128


def _ragged(source: sample.Rows) -> Any:
    import varlen

    return varlen.Ragged(source.values, source.lengths)


def _jagged(source: sample.Rows) -> Any:
    import torch

    torch.set_num_threads(1)
    offsets = torch.from_numpy(source.offsets.astype(np.int64))
    return torch.nested.nested_tensor_from_jagged(torch.from_numpy(source.values), offsets)


@row("matmul.dense", "rows of sequences of mean length 64 with one matrix, 128 by 128, 8 MB")
def _(case: Case) -> None:
    source = sample.rows(case.size(256, 5), 64, WIDTH)
    weight = np.random.default_rng(2).integers(-3, 4, (WIDTH, WIDTH)).astype(np.float32)
    case.reference = source.values @ weight

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.ops.matmul, _ragged(source), weight

    @case.contender("torch nested", needs="torch", show=lambda result: result.values().numpy())
    def _() -> Any:
        import torch

        return torch.matmul, _jagged(source), torch.from_numpy(weight)

    @case.contender("a product a sequence")
    def _() -> Any:
        parts = [source.values[a:b] for a, b in pairwise(source.offsets)]
        return lambda: np.concatenate([part @ weight for part in parts])

    case.yardstick("the product", np.matmul, source.values, weight)
    case.over("the product", FLAT, text=f"<= {FLAT:.2f} of one flat product (90 % of its speed)")


def _scores(source: sample.Rows) -> np.ndarray:
    parts = [source.values[a:b] for a, b in pairwise(source.offsets)]
    return np.concatenate([(part @ part.T).reshape(-1) for part in parts])


@row("matmul.short", "each sequence with itself transposed, mean length 8, rows of 128, 8 MB")
def _(case: Case) -> None:
    _pairs(case, case.size(2048, 5), 8)


@row("matmul.rows", "each sequence with itself transposed, mean length 64, rows of 128, 8 MB")
def _(case: Case) -> None:
    _pairs(case, case.size(256, 5), 64)


def _pairs(case: Case, n: int, mean: int) -> None:
    source = sample.rows(n, mean, WIDTH)
    case.reference = _scores(source)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        r = _ragged(source)
        return lambda: varlen.ops.matmul(r, r, transpose_b=True)

    @case.contender("torch, padded", needs="torch")
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        padded = torch.from_numpy(sample.padded(source))
        there = torch.arange(padded.shape[1]) < torch.from_numpy(source.lengths)[:, None]
        both = there[:, :, None] & there[:, None, :]
        return lambda: torch.bmm(padded, padded.transpose(1, 2))[both].numpy()

    @case.contender("a product a sequence")
    def _() -> Any:
        return _scores, source

    side = max(1, round(int((source.lengths.astype(np.int64) ** 2).sum()) / max(len(source.values), 1)))
    other = np.ones((WIDTH, side), np.float32)
    case.yardstick("one product of as many steps", np.matmul, source.values, other)
    case.goal(
        "<= 1 of a product a sequence",
        1.0,
        lambda times: times.ratio("varlen", "a product a sequence"),
        "x a product a sequence",
    )
