"""The account of a folder of MEDS: measurements that came in, and those in the shards and beside them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from varlen.io.account import Account, Tally

__all__ = ["MedsAccount"]

_UNKNOWN = "codes that the train split lacks"
_COLUMNS = ("code", "numeric_value")


class MedsAccount:
    """Adds up the accounts of shards, and what is in none of them."""

    def __init__(self) -> None:
        self.total = Account()

    def add_file(self, path: Path, ids: pa.ChunkedArray, unsplit: list[int]) -> None:
        """A whole file, whose rows are those of its metadata, and rows of subjects that are in no split."""
        self.total.add_file(str(path), int(pq.read_metadata(path).num_rows))
        gone = int(pc.sum(pc.is_in(ids, pa.array(unsplit, ids.type))).as_py() or 0) if unsplit else 0
        first = [f"{path}: subject {subject}" for subject in unsplit[:3]]
        self.total.leave_out(None, "subjects in no split", gone, 0, first)
        for name in _COLUMNS if gone else ():
            self.total.column(name).source.values += gone
            self.total.leave_out(name, "subjects in no split", gone, None, first)

    def shard(self, path: Path, came: int, unknown: int, table: pa.Table) -> Account:
        """The account of a shard: rows that were read for it, and its table of known codes."""
        account = Account({str(path): came})
        timeless = pc.is_null(table.column("time"))
        static = int(pc.sum(timeless).as_py() or 0)
        subjects = pc.unique(table.filter(pc.invert(timeless)).column("subject_id"))
        account.leave_out(None, _UNKNOWN, unknown)
        account.leave_out(None, "nested into subjects", table.num_rows - len(subjects))
        for name in _COLUMNS:
            account.column(name).source.values = came
            account.leave_out(name, _UNKNOWN, unknown, None)
            account.leave_out(name, "static, in the table beside", static, None)
        alone = pc.invert(pc.is_in(table.column("subject_id"), subjects))
        without = int(pc.sum(alone).as_py() or 0)
        self.total.column("static_code").source.values += static
        self.total.leave_out("static_code", "subjects without events", without)
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

    def finish(self, more_columns: list[str]) -> None:
        """Checks the whole, and says which columns nobody reads."""
        self.total.unread = dict.fromkeys(more_columns, "no column of events")
        self.total.check()
