"""Verbs that are given an output make nothing on a device beside it, but for scratch that they let go."""

import devices
import numpy as np
import pytest
import varlen as vl
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

LEVEL = vl.Level([3, 0, 2])
X = np.arange(1.0, 11).reshape(5, 2)
D = np.arange(6.0).reshape(3, 2)
BLOCK = np.arange(18.0).reshape(3, 3, 2)
TABLE = np.arange(8.0).reshape(4, 2)
AT = np.array([[0, 1], [3, 3], [2, 0]])
GIVEN = Array(X)
WHICH = Array(np.zeros((5, 2), int))

# A verb, its arguments, and the place of `out` among them.
VERBS = {
    **{
        op: (_core.reduce, (op, GIVEN, LEVEL, 0), 4, D.shape)
        for op in ("sum", "mean", "prod", "max", "min", "norm", "logsumexp", "var", "std")
    },
    "reduce_dense": (_core.reduce_dense, ("mean", Array(BLOCK), LEVEL, "right", 0), 5, D.shape),
    "backprop_reduce": (_core.backprop_reduce, ("var", Array(D), GIVEN, LEVEL, None, 0), 6, X.shape),
    "expand": (_core.expand, (Array(D), LEVEL), 2, X.shape),
    "pad": (_core.pad, (GIVEN, (LEVEL,), "left", 9, False, None, "right"), 7, BLOCK.shape),
    "pad and cut": (_core.pad, (GIVEN, (LEVEL,), "left", 9, False, 2, "left"), 7, (3, 2, 2)),
    "unpad": (_core.unpad, (Array(BLOCK), (LEVEL,), "right"), 3, X.shape),
    "reverse": (_core.reverse, (GIVEN, LEVEL), 2, X.shape),
    "roll": (_core.roll, (GIVEN, LEVEL, 1), 3, X.shape),
    "shift": (_core.shift, (GIVEN, LEVEL, 1, 9), 4, X.shape),
    "softmax": (_core.softmax, (GIVEN, LEVEL, False, 1.0), 4, X.shape),
    "backprop_softmax": (_core.backprop_softmax, (GIVEN, GIVEN, LEVEL, False, 1.0), 5, X.shape),
    "scan": (_core.scan, ("sum", GIVEN, LEVEL, False, False), 5, X.shape),
    "backprop_scan_which": (_core.backprop_scan_which, (GIVEN, WHICH, LEVEL), 3, X.shape),
    "sort": (_core.sort, (GIVEN, LEVEL, False, None, True, False), 6, X.shape),
    "unsort": (_core.unsort, (GIVEN, LEVEL, LEVEL, WHICH), 4, X.shape),
    "interleave": (_core.interleave, ([GIVEN, GIVEN], [LEVEL, LEVEL]), 2, (10, 2)),
    "gather_add": (_core.gather_add, (Array(TABLE), Array(AT)), 2, D.shape),
    "seq2col": (_core.seq2col, (GIVEN, LEVEL, 1, 1, 1, 1), 6, (5, 6)),
}


@pytest.fixture(autouse=True)
def _on_host(monkeypatch):
    _core.forget_kernels()  # those that get the arrays of the host as well
    _core.register(kernels=host.kernels)
    monkeypatch.setattr(devices, "pool", [])
    yield
    _core.forget_kernels()


@pytest.mark.parametrize("name", VERBS)
def test_outputs_are_all_that_a_verb_makes(name):
    verb, arguments, place, shape = VERBS[name]
    call(verb, *arguments)  # what a level has on the device it has from here on
    out = Array(np.full(shape, np.nan))
    devices.pool.clear()
    call(verb, *arguments, *(None,) * (place - len(arguments)), out)
    assert not np.isnan(out.numbers).any()
    # A level that is given back as well lies there when the kernel has run.
    level = [("int64", 1)] if name == "interleave" else []
    made = [(array.dtype.name, array.ndim) for array in devices.pool]
    assert made in (level, [("uint8", 1), *level]), "more than the scratch of one launch"
