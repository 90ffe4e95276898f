"""What a library of arrays has beside NumPy's functions: devices, and the way to the host."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


class Library:
    """A namespace, and where its arrays lie: this one is NumPy's, whose arrays lie on the host."""

    def __init__(self, xp: Any) -> None:
        self.xp = xp
        self.array: type = xp.ndarray

    def to_host(self, x: Any) -> np.ndarray:
        """The numbers of an array, as one of NumPy."""
        return np.asarray(x)

    def name_of_device(self, x: Any) -> str:
        """Where an array lies."""
        return "cpu"

    def device_of(self, x: Any) -> contextlib.AbstractContextManager[Any]:
        """Where new arrays lie on the device of another."""
        return contextlib.nullcontext()

    def to_device(self, x: Any, device: Any, non_blocking: bool) -> Any:
        """An array on a device: itself where it lies there."""
        return x


class LibraryVerbs:
    """What the verbs of a backend share: the library whose arrays they take."""

    library: Library
    xp: Any
    type: Any

    def on_host(self, x: Any) -> Any:
        """Numbers of an array of the library as one of NumPy; everything else as it is."""
        return self.library.to_host(x) if isinstance(x, self.type) else x

    def first(self, *args: Any) -> Any:
        """The first array of the library among what was given, and in lists of it."""
        for x in args:
            if isinstance(x, self.type):
                return x
            if isinstance(x, list):
                result = self.first(*x)
                if result is not None:
                    return result
        return None

    def like(self, array: Any, values: Any) -> Any:
        """An array of NumPy as one of the library, beside another; those of the library as they are."""
        if isinstance(array, self.type):
            return array
        with self.library.device_of(values):
            return self.xp.asarray(array)

    def operand(self, x: Any, model: Any) -> Any:
        """The same for an operand, which may be a number."""
        return self.like(x, model) if isinstance(x, np.ndarray) and x.ndim else x


def at_device(function: F) -> F:
    """A decorator for a verb that computes by the namespace: on the device of the first array given."""

    @wraps(function)
    def on_its_device(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self.library.device_of(self.first(*args)):
            return function(self, *args, **kwargs)

    return on_its_device  # type: ignore[return-value]
