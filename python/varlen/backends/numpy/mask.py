"""Masks as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_dtype, as_int
from varlen.errors import type_error


def mask(
    level: Level,
    max_len: int | None,
    padding_side: str,
    width: int | None,
    multiple: int,
    max_bytes: int | None,
    model: Any = None,
) -> np.ndarray:
    """The mask of the padded sequences: True where there is data."""
    result: np.ndarray = _core.mask(level, *sizes_of(max_len, padding_side, width, multiple, max_bytes))
    return result


def sizes_of(
    max_len: int | None, padding_side: str, width: int | None, multiple: int, max_bytes: int | None
) -> tuple[Any, ...]:
    """The sizes of a mask, as the core takes them behind a level."""
    limit, wide = (
        None if x is None else as_int(x, name) for x, name in ((max_len, "max_len"), (width, "width"))
    )
    return padding_side, limit, multiple, max_bytes, wide


def level_array(level: Level, name: str, model: Any = None) -> np.ndarray:
    """The row ids, positions, lengths or int32 offsets of a level."""
    numbers: np.ndarray = getattr(level, name)
    return numbers


def block_mask(
    level: Level,
    dtype: Any,
    lookback: int | None,
    lookahead: int | None,
    out: Any,
    max_bytes: int | None,
    model: Any = None,
) -> np.ndarray:
    """Which rows may look at which, (total, total)."""
    return _core.block_mask(level, pair_of(dtype), lookback, lookahead, out, max_bytes)


def pair_of(dtype: Any) -> np.ndarray:
    """What a mask of a dtype says outside and inside."""
    kind = as_dtype(dtype, "dtype")
    is_float = kind.kind == "f" or kind.name == "bfloat16"
    if kind.kind not in "biuf" and not is_float:
        raise type_error("dtype", f"expected bool, integers or floats, got {kind}")
    return np.array([-np.inf, 0] if is_float else [0, 1], kind)
