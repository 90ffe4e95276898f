"""Arrow tables, piece by piece, as joint columns: what ``varlen convert`` reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen._core import Joint, Level
from varlen.interop.arrow import Column, Nulls, columns_of
from varlen.io.columns import check_names

if TYPE_CHECKING:
    from varlen.cli.pieces import ConversionPlan

__all__ = ["group_rows", "join_columns", "read_joints", "read_tables", "regroup_rows", "text_columns"]


def _remap(vocabulary: dict[str, int], words: Sequence[str], ids: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Ids into `words` as ids into the growing vocabulary."""
    table = np.fromiter(
        (vocabulary.setdefault(word, len(vocabulary)) for word in words), np.int64, len(words)
    )
    out: npt.NDArray[np.int64] = table[ids]
    return out


def read_tables(path: Path, rows: int) -> tuple[Iterator[pa.Table], int | None]:
    r"""The tables of a Parquet, Feather, Arrow or CSV file, and how many rows there are, where that is known.

    Examples
    --------
    >>> _ = Path("t.csv").write_text("a,b\n1,2\n")
    >>> [table.to_pydict() for table in read_tables(Path("t.csv"), 10)[0]]
    [{'a': [1], 'b': [2]}]
    """
    kind = path.suffix.lower()
    if kind in (".parquet", ".pq"):
        import pyarrow.parquet as pq

        file = pq.ParquetFile(path)
        return (pa.Table.from_batches([batch]) for batch in file.iter_batches(rows)), file.metadata.num_rows
    if kind == ".csv":
        from pyarrow import csv

        return (pa.Table.from_batches([batch]) for batch in csv.open_csv(path)), None
    if kind in (".feather", ".arrow", ".ipc", ".arrows"):
        return _read_ipc(path), None
    raise ValueError(f"{path}: cannot tell the format from {path.suffix!r}")


def _read_ipc(path: Path) -> Iterator[pa.Table]:
    with pa.memory_map(str(path)) as source:
        try:
            reader = pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            for batch in pa.ipc.open_stream(source):
                yield pa.Table.from_batches([batch])
            return
        for k in range(reader.num_record_batches):
            yield pa.Table.from_batches([reader.get_batch(k)])


def _changes(table: pa.Table, names: Sequence[str], first_row: int) -> npt.NDArray[np.bool_]:
    """True at each row whose group differs from that of the row before; the first row starts a group."""
    out = np.zeros(table.num_rows, bool)
    out[:1] = True
    for name in names:
        column = table.column(name).combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
        if column.null_count:
            row = first_row + int(np.flatnonzero(column.is_null())[0])
            raise ValueError(f"{name}: null at row {row}; a group needs a value")
        out[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return out


def _split_group(name: str, key: Any, names: Sequence[str]) -> ValueError:
    return ValueError(
        f"{name}: the rows of {key!r} are not together; sort the input by {', '.join(names)}, "
        "or let --regroup do it in memory"
    )


def _codes(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A number for each distinct value, in the order of first appearance."""
    array = pa.chunked_array(column.chunks, column.type).dictionary_encode().unify_dictionaries()
    codes: npt.NDArray[Any] = pa.chunked_array([c.indices for c in array.chunks], pa.int32()).to_numpy()
    return codes


def group_rows(tables: Iterator[pa.Table], names: Sequence[str]) -> Iterator[tuple[pa.Table, list[Level]]]:
    """Whole outer groups of consecutive rows, with a level for each name. At most one group is held back.

    Raises
    ------
    ValueError
        A group's rows are not together: its key comes again after another group began.

    Examples
    --------
    >>> table = pa.table({"p": [1, 1, 2], "x": [7, 8, 9]})
    >>> [(len(t), levels[0].lengths.tolist()) for t, levels in group_rows(iter([table]), ["p"])]
    [(2, [2]), (1, [1])]
    """
    seen: set[Any] = set()
    open_group: pa.Table | None = None

    rows_done = 0

    def finish(table: pa.Table) -> tuple[pa.Table, list[Level]]:
        starts = [np.flatnonzero(_changes(table, names[: k + 1], rows_done)) for k in range(len(names))]
        for key in table.column(names[0]).take(pa.array(starts[0])).to_pylist():
            if key in seen:
                raise _split_group(names[0], key, names)
            seen.add(key)
        for k in range(1, len(names)):
            keys = _codes(table.column(names[k]).take(pa.array(starts[k])))
            parents = np.searchsorted(starts[k - 1], starts[k], side="right")
            _, first, count = np.unique(
                np.stack([parents, keys]), axis=1, return_index=True, return_counts=True
            )
            if count.max() > 1:
                row = starts[k][first[count > 1].min()]
                raise _split_group(names[k], table.column(names[k])[int(row)].as_py(), names)
        ends = [*starts, np.arange(table.num_rows)]
        total = [len(rows) for rows in ends]
        levels = []
        for k in range(len(names)):
            below = np.searchsorted(ends[k + 1], np.append(ends[k], table.num_rows))
            below[-1] = total[k + 1]
            levels.append(Level.from_offsets(below))
        return table, levels

    for table in tables:
        if table.num_rows == 0:
            continue
        pending = (
            table
            if open_group is None
            else pa.concat_tables([open_group, table], promote_options="permissive")
        )
        last = int(np.flatnonzero(_changes(pending, names[:1], rows_done))[-1])
        open_group = pending.slice(last)
        if last:
            yield finish(pending.slice(0, last).combine_chunks())
            rows_done += last
    if open_group is not None:
        yield finish(open_group.combine_chunks())


def join_columns(
    table: pa.Table,
    levels: Sequence[Level],
    groups: Sequence[str],
    nulls: Nulls,
    words: dict[str, dict[str, int]],
    first_row: int = 0,
) -> Joint:
    """The columns of a table as one joint: group columns at their own dim, the rest below all groups.

    Raises
    ------
    ValueError
        The lists of two columns have different lengths; the message names both and the first row.

    Examples
    --------
    >>> joint = join_columns(pa.table({"x": [[7, 8], [9]]}), [], (), Nulls(), {})
    >>> joint.dims, joint.values("x")
    ([1], array([7, 8, 9]))
    """
    check_names(table.column_names, "columns")
    names: list[str] = []
    dims: list[int] = []
    values: list[npt.NDArray[Any]] = []
    nest = list(levels)
    named_by = ["the groups"] * len(nest)
    for name in table.column_names:
        found: dict[str, Column] = columns_of(table.column(name), name, nulls, first_row)
        for key, column in found.items():
            flat = column.values
            if column.vocabulary is not None:
                if len(flat) and flat.min() < 0:
                    raise ValueError(f"{key}: a null among strings, which have no NaN; see --nulls fill")
                flat = _remap(words.setdefault(key, {}), column.vocabulary, flat)
            dim = len(levels)
            if name in groups:
                dim = groups.index(name)
                first = np.arange(len(levels[dim]))
                for level in levels[dim:]:
                    first = level.offsets[first]
                flat = flat[first]
            for level in column.levels:
                if dim == len(nest):
                    nest.append(level)
                    named_by.append(key)
                elif nest[dim] != level:
                    at = row = _first_difference(nest[dim], level)
                    for above in nest[len(levels) : dim][::-1]:
                        row = int(np.searchsorted(above.bounds, row, "right"))
                    raise ValueError(
                        f"the lists of {key} and {named_by[dim]} have different lengths at row "
                        f"{first_row + row}, {int(level.lengths[at])} and {int(nest[dim].lengths[at])}; "
                        "convert them into files of their own with --columns"
                    )
                dim += 1
            names.append(key)
            dims.append(dim)
            values.append(flat)
    return Joint(names, dims, values, nest, table.num_rows if not nest else -1)


def _first_difference(a: Level, b: Level) -> int:
    return int(np.flatnonzero(a.lengths != b.lengths)[0])


def regroup_rows(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """The rows sorted so that groups stand together, in order of first appearance; order kept inside.

    Examples
    --------
    >>> regroup_rows(pa.table({"p": [1, 2, 1], "x": [7, 8, 9]}), ["p"]).column("x").to_pylist()
    [7, 9, 8]
    """
    keys = [_codes(table.column(name)) for name in names]
    return table.take(pa.array(np.lexsort(keys[::-1])))


def text_columns(path: Path) -> bool:
    r"""Whether a table holds strings, in lists and structs too.

    Examples
    --------
    >>> _ = Path("t.csv").write_text("a\nword\n")
    >>> text_columns(Path("t.csv"))
    True
    """

    def text(kind: pa.DataType) -> bool:
        if pa.types.is_dictionary(kind):
            return text(kind.value_type)
        if pa.types.is_struct(kind):
            return any(text(part.type) for part in kind)
        if hasattr(kind, "value_type"):
            return text(kind.value_type)
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    source, _ = read_tables(path, 1)
    first = next(iter(source), None)
    return first is not None and any(text(column.type) for column in first.schema)


def read_joints(plan: ConversionPlan) -> tuple[Iterator[tuple[Joint, int]], int | None]:
    r"""The pieces of a table with the input rows that each used up; how many rows there are, where known.

    Examples
    --------
    >>> from varlen.cli.pieces import ConversionPlan
    >>> _ = Path("t.csv").write_text("a,b\n1,2\n")
    >>> [(joint.names, rows) for joint, rows in read_joints(ConversionPlan(Path("t.csv")))[0]]
    [(['a', 'b'], 1)]
    """
    source, total = read_tables(plan.path, plan.rows)
    return _joints(plan, (_chosen(table, plan) for table in source)), total


def _chosen(table: pa.Table, plan: ConversionPlan) -> pa.Table:
    wanted = list(dict.fromkeys([*plan.groups, *(plan.columns or table.column_names)]))
    twice = [name for name in wanted if table.column_names.count(name) > 1]
    if twice:
        raise ValueError(f"{plan.path}: two columns are called {twice[0]!r}")
    missing = [name for name in wanted if name not in table.column_names]
    if missing:
        raise ValueError(f"{plan.path}: no column {missing[0]!r}; there are {', '.join(table.column_names)}")
    return table.select(wanted)


def _with_options(text: str) -> str:
    """What the reader says of its arguments, in the options of the command line."""
    if text.startswith("fill: "):
        return f"--{text}"
    return text.replace("say what nulls become: 'nan', or 'fill' and a value", "see --nulls")


def _joints(plan: ConversionPlan, stream: Iterator[pa.Table]) -> Iterator[tuple[Joint, int]]:
    nulls = Nulls(*plan.nulls)
    if plan.regroup:
        stream = iter([regroup_rows(pa.concat_tables(stream, promote_options="permissive"), plan.groups)])
    pieces = (
        group_rows(stream, plan.groups)
        if plan.groups
        else ((table, []) for table in stream if table.num_rows)
    )
    first_row = 0
    for table, levels in pieces:
        try:
            yield join_columns(table, levels, plan.groups, nulls, plan.words, first_row), table.num_rows
        except (ValueError, TypeError) as wrong:
            text = _with_options(str(wrong))
            raise ValueError(f"{text}; rows as --regroup orders them" if plan.regroup else text) from None
        first_row += table.num_rows
