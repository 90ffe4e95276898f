"""Blocks of memory that batches are written into before they go to a device."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Protocol

from varlen import _core

if TYPE_CHECKING:
    import torch

__all__: list[str] = []

# A block is made larger than needed by this share: batches differ.
_SLACK = 0.25
_LEAST = 1 << 16


class Block(Protocol):
    """Memory of the host, for one batch."""

    bytes: torch.Tensor
    is_pinned: bool

    def sent(self) -> None:
        """The copy to a device was put on the current stream."""

    def dropped(self) -> None:
        """Nothing was copied."""


class Staging(Protocol):
    """Where blocks come from."""

    def take(self, nbytes: int) -> Block: ...


class OwnBlock:
    """Memory that nobody else waits for."""

    def __init__(self, memory: torch.Tensor, is_pinned: bool = False) -> None:
        self.bytes, self.is_pinned = memory, is_pinned

    def sent(self) -> None:
        """Nothing to do: torch keeps pinned memory until it was copied."""

    def dropped(self) -> None:
        """Nothing to do."""


class OwnStaging:
    """Fresh memory for every batch; in a worker of a DataLoader memory that it shares with its parent."""

    def take(self, nbytes: int) -> OwnBlock:
        """A block of exactly so many bytes."""
        import torch
        from torch.utils.data import get_worker_info

        if get_worker_info() is None:
            return OwnBlock(torch.empty(nbytes, dtype=torch.uint8))
        # As default_collate does: a tensor that is sent would be copied there.
        storage = torch.UntypedStorage._new_shared(nbytes)
        return OwnBlock(torch.empty(0, dtype=torch.uint8).set_(storage))


class RingBlock:
    """A pinned buffer of a ring, taken until the device has read it."""

    is_pinned = True

    def __init__(self, ring: Ring) -> None:
        import torch

        self._ring = ring
        self._memory = torch.empty(0, dtype=torch.uint8)
        self.bytes = self._memory
        self.event: Any = None  # recorded behind the copy; None: there was none

    def fit(self, nbytes: int) -> None:
        """Have so many bytes."""
        import torch

        if self._memory.numel() < nbytes:
            size = max(nbytes + int(nbytes * _SLACK), _LEAST)
            self._memory = torch.empty(size, dtype=torch.uint8, pin_memory=True)
        self.bytes = self._memory[:nbytes]

    def sent(self) -> None:
        """Wait for the copy that was put on the current stream, then be of use again."""
        import torch

        event = torch.Event(self._ring.device)
        event.record(torch.accelerator.current_stream(self._ring.device))
        self._ring.put(self, event)

    def dropped(self) -> None:
        """Be of use again at once."""
        self._ring.put(self, None)


class Ring:
    """Pinned buffers that are used in turn: each is free once the device has copied what was in it.

    Who takes one waits for the device where all are on their way, and for other threads where all are being
    written.

    Parameters
    ----------
    device
        That reads them.
    count
        Of buffers.
    """

    def __init__(self, device: torch.device, count: int = 2) -> None:
        self.device = device
        self._missing = count  # buffers that nobody has needed yet
        self._free: list[RingBlock] = []  # the one that was sent first comes first
        self._changed = threading.Condition()

    def take(self, nbytes: int) -> RingBlock:
        """A buffer of at least so many bytes, which nobody reads."""
        with self._changed:
            while True:
                block = next((one for one in self._free if one.event is None or one.event.query()), None)
                if block is not None:
                    self._free.remove(block)
                    block.event = None
                    break
                if self._missing:
                    self._missing -= 1
                    block = RingBlock(self)
                    break
                if self._free:
                    block = self._free.pop(0)
                    break
                self._changed.wait()
        try:
            if block.event is not None:
                block.event.synchronize()
                block.event = None
            block.fit(nbytes)
        except BaseException:
            block.dropped()
            raise
        return block

    def put(self, block: RingBlock, event: Any) -> None:
        """Give a buffer back, free once the event has come."""
        with self._changed:
            block.event = event
            self._free.append(block)
            self._changed.notify()


_rings: dict[torch.device, Ring] = {}
_making = threading.Lock()
_parent_used_it = False


def ring_of(device: torch.device) -> Ring:
    """The ring of all batches that go to a device one at a time."""
    with _making:
        if device not in _rings:
            _rings[device] = Ring(device)
        return _rings[device]


def _forget_after_fork() -> None:
    global _parent_used_it, _making
    _parent_used_it = _parent_used_it or bool(_rings)
    _making = threading.Lock()
    _rings.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def usable_device(name: str) -> torch.device:
    """The device of torch that has this name, with its number.

    Raises
    ------
    RuntimeError
        CUDA cannot be used here; what is missing is said.
    ValueError
        There is no device of that number.
    """
    import torch

    import varlen.backends.torch  # makes tensors known to the core

    if _parent_used_it:
        raise RuntimeError(
            "device: CUDA cannot be used in a forked child of a process that used it; spawn it instead"
        )
    if not _core.has_kernels():
        raise RuntimeError(f"device: {varlen.cuda.status()}")
    count = torch.accelerator.device_count()
    if count == 0:
        raise RuntimeError(f"device: torch {torch.__version__} sees no CUDA device")
    device = torch.device(name)
    if device.index is None:
        return torch.device("cuda", torch.accelerator.current_device_index())
    if device.index >= count:
        raise ValueError(f"device: expected one of cuda:0 to cuda:{count - 1}, got {name}")
    return device
