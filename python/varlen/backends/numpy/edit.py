"""Edit distances of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level


def edit_distance(
    a: Any, a_level: Level, b: Any, b_level: Level, normalize: bool, counts: bool
) -> tuple[np.ndarray, np.ndarray | None]:
    """Distances, or shares of the lengths of b, and how many edits of each kind there are, where asked."""
    a, b = (x if x.dtype.kind != "b" else x.astype(np.uint8) for x in (a, b))
    if a.dtype.kind in "SU" or b.dtype.kind in "SU":
        a, b = _number_words(a, b)
    kinds = None
    if counts:
        distances, kinds = _core.edit_distance(a, a_level, b, b_level, True)
    else:
        distances = _core.edit_distance(a, a_level, b, b_level)
    if normalize:
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = distances / b_level.lengths
        shares[distances == 0] = 0
        return shares, kinds
    return distances, kinds


def _number_words(a: Any, b: Any) -> tuple[Any, Any]:
    """Words as the numbers of the distinct ones."""
    for name, x, other in (("a", a, b), ("b", b, a)):
        if x.dtype.kind != other.dtype.kind and x.size:
            if not other.size:
                continue
            raise type_error(name, f"expected {other.dtype} as the other side, got {x.dtype}")
        if x.ndim != 1:
            raise value_error(name, f"expected one dimension, got {x.ndim}")
    if not (a.size and b.size):
        return np.zeros(a.shape, np.int64), np.zeros(b.shape, np.int64)
    ids = np.unique(np.concatenate([a, b]), return_inverse=True)[1].reshape(-1)
    return ids[: len(a)], ids[len(a) :]
