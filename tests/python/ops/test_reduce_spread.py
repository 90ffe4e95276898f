"""Variances, deviations, logarithms of sums of exponentials, and gradients that depend on the values."""

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

FLOATS = ["float16", "float32", "float64", ml_dtypes.bfloat16]
WHOLE = ["bool", "int8", "int32", "uint64"]
KINDS = ("b", "u", "i")  # of dtypes of whole numbers
TRAILING = [(), (1,), (3,), (4,), (5, 2), (0,), (37,), (300,)]
CLOSE = {2: 2e-2, 4: 1e-5, 8: 1e-12}
NAN, INF = np.nan, np.inf


def var(rows, ddof=0):
    rows = np.asarray(rows)
    over = len(rows) - ddof
    return np.square(rows - rows.mean(0)).sum(0) / over if over > 0 else np.full(rows.shape[1:], NAN)


def logsumexp(rows):
    rows = np.asarray(rows)
    return np.log(np.exp(rows).sum(0))


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


@st.composite
def numbers(draw, dtypes=(*FLOATS, *WHOLE), trailing=TRAILING, least=0):
    """Rows of small numbers in any layout, and lengths."""
    lengths = draw(st.lists(st.integers(least, 9), max_size=6))
    shape = (sum(lengths), *draw(st.sampled_from(trailing)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low = 0 if dtype.kind in KINDS[:2] else -9
    x = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 1 if dtype.kind == "b" else 9)))
    return draw(strategies.layouts(x.astype(dtype))), lengths


@given(numbers(), st.sampled_from([0, 1, 1.5]))
def test_variances_are_those_of_numpy(case, ddof):
    x, lengths = case
    wide = x.astype(float)
    wanted = oracle.reduce(wide, lengths, lambda rows: var(rows, ddof), np.full(x.shape[1:], NAN))
    wanted = np.asarray(wanted).reshape(len(lengths), *x.shape[1:])
    result = ops.reduce_var(x, lengths, ddof=ddof)
    floats = np.dtype(x.dtype).kind not in KINDS
    assert result.dtype == (x.dtype.newbyteorder("=") if floats else np.float64)
    assert result.shape == wanted.shape
    one = CLOSE[result.dtype.itemsize]
    assert np.allclose(result.astype(float), wanted, rtol=one, atol=one, equal_nan=True)
    std = ops.reduce_std(x, lengths, ddof=ddof)
    assert std.dtype == result.dtype
    assert np.allclose(std.astype(float), np.sqrt(wanted), rtol=one, atol=one, equal_nan=True)


@given(numbers())
def test_logarithms_of_sums(case):
    x, lengths = case
    wide = x.astype(float)
    wanted = oracle.reduce(wide, lengths, logsumexp, np.full(x.shape[1:], -INF))
    wanted = np.asarray(wanted).reshape(len(lengths), *x.shape[1:])
    result = ops.reduce_logsumexp(x, lengths)
    one = CLOSE[result.dtype.itemsize]
    assert np.allclose(result.astype(float), wanted, rtol=one, atol=one)
    assert result.dtype == ops.reduce_var(x, lengths).dtype


@pytest.mark.parametrize("columns", [(), (2,), (3,), (40,), (600,)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_long_sequences_are_worked_on_in_pieces(dtype, columns):
    lengths = np.array([2047, 0, 2049, 6000, 31, 33] if columns != (600,) else [300, 0, 33, 9])
    x = (np.random.default_rng(0).normal(size=(lengths.sum(), *columns)) * 2).astype(dtype)
    for op, plain, empty in ((ops.reduce_var, var, NAN), (ops.reduce_logsumexp, logsumexp, -INF)):
        wanted = oracle.reduce(x.astype(float), lengths.tolist(), plain, np.full(columns, empty))
        one = CLOSE[np.dtype(dtype).itemsize]
        assert np.allclose(op(x, lengths).astype(float), wanted, rtol=one, atol=0, equal_nan=True)


@pytest.mark.parametrize("columns", [(), (1,), (2,), (4,), (40,)])
@pytest.mark.parametrize("lengths", [[0], [1, 0, 1], [0, 0, 3], [2, 0, 5000, 0]])
def test_empty_sequences_give_what_is_said_beside_any_others(lengths, columns):
    x = np.ones((sum(lengths), *columns))
    for op in (ops.reduce_logsumexp, ops.reduce_var, ops.reduce_std):
        result = op(x, lengths, empty=7)
        assert np.all(result[np.array(lengths) == 0] == 7)
        assert not np.any(result[np.array(lengths) > 0] == 7)


def test_a_large_mean_does_no_harm():
    x = np.random.default_rng(1).normal(size=3000)
    for dtype, mean, one in ((np.float64, 1e9, 1e-6), (np.float32, 1e4, 1e-2)):
        lifted = (x + mean).astype(dtype)
        result = ops.reduce_var(lifted, [10, 2990])
        exact = [var(part) for part in np.split(lifted.astype(np.longdouble), [10])]
        assert np.allclose(result, np.asarray(exact, float), rtol=one)
        assert ops.reduce_var(np.full(9, mean, dtype), [9]).tolist() == [0]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("columns", [1, 3, 64])
def test_nan_infinity_and_nothing(dtype, columns):
    x = np.array([1, NAN, INF, 3, -INF, 3, -INF, -INF, NAN, -INF, INF, NAN], dtype)
    table = np.repeat(x[:, None], columns, 1)
    result = ops.reduce_logsumexp(table, [2, 2, 2, 2, 0, 2, 2]).astype(float)
    wanted = np.array([NAN, INF, 3, -INF, -INF, NAN, NAN])
    assert np.array_equal(result, np.repeat(wanted[:, None], columns, 1), equal_nan=True)
    result = ops.reduce_var(table, [2, 2, 2, 2, 0, 2, 2]).astype(float)
    assert np.all(np.isnan(result))
    assert ops.reduce_logsumexp(np.array([60000.0, -60000], np.float16), [2]).tolist() == [60000]
    assert ops.reduce_var(x[:0], [0, 0], empty=3).tolist() == [3, 3]
    assert ops.reduce_std(x[:0], [], ddof=1).shape == (0,)


@pytest.mark.parametrize("columns", [(), (4,), (5,)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_sequence_alone_and_many_threads_give_the_same_bits(columns, dtype, threads):
    rng = np.random.default_rng(2)
    few = int(np.prod(columns))
    lengths = np.concatenate([rng.integers(0, 90, 300), [1_200_000 // few, 5000]])
    x = rng.normal(size=(lengths.sum(), *columns)).astype(dtype)
    for op in (ops.reduce_var, ops.reduce_std, ops.reduce_logsumexp):
        threads(1)
        whole = op(x, lengths)
        threads(3)
        assert op(x, lengths).tobytes() == whole.tobytes()
        for i in (0, 7, 300, 301):
            start = lengths[:i].sum()
            alone = op(x[start : start + lengths[i]], lengths[i : i + 1])
            assert alone[0].tobytes() == whole[i].tobytes()


BACK = {
    "var": {"ddof": 0},
    "std": {"ddof": 0.5},
    "logsumexp": {},
    "norm": {},
    "prod": {},
}


@pytest.mark.parametrize("op", BACK)
@given(case=numbers(["float64"], TRAILING[:-1]))
def test_gradients_are_those_of_small_steps(op, case):
    x, lengths = case
    rng = np.random.default_rng(3)
    x = x / 4 + rng.normal(size=x.shape) / 8
    forward, backward = getattr(ops, f"reduce_{op}"), getattr(ops, f"backprop_reduce_{op}")
    if op in ("var", "std"):
        lengths = [n for n in lengths if n > 1]
        x = x[: sum(lengths)]
    step = rng.normal(size=x.shape) * 1e-5
    above, below = forward(x + step, lengths, **BACK[op]), forward(x - step, lengths, **BACK[op])
    d = rng.normal(size=above.shape)
    d[np.asarray(lengths, int) == 0] = 0
    result = backward(d, x, lengths, **BACK[op])
    assert result.shape == x.shape
    moved = np.where(d == 0, 0, np.nan_to_num(above) - np.nan_to_num(below))
    scale = 1 + np.abs(d).sum() * (1 + np.abs(above[np.isfinite(above)]).max(initial=0))
    assert abs((result * step).sum() - (d * moved).sum() / 2) < 1e-9 * scale


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", BACK)
def test_gradients_keep_the_dtype(op, dtype):
    x = (np.arange(12).reshape(6, 2) % 5 - 1).astype(dtype)
    d = np.array([[1, 2], [3, 1], [1, 1]]).astype(dtype)
    backward = getattr(ops, f"backprop_reduce_{op}")
    result = backward(d, x, [2, 1, 3])
    assert result.dtype == np.dtype(dtype)
    wide = backward(d.astype(float), x.astype(float), [2, 1, 3])
    one = CLOSE[np.dtype(dtype).itemsize]
    assert np.allclose(result.astype(float), wide, rtol=one, atol=one)
    out = np.full_like(x, 7)
    assert backward(d, vl.Ragged(x, [2, 1, 3]), out=out) is out
    assert out.tobytes() == result.tobytes()


def test_zeros_in_products_and_in_what_is_divided_by():
    x = np.array([0.0, 2, 3, 0, 0, 5, 4])
    d = np.array([2.0, 1, 3])
    assert ops.backprop_reduce_prod(d, x, [3, 3, 1]).tolist() == [12, 0, 0, 0, 0, 0, 3]
    tall = np.full((3, 300), 2.0)
    assert np.all(ops.backprop_reduce_prod(np.ones((1, 300)), tall, [3]) == 4)
    flat = np.zeros(4)
    assert ops.backprop_reduce_norm(d[:2], flat, [3, 1]).tolist() == [0, 0, 0, 0]
    assert ops.backprop_reduce_std(d[:2], flat + 5, [3, 1]).tolist() == [0, 0, 0, 0]
    assert np.isnan(ops.backprop_reduce_var(d[:1], flat[:1], [1], ddof=1)).all()


@given(strategies.raggeds(dtype="int32"))
def test_a_ragged_is_reduced_at_any_level(r):
    for level in range(len(r.levels)):
        over = r.levels[level]
        for below in r.levels[level + 1 :]:
            over = Level.from_offsets(below.offsets[over.offsets])
        for name in ("var", "std", "logsumexp"):
            result = getattr(r, name)(level=level)
            flat = result.values if level else result
            assert np.array_equal(flat, getattr(ops, f"reduce_{name}")(r.values, over), equal_nan=True)


X, D = np.zeros(3), np.ones(2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.reduce_var(X, [2, 0, 1], empty=None), ValueError, "sequence 1 is empty"),
        (lambda: ops.reduce_logsumexp(X, [2]), ValueError, "lengths: add up to 2, but X has 3 rows"),
        (lambda: ops.reduce_std(["a"], [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.reduce_std(X, [3], ddof="1"), TypeError, "ddof: expected a number"),
        (lambda: ops.reduce_var(X, [3], ddof=NAN), TypeError, "ddof: expected a number"),
        (lambda: ops.reduce_var(X, [3], out=np.zeros(2)), ValueError, "out: needs"),
        (lambda: ops.backprop_reduce_var(D, X, [3]), ValueError, r"d_vars: expected \(1,\).*\(2,\)"),
        (lambda: ops.backprop_reduce_var(np.float32(D), X, [2, 1]), TypeError, "d_vars: expected float64"),
        (
            lambda: ops.backprop_reduce_prod(np.array([1]), np.array([1]), [1]),
            TypeError,
            "X: expected floats",
        ),
        (lambda: ops.backprop_reduce_norm(D, X, [2, 2]), ValueError, "lengths: add up to 4"),
        (lambda: ops.backprop_reduce_norm(D, X, [2, 1], out=X), ValueError, "out"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()
    assert X.tolist() == [0, 0, 0]
    assert D.tolist() == [1, 1]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", ["prod", "norm", "var", "std", "logsumexp"])
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_a_gradient_of_0_stays_0_beside_nan_and_infinities(op, dtype, strange):
    for columns in ((), (3,), (40,)):
        x = np.ones((5, *columns), dtype)
        x[1] = strange
        x[3] = 2
        d = np.ones((2, *columns), dtype)
        d[0] = 0
        back = getattr(ops, f"backprop_reduce_{op}")
        result = back(d, x, [2, 3])
        assert not result[:2].any()
        assert np.array_equal(result[2:], back(d[1:], x[2:], [3]))
