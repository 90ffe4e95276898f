"""The account of a folder of MEDS: measurements in the input, in the shards and beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from varlen.cli.conversion.meds import LostValues
from varlen.io.account import Account, Tally

__all__ = ["MedsAccount"]

_UNKNOWN = "codes that the train split lacks"
_STATIC = "static, in the table beside"
_COLUMNS = ("code", "numeric_value")


class MedsAccount:
    """Adds up the accounts of shards, and the data that no shard holds."""

    def __init__(self) -> None:
        self.total = Account()
        self._source_words: set[str] = set()
        self._result_codes: set[int] = set()

    def __iadd__(self, other: MedsAccount) -> MedsAccount:
        self.total += other.total
        self._source_words |= other._source_words
        self._result_codes |= other._result_codes
        return self

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        words, codes = sorted(self._source_words), sorted(self._result_codes)
        return {"total": self.total.as_dict(), "source_words": words, "result_codes": codes}

    @classmethod
    def from_dict(cls, table: dict[str, Any]) -> MedsAccount:
        """The account of plain values."""
        out = cls()
        out.total = Account.from_dict(table["total"])
        out._source_words.update(table["source_words"])
        out._result_codes.update(table["result_codes"])
        return out

    def add_file(self, path: Path, ids: pa.ChunkedArray, unsplit: list[int]) -> None:
        """A whole file, whose rows are those of its metadata, and rows of subjects that are in no split."""
        self.total.add_file(str(path), int(pq.read_metadata(path).num_rows))
        if not unsplit:
            return
        columns = [name for name in _COLUMNS if name in pq.read_schema(path).names]
        events = pq.read_table(path, columns=columns, partitioning=None)
        events = events.set_column(0, "code", events.column("code").cast(pa.string()))
        events = events.filter(pc.is_in(ids, pa.array(unsplit, ids.type)))
        self._source_words.update(_words(events))
        first = [f"{path}: subject {subject}" for subject in unsplit[:3]]
        count = events.num_rows
        self.total.leave_out(None, "subjects in no split", count, 0, first)
        for name in _COLUMNS:
            nulls = _nulls(events.column(name)) if name in columns else count
            self.total.column(name).source += Tally(count, nulls)
            self.total.leave_out(name, "subjects in no split", count, nulls, first)

    def shard(
        self, path: Path, source: pa.Table, unknown: pa.Table, table: pa.Table, losses: Sequence[LostValues]
    ) -> Account:
        """The account of a shard: its rows, those of unknown codes, the others normalized, lost values."""
        account = Account({str(path): source.num_rows})
        timeless = pc.is_null(table.column("time"))
        static = table.filter(timeless)
        events = table.filter(pc.invert(timeless))
        subjects = pc.unique(events.column("subject_id"))
        first = [f"{path}: code {word!r}" for word in _words(unknown)]
        account.leave_out(None, _UNKNOWN, unknown.num_rows, 0, first)
        account.leave_out(None, "nested into subjects", table.num_rows - len(subjects))
        for name in _COLUMNS:
            account.column(name).source.values = source.num_rows
            account.column(name).source.nulls = _nulls(source.column(name))
            account.leave_out(name, _UNKNOWN, unknown.num_rows, _nulls(unknown.column(name)), first)
            account.leave_out(name, _STATIC, static.num_rows, _nulls(static.column(name)))
        for one in losses:
            account.change("numeric_value", one.why, one.values, -one.values, [f"{path}: {one.first}"])
        words = _words(source)
        account.column("code").source.count_words(words)
        self._source_words.update(words)
        self._result_codes.update(pc.unique(events.column("code")).to_pylist())
        lacks_events = pc.invert(pc.is_in(table.column("subject_id"), subjects))
        count = int(pc.sum(lacks_events).as_py() or 0)
        self.total.column("static_code").source.values += static.num_rows
        self.total.leave_out("static_code", "subjects without events", count)
        return account

    def add_shard(self, account: Account, schema_path: Path | None) -> None:
        """A shard that was written with its table, which is read again; None for one without rows."""
        if schema_path is not None:
            lists = pq.read_table(schema_path, columns=["static_code"]).column(0)
            count = int(pc.sum(pc.list_value_length(lists)).as_py() or 0)
            self.total.column("static_code").result.values += count
        part = account + Account()
        part.files, part.rows.source = {}, Tally()  # of whole files, once
        self.total += part

    def add_metadata(self, total: int, matches: int) -> None:
        """The codes of the folder's own table, and the number of them in the train split."""
        balance = self.total.column("metadata/codes")
        balance.source.values, balance.result.values = total, matches
        self.total.leave_out("metadata/codes", _UNKNOWN, total - matches)

    def finish(self, more_columns: list[str]) -> None:
        """Checks the whole account, and records the columns that nobody reads."""
        self.total.column("code").source.count_words(self._source_words)
        self.total.column("code").result.count_distinct(np.array(sorted(self._result_codes), np.int64))
        self.total.unread = dict.fromkeys(more_columns, "no column of events")
        self.total.check()


def _words(table: pa.Table) -> list[str]:
    words = pc.unique(table.column("code").cast(pa.string()))
    return [word for word in words.to_pylist() if word is not None]


def _nulls(column: pa.ChunkedArray) -> int:
    if pa.types.is_floating(column.type):
        return int(pc.sum(pc.is_null(column, nan_is_null=True)).as_py() or 0)
    return int(column.null_count)
