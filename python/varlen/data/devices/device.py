"""The interface of a device of any library."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

import varlen.cuda
from varlen import _core
from varlen.errors import value_error

__all__: list[str] = []


class Device(Protocol):
    """A device of an array library. `kind` is the library's dtype."""

    number: int

    def kind(self, name: str) -> Any:
        """The library's dtype of this name, as `kind_name` gave it."""

    def on_loop(self) -> contextlib.AbstractContextManager[Any]:
        """A context in which to make memory that belongs to the loop."""

    def empty(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Fresh memory for the loop."""

    def scratch(self, nbytes: int) -> Any:
        """Fresh bytes that only the current stream uses."""

    def ready(self) -> None:
        """Called before work on the current stream writes to memory from `empty`."""

    def view(self, memory: Any, place: int, shape: tuple[int, ...], kind: Any) -> Any:
        """An array that lies in bytes."""

    def check_out(self, array: Any, argument: str, shape: tuple[int, ...], kind: Any) -> Any:
        """The front of an array that is written, in the shape that it gets."""

    def address(self, array: Any) -> int:
        """The address of an array's memory."""

    def assign(self, array: Any, source: Any) -> None:
        """Write an array from one on the device, or from NumPy's."""

    def parts(self, array: Any) -> Any:
        """Parts of a batch, bytes, in the form that the library takes."""

    def lane(self) -> Lane:
        """A separate stream for batches on their way."""


class Lane(Protocol):
    """A stream on which batches go to a device while the loop works on the one before."""

    def send(self, move: Callable[[Device], Any]) -> Any:
        """Put a batch on its way: `move` does it on the current stream."""

    def receive(self, transfer: Any) -> Any:
        """The batch that was sent, for the loop's stream, which waits for it."""

    def close(self) -> None:
        """Nothing more is sent or received."""


def number_of(name: str, count: int, current: Callable[[], int]) -> int:
    """The number of a device that kernels run on, of so many."""
    if not _core.has_kernels():
        raise RuntimeError(f"device: {varlen.cuda.status()}")
    number = name.partition(":")[2]
    if not number:
        return current()
    if int(number) >= count:
        raise value_error("device", f"expected one of cuda:0 to cuda:{count - 1}, got {name}")
    return int(number)
