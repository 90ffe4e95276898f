"""Lists of arrays to time-major blocks, sorted by length, and back."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _sample(case: Case, count: int, mean: int, width: int) -> sample.Rows:
    """Geometric lengths: many short, few long, so that the block is 8 to 10 times the rows."""
    given = np.random.default_rng(0).geometric(1 / mean, case.size(count, 9))
    return sample.of_lengths(given, width)


def _places(lengths: np.ndarray) -> tuple[np.ndarray, ...]:
    """Order, column and step of every row, and how many sequences are longer than each step: NumPy's way."""
    order = np.argsort(lengths, kind="stable")[::-1]
    columns = np.empty(len(lengths), np.int64)
    columns[order] = np.arange(len(lengths))
    ends = np.cumsum(lengths)
    steps = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
    return order, np.repeat(columns, lengths), steps, np.bincount(steps)


def _parts(padded: Any) -> list[np.ndarray]:
    return [padded.data, padded.size_at_t, padded.lengths, padded.indices]


def _block(source: sample.Rows) -> list[np.ndarray]:
    order, columns, steps, sizes = _places(source.lengths)
    data = np.zeros((len(sizes), len(order), source.width), np.float32)
    data[steps, columns] = source.values
    return [data, sizes, source.lengths[order], order]


def _pack(case: Case, source: sample.Rows) -> None:
    arrays = sample.arrays(source)
    case.reference = _block(source)
    data = case.reference[0]

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen

        return varlen.ops.list2padded, arrays

    @case.contender("varlen, of a Ragged", show=_parts)
    def _() -> Any:
        import varlen

        return varlen.ops.ragged2padded, varlen.Ragged(source.values, source.lengths)

    @case.contender("Thinc", needs="thinc", show=_parts)
    def _() -> Any:
        from thinc.api import NumpyOps

        return NumpyOps().list2padded, arrays

    @case.contender("numpy, zeros and one index")
    def _() -> Any:
        def by_index() -> list[np.ndarray]:
            lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
            return _block(sample.Rows(np.concatenate(arrays), lengths, lengths))

        return by_index

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from . import by_hand

        def by_kernel() -> list[np.ndarray]:
            lengths = np.fromiter(map(len, arrays), np.int64, len(arrays))
            offsets = np.empty(len(arrays) + 1, np.int64)
            longest, _ = by_hand.offsets_of(lengths, offsets)
            out = np.empty((longest, len(arrays), source.width), np.float32)
            order = np.argsort(lengths, kind="stable")[::-1]
            sizes = np.empty(longest, np.int64)
            by_hand.pack(np.concatenate(arrays), offsets, order, sizes, out)
            return [out, sizes, lengths[order], order]

        return by_kernel

    case.yardstick("memcpy", yardstick.memcpy, np.zeros_like(data), data)
    case.yardstick("fill", yardstick.memset, np.zeros_like(data))
    case.over("memcpy", 1.1, text="<= 1.1 memcpy of the padded block")


def _unpack(case: Case, source: sample.Rows) -> None:
    case.reference = source.values
    count = len(source.lengths)
    data, sizes, lengths, order = _block(source)
    fields = [field.astype(np.int32) for field in (sizes, lengths, order)]

    def shown(result: list[np.ndarray]) -> np.ndarray:
        assert [len(one) for one in result] == source.lengths.tolist()
        return np.concatenate(result)

    @case.contender("varlen", show=shown)
    def _() -> Any:
        import varlen

        return varlen.ops.padded2list, varlen.Padded(data, *fields)

    @case.contender("varlen, to a Ragged", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.ops.padded2ragged, varlen.Padded(data, *fields)

    @case.contender("Thinc", needs="thinc", show=shown)
    def _() -> Any:
        from thinc.api import NumpyOps, Padded

        return NumpyOps().padded2list, Padded(data, *fields)

    @case.contender("numpy, one index and views", show=shown)
    def _() -> Any:
        def by_index() -> list[np.ndarray]:
            original = np.empty(count, np.int64)
            original[order] = lengths
            _, columns, steps, _ = _places(original)
            flat = data[steps, columns]
            return [flat[a:b] for a, b in pairwise([0, *np.cumsum(original).tolist()])]

        return by_index

    @case.contender("numba and views", needs="numba", show=shown)
    def _() -> Any:
        from . import by_hand

        def by_kernel() -> list[np.ndarray]:
            original, offsets = np.empty(count, np.int64), np.empty(count + 1, np.int64)
            original[order] = lengths
            _, total = by_hand.offsets_of(original, offsets)
            out = np.empty((total, source.width), np.float32)
            by_hand.unpack(data, offsets, order, out)
            return [out[a:b] for a, b in pairwise(offsets.tolist())]

        return by_kernel

    case.yardstick("memcpy", yardstick.memcpy, np.zeros_like(data), data)
    case.over("memcpy", 1.1, text="<= 1.1 memcpy of the padded block")


@row("pack.2000x20x96", "list of arrays to time-major, 2000 of mean 20, 96 wide")
def _(case: Case) -> None:
    _pack(case, _sample(case, 2000, 20, 96))


@row("pack.20000x4x64", "list of arrays to time-major, 20,000 of mean 4, 64 wide")
def _(case: Case) -> None:
    _pack(case, _sample(case, 20_000, 4, 64))


@row("unpack.2000x20x96", "time-major to list of arrays, 2000 of mean 20, 96 wide")
def _(case: Case) -> None:
    _unpack(case, _sample(case, 2000, 20, 96))


@row("unpack.20000x4x64", "time-major to list of arrays, 20,000 of mean 4, 64 wide")
def _(case: Case) -> None:
    _unpack(case, _sample(case, 20_000, 4, 64))
