"""What members of torch's tensors mean for the values of a container, tensors or not."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from varlen import tracing
from varlen._pytrees import nest_alike
from varlen.arguments import as_bool, axis_of
from varlen.backends import backend_of
from varlen.backends.values import is_array, is_tensor, readable
from varlen.errors import instance_error, type_error, value_error

T = TypeVar("T")

# Modules of torch that ask for the size of axis 1, and the axis of a Ragged that has what they count there:
# sequences where time may come first, channels where these come before the time.
_COUNTED = {
    "torch.nn.modules.rnn": 0,
    "torch.nn.modules.transformer": 0,
    "torch.nn.modules.instancenorm": -1,
    "torch.nn.modules.batchnorm": -1,
}
# Lazy modules of torch, which ask for the shape of a batch with its channels before the time.
CHANNELS_SECOND = ("torch.nn.modules.conv", "torch.nn.modules.batchnorm")
_ADAPTIVE = "torch.nn.modules.adaptive"


class Size(int):
    """A number of entries, as NumPy's `size` is; called, the sizes of axes, as torch's `size` gives them."""

    shape: tuple[int | None, ...]

    def __new__(cls, count: int, shape: tuple[int | None, ...]) -> Size:
        """`count` entries under a shape."""
        size = super().__new__(cls, count)
        size.shape = shape
        return size

    def __call__(self, dim: int | None = None) -> Any:
        """The size of an axis, or the shape."""
        return self.shape if dim is None else size_along(self.shape, dim, 2)


class TracedSize:
    """A `Size` in a graph, where no subclass of int holds a number that the graph does not know yet."""

    def __init__(self, count: Any, shape: tuple[int | None, ...]) -> None:
        self.count, self.shape = count, shape

    def __call__(self, dim: int | None = None) -> Any:
        """The size of an axis, or the shape."""
        return self.shape if dim is None else size_along(self.shape, dim)

    def __bool__(self) -> bool:
        return bool(self.count != 0)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*map(_count_of, args), **(kwargs or {}))


def _count_of(x: Any) -> Any:
    return x.count if isinstance(x, TracedSize) else x


def _operator(function: Callable[..., Any], is_reflected: bool = False) -> Callable[..., Any]:
    """An operator of numbers, as one of a size."""

    def call(size: TracedSize, *others: Any) -> Any:
        operands = (size.count, *map(_count_of, others))
        return function(*(operands[::-1] if is_reflected else operands))

    return call


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    setattr(TracedSize, f"__{_name}__", _operator(getattr(operator, _name)))
    setattr(TracedSize, f"__r{_name}__", _operator(getattr(operator, _name), True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "abs", "index"):
    setattr(TracedSize, f"__{_name}__", _operator(getattr(operator, _name)))


def size_along(shape: tuple[int | None, ...], dim: int, depth: int = 0) -> Any:
    """The size of an axis; `depth` says how deep the caller is who asks, outside of graphs."""
    place = axis_of(dim, len(shape), "dim")
    size = shape[place]
    if size is None and place == 1 and len(shape) == 3 and depth and not tracing.is_tracing():
        axis = _COUNTED.get(sys._getframe(depth).f_globals.get("__name__", ""))
        size = size if axis is None else shape[axis]
    if size is None:
        raise type_error("dim", f"axis {place} is ragged, so it has no single size", "use r.lengths")
    return size


def refuse_adaptive(depth: int) -> None:
    """Raise where `torch.nn.AdaptiveLogSoftmaxWithLoss` called, so deep, the function that asks."""
    if not tracing.is_tracing() and sys._getframe(depth + 1).f_globals.get("__name__") == _ADAPTIVE:
        raise type_error(
            "", "torch.nn.AdaptiveLogSoftmaxWithLoss takes rows, and no Ragged",
            "pass r.values and target.values, and wrap what it gives: vl.Ragged(output, levels=r.levels)",
        )  # fmt: skip


def tensor(values: Any, member: str) -> Any:
    """Values that have to be a tensor."""
    if not is_tensor(values):
        raise type_error(member, "NumPy arrays have no gradients", "use x.torch()")
    return values


def cast(x: T, dtype: Any) -> T:
    """A container with its values in a dtype; itself where they have it."""
    container: Any = x
    result: T = container._move(lambda values: backend_of(values).to_dtype(values, dtype))
    return result


def dtype_of(other: Any) -> Any:
    """The dtype of a container, an array or a tensor."""
    if not hasattr(other, "dtype"):
        raise instance_error("other", "a container, an array or a tensor", other)
    return other.dtype


def contiguous(values: Any) -> Any:
    """Values end to end in memory: themselves where they are."""
    return backend_of(values).contiguous(values)


def as_numpy(values: Any) -> Any:
    """Values as an array of NumPy, on the host."""
    return values if isinstance(values, np.ndarray) else readable(values)


def as_tensor(values: Any) -> Any:
    """Values as a tensor, which shares their memory where it can."""
    if is_tensor(values):
        return values
    from varlen.backends.torch.memory import share_memory

    return share_memory(values)


def follow(x: T, requires_grad: bool) -> T:
    """The container after autograd was asked to follow its values, or not to."""
    container: Any = x
    tensor(container._rows(), "requires_grad_").requires_grad_(requires_grad)
    return x


def retain_grad(x: Any) -> None:
    """Keep the gradient of values that are no leaf."""
    tensor(x._rows(), "retain_grad").retain_grad()


def backward(x: Any, gradient: Any, retain_graph: bool | None, create_graph: bool) -> None:
    """The gradients of the values, from one of a container or a tensor."""
    values = tensor(x._rows(), "backward")
    rows = _rows_beside(gradient, x, "gradient")
    if rows is None and values.numel() != 1:
        way = "reduce it first, as with x.mean().sum(), or pass a gradient: x.backward(gradient)"
        raise value_error("", f"{repr(x).splitlines()[0]} holds several numbers", way, context="backward")
    keeps_graph = None if retain_graph is None else as_bool(retain_graph, "retain_graph")
    values.backward(rows, keeps_graph, as_bool(create_graph, "create_graph"))


def write(x: T, source: Any, non_blocking: bool) -> T:
    """The container after values of another were written into its own."""
    container: Any = x
    values, rows = container._rows(), _rows_beside(source, x, "source")
    if rows is None:
        raise instance_error("source", "a container, an array or a tensor", source)
    if is_tensor(values):
        values.copy_(as_tensor(rows), non_blocking)
    else:
        values[...] = as_numpy(rows)
    return x


def _rows_beside(other: Any, x: Any, argument: str) -> Any:
    """The rows of a container that nests like x, or an array or a tensor of the shape of its rows."""
    rows = other._rows() if hasattr(other, "_rows") else other
    if rows is not None and not is_array(rows):
        raise instance_error(argument, "a container, an array or a tensor", other)
    shape = tuple(x._rows().shape)
    if rows is not None and tuple(np.shape(rows)) != shape:
        raise value_error(argument, f"has shape {tuple(np.shape(rows))}, the values {shape}")
    if rows is not other and not nest_alike(other, x):
        raise value_error(argument, "its sequences have other lengths or another order")
    return rows


def is_complex(values: Any) -> bool:
    """Whether values are complex numbers."""
    dtype = values.dtype
    return bool(dtype.is_complex if is_tensor(values) else dtype.kind == "c")


def nested_lists(x: Any) -> list[Any]:
    """The numbers of a container as lists, in the original order."""
    ragged = x.to_ragged() if hasattr(x, "size_at_t") else x
    lists: list[Any] = ragged.to_list()
    return lists
