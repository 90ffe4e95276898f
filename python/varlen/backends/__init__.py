"""What runs a verb on one kind of values: NumPy's arrays, torch's tensors, arrays of CuPy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import tracing
from varlen._core import Level
from varlen.backends import arrays

if TYPE_CHECKING:
    from varlen.backends.table import Backend

__all__ = ["backend_of", "cupy_backend"]

# What is asked of most, and is never of another library.
_OF_NUMPY = (np.ndarray, Level, list, tuple, int, float, bool, type(None), np.int64, np.float32, np.float64)
_BACKENDS: dict[type, Backend] = dict.fromkeys(_OF_NUMPY, cast("Backend", arrays))


def backend_of(first: Any, *others: Any) -> Backend:
    """The backend that values belong to: the first of another library than NumPy says which.

    torch's is that of its dtypes as well. CuPy's has the arrays of CuPy.

    While torch.compile traces a function, torch's is the one that a graph can hold.
    """
    try:
        backend = _BACKENDS[type(first)]
    except KeyError:
        backend = _look_up(first)
    if others:
        for other in others:
            if backend is arrays:
                backend = _BACKENDS.get(type(other)) or _look_up(other)
    if backend is arrays or not tracing.is_tracing():
        return backend
    tracing.tensors.trace_from_callers()
    return _graph_backend()


def cupy_backend(cupy: Any) -> Backend:
    """The backend of CuPy's arrays, by the module."""
    if cupy.ndarray not in _BACKENDS:
        from varlen.backends.cupy import make_known

        _BACKENDS[cupy.ndarray] = cast("Backend", make_known(cupy))
    return _BACKENDS[cupy.ndarray]


def _graph_backend() -> Backend:
    from varlen.backends.torch import graph

    backend: Any = graph
    return cast("Backend", backend)


def _look_up(values: Any) -> Backend:
    """Of a type that was not seen before. Libraries are looked for among loaded modules, never imported."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, (torch.Tensor, torch.dtype, tracing.TracedLevel)):
        from varlen.backends import torch as tensors

        _graph_backend()  # it says whether a function is traced
        _BACKENDS[type(values)] = tensors
        return tensors
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(values, cupy.ndarray):
        _BACKENDS[type(values)] = cupy_backend(cupy)
        return _BACKENDS[type(values)]
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(values, jax.Array):
        from varlen.backends.jax import JaxBridge

        _BACKENDS[type(values)] = cast("Backend", JaxBridge(jax, backend_of))
        return _BACKENDS[type(values)]
    if type(values).__name__ == "DeviceNDArray" and hasattr(values, "__cuda_array_interface__"):
        from varlen.backends.numba import NumbaBridge

        _BACKENDS[type(values)] = cast("Backend", NumbaBridge(type(values), backend_of))
        return _BACKENDS[type(values)]
    return arrays
