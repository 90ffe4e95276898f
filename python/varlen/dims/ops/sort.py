"""Numbers in order along dims: sorted, their places, the best, the distinct, and where others would go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_int, one_of
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
        The dim along which they are sorted; all else stays where it is.
    descending
        The largest first.
    out_shape
        The expected dims.

    Returns
    -------
    values : Data
        Over the same dims. NaN comes last, ascending and descending; equal numbers keep their order.
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
    As RETURNN's `sort`, which has no way for a dim whose lengths differ.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> values, places = vl.dims.sort(x, descending=True)
    >>> values.to_list(), places.to_list()
    ([[4, 3, 1], [5]], [[2, 0, 1], [0]])
    """
    asked = (place(x, axis),)
    values, level, order, _ = group_dims(x, asked)
    best, which, _ = backend_of(values).sort(values, level, descending, None, True, True)
    result = ungroup(x, best, asked, order)._with_facts(sparse_dim=x.sparse_dim)
    return check_out_shape(result, out_shape), _ungrouped_places(x, asked, which, level, order)


def argsort(
    x: Data[Any], axis: Axis = "T", *, descending: bool = False, out_shape: OutShape | None = None
) -> Data[Any]:
    """The positions that sort the numbers along a dim.

    Parameters
    ----------
    x, axis, descending, out_shape
        As those of `sort`.

    Returns
    -------
    Data
        The places that `sort` gives.

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
    asked = (place(x, axis),)
    values, level, order, _ = group_dims(x, asked)
    which = backend_of(values).sort(values, level, descending, None, False, True)[1]
    return check_out_shape(_ungrouped_places(x, asked, which, level, order), out_shape)


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
        The dims that go: one or several, as beam and vocabulary.
    k
        How many, 1 or more: an int, or a Dim of such a size, which the result has then where every row has as
        many.
    out_dim
        The dim of the result; one without lengths is bound. If nothing is said, `k` or a new dim.
    out_shape
        The expected dims.

    Returns
    -------
    values : Data
        With one dim in the place of the first of `axis`. NaN is chosen last, of equal numbers the first in
        row-major order of the dims of `axis`.
    places : list of Data
        For each dim of `axis`, in their order, int64 over the same dims, with it as `sparse_dim`.
    dim : Dim
        The new dim: of one size where all dims of `axis` are. Else it has lengths: a row of fewer positions
        than k has them all, and there are no others.

    Raises
    ------
    ValueError
        A k below 1; no axis.
    IndexError
        There is no such dim.
    LengthMismatchError
        The lengths that `out_dim` has are not those.

    Notes
    -----
    As RETURNN's `top_k`, which fills rows that are too short with the least number.

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
    asked = places(x, axis)
    if not asked:
        raise value_error("axis", "expected one dim or more, got none")
    if isinstance(k, Dim) and k.size is None:
        raise value_error("k", f"'{k.name}' has no fixed size")
    most = as_int(k.size if isinstance(k, Dim) else k, "k", 1)
    named = [x._shape.dims[i] for i in asked]
    x, first = _in_order(x, asked)
    gone = tuple([x._shape.find(dim) for dim in named])
    values, level, _, rest = group_dims(x, sorted(gone))
    numbers = _numbers(x, named, gone)
    backend = backend_of(values)
    if numbers is not None and gone != tuple(sorted(gone)):
        rows = np.lexsort([*reversed(numbers), level.row_ids])
        values, numbers = backend.take_rows(values, rows), [each[rows] for each in numbers]
    best, which, kept = backend.sort(values, level, True, most, True, True)
    tail = tuple(values.shape[1:])
    head = rest.rank - len(tail)
    new = _best_dim(x, named, rest.dims[:head], level, kept, k, out_dim, most)
    target = Shape([*rest.dims[:head], new, *rest.dims[head:]])
    left = [x._shape.dims[i] for i in x._order or range(x._shape.rank) if i not in gone]
    user = [rest.dims[rest.find(dim)] for dim in left]
    user.insert(first, new)

    def over_best(rows: Any) -> Data[Any]:
        return make_data(rows.reshape(target.array_shape), target, order_of(target, user))

    at = (
        _coordinates(x, named, which)
        if numbers is None
        else [_taken_at(which, level, kept, each) for each in numbers]
    )
    found = [over_best(rows)._with_facts(sparse_dim=dim) for rows, dim in zip(at, named, strict=True)]
    return check_out_shape(with_facts(over_best(best), x), out_shape), found, new


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
        The dim along which numbers are compared.
    out_dim
        The dim of the distinct numbers; one without lengths is bound. A new one if nothing is said.
    out_shape
        The dims that are expected of the values.

    Returns
    -------
    values : Data
        With the new dim in the place of `axis`. All NaN are one, which comes last. No gradient goes back from
        these; `gather` of the places of `argsort` has one.
    inverse : Data
        int64 over the dims of `x`, with the new dim as `sparse_dim`: `gather(values, inverse)` is `x`.
    counts : Data
        int64 over the dims of the values.
    dim : Dim
        The new dim, which is over all other dims of `x`.

    Raises
    ------
    ValueError
        Another dim is over `axis`.
    IndexError
        There is no such dim.
    LengthMismatchError
        The lengths that `out_dim` has are not those.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 3, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> values, inverse, counts, dim = vl.dims.unique(x)
    >>> values.to_list(), inverse.to_list(), counts.to_list(), dim.lengths
    ([[1, 3], [5]], [[1, 0, 1], [0]], [[1, 2], [1]], array([2, 1]))
    """
    k = place(x, axis)
    dim = x._shape.dims[k]
    lying, level, values = _rows_of_dim(x, k)
    distinct, which, often, kept = backend_of(values).unique(values, level, True, True)
    others = list(lying.dims[:-1])
    new = bound_to(out_dim, kept, others, "distinct")
    target = Shape([*others, new])
    order = order_of(target, [new if each == dim else each for each in x.dims])
    facts = with_facts(make_data(distinct.reshape(target.array_shape), target, order), x)
    inverse = make_data(which.reshape(lying.array_shape), lying, order_of(lying, x.dims))._with_facts(
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
        Numbers that ascend along `axis`, NaN last; that is not checked.
    values
        The numbers that are looked up. Dims that `x` has too, but for `axis`, are paired.
    axis
        The dim that is gone through.
    side
        "left" before equal numbers, "right" behind them.
    out_shape
        The expected dims.

    Returns
    -------
    Data
        int64 over the dims of the values, and behind them the others of `x`, with `axis + 1` as `sparse_dim`:
        behind the last position is a place too.

    Raises
    ------
    ValueError
        Another side; a dim that is over `axis`.
    IndexError
        There is no such dim.
    LengthMismatchError
        A dim that both have has other lengths in one than in the other.

    Notes
    -----
    As RETURNN's `search_sorted`, which has no way for a dim whose lengths differ.

    Examples
    --------
    >>> x = vl.Data(np.array([1, 3, 5, 2]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.search_sorted(x, 3).to_list(), vl.dims.search_sorted(x, 3, side="right").to_list()
    ([1, 1], [2, 1])
    """
    one_of(side, "side", ("left", "right"))
    k = place(x, axis)
    dim = x._shape.dims[k]
    lying, level, numbers = _rows_of_dim(x, k)
    backend = backend_of(numbers)
    if not is_data(values):
        given = as_numbers(np.asarray(values), "values")
        values = make_data(
            given if isinstance(numbers, np.ndarray) else backend.like(given, numbers), Shape([])
        )
    rows = Shape(lying.dims[:-1])
    whole = values._shape.join(rows)
    if whole.find(dim) >= 0:
        rest = describe([each for each in values.dims if each != dim])
        raise value_error(
            "values", f"'{dim.name}' of {describe(values.dims)} is the dim to search along; expected {rest}"
        )
    asked = repeat_over(values._values, values._shape, whole).reshape(-1)
    if isinstance(numbers, np.ndarray):
        numbers, asked = (backend_of(each).readable(each) for each in (numbers, asked))
    sequences = spread(np.arange(rows.count(rows.rank)), rows, whole)
    found = backend.search(numbers, level, asked, sequences, side)
    dims = [*values.dims, *[each for each in x.dims if each != dim and values._shape.find(each) < 0]]
    result = make_data(found.reshape(whole.array_shape), whole, order_of(whole, dims))
    return check_out_shape(result._with_facts(sparse_dim=dim + 1), out_shape)


def _rows_of_dim(x: Data[Any], k: int) -> tuple[Shape, Level, Any]:
    """Numbers on one axis where a dim is the last one: the shape, the level of its sequences, and they."""
    dim = x._shape.dims[k]
    others = [each for j, each in enumerate(x._shape.dims) if j != k]
    inner = [each for each in others if dim in each.over]
    if inner:
        raise value_error(
            "axis", f"'{inner[0].name}' has lengths over '{dim.name}': its positions hold sequences"
        )
    lying = Shape([*others, dim])
    values = move(x, lying).reshape(-1)
    return lying, lying.span(lying.rank - 1, lying.rank), backend_of(values).contiguous(values)


def _ungrouped_places(x: Data[Any], asked: tuple[int], which: Any, level: Level, order: Any) -> Data[Any]:
    """Places in sequences as places along a dim, back where the numbers lay."""
    dim = x._shape.dims[asked[0]]
    if order is not None and any(dim in each.over for each in x._shape.dims):
        which = _taken_at(which, level, level, _head_places(x, dim)[order])
    return ungroup(x, which, asked, order)._with_facts(sparse_dim=dim)


def _head_places(x: Data[Any], dim: Dim) -> Any:
    """The place along a dim of each row of the ragged part."""
    shape = x._shape
    return places_along(dim, Shape(shape.dims[: max(shape.ragged, shape.find(dim) + 1)]))


def _taken_at(which: Any, level: Level, kept: Level, numbers: Any) -> Any:
    """What stands at places in the sequences of a level, where those that are kept are fewer."""
    backend = backend_of(which)
    at = backend.readable(which)
    starts = level.offsets[:-1][kept.row_ids].reshape(-1, *[1] * (at.ndim - 1))
    found = numbers[starts + at] if at.size else at
    return found if isinstance(which, np.ndarray) else backend.like(found, which)


def _in_order(x: Data[Any], asked: Sequence[int]) -> tuple[Data[Any], int]:
    """The same where several dims lie in the order that is asked for, and where the first is shown."""
    shown = x._order or tuple(range(x._shape.rank))
    at = min(shown.index(k) for k in asked)
    if tuple(asked) == tuple(sorted(asked)):
        return x, at
    slots = iter([x._shape.dims[k] for k in asked])
    dims = [next(slots) if k in asked else dim for k, dim in enumerate(x._shape.dims)]
    if Shape.arranged(dims) != tuple(range(len(dims))):
        return x, at
    target = Shape(dims)
    result = make_data(move(x, target), target, order_of(target, x.dims))
    result._facts = x._facts
    return result, at


def _best_dim(
    x: Data[Any],
    named: Sequence[Dim],
    head: Sequence[Dim],
    level: Level,
    kept: Level,
    k: int | Dim,
    out_dim: Dim | None,
    most: int,
) -> Dim:
    """The dim of the best: of one size where the dims are, else over what they are over."""
    name = k.name if isinstance(k, Dim) else "best"
    if any(over in named for dim in x._shape.dims if dim not in named for over in dim.over):
        return bound_to(out_dim, kept, head, name)
    over = dims_over(named)
    lengths = np.minimum(lines(over, named)[1].lengths, most)
    if out_dim is None and all(dim.is_static for dim in named):
        count = int(lengths[0])
        return k if isinstance(k, Dim) and count == most else Dim(count, name=name)
    return bound_to(out_dim, Level.from_lengths(lengths), over, name)


def _numbers(x: Data[Any], named: Sequence[Dim], gone: Sequence[int]) -> list[Any] | None:
    """The place along each of some dims of each row that `grouped` gives; None where numbers show it."""
    shape = x._shape
    is_moved = tuple(gone) != tuple(sorted(gone))
    is_ragged = len(named) > 1 and any(dim.over for dim in named)
    is_cut = any(dim in each.over for dim in named for each in shape.dims if each not in named)
    if not (is_moved or is_ragged or is_cut):
        return None
    places = sorted(gone)
    head = Shape([*shape.dims[: shape.ragged], *[shape.dims[k] for k in places if k >= shape.ragged]])
    there = [head.find(shape.dims[k]) for k in places]
    lying = [make_data(places_along(dim, head).reshape(head.array_shape), head) for dim in named]
    return [group_dims(each, there)[0].reshape(-1) for each in lying]


def _coordinates(x: Data[Any], named: Sequence[Dim], which: Any) -> list[Any]:
    """Places among the positions of dims that lie one inside the other, as places along each."""
    found = []
    for dim in reversed(named[1:]):
        size = max(x._shape.extent(x._shape.find(dim)), 1)
        found.append(which % size)
        which = which // size
    return [which, *reversed(found)]
