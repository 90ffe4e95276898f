"""Arrays and lengths in, arrays out: the verbs of the package as plain functions."""

from varlen.ops.lists import list2ragged, pad, ragged2list
from varlen.ops.minibatch import SizedGenerator, minibatch, multibatch
from varlen.ops.pack import list2padded, padded2list, padded2ragged, ragged2padded
from varlen.ops.reduce import (
    reduce_all,
    reduce_any,
    reduce_count,
    reduce_mean,
    reduce_norm,
    reduce_prod,
    reduce_sum,
)
from varlen.ops.reduce_back import (
    backprop_reduce_first,
    backprop_reduce_last,
    backprop_reduce_max,
    backprop_reduce_mean,
    backprop_reduce_sum,
)
from varlen.ops.reduce_ends import argmax, argmin, reduce_first, reduce_last, reduce_max, reduce_min
from varlen.ops.scan import cummax, cummin, cumprod, cumsum
from varlen.ops.scan_back import backprop_cummax, backprop_cummin, backprop_cumprod, backprop_cumsum
from varlen.ops.shift import backprop_reverse, backprop_roll, backprop_shift, reverse, roll, shift
from varlen.ops.window import (
    average_windows,
    backprop_average_windows,
    backprop_seq2col,
    backprop_windows,
    seq2col,
    windows,
)

__all__ = [
    "SizedGenerator",
    "argmax",
    "argmin",
    "average_windows",
    "backprop_average_windows",
    "backprop_cummax",
    "backprop_cummin",
    "backprop_cumprod",
    "backprop_cumsum",
    "backprop_reduce_first",
    "backprop_reduce_last",
    "backprop_reduce_max",
    "backprop_reduce_mean",
    "backprop_reduce_sum",
    "backprop_reverse",
    "backprop_roll",
    "backprop_seq2col",
    "backprop_shift",
    "backprop_windows",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "list2padded",
    "list2ragged",
    "minibatch",
    "multibatch",
    "pad",
    "padded2list",
    "padded2ragged",
    "ragged2list",
    "ragged2padded",
    "reduce_all",
    "reduce_any",
    "reduce_count",
    "reduce_first",
    "reduce_last",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_norm",
    "reduce_prod",
    "reduce_sum",
    "reverse",
    "roll",
    "seq2col",
    "shift",
    "windows",
]
