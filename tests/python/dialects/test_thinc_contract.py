"""What VarlenOps owes Thinc: texts of errors, signatures, our kernels alone, threads that do not matter."""

import inspect
import threading

import numpy as np
import pytest
import varlen as vl

pytest.importorskip("thinc", reason="thinc is not installed")

from thinc.backends import NumpyOps, Ops
from thinc_pair import OURS, STOCK, each, same

SEQUENCE_OPS = [
    "backprop_lstm",
    "backprop_reduce_first",
    "backprop_reduce_last",
    "backprop_reduce_max",
    "backprop_reduce_mean",
    "backprop_reduce_sum",
    "backprop_seq2col",
    "backprop_softmax_sequences",
    "flatten",
    "gather_add",
    "hash",
    "list2padded",
    "lstm_forward_inference",
    "lstm_forward_training",
    "maxout",
    "ngrams",
    "pad",
    "padded2list",
    "reduce_first",
    "reduce_last",
    "reduce_max",
    "reduce_mean",
    "reduce_sum",
    "scatter_add",
    "seq2col",
    "softmax_sequences",
    "unflatten",
    "unpad",
]

X4 = np.arange(8, dtype=np.float32).reshape(4, 2)


@each
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
def test_errors_keep_their_texts(call, error, text, ours):
    for ops in (STOCK, ours):
        with pytest.raises(error, match=text):
            call(ops)


@each
@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda ours: ours.reduce_sum(X4, np.array([1, 2])), IndexError, "rows: 3, but there are 4"),
        (lambda ours: ours.backprop_reduce_sum(X4, np.array([1, 2])), ValueError, "4 rows for 2 sequences"),
        (
            lambda ours: ours.backprop_reduce_max(X4[:1], np.full((1, 2), -1), np.array([4])),
            IndexError,
            "which: -1 in row 0",
        ),
        (lambda ours: ours.backprop_seq2col(X4, 1), ValueError, "2"),
        (lambda ours: ours.seq2col(X4, 1, lengths=np.array([3])), IndexError, "rows: 3, but there are 4"),
        (lambda ours: ours.unflatten(X4, [2, 1]), IndexError, "rows: 3, but there are 4"),
        (lambda ours: ours.unflatten(X4, [2, 1], pad=1), IndexError, "rows: 6 with pad=1, but there are 4"),
        (lambda ours: ours.gather_add(X4, np.array([[0, 4]])), IndexError, "4"),
        (lambda ours: ours.gather_add(X4, np.array([[0, -1]])), IndexError, "-1"),
        (lambda ours: ours.unpad(X4[None], [5]), ValueError, "sequence 0 has 5 rows, but padded is 4 wide"),
        (lambda ours: ours.unflatten(X4, [-1, 5]), ValueError, "lengths must be >= 0.*-1"),
    ],
)
def test_what_thinc_lets_pass_is_an_error(call, error, text, ours):
    with pytest.raises(error, match=text):
        call(ours)


def every_op(ops):
    """One call of each sequence op, by name."""
    lengths, three = np.array([2, 2], np.int32), np.array([2, 1, 1], np.int32)
    rows, which = ops.reduce_max(X4, lengths)
    keys, table = np.arange(3, dtype=np.uint64), np.zeros((4, 2), np.float32)
    params, start, sizes = (
        np.zeros(20, np.float32),
        np.zeros((1, 1, 1), np.float32),
        np.array([2, 2], np.int32),
    )
    y, state = ops.lstm_forward_training(params, start, start, X4, sizes)
    padded, cols = ops.list2padded([X4, X4[:2]]), ops.seq2col(X4, 1)
    return {
        "backprop_lstm": ops.backprop_lstm(y, sizes, params, state)[0] + 0.0,
        "backprop_reduce_first": ops.backprop_reduce_first(rows, np.array([0, 2, 4], np.int32)),
        "backprop_reduce_last": ops.backprop_reduce_last(rows, np.array([1, 3])),
        "backprop_reduce_max": ops.backprop_reduce_max(rows, which, lengths),
        "backprop_reduce_mean": ops.backprop_reduce_mean(rows, lengths),
        "backprop_reduce_sum": ops.backprop_reduce_sum(rows, lengths),
        "backprop_seq2col": ops.backprop_seq2col(cols, 1),
        "backprop_softmax_sequences": ops.backprop_softmax_sequences(X4, np.full_like(X4, 0.5), lengths),
        "flatten": ops.flatten([X4, X4], pad=1),
        "gather_add": ops.gather_add(X4, np.array([[0, 1], [3, 3]], np.int32)),
        "hash": ops.hash(keys, 7),
        "list2padded": padded,
        "lstm_forward_inference": ops.lstm_forward_inference(params, start, start, X4, sizes),
        "lstm_forward_training": y,
        "maxout": ops.maxout(X4.reshape(4, 1, 2)),
        "ngrams": ops.ngrams(2, keys),
        "pad": ops.pad([X4, X4[:2]]),
        "padded2list": ops.padded2list(padded),
        "reduce_first": ops.reduce_first(X4, lengths),
        "reduce_last": ops.reduce_last(X4, lengths),
        "reduce_max": (rows, which),
        "reduce_mean": ops.reduce_mean(X4, lengths),
        "reduce_sum": ops.reduce_sum(X4, lengths),
        "scatter_add": [table, ops.scatter_add(table, three[:2], X4[:2])][:1],
        "seq2col": cols,
        "softmax_sequences": ops.softmax_sequences(np.zeros_like(X4), lengths),
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


@each
def test_threads_change_no_bit(ours):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 24)).astype("float32")
    lengths = np.full(6000, 10, np.int32)
    before, result = vl.num_threads(), []
    try:
        for threads in (1, 2):
            vl.set_num_threads(threads)
            result.append(
                [ours.seq2col(X, 1), ours.reduce_mean(X, lengths), *ours.maxout(X.reshape(-1, 8, 3))]
            )
    finally:
        vl.set_num_threads(before)
    same(*result)
    found = []
    callers = [threading.Thread(target=lambda: found.append(ours.reduce_mean(X, lengths))) for _ in range(3)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    same(found, [result[0][1]] * 3)
