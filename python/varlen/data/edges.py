"""Rows that are joined before and after each window: static codes, query tokens, end tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import unmasked
from varlen.data.memory import ColumnLike, as_joint

__all__ = []

Array = np.ndarray[tuple[Any, ...], np.dtype[Any]]


def edge_joint(
    argument: str, given: Any, columns: Mapping[str, ColumnLike], fills: Mapping[str, Array], flatten: bool
) -> _core.Joint:
    """A prefix or suffix as records of the batch's columns.

    Where its keys lie one dim higher than in the batch, it is one record for all. A key that it lacks is
    filled; levels that it lacks are empty. The core refuses values that the dtype of the batch does not hold.
    """
    joint = _from_mapping(argument, given) if isinstance(given, Mapping) else as_joint(given, argument)
    batch_dims = {key: min(c.dim, 1) if flatten else c.dim for key, c in columns.items() if c.dim > 0}
    dims = {name: dim for name, dim in zip(joint.names, joint.dims, strict=True) if dim >= 0}
    for name in dims:
        if name not in columns:
            raise KeyError(f"{argument}: {name!r} is not a key of the batch: {sorted(batch_dims)}")
    lifts = {batch_dims[name] - dim for name, dim in dims.items() if name in batch_dims}
    if len(lifts) != 1 or not lifts <= {0, 1}:
        raise ValueError(
            f"{argument}: its keys lie at dims {dims}, those of the batch at {batch_dims}; expected the same "
            "dims for a record for each row, or one less for one record for all"
        )
    lift = lifts.pop()
    levels = [_core.Level.from_lengths([len(joint)])] if lift else []
    levels += [joint.level(d) for d in range(1, joint.depth + 1)]
    while len(levels) < max(batch_dims.values()):
        levels.append(_core.Level.from_lengths(np.zeros(levels[-1].total, np.int64)))
    values = []
    for key, dim in batch_dims.items():
        if key in dims:
            rows, dtype = joint.values(key), columns[key].dtype
            is_time = dtype.kind in "mM" and rows.dtype.kind in "iu"  # in the unit of the key
            values.append(rows.astype(np.int64).view(dtype) if is_time else rows)
        else:
            shape = (levels[dim - 1].total, *columns[key].trailing)
            values.append(np.ascontiguousarray(np.broadcast_to(fills[key], shape)))
    return _core.Joint(list(batch_dims), list(batch_dims.values()), values, levels)


def _from_mapping(argument: str, given: Mapping[str, Any]) -> _core.Joint:
    arrays = [np.asarray(unmasked(value, argument)) for value in given.values()]
    for name, array in zip(given, arrays, strict=True):
        if array.ndim < 1 or array.dtype.kind not in "biufmM":
            raise TypeError(
                f"{argument}: {name!r} needs a list of numbers or times; "
                "nested rows are a JointNestedRaggedTensorDict"
            )
    return _core.Joint(list(given), [0] * len(given), arrays, [])
