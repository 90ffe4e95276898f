"""Look-up of rows by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_ids
from varlen.errors import error_of, instance_error, value_error

if TYPE_CHECKING:
    from varlen.backends.values import RowsLike


__all__ = ["RowIds"]

Array = np.ndarray[tuple[Any, ...], np.dtype]
Ints = np.ndarray[tuple[Any, ...], np.dtype[np.int64]]


def ids_error(rows: str = "these rows") -> ValueError:
    """An error about rows that nothing identifies."""
    return value_error("ids", f"{rows} have no ids", "name their key with row_ids=")


def check_row_ids(row_ids: Any) -> str | None:
    """The name of a key, or None."""
    if not isinstance(row_ids, (str, type(None))):
        raise instance_error("row_ids", "the name of a key", row_ids)
    return row_ids


def row_ids_error(name: object) -> ValueError:
    """An error about a key that cannot identify rows."""
    return value_error("row_ids", f"{name!r} is not a key of dim 0")


class RowIds:
    """The ids of all rows, shard after shard, sorted once, and the words that they stand for.

    No two rows share an id.

    >>> RowIds([np.array([70, 30]), np.array([50])]).rows_of([50, 70])
    array([2, 0])
    """

    def __init__(self, parts: Sequence[Array], vocabulary: Sequence[str] | None = None) -> None:
        ids = np.concatenate(parts) if parts else np.empty(0, np.int64)
        if ids.dtype.kind == "f" and all(part.dtype.kind in "iu" for part in parts):
            # int64 and uint64: floats would round them
            ids = np.concatenate([part.astype(object) for part in parts])
        self._words = None if vocabulary is None else {word: i for i, word in enumerate(vocabulary)}
        self._order: Ints = np.argsort(ids, kind="stable")
        self._ids = ids[self._order]
        repeats = np.flatnonzero(self._ids[1:] == self._ids[:-1])
        if len(repeats):
            first, second = sorted(self._order[repeats[0] : repeats[0] + 2].tolist())
            one = self._ids[repeats[0]]
            words = vocabulary or ()
            text = repr(words[one]) if 0 <= one < len(words) else one
            raise value_error("ids", f"rows {first} and {second} both have the id {text}", row=second)

    def rows_of(self, ids: RowsLike) -> Ints:
        """The row of each id; KeyError for the first that no row has."""
        query = as_ids(ids, "ids")
        if query.size == 0:
            return np.zeros(query.shape, np.int64)
        given_ids = query
        if self._words is not None and query.dtype.kind in "UTO":
            query = np.array([self._words.get(word, -1) for word in query.reshape(-1).tolist()], np.int64)
            query = query.reshape(given_ids.shape)
        index = np.minimum(np.searchsorted(self._ids, query), max(len(self._ids) - 1, 0))
        is_known = self._ids[index] == query if len(self._ids) else np.zeros(query.shape, bool)
        missing = np.flatnonzero(~np.atleast_1d(is_known))
        if len(missing):
            raise error_of(
                KeyError,
                "ids",
                f"{given_ids.reshape(-1)[missing[0]]} at position {missing[0]} is no row's id",
                row=missing[0],
            )
        return self._order[index]
