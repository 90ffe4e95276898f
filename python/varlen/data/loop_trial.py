"""A training loop in a process of each rank: which rows it gives in each step, and after a resume."""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from varlen.backends.values import is_tensor, memory_of

__all__ = ["Loop"]

Rows = str | Callable[[Any], Any] | None
Steps = list[tuple[list[Any], bytes]]  # the rows of each batch, and a digest of all that is in it


class Loop:
    """A loop for `check_loop`, where it is more than an object to iterate.

    Parameters
    ----------
    epoch
        What each iteration of is an epoch; or a function that gives the batches of an epoch by its number,
        and tells samplers which it is.
    state_dict, load_state_dict
        Of whatever keeps the state, to go on from. A `state_dict` with an argument `batches` is told how many
        batches the loop has had.

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
    """What each process does."""

    make_loop: Callable[[int, int, int], Any]
    rows: Rows
    epochs: int
    resume_after: int | None


@dataclass
class Trial:
    """What one rank saw: the steps of each epoch, and those after a resume; or why there are none."""

    epochs: list[Steps]
    rest: list[Steps] | None = None
    had: int = 0
    note: str | None = None  # why no resume was tried
    error: str | None = None


def _as_loop(made: Any) -> Loop:
    if isinstance(made, Loop):
        return made
    if not hasattr(made, "__iter__") and not callable(made):
        raise TypeError(
            f"make_loop: expected batches to iterate, a function of the epoch's number, or a Loop; got "
            f"{type(made).__name__}"
        )
    if not hasattr(made, "__iter__"):
        return Loop(made)
    return Loop(made, getattr(made, "state_dict", None), getattr(made, "load_state_dict", None))


def _batches(loop: Loop, epoch: int) -> Iterable[Any]:
    return loop.epoch if hasattr(loop.epoch, "__iter__") else loop.epoch(epoch)


def _rows_of(batch: Any, rows: Rows) -> list[Any]:
    if callable(rows):
        found = rows(batch)
    elif rows is None:
        found = batch
    elif not isinstance(batch, Mapping) or rows not in batch:
        keys = sorted(map(str, batch)) if isinstance(batch, Mapping) else type(batch).__name__
        raise KeyError(f"rows: a batch has no {rows!r}, it is {keys}; name the key of row ids, or a function")
    else:
        found = batch[rows]
    if is_tensor(found):
        found = memory_of(found)
    return list(np.asarray(found).ravel().tolist())


def _digest(value: Any, into: Any) -> None:
    """All that is in a batch, to the bit."""
    if isinstance(value, Mapping):
        for key in value:
            into.update(repr(key).encode())
            _digest(value[key], into)
    elif isinstance(value, (list, tuple)):
        into.update(f"{len(value)} of".encode())
        for item in value:
            _digest(item, into)
    elif is_tensor(value) or (isinstance(value, np.ndarray) and not value.dtype.hasobject):
        array = memory_of(value.detach().cpu()) if is_tensor(value) else value
        into.update(f"{value.dtype}{tuple(value.shape)}".encode())
        into.update(np.ascontiguousarray(array).tobytes())
    else:
        into.update(pickle.dumps(value))


def _step(batch: Any, rows: Rows) -> tuple[list[Any], bytes]:
    digest = hashlib.blake2b(digest_size=8)
    _digest(batch, digest)
    return _rows_of(batch, rows), digest.digest()


def _steps(loop: Loop, epoch: int, rows: Rows) -> Steps:
    return [_step(batch, rows) for batch in _batches(loop, epoch)]


def _state(loop: Loop, had: int) -> Any:
    """The state as a checkpoint keeps it."""
    assert loop.state_dict is not None
    told = {"batches": had} if "batches" in inspect.signature(loop.state_dict).parameters else {}
    return pickle.loads(pickle.dumps(loop.state_dict(**told)))


def _try(task: Task, rank: int, count: int, workers: int) -> Trial:
    """All epochs of a loop; and of another one that stops early, and one that goes on from its state."""
    loop = _as_loop(task.make_loop(rank, count, workers))
    trial = Trial([_steps(loop, epoch, task.rows) for epoch in range(task.epochs)])
    if task.resume_after is None:
        return trial
    if loop.state_dict is None or loop.load_state_dict is None:
        trial.note = "the loop has no state_dict and load_state_dict"
        return trial
    trial.had = min(task.resume_after, len(trial.epochs[0]))
    begun = _as_loop(task.make_loop(rank, count, workers))
    batches = iter(_batches(begun, 0))
    for _ in range(trial.had):
        next(batches)
    try:
        state = _state(begun, trial.had)
    except (AttributeError, NotImplementedError) as error:
        trial.note = f"state_dict: {type(error).__name__}: {error}"
        return trial
    del batches, begun
    again = _as_loop(task.make_loop(rank, count, workers))
    assert again.load_state_dict is not None
    again.load_state_dict(state)
    trial.rest = [_steps(again, epoch, task.rows) for epoch in range(task.epochs)]
    return trial


def _run_rank(task: Task, rank: int, count: int, workers: Sequence[int], folder: str, pipe: Any) -> None:
    """The body of a process: the trials of one rank, in a group where there are more."""
    for name in ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
        os.environ.pop(name, None)
    try:
        if count > 1:
            _join_group(rank, count, folder)
        for number in workers:
            pipe.send((number, _try(task, rank, count, number)))
    except BaseException as error:
        where = traceback.format_exc()
        pipe.send((None, Trial([], error=f"{type(error).__name__}: {error}\n{where}")))
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
    """The trials of all ranks by the number of workers, each rank in a process of its own.

    Parameters
    ----------
    task
        What they do.
    count
        How many ranks there are.
    workers
        How many worker processes their loaders have, one trial after the other.
    start
        How processes are started: "fork", "spawn" or "forkserver"; None for what fits here.
    timeout
        Seconds for all of it. Ranks that have not ended then have an error.
    """
    from multiprocessing import get_context

    context: Any = get_context(_start_method() if start is None else start)
    results: list[dict[int | None, Trial]] = [{} for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        ranks, pipes = [], []
        for rank in range(count):
            here, there = context.Pipe(duplex=False)
            how = (task, rank, count, workers, folder, there)
            process = context.Process(target=_run_rank, args=how, name=f"varlen-rank-{rank}")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
                process.start()
            there.close()
            ranks.append(process)
            pipes.append(here)
        try:
            _collect(results, pipes, time.monotonic() + timeout)
        finally:
            for process in ranks:
                process.join(5 if process.exitcode is None and not _failed(results) else 0)
                if process.is_alive():
                    process.kill()
                    process.join()
                process.close()
            for pipe in pipes:
                pipe.close()
    ended = f"did not end within {timeout:g} s; ranks wait for each other where their steps differ"
    missing = Trial([], error=ended)
    return {
        number: [found.get(number) or found.get(None) or missing for found in results] for number in workers
    }


def _failed(results: list[dict[int | None, Trial]]) -> bool:
    return any(None in found for found in results)


def _collect(results: list[dict[int | None, Trial]], pipes: list[Any], deadline: float) -> None:
    """What the ranks send until they end; those that wait for one that failed are not waited for long."""
    from multiprocessing.connection import wait

    open_pipes: dict[Any, dict[int | None, Trial]] = dict(zip(pipes, results, strict=True))
    while open_pipes:
        left = deadline - time.monotonic()
        ready: list[Any] = wait(list(open_pipes), max(left, 0))
        if not ready:
            return
        for pipe in ready:
            found = open_pipes[pipe]
            try:
                number, trial = pipe.recv()
                found[number] = trial
            except EOFError:
                del open_pipes[pipe]
        if _failed(results):
            deadline = min(deadline, time.monotonic() + 5)


def _start_method() -> str:
    """Forks take any function along, and cost least; CUDA does not live through one."""
    torch = sys.modules.get("torch")
    uses_cuda = torch is not None and torch.cuda.is_initialized()
    return "fork" if sys.platform.startswith("linux") and not uses_cuda else "spawn"
