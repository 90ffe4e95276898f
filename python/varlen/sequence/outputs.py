"""Outputs of steps, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import unmasked
from varlen.backends import backend_of
from varlen.backends.values import is_array
from varlen.ops.combine import concatenate
from varlen.types import Packed, Ragged, RankTable

if TYPE_CHECKING:
    from varlen.backends.values import Values


def packed_of(parts: Sequence[Any], table: RankTable, kind: type[Ragged] = Ragged) -> Packed:
    """Steps of the right sizes as a Packed, which becomes a Ragged of that kind.

    Examples
    --------
    >>> packed_of([np.array([1, 2]), np.array([3])], vl.RankTable([2, 1])).values
    array([1, 2, 3])
    """
    if len(parts) and isinstance(parts[0], Ragged):
        whole = concatenate(parts)
        return Packed._make(whole.values, table, whole.levels, kind)
    return Packed._make(joined(parts), table, (), kind)


def check_steps(parts: Sequence[Any], argument: str) -> None:
    """Refuse steps that are no arrays, of several kinds, or with rows of several shapes.

    Raises
    ------
    TypeError, ValueError
        Naming the step, and the first where they part.

    Examples
    --------
    >>> check_steps([np.zeros((2, 3)), np.zeros((1, 4))], "steps")
    Traceback (most recent call last):
    ValueError: steps: step 1 has rows of shape (4,), step 0 has (3,)
    """
    for t, part in enumerate(parts):
        nests = isinstance(part, Ragged)
        rows = part.values if nests else part
        backend, kind = backend_of(rows), type(part).__name__
        if not is_array(rows) or rows.ndim == 0:
            raise TypeError(f"{argument}: step {t} is of type {kind}, expected an array of rows")
        if isinstance(rows, np.ndarray):
            unmasked(rows, f"{argument}: step {t}")
            if rows.dtype.hasobject:
                raise TypeError(f"{argument}: step {t} holds Python objects, which cannot be moved as bytes")
        levels = len(part.levels) if nests else 0
        found = nests, backend, levels, tuple(rows.shape[1:])
        if t == 0:
            first, of_first, rows_of_first = found, kind, type(rows).__name__
        if found[0] != first[0] or (found[1] != first[1] and not nests):
            raise TypeError(f"{argument}: step {t} is of type {kind}, step 0 of type {of_first}")
        if found[1] != first[1]:
            raise TypeError(
                f"{argument}: step {t} holds values of type {type(rows).__name__}, step 0 of {rows_of_first}"
            )
        if levels != first[2]:
            raise ValueError(f"{argument}: step {t} has {levels} levels, step 0 has {first[2]}")
        if found[3] != first[3]:
            raise ValueError(f"{argument}: step {t} has rows of shape {found[3]}, step 0 has {first[3]}")


def joined(parts: Sequence[Any]) -> Values:
    """Arrays or tensors one after another, dtypes promoted; float32 where there are none.

    Examples
    --------
    >>> joined([np.array([1, 2]), np.array([3.5])])
    array([1. , 2. , 3.5])
    """
    if not len(parts):
        return np.zeros(0, np.float32)
    result: Values = backend_of(parts[0]).concat(list(parts))
    return result
