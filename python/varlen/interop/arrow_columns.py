"""Columns of pyarrow, of every type, to flat values and levels: list columns nest by themselves."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from reprlib import repr as short
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from varlen._core import Level
from varlen.errors import instance_error, row_error, type_error, value_error
from varlen.interop.column import Column, Place
from varlen.interop.decimals import numbers_of_decimals, words_of_decimals
from varlen.interop.nulls import FIELD, Nulls

__all__: list[str] = []

_REFUSED = Nulls()


def _refuse_nulls(place: Place, array: pa.Array, why: str) -> None:
    if array.null_count:
        first = int(np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False))[0])
        raise row_error(place.name, "null", place.row_of(first), advice=why)


def _filler(value: Any, kind: pa.DataType, place: Place) -> pa.Scalar:
    """The value in the type of a column, nothing lost but the last digits of a float."""
    fits = False
    try:
        result = pa.scalar(value, type=kind)
        if pa.types.is_floating(kind):
            fits = bool(np.isfinite(result.as_py()) or not np.isfinite(value))
        elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            fits = bool(result.as_py() == value)
        else:
            fits = not isinstance(value, float)  # Arrow would drop the fraction
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        pass
    if not fits:
        raise value_error("fill", f"{short(value)} does not fit {kind}, the type of {place.name}")
    return result


def plain_array(array: pa.Array, name: str) -> pa.Array:
    """An array without what Arrow wraps around values: runs are decoded, UUIDs are text. Tensors stay.

    >>> plain_array(pc.run_end_encode(pa.array([1, 1, 2])), "x").to_pylist()
    [1, 1, 2]
    """
    if getattr(pa.types, "is_run_end_encoded", lambda _: False)(array.type):
        return plain_array(pc.run_end_decode(array), name)
    extension = extension_name(array.type)
    if extension in ("", _TENSOR):
        return without_views(array)
    if extension == "arrow.uuid":
        ids = array.storage.dictionary_encode()
        words = [str(uuid.UUID(bytes=item)) for item in ids.dictionary.to_pylist()]
        return pa.DictionaryArray.from_arrays(ids.indices, pa.array(words, pa.large_string()))
    if extension == "arrow.bool8":
        return pc.not_equal(array.storage, 0)
    if extension in ("arrow.json", "awkward"):
        return plain_array(array.storage, name)
    storage = array.type.storage_type
    raise type_error(
        name,
        f"expected a column with a NumPy dtype, got the extension type {extension}",
        f"cast it to {storage}",
    )


def without_views(array: pa.Array) -> pa.Array:
    """Words in views, and dictionaries of them, as other text: Arrow has few functions of views."""
    kind = _large_text(array.type)
    return array if kind is array.type else array.cast(kind)


def text_type(kind: pa.DataType) -> pa.DataType:
    """The type with words in views as other text, in lists and structs too.

    Lists in views stay as they are: Arrow casts slices of them to wrong ones.
    """
    has_views = "string_view" in str(kind) and "list_view" not in str(kind)
    return _map_leaves(kind, _large_text) if has_views else kind


def _large_text(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind) and _is_view(kind.value_type):
        return pa.dictionary(kind.index_type, pa.large_string(), kind.ordered)
    return pa.large_string() if _is_view(kind) else kind


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the array that `plain_array` makes from one of this type.

    >>> plain_type(pa.run_end_encoded(pa.int32(), pa.int8()))
    DataType(int8)
    """
    if getattr(pa.types, "is_run_end_encoded", lambda _: False)(kind):
        return plain_type(kind.value_type)
    if extension_name(kind) == "awkward":
        return plain_type(kind.storage_type)
    plain = {"arrow.uuid": pa.large_string(), "arrow.bool8": pa.bool_(), "arrow.json": pa.large_string()}
    return plain.get(extension_name(kind), kind)


_TENSOR = "arrow.fixed_shape_tensor"


def extension_name(kind: pa.DataType) -> str:
    """The name of an extension type; an empty text for other types."""
    return str(kind.extension_name) if isinstance(kind, pa.BaseExtensionType) else ""


def _tensors(array: pa.Array, place: Place, nulls: Nulls) -> Column:
    """Tensors of a fixed shape as rows of that shape, their dims in logical order."""
    shape, order = array.type.shape, array.type.permutation
    inner = _leaf(array.storage, place, nulls)
    values = inner.values.reshape(len(array), *shape, *inner.values.shape[2:])
    if order is not None:
        values = values.transpose(0, *(1 + dim for dim in order))
    return Column(np.ascontiguousarray(values))


def _is_list(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(kind)
        or pa.types.is_large_list(kind)
        or getattr(pa.types, "is_list_view", lambda _: False)(kind)
        or getattr(pa.types, "is_large_list_view", lambda _: False)(kind)
    )


def _unlist(array: pa.Array, place: Place, nulls: Nulls) -> tuple[pa.Array, Level]:
    if nulls.policy == "refuse":
        _refuse_nulls(place, array, nulls.why)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    return array.flatten(), Level.from_lengths(lengths)


def _strings(array: pa.Array, place: Place, nulls: Nulls) -> Column:
    if pa.types.is_dictionary(array.type):
        words = array.dictionary
        if words.null_count or len(pc.unique(words)) != len(words):
            array = array.dictionary_decode()  # a null may hide in there, or a word stand there twice
            return _leaf(array, place, nulls)
    word = str(nulls.value) if nulls.word is None and nulls.policy == "fill" else nulls.word
    if word is not None and array.null_count:
        array = pc.fill_null(array, word)
    has_ids = pa.types.is_dictionary(array.type)
    if not has_ids:
        array = array.dictionary_encode()
    ids = pc.fill_null(array.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    words = tuple(str(word) for word in array.dictionary.to_pylist())
    return Column(np.ascontiguousarray(ids), (), words, has_ids=has_ids)


def _as_floats(array: pa.Array, place: Place) -> pa.Array:
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:
        large = np.flatnonzero(np.abs(array.fill_null(0).to_numpy().astype(np.float64)) > 2**53 - 1)
        i = int(large[0])
        why = " is beyond the integers of float64, which nulls='nan' makes of a column with nulls"
        where = place.row_of(i)
        raise row_error(place.name, str(array[i]), where, why, "pass nulls='fill'", "beyond_floats") from None


def _decimals(array: pa.Array, place: Place) -> pa.Array:
    buffer, bits = array.buffers()[1], array.type.bit_width
    data = np.empty(0, np.uint8) if buffer is None else np.frombuffer(buffer, np.uint8)
    words = words_of_decimals(data[: (array.offset + len(array)) * bits // 8], bits)[array.offset :]
    mask = array.is_null().to_numpy(zero_copy_only=False)
    return pa.array(numbers_of_decimals(words, array.type.scale, mask, place), mask=mask)


def _numbers(array: pa.Array, place: Place, nulls: Nulls) -> np.ndarray:
    if pa.types.is_decimal(array.type):
        array = _decimals(array, place)
    kind = array.type
    if array.null_count:
        if nulls.policy == "fill":
            array = pc.fill_null(array, _filler(nulls.value, array.type, place))
        elif pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            array = _as_floats(array, place)
    if not (pa.types.is_primitive(array.type) or pa.types.is_boolean(array.type)):
        raise type_error(place.name, f"expected numbers, times or text, got type {kind}")
    values: np.ndarray = array.to_numpy(zero_copy_only=False)
    if values.dtype.kind == "O":
        raise type_error(place.name, f"expected a column with a NumPy dtype, got type {kind}")
    return values


def _leaf(array: pa.Array, place: Place, nulls: Nulls) -> Column:
    array = plain_array(array, place.name)
    kind = array.type
    if nulls.policy == "refuse" and (nulls.word is None or not holds_words(kind)):
        _refuse_nulls(place, array, nulls.why)
    if extension_name(kind) == _TENSOR:
        return _tensors(array, place, nulls)
    if pa.types.is_fixed_size_list(kind):
        _refuse_nulls(place, array, "nothing stands for a list of fixed size")
        inner = _leaf(array.flatten(), place.map_rows(lambda i: i // kind.list_size), nulls)
        values = inner.values.reshape(len(array), kind.list_size, *inner.values.shape[1:])
        return replace(inner, values=values)
    if pa.types.is_dictionary(kind) and not _is_text(kind.value_type):
        return _leaf(array.dictionary_decode(), place, nulls)
    if holds_words(kind):
        return _strings(array, place, nulls)
    if pa.types.is_null(kind):
        array = array.cast(pa.float64())
    return Column(_numbers(array, place, nulls), zone=getattr(array.type, "tz", None))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def holds_words(kind: pa.DataType) -> bool:
    """Text, or a dictionary of text."""
    if pa.types.is_dictionary(kind):
        return holds_words(kind.value_type)
    return _is_text(kind) or _is_view(kind)


def _is_view(kind: pa.DataType) -> bool:
    return bool(getattr(pa.types, "is_string_view", lambda _: False)(kind))


def _whole_array(array: pa.Array | pa.ChunkedArray, name: str) -> pa.Array:
    """One array from the chunks, with its offsets, ids and texts checked."""
    try:
        array.validate(full=True)
    except pa.ArrowException as wrong:
        raise value_error(name, f"not a valid Arrow array: {wrong}") from None
    if isinstance(array, pa.ChunkedArray):
        array = _one_chunk(array) if array.num_chunks != 1 else array.chunk(0)
        if isinstance(array, pa.ChunkedArray):  # zero chunks, or more than one chunk can hold
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    return array


def _one_chunk(array: pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    try:
        return array.unify_dictionaries().combine_chunks()
    except pa.ArrowInvalid:  # Arrow unifies no dictionaries that hold a null
        array = array.cast(_map_leaves(array.type, _large_text))
        return array.cast(without_dictionaries(array.type)).combine_chunks()


def without_dictionaries(kind: pa.DataType) -> pa.DataType:
    """The type of the same values, without dictionaries."""
    return _map_leaves(kind, lambda leaf: leaf.value_type if pa.types.is_dictionary(leaf) else leaf)


def _map_leaves(kind: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The type with other types in its lists and structs."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_map_leaves(field.type, change)) for field in kind])
    if pa.types.is_fixed_size_list(kind):
        inner = kind.value_field.with_type(_map_leaves(kind.value_type, change))
        return pa.list_(inner, kind.list_size)
    if _is_list(kind):
        return pa.large_list(kind.value_field.with_type(_map_leaves(kind.value_type, change)))
    return change(kind)


def columns_of(
    array: pa.Array | pa.ChunkedArray, name: str, nulls: Nulls = _REFUSED, first_row: int = 0
) -> dict[str, Column]:
    """The columns in one Arrow column: one, or one for each field of a struct, however deep the lists."""
    if not isinstance(array, (pa.Array, pa.ChunkedArray)):
        raise instance_error("array", "a pyarrow Array or ChunkedArray", array)
    if not isinstance(nulls, Nulls):
        raise type_error("nulls", f"expected Nulls, got {short(nulls)}")
    if not isinstance(name, str):
        raise type_error("name", f"expected a string, got {short(name)}")
    return _columns(_whole_array(array, name), Place(name, lambda i: first_row + i), nulls)


def _sequence_of(bounds: npt.NDArray[np.int64], i: int) -> int:
    return int(np.searchsorted(bounds, i, "right"))


def _columns(array: pa.Array, place: Place, nulls: Nulls) -> dict[str, Column]:
    levels: list[Level] = []
    all_nulls, nulls = nulls, nulls.for_key(place.name)
    array = plain_array(array, place.name)
    if pa.types.is_dictionary(array.type) and pa.types.is_nested(array.type.value_type):
        array = plain_array(array.dictionary.take(array.indices), place.name)
    while _is_list(array.type):
        array, level = _unlist(array, place, nulls)
        array = plain_array(array, place.name)
        levels.append(level)
        place = place.map_rows(partial(_sequence_of, level.bounds))
    if not pa.types.is_struct(array.type):
        leaf = _leaf(array, place, nulls)
        return {place.name: replace(leaf, levels=tuple(levels))}
    if nulls.policy == "refuse":
        _refuse_nulls(place, array, nulls.why)
    out: dict[str, Column] = {}
    for field, part in zip(array.type, array.flatten(), strict=True):
        inner = Place(f"{place.name}{FIELD}{field.name}", place.row_of)
        for key, column in _columns(part, inner, all_nulls).items():
            if key in out:
                raise value_error(place.name, f"two of its fields have the name {key!r}")
            out[key] = replace(column, levels=(*levels, *column.levels))
    return out
