"""Edit distances, and CTC."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _edit(case: Case, count: int, mean: int, keys: int, share: float) -> None:
    """Pairs that differ in a fifth of their rows, as a reference and what was recognised do."""
    draw = np.random.default_rng(4)
    lengths = np.maximum(sample.lengths(count, mean), 1)
    b = draw.integers(0, keys, lengths.sum())
    a = np.where(draw.random(len(b)) < 0.2, draw.integers(0, keys, len(b)), b)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    pairs = [(a[i:j].tolist(), b[i:j].tolist()) for i, j in pairwise(offsets)]
    out = case.buffer(count, np.int64)
    case.unit = ("ns a row", len(a))

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, _core

        level = Level.from_lengths(lengths)
        case.reference = _core.edit_distance(a, level, b, level, True)[0]  # by the plain table
        return _core.edit_distance, a, level, b, level

    @case.contender("rapidfuzz, pair by pair", needs="rapidfuzz")
    def _() -> Any:
        from rapidfuzz.distance.Levenshtein import distance

        return lambda: [distance(x, y) for x, y in pairs]

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import losses as by_hand

        return by_hand.edit_distance, a, b, offsets, np.empty(lengths.max() + 1, np.int64), out

    case.rivals.append("rapidfuzz, pair by pair")
    case.goal(
        f"<= {share:g} of rapidfuzz",
        share,
        lambda times: times.ratio("varlen", "rapidfuzz, pair by pair"),
        "x rapidfuzz",
    )


@row("losses.edit.24", "edit distance of 2000 pairs of sequences, mean length 24, of 300 keys")
def _(case: Case) -> None:
    _edit(case, case.size(2000, 9), 24, 300, 0.2)


@row("losses.edit.1500", "edit distance of 20 pairs of sequences, mean length 1500, of 30,000 keys")
def _(case: Case) -> None:
    _edit(case, case.size(20, 2), case.size(1500, 70), 30_000, 1.0)


def _ctc(case: Case, backward: bool) -> None:
    """A batch of utterances, as torch pads them; what torch is given is padded already."""
    draw = np.random.default_rng(5)
    count, classes = case.size(32, 3), 64
    lengths = draw.integers(case.size(100, 5), case.size(800, 12), count)
    labels = lengths // 5
    rows = draw.normal(size=(lengths.sum(), classes)).astype(np.float32)
    rows -= np.log(np.exp(rows).sum(axis=1, keepdims=True))
    targets = draw.integers(1, classes, labels.sum())
    case.unit = ("ns a row", len(rows))
    case.reference = True

    def wanted() -> Any:
        from varlen import Level, _core

        levels = Level.from_lengths(lengths), Level.from_lengths(labels)
        return _core.ctc_loss(rows.astype(np.float64), levels[0], targets, levels[1], 0, False, True)

    losses, gradient = wanted()

    def near(result: Any) -> bool:
        found, d = result if backward else (result, gradient)
        if np.ndim(d) == 3:  # a block with the rows first
            there = np.arange(len(d)) < lengths[:, None]
            d = np.asarray(d).transpose(1, 0, 2)[there]
        return bool(np.allclose(found, losses, rtol=1e-5) and np.allclose(d, gradient, atol=5e-3))

    @case.contender("varlen", show=near)
    def _() -> Any:
        from varlen import Level, _core

        levels = Level.from_lengths(lengths), Level.from_lengths(labels)
        return _core.ctc_loss, rows, levels[0], targets, levels[1], 0, False, backward

    @case.contender("torch, padded", needs="torch", show=near)
    def _() -> Any:
        import torch

        x = torch.tensor(rows, requires_grad=backward)
        parts = list(x.split(lengths.tolist()))
        sizes = torch.tensor(lengths), torch.tensor(labels)
        block = torch.nn.utils.rnn.pad_sequence(parts).detach().requires_grad_(backward)

        def run() -> Any:
            loss = torch.nn.functional.ctc_loss(block, torch.from_numpy(targets), *sizes, reduction="none")
            if not backward:
                return loss.numpy()
            block.grad = None
            loss.sum().backward()
            return loss.detach().numpy(), block.grad

        return run

    case.rivals.append("torch, padded")
    case.goal(
        "<= 0.5 of torch on a block",
        0.5,
        lambda times: times.ratio("varlen", "torch, padded"),
        "x torch",
    )


@row("losses.ctc", "CTC of 32 sequences of 100 to 800 rows, 64 classes")
def _(case: Case) -> None:
    _ctc(case, False)


@row("losses.ctc.backward", "CTC of 32 sequences of 100 to 800 rows, 64 classes, and its gradient")
def _(case: Case) -> None:
    _ctc(case, True)
