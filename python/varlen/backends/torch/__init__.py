"""The verbs on torch tensors, one module a noun. Reached once a tensor has come: it imports torch."""

from varlen.backends.torch.autograd import assign
from varlen.backends.torch.concat import concat, from_list, interleave
from varlen.backends.torch.gather import gather, gather_column, gather_row, gather_window
from varlen.backends.torch.memory import (
    apply_rows,
    as_numpy,
    as_rows,
    astype,
    copy,
    device_of,
    from_memory,
    like,
    readable,
    row_as,
    split,
    to_state,
    where,
)
from varlen.backends.torch.pad import pad, unpad
from varlen.backends.torch.reduce import (
    broadcast_rows,
    expand,
    expand_end,
    expand_mean,
    expand_which,
    reduce_end,
    reduce_extreme,
)
from varlen.backends.torch.scan import backprop_cumprod, backprop_scan_which, scan, scan_extreme
from varlen.backends.torch.shift import reverse, roll, shift
from varlen.backends.torch.softmax import backprop_softmax, softmax
from varlen.backends.torch.sort import rank, sort, unique, unsort
from varlen.backends.torch.span import take
from varlen.backends.torch.statistics import backprop_reduce, reduce

__all__ = [
    "apply_rows",
    "as_numpy",
    "as_rows",
    "assign",
    "astype",
    "backprop_cumprod",
    "backprop_reduce",
    "backprop_scan_which",
    "backprop_softmax",
    "broadcast_rows",
    "concat",
    "copy",
    "device_of",
    "expand",
    "expand_end",
    "expand_mean",
    "expand_which",
    "from_list",
    "from_memory",
    "gather",
    "gather_column",
    "gather_row",
    "gather_window",
    "interleave",
    "like",
    "pad",
    "rank",
    "readable",
    "reduce",
    "reduce_end",
    "reduce_extreme",
    "reverse",
    "roll",
    "row_as",
    "scan",
    "scan_extreme",
    "shift",
    "softmax",
    "sort",
    "split",
    "take",
    "to_state",
    "unique",
    "unpad",
    "unsort",
    "where",
]
