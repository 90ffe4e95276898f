"""Stores of the bytes behind URLs: an HTTP server (`http_store.py`), or a file system of fsspec.

Both tell the state of a file, so that readers notice a change between two reads, and read many ranges at
once. HTTP tells it with each range. fsspec does not, so `check` looks at the files of a batch after it.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from varlen.io.urls import Place, State, is_http, is_pattern, stale

__all__ = []


class Store(Protocol):
    """Files behind URLs."""

    def head(self, url: str, size: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file; no bytes if that is `last_state`."""
        ...

    def state(self, url: str) -> State:
        """The state of the file now."""
        ...

    @property
    def group(self) -> Hashable:
        """Stores of one group may be asked for each other's files, all at once."""
        ...

    def ranges(self, places: Sequence[Place]) -> list[bytes]:
        """Ranges of files, none of them empty. Call `check` before their bytes are used."""
        ...

    def check(self, states: Mapping[str, State]) -> None:
        """StaleFileError if one of the files, which were read a moment ago, is in another state now."""
        ...

    def content(self, url: str, limit: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The whole file, cut off at `limit` bytes, and its state; no bytes if that is `last_state`."""
        ...

    def files(self, url: str) -> list[str] | None:
        """The `.nrt` files of a folder or of a pattern, sorted; None for the URL of one file."""
        ...


def store_of(url: str, options: Mapping[str, Any] | None = None) -> Store:
    """The store that a URL belongs to. Options are those of its file system, or the headers of HTTP."""
    if not is_http(url):
        return FsspecStore(url, options or {})
    from varlen.io.http_store import HttpStore

    return HttpStore(options or {})


_PAGE = 1000  # files that one request of a listing brings, in S3, Google's and Azure's stores

# What changes with a file. Not the time of a look at it.
_MARKS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "created")

_NOT_STALE = (FileNotFoundError, PermissionError, ConnectionError, TimeoutError)  # whatever the file is now

_folder_sizes: dict[str, int] = {}  # files in the folders that were listed
_listing_states: dict[tuple[str, State], State] = {}  # what a listing says of a file in a state


class FsspecStore:
    """Files of any file system that fsspec knows. Retries are the file system's own."""

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._url, self._options = url, options
        self._process_fs = os.getpid(), self._make()

    def _make(self) -> Any:
        try:
            import fsspec
        except ImportError:
            text = f"{self._url}: URLs other than http need fsspec: pip install fsspec"
            raise ModuleNotFoundError(text, name="fsspec") from None
        return fsspec.core.url_to_fs(self._url, **self._options)[0]

    @property
    def _fs(self) -> Any:
        """The file system; a forked child makes a new one, since it does not inherit the reading threads."""
        process = os.getpid()
        if self._process_fs[0] != process:
            self._process_fs = process, self._make()
        return self._process_fs[1]

    def head(self, url: str, size: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file; no bytes if that is `last_state`."""
        state = self.state(url)
        if state.size == 0 or state == last_state:
            return b"", state
        return self.ranges([Place(url, state, 0, min(size, state.size))])[0], state

    def state(self, url: str) -> State:
        """The state of the file now."""
        path = self._path(url)
        self._fs.invalidate_cache(path)
        with _naming(url, "asked for its size and tag"):
            info = self._fs.info(path)
        if info.get("type") == "directory":
            raise IsADirectoryError(21, "Is a folder", url)
        return _state_of(info)

    @property
    def group(self) -> Hashable:
        """The file system: fsspec makes one of each for each thread."""
        return type(self._fs), repr(self._fs.storage_options)

    def ranges(self, places: Sequence[Place]) -> list[bytes]:
        """Ranges of files, as many at once as the file system takes."""
        paths = [self._path(place.url) for place in places]
        begins, ends = [place.begin for place in places], [place.end for place in places]
        bodies = self._fs.cat_ranges(paths, begins, ends, on_error="return")
        for (url, state, begin, end), body in zip(places, bodies, strict=True):
            error = body if isinstance(body, Exception) else None
            if not isinstance(error, _NOT_STALE) and (error is not None or len(body) != end - begin):
                self.check({url: state})  # a read may fail because the file changed
            if error is not None:
                raise _name_url(error, url, f"asked for bytes {begin} to {end - 1}") from error
            if len(body) != end - begin:
                raise OSError(f"{url}: asked for bytes {begin} to {end - 1}, got {len(body)} bytes")
        return list(bodies)

    def check(self, states: Mapping[str, State]) -> None:
        """Look at all files by one listing of their folder, or at each where they are few."""
        folders: dict[str, list[str]] = {}
        for url in states:
            folders.setdefault(self._path(url).rpartition("/")[0], []).append(url)
        for folder, urls in folders.items():
            listing = self._list(folder, len(urls))
            for url in urls:
                expected, entry = states[url], listing.get(self._path(url))
                if entry is not None and entry in (expected, _listing_states.get((url, expected))):
                    continue
                now = self.state(url)
                if now != expected:
                    raise stale(url, expected, now)
                if entry is not None and entry.mark:
                    _listing_states[url, expected] = entry

    def _list(self, folder: str, count: int) -> dict[str, State]:
        """The states of the files of a folder, where a listing takes fewer requests than so many files."""
        if count < 2 + _folder_sizes.get(folder, 0) // _PAGE or not folder:
            return {}
        self._fs.invalidate_cache(folder)
        with _naming(self._fs.unstrip_protocol(folder), "asked for its files"):
            entries = self._fs.ls(folder, detail=True)
        _folder_sizes[folder] = len(entries)
        return {entry["name"]: _state_of(entry) for entry in entries if entry.get("size") is not None}

    def content(self, url: str, limit: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The whole file, cut off at `limit` bytes, and its state; no bytes if that is `last_state`."""
        state = self.state(url)
        if state == last_state:
            return b"", state
        size = min(limit, state.size)
        with _naming(url, f"asked for {size} bytes"):
            body = bytes(self._fs.cat_file(self._path(url), start=0, end=size))
        if len(body) != size:
            raise OSError(f"{url}: asked for {size} bytes, got {len(body)}")
        return body, state

    def files(self, url: str) -> list[str] | None:
        """The `.nrt` files of a folder or of a pattern, sorted; None for the URL of one file."""
        path = self._path(url)
        with _naming(url, "asked for its files"):
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


@contextlib.contextmanager
def _naming(url: str, what: str) -> Iterator[None]:
    """Errors of a file system name the file and what was asked for."""
    try:
        yield
    except Exception as error:
        raise _name_url(error, url, what) from error


def _name_url(error: Exception, url: str, what: str) -> OSError:
    """The error that names the file."""
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(2, "No such file", url)
    if isinstance(error, NotADirectoryError):
        return NotADirectoryError(20, "Not a folder", url)
    kind = next((kind for kind in _NOT_STALE if isinstance(error, kind)), OSError)
    return kind(f"{url}: {what}: {error}")


def _state_of(info: Mapping[str, Any]) -> State:
    mark = next((str(info[name]) for name in _MARKS if info.get(name) is not None), "")
    return State(int(info["size"]), mark)
