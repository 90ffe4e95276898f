"""Axes of a container put in and merged, over shared values."""

from __future__ import annotations

import math
from typing import Any

from varlen.arguments import SMALLEST, as_int, axis_of
from varlen.errors import value_error
from varlen.levels import equal_lengths, flatten_levels, scale_level
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import count_of

__all__ = ["expand_dims", "merge_dims"]


def expand_dims(X: Any, axis: int) -> Any:
    """A container with one more axis, of size 1."""
    dim, levels, values, ndim = as_int(axis, "axis", SMALLEST), X._levels, X._values, X.ndim
    if not -ndim - 1 <= dim <= ndim:
        raise value_error(
            "axis", f"{dim} is out of range: a new axis can have number 0 to {ndim}", number=dim
        )
    dim %= ndim + 1
    if dim > len(levels):
        shape, dim = tuple(values.shape), dim - len(levels)
        return ragged_like(X, values.reshape(*shape[:dim], 1, *shape[dim:]), levels)
    count, place = count_of(levels[max(dim - 1, 0)]), max(dim - 1, 0)
    new_level = equal_lengths(count, 1) if dim else equal_lengths(1, count)
    return ragged_like(X, values, (*levels[:place], new_level, *levels[place:]))


def merge_dims(X: Any, outer_axis: int, inner_axis: int) -> Any:
    """Axes outer to inner as one: what lay along all of them lies along it, end to end. Shares values."""
    outer, inner = axis_of(outer_axis, X.ndim, "outer_axis"), axis_of(inner_axis, X.ndim, "inner_axis")
    if outer > inner:
        raise value_error("outer_axis", f"{outer} is after inner_axis, {inner}", number=outer)
    values, levels = X._values, X._levels
    depth, shape = len(levels), tuple(values.shape)
    if inner > depth:
        first = max(outer - depth, 0)
        size = math.prod(list(shape[first : inner - depth + 1]))
        values = values.reshape(*shape[:first], size, *shape[inner - depth + 1 :])
        if outer <= depth:
            width = math.prod(list(shape[1 : inner - depth + 1]))
            levels = (*levels[:-1], scale_level(levels[-1], width))
        inner = depth
    if outer == 0:
        levels = levels[inner:]
    elif outer < inner:
        levels = (*levels[: outer - 1], flatten_levels(levels[outer - 1 : inner]), *levels[inner:])
    return ragged_like(X, values, levels) if levels else values
