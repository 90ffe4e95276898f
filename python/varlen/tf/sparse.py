"""Entries of a sparse matrix from ragged rows, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints, as_values, like
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SparseTensor"]


class SparseTensor(NamedTuple):
    """Values and their indices, with the three fields of `tf.sparse.SparseTensor`.

    Parameters
    ----------
    indices
        int64 (entries, axes), ordered by their axes from the first on.
    values
        (entries,), of any dtype.
    dense_shape
        int64 (axes,): the sizes of the rectangle.

    Examples
    --------
    >>> vl.tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[3, 1], dense_shape=[2, 4]).dense_shape
    [2, 4]
    """

    indices: Any
    values: Any
    dense_shape: Any


def sparse_of(values: Any, levels: tuple[Level, ...]) -> SparseTensor:
    """The entries of rows under levels, with their places along each axis."""
    trailing = tuple(values.shape[1:])
    entries = math.prod(trailing)
    rows = np.arange(len(values))
    places: list[NDArray[np.int64]] = []
    for level in reversed(levels):
        places.insert(0, level.positions[rows])
        rows = level.row_ids[rows]
    outer = [np.repeat(place, entries) for place in (rows, *places)]
    inner = [np.tile(place.reshape(-1), len(values)) for place in np.indices(trailing)]
    indices = np.stack(outer + inner, axis=1).astype(np.int64, copy=False)
    shape = np.array([len(levels[0]), *(level.longest for level in levels), *trailing])
    return SparseTensor(like(indices, values), values.reshape(-1), shape)


def rows_of_sparse(given: Any, argument: str) -> tuple[Any, Level]:
    """The values of a sparse matrix, and the level of its rows."""
    if getattr(given, "is_sparse", False):
        given = given.coalesce()
        parts = (given.indices().T, given.values(), tuple(given.shape))
    elif all(hasattr(given, name) for name in SparseTensor._fields):
        parts = (given.indices, given.values, given.dense_shape)
    else:
        raise type_error(argument, f"expected a SparseTensor, got {type(given).__name__}")
    indices, values = np.asarray(as_ints(parts[0])).reshape(-1, len(parts[2])), as_values(parts[1], argument)
    if len(parts[2]) != 2:
        raise value_error(argument, f"expected 2 axes, got {len(parts[2])}")
    if len(indices) != len(values):
        raise value_error(argument, f"{len(indices)} indices for {len(values)} values")
    count, width = (int(size) for size in parts[2])
    rows, columns = indices.astype(np.int64).T
    beyond = (rows < 0) | (rows >= count) | (columns < 0) | (columns >= width)
    unordered = np.append(False, np.diff(rows) < 0)
    for wrong, what in ((beyond, f"beyond the shape ({count}, {width})"), (unordered, "out of order")):
        if wrong.any():
            at = int(wrong.argmax())
            raise value_error(argument, f"entry {at} is at {tuple(indices[at].tolist())}, {what}", row=at)
    level = Level.from_row_ids(np.ascontiguousarray(rows), count)
    gaps = columns != level.positions
    if gaps.any():
        at = int(gaps.argmax())
        raise value_error(
            argument,
            f"row {rows[at]} has an entry in column {columns[at]}, but none in column "
            f"{level.positions[at]}: expected the entries of a row at its left, in order and without gaps",
            row=rows[at],
        )
    return values, level
