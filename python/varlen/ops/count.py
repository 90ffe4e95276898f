"""Neighbours compared, numbers counted and looked up, sequence by sequence."""

from __future__ import annotations

from typing import Any

from varlen.arguments import as_int
from varlen.backends.values import as_values
from varlen.ops.inputs import rows_and_level
from varlen.types import Ragged
from varlen.types.counting import counted, differences


def diff(X: Any, lengths: Any = None, *, n: int = 1) -> Ragged:
    """Each row less the one before it in its sequence, n times over; a sequence loses n rows, or all.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of numbers, bools or dates; or a `Ragged`, whose innermost sequences
        are taken.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    n
        How often, 0 or more.

    Returns
    -------
    Ragged
        As many levels as X has; the dtype is that of a difference. Watched by autograd.

    Raises
    ------
    TypeError
        `lengths` beside a Ragged, or none beside an array.
    ValueError
        n is below 0; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.diff([3, 1, 4, 1, 5], [3, 0, 2]).to_list()
    [[-2, 3], [], [4]]
    """
    values, level = rows_and_level(X, lengths)
    result, kept = differences(values, level, as_int(n, "n"))
    return Ragged._make(result, (*(X.levels[:-1] if isinstance(X, Ragged) else ()), kept))


def bincount(X: Any, lengths: Any = None, *, minlength: int = 0, weights: Any = None) -> Any:
    """How often each number from 0 on is in each sequence, or the sum of its weights.

    Parameters
    ----------
    X
        (T,) integers from 0 on, an array or a tensor; or a `Ragged`, whose innermost sequences are taken.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    minlength
        At least so many numbers are counted; else as many as the largest needs.
    weights
        (T,), one for each row.

    Returns
    -------
    (n, k): int64, or with weights float64; of tensors, the dtype of the weights.

    Raises
    ------
    TypeError
        X is no integers; `lengths` beside a Ragged, or none beside an array.
    ValueError
        A number below 0, which is named; weights of another shape; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.bincount([1, 1, 2, 0], [3, 1])
    array([[0, 2, 1],
           [1, 0, 0]])
    """
    values, level = rows_and_level(X, lengths)
    given = weights.values if isinstance(weights, Ragged) else weights
    return counted(values, level, minlength, None if given is None else as_values(given, "weights"))


def searchsorted(X: Any, queries: Any, lengths: Any = None, *, side: str = "left") -> Any:
    """Where numbers go in the sequence of their number, which ascends, so that it still does.

    Parameters
    ----------
    X
        (T,) numbers that ascend in each sequence, NaN last; an array or a tensor, or a `Ragged`.
    queries
        A `Ragged` with as many sequences, or an array (n, ...), a row for each.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    side
        "left" before equal numbers, "right" behind them.

    Returns
    -------
    As `queries`: places inside the sequences, int64.

    Raises
    ------
    TypeError
        `lengths` beside a Ragged, or none beside an array.
    ValueError
        Another side; queries for another number of sequences; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.searchsorted([1, 3, 5, 2], [4, 3], [3, 1])
    array([2, 1])
    """
    if isinstance(X, Ragged) and lengths is None:
        return X.searchsorted(queries, side)
    values, level = rows_and_level(X, lengths)
    return Ragged._make(values, (level,)).searchsorted(queries, side)
