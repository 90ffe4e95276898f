"""Tables as joint columns: lists nest, groups nest, words become ids."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from varlen._core import Joint, Level
from varlen.cli.conversion.constants import first_values
from varlen.cli.conversion.counting import count_groups
from varlen.cli.conversion.groups import group_rows
from varlen.cli.conversion.inputs import Input
from varlen.cli.conversion.places import RowPlace
from varlen.cli.conversion.regroup import GatheredRows
from varlen.cli.conversion.words import UnknownWord, Vocabularies
from varlen.cli.conversion.wrong import APART, WrongRows, different_lists
from varlen.errors import (
    is_of_row,
    name_argument,
    name_file,
    place_row,
    row_error,
    twin_error,
    value_error,
    with_fields,
)
from varlen.interop.arrow import Column, Nulls, columns_of
from varlen.io.columns import check_names, fold_levels
from varlen.io.dtypes import cast_exactly, row_of

if TYPE_CHECKING:
    from varlen.cli.conversion.plan import ConversionPlan
    from varlen.io import Schema

__all__ = ["encode_words", "join_columns", "read_joints", "with_options"]

_NUMBER = "\0number"


def encode_words(
    words: Vocabularies, key: str, column: Column, outer_levels: Sequence[Level] = (), first_row: int = 0
) -> npt.NDArray[np.int64]:
    """The ids of a column of strings; errors name its key and the row."""

    def place_of(i: int) -> int:
        return first_row + row_of((*outer_levels, *column.levels), i)

    ids = column.values
    if ids.size and ids.min() < 0:
        row = place_of(int(np.flatnonzero(ids < 0)[0]))
        raise row_error(key, "null", row, " among strings, which have no NaN", "see --null-word")
    try:
        codes = words.encode(key, column.vocabulary or (), ids)
        words.place(key, place_of)
        return codes
    except UnknownWord as wrong:
        raise row_error(key, wrong.reason, place_of(wrong.index), advice=wrong.advice) from None


def join_columns(
    table: pa.Table,
    levels: Sequence[Level],
    groups: Sequence[str],
    nulls: Nulls,
    words: Vocabularies,
    first_row: int = 0,
    schema: Schema | None = None,
    types: Mapping[str, object] | None = None,
) -> Joint:
    """The columns of a table as one joint: group columns at their own dim, the rest below all groups."""
    check_names(table.column_names, "columns")
    names: list[str] = []
    dims: list[int] = []
    values: list[npt.NDArray[np.generic]] = []
    nest = list(levels)
    named_by = ["the groups"] * len(nest)
    for name in table.column_names:
        columns: dict[str, Column] = columns_of(table.column(name), name, nulls, first_row)
        for key, column in columns.items():
            flat = column.values
            if column.vocabulary is not None:
                if dtype := _dtype_of(key, types):
                    raise value_error(
                        key, f"holds text, but {_type_source(key, schema)} says {dtype}", "cast it first"
                    )
                flat = encode_words(words, key, column, (), first_row)
            elif words.is_given(key):
                raise value_error(key, "numbers, but --vocabulary gives words for it", "see --types")
            else:
                if schema is not None and key in schema:
                    schema[key].check_zone(key, flat.dtype, column.zone is not None)
                if dtype := _dtype_of(key, types):
                    flat = _as_declared(key, column, dtype, first_row, schema)
            row_shape = () if schema is None or key not in schema else schema[key].trailing
            try:
                flat, own_levels = fold_levels(key, flat, column.levels, row_shape)
            except ValueError as wrong:
                raise (place_row(wrong, first_row + wrong.row) if is_of_row(wrong) else wrong) from None
            dim = len(levels)
            if name in groups and own_levels:
                raise value_error("--group-by", f"{key!r} holds lists; a group has one value a row")
            if name in groups:
                dim = groups.index(name)
                first = np.arange(len(levels[dim]))
                for level in levels[dim:]:
                    first = level.offsets[first]
                flat = flat[first]
            for level in own_levels:
                if dim == len(nest):
                    nest.append(level)
                    named_by.append(key)
                elif nest[dim] != level:
                    index = int(np.flatnonzero(nest[dim].lengths != level.lengths)[0])
                    row = row_of(nest[len(levels) : dim], index)
                    mine, others = int(level.lengths[index]), int(nest[dim].lengths[index])
                    fault = different_lists(key, mine, named_by[dim], others)
                    raise row_error("", fault, first_row + row, advice=APART)
                dim += 1
            if key in names:
                rest = f": {name!r} makes it, and so does an earlier one; --columns leaves one out"
                raise twin_error("", key, rest)
            names.append(key)
            dims.append(dim)
            values.append(flat)
    return Joint(names, dims, values, nest, table.num_rows if not nest else -1)


def _dtype_of(key: str, types: Mapping[str, object] | None) -> np.dtype | None:
    """The declared dtype of a key, unless it is text."""
    dtype = (types or {}).get(key)
    return dtype if isinstance(dtype, np.dtype) else None


def _type_source(key: str, schema: Schema | None) -> str:
    return "--types" if schema is None or key not in schema else "the schema"


def _as_declared(
    key: str, column: Column, dtype: np.dtype, first_row: int, schema: Schema | None
) -> np.ndarray:
    """Values in the declared dtype; the error names a value that does not fit, and its row."""
    who = _type_source(key, schema)
    try:
        return cast_exactly(key, column.values, dtype, who == "--types", column.levels, who)
    except ValueError as wrong:
        if is_of_row(wrong):
            place_row(wrong, first_row + wrong.row)
            if vars(wrong)["code"] == "kind":  # of the column: said once, not of each row
                raise value_error(key, vars(wrong)["reason"]) from None
        raise


def with_options(error: ValueError) -> ValueError:
    """An error of the reader in terms of the command line's options."""
    if not is_of_row(error):
        return name_argument(error, fill="--fill")
    if error.code == "decimal":
        error.advice = "see --types"
    elif error.code == "beyond_floats":
        error.rest = " is beyond the integers of float64, which --nulls nan makes of a column with nulls"
        error.advice = "take --nulls fill"
    return place_row(error, error.row)


class RowSource(Protocol):
    """Rows of files as tables."""

    inputs: list[Input]

    def read(self) -> Iterator[pa.Table]:
        """The tables, piece by piece."""
        ...

    def locate(self, row: int) -> RowPlace:
        """The place of a row, counted over all files."""
        ...


def read_joints(
    plan: ConversionPlan,
    source: RowSource,
    nulls: Nulls,
    words: Vocabularies,
    schema: Schema | None = None,
    types: Mapping[str, object] | None = None,
) -> Iterator[tuple[Joint, int]]:
    r"""The pieces of a source, with the number of input rows in each."""
    first_row = 0
    for table, levels in _group(plan, source):
        numbers = None
        if plan.regroup:
            numbers, table = table.column(_NUMBER).to_numpy(), table.drop_columns([_NUMBER])
        place = _Rows(source, first_row, numbers)
        try:
            joint = join_columns(table, levels, plan.groups, nulls, words, first_row, schema, types)
        except ValueError as wrong:
            if not is_of_row(wrong):  # of an option or a column, whatever the row
                raise place.locate(with_options(wrong)) from None
            options: dict[str, Any] = {"nulls": nulls, "words": words, "schema": schema, "types": types}
            join = partial(join_columns, levels=[], groups=(), **options)
            errors = _wrong_rows(join, table, first_row)
            for error in itertools.chain([next(errors, wrong)], errors):
                if plan.findings.is_full:
                    plan.findings.leave_rest()
                    break
                plan.findings.add(place.locate(with_options(error)))
        except TypeError as wrong:  # of the column, whatever the row
            raise with_fields(place.locate(wrong), advice="--columns leaves one out") from None
        else:
            result = first_values(joint, plan.constants, plan.groups, plan.words, place.row_of, plan.findings)
            count_groups(plan.account, table.num_rows, joint, result, plan.groups)
            words.locate(place.place_in_all)
            yield result, table.num_rows
        first_row += table.num_rows


def _wrong_rows(join: Callable[..., Joint], table: pa.Table, first_row: int) -> Iterator[ValueError]:
    """The errors of the rows of a table that cannot be joined, found by halving it."""
    try:
        join(table, first_row=first_row)
    except ValueError as wrong:
        half, is_inside = table.num_rows // 2, False
        for begin, size in ((0, half), (half, table.num_rows - half)) if half else ():
            for error in _wrong_rows(join, table.slice(begin, size), first_row + begin):
                is_inside = True
                yield error
        if not is_inside:
            yield wrong


class _Rows:
    """The places of a piece's rows: consecutive rows of a source, or moved rows."""

    def __init__(self, source: RowSource, first: int, numbers: npt.NDArray[np.int64] | None) -> None:
        self._source, self._first, self._row_numbers = source, first, numbers

    def row_of(self, row: int) -> RowPlace:
        """The place of a row of the piece."""
        return self._source.locate(
            self._first + row if self._row_numbers is None else int(self._row_numbers[row])
        )

    def place_in_all(self, row: int) -> str:
        """The file and the place of a row, counted over all files."""
        place = self.row_of(row - self._first)
        return f"{place.file.path}, {place.name}"

    def locate(self, error: ValueError | TypeError) -> Exception:
        """The error with its file, and the place of its row there."""
        one = self._source.inputs[0]
        if is_of_row(error):
            place = self.row_of(error.row - self._first)
            one = place.file
            place_row(error, place.row, f" at {place.name}")
        return name_file(error, one.path, ValueError)


def _group(plan: ConversionPlan, source: RowSource) -> Iterator[tuple[pa.Table, list[Level]]]:
    """The tables by their groups, gathered first if asked; errors name the file and the place."""
    stream: Iterator[pa.Table] = source.read()
    try:
        if plan.regroup:
            if plan.gathered_rows is None:
                in_order = plan.groups[0] in plan.sort_by
                plan.gathered_rows = GatheredRows(_number_rows(stream), plan.groups, plan.scratch(), in_order)
            stream = iter(plan.gathered_rows)
        yield from group_rows(stream, plan.groups) if plan.groups else ((table, []) for table in stream)
    except WrongRows:
        raise
    except ValueError as wrong:
        raise _Rows(source, 0, None).locate(wrong) from None


def _number_rows(tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """The tables with the number of each row, which moves with its row."""
    first = 0
    for table in tables:
        yield table.append_column(_NUMBER, pa.array(np.arange(first, first + table.num_rows)))
        first += table.num_rows
