"""Tables with a row for each id, joined to the records: ``--static``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from varlen._core import Joint
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.joints import encode_words, with_options
from varlen.cli.conversion.tables import TableReader
from varlen.cli.conversion.words import Vocabularies
from varlen.cli.conversion.wrong import Findings
from varlen.errors import file_error, is_of_row, name_file, no_column_error, place_row, value_error
from varlen.interop.arrow import Column, Nulls, columns_of
from varlen.io.account import Account
from varlen.io.arrow_counts import count_table

__all__ = ["StaticTable", "StaticUse"]


class StaticUse(NamedTuple):
    """The rows of a table that records use, and the ids of records without one."""

    is_used: npt.NDArray[np.bool_]
    missing_ids: set[Any]


class StaticTable:
    """A table with one row for each value of a key of the records."""

    def __init__(self, source: Input, key: str, nulls: Nulls, kind: Any = None) -> None:
        reader = TableReader([source], 1 << 20)
        if kind is not None and key in reader.columns:
            reader = TableReader([source], 1 << 20, types={key: kind})
        if key not in reader.columns:
            raise no_column_error("", key, reader.columns, file=source.path)
        pieces = list(reader.read())
        if not sum(piece.num_rows for piece in pieces):
            raise file_error(source.path, "holds no row")
        table = pa.concat_tables(pieces, promote_options="permissive").combine_chunks()
        self.source, self.path = source, source.path
        self.notes, self.zones = reader.notes, reader.zones
        self._key = key
        self._nulls = nulls
        self._rows: dict[Any, int] = {}
        column = table.column(key)
        findings = Findings()
        for row in np.flatnonzero(column.is_null().to_numpy()).tolist():
            null = f"null at {reader.locate(row).name}; a record is found by its id"
            findings.add(file_error(self.path, null, key))
        findings.finish()
        for row, value in enumerate(_plain_ids(columns_of(column, key).get(key), self.path)):
            if value in self._rows:
                first, again = (reader.locate(i).name for i in (self._rows[value], row))
                message = f"{value!r} at {again} is at {first} already; a static table has one row an id"
                findings.add(file_error(self.path, message, key))
            else:
                self._rows[value] = row
        findings.finish()
        self._table = table.drop_columns([key])
        self.keys: dict[str, None] = {}  # that the records get
        self._is_used = np.zeros(table.num_rows, bool)
        self._account = reader.account
        self.missing_ids: set[Any] = set()
        self.begin_pass()

    def begin_pass(self) -> None:
        """Counts the joined rows anew."""
        self._n_found = self._absent = 0
        self.missing: dict[str, int] = {}  # nulls of what is joined

    @property
    def use(self) -> StaticUse:
        """The use of the rows so far."""
        return StaticUse(self._is_used, self.missing_ids)

    def add_use(self, use: StaticUse) -> None:
        """Adds the use by other records."""
        self._is_used |= use.is_used
        self.missing_ids |= use.missing_ids

    def account(self) -> Account:
        """The account of the table: records use some ids, some more than once."""
        account = self._account.successor()
        count, rows = int(self._is_used.sum()), self._table.num_rows
        account.leave_out(None, "joined by id, from static tables", rows)
        for name, balance in account.columns.items():
            balance.source.nulls = None  # which of them go out is not known
            if name == self._key:
                account.leave_out(name, "ids of static tables", rows)
                continue
            account.leave_out(name, "ids without a record", rows - count, None)
            account.leave_out(name, "ids of several records", count - self._n_found, None)
            account.leave_out(name, "records without a row", -self._absent, None)
        return account

    def has_text(self) -> bool:
        """Whether some column holds strings."""
        from varlen.cli.conversion.tables import text_in

        return any(text_in(kind) for kind in self._table.schema.types)

    def join(self, joint: Joint, words: Vocabularies) -> Joint:
        """The records with the columns of their ids; ids that are not here have nulls."""
        picks = self._pick(joint, words)
        absent = np.flatnonzero(picks < 0)
        ids = self._ids(joint, words) if len(absent) else []
        is_text = isinstance(next(iter(self._rows)), str)
        if len(absent) and is_text != isinstance(ids[0], str):
            mine, theirs = ("text", "no text") if is_text else ("no text", "text")
            raise file_error(
                self.path,
                f"{self._key} is {mine}, but {theirs} in the records; see --types, as in {self._key}=str",
            )
        if len(absent) and self._nulls.policy == "refuse":
            raise file_error(
                self.path,
                f"no row for {self._key} {ids[absent[0]]!r}, one of {len(absent):,} such "
                "records; see --nulls",
            )
        self.missing_ids.update(ids[i] for i in absent.tolist())
        self._is_used[picks[picks >= 0]] = True
        self._absent += len(absent)
        self._n_found += len(picks) - len(absent)
        table = self._table.take(pa.array(picks, mask=picks < 0))
        count_table(Account(), table, self.missing)
        for name in table.column_names:
            try:
                columns = columns_of(table.column(name), name, self._nulls)
                flat = {
                    key: column.values if column.vocabulary is None else encode_words(words, key, column)
                    for key, column in columns.items()
                }
            except ValueError as wrong:
                raise self._with_id(wrong, joint, words) from None
            for key, column in columns.items():
                if joint.dim(key) is not None:
                    raise file_error(self.path, f"{key!r} is a key of the records already")
                if column.levels:
                    raise file_error(self.path, f"{key!r} holds lists; a static table has one value an id")
                joint = joint.with_column(key, 0, flat[key])
                self.keys[key] = None
        return joint

    def _with_id(self, error: ValueError, joint: Joint, words: Vocabularies) -> Exception:
        """The error with the id instead of the row, which counts records."""
        failure = with_options(error)
        if is_of_row(failure):
            place_row(failure, failure.row, f" for {self._key} {self._ids(joint, words)[failure.row]!r}")
        return name_file(failure, self.path, ValueError)

    def summary(self) -> list[str]:
        """A line about ids without a counterpart."""
        count = int((~self._is_used).sum())
        out = [f"{self.path}: {count:,} ids have no record, and were left out"] if count else []
        if self.missing_ids:
            out.append(
                f"{self.path}: {len(self.missing_ids):,} ids of records have no row, their values are nulls"
            )
        return out

    def _ids(self, joint: Joint, words: Vocabularies) -> list[Any]:
        if joint.dim(self._key) != 0:
            raise value_error("--static", f"{self._key!r} is not a key with one value a record")
        texts = tuple(words.words_of(self._key)) if self._key in words else None
        return _plain_ids(Column(joint.values(self._key), (), texts), self.path)

    def _pick(self, joint: Joint, words: Vocabularies) -> npt.NDArray[np.int64]:
        ids = self._ids(joint, words)
        return np.fromiter((self._rows.get(value, -1) for value in ids), np.int64, len(ids))


def _plain_ids(column: Column | None, path: Path) -> list[Any]:
    """Ids as Python's objects, from a file and from records alike."""
    if column is None or column.levels:
        raise file_error(path, "the ids are lists or objects; expected one value per id")
    ids: list[Any] = column.values.tolist()
    return ids if column.vocabulary is None else [column.vocabulary[i] for i in ids]
