"""Reductions: sums, means, extremes and the like, over any set of dims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import NoValue, one_of
from varlen.backends import backend_of
from varlen.backends.numeric import as_of, as_pairs, from_pairs, is_complex, widen_halves
from varlen.dims.axes import about_operation, places, quote_names
from varlen.dims.base import NO_FACTS, dtype_name, make_data
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import coordinates, move, order_of, rows_of
from varlen.errors import type_error, value_error
from varlen.ops.faces.folds import EMPTY as FOLDS
from varlen.ops.faces.folds import EMPTY_OF_DIMS, EXTREMES
from varlen.ops.reduce import extreme_place
from varlen.ops.support.accumulator import accumulate, is_plain

if TYPE_CHECKING:
    from varlen.backends.values import Values
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

DEFAULT: Any = NoValue()  # for an `empty` that was not given
EMPTY = {**EMPTY_OF_DIMS, "logmeanexp": np.nan}
_OF_COMPLEX = ("sum", "mean", "norm")
_MODES = (*FOLDS, "logmeanexp", "argmax", "argmin")


def reduce(
    x: Data[Any],
    mode: str,
    axis: Axis | Sequence[Axis],
    *,
    empty: Any = DEFAULT,
    out_shape: OutShape | None = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Data[Any]:
    """Reduce over some dims, for each position of the others.

    Parameters
    ----------
    x
        Numbers. Complex numbers have only a sum, a mean and a norm.
    mode
        A reduction by its name, such as "sum", "mean", "max" or "std": those of Data's methods; "logmeanexp".
    axis
        The dim or dims to reduce over. A dim that stays, and whose lengths depend on a reduced one, becomes
        as long as the longest. Positions that not all rows have are reduced over the rows that have them.
    empty
        The result if there are no positions; None raises an error. By default 0 for sum and norm, 1 for prod,
        False for any, True for all, NaN for mean, var, std and logmeanexp, -inf for max and logsumexp, inf
        for min, -1 for argmax and argmin; max and min of no integers raise one.
    out_shape
        The dims that the result must have; None skips the check.
    dtype
        The dtype in which sum, mean and prod accumulate, and which they return, as in NumPy.
    overflow
        "raise" raises OverflowError if the dtype cannot hold a sum or product of integers; "wrap" wraps, as
        NumPy does.

    Returns
    -------
    Data
        The result, over the remaining dims. Positions of extremes are int64, with the reduced dim as
        `sparse_dim`; over several dims they count positions in row-major order of the dims.

    Raises
    ------
    ValueError
        The mode is unknown, or there are no integers for max or min.
    TypeError
        The values have no such reduction, or it does not take `dtype` or `overflow`.
    OverflowError
        With `overflow="raise"`, the dtype cannot hold a result; the message names its row.
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `reduce`, which gives the lowest float if there are no positions.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 0, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> vl.dims.reduce(x, "max", time).values
    array([  3., -inf,   5.])
    >>> vl.dims.reduce(x, "sum", vl.dims.batch_dim)
    Data([time(2)], float64)
    >>> vl.dims.reduce(x, "sum", vl.dims.batch_dim).values
    array([8., 1.])
    """
    one_of(mode, "mode", _MODES)
    if mode not in ("sum", "mean", "prod") and not is_plain(dtype, overflow):
        raise type_error(
            "overflow" if dtype is None else "dtype",
            f"only sum, mean and prod take dtype and overflow, got {mode}",
        )
    axes = places(x, axis)
    if mode in ("argmax", "argmin"):
        return check_out_shape(_places_of(x, mode, axes, empty), out_shape)
    values, level, _, rest = group_dims(x._map(widen_halves) if mode == "logmeanexp" else x, axes)
    fill = _empty_of(mode, values, level, empty, x, axes)
    where = "" if is_plain(dtype, overflow) else row_along(x, axes)
    try:
        values, dtype = complex_first(values, dtype)
        if mode in _OF_COMPLEX and is_complex(values) and is_plain(dtype, overflow):
            rows = _reduce_complex(mode, values, level, fill)
        else:
            verb = "logsumexp" if mode == "logmeanexp" else mode
            rows = accumulate("reduce", verb, values, level, {"empty": fill}, dtype, overflow, where=where)
    except TypeError as error:
        raise about_operation(error, mode, x.dims) from None
    if mode == "logmeanexp":
        rows = as_of(rows - _log_counts(level, rows), x._values)
    return check_out_shape(
        make_data(rows.reshape(rest.array_shape), rest, order_left(x, axes), _facts(x)), out_shape
    )


def _reduce_complex(mode: str, values: Values, level: Level, empty: object) -> Any:
    """Reductions of complex numbers, by kernels of real ones."""
    if mode == "norm":
        return backend_of(values).reduce(mode, abs(values), level, empty)
    rows = over_pairs(values, lambda pairs: backend_of(pairs).reduce(mode, pairs, level, 0))
    if empty == 0 or not (level.lengths == 0).any():
        return rows
    backend = backend_of(rows)
    is_empty = backend.like((level.lengths == 0).reshape(-1, *[1] * (rows.ndim - 1)), rows)
    return backend.to_dtype(backend.where(is_empty, empty, rows), rows.dtype)


def complex_first(values: Values, dtype: object) -> tuple[Any, Any]:
    """Values that are complex, or become so, in a dtype, and no other left; others with theirs."""
    if dtype is not None:
        backend = backend_of(values)
        if is_complex(values) or is_complex(backend.to_dtype(values[:0], dtype)):
            return backend.to_dtype(values, dtype), None
    return values, dtype


def row_along(x: Data[Any], axes: Sequence[int]) -> str:
    """The name of a row in errors about the dims at some places; {} is its number."""
    return f"row {{}} along {quote_names(dims_of(x, axes), 'and')}" if axes else "row {}"


def over_pairs(values: Values, function: Callable[[Any], Any]) -> Any:
    """What a function of real rows gives of complex ones, whose parts it takes one by one."""
    rows = from_pairs(function(as_pairs(values[..., None])))
    return rows.reshape(rows.shape[:-1])


def _log_counts(level: Level, rows: Values) -> Any:
    """The logarithm of how many rows each sequence has, 0 of none."""
    counts = np.maximum(level.lengths, 1).reshape(-1, *[1] * (rows.ndim - 1))
    return backend_of(rows).to_dtype(backend_of(rows).like(np.log(counts), rows), rows.dtype)


def group_dims(x: Data[Any], axes: Sequence[int]) -> tuple[Any, Level, Any, Shape]:
    """Group values: positions that differ only in some dims lie side by side, cut by a level.

    Returns values, level, the order in which they were taken (None if unchanged), and the shape without those
    dims.
    """
    shape, values = x._shape, x._values
    perm, front, level, order, rest = shape.group(axes)
    backend = backend_of(values)
    if perm is not None:
        values = backend.transpose(values, perm)
    if front != shape.ragged or not front:
        tail = values.shape[front - shape.ragged + 1 :] if shape.ragged else values.shape[front:]
        values = backend.contiguous(values).reshape((level.total, *tail))
    if order is not None:
        values = backend.take_rows(backend.contiguous(values), order)
    return values, level, order, rest


def order_left(x: Data[Any], axes: Sequence[int]) -> tuple[int, ...] | None:
    """The order of the remaining dims."""
    if x._order is None:
        return None
    rest = [k for k in x._order if k not in axes]
    slots = sorted(rest)
    order = tuple([slots.index(k) for k in rest])
    return None if order == tuple(range(len(order))) else order


def _facts(x: Data[Any]) -> Any:
    facts = x._facts
    if facts is NO_FACTS:
        return facts
    result = facts._replace(name=None, sparse_dim=None)
    return result._replace(time_dim=None, feature_dim=None)


def _empty_of(
    mode: str, values: Values, level: Level, empty: object, x: Data[Any], axes: Sequence[int]
) -> Any:
    if empty is None:
        _refuse_nothing(level, x, axes, f"empty=None refuses the {mode} of nothing")
    if empty is not DEFAULT:
        return empty
    if EMPTY.get(mode) is not None:
        return EMPTY[mode]
    dtype = dtype_name(values.dtype)
    if mode in EXTREMES and "float" in dtype:
        return EXTREMES[mode]
    _refuse_nothing(level, x, axes, f"{dtype} no {mode} of nothing; pass empty=")
    return None


def _refuse_nothing(level: Level, x: Data[Any], axes: Sequence[int], why: str) -> None:
    """Refuse sequences without positions that the host knows of."""
    if level.is_on_host and len(level) and level.shortest == 0:
        i = int((level.lengths == 0).argmax())
        names = quote_names([x._shape.dims[k] for k in axes], "and")
        has = "has" if len(axes) == 1 else "have"
        raise value_error("", f"{names} {has} no positions in row {i}, and {why}", row=i, context="reduce")


def _places_of(x: Data[Any], mode: str, axes: Sequence[int], empty: object) -> Data[Any]:
    """Positions of extremes along the reduced dim, or among the positions of several."""
    dims = [x._shape.dims[k] for k in axes]
    if list(axes) != sorted(axes):
        x = _in_front(x, dims)
        axes = [x._shape.find(dim) for dim in dims]
    values, level, order, rest = group_dims(x, axes)
    if list(axes) != sorted(axes):
        # A dim comes before what it is over: positions are put in that order one by one.
        shape = x._shape
        front = max(shape.ragged, max(axes) + 1)
        coords = [coordinates(shape, k, front) for k in reversed(axes)]
        groups = level.row_ids if order is None else level.row_ids[np.argsort(order)]
        order = np.lexsort((*coords, groups))
        backend = backend_of(x._values)
        values = backend.take_rows(backend.contiguous(rows_of(x, front)), order)
    if empty is None:
        _refuse_nothing(level, x, axes, f"empty=None refuses the {mode} of nothing")
    indices = extreme_place(mode[3:], values, level, None, -1, -1 if empty is DEFAULT else empty)
    if len(dims) == 1 and order is not None and any(dims[0] in dim.over for dim in x._shape.dims):
        indices = _places_along(x, axes[0], indices, level, order)
    product: Dim | None = None
    for dim in dims:
        product = dim if product is None else product * dim
    facts = _facts(x)._replace(sparse_dim=product)
    return make_data(indices.reshape(rest.array_shape), rest, order_left(x, axes), facts)


def _in_front(x: Data[Any], dims: Sequence[Dim]) -> Data[Any]:
    """The same where some dims come before the others, in their order if that may be."""
    dim_list = [*dims, *[dim for dim in x._shape.dims if dim not in dims]]
    outer_dims = [dim for dim in dim_list if any(dim in other.over for other in dim_list)]
    dim_list = [
        *[dim for dim in outer_dims if dim not in dims],
        *[dim for dim in dim_list if dim in dims or dim not in outer_dims],
    ]
    target = Shape([dim_list[k] for k in Shape.arranged(dim_list)])
    result = x._like(move(x, target))
    result._shape, result._order = target, order_of(target, x.dims)
    return result


def _places_along(x: Data[Any], k: int, indices: Values, level: Level, order: object) -> Any:
    """Convert places in sequences, which lack positions, to places along a dim."""
    coords = coordinates(x._shape, k)[order]
    backend = backend_of(indices)
    numbers = backend.readable(indices)
    starts = level.offsets[:-1].reshape(-1, *[1] * (numbers.ndim - 1))
    is_there = (level.lengths > 0).reshape(starts.shape)
    result = np.where(
        is_there, coords[np.where(is_there, starts + numbers, 0)] if len(coords) else 0, numbers
    )
    return result if isinstance(indices, np.ndarray) else backend.like(result, indices)


def dims_of(x: Data[Any], axes: Sequence[int]) -> list[Dim]:
    """The dims at some places."""
    return [x._shape.dims[k] for k in axes]
