"""Host memory for batches before they go to a device."""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from varlen import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__: list[str] = []

# A block is made larger than needed by this share: batches differ.
_SLACK = 0.25
_LEAST = 1 << 16


class Block(Protocol):
    """Memory of the host, for one batch."""

    @property
    def array(self) -> NDArray[np.uint8]:
        """Its bytes."""

    def give_back(self) -> None:
        """Nobody reads it any more, but a device that is doing so."""


class BlockSource(Protocol):
    """Where blocks come from."""

    def take(self, nbytes: int) -> Block: ...


class OwnBlock:
    """Memory that nobody else waits for."""

    def __init__(self, array: NDArray[np.uint8]) -> None:
        self.array = array

    def give_back(self) -> None:
        """Nothing to do."""


class FreshBlocks:
    """Fresh memory for every batch."""

    def take(self, nbytes: int) -> OwnBlock:
        """A block of exactly so many bytes."""
        return OwnBlock(np.empty(nbytes, np.uint8))


class PinnedBlock:
    """A pinned buffer of a ring, taken until it is given back and the device has read it."""

    def __init__(self, ring: Ring, memory: _core.PinnedMemory, nbytes: int) -> None:
        self._ring = ring
        self._memory: _core.PinnedMemory | None = memory
        self.array: NDArray[np.uint8] = memory.bytes[:nbytes]

    def send(self, target: object, non_blocking: bool = True) -> None:
        """Copy it to memory of the device, on the current stream."""
        assert self._memory is not None
        self._memory.send(target, len(self.array))
        if not non_blocking:
            self._memory.wait()

    def give_back(self) -> None:
        """Be of use again, once the device has copied what is in it."""
        memory, self._memory = self._memory, None
        if memory is not None:
            self._ring.put(memory)

    __del__ = give_back

    def __reduce__(self) -> tuple[Any, ...]:
        return OwnBlock, (self.array.copy(),)


class Ring:
    """Pinned buffers that are used in turn: each is free once the device has copied it.

    `take` waits for the device if all are on their way, and for other threads if all are being written. The
    CUDA runtime supplies the memory, so no array library is needed.
    """

    def __init__(self, device: int, count: int | None = 2) -> None:
        self.device = device
        self._missing: float = math.inf if count is None else count  # buffers that nobody has needed yet
        self._free: list[_core.PinnedMemory] = []  # the one that was sent first comes first
        self._change = threading.Condition()
        self._process = os.getpid()

    def take(self, nbytes: int) -> PinnedBlock:
        """A buffer of at least so many bytes, which nobody reads."""
        memory = self._next_buffer()
        try:
            if memory is not None:
                if not memory.is_free():
                    memory.wait()
                if len(memory.bytes) < nbytes:
                    memory = None
            if memory is None:
                memory = _core.PinnedMemory(self.device, max(nbytes + int(nbytes * _SLACK), _LEAST))
        except BaseException:
            self.put(memory)
            raise
        return PinnedBlock(self, memory, nbytes)

    def _next_buffer(self) -> _core.PinnedMemory | None:
        """A buffer that is free, or will be once the device has read it; None: one that is yet to be made."""
        with self._change:
            while True:
                memory = next((one for one in self._free if one.is_free()), None)
                if memory is not None:
                    self._free.remove(memory)
                    return memory
                if self._missing:
                    self._missing -= 1
                    return None
                if self._free:
                    return self._free.pop(0)
                self._change.wait()

    def put(self, memory: _core.PinnedMemory | None) -> None:
        """Give a buffer back, or the right to make one."""
        if os.getpid() != self._process:
            return  # its parent's, as is a thread that may hold the lock
        with self._change:
            if memory is None:
                self._missing += 1
            else:
                self._free.append(memory)
            self._change.notify()


_rings: dict[tuple[int, int | None], Ring] = {}
_block_lock = threading.Lock()
_parent_used_it = False


def ring_of(device: int, count: int | None = 2) -> Ring:
    """The ring of all batches that go to a device one at a time; with a count of None of those that are
    pinned on their own.
    """
    with _block_lock:
        key = device, count
        if key not in _rings:
            _rings[key] = Ring(device, count)
        return _rings[key]


def refuse_child() -> None:
    """Refuse a child of a process that has used a device."""
    if _parent_used_it:
        raise RuntimeError(
            "device: CUDA cannot be used in a forked child of a process that used it; spawn it instead"
        )


def _forget_after_fork() -> None:
    global _parent_used_it, _block_lock
    _parent_used_it = _parent_used_it or bool(_rings)
    _block_lock = threading.Lock()
    _rings.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
