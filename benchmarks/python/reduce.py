"""Sequences to one row each, and their gradients."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _thinc() -> Any:
    from thinc.backends import NumpyOps

    return NumpyOps()


def _plain(case: Case, op: str, count: int, mean: int, limit: float, best: float) -> None:
    """Plain numbers: the price of a number."""
    values, lengths, offsets = sample.rows(count, mean)
    lengths = np.maximum(lengths, 1)
    source = sample.of_lengths(lengths)
    values, offsets = source.values, source.offsets
    by_numpy = {"sum": np.add, "max": np.maximum}.get(op, np.add)
    case.reference = by_numpy.reduceat(values, offsets[:-1])
    out = case.buffer(count, np.float32)

    def shown(result: Any) -> np.ndarray:
        """Whole numbers: means round as they like."""
        return np.rint(result * lengths) if op == "mean" else result

    case.per("an element", len(values), limit, best=best)

    @case.contender("varlen", show=shown)
    def _() -> Any:
        from varlen import Level, _core

        level = Level.from_lengths(lengths)
        return lambda: _core.reduce(op, values, level, 0, out)

    @case.contender("numba", needs="numba", show=lambda _: shown(out))
    def _() -> Any:
        from . import by_hand

        return getattr(by_hand, f"reduce_{op}"), values, offsets, out

    if op != "mean":

        @case.contender("np.reduceat")
        def _() -> Any:
            return lambda: by_numpy.reduceat(values, offsets[:-1])

    @case.contender(
        "Thinc", needs="thinc", show=lambda result: shown((result[0] if op == "max" else result)[:, 0])
    )
    def _() -> Any:
        table, narrow = values.reshape(-1, 1), lengths.astype(np.int32)
        return getattr(_thinc(), f"reduce_{op}"), table, narrow

    case.yardstick("read", yardstick.read, values)


for _mean, _limit, _bests in (
    (4, 0.40, (1.4, 1.4, 2.5)),
    (16, 0.25, (0.70, 0.70, 0.70)),
    (64, 0.10, (0.22, 0.22, 0.22)),
    (1024, 0.04, (0.047, 0.047, 0.047)),
):
    for _op, _best in zip(("sum", "mean", "max"), _bests, strict=True):

        @row(f"reduce.{_op}.{_mean}", f"segment {_op} of plain numbers, mean length {_mean}, in cache")
        def _(
            case: Case, op: str = _op, mean: int = _mean, limit: float = _limit, best: float = _best
        ) -> None:
            _plain(case, op, case.size(65_536 // mean, 21), mean, limit, best)


@row("reduce.sum.large", "segment sum of plain numbers, mean length 16, 64 MB")
def _(case: Case) -> None:
    _plain(case, "sum", case.size(1_048_576, 21), 16, 0.5, 1.1)


def _half(case: Case, name: str, count: int, mean: int) -> None:
    """A tensor of halves: it has half of the bytes of float32."""
    import torch

    torch.set_num_threads(1)
    lengths = np.maximum(sample.lengths(count, mean), 1)
    floats = torch.from_numpy(sample.of_lengths(lengths).values)
    values = floats.to(getattr(torch, name))
    case.reference = torch.segment_reduce(values.float(), "sum", lengths=torch.from_numpy(lengths)).to(values.dtype)
    case.reference = case.reference.float().numpy()

    def shown(result: Any) -> np.ndarray:
        return result.float().numpy()

    case.per("an element", len(values))

    @case.contender("varlen", show=shown)
    def _() -> Any:
        from varlen import Ragged

        return Ragged(values, lengths).sum

    @case.contender("varlen of float32", show=lambda result: shown(result.to(values.dtype)))
    def _() -> Any:
        from varlen import Ragged

        return Ragged(floats, lengths).sum

    @case.contender("torch.segment_reduce of float32", needs="torch", show=lambda result: shown(result.to(values.dtype)))
    def _() -> Any:
        each = torch.from_numpy(lengths)
        return lambda: torch.segment_reduce(values.float(), "sum", lengths=each)

    case.yardstick("read", yardstick.read, values.view(torch.int16).numpy())


for _name in ("bfloat16", "float16"):
    for _mean, _rows_of_it in ((64, 16_384), (1024, 4096)):

        @row(f"reduce.sum.{_name}.{_mean}", f"sum of a tensor of {_name}, mean length {_mean}")
        def _(case: Case, name: str = _name, count: int = _rows_of_it, mean: int = _mean) -> None:
            _half(case, name, case.size(count, 21), mean)


def _rows(case: Case, op: str, count: int, mean: int, width: int) -> None:
    """Rows of several numbers: against reading them."""
    lengths = np.maximum(sample.lengths(count, mean), 1)
    source = sample.of_lengths(lengths, width=width)
    values, offsets = source.values, source.offsets
    by_numpy = np.maximum if op == "max" else np.add
    case.reference = by_numpy.reduceat(values, offsets[:-1], axis=0)
    out = case.buffer((count, width), np.float32)

    def shown(result: Any) -> np.ndarray:
        """Whole numbers: means round as they like."""
        return np.rint(result * lengths[:, None]) if op == "mean" else result

    @case.contender("varlen", show=shown)
    def _() -> Any:
        from varlen import Level, _core

        level = Level.from_lengths(lengths)
        return lambda: _core.reduce(op, values, level, 0, out)

    if op == "sum":

        @case.contender("numba", needs="numba", show=lambda _: out)
        def _() -> Any:
            from . import by_hand

            return by_hand.reduce_rows, values, offsets, out

        @case.contender("torch EmbeddingBag", needs="torch", show=lambda result: result.numpy())
        def _() -> Any:
            import torch

            torch.set_num_threads(1)
            table, at = torch.from_numpy(values), torch.from_numpy(offsets[:-1])
            every = torch.arange(len(values))
            return lambda: torch.nn.functional.embedding_bag(every, table, at, mode="sum")

    @case.contender("Thinc", needs="thinc", show=lambda result: shown(result[0] if op == "max" else result))
    def _() -> Any:
        return getattr(_thinc(), f"reduce_{op}"), values, lengths.astype(np.int32)

    case.yardstick("read", yardstick.read, values)
    case.over("read", 1 / 0.95, text="95 % of read bandwidth")


for _width in (16, 64, 256, 300):

    @row(f"reduce.rows.{_width}", f"segment sum of rows of {_width} numbers, mean length 16, 64 MB")
    def _(case: Case, width: int = _width) -> None:
        _rows(case, "sum", case.size(1_048_576 // width, 21), 16, width)


@row("reduce.rows.96", "segment sum of rows of 96 numbers, documents of mean length 20, 15 MB")
def _(case: Case) -> None:
    _rows(case, "sum", case.size(2000, 21), 20, 96)


for _op in ("mean", "max"):

    @row(f"reduce.rows.{_op}", f"segment {_op} of rows of 64 numbers, mean length 16, 64 MB")
    def _(case: Case, op: str = _op) -> None:
        _rows(case, op, case.size(16_384, 21), 16, 64)


@row("reduce.which", "reduce_max with its rows, 96 numbers, mean length 20, 15 MB")
def _(case: Case) -> None:
    count = case.size(2000, 21)
    lengths = np.maximum(sample.lengths(count, 20), 1)
    source = sample.of_lengths(lengths, width=96)
    values, offsets = source.values, source.offsets
    most = np.maximum.reduceat(values, offsets[:-1], axis=0)
    which = [values[a:b].argmax(0) for a, b in pairwise(offsets)]
    case.reference = [most, np.asarray(which)]
    out, at = case.buffer(most.shape, np.float32), case.buffer(most.shape, np.int32)

    @case.contender("varlen", show=list)
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.reduce_max(values, level, which=True)

    @case.contender("numba", needs="numba", show=lambda _: [out, at])
    def _() -> Any:
        from . import by_hand

        return by_hand.max_rows, values, offsets, out, at

    @case.contender("Thinc", needs="thinc", show=list)
    def _() -> Any:
        return _thinc().reduce_max, values, lengths.astype(np.int32)

    case.yardstick("read", yardstick.read, values)
    case.over("read", 1 / 0.8, text="80 % of read bandwidth")


@row("reduce.backprop", "backprop_reduce_sum, 96 numbers, mean length 20, 15 MB")
def _(case: Case) -> None:
    count = case.size(2000, 21)
    lengths = sample.lengths(count, 20)
    source = sample.of_lengths(np.ones(count, np.int64), width=96)
    rows, offsets = source.values, np.concatenate([[0], np.cumsum(lengths)])
    case.reference = np.repeat(rows, lengths, axis=0)
    out = case.buffer(case.reference.shape, np.float32)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.backprop_reduce_sum(rows, level, out=out)

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return by_hand.repeat_rows, rows, offsets, out

    @case.contender("np.repeat")
    def _() -> Any:
        return lambda: np.repeat(rows, lengths, axis=0)

    @case.contender("Thinc", needs="thinc")
    def _() -> Any:
        return _thinc().backprop_reduce_sum, rows, lengths.astype(np.int32)

    case.yardstick("memset", yardstick.memset, out)
    case.over("memset", 1 / 0.8, text="80 % of write bandwidth")
