"""Windows: neighbours beside every row, windows that step through sequences, and the ways back."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import ops
from varlen.testing import strategies

NUMBERS = ["bool", "int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"]
NUMBERS += ["float16", "float32", "float64", "bfloat16", ">f4", ">i8"]


def dtype_of(name):
    if name == "bfloat16":
        return np.dtype(pytest.importorskip("ml_dtypes").bfloat16)
    return np.dtype(name)


def small(rng, dtype, shape):
    """Numbers whose sums every dtype holds exactly."""
    return rng.integers(0, 2 if dtype.kind == "b" else 4, shape).astype(dtype)


@st.composite
def windows_around(draw):
    sides = [draw(st.sampled_from([0, 1, 1, 2, 3, 7])) for _ in range(2)]
    return (*sides, draw(st.sampled_from([1, 1, 2, 3, 50])), draw(st.sampled_from([1, 1, 2, 3, 4, 50])))


def laid_out(values, lengths, around):
    """What seq2col gives, place by place from the oracle's."""
    rows = oracle.seq2col(oracle.nest(range(len(values)), [lengths]), *around)
    kept = [len(row) for row in rows]
    flat = [row for sequence in rows for row in sequence]
    places = around[0] + 1 + around[1]
    out = np.zeros((len(flat), places, *values.shape[1:]), values.dtype)
    for t, names in enumerate(flat):
        for k, name in enumerate(names):
            if name is not None:
                out[t, k] = values[name]
    if values.ndim <= 2:
        out = out.reshape(len(flat), places * int(np.prod(values.shape[1:], dtype=int)))
    return out, kept


@given(st.data(), strategies.lengths(), windows_around(), strategies.dtypes())
def test_seq2col_is_the_oracles(data, lengths, around, dtype):
    X = data.draw(strategies.rows(sum(lengths), dtype))
    left, right, dilation, stride = around
    options = {"left": left, "right": right, "dilation": dilation, "stride": stride}
    want, kept = laid_out(X, lengths, around)
    got = ops.seq2col(X, 1, lengths=lengths, **options)
    assert got.dtype == X.dtype
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()
    ragged = ops.seq2col(vl.Ragged(X, lengths), 1, **options)
    assert ragged.lengths.tolist() == kept
    assert ragged.values.tobytes() == want.tobytes()


@pytest.mark.parametrize(
    ("X", "nW", "lengths", "want"),
    [
        ([1, 2, 3], 1, None, [[0, 1, 2], [1, 2, 3], [2, 3, 0]]),
        ([1, 2, 3], 2, None, [[0, 0, 1, 2, 3], [0, 1, 2, 3, 0], [1, 2, 3, 0, 0]]),
        ([1, 2, 3], 0, None, [[1], [2], [3]]),
        ([1, 2, 3, 4], 1, [1, 3], [[0, 1, 0], [0, 2, 3], [2, 3, 4], [3, 4, 0]]),
        ([1, 2, 3, 4], 1, [1, 0, 3], [[0, 1, 0], [0, 2, 3], [2, 3, 4], [3, 4, 0]]),
        ([1, 2], 3, [2], [[0, 0, 0, 1, 2, 0, 0], [0, 0, 1, 2, 0, 0, 0]]),
    ],
)
def test_seq2col_of_small_numbers(X, nW, lengths, want):
    column = np.array(X, np.float32)[:, None]
    np.testing.assert_array_equal(ops.seq2col(column, nW, lengths=lengths), want)
    np.testing.assert_array_equal(ops.seq2col(column[:, 0], nW, lengths=lengths), want)


def test_seq2col_keeps_width_where_there_are_no_rows():
    assert ops.seq2col(np.zeros((0, 5), "f2"), 1).shape == (0, 15)
    assert ops.seq2col(np.zeros((0, 5), "f2"), 1, lengths=[0, 0]).dtype == np.float16
    assert ops.seq2col(np.zeros((3, 0)), 2).shape == (3, 0)
    assert ops.seq2col(np.zeros((3, 2, 4)), 2).shape == (3, 5, 2, 4)
    assert ops.seq2col(np.array([[1.0, 2.0]]), 1).tolist() == [[0, 0, 1, 2, 0, 0]]
    assert ops.backprop_seq2col(np.zeros((0, 6)), 1, lengths=[0]).shape == (0, 2)
    assert ops.backprop_seq2col(np.zeros((3, 0)), 1).shape == (3, 0)


@pytest.mark.parametrize("name", NUMBERS)
@given(
    lengths=strategies.lengths(),
    around=windows_around(),
    trailing=st.sampled_from([(), (1,), (3,), (37,), (2, 2)]),
)
def test_backprop_seq2col_adds_the_places_of_each_row(name, lengths, around, trailing):
    dtype = dtype_of(name)
    left, right, dilation, stride = around
    options = {"left": left, "right": right, "dilation": dilation, "stride": stride}
    used = oracle.seq2col(oracle.nest(range(sum(lengths)), [lengths]), *around)
    rows, places = sum(len(row) for row in used), left + right + 1
    rest = trailing or (1,)
    dY = small(np.random.default_rng(len(lengths)), dtype, (rows, places, *rest))
    want = np.zeros((sum(lengths), *rest), dtype.newbyteorder("="))
    for t, found in enumerate(oracle.places_of(used, sum(lengths))):
        for at in found:
            want[t] = want[t] | dY[at] if dtype.kind == "b" else want[t] + dY[at]
    flat = dY.reshape(rows, places * int(np.prod(rest))) if len(rest) == 1 else dY
    got = ops.backprop_seq2col(flat, 1, lengths=lengths, **options)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    assert got.tobytes() == want.tobytes()


def test_backprop_seq2col_of_small_numbers():
    dY = np.arange(9, dtype=np.float32).reshape(3, 3)
    assert ops.backprop_seq2col(dY, 1).tolist() == [[4], [12], [12]]
    assert ops.backprop_seq2col(dY, 0).tolist() == dY.tolist()
    assert ops.backprop_seq2col(dY[::2], 1, lengths=[3], stride=2).tolist() == [[1], [8], [7]]


@given(strategies.lengths(), st.integers(0, 4), windows_around())
def test_backprop_seq2col_is_the_adjoint(lengths, nW, around):
    rng = np.random.default_rng(nW)
    for options in ({}, dict(zip(("left", "right", "dilation", "stride"), around, strict=True))):
        for shape in ((sum(lengths), 3), (sum(lengths), 2, 2)):
            X = rng.integers(-9, 9, shape)
            Y = ops.seq2col(X, nW, lengths=lengths, **options)
            dY = rng.integers(-9, 9, Y.shape)
            assert (dY * Y).sum() == (ops.backprop_seq2col(dY, nW, lengths=lengths, **options) * X).sum()


def test_backprop_seq2col_adds_halves_in_float32_and_lets_integers_wrap():
    dY = np.zeros((3, 3), np.float16)
    dY[0, 2], dY[1, 1], dY[2, 0] = 2048, 1, 1
    assert ops.backprop_seq2col(dY, 1)[1, 0] == 2050  # in float16 both ones were lost
    assert ops.backprop_seq2col(np.full((3, 3), 100, np.int8), 1)[1, 0] == np.int8(300 - 256)
    for bad in (np.nan, np.inf):
        dY = np.ones((3, 3), np.float32)
        dY[0, 1] = bad
        assert np.isfinite(ops.backprop_seq2col(dY, 1)).ravel().tolist() == [False, True, True]


@given(strategies.raggeds(dtype="int32", trailing=(2,)), windows_around())
def test_windows_of_a_ragged_are_those_of_its_innermost_sequences(r, around):
    options = dict(zip(("left", "right", "dilation", "stride"), around, strict=True))
    Y = ops.seq2col(r, 0, **options)
    assert Y.levels[:-1] == r.levels[:-1]
    want, kept = laid_out(r.values, r.levels[-1].lengths.tolist(), around)
    assert Y.levels[-1].lengths.tolist() == kept
    np.testing.assert_array_equal(Y.values, want)
    back = ops.backprop_seq2col(Y, 0, lengths=r.levels[-1], **options)
    assert [x.lengths.tolist() for x in back.levels] == [x.lengths.tolist() for x in r.levels]
    if around[3] == 1:
        assert ops.backprop_seq2col(Y, 0, **options).equals(back)
    stepped = ops.windows(r, size=2, step=1)
    assert stepped.levels[:-2] == r.levels[:-1]
    assert ops.average_windows(stepped, r.levels[-1], size=2, step=1).to_list() == r.to_list()


@given(
    st.data(), strategies.lengths(), st.integers(1, 9), st.integers(1, 9), st.booleans(), strategies.dtypes()
)
def test_windows_are_the_oracles(data, lengths, size, step, drop_last, dtype):
    X = data.draw(strategies.rows(sum(lengths), dtype))
    result = ops.windows(X, lengths, size=size, step=step, drop_last=drop_last)
    spans = (oracle.full_windows if drop_last else oracle.windows)(lengths, size, step)
    starts = oracle.offsets(lengths)
    assert result.dtype == X.dtype
    assert result.values.tobytes() == b"".join(
        X[starts[i] + a : starts[i] + b].tobytes() for i, a, b in spans
    )
    assert result.levels[0].lengths.tolist() == [sum(s[0] == i for s in spans) for i in range(len(lengths))]
    assert result.levels[1].lengths.tolist() == [b - a for _, a, b in spans]
    assert not np.shares_memory(result.values, X)


@pytest.mark.parametrize("name", NUMBERS)
@given(
    lengths=strategies.lengths(),
    size=st.integers(1, 9),
    step=st.integers(1, 9),
    drop_last=st.booleans(),
    trailing=st.sampled_from([(), (3,), (37,), (0,)]),
)
def test_average_windows_is_the_mean_of_the_places(name, lengths, size, step, drop_last, trailing):
    dtype = dtype_of(name)
    options = {"size": size, "step": step, "drop_last": drop_last}
    spans = (oracle.full_windows if drop_last else oracle.windows)(lengths, size, step)
    starts = oracle.offsets(lengths)
    Y = small(np.random.default_rng(size), dtype, (sum(b - a for _, a, b in spans), *trailing))
    kind = dtype.newbyteorder("=")
    is_float = dtype.kind in "fV"
    wide = np.float64 if kind == np.float64 or not is_float else np.float32
    sums = np.zeros((sum(lengths), *trailing), wide)
    count = np.zeros((sum(lengths), *(1 for _ in trailing)), wide)
    done = 0
    for i, a, b in spans:
        sums[starts[i] + a : starts[i] + b] += Y[done : done + b - a].astype(wide)
        count[starts[i] + a : starts[i] + b] += 1
        done += b - a
    mean = ops.average_windows(Y, lengths, **options)
    want = (sums / np.maximum(count, 1)).astype(kind if is_float else np.float64)
    assert mean.dtype == want.dtype
    assert mean.tobytes() == want.tobytes()
    total = ops.backprop_windows(Y, lengths, **options)
    assert total.dtype == kind
    assert total.tobytes() == sums.astype(kind).tobytes()


@given(strategies.lengths(), st.integers(1, 9), st.integers(1, 9))
def test_average_windows_brings_back_what_windows_took(lengths, size, step):
    X = np.arange(1, sum(lengths) + 1, dtype=np.float64)
    result = ops.windows(X, lengths, size=size, step=step)
    back = ops.average_windows(result, lengths, size=size, step=step)
    inside = oracle.positions(lengths)
    for row, x, at in zip(back.values, X, inside, strict=True):
        assert row == (x if at % step < size else 0)
    assert back.lengths.tolist() == list(lengths)


@given(strategies.lengths(), st.integers(1, 9), st.integers(1, 9), st.booleans())
def test_backprop_windows_is_the_adjoint(lengths, size, step, drop_last):
    rng = np.random.default_rng(size)
    options = {"size": size, "step": step, "drop_last": drop_last}
    X = rng.integers(-9, 9, (sum(lengths), 2))
    Y = ops.windows(X, lengths, **options)
    dY = rng.integers(-9, 9, Y.values.shape)
    dX = ops.backprop_windows(vl.Ragged(dY, levels=Y.levels), lengths, **options)
    assert (dY * Y.values).sum() == (dX.values * X).sum()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64", ">f4"])
@given(lengths=strategies.lengths(), size=st.integers(1, 9), step=st.integers(1, 9), drop_last=st.booleans())
def test_backprop_average_windows_shares_each_row_among_its_windows(name, lengths, size, step, drop_last):
    options = {"size": size, "step": step, "drop_last": drop_last}
    dX = small(np.random.default_rng(size), dtype_of(name), (sum(lengths), 3))
    got = ops.backprop_average_windows(dX, lengths, **options)
    times = ops.backprop_windows(np.ones(len(got.values)), lengths, **options)[:, None]
    shared = (dX.astype(np.float64) / np.maximum(times, 1)).astype(got.dtype)
    assert got.dtype == dX.dtype.newbyteorder("=")
    assert got.values.tobytes() == ops.windows(shared, lengths, **options).values.tobytes()
    if name == "float64":
        Y = np.random.default_rng(step).normal(size=got.values.shape)
        mean = ops.average_windows(Y, lengths, **options)
        np.testing.assert_allclose((mean * dX).sum(), (Y * got.values).sum(), atol=1e-9)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_windows_are_the_same_for_any_threads_and_stores(dtype):
    rng = np.random.default_rng(3)
    lengths = [0, 20_000, *rng.integers(0, 40, 600).tolist(), 9000]
    X = rng.normal(0, 99, (sum(lengths), 33)).astype(dtype)
    padded = np.concatenate([np.zeros((3, 33), dtype), X, np.zeros((3, 33), dtype)])
    t = np.arange(len(X))
    want = np.concatenate([padded[t + k] for k in range(7)], axis=1)  # right inside sequences
    inside = np.array(oracle.positions(lengths))
    left = np.repeat(lengths, lengths) - 1 - inside
    for k in range(7):
        want[(inside + k - 3 < 0) | (left - k + 3 < 0), 33 * k : 33 * (k + 1)] = 0
    before, found = vl.num_threads(), []
    try:
        for threads in (1, 2, 3):
            vl.set_num_threads(threads)
            Y = ops.seq2col(X, 3, lengths=lengths)
            np.testing.assert_array_equal(Y, want)
            dX = ops.backprop_seq2col(Y, 3, lengths=lengths)
            mean = ops.average_windows(
                ops.windows(X, lengths, size=7, step=3), lengths, size=7, step=3
            ).values
            found.append(dX.tobytes() + mean.tobytes())
    finally:
        vl.set_num_threads(before)
    assert found[0] == found[1] == found[2]
    alone = ops.backprop_seq2col(Y[20_000 : 20_000 + lengths[2]], 3)
    assert alone.tobytes() == dX[20_000 : 20_000 + lengths[2]].tobytes()
