"""Arrays that another library's backend computes with: seen as its arrays, and given back as they came.

The verbs are those of the backend of NumPy or CuPy. What a bridge says itself is how an array is seen there,
how one becomes the caller's again, and where arrays lie.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from varlen.backends.table import Backend
from varlen.errors import type_error

# Verbs that give arrays of the host whatever they are given; those of which the first result alone is values.
_ON_HOST = {"readable", "as_numpy", "is_contiguous", "mask_to_level", "concat_levels"}
_FIRST = {"list2padded", "ragged2padded"}
# Verbs that may write what they are given, or give it back as it is.
_WRITES = {"put_rows", "fill_where"}


class Bridge:
    """The verbs on the arrays of a library, by the backend of another."""

    def __init__(self, name: str, kind: Any, look_up: Callable[[Any], Backend], mutable: bool = True) -> None:
        self.name, self.kind, self.mutable = name, kind, mutable
        self.look_up = look_up

    def to_library(self, x: Any) -> Any:
        """An array as the other library has it, sharing memory."""
        return np.asarray(x)

    def from_library(self, array: Any) -> Any:
        """An array of the other library as one of this, sharing memory where that is possible."""
        return array

    def device_of(self, values: Any) -> str:
        """Where values are."""
        array = self.to_library(values)
        return self.look_up(array).device_of(array)

    def __getattr__(self, verb: str) -> Any:
        if verb[:1] == "_" or not hasattr(Backend, verb):
            raise AttributeError(f"{type(self).__name__} has no {verb}")
        return partial(self._run, verb)

    def as_rows(self, x: Any, argument: str = "values") -> Any:
        """Rows, which lie end to end; `x` itself where they do."""
        array = self.to_library(x)
        rows = self.look_up(array).as_rows(array, argument)
        return x if rows is array else self.from_library(rows)

    def as_array(self, x: Any, argument: str) -> Any:
        """An array: itself."""
        return x

    def to_state(self, values: Any) -> np.ndarray:
        """What a pickle holds of values: an array of NumPy."""
        array: np.ndarray = self.readable(values)
        return array

    def apply_rows(self, values: Any, call: Callable[[Any], tuple[Any, Any]]) -> tuple[Any, Any]:
        """The result of `call` on rows that it only moves; the rows come first in it."""
        array = self.to_library(values)
        rows, rest = self.look_up(array).apply_rows(array, call)
        return self.from_library(rows), rest

    def in_parts(self, values: Any, add: Callable[[Any], Any]) -> Any:
        """The result of `add`, which adds rows up; complex numbers are passed as two columns."""
        array = self.to_library(values)
        backend = self.look_up(array)
        return self.from_library(
            backend.in_parts(array, lambda rows: self._seen_in(add(self.from_library(rows)), {}))
        )

    def like(self, array: Any, values: Any) -> Any:
        """An array of the host beside values: a copy, which nobody else writes."""
        if isinstance(array, self.kind):
            return array
        model = self.to_library(values)
        return self.from_library(self.look_up(model).like(np.array(array), model))

    from_memory = like

    def _run(self, verb: str, /, *args: Any, **kwargs: Any) -> Any:
        if not self.mutable:
            self._refuse_writing(verb, args, kwargs)
        origins: dict[int, Any] = {}
        arrays = [self._seen_in(x, origins) for x in args]
        options = {key: self._seen_in(x, origins) for key, x in kwargs.items()}
        if verb in _WRITES and not self.mutable:
            arrays[0] = arrays[0].copy()
        first = next((array for array, _ in origins.values()), None)
        result = getattr(self.look_up(first), verb)(*arrays, **options)
        if verb in _ON_HOST:
            return result
        if verb in _FIRST:
            return (self._given_in(result[0], origins), *result[1:])
        return self._given_in(result, origins)

    def _seen_in(self, x: Any, origins: dict[int, Any]) -> Any:
        """Arrays, and those in lists and dicts, as they are seen; `origins` says what they were."""
        if isinstance(x, self.kind):
            array = self.to_library(x)
            origins[id(array)] = array, x
            return array
        if type(x) is list or type(x) is tuple:
            return type(x)(self._seen_in(item, origins) for item in x)
        return {key: self._seen_in(item, origins) for key, item in x.items()} if type(x) is dict else x

    def _given_in(self, x: Any, origins: dict[int, Any]) -> Any:
        if id(x) in origins:
            return origins[id(x)][1]
        if type(x) is list or type(x) is tuple:
            return type(x)(self._given_in(item, origins) for item in x)
        is_array = hasattr(x, "shape") and not isinstance(x, np.generic)
        return self.from_library(x) if is_array else x

    def _refuse_writing(self, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        arguments = dict(zip(_parameters(verb), args, strict=False)) | kwargs
        if isinstance(arguments.get("kwargs"), dict):
            arguments |= arguments["kwargs"]
        if arguments.get("out") is not None or arguments.get("inplace"):
            name = "out" if arguments.get("out") is not None else "inplace"
            raise type_error(
                name, f"arrays of {self.name} cannot be written", "leave it out and use the result"
            )
        if verb == "scatter_add":
            raise type_error("table", f"arrays of {self.name} cannot be written", "use backprop_gather_add")


@cache
def _parameters(verb: str) -> list[str]:
    """The names of the arguments of a verb."""
    return list(inspect.signature(getattr(Backend, verb)).parameters)[1:]


def cupy_for(what: str) -> Any:
    """CuPy, which computes with an array of a device: errors call that `what`."""
    try:
        import cupy
    except ImportError:
        raise type_error("", f"{what} needs CuPy, which is not installed: pip install cupy-cuda13x") from None
    return cupy
