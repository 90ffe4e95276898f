"""Batches from worker processes of a DataLoader to the process that asked for them, in memory both share.

A worker puts all arrays of a batch into one block of shared memory and sends their places. The parent maps a
block once, and the worker reuses it as soon as nobody holds a batch in it: nothing is allocated, no page is
touched for the first time, and no file descriptor travels or is kept. If there is no room for a block, its
arrays go through the pipe.
"""

from __future__ import annotations

import atexit
import contextlib
import glob
import os
import pickle
import secrets
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from varlen import _core
from varlen.data.batch import Batch
from varlen.errors import with_record_type

__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

_FOLDER = "/dev/shm"
_PREFIX = "varlen-batch-"
_PAGE = 4096

#: Arrays begin where the cores like them to, and behind the words that say who has the block.
_ALIGN = 64

#: Free blocks that a worker keeps.
_SPARE = 4

#: Of the first word of a block: nobody has it, a batch lies in it, the worker has closed it.
_FREE, _TAKEN = 0, 1

#: A file that nobody took in this many seconds was left by a process that was killed.
_STALE = 86400.0


class _Memory:
    """A file in memory, mapped."""

    def __init__(self, fd: int, size: int) -> None:
        self.bytes: Array = _core.shared_bytes(fd, size)  # mmap of Python's keeps a descriptor
        self.state = self.bytes[:8].view(np.int64)


class Outbox:
    """The blocks of a worker."""

    def __init__(self, owner: int) -> None:
        self.pid = os.getpid()
        self._prefix = f"{_PREFIX}{owner}-{self.pid}-{_namespace()}-{secrets.token_hex(4)}-"
        self._n_blocks = 0
        self._blocks: dict[str, _Memory] = {}
        self._closed_names: list[str] = []

    def take(self, size: int) -> tuple[str, _Memory]:
        """A free block of at least this size, which counts as taken from now on."""
        free = {name: block for name, block in self._blocks.items() if block.state[0] == _FREE}
        large = [(block.bytes.size, name) for name, block in free.items() if block.bytes.size >= size]
        if large:
            name = min(large)[1]
        else:
            for other in sorted(free, key=lambda name: free[name].bytes.size)[: len(free) - _SPARE + 1]:
                self._drop(other)
            name = self._make(size + size // 4)
        self._blocks[name].state[0] = _TAKEN
        return name, self._blocks[name]

    def take_closed(self) -> list[str]:
        """The blocks that were given up since this was asked last."""
        names, self._closed_names = self._closed_names, []
        return names

    def close(self) -> None:
        """Gives up the names of all blocks; batches that were taken stay."""
        for name in list(self._blocks):
            self._drop(name)

    def _make(self, size: int) -> str:
        name = f"{self._prefix}{self._n_blocks}"
        self._n_blocks += 1
        size = -(-size // _PAGE) * _PAGE
        path = f"{_FOLDER}/{name}"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.posix_fallocate(fd, 0, size)  # no room is an error here, not a signal later
            self._blocks[name] = _Memory(fd, size)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(fd)
        return name

    def _drop(self, name: str) -> None:
        del self._blocks[name]
        self._closed_names.append(name)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{_FOLDER}/{name}")


class _Lease:
    """A batch in a block: when the last array of it is gone, the block is free again."""

    def __init__(self, memory: _Memory, name: str) -> None:
        self._memory = memory
        self._name = name
        self._pid = os.getpid()
        address, _ = memory.bytes.__array_interface__["data"]
        shape = memory.bytes.shape
        self.__array_interface__ = {"data": (address, False), "shape": shape, "typestr": "|u1", "version": 3}

    def __del__(self, getpid: Any = os.getpid) -> None:
        if getpid() == self._pid:  # a forked child has a copy, and the parent its batch
            self._memory.state[0] = _FREE
            _inbox.release(self._name)


class Inbox:
    """The blocks of all workers that a process has had batches from."""

    def __init__(self) -> None:
        self._blocks: dict[str, _Memory] = {}
        self._pid = -1

    def release(self, name: str) -> None:
        """Nobody holds a batch in the block: if its worker has ended, what ended workers left is let go."""
        if name in self._blocks and not _is_alive(_worker_of(name)):
            self._prune()

    def _prune(self) -> None:
        states = {name: not _is_alive(_worker_of(name)) for name in list(self._blocks)}
        for name, has_ended in states.items():
            if has_ended:
                self._blocks.pop(name, None)
        _remove_files(lambda name: not _is_alive(_worker_of(name)))

    def open(self, name: str, old_names: list[str]) -> _Memory:
        """The block of this name; those that its worker closed are let go."""
        for other in old_names:
            self._blocks.pop(other, None)
        if name not in self._blocks:
            if self._pid != os.getpid():
                self._pid = os.getpid()
                atexit.register(_remove_files, lambda _: True, self._pid)
            self._prune()
            path = f"{_FOLDER}/{name}"
            try:
                fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            except FileNotFoundError:
                raise ConnectionError(
                    f"batch: worker {_worker_of(name)} ended before its batch was taken; its error is said "
                    "where num_workers is 0"
                ) from None
            try:
                self._blocks[name] = _Memory(fd, os.fstat(fd).st_size)
            finally:
                os.close(fd)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)  # mapped on both sides: with the processes the memory goes
        return self._blocks[name]


def _worker_of(name: str) -> int:
    return int(name.removeprefix(_PREFIX).split("-")[1])


def _remove_files(which: Callable[[str], bool], pid: int | None = None) -> None:
    """Removes what workers made for this process and it never took, for they ended before."""
    if pid is None or pid == os.getpid():
        for path in glob.glob(f"{_FOLDER}/{_PREFIX}{os.getpid()}-*"):
            if which(os.path.basename(path)):
                with contextlib.suppress(OSError):
                    os.unlink(path)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


_outbox: Outbox | None = None
_inbox = Inbox()
_seen_in = 0  # the process that was asked whether it is a worker
_offers = False  # and it is


def offer() -> None:
    """Lets batches take the short way, where this process is a worker of a DataLoader."""
    global _seen_in, _offers
    if _seen_in == os.getpid() or "torch.utils.data" not in sys.modules:
        return
    _seen_in = os.getpid()
    from torch.utils.data import get_worker_info

    is_worker = get_worker_info() is not None
    _offers = is_worker and sys.platform.startswith("linux") and os.path.isdir(_FOLDER)
    if _offers:
        from varlen.data.devices.staged_batch import StagedBatch
        from varlen.dims import DataDict

        for kind in (Batch, DataDict, StagedBatch, _SentDict, _SentTuple):
            _register(kind)


def raise_in_worker(error: Exception) -> None:
    """Raise an error of ours so that its attributes leave this process, if it is a worker of a DataLoader."""
    loaders = sys.modules.get("torch.utils.data")
    if loaders is not None and loaders.get_worker_info() is not None and "reason" in vars(error):
        raise with_record_type(error).with_traceback(error.__traceback__) from error.__cause__


def _register(kind: type) -> None:
    from multiprocessing.reduction import ForkingPickler

    ForkingPickler.register(kind, _send)


class _SentDict(dict[Any, Any]):
    """A dict that arrives as one: a pickler asks nobody how to send those of Python."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (list(self.items()),)


class _SentTuple(tuple[Any, ...]):
    """A tuple that arrives as one."""

    __slots__ = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (list(self),)


def as_sent(batch: object) -> Any:
    """A dict or tuple of arrays as what takes the short way too, in a worker; anything else as it is."""
    if not _offers or _seen_in != os.getpid():
        return batch
    if type(batch) is dict:
        return _SentDict(batch)
    if type(batch) is tuple:
        return _SentTuple(batch)
    if isinstance(batch, tuple):
        _register(type(batch))  # a named tuple
    return batch


def _start() -> Outbox:
    from multiprocessing import parent_process, util

    parent = parent_process()
    outbox = Outbox(os.getppid() if parent is None or parent.pid is None else parent.pid)
    util.Finalize(outbox, outbox.close, exitpriority=10)
    _sweep()
    return outbox


def _sweep() -> None:
    """Removes the files of processes that were killed: of those that can be seen here, else of long ago."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(_FOLDER):
            if entry.name.startswith(_PREFIX):
                with contextlib.suppress(OSError):
                    if _is_left(entry.name) or time.time() - entry.stat().st_mtime > _STALE:
                        os.unlink(entry.path)


def _is_left(name: str) -> bool:
    """Whether both processes of a file have ended, as far as their numbers say something here."""
    owner, worker, namespace, *_ = [*name.removeprefix(_PREFIX).split("-"), "", "", ""]
    if namespace != _namespace() or not (owner.isdecimal() and worker.isdecimal()):
        return False
    return not _is_alive(int(owner)) and not _is_alive(int(worker))


def _namespace() -> str:
    """Where the numbers of processes are from: containers may share the folder, and not those."""
    try:
        return str(os.stat("/proc/self/ns/pid").st_ino)
    except OSError:
        return f"of{os.getpid()}"  # like no other


def _send(batch: object) -> Any:
    """What pickles in the place of a batch: where its arrays lie, and all else of it."""
    global _outbox
    from varlen.data.parcel import pickle_batch

    parts: list[Array] = []
    text = pickle_batch(batch, lambda part: parts.append(np.frombuffer(part.raw(), np.uint8)))
    if not parts:
        return pickle.loads, (text,)
    places, end = [], _ALIGN
    for part in parts:
        places.append((end, end + part.size))
        end += -(-part.size // _ALIGN) * _ALIGN
    try:
        if _outbox is None or _outbox.pid != os.getpid():
            _outbox = _start()
        name, memory = _outbox.take(end)
    except OSError:  # no room, which torch's way of sending tensors would need, too
        return pickle.loads, (pickle_batch(batch),)
    for (begin, end), part in zip(places, parts, strict=True):
        np.copyto(memory.bytes[begin:end], part)
    return _receive, (name, _outbox.take_closed(), places, text)


def _receive(name: str, old_names: list[str], places: list[tuple[int, int]], text: bytes) -> Any:
    memory: Array = np.asarray(_Lease(_inbox.open(name, old_names), name))
    return pickle.loads(text, buffers=[memory[begin:end] for begin, end in places])
