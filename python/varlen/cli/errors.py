"""Errors that end a command: arguments that exclude each other, and errors in one line."""

from __future__ import annotations

__all__ = ["Misuse", "one_line"]


class Misuse(Exception):
    """Arguments that do not go together; ends with exit code 2."""


def one_line(error: BaseException) -> str:
    """The text of an error, with its cause, in one line."""
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    if error.__cause__:
        text = f"{text}: {error.__cause__}"
    if isinstance(error, ModuleNotFoundError) and error.name == "pyarrow":
        text += ": pip install 'varlen[arrow]'"
    return " ".join(text.split()) or type(error).__name__
