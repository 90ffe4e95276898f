"""Lists of arrays to one array, and one to lists of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level


def list2ragged(arrays: Any, dtype: Any = None, out: Any = None) -> tuple[Any, tuple[Level, ...]]:
    """Arrays end to end, and their level."""
    values, level = _core.list2ragged(arrays, dtype, out)
    return values, (level,)


def flatten(X: Any, dtype: Any = None, pad: int = 0) -> np.ndarray:
    """Arrays end to end on their first axis, with rows of zeros between them where a pad is given."""
    return _core.flatten(X, dtype, pad)


def split(values: np.ndarray, level: Level) -> list[np.ndarray]:
    """The rows of each sequence, sharing memory."""
    return _core.ragged2list(values, level)
