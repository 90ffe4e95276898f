"""Functions of NumPy and torch called with a Ragged: some work on it, and all others are refused.

A function that works on each number goes to the values. One that knows axes goes to the method of its name,
whose axes are those of the container. All others are refused, and the error names an alternative: they would
take the Ragged for a sequence of rows or a rectangle, and compute something else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.arguments import as_bool
from varlen.backends import backend_of
from varlen.backends.numeric import is_float
from varlen.backends.values import is_tensor, like, readable, row_as
from varlen.errors import name_place, type_error, value_error, with_fields
from varlen.levels import equal_lengths
from varlen.ops.faces.folds import UFUNCS
from varlen.ops.matmul import matmul
from varlen.ops.reduce import extreme_place
from varlen.ops.support.axes import axes_of
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.operands import align, operand
from varlen.types import numpy_functions, torch_functions
from varlen.types.channels import call_arguments
from varlen.types.convolutions import POOLS
from varlen.types.elementwise import EACH_NUMBER
from varlen.types.indexing import add_axes
from varlen.types.layers import COUNTED, LAYERS
from varlen.types.namesakes import KEEP_ROWS, METHODS
from varlen.types.signatures import given_to
from varlen.types.tensor_calls import refuse_adaptive

if TYPE_CHECKING:
    from varlen.backends.values import Axes, SequencesLike
    from varlen.types.ragged import Ragged

_FLOATS = ("std", "var", "softmax", "log_softmax")

# Functions of NumPy that work on each number, beside the ufuncs.
EACH_NUMBER_OF_NUMPY = {
    "clip", "round", "around", "nan_to_num", "real", "imag", "isclose", "zeros_like", "ones_like",
    "full_like", "empty_like", "copy", "isreal", "iscomplex",
}  # fmt: skip

# Functions of torch that work on the last axes of each row, and give a row for each.
_ON_ROWS = ("linear", "layer_norm", "rms_norm", "embedding", "one_hot", "prelu")

# Functions of torch that were called before, and how they take Raggeds: `on_values` of the core calls them
# the next time without a look at their names.
RULES: dict[Callable[..., Any], tuple[int, int, int]] = {}
_MOST = 64  # the axes that a tensor has at most
_RULE_OF = {
    "linear": (1, 2, _MOST),
    "layer_norm": (1, -1, _MOST),
    "rms_norm": (1, -1, _MOST),
    "embedding": (1, 1, _MOST),
    "batch_norm": (1, 2, 2),
    **{name: (count, 1, _MOST) for name, count in COUNTED.items()},
}

# Functions of torch that go along an axis, `dim`, and mean something along those of each row alone.
_ON_ROW_AXES = {"glu": -1, "gumbel_softmax": -1, "normalize": 1}
_POSITIONS = {"glu": "input dim", "gumbel_softmax": "logits tau hard eps dim", "normalize": "input p dim eps"}


def by_torch(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of torch that is called with a Ragged."""
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
    operator = name.removeprefix("r") if name.removeprefix("r") in EACH_NUMBER and name != "relu" else name
    if operator in EACH_NUMBER or name in EACH_NUMBER:
        result = _on_values(func, args, kwargs)
        if name != "where" and not (isinstance(result, tuple) or tracing.is_tracing()):
            RULES[func] = (0, 0, _MOST)
        return result
    if name in _RULE_OF and not tracing.is_tracing():
        RULES[func] = _RULE_OF[name]
    if name in _ON_ROWS:
        return _on_rows(func, name, args, kwargs)
    if name in _ON_ROW_AXES and args:
        return _on_row_axis(func, name, args, kwargs)
    if name in ("cat", "concat", "concatenate", "stack"):
        return _combine("torch", name, args, kwargs)
    if name == "matmul":
        arguments = given_to("torch", name, args, {key: x for key, x in kwargs.items() if key != "out"})
        return matmul(arguments["input"], arguments["other"])
    if name in LAYERS:
        return LAYERS[name](name, func, args, kwargs)
    if name in ("flatten", "unflatten") and _is_ragged(r := _first(args, kwargs, "input")):
        arguments = given_to("torch", name, args, kwargs)
        arguments.pop("input")
        return getattr(r, name)(**arguments)
    if name in (*METHODS, "softmin") and _is_ragged(_first(args, kwargs, "input", "a", "x")):
        arguments = given_to("torch", name, args, kwargs)
        arguments.pop("_stacklevel", None)
        if name == "argmax":
            refuse_adaptive(2)
        if name in ("max", "min") and ("other" in arguments or "dim" in arguments):
            dim: Any = arguments.get("other", arguments.get("dim"))
            if not isinstance(dim, (int, np.integer)):
                return (np.maximum if name == "max" else np.minimum)(arguments["input"], dim)
            return torch_functions.extremes(name, arguments["input"], dim, arguments.get("keepdim", False))
        dim = arguments.get("dim")
        if isinstance(dim, (tuple, list)) and not dim and name not in KEEP_ROWS:
            if name in ("any", "all"):
                return arguments["input"] != 0  # no axes
            del arguments["dim"]  # all axes
        if name == "softmin":
            name, arguments["input"] = "softmax", -arguments["input"]
        if name in ("std", "var"):
            arguments["ddof"] = _correction(name, arguments)
        return reduce_axis(
            f"torch.{name}", name, arguments.pop("input"), arguments.pop("dim", None), arguments
        )
    if name in POOLS:
        raise _refusal(f"torch.{name}", f"r.{POOLS[name]}(), which gives one row a sequence")
    result = torch_functions.call(name, args, kwargs)
    if result is not NotImplemented:
        return result
    raise _refusal(f"torch.{name}", f"r.{name}()" if _has_method(args, name) else "r.values, or r.to_dense()")


def by_numpy(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy, other than a ufunc, that is called with a Ragged."""
    name = func.__name__
    if name in ("array_equal", "array_equiv", "allclose"):
        return _equal(name, given_to("np", name, args, kwargs))
    if name in ("concatenate", "stack"):
        return _combine("np", name, args, kwargs)
    if name == "where" and len(args) == 3:
        from varlen.ops.where import where

        return where(*args)
    if name == "where" and len(args) == 1 and not kwargs:
        return numpy_functions.coordinates(args[0])
    if name == "einsum" and not kwargs:
        return torch_functions.sum_products(*args)
    if name in EACH_NUMBER_OF_NUMPY:
        if any(_is_tensor_like(x) for x in (*args, *kwargs.values())):
            raise _refusal(
                f"np.{name}", f"torch.{'clone' if name == 'copy' else name}, because the values are tensors"
            )
        arguments = given_to("np", name, args, kwargs)
        extras = {"out", "shape", "where", "order", "subok"} & arguments.keys()
        if extras:
            raise _refusal(f"np.{name} with {', '.join(sorted(extras))}", "the result")
        return (
            _on_values(func, (), arguments)
            if name not in ("real", "imag")
            else _on_values(func, args, kwargs)
        )
    if name in ("result_type", "may_share_memory", "shares_memory"):
        return func(*(readable(x._values) if _is_ragged(x) else x for x in args), **kwargs)
    if name in ("shape", "ndim", "size"):
        arguments = given_to("np", name, args, kwargs)
        if "axis" in arguments:
            raise _refusal(f"np.{name} with axis", "r.shape")
        return getattr(arguments["a"], name)
    if name in METHODS and _is_ragged(_first(args, kwargs, "a")):
        arguments = given_to("np", name, args, kwargs)
        if "correction" in arguments:
            if "ddof" in arguments:
                raise value_error("", f"np.{name} takes either ddof or correction, got both")
            arguments["ddof"] = arguments.pop("correction")
        if "where" in arguments:
            return _reduce_where(name, arguments)
        return reduce_axis(f"np.{name}", name, arguments.pop("a"), arguments.pop("axis", None), arguments)
    if name in ("sort", "argsort") and _is_ragged(_first(args, kwargs, "a")):
        arguments = given_to("np", name, args, kwargs)
        if "order" in arguments:
            raise _refusal(f"np.{name} with order", f"r.{name}(), which goes along each sequence")
        # Equal numbers keep their order, which every kind and stable may; NumPy knows which there are.
        np.sort(np.empty(0), **{key: arguments[key] for key in ("kind", "stable") if key in arguments})
        if arguments.get("axis", -1) is None:
            r = arguments["a"]
            row = r._make(r._values.reshape(-1), (equal_lengths(1, r.size),))
            return getattr(row, name)()._values
        return getattr(arguments["a"], name)(axis=arguments.get("axis", -1))
    result = numpy_functions.call(func, args, kwargs)
    if result is not NotImplemented:
        return result
    if name in ("save", "savez", "savez_compressed"):
        raise _refusal(f"np.{name}", "r.save(path), or varlen.save(tree, path)")
    raise _refusal(f"np.{name}", f"r.{name}()" if _has_method(args, name) else _rectangle_way(args))


def _rectangle_way(args: Any) -> str:
    """What takes the place of a Ragged: an array of it, where it is a rectangle."""
    r: Any = args[0] if args else None
    is_even = _is_ragged(r) and all(level.longest == level.shortest for level in r._levels)
    return f"r.values, r.to_dense(){' or np.asarray(r)' if is_even else ''}"


def _reduce_where(name: str, arguments: dict[str, Any]) -> Any:
    """A reduction of the numbers that a mask marks."""
    r, axis, initial = arguments["a"], arguments.get("axis"), arguments.get("initial")
    where, keepdims = arguments.pop("where"), arguments.pop("keepdims", False)
    selection, options = numpy_functions.masked(METHODS[name], r, where, axis, initial)
    if options:
        del arguments["a"]
        arguments.pop("axis", None)
        return numpy_functions.fold(METHODS[name], selection, axis, keepdims, **arguments)
    arguments["a"] = selection
    return getattr(np, name)(**arguments, keepdims=keepdims)


def _first(args: Any, kwargs: dict[str, Any], *names: str) -> Any:
    """The argument that comes first, by its position or one of its names."""
    return args[0] if args else next((kwargs[name] for name in names if name in kwargs), None)


def _correction(name: str, arguments: dict[str, Any]) -> Any:
    """The correction of torch.std and torch.var, which they subtract from the count of rows; 1 by default."""
    if "ddof" in arguments:
        raise type_error("ddof", f"torch.{name} knows no ddof", "use correction=")
    is_unbiased, correction = arguments.pop("unbiased", None), arguments.pop("correction", None)
    if is_unbiased is None:
        return 1 if correction is None else correction
    if correction is not None:
        raise type_error("", f"torch.{name} takes either correction or unbiased, got both")
    return int(as_bool(is_unbiased, "unbiased"))


def _is_tensor_like(x: Any) -> bool:
    return _is_ragged(x) and is_tensor(x._values)


def _is_ragged(x: object) -> bool:
    return isinstance(x, RaggedBase)


def _has_method(args: Any, name: str) -> bool:
    return bool(args) and _is_ragged(args[0]) and hasattr(args[0], name)


def method_of_tensors(r: Ragged[Any], name: str) -> Callable[..., Any] | None:
    """The method of that name that torch's tensors have, of a Ragged of tensors; None where there is none."""
    if not is_tensor(r._values):
        return None
    import torch

    function = getattr(torch.Tensor, name, None)
    return None if function is None else functools.partial(_call_method, function, r)


def _call_method(function: Callable[..., Any], r: Ragged[Any], *args: Any, **kwargs: Any) -> Any:
    return type(r).__torch_function__(function, (type(r),), (r, *args), kwargs)


# Methods of torch's tensors that a Ragged of tensors has as well: the functions of their names.
TENSOR_METHODS = (EACH_NUMBER | torch_functions.FUNCTIONS.keys()) - {"and", "or", "linalg_norm"}


def _refusal(function: str, way: str) -> TypeError:
    return type_error("", f"{function} has no meaning for a Ragged", f"use {way}")


def reduce_axis(function: str, name: str, r: Ragged[Any], axis: Axes, arguments: dict[str, Any]) -> Any:
    """The method of that name along axes of the container; over everything if no axis is given."""
    method = METHODS[name]
    options = {key: arguments.pop(key) for key in ("dtype", "initial", "ddof") if key in arguments}
    keep = as_bool(arguments.pop("keepdims" if "keepdims" in arguments else "keepdim", False), "keepdims")
    if arguments:
        raise type_error(
            "", f"{function} of a Ragged has no argument {', '.join(arguments)}", f"use r.{method}()"
        )
    if keep and method in KEEP_ROWS:
        raise type_error("keepdim", f"{function} of a Ragged keeps every axis as it is", "leave it out")
    if axis is None and method in KEEP_ROWS:
        raise _refusal(f"{function} without an axis", f"r.{method}(), which goes along each sequence")
    dtype = None
    kind: Any = options.get("dtype")
    if function == "torch.mean" and not (getattr(kind, "is_floating_point", True) or kind.is_complex):
        raise type_error(
            "dtype", f"{function} of a Ragged returns floats, so it needs a float dtype, got {kind}"
        )
    if "dtype" in options and method not in ("sum", "mean", "prod", "cumsum", "cumprod"):
        r = r.astype(options.pop("dtype"))
        dtype = r.dtype
        if method in _FLOATS and not is_float(r._values):
            raise type_error(
                "dtype", f"{function} of a Ragged returns floats, so it needs a float dtype, got {dtype}"
            )
    if method.startswith("arg") and axis is None:
        if not tracing.is_tracing() and r.size == 0:
            raise value_error(
                function, f"the Ragged has no values; r.{method}(empty=) sets the result of empty sequences"
            )
        level = equal_lengths(1, r.size)
        result = extreme_place(method[3:], r._values.reshape(-1), level, None, -1, None)[0]
    else:
        axes = tuple(range(r.ndim)) if axis is None else axis
        result = _reduce(function, method, r, axes, **options)
    if dtype is not None and result.dtype != dtype:
        is_numpy = _is_ragged(result) or isinstance(result, (np.ndarray, np.generic))
        result = result.astype(dtype) if is_numpy else backend_of(result).astype(result, dtype)
    all_axes = list(range(r.ndim)) if axis is None else axis
    return add_axes(result, axes_of(all_axes, r.ndim)) if keep else result


def _reduce(
    function: str, method: str, r: Ragged[Any], axes: Any, initial: object = None, **options: object
) -> Any:
    if initial is not None and method in ("max", "min"):
        options["empty"] = row_as(initial, r._values.reshape(-1), "initial")[0]
    kind: Any = options.get("dtype")
    if method == "mean" and (kind is None or is_tensor(r._values) or np.dtype(kind).kind not in "iub"):
        options["empty"] = float("nan")  # as NumPy and torch mean it; r.mean() gives 0
    call = functools.partial(getattr(r, method), axis=axes, **options)
    if initial is None and method in ("max", "min"):
        axes_of(axes, r.ndim)
        try:
            return call()
        except ValueError as error:
            way = ", or pass initial=" if function.startswith("np.") else ""
            advice = vars(error).get("advice")
            failure = with_fields(error, advice=f"{advice}: r.{method}(empty=...){way}") if advice else error
            raise name_place(failure, function) from None
    result = call()
    if initial is None:
        return result
    rows = result._values if _is_ragged(result) else result
    start = row_as(initial, rows.reshape(-1), "initial")[0]
    if getattr(rows.dtype, "kind", "") in ("U", "S"):  # NumPy has no maximum of text
        rows = np.where(rows < start if method == "max" else rows > start, start, rows)[()]
    else:
        rows = backend_of(rows).ufunc(UFUNCS[method], [rows, start], {})
    return same_kind(result, rows) if _is_ragged(result) else rows


def _on_values(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of each number, on the values of containers that nest alike."""
    names = list(kwargs)
    operands = (*args, *kwargs.values())
    model: Any
    model, row_ndim, _ = align((), operands)
    plain = [operand(x, model, row_ndim) if _is_operand(x) else x for x in operands]
    rows = func(*plain[: len(args)], **dict(zip(names, plain[len(args) :], strict=True)))
    if isinstance(rows, np.ndarray) and not isinstance(model._values, np.ndarray):
        rows = like(rows, model._values)  # NumPy computes with what it can read, and says nothing of its kind
    if isinstance(rows, tuple):
        return tuple(same_kind(model, part) for part in rows)
    return same_kind(model, rows)


def _is_operand(x: SequencesLike) -> bool:
    """Whether it is an operand by the rules of arithmetic: an array, a list, a container."""
    if type(x) in (int, float, bool):  # which a graph may not know, and asks for no attributes
        return False
    return isinstance(x, (list, tuple)) or (hasattr(x, "ndim") and not isinstance(x, (type, np.dtype)))


def _on_rows(func: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the last axes of each row, on the values of the Ragged that comes first."""
    arguments = dict(zip(("input", "second"), args, strict=False)) | kwargs
    r = arguments["input"]
    axes = {"linear": 1, "layer_norm": 0, "rms_norm": 0}.get(name, 0)
    if name.endswith("norm"):
        shape = kwargs.get("normalized_shape", arguments.get("second", ()))
        axes = 1 if isinstance(shape, int) else len(shape)
    if name == "prelu":
        weight: Any = kwargs.get("weight", arguments.get("second"))
        axes = int(weight.numel() > 1)
    if not _is_ragged(r) or r.values.ndim - 1 < axes:
        raise _refusal(f"torch.{name} of rows with fewer than {axes} axes", "r.values, or r.to_dense()")
    rest = args[1:] if args else ()
    kwargs.pop("input", None)
    return same_kind(r, func(r.values, *rest, **kwargs))


def _on_row_axis(func: Callable[..., Any], name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function along an axis of each row; the axis is counted in the container."""
    options = call_arguments(_POSITIONS[name], args, kwargs)
    r, dim = args[0], options.get("dim", _ON_ROW_AXES[name])
    inner = r._values.ndim - 1 if _is_ragged(r) else 0
    place = dim + r.ndim if isinstance(dim, int) and dim < 0 else dim
    first = r.ndim - inner
    if not isinstance(place, int) or not first <= place < r.ndim:
        raise _refusal(
            f"torch.{name}", f"r.values, r.to_dense(), or a dim of the rows, {first} or more; got {dim}"
        )
    del options[_POSITIONS[name].split()[0]]
    return same_kind(r, func(r._values, **{**options, "dim": place - first + 1}))


def _combine(library: str, name: str, args: object, kwargs: dict[str, Any]) -> Any:
    from varlen.ops.combine import concatenate, stack

    arguments = given_to(library, name, args, kwargs)
    parts, axis = arguments.pop("parts", ()), arguments.pop("dim" if library == "torch" else "axis", 0)
    if axis is None:
        raise _refusal(f"np.{name} with axis=None", "the values of each, which lie end to end")
    if arguments:
        raise type_error("", f"{library}.{name} of Raggeds has no argument {', '.join(arguments)}")
    return (stack if name == "stack" else concatenate)(parts, axis)


def _equal(name: str, arguments: dict[str, Any]) -> bool:
    a, b, *_ = arguments.values()
    options = {key: x for key, x in arguments.items() if key in ("rtol", "atol", "equal_nan")}
    if name == "allclose":
        _, _, given_rows = align((a, b))
        x, y = (backend_of(item).readable(item) if hasattr(item, "ndim") else item for item in given_rows)
        return bool(np.allclose(x, y, **options))
    if _is_ragged(a) and _is_ragged(b):
        return bool(a.equals(b, **options))
    try:
        function = getattr(np, name)
        return bool(function(np.asarray(a), np.asarray(b), **options))
    except ValueError:  # no rectangle
        return False
