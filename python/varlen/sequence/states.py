"""States of cells and hypotheses: an array, a tensor or a Ragged, or a tuple of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from varlen.errors import type_error


def each_state(
    change: Callable[[Any, str], Any], state: object, argument: str = "state", nested: bool = False
) -> Any:
    """`change(state, name)` of a state, or of each in a tuple; errors use the name.

    `nested`: also of each in tuples inside the tuple, as layers that are stacked have them.
    """
    if not isinstance(state, tuple):
        if _holds_arrays(state):
            raise type_error(argument, "expected a tuple of states, got a list of arrays")
        return change(state, argument)
    if nested:
        return tuple([each_state(change, one, f"{argument}[{i}]", True) for i, one in enumerate(state)])
    for i, one in enumerate(state):
        if _holds_arrays(one):
            raise type_error(f"{argument}[{i}]", f"a {type(one).__name__} of arrays, expected one state")
    return tuple([change(one, f"{argument}[{i}]") for i, one in enumerate(state)])


def as_many(value: object, states: object, argument: str) -> None:
    """Refuse a tuple where there is one state, the reverse, and a tuple of another number of states."""
    n_values, n_states = (len(x) if isinstance(x, tuple) else None for x in (value, states))
    if n_values != n_states:
        text = type(value).__name__ if n_values is None else f"a tuple of {n_values}"
        expected = "one state" if n_states is None else f"a tuple of {n_states} states"
        raise type_error(argument, f"expected {expected}, got {text}")


def _holds_arrays(state: object) -> bool:
    return isinstance(state, (list, tuple)) and any(getattr(item, "ndim", 0) for item in state)
