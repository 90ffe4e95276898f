"""Containers as results of ops on plain arrays.

Ops stand below the containers and know none of them by name. Each container says here, when it is defined,
what is made of values and levels (or of its own fields) where a caller brought no container to follow. One
that is not loaded yet is asked of the package's page, which finds all names when they are first asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from varlen import tracing
from varlen._core import RaggedBase

if TYPE_CHECKING:
    from varlen.backends.values import SequencesLike
    from varlen.levels import Levels
    from varlen.types import Ragged

T = TypeVar("T", bound=type)

_CLASSES: dict[str, Any] = {}


def container(name: str) -> Callable[[T], T]:
    """A decorator for the class of containers that ops give under a name."""

    def register(cls: T) -> T:
        _CLASSES[name] = cls
        return cls

    return register


def _class(name: str) -> Any:
    if tracing.is_tracing():  # a class that is loaded meanwhile would change the table that a graph relies on
        return getattr(sys.modules["varlen"], name)
    return _CLASSES.get(name) or getattr(sys.modules["varlen"], name)


def new_ragged(values: SequencesLike, levels: Levels) -> Ragged[Any]:
    """A Ragged of parts that are known to fit."""
    ragged: Ragged[Any] = ragged_like(None, values, levels)
    return ragged


def ragged_like(X: object, values: SequencesLike, levels: Levels) -> Any:
    """A container of parts that are known to fit: of the class of X where that is one, else a Ragged."""
    kind = type(X) if isinstance(X, RaggedBase) else _class("Ragged")
    return tracing.make(kind, values, levels) if tracing.is_tracing() else kind._make(values, levels)


def make_container(kind: Any, values: SequencesLike, levels: Levels) -> Any:
    """A container of a class, of parts that are known to fit."""
    return tracing.make(kind, values, levels) if tracing.is_tracing() else kind._make(values, levels)


def packed_class() -> Any:
    """The class Packed."""
    return _class("Packed")


def padded_class(ragged: object = None) -> Any:
    """The class Padded; a dialect's own, where the class of a Ragged is of a dialect that has one."""
    return getattr(ragged, "_padded", None) or _class("Padded")
