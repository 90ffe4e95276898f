"""Some dims replaced by others, where it is said for each position of the new ones what stands there.

A frame is a shape of dims that are new, beside those of the values that decide where numbers come from. What
a dim that stays is over may go: its sequences move as a whole, and it gets their lengths.
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
from varlen.errors import error_of, type_error, value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen.dims.data import Data


def repeat_over(values: Any, shape: Shape, target: Shape) -> Any:
    """Values over the dims of another shape, repeated over those that they lack."""
    values = align(values, shape, target)
    if tuple(values.shape) == target.array_shape:
        return values
    sizes = zip(values.shape, target.array_shape, strict=True)
    return backend_of(values).tile(values, tuple([1 if have == want else want for have, want in sizes]))


def places_along(dim: Dim, target: Shape) -> Any:
    """The place along one of its dims of each position of a shape."""
    return coordinates(target, target.find(dim), target.rank)


def position_text(shape: Shape, position: int) -> str:
    """Where a position lies, for an error: "batch 1, time 0"."""
    return ", ".join([f"{dim.name} {places_along(dim, shape)[position]}" for dim in shape.dims])


def lengths_over(dim: Dim, target: Shape) -> Any:
    """How long a dim is at each position of dims that it is over, and of others."""
    level = dim.level if dim.over else None
    if level is None:
        return np.full(target.count(target.rank), dim.max_size())
    return spread(level.lengths, Shape(dim.over), target)


def dims_over(dims: Sequence[Dim], more: Sequence[Dim] = ()) -> list[Dim]:
    """What some dims are over, and more dims with what those are over; without these dims themselves."""
    found: list[Dim] = []
    for dim in [*[over for each in (*dims, *more) for over in each.over], *more]:
        if dim in dims or dim in found:
            continue
        inner = [each for each in dim.over if each in dims]
        if inner:
            raise value_error(
                "", f"'{dim.name}' has lengths over {quote_names(inner, 'and')}, and cannot stay without it"
            )
        found.append(dim)
    return [found[k] for k in Shape.arranged(found)]


def _check_over(dim: Any, over: Sequence[Dim]) -> None:
    """Refuse a dim for a result whose lengths are over a dim that the result's are not."""
    if type(dim) is not Dim:
        raise type_error("out_dim", f"expected a Dim, got {dim!r}")
    more = [each for each in dim.over if each not in over]
    if more:
        has = f"lengths over {quote_names(list(over), 'and')}" if over else "one length"
        names = quote_names(more, "and")
        raise value_error("out_dim", f"'{dim.name}' has lengths over {names}, but the result has {has}")


def bound_to(dim: Dim | None, level: Level, over: Sequence[Dim], name: str, whole: Dim | None = None) -> Dim:
    """A dim of the lengths of a level: that which is given, another, or a new one of some name."""
    if dim is not None:
        _check_over(dim, over)
    known = dim is not None and dim.is_defined
    if not known:
        if dim is None and whole is not None and _has_lengths(whole, level, over):
            return whole
        new = Dim(name=name) if dim is None and whole is None else dim or whole
        assert new is not None
        if not new.is_static:
            return new._bound(level, over) if over else new._bound(int(level.total))
        dim = new
    assert dim is not None
    shape = Shape(over)
    have = lengths_over(dim, shape)
    if (have != level.lengths).any():
        i = int((have != level.lengths).argmax())
        at = f" at {position_text(shape, i)}" if over else ""
        raise error_of(
            LengthMismatchError, "out_dim", f"'{dim.name}' is {have[i]} long{at}, not {level.lengths[i]}"
        )
    return dim


def _has_lengths(dim: Dim, level: Level, over: Sequence[Dim]) -> bool:
    if not dim.is_dynamic or not dim.is_defined or set(dim.over) != set(over):
        return False
    return bool((lengths_over(dim, Shape(over)) == level.lengths).all())


def lines(others: Sequence[Dim], dims: Sequence[Dim]) -> tuple[Shape, Level, Any]:
    """The positions of some dims for each of others: a shape, the level of these sequences, and their order.

    The order counts the positions of a sequence as the dims are given, the first slowest; None as they lie.
    """
    each = [*others, *dims]
    arranged = Shape.arranged(each)
    shape = Shape([each[k] for k in arranged])
    level = shape.span(len(others), shape.rank)
    if arranged == tuple(range(len(each))):
        return shape, level, None
    keys = [places_along(dim, shape) for dim in reversed(dims)]
    return shape, level, np.lexsort([*keys, level.row_ids])


def places_in_sequences(level: Level) -> Any:
    """The place of each row in its sequence."""
    return np.arange(level.total) - level.offsets[level.row_ids]


def pick(
    x: Data[Any],
    gone: Sequence[int],
    frame: Shape,
    at: Sequence[NDArray[np.int64]],
    new: Sequence[Dim] | None = None,
    there: NDArray[np.bool_] | None = None,
    fill: Any = 0,
) -> Data[Any]:
    """Numbers from other positions: `at` says the place along each dim that goes, for positions of a frame.

    Dims of the frame that the values lack stand where the first of those stood, in the order `new`. Where
    `there` is False stands `fill`, and no sequence.
    """
    shape, dims = x._shape, x._shape.dims
    rest = {dim for k, dim in enumerate(dims) if k not in gone}
    if new is None:
        new = [dim for dim in frame.dims if dim not in rest]
    frame, at, there = _match_frame(x, gone, frame, at, there)
    kept = dict(enumerate(dims))
    for k, dim in enumerate(dims):
        if k not in gone and any(dims[g] in dim.over for g in gone):
            kept[k] = _rebound(dim, [dims[g] for g in gone], frame, at, there)
    plan = _plan_of(shape, x._order, gone, frame, new, kept)
    chosen = None if there is None or there.all() else spread(there, frame, plan.inner)
    return _by_plan(x, plan, frame, at, chosen, fill)


class _Plan(NamedTuple):
    """What comes out where some dims go, and how rows of what it is made of are found."""

    front: int  # how many dims count the rows
    inner: Shape  # the dims that do so in the result
    target: Shape
    order: tuple[int, ...] | None
    successor: tuple[Dim, Dim] | None
    before: Any  # the row of the first dims, up to the first that goes; None where that is 0
    steps: list[tuple[int, Any, Any]]  # for each dim: which of `at` or -1, places, first rows or an extent


def _plan_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    gone: Sequence[int],
    frame: Shape,
    new: Sequence[Dim],
    kept: dict[int, Dim],
) -> _Plan:
    dims = shape.dims
    rest = {dim for k, dim in enumerate(dims) if k not in gone}
    shared = [shape.find(dim) for dim in frame.dims if dim in rest]
    front = max(shape.ragged, *[k + 1 for k in (*gone, *shared)])
    head = _replace_dims(range(front), gone, new, kept)
    inner = Shape([head[k] for k in Shape.arranged(head, static_last=True)])
    target = Shape([*inner.dims, *dims[front:]])
    user = _replace_dims(order or range(shape.rank), gone, new, kept)
    first = min(gone)
    before = None
    if first:
        outer = Shape(dims[:first])
        before = spread(np.arange(outer.count(first)), outer, inner)
    steps: list[tuple[int, Any, Any]] = []
    for k in range(first, front):
        wide: Any = shape.span(k, k + 1).offsets if shape.is_ragged(k) else shape.extent(k)
        if k == first and before is not None:
            before = _first_rows(before, wide)
            wide = None
        steps.append((gone.index(k), None, wide) if k in gone else (-1, places_along(kept[k], inner), wide))
    return _Plan(front, inner, target, order_of(target, user), _successor(dims, gone, new), before, steps)


def _first_rows(rows: Any, wide: Any) -> Any:
    """Where what is inside some rows begins."""
    return rows * wide if type(wide) is int else wide[rows]


def _by_plan(
    x: Data[Any], plan: _Plan, frame: Shape, at: Sequence[Any], chosen: Any = None, fill: Any = 0
) -> Data[Any]:
    rows = plan.before if chosen is None or plan.before is None else plan.before[chosen]
    for i, places, wide in plan.steps:
        steps = places if i < 0 else spread(at[i], frame, plan.inner)
        steps = steps if chosen is None else steps[chosen]
        if rows is None or wide is None:
            rows = steps if rows is None else rows + steps
        else:
            rows = _first_rows(rows, wide) + steps
    values = rows_of(x, plan.front)
    backend = backend_of(values)
    values = backend.take_rows(backend.contiguous(values), rows)
    if chosen is not None:
        values = backend.insert_row(values, np.cumsum(chosen)[~chosen], backend.row_as(fill, values, "fill"))
    result = make_data(reshape(values, plan.target.array_shape), plan.target, plan.order)
    return with_facts(result, x, plan.successor)


def picked_along(x: Data[Any], k: int, frame: Shape, order: tuple[int, ...] | None, at: Any) -> Data[Any]:
    """As `pick` of the dim k, where dims of the frame that are new stand in an order."""
    plan = _plan(x._shape, x._order, k, frame, order)
    if plan is not None:
        return _by_plan(x, plan, frame, [at])
    rest = [dim for j, dim in enumerate(x._shape.dims) if j != k]
    shown = [frame.dims[j] for j in order or range(frame.rank)]
    return pick(x, [k], frame, [at], [dim for dim in shown if dim not in rest])


@cached_plan
def _plan(
    shape: Shape, order: tuple[int, ...] | None, k: int, frame: Shape, frame_order: tuple[int, ...] | None
) -> _Plan | None:
    """The plan where one dim goes; None where lengths of another hang on what is taken."""
    if has_inner(shape, k):
        return None
    rest = [dim for j, dim in enumerate(shape.dims) if j != k]
    shown = [frame.dims[j] for j in frame_order or range(frame.rank)]
    new = [dim for dim in shown if dim not in rest]
    whole = _whole_frame(shape, [k], frame)
    return _plan_of(shape, order, [k], whole, new, dict(enumerate(shape.dims)))


def _replace_dims(
    order: Sequence[int], gone: Sequence[int], new: Sequence[Dim], kept: dict[int, Dim]
) -> list[Dim]:
    """The dims in an order, with new ones in the place of the first of those that go."""
    found: list[Dim] = []
    first = True
    for k in order:
        if k not in gone:
            found.append(kept[k])
        elif first:
            found += new
            first = False
    return found


def _match_frame(
    x: Data[Any], gone: Sequence[int], frame: Shape, at: Sequence[Any], there: Any
) -> tuple[Shape, Sequence[Any], Any]:
    """A frame whose dims that the values have too are over what they are over there."""
    whole = _whole_frame(x._shape, gone, frame)
    if whole is not frame:
        at = [spread(places, frame, whole) for places in at]
        there = None if there is None else spread(there, frame, whole)
    return whole, at, there


def _whole_frame(shape: Shape, gone: Sequence[int], frame: Shape) -> Shape:
    """The dims of a frame, and what those of them are over that the values have too."""
    dims = shape.dims
    shared = [dim for k, dim in enumerate(dims) if k not in gone and frame.find(dim) >= 0]
    for dim in shared:
        inner = [dims[g] for g in gone if dims[g] in dim.over]
        if inner:
            names = quote_names(inner, "and")
            raise value_error(
                "", f"'{dim.name}' of {describe(frame.dims)} has lengths over {names}, which goes"
            )
    closed = [dim for dim in dims if any(dim in (each, *each.over) for each in shared)]
    return frame.join(Shape(closed)) if closed else frame


def _rebound(dim: Dim, gone: Sequence[Dim], frame: Shape, at: Sequence[Any], there: Any) -> Dim:
    """A dim with the lengths of the sequences that it moves."""

    def moved(dim: Dim) -> Dim:
        some = [i for i, each in enumerate(gone) if each in dim.over]
        places = [dim.over.index(gone[i]) for i in some]
        lengths = pick(lengths_of(dim), places, frame, [at[i] for i in some], None, there)
        return dim._bound(Level.from_lengths(lengths._values.reshape(-1)), lengths._shape.dims)

    return bound_anew(moved, gone, dim)


def relabel(x: Data[Any], k: int, count: int, new: Sequence[Dim]) -> Data[Any]:
    """Dims that lie one inside the other replaced by others of the same positions; no value moves."""
    shape, dims = x._shape, x._shape.dims
    gone = range(k, k + count)
    kept = dict(enumerate(dims))
    lying = [*dims[:k], *new]

    def moved(dim: Dim) -> Dim:
        at = next((i for i, each in enumerate(dim.over) if each == dims[k]), -1)
        if at >= 0 and list(dim.over[at : at + count]) == list(dims[k : k + count]):
            names = {dims[g]: kept[g] for g in kept}
            over = [names[each] for each in dim.over]
            return dim._bound(dim.level, [*over[:at], *new, *over[at + count :]])
        before = len(lying) - len(new) + count
        return dim._bound(Shape([*dims[:before], dim]).span(before, before + 1), lying)

    for j in range(k + count, shape.rank):
        if any(dims[g] in dims[j].over for g in gone):
            kept[j] = bound_anew(moved, dims[k : k + count], dims[j])
        lying.append(kept[j])
    target = Shape(lying)
    user = _replace_dims(x._order or range(shape.rank), gone, new, kept)
    result = make_data(x._values.reshape(target.array_shape), target, order_of(target, user))
    return with_facts(result, x, _successor(dims, gone, new))


def _successor(dims: Sequence[Dim], gone: Sequence[int], new: Sequence[Dim]) -> tuple[Dim, Dim] | None:
    """A dim that goes and the one that takes its place; None where there are more."""
    return (dims[gone[0]], new[0]) if len(gone) == len(new) == 1 else None


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
