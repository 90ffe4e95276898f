"""Outputs of steps, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.types import Packed, Ragged, RankTable, concatenate
from varlen.types.values import is_tensor

if TYPE_CHECKING:
    from varlen.types.values import Values


def packed_of(parts: Sequence[Any], table: RankTable) -> Packed:
    """Steps of the right sizes as a Packed.

    Examples
    --------
    >>> packed_of([np.array([1, 2]), np.array([3])], vl.RankTable([2, 1])).values
    array([1, 2, 3])
    """
    if len(parts) and isinstance(parts[0], Ragged):
        whole = concatenate(parts)
        return Packed._make(whole.values, table, whole.levels)
    return Packed._make(joined(parts), table)


def joined(parts: Sequence[Any]) -> Values:
    """Arrays or tensors one after another, dtypes promoted; float32 where there are none.

    Examples
    --------
    >>> joined([np.array([1, 2]), np.array([3.5])])
    array([1. , 2. , 3.5])
    """
    if not len(parts):
        return np.zeros(0, np.float32)
    if is_tensor(parts[0]):
        from varlen.interop.torch import concat

        return concat(list(parts))
    try:
        return _core.concat(parts)
    except ValueError:
        return np.concatenate(parts)  # promotes, or says what does not fit
