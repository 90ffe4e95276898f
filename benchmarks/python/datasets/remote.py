"""Batches of shards behind HTTP, 20 ms away, beside ranges that somebody works out and asks fsspec for."""

from __future__ import annotations

import functools
import itertools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import numpy as np

from ...harness import Case, row
from . import mimic
from .loader import last_batch
from .peers import MOSAICML, write_litdata

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
    root: Path  # what it serves, as an object store does a bucket
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
    root = mimic.folder() / f"remote-{rows}-{shards}"
    folder = root / "shards"
    root.mkdir()
    with varlen.io.ShardWriter(folder, rows // shards, durable=False) as writer:
        writer.append({"dim1/bounds": ends, "dim1/code": codes})
    headers = [varlen.io.read_header(path) for path in sorted(folder.glob("*.nrt"))]
    begins = [h.data_start + h.describe(h.names.index("dim1/code"))[3] for h in headers]
    command = [sys.executable, "-c", _SERVER, str(root), "0.02"]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().strip()
    order = rng.permutation(rows)[: batches * size].reshape(batches, size)
    offsets = np.concatenate([[0], ends])
    return _Shards(f"{url}/shards", server, root, codes, offsets, np.array(begins), rows // shards, order)


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


def _join(records: list[dict[str, np.ndarray]]) -> np.ndarray:
    return np.concatenate([record["code"] for record in records])


def _one_by_one(opened: Callable[[], Any], data: _Shards) -> Any:
    """A loop over the batches: the set opened with nothing kept of it, then each row asked for."""

    def loop() -> np.ndarray:
        held = opened()
        for rows in data.batches.tolist():
            last = _join([held[row] for row in rows])
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

    endpoint = data.url.removesuffix("/shards")

    def records() -> list[dict[str, np.ndarray]]:
        return [{"code": some} for some in np.split(data.codes, data.offsets[1:-1])]

    def contender(ahead: int) -> Any:
        import varlen

        dataset = varlen.open(data.url)

        def loop() -> Any:
            batches = list(data.batches)
            return last_batch(lambda: dataset.epoch(batches=batches, prefetch=ahead, layout="ragged"))

        return (loop,)

    case.contender("varlen", needs=("urllib3", "fsspec"), show=values)(lambda: contender(0))

    @case.contender("varlen, kept on disk", needs=("urllib3", "fsspec"), show=values)
    def _() -> Any:
        import varlen

        def loop() -> Any:
            cache = varlen.io.Cache(mimic.free_path(), max_bytes=1 << 27)
            dataset = varlen.open(data.url, cache=cache)
            return last_batch(lambda: dataset.epoch(batches=list(data.batches), layout="ragged"))

        return (loop,)

    case.contender("varlen, four ahead", needs=("urllib3", "fsspec"), show=values)(lambda: contender(4))
    case.contender(peer, needs=("fsspec", "aiohttp"), show=values)(lambda: (_by_hand(data),))
    environment = {
        "AWS_ACCESS_KEY_ID": "anybody",
        "AWS_SECRET_ACCESS_KEY": "any",
        "S3_ENDPOINT_URL": endpoint,
    }
    case.stack.enter_context(mock.patch.dict(os.environ, environment))

    @case.contender("litdata, as its chunks lie", needs=("litdata", "boto3"))
    def _() -> Any:
        from litdata import StreamingDataLoader, StreamingDataset

        held = records()
        wanted = data.batches.ravel().tolist()
        others = sorted(set(range(len(held))) - set(wanted))
        path = str(data.root / "bucket/litdata")
        write_litdata([held[row] for row in wanted + others], path, chunk_size=data.per_shard)
        endpoints = {"endpoint_url": endpoint}

        def loop() -> np.ndarray:
            opened = StreamingDataset("s3://bucket/litdata", mimic.free_path(), storage_options=endpoints)
            loader = StreamingDataLoader(opened, batch_size=data.batches.shape[1], collate_fn=_join)
            return last_batch(lambda: itertools.islice(loader, len(data.batches)))

        return (loop,)

    @case.contender("MosaicML streaming", needs=(MOSAICML, "boto3"))
    def _() -> Any:
        from . import mosaicml

        mosaicml.write(
            records(), str(data.root / "bucket/streaming"), data.codes[: data.offsets[data.per_shard]].nbytes
        )
        how = {"remote": "s3://bucket/streaming", "batch_size": 1}
        open_set = mosaicml.streaming.StreamingDataset
        return (_one_by_one(lambda: open_set(local=mimic.free_path(), **how), data),)
