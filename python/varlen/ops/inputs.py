"""Rows and the level that cuts them, from what a caller of an op gave."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints, as_values
from varlen.types import Ragged


def rows_and_level(X: Any, lengths: Any, argument: str = "X") -> tuple[Any, Level]:
    """The rows of an array with lengths or a level, or of a Ragged with its innermost level.

    Raises
    ------
    TypeError
        A Ragged and lengths, or an array without.
    ValueError
        Lengths that are negative, or do not add up to the rows.

    Examples
    --------
    >>> rows_and_level([3, 1, 4], [2, 1])
    (array([3, 1, 4]), Level(2 sequences, 3 rows, lengths 1 to 2))
    """
    if isinstance(X, Ragged):
        if lengths is not None:
            raise TypeError(f"lengths: {argument} is a Ragged, which has its own")
        values, level = X.values, X.levels[-1]
    else:
        if lengths is None:
            raise TypeError(f"lengths: needed, because {argument} is no Ragged")
        values, level = as_values(X, argument), as_level(lengths)
        if level.total != len(values):
            raise ValueError(f"lengths: add up to {level.total}, but {argument} has {len(values)} rows")
    return values, level


def rows_and_sequences(X: Any, lengths: Any, argument: str = "X") -> tuple[Any, Level]:
    """As `rows_and_level`, but an array without lengths is one sequence.

    Examples
    --------
    >>> rows_and_sequences([3, 1, 4], None)
    (array([3, 1, 4]), Level(1 sequences, 3 rows, lengths 3 to 3))
    """
    if lengths is not None or isinstance(X, Ragged):
        return rows_and_level(X, lengths, argument)
    values = as_values(X, argument)
    return values, Level.from_lengths(np.array([len(values)]))


def as_level(lengths: Any) -> Level:
    """A level from lengths, or the one that was given.

    Examples
    --------
    >>> as_level([2, 1])
    Level(2 sequences, 3 rows, lengths 1 to 2)
    """
    return lengths if type(lengths) is Level else Level.from_lengths(as_ints(lengths))


def same_kind(X: Any, rows: Any) -> Any:
    """Rows that stand for those of X: with the levels of X where that is a Ragged.

    Examples
    --------
    >>> same_kind(vl.Ragged([3, 1, 4], [2, 1]), np.array([3, 4, 4])).to_list()
    [[3, 4], [4]]
    """
    return X._make(rows, X.levels) if isinstance(X, Ragged) else rows
