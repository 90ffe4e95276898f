"""VarlenCupyOps on arrays of a CUDA device that is memory of the host, beside VarlenOps.

    pytest -p host_cupy tests/python/devices/host_cupy_thinc.py

needs the kernels that run on the host (`_cuda_host`) and Thinc; Thinc's own kernels for CUDA are not there.
"""

import sys

import numpy as np
import pytest

if "host_cupy" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cupy")

import cupy
import thinc
import varlen.thinc
from thinc.api import (
    CupyOps,
    Model,
    NumpyOps,
    chain,
    get_current_ops,
    get_ops,
    list2ragged,
    reduce_mean,
    use_ops,
)
from thinc.layers import expand_window, list2padded, padded2list
from thinc.util import prefer_gpu, require_cpu, require_gpu
from varlen.thinc import VarlenCupyOps, VarlenOps

ON_CPU, THERE = VarlenOps(), VarlenCupyOps()
X = np.arange(12, dtype=np.float32).reshape(6, 2) % 5
D = np.arange(6, dtype=np.float32).reshape(3, 2)
LENGTHS = np.array([3, 2, 1], np.int32)
SOME = np.array([3, 0, 3], np.int32)
IDS = np.array([3, 1, 2**63, 7], np.uint64)

CALLS = {
    "flatten": lambda ops, xp: ops.flatten([xp(X[:2]), xp(X[2:2]), xp(X[2:])], pad=1),
    "flatten as floats": lambda ops, xp: ops.flatten([xp(IDS)], dtype="float32", ndim_if_empty=1),
    "flatten nothing": lambda ops, xp: ops.flatten([]),
    "unflatten": lambda ops, xp: ops.unflatten(xp(X), xp(LENGTHS)),
    "unflatten with room": lambda ops, xp: ops.unflatten(
        ops.flatten([xp(X[:2]), xp(X[2:])], pad=1), xp(np.array([2, 4])), 1
    ),
    "pad": lambda ops, xp: ops.pad([xp(X[:2]), xp(X[2:])], 3),
    "list2padded": lambda ops, xp: ops.list2padded([xp(X[:2]), xp(X[2:4]), xp(X[4:])]),
    "list2padded of nothing": lambda ops, xp: ops.list2padded([]),
    "padded2list": lambda ops, xp: ops.padded2list(ops.list2padded([xp(X[:1]), xp(X[1:4]), xp(X[4:])])),
    "seq2col": lambda ops, xp: ops.seq2col(xp(X), 1, lengths=xp(LENGTHS)),
    "seq2col of one": lambda ops, xp: ops.seq2col(xp(X), 2),
    "backprop_seq2col": lambda ops, xp: ops.backprop_seq2col(xp(np.tile(X, 3)), 1, lengths=xp(LENGTHS)),
    "reduce_sum": lambda ops, xp: ops.reduce_sum(xp(X), xp(SOME)),
    "reduce_mean": lambda ops, xp: ops.reduce_mean(xp(X), xp(SOME)),
    "reduce_mean of float16": lambda ops, xp: ops.reduce_mean(
        xp(X.astype(np.float16)), xp(SOME.astype(np.int64))
    ),
    "reduce_max": lambda ops, xp: ops.reduce_max(xp(X), xp(LENGTHS)),
    "reduce_first": lambda ops, xp: ops.reduce_first(xp(X), xp(LENGTHS)),
    "reduce_first of nothing": lambda ops, xp: ops.reduce_first(xp(X[:0]), xp(LENGTHS[:0])),
    "reduce_last": lambda ops, xp: ops.reduce_last(xp(X), xp(LENGTHS)),
    "backprop_reduce_sum": lambda ops, xp: ops.backprop_reduce_sum(xp(D), xp(SOME)),
    "backprop_reduce_mean": lambda ops, xp: ops.backprop_reduce_mean(xp(D), xp(SOME)),
    "backprop_reduce_max": lambda ops, xp: ops.backprop_reduce_max(
        xp(D), xp(np.array([[1, 2], [0, 1], [0, 0]], np.int32)), xp(LENGTHS)
    ),
    "backprop_reduce_first": lambda ops, xp: ops.backprop_reduce_first(
        xp(D), xp(np.array([0, 3, 5, 6], np.int32))
    ),
    "backprop_reduce_last": lambda ops, xp: ops.backprop_reduce_last(xp(D), xp(np.array([2, 4, 5]))),
    "softmax_sequences": lambda ops, xp: ops.softmax_sequences(xp(X), xp(LENGTHS)),
    "backprop_softmax_sequences": lambda ops, xp: ops.backprop_softmax_sequences(
        xp(X), xp(X / 5), xp(LENGTHS)
    ),
    "gather_add": lambda ops, xp: ops.gather_add(xp(X), xp(np.array([[0, 1], [5, 5]], np.uint32))),
    "hash": lambda ops, xp: ops.hash(xp(IDS), 7),
    "ngrams": lambda ops, xp: ops.ngrams(2, xp(IDS)),
    "ngrams of none": lambda ops, xp: ops.ngrams(0, xp(IDS)),
}


def leaves(result):
    if isinstance(result, thinc.types.Padded):
        result = [result.data, result.size_at_t, result.lengths, result.indices]
    return [x for each in result for x in leaves(each)] if isinstance(result, (list, tuple)) else [result]


@pytest.mark.parametrize("name", CALLS)
def test_ops_give_what_varlen_ops_gives(name):
    wanted, found = leaves(CALLS[name](ON_CPU, np.array)), leaves(CALLS[name](THERE, cupy.asarray))
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        assert isinstance(x, cupy.ndarray)
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_allclose(x.get(), y, rtol=1e-6)


def test_scatter_add_counts_from_the_end_as_cupy_does():
    for indices, values in (
        (np.array([0, -1, 0], np.int32), X[:3]),
        (np.array([[1], [1]]), X[:2, None]),
        (np.array([2]), 3),
    ):
        table = cupy.asarray(np.ones((3, 2), np.float32))
        wanted = np.ones((3, 2), np.float32)
        np.add.at(wanted, indices, values)
        THERE.scatter_add(table, cupy.asarray(indices), cupy.asarray(values))
        assert table.tolist() == wanted.tolist()


def test_errors_are_those_of_thinc():
    x = cupy.asarray(X)
    for call, error, text in (
        (
            lambda: THERE.reduce_sum(x, cupy.asarray(np.array([3, -1], np.int32))),
            ValueError,
            "lengths must be >= 0",
        ),
        (
            lambda: THERE.reduce_max(x, cupy.asarray(np.array([6, 0], np.int32))),
            ValueError,
            "lengths must be > 0",
        ),
        (
            lambda: THERE.reduce_mean(x, cupy.asarray(LENGTHS[:2])),
            IndexError,
            "must sum up to the number of rows",
        ),
        (lambda: THERE.pad([]), ValueError, "Cannot pad empty sequence"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_use_ops_selects_it_by_name():
    with use_ops("varlen-cuda"):
        assert type(get_current_ops()) is VarlenCupyOps
    assert isinstance(THERE, CupyOps)
    assert type(get_ops("cupy")) is CupyOps


def test_install_reaches_what_chooses_a_gpu():
    before = get_current_ops()
    undo = varlen.thinc.install()
    try:
        assert type(get_ops("cupy")) is VarlenCupyOps
        assert require_gpu()
        assert type(get_current_ops()) is VarlenCupyOps
        assert prefer_gpu(1)
        assert cupy.cuda.Device().id == 1
        assert prefer_gpu(0)
        assert type(thinc.backends.get_array_ops(cupy.asarray(X))) is VarlenCupyOps
        model = Model("nothing", lambda model, x, is_train: (x, None), ops=VarlenOps())
        model.to_gpu(0)
        assert type(model.ops) is VarlenCupyOps
        assert require_cpu()
        assert type(get_current_ops()) is VarlenOps
    finally:
        undo()
        thinc.backends.set_current_ops(before)
    assert thinc.backends.CupyOps is CupyOps
    assert type(get_ops("cupy")) is CupyOps
    assert type(NumpyOps()) is NumpyOps


def test_models_run_on_it():
    results = []
    for name, xp in (("varlen", np.array), ("varlen-cuda", cupy.asarray)):
        with use_ops(name):
            pooled = chain(list2ragged(), expand_window(1), reduce_mean())
            there_and_back = chain(list2padded(), padded2list())
        rows = [xp(X[:3]), xp(X[3:3]), xp(X[3:])]
        Y, back = pooled(rows, is_train=True)
        dX = back(Y)
        Z, back = there_and_back(rows[::2], is_train=True)
        results.append([Y, *dX, *Z, *back(Z)])
    for y, x in zip(*results, strict=True):
        assert isinstance(x, cupy.ndarray)
        np.testing.assert_allclose(x.get(), y, rtol=1e-6)
