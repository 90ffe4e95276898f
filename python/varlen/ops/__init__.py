"""Arrays and lengths in, arrays out: the verbs of the package as plain functions."""

from varlen.ops.lists import list2ragged, pad, ragged2list
from varlen.ops.lstm import backprop_lstm, lstm_forward_inference, lstm_forward_training
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
    "backprop_lstm",
    "backprop_reduce_first",
    "backprop_reduce_last",
    "backprop_reduce_max",
    "backprop_reduce_mean",
    "backprop_reduce_sum",
    "backprop_seq2col",
    "backprop_windows",
    "list2padded",
    "list2ragged",
    "lstm_forward_inference",
    "lstm_forward_training",
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
    "seq2col",
    "windows",
]
