"""Batches of shards behind HTTP, 20 ms away, beside ranges that somebody works out and asks fsspec for."""

from __future__ import annotations

import functools
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np

from ...harness import Case, row
from . import mimic

_GAP = 64 * 1024
_SERVER = """
import sys
from varlen.testing.server import FileServer

with FileServer(sys.argv[1], latency=float(sys.argv[2])) as server:
    print(server.url, flush=True)
    sys.stdin.read()
"""


class _Shards(NamedTuple):
    """Sequences of codes in a folder of shards, where they lie in the files, and batches of them."""

    url: str
    server: Any  # ends with its input
    codes: np.ndarray
    offsets: np.ndarray
    begins: np.ndarray  # of the codes in each file, in bytes
    per_shard: int
    batches: np.ndarray


@functools.cache
def _shards(rows: int, shards: int, batches: int, size: int) -> _Shards:
    import varlen.io

    rng = np.random.default_rng(0)
    lengths = rng.integers(50, 400, rows)
    ends = np.cumsum(lengths)
    codes = rng.integers(0, 5000, ends[-1]).astype(np.int32)
    folder = mimic.folder() / f"remote-{rows}-{shards}"
    with varlen.io.ShardWriter(folder, rows // shards, durable=False) as writer:
        writer.append({"dim1/bounds": ends, "dim1/code": codes})
    headers = [varlen.io.read_header(path) for path in sorted(folder.glob("*.nrt"))]
    begins = [h.data_start + h.describe(h.names.index("dim1/code"))[3] for h in headers]
    command = [sys.executable, "-c", _SERVER, str(folder), "0.02"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    order = rng.permutation(rows)[: batches * size].reshape(batches, size)
    return _Shards(url, server, codes, np.concatenate([[0], ends]), np.array(begins), rows // shards, order)


def _by_hand(data: _Shards) -> Any:
    """A loop over the batches: the ranges of each, near ones joined, by one call."""
    import fsspec
    from fsspec.utils import merge_offset_ranges

    system = fsspec.filesystem("http")
    firsts, lasts = data.offsets[:-1], data.offsets[1:]

    def batch(rows: np.ndarray) -> np.ndarray:
        shards = rows // data.per_shard
        starts = data.begins[shards] + 4 * (firsts[rows] - firsts[shards * data.per_shard])
        stops = starts + 4 * (lasts[rows] - firsts[rows])
        paths = [f"{data.url}/part-{shard:05d}.nrt" for shard in shards]
        joined = merge_offset_ranges(paths, starts.tolist(), stops.tolist(), max_gap=_GAP, sort=True)
        blocks: dict[str, list[tuple[int, bytes]]] = {}
        for path, begin, body in zip(joined[0], joined[1], system.cat_ranges(*joined), strict=True):
            blocks.setdefault(path, []).append((begin, body))
        out = []
        for path, start, stop in zip(paths, starts.tolist(), stops.tolist(), strict=True):
            begin, body = max(block for block in blocks[path] if block[0] <= start)
            out.append(body[start - begin : stop - begin])
        return np.frombuffer(b"".join(out), np.int32)

    def loop() -> np.ndarray:
        for rows in data.batches:
            last = batch(rows)
        return last

    return loop


@row("remote.shards", "40 batches of 50 sequences of 20 shards behind HTTP, 20 ms away", threads=2)
def _(case: Case) -> None:
    data = _shards(case.size(20_000, 40), case.size(20, 4), case.size(40, 2), case.size(50, 5))
    last = data.batches[-1]
    case.reference = np.concatenate([data.codes[data.offsets[i] : data.offsets[i + 1]] for i in last])
    peer = "fsspec by hand"
    case.rivals.append(peer)
    case.goal("<= 1.2 of " + peer, 1.2, lambda times: times.ratio("varlen", peer), f"x {peer}")

    def values(result: Any) -> Any:
        return result if isinstance(result, np.ndarray) else np.asarray(result["code"])

    def contender(ahead: int) -> Any:
        import varlen

        dataset = varlen.open(data.url)

        def loop() -> Any:
            for batch in dataset.epoch(batches=list(data.batches), prefetch=ahead, layout="ragged"):
                last = batch
            return last

        return (loop,)

    case.contender("varlen", needs=("urllib3", "fsspec"), show=values)(lambda: contender(0))
    case.contender("varlen, four ahead", needs=("urllib3", "fsspec"), show=values)(lambda: contender(4))
    case.contender(peer, needs=("fsspec", "aiohttp"), show=values)(lambda: (_by_hand(data),))
