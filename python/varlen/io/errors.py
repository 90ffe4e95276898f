"""Errors of reading files."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["FileFormatError", "StaleFileError"]


class FileFormatError(ValueError):
    """A file breaks a rule of the format; the text names the file, the place and the fault.

    Examples
    --------
    >>> issubclass(FileFormatError, ValueError)
    True
    """


def named(error: ValueError, paths: Sequence[str]) -> ValueError:
    """The error, with the name of the only file that can have caused it in front.

    >>> named(ValueError("dim1/bounds: row 1 ends at 2"), ["/a.nrt"])
    FileFormatError('/a.nrt: dim1/bounds: row 1 ends at 2')
    """
    path = paths[0] if len(paths) == 1 else ""
    if not path or str(error).startswith(path):
        return error
    return FileFormatError(f"{path}: {error}")


class StaleFileError(ValueError):
    """A file was replaced, changed or cut short since it was opened.

    Examples
    --------
    >>> issubclass(StaleFileError, ValueError)
    True
    """
