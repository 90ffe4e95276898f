"""Merge and split dims, flatten and unflatten them, and remove dims of one position."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.dims.axes import describe, place, places, quote_names
from varlen.dims.base import make_data
from varlen.dims.errors import LengthMismatchError, names_itself
from varlen.dims.make import bind_by_others, check_defined, check_dims
from varlen.dims.ops.pick import (
    bound_to,
    dims_over,
    lengths_over,
    lines,
    pick,
    places_along,
    places_in_sequences,
    position_text,
    relabel,
)
from varlen.dims.ops.reduce import group_dims
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import bound_anew
from varlen.errors import error_of, naming, value_error
from varlen.ops.faces.reduce import reduce_first

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def merge_dims(
    x: Data[Any], dims: Sequence[Axis], out_dim: Dim | None = None, *, out_shape: OutShape | None = None
) -> Data[Any]:
    """Merge dims into their product: position (i, j) becomes i * length of the second + j.

    Parameters
    ----------
    x
        Any values.
    dims
        The dims to merge, the slowest first. Their lengths may differ from row to row, but must not depend on
        each other.
    out_dim
        The Dim of the result; without lengths, it receives them. By default the product of the dims.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values, with the product in place of the first of `dims`. No values move if the dims already lie
        next to each other in this order.

    Raises
    ------
    LengthMismatchError
        The lengths of one dim depend on another, as those of time depend on the batch. Use `flatten`.
    ValueError
        `dims` is empty.

    See Also
    --------
    flatten : the valid positions of any dims.

    Notes
    -----
    As RETURNN's `merge_dims`, which counts padding as positions.

    Examples
    --------
    >>> time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 2)
    >>> x = vl.Data(np.arange(6).reshape(3, 2), [vl.dims.batch_dim, time, feature])
    >>> vl.dims.merge_dims(x, [time, feature]).to_list()
    [[0, 1, 2, 3], [4, 5]]
    >>> vl.dims.merge_dims(x, ["B", "T"])
    Traceback (most recent call last):
    varlen.dims.errors.LengthMismatchError: dims: 'time' has several lengths along 'batch'; use flatten
    """
    axes, axis_dims = _dims_to_merge(x, dims)
    factors = []
    for dim in axis_dims:
        inner = [outer_dim for outer_dim in dim.over if outer_dim in axis_dims]
        if inner and not _is_regular(dim, inner):
            names = quote_names(inner, "and")
            raise error_of(
                LengthMismatchError, "dims", f"'{dim.name}' has several lengths along {names}", "use flatten"
            )
        factors.append(bound_anew(partial(_regular, axis_dims=inner), inner, dim) if inner else dim)
    product = reduce(operator.mul, factors)
    return check_out_shape(_flatten(x, axes, axis_dims, out_dim, "merged", product), out_shape)


def flatten(
    x: Data[Any],
    dims: Axis | Sequence[Axis] = "*",
    out_dim: Dim | None = None,
    *,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Flatten some dims: all valid positions follow each other along a new dim.

    Parameters
    ----------
    x
        Any values.
    dims
        The dims to flatten. Positions are in row-major order of this list: [batch, time] goes sequence by
        sequence, [time, batch] step by step.
    out_dim
        The Dim of the result; without lengths, it receives them. By default a new Dim.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values, with the new dim in place of the first of `dims`. Its lengths are the numbers of valid
        positions, and depend on the remaining dims that lengths of `dims` depend on. No values move if the
        dims already lie next to each other in this order.

    Raises
    ------
    ValueError
        `dims` is empty.
    LengthMismatchError
        `out_dim` has other lengths than the result.

    See Also
    --------
    unflatten : the way back.
    merge_dims : the product of dims.

    Notes
    -----
    As RETURNN's `pack_padded`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([7, 8, 9]), [vl.dims.batch_dim, time])
    >>> vl.dims.flatten(x, ["B", "T"]).to_list(), vl.dims.flatten(x, ["T", "B"]).to_list()
    ([7, 8, 9], [7, 9, 8])
    """
    axes, axis_dims = _dims_to_merge(x, dims)
    return check_out_shape(_flatten(x, axes, axis_dims, out_dim, "flat", None), out_shape)


@names_itself
def unflatten(
    x: Data[Any], axis: Axis, dims: Sequence[Dim], *, out_shape: OutShape | None = None
) -> Data[Any]:
    """Unflatten a dim into the valid positions of others: the inverse of `flatten`.

    Parameters
    ----------
    x
        Any values.
    axis
        The dim to replace.
    dims
        Dims in the order in which `flatten` took them. Each has lengths, or gets them because the lengths of
        another depend on it.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values, with `dims` in place of `axis`.

    Raises
    ------
    LengthMismatchError
        `dims` have more or fewer positions than `axis`; the message names the row.
    ValueError
        A dim has no lengths, or its lengths depend on one that is neither in `x` nor in `dims`.

    Notes
    -----
    As RETURNN's `pad_packed`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([7, 9, 8]), [vl.Dim("rows", 3)])
    >>> vl.dims.unflatten(x, "rows", [time, *time.over]).batch_major().to_list()
    [[7, 8], [9]]
    """
    k = place(x, axis)
    factors = _check_split(x, k, dims, "unflatten")
    return check_out_shape(_split(x, k, factors, None), out_shape)


@names_itself
def split_dims(
    x: Data[Any],
    axis: Axis,
    dims: Sequence[Dim],
    *,
    pad_value: complex | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Split a dim into the product of others: the inverse of `merge_dims`.

    Parameters
    ----------
    x
        Any values.
    axis
        The dim to replace.
    dims
        The factors, the slowest first. One may lack lengths: it receives the rest of each row.
    pad_value
        The number that fills up a row that the factors do not divide; None raises an error for such a row.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The values, with `dims` in place of `axis`. No values move unless a row is padded.

    Raises
    ------
    LengthMismatchError
        A row is not as long as the product; the message names it.
    ValueError
        Several dims have no lengths, or the lengths of one depend on another; `unflatten` takes those.

    Notes
    -----
    As RETURNN's `split_dims`, which pads each row to the longest first.

    Examples
    --------
    >>> x = vl.Data(np.arange(6), [vl.dims.batch_dim, vl.Dim("time", lengths=[4, 2])])
    >>> pairs, two = vl.Dim("pairs"), vl.Dim("two", 2)
    >>> vl.dims.split_dims(x, "T", [pairs, two]).to_list()
    [[[0, 1], [2, 3]], [[4, 5]]]
    >>> vl.dims.split_dims(x, "T", [pairs, vl.Dim("three", 3)], pad_value=-1).to_list()
    [[[0, 1, 2], [3, -1, -1]], [[4, 5, -1]]]
    """
    k = place(x, axis)
    dim = x._shape.dims[k]
    tags = check_dims(dims)
    unknown = [i for i, factor in enumerate(tags) if not factor.is_defined]
    if len(unknown) > 1:
        names = quote_names([tags[i] for i in unknown], "and")
        raise value_error("dims", f"{names} have no lengths, and only one can be inferred")
    for factor in tags:
        if any(outer_dim in tags for outer_dim in factor.over):
            raise value_error(
                "dims", f"'{factor.name}' has lengths over another of {describe(tags)}", "use unflatten"
            )
    others = [factor for factor in tags if factor.is_defined]
    outer_dims = dims_over([dim, *others])
    shape = Shape(outer_dims)
    length = lengths_over(dim, shape)
    product = np.ones_like(length)
    for factor in others:
        product = product * lengths_over(factor, shape)
    if unknown:
        quotient = -(-length // np.maximum(product, 1))
        tags[unknown[0]] = bound_to(tags[unknown[0]], Level.from_lengths(quotient), outer_dims, "left")
        product = product * quotient
    wrong = (length > product) | ((length < product) if pad_value is None else False)
    if wrong.any():
        i = int(wrong.argmax())
        suffix = f" at {position_text(shape, i)}" if shape.rank else ""
        raise error_of(
            LengthMismatchError,
            "dims",
            f"'{dim.name}' is {length[i]} long{suffix}, "
            f"but the product of {describe(tags)} is {product[i]} long",
        )
    with naming(fill="pad_value"):
        result = _split(x, k, _check_split(x, k, tags, "split_dims"), pad_value)
    return check_out_shape(result, out_shape)


@names_itself
def squeeze(x: Data[Any], axis: Axis | Sequence[Axis], *, out_shape: OutShape | None = None) -> Data[Any]:
    """Remove dims that have one position in each row.

    Parameters
    ----------
    x
        Any values.
    axis
        The dims to remove.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The same values without these dims. No values move.

    Raises
    ------
    LengthMismatchError
        The length of a row is not 1; the message names the row.

    Notes
    -----
    As RETURNN's `squeeze`.

    Examples
    --------
    >>> x = vl.Data(np.array([[7], [8], [9]]), [vl.Dim("three", 3), vl.Dim("one", 1)])
    >>> vl.dims.squeeze(x, "one").to_list()
    [7, 8, 9]
    """
    axes = places(x, axis)
    for k in axes:
        dim = x._shape.dims[k]
        shape = Shape(dim.over)
        length = lengths_over(dim, shape)
        if (length != 1).any():
            i = int((length != 1).argmax())
            suffix = f" at {position_text(shape, i)}" if shape.rank else ""
            raise error_of(LengthMismatchError, "", f"'{dim.name}' is {length[i]} long{suffix}, not 1")
    for k in sorted(axes, reverse=True):
        x = relabel(x, k, 1, [])
    return check_out_shape(x, out_shape)


def _dims_to_merge(x: Data[Any], dims: Any) -> tuple[tuple[int, ...], list[Dim]]:
    axes = places(x, dims, "dims")
    if not axes:
        raise value_error("dims", "expected one dim or more, got none")
    return axes, [x._shape.dims[k] for k in axes]


def _is_regular(dim: Dim, axis_dims: Sequence[Dim]) -> bool:
    """Whether the lengths of a dim are the same along some of those that it is over."""
    shape = Shape(dim.over)
    lengths = make_data(lengths_over(dim, shape).reshape(shape.array_shape), shape)
    values, level, _, _ = group_dims(lengths, sorted([dim.over.index(other) for other in axis_dims]))
    return bool((values == values[level.offsets[level.row_ids]]).all())


def _regular(dim: Dim, axis_dims: Sequence[Dim]) -> Dim:
    """A dim with its lengths at the first position of some that it is over, along which they are the same."""
    shape = Shape(dim.over)
    lengths = make_data(lengths_over(dim, shape).reshape(shape.array_shape), shape)
    values, level, _, rest = group_dims(
        lengths, [dim.over.index(other) for other in dim.over if other in axis_dims]
    )
    first = reduce_first(values, level, empty=0)
    return dim._bound(first.reshape(rest.array_shape), rest.dims) if rest.rank else dim._bound(int(first[0]))


def _flatten(
    x: Data[Any],
    axes: Sequence[int],
    axis_dims: Sequence[Dim],
    out_dim: Dim | None,
    name: str,
    product: Dim | None,
) -> Data[Any]:
    others = dims_over(axis_dims)
    shape, level, order = lines(others, axis_dims)
    new = bound_to(out_dim, level, others, name, product)
    first = min(axes)
    is_inside = all(x._shape.find(dim) < first for dim in others)
    if is_inside and list(axes) == list(range(first, first + len(axes))):
        return relabel(x, first, len(axes), [new])
    coords = [places_along(dim, shape) for dim in axis_dims]
    if order is not None:
        coords = [places[order] for places in coords]
    return pick(x, axes, Shape([*others, new]), coords, [new])


def _check_split(x: Data[Any], k: int, dims: Sequence[Dim], op: str) -> list[Dim]:
    """Dims that may stand in the place of one."""
    factors = check_dims(dims)
    bind_by_others(factors)
    rest = [dim for j, dim in enumerate(x._shape.dims) if j != k]
    for i, dim in enumerate(factors):
        check_defined(dim, "dims")
        if dim in rest or dim in factors[:i]:
            raise value_error(
                "dims", f"'{dim.name}' would appear twice, in {describe(x.dims)} and {describe(factors)}"
            )
        foreign = [outer_dim for outer_dim in dim.over if outer_dim not in rest and outer_dim not in factors]
        if foreign:
            raise value_error(
                "dims",
                f"'{dim.name}' has lengths over '{foreign[0].name}', which is not in {describe(x.dims)}",
            )
    return factors


def _split(x: Data[Any], k: int, dims: list[Dim], pad_value: RowsLike | None) -> Data[Any]:
    """A dim as the positions of others; a number stands behind the last, None where there are as many."""
    dim = x._shape.dims[k]
    outer_dims = dims_over([*dims, dim])
    shape, level, order = lines(outer_dims, dims)
    length = lengths_over(dim, Shape(outer_dims))
    if pad_value is None and (length != level.lengths).any():
        i = int((length != level.lengths).argmax())
        spot = f" at {position_text(Shape(outer_dims), i)}" if outer_dims else ""
        raise error_of(
            LengthMismatchError,
            "dims",
            f"'{dim.name}' is {length[i]} long{spot}, but {describe(dims)} have {level.lengths[i]} positions",
        )
    is_inside = all(0 <= x._shape.find(other) < k for one in dims for other in one.over if other not in dims)
    if order is None and is_inside and (length == level.lengths).all():
        return relabel(x, k, 1, dims)
    spot = places_in_sequences(level)
    if order is not None:
        numbers, spot = spot, np.empty_like(spot)
        spot[order] = numbers
    mask = None if pad_value is None else spot < length[level.row_ids]
    return pick(x, [k], shape, [spot], dims, mask, 0 if pad_value is None else pad_value)
