"""Calls of the core that have kernels of devices, by name: a verb, its rows, and the other arguments.

Tests make them on the kernels that run on the host, and on devices where there are any.
"""

from functools import partial

import numpy as np
import varlen as vl
from varlen import _core

LEVEL = vl.Level([3, 0, 2])
OUTER = vl.Level([1, 2])
X = np.arange(10.0).reshape(5, 2)
# The place of each column in a sequence; -1: none.
WHICH = np.array([[1, 2], [-1, -1], [0, 1]])
FIELDS = _core.pack_order(LEVEL)


def _backprop_reduce(op, d, x):
    return _core.backprop_reduce(op, d, x, LEVEL, _core.reduce(op, x, LEVEL, 0))


# What they give of rows of any dtype is the same bits everywhere.
MOVES = {
    "pad": (_core.pad, X, (LEVEL,), "left", 9, True),
    "pad nested": (_core.pad, X, (OUTER, LEVEL), "right", 7),
    "pad and cut": (_core.pad, X, (LEVEL,), "right", None, False, 2, "left"),
    "unpad": (_core.unpad, np.arange(18.0).reshape(3, 3, 2), (LEVEL,), "left"),
    "expand": (_core.expand, X[:3], LEVEL),
    "expand_end": (_core.expand_end, X[:3], LEVEL, True),
    "reverse": (_core.reverse, X, LEVEL),
    "shift": (_core.shift, X, LEVEL, 1, 9),
    "shift by sequence": (_core.shift, X, LEVEL, np.array([1, 0, -1]), [7, 8]),
    "roll": (_core.roll, X, LEVEL, np.array([2, 5, -1])),
    "gather": (_core.gather, X, (LEVEL,), [2, -3, 1, 2]),
    "gather by mask": (_core.gather, X, (LEVEL,), np.array([True, False, True])),
    "gather by slice": (_core.gather, X, (OUTER, LEVEL), slice(1, None)),
    "gather by steps": (_core.gather, X, (LEVEL,), slice(None, None, -1)),
    "gather nested": (_core.gather, X, (OUTER, LEVEL), np.array([1, 0, 1])),
    "gather_dense": (_core.gather_dense, X, (vl.Level([2, 3, 2]),), (LEVEL,), [2, 0, -1], False, "left", 9),
    "gather_row": (_core.gather_row, X, (LEVEL,), -1),
    "gather_row nested": (_core.gather_row, X, (OUTER, LEVEL), 1),
    "gather_column": (_core.gather_column, X, (vl.Level([2, 1, 2]),), -1),
    "gather_window": (_core.gather_window, X, (LEVEL,), slice(-2, None)),
    "gather_window by steps": (_core.gather_window, X, (LEVEL,), slice(None, None, 2)),
    "gather_window of some": (_core.gather_window, X, (OUTER, LEVEL), slice(0, 1), np.array([1, 1])),
    "take_rows": (_core.take_rows, X, np.array([4, 0, 0])),
    "insert_rows": (_core.insert_rows, X, np.array([0, 2, 2, 5])),
    "remove_rows": (_core.remove_rows, X, np.array([0, 2])),
    "spans": (_core.spans, X, LEVEL, vl.Level([2, 0, 1]), np.array([0, 2, 1, 3, 1, 1])),
    "cut": (_core.cut, X, LEVEL, np.array([1, 0, 0]), np.array([2, 0, 1])),
    "seq2col": (_core.seq2col, X, LEVEL, 1, 1),
    "seq2col by steps": (_core.seq2col, X, LEVEL, 0, 2, 2, 2),
    "windows": (_core.windows, X, LEVEL, 2, 1),
    "merge_windows": (_core.merge_windows, X[[0, 1, 1, 2, 3, 4]], None, LEVEL, 2, 1, False, False),
    "mean of windows": (_core.merge_windows, X[[0, 1, 1, 2, 3, 4]], None, LEVEL, 2, 1, False, True),
    "backprop_seq2col": (_core.backprop_seq2col, np.arange(20.0).reshape(5, 4), LEVEL, 1, 0),
    "ragged2padded": (_core.ragged2padded, X, LEVEL, "stable", 9),
    "ragged2packed": (_core.ragged2packed, X, LEVEL, "reversed"),
    "padded2ragged": (_core.padded2ragged, np.arange(18.0).reshape(3, 3, 2), *FIELDS),
    "packed2ragged": (_core.packed2ragged, X, *FIELDS),
}

REALS = np.array([[1, -2], [3, 0.5], [-1, 4], [2, 2], [0.25, -3]])
D = np.array([[1.0, 2], [5, 6], [3, 4]])
OF_FLOATS = ("mean", "prod", "norm", "logsumexp", "var", "std")

# What they give of floats is close to what the CPU gives: each has its own order of additions.
NUMBERS = {
    **{op: (partial(_core.reduce, op), REALS, LEVEL, 1) for op in ("sum", "max", "min", *OF_FLOATS)},
    **{f"gradient of {op}": (partial(_backprop_reduce, op), D, REALS) for op in OF_FLOATS[1:]},
    "max and places": (partial(_core.reduce_extreme, "max"), REALS, LEVEL, 7),
    "reduce_dense": (partial(_core.reduce_dense, "mean"), X[:4].reshape(2, 2, 2), vl.Level([2, 1]), "left"),
    "expand_mean": (_core.expand_mean, D, LEVEL),
    "expand_which": (_core.expand_which, D, LEVEL, WHICH),
    "reduce_blocks": (_core.reduce_blocks, REALS, vl.Level([4, 0, 1]), vl.Level([2, 3, 1])),
    **{f"cum{op}": (partial(_core.scan, op), REALS, LEVEL) for op in ("sum", "prod", "max", "min")},
    "cumsum before": (partial(_core.scan, "sum"), REALS, LEVEL, True),
    "cumsum from the end": (partial(_core.scan, "sum"), REALS, LEVEL, False, True),
    "softmax": (_core.softmax, REALS, LEVEL),
    "log_softmax": (_core.softmax, REALS, LEVEL, True, 0.5),
    "sort": (_core.sort, REALS, LEVEL, False, None, True, True),
    "topk": (_core.sort, REALS, LEVEL, True, 2, True, True),
}
