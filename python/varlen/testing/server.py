"""A server of files on this machine, as slow and as faulty as a test wants it."""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import NamedTuple

__all__ = ["Answer", "FileServer", "Request"]


class Request(NamedTuple):
    """One request that a server has had.

    Parameters
    ----------
    path : str
        The path in the URL, without the leading slash and the query.
    range : tuple of int or None
        The first and the last byte; None for the whole file.
    begin, end : float
        When it came, and when its answer had gone, in seconds of `time.monotonic`.
    connection : int
        The number of the connection that it came by.
    headers : Mapping of str to str
        Its headers.

    Examples
    --------
    >>> Request("a.nrt", (0, 9), 0.0, 0.1, 0, {}).range
    (0, 9)
    """

    path: str
    range: tuple[int, int] | None
    begin: float
    end: float
    connection: int
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """What a server is about to send; a fault changes it.

    Parameters
    ----------
    status : int
        The status.
    headers : Mapping of str to str
        The headers. A `Content-Length` replaces the true one.
    body : bytes
        The body.
    cut : int, optional
        After so many bytes of the body the connection is closed; all are sent by default.

    Examples
    --------
    >>> Answer(503, {"Retry-After": "1"}, b"").status
    503
    """

    status: int
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes = b""
    cut: int | None = None


class FileServer:
    """Serves the files of a folder over HTTP on loopback, with ranges, ETags, `If-Match` and `If-None-Match`.

    Each request is kept, so a test can count them. `fault` may change any answer, or send none.

    Parameters
    ----------
    folder : path or dict of str to bytes
        The files.
    latency : float, default 0
        How many seconds pass before an answer.
    fault : callable, optional
        Called as fault(request, answer) before an answer is sent. It returns an Answer, or None to close the
        connection without one.

    Examples
    --------
    >>> import urllib.request
    >>> with FileServer({"a.txt": b"some words"}) as server:
    ...     with urllib.request.urlopen(f"{server.url}/a.txt") as answer:
    ...         answer.read(), [request.path for request in server.requests]
    (b'some words', ['a.txt'])
    """

    def __init__(
        self,
        folder: str | os.PathLike[str] | dict[str, bytes],
        *,
        latency: float = 0.0,
        fault: Callable[[Request, Answer], Answer | None] | None = None,
    ) -> None:
        self.folder = folder
        self.latency = latency
        self.fault = fault
        self.tag = ""  # of every file, instead of one of its bytes
        self.requests: list[Request] = []
        self.peak = 0  # requests that were waiting at the same time
        self._queue_length = 0
        self._connections = 0
        self._lock = threading.Lock()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = 1 << 16  # headers and a short body leave together

            def setup(self) -> None:
                super().setup()
                with server._lock:
                    server._connections += 1
                    self.number = server._connections

            def handle(self) -> None:
                with contextlib.suppress(OSError):
                    super().handle()

            def do_GET(self) -> None:
                server._answer(self, self.number)

            do_HEAD = do_GET

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            request_queue_size = 256

            def handle_error(self, *_: object) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL of the folder, without a slash at its end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def connections(self) -> int:
        """How many connections were opened."""
        return self._connections

    @contextlib.contextmanager
    def count(self) -> Iterator[list[Request]]:
        """The requests that come while a block runs.

        Returns
        -------
        context manager of list of Request
            The list fills while the block runs.

        Examples
        --------
        >>> with FileServer({}) as server, server.count() as requests:
        ...     len(requests)
        0
        """
        earlier_requests = self.requests
        self.requests = requests = list[Request]()
        try:
            yield requests
        finally:
            self.requests = earlier_requests + requests

    def close(self) -> None:
        """Stop the server.

        Examples
        --------
        >>> FileServer({}).close()
        """
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> FileServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, name: str) -> tuple[bytes, str] | None:
        """The bytes of a file, and its tag."""
        if isinstance(self.folder, dict):
            body = self.folder.get(name)
            return None if body is None else (body, self.tag or f"{hash(body):x}")
        path = os.path.join(os.fspath(self.folder), name)
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            info = os.fstat(file.fileno())
            return file.read(), self.tag or f"{info.st_size:x}-{info.st_mtime_ns:x}-{info.st_ino:x}"

    def _answer(self, handler: BaseHTTPRequestHandler, connection: int) -> None:
        begin = time.monotonic()
        with self._lock:
            self._queue_length += 1
            self.peak = max(self.peak, self._queue_length)
        if self.latency:
            time.sleep(self.latency)
        name = handler.path.partition("?")[0].lstrip("/")
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", handler.headers.get("Range", ""))
        byte_range = None if match is None else (int(match[1]), int(match[2]))
        headers = dict(handler.headers.items())
        answer: Answer | None = self._plain(handler.path, byte_range, headers, handler.command)
        request = Request(name, byte_range, begin, time.monotonic(), connection, headers)
        with self._lock:
            self._queue_length -= 1
            self.requests.append(request)
        if self.fault is not None and answer is not None:
            answer = self.fault(request, answer)
        if answer is None:
            handler.close_connection = True
            return
        handler.send_response_only(answer.status)
        for key, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            handler.send_header(key, value)
        handler.end_headers()
        with contextlib.suppress(OSError):
            if handler.command != "HEAD":
                handler.wfile.write(answer.body[: answer.cut])
            handler.wfile.flush()
        if answer.cut is not None:
            handler.close_connection = True

    def _plain(
        self, target: str, byte_range: tuple[int, int] | None, headers: Mapping[str, str], command: str
    ) -> Answer:
        """The answer without a fault, to a path with its query."""
        file = self._read(target.partition("?")[0].lstrip("/"))
        if file is None:
            return Answer(404)
        body, tag = file
        answer_headers = {"ETag": f'"{tag}"', "Accept-Ranges": "bytes"}
        if headers.get("If-Match", f'"{tag}"') != f'"{tag}"':
            return Answer(412, answer_headers)
        if headers.get("If-None-Match") == f'"{tag}"':
            return Answer(304, answer_headers)
        if byte_range is None:
            return Answer(200, answer_headers, body)
        first, last = byte_range[0], min(byte_range[1], len(body) - 1)
        if first > last:
            return Answer(416, {**answer_headers, "Content-Range": f"bytes */{len(body)}"})
        answer_headers["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
        return Answer(206, answer_headers, body[first : last + 1])
