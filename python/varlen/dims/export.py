"""Convert Data to lists, rectangles and containers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Shape
from varlen.arguments import one_of
from varlen.backends import backend_of
from varlen.dims.axes import describe, every_place, places
from varlen.dims.base import make_data
from varlen.dims.make import check_dims
from varlen.dims.place import in_order
from varlen.dims.vocabulary import padding_class
from varlen.errors import value_error
from varlen.interop.arrow_nodes import Leaf, Node, array_node

if TYPE_CHECKING:
    from varlen.backends.values import Output, RowsLike
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.levels import Levels
    from varlen.types import Ragged


def levels_of(shape: Shape, first: int) -> Levels:
    """A Level for each dim of the ragged part from `first` on."""
    return tuple([shape.span(k, k + 1) for k in range(first, shape.ragged)])


def to_ragged(data: Data[Any]) -> Ragged[Any]:
    """As `Data.to_ragged`."""
    from varlen.types import Ragged

    data = in_order(data)
    if data._shape.ragged < 2:
        raise value_error("", f"a Ragged has sequences of different lengths, {describe(data.dims)} has none")
    return Ragged(data._values, levels=levels_of(data._shape, 1))


def arrow_node(data: Data[Any], leaf: Leaf | None) -> Node:
    """The array of Arrow that Data are: their first dim is its length, ids of words are words."""
    data = in_order(data)
    if not data._shape.rank:
        raise value_error("", "a number without dims has no rows")
    words = None if data.vocab is None else data.vocab.labels
    return array_node(data._values, levels_of(data._shape, 1), words, leaf)


def to_list(data: Data[Any]) -> Any:
    """As `Data.to_list`."""
    data = in_order(data)
    if data._shape.ragged < 2:
        return data._values.tolist()
    return to_ragged(data).to_list()


def to_padded(
    data: Data[Any], order: Sequence[Axis] | None, fill: Any, side: str, out: Output | None = None
) -> Any:
    """As `Data.to_padded`."""
    axes = data._order if order is None else every_place(data, order)
    block = _block(data, fill, side)
    backend = backend_of(block)
    if axes is not None:
        block = backend.contiguous(backend.transpose(block, tuple(axes)))
    return block if out is None else backend.assign(out, block)


def _block(data: Data[Any], fill: object, side: str) -> Any:
    """The rectangle in storage order."""
    one_of(side, "side", ("right", "left"))
    shape, values = data._shape, data._values
    fill = padding_class(data.vocab) if fill is None else fill
    first = next((k for k in range(shape.rank) if shape.is_ragged(k)), 0)
    if first:
        sizes = [shape.extent(k) for k in range(first, shape.ragged)]
        values = backend_of(values).pad(values, levels_of(shape, first), side, fill, sizes=sizes)
    return values.reshape([shape.extent(k) for k in range(shape.rank)])


def padded(data: Data[Any], fill: RowsLike | None, side: str) -> Data[Any]:
    """As `Data.padded`."""
    result = data._like(data._values)
    result._dense = (to_padded(data, None, fill, side), data._shape, side)
    return result


def mask(data: Data[Any], axis: Axis | Sequence[Axis]) -> Data[Any]:
    """As `Data.mask`."""
    shape = data._shape
    axes = places(data, axis)
    dims = [shape.dims[k] for k in axes]
    mask_dims = [dim for k, dim in enumerate(shape.dims) if k in axes or any(dim in x.over for x in dims)]
    return _validity(Shape(mask_dims), data._values)


def mask_of_dim(dim: Dim, dims: Sequence[Dim] | None) -> Data[Any]:
    """As `Dim.mask`."""
    mask_dims = [*dim.over, dim] if dims is None else check_dims(dims)
    mask_dims = [
        candidate if (candidate := _bound_by(dim, other)) is not None else other for other in mask_dims
    ]
    if dim not in mask_dims:
        raise value_error("dims", f"'{dim.name}' is not among {describe(mask_dims)}")
    shape = Shape([mask_dims[k] for k in Shape.arranged(mask_dims)])
    return _validity(shape, None)._reorder_dims([shape.find(other) for other in mask_dims]).padded(False)


def _bound_by(dim: Dim, target: Dim) -> Dim | None:
    """The requested dim with its lengths, which another dim knows."""
    return next((candidate for candidate in (dim, *dim.over) if candidate == target), None)


def _validity(shape: Shape, like: object) -> Data[Any]:
    """True at every position, as the kind of array of other values."""
    block = np.ones(shape.array_shape, np.bool_)
    if like is not None and not isinstance(like, np.ndarray):
        block = backend_of(like).like(block, like)
    return make_data(block, shape).padded(False)
