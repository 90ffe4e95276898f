"""Batches of rows in shards: the files to open, and the plan of the batch."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from varlen.arguments import as_bool, as_int
from varlen.data.batch import Batch
from varlen.data.joined_plan import JoinPlan, plan_join
from varlen.data.named_layout import as_data, check_dtypes, schema_of
from varlen.data.options import BatchOptions, per_key, select_columns
from varlen.data.plan import BatchPlan, SeedLike, draw_seed
from varlen.data.records import PackedRows
from varlen.data.rows import Rows
from varlen.data.sources.declarations import declared_dims
from varlen.data.sources.memory import Ints, map_shards, rows_in_shards
from varlen.data.windows_first import run_unmapped
from varlen.dims import DataDict, DataSpecs, Dim
from varlen.dims.make import check_dims
from varlen.io.dtypes import refuse_misfits

__all__ = []

# Files of more shards are not opened together: a batch opens those that its rows are in. A process may have
# some 65,000 maps.
_OPEN_TOGETHER = 16_384

# A look at the path of each shard that a batch touches takes 4 us, a batch of 64 rows 50 us. So shards are
# looked at together, after so many seconds at the earliest, and for at most a hundredth of the time.
_LOOK_AGAIN = 0.02


class Batching(Rows):
    """Rows that can be batched. Keeps the plans of the options that were used last."""

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        self._plans: dict[BatchOptions, BatchPlan] = {}
        # Plans of joined rows, and what makes the batch of each part.
        self._joins: dict[BatchOptions, tuple[JoinPlan, list[Batching]]] = {}
        self._look_again = -math.inf

    def _run(
        self,
        options: BatchOptions,
        rows: object,
        start: Any = None,
        end: Any = None,
        seed: SeedLike = None,
        epoch: int = 0,
        out: Any = None,
        edges_per_row: bool = False,
    ) -> Any:
        """The batch of rows, as `Dataset.batch` says.

        edges_per_row: a prefix of as many records as the dataset has rows has one for each of them, not for
        each row of the batch.
        """
        if isinstance(rows, PackedRows) and start is None and end is None:
            start, end = rows.start, rows.end
        if options.is_named:
            schema = self._schema_for(options)
            arrays = self._arrays(options, rows, start, end, seed, epoch, out, edges_per_row)
            return self._named_batch(arrays, options, schema)
        batch = self._arrays(options, rows, start, end, seed, epoch, out, edges_per_row)
        return batch if options.goes_to is None else batch.to(options.goes_to)

    def _schema_for(self, options: BatchOptions) -> DataSpecs:
        """The DataSpecs of batches with these options."""
        dims, flatten = options.values["dims"], options.values["flatten"]
        if isinstance(dims, DataSpecs):
            keys = options.user_options.get("keys")
            columns = None if keys is None else select_columns(self.fields, keys)
            schema = schema_of(self.fields, dims, flatten, columns)
            if options.values["dtype"] is not None:
                check_dtypes(schema, schema if columns is None else columns, options.values["dtype"])
            return schema
        return self.data_schema(dims, flatten=flatten)

    def _named_batch(
        self, arrays: Mapping[str, object], options: BatchOptions, schema: DataSpecs
    ) -> DataDict:
        """The arrays of a batch as Data."""
        max_dim = 1 if options.values["flatten"] else self.depth
        depths = {key: min(column.dim, max_dim) for key, column in self.fields.items() if key in arrays}
        data = as_data(arrays, schema, depths)
        return data if options.goes_to is None else data.to(options.goes_to)

    def data_schema(
        self, dims: Sequence[Dim] | DataSpecs | None = None, *, flatten: bool = False
    ) -> DataSpecs:
        """The DataSpecs that describe batches with `layout="named"`: the dims they share.

        Parameters
        ----------
        dims
            A Dim for the rows and one for each level, from the outermost; or DataSpecs with the keys of the
            batches, and with the dims of rows, levels and axes in this order. By default the dims that the
            `varlen.io.Schema` of the files names, else the batch, "dim1", "dim2" and so on.
        flatten
            If True, use one level "flat" instead of all, as `batch(flatten=True)` does.

        Returns
        -------
        DataSpecs
            The specs: the same object for the same dims, in this dataset and in its copies in later workers.

        Raises
        ------
        KeyError
            The dataset lacks a key of the DataSpecs.
        ValueError, TypeError
            The dims do not fit the keys.

        Examples
        --------
        >>> import varlen as vl
        >>> ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [7, 8], "x": [[1, 2, 3], [4]]}))
        >>> visit = vl.Dim("visit")
        >>> ds.data_schema([vl.dims.batch_dim, visit])
        DataSpecs({'id': DataSpec([batch]), 'x': DataSpec([batch, visit])})
        """
        flatten = as_bool(flatten, "flatten")
        if isinstance(dims, DataSpecs):
            return schema_of(self.fields, dims, flatten)
        cache: dict[Any, DataSpecs] = self.__dict__.setdefault("_schemas", {})
        key = (None if dims is None else tuple(check_dims(dims)), flatten)
        if key not in cache:
            declaration = declared_dims(self._source, self.depth) if dims is None and not flatten else None
            lead, row_dims = (dims, {}) if declaration is None else declaration
            cache[key] = schema_of(self.fields, lead, flatten, row_dims=row_dims)
        return cache[key]

    def _arrays(
        self,
        options: BatchOptions,
        rows: Any,
        start: Any,
        end: Any,
        seed: SeedLike,
        epoch: int,
        out: Any,
        edges_per_row: bool,
    ) -> Any:
        # Arrays of integers are checked by the core.
        if type(epoch) is not int or not 0 <= epoch < 2**63:
            epoch = as_int(epoch, "epoch")
        is_checked = isinstance(rows, np.ndarray) and rows.ndim == 1 and rows.dtype.kind == "i"
        rows_given = rows if is_checked and self._index is None else self.row_numbers(rows)
        edge_rows = (rows_given, len(self)) if edges_per_row else None
        source, numbers, counters = self._source, rows_given, None
        bins = rows.bins if isinstance(rows, PackedRows) else None
        if self._index is not None:
            counters, numbers = rows_given, self._index[rows_given]
        self._check_files()
        base = self if self._base is None else self._base
        is_planned = source.mmap or source.decodes
        if is_planned and (plan := base._plan(options)) is not None:
            source.touch(numbers, plan.keys)
            return plan.run(numbers, start, end, seed, epoch, out, counters, edge_rows, bins)
        if counters is None:
            counters = numbers = self.row_numbers(rows_given) if is_checked else rows_given
        if not is_planned:
            join = base._join_of(options) if out is None or hasattr(out, "grow") else None
            if join is not None:
                return base._run_join(join, options, numbers, start, end, seed, epoch, out, counters)
            return run_unmapped(
                self, options, counters, numbers, start, end, seed, epoch, out, edge_rows, bins
            )
        return self._run_shards(options, numbers, start, end, seed, epoch, out, counters, edge_rows, bins)

    def _join_of(self, options: BatchOptions) -> tuple[JoinPlan, list[Batching]] | None:
        """The plan of batches that are put together of those of several sources, and these."""
        join = self._joins.get(options)
        if join is None and (plan := plan_join(self._source, options)) is not None:
            while len(self._joins) > 7:
                self._joins.pop(next(iter(self._joins)), None)
            join = self._joins[options] = plan, [Batching(part.source) for part in plan.parts]
        return join

    def _run_join(
        self,
        join: tuple[JoinPlan, list[Batching]],
        options: BatchOptions,
        rows: Ints,
        start: Any,
        end: Any,
        seed: SeedLike,
        epoch: int,
        out: Any,
        counters: Ints,
    ) -> Any:
        """The batch of rows of the source, put together of those of its parts."""
        plan, parts = join
        source: Any = self._source
        source.compare(rows)
        if options.is_random:  # the same windows in all
            seed, places = draw_seed(seed, rows)
            counters = counters if places is None else places
        results = []
        for part, batching in zip(plan.parts, parts, strict=True):
            own = rows if part.places is None else part.places[rows]
            begin, stop = (start, end) if part.has_levels else (None, None)
            results.append(batching._run_mapped(part.options, own, begin, stop, seed, epoch, out, counters))
        return Batch(plan.merge(results))

    def _run_mapped(
        self, options: BatchOptions, rows: Ints, start: Any, end: Any, seed: SeedLike, epoch: int, out: Any,
        counters: Ints,
    ) -> Any:  # fmt: skip
        """The batch of rows of the source, which is mapped, and whose files were looked at."""
        if (plan := self._plan(options)) is None:
            return self._run_shards(options, rows, start, end, seed, epoch, out, counters)
        self._source.touch(rows, plan.keys)
        return plan.run(rows, start, end, seed, epoch, out, counters)

    def _run_shards(
        self, options: BatchOptions, numbers: Ints, start: Any, end: Any, seed: SeedLike, epoch: int,
        out: Any, counters: Ints, edge_rows: Any = None, bins: Any = None,
    ) -> Any:  # fmt: skip
        """The batch of rows of the source, whose shards alone are opened."""
        source = self._source
        shards, local_rows = rows_in_shards(source, numbers)
        plan = self._plan_of(options, shards)
        source.touch(numbers, plan.keys)
        return plan.run(local_rows, start, end, seed, epoch, out, counters, edge_rows, bins)

    def _check_files(self) -> None:
        """Refuse mapped files that were cut short: reading what is gone would end the process."""
        source = self._source
        if len(source.counts) < 2:
            source.guard()
            return
        base = self if self._base is None else self._base
        begin = time.monotonic()
        if begin >= base._look_again:
            source.guard()
            now = time.monotonic()
            base._look_again = now + max(_LOOK_AGAIN, 100 * (now - begin))

    def _plan(self, options: BatchOptions) -> BatchPlan | None:
        """The plan of all shards; None where they are not opened together."""
        plan, count = self._plans.get(options), len(self._source.counts)
        if plan is None and count <= _OPEN_TOGETHER and self._source.opens_together:
            plan = self._plan_of(options, range(count))
            while len(self._plans) > 7:
                self._plans.pop(next(iter(self._plans)), None)
            self._plans[options] = plan
        return plan

    def _check_widened(self, shard: int, options: BatchOptions) -> None:
        """Refuse integers of a shard that become floats because of other shards, and would be rounded."""
        source = self._source
        wider = source.wider(shard)
        if not wider or shard in (cache := self.__dict__.setdefault("_exact", set())):
            return
        casts = per_key("dtype", options.values["dtype"], wider, source.fields)
        columns = select_columns(source.fields, options.values["keys"])
        dtypes = {name: dtype for name, dtype in wider.items() if name in columns and not casts.get(name)}
        begin, end = source.offsets[shard : shard + 2].tolist()
        refuse_misfits(source.joint(shard, list(dtypes)), dtypes, range(begin, end), source.paths[shard])
        if len(dtypes) == len(wider):
            cache.add(shard)

    def _plan_of(self, options: BatchOptions, shards: Iterable[int]) -> BatchPlan:
        source, numbers = self._source, [int(shard) for shard in shards]
        for shard in numbers:
            self._check_widened(shard, options)
        paths = source.paths
        parts = map_shards(source, lambda shard: source.plan_source(shard, ()), numbers)
        joints, bits = [joint for joint, _ in parts], [columns for _, columns in parts]
        return BatchPlan(joints, [paths[shard] for shard in numbers], source.fields, options, bits=bits)
