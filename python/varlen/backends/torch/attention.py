"""Rows of tensors added up by weights. Of the three verbs each is the gradient of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from varlen import _core
from varlen._core import DeviceArray
from varlen.backends.torch.autograd import AutogradOp, level_of
from varlen.backends.torch.cast import shared_dtype
from varlen.backends.torch.memory import dtype_of, like
from varlen.backends.torch.sums import multiply, repeat_rows, sums
from varlen.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.backends.torch.autograd import SavedContext


def _map_columns(run: Callable[[Any, Any], Any], a: Any, b: Any, axes: int) -> Any:
    """The work on two arrays, the first of so many axes; or on each of the column that vmap adds to both."""
    if a.ndim == axes:
        return run(a, b)
    if type(a) is DeviceArray or type(b) is DeviceArray:
        return NotImplemented
    return np.stack([run(a[:, k], b[:, k]) for k in range(a.shape[1])], 1)


def _run_sum(weights: Any, values: Any, offsets: Any) -> Any:
    level = level_of(offsets)
    return _map_columns(lambda w, v: _core.weighted_sum(w, v, level), weights, values, 2)


def _run_to_values(sums_: Any, weights: Any, offsets: Any, dtype: torch.dtype) -> Any:
    level = level_of(offsets)
    kind = _core.bfloat16 if dtype is torch.bfloat16 else dtype_of(dtype)
    return _map_columns(lambda s, w: _core.weighted_sum_to_values(s, w, level, kind), sums_, weights, 3)


def _run_to_weights(sums_: Any, values: Any, offsets: Any) -> Any:
    level = level_of(offsets)
    return _map_columns(lambda s, v: _core.weighted_sum_to_weights(s, v, level), sums_, values, 3)


def _gradient_of_sum(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    (weights, values), (offsets,) = context.saved, context.rest
    wide = d.to(weights.dtype)
    return _to_weights(wide, values, offsets), _to_values(wide, weights, offsets, values.dtype)


def _gradient_of_to_values(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    (sums_, weights), offsets = context.saved, context.rest[0]
    rows = d.contiguous()
    return _sum(weights, rows, offsets).to(sums_.dtype), _to_weights(sums_, rows, offsets)


def _gradient_of_to_weights(context: SavedContext, d: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    (sums_, values), (offsets,) = context.saved, context.rest
    by_sums = _sum(d.contiguous(), values, offsets).to(sums_.dtype)
    return by_sums, _to_values(sums_, d.contiguous(), offsets, values.dtype)


def _sum_elsewhere(weights: torch.Tensor, values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return sums(weights.unsqueeze(-1) * values.unsqueeze(-2), offsets).to(values.dtype)


def _to_values_elsewhere(
    sums_: torch.Tensor, weights: torch.Tensor, offsets: torch.Tensor, dtype: torch.dtype
) -> torch.Tensor:
    return multiply(repeat_rows(sums_, offsets, weights.shape[0]), weights.unsqueeze(-1)).sum(-2).to(dtype)


def _to_weights_elsewhere(sums_: torch.Tensor, values: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return multiply(repeat_rows(sums_, offsets, values.shape[0]), values.unsqueeze(-2)).sum(-1)


_sum: AutogradOp = AutogradOp(
    "weighted_sum(Tensor weights, Tensor values, Tensor offsets) -> Tensor",
    _run_sum,
    lambda w, v, offsets: v.new_empty((offsets.shape[0] - 1, *w.shape[1:], v.shape[-1])),
    _gradient_of_sum,
    columns=2,
    saves=(0, 1),
    elsewhere=_sum_elsewhere,
)
_to_values: AutogradOp = AutogradOp(
    "weighted_sum_to_values(Tensor sums, Tensor weights, Tensor offsets, ScalarType dtype) -> Tensor",
    _run_to_values,
    lambda s, w, offsets, dtype: s.new_empty((*w.shape[:-1], s.shape[-1]), dtype=dtype),
    _gradient_of_to_values,
    columns=2,
    saves=(0, 1),
    elsewhere=_to_values_elsewhere,
)
_to_weights: AutogradOp = AutogradOp(
    "weighted_sum_to_weights(Tensor sums, Tensor values, Tensor offsets) -> Tensor",
    _run_to_weights,
    lambda s, v, offsets: s.new_empty((*v.shape[:-1], s.shape[-2])),
    _gradient_of_to_weights,
    columns=2,
    saves=(0, 1),
    elsewhere=_to_weights_elsewhere,
)


def weighable(values: Any, scores: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Values and scores in one float dtype; the scores of halves in float32, in which weights are."""
    if not isinstance(values, torch.Tensor):
        values = like(values, scores)
    numbers = scores if isinstance(scores, torch.Tensor) else like(scores, values)
    dtype = shared_dtype(values.dtype, numbers.dtype)
    if dtype.is_complex:
        raise type_error("", f"X, scores: expected real numbers, got {values.dtype} and {numbers.dtype}")
    dtype = dtype if dtype.is_floating_point else torch.float64
    return values.to(dtype), numbers.to(dtype if dtype.itemsize > 2 else torch.float32)


def weighted_sum(weights: torch.Tensor, values: torch.Tensor, level: Any) -> torch.Tensor:
    """`_core.weighted_sum` of tensors, watched by autograd."""
    narrow = values.dtype
    rows = values.float() if narrow.itemsize == 1 else values
    result: torch.Tensor = _sum(weights, rows, level)
    return result.to(narrow)


def weighted_sum_to_values(sums: torch.Tensor, weights: torch.Tensor, level: Any, dtype: Any) -> torch.Tensor:
    """`_core.weighted_sum_to_values` of tensors, watched by autograd."""
    result: torch.Tensor = _to_values(sums, weights, level, dtype)
    return result


def weighted_sum_to_weights(sums: torch.Tensor, values: torch.Tensor, level: Any) -> torch.Tensor:
    """`_core.weighted_sum_to_weights` of tensors, watched by autograd."""
    result: torch.Tensor = _to_weights(sums, values, level)
    return result
