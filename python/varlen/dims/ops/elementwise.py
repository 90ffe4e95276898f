"""Functions of one number, applied to all of a Data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from varlen.arguments import SMALLEST, as_int
from varlen.backends import backend_of
from varlen.dims.base import NO_FACTS, check_data, is_data, make_data
from varlen.dims.ops.combine import check_operand, combine
from varlen.dims.out_shape import check_out_shape
from varlen.errors import type_error

if TYPE_CHECKING:
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape

_TEXT = """{what}, number by number.

Parameters
----------
x
    {takes}.

Returns
-------
Data
    Over the same dims.

Notes
-----
As RETURNN's `{source}`. Autograd follows tensors.

Examples
--------
>>> x = vl.Data(np.array({numbers}), [vl.dims.batch_dim])
>>> vl.dims.{name}(x).values{rounded}
array({result})
"""


def _function(
    name: str,
    what: str,
    numbers: str,
    result: str,
    *,
    op: str | None = None,
    takes: str = "Numbers",
    digits: int | None = None,
    source: str | None = None,
) -> Callable[[Data[Any]], Data[Any]]:
    """A function that calls the one of the backend of this name, with a text of its own."""
    ufunc = op or name

    def function(x: Data[Any]) -> Data[Any]:
        check_data(x, "x")
        values = backend_of(x._values).ufunc(ufunc, [x._values], {})
        facts = x._facts
        if facts is not NO_FACTS:
            facts = facts._replace(sparse_dim=None, name=None)
        return make_data(values, x._shape, x._order, facts)

    function.__name__ = function.__qualname__ = name
    suffix = "" if digits is None else f".round({digits})"
    function.__doc__ = _TEXT.format(
        what=what,
        takes=takes,
        source=source or name,
        numbers=numbers,
        name=name,
        rounded=suffix,
        result=result,
    )
    return function


abs = _function("abs", "The absolute value", "[-2.0, 3.0]", "[2., 3.]", op="absolute")
ceil = _function("ceil", "The least integer that is not below", "[-1.5, 1.5]", "[-1.,  2.]")
cos = _function("cos", "The cosine", "[0.0]", "[1.]")
elu = _function("elu", "The number, or exp(x) - 1 where it is below 0", "[-np.inf, 2.0]", "[-1.,  2.]")
exp = _function("exp", "The exponential", "[0.0, -np.inf]", "[1., 0.]")
expm1 = _function("expm1", "The exponential less one, exact near 0", "[0.0, 1e-20]", "[0.e+00, 1.e-20]")
floor = _function("floor", "The greatest integer that is not above", "[-1.5, 1.5]", "[-2.,  1.]")
gelu = _function(
    "gelu",
    "The number times the share of a normal distribution that lies below it",
    "[-1.0, 1.0]",
    "[-0.1587,  0.8413]",
    digits=4,
)
is_finite = _function(
    "is_finite", "Whether it is neither infinite nor NaN", "[1.0, np.nan]", "[ True, False]", op="isfinite"
)
log = _function("log", "The natural logarithm", "[1.0, np.inf]", "[ 0., inf]")
log1p = _function("log1p", "The logarithm of one more, exact near 0", "[0.0, 1e-20]", "[0.e+00, 1.e-20]")
log_sigmoid = _function(
    "log_sigmoid", "The logarithm of the sigmoid", "[0.0, -800.0]", "[-6.93e-01, -8.00e+02]", digits=3
)
logical_not = _function(
    "logical_not", "Whether it is false", "[True, False]", "[False,  True]", takes="Bools or numbers"
)
relu = _function("relu", "The number, or 0 where it is below", "[-1.0, 2.0]", "[0., 2.]")
round = _function("round", "The nearest integer, the even one of two", "[0.5, 1.5]", "[0., 2.]", op="rint")
rsqrt = _function("rsqrt", "One over the square root", "[4.0, 0.25]", "[0.5, 2. ]")
sigmoid = _function("sigmoid", "1 / (1 + exp(-x))", "[0.0, 800.0]", "[0.5, 1. ]")
sign = _function("sign", "-1, 0 or 1", "[-3.0, 0.0]", "[-1.,  0.]")
silu = _function("silu", "The number times its sigmoid", "[0.0, 800.0]", "[  0., 800.]")
sin = _function("sin", "The sine", "[0.0]", "[0.]")
softplus = _function("softplus", "The logarithm of 1 + exp(x)", "[-800.0, 800.0]", "[  0., 800.]")
sqrt = _function("sqrt", "The square root", "[4.0, 9.0]", "[2., 3.]")
square = _function("square", "The number times itself", "[-2, 3]", "[4, 9]")
tan = _function("tan", "The tangent", "[0.0]", "[0.]")
tanh = _function("tanh", "The hyperbolic tangent", "[0.0, 800.0]", "[0., 1.]")


def clip_by_value(
    x: Data[Any],
    least: Data[Any] | float,
    greatest: Data[Any] | float,
    *,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """Clip each number to two bounds.

    Parameters
    ----------
    x
        Numbers.
    least, greatest
        The bounds: numbers or Data. Where `least` exceeds `greatest`, the result is `greatest`.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The clipped numbers, over the dims of all three.

    Raises
    ------
    ValueError
        None of the three has all dims.
    OutShapeError
        The dims differ from the expected ones.

    Notes
    -----
    As RETURNN's `clip_by_value`. NaN stays.

    Examples
    --------
    >>> x = vl.Data(np.array([-2, 1, 7]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.clip_by_value(x, 0, 5).to_list()
    [[0, 1], [5]]
    """
    for operand, argument in ((x, "x"), (least, "least"), (greatest, "greatest")):
        check_operand(operand, argument)
    if not any(is_data(operand) for operand in (x, least, greatest)):
        raise type_error("x", "expected a Data")
    for limit, argument in ((least, "least"), (greatest, "greatest")):
        if type(limit) is int:
            as_int(limit, argument, SMALLEST)
    result = combine("minimum", combine("maximum", x, least), greatest)
    return check_out_shape(result, out_shape)
