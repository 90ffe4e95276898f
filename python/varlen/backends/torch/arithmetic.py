"""Ufuncs of tensors by the torch function of their name, and whether tensors are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from varlen import tracing
from varlen._core import bfloat16, is_plain_tensor
from varlen.backends.torch.cast import has_bits_alone, in_shared_dtype, scalar
from varlen.backends.torch.followers import constants_device
from varlen.backends.torch.memory import as_numpy, core_dtype, like, on_host, tensor_of
from varlen.errors import type_error, value_error

# What a NumPy ufunc is called in torch, where that is something else.
_NAMES = {"absolute": "abs", "bitwise_count": "", "conjugate": "conj", "equal": "eq", "invert": "bitwise_not"}
_NAMES |= {"left_shift": "bitwise_left_shift", "power": "pow", "right_shift": "bitwise_right_shift"}
_NAMES |= {"degrees": "rad2deg", "radians": "deg2rad", "rint": "round", "fabs": "abs"}


def _divmod(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.div(a, b, rounding_mode="floor"), torch.remainder(a, b)


def _modf(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The part behind the point, of the sign of x, and the whole part; an infinity is whole."""
    x = x if x.is_floating_point() else x.to(torch.get_default_dtype())
    integers = torch.trunc(x)
    return torch.copysign(torch.where(torch.isinf(x), 0, x - integers), x), integers


def _softplus(x: torch.Tensor) -> torch.Tensor:
    """The logarithm of 1 + exp(x), which that of torch gives up beyond 20."""
    return torch.logaddexp(x, torch.zeros((), dtype=x.dtype, device=x.device))


# Functions of one number that torch has elsewhere.
_ELSEWHERE = {
    "elu": torch.nn.functional.elu,
    "gelu": torch.nn.functional.gelu,
    "log_sigmoid": torch.nn.functional.logsigmoid,
    "silu": torch.nn.functional.silu,
    "softplus": _softplus,
}

_DIVISIONS = {"divmod", "floor_divide", "fmod", "mod", "remainder"}  # which integers have, too

# Ufuncs of two results; torch has but one of these under its name.
_OF_TWO = {"divmod": _divmod, "modf": _modf, "frexp": torch.frexp}


def ufunc(function: np.ufunc | str, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    """A NumPy ufunc, or the name of one, by the torch function of that name, with gradients."""
    verb = function if isinstance(function, str) else function.__name__
    implementation = _FUNCTIONS.get(verb) or _torch_function(verb)
    if tracing.is_tracing():
        return _call_operands(verb, implementation, inputs, kwargs)
    try:
        return _call_operands(verb, implementation, inputs, kwargs)
    except RuntimeError as error:  # NotImplementedError among them
        return _numpy_fallback(verb, implementation, inputs, kwargs, error)


def _call_operands(
    verb: str, implementation: Callable[..., Any], inputs: list[Any], kwargs: dict[str, Any]
) -> Any:
    if len(inputs) == 1 and not kwargs:
        return implementation(inputs[0])
    if kwargs.keys() - {"out"}:
        raise type_error("", f"{verb} of tensors does not take {', '.join(sorted(kwargs.keys() - {'out'}))}")
    first = inputs[0] if isinstance(inputs[0], torch.Tensor) else inputs[1]
    tensors = []
    for x in inputs:
        if isinstance(x, torch.Tensor):
            tensors.append(x)
        elif isinstance(x, np.ndarray) and x.ndim:
            tensors.append(tensor_of(x).to(first.device))
        else:
            tensors.append(scalar(x, first))
    out = kwargs.get("out")
    if out is None:
        return implementation(*tensors)
    if verb not in _OF_TWO:
        return implementation(*tensors, out=out[0])
    results = implementation(*tensors)
    for target, result in zip(out, results, strict=True):
        if target is not None:
            _check_target(target, result, verb)
    return tuple(
        result if target is None else target.copy_(result)
        for target, result in zip(out, results, strict=True)
    )


def _numpy_fallback(
    verb: str,
    implementation: Callable[..., Any],
    inputs: list[Any],
    kwargs: dict[str, Any],
    error: Exception,
) -> Any:
    """What NumPy computes where torch does not: of unsigned integers; or why there is no result."""
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    if len({x.device for x in tensors}) > 1:
        raise error  # names the devices
    kinds = {x.dtype for x in tensors}
    numpy_ufunc: Any = getattr(np, verb, None)
    for_numpy = any(map(has_bits_alone, kinds)) or (verb == "matmul" and kinds == {torch.bool})
    if for_numpy and numpy_ufunc is not None and all(map(_shows_memory, tensors)):
        arrays = [as_numpy(x) if x.ndim else x.item() for x in tensors]
        numbers = iter(arrays)
        result = numpy_ufunc(*[next(numbers) if isinstance(x, torch.Tensor) else x for x in inputs])
        results = result if isinstance(result, tuple) else (result,)
        rows = [tensor_of(np.asarray(part)) for part in results]
        outs = kwargs.get("out") or [None] * len(rows)
        for target, part in zip(outs, rows, strict=True):
            if target is not None:
                _check_target(target, part, verb)
        parts = [x if out is None else out.copy_(x) for out, x in zip(outs, rows, strict=True)]
        return tuple(parts) if isinstance(result, tuple) else parts[0]
    try:  # of ones: whether it is the dtypes
        implementation(*[_one(x if isinstance(x, torch.Tensor) else scalar(x, tensors[0])) for x in inputs])
    except RuntimeError:
        names = " and ".join(sorted(map(str, kinds)))
        raise type_error("", f"torch does not compute {verb} of {names}", "use astype() first") from error
    if verb in _DIVISIONS and not any(x.is_floating_point() or x.is_complex() for x in tensors):
        raise value_error(
            "operand", f"{verb}: torch divides no integers by 0", "use where(), or floats by astype()"
        ) from error
    raise error


def _one(x: torch.Tensor) -> torch.Tensor:
    return torch.ones((1,) * min(x.ndim, 2), dtype=x.dtype, device=x.device)


def _shows_memory(x: torch.Tensor) -> bool:
    return on_host(x) and is_plain_tensor(x) and (not x.ndim or core_dtype(x.dtype) not in (None, bfloat16))


def _torch_function(verb: str) -> Callable[..., Any]:
    name = _NAMES.get(verb, verb)
    result: Callable[..., Any] | None = _OF_TWO.get(name) or _ELSEWHERE.get(name)
    if result is None and name:
        result = getattr(torch, name, None)
    if result is None:
        raise type_error("", f"torch has no {verb}", "use .values, or values that are a NumPy array")
    return result


# Looked up once: of the functions of NumPy those that torch has.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for name in vars(np)
    if isinstance(getattr(np, name), np.ufunc)
    and (function := _OF_TWO.get(name) or getattr(torch, _NAMES.get(name, name) or " ", None))
}


def _check_target(out: torch.Tensor, result: torch.Tensor, name: str) -> None:
    if out.shape != result.shape or not torch.can_cast(result.dtype, out.dtype):
        raise value_error(
            "out",
            f"{name} gives {result.dtype} of shape {tuple(result.shape)}, "
            f"got {out.dtype} of shape {tuple(out.shape)}",
        )


def equal(a: Any, b: Any, equal_nan: bool) -> bool:
    """Whether tensors, or a tensor and an array, of one shape have equal entries."""
    x = a if isinstance(a, torch.Tensor) else like(a, b)
    y = b if isinstance(b, torch.Tensor) else like(b, a)
    matches = x == y
    if equal_nan:
        matches = matches | ((x != x) & (y != y))
    return bool(matches.all())


def where(mask: Any, values: Any, others: Any) -> torch.Tensor:
    """A number, or values, where a mask is true, others where it is not; watched by autograd."""
    tensor = (
        values if isinstance(values, torch.Tensor) else others if isinstance(others, torch.Tensor) else mask
    )
    mask = like(mask, tensor) if isinstance(mask, np.ndarray) and mask.ndim else mask
    values = like(values, tensor) if isinstance(values, np.ndarray) and values.ndim else values
    others = like(others, tensor) if isinstance(others, np.ndarray) and others.ndim else others
    has_tensors = isinstance(values, torch.Tensor) and isinstance(others, torch.Tensor)
    if has_tensors and values.dtype is not others.dtype:
        values, others = in_shared_dtype([values, others])
    with constants_device(tensor):  # torch makes a tensor of a number
        if isinstance(values, torch.Tensor):
            return values.where(mask, others)
        if isinstance(others, torch.Tensor):
            return others.where(~mask, values)
        dtype = np.where(True, values, others).dtype
        return torch.where(mask, *(like(np.asarray(x, dtype), tensor) for x in (values, others)))
