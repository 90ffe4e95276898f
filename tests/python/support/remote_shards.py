"""Shards behind URLs: what is in them, an S3 server on loopback, and a proxy before it that makes faults."""

from __future__ import annotations

import contextlib
import http.client
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import varlen.io
from varlen.testing.server import Answer, FileServer

HOP = ("connection", "content-length", "date", "server", "transfer-encoding")  # headers of one connection


class Proxy(FileServer):
    """Passes requests on to a server; `requests`, `latency` and `fault` are those of a FileServer."""

    def __init__(self, port: int, **options: Any) -> None:
        self.port = port
        super().__init__({}, **options)

    def _plain(
        self, target: str, byte_range: tuple[int, int] | None, headers: Mapping[str, str], command: str
    ) -> Answer:
        upstream = http.client.HTTPConnection("127.0.0.1", self.port)
        with contextlib.closing(upstream):
            upstream.request(command, target, headers=dict(headers))
            answer = upstream.getresponse()
            kept = {key: value for key, value in answer.getheaders() if key.lower() not in HOP}
            if command == "HEAD":
                kept["Content-Length"] = answer.getheader("Content-Length", "0")
            return Answer(answer.status, kept, answer.read())


@contextlib.contextmanager
def moto_server() -> Iterator[int]:
    """The port of moto's S3 server, which runs while a block does; skips the test where it is absent."""
    pytest.importorskip("s3fs", reason="needs s3fs, which is installed beside moto[server]")
    command = shutil.which("moto_server")
    if command is None:
        pytest.skip("needs moto_server: pip install 'moto[server]' s3fs")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([command, "-H", "127.0.0.1", "-p", str(port)], stdout=-3, stderr=-3)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield port
    finally:
        server.terminate()
        server.wait()


def write_shards(path: Any, **options: Any) -> None:
    """Six shards of 50 rows, whose keys lie too far apart for one request."""
    lengths = np.random.default_rng(0).integers(100, 300, 300)
    inner = np.random.default_rng(1).integers(0, 3, lengths.sum())
    rows = {
        "dim1/bounds": np.cumsum(lengths),
        "dim2/bounds": np.cumsum(inner),
        "dim1/x": np.arange(lengths.sum(), dtype=np.float64),
        "dim2/y": np.arange(inner.sum(), dtype=np.int64),
    }
    with varlen.io.ShardWriter(path, 50, **options) as writer:
        writer.append(rows)
