"""Functions of NumPy and torch called with a Ragged: those with a meaning for it, and a refusal of the rest.

A function that works on each number goes to the values. One that knows axes goes to the method of its name,
whose axes are those of the container. All others are refused with the way that leads on: seen as a sequence
of rows or as a rectangle they would compute something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.backends import backend_of
from varlen.backends.values import is_tensor, like
from varlen.ops.inputs import same_kind
from varlen.ops.matmul import matmul
from varlen.ops.operands import model_of, operand

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen.types.ragged import Ragged

# Methods of a Ragged that take an axis, by the names that NumPy and torch have for them.
_AXIS_METHODS = {
    "sum": "sum", "mean": "mean", "prod": "prod", "amax": "max", "amin": "min", "max": "max", "min": "min",
    "any": "any", "all": "all", "std": "std", "var": "var", "argmax": "argmax", "argmin": "argmin",
    "logsumexp": "logsumexp", "cumsum": "cumsum", "cumprod": "cumprod", "softmax": "softmax",
    "log_softmax": "log_softmax",
}  # fmt: skip
_KEEP_ROWS = ("cumsum", "cumprod", "softmax", "log_softmax")

# Functions of torch that work on each number, beside those that are called as a ufunc of NumPy is.
_EACH_NUMBER = {
    "abs", "absolute", "acos", "acosh", "add", "alpha_dropout", "asin", "asinh", "atan", "atan2", "atanh",
    "bernoulli", "bfloat16", "bitwise_and", "bitwise_not", "bitwise_or", "bitwise_xor", "bool", "byte",
    "ceil", "celu", "clamp", "clamp_max", "clamp_min", "clip", "clone", "contiguous", "copysign", "cos",
    "cosh", "cpu", "cuda", "deg2rad", "detach", "digamma", "div", "divide", "double", "dropout", "elu",
    "eq", "erf", "erfc", "erfinv", "exp", "exp2", "expm1", "fix", "float", "float_power", "floor",
    "floor_divide", "fmax", "fmin", "fmod", "frac", "frexp", "ge", "gelu", "greater", "greater_equal", "gt",
    "half", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "heaviside", "hypot", "int", "isclose",
    "isfinite", "isinf", "isnan", "isneginf", "isposinf", "ldexp", "le", "leaky_relu", "less", "less_equal",
    "lgamma", "log", "log10", "log1p", "log2", "log_sigmoid", "logaddexp", "logaddexp2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logsigmoid", "long", "lt", "maximum", "minimum",
    "mish", "mul", "multiply", "nan_to_num", "ne", "neg", "negative", "nextafter", "not_equal", "ones_like",
    "positive", "pow", "rad2deg", "rand_like", "randn_like", "reciprocal", "relu", "relu6", "remainder",
    "round", "rrelu", "rsqrt", "rsub", "selu", "sgn", "short", "sigmoid", "sign", "signbit", "silu", "sin",
    "sinc", "sinh", "softplus", "softshrink", "softsign", "sqrt", "square", "sub", "subtract", "tan",
    "tanh", "tanhshrink", "threshold", "to", "true_divide", "trunc", "type_as", "where", "xlogy",
    "zeros_like", "full_like", "empty_like", "masked_fill", "lerp",
    "and", "floordiv", "invert", "lshift", "mod", "or", "rshift", "truediv", "xor",  # Python's operators
    "bitwise_left_shift", "bitwise_right_shift",
}  # fmt: skip


# Functions of torch that work on the last axes of each row, and give a row for each.
_ON_ROWS = ("linear", "layer_norm", "rms_norm", "embedding", "one_hot", "prelu")

# Functions of torch that go along an axis, `dim`, and mean something along those of each row alone.
_ON_ROW_AXES = {"glu": -1, "gumbel_softmax": -1, "normalize": 1}


def by_torch(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of torch that is called with a Ragged.

    Raises
    ------
    TypeError
        It has no meaning for a Ragged; the method that comes nearest is named.

    Examples
    --------
    >>> import torch
    >>> r = vl.Ragged(torch.tensor([0.0, 0.0, 5.0]), [2, 1])
    >>> torch.nn.functional.softmax(r, dim=1).to_list(), torch.exp(r).lengths
    ([[0.5, 0.5], [1.0]], array([2, 1]))
    """
    full = tracing.name_of(func)
    name = full.strip("_")
    if full.endswith("_") and not full.endswith("__"):
        raise _refusal(f"torch.Tensor.{full}", f"{name}(), which writes nothing in place")
    if name in ("to", "type_as") and not _is_ragged(args[0] if args else None):
        raise _refusal(f"torch.Tensor.{name}", "r.dtype and r.device")
    if kwargs.get("out") is not None:
        raise _refusal(f"torch.{name} with out", "the result")
    if name == "where" and len(args) + len(kwargs) < 3:
        raise _refusal("torch.where of a condition alone", "r.values")
    operator = name.removeprefix("r") if name.removeprefix("r") in _EACH_NUMBER and name != "relu" else name
    if operator in _EACH_NUMBER or name in _EACH_NUMBER:
        return _on_values(func, args, kwargs)
    if name in _ON_ROWS:
        return _on_rows(func, name, args, kwargs)
    if name in _ON_ROW_AXES and args:
        return _on_row_axis(func, name, args, kwargs)
    if name in ("cat", "concat", "concatenate", "stack"):
        return _combined(name, args, kwargs)
    if name == "matmul":
        return matmul(*args, *kwargs.values())
    if name in ("flatten", "unflatten") and args and _is_ragged(args[0]):
        return getattr(args[0], name)(*args[1:], **kwargs)
    if name == "softmin" and args and _is_ragged(args[0]):
        name, args = "softmax", (-args[0], *args[1:])
    if name in _AXIS_METHODS and _is_ragged(args[0] if args else kwargs.get("input")):
        options = _arguments_by_name(("input", "dim"), args, kwargs, f"torch.{name}")
        options.pop("_stacklevel", None)
        r, dim = options.pop("input"), options.pop("dim", None)
        if name in ("max", "min") and dim is not None:
            if not isinstance(dim, int):
                raise _refusal(f"torch.{name} of two", f"torch.{name}imum")
            raise _refusal(f"torch.{name} with dim", f"r.{name}(axis={dim}) and r.arg{name}(axis={dim})")
        if name in ("std", "var"):
            unbiased = options.pop("unbiased", True)
            options["ddof"] = options.pop("correction", 1 if unbiased else 0)
        return _call_method(r, f"torch.{name}", name, dim, options)
    raise _refusal(f"torch.{name}", f"r.{name}()" if _has_method(args, name) else "r.values, or r.to_dense()")


def by_numpy(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy, other than a ufunc, that is called with a Ragged.

    Raises
    ------
    TypeError
        It has no meaning for a Ragged; the method that comes nearest is named.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4], [2, 1])
    >>> np.sum(r), np.sum(r, axis=1), np.array_equal(r, r.copy())
    (np.int64(8), array([4, 4]), True)
    """
    name = func.__name__
    if name in ("array_equal", "array_equiv", "allclose"):
        return _equal(name, *args, **kwargs)
    if name in ("concatenate", "stack"):
        return _combined(name, args, kwargs)
    if name == "where" and len(args) == 3:
        from varlen.ops.where import where

        return where(*args)
    if name in ("clip", "round", "around", "nan_to_num", "real", "imag", "isclose", "zeros_like", "ones_like",
                "full_like", "empty_like", "copy", "isreal", "iscomplex"):  # fmt: skip
        if any(_is_tensor_like(x) for x in (*args, *kwargs.values())):
            raise _refusal(
                f"np.{name}", f"torch.{'clone' if name == 'copy' else name}, because the values are tensors"
            )
        refused = {"out", "shape", "where", "order", "subok"} & set(kwargs)
        if refused:
            raise _refusal(f"np.{name} with {', '.join(sorted(refused))}", "the result")
        return _on_values(func, args, kwargs)
    if name in ("shape", "ndim", "size"):
        return getattr(args[0], name)
    if name in _AXIS_METHODS and args and _is_ragged(args[0]):
        options = _arguments_by_name(("a", "axis"), args, kwargs, f"np.{name}")
        r, axis = options.pop("a"), options.pop("axis", None)
        return _call_method(r, f"np.{name}", name, axis, options)
    raise _refusal(
        f"np.{name}", f"r.{name}()" if _has_method(args, name) else "r.values, r.to_dense() or np.asarray(r)"
    )


def _arguments_by_name(
    names: tuple[str, ...], args: Any, kwargs: dict[str, Any], function: str
) -> dict[str, Any]:
    """Arguments by name. Those at their default are left out; more positional ones than names are refused."""
    extra = [x for x in args[len(names) :] if x is not None and x is not False and x is not np._NoValue]
    if extra:
        raise TypeError(f"{function} of a Ragged takes only its axis by position; got {extra[0]!r} after it")
    options = dict(zip(names, args, strict=False)) | kwargs
    return {key: x for key, x in options.items() if x is not None and x is not False and x is not np._NoValue}


def _is_tensor_like(x: Any) -> bool:
    return _is_ragged(x) and is_tensor(x._values)


def _is_ragged(x: Any) -> bool:
    return isinstance(x, RaggedBase)


def _has_method(args: Any, name: str) -> bool:
    return bool(args) and _is_ragged(args[0]) and hasattr(args[0], name)


def _refusal(function: str, way: str) -> TypeError:
    return TypeError(f"{function} has no meaning for a Ragged; use {way}")


def _call_method(r: Ragged[Any], function: str, name: str, axis: Any, options: dict[str, Any]) -> Any:
    """The method of that name along axes of the container; of everything where no axis is said."""
    method = _AXIS_METHODS[name]
    allowed = {"std": ("ddof",), "var": ("ddof",)}.get(method, ())
    unknown = [key for key in options if key not in allowed]
    if unknown:
        raise TypeError(f"{function} of a Ragged does not take {', '.join(unknown)}; use r.{method}()")
    if axis is None:
        if method in _KEEP_ROWS:
            raise _refusal(f"{function} without an axis", f"r.{method}(), which goes along each sequence")
        if method.startswith("arg"):
            return getattr(r._values, method)()
        return getattr(r, method)(axis=tuple(range(r.ndim)), **options)
    return getattr(r, method)(axis=axis, **options)


def _on_values(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of each number, on the values of containers that nest alike."""
    named = list(kwargs)
    operands = (*args, *kwargs.values())
    model: Any
    model, row_ndim = model_of(operands)
    plain = [operand(x, model, row_ndim) if _is_operand(x) else x for x in operands]
    rows = func(*plain[: len(args)], **dict(zip(named, plain[len(args) :], strict=True)))
    if isinstance(rows, np.ndarray) and not isinstance(model._values, np.ndarray):
        rows = like(rows, model._values)  # NumPy computes with what it can read, and says nothing of its kind
    if isinstance(rows, tuple):
        return tuple(same_kind(model, part) for part in rows)
    return same_kind(model, rows)


def _is_operand(x: Any) -> bool:
    """Whether it is an operand by the rules of arithmetic: an array, a list, a container."""
    return isinstance(x, (list, tuple)) or (hasattr(x, "ndim") and not isinstance(x, (type, np.dtype)))


def _on_rows(func: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the last axes of each row, on the values of the Ragged that comes first."""
    named = dict(zip(("input", "second"), args, strict=False)) | kwargs
    r = named["input"]
    axes = {"linear": 1, "layer_norm": 0, "rms_norm": 0}.get(name, 0)
    if name.endswith("norm"):
        shape = kwargs.get("normalized_shape", named.get("second", ()))
        axes = 1 if isinstance(shape, int) else len(shape)
    if name == "prelu":
        weight: Any = kwargs.get("weight", named.get("second"))
        axes = int(weight.numel() > 1)
    if not _is_ragged(r) or r.values.ndim - 1 < axes:
        raise _refusal(f"torch.{name} of rows with fewer than {axes} axes", "r.values, or r.to_dense()")
    rest = args[1:] if args else ()
    kwargs.pop("input", None)
    return same_kind(r, func(r.values, *rest, **kwargs))


def _on_row_axis(func: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function along an axis of each row, which is counted as one of the container."""
    r, dim = args[0], kwargs.get("dim", _ON_ROW_AXES[name])
    inner = r.values.ndim - 1 if _is_ragged(r) else 0
    place = dim + r.ndim if isinstance(dim, int) and dim < 0 else dim
    first = r.ndim - inner
    if not isinstance(place, int) or not first <= place < r.ndim:
        raise _refusal(
            f"torch.{name}", f"r.values, r.to_dense(), or a dim of the rows, {first} or more; got {dim}"
        )
    return r._make(func(r.values, *args[1:], **{**kwargs, "dim": place - first + 1}), r.levels)


def _combined(name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    from varlen.ops.combine import concatenate, stack

    options = _arguments_by_name(("parts", "axis"), args, kwargs, name)
    parts = options.pop("parts", options.pop("tensors", options.pop("arrays", None)))
    axis = options.pop("axis", options.pop("dim", 0))
    if options:
        raise TypeError(f"{name} of Raggeds does not take {', '.join(options)}")
    return (stack if name == "stack" else concatenate)(parts, axis)


def _equal(name: str, a: Any, b: Any, *rest: Any, **options: Any) -> bool:
    if name == "allclose":
        model: Any
        model, row_ndim = model_of((a, b))
        x, y = (operand(each, model, row_ndim) for each in (a, b))
        x, y = (backend_of(each).readable(each) if hasattr(each, "ndim") else each for each in (x, y))
        return bool(np.allclose(x, y, *rest, **options))
    if _is_ragged(a) and _is_ragged(b):
        return bool(a.equals(b, *rest, **options))
    try:
        function = getattr(np, name)
        return bool(function(np.asarray(a), np.asarray(b), *rest, **options))
    except ValueError:  # no rectangle
        return False
