"""Batches of tensors beside other formats of data sets, each as its own documentation reads random rows."""

from __future__ import annotations

import functools
import os
import pickle
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...harness import Case, row
from . import mimic
from .loader import WORKERS, by_workers, last_batch
from .mimic_peers import (
    FLAT,
    PADDED,
    RAGGED,
    One,
    RaggedBuffers,
    by_numba,
    by_numba_ragged,
    fresh,
    mapped,
)

NAMES = ("dim1/offsets", "dim_1", "dim2/offsets", "dim_2_1", "dim_2_2")
KEYS = ("dim_1", "dim_2_1", "dim_2_2")
Sample = dict[str, np.ndarray]


def _data(case: Case, max_len: int | None = None) -> tuple[mimic.Batches, Path]:
    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    drawn = mimic.batches(size)
    events = np.diff(drawn.bounds1, prepend=0)
    ends = events if max_len is None else np.minimum(events, max_len)
    return drawn._replace(starts=np.zeros_like(events), ends=ends), mimic.file(size)


def _path(name: str) -> Path:
    return Path(tempfile.mkdtemp(dir=mimic.folder())) / name


def _table(data: mimic.Batches) -> Any:
    import pyarrow as pa

    events, codes = (
        pa.array(np.concatenate([[0], ends]).astype(np.int32)) for ends in (data.bounds1, data.bounds2)
    )
    deep = (
        pa.ListArray.from_arrays(events, pa.ListArray.from_arrays(codes, pa.array(flat)))
        for flat in (data.one, data.two)
    )
    return pa.table([pa.ListArray.from_arrays(events, pa.array(data.time)), *deep], KEYS)


def _ragged_of_table(table: Any) -> Sample:
    time, one, two = (table.column(key).combine_chunks() for key in KEYS)
    bounds = [np.cumsum(np.diff(lists.offsets.to_numpy())) for lists in (time, one.flatten())]
    flat = (time.flatten(), one.flatten().flatten(), two.flatten().flatten())
    values = [array.to_numpy(zero_copy_only=False) for array in flat]
    return dict(zip(FLAT, (*bounds, *values), strict=True))


def _samples(data: mimic.Batches) -> list[Sample]:
    """The records, each as flat arrays."""
    windows = [data.window(row) for row in range(len(data.starts))]
    codes = np.diff(data.bounds2, prepend=0)
    return [
        {"time": data.time[a:b], "codes": codes[a:b], "one": data.one[c:d], "two": data.two[c:d]}
        for a, b, c, d in windows
    ]


def _join(samples: list[Sample]) -> Sample:
    time, codes, one, two = (
        np.concatenate([sample[key] for sample in samples]) for key in ("time", "codes", "one", "two")
    )
    events = np.fromiter((len(sample["time"]) for sample in samples), np.int64, len(samples))
    return dict(zip(FLAT, (np.cumsum(events), np.cumsum(codes), time, one, two), strict=True))


# What reads rows of each format: made of the data, which it writes first.
def _arrow(data: mimic.Batches) -> One:
    import pyarrow as pa

    path = _path("arrow")
    with pa.ipc.new_file(path, (table := _table(data)).schema) as writer:
        writer.write_table(table)
    held = pa.ipc.open_file(pa.memory_map(str(path))).read_all()
    return lambda rows: _ragged_of_table(held.take(rows))


def _datasets(data: mimic.Batches) -> One:
    from datasets import Dataset, disable_progress_bars, enable_progress_bars, load_from_disk

    path = str(_path("datasets"))
    disable_progress_bars()
    Dataset(_table(data)).save_to_disk(path)
    enable_progress_bars()
    held = load_from_disk(path).with_format("arrow")
    return lambda rows: _ragged_of_table(held[rows])


def _lance(data: mimic.Batches) -> One:
    import lance

    held = lance.write_dataset(_table(data), str(_path("lance")))
    return lambda rows: _ragged_of_table(held.take(rows.tolist()))


def _vortex(data: mimic.Batches) -> One:
    import pyarrow as pa
    import vortex

    path = str(_path("vortex"))
    vortex.io.write(_table(data), path)
    held = vortex.open(path)

    def one(rows: np.ndarray) -> Sample:
        distinct, places = np.unique(rows, return_inverse=True)  # it takes rows in order, each once
        indices = vortex.array(pa.array(distinct.astype(np.uint64)))
        table = held.scan(indices=indices).read_all().to_arrow_table()
        return _ragged_of_table(table.take(places))

    return one


def _lmdb(data: mimic.Batches) -> One:
    import lmdb

    path = str(_path("lmdb"))
    with lmdb.open(path, map_size=1 << 30) as held, held.begin(write=True) as transaction:
        for i, sample in enumerate(_samples(data)):
            transaction.put(i.to_bytes(4, "big"), pickle.dumps(sample))

    @functools.cache
    def opened(_process: int) -> Any:
        return lmdb.open(path, readonly=True, lock=False, readahead=False)

    def one(rows: np.ndarray) -> Sample:
        with opened(os.getpid()).begin(buffers=True) as transaction:
            return _join([pickle.loads(transaction.get(i.to_bytes(4, "big"))) for i in rows.tolist()])

    return one


def _bagz(data: mimic.Batches) -> One:
    import bagz

    path = str(_path("records.bagz"))
    with bagz.Writer(path) as writer:
        for sample in _samples(data):
            writer.write(pickle.dumps(sample))
    held = bagz.Reader(path)
    return lambda rows: _join([pickle.loads(record) for record in held.read_indices(rows.tolist())])


def _grain(data: mimic.Batches) -> One:
    import grain.python as grain
    from array_record.python import array_record_module

    path = str(_path("records.array_record"))
    writer = array_record_module.ArrayRecordWriter(path, "group_size:1")
    for sample in _samples(data):
        writer.write(pickle.dumps(sample))
    writer.close()
    held = grain.ArrayRecordDataSource(path)
    return lambda rows: _join([pickle.loads(record) for record in held.__getitems__(rows.tolist())])


def _litdata(data: mimic.Batches) -> One:
    from litdata import StreamingDataset
    from litdata.streaming.cache import Cache

    path = str(_path("litdata"))
    cache = Cache(path, chunk_bytes="64MB")
    for i, sample in enumerate(_samples(data)):
        cache[i] = sample
    cache.done()
    cache.merge()
    held = StreamingDataset(path)
    return lambda rows: _join([held[i] for i in rows.tolist()])


Maker = tuple[Callable[[mimic.Batches], One], tuple[str, ...]]  # and the packages that it needs
PEERS: dict[str, Maker] = {
    "Arrow, mapped": (_arrow, ("pyarrow",)),
    "datasets": (_datasets, ("datasets",)),
    "Lance": (_lance, ("lance", "pyarrow")),
    "Vortex": (_vortex, ("vortex", "pyarrow")),
    "LMDB": (_lmdb, ("lmdb",)),
    "Bagz": (_bagz, ("bagz",)),
    "Grain, ArrayRecord": (_grain, ("grain", "array_record")),
    "litdata": (_litdata, ("litdata",)),
}


@functools.cache
def _silence() -> None:
    """Let torch say once, to nobody, that memory of Arrow is not to be written."""
    import torch

    array = np.zeros(1)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.from_numpy(array)


def _tensors(arrays: Sample) -> dict[str, Any]:
    import torch

    _silence()
    return {key: torch.from_numpy(array) for key, array in arrays.items()}


def _fresh_ragged(size: tuple[int, int, int]) -> Sample:
    rows, events, codes = size
    return {
        key: np.empty(n, np.int64)
        for key, n in zip(RAGGED, (rows, events, events, codes, codes), strict=True)
    }


def _shown(result: dict[str, Any]) -> dict[str, Any]:
    return {key: np.asarray(result[key]) for key in RAGGED}


def _shown_of_ours(result: dict[str, Any]) -> dict[str, Any]:
    shown = {key: np.asarray(result[name]) for key, name in zip(RAGGED, NAMES, strict=True)}
    return {key: array[1:] if key.endswith("bounds") else array for key, array in shown.items()}


def _ragged(case: Case, data: mimic.Batches, path: Path, batches: list[np.ndarray]) -> None:
    """Contenders for ragged batches; the last one is compared."""
    case.reference = mimic.ragged(data, batches[-1])
    case.yardstick("memcpy", RaggedBuffers(case, data, batches).copy)

    @case.contender("varlen", needs="torch", show=_shown_of_ours)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        one = lambda rows: opened.batch(rows, layout="ragged", cu_seqlens=False, framework="torch")  # noqa: E731
        return _epoch, one, batches

    @case.contender("memmap and numba", needs=("torch", "numba"), show=_shown)
    def _() -> Any:
        one = by_numba_ragged(mapped(path), data, _fresh_ragged)
        return _epoch, lambda rows: _tensors(one(rows)), batches

    for name, (build, needs) in PEERS.items():

        @case.contender(name, needs=("torch", *needs), show=_shown)
        def _(build: Callable[[mimic.Batches], One] = build) -> Any:
            one = build(data)
            return _epoch, lambda rows: _tensors(one(rows)), batches


def _epoch(one: One, batches: list[np.ndarray]) -> Any:
    result = None
    for rows in batches:
        result = one(rows)
    return result


@row("formats.ragged", "a ragged epoch of tensors, 1250 mimic-like patients, beside other formats")
def _(case: Case) -> None:
    data, path = _data(case)
    case.beat(0.6)
    _ragged(case, data, path, data.rows)


class _Batches:
    """The batches of an epoch, each made by the worker that is asked for it."""

    def __init__(self, one: One, rows: list[np.ndarray]) -> None:
        self.one, self.rows = one, rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        return _tensors(self.one(self.rows[i]))


@row("formats.workers", "a ragged epoch of tensors from two workers, beside other formats", threads=2)
def _(case: Case) -> None:
    data, path = _data(case)
    case.reference = mimic.ragged(data, data.rows[-1])
    case.beat()
    how = {"layout": "ragged", "cu_seqlens": False, "framework": "torch"}

    @case.contender("varlen", needs="torch", show=_shown_of_ours)
    def _() -> Any:
        import varlen

        loader = varlen.data.Loader(varlen.open(path), batches=data.rows, prefetch=2, **how)
        return last_batch, lambda: loader

    @case.contender("varlen, DataLoader", needs="torch", show=_shown_of_ours)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        return (by_workers(opened, data.rows, opened.collator(**how)),)

    makers: dict[str, Maker] = {
        "memmap and numba": (lambda data: by_numba_ragged(mapped(path), data, _fresh_ragged), ("numba",)),
        **{name: PEERS[name] for name in ("Arrow, mapped", "datasets", "LMDB")},  # others bear no fork
    }
    for name, (build, needs) in makers.items():

        @case.contender(f"{name}, DataLoader", needs=("torch", *needs), show=_shown)
        def _(build: Callable[[mimic.Batches], One] = build) -> Any:
            from torch.utils.data import DataLoader

            batches = _Batches(build(data), data.rows)
            loader = DataLoader(batches, batch_size=None, num_workers=WORKERS, persistent_workers=True)
            for _ in loader:  # workers start
                pass
            return last_batch, lambda: loader


@row("formats.random", "1,024 random records as one ragged batch of tensors, beside other formats")
def _(case: Case) -> None:
    data, path = _data(case)
    case.beat(0.4)
    rows = np.random.default_rng(1).integers(0, len(data.starts), case.size(1024, 5))
    _ragged(case, data, path, [rows])


@row("formats.padded", "a padded epoch of tensors, 256 events a patient, beside other formats")
def _(case: Case) -> None:
    max_len = case.size(256, 20)
    data, path = _data(case, max_len)
    case.reference = mimic.padded(data, data.rows[-1])
    case.beat(0.8)

    def show(result: dict[str, Any]) -> dict[str, Any]:
        return {key: np.asarray(result[key]) for key in PADDED}

    @case.contender("varlen", needs="torch", show=show)
    def _() -> Any:
        import varlen

        opened = varlen.open(path)
        one = lambda rows: opened.batch(rows, max_len=max_len, framework="torch")  # noqa: E731
        return _epoch, one, data.rows

    @case.contender("memmap and numba", needs=("torch", "numba"), show=show)
    def _() -> Any:
        one = by_numba(mapped(path), data, fresh)
        return _epoch, lambda rows: _tensors(one(rows)), data.rows

    whole, _ = _data(case)
    for name, (build, needs) in PEERS.items():

        @case.contender(name, needs=("torch", "numba", *needs), show=show)
        def _(build: Callable[[mimic.Batches], One] = build) -> Any:
            one = build(whole)

            def padded(rows: np.ndarray) -> Any:
                flat = one(rows)
                order = np.arange(len(rows))
                cut = data._replace(starts=data.starts[rows], ends=data.ends[rows])
                return _tensors(by_numba(flat, cut, fresh)(order))

            return _epoch, padded, data.rows
