"""Other formats of data sets: how each is written, and how its own documentation reads rows of it."""

from __future__ import annotations

import functools
import pickle
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import mimic
from .mimic_peers import FLAT, One

KEYS = ("dim_1", "dim_2_1", "dim_2_2")
CHUNK = 1 << 26  # bytes of a file, where a format wants to know
MOSAICML = "benchmarks.python.datasets.mosaicml"
Sample = dict[str, np.ndarray]


def table(data: mimic.Batches) -> Any:
    """The records as lists of Arrow."""
    import pyarrow as pa

    events, codes = (
        pa.array(np.concatenate([[0], ends]).astype(np.int32)) for ends in (data.bounds1, data.bounds2)
    )
    deep = (
        pa.ListArray.from_arrays(events, pa.ListArray.from_arrays(codes, pa.array(flat)))
        for flat in (data.one, data.two)
    )
    return pa.table([pa.ListArray.from_arrays(events, pa.array(data.time)), *deep], KEYS)


def of_table(table: Any) -> Sample:
    time, one, two = (table.column(key).combine_chunks() for key in KEYS)
    bounds = [np.cumsum(np.diff(lists.offsets.to_numpy())) for lists in (time, one.flatten())]
    flat = (time.flatten(), one.flatten().flatten(), two.flatten().flatten())
    values = [array.to_numpy(zero_copy_only=False) for array in flat]
    return dict(zip(FLAT, (*bounds, *values), strict=True))


def samples(data: mimic.Batches) -> list[Sample]:
    """The records, each as flat arrays."""
    windows = [data.window(row) for row in range(len(data.starts))]
    codes = np.diff(data.bounds2, prepend=0)
    return [
        {"time": data.time[a:b], "codes": codes[a:b], "one": data.one[c:d], "two": data.two[c:d]}
        for a, b, c, d in windows
    ]


def join(samples: list[Sample]) -> Sample:
    """Records as one batch of flat arrays."""
    time, codes, one, two = (
        np.concatenate([sample[key] for sample in samples]) for key in ("time", "codes", "one", "two")
    )
    events = np.fromiter((len(sample["time"]) for sample in samples), np.int64, len(samples))
    return dict(zip(FLAT, (np.cumsum(events), np.cumsum(codes), time, one, two), strict=True))


@functools.cache
def _silence() -> None:
    """Let torch say once, to nobody, that memory of Arrow is not to be written."""
    import torch

    array = np.zeros(1)
    array.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.from_numpy(array)


def tensors(arrays: Sample) -> dict[str, Any]:
    """Arrays as tensors of the same memory."""
    import torch

    _silence()
    return {key: torch.from_numpy(array) for key, array in arrays.items()}


def pickled(data: mimic.Batches) -> list[bytes]:
    return [pickle.dumps(sample) for sample in samples(data)]


class Format(NamedTuple):
    """`write` takes a path that is free; what `open` gives reads rows, in the process that has opened it."""

    write: Callable[[mimic.Batches, str], Any]
    open: Callable[[str], One]
    needs: tuple[str, ...]
    forks: bool = True  # a process that has used it may fork


def written(how: Format, data: mimic.Batches) -> str:
    path = mimic.free_path()
    how.write(data, path)
    return path


def _write_arrow(data: mimic.Batches, path: str) -> None:
    import pyarrow as pa

    with pa.ipc.new_file(path, (held := table(data)).schema) as writer:
        writer.write_table(held)


def _open_arrow(path: str) -> One:
    import pyarrow as pa

    held = pa.ipc.open_file(pa.memory_map(path)).read_all()
    return lambda rows: of_table(held.take(rows))


def _write_datasets(data: mimic.Batches, path: str) -> None:
    from datasets import Dataset, disable_progress_bars, enable_progress_bars

    disable_progress_bars()
    Dataset(table(data)).save_to_disk(path)
    enable_progress_bars()


def _open_datasets(path: str) -> One:
    from datasets import load_from_disk

    held = load_from_disk(path).with_format("arrow")
    return lambda rows: of_table(held[rows])


def _write_lance(data: mimic.Batches, path: str) -> None:
    import lance

    lance.write_dataset(table(data), path)


def _open_lance(path: str) -> One:
    import lance

    held = lance.dataset(path)
    return lambda rows: of_table(held.take(rows.tolist()))


def _write_vortex(data: mimic.Batches, path: str) -> None:
    import vortex

    vortex.io.write(table(data), path)


def _open_vortex(path: str) -> One:
    import pyarrow as pa
    import vortex

    held = vortex.open(path)

    def one(rows: np.ndarray) -> Sample:
        distinct, places = np.unique(rows, return_inverse=True)  # it takes rows in order, each once
        indices = vortex.array(pa.array(distinct.astype(np.uint64)))
        return of_table(held.scan(indices=indices).read_all().to_arrow_table().take(places))

    return one


def _write_lmdb(data: mimic.Batches, path: str) -> None:
    import lmdb

    with lmdb.open(path, map_size=1 << 30) as held, held.begin(write=True) as transaction:
        for i, record in enumerate(pickled(data)):
            transaction.put(i.to_bytes(4, "big"), record)


def _open_lmdb(path: str) -> One:
    import lmdb

    held = lmdb.open(path, readonly=True, lock=False, readahead=False)

    def one(rows: np.ndarray) -> Sample:
        with held.begin(buffers=True) as transaction:
            return join([pickle.loads(transaction.get(i.to_bytes(4, "big"))) for i in rows.tolist()])

    return one


def _write_bagz(data: mimic.Batches, path: str) -> None:
    import bagz

    with bagz.Writer(path + ".bagz") as writer:
        for record in pickled(data):
            writer.write(record)


def _open_bagz(path: str) -> One:
    import bagz

    held = bagz.Reader(path + ".bagz")
    return lambda rows: join([pickle.loads(record) for record in held.read_indices(rows.tolist())])


def _write_array_record(data: mimic.Batches, path: str) -> None:
    write_array_record(samples(data), path)


def write_array_record(samples: list[Sample], path: str) -> None:
    """Pickled records in a file of ArrayRecord."""
    from array_record.python import array_record_module

    writer = array_record_module.ArrayRecordWriter(path, "group_size:1")
    for sample in samples:
        writer.write(pickle.dumps(sample))
    writer.close()


def _open_array_record(path: str) -> One:
    import grain.python as grain

    held = grain.ArrayRecordDataSource(path)
    return lambda rows: join([pickle.loads(record) for record in held.__getitems__(rows.tolist())])


def _write_litdata(data: mimic.Batches, path: str) -> None:
    write_litdata(samples(data), path, chunk_bytes=CHUNK)


def write_litdata(samples: list[Sample], path: str, **chunks: int) -> None:
    """Records of arrays in chunks of `chunk_bytes`, or of `chunk_size` records."""
    from litdata.streaming.cache import Cache

    cache = Cache(path, **chunks)
    for i, sample in enumerate(samples):
        cache[i] = sample
    cache.done()
    cache.merge()


def _open_litdata(path: str) -> One:
    from litdata import StreamingDataset

    held = StreamingDataset(path, batch_decode=False)  # else neighbours are decoded with each row
    return lambda rows: join([held[i] for i in rows.tolist()])


def _write_streaming(data: mimic.Batches, path: str) -> None:
    from . import mosaicml

    mosaicml.write(samples(data), path, CHUNK)


def _open_streaming(path: str) -> One:
    from .mosaicml import streaming

    held = streaming.StreamingDataset(local=path, batch_size=1)
    return lambda rows: join([held[i] for i in rows.tolist()])


FORMATS = {
    "Arrow, mapped": Format(_write_arrow, _open_arrow, ("pyarrow",)),
    "datasets": Format(_write_datasets, _open_datasets, ("datasets",)),
    "Lance": Format(_write_lance, _open_lance, ("lance", "pyarrow"), forks=False),
    "Vortex": Format(_write_vortex, _open_vortex, ("vortex", "pyarrow"), forks=False),
    "LMDB": Format(_write_lmdb, _open_lmdb, ("lmdb",)),
    "Bagz": Format(_write_bagz, _open_bagz, ("bagz",), forks=False),
    "Grain, ArrayRecord": Format(
        _write_array_record, _open_array_record, ("grain", "array_record"), forks=False
    ),
    "litdata": Format(_write_litdata, _open_litdata, ("litdata",)),
    "MosaicML streaming": Format(_write_streaming, _open_streaming, (MOSAICML,)),
}
