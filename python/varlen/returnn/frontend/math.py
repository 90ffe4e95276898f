"""Arithmetic and comparisons, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from varlen import dims
from varlen.arguments import one_of
from varlen.dims import Data, Dim
from varlen.dims.records.spec import dtype_name
from varlen.returnn.frontend.convert import convert_to_tensor
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.tensor import Tensor, as_tensor

_KINDS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "max": "maximum", "min": "minimum", "and": "logical_and", "or": "logical_or",
    "squared_difference": "squared_difference", "logaddexp": "logaddexp",
}  # fmt: skip
_KINDS |= {symbol: symbol for symbol in _KINDS.values()}
_COMPARED = {
    "equal": "==", "not_equal": "!=", "<>": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=",
}  # fmt: skip
_COMPARED |= {symbol: symbol for symbol in _COMPARED.values()}


def _combine(
    kinds: dict[str, str], a: Any, kind: str, b: Any, allow_broadcast_all_sources: bool | None, dim_order: Any
) -> Tensor:
    one_of(kind, "kind", tuple(kinds))
    result = dims.combine(kinds[kind], a, b, broadcast=bool(allow_broadcast_all_sources))
    if dim_order is not None:
        front = [dim for dim in dim_order if dim in result.dims]
        result = result.transpose([*front, *[dim for dim in result.dims if dim not in front]])
    return as_tensor(result)


def combine(
    a: Data[Any] | complex,
    kind: str,
    b: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool | None = None,
    dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Combine two operands, aligned by their dims.

    Parameters
    ----------
    a, b
        Tensors or numbers.
    kind
        "+", "-", "*", "/", "//", "%", "**", "max", "min", "logical_and", "logical_or",
        "squared_difference" or "logaddexp", or "add" and so on.
    allow_broadcast_all_sources
        Whether both operands may lack dims of the result.
    dim_order
        Dims that come first in the result.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Raises
    ------
    ValueError
        The kind is unknown, or neither operand has all dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.combine(x, "+", 1).values
    array([4, 2])
    """
    check_operand(a, "a")
    check_operand(b, "b")
    return _combine(_KINDS, a, kind, b, allow_broadcast_all_sources, dim_order)


def compare(
    a: Data[Any] | complex,
    kind: str,
    b: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool | None = None,
    dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Compare two operands, aligned by their dims.

    Parameters
    ----------
    a, b
        Tensors or numbers.
    kind
        "==", "!=", "<", "<=", ">" or ">=", or "equal", "not_equal", "less" and so on.
    allow_broadcast_all_sources, dim_order
        As in `combine`.

    Returns
    -------
    Tensor
        Bools over the dims of both.

    Raises
    ------
    ValueError
        The kind is unknown, or neither operand has all dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.compare(x, "greater", 1).values
    array([ True, False])
    """
    check_operand(a, "a")
    check_operand(b, "b")
    return _combine(_COMPARED, a, kind, b, allow_broadcast_all_sources, dim_order)


def clip_by_value(
    x: Data[Any],
    clip_value_min: Data[Any] | float | None = None,
    clip_value_max: Data[Any] | float | None = None,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """Clip each number to two bounds.

    Parameters
    ----------
    x
        Numbers.
    clip_value_min, clip_value_max
        Tensors or numbers; None for no bound.
    allow_broadcast_all_sources
        Whether `x` may lack dims of the bounds, and the bounds those of each other.

    Returns
    -------
    Tensor
        The results, over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.clip_by_value(vl.Data(np.array([-2, 7]), [vl.Dim("two", 2)]), 0, 5).values
    array([0, 5])
    """
    check_tensor(x, "x")
    if clip_value_min is not None:
        check_operand(clip_value_min, "clip_value_min")
    if clip_value_max is not None:
        check_operand(clip_value_max, "clip_value_max")
    broadcast = allow_broadcast_all_sources
    if clip_value_min is not None:
        x = dims.combine("maximum", x, clip_value_min, broadcast=broadcast)
    if clip_value_max is not None:
        x = dims.combine("minimum", x, clip_value_max, broadcast=broadcast)
    return as_tensor(x)


def safe_log(a: Data[Any], *, eps: float | None = None) -> Tensor:
    """The logarithm of each number, or of `eps` if that is greater.

    Parameters
    ----------
    a
        Numbers.
    eps
        The least number; by default the smallest one of the dtype above 0.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.safe_log(vl.Data(np.array([1.0, 0.0]), [vl.Dim("two", 2)])).values
    array([   0.        , -744.44007192])
    """
    check_tensor(a, "a")
    minimum = _smallest(a) if eps is None else eps
    return as_tensor(dims.log(dims.combine("maximum", a, minimum)))


def _smallest(a: Data[Any]) -> float:
    name = dtype_name(a._values.dtype)
    # NumPy has no bfloat16; it has the exponents of float32, and 16 bits of fraction less.
    return 2.0**-133 if name == "bfloat16" else float(np.finfo(name).smallest_subnormal)


def lerp(
    start: Data[Any],
    end: Data[Any],
    weight: Data[Any] | float,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """Interpolate linearly between two tensors.

    Parameters
    ----------
    start, end
        Tensors.
    weight
        The position between them: 0 at the start, 1 at the end.
    allow_broadcast_all_sources
        Whether all three may lack dims of the result.

    Returns
    -------
    Tensor
        The results, over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.0, 8.0]), [vl.Dim("two", 2)])
    >>> rf.lerp(x, x + 4, 0.25).values
    array([1., 9.])
    """
    check_tensor(start, "start")
    check_tensor(end, "end")
    check_operand(weight, "weight")
    broadcast = allow_broadcast_all_sources
    way = dims.combine("*", weight, dims.combine("-", end, start, broadcast=broadcast), broadcast=broadcast)
    return as_tensor(dims.combine("+", start, way, broadcast=broadcast))


def where(
    cond: Data[Any],
    true_: Data[Any] | complex,
    false_: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """Choose between two operands by a condition.

    Parameters
    ----------
    cond
        Bools.
    true_, false_
        Tensors or numbers.
    allow_broadcast_all_sources
        Whether all three may lack dims of the result.

    Returns
    -------
    Tensor
        The results, over the dims of all. Two Python floats give float32, two ints int32.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.where(x > 1, x, 0).values
    array([3, 0])
    """
    check_tensor(cond, "cond")
    check_operand(true_, "true_")
    check_operand(false_, "false_")
    if not isinstance(true_, Data) and not isinstance(false_, Data):
        true_, false_ = convert_to_tensor(true_), convert_to_tensor(false_)
    return as_tensor(dims.where(cond, true_, false_, broadcast=allow_broadcast_all_sources))
