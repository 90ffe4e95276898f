"""The verbs on torch tensors, one module a noun. Reached once a tensor has come: it imports torch."""

from varlen.backends.torch.autograd import assign
from varlen.backends.torch.memory import (
    apply_rows,
    as_numpy,
    as_rows,
    copy,
    device_of,
    from_memory,
    like,
    pad,
    readable,
    row_as,
    to_state,
    where,
)
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
    "backprop_cumprod",
    "backprop_reduce",
    "backprop_scan_which",
    "backprop_softmax",
    "broadcast_rows",
    "copy",
    "device_of",
    "expand",
    "expand_end",
    "expand_mean",
    "expand_which",
    "from_memory",
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
    "take",
    "to_state",
    "unique",
    "unsort",
    "where",
]
