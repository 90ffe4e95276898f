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


def _flat_columns(kind: str, count: int) -> tuple[Any, Any]:
    """A column of pyarrow and its values; a tenth of the floats are missing, and become 0."""
    import pyarrow

    rng = np.random.default_rng(0)
    missing = rng.random(count) < 0.1
    if kind == "bools":
        return pyarrow.array(missing), missing
    numbers = rng.random(count)
    return pyarrow.array(numbers, mask=missing), np.where(missing, 0.0, numbers)


def _flat(case: Case, kind: str, fill: dict[str, Any]) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3)
    case.beat()

    @case.contender("varlen", needs="pyarrow", show=lambda r: [r.values])
    def _() -> Any:
        import pyarrow
        import varlen as vl

        column, values = _flat_columns(kind, len(source.values))
        case.reference = [values]
        lists = pyarrow.LargeListArray.from_arrays(source.offsets, column)
        return lambda: vl.Ragged.from_arrow(lists, **fill)

    @case.contender("pyarrow", needs="pyarrow", show=lambda a: [a])
    def _() -> Any:
        column = _flat_columns(kind, len(source.values))[0]
        return lambda: (column.fill_null(0) if fill else column).to_numpy(zero_copy_only=False)

    @case.contender("polars", needs=("polars", "pyarrow"), show=lambda a: [a])
    def _() -> Any:
        import polars as pl

        series = pl.Series(_flat_columns(kind, len(source.values))[0])
        return lambda: (series.fill_null(0) if fill else series).to_numpy()


@row("arrow.bools", "3 M bits in lists of 64-bit offsets to a Ragged of bools; the peers' are a flat column")
def _(case: Case) -> None:
    _flat(case, "bools", {})


@row("arrow.nulls", "the same of floats, a tenth of them missing, which become 0")
def _(case: Case) -> None:
    _flat(case, "nulls", {"nulls": "fill", "fill": 0})


@row(
    "arrow.joint",
    "a table of ids, lists of 3 M bools and of 3 M words, 1000 of them different, to a joint dict",
)
def _(case: Case) -> None:
    source = sample.rows(case.size(1_000_000, 100), 3, dtype=np.int64)
    words = np.array([f"word{i}" for i in range(1000)])
    ids = source.values % 1000
    case.reference = [np.arange(len(source.lengths)), ids % 2 == 0, words[ids]]
    case.per("a word", len(ids), 8.0)

    def table() -> Any:
        import pyarrow

        texts = pyarrow.array(words.tolist(), pyarrow.large_string()).take(pyarrow.array(ids))
        columns = {"bool": pyarrow.array(ids % 2 == 0), "word": texts}
        lists = {k: pyarrow.LargeListArray.from_arrays(source.offsets, v) for k, v in columns.items()}
        return pyarrow.table({"id": np.arange(len(source.lengths)), **lists})

    @case.contender("varlen", needs="pyarrow", show=_columns_of)
    def _() -> Any:
        import varlen as vl

        return vl.JointNestedRaggedTensorDict, table()

    @case.contender("pyarrow", needs="pyarrow", show=lambda parts: [parts[0], parts[1], _texts_of(parts[2])])
    def _() -> Any:
        columns = [column.chunk(0) for column in table().columns]
        return lambda: [
            columns[0].to_numpy(),
            columns[1].values.to_numpy(zero_copy_only=False),
            columns[2].values.dictionary_encode(),
        ]


def _columns_of(joint: Any) -> list[Any]:
    words = np.array(joint.vocabularies["word"])[joint["word"].values]
    return [joint["id"], joint["bool"].values, words]


def _texts_of(array: Any) -> Any:
    """The texts of a dictionary of pyarrow."""
    return np.array(array.dictionary.to_pylist())[array.indices.to_numpy()]


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
        show=lambda a: [_texts_of(a)],
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
