"""VarlenOps beside NumpyOps: the same numbers, dtypes and texts from our kernels alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from varlen.testing import strategies

pytest.importorskip("thinc", reason="thinc is not installed")

from thinc_pair import STOCK, close, each, same

FLOATS = st.sampled_from(["float32", "float64"])


@st.composite
def batches(draw, least=0):
    """Rows of normal numbers, and the int32 lengths that cut them; at least one row, for NumpyOps' sake."""
    lengths = [max(least, n) for n in draw(strategies.lengths())]
    if sum(lengths) == 0:
        lengths.append(1)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = rng.normal(size=(sum(lengths), draw(st.integers(1, 9)))).astype(draw(FLOATS))
    return X, np.array(lengths, np.int32)


@each
@given(batches())
def test_sums_and_means_and_their_gradients(ours, batch):
    X, lengths = batch
    for op in ("sum", "mean"):
        close(getattr(ours, f"reduce_{op}")(X, lengths), getattr(STOCK, f"reduce_{op}")(X, lengths))
        d = X[: len(lengths)] if len(X) >= len(lengths) else np.resize(X, (len(lengths), X.shape[1]))
        d = np.ascontiguousarray(d)
        close(
            getattr(ours, f"backprop_reduce_{op}")(d, lengths),
            getattr(STOCK, f"backprop_reduce_{op}")(d, lengths),
        )


@each
@given(batches(1))
def test_max_first_and_last_and_their_gradients(ours, batch):
    X, lengths = batch
    for op in ("max", "first", "last"):
        got = getattr(ours, f"reduce_{op}")(X, lengths)
        same(got, getattr(STOCK, f"reduce_{op}")(X, lengths))
        rows, extra = got
        rest = (extra, lengths) if op == "max" else (extra,)
        same(
            getattr(ours, f"backprop_reduce_{op}")(rows, *rest),
            getattr(STOCK, f"backprop_reduce_{op}")(rows, *rest),
        )


@each
def test_reductions_of_no_sequences(ours):
    none, X = np.zeros(0, np.int32), np.zeros((0, 3), np.float64)
    for op in ("sum", "mean"):
        same(getattr(ours, f"reduce_{op}")(X, none), np.zeros((0, 3)))
        same(getattr(ours, f"backprop_reduce_{op}")(X, none), np.zeros((0, 3)))
    same(ours.reduce_max(X, none), (np.zeros((0, 3)), np.zeros((0, 3), np.int32)))
    for op in ("first", "last"):
        rows, extra = getattr(ours, f"reduce_{op}")(X, none)
        same(rows, X)
        assert extra.size == 0
        same(getattr(ours, f"backprop_reduce_{op}")(rows, extra), X)
    same(ours.reduce_sum(X, np.zeros(2, np.int32)), np.zeros((2, 3)))


@each
@given(batches(), st.integers(0, 4), st.booleans())
def test_windows_and_their_gradient(ours, batch, nW, whole):
    X, lengths = batch
    cut = None if whole else lengths
    cols = STOCK.seq2col(X, nW, lengths=cut)
    same(ours.seq2col(X, nW, lengths=cut), cols)
    close(ours.backprop_seq2col(cols, nW, lengths=cut), STOCK.backprop_seq2col(cols, nW, lengths=cut))


@each
@given(batches(), st.integers(0, 3), st.booleans())
def test_flatten_and_back(ours, batch, pad, ids):
    X, lengths = batch
    rows = X.view(np.uint32).astype(np.uint64) if ids else X
    arrays = np.split(rows, np.cumsum(lengths)[:-1])
    flat = STOCK.flatten(arrays, pad=pad)
    same(ours.flatten(arrays, pad=pad), flat)
    same(ours.flatten(arrays, dtype="float64", pad=pad), STOCK.flatten(arrays, dtype="float64", pad=pad))
    for given_lengths in (lengths, lengths.tolist()):
        back = ours.unflatten(flat, given_lengths, pad=pad)
        same(back, STOCK.unflatten(flat, lengths, pad=pad))
        assert all(np.shares_memory(a, flat) for a in back if a.size)


@each
def test_flatten_of_nothing(ours):
    for X in ([], None, [np.zeros((0, 3), np.int32)], [np.zeros((5, 0)), np.zeros((3, 0))]):
        for dtype in (None, "int32"):
            same(ours.flatten(X, dtype=dtype), STOCK.flatten(X, dtype=dtype))
    same(ours.flatten([], ndim_if_empty=1), np.zeros(0, np.float32))
    ids, numbers = np.ones((1, 2), np.int32), np.zeros((2, 2), np.float32)
    same(ours.flatten([ids, numbers]), STOCK.flatten([ids, numbers]))


@each
@given(batches(), st.integers(1, 5))
def test_pad_and_back(ours, batch, round_to):
    X, lengths = batch
    arrays = np.split(X, np.cumsum(lengths)[:-1])
    padded = ours.pad(arrays, round_to)
    same(padded, STOCK.pad(arrays, round_to))
    same(ours.unpad(padded, lengths), arrays)
    same(ours.unpad(padded, lengths[:1]), arrays[:1])


@each
@given(batches())
def test_time_major_and_back(ours, batch):
    X, lengths = batch
    arrays = np.split(X, np.cumsum(lengths)[:-1])
    padded = ours.list2padded(arrays)
    same(padded, STOCK.list2padded(arrays))
    same(ours.padded2list(padded), arrays)
    assert not np.shares_memory(padded.data, X)


@each
def test_time_major_orders_ties_as_thinc(ours):
    arrays = [np.full((n, 1), i, np.float32) for i, n in enumerate([2, 3, 2, 3])]
    padded = ours.list2padded(arrays)
    same(padded, STOCK.list2padded(arrays))
    assert padded.indices.tolist() == [3, 1, 2, 0]
    assert padded.size_at_t.tolist() == [4, 4, 2]
    same(ours.list2padded([]), STOCK.list2padded([]))


@each
@given(batches(), st.booleans())
def test_softmax_inside_sequences(ours, batch, flat):
    X, lengths = batch
    Y = STOCK.softmax_sequences(X, lengths)
    close(ours.softmax_sequences(X, lengths), Y)
    close(ours.backprop_softmax_sequences(X, Y, lengths), STOCK.backprop_softmax_sequences(X, Y, lengths))


@each
def test_softmax_subtracts_the_maximum_where_thinc_clips(ours):
    X, lengths = np.array([[100.0], [90.0], [0.0]]), np.array([2, 1], np.int32)
    close(
        ours.softmax_sequences(X, lengths), np.array([[1 / (1 + np.exp(-10))], [1 / (1 + np.exp(10))], [1]])
    )
    for ops in (STOCK, ours):
        with pytest.raises(NotImplementedError, match="only supports 2d"):
            ops.softmax_sequences(X[None], lengths)


@each
@given(st.integers(0, 30), st.integers(0, 3), st.integers(1, 6), FLOATS, st.integers(0, 9))
def test_maxout_to_the_bit(ours, n, width, pieces, dtype, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, width, pieces)).astype(dtype)
    X[X == 3] = np.nan
    X[X == 2] = -0.0
    best, which = ours.maxout(X)
    if X.size:
        same((best, which), STOCK.maxout(X))
    assert (best.shape, which.shape) == ((n, width), (n, width))
    assert (best.dtype, which.dtype) == (X.dtype, np.int32)


@each
@given(
    st.integers(1, 20), st.integers(0, 5), st.integers(1, 20), st.integers(1, 5), FLOATS, st.integers(0, 9)
)
def test_lookups_and_what_they_add(ours, V, width, T, K, dtype, seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(V, width + 1)).astype(dtype)
    for kind in ("int32", "uint32", "int64"):
        indices = rng.integers(0, V, (T, K)).astype(kind)
        close(ours.gather_add(table, indices), table[indices].sum(1))
    close(ours.gather_add(table, indices.astype("i")), STOCK.gather_add(table, indices.astype("i")))
    values, one = rng.normal(size=(T, K, width + 1)).astype(dtype), np.ones(width + 1, "float32")
    for at, rows in (
        (indices - 1, values),
        ((indices - 1)[:, 0].astype("i"), np.ascontiguousarray(values[:, 0])),
        (indices, one),
    ):
        added, stock = table.copy(), table.copy()
        assert ours.scatter_add(added, at, rows) is None
        if dtype == "float64" and at.dtype == np.int32:  # NumpyOps counts from the end here alone
            at, rows = at[at >= 0], rows[at >= 0]
        STOCK.scatter_add(stock, at, rows)
        close(added, stock)


@each
@given(st.lists(st.integers(0, 2**64 - 1), max_size=9), st.integers(0, 4), st.integers(0, 2**32 - 1))
def test_hashes_of_ids_and_of_their_neighbours(ours, ids, n, seed):
    keys = np.array(ids, np.uint64)
    same(ours.hash(keys, seed), STOCK.hash(keys, seed))
    if ids:
        same(ours.ngrams(n, keys), STOCK.ngrams(n, keys))


def lstm_of(dtype):
    """Weights of two layers in both directions, and packed rows of three sequences."""
    rng = np.random.default_rng(0)
    params = rng.normal(size=2 * 4 * 2 * (3 + 2 + 2) + 2 * 4 * 2 * (4 + 2 + 2)).astype(dtype) / 2
    start = np.zeros((2, 2, 2), dtype)
    return params, start, start, rng.normal(size=(6, 3)).astype(dtype), np.array([3, 2, 1], np.int32)


@each
@pytest.mark.parametrize("sizes", [[3, 2, 1], [2, 2], [1], [4, 1, 1, 1]])
@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("depth", [1, 2])
def test_lstm_over_packed_rows_is_numpy_ops(sizes, directions, depth, ours):
    """Thinc's H0 starts the cells, its C0 the hidden state; fields of the state are (Y, G, C, X)."""
    rng = np.random.default_rng(len(sizes))
    above = (depth - 1) * directions * 8 * (2 * directions + 2 + 2)
    params, H0, C0, X = (
        rng.normal(size=shape).astype(np.float32)
        for shape in (
            directions * 8 * (3 + 2 + 2) + above,
            (depth, directions, 2),
            (depth, directions, 2),
            (sum(sizes), 3),
        )
    )
    sizes = np.array(sizes, np.int32)
    want, want_state = STOCK.lstm_forward_training(params, H0, C0, X, sizes)
    found, state = ours.lstm_forward_training(params, H0, C0, X, sizes)
    close(found, want)
    close(ours.lstm_forward_inference(params, H0, C0, X, sizes), want)
    close(STOCK.lstm_forward_inference(params, H0, C0, X, sizes), want)
    assert len(state) == len(want_state) == 4
    for found, want in zip(state, want_state, strict=True):
        close(found, want)
    # The arrays are made float32 as params are, where Thinc's own tests give float64 zeros.
    mixed = (params, np.zeros(H0.shape), np.zeros(C0.shape), X.astype(np.float64), sizes)
    zeros = np.zeros(H0.shape, np.float32)
    close(ours.lstm_forward_training(*mixed)[0], STOCK.lstm_forward_inference(params, zeros, zeros, X, sizes))


@each
def test_lstm_gradient_is_numpy_ops_behind_the_first_step(ours):
    """Thinc leaves out the gradient of the step that comes first; of all others it is right."""
    rng = np.random.default_rng(5)
    params, H0, C0, X, dY = (
        rng.normal(size=shape).astype(np.float32)
        for shape in (8 * (3 + 2 + 2), (1, 1, 2), (1, 1, 2), (6, 3), (6, 2))
    )
    sizes = np.array([3, 2, 1], np.int32)
    back = []
    for ops in (ours, STOCK):
        _, state = ops.lstm_forward_training(params, H0, C0, X, sizes)
        back.append(ops.backprop_lstm(dY.copy(), sizes, params, state)[0])
    close(back[0][3:], back[1][3:])


@each
def test_lstm_has_the_whole_gradient(ours):
    params, start, _, X, sizes = lstm_of("float64")

    def loss(p, x):
        return (ours.lstm_forward_inference(p, start, start, x, sizes) * weights).sum()

    weights = np.random.default_rng(1).normal(size=(6, 4))
    state = ours.lstm_forward_training(params, start, start, X, sizes)[1]
    dX, d_params = ours.backprop_lstm(weights, sizes, params, state)
    assert (dX.shape, d_params.shape) == (X.shape, params.shape)
    for k in range(0, len(params), 17):
        step = np.zeros_like(params)
        step[k] = 1e-6
        assert d_params[k] == pytest.approx(
            (loss(params + step, X) - loss(params - step, X)) / 2e-6, abs=1e-6
        )
    step = np.zeros_like(X)
    step[0, 1] = 1e-6
    assert dX[0, 1] == pytest.approx((loss(params, X + step) - loss(params, X - step)) / 2e-6, abs=1e-6)
