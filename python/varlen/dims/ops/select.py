"""Select positions by a mask, and put them back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.backends import backend_of
from varlen.dims.axes import describe, places, quote_names
from varlen.dims.base import check_data, dtype_name, is_data, make_data
from varlen.dims.errors import AmbiguousAxisError, LengthMismatchError
from varlen.dims.ops.combine import where
from varlen.dims.ops.pick import (
    bound_to,
    dims_over,
    lengths_over,
    lines,
    pick,
    places_along,
    position_text,
    with_facts,
)
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import reshape, rows_of, spread
from varlen.dims.plan_cache import cached_plan
from varlen.errors import dtype_error, error_of, index_error, naming, value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def masked_select(
    x: Data[Any],
    mask: Data[Any],
    dims: Axis | Sequence[Axis],
    out_dim: Dim | None = None,
    *,
    out_shape: OutShape | None = None,
) -> tuple[Data[Any], Dim]:
    """Take the values where a mask is True, end to end along a new dim that replaces some dims.

    Parameters
    ----------
    x
        Any values.
    mask
        Bools over some dims of `x`.
    dims
        The dims to replace. Positions are in row-major order of this list. Each row of the mask's other dims
        has its own length in the result.
    out_dim
        The Dim of the result; without lengths, it receives them. By default a new Dim.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    values : Data
        The values taken, with the new dim in place of the first of `dims`.
    dim : Dim
        The new dim. Its lengths depend on the other dims of the mask, and on those that lengths of `dims`
        depend on.

    Raises
    ------
    TypeError
        The mask does not hold bools.
    ValueError
        The mask has a dim that `x` lacks, or a remaining dim whose lengths depend on one of `dims`.
    LengthMismatchError
        `out_dim` has other lengths than the result.

    Notes
    -----
    As RETURNN's `masked_select`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([7, 8, 9, 4]), [vl.dims.batch_dim, time])
    >>> y, dim = vl.dims.masked_select(x, x > 7, time)
    >>> y.to_list(), dim.lengths
    ([[8, 9], []], array([2, 0]))
    >>> vl.dims.masked_select(x, x != 8, ["B", "T"])[0].to_list()
    [7, 9, 4]
    """
    axes = places(x, dims, "dims")
    axis_dims = [x._shape.dims[k] for k in axes]
    _check_mask(mask)
    shape, level, order, are_rows = _planned_lines(x._shape, x._order, mask._shape, mask._order, axes)
    flags = _mask_over(mask, shape)
    if order is not None:
        flags = flags[order]
    picks = np.flatnonzero(flags)
    others = list(shape.dims[: shape.rank - len(axis_dims)])
    counts = np.bincount(level.row_ids[picks], minlength=len(level))
    new = bound_to(out_dim, Level.from_lengths(counts), others, "selected")
    if are_rows and out_dim is None:
        values = rows_of(x, shape.rank)
        backend = backend_of(values)
        values = backend.take_rows(backend.contiguous(values), picks)
        target = Shape([*others, new, *x._shape.dims[shape.rank :]])
        result = make_data(reshape(values, target.array_shape), target)
        successor = (axis_dims[0], new) if len(axis_dims) == 1 else None
        return check_out_shape(with_facts(result, x, successor), out_shape), new
    if order is not None:
        picks = order[picks]
    coords = [places_along(dim, shape)[picks] for dim in axis_dims]
    return check_out_shape(pick(x, axes, Shape([*others, new]), coords, [new]), out_shape), new


def masked_scatter(
    x: Data[Any],
    mask: Data[Any],
    dims: Dim | Sequence[Dim],
    *,
    backup: Data[Any] | complex = 0,
    in_dim: Axis | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The inverse of `masked_select`: put values back where the mask is True.

    Parameters
    ----------
    x
        The result of `masked_select`, or other values over its dim.
    mask
        The mask that `masked_select` took.
    dims
        The dims that `masked_select` took, in the same order.
    backup
        The values where the mask is False: a number, or a Data over dims of the result.
    in_dim
        The dim of `x` to replace. By default the only one that the mask lacks; of several, the only one whose
        lengths differ.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values, with `dims` in place of `in_dim`.

    Raises
    ------
    LengthMismatchError
        `in_dim` has more or fewer positions than the mask takes; the message names the row.
    AmbiguousAxisError
        Several dims of `x` could be `in_dim`.
    TypeError
        The mask does not hold bools.

    Notes
    -----
    As RETURNN's `masked_scatter`, where `backup` may be missing and then is zeros.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([7, 8, 9, 4]), [vl.dims.batch_dim, time])
    >>> taken, _ = vl.dims.masked_select(x, x > 7, time)
    >>> vl.dims.masked_scatter(taken * 10, x > 7, time, backup=x).to_list()
    [[7, 80, 90], [4]]
    """
    check_data(x, "x")
    _check_mask(mask)
    axis_dims = [mask._shape.dims[k] for k in places(mask, dims, "dims")]
    k = _in_dim(x, mask, in_dim)
    shape, level, order = _lines(x, mask, axis_dims, k)
    flags = _mask_over(mask, shape)
    line = flags if order is None else flags[order]
    counts = np.concatenate([[0], np.cumsum(line)])
    _check_counts(x, k, shape, len(axis_dims), np.diff(counts[level.offsets]))
    coords = counts[:-1] - counts[level.offsets[level.row_ids]]
    if order is not None:
        coords, line = np.empty_like(coords), coords
        coords[order] = line
    if not is_data(backup):
        with naming(fill="backup"):
            rows = pick(x, [k], shape, [coords], axis_dims, flags, backup)
        return check_out_shape(rows, out_shape)
    result = pick(x, [k], shape, [coords], axis_dims, flags)
    union = where(mask, result, backup)
    foreign = [dim for dim in union.dims if result._shape.find(dim) < 0]
    if foreign:
        raise value_error("backup", f"{quote_names(foreign, 'and')} is not among {describe(result.dims)}")
    union = union._reorder_dims([union._shape.find(dim) for dim in result.dims])
    return check_out_shape(union._with_facts(**result._facts._asdict()), out_shape)


def _check_mask(mask: Any) -> None:
    check_data(mask, "mask")
    if dtype_name(mask.dtype) != "bool":
        raise dtype_error("mask", "bools", mask.dtype)


def _lines(
    x: Data[Any], mask: Data[Any], axis_dims: Sequence[Dim], but: int = -1
) -> tuple[Shape, Level, Any]:
    """As `lines` of the dims that go, for each of the others that the mask has."""
    x_dims = [dim for k, dim in enumerate(x._shape.dims) if k != but]
    foreign = [dim for dim in mask.dims if dim not in (*x_dims, *axis_dims)]
    if foreign:
        names = quote_names(foreign, "and")
        raise value_error("mask", f"{names} of {describe(mask.dims)} is not among {describe(x.dims)}")
    return lines(dims_over(axis_dims, [dim for dim in x_dims if mask._shape.find(dim) >= 0]), axis_dims)


@cached_plan
def _planned_lines(
    shape: Shape,
    order: tuple[int, ...] | None,
    mask: Shape,
    mask_order: tuple[int, ...] | None,
    axes: tuple[int, ...],
) -> tuple[Shape, Level, Any, bool]:
    """As `_lines`, and whether these positions are the rows of the values, of which some stay."""
    axis_dims = [shape.dims[k] for k in axes]
    target, level, places = _lines(
        make_data(None, shape, order), make_data(None, mask, mask_order), axis_dims
    )
    are_rows = places is None and order is None and target is Shape(shape.dims[: target.rank])
    inner = [dim for dim in shape.dims[target.rank :] if any(other in dim.over for other in axis_dims)]
    return target, level, places, are_rows and not inner


def _mask_over(mask: Data[Any], shape: Shape) -> Any:
    """The mask for each position as it lies."""
    return spread(backend_of(mask._values).readable(mask._values), mask._shape, shape)


def _in_dim(x: Data[Any], mask: Data[Any], in_dim: Axis | None) -> int:
    if in_dim is not None:
        axes = places(x, in_dim, "in_dim")
        if not axes:
            raise value_error("in_dim", "expected an axis, got none")
        return axes[0]
    candidates = [k for k, dim in enumerate(x._shape.dims) if mask._shape.find(dim) < 0]
    if len(candidates) > 1:
        candidates = [k for k in candidates if x._shape.dims[k].is_dynamic] or candidates
    if not candidates:
        raise index_error("in_dim", f"the mask has all dims of {describe(x.dims)}")
    if len(candidates) > 1:
        names = quote_names([x._shape.dims[k] for k in candidates])
        raise error_of(AmbiguousAxisError, "in_dim", f"may be {names} of {describe(x.dims)}", "give the Dim")
    return candidates[0]


def _check_counts(x: Data[Any], k: int, shape: Shape, count: int, counts: Any) -> None:
    """Refuse a dim that is not as long as what the mask takes."""
    dim = x._shape.dims[k]
    others = Shape(shape.dims[: shape.rank - count])
    target = others.join(Shape(dim.over)) if dim.over else others
    counts, have = spread(counts, others, target), lengths_over(dim, target)
    if (counts != have).any():
        i = int((counts != have).argmax())
        suffix = f" at {position_text(target, i)}" if target.rank else ""
        raise error_of(
            LengthMismatchError,
            "in_dim",
            f"'{dim.name}' is {have[i]} long{suffix}, the mask takes {counts[i]}",
        )
