"""Make Data from lists, rectangles, packed rows and containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, RaggedBase, Shape
from varlen.arguments import is_listed, one_of
from varlen.backends import backend_of
from varlen.backends.values import device_of
from varlen.dims.axes import describe
from varlen.dims.base import Annotations, BeamBase, dtype_name, is_data, make_data
from varlen.dims.errors import LengthMismatchError
from varlen.dims.place import align, bound_anew, in_order, order_of
from varlen.errors import error_of, instance_error, naming, type_error, value_error
from varlen.levels import describe_difference, equal_lengths

if TYPE_CHECKING:
    from varlen.backends.values import SequencesLike, Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.levels import Levels


def check_dims(dims: object, argument: str = "dims") -> list[Dim]:
    """A list of dims; refuse anything else in it."""
    if isinstance(dims, (str, Dim)) or not is_listed(dims):
        raise type_error(argument, f"expected a sequence of dims, got {dims!r}")
    dim_list = list(dims)
    for k, dim in enumerate(dim_list):
        check_dim(dim, f"{argument}[{k}]")
    return dim_list


def check_dim(dim: object, argument: str = "dim") -> None:
    """Refuse anything but a Dim."""
    if type(dim) is not Dim:
        advice = f"make one by Dim({dim!r})" if isinstance(dim, str) else ""
        raise type_error(argument, f"expected a Dim, got {dim!r}", advice)


def check_defined(dim: Dim, argument: str) -> None:
    """Refuse a dim that has no lengths yet."""
    if not dim.is_defined:
        raise value_error(argument, f"'{dim.name}' has no lengths")


def bound_dims(values: Any, dims: Sequence[Dim]) -> Shape:
    """The shape of packed values, which binds dims without lengths."""
    items = check_dims(dims)
    bind_by_others(items)
    n_ragged = max([k + 1 for k, dim in enumerate(items) if dim.is_dynamic and dim.over], default=0)
    first = n_ragged - 1 if n_ragged else 0  # the dim of the axis k is k + first
    for axis, size in enumerate(values.shape):
        k = axis + first
        if (axis or not n_ragged) and k < len(items) and not items[k].is_defined:
            items[k] = items[k].bind(size)
    shape = Shape(items)
    if tuple(values.shape) != shape.array_shape:
        text = f"expected the shape {shape.array_shape} of {describe(items)}, got {tuple(values.shape)}"
        is_padded = n_ragged and values.ndim == len(items)
        advice = "a rectangle with padding is made a Data by Data.from_padded" if is_padded else ""
        raise value_error("values", text, advice)
    return shape


def bind_by_others(dims: list[Dim]) -> None:
    """Bind dims without lengths to those that dims over them know."""
    for k, dim in enumerate(dims):
        if not dim.is_defined:
            matches = [outer_dim for other in dims for outer_dim in other.over if outer_dim == dim]
            if matches:
                dims[k] = matches[0]


def as_values(values: object) -> Any:
    """The argument as an array or a tensor; refuse lists that are not an array."""
    try:
        return backend_of(values).as_array(values, "values")
    except ValueError:
        if not isinstance(values, (list, tuple)):
            raise
        text = "values: lists of different lengths are no array; Data.from_list makes a Data of them"
        raise value_error("", text) from None


def as_lengths(numbers: SequencesLike, over: Any) -> tuple[Any, Any]:
    """The lengths in a container, and the dims that they depend on; None for one number."""
    if is_data(numbers):
        if over is not None:
            raise type_error("over", f"lengths that are a Data are over its dims, {describe(numbers.dims)}")
    elif not isinstance(numbers, RaggedBase):
        raise type_error("lengths", f"expected integers, got a {type(numbers).__name__}")
    elif over is None:
        raise type_error(
            "lengths",
            "a Ragged does not name the dims of its numbers",
            "pass them as over=, one for its sequences and one per level",
        )
    else:
        numbers = from_ragged(numbers, [over] if type(over) is Dim else over)
    dtype = dtype_name(numbers.dtype)
    if not dtype.startswith(("int", "uint")):
        raise type_error("lengths", f"expected integers, got a {type(numbers).__name__} of {dtype}")
    lengths = in_order(numbers)
    if not lengths.ndim:
        return int(lengths), None
    values: Any = lengths._values
    return (values.reshape(-1) if lengths._shape.ragged else values), lengths.dims


def check_facts(data: Data[Any], facts: Annotations, argument: str = "values") -> Annotations:
    """The annotations of a Data; refuse those that do not fit."""
    for word in ("time_dim", "feature_dim"):
        dim = getattr(facts, word)
        if dim is not None and (type(dim) is not Dim or data._shape.find(dim) < 0):
            raise value_error(word, f"{dim!r} is not among {describe(data.dims)}")
    if facts.name is not None and not isinstance(facts.name, str):
        raise instance_error("name", "a str", facts.name)
    if facts.beam is not None and not isinstance(facts.beam, BeamBase):
        raise instance_error("beam", "a Beam", facts.beam)
    sparse = facts.sparse_dim
    if sparse is not None:
        check_dim(sparse, "sparse_dim")
        if facts.feature_dim is not None:
            raise value_error("feature_dim", "integers of a sparse_dim have no features")
        _check_classes(data._values, sparse, argument)
    return facts


def _check_classes(values: Values, sparse: Dim, argument: str) -> None:
    dtype = dtype_name(values.dtype)
    if not dtype.startswith(("int", "uint")):
        raise type_error(argument, f"positions of a sparse_dim are integers, got {dtype}")
    if not sparse.is_static or device_of(values) != "cpu" or 0 in values.shape:
        return
    numbers = backend_of(values).readable(values).reshape(-1)
    if int(numbers.min()) < 0 or int(numbers.max()) >= int(sparse.size or 0):
        index = int(((numbers < 0) | (numbers >= sparse.size)).argmax())
        raise value_error(
            argument,
            f"{numbers[index]} at position {index} is no position of {describe([sparse])[1:-1]}",
            row=index,
            number=int(numbers[index]),
        )


def replace_dim(data: Data[Any], old: Axis, new: Dim) -> Data[Any]:
    """The same values with another dim instead of one; as `Data.replace_dim`."""
    from varlen.dims.axes import place

    k = place(data, old, "old")
    check_dim(new, "new")
    dims = list(data._shape.dims)
    old_dim = dims[k]
    if not new.is_defined:
        new = new._bound(old_dim.level, old_dim.over) if old_dim.over else new._bound(data._shape.extent(k))
    dims[k] = new

    def bound(dim: Dim) -> Dim:
        return dim._bound(dim.level, [dims[data._shape.find(outer_dim)] for outer_dim in dim.over])

    for j, dim in enumerate(dims):
        if j != k and old_dim in dim.over:  # those that it is over come first, and are bound anew by now
            dims[j] = bound_anew(bound, [old_dim], dim)
    shape = Shape(dims)
    for j in range(k, shape.rank):
        if shape.extent(j) != data._shape.extent(j) or shape.span(j, j + 1) != data._shape.span(j, j + 1):
            difference = describe_difference((data._shape.span(j, j + 1),), (shape.span(j, j + 1),))
            raise error_of(
                LengthMismatchError, "new", f"'{new.name}' in the place of '{old_dim.name}': {difference}"
            )
    result = data._like(data._values)
    result._shape = shape
    facts = data._facts
    if old_dim in (facts.time_dim, facts.feature_dim):
        time = new if facts.time_dim == old_dim else facts.time_dim
        feature = new if facts.feature_dim == old_dim else facts.feature_dim
        result._facts = facts._replace(time_dim=time, feature_dim=feature)
    return result


def from_levels(values: Values, levels: Levels, dims: Sequence[Dim], **facts: object) -> Data[Any]:
    """A Data of nested values: the first dim counts the sequences of the first level, each level is a dim.

    Dims of fixed size on which no other depends come last, as axes of rows.
    """
    dim_list = check_dims(dims)
    depth = len(levels)
    if len(dim_list) != depth + values.ndim:
        text = f"{depth} levels and rows of {values.ndim - 1} axes"
        raise value_error("dims", f"{len(dim_list)} dims, {describe(dim_list)}, for {text}")
    bind_by_others(dim_list)
    if not dim_list[0].is_defined:
        dim_list[0] = dim_list[0].bind(len(levels[0]) if levels else values.shape[0])
    for k, level in enumerate(levels, 1):
        if not dim_list[k].is_defined:
            dim_list[k] = _bound_to(dim_list[k], level, dim_list[:k])
    for k in range(depth + 1, len(dim_list)):
        if not dim_list[k].is_defined:
            dim_list[k] = dim_list[k].bind(values.shape[k - depth])
    shape = Shape(dim_list)
    _check_sizes(values, levels, shape)
    if tuple(values.shape) != shape.array_shape:
        values = values.reshape(shape.array_shape)
    result = _arrange(values, shape)
    return _with_facts(result, facts)


def _bound_to(dim: Dim, level: Level, outer_dims: Sequence[Dim]) -> Dim:
    """A dim bound to the lengths of a level, over the dims before it.

    It depends on dims of a fixed size only if their positions differ in length.
    """
    dynamic_dims = [x for x in outer_dims if x.is_dynamic]
    if len(dynamic_dims) == len(outer_dims):
        return dim.bind(level, dynamic_dims)
    frame, part = Shape(outer_dims), Shape(dynamic_dims)
    plan = frame.align(part)
    places = np.zeros(frame.count(frame.rank), np.int64)
    if plan is not None and part.rank:
        places = align(np.arange(part.count(part.rank)).reshape(part.array_shape), part, frame)
        places = np.broadcast_to(places, frame.array_shape).reshape(-1)
    lengths = np.zeros(part.count(part.rank), np.int64)
    lengths[places] = level.lengths
    if not (lengths[places] == level.lengths).all():
        return dim.bind(level, outer_dims)
    return dim.bind(lengths, dynamic_dims) if dynamic_dims else dim.bind(int(lengths[0]))


def _check_sizes(values: Values, levels: Levels, shape: Shape) -> None:
    """Refuse levels and axes whose lengths differ from the dims'."""
    dims = shape.dims
    count = len(levels[0]) if levels else values.shape[0]
    if shape.count(1) != count:
        raise error_of(
            LengthMismatchError, "", f"'{dims[0].name}' is {shape.count(1)} long, but {count} are given"
        )
    for k, level in enumerate(levels, 1):
        expected = shape.span(k, k + 1)
        if expected is level or expected == level:
            continue
        i = int((expected.lengths != level.lengths).argmax())
        raise error_of(
            LengthMismatchError,
            "",
            f"'{dims[k].name}' is {expected.lengths[i]} long in row {i}, but {level.lengths[i]} are given",
            row=i,
        )
    for k in range(len(levels) + 1, shape.rank):
        size = values.shape[k - len(levels)]
        if shape.extent(k) != size:
            raise error_of(
                LengthMismatchError, "", f"'{dims[k].name}' is {shape.extent(k)} long, but {size} are given"
            )


def _arrange(values: Values, shape: Shape) -> Data[Any]:
    """A Data of values, with dims of fixed size after the others."""
    order = Shape.arranged(shape.dims, static_last=True)
    if order == tuple(range(shape.rank)):
        return make_data(values, shape)
    target = Shape([shape.dims[k] for k in order])
    block = align(values, shape, target).reshape(target.array_shape)
    return make_data(block, target, order_of(target, shape.dims))


def _with_facts(data: Data[Any], facts: dict[str, Any]) -> Data[Any]:
    dtype = facts.pop("dtype", None)
    if dtype is None and facts.get("sparse_dim") is not None and 0 in data._values.shape:
        dtype = np.int64  # lists of nothing do not say that they are integers
    if dtype is not None:
        data._values = backend_of(data._values).cast(data._values, dtype, "dtype")
    if facts:
        data._facts = check_facts(data, Annotations(**facts))
    return data


def from_list(rows: Any, dims: Sequence[Dim], **facts: object) -> Data[Any]:
    """As `Data.from_list`: nested lists, one level for each dim."""
    from varlen.types import Ragged

    dim_list = check_dims(dims)
    if not any(dim.is_dynamic for dim in dim_list[1:]):
        array = backend_of(rows).as_array(rows, "rows")
        if array.ndim < len(dim_list) and 0 in array.shape:  # no row says how deep it is
            inner = [dim.max_size() if dim.is_defined else 0 for dim in dim_list[array.ndim :]]
            array = array.reshape((*array.shape, *inner))
        if array.ndim != len(dim_list):
            raise value_error(
                "rows", f"expected {len(dim_list)} axes for {describe(dim_list)}, got shape {array.shape}"
            )
        return _with_facts(
            from_levels(array, (), dim_list) if dim_list else make_data(array, Shape([])), facts
        )
    with naming(data="rows"):
        ragged = Ragged.from_list(rows)
    values, levels = ragged._values, ragged._levels
    missing = len(dim_list) - len(levels) - values.ndim
    if missing > 0 and 0 in values.shape:  # no row says how deep it is
        levels += tuple([equal_lengths(0, 0)] * missing)
    if missing < 0 and len(levels) == 1 and len(dim_list) == 1:
        raise value_error("rows", f"nested deeper than {describe(dim_list)}")
    return from_levels(values, levels, dim_list, **facts)


def from_ragged(ragged: object, dims: Sequence[Dim], **facts: object) -> Data[Any]:
    """A Ragged, a dim for each level and one for its sequences; as `Data.from_ragged`."""
    if not isinstance(ragged, RaggedBase):
        raise instance_error("ragged", "a Ragged", ragged)
    return from_levels(ragged._values, ragged._levels, dims, **facts)


def from_padded(block: Values, dims: Sequence[Dim], side: str = "right", **facts: object) -> Data[Any]:
    """As `Data.from_padded`: a rectangle with an axis for each dim; the padding is dropped."""
    one_of(side, "side", ("right", "left"))
    backend = backend_of(block)
    block = backend.as_array(block, "block")
    dim_list = check_dims(dims)
    if block.ndim != len(dim_list):
        raise value_error(
            "block", f"expected {len(dim_list)} axes for {describe(dim_list)}, got shape {tuple(block.shape)}"
        )
    bind_by_others(dim_list)
    for k, dim in enumerate(dim_list):
        if not dim.is_defined:
            if dim.kind != "batch" and any(x.kind == "batch" for x in dim_list):
                raise value_error(
                    "dims",
                    f"'{dim.name}' has no lengths, and a rectangle cannot supply them",
                    "bind it first",
                )
            dim_list[k] = dim.bind(block.shape[k])
    order = Shape.arranged(dim_list, static_last=True)
    shape = Shape([dim_list[k] for k in order])
    for k, axis in enumerate(order):
        size, extent = block.shape[axis], shape.extent(k)
        if size < extent or (size != extent and not shape.is_ragged(k)):
            raise error_of(
                LengthMismatchError,
                "",
                f"'{dim_list[axis].name}' is {extent} long, but axis {axis} of block is {size} long",
            )
    block = backend.transpose(block, order)
    first = next((k for k in range(shape.rank) if shape.is_ragged(k)), 0)
    if first:
        block = block.reshape((shape.count(first), *block.shape[first:]))
        levels = tuple([shape.span(k, k + 1) for k in range(first, shape.ragged)])
        block = backend.unpad(backend.contiguous(block), levels, side)
    block = block.reshape(shape.array_shape)
    return _with_facts(make_data(block, shape, order_of(shape, dim_list)), facts)
