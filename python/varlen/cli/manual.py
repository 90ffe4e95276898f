"""The parser of every command: its line in the list, its page, the function that runs it."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from varlen.cli.errors import Misuse

__all__ = ["Parser", "add_command", "check_parent", "check_positive"]


class Parser(argparse.ArgumentParser):
    """A parser that reports an error in one line."""

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())}; see {self.prog} --help\n")

    def refuse(self, rest: Sequence[str]) -> NoReturn:
        """Ends with exit code 2: names unknown arguments, and the options that they may mean."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        flags = [argument.partition("=")[0] for argument in rest if argument.startswith("-")]
        self.error(f"unrecognized arguments: {' '.join(rest)}{_suggestion(flags, options)}")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            names = [str(name) for name in action.choices]
            message = f"invalid choice: {value!r} (choose from {', '.join(names)})"
            raise argparse.ArgumentError(action, message + _suggestion([str(value)], names))


def _suggestion(words: Sequence[str], names: Sequence[str]) -> str:
    """The nearest existing name for each given one; nothing if none is near."""
    plain = {name.replace("-", "").replace("_", "").lower(): name for name in names}
    matches = [
        plain[match]
        for name in words
        for match in difflib.get_close_matches(name.replace("-", "").replace("_", "").lower(), plain, 1)
    ]
    return f"; did you mean {' and '.join(dict.fromkeys(matches))}?" if matches else ""


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    line: str,
    page: str,
    run: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    """Adds a command whose page is printed as it is written; returns its parser for the arguments."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=line, description=page, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_engine(parser: argparse.ArgumentParser, workers: str, engine: str, default: int | None = 1) -> None:
    """Adds the options of what tasks run on, with the text of each."""
    parser.add_argument("--workers", metavar="N", type=int, default=default, help=workers)
    parser.add_argument("--engine", choices=("processes", "dask", "ray"), help=engine)


def check_positive(arguments: argparse.Namespace, *names: str) -> None:
    """Checks the given options that count things."""
    from varlen.io.building.engines import MOST_WORKERS

    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise Misuse(f"--{name.replace('_', '-')}: expected at least 1, got {value}")
        if name == "workers" and value is not None and value > MOST_WORKERS:
            raise Misuse(f"--workers: expected at most {MOST_WORKERS}, got {value}")


def check_parent(target: Path, label: object) -> None:
    """Checks that the folder of a result exists."""
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{label}: there is no folder {target.parent}")
