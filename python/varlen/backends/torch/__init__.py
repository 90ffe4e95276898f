"""The verbs on torch tensors, one module a noun. Reached once a tensor has come: it imports torch."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from varlen._core import concat_levels
from varlen.backends.torch.arithmetic import equal, ufunc, where
from varlen.backends.torch.attention import (
    weighable,
    weighted_sum,
    weighted_sum_to_values,
    weighted_sum_to_weights,
)
from varlen.backends.torch.autograd import assign, in_parts
from varlen.backends.torch.concat import concat, from_list, interleave
from varlen.backends.torch.count import bincount, counts_there, diff
from varlen.backends.torch.ctc import backprop_ctc_loss, ctc_loss
from varlen.backends.torch.dense import gather_dense
from varlen.backends.torch.edit import edit_distance
from varlen.backends.torch.einsum import einsum
from varlen.backends.torch.flatten import flatten
from varlen.backends.torch.gather import gather, gather_column, gather_row, gather_window
from varlen.backends.torch.hash import hash, ngrams
from varlen.backends.torch.image import pad_images, patches
from varlen.backends.torch.lists import list2dense, list2ragged, ragged2list
from varlen.backends.torch.lstm import backprop_lstm, lstm
from varlen.backends.torch.mask import block_mask, level_array, mask, mask_to_level
from varlen.backends.torch.memory import (
    apply_rows,
    as_numpy,
    as_rows,
    astype,
    copy,
    device_of,
    fill_where,
    from_memory,
    like,
    pin,
    readable,
    row_as,
    split,
    to_device,
    to_dtype,
    to_state,
    transpose,
)
from varlen.backends.torch.norm import layer_norm
from varlen.backends.torch.pack import (
    list2padded,
    packed2ragged,
    padded2ragged,
    permute_rows,
    ragged2packed,
    ragged2padded,
)
from varlen.backends.torch.pad import pad, unpad
from varlen.backends.torch.product import product, promote_pair
from varlen.backends.torch.reduce import backprop_reduce, reduce
from varlen.backends.torch.reduce_dense import reduce_dense
from varlen.backends.torch.repeat import reduce_blocks, repeat
from varlen.backends.torch.scan import backprop_cumprod, backprop_scan_which, scan, scan_extreme
from varlen.backends.torch.scatter import add_rows, backprop_gather_add, gather_add, scatter_add
from varlen.backends.torch.search import search
from varlen.backends.torch.shift import reverse, roll, shift
from varlen.backends.torch.softmax import backprop_softmax, softmax
from varlen.backends.torch.sort import order_with_nan_first, rank, sort, unique, unsort
from varlen.backends.torch.span import (
    compress,
    erase,
    insert_row,
    insert_rows,
    put_rows,
    remove_rows,
    spans,
    take,
    take_rows,
    true_places,
)
from varlen.backends.torch.sums import (
    broadcast_rows,
    expand,
    expand_end,
    expand_mean,
    expand_which,
    reduce_end,
    reduce_extreme,
)
from varlen.backends.torch.views import (
    as_array,
    cast,
    contiguous,
    is_contiguous,
    take_columns,
    tile,
    views,
    zeros,
)
from varlen.backends.torch.window import backprop_seq2col, merge_windows, seq2col, windows

__all__ = [
    "add_rows",
    "apply_rows",
    "as_array",
    "as_numpy",
    "as_rows",
    "assign",
    "astype",
    "backprop_ctc_loss",
    "backprop_cumprod",
    "backprop_gather_add",
    "backprop_lstm",
    "backprop_reduce",
    "backprop_scan_which",
    "backprop_seq2col",
    "backprop_softmax",
    "bincount",
    "block_mask",
    "broadcast_rows",
    "cast",
    "compress",
    "concat",
    "concat_levels",
    "contiguous",
    "copy",
    "counts_there",
    "ctc_loss",
    "device_of",
    "diff",
    "edit_distance",
    "einsum",
    "equal",
    "erase",
    "expand",
    "expand_end",
    "expand_mean",
    "expand_which",
    "fill_where",
    "flatten",
    "from_list",
    "from_memory",
    "gather",
    "gather_add",
    "gather_column",
    "gather_dense",
    "gather_row",
    "gather_window",
    "hash",
    "in_parts",
    "insert_row",
    "insert_rows",
    "interleave",
    "is_contiguous",
    "layer_norm",
    "level_array",
    "like",
    "list2dense",
    "list2padded",
    "list2ragged",
    "lstm",
    "mask",
    "mask_to_level",
    "merge_windows",
    "ngrams",
    "order_with_nan_first",
    "packed2ragged",
    "pad",
    "pad_images",
    "padded2ragged",
    "patches",
    "permute_rows",
    "pin",
    "product",
    "promote_pair",
    "put_rows",
    "ragged2list",
    "ragged2packed",
    "ragged2padded",
    "rank",
    "readable",
    "reduce",
    "reduce_blocks",
    "reduce_dense",
    "reduce_end",
    "reduce_extreme",
    "remove_rows",
    "repeat",
    "reverse",
    "roll",
    "row_as",
    "scan",
    "scan_extreme",
    "scatter_add",
    "search",
    "seq2col",
    "shift",
    "softmax",
    "sort",
    "spans",
    "split",
    "take",
    "take_columns",
    "take_rows",
    "tile",
    "to_device",
    "to_dtype",
    "to_state",
    "transpose",
    "true_places",
    "ufunc",
    "unique",
    "unpad",
    "unsort",
    "views",
    "weighable",
    "weighted_sum",
    "weighted_sum_to_values",
    "weighted_sum_to_weights",
    "where",
    "windows",
    "zeros",
]
