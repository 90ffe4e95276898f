"""Stores of the bytes behind URLs: an HTTP server (`http_store.py`), or a file system of fsspec.

Both tell the state of a file, so that readers notice a change between two reads, and read many ranges at
once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Protocol

from varlen.io.urls import State, is_http, is_pattern, stale

__all__ = []


class Store(Protocol):
    """Files behind URLs."""

    def head(self, url: str, size: int) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file."""
        ...

    def state(self, url: str) -> State:
        """The state of the file now."""
        ...

    def ranges(self, url: str, state: State, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        """Ranges of the file, none of them empty; StaleFileError if its state changed."""
        ...

    def content(self, url: str, limit: int) -> bytes:
        """The whole file, cut off at `limit` bytes."""
        ...

    def files(self, url: str) -> list[str] | None:
        """The `.nrt` files of a folder or of a pattern, sorted; None for the URL of one file."""
        ...


def store_of(url: str) -> Store:
    """The store that a URL belongs to."""
    if not is_http(url):
        return FsspecStore(url)
    from varlen.io.http_store import HttpStore

    return HttpStore()


class FsspecStore:
    """Files of any file system that fsspec knows. Retries are the file system's own."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._process_fs = os.getpid(), self._make()

    def _make(self) -> Any:
        try:
            import fsspec
        except ImportError:
            raise ModuleNotFoundError(
                f"{self._url}: URLs other than http need fsspec: pip install fsspec"
            ) from None
        return fsspec.core.url_to_fs(self._url)[0]

    @property
    def _fs(self) -> Any:
        """The file system; a forked child makes a new one, since it does not inherit the reading threads."""
        process = os.getpid()
        if self._process_fs[0] != process:
            self._process_fs = process, self._make()
        return self._process_fs[1]

    def head(self, url: str, size: int) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file."""
        state = self.state(url)
        if state.size == 0:
            return b"", state
        return self.ranges(url, state, [0], [min(size, state.size)])[0], state

    def state(self, url: str) -> State:
        """The state of the file now."""
        path = self._path(url)
        self._fs.invalidate_cache(path)
        try:
            info = self._fs.info(path)
        except FileNotFoundError:
            raise FileNotFoundError(2, "No such file", url) from None
        if info.get("type") == "directory":
            raise IsADirectoryError(21, "Is a folder", url)
        times = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")
        mark = next((str(info[name]) for name in times if info.get(name) is not None), "")
        return State(int(info["size"]), mark)

    def ranges(self, url: str, state: State, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        """Ranges of the file, as many at once as the file system takes."""
        path, failure = self._path(url), None
        bodies: list[bytes] = []
        try:
            bodies = self._fs.cat_ranges([path] * len(begins), list(begins), list(ends), on_error="raise")
        except Exception as error:
            failure = error
        now = self.state(url)  # only now: the file may change while it is read, and a read may fail for that
        if now != state:
            raise stale(url, state, now)
        if failure is not None:
            raise failure
        for begin, end, body in zip(begins, ends, bodies, strict=True):
            if len(body) != end - begin:
                raise OSError(f"{url}: asked for bytes {begin} to {end - 1}, got {len(body)} bytes")
        return bodies

    def content(self, url: str, limit: int) -> bytes:
        """The whole file, cut off at `limit` bytes."""
        state = self.state(url)
        size = min(limit, state.size)
        body = bytes(self._fs.cat_file(self._path(url), 0, size))
        if len(body) != size:
            raise OSError(f"{url}: asked for {size} bytes, got {len(body)}")
        return body

    def files(self, url: str) -> list[str] | None:
        """The `.nrt` files of a folder or of a pattern, sorted; None for the URL of one file."""
        path = self._path(url)
        if is_pattern(url) and not self._fs.exists(path):
            names = self._fs.glob(path)
        elif self._fs.isdir(path):
            names = [name for name in self._fs.ls(path, detail=False) if name.endswith(".nrt")]
        else:
            return None
        if not names:
            raise FileNotFoundError(f"no .nrt file at {url}")
        return [self._fs.unstrip_protocol(name) for name in sorted(names)]

    def _path(self, url: str) -> str:
        return str(self._fs._strip_protocol(url))
