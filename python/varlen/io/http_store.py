"""Ranges of files behind HTTP, many at once, over connections that stay open.

urllib3 keeps the connections and asks again; what a server says about the range that it sent is checked here.
fsspec's HTTP hides that. The first HTTP URL loads it.
"""

from __future__ import annotations

import functools
import os
import re
import threading
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any

from varlen.errors import type_error
from varlen.io.errors import stale_error
from varlen.io.urls import Place, State, stale
from varlen.io.waits import MOST_AT_ONCE, ask_all

__all__ = []

_SAFE = "%/:=&?~#+!$,;'@()*[]"  # as they are in a URL; letters beyond ASCII and spaces are quoted

# A request that fails on the way, or that the server could not serve now, is sent again, so many times in
# all: at once, then after 0.4, 0.8 and 1.6 seconds, or when the server says, but after 30 seconds at most.
# What a server answers wrongly is not asked twice.
_TRIES = 5
_PAUSE = 0.2
_LONGEST_PAUSE = 30.0
_TIMEOUT = 30.0
_BUSY = (408, 425, 429, *range(500, 600))  # later the server may answer

_pools: dict[str | None, Any] = {}
_lock = threading.Lock()


def _renew() -> None:
    """A forked child opens connections of its own."""
    global _lock
    _lock = threading.Lock()
    _pools.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


class HttpStore:
    """Files of a server that answers range requests as in RFC 9110."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        for name in options.keys() - {"headers"}:
            raise type_error(
                "storage_options", f"HTTP has no {name!r}; {{'headers': {{...}}}} is sent with each request"
            )
        self._headers = {str(key): str(value) for key, value in options.get("headers", {}).items()}
        self._proxies: dict[str, str | None] = {}

    def head(self, url: str, size: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The first bytes, at most `size`, and the state of the file; no bytes if that is `last_state`."""
        if last_state is not None and not _is_tag(last_state.mark) and self.state(url) == last_state:
            return b"", last_state
        return self._get(url, 0, size, None, last_state)

    def state(self, url: str) -> State:
        """The state of the file now."""
        return self.head(url, 1)[1]

    group = "http"

    def ranges(self, places: Sequence[Place]) -> list[bytes]:
        """Ranges of files, several at once."""
        return ask_all(lambda place: self._get(place.url, place.begin, place.end, place.state)[0], places)

    def check(self, states: Mapping[str, State]) -> None:
        """Nothing to do: each read sees a change."""

    def content(self, url: str, limit: int, last_state: State | None = None) -> tuple[bytes, State]:
        """The whole file, cut off at `limit` bytes, and its state; no bytes if that is `last_state`."""
        headers = {"Range": f"bytes=0-{limit - 1}", **_unless(last_state)}
        answer = self._ask(url, headers, "the whole file", empty=True)
        if last_state is not None and answer.status == 304:
            return b"", last_state
        if answer.status == 206:
            body = _range_of(answer, url, 0, limit, "the whole file")[0]
        elif answer.status in (200, 416):
            body = b"" if answer.status == 416 else bytes(answer.data[:limit])
        else:
            raise OSError(f"{url}: asked for the whole file, the server answered {answer.status}")
        return body, State(len(body), _mark_of(answer))

    def files(self, url: str) -> list[str] | None:
        """None, or an error: a server lists no files."""
        path = urllib.parse.urlsplit(url).path
        if path.endswith("/") or "*" in path:
            raise FileNotFoundError(
                f"{url}: HTTP cannot list files; expected an index.json there, or the URL of a file"
            )
        return None

    def _get(
        self, url: str, begin: int, end: int, state: State | None, last_state: State | None = None
    ) -> tuple[bytes, State]:
        headers = {"Range": f"bytes={begin}-{end - 1}", **_unless(last_state)}
        if state is not None and state.mark.startswith('"'):  # a strong ETag
            headers["If-Match"] = state.mark
        what = f"bytes {begin} to {end - 1}"
        answer = self._ask(url, headers, what)
        if last_state is not None and answer.status == 304:
            return b"", last_state
        if answer.status == 412:
            mark = answer.headers.get("ETag", "another one")
            raise stale_error(url, f"was changed since it was opened: it is {mark} now; open it again")
        if answer.status != 206:
            why = (
                " with the whole file: it does not serve ranges; copy the file"
                if answer.status == 200
                else ""
            )
            raise OSError(f"{url}: asked for {what}, the server answered {answer.status}{why}")
        body, size = _range_of(answer, url, begin, end, what, state)
        return body, State(size, _mark_of(answer))

    def _ask(self, url: str, headers: Mapping[str, str], what: str, empty: bool = False) -> Any:
        """The answer to a request, whole; errors name the file and what was asked for."""
        if url not in self._proxies:
            self._proxies[url] = _proxy_of(url)
        pool, failures = _pool(url, self._proxies[url])
        headers = {**self._headers, **headers, "Accept-Encoding": "identity"}
        try:
            answer = pool.request(
                "GET",
                urllib.parse.quote(url, safe=_SAFE),
                headers=headers,
                retries=_retry(_PAUSE),
                timeout=_TIMEOUT,
                decode_content=False,
            )
        except failures as error:
            last = getattr(error, "reason", None) or error
            raise ConnectionError(
                f"{url}: asked for {what}, {_TRIES} requests failed, the last with: {last}"
            ) from None
        message = f"the server answered {answer.status} {answer.reason} to {what}"
        if answer.status in (404, 410):
            raise FileNotFoundError(2, "No such file", url)
        if answer.status in (401, 403, 407):
            raise PermissionError(13, message, url)
        if answer.status == 416 and not empty:
            raise stale_error(url, f"the server has no {what}; is it empty?")
        if answer.status >= 400 and answer.status not in (412, 416):
            raise OSError(f"{url}: {message}")
        encoding = answer.headers.get("Content-Encoding", "identity")
        if encoding != "identity":
            raise OSError(
                f"{url}: asked for {what}, expected the file's own bytes, "
                f"the server compressed them ({encoding})"
            )
        return answer


def _range_of(
    answer: Any, url: str, begin: int, end: int, what: str, state: State | None = None
) -> tuple[bytes, int]:
    """The bytes of a part of a file, which have to be those that were asked for, and the size of the file."""
    header = answer.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+)", header)
    if match is None:
        raise OSError(
            f"{url}: asked for {what}, the answer says Content-Range {header!r}, "
            "expected bytes of a known size"
        )
    first, last, size = (int(number) for number in match.groups())
    now = State(size, _mark_of(answer))
    if state is not None and now != state:
        raise stale(url, state, now)
    if (first, last) != (begin, min(end, size) - 1):
        raise OSError(f"{url}: asked for {what}, the server sent {first} to {last}")
    body = bytes(answer.data)
    if len(body) != last - first + 1:
        count = "more" if len(body) > last - first + 1 else "fewer"
        raise OSError(f"{url}: {count} bytes came than {first} to {last}, which the server says it sent")
    return body, size


def _mark_of(answer: Any) -> str:
    return answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""


def _is_tag(mark: str) -> bool:
    return mark.startswith(('"', 'W/"'))


def _unless(last_state: State | None) -> dict[str, str]:
    """The header for an answer without a body where the file is in this state."""
    return {"If-None-Match": last_state.mark} if last_state is not None and _is_tag(last_state.mark) else {}


@functools.cache
def _retry(pause: float) -> Any:
    """How often a request is sent again, and after which pauses."""
    import urllib3

    class Retry(urllib3.Retry):  # type: ignore[misc]
        def get_retry_after(self, response: Any) -> float | None:
            try:
                seconds = super().get_retry_after(response)
            except urllib3.exceptions.InvalidHeader:  # neither seconds nor a date
                seconds = None
            return None if seconds is None else min(seconds, _LONGEST_PAUSE)

    return Retry(
        total=_TRIES - 1,
        backoff_factor=pause,
        backoff_jitter=pause / 2,
        status_forcelist=_BUSY,
        respect_retry_after_header=True,
    )


def _proxy_of(url: str) -> str | None:
    """The proxy that the environment names for a URL."""
    parts = urllib.parse.urlsplit(url)
    proxy = urllib.request.getproxies().get(parts.scheme.lower())
    return None if proxy and urllib.request.proxy_bypass(parts.hostname or "") else proxy


def _pool(url: str, proxy: str | None) -> tuple[Any, Any]:
    """The open connections to all servers, or to those behind a proxy, and the error of urllib3."""
    try:
        import urllib3
    except ImportError:
        text = f"{url}: HTTP URLs need urllib3: pip install urllib3"
        raise ModuleNotFoundError(text, name="urllib3") from None
    with _lock:
        if proxy not in _pools:
            how: dict[str, Any] = {"num_pools": 16, "maxsize": MOST_AT_ONCE}
            _pools[proxy] = (
                urllib3.ProxyManager(proxy, **how) if proxy is not None else urllib3.PoolManager(**how)
            )
        return _pools[proxy], urllib3.exceptions.HTTPError
