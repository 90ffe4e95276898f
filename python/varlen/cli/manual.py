"""The parser of every command: its line in the list, its page, the function that runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from varlen.cli.errors import Misuse

__all__ = ["Parser", "add_command", "check_parent", "check_positive"]


class Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one line.

    Examples
    --------
    >>> Parser(prog="t").prog
    't'
    """

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2."""
        self.exit(2, f"{self.prog}: {' '.join(message.split())}; see {self.prog} --help\n")


def add_command(
    commands: Any, name: str, line: str, page: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Adds a command whose page is printed as it is written; gives its parser for the arguments.

    Examples
    --------
    >>> commands = argparse.ArgumentParser().add_subparsers()
    >>> parser = add_command(commands, "nothing", "does nothing", "Does nothing.", lambda _: 0)
    >>> list(commands.choices)
    ['nothing']
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=line, description=page, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser


def check_positive(arguments: argparse.Namespace, *names: str) -> None:
    """Options that count things, where they were given.

    Raises
    ------
    varlen.cli.errors.Misuse
        One is below 1.

    Examples
    --------
    >>> check_positive(argparse.Namespace(batch_size=3), "batch_size")
    """
    for name in names:
        value = getattr(arguments, name)
        if value is not None and value < 1:
            raise Misuse(f"--{name.replace('_', '-')}: expected at least 1, got {value}")


def check_parent(target: Path, called: object) -> None:
    """A result needs a folder to be written into.

    Raises
    ------
    FileNotFoundError
        There is none; the message begins with what the result is called.

    Examples
    --------
    >>> check_parent(Path("rows.nrt"), "rows.nrt")
    """
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{called}: there is no folder {target.parent}")
