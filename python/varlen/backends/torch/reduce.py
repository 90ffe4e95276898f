"""Reductions of tensors; variances, products and logarithms of sums of exponentials, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from varlen import _core
from varlen._core import Level
from varlen.backends.torch.autograd import AutogradOp, SavedContext, level_of, offsets_of, write_result
from varlen.backends.torch.followers import is_followed
from varlen.backends.torch.memory import float_of, like, number_of
from varlen.backends.torch.scan import others_of
from varlen.backends.torch.softmax import shares
from varlen.backends.torch.sums import SUMS, divide, multiply, repeat_rows, sums, with_empty
from varlen.errors import error_of, type_error
from varlen.levels import not_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]


STATISTICS = ("prod", "var", "std", "logsumexp")


def dtype_of_statistic(op: str, dtype: torch.dtype) -> torch.dtype:
    """Of what it gives."""
    if dtype.is_floating_point:
        return dtype
    unsigned_dtypes = (torch.uint8, torch.uint16, torch.uint32, torch.uint64)
    return torch.float64 if op != "prod" else torch.uint64 if dtype in unsigned_dtypes else torch.int64


def _run(x: Array, offsets: Any, op: str, empty: Any, ddof: float) -> Array:
    return _core.reduce(op, x, offsets if type(offsets) is Level else level_of(offsets), empty, None, ddof)


def _gradient(context: SavedContext, d: torch.Tensor) -> torch.Tensor:
    (x, result), (offsets, op, _, ddof) = context.saved, context.rest
    return _gradient_of_rows(op, d, x, result, offsets, ddof)


def _gradient_of_rows(
    op: str, d: torch.Tensor, x: torch.Tensor, result: torch.Tensor, offsets: Any, ddof: float
) -> torch.Tensor:
    """The gradient of the rows, in terms of what has gradients."""
    total = x.shape[0]
    if op == "prod":
        product: torch.Tensor = _back_prod(d, x, offsets)
        return product
    if op == "logsumexp":
        return multiply(repeat_rows(d, offsets, total), shares(x, offsets))
    if op == "norm":
        return multiply(repeat_rows(divide(d, result), offsets, total), x)
    lengths = offsets_of(offsets, x).diff().reshape(-1, *(1 for _ in x.shape[1:])).to(x.dtype)
    free = torch.where(lengths > ddof, lengths - ddof, torch.nan)
    # Of no rows, or of a gradient that is 0, its own gradient would be NaN.
    free = torch.where((lengths == 0) | ((d == 0) & (lengths <= ddof)), 1, free)
    weight = 2 * d / free if op == "var" else divide(d, result) / free
    means = sums(x, offsets, "mean")
    return multiply(repeat_rows(weight, offsets, total), x - repeat_rows(means, offsets, total))


statistic_rows: AutogradOp = AutogradOp(
    "reduce_statistic(Tensor x, Tensor offsets, str op, Scalar? empty, float ddof) -> Tensor",
    _run,
    lambda x, offsets, op, *_: x.new_empty(
        (offsets.shape[0] - 1, *x.shape[1:]), dtype=dtype_of_statistic(op, x.dtype)
    ),
    _gradient,
    saves=(0, -1),
    like=lambda x, offsets, op, *_: op,
)


def _gradient_of_back_prod(context: SavedContext, h: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    (d, x), (offsets,) = context.saved, context.rest
    others, pullback = others_of(x, offsets)
    return sums(multiply(h, others), offsets), pullback(h * repeat_rows(d, offsets, x.shape[0]))


_back_prod: AutogradOp = AutogradOp(
    "backprop_reduce_prod(Tensor d, Tensor x, Tensor offsets) -> Tensor",
    lambda d, x, offsets: _core.backprop_reduce("prod", d, x, level_of(offsets)),
    lambda d, x, offsets: torch.empty_like(x),
    _gradient_of_back_prod,
    columns=2,
    saves=(0, 1),
)


def reduce(
    op: str, x: torch.Tensor, level: Level, empty: Any = None, out: Any = None, ddof: float = 0
) -> torch.Tensor:
    """One row for each sequence of a tensor, watched by autograd."""
    if empty is None:
        if not level.is_on_host or level.shortest == 0:
            not_empty(level)
        empty = 0
    elif isinstance(empty, torch.Tensor) and is_followed(empty):
        rows = reduce(op, x, level, 0, None, ddof)
        return write_result(with_empty(rows, like(level.lengths, x), empty), out)
    number = empty if type(empty) in (int, float) else number_of(empty, "empty")
    if type(number) is bool:  # a tracer knows none where a schema has numbers
        number = int(number)
    result: torch.Tensor
    if op in SUMS:
        result = SUMS[op](x, level, op, number)
    else:
        free = float(ddof) if type(ddof) in (int, float) else float_of(ddof, "ddof")
        result = statistic_rows(x, level, op, number, free)
    return result if out is None else write_result(result, out)


def backprop_reduce(
    op: str, d: Any, x: torch.Tensor, level: Level, ddof: float, out: Any = None, argument: str = "d"
) -> torch.Tensor:
    """`_core.backprop_reduce` of tensors, watched by autograd."""
    rows = d if isinstance(d, torch.Tensor) else torch.from_numpy(d)
    if not x.is_floating_point():
        raise error_of(TypeError, "X", f"expected floats, got {x.dtype}")
    if rows.dtype != x.dtype:
        raise type_error(argument, f"expected {x.dtype} as X, got {rows.dtype}")
    result = x if op in ("prod", "logsumexp", "var") else _result(op, x, level, ddof)
    return write_result(_gradient_of_rows(op, rows, x, result, level, ddof), out)


def _result(op: str, x: torch.Tensor, level: Level, ddof: float) -> torch.Tensor:
    return reduce(op, x, level, 0, None, ddof)
