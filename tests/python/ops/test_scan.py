"""Running sums, products and extremes of sequences, and their gradients, against plain Python and NumPy."""

import operator

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import verbs as oracle
from varlen import Level, _core, ops
from varlen.testing import strategies

FLOATS = ["float16", "float32", "float64", ml_dtypes.bfloat16]
INTS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
WHOLE = ("b", "u", "i")  # the kinds of dtypes
TRAILING = [(), (1,), (2,), (3,), (5, 2), (0,), (300,)]
OPS = {"cumsum": operator.add, "cumprod": operator.mul, "cummax": np.maximum, "cummin": np.minimum}
NUMPY = {"cumsum": np.cumsum, "cumprod": np.cumprod}
FLAGS = [(False, False), (True, False), (False, True), (True, True)]


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


def kind(dtype):
    return np.dtype(dtype).kind


def bound(dtype, lowest):
    """The lowest or highest number of a dtype."""
    if kind(dtype) not in WHOLE:
        return -np.inf if lowest else np.inf
    if kind(dtype) == "b":
        return not lowest
    return np.iinfo(dtype).min if lowest else np.iinfo(dtype).max


@st.composite
def numbers(draw, dtypes=(*FLOATS, *INTS), most=2):
    """Rows of small numbers in any layout, and lengths."""
    lengths = draw(st.lists(st.integers(0, 9), max_size=7))
    shape = (sum(lengths), *draw(st.sampled_from(TRAILING)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low = 0 if dtype.kind in WHOLE[:2] else -most
    x = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 1 if dtype.kind == "b" else most)))
    return draw(strategies.layouts(x.astype(dtype))), lengths


def wanted(name, x, lengths, exclusive, reverse):
    """By the oracle, in float64 or int64."""
    start = None
    if exclusive:
        start = {"cumsum": 0, "cumprod": 1}.get(name, bound(x.dtype, name == "cummax"))
    wide = x.astype(float if kind(x.dtype) not in WHOLE else object)
    start = None if start is None else np.array(start, wide.dtype)  # else NumPy takes it for an int64
    result = oracle.scan(wide, lengths, OPS[name], start, reverse)
    shape = (len(result), *x.shape[1:])
    return np.array([np.broadcast_to(row, shape[1:]) for row in result], wide.dtype).reshape(shape)


@given(numbers(), st.sampled_from(list(OPS)), st.sampled_from(FLAGS))
def test_rows_are_joined_with_those_before_them(case, name, flags):
    x, lengths = case
    exclusive, reverse = flags
    result = getattr(ops, name)(x, lengths, exclusive=exclusive, reverse=reverse)
    native = x.dtype.newbyteorder("=")
    assert result.shape == x.shape
    if name in NUMPY and kind(x.dtype) in WHOLE:
        assert result.dtype == NUMPY[name](x[:0].reshape(-1)).dtype
    else:
        assert result.dtype == native
    expected = wanted(name, x, lengths, exclusive, reverse)
    assert np.array_equal(result, expected.astype(result.dtype))


@given(numbers(), st.sampled_from(["cummax", "cummin"]), st.sampled_from(FLAGS))
def test_extremes_say_which_row_they_are(case, name, flags):
    x, lengths = case
    exclusive, reverse = flags
    result, which = getattr(ops, name)(x, lengths, exclusive=exclusive, reverse=reverse, which=True)
    assert which.dtype == np.int64
    better = operator.gt if name == "cummax" else operator.lt
    for begin, end in zip(oracle.offsets(lengths), oracle.offsets(lengths)[1:], strict=False):
        order = range(begin, end)[::-1] if reverse else range(begin, end)
        for at in np.ndindex(x.shape[1:]):
            best = None
            for row in order:
                before = best
                if best is None or better(x[(row, *at)], x[(best, *at)]):
                    best = row
                found = before if exclusive else best
                assert which[(row, *at)] == (-1 if found is None else found - begin)
                assert found is None or result[(row, *at)] == x[(found, *at)]


def test_a_ragged_gives_a_ragged_and_methods_take_a_level():
    r = vl.Ragged.from_list([[[1, 2], [], [3]], [], [[4], [5, 6]]])
    assert ops.cumsum(r).to_list() == r.cumsum().to_list() == [[[1, 3], [], [3]], [], [[4], [5, 11]]]
    assert r.cumsum(level=0).to_list() == [[[1, 3], [], [6]], [], [[4], [9, 15]]]
    backwards = r.cumsum(level=-2, exclusive=True, reverse=True).to_list()
    assert backwards == [
        [[5, 3], [], [0]],
        [],
        [[11], [6, 0]],
    ]
    assert r.cumprod(level=0).to_list() == [[[1, 2], [], [6]], [], [[4], [20, 120]]]
    assert r.cummax().to_list() == r.to_list()
    assert r.cummin(level=0).to_list() == [[[1, 1], [], [1]], [], [[4], [4, 4]]]
    result, which = ops.cummin(r, which=True)
    assert result.levels is r.levels or result.levels == r.levels
    assert which.to_list() == [[[0, 0], [], [0]], [], [[0], [0, 0]]]
    assert ops.cumsum(np.ones(3, bool), Level([2, 1])).tolist() == [1, 2, 1]
    with pytest.raises(IndexError, match="level: 2 is out of range"):
        r.cumsum(level=2)
    with pytest.raises(TypeError, match="lengths: not allowed, because X is a Ragged"):
        ops.cumsum(r, [6])


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_infinity_and_zero_go_through_and_stay_in_their_sequence(dtype):
    nan, inf = np.nan, np.inf
    x = np.array([1, inf, 2, -inf, 1, -0.0, -0.0, 3, nan, 5, 7], dtype)
    lengths = [4, 1, 2, 3, 1]
    sums = ops.cumsum(x, lengths).astype(float)
    assert np.array_equal(sums, [1, inf, inf, nan, 1, -0.0, -0.0, 3, nan, nan, 7], equal_nan=True)
    assert np.signbit(sums[5:7]).all()
    assert not np.signbit(ops.cumsum(x, lengths, exclusive=True).astype(float)[5])
    most, which = ops.cummax(x, lengths, which=True)
    assert np.array_equal(most.astype(float), [1, inf, inf, inf, 1, 0, 0, 3, nan, nan, 7], equal_nan=True)
    assert which.tolist() == [0, 1, 1, 1, 0, 0, 0, 0, 1, 1, 0]
    least, which = ops.cummin(x, lengths, reverse=True, which=True)
    assert np.array_equal(
        least.astype(float), [-inf, -inf, -inf, -inf, 1, 0, 0, nan, nan, 5, 7], equal_nan=True
    )
    assert which.tolist() == [3, 3, 3, 3, 0, 1, 1, 1, 1, 2, 0]
    wide = np.repeat(x[:, None], 3, 1)
    assert np.array_equal(ops.cumsum(wide, lengths)[:, 1].astype(float), sums, equal_nan=True)
    assert np.array_equal(ops.cummax(wide, lengths)[:, 2], most, equal_nan=True)


def test_large_numbers_of_one_sequence_leave_the_next_alone():
    x = np.array([1e30, 1, 1, 1], np.float32)
    assert ops.cumsum(x, [1, 3]).tolist() == [np.float32(1e30), 1, 2, 3]
    assert ops.cumprod(x, [1, 3]).tolist() == [np.float32(1e30), 1, 1, 1]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_floats_are_added_as_they_say(columns, reverse):
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 40, 50)
    x = rng.normal(size=(lengths.sum(), *columns))

    def each(x):
        turn = slice(None, None, -1 if reverse else 1)
        rows = np.split(x, np.cumsum(lengths)[:-1])
        return np.concatenate([np.cumsum(row[turn], axis=0, dtype=x.dtype)[turn] for row in rows])

    assert ops.cumsum(x, lengths, reverse=reverse).tobytes() == each(x).tobytes()
    f32 = x.astype(np.float32)
    result = ops.cumsum(f32, lengths, reverse=reverse)
    assert np.allclose(result, each(f32.astype(float)), rtol=2.0**-23, atol=1e-12)
    for half in ("float16", ml_dtypes.bfloat16):
        h = x.astype(half)
        result = ops.cumsum(h, lengths, reverse=reverse)
        assert result.tobytes() == each(h.astype(np.float32)).astype(half).tobytes()


def test_whole_numbers_wrap_as_numpys_do():
    x = np.array([2**63 - 1, 1, 2**62], np.int64)
    assert ops.cumsum(x, [2, 1]).tolist() == [2**63 - 1, -(2**63), 2**62]
    assert ops.cumprod(np.full(9, 200, np.uint8), [9]).tolist() == [200**k % 2**64 for k in range(1, 10)]
    assert ops.cumsum(np.full(300, -100, np.int8), [300])[-1] == -30_000


@pytest.mark.parametrize("name", list(OPS))
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16"])
def test_a_sequence_alone_and_many_threads_give_the_same_bits(name, columns, dtype, threads):
    rng = np.random.default_rng(1)
    lengths = np.concatenate([rng.integers(0, 100, 500), [1_100_000, 5000, 7, 0]])
    x = rng.integers(1, 3, (lengths.sum(), *columns)) + (rng.random() if dtype != "int16" else 0)
    x = (x / 1.5 if name == "cumprod" else x).astype(dtype)
    for exclusive, reverse in FLAGS[:3:2] if columns else FLAGS:
        op = getattr(ops, name)
        flags = {"exclusive": exclusive, "reverse": reverse}
        threads(1)
        with np.errstate(over="ignore", under="ignore"):
            whole = op(x, lengths, **flags)
            threads(3)
            assert op(x, lengths, **flags).tobytes() == whole.tobytes()
        for i in (7, 499, 500, 501, 502):
            start = lengths[:i].sum()
            rows = slice(start, start + lengths[i])
            assert op(x[rows], lengths[i : i + 1], **flags).tobytes() == whole[rows].tobytes()


def test_a_giant_sequence_is_the_sum_of_its_parts(threads):
    threads(3)
    x = np.ones(3_000_000, np.float32)
    for reverse in (False, True):
        result = ops.cumsum(x, [len(x)], reverse=reverse)
        count = np.arange(1, len(x) + 1, dtype=np.float32)
        assert np.array_equal(result, count[::-1] if reverse else count)
        before = ops.cumsum(x, [len(x)], reverse=reverse, exclusive=True)
        assert np.array_equal(before, result - 1)
    y = np.arange(3_000_000) % 1_000_003
    most, which = ops.cummax(y, [len(y)], which=True)
    assert np.array_equal(most, np.maximum.accumulate(y))
    assert np.array_equal(which, np.minimum(np.arange(len(y)), 1_000_002))
    wide = np.ones((40, 40_000), np.float32)  # shared by columns
    assert np.array_equal(ops.cumsum(wide, [40]), np.cumsum(wide, 0))


def test_outputs_that_are_given_are_filled():
    x = np.arange(6, dtype=np.float32)
    out = np.empty_like(x)
    assert ops.cumsum(x, [2, 4], out=out) is out
    assert out.tolist() == [0, 1, 2, 5, 9, 14]
    assert ops.cummax(x, [2, 4], which=True, out=out)[0] is out


# Gradients.


@given(numbers(FLOATS[1:3]), st.sampled_from(FLAGS))
def test_gradients_of_sums_are_adjoint(case, flags):
    x, lengths = case
    flags = dict(zip(("exclusive", "reverse"), flags, strict=True))
    d = (np.arange(x.size).reshape(x.shape) % 7).astype(x.dtype)
    back = ops.backprop_cumsum(d, lengths, **flags)
    assert np.vdot(back, x) == np.vdot(d, ops.cumsum(x, lengths, **flags))


@given(numbers((*FLOATS[1:], "float16")), st.sampled_from(["cummax", "cummin"]), st.sampled_from(FLAGS))
def test_gradients_of_extremes_go_to_the_rows_that_they_are(case, name, flags):
    x, lengths = case
    flags = dict(zip(("exclusive", "reverse"), flags, strict=True))
    _, which = getattr(ops, name)(x, lengths, which=True, **flags)
    d = (np.arange(x.size).reshape(x.shape) % 7).astype(x.dtype.newbyteorder("="))
    back = ops.backprop_cummax(d, which, lengths)
    assert back.dtype == d.dtype
    expected = np.zeros(x.shape)
    starts = np.repeat(oracle.offsets(lengths)[:-1], lengths)
    for at in np.ndindex(x.shape):
        if which[at] >= 0:
            expected[(starts[at[0]] + which[at], *at[1:])] += float(d[at])
    assert np.array_equal(back.astype(float), expected)
    assert np.array_equal(ops.backprop_cummin(d, which, lengths), back)


@given(numbers(["float64"]), st.sampled_from(FLAGS))
def test_gradients_of_products_are_right_at_zeros(case, flags):
    x, lengths = case
    flags = dict(zip(("exclusive", "reverse"), flags, strict=True))
    d = np.random.default_rng(0).normal(size=x.shape)
    back = ops.backprop_cumprod(d, x, lengths, **flags)
    # A product is linear in each of its factors, so differences of any size are exact but for rounding.
    if not x.size:
        assert back.shape == x.shape
        return
    for k in range(min(len(x), 6)):
        up, down = x.astype(float), x.astype(float)
        up[k] += 0.5
        down[k] -= 0.5
        more, less = (ops.cumprod(y, lengths, **flags) for y in (up, down))
        assert np.allclose((d * (more - less)).sum(0), back[k], rtol=1e-9, atol=1e-9)
    for dtype, rounds in (("float32", 1e-5), ("float16", 1e-2), (ml_dtypes.bfloat16, 6e-2)):
        few = np.array([2, 0, -1, 0.5], dtype), np.array([1, 2, 3, 4], dtype)
        result = ops.backprop_cumprod(few[1], few[0], [3, 1])
        assert result.dtype == dtype
        assert np.allclose(result.astype(float), [1, -2, 0, 4], rtol=rounds)


X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.cumsum(X, [1, 2]), ValueError, "lengths: add up to 3, but X has 4 rows"),
        (lambda: ops.cumsum(X, [5, -1]), ValueError, "lengths: row 1 has a negative length, -1"),
        (lambda: ops.cumsum(X), TypeError, "lengths: required, because X is not a Ragged"),
        (lambda: ops.cumsum(X + 1j, [4]), TypeError, "X: expected bool, integers or floats, got complex128"),
        (lambda: ops.cumsum(X, [4], out=np.empty(4)), ValueError, r"out: needs float64\(4, 2\), got"),
        (lambda: ops.cumsum(X, [4], out=X), ValueError, "out: shares memory with an input"),
        (lambda: ops.cumsum(X.astype("i4"), [4], out=X.astype("i4")), ValueError, "out: needs int64"),
        (lambda: ops.cumsum(["a"], [1]), TypeError, "X: expected bool, integers or floats, got <U1"),
        (
            lambda: ops.backprop_cumprod(X[:3], X, [4]),
            ValueError,
            r"dY: expected \(4, 2\) as X, got \(3, 2\)",
        ),
        (lambda: ops.backprop_cumprod(X.astype("f4"), X, [4]), TypeError, "dY: expected float64 as X, got f"),
        (lambda: ops.backprop_cumprod(X.astype(int), X.astype(int), [4]), TypeError, "X: expected floats"),
        (lambda: ops.backprop_cummax(X, X, [4]), TypeError, "which: expected integers"),
        (
            lambda: ops.backprop_cummax(X, X[0].astype(int), [4]),
            ValueError,
            r"which: expected \(4, 2\) as dY",
        ),
        (
            lambda: ops.backprop_cummax(X, np.array([[0, 0], [1, 2], [0, 0], [0, 0]]), [2, 2]),
            IndexError,
            "which: 2 in row 1 is outside its sequence",
        ),
        (
            lambda: ops.backprop_cummax(X, np.full((4, 2), -2), [2, 2]),
            IndexError,
            "which: -2 in row 0 is outside its sequence",
        ),
        (lambda: ops.backprop_cummax(X.astype(int), X.astype(int), [4]), TypeError, "dY: expected floats"),
        (lambda: _core.scan("median", X, Level([4])), ValueError, "op: there is none called 'median'"),
        (
            lambda: _core.scan("sum", X, Level([4]), False, False, X),
            ValueError,
            "out: shares memory with an input",
        ),
        (lambda: _core.scan("sum", X, [4]), TypeError, "lengths: expected a Level, got list"),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    before = X.copy()
    with pytest.raises(error, match=text):
        call()
    assert np.array_equal(X, before)


@pytest.mark.parametrize("flags", [{}, {"exclusive": True}, {"reverse": True}])
@pytest.mark.parametrize("strange", [np.nan, np.inf])
def test_a_gradient_of_0_stays_0_where_products_are_nan(strange, flags):
    x = np.array([2.0, strange, strange, 2.0, 3.0, 0.0])
    d = np.array([0.0, 0, 0, 1, 1, 1])
    result = ops.backprop_cumprod(d, x, [3, 3], **flags)
    assert not result[:3].any()
    assert np.array_equal(result[3:], ops.backprop_cumprod(d[3:], x[3:], [3], **flags))
