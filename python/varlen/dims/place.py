"""Rearrange values from one shape to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.backends import backend_of
from varlen.dims.axes import describe
from varlen.dims.base import NO_FACTS, make_data
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.data import Data


def align(values: Values, shape: Shape, target: Shape) -> Any:
    """Values of one shape, ready to broadcast against another shape that has all its dims."""
    plan = target.align(shape)
    if plan is None:
        return values
    perm, flat, rows, then = plan
    backend = backend_of(values)
    if perm is not None:
        values = backend.transpose(values, perm)
    if flat is not None:
        values = reshape(values, flat)
    if rows is not None:
        values = backend.contiguous(values)
        if type(rows) is Level:
            values = backend.broadcast_rows(values, rows)
        else:
            values = backend.take_rows(values, rows)
    return values if then is None else reshape(values, then)


def spread(values: Any, shape: Shape, target: Shape) -> Any:
    """One number for each position of a shape that has all dims of another."""
    block = align(values.reshape(shape.array_shape), shape, target)
    if block.size != target.count(target.rank):
        block = np.broadcast_to(block, target.array_shape)
    return block.reshape(-1)


def order_of(shape: Shape, dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """The places of a shape's dims; None if they are in its order."""
    order = tuple([shape.find(dim) for dim in dims])
    return None if order == tuple(range(len(order))) else order


def move(data: Data[Any], target: Shape) -> Any:
    """The values of a Data, rearranged for a shape of the same dims in another order."""
    if target is data._shape:
        return data._values
    return align(data._values, data._shape, target).reshape(target.array_shape)


def in_order(data: Data[Any]) -> Data[Any]:
    """The same Data, with values stored in the order of its dims."""
    if data._order is None:
        return data
    if Shape.arranged(data.dims) != tuple(range(data._shape.rank)):
        text = "a dim must come after the dims that its lengths depend on"
        raise value_error("", f"{text}: {describe(data.dims)}")
    target = Shape(data.dims)
    result = data._like(move(data, target))
    result._shape, result._order = target, None
    return result


def lay_along(data: Data[Any], k: int) -> tuple[Data[Any], int]:
    """The same Data with adjacent positions of dim k, and the new place of that dim.

    All dims behind it are axes of a row; the dims before it count the rows.
    """
    shape = data._shape
    if k + 1 >= shape.ragged:
        return data, k
    dims = list(shape.dims)
    dim = dims.pop(k)
    inner = [x for x in dims[k : shape.ragged - 1] if dim in x.over]
    if inner:
        raise value_error(
            "", f"'{inner[0].name}' has lengths over '{dim.name}': its positions hold sequences"
        )
    dims.insert(shape.ragged - 1, dim)
    target = Shape(dims)
    result = data._like(move(data, target))
    result._shape, result._order = target, order_of(target, data.dims)
    return result, shape.ragged - 1


def rows_of(data: Data[Any], front: int) -> Any:
    """The values with one row for each position of the first `front` dims, and the axes of the rest."""
    shape = data._shape
    if front == max(shape.ragged, 1) and shape.rank:
        return data._values
    return data._values.reshape(rows_shape(shape, front))


def rows_shape(shape: Shape, front: int) -> tuple[int, ...]:
    """The shape of values with one row for each position of the first `front` dims."""
    return (shape.count(front), *[shape.extent(k) for k in range(front, shape.rank)])


def coordinates(shape: Shape, k: int, front: int | None = None) -> Any:
    """The place along the dim k of each position of the first `front` dims, int64.

    By default all dims that count rows, and k.
    """
    front = max(shape.ragged, k + 1) if front is None else front
    target = Shape(shape.dims[:front]) if front < shape.rank else shape
    extent = shape.extent(k)
    return spread(np.arange(extent), Shape([shape.dims[k]._bound(extent)]), target)


def lengths_of(dim: Dim) -> Data[Any]:
    """The lengths of a dim, int64, over the dims that it depends on."""
    shape = Shape(dim.over)
    level: Any = dim.level
    return make_data(np.asarray(level.lengths).reshape(shape.array_shape), shape)


def has_inner(shape: Shape, k: int) -> bool:
    """Whether another dim depends on dim k, so its positions hold sequences."""
    if k + 1 >= shape.ragged:
        return False
    dim = shape.dims[k]
    return any(dim in other.over for other in shape.dims[k + 1 :])


def positions_taken(
    data: Data[Any],
    k: int,
    positions: Any,
    dims: Sequence[Dim],
    change: Callable[[Data[Any]], Data[Any]],
    outer_dims: Sequence[Dim] | None = None,
) -> Data[Any]:
    """Take positions of the first k + 1 dims, in any order and number.

    The contents of a position move as a whole, whether a row or sequences of several dims.
    """
    shape = data._shape
    front = k + 1
    backend = backend_of(data._values)
    if front >= shape.ragged:
        values = backend.take_rows(backend.contiguous(rows_of(data, front)), positions)
    else:
        inner = shape.span(front, shape.ragged)
        if len(positions) and positions.min() < 0:
            inner = Level.from_offsets(np.append(inner.offsets, inner.total))
            positions = np.where(positions < 0, len(inner) - 1, positions)
        values, _ = backend.gather(backend.contiguous(data._values), (inner,), positions)
    return with_dims(data, k, values, dims, rebound(data, k, change), outer_dims)


def with_dims(
    data: Data[Any],
    k: int,
    values: Values,
    dims: Sequence[Dim],
    inner_dims: Sequence[Dim] | None = None,
    outer_dims: Sequence[Dim] | None = None,
) -> Data[Any]:
    """Values over dims that replace dim k, with the annotations of the Data."""
    old = data._shape.dims
    target = target_of(data._shape, data._order, k, dims, inner_dims, outer_dims)
    return place_values(data, values, target, old[k], dims[0] if dims else None)


def target_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    dims: Sequence[Dim],
    inner_dims: Sequence[Dim] | None = None,
    outer_dims: Sequence[Dim] | None = None,
) -> tuple[Shape, tuple[int, ...] | None]:
    """The shape and the order of `with_dims`."""
    old = shape.dims
    front = old[:k] if outer_dims is None else tuple(outer_dims)
    target = Shape([*front, *dims, *(old[k + 1 :] if inner_dims is None else inner_dims)])
    if order is None and outer_dims is None:
        return target, None
    growth, first = len(dims) - 1, len(front)
    user_axes: list[int] = []
    for j in order or range(len(old)):
        if j == k:
            user_axes += range(first, first + len(dims))
        else:
            user_axes.append(target.find(old[j]) if j < k else first + growth + j - k)
    new_axes = [j for j in range(target.rank) if j not in user_axes]
    places = (*new_axes, *user_axes)
    return target, None if places == tuple(range(len(places))) else places


def place_values(
    data: Data[Any],
    values: Values,
    target: tuple[Shape, tuple[int, ...] | None],
    old_dim: Dim,
    new: Dim | None,
) -> Data[Any]:
    """Values over a shape in an order, in which one dim replaces another."""
    facts = data._facts
    if facts is not NO_FACTS:
        facts = facts._replace(
            name=None,
            time_dim=new if facts.time_dim == old_dim else facts.time_dim,
            feature_dim=new if facts.feature_dim == old_dim else facts.feature_dim,
        )
    return make_data(reshape(values, target[0].array_shape), target[0], target[1], facts)


def reshape(values: Values, shape: tuple[int, ...]) -> Any:
    """Values in another shape; unchanged if they have it, which torch is slow to see."""
    return values if values.shape == shape else values.reshape(shape)


def bound_anew(change: Callable[..., Dim], axis_dims: Sequence[Dim], *variants: Dim) -> Dim:
    """A dim, of one or several values, with other lengths where they are over some dims.

    Of a derived one those of each dim that it is worked out of, which what follows from it asks for.
    """
    result = change(*variants)
    if not variants[0].is_derived:
        return result
    word, _, name, priority = variants[0]._state()
    parts = []
    for bindings in zip(*[dim._state()[1] for dim in variants], strict=False):
        factors = [Dim._restored((binding[0], (binding,), None, 0)) for binding in bindings]
        for factor, dim in zip(factors, variants, strict=True):
            if factor != factors[0] or not factor.is_defined or factor.is_derived:
                return result
            if any(outer_dim not in dim.over for outer_dim in factor.over):
                return result
        is_over = any(outer_dim in axis_dims for factor in factors for outer_dim in factor.over)
        parts += (change(*factors) if is_over else factors[0])._state()[1]
    new = Dim._restored((word, tuple(parts), name, priority))
    is_same = new.is_defined and new.over == result.over and new.level == result.level
    return new if is_same else result  # lengths below 0 were cut at 0 in between


def rebound(data: Data[Any], k: int, change: Callable[[Data[Any]], Data[Any]]) -> list[Dim] | None:
    """The dims behind dim k with the lengths that a move of its positions gives them, or None."""
    if not has_inner(data._shape, k):
        return None
    axis_dim = data._shape.dims[k]
    tail = list(data._shape.dims[k + 1 :])

    def move_dim(dim: Dim) -> Dim:
        lengths = change(lengths_of(dim))
        return dim._bound(lengths._values.reshape(-1), lengths._shape.dims)

    for j, dim in enumerate(tail):
        if axis_dim in dim.over:
            tail[j] = bound_anew(move_dim, [axis_dim], dim)
    return tail
