"""Look-up of rows by their ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen.arguments import as_ids
from varlen.errors import error_of, instance_error, value_error
from varlen.io.lookup import search_sorted

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
        self._order: Ints = np.argsort(ids)
        self._ids = ids[self._order]
        repeats = np.flatnonzero(self._ids[1:] == self._ids[:-1])
        if len(repeats):
            one = self._ids[repeats[0]]
            first, second = np.flatnonzero(ids == one)[:2].tolist()
            is_word = vocabulary is not None and 0 <= one < len(vocabulary)
            text = repr(str(vocabulary[one] if vocabulary is not None and is_word else one))
            text = text if is_word or ids.dtype.kind in "UT" else str(one)
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
        is_text, own = self._ids.dtype.kind in "UT", query.dtype
        if own.kind == "O":
            fits = np.array([isinstance(item, str) == is_text for item in query.reshape(-1).tolist()])
            _refuse_missing(given_ids, fits)
        else:
            _refuse_missing(given_ids, np.full(query.size, (own.kind in "UT") == is_text))
        if is_text:
            query, is_same = np.array(query.tolist(), np.str_) if own.kind in "TO" else query, True
        else:
            query, is_same = self._in_own_dtype(query)
        index = np.minimum(search_sorted(self._ids, query), max(len(self._ids) - 1, 0))
        is_known = is_same & (self._ids[index] == query) if len(self._ids) else np.zeros(query.shape, bool)
        _refuse_missing(given_ids, is_known)
        return self._order[index]

    def _in_own_dtype(self, query: Array) -> tuple[Array, Any]:
        """Numbers in the dtype of those of the rows, and which of them are the same there."""
        dtype = self._ids.dtype
        is_exact = dtype.kind == query.dtype.kind or not {dtype.kind, query.dtype.kind} <= set("iuf")
        if is_exact or np.result_type(dtype, query.dtype).kind != "f":
            return query, True
        with np.errstate(invalid="ignore"):  # NaN is no integer
            own = query.astype(dtype)
        return own, own.astype(object) == query.astype(object)  # floats would round integers


def _refuse_missing(ids: Array, is_known: Array) -> None:
    """KeyError for the first id that no row has."""
    missing = np.flatnonzero(~np.atleast_1d(is_known))
    if len(missing):
        place = int(missing[0])
        text = f"{ids.reshape(-1)[place]} at position {place} is no row's id"
        raise error_of(KeyError, "ids", text, row=place)
