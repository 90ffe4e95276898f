"""Rows that change places inside their sequence."""

from __future__ import annotations

from typing import Any

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_ints, is_zero


def shift(values: Any, level: Level, by: Any, fill: Any = 0, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on; `fill` where no row arrives."""
    return _core.shift(values, level, as_ints(by), None if is_zero(fill) else fill, out)


def roll(values: Any, level: Level, by: Any, out: Any = None) -> Any:
    """The rows of each sequence, `by` places on, cyclically."""
    return _core.roll(values, level, as_ints(by), out)
