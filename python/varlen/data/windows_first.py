"""Batches of files that are not mapped: compute the windows from the lengths, then read their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends import backend_of
from varlen.backends.values import like
from varlen.data.devices.staged_batch import StagedBatch
from varlen.data.options import BatchOptions, select_columns
from varlen.data.plan import Arrays, BatchPlan, SeedLike, draw_seed
from varlen.data.sources.memory import Ints

if TYPE_CHECKING:
    from varlen.data.rows import Rows

__all__ = []


def run_unmapped(
    dataset: Rows,
    options: BatchOptions,
    rows: Ints,
    source_rows: Ints,
    start: Any,
    end: Any,
    seed: SeedLike,
    epoch: int,
    out: Any,
    edge_rows: tuple[Any, int] | None,
    bins: Any = None,
) -> Any:
    """The batch of rows, of which only the windows of the keys that are asked for are read.

    source_rows: the rows of the source behind them. With `flatten` windows count events of deeper levels, and
    with a prefix each row has another width: then whole rows are read, as where nothing is cut.
    """
    source = dataset.source
    numbers = np.arange(len(rows))
    keys = list(select_columns(source.fields, options.values["keys"]))
    depth = max((source.fields[key].dim for key in keys), default=0)
    is_whole = start is None and end is None and options.values["max_len"] is None
    if options.values["flatten"] or depth < 1 or options.has_edges or is_whole:
        joint = source.read_many(source_rows, None, None, keys)
        plan = BatchPlan([joint], [""], source.fields, options)
        return plan.run(numbers, start, end, seed, epoch, out, rows, edge_rows, bins)
    starts, ends = _windows(
        dataset._lengths_of_rows(rows, source_rows), options, rows, start, end, seed, epoch
    )
    plan = BatchPlan(
        [source.read_many(source_rows, starts, ends, keys)], [""], source.fields, options.replace(window=None)
    )
    result = plan.run(numbers, out=out, counters=rows, bins=bins)
    if options.values["windows"]:
        windows: Arrays = {"window/start": starts, "window/end": ends}
        if isinstance(result, StagedBatch):
            result._replace(windows)
            return result
        for name, window in windows.items():
            array = result[name]
            backend_of(array).assign(array, like(window, array))
    return result


def _windows(
    lengths: Ints, options: BatchOptions, rows: Ints, start: Any, end: Any, seed: SeedLike, epoch: int
) -> tuple[Ints, Ints]:
    """Where each window begins and ends, from a batch of a key whose rows have no bytes."""
    level = _core.Level.from_lengths(lengths)
    joint = _core.Joint(["_"], [1], [np.empty((level.total, 0), np.uint8)], [level])
    core_options = {
        **options.core_options(),
        "windows": True,
        "ragged": True,
        "cu_seqlens": False,
        "positions": False,
    }
    core_options.pop("max_bytes", None)  # of the batch, not of its windows
    number, counters = draw_seed(seed, rows) if options.is_random else (0, None)
    batcher = _core.Batcher(
        [joint], [""], None, None, ["_"], [1], [np.zeros((1, 0), np.uint8)], [None], core_options
    )
    result = batcher(np.arange(len(rows)), start, end, number, epoch, rows if counters is None else counters)
    return result["window/start"], result["window/end"]
