"""Errors of reading files."""

from __future__ import annotations

__all__ = ["FileFormatError", "StaleFileError"]


class FileFormatError(ValueError):
    """A file breaks a rule of the format; the text names the file, the place and the fault.

    Examples
    --------
    >>> issubclass(FileFormatError, ValueError)
    True
    """


class StaleFileError(ValueError):
    """A file was replaced, changed or cut short since it was opened.

    Examples
    --------
    >>> issubclass(StaleFileError, ValueError)
    True
    """
