"""Functions that torch.load may call to rebuild the levels, dims and containers that torch saved.

`torch.load(path, weights_only=True)` calls only registered functions. These check their arguments, and make
only objects of this package. They are registered once both packages are imported, in any order.
"""

from __future__ import annotations

import copyreg
import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any

from varlen._core import Dim, Level  # in front of NumPy, which a second interpreter cannot load
from varlen._watch import tell
from varlen.errors import value_error

import numpy as np  # isort: skip


class Call:
    """A pickle's stand-in for an object: the function that makes it, and its arguments."""

    __slots__ = ("arguments", "function")

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.function, self.arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self.function, self.arguments


def array(dtype: str, shape: tuple[int, ...], data: str) -> Any:
    r"""An array of bytes from a text with a letter per byte."""
    return np.frombuffer(data.encode("latin1"), dtype).reshape(shape).copy()


def level(offsets: Any) -> Level:
    """A level from its offsets: an array, bytes, or the object that a copy without a pickle passes on."""
    if isinstance(offsets, _Offsets):
        offsets = offsets.array
    numbers = np.frombuffer(offsets, "<i8") if isinstance(offsets, bytes) else offsets
    return Level.from_offsets(numbers.astype(np.int64, copy=False))


def dim(state: Any) -> Dim:
    """A dim from its pickle."""
    result: Dim = Dim._restored(state)
    return result


@functools.cache
def kind(where: str) -> Any:
    """A class of containers of this package by its module and name."""
    module, _, name = where.partition(":")
    is_ours = module.startswith("varlen.") and "__" not in module  # __main__ runs when it is imported
    cls = getattr(importlib.import_module(module), name, None) if is_ours else None
    if not (isinstance(cls, type) and hasattr(cls, "_from_saved")):
        raise value_error("", f"a saved container is of no class of varlen: {where!r}")
    return cls


def container(cls: Any, *parts: object) -> Any:
    """A container from its class and parts, which are checked."""
    return cls._from_saved(*parts)


def by_torch(protocol: Any) -> bool:
    """Whether torch.save is pickling, which an old protocol shows; it then saves tensors itself."""
    return int(protocol) < 4


def saved(cls: type, *parts: object) -> tuple[Any, ...]:
    """The result of `__reduce_ex__` under torch.save: calls of functions here; users' classes stay."""
    return container, tuple(_plain_argument(part) for part in (cls, *parts))


def _plain_argument(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(_plain_argument(item) for item in part)
    if isinstance(part, type) and part.__module__.startswith("varlen."):
        return Call(kind, f"{part.__module__}:{part.__qualname__}")
    if isinstance(part, np.ndarray) and part.dtype.kind in "biufcmMSU":
        return Call(array, part.dtype.str, part.shape, part.tobytes().decode("latin1"))
    name = str(getattr(part, "dtype", ""))
    if name.startswith("torch.float8"):
        return Call(viewed, part.view(sys.modules["torch"].uint8), name.removeprefix("torch."))
    return part


class _Offsets:
    """Offsets in a pickle: an array, whose memory may stay outside; to torch, a call that it knows."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def __reduce_ex__(self, protocol: Any) -> Any:
        return (
            _plain_argument(self.array).__reduce__()
            if by_torch(protocol)
            else self.array.__reduce_ex__(protocol)
        )


def viewed(bits: Any, dtype: str) -> Any:
    """A tensor of small floats from their bits; torch does not pickle them by itself."""
    return bits.view(getattr(sys.modules["torch"], dtype))


def _reduced_level(value: Level) -> tuple[Any, ...]:
    return level, (_Offsets(np.ascontiguousarray(value.offsets, "<i8")),)


def _reduced_dim(value: Dim) -> tuple[Any, ...]:
    return dim, value.__reduce__()[1]


def _tell(serialization: object) -> None:
    if hasattr(serialization, "add_safe_globals"):
        serialization.add_safe_globals([array, level, dim, kind, container, viewed])


def tell_torch() -> None:
    """Register these functions with torch.load, now or when torch is imported."""
    copyreg.pickle(Level, _reduced_level)
    copyreg.pickle(Dim, _reduced_dim)
    tell("torch.serialization", _tell)
