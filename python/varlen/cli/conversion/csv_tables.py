"""Tables of CSV: a type for each column that gives back the texts of all files, and their rows."""

from __future__ import annotations

import csv as text_tables
import itertools
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varlen.cli.conversion.inputs import Input, first_lines, open_bytes
from varlen.cli.conversion.places import Places, lines_of
from varlen.cli.conversion.text_kinds import TextColumn
from varlen.cli.conversion.typed_texts import LEADING, number_of
from varlen.cli.conversion.wrong import Findings
from varlen.errors import as_record, file_error, name_file, twin_error, value_error, with_fields

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import FileMap

__all__: list[str] = []


def header_of(one: Input) -> list[str]:
    lines = first_lines(one, 1)
    if not lines:
        raise value_error("", "an empty file, without even the names of columns")
    return next(text_tables.reader(lines[0].splitlines(keepends=True), delimiter=one.delimiter))


def read_csv(one: Input, types: Mapping[str, pa.DataType]) -> Iterator[pa.Table]:
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types=dict(types), include_columns=list(types), quoted_strings_can_be_null=True
    )
    for batch in _read(one, convert):
        table = pa.Table.from_batches([batch])
        for i, kind in enumerate(table.schema.types):
            if pa.types.is_string(kind):  # nobody writes the empty word: it is no value
                texts = table.column(i)
                empty = pc.equal(texts, "")
                if pc.any(empty).as_py():
                    null = pa.scalar(None, pa.string())
                    table = table.set_column(i, table.column_names[i], pc.if_else(empty, null, texts))
        yield table


class TextScan(NamedTuple):
    """The texts of a CSV file: of each column, the first that numbers lose something of, and the rows."""

    columns: dict[str, TextColumn]
    losses: dict[str, tuple[int, str]]
    rows: int


def scan_texts(
    one: Input,
    columns: Sequence[str],
    casts: Mapping[str, pa.DataType],
    text_names: Sequence[str],
    schema_keys: Container[str],
) -> TextScan:
    """The texts of a file; those of `casts` have to be of their types."""
    types = pa.types
    scans = {name: TextColumn() for name in text_names}
    numbers = [n for n, kind in casts.items() if types.is_floating(kind) or types.is_integer(kind)]
    losses: dict[str, tuple[int, str]] = {}
    header = header_of(one)
    if len(set(header)) < len(header):
        columns_twice = [name for i, name in enumerate(header) if name in header[:i]]
        raise twin_error("", columns_twice[0], file=one.path)
    row = 0
    try:
        for batch in _batches(one, {**casts, **dict.fromkeys([*scans, *numbers], pa.string())}, columns):
            for name, column in scans.items():
                column.add(batch.column(name), partial(_place, one, row))
            for name in numbers:
                texts = batch.column(name)
                if not _are_numbers(texts, casts[name]):
                    raise pa.ArrowInvalid(f"{name}: there is a text that no {casts[name]} holds")
                _note_leading(losses, name, texts, partial(_place, one, row))
            row += batch.num_rows
    except pa.ArrowInvalid as wrong:
        _check_text(one)
        # Not times: whether they have a zone is not known yet.
        plain = {name: kind for name, kind in casts.items() if name not in scans}
        _name_wrong_lines(one, columns, plain, wrong, schema_keys)
    return TextScan(scans, losses, row)


def csv_types(
    inputs: Sequence[Input],
    columns: Sequence[str],
    user_types: Mapping[str, Any],
    rows: dict[Path, int],
    schema_keys: Container[str] = (),
    ids: Container[str] = (),
    file_map: FileMap = map,
) -> tuple[dict[str, pa.DataType], dict[str, str], dict[str, tuple[int, str]]]:
    """A type for each column that gives back all its texts, of all files, and why some of them are text.

    If the types of numbers are given, also the number of texts that begin with a zero or a plus, and the
    first. Counts the rows of each file on the way. The types of `schema_keys` columns are those of a schema.
    """
    casts = {name: _type_of(kind) for name, kind in user_types.items() if name in columns}
    scans = {name: TextColumn() for name in columns if name in ids or not _is_plain(casts.get(name))}
    losses: dict[str, tuple[int, str]] = {}
    names = list(scans)
    scan_file = partial(scan_texts, columns=columns, casts=casts, text_names=names, schema_keys=schema_keys)
    for one, scan in zip(inputs, file_map(scan_file, inputs), strict=True):
        for name, column in scan.columns.items():
            scans[name] += column
        for name, (count, first) in scan.losses.items():
            total, text = losses.get(name) or (0, first)
            losses[name] = total + count, text
        rows[one.path] = scan.rows
    kinds, notes = dict(casts), {}
    for name, column in scans.items():
        try:
            kind = column.type()
            if name in casts:
                column.check_zones()
                if name in ids and "odd" in column.first:
                    kind = casts[name]
                    raise value_error(
                        "", f"{column.first['odd']} does not come back from {kind}, as an id must"
                    )
        except ValueError as wrong:
            raise with_fields(as_record(wrong, ValueError), argument=name) from None
        if name in casts and pa.types.is_timestamp(casts[name]) and column.is_zoned:
            kinds[name] = pa.timestamp(casts[name].unit, "UTC")
        elif name not in casts:
            kinds[name] = pa.float64() if pa.types.is_null(kind) else kind
            if note := column.note():
                notes[name] = note
    for name in scans.keys() & casts.keys():  # times, whose texts were looked at for zones alone
        for one in inputs:
            try:
                for _ in _batches(one, {name: kinds[name]}, [name]):
                    pass
            except pa.ArrowInvalid as wrong:
                _name_wrong_lines(one, [name], kinds, wrong, schema_keys)
    return {name: kinds[name] for name in columns}, notes, losses


def _batches(
    one: Input, types: Mapping[str, pa.DataType], columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows as they stand, with nulls among texts, too."""
    from pyarrow import csv

    convert = csv.ConvertOptions(
        column_types=dict(types), include_columns=list(columns), strings_can_be_null=True
    )
    yield from _read(one, convert)


def _read(one: Input, convert: object) -> Iterator[pa.RecordBatch]:
    from pyarrow import csv

    if not _has_rows(one):  # a header that ends without a line break is an error to Arrow
        if first_lines(one, 1)[0].count('"') % 2:
            raise file_error(one.path, "a quote in the names of columns does not end")
        return
    parse = csv.ParseOptions(delimiter=one.delimiter, newlines_in_values=True)
    with (
        open_bytes(one) as (content, _),
        csv.open_csv(content, parse_options=parse, convert_options=convert) as reader,
    ):
        yield from reader


def _has_rows(one: Input) -> bool:
    with open_bytes(one) as (content, _):
        lines = (line for line in content if line.strip())
        return len(list(itertools.islice(lines, 2))) == 2


def _place(one: Input, first_row: int, row: int) -> str:
    places = Places()
    places.begin(one, 0)
    return f"{one.path}, {places.locate(first_row + row).name}"


def _type_of(dtype: Any) -> pa.DataType:
    if dtype is str:
        return pa.string()
    if dtype.kind == "M":  # Arrow has no hours, and days of texts with a clock are refused
        unit = np.datetime_data(dtype)[0]
        return pa.timestamp(unit if unit in ("s", "ms", "us", "ns") else "s")
    # A narrower float is made of the double, so that one beyond it is seen.
    return pa.float64() if dtype.kind == "f" else pa.from_numpy_dtype(dtype)


def _note_leading(
    losses: dict[str, tuple[int, str]], name: str, texts: pa.Array, where: Callable[[int], str]
) -> None:
    """Counts texts that begin with a zero or a plus."""
    hits = pc.fill_null(pc.match_substring_regex(texts, LEADING), False)
    if count := int(pc.sum(hits).as_py() or 0):
        row = int(hits.to_numpy(zero_copy_only=False).argmax())
        total, first = losses.get(name) or (0, f"{where(row)}: {texts[row].as_py()!r}")
        losses[name] = total + count, first


def _are_numbers(texts: pa.Array, kind: pa.DataType) -> bool:
    """Whether all texts are integers of a type, or numbers that doubles hold; nulls are none."""
    try:
        numbers = pc.utf8_trim(texts, " \t").cast(kind)
    except pa.ArrowInvalid:
        return False
    if not pa.types.is_floating(kind):
        return True
    far = pc.and_not(pc.is_inf(numbers), pc.match_substring(texts, "inf", ignore_case=True))
    return not pc.any(far).as_py()


def _is_plain(kind: pa.DataType | None) -> bool:
    return kind is not None and not pa.types.is_timestamp(kind)


def _nulls() -> set[str]:
    """The texts that the reader takes for nulls."""
    from pyarrow import csv

    return set(csv.ConvertOptions().null_values)


def _check_text(one: Input) -> None:
    """Refuses a file whose text is not UTF-8, and names the lines."""
    findings = Findings()
    with open_bytes(one) as (content, _):
        for number, line in enumerate(content, 1):
            try:
                line.decode("utf-8-sig")
            except UnicodeDecodeError as wrong:
                findings.add(file_error(one.path, f"no UTF-8 text: {wrong.reason}", place=f"line {number}"))
    findings.finish()


def _name_wrong_lines(
    one: Input,
    columns: Sequence[str],
    types: Mapping[str, pa.DataType],
    why: Exception,
    schema_keys: Container[str],
) -> None:
    """Raises the errors of a file's lines, each with its number."""
    nulls = _nulls()
    findings = Findings()
    header = header_of(one)
    for line, fields in lines_of(one):
        if len(fields) != len(header):
            fault = f"{len(fields)} fields, but {len(header)} columns"
            findings.add(file_error(one.path, fault, place=f"line {line}"))
            continue
        for name, value in zip(header, fields, strict=False):
            if name in columns and value not in nulls and not _fits(value, types.get(name)):
                who = "the schema" if name in schema_keys else "--types"
                fault = f"{value!r} is no {types[name]}, as {who} says"
                findings.add(file_error(one.path, fault, name, f"line {line}"))
    findings.finish()
    raise name_file(why, one.path, ValueError)


def _fits(value: str, kind: pa.DataType | None) -> bool:
    if kind is None or pa.types.is_string(kind) or pa.types.is_null(kind):
        return True
    if pa.types.is_floating(kind):
        try:
            number_of(value)
        except ValueError:
            return False
        return True
    if pa.types.is_integer(kind):
        return _are_numbers(pa.array([value]), kind)
    from pyarrow import csv

    convert = csv.ConvertOptions(column_types={"x": kind})
    try:
        csv.read_csv(pa.py_buffer(f'x\n"{value}"\n'.encode()), convert_options=convert)
    except pa.ArrowInvalid:
        return False
    return True
