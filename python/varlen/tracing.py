"""Levels and containers while a function is traced to a graph: offsets are tensors, inputs of the graph.

This module does not know torch. torch's backend, which the first tensor loads, detects tracing and makes
tensors of lengths. A Level from outside stays the same object, and its offsets are an input. A level made
inside is a TracedLevel, and leaves the graph as a Level.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from varlen._core import Level, RaggedBase

F = TypeVar("F", bound=Callable[..., Any])


def _never(value: object) -> bool:
    return False


is_tracing: Callable[[], bool] = bool
is_traced: Callable[[Any], bool] = _never  # the same, given numbers that may be an input of a graph
tensors: Any = None  # the module of torch's backend that has what is made of tensors in a graph


def _on_host(x: Any) -> Any:
    return x.detach().cpu().numpy()


numbers_of: Callable[[Any], Any] = _on_host  # the numbers of a tensor, outside of transforms and modes


class _Fields(NamedTuple):
    offsets: Any
    rows: Any


class TracedLevel(_Fields):
    """A level inside a graph: its offsets are a tensor, checked when an op of the graph reads them."""

    __slots__ = ()

    @classmethod
    def _make(cls, fields: Any) -> Level:  # type: ignore[override]
        # torch makes a named tuple by this where one leaves a graph, and does not trace it.
        return Level.from_offsets(fields[0].detach().cpu().numpy())

    @property
    def is_on_host(self) -> bool:
        """Whether nothing waits for the numbers: they are a tensor of the graph."""
        return True

    @property
    def lengths(self) -> Any:
        """The number of rows of each sequence: int64 (n,)."""
        return self.offsets.diff()

    @property
    def total(self) -> Any:
        """Rows in all sequences together."""
        return self.offsets[-1].item() if self.rows is None else self.rows

    @property
    def longest(self) -> Any:
        """The longest sequence."""
        return tensors.longest(self.offsets).item()

    @property
    def row_ids(self) -> Any:
        """The sequence that each row is in: int64 (total,)."""
        return tensors.row_ids(self)

    @property
    def positions(self) -> Any:
        """The place of each row in its sequence: int64 (total,)."""
        return tensors.positions(self)


def count_of(level: Any) -> Any:
    """The number of sequences of a level, which a graph does not fix."""
    if not is_tracing():
        return len(level)
    return offsets_of(level).shape[0] - 1


def eager_only(what: str = "") -> Callable[[F], F]:
    """A decorator for functions that no graph can hold: a tracer says so by name, and does not enter them.

    Outside of graphs nothing changes. `what` names the function in the error if its own name says too little.
    """

    def mark(function: F) -> F:
        function._torchdynamo_disable = True  # type: ignore[attr-defined]  # as torch.compiler.disable marks it
        function._torchdynamo_disable_msg = (  # type: ignore[attr-defined]
            f"{what or function.__name__} of varlen runs only outside of graphs; "
            "call it before or behind the compiled function"
        )
        return function

    return mark


def holds_surely(condition: object) -> bool:
    """Whether a condition on sizes surely holds: a graph may not know its sizes."""
    return bool(tensors.holds_surely(condition) if is_tracing() else condition)


def name_of(function: object) -> str:
    """The name of a function."""
    name: str = tensors.name_of(function) if is_tracing() else getattr(function, "__name__", str(function))
    return name


def as_traced(level: Any) -> TracedLevel:
    """A level from outside as a level of the graph."""
    return TracedLevel(offsets_of(level), level.total) if type(level) is Level else level


def offsets_of(level: object) -> Any:
    """The offsets of a level as a tensor of the graph; tensors stay as they are."""
    if type(level) is TracedLevel:
        return level.offsets
    return tensors.offsets_tensor(level) if type(level) is Level else level


def levels_of(value: Any, name: str, count: object) -> tuple[Any, ...]:
    """A level for each given array of lengths (or offsets), outermost first, over `count` rows."""
    several = isinstance(value, (list, tuple)) and any(hasattr(x, "__len__") for x in value)
    items = list(value) if several and type(value) is not TracedLevel else [value]
    levels: list[Any] = []
    for lengths in reversed(items):
        levels.insert(0, level_of(lengths, name, count))
        count = count_of(levels[0])
    return tuple(levels)


_SAID = "the lengths add up to {}, but there are {} values"


def level_of(value: object, name: str = "lengths", count: object = None, message: str = _SAID) -> Any:
    """The given level, or the level of a tensor of lengths (or offsets), over `count` rows.

    Input from outside is checked only here, when the graph runs, whether its numbers are used or not. `count`
    is None if only they give the number of rows; `message` is the text of an error about both.
    """
    if type(value) is Level or type(value) is TracedLevel:
        if count is not None:
            tensors.checked_offsets(offsets_of(value), "levels", count, message)
        return value
    return TracedLevel(tensors.checked_offsets(value, name, count, message), count)


def equal_lengths(count: Any, length: Any) -> TracedLevel:
    """The level of `count` sequences of equal length."""
    return TracedLevel(tensors.arange(count + 1) * length, count * length)


def flatten_levels(levels: tuple[Any, ...]) -> Any:
    """One level that cuts the rows as the first of `levels` does through all that nest below it."""
    if len(levels) == 1:
        return levels[0]
    offsets = offsets_of(levels[-1])
    rows = levels[-1].total
    for level in reversed(levels[:-1]):
        offsets = offsets[offsets_of(level)]
    return TracedLevel(offsets, rows)


def same_levels(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    """Whether two containers have the same number of levels; the running graph refuses other differences."""
    for d, (x, y) in enumerate(zip(a, b, strict=False)):
        if x is not y:
            tensors.refuse_difference(offsets_of(x), offsets_of(y), d)
    return len(a) == len(b)


def make(kind: type[RaggedBase[Any]], values: object, levels: tuple[Any, ...]) -> RaggedBase[Any]:
    """`kind._make(values, levels)` in steps that a tracer follows."""
    result = object.__new__(kind)
    result._values = values
    result._levels = levels
    return result
