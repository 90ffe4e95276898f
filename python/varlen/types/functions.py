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
from varlen.ops.reduce import extreme_place, reduce_rows
from varlen.ops.support.axes import axes_of
from varlen.ops.support.inputs import same_kind
from varlen.ops.support.operands import align, operand
from varlen.types import numpy_functions, torch_functions
from varlen.types.indexing import add_axes
from varlen.types.namesakes import KEEP_ROWS, METHODS
from varlen.types.signatures import given_to

if TYPE_CHECKING:
    from varlen.backends.values import Axes, SequencesLike
    from varlen.types.ragged import Ragged

_FLOATS = ("std", "var", "softmax", "log_softmax")

# Functions of NumPy that work on each number, beside the ufuncs.
EACH_NUMBER_OF_NUMPY = {
    "clip", "round", "around", "nan_to_num", "real", "imag", "isclose", "zeros_like", "ones_like",
    "full_like", "empty_like", "copy", "isreal", "iscomplex",
}  # fmt: skip


def by_numpy(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """The result of a function of NumPy, other than a ufunc, that is called with a Ragged."""
    name = func.__name__
    if name in ("array_equal", "array_equiv", "allclose"):
        return _equal(name, given_to("np", name, args, kwargs))
    if name in ("concatenate", "stack"):
        return combine(name, func, args, kwargs, "np")
    if name == "where" and len(args) == 3:
        from varlen.ops.where import where

        return where(*args)
    if name == "where" and len(args) == 1 and not kwargs:
        return numpy_functions.coordinates(args[0])
    if name == "einsum" and not kwargs:
        return torch_functions.sum_products(*args)
    if name in EACH_NUMBER_OF_NUMPY:
        if any(_is_tensor_like(x) for x in (*args, *kwargs.values())):
            raise refusal(
                f"np.{name}", f"torch.{'clone' if name == 'copy' else name}, because the values are tensors"
            )
        arguments = given_to("np", name, args, kwargs)
        extras = {"out", "shape", "where", "order", "subok"} & arguments.keys()
        if extras:
            raise refusal(f"np.{name} with {', '.join(sorted(extras))}", "the result")
        return (
            on_each_number(func, (), arguments)
            if name not in ("real", "imag")
            else on_each_number(func, args, kwargs)
        )
    if name in ("result_type", "may_share_memory", "shares_memory"):
        return func(*(readable(x._values) if is_ragged(x) else x for x in args), **kwargs)
    if name in ("shape", "ndim", "size"):
        arguments = given_to("np", name, args, kwargs)
        if "axis" in arguments:
            raise refusal(f"np.{name} with axis", "r.shape")
        return getattr(arguments["a"], name)
    if name in METHODS and is_ragged(first_argument(args, kwargs, "a")):
        arguments = given_to("np", name, args, kwargs)
        if "correction" in arguments:
            if "ddof" in arguments:
                raise value_error("", f"np.{name} takes either ddof or correction, got both")
            arguments["ddof"] = arguments.pop("correction")
        if "where" in arguments:
            return _reduce_where(name, arguments)
        return reduce_axis(f"np.{name}", name, arguments.pop("a"), arguments.pop("axis", None), arguments)
    if name in ("sort", "argsort") and is_ragged(first_argument(args, kwargs, "a")):
        arguments = given_to("np", name, args, kwargs)
        if "order" in arguments:
            raise refusal(f"np.{name} with order", f"r.{name}(), which goes along each sequence")
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
        raise refusal(f"np.{name}", "r.save(path), or varlen.save(tree, path)")
    raise refusal(f"np.{name}", f"r.{name}()" if has_method(args, name) else _rectangle_way(args))


def _rectangle_way(args: Any) -> str:
    """What takes the place of a Ragged: an array of it, where it is a rectangle."""
    r: Any = args[0] if args else None
    is_even = is_ragged(r) and all(level.longest == level.shortest for level in r._levels)
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


def first_argument(args: Any, kwargs: dict[str, Any], *names: str) -> Any:
    """The argument that comes first, by its position or one of its names."""
    return args[0] if args else next((kwargs[name] for name in names if name in kwargs), None)


def _is_tensor_like(x: Any) -> bool:
    return is_ragged(x) and is_tensor(x._values)


def is_ragged(x: object) -> bool:
    """Whether it is a Ragged."""
    return isinstance(x, RaggedBase)


def has_method(args: Any, name: str) -> bool:
    """Whether the first argument is a Ragged with a method of that name."""
    return bool(args) and is_ragged(args[0]) and hasattr(args[0], name)


def refusal(function: str, way: str) -> TypeError:
    """The error of a function that would compute something else."""
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
        raise refusal(f"{function} without an axis", f"r.{method}(), which goes along each sequence")
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
        is_numpy = is_ragged(result) or isinstance(result, (np.ndarray, np.generic))
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
    if function.startswith("torch.") and method in ("max", "min"):
        call = functools.partial(reduce_rows, f"a{method}", r, None, axes, -1, options.get("empty"))
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
    rows = result._values if is_ragged(result) else result
    start = row_as(initial, rows.reshape(-1), "initial")[0]
    if getattr(rows.dtype, "kind", "") in ("U", "S"):  # NumPy has no maximum of text
        rows = np.where(rows < start if method == "max" else rows > start, start, rows)[()]
    else:
        rows = backend_of(rows).ufunc(UFUNCS[method], [rows, start], {})
    return same_kind(result, rows) if is_ragged(result) else rows


def on_each_number(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
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


def combine(name: str, func: object, args: Any, kwargs: dict[str, Any], library: str = "torch") -> Any:
    """Containers joined by torch's or NumPy's function of that name."""
    from varlen.ops.combine import concatenate, stack

    arguments = given_to(library, name, args, kwargs)
    parts, axis = arguments.pop("parts", ()), arguments.pop("dim" if library == "torch" else "axis", 0)
    if axis is None:
        raise refusal(f"np.{name} with axis=None", "the values of each, which lie end to end")
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
    if is_ragged(a) and is_ragged(b):
        return bool(a.equals(b, **options))
    try:
        function = getattr(np, name)
        return bool(function(np.asarray(a), np.asarray(b), **options))
    except ValueError:  # no rectangle
        return False
