"""Arrays and lengths in, arrays out: the verbs of the package as plain functions."""

from varlen.ops.lists import list2ragged, pad, ragged2list
from varlen.ops.minibatch import SizedGenerator, minibatch, multibatch
from varlen.ops.pack import list2padded, padded2list, padded2ragged, ragged2padded
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
    "average_windows",
    "backprop_average_windows",
    "backprop_seq2col",
    "backprop_windows",
    "list2padded",
    "list2ragged",
    "minibatch",
    "multibatch",
    "pad",
    "padded2list",
    "padded2ragged",
    "ragged2list",
    "ragged2padded",
    "seq2col",
    "windows",
]
