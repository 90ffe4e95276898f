"""Repeat positions of a dim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Dim, Level, Shape
from varlen.arguments import LARGEST, as_int
from varlen.dims.axes import describe, place
from varlen.dims.base import is_data
from varlen.dims.ops.gather import integers
from varlen.dims.ops.pick import bound_to, dims_over, pick, places_along, position_text
from varlen.dims.out_shape import check_out_shape
from varlen.dims.place import spread
from varlen.errors import overflow_error, value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def repeat(
    x: Data[Any],
    axis: Axis,
    counts: Data[Any] | int,
    out_dim: Dim | None = None,
    *,
    out_shape: OutShape | None = None,
) -> tuple[Data[Any], Dim]:
    """Repeat each position of a dim a given number of times.

    Parameters
    ----------
    x
        Any values.
    axis
        The dim whose positions are repeated, together with the sequences at them.
    counts
        The number of repeats: an int, or integers over some dims of `x`.
    out_dim
        The Dim of the result; without lengths, it receives them. By default `axis * counts` for an int, else
        a new Dim.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    values : Data
        The repeated values, with the new dim in place of `axis`.
    dim : Dim
        The new dim: its lengths are the sums of the counts.

    Raises
    ------
    ValueError
        A count is below 0; the message names the number and its position. Or the counts have a dim that `x`
        lacks, or whose lengths depend on `axis`.
    TypeError
        The counts are not integers.
    OverflowError
        The sum of the counts does not fit 63 bits.
    LengthMismatchError
        `out_dim` has other lengths than these sums.

    Notes
    -----
    As RETURNN's `repeat`.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([7, 8, 9]), [vl.dims.batch_dim, time])
    >>> y, dim = vl.dims.repeat(x, time, vl.Data(np.array([0, 2, 1]), [vl.dims.batch_dim, time]))
    >>> y.to_list(), dim.lengths
    ([[8, 8], [9]], array([2, 1]))
    >>> vl.dims.repeat(x, time, 2)[1] == time * 2
    True
    """
    k = place(x, axis)
    dim = x._shape.dims[k]
    product = None
    if is_data(counts):
        foreign = [other for other in counts.dims if x._shape.find(other) < 0]
        if foreign:
            raise value_error("counts", f"'{foreign[0].name}' is not among {describe(x.dims)}")
        others = dims_over([dim], [other for other in x._shape.dims if counts._shape.find(other) >= 0])
        shape = Shape([*others, dim])
        often = spread(integers(counts, "counts"), counts._shape, shape)
    else:
        others = dims_over([dim])
        shape = Shape([*others, dim])
        often = np.full(shape.count(shape.rank), as_int(counts, "counts", 0))
        product = dim * int(counts) if out_dim is None else None
    if (often < 0).any():
        i = int((often < 0).argmax())
        raise value_error(
            "counts", f"{often[i]} at {position_text(shape, i)} is below 0", row=i, number=int(often[i])
        )
    if often.size and int(often.max()) > LARGEST // often.size:
        total = sum(often.tolist())
        if total > LARGEST:
            raise overflow_error("counts", f"add up to {total}, which does not fit 63 bits")
    ends = np.concatenate([[0], np.cumsum(often)])
    level = Level.from_lengths(np.diff(ends[shape.span(len(others), shape.rank).offsets]))
    new = bound_to(out_dim, level, others, "repeated", product)
    coords = np.repeat(places_along(dim, shape), often)
    return check_out_shape(pick(x, [k], Shape([*others, new]), [coords], [new]), out_shape), new
