"""`benchmarks/cuda/run`: build for the GPU of this machine, test there, look for races, measure."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import machine

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "build" / "gpu"
PACKAGE = BUILD / "package"
LOG = ROOT / "build" / "gpu.log"  # what every command printed
RESULTS = ROOT / "benchmarks" / "results"
STEPS = ("build", "tests", "sanitizers", "table")
NEEDED = {"cmake": "CMake", "nvcc": "the CUDA compiler"}

# Of compute-sanitizer. Each takes the small tests alone, which need no torch, and so many seconds at most.
TOOLS = ("memcheck", "racecheck", "synccheck", "initcheck")
SMALL = ("tests/cuda/test_cuda_calls.py", "-k", "driver and (f4 or skew) and not giant")
SECONDS_OF_TOOL = 40
SECONDS_OF_TESTS = 150


def make_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog="benchmarks/cuda/run", description=__doc__)
    parser.add_argument(
        "--steps", default=",".join(STEPS), metavar="LIST", help=f"some of {', '.join(STEPS)} (all)"
    )
    parser.add_argument("--rows", default=".", metavar="REGEX", help="only rows whose names match")
    parser.add_argument("--quick", action="store_true", help="three rounds: a look, not a figure to quote")
    parser.add_argument("--json", type=Path, metavar="FILE", help="instead of benchmarks/results/<gpu>.json")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    return parser


def run(*command: str, seconds: float | None = None, **environment: str) -> tuple[int, str]:
    """The exit status and what was printed; -1 where it took too long."""
    print("+", *command, flush=True)
    try:
        done = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **environment}, timeout=seconds, text=True, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        text = said.decode(errors="replace") if isinstance(said, bytes) else said
        return -1, _shown(text)
    return done.returncode, _shown(done.stdout)


def _shown(text: str) -> str:
    """The text, of which the end is printed and all is kept."""
    print(text[-4000:], flush=True)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("a") as log:
        log.write(text)
    return text


def build() -> dict[str, Any]:
    """The package, with kernels for the GPUs of this machine alone, in a folder of the build."""
    began = time.perf_counter()
    jobs = str(len(os.sched_getaffinity(0)))
    generator = ("-G", "Ninja") if shutil.which("ninja") else ()
    for command in (
        ("cmake", "-S", ".", "-B", str(BUILD), *generator, "-DVARLEN_CUDA=AUTO", "-DCMAKE_BUILD_TYPE=Release",
         f"-DPython_EXECUTABLE={sys.executable}"),
        ("cmake", "--build", str(BUILD), "-j", jobs),
    ):  # fmt: skip
        status, _ = run(*command)
        if status != 0:
            return {"ok": False, "said": f"{' '.join(command[:3])} ended with {status}"}
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "python" / "varlen", PACKAGE / "varlen", ignore=shutil.ignore_patterns("*.so"))
    status, _ = run("cmake", "--install", str(BUILD), "--component", "python", "--prefix", str(PACKAGE))
    return {"ok": status == 0, "seconds": round(time.perf_counter() - began, 1)}


def counts_in(output: str) -> dict[str, int]:
    r"""The last line of pytest's report, as numbers.

    >>> counts_in("...\n= 2 failed, 300 passed, 1 skipped in 9.50s =")
    {'failed': 2, 'passed': 300, 'skipped': 1}
    """
    lines = [line for line in output.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
    words = "failed|passed|skipped|error|errors|deselected|xfailed"
    found = re.findall(rf"(\d+) ({words})\b", lines[-1]) if lines else []
    return {word: int(number) for number, word in found}


def tests() -> dict[str, Any]:
    """`tests/cuda`, which must find the device."""
    status, output = run(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cuda",
        seconds=SECONDS_OF_TESTS, PYTHONPATH=str(PACKAGE), REQUIRE_CUDA="1",
    )  # fmt: skip
    return {"ok": status == 0, **counts_in(output), "names": failures_in(output)}


def failures_in(output: str) -> list[str]:
    r"""The first tests that pytest reports as failed.

    >>> failures_in("FAILED tests/a.py::b[1, 2] - assert 1\nERROR tests/a.py::c\n")
    ['tests/a.py::b[1, 2]', 'tests/a.py::c']
    """
    return re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, flags=re.MULTILINE)[:50]


def verdict_in(output: str) -> str:
    r"""What compute-sanitizer sums up.

    >>> verdict_in("x\n========= ERROR SUMMARY: 0 errors\n")
    'ERROR SUMMARY: 0 errors'
    """
    lines = re.findall(r"^=+ ((?:ERROR|RACECHECK) SUMMARY: .+)$", output, flags=re.MULTILINE)
    return lines[-1] if lines else "no summary"


def sanitizers() -> dict[str, Any]:
    """The small tests under each tool of compute-sanitizer."""
    tool = shutil.which("compute-sanitizer")
    if tool is None:
        print("compute-sanitizer is not installed: nothing was looked for")
        return {"ok": True, "said": "compute-sanitizer is not installed"}
    found: dict[str, Any] = {"ok": True}
    for name in TOOLS:
        status, output = run(
            tool, f"--tool={name}", "--error-exitcode=9", "--target-processes=application-only",
            sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *SMALL,
            seconds=SECONDS_OF_TOOL, PYTHONPATH=str(PACKAGE), REQUIRE_CUDA="1",
        )  # fmt: skip
        found[name] = f"not done after {SECONDS_OF_TOOL} s" if status == -1 else verdict_in(output)
        found["ok"] = found["ok"] and status == 0
    return found


def load() -> dict[str, Any]:
    """The rows of the table."""
    from . import batches, calls, fused, moves, numbers, timing  # noqa: F401

    return timing.ROWS


def table(pattern: str, quick: bool) -> list[dict[str, Any]]:
    """Every row that matches, checked and timed."""
    from .. import report
    from .timing import run_row

    results = []
    for name, entry in load().items():
        if not re.search(pattern, name):
            continue
        try:
            result = run_row(entry, quick)
        except Exception as error:
            result = {"name": name, "title": entry.title, "error": f"{type(error).__name__}: {error}"}
        results.append(result)
        print(report.block(result), flush=True)
    return results


def versions() -> dict[str, str]:
    """What the figures were taken with."""
    import torch
    import varlen

    return {
        "varlen": varlen.__version__,
        "status": str(varlen.cuda.status()),
        "torch": torch.__version__,
        "python": sys.version.split()[0],
    }


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """The table, with what was built; in a process that has seen nothing else."""
    sys.path.insert(0, str(PACKAGE))
    import varlen

    status = varlen.cuda.status()
    if not status:
        return {"ok": False, "said": str(status)}
    rows = table(options.rows, options.quick)
    return {
        "ok": not any("error" in row for row in rows),
        "versions": versions(),
        "gpu_at_work": at_work(),
        "rows": rows,
    }


def at_work() -> dict[str, Any]:
    """The GPU amid copies, so that its clocks are those of the figures."""
    import torch

    source = torch.zeros(1 << 28, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    for _ in range(5000):  # a second and more
        target.copy_(source)
    gpu = machine.find()
    torch.cuda.synchronize()
    return gpu


def main(arguments: Sequence[str] | None = None) -> int:
    """Do the steps; 0 where all came to their end, 1 where one failed or there is no GPU."""
    options = make_parser().parse_args(arguments)
    if options.list:
        print(*(f"{entry.name:24s} {entry.title}" for entry in load().values()), sep="\n")
        return 0
    steps = options.steps.split(",")
    if wrong := sorted(set(steps) - set(STEPS)):
        print(f"--steps: {wrong[0]!r} is none of {', '.join(STEPS)}", file=sys.stderr)
        return 2
    try:
        gpu = machine.find()
    except machine.NoGpu as none:
        print(none, file=sys.stderr)
        return 1
    missing = [words for name, words in NEEDED.items() if "build" in steps and not shutil.which(name)]
    if missing:
        print(f"What builds varlen is missing: {', '.join(missing)}.", file=sys.stderr)
        return 1
    began = time.perf_counter()
    LOG.unlink(missing_ok=True)
    report: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "gpu": gpu,
        "quick": options.quick,
    }
    doers = {"build": build, "tests": tests, "sanitizers": sanitizers, "table": lambda: measured(options)}
    for step in [step for step in STEPS if step in steps]:
        report[step] = doers[step]()
        if step == "build" and not report[step]["ok"]:
            break
    report["seconds"] = round(time.perf_counter() - began, 1)
    target = options.json or RESULTS / machine.file_name(gpu["name"])
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(report, indent=1) + "\n")
    done = {step: report[step]["ok"] for step in STEPS if step in report}
    print(f"{target}: " + ", ".join(f"{step} {'done' if ok else 'FAILED'}" for step, ok in done.items()))
    return 0 if all(done.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
