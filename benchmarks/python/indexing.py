"""Indexing and assignment: ragged masks and orders, pairs, and places that are written."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample


def _source(case: Case, least: int = 0) -> sample.Rows:
    """A million sequences of mean 3 numbers, or of one more, from 1 to 99."""
    return sample.of_lengths(sample.lengths(case.size(1_000_000, 100), 3) + least, dtype=np.float64)


def _parts(ragged: Any) -> list[Any]:
    """Values and lengths."""
    return [ragged.values, ragged.lengths]


def awkward_lists(values: np.ndarray, offsets: np.ndarray) -> Any:
    import awkward as ak

    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(offsets), ak.contents.NumpyArray(values)))


def _parts_of_awkward(array: Any) -> list[Any]:
    import awkward as ak

    return [np.asarray(ak.flatten(array)), np.asarray(ak.num(array))]


def _ends(flags: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """How many flags are set before each offset."""
    return np.concatenate([[0], np.cumsum(flags)])[offsets]


def _copy(case: Case, count: int) -> None:
    """The yardstick: as many numbers are copied as a row of the table moves."""
    case.yardstick("memcpy", yardstick.memcpy, np.empty(count), np.ones(count))


def _mask(case: Case, limit: int) -> None:
    source = _source(case)
    values, offsets = source.values, source.offsets
    marks = values > limit
    case.reference = [values[marks], np.diff(_ends(marks, offsets))]
    case.yardstick("the values' mask", lambda: values[values > limit])
    case.over("the values' mask", 1.1)
    _copy(case, int(marks.sum()))

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen as vl

        r = vl.Ragged(values, source.lengths)
        return lambda: r[r > limit]

    @case.contender("numpy, by hand")
    def _() -> Any:
        def by_numpy() -> list[np.ndarray]:
            keep = values > limit
            return [values[keep], np.diff(_ends(keep, offsets))]

        return by_numpy

    @case.contender("numba", needs="numba", show=lambda pair: [pair[0], np.diff(pair[1], prepend=0)])
    def _() -> Any:
        from .by_hand import indexing as by_hand

        return by_hand.select, values, offsets, limit

    @case.contender("awkward", needs="awkward", show=_parts_of_awkward)
    def _() -> Any:
        array = awkward_lists(values, offsets)
        return lambda: array[array > limit]


@row("index.mask", "r[r > x] of 1 M sequences of mean 3, half of all numbers kept")
def _(case: Case) -> None:
    _mask(case, 50)


@row("index.mask.most", "the same, 99 of 100 numbers kept")
def _(case: Case) -> None:
    _mask(case, 1)


@row("index.order", "r[order] of 1 M sequences of mean 3, where r.argsort() gave the order")
def _(case: Case) -> None:
    source = _source(case)
    values, lengths, offsets = source
    ids = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((values, ids)) - offsets[ids]
    case.reference = [values[offsets[ids] + order], lengths]
    case.beat()
    _copy(case, len(values))

    @case.contender("varlen", show=_parts)
    def _() -> Any:
        import varlen as vl

        r, key = vl.Ragged(values, lengths), vl.Ragged(order, lengths)
        return lambda: r[key]

    @case.contender("numpy, by hand")
    def _() -> Any:
        return lambda: [values[np.repeat(offsets[:-1], lengths) + order], lengths]

    @case.contender("numba", needs="numba", show=lambda result: [result, lengths])
    def _() -> Any:
        from .by_hand import indexing as by_hand

        return by_hand.pick, values, offsets, order

    @case.contender("awkward", needs="awkward", show=_parts_of_awkward)
    def _() -> Any:
        array, key = awkward_lists(values, offsets), awkward_lists(order, offsets)
        return lambda: array[key]


@row("index.pairs", "r[rows, columns] of 1 M pairs, each checked")
def _(case: Case) -> None:
    source = _source(case, 1)
    values, lengths, offsets = source
    rng = np.random.default_rng(2)
    rows = rng.integers(0, len(lengths), case.size(1_000_000, 50))
    columns = rng.integers(0, lengths[rows])
    case.reference = values[offsets[rows] + columns]
    case.unit = ("ns a pair", len(rows))
    case.beat()

    @case.contender("varlen")
    def _() -> Any:
        import varlen as vl

        r = vl.Ragged(values, lengths)
        return lambda: r[rows, columns]

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from .by_hand import indexing as by_hand

        return by_hand.pairs, values, offsets, rows, columns

    @case.contender("awkward", needs="awkward", show=np.asarray)
    def _() -> Any:
        array = awkward_lists(values, offsets)
        return lambda: array[rows, columns]


@row("assign.mask", "r[mask] = 0 of 1 M sequences of mean 3, at half of all numbers")
def _(case: Case) -> None:
    source = _source(case)
    marks = source.values > 50
    case.reference = np.where(marks, 0, source.values)
    values = [source.values.copy() for _ in range(2)]
    case.goal("<= 1.1 of NumPy", 1.1, lambda times: times.ratio("varlen", "numpy, the values"), "x numpy")

    @case.contender("varlen", show=lambda _: values[0])
    def _() -> Any:
        import varlen as vl

        r, mask = vl.Ragged(values[0], source.lengths), vl.Ragged(marks, source.lengths)
        return r.__setitem__, mask, 0

    @case.contender("numpy, the values", show=lambda _: values[1])
    def _() -> Any:
        return values[1].__setitem__, marks, 0

    @case.contender("awkward, another array", needs="awkward", show=lambda a: _parts_of_awkward(a)[0])
    def _() -> Any:
        import awkward as ak

        array, mask = awkward_lists(source.values, source.offsets), awkward_lists(marks, source.offsets)
        return lambda: ak.where(mask, 0.0, array)


@row("assign.column", "r[:, -1] = 0 of 1 M sequences of mean 4")
def _(case: Case) -> None:
    source = _source(case, 1)
    last = source.offsets[1:] - 1
    case.reference = source.values.copy()
    case.reference[last] = 0
    values = [source.values.copy() for _ in range(2)]
    case.unit = ("ns a sequence", len(last))
    case.goal("<= 2 of NumPy", 2.0, lambda times: times.ratio("varlen", "numpy, by hand"), "x numpy")

    @case.contender("varlen", show=lambda _: values[0])
    def _() -> Any:
        import varlen as vl

        return vl.Ragged(values[0], source.lengths).__setitem__, (slice(None), -1), 0

    @case.contender("numpy, by hand", show=lambda _: values[1])
    def _() -> Any:
        def by_numpy() -> None:
            values[1][source.offsets[1:] - 1] = 0

        return by_numpy
