"""Neighbours of arrays compared, and numbers counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.numpy.order import refuse
from varlen.errors import dtype_error

if TYPE_CHECKING:
    from varlen._core import Level

FROM_THE_SECOND = slice(1, None)
TO_THE_LAST_BUT_ONE = slice(None, -1)


def diff(values: Any, level: Level, n: int = 1) -> tuple[Any, Level]:
    """Each row less the one before it in its sequence, n times over, and their level."""
    if values.dtype.kind in "US":
        refuse("diff", values)
    for _ in range(min(n, max(level.longest, 1))):  # once at least, for the dtype
        subtract: Any = np.not_equal if values.dtype == np.bool_ else np.subtract
        result = np.empty(values.shape, subtract(values[:0], values[:0]).dtype)
        with np.errstate(all="ignore"):  # across borders too, which are then left out
            subtract(values[1:], values[:-1], out=result[:-1])
        values, (level,) = _core.gather_window(result, (level,), TO_THE_LAST_BUT_ONE)
    return values, level


def counts_there(ids: Any, level: Level, minlength: int, weights: Any) -> Any:
    """What kernels of a device count; None: the host looks at the numbers."""
    return None


def bincount(cells: Any, weights: Any, size: int) -> Any:
    """The sum of the weights of each of `size` cells: float64."""
    if weights.dtype.kind not in "biuf":
        raise dtype_error("weights", "numbers", weights.dtype)
    return np.bincount(cells, weights, minlength=size)[:size]
