"""Run a training loop in a process per rank, and record the rows of each step, also after a resume."""

from __future__ import annotations

import hashlib
import inspect
import io
import os
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from varlen import _core
from varlen.backends.values import is_tensor, memory_of
from varlen.errors import error_of, type_error

__all__ = ["Loop"]

#: Libraries whose threads a fork leaves behind, and which wait for them.
_THREADED = ("polars", "jax", "tensorflow")

Rows = str | Callable[[Any], Any] | None
Steps = list[tuple[list[Any], bytes]]  # the rows of each batch, and a digest of all that is in it


class Loop:
    """A loop for `check_loop` that is more than an iterable.

    Parameters
    ----------
    epoch
        An iterable, each iteration of which is an epoch; or a function that returns the batches of an epoch
        by its number, and passes the number to samplers.
    state_dict, load_state_dict
        The methods of the object that keeps the state. A `state_dict` with an argument `batches` receives the
        number of batches that the loop has consumed.

    Examples
    --------
    >>> sampler = vl.data.BatchSampler(9, 2, shuffle=True)
    >>> def epoch(number):
    ...     sampler.set_epoch(number)
    ...     return sampler
    >>> loop = Loop(epoch, sampler.state_dict, sampler.load_state_dict)
    """

    def __init__(
        self,
        epoch: Iterable[Any] | Callable[[int], Iterable[Any]],
        state_dict: Callable[..., Any] | None = None,
        load_state_dict: Callable[[Any], object] | None = None,
    ) -> None:
        self.epoch, self.state_dict, self.load_state_dict = epoch, state_dict, load_state_dict


@dataclass(frozen=True)
class Task:
    """The work of each process."""

    make_loop: Callable[[int, int, int], Any]
    rows: Rows
    epochs: int
    resume_after: int | None
    most_batches: int  # of an epoch of one rank; one that has more does not end


@dataclass
class Trial:
    """The record of one rank: the steps of each epoch and after a resume, or why there are none."""

    epochs: list[Steps]
    rest: list[Steps] | None = None
    restart: int = 0  # the epoch of the resume
    had: int = 0
    note: str | None = None  # why no resume was tried
    error: str | None = None
    when: float = 0.0  # of the error


class RankPlace:
    """Where a rank is, in memory that it shares with the process that waits for it."""

    def __init__(self, memory: Any, rank: int) -> None:
        self.memory, self.begin = memory, 3 * rank

    def set(self, workers: int, epoch: int, batches: int) -> None:
        self.memory[self.begin : self.begin + 3] = [workers, epoch, batches]

    def get(self) -> tuple[int, int, int]:
        workers, epoch, batches = self.memory[self.begin : self.begin + 3]
        return workers, epoch, batches


def _as_loop(result: object, epochs: int) -> Loop:
    if isinstance(result, Loop):
        loop = result
    elif hasattr(result, "__iter__"):
        loop = Loop(result, getattr(result, "state_dict", None), getattr(result, "load_state_dict", None))
    elif callable(result):
        loop = Loop(result)
    else:
        raise type_error(
            "make_loop",
            "expected batches to iterate, a function of the epoch's number, or a Loop; got "
            f"{type(result).__name__}",
        )
    if epochs > 1 and isinstance(loop.epoch, Iterator):
        raise type_error(
            "make_loop",
            f"a {type(loop.epoch).__name__} yields its batches only once, but the check runs {epochs} epochs",
            "give an iterable that can be iterated again, or a function of the epoch's number",
        )
    return loop


def _batches(loop: Loop, epoch: int) -> Iterator[Any]:
    batches = loop.epoch if hasattr(loop.epoch, "__iter__") else loop.epoch(epoch)
    if not hasattr(batches, "__iter__"):
        raise type_error(
            "make_loop", f"epoch {epoch}: expected batches to iterate, got {type(batches).__name__}"
        )
    return iter(batches)


def _ids_of(batch: object, rows: Rows) -> list[Any]:
    """The ids of the rows of a batch."""
    if callable(rows):
        return as_ids(rows(batch), "rows: the function gives", "give one that gives ids")
    if rows is None:
        return as_ids(
            batch, "rows: a batch is", "name the key of row ids, or give a function from a batch to them"
        )
    if not isinstance(batch, Mapping) or rows not in batch:
        keys = sorted(map(str, batch)) if isinstance(batch, Mapping) else type(batch).__name__
        raise error_of(
            KeyError,
            "rows",
            f"a batch has no {rows!r}, it is {keys}",
            "name the key of row ids, or a function",
        )
    return as_ids(batch[rows], f"rows: {rows!r} of a batch is", "name a key of ids, or give a function")


def as_ids(data: Any, what: str, hint: str) -> list[Any]:
    """Ids of rows: numbers, texts, times, or tuples of those; of an array all that are in it."""
    if is_tensor(data):
        data = memory_of(data)
    if isinstance(data, (np.ndarray, np.generic)):
        if data.dtype.hasobject or data.dtype.names:
            return [_as_id(one, what, hint) for one in data.ravel().tolist()]
        ids: list[Any] = data.ravel().tolist()
        return ids
    is_many = isinstance(data, Iterable) and not isinstance(data, (str, bytes, Mapping, _core.RaggedBase))
    if is_many and not (isinstance(data, tuple) and not all(map(_is_one, data))):
        return [_as_id(one, what, hint) for one in data]
    return [_as_id(data, what, hint)]


def _is_one(value: Any) -> bool:
    """Whether a value is a number, a text, a time, or anything else that is equal to its copy."""
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return len(value.shape) == 0
    is_value = isinstance(value, Hashable) and type(value).__eq__ is not object.__eq__
    return is_value and value is not None and not isinstance(value, (tuple, frozenset, _core.RaggedBase))


def _as_id(value: Any, what: str, hint: str) -> Any:
    if isinstance(value, tuple) and all(map(_is_one, value)):
        return tuple(_as_id(one, what, hint) for one in value)
    if not _is_one(value):
        kind = f"{type(value).__name__} of {sorted(map(str, value))}" if isinstance(value, Mapping) else None
        raise type_error("", f"{what} no list of ids, it has a {kind or type(value).__name__}; {hint}")
    if is_tensor(value) or isinstance(value, (np.ndarray, np.generic)):
        return value.item()
    return value


class _Pickler(pickle.Pickler):
    """What an object holds, without what is around it in memory."""

    def reducer_override(self, value: object) -> Any:
        if is_tensor(value) or (isinstance(value, np.ndarray) and not value.dtype.hasobject):
            digest = hashlib.blake2b(digest_size=8)
            _digest_array(value, digest)
            return bytes, (digest.digest(),)
        return NotImplemented


def _digest_array(value: Any, digest: Any) -> None:
    digest.update(
        f"{value.dtype}{tuple(value.shape) if not getattr(value, 'is_nested', False) else ''}".encode()
    )
    if is_tensor(value):
        if value.is_nested:
            for one in value.unbind():
                _digest_array(one, digest)
            return
        value = value.detach()
        if value.layout is not sys.modules["torch"].strided:
            value = value.to_dense()
        value = memory_of(value.cpu())
    digest.update(np.ascontiguousarray(value).tobytes())


def _digest(value: Any, digest: Any) -> None:
    """All that is in a batch, to the bit."""
    if isinstance(value, Mapping):
        for key in value:
            digest.update(repr(key).encode())
            _digest(value[key], digest)
    elif isinstance(value, (list, tuple)):
        digest.update(f"{len(value)} of".encode())
        for item in value:
            _digest(item, digest)
    elif isinstance(value, np.ndarray) and value.dtype.hasobject:
        _digest((value.shape, value.ravel().tolist()), digest)
    elif is_tensor(value) or isinstance(value, np.ndarray):
        _digest_array(value, digest)
    else:
        with io.BytesIO() as file:
            try:
                _Pickler(file).dump(value)
            except (TypeError, AttributeError, pickle.PicklingError):  # of such only the kind is compared
                digest.update(type(value).__qualname__.encode())
            digest.update(file.getvalue())


def _step(batch: object, rows: Rows) -> tuple[list[Any], bytes]:
    digest = hashlib.blake2b(digest_size=8)
    _digest(batch, digest)
    return _ids_of(batch, rows), digest.digest()


class _Runs:
    """The runs of a loop's epochs, which say where they are and do not go on without end."""

    def __init__(self, task: Task, place: RankPlace, workers: int) -> None:
        self.task, self.place, self.workers = task, place, workers

    def begin(self, loop: Loop, epoch: int) -> Iterator[Any]:
        """The batches of an epoch."""
        limit = self.task.most_batches
        for k, batch in enumerate(_batches(loop, epoch), 1):
            self.place.set(self.workers, epoch, k)
            if k > limit:
                raise RuntimeError(f"epoch {epoch} does not end: {k:,} batches came")
            yield batch
        self.place.set(self.workers, epoch + 1, 0)

    def steps(self, loop: Loop, epoch: int) -> Steps:
        """What each of them holds."""
        return [_step(batch, self.task.rows) for batch in self.begin(loop, epoch)]


def _state(loop: Loop, had: int) -> Any:
    """The state as a checkpoint keeps it."""
    assert loop.state_dict is not None
    keywords = {"batches": had} if "batches" in inspect.signature(loop.state_dict).parameters else {}
    return pickle.loads(pickle.dumps(loop.state_dict(**keywords)))


def _try(task: Task, rank: int, count: int, workers: int, place: RankPlace) -> Trial:
    """All epochs of a loop; of another one that stops in the second, and of one that goes on from there."""

    def make_loop() -> Loop:
        return _as_loop(task.make_loop(rank, count, workers), task.epochs)

    runs, loop = _Runs(task, place, workers), make_loop()
    trial = Trial([runs.steps(loop, epoch) for epoch in range(task.epochs)])
    if task.resume_after is None:
        return trial
    if loop.state_dict is None or loop.load_state_dict is None:
        trial.note = "the loop has no state_dict and load_state_dict"
        return trial
    stop = trial.restart = min(1, task.epochs - 1)  # a state that forgets the epoch is right in the first
    trial.had = min(task.resume_after, len(trial.epochs[stop]))
    begun = make_loop()
    for epoch in range(stop):
        for _ in runs.begin(begun, epoch):
            pass
    batches = runs.begin(begun, stop)
    if trial.had == 0:
        batches = _batches(begun, stop)
    for _ in islice(batches, trial.had):
        pass
    try:
        state = _state(begun, trial.had)
    except (AttributeError, NotImplementedError) as error:
        trial.note = f"state_dict: {type(error).__name__}: {error}"
        return trial
    del batches, begun
    again = make_loop()
    assert again.load_state_dict is not None
    again.load_state_dict(state)
    trial.rest = [runs.steps(again, epoch) for epoch in range(stop, task.epochs)]
    return trial


def _run_rank(
    task: Task, rank: int, count: int, workers: Sequence[int], folder: str, memory: Any, pipe: Any
) -> None:
    """The body of a process: the trials of one rank, in a group where there are more."""
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        os.environ.pop(name, None)
    try:
        if (
            "torch" in sys.modules
        ):  # the threads of its OpenMP do not live through a fork, and it waits for them
            sys.modules["torch"].set_num_threads(1)
        if count > 1:
            _join_group(rank, count, folder)
        for number in workers:
            pipe.send((number, _try(task, rank, count, number, RankPlace(memory, rank))))
    except BaseException as error:
        where = traceback.format_exc()
        trial = Trial([], error=f"{type(error).__name__}: {error}\n{where}", when=time.monotonic())
        pipe.send((None, trial))
    finally:
        pipe.close()


def _join_group(rank: int, count: int, folder: str) -> None:
    number, ranks = str(rank), str(count)
    os.environ.update(RANK=number, LOCAL_RANK=number, WORLD_SIZE=ranks, LOCAL_WORLD_SIZE=ranks)
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    os.environ.setdefault("MASTER_PORT", "29500")
    try:
        import torch.distributed as group
    except ImportError:
        return  # the environment says it
    if group.is_available():
        group.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=count)


def run_ranks(
    task: Task, count: int, workers: Sequence[int], start: str | None, timeout: float
) -> dict[int, list[Trial]]:
    """The trials of all ranks by the number of workers, each rank in a process of its own."""
    from multiprocessing import get_context
    from multiprocessing.sharedctypes import RawArray

    start = _start_method() if start is None else start
    context: Any = get_context(start)
    memory = RawArray("q", 3 * count)
    places = [RankPlace(memory, rank) for rank in range(count)]
    results: list[dict[int | None, Trial]] = [{} for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        ranks, pipes = [], []
        for rank in range(count):
            receiver, sender = context.Pipe(duplex=False)
            how = (task, rank, count, workers, folder, memory, sender)
            places[rank].set(-1, 0, 0)
            process = context.Process(target=_run_rank, args=how, name=f"varlen-rank-{rank}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
                process.start()
            sender.close()
            ranks.append(process)
            pipes.append(receiver)
        try:
            _collect(results, pipes, time.monotonic() + timeout)
        finally:
            ends = []
            for process in ranks:
                process.join(5 if process.exitcode is None and not _has_failed(results) else 0)
                ends.append(process.exitcode)
                if process.is_alive():
                    process.kill()
                    process.join()
                process.close()
            for pipe in pipes:
                pipe.close()
    has_failed, end = _has_failed(results), time.monotonic()
    for tries, code, place in zip(results, ends, places, strict=True):
        if None not in tries and tries.keys() != set(workers):
            tries[None] = Trial([], error=_why_ended(code, place, timeout, has_failed, start), when=end)
    return {number: [entry[number if number in entry else None] for entry in results] for number in workers}


def _why_ended(code: int | None, place: RankPlace, timeout: float, has_failed: bool, start: str) -> str:
    """Why a rank said nothing more."""
    _, epoch, batches = place.get()
    progress = f"after {batches:,} batches of epoch {epoch}"
    if code is not None and code < 0:
        from signal import Signals

        return f"the process was killed by {Signals(-code).name} {progress}"
    if code is not None:
        return f"the process ended by itself {progress}, with exit code {code}"
    if has_failed:
        return f"was stopped {progress}, as another rank had failed"
    libraries = [name for name in _THREADED if start == "fork" and name in sys.modules]
    hint = (
        f"; {libraries[0]} was imported before the fork, and may wait for its threads, which are not there: "
        "give start='spawn' and a make_loop of a module"
        if libraries
        else ""
    )
    return (
        f"did not end within {timeout:g} s, it waits {progress}; ranks wait for each other where their steps "
        f"differ; give a larger timeout where there is more to do{hint}"
    )


def _has_failed(results: list[dict[int | None, Trial]]) -> bool:
    return any(None in entry for entry in results)


def _collect(results: list[dict[int | None, Trial]], pipes: Sequence[object], deadline: float) -> None:
    """What the ranks send until they end; those that wait for one that failed are not waited for long."""
    from multiprocessing.connection import wait

    open_pipes: dict[Any, dict[int | None, Trial]] = dict(zip(pipes, results, strict=True))
    while open_pipes:
        rest = deadline - time.monotonic()
        ready: list[Any] = wait(list(open_pipes), max(rest, 0))
        if not ready:
            return
        for pipe in ready:
            tries = open_pipes[pipe]
            try:
                number, trial = pipe.recv()
                tries[number] = trial
            except EOFError:
                del open_pipes[pipe]
        if _has_failed(results):
            deadline = min(deadline, time.monotonic() + 5)


def _start_method() -> str:
    """Forks take any function along, and cost least; CUDA does not live through one."""
    torch = sys.modules.get("torch")
    uses_cuda = torch is not None and torch.cuda.is_initialized()
    return "fork" if sys.platform.startswith("linux") and not uses_cuda else "spawn"
