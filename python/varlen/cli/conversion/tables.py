"""Tables of Parquet, Feather, Arrow and CSV files, piece by piece, with the same columns in every file."""

from __future__ import annotations

import copy
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varlen.cli.conversion.csv_tables import csv_types, header_of, read_csv
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.places import Places, RowPlace
from varlen.cli.conversion.typed_texts import NOT_GIVEN_BACK
from varlen.cli.conversion.wrong import naming_file
from varlen.errors import file_error, no_column_error, twin_error, value_error
from varlen.interop.arrow_columns import extension_name, holds_words, plain_array, text_type
from varlen.interop.nulls import FIELD
from varlen.io.account import Account
from varlen.io.arrow_counts import count_table

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import FileMap

__all__ = ["TableReader", "leaves_in", "text_in"]

#: What pandas calls an index that it stores as a column.
_INDEX = re.compile(r"__index_level_\d+__|Unnamed: 0|")


class TableReader:
    r"""Reads the tables of several files as one."""

    def __init__(
        self,
        inputs: Sequence[Input],
        rows: int,
        columns: Sequence[str] | None = None,
        types: Mapping[str, Any] | None = None,
        words: Iterable[str] = (),
        schema_types: Mapping[str, Any] | None = None,
        row_shapes: Mapping[str, tuple[int, ...]] | None = None,
        ids: Container[str] = (),
        file_map: FileMap = map,
    ) -> None:
        self.inputs = list(inputs)
        self.left_out: list[str] = []
        self._rows = rows
        self._types = dict(types or {})
        self._declared_names = dict(schema_types or {}).keys() - self._types.keys()
        self._csv_types: dict[str, pa.DataType] = {}
        self._csv_rows: dict[Path, int] = {}
        self._places = Places()
        self.account, self.missing = Account(), dict[str, int]()
        self._fixed_shapes = row_shapes
        self.counts = True  # what is read; False for a pass before the last one
        self.reading: Input | None = None  # the file that is read
        self.null_lists: set[str] = set()  # keys with a list that is null, before the last pass
        schemas = {}
        for one in self.inputs:
            with naming_file(one.path):
                schemas[one] = _with_text(_schema_of(one))
        first = self.inputs[0]
        self.columns = list(columns) if columns is not None else self._without_index(schemas[first])
        self._types |= {n: kind for n, kind in (schema_types or {}).items() if n in self.columns}
        for one, schema in schemas.items():
            self._check_columns(one, schema, first, columns is not None)
        missing = [name for name in self._types if name not in self.columns]
        if missing:
            raise no_column_error("--types", missing[0], self.columns)
        self._unread = {
            name: "an index of pandas" if name in self.left_out else "not among --columns"
            for schema in schemas.values()
            for name in schema.names
            if name not in self.columns
        } | {
            name: "structs without a field"
            for schema in schemas.values()
            for name in self.columns
            if _is_hollow(schema.field(name).type)
        }
        texts = [one for one in self.inputs if one.kind == "csv"]
        user_types = dict.fromkeys(words, str) | self._types
        self.notes: dict[str, str] = {}
        self._first_texts: dict[str, tuple[int, str]] = {}
        if texts:
            self._csv_types, self.notes, self._first_texts = csv_types(
                texts, self.columns, user_types, self._csv_rows, self._declared_names, ids, file_map
            )
        self._schemas = [pa.schema([(n, s.field(n).type) for n in self.columns]) for s in schemas.values()]
        self.zones = self._zones_of()
        self._kinds = {  # of columns that hold nulls alone, also in lists, in some of the files
            name: min(kinds, key=lambda kind: (_is_bare(kind), pa.types.is_null(kind)))
            for name in self.columns
            if any(map(_is_bare, kinds := [schema.field(name).type for schema in self._schemas]))
        }

    def part(self, inputs: Sequence[Input], columns: Sequence[str] | None = None) -> TableReader:
        """A reader of some of the files, and of some columns, with the types that all files have."""
        out = copy.copy(self)
        names = self.columns if columns is None else list(columns)
        schemas = {one.path: schema for one, schema in zip(self.inputs, self._schemas, strict=True)}
        out.inputs, out.columns, out.reading = list(inputs), names, None
        out._schemas = [
            pa.schema([(name, schemas[one.path].field(name).type) for name in names]) for one in inputs
        ]
        out._csv_types = {name: self._csv_types[name] for name in names if name in self._csv_types}
        out._places, out.null_lists = Places(), set()
        if inputs[0].path != self.inputs[0].path:  # those of all files, counted once
            out._first_texts = {}
        return out

    def _zones_of(self) -> dict[str, str]:
        """The zone of each key of times, or the first one if files differ: all values are UTC.

        A key that is text in one file alone is refused, and so are times with a zone in one file alone.
        """
        texts: dict[str, tuple[bool, Input]] = {}
        zones: dict[str, tuple[str | None, Input]] = {}
        for one, schema in zip(self.inputs, self._schemas, strict=True):
            for name in self.columns:
                kind = self._csv_types[name] if one.kind == "csv" else schema.field(name).type
                if self._types.get(name) is str:
                    continue
                for key, leaf in leaves_in(kind, name):
                    is_text = text_in(leaf)
                    was_text, first = texts.setdefault(key, (is_text, one))
                    if is_text != was_text:
                        holder, other = (one, first) if is_text else (first, one)
                        raise file_error(
                            one.path,
                            f"{key} is text in {holder.path} and not in {other.path}; "
                            f"see --types, as in {key}=str",
                        )
                    if not (pa.types.is_timestamp(leaf) or pa.types.is_date(leaf)):
                        continue
                    zone = getattr(leaf, "tz", None)
                    first_zone, first = zones.setdefault(key, (zone, one))
                    if (first_zone is None) != (zone is None):
                        holder, other = (first, one) if zone is None else (one, first)
                        raise file_error(
                            one.path,
                            f"{key}: times have a zone in {holder.path} and none in {other.path}; "
                            "give all of them a zone, or none",
                        )
        return {key: zone for key, (zone, _) in zones.items() if zone is not None}

    def _without_index(self, schema: pa.Schema) -> list[str]:
        self.left_out = [
            name for i, name in enumerate(schema.names) if _INDEX.fullmatch(name) and (name or i == 0)
        ]
        if len(self.left_out) == len(schema.names):
            self.left_out = []
        return [name for name in schema.names if name not in self.left_out]

    def _check_columns(self, one: Input, schema: pa.Schema, first: Input, is_chosen: bool) -> None:
        repeats = [name for name in self.columns if schema.names.count(name) > 1]
        if repeats:
            raise twin_error("", repeats[0], file=one.path)
        for name in self.columns:
            if name not in schema.names:
                hint = f"; {first.path} has it" if one is not first and not is_chosen else ""
                raise no_column_error("", name, schema.names, hint, one.path)
        extras = [n for n in schema.names if n not in self.columns and not _INDEX.fullmatch(n)]
        if extras and not is_chosen:
            raise file_error(
                one.path, f"the column {extras[0]!r} is not in {first.path}; choose with --columns"
            )

    @property
    def total(self) -> int | None:
        """The number of rows, if the files state it."""
        import pyarrow.parquet as pq

        if any(one.kind != "parquet" for one in self.inputs):
            return None
        return sum(int(pq.ParquetFile(one.path).metadata.num_rows) for one in self.inputs)

    def has_text(self) -> bool:
        """Whether some column holds strings, also in lists and structs."""
        return (
            bool(self._csv_types)
            or str in self._types.values()
            or any(text_in(field.type) for schema in self._schemas for field in schema)
        )

    def has_decimals(self) -> bool:
        """Whether some column holds decimals, whose values decide between int64 and uint64."""
        return any(_holds_decimals(field.type) for schema in self._schemas for field in schema)

    def read(self) -> Iterator[pa.Table]:
        """The tables, file by file; `account` and `missing` count the input."""
        self._places = Places()
        self.account, self.missing = Account(), {}
        self.account.unread = dict(self._unread)
        for name, (count, first) in self._first_texts.items():
            self.account.change(name, NOT_GIVEN_BACK, count, 0, [first])
        rows = 0
        for one in self.inputs:
            self.reading = one
            self._places.begin(one, rows)
            self.account.add_file(str(one.path), 0)
            with naming_file(one.path, (ValueError, OSError, KeyError, NotImplementedError)):
                for table in self._pieces(one):
                    if table.num_rows:
                        rows += table.num_rows
                        table = self._with_kinds(table.select(self.columns))
                        if self.counts:
                            count_table(self.account, table, self.missing, self._fixed_shapes)
                        else:
                            self.null_lists |= _null_lists_in(table)
                        yield self._cast_types(table)
                self.account.add_file(str(one.path), self._rows_in(one, rows - self._places.start))
        if not rows:  # the columns are there all the same
            kinds = {field.name: field.type for field in self._schemas[0]} | self._csv_types
            table = self._with_kinds(pa.table({name: pa.array([], kind) for name, kind in kinds.items()}))
            if self.counts:
                count_table(self.account, table, self.missing, self._fixed_shapes)
            yield self._cast_types(table)

    def _rows_in(self, one: Input, default: int) -> int:
        """The number of rows of a file, from its metadata or the pass over CSV, else `default`."""
        if one.kind == "parquet":
            import pyarrow.parquet as pq

            return int(pq.read_metadata(one.path).num_rows)
        return self._csv_rows.get(one.path, default)

    def locate(self, row: int) -> RowPlace:
        """The file of a row, counted over all files, and its place there: a row, or a line of text."""
        return self._places.locate(row)

    def _pieces(self, one: Input) -> Iterator[pa.Table]:
        if one.kind == "parquet":
            import pyarrow.parquet as pq

            for batch in pq.ParquetFile(one.path).iter_batches(self._rows, columns=self.columns):
                yield pa.Table.from_batches([batch])
        elif one.kind == "csv":
            yield from read_csv(one, self._csv_types)
        else:
            for batch in _read_ipc(one):
                yield pa.Table.from_batches([batch])

    def _with_kinds(self, table: pa.Table) -> pa.Table:
        """Columns without any value get their types from other files; words in views become other text."""
        for i, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
            other = self._kinds.get(name, kind) if pa.types.is_null(kind) else text_type(kind)
            leaf = _leaf(self._kinds.get(name, kind))
            if _is_bare(other) and not (pa.types.is_null(other) or pa.types.is_struct(leaf)):
                other = _nested(other, leaf)
            if other != kind:
                table = table.set_column(i, name, table.column(i).cast(other))
        return table

    def _cast_types(self, table: pa.Table) -> pa.Table:
        for i, name in enumerate(table.column_names):
            if extension_name(table.schema.types[i]) or hasattr(table.schema.types[i], "run_end_type"):
                chunks = [plain_array(chunk, name) for chunk in table.column(i).chunks]
                table = table.set_column(i, name, pa.chunked_array(chunks))
            kind, column = self._types.get(name), table.column(i)
            if kind is str:
                if pa.types.is_struct(column.type):
                    who = "the schema" if name in self._declared_names else "--types"
                    raise value_error(
                        name, f"{who} says text, which is of a column of one type, not {column.type}"
                    )
                try:
                    texts = _as_texts(column)
                except pa.ArrowException as wrong:
                    raise value_error(name, f"{column.type} cannot be read as text: {wrong}") from None
                table = table.set_column(i, name, texts)
            elif (
                kind is not None
                and kind.kind == "f"
                and name not in self._declared_names
                and _holds_decimals(column.type)
            ):  # rounded, as asked by name
                floats = _as_texts(column).cast(_nested(column.type, pa.float64()))
                table = table.set_column(i, name, floats)
        return table


def _schema_of(one: Input) -> pa.Schema:
    if one.kind == "parquet":
        import pyarrow.parquet as pq

        return pq.read_schema(one.path)
    if one.kind == "csv":
        return pa.schema([(name, pa.string()) for name in header_of(one)])
    with pa.memory_map(str(one.path)) as source:
        try:
            return pa.ipc.open_file(source).schema
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).schema


def _with_text(schema: pa.Schema) -> pa.Schema:
    """The schema of the tables that are read: words in views become other text."""
    return pa.schema([field.with_type(text_type(field.type)) for field in schema], schema.metadata)


def _read_ipc(one: Input) -> Iterator[pa.RecordBatch]:
    with pa.memory_map(str(one.path)) as source:
        try:
            reader = pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            yield from pa.ipc.open_stream(source)
            return
        for k in range(reader.num_record_batches):
            yield reader.get_batch(k)


def text_in(kind: pa.DataType) -> bool:
    """Whether a type holds strings, also in its lists and fields."""
    if extension_name(kind) in ("arrow.uuid", "arrow.json"):
        return True
    if pa.types.is_struct(kind):
        return any(text_in(part.type) for part in kind)
    if hasattr(kind, "value_type"):
        return text_in(kind.value_type)
    return holds_words(kind)


def leaves_in(kind: pa.DataType, name: str) -> Iterator[tuple[str, pa.DataType]]:
    """The keys of a column and the types of their values, without keys that hold only nulls."""
    if pa.types.is_struct(kind):
        for part in kind:
            yield from leaves_in(part.type, f"{name}{FIELD}{part.name}")
    elif hasattr(kind, "value_type"):
        yield from leaves_in(kind.value_type, name)
    elif not pa.types.is_null(kind):
        yield name, kind


def _nested(kind: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    """The same lists of another type."""
    if pa.types.is_struct(kind):
        raise value_error("", f"text is for a column of one type, not {kind}")
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(_nested(kind.value_type, leaf), kind.list_size)
    if hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
        return pa.large_list(_nested(kind.value_type, leaf))
    return leaf


def _as_texts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a column as text, in the same lists."""
    chunks = [_texts_of(chunk) for chunk in column.chunks]
    return pa.chunked_array(chunks, _nested(column.type, pa.string()))


def _texts_of(array: pa.Array) -> pa.Array:
    if "list_view" not in str(array.type):
        return array.cast(_nested(array.type, pa.string()))
    # Arrow's cast of views to lists makes offsets that do not fit.
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.append(0, np.cumsum(lengths, dtype=np.int64)))
    is_null = array.is_null() if array.null_count else None
    return pa.LargeListArray.from_arrays(offsets, _texts_of(array.flatten()), mask=is_null)


def _null_lists_in(table: pa.Table) -> set[str]:
    """The keys that have a null list."""
    names = set()
    stack = [
        (name, chunk, False)
        for name, column in zip(table.column_names, table.columns, strict=True)
        for chunk in column.chunks
    ]
    while stack:
        name, array, is_null = stack.pop()
        if pa.types.is_struct(array.type):
            parts = zip(array.type, array.flatten(), strict=True)
            stack += [(f"{name}{FIELD}{field.name}", part, is_null) for field, part in parts]
        elif hasattr(array.type, "value_type") and hasattr(array, "flatten"):
            stack.append((name, array.flatten(), is_null or array.null_count > 0))
        elif is_null:
            names.add(name)
    return names


def _leaf(kind: pa.DataType) -> pa.DataType:
    """The type inside of lists."""
    while hasattr(kind, "value_type"):
        kind = kind.value_type
    return kind


def _is_bare(kind: pa.DataType) -> bool:
    return bool(pa.types.is_null(_leaf(kind)))


def _is_hollow(kind: pa.DataType) -> bool:
    """Whether a type is a struct without fields, also in lists."""
    kind = _leaf(kind)
    return bool(pa.types.is_struct(kind)) and all(_is_hollow(part.type) for part in kind)


def _holds_decimals(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_decimals(part.type) for part in kind)
    inner = getattr(kind, "value_type", None)
    return bool(pa.types.is_decimal(kind)) if inner is None else _holds_decimals(inner)
