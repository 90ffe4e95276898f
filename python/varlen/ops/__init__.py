"""Arrays and lengths in, arrays out: the verbs of the package as plain functions."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from typing import TYPE_CHECKING

from varlen._lazy import loaded_from
from varlen.ops.attend import attend
from varlen.ops.attention import attention_pool, backprop_attention_pool
from varlen.ops.bins import bincount
from varlen.ops.broadcast import broadcast_rows
from varlen.ops.combine import concatenate, split, stack
from varlen.ops.cross import cross
from varlen.ops.ctc import backprop_ctc_loss, ctc_loss
from varlen.ops.dense import from_dense, to_dense
from varlen.ops.differences import diff
from varlen.ops.edit import edit_distance
from varlen.ops.einsum import einsum
from varlen.ops.faces.reduce import (
    argmax,
    argmin,
    count,
    reduce_all,
    reduce_any,
    reduce_first,
    reduce_last,
    reduce_logsumexp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_mode,
    reduce_norm,
    reduce_prod,
    reduce_ptp,
    reduce_std,
    reduce_sum,
    reduce_var,
)
from varlen.ops.faces.scan import cummax, cummin, cumprod, cumsum
from varlen.ops.faces.softmax import log_softmax, softmax
from varlen.ops.fill import fill_empty_rows
from varlen.ops.flatten import flatten, list2array, unflatten, unpad
from varlen.ops.gather import boolean_mask, gather
from varlen.ops.gather_dense import gather_dense
from varlen.ops.gradients.reduce import (
    backprop_reduce_first,
    backprop_reduce_last,
    backprop_reduce_max,
    backprop_reduce_mean,
    backprop_reduce_min,
    backprop_reduce_sum,
)
from varlen.ops.gradients.scan import backprop_cummax, backprop_cummin, backprop_cumprod, backprop_cumsum
from varlen.ops.gradients.statistics import (
    backprop_reduce_logsumexp,
    backprop_reduce_norm,
    backprop_reduce_prod,
    backprop_reduce_std,
    backprop_reduce_var,
)
from varlen.ops.hash import hash, ngrams
from varlen.ops.lists import list2ragged, pad, ragged2list
from varlen.ops.lstm import backprop_lstm, lstm_forward_inference, lstm_forward_training
from varlen.ops.mask import block_mask, cu_seqlens, mask, positions, segment_ids
from varlen.ops.matmul import matmul
from varlen.ops.minibatch import SizedGenerator, minibatch, multibatch
from varlen.ops.pack import pack
from varlen.ops.reduce_dense import reduce_dense
from varlen.ops.scatter import backprop_gather_add, gather_add, scatter_add
from varlen.ops.search import searchsorted
from varlen.ops.shift import backprop_reverse, backprop_roll, backprop_shift, reverse, roll, shift
from varlen.ops.softmax import backprop_log_softmax, backprop_softmax
from varlen.ops.sort import argsort, backprop_sort, backprop_topk, rank, sort, topk, unique
from varlen.ops.span import align, backprop_align, backprop_insert_rows, backprop_spans, insert_rows, spans
from varlen.ops.tile import tile
from varlen.ops.time_major import list2padded, padded2list, padded2ragged, ragged2padded
from varlen.ops.where import where
from varlen.ops.window import (
    average_windows,
    backprop_average_windows,
    backprop_seq2col,
    backprop_windows,
    seq2col,
    sliding_window,
    windows,
)

__all__ = [
    "SizedGenerator",
    "align",
    "argmax",
    "argmin",
    "argsort",
    "attend",
    "attention_pool",
    "average_windows",
    "backprop_align",
    "backprop_attention_pool",
    "backprop_average_windows",
    "backprop_ctc_loss",
    "backprop_cummax",
    "backprop_cummin",
    "backprop_cumprod",
    "backprop_cumsum",
    "backprop_gather_add",
    "backprop_insert_rows",
    "backprop_log_softmax",
    "backprop_lstm",
    "backprop_reduce_first",
    "backprop_reduce_last",
    "backprop_reduce_logsumexp",
    "backprop_reduce_max",
    "backprop_reduce_mean",
    "backprop_reduce_min",
    "backprop_reduce_norm",
    "backprop_reduce_prod",
    "backprop_reduce_std",
    "backprop_reduce_sum",
    "backprop_reduce_var",
    "backprop_reverse",
    "backprop_roll",
    "backprop_seq2col",
    "backprop_shift",
    "backprop_softmax",
    "backprop_sort",
    "backprop_spans",
    "backprop_topk",
    "backprop_windows",
    "bincount",
    "block_mask",
    "boolean_mask",
    "broadcast_rows",
    "concatenate",
    "count",
    "cross",
    "ctc_loss",
    "cu_seqlens",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "diff",
    "edit_distance",
    "einsum",
    "fill_empty_rows",
    "flatten",
    "from_dense",
    "gather",
    "gather_add",
    "gather_dense",
    "hash",
    "insert_rows",
    "list2array",
    "list2padded",
    "list2ragged",
    "log_softmax",
    "lstm_forward_inference",
    "lstm_forward_training",
    "mask",
    "matmul",
    "minibatch",
    "multibatch",
    "ngrams",
    "pack",
    "pad",
    "padded2list",
    "padded2ragged",
    "positions",
    "ragged2list",
    "ragged2padded",
    "rank",
    "reduce_all",
    "reduce_any",
    "reduce_dense",
    "reduce_first",
    "reduce_last",
    "reduce_logsumexp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_mode",
    "reduce_norm",
    "reduce_prod",
    "reduce_ptp",
    "reduce_std",
    "reduce_sum",
    "reduce_var",
    "reverse",
    "roll",
    "scatter_add",
    "searchsorted",
    "segment_ids",
    "seq2col",
    "shift",
    "sliding_window",
    "softmax",
    "sort",
    "spans",
    "split",
    "stack",
    "tile",
    "to_dense",
    "topk",
    "unflatten",
    "unique",
    "unpad",
    "where",
    "windows",
]

if not TYPE_CHECKING:  # type checkers know all names
    __getattr__ = loaded_from(__name__, {})
