"""Arithmetic, products and shares, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from varlen import dims
from varlen.dims import Data, Dim
from varlen.returnn.frontend.convert import convert_to_tensor
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


def _combined(
    kinds: dict[str, str], a: Any, kind: str, b: Any, allow_broadcast_all_sources: bool | None, dim_order: Any
) -> Tensor:
    if kind not in kinds:
        raise ValueError(f"kind: expected one of {', '.join(kinds)}, got {kind!r}")
    result = dims.combine(kinds[kind], a, b, broadcast=bool(allow_broadcast_all_sources))
    if dim_order is not None:
        ahead = [dim for dim in dim_order if dim in result.dims]
        result = result.transpose([*ahead, *[dim for dim in result.dims if dim not in ahead]])
    return as_tensor(result)


def combine(
    a: Data[Any] | complex,
    kind: str,
    b: Data[Any] | complex,
    *,
    allow_broadcast_all_sources: bool | None = None,
    dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Two operands, lined up by their dims.

    Parameters
    ----------
    a, b
        Tensors or numbers.
    kind
        "+", "-", "*", "/", "//", "%", "**", "max", "min", "logical_and", "logical_or",
        "squared_difference" or "logaddexp", or "add" and so on.
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
    allow_broadcast_all_sources: bool | None = None,
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


def combine_bc(
    a: Data[Any] | complex, kind: str, b: Data[Any] | complex, *, dim_order: Sequence[Dim] | None = None
) -> Tensor:
    """As `combine`, where neither operand needs to have all dims.

    Parameters
    ----------
    a, kind, b, dim_order
        As those of `combine`.

    Returns
    -------
    Tensor
        Over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x, y = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Data(np.array([10]), [vl.Dim("one", 1)])
    >>> rf.combine_bc(x, "+", y).to_list()
    [[13], [11]]
    """
    return combine(a, kind, b, allow_broadcast_all_sources=True, dim_order=dim_order)


def compare_bc(
    a: Data[Any] | complex, kind: str, b: Data[Any] | complex, *, dim_order: Sequence[Dim] | None = None
) -> Tensor:
    """As `compare`, where neither operand needs to have all dims.

    Parameters
    ----------
    a, kind, b, dim_order
        As those of `compare`.

    Returns
    -------
    Tensor
        Bools over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x, y = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Data(np.array([2]), [vl.Dim("one", 1)])
    >>> rf.compare_bc(x, "<", y).to_list()
    [[False], [True]]
    """
    return compare(a, kind, b, allow_broadcast_all_sources=True, dim_order=dim_order)


def _of_two(name: str, what: str, kind: str) -> Callable[[Any, Any], Tensor]:
    operation = compare if kind in _COMPARED else combine

    def function(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
        return operation(a, kind, b)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        Over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.{name}(x, 2).dims == x.dims
    True
    """
    return function


add = _of_two("add", "The sum", "+")
sub = _of_two("sub", "The difference", "-")
mul = _of_two("mul", "The product", "*")
true_divide = _of_two("true_divide", "The quotient", "/")
floor_divide = _of_two("floor_divide", "The quotient, and the greatest integer that is not above it", "//")
mod = _of_two("mod", "What `floor_divide` leaves", "%")
pow = _of_two("pow", "The power", "**")
squared_difference = _of_two("squared_difference", "The square of the difference", "squared_difference")
log_add_exp = _of_two("log_add_exp", "The logarithm of the sum of exponentials", "logaddexp")
logical_and = _of_two("logical_and", "Whether both are true", "logical_and")
logical_or = _of_two("logical_or", "Whether one of them is true", "logical_or")
equal = _of_two("equal", "Whether both are equal", "==")
not_equal = _of_two("not_equal", "Whether they differ", "!=")
less = _of_two("less", "Whether the first is less", "<")
less_equal = _of_two("less_equal", "Whether the first is not greater", "<=")
greater = _of_two("greater", "Whether the first is greater", ">")
greater_equal = _of_two("greater_equal", "Whether the first is not less", ">=")


def ceil_divide(a: Data[Any], b: Data[Any] | complex) -> Tensor:
    """The quotient, and the least integer that is not below it, number by number.

    Parameters
    ----------
    a, b
        Tensors, of which one has all dims; `b` also a number.

    Returns
    -------
    Tensor
        Over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.ceil_divide(vl.Data(np.array([4, 5]), [vl.Dim("two", 2)]), 2).values
    array([2, 3])
    """
    return as_tensor(-floor_divide(-a, b))


def _extreme(name: str, what: str) -> Callable[..., Tensor]:
    def function(a: Data[Any] | float, b: Data[Any] | float, *other_tensors: Data[Any] | float) -> Tensor:
        return as_tensor(dims.combine(name, a, b, *other_tensors))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what} of several, number by number.

    Parameters
    ----------
    a, b, *other_tensors
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        Over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.{name}(x, 2, x).dims == x.dims
    True
    """
    return function


maximum = _extreme("maximum", "The greatest")
minimum = _extreme("minimum", "The least")


def clip_by_value(
    x: Data[Any],
    clip_value_min: Data[Any] | float | None = None,
    clip_value_max: Data[Any] | float | None = None,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """Numbers brought between two bounds.

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
        Over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.clip_by_value(vl.Data(np.array([-2, 7]), [vl.Dim("two", 2)]), 0, 5).values
    array([0, 5])
    """
    broadcast = allow_broadcast_all_sources
    if clip_value_min is not None:
        x = dims.combine("maximum", x, clip_value_min, broadcast=broadcast)
    if clip_value_max is not None:
        x = dims.combine("minimum", x, clip_value_max, broadcast=broadcast)
    return as_tensor(x)


def lerp(
    start: Data[Any],
    end: Data[Any],
    weight: Data[Any] | float,
    *,
    allow_broadcast_all_sources: bool = False,
) -> Tensor:
    """Numbers on the way from one to another.

    Parameters
    ----------
    start, end
        Tensors.
    weight
        How far: 0 at the start, 1 at the end.
    allow_broadcast_all_sources
        Whether none of the three needs to have all dims.

    Returns
    -------
    Tensor
        Over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.0, 8.0]), [vl.Dim("two", 2)])
    >>> rf.lerp(x, x + 4, 0.25).values
    array([1., 9.])
    """
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
        Over the dims of all; of two floats of Python float32, of two ints int32.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.where(x > 1, x, 0).values
    array([3, 0])
    """
    if not isinstance(true_, Data) and not isinstance(false_, Data):
        true_, false_ = convert_to_tensor(true_), convert_to_tensor(false_)
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
