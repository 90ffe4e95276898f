"""An epoch from a mapped file to batches on the device: what goes over the bus is what counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..python.datasets import mimic
from .timing import DeviceCase, row

MOST = 256  # events of a window


def _last(batches: Iterable[Any]) -> Any:
    result = None
    for batch in batches:
        result = batch
    return dict(result or {})


def _bus(case: DeviceCase, dataset: Any, rows: list[np.ndarray]) -> None:
    """The yardstick "bus": a copy of the epoch's ragged bytes, from pinned memory."""
    import torch

    collate = dataset.collator(device="cuda", max_len=MOST)
    size = sum(collate(part).nbytes for part in rows)
    source = torch.zeros(size, dtype=torch.uint8, pin_memory=case.device == "cuda")
    target = torch.empty(size, dtype=torch.uint8, device=case.device)
    case.yardstick("bus", lambda: target.copy_(source, non_blocking=True))
    case.unit = ("ns a KB of the bus", size / 1000)


@row(
    "epoch.padded",
    "mimic-like epoch from a mapped file, 1250 patients x 256 events, batch 64, to padded batches there",
)
def _(case: DeviceCase) -> None:
    import varlen

    size = mimic.Size(9, 20, 4) if case.tiny else mimic.Size()
    data, dataset = mimic.batches(size), varlen.open(mimic.file(size))
    how = {"max_len": MOST}
    last = dataset.batch(data.rows[-1], framework="torch", **how)
    case.reference = dict(last.to(case.device))
    _bus(case, dataset, data.rows)
    case.at_least(0.9, "bus")

    @case.contender("varlen")
    def _() -> Any:
        return lambda: _last(dataset.epoch(batches=data.rows, device=case.device, prefetch=2, **how))

    @case.contender("varlen, one at a time")
    def _() -> Any:
        return lambda: _last(dataset.batch(rows, device=case.device, **how) for rows in data.rows)

    @case.contender("padded on the host, pin_memory, to")
    def _() -> Any:
        def one(rows: np.ndarray) -> Any:
            batch = dataset.batch(rows, framework="torch", **how)
            if case.device == "cuda":
                batch = batch.pin_memory()
            return batch.to(case.device, non_blocking=True)

        return lambda: _last(map(one, data.rows))

    @case.contender("padded on the host, to")
    def _() -> Any:
        def one(rows: np.ndarray) -> Any:
            return dataset.batch(rows, framework="torch", **how).to(case.device)

        return lambda: _last(map(one, data.rows))
