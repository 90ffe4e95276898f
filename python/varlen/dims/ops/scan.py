"""Running sums, products and extremes along a dim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends.numeric import is_complex
from varlen.dims.axes import about_operation, place
from varlen.dims.ops.reduce import complex_first, group_dims, over_pairs, row_along
from varlen.dims.ops.softmax import ungroup
from varlen.dims.out_shape import check_out_shape
from varlen.ops.support.accumulator import accumulate, is_plain

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def scan(
    op: str,
    x: Data[Any],
    axis: Axis,
    exclusive: bool,
    reverse: bool,
    out_shape: OutShape | None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Data[Any]:
    """A scan along a dim: the shared part of `cumsum` and the like."""
    axes = (place(x, axis),)
    values, level, order, _ = group_dims(x, axes)
    how = {"exclusive": exclusive, "reverse": reverse}
    where = "" if is_plain(dtype, overflow) else row_along(x, axes)
    try:
        values, dtype = complex_first(values, dtype)
        if op == "sum" and is_complex(values) and is_plain(dtype, overflow):
            result = over_pairs(values, lambda pairs: accumulate("scan", op, pairs, level, how))
        else:
            result = accumulate("scan", op, values, level, how, dtype, overflow, where=where)
    except TypeError as error:
        raise about_operation(error, f"cum{op}", x.dims) from None
    return check_out_shape(ungroup(x, result, axes, order), out_shape)
