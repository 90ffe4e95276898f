"""Pieces of rows, in whatever form they come, as named columns and levels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from varlen import _core
from varlen.errors import tell_cause, type_error, value_error
from varlen.io.columns import ColumnOptions
from varlen.io.intent import Schema
from varlen.io.lists import build_rows
from varlen.io.save import as_tensor, level_of, split_name

__all__ = ["as_piece"]

Array = np.ndarray[tuple[Any, ...], np.dtype]


# The dim of a key, and the trailing shape of its values.
Shape = tuple[int, tuple[int, ...]]


class Piece(NamedTuple):
    """Rows as flat arrays: keys to dim and values, levels from the top down, vocabularies of ids."""

    columns: dict[str, tuple[int, Array]]
    levels: list[_core.Level]
    rows: int
    vocabularies: Mapping[str, Sequence[str]] = {}


def is_table(rows: object) -> bool:
    """A table or a record batch of Arrow, or a frame that exports one."""
    return hasattr(rows, "__arrow_c_stream__") or (
        hasattr(rows, "__arrow_c_array__") and hasattr(rows, "schema")
    )


class JointLike(Protocol):
    """An object with the core's joint columns, as a joint dict has them."""

    def __varlen_joint__(self) -> _core.Joint: ...


def as_piece(
    rows: Any,
    schema: Mapping[str, np.dtype],
    first_words: Callable[[str], Sequence[str]],
    intent: Schema | None = None,
    shape_of: Callable[[str], Shape | None] = lambda _: None,
) -> Piece:
    """Columns from a `_core.Joint` or its carrier, from full names to arrays, or from keys to nested lists.

    `first_words` gives the words with which a vocabulary from lists begins; `intent` tells which lists are
    fixed dims and which nulls of an Arrow table are allowed; `shape_of` gives the dim and trailing shape that
    a key has in other rows.

    >>> piece = as_piece({"dim1/bounds": np.array([2, 3]), "dim1/t": np.array([5, 6, 7])}, {}, list)
    >>> piece.columns, piece.rows
    ({'t': (1, array([5, 6, 7]))}, 2)
    """
    if hasattr(rows, "__varlen_joint__"):
        rows = rows.__varlen_joint__()
    if isinstance(rows, _core.Joint):
        return _from_joint(rows)
    if is_table(rows):
        from varlen.io.arrow_rows import joint_of_table

        return _from_joint(joint_of_table(rows, intent, first_words))
    if not isinstance(rows, Mapping) and isinstance(tensors := getattr(rows, "tensors", None), Mapping):
        return _from_entries(tensors)  # a joint dict of nested_ragged_tensors
    if not isinstance(rows, Mapping):
        hint = "; a frame or a table becomes a dict of lists first" if hasattr(rows, "columns") else ""
        raise type_error("rows", f"expected a joint dict or a dict, got {type(rows).__name__}{hint}")
    if rows and all(isinstance(name, str) and split_name(name)[0] is not None for name in rows):
        return _from_entries(rows)
    for name, value in rows.items():
        if isinstance(value, (str, bytes, bool, int, float, np.generic)):
            kind = type(value).__name__
            raise type_error(
                "rows", f"{name!r} is one {kind}; a dict holds many rows, so each key has a list"
            )
    dtypes = {name: dtype for name, dtype in schema.items() if name in rows}
    try:
        row_shapes = {name: column.trailing for name, column in (intent or {}).items() if name in rows}
        joint = build_rows(
            rows, lambda: ColumnOptions(dtypes, False, row_shapes, None, None, first_words, True)
        )
    except ValueError as error:
        raise tell_cause(error) from error.__cause__  # which has the place
    lists = [name for name, value in rows.items() if isinstance(value, (list, tuple))]
    return _deepen(_from_joint(joint), lists, shape_of)


def _deepen(piece: Piece, names: Iterable[str], shape_of: Callable[[str], Shape | None]) -> Piece:
    """The piece with lists that end before their values as deep as the same keys of other rows."""
    columns, levels = dict(piece.columns), list(piece.levels)
    for name in names:
        dim, array = columns[name]
        shape = None if len(array) else shape_of(name)
        if shape is not None and shape[0] >= dim:
            columns[name] = shape[0], np.empty((0, *shape[1]), array.dtype)
            levels += [_core.Level.from_lengths([])] * (shape[0] - len(levels))
    return piece._replace(columns=columns, levels=levels)


def _from_joint(joint: _core.Joint) -> Piece:
    columns = {n: (d, joint.values(n)) for n, d in zip(joint.names, joint.dims, strict=True) if d >= 0}
    levels = [joint.level(d) for d in range(1, joint.depth + 1)]
    return Piece(columns, levels, len(joint), (joint.meta or {}).get("vocabularies", {}))


def _from_entries(entries: Mapping[str, object]) -> Piece:
    columns: dict[str, tuple[int, Array]] = {}
    dim_levels: dict[int, _core.Level] = {}
    for full, values in entries.items():
        array = as_tensor(full, values, "rows")
        dim, name = split_name(full)
        if dim is None:
            raise value_error("rows", f"{full!r} is not dimK/name")
        if name == "bounds" and dim > 0:
            dim_levels[dim] = level_of(full, array)
        elif dim >= 0:
            if name in columns:
                raise value_error("rows", f"{name!r} appears at two dims")
            if array.ndim == 0:
                raise value_error("rows", f"{full!r} has no dimension")
            columns[name] = (dim, array)
    depth = max([*dim_levels, *(dim for dim, _ in columns.values())], default=0)
    missing = [d for d in range(1, depth + 1) if d not in dim_levels]
    if missing:
        raise value_error("rows", f"there is no dim{missing[0]}/bounds")
    levels = [dim_levels[d] for d in range(1, depth + 1)]
    counts = [len(levels[0]), *(level.total for level in levels)] if levels else []
    for d, level in enumerate(levels[1:], start=1):
        if len(level) != counts[d]:
            raise value_error(
                "rows", f"dim{d + 1}/bounds has {len(level)} entries, but dim {d} has {counts[d]} rows"
            )
    for name, (dim, array) in columns.items():
        counts = counts or [len(array)]
        if len(array) != counts[dim]:
            raise value_error("rows", f"{name!r} has {len(array)} rows, but dim {dim} has {counts[dim]}")
    return Piece(columns, levels, counts[0] if counts else 0)
