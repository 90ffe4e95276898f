"""Lists: of arrays to padded and to ragged, ragged to a list of views, nested Python lists to flat."""

from __future__ import annotations

from itertools import chain, pairwise
from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _lists_to_padded(case: Case, count: int, mean: int) -> sample.Rows:
    source = sample.rows(count, mean)
    arrays = sample.arrays(source)
    case.reference = sample.padded(source)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import _core

        return _core.list2dense, arrays

    @case.contender("numpy, zeros and slices")
    def _() -> Any:
        def by_slices() -> np.ndarray:
            out = np.zeros((len(arrays), max(map(len, arrays))), np.float32)
            for i, array in enumerate(arrays):
                out[i, : len(array)] = array
            return out

        return by_slices

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from . import by_hand

        def by_kernel() -> np.ndarray:
            lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
            offsets = np.empty(len(arrays) + 1, np.int64)
            longest, _ = by_hand.offsets_of(lengths, offsets)
            out = np.empty((len(arrays), longest), np.float32)
            by_hand.pad(np.concatenate(arrays), offsets, 1, out)
            return out

        return by_kernel

    @case.contender("torch pad_sequence", needs="torch")
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        tensors = [torch.from_numpy(array) for array in arrays]
        return lambda: torch.nn.utils.rnn.pad_sequence(tensors, batch_first=True)

    return source


@row("list-pad.64x32", "list of arrays to padded, 64 of mean 32")
def _(case: Case) -> None:
    _lists_to_padded(case, case.size(64, 5), 32)
    case.within("<= 0.8 us", 0.8, best=14)


@row("list-pad.1024x8", "list of arrays to padded, 1024 of mean 8")
def _(case: Case) -> None:
    _lists_to_padded(case, case.size(1024, 9), 8)
    case.within("<= 8 us", 8, best=111)


@row("list-pad.100kx4", "list of arrays to padded, 100,000 of mean 4")
def _(case: Case) -> None:
    count = case.size(100_000, 17)
    _lists_to_padded(case, count, 4)
    case.per("an array", count, 12, best=135)


def _lists_to_ragged(case: Case, count: int, limit: float, best: float) -> None:
    source = sample.rows(count, 8)
    arrays = sample.arrays(source)
    case.reference = [source.values, source.lengths]
    case.per("an array", count, limit, best)

    @case.contender("varlen", show=lambda result: [result[0], result[1].lengths])
    def _() -> Any:
        from varlen import _core

        return _core.list2ragged, arrays

    @case.contender("np.concatenate and lengths")
    def _() -> Any:
        return lambda: (np.concatenate(arrays), np.fromiter(map(len, arrays), np.int64, len(arrays)))

    @case.contender("numba", needs="numba", show=lambda result: [result[0], np.diff(result[1])])
    def _() -> Any:
        from . import by_hand

        def by_kernel() -> Any:  # numba cannot walk a Python list; NumPy copies, the kernel adds up
            lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
            offsets = np.empty(len(arrays) + 1, np.int64)
            by_hand.offsets_of(lengths, offsets)
            return np.concatenate(arrays), offsets

        return by_kernel

    @case.contender("awkward", needs="awkward", show=lambda result: [result[0].to_numpy(), result[1]])
    def _() -> Any:
        import awkward

        return lambda: (awkward.concatenate(arrays), np.fromiter(map(len, arrays), np.int64, len(arrays)))

    @case.contender("torch.cat", needs="torch", show=lambda result: [result[0].numpy(), result[1]])
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        tensors = [torch.from_numpy(array) for array in arrays]
        return lambda: (torch.cat(tensors), np.fromiter(map(len, tensors), np.int64, len(tensors)))


@row("list-ragged.1000", "list of 1000 arrays to ragged")
def _(case: Case) -> None:
    _lists_to_ragged(case, case.size(1000, 8), 5, 107)


@row("list-ragged.100k", "list of 100,000 arrays to ragged")
def _(case: Case) -> None:
    _lists_to_ragged(case, case.size(100_000, 12), 12, 124)


@row("views", "ragged to a list of 10,000 views")
def _(case: Case) -> None:
    count = case.size(10_000, 6)
    source = sample.rows(count, 8)
    values, offsets = source.values, source.offsets
    case.reference = [values[a:b] for a, b in pairwise(offsets)]
    case.per("a view", count, 60, best=145)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import _core

        return _core.ragged2list, values, _core.Level.from_lengths(source.lengths)

    @case.contender("slices")
    def _() -> Any:
        def by_slices() -> list[np.ndarray]:
            ends = offsets.tolist()
            return [values[a:b] for a, b in pairwise(ends)]

        return by_slices

    @case.contender("np.split")
    def _() -> Any:
        return np.split, values, offsets[1:-1]

    @case.contender("numba", needs="numba", show=list)
    def _() -> Any:
        import numba

        def cut(flat: np.ndarray, at: np.ndarray) -> Any:
            views = [flat[at[0] : at[1]]]
            for i in range(1, len(at) - 1):
                views.append(flat[at[i] : at[i + 1]])  # noqa: PERF401
            return views

        kernel = numba.njit(cut)
        return lambda: kernel(values, offsets)


def _nested(case: Case, count: int, mean: int, limit: float, kind: type) -> None:
    source = sample.rows(count, mean, dtype=np.int64 if kind is int else np.float64)
    nested = [array.tolist() for array in sample.arrays(source)]
    case.reference = [source.values, source.lengths]
    case.per("an element", len(source.values), limit, best=21 if mean < 10 else 12)

    @case.contender("varlen", show=lambda result: [result[0], result[1][0].lengths])
    def _() -> Any:
        from varlen import _core

        return _core.from_lists, nested

    def by_fromiter() -> Any:
        lengths = np.fromiter(map(len, nested), np.int64, len(nested))
        total = int(lengths.sum())
        return np.fromiter(chain.from_iterable(nested), source.values.dtype, total), lengths

    @case.contender("np.fromiter", show=list)
    def _() -> Any:
        return by_fromiter

    @case.contender("numba", needs="numba", show=lambda result: [result[0], np.diff(result[1])])
    def _() -> Any:
        from . import by_hand

        def with_offsets() -> Any:  # the walk over Python lists is NumPy's; numba's own is slower
            values, lengths = by_fromiter()
            offsets = np.empty(len(lengths) + 1, np.int64)
            by_hand.offsets_of(lengths, offsets)
            return values, offsets

        return with_offsets

    @case.contender(
        "pyarrow", needs="pyarrow", show=lambda a: [a.values.to_numpy(), a.value_lengths().to_numpy()]
    )
    def _() -> Any:
        import pyarrow

        return pyarrow.array, nested

    @case.contender(
        "polars", needs="polars", show=lambda s: [s.explode(empty_as_null=False).to_numpy(), s.list.len()]
    )
    def _() -> Any:
        import polars

        inner = polars.Int64 if kind is int else polars.Float64
        return lambda: polars.Series(nested, dtype=polars.List(inner))

    @case.contender(
        "awkward", needs="awkward", show=lambda a: [a.layout.content.data, np.diff(a.layout.offsets.data)]
    )
    def _() -> Any:
        import awkward

        return awkward.from_iter, nested

    @case.contender(
        "upstream", needs="nested_ragged_tensors", show=lambda j: [j.tensors["dim1/x"], _lengths(j)]
    )
    def _() -> Any:
        from nested_ragged_tensors.ragged_numpy import JointNestedRaggedTensorDict

        schema = {"x": source.values.dtype.type}
        return lambda: JointNestedRaggedTensorDict({"x": nested}, schema=schema)


def _lengths(joint: Any) -> np.ndarray:
    return np.diff(joint.tensors["dim1/bounds"], prepend=0)


@row("nested.int.4", "nested lists of ints to flat, rows of mean 4")
def _(case: Case) -> None:
    _nested(case, case.size(20_000, 7), 4, 4.5, int)


@row("nested.float.4", "nested lists of floats to flat, rows of mean 4")
def _(case: Case) -> None:
    _nested(case, case.size(20_000, 7), 4, 4.5, float)


@row("nested.int.50", "nested lists of ints to flat, rows of mean 50")
def _(case: Case) -> None:
    _nested(case, case.size(2000, 7), 50, 2.2, int)


@row("nested.float.50", "nested lists of floats to flat, rows of mean 50")
def _(case: Case) -> None:
    _nested(case, case.size(2000, 7), 50, 2.2, float)


@row("nested.own", "Ragged.from_list of 1,000,000 ints, each an object of its own, in rows of 4")
def _(case: Case) -> None:
    count = case.size(1_000_000, 28)
    ints = list(range(1000, 1000 + count))
    nested = [ints[i : i + 4] for i in range(0, count, 4)]
    case.reference = np.arange(1000, 1000 + count), np.full(count // 4, 4)
    case.per("an element", count, 9.9)

    @case.contender("varlen", show=lambda ragged: (ragged.values, ragged.lengths))
    def _() -> Any:
        import varlen

        return varlen.Ragged.from_list, nested

    @case.contender("np.fromiter")
    def _() -> Any:
        def flat() -> tuple[np.ndarray, np.ndarray]:
            lengths = np.fromiter(map(len, nested), np.int64, len(nested))
            return np.fromiter(chain.from_iterable(nested), np.int64, count), lengths

        return flat
