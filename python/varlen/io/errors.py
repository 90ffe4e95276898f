"""Errors of reading files."""

from __future__ import annotations

from collections.abc import Sequence

from varlen import errors

__all__ = ["FileFormatError", "StaleFileError"]


class FileFormatError(ValueError):
    """A file breaks a rule of the format; the message names the file, the place and the fault.

    Examples
    --------
    >>> issubclass(FileFormatError, ValueError)
    True
    """


def format_error(path: str, reason: str, argument: str = "", advice: str = "") -> FileFormatError:
    """A FileFormatError that knows its file."""
    return errors.error_of(FileFormatError, argument, reason, advice, file=path)


def stale_error(path: str, reason: str) -> StaleFileError:
    """A StaleFileError that knows its file."""
    return errors.error_of(StaleFileError, "", reason, file=path)


def name_only_file(error: Exception, paths: Sequence[str]) -> Exception:
    """The error with the only file that can have caused it, if there is one."""
    return errors.name_file(error, paths[0], FileFormatError) if len(paths) == 1 and paths[0] else error


class StaleFileError(ValueError):
    """A file was replaced, changed or cut short since it was opened.

    Examples
    --------
    >>> issubclass(StaleFileError, ValueError)
    True
    """
