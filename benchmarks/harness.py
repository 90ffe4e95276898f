"""One row of the table: every contender is checked once, then all are timed in turn, round after round.

A round calls each contender as often as it takes to fill a few milliseconds, in an order of its own, so that
noise on the machine strikes all of them alike; figures are medians over the rounds, ratios are medians of
ratios inside a round.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import random
import resource
import statistics
import time
import timeit
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

US, MS = 1e3, 1e6  # all times are nanoseconds
SLOW = 0.3e9  # a call longer than this is timed in three rounds only


class Spread(NamedTuple):
    """A figure over the rounds."""

    median: float
    low: float
    high: float


def spread(figures: Iterable[float]) -> Spread:
    """Median, least and greatest."""
    kept = list(figures)
    return Spread(statistics.median(kept), min(kept), max(kept))


class Times(dict[str, list[float]]):
    """Nanoseconds a call, a list over the rounds for each contender and yardstick."""

    def of(self, name: str = "varlen") -> Spread:
        """The figure of one contender."""
        return spread(self[name])

    def ratio(self, name: str, other: str, less: float = 0.0) -> Spread:
        """Time of `name`, less a fixed part in nanoseconds, over the time of `other` in the same round."""
        pairs = zip(self[name], self[other], strict=False)
        return spread((a - less) / b for a, b in pairs)


@dataclass(frozen=True)
class Goal:
    """A number to be met, and how it is read off the times."""

    text: str
    limit: float
    figure: Callable[[Times], Spread]
    unit: str = ""
    at_least: bool = False
    needs_peer: bool = False

    def met(self, figure: float) -> bool:
        """Whether the median meets the limit."""
        return figure >= self.limit if self.at_least else figure <= self.limit


@dataclass
class Run:
    """A call to be timed: a function and its arguments, and how its result is made comparable."""

    call: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
    show: Callable[[Any], Any] | None = None

    def __call__(self) -> Any:
        return self.call(*self.arguments)

    def timer(self, clock: Callable[[], float]) -> timeit.Timer:
        """The call as a statement over local names, so that what is timed is the call alone."""
        names = [f"a{i}" for i in range(len(self.arguments))]
        bound = {"F": self.call, **{n.upper(): a for n, a in zip(names, self.arguments, strict=True)}}
        setup = "; ".join(f"{n} = {n.upper()}" for n in ["f", *names])
        return timeit.Timer(f"f({', '.join(names)})", setup, clock, globals=bound)


@dataclass
class Case:
    """What the setup of a row fills in."""

    tiny: bool = False
    reference: Any = None
    runs: dict[str, Run] = field(default_factory=dict)
    yardsticks: dict[str, Run] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    goals: list[Goal] = field(default_factory=list)
    rivals: list[str] = field(default_factory=list)
    buffers: list[np.ndarray] = field(default_factory=list)
    unit: tuple[str, float] = ("", 1.0)
    ours: str = "varlen"
    stack: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def is_complete(self) -> bool:
        """Whether all that the goals are read off is there."""
        return not any(is_ours(name) or name in self.rivals for name in self.skipped)

    def size(self, full: int, tiny: int) -> int:
        """`full` for the table, `tiny` where only the results are checked."""
        return tiny if self.tiny else full

    def buffer(self, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        """An output that is reused: touched once, and poisoned before each check."""
        out = np.zeros(shape, dtype)
        self.buffers.append(out)
        return out

    def contender(
        self, name: str, needs: str | Sequence[str] = (), show: Callable[[Any], Any] | None = None
    ) -> Callable[[Callable[[], Any]], None]:
        """Register what the decorated builder returns: a function, or a function and its arguments."""

        def register(build: Callable[[], Any]) -> None:
            missing = [reason for need in _names(needs) if (reason := why_missing(need))]
            if missing:
                self.skipped[name] = missing[0]
                return
            built = build()
            call, *arguments = built if isinstance(built, tuple) else (built,)
            self.runs[name] = Run(call, tuple(arguments), show)

        return register

    def yardstick(self, name: str, call: Callable[..., Any], *arguments: Any) -> None:
        """Time a call beside the contenders; its result means nothing."""
        self.yardsticks[name] = Run(call, arguments)

    def goal(
        self, text: str, limit: float, figure: Callable[[Times], Spread], unit: str, at_least: bool = False
    ) -> None:
        """Goal: a figure of any kind."""
        self.goals.append(Goal(text, limit, figure, unit, at_least))

    def per(self, label: str, count: float, limit: float, best: float = 0.0) -> None:
        """Goal: at most `limit` nanoseconds a piece, of `count` pieces a call; see `share` for `best`."""
        self.unit = (f"ns {label}", count)

        def figure(times: Times) -> Spread:
            return Spread(*(t / max(count, 1) for t in times.of(self.ours)))

        self.goals.append(Goal(f"<= {limit:g} ns {label}", limit, figure, f"ns {label}"))
        self.share(limit, best)

    def within(self, text: str, limit: float, unit: str = "us", best: float = 0.0) -> None:
        """Goal: at most `limit` units of time a call; see `share` for `best`."""
        scale = {"ns": 1.0, "us": US, "ms": MS}[unit]
        self.goals.append(Goal(text, limit, lambda t: Spread(*(x / scale for x in t.of(self.ours))), unit))
        self.share(limit, best)

    def share(self, limit: float, best: float) -> None:
        """The best peer took `best` where the goal was set: that goal against the best peer of this run."""
        if best:
            self.beat(limit / best)

    def beat(self, limit: float = 1.0) -> None:
        """Goal: at most so much of the time of the best peer; none is judged where no peer is installed."""

        def figure(times: Times) -> Spread:
            return times.ratio(self.ours, best_peer(times, self.runs))

        text = f"<= {limit:.2g} of the best peer"
        self.goals.append(Goal(text, limit, figure, "x best peer", needs_peer=True))

    def over(self, yardstick: str, limit: float, less_us: float = 0.0, text: str = "") -> None:
        """Goal: at most `limit` times a yardstick, after a fixed part has been taken off."""
        label = text or f"<= {limit:g} {yardstick}" + (f" + {less_us:g} us" if less_us else "")
        self.goals.append(
            Goal(label, limit, lambda t: t.ratio(self.ours, yardstick, less_us * US), f"x {yardstick}")
        )


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    name: str
    title: str
    setup: Callable[[Case], None]
    threads: int = 1
    waits: bool = False


ROWS: dict[str, Row] = {}


def row(
    name: str, title: str, threads: int = 1, waits: bool = False
) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
    """Put the decorated setup into the table. `waits`: for a disk or a thread, so that wall time counts."""

    def register(setup: Callable[[Case], None]) -> Callable[[Case], None]:
        if name in ROWS:
            raise ValueError(f"name: there are two rows called {name!r}")
        ROWS[name] = Row(name, title, setup, threads, waits or threads > 1)
        return setup

    return register


def _names(needs: str | Sequence[str]) -> Sequence[str]:
    return [needs] if isinstance(needs, str) else needs


def why_missing(module: str) -> str:
    """An empty string where `module` can be imported, else why it cannot."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        return f"{error.name} is not installed"
    except Exception as error:  # a peer built for another machine or library can fail in any way
        return f"{module} does not load: {type(error).__name__}"
    return ""


@contextlib.contextmanager
def opened(entry: Row, tiny: bool = False, case: Case | None = None) -> Iterator[Case]:
    """The row set up, in a case of its own or in the one given, and cleaned away afterwards."""
    case = case or Case(tiny=tiny)
    with case.stack:
        case.stack.callback(case.runs.clear)  # workers end here, and not where garbage is collected
        entry.setup(case)
        yield case


def check(case: Case) -> None:
    """Call each contender once on poisoned outputs and compare with the reference."""
    for name, run in case.runs.items():
        for buffer in case.buffers:
            buffer.view(np.uint8).reshape(-1)[:] = 0xA5
        result = run()
        if case.reference is None:
            continue
        shown = run.show(result) if run.show else result
        try:
            same(shown, case.reference)
        except AssertionError as error:
            raise AssertionError(f"{name}: the result is not the reference's\n{error}") from None


def same(a: Any, b: Any) -> None:
    """Raise AssertionError where two nested results differ."""
    if isinstance(b, dict):
        assert set(a) == set(b), f"keys {sorted(a)} against {sorted(b)}"
        for key in b:
            same(a[key], b[key])
    elif isinstance(b, (list, tuple)):
        assert len(a) == len(b), f"{len(a)} parts against {len(b)}"
        for x, y in zip(a, b, strict=True):
            same(x, y)
    else:
        np.testing.assert_array_equal(np.asarray(a), b)


def is_ours(name: str) -> bool:
    """Whether a contender is varlen."""
    return name.startswith("varlen")


def best_peer(times: Times, names: Iterable[str]) -> str:
    """The contender with the least median that is not varlen; empty where there is none."""
    peers = [name for name in names if not is_ours(name)]
    return min(peers, key=lambda name: times.of(name).median, default="")


def measure(
    case: Case, rounds: int, at_least_ms: float, clock: Callable[[], float] = time.perf_counter
) -> tuple[Times, dict[str, int]]:
    """Time everything in turn. Also gives the page faults of one round, per call, of each contender."""
    timers = {name: run.timer(clock) for name, run in {**case.yardsticks, **case.runs}.items()}
    counts, slow = {}, set()
    for name, timer in timers.items():
        took = min(timer.timeit(1) * 1e9 for _ in range(2))
        if took > SLOW:
            slow.add(name)
        elif took < 0.2 * at_least_ms * MS:
            calls = max(1, int(0.1 * at_least_ms * MS / took))
            took = timer.timeit(calls) * 1e9 / calls
        counts[name] = max(1, -(-int(at_least_ms * MS) // max(1, int(took))))
    times = Times({name: [] for name in timers})
    faults: dict[str, int] = {}
    order, rng = list(timers), random.Random(0)
    for turn in range(rounds):
        rng.shuffle(order)
        for name in order:
            if name in slow and turn >= 3:
                continue
            if name not in slow:
                timers[name].timeit(1)  # what ran before has left the caches to itself
            before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
            took = timers[name].timeit(counts[name]) * 1e9 / counts[name]
            faults[name] = (resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) // counts[name]
            times[name].append(took)
    return times, faults


@contextlib.contextmanager
def on_one_core(pinned: bool) -> Iterator[None]:
    """Hold this thread on the last core that it may use, for as long as the block runs."""
    if not pinned or not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def run_row(entry: Row, rounds: int = 9, at_least_ms: float = 5.0, busy: bool = False) -> dict[str, Any]:
    """Check and time one row; a plain dict, as the JSON holds it. `busy`: CPU time, not wall time."""
    began = time.perf_counter()
    if entry.threads > 1:  # an idle core, a virtual one above all, takes milliseconds to come to speed
        at_least_ms *= 10
    with on_one_core(entry.threads == 1), opened(entry) as case:
        check(case)
        times, faults = measure(
            case, rounds, at_least_ms, time.process_time if busy and not entry.waits else time.perf_counter
        )
        return result_of(entry, case, times, began, faults)


def result_of(
    entry: Row, case: Case, times: Times, began: float, faults: dict[str, int] | None = None
) -> dict[str, Any]:
    """What the JSON holds of a row that was timed. `began`: by `time.perf_counter`."""
    best = best_peer(times, case.runs) if case.ours in times else ""
    goals = []
    for goal in case.goals if case.is_complete() else []:
        if goal.needs_peer and not best:
            continue
        figure = goal.figure(times)
        goals.append({**_plain(figure), "goal": goal.text, "unit": goal.unit, "limit": goal.limit,
                      "met": goal.met(figure.median)})  # fmt: skip
    counted = faults or {}
    return {
        "name": entry.name,
        "title": entry.title,
        "unit": case.unit,
        "contenders": {
            n: {**_plain(times.of(n)), "rounds": len(times[n]), "faults": counted.get(n, 0)}
            for n in case.runs
        },
        "yardsticks": {name: _plain(times.of(name)) for name in case.yardsticks},
        "skipped": case.skipped,
        "goals": goals,
        "best_peer": best,
        "over_best_peer": _plain(times.ratio(best, case.ours)) if best else None,
        "seconds": round(time.perf_counter() - began, 1),
    }


def _plain(figure: Spread) -> dict[str, float]:
    return {name: float(f"{value:.4g}") for name, value in figure._asdict().items()}
