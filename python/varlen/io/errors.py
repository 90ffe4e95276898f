"""What reading a file can find wrong."""

from __future__ import annotations

__all__ = ["FileFormatError", "StaleFileError"]


class FileFormatError(ValueError):
    """A file is not what the format allows; the text says what, where, and in which file.

    Examples
    --------
    >>> issubclass(FileFormatError, ValueError)
    True
    """


class StaleFileError(ValueError):
    """A file is not the one that was opened: it was replaced, changed or cut short since.

    Examples
    --------
    >>> issubclass(StaleFileError, ValueError)
    True
    """
