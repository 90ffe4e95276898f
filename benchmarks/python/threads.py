"""Two threads against one: large work is shared, small work is left alone."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..harness import Case, Spread, Times, row
from . import sample

SIZES = (1, 16, 256, 1024, 4096, 32_768)  # KB of output


def _both(case: Case, name: str, call: Callable[[], Any]) -> None:
    """The same call with one thread and with two."""
    import varlen

    def with_threads(n: int) -> Callable[[], Any]:
        def run() -> Any:
            varlen.set_num_threads(n)
            return call()

        return run

    case.contender(f"varlen, {name}, 1 thread", show=lambda _: 0)(lambda: with_threads(1))
    case.contender(f"varlen, {name}, 2 threads", show=lambda _: 0)(lambda: with_threads(2))


def _speed_up(case: Case, names: list[str]) -> None:
    def least(times: Times) -> Spread:
        ups = [times.ratio(f"varlen, {name}, 1 thread", f"varlen, {name}, 2 threads") for name in names]
        return min(ups, key=lambda up: up.median)

    case.goal(">= 1.8x", 1.8, least, "x one thread", at_least=True)
    if len(os.sched_getaffinity(0)) < 2:
        case.skipped["varlen, two threads at once"] = "there is one core"


def _pads(case: Case, kilobytes: int) -> Callable[[], Any]:
    import varlen

    source = sample.rows(max(2, kilobytes * 1024 // (4 * 256)), 128)
    ragged = varlen.Ragged(source.values, lengths=source.lengths)
    out = np.zeros((len(source.lengths), int(source.lengths.max())), np.float32)
    return lambda: ragged.to_dense(out=out)


def _takes(case: Case, kilobytes: int) -> Callable[[], Any]:
    import varlen

    source = sample.rows(max(2, kilobytes * 1024 // (4 * 128)), 128)
    ragged = varlen.Ragged(source.values, lengths=source.lengths)
    index = np.random.default_rng(0).integers(0, len(source.lengths), len(source.lengths))
    return lambda: ragged[index]


@row("threads.large", "two threads, 4 MB and more: pad and gather", threads=2)
def _(case: Case) -> None:
    names = []
    for kilobytes in (case.size(4096, 2), case.size(65_536, 3)):
        for verb, make in (("pad", _pads), ("gather", _takes)):
            name = f"{verb} {kilobytes / 1024:g} MB"
            _both(case, name, make(case, kilobytes))
            names.append(name)
    _speed_up(case, names)


@row("threads.any", "two threads never slower than one, at any size", threads=2)
def _(case: Case) -> None:
    names = []
    for kilobytes in SIZES[: case.size(len(SIZES), 2)]:
        name = f"pad {kilobytes} KB"
        _both(case, name, _pads(case, kilobytes))
        names.append(name)

    def worst(times: Times) -> Spread:
        ratios = [times.ratio(f"varlen, {name}, 2 threads", f"varlen, {name}, 1 thread") for name in names]
        return max(ratios, key=lambda ratio: ratio.median)

    case.goal("<= 1.03 of one thread", 1.03, worst, "x one thread")
