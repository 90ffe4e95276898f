"""Values brought together along any axes, as reductions and scans of them need it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import axis_of
from varlen.backends.values import is_tensor, take
from varlen.errors import value_error
from varlen.levels import equal_lengths, flatten_levels, scale_level
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.backends.values import Axes, Values
    from varlen.levels import Levels


def axes_of(axis: Axes, ndim: int) -> list[int]:
    """One axis or several, counted from the outermost, in ascending order."""
    items = axis if isinstance(axis, (tuple, list)) else (axis,)
    result = sorted(axis_of(one, ndim) for one in items)
    if not result or len(set(result)) < len(result):
        raise value_error("axis", f"expected one or several, each once, got {axis!r}")
    return result


def rows_along_axes(values: Values, levels: Levels, axes: list[int]) -> tuple[Values, Level, Levels, bool]:
    """What lies along some axes as sequences of rows, in the order of the values."""
    depth = len(levels)
    level_axes = [axis for axis in axes if axis <= depth]
    wide = [axis - depth for axis in axes if axis > depth]
    times = math.prod([values.shape[axis] for axis in wide])
    if wide:
        rest = [axis for axis in range(1, values.ndim) if axis not in wide]
        shape = [values.shape[axis] for axis in rest]
        rows: Any = values
        permute = rows.permute if is_tensor(rows) else rows.transpose
        values = permute(0, *wide, *rest).reshape(levels[-1].total * times, *shape)
    if not level_axes:
        total = levels[-1].total
        return values, equal_lengths(total, times), levels, False
    first = level_axes[0]
    if len(level_axes) > depth:
        return values, equal_lengths(1, levels[-1].total * times), (), True
    if first > 0 and level_axes == list(range(first, depth + 1)):
        return values, _wider(flatten_levels(levels[first - 1 :]), times), levels[: first - 1], False
    order, units, new_levels = _lines(levels, level_axes)
    if times != 1:
        order = (order[:, None] * times + np.arange(times)).reshape(-1)
    return take(values, order), _wider(units, times), new_levels[1:] if first == 0 else new_levels, False


def in_line(values: Values, levels: Levels, axis: int) -> tuple[Values, Level, Callable[[Values], Values]]:
    """What lies along one axis as sequences of rows, and what puts rows of that order back."""
    depth, shape = len(levels), tuple(values.shape)
    if axis == depth:
        return values, levels[-1], lambda rows: rows
    if axis > depth:
        head, width, tail = shape[: axis - depth], shape[axis - depth], shape[axis - depth + 1 :]
        level = equal_lengths(math.prod(head), width)
        return values.reshape(math.prod(head) * width, *tail), level, lambda rows: rows.reshape(shape)
    order, units, _ = _lines(levels, [axis])
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return take(values, order), units, lambda rows: take(rows, places)


def places_along(levels: Levels, axis: int) -> Any:
    """Where each value lies along a ragged axis: of axis 0 the number of its sequence."""
    if axis == len(levels):
        return levels[-1].positions
    parents = flatten_levels(levels[axis:]).row_ids
    return parents if axis == 0 else levels[axis - 1].positions[parents]


def _wider(level: Level, times: int) -> Level:
    return level if times == 1 else scale_level(level, times)


@eager_only("an axis above the innermost")
def _lines(levels: Levels, axes: list[int]) -> tuple[Any, Level, Levels]:
    """The values that come together one after another, in their order; how many do, and what is left."""
    node, count, new_levels = _nodes(levels, axes)
    small = count <= 2**16  # NumPy sorts such numbers by their digits: a third of the time
    order = (node.astype(np.uint16) if small else node).argsort(kind="stable")
    return order, Level.from_lengths(np.bincount(node, minlength=count)), new_levels


def _nodes(levels: Levels, axes: list[int]) -> tuple[Any, int, Levels]:
    """Where each value goes when axes are left out, among how many, and the levels that are left.

    A sequence of what is left is as long as the longest of those that come together in it.
    """
    n = len(levels[0])
    node, count = (np.zeros(n, np.int64), 1) if axes[0] == 0 else (np.arange(n), n)
    new_levels: list[Level] = []
    for axis, level in enumerate(levels, 1):
        if axis in axes:
            node = node[level.row_ids]
            continue
        if axis < axes[0]:
            result = level
        else:
            longest = np.zeros(count, np.int64)
            np.maximum.at(longest, node, level.lengths)
            result = Level.from_lengths(longest)
        node = result.offsets[node][level.row_ids] + level.positions
        count = result.total
        new_levels.append(result)
    return node, count, tuple(new_levels)
