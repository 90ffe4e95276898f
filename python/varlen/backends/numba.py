"""Numba's arrays of a CUDA device, as CuPy sees their memory, in the order of both streams."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends.bridge import Bridge, cupy_for

if TYPE_CHECKING:
    from varlen.backends.table import Backend


class NumbaBridge(Bridge):
    """Device arrays of Numba: the verbs of CuPy on their memory, which is shared both ways."""

    def __init__(self, kind: type, look_up: Callable[[Any], Backend]) -> None:
        super().__init__("Numba", kind, look_up)

    def to_library(self, x: Any) -> Any:
        """An array as one of CuPy, whose current stream waits for that of the array by an event."""
        cupy = cupy_for("an array of Numba")
        spec = x.__cuda_array_interface__
        address, size = spec["data"][0], x.size * x.dtype.itemsize
        memory = cupy.cuda.UnownedMemory(address, size, x)
        pointer = cupy.cuda.MemoryPointer(memory, 0)
        array = cupy.ndarray(tuple(spec["shape"]), np.dtype(spec["typestr"]), pointer, spec.get("strides"))
        stream, current = spec.get("stream"), cupy.cuda.get_current_stream()
        if stream is not None and stream != current.ptr:
            current.wait_event(cupy.cuda.ExternalStream(stream).record())
        return array

    def from_library(self, array: Any) -> Any:
        """An array of Numba over the memory of CuPy's, for which the default stream waits by an event."""
        from numba import cuda

        cupy = cupy_for("an array of Numba")
        current = cupy.cuda.get_current_stream()
        if current.ptr != cupy.cuda.Stream.null.ptr:
            cupy.cuda.Stream.null.wait_event(current.record())
        wrap: Any = cuda.as_cuda_array  # has no types
        return wrap(array, sync=False)
