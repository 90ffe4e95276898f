"""Entries of a sparse matrix from ragged rows, and back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen._core import Level
from varlen.arguments import as_array
from varlen.backends.values import as_values, like
from varlen.errors import instance_error, value_error

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
    inner_shape = tuple(values.shape[1:])
    entries = math.prod(inner_shape)
    rows = np.arange(len(values))
    places: list[NDArray[np.int64]] = []
    for level in reversed(levels):
        places.insert(0, level.positions[rows])
        rows = level.row_ids[rows]
    outer = [np.repeat(place, entries) for place in (rows, *places)]
    inner = [np.tile(place.reshape(-1), len(values)) for place in np.indices(inner_shape)]
    indices = np.stack(outer + inner, axis=1).astype(np.int64, copy=False)
    shape = np.array([len(levels[0]), *(level.longest for level in levels), *inner_shape])
    return SparseTensor(like(indices, values), values.reshape(-1), shape)


def rows_of_sparse(matrix: Any, argument: str) -> tuple[Any, Level]:
    """The values of a sparse matrix, and the level of its rows."""
    if getattr(matrix, "is_sparse", False):
        matrix = matrix.coalesce()
        parts = (matrix.indices().T, matrix.values(), tuple(matrix.shape))
    elif all(hasattr(matrix, name) for name in SparseTensor._fields):
        parts = (matrix.indices, matrix.values, matrix.dense_shape)
    else:
        raise instance_error(argument, "a SparseTensor", matrix)
    indices, values = as_array(parts[0], argument).reshape(-1, len(parts[2])), as_values(parts[1], argument)
    if len(parts[2]) != 2:
        raise value_error(argument, f"expected 2 axes, got {len(parts[2])}")
    if len(indices) != len(values):
        raise value_error(argument, f"{len(indices)} indices for {len(values)} values")
    count, width = (int(size) for size in parts[2])
    rows, columns = indices.astype(np.int64).T
    is_outside = (rows < 0) | (rows >= count) | (columns < 0) | (columns >= width)
    is_unordered = np.append(False, np.diff(rows) < 0)
    for wrong, what in ((is_outside, f"beyond the shape ({count}, {width})"), (is_unordered, "out of order")):
        if wrong.any():
            index = int(wrong.argmax())
            raise value_error(
                argument, f"entry {index} is at {tuple(indices[index].tolist())}, {what}", row=index
            )
    level = Level.from_row_ids(np.ascontiguousarray(rows), count)
    gaps = columns != level.positions
    if gaps.any():
        index = int(gaps.argmax())
        raise value_error(
            argument,
            f"row {rows[index]} has an entry in column {columns[index]}, but none in column "
            f"{level.positions[index]}: expected the entries of a row at its left, in order and without gaps",
            row=rows[index],
        )
    return values, level
