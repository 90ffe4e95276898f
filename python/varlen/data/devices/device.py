"""What a device of any library gives."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, Protocol

import varlen.cuda
from varlen import _core
from varlen.errors import value_error

__all__: list[str] = []


class Device(Protocol):
    """A device of a library of arrays. What an array has as its dtype is the library's `kind`."""

    number: int

    def kind(self, name: str) -> Any:
        """The library's dtype of this name, as `kind_name` gave it."""

    def on_loop(self) -> contextlib.AbstractContextManager[Any]:
        """Where memory is made that whoever takes the batch keeps."""

    def empty(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Fresh memory, for whoever takes the batch."""

    def scratch(self, nbytes: int) -> Any:
        """Fresh bytes that only the current stream uses."""

    def ready(self) -> None:
        """What comes now on the current stream writes to what `empty` gave."""

    def view(self, memory: Any, place: int, shape: tuple[int, ...], kind: Any) -> Any:
        """An array that lies in bytes."""

    def check_out(self, array: Any, argument: str, shape: tuple[int, ...], kind: Any) -> Any:
        """The front of an array that is written, in the shape that it gets."""

    def address(self, array: Any) -> int:
        """Of the memory of an array."""

    def assign(self, array: Any, source: Any) -> None:
        """Write an array: with one that lies there, or with one of NumPy."""

    def parts(self, array: Any) -> Any:
        """Parts of a batch, bytes, as the library takes them."""

    def lane(self) -> Lane:
        """A stream of its own for batches on their way."""


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
