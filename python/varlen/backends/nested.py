"""Lists of arrays or tensors that are to be one: what nests how, and what agrees with what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import is_listed, scalar_error
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    from varlen.levels import Levels


def first_leaf(value: object) -> Any:
    """The first array that is not empty, or the first value that is not a list; None if there is neither."""
    first = value
    for _ in range(8):  # it is mostly the first item of the first item
        if not (isinstance(first, (list, tuple)) and first):
            break
        first = first[0]
    if not (first is None or isinstance(first, (list, tuple, np.ndarray))):
        return first
    if isinstance(value, np.ndarray):
        return value if value.size else None
    if not isinstance(value, (list, tuple)):
        return value
    return next((leaf for leaf in map(first_leaf, value) if leaf is not None), None)


def nested_rows(data: Any, kind: Any, one: str, plural: str) -> tuple[list[Any], Levels]:
    """The arrays in nested lists, in order, and their levels; a list of scalars is a sequence too."""
    if not is_listed(data):
        raise instance_error("data", "a list or tuple", data)
    _core.refuse_cycles(data, "data")
    levels: list[Level] = []
    rows = list(data)
    while any(isinstance(row, (list, tuple)) for row in rows):
        for i, row in enumerate(rows):
            if not isinstance(row, (list, tuple)):
                raise value_error("data", f"item {i} of depth {len(levels) + 1} is {one} beside lists", row=i)
        levels.append(Level([len(row) for row in rows]))
        rows = [x for row in rows for x in row]
    place = getattr(rows[0], "device", None) if rows else None
    for i, row in enumerate(rows):
        if not isinstance(row, kind):
            raise type_error(
                "data", f"item {i} of depth {len(levels) + 1}: expected {one}, got {_name_of(row)}", row=i
            )
        if row.shape[1:] != rows[0].shape[1:] or row.ndim != rows[0].ndim:
            shapes = f"{tuple(row.shape)}, the first has {tuple(rows[0].shape)}"
            raise value_error("data", f"item {i} of depth {len(levels) + 1} has shape {shapes}", row=i)
        if getattr(row, "device", None) != place:
            raise value_error(
                "data",
                f"item {i} of depth {len(levels) + 1} lies on {row.device}, the first on {place}",
                "move one of them there",
                row=i,
            )
    if not (rows and rows[0].ndim == 0):
        levels.append(Level([len(row) for row in rows]))
    elif not levels:
        raise value_error("data", f"expected {plural} of one dimension and more inside a list, got numbers")
    return rows, tuple(levels)


def flat_parts(X: Sequence[Any], kind: Any, one: str) -> list[Any]:
    """The arrays of a list that go end to end: where they differ, those without elements do not count."""
    parts = list(X)
    for i, part in enumerate(parts):
        if not isinstance(part, kind):
            raise type_error(f"X[{i}]", f"expected {one}, got {_name_of(part)}", row=i)
        if part.ndim == 0:
            raise scalar_error(f"X[{i}]", row=i)
    rows = list(enumerate(parts))
    if any(not _same_layout(part, parts[0]) for part in parts):
        full = [(i, x) for i, x in rows if math.prod(x.shape)]
        rows = full or [(i, x) for i, x in rows if _same_layout(x, parts[0])]
    place, first = rows[0]
    for i, part in rows:
        if part.ndim != first.ndim or part.shape[1:] != first.shape[1:]:
            shapes = f"has shape {tuple(part.shape)}, but X[{place}] has {tuple(first.shape)}"
            raise value_error(f"X[{i}]", f"{shapes}: only the first dimension may differ", row=i)
    return [part for _, part in rows]


def _same_layout(part: Any, first: Any) -> bool:
    is_same = part.dtype == first.dtype and part.ndim == first.ndim
    return bool(is_same and part.shape[1:] == first.shape[1:])


def _name_of(x: Any) -> str:
    """The type of something; that of arrays with its library, as several call theirs alike."""
    kind = type(x)
    return f"{kind.__module__}.{kind.__name__}" if kind.__name__ == "ndarray" else kind.__name__
