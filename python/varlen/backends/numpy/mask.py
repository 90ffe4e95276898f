"""Masks as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen._core import Level


def block_mask(
    level: Level,
    dtype: Any,
    before: int | None,
    behind: int | None,
    out: Any,
    max_bytes: int | None,
    beside: Any = None,
) -> NDArray[Any]:
    """Which rows may look at which, (total, total).

    Examples
    --------
    >>> block_mask(vl.Level([1, 1]), np.float32, None, None, None, None)
    array([[  0., -inf],
           [-inf,   0.]], dtype=float32)
    """
    kind = as_dtype(dtype, "dtype")
    if kind.kind not in "biuf":
        raise TypeError(f"dtype: expected bool, integers or floats, got {kind}")
    pair = np.array([-np.inf, 0] if kind.kind == "f" else [0, 1], kind)
    return _core.block_mask(level, pair, before, behind, out, max_bytes)
