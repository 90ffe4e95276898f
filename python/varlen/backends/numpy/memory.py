"""Where arrays lie, and what shares their memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype
from varlen.errors import type_error, value_error

T = TypeVar("T")


def as_numpy(values: np.ndarray) -> np.ndarray:
    """The memory of values as NumPy sees it: the array itself."""
    return values


def apply_rows(
    values: np.ndarray, call: Callable[[np.ndarray], tuple[np.ndarray, T]]
) -> tuple[np.ndarray, T]:
    """The result of `call` on rows that it only moves; the rows come first in it."""
    return call(values)


def copy(values: np.ndarray) -> np.ndarray:
    """Values in memory of their own."""
    own: np.ndarray = values.copy()
    return own


def device_of(values: np.ndarray) -> str:
    """Where values are."""
    return "cpu"


def to_device(values: np.ndarray, device: Any, non_blocking: bool = False) -> np.ndarray:
    """Values where they are, which is the CPU."""
    if str(device) != "cpu":
        raise type_error(
            "device",
            f"a NumPy array lies on the CPU, not on {device}",
            "convert it with torch.from_numpy(values) or cupy.asarray(values)",
        )
    return values


def pin(values: np.ndarray) -> np.ndarray:
    """Refused: NumPy does not pin memory."""
    raise type_error(
        "pin_memory", "a NumPy array cannot be pinned", "convert it with torch.from_numpy(values)"
    )


def row_as(row: Any, values: np.ndarray, argument: str) -> Any:
    """A number, or what broadcasts to a row, as one row (1, ...) of the dtype of the values."""
    return _core.fill_row(row, values.dtype, values.shape[1:], argument)


def to_state(values: np.ndarray) -> np.ndarray:
    """What a pickle holds of values."""
    return values


def like(array: Any, values: Any) -> Any:
    """An array as values of the kind of others: itself."""
    return array


def from_memory(array: Any, values: Any) -> Any:
    """What the core made of the memory of `values`, as values of their kind and dtype: itself."""
    return array


def assign(out: Any, result: Any, kind: Any = np.ndarray, expected: str = "an array") -> Any:
    """`out`, an array of a kind, with the numbers of a result, of whose dtype and shape it has to be."""
    if not isinstance(out, kind):
        raise type_error("out", f"expected {expected}, got {type(out).__name__}")
    if (out.dtype, out.shape) != (result.dtype, result.shape):
        raise value_error("out", f"needs {result.dtype}{result.shape}, got {out.dtype}{out.shape}")
    if not getattr(out.flags, "writeable", True):  # CuPy's have no such flag
        raise value_error("out", "is read-only")
    out[...] = result
    return out


def astype(values: np.ndarray, dtype: Any) -> np.ndarray:
    """Values of another dtype, always copied."""
    return values.astype(as_dtype(dtype, "dtype"))


def readable(values: np.ndarray) -> np.ndarray:
    """Values as numbers that NumPy can print: themselves."""
    return values
