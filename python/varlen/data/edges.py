"""Rows to join before and after each window: static codes, query tokens, end tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import refuse_mask, word_as_id
from varlen.data.sources.memory import ColumnLike, as_joint
from varlen.errors import error_of, type_error, value_error

__all__ = []

Array = np.ndarray[tuple[Any, ...], np.dtype]


def edge_joint(
    argument: str, edge: Any, columns: Mapping[str, ColumnLike], fills: Mapping[str, Array], flatten: bool
) -> _core.Joint:
    """A prefix or suffix as records of the batch's columns.

    Where its keys lie one dim higher than in the batch, it is one record for all. A key that it lacks is
    filled; levels that it lacks are empty. The core refuses values that the dtype of the batch does not hold.
    """
    is_mapping = isinstance(edge, Mapping)
    joint = _from_mapping(argument, edge, columns) if is_mapping else as_joint(edge, argument)
    batch_dims = {key: min(c.dim, 1) if flatten else c.dim for key, c in columns.items() if c.dim > 0}
    dims = {name: dim for name, dim in zip(joint.names, joint.dims, strict=True) if dim >= 0}
    for name in dims:
        if name not in columns:
            raise error_of(KeyError, argument, f"{name!r} is not a key of the batch: {sorted(batch_dims)}")
    lifts = {batch_dims[name] - dim for name, dim in dims.items() if name in batch_dims}
    if len(lifts) != 1 or not lifts <= {0, 1}:
        raise value_error(
            argument,
            f"its keys have dims {dims}, those of the batch {batch_dims}; expected the same dims "
            "(a record per row), or each one lower (one record for all rows)",
        )
    lift = lifts.pop()
    levels = [_core.Level.from_lengths([len(joint)])] if lift else []
    levels += [joint.level(d) for d in range(1, joint.depth + 1)]
    while len(levels) < max(batch_dims.values()):
        levels.append(_core.Level.from_lengths(np.zeros(levels[-1].total, np.int64)))
    values = []
    for key, dim in batch_dims.items():
        if key in dims:
            values.append(_as_times(joint.values(key), columns[key].dtype, f"{argument} of {key!r}"))
        else:
            shape = (levels[dim - 1].total, *columns[key].trailing)
            values.append(np.ascontiguousarray(np.broadcast_to(fills[key], shape)))
    return _core.Joint(list(batch_dims), list(batch_dims.values()), values, levels)


def _as_times(rows: Array, dtype: np.dtype, argument: str) -> Array:
    """Rows of a key of times in its unit, by the rule of fills; those of other keys as they are."""
    return _core.fill_row(rows, dtype, rows.shape, argument)[0] if dtype.kind in "mM" else rows


def _as_values(value: object, column: ColumnLike | None, argument: str) -> Array:
    """A list as values of a column: dates as times, words as their ids."""
    array = np.asarray(value)
    if column is None:
        return array
    if column.vocabulary is not None and array.dtype.kind in "UO":
        ids = [word_as_id(word, column.vocabulary, column.dtype, argument) for word in array.flat]
        return np.array(ids).reshape(array.shape)
    return _as_times(array, column.dtype, argument)


def _from_mapping(argument: str, edge: Mapping[str, Any], columns: Mapping[str, ColumnLike]) -> _core.Joint:
    arrays = [
        _as_values(refuse_mask(value, argument), columns.get(key), f"{argument} of {key!r}")
        for key, value in edge.items()
    ]
    for name, array in zip(edge, arrays, strict=True):
        if array.ndim < 1 or array.dtype.kind not in "biufmM":
            raise type_error(
                argument,
                f"{name!r} needs a list of numbers or times; nested rows are a JointNestedRaggedTensorDict",
            )
    return _core.Joint(list(edge), [0] * len(edge), arrays, [])
