"""Accounts of datasets: the account of their files, and the rows that a view leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.data.sources.alignment import AlignedSource, TakenSource, bare
from varlen.data.sources.chain import JoinedSource
from varlen.data.sources.extra_key import KeyedSource
from varlen.data.sources.memory import rest_of
from varlen.data.sources.translation import TranslatedSource
from varlen.io import Account, ShardSet, Tally

if TYPE_CHECKING:
    from varlen.data.rows import Rows
    from varlen.data.sources.memory import Source

__all__ = []


def account_of(dataset: Rows) -> Account:
    """The account of a source; for a view also the rows that it leaves out or has twice."""
    account = source_account(dataset.source)
    base, index = dataset._base, dataset._index
    if base is None or index is None:
        return account
    times = np.bincount(index, minlength=len(base))
    deletions = np.zeros(len(base), bool)
    rest = rest_of(dataset.source)
    if rest is not None:
        deletions = np.ones(len(base), bool)
        deletions[rest] = False
    next_account = account.successor()
    verbs = ", ".join(dict.fromkeys(dataset._verbs)) or "a view"
    parts = ("deleted", deletions), (f"by {verbs}", (times == 0) & ~deletions), ("taken again", times > 1)
    for why, hits in parts:
        if not hits.any():
            continue
        share = np.where(hits, 1 - times, 0)
        first = [f"row {row}" for row in np.flatnonzero(hits)[:3].tolist()]
        next_account.leave_out(None, why, int(share.sum()), first=first)
        for name, field in dataset.fields.items():
            lengths = base.lengths_at(field.dim) if field.dim > 0 else np.ones(len(base), np.int64)
            next_account.leave_out(name, why, int((lengths * share).sum()), None)
    values = {
        name: int(dataset.lengths_at(field.dim).sum()) if field.dim > 0 else len(dataset)
        for name, field in dataset.fields.items()
        if field.dim >= 0
    }
    words = {name: field.vocabulary for name, field in dataset.fields.items() if field.vocabulary}
    next_account.set_result(len(dataset), values, words)
    return next_account


def source_account(source: Source) -> Account:
    """The account of all rows of a source; rows in memory start a new one."""
    own: Any = source
    if isinstance(own, ShardSet):
        return own.account
    if isinstance(source, TranslatedSource):
        return source_account(source._source)
    if isinstance(source, JoinedSource):
        parts = [source_account(part) for part in source._sources]
        return sum(parts[1:], parts[0])
    if isinstance(source, AlignedSource):
        account = source_account(source._parts[0])
        for i, part in enumerate(source._parts[1:], start=1):
            columns = source_account(part).columns
            account.columns |= {name: columns[name] for name in source._own(i, None) if name in columns}
        return account
    if isinstance(source, TakenSource):
        account = source_account(source._source).successor()
        why = "by join" if bare(source) is source else "deleted"
        account.leave_out(None, why, len(source._source) - len(source))
        for name, field in source.fields.items():
            if field.dim >= 0:
                count = _count(source._source, name, field.dim) - _count(source, name, field.dim)
                account.leave_out(name, why, count, None)
    elif isinstance(source, KeyedSource):
        account = source_account(source._source).successor()
        name = source._name
        if name in account.columns:
            count = source_account(source._source).columns[name].result.values
            account.leave_out(name, "by with_key", count, None)
        account.leave_out(name, "as with_key gives them", -len(source._values), None)
    else:
        account = Account({"memory": len(source)})
    values = {}
    for name, field in source.fields.items():
        if field.dim >= 0:
            values[name] = _count(source, name, field.dim)
            if not isinstance(source, (KeyedSource, TakenSource)):
                _add_all(account.column(name).source, source, name)
    words = {name: field.vocabulary for name, field in source.fields.items() if field.vocabulary}
    account.set_result(len(source), values, words)
    return account


def _count(source: Source, name: str, dim: int) -> int:
    """The values of a key, by the ends of its level."""
    shards = np.flatnonzero(source.counts).tolist()
    if dim == 0:
        return int(source.counts.sum())
    ends = [source.ends(shard, dim) for shard in shards]
    return sum(int(own[-1]) for own in ends if len(own))


def _add_all(tally: Tally, source: Source, name: str) -> None:
    for shard in np.flatnonzero(source.counts).tolist():
        tally.add(source.values(shard, name))


class Passage:
    """The rows that go into a function and come out of it, counted on both sides."""

    def __init__(self, account: Account) -> None:
        self._account = account
        self._source_counts = _Counts()
        self._result_counts = _Counts()

    def add(self, source: _core.Joint, result: _core.Joint) -> None:
        """Count one batch of rows, and its results."""
        self._source_counts.add(source)
        self._result_counts.add(result)

    def finish(self, account: Account) -> None:
        """Add the account of the input, and what the function left out, made and kept."""
        next_account = self._account.successor()
        next_account.leave_out(None, "by map", self._source_counts.rows - self._result_counts.rows)
        for name in dict.fromkeys([*self._source_counts.values, *self._result_counts.values]):
            count_in, count_out = self._source_counts.values.get(name), self._result_counts.values.get(name)
            if count_out is None:
                next_account.leave_out(name, "a key that map leaves out", count_in or 0, None)
            elif count_in is None:
                next_account.leave_out(name, "by map", -count_out, None)
            else:
                next_account.leave_out(name, "by map", count_in - count_out, None)
                next_account.change(name, "as map gives them", count_out, None)
        account += next_account


class _Counts:
    def __init__(self) -> None:
        self.rows = 0
        self.values: dict[str, int] = {}

    def add(self, joint: _core.Joint) -> None:
        self.rows += len(joint)
        for name, dim in zip(joint.names, joint.dims, strict=True):
            if dim >= 0:
                self.values[name] = self.values.get(name, 0) + _total(joint, dim)


def _total(joint: _core.Joint, dim: int) -> int:
    return len(joint) if dim == 0 else int(joint.level(dim).total)
