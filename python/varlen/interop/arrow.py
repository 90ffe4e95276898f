"""Arrow columns to flat values and levels, and back: the offsets of lists are levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from varlen._core import Level
from varlen.arguments import PADDING, as_bool, as_list, refuse_mask
from varlen.errors import instance_error, type_error, value_error
from varlen.interop.arrow_columns import columns_of
from varlen.interop.arrow_parts import columns_from, one_column
from varlen.interop.column import Column
from varlen.interop.nulls import Nulls

__all__ = ["Column", "Nulls", "columns_of", "from_arrow", "to_arrow"]


def from_arrow(data: Any, *, nulls: str = "refuse", fill: object = None, padding_id: bool = True) -> Column:
    """The values and levels of an Arrow list array, or of anything that exports one."""
    column = one_column(columns_from(data, "data", Nulls(nulls, fill)), "data")
    if not column.levels:
        raise value_error("data", "expected a list column, got one without any nesting")
    is_shifted = as_bool(padding_id, "padding_id") and not column.has_ids
    return _with_padding(column) if is_shifted else column


def _with_padding(column: Column) -> Column:
    """The same words after the word of padding; nulls stay -1."""
    words = column.vocabulary
    if words is None or PADDING in words:
        return column
    ids = column.values
    values = np.add(ids, ids >= 0, out=ids if ids.flags.writeable else None)  # they are nobody else's
    return replace(column, values=values, vocabulary=(PADDING, *words))


def to_arrow(
    values: np.ndarray, levels: Sequence[Level], vocabulary: Sequence[str] | None = None
) -> pa.Array:
    """Flat values under levels as nested large lists; the offsets and most values are shared, not copied."""
    if not isinstance(values, np.ndarray):
        raise instance_error("values", "an array", values)
    refuse_mask(values, "values")
    levels = as_list(levels, "levels", "Level")
    for i, level in enumerate(levels):
        if not isinstance(level, Level):
            raise type_error("levels", f"item {i}: expected a Level, got {type(level).__name__}", row=i)
    is_text = values.dtype.kind == "T"  # NumPy's strings of any length, which count as objects
    if values.ndim == 0 or (values.dtype.hasobject and not is_text):
        raise type_error("values", f"expected rows of numbers, got {values.dtype} of shape {values.shape}")
    counts = [*map(len, levels[1:]), len(values)]
    for i, level in enumerate(levels):
        if level.total != counts[i]:
            what = "values has" if i + 1 == len(levels) else f"level {i + 1} has"
            raise value_error("levels", f"level {i} ends at {level.total}, but {what} {counts[i]} rows")
    array = _flat_array(values.reshape(-1), vocabulary)
    for d in range(values.ndim - 1, 0, -1):
        lists = math.prod(values.shape[:d])  # given, because lists of size 0 do not show how many there are
        array = pa.Array.from_buffers(pa.list_(array.type, values.shape[d]), lists, [None], children=[array])
    for level in reversed(levels):
        array = pa.LargeListArray.from_arrays(pa.array(level.offsets), array)
    return array


def _flat_array(flat: np.ndarray, vocabulary: Sequence[str] | None) -> pa.Array:
    if vocabulary is not None:
        words = as_list(vocabulary, "vocabulary", "words")
        if flat.dtype.kind not in "iu":
            raise type_error("values", f"expected integers, the ids of a vocabulary, got {flat.dtype}")
        bad = np.flatnonzero((flat < -1) | (flat >= len(words)))
        if len(bad):
            text = f"id {flat[bad[0]]} at position {bad[0]} is out of range for {len(words)} words"
            raise value_error("values", text, row=bad[0], number=int(flat[bad[0]]))
        ids = pa.array(flat.astype(np.int64), mask=flat == -1) if len(flat) else pa.array([], pa.int64())
        return pa.array(words, pa.large_string()).take(ids)
    if flat.dtype.kind in "UT":
        return pa.array(flat.astype(object), pa.large_string())
    try:
        return pa.array(flat.astype(flat.dtype.newbyteorder("="), copy=False))
    except (pa.ArrowException, TypeError) as wrong:
        raise type_error("values", f"Arrow has no type for dtype {flat.dtype}: {wrong}") from None
