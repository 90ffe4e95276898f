"""The doors that take and give Arrow arrays: bad input is refused by name and row, nothing is lost unsaid."""

import datetime
import decimal

import numpy as np
import pytest
import varlen
from doors import masked
from hypothesis import given
from hypothesis import strategies as st
from varlen import Level, _core
from varlen.data.collation.arrow_samples import from_arrow_samples

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

from varlen.interop.arrow import Nulls, columns_of, from_arrow, to_arrow  # noqa: E402

L = pa.list_


class Exports:
    """What says that it exports an array, and hands out something else."""

    def __arrow_c_array__(self, requested_schema=None):
        return 3


def lists(values, offsets, kind=None):
    """An array as another library hands it over: nobody has looked at its offsets."""
    child = pa.array(values, kind)
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32))]
    return pa.ListArray.from_buffers(L(child.type), len(offsets) - 1, buffers, children=[child])


def ids(numbers, words):
    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int8()), pa.array(words), safe=False)


TEXT = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 1], np.int32)), pa.py_buffer(b"\xff"))
UNION = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])
TWICE = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
TABLE = pa.table({"a": [[1]], "b": [[2]]})


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (None, TypeError, "data: expected an Arrow array, or an object that exports one, got NoneType"),
        (3, TypeError, "data: expected an Arrow array, .* got int"),
        ("ab", TypeError, "data: expected an Arrow array, .* got str"),
        (b"ab", TypeError, "data: expected an Arrow array, .* got bytes"),
        ([[1], [2]], TypeError, "data: expected an Arrow array, .* got list"),
        ({"a": [1]}, TypeError, "data: expected an Arrow array, .* got dict"),
        (np.ones((2, 3)), TypeError, "data: expected an Arrow array, .* got ndarray"),
        (pa.scalar([1, 2]), TypeError, "data: expected an Arrow array, .* got ListScalar"),
        (pa.list_(pa.int8()), TypeError, "data: expected an Arrow array, .* got ListType"),
        (pa.schema([]), TypeError, "data: expected an Arrow array, .* got Schema"),
        (Exports, TypeError, "data: expected an Arrow array, .* got type"),
        (Exports(), TypeError, "data: Exports exports no Arrow array"),
        (pa.array([1, 2]), ValueError, "data: expected a list column, got one without any nesting"),
        (pa.array([[1, 2]], L(pa.int8(), 2)), ValueError, "data: expected a list column"),
        (TABLE, ValueError, r"data: a struct holds 2 columns \(data.a, data.b\); pass one of them"),
        (pa.array([[{"a": 1, "b": 2}]]), ValueError, "data: a struct holds 2 columns"),
        (pa.array([{}]), ValueError, "data: a struct holds 0 columns"),
        (TWICE, ValueError, "data: two of its fields have the name 'data.a'"),
        (
            pa.array([[b"a\0"]]),
            ValueError,
            "data: .* at row 0 ends in a zero, which NumPy's bytes drop",
        ),
        (pa.array([[[("a", 1)]]], L(pa.map_(pa.string(), pa.int8()))), ValueError, "data: a struct holds 2"),
        (UNION, TypeError, "data: expected numbers, times or text, got type sparse_union"),
        (lists([1, 2], [0, 50, 2]), ValueError, "data: offsets: row 0 ends at 50, past the last row"),
        (lists([1, 2], [0, 2, 1]), ValueError, "data: offsets: row 1 ends at 1, before the row in front of"),
        (ids([7], ["a"]), ValueError, "data: id 7 at row 0 leaves the 1 values of its dictionary"),
        (ids([-1], [5]), ValueError, "data: id -1 at row 0 leaves the 1 values of its dictionary"),
        (TEXT, ValueError, "data: bytes that are no UTF-8 at row 0"),
    ],
)
def test_arrow_arrays_are_what_is_asked_for(data, error, text):
    with pytest.raises(error, match=f"^{text}"):
        from_arrow(data)


@pytest.mark.parametrize(
    ("array", "row"),
    [
        (pa.array([[1], None]), 1),
        (pa.array([[1, 2], [], [3, None]]), 2),
        (pa.array([[[1], [2, 3]], [[]], [[4], [None]]]), 2),
        (pa.array([[[1], [2, 3]], [None]]), 1),
        (pa.array([["a"], ["b", None]]), 1),
        (pa.ListArray.from_arrays([0, 1, 2], ids([0, 1], ["a", None])), 1),
        (pa.array([[{"a": 1}], [{"a": 2}, None]]), 1),
        (pa.array([[{"a": 1}], [{"a": 2}], [{"a": None}]]), 2),
        (pa.array([[[1, 2]], [[3, 4], None]], L(L(pa.int8(), 2))), 1),
        (pa.array([[[1, 2], [3, 4]], [[5, None]]], L(L(pa.int8(), 2))), 1),
        (pa.array([[], [None]], L(pa.null())), 1),
        (pa.chunked_array([[[1]], [[2], [None]]]), 2),
        (pa.array([[9], [1, 2], [], [3, None]]).slice(1), 2),
    ],
)
def test_nulls_are_refused_with_the_row_that_they_lie_in(array, row):
    with pytest.raises(ValueError, match=f"^data.*: null at row {row}; say what nulls become"):
        from_arrow(array)
    with pytest.raises(ValueError, match=f"^x.*: null at row {row + 100};"):
        columns_of(array, "x", first_row=100)


def test_nothing_stands_for_a_null_list_of_fixed_size():
    array = pa.array([[[1, 2]], [[3, 4], None]], L(L(pa.int8(), 2)))
    for nulls in ({"nulls": "nan"}, {"nulls": "fill", "fill": 3}):
        with pytest.raises(ValueError, match="data: null at row 1; nothing stands for a list of fixed size"):
            from_arrow(array, **nulls)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"nulls": "drop"}, "nulls: expected 'refuse', 'nan' or 'fill', got 'drop'"),
        ({"nulls": None}, "nulls: expected .* got None"),
        ({"nulls": ["nan"]}, r"nulls: expected .* got \['nan'\]"),
        ({"nulls": "fill"}, "fill: needs nulls='fill', got None with 'fill'"),
        ({"fill": 3}, "fill: needs nulls='fill', got 3 with 'refuse'"),
        ({"nulls": "nan", "fill": 3}, "fill: needs nulls='fill', got 3 with 'nan'"),
    ],
)
def test_a_policy_and_a_fill_go_together(options, text):
    with pytest.raises(ValueError, match=text):
        from_arrow(pa.array([[1]]), **options)


@pytest.mark.parametrize(
    ("kind", "fill"),
    [
        (pa.int8(), 300),
        (pa.uint8(), -1),
        (pa.int64(), 1.5),
        (pa.int64(), 2**70),
        (pa.int64(), True),
        (pa.int64(), "a"),
        (pa.int64(), float("nan")),
        (pa.int64(), [1]),
        (pa.float32(), 1e300),
        (pa.float64(), "a"),
        (pa.bool_(), 2),
        (pa.date32(), "a"),
        (pa.timestamp("s"), 1.5),
    ],
)
def test_a_fill_is_a_value_of_the_column(kind, fill):
    with pytest.raises(ValueError, match=r"^fill: .* does not fit .*, the type of data"):
        from_arrow(pa.array([[None]], L(kind)), nulls="fill", fill=fill)


@pytest.mark.parametrize(
    ("array", "fill", "values"),
    [
        (pa.array([[1, None]]), 2.0, [1, 2]),
        (pa.array([[1.5, None]], L(pa.float32())), 0.5, [1.5, 0.5]),
        (pa.array([[1.5, None]]), float("inf"), [1.5, np.inf]),
        (pa.array([[True, None]]), False, [True, False]),
        (pa.array([[None]], L(pa.null())), 3, [3.0]),
        (pa.array([[1, None]], L(pa.uint64())), 2**64 - 1, [1, 2**64 - 1]),
    ],
)
def test_a_fill_stands_where_nulls_were(array, fill, values):
    assert from_arrow(array, nulls="fill", fill=fill).values.tolist() == values


def test_integers_that_floats_do_not_hold_are_not_rounded():
    array = pa.array([[1, 2], [2**62 + 1, None]])
    with pytest.raises(ValueError, match=f"data: {2**62 + 1} at row 1 is beyond the integers of float64"):
        from_arrow(array, nulls="nan")
    assert from_arrow(array, nulls="fill", fill=0).values.tolist() == [1, 2, 2**62 + 1, 0]


def test_a_dictionary_gives_each_word_once_and_hides_no_null():
    twice = columns_of(ids([0, 1, 2], ["a", "b", "a"]), "x")["x"]
    assert (twice.vocabulary, twice.values.tolist()) == (("a", "b"), [0, 1, 0])
    null = columns_of(ids([0, 1, 0], ["a", None]), "x", Nulls("nan"))["x"]
    assert (null.vocabulary, null.values.tolist()) == (("a",), [0, -1, 0])
    fill = columns_of(ids([0, 1], ["a", None]), "x", Nulls("fill", "b"))["x"]
    assert (fill.vocabulary, fill.values.tolist()) == (("a", "b"), [0, 1])


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((None, "x"), TypeError, "array: expected a pyarrow Array or ChunkedArray, got NoneType"),
        (([1], "x"), TypeError, "array: expected a pyarrow Array or ChunkedArray, got list"),
        ((TABLE, "x"), TypeError, "array: expected a pyarrow Array or ChunkedArray, got Table"),
        ((pa.array([1]), None), TypeError, "name: expected a string, got None"),
        ((pa.array([1]), "x", "nan"), TypeError, "nulls: expected Nulls, got 'nan'"),
    ],
)
def test_columns_are_of_an_array(arguments, error, text):
    with pytest.raises(error, match=text):
        columns_of(*arguments)


TWO = np.arange(2)


@pytest.mark.parametrize(
    ("values", "levels", "error", "text"),
    [
        (None, [], TypeError, "values: expected an array, got NoneType"),
        ([1, 2], [Level([2])], TypeError, "values: expected an array, got list"),
        (np.array(3), [], TypeError, r"values: expected rows of numbers, got int64 of shape \(\)"),
        (
            np.array([1, None], object),
            [Level([2])],
            TypeError,
            "values: expected rows of numbers, got object",
        ),
        (masked(), [Level([2])], TypeError, "values: expected an array without a mask"),
        (np.ones(2, complex), [Level([2])], TypeError, "values: Arrow has no type for dtype complex128"),
        (np.zeros(2, [("a", "i4")]), [Level([2])], TypeError, "values: Arrow has no type for dtype"),
        (
            np.zeros(2, "M8[Y]"),
            [Level([2])],
            TypeError,
            r"values: Arrow has no type for dtype datetime64\[Y\]",
        ),
        (TWO, None, TypeError, "levels: expected a list of Level, got NoneType"),
        (TWO, Level([2]), TypeError, "levels: expected a list of Level, got Level"),
        (TWO, [[2]], TypeError, "levels: item 0: expected a Level, got list"),
        (TWO, [Level([1]), np.array([2])], TypeError, "levels: item 1: expected a Level, got ndarray"),
        (TWO, [Level([3])], ValueError, "levels: level 0 ends at 3, but values has 2 rows"),
        (TWO, [Level([1])], ValueError, "levels: level 0 ends at 1, but values has 2 rows"),
        (TWO, [Level([1]), Level([1, 1])], ValueError, "levels: level 0 ends at 1, but level 1 has 2 rows"),
    ],
)
def test_what_arrow_does_not_have_is_refused(values, levels, error, text):
    with pytest.raises(error, match=text):
        to_arrow(values, levels)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6)[::3],
        np.arange(2)[::-1],
        np.arange(2, dtype=">i4"),
        np.frombuffer(b"ab", np.uint8),
        np.ones((2, 2, 3), np.float16),
        np.ones((2, 0)),
        np.ones((2, 0, 3)),
        np.ones((2, 3, 0), np.int8),
        np.array([True, False]),
        np.array(["2020-01-01", "1960-02-03"], "M8[ms]"),
    ],
    ids=lambda values: f"{values.dtype}{values.shape}",
)
def test_odd_memory_and_rows_without_width_go_there_and_back(values):
    result = to_arrow(values, [Level([2, 0]), Level([1, 1])])
    result.validate(full=True)
    back = from_arrow(result)
    assert back.values.shape == values.shape
    assert back.values.dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(back.values, values)
    assert [level.lengths.tolist() for level in back.levels] == [[2, 0], [1, 1]]


@pytest.mark.parametrize(
    ("values", "vocabulary", "error", "text"),
    [
        (np.array([0, 2]), ["a", "b"], ValueError, "values: id 2 at position 1 is out of range for 2 words"),
        (
            np.array([0, -2]),
            ["a", "b"],
            ValueError,
            "values: id -2 at position 1 is out of range for 2 words",
        ),
        (
            np.array([2**64 - 1], "u8"),
            ["a"],
            ValueError,
            f"values: id {2**64 - 1} at position 0 is out of range for 1 words",
        ),
        (
            np.array([0.0]),
            ["a"],
            TypeError,
            "values: expected integers, the ids of a vocabulary, got float64",
        ),
        (np.array([0]), "a", TypeError, "vocabulary: expected a list of words, got str"),
    ],
)
def test_ids_are_those_of_words(values, vocabulary, error, text):
    with pytest.raises(error, match=text):
        to_arrow(values, [Level([len(values)])], vocabulary)


@pytest.mark.parametrize("kind", [pa.decimal128(38), pa.decimal256(60), pa.decimal128(38, -1)])
def test_decimals_without_a_fraction_are_whole_numbers(kind):
    values = [10 * 2**53, 10 * (2**53 + 1), -10]
    array = pa.array([[decimal.Decimal(value) for value in values]], pa.list_(kind))
    assert from_arrow(array).values.tolist() == values
    assert from_arrow(array).values.dtype == np.int64
    array = pa.array([[decimal.Decimal(2**64 - 6), None]], pa.list_(kind))
    found = from_arrow(array, nulls="fill", fill=7).values
    assert found.tolist() == [2**64 - 6, 7]
    assert found.dtype == np.uint64
    for wrong in (-(2**63) - 2, 2**64 + 4):
        with pytest.raises(ValueError, match=rf"data: .*{str(abs(wrong))[:8]}.* at row 1 does not fit"):
            from_arrow(pa.array([[], [decimal.Decimal(wrong)]], pa.list_(kind)))


@given(st.decimals(-(10**20), 10**20, allow_nan=False, allow_infinity=False, places=6))
def test_decimals_are_the_nearest_doubles_or_refused(value):
    array = pa.array([[value]], pa.list_(pa.decimal128(38, 6)))
    if round(decimal.Decimal(float(value)), 6) == value:
        assert from_arrow(array).values.tolist() == [float(value)]
    else:
        with pytest.raises(ValueError, match="has more digits than a double"):
            from_arrow(array)


def test_samples_of_decimals_are_numbers():
    values = [[decimal.Decimal(2**53 + 1)], [decimal.Decimal(3), decimal.Decimal(4)]]
    table = pa.table(
        {
            "x": pa.array(values, pa.list_(pa.decimal128(20))),
            "y": pa.array([decimal.Decimal("0.7"), decimal.Decimal(1)], pa.decimal128(9, 1)),
        }
    )
    rows = from_arrow_samples([table])
    assert [row["x"].tolist() for row in rows] == [[2**53 + 1], [3, 4]]
    assert [row["y"] for row in rows] == [0.7, 1.0]
    first = from_arrow_samples([{name: table.column(name)[0] for name in table.column_names}])
    assert (first[0]["x"].tolist(), first[0]["y"]) == ([2**53 + 1], 0.7)
    nulls = pa.table({"x": pa.array([[decimal.Decimal(3), None], None], pa.list_(pa.decimal128(20)))})
    rows = from_arrow_samples([nulls.append_column("y", pa.array([None, decimal.Decimal(2)]))])
    assert [rows[0]["x"].tolist(), rows[1]["x"]] == [[3, None], None]
    assert [row["y"] for row in rows] == [None, 2]
    assert from_arrow_samples([nulls.column("x")[0]])[0].tolist() == [3, None]
    wrong = pa.table({"y": pa.array([decimal.Decimal(2**64)], pa.decimal128(38))})
    with pytest.raises(ValueError, match="y: 18446744073709551616 at row 0 does not fit uint64"):
        from_arrow_samples([wrong])


def test_a_struct_holds_a_name_once():
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"])
    with pytest.raises(ValueError, match=r"two of its fields have the name 'data\.a'"):
        from_arrow(pa.chunked_array([twice]))
    with pytest.raises(ValueError, match="two fields of a struct are called 'a'"):
        from_arrow_samples([twice[0]])
    values = [np.arange(2), np.arange(2)]
    with pytest.raises(ValueError, match="two keys are called 'a'"):
        _core.Joint(["a", "a"], [0, 0], values, [])
    joint = _core.Joint(["a", "b"], [0, 0], values, [])
    with pytest.raises(ValueError, match="two keys are called 'b'"):
        joint.rename(["b", "b"])
    with pytest.raises(ValueError, match="two keys are called 'a'"):
        joint.select(["a", "a"])


@pytest.mark.parametrize("nested", [False, True])
def test_dictionaries_that_hold_a_null_are_read_in_chunks(nested):
    def chunk(ids, words):
        array = pa.DictionaryArray.from_arrays(pa.array(ids, pa.int32()), pa.array(words))
        return pa.ListArray.from_arrays([0, 1, len(ids)], array) if nested else array

    chunks = [chunk([0, 2, 0], ["x", None, "y"]), chunk([1, 0], ["x", "y"])]
    column = columns_of(pa.chunked_array(chunks), "w")["w"]
    assert [column.vocabulary[i] for i in column.values] == ["x", "y", "x", "y", "x"]
    assert [level.lengths.tolist() for level in column.levels] == ([[1, 2, 1, 1]] if nested else [])
    wrong = pa.chunked_array([chunks[1], chunk([0, 1, 0], ["x", None])])
    with pytest.raises(ValueError, match="w: null at row 3"):
        columns_of(wrong, "w")


@pytest.mark.parametrize("kind", [L(pa.int16()), pa.large_list(pa.int16()), pa.list_view(pa.int16())])
def test_a_joint_dict_takes_lists_of_arrow(kind):
    values = [[1, 2], [], [300]]
    pairs = [[[v, v] for v in row] for row in values]
    array = pa.array(values, kind)
    for column in (array, pa.chunked_array([array[:1], array[1:]]), pa.concat_arrays([array, array])[3:]):
        joint = varlen.JointNestedRaggedTensorDict({"x": column, "deep": pa.array(pairs)})
        assert joint.to_list() == {"x": values, "deep": pairs}
    words = varlen.JointNestedRaggedTensorDict({"w": pa.array([["b"], ["a", "b"]])}, schema={"w": str})
    assert words.to_list() == {"w": [["b"], ["a", "b"]]}


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (pa.array([[1], [2, None]]), "x: null at row 1; fill it first"),
        (pa.array([[{"a": 1, "b": 2}]]), "x: a struct of x.a, x.b; give each field as a key"),
        (pa.array([[b"a"]]), "x: expected numbers, times or text, got type binary"),
        (pa.array([[datetime.time(1)]]), r"x: expected a column with a NumPy dtype, got type time64\[us\]"),
    ],
)
def test_a_joint_dict_names_what_it_cannot_take_of_arrow(array, text):
    with pytest.raises((ValueError, TypeError), match=text):
        varlen.JointNestedRaggedTensorDict({"x": array})
