"""Pieces of any kind as named columns and levels, and dtypes that must agree between pieces."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.io.save import as_tensor, level_of, split_name

__all__ = ["as_piece", "cast_exactly", "smallest", "wide"]

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]


class Piece(NamedTuple):
    """Rows as flat arrays: keys to dim and values, levels from the top down, the words that ids stand for."""

    columns: dict[str, tuple[int, Array]]
    levels: list[_core.Level]
    rows: int
    words: Mapping[str, Sequence[str]] = {}


def as_piece(rows: Any, schema: Mapping[str, DType]) -> Piece:
    """A joint dict, a `_core.Joint`, a dict of full names to arrays, or of key names to nested lists.

    >>> piece = as_piece({"dim1/bounds": np.array([2, 3]), "dim1/t": np.array([5, 6, 7])}, {})
    >>> piece.columns, piece.rows
    ({'t': (1, array([5, 6, 7]))}, 2)
    """
    if callable(view := getattr(rows, "_view", None)) and isinstance(joint := view(), _core.Joint):
        rows = joint  # what a joint dict of ours holds
    if isinstance(rows, _core.Joint):
        columns = {n: (d, rows.values(n)) for n, d in zip(rows.names, rows.dims, strict=True) if d >= 0}
        words = (getattr(rows, "meta", None) or {}).get("vocabularies", {})
        return Piece(columns, [rows.level(d) for d in range(1, rows.depth + 1)], len(rows), words)
    if not isinstance(rows, Mapping) and isinstance(tensors := getattr(rows, "tensors", None), Mapping):
        return _from_entries(tensors)
    if not isinstance(rows, Mapping):
        raise TypeError(f"rows: expected a joint dict or a dict, got {type(rows).__name__}")
    if rows and all(isinstance(name, str) and split_name(name)[0] is not None for name in rows):
        return _from_entries(rows)
    home = importlib.import_module("varlen.joint")  # wanted for nested lists alone
    asked = {n: str if dtype.kind in "UT" else dtype for n, dtype in schema.items() if n in rows}
    return as_piece(home.JointNestedRaggedTensorDict(rows, schema=asked or None, narrow=False), schema)


def _from_entries(entries: Mapping[str, Any]) -> Piece:
    columns: dict[str, tuple[int, Array]] = {}
    found: dict[int, _core.Level] = {}
    for full, values in entries.items():
        array = as_tensor(full, values, "rows")
        dim, name = split_name(full)
        if dim is None:
            raise ValueError(f"rows: {full!r} is not dimK/name")
        if name == "bounds" and dim > 0:
            found[dim] = level_of(full, array)
        elif dim >= 0:
            if name in columns:
                raise ValueError(f"rows: {name!r} is there at two dims")
            if array.ndim == 0:
                raise ValueError(f"rows: {full!r} has no dimension")
            columns[name] = (dim, array)
    depth = max([*found, *(dim for dim, _ in columns.values())], default=0)
    missing = [d for d in range(1, depth + 1) if d not in found]
    if missing:
        raise ValueError(f"rows: there is no dim{missing[0]}/bounds")
    levels = [found[d] for d in range(1, depth + 1)]
    counts = [len(levels[0]), *(level.total for level in levels)] if levels else []
    for d, level in enumerate(levels[1:], start=1):
        if len(level) != counts[d]:
            raise ValueError(
                f"rows: dim{d + 1}/bounds has {len(level)} entries, but dim {d} has {counts[d]} rows"
            )
    for name, (dim, array) in columns.items():
        counts = counts or [len(array)]
        if len(array) != counts[dim]:
            raise ValueError(f"rows: {name!r} has {len(array)} rows, but dim {dim} has {counts[dim]}")
    return Piece(columns, levels, counts[0] if counts else 0)


def cast_exactly(name: str, array: Array, dtype: DType) -> Array:
    """The array in another dtype; ValueError names a value that does not fit. Floats may lose precision.

    >>> cast_exactly("code", np.array([1, 300]), np.dtype(np.uint8))
    Traceback (most recent call last):
    ValueError: code: 300 at row 1 does not fit uint8
    """
    if np.can_cast(array.dtype, dtype, "safe"):
        return array.astype(dtype)
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        if dtype.kind == "f" or dtype.kind not in "biufcmM":
            bad = np.isfinite(array) & ~np.isfinite(cast.astype(np.float64))
        else:
            bad = (cast.astype(array.dtype) != array) | ((cast < 0) != (array < 0))
    if bad.any():
        where = np.argwhere(bad)[0]
        raise ValueError(f"{name}: {array[tuple(where)]} at row {where[0]} does not fit {dtype}")
    return cast


def smallest(least: int, most: int) -> DType:
    """The smallest integer dtype for values from `least` (at most 0) to `most`; unsigned where it can be.

    >>> smallest(0, 300), smallest(-1, 128)
    (dtype('uint16'), dtype('int16'))
    """
    for kind in "ui" if least >= 0 else "i":
        for width in (1, 2, 4, 8):
            info = np.iinfo(f"{kind}{width}")
            if info.min <= least and most <= info.max:
                return info.dtype
    raise OverflowError(f"no integer dtype holds {least} to {most}")


def wide(name: str, a: DType, b: DType) -> DType:
    """The dtype that holds the values of both; ValueError where there is none that holds all of them.

    >>> wide("code", np.dtype(np.uint8), np.dtype(np.int8))
    dtype('int16')
    """
    if a == b:
        return a
    try:
        both = np.promote_types(a, b)
    except TypeError:
        both = np.dtype(object)
    lossy = both.kind == "f" and "f" not in (a.kind, b.kind)  # uint64 and a signed integer
    if lossy or both.kind not in "biufcV" or "b" in (a.kind, b.kind):
        raise ValueError(f"{name}: no dtype holds both {a} and {b}")
    return both
