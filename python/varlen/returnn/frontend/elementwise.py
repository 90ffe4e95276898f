"""Functions of one number, as RETURNN's frontend names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varlen import dims as _dims
from varlen.dims import Data
from varlen.dims.records.spec import dtype_name
from varlen.returnn.tensor import Tensor, as_tensor


def _elementwise(name: str, what: str) -> Callable[[Data[Any]], Tensor]:
    operation = getattr(_dims, name)

    def function(a: Data[Any]) -> Tensor:
        return as_tensor(operation(a))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.{name}(x).dims == x.dims
    True
    """
    return function


abs = _elementwise("abs", "The absolute value")
ceil = _elementwise("ceil", "The least integer that is not below")
cos = _elementwise("cos", "The cosine")
elu = _elementwise("elu", "The number, or its exponential less one where it is below 0")
exp = _elementwise("exp", "The exponential")
expm1 = _elementwise("expm1", "The exponential less one")
floor = _elementwise("floor", "The greatest integer that is not above")
is_finite = _elementwise("is_finite", "Whether it is neither infinite nor NaN")
log = _elementwise("log", "The logarithm")
log1p = _elementwise("log1p", "The logarithm of one more")
logical_not = _elementwise("logical_not", "Whether it is false")
log_sigmoid = _elementwise("log_sigmoid", "The logarithm of the logistic function")
relu = _elementwise("relu", "The positive part")
round = _elementwise("round", "The nearest integer")
rsqrt = _elementwise("rsqrt", "One over the square root")
gelu = _elementwise("gelu", "The number, weighted by the normal distribution function")
sigmoid = _elementwise("sigmoid", "The logistic function")
silu = _elementwise("silu", "The number, weighted by its logistic function")
sin = _elementwise("sin", "The sine")
softplus = _elementwise("softplus", "The logarithm of one plus the exponential")
sqrt = _elementwise("sqrt", "The square root")
square = _elementwise("square", "The square")
tanh = _elementwise("tanh", "The hyperbolic tangent")


def neg(a: Data[Any]) -> Tensor:
    """The number with the other sign, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.neg(vl.Data(np.array([2.0, -3.0]), [vl.Dim("two", 2)])).values
    array([-2.,  3.])
    """
    return as_tensor(-a)


def reciprocal(a: Data[Any]) -> Tensor:
    """One over the number, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.reciprocal(vl.Data(np.array([2.0, 4.0]), [vl.Dim("two", 2)])).values
    array([0.5 , 0.25])
    """
    return as_tensor(1 / a)


def is_infinite(a: Data[Any]) -> Tensor:
    """Whether it is infinite, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.is_infinite(vl.Data(np.array([1.0, -np.inf]), [vl.Dim("two", 2)])).values
    array([False,  True])
    """
    return as_tensor(_dims.abs(a) == np.inf)


def is_neg_infinite(a: Data[Any]) -> Tensor:
    """Whether it is minus infinity, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.is_neg_infinite(vl.Data(np.array([np.inf, -np.inf]), [vl.Dim("two", 2)])).values
    array([False,  True])
    """
    return as_tensor(a == -np.inf)


def relu_square(x: Data[Any]) -> Tensor:
    """The square of the positive part, number by number.

    Parameters
    ----------
    x
        Numbers.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.relu_square(vl.Data(np.array([-1.0, 3.0]), [vl.Dim("two", 2)])).values
    array([0., 9.])
    """
    return as_tensor(_dims.square(_dims.relu(x)))


def safe_log(a: Data[Any], *, eps: float | None = None) -> Tensor:
    """The logarithm of the number, or of a least one where it is below, number by number.

    Parameters
    ----------
    a
        Numbers.
    eps
        The least number; the smallest one above 0 that the dtype has by default.

    Returns
    -------
    Tensor
        Over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.safe_log(vl.Data(np.array([1.0, 0.0]), [vl.Dim("two", 2)])).values
    array([   0.        , -744.44007192])
    """
    least = _smallest(a) if eps is None else eps
    return as_tensor(_dims.log(_dims.combine("maximum", a, least)))


def _smallest(a: Data[Any]) -> float:
    name = dtype_name(a._values.dtype)
    # NumPy has no bfloat16; it has the exponents of float32, and 16 bits of fraction less.
    return 2.0**-133 if name == "bfloat16" else float(np.finfo(name).smallest_subnormal)


def identity(x: Data[Any]) -> Tensor:
    """The same.

    Parameters
    ----------
    x
        Any values.

    Returns
    -------
    Tensor
        Itself, where it is one.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.identity(vl.Data(np.ones(2), [vl.Dim("two", 2)])).values
    array([1., 1.])
    """
    return as_tensor(x)
