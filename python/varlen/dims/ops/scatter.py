"""Scatter numbers to positions, and combine numbers that meet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import is_zero, one_of
from varlen.backends import backend_of
from varlen.dims.axes import describe, places
from varlen.dims.base import check_data, dtype_name, make_data
from varlen.dims.errors import names_itself
from varlen.dims.make import check_defined, check_dim
from varlen.dims.ops.gather import integers
from varlen.dims.ops.pick import places_along, position_text, repeat_over, with_facts
from varlen.dims.ops.reduce import EMPTY
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import order_of, rows_of, spread
from varlen.errors import index_error, naming, value_error
from varlen.ops.faces.folds import EMPTY as FOLDS
from varlen.ops.faces.folds import EXTREMES
from varlen.ops.support.accumulator import accumulate

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


@names_itself
def scatter(
    x: Data[Any],
    indices: Data[Any],
    out_dim: Dim,
    *,
    mode: str = "sum",
    fill: Any = None,
    axis: Axis | Sequence[Axis] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Scatter numbers to the positions of a dim that indices name; a mode combines those that meet.

    Parameters
    ----------
    x
        Numbers. They are repeated over dims that only the indices have.
    indices
        Integers, positions on `out_dim`.
    out_dim
        A Dim with its lengths.
    mode
        How numbers at one position combine: a mode of `reduce`, such as "sum", "mean" or "max".
    fill
        The value of positions that no index names. By default the result of `reduce` for no positions: 0 for
        a sum, 1 for a product, -inf for max, inf for min, NaN for mean.
    axis
        The dims to replace. By default those of the indices, except the batch and dims that the lengths of
        `out_dim` depend on.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The result, with `out_dim` in place of the first dim of `axis`. A remaining dim whose lengths depend
        on one of `axis` becomes as long as the longest.

    Raises
    ------
    IndexError
        An index is out of range for its row of `out_dim`; the message names the number and its position.
    TypeError
        The indices are not integers.
    ValueError
        The mode is unknown, `out_dim` has no lengths, there are no integers for max or min, or there is no
        dim to replace.
    LengthMismatchError
        A shared dim has different lengths in the two.

    Notes
    -----
    As RETURNN's `scatter`, whose `indices_dim` is called `axis` here.

    Examples
    --------
    >>> batch, time = vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([7.0, 8.0, 9.0, 4.0]), [batch, time])
    >>> bins = vl.Data(np.array([1, 1, 0, 2]), [batch, time])
    >>> vl.dims.scatter(x, bins, vl.Dim("bins", 3)).to_list()
    [[9.0, 15.0, 0.0], [0.0, 0.0, 4.0]]
    >>> vl.dims.scatter(x, bins, vl.Dim("bins", 3), axis=["B", "T"], mode="max").values
    array([9., 8., 4.])
    """
    one_of(mode, "mode", tuple(FOLDS))
    check_data(x, "x")
    numbers = integers(indices, "indices")
    check_dim(out_dim, "out_dim")
    check_defined(out_dim, "out_dim")
    x = _repeat_both(x, indices._shape)
    axes = _dims_to_drop(x, indices, out_dim, axis)
    shape = x._shape
    index_axes = [shape.find(dim) for dim in indices._shape.dims]
    front = max(shape.ragged, *[k + 1 for k in (*axes, *index_axes)])
    dim_map = {dim: dim for dim in shape.group(tuple(sorted(axes)))[4].dims}
    inner = _result(shape, axes, out_dim, dim_map, range(front))
    places = Shape([inner[k] for k in Shape.arranged(inner, static_last=True)])
    target = Shape([*places.dims, *shape.dims[front:]])
    keys = _keys(shape, front, places, out_dim, spread(numbers, indices._shape, _head(shape, front)))
    with naming(empty="fill", X="x"):
        rows = _reduce_keys(mode, rows_of(x, front), keys, places, fill)
    user = _result(shape, axes, out_dim, dim_map, x._order or range(shape.rank))
    result = with_facts(make_data(rows.reshape(target.array_shape), target, order_of(target, user)), x)
    return check_out_shape(result._with_facts(sparse_dim=None), out_shape)


def _repeat_both(x: Data[Any], other: Shape) -> Data[Any]:
    """The same, repeated over dims that it lacks."""
    shape = x._shape.join(other)
    if shape is x._shape:
        return x
    values = repeat_over(x._values, x._shape, shape)
    dims = [*x.dims, *[dim for dim in other.dims if x._shape.find(dim) < 0]]
    return with_facts(make_data(values, shape, order_of(shape, dims)), x)


def _dims_to_drop(x: Data[Any], indices: Data[Any], out_dim: Dim, axis: Any) -> tuple[int, ...]:
    if axis is not None:
        axes = places(x, axis)
    else:
        goes = [dim for dim in indices.dims if dim.kind != "batch" and dim not in out_dim.over]
        axes = tuple([x._shape.find(dim) for dim in goes])
    if not axes:
        raise value_error(
            "axis",
            f"cannot infer which dim of the indices, {describe(indices.dims)}, to scatter",
            "pass axis=",
        )
    if x._shape.find(out_dim) >= 0 and x._shape.find(out_dim) not in axes:
        raise value_error("out_dim", f"'{out_dim.name}' is in {describe(x.dims)} already")
    return axes


def _head(shape: Shape, front: int) -> Shape:
    return Shape(shape.dims[:front])


def _result(
    shape: Shape, axes: Sequence[int], out_dim: Dim, dim_map: dict[Dim, Dim], order: Any
) -> list[Dim]:
    result: list[Dim] = []
    for k in order:
        if k not in axes:
            result.append(dim_map[shape.dims[k]])
        elif out_dim not in result:
            result.append(out_dim)
    return result


def _keys(shape: Shape, front: int, places: Shape, out_dim: Dim, numbers: Any) -> Any:
    """The position of the result that each of the first dims goes to."""
    head = _head(shape, front)
    rows = np.zeros(head.count(head.rank), np.int64)
    for k, dim in enumerate(places.dims):
        coords = numbers if dim == out_dim else places_along(shape.dims[shape.find(dim)], head)
        if dim == out_dim:
            lengths = places.span(k, k + 1).lengths[rows]
            wrong = (coords < 0) | (coords >= lengths)
            if wrong.any():
                i = int(wrong.argmax())
                text = f"{coords[i]} at {position_text(head, i)} is no position of '{dim.name}'"
                raise index_error("indices", f"{text}, which has {lengths[i]} there", number=int(coords[i]))
        if places.is_ragged(k):
            rows = places.span(k, k + 1).offsets[rows] + coords
        else:
            rows = rows * places.extent(k) + coords
    return rows


def _reduce_keys(mode: str, values: Values | None, keys: Any, places: Shape, fill: object) -> Any:
    count = places.count(places.rank)
    backend = backend_of(values)
    values = backend.contiguous(values)
    if mode == "sum" and "float" in dtype_name(values.dtype) and (fill is None or is_zero(fill)):
        return backend.backprop_gather_add(values, keys[:, None], count)
    level = Level.from_lengths(np.bincount(keys, minlength=count))
    if (keys[1:] < keys[:-1]).any():
        values = backend.take_rows(values, np.argsort(keys, kind="stable"))
    if fill is None:
        fill = EMPTY.get(mode, EXTREMES.get(mode) if "float" in dtype_name(values.dtype) else None)
        if fill is None and count and level.shortest == 0:
            i = int((level.lengths == 0).argmax())
            raise value_error(
                "",
                f"no value goes to {position_text(places, i)}, and {dtype_name(values.dtype)} has no {mode} "
                "of nothing",
                "pass fill=",
                row=i,
                context="scatter",
            )
    return accumulate("reduce", mode, values, level, {"empty": fill})
