"""Functions of one number that NumPy lacks, by those it has; `xp` is NumPy, or a library with its names."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.chebyshev import Chebyshev

# Beyond, float64 has no number between erf and 1.
_ERF_IS_ONE = 6.0


def sigmoid(x: Any, xp: Any = np) -> Any:
    """1 / (1 + exp(-x)), which neither overflows nor loses small results."""
    x = _as_float(x)
    return 1 / (1 + xp.exp(-x)) if x.dtype.kind == "c" else xp.exp(log_sigmoid(x, xp))


def log_sigmoid(x: Any, xp: Any = np) -> Any:
    """The logarithm of `sigmoid`."""
    return -softplus(-_as_float(x), xp)


def softplus(x: Any, xp: Any = np) -> Any:
    """The logarithm of 1 + exp(x)."""
    x = _as_float(x)
    with np.errstate(invalid="ignore"):  # NaN stays NaN
        return xp.logaddexp(xp.zeros((), x.dtype), x).astype(x.dtype, copy=False)


def relu(x: Any, xp: Any = np) -> Any:
    """The number, or 0 where it is below."""
    return xp.maximum(x, 0)


def elu(x: Any, xp: Any = np) -> Any:
    """The number, or exp(x) - 1 where it is below 0."""
    x = _as_float(x)
    return xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0)))


def silu(x: Any, xp: Any = np) -> Any:
    """The number times its `sigmoid`."""
    x = _as_float(x)
    return x * sigmoid(x, xp)


def gelu(x: Any, xp: Any = np) -> Any:
    """The number times the share of a normal distribution that lies below it."""
    x = _as_float(x)
    return x * (_erf(x * math.sqrt(0.5), xp) + 1) * 0.5


def rsqrt(x: Any, xp: Any = np) -> Any:
    """One over the square root."""
    return 1 / xp.sqrt(x)


def _as_float(x: Any) -> Any:
    return x if x.dtype.kind in "fV" else x.astype(np.result_type(x.dtype, np.float32))


@cache
def _erf_of_square(degree: int) -> list[float]:
    """Coefficients of Chebyshev, for erf(x) / x as a function of x * x on [0, 36]."""

    def share(squares: Any) -> Any:
        roots = np.sqrt(squares)
        return np.array([math.erf(x) / x if x > 1e-9 else 2 / math.sqrt(math.pi) for x in roots])

    domain = [0, _ERF_IS_ONE * _ERF_IS_ONE]
    coefficients: list[float] = Chebyshev.interpolate(share, degree, domain).coef.tolist()
    return coefficients


def _erf(x: Any, xp: Any) -> Any:
    """The error function, to 3e-14; of numbers in float32 to their precision."""
    clip = xp.clip(x, -_ERF_IS_ONE, _ERF_IS_ONE)
    point = clip * clip * (2 / (_ERF_IS_ONE * _ERF_IS_ONE)) - 1
    coefficients = _erf_of_square(54 if x.dtype.itemsize > 4 else 30)
    later, last = xp.zeros_like(x), xp.zeros_like(x)
    for coefficient in coefficients[:0:-1]:
        later, last = 2 * point * later - last + coefficient, later
    return xp.where(abs(x) < _ERF_IS_ONE, clip * (point * later - last + coefficients[0]), xp.sign(x))


ACTIVATIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function for function in (elu, gelu, log_sigmoid, relu, rsqrt, sigmoid, silu, softplus)
}
"""All of these, by their names."""
