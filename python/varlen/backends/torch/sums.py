"""Sums, means, norms and extremes of tensors, first and last rows, their ways back, and gradients of both."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import Level
from varlen.backends.torch.autograd import (
    NAMELESS,
    AutogradOp,
    SavedContext,
    by_bytes,
    has_no_name,
    in_parts,
    level_of,
    offsets_of,
    write_result,
)
from varlen.backends.torch.cast import bits_of, pick
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.mask import level_array
from varlen.backends.torch.memory import as_tensor, at_least_one, like, number_as, number_of, row_as
from varlen.errors import overflow_error
from varlen.levels import not_empty

if TYPE_CHECKING:
    Array = np.ndarray


def dtype_of_sums(op: str, dtype: torch.dtype) -> torch.dtype:
    """Of what a reduction gives."""
    if op in ("any", "all"):
        return torch.bool
    if dtype.is_floating_point or op in ("max", "min"):
        return dtype
    if op in ("mean", "norm"):
        return torch.float64
    unsigned_dtypes = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
    return torch.uint64 if dtype in unsigned_dtypes else torch.int64


def _fake_reduce(x: torch.Tensor, offsets: torch.Tensor, op: str, empty: Any) -> torch.Tensor:
    return x.new_empty((offsets.shape[0] - 1, *x.shape[1:]), dtype=dtype_of_sums(op, x.dtype))


def _fake_expand(d: torch.Tensor, offsets: torch.Tensor, total: int, *_: Any) -> torch.Tensor:
    return d.new_empty((total, *d.shape[1:]))


def _run_sum(x: Array, offsets: Any, op: str, empty: Any) -> Array:
    return _core.reduce(op, x, offsets if type(offsets) is Level else level_of(offsets), empty)


def _run_expand(d: Array, offsets: Any, total: int, op: str) -> Array:
    level = offsets if type(offsets) is Level else level_of(offsets)
    return _core.expand_mean(d, level) if op == "mean" else _core.expand(d, level)


# Sum and mean, and their ways back, which are the gradients of each other.
_sum: AutogradOp = AutogradOp(
    "reduce_sum(Tensor x, Tensor offsets, str op, Scalar? empty) -> Tensor",
    _run_sum,
    _fake_reduce,
    lambda context, d: _expand(d, context.rest[0], context.rows, context.rest[1]),
    like=lambda x, offsets, op, empty: op,
)
_expand: AutogradOp = AutogradOp(
    "expand(Tensor d, Tensor offsets, SymInt total, str op) -> Tensor",
    _run_expand,
    _fake_expand,
    lambda context, d: _sum(d, context.rest[0], context.rest[2], 0),
)

# Those without gradients.
_plain: AutogradOp = AutogradOp(
    "reduce_plain(Tensor x, Tensor offsets, str op, Scalar? empty) -> Tensor", _run_sum, _fake_reduce
)


def _run_extreme(x: Array, offsets: Any, op: str, empty: Any) -> tuple[Array, Array]:
    return _core.reduce_extreme(op, x, offsets if type(offsets) is Level else level_of(offsets), empty)


def _fake_extreme(x: torch.Tensor, offsets: torch.Tensor, op: str, empty: Any) -> Any:
    extremes = _fake_reduce(x, offsets, op, empty)
    return extremes, extremes.new_empty(extremes.shape, dtype=torch.int64)


extreme_rows: AutogradOp = AutogradOp(
    "reduce_extreme(Tensor x, Tensor offsets, str op, Scalar? empty) -> (Tensor, Tensor)",
    _run_extreme,
    _fake_extreme,
    lambda context, d: _expand_which(d, context.saved[0], context.rest[0], context.rows),
    saves=(-2,),
    run_first=_run_sum,
)


def _gradient_of_which(context: SavedContext, d: torch.Tensor) -> Any:
    (which,), (offsets, _) = context.saved, context.rest
    if not len(d):
        return d.new_zeros(which.shape), None
    starts = offsets_of(offsets, d)[:-1].reshape(-1, *(1 for _ in which.shape[1:]))
    marks = which >= 0
    return torch.where(marks, d.gather(0, torch.where(marks, starts + which, 0)), 0), None


_expand_which: AutogradOp = AutogradOp(
    "expand_which(Tensor d, Tensor which, Tensor offsets, SymInt total) -> Tensor",
    lambda d, which, offsets, total: _core.expand_which(d, level_of(offsets), which),
    lambda d, which, offsets, total: d.new_empty((total, *d.shape[1:])),
    _gradient_of_which,
    columns=2,
    saves=(1,),
)


def _run_end(x: Array, offsets: Any, last: bool) -> Array:
    level = offsets if type(offsets) is Level else level_of(offsets)
    if not level.is_on_host or level.shortest == 0:
        not_empty(level)
    rows: Array = _core.gather_column(x, (level,), -1 if last else 0)[0]
    return rows


# The first or last row of each sequence, none of which is empty.
end_rows: AutogradOp = AutogradOp(
    "reduce_end(Tensor x, Tensor offsets, bool last) -> Tensor",
    _run_end,
    lambda x, offsets, last: x.new_empty((offsets.shape[0] - 1, *x.shape[1:])),
    lambda context, d: _expand_end(d, context.rest[0], context.rows, context.rest[1]),
)
_expand_end: AutogradOp = AutogradOp(
    "expand_end(Tensor d, Tensor offsets, SymInt total, bool last) -> Tensor",
    lambda d, offsets, total, last: _core.expand_end(d, level_of(offsets), last),
    _fake_expand,
    lambda context, d: end_rows(d, context.rest[0], context.rest[2]),
)


def multiply(gradient: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """Their product; 0 where a gradient of 0 meets NaN or an infinity, which are none of its sequence."""
    return gradient * torch.where((gradient == 0) & ~x.isfinite(), 0, x)


def divide(gradient: torch.Tensor, result: torch.Tensor) -> torch.Tensor:
    """A gradient over what was made of it: 0 where that is 0, and where a gradient of 0 meets NaN."""
    is_zero = (result == 0) | ((gradient == 0) & ~result.isfinite())
    return torch.where(is_zero, 0, gradient / torch.where(is_zero, 1, result))


def _gradient_of_norm(context: SavedContext, d: torch.Tensor) -> torch.Tensor:
    (x, norm), offsets = context.saved, context.rest[0]
    return multiply(_expand(divide(d, norm), offsets, context.rows, "sum"), x)


_norm: AutogradOp = AutogradOp(
    "reduce_norm(Tensor x, Tensor offsets, str op, Scalar? empty) -> Tensor",
    _run_sum,
    _fake_reduce,
    _gradient_of_norm,
    saves=(0, -1),
)


def sums(x: torch.Tensor, offsets: torch.Tensor, op: str = "sum") -> torch.Tensor:
    """The sum or mean of each sequence, by offsets, inside gradients of other ops."""
    result: torch.Tensor = _sum(x, offsets, op, 0)
    return result


def repeat_rows(d: torch.Tensor, offsets: torch.Tensor, total: int) -> torch.Tensor:
    """Row i for every row of sequence i, by offsets, inside gradients of other ops."""
    result: torch.Tensor = _expand(d, offsets, total, "sum")
    return result


def expand_rows(d: torch.Tensor, offsets: Any, total: Any, op: str) -> torch.Tensor:
    """The gradient of a sum or a mean, by offsets, inside gradients of other ops."""
    result: torch.Tensor = _expand(d, offsets, total, op)
    return result


# By a number for empty sequences, or None where the core is to refuse them.
SUMS: dict[str, Callable[..., Any]] = {
    "sum": _sum,
    "mean": _sum,
    "norm": _norm,
    "max": extreme_rows.first,
    "min": extreme_rows.first,
    "any": _plain,
    "all": _plain,
}


def reduce_extreme(
    op: str, x: torch.Tensor, level: Level, empty: Any = None, narrow: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The largest or smallest rows of a tensor, and the places inside the sequences: int64, or int32."""
    if narrow and level.longest > torch.iinfo(torch.int32).max:
        raise overflow_error("which", f"{level.longest} rows of a sequence do not fit int32")
    if empty is None:
        if not level.is_on_host or level.shortest == 0:
            not_empty(level)
        extremes, which = extreme_rows(x, level, op, 0)
    elif is_followed(empty):
        extremes, which = extreme_rows(x, level, op, 0)
        extremes = with_empty(extremes, like(level.lengths, x), empty)
    else:
        extremes, which = extreme_rows(x, level, op, number_of(empty, "empty"))
    return extremes, which.int() if narrow else which


def with_empty(rows: torch.Tensor, lengths: torch.Tensor, empty: torch.Tensor) -> torch.Tensor:
    """Rows of sequences, with a number that somebody follows for those of no length."""
    number = number_as(empty, rows, "empty")
    return torch.where((lengths == 0).reshape(-1, *(1 for _ in rows.shape[1:])), number, rows)


def reduce_end(x: torch.Tensor, level: Level, last: bool, empty: Any = None) -> torch.Tensor:
    """The first or last row of each sequence, none of which is empty without `empty`."""
    if empty is None:
        return _ends(x, level, last)
    fill = empty if isinstance(empty, torch.Tensor) else row_as(empty, x, "empty")[0]
    if not level.is_on_host:
        return _picked_ends(x, level, last, fill)
    full = np.flatnonzero(level.lengths)
    if len(full) == len(level):
        return _ends(x, level, last)
    ends = _ends(x, Level.from_bounds(level.offsets[1:][full]), last)
    fill_rows = fill.expand(len(level), *x.shape[1:])
    places = like(full, x)
    if has_no_name(x) or not (x.is_floating_point() or x.is_complex()):
        # No gradient is lost, and torch has not all integers and floats of a byte in index_copy.
        bits = bits_of(x.dtype)
        return fill_rows.contiguous().view(bits).index_copy(0, places, ends.view(bits)).view(x.dtype)
    return fill_rows.index_copy(0, places, ends)


def _picked_ends(x: torch.Tensor, level: Level, last: bool, fill: torch.Tensor) -> torch.Tensor:
    """The same of lengths on a device, of which nobody knows whether they are 0."""
    source = at_least_one(x)
    lengths = level_array(level, "lengths", x)
    ends = lengths.cumsum(0)
    rows = pick(source, (ends - 1 if last else ends - lengths).clamp(0, len(source) - 1))
    return torch.where((lengths == 0).reshape(-1, *(1 for _ in x.shape[1:])), fill, rows)


def _ends(x: torch.Tensor, level: Level, last: bool) -> torch.Tensor:
    if x.dtype in NAMELESS and has_no_name(x):
        return by_bytes(x, lambda rows: _ends(rows, level, last))
    result: torch.Tensor = end_rows(x, level, last)
    return result


def expand(d: torch.Tensor, level: Level, out: Any = None) -> torch.Tensor:
    """The gradient of a sum."""
    return _expand_gradient(d, level, "sum", out)


def expand_mean(d: torch.Tensor, level: Level, out: Any = None) -> torch.Tensor:
    """The gradient of a mean."""
    return _expand_gradient(d, level, "mean", out)


def _expand_gradient(d: torch.Tensor, level: Level, op: str, out: Any) -> torch.Tensor:
    if d.is_complex():
        return write_result(in_parts(d, lambda part: _expand_gradient(part, level, op, None)), out)
    result: torch.Tensor = _expand(d, level, level.total, op)
    return result if out is None else write_result(result, out)


def expand_which(d: torch.Tensor, level: Level, which: Any, out: Any = None) -> torch.Tensor:
    """The gradient of a maximum."""
    places = as_tensor(which, "which")
    result = _expand_which(d, places, level, level.total)
    return write_result(result, out)


def expand_end(d: torch.Tensor, level: Level, last: bool, out: Any = None) -> torch.Tensor:
    """The gradient of first or last rows."""
    return write_result(_expand_end(d, level, level.total, last), out)


def broadcast_rows(rows: torch.Tensor, level: Level) -> torch.Tensor:
    """Row i for every row of sequence i."""
    if rows.dtype in NAMELESS and has_no_name(rows):
        return by_bytes(rows, lambda part: expand(part, level))
    return _expand_gradient(rows, level, "sum", None)
