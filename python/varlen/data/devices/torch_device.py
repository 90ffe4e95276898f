"""Devices of torch: memory of its allocator, its current streams."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

import varlen.backends.torch  # noqa: F401  # makes tensors known to the core
from varlen.data.devices.device import number_of
from varlen.errors import type_error, value_error

if TYPE_CHECKING:
    import numpy as np

    from varlen.data.batch import Batch

__all__: list[str] = []


def kind_name(name: str, dtype: np.dtype, torch_name: str | None) -> str:
    """What torch calls the dtype of numbers."""
    result = torch_name or dtype.name
    if not isinstance(getattr(torch, result, None), torch.dtype):
        raise type_error("framework", f"torch has no dtype for {dtype}, that of {name!r}")
    return result


class TorchDevice:
    """A CUDA device as torch has it."""

    def __init__(self, name: str) -> None:
        count = torch.accelerator.device_count()
        self.number = number_of(name, count, torch.accelerator.current_device_index if count else lambda: 0)
        if count == 0:
            raise RuntimeError(f"device: torch {torch.__version__} sees no CUDA device")
        self.device = torch.device("cuda", self.number)

    def kind(self, name: str) -> torch.dtype:
        """The dtype of this name."""
        dtype: torch.dtype = getattr(torch, name)
        return dtype

    def on_loop(self) -> contextlib.AbstractContextManager[Any]:
        """Anywhere: the allocator knows on which stream it gave memory."""
        return contextlib.nullcontext()

    def empty(self, shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
        """Fresh memory."""
        memory: torch.Tensor = torch.empty(shape, dtype=kind, device=self.device)
        return memory

    def scratch(self, nbytes: int) -> torch.Tensor:
        """Fresh bytes."""
        return self.empty((nbytes,), torch.uint8)

    def ready(self) -> None:
        """Nothing to do, as for `on_loop`."""

    def view(
        self, memory: torch.Tensor, place: int, shape: tuple[int, ...], kind: torch.dtype
    ) -> torch.Tensor:
        """A tensor that lies in bytes."""
        end = place + math.prod(shape) * kind.itemsize
        tensor: torch.Tensor = memory[place:end].view(kind).view(shape)
        return tensor

    def check_out(self, array: Any, argument: str, shape: tuple[int, ...], kind: torch.dtype) -> torch.Tensor:
        """The front of a tensor that is written, in the shape that it gets."""
        if not isinstance(array, torch.Tensor):
            raise type_error(argument, f"expected a tensor on {self.device}, got {type(array).__name__}")
        if array.device != self.device:
            raise value_error(argument, f"expected a tensor on {self.device}, got one on {array.device}")
        if array.dtype != kind:
            raise type_error(argument, f"has dtype {array.dtype}, the batch gives {kind}")
        count = math.prod(shape)
        if not array.is_contiguous():
            raise value_error(argument, "must be contiguous")
        if array.numel() < count:
            raise value_error(argument, f"has room for {array.numel()} entries, the batch needs {count}")
        return array if tuple(array.shape) == shape else array.detach().view(-1)[:count].view(shape)

    def address(self, array: torch.Tensor) -> int:
        """Of the memory of a tensor."""
        return int(array.data_ptr())

    def assign(self, array: torch.Tensor, source: Any) -> None:
        """Write a tensor."""
        array.copy_(torch.as_tensor(source), non_blocking=True)

    def parts(self, array: torch.Tensor) -> torch.Tensor:
        """Parts of a batch as int64: torch takes uint8 for a mask."""
        numbers: torch.Tensor = array.to(torch.int64)
        return numbers

    def lane(self) -> TorchLane:
        """A stream of its own."""
        return TorchLane(self)


class TorchLane:
    """A torch stream; its allocator keeps arrays until the loop's stream is done with them."""

    def __init__(self, device: TorchDevice) -> None:
        self._device = device
        self._side = torch.Stream(device.device)

    def send(self, move: Callable[[TorchDevice], Batch[torch.Tensor]]) -> tuple[Batch[torch.Tensor], Any]:
        """Put a batch on its way."""
        with self._side:
            return move(self._device), self._side.record_event()

    def receive(self, transfer: tuple[Batch[torch.Tensor], Any]) -> Batch[torch.Tensor]:
        """The batch, for the loop's stream."""
        batch, event = transfer
        stream = torch.accelerator.current_stream(self._device.device)
        stream.wait_event(event)
        batch.record_stream(stream)
        return batch

    def close(self) -> None:
        """Nothing to do."""
