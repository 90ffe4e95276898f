"""Amounts for each row: an int, a Dim of that length, or a Data of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import as_int
from varlen.backends import backend_of
from varlen.dims.base import is_data, make_data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.make import check_defined, check_dim
from varlen.dims.place import lengths_of, order_of
from varlen.dims.place import spread as spread_values
from varlen.errors import dtype_error, error_of, type_error, value_error

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from varlen.dims.data import Data

    Amount: TypeAlias = int | Dim | Data[Any]


def as_amount(amount: Any, argument: str, minimum: int | None = 0) -> Data[Any]:
    """An amount as int64, over the dims that it depends on."""
    if type(amount) is Dim:
        check_defined(amount, argument)
        return lengths_of(amount)
    if not is_data(amount):
        if isinstance(amount, (bool, np.bool_)) or not hasattr(type(amount), "__index__"):
            raise type_error(argument, f"expected an int, a Dim or a Data of integers, got {amount!r}")
        number = as_int(amount, argument, -(1 << 62) if minimum is None else minimum)
        return make_data(np.asarray(number, np.int64), Shape([]))
    numbers = np.asarray(backend_of(amount._values).readable(amount._values))
    if numbers.dtype.kind not in "iu":
        raise dtype_error(argument, "integers", numbers.dtype)
    if minimum is not None and numbers.size and numbers.min() < minimum:
        index = int((numbers.reshape(-1) < minimum).argmax())
        raise value_error(
            argument,
            f"{numbers.reshape(-1)[index]} at position {index} is below {minimum}",
            row=index,
            number=int(numbers.reshape(-1)[index]),
        )
    return make_data(numbers.astype(np.int64), amount._shape, amount._order)


def expand_amounts(amounts: Sequence[Data[Any]]) -> tuple[Shape, list[NDArray[np.int64]]]:
    """The shape of the dims of all amounts, and each amount at all its positions."""
    shape = amounts[0]._shape
    for other in amounts[1:]:
        shape = shape.join(other._shape)
    return shape, [spread(amount, shape) for amount in amounts]


def spread(amount: Data[Any], shape: Shape) -> NDArray[np.int64]:
    """An amount at each position of dims, which include all of its own: (positions,)."""
    return np.ascontiguousarray(spread_values(amount._values, amount._shape, shape), np.int64)


def brought_before(data: Data[Any], k: int, dims: Sequence[Dim]) -> tuple[Data[Any], int, Shape, Any]:
    """The same Data with its dims among `dims` moved before dim k, and the new place of k.

    Also the shape of the dims before k and the missing ones, and for each of its positions the position over
    the dims before k; None if no dim is missing.
    """
    from varlen.dims.place import move

    old = data._shape
    axis_dim = old.dims[k]
    for dim in dims:
        if dim == axis_dim or axis_dim in dim.over:
            raise value_error("", f"'{dim.name}' is the dim '{axis_dim.name}' itself, or has lengths over it")
    tail = [dim for dim in old.dims[k + 1 :] if dim in dims]
    if tail:
        rest = [dim for dim in old.dims[k + 1 :] if dim not in tail]
        order = [*old.dims[:k], *tail, axis_dim, *rest]
        order = [order[j] for j in Shape.arranged(order)]
        target = Shape(order)
        moved_data = data._like(move(data, target))
        moved_data._shape, moved_data._order = target, order_of(target, data.dims)
        data, k = moved_data, target.find(axis_dim)
    front = Shape(data._shape.dims[:k])
    missing = [dim for dim in dims if front.find(dim) < 0]
    if not missing:
        for dim in dims:
            check_alike(dim, front.dims[front.find(dim)])
        return data, k, front, None
    frame_dims = [*front.dims, *missing]
    frame = Shape([frame_dims[j] for j in Shape.arranged(frame_dims)])
    numbers = np.arange(front.count(front.rank)).reshape(front.array_shape)
    return data, k, frame, spread_values(numbers, front, frame)


def check_alike(a: Dim, b: Dim) -> None:
    """Refuse a dim that is bound to different lengths in two places."""
    one: Any = a.level
    other: Any = b.level
    if one is not other and one != other:
        raise LengthMismatchError(_difference(f"'{a.name}'", one, other))


def _difference(name: str, a: Level, b: Level) -> str:
    if len(a) != len(b):
        return f"{name} has {len(a)} rows in one and {len(b)} in the other"
    row = int((a.lengths != b.lengths).argmax())
    return f"{name} has length {a.lengths[row]} in row {row} of one and {b.lengths[row]} in the other"


def dim_of(count: Data[Any], name: str) -> Dim:
    """A new dim of these lengths."""
    if not count._shape.rank:
        return Dim(int(count._values), name=name)
    return Dim(name=name, kind="spatial")._bound(count._values.reshape(-1), count._shape.dims)


def result_dim(dim: Dim, out_dim: Dim | None, count: Sequence[Data[Any]]) -> Dim:
    """The dim of a result, or the requested one, which gets lengths if it has none."""
    if out_dim is None:
        return dim
    check_dim(out_dim, "out_dim")
    if out_dim.is_defined:
        return out_dim
    shape, lengths = expand_amounts(count)
    total = np.sum(lengths, axis=0)
    return out_dim._bound(total, shape.dims) if shape.rank else out_dim._bound(int(total[0]))


def check_lengths(op: str, dim: Dim, outer_dims: Sequence[Dim], lengths: Any) -> None:
    """Refuse a dim of other lengths than a result has: one for each position of the dims before it."""
    shape = Shape([*outer_dims, dim])
    level = shape.span(shape.rank - 1, shape.rank)
    if type(lengths) is Level:
        if lengths is level or lengths == level:
            return
        lengths = lengths.lengths
    is_same = level.lengths == lengths
    if not is_same.all():
        row = int(is_same.argmin())
        reason = "it was worked out of lengths below 0: " if dim.is_derived else ""
        raise error_of(
            LengthMismatchError,
            "",
            f"'{dim.name}' is {level.lengths[row]} long in row {row}, "
            f"but the result has {lengths[row]} there; {reason}give out_dim= without lengths",
            context=op,
            row=row,
        )


def options_of_dims(count: int, **options: Any) -> list[list[Any]]:
    """Each option as a list with one for each of several dims; one `out_dim` cannot stand for several."""
    lists = []
    for argument, option in options.items():
        if isinstance(option, (list, tuple)):
            if len(option) != count:
                raise value_error(argument, f"{len(option)} of them for {count} dims")
        elif type(option) is Dim and argument == "out_dim" and count != 1:
            raise value_error(argument, f"expected a list of {count}, one for each dim")
        lists.append(list(option) if isinstance(option, (list, tuple)) else [option] * count)
    return lists
