"""Pickle batches with their arrays and tensors as separate buffers, for shared memory."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from varlen.backends.values import is_tensor

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

_PROTOCOL = 5


class _Pickler(ForkingPickler):
    def __init__(self, value: Any, *how: Any) -> None:
        super().__init__(*how)
        self._base = value

    def reducer_override(self, value: Any) -> Any:
        """How a value is pickled, where it is not in its own way."""
        if value is self._base:
            return value.__reduce_ex__(_PROTOCOL)  # what is registered for its class led here
        if type(value) is np.ndarray:
            if value.dtype.kind in "mM":  # which have no buffers
                return _as_times, (value.view(np.int64), value.dtype.str)
            if value.flags.forc or value.dtype.hasobject:
                return NotImplemented
            return np.asarray, (np.ascontiguousarray(value),)
        bits = _bits_of(value)
        if bits is None:
            return NotImplemented
        return _as_tensor, (bits, str(value.dtype).removeprefix("torch."))


def pickle_batch(batch: object, buffer: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """A batch as bytes, for `pickle.loads`."""
    stream = io.BytesIO()
    _Pickler(batch, stream, _PROTOCOL, True, buffer).dump(batch)
    return stream.getvalue()


def _bits_of(value: Any) -> Array | None:
    """The memory of a plain tensor; None for all else."""
    if not is_tensor(value) or value.requires_grad or value.device.type != "cpu" or value.is_quantized:
        return None
    import torch

    if (
        type(value) is not torch.Tensor
        or value.layout is not torch.strided
        or value.is_conj()
        or value.is_neg()
    ):
        return None
    from varlen.backends.torch.memory import as_numpy

    return np.ascontiguousarray(as_numpy(value)).reshape(tuple(value.shape))


def _as_times(array: Array, dtype: str) -> Array:
    return array.view(dtype)


def _as_tensor(array: Array, name: str) -> Any:
    import torch

    from varlen.backends.torch.memory import tensor_of

    dtype = getattr(torch, name)
    tensor = tensor_of(array)
    return tensor if tensor.dtype == dtype else tensor.view(dtype)
