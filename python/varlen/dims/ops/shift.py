"""Reverse and shift a dim, whose lengths stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Shape
from varlen.backends import arrays, backend_of
from varlen.dims.axes import place
from varlen.dims.ops.amounts import as_amount, brought_before, spread
from varlen.dims.ops.combine import with_dims_of
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import has_inner, lay_along, positions_taken, rows_of, with_dims
from varlen.dims.vocabulary import padding_class
from varlen.errors import naming

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.ops.amounts import Amount
    from varlen.dims.out_shape import OutShape


def reverse(x: Data[Any], axis: Axis = "T", *, out_shape: OutShape | None = None) -> Data[Any]:
    """Reverse a dim, row by row.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim to reverse. Sequences at its positions move with them.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The reversed values, over the same dims.

    Raises
    ------
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `reverse_sequence`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.reverse(x).to_list()
    [[1, 3], [4]]
    """
    return check_out_shape(_reverse(x, place(x, axis)), out_shape)


def _reverse(x: Data[Any], k: int) -> Data[Any]:
    shape = x._shape
    dim, level = shape.dims[k], shape.span(k, k + 1)

    def change(lengths: Data[Any]) -> Data[Any]:
        return _reverse(lengths, lengths._shape.find(dim))

    if k + 1 < shape.ragged:
        positions = arrays.reverse(np.arange(shape.count(k + 1)), level)
        return positions_taken(x, k, positions, [dim], change)
    backend = backend_of(x._values)
    values = backend.reverse(backend.contiguous(rows_of(x, k + 1)), level)
    return with_dims(x, k, values, [dim])


def shift(
    x: Data[Any],
    axis: Axis,
    amount: Amount,
    *,
    value: RowsLike | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Shift a dim by some positions, row by row; a fill value takes the free positions.

    Parameters
    ----------
    x
        Values of any dtype.
    axis
        The dim to shift. Its lengths do not change.
    amount
        The number of places: an int, or a Dim or a Data of integers with a number for each row. A positive
        amount shifts towards the end. It may exceed the length.
    value
        The number that fills the free positions. By default the class "[PAD]" of a vocabulary, else 0.
        Sequences that come in are empty.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The shifted values, over the same dims and those of the amount.

    Raises
    ------
    IndexError
        There is no such dim.
    TypeError, ValueError
        The amount is not an integer, or has the dim itself; or the dtype cannot hold `value`.

    Notes
    -----
    As RETURNN's `shift_right` and `shift_left`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.shift(x, "T", 1).to_list(), vl.dims.shift(x, "T", -1, value=9).to_list()
    ([[0, 3], [0]], [[1, 9], [9]])
    """
    amounts = as_amount(amount, "amount", None)
    k = place(x, axis)
    value = padding_class(x.vocab) if value is None else value
    dim = x._shape.dims[k]
    x = with_dims_of(x, amounts._shape.dims)
    with naming(fill="value"):
        result = _shift(x, x._shape.find(dim), amounts, value)
    return check_out_shape(result, out_shape)


def _shift(x: Data[Any], k: int, amounts: Data[Any], value: RowsLike) -> Data[Any]:
    x, k, _, _ = brought_before(x, k, amounts._shape.dims)
    dim = x._shape.dims[k]

    def change(lengths: Data[Any]) -> Data[Any]:
        lengths = with_dims_of(lengths, amounts._shape.dims)
        return _shift(lengths, lengths._shape.find(dim), amounts, 0)

    if has_inner(x._shape, k):
        shape = x._shape
        places: Any = spread(amounts, Shape(shape.dims[:k]))
        level = shape.span(k, k + 1)
        positions = arrays.shift(np.arange(shape.count(k + 1)), level, places, -1)
        return positions_taken(x, k, positions, [dim], change)
    x, k = lay_along(x, k)
    shape = x._shape
    backend = backend_of(x._values)
    level = shape.span(k, k + 1)
    places = int(amounts._values) if not amounts._shape.rank else spread(amounts, Shape(shape.dims[:k]))
    values = backend.shift(backend.contiguous(rows_of(x, k + 1)), level, places, value)
    return with_dims(x, k, values, [dim])
