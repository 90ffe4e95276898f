"""CuPy's arrays: their devices and streams, and how the core gets at them. Reached once one has come."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from varlen import cuda
from varlen._core import register
from varlen.backends.namespace import Library, NamespaceBackend
from varlen.errors import value_error


class CupyLibrary(Library):
    """CuPy: memory from its pool, work on its current stream."""

    def to_host(self, x: Any) -> np.ndarray:
        """The numbers of an array, as one of NumPy: waits for the stream."""
        array: np.ndarray = self.xp.asnumpy(x)
        return array

    def name_of_device(self, x: Any) -> str:
        """Where an array lies, as torch says it."""
        return f"cuda:{x.device.id}"

    def device_of(self, x: Any) -> contextlib.AbstractContextManager[Any]:
        """Where new arrays lie on the device of another."""
        return contextlib.nullcontext() if x is None else self.guard(x.device.id)

    def guard(self, device: int) -> contextlib.AbstractContextManager[Any]:
        """Where new arrays lie on a device."""
        guard: contextlib.AbstractContextManager[Any] = self.xp.cuda.Device(device)
        return guard

    def at_named(self, device: Any) -> contextlib.AbstractContextManager[Any]:
        """Where new arrays lie on a device by its name, its number or a `cupy.cuda.Device`."""
        number = self.number_of(device)
        count = int(self.xp.cuda.runtime.getDeviceCount())
        if number is None or not 0 <= number < count:
            raise value_error("device", f"expected one of cuda:0 to cuda:{count - 1}, got {device!r}")
        return self.guard(number)

    def to_device(self, x: Any, device: Any, non_blocking: bool) -> Any:
        """An array on a device: itself where it lies there; as one of NumPy on the CPU."""
        number = self.number_of(device)
        if number is None:
            return self.xp.asnumpy(x, blocking=False) if non_blocking else self.xp.asnumpy(x)
        if number == x.device.id:
            return x
        with self.guard(number):
            return x.copy()

    def number_of(self, device: Any) -> int | None:
        """Which device is meant; None is the CPU."""
        if isinstance(device, (int, np.integer)) and not isinstance(device, bool):
            return int(device)
        if isinstance(device, self.xp.cuda.Device):
            return int(device.id)
        kind, _, number = str(device).partition(":")
        if kind == "cpu":
            return None
        if kind != "cuda" or (number and not number.isdecimal()):
            raise value_error("device", f"expected 'cpu', 'cuda' or 'cuda:N', got {device!r}")
        return int(number) if number else int(self.xp.cuda.Device().id)

    def empty(self, shape: tuple[int, ...], dtype: Any, device: int) -> Any:
        """Fresh memory on a device."""
        with self.guard(device):
            return self.xp.empty(shape, dtype)

    def contiguous(self, x: Any) -> Any:
        """An array laid end to end, where it lies."""
        with self.device_of(x):
            return self.xp.ascontiguousarray(x)

    def current(self, x: Any) -> tuple[int, int]:
        """The device of an array, and the stream that CuPy works on there."""
        device = x.device.id
        return device, self.xp.cuda.get_current_stream(device).ptr


def make_known(cupy: Any) -> NamespaceBackend:
    """The backend of CuPy's arrays, which the core takes from now on."""
    library = CupyLibrary(cupy)
    register(load_kernels=cuda.load, array_library=library)
    return NamespaceBackend(library)
