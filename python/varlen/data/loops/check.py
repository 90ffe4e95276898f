"""Check that a training loop sees each row once an epoch, in a new order, also after a resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from varlen.arguments import as_bool, as_few, as_float, as_int, as_list, one_of
from varlen.backends.values import is_tensor
from varlen.data.dataset import Dataset
from varlen.data.loops.report import KINDS, LoopReport, has_few_orders, judge, rows_seen
from varlen.data.loops.trial import Rows, Task, as_ids, run_ranks
from varlen.errors import instance_error, type_error, value_error

__all__ = ["check_loop"]

#: Of an epoch whose rows nobody says.
_MOST_BATCHES = 200_000
# Of one run; each is an interpreter of its own.
_MOST_PROCESSES = 256


def check_loop(
    make_loop: Callable[[int, int, int], Any],
    data: Any = None,
    *,
    rows: Rows = None,
    epochs: int = 3,
    ranks: Sequence[int] = (1, 2),
    workers: Sequence[int] = (0, 2),
    resume_after: int | None = 3,
    shuffle: bool = True,
    allow: Sequence[str] = (),
    timeout: float = 120.0,
    start: str | None = None,
) -> LoopReport:
    """Run a training loop of any library for a few epochs, and report lost, repeated and reordered rows.

    For each number of ranks, a group of processes runs under gloo, visible to the loop through
    torch.distributed and the environment; each rank runs the loop once for each number of workers. So
    samplers, loaders and loops of other libraries are tested as they are used.

    Parameters
    ----------
    make_loop
        Called as make_loop(rank, ranks, workers) in each process. It returns an iterable, each iteration of
        which is an epoch; or a function that returns the batches of an epoch by its number; or a `Loop`. If
        the result has a `state_dict` and a `load_state_dict`, the loop is also stopped and resumed.
    data
        The rows that each epoch must give once: their number, their ids, or a dataset of rows 0, 1, 2 and so
        on; a varlen.Dataset that has the key `rows` supplies these ids. By default the rows that any run
        gave.
    rows
        The key of the row ids in a batch, or a function that returns them for a batch. By default each batch
        is a list of ids. An id is a number, a string, a time or a tuple of these.
    epochs
        The number of epochs to run. Three are enough to see an order that recurs every second epoch.
    ranks, workers
        The numbers of ranks and of worker processes to try, in all combinations.
    resume_after
        The number of batches of the second epoch after which the loop is stopped; None skips the resume.
    shuffle
        False if all epochs are meant to have one order.
    allow
        The kinds of findings that you intend, such as "repeated".
    timeout
        The seconds that all runs with one number of ranks may take.
    start
        How processes are started: "fork", "spawn" or "forkserver". By default "fork" on Linux, where
        make_loop may be any function, else "spawn".

    Returns
    -------
    LoopReport
        The report: true if nothing was found; as text, it lists the findings.

    Raises
    ------
    ValueError, TypeError
        An argument does not fit. An error of the loop itself is a finding.

    Examples
    --------
    >>> def make_loop(rank, ranks, workers):
    ...     return vl.data.BatchSampler(12, 2, shuffle=True, uneven="empty", num_replicas=ranks, rank=rank)
    >>> report = check_loop(make_loop, 12, ranks=[1], workers=[0], resume_after=None)
    >>> print(report.findings[0])
    order: 1 rank, 0 workers, epoch 1: its rows come in the order of epoch 0
    >>> def make_loop(rank, ranks, workers):
    ...     sampler = vl.data.BatchSampler(12, 2, shuffle=True, uneven="empty", num_replicas=ranks, rank=rank)
    ...     return lambda epoch: sampler.set_epoch(epoch) or sampler
    >>> print(check_loop(make_loop, 12, ranks=[1], workers=[0], resume_after=None))
    nothing found in 1 run: 1 rank, 0 workers
    """
    if not callable(make_loop):
        raise instance_error("make_loop", "a function of rank, ranks and workers", make_loop)
    if rows is not None and not isinstance(rows, str) and not callable(rows):
        raise instance_error("rows", "a key or a function", rows)
    counts = [as_few(n, "ranks", _MOST_PROCESSES, 1) for n in as_list(ranks, "ranks", "numbers")]
    numbers = [as_few(n, "workers", _MOST_PROCESSES) for n in as_list(workers, "workers", "numbers")]
    for kind in as_list(allow, "allow", "kinds of findings"):
        one_of(kind, "allow", KINDS)
    stop_batch = None if resume_after is None else as_int(resume_after, "resume_after")
    seconds, shuffle = as_float(timeout, "timeout"), as_bool(shuffle, "shuffle")
    expected = None if data is None else _rows_of_data(data, rows)
    limit = _MOST_BATCHES if expected is None else 1000 + 100 * len(expected)
    task = Task(make_loop, rows, as_int(epochs, "epochs", 1), stop_batch, limit)
    runs = {
        (count, number): trials
        for count in counts
        for number, trials in run_ranks(task, count, numbers, start, seconds).items()
    }
    if expected is None:
        expected = set().union(*(rows_seen(trials) for trials in runs.values()))
    findings = [
        finding
        for (count, number), trials in runs.items()
        for finding in judge(trials, count, number, expected, shuffle)
        if finding.kind not in allow
    ]
    notes = [f"a resume, as {trial.note}" for trials in runs.values() for trial in trials if trial.note]
    if shuffle and any(has_few_orders(trials) for trials in runs.values()):
        notes.append("whether orders repeat, as epochs of few batches come in one order by chance")
    return LoopReport(tuple(findings), tuple(runs), tuple(dict.fromkeys(notes)))


def _rows_of_data(data: object, rows: Rows) -> set[Any]:
    """The ids of all rows."""
    if isinstance(data, (int, np.integer)) and not isinstance(data, bool):
        return set(range(as_int(data, "data")))
    if isinstance(data, Dataset):
        key = rows if isinstance(rows, str) else ""
        column = data.fields.get(key)
        if column is None or column.dim > 0 or column.trailing:
            return set(range(len(data)))
        data = data.batch(slice(None), keys=[key], layout="ragged")[key]
    if isinstance(data, (str, bytes)) or not (hasattr(data, "__len__") or isinstance(data, Iterable)):
        raise type_error(
            "data", f"expected a number of rows, their ids or a dataset; got {type(data).__name__}"
        )
    are_ids = is_tensor(data) or isinstance(data, (np.ndarray, list, tuple, Set, range, Iterator))
    if not are_ids:
        return set(range(len(data)))
    ids = as_ids(data, "data: expected ids of rows, got", "give numbers, texts, times or tuples of those")
    [(repeat, count)] = Counter(ids).most_common(1) or [(None, 1)]
    if count > 1:
        raise value_error("data", f"expected distinct ids, got {repeat!r} {count} times")
    return set(ids)
