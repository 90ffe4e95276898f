"""Softmax over any set of dims."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_float
from varlen.backends import backend_of
from varlen.dims.axes import about_operation, places
from varlen.dims.ops.reduce import group_dims
from varlen.dims.out_shape import check_out_shape
from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def shares(
    x: Data[Any], axis: Axis | Sequence[Axis], scale: float, out_shape: OutShape | None, log: bool = False
) -> Data[Any]:
    """The softmax over some dims, or its logarithm."""
    scale = as_float(scale, "scale")
    if not scale > 0:
        raise value_error("scale", f"expected a number above 0, got {scale}")
    axes = places(x, axis)
    values, level, order, _ = group_dims(x, axes)
    backend = backend_of(values)
    try:
        result = backend.softmax(values, level, log, 1.0 / scale)
    except TypeError as error:
        raise about_operation(error, "softmax", x.dims) from None
    return check_out_shape(ungroup(x, result, axes, order), out_shape)


def ungroup(x: Data[Any], values: Any, axes: Sequence[int], order: Any) -> Data[Any]:
    """Values that `grouped` brought together, back where they lay."""
    perm = x._shape.group(axes)[0]
    shape = tuple(x._values.shape)
    if order is not None or perm is not None:
        backend = backend_of(values)
    if order is not None:
        inverse = np.empty_like(order)
        inverse[order] = np.arange(len(order))
        values = backend.take_rows(values, inverse)
    if perm is not None:
        values = values.reshape([shape[k] for k in perm])
        values = backend.contiguous(backend.transpose(values, tuple(np.argsort(perm).tolist())))
    result = x._like(values.reshape(shape))
    if x._facts.sparse_dim is not None or x._facts.name is not None:
        result._facts = x._facts._replace(sparse_dim=None, name=None)
    return result
