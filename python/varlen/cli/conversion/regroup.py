"""Rows of a group that lie apart, brought together in bounded memory: ``--regroup``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen.cli.conversion.groups import codes_of, concat_rows, group_keys, without_dictionaries

__all__ = ["GatheredRows"]

#: Bytes of a table that are kept in memory.
BUDGET = 1 << 27

#: Files that are open at a time.
_MOST_PARTS = 256


class GatheredRows:
    """The rows of tables, grouped, for any number of passes.

    Groups come in the order of their first rows, or sorted by the first name; the rows of a group keep their
    order. Input beyond the budget goes into files of consecutive groups; each file is read, sorted and
    yielded alone. A number for each group stays in memory.
    """

    def __init__(
        self,
        tables: Iterator[pa.Table],
        names: Sequence[str],
        folder: Path,
        in_order: bool = False,
        budget: int | None = None,
    ) -> None:
        self._names = list(names)
        self._folder = folder
        budget = BUDGET if budget is None else budget
        numbers: dict[Any, int] = {}  # of each group, in the order of their first rows
        counts = np.zeros(0, np.int64)
        parts: list[tuple[pa.Table, npt.NDArray[np.int64]]] = []
        spool = _Spool(folder, "rows")
        size = rows = 0
        for table in tables:
            own = _number_groups(table, self._names[0], numbers, rows)
            for name in self._names[1:]:
                group_keys(table, name, rows)  # refuses nulls while rows are in their places
            counts = np.pad(counts, (0, len(numbers) - len(counts)))
            counts += np.bincount(own, minlength=len(numbers))
            rows += table.num_rows
            size += table.nbytes
            parts.append((table, own))
            if size > budget:
                for part, part_numbers in parts:
                    spool.append(_with_ranks(part, part_numbers))
                parts.clear()
        rank = _ranks(numbers, in_order)
        self._parts: list[pa.Table | _Spool] = []
        if not spool.rows:
            if parts:
                self._parts = [
                    concat_rows([_with_ranks(table, rank[own]) for table, own in parts]).combine_chunks()
                ]
            return
        for part, part_numbers in parts:
            spool.append(_with_ranks(part, part_numbers))
        self._deal(spool, rank, counts, max(1, min(_MOST_PARTS, -(-size // max(budget // 4, 1)))))

    def _deal(
        self, spool: _Spool, rank: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], parts: int
    ) -> None:
        """Writes rows to files of consecutive groups, with about the same number of rows each."""
        by_rank = np.empty_like(counts)
        by_rank[rank] = counts
        starts = np.cumsum(by_rank) - by_rank
        part_of = starts * parts // max(int(counts.sum()), 1)
        files = [_Spool(self._folder, f"part-{k}") for k in range(parts)]
        for table in spool.read():
            ranks = rank[table.column(_RANK).to_numpy()]
            part = part_of[ranks]
            order = np.argsort(part, kind="stable")
            ends = np.searchsorted(part[order], np.arange(parts), side="right")
            sorted_table = _with_ranks(table.drop_columns([_RANK]), ranks).take(pa.array(order))
            start = 0
            for k, end in enumerate(ends.tolist()):
                if end > start:
                    files[k].append(sorted_table.slice(start, end - start))
                start = end
        spool.remove()
        for file in files:
            file.close()
        self._parts = [file for file in files if file.rows]

    def __iter__(self) -> Iterator[pa.Table]:
        for part in self._parts:
            table = part if isinstance(part, pa.Table) else concat_rows(list(part.read())).combine_chunks()
            ranks = table.column(_RANK).to_numpy()
            yield table.drop_columns([_RANK]).take(pa.array(_order(table, self._names, ranks)))


_RANK = "\0rank"


def _order(table: pa.Table, names: Sequence[str], ranks: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
    """Rows by their group, groups inside it by their first rows."""
    keys: list[np.ndarray] = [ranks]
    group = ranks
    for name in names[1:]:
        pair = np.stack([group, codes_of(table.column(name))])
        _, first, which = np.unique(pair, axis=1, return_index=True, return_inverse=True)
        group = first[which.reshape(-1)]
        keys.append(group)
    return np.lexsort(keys[::-1])


def _ranks(numbers: dict[Any, int], in_order: bool) -> npt.NDArray[np.int64]:
    ranks = np.arange(len(numbers))
    if in_order and numbers:
        keys = list(numbers)
        kind = pa.uint64() if type(keys[0]) is int and max(keys) >= 2**63 else None
        ranks[pc.sort_indices(pa.array(keys, kind)).to_numpy()] = np.arange(len(numbers))
    return ranks


def _number_groups(
    table: pa.Table, name: str, numbers: dict[Any, int], first_row: int
) -> npt.NDArray[np.int64]:
    """The number of each row's group; new groups get the next ones."""
    array = group_keys(table, name, first_row).dictionary_encode()
    keys = array.dictionary.to_pylist()
    uniques = np.unique(array.indices.to_numpy(), return_index=True)
    table_of = np.zeros(max(len(keys), 1), np.int64)
    for code in uniques[0][np.argsort(uniques[1])].tolist():
        table_of[code] = numbers.setdefault(keys[code], len(numbers))
    out: npt.NDArray[np.int64] = table_of[array.indices.to_numpy()]
    return out


def _with_ranks(table: pa.Table, ranks: npt.NDArray[np.int64]) -> pa.Table:
    return table.append_column(_RANK, pa.array(ranks))


class _Spool:
    """Tables in Arrow files, one file per schema."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._writers: list[tuple[pa.Schema, Path, Any]] = []
        self.rows = 0

    def append(self, table: pa.Table) -> None:
        table = without_dictionaries(table)
        if not self._writers or self._writers[-1][0] != table.schema:
            self.close()
            path = self._folder / f"{self._name}-{len(self._writers)}.arrows"
            self._writers.append((table.schema, path, pa.ipc.new_stream(str(path), table.schema)))
        self._writers[-1][2].write_table(table)
        self.rows += table.num_rows

    def close(self) -> None:
        if self._writers:
            self._writers[-1][2].close()

    def read(self) -> Iterator[pa.Table]:
        self.close()
        for _, path, _ in self._writers:
            with pa.OSFile(str(path)) as source:
                for batch in pa.ipc.open_stream(source):
                    yield pa.Table.from_batches([batch])

    def remove(self) -> None:
        for _, path, _ in self._writers:
            path.unlink()
