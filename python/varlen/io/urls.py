"""URLs of files, and the state of the file behind one."""

from __future__ import annotations

import glob
import os
from typing import NamedTuple

from varlen.arguments import as_path
from varlen.errors import value_error
from varlen.io.errors import StaleFileError, stale_error

__all__ = []


class State(NamedTuple):
    """The state of a file behind a URL: its size, and a text that changes whenever the file does."""

    size: int
    mark: str


class Place(NamedTuple):
    """A range of the bytes of a file in a state."""

    url: str
    state: State
    begin: int
    end: int


def is_url(path: object) -> bool:
    """True for text with a scheme.

    >>> is_url("memory://a.nrt"), is_url("/a.nrt"), is_url("C:/a.nrt")
    (True, False, False)
    """
    return isinstance(path, str) and "://" in path and path.partition("://")[0].replace("+", "").isalnum()


def is_http(url: str) -> bool:
    """Whether a URL is one of HTTP."""
    return url.partition("://")[0].lower() in ("http", "https")


def is_pattern(url: str) -> bool:
    """Whether a URL may stand for many files. In an HTTP URL the query follows the `?`.

    >>> is_pattern("memory://a?.nrt"), is_pattern("http://host/a.nrt?key=*"), is_pattern("http://host/*.nrt")
    (True, False, True)
    """
    return "*" in url.partition("?")[0] if is_http(url) else glob.has_magic(url)


def stale(url: str, expected: State, now: State) -> StaleFileError:
    """The error for a file that changed."""
    return stale_error(
        url,
        f"was changed since it was opened: {expected.size} bytes ({expected.mark}) then, "
        f"{now.size} ({now.mark}) now; open it again",
    )


def local_path(path: str | os.PathLike[str]) -> str:
    """The path of a file or a folder to write to; ValueError for a URL.

    >>> local_path("a.nrt")
    'a.nrt'
    """
    if is_url(path):
        raise value_error("path", f"{path} is a URL", "write to a path of this machine, and copy from there")
    return as_path(path)


def join_url(folder: str, name: str) -> str:
    """The URL of a file in a folder.

    >>> join_url("memory://", "b c.nrt"), join_url("http://host/a/?key=1", "b c.nrt")
    ('memory://b c.nrt', 'http://host/a/b%20c.nrt?key=1')
    """
    if not is_http(folder):
        return folder + name if folder.endswith("://") else f"{folder.rstrip('/')}/{name}"
    import urllib.parse

    parts = urllib.parse.urlsplit(folder)
    return urllib.parse.urlunsplit(
        parts._replace(path=f"{parts.path.rstrip('/')}/{urllib.parse.quote(name)}")
    )
