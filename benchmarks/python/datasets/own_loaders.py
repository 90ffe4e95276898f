"""Batches of the same records by the loader that a format brings along, with two workers, in its order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from . import mimic
from .loader import WORKERS
from .mimic_peers import FLAT
from .peers import Sample, join, samples, tensors, write_array_record, write_litdata

Batches = Callable[[], Iterable[dict[str, Any]]]


def _collate(records: list[Sample]) -> Sample:
    return {**join(records), "row": np.concatenate([record["row"] for record in records])}


def _as_tensors(records: list[Sample]) -> dict[str, Any]:
    return tensors(_collate(records))


def records_of(batches: Iterable[dict[str, Any]]) -> Iterator[tuple[int, Sample]]:
    """Each record of the batches, with the row that it was written from."""
    for batch in batches:
        events, codes, *flat = (np.asarray(batch[key]) for key in FLAT)
        counts, ends = np.diff(codes, prepend=0), codes[events - 1]
        parts = [np.split(array, events[:-1]) for array in (flat[0], counts)]
        parts += [np.split(array, ends[:-1]) for array in flat[1:]]
        for row, *record in zip(np.asarray(batch["row"]).tolist(), *parts, strict=True):
            yield row, dict(zip(("time", "codes", "one", "two"), record, strict=True))


def _numbered(data: mimic.Batches) -> list[Sample]:
    """The records as the batches want them one after another, each with its row."""
    held = samples(data)
    return [{**held[row], "row": np.array([row])} for rows in data.rows for row in rows.tolist()]


def _size(records: list[Sample]) -> int:
    """Of a file in bytes: so that each worker has some."""
    sizes = [sum(array.nbytes for array in record.values()) for record in records]
    return max(sum(sizes) // 8, 2 * max(sizes))


def _litdata(data: mimic.Batches, path: str) -> Batches:
    from litdata import StreamingDataLoader, StreamingDataset

    records = _numbered(data)
    write_litdata(records, path, chunk_bytes=_size(records))
    how = {"batch_size": len(data.rows[0]), "num_workers": WORKERS, "persistent_workers": True}
    loader = StreamingDataLoader(StreamingDataset(path), collate_fn=_as_tensors, **how)
    return lambda: loader


def _streaming(data: mimic.Batches, path: str) -> Batches:
    from torch.utils.data import DataLoader

    from . import mosaicml

    records = _numbered(data)
    mosaicml.write(records, path, _size(records))
    size = len(data.rows[0])
    held = mosaicml.streaming.StreamingDataset(local=path, batch_size=size)
    how = {"batch_size": size, "num_workers": WORKERS, "persistent_workers": True}
    loader = DataLoader(held, collate_fn=_as_tensors, **how)
    return lambda: loader


class _Unpickled:
    """The records of a file of ArrayRecord, opened in each process for itself."""

    def __init__(self, path: str) -> None:
        import grain.python as grain

        self.held = grain.ArrayRecordDataSource(path)

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, i: int) -> Sample:
        return pickle.loads(self.held[i])


def _grain(data: mimic.Batches, path: str) -> Batches:
    import grain.python as grain

    write_array_record(_numbered(data), path)
    epoch = grain.MapDataset.source(_Unpickled(path)).batch(len(data.rows[0]), batch_fn=_collate)
    # Repeated, because its processes live as long as an iterator.
    endless = iter(epoch.repeat().to_iter_dataset().mp_prefetch(grain.MultiprocessingOptions(WORKERS)))
    return lambda: (tensors(next(endless)) for _ in data.rows)


LOADERS = {"litdata": _litdata, "MosaicML streaming": _streaming, "Grain, ArrayRecord": _grain}
