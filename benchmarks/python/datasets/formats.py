"""Batches of tensors beside other formats of data sets, each as its own documentation reads random rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ...harness import Case, row
from . import mimic
from .loader import WORKERS, by_workers, last_batch
from .mimic_peers import (
    PADDED,
    RAGGED,
    One,
    RaggedBuffers,
    by_numba,
    by_numba_ragged,
    fresh,
    mapped,
)
from .own_loaders import LOADERS, records_of
from .peers import FORMATS, Format, Sample, join, tensors, written

NAMES = ("dim1/offsets", "dim_1", "dim2/offsets", "dim_2_1", "dim_2_2")


def _data(case: Case, max_len: int | None = None) -> tuple[mimic.Batches, Path]:
    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    drawn = mimic.batches(size)
    events = np.diff(drawn.bounds1, prepend=0)
    ends = events if max_len is None else np.minimum(events, max_len)
    return drawn._replace(starts=np.zeros_like(events), ends=ends), mimic.file(size)


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
        return _epoch, lambda rows: tensors(one(rows)), batches

    for name, how in FORMATS.items():

        @case.contender(name, needs=("torch", *how.needs), show=_shown)
        def _(how: Format = how) -> Any:
            one = how.open(written(how, data))
            return _epoch, lambda rows: tensors(one(rows)), batches


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
    """The batches of an epoch, each made by the worker that is asked for it, which has opened the file."""

    def __init__(self, opened: Callable[[str], One], path: str, rows: list[np.ndarray]) -> None:
        self.opened, self.path, self.rows = opened, path, rows
        self.one: One | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, i: int) -> dict[str, Any]:
        self.one = self.one or self.opened(self.path)
        return tensors(self.one(self.rows[i]))


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

    numba = Format(lambda *_: None, lambda _: by_numba_ragged(mapped(path), data, _fresh_ragged), ("numba",))
    for name, peer in {"memmap and numba": numba, **FORMATS}.items():
        if name in LOADERS:
            continue

        @case.contender(f"{name}, DataLoader", needs=("torch", *peer.needs), show=_shown)
        def _(peer: Format = peer) -> Any:
            from torch.utils.data import DataLoader

            batches = _Batches(peer.open, written(peer, data), data.rows)
            workers = {"num_workers": WORKERS, "persistent_workers": True}
            start = None if peer.forks else "spawn"
            loader = DataLoader(batches, batch_size=None, multiprocessing_context=start, **workers)
            last_batch(lambda: loader)  # workers start
            return last_batch, lambda: loader

    def last(batches: list[dict[str, Any]]) -> dict[str, Any]:
        records = dict(records_of(batches))
        return _shown(join([records[row] for row in data.rows[-1].tolist()]))

    for name, build in LOADERS.items():

        @case.contender(f"{name}, its own loader", needs=("torch", *FORMATS[name].needs), show=last)
        def _(build: Callable[[mimic.Batches, str], Any] = build) -> Any:
            batches = build(data, mimic.free_path())
            list(batches())  # workers start
            return lambda: list(batches())


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
        return _epoch, lambda rows: tensors(one(rows)), data.rows

    whole, _ = _data(case)
    for name, how in FORMATS.items():

        @case.contender(name, needs=("torch", "numba", *how.needs), show=show)
        def _(how: Format = how) -> Any:
            one = how.open(written(how, whole))

            def padded(rows: np.ndarray) -> Any:
                flat = one(rows)
                order = np.arange(len(rows))
                cut = data._replace(starts=data.starts[rows], ends=data.ends[rows])
                return tensors(by_numba(flat, cut, fresh)(order))

            return _epoch, padded, data.rows
