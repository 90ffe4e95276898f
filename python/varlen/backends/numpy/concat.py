"""Arrays to one array: end to end, sequence by sequence, or row by row of nested lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends.nested import first_leaf
from varlen.errors import instance_error, type_error, value_error

if TYPE_CHECKING:
    from varlen.levels import Levels


def concat(values: list[Any], axis: int = 0, argument: str = "values") -> Any:
    """Arrays one after another, of the dtype that NumPy promotes theirs to."""
    arrays = promote_dtypes(values, argument)
    return np.concatenate(arrays, axis) if axis else _core.concat(arrays)


def interleave(values: list[Any], levels: list[Level], argument: str) -> tuple[Any, Level]:
    """Sequence i of every part, end to end, and their level."""
    return _core.interleave(promote_dtypes(values, argument), levels)


def promote_dtypes(values: list[Any], argument: str) -> list[Any]:
    """Arrays of the dtype that NumPy promotes theirs to."""
    if all(x.dtype is values[0].dtype for x in values):
        return values
    try:
        dtype = np.result_type(*{x.dtype for x in values})
    except TypeError:
        names = " and ".join(dict.fromkeys(str(x.dtype) for x in values))
        raise type_error(argument, f"no dtype holds {names}") from None
    return [x.astype(dtype, copy=False) for x in values]


def from_list(data: Any, dtype: Any = None) -> tuple[Any, Levels]:
    """Nested lists of numbers, words or arrays, end to end, and their levels."""
    try:
        values, levels = _core.from_lists(data, -1, dtype, name="data")
    except TypeError:
        leaf = first_leaf(data)
        if leaf is data or not isinstance(leaf, (str, bytes)) or not _is_text(dtype):
            raise
        values, levels = _text_rows(data, leaf, dtype)
    if not levels and len(data) == 0:
        return values, (Level([]),)
    if not levels:
        raise value_error(
            "data", "expected lists inside a list, or arrays; for one level of numbers use Ragged()"
        )
    return values, tuple(levels)


def _is_text(dtype: Any) -> bool:
    return dtype is None or np.dtype(dtype).kind in "US"


def _text_rows(lists: Any, leaf: str | bytes, dtype: Any) -> tuple[Any, list[Level]]:
    """Nested lists of text as text of a fixed width, and their levels."""
    words: dict[str, int] = {}
    ids, levels = _core.from_words(_decode(lists) if isinstance(leaf, bytes) else lists, words, name="data")
    for word in words:
        if word.endswith("\0"):
            reason = f"{word!r} ends in NUL, which fixed-width text cannot keep"
            raise value_error("data", reason, "pass text without trailing NUL")
    table = np.array([word.encode("latin-1") for word in words] if isinstance(leaf, bytes) else list(words))
    cast = table if dtype is None else table.astype(dtype)
    if (cast != table.astype(cast.dtype.kind)).any():
        longest = max(words, key=len)
        raise value_error("dtype", f"{cast.dtype} does not hold {longest!r}")
    return cast[ids], levels


def _decode(lists: Any) -> Any:
    """Bytes as text of the same numbers."""
    if isinstance(lists, (list, tuple)):
        return [_decode(x) for x in lists]
    if not isinstance(lists, bytes):
        raise instance_error("data", "bytes like the first string", lists)
    return lists.decode("latin-1")
