"""Arrays as they are, with any strides, and parts of them that share their memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, refuse_mask
from varlen.errors import naming, type_error, value_error


def as_array(x: Any, argument: str) -> np.ndarray:
    """An array of any strides, from what NumPy reads."""
    array = refuse_mask(x, argument)
    try:
        return np.asarray(array)
    except ValueError:
        if not isinstance(array, (list, tuple)):
            raise
        advice = "make nested lists a Ragged by Ragged.from_list"
        raise value_error(argument, "lists of different lengths are no array", advice) from None


def is_contiguous(x: np.ndarray) -> bool:
    """Whether the memory of an array is in C order."""
    return x.flags.c_contiguous


def tile(values: np.ndarray, multiples: tuple[int, ...]) -> np.ndarray:
    """What lies along each axis, so many times."""
    pairs = list(zip(values.shape, multiples, strict=False))
    if len(multiples) != values.ndim or any(n != 1 != m for n, m in pairs):
        return np.tile(values, multiples)
    result = np.empty([n * m for n, m in pairs], values.dtype)  # all axes broadcast, at a quarter of the cost
    result[...] = values
    return result


def contiguous(x: Any) -> np.ndarray:
    """An array in C order, copied only where it was not."""
    return np.asarray(x, order="C")


def cast(values: np.ndarray, dtype: Any, argument: str) -> np.ndarray:
    """Numbers of another dtype, each of which it has to hold; floats round."""
    if values.dtype.hasobject:
        raise type_error(argument, f"holds Python objects (dtype {values.dtype})")
    kind = as_dtype(dtype, "dtype")
    if values.dtype == kind:
        return values
    with naming(values=argument):
        native = _core.cast(values.reshape(-1), kind.newbyteorder("="))
    return native.reshape(values.shape).astype(kind, copy=False)


def take_columns(x: np.ndarray, columns: Any) -> np.ndarray:
    """Some columns, in any order."""
    result: np.ndarray = x.take(columns, axis=1)
    return result


def zeros(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Zeros of the dtype of values."""
    return np.zeros(shape, values.dtype)
