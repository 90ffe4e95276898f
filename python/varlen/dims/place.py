"""Values that lie for one shape, brought to lie for another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.backends import backend_of
from varlen.dims.axes import describe
from varlen.dims.base import NO_FACTS, made

if TYPE_CHECKING:
    from varlen.dims.data import Data


def aligned(values: Any, shape: Shape, target: Shape) -> Any:
    """Values of one shape as they broadcast against those of another, which has all its dims.

    Raises
    ------
    LengthMismatchError
        Lengths that differ.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> batch = time.over[0]
    >>> aligned(np.array([10, 20]), Shape([batch]), Shape([batch, time]))
    array([10, 10, 20])
    """
    plan = target.align(shape)
    if plan is None:
        return values
    transposed, flat, rows, then = plan
    backend = backend_of(values)
    if transposed is not None:
        values = backend.transpose(values, transposed)
    if flat is not None:
        values = shaped(values, flat)
    if rows is not None:
        values = backend.contiguous(values)
        if type(rows) is Level:
            values = backend.broadcast_rows(values, rows)
        else:
            values = backend.take_rows(values, rows)
    return values if then is None else shaped(values, then)


def spread(values: Any, shape: Shape, target: Shape) -> Any:
    """One number for each position of a shape that has all dims of another.

    Examples
    --------
    >>> batch, three = vl.dims.batch_dim.bind(2), Dim("three", 3)
    >>> spread(np.array([7, 8]), Shape([batch]), Shape([batch, three]))
    array([7, 7, 7, 8, 8, 8])
    """
    lying = aligned(values.reshape(shape.array_shape), shape, target)
    if lying.size != target.count(target.rank):
        lying = np.broadcast_to(lying, target.array_shape)
    return lying.reshape(-1)


def order_of(shape: Shape, dims: Sequence[Dim]) -> tuple[int, ...] | None:
    """Where dims that are all those of a shape lie in it; None where they are in its order.

    Examples
    --------
    >>> two, three = Dim("two", 2), Dim("three", 3)
    >>> order_of(Shape([two, three]), [three, two]), order_of(Shape([two, three]), [two, three])
    ((1, 0), None)
    """
    order = tuple([shape.find(dim) for dim in dims])
    return None if order == tuple(range(len(order))) else order


def moved(data: Data[Any], target: Shape) -> Any:
    """The values of a Data as they lie for a shape of the same dims in another order.

    Examples
    --------
    >>> two, three = Dim("two", 2), Dim("three", 3)
    >>> moved(vl.Data(np.arange(6).reshape(2, 3), [two, three]), Shape([three, two])).tolist()
    [[0, 3], [1, 4], [2, 5]]
    """
    if target is data._shape:
        return data._values
    return aligned(data._values, data._shape, target).reshape(target.array_shape)


def in_order(data: Data[Any]) -> Data[Any]:
    """The same with values that lie in the order of its dims.

    Raises
    ------
    ValueError
        A dim comes before what it is over.

    Examples
    --------
    >>> x = vl.Data(np.arange(6).reshape(2, 3), [Dim("two", 2), Dim("three", 3)]).transpose(["three", "two"])
    >>> in_order(x).values.shape
    (3, 2)
    """
    if data._order is None:
        return data
    if Shape.arranged(data.dims) != tuple(range(data._shape.rank)):
        raise ValueError(f"a dim comes before what it is over: {describe(data.dims)}")
    target = Shape(data.dims)
    made = data._like(moved(data, target))
    made._shape, made._order = target, None
    return made


def along(data: Data[Any], k: int) -> tuple[Data[Any], int]:
    """The same where the positions of the dim k lie side by side, and where that dim is then.

    All dims behind it are axes of a row; the dims before it count the rows that it is cut into.

    Raises
    ------
    ValueError
        Another dim is over it, so that its positions hold sequences and no rows.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> source = Dim("source", lengths=[1, 2])
    >>> x = vl.Data(np.arange(4), [time.over[0], time, source])
    >>> along(x, 1)[0].values, along(x, 2)[0] is x
    (array([0, 1, 2, 3]), True)
    """
    shape = data._shape
    if k + 1 >= shape.ragged:
        return data, k
    dims = list(shape.dims)
    dim = dims.pop(k)
    inner = [x for x in dims[k : shape.ragged - 1] if dim in x.over]
    if inner:
        raise ValueError(f"'{inner[0].name}' has lengths over '{dim.name}': its positions hold sequences")
    dims.insert(shape.ragged - 1, dim)
    target = Shape(dims)
    made = data._like(moved(data, target))
    made._shape, made._order = target, order_of(target, data.dims)
    return made, shape.ragged - 1


def rows_of(data: Data[Any], front: int) -> Any:
    """The values with one row for each position of the first `front` dims, and the axes of the rest.

    Examples
    --------
    >>> rows_of(vl.Data(np.zeros((2, 3, 4)), [Dim("a", 2), Dim("b", 3), Dim("c", 4)]), 2).shape
    (6, 4)
    """
    shape = data._shape
    if front == max(shape.ragged, 1) and shape.rank:
        return data._values
    return data._values.reshape(rows_shape(shape, front))


def rows_shape(shape: Shape, front: int) -> tuple[int, ...]:
    """The shape of values with one row for each position of the first `front` dims.

    Examples
    --------
    >>> rows_shape(Shape([Dim("a", 2), Dim("b", 3), Dim("c", 4)]), 2)
    (6, 4)
    """
    return (shape.count(front), *[shape.extent(k) for k in range(front, shape.rank)])


def coordinates(shape: Shape, k: int, front: int | None = None) -> Any:
    """The place along the dim k of each position of the first `front` dims, int64.

    As many dims as are rows, and k, if nothing is said.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> coordinates(Shape([time.over[0], time]), 1)
    array([0, 1, 0])
    """
    front = max(shape.ragged, k + 1) if front is None else front
    whole = Shape(shape.dims[:front]) if front < shape.rank else shape
    extent = shape.extent(k)
    return spread(np.arange(extent), Shape([shape.dims[k]._bound(extent)]), whole)


def lengths_of(dim: Dim) -> Data[Any]:
    """How many positions a dim has, over the dims that it is over: int64.

    Examples
    --------
    >>> lengths_of(Dim("time", lengths=[2, 1])).to_list()
    [2, 1]
    """
    shape = Shape(dim.over)
    level: Any = dim.level
    return made(np.asarray(level.lengths).reshape(shape.array_shape), shape)


def has_inner(shape: Shape, k: int) -> bool:
    """Whether another dim is over the dim k, so that its positions hold sequences.

    Examples
    --------
    >>> time = Dim("time", lengths=[2, 1])
    >>> words = Dim("words", lengths=[1, 1, 3], over=[time.over[0], time])
    >>> shape = Shape([time.over[0], time, words])
    >>> has_inner(shape, 1), has_inner(shape, 2)
    (True, False)
    """
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
    before: Sequence[Dim] | None = None,
) -> Data[Any]:
    """Positions of the first k + 1 dims, each with all that is inside it, in another order or number.

    What stands inside a position moves as a whole, whether that is a row or sequences of several dims.

    Parameters
    ----------
    data
        Values over dims.
    k
        The dim that goes.
    positions
        int64: numbers of positions of the dims up to k, in the order of the result. -1 is a position of
        which dims that are over the dim k have nothing; there has to be such a dim.
    dims
        What comes in the place of the dim k.
    change
        The same done to any Data over the dim k: dims that are over it get lengths by it.
    before
        The dims before those; None for the ones that are there.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> words = vl.Dim("words", lengths=[1, 2, 0], over=[time.over[0], time])
    >>> x = vl.Data(np.array([7, 8, 9]), [time.over[0], time, words])
    >>> def turn(x):
    ...     return positions_taken(x, x._shape.find(time), np.array([1, 0, 2]), [time], turn)
    >>> turn(x).to_list()
    [[[8, 9], [7]], [[]]]
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
    return with_dims(data, k, values, dims, rebound(data, k, change), before)


def with_dims(
    data: Data[Any],
    k: int,
    values: Any,
    dims: Sequence[Dim],
    behind: Sequence[Dim] | None = None,
    before: Sequence[Dim] | None = None,
) -> Data[Any]:
    """Values over dims that stand in the place of the dim k; what is said of the Data is said of them.

    Parameters
    ----------
    data, k, dims, before
        As those of `positions_taken`.
    values
        As they lie for the dims `before`, `dims` and `behind`.
    behind
        The dims behind the dim k with the lengths that they have now; None for those that they had.

    Examples
    --------
    >>> x = vl.Data(np.arange(3), [vl.Dim("three", 3)])
    >>> with_dims(x, 0, x.values[:2], [vl.Dim("two", 2)])
    Data([two(2)], int64)
    """
    old = data._shape.dims
    target = target_of(data._shape, data._order, k, dims, behind, before)
    return placed(data, values, target, old[k], dims[0] if dims else None)


def target_of(
    shape: Shape,
    order: tuple[int, ...] | None,
    k: int,
    dims: Sequence[Dim],
    behind: Sequence[Dim] | None = None,
    before: Sequence[Dim] | None = None,
) -> tuple[Shape, tuple[int, ...] | None]:
    """The shape and the order of `with_dims`.

    Examples
    --------
    >>> shape, order = target_of(Shape([Dim("two", 2), Dim("three", 3)]), (1, 0), 0, [Dim("one", 1)])
    >>> shape.array_shape, order
    ((1, 3), (1, 0))
    """
    old = shape.dims
    front = old[:k] if before is None else tuple(before)
    target = Shape([*front, *dims, *(old[k + 1 :] if behind is None else behind)])
    if order is None and before is None:
        return target, None
    more, first = len(dims) - 1, len(front)
    shown: list[int] = []
    for j in order or range(len(old)):
        if j == k:
            shown += range(first, first + len(dims))
        else:
            shown.append(target.find(old[j]) if j < k else first + more + j - k)
    ahead = [j for j in range(target.rank) if j not in shown]
    places = (*ahead, *shown)
    return target, None if places == tuple(range(len(places))) else places


def placed(
    data: Data[Any],
    values: Any,
    target: tuple[Shape, tuple[int, ...] | None],
    gone: Dim,
    new: Dim | None,
) -> Data[Any]:
    """Values over a shape in an order, in which a dim stands in the place of one that goes.

    Examples
    --------
    >>> x = vl.Data(np.arange(3), [Dim("three", 3)])
    >>> two = Dim("two", 2)
    >>> placed(x, x.values[:2], (Shape([two]), None), x.dims[0], two)
    Data([two(2)], int64)
    """
    facts = data._facts
    if facts is not NO_FACTS:
        facts = facts._replace(
            name=None,
            time_dim=new if facts.time_dim == gone else facts.time_dim,
            feature_dim=new if facts.feature_dim == gone else facts.feature_dim,
        )
    return made(shaped(values, target[0].array_shape), target[0], target[1], facts)


def shaped(values: Any, shape: tuple[int, ...]) -> Any:
    """Values in another shape, themselves where it is theirs: torch takes its time to see that.

    Examples
    --------
    >>> shaped(np.arange(4), (2, 2)).tolist()
    [[0, 1], [2, 3]]
    """
    return values if values.shape == shape else values.reshape(shape)


def bound_anew(change: Callable[..., Dim], gone: Sequence[Dim], *each: Dim) -> Dim:
    """A dim, of one or several values, with other lengths where they are over some dims.

    Of a derived one those of each dim that it is worked out of, which what follows from it asks for.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> turned = bound_anew(lambda dim: dim._bound(dim.lengths[::-1], dim.over), time.over, time * 2)
    >>> turned.lengths, (turned + 1).lengths
    (array([2, 4]), array([3, 5]))
    """
    whole = change(*each)
    if not each[0].is_derived:
        return whole
    word, _, name, priority = each[0]._state()
    parts = []
    for bindings in zip(*[dim._state()[1] for dim in each], strict=False):
        factors = [Dim._restored((binding[0], (binding,), None, 0)) for binding in bindings]
        for factor, dim in zip(factors, each, strict=True):
            if factor != factors[0] or not factor.is_defined or factor.is_derived:
                return whole
            if any(over not in dim.over for over in factor.over):
                return whole
        is_over = any(over in gone for factor in factors for over in factor.over)
        parts += (change(*factors) if is_over else factors[0])._state()[1]
    new = Dim._restored((word, tuple(parts), name, priority))
    same = new.is_defined and new.over == whole.over and new.level == whole.level
    return new if same else whole  # lengths below 0 were cut at 0 in between


def rebound(data: Data[Any], k: int, change: Callable[[Data[Any]], Data[Any]]) -> list[Dim] | None:
    """The dims behind the dim k with the lengths that a move of its positions gives them; None: as they are.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> words = vl.Dim("words", lengths=[1, 2, 0], over=[time.over[0], time])
    >>> x = vl.Data(np.array([7, 8, 9]), [time.over[0], time, words])
    >>> rebound(x, 1, lambda lengths: lengths * 2)[0].lengths
    array([2, 4, 0])
    """
    if not has_inner(data._shape, k):
        return None
    gone = data._shape.dims[k]
    behind = list(data._shape.dims[k + 1 :])

    def moved(dim: Dim) -> Dim:
        lengths = change(lengths_of(dim))
        return dim._bound(lengths._values.reshape(-1), lengths._shape.dims)

    for j, dim in enumerate(behind):
        if gone in dim.over:
            behind[j] = bound_anew(moved, [gone], dim)
    return behind
