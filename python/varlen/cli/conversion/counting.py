"""What a conversion reads, counted before anything is done to it, for its account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.io.account import REPEATS, Account

if TYPE_CHECKING:
    import pyarrow as pa

    from varlen._core import Joint

__all__ = ["count_groups", "count_list", "count_table"]


def count_table(account: Account, table: pa.Table, missing: dict[str, int]) -> None:
    """The values of a table by the keys that they become; nulls, without NaN, go into `missing` too.

    Examples
    --------
    >>> import pyarrow as pa
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
                nulls = _count_leaf(account, key, leaf)
                missing[key] = missing.get(key, 0) + nulls


def _is_struct(kind: pa.DataType) -> bool:
    import pyarrow as pa

    while hasattr(kind, "value_type") and not pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_struct(kind))


def _leaves(name: str, array: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """What lies inside lists and structs."""
    import pyarrow as pa

    types = pa.types
    while types.is_list(array.type) or types.is_large_list(array.type) or "list_view" in str(array.type):
        array = array.flatten()
    if not types.is_struct(array.type):
        yield name, array
        return
    for field, part in zip(array.type, array.flatten(), strict=True):
        yield from _leaves(f"{name}.{field.name}", part)


def _count_leaf(account: Account, key: str, array: pa.Array) -> int:
    """Counts a piece of a column, and gives its nulls without NaN."""
    import pyarrow as pa

    types, tally = pa.types, account.column(key).source
    tally.values += len(array)
    while types.is_fixed_size_list(array.type):
        array = array.flatten()
    nulls = int(array.null_count)
    kind = array.type
    if types.is_dictionary(kind) and array.dictionary.null_count:
        nulls = int(np.count_nonzero(array.dictionary_decode().is_null()))
    is_plain = types.is_integer(kind) or types.is_floating(kind) or types.is_timestamp(kind)
    if is_plain or types.is_date32(kind) or types.is_duration(kind):
        values = (array.drop_null() if nulls else array).to_numpy(zero_copy_only=False)
        tally.count_inside(values, nulls=nulls)
    else:
        tally.count_inside(np.zeros(min(len(array), 1), bool), nulls=nulls)  # distinct texts are not counted
    return nulls


def count_list(items: list[Any], depth: int, *, careful: bool) -> tuple[int, int]:
    """The values in nested lists and, where `careful`, how many are null.

    >>> count_list([[1, 2], None, [None]], 1, careful=True)
    (3, 1)
    """
    for _ in range(depth - 1):
        items = list(chain.from_iterable(item for item in items if type(item) is list))
    if depth == 0:
        return len(items), items.count(None) if careful else 0
    lists: Iterable[list[Any]] = [item for item in items if type(item) is list]
    return sum(map(len, lists)), sum(item.count(None) for item in lists) if careful else 0


def count_groups(account: Account, rows: int, before: Joint, after: Joint, groups: tuple[str, ...]) -> None:
    """What grouping leaves out: rows that share a record, and what group and constant columns repeat.

    Examples
    --------
    >>> import varlen as vl
    >>> joint = vl._core.Joint(["p", "x"], [0, 1], [np.array([7]), np.array([1, 2])], [vl.Level([2])])
    >>> account = Account()
    >>> count_groups(account, 2, joint, joint, ("p",))
    >>> account.rows.left_out, account.columns["p"].left_out
    (1, 1)
    """
    if not groups:
        return
    account.leave_out(None, "nested into groups", rows - len(after))
    counts = [len(before), *(before.level(dim).total for dim in range(1, len(groups) + 1))]
    for name, dim, old in zip(after.names, after.dims, before.dims, strict=True):
        if name in groups:
            account.leave_out(name, REPEATS, rows - counts[groups.index(name)], 0)
        elif dim != old:
            nulls = [_nulls(joint.values(name)) for joint in (before, after)]
            account.leave_out(name, REPEATS, rows - counts[0], nulls[0] - nulls[1])


def _nulls(values: np.ndarray[tuple[Any, ...], np.dtype[Any]]) -> int:
    if values.dtype.kind in "mM":
        return int(np.count_nonzero(np.isnat(values)))
    return int(np.count_nonzero(np.isnan(values))) if values.dtype.kind == "f" else 0
