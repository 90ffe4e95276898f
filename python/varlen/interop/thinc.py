"""Thinc's containers: their fields, and new containers from fields. Making one imports Thinc."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints, is_tensor, like, memory_of
from varlen.errors import overflow_error, type_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

PADDED = ("data", "size_at_t", "lengths", "indices")


def fields_of(x: object, argument: str, *names: str) -> list[Any]:
    """The named attributes of an object."""
    missing = [name for name in names if not hasattr(x, name)]
    if missing:
        raise type_error(
            argument, f"expected {', '.join(names)}, but a {type(x).__name__} has no {missing[0]}"
        )
    return [getattr(x, name) for name in names]


def ragged_parts(ragged: object) -> tuple[Any, Level]:
    """The values and the level of a Thinc Ragged, or of an object with its `dataXd` and `lengths`."""
    values, lengths = fields_of(ragged, "ragged", "dataXd", "lengths")
    level = Level.from_lengths(as_ints(lengths))
    if len(values) == 0 and 0 in (row_shape := values.shape[1:]):
        values = np.zeros((level.total, *row_shape), values.dtype)  # Thinc loses the count of rows of width 0
    return values, level


def padded_parts(padded: object) -> list[Any]:
    """The four fields of a Thinc Padded, or of an object that has them: data, size_at_t, lengths, indices."""
    return fields_of(padded, "padded", *PADDED)


def new_ragged(values: object, level: Level) -> Any:
    """A Thinc Ragged that shares the values and has lengths of its own."""
    rows = _array(values)
    return _thinc().Ragged(rows, like(level.lengths32.copy(), rows))  # its kernels take writable lengths only


def new_padded(data: Any, size_at_t: Any, lengths: Any, indices: Any) -> Any:
    """A Thinc Padded that shares the data and has small arrays of its own, int32."""
    fields = {"size_at_t": size_at_t, "lengths": lengths, "indices": indices}
    array = _array(data)
    small = (like(as_int32(field, name), array) for name, field in fields.items())
    return _thinc().Padded(array, *small)


def as_int32(field: NDArray[np.int64], argument: str) -> NDArray[np.int32]:
    """A copy as int32, the dtype of Thinc's lengths and indices."""
    if field.max(initial=0) > np.iinfo(np.int32).max:
        k = int((field > np.iinfo(np.int32).max).argmax())
        raise overflow_error(argument, f"entry {k} is {field[k]}, beyond int32", row=k, number=int(field[k]))
    return field.astype(np.int32)


def new_pairs(one: object, two: object) -> Any:
    """A Thinc Pairs."""
    return _thinc().Pairs(one, two)


def _thinc() -> Any:
    return importlib.import_module("thinc.types")


def _array(values: Any) -> Any:
    """Values as Thinc takes them: arrays of NumPy or CuPy."""
    if is_tensor(values) and values.requires_grad:
        raise type_error("values", "expected a tensor without gradients, as Thinc does; call detach() first")
    return memory_of(values) if isinstance(values, np.ndarray) or is_tensor(values) else values
