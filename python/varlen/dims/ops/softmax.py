"""Numbers as shares of their sum, over any set of dims."""

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


def softmax(
    x: Data[Any],
    axis: Axis | Sequence[Axis] = "T",
    *,
    scale: float = 1.0,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The softmax over some dims: exp(scale * x) divided by its sum, computed stably.

    Parameters
    ----------
    x
        Numbers.
    axis
        The dims over which they sum to one.
    scale
        What numbers are multiplied by first; one over a temperature.
    out_shape
        The expected dims.

    Returns
    -------
    Data
        Over the same dims. Of no positions there is nothing, not even NaN.

    Raises
    ------
    ValueError
        A scale that is not above zero.
    IndexError
        There is no such dim.

    Notes
    -----
    As RETURNN's `softmax`, without a mask: there is no padding.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 0, 1])
    >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, time])
    >>> vl.dims.softmax(x, time).to_list()
    [[0.5, 0.5], [], [1.0]]
    """
    return check_out_shape(_softmax(x, axis, scale, False), out_shape)


def log_softmax(
    x: Data[Any],
    axis: Axis | Sequence[Axis] = "T",
    *,
    scale: float = 1.0,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The logarithm of `softmax`.

    Parameters
    ----------
    x, axis, scale, out_shape
        As those of `softmax`.

    Returns
    -------
    Data
        Over the same dims.

    Raises
    ------
    ValueError, IndexError
        As those of `softmax`.

    Examples
    --------
    >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.log_softmax(x).values.round(3)
    array([-0.693, -0.693,  0.   ])
    """
    return check_out_shape(_softmax(x, axis, scale, True), out_shape)


def _softmax(x: Data[Any], axis: Any, scale: float, log: bool) -> Data[Any]:
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
    return ungroup(x, result, axes, order)


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
