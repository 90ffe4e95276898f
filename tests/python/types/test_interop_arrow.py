"""Arrow columns become values and levels, and go back, with slices, chunks, nulls and structs."""

import dataclasses
import uuid

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow.compute as pc  # noqa: E402
from varlen import Level  # noqa: E402
from varlen.interop.arrow import Nulls, columns_of, from_arrow, to_arrow  # noqa: E402


def rebuilt(column):
    """The nested lists that a column stands for, by slicing."""
    rows = column.values.tolist()
    for level in reversed(column.levels):
        rows = [rows[a:b] for a, b in zip(level.offsets[:-1], level.offsets[1:], strict=True)]
    return rows


def view_arrays():
    """Words in views, which Arrow has few functions of, wherever they may lie."""
    words = pa.array(["a", "b", None], pa.string_view())
    ids = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), words.slice(0, 2))
    yield ids, ["a", "b", "a"]
    yield words.slice(0, 2), ["a", "b"]
    yield pa.DictionaryArray.from_arrays(pa.array([0, 1]), words), ["a", "b"]
    yield pa.chunked_array([ids, ids.slice(1)]), ["a", "b", "a", "b", "a"]
    with_null = pa.DictionaryArray.from_arrays(pa.array([1]), words)
    yield pa.chunked_array([with_null, ids]), ["b", "a", "b", "a"]
    yield pa.LargeListArray.from_arrays(pa.array([0, 2, 2, 3]), ids), [["a", "b"], [], ["a"]]
    lists = pa.LargeListArray.from_arrays(pa.array([0, 1]), with_null)
    yield pa.chunked_array([lists, lists]), [["b"], ["b"]]
    yield pa.FixedSizeListArray.from_arrays(ids.slice(1), 2), [["b", "a"]]
    yield pa.ListViewArray.from_arrays(pa.array([1, 0]), pa.array([2, 1]), words), [["b", None], ["a"]]


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow has no views of text")
def test_words_in_views_are_words():
    for array, expected in view_arrays():
        column = columns_of(array, "x", Nulls("nan"))["x"]
        words = np.array([*column.vocabulary, None], object)
        column = dataclasses.replace(column, values=words[column.values])
        assert rebuilt(column) == expected, array.type


NESTED = [[[1, 2], []], [], [[3]], [[4, 5, 6], [7]]]


@pytest.mark.parametrize("kind", [pa.list_(pa.list_(pa.int32())), pa.large_list(pa.list_(pa.int32()))])
def test_lists_nest_by_themselves(kind):
    column = columns_of(pa.array(NESTED, kind), "x")["x"]
    assert rebuilt(column) == NESTED
    assert column.values.dtype == np.int32


def test_slices_and_chunks_keep_their_rows():
    array = pa.array(NESTED)
    assert rebuilt(columns_of(array.slice(1, 2), "x")["x"]) == NESTED[1:3]
    chunks = pa.chunked_array([array.slice(0, 1), array.slice(1), array.slice(4)])
    assert rebuilt(columns_of(chunks, "x")["x"]) == NESTED
    none = pa.chunked_array([], pa.list_(pa.int8()))
    assert rebuilt(columns_of(none, "x")["x"]) == []


def test_null_is_refused_by_default_and_named():
    with pytest.raises(ValueError, match=r"^x: null at row 2;"):
        columns_of(pa.array([1, 2, None]), "x")
    with pytest.raises(ValueError, match=r"^x: null at row 1;"):
        columns_of(pa.array([[1], None]), "x")


def test_nulls_become_what_was_asked():
    array = pa.array([[1, None], None, [3]])
    nan = columns_of(array, "x", Nulls("nan"))["x"]
    np.testing.assert_array_equal(nan.values, [1.0, np.nan, 3.0])
    assert nan.levels[0].lengths.tolist() == [2, 0, 1]
    fill = columns_of(array, "x", Nulls("fill", 9))["x"]
    assert fill.values.tolist() == [1, 9, 3]
    assert fill.values.dtype == np.int64
    with pytest.raises(ValueError, match="'refuse', 'nan' or 'fill', got 'drop'"):
        Nulls("drop")


def test_strings_are_ids_into_a_vocabulary():
    for array in (pa.array([["b", "a"], ["b"]]), pa.array(["b", "a", "b"]).dictionary_encode()):
        column = columns_of(array, "x")["x"]
        assert [column.vocabulary[i] for i in column.values] == ["b", "a", "b"]
    assert columns_of(pa.array(["a", None]), "x", Nulls("nan"))["x"].values.tolist() == [0, -1]


TEXTS = [[["b", "a"], []], [], [["b"]], [["c", "", "née"]]]


@pytest.mark.parametrize(
    "array",
    [
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_list(pa.list_(pa.large_string()))),
        pa.array(TEXTS, pa.list_(pa.list_(pa.dictionary(pa.int8(), pa.string())))),
        pa.chunked_array([pa.array(TEXTS[:1]), pa.array(TEXTS[1:])]),
    ],
    ids=["strings", "large", "dictionary", "chunks"],
)
def test_strings_come_back_as_strings(array):
    column = from_arrow(array)
    assert [column.vocabulary[i] for i in column.values] == ["b", "a", "b", "c", "", "née"]
    back = to_arrow(column.values, column.levels, column.vocabulary)
    back.validate(full=True)
    assert back.to_pylist() == TEXTS
    assert back.type == pa.large_list(pa.large_list(pa.large_string()))
    again = from_arrow(back)
    words = (column.vocabulary[i] for i in column.values)
    assert [again.vocabulary[i] for i in again.values] == list(words)


def test_nulls_among_strings_come_back_as_nulls():
    column = from_arrow(pa.array([["a", None], [None]]), nulls="nan")
    assert column.values.tolist() == [1, -1, -1]
    assert to_arrow(column.values, column.levels, column.vocabulary).to_pylist() == [["a", None], [None]]
    filled = from_arrow(pa.array([["a", None], [None]]), nulls="fill", fill="z")
    assert to_arrow(filled.values, filled.levels, filled.vocabulary).to_pylist() == [["a", "z"], ["z"]]


@pytest.mark.parametrize("dtype", ["U4", np.dtypes.StringDType()], ids=str)
def test_arrays_of_strings_are_strings_in_arrow(dtype):
    levels = columns_of(pa.array([[1], [2, 3]]), "x")["x"].levels
    words = np.array(["née", "", "a"], dtype)
    assert to_arrow(words, levels).to_pylist() == [["née"], ["", "a"]]
    assert to_arrow(words[:0], [Level([0, 0])]).to_pylist() == [[], []]
    assert to_arrow(words[:, None], levels).to_pylist() == [[["née"]], [[""], ["a"]]]


def test_ids_of_fixed_dims_are_strings_too():
    column = from_arrow(pa.array([[["a", "b"]], [["b", "b"]]], pa.list_(pa.list_(pa.string(), 2))))
    assert column.values.shape == (2, 2)
    assert to_arrow(column.values, column.levels, column.vocabulary).to_pylist() == [
        [["a", "b"]],
        [["b", "b"]],
    ]


def test_struct_fields_are_columns_of_their_own():
    array = pa.array([[{"a": 1, "b": [1.5]}, {"a": 2, "b": []}], []])
    found = columns_of(array, "visit")
    assert list(found) == ["visit.a", "visit.b"]
    assert rebuilt(found["visit.a"]) == [[1, 2], []]
    assert rebuilt(found["visit.b"]) == [[[1.5], []], []]


def test_fixed_size_lists_are_trailing_dims():
    array = pa.array([[[1, 2, 3]], [], [[4, 5, 6], [7, 8, 9]]], pa.list_(pa.list_(pa.int16(), 3)))
    column = columns_of(array, "x")["x"]
    assert column.values.shape == (3, 3)
    assert column.levels[0].lengths.tolist() == [1, 0, 2]


def test_dates_keep_their_unit():
    array = pa.array([np.datetime64("2024-01-01T00:00:01", "s")])
    assert columns_of(array, "x")["x"].values.dtype == np.dtype("M8[s]")


def test_times_with_a_zone_are_utc_and_name_it():
    times = pa.array(["2020-01-01T01:00:00+01:00"]).cast(pa.timestamp("s", "Europe/Berlin"))
    for array in (times, times.dictionary_encode(), pa.FixedSizeListArray.from_arrays(times, 1)):
        found = from_arrow(pa.ListArray.from_arrays([0, 1], array))
        assert found.zone == "Europe/Berlin"
        assert found.values.reshape(-1).tolist() == np.array(["2020-01-01"], "M8[s]").tolist()
    assert from_arrow(pa.array([[1]])).zone is None


def test_types_without_a_width_are_refused():
    with pytest.raises(TypeError, match="x: expected numbers, times or text, got type binary"):
        columns_of(pa.array([b"a"]), "x")


@pytest.mark.parametrize("dtype", ["i1", "u8", "f4", "f8", "?"])
def test_there_and_back(dtype):
    array = pa.array(NESTED)
    column = columns_of(array, "x")["x"]
    back = to_arrow(column.values.astype(dtype), column.levels)
    again = columns_of(back, "x")["x"]
    assert again.values.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(again.values, column.values.astype(dtype))
    assert [a == b for a, b in zip(again.levels, column.levels, strict=True)] == [True, True]


def test_extension_types_are_what_they_hold():
    """Runs are decoded, UUIDs are text, tensors of a fixed shape rows of that shape; in lists and structs."""
    uuids = [uuid.UUID(int=7), uuid.UUID(int=8), uuid.UUID(int=7)]
    flat = pa.array(np.arange(18, dtype=np.int32))
    tensors = [
        pa.ExtensionArray.from_storage(kind, pa.FixedSizeListArray.from_arrays(flat, 6))
        for order in (None, [1, 0])
        for kind in [pa.fixed_shape_tensor(pa.int32(), [2, 3], permutation=order)]
    ]
    cases = [
        (
            pa.array([each.bytes for each in uuids], pa.binary(16)).cast(pa.uuid()),
            [str(each) for each in uuids],
        ),
        (pc.run_end_encode(pa.array([5, 5, 9])), [5, 5, 9]),
        (pc.run_end_encode(pa.array(["a", "a", "b"])), ["a", "a", "b"]),
        (pa.array([1, 0, 1], pa.int8()).cast(pa.bool8()), [True, False, True]),
        *((tensor, tensor.to_numpy_ndarray().tolist()) for tensor in tensors),
    ]
    for array, expected in cases:
        lists = pa.ListArray.from_arrays(pa.array([0, 2, 3]), array)
        inside = pa.StructArray.from_arrays([array], names=["f"])
        chunks = pa.chunked_array([array, array])
        for given, key, rows in (
            (array, "x", expected),
            (lists, "x", expected),
            (inside, "x.f", expected),
            (array.slice(1), "x", expected[1:]),
            (chunks, "x", expected * 2),
        ):
            column = columns_of(given, "x")[key]
            values = column.values.tolist()
            assert (
                values if column.vocabulary is None else [column.vocabulary[i] for i in values]
            ) == rows, given.type
            assert [level.lengths.tolist() for level in column.levels] == ([[2, 1]] if given is lists else [])


def test_nulls_inside_extension_types_are_named():
    runs = pc.run_end_encode(pa.array([5, None, None]))
    ids = pa.array([bytes(16), None], pa.binary(16)).cast(pa.uuid())
    kind = pa.fixed_shape_tensor(pa.int32(), [2])
    tensors = pa.ExtensionArray.from_storage(kind, pa.array([[1, 2], None], pa.list_(pa.int32(), 2)))
    for array in (runs, ids, tensors):
        with pytest.raises(ValueError, match="x: null at row 1"):
            columns_of(array, "x")
    assert columns_of(runs, "x", Nulls("fill", 0))["x"].values.tolist() == [5, 0, 0]
    assert columns_of(ids, "x", Nulls(word="?"))["x"].vocabulary == (str(uuid.UUID(int=0)), "?")


def test_an_extension_type_that_nobody_knows_is_named():
    class Period(pa.ExtensionType):
        def __init__(self):
            super().__init__(pa.int64(), "somebody.period")

        def __arrow_ext_serialize__(self):
            return b""

    array = pa.ExtensionArray.from_storage(Period(), pa.array([1]))
    with pytest.raises(TypeError, match=r"x: .* extension type somebody\.period; cast it to int64"):
        columns_of(array, "x")
