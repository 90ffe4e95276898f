"""Columns of Arrow from any library become containers: shared where they can be, and believed in nothing."""

import ctypes
import datetime
import functools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import varlen as vl
from hypothesis import example, given, settings
from hypothesis import strategies as st
from varlen import _core
from varlen.interop import arrow_nodes, arrow_parts
from varlen.interop.arrow_nodes import Node
from varlen.interop.nulls import Nulls
from varlen.testing import strategies

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")

NESTED = [[[1, 2], []], [], [[3]], [[4, 5, 6], [7]]]


class Source:
    """What a producer hands over, made by hand."""

    def __init__(self, node, schema=None):
        self.node, self.schema = node, schema or node

    def __arrow_c_array__(self, requested_schema=None):
        return _core.arrow_schema(self.schema), _core.arrow_array(self.node)


def address(array):
    return array.__array_interface__["data"][0]


@given(strategies.raggeds())
def test_there_and_back(r):
    if r.dtype.kind not in "biuf" or r.dtype.itemsize > 8:
        return
    back = vl.Ragged.from_arrow(r)
    assert back.equals(r, equal_nan=True)
    assert back.dtype == r.dtype.newbyteorder("=")
    if r.dtype.isnative and r.dtype.kind != "b" and r.size:
        assert address(back.values) == address(r.values)


@pytest.mark.parametrize("inner", [pa.list_, pa.large_list, getattr(pa, "list_view", pa.list_)])
@pytest.mark.parametrize("outer", [pa.list_, pa.large_list, getattr(pa, "large_list_view", pa.list_)])
def test_lists_of_any_kind(outer, inner):
    array = pa.array(NESTED, outer(inner(pa.int32())))
    assert vl.Ragged(array).to_list() == NESTED
    assert vl.Ragged(array).dtype == np.int32
    for begin in range(5):
        for length in range(5 - begin):
            part = array.slice(begin, length)
            assert vl.Ragged(part).to_list() == NESTED[begin : begin + length]


@pytest.mark.skipif(not hasattr(pa, "list_view"), reason="pyarrow has no list views")
@pytest.mark.parametrize("outer", ["list_view", "large_list_view"])
def test_nulls_that_no_list_holds_are_nobodys(outer):
    array = pa.array([[None], [1, 2], [], [3], [None]], getattr(pa, outer)(pa.int64())).slice(1, 3)
    r = vl.Ragged(array)
    assert r.to_list() == [[1, 2], [], [3]]
    assert vl.Ragged.from_arrow(array, nulls="nan").dtype == np.int64
    assert vl.Ragged(array.slice(1, 1)).to_list() == [[]]
    whole = pa.array([[1], [None, 2]], getattr(pa, outer)(pa.int64()))
    with pytest.raises(ValueError, match="null at row 1"):
        vl.Ragged(whole)


def test_offsets_of_64_bits_are_shared():
    array = pa.array([[3, 1], [], [4]], pa.large_list(pa.int64()))
    r = vl.Ragged(array)
    assert address(r.values) == array.values.buffers()[1].address
    assert address(r.offsets) == array.buffers()[1].address
    del array
    assert r.to_list() == [[3, 1], [], [4]]
    assert not r.values.flags.writeable


@pytest.mark.parametrize("door", [vl.Ragged, vl.Ragged.from_list, vl.Ragged.from_arrow])
def test_every_door_takes_them(door):
    pl = pytest.importorskip("polars", reason="polars is not installed")
    for column in (pa.array(NESTED), pa.chunked_array([pa.array(NESTED)]), pl.Series(NESTED)):
        assert door(column).to_list() == NESTED
    assert vl.Ragged.from_list(pa.array([[1], [2, 3]]), dtype=np.float32).dtype == np.float32


def test_chunks_are_one_column():
    array = pa.array(NESTED)
    chunks = pa.chunked_array([array.slice(0, 1), array.slice(1), array.slice(4)])
    assert vl.Ragged(chunks).to_list() == NESTED
    none = vl.Ragged(pa.chunked_array([], pa.list_(pa.list_(pa.float32()))))
    assert (len(none), none.ndim, none.dtype) == (0, 3, np.float32)


@pytest.mark.parametrize(
    ("kind", "dtype"),
    [
        (pa.bool_(), "?"),
        (pa.float16(), "f2"),
        (pa.date32(), "M8[D]"),
        (pa.date64(), "M8[ms]"),
        (pa.time32("s"), "m8[s]"),
        (pa.time64("us"), "m8[us]"),
        (pa.timestamp("ms"), "M8[ms]"),
        (pa.timestamp("us", "Europe/Berlin"), "M8[us]"),
        (pa.duration("ns"), "m8[ns]"),
        (pa.uint64(), "u8"),
    ],
)
def test_leaves_keep_their_meaning(kind, dtype):
    numbers = pa.array([1, 0, 86_400_000], pa.int64())
    if kind in (pa.bool_(), pa.float16(), pa.time32("s")):
        numbers = pa.array([1, 0, 1], pa.int64())
    small = kind in (pa.date32(), pa.time32("s"))
    flat = pa.array([True, False, True]) if kind == pa.bool_() else (
        pa.array(np.array([1, 0, 1], "f2")) if kind == pa.float16()
        else numbers.cast(pa.int32()).cast(kind) if small else numbers.cast(kind)
    )  # fmt: skip
    array = pa.ListArray.from_arrays(pa.array([0, 2, 2, 3], pa.int32()), flat)
    r = vl.Ragged(array)
    assert r.dtype == np.dtype(dtype)
    expected = np.array(numbers.to_pylist(), np.int64)
    got = r.values.view(np.int64) if r.dtype.kind in "mM" else r.values
    np.testing.assert_array_equal(got.astype(np.int64), expected)
    assert vl.Ragged(array.slice(1)).lengths.tolist() == [0, 1]


@given(st.lists(st.lists(st.booleans(), max_size=20), min_size=1, max_size=6), st.integers(0, 5))
def test_bits_begin_anywhere(rows, begin):
    array = pa.array(rows, pa.list_(pa.bool_())).slice(begin)
    assert vl.Ragged(array).to_list() == rows[begin:]


class TestFixedSizes:
    def test_inside_they_are_axes_of_a_row(self):
        array = pa.array([[[1, 2], [3, 4]], [], [[5, 6]]], pa.list_(pa.list_(pa.int8(), 2)))
        r = vl.Ragged(array)
        assert (r.values.shape, r.lengths.tolist()) == ((3, 2), [2, 0, 1])
        assert vl.Ragged(array.slice(2)).to_list() == [[[5, 6]]]

    def test_alone_they_are_a_level(self):
        array = pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))
        assert vl.Ragged(array).to_list() == [[1, 2], [3, 4]]
        assert vl.Ragged(array.slice(1)).to_list() == [[3, 4]]

    def test_of_lists_they_are_a_level(self):
        array = pa.array([[[1], []], [[2, 3], [4]]], pa.list_(pa.list_(pa.int8()), 2))
        assert vl.Ragged(array).to_list() == [[[1], []], [[2, 3], [4]]]

    def test_tensors_are_rows_of_their_shape(self):
        storage = pa.array([[1, 2, 3, 4], [5, 6, 7, 8]], pa.list_(pa.int32(), 4))
        tensors = pa.ExtensionArray.from_storage(pa.fixed_shape_tensor(pa.int32(), (2, 2)), storage)
        r = vl.Ragged(pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), tensors))
        assert r.values.shape == (2, 2, 2)


class TestNulls:
    def test_they_are_refused_by_default_and_named(self):
        with pytest.raises(ValueError, match=r"^values: null at row 2; say what nulls become"):
            vl.Ragged(pa.array([[1], [], [2, None]]))
        with pytest.raises(ValueError, match=r"^values: null at row 1; say"):
            vl.Ragged(pa.array([[1], None]))

    @given(
        st.lists(st.none() | st.lists(st.none() | st.integers(-9, 9), max_size=4), max_size=6),
        st.integers(0, 3),
        st.sampled_from([pa.list_, pa.large_list]),
    )
    def test_they_become_what_was_asked(self, rows, begin, kind):
        array = pa.array(rows, kind(pa.int16())).slice(begin)
        rows = rows[begin:]
        fill = vl.Ragged.from_arrow(array, nulls="fill", fill=77)
        assert fill.to_list() == [[77 if x is None else x for x in row or ()] for row in rows]
        assert fill.dtype == np.int16
        nan = vl.Ragged.from_arrow(array, nulls="nan")
        np.testing.assert_equal(
            nan.to_list(), [[np.nan if x is None else float(x) for x in row or ()] for row in rows]
        )

    def test_a_null_list_may_hold_something(self):
        flat = pa.array([1, 2, 3])
        array = pa.ListArray.from_arrays(pa.array([0, 2, 3], pa.int32()), flat, mask=pa.array([True, False]))
        assert vl.Ragged.from_arrow(array, nulls="nan").to_list() == [[], [3]]

    def test_times_and_floats(self):
        times = vl.Ragged.from_arrow(pa.array([[None, 5]], pa.list_(pa.timestamp("s"))), nulls="nan")
        assert np.isnat(times.values).tolist() == [True, False]
        floats = vl.Ragged.from_arrow(pa.array([[None, 0.5]], pa.list_(pa.float32())), nulls="nan")
        assert floats.dtype == np.float32
        assert np.isnan(floats.values).tolist() == [True, False]
        empty = vl.Ragged.from_arrow(pa.array([[None]], pa.list_(pa.null())), nulls="nan")
        assert np.isnan(empty.values).all()

    def test_what_would_be_lost_is_refused(self):
        array = pa.array([[2**53 + 1, None]])
        with pytest.raises(ValueError, match="9007199254740993 at row 0 is beyond the integers of float64"):
            vl.Ragged.from_arrow(array, nulls="nan")
        chunks = pa.chunked_array([pa.array([[1, None]]), pa.array([[2**53 + 1]])])
        with pytest.raises(ValueError, match="beyond the integers of float64"):
            vl.Ragged.from_arrow(chunks, nulls="nan")
        for fill in (0.5, 300, "x"):
            with pytest.raises(ValueError, match=r"^fill: .* does not fit int8"):
                vl.Ragged.from_arrow(pa.array([[1, None]], pa.list_(pa.int8())), nulls="fill", fill=fill)


def table_words(J):
    return pa.table(J)["word"].to_pylist()


class TestTables:
    def test_a_table_is_a_joint_dict(self):
        table = pa.table({"id": [7, 8], "time": [[0.5], []], "code": [[[1, 2]], []]})
        J = vl.JointNestedRaggedTensorDict(table)
        assert J.to_list() == {"id": [7, 8], "time": [[0.5], []], "code": [[[1, 2]], []]}
        assert J["code"].dtype == np.int64
        assert J.to_list() == vl.JointNestedRaggedTensorDict(pa.table(J)).to_list()

    def test_lists_of_structs_are_columns_that_share_a_level(self):
        rows = [[{"time": 1, "code": [1, 2]}, {"time": 2, "code": []}], []]
        J = vl.JointNestedRaggedTensorDict(pa.table({"visit": rows}))
        assert J.to_list() == {"visit.time": [[1, 2], []], "visit.code": [[[1, 2], []], []]}

    def test_maps_are_keys_and_values(self):
        kind = pa.map_(pa.int32(), pa.float32())
        J = vl.JointNestedRaggedTensorDict(pa.table({"m": pa.array([[(1, 0.5)], []], kind)}))
        assert sorted(J.keys()) == ["m.key", "m.value"]

    def test_words_have_a_vocabulary(self):
        J = vl.JointNestedRaggedTensorDict(pa.table({"word": [["to", "be"], ["to"]]}))
        assert J["word"].to_list() == [[1, 2], [1]]
        assert table_words(J) == [["to", "be"], ["to"]]

    def test_frames_of_polars(self):
        pl = pytest.importorskip("polars", reason="polars is not installed")
        frame = pl.DataFrame({"id": [7, 8], "time": [[0.5], []]})
        assert vl.JointNestedRaggedTensorDict(frame).to_list() == {"id": [7, 8], "time": [[0.5], []]}
        assert vl.data.Dataset(frame)[0].to_list() == {"id": 7, "time": [0.5]}

    def test_a_column_alone_is_no_table(self):
        with pytest.raises(TypeError, match="expected a table or an array of structs"):
            vl.JointNestedRaggedTensorDict(pa.array([[1]]))
        with pytest.raises(
            ValueError, match=r"a struct holds 2 columns \(values.a, values.b\); pass one of them"
        ):
            vl.Ragged(pa.table({"a": [[1]], "b": [[2]]}))

    def test_levels_that_differ_are_named(self):
        with pytest.raises(ValueError, match="'b'"):
            vl.JointNestedRaggedTensorDict(pa.table({"a": [[1]], "b": [[2, 3]]}))

    def test_struct_nulls_hide_their_fields(self):
        array = pa.array([[{"a": 1}, None, {"a": 3}]])
        with pytest.raises(ValueError, match="null at row 0"):
            vl.Ragged(array)
        assert vl.Ragged.from_arrow(array, nulls="fill", fill=0).to_list() == [[1, 0, 3]]


KINDS = {
    "string": str,
    "large_string": str,
    "string_view": str,
    "binary": str.encode,
    "large_binary": str.encode,
}


@st.composite
def decimals(draw):
    """A type, and numbers of its digits as integers; None for a null."""
    bits = draw(st.sampled_from([b for b in (32, 64, 128, 256) if hasattr(pa, f"decimal{b}")]))
    precision = draw(st.integers(1, {32: 9, 64: 18, 128: 38, 256: 76}[bits]))
    scale = draw(st.integers(-4, precision))
    most = 10 ** draw(st.sampled_from(sorted({min(precision, n) for n in (3, 15, 16, 20, 76)}))) - 1
    numbers = draw(st.lists(st.none() | st.integers(-most, most) | st.integers(most // 2, most), max_size=6))
    return getattr(pa, f"decimal{bits}")(precision, scale), numbers


class TestDecimals:
    """They are read as numbers that give them back, or refused; pyarrow is not asked."""

    @pytest.fixture(autouse=True)
    def _without_pyarrow(self, monkeypatch):
        monkeypatch.setattr(arrow_parts, "_by_pyarrow", None)

    @given(decimals(), st.integers(0, 2))
    @example((pa.decimal128(17, 1), [9500000000000001]), 0)
    def test_they_are_those_of_python(self, column, begin):
        kind, numbers = column
        raw = b"".join((n or 0).to_bytes(kind.bit_width // 8, "little", signed=True) for n in numbers)
        valid = pa.array([n is not None for n in numbers], pa.bool_()).buffers()[1]
        array = pa.Array.from_buffers(kind, len(numbers), [valid, pa.py_buffer(raw)]).slice(begin)
        numbers = [n or 0 for n in numbers[begin:]]
        if kind.scale > 0:
            want = [float(Fraction(n, 10**kind.scale)) for n in numbers]
            fits = [
                abs(Fraction(x) * 10**kind.scale - n) < Fraction(1, 2)
                for x, n in zip(want, numbers, strict=True)
            ]
        else:
            want = [n * 10**-kind.scale for n in numbers]
            limits = np.iinfo(
                np.int64 if min(want, default=0) < 0 or max(want, default=0) < 2**63 else np.uint64
            )
            fits = [limits.min <= n <= limits.max for n in want]
        lists = pa.ListArray.from_arrays(pa.array([0, len(array)], pa.int32()), array)
        for part in (array, lists):
            read = functools.partial(one, part, Nulls("fill", 0))
            if all(fits):
                values = read().values
                assert values.tolist() == want
                assert values.dtype == (float if kind.scale > 0 else limits.dtype)
            else:
                with pytest.raises(
                    ValueError, match=r"at row \d+ (has more digits than a double|does not fit)"
                ):
                    read()

    def test_nulls_are_nan(self):
        column = one(pa.array([Decimal("1.5"), None], pa.decimal128(5, 1)), Nulls("nan"))
        np.testing.assert_array_equal(column.values, [1.5, np.nan])
        with pytest.raises(ValueError, match="null at row 1"):
            one(pa.array([Decimal("1.5"), None], pa.decimal128(5, 1)))


class TestWords:
    """Text is read by the core: pyarrow is not asked."""

    @pytest.fixture(autouse=True)
    def _without_pyarrow(self, monkeypatch):
        monkeypatch.setattr(arrow_parts, "_by_pyarrow", None)

    @given(
        st.lists(st.lists(st.text(st.sampled_from("abö\U0001f600"), max_size=15), max_size=4), max_size=6),
        st.integers(0, 2),
        st.sampled_from([name for name in KINDS if hasattr(pa, name)]),
    )
    def test_they_are_those_of_the_lists(self, rows, begin, name):
        rows = [[KINDS[name](word) for word in row] for row in rows]
        array = pa.array(rows, pa.large_list(getattr(pa, name)())).slice(begin)
        assert vl.Ragged(array).to_list() == rows[begin:]

    @given(
        st.lists(st.none() | st.sampled_from(["a", "b", "a longer word", ""]), max_size=20),
        st.sampled_from([pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]),
    )
    def test_ids_and_words(self, words, kind):
        column = one(pa.array([words], pa.list_(kind)), Nulls("nan"))
        back = [column.vocabulary[i] if i >= 0 else None for i in column.values]
        assert back == words
        assert list(column.vocabulary) == list(dict.fromkeys(word for word in words if word is not None))
        fill = one(pa.array([words], pa.list_(kind)), Nulls("fill", "?"))
        assert [fill.vocabulary[i] for i in fill.values] == ["?" if word is None else word for word in words]

    def test_many_words_of_every_length(self):
        words = [f"{i:x}" * (i % 5) for i in range(20_000)]
        column = one(pa.array([words + words[::-1]]))
        want = {word: i for i, word in enumerate(dict.fromkeys(words))}
        assert column.values.tolist() == [want[word] for word in words + words[::-1]]
        assert column.vocabulary == tuple(want)

    def test_dictionaries_keep_their_ids(self):
        array = pa.DictionaryArray.from_arrays(pa.array([2, 0, None], pa.uint8()), pa.array(["a", "b", "c"]))
        column = one(pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), array), Nulls("nan"))
        assert (column.values.tolist(), column.vocabulary, column.has_ids) == (
            [2, 0, -1],
            ("a", "b", "c"),
            True,
        )

    def test_dictionaries_with_a_word_twice_or_a_null(self):
        words = pa.array(["b", "a", "b", None])
        array = pa.DictionaryArray.from_arrays(pa.array([1, 2, 0]), words)
        lists = pa.ListArray.from_arrays(pa.array([0, 3], pa.int32()), array)
        column = one(lists)
        assert (column.values.tolist(), column.vocabulary) == ([0, 1, 1], ("a", "b"))
        array = pa.DictionaryArray.from_arrays(pa.array([1, 3]), words)
        lists = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), array)
        with pytest.raises(ValueError, match="null at row 1"):
            one(lists)
        assert one(lists, Nulls("nan")).values.tolist() == [0, -1]

    @given(st.lists(st.none() | st.integers(0, 2), max_size=9), st.booleans(), st.booleans())
    def test_dictionaries_of_numbers_and_lists(self, ids, is_lists, has_null):
        values = [[7], [], [8, 9]] if is_lists else [5, 6, 7]
        if has_null:
            values[1] = None
        array = pa.DictionaryArray.from_arrays(pa.array(ids, pa.int8()), pa.array(values))
        array = pa.ListArray.from_arrays(pa.array([0, len(ids)], pa.int32()), array)
        want = [None if i is None else values[i] for i in ids]
        empty = [] if is_lists else 0
        filled = vl.Ragged.from_arrow(array, nulls="fill", fill=0)
        assert filled.to_list() == [[empty if value is None else value for value in want]]
        if None in want:
            with pytest.raises(ValueError, match="null at row 0"):
                vl.Ragged(array)

    def test_chunks_have_one_vocabulary(self):
        chunks = pa.chunked_array([pa.array([["b", "a"]]), pa.array([["c", "b"]])])
        column = one(chunks)
        assert (column.values.tolist(), column.vocabulary) == ([0, 1, 2, 0], ("b", "a", "c"))
        short = pa.chunked_array([pa.array([[b"b"]]), pa.array([[b"longer"]])])
        assert vl.Ragged(short).to_list() == [[b"b"], [b"longer"]]

    def test_nothing_is_lost(self):
        for word in ("a\0", b"a\0"):
            with pytest.raises(ValueError, match="ends in a zero, which NumPy's"):
                vl.Ragged(pa.array([[word]]))
        nulls = pa.array([[b"a", None]])
        with pytest.raises(ValueError, match="nothing stands for null bytes"):
            vl.Ragged.from_arrow(nulls, nulls="nan")
        assert vl.Ragged.from_arrow(nulls, nulls="fill", fill=b"-").to_list() == [[b"a", b"-"]]
        fixed = pa.array([[b"ab", b"c\0"]], pa.list_(pa.binary(2)))
        assert pa.array(vl.Ragged(fixed)).to_pylist() == [[b"ab", b"c\0"]]

    def test_frames_of_polars_and_no_rows(self):
        pl = pytest.importorskip("polars", reason="polars is not installed")
        frame = pl.DataFrame({"word": [["to", "a word of more than twelve bytes"], []], "sex": ["m", "f"]})
        J = vl.JointNestedRaggedTensorDict(frame)
        assert pa.table(J).to_pylist() == frame.to_dicts()
        for kind in (pa.string(), pa.dictionary(pa.int8(), pa.string()), pa.binary()):
            assert len(vl.Ragged(pa.chunked_array([], pa.list_(kind)))) == 0


def one(array, nulls=None):
    (column,) = arrow_parts.columns_from(array, "x", *([nulls] if nulls else [])).values()
    return column


def test_decimals_are_read_by_pyarrow():
    from decimal import Decimal

    assert vl.Ragged(pa.array([[Decimal("1.5")], []])).to_list() == [[1.5], []]


def test_dictionaries_of_lists():
    lists = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array([[7], [7, 8]]))
    assert vl.Ragged(lists).to_list() == [[7, 8], [7], [7, 8]]


def test_text_has_a_fixed_width_as_in_lists():
    words = [["to", "be"], [], ["ö"]]
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())):
        r = vl.Ragged(pa.array(words, pa.list_(kind)))
        assert r.equals(vl.Ragged.from_list(words))
    nulls = pa.array([["a", None]])
    assert vl.Ragged.from_arrow(nulls, nulls="fill", fill="?").to_list() == [["a", "?"]]
    with pytest.raises(ValueError, match="text has nothing that stands for a null"):
        vl.Ragged.from_arrow(nulls, nulls="nan")


def test_what_has_no_lists_says_so():
    with pytest.raises(ValueError, match="expected a column of lists, got one without any nesting"):
        vl.Ragged(pa.array([1, 2]))
    with pytest.raises(TypeError, match="expected an Arrow array, or an object that exports one, got dict"):
        vl.Ragged.from_arrow({})


class TestAwkward:
    ak = pytest.importorskip("awkward", reason="awkward is not installed")

    def test_lists_are_shared(self):
        array = self.ak.Array([[[1, 2], []], [], [[3]]])
        r = vl.Ragged(array)
        assert r.to_list() == [[[1, 2], []], [], [[3]]]
        flat = array.layout.content.content.data
        assert address(r.values) == address(flat)

    def test_a_ragged_goes_out_shared(self):
        r = vl.Ragged(np.arange(5.0), [[2, 1], [3, 0, 2]])
        array = r.to_awkward()
        assert array.to_list() == r.to_list()
        assert str(array.type) == "2 * var * var * float64"
        assert address(array.layout.content.content.data) == address(r.values)
        assert vl.Ragged(array).equals(r)

    def test_parts_and_picks(self):
        array = self.ak.Array([[1, 2], [], [3], [4, 5]])
        assert vl.Ragged(array[1:]).to_list() == [[], [3], [4, 5]]
        assert vl.Ragged(array[[3, 0]]).to_list() == [[4, 5], [1, 2]]
        assert vl.Ragged(self.ak.Array([[True], []])).dtype == bool

    def test_records_are_joint_dicts(self):
        array = self.ak.Array([{"id": 7, "x": [0.5, 1.5]}, {"id": 8, "x": []}])
        assert vl.JointNestedRaggedTensorDict(array).to_list() == {"id": [7, 8], "x": [[0.5, 1.5], []]}

    def test_options_are_nulls(self):
        array = self.ak.Array([[1, None], [2]])
        with pytest.raises(ValueError, match="null at row 0"):
            vl.Ragged(array)
        assert vl.Ragged.from_arrow(array, nulls="fill", fill=0).to_list() == [[1, 0], [2]]

    def test_its_extension_arrays_are_read(self):
        array = self.ak.to_arrow(self.ak.Array([[1, 2], []]))
        assert vl.Ragged(array).to_list() == [[1, 2], []]


def lists_node(offsets, length=None, values=None, dtype=np.int32, **changes):
    values = np.arange(5) if values is None else values
    offsets = np.array(offsets, dtype)
    name = "+l" if dtype == np.int32 else "+L"
    count = len(offsets) - 1 if length is None else length
    node = Node(name, count, (None, offsets), (arrow_nodes.values_node(values).rename("item"),))
    return node._replace(**changes)


class TestHostileProducers:
    @pytest.mark.parametrize("dtype", [np.int32, np.int64])
    @pytest.mark.parametrize(
        ("offsets", "text"),
        [
            ([0, 3, 2, 5], "row 1 ends at 2, before the row in front of it"),
            ([0, 3, 6], "row 1 ends at 6, past the last row there is"),
            ([0, 6, 5], "row 0 ends at 6, past the last row there is|row 1 ends at 5, before the row"),
            ([-1, 3], "row 0 ends at -1, before the row in front of it"),
            ([0, -3], "row 0 ends at -3, before the row in front of it"),
            ([7, 7], "row 0 ends at 7, past the last row there is"),
            ([2, 1, 5], "row 0 ends at 1, before the row in front of it"),
        ],
    )
    def test_offsets_that_fall_or_leave_the_values(self, offsets, text, dtype):
        with pytest.raises(ValueError, match=f"offsets: ({text})"):
            vl.Ragged(Source(lists_node(offsets, dtype=dtype))).to_list()

    @pytest.mark.parametrize(
        ("changes", "text"),
        [
            ({"null_count": 1}, "it has nulls, but says not where"),
            ({"null_count": 9}, "9 of 2 values are null"),
            ({"buffers": (None, None)}, "offsets of 12 bytes are missing"),
            ({"buffers": (None,)}, "expected 2 buffers, got 1"),
            ({"children": ()}, "0 children"),
        ],
    )
    def test_arrays_that_lie(self, changes, text):
        node = lists_node([0, 2, 5])
        with pytest.raises(ValueError, match=text):
            vl.Ragged(Source(node._replace(**changes), schema=node))

    def test_structs_that_are_shorter_than_they_say(self):
        column = arrow_nodes.values_node(np.arange(3)).rename("a")
        node = Node("+s", 9, (None,), (column,))
        with pytest.raises(ValueError, match="a child has 3 of 9 values"):
            vl.JointNestedRaggedTensorDict(Source(node))
        fixed = Node("+w:4", 2, (None,), (column,))
        with pytest.raises(ValueError, match="a child has 3 of 8 values"):
            vl.Ragged(Source(fixed))

    def test_values_that_are_missing(self):
        values = Node("l", 5, (None, None))
        node = lists_node([0, 2, 5])._replace(children=(values,))
        with pytest.raises(ValueError, match="values of 40 bytes are missing"):
            vl.Ragged(Source(node))

    def test_capsules_are_read_once(self):
        node = lists_node([0, 2, 5])
        schema, array = _core.arrow_schema(node), _core.arrow_array(node)
        _core.read_arrow_array(schema, array)
        with pytest.raises(ValueError, match="the capsule 'arrow_array' is empty: it was read before"):
            _core.read_arrow_array(schema, array)
        with pytest.raises(TypeError, match="expected a capsule called 'arrow_array', got PyCapsule"):
            _core.read_arrow_array(schema, schema)
        stream = _core.arrow_stream(node, [node])
        _core.read_arrow_stream(stream, lambda head: True)
        with pytest.raises(ValueError, match="'arrow_array_stream' is empty"):
            _core.read_arrow_stream(stream, lambda head: True)

    def test_a_stream_that_fails(self):
        def nodes():
            yield node
            raise OSError("the wire is cut")

        class Failing:
            def __arrow_c_stream__(self, requested_schema=None):
                return _core.arrow_stream(node, nodes())

        node = lists_node([0, 2, 5])
        with pytest.raises(ValueError, match="its stream failed: OSError: the wire is cut"):
            vl.Ragged(Failing())

    def test_depth_has_an_end(self):
        node = arrow_nodes.values_node(np.arange(3))
        for _ in range(100):
            node = Node("+w:1", 3, (None,), (node,))
        with pytest.raises(ValueError, match="it nests deeper than 64"):
            vl.Ragged(Source(node))

    def test_views_that_leave_the_values(self):
        for starts, sizes in (([0, 4], [2, 2]), ([-1, 0], [1, 1]), ([0, 0], [1, -1])):
            parts = np.array(starts, np.int32), np.array(sizes, np.int32)
            node = Node("+vl", 2, (None, *parts), (arrow_nodes.values_node(np.arange(5)),))
            with pytest.raises(ValueError, match="leaves the 5 values"):
                vl.Ragged(Source(node))

    @settings(max_examples=300)
    @given(st.data())
    def test_any_structure_is_read_or_refused(self, data):
        """Nothing crashes, and what comes out is inside of what there was."""
        bits = st.sampled_from([None, None, np.array([0x5A], np.uint8)])
        offsets = st.lists(st.integers(-2, 12), min_size=8, max_size=8)
        formats = st.lists(st.sampled_from(["+l", "+L", "+vl", "+vL", "+w:2", "+w:0", "+s"]), max_size=3)
        valid, values = data.draw(bits), np.arange(8, dtype=np.int32)
        node = Node("i", data.draw(st.integers(0, 8)), (valid, values), null_count=0 if valid is None else -1)
        for name in data.draw(formats):
            valid = data.draw(bits)
            dtype = np.int32 if name in ("+l", "+vl") else np.int64
            arrays = [np.array(data.draw(offsets), dtype) for _ in range(2)]
            if data.draw(st.booleans()):
                arrays[0] = np.sort(np.abs(arrays[0]))
            buffers = {"l": arrays[:1], "L": arrays[:1], "v": arrays}.get(name[1], [])
            count = data.draw(st.integers(0, 6))
            children = (node.rename("x"),)
            node = Node(name, count, (valid, *buffers), children, null_count=0 if valid is None else -1)
        nulls = data.draw(st.sampled_from(["refuse", "nan"]))
        try:
            r = vl.Ragged.from_arrow(Source(node), nulls=nulls)
            rows = r.to_list()
        except (ValueError, TypeError):
            return
        assert len(rows) == len(r)
        assert not (r.values >= 8).any()


def test_dates_of_python_come_back():
    day = datetime.date(2024, 2, 29)
    assert vl.Ragged(pa.array([[day]])).to_list() == [[day]]


def test_memory_outlives_its_producer():
    import gc

    chunk = pa.array([list(range(1000))] * 50, pa.large_list(pa.int64()))
    r = vl.Ragged(chunk)
    part = r[1:3]
    del chunk, r
    gc.collect()
    junk = [ctypes.create_string_buffer(400_000) for _ in range(3)]
    assert part.to_list() == [list(range(1000))] * 2
    del junk
