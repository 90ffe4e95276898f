"""CuPy's arrays: their devices and streams, and how the core gets at them. Reached once one has come."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import cupy
import numpy as np

from varlen import cuda
from varlen._core import know_arrays, load_kernels_by
from varlen.backends.namespace import Library, NamespaceBackend

if TYPE_CHECKING:
    from numpy.typing import NDArray


class CupyLibrary(Library):
    """CuPy: memory from its pool, work on its current stream.

    Examples
    --------
    >>> import cupy  # doctest: +SKIP
    >>> CupyLibrary(cupy).name_of_device(cupy.zeros(1))  # doctest: +SKIP
    'cuda:0'
    """

    def to_host(self, x: Any) -> NDArray[Any]:
        """The numbers of an array, as one of NumPy: waits for the stream."""
        array: NDArray[Any] = cupy.asnumpy(x)
        return array

    def name_of_device(self, x: Any) -> str:
        """Where an array lies, as torch says it."""
        return f"cuda:{x.device.id}"

    def beside(self, x: Any) -> contextlib.AbstractContextManager[Any]:
        """Where new arrays lie on the device of another."""
        device: contextlib.AbstractContextManager[Any] = (
            contextlib.nullcontext() if x is None else cupy.cuda.Device(x.device.id)
        )
        return device

    def to_device(self, x: Any, device: Any, non_blocking: bool) -> Any:
        """An array on a device: itself where it lies there; as one of NumPy on the CPU."""
        number = _device_number(device)
        if number is None:
            return cupy.asnumpy(x, blocking=False) if non_blocking else cupy.asnumpy(x)
        if number == x.device.id:
            return x
        with cupy.cuda.Device(number):
            return x.copy()


def _device_number(device: Any) -> int | None:
    """Which device is meant; None is the CPU.

    Raises
    ------
    ValueError
        It names neither.
    """
    if isinstance(device, (int, np.integer)) and not isinstance(device, bool):
        return int(device)
    if isinstance(device, cupy.cuda.Device):
        return int(device.id)
    kind, _, number = str(device).partition(":")
    if kind == "cpu":
        return None
    if kind != "cuda" or (number and not number.isdecimal()):
        raise ValueError(f"device: expected 'cpu', 'cuda' or 'cuda:N', got {device!r}")
    return int(number) if number else int(cupy.cuda.Device().id)


def _empty(shape: tuple[int, ...], dtype: Any, device: int) -> Any:
    with cupy.cuda.Device(device):
        return cupy.empty(shape, dtype)


def _contiguous(array: Any) -> Any:
    with cupy.cuda.Device(array.device.id):
        return cupy.ascontiguousarray(array)


def _current(array: Any) -> tuple[int, int]:
    device = array.device.id
    return device, cupy.cuda.get_current_stream(device).ptr


load_kernels_by(cuda.load)
know_arrays(cupy.ndarray, _empty, _contiguous, _current)
backend = NamespaceBackend(CupyLibrary(cupy))
