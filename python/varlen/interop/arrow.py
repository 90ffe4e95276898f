"""Arrow columns to flat values and levels, and back.

List columns nest by themselves: their offsets are our levels. pyarrow is imported here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen._core import Level

__all__ = ["Column", "Nulls", "columns_of", "from_arrow", "to_arrow"]

#: A part of a column name for the fields of a struct: `visit.code`.
FIELD = "."


@dataclass(frozen=True)
class Nulls:
    """What becomes of a null: ``refuse`` raises, ``nan`` gives NaN (NaT, or id -1), ``fill`` gives `value`.

    A null list is an empty list, except under ``refuse``.

    Examples
    --------
    >>> Nulls("fill", 0).value
    0
    """

    policy: str = "refuse"
    value: Any = None

    def __post_init__(self) -> None:
        if self.policy not in ("refuse", "nan", "fill"):
            raise ValueError(f"nulls: expected 'refuse', 'nan' or 'fill', got {self.policy!r}")


@dataclass(frozen=True)
class Column:
    """Flat values (total, ...) under their levels, outermost first; strings are ids into `vocabulary`.

    Examples
    --------
    >>> Column(np.array([1, 2])).levels
    ()
    """

    values: npt.NDArray[Any]
    levels: tuple[Level, ...] = ()
    vocabulary: tuple[str, ...] | None = None


def _first_null(array: pa.Array) -> int:
    return int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])


def _refuse(name: str, array: pa.Array) -> ValueError:
    return ValueError(
        f"{name}: null at row {_first_null(array)}; say what nulls become: 'nan', or 'fill' and a value"
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or getattr(pa.types, "is_list_view", lambda _: False)(kind)
        or getattr(pa.types, "is_large_list_view", lambda _: False)(kind)
    )


def _unlist(array: pa.Array, name: str, nulls: Nulls) -> tuple[pa.Array, Level]:
    if array.null_count and nulls.policy == "refuse":
        raise _refuse(name, array)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return array.flatten(), Level.from_lengths(lengths)


def _strings(array: pa.Array, name: str, nulls: Nulls) -> Column:
    if nulls.policy == "fill" and array.null_count:
        array = pc.fill_null(array, str(nulls.value))
    if not pa.types.is_dictionary(array.type):
        array = array.dictionary_encode()
    ids = pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return Column(np.ascontiguousarray(ids), (), tuple(str(word) for word in array.dictionary.to_pylist()))


def _numbers(array: pa.Array, name: str, nulls: Nulls) -> npt.NDArray[Any]:
    kind = array.type
    if pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    if array.null_count:
        if nulls.policy == "fill":
            array = pc.fill_null(array, pa.scalar(nulls.value, type=array.type))
        elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            array = array.cast(pa.float64())
    if not (pa.types.is_primitive(array.type) or pa.types.is_boolean(array.type)):
        raise TypeError(f"{name}: columns of type {kind} have no fixed width")
    values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "O":
        raise TypeError(f"{name}: columns of type {kind} have no fixed width")
    return values


def _leaf(array: pa.Array, name: str, nulls: Nulls) -> Column:
    kind = array.type
    if array.null_count and nulls.policy == "refuse":
        raise _refuse(name, array)
    if pa.types.is_fixed_size_list(kind):
        if array.null_count:
            raise _refuse(name, array)
        inner = _leaf(array.flatten(), name, nulls)
        return Column(
            inner.values.reshape(len(array), kind.list_size, *inner.values.shape[1:]), (), inner.vocabulary
        )
    if pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
        return _leaf(array.dictionary_decode(), name, nulls)
    if pa.types.is_dictionary(kind) or _is_text(kind):
        return _strings(array, name, nulls)
    if pa.types.is_null(kind):
        return Column(np.full(len(array), np.nan))
    return Column(_numbers(array, name, nulls))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def columns_of(array: pa.Array | pa.ChunkedArray, name: str, nulls: Nulls = Nulls()) -> dict[str, Column]:
    """The columns in one Arrow column: one, or one for each field of a struct, however deep the lists.

    Parameters
    ----------
    array
        Any Arrow array; slices and chunks are fine.
    name
        What the column is called, in errors and in the keys given back.
    nulls
        What becomes of nulls.

    Raises
    ------
    ValueError
        There is a null and `nulls` refuses it; the message names the column and the row.
    TypeError
        The type has no fixed width (binary, union, map).

    Examples
    --------
    >>> import pyarrow as pa
    >>> column = columns_of(pa.array([[1, 2], [], [3]]), "code")["code"]
    >>> column.values, column.levels[0].lengths
    (array([1, 2, 3]), array([2, 0, 1]))
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.unify_dictionaries().combine_chunks() if array.num_chunks != 1 else array.chunk(0)
        if isinstance(array, pa.ChunkedArray):  # zero chunks, or more than one chunk can hold
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    levels: list[Level] = []
    while _is_list(array.type):
        array, level = _unlist(array, name, nulls)
        levels.append(level)
    if pa.types.is_struct(array.type):
        if array.null_count and nulls.policy == "refuse":
            raise _refuse(name, array)
        out: dict[str, Column] = {}
        for field, part in zip(array.type, array.flatten(), strict=True):
            for key, column in columns_of(part, f"{name}{FIELD}{field.name}", nulls).items():
                out[key] = Column(column.values, (*levels, *column.levels), column.vocabulary)
        return out
    leaf = _leaf(array, name, nulls)
    return {name: Column(leaf.values, tuple(levels), leaf.vocabulary)}


def from_arrow(data: Any, *, nulls: str = "refuse", fill: Any = None) -> Any:
    """An Arrow list array, or anything that exports one, as a `Ragged`.

    Parameters
    ----------
    data
        A pyarrow Array or ChunkedArray, or an object with ``__arrow_c_array__`` or ``__arrow_c_stream__``
        (polars, pandas, nanoarrow, duckdb).
    nulls
        ``"refuse"``, ``"nan"`` or ``"fill"``; the last takes `fill`.

    Returns
    -------
    Ragged
        One level for each level of lists; strings come as int64 ids.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from_arrow(pa.array([[1.0], [2.0, 3.0]])).lengths
    array([1, 2])
    """
    from varlen.types.ragged import Ragged

    if not isinstance(data, pa.Array | pa.ChunkedArray):
        data = pa.chunked_array(data) if hasattr(data, "__arrow_c_stream__") else pa.array(data)
    found = columns_of(data, "data", Nulls(nulls, fill))
    if len(found) != 1:
        raise ValueError(f"data: a struct holds {len(found)} columns ({', '.join(found)}); take one of them")
    column = next(iter(found.values()))
    if not column.levels:
        raise ValueError("data: expected a list column, got one without any nesting")
    return Ragged(column.values, levels=column.levels)


def to_arrow(values: npt.NDArray[Any], levels: Sequence[Level]) -> pa.Array:
    """Flat values under levels as nested large lists; the offsets and most values are shared, not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from varlen import Level
    >>> to_arrow(np.array([1, 2, 3]), [Level([2, 0, 1])]).to_pylist()
    [[1, 2], [], [3]]
    """
    array = pa.array(values.reshape(-1))
    for size in reversed(values.shape[1:]):
        array = pa.FixedSizeListArray.from_arrays(array, size)
    for level in reversed(levels):
        array = pa.LargeListArray.from_arrays(pa.array(level.offsets), array)
    return array
