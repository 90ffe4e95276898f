"""Reductions of sequences to one row each, and their gradients, against plain Python and NumPy."""

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
TRAILING = [(), (1,), (2,), (3,), (4,), (8,), (5, 2), (0,), (37,)]
NUMPY = {"sum": np.sum, "prod": np.prod, "max": np.max, "min": np.min, "any": np.any, "all": np.all}


@pytest.fixture
def threads():
    """Sets how many, until the test is over."""
    before = vl.num_threads()
    yield vl.set_num_threads
    vl.set_num_threads(before)


def reduced(op, x, lengths, **options):
    """The result alone, of those that give a place too."""
    result = getattr(ops, f"reduce_{op}")(x, lengths, **options)
    return result[0] if isinstance(result, tuple) else result


@st.composite
def numbers(draw, dtypes=(*FLOATS, *INTS), trailing=TRAILING, least=0):
    """Rows of small numbers in any layout, and lengths."""
    lengths = draw(st.lists(st.integers(least, 9), max_size=7))
    shape = (sum(lengths), *draw(st.sampled_from(trailing)))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low = 0 if dtype.kind in WHOLE[:2] else -5
    x = draw(hnp.arrays(np.int64, shape, elements=st.integers(low, 1 if dtype.kind == "b" else 5)))
    return draw(strategies.layouts(x.astype(dtype))), lengths


@given(numbers(), st.sampled_from(["sum", "prod", "any", "all"]))
def test_whole_numbers_are_reduced_as_numpy_does(case, op):
    x, lengths = case
    result = reduced(op, x, lengths)
    wide = x.astype(float) if np.dtype(x.dtype).kind not in WHOLE else x
    wanted = oracle.reduce(wide, lengths, lambda rows: NUMPY[op](rows, axis=0), NUMPY[op](wide[:0], axis=0))
    assert result.shape == (len(lengths), *x.shape[1:])
    with np.errstate(over="ignore"):
        assert np.array_equal(result, np.asarray(wanted).reshape(result.shape).astype(result.dtype))
    if np.dtype(x.dtype).kind in WHOLE:
        assert result.dtype == NUMPY[op](x[:0].reshape(-1)).dtype
    else:
        assert result.dtype == (bool if op in ("any", "all") else x.dtype.newbyteorder("="))


@given(numbers(least=1), st.sampled_from(["max", "min"]))
def test_extremes_keep_the_dtype_and_say_where_they_are(case, op):
    x, lengths = case
    result, which = getattr(ops, f"reduce_{op}")(x, lengths, which=True)
    assert result.dtype == x.dtype.newbyteorder("=")
    assert which.dtype == np.int64
    assert result.shape == which.shape == (len(lengths), *x.shape[1:])
    wide = x.astype(float) if np.dtype(x.dtype).kind not in WHOLE else x
    for i, rows in enumerate(oracle.nest(wide, [lengths])):
        rows = np.asarray(rows)
        assert np.array_equal(result[i].astype(rows.dtype), NUMPY[op](rows, axis=0))
        assert np.array_equal(which[i], rows.argmax(0) if op == "max" else rows.argmin(0))
    assert np.array_equal(getattr(ops, f"arg{op}")(x, lengths), which)


@given(numbers(), st.sampled_from(["mean", "norm"]))
def test_means_and_norms(case, op):
    x, lengths = case
    result = reduced(op, x, lengths)
    wide = x.astype(float)
    of = (
        (lambda rows: np.mean(rows, 0))
        if op == "mean"
        else (lambda rows: np.sqrt(np.sum(np.square(rows), 0)))
    )
    wanted = np.asarray(oracle.reduce(wide, lengths, of, np.zeros(x.shape[1:])))
    floats = np.dtype(x.dtype).kind not in WHOLE
    assert result.dtype == (x.dtype.newbyteorder("=") if floats else np.float64)
    tolerance = {2: 1e-2, 4: 1e-6, 8: 1e-14}[result.dtype.itemsize]
    assert np.allclose(result.astype(float), wanted.reshape(result.shape), rtol=tolerance, atol=0)


@pytest.mark.parametrize("columns", [(), (2,), (3,), (40,), (600,)])
@pytest.mark.parametrize("dtype", FLOATS)
def test_long_sequences_are_added_in_blocks(dtype, columns):
    lengths = np.array([4095, 0, 4097, 9000, 31, 33])
    x = np.random.default_rng(0).normal(size=(lengths.sum(), *columns)).astype(dtype)
    exact = oracle.reduce(x.astype(float), lengths.tolist(), lambda rows: np.sum(rows, 0), np.zeros(columns))
    result = ops.reduce_sum(x, lengths).astype(float)
    one = {2: 2e-2, 4: 1e-5, 8: 1e-13}[np.dtype(dtype).itemsize]
    assert np.allclose(result, np.asarray(exact), rtol=one, atol=200 * one)


@pytest.mark.parametrize("columns", [1, 3, 16])
def test_blocks_of_float32_are_added_in_doubles(columns, threads):
    """Sums of the blocks are whole numbers that float32 holds; sums of those are not."""
    x = np.full((512 * 4096, columns), 1025, np.float32)
    x[::4096] = 1026
    for count in (1, 3):
        threads(count)
        assert ops.reduce_sum(x, [len(x)]).tolist() == [[512 * (4096 * 1025 + 1)] * columns]


@pytest.mark.parametrize("op", ["sum", "mean", "prod", "norm", "max"])
@pytest.mark.parametrize("columns", [(), (4,), (5,)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_sequence_alone_and_many_threads_give_the_same_bits(op, columns, dtype, threads):
    rng = np.random.default_rng(1)
    lengths = np.concatenate([rng.integers(0, 200, 500), [300_000, 5000, 1_300_000]])
    x = (rng.random((lengths.sum(), *columns)) + 0.5).astype(dtype)
    threads(1)
    with np.errstate(over="ignore"):
        whole = reduced(op, x, lengths, empty=0)
        threads(3)
        assert reduced(op, x, lengths, empty=0).tobytes() == whole.tobytes()
        for i in (0, 7, 500, 501, 502):
            start = lengths[:i].sum()
            alone = reduced(op, x[start : start + lengths[i]], lengths[i : i + 1], empty=0)
            assert alone[0].tobytes() == whole[i].tobytes()


@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_infinity_and_zero_go_through_as_in_numpy(dtype):
    nan, inf = np.nan, np.inf
    x = np.array([1, nan, 2, inf, -inf, -0.0, -0.0, -inf, -inf, inf, inf], dtype)
    lengths = [3, 2, 2, 2, 2]
    total = ops.reduce_sum(x, lengths).astype(float)
    assert np.array_equal(total, [nan, nan, -0.0, -inf, inf], equal_nan=True)
    assert np.signbit(total[2])
    most, which = ops.reduce_max(x, lengths, which=True)
    assert np.array_equal(most.astype(float), [nan, inf, 0, -inf, inf], equal_nan=True)
    assert which.tolist() == [1, 0, 0, 0, 0]
    least, which = ops.reduce_min(x, lengths, which=True)
    assert np.array_equal(least.astype(float), [nan, -inf, 0, -inf, inf], equal_nan=True)
    assert which.tolist() == [1, 1, 0, 0, 0]
    assert ops.reduce_any(x, lengths).tolist() == [True, True, False, True, True]
    wide = np.repeat(x[:, None], 5, 1)
    assert np.array_equal(ops.reduce_max(wide, lengths)[:, 3], most, equal_nan=True)


def test_whole_numbers_wrap_as_numpys_do_and_means_do_not():
    x = np.array([2**63 - 1, 1, 2**62, 2**62], np.int64)
    assert ops.reduce_sum(x, [2, 2]).tolist() == [-(2**63), -(2**63)]
    assert ops.reduce_mean(x, [2, 2]).tolist() == [2.0**62, 2.0**62]
    assert ops.reduce_sum(np.full(300, 200, np.uint8), [300]).tolist() == [60_000]
    assert ops.reduce_norm(np.array([1e30, 1e30], np.float32), [2])[0] == np.float32(np.sqrt(2) * 1e30)


def test_ends_of_sequences():
    x = np.arange(10.0).reshape(5, 2)
    assert ops.reduce_first(x, [2, 3]).tolist() == [[0, 1], [4, 5]]
    assert ops.reduce_last(x, [2, 3]).tolist() == [[2, 3], [8, 9]]
    words = np.array(["a", "bc", "d"])
    assert ops.reduce_last(words, [2, 1]).tolist() == ["bc", "d"]
    none = ops.reduce_first(np.zeros((0, 3)), [])
    assert none.shape == (0, 3)
    assert none.dtype == float


@given(numbers(FLOATS[:3], least=1))
def test_gradients_are_adjoint_to_what_they_belong_to(case):
    x, lengths = case
    d = np.arange(len(lengths) * int(np.prod(x.shape[1:])), dtype=x.dtype.newbyteorder("="))
    d = d.reshape(len(lengths), *x.shape[1:]) + 1
    n = np.asarray(lengths).reshape(-1, *[1] * (x.ndim - 1))
    assert np.array_equal(ops.backprop_reduce_sum(d, lengths), np.repeat(d, lengths, 0))
    expected = np.repeat((d / n).astype(d.dtype), lengths, 0)
    assert np.allclose(ops.backprop_reduce_mean(d, lengths).astype(float), expected.astype(float), rtol=1e-3)
    for op in ("max", "min"):
        most, which = getattr(ops, f"reduce_{op}")(x, lengths, which=True)
        back = getattr(ops, f"backprop_reduce_{op}")(d, which, lengths)
        assert back.shape == x.shape
        assert np.array_equal(ops.reduce_sum(back, lengths), d)
        assert np.array_equal(ops.reduce_sum(back * x, lengths), d * most)
    back = ops.backprop_reduce_first(d, lengths)
    assert np.array_equal(ops.reduce_first(back, lengths), d)
    assert np.array_equal(ops.reduce_sum(back, lengths), d)
    back = ops.backprop_reduce_last(d, lengths)
    assert np.array_equal(ops.reduce_last(back, lengths), d)
    assert np.array_equal(ops.reduce_sum(back, lengths), d)


@given(st.data(), strategies.dtypes())
def test_rows_of_every_dtype_are_repeated(data, dtype):
    lengths = data.draw(st.lists(st.integers(0, 5), max_size=6))
    rows = data.draw(strategies.rows(len(lengths), dtype))
    result = ops.backprop_reduce_sum(rows, lengths)
    assert result.dtype == rows.dtype
    assert result.shape == (sum(lengths), *rows.shape[1:])
    assert result.tobytes() == b"".join(
        rows[i : i + 1].tobytes() for i in oracle.expand(range(len(rows)), lengths)
    )


def test_repeated_rows_do_not_depend_on_threads(threads):
    lengths = np.random.default_rng(3).integers(0, 9, 400_000)
    for rows in (np.arange(len(lengths), dtype=np.float32), np.ones((len(lengths), 3), np.int16)):
        result = []
        for n in (1, 3):
            threads(n)
            result.append(ops.backprop_reduce_sum(rows, lengths))
        assert np.array_equal(result[0], result[1])
        assert np.array_equal(result[0], np.repeat(rows, lengths, 0))


@given(strategies.raggeds(dtype="int32"))
def test_a_ragged_is_reduced_at_any_level(r):
    depth = len(r.levels)
    for level in range(depth):
        result = r.sum(level=level)
        assert isinstance(result, vl.Ragged if level else np.ndarray)
        flat = result.values if level else result
        over = r.levels[level]
        for below in r.levels[level + 1 :]:
            over = Level.from_offsets(below.offsets[over.offsets])
        assert np.array_equal(flat, ops.reduce_sum(r.values, over))
        assert np.array_equal((r.count(level=level).values if level else r.count(level=level)), over.lengths)
    inner = ops.reduce_sum(r)
    rows = inner.values if depth > 1 else inner
    assert np.array_equal(rows, ops.reduce_sum(r.values, r.levels[-1]))


def test_methods_of_a_ragged():
    r = vl.Ragged([3.0, 1.0, 4.0, 2.0], [3, 1])
    assert [m().tolist() for m in (r.sum, r.mean, r.prod, r.max, r.min, r.norm)] == [
        [8.0, 2.0], [8 / 3, 2.0], [12.0, 2.0], [4.0, 2.0], [1.0, 2.0], [26**0.5, 2.0],
    ]  # fmt: skip
    assert [m().tolist() for m in (r.any, r.all, r.argmax, r.argmin, r.count)] == [
        [True, True], [True, True], [2, 0], [1, 0], [3, 1],
    ]  # fmt: skip
    holes = vl.Ragged([3.0], [0, 1])
    assert holes.max(empty=-np.inf).tolist() == [-np.inf, 3.0]
    assert holes.sum(empty=7).tolist() == [7.0, 3.0]
    with pytest.raises(ValueError, match="sequence 0 is empty"):
        holes.max()
    with pytest.raises(IndexError, match="level: 1 is out of range for 1 levels"):
        r.sum(level=1)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64"])
@pytest.mark.parametrize("columns", [(), (3,)])
def test_ranges_are_those_of_numpy(dtype, columns):
    x = np.random.default_rng(0).integers(-100, 100, (9, *columns)).astype(dtype)
    lengths = [4, 0, 1, 4]
    wanted = np.asarray(
        oracle.reduce(x, lengths, lambda rows: np.ptp(rows, axis=0), np.full(columns, 7, dtype))
    )
    found = ops.reduce_ptp(x, lengths, empty=7)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, wanted)
    out = np.empty_like(found)
    assert ops.reduce_ptp(x, lengths, empty=7, out=out) is out
    np.testing.assert_array_equal(out, found)
    r = vl.Ragged(x, [4, 5])
    np.testing.assert_array_equal(r.ptp(axis=0), [*np.ptp([x[:4], x[4:8]], axis=0), x[8] * 0])
    np.testing.assert_array_equal(np.ptp(r, axis=1), [np.ptp(x[:4], axis=0), np.ptp(x[4:], axis=0)])
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        ops.reduce_ptp(x, lengths)


def test_ranges_of_tensors_have_gradients():
    torch = pytest.importorskip("torch")
    x = torch.tensor([3.0, 1.0, 4.0, 9.0], requires_grad=True)
    r = vl.Ragged(x, [3, 1])
    assert r.ptp().tolist() == [3.0, 0.0]
    r.ptp().sum().backward()
    assert x.grad.tolist() == [0.0, -1.0, 1.0, 0.0]


def most_frequent(rows):
    """Column by column, the least of them; NaN are one number, and the largest."""
    found = [np.unique(column, return_counts=True) for column in rows.reshape(len(rows), -1).T]
    return [numbers[counts.argmax()] for numbers, counts in found]


@given(numbers(), st.booleans())
def test_modes_are_the_least_of_the_most_frequent_numbers(case, with_nan):
    x, lengths = case
    if with_nan and np.dtype(x.dtype).kind not in WHOLE:
        x = np.where(x > 2, np.nan, x).astype(x.dtype)
    found = ops.reduce_mode(x, lengths, empty=1)
    assert found.dtype == x.dtype.newbyteorder("=")
    assert found.shape == (len(lengths), *x.shape[1:])
    ends = np.cumsum(lengths, dtype=int)
    for row, rows in zip(found.astype(float), np.split(x.astype(float), ends)[:-1], strict=True):
        wanted = most_frequent(rows) if len(rows) else np.ones(row.size)
        np.testing.assert_array_equal(row.reshape(-1), wanted)
    if 0 in lengths:
        with pytest.raises(ValueError, match=f"sequence {lengths.index(0)} is empty"):
            ops.reduce_mode(x, lengths)


def test_modes_of_a_giant_at_levels_and_along_axes():
    x = np.random.default_rng(0).integers(0, 500, (100_006, 2)).astype(np.float32)
    x[2:300, 1] = x[-2:] = np.nan
    found = ops.reduce_mode(x, [2, 100_000, 0, 4], empty=7)
    wanted = [most_frequent(x[:2]), most_frequent(x[2:-4]), [7, 7], [np.nan, np.nan]]
    np.testing.assert_array_equal(found, wanted)
    r = vl.Ragged([3, 1, 2, 1, 2, 2], [3, 1, 2])
    assert r.mode(axis=0).tolist() == [1, 1, 2]
    assert r.mode(axis=(0, 1)) == 2
    nested = vl.Ragged.from_list([[[3, 1], [3]], [[2, 2, 1]]])
    assert nested.mode().to_list() == [[1, 3], [2]]
    assert nested.mode(level=0).tolist() == [3, 2]
    out = np.zeros(3, int)
    assert ops.reduce_mode(r, out=out) is out
    assert out.tolist() == [1, 1, 2]


def test_modes_of_tensors_have_gradients():
    torch = pytest.importorskip("torch")
    x = torch.tensor([1.0, 3.0, 3.0, torch.nan, 4.0, torch.nan], requires_grad=True)
    found = vl.Ragged(x, [3, 2, 1]).mode()
    np.testing.assert_array_equal(found.detach(), [3, 4, np.nan])
    found.sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 1.0, 0.0, 1.0, 1.0]
    for dtype in (torch.bool, torch.uint8, torch.int64, torch.bfloat16):
        found = ops.reduce_mode(torch.tensor([[1, 0], [1, 0], [0, 1]], dtype=dtype), [2, 1])
        assert found.dtype == dtype
        assert found.tolist() == [[1, 0], [0, 1]]


def test_results_can_be_given():
    out = np.full((2, 2), 9.0)
    assert ops.reduce_sum(np.ones((3, 2)), [1, 2], out=out) is out
    assert out.tolist() == [[1, 1], [2, 2]]
    back = np.full(3, 9.0)
    assert ops.backprop_reduce_sum(np.ones(2), [1, 2], out=back) is back
    assert back.tolist() == [1, 1, 1]
    with pytest.raises(ValueError, match="out"):
        ops.reduce_sum(np.ones((3, 2)), [1, 2], out=np.zeros((3, 2)))
    with pytest.raises((TypeError, ValueError), match="out"):
        ops.reduce_sum(np.ones((3, 2), np.float32), [1, 2], out=out)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: ops.reduce_sum([1, 2, 3], [1, 1]), ValueError, "lengths: add up to 2, but X has 3 rows"),
        (lambda: ops.reduce_sum([1, 2], [3, -1]), ValueError, "lengths.*row 1"),
        (lambda: ops.reduce_sum([1, 2]), TypeError, "lengths: required"),
        (
            lambda: ops.reduce_sum(vl.Ragged([1], [1]), [1]),
            TypeError,
            "lengths: not allowed, because X is a Ragged",
        ),
        (lambda: ops.reduce_sum(["a"], [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.reduce_sum(np.zeros(1, "M8[s]"), [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.reduce_sum(np.zeros(1, complex), [1]), TypeError, "X: expected bool, integers"),
        (lambda: ops.reduce_sum([1.5], [1.0]), TypeError, "lengths"),
        (lambda: ops.reduce_max([1, 2], [2, 0, 0]), ValueError, "sequence 1 is empty"),
        (
            lambda: ops.reduce_max(np.zeros(1, np.uint8), [1, 0], empty=-1),
            (ValueError, OverflowError),
            "empty",
        ),
        (lambda: ops.argmin([1], [0, 1]), ValueError, "sequence 0 is empty"),
        (lambda: ops.reduce_first([1], [1, 0]), ValueError, "sequence 1 is empty"),
        (lambda: ops.reduce_last([1], [1, 0]), ValueError, "sequence 1 is empty"),
        (lambda: ops.backprop_reduce_sum([1.0, 2.0], [3]), ValueError, "2 rows for 1 sequences"),
        (lambda: ops.backprop_reduce_mean([1, 2], [3, 1]), TypeError, "d_means: expected floats"),
        (lambda: ops.backprop_reduce_max([1.0], [3], [3]), IndexError, "which: 3 in row 0.*length 3"),
        (lambda: ops.backprop_reduce_max([1.0], [-1], [3]), IndexError, "which: -1 in row 0"),
        (lambda: ops.backprop_reduce_max([[1.0]], [0], [3]), ValueError, "which"),
        (lambda: ops.backprop_reduce_first([1.0], []), ValueError, "1 rows for 0 sequences"),
        (lambda: ops.backprop_reduce_last([1.0, 2.0], [3]), ValueError, "2 rows for 1 sequences"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=6),
    st.sampled_from([8, 13, 16, 24, 40, 60, 67, 96, 120, 530]),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**32 - 1),
)
def test_extremes_of_wide_rows_and_their_places(lengths, columns, dtype, seed):
    rng = np.random.default_rng(seed)
    x = rng.choice(
        np.array([-np.inf, -1, -0.0, 0, 2, np.inf, *[np.nan] * (seed % 2)], dtype), (sum(lengths), columns)
    )
    for op, place in (("max", np.argmax), ("min", np.argmin)):
        result, which = getattr(ops, f"reduce_{op}")(x, lengths, empty=5, which=True)
        assert np.array_equal(getattr(ops, f"reduce_{op}")(x, lengths, empty=5), result, equal_nan=True)
        for i, rows in enumerate(oracle.nest(x, [lengths])):
            rows = np.asarray(rows, dtype).reshape(-1, columns)
            if len(rows) == 0:
                assert (result[i] == 5).all()
                assert (which[i] == -1).all()
                continue
            assert np.array_equal(result[i], NUMPY[op](rows, axis=0), equal_nan=True)
            assert np.array_equal(which[i], place(rows, axis=0))


def test_a_sequence_that_threads_share_has_its_extremes_where_it_is(threads):
    x = np.random.default_rng(0).integers(-9, 9, (70_005, 16)).astype(np.float32)
    x[70_001] = 99
    alone = ops.reduce_max(x[5:], [70_000])
    for n in (1, 3):
        threads(n)
        result, which = ops.reduce_max(x, [5, 70_000], which=True)
        assert which[1].tolist() == [69_996] * 16
        assert result[1].tobytes() == alone[0].tobytes()
        assert np.array_equal(result[0], x[:5].max(0))


def test_extremes_are_two():
    with pytest.raises(ValueError, match="op: expected 'max' or 'min', got 'sum'"):
        _core.reduce_extreme("sum", np.ones((3, 2)), vl.Level([3]))
