"""A function of one sequence over all of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _score(x: Any) -> Any:
    return (x - x.mean()) / (x.std() + 1)


def _sample(count: int, mean: int) -> sample.Rows:
    """Sequences of one row or more, whose mean is a number."""
    return sample.of_lengths(np.maximum(sample.lengths(count, mean), 1), dtype=np.float64)


def _scores(case: Case, count: int, mean: int) -> None:
    """Numbers less the mean of their sequence, over its deviation."""
    values, lengths, offsets = _sample(count, mean)
    case.reference = True
    wanted = np.concatenate([_score(x) for x in np.split(values, offsets[1:-1])])

    def is_close(result: Any) -> bool:
        """Whether numbers are those of a loop, but for the order of sums."""
        return np.allclose(result, wanted)

    @case.contender("varlen", show=lambda r: is_close(r.values))
    def _() -> Any:
        import varlen as vl

        r, f = vl.Ragged(values, lengths), vl.vmap(_score)
        return f, r

    @case.contender("a loop", show=lambda parts: is_close(np.concatenate(parts)))
    def _() -> Any:
        seqs = np.split(values, offsets[1:-1])
        return lambda: [_score(x) for x in seqs]

    @case.contender("awkward", needs="awkward", show=lambda x: is_close(_flat(x)))
    def _() -> Any:
        import awkward as ak

        x = ak.unflatten(values, lengths)
        return lambda: (x - ak.mean(x, axis=1)) / (ak.std(x, axis=1) + 1)


def _flat(x: Any) -> np.ndarray:
    import awkward as ak

    return np.asarray(ak.flatten(x))


@row("vmap.small", "vmap of (x - mean) / (std + 1), 8 sequences of mean 3")
def _(case: Case) -> None:
    _scores(case, 8, 3)
    case.beat()


@row("vmap.many", "vmap of (x - mean) / (std + 1), 100,000 sequences of mean 8")
def _(case: Case) -> None:
    _scores(case, case.size(100_000, 9), 8)
    case.beat()


@row("vmap.tensors", "vmap of a softmax over tensors, 1000 sequences of one length, 16")
def _(case: Case) -> None:
    values, lengths, _ = sample.of_lengths(np.full(case.size(1000, 5), 16))
    dense = values.reshape(-1, 16)
    exps = np.exp(dense - dense.max(axis=1, keepdims=True))
    wanted = exps / exps.sum(axis=1, keepdims=True)
    case.reference = True
    case.beat()

    @case.contender("varlen", needs="torch", show=lambda r: np.allclose(r.values.reshape(-1, 16), wanted))
    def _() -> Any:
        import torch
        import varlen as vl

        return vl.vmap(lambda x: x.softmax(0)), vl.Ragged(torch.from_numpy(values), lengths)

    @case.contender("torch.vmap", needs="torch", show=lambda x: np.allclose(x, wanted))
    def _() -> Any:
        import torch

        return torch.func.vmap(lambda x: x.softmax(0)), torch.from_numpy(dense)
