"""Write rows of a dataset to new files, batch after batch."""

from __future__ import annotations

import contextlib
import datetime
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import new_words
from varlen.backends.values import is_tensor
from varlen.data.accounts import Passage, account_of
from varlen.data.sources.declarations import schema_of_source
from varlen.errors import error_of, instance_error, name_item, name_place, tell_cause, value_error
from varlen.io import Account, ShardSet, ShardWriter, Writer, open_shards
from varlen.io.columns import ColumnOptions, build_joint
from varlen.io.dtypes import common_dtype, widen
from varlen.io.pieces import is_table
from varlen.joint import JointNestedRaggedTensorDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen.data.rows import Rows

__all__ = []

# What the vocabulary of a key begins with.
_FirstWords = Callable[[str], list[str]]

_ROWS_AT_ONCE = 1000
_PLAIN = frozenset((int, float, bool, str))
_TIMES: dict[type, str] = {
    datetime.date: "M8[D]",
    datetime.datetime: "M8[us]",
    datetime.timedelta: "m8[us]",
}


def save_rows(
    dataset: Rows,
    path: str | os.PathLike[str],
    rows_per_shard: int | None,
    progress: bool,
    checksums: bool,
) -> None:
    """Write all rows to a file, or to a folder of shards."""
    fields = {name: field for name, field in dataset.fields.items() if field.dim >= 0}
    if not fields:
        raise value_error("", "these rows have no keys", context="save")
    options: dict[str, Any] = {
        "schema": schema_of_source(dataset.source) or {name: field.dtype for name, field in fields.items()},
        "vocabularies": {name: f.vocabulary for name, f in fields.items() if f.vocabulary is not None},
        "row_ids": dataset.source.row_ids if dataset.source.row_ids in fields else None,
        "account": account_of(dataset).successor(),
        "checksums": checksums,
    }
    writer = (
        Writer(path, **options) if rows_per_shard is None else ShardWriter(path, rows_per_shard, **options)
    )
    with writer:
        for begin in _begins(dataset, _ROWS_AT_ONCE, progress):
            writer.append(_read(dataset, begin, _ROWS_AT_ONCE))


def map_rows(
    dataset: Rows,
    function: Callable[[JointNestedRaggedTensorDict], Any],
    path: str | os.PathLike[str],
    is_batched: bool,
    batch_size: int,
    progress: bool,
) -> ShardSet:
    """Write what a function makes of all rows to a file, and open it."""
    if not callable(function):
        raise instance_error("function", "a function", function)
    writer: Writer | None = None
    first_words = functools.partial(new_words, row_ids=dataset.source.row_ids)
    passage = Passage(dataset)
    account = Account()
    try:
        for begin in _begins(dataset, batch_size, progress):
            rows = JointNestedRaggedTensorDict._wrap(_read(dataset, begin, batch_size))
            end = begin + len(rows)
            result = (_call_many if is_batched else _call_each)(function, rows, begin, first_words)
            passage.add(rows._view(), result)
            if writer is None:
                writer = Writer(path, widen=True, row_ids=_row_ids(dataset, result), account=account)
            try:
                writer.append(result)
            except (TypeError, ValueError) as error:
                raise name_place(name_item(error, ""), f"map: rows {begin} to {end - 1}") from None
        if writer is None:  # no rows, of which the function could make none
            writer = Writer(path, account=account)
        passage.finish(account)
        writer.close()
    except BaseException:
        if writer is not None:
            writer.discard()
        raise
    return open_shards(path)


def _begins(dataset: Rows, size: int, progress: bool) -> Iterator[int]:
    """Where each batch begins. No rows are one batch of none: a file of them has their keys."""
    begins = range(0, max(len(dataset), 1), size)
    if not progress:
        yield from begins
        return
    from tqdm.auto import tqdm

    with tqdm(total=len(dataset), unit=" rows") as bar:
        for begin in begins:
            yield begin
            bar.update(min(size, len(dataset) - begin))


def _read(dataset: Rows, begin: int, size: int) -> _core.Joint:
    rows = np.arange(begin, min(begin + size, len(dataset)))
    return dataset.source.read_many(dataset._source_rows(rows))


def _call_many(
    function: Any, rows: JointNestedRaggedTensorDict, begin: int, first_words: _FirstWords
) -> _core.Joint:
    where = f"rows {begin} to {begin + len(rows) - 1}"
    return _as_joint(_call(function, rows, where), where, first_words)


def _call_each(
    function: Any, rows: JointNestedRaggedTensorDict, begin: int, first_words: _FirstWords
) -> _core.Joint:
    results = [_call(function, rows[i], f"row {begin + i}") for i in range(len(rows))]
    if not results:
        return rows._view()
    if all(isinstance(row, dict) for row in results):
        for i, row in enumerate(results):
            if row.keys() != results[0].keys():
                raise value_error(
                    "",
                    f"row {begin + i}: keys {sorted(row)}, but {sorted(results[0])} in row {begin}",
                    row=begin + i,
                    context="map",
                )
        try:  # all at once: of one row alone an empty list has no dtype
            return _build({name: [row[name] for row in results] for name in results[0]}, first_words)
        except (TypeError, ValueError, OverflowError):
            pass  # the row that is wrong alone says so below
    parts = [_row_joint(row, f"row {begin + i}", first_words) for i, row in enumerate(results)]
    first = sorted(zip(parts[0].names, parts[0].dims, strict=True))
    for i, part in enumerate(parts):
        now = sorted(zip(part.names, part.dims, strict=True))
        if now != first:
            raise value_error(
                "",
                f"row {begin + i}: keys and dims {now}, but {first} in row {begin}",
                row=begin + i,
                context="map",
            )
    concatenate, wrap = JointNestedRaggedTensorDict.concatenate, JointNestedRaggedTensorDict._wrap
    with contextlib.suppress(TypeError, ValueError):
        return concatenate(map(wrap, parts))._view()
    try:
        return concatenate(map(wrap, _promote_dtypes(parts)))._view()
    except (TypeError, ValueError) as error:
        raise name_place(name_item(error, ""), f"map: rows {begin} to {begin + len(parts) - 1}") from None


def _row_joint(result: object, where: str, first_words: _FirstWords) -> _core.Joint:
    if isinstance(result, JointNestedRaggedTensorDict):
        return result._view().unsqueeze()
    rows = {k: [v] for k, v in result.items()} if isinstance(result, dict) else result
    return _as_joint(rows, where, first_words)


def _promote_dtypes(parts: list[_core.Joint]) -> list[_core.Joint]:
    """The same rows, each key in the dtype that holds the numbers of all; without values it has any."""
    dtypes: dict[str, np.dtype] = {}
    for name in parts[0].names:
        part_dtypes = [values.dtype for part in parts if len(values := part.values(name))]
        for dtype in part_dtypes or [parts[0].values(name).dtype]:
            common = common_dtype(dtypes.get(name, dtype), dtype)
            if common is None:
                break
            dtypes[name] = common
    return [widen(part, {n: d for n, d in dtypes.items() if part.values(n).dtype != d}) for part in parts]


def _call(function: Any, rows: object, where: str) -> Any:
    try:
        return function(rows)
    except Exception as error:
        if hasattr(error, "add_note"):  # from Python 3.11
            error.add_note(f"map: {where}")
        raise


def _as_joint(result: Any, where: str, first_words: _FirstWords) -> _core.Joint:
    if isinstance(result, JointNestedRaggedTensorDict):
        return result._view()
    if not isinstance(result, dict) and not is_table(result):
        raise error_of(
            TypeError,
            "",
            f"expected a joint dict or a dict, got {type(result).__name__}",
            context=f"map: {where}",
        )
    try:
        if not isinstance(result, dict):
            from varlen.io.arrow_rows import joint_of_table

            return joint_of_table(result, None, first_words)
        return _build(result, first_words)
    except (TypeError, ValueError, OverflowError) as error:
        raise name_place(name_item(tell_cause(error), ""), f"map: {where}") from None


def _build(columns: Mapping[str, object], first_words: _FirstWords) -> _core.Joint:
    """Columns of nested lists, in which there may be words, dates, arrays, tensors and Raggeds."""
    if not columns:
        raise value_error("", "there are no keys; a result has at least one")
    lists = {name: _as_lists(value, name) for name, value in columns.items()}
    return build_joint(lists, ColumnOptions({}, narrow=False, first_words=first_words), "rows")


def _as_lists(value: Any, name: str) -> Any:
    """The value with lists in place of Raggeds, and arrays in place of tensors and of Python's times."""
    if isinstance(value, (list, tuple)):
        kinds = set(map(type, value))
        if kinds <= _PLAIN:
            return value
        kinds.discard(type(None))  # of a time that is not there
        unit = _TIMES.get(kinds.pop()) if len(kinds) == 1 else None
        return _as_times(value, unit, name) if unit else [_as_lists(item, name) for item in value]
    if hasattr(value, "levels") and hasattr(value, "values"):
        return [_as_lists(row, name) for row in value]
    if type(value) in _TIMES:
        return _as_times([value], _TIMES[type(value)], name)[0]
    return np.asarray(value)[()] if is_tensor(value) else value


def _as_times(values: Any, unit: str, name: str) -> np.ndarray:
    """Times of Python and None; those with a zone in UTC, and not beside times without."""
    has_zone = [getattr(value, "tzinfo", None) is not None for value in values if value is not None]
    if not any(has_zone):
        return np.array(values, unit)
    if not all(has_zone):
        times = [value for value in values if value is not None]
        with_zone, no_zone = times[has_zone.index(True)], times[has_zone.index(False)]
        raise value_error(
            name, f"{with_zone} has a zone and {no_zone} has none", "give all of them one, or none"
        )
    utc = [v if v is None else v.astimezone(datetime.timezone.utc).replace(tzinfo=None) for v in values]
    return np.array(utc, unit)


def _row_ids(dataset: Rows, joint: _core.Joint) -> str | None:
    name = dataset.source.row_ids
    dims = dict(zip(joint.names, joint.dims, strict=True))
    return name if name is not None and dims.get(name) == 0 else None
