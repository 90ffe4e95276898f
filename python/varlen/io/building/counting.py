"""What a partition gives, counted before anything is done to it, for the account of its shard."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import chain
from typing import Any

import numpy as np

from varlen import _core
from varlen.io.account import Account
from varlen.io.save import split_name

__all__: list[str] = []


def name_of(partition: Any, number: int) -> str:
    """What an account calls a partition: its path, or its number.

    >>> name_of("a.csv", 3), name_of([1, 2], 3)
    ('a.csv', 'partition 3')
    """
    is_path = isinstance(partition, (str, os.PathLike))
    return os.fspath(partition) if is_path else f"partition {number}"


def count_piece(account: Account, name: str, rows: Any) -> None:
    """Rows and values of what `Writer.append` takes: a joint dict, or a mapping to arrays or nested lists.

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
    if not isinstance(rows, Mapping):
        rows = getattr(rows, "tensors", {})
    count = 0
    for full, value in rows.items():
        at, key = split_name(str(full))
        if at is not None and key == "bounds" and at > 0:
            count = len(value) if at == 1 else count
        elif at is None or at >= 0:
            account.column(key).source.values += _leaves(value) if at is None else len(value)
            count = count if at else len(value)
    account.add_file(name, count)


def _leaves(value: Any) -> int:
    """The values in nested lists: what lies in the last of them, or the rows of arrays."""
    while isinstance(value, (list, tuple)):
        if value and all(isinstance(item, np.ndarray) for item in value):
            return sum(map(len, value))
        inner = next((item for item in value if item is not None), None)
        if not isinstance(inner, (list, tuple)):
            break
        value = list(chain.from_iterable(value))
    return len(value)
