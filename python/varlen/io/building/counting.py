"""Counts of a partition's rows and values, before anything changes them, for the account of its shard."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from varlen import _core
from varlen.backends.values import is_tensor
from varlen.io.account import Account, Tally
from varlen.io.pieces import is_table
from varlen.io.save import split_name
from varlen.io.schema import encode_strings

__all__: list[str] = []

_SCALARS = frozenset((int, float, bool, str))


def name_of(partition: Any, number: int) -> str:
    """The name of a partition in an account: its path, or its number.

    >>> name_of("a.csv", 3), name_of([1, 2], 3)
    ('a.csv', 'partition 3')
    """
    is_path = isinstance(partition, (str, os.PathLike))
    return os.fspath(partition) if is_path else f"partition {number}"


def count_piece(
    account: Account, name: str, rows: Any, row_shapes: Mapping[str, tuple[int, ...]] | None = None
) -> None:
    """Counts the rows and values of an argument of `Writer.append`: a joint dict, a table, or a mapping.

    `row_shapes` are the sizes of keys whose innermost lists become fixed dims.

    >>> account = Account()
    >>> count_piece(account, "a.csv", {"x": [[1, 2], []], "t": np.array([5, 6])})
    >>> account.files, {key: balance.source.values for key, balance in account.columns.items()}
    ({'a.csv': 2}, {'x': 2, 't': 2})
    """
    if hasattr(rows, "__varlen_joint__"):
        rows = rows.__varlen_joint__()
    if isinstance(rows, _core.Joint):
        account.add_file(name, len(rows))
        for key, dim in zip(rows.names, rows.dims, strict=True):
            if dim >= 0:
                account.column(key).source.add(rows.values(key))
        return
    if is_table(rows):
        from varlen.io.arrow_counts import count_table
        from varlen.io.arrow_rows import as_table

        table = as_table(rows)
        account.add_file(name, table.num_rows)
        count_table(account, table, {}, row_shapes)
        return
    if not isinstance(rows, Mapping):
        rows = getattr(rows, "tensors", {})
    count = 0
    for full, value in rows.items():
        own_dim, key = split_name(str(full))
        if own_dim is not None and key == "bounds" and own_dim > 0:
            count = len(value) if own_dim == 1 else count
        elif own_dim is None or own_dim >= 0:
            leaves = _leaves(value, (row_shapes or {}).get(key)) if own_dim is None else value
            tally = account.column(key).source
            tally.values += leaves if isinstance(leaves, int) else len(leaves)
            _count_distinct(tally, leaves)
            count = count if own_dim else len(value)
    account.add_file(name, count)


def _count_distinct(tally: Tally, leaves: Any) -> None:
    """Counts distinct numbers of an array or distinct words of text; other values have no distinct count."""
    if isinstance(leaves, np.ndarray) and leaves.dtype.kind in "UT":
        words: dict[str, int] = {}
        encode_strings(leaves, words)
        tally.count_words(words)
    elif isinstance(leaves, np.ndarray) and leaves.dtype.kind != "O":
        tally.count_distinct(leaves)
    elif not isinstance(leaves, int) and set(map(type, leaves)) == {str}:
        tally.count_words(set(leaves))
    elif isinstance(leaves, int) or len(leaves):
        tally.count_distinct(None)


def _leaves(value: object, row_shape: tuple[int, ...] | None = None) -> Any:
    """The contents of the innermost lists, or of an array, a tensor or a Ragged; of arrays in lists and fixed
    dims the number.
    """
    if row_shape and math.prod(row_shape) and isinstance(value, (list, tuple)):
        return _numbers(value) // math.prod(row_shape)
    if hasattr(value, "levels") and hasattr(value, "values"):
        return value.values
    if not isinstance(value, (list, tuple)) and not is_tensor(value):
        array = np.asarray(value)
        value = array.tolist() if array.dtype.kind == "O" else array
    while isinstance(value, (list, tuple)):
        kinds = set(map(type, value)) - {type(None)}
        if not kinds or kinds <= _SCALARS:
            break
        if not kinds <= {list, tuple}:
            return sum(map(_size, value))
        value = list(chain.from_iterable(item for item in value if item is not None))
    return value


def _size(item: Any) -> int:
    """The number of values of an array, a tensor, a Ragged, a list, or of one value."""
    if hasattr(item, "levels") and hasattr(item, "values"):
        return len(item.values)
    if isinstance(item, (list, tuple)):
        leaves = _leaves(item)
        return leaves if isinstance(leaves, int) else len(leaves)
    shape = getattr(item, "shape", ())
    return int(shape[0]) if shape else 1


def _numbers(value: Any) -> int:
    """The number of values in nested lists and in the arrays at their ends."""
    while isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        value = list(chain.from_iterable(value))
    return sum(item.size for item in value) if len(value) and isinstance(value[0], np.ndarray) else len(value)
