"""The findings about a training loop, from the batches of its ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

from varlen.data.loops.trial import Steps, Trial
from varlen.errors import value_error

__all__ = ["LoopFinding", "LoopReport"]

Kind = Literal["missing", "repeated", "unknown", "order", "steps", "resume", "error"]
KINDS = ("missing", "repeated", "unknown", "order", "steps", "resume", "error")

_SHOWN = 5  # rows that a text names

#: Epochs of fewer batches often come in one order by chance: one of n!, where batches are made by length.
_FEW = 6

_HINTS = {
    "missing": "what drops them is a short last batch, drop_last or uneven='drop'; 'empty' gives each once",
    "repeated": "each rank needs a share of its own, and uneven='repeat' takes some twice; 'empty' does not",
    "unknown": "they are no rows of the data that were said",
    "order": "call set_epoch() of the sampler before each epoch; if you want one order, pass shuffle=False",
    "steps": "a rank that has fewer steps leaves the others waiting; uneven='empty' gives all as many",
    "resume": "the state has to keep the epoch, the batches that the loop had, and every seed",
    "error": "",
}


@dataclass(frozen=True)
class LoopFinding:
    """One thing that `check_loop` found.

    Parameters
    ----------
    kind
        "missing", "repeated" or "unknown" rows of an epoch, an "order" that an earlier epoch had, "steps"
        that differ between ranks, a "resume" that does not give the remaining batches, or an "error" of the
        loop.
    ranks, workers
        The numbers of ranks and workers of the run.
    epoch
        The number of the epoch, or None.
    text
        The finding, with the first places.
    rows
        The rows concerned.

    Examples
    --------
    >>> print(LoopFinding("missing", 2, 0, 1, "1 of 9 rows is missing: 7", (7,)))
    missing: 2 ranks, 0 workers, epoch 1: 1 of 9 rows is missing: 7
    """

    kind: Kind
    ranks: int
    workers: int
    epoch: int | None
    text: str
    rows: tuple[Any, ...] = ()

    def __str__(self) -> str:
        epoch = "" if self.epoch is None else f", epoch {self.epoch}"
        return (
            f"{self.kind}: {_count(self.ranks, 'rank')}, {_count(self.workers, 'worker')}{epoch}: {self.text}"
        )


@dataclass(frozen=True)
class LoopReport:
    """The findings of `check_loop`; true if there are none.

    Parameters
    ----------
    findings
        The findings, run by run.
    runs
        Ranks and workers of each run.
    notes
        Things that were not tried, and why.

    Examples
    --------
    >>> report = LoopReport((), ((1, 0), (2, 0)))
    >>> bool(report), str(report)
    (True, 'nothing found in 2 runs: 1 rank, 0 workers; 2 ranks, 0 workers')
    """

    findings: tuple[LoopFinding, ...]
    runs: tuple[tuple[int, int], ...]
    notes: tuple[str, ...] = field(default=())

    def __bool__(self) -> bool:
        return not self.findings

    def __str__(self) -> str:
        runs = "; ".join(
            f"{_count(ranks, 'rank')}, {_count(workers, 'worker')}" for ranks, workers in self.runs
        )
        summary = _count(len(self.findings), "finding") if self.findings else "nothing found"
        kinds = [kind for kind in KINDS if any(finding.kind == kind for finding in self.findings)]
        lines = [f"{summary} in {_count(len(self.runs), 'run')}: {runs}", *map(str, self.findings)]
        lines += [f"{kind}: {_HINTS[kind]}" for kind in kinds if _HINTS[kind]]
        return "\n".join([*lines, *(f"not tried: {note}" for note in self.notes)])

    def raise_for_findings(self) -> None:
        """Raise an error if there are findings.

        Raises
        ------
        ValueError
            There are findings; the message lists all.

        Examples
        --------
        >>> LoopReport((), ((1, 0),)).raise_for_findings()
        """
        if self.findings:
            raise value_error("loop", f"{self}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _run(ranks: int, workers: int) -> str:
    return f"{_count(ranks, 'rank')}, {_count(workers, 'worker')}"


def _row_list(rows: Sequence[object]) -> str:
    return ", ".join(map(str, rows[:_SHOWN])) + (", ..." if len(rows) > _SHOWN else "")


def _ids(steps: Steps) -> list[Any]:
    return list(chain.from_iterable(rows for rows, _ in steps))


def _in_order(rows: Iterable[object]) -> list[Any]:
    rows = list(rows)
    try:
        return sorted(rows)
    except TypeError:  # of several kinds
        return sorted(rows, key=str)


def has_few_orders(trials: Sequence[Trial]) -> bool:
    """Whether an epoch of all ranks has so few batches with rows that two may have one order by chance."""
    return any(
        0 < sum(bool(rows) for trial in trials for rows, _ in trial.epochs[epoch]) < _FEW
        for epoch in range(min((len(trial.epochs) for trial in trials), default=0))
    )


def rows_seen(trials: Sequence[Trial]) -> set[Any]:
    """The rows that any epoch of any rank gave."""
    return {row for trial in trials for steps in trial.epochs for row in _ids(steps)}


def judge(
    trials: list[Trial], ranks: int, workers: int, data: set[Any], shuffle: bool
) -> Iterator[LoopFinding]:
    """What is wrong in the trials of all ranks with one number of workers."""
    where = ranks, workers
    errors = [(trial.when, rank, trial.error) for rank, trial in enumerate(trials) if trial.error is not None]
    for _, rank, error in sorted(errors, key=lambda one: one[:2]):  # others fail for the first one
        yield LoopFinding("error", *where, None, f"rank {rank}: {error}")
    if errors:
        return
    if not data and not rows_seen(trials):
        yield LoopFinding("missing", *where, None, "no epoch gives a row")
    orders: list[list[list[Any]]] = []
    for epoch in range(len(trials[0].epochs)):
        steps = [trial.epochs[epoch] for trial in trials]
        counts = Counter(chain.from_iterable(map(_ids, steps)))
        total = f"of {_count(len(data), 'row')}"
        for kind, rows, verdict in (
            ("missing", _in_order(data - counts.keys()), "missing"),
            ("repeated", _in_order(row for row in counts if counts[row] > 1), "seen more than once"),
            ("unknown", _in_order(counts.keys() - data), "none of the data"),
        ):
            if rows:
                text = f"{len(rows)} {total} {'is' if len(rows) == 1 else 'are'} {verdict}: {_row_list(rows)}"
                yield LoopFinding(kind, *where, epoch, text, tuple(rows))  # type: ignore[arg-type]
        lengths = [len(step) for step in steps]
        if len(set(lengths)) > 1:
            yield LoopFinding("steps", *where, epoch, f"ranks have {', '.join(map(str, lengths))} steps")
        order = [_ids(step) for step in steps]
        if shuffle and counts and order in orders and not has_few_orders(trials):
            text = f"its rows come in the order of epoch {orders.index(order)}"
            yield LoopFinding("order", *where, epoch, text)
        orders.append(order)
    for rank, trial in enumerate(trials):
        if trial.rest is not None:
            yield from _judge_resume(trial, trial.rest, rank, where)


def _judge_resume(
    trial: Trial, rest: list[Steps], rank: int, where: tuple[int, int]
) -> Iterator[LoopFinding]:
    """The first batch after a resume that is another than without one."""
    for epoch, replay in enumerate(rest, trial.restart):
        original = trial.epochs[epoch][trial.had if epoch == trial.restart else 0 :]
        if replay == original:
            continue
        context = f"rank {rank}, after a resume at batch {trial.had} of epoch {trial.restart}"
        step = next(
            (k for k, pair in enumerate(zip(replay, original, strict=False)) if pair[0] != pair[1]), None
        )
        if step is None:
            text = f"{context}: {len(replay)} batches come, expected {len(original)}"
        elif replay[step][0] == original[step][0]:
            text = f"{context}: batch {step} has the same rows with other numbers"
        else:
            rows, expected = _row_list(replay[step][0]), _row_list(original[step][0])
            text = f"{context}: batch {step} has rows {rows}, expected {expected}"
        yield LoopFinding("resume", *where, epoch, text)
        return
