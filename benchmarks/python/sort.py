"""Sequences in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _numbers(source: sample.Rows) -> np.ndarray:
    """Numbers of which hardly two are equal."""
    return np.random.default_rng(5).normal(size=len(source.values)).astype(np.float32)


def _sorted(case: Case, source: sample.Rows) -> None:
    values, offsets = _numbers(source), source.offsets
    out = case.buffer(len(values), np.float32)
    case.reference = np.concatenate([*(np.sort(values[a:b]) for a, b in pairwise(offsets)), values[:0]])

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(source.lengths)
        return lambda: ops.sort(values, level, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import sort as by_hand_sort

        return by_hand_sort.sort, values, offsets, out

    @case.contender("np.lexsort")
    def _() -> Any:
        ids = np.repeat(np.arange(len(source.lengths)), source.lengths)
        return lambda: values[np.lexsort((values, ids))]

    @case.contender("awkward", needs="awkward", show=lambda result: np.asarray(result.layout.content.data))
    def _() -> Any:
        import awkward as ak

        result = ak.Array(
            ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(values))
        )
        return lambda: ak.sort(result, axis=1)

    case.yardstick("memcpy", yardstick.memcpy, out, values)


for _mean, _limit in ((4, 10.0), (16, 8.0), (64, 8.0), (1024, 12.0)):

    @row(f"sort.{_mean}", f"sort of plain numbers inside sequences, mean length {_mean}, in cache")
    def _(case: Case, mean: int = _mean, limit: float = _limit) -> None:
        source = sample.rows(case.size(65_536 // mean, 21), mean)
        _sorted(case, source)
        case.per("an element", len(source.values), limit)


for _kind in ("zipf", "many-empty", "one-giant"):

    @row(f"sort.{_kind}", f"sort of plain numbers inside sequences, mean length 16, {_kind}")
    def _(case: Case, kind: str = _kind) -> None:
        source = sample.drawn(kind, case.size(65_536, 21), 16)
        _sorted(case, source)
        case.per("an element", len(source.values), 12.0)


@row("sort.times", "sort of datetime64 inside sequences, mean length 16, in cache, beside int64")
def _(case: Case) -> None:
    source = sample.rows(case.size(4096, 21), 16)
    numbers = np.random.default_rng(5).integers(0, 2**40, len(source.values))
    times, offsets = numbers.view("M8[s]"), source.offsets
    case.reference = np.concatenate([*(np.sort(times[a:b]) for a, b in pairwise(offsets)), times[:0]])
    case.per("an element", len(times), 12.0)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(source.lengths)
        return lambda: ops.sort(times, level)

    @case.contender("int64", show=lambda result: result.view("M8[s]"))
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(source.lengths)
        return lambda: ops.sort(numbers, level)

    @case.contender("np.lexsort")
    def _() -> Any:
        ids = np.repeat(np.arange(len(source.lengths)), source.lengths)
        return lambda: times[np.lexsort((times, ids))]

    case.yardstick("memcpy", yardstick.memcpy, np.empty_like(numbers), numbers)


@row("sort.places", "argsort of plain numbers inside sequences, mean length 16, in cache")
def _(case: Case) -> None:
    source = sample.rows(case.size(4096, 21), 16)
    values, offsets = _numbers(source), source.offsets
    case.reference = np.concatenate(
        [*(np.argsort(values[a:b], kind="stable") for a, b in pairwise(offsets)), np.zeros(0, np.int64)]
    )
    out = case.buffer(len(values), np.int64)
    case.per("an element", len(values), 8.0)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(source.lengths)
        return lambda: ops.argsort(values, level)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import sort as by_hand_sort

        return by_hand_sort.argsort, values, offsets, out

    @case.contender("np.lexsort", show=lambda result: result - np.repeat(offsets[:-1], source.lengths))
    def _() -> Any:
        ids = np.repeat(np.arange(len(source.lengths)), source.lengths)
        return lambda: np.lexsort((values, ids))


@row("sort.topk", "the 8 largest of 64 sequences of 32768 numbers, and their places")
def _(case: Case) -> None:
    count, length, k = case.size(64, 3), case.size(32_768, 50), 8
    source = sample.of_lengths(np.full(count, length))
    values, offsets = _numbers(source), source.offsets
    table = values.reshape(count, length)
    places = np.argsort(-table, axis=1, kind="stable")[:, :k]
    case.reference = [np.take_along_axis(table, places, 1), places]
    best, which = case.buffer(count * k, np.float32), case.buffer(count * k, np.int64)
    case.per("an element", len(values), 2.0)

    @case.contender("varlen", show=lambda result: [x.values.reshape(count, k) for x in result])
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(source.lengths)
        return lambda: ops.topk(values, level, k=k)

    @case.contender("numba", needs="numba", show=lambda _: [x.reshape(count, k) for x in (best, which)])
    def _() -> Any:
        from .by_hand import sort as by_hand_sort

        return by_hand_sort.topk, values, offsets, k, best, which

    @case.contender("torch.topk", needs="torch", show=lambda result: [x.numpy() for x in result])
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        tensor = torch.from_numpy(table)
        return lambda: torch.topk(tensor, k, dim=1)

    case.yardstick("read", yardstick.read, values)
