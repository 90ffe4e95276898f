"""JAX's arrays: on the CPU as NumPy sees them, on a CUDA device as CuPy does, both through DLPack."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.backends.bridge import Bridge, cupy_for
from varlen.errors import overflow_error, type_error

if TYPE_CHECKING:
    from varlen.backends.table import Backend


class JaxBridge(Bridge):
    """Arrays of JAX, which nobody writes: the verbs of NumPy or CuPy, results through DLPack."""

    def __init__(self, jax: Any, look_up: Callable[[Any], Backend]) -> None:
        super().__init__("JAX", jax.Array, look_up, mutable=False)
        self.jax = jax

    def to_library(self, x: Any) -> Any:
        """An array of the CPU as one of NumPy, one of a device as CuPy's, which orders their streams."""
        if isinstance(x, self.jax.core.Tracer):
            raise type_error(
                "", "varlen cannot read an array that JAX traces: call it outside of jit and grad"
            )
        if _is_on_cpu(x):
            return np.asarray(x)
        return cupy_for(f"an array of JAX on {self.device_of(x)}").from_dlpack(x)

    def from_library(self, array: Any) -> Any:
        """An array of JAX; where JAX has no numbers of 64 bits, in 32."""
        if not isinstance(array, np.ndarray):
            return self.jax.dlpack.from_dlpack(array)
        narrow = array.dtype.kind in "iu" and array.itemsize == 8 and not self.jax.config.jax_enable_x64
        if narrow and array.size:
            limits = np.iinfo(array.dtype.str.replace("8", "4"))
            if array.max() > limits.max or array.min() < limits.min:
                raise overflow_error(
                    "", f"the result holds {array.max()}, which JAX's 32 bits cannot", "set jax_enable_x64"
                )
        if array.flags.writeable and array.dtype.isnative and array.dtype.kind in "biufc":
            return self.jax.dlpack.from_dlpack(array)
        return self.jax.numpy.array(array)

    def device_of(self, values: Any) -> str:
        """Where values are, as torch says it."""
        device = next(iter(values.devices()))
        return "cpu" if device.platform == "cpu" else f"cuda:{device.id}"

    def to_device(self, values: Any, device: Any, non_blocking: bool = False) -> Any:
        """Values on a device, by its name or as JAX has it: themselves where they lie there."""
        if isinstance(device, str):
            if device == self.device_of(values):
                return values
            kind, _, number = device.partition(":")
            device = self.jax.devices(kind)[int(number or 0)]
        return self.jax.device_put(values, device)

    def to_state(self, values: Any) -> Any:
        """What a pickle holds of values: themselves."""
        return values


def _is_on_cpu(x: Any) -> bool:
    return all(device.platform == "cpu" for device in x.devices())
