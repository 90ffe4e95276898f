"""Lists of arrays to one array, and one to lists of arrays."""

from __future__ import annotations

from typing import Any

from varlen import _core
from varlen._core import Level


def list2ragged(arrays: Any, dtype: Any = None, out: Any = None) -> tuple[Any, tuple[Level, ...]]:
    """Arrays end to end, and their level."""
    values, level = _core.list2ragged(arrays, dtype, out)
    return values, (level,)
