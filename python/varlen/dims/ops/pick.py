"""Replace some dims by others, given what stands at each position of the new ones.

A frame is a shape of new dims, and of the dims of the values that decide where numbers come from. A remaining
dim may depend on a replaced one: its sequences move as a whole, and it gets their lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.backends import backend_of
from varlen.dims.axes import describe, quote_names
from varlen.dims.base import NO_FACTS, make_data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.make import check_dim
from varlen.dims.place import (
    align,
    bound_anew,
    coordinates,
    has_inner,
    lengths_of,
    order_of,
    reshape,
    rows_of,
    spread,
)
from varlen.dims.plan_cache import cached_plan
from varlen.errors import error_of, value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.dims.data import Data


def repeat_over(values: Any, shape: Shape, target: Shape) -> Any:
    """Values repeated over the dims of another shape that they lack."""
    values = align(values, shape, target)
    if tuple(values.shape) == target.array_shape:
        return values
    sizes = zip(values.shape, target.array_shape, strict=True)
    return backend_of(values).tile(values, tuple([1 if have == want else want for have, want in sizes]))


def places_along(dim: Dim, target: Shape) -> Any:
    """The place along one of its dims of each position of a shape."""
    return coordinates(target, target.find(dim), target.rank)


def position_text(shape: Shape, position: int) -> str:
    """A position for an error: "batch 1, time 0"."""
    return ", ".join([f"{dim.name} {places_along(dim, shape)[position]}" for dim in shape.dims])


def lengths_over(dim: Dim, target: Shape) -> Any:
    """How long a dim is at each position of dims that it is over, and of others."""
    level = dim.level if dim.over else None
    if level is None:
        return np.full(target.count(target.rank), dim.max_size())
    return spread(level.lengths, Shape(dim.over), target)


def dims_over(dims: Sequence[Dim], extras: Sequence[Dim] = ()) -> list[Dim]:
    """What some dims are over, and more dims with what those are over; without these dims themselves."""
    result: list[Dim] = []
    for dim in [*[outer_dim for item in (*dims, *extras) for outer_dim in item.over], *extras]:
        if dim in dims or dim in result:
            continue
        inner = [item for item in dim.over if item in dims]
        if inner:
            raise value_error(
                "", f"'{dim.name}' has lengths over {quote_names(inner, 'and')}, and cannot stay without it"
            )
        result.append(dim)
    return [result[k] for k in Shape.arranged(result)]


def _check_over(dim: Any, outer_dims: Sequence[Dim]) -> None:
    """Refuse a dim for a result whose lengths are over a dim that the result's are not."""
    check_dim(dim, "out_dim")
    extras = [item for item in dim.over if item not in outer_dims]
    if extras:
        has = f"lengths over {quote_names(list(outer_dims), 'and')}" if outer_dims else "one length"
        names = quote_names(extras, "and")
        raise value_error("out_dim", f"'{dim.name}' has lengths over {names}, but the result has {has}")


def bound_to(
    dim: Dim | None, level: Level, outer_dims: Sequence[Dim], name: str, default: Dim | None = None
) -> Dim:
    """A dim of the lengths of a level: that which is given, another, or a new one of some name."""
    if dim is not None:
        _check_over(dim, outer_dims)
    is_known = dim is not None and dim.is_defined
    if not is_known:
        if dim is None and default is not None and _has_lengths(default, level, outer_dims):
            return default
        new = Dim(name=name) if dim is None and default is None else dim or default
        assert new is not None
        if not new.is_static:
            return new._bound(level, outer_dims) if outer_dims else new._bound(int(level.total))
        dim = new
    assert dim is not None
    shape = Shape(outer_dims)
    have = lengths_over(dim, shape)
    if (have != level.lengths).any():
        i = int((have != level.lengths).argmax())
        suffix = f" at {position_text(shape, i)}" if outer_dims else ""
        raise error_of(
            LengthMismatchError, "out_dim", f"'{dim.name}' is {have[i]} long{suffix}, not {level.lengths[i]}"
        )
    return dim


def _has_lengths(dim: Dim, level: Level, outer_dims: Sequence[Dim]) -> bool:
    if not dim.is_dynamic or not dim.is_defined or set(dim.over) != set(outer_dims):
        return False
    return bool((lengths_over(dim, Shape(outer_dims)) == level.lengths).all())


def lines(others: Sequence[Dim], dims: Sequence[Dim]) -> tuple[Shape, Level, Any]:
    """The positions of some dims for each of others: a shape, the level of these sequences, and their order.

    The order counts the positions of a sequence as the dims are given, the first slowest; None as they lie.
    """
    all_dims = [*others, *dims]
    places = Shape.arranged(all_dims)
    shape = Shape([all_dims[k] for k in places])
    level = shape.span(len(others), shape.rank)
    if places == tuple(range(len(all_dims))):
        return shape, level, None
    keys = [places_along(dim, shape) for dim in reversed(dims)]
    return shape, level, np.lexsort([*keys, level.row_ids])


def places_in_sequences(level: Level) -> Any:
    """The place of each row in its sequence."""
    return np.arange(level.total) - level.offsets[level.row_ids]


def pick(
    x: Data[Any],
    axes: Sequence[int],
    frame: Shape,
    spot: Sequence[NDArray[np.int64]],
    new: Sequence[Dim] | None = None,
    mask: NDArray[np.bool_] | None = None,
    fill: Any = 0,
) -> Data[Any]:
    """Take numbers by place: for each position of a frame, `spot` holds the place along each replaced dim.

    Dims of the frame that the values lack replace the first of those dims, in the order `new`. If `mask` is
    False, the result holds `fill`, or an empty sequence.
    """
    shape, dims = x._shape, x._shape.dims
    rest = {dim for k, dim in enumerate(dims) if k not in axes}
    if new is None:
        new = [dim for dim in frame.dims if dim not in rest]
    frame, spot, mask = _match_frame(x, axes, frame, spot, mask)
    dim_map = dict(enumerate(dims))
    for k, dim in enumerate(dims):
        if k not in axes and any(dims[g] in dim.over for g in axes):
            dim_map[k] = _rebound(dim, [dims[g] for g in axes], frame, spot, mask)
    plan = _plan_of(shape, x._order, axes, frame, new, dim_map)
    flags = None if mask is None or mask.all() else spread(mask, frame, plan.inner)
    return _by_plan(x, plan, frame, spot, flags, fill)


class _Plan(NamedTuple):
    """What comes out where some dims go, and how rows of what it is made of are found."""

    front: int  # how many dims count the rows
    inner: Shape  # the dims that do so in the result
    target: Shape
    order: tuple[int, ...] | None
    successor: tuple[Dim, Dim] | None
    first_rows: Any  # the row of the first dims, up to the first that goes; None where that is 0
    steps: list[tuple[int, Any, Any]]  # for each dim: which of `at` or -1, places, first rows or an extent


def _plan_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    axes: Sequence[int],
    frame: Shape,
    new: Sequence[Dim],
    dim_map: dict[int, Dim],
) -> _Plan:
    dims = shape.dims
    rest = {dim for k, dim in enumerate(dims) if k not in axes}
    frame_axes = [shape.find(dim) for dim in frame.dims if dim in rest]
    front = max(shape.ragged, *[k + 1 for k in (*axes, *frame_axes)])
    head = _replace_dims(range(front), axes, new, dim_map)
    inner = Shape([head[k] for k in Shape.arranged(head, static_last=True)])
    target = Shape([*inner.dims, *dims[front:]])
    user = _replace_dims(order or range(shape.rank), axes, new, dim_map)
    first = min(axes)
    base = None
    if first:
        outer = Shape(dims[:first])
        base = spread(np.arange(outer.count(first)), outer, inner)
    steps: list[tuple[int, Any, Any]] = []
    for k in range(first, front):
        wide: Any = shape.span(k, k + 1).offsets if shape.is_ragged(k) else shape.extent(k)
        if k == first and base is not None:
            base = _first_rows(base, wide)
            wide = None
        steps.append(
            (axes.index(k), None, wide) if k in axes else (-1, places_along(dim_map[k], inner), wide)
        )
    return _Plan(front, inner, target, order_of(target, user), _successor(dims, axes, new), base, steps)


def _first_rows(rows: Any, wide: Any) -> Any:
    """Where what is inside some rows begins."""
    return rows * wide if type(wide) is int else wide[rows]


def _by_plan(
    x: Data[Any], plan: _Plan, frame: Shape, coords: Sequence[Any], flags: Any = None, fill: Any = 0
) -> Data[Any]:
    rows = plan.first_rows if flags is None or plan.first_rows is None else plan.first_rows[flags]
    for i, places, wide in plan.steps:
        steps = places if i < 0 else spread(coords[i], frame, plan.inner)
        steps = steps if flags is None else steps[flags]
        if rows is None or wide is None:
            rows = steps if rows is None else rows + steps
        else:
            rows = _first_rows(rows, wide) + steps
    values = rows_of(x, plan.front)
    backend = backend_of(values)
    values = backend.take_rows(backend.contiguous(values), rows)
    if flags is not None:
        values = backend.insert_row(values, np.cumsum(flags)[~flags], backend.row_as(fill, values, "fill"))
    result = make_data(reshape(values, plan.target.array_shape), plan.target, plan.order)
    return with_facts(result, x, plan.successor)


def picked_along(x: Data[Any], k: int, frame: Shape, order: tuple[int, ...] | None, coord: Any) -> Data[Any]:
    """As `pick` of the dim k, where dims of the frame that are new stand in an order."""
    plan = _plan(x._shape, x._order, k, frame, order)
    if plan is not None:
        return _by_plan(x, plan, frame, [coord])
    rest = [dim for j, dim in enumerate(x._shape.dims) if j != k]
    user_dims = [frame.dims[j] for j in order or range(frame.rank)]
    return pick(x, [k], frame, [coord], [dim for dim in user_dims if dim not in rest])


@cached_plan
def _plan(
    shape: Shape, order: tuple[int, ...] | None, k: int, frame: Shape, frame_order: tuple[int, ...] | None
) -> _Plan | None:
    """The plan where one dim goes; None where lengths of another hang on what is taken."""
    if has_inner(shape, k):
        return None
    rest = [dim for j, dim in enumerate(shape.dims) if j != k]
    user_dims = [frame.dims[j] for j in frame_order or range(frame.rank)]
    new = [dim for dim in user_dims if dim not in rest]
    target = _whole_frame(shape, [k], frame)
    return _plan_of(shape, order, [k], target, new, dict(enumerate(shape.dims)))


def _replace_dims(
    order: Sequence[int], axes: Sequence[int], new: Sequence[Dim], dim_map: dict[int, Dim]
) -> list[Dim]:
    """The dims in an order, with new ones in the place of the first of those that go."""
    result: list[Dim] = []
    first = True
    for k in order:
        if k not in axes:
            result.append(dim_map[k])
        elif first:
            result += new
            first = False
    return result


def _match_frame(
    x: Data[Any], axes: Sequence[int], frame: Shape, coords: Sequence[Any], mask: Any
) -> tuple[Shape, Sequence[Any], Any]:
    """A frame whose dims that the values have too are over what they are over there."""
    target = _whole_frame(x._shape, axes, frame)
    if target is not frame:
        coords = [spread(places, frame, target) for places in coords]
        mask = None if mask is None else spread(mask, frame, target)
    return target, coords, mask


def _whole_frame(shape: Shape, axes: Sequence[int], frame: Shape) -> Shape:
    """The dims of a frame, and what those of them are over that the values have too."""
    dims = shape.dims
    frame_dims = [dim for k, dim in enumerate(dims) if k not in axes and frame.find(dim) >= 0]
    for dim in frame_dims:
        inner = [dims[g] for g in axes if dims[g] in dim.over]
        if inner:
            names = quote_names(inner, "and")
            raise value_error(
                "", f"'{dim.name}' of {describe(frame.dims)} has lengths over {names}, which the result lacks"
            )
    closure = [dim for dim in dims if any(dim in (item, *item.over) for item in frame_dims)]
    return frame.join(Shape(closure)) if closure else frame


def _rebound(dim: Dim, axis_dims: Sequence[Dim], frame: Shape, coords: Sequence[Any], mask: Any) -> Dim:
    """A dim with the lengths of the sequences that it moves."""

    def move(dim: Dim) -> Dim:
        hits = [i for i, item in enumerate(axis_dims) if item in dim.over]
        places = [dim.over.index(axis_dims[i]) for i in hits]
        lengths = pick(lengths_of(dim), places, frame, [coords[i] for i in hits], None, mask)
        return dim._bound(Level.from_lengths(lengths._values.reshape(-1)), lengths._shape.dims)

    return bound_anew(move, axis_dims, dim)


def relabel(x: Data[Any], k: int, count: int, new: Sequence[Dim]) -> Data[Any]:
    """Dims that lie one inside the other replaced by others of the same positions; no value moves."""
    shape, dims = x._shape, x._shape.dims
    axes = range(k, k + count)
    dim_map = dict(enumerate(dims))
    new_dims = [*dims[:k], *new]

    def move(dim: Dim) -> Dim:
        start = next((i for i, item in enumerate(dim.over) if item == dims[k]), -1)
        if start >= 0 and list(dim.over[start : start + count]) == list(dims[k : k + count]):
            names = {dims[g]: dim_map[g] for g in dim_map}
            outer_dims = [names[item] for item in dim.over]
            return dim._bound(dim.level, [*outer_dims[:start], *new, *outer_dims[start + count :]])
        front = len(new_dims) - len(new) + count
        return dim._bound(Shape([*dims[:front], dim]).span(front, front + 1), new_dims)

    for j in range(k + count, shape.rank):
        if any(dims[g] in dims[j].over for g in axes):
            dim_map[j] = bound_anew(move, dims[k : k + count], dims[j])
        new_dims.append(dim_map[j])
    target = Shape(new_dims)
    user = _replace_dims(x._order or range(shape.rank), axes, new, dim_map)
    result = make_data(x._values.reshape(target.array_shape), target, order_of(target, user))
    return with_facts(result, x, _successor(dims, axes, new))


def _successor(dims: Sequence[Dim], axes: Sequence[int], new: Sequence[Dim]) -> tuple[Dim, Dim] | None:
    """A dim that goes and the one that takes its place; None where there are more."""
    return (dims[axes[0]], new[0]) if len(axes) == len(new) == 1 else None


def with_facts(result: Data[Any], x: Data[Any], successor: tuple[Dim, Dim] | None = None) -> Data[Any]:
    """A result of which is said what was said of where its numbers come from, but the name.

    Of a dim that another one took the place of is said what was said of that.
    """
    facts = x._facts
    if facts is not NO_FACTS:
        stays: dict[str, Any] = {"name": None}
        for word in ("time_dim", "feature_dim"):
            dim = getattr(facts, word)
            if dim is not None and successor is not None and dim == successor[0]:
                dim = successor[1]
            stays[word] = dim if dim is not None and result._shape.find(dim) >= 0 else None
        result._facts = facts._replace(**stays)
    return result
