"""The table for people: a block a row in the terminal, chapters of one line a goal in the manual."""

from __future__ import annotations

import functools
import os
import platform
import re
import sys
import timeit
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from . import pictures
from .yardstick import compiled, memcpy

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEAD = "| row | goal | figure (least to greatest) | | best peer | varlen against it |"
RULE = "| --- | --- | --- | --- | --- | --- |"
# Chapters of the page: what the names of their rows begin with. Others are in a chapter of their first word.
CHAPTERS = {
    "files": "epoch collate record window mapped-rows open save load load-slice size verify compressed",
    "loops": "loader",
    "sets": "sets remote",
    "formats": "formats",
    "lists": "list-pad list-ragged views nested flatten unflatten",
    "pad": "pad unpad mask grid.pad grid.unpad",
    "gather": "gather grid.gather",
    "indexing": "index assign",
    "reduce": "reduce",
    "softmax": "softmax",
    "losses": "losses",
    "scan": "scan",
    "sort": "sort",
    "shift": "shift",
    "windows": "window.*",
    "lookups": "scatter span",
    "expand": "expand route",
    "family": "sequence",
    "steps": "pack unpack rnn lstm",
    "matmul": "matmul einsum",
    "dims": "dim named",
    "NumPy": "numpy describe vmap",
    "joint": "concat stack",
    "Thinc": "thinc transforms",
    "tensors": "tensor layer attend",
    "packing": "bins",
    "Arrow": "arrow",
    "other libraries": "files scipy",
    "calls": "offsets boundary threads import",
}
PEERS = ["nested_ragged_tensors", "torch", "awkward", "pyarrow", "polars", "safetensors"]
PEERS += ["fbgemm-gpu-cpu", "numba", "thinc"]


def machine() -> dict[str, Any]:
    """The machine and the versions that the figures belong to."""
    cpu = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    versions = {"python": platform.python_version()}
    for name in ("varlen", "numpy", *PEERS):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    if versions["varlen"] == "not installed":
        versions["varlen"] = sys.modules["varlen"].__version__ if "varlen" in sys.modules else "?"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": cpu,
        "cores": cores,
        "system": platform.platform(),
        "versions": versions,
        "compiled": compiled(),
        "python_call_ns": round(_best(lambda: None, 100_000), 1),
        "memcpy_gb_per_s": round(_copied(1 << 26) / _best(lambda: _copied(1 << 26), 1), 1),
    }


def _best(call: Callable[[], Any], count: int) -> float:
    """Nanoseconds a call, the least of nine tries."""
    return min(timeit.repeat(call, number=count, repeat=9)) / count * 1e9


@functools.cache
def _buffers(size: int) -> tuple[np.ndarray, np.ndarray]:
    return np.ones(size, np.uint8), np.ones(size, np.uint8)


def _copied(size: int) -> int:
    memcpy(*_buffers(size))
    return size


def duration(ns: float) -> str:
    """Nanoseconds in the unit that people read them in."""
    for scale, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.3g} ns"


def _cost(result: dict[str, Any], ns: float) -> str:
    label, count = result["unit"]
    return f"{ns / max(count, 1):.3g} {label}" if label else duration(ns)


def block(result: dict[str, Any]) -> str:
    """What the terminal shows of one row."""
    if "error" in result:
        return f"{result['name']}: {result['title']}\n  FAILED {result['error']}\n"
    lines = [f"{result['name']}: {result['title']}"]
    yards = result["yardsticks"]
    for name, t in {**result["contenders"], **yards}.items():
        ratios = "".join(
            f"{t['median'] / y['median']:8.2f} {n}" for n, y in yards.items() if name not in yards
        )
        faults = f"{t.get('faults', 0):7d} faults" if t.get("faults", 0) > 8 else ""
        span = f"({_cost(result, t['low'])} to {_cost(result, t['high'])})"
        lines.append(f"  {name:24s} {_cost(result, t['median']):>18s}  {span:36s}{ratios}{faults}")
    lines += [f"  {name:24s} {why}" for name, why in result["skipped"].items()]
    for goal in result["goals"]:
        verdict = "met" if goal["met"] else "MISSED"
        figure = f"{goal['median']:.3g} ({goal['low']:.3g} to {goal['high']:.3g})"
        lines.append(f"  goal {goal['goal']}: {figure}  {verdict}")
    if result["over_best_peer"]:
        lines.append(
            f"  {result['over_best_peer']['median']:.2f}x as fast as the best peer, {result['best_peer']}"
        )
    return "\n".join(lines) + "\n"


def chapter_of(name: str) -> str:
    """The chapter that a row is in.

    >>> chapter_of("window"), chapter_of("window.1.96"), chapter_of("grid.pad.widths"), chapter_of("new.row")
    ('files', 'windows', 'pad', 'new')
    """
    for chapter, heads in CHAPTERS.items():
        for head in heads.split():
            if name == head or (head.endswith("*") and name.startswith(head[:-1])):
                return chapter
    for chapter, heads in CHAPTERS.items():
        if any(name.startswith(f"{head}.") for head in heads.split()):
            return chapter
    return name.split(".")[0]


def _lines(result: dict[str, Any]) -> list[str]:
    """A line for each goal of a row; title and peer stand in the first."""
    if "error" in result:
        return [f"| {result['title']} | | failed: {result['error'].splitlines()[0]} | | | |"]
    best, over = result["best_peer"], result["over_best_peer"]
    peer = f"{best} {_cost(result, result['contenders'][best]['median'])}" if best else ""
    against_peer = f"{over['median']:.2f}x ({over['low']:.2f} to {over['high']:.2f})" if over else ""
    lines, title = [], result["title"]
    for goal in result["goals"] or [None]:
        figure = met = wanted = ""
        if goal:
            figure = f"{goal['median']:.3g} ({goal['low']:.3g} to {goal['high']:.3g}) {goal['unit']}"
            met, wanted = ("met" if goal["met"] else "missed"), goal["goal"]
        lines.append(f"| {title} | {wanted} | {figure} | {met} | {peer} | {against_peer} |")
        title = peer = against_peer = ""
    return lines


def _counted(lines: list[str]) -> str:
    """What a folded chapter says of itself.

    >>> _counted(["| a | <= 1 | 0.9 | met | | |", "|  | <= 2 | 3 | missed | | |"])
    '1 row, 1 of 2 goals met'
    """
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rows = sum(bool(line[0]) for line in cells)
    met = sum(line[3] == "met" for line in cells)
    goals = met + sum(line[3] == "missed" for line in cells)
    return f"{rows} row{'s' * (rows != 1)}, {met} of {goals} goals met"


def _page_rows(text: str) -> dict[str, dict[str, list[str]]]:
    r"""By chapter, the lines of each row of a page, by the title of the row.

    >>> _page_rows("### pad\n| a | <= 1 | 0.9 | met | | |\n|  | <= 2 | 3 | missed | | |")["pad"]["a"]
    ['| a | <= 1 | 0.9 | met | | |', '|  | <= 2 | 3 | missed | | |']
    """
    chapters: dict[str, dict[str, list[str]]] = {}
    chapter = title = ""
    for line in text.splitlines():
        if line.startswith("### "):
            chapter = line.removeprefix("### ")
        if line.startswith("| ") and line not in (HEAD, RULE):
            title = line.split("|")[1].strip() or title
            chapters.setdefault(chapter, {}).setdefault(title, []).append(line)
    return chapters


def _about(report: dict[str, Any]) -> list[str]:
    """The machine, the versions and what was not run."""
    about = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    lines = [
        f"{about['cpu']}, {about['cores']} cores, {about['system']}; an empty Python call took "
        f"{about['python_call_ns']:g} ns and memcpy {about['memcpy_gb_per_s']:g} GB/s, at best; {versions}."
    ]
    skipped = sorted({f"{name}: {why}" for r in report["rows"] for name, why in r.get("skipped", {}).items()})
    if skipped:
        lines += ["", "Not run: " + "; ".join(skipped) + "."]
    return lines


def markdown(report: dict[str, Any], page: str = "") -> str:
    """The manual's tables, a chapter each. A run of a part of the rows leaves the others of the page."""
    old = _page_rows(page) if report.get("is_part") else {}
    chapters = {chapter: dict(old.get(chapter, {})) for chapter in CHAPTERS}
    fresh = []
    for result in report["rows"]:
        fresh.append(chapter_of(result["name"]))
        chapters.setdefault(fresh[-1], {})[result["title"]] = _lines(result)
    lines = []
    for chapter, rows in chapters.items():
        body = [line for group in rows.values() for line in group]
        if body:
            fold = f":::{{dropdown}} {_counted(body)}"
            lines += [f"### {chapter}", "", fold, HEAD, RULE, *body, ":::", ""]
    about = page.partition("### machine\n")[2].strip() if old else ""
    if not about:
        return "\n".join([*lines, "### machine", "", *_about(report)])
    about, *later = re.split(r"\n\nMeasured later[^:]*: rows of (.*)\.$", about)
    names = sorted({*", ".join(later).split(", "), *fresh} - {""})
    clock = ", by the time of the processor on a shared machine" if report["busy"] else ""
    later_line = f"Measured later{clock}: rows of {', '.join(names)}."
    return "\n".join([*lines, "### machine", "", about, "", later_line])


def check_machine(path: Path, cpu: str) -> None:
    """Refuse to put some rows into a page whose figures are of another machine."""
    about = path.read_text(encoding="utf-8").partition("### machine\n")[2].strip()
    if about and not about.startswith(cpu):
        raise ValueError(
            f"report: the page has figures of {about.split(',')[0]}, this run of {cpu}; run all rows"
        )


def write_report(report: dict[str, Any], path: Path) -> None:
    """Put the table between the markers of the file at `path`; both have to be there.

    The folder `pictures` beside it, where there is one, gets the pictures of the new table.
    """
    if report.get("is_part"):
        check_machine(path, report["machine"]["cpu"])
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"report: {path} has no {BEGIN} ... {END}")
    head, rest = text.split(BEGIN, 1)
    old, tail = rest.split(END, 1)
    path.write_text(f"{head}{BEGIN}\n\n{markdown(report, old)}\n\n{END}{tail}", encoding="utf-8")
    if (folder := path.parent / "pictures").is_dir():
        pictures.main([str(path), str(folder)])
