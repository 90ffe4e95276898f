"""Operators of Python on the values of Data, of every dtype: torch has no numbers of some."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from varlen import tracing
from varlen.backends import backend_of

# Operators by the ufunc of NumPy that each is.
_UFUNCS = {
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply", operator.truediv: "true_divide",
    operator.floordiv: "floor_divide", operator.mod: "remainder", operator.pow: "power",
    operator.and_: "bitwise_and", operator.or_: "bitwise_or", operator.xor: "bitwise_xor",
    operator.lt: "less", operator.le: "less_equal", operator.gt: "greater", operator.ge: "greater_equal",
    operator.eq: "equal", operator.ne: "not_equal", operator.neg: "negative", operator.invert: "invert",
    operator.abs: "absolute",
}  # fmt: skip


def for_every_dtype(function: Callable[..., object]) -> Callable[..., Any]:
    """An operator, and the ufunc of its name where torch has none for the dtype."""
    ufunc = _UFUNCS[function]

    def run(*operands: Any) -> Any:
        if tracing.is_tracing():
            return function(*operands)
        try:
            return function(*operands)
        except RuntimeError:  # says what is the matter, if it is another
            return backend_of(*operands).ufunc(ufunc, list(operands), {})

    return run
