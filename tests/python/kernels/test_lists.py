"""from_lists and to_lists: against the oracle, for every kind of leaf, depth, dtype and way to fail."""

import collections
import decimal
import enum
import fractions
import gc
import re
import sys

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core

ml_dtypes = pytest.importorskip("ml_dtypes")

LEAVES = {
    "bool": st.booleans(),
    "small": st.integers(-5, 300),
    "int64": st.integers(-(2**63), 2**63 - 1),
    "uint64": st.integers(0, 2**64 - 1),
    "float": st.floats(allow_nan=False),
    "mixed": st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False),
}


def nests(leaves, depth):
    """Nested lists (and some tuples) `depth` levels deep."""
    nest = st.lists(leaves, max_size=6)
    for _ in range(depth):
        nest = st.lists(nest | nest.map(tuple), max_size=5)
    return nest


def expected_dtype(leaves):
    if not leaves:
        return np.dtype(float)
    if all(isinstance(leaf, int) for leaf in leaves) and max(leaves) > 2**63 - 1:
        return np.dtype(np.uint64)  # exact, where NumPy may go to float64
    return np.array(leaves).dtype


@given(st.data(), st.integers(0, 4), st.sampled_from(sorted(LEAVES)))
def test_lists_equal_the_oracle(data, depth, kind):
    nest = data.draw(nests(LEAVES[kind], depth))
    leaves, levels = oracle.flatten(nest, depth)
    values, found = _core.from_lists(nest, depth)
    assert [level.lengths.tolist() for level in found] == levels
    assert values.dtype == expected_dtype(leaves)
    assert values.tolist() == np.array(leaves, values.dtype).tolist()
    assert _core.to_lists(values, found) == oracle.nest(values.tolist(), levels)


@given(st.data(), st.integers(1, 3))
def test_depth_is_that_of_the_leaves(data, depth):
    nest = data.draw(nests(LEAVES["small"], depth))
    leaves, levels = oracle.flatten(nest, depth)
    values, found = _core.from_lists(nest)
    if leaves:
        assert [level.lengths.tolist() for level in found] == levels
        assert values.tolist() == leaves


@pytest.mark.parametrize(
    ("nest", "depth"), [([], 0), ([[], []], 1), ([[[]], [[]]], 2), ([[], [[], [[]]]], 3)]
)
def test_depth_of_no_leaves_is_that_of_the_lists(nest, depth):
    values, levels = _core.from_lists(nest)
    assert len(levels) == depth
    assert values.shape == (0,)
    assert values.dtype == float


@given(st.data(), st.sampled_from(sorted(LEAVES)))
def test_narrow_is_the_smallest_dtype(data, kind):
    nest = data.draw(nests(LEAVES[kind], 1))
    leaves, _ = oracle.flatten(nest, 1)
    floats = [x for x in leaves if isinstance(x, float)]
    finite = np.abs([x for x in map(float, leaves) if np.isfinite(x)] or [0.0])
    is_rounded = floats and any(isinstance(x, int) and int(np.float32(x)) != x for x in leaves)
    if not leaves:
        with pytest.raises(
            ValueError, match="Cannot infer dtype from empty values; provide an explicit `schema=`"
        ):
            _core.from_lists(nest, 1, None, True)
    elif floats and (is_rounded or finite.max() > float(np.finfo(np.float32).max)):
        text = (
            r"Cannot store range \[.*\] as np.float32|does not fit float32, which the numbers beside it need"
        )
        with pytest.raises((ValueError, OverflowError), match=text):
            _core.from_lists(nest, 1, None, True)
    else:
        values, _ = _core.from_lists(nest, 1, None, True)
        assert values.dtype == oracle.narrowest(leaves)
        assert values.tolist() == np.array(leaves, values.dtype).tolist()


@given(st.lists(st.lists(st.integers(-(2**40), 2**40), max_size=900), max_size=6))
def test_narrow_widens_what_was_written_before(nest):
    leaves, _ = oracle.flatten([*nest, [1]], 1)
    values, _ = _core.from_lists([*nest, [1]], 1, None, True)
    assert values.dtype == oracle.narrowest(leaves)
    assert values.tolist() == leaves


def test_narrow_says_what_no_type_holds():
    for nest, text in [
        ([[2**63, -1]], "No valid type available for -1 - 9223372036854775808!"),
        ([[10**20, 1]], "No valid type available for 1 - 100000000000000000000!"),
        ([[1e39, float("nan")]], r"Cannot store range \[1e\+39, 1e\+39\] as np.float32"),
        ([[1.5, 10**400]], r"Cannot store range \[1.5, 10{400}\] as np.float32"),
        ([np.array([1j])], "Vals must all be ints, floats, or bools"),
    ]:
        with pytest.raises(ValueError, match=text):
            _core.from_lists(nest, 1, None, True)
    assert _core.from_lists([[2**63, -1, 0.5]], -1, None, True)[0].dtype == np.float32
    beyond = [float("nan"), float("inf"), -float("inf")]
    np.testing.assert_array_equal(
        _core.from_lists([beyond], -1, None, True)[0], np.array(beyond, np.float32), strict=True
    )


BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("nest", "place", "value", "dtype"),
    [
        ([[BIG, 0.5]], "[0][0]", BIG, "float64"),
        ([[0.5], [BIG]], "[1][0]", BIG, "float64"),
        ([[0.5], [], [True, 2**63 + 1]], "[2][1]", 2**63 + 1, "float64"),
        ([[0.5, 2**70 + 1]], "[0][1]", 2**70 + 1, "float64"),
        ([[2**63 + 1], [-1, 0.5]], "[0][0]", 2**63 + 1, "float64"),
        ([[np.float32(0.5)], [np.int64(BIG)]], "[1][0]", BIG, "float64"),
        ([np.array([0.5]), [BIG]], "[1][0]", BIG, "float64"),
        ([np.array([1, -BIG]), np.array([0.5], "f4")], "[0][1]", -BIG, "float64"),
        ([np.array([1, BIG], ">i8"), np.array([0.5])], "[0][1]", BIG, "float64"),
        ([np.array([1, 2**63 + 1], "u8"), np.array([-1])], "[0][1]", 2**63 + 1, "float64"),
        ([np.array([1j]), np.array([1, BIG])], "[1][1]", BIG, "complex128"),
    ],
    ids=str,
)
def test_integers_beside_floats_are_exact_or_refused(nest, place, value, dtype):
    text = f"values{re.escape(place)}: .*{value}.* does not fit {dtype}, which the numbers beside it need"
    with pytest.raises(OverflowError, match=text):
        _core.from_lists(nest)
    near = [row if isinstance(row, list) else row // 2 * 2 if row.dtype.kind in "iu" else row for row in nest]
    near = [[x - x % 2 if x > 2**53 else x for x in row] if isinstance(row, list) else row for row in near]
    assert _core.from_lists(near)[0].tolist() == [leaf for row in near for leaf in row]


@pytest.mark.parametrize(
    "nest", [[[0.5], [2**24 + 1]], [[2**24 + 1], [0.5]], [[2**40 + 1, 0.5]], [[0.5, 2**70 + 1]]]
)
def test_narrow_rounds_no_integers(nest):
    arrays = [np.array(row, float if 0.5 in row else np.int64) for row in nest if 2**70 + 1 not in row]
    for rows in (nest, arrays) if len(arrays) > 1 else (nest,):
        with pytest.raises(OverflowError, match=r"values\[\d\]\[\d\]: \d+ does not fit float32"):
            _core.from_lists(rows, -1, None, True)
    exact = [[x if x == 0.5 else 2**30 for x in row] for row in nest]
    assert _core.from_lists(exact, -1, None, True)[0].tolist() == [x for row in exact for x in row]


FAR, FINE = np.datetime64("3000-01-01", "D"), np.datetime64("2020-01-01", "ns")


@pytest.mark.parametrize(
    ("nest", "error", "text"),
    [
        ([[FAR, FINE]], OverflowError, r"values\[0\]\[0\]: .*3000-01-01.* does not fit datetime64\[ns\]"),
        (
            [np.array([FINE]), np.array(["NaT", FAR], "M8[D]")],
            OverflowError,
            r"values\[1\]\[1\]: .*3000-01-01.* does not fit datetime64\[ns\]",
        ),
        ([[np.timedelta64(1, "D"), 5]], TypeError, r"values\[0\]\[1\]: int64 beside .* timedelta64\[D\]"),
        ([[FAR, np.timedelta64(1, "D")]], TypeError, r"values\[0\]\[1\]: timedelta64\[D\] beside"),
        ([np.array([1], "m8[D]"), np.array([1])], TypeError, r"values\[1\]: int64 beside"),
        ([np.array([FAR]), np.array([1], "m8[D]")], TypeError, r"values\[1\]: timedelta64\[D\] beside"),
    ],
    ids=range(6),
)
def test_times_stay_the_times_that_they_are(nest, error, text):
    with pytest.raises(error, match=text):
        _core.from_lists(nest)


def test_times_of_two_units_have_the_finer_one():
    days = np.array(["NaT", "2020-01-01"], "M8[D]")
    values, _ = _core.from_lists([days, np.array([FINE])])
    np.testing.assert_array_equal(values, np.array([*days, FINE], "M8[ns]"), strict=True)
    with pytest.raises(OverflowError, match=r"3000-01-01.* does not fit datetime64\[ns\]"):
        _core.from_lists([[FAR]], -1, "M8[ns]")


NUMBERS = ["bool", "u1", "i1", "u2", "i4", "u8", "i8", "f4", "f8", "f2", "c8", ">i2", ">f4"]
LEAF = st.integers(-300, 300) | st.sampled_from([1.0, 2.5, True])


@given(st.lists(st.lists(LEAF, max_size=5), min_size=1), st.sampled_from(NUMBERS))
def test_dtype_holds_every_number_or_none(nest, dtype):
    leaves, _ = oracle.flatten(nest, 1)
    dtype = np.dtype(dtype)
    with np.errstate(all="ignore"):
        want = np.array([np.array(leaf).astype(dtype) for leaf in leaves], dtype)
    bad = [i for i, leaf in enumerate(leaves) if want[i] != leaf] if dtype.kind in "biu" else []
    if not bad:
        values, _ = _core.from_lists(nest, 1, dtype)
        assert values.dtype == dtype
        np.testing.assert_array_equal(values, want)
        return
    ends = np.cumsum([len(row) for row in nest])
    row = int(np.searchsorted(ends, bad[0], side="right"))
    column = bad[0] - int(ends[row - 1] if row else 0)
    with pytest.raises((ValueError, OverflowError), match=rf"^values\[{row}\]\[{column}\]: "):
        _core.from_lists(nest, 1, dtype)


class Color(enum.IntEnum):
    RED = 3


class Index:
    def __index__(self):
        return 7


class Tensorish:
    def __init__(self, data):
        self.data = data

    def __array__(self, dtype=None, copy=None):
        return np.array(self.data, dtype)


class MyFloat(float):
    pass


class MyList(list):
    pass


@pytest.mark.parametrize(
    ("nest", "want", "dtype"),
    [
        ([[Color.RED, 1]], [3, 1], "i8"),
        ([[Index()], [1]], [7, 1], "i8"),
        ([[MyFloat(0.5)]], [0.5], "f8"),
        ([[np.float64(0.5)], [1]], [0.5, 1], "f8"),
        ([[fractions.Fraction(1, 2)], [True]], [0.5, 1], "f8"),
        ([[fractions.Fraction(1, 10), fractions.Fraction(3)]], [0.1, 3], "f8"),
        ([[np.float32(1.5), np.float32(2)]], [1.5, 2], "f4"),
        ([[np.float32(1.5), 2]], [1.5, 2], "f8"),
        ([[np.float16(1.5), True]], [1.5, 1], "f2"),
        ([[np.int8(1)], [np.uint8(200)]], [1, 200], "i2"),
        ([[np.bool_(True)]], [True], "?"),
        ([[True], [np.uint16(7)]], [1, 7], "u2"),
        ([[np.uint64(2**63), 5]], [2**63, 5], "u8"),
        ([[np.array(3)]], [3], "i8"),
        ([[1j, 2]], [1j, 2], "c16"),
        ([[np.longdouble(1)]], [1], np.longdouble),
        ([[np.datetime64("2020-01-02", "s")]], [np.datetime64("2020-01-02", "s")], "M8[s]"),
        ([[ml_dtypes.bfloat16(1.5)]], [1.5], ml_dtypes.bfloat16),
        ([range(3), (), collections.deque([5])], [0, 1, 2, 5], "i8"),
        ([Tensorish([1, 2]), [3]], [1, 2, 3], "i8"),
        (MyList([MyList([1]), memoryview(b"\x02")]), [1, 2], "i8"),
        ([np.array([1, 2], "f4"), np.array([3], "f4")], [1, 2, 3], "f4"),
        ([np.array([1, 2], "f4"), [3]], [1, 2, 3], "f8"),
        ([np.arange(9, dtype=">i2")[::4], [], np.array([1], "i4")], [0, 4, 8, 1], "i4"),
        ([np.array([1, 2], object), [3.5]], [1, 2, 3.5], "f8"),
        ([np.array([(1, 2.0)], "i4,f8")], [(1, 2.0)], "i4,f8"),
        ([np.array([1.5], ml_dtypes.bfloat16)], [1.5], ml_dtypes.bfloat16),
        ([[], np.array([True])], [True], "?"),
    ],
)
def test_leaves_and_rows_of_every_kind(nest, want, dtype):
    values, levels = _core.from_lists(nest)
    assert values.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(values, np.array(want, dtype))
    assert levels[0].lengths.tolist() == [len(memoryview(r) if isinstance(r, memoryview) else r)
                                          if not isinstance(r, Tensorish) else 2 for r in nest]  # fmt: skip


def test_rows_of_blocks_keep_trailing_dimensions():
    nest = [[np.ones((2, 3), "f4"), np.zeros((0, 3), "f4")], [], [np.ones((1, 3), "f4")]]
    values, levels = _core.from_lists(nest)
    assert values.shape == (3, 3)
    assert values.dtype == np.float32
    assert [level.lengths.tolist() for level in levels] == [[2, 0, 1], [2, 0, 1]]
    assert _core.from_lists([np.ones((2, 3))], -1, "u1")[0].dtype == np.uint8
    assert _core.from_lists([np.full((2, 3), 300)], -1, None, True)[0].dtype == np.uint16
    with pytest.raises(OverflowError, match=r"^values\[1\]\[0\]\[2\]: 300.0 does not fit uint8"):
        _core.from_lists([np.ones((2, 3)), np.array([[1, 2, 300]])], -1, "u1")


DEEP = []
DEEP.append(DEEP)


@pytest.mark.parametrize(
    ("nest", "error", "text"),
    [
        ([[1], [None]], TypeError, r"values\[1\]\[0\]: expected a number, got NoneType"),
        ([[1, 2], [3, "x"]], TypeError, r"values\[1\]\[1\]: expected a number, got str"),
        ([[1.5, b"x"]], TypeError, r"values\[0\]\[1\]: expected a number, got bytes"),
        ([[True, {}]], TypeError, r"values\[0\]\[1\]: expected a number, got dict"),
        ([[1], None], TypeError, r"values\[1\]: expected a list or an array, got NoneType"),
        ([[1], "x"], TypeError, r"values\[1\]: expected a list or an array, got str"),
        ([[1], object()], TypeError, r"values\[1\]: expected a number, got object"),
        ([[1], [object()]], TypeError, r"values\[1\]\[0\]: expected a number, got object"),
        ([[1j], [2, None]], TypeError, r"values\[1\]\[1\]: expected a number, got NoneType"),
        ([[1], 2], ValueError, r"values\[1\]: expected a list or an array, got int: not nested as deep"),
        ([[[1]], [[2], 3]], ValueError, r"values\[1\]\[1\]: expected a list or an array, got int"),
        ([[1], [], [2, [3]]], ValueError, r"values\[2\]\[1\]: expected a number, got list: nested deeper"),
        ([1, [2]], ValueError, r"values\[1\]: expected a number, got list: nested deeper"),
        ([[[1]], np.array([1])], ValueError, r"values\[1\]: an array is a row"),
        (
            [np.ones((1, 2)), [1]],
            ValueError,
            r"values\[1\]: a list of numbers beside arrays of two dimensions",
        ),
        ([np.ones((1, 2)), np.ones((1, 3))], ValueError, r"values\[1\]: has shape \(1, 3\), but values\[0\]"),
        ([[2**64]], OverflowError, r"values\[0\]\[0\]: 18446744073709551616 does not fit 64 bits"),
        (
            [[1], [-(2**63) - 1]],
            OverflowError,
            r"values\[1\]\[0\]: -9223372036854775809 does not fit 64 bits",
        ),
        (
            [[2**63], [-1]],
            OverflowError,
            "values: no 64-bit integer type holds both -1 and 9223372036854775808",
        ),
        ([[1.5, 10**400]], OverflowError, r"values\[0\]\[1\]: 10*\.\.\. does not fit float64"),
        (DEEP, ValueError, "values: nested deeper than 64 levels, or a list that contains itself"),
        (None, TypeError, "values: expected a list, tuple or array, got NoneType"),
        ("text", TypeError, "values: expected a list, tuple or array, got str"),
        ({1: [2]}, TypeError, "values: expected a list, tuple or array, got dict"),
        (3, TypeError, "values: expected a list, tuple or array, got int"),
    ],
)
def test_errors_name_the_path(nest, error, text):
    with pytest.raises(error, match=text):
        _core.from_lists(nest)


def test_errors_name_the_argument():
    with pytest.raises(TypeError, match=r"^code\[0\]: expected a number, got str"):
        _core.from_lists(["x"], name="code")
    with pytest.raises(ValueError, match="narrow: a dtype was given too"):
        _core.from_lists([1], dtype=int, narrow=True)
    with pytest.raises(TypeError, match="depth: expected an integer, got str"):
        _core.from_lists([1], "1")
    with pytest.raises(TypeError, match=r"from_lists\(\) got an unexpected keyword argument 'deep'"):
        _core.from_lists([1], deep=2)
    with pytest.raises(TypeError, match=r"from_lists\(\) got multiple values for argument 'depth'"):
        _core.from_lists([1], 2, depth=2)
    with pytest.raises(TypeError, match=r"from_lists\(\) missing required argument 'lists'"):
        _core.from_lists()
    with pytest.raises(TypeError, match=r"complex128 values do not go into float64"):
        _core.from_lists([[1j]], dtype=float)
    with pytest.raises(ValueError, match=r"values\[0\]: expected a number, got list: nested deeper"):
        _core.from_lists([[1]], 0)


def test_lists_that_change_under_the_walk_do_no_harm():
    class Evil:
        def __init__(self, lists):
            self.lists = lists

        def __index__(self):
            self.lists[0].clear()
            self.lists.clear()
            gc.collect()
            return 5

    lists = [[1, 2, 3], [4]]
    lists[0][1] = Evil(lists)
    values, levels = _core.from_lists(lists)
    assert values.tolist() == [1, 5, 3, 4]  # what a copy of the lists saw
    assert levels[0].lengths.tolist() == [3, 1]
    assert lists == []
    with pytest.raises(ZeroDivisionError):
        _core.from_lists([[type("Bad", (), {"__float__": lambda self: 1 / 0})()]])


@pytest.mark.parametrize("leaf", [2**40, 0.5, np.float32(2), np.array([1, 2]), Index()])
def test_lists_keep_no_references(leaf):
    row = [leaf] * 3
    nest = [row, row]
    before = sys.getrefcount(leaf), sys.getrefcount(row), sys.getrefcount(nest)
    for _ in range(5):
        _core.from_lists(nest)
        with pytest.raises(TypeError):
            _core.from_lists([row, [leaf, None]])
    gc.collect()
    assert (sys.getrefcount(leaf), sys.getrefcount(row), sys.getrefcount(nest)) == before


@pytest.mark.parametrize("count", [1, 255, 256, 257, 511, 512, 513, 1300])
@pytest.mark.parametrize("first", [[0.5], [True], [2**63], [-1]], ids=["float", "bool", "large", "negative"])
@pytest.mark.parametrize("dtype", ["bool", "u1", "i4", "u8", "f4"])
def test_arrays_among_numbers_of_another_kind_are_converted_to_their_last_element(dtype, first, count):
    # 256 elements are converted at once, 512 where the smallest dtype is wanted.
    if first == [-1] and dtype == "u8":
        return  # no dtype holds both
    for step in (1, 2, -1):
        array = (np.arange(count * abs(step)) % 100).astype(dtype)[::step]
        for nested in ([first, array], [array, first], [first, array, array]):
            values = vl.Ragged.from_list(nested).values
            flat = [x for part in nested for x in np.asarray(part).tolist()]
            assert values.tolist() == flat


def test_times_in_arrays_are_not_cut_to_a_coarser_unit():
    rows = [np.array(["2020-01-01", "NaT"], "M8[s]"), np.array(["2020-01-02T01"], "M8[s]")]
    with pytest.raises(OverflowError, match=r"x\[1\]\[0\]: .*2020-01-02T01.* does not fit datetime64\[D\]"):
        _core.from_lists(rows, -1, "M8[D]", name="x")
    values, _ = _core.from_lists(rows[:1], -1, "M8[D]", name="x")
    np.testing.assert_array_equal(values, np.array(["2020-01-01", "NaT"], "M8[D]"), strict=True)


def test_what_is_no_number_is_named_beside_integers_beyond_64_bits():
    for depth in (-1, 1):
        with pytest.raises(TypeError, match=r"x\[0\]\[1\]: expected a number, got NoneType"):
            _core.from_lists([[1, None, 2**64]], depth, None, False, name="x")


@pytest.mark.parametrize("wrong", [fractions.Fraction(1, 3), fractions.Fraction(2**53 + 1)])
def test_fractions_that_no_double_gives_back_are_refused(wrong):
    with pytest.raises(OverflowError, match=r"data\[1\]\[0\]: Fraction.* has more digits than float64"):
        vl.Ragged.from_list([[0.5], [wrong]])


def test_a_decimal_beside_a_time_is_not_said_to_have_too_many_digits():
    with pytest.raises(TypeError, match=r"data\[0\]\[1\]: datetime64.D. beside others of float64"):
        vl.Ragged.from_list([[decimal.Decimal("0.1"), np.datetime64("2020-01-01")]])


@pytest.mark.parametrize("leaf", [str, lambda w: w.encode()], ids=["str", "bytes"])
@pytest.mark.parametrize(
    "words", [[["to", "be"], [], ["or"]], [[["a"], []], [], [["bc", ""]]], [["\u00e9"]]], ids=str
)
def test_lists_of_text_become_text_of_a_fixed_width(words, leaf):
    def each(item):
        return [each(x) for x in item] if isinstance(item, list) else leaf(item)

    r = vl.Ragged.from_list(each(words))
    assert r.values.dtype.kind == ("U" if leaf is str else "S")
    assert r.to_list() == each(words)


@pytest.mark.parametrize(
    ("data", "dtype", "error", "text"),
    [
        ([["a"], [1]], None, TypeError, r"data\[1\]\[0\]: expected text, got int"),
        ([["a", None]], None, TypeError, r"data\[0\]\[1\]: expected text, got NoneType"),
        ([[1, "a"]], None, TypeError, r"data\[0\]\[1\]: expected a number, got str"),
        ([["abc"]], "U2", ValueError, "dtype: <U2 does not hold 'abc'"),
        ([["a\0"]], None, ValueError, "data: .* ends in NUL"),
        ([["1"]], float, TypeError, r"data\[0\]\[0\]: expected a number, got str"),
        ([[b"a", "a"]], None, TypeError, "data: expected bytes"),
        (["a"], None, ValueError, "data: expected lists inside a list"),
    ],
)
def test_text_that_no_fixed_width_holds_is_refused(data, dtype, error, text):
    with pytest.raises(error, match=text):
        vl.Ragged.from_list(data, dtype)
