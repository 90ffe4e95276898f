"""VarlenOps beside NumpyOps: the same numbers, dtypes and texts from our kernels alone."""

import inspect
import threading

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.testing import strategies

thinc = pytest.importorskip("thinc", reason="thinc is not installed")

import varlen.thinc  # noqa: E402
from thinc.backends import NumpyOps, Ops  # noqa: E402
from thinc.types import Padded  # noqa: E402

STOCK = NumpyOps()
OURS = varlen.thinc.VarlenOps()
FLOATS = st.sampled_from(["float32", "float64"])

SEQUENCE_OPS = [
    "backprop_reduce_first",
    "backprop_reduce_last",
    "backprop_reduce_max",
    "backprop_reduce_mean",
    "backprop_reduce_sum",
    "backprop_seq2col",
    "flatten",
    "list2padded",
    "maxout",
    "pad",
    "padded2list",
    "reduce_first",
    "reduce_last",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "seq2col",
    "unflatten",
    "unpad",
]


@st.composite
def batches(draw, least=0):
    """Rows of normal numbers, and the int32 lengths that cut them; at least one row, for NumpyOps' sake."""
    lengths = [max(least, n) for n in draw(strategies.lengths())]
    if sum(lengths) == 0:
        lengths.append(1)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    X = rng.normal(size=(sum(lengths), draw(st.integers(1, 9)))).astype(draw(FLOATS))
    return X, np.array(lengths, np.int32)


def close(got, want):
    """Equal in kind, and in numbers to the rounding of float32."""
    assert type(got) is np.ndarray
    assert got.flags.writeable
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=2e-5, atol=2e-6)


def same(got, want):
    """Equal to the bit, lists and Padded too."""
    if isinstance(want, Padded):
        assert type(got) is Padded
        for field in ("data", "size_at_t", "lengths", "indices"):
            same(getattr(got, field), getattr(want, field))
    elif isinstance(want, (list, tuple)):
        assert type(got) is type(want)
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            same(one, other)
    else:
        assert type(got) is np.ndarray
        assert got.flags.writeable
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        assert got.tobytes() == np.ascontiguousarray(want).tobytes()


@given(batches())
def test_sums_and_means_and_their_gradients(batch):
    X, lengths = batch
    for op in ("sum", "mean"):
        close(getattr(OURS, f"reduce_{op}")(X, lengths), getattr(STOCK, f"reduce_{op}")(X, lengths))
        d = X[: len(lengths)] if len(X) >= len(lengths) else np.resize(X, (len(lengths), X.shape[1]))
        d = np.ascontiguousarray(d)
        close(
            getattr(OURS, f"backprop_reduce_{op}")(d, lengths),
            getattr(STOCK, f"backprop_reduce_{op}")(d, lengths),
        )


@given(batches(1))
def test_max_first_and_last_and_their_gradients(batch):
    X, lengths = batch
    for op in ("max", "first", "last"):
        got = getattr(OURS, f"reduce_{op}")(X, lengths)
        same(got, getattr(STOCK, f"reduce_{op}")(X, lengths))
        rows, extra = got
        rest = (extra, lengths) if op == "max" else (extra,)
        same(
            getattr(OURS, f"backprop_reduce_{op}")(rows, *rest),
            getattr(STOCK, f"backprop_reduce_{op}")(rows, *rest),
        )


def test_reductions_of_no_sequences():
    none, X = np.zeros(0, np.int32), np.zeros((0, 3), np.float64)
    for op in ("sum", "mean"):
        same(getattr(OURS, f"reduce_{op}")(X, none), np.zeros((0, 3)))
        same(getattr(OURS, f"backprop_reduce_{op}")(X, none), np.zeros((0, 3)))
    same(OURS.reduce_max(X, none), (np.zeros((0, 3)), np.zeros((0, 3), np.int32)))
    for op in ("first", "last"):
        rows, extra = getattr(OURS, f"reduce_{op}")(X, none)
        same(rows, X)
        assert extra.size == 0
        same(getattr(OURS, f"backprop_reduce_{op}")(rows, extra), X)
    same(OURS.reduce_sum(X, np.zeros(2, np.int32)), np.zeros((2, 3)))


@given(batches(), st.integers(0, 4), st.booleans())
def test_windows_and_their_gradient(batch, nW, whole):
    X, lengths = batch
    cut = None if whole else lengths
    cols = STOCK.seq2col(X, nW, lengths=cut)
    same(OURS.seq2col(X, nW, lengths=cut), cols)
    close(OURS.backprop_seq2col(cols, nW, lengths=cut), STOCK.backprop_seq2col(cols, nW, lengths=cut))


@given(batches(), st.integers(0, 3), st.booleans())
def test_flatten_and_back(batch, pad, ids):
    X, lengths = batch
    rows = X.view(np.uint32).astype(np.uint64) if ids else X
    arrays = np.split(rows, np.cumsum(lengths)[:-1])
    flat = STOCK.flatten(arrays, pad=pad)
    same(OURS.flatten(arrays, pad=pad), flat)
    same(OURS.flatten(arrays, dtype="float64", pad=pad), STOCK.flatten(arrays, dtype="float64", pad=pad))
    for given_lengths in (lengths, lengths.tolist()):
        back = OURS.unflatten(flat, given_lengths, pad=pad)
        same(back, STOCK.unflatten(flat, lengths, pad=pad))
        assert all(np.shares_memory(a, flat) for a in back if a.size)


def test_flatten_of_nothing():
    for X in ([], None, [np.zeros((0, 3), np.int32)], [np.zeros((5, 0)), np.zeros((3, 0))]):
        for dtype in (None, "int32"):
            same(OURS.flatten(X, dtype=dtype), STOCK.flatten(X, dtype=dtype))
    same(OURS.flatten([], ndim_if_empty=1), np.zeros(0, np.float32))
    ids, numbers = np.ones((1, 2), np.int32), np.zeros((2, 2), np.float32)
    same(OURS.flatten([ids, numbers]), STOCK.flatten([ids, numbers]))


@given(batches(), st.integers(1, 5))
def test_pad_and_back(batch, round_to):
    X, lengths = batch
    arrays = np.split(X, np.cumsum(lengths)[:-1])
    padded = OURS.pad(arrays, round_to)
    same(padded, STOCK.pad(arrays, round_to))
    same(OURS.unpad(padded, lengths), arrays)
    same(OURS.unpad(padded, lengths[:1]), arrays[:1])


@given(batches())
def test_time_major_and_back(batch):
    X, lengths = batch
    arrays = np.split(X, np.cumsum(lengths)[:-1])
    padded = OURS.list2padded(arrays)
    same(padded, STOCK.list2padded(arrays))
    same(OURS.padded2list(padded), arrays)
    assert not np.shares_memory(padded.data, X)


def test_time_major_orders_ties_as_thinc():
    padded = OURS.list2padded([np.full((n, 1), i, np.float32) for i, n in enumerate([2, 3, 2, 3])])
    same(padded.indices, np.array([3, 1, 2, 0], np.int32))
    same(padded.size_at_t, np.array([4, 4, 2], np.int32))
    same(OURS.list2padded([]), STOCK.list2padded([]))


@given(batches(), st.booleans())
def test_softmax_inside_sequences(batch, flat):
    X, lengths = batch
    Y = STOCK.softmax_sequences(X, lengths)
    close(OURS.softmax_sequences(X, lengths), Y)
    close(OURS.backprop_softmax_sequences(X, Y, lengths), STOCK.backprop_softmax_sequences(X, Y, lengths))


@given(st.integers(0, 30), st.integers(0, 3), st.integers(1, 6), FLOATS, st.integers(0, 9))
def test_maxout_to_the_bit(n, width, pieces, dtype, seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, width, pieces)).astype(dtype)
    X[X == 3] = np.nan
    X[X == 2] = -0.0
    best, which = OURS.maxout(X)
    if X.size:
        same((best, which), STOCK.maxout(X))
    assert (best.shape, which.shape) == ((n, width), (n, width))
    assert (best.dtype, which.dtype) == (X.dtype, np.int32)


X4 = np.arange(8, dtype=np.float32).reshape(4, 2)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda ops: ops.reduce_sum(X4, np.array([3, -1], np.int32)), ValueError, "lengths must be >= 0"),
        (
            lambda ops: ops.reduce_mean(X4, np.array([2, 9], np.int32)),
            IndexError,
            "must sum up to the number",
        ),
        (lambda ops: ops.reduce_max(X4, np.array([2, 0, 2], np.int32)), ValueError, "must be > 0, was: 0"),
        (lambda ops: ops.reduce_first(X4, np.array([4, 0])), ValueError, "all sequence lengths must be > 0"),
        (lambda ops: ops.reduce_first(X4, np.array([2])), IndexError, "must sum up to the number of rows"),
        (lambda ops: ops.reduce_last(X4, np.array([0, 4])), ValueError, "all sequence lengths must be > 0"),
        (lambda ops: ops.reduce_last(X4, np.array([2])), IndexError, "must sum up to the number of rows"),
        (lambda ops: ops.backprop_reduce_sum(X4, np.array([1, -1, 1, 1], np.int32)), ValueError, ">= 0"),
        (
            lambda ops: ops.backprop_reduce_max(X4[:1], np.zeros((1, 2), np.int32), np.array([0], np.int32)),
            ValueError,
            "lengths must be > 0",
        ),
        (
            lambda ops: ops.backprop_reduce_max(
                X4[:1], np.full((1, 2), 5, np.int32), np.array([4], np.int32)
            ),
            IndexError,
            "5",
        ),
        (lambda ops: ops.backprop_reduce_first(X4, np.array([0])), ValueError, "must not have size 1"),
        (lambda ops: ops.pad([X4], 0), ValueError, "Rounding for padding must at least be 1"),
        (lambda ops: ops.pad([]), ValueError, "Cannot pad empty sequence"),
        (lambda ops: ops.pad([X4, X4[0]]), ValueError, "different ndims"),
        (lambda ops: ops.pad([X4, X4.astype("i")]), ValueError, "different dtypes"),
        (lambda ops: ops.pad([X4, X4[:, :1]]), ValueError, "differ on other dimensions"),
        (lambda ops: ops.seq2col(X4[0], 1), ValueError, "sequence array of dimensionality 2, was 1"),
        (lambda ops: ops.backprop_seq2col(X4[0], 1), ValueError, "gradient array of dimensionality 2, was 1"),
        (lambda ops: ops.unpad(X4[None], [4, 4]), IndexError, "out of bounds|there are 2, but"),
    ],
)
def test_errors_keep_their_texts(call, error, text):
    for ops in (STOCK, OURS):
        with pytest.raises(error, match=text):
            call(ops)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: OURS.reduce_sum(X4, np.array([1, 2])), IndexError, "rows: 3, but there are 4"),
        (lambda: OURS.backprop_reduce_sum(X4, np.array([1, 2])), ValueError, "4 rows for 2 sequences"),
        (
            lambda: OURS.backprop_reduce_max(X4[:1], np.full((1, 2), -1), np.array([4])),
            IndexError,
            "which: -1 in row 0",
        ),
        (lambda: OURS.backprop_seq2col(X4, 1), ValueError, "2"),
        (lambda: OURS.seq2col(X4, 1, lengths=np.array([3])), IndexError, "rows: 3, but there are 4"),
        (lambda: OURS.unflatten(X4, [2, 1]), IndexError, "rows: 3, but there are 4"),
        (lambda: OURS.unflatten(X4, [2, 1], pad=1), IndexError, "rows: 6 with pad=1, but there are 4"),
        (lambda: OURS.unpad(X4[None], [5]), ValueError, "sequence 0 has 5 rows, but padded is 4 wide"),
        (lambda: OURS.unflatten(X4, [-1, 5]), ValueError, "lengths must be >= 0.*-1"),
    ],
)
def test_what_thinc_lets_pass_is_an_error(call, error, text):
    with pytest.raises(error, match=text):
        call()


def every_op(ops):
    """One call of each sequence op, by name."""
    lengths, three = np.array([2, 2], np.int32), np.array([2, 1, 1], np.int32)
    rows, which = ops.reduce_max(X4, lengths)
    padded, cols = ops.list2padded([X4, X4[:2]]), ops.seq2col(X4, 1)
    return {
        "backprop_reduce_first": ops.backprop_reduce_first(rows, np.array([0, 2, 4], np.int32)),
        "backprop_reduce_last": ops.backprop_reduce_last(rows, np.array([1, 3])),
        "backprop_reduce_max": ops.backprop_reduce_max(rows, which, lengths),
        "backprop_reduce_mean": ops.backprop_reduce_mean(rows, lengths),
        "backprop_reduce_sum": ops.backprop_reduce_sum(rows, lengths),
        "backprop_seq2col": ops.backprop_seq2col(cols, 1),
        "flatten": ops.flatten([X4, X4], pad=1),
        "list2padded": padded,
        "maxout": ops.maxout(X4.reshape(4, 1, 2)),
        "pad": ops.pad([X4, X4[:2]]),
        "padded2list": ops.padded2list(padded),
        "reduce_first": ops.reduce_first(X4, lengths),
        "reduce_last": ops.reduce_last(X4, lengths),
        "reduce_max": (rows, which),
        "reduce_mean": ops.reduce_mean(X4, lengths),
        "reduce_sum": ops.reduce_sum(X4, lengths),
        "seq2col": cols,
        "unflatten": ops.unflatten(X4, three),
        "unpad": ops.unpad(X4[None], [3]),
    }


def test_stock_is_never_reached(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a sequence op of Thinc's own was reached")

    want = every_op(STOCK)
    assert sorted(want) == SEQUENCE_OPS
    for name in SEQUENCE_OPS:
        for owner in (NumpyOps, Ops):
            if name in vars(owner):
                monkeypatch.setattr(owner, name, refuse)
    same(list(every_op(OURS).values()), list(want.values()))


def test_is_numpy_ops_with_its_signatures():
    assert isinstance(OURS, NumpyOps)
    assert type(OURS.cblas()) is type(STOCK.cblas())
    assert set(filter(lambda name: name[0] != "_", dir(OURS))) == {n for n in dir(STOCK) if n[0] != "_"}
    for name in SEQUENCE_OPS:
        ours, base = (inspect.signature(getattr(of, name)) for of in (type(OURS), Ops))
        assert [(p.name, p.kind, p.default) for p in ours.parameters.values()] == [
            (p.name, p.kind, p.default) for p in base.parameters.values()
        ]


def test_threads_change_no_bit():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 24)).astype("float32")
    lengths = np.full(6000, 10, np.int32)
    before, made = vl.num_threads(), []
    try:
        for threads in (1, 2):
            vl.set_num_threads(threads)
            made.append([OURS.seq2col(X, 1), OURS.reduce_mean(X, lengths), *OURS.maxout(X.reshape(-1, 8, 3))])
    finally:
        vl.set_num_threads(before)
    same(*made)
    found = []
    callers = [threading.Thread(target=lambda: found.append(OURS.reduce_mean(X, lengths))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    same(found, [made[0][1]] * 3)
