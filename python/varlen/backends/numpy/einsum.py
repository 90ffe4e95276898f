"""Sums of products by letters, of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.numpy.memory import assign
from varlen.errors import type_error

if TYPE_CHECKING:
    from varlen.backends.equation import Equation
    from varlen.levels import Levels


def einsum(
    equation: Equation,
    values: list[Any],
    levels: Levels,
    extents: tuple[int, ...],
    out: Any = None,
) -> Any:
    """The sum of products of one or two arrays of one dtype; halves are computed in float32."""
    dtype = values[0].dtype
    narrow = dtype.itemsize == 2 and dtype.kind in "fV"
    if narrow or not dtype.isnative:
        dtype = dtype.newbyteorder("=")
        values = [x.astype(np.float32 if narrow else dtype) for x in values]
    a, *rest = [x if x.ndim else x.reshape(1) for x in values]
    b = rest[0] if rest else None
    if not narrow:
        return _core.einsum(equation.text, a, b, levels, extents, out)
    if out is not None and (not isinstance(out, np.ndarray) or out.dtype != dtype):
        raise type_error("out", f"expected an array of {dtype}")
    wide = None if out is None else np.empty(out.shape, np.float32)
    result = _core.einsum(equation.text, a, b, levels, extents, wide)
    with np.errstate(over="ignore"):
        rows = result.astype(dtype)
    return rows if out is None else assign(out, rows)
