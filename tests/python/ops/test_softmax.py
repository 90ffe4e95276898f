"""Softmax inside sequences, its logarithm and their gradients, against plain Python and NumPy."""

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from oracles import verbs as oracle
from varlen import Level, ops
from varlen.testing import strategies

FLOATS = ["float16", "float32", "float64", ml_dtypes.bfloat16, ">f4", ">f8"]
WHOLE = ["bool", "int8", "int32", "uint16", "uint64"]
KINDS = ("b", "u", "i")  # of dtypes of whole numbers
TRAILING = [(), (1,), (2,), (3,), (4,), (8,), (5, 2), (0,), (37,), (300,)]
CLOSE = {2: 1e-2, 4: 5e-6, 8: 1e-13}
NAN, INF = np.nan, np.inf


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


@st.composite
def numbers(draw, dtypes=(*FLOATS, *WHOLE), trailing=TRAILING):
    """Rows of small numbers in any layout, and lengths."""
    lengths = draw(strategies.lengths())
    shape = (sum(lengths), *draw(st.sampled_from(trailing)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low = 0 if dtype.kind in KINDS[:2] else -40
    x = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 1 if dtype.kind == "b" else 40)))
    x = x / 4 if dtype.kind not in KINDS else x
    return draw(strategies.layouts(x.astype(dtype))), lengths


def plainly(x, lengths, temperature=1.0):
    """Of each column by the oracle."""
    wide = x.astype(float).reshape(len(x), int(np.prod(x.shape[1:])))
    result = [oracle.softmax(column.tolist(), lengths, temperature) for column in wide.T]
    return np.array(result).reshape(wide.shape[::-1]).T.reshape(x.shape)


@given(numbers(), st.sampled_from([1.0, 0.5, 3.0]))
def test_softmax_is_that_of_plain_python(case, temperature):
    x, lengths = case
    before = x.tobytes()
    wanted = plainly(x, lengths, temperature)
    result = ops.softmax(x, lengths, temperature=temperature)
    log = ops.log_softmax(x, lengths, temperature=temperature)
    floats = np.dtype(x.dtype).kind not in KINDS
    assert result.dtype == log.dtype == (x.dtype.newbyteorder("=") if floats else np.float64)
    assert result.shape == log.shape == x.shape
    one = CLOSE[result.dtype.itemsize]
    assert np.allclose(result.astype(float), wanted, rtol=one, atol=one * 1e-3)
    with np.errstate(divide="ignore"):
        assert np.allclose(log.astype(float), np.log(wanted), rtol=one, atol=one)
    assert x.tobytes() == before
    r = vl.Ragged(x, lengths)
    assert r.softmax(temperature=temperature).values.tobytes() == result.tobytes()
    assert ops.log_softmax(r, temperature=temperature).values.tobytes() == log.tobytes()


@pytest.mark.parametrize("columns", [(), (2,), (3,), (40,), (600,)])
@pytest.mark.parametrize("dtype", [*FLOATS[:4], "int32"])
def test_long_sequences_are_worked_on_in_pieces(dtype, columns):
    lengths = np.array([2047, 0, 2049, 9000, 31, 33] if columns != (600,) else [300, 0, 33, 9])
    x = (np.random.default_rng(0).normal(size=(lengths.sum(), *columns)) * 2).astype(dtype)
    wide = x.astype(float)
    most = np.zeros((len(lengths), *columns))
    total = np.zeros((len(lengths), *columns))
    for i, (end, n) in enumerate(zip(np.cumsum(lengths), lengths, strict=True)):
        if n:
            most[i] = wide[end - n : end].max(0)
            total[i] = np.exp(wide[end - n : end] - most[i]).sum(0)
    share = np.exp(wide - np.repeat(most, lengths, 0)) / np.repeat(total, lengths, 0)
    floats = dtype != "int32"
    one = CLOSE[np.dtype(dtype).itemsize] if floats else 1e-13
    result = ops.softmax(x, lengths).astype(float)
    assert np.allclose(result, share, rtol=one, atol=one * 1e-5)
    log = ops.log_softmax(x, lengths).astype(float)
    assert np.allclose(log, np.log(share), rtol=one, atol=one)
    if not floats:
        return
    y = ops.softmax(x, lengths)
    back = ops.backprop_softmax(x, y, lengths).astype(float)
    wide_y = y.astype(float)
    inner = np.repeat(ops.reduce_sum(wide * wide_y, lengths), lengths, 0)
    assert np.allclose(back, wide_y * (wide - inner), rtol=one, atol=one * np.abs(wide_y).max())


def test_exponentials_are_right_to_the_last_place():
    """A sequence of 0 and x: the second share over the first is exp(x)."""
    for dtype, low in ((np.float32, -104.5), (np.float64, -746.5)):
        x = np.linspace(low, 0, 20_001).astype(dtype)
        pairs = np.stack([np.zeros_like(x), x], axis=1).reshape(-1)
        result = ops.softmax(pairs, np.full(len(x), 2)).reshape(-1, 2).astype(np.longdouble)
        wide = np.exp(x.astype(np.longdouble))
        wanted = wide / (1 + wide)
        tiny = np.finfo(dtype).smallest_subnormal
        assert np.all(np.abs(result[:, 1] - wanted) <= 4 * np.finfo(dtype).eps / 2 * wanted + tiny)
        assert result[0, 1] == 0
        assert result[-1, 1] == 0.5


@pytest.mark.parametrize("dtype", FLOATS[:4])
@pytest.mark.parametrize("columns", [1, 3, 8, 64])
def test_nan_infinity_and_extremes(dtype, columns):
    x = np.array([1, NAN, 2, INF, 3, -INF, 3, -INF, -INF, -INF, 60000, -60000], dtype)
    lengths = [3, 2, 2, 1, 2, 2]
    wanted = [NAN, NAN, NAN, NAN, NAN, 0, 1, NAN, NAN, NAN, 1, 0]
    table = np.repeat(x[:, None], columns, 1)
    result = ops.softmax(table, lengths).astype(float)
    assert np.array_equal(result, np.repeat(np.array(wanted)[:, None], columns, 1), equal_nan=True)
    log = ops.log_softmax(table, lengths).astype(float)[:, 0]
    assert np.array_equal(np.isnan(log), np.isnan(wanted))
    assert log[[5, 6, 10]].tolist() == [-INF, 0, 0]
    assert log[11] < -6e4


def test_cases_of_the_reference():
    assert ops.softmax(np.zeros((3, 1)), [2, 1]).tolist() == [[0.5], [0.5], [1.0]]
    apart = ops.softmax(np.array([100.0, 90.0], np.float32), [2])
    assert np.allclose(apart, [0.9999546, 4.539787e-05], rtol=1e-6)
    back = ops.backprop_softmax(np.array([1.0, 0, 1]), np.array([0.5, 0.5, 1]), [2, 1])
    assert back.tolist() == [0.25, -0.25, 0]
    for x in (np.zeros((0, 4), np.float32), np.zeros((2, 0), np.float16)):
        assert ops.softmax(x, [len(x)]).shape == x.shape
        assert ops.softmax(x, [len(x)]).dtype == x.dtype


def test_every_layout_gives_the_numbers_of_a_contiguous_float32():
    x = np.random.default_rng(2).integers(-9, 9, (12, 3))
    plain = ops.softmax(x.astype(np.float32), [5, 7])
    fixed = np.asfortranarray(x.astype(np.float32))
    fixed.flags.writeable = False
    for other in (x, fixed, np.repeat(x.astype(np.float32), 2, 0)[::2], x.astype(">f4"), x.tolist()):
        assert np.allclose(ops.softmax(other, [5, 7]), plain, rtol=1e-6)


@pytest.mark.parametrize("columns", [(), (4,), (5,), (64,)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_sequence_alone_and_many_threads_give_the_same_bits(columns, dtype, threads):
    rng = np.random.default_rng(1)
    few = int(np.prod(columns))
    # Shared by more parts than there are threads, and by as few as there may be.
    lengths = np.concatenate([rng.integers(0, 90, 300), [1_800_000 // few, 5000, 1_100_000 // few]])
    x = rng.normal(size=(lengths.sum(), *columns)).astype(dtype)
    threads(1)
    forward = [ops.softmax(x, lengths), ops.log_softmax(x, lengths)]
    backward = [
        ops.backprop_softmax(x, forward[0], lengths),
        ops.backprop_log_softmax(x, forward[1], lengths),
    ]
    threads(3)
    assert ops.softmax(x, lengths).tobytes() == forward[0].tobytes()
    assert ops.log_softmax(x, lengths).tobytes() == forward[1].tobytes()
    for i in (0, 7, 300, 301, 302):
        some = slice(lengths[:i].sum(), lengths[: i + 1].sum())
        cut = lengths[i : i + 1]
        assert ops.softmax(x[some], cut).tobytes() == forward[0][some].tobytes()
        assert ops.log_softmax(x[some], cut).tobytes() == forward[1][some].tobytes()
        alone = ops.backprop_softmax(x[some], forward[0][some], cut)
        assert alone.tobytes() == backward[0][some].tobytes()
        alone = ops.backprop_log_softmax(x[some], forward[1][some], cut)
        assert alone.tobytes() == backward[1][some].tobytes()


def test_one_long_sequence_and_many_of_one_row_do_not_depend_on_threads(threads):
    x = np.random.default_rng(3).normal(size=1_000_000).astype(np.float32)
    result = []
    for n in (1, 2):
        threads(n)
        result.append([ops.softmax(x, [len(x)]), ops.softmax(x, np.ones(len(x), int))])
    assert result[0][0].tobytes() == result[1][0].tobytes()
    assert result[0][1].tobytes() == result[1][1].tobytes()
    assert np.all(result[0][1] == 1)
    assert abs(result[0][0].astype(float).sum() - 1) < 1e-6


@given(numbers(["float32", "float64"], TRAILING[:-1]), st.sampled_from([1.0, 0.5]))
def test_writing_in_place_gives_what_a_new_array_would(case, temperature):
    x, lengths = case
    x = np.ascontiguousarray(x).copy()
    for op in (ops.softmax, ops.log_softmax):
        wanted = op(x, lengths, temperature=temperature)
        given_x, out = x.copy(), np.full_like(x, 7)
        assert op(given_x, lengths, temperature=temperature, inplace=True) is given_x
        assert given_x.tobytes() == wanted.tobytes()
        assert op(x, lengths, temperature=temperature, out=out) is out
        assert out.tobytes() == wanted.tobytes()


def test_long_sequences_in_place(threads):
    threads(3)
    lengths = [100_000, 70_000, 3, 1_100_000]
    x = np.random.default_rng(4).normal(size=sum(lengths)).astype(np.float32)
    wanted = ops.softmax(x, lengths)
    r = vl.Ragged(x, lengths)
    assert ops.softmax(r, inplace=True) is r
    assert r.values.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("axis", [2, 3, -1, -2])
def test_another_axis_is_a_softmax_of_each_row(axis):
    x = np.random.default_rng(5).normal(size=(5, 4, 3))
    result = ops.softmax(x, [2, 0, 3], axis=axis)
    of_x = axis - 1 if axis > 0 else axis
    wanted = np.exp(x) / np.exp(x).sum(of_x, keepdims=True)
    assert np.allclose(result, wanted, rtol=1e-13)
    assert np.allclose(ops.log_softmax(x, [2, 0, 3], axis=axis), np.log(wanted), rtol=1e-13)
    d = np.random.default_rng(6).normal(size=x.shape)
    back = ops.backprop_softmax(d, result, [5], axis=axis)
    assert np.allclose(back, result * (d - (result * d).sum(of_x, keepdims=True)), rtol=1e-12)
    given_x, out = x.copy(), np.empty_like(x)
    assert ops.softmax(given_x, [5], axis=axis, inplace=True) is given_x
    assert np.array_equal(given_x, result)
    assert ops.softmax(x, [5], axis=axis, out=out) is out
    assert np.array_equal(out, result)
    assert ops.softmax(x[:, :0], [5], axis=axis).shape == (5, 0, 3)
    assert ops.softmax(x[:0], [], axis=axis).shape == (0, 4, 3)


@given(numbers(["float64"], TRAILING[:-1]), st.sampled_from([1.0, 2.0]))
def test_gradients_are_those_of_small_steps(case, temperature):
    x, lengths = case
    rng = np.random.default_rng(7)
    d, step = rng.normal(size=(2, *x.shape))
    for forward, backward in (
        (ops.softmax, ops.backprop_softmax),
        (ops.log_softmax, ops.backprop_log_softmax),
    ):
        y = forward(x, lengths, temperature=temperature)
        small = 1e-5
        above = forward(x + small * step, lengths, temperature=temperature)
        below = forward(x - small * step, lengths, temperature=temperature)
        result = backward(d, y, lengths, temperature=temperature)
        assert result.shape == x.shape
        assert np.allclose((result * step).sum(), (d * (above - below)).sum() / (2 * small), atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_gradients_of_what_no_logarithm_is_go_to_infinity(dtype):
    y = np.array([500, -1000, NAN, 2000], dtype)
    d = np.ones(4, dtype)
    with np.errstate(over="ignore"):
        result = ops.backprop_log_softmax(d, y, [1, 1, 1, 1]).astype(float)
        wanted = 1 - np.exp(y.astype(float)).astype(dtype).astype(float)
    assert np.allclose(result, wanted, rtol=1e-6, equal_nan=True)


@given(strategies.raggeds(dtype="float64", trailing=(2,)))
def test_a_ragged_is_softened_at_any_level(r):
    r = r._make(np.nan_to_num(np.clip(r.values, -9, 9)), r.levels)
    for level in range(len(r.levels)):
        over = r.levels[level]
        for below in r.levels[level + 1 :]:
            over = Level.from_offsets(below.offsets[over.offsets])
        result = r.softmax(level=level)
        assert result.levels == r.levels
        assert np.array_equal(result.values, ops.softmax(r.values, over))
        log = r.log_softmax(level=level, temperature=2)
        assert np.array_equal(log.values, ops.log_softmax(r.values, over, temperature=2))


def fixed():
    x = np.zeros(2)
    x.flags.writeable = False
    return x


X, Y = np.zeros(3), np.full(3, 0.5)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.softmax(X, [1, 1]), ValueError, "lengths: add up to 2, but X has 3 rows"),
        (lambda: ops.softmax(X, [4, -1]), ValueError, "lengths.*row 1"),
        (lambda: ops.softmax(X), TypeError, "lengths: required"),
        (
            lambda: ops.softmax(vl.Ragged([1.0], [1]), [1]),
            TypeError,
            "lengths: not allowed, because X is a Ragged",
        ),
        (lambda: ops.softmax(["a"], [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.softmax(X, [3], axis=2), ValueError, "axis: 2 is out of range for 2 axes"),
        (lambda: ops.softmax(X, [3], temperature=0), ValueError, "temperature: expected.*got 0"),
        (lambda: ops.softmax(X, [3], temperature=-1.0), ValueError, "temperature.*-1.0"),
        (lambda: ops.softmax(X, [3], temperature=NAN), ValueError, "temperature.*nan"),
        (lambda: ops.softmax(X, [3], temperature="2"), TypeError, "temperature.*str"),
        (lambda: ops.softmax(fixed(), [2], inplace=True), ValueError, "X: is read-only"),
        (lambda: ops.softmax([1.0], [1], inplace=True), TypeError, "X: expected an array.*list"),
        (lambda: ops.softmax(np.arange(2), [2], inplace=True), ValueError, "X: needs float64"),
        (lambda: ops.softmax(np.zeros(4)[::2], [2], inplace=True), ValueError, "X.*C-contig"),
        (lambda: ops.softmax(np.zeros(2, ">f8"), [2], inplace=True), ValueError, "X: needs"),
        (lambda: ops.softmax(X, [3], inplace=True, out=Y), TypeError, "out: leave it out"),
        (lambda: ops.softmax(X, [3], out=np.zeros(2)), ValueError, "out: needs"),
        (lambda: ops.softmax(X, [3], out=X), ValueError, "out"),
        (lambda: ops.softmax(X, [3], out=np.zeros(6)[::2]), ValueError, "out: is not C-contig"),
        (lambda: ops.backprop_softmax(X, Y[:2], [3]), ValueError, r"Y: expected.*\(3,\).*\(2,\)"),
        (lambda: ops.backprop_softmax(X, np.float32(Y), [3]), TypeError, "Y: expected float64"),
        (lambda: ops.backprop_softmax([1], [1], [1]), TypeError, "dY: expected floats"),
        (lambda: ops.backprop_softmax(X, Y, [2]), ValueError, "lengths: add up to 2, but dY"),
        (lambda: ops.backprop_softmax(X, Y, [3], out=Y), ValueError, "out"),
        (lambda: ops.backprop_log_softmax(X, Y, [3], temperature=0), ValueError, "temperature"),
        (lambda: vl.Ragged(X, [3]).softmax(level=1), IndexError, "level: 1 is out of range"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert X.tolist() == [0, 0, 0]
    assert Y.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", ml_dtypes.bfloat16])
@pytest.mark.parametrize("trailing", [(), (3,), (8,), (37,)])
@pytest.mark.parametrize("length", [2, 70, 20_000])
def test_a_gradient_of_0_stays_0_where_softmax_is_nan(dtype, trailing, length):
    if length > 1000 and len(trailing) and trailing[0] > 3:
        length = 3000
    lengths = [length, 3, length]
    x = np.full((2 * length + 3, *trailing), -INF, dtype)
    x[length : length + 3] = np.arange(3, dtype=dtype).reshape(3, *(1 for _ in trailing))
    dy = np.zeros_like(x)
    dy[length] = 1
    for forward, backward in (
        (ops.softmax, ops.backprop_softmax),
        (ops.log_softmax, ops.backprop_log_softmax),
    ):
        y = forward(x, lengths)
        assert np.isnan(y[0].astype(float)).all()
        result = backward(dy, y, lengths).astype(float)
        alone = backward(dy[length : length + 3], y[length : length + 3], [3]).astype(float)
        assert not result[:length].any()
        assert not result[length + 3 :].any()
        assert np.array_equal(result[length : length + 3], alone)
    back = ops.backprop_reduce_logsumexp(
        np.array([0, 1, 0], dtype).repeat(x[0].size).reshape(3, *trailing), x, lengths
    )
    assert not back[:length].astype(float).any()
    assert np.isfinite(back.astype(float)).all()
