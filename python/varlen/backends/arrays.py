"""The verbs on NumPy arrays: those of the core, and the few that NumPy has itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen._core import (
    Level,
    backprop_cumprod,
    backprop_scan_which,
    backprop_seq2col,
    backprop_softmax,
    concat_levels,
    erase,
    expand,
    expand_end,
    expand_mean,
    gather,
    gather_column,
    gather_row,
    gather_window,
    hash,
    list2dense,
    list2padded,
    mask_to_level,
    merge_windows,
    ngrams,
    pad,
    padded2ragged,
    ragged2list,
    ragged2padded,
    reduce_blocks,
    remove_rows,
    reverse,
    seq2col,
    spans,
    take_rows,
    unpad,
    unsort,
    views,
    weighted_sum,
    weighted_sum_to_values,
    weighted_sum_to_weights,
    windows,
)
from varlen.arguments import as_dtype, as_ints, is_zero
from varlen.backends.numpy.arithmetic import equal, ufunc, where
from varlen.backends.numpy.attention import weighable
from varlen.backends.numpy.concat import concat, from_list, interleave
from varlen.backends.numpy.count import bincount, counts_there, diff
from varlen.backends.numpy.ctc import backprop_ctc_loss, ctc_loss
from varlen.backends.numpy.dense import gather_dense
from varlen.backends.numpy.edit import edit_distance
from varlen.backends.numpy.einsum import einsum
from varlen.backends.numpy.image import pad_images, patches
from varlen.backends.numpy.lists import list2ragged
from varlen.backends.numpy.lstm import backprop_lstm, lstm
from varlen.backends.numpy.mask import block_mask, level_array, mask
from varlen.backends.numpy.norm import layer_norm
from varlen.backends.numpy.order import (
    rank,
    reduce,
    reduce_dense,
    reduce_extreme,
    scan,
    scan_extreme,
    softmax,
    sort,
    unique,
)
from varlen.backends.numpy.pack import packed2ragged, permute_rows, ragged2packed
from varlen.backends.numpy.product import product, promote_pair
from varlen.backends.numpy.rows import (
    add_rows,
    as_rows,
    fill_where,
    in_parts,
    order_with_nan_first,
    put_rows,
    repeat,
    to_dtype,
    transpose,
)
from varlen.backends.numpy.scatter import backprop_gather_add, gather_add, scatter_add
from varlen.backends.numpy.search import search
from varlen.backends.numpy.span import insert_row, insert_rows
from varlen.backends.numpy.views import as_array, cast, contiguous, is_contiguous, take_columns, tile, zeros
from varlen.errors import name_argument, type_error, value_error
from varlen.levels import not_empty

T = TypeVar("T")

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


def reduce_end(values: Any, level: Level, last: bool, empty: Any = None, verbs: Any = _core) -> Any:
    """The first or last row of each sequence; `empty`, a number or a row, where there is none."""
    if empty is None:
        not_empty(level)
        return verbs.gather_column(values, (level,), -1 if last else 0)[0]
    cut = "left" if last else "right"
    try:
        return verbs.pad(values, (level,), fill=empty, max_len=1, truncate=cut, sizes=1)[:, 0]
    except ValueError as error:
        raise name_argument(error, fill="empty") from None


def expand_which(rows: Any, level: Level, which: Any, out: Any = None) -> Any:
    """The gradient of extremes: row i at one row of sequence i, zeros at the others."""
    return _core.expand_which(rows, level, as_rows(which, "which"), out)


def backprop_reduce(
    op: str, rows: Any, values: Any, level: Level, ddof: float, out: Any = None, argument: str = "d"
) -> Any:
    """The gradient of a reduction that depends on its values: prod, norm, var, std, logsumexp."""
    result = reduce(op, values, level, 0, None, ddof) if op in ("std", "norm") else None
    return _core.backprop_reduce(op, rows, values, level, result, ddof, out)


def shift(values: Any, level: Level, by: Any, fill: Any = 0, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on; `fill` where no row arrives."""
    return _core.shift(values, level, as_ints(by), None if is_zero(fill) else fill, out)


def roll(values: Any, level: Level, by: Any, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on, cyclically."""
    return _core.roll(values, level, as_ints(by), out)


def as_numpy(values: np.ndarray) -> np.ndarray:
    """The memory of values as NumPy sees it: the array itself."""
    return values


def apply_rows(
    values: np.ndarray, call: Callable[[np.ndarray], tuple[np.ndarray, T]]
) -> tuple[np.ndarray, T]:
    """The result of `call` on rows that it only moves; the rows come first in it."""
    return call(values)


def copy(values: np.ndarray) -> np.ndarray:
    """Values in memory of their own."""
    own: np.ndarray = values.copy()
    return own


def device_of(values: np.ndarray) -> str:
    """Where values are."""
    return "cpu"


def to_device(values: np.ndarray, device: Any, non_blocking: bool = False) -> np.ndarray:
    """Values where they are, which is the CPU."""
    if str(device) != "cpu":
        raise type_error(
            "device",
            f"an array of NumPy lies on the CPU, not on {device}",
            "give torch.from_numpy(values), or cupy.asarray(values)",
        )
    return values


def pin(values: np.ndarray) -> np.ndarray:
    """Refused: NumPy does not pin memory."""
    raise type_error(
        "pin_memory", "an array of NumPy is not pinned", "give a tensor, torch.from_numpy(values)"
    )


def row_as(given: Any, values: np.ndarray, argument: str) -> Any:
    """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of the values."""
    return _core.fill_row(given, values.dtype, values.shape[1:], argument)


def to_state(values: np.ndarray) -> np.ndarray:
    """What a pickle holds of values."""
    return values


def take(values: Any, rows: Any) -> Any:
    """Some rows, in any order."""
    return values.take(rows, axis=0)  # a third of the time of values[rows] where rows are wide


def true_places(there: Any) -> Any:
    """The places of the bools that are True."""
    return np.flatnonzero(there)


def like(array: Any, values: Any) -> Any:
    """An array as values of the kind of others: itself."""
    return array


def from_memory(array: Any, values: Any) -> Any:
    """What the core made of the memory of `values`, as values of their kind and dtype: itself."""
    return array


def broadcast_rows(rows: Any, level: Level) -> Any:
    """Row i for every row of sequence i."""
    return rows[level.row_ids] if rows.dtype.hasobject else _core.expand(as_rows(rows), level)


def assign(out: Any, result: Any, kind: Any = np.ndarray, expected: str = "an array") -> Any:
    """`out`, an array of a kind, with the numbers of a result, of whose dtype and shape it has to be."""
    if not isinstance(out, kind):
        raise type_error("out", f"expected {expected}, got {type(out).__name__}")
    if (out.dtype, out.shape) != (result.dtype, result.shape):
        raise value_error("out", f"needs {result.dtype}{result.shape}, got {out.dtype}{out.shape}")
    if not getattr(out.flags, "writeable", True):  # CuPy's have no such flag
        raise value_error("out", "is read-only")
    out[...] = result
    return out


def flatten(X: Any, dtype: Any = None, pad: int = 0) -> np.ndarray:
    """Arrays end to end on their first axis, with rows of zeros between them where a pad is given."""
    return _core.flatten(X, dtype, pad)


def astype(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Values of another dtype, always copied."""
    return values.astype(as_dtype(dtype, "dtype"))


def split(values: np.ndarray, level: Level) -> list[np.ndarray]:
    """The rows of each sequence, sharing memory."""
    return _core.ragged2list(values, level)


def readable(values: np.ndarray) -> np.ndarray:
    """Values as numbers that NumPy can print: themselves."""
    return values
