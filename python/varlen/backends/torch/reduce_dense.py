"""Reductions of padded tensors, and the gradients of sums and means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen import _core
from varlen._core import Level, is_plain_tensor
from varlen.backends.torch.autograd import AutogradOp, level_of, write_result
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import float_of, number_of
from varlen.backends.torch.pad import pad_rows, unpad
from varlen.backends.torch.reduce import STATISTICS, dtype_of_statistic, reduce
from varlen.backends.torch.sums import dtype_of_sums, expand_rows
from varlen.levels import not_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.backends.torch.autograd import SavedContext

    Array = NDArray[Any]


def _run(
    block: Array, offsets: Any, width: Any, total: Any, op: str, side: str, empty: Any, ddof: float
) -> Array:
    return _core.reduce_dense(op, block, level_of(offsets), side, empty, None, ddof)


def _fake(block: torch.Tensor, offsets: Any, width: Any, total: Any, op: str, *_: Any) -> torch.Tensor:
    dtype = dtype_of_statistic(op, block.dtype) if op in STATISTICS else dtype_of_sums(op, block.dtype)
    return block.new_empty((block.shape[0], *block.shape[2:]), dtype=dtype)


def _gradient(context: SavedContext, d: torch.Tensor) -> torch.Tensor:
    offsets, width, total, op, side, *_ = context.rest
    total = offsets.total if type(total) is int and total < 0 else total
    nest = (offsets,) if type(offsets) is Level else [offsets]
    rows = expand_rows(d, offsets, total, op)
    result: torch.Tensor = pad_rows(rows, nest, (width,), (-1,), side, side, None, None)
    return result


_SCHEMA = (
    "(Tensor block, Tensor offsets, SymInt width, SymInt total, str op, str side, Scalar? empty, float ddof)"
    " -> Tensor"
)


def _like(block: torch.Tensor, offsets: Any, width: Any, total: Any, op: str, *_: Any) -> str:
    return {"max": "amax", "min": "amin"}.get(op, op)


_sums: AutogradOp = AutogradOp(
    "reduce_dense_sum" + _SCHEMA, _run, _fake, _gradient, batch=(-1, -1), like=_like
)
_plain: AutogradOp = AutogradOp("reduce_dense_plain" + _SCHEMA, _run, _fake, batch=(-1, -1), like=_like)


def reduce_dense(
    op: str,
    block: torch.Tensor,
    level: Level,
    padding_side: str = "right",
    empty: Any = None,
    out: Any = None,
    ddof: float = 0,
) -> torch.Tensor:
    """`_core.reduce_dense` of a tensor, watched by autograd."""
    if is_followed(empty) or not (is_plain_tensor(block) or has_own_gradient(op)):
        return reduce(op, unpad(block, (level,), padding_side), level, empty, out, ddof)
    if empty is None:
        not_empty(level)
    return write_result(block_rows(op, block, level, padding_side, empty, ddof), out)


def has_own_gradient(op: str) -> bool:
    """Whether a reduction of a rectangle needs no rows for its gradient, or has none."""
    return op in ("sum", "mean", "any", "all")


def block_rows(op: str, block: torch.Tensor, level: Any, side: str, empty: Any, ddof: float) -> torch.Tensor:
    """A row for each sequence of a rectangle, by a number for those that are empty; None counts as 0."""
    number = number_of(0 if empty is None else empty, "empty")
    number = (
        int(number) if type(number) is bool else number
    )  # a tracer knows no bool where a schema has numbers
    width = block.shape[1] if block.ndim > 1 else 0
    verb = _sums if op in ("sum", "mean") else _plain
    rows = _known_total(level)
    result: torch.Tensor = verb(block, level, width, rows, op, side, number, float_of(ddof, "ddof"))
    return result


def _known_total(level: Any) -> Any:
    """How many rows there are; -1 of lengths on a device of which nobody said it."""
    if type(level) is not Level or level.is_on_host:
        return level.total
    try:
        return level.total
    except ValueError:
        return -1
