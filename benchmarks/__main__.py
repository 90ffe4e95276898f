"""`python -m benchmarks`: run the table, or the rows whose names match, and say which goals are met."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


def make_parser() -> argparse.ArgumentParser:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--rows", default=".", metavar="REGEX", help="only rows whose names match, such as '^pad'"
    )
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure of the run to FILE")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="put the table between the markers of FILE; with --rows, those rows alone are replaced",
    )
    parser.add_argument(
        "--from", type=Path, dest="given", metavar="FILE", help="report on this JSON file, run nothing"
    )
    parser.add_argument(
        "--quick", action="store_true", help="three short rounds: a look, not a figure to quote"
    )
    parser.add_argument(
        "--busy", action="store_true", help="others use the machine too: count CPU time, not wall time"
    )
    parser.add_argument("--rounds", type=int, default=0, help="rounds a row (9; 3 with --quick)")
    parser.add_argument("--threads", type=int, default=1, help="threads that varlen may use (1)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0 where every row ran, 1 where one failed or gave a wrong result. A missed goal is no failure."""
    options = make_parser().parse_args(arguments)
    if options.given:
        report = json.loads(options.given.read_text())
        if options.report:
            from .report import write_report

            write_report(report, options.report)
        return 0
    for name in ONE_THREAD:
        os.environ.setdefault(name, "1")

    from . import report as view
    from .harness import ROWS, run_row
    from .python import load

    load()
    chosen = [entry for entry in ROWS.values() if re.search(options.rows, entry.name)]
    if not chosen:
        print(f"--rows: no row matches {options.rows!r}; --list names them all", file=sys.stderr)
        return 2
    if options.list:
        print("\n".join(f"{entry.name:22s} {entry.title}" for entry in chosen))
        return 0

    import varlen

    is_part = options.rows != "."
    if options.report and is_part:
        view.check_machine(options.report, view.machine()["cpu"])
    results = []
    # Rows with threads come first: helpers started on one core would have to stay there.
    for entry in sorted(chosen, key=lambda entry: entry.threads == 1):
        varlen.set_num_threads(options.threads)
        rounds = options.rounds or (3 if options.quick else 9)
        try:
            result = run_row(entry, rounds, 1.0 if options.quick else 5.0, options.busy)
        except Exception as error:
            result = {"name": entry.name, "title": entry.title, "error": f"{type(error).__name__}: {error}"}
        results.append(result)
        print(view.block(result), flush=True)
    order = list(ROWS)
    results.sort(key=lambda result: order.index(result["name"]))
    whole = {
        "machine": view.machine(),
        "quick": options.quick,
        "busy": options.busy,
        "is_part": is_part,
        "threads": options.threads,
        "rows": results,
    }
    if options.json:
        options.json.write_text(json.dumps(whole, indent=1) + "\n")
    if options.report:
        view.write_report(whole, options.report)
    goals = [goal["met"] for result in results for goal in result.get("goals", [])]
    failed = [result["name"] for result in results if "error" in result]
    print(f"{sum(goals)} of {len(goals)} goals met" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
