"""Words that a function of `map` gives back as it got them: as ids of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.errors import value_error
from varlen.io.schema import make_metadata

__all__: list[str] = []


def sources_of_words(rows: _core.Joint, results: Sequence[Any]) -> dict[str, str]:
    """The key of words whose ids each key of the results has: as views, or arrays of its name and dtype."""
    vocabularies: Mapping[str, Any] = (rows.meta or {}).get("vocabularies", {})
    if not vocabularies or not results or not all(isinstance(result, dict) for result in results):
        return {}
    columns = {key: rows.values(key) for key in vocabularies if key in rows.names}
    sources: dict[str, str] = {}
    for name in results[0]:
        values = [_array_of(result.get(name)) for result in results]
        dtypes = {None if value is None else value.dtype for value in values}
        for key in sorted(columns, key=name.__ne__):
            column = columns[key]
            if dtypes == {column.dtype} and all(_is_view(x, column) for x in values):
                sources.setdefault(name, key)
        if name in columns and dtypes == {columns[name].dtype}:
            sources.setdefault(name, name)
    return sources


def _is_view(array: Any, column: Any) -> bool:
    if array.size:
        return np.may_share_memory(column, array)
    place = array.ctypes.data - column.ctypes.data
    return array.base is not None and 0 <= place <= column.nbytes


def _array_of(value: object) -> Any:
    """An array, or that of a Ragged; None for other things."""
    array = value if isinstance(value, np.ndarray) else getattr(value, "values", None)
    return array if isinstance(array, np.ndarray) else None


def add_words(result: _core.Joint, rows: _core.Joint, sources: Mapping[str, str], where: str) -> _core.Joint:
    """The result with the words of its ids, which have to be ids of the rows."""
    own = dict((result.meta or {}).get("vocabularies", {}))
    names = {name for name in result.names if name not in own and result.values(name).dtype.kind in "iu"}
    words = {name: key for name, key in sources.items() if name in names}  # lists without any have no ids
    if not words:
        return result
    vocabularies = (rows.meta or {})["vocabularies"]
    for name, key in words.items():
        ids, vocabulary = result.values(name), vocabularies[key]
        is_own = np.isin(ids, rows.values(key))
        if not is_own.all():
            number = int(ids[~is_own].flat[0])
            word = f", {vocabulary[number]!r}," if 0 <= number < len(vocabulary) else ""
            text = f"{where}: {name!r} has the id {number}{word} which is none of the rows"
            advice = "give words for words, and astype(int) to make numbers of ids"
            raise value_error("", text, advice, context="map", number=number)
    row_ids = (result.meta or {}).get("row_ids")
    return result.with_meta(make_metadata({**own, **{n: vocabularies[k] for n, k in words.items()}}, row_ids))
