"""Ranges of files behind HTTP, many at once.

It does not use fsspec, which hides what a server says about the range that it sent. The first HTTP URL loads
it.
"""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from varlen.io.errors import stale_error
from varlen.io.urls import State, stale
from varlen.io.waits import map_items

__all__ = []

_T = TypeVar("_T")

_SAFE = "%/:=&?~#+!$,;'@()*[]"  # as they are in a URL; letters beyond ASCII and spaces are quoted

# A request that fails on the way, or that the server could not serve now, is sent again, so many times in
# all, after 0.1 and 0.4 seconds. What a server answers wrongly is not asked twice.
_TRIES = 3
_PAUSE = 0.1
_TIMEOUT = 30.0
_BUSY = (408, 425, 429)  # as those of 500 and more: later the server may answer


class HttpStore:
    """Files of a server that answers range requests as in RFC 9110."""

    def head(self, url: str, size: int) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file."""
        return _retry(url, lambda: self._get(url, 0, size, None))

    def state(self, url: str) -> State:
        """The state of the file now."""
        return self.head(url, 1)[1]

    def ranges(self, url: str, state: State, begins: Sequence[int], ends: Sequence[int]) -> list[bytes]:
        """Ranges of the file, several at once."""

        def get(place: tuple[int, int]) -> bytes:
            return _retry(url, lambda: self._get(url, *place, state)[0])

        return map_items(get, zip(begins, ends, strict=True))

    def content(self, url: str, limit: int) -> bytes:
        """The whole file, cut off at `limit` bytes."""

        def get() -> bytes:
            with _answer(url, {}) as response:
                body = bytes(response.read(limit))
                header = response.headers.get("Content-Length", "")
            missing = min(int(header), limit) - len(body) if header.isdecimal() else 0
            if missing > 0:  # which http.client says only of bodies that are read to their end
                raise http.client.IncompleteRead(body, missing)
            return body

        return _retry(url, get)

    def files(self, url: str) -> list[str] | None:
        """None, or an error: a server lists no files."""
        path = urllib.parse.urlsplit(url).path
        if path.endswith("/") or "*" in path:
            raise FileNotFoundError(
                f"{url}: HTTP cannot list files; expected an index.json there, or the URL of a file"
            )
        return None

    def _get(self, url: str, begin: int, end: int, state: State | None) -> tuple[bytes, State]:
        with _answer(url, {"Range": f"bytes={begin}-{end - 1}"}) as response:
            if response.status != 206:
                raise OSError(
                    f"{url}: asked for bytes {begin} to {end - 1}, the server answered {response.status} "
                    "with the whole file: it does not serve ranges; copy the file"
                )
            header = response.headers.get("Content-Range", "")
            match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", header)
            if match is None:
                raise OSError(
                    f"{url}: the answer says Content-Range {header!r}, expected bytes of a known size"
                )
            first, last, size = (int(number) for number in match.groups())
            mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
            now = State(size, mark)
            if state is not None and now != state:
                raise stale(url, state, now)
            if (first, last) != (begin, min(end, size) - 1):
                raise OSError(
                    f"{url}: asked for bytes {begin} to {end - 1}, the server sent {first} to {last}"
                )
            body = response.read(last - first + 2)
        if len(body) < last - first + 1:
            raise http.client.IncompleteRead(body, last - first + 1 - len(body))
        if len(body) > last - first + 1:
            raise OSError(f"{url}: more bytes came than {first} to {last}, which the server says it sent")
        return body, now


def _answer(url: str, headers: dict[str, str]) -> Any:
    headers = {**headers, "Accept-Encoding": "identity"}
    try:
        request = urllib.request.Request(urllib.parse.quote(url, safe=_SAFE), headers=headers)
        response = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        error.close()
        message = f"the server answered {error.code} {error.reason}"
        if error.code in (404, 410):
            raise FileNotFoundError(2, "No such file", url) from None
        if error.code in (401, 403, 407):
            raise PermissionError(13, message, url) from None
        if error.code == 416:
            byte_range = headers.get("Range", "")[6:]
            raise stale_error(url, f"the server has no bytes {byte_range}; is it empty?") from None
        if error.code < 500 and error.code not in _BUSY:
            raise OSError(f"{url}: {message}") from None
        raise
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        response.close()
        raise OSError(f"{url}: expected the file's own bytes, the server compressed them ({encoding})")
    return response


def _retry(url: str, get: Callable[[], _T]) -> _T:
    """The result of `get`, which is called again if the connection failed."""
    for attempt in range(_TRIES):
        try:
            return get()
        except (urllib.error.URLError, http.client.HTTPException, ConnectionError, TimeoutError) as error:
            if attempt == _TRIES - 1:
                raise ConnectionError(f"{url}: {_TRIES} requests failed, the last with: {error}") from None
            time.sleep(_PAUSE * 4**attempt)
    raise AssertionError
