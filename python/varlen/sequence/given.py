"""What the ops on sequences are given, and whole sequences picked out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.types.levels import Levels
    from varlen.types.values import Values


def sequences(x: Any, argument: str = "x") -> Ragged:
    """The Ragged that an argument has to be.

    Raises
    ------
    TypeError
        It is something else.

    Examples
    --------
    >>> sequences([1, 2], "x")
    Traceback (most recent call last):
    TypeError: x: expected a Ragged, got list
    """
    if not isinstance(x, Ragged):
        raise TypeError(f"{argument}: expected a Ragged, got {type(x).__name__}")
    return x


def picked(x: Ragged, at: int, index: Any) -> tuple[Values, Levels]:
    """Sequences of level `at`, in any order and as often as wanted: their rows, and the levels from `at` on.

    Watched by autograd where the values are.

    Examples
    --------
    >>> picked(vl.Ragged.from_list([[[1, 2], [3]], [[4]]]), 1, np.array([2, 0]))
    (array([4, 1, 2]), (Level(2 sequences, 3 rows, lengths 1 to 2),))
    """
    found = x._make(x.values, x.levels[at:])[index]
    return found.values, found.levels
