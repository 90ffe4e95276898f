"""Ufuncs, equality and rectangles, on values of containers that nest alike, or down to a level."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import as_bool
from varlen.backends import backend_of
from varlen.backends.values import one_device
from varlen.errors import instance_error, type_error, value_error
from varlen.levels import check_nest
from varlen.ops.matmul import matmul
from varlen.ops.support.operands import align, operand
from varlen.types.namesakes import METHODS, UFUNCS

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen.backends.values import Output, Values
    from varlen.types.ragged import Ragged


# What stands for methods of ufuncs that mean nothing here.
_WAYS = {
    "at": "r[key] = ..., or the ufunc on r[key]",
    "outer": "vl.cross(a, b), or the values",
    "reduceat": "r.sum() and the like, which reduce each sequence, or r.values",
}


def apply(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`ufunc(*inputs, **kwargs)` with a Ragged among inputs or outputs: on the values, with shared levels.

    Another Ragged nests alike, or has fewer levels, which are the outer ones: each of its rows goes to all
    values below it. Scalars go to every value. The meaning of an array depends on its number of axes, never
    on its sizes: one with as many axes as a row of the values, or fewer, broadcasts against each row; one
    with an axis rest gives a row to each sequence, (n, *row); one with the axes of the container has 1 for
    each ragged axis, (n, 1, ..., *row).
    """
    if ufunc is np.matmul and method == "__call__" and not kwargs:
        return matmul(*inputs)
    if method in ("reduce", "accumulate") and isinstance(inputs[0], RaggedBase):
        way = UFUNCS.get(f"{ufunc.__name__}.{method}")
        if way in METHODS and kwargs.get("out") is None:
            return reduce(f"np.{ufunc.__name__}.{method}", way, inputs, kwargs)
    if method != "__call__" or ufunc.signature is not None:
        name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
        way = UFUNCS.get(name)
        advice = f"r.{way}()" if way else _WAYS.get(method, "r.values")
        raise type_error("", f"np.{name} has no meaning for a Ragged", f"use {advice}")
    for x in inputs:
        if not isinstance(x, RaggedBase) and getattr(x, "__array_ufunc__", True) is None:
            return NotImplemented
    return compute(ufunc, inputs, kwargs)


def reduce(function: str, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A method of a ufunc along an axis: 0 by default, as NumPy has it."""
    from varlen.types.functions import reduce_axis

    options = {key: x for key, x in kwargs.items() if not (x is np._NoValue or key == "out")}
    r, *rest = inputs
    options |= dict(zip(("axis", "dtype"), rest, strict=False))
    axis = options.pop("axis", 0)
    for key, silent in (("dtype", None), ("keepdims", False), ("initial", None), ("where", True)):
        if options.get(key, silent) is silent:
            options.pop(key, None)
    return reduce_axis(function, method, r, axis, options)


def compute(function: np.ufunc | str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A ufunc on the values of each operand; operators pass its name, because graphs hold no ufunc."""
    if function == "matmul":
        return matmul(*inputs)
    outs = kwargs.pop("out", None) or ()
    model, row_ndim, operands = align(inputs, (*outs, kwargs.get("where")))
    if "where" in kwargs:
        if not outs and kwargs["where"] is not True:
            raise value_error(
                "where", "results are undefined where it is False", "pass out=, which keeps its values there"
            )
        kwargs["where"] = operand(kwargs["where"], model, row_ndim)
    if outs:
        kwargs["out"] = tuple(None if out is None else _target(out, model) for out in outs)
    result = backend_of(*operands).ufunc(function, operands, kwargs)
    if result is NotImplemented or result is None:
        return result
    if not isinstance(result, tuple):
        return outs[0] if outs and outs[0] is not None else _new(model, result)
    targets = outs or (None,) * len(result)
    return tuple(_new(model, part) if out is None else out for part, out in zip(result, targets, strict=True))


def equal_values(a: Values, b: Values, equal_nan: bool) -> bool:
    """Whether values have one shape and equal entries."""
    one_device(b, "other", a, "this")
    return tuple(a.shape) == tuple(b.shape) and bool(
        backend_of(a, b).equal(a, b, as_bool(equal_nan, "equal_nan"))
    )


def as_rectangle(r: Ragged[Any], dtype: DTypeLike | None, copy: bool | None) -> np.ndarray:
    """The result of `np.asarray(r)`: an ordinary array, if all sequences of each level are equally long."""
    for d, level in enumerate(r.levels):
        if level.longest != level.shortest:
            i = int((level.lengths != level.lengths[0]).argmax())
            where = f" of level {d}" if len(r.levels) > 1 else ""
            raise value_error(
                "",
                f"a Ragged is not a rectangle: sequence {i}{where} has length {level.lengths[i]}, "
                f"sequence 0 has {level.lengths[0]}",
                "use to_dense() to pad, or .values",
                row=i,
                number=int(level.lengths[i]),
            )
    values = backend_of(r.values).readable(r.values)
    shape = (len(r), *(level.longest for level in r.levels), *values.shape[1:])
    return np.array(values.reshape(shape), dtype=dtype, copy=copy)


def _new(model: Ragged[Any], values: object) -> Any:
    """A container like the model; it refuses Python objects, which no container holds."""
    if type(values) is np.ndarray and values.dtype.hasobject:
        raise type_error(
            "operand", "the result would hold Python objects; expected numbers, times or fixed-width text"
        )
    return (
        tracing.make(type(model), values, model._levels)
        if tracing.is_tracing()
        else model._make(values, model._levels)
    )


def _target(out: Output, model: Ragged[Any]) -> Any:
    """The values of an `out` that nests like the inputs."""
    if not isinstance(out, RaggedBase):
        raise instance_error("out", "a Ragged that nests like the inputs", out)
    check_nest(out._levels, model._levels, "out")
    one_device(out._values, "out", model._values, "an operand")
    return out._values
