"""Detect, from the calling frames, when Accelerate would lose rows of a share."""

from __future__ import annotations

import sys
from types import FrameType
from typing import TYPE_CHECKING, Any

from varlen.errors import value_error

if TYPE_CHECKING:
    from varlen.data.sampler import Sampler

__all__: list[str] = []

_SHARE = "Accelerate takes a share of the batches, which are a share already; give num_replicas=1, rank=0"


def _asked_by(*names: str) -> str | None:
    """The first of these methods of Accelerate's loaders that this is called in."""
    accelerate: Any = sys.modules.get("accelerate.data_loader")
    if accelerate is None:
        return None
    codes = {}
    for name in names:
        kind, method = name.split(".")
        function = getattr(getattr(accelerate, kind, None), method, None)
        codes[getattr(function, "__code__", None)] = name
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in codes:
            return codes[frame.f_code]
        frame = frame.f_back
    return None


def refuse_shards_of(sampler: Sampler) -> None:
    """Refuses a sampler that Accelerate deals out, and which is a share already."""
    caller = _asked_by("BatchSamplerShard._iter_with_no_split", "BatchSamplerShard._iter_with_split")
    if caller is None:
        return
    if sampler.num_replicas > 1:
        raise value_error("batches", f"{_SHARE}")


def refuse_dispatchers(sampler: Sampler | None = None) -> None:
    """Refuses what Accelerate does with an iterable share of a process as if it were all of the data."""
    caller = _asked_by("DataLoaderDispatcher.__iter__", "IterableDatasetShard.__iter__")
    if caller is None:
        return
    if caller == "IterableDatasetShard.__iter__":
        if sampler is not None and sampler.num_replicas > 1:
            raise value_error("dataset", f"{_SHARE}")
    elif sys.modules["accelerate.data_loader"].PartialState().num_processes > 1:
        raise value_error(
            "dataset",
            "Accelerate would divide the batches of the first process, which are only its share here",
            "give prepare() a varlen.data.Loader, or DataLoader(dataset, "
            "batch_sampler=..., collate_fn=...) whose sampler has num_replicas=1, rank=0; or leave "
            "this loader out of prepare(): each process has its share of batches",
        )
