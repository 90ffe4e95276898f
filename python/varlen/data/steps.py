"""Verbs of datasets on engines: a task for the rows of each shard makes a shard of a new folder."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varlen import _core
from varlen.arguments import as_path
from varlen.data.accounts import Passage, account_of
from varlen.data.saving import call_batch, options_of, read_batch, row_ids_of
from varlen.io import Account, ShardSet, open_shards
from varlen.io.building.drafts import Step
from varlen.io.building.engines import engine_of
from varlen.io.building.origin import name_of, state_of_file
from varlen.io.building.plan import build_folder
from varlen.io.urls import is_url
from varlen.joint import JointNestedRaggedTensorDict

if TYPE_CHECKING:
    from varlen.data.views import Views

__all__: list[str] = []

_ROWS_AT_ONCE = 1000


class Part(NamedTuple):
    """The rows `[begin, end)` of a dataset, and bytes that are the same for the same rows."""

    begin: int
    end: int
    identity: bytes


class MapStep(Step):
    """A function of rows."""

    def __init__(
        self, dataset: Views, function: Callable[[Any], Any], is_batched: bool, batch_size: int
    ) -> None:
        self.dataset, self.function = dataset, function
        self.is_batched, self.batch_size = is_batched, batch_size
        self.identity = b"map" + name_of(function) + f"{is_batched} {batch_size}".encode()

    def pieces(self, partition: Part, account: Account) -> Iterator[_core.Joint]:
        """The results, batch after batch."""
        rows = self.dataset.select(slice(partition.begin, partition.end))
        passage = Passage(_bare_account(rows, partition))
        for begin in range(0, max(len(rows), 1), self.batch_size):
            source, result = call_batch(
                rows, self.function, begin, self.batch_size, self.is_batched, partition.begin
            )
            passage.add(source, result)
            yield result
        passage.finish(account)

    def options(self, piece: _core.Joint) -> dict[str, Any]:
        """The row ids, where the function keeps them."""
        return {"widen": True, "row_ids": row_ids_of(self.dataset, piece)}


class FilterStep(Step):
    """The rows for which conditions hold."""

    def __init__(self, dataset: Views, function: Any, min_len: int | None, max_len: int | None) -> None:
        self.dataset, self.conditions = dataset, (function, min_len, max_len)
        self.identity = b"filter" + name_of(function) + f"{min_len} {max_len}".encode()

    def pieces(self, partition: Part, account: Account) -> Iterator[_core.Joint]:
        """The rows that are rest, batch after batch."""
        rows = self.dataset.select(slice(partition.begin, partition.end))
        function, min_len, max_len = self.conditions
        if isinstance(function, np.ndarray):
            function = function[partition.begin : partition.end]
        rest = rows.filter(function, min_len=min_len, max_len=max_len)
        for begin in range(0, max(len(rest), 1), _ROWS_AT_ONCE):
            yield read_batch(rest, begin, _ROWS_AT_ONCE)
        account += _left_out(rows, rest, partition)


def stable_options(dataset: Views) -> dict[str, Any]:
    """Options of a writer of rows as they are, with the words of all shards."""
    source: Any = dataset.source
    for shard in range(len(source.paths)) if isinstance(source, ShardSet) else ():
        source.file(shard)
    return options_of(dataset)


def _bare_account(rows: Views, partition: Part) -> Account:
    """The account of some rows as if they were the source: how they came to be is the whole's to say."""
    account = Account({f"rows {partition.begin} to {partition.end - 1}": len(rows)})
    values = {}
    for name, field in rows.fields.items():
        if field.dim >= 0:
            count = int(rows.lengths_at(field.dim).sum()) if field.dim > 0 else len(rows)
            values[name] = account.column(name).source.values = count
    account.set_result(len(rows), values)
    return account


def _left_out(rows: Views, rest: Views, partition: Part) -> Account:
    account = _bare_account(rows, partition).successor()
    index, base = rest._index, rows._index
    assert index is not None
    assert base is not None
    hits = ~np.isin(base, index)
    first = [f"row {partition.begin + row}" for row in np.flatnonzero(hits)[:3].tolist()]
    account.leave_out(None, "by filter", len(rows) - len(rest), first=first)
    for name, field in rows.fields.items():
        if field.dim >= 0:
            counts = [int(d.lengths_at(field.dim).sum()) if field.dim > 0 else len(d) for d in (rows, rest)]
            account.leave_out(name, "by filter", counts[0] - counts[1], None)
    return account


def run_step(
    dataset: Views,
    step: Step,
    path: str | os.PathLike[str],
    options: dict[str, Any],
    engine: Any,
    workers: int,
    rows_per_shard: int | None,
    progress: bool,
) -> ShardSet:
    """The folder of what a step makes of all rows, one shard for each part of them."""
    folder = os.path.abspath(as_path(path, "path", "a folder"))
    parts = split_rows(dataset, rows_per_shard)
    own: dict[str, Any] = {"schema": {}, "vocabularies": {}, "row_ids": None, "durable": True}
    own |= {"padding_id": True, "checksums": False, "compress": False, **options}
    with engine_of(engine, parts, workers) as run:
        build_folder(run, parts, step, folder, own, progress, account_of(dataset))
    return open_shards(folder)


def split_rows(dataset: Views, rows_per_shard: int | None) -> list[Part]:
    """The parts of a dataset: of so many rows, or of the rows of each shard; of a view, as many parts."""
    count = len(dataset)
    shards = max(len(dataset.source.counts), 1)
    if rows_per_shard is None and dataset._is_whole:
        own_ends = dataset.source.offsets[1:]
        ends = (own_ends if dataset._index is None else dataset._index.searchsorted(own_ends)).tolist()
    else:
        size = rows_per_shard or max(-(-count // shards), 1)
        ends = [*range(size, count, size), count]
    begins = [0, *ends[:-1]]
    pairs = [(begin, end) for begin, end in zip(begins, ends, strict=True) if begin < end] or [(0, 0)]
    return [Part(begin, end, _identity(dataset, begin, end)) for begin, end in pairs]


def _identity(dataset: Views, begin: int, end: int) -> bytes:
    """A digest of the files that hold these rows and their places in them, or of rows in memory."""
    rows = dataset._source_rows(np.arange(begin, end))
    digest = hashlib.blake2b(repr((dataset.keys(), dataset.source.row_ids)).encode(), digest_size=16)
    source: Any = dataset.source
    if not isinstance(source, ShardSet):
        digest.update(pickle.dumps(JointNestedRaggedTensorDict._wrap(source.read_many(rows)), protocol=4))
        return digest.digest()
    digest.update(rows.tobytes())
    shards = np.unique(np.searchsorted(source.offsets[1:], rows, side="right"))
    paths = source.paths
    own = [paths[shard] for shard in shards.tolist()]
    digest.update(repr([(path, 0, 0) if is_url(path) else state_of_file(path) for path in own]).encode())
    return digest.digest()
