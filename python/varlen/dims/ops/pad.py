"""Pad a dim at both ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import one_of
from varlen.backends import backend_of
from varlen.dims.axes import places
from varlen.dims.base import is_data
from varlen.dims.ops.amounts import (
    as_amount,
    brought_before,
    check_alike,
    check_lengths,
    dim_of,
    options_of_dims,
    result_dim,
    spread,
)
from varlen.dims.ops.combine import with_dims_of
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import (
    has_inner,
    lay_along,
    lengths_of,
    place_values,
    positions_taken,
    rows_of,
    target_of,
)
from varlen.dims.plan_cache import cached_plan
from varlen.dims.vocabulary import padding_class

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.ops.amounts import Amount
    from varlen.dims.out_shape import OutShape

_MODES = ("constant", "reflect", "replicate")


def pad(
    x: Data[Any],
    axis: Axis | Sequence[Axis],
    left: Amount | Sequence[Amount] = 0,
    right: Amount | Sequence[Amount] = 0,
    *,
    value: Any = None,
    mode: str = "constant",
    out_dim: Dim | Sequence[Dim | None] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Pad the ends of a dim: at the end of each row, not of the longest one.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim or dims to pad.
    left, right
        The number of positions before and behind: an int, a Dim of that length, or a Data of integers, one
        per row. For several dims, one for all or a list with one for each.
    value
        The number at the new positions in mode "constant", and of empty rows in the other modes. By default
        the class "[PAD]" of a vocabulary, else 0. Sequences at new positions are empty.
    mode
        "constant" writes `value`; "replicate" repeats the value at the end; "reflect" mirrors the row without
        repeating its ends.
    out_dim
        The Dim of the result, or a list for several dims; without lengths, it receives them. By default left
        + dim + right.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The padded values, with the longer dim in place of `axis`, and with the dims that `left` and `right`
        have and `x` lacks.

    Raises
    ------
    ValueError
        The mode is unknown, an amount is below 0, there are more or fewer amounts than dims, or the dtype
        cannot hold `value`.
    TypeError
        An amount is not an integer.
    LengthMismatchError
        `out_dim` has other lengths than the result.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `pad`, which can neither pad each row on the left by its own amount, nor reflect rows of
    different lengths.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y = vl.dims.pad(x, time, 1, vl.Dim("end", lengths=[0, 2]), value=9)
    >>> y, y.to_list()
    (Data([batch(2), 1+time+end(3 to 4)], int64), [[9, 3, 1], [9, 4, 9, 9]])
    >>> vl.dims.pad(x, time, right=2, mode="reflect").to_list()
    [[3, 1, 3, 1], [4, 4, 4]]
    """
    one_of(mode, "mode", _MODES)
    axis_dims = [x._shape.dims[k] for k in places(x, axis)]
    value = padding_class(x.vocab) if value is None else value
    options = options_of_dims(len(axis_dims), left=left, right=right, out_dim=out_dim)
    for dim, left_pad, right_pad, out in zip(axis_dims, *options, strict=True):
        is_known = all(type(item) in (int, Dim) for item in (left_pad, right_pad))
        plan = None
        if is_known and (out is None or type(out) is Dim):
            plan = _plan(x._shape, x._order, x._shape.find(dim), left_pad, right_pad, mode, out)
        if plan is None:
            amounts = as_amount(left_pad, "left"), as_amount(right_pad, "right")
            x = _padded(x, dim, amounts, value, mode, _longer(left_pad, dim, right_pad, amounts, out))
        else:
            x = _by_plan(x, plan, value)
    return check_out_shape(x, out_shape)


def _dim(amount: Any, numbers: Data[Any], name: str) -> Any:
    """An amount in the algebra of dims."""
    if is_data(amount):
        return dim_of(numbers, name)
    return amount if type(amount) is Dim else int(amount)


def _longer(left_pad: Any, dim: Dim, right_pad: Any, amounts: tuple[Data[Any], Data[Any]], out: Any) -> Dim:
    """The dim of the result."""
    total = _dim(left_pad, amounts[0], "left") + dim + _dim(right_pad, amounts[1], "right")
    return result_dim(total, out, [amounts[0], lengths_of(dim), amounts[1]])


def _padded(
    x: Data[Any], axis_dim: Dim, amounts: tuple[Data[Any], Data[Any]], value: Any, mode: str, dim: Dim
) -> Data[Any]:
    outer_dims = [item for amount in amounts for item in amount._shape.dims]
    x = with_dims_of(x, outer_dims)
    x, k, _, _ = brought_before(x, x._shape.find(axis_dim), list(dict.fromkeys(outer_dims)))

    def change(lengths: Data[Any]) -> Data[Any]:
        return _padded(lengths, axis_dim, amounts, 0, mode, dim)

    if not has_inner(x._shape, k):
        x, k = lay_along(x, k)
        return _by_plan(x, _plan_of(x._shape, x._order, k, amounts, mode, dim), value)
    front = Shape(x._shape.dims[:k])
    level = x._shape.span(k, k + 1)
    left, right = (spread(item, front) for item in amounts)
    check_lengths("pad", dim, front.dims, left + level.lengths + right)
    return positions_taken(x, k, _positions(level, left, right, mode), [dim], change)


class _Plan(NamedTuple):
    """A plan for rows or an axis that grow, if no dim depends on the padded one."""

    k: int
    dim: Dim
    target: tuple[Shape, tuple[int, ...] | None]
    axis: int | None = None
    counts: tuple[int, int] = (0, 0)  # of an axis
    levels: tuple[Level, ...] = ()  # of rows: before, itself, behind
    positions: NDArray[np.int64] | None = None


@cached_plan
def _plan(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    left_pad: int | Dim,
    right_pad: int | Dim,
    mode: str,
    out: Dim | None,
) -> _Plan | None:
    """The plan; None where values have to be brought in order, or repeated, for it."""
    dim = shape.dims[k]
    amounts = as_amount(left_pad, "left"), as_amount(right_pad, "right")
    longer = _longer(left_pad, dim, right_pad, amounts, out)
    if k + 1 < shape.ragged:
        return None
    for outer_dim in [item for amount in amounts for item in amount._shape.dims]:
        if not 0 <= shape.find(outer_dim) < k:
            return None
        check_alike(outer_dim, shape.dims[shape.find(outer_dim)])
    return _plan_of(shape, order, k, amounts, mode, longer)


def _plan_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    amounts: tuple[Data[Any], Data[Any]],
    mode: str,
    dim: Dim,
) -> _Plan:
    target = target_of(shape, order, k, [dim])
    if mode == "constant" and k >= shape.ragged and not any(amount._shape.rank for amount in amounts):
        counts = int(amounts[0]._values), int(amounts[1]._values)
        check_lengths("pad", dim, [], [sum(counts) + shape.extent(k)])
        return _Plan(k, dim, target, k - shape.ragged + 1 if shape.ragged else k, counts)
    front = Shape(shape.dims[:k])
    level = shape.span(k, k + 1)
    left, right = (spread(item, front) for item in amounts)
    check_lengths("pad", dim, front.dims, left + level.lengths + right)
    if mode != "constant":
        return _Plan(k, dim, target, positions=_positions(level, left, right, mode))
    return _Plan(k, dim, target, levels=(Level.from_lengths(left), level, Level.from_lengths(right)))


def _by_plan(x: Data[Any], plan: _Plan, value: Any) -> Data[Any]:
    if plan.axis is not None:
        rows = _axis_padded(x._values, plan.axis, plan.counts, value)
    else:
        rows = backend_of(x._values).contiguous(rows_of(x, plan.k + 1))
        if plan.positions is not None:
            rows = fill_positions(rows, plan.positions, value)
        else:
            rows = _surround(rows, plan.levels, value)
    return place_values(x, rows, plan.target, x._shape.dims[plan.k], plan.dim)


def _surround(values: Any, levels: tuple[Level, ...], value: Any) -> Any:
    """Rows of a value before and behind those of each sequence."""
    backend = backend_of(values)
    tail = tuple(values.shape[1:])
    parts = []
    for i, level in enumerate(levels):
        if i == 1:
            parts.append((values, level))
        elif level.total:
            parts.append((_constant(values, (level.total, *tail), value), level))
    if len(parts) == 1:
        return values
    rows, _ = backend.interleave([part[0] for part in parts], [part[1] for part in parts], "pad")
    return rows


def _axis_padded(values: Any, axis: int, counts: tuple[int, int], value: Any) -> Any:
    backend = backend_of(values)
    sizes = list(values.shape)
    parts = []
    for count in counts:
        sizes[axis] = count
        parts.append(_constant(values, tuple(sizes), value, is_one=True))
    return backend.concat([parts[0], values, parts[1]], axis, "pad")


def _constant(values: Any, sizes: tuple[int, ...], value: Any, is_one: bool = False) -> Any:
    """A value, or a row of them where it need not be one, in an array of these sizes beside others."""
    backend = backend_of(values)
    is_number = not isinstance(values, np.ndarray) or values.dtype.kind in "biufc"
    if type(value) is int and not value and is_number:
        return backend.zeros(values, sizes)
    if is_one:
        row = backend.row_as(value, values.reshape(-1), "value").reshape((1,) * values.ndim)
        return backend.tile(row, sizes)
    return backend.tile(backend.row_as(value, values, "value"), (sizes[0], *[1] * (len(sizes) - 1)))


def _positions(level: Level, left: Any, right: Any, mode: str) -> NDArray[np.int64]:
    """Which row each position of longer rows is, -1 where it is none."""
    longer = Level.from_lengths(left + level.lengths + right)
    ids = longer.row_ids
    count = level.lengths[ids]
    i = np.arange(longer.total) - longer.offsets[:-1][ids] - left[ids]
    if mode == "replicate":
        i = np.clip(i, 0, count - 1)
    elif mode == "reflect":
        i = i % np.maximum(2 * (count - 1), 1)
        i = np.minimum(i, 2 * (count - 1) - i)
    return np.where((i >= 0) & (i < count), level.offsets[:-1][ids] + i, -1)


def fill_positions(values: Any, positions: NDArray[np.int64], value: Any) -> Any:
    """Rows at some positions, and a value where that is -1."""
    backend = backend_of(values)
    if len(positions) and positions.min() < 0:
        row = backend.row_as(value, values, "value")
        positions = np.where(positions < 0, len(values), positions)
        values = backend.concat([values, row], 0, "values")
    return backend.take_rows(values, positions)
