"""Compressed files: their bytes, how fast their numbers are decoded, and an epoch over them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ...harness import Case, Spread, row, spread
from . import mimic


def _tokens(count: int) -> np.ndarray:
    """Tokens of 50,000, by Zipf's law."""
    weights = 1 / np.arange(1, 50_001)
    return np.random.default_rng(3).choice(50_000, count, p=weights / weights.sum())


def _tables(case: Case) -> dict[str, dict[str, np.ndarray]]:
    """Four kinds of data as flat arrays."""
    rng = np.random.default_rng(0)
    count = case.size(2_000_000, 3000)
    per_row = rng.integers(50, 400, count // 225)
    per_row[-1] += count - per_row.sum() if count > per_row.sum() else 0
    bounds = np.cumsum(per_row)
    count = int(bounds[-1])
    tokens = _tokens(count)
    lab = np.round(rng.lognormal(3, 1, count), 1).astype(np.float32)
    times = np.cumsum(rng.integers(0, 90_000, count)).astype("M8[s]")
    return {
        "tokens of int32": {"dim1/bounds": bounds, "dim1/token": tokens.astype(np.int32)},
        "tokens of uint16": {"dim1/bounds": bounds, "dim1/token": tokens.astype(np.uint16)},
        "laboratory values": {"dim1/bounds": bounds, "dim1/time": times, "dim1/lab": lab},
    }


def _save_both(case: Case, tensors: dict[str, np.ndarray]) -> tuple[Path, Path]:
    """A plain and a compressed file of the arrays."""
    import varlen.io

    paths = mimic.folder() / "plain.nrt", mimic.folder() / "compressed.nrt"
    for path, compress in zip(paths, (False, True), strict=True):
        varlen.io.save(path, tensors, durable=False, compress=compress)
        case.stack.callback(path.unlink)
    return paths


def _mimic(case: Case) -> tuple[mimic.Batches, dict[str, np.ndarray]]:
    """The mimic-like set: codes, times with two decimals, and laboratory values with one."""
    data = mimic.batches(mimic.Size(9, 20, 4) if case.tiny else mimic.Size())
    rng = np.random.default_rng(0)
    codes = len(data.one)
    return data, {
        "dim1/bounds": data.bounds1,
        "dim1/time": np.round(rng.exponential(3, len(data.time)), 2).astype(np.float32),
        "dim2/bounds": data.bounds2,
        "dim2/code": rng.integers(0, 5000, codes).astype(np.int32),
        "dim2/lab": np.round(rng.lognormal(3, 1, codes), 1).astype(np.float32),
    }


@row("compressed.size", "bytes of compressed files over those of plain ones")
def _(case: Case) -> None:
    import varlen.io

    goals = {"tokens of int32": 0.65, "tokens of uint16": 1.02, "laboratory values": 0.65}
    tables = {"mimic-like set": _mimic(case)[1], **_tables(case)}
    for name, tensors in tables.items():
        sizes = []
        for compress in (False, True):
            path = mimic.folder() / "size.nrt"
            varlen.io.save(path, tensors, durable=False, compress=compress)
            sizes.append(path.stat().st_size)
            path.unlink()
        share, limit = sizes[1] / sizes[0], goals.get(name, 0.65)
        figure = Spread(share, share, share)
        case.goal(f"<= {limit:g}, {name}", limit, lambda _, figure=figure: figure, "of the bytes")  # type: ignore[misc]


@row("compressed.decode", "all numbers of a compressed file of int32 tokens and of laboratory values")
def _(case: Case) -> None:
    import varlen.io

    tables = _tables(case)
    tokens, lab = tables["tokens of int32"]["dim1/token"], tables["laboratory values"]["dim1/lab"]
    bounds = tables["tokens of int32"]["dim1/bounds"]
    _, path = _save_both(case, {"dim1/bounds": bounds, "dim1/token": tokens, "dim1/lab": lab})
    case.reference = [tokens, lab]
    size = tokens.nbytes + lab.nbytes
    case.goal(
        ">= 2 GB/s a core", 2, lambda times: spread(size / t for t in times["varlen"]), "GB/s", at_least=True
    )

    @case.contender("varlen")
    def _() -> Any:
        file = varlen.io.open_file(path)
        return lambda: [file.values("token"), file.values("lab")]

    @case.contender("pcodec", needs="pcodec")
    def _() -> Any:
        from pcodec import ChunkConfig, standalone

        texts = [standalone.simple_compress(array, ChunkConfig()) for array in (tokens, lab)]
        return lambda: [standalone.simple_decompress(text) for text in texts]

    @case.contender("Parquet, zstd", needs="pyarrow")
    def _() -> Any:
        import pyarrow.parquet

        target = path.with_suffix(".parquet")
        table = pyarrow.table({"token": tokens, "lab": lab})
        pyarrow.parquet.write_table(table, target, compression="zstd")
        case.stack.callback(target.unlink)

        def read() -> list[np.ndarray]:
            found = pyarrow.parquet.read_table(target, use_threads=False)
            return [found[name].to_numpy() for name in ("token", "lab")]

        return read


def _epoch(batch: Any, rows: Any) -> Any:
    result = None
    for numbers in rows:
        result = batch(numbers)
    return result


@row("compressed.epoch", "an epoch of codes, times and laboratory values, ragged, from a compressed file")
def _(case: Case) -> None:
    import varlen

    data, tensors = _mimic(case)
    paths = dict(zip(("varlen, plain", "varlen"), _save_both(case, tensors), strict=True))
    case.goal(
        "<= 1.3 of the plain file's", 1.3, lambda times: times.ratio("varlen", "varlen, plain"), "x plain"
    )
    case.reference = dict(varlen.open(paths["varlen, plain"]).batch(data.rows[-1], layout="ragged"))

    def register(name: str) -> None:
        @case.contender(name)
        def _() -> Any:
            opened = varlen.open(paths[name])
            return _epoch, lambda rows: opened.batch(rows, layout="ragged"), data.rows

    for name in paths:
        register(name)


def _forget(path: Path) -> None:
    """Let the system drop the pages of a file that it keeps in memory."""
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@row("compressed.cold", "that epoch in the order of the file, which the disk has to give first", waits=True)
def _(case: Case) -> None:
    import varlen

    data, tensors = _mimic(case)
    paths = dict(zip(("varlen, plain", "varlen"), _save_both(case, tensors), strict=True))
    case.goal(
        "<= 1 of the plain file's", 1.0, lambda times: times.ratio("varlen", "varlen, plain"), "x plain"
    )
    rows = np.array_split(np.arange(len(data.bounds1)), len(data.rows))
    case.reference = dict(varlen.open(paths["varlen, plain"]).batch(rows[-1], layout="ragged"))

    def register(name: str) -> None:
        with paths[name].open("rb") as file:
            os.fsync(file.fileno())  # what is not written yet stays in memory

        @case.contender(name)
        def _() -> Any:
            def epoch() -> Any:
                _forget(paths[name])
                opened = varlen.open(paths[name])
                return _epoch(lambda numbers: opened.batch(numbers, layout="ragged"), rows)

            return epoch

    for name in paths:
        register(name)
