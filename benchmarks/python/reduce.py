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


def _plain(
    case: Case, op: str, count: int, mean: int, limit: float, best: float, dtype: str = "float32"
) -> None:
    """Plain numbers: the price of a number."""
    values, lengths, offsets = sample.rows(count, mean)
    lengths = np.maximum(lengths, 1)
    source = sample.of_lengths(lengths)
    values, offsets = source.values.astype(dtype), source.offsets
    is_float = values.dtype.kind == "f"
    by_numpy = {"sum": np.add, "max": np.maximum}.get(op, np.add)
    case.reference = by_numpy.reduceat(values, offsets[:-1])
    out = case.buffer(count, np.float32 if is_float else np.int64)

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

    if is_float:

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


for _op, _dtype, _limit in (("sum", "int32", 1.0), ("sum", "int64", 0.6), ("max", "int64", 0.6)):

    @row(f"reduce.{_op}.{_dtype}", f"segment {_op} of {_dtype}, mean length 16, in cache")
    def _(case: Case, op: str = _op, dtype: str = _dtype, limit: float = _limit) -> None:
        _plain(case, op, case.size(4096, 21), 16, limit, 0.0, dtype)


@row("reduce.max.times", "segment max of datetime64, mean length 16, in cache, beside int64")
def _(case: Case) -> None:
    source = sample.of_lengths(np.maximum(sample.rows(case.size(4096, 21), 16).lengths, 1))
    numbers = np.random.default_rng(5).integers(0, 2**40, len(source.values))
    times, lengths = numbers.view("M8[s]"), source.lengths
    case.reference = np.maximum.reduceat(times, source.offsets[:-1])
    case.per("an element", len(times), 2.0)

    @case.contender("varlen")
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.reduce_max(times, level)

    @case.contender("int64", show=lambda result: result.view("M8[s]"))
    def _() -> Any:
        from varlen import Level, ops

        level = Level.from_lengths(lengths)
        return lambda: ops.reduce_max(numbers, level)

    @case.contender("np.reduceat")
    def _() -> Any:
        return lambda: np.maximum.reduceat(times, source.offsets[:-1])

    case.yardstick("read", yardstick.read, numbers)


def _checked(case: Case, count: int, most: int, limit: float) -> None:
    """Integers that are added up and looked at, beside the plain sum."""
    source = sample.of_lengths(np.maximum(sample.lengths(count, 16), 1))
    numbers, lengths = np.random.default_rng(5).integers(-most, most, len(source.values)), source.lengths
    case.reference = np.add.reduceat(numbers, source.offsets[:-1])
    case.unit = ("ns an element", len(numbers))
    case.over("wrap", limit)

    for name, overflow in (("varlen", "raise"), ("wrap", "wrap")):

        @case.contender(name)
        def _(overflow: str = overflow) -> Any:
            from varlen import Level, ops

            level = Level.from_lengths(lengths)
            return lambda: ops.reduce_sum(numbers, level, overflow=overflow)

    @case.contender("np.reduceat")
    def _() -> Any:
        return lambda: np.add.reduceat(numbers, source.offsets[:-1])

    case.yardstick("read", yardstick.read, numbers)


@row(
    "reduce.sum.checked",
    "segment sum of int64 with overflow='raise', mean length 16, in cache, beside 'wrap'",
)
def _(case: Case) -> None:
    _checked(case, case.size(4096, 21), 2**40, 3.0)


@row("reduce.sum.checked.large", "the same, 128 MB")
def _(case: Case) -> None:
    _checked(case, case.size(1_048_576, 21), 2**40, 3.0)


@row(
    "reduce.sum.checked.edge",
    "segment sum of int64 that may reach 2**63, with overflow='raise', mean length 16, in cache",
)
def _(case: Case) -> None:
    _checked(case, case.size(4096, 21), 2**59, 10.0)


@row("reduce.sum.large", "segment sum of plain numbers, mean length 16, 64 MB")
def _(case: Case) -> None:
    _plain(case, "sum", case.size(1_048_576, 21), 16, 0.5, 1.1)


def _half(case: Case, name: str, count: int, mean: int, limit: float) -> None:
    """A tensor of halves: half of the bytes of float32."""
    lengths = np.maximum(sample.lengths(count, mean), 1)
    # So small that no sum is more than float16 holds.
    floats = sample.of_lengths(lengths).values % 16
    case.reference = np.add.reduceat(floats, np.cumsum(lengths) - lengths)
    case.yardstick("read", yardstick.read, floats.view(np.int16)[: floats.size])

    def tensor(dtype: str) -> Any:
        import torch

        torch.set_num_threads(1)
        return torch.from_numpy(floats).to(getattr(torch, dtype))

    def shown(result: Any) -> np.ndarray:
        """Rounded to what a half holds of it."""
        return result.float().numpy()

    def near(result: Any) -> np.ndarray:
        """The reference, where the half is as near to it as halves are."""
        numbers = shown(result)
        digits = 2.0**-8 if name == "bfloat16" else 2.0**-11
        return np.where(
            np.abs(numbers - case.reference) <= digits * np.abs(case.reference), case.reference, numbers
        )

    @case.contender("varlen", needs="torch", show=near)
    def _() -> Any:
        from varlen import Ragged

        return Ragged(tensor(name), lengths).sum

    @case.contender("varlen, float32", needs="torch", show=shown)
    def _() -> Any:
        from varlen import Ragged

        return Ragged(tensor("float32"), lengths).sum

    @case.contender("torch.segment_reduce of float32", needs="torch", show=near)
    def _() -> Any:
        import torch

        values, each = tensor(name), torch.from_numpy(lengths)
        return lambda: torch.segment_reduce(values.float(), "sum", lengths=each)

    case.over("varlen, float32", limit, text=f"{limit:g} of float32")


for _name in ("bfloat16", "float16"):
    # In the caches what a sequence costs weighs as much as its bytes.
    for _mean, _many, _limit in ((64, 16_384, 0.7), (1024, 4096, 0.7)):

        @row(f"reduce.sum.{_name}.{_mean}", f"sum of a tensor of {_name}, mean length {_mean}")
        def _(
            case: Case, name: str = _name, count: int = _many, mean: int = _mean, limit: float = _limit
        ) -> None:
            _half(case, name, case.size(count, 21), mean, limit)


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
