"""Arrays to one array: end to end, sequence by sequence, or row by row of nested lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from varlen.levels import Levels


def concat(values: list[Any], axis: int = 0, argument: str = "values") -> Any:
    """Arrays one after another, of the dtype that NumPy promotes theirs to."""
    arrays = promote_dtypes(values, argument)
    return np.concatenate(arrays, axis) if axis else _core.concat(arrays)


def interleave(values: list[Any], levels: list[Level], argument: str) -> tuple[Any, Level]:
    """Sequence i of every part, end to end, and their level."""
    return _core.interleave(promote_dtypes(values, argument), levels)


def promote_dtypes(values: list[Any], argument: str) -> list[Any]:
    """Arrays of the dtype that NumPy promotes theirs to."""
    if all(x.dtype is values[0].dtype for x in values):
        return values
    try:
        dtype = np.result_type(*{x.dtype for x in values})
    except TypeError:
        names = " and ".join(dict.fromkeys(str(x.dtype) for x in values))
        raise type_error(argument, f"no dtype holds {names}") from None
    return [x.astype(dtype, copy=False) for x in values]


def from_list(data: Any, dtype: Any = None) -> tuple[Any, Levels]:
    """Nested lists of numbers or arrays, end to end, and their levels."""
    values, levels = _core.from_lists(data, -1, dtype, name="data")
    if not levels and len(data) == 0:
        return values, (Level([]),)
    if not levels:
        raise value_error(
            "data", "expected lists inside a list, or arrays; for one level of numbers use Ragged()"
        )
    return values, tuple(levels)
