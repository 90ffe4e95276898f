"""Slice a dim, row by row."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import SMALLEST, as_int
from varlen.backends import backend_of
from varlen.dims.axes import place
from varlen.dims.base import is_data, make_data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.ops.amounts import (
    as_amount,
    brought_before,
    check_lengths,
    dim_of,
    expand_amounts,
    result_dim,
    spread,
)
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import (
    has_inner,
    lengths_of,
    place_values,
    positions_taken,
    rows_of,
    target_of,
    with_dims,
)
from varlen.dims.plan_cache import cached_plan
from varlen.errors import error_of, value_error
from varlen.levels import equal_lengths

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.ops.amounts import Amount
    from varlen.dims.out_shape import OutShape


def slice(
    x: Data[Any],
    axis: Axis,
    start: Amount | None = None,
    end: Amount | None = None,
    step: int = 1,
    *,
    size: Amount | None = None,
    out_dim: Dim | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Slice a dim, row by row, as Python slices a list: positions beyond the end are left out.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim to slice.
    start, end
        Ints, or a Dim or a Data of integers with a number for each row; below 0 they count from the end of
        the row. The result also has those of their dims that `x` lacks.
    step
        The distance to the next position, not 0. A negative step goes backwards.
    size
        The number of positions from `start` on; replaces `end`. A Dim becomes the dim of the result, and must
        fit in each row. A number may reach beyond the row.
    out_dim
        The Dim of the result; without lengths, it receives them. By default as under Returns.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The slice, with its dim in place of `axis`. From `a` to `b` before the end, the dim is
        `dim.sub_left(a).sub_right(b)`, and with a step `ceildiv_right(step)` of that; for a dim of fixed size
        this holds for all ints. A slice up to another Dim that fits in each row has that Dim. Any other slice
        has a new one. Slicing an array axis by ints and a step above 0 gives a view.

    Raises
    ------
    LengthMismatchError
        `size` is a Dim that exceeds a row; the message names the row.
    ValueError
        The step is 0, or both `end` and `size` are given.
    TypeError
        An argument is not an integer.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `slice` and `slice_nd`; there `[:2]` has two positions even in a row of one.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, time])
    >>> vl.dims.slice(x, time, 1), vl.dims.slice(x, time, 1).to_list()
    (Data([batch(2), -1+time(0 to 2)], int64), [[1, 4], []])
    >>> vl.dims.slice(x, time, end=2).to_list(), vl.dims.slice(x, time, -1).to_list()
    ([[3, 1], [5]], [[4], [5]])
    >>> start = vl.Data(np.array([1, 0]), [vl.dims.batch_dim])
    >>> vl.dims.slice(x, time, start, size=2).to_list()
    [[1, 4], [5]]
    """
    k = place(x, axis)
    dim = x._shape.dims[k]
    if type(step) is not int or not as_int(step, "step", SMALLEST):
        raise value_error("step", f"expected an int that is not 0, got {step!r}")
    if end is not None and size is not None:
        raise value_error("size", "pass either an end or a size, got both")
    if step != 1 and size is not None:
        raise value_error("step", f"cannot be combined with a size, got {step}")
    types = _KNOWN if out_dim is None or type(out_dim) is Dim else ()
    find = _cached_plan if all(type(item) in types for item in (start, end, size)) else _plan_of
    plan = find(x._shape, x._order, k, start, end, step, size, out_dim)
    if plan.target is None:
        return check_out_shape(cut(x, k, plan.begins, plan.counts, step, plan.dim), out_shape)
    if plan.part is not None:
        values = x._values[plan.part]
    else:  # the kernel works out by itself what is the same for all rows
        backend = backend_of(x._values)
        rows = backend.contiguous(rows_of(x, x._shape.ragged))
        values, _ = backend.gather_window(rows, plan.levels, builtins.slice(start, end, step))
    return check_out_shape(place_values(x, values, plan.target, dim, plan.dim), out_shape)


_KNOWN = (type(None), int, Dim)


class _Plan(NamedTuple):
    """Which part of a dim is taken: from where and how many positions, for each row."""

    dim: Dim
    begins: Data[Any]
    counts: Data[Any]
    target: tuple[Shape, tuple[int, ...] | None] | None = None  # None: the values are looked at first
    part: tuple[builtins.slice, ...] | None = None  # of an axis
    levels: tuple[Level, ...] = ()


def _plan_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    start: Any,
    end: Any,
    step: int,
    size: Any,
    out_dim: Any,
) -> _Plan:
    dim = shape.dims[k]
    frame, numbers = expand_amounts(
        [
            lengths_of(dim),
            *[as_amount(item, word, minimum) for item, word, minimum in _known_amounts(start, end, size)],
        ]
    )
    lengths, rest = numbers[0], iter(numbers[1:])
    first = None if start is None else next(rest)
    last = None if end is None and size is None else next(rest)
    out = _in_algebra(dim, start, end, step) if size is None else None
    if type(size) is Dim:
        _check_fit(dim, size, lengths, first, last)
        out = size
    begin, count = _positions(lengths, first, last, step, size is not None)
    begins, counts = (make_data(item.reshape(frame.array_shape), frame) for item in (begin, count))
    if type(end) is Dim and out is not None and (spread(lengths_of(out), frame) != count).any():
        out = None  # the other dim reaches out of a row
    if out is None:
        out = dim_of(counts, dim.name + _text(start, end, step, size))
    out = result_dim(out, out_dim, [counts])
    if k >= shape.ragged and step > 0 and not frame.rank:
        return _Plan(
            out, begins, counts, *_axis_part(shape, order, k, int(begin[0]), int(count[0]), step, out)
        )
    is_alike = size is None and not any(type(item) is Dim or is_data(item) for item in (start, end))
    if not is_alike or k >= shape.ragged or has_inner(shape, k):
        return _Plan(out, begins, counts)
    check_lengths("slice", out, shape.dims[:k], spread(counts, Shape(shape.dims[:k])))
    inner = (shape.span(k + 1, shape.ragged),) if k + 1 < shape.ragged else ()
    target = target_of(shape, order, k, [out])
    return _Plan(out, begins, counts, target, None, (shape.span(k, k + 1), *inner))


_cached_plan = cached_plan(_plan_of)


def _axis_part(
    shape: Shape, order: tuple[int, ...] | None, k: int, begin: int, count: int, step: int, dim: Dim
) -> tuple[tuple[Shape, tuple[int, ...] | None], tuple[builtins.slice, ...]]:
    """Over which dims part of an axis is, and what takes it."""
    check_lengths("slice", dim, shape.dims[:k], [count])
    axis = k - shape.ragged + 1 if shape.ragged else k
    part = builtins.slice(begin, begin + count * step, step)
    return target_of(shape, order, k, [dim]), (*[builtins.slice(None)] * axis, part)


def _known_amounts(start: Any, end: Any, size: Any) -> list[tuple[Any, str, int | None]]:
    amounts = [(start, "start", None), (end, "end", None), (size, "size", 0)]
    return [item for item in amounts if item[0] is not None]


def _text(start: Any, end: Any, step: int, size: Any) -> str:
    def one(amount: Any) -> str:
        return "" if amount is None else str(amount) if isinstance(amount, int) else "..."

    ends = one(end) if size is None else f"+{one(size)}"
    return f"[{one(start)}:{ends}{'' if step == 1 else f':{step}'}]"


def _in_algebra(dim: Dim, start: Any, end: Any, step: int) -> Dim | None:
    """The dim of a slice where it follows from that of the whole; None where it has lengths of its own."""
    if step < 1 or is_data(start) or is_data(end):
        return None
    start, end = (item if item is None or type(item) is Dim else int(item) for item in (start, end))
    if dim.is_static and type(start) is not Dim and type(end) is not Dim:
        length = int(dim.size or 0)
        first, last, _ = builtins.slice(start, end).indices(length)
        part = dim.sub_left(first).sub_right(length - max(first, last))
        return part if step == 1 else part.ceildiv_right(step)
    if start is None or type(start) is Dim or start >= 0:
        part = dim if start is None else dim.sub_left(start)
        if type(end) is Dim:
            if start is not None or end + dim.sub_left(end) != dim:
                return None
            part = end
        elif end is not None:
            if end >= 0:
                return None
            part = part.sub_right(-end)
        return part if step == 1 else part.ceildiv_right(step)
    return None


def _check_fit(dim: Dim, size: Dim, lengths: Any, first: Any, count: Any) -> None:
    """Refuse a slice of so many positions where a row has fewer."""
    begin = np.zeros_like(lengths) if first is None else np.where(first < 0, first + lengths, first)
    wrong = (begin < 0) | (begin + count > lengths)
    if wrong.any():
        row = int(wrong.argmax())
        raise error_of(
            LengthMismatchError,
            "size",
            f"{count[row]} positions of '{size.name}' from {begin[row]} on reach out of row {row} of "
            f"'{dim.name}', which is {lengths[row]} long",
            row=row,
        )


def _positions(lengths: Any, first: Any, last: Any, step: int, by_size: bool) -> tuple[Any, Any]:
    """Where slices of rows begin, and how many positions they have; as `range(n)[first:last:step]`."""
    lowest, highest = (0, lengths) if step > 0 else (-1, lengths - 1)
    if first is None:
        begin = np.zeros_like(lengths) if step > 0 else lengths - 1
    else:
        begin = np.clip(np.where(first < 0, first + lengths, first), lowest, highest)
    if by_size:
        stop = np.minimum(begin + last, lengths)
    elif last is None:
        stop = lengths if step > 0 else np.full_like(lengths, -1)
    else:
        stop = np.clip(np.where(last < 0, last + lengths, last), lowest, highest)
    count = np.maximum(-(-(stop - begin) // step), 0)
    return begin, count


def cut(x: Data[Any], k: int, begin: Data[Any], count: Data[Any], step: int, dim: Dim) -> Data[Any]:
    """So many positions of the dim k from one on, for each row; they are known to be there."""
    shape = x._shape
    axis_dim = shape.dims[k]
    if k >= shape.ragged and step > 0 and not begin._shape.rank:
        a, n = int(begin._values), int(count._values)
        target, part = _axis_part(shape, x._order, k, a, n, step, dim)
        return place_values(x, x._values[part], target, axis_dim, dim)
    outer_dims = [*begin._shape.dims, *[item for item in count._shape.dims if begin._shape.find(item) < 0]]
    x, k, front, sources = brought_before(x, k, outer_dims)
    level = x._shape.span(k, k + 1)
    starts, firsts, counts = level.offsets[:-1], spread(begin, front), spread(count, front)
    head = x._shape.dims[:k] if sources is None else front.dims
    check_lengths("slice", dim, head, counts)

    def change(lengths: Data[Any]) -> Data[Any]:
        return cut(lengths, lengths._shape.find(axis_dim), begin, count, step, dim)

    if step == 1 and sources is None and k + 1 >= x._shape.ragged:
        backend = backend_of(x._values)
        pairs = np.stack([firsts, firsts + counts], axis=1).reshape(-1)
        ones = equal_lengths(len(level), 1)
        rows, _ = backend.spans(backend.contiguous(rows_of(x, k + 1)), level, ones, pairs)
        return with_dims(x, k, rows, [dim])
    cuts = Level.from_lengths(counts)
    base = (starts if sources is None else starts[sources]) + firsts
    positions = base[cuts.row_ids] + step * (np.arange(cuts.total) - cuts.offsets[:-1][cuts.row_ids])
    return positions_taken(x, k, positions, [dim], change, None if sources is None else front.dims)
