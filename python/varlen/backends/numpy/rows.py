"""Arrays as rows that the core can move."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import TENSOR, as_dtype, refuse_mask
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.levels import Levels


# DLPack's numbers of memory that the host reads: its own, pinned, managed.
_READ_BY_HOST = (1, 3, 13)


def as_rows(x: Any, argument: str = "values") -> np.ndarray:
    """Rows that the core can move: the array where its memory is contiguous, else a copy."""
    if not isinstance(x, np.ndarray):
        value = refuse_mask(x, argument)
        if not hasattr(x, "__array__") and hasattr(x, "__dlpack__"):
            x = _dlpack_array(x, argument)
        elif hasattr(x, "__cuda_array_interface__") and not hasattr(x, TENSOR):
            raise type_error("", _device_advice(x, argument))
        try:
            x = np.asarray(x)
        except ValueError as error:
            raise value_error(
                argument, f"not a rectangle of values ({error}); for nested lists use Ragged.from_list"
            ) from None
        except RuntimeError as error:  # tensors that require a gradient
            raise value_error(argument, f"{error}") from None
        if x.dtype.hasobject and isinstance(value, (list, tuple)):
            _core.from_lists(value, 0, name=argument)  # says which item is not a number
    refuse_mask(x, argument)
    if x.dtype.hasobject:
        raise type_error(argument, f"arrays of Python objects cannot be moved as bytes (dtype {x.dtype})")
    if x.ndim == 0:
        raise value_error(argument, f"expected at least one dimension, got the scalar {x}")
    return x if x.flags.c_contiguous else np.ascontiguousarray(x)


def _dlpack_array(x: Any, argument: str) -> np.ndarray:
    """An array over the memory of the host that an object shows by DLPack."""
    if int(x.__dlpack_device__()[0]) not in _READ_BY_HOST:
        raise type_error("", _device_advice(x, argument))
    return np.from_dlpack(x)


def _device_advice(x: Any, argument: str) -> str:
    return f"{argument}: a {type(x).__name__} on a device; give cupy.asarray(x) or torch.as_tensor(x)"


def plain_rows(x: Any, argument: str, other: str) -> np.ndarray:
    """Rows that have to be an array, because what they go with is one."""
    if hasattr(x, TENSOR):
        raise type_error(argument, f"a tensor, but {other} is an array")
    return as_rows(x, argument)


def native_order(x: np.ndarray) -> np.ndarray:
    """Numbers in the byte order of the machine; the array itself where they are."""
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def repeat(x: np.ndarray, levels: Levels, times: Level) -> tuple[np.ndarray, Levels]:
    """The sequences of the first level, each as often as `times` is long, with the levels below them."""
    return _core.gather(x, levels, times.row_ids)


def in_parts(x: np.ndarray, add: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The result of `add`, which adds rows up, on x; complex numbers are passed as two columns."""
    if x.dtype.kind != "c":
        return add(x)
    result = add(x.view(x.real.dtype).reshape(*x.shape, 2))
    return result.view(np.result_type(result.dtype, np.complex64))[..., 0]


def to_dtype(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Values in a dtype, NumPy's or torch's; themselves where they have it."""
    return values.astype(as_dtype(dtype, "dtype"), copy=False)


def put_rows(x: np.ndarray, places: Any, rows: np.ndarray) -> np.ndarray:
    """X after its rows `places` were replaced; x itself where it may be written."""
    x[places] = rows
    return x


def fill_where(x: np.ndarray, gaps: np.ndarray, fill: Any) -> np.ndarray:
    """X after numbers that a mask is true for were replaced by one; x itself, which is written."""
    exact = _core.pad(x[:0].reshape(0), _core.Level([0]), fill=fill, sizes=1)[0]
    np.copyto(x, exact, where=gaps)
    return x


def add_rows(table: np.ndarray, rows: np.ndarray, places: Any) -> np.ndarray:
    """A copy of a table after each of rows was added to the row that its place names."""
    return _core.scatter_added(native_order(table), places, native_order(rows))


def transpose(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """Axes in another order; a view."""
    result: np.ndarray = x.transpose(axes)
    return result


def order_with_nan_first(x: np.ndarray, level: Level) -> np.ndarray:
    """The rows of each sequence, the largest first and NaN before all; ties in their order."""
    wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    return np.lexsort((-wide, ~np.isnan(x), level.row_ids))


def take(values: Any, rows: Any) -> Any:
    """Some rows, in any order."""
    return values.take(rows, axis=0)  # a third of the time of values[rows] where rows are wide


def true_places(marks: Any) -> Any:
    """The places of the bools that are True."""
    return np.flatnonzero(marks)
