"""The kinds of containers, and checks that two have the same structure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varlen.backends.values import is_array
from varlen.errors import type_error, value_error
from varlen.levels import describe_difference, same_levels
from varlen.types import Padded, Ragged

ndarray = np.ndarray


def kind(x: Any) -> str:
    """The word for the kind of a container, as errors use it."""
    if isinstance(x, Ragged):
        return "Ragged"
    if isinstance(x, Padded):
        return "Padded"
    if isinstance(x, ndarray):
        return "array"
    if is_array(x):
        return "tensor"
    return "list" if isinstance(x, list) else "tuple" if isinstance(x, tuple) else type(x).__name__


def kind_error(
    x: Any, argument: str = "X", expected: str = "a Ragged, a Padded, a list of arrays"
) -> TypeError:
    """The error for an argument of an unexpected kind."""
    return type_error(argument, f"expected {expected}, got {kind(x)}")


def expect(expected: type, y: Any) -> Any:
    """Return the result of a layer if it is of the expected kind."""
    if not isinstance(y, expected):
        raise type_error("", f"the layer took a {expected.__name__}, but returned a {kind(y)}")
    return y


def map_values(x: Any, change: Callable[[Any], Any]) -> Any:
    """A container of the same kind and structure around changed arrays."""
    if isinstance(x, Ragged):
        return x._make(change(x.values), x.levels)
    if isinstance(x, Padded):
        return x._make(change(x.data), *x._fields)
    if isinstance(x, list):
        return [map_values(item, change) for item in x]
    if isinstance(x, tuple):
        return tuple(map_values(item, change) for item in x)
    if is_array(x):
        return change(x)
    raise kind_error(x, expected="arrays, or a Ragged, Padded, list or tuple of them")


def check_structure(x: Any, like: Any, what: str, other: str) -> None:
    """Refuse a container of another kind than `like`, or with sequences of other lengths."""
    if isinstance(like, Ragged) and isinstance(x, Ragged):
        if not same_levels(x.levels, like.levels):
            raise value_error(what, f"{describe_difference(x.levels, like.levels)}")
    elif kind(x) != kind(like):
        if not isinstance(x, (Ragged, Padded, list, tuple)) and not is_array(x):
            raise type_error(what, f"expected a {kind(like)}, as {other} is, got {kind(x)}")
        raise value_error(what, f"expected a {kind(like)}, as {other} is, got a {kind(x)}")
    elif isinstance(like, Padded):
        for name, a, b in zip(("size_at_t", "lengths", "indices"), x._fields, like._fields, strict=True):
            if a is not b and not np.array_equal(a, b):
                raise value_error(what, f"its {name} differ from those of {other}")
    elif isinstance(like, (list, tuple)):
        if len(x) != len(like):
            raise value_error(what, f"has {len(x)} items, {other} has {len(like)}")
        for i, (a, b) in enumerate(zip(x, like, strict=True)):
            if is_array(b) and len(a) != len(b):
                raise value_error(
                    what, f"item {i} has {len(a)} rows, that of {other} has {len(b)}", row=i, number=len(a)
                )


def check_gradient(d: Any, Y: Any, what: str = "the gradient") -> None:
    """Refuse a gradient of another kind, structure, shape or dtype than Y has.

    Numbers other than floats have no gradients of their own dtype: theirs may have any dtype.
    """
    if isinstance(Y, Ragged) and isinstance(d, Ragged) and d._levels is Y._levels and len(Y._levels[-1]):
        d, Y = d._values, Y._values
    if type(Y) is ndarray and type(d) is ndarray:
        if d.shape != Y.shape or (d.dtype is not Y.dtype and not _fits(d.dtype, Y.dtype)):
            _refuse(d, Y, what)
        return
    check_structure(d, Y, what, "the result")
    # Without sequences a container may come from an empty list, which does not know how wide they would be.
    if isinstance(Y, Ragged):
        if len(Y.levels[-1]):
            check_gradient(d.values, Y.values, what)
    elif isinstance(Y, Padded):
        if len(Y):
            check_gradient(d.data, Y.data, what)
    elif isinstance(Y, (list, tuple)):
        for i, (a, b) in enumerate(zip(d, Y, strict=True)):
            if is_array(b) or isinstance(b, (list, tuple, Ragged, Padded)):
                # The words of an error are put together only where there is one.
                if type(a) is ndarray and type(b) is ndarray and a.shape == b.shape and a.dtype is b.dtype:
                    continue
                if kind(a) != kind(b):
                    raise value_error(
                        what, f"item {i}: expected a {kind(b)}, as in the result, got {kind(a)}", row=i
                    )
                check_gradient(a, b, f"{what}: item {i}")
    elif is_array(Y) and (tuple(d.shape) != tuple(Y.shape) or not _fits(d.dtype, Y.dtype)):
        _refuse(d, Y, what)


def _fits(dtype: Any, result: Any) -> bool:
    if isinstance(result, np.dtype):
        # bfloat16 and its like are void to NumPy; they are floats.
        return result.kind not in "fcV" or dtype.newbyteorder("=") == result.newbyteorder("=")
    return bool(dtype == result or not (result.is_floating_point or result.is_complex))


def _refuse(d: Any, Y: Any, what: str) -> None:
    if tuple(d.shape) != tuple(Y.shape):
        raise value_error(what, f"has shape {tuple(d.shape)}, the result has {tuple(Y.shape)}")
    raise value_error(what, f"is {d.dtype}, the result is {Y.dtype}")
