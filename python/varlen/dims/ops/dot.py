"""Sums of products over any dims."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import is_listed
from varlen.backends import backend_of
from varlen.dims.axes import describe, place, place_into
from varlen.dims.base import NO_FACTS, check_data, make_data
from varlen.dims.ops.combine import agree, combine
from varlen.dims.ops.reduce import reduce as reduce_dims
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import order_of
from varlen.errors import index_error, type_error, value_error
from varlen.ops.contraction import Step, contract, steps_of

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_FIRST = _LETTERS[-1]  # of rows as they lie, or of sequences


def dot(
    a: Data[Any], b: Data[Any], reduce: Axis | Sequence[Axis], *, out_shape: OutShape | None = None
) -> Data[Any]:
    """Sum products over some dims: matrix products, sequence by sequence, without padding.

    Parameters
    ----------
    a, b
        Numbers.
    reduce
        The dims to sum over, with a fixed size or with lengths. A dim that only one operand has is summed
        there. If an operand has a dim twice, the one of greater `match_priority` is summed.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The products, over the dims that both have, then those of `a` alone, then those of `b` alone.

    Raises
    ------
    IndexError
        Neither operand has the dim.
    LengthMismatchError
        A dim has different lengths in the two operands.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `matmul`, which cannot sum over a dim whose lengths differ.

    Examples
    --------
    Attention between two dims of any lengths:

    >>> time, source = vl.Dim("time", lengths=[2, 1]), vl.Dim("source", lengths=[1, 2])
    >>> batch, model = vl.dims.batch_dim, vl.Dim("model", 2)
    >>> q = vl.Data(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [batch, time, model])
    >>> k = vl.Data(np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 5.0]]), [batch, source, model])
    >>> energies = vl.dims.dot(q, k, model)
    >>> energies, energies.to_list()
    (Data([batch(2), time(1 to 2), source(1 to 2)], float64), [[[1.0], [2.0]], [[3.0, 5.0]]])
    >>> vl.dims.dot(vl.dims.softmax(energies, source), k, source).values.round(2)
    array([[1.  , 2.  ],
           [1.  , 2.  ],
           [0.36, 4.4 ]])
    """
    for x, name in ((a, "a"), (b, "b")):
        check_data(x, name)
    if not isinstance(reduce, Dim) and not is_listed(reduce):
        raise type_error("reduce", f"expected a Dim, its name, or several, got {reduce!r}")
    pairs = tuple(
        [_find_axes(a, b, axis) for axis in ([reduce] if isinstance(reduce, (Dim, str)) else reduce)]
    )
    if len(set(pairs)) < len(pairs):
        raise value_error("reduce", "a dim is given twice")
    plan = _plan(a._shape, b._shape, a._order, b._order, pairs, Shape.epoch())
    if plan.way is None:
        product = combine("*", a, b, broadcast=True)
        total = reduce_dims(product, "sum", plan.sums)
        return check_out_shape(total.transpose(plan.result_dims), out_shape)
    way = plan.way
    values = [_lay_out(x._values, how) for x, how in zip((a, b), way.layouts, strict=True)]
    backend = backend_of(*values)
    like = next((x for x in values if not isinstance(x, np.ndarray)), None)
    if like is not None:
        values = [backend.like(x, like) if isinstance(x, np.ndarray) else x for x in values]
    sums = contract(backend, way.steps, values, way.levels, way.extents)
    result = make_data(sums.reshape(way.shape.array_shape), way.shape, order_of(way.shape, plan.result_dims))
    if a._facts is not NO_FACTS or b._facts is not NO_FACTS:
        facts = agree(a._facts, b._facts)
        result._facts = facts._replace(sparse_dim=None, time_dim=None, feature_dim=None)
    return check_out_shape(result, out_shape)


def _find_axes(a: Data[Any], b: Data[Any], axis: Axis) -> tuple[int, int]:
    """Where a dim that is summed is in each operand, -1 where it is not."""
    i, j = (place_into(x, axis) if isinstance(axis, Dim) else _place_of_words(x, axis) for x in (a, b))
    if i < 0 and j < 0:
        name = axis.name if isinstance(axis, Dim) else axis
        raise index_error("reduce", f"{name!r} is neither in {describe(a.dims)} nor in {describe(b.dims)}")
    if i >= 0 and j >= 0 and a._shape.dims[i] != b._shape.dims[j]:
        names = f"'{a._shape.dims[i].name}' in one and '{b._shape.dims[j].name}' in the other"
        raise value_error("reduce", f"{axis!r} is {names}")
    return i, j


def _place_of_words(x: Data[Any], words: str) -> int:
    try:
        return place(x, words, "reduce")
    except IndexError as error:
        if type(error) is not IndexError:
            raise
        return -1


class _Layout(NamedTuple):
    """How values become an operand: axes in another order, another shape; either may be None."""

    axes: tuple[int, ...] | None
    shape: tuple[int, ...] | None


def _lay_out(values: Values, how: _Layout) -> Any:
    if how.axes is not None:
        values = backend_of(values).transpose(values, how.axes)
    values = backend_of(values).contiguous(values)
    return values if how.shape is None else values.reshape(how.shape)


class _Route(NamedTuple):
    """Products of matrices, and what comes out."""

    layouts: tuple[_Layout, _Layout]
    steps: tuple[Step, ...]
    levels: dict[str, Level]
    extents: dict[str, int]
    shape: Shape


class _Plan(NamedTuple):
    result_dims: list[Dim]  # of both, of a, of b
    sums: list[Dim]
    way: _Route | None  # None: products are made one by one, and summed


@lru_cache(maxsize=256)
def _plan(
    a: Shape,
    b: Shape,
    order_a: tuple[int, ...] | None,
    order_b: tuple[int, ...] | None,
    pairs: tuple[tuple[int, int], ...],
    epoch: int,
) -> _Plan:
    pairing = _pair_dims(a, b, order_a, order_b, pairs)
    return _Plan(
        [dim for dim, _ in pairing.result_dims],
        [a.dims[i] if i >= 0 else b.dims[j] for i, j in pairs],
        _flat_product(pairing) or _by_sequence(pairing),
    )


@dataclass
class _Pairing:
    """Which dims of two operands are one: those have one letter."""

    shapes: tuple[Shape, Shape]
    letters: tuple[list[str], list[str]]
    sums: str  # the letters that are summed
    result_dims: list[tuple[Dim, str]]


def _pair_dims(
    a: Shape,
    b: Shape,
    order_a: tuple[int, ...] | None,
    order_b: tuple[int, ...] | None,
    pairs: tuple[tuple[int, int], ...],
) -> _Pairing:
    partner = {j: i for i, j in pairs if i >= 0 and j >= 0}
    gone_b = {j for _, j in pairs if j >= 0}
    free = [i for i in range(a.rank) if i not in {i for i, _ in pairs}]
    for j, dim in enumerate(b.dims):
        if j not in gone_b:
            i = next((i for i in free if a.dims[i] == dim), None)
            if i is not None:
                partner[j] = i
                free.remove(i)
    if len(set(a.dims)) == a.rank and len(set(b.dims)) == b.rank:
        a.join(b)  # it compares the lengths of what both have
    letters_a = list(_LETTERS[: a.rank])
    letters_b = [letters_a[partner[j]] if j in partner else _LETTERS[a.rank + j] for j in range(b.rank)]
    sum_letters = [letters_a[i] if i >= 0 else letters_b[j] for i, j in pairs]
    stay_a = [i for i in order_a or range(a.rank) if letters_a[i] not in sum_letters]
    rest = [(a.dims[i], letters_a[i]) for i in stay_a if letters_a[i] in letters_b]
    rest += [(a.dims[i], letters_a[i]) for i in stay_a if letters_a[i] not in letters_b]
    rest += [
        (b.dims[j], letters_b[j]) for j in order_b or range(b.rank) if j not in partner and j not in gone_b
    ]
    return _Pairing((a, b), (letters_a, letters_b), "".join(sum_letters), rest)


def _flat_product(pairing: _Pairing) -> _Route | None:
    """Rows as they lie are one axis, where lengths make no difference.

    Both operands have the same ones, all of which stay or all of which go; or one has them, and they stay.
    """
    a, b = pairing.shapes
    row_letters = [letters[: x.ragged] for x, letters in zip(pairing.shapes, pairing.letters, strict=True)]
    rows = row_letters[0] or row_letters[1]
    if row_letters[0] and row_letters[1]:
        is_same = row_letters[0] == row_letters[1] and Shape(a.dims[: a.ragged]) is Shape(b.dims[: b.ragged])
        n_sums = sum(letter in pairing.sums for letter in rows)
        if not is_same or n_sums not in (0, len(rows)):
            return None
    elif any(
        letter in pairing.sums or letter in pairing.letters[1 if row_letters[0] else 0] for letter in rows
    ):
        return None
    owner = a if row_letters[0] else b
    head = list(owner.dims[: owner.ragged]) if rows and rows[0] not in pairing.sums else []
    rest = [(dim, letter) for dim, letter in pairing.result_dims if letter not in rows]
    terms = tuple(
        [
            (_FIRST if x.ragged else "") + "".join(letters[x.ragged :])
            for x, letters in zip(pairing.shapes, pairing.letters, strict=True)
        ]
    )
    out = (_FIRST if head else "") + "".join([letter for _, letter in rest])
    extents = _extents(pairing)
    if rows:
        extents[_FIRST] = owner.count(owner.ragged)
    as_they_lie = _Layout(None, None)
    shape = Shape([*head, *[dim for dim, _ in rest]])
    return _Route((as_they_lie, as_they_lie), steps_of(terms, out, ""), {}, extents, shape)


def _extents(pairing: _Pairing) -> dict[str, int]:
    return {
        letter: x.extent(k)
        for x, letters in zip(pairing.shapes, pairing.letters, strict=True)
        for k, letter in enumerate(letters)
        if not x.is_ragged(k)
    }


def _by_sequence(pairing: _Pairing) -> _Route | None:
    """Sequences one after the other, where all lengths are over the same dims, which come first."""
    levels: dict[str, Level] = {}
    outer_dims: tuple[Dim, ...] = ()
    for x, letters in zip(pairing.shapes, pairing.letters, strict=True):
        for k, dim in enumerate(x.dims):
            if x.is_ragged(k):
                if (outer_dims and outer_dims != dim.over) or dim.level is None:
                    return None
                outer_dims = dim.over
                levels[letters[k]] = dim.level
    layouts, terms = [], []
    for x, letters in zip(pairing.shapes, pairing.letters, strict=True):
        if any(letter in levels and not x.is_ragged(k) for k, letter in enumerate(letters)):
            return None  # one extent for all lengths
        operand = _with_sequences(x, letters, outer_dims)
        if operand is None:
            return None
        layouts.append(operand[0])
        terms.append(operand[1])
    head = [dim for dim, _ in pairing.result_dims if dim in outer_dims]
    if head and head != list(outer_dims):
        return None
    rest = [(dim, letter) for dim, letter in pairing.result_dims if dim not in outer_dims]
    if not head and any(letter in levels for _, letter in rest):
        return None  # lengths over what goes
    extents = {letter: n for letter, n in _extents(pairing).items() if letter not in levels}
    extents[_FIRST] = len(next(iter(levels.values())))
    out = (_FIRST if head else "") + "".join([letter for _, letter in rest])
    shape = Shape([*head, *[dim for dim, _ in rest]])
    row_letters = _FIRST + "".join(levels)
    return _Route((layouts[0], layouts[1]), steps_of(tuple(terms), out, row_letters), levels, extents, shape)


def _with_sequences(x: Shape, letters: list[str], outer_dims: tuple[Dim, ...]) -> tuple[_Layout, str] | None:
    """How an operand is laid whose first axis counts sequences, and its term; None where it can't be."""
    n = len(outer_dims)
    places = [x.find(dim) for dim in outer_dims]
    if all(k < 0 for k in places):
        return None if x.ragged else (_Layout(None, None), "".join(letters))
    tail = [k for k in range(x.rank) if k not in places]
    term = _FIRST + "".join([letters[k] for k in tail])
    if x.ragged:
        return (_Layout(None, None), term) if places == list(range(n)) else None
    if -1 in places:
        return None
    sizes = [x.extent(k) for k in tail]
    axes = (*places, *tail)
    order = None if axes == tuple(range(x.rank)) else axes
    return _Layout(order, (prod(x.extent(k) for k in places), *sizes)), term
