"""Tables with a row for each id, joined to the records: ``--static``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from varlen._core import Joint
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.joints import encode_words
from varlen.cli.conversion.tables import TableReader
from varlen.cli.conversion.words import Vocabularies
from varlen.interop.arrow import Nulls, columns_of

__all__ = ["StaticTable"]


class StaticTable:
    """A table with one row for each value of a key of the records.

    Parameters
    ----------
    source
        Its file; it is kept in memory.
    key
        The key, a column of this name.
    nulls
        What becomes of nulls, and of ids of records that are not here.

    Raises
    ------
    ValueError
        The column is not there, or holds a null or the same id twice.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = "id,age  7,70  8,8  ".replace("  ", chr(10))
    >>> _ = Path("people.csv").write_text(text)
    >>> people = StaticTable(Input.of(Path("people.csv")), "id", Nulls())
    >>> joint = Joint(["id"], [0], [np.array([8, 7])], [])
    >>> people.join(joint, Vocabularies()).values("age")
    array([ 8, 70])
    """

    def __init__(self, source: Input, key: str, nulls: Nulls) -> None:
        reader = TableReader([source], 1 << 20)
        if key not in reader.columns:
            raise ValueError(f"{source.path}: no column {key!r}; there are {', '.join(reader.columns)}")
        pieces = list(reader.read())
        if not pieces:
            raise ValueError(f"{source.path}: holds no row")
        table = pa.concat_tables(pieces, promote_options="permissive").combine_chunks()
        self.path = source.path
        self._key = key
        self._nulls = nulls
        self._rows: dict[Any, int] = {}
        for row, value in enumerate(table.column(key).to_pylist()):
            if value is None:
                raise ValueError(f"{self.path}: {key}: null at row {row}; a record is found by its id")
            if value in self._rows:
                raise ValueError(
                    f"{self.path}: {key}: {value!r} at row {row} is at row {self._rows[value]} already; "
                    "a static table has one row an id"
                )
            self._rows[value] = row
        self._table = table.drop_columns([key])
        self._used = np.zeros(table.num_rows, bool)
        self.without: set[Any] = set()

    def has_text(self) -> bool:
        """Some column holds strings."""
        from varlen.cli.conversion.tables import text_in

        return any(text_in(kind) for kind in self._table.schema.types)

    def join(self, joint: Joint, words: Vocabularies) -> Joint:
        """The records with the columns of their ids; ids that are not here have nulls.

        Raises
        ------
        ValueError
            An id is not here and nulls are refused, a column is a key already, or holds lists.
        """
        picked = self._pick(joint, words)
        absent = np.flatnonzero(picked < 0)
        ids = self._ids(joint, words) if len(absent) else []
        if len(absent) and self._nulls.policy == "refuse":
            raise ValueError(
                f"{self.path}: no row for {self._key} {ids[absent[0]]!r}, one of {len(absent):,} such "
                "records; see --nulls"
            )
        self.without.update(ids[i] for i in absent.tolist())
        self._used[picked[picked >= 0]] = True
        table = self._table.take(pa.array(picked, mask=picked < 0))
        for name in table.column_names:
            for key, column in columns_of(table.column(name), name, self._nulls).items():
                if joint.dim(key) is not None:
                    raise ValueError(f"{self.path}: {key!r} is a key of the records already")
                if column.levels:
                    raise ValueError(f"{self.path}: {key!r} holds lists; a static table has one value an id")
                values = column.values if column.vocabulary is None else encode_words(words, key, column)
                joint = joint.with_column(key, 0, values)
        return joint

    def summary(self) -> list[str]:
        """What had no counterpart."""
        unused = int((~self._used).sum())
        out = [f"{self.path}: {unused:,} ids have no record, and were left out"] if unused else []
        if self.without:
            out.append(
                f"{self.path}: {len(self.without):,} ids of records have no row, their values are nulls"
            )
        return out

    def _ids(self, joint: Joint, words: Vocabularies) -> list[Any]:
        if joint.dim(self._key) != 0:
            raise ValueError(f"--static: {self._key!r} is not a key with one value a record")
        ids: list[Any] = joint.values(self._key).tolist()
        if self._key in words:
            texts = words.of(self._key)
            ids = [texts[i] for i in ids]
        return ids

    def _pick(self, joint: Joint, words: Vocabularies) -> npt.NDArray[np.int64]:
        ids = self._ids(joint, words)
        return np.fromiter((self._rows.get(value, -1) for value in ids), np.int64, len(ids))
