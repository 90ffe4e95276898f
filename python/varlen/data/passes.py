"""The epoch of each pass, on which worker processes agree that begin the pass on their own."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from varlen import _core

__all__: list[str] = []

Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]

_LOCK, _BEGUN, _OWNERS = 0, 1, 2
_HEAD = 8

#: How many passes, and how many processes that have loaders of their own, are remembered.
_KEPT = 64

# Of a process: its number, the epoch of the next pass, whether that goes on from a state, and the same of the
# last one, -1 where there is none.
_OWNER, _NEXT, _GOES_ON, _LAST, _WENT_ON = range(5)

_PATIENCE = 2.0  # seconds; who holds the lock longer has been killed


class Pass(NamedTuple):
    """What worker processes of one pass have in common."""

    owner: int  # the process that has the loader
    seed: int  # of the loader's iterator
    repeat: int  # which pass of these workers it is
    first: int  # the number of the first of its processes, as each worker works it out
    workers: int


class Passes:
    """The epochs of passes over a dataset, in memory that worker processes share, however they were started.

    Each pass is of the epoch after the last one's, unless `set` says another. The worker that comes first
    begins a pass, and the others join it. Any pickle that starts no process is a copy.
    """

    def __init__(self, epoch: int = 0, goes_on: bool = False) -> None:
        from ctypes import c_int64
        from multiprocessing.sharedctypes import RawArray

        self._memory: Any = RawArray(c_int64, _HEAD + 11 * _KEPT)
        words, owners, _ = self._words()
        owners[0] = os.getpid(), epoch, goes_on, -1, 0
        words[_OWNERS] = 1

    def _words(self) -> tuple[Ints, Ints, Ints]:
        words = np.frombuffer(self._memory, np.int64)
        owners = words[_HEAD : _HEAD + 5 * _KEPT].reshape(_KEPT, 5)
        return words, owners, words[_HEAD + 5 * _KEPT :].reshape(_KEPT, 6)

    @contextmanager
    def _process_passes(self, owner: int) -> Iterator[tuple[Ints, Ints, Ints]]:
        """The words, the passes and the row of a process, which begins as that which made this has it."""
        words, owners, begun = self._words()
        deadline = time.monotonic() + _PATIENCE
        while not _core.swap_shared(words, _LOCK, 0, 1) and time.monotonic() < deadline:
            time.sleep(1e-5)
        try:
            hits = np.flatnonzero(owners[:, _OWNER] == owner)
            if len(hits):
                row = owners[hits[0]]
            else:
                count = int(words[_OWNERS])
                row = owners[1 + (count - 1) % (_KEPT - 1)]
                row[:] = owners[0]
                row[_OWNER] = owner
                words[_OWNERS] = count + 1
            yield words, begun, row
        finally:
            words[_LOCK] = 0

    def set(self, epoch: int, goes_on: bool | None = None) -> None:
        """Sets the epoch of this process's next pass; it goes on from a state as is said, or as it did."""
        with self._process_passes(os.getpid()) as (_, _, row):
            if goes_on is None:
                goes_on = bool(row[_GOES_ON]) and row[_NEXT] == epoch
            row[1:] = epoch, goes_on, -1, 0

    def last(self) -> tuple[int, bool] | None:
        """The epoch of this process's last pass, and whether it went on from a state; None before one."""
        with self._process_passes(os.getpid()) as (_, _, row):
            return None if row[_LAST] < 0 else (int(row[_LAST]), bool(row[_WENT_ON]))

    def begin(self, which: Pass | None = None, own: tuple[int, bool] | None = None) -> tuple[int, bool]:
        """The epoch of a pass that begins, and whether it goes on from a state."""
        with self._process_passes(os.getpid() if which is None else which.owner) as (words, begun, row):
            if which is not None:
                is_near = abs(begun[:, 3] - which.first) < which.workers
                is_same = is_near & (begun[:, :3] == which[:3]).all(axis=1)
                if is_same.any():
                    epoch, goes_on = begun[int(is_same.argmax()), 4:].tolist()
                    return (epoch, bool(goes_on)) if own is None else own
            epoch, goes_on = (int(row[_NEXT]), bool(row[_GOES_ON])) if own is None else own
            row[1:] = epoch + 1, 0, epoch, goes_on
            if which is not None:
                begun[int(words[_BEGUN]) % _KEPT] = *which[:4], epoch, goes_on
                words[_BEGUN] += 1
            return epoch, goes_on

    def __getstate__(self) -> Any:
        from multiprocessing.context import get_spawning_popen

        if get_spawning_popen() is not None:
            return self._memory
        with self._process_passes(os.getpid()) as (_, _, row):
            return int(row[_NEXT]), bool(row[_GOES_ON])

    def __setstate__(self, state: object) -> None:
        if isinstance(state, tuple):
            self.__init__(*state)  # type: ignore[misc]
        else:
            self._memory = state
