"""Batches that threads make ahead, into reused buffers."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from varlen.arguments import MOST_THREADS, as_few, as_int
from varlen.data.buffers import Buffers
from varlen.errors import instance_error, value_error

__all__ = ["Prefetcher"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class _SharedState(Generic[Item, Result]):
    """State that the threads and the consumer share. Threads hold only this, so that the prefetcher can be
    dropped.
    """

    def __init__(self, make: Callable[[Item, Buffers], Result], items: Iterable[Item], depth: int) -> None:
        self.make = make
        self.items = iter(items)
        self.change = threading.Condition()
        self.depth = depth
        self.n_pending = 0  # batches that are made, or in the making
        self.lent: list[Buffers] = []  # of batches that were taken; some may be held still
        self.take_lock = threading.Lock()  # items come one at a time, in their order
        self.n_taken = 0
        self.last: int | None = None  # how many items there are, once that is known
        self.ready: dict[int, tuple[Buffers | None, Result | BaseException]] = {}
        self.is_done = False
        self.process = os.getpid()
        self.threads: list[threading.Thread] = []

    def start(self, threads: int) -> None:
        for i in range(threads):
            thread = threading.Thread(target=self.work, name=f"varlen-prefetch-{i}", daemon=True)
            self.threads.append(thread)
            thread.start()

    def work(self) -> None:
        while True:
            buffers = self._buffers()
            if buffers is None:
                return
            with self.take_lock:
                number = self.n_taken
                if self.last is not None:
                    return
                try:
                    item = next(self.items)
                except StopIteration:
                    self._end(number)
                    return
                except BaseException as error:
                    self._put(number, buffers, error)
                    self._end(number + 1)
                    return
                self.n_taken += 1
            try:
                self._put(number, buffers, self.make(item, buffers))
            except StopIteration as error:  # which would end the loop, and lose what comes behind
                wrong = RuntimeError(f"make raised StopIteration for item {number}")
                wrong.__cause__ = error
                self._put(number, buffers, wrong)
            except BaseException as error:
                self._put(number, buffers, error)

    def _buffers(self) -> Buffers | None:
        with self.change:
            while self.n_pending >= self.depth and not self.is_done and self.last is None:
                self.change.wait()
            if self.is_done or self.last is not None:
                return None
            self.n_pending += 1
            for k, buffers in enumerate(self.lent):
                if buffers.is_free:
                    return self.lent.pop(k)
            # The loop lets go of a batch a moment after it took the next; what it keeps longer is its own.
            if len(self.lent) > 2:
                del self.lent[0]
            return Buffers()

    def _put(self, number: int, buffers: Buffers, result: Result | BaseException) -> None:
        with self.change:
            self.ready[number] = (buffers, result)
            self.change.notify_all()

    def _end(self, count: int) -> None:
        with self.change:
            self.last = count
            self.change.notify_all()

    def take(self, number: int) -> tuple[Buffers | None, Result | BaseException] | None:
        with self.change:
            while number not in self.ready and not self.is_done and (self.last is None or number < self.last):
                self.change.wait()
            entry = self.ready.pop(number, None)
            if entry is not None:
                self.n_pending -= 1
                if entry[0] is not None:
                    self.lent.append(entry[0])
                self.change.notify_all()
            return entry

    def stop(self) -> None:
        if os.getpid() != self.process:
            return  # a fork has none of the threads, and the lock may never be released
        with self.change:
            self.is_done = True
            self.change.notify_all()
        for thread in self.threads:
            if thread is not threading.current_thread() and thread.is_alive():  # it may never have started
                thread.join()
        self.ready.clear()
        self.lent.clear()


class Prefetcher(Iterator[Result], Generic[Item, Result]):
    """An iterator that makes batches ahead of the loop, in order.

    The buffers of a batch are reused once you drop it and its arrays and tensors; batches you keep are never
    overwritten. A loop that drops each batch needs depth + 2 sets of buffers.

    The core releases the GIL while it fills buffers, so threads of this process can do the work of worker
    processes, and nothing is sent between processes. An error in `make` or in `items` is raised instead of
    its batch. Leaving the `with` block, dropping the prefetcher or ending the interpreter stops the threads.

    Parameters
    ----------
    make
        Called as make(item, buffers) in a thread; it passes `buffers` on as `out=`.
    items
        The items that batches are made of, such as lists of row numbers. The threads read them ahead.
    depth
        The number of batches to make ahead, at least 1.
    threads
        The number of batches to make at the same time, at most depth and 256.

    Examples
    --------
    >>> import varlen as vl
    >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    >>> with Prefetcher(lambda rows, out: ds.batch(rows, out=out), [[0, 1], [2]]) as batches:
    ...     [batch["x"].shape for batch in batches]
    [(2, 3), (1, 1)]
    """

    def __init__(
        self,
        make: Callable[[Item, Buffers], Result],
        items: Iterable[Item],
        *,
        depth: int = 2,
        threads: int = 1,
    ) -> None:
        if not callable(make):
            raise instance_error("make", "a function", make)
        if not hasattr(items, "__iter__"):
            raise instance_error("items", "an iterable", items)
        depth = as_int(depth, "depth", 1)
        threads = as_few(threads, "threads", MOST_THREADS)
        if not 1 <= threads <= depth:
            raise value_error("threads", f"expected 1 to depth={depth}, got {threads}")
        self._state: _SharedState[Item, Result] = _SharedState(make, items, depth)
        self._number = 0
        self._finish = weakref.finalize(self, _SharedState.stop, self._state)
        self._state.start(threads)

    def __iter__(self) -> Prefetcher[Item, Result]:
        return self

    def __next__(self) -> Result:
        if os.getpid() != self._state.process:
            raise RuntimeError(
                "a fork does not copy a prefetcher's threads; make the prefetcher in the child"
            )
        entry = self._state.take(self._number)
        if entry is None:
            self.close()
            raise StopIteration
        self._number += 1
        result = entry[1]
        if isinstance(result, BaseException):
            self.close()
            raise result
        return result

    def close(self) -> None:
        """Stop the threads and wait for them. Batches already taken stay valid.

        Examples
        --------
        >>> batches = Prefetcher(lambda item, buffers: item, range(9))
        >>> next(batches)
        0
        >>> batches.close()
        >>> list(batches)
        []
        """
        self._finish()

    def __enter__(self) -> Prefetcher[Item, Result]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
