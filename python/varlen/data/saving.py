"""Write rows of a dataset to new files, batch after batch."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import new_words
from varlen.data.accounts import Passage, account_of
from varlen.data.map_words import add_words, sources_of_words
from varlen.data.sources.declarations import schema_of_source
from varlen.errors import error_of, name_item, name_place, tell_cause, value_error
from varlen.io import Account, ShardSet, ShardWriter, Writer, open_shards
from varlen.io.columns import ColumnOptions
from varlen.io.dtypes import common_dtype, widen
from varlen.io.lists import build_rows
from varlen.io.pieces import is_table
from varlen.joint import JointNestedRaggedTensorDict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from varlen.data.rows import Rows

__all__ = []

# What the vocabulary of a key begins with.
_FirstWords = Callable[[str], list[str]]

_ROWS_AT_ONCE = 1000


def save_rows(
    dataset: Rows,
    path: str | os.PathLike[str],
    rows_per_shard: int | None,
    progress: bool,
    checksums: bool,
    compress: bool,
) -> None:
    """Write all rows to a file, or to a folder of shards."""
    options: dict[str, Any] = {
        **options_of(dataset),
        "account": account_of(dataset).successor(),
        "checksums": checksums,
        "compress": compress,
    }
    writer = (
        Writer(path, **options) if rows_per_shard is None else ShardWriter(path, rows_per_shard, **options)
    )
    with writer:
        for begin in _begins(dataset, _ROWS_AT_ONCE, progress):
            writer.append(read_batch(dataset, begin, _ROWS_AT_ONCE))


def options_of(dataset: Rows) -> dict[str, Any]:
    """Options of a writer of rows as they are."""
    fields = {name: field for name, field in dataset.fields.items() if field.dim >= 0}
    if not fields:
        raise value_error("", "these rows have no keys", context="save")
    return {
        "schema": schema_of_source(dataset.source) or {name: field.dtype for name, field in fields.items()},
        "vocabularies": {name: f.vocabulary for name, f in fields.items() if f.vocabulary is not None},
        "row_ids": dataset.source.row_ids if dataset.source.row_ids in fields else None,
    }


def map_rows(
    dataset: Rows,
    function: Callable[[JointNestedRaggedTensorDict], Any],
    path: str | os.PathLike[str],
    is_batched: bool,
    batch_size: int,
    progress: bool,
) -> ShardSet:
    """Write what a function makes of all rows to a file, and open it."""
    writer: Writer | None = None
    passage = Passage(account_of(dataset))
    account = Account()
    try:
        for begin in _begins(dataset, batch_size, progress):
            rows, result = call_batch(dataset, function, begin, batch_size, is_batched)
            passage.add(rows, result)
            if writer is None:
                row_ids = row_ids_of(dataset, result)
                writer = Writer(path, widen=True, row_ids=row_ids, account=account)
            try:
                writer.append(result)
            except (TypeError, ValueError) as error:
                where = f"map: rows {begin} to {begin + len(rows) - 1}"
                raise name_place(name_item(error, ""), where) from None
        if writer is None:  # no rows, of which the function could make none
            writer = Writer(path, account=account)
        passage.finish(account)
        writer.close()
    except BaseException:
        if writer is not None:
            writer.discard()
        raise
    return open_shards(path)


def call_batch(
    dataset: Rows, function: Any, begin: int, size: int, is_batched: bool, first: int = 0
) -> tuple[_core.Joint, _core.Joint]:
    """A batch of rows and what the function makes of them; errors count rows from `first`."""
    rows = JointNestedRaggedTensorDict._wrap(read_batch(dataset, begin, size))
    first_words = functools.partial(new_words, row_ids=dataset.source.row_ids)
    call = _call_many if is_batched else _call_each
    return rows._view(), call(function, rows, first + begin, first_words)


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


def read_batch(dataset: Rows, begin: int, size: int) -> _core.Joint:
    rows = np.arange(begin, min(begin + size, len(dataset)))
    return dataset.source.read_many(dataset._source_rows(rows))


def _call_many(
    function: Any, rows: JointNestedRaggedTensorDict, begin: int, first_words: _FirstWords
) -> _core.Joint:
    where = f"rows {begin} to {begin + len(rows) - 1}"
    result, joint = _call(function, rows, where), rows._view()
    sources = sources_of_words(joint, [result])
    return add_words(_as_joint(result, where, first_words), joint, sources, where)


def _call_each(
    function: Any, rows: JointNestedRaggedTensorDict, begin: int, first_words: _FirstWords
) -> _core.Joint:
    results = [_call(function, rows[i], f"row {begin + i}") for i in range(len(rows))]
    joint = rows._view()
    sources = sources_of_words(joint, results)
    flat = {name: joint.values(name) for name, dim in zip(joint.names, joint.dims, strict=True) if dim == 0}
    row_dims: dict[str, int] = {}
    if flat:
        results = [_single_values(row, flat, begin + i, row_dims) for i, row in enumerate(results)]
    if not results:
        return joint
    failure: Exception | None = None
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
            columns = {name: [row[name] for row in results] for name in results[0]}
            joint_of_all = _build(columns, first_words, row_dims)
        except (TypeError, ValueError, OverflowError) as error:
            failure = error  # the row that is wrong alone says so below
        else:
            return add_words(joint_of_all, joint, sources, f"rows {begin} to {begin + len(rows) - 1}")
    parts = []
    for i, row in enumerate(results):
        where = f"row {begin + i}"
        parts.append(add_words(_row_joint(row, where, first_words, row_dims), joint, sources, where))
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
    where = f"map: rows {begin} to {begin + len(parts) - 1}"
    if failure is not None:
        raise name_place(name_item(tell_cause(failure), ""), where) from None
    concatenate, wrap = JointNestedRaggedTensorDict.concatenate, JointNestedRaggedTensorDict._wrap
    with contextlib.suppress(TypeError, ValueError):
        return concatenate(map(wrap, parts))._view()
    try:
        return concatenate(map(wrap, _promote_dtypes(parts)))._view()
    except (TypeError, ValueError) as error:
        raise name_place(name_item(error, ""), where) from None


def _single_values(result: Any, flat: Mapping[str, Any], row: int, row_dims: dict[str, int]) -> Any:
    """A result in which each key of dim 0 is one value: a row has it as an array of one.

    `flat` has these keys of all rows. A key is one by its name, or as an array that the row has, itself.
    """
    if not isinstance(result, dict):
        return result
    values = {}
    for name, value in result.items():
        own = flat.get(name)
        if own is None and type(value) is np.ndarray and value.shape[:1] == (1,):
            own = next((column for column in flat.values() if np.may_share_memory(column, value)), None)
        if own is None:
            continue
        shape = getattr(value, "shape", None)
        if not isinstance(shape, tuple) or len(shape) != own.ndim:
            continue
        if shape[0] != 1:
            what = f"row {row}: {name!r} has one value a row, got an array of {shape[0]}"
            raise value_error("", what, "give lists, or another name", row=row, context="map")
        values[name] = value[0]
        if own.ndim > 1:
            row_dims[name] = own.ndim - 1
    return {**result, **values} if values else result


def _row_joint(
    result: object, where: str, first_words: _FirstWords, row_dims: Mapping[str, int]
) -> _core.Joint:
    if isinstance(result, JointNestedRaggedTensorDict):
        return result._view().unsqueeze()
    rows = {k: [v] for k, v in result.items()} if isinstance(result, dict) else result
    return _as_joint(rows, where, first_words, row_dims)


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


def _as_joint(
    result: Any, where: str, first_words: _FirstWords, row_dims: Mapping[str, int] | None = None
) -> _core.Joint:
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
        return _build(result, first_words, row_dims)
    except (TypeError, ValueError, OverflowError) as error:
        raise name_place(name_item(tell_cause(error), ""), f"map: {where}") from None


def _build(
    columns: Mapping[str, object], first_words: _FirstWords, row_dims: Mapping[str, int] | None = None
) -> _core.Joint:
    if not columns:
        raise value_error("", "there are no keys; a result has at least one")
    return build_rows(
        columns, lambda: ColumnOptions({}, False, row_dims, first_words=first_words, nulls=True)
    )


def row_ids_of(dataset: Rows, joint: _core.Joint) -> str | None:
    name = dataset.source.row_ids
    dims = dict(zip(joint.names, joint.dims, strict=True))
    return name if name is not None and dims.get(name) == 0 else None
