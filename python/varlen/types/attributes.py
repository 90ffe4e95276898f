"""Attributes that a user's subclass of a container adds: copies and pickles keep them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeVar

from varlen._restored import by_torch, saved

T = TypeVar("T")


def attributes_of(x: object, base: type) -> dict[str, Any]:
    """The attributes of an object beside those of `base`: in its `__dict__`, and in slots of subclasses."""
    result = dict(getattr(x, "__dict__", ()))
    for kind in type(x).__mro__:
        if kind is base:
            break
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            private = name.startswith("__") and not name.endswith("__")
            full = f"_{kind.__name__.lstrip('_')}{name}" if private else name
            if full not in ("__dict__", "__weakref__") and hasattr(x, full):
                result[full] = getattr(x, full)
    return result


def with_attributes(result: T, x: object, base: type) -> T:
    """A copy of a container, with the attributes of the original; they are shared."""
    if type(x) is not base:
        for name, value in attributes_of(x, base).items():
            setattr(result, name, value)
    return result


def with_copied_attributes(result: T, x: object, base: type, memo: dict[int, object]) -> T:
    """The same with copies of the attributes, which may refer to the container itself."""
    memo[id(x)] = result
    if type(x) is not base:
        for name, value in attributes_of(x, base).items():
            setattr(result, name, copy.deepcopy(value, memo))
    return result


def reduce_container(
    restore: Callable[..., Any], parts: tuple[Any, ...], x: object, base: type, protocol: object = 4
) -> tuple[Any, ...]:
    """The result of `__reduce_ex__`: the call that makes the container, and its attributes, if it has any."""
    how = saved(type(x), *parts) if by_torch(protocol) else (restore, (type(x), *parts))
    own = attributes_of(x, base) if type(x) is not base else {}
    return (*how, (None, own)) if own else how  # set one by one, in `__dict__` or in slots
