"""Arithmetic, products and shares, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from varlen import dims
from varlen.dims import Data, Dim
from varlen.returnn.tensor import Tensor, as_tensor

_KINDS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "max": "maximum", "min": "minimum", "and": "logical_and", "or": "logical_or",
}  # fmt: skip
_KINDS |= {symbol: symbol for symbol in _KINDS.values()}
_COMPARED = {
    "equal": "==", "not_equal": "!=", "<>": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=",
}  # fmt: skip
_COMPARED |= {symbol: symbol for symbol in _COMPARED.values()}


def _combined(
    kinds: dict[str, str], a: Any, kind: str, b: Any, allow_broadcast_all_sources: bool, dim_order: Any
) -> Tensor:
    if kind not in kinds:
        raise ValueError(f"kind: expected one of {', '.join(kinds)}, got {kind!r}")
    result = dims.combine(kinds[kind], a, b, broadcast=allow_broadcast_all_sources)
    if dim_order is not None:
        ahead = [dim for dim in dim_order if dim in result.dims]
        result = result.transpose([*ahead, *[dim for dim in result.dims if dim not in ahead]])
    return as_tensor(result)


def combine(
    a: Data[Any] | complex,
    kind: str,
    b: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool = False,
    dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Two operands, lined up by their dims.

    Parameters
    ----------
    a, b
        Tensors or numbers.
    kind
        "+", "-", "*", "/", "//", "%", "**", "max", "min", "logical_and" or "logical_or", or "add" and so on.
    allow_broadcast_all_sources
        Whether neither operand needs to have all dims.
    dim_order
        Dims that come first in the result.

    Returns
    -------
    Tensor
        Over the dims of both.

    Raises
    ------
    ValueError
        Another kind; neither operand has all dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.combine(x, "+", 1).values
    array([4, 2])
    """
    return _combined(_KINDS, a, kind, b, allow_broadcast_all_sources, dim_order)


def compare(
    a: Data[Any] | complex,
    kind: str,
    b: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool = False,
    dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Two operands, lined up by their dims and compared.

    Parameters
    ----------
    a, b
        Tensors or numbers.
    kind
        "==", "!=", "<", "<=", ">" or ">=", or "equal", "not_equal", "less" and so on.
    allow_broadcast_all_sources, dim_order
        As those of `combine`.

    Returns
    -------
    Tensor
        Bools over the dims of both.

    Raises
    ------
    ValueError
        Another kind; neither operand has all dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.compare(x, "greater", 1).values
    array([ True, False])
    """
    return _combined(_COMPARED, a, kind, b, allow_broadcast_all_sources, dim_order)


def where(
    cond: Data[Any],
    true_: Data[Any] | complex,
    false_: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """One operand where a condition holds, else the other.

    Parameters
    ----------
    cond
        Bools.
    true_, false_
        Tensors or numbers.
    allow_broadcast_all_sources
        Whether none of the three needs to have all dims.

    Returns
    -------
    Tensor
        Over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.where(x > 1, x, 0).values
    array([3, 0])
    """
    return as_tensor(dims.where(cond, true_, false_, broadcast=allow_broadcast_all_sources))


def matmul(a: Data[Any], b: Data[Any], *, reduce: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """Products, summed over some dims; those whose lengths differ too.

    Parameters
    ----------
    a, b
        Tensors.
    reduce
        The dims that go, which both have.
    use_mask
        Taken for the sake of code that says it: there is no padding to be masked.

    Returns
    -------
    Tensor
        Over the common dims, those of a, then those of b.

    Notes
    -----
    RETURNN's `matmul` takes no dynamic dim without a mask.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> rf.matmul(x, x, reduce=time).values
    array([10, 16])
    """
    return as_tensor(dims.dot(a, b, reduce))


dot = matmul


def softmax(a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """Numbers that sum to one over some dims.

    Parameters
    ----------
    a
        Numbers.
    axis
        These dims.
    use_mask
        Taken for the sake of code that says it: there is no padding to be masked.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> rf.softmax(vl.Data(np.zeros(3), [vl.dims.batch_dim, time]), axis=time).values
    array([0.5, 0.5, 1. ])
    """
    return as_tensor(dims.softmax(a, axis))


def log_softmax(a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The logarithm of `softmax`.

    Parameters
    ----------
    a, axis, use_mask
        As those of `softmax`.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[1, 1])
    >>> rf.log_softmax(vl.Data(np.zeros(2), [vl.dims.batch_dim, time]), axis=time).values
    array([0., 0.])
    """
    return as_tensor(dims.log_softmax(a, axis))
