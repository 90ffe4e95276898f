"""Methods that a public class inherits from private ones: errors and help name the public class."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeVar

ClassT = TypeVar("ClassT", bound=type)

_ADOPTERS: set[type] = set()


def adopt_methods(kind: ClassT) -> ClassT:
    """A class decorator: a copy of each method that the class inherits is its own, under its own name.

    Python takes the name in "Ragged.sum() got an unexpected keyword argument" from the function. A call costs
    what it did. Methods of the core, and of a base that has adopted its own, stay there.
    """
    prefix = f"{kind.__qualname__}."
    for name in dict.fromkeys(name for base in kind.__mro__ for name in vars(base)):
        home = next(base for base in kind.__mro__ if name in vars(base))
        if (
            home in _ADOPTERS
            or home.__module__ == "varlen._core"
            or not home.__module__.startswith("varlen.")
        ):
            continue
        value: Any = vars(home)[name]
        is_wrapped = isinstance(value, (classmethod, staticmethod))
        function = value.__func__ if is_wrapped else value
        if not isinstance(function, FunctionType) or function.__qualname__.startswith(prefix):
            continue
        own = _copy(function, kind, name)
        setattr(kind, name, type(value)(own) if is_wrapped else own)
    _ADOPTERS.add(kind)
    return kind


def _copy(function: FunctionType, kind: type, name: str) -> FunctionType:
    """A function as a method of a class."""
    f = function
    copy = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    vars(copy).update(vars(f))
    copy.__kwdefaults__, copy.__annotations__, copy.__doc__ = f.__kwdefaults__, f.__annotations__, f.__doc__
    copy.__module__, copy.__qualname__ = kind.__module__, f"{kind.__qualname__}.{name}"
    return copy
