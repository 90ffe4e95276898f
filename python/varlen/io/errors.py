"""Errors of reading files."""

from __future__ import annotations

from collections.abc import Sequence

from varlen import errors

__all__ = ["ChecksumError", "FileFormatError", "StaleFileError"]


class FileFormatError(ValueError):
    """A file breaks a rule of the format; the message names the file, the place and the fault.

    Examples
    --------
    >>> issubclass(FileFormatError, ValueError)
    True
    """


class ChecksumError(FileFormatError):
    """The bytes of a file, or of an index, are not those that were written.

    Attributes
    ----------
    argument : str
        The full name of the tensor, such as "dim1/time"; "header" or "index" for what describes the tensors.
    key, dim : str and int
        The key and the dim of a tensor.
    expected, found : str
        The checksum that was written, and that of the bytes that are there.

    Examples
    --------
    >>> issubclass(ChecksumError, FileFormatError)
    True
    """


def checksum_error(
    path: str, name: str, expected: str, found: str, key: str | None = None, dim: int | None = None
) -> ChecksumError:
    """A ChecksumError that knows its file, its tensor and both checksums."""
    reason = f"the checksum is {found}, expected {expected}: its bytes are not those that were written"
    error = errors.error_of(ChecksumError, name, reason, file=path)
    fields = {"expected": expected, "found": found} | ({} if key is None else {"key": key, "dim": dim})
    return errors.with_fields(error, **fields)


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
