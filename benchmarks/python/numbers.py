"""Functions of NumPy along the sequences, and tables of figures."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample
from .indexing import awkward_lists

FIGURES = ("min", "25%", "50%", "75%", "max")


def _source(case: Case) -> sample.Rows:
    """A million sequences of 1 to 7 numbers."""
    return sample.of_lengths(sample.lengths(case.size(1_000_000, 100), 3) + 1, dtype=np.float64)


def _read(case: Case, values: np.ndarray) -> None:
    case.yardstick("read", yardstick.read, values)


def _polars(values: np.ndarray, offsets: np.ndarray) -> Any:
    """A column of lists."""
    import polars as pl
    import pyarrow as pa

    return pl.Series(pa.LargeListArray.from_arrays(offsets, values))


@row("numpy.median", "np.median(r, axis=1) of 1 M sequences of mean 4")
def _(case: Case) -> None:
    values, lengths, offsets = _source(case)
    ids = np.repeat(np.arange(len(lengths)), lengths)
    order = np.sort(ids * 100 + values) % 100  # numbers are below 100, and whole
    low, high = order[offsets[:-1] + (lengths - 1) // 2], order[offsets[:-1] + lengths // 2]
    case.reference = (low + high) / 2
    case.unit = ("ns a number", len(values))
    case.beat()
    _read(case, values)

    @case.contender("varlen")
    def _() -> Any:
        import varlen as vl

        r = vl.Ragged(values, lengths)
        return lambda: np.median(r, axis=1)

    @case.contender("polars", needs=("polars", "pyarrow"), show=lambda s: s.to_numpy())
    def _() -> Any:
        return _polars(values, offsets).list.median

    @case.contender("pandas", needs="pandas", show=lambda s: s.to_numpy())
    def _() -> Any:
        import pandas

        return pandas.Series(values).groupby(ids).median

    @case.contender("awkward, sorted", needs="awkward", show=np.asarray)
    def _() -> Any:
        import awkward as ak

        array = awkward_lists(values, offsets)
        rows = np.arange(len(lengths))

        def by_awkward() -> Any:
            ordered, counts = ak.sort(array), ak.num(array)
            return (ordered[rows, (counts - 1) // 2] + ordered[rows, counts // 2]) / 2

        return by_awkward


@row("numpy.nanmean", "np.nanmean(r, axis=1) of 1 M sequences of mean 4, a tenth of all numbers NaN")
def _(case: Case) -> None:
    values, lengths, offsets = _source(case)
    values[np.random.default_rng(3).random(len(values)) < 0.1] = np.nan
    values[offsets[:-1]] = 1.0
    is_there = ~np.isnan(values)
    counts = np.add.reduceat(is_there, offsets[:-1], dtype=np.int64)
    case.reference = np.add.reduceat(np.where(is_there, values, 0), offsets[:-1]) / counts
    case.unit = ("ns a number", len(values))
    case.beat()
    _read(case, values)

    @case.contender("varlen")
    def _() -> Any:
        import varlen as vl

        r = vl.Ragged(values, lengths)
        return lambda: np.nanmean(r, axis=1)

    @case.contender("numpy, by hand")
    def _() -> Any:
        def by_numpy() -> np.ndarray:
            keep = ~np.isnan(values)
            sums = np.add.reduceat(np.where(keep, values, 0), offsets[:-1])
            return sums / np.add.reduceat(keep, offsets[:-1], dtype=np.int64)

        return by_numpy

    @case.contender("awkward", needs="awkward", show=np.asarray)
    def _() -> Any:
        import awkward as ak

        array = awkward_lists(values, offsets)
        return lambda: ak.nanmean(array, axis=1)

    @case.contender("polars", needs=("polars", "pyarrow"), show=lambda s: s.to_numpy())
    def _() -> Any:
        import polars as pl

        return lambda: _polars(np.where(np.isnan(values), 0, values), offsets).list.sum() / pl.Series(counts)


@row("numpy.average", "np.average(r, axis=1, weights=w) of 1 M sequences of mean 4")
def _(case: Case) -> None:
    values, lengths, offsets = _source(case)
    weights = np.random.default_rng(4).integers(1, 5, len(values)).astype(np.float64)
    sums = [np.add.reduceat(x, offsets[:-1]) for x in (values * weights, weights)]
    case.reference = sums[0] / sums[1]
    case.unit = ("ns a number", len(values))
    case.beat()
    _read(case, values)

    @case.contender("varlen")
    def _() -> Any:
        import varlen as vl

        r, w = vl.Ragged(values, lengths), vl.Ragged(weights, lengths)
        return lambda: np.average(r, axis=1, weights=w)

    @case.contender("numpy, by hand")
    def _() -> Any:
        starts = offsets[:-1]
        return lambda: np.add.reduceat(values * weights, starts) / np.add.reduceat(weights, starts)

    @case.contender("awkward", needs="awkward", show=np.asarray)
    def _() -> Any:
        import awkward as ak

        array, weight = awkward_lists(values, offsets), awkward_lists(weights, offsets)
        return lambda: ak.mean(array, axis=1, weight=weight)


@row("describe", "r.describe() of 1 M sequences of mean 4: figures of lengths and of numbers")
def _(case: Case) -> None:
    values, lengths, _ = _source(case)
    case.reference = [np.quantile(x, [0, 0.25, 0.5, 0.75, 1]) for x in (lengths, values)]
    case.beat()
    _read(case, values)

    @case.contender("varlen", show=lambda table: [[table[name][k] for name in FIGURES] for k in (0, 1)])
    def _() -> Any:
        import varlen as vl

        return vl.Ragged(values, lengths).describe

    @case.contender("pandas", needs="pandas", show=lambda pair: [x[list(FIGURES)] for x in pair])
    def _() -> Any:
        import pandas

        series = [pandas.Series(x) for x in (lengths, values)]
        return lambda: [x.describe() for x in series]

    @case.contender(
        "polars",
        needs="polars",
        show=lambda pair: [[dict(x.iter_rows())[name] for name in FIGURES] for x in pair],
    )
    def _() -> Any:
        import polars as pl

        series = [pl.Series(x) for x in (lengths, values)]
        return lambda: [x.describe(interpolation="linear") for x in series]
