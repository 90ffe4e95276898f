"""Sort, choose, deduplicate and search numbers along dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_array, as_int, one_number_error, one_of
from varlen.backends import backend_of
from varlen.backends.numeric import numbers as as_numbers
from varlen.dims.axes import describe, place, places
from varlen.dims.base import is_data, make_data
from varlen.dims.ops.pick import bound_to, dims_over, lines, places_along, repeat_over, with_facts
from varlen.dims.ops.reduce import group_dims
from varlen.dims.ops.softmax import ungroup
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import move, order_of, spread
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def sort(
    x: Data[Any], axis: Axis = "T", *, descending: bool = False, out_shape: OutShape | None = None
) -> tuple[Data[Any], Data[Any]]:
    """Sort the numbers along a dim, and return their original positions.

    Parameters
    ----------
    x
        Numbers or bools.
    axis
        The dim to sort along.
    descending
        If True, the largest number comes first.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    values : Data
        The sorted numbers, over the same dims. NaN comes last, ascending and descending; equal numbers keep
        their order.
    places : Data
        int64 over the same dims, with the dim as `sparse_dim`: `gather(x, places)` gives the values.

    Raises
    ------
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `sort`, which cannot sort along a dim whose lengths differ.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> values, places = vl.dims.sort(x, descending=True)
    >>> values.to_list(), places.to_list()
    ([[4, 3, 1], [5]], [[2, 0, 1], [0]])
    """
    axes = (place(x, axis),)
    values, level, order, _ = group_dims(x, axes)
    best, which, _ = backend_of(values).sort(values, level, descending, None, True, True)
    result = ungroup(x, best, axes, order)._with_facts(sparse_dim=x.sparse_dim)
    return check_out_shape(result, out_shape), _ungrouped_places(x, axes, which, level, order)


def argsort(
    x: Data[Any], axis: Axis = "T", *, descending: bool = False, out_shape: OutShape | None = None
) -> Data[Any]:
    """The positions that sort the numbers along a dim.

    Parameters
    ----------
    x, axis, descending, out_shape
        As in `sort`.

    Returns
    -------
    Data
        The positions that `sort` returns, int64 over the same dims.

    Raises
    ------
    IndexError, OutShapeError
        As `sort`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.argsort(x).to_list()
    [[1, 0, 2], [0]]
    """
    axes = (place(x, axis),)
    values, level, order, _ = group_dims(x, axes)
    which = backend_of(values).sort(values, level, descending, None, False, True)[1]
    return check_out_shape(_ungrouped_places(x, axes, which, level, order), out_shape)


def top_k(
    x: Data[Any],
    axis: Axis | Sequence[Axis],
    k: int | Dim,
    out_dim: Dim | None = None,
    *,
    out_shape: OutShape | None = None,
) -> tuple[Data[Any], list[Data[Any]], Dim]:
    """The k largest numbers along some dims, the largest first, and their positions.

    Parameters
    ----------
    x
        Numbers or bools.
    axis
        The dim or dims to choose from, such as beam and vocabulary.
    k
        The number to choose, 1 or more: an int or a Dim of that size. The result has that Dim if every row
        has enough numbers.
    out_dim
        The Dim of the result; without lengths, it receives them. By default `k` or a new Dim.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    values : Data
        The chosen numbers, with one dim in place of the first of `axis`. NaN is chosen last; of equal
        numbers, the first in row-major order of `axis`.
    places : list of Data
        For each dim of `axis`, in their order, the positions on it: int64 over the same dims, with the dim as
        `sparse_dim`.
    dim : Dim
        The new dim. Its size is fixed if all dims of `axis` have a fixed size. Otherwise it has lengths: a
        row of fewer than k positions keeps them all.

    Raises
    ------
    ValueError
        k is below 1, or `axis` is empty.
    IndexError
        There is no such dim.
    LengthMismatchError
        `out_dim` has other lengths than the result.

    Notes
    -----
    As RETURNN's `top_k`, which fills short rows with the lowest number.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, time])
    >>> values, [places], dim = vl.dims.top_k(x, time, 2)
    >>> values.to_list(), places.to_list(), dim.lengths
    ([[4, 3], [5]], [[2, 0], [0]], array([2, 1]))
    >>> beam, words = vl.Dim("beam", 2), vl.Dim("words", 3)
    >>> scores = vl.Data(np.array([[0.1, 0.5, 0.2], [0.9, 0.3, 0.4]]), [beam, words])
    >>> best, [source, word], _ = vl.dims.top_k(scores, [beam, words], beam)
    >>> best.to_list(), source.to_list(), word.to_list()
    ([0.9, 0.5], [1, 0], [0, 1])
    """
    axes = places(x, axis)
    if not axes:
        raise value_error("axis", "expected one dim or more, got none")
    if isinstance(k, Dim) and k.size is None:
        raise value_error("k", f"'{k.name}' has no fixed size")
    limit = as_int(k.size if isinstance(k, Dim) else k, "k", 1)
    axis_dims = [x._shape.dims[i] for i in axes]
    x, first = _in_order(x, axes)
    new_axes = tuple([x._shape.find(dim) for dim in axis_dims])
    values, level, _, rest = group_dims(x, sorted(new_axes))
    numbers = _numbers(x, axis_dims, new_axes)
    backend = backend_of(values)
    if numbers is not None and new_axes != tuple(sorted(new_axes)):
        rows = np.lexsort([*reversed(numbers), level.row_ids])
        values, numbers = backend.take_rows(values, rows), [item[rows] for item in numbers]
    best, which, out_level = backend.sort(values, level, True, limit, True, True)
    tail = tuple(values.shape[1:])
    head = rest.rank - len(tail)
    new = _best_dim(x, axis_dims, rest.dims[:head], level, out_level, k, out_dim, limit)
    target = Shape([*rest.dims[:head], new, *rest.dims[head:]])
    rest_dims = [x._shape.dims[i] for i in x._order or range(x._shape.rank) if i not in new_axes]
    user = [rest.dims[rest.find(dim)] for dim in rest_dims]
    user.insert(first, new)

    def over_best(rows: Values) -> Data[Any]:
        return make_data(rows.reshape(target.array_shape), target, order_of(target, user))

    coords = (
        _coordinates(x, axis_dims, which)
        if numbers is None
        else [_taken_at(which, level, out_level, item) for item in numbers]
    )
    indices = [
        over_best(rows)._with_facts(sparse_dim=dim) for rows, dim in zip(coords, axis_dims, strict=True)
    ]
    return check_out_shape(with_facts(over_best(best), x), out_shape), indices, new


def unique(
    x: Data[Any],
    axis: Axis = "T",
    out_dim: Dim | None = None,
    *,
    out_shape: OutShape | None = None,
) -> tuple[Data[Any], Data[Any], Data[Any], Dim]:
    """The distinct numbers along a dim, ascending, with their inverse indices and counts.

    Parameters
    ----------
    x
        Numbers or bools.
    axis
        The dim along which to compare numbers.
    out_dim
        The dim of the distinct numbers; without lengths, it receives them. By default a new Dim.
    out_shape
        The dims that the values must have; None skips the check.

    Returns
    -------
    values : Data
        The distinct numbers, with the new dim in place of `axis`. All NaN count as one, which comes last.
        These values have no gradient; those of `gather` at the positions of `argsort` do.
    inverse : Data
        int64 over the dims of `x`, with the new dim as `sparse_dim`: `gather(values, inverse)` is `x`.
    counts : Data
        int64 over the dims of the values.
    dim : Dim
        The new dim. Its lengths depend on all other dims of `x`.

    Raises
    ------
    ValueError
        The lengths of another dim depend on `axis`.
    IndexError
        There is no such dim.
    LengthMismatchError
        `out_dim` has other lengths than the result.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 3, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> values, inverse, counts, dim = vl.dims.unique(x)
    >>> values.to_list(), inverse.to_list(), counts.to_list(), dim.lengths
    ([[1, 3], [5]], [[1, 0, 1], [0]], [[1, 2], [1]], array([2, 1]))
    """
    k = place(x, axis)
    dim = x._shape.dims[k]
    layout, level, values = _rows_of_dim(x, k)
    distinct, which, often, out_level = backend_of(values).unique(values, level, True, True)
    others = list(layout.dims[:-1])
    new = bound_to(out_dim, out_level, others, "distinct")
    target = Shape([*others, new])
    order = order_of(target, [new if item == dim else item for item in x.dims])
    facts = with_facts(make_data(distinct.reshape(target.array_shape), target, order), x)
    inverse = make_data(which.reshape(layout.array_shape), layout, order_of(layout, x.dims))._with_facts(
        sparse_dim=new
    )
    return (
        check_out_shape(facts, out_shape),
        inverse,
        make_data(often.reshape(target.array_shape), target, order),
        new,
    )


def search_sorted(
    x: Data[Any],
    values: Data[Any] | float,
    axis: Axis = "T",
    *,
    side: str = "left",
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Find where numbers would go along an ascending dim: how many come before each.

    Parameters
    ----------
    x
        Numbers that ascend along `axis`, NaN last. The order is not checked.
    values
        The numbers to look up. Dims other than `axis` that `x` shares are paired.
    axis
        The dim to search.
    side
        "left" counts the numbers below, "right" counts equal ones too.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The positions, int64 over the dims of the values, then the other dims of `x`. Their `sparse_dim` is
        `axis + 1`, because a number may go after the last position.

    Raises
    ------
    ValueError
        The side is unknown, or the lengths of another dim depend on `axis`.
    IndexError
        There is no such dim.
    LengthMismatchError
        A shared dim has different lengths in the two.

    Notes
    -----
    As RETURNN's `search_sorted`, which cannot search along a dim whose lengths differ.

    Examples
    --------
    >>> x = vl.Data(np.array([1, 3, 5, 2]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.search_sorted(x, 3).to_list(), vl.dims.search_sorted(x, 3, side="right").to_list()
    ([1, 1], [2, 1])
    """
    one_of(side, "side", ("left", "right"))
    k = place(x, axis)
    dim = x._shape.dims[k]
    layout, level, numbers = _rows_of_dim(x, k)
    backend = backend_of(numbers)
    if not is_data(values):
        scalar = as_numbers(as_array(values, "values"), "values")
        if scalar.ndim:
            raise one_number_error("values", scalar.shape, "a Data or one number")
        values = make_data(
            scalar if isinstance(numbers, np.ndarray) else backend.like(scalar, numbers), Shape([])
        )
    rows = Shape(layout.dims[:-1])
    target = values._shape.join(rows)
    if target.find(dim) >= 0:
        rest = describe([item for item in values.dims if item != dim])
        raise value_error(
            "values", f"'{dim.name}' of {describe(values.dims)} is the dim to search along; expected {rest}"
        )
    queries = repeat_over(values._values, values._shape, target).reshape(-1)
    if isinstance(numbers, np.ndarray):
        numbers, queries = (backend_of(item).readable(item) for item in (numbers, queries))
    sequences = spread(np.arange(rows.count(rows.rank)), rows, target)
    slots = backend.search(numbers, level, queries, sequences, side)
    dims = [*values.dims, *[item for item in x.dims if item != dim and values._shape.find(item) < 0]]
    result = make_data(slots.reshape(target.array_shape), target, order_of(target, dims))
    return check_out_shape(result._with_facts(sparse_dim=dim + 1), out_shape)


def _rows_of_dim(x: Data[Any], k: int) -> tuple[Shape, Level, Any]:
    """The shape, the level of a dim's sequences, and the numbers on one axis with that dim last."""
    dim = x._shape.dims[k]
    others = [item for j, item in enumerate(x._shape.dims) if j != k]
    inner = [item for item in others if dim in item.over]
    if inner:
        raise value_error(
            "axis", f"'{inner[0].name}' has lengths over '{dim.name}': its positions hold sequences"
        )
    layout = Shape([*others, dim])
    values = move(x, layout).reshape(-1)
    return layout, layout.span(layout.rank - 1, layout.rank), backend_of(values).contiguous(values)


def _ungrouped_places(x: Data[Any], axes: tuple[int], which: Any, level: Level, order: Any) -> Data[Any]:
    """Places in sequences as places along a dim, back where the numbers lay."""
    dim = x._shape.dims[axes[0]]
    if order is not None and any(dim in item.over for item in x._shape.dims):
        which = _taken_at(which, level, level, _head_places(x, dim)[order])
    return ungroup(x, which, axes, order)._with_facts(sparse_dim=dim)


def _head_places(x: Data[Any], dim: Dim) -> Any:
    """The place along a dim of each row of the ragged part."""
    shape = x._shape
    return places_along(dim, Shape(shape.dims[: max(shape.ragged, shape.find(dim) + 1)]))


def _taken_at(which: object, level: Level, out_level: Level, numbers: Values) -> Any:
    """The values at places in the sequences of a level, for fewer kept places."""
    backend = backend_of(which)
    indices = backend.readable(which)
    starts = level.offsets[:-1][out_level.row_ids].reshape(-1, *[1] * (indices.ndim - 1))
    result = numbers[starts + indices] if indices.size else indices
    return result if isinstance(which, np.ndarray) else backend.like(result, which)


def _in_order(x: Data[Any], axes: Sequence[int]) -> tuple[Data[Any], int]:
    """The same where several dims lie in the order that is asked for, and where the first is shown."""
    user_order = x._order or tuple(range(x._shape.rank))
    first = min(user_order.index(k) for k in axes)
    if tuple(axes) == tuple(sorted(axes)):
        return x, first
    slots = iter([x._shape.dims[k] for k in axes])
    dims = [next(slots) if k in axes else dim for k, dim in enumerate(x._shape.dims)]
    if Shape.arranged(dims) != tuple(range(len(dims))):
        return x, first
    target = Shape(dims)
    result = make_data(move(x, target), target, order_of(target, x.dims))
    result._facts = x._facts
    return result, first


def _best_dim(
    x: Data[Any],
    axis_dims: Sequence[Dim],
    head: Sequence[Dim],
    level: Level,
    out_level: Level,
    k: int | Dim,
    out_dim: Dim | None,
    limit: int,
) -> Dim:
    """The dim of the best: of one size where the dims are, else over what they are over."""
    name = k.name if isinstance(k, Dim) else "best"
    if any(outer_dim in axis_dims for dim in x._shape.dims if dim not in axis_dims for outer_dim in dim.over):
        return bound_to(out_dim, out_level, head, name)
    outer_dims = dims_over(axis_dims)
    lengths = np.minimum(lines(outer_dims, axis_dims)[1].lengths, limit)
    if out_dim is None and all(dim.is_static for dim in axis_dims):
        count = int(lengths[0])
        return k if isinstance(k, Dim) and count == limit else Dim(count, name=name)
    return bound_to(out_dim, Level.from_lengths(lengths), outer_dims, name)


def _numbers(x: Data[Any], axis_dims: Sequence[Dim], axes: Sequence[int]) -> list[Any] | None:
    """The place along each of some dims of each row that `grouped` gives; None where numbers show it."""
    shape = x._shape
    is_moved = tuple(axes) != tuple(sorted(axes))
    is_ragged = len(axis_dims) > 1 and any(dim.over for dim in axis_dims)
    is_cut = any(dim in item.over for dim in axis_dims for item in shape.dims if item not in axis_dims)
    if not (is_moved or is_ragged or is_cut):
        return None
    places = sorted(axes)
    head = Shape([*shape.dims[: shape.ragged], *[shape.dims[k] for k in places if k >= shape.ragged]])
    head_axes = [head.find(shape.dims[k]) for k in places]
    coords = [make_data(places_along(dim, head).reshape(head.array_shape), head) for dim in axis_dims]
    return [group_dims(item, head_axes)[0].reshape(-1) for item in coords]


def _coordinates(x: Data[Any], axis_dims: Sequence[Dim], which: Any) -> list[Any]:
    """Places among the positions of dims that lie one inside the other, as places along each."""
    coords = []
    for dim in reversed(axis_dims[1:]):
        size = max(x._shape.extent(x._shape.find(dim)), 1)
        coords.append(which % size)
        which = which // size
    return [which, *reversed(coords)]
