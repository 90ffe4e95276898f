"""How every command enters the parser: its line in the list, its page, what runs it."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

__all__ = ["add_command"]


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
