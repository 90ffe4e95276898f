"""Many kinds of lengths and widths against the kernel written by hand: the worst of all is the figure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..harness import Case, Spread, Times, row
from . import sample

Builder = Callable[[], Callable[[], Any]]


class Pair(NamedTuple):
    """Builders of the two calls, and what both have to give."""

    ours: Builder
    numba: Builder
    expected: np.ndarray


def _ragged(source: sample.Rows) -> Any:
    import varlen

    return varlen.Ragged(source.values, lengths=source.lengths)


def _pad(case: Case, source: sample.Rows) -> Pair:
    expected = sample.padded(source)
    out = case.buffer(expected.shape, expected.dtype)

    def ours() -> Callable[[], Any]:
        ragged = _ragged(source)
        return lambda: ragged.to_dense(out=out)

    def numba() -> Callable[[], Any]:
        from . import by_hand

        rows, flat, width = out.reshape(len(out), -1), source.flat, source.width

        def call() -> np.ndarray:
            by_hand.pad(flat, source.offsets, width, rows)
            return out

        return call

    return Pair(ours, numba, expected)


def _unpad(case: Case, source: sample.Rows) -> Pair:
    dense = sample.padded(source)
    out = case.buffer(source.values.shape, source.values.dtype)

    def ours() -> Callable[[], Any]:
        import varlen

        level = varlen.Level.from_lengths(source.lengths)
        return lambda: varlen.Ragged.from_dense(dense, lengths=level, out=out).values

    def numba() -> Callable[[], Any]:
        from . import by_hand

        rows, flat, width = dense.reshape(len(dense), -1), out.reshape(-1), source.width

        def call() -> np.ndarray:
            by_hand.unpad(rows, source.offsets, width, flat)
            return out

        return call

    return Pair(ours, numba, source.values)


def _gather(case: Case, source: sample.Rows) -> Pair:
    values, lengths, offsets = source
    index = np.random.default_rng(5).permutation(len(lengths))

    def ours() -> Callable[[], Any]:
        ragged = _ragged(source)
        return lambda: ragged[index].values

    def numba() -> Callable[[], Any]:
        from . import by_hand

        flat, width = source.flat, source.width

        def call() -> np.ndarray:
            at = np.empty(len(index) + 1, np.int64)
            out = np.empty((by_hand.gather_offsets(offsets, index, at), *values.shape[1:]), values.dtype)
            by_hand.gather_values(flat, offsets, index, at, width, out.reshape(-1))
            return out

        return call

    expected = np.concatenate([values[:0], *(values[offsets[i] : offsets[i + 1]] for i in index)])
    return Pair(ours, numba, expected)


def _worst(case: Case, sources: dict[str, sample.Rows], verb: Callable[[Case, sample.Rows], Pair]) -> None:
    """Goal: as fast as numba, or faster, on each of these."""
    case.reference = True
    for name, source in sources.items():
        pair = verb(case, source)

        def same(result: Any, expected: np.ndarray = pair.expected) -> bool:
            return bool(np.array_equal(result, expected))

        case.contender(f"varlen, {name}", show=same)(pair.ours)
        case.contender(f"numba, {name}", needs="numba", show=same)(pair.numba)
        case.rivals.append(f"numba, {name}")

    def worst(times: Times) -> Spread:
        ratios = [times.ratio(f"varlen, {name}", f"numba, {name}") for name in sources]
        return max(ratios, key=lambda ratio: ratio.median)

    case.goal("<= 1 of numba on each", 1.0, worst, "x numba, the worst")


def _kinds(case: Case) -> dict[str, sample.Rows]:
    count = case.size(4096, 9)
    kinds = ("equal", "uniform", "zipf", "lognormal", "many-empty", "sorted", "all-empty")
    sources = {f"{kind} {count} x 32": sample.drawn(kind, count, 32) for kind in kinds}
    sources["one giant among 64"] = sample.drawn("one-giant", 64, case.size(512, 4))
    sources["one row of 32"] = sample.drawn("equal", 1, 32)
    return sources


def _widths(case: Case) -> dict[str, sample.Rows]:
    count = case.size(16_384, 9)
    sources = {}
    for dtype in (np.uint8, np.int16, np.int32, np.int64, np.complex128):
        sources[f"{np.dtype(dtype).itemsize} B"] = sample.rows(count, 16, dtype=dtype)
    for width in (3, 5, 12, 20, 64):
        sources[f"{width} x 1 B"] = sample.rows(count, 16, width=width, dtype=np.uint8)
    return sources


def _add(name: str, title: str, verb: Callable[[Case, sample.Rows], Pair]) -> None:
    @row(f"grid.{name}.lengths", f"{title}, nine kinds of lengths, against numba")
    def _(case: Case) -> None:
        _worst(case, _kinds(case), verb)

    @row(f"grid.{name}.widths", f"{title}, rows of 1 to 64 B, against numba")
    def _(case: Case) -> None:
        _worst(case, _widths(case), verb)


_add("pad", "ragged to padded", _pad)
_add("unpad", "padded to ragged", _unpad)
_add("gather", "gather rows", _gather)
