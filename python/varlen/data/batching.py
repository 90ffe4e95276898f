"""Batches of rows in shards: which files are opened, and which plan makes the batch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varlen.arguments import as_int
from varlen.data.options import BatchOptions
from varlen.data.plan import BatchPlan, Seed
from varlen.data.rows import Rows
from varlen.data.unmapped import run_unmapped

__all__ = []

# Files of more shards are not opened together: a batch opens those that its rows are in.
_OPEN_TOGETHER = 256


class Batching(Rows):
    """Rows that can be batched. Keeps the plans of the options that were used last."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self._plans: dict[BatchOptions, BatchPlan] = {}

    def _run(
        self,
        options: BatchOptions,
        rows: Any,
        start: Any = None,
        end: Any = None,
        seed: Seed = None,
        epoch: int = 0,
        out: Any = None,
        edges_per_row: bool = False,
    ) -> Any:
        """The batch of rows, as `Dataset.batch` says.

        edges_per_row: a prefix of as many records as the dataset has rows has one for each of them, not for
        each row of the batch.
        """
        # Arrays of integers are checked by the core.
        if type(epoch) is not int or not 0 <= epoch < 2**63:
            epoch = as_int(epoch, "epoch")
        is_checked = isinstance(rows, np.ndarray) and rows.dtype.kind == "i"
        rows_given = rows if is_checked else self.row_numbers(rows)
        edge_rows = (rows_given, len(self)) if edges_per_row else None
        source = self._source
        self._check_files(rows_given)
        if source.mmap and len(source.counts) <= _OPEN_TOGETHER:
            return self._plan(options).run(rows_given, start, end, seed, epoch, out, None, edge_rows)
        numbers = self.row_numbers(rows_given)
        if not source.mmap:
            return run_unmapped(self, options, numbers, start, end, seed, epoch, out, edge_rows)
        shards, at = np.unique(source.offsets[1:].searchsorted(numbers, side="right"), return_inverse=True)
        begins = np.concatenate([np.zeros(1, np.int64), np.cumsum(source.counts[shards])])
        local_rows = numbers - source.offsets[shards][at] + begins[at]
        return self._plan_of(options, shards).run(
            local_rows, start, end, seed, epoch, out, numbers, edge_rows
        )

    def _check_files(self, rows: Any) -> None:
        """Refuse mapped files that were cut short: reading what is gone would end the process."""
        source = self._source
        if len(source.counts) < 2:
            source.guard()
        elif len(self):
            shards = np.unique(source.offsets[1:].searchsorted(rows % len(self), side="right"))
            source.guard(int(shard) for shard in shards)

    def _plan(self, options: BatchOptions) -> BatchPlan:
        plan = self._plans.get(options)
        if plan is None:
            plan = self._plan_of(options, range(len(self._source.counts)))
            while len(self._plans) > 7:
                self._plans.pop(next(iter(self._plans)), None)
            self._plans[options] = plan
        return plan

    def _plan_of(self, options: BatchOptions, shards: Iterable[int]) -> BatchPlan:
        source, some = self._source, [int(shard) for shard in shards]
        joints, paths = [source.joint(shard) for shard in some], source.paths
        return BatchPlan(joints, [paths[shard] for shard in some], source.fields, options)
