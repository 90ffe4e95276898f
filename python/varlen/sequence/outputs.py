"""Outputs of steps, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import refuse_mask
from varlen.backends import backend_of
from varlen.backends.values import is_array
from varlen.errors import type_error, value_error
from varlen.ops.combine import concatenate
from varlen.types import Packed, Ragged, RankTable

if TYPE_CHECKING:
    from varlen.backends.values import Values


def packed_of(parts: Sequence[Any], table: RankTable, kind: type[Ragged[Any]] = Ragged) -> Packed[Any]:
    """Steps of the right sizes as a Packed, which becomes a Ragged of that kind."""
    if len(parts) and isinstance(parts[0], Ragged):
        steps = concatenate(parts)
        return Packed._make(steps.values, table, steps.levels, kind)
    return Packed._make(join_parts(parts), table, (), kind)


def check_steps(parts: Sequence[Any], argument: str) -> None:
    """Refuse steps that are not arrays, of several kinds, or with rows of several shapes."""
    for t, part in enumerate(parts):
        nests = isinstance(part, Ragged)
        rows = part.values if nests else part
        backend, kind = backend_of(rows), type(part).__name__
        if not is_array(rows) or rows.ndim == 0:
            raise type_error(argument, f"step {t} is of type {kind}, expected an array of rows", row=t)
        if isinstance(rows, np.ndarray):
            refuse_mask(rows, f"{argument}: step {t}")
            if rows.dtype.hasobject:
                raise type_error(argument, f"step {t} holds Python objects, which cannot be moved as bytes")
        levels = len(part.levels) if nests else 0
        traits = nests, backend, levels, tuple(rows.shape[1:])
        if t == 0:
            first_traits, first_kind, first_rows = traits, kind, type(rows).__name__
        if traits[0] != first_traits[0] or (traits[1] != first_traits[1] and not nests):
            raise type_error(argument, f"step {t} is of type {kind}, step 0 of type {first_kind}", row=t)
        if traits[1] != first_traits[1]:
            raise type_error(
                argument, f"step {t} holds values of type {type(rows).__name__}, step 0 of {first_rows}"
            )
        if levels != first_traits[2]:
            raise value_error(argument, f"step {t} has {levels} levels, step 0 has {first_traits[2]}")
        if traits[3] != first_traits[3]:
            raise value_error(
                argument, f"step {t} has rows of shape {traits[3]}, step 0 has {first_traits[3]}"
            )


def join_parts(parts: Sequence[Any]) -> Values:
    """Arrays or tensors one after another, dtypes promoted; float32 where there are none."""
    if not len(parts):
        return np.zeros(0, np.float32)
    result: Values = backend_of(parts[0]).concat(list(parts))
    return result
