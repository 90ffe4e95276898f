"""A Ragged with two axes swapped, as modules of torch do before a layer, and back behind it."""

from __future__ import annotations

import operator
from typing import Any

from varlen import tracing
from varlen.arguments import axis_of
from varlen.errors import type_error
from varlen.types.convolutions import CONVOLUTIONS, POOLS
from varlen.types.elementwise import EACH_NUMBER
from varlen.types.tensor_calls import size_along


class Swap:
    """What both kinds answer; the Ragged itself stays as it is."""

    __slots__ = ("ragged",)
    is_nested = False
    axes: tuple[int, int]

    def __init__(self, ragged: Any) -> None:
        self.ragged = ragged

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self.ragged.dtype

    @property
    def device(self) -> str:
        """The device of the values."""
        device: str = self.ragged.device
        return device

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The sizes of the axes, None for the ragged one."""
        shape = list(self.ragged.shape)
        a, b = self.axes
        shape[a], shape[b] = shape[b], shape[a]
        return tuple(shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.ragged.shape)

    def size(self, dim: int | None = None) -> Any:
        """The sizes of the axes, or of one."""
        return self.shape if dim is None else size_along(self.shape, dim)

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def transpose(self, dim0: int, dim1: int) -> Any:
        """The Ragged, if the axes are those that were swapped."""
        a, b = self.axes
        if {axis_of(dim, self.ndim, "dim") for dim in (dim0, dim1)} != {a, b}:
            raise type_error(
                "dim0", f"a Ragged with axes {a} and {b} swapped can swap them back, got {dim0} and {dim1}"
            )
        return self.ragged


class ChannelMajor(Swap):
    """A Ragged whose channels come before the time, as convolutions, pooling and norms of torch have them.

    Functions of each number and these layers give another; a mean, sum or maximum over the time a tensor.
    """

    axes = 1, 2

    def mean(self, dim: int) -> Any:
        """The mean over the time, (n, channels)."""
        return self._over_time("mean", dim)

    def sum(self, dim: int) -> Any:
        """The sum over the time, (n, channels)."""
        return self._over_time("sum", dim)

    def amax(self, dim: int) -> Any:
        """The largest numbers over the time, (n, channels)."""
        return self._over_time("max", dim)

    def _over_time(self, name: str, dim: int) -> Any:
        if dim not in (2, -1):
            raise type_error("dim", f"expected 2, the time, got {dim}", "use x.transpose(1, 2) for others")
        return getattr(self.ragged, name)()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, options = tracing.name_of(func), dict(kwargs or {})
        if name in POOLS and (options.get("output_size", args[-1])) in (1, (1,), [1]):
            rows = getattr(args[0].ragged, POOLS[name])()
            return rows.reshape((*rows.shape, 1))
        is_plain = all(isinstance(x, (cls, bool, int, float)) for x in args)
        if not (name in _ON_CHANNELS or (name.strip("_") in EACH_NUMBER and is_plain)):
            raise type_error(
                "", f"torch.{name} cannot take a Ragged with its channels before the time", "use it behind "
                "x.transpose(1, 2)"
            )  # fmt: skip
        if name == "pad" and options.get("mode", "constant") == "constant":
            numbers = tuple(options.pop("pad", args[1] if len(args) > 1 else ()))
            args, options["pad"] = (
                args[:1],
                (0, 0, *numbers) if len(numbers) == 2 else numbers[2:] + numbers[:2],
            )
        result = func(*(x.ragged if isinstance(x, cls) else x for x in args), **options)
        return tuple(map(cls, result)) if isinstance(result, tuple) else cls(result)


_ON_CHANNELS = {*CONVOLUTIONS, "batch_norm", "instance_norm", "group_norm", "dropout1d"}


def _operator(function: Any, is_reflected: bool = False) -> Any:
    """An operator of Raggeds, as one of such."""

    def call(x: ChannelMajor, *others: Any) -> Any:
        if not all(isinstance(other, (ChannelMajor, bool, int, float)) for other in others):
            return NotImplemented
        operands = [x.ragged, *(y.ragged if isinstance(y, ChannelMajor) else y for y in others)]
        return ChannelMajor(function(*(operands[::-1] if is_reflected else operands)))

    return call


for _name in ("add", "sub", "mul", "truediv", "pow"):
    setattr(ChannelMajor, f"__{_name}__", _operator(getattr(operator, _name)))
    setattr(ChannelMajor, f"__r{_name}__", _operator(getattr(operator, _name), True))
setattr(ChannelMajor, "__neg__", _operator(operator.neg))  # noqa: B010  # as those above
