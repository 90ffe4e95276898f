"""Concatenate, split and stack Data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_bool, as_list, is_listed
from varlen.backends import backend_of
from varlen.dims.axes import describe, place, quote_names
from varlen.dims.base import NO_FACTS, check_data, is_data, make_data
from varlen.dims.errors import LengthMismatchError, names_itself
from varlen.dims.ops.amounts import as_amount, check_lengths, expand_amounts, result_dim
from varlen.dims.ops.combine import agree, expand_dim, unify_kind
from varlen.dims.ops.slice import cut
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import bound_anew, lengths_of, move, order_of, reshape, rows_shape, target_of
from varlen.dims.plan_cache import cached_plan
from varlen.errors import error_of, instance_error, naming, type_error, value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def concat(
    *parts: tuple[Data[Any], Axis],
    out_dim: Dim | None = None,
    broadcast: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Concatenate along a dim of each, row by row.

    Parameters
    ----------
    *parts
        Pairs of a Data and one of its dims. The other dims are the same in all, in any order.
    out_dim
        The Dim of the result; without lengths, it receives them. By default the sum of the dims: p + q.
    broadcast
        If True, a part is repeated over dims that it lacks.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The parts joined: the dims of the first part, with `out_dim` in place of the one to join along.
        Different dtypes are promoted, as NumPy or torch does.

    Raises
    ------
    ValueError
        The parts differ in their other dims.
    LengthMismatchError
        Another dim has different lengths in two parts; or the parts bind one dim to different lengths, and
        `out_dim` is missing.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `concat`.

    Examples
    --------
    >>> time, labels = vl.Dim("time", lengths=[2, 1]), vl.Dim("labels", lengths=[1, 2])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y = vl.Data(np.array([7, 8, 9]), [vl.dims.batch_dim, labels])
    >>> z = vl.dims.concat((x, time), (y, labels))
    >>> z, z.to_list(), z.axis(time + labels).lengths
    (Data([batch(2), time+labels(3)], int64), [[3, 1, 7], [4, 8, 9]], array([3, 3]))
    """
    operands, axes = _parts_of(parts, as_bool(broadcast, "broadcast"))
    return check_out_shape(_concat(operands, axes, out_dim, "concat"), out_shape)


def _parts_of(parts: Sequence[Any], broadcast: bool) -> tuple[list[Data[Any]], list[int]]:
    if not parts:
        raise value_error("parts", "expected at least one part, got none")
    for i, part in enumerate(parts):
        if not (isinstance(part, tuple) and len(part) == 2 and is_data(part[0])):
            raise type_error(f"parts[{i}]", f"expected a pair of a Data and a dim of it, got {part!r}", row=i)
    operands = [part[0] for part in parts]
    dims = [x._shape.dims[place(x, axis, f"parts[{i}]")] for i, (x, axis) in enumerate(parts)]
    if broadcast:
        for i, x in enumerate(operands):
            for other, own in zip(operands, dims, strict=True):
                for dim in other._shape.dims:
                    if dim != own and x._shape.find(dim) < 0:
                        x = expand_dim(x, dim)
            operands[i] = x
    return operands, [x._shape.find(dim) for x, dim in zip(operands, dims, strict=True)]


def _concat(operands: list[Data[Any]], axes: list[int], out_dim: Dim | None, op: str) -> Data[Any]:
    is_known = out_dim is None or type(out_dim) is Dim
    find = _cached_plan if is_known else _plan_of
    plan = find(tuple([x._shape for x in operands]), operands[0]._order, tuple(axes), out_dim, op)
    if plan is None:
        operands, k = _in_one_order(operands, axes)
        plan = find(
            tuple([x._shape for x in operands]), operands[0]._order, (k,) * len(operands), out_dim, op
        )
        assert plan is not None
    values = unify_kind([x._values for x in operands])
    backend = backend_of(*values)
    if plan.axis is not None:
        result = backend.concat([backend.contiguous(x) for x in values], plan.axis, op)
    else:
        rows = [backend.contiguous(reshape(x, y)) for x, y in zip(values, plan.rows, strict=True)]
        result, _ = backend.interleave(rows, plan.levels, op)
    shape, order = plan.target
    facts = operands[0]._facts
    for x in operands[1:]:
        facts = agree(facts, x._facts)
    if facts is not NO_FACTS:
        dims = [x._shape.dims[plan.k] for x in operands]
        new = [plan.dim if role in dims else role for role in (facts.time_dim, facts.feature_dim)]
        facts = facts._replace(name=None, time_dim=new[0], feature_dim=new[1])
    return make_data(reshape(result, shape.array_shape), shape, order, facts)


class _Plan(NamedTuple):
    """How parts whose dims are in one order are joined along their dims k."""

    k: int
    dim: Dim
    target: tuple[Shape, tuple[int, ...] | None]
    axis: int | None
    rows: list[tuple[int, ...]]  # the shapes of parts that are joined row by row
    levels: list[Level]


def _plan_of(
    shapes: tuple[Shape, ...],
    order: tuple[int, ...] | None,
    axes: tuple[int, ...],
    out_dim: Dim | None,
    op: str,
) -> _Plan | None:
    first, k = shapes[0], axes[0]
    if not all(_is_laid_alike(shape, first, own, k) for shape, own in zip(shapes, axes, strict=True)):
        return None
    dim = _sum([shape.dims[k] for shape in shapes], out_dim)
    _check_rest(shapes, k, op)
    n_ragged = max(shape.ragged for shape in shapes)
    axis, tails, levels = None, [], []
    if k >= n_ragged and all(shape.ragged == n_ragged for shape in shapes):
        axis = k - n_ragged + 1 if n_ragged else k
        check_lengths(op, dim, first.dims[:k], [sum(shape.extent(k) for shape in shapes)])
    else:
        rows = max(n_ragged, k + 1)
        levels = [shape.span(k, rows) for shape in shapes]
        tails = [rows_shape(shape, rows) for shape in shapes]
        lengths = np.sum([shape.span(k, k + 1).lengths for shape in shapes], axis=0)
        check_lengths(op, dim, first.dims[:k], lengths)
    target = target_of(first, order, k, [dim], _dims_behind(shapes, k, dim))
    return _Plan(k, dim, target, axis, tails, levels)


_cached_plan = cached_plan(_plan_of)


def _dims_behind(shapes: Sequence[Shape], k: int, dim: Dim) -> list[Dim]:
    """The dims behind the one that is joined along; those over it have the lengths of all parts."""
    tail = list(shapes[0].dims[k + 1 :])
    axis_dims = [shape.dims[k] for shape in shapes]

    def join(*parts: Dim) -> Dim:
        lengths = [
            _expand_lengths(lengths_of(inner), outer) for inner, outer in zip(parts, axis_dims, strict=True)
        ]
        axes = [x._shape.find(outer) for x, outer in zip(lengths, axis_dims, strict=True)]
        result = _concat(lengths, axes, dim, "concat")
        return parts[0]._bound(result._values.reshape(-1), result._shape.dims)

    for j in range(k + 1, shapes[0].rank):
        inner_dims = [shape.dims[j] for shape in shapes]
        if any(outer in inner.over for inner, outer in zip(inner_dims, axis_dims, strict=True)):
            tail[j - k - 1] = bound_anew(join, axis_dims, *inner_dims)
    return tail


def _expand_lengths(lengths: Data[Any], dim: Dim) -> Data[Any]:
    return lengths if lengths._shape.find(dim) >= 0 else expand_dim(lengths, dim)


def _sum(dims: Sequence[Dim], out_dim: Dim | None) -> Dim:
    if out_dim is not None:
        return result_dim(dims[0], out_dim, [lengths_of(dim) for dim in dims])
    total = dims[0]
    for dim in dims[1:]:
        total = total + dim
    return total


def _in_one_order(operands: list[Data[Any]], axes: list[int]) -> tuple[list[Data[Any]], int]:
    """The parts with the dims of all in one order, and where the dim is along which they are joined."""
    if all(
        _is_laid_alike(x._shape, operands[0]._shape, k, axes[0]) for x, k in zip(operands, axes, strict=True)
    ):
        return operands, axes[0]
    rests = [
        [dim for j, dim in enumerate(x._shape.dims) if j != k] for x, k in zip(operands, axes, strict=True)
    ]
    for i, rest in enumerate(rests):
        if len(rest) != len(rests[0]) or any(dim not in rests[0] for dim in rest):
            texts = describe(operands[0].dims), describe(operands[i].dims)
            raise value_error(
                "",
                f"part {i} has the dims {texts[1]}, the first {texts[0]}; apart from the dim along which "
                "parts are joined, expected the same",
                "pass broadcast=True to repeat parts over the dims that they lack",
                context="concat",
            )
    orders = [(rest, k) for rest, k in zip(rests, axes, strict=True)]
    outer = [
        dim
        for dim in rests[0]
        if not any(_is_inside(dim, x._shape, k) for x, k in zip(operands, axes, strict=True))
    ]
    inner = [dim for dim in rests[0] if dim not in outer]
    orders.append(([*outer, *inner], len(outer)))
    for rest, k in orders:
        lined_up = []
        for x, own in zip(operands, axes, strict=True):
            dims = [x._shape.dims[x._shape.find(dim)] for dim in rest]
            dims.insert(k, x._shape.dims[own])
            if Shape.arranged(dims) != tuple(range(len(dims))):
                break
            lined_up.append(dims)
        if len(lined_up) == len(operands):
            return [_lay_out(x, dims) for x, dims in zip(operands, lined_up, strict=True)], k
    raise value_error(
        "",
        f"{' and '.join(describe(x.dims) for x in operands)} nest in no common order",
        context="concat",
    )


def _is_laid_alike(a: Shape, b: Shape, k: int, other_k: int) -> bool:
    """Whether the dims of two shapes, but for the one that is joined along, are in one order."""
    if a is b:
        return True
    dims, others = a.dims, b.dims
    return (
        k == other_k
        and len(dims) == len(others)
        and dims[:k] == others[:k]
        and dims[k + 1 :] == others[k + 1 :]
    )


def _is_inside(dim: Dim, shape: Shape, k: int) -> bool:
    """Whether a dim is over the dim k, or over one that is."""
    own = shape.dims[shape.find(dim)]
    return any(outer_dim == shape.dims[k] or _is_inside(outer_dim, shape, k) for outer_dim in own.over)


def _lay_out(x: Data[Any], dims: list[Dim]) -> Data[Any]:
    target = Shape(dims)
    if target is x._shape:
        return x
    result = x._like(move(x, target))
    result._shape, result._order = target, order_of(target, x.dims)
    return result


def _check_rest(shapes: Sequence[Shape], k: int, op: str) -> None:
    """Refuse dims that have other lengths in one part than in the first; those over the dim k may."""
    first = shapes[0]
    for i, shape in enumerate(shapes[1:], 1):
        for j, dim in enumerate(shape.dims):
            is_inside = first.dims[k] in first.dims[j].over or shape.dims[k] in dim.over
            if j == k or is_inside or dim.level is first.dims[j].level:
                continue
            a: Any = first.dims[j].level
            b: Any = dim.level
            if a == b:
                continue
            if len(a) != len(b):
                text = f"has {len(b)} rows in part {i} and {len(a)} in the first"
            else:
                row = int((a.lengths != b.lengths).argmax())
                text = f"is {b.lengths[row]} long in row {row} of part {i}, and {a.lengths[row]} in the first"
            raise error_of(LengthMismatchError, "", f"'{dim.name}' {text}", context=op)


@names_itself
def split(
    x: Data[Any],
    axis: Axis,
    dims: Sequence[Dim],
    *,
    out_shapes: Sequence[OutShape] | None = None,
) -> list[Data[Any]]:
    """Split a dim into consecutive pieces: the inverse of `concat`.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim to split.
    dims
        A Dim for each piece. Their lengths add up to those of `axis` in each row. One may lack lengths and
        receives the rest.
    out_shapes
        For each piece, the dims that it must have; None skips the check.

    Returns
    -------
    list of Data
        One piece for each of `dims`, which replaces `axis` in it. Pieces of an array axis are views.

    Raises
    ------
    LengthMismatchError
        The lengths do not add up; the message names the row and the numbers.
    ValueError
        More than one of `dims` has no lengths.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `split`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 7, 4, 8]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 2])])
    >>> head, rest = vl.dims.split(x, "T", [vl.Dim("head", lengths=[1, 2]), vl.Dim("rest")])
    >>> head.to_list(), rest, rest.to_list()
    ([[3], [4, 8]], Data([batch(2), rest(0 to 2)], int64), [[1, 7], []])
    """
    from varlen.dims.make import check_dims

    k = place(x, axis)
    axis_dim = x._shape.dims[k]
    parts = check_dims(dims)
    unbound = [i for i, dim in enumerate(parts) if not dim.is_defined]
    if len(unbound) > 1:
        raise value_error(
            "dims", f"{quote_names([parts[i] for i in unbound], 'and')} have no lengths; one may be without"
        )
    amounts = [as_amount(dim, "dims") for dim in parts if dim.is_defined]
    shape, (lengths, *counts) = expand_amounts([lengths_of(axis_dim), *amounts])
    total = sum(counts) if counts else np.zeros_like(lengths)
    wrong: Any = total > lengths if unbound else total != lengths
    if wrong.any():
        row = int(wrong.argmax())
        texts = " + ".join(str(count[row]) for count in counts)
        raise error_of(
            LengthMismatchError,
            "",
            f"'{axis_dim.name}' is {lengths[row]} long in row {row}, but the pieces are {texts}",
            row=row,
        )
    if unbound:
        counts.insert(unbound[0], lengths - total)
        rest = make_data(counts[unbound[0]].reshape(shape.array_shape), shape)
        parts[unbound[0]] = result_dim(axis_dim, parts[unbound[0]], [rest])
    pieces = []
    begin = np.zeros_like(lengths)
    for dim, count in zip(parts, counts, strict=True):
        first, size = (make_data(part.reshape(shape.array_shape), shape) for part in (begin, count))
        pieces.append(cut(x, k, first, size, 1, dim))
        begin = begin + count
    if out_shapes is not None:
        out_shapes = as_list(out_shapes, "out_shapes", "shapes")
        if len(out_shapes) != len(pieces):
            raise value_error("out_shapes", f"{len(out_shapes)} of them for {len(pieces)} pieces")
        for i, (piece, out_shape) in enumerate(zip(pieces, out_shapes, strict=True)):
            with naming(out_shape=f"out_shapes[{i}]"):
                check_out_shape(piece, out_shape)
    return pieces


def stack(xs: Sequence[Data[Any]], dim: Dim | None = None, *, out_shape: OutShape | None = None) -> Data[Any]:
    """Stack several Data along a new first dim.

    Parameters
    ----------
    xs
        One Data or more, with the same dims and lengths, in any order.
    dim
        The new Dim, with one position for each Data. By default a new Dim named "stack".
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values over the new dim, then the dims of the first Data.

    Raises
    ------
    ValueError
        There is nothing to stack, the dims differ, or the new dim is already among them.
    LengthMismatchError
        Lengths differ, or the new Dim has another size than the number of Data.
    TypeError
        Something in `xs` is not a Data.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `stack`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.stack([x, -x], vl.Dim("sign", 2))
    Data([sign(2), batch(2), time(1 to 2)], int64)
    """
    if not is_listed(xs) or is_data(xs):
        raise instance_error("xs", "several Data", xs)
    operands = list(xs)
    if not operands:
        raise value_error("xs", "there is nothing to stack")
    for i, x in enumerate(operands):
        check_data(x, f"xs[{i}]")
        if x.dims_set != operands[0].dims_set or x.ndim != operands[0].ndim:
            texts = describe(x.dims), describe(operands[0].dims)
            raise value_error(f"xs[{i}]", f"has the dims {texts[0]}, the first {texts[1]}", row=i)
    one = Dim(1, name="stack")
    several = Dim(len(operands), name="stack") if dim is None else dim
    if operands[0]._shape.find(several) >= 0:
        raise value_error("dim", f"'{several.name}' is in {describe(operands[0].dims)} already")
    parts = []
    for x in operands:
        shape = Shape([one, *x._shape.dims])
        order = None if x._order is None else (0, *[j + 1 for j in x._order])
        parts.append(make_data(x._values.reshape(shape.array_shape), shape, order, x._facts))
    return check_out_shape(_concat(parts, [0] * len(operands), several, "stack"), out_shape)
