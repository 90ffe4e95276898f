"""Arrow: lists out to libraries of columns, without a copy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row
from . import sample


def _parts(array: Any) -> list[Any]:
    """Values and lengths of a list array of pyarrow."""
    return [array.values.to_numpy(), array.value_lengths().to_numpy()]


@row("arrow.export", "a Ragged of 1 M sequences of mean 3 to a pyarrow array, shared")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 50 us", 50.0)

    @case.contender("varlen", needs="pyarrow", show=_parts)
    def _() -> Any:
        import pyarrow
        import varlen as vl

        return pyarrow.array, vl.Ragged(source.values, source.lengths)

    @case.contender("awkward", needs=("awkward", "pyarrow"), show=_parts)
    def _() -> Any:
        import awkward as ak

        layout = ak.contents.ListOffsetArray(
            ak.index.Index64(source.offsets), ak.contents.NumpyArray(source.values)
        )
        array = ak.Array(layout)
        return lambda: ak.to_arrow(array, extensionarray=False)

    @case.contender("pyarrow", needs="pyarrow", show=_parts)
    def _() -> Any:
        import pyarrow

        return lambda: pyarrow.LargeListArray.from_arrays(source.offsets, source.values)


def _list_array(pyarrow: Any, source: sample.Rows, width: int) -> Any:
    """A list array of pyarrow with offsets of 32 or 64 bits."""
    kind = pyarrow.ListArray if width == 32 else pyarrow.LargeListArray
    return kind.from_arrays(source.offsets.astype(f"i{width // 8}"), source.values)


def _lists_of_awkward(array: Any) -> list[Any]:
    """The same of an array of awkward, whose numbers might be missing and are not."""
    import awkward as ak

    return [np.asarray(ak.to_numpy(ak.flatten(array))), np.asarray(ak.num(array))]


def _import(case: Case, width: int) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]

    @case.contender("varlen", needs="pyarrow", show=lambda r: [r.values, r.lengths])
    def _() -> Any:
        import pyarrow
        import varlen as vl

        return vl.Ragged, _list_array(pyarrow, source, width)

    @case.contender(
        "awkward",
        needs=("awkward", "pyarrow"),
        show=_lists_of_awkward,
    )
    def _() -> Any:
        import awkward as ak
        import pyarrow

        array = _list_array(pyarrow, source, width)
        return ak.from_arrow, array

    @case.contender(
        "polars",
        needs=("polars", "pyarrow"),
        show=lambda s: [s.explode(empty_as_null=False).to_numpy(), s.list.len().to_numpy()],
    )
    def _() -> Any:
        import polars
        import pyarrow

        return polars.Series, _list_array(pyarrow, source, width)


@row("arrow.import32", "a list array of 1 M sequences of mean 3 with offsets of 32 bits to a Ragged")
def _(case: Case) -> None:
    _import(case, 32)
    case.within("<= 1.5 ms", 1.5, "ms")


@row("arrow.import64", "the same with offsets of 64 bits, shared, and checked when they are first used")
def _(case: Case) -> None:
    _import(case, 64)
    case.within("<= 20 us", 20.0)


@row("arrow.frames", "a Ragged of 1 M sequences of mean 3 to a Series of pandas, shared")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 50 us", 50.0)

    def show(series: Any) -> list[Any]:
        return _parts(series.array.__arrow_array__().chunk(0))

    @case.contender("varlen", needs=("pandas", "pyarrow"), show=show)
    def _() -> Any:
        import varlen as vl

        return vl.Ragged(source.values, source.lengths).to_pandas

    @case.contender("pandas", needs=("pandas", "pyarrow"), show=show)
    def _() -> Any:
        import pandas as pd
        import pyarrow

        array = _list_array(pyarrow, source, 64)
        return lambda: pd.Series(pd.arrays.ArrowExtensionArray(array))


@row("arrow.awkward", "the same to an array of awkward by `ak.Array`, shared")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    case.reference = [source.values, source.lengths]
    case.within("<= 100 us", 100.0)

    @case.contender("varlen", needs="awkward", show=_lists_of_awkward)
    def _() -> Any:
        import awkward as ak
        import varlen as vl

        return ak.Array, vl.Ragged(source.values, source.lengths)

    @case.contender("awkward", needs="awkward", show=_lists_of_awkward)
    def _() -> Any:
        import awkward as ak

        def make() -> Any:
            offsets = ak.index.Index64(source.offsets)
            return ak.Array(ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(source.values)))

        return make


@row("arrow.words", "text of 3 M words, 1000 of them different, to ids and a vocabulary")
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    words = [f"word{i}" for i in range(1000)]
    ids = source.values % 1000
    case.reference = [np.array(words)[ids]]
    case.per("a word", len(ids), 8.0)

    def texts() -> Any:
        import pyarrow

        return pyarrow.array(words, pyarrow.large_string()).take(pyarrow.array(ids))

    @case.contender(
        "varlen", needs="pyarrow", show=lambda column: [np.array(column.vocabulary)[column.values]]
    )
    def _() -> Any:
        import pyarrow
        from varlen.interop.arrow import from_arrow

        lists = pyarrow.LargeListArray.from_arrays(source.offsets, texts())
        return lambda: from_arrow(lists)

    @case.contender(
        "pyarrow",
        needs="pyarrow",
        show=lambda a: [np.array(a.dictionary.to_pylist())[a.indices.to_numpy()]],
    )
    def _() -> Any:
        array = texts()
        return array.dictionary_encode

    @case.contender(
        "polars", needs=("polars", "pyarrow"), show=lambda s: [s.cast(__import__("polars").String).to_list()]
    )
    def _() -> Any:
        import polars as pl

        series = pl.Series(texts())
        return lambda: series.cast(pl.Categorical)
