"""Devices of CuPy: memory of its pool, its current streams."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen.arguments import as_dtype
from varlen.backends import cupy_backend
from varlen.backends.bridge import cupy_for
from varlen.data.devices.device import number_of
from varlen.errors import as_record, type_error, value_error

if TYPE_CHECKING:
    from varlen.data.batch import Batch

__all__: list[str] = []


def kind_name(name: str, dtype: np.dtype, torch_name: str | None) -> str:
    """What CuPy calls the dtype of numbers; bits that NumPy has no name for stay bits."""
    if dtype.char in "gG" or (dtype.kind not in "biufc" and dtype.name != "bfloat16"):
        raise type_error("framework", f"CuPy has no dtype for {dtype}, that of {name!r}")
    result: str = dtype.name
    return result


class CupyDevice:
    """A CUDA device as CuPy has it."""

    def __init__(self, name: str) -> None:
        try:
            self.xp = cupy = cupy_for("device: a batch without torch")
        except TypeError as error:
            raise as_record(error, RuntimeError) from None
        self._library = cupy_backend(cupy).library  # type: ignore[attr-defined]
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError:
            count = 0
        self.number = number_of(name, count, lambda: int(cupy.cuda.Device().id) if count else 0)
        if count == 0:
            raise RuntimeError(f"device: CuPy {cupy.__version__} sees no CUDA device")
        self.name = f"cuda:{self.number}"
        self._streams: tuple[Any, Any] | None = None  # the loop's stream, and the one of batches on their way

    def for_side_stream(self, loop: Any, side: Any) -> CupyDevice:
        """The same for what is put on `side` and taken by `loop`."""
        device = object.__new__(CupyDevice)
        device.__dict__.update(self.__dict__)
        device._streams = loop, side
        return device

    def guard(self) -> contextlib.AbstractContextManager[Any]:
        """The current device is this one."""
        guard: contextlib.AbstractContextManager[Any] = self._library.guard(self.number)
        return guard

    def kind(self, name: str) -> np.dtype:
        """The dtype of this name."""
        return as_dtype(name, "framework")

    @contextlib.contextmanager
    def on_loop(self) -> Iterator[None]:
        """Memory is of the pool's part for the loop's stream, where it is of use again in its order."""
        with self.guard(), contextlib.nullcontext() if self._streams is None else self._streams[0]:
            yield

    def empty(self, shape: tuple[int, ...], kind: Any) -> Any:
        """Fresh memory, for whoever takes the batch."""
        with self.on_loop():
            try:
                return self.xp.empty(shape, kind)
            except TypeError:
                raise type_error("framework", f"CuPy has no dtype for {kind}") from None

    def scratch(self, nbytes: int) -> Any:
        """Fresh bytes, of the part for the current stream."""
        with self.guard():
            return self.xp.empty(nbytes, np.uint8)

    def ready(self) -> None:
        """Wait for what the loop did with memory of its part before that came here."""
        if self._streams is not None:
            loop, side = self._streams
            with self.guard():
                side.wait_event(loop.record())

    def view(self, memory: Any, place: int, shape: tuple[int, ...], kind: Any) -> Any:
        """An array that lies in bytes."""
        with self.guard():
            return memory[place : place + math.prod(shape) * kind.itemsize].view(kind).reshape(shape)

    def check_out(self, array: Any, argument: str, shape: tuple[int, ...], kind: Any) -> Any:
        """The front of an array that is written, in the shape that it gets."""
        if not isinstance(array, self.xp.ndarray):
            raise type_error(
                argument, f"expected an array of CuPy on {self.name}, got {type(array).__name__}"
            )
        where = self._library.name_of_device(array)
        if where != self.name:
            raise value_error(argument, f"expected an array on {self.name}, got one on {where}")
        if array.dtype != kind:
            raise type_error(argument, f"has dtype {array.dtype}, the batch gives {kind}")
        count = math.prod(shape)
        if not array.flags.c_contiguous:
            raise value_error(argument, "must be contiguous")
        if array.size < count:
            raise value_error(argument, f"has room for {array.size} entries, the batch needs {count}")
        with self.guard():
            return array if array.shape == shape else array.reshape(-1)[:count].reshape(shape)

    def address(self, array: Any) -> int:
        """Of the memory of an array."""
        return int(array.data.ptr)

    def assign(self, array: Any, source: Any) -> None:
        """Write an array."""
        with self.guard():
            array[...] = self.xp.asarray(source)

    def parts(self, array: Any) -> Any:
        """Parts of a batch, as they are."""
        return array

    def lane(self) -> CupyLane:
        """A stream of its own."""
        return CupyLane(self)


class _Transfer(NamedTuple):
    batch: Batch[Any]
    event: Any


# Streams that no loop has: CuPy's pool has a part for each stream that ever was.
_idle: dict[int, list[Any]] = {}


class CupyLane:
    """A stream of CuPy. The pool gives memory of one stream without asking what others still do with it, so
    batches lie in the part of the loop's stream, and what is written there first waits for that.
    """

    def __init__(self, device: CupyDevice) -> None:
        self._device = device
        streams = _idle.setdefault(device.number, [])
        with device.guard():
            self._side = streams.pop() if streams else device.xp.cuda.Stream(non_blocking=True)
        self._loop: Any = None  # of the last batch that was sent and not received

    def _current(self) -> Any:
        return self._device.xp.cuda.get_current_stream()

    def send(self, move: Callable[[CupyDevice], Batch[Any]]) -> _Transfer:
        """Put a batch on its way."""
        with self._device.guard():
            self._loop = self._current()
            with self._side:
                return _Transfer(
                    move(self._device.for_side_stream(self._loop, self._side)), self._side.record()
                )

    def receive(self, transfer: _Transfer) -> Batch[Any]:
        """The batch, for the loop's stream."""
        with self._device.guard():
            self._current().wait_event(transfer.event)
        return transfer.batch

    def close(self) -> None:
        """Memory of batches that nobody received is the loop's again."""
        if self._loop is not None:
            with self._device.guard():
                self._loop.wait_event(self._side.record())
        _idle[self._device.number].append(self._side)
