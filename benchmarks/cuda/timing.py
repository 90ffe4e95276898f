"""Rows on a device: checked against a reference there, then timed by events of its stream, in turn.

A figure on the device is the time between two events around so many calls. Where the call itself counts, from
Python, it is the time until the call has come back, with nothing waited for.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..harness import MS, Case, Row, Run, Spread, Times, is_ours, opened, result_of

if TYPE_CHECKING:
    import torch

ROUNDS, QUICK_ROUNDS = 15, 3
AT_LEAST_MS = 4.0  # of calls in a round
SLOW = 50 * MS  # a call longer than this is timed in three rounds only
MOST_CALLS = 200  # more would not fit in the queue of a stream, and be waited for
CALLS_IN_GRAPH = 20

Setup = Callable[["DeviceCase"], None]


@dataclass
class DeviceCase(Case):
    """What the setup of a row fills in, on a device."""

    device: str = "cuda"
    close: float = 0.0  # relative to the reference; 0: the same bits
    by_host: bool = False  # the call itself counts
    outputs: list[Any] = field(default_factory=list)

    def contender(
        self, name: str, needs: str | Sequence[str] = (), show: Callable[[Any], Any] | None = None
    ) -> Callable[[Callable[[], Any]], None]:
        """Register what the decorated builder returns; a peer that cannot be built here is left out."""
        register = super().contender(name, needs, show)

        def guarded(build: Callable[[], Any]) -> None:
            with self.leaving_out(name):
                register(build)

        return guarded

    @contextlib.contextmanager
    def leaving_out(self, name: str) -> Iterator[None]:
        """A peer whose code inside does not run on this device is left out, and said to be."""
        try:
            yield
        except (NotImplementedError, RuntimeError) as error:
            if is_ours(name):
                raise
            self.skipped[name] = f"does not run here: {str(error).splitlines()[0]}"
            self.runs.pop(name, None)

    def tensor(self, array: Any) -> torch.Tensor:
        """An array of NumPy's, there."""
        import torch

        return torch.from_numpy(array).to(self.device)

    def output(self, like: torch.Tensor) -> torch.Tensor:
        """An output that is reused, and poisoned before each check."""
        out = like.clone()
        self.outputs.append(out)
        return out

    def copy(self, read: int, written: int) -> None:
        """The yardstick "copy": of as many bytes as are read and written, by the device."""
        import torch

        size = max(1, (read + written) // 2)
        source = torch.zeros(size, dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)
        self.yardstick("copy", target.copy_, source)
        self.unit = ("ns a KB moved", (read + written) / 1000)

    def at_least(self, limit: float, yardstick: str = "copy", scale: float = 1.0) -> None:
        """Goal: this part of the speed of a yardstick, whose time counts `scale` times."""

        def figure(times: Times) -> Spread:
            return Spread(*(scale * x for x in times.ratio(yardstick, self.ours)))

        self.goal(f">= {limit:g} of {yardstick}", limit, figure, f"of {yardstick}", at_least=True)

    def ahead_of(self, peer: str) -> None:
        """Goal: faster than a peer, where it is there."""
        self.rivals.append(peer)
        self.goal(
            f">= 1 of {peer}", 1.0, lambda times: times.ratio(peer, self.ours), f"x {peer}", at_least=True
        )


ROWS: dict[str, Row] = {}


def row(name: str, title: str) -> Callable[[Setup], Setup]:
    """Put the decorated setup into the table of the device."""

    def register(setup: Setup) -> Setup:
        if name in ROWS:
            raise ValueError(f"name: there are two rows called {name!r}")
        ROWS[name] = Row(name, title, setup)  # type: ignore[arg-type]
        return setup

    return register


def check(case: DeviceCase) -> None:
    """Call each contender once on poisoned outputs and compare with the reference."""
    import torch

    for name, run in list(case.runs.items()):
        for out in case.outputs:
            out.view(torch.uint8).fill_(0xA5)
        with case.leaving_out(name):
            result = run()
        if name in case.skipped:
            continue
        shown = run.show(result) if run.show else result
        try:
            torch.testing.assert_close(
                shown, case.reference, rtol=case.close, atol=case.close, equal_nan=True, check_stride=False
            )
        except AssertionError as error:
            raise AssertionError(f"{name}: the result is not the reference's\n{error}") from None


def on_device(run: Run, calls: int) -> float:
    """Nanoseconds a call, between two events around `calls` of them."""
    import torch

    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) * MS / calls


def on_host(run: Run, calls: int) -> float:
    """Nanoseconds until a call has come back, over `calls` of them that nothing waits for."""
    import torch

    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    took = time.perf_counter() - begin
    torch.cuda.synchronize()
    return took * 1e9 / calls


def measure(case: DeviceCase, rounds: int, clock: Callable[[Run, int], float]) -> Times:
    """Time everything in turn, round after round, each as often as fills some milliseconds."""
    runs = {**case.yardsticks, **case.runs}
    counts, slow = {}, set()
    for name, run in runs.items():
        took = clock(run, 1)
        if took > SLOW:
            slow.add(name)
        else:
            took = clock(run, 3)
        counts[name] = max(1, min(MOST_CALLS, int(AT_LEAST_MS * MS / max(1.0, took))))
    times = Times({name: [] for name in runs})
    order, rng = list(runs), random.Random(0)
    for turn in range(rounds):
        rng.shuffle(order)
        for name in order:
            if name in slow and turn >= QUICK_ROUNDS:
                continue
            if name not in slow:
                clock(runs[name], 1)  # what ran before has left the caches to itself
            times[name].append(clock(runs[name], counts[name]))
    return times


def in_graph(call: Callable[[], Any], calls: int = CALLS_IN_GRAPH) -> Callable[[], Any]:
    """`calls` of them as one graph, so that the device alone counts."""
    import torch

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        result = call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(calls):
            result = call()

    def replay() -> Any:
        graph.replay()
        return result

    return replay


def run_row(entry: Row, quick: bool = False) -> dict[str, Any]:
    """Check and time one row; a plain dict, as the JSON holds it."""
    import torch

    began = time.perf_counter()
    case = DeviceCase()
    with opened(entry, case=case):
        check(case)
        clock = on_host if case.by_host else on_device
        times = measure(case, QUICK_ROUNDS if quick else ROUNDS, clock)
        result = result_of(entry, case, times, began)
    torch.cuda.empty_cache()
    return result
