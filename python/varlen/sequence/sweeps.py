"""The states of a cell between steps of different sizes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from varlen.backends import backend_of
from varlen.backends.values import is_array
from varlen.errors import type_error, value_error
from varlen.sequence.outputs import join_parts
from varlen.types import RankTable


class Sweep:
    """The order in which steps are run, and how states, arrays or tuples of them, change between steps."""

    def __init__(self, table: RankTable, states: Any) -> None:
        self.states = states
        self.count = len(table)
        self.sizes = self.reorder(table.size_at_t.tolist())

    def reorder(self, steps: object) -> Any:
        """A list with an item for each step, in the order of the sweep. Its own inverse."""
        return steps

    def start(self) -> tuple[Any, int]:
        """The states before the first step, and how many sequences run."""
        return self.states, self.count

    def resize(self, state: object, n_active: int, size: int) -> Any:
        """The states of a step of another size than the one before."""
        raise NotImplementedError

    def last(self, state: object, n_active: int) -> Any:
        """The states of all sequences after their last steps, by rank."""
        return state

    def steps(self, size: int) -> list[int]:
        """The steps that made the states joined at a step of this size; -1 for no step."""
        raise NotImplementedError


class ForwardSweep(Sweep):
    """From the first step to the last: the states of sequences that have ended are set aside."""

    def __init__(self, table: RankTable, states: Any) -> None:
        super().__init__(table, states)
        self.final_states: list[Any] = []

    def resize(self, state: Any, n_active: int, size: int) -> Any:
        if type(state) is tuple:
            self.final_states.append(cut(state, size, n_active))
            return cut(state, 0, size)
        self.final_states.append(state[size:])
        return state[:size]

    def last(self, state: object, n_active: int) -> Any:
        return _concat_states([state, *reversed(self.final_states)], self, n_active)

    def steps(self, size: int) -> list[int]:
        sizes = [self.count, *self.sizes]
        ends = [t - 1 for t in range(len(self.sizes)) if sizes[t] != sizes[t + 1]]
        return [len(self.sizes) - 1, *reversed(ends)]


class BackwardSweep(Sweep):
    """From the last step to the first: sequences join with the state that they have."""

    def reorder(self, steps: Any) -> Any:
        return steps[::-1]

    def start(self) -> tuple[Any, int]:
        return cut(self.states, 0, 0), 0

    def resize(self, state: object, n_active: int, size: int) -> Any:
        joining = cut(self.states, n_active, size)
        if not n_active:
            return joining
        return _concat_states([state, joining], self, size)

    def last(self, state: object, n_active: int) -> Any:
        return self.resize(state, n_active, self.count)

    def steps(self, size: int) -> list[int]:
        return [sum(one >= size for one in self.sizes)]


class SingleStep(Sweep):
    """A single step without rows, which shows the dtype and shape of outputs where there are no steps."""

    def __init__(self, states: Any) -> None:
        self.states, self.count, self.sizes = states, 0, [0]


def cut(state: Any, begin: int, end: int) -> Any:
    """Some of the rows of each state, shared."""
    return tuple([one[begin:end] for one in state]) if type(state) is tuple else state[begin:end]


def _concat_states(parts: list[Any], sweep: Sweep, size: int) -> Any:
    """States one after another."""
    if len(parts) == 1:
        return parts[0]
    try:
        if type(parts[0]) is tuple:
            return tuple([join_parts(item) for item in zip(*parts, strict=True)])
        return join_parts(parts)
    except (TypeError, ValueError, RuntimeError):
        _refuse_mixed(parts, sweep.steps(size))
        raise


def _refuse_mixed(parts: list[Any], steps: list[int]) -> None:
    """Refuse states of different kinds, or with rows of different shapes."""
    for (now, past), t in zip(pairwise(parts), steps, strict=False):
        for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (now, past)), strict=True):
            rows = is_array(a) and is_array(b)
            if not rows or backend_of(a) is not backend_of(b):
                kinds = f"{type(a).__name__} at step {t}, {type(b).__name__} before"
                raise type_error("cell", f"the state is of type {kinds}")
            if a.shape[1:] != b.shape[1:]:
                shapes = f"{tuple(a.shape[1:])} at step {t}, {tuple(b.shape[1:])} before"
                raise value_error("cell", f"the state has rows of shape {shapes}")
