"""Functions of NumPy and torch, called with what stands for each sequence.

Axes are those of one sequence. A container, and an array with a row for each sequence, has one axis more in
front: its functions get the axes moved by one. What is not listed here is a detour.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from varlen import tracing
from varlen._core import RaggedBase
from varlen.backends.values import is_array
from varlen.ops.combine import concatenate
from varlen.ops.support.inputs import same_kind
from varlen.transforms.proxy import (
    DISPATCH,
    Proxy,
    Run,
    as_sequence,
    door,
    each_number,
    for_each,
    product,
    proxies_in,
)
from varlen.types import torch_table
from varlen.types.elementwise import EACH_NUMBER
from varlen.types.functions import EACH_NUMBER_OF_NUMPY
from varlen.types.indexing import add_axes
from varlen.types.signatures import ALIASES, given_to

Function = Callable[..., Any]


def _subject(run: Run, x: Any) -> Proxy:
    """The one argument that may differ between sequences."""
    if not isinstance(x, Proxy) or x.run is not run or x.is_weak:
        run.leave("a function of a list or a length")
    return x


def _no_others(run: Run, name: str, arguments: dict[str, Any], *names: str) -> None:
    """Leave where an argument has no meaning here, or differs between sequences."""
    for key, value in arguments.items():
        if key not in names:
            run.leave(f"{name} with {key}")
        if proxies_in(value):
            run.leave(f"{name} with {key} that differs between sequences")


def _axes(run: Run, name: str, x: Proxy, axis: Any) -> list[int]:
    """Axes of one sequence, none below 0; all of them for None."""
    if axis is None:
        return list(range(x.ndim))
    items = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    if x.ndim == 0 or not items or any(type(i) is not int or not -x.ndim <= i < x.ndim for i in items):
        run.leave(f"{name} along axis {axis}")
    return [i % x.ndim for i in items]


def _container_axes(axes: list[int]) -> Any:
    """The same axes behind that of the sequences; one as an int."""
    places = tuple(axis + 1 for axis in axes)
    return places[0] if len(places) == 1 else places


def _one_axis(run: Run, name: str, x: Proxy, axis: Any) -> int:
    axes = _axes(run, name, x, axis)
    if len(axes) != 1:
        run.leave(f"{name} along axis {axis}")
    return axes[0]


def _has_empty(x: Any) -> bool:
    return not tracing.is_tracing() and len(x._levels[0]) > 0 and x._levels[0].shortest == 0


def _with_axes(run: Run, content: Any, axes: list[int]) -> Any:
    """A result of a reduction with the axes kept, each of size 1."""
    return run.wrap(add_axes(content, [axis + 1 for axis in sorted(axes)]))


# Reductions and scans of a whole sequence of numbers, which are methods of a Ragged.
_OF_ALL = {
    "sum", "prod", "any", "all", "mean", "var", "std", "max", "min", "argmax", "argmin", "cumsum", "cumprod",
}  # fmt: skip
_OF_TENSORS = {
    "sum",
    "prod",
    "mean",
    "max",
    "min",
    "argmax",
    "argmin",
}  # of floats; others have rules of torch


def _whole_result(run: Run, name: str, x: Any, is_function: bool = False) -> Any:
    """The result of a whole sequence of numbers, where nothing is to be asked; None where something is."""
    content: Any = x.content if isinstance(x, Proxy) and x.run is run else None
    if (
        not (name in _OF_ALL or (is_function and name in ("sort", "argsort")))
        or not isinstance(content, RaggedBase)
        or content._values.ndim > 1
    ):
        return None
    if tracing.is_tracing():
        return None
    if run.is_torch and not (name in _OF_TENSORS and content._values.is_floating_point()):
        return None
    if run.is_torch and name in ("max", "min") and content._values.requires_grad:
        return None  # ties share the gradient
    if name in ("mean", "var", "std"):
        return run.wrap(getattr(content, name)(empty=np.nan))
    if name in ("max", "min", "argmax", "argmin") and _has_empty(content):
        return None
    return run.wrap(getattr(content, name)())


# NumPy.

_WITHOUT_SIGNATURE: dict[Function, str] = {np.where: "condition x y", np.dot: "a b out", np.inner: "a b"}
_TABLE: dict[Function, Callable[[Run, Function, dict[str, Any]], Any]] = {}


@functools.cache
def _signature(func: Function) -> inspect.Signature:
    return inspect.signature(func)


def by_ufunc(run: Run, ufunc: Any, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """A ufunc of NumPy."""
    if run.is_torch:
        run.leave(f"np.{ufunc.__name__} of a tensor")
    if ufunc is np.matmul and method == "__call__" and not kwargs:
        return product(run, *inputs)
    if method != "__call__" or ufunc.signature is not None or kwargs.keys() - {"dtype"}:
        run.leave(f"np.{ufunc.__name__}{'' if method == '__call__' else '.' + method}")
    if any(isinstance(x, (list, tuple)) for x in inputs):
        run.leave("a list in an operation")
    if all(x.is_weak if isinstance(x, Proxy) else not is_array(x) for x in inputs):
        run.leave(f"np.{ufunc.__name__} of a length")
    return each_number(run, ufunc, inputs, kwargs)


def by_numpy(run: Run, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of NumPy that is no ufunc."""
    handler = _TABLE.get(func)
    if handler is None or run.is_torch:
        run.leave(f"np.{func.__name__}")
    if (
        len(args) == 1
        and not kwargs
        and (short := _whole_result(run, func.__name__, args[0], True)) is not None
    ):
        return short
    if func in (np.concatenate, np.stack):
        return handler(run, func, given_to("np", func.__name__, args, kwargs))
    names = _WITHOUT_SIGNATURE.get(func)
    if names is None:
        arguments = _signature(func).bind(*args, **kwargs).arguments
    else:
        arguments = dict(zip(names.split(), args, strict=False)) | kwargs
    return handler(run, func, {key: x for key, x in arguments.items() if x is not np._NoValue})


def _number_by_number(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    name = func.__name__
    if arguments.keys() & {"out", "shape", "where", "order", "like", "device"}:
        run.leave(f"np.{name} with other arguments")
    if name == "where" and len(arguments) < 3:
        run.leave("np.where of a condition alone")
    if any(x.is_weak for x in proxies_in(list(arguments.values()))) and name not in ("where", "clip"):
        run.leave(f"np.{name} of a length")
    arguments = {key: x for key, x in arguments.items() if x is not None}
    if name in ("where", "real", "imag"):
        return each_number(run, func, tuple(arguments.values()), {})
    return each_number(run, func, (), arguments)


def _each_of_first(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    first, *others = arguments
    x = _subject(run, arguments.pop(first))
    _no_others(run, func.__name__, arguments, *others)
    return each_number(run, lambda values: func(values, **arguments), (x,), {})


# Reductions that have a result of an empty sequence, and arguments that they may have beside axes.
_OF_EMPTY = ("sum", "prod", "any", "all", "median", "nansum", "nanmean")
_OPTIONS = {
    "sum": "dtype",
    "prod": "dtype",
    "var": "ddof",
    "std": "ddof",
    "quantile": "q method",
    "percentile": "q method",
}


def _reduce(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    name = func.__name__
    x = _subject(run, arguments.pop("a"))
    keepdims, axis = arguments.pop("keepdims", False), arguments.pop("axis", None)
    if name in ("quantile", "percentile") and x.dtype.kind != "f":
        run.leave(f"np.{name} of {x.dtype}")
    names = _OPTIONS.get(name, "").split()
    arguments = {key: value for key, value in arguments.items() if value is not None}
    if name in ("quantile", "percentile") and type(arguments.get("q")) not in (int, float):
        run.leave(f"np.{name} at several places")
    if arguments.get("overwrite_input") is False:
        del arguments["overwrite_input"]
    _no_others(run, f"np.{name}", arguments, *names)
    _check_ddof(run, name, arguments)
    axes = _axes(run, name, x, axis)
    if not axes or (name.startswith(("arg", "nanarg")) and len(axes) > 1):
        run.leave(f"np.{name} along axis {axis}")
    content: Any = x.content
    if not x.is_sequence:
        result = func(content, axis=_container_axes(axes), **arguments)
    elif 0 not in axes:
        rows = func(content._values, axis=tuple(axes) if len(axes) > 1 else axes[0], **arguments)
        result = same_kind(content, rows)
    elif name in ("mean", "var", "std"):
        result = getattr(content, name)(axis=_container_axes(axes), empty=np.nan, **arguments)
    else:
        if _has_empty(content) and name not in _OF_EMPTY:
            run.leave(f"np.{name} of an empty sequence")
        result = func(content, axis=_container_axes(axes), **arguments)
    return _with_axes(run, result, axes) if keepdims else run.wrap(result)


def _one_line(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    """A function along one axis."""
    name = func.__name__
    first = next(iter(arguments))
    x = _subject(run, arguments.pop(first))
    default = None if name in ("cumsum", "cumprod", "nancumsum", "nancumprod", "flip", "roll") else -1
    axis = arguments.pop("axis", default)
    _no_others(run, f"np.{name}", arguments, "n", "kind", "stable", "shift")
    content: Any = x.content
    places = _axes(run, name, x, axis)
    place = _one_axis(run, name, x, axis if name != "flip" or x.ndim == 1 else places)
    if not x.is_sequence:
        return run.wrap(func(content, axis=place + 1, **arguments))
    if place:
        return run.wrap(same_kind(content, func(content._values, axis=place, **arguments)))
    if name == "diff" and arguments.get("n", 1) < 1:
        run.leave("np.diff with n below 1")
    if name == "roll" and type(arguments["shift"]) is not int:
        run.leave("np.roll by several numbers")
    return run.wrap(func(content, axis=1, **arguments))


def _row_line(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    """A function along one axis that is not the sequence's."""
    x = _subject(run, arguments.pop(next(iter(arguments))))
    if x.is_sequence:
        run.leave(f"np.{func.__name__} along the sequence")
    place = _one_axis(run, func.__name__, x, arguments.pop("axis", -1))
    _no_others(run, f"np.{func.__name__}", arguments, "n", "norm", "dx")
    return run.wrap(func(x.content, axis=place + 1, **arguments))


def _matrix_function(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    """A function of matrices, which NumPy takes many of at once."""
    x = _subject(run, arguments.pop("a"))
    if x.is_sequence or x.ndim < 2 or arguments:
        run.leave(f"np.linalg.{func.__name__} along the sequence")
    return run.wrap(func(x.content))


def _norm(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments.pop("x"))
    axis, order = arguments.pop("axis", None), arguments.pop("ord", None)
    keepdims = arguments.pop("keepdims", False)
    place = _one_axis(run, "np.linalg.norm", x, axis)
    if order is not None and order != 2:
        run.leave("np.linalg.norm with ord")
    content: Any = x.content
    if not x.is_sequence:
        result = func(content, axis=place + 1)
    elif place:
        result = same_kind(content, func(content._values, axis=place))
    else:
        result = content.norm(axis=1)
    return _with_axes(run, result, [place]) if keepdims else run.wrap(result)


def _dot(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    a, b = list(arguments.values())[:2]
    if len(arguments) > 2 or max(getattr(z, "ndim", 0) for z in (a, b)) > 2:
        run.leave(f"np.{func.__name__} of these")
    if func is np.inner and max(a.ndim, b.ndim) > 1:
        run.leave("np.inner of matrices")
    return product(run, a, b)


def _join(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    parts, axis = arguments.pop("parts", ()), arguments.pop("axis", 0)
    _no_others(run, func.__name__, arguments)
    return _join_parts(run, func, parts, axis, func is np.stack, "axis")


def _join_parts(run: Run, func: Function, parts: Any, axis: Any, is_stack: bool, keyword: str) -> Any:
    """Parts end to end, or side by side along a new axis."""
    if not isinstance(parts, (list, tuple)) or type(axis) is not int:
        run.leave(f"{func.__name__} along axis {axis}")
    if any(
        (isinstance(x, Proxy) and (x.is_weak or x.run is not run)) or isinstance(x, (list, tuple))
        for x in parts
    ):
        run.leave(f"{func.__name__} of lists or lengths")
    ndim = max(x.ndim if isinstance(x, Proxy) or is_array(x) else 0 for x in parts) + is_stack
    if not -ndim <= axis < ndim or any(getattr(x, "ndim", 0) != ndim - is_stack for x in parts):
        run.leave(f"{func.__name__} along axis {axis}")
    place = axis % ndim
    if not any(isinstance(x, Proxy) and x.is_sequence for x in parts):
        contents = [x.content if isinstance(x, Proxy) else for_each(x, run.count) for x in parts]
        return run.wrap(func(contents, **{keyword: place + 1}))
    if place == 0 and not is_stack:
        raggeds = [as_sequence(run, x) for x in parts]
        if len({str(x.dtype) for x in raggeds}) > 1:
            run.leave("sequences of different dtypes end to end")
        return run.wrap(concatenate(raggeds, 1))
    if place == 0 or not all(isinstance(x, Proxy) and x.is_sequence for x in parts):
        run.leave(f"{func.__name__} along axis {axis}")
    return each_number(run, lambda *rows: func(rows, **{keyword: place}), tuple(parts), {})


def _shape(run: Run, func: Function, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments.pop("a"))
    if arguments:
        run.leave(f"np.{func.__name__} with axis")
    return getattr(x, func.__name__)


def _fill_table() -> None:
    def add(handler: Any, names: str, home: Any = np) -> None:
        for name in names.split():
            if hasattr(home, name):
                _TABLE[getattr(home, name)] = handler

    add(
        _number_by_number,
        " ".join(EACH_NUMBER_OF_NUMPY | {"where", "sinc", "angle", "isposinf", "isneginf", "i0", "fix"}),
    )
    add(_each_of_first, "isin digitize interp")
    add(
        _reduce,
        "sum prod max min amax amin any all argmax argmin mean var std ptp median quantile percentile",
    )
    add(_reduce, "nansum nanmean nanmax nanmin")
    add(_one_line, "cumsum cumprod sort argsort diff flip roll")
    add(_row_line, "trapezoid")
    add(_row_line, "fft ifft rfft irfft", np.fft)
    add(_matrix_function, "det inv eigvalsh", np.linalg)
    add(_norm, "norm", np.linalg)
    add(_dot, "dot inner")
    add(_join, "concatenate stack")
    add(_shape, "shape ndim")


_fill_table()

# Methods of arrays that are no functions of that name, or no functions at all.
_METHODS_OF_ARRAYS = {
    "sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "mean", "var", "std", "cumsum", "cumprod",
    "argsort", "clip", "round", "copy", "dot",
}  # fmt: skip
_METHODS_OF_TENSORS = {
    *EACH_NUMBER,
    "sum", "prod", "max", "min", "amax", "amin", "any", "all", "argmax", "argmin", "mean", "var",
    "std", "logsumexp", "cumsum", "cumprod", "softmax", "log_softmax", "sort", "argsort", "flip", "roll",
    "diff", "norm", "matmul", "mm", "mv", "dot",
}  # fmt: skip


def _method(name: str) -> Function:
    @door
    def call(self: Proxy, *args: Any, **kwargs: Any) -> Any:
        run = self.run
        if not (args or kwargs) and (short := _whole_result(run, name, self)) is not None:
            return short
        if run.is_torch:
            import torch

            func = getattr(torch.Tensor, name, None)
            if func is None or name not in _METHODS_OF_TENSORS:
                run.leave(f"x.{name}")
            return by_torch(run, func, (self, *args), kwargs)
        if name not in _METHODS_OF_ARRAYS:
            run.leave(f"x.{name}")
        return by_numpy(run, getattr(np, name), (self, *args), kwargs)

    call.__name__ = name
    call.__doc__ = f"`{name}` of each sequence, as arrays and tensors have it."
    return call


@door
def _astype(self: Proxy, dtype: Any) -> Any:
    """The numbers in a dtype, as arrays have it."""
    if self.run.is_torch or self.is_weak:
        self.run.leave("x.astype")
    return each_number(self.run, lambda values: values.astype(dtype), (self,), {})


@door
def _reshape(self: Proxy, *shape: Any) -> Any:
    """The numbers in a shape, where no axis is that of a sequence."""
    sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
    if self.is_sequence or any(type(size) is not int for size in sizes):
        self.run.leave("the reshape of a sequence")
    return self.run.wrap(self.content.reshape((self.content.shape[0], *sizes)))


for _name in _METHODS_OF_ARRAYS | _METHODS_OF_TENSORS:
    if _name.isidentifier() and _name not in ("and", "or"):
        setattr(Proxy, _name, _method(_name))
Proxy.astype = _astype  # type: ignore[attr-defined]
Proxy.reshape = _reshape  # type: ignore[attr-defined]


# torch.

_REDUCTIONS = {
    "sum", "mean", "prod", "max", "amax", "min", "amin", "argmax", "argmin", "any", "all", "var", "std",
    "logsumexp",
}  # fmt: skip
_SCANS = ("cumsum", "cumprod", "softmax", "log_softmax")
_PARAMETERS = {
    "sort": "input dim descending stable",
    "argsort": "input dim descending stable",
    "flip": "input dims",
    "roll": "input shifts dims",
    "diff": "input n dim",
    "norm": "input p dim keepdim",
    "linalg_norm": "input p dim keepdim",
    "linalg_vector_norm": "input p dim keepdim",
    "normalize": "input p dim eps",
    "glu": "input dim",
}
# The place of `inplace` among the arguments.
_INPLACE = {
    "relu": 1, "relu6": 1, "leaky_relu": 2, "elu": 2, "celu": 2, "selu": 1, "silu": 1, "mish": 1,
    "hardtanh": 3, "hardsigmoid": 1, "hardswish": 1, "threshold": 3, "rrelu": 4, "dropout": 3,
    "alpha_dropout": 3,
}  # fmt: skip
_ALIASES = ALIASES | {"ord": "p", "A": "input"}


def by_torch(run: Run, func: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of torch."""
    full = tracing.name_of(func)
    name = full.strip("_")
    if not run.is_torch or kwargs.get("out") is not None or (full.endswith("_") and not full.endswith("__")):
        run.leave(f"torch.{full}")
    if kwargs.get("inplace") or (name in _INPLACE and any(args[_INPLACE[name] :][:1])):
        run.leave(f"torch.{full} in place")
    if name in _REDUCTIONS and not (name in ("max", "min") and _is_pair(args, kwargs)):
        return _reduce_tensor(run, func, name, args, kwargs)
    if name in _SCANS:
        return _scan_tensor(run, func, name, args, kwargs)
    if name in _PARAMETERS:
        return _HANDLERS[name](run, func, name, _bound(run, name, args, kwargs))
    if name in ("linear", "layer_norm", "rms_norm", "embedding"):
        return _on_rows(run, func, name, args, kwargs)
    if name in ("matmul", "mm", "mv", "dot") and len(args) == 2 and not kwargs:
        return product(run, *args)
    if name in ("cat", "concat", "concatenate", "stack"):
        arguments = given_to("torch", name, args, kwargs)
        parts, dim = arguments.pop("parts", ()), arguments.pop("dim", 0)
        _no_others(run, name, arguments)
        return _join_parts(run, func, parts, dim, name == "stack", "dim")
    return _each_number_of_torch(run, func, name, args, kwargs)


def _each_number_of_torch(run: Run, func: Function, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    word = name.removeprefix("r") if name != "relu" and name not in EACH_NUMBER else name
    if word not in EACH_NUMBER or word == "type_as" or (word == "where" and len(args) + len(kwargs) < 3):
        run.leave(f"torch.{name}")
    if all(x.is_weak for x in proxies_in((*args, *kwargs.values()))) and not any(map(is_array, args)):
        run.leave(f"torch.{name} of a length")
    return each_number(run, func, args, kwargs)


def _is_pair(args: Any, kwargs: dict[str, Any]) -> bool:
    """Whether it is a function of two arrays, as `torch.max(x, y)` is."""
    other = args[1] if len(args) > 1 else kwargs.get("other")
    return other is not None and not isinstance(other, int)


def _bound(run: Run, name: str, args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    names = _PARAMETERS[name].split()
    if name in ("flip", "roll") and len(args) > len(names):
        run.leave(f"torch.{name} of several ints")
    arguments = dict(zip(names, args, strict=False)) | {
        _ALIASES.get(key, key): x for key, x in kwargs.items()
    }
    if len(args) > len(names) or any(key not in names and x is not None for key, x in arguments.items()):
        run.leave(f"torch.{name} with other arguments")
    return {key: x for key, x in arguments.items() if x is not None}


def _reduce_tensor(run: Run, func: Function, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    arguments = given_to("torch", name, args, kwargs)
    x = _subject(run, arguments.pop("input"))
    keepdim, dim = arguments.pop("keepdim", False), arguments.pop("dim", None)
    _no_others(run, f"torch.{name}", arguments, "dtype", "unbiased", "correction")
    axes = _axes(run, name, x, dim)
    is_float = x.dtype.is_floating_point or x.dtype.is_complex
    _check_dtype(run, name, x)
    _check_ddof(run, name, arguments)
    if not axes or (name in ("mean", "std", "var", "logsumexp") and not is_float):
        run.leave(f"torch.{name} along dim {dim}, of {x.dtype}")
    if len(axes) > 1 and name in ("prod", "argmax", "argmin"):
        run.leave(f"torch.{name} along several axes")
    content: Any = x.content
    is_two = name in ("max", "min") and dim is not None
    if not x.is_sequence or 0 not in axes:
        values, moves = (content, 1) if not x.is_sequence else (content._values, 0)
        places = tuple(axis + moves for axis in axes)
        if name in ("max", "min") and not is_two:
            import torch

            func = torch.amax if name == "max" else torch.amin
        result = func(values, places[0] if len(places) == 1 else places, **arguments)
        parts = tuple(result) if is_two else (result,)
        if moves == 0:
            parts = tuple(same_kind(content, part) for part in parts)
    elif name == "mean":
        if "dtype" in arguments:
            run.leave("torch.mean with dtype")
        parts = (content.mean(axis=_container_axes(axes), empty=float("nan")),)
    elif name in ("max", "min", "amax", "amin"):
        if _has_empty(content) or (is_two and len(axes) > 1):
            run.leave(f"torch.{name} of an empty sequence")
        if is_two:
            parts = (getattr(content, name)(axis=1), getattr(content, f"arg{name}")(axis=1))
        else:
            import torch

            func = torch.amax if name.endswith("max") else torch.amin
            parts = (torch_table.by_torch(func, (content,), {"dim": _container_axes(axes)}),)
    else:
        if _has_empty(content) and name in ("argmax", "argmin"):
            run.leave(f"torch.{name} of an empty sequence")
        parts = (torch_table.by_torch(func, (content,), {"dim": _container_axes(axes), **arguments}),)
    results = tuple(_with_axes(run, part, axes) if keepdim else run.wrap(part) for part in parts)
    if not is_two:
        return results[0]
    import torch

    return (torch.return_types.max if name == "max" else torch.return_types.min)(results)


def _check_dtype(run: Run, name: str, x: Proxy) -> None:
    """Leave where torch has its own rule for a dtype: sums of uint8 are int64, and bools have no argmax."""
    kind = str(x.dtype)
    if kind == "torch.uint8" and name in ("sum", "prod", "any", "all", "cumsum", "cumprod"):
        run.leave(f"torch.{name} of uint8")
    if kind == "torch.bool" and name in ("argmax", "argmin"):
        run.leave(f"torch.{name} of bools")


def _check_ddof(run: Run, name: str, arguments: dict[str, Any]) -> None:
    """Leave where a variance of fewer rows than degrees of freedom is infinite, as a division by 0 is."""
    ddof = arguments.get("ddof", arguments.get("correction", 0))
    if name in ("var", "std") and not (type(ddof) is int and ddof <= 1):
        run.leave(f"{name} with {ddof} degrees of freedom")


def _scan_tensor(run: Run, func: Function, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    arguments = given_to("torch", name, args, {key: x for key, x in kwargs.items() if key != "_stacklevel"})
    x = _subject(run, arguments.pop("input"))
    _no_others(run, f"torch.{name}", arguments, "dim", "dtype")
    _check_dtype(run, name, x)
    if "dim" not in arguments:
        run.leave(f"torch.{name} without dim")
    if name.endswith("softmax") and not x.dtype.is_floating_point:
        run.leave(f"torch.{name} of {x.dtype}")
    place = _one_axis(run, f"torch.{name}", x, arguments.pop("dim"))
    return _along_tensor(run, func, x, place, arguments)


def _along_tensor(run: Run, func: Function, x: Proxy, place: int, options: dict[str, Any]) -> Any:
    content: Any = x.content
    if not x.is_sequence:
        return run.wrap(func(content, dim=place + 1, **options))
    if place:
        return run.wrap(same_kind(content, func(content._values, dim=place, **options)))
    return run.wrap(torch_table.by_torch(func, (content,), {"dim": 1, **options}))


def _sort(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments.pop("input"))
    place = _one_axis(run, f"torch.{name}", x, arguments.pop("dim", -1))
    content: Any = x.content
    if x.is_sequence and place == 0:
        if content._values.ndim > 1:
            run.leave(f"torch.{name} of rows with axes")
        is_descending = arguments.get("descending", False)
        places = content.argsort(descending=is_descending)
        parts = (places,) if name == "argsort" else (content.sort(descending=is_descending), places)
    elif x.is_sequence:
        result = func(content._values, dim=place, **arguments)
        parts = tuple(same_kind(content, y) for y in ((result,) if name == "argsort" else result))
    else:
        result = func(content, dim=place + 1, **arguments)
        parts = (result,) if name == "argsort" else tuple(result)
    if name == "argsort":
        return run.wrap(parts[0])
    import torch

    return torch.return_types.sort(tuple(map(run.wrap, parts)))


def _flip(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments["input"])
    axes = _axes(run, f"torch.{name}", x, arguments.get("dims", ()))
    content: Any = x.content
    if not x.is_sequence:
        return run.wrap(func(content, [axis + 1 for axis in axes]))
    if 0 in axes:
        content = content.reverse()
    rest = [axis for axis in axes if axis]
    return run.wrap(same_kind(content, func(content._values, rest)) if rest else content)


def _roll(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments["input"])
    place = _one_axis(run, f"torch.{name}", x, arguments.get("dims"))
    shift: Any = arguments.get("shifts")
    content: Any = x.content
    if type(shift) is not int:
        run.leave("torch.roll by several numbers")
    if not x.is_sequence:
        return run.wrap(func(content, shift, place + 1))
    if place:
        return run.wrap(same_kind(content, func(content._values, shift, place)))
    return run.wrap(content.roll(shift))


def _diff(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments["input"])
    place, n = _one_axis(run, f"torch.{name}", x, arguments.get("dim", -1)), arguments.get("n", 1)
    content: Any = x.content
    if not x.is_sequence:
        return run.wrap(func(content, n, place + 1))
    if place:
        return run.wrap(same_kind(content, func(content._values, n, place)))
    if type(n) is not int or n < 1:
        run.leave("torch.diff with n below 1")
    return run.wrap(content.diff(n))


def _norm_tensor(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    x = _subject(run, arguments["input"])
    if arguments.get("p", 2) != 2 or not x.dtype.is_floating_point:
        run.leave(f"torch.{name} with other arguments")
    place = _one_axis(run, f"torch.{name}", x, arguments.get("dim"))
    content: Any = x.content
    if not x.is_sequence:
        result = content.norm(dim=place + 1)
    else:
        result = same_kind(content, content._values.norm(dim=place)) if place else content.norm(axis=1)
    return _with_axes(run, result, [place]) if arguments.get("keepdim") else run.wrap(result)


def _on_row_axis(run: Run, func: Function, name: str, arguments: dict[str, Any]) -> Any:
    """A function along an axis of each row."""
    x = _subject(run, arguments.pop("input"))
    place = _one_axis(run, f"torch.{name}", x, arguments.pop("dim", 1 if name == "normalize" else -1))
    _no_others(run, f"torch.{name}", arguments, "p", "eps")
    content: Any = x.content
    if not x.is_sequence:
        return run.wrap(func(content, dim=place + 1, **arguments))
    if place == 0:
        run.leave(f"torch.{name} along the sequence")
    return run.wrap(same_kind(content, func(content._values, dim=place, **arguments)))


_HANDLERS = {
    "sort": _sort,
    "argsort": _sort,
    "flip": _flip,
    "roll": _roll,
    "diff": _diff,
    "norm": _norm_tensor,
    "linalg_norm": _norm_tensor,
    "linalg_vector_norm": _norm_tensor,
    "normalize": _on_row_axis,
    "glu": _on_row_axis,
}


def _on_rows(run: Run, func: Function, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of the last axes of each row, with parameters that all sequences share."""
    x = _subject(run, args[0] if args else kwargs.get("input"))
    rest, options = args[1:], {key: y for key, y in kwargs.items() if key != "input"}
    if proxies_in((*rest, *options.values())):
        run.leave(f"torch.{name} with parameters that differ between sequences")
    axes = torch_table.row_axes(name, rest[0] if rest else (), options)
    content: Any = x.content
    if not x.is_sequence:
        if x.ndim < axes:
            run.leave(f"torch.{name} of rows with fewer than {axes} axes")
        return run.wrap(func(content, *rest, **options))
    if content._values.ndim - 1 < axes:
        run.leave(f"torch.{name} along the sequence")
    return run.wrap(same_kind(content, func(content._values, *rest, **options)))


DISPATCH.update(ufunc=by_ufunc, numpy=by_numpy, torch=by_torch)
