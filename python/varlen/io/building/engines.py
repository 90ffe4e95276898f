"""Engines that run tasks: a loop, processes, Dask, Ray. Each yields the results of finished tasks."""

from __future__ import annotations

import contextlib
import functools
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from varlen.errors import as_record, name_place, type_error, value_error

Tasks = Sequence[tuple[Any, Any]]  # what a task needs, which has a number, and the partition
Task = Callable[[Any, Any], Any]
Results = Iterator[tuple[int, Any]]  # of finished tasks, by their numbers

# Each is an interpreter of its own.
MOST_WORKERS = 1024

# How often a partition is begun that ended its process.
ATTEMPTS = 3

_NO_GUARD = "; a script starts workers under `if __name__ == '__main__':` alone, as each imports it"


class LostWorkerError(RuntimeError):
    """The worker of a partition ended, again and again."""


class TaskError(Exception):
    """A task failed: its number, and the error that it raised."""

    def __init__(self, number: int, error: Exception) -> None:
        super().__init__(number, error)
        self.number, self.error = number, error


class Trace(Exception):
    """The traceback of an error in another process, as text."""


# The number of a task, its error with the place, and its result.
Found = tuple[int, Exception | None, str, Any]


def _guard(task: Task, job: Any, partition: object) -> Found:
    """The task, and its error in a form that every process can read."""
    try:
        result = task(job, partition)
    except Exception as error:
        return job[0], _portable(error), "".join(traceback.format_exception(error)), None
    return job[0], None, "", result


def _portable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _result_of(outcome: Found) -> tuple[int, Any]:
    number, error, trace, result = outcome
    if error is not None:
        error.__cause__ = Trace(trace) if trace else None
        raise TaskError(number, error)
    return number, result


@contextlib.contextmanager
def engine_of(engine: object, partitions: object, workers: int) -> Iterator[Callable[[Task, Tasks], Results]]:
    """The given engine, or that of the partitions; whatever it started ends with the block."""
    kind: str | None
    if engine is None:
        kind = _library(partitions) or ("processes" if workers > 1 else "loop")
    else:
        kind = "processes" if isinstance(engine, str) and engine == "processes" else _library(engine)
        if kind is None:
            raise value_error(
                "engine", f"expected 'processes', 'dask', 'ray' or a Dask Client, got {engine!r}"
            )
    if kind == "processes":
        with contextlib.closing(_Processes(workers)) as processes:
            yield processes.run
    elif kind == "dask":
        yield lambda task, tasks: _dask(engine, task, tasks)
    else:
        yield _ray if kind == "ray" else _loop


def _library(thing: object) -> str | None:
    if isinstance(thing, str):
        return thing if thing in ("dask", "ray") else None
    module = type(thing).__module__.partition(".")[0]
    return {"dask": "dask", "distributed": "dask", "dask_expr": "dask", "ray": "ray"}.get(module)


def as_partitions(partitions: Any) -> list[Any]:
    """The partitions of a Dask collection, a Ray Dataset or a list."""
    library = _library(partitions)
    if library == "dask":
        parts = partitions.to_delayed()
        return list(parts.ravel() if hasattr(parts, "ravel") else parts)
    if library == "ray":
        blocks = partitions.materialize().iter_internal_ref_bundles()
        return [ref for bundle in blocks for ref in bundle.block_refs]
    if not hasattr(partitions, "__iter__") or isinstance(partitions, (str, bytes, Mapping)):
        raise type_error("partitions", f"expected a list, or a collection of Dask or Ray, got {partitions!r}")
    return list(partitions)


def run_tasks(
    engine: Any,
    task: Task,
    tasks: Tasks,
    unit: str | None,
    places: Mapping[int, int] | None = None,
    take: Callable[[int, Any], object] | None = None,
    sources: Mapping[int, Sequence[str]] | None = None,
) -> None:
    """Runs all tasks, with a progress bar if wanted; `places` are those of the tasks in the caller's list.

    `take` gets each result, with the number of its task, as soon as it is there. `sources` are the files that
    a task reads, for errors: one that names such a file needs no other place.
    """
    try:
        _run_all(engine, task, tasks, unit, take)
    except TaskError as failed:
        error = failed.error
        files = (sources or {}).get(failed.number, ())
        if files and (vars(error).get("file") in files or getattr(error, "filename", None) is not None):
            raise error from error.__cause__
        says_it = isinstance(error, (ValueError, TypeError, RuntimeError)) and any(error.args)
        text = None if says_it else ": ".join(filter(None, (type(error).__name__, f"{error}")))
        record = as_record(error, RuntimeError, text=text)
        cause = error.__cause__ if record is error else error
        place = f"partition {failed.number if places is None else places[failed.number]}"
        if files:
            place = files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1:,} more files"
        raise name_place(record, place, RuntimeError) from cause


def results_of(
    engine: Any,
    task: Task,
    tasks: Tasks,
    bar: Any = None,
    places: Mapping[int, str] | None = None,
    take: Callable[[int, Any], object] | None = None,
) -> list[Any]:
    """The results of tasks in their order; an error is that of the task, which names its own place.

    `places` are the sources of tasks, for the error of a worker that ends. `take` gets each result at once.
    """
    results: dict[int, Any] = {}

    def take_one(number: int, result: Any) -> None:
        results[number] = result
        if take is not None:
            take(number, result)

    try:
        _run_all(engine, task, tasks, bar, take_one)
    except TaskError as failed:
        if isinstance(failed.error, LostWorkerError):
            place = f"file {failed.number}" if places is None else places[failed.number]
            raise name_place(failed.error, place, RuntimeError) from None
        raise failed.error from failed.error.__cause__
    return [results[job[0]] for job, _ in tasks]


def _run_all(
    engine: Any, task: Task, tasks: Tasks, bar: Any, take: Callable[[int, Any], object] | None
) -> None:
    """Runs all tasks; `bar` is the unit of a progress bar, or its options."""
    results: Results = engine(task, tasks) if tasks else iter(())
    if bar is not None:
        from tqdm.auto import tqdm

        options = bar if isinstance(bar, dict) else {"unit": f" {bar}"}
        results = iter(tqdm(results, total=len(tasks), **options))
    for number, result in results:
        if take is not None:
            take(number, result)


def _loop(task: Task, tasks: Tasks) -> Results:
    for job, partition in tasks:
        try:
            result = task(job, partition)
        except Exception as error:
            raise TaskError(job[0], error) from error
        yield job[0], result


def _work(pipe: Any) -> None:
    """The loop of a worker process: it receives a task and sends back the result."""
    while True:
        try:
            message = pipe.recv()
        except (EOFError, ConnectionResetError):
            return  # whoever gave the tasks has given up, and says why
        except Exception as error:
            what = f"{error}; a worker process imports what it is given, from modules"
            pipe.send((-1, type_error("", what), "", None))
            continue
        if message is None:
            return
        pipe.send(_guard(*message))


def _begin(pipe: object) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C is for whoever gives the tasks to explain
    _work(pipe)


class _Worker:
    """A process, the pipe to it, and its current task."""

    def __init__(self) -> None:
        import multiprocessing

        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_begin, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.task: tuple[Any, Any, int] | None = None

    def give(self, task: Task, job: Any, partition: object, attempt: int) -> None:
        self.task = job, partition, attempt
        try:
            self.pipe.send((task, job, partition))
        except OSError:
            pass  # it has ended: that is seen where its answer is read
        except Exception as error:
            what = f"what goes to a worker process cannot be pickled, such as make: {error}"
            raise TaskError(job[0], type_error("", what)) from None

    def end(self) -> None:
        self.process.terminate()
        self.pipe.close()


class _Processes:
    """Processes that do one list of tasks after the other."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._idle: list[_Worker] = []
        self._has_answer = False

    def run(self, task: Task, tasks: Tasks) -> Results:
        from multiprocessing.connection import wait

        queue = [(job, partition, 1) for job, partition in reversed(tasks)]
        while len(self._idle) < min(self._workers, len(tasks)):
            self._idle.append(_Worker())
        busy: dict[Any, _Worker] = {}
        try:
            while queue or busy:
                while queue and self._idle:
                    worker = self._idle.pop()
                    busy[worker.pipe] = worker
                    worker.give(task, *queue.pop())
                for pipe in wait(list(busy)):
                    worker = busy.pop(pipe)
                    assert worker.task is not None
                    job, partition, attempt = worker.task
                    try:
                        _, error, trace, result = worker.pipe.recv()
                    except (EOFError, OSError):
                        worker.process.join()
                        if attempt == ATTEMPTS:
                            code = worker.process.exitcode
                            hint = _NO_GUARD if code == 1 and not self._has_answer else ""
                            text = f"its worker ended with code {code}, {ATTEMPTS} times{hint}"
                            failure = LostWorkerError(text)
                            raise TaskError(job[0], failure) from None
                        queue.append((job, partition, attempt + 1))
                        self._idle.append(_Worker())
                        continue
                    self._has_answer = True
                    self._idle.append(worker)
                    yield _result_of((job[0], error, trace, result))
        finally:
            for worker in busy.values():
                worker.end()

    def close(self) -> None:
        for worker in self._idle:
            with contextlib.suppress(OSError):
                worker.pipe.send(None)
        for worker in self._idle:
            worker.process.join(5)
            worker.end()


def _dask(client: object, task: Task, tasks: Tasks) -> Results:
    import dask

    calls = [dask.delayed(_guard, pure=False)(task, job, partition) for job, partition in tasks]
    distributed: Any = sys.modules.get("distributed")
    if hasattr(client, "compute"):
        cluster = client
    else:
        try:
            cluster = None if distributed is None else distributed.get_client()
        except ValueError:
            cluster = None
    if cluster is None:
        yield from map(_result_of, dask.compute(*calls))
        return
    yield from _on_cluster(cluster, calls, [job[0] for job, _ in tasks])


def _on_cluster(client: Any, calls: list[object], numbers: list[int]) -> Results:
    """Tasks on a Dask cluster. It suspects all tasks of a lost worker, and reruns each alone."""
    futures = client.compute(calls, retries=ATTEMPTS - 1)
    which = {future.key: i for i, future in enumerate(futures)}
    suspects = []
    try:
        for future in sys.modules["distributed"].as_completed(futures):
            i = which[future.key]
            result = _result(numbers[i], future.result)
            if isinstance(result[1], LostWorkerError) and len(futures) > 1:
                suspects.append(i)
                continue
            yield _result_of(result)
        for i in suspects:
            yield from _on_cluster(client, calls[i : i + 1], numbers[i : i + 1])
    finally:
        client.cancel(futures)


def _ray(task: Task, tasks: Tasks) -> Results:
    import ray

    remote = ray.remote(max_retries=ATTEMPTS - 1)(_guard)
    calls = {remote.remote(task, job, partition): job[0] for job, partition in tasks}
    try:
        while calls:
            [first], _ = ray.wait(list(calls))
            yield _result_of(_result(calls.pop(first), functools.partial(ray.get, first)))
    finally:
        for ref in calls:
            ray.cancel(ref)


def _result(number: int, get: Callable[[], Found]) -> Found:
    """The result of an engine, or its own error."""
    try:
        return get()
    except Exception as error:
        if type(error).__name__ in ("KilledWorker", "WorkerCrashedError"):
            times = getattr(error, "allowed_failures", ATTEMPTS - 1) + 1
            return number, LostWorkerError(f"its worker ended, {times} times"), "", None
        return number, error, "", None
