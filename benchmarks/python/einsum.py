"""Contractions over sequences: attention of two dynamic lengths, sums over a dynamic axis, flat products."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample

HEADS, DEPTH = 8, 64
LIMIT = 1.1


def drawn_to_fill(count: int, fill: float, longest: int, seed: int) -> np.ndarray:
    """Lengths of which the longest has so many rows, and which fill so much of a rectangle."""
    rng = np.random.default_rng(seed)
    drawn = 1 - rng.random(count) * 2 * (1 - fill) if fill >= 0.5 else rng.random(count) * 2 * fill
    drawn[0] = 1
    return np.maximum((drawn * longest).astype(np.int64), 1)


class Attention:
    """Queries of some sequences, keys and values of as many others, and a gradient of what comes out."""

    def __init__(self, t: np.ndarray, s: np.ndarray) -> None:
        import torch
        import varlen

        torch.set_num_threads(1)
        draw = torch.Generator().manual_seed(0)
        self.t, self.s = t, s
        self.levels = varlen.Level(t), varlen.Level(s)
        sizes = [int(n.sum()) for n in (t, s, s, t)]
        q, k, v, self.d = (torch.randn(n, HEADS, DEPTH, generator=draw) for n in sizes)
        self.given = [x.requires_grad_() for x in (q, k, v)]

    def backward(self, result: Any, d: Any) -> list[Any]:
        for x in self.given:
            x.grad = None
        result.backward(d)
        return [result.detach(), *(x.grad for x in self.given)]

    def varlen(self) -> list[Any]:
        import varlen

        q, k, v = (varlen.Ragged(x, self.levels[i > 0]) for i, x in enumerate(self.given))
        energies = varlen.ops.einsum("bthd,bshd->bhts", q, k)
        weights = varlen.ops.softmax(energies, temperature=DEPTH**0.5)
        return self.backward(varlen.ops.einsum("bhts,bshd->bthd", weights, v).values, self.d)

    def loop(self) -> list[Any]:
        import torch

        sizes = (self.t.tolist(), self.s.tolist(), self.s.tolist())
        parts = zip(*(x.split(n) for x, n in zip(self.given, sizes, strict=True)), strict=True)
        results = []
        for q, k, v in parts:
            weights = torch.softmax(torch.matmul(q.transpose(0, 1), k.permute(1, 2, 0)) / DEPTH**0.5, -1)
            results.append(torch.matmul(weights, v.transpose(0, 1)).transpose(0, 1))
        return self.backward(torch.cat(results), self.d)

    def nested(self) -> list[Any]:
        import torch

        jagged = torch.nested.nested_tensor_from_jagged
        offsets = [torch.from_numpy(np.concatenate([[0], np.cumsum(n)])) for n in (self.t, self.s, self.s)]
        q, k, v = (jagged(x, o).transpose(1, 2) for x, o in zip(self.given, offsets, strict=True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nested tensors that torch makes itself
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v)
            return self.backward(result.transpose(1, 2).values(), self.d)

    def padded(self) -> Callable[[], Any]:
        """Attention of padded blocks with a mask, which are there beforehand."""
        import torch

        there = [torch.arange(int(n.max())) < torch.from_numpy(n)[:, None] for n in (self.t, self.s, self.s)]
        blocks = []
        for x, here in zip((*(x.detach() for x in self.given), self.d), (*there, there[0]), strict=True):
            block = torch.zeros(*here.shape, HEADS, DEPTH)
            block[here] = x
            blocks.append(block.transpose(1, 2).contiguous())
        q, k, v = (x.requires_grad_() for x in blocks[:3])
        mask = there[1][:, None, None, :]

        def run() -> Any:
            for x in (q, k, v):
                x.grad = None
            result = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            result.backward(blocks[3])
            made = (result.detach(), q.grad, k.grad, v.grad)
            return [x.transpose(1, 2)[here] for x, here in zip(made, (there[0], *there), strict=True)]

        return run


def attention_by(case: Case, kind: type[Attention], t: np.ndarray, s: np.ndarray) -> None:
    """Attention of two lengths by all contenders; ours is what the kind says."""
    one = kind(t, s)
    wanted = one.loop()
    case.reference = [True] * 4

    def shown(result: Any) -> list[bool]:
        return [np.allclose(x, y, rtol=1e-3, atol=1e-4) for x, y in zip(result, wanted, strict=True)]

    @case.contender("varlen", needs="torch", show=shown)
    def _() -> Any:
        return one.varlen

    @case.contender("a sequence at a time", needs="torch", show=shown)
    def _() -> Any:
        return one.loop

    @case.contender("torch, padded", needs="torch", show=shown)
    def _() -> Any:
        return one.padded()

    @case.contender("torch nested", needs="torch", show=shown)
    def _() -> Any:
        return one.nested


def _by_the_loop(case: Case, t: np.ndarray, s: np.ndarray) -> None:
    attention_by(case, Attention, t, s)
    peer = "a sequence at a time"
    case.goal(f"<= {LIMIT} of {peer}", LIMIT, lambda times: times.ratio("varlen", peer), f"x {peer}")


@row("einsum.cross", "attention of two lengths, both ways, 32 sequences of 100 to 999, 8 heads of 64")
def _(case: Case) -> None:
    rng = np.random.default_rng(0)
    t, s = (rng.integers(*(case.size(100, 1), case.size(1000, 9)), case.size(32, 3)) for _ in range(2))
    _by_the_loop(case, t, s)


@row("einsum.self", "attention of sequences to themselves, both ways, 32 of 100 to 999, 8 heads of 64")
def _(case: Case) -> None:
    drawn = np.random.default_rng(0)
    t = drawn.integers(*(case.size(100, 1), case.size(1000, 9)), case.size(32, 3))
    _by_the_loop(case, t, t)


def _fill(fill: float) -> None:
    percent = round(fill * 100)

    @row(f"einsum.fill{percent}", f"attention where rows fill {percent} % of a rectangle of 16 by 512")
    def _(case: Case) -> None:
        count, longest = case.size(16, 3), case.size(512, 9)
        attention_by(case, Attention, *(drawn_to_fill(count, fill, longest, seed) for seed in range(2)))
        peer = "torch, padded"
        case.goal("<= 1 of padded blocks", 1.0, lambda times: times.ratio("varlen", peer), f"x {peer}")


for _share in (0.3, 0.56, 0.7, 0.9):
    _fill(_share)


@row("einsum.dot", "products of columns summed over all rows, 256 by 512, 32 sequences of 100 to 999")
def _(case: Case) -> None:
    source = _rows(case, 256)
    other = _rows(case, case.size(512, 7), seed=1)
    _beside_the_flat_one(case, "btk,btm->km", source, other.values, lambda: source.values.T @ other.values)


@row("einsum.dot_each", "the same summed over the rows of each sequence")
def _(case: Case) -> None:
    source = _rows(case, 256)
    other = _rows(case, case.size(512, 7), seed=1)
    cuts = np.cumsum(source.lengths)[:-1]
    each = [x.T @ y for x, y in zip(np.split(source.values, cuts), np.split(other.values, cuts), strict=True)]
    flat = np.empty((source.values.shape[1], other.values.shape[1]), np.float32)

    def product() -> Any:
        return np.matmul(source.values.T, other.values, out=flat)

    _beside_the_flat_one(case, "btk,btm->bkm", source, other.values, product, np.stack(each))


@row("einsum.flat", "all rows with one matrix, 512 by 256, 32 sequences of 100 to 999")
def _(case: Case) -> None:
    source = _rows(case, 512)
    weight = np.random.default_rng(2).integers(-3, 4, (source.width, 256)).astype(np.float32)
    _beside_the_flat_one(case, "btd,dk->btk", source, weight, lambda: source.values @ weight)


def _rows(case: Case, width: int, seed: int = 0) -> sample.Rows:
    drawn = np.random.default_rng(0).integers(*(case.size(100, 1), case.size(1000, 9)), case.size(32, 3))
    made = sample.of_lengths(drawn, case.size(width, 5), seed=seed)
    return made._replace(values=made.values % 4)


def _beside_the_flat_one(
    case: Case,
    equation: str,
    source: sample.Rows,
    other: Any,
    flat: Callable[[], Any],
    reference: Any = None,
) -> None:
    """`reference` where the flat product, which the time is held against, is another one."""
    case.reference = flat() if reference is None else reference

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        lengths = {"t": varlen.Level(source.lengths)}
        return lambda: varlen.ops.einsum(equation, source.values, other, lengths=lengths)

    @case.contender("NumPy, flat", show=None if reference is None else lambda result: case.reference)
    def _() -> Any:
        return flat

    case.goal(
        f"<= {LIMIT} of the flat product",
        LIMIT,
        lambda times: times.ratio("varlen", "NumPy, flat"),
        "x NumPy, flat",
    )


def _call(kind: str, limit: float, needs: str = "") -> None:
    @row(f"einsum.call_{kind}", f"energies of 3 sequences of 2 rows of 4 numbers, {kind}")
    def _(case: Case) -> None:
        draw = np.random.default_rng(0)
        t, s = np.array([1, 2, 3]), np.array([2, 2, 1])
        q, k = (draw.integers(-3, 4, (n.sum(), 4)).astype(np.float32) for n in (t, s))
        parts = list(zip(np.split(q, np.cumsum(t)[:-1]), np.split(k, np.cumsum(s)[:-1]), strict=True))

        def products() -> Any:
            return np.concatenate([(x @ y.T).reshape(-1) for x, y in parts])

        case.reference = products()

        @case.contender("varlen", needs=needs or ())
        def _() -> Any:
            import varlen

            lengths = {"t": varlen.Level(t), "s": varlen.Level(s)}
            a, b = map(importlib.import_module(needs).from_numpy, (q, k)) if needs else (q, k)
            return lambda: varlen.ops.einsum("btd,bsd->bts", a, b, lengths=lengths)

        @case.contender("NumPy, a sequence at a time")
        def _() -> Any:
            return products

        case.within(f"<= {limit:g} us", limit)


_call("arrays", 10.0)
_call("tensors", 20.0, "torch")
