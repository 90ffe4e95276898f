"""Tables of Parquet, Feather, Arrow and CSV files, piece by piece, with the same columns in every file."""

from __future__ import annotations

import csv as text_tables
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varlen.cli.conversion.inputs import Input, first_lines, open_bytes
from varlen.cli.conversion.places import Places, lines_of
from varlen.cli.conversion.wrong import Findings, name_file
from varlen.interop.arrow import extension_name, plain_array

__all__ = ["TableReader", "text_in"]

#: What pandas calls an index that it stores as a column.
_INDEX = re.compile(r"__index_level_\d+__|Unnamed: 0|")
_NUMBER = re.compile(r"\s*[-+]?((\d+\.?\d*|\.\d+)(e[-+]?\d+)?|inf(inity)?|nan)\s*", re.IGNORECASE)
_WHOLE = re.compile(r"\s*[-+]?\d+\s*")


class TableReader:
    r"""Reads the tables of several files as one.

    Parameters
    ----------
    inputs
        The files.
    rows
        Rows of a piece, where the format leaves a choice.
    columns
        The columns wanted, in this order; by default all of the first file but an index of pandas.
    types
        Columns to dtypes of NumPy, or `str`: what they are read as.

    Raises
    ------
    ValueError
        A column is missing, new in a file, there twice, or of numbers in one file and of text in another.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("t.csv").write_text("a,b\n1,2\n")
    >>> reader = TableReader([Input.of(Path("t.csv"))], 10)
    >>> [table.to_pydict() for table in reader.read()]
    [{'a': [1], 'b': [2]}]
    """

    def __init__(
        self,
        inputs: Sequence[Input],
        rows: int,
        columns: Sequence[str] | None = None,
        types: Mapping[str, Any] | None = None,
    ) -> None:
        self.inputs = list(inputs)
        self.left_out: list[str] = []
        self._rows = rows
        self._types = dict(types or {})
        self._csv_types: dict[str, pa.DataType] = {}
        self._places = Places()
        schemas = {}
        for one in self.inputs:
            with name_file(one.path):
                schemas[one] = _schema_of(one)
        first = self.inputs[0]
        self.columns = list(columns) if columns is not None else self._without_index(schemas[first])
        for one, schema in schemas.items():
            self._check_columns(one, schema, first, columns is not None)
        missing = [name for name in self._types if name not in self.columns]
        if missing:
            raise ValueError(f"--types: no column {missing[0]!r}; there are {', '.join(self.columns)}")
        texts = [one for one in self.inputs if one.kind == "csv"]
        self._csv_types = _csv_types(texts, self.columns, self._types) if texts else {}
        self._schemas = [pa.schema([(n, s.field(n).type) for n in self.columns]) for s in schemas.values()]
        self._kinds = {  # of columns that hold nulls alone in some of the files
            name: next((kind for kind in kinds if not pa.types.is_null(kind)), pa.null())
            for name in self.columns
            if any(map(pa.types.is_null, kinds := [schema.field(name).type for schema in self._schemas]))
        }

    def _without_index(self, schema: pa.Schema) -> list[str]:
        self.left_out = [
            name for i, name in enumerate(schema.names) if _INDEX.fullmatch(name) and (name or i == 0)
        ]
        if len(self.left_out) == len(schema.names):
            self.left_out = []
        return [name for name in schema.names if name not in self.left_out]

    def _check_columns(self, one: Input, schema: pa.Schema, first: Input, chosen: bool) -> None:
        twice = [name for name in self.columns if schema.names.count(name) > 1]
        if twice:
            raise ValueError(f"{one.path}: two columns are called {twice[0]!r}")
        for name in self.columns:
            if name not in schema.names:
                there = f"; {first.path} has it" if one is not first and not chosen else ""
                raise ValueError(
                    f"{one.path}: no column {name!r}{there}; there are {', '.join(schema.names)}"
                )
        more = [n for n in schema.names if n not in self.columns and not _INDEX.fullmatch(n)]
        if more and not chosen:
            raise ValueError(
                f"{one.path}: the column {more[0]!r} is not in {first.path}; choose with --columns"
            )

    @property
    def total(self) -> int | None:
        """How many rows there are, where the files say it."""
        import pyarrow.parquet as pq

        if any(one.kind != "parquet" for one in self.inputs):
            return None
        return sum(int(pq.ParquetFile(one.path).metadata.num_rows) for one in self.inputs)

    def has_text(self) -> bool:
        """Some column holds strings, in lists and structs too."""
        return (
            bool(self._csv_types)
            or str in self._types.values()
            or any(text_in(field.type) for schema in self._schemas for field in schema)
        )

    def has_decimals(self) -> bool:
        """Some column holds decimals, whose values say whether they are int64 or uint64."""
        return any(_holds_decimals(field.type) for schema in self._schemas for field in schema)

    def read(self) -> Iterator[pa.Table]:
        """The tables, file by file."""
        self._places = Places()
        rows = 0
        for one in self.inputs:
            self._places.begin(one, rows)
            with name_file(one.path, (ValueError, OSError, KeyError, NotImplementedError)):
                for table in self._pieces(one):
                    if table.num_rows:
                        rows += table.num_rows
                        yield self._typed(table.select(self.columns))

    def locate(self, row: int) -> tuple[Input, str]:
        """The file that holds a row of all that were read, and its place there: a row, or a line of text."""
        return self._places.locate(row)

    def _pieces(self, one: Input) -> Iterator[pa.Table]:
        if one.kind == "parquet":
            import pyarrow.parquet as pq

            for batch in pq.ParquetFile(one.path).iter_batches(self._rows, columns=self.columns):
                yield pa.Table.from_batches([batch])
        elif one.kind == "csv":
            yield from _read_csv(one, self._csv_types)
        else:
            for batch in _read_ipc(one):
                yield pa.Table.from_batches([batch])

    def _typed(self, table: pa.Table) -> pa.Table:
        for i, name in enumerate(table.column_names):
            if extension_name(table.schema.types[i]) or hasattr(table.schema.types[i], "run_end_type"):
                chunks = [plain_array(chunk, name) for chunk in table.column(i).chunks]
                table = table.set_column(i, name, pa.chunked_array(chunks))
            if pa.types.is_null(table.schema.types[i]) and name in self._kinds:
                table = table.set_column(i, name, table.column(i).cast(self._kinds[name]))
            kind, column = self._types.get(name), table.column(i)
            if kind is str:
                table = table.set_column(i, name, column.cast(_nested(column.type, pa.string())))
            elif kind is not None and kind.kind == "f" and _holds_decimals(column.type):  # rounded, as asked
                texts = column.cast(_nested(column.type, pa.string()))
                table = table.set_column(i, name, texts.cast(_nested(column.type, pa.float64())))
        return table


def _schema_of(one: Input) -> pa.Schema:
    if one.kind == "parquet":
        import pyarrow.parquet as pq

        return pq.read_schema(one.path)
    if one.kind == "csv":
        return pa.schema([(name, pa.string()) for name in _header_of(one)])
    with pa.memory_map(str(one.path)) as source:
        try:
            return pa.ipc.open_file(source).schema
        except pa.ArrowInvalid:
            source.seek(0)
            return pa.ipc.open_stream(source).schema


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
    """Whether a type holds strings, in its lists and fields too.

    Examples
    --------
    >>> text_in(pa.list_(pa.string())), text_in(pa.int8())
    (True, False)
    """
    if pa.types.is_dictionary(kind):
        return text_in(kind.value_type)
    if extension_name(kind) in ("arrow.uuid", "arrow.json"):
        return True
    if pa.types.is_struct(kind):
        return any(text_in(part.type) for part in kind)
    if hasattr(kind, "value_type"):
        return text_in(kind.value_type)
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or getattr(pa.types, "is_string_view", lambda _: False)(kind)
    )


def _nested(kind: pa.DataType, leaf: pa.DataType) -> pa.DataType:
    """The same lists of another type."""
    if pa.types.is_struct(kind):
        raise ValueError(f"--types: str is for a column of one type, not {kind}")
    if hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
        return pa.large_list(_nested(kind.value_type, leaf))
    return leaf


def _holds_decimals(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_holds_decimals(part.type) for part in kind)
    inner = getattr(kind, "value_type", None)
    return bool(pa.types.is_decimal(kind)) if inner is None else _holds_decimals(inner)


def _header_of(one: Input) -> list[str]:
    lines = first_lines(one, 1)
    if not lines:
        raise ValueError("an empty file, without even the names of columns")
    return next(text_tables.reader(lines[0].splitlines(keepends=True), delimiter=one.delimiter))


def _read_csv(one: Input, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types=dict(types), include_columns=list(types), quoted_strings_can_be_null=False
    )
    parse = csv.ParseOptions(delimiter=one.delimiter, newlines_in_values=True)
    with open_bytes(one) as (content, _):
        for batch in csv.open_csv(content, parse_options=parse, convert_options=convert):
            table = pa.Table.from_batches([batch])
            for i, kind in enumerate(table.schema.types):
                if pa.types.is_string(kind):  # nobody writes the empty word: it is no value
                    texts = table.column(i)
                    empty = pc.equal(texts, "")
                    if pc.any(empty).as_py():
                        none = pa.scalar(None, pa.string())
                        table = table.set_column(i, table.column_names[i], pc.if_else(empty, none, texts))
            yield table


def _csv_types(
    inputs: Sequence[Input], columns: Sequence[str], given: Mapping[str, Any]
) -> dict[str, pa.DataType]:
    """A type for each column that holds all its values, of all files."""
    from pyarrow import csv

    fixed = {name: pa.string() if kind is str else pa.from_numpy_dtype(kind) for name, kind in given.items()}
    known: dict[str, pa.DataType] = dict(fixed)
    for one in inputs:
        header = _header_of(one)
        if len(set(header)) < len(header):
            columns_twice = [name for i, name in enumerate(header) if name in header[:i]]
            raise ValueError(f"{one.path}: two columns are called {columns_twice[0]!r}")
        tried = dict(known)
        while True:
            convert = csv.ConvertOptions(column_types=tried, include_columns=list(columns))
            parse = csv.ParseOptions(delimiter=one.delimiter, newlines_in_values=True)
            with open_bytes(one) as (content, _):
                try:
                    with csv.open_csv(content, parse_options=parse, convert_options=convert) as reader:
                        found = {field.name: field.type for field in reader.schema}
                        large: set[str] = set()
                        for batch in reader:
                            large.update(_large_floats(batch))
                except pa.ArrowInvalid as wrong:
                    wider = _widened(str(wrong), header, {**_guessed(one, columns), **tried}, fixed)
                    if wider is None:
                        _name_wrong_lines(one, columns, {**_guessed(one, columns), **tried}, str(wrong))
                    tried.update(wider or {})
                    continue
            _check_text(one, found)
            for name in large - fixed.keys():
                found[name] = _exact_type(one, name)
            for name, kind in found.items():
                known[name] = _joined(known.get(name, pa.null()), kind) or kind
            break
    return {name: pa.float64() if pa.types.is_null(known[name]) else known[name] for name in columns}


def _large_floats(batch: pa.RecordBatch) -> list[str]:
    """The columns with floats so large that they may stand for other whole numbers."""
    names = [field.name for field in batch.schema if pa.types.is_floating(field.type)]
    return [name for name in names if pc.any(pc.greater_equal(pc.abs(batch.column(name)), 2.0**53)).as_py()]


def _exact_type(one: Input, name: str) -> pa.DataType:
    """The type of a column that was read as floats: uint64, where it is all of whole numbers that fit.

    Raises
    ------
    ValueError
        A whole number that neither holds; its line is named.
    """
    findings = Findings()
    column = _header_of(one).index(name)
    nulls, is_whole = _nulls(), True
    for line, fields in lines_of(one):
        value = fields[column] if column < len(fields) else ""
        if value in nulls:
            continue
        whole = _WHOLE.fullmatch(value) is not None
        is_whole &= whole and 0 <= int(value) < 2**64
        if whole and int(float(value)) != int(value):
            where = f"{one.path}, line {line}: {name}"
            findings.add(f"{where}: {value!r} is a whole number that no double holds; see --types")
    if is_whole:
        return pa.uint64()
    findings.finish()
    return pa.float64()


def _nulls() -> set[str]:
    """What the reader takes for no value."""
    from pyarrow import csv

    return set(csv.ConvertOptions().null_values)


def _check_text(one: Input, found: Mapping[str, pa.DataType]) -> None:
    """Refuses a file whose text is no UTF-8: the reader calls its columns binary."""
    if not any(pa.types.is_binary(kind) for kind in found.values()):
        return
    findings = Findings()
    with open_bytes(one) as (content, _):
        for number, line in enumerate(content, 1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as wrong:
                findings.add(f"{one.path}, line {number}: no UTF-8 text: {wrong.reason}")
    findings.finish()


def _guessed(one: Input, columns: Sequence[str]) -> dict[str, pa.DataType]:
    """The types of the first block alone."""
    from pyarrow import csv

    parse = csv.ParseOptions(delimiter=one.delimiter, newlines_in_values=True)
    convert = csv.ConvertOptions(include_columns=list(columns))
    with open_bytes(one) as (content, _):
        try:
            with csv.open_csv(content, parse_options=parse, convert_options=convert) as reader:
                return {field.name: field.type for field in reader.schema}
        except pa.ArrowInvalid:
            return {}


def _widened(
    text: str, header: Sequence[str], types: Mapping[str, pa.DataType], fixed: Mapping[str, Any]
) -> dict[str, pa.DataType] | None:
    """The wider type that an error of the reader asks for; None where no type holds both values."""
    place = re.search(r"In CSV column #(\d+): .*invalid value '(.*)'", text, re.DOTALL)
    if place is None:
        return None
    name = header[int(place[1])]
    if name in fixed:
        return None
    had = types.get(name, pa.null())
    wider = _joined(had, _type_of(place[2]))
    return None if wider is None or wider == had else {name: wider}


def _type_of(value: str) -> pa.DataType:
    from pyarrow import csv

    return csv.read_csv(pa.py_buffer(f'x\n"{value}"\n'.encode())).schema.types[0]


def _joined(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """A type that holds the values of both as they are."""
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if (pa.types.is_integer(a) or pa.types.is_floating(a)) and (
        pa.types.is_integer(b) or pa.types.is_floating(b)
    ):
        return None if pa.uint64() in (a, b) and pa.int64() in (a, b) else pa.float64()
    if pa.types.is_temporal(a) and pa.types.is_temporal(b):
        day = [kind for kind in (a, b) if not pa.types.is_date(kind)]
        if any(pa.types.is_time(kind) for kind in day) or len({kind.tz for kind in day}) > 1:
            return None
        return next((kind for kind in day if kind.unit == "ns"), day[0])
    return None


def _name_wrong_lines(one: Input, columns: Sequence[str], types: Mapping[str, pa.DataType], why: str) -> None:
    """Raises what is wrong with the lines of a file, each by its number."""
    nulls = _nulls()
    findings = Findings()
    header = _header_of(one)
    for line, fields in lines_of(one):
        where = f"{one.path}, line {line}"
        if len(fields) != len(header):
            findings.add(f"{where}: {len(fields)} fields, but {len(header)} columns")
            continue
        for name, value in zip(header, fields, strict=False):
            if name in columns and value not in nulls and not _fits(value, types.get(name)):
                findings.add(
                    f"{where}: {name}: {value!r} is no {types[name]}, as the lines before; see --types"
                )
    findings.finish()
    raise ValueError(f"{one.path}: {why}")


def _fits(value: str, kind: pa.DataType | None) -> bool:
    if kind is None or pa.types.is_string(kind) or pa.types.is_null(kind):
        return True
    if pa.types.is_floating(kind):
        return _NUMBER.fullmatch(value) is not None
    if pa.types.is_integer(kind):
        if not _WHOLE.fullmatch(value):
            return False
        limits = np.iinfo(kind.to_pandas_dtype())
        return limits.min <= int(value) <= limits.max
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types={"x": kind})
    try:
        csv.read_csv(pa.py_buffer(f'x\n"{value}"\n'.encode()), convert_options=convert)
    except pa.ArrowInvalid:
        return False
    return True
