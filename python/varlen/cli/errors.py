"""Errors that end a command: arguments that exclude each other, and errors in one line."""

from __future__ import annotations

import os

__all__ = ["Misuse", "one_line"]


class Misuse(Exception):
    """Arguments that do not go together; ends with exit code 2."""


def one_line(error: BaseException) -> str:
    """The text of an error, with its cause, in one line; the file of an error of the system comes first."""
    from varlen.io.building.engines import Trace

    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{os.fspath(error.filename)}: {error.strerror}"
    cause = error.__cause__
    if cause and not isinstance(cause, Trace) and "reason" not in vars(error):  # a record says it itself
        text = f"{text}: {one_line(cause)}"
    if isinstance(error, ModuleNotFoundError) and error.name == "pyarrow":
        text += ": pip install 'varlen[arrow]'"
    return " ".join(text.split()) or type(error).__name__
