"""Ufuncs of arrays, and whether they are equal."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen.backends.numpy.activations import ACTIVATIONS
from varlen.errors import error_of, overflow_error, type_error


def ufunc(function: np.ufunc | str, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    """What a ufunc, or the one of a name, makes of its inputs; `ACTIVATIONS` has those that NumPy lacks."""
    implementation: Any = function
    if isinstance(function, str):
        implementation = ACTIVATIONS.get(function) or getattr(np, function)
    try:
        return implementation(*inputs, **kwargs)
    except TypeError as error:
        kinds = [np.asarray(x).dtype for x in inputs]
        if not any(dtype.kind in "mMUS" for dtype in kinds):
            raise
        if function in ("equal", "not_equal") and isinstance(function, str):  # operators, as those of NumPy
            return np.full(np.broadcast_shapes(*map(np.shape, inputs)), function == "not_equal")
        names = " and ".join(map(str, kinds))
        what = f"has no meaning for {names}"
        raise error_of(TypeError, "", what, context=implementation.__name__) from error


def equal(a: Any, b: Any, equal_nan: bool) -> bool:
    """Whether arrays of one shape have equal entries."""
    with np.errstate(invalid="ignore"):
        matches: Any = a == b
        if equal_nan and a.dtype.kind not in "SUV":
            matches = matches | ((a != a) & (b != b))
    return bool(matches if isinstance(matches, bool) else matches.all())


def where(mask: Any, values: Any, others: Any) -> Any:
    """A number, or values, where a mask is true, others where it is not."""
    x, y = _scalar_array(values, others, "x"), _scalar_array(others, values, "y")
    try:
        return np.where(mask, x, y)
    except OverflowError:
        argument, number = max((("x", x), ("y", y)), key=lambda entry: abs(entry[1]))
        raise overflow_error(argument, f"{number} does not fit int64", number=number) from None
    except TypeError:
        names = " and ".join(str(np.asarray(side).dtype) for side in (x, y))
        raise type_error("x", f"has no dtype in common with y: {names}") from None


def _scalar_array(x: Any, other: Any, argument: str) -> Any:
    """An int beside an array as a number of the array's dtype, which has to hold it."""
    if type(x) is not int or not isinstance(other, np.ndarray):
        return x
    try:
        return np.asarray(x, np.result_type(other, x))
    except OverflowError:
        raise overflow_error(argument, f"{x} does not fit {other.dtype}", number=x) from None
    except TypeError:  # no dtype in common
        return x
