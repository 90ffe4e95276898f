"""Rows by an index array."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _gather(case: Case, count: int, mean: int) -> int:
    values, lengths, offsets = source = sample.rows(count, mean)
    index = np.random.default_rng(3).integers(0, count, count)
    arrays = sample.arrays(source)
    case.reference = np.concatenate([arrays[i] for i in index])
    total = len(case.reference)
    out, out_offsets = case.buffer(total, values.dtype), case.buffer(count + 1, np.int64)
    del arrays

    @case.contender("varlen", show=lambda ragged: ragged.values)
    def _() -> Any:
        import varlen

        ragged = varlen.Ragged(values, lengths=lengths)
        return lambda: ragged[index]

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from . import by_hand

        def into_kept() -> np.ndarray:
            size = by_hand.gather_offsets(offsets, index, out_offsets)
            by_hand.gather_values(values, offsets, index, out_offsets, 1, out)
            return out[:size]

        return into_kept

    @case.contender("numba, fresh output", needs="numba")
    def _() -> Any:
        from . import by_hand

        def fresh() -> np.ndarray:
            at = np.empty(count + 1, np.int64)
            result = np.empty(by_hand.gather_offsets(offsets, index, at), values.dtype)
            by_hand.gather_values(values, offsets, index, at, 1, result)
            return result

        return fresh

    @case.contender("numpy, repeat and take")
    def _() -> Any:
        def by_take() -> np.ndarray:
            counts = lengths[index]
            ends = np.cumsum(counts)
            return values[np.repeat(offsets[index] - ends + counts, counts) + np.arange(ends[-1])]

        return by_take

    @case.contender("pyarrow", needs="pyarrow", show=lambda result: result.flatten().to_numpy())
    def _() -> Any:
        import pyarrow

        array, at = pyarrow.ListArray.from_arrays(offsets.astype(np.int32), values), pyarrow.array(index)
        return lambda: array.take(at)

    @case.contender(
        "polars", needs="polars", show=lambda result: result.explode(empty_as_null=False).to_numpy()
    )
    def _() -> Any:
        import polars
        import pyarrow

        series = polars.Series(
            polars.from_arrow(pyarrow.ListArray.from_arrays(offsets.astype(np.int32), values))
        )
        at = polars.Series(index)
        return lambda: series.gather(at)

    @case.contender(
        "awkward", needs="awkward", show=lambda result: np.asarray(result.layout.to_packed().content.data)
    )
    def _() -> Any:
        import awkward

        content = awkward.contents.NumpyArray(values)
        array = awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(offsets), content))
        return lambda: awkward.to_packed(array[index])

    @case.contender(
        "fbgemm", needs=("torch", "fbgemm_gpu"), show=lambda result: result[0].numpy().reshape(-1)
    )
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        flat, given, at = (
            torch.from_numpy(values).reshape(-1, 1),
            torch.from_numpy(lengths),
            torch.from_numpy(index),
        )
        return lambda: torch.ops.fbgemm.jagged_index_select(flat, given, at)

    case.yardstick("memcpy", yardstick.memcpy, out, np.ones(total, values.dtype))
    return count


@row("gather.4", "gather rows, mean 4")
def _(case: Case) -> None:
    case.per("a row", _gather(case, case.size(131_072, 23), 4), 9, best=13.9)


@row("gather.16", "gather rows, mean 16")
def _(case: Case) -> None:
    case.per("a row", _gather(case, case.size(16_384, 23), 16), 9.5, best=17.5)


@row("gather.2048", "gather rows, mean 2048")
def _(case: Case) -> None:
    _gather(case, case.size(4096, 5), case.size(2048, 9))
    case.over("memcpy", 1 / 0.95, text="95 % of memcpy")


@row("gather.mask", "keep what a ragged mask marks, mean 3")
def _(case: Case) -> None:
    values, lengths, offsets = sample.rows(case.size(1_000_000, 1_000), 3)
    marks = np.random.default_rng(4).random(len(values)) > 0.5
    case.reference = values[marks]

    @case.contender("varlen", show=lambda ragged: ragged.values)
    def _() -> Any:
        import varlen

        ragged = varlen.Ragged(values, lengths=lengths)
        mask = varlen.Ragged(marks, levels=ragged.levels)
        return lambda: ragged[mask]

    @case.contender("awkward", needs="awkward", show=lambda result: np.asarray(result.layout.content.data))
    def _() -> Any:
        import awkward

        index = awkward.index.Index64(offsets)
        array, mask = (
            awkward.Array(awkward.contents.ListOffsetArray(index, awkward.contents.NumpyArray(numbers)))
            for numbers in (values, marks)
        )
        return lambda: awkward.to_packed(array[mask])

    case.yardstick("the mask of NumPy", lambda: values[marks])
    case.over("the mask of NumPy", 1.1)
