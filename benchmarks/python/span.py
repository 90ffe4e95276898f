"""Spans taken out of sequences, pieces aligned, rows put in."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

WIDTH = 96
# Of memcpy of the output, as what gathers sequences.
GOAL = 1.3


def _against_memcpy(case: Case, out: np.ndarray) -> None:
    case.yardstick("memcpy", yardstick.memcpy, out, np.ones_like(out))
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


@row("span.spans", f"spans of 1 to 6 rows of {WIDTH}, 3 a row of the sequences")
def _(case: Case) -> None:
    values, lengths, offsets = sample.rows(case.size(100, 5), 20, WIDTH)
    total = len(values)
    begins = np.arange(3 * total) // 3
    owner = np.repeat(np.arange(len(lengths)), lengths)[begins]
    ends = np.minimum(begins + np.random.default_rng(3).integers(1, 7, len(begins)), offsets[owner + 1])
    at = np.stack([begins, ends], 1) - offsets[owner][:, None]
    case.reference = np.concatenate([values[a:b] for a, b in zip(begins, ends, strict=True)])
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        r = varlen.Ragged(values, lengths)
        spans = varlen.Ragged(at, np.bincount(owner, minlength=len(lengths)))
        return varlen.ops.spans, r, spans

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scatter as by_hand_scatter

        return by_hand_scatter.spans, values, offsets[owner], at, out.reshape(-1)

    @case.contender("NumPy, slices")
    def _() -> Any:
        pairs = list(zip(begins.tolist(), ends.tolist(), strict=True))
        return lambda: np.concatenate([values[a:b] for a, b in pairs])

    _against_memcpy(case, out)


@row("span.align", f"pieces of tokens, rows of {WIDTH}, one to three a token")
def _(case: Case) -> None:
    values, lengths, offsets = sample.rows(case.size(300, 5), 20, WIDTH)
    rng = np.random.default_rng(4)
    tokens = np.array([rng.integers(1, n + 1) if n else 0 for n in lengths])
    pieces = rng.integers(1, 4, int(tokens.sum()))
    owner = np.repeat(np.repeat(np.arange(len(lengths)), tokens), pieces)
    at = (rng.random(len(owner)) * lengths[owner]).astype(np.int64)
    rows = at + offsets[owner]
    case.reference = values[rows]
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        r, alignment = varlen.Ragged(values, lengths), varlen.Ragged(at, [tokens, pieces])
        return varlen.ops.align, r, alignment

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scatter as by_hand_scatter

        return by_hand_scatter.take, values, rows, out

    @case.contender("NumPy, by rows")
    def _() -> Any:
        return lambda: values[rows]

    _against_memcpy(case, out)


@row("span.insert", f"rows of zeros put in after every tenth row of {WIDTH}")
def _(case: Case) -> None:
    values, lengths, offsets = sample.rows(case.size(300, 5), 20, WIDTH)
    before = np.arange(5, len(values), 10)
    owner = np.repeat(np.arange(len(lengths)), lengths)[before]
    case.reference = np.insert(values, before, 0, 0)
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        at = varlen.Ragged(before - offsets[owner], np.bincount(owner, minlength=len(lengths)))
        return varlen.ops.insert_rows, varlen.Ragged(values, lengths), at

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import scatter as by_hand_scatter

        return by_hand_scatter.insert, values, before, out

    @case.contender("np.insert")
    def _() -> Any:
        return lambda: np.insert(values, before, 0, 0)

    _against_memcpy(case, out)
