"""Verbs of named dims, as RETURNN's frontend names them."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from varlen import dims as _dims
from varlen.dims import Data, Dim
from varlen.returnn.frontend.convert import FLOAT, INT, PLACE, number, on_device, with_roles
from varlen.returnn.frontend.math import combine, compare
from varlen.returnn.frontend.operands import check_operand, check_tensor
from varlen.returnn.frontend.random import random
from varlen.returnn.frontend.reduce import reduce
from varlen.returnn.frontend.window import pool, pool1d
from varlen.returnn.tensor import Tensor, as_tensor

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.returnn.frontend.random import SeedLike


def abs(a: Data[Any]) -> Tensor:
    """The absolute value, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.abs(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.abs(a))


def ceil(a: Data[Any]) -> Tensor:
    """The ceiling, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.ceil(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.ceil(a))


def cos(a: Data[Any]) -> Tensor:
    """The cosine, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.cos(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.cos(a))


def elu(a: Data[Any]) -> Tensor:
    """The exponential linear unit, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.elu(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.elu(a))


def exp(a: Data[Any]) -> Tensor:
    """The exponential, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.exp(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.exp(a))


def expm1(a: Data[Any]) -> Tensor:
    """The exponential minus one, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.expm1(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.expm1(a))


def floor(a: Data[Any]) -> Tensor:
    """The floor, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.floor(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.floor(a))


def is_finite(a: Data[Any]) -> Tensor:
    """True for finite numbers, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.is_finite(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.is_finite(a))


def log(a: Data[Any]) -> Tensor:
    """The logarithm, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.log(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.log(a))


def log1p(a: Data[Any]) -> Tensor:
    """The logarithm of one plus the number, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.log1p(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.log1p(a))


def logical_not(a: Data[Any]) -> Tensor:
    """The logical negation, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.logical_not(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.logical_not(a))


def log_sigmoid(a: Data[Any]) -> Tensor:
    """The logarithm of the sigmoid, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.log_sigmoid(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.log_sigmoid(a))


def relu(a: Data[Any]) -> Tensor:
    """The rectified linear unit, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.relu(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.relu(a))


def round(a: Data[Any]) -> Tensor:
    """The nearest integer, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.round(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.round(a))


def rsqrt(a: Data[Any]) -> Tensor:
    """The reciprocal of the square root, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.rsqrt(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.rsqrt(a))


def gelu(a: Data[Any]) -> Tensor:
    """The Gaussian error linear unit, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.gelu(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.gelu(a))


def sigmoid(a: Data[Any]) -> Tensor:
    """The logistic function, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.sigmoid(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.sigmoid(a))


def silu(a: Data[Any]) -> Tensor:
    """The sigmoid linear unit, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.silu(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.silu(a))


def sin(a: Data[Any]) -> Tensor:
    """The sine, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.sin(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.sin(a))


def softplus(a: Data[Any]) -> Tensor:
    """The logarithm of one plus the exponential, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.softplus(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.softplus(a))


def sqrt(a: Data[Any]) -> Tensor:
    """The square root, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.sqrt(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.sqrt(a))


def square(a: Data[Any]) -> Tensor:
    """The square, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.square(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.square(a))


def tanh(a: Data[Any]) -> Tensor:
    """The hyperbolic tangent, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([0.25, 0.5]), [vl.Dim("two", 2)])
    >>> rf.tanh(x).dims == x.dims
    True
    """
    check_tensor(a, "a")
    return as_tensor(_dims.tanh(a))


def neg(a: Data[Any]) -> Tensor:
    """The negative, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.neg(vl.Data(np.array([2.0, -3.0]), [vl.Dim("two", 2)])).values
    array([-2.,  3.])
    """
    check_tensor(a, "a")
    return as_tensor(-a)


def reciprocal(a: Data[Any]) -> Tensor:
    """The reciprocal, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.reciprocal(vl.Data(np.array([2.0, 4.0]), [vl.Dim("two", 2)])).values
    array([0.5 , 0.25])
    """
    check_tensor(a, "a")
    return as_tensor(1 / a)


def is_infinite(a: Data[Any]) -> Tensor:
    """True for infinite numbers, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.is_infinite(vl.Data(np.array([1.0, -np.inf]), [vl.Dim("two", 2)])).values
    array([False,  True])
    """
    check_tensor(a, "a")
    return as_tensor(_dims.abs(a) == np.inf)


def is_neg_infinite(a: Data[Any]) -> Tensor:
    """True for minus infinity, number by number.

    Parameters
    ----------
    a
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.is_neg_infinite(vl.Data(np.array([np.inf, -np.inf]), [vl.Dim("two", 2)])).values
    array([False,  True])
    """
    check_tensor(a, "a")
    return as_tensor(a == -np.inf)


def relu_square(x: Data[Any]) -> Tensor:
    """The square of the rectified linear unit, number by number.

    Parameters
    ----------
    x
        Numbers.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.relu_square(vl.Data(np.array([-1.0, 3.0]), [vl.Dim("two", 2)])).values
    array([0., 9.])
    """
    check_tensor(x, "x")
    return as_tensor(_dims.square(_dims.relu(x)))


def identity(x: Data[Any]) -> Tensor:
    """Return the values as they are.

    Parameters
    ----------
    x
        Any values.

    Returns
    -------
    Tensor
        `x` itself, if it is a Tensor.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.identity(vl.Data(np.ones(2), [vl.Dim("two", 2)])).values
    array([1., 1.])
    """
    check_tensor(x, "x")
    return as_tensor(x)


def add(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The sum, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.add(x, 2).dims == x.dims
    True
    """
    return combine(a, "+", b)


def sub(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The difference, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.sub(x, 2).dims == x.dims
    True
    """
    return combine(a, "-", b)


def mul(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The product, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.mul(x, 2).dims == x.dims
    True
    """
    return combine(a, "*", b)


def true_divide(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The quotient, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.true_divide(x, 2).dims == x.dims
    True
    """
    return combine(a, "/", b)


def floor_divide(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The quotient, rounded down, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.floor_divide(x, 2).dims == x.dims
    True
    """
    return combine(a, "//", b)


def mod(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The remainder of `floor_divide`, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.mod(x, 2).dims == x.dims
    True
    """
    return combine(a, "%", b)


def pow(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The power, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.pow(x, 2).dims == x.dims
    True
    """
    return combine(a, "**", b)


def squared_difference(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The square of the difference, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.squared_difference(x, 2).dims == x.dims
    True
    """
    return combine(a, "squared_difference", b)


def log_add_exp(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """The logarithm of the sum of exponentials, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.log_add_exp(x, 2).dims == x.dims
    True
    """
    return combine(a, "logaddexp", b)


def logical_and(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether both are true, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.logical_and(x, 2).dims == x.dims
    True
    """
    return combine(a, "logical_and", b)


def logical_or(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether at least one is true, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.logical_or(x, 2).dims == x.dims
    True
    """
    return combine(a, "logical_or", b)


def equal(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether both are equal, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.equal(x, 2).dims == x.dims
    True
    """
    return compare(a, "==", b)


def not_equal(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether they differ, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.not_equal(x, 2).dims == x.dims
    True
    """
    return compare(a, "!=", b)


def less(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether the first is less, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.less(x, 2).dims == x.dims
    True
    """
    return compare(a, "<", b)


def less_equal(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether the first is not greater, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.less_equal(x, 2).dims == x.dims
    True
    """
    return compare(a, "<=", b)


def greater(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether the first is greater, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.greater(x, 2).dims == x.dims
    True
    """
    return compare(a, ">", b)


def greater_equal(a: Data[Any] | complex, b: Data[Any] | complex) -> Tensor:
    """Whether the first is not less, number by number.

    Parameters
    ----------
    a, b
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.greater_equal(x, 2).dims == x.dims
    True
    """
    return compare(a, ">=", b)


def combine_bc(
    a: Data[Any] | complex, kind: str, b: Data[Any] | complex, *, dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Like `combine`, but both operands may lack dims of the result.

    Parameters
    ----------
    a, kind, b, dim_order
        As in `combine`.

    Returns
    -------
    Tensor
        The results, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> y = vl.Data(np.array([10]), [vl.Dim("one", 1)])
    >>> rf.combine_bc(x, "+", y).to_list()
    [[13], [11]]
    """
    return combine(a, kind, b, allow_broadcast_all_sources=True, dim_order=dim_order)


def compare_bc(
    a: Data[Any] | complex, kind: str, b: Data[Any] | complex, *, dim_order: Sequence[Dim] | None = None,
) -> Tensor:
    """Like `compare`, but both operands may lack dims of the result.

    Parameters
    ----------
    a, kind, b, dim_order
        As in `compare`.

    Returns
    -------
    Tensor
        Bools over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> y = vl.Data(np.array([2]), [vl.Dim("one", 1)])
    >>> rf.compare_bc(x, "<", y).to_list()
    [[False], [True]]
    """
    return compare(a, kind, b, allow_broadcast_all_sources=True, dim_order=dim_order)


def ceil_divide(a: Data[Any], b: Data[Any] | complex) -> Tensor:
    """The quotient of each pair of numbers, rounded up.

    Parameters
    ----------
    a, b
        Tensors; one of them has all dims. `b` may be a number.

    Returns
    -------
    Tensor
        The quotients, over the dims of both.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.ceil_divide(vl.Data(np.array([4, 5]), [vl.Dim("two", 2)]), 2).values
    array([2, 3])
    """
    check_tensor(a, "a")
    check_operand(b, "b")
    return as_tensor(-floor_divide(-a, b))


def maximum(a: Data[Any] | float, b: Data[Any] | float, *other_tensors: Data[Any] | float) -> Tensor:
    """The greatest of several, number by number.

    Parameters
    ----------
    a, b, *other_tensors
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.maximum(x, 2, x).dims == x.dims
    True
    """
    check_operand(a, "a")
    check_operand(b, "b")
    for i, part in enumerate(other_tensors):
        check_operand(part, f"other_tensors[{i}]")
    return as_tensor(_dims.combine("maximum", a, b, *other_tensors))


def minimum(a: Data[Any] | float, b: Data[Any] | float, *other_tensors: Data[Any] | float) -> Tensor:
    """The least of several, number by number.

    Parameters
    ----------
    a, b, *other_tensors
        Tensors or numbers; one of them has all dims.

    Returns
    -------
    Tensor
        The results, over the dims of all.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])
    >>> rf.minimum(x, 2, x).dims == x.dims
    True
    """
    check_operand(a, "a")
    check_operand(b, "b")
    for i, part in enumerate(other_tensors):
        check_operand(part, f"other_tensors[{i}]")
    return as_tensor(_dims.combine("minimum", a, b, *other_tensors))


def matmul(a: Data[Any], b: Data[Any], *, reduce: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """Sum products over some dims, including ragged ones.

    Parameters
    ----------
    a, b
        Tensors.
    reduce
        The dims to sum over, which both have.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The products, over the common dims, then the other dims of `a`, then those of `b`.

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
    check_tensor(a, "a")
    check_tensor(b, "b")
    return as_tensor(_dims.dot(a, b, reduce))


def softmax(a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The softmax over some dims.

    Parameters
    ----------
    a
        Numbers.
    axis
        The dims over which the results sum to one.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> rf.softmax(vl.Data(np.zeros(3), [vl.dims.batch_dim, time]), axis=time).values
    array([0.5, 0.5, 1. ])
    """
    check_tensor(a, "a")
    return as_tensor(_dims.softmax(a, axis))


def log_softmax(a: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The logarithm of `softmax`.

    Parameters
    ----------
    a, axis, use_mask
        As in `softmax`.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[1, 1])
    >>> rf.log_softmax(vl.Data(np.zeros(2), [vl.dims.batch_dim, time]), axis=time).values
    array([0., 0.])
    """
    check_tensor(a, "a")
    return as_tensor(_dims.log_softmax(a, axis))


def reduce_sum(
    source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True, distributed: bool = False,
) -> Tensor:
    """The sum over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.
    distributed
        False, as in `reduce`.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_sum(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="sum", axis=axis, distributed=distributed)


def reduce_mean(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The mean over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_mean(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="mean", axis=axis)


def reduce_max(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The greatest number over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_max(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="max", axis=axis)


def reduce_min(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The least number over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_min(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="min", axis=axis)


def reduce_any(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """Whether any is true over some dims.

    Parameters
    ----------
    source
        Bools.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([True, False, True]), [vl.dims.batch_dim, time])
    >>> rf.reduce_any(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="any", axis=axis)


def reduce_all(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """Whether all are true over some dims.

    Parameters
    ----------
    source
        Bools.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([True, False, True]), [vl.dims.batch_dim, time])
    >>> rf.reduce_all(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="all", axis=axis)


def reduce_argmax(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The position of the greatest number over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_argmax(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="argmax", axis=axis)


def reduce_argmin(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The position of the least number over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_argmin(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="argmin", axis=axis)


def reduce_logsumexp(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The logarithm of the sum of exponentials over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_logsumexp(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="logsumexp", axis=axis)


def reduce_logmeanexp(source: Data[Any], *, axis: Dim | Sequence[Dim], use_mask: bool = True) -> Tensor:
    """The logarithm of the mean of exponentials over some dims.

    Parameters
    ----------
    source
        Numbers.
    axis
        The dims to reduce.
    use_mask
        Accepted for compatibility: there is no padding to mask.

    Returns
    -------
    Tensor
        The results, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.reduce_logmeanexp(x, axis=time).dims == (vl.dims.batch_dim,)
    True
    """
    return reduce(source, mode="logmeanexp", axis=axis)


def get_default_float_dtype() -> str:
    """The dtype of Python floats.

    Returns
    -------
    str
        "float32", always.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.get_default_float_dtype()
    'float32'
    """
    return FLOAT


def get_default_int_dtype() -> str:
    """The dtype of Python ints.

    Returns
    -------
    str
        "int32", always.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.get_default_int_dtype()
    'int32'
    """
    return INT


def get_default_array_index_dtype() -> str:
    """The dtype of positions.

    Returns
    -------
    str
        "int64", where RETURNN has int32.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.get_default_array_index_dtype()
    'int64'
    """
    return PLACE


def is_float_dtype(dtype: str) -> bool:
    """Whether a dtype is a float type.

    Parameters
    ----------
    dtype
        The name.

    Returns
    -------
    bool
        True for bfloat16 too.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.is_float_dtype("bfloat16"), rf.is_float_dtype("int8")
    (True, False)
    """
    return dtype.startswith(("float", "bfloat"))


def cast(tensor: Data[Any], dtype: DTypeLike) -> Tensor:
    """Convert the values to another dtype.

    Parameters
    ----------
    tensor
        Any values.
    dtype
        A name, or a dtype of NumPy or torch.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.cast(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "float32").dtype
    'float32'
    """
    check_tensor(tensor, "tensor")
    return as_tensor(tensor.cast(dtype))


def copy_to_device(x: Data[Any], device: str | None = None) -> Tensor:
    """Move the values to a device.

    Parameters
    ----------
    x
        Any values.
    device
        "cpu", "cuda" and so on; arrays become tensors for any but the CPU. By default they stay.

    Returns
    -------
    Tensor
        The values on the device, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.copy_to_device(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), "cpu").device
    'cpu'
    """
    check_tensor(x, "x")
    return on_device(x, device)


def set_sparse_dim(source: Data[Any], sparse_dim: Dim) -> Tensor:
    """Declare integers as positions of a dim.

    Parameters
    ----------
    source
        Integers.
    sparse_dim
        The dim.

    Returns
    -------
    Tensor
        A Tensor that shares the values.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)])
    >>> rf.set_sparse_dim(x, vl.Dim("words", 3)).sparse_dim.name
    'words'
    """
    check_tensor(source, "source")
    return with_roles(source, sparse_dim)


def expand_dim(source: Data[Any], dim: Dim) -> Tensor:
    """Repeat the values over one more dim.

    Parameters
    ----------
    source
        Any values.
    dim
        A dim that `source` lacks.

    Returns
    -------
    Tensor
        The values, with that dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.expand_dim(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)]), vl.Dim("three", 3)).ndim
    2
    """
    check_tensor(source, "source")
    return as_tensor(_dims.expand_dim(source, dim))


def squeeze(source: Data[Any], axis: Dim) -> Tensor:
    """Remove a dim of one position.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.

    Returns
    -------
    Tensor
        The values, without that dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> one = vl.Dim("one", 1)
    >>> rf.squeeze(vl.Data(np.array([[3, 1]]), [one, vl.Dim("two", 2)]), one).to_list()
    [3, 1]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.squeeze(source, axis))


def split(source: Data[Any], *, axis: Dim, out_dims: Sequence[Dim]) -> tuple[Tensor, ...]:
    """Split along a dim that is a sum of dims.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    out_dims
        A dim for each part. Their lengths add up to those of `axis`.

    Returns
    -------
    tuple[Tensor, ...]
        A part for each dim.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
    >>> x = vl.Data(np.arange(5), [two + three])
    >>> [part.to_list() for part in rf.split(x, axis=two + three, out_dims=[two, three])]
    [[0, 1], [2, 3, 4]]
    """
    check_tensor(source, "source")
    return tuple([as_tensor(part) for part in _dims.split(source, axis, out_dims)])


def shift_right(source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1) -> Tensor:
    """Shift right: each position gets the value some positions before it, row by row.

    Parameters
    ----------
    source
        Any values.
    axis
        The dim.
    pad_value
        The value of the positions that become free.
    amount
        The number of places.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.shift_right(x, axis=time, pad_value=0).to_list()
    [[0, 3, 1], [0]]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.shift(source, axis, amount, value=number(pad_value, "pad_value")))


def shift_left(source: Data[Any], *, axis: Dim, pad_value: Any, amount: int = 1) -> Tensor:
    """Shift left: each position gets the value some positions after it, row by row.

    Parameters
    ----------
    source, axis, pad_value, amount
        As in `shift_right`.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.shift_left(x, axis=time, pad_value=0).to_list()
    [[1, 4, 0], [0]]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.shift(source, axis, -amount, value=number(pad_value, "pad_value")))


def reverse_sequence(tensor: Data[Any], *, axis: Dim, handle_dynamic_dims: bool = True) -> Tensor:
    """Reverse each row.

    Parameters
    ----------
    tensor
        Any values.
    axis
        The dim.
    handle_dynamic_dims
        Accepted for compatibility: each row ends at its own end.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.reverse_sequence(x, axis=time).to_list()
    [[4, 1, 3], [1]]
    """
    check_tensor(tensor, "tensor")
    return as_tensor(_dims.reverse(tensor, axis))


def cumsum(source: Data[Any], *, spatial_dim: Dim) -> Tensor:
    """The running sum of each row.

    Parameters
    ----------
    source
        Numbers.
    spatial_dim
        The dim.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, time])
    >>> rf.cumsum(x, spatial_dim=time).to_list()
    [[3, 4, 8], [1]]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.cumsum(source, spatial_dim))


def pad_packed(source: Data[Any], *, in_dim: Dim, dims: Sequence[Dim]) -> Tensor:
    """The inverse of `pack_padded`.

    Parameters
    ----------
    source
        Any values.
    in_dim
        The dim to replace.
    dims
        The dims that replace it, the slowest first.

    Returns
    -------
    Tensor
        The values, over these dims, without padding.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, time])
    >>> y, frames = rf.pack_padded(x, dims=[vl.dims.batch_dim, time])
    >>> rf.pad_packed(y, in_dim=frames, dims=x.dims).to_list()
    [[3, 1], [4]]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.unflatten(source, in_dim, dims))


def search_sorted(
    sorted_seq: Data[Any], values: Data[Any], *, axis: Dim, side: str = "left",
    out_dtype: DTypeLike = "int32",
) -> Tensor:
    """Find where numbers would go in each ascending row.

    Parameters
    ----------
    sorted_seq
        Numbers that ascend along the dim.
    values
        The numbers to look up.
    axis
        The dim; its lengths may differ, unlike in RETURNN.
    side
        "left" or "right" of equal numbers.
    out_dtype
        The dtype of the positions.

    Returns
    -------
    Tensor
        The positions, over the dims of `values` and the remaining dims of `sorted_seq`.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[3, 1])
    >>> x = vl.Data(np.array([1, 3, 4, 2]), [vl.dims.batch_dim, time])
    >>> rf.search_sorted(x, vl.Data(np.array([3, 3]), [vl.dims.batch_dim]), axis=time).values
    array([1, 1], dtype=int32)
    """
    check_tensor(sorted_seq, "sorted_seq")
    check_tensor(values, "values")
    return as_tensor(_dims.search_sorted(sorted_seq, values, axis, side=side).cast(out_dtype))


def one_hot(source: Data[Any]) -> Tensor:
    """1 at the class of each position, 0 at the others.

    Parameters
    ----------
    source
        Classes, with a `sparse_dim`.

    Returns
    -------
    Tensor
        float32, with the dim of the classes as the last.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> x = vl.Data(np.array([2, 0]), [vl.Dim("two", 2)], sparse_dim=vl.Dim("words", 3))
    >>> rf.one_hot(x).to_list()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    check_tensor(source, "source")
    return as_tensor(_dims.one_hot(source, dtype="float32"))


def zeros_like(other: Data[Any]) -> Tensor:
    """Zeros over the dims of another tensor, with its dtype and device.

    Parameters
    ----------
    other
        Any values.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.zeros_like(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])).values
    array([0, 0])
    """
    check_tensor(other, "other")
    return with_roles(_dims.zeros(other.dims, like=other), other.sparse_dim)


def ones_like(other: Data[Any]) -> Tensor:
    """Ones over the dims of another tensor, with its dtype and device.

    Parameters
    ----------
    other
        Any values.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.ones_like(vl.Data(np.array([3, 1]), [vl.Dim("two", 2)])).values
    array([1, 1])
    """
    check_tensor(other, "other")
    return with_roles(_dims.ones(other.dims, like=other), other.sparse_dim)


def last_frame_position_of_dim(
    dim: Dim, *, device: str | None = None, allow_scalar_on_cpu: bool = True,
) -> Tensor:
    """The last position of each row of a dim.

    Parameters
    ----------
    dim
        A dim with lengths.
    device
        The device of the result.
    allow_scalar_on_cpu
        Accepted for compatibility, and ignored.

    Returns
    -------
    Tensor
        The positions, over the dims that the dim depends on; -1 for an empty row, where RETURNN gives 0.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.last_frame_position_of_dim(vl.Dim("time", lengths=[3, 0])).values
    array([ 2, -1])
    """
    return on_device(_dims.last_frame_position_of_dim(dim), device)


def cross_entropy(
    *, estimated: Data[Any], target: Data[Any], axis: Dim,
    estimated_type: Literal["logits", "probs", "log-probs"],
) -> Tensor:
    """The cross entropy of target classes.

    Parameters
    ----------
    estimated
        Floats over the classes.
    target
        Classes, or a probability for each.
    axis
        The dim of the classes.
    estimated_type
        The kind of numbers in `estimated`: "logits", "probs" or "log-probs".

    Returns
    -------
    Tensor
        The loss at each position, over the dims of both without the classes.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> words, time = vl.Dim("words", 2), vl.Dim("time", lengths=[2, 1])
    >>> target = vl.Data(np.array([0, 1, 1]), [vl.dims.batch_dim, time], sparse_dim=words)
    >>> logits = vl.Data(np.zeros((3, 2)), [vl.dims.batch_dim, time, words])
    >>> loss = rf.cross_entropy(estimated=logits, target=target, axis=words, estimated_type="logits")
    >>> loss.values.round(3)
    array([0.693, 0.693, 0.693])
    """
    check_tensor(estimated, "estimated")
    check_tensor(target, "target")
    return as_tensor(_dims.cross_entropy(estimated, target, axis, estimated_type=estimated_type))


def edit_distance(
    a: Data[Any], a_spatial_dim: Dim, b: Data[Any], b_spatial_dim: Dim, *, dtype: DTypeLike = "int32",
) -> Tensor:
    """The edit distance between sequences: the fewest substitutions, insertions and deletions.

    Parameters
    ----------
    a, b
        Integers.
    a_spatial_dim, b_spatial_dim
        The dims of their sequences.
    dtype
        The dtype of the result.

    Returns
    -------
    Tensor
        The distances, over the remaining dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> found, true = vl.Dim("found", lengths=[3, 1]), vl.Dim("true", lengths=[2, 2])
    >>> x = vl.Data(np.array([3, 1, 4, 1]), [vl.dims.batch_dim, found])
    >>> y = vl.Data(np.array([3, 4, 1, 5]), [vl.dims.batch_dim, true])
    >>> rf.edit_distance(x, found, y, true).values
    array([1, 1], dtype=int32)
    """
    check_tensor(a, "a")
    check_tensor(b, "b")
    return as_tensor(_dims.edit_distance(a, b, axis=a_spatial_dim, b_axis=b_spatial_dim).cast(dtype))


def normalize(a: Data[Any], *, axis: Dim | Sequence[Dim], epsilon: float = 1e-6) -> Tensor:
    """Normalize over some dims: subtract the mean, divide by the standard deviation.

    Parameters
    ----------
    a
        Numbers.
    axis
        The dims of mean and variance.
    epsilon
        A small number, added to the variance.

    Returns
    -------
    Tensor
        The results, over the same dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[2, 1])
    >>> x = vl.Data(np.array([1.0, 3.0, 5.0]), [vl.dims.batch_dim, time])
    >>> rf.normalize(x, axis=time).values.round(3)
    array([-1.,  1.,  0.])
    """
    check_tensor(a, "a")
    return as_tensor(_dims.layer_norm(a, axis, eps=epsilon))


def random_uniform(
    dims: Sequence[Dim], *, dtype: DTypeLike | None = None, device: str | None = None,
    sparse_dim: Dim | None = None, feature_dim: Dim | None = None, minval: Data[Any] | float | None = None,
    maxval: Data[Any] | float | None = None, seed: SeedLike | None = None, algorithm: str | None = None,
    explicit_state: None = None, auto_update_state: bool | None = None, static: bool | None = None,
    out: None = None, like: Data[Any] | None = None,
) -> Tensor:
    """Draw uniform random numbers.

    Parameters
    ----------
    dims, dtype, device, sparse_dim, feature_dim, minval, maxval
        As in `random`.
    seed, algorithm, explicit_state, auto_update_state, static, out, like
        As in `random`.

    Returns
    -------
    Tensor
        The random numbers, over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.random_uniform([vl.Dim("two", 2)], dtype="int32", minval=3, maxval=4).values
    array([3, 3], dtype=int32)
    """
    return random(
        dims, distribution="uniform", dtype=dtype, device=device, sparse_dim=sparse_dim,
        feature_dim=feature_dim, minval=minval, maxval=maxval, seed=seed, explicit_state=explicit_state,
        out=out, like=like
    )


def random_normal(
    dims: Sequence[Dim], *, dtype: DTypeLike | None = None, device: str | None = None,
    sparse_dim: Dim | None = None, feature_dim: Dim | None = None, mean: Data[Any] | float | None = 0.0,
    stddev: Data[Any] | float | None = 1.0, seed: SeedLike | None = None, algorithm: str | None = None,
    explicit_state: None = None, auto_update_state: bool | None = None, static: bool | None = None,
    out: None = None, like: Data[Any] | None = None,
) -> Tensor:
    """Draw normal random numbers.

    Parameters
    ----------
    dims, dtype, device, sparse_dim, feature_dim, mean, stddev
        As in `random`.
    seed, algorithm, explicit_state, auto_update_state, static, out, like
        As in `random`.

    Returns
    -------
    Tensor
        The random numbers, over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> rf.random_normal([vl.Dim("two", 2)], seed=0).values.round(3)
    array([ 0.126, -0.132], dtype=float32)
    """
    return random(
        dims, distribution="normal", dtype=dtype, device=device, sparse_dim=sparse_dim,
        feature_dim=feature_dim, mean=mean, stddev=stddev, seed=seed, explicit_state=explicit_state, out=out,
        like=like
    )


def random_truncated_normal(
    dims: Sequence[Dim], *, dtype: DTypeLike | None = None, device: str | None = None,
    sparse_dim: Dim | None = None, feature_dim: Dim | None = None, mean: Data[Any] | float | None = 0.0,
    stddev: Data[Any] | float | None = 1.0, minval: Data[Any] | float | None = None,
    maxval: Data[Any] | float | None = None, seed: SeedLike | None = None, algorithm: str | None = None,
    explicit_state: None = None, auto_update_state: bool | None = None, static: bool | None = None,
    out: None = None, like: Data[Any] | None = None,
) -> Tensor:
    """Draw normal random numbers, none beyond two standard deviations.

    Parameters
    ----------
    dims, dtype, device, sparse_dim, feature_dim, mean, stddev, minval, maxval
        As in `random`.
    seed, algorithm, explicit_state, auto_update_state, static, out, like
        As in `random`.

    Returns
    -------
    Tensor
        The random numbers, over these dims.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> bool((np.abs(rf.random_truncated_normal([vl.Dim("many", 99)]).values) <= 2).all())
    True
    """
    return random(
        dims, distribution="truncated_normal", dtype=dtype, device=device, sparse_dim=sparse_dim,
        feature_dim=feature_dim, mean=mean, stddev=stddev, minval=minval, maxval=maxval, seed=seed,
        explicit_state=explicit_state, out=out, like=like
    )


def max_pool(
    source: Data[Any], *, pool_size: int | Sequence[int], padding: str = "valid",
    dilation_rate: int | Sequence[int] = 1, strides: int | Sequence[int] | None = None,
    in_spatial_dims: Dim | Sequence[Dim], out_spatial_dims: Dim | Sequence[Dim] | None = None,
) -> tuple[Tensor, list[Dim]]:
    """The greatest number in windows along some dims.

    Parameters
    ----------
    source, pool_size, padding, dilation_rate, strides, in_spatial_dims, out_spatial_dims
        As in `pool`.

    Returns
    -------
    tuple[Tensor, list[Dim]]
        The results, and the dims of the windows.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[4, 2])
    >>> x = vl.Data(np.array([3, 1, 4, 1, 5, 9]), [vl.dims.batch_dim, time])
    >>> rf.max_pool(x, pool_size=2, in_spatial_dims=[time])[0].to_list()
    [[3, 4], [9]]
    """
    return pool(
        source, mode="max", pool_size=pool_size, padding=padding, dilation_rate=dilation_rate,
        strides=strides, in_spatial_dims=in_spatial_dims, out_spatial_dims=out_spatial_dims
    )


def max_pool1d(
    source: Data[Any], *, pool_size: int, padding: str = "valid", dilation_rate: int = 1,
    strides: int | None = None, in_spatial_dim: Dim, out_spatial_dim: Dim | None = None,
) -> tuple[Tensor, Dim]:
    """The greatest number in windows along a dim.

    Parameters
    ----------
    source, pool_size, padding, dilation_rate, strides, in_spatial_dim, out_spatial_dim
        As in `pool1d`.

    Returns
    -------
    tuple[Tensor, Dim]
        The results, and the dim of the windows.

    Examples
    --------
    >>> import varlen.returnn.frontend as rf
    >>> time = vl.Dim("time", lengths=[4, 2])
    >>> x = vl.Data(np.array([3, 1, 4, 1, 5, 9]), [vl.dims.batch_dim, time])
    >>> rf.max_pool1d(x, pool_size=2, in_spatial_dim=time)[0].to_list()
    [[3, 4], [9]]
    """
    return pool1d(
        source, mode="max", pool_size=pool_size, padding=padding, dilation_rate=dilation_rate,
        strides=strides, in_spatial_dim=in_spatial_dim, out_spatial_dim=out_spatial_dim
    )


dot = matmul
