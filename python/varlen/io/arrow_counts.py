"""Counts of the values of Arrow tables, before anything changes them, for an account."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from varlen.interop.arrow_columns import holds_words, without_views
from varlen.io.account import Account

__all__: list[str] = []


def count_table(
    account: Account,
    table: pa.Table,
    missing: dict[str, int],
    row_shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> None:
    """The values of a table by the keys that they become; nulls, without NaN, go into `missing` too.

    `row_shapes` are the sizes of keys whose innermost lists become fixed dims.

    >>> account, missing = Account(), {}
    >>> count_table(account, pa.table({"x": [[1, None], [3]]}), missing)
    >>> account.columns["x"].source.as_dict(), missing
    ({'values': 3, 'nulls': 1, 'distinct': 2}, {'x': 1})
    """
    for name, column in zip(table.column_names, table.columns, strict=True):
        if not _is_struct(column.type):
            account.column(name)
        for chunk in column.chunks:
            for key, leaf in _leaves(name, chunk):
                nulls = _count_leaf(account, key, leaf, math.prod((row_shapes or {}).get(key, ())))
                missing[key] = missing.get(key, 0) + nulls


def _is_struct(kind: pa.DataType) -> bool:
    while hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_struct(kind))


def _leaves(name: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """The arrays inside lists and structs."""
    types = pa.types
    while types.is_list(array.type) or types.is_large_list(array.type) or "list_view" in str(array.type):
        array = array.flatten()
    if not types.is_struct(array.type):
        yield name, array
        return
    for field, part in zip(array.type, array.flatten(), strict=True):
        yield from _leaves(f"{name}.{field.name}", part)


def _count_leaf(account: Account, key: str, array: pa.Array, size: int) -> int:
    """Counts a piece of a column whose values have this size, and returns its number of nulls without NaN."""
    types, tally = pa.types, account.column(key).source
    count = len(array)
    while types.is_fixed_size_list(array.type):
        array = array.flatten()
    tally.values += len(array) // size if size > 1 else count
    array = without_views(array)
    nulls = int(array.null_count)
    kind = array.type
    if types.is_dictionary(kind) and array.dictionary.null_count:
        nulls = int(np.count_nonzero(array.dictionary_decode().is_null()))
    is_plain = types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind)
    if is_plain or types.is_date32(kind) or types.is_duration(kind):
        values = (array.drop_null() if nulls else array).to_numpy(zero_copy_only=False)
        tally.count_inside(values, nulls=nulls)
    elif holds_words(kind):
        tally.nulls = (tally.nulls or 0) + nulls
        words = pc.unique(array)
        tally.count_words(word for word in words.to_pylist() if word is not None)
    else:
        tally.nulls = (tally.nulls or 0) + nulls
        if count:
            tally.count_distinct(None)
    return nulls
