"""``varlen bench``: the benchmark table, from a checkout of the sources."""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from varlen.cli.errors import Misuse
from varlen.cli.manual import add_command, check_parent

__all__ = ["add_parser"]

_DESCRIPTION = """\
Runs the benchmark table. Each row checks varlen's result against its peers and times all of
them in turn, in one process on one core. It reports varlen's ratio to memory bandwidth and to
the best peer. Peers that are not installed are named and left out; `pip install
"varlen[bench]"` installs them. Figures from a busy machine mean little: look at the spread
beside them.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the parser."""
    parser = add_command(commands, "bench", "run the benchmarks", _DESCRIPTION, _run)
    parser.add_argument(
        "--rows", metavar="REGEX", default="", help="run only rows whose name matches (default: all)"
    )
    parser.add_argument("--list", action="store_true", help="list the names of the rows, then stop")
    parser.add_argument("--json", metavar="FILE", help="also write the figures to FILE")
    parser.add_argument(
        "--quick", action="store_true", help="small sizes, few rounds: checks results, gives rough figures"
    )


def _check(arguments: argparse.Namespace) -> None:
    try:
        re.compile(arguments.rows)
    except re.error as wrong:
        raise Misuse(f"--rows: {arguments.rows!r} is not a regular expression: {wrong}") from None
    if arguments.json is None:
        return
    target = Path(arguments.json)
    check_parent(target, "--json")
    if target.is_dir():
        raise IsADirectoryError(f"--json: {target} is a folder")


def _run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    # A process of its own, because thread counts are read when libraries load. Beside the installed package
    # the table is called varlen._benchmarks; in a checkout it is the folder benchmarks.
    module = next(
        (name for name in ("varlen._benchmarks", "benchmarks") if importlib.util.find_spec(name)), None
    )
    if module is None:
        raise FileNotFoundError(
            "this varlen was installed without its benchmarks; run `varlen bench` in a checkout"
        )
    command = [sys.executable, "-m", module]
    for option in ("rows", "json"):
        if getattr(arguments, option):
            command += [f"--{option}", getattr(arguments, option)]
    for option in ("list", "quick"):
        if getattr(arguments, option):
            command.append(f"--{option}")
    return subprocess.run(command, check=False).returncode
