"""Rows and whole sequences repeated, and their repeats added up."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

# Repeats that Paddle users have: candidates of a beam, words of a sentence.
MEAN = 4


def _rows(case: Case, count: int, width: int, limit: float | None) -> None:
    times = sample.lengths(case.size(count, 21), MEAN)
    rng = np.random.default_rng(0)
    x = rng.integers(0, 99, (len(times), width) if width > 1 else len(times)).astype(np.float32)
    offsets = np.concatenate([[0], np.cumsum(times)])
    case.reference = np.repeat(x, times, axis=0)
    out = case.buffer(case.reference.shape, x.dtype)
    if limit is None:
        case.over("memset", 1 / 0.87, text="87 % of write bandwidth")
    else:
        case.per("a row", len(case.reference), limit, best=2.25)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        y = varlen.Level(times)
        return lambda: varlen.sequence_expand(x, y)

    @case.contender("np.repeat")
    def _() -> Any:
        return lambda: np.repeat(x, times, axis=0)

    @case.contender("numba", needs="numba", show=lambda _: out.reshape(case.reference.shape))
    def _() -> Any:
        from . import by_hand

        table, to = x.reshape(len(x), -1), out.reshape(len(case.reference), -1)
        return by_hand.repeat_rows, table, offsets, to

    @case.contender("torch.repeat_interleave", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        table, each = torch.from_numpy(x), torch.from_numpy(times)
        return lambda: torch.repeat_interleave(table, each, dim=0)

    case.yardstick("memset", yardstick.memset, out)


for _count, _width, _limit in ((100_000, 1, 0.5), (100_000, 16, None), (50_000, 64, None)):

    @row(f"expand.rows.{4 * _width}", f"sequence_expand of rows of {4 * _width} bytes, 4 times on average")
    def _(case: Case, count: int = _count, width: int = _width, limit: float | None = _limit) -> None:
        _rows(case, count, width, limit)


def _drawn(case: Case, count: int) -> tuple[Any, Any, Any, Any]:
    """Sequences of plain numbers, how often they stand, where each starts, and the places of all repeats."""
    n = case.size(count, 21)
    source, times = sample.of_lengths(sample.lengths(n, 16)), np.roll(sample.lengths(n, MEAN), 1)
    lengths = np.diff(source.offsets)
    starts = np.repeat(source.offsets[:-1], times)
    each = np.repeat(lengths, times)
    ends = np.cumsum(each)
    places = np.arange(each.sum()) - np.repeat(ends - each, each) + np.repeat(starts, each)
    return source, times, lengths, places


@row("expand.sequences", "sequence_expand of whole sequences of plain numbers, mean length 16, 4 times")
def _(case: Case) -> None:
    source, times, lengths, places = _drawn(case, 20_000)
    x = source.values
    case.reference = x[places]
    out = case.buffer(case.reference.shape, x.dtype)
    case.per("a row", len(places), 0.5, best=0.78)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        r, y = varlen.Ragged(x, lengths), varlen.Level(times)
        return lambda: varlen.sequence_expand(r, y)

    @case.contender("take with its places made before")
    def _() -> Any:
        return lambda: x.take(places)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import expand as by_hand_expand

        return by_hand_expand.repeat_sequences, x, source.offsets, times, out

    case.yardstick("memset", yardstick.memset, out)


@row("expand.backprop", "the gradient of sequence_expand of whole sequences of 96 numbers, mean length 16")
def _(case: Case) -> None:
    source, times, lengths, places = _drawn(case, 800)
    d = np.random.default_rng(0).integers(0, 9, (len(places), 96)).astype(np.float32)
    case.reference = np.zeros((len(source.values), 96), np.float32)
    np.add.at(case.reference, places, d)
    out = case.buffer(case.reference.shape, d.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        r, y = varlen.Ragged(np.zeros((len(source.values), 96), d.dtype), lengths), varlen.Level(times)
        return lambda: varlen.sequence.backprop_sequence_expand(d, r, y)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import expand as by_hand_expand

        return by_hand_expand.add_sequences, d, source.offsets, times, out

    @case.contender("torch index_add", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        rows, at, none = torch.from_numpy(d), torch.from_numpy(places), torch.zeros(case.reference.shape)
        return lambda: none.index_add(0, at, rows)

    case.yardstick("read", yardstick.read, d)
    case.over("read", 1 / 0.8, text="80 % of read bandwidth")
