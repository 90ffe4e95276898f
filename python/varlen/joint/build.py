"""Nested lists and arrays to the flat columns of a joint dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core

__all__: list[str] = []

Array = np.ndarray[Any, Any]

RESERVED = ("bounds", "mask")


def check_names(names: Sequence[str]) -> None:
    reserved = set(RESERVED) & set(names)
    if reserved:
        raise ValueError(
            f"Reserved meta-names {sorted(reserved)} cannot be used as user tensor names; they collide with "
            "internal ragged-structure tensors."
        )


class Options:
    """How raw values become columns: what the constructor was told."""

    def __init__(
        self,
        schema: Mapping[str, Any] | None = None,
        narrow: bool = True,
        trailing_dims: Mapping[str, int] | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        row_ids: str | None = None,
    ) -> None:
        self.schema = dict(schema or {})
        self.narrow = narrow
        self.trailing_dims = dict(trailing_dims or {})
        self.row_ids = row_ids
        self.words = {key: [str(word) for word in words] for key, words in (vocabularies or {}).items()}


def from_raw(raw: Mapping[str, Any], options: Options) -> tuple[_core.Joint, dict[str, Any]]:
    """The view and the schema of raw values; see the constructor for what is refused."""
    check_names(list(raw))
    names: list[str] = []
    dims: list[int] = []
    values: list[Array] = []
    levels: list[_core.Level] = []
    count = -1
    for key, value in raw.items():
        flat, own = column(key, value, options)
        rows = len(own[0]) if own else len(flat)
        if count >= 0 and rows != count:
            raise ValueError(
                f"Inconsistent lengths! {key} has {rows} rows at dim 0, {names[0]} has {count}"
                if not own or not levels
                else f"Inconsistent bounds tensors! {levels[0].bounds} vs. {own[0].bounds}"
            )
        count = rows
        for have, new in zip(levels, own, strict=False):
            if have != new:
                raise ValueError(f"Inconsistent bounds tensors! {have.bounds} vs. {new.bounds}")
        levels += own[len(levels) :]
        names.append(key)
        dims.append(len(own))
        values.append(flat)
    carried = _about(options, dict(zip(names, dims, strict=True)))
    return _core.Joint(names, dims, values, levels, count, carried), options.schema


def _about(options: Options, dims: Mapping[str, int]) -> dict[str, Any] | None:
    for key in (*options.words, *options.trailing_dims):
        if key not in dims:
            raise KeyError(f"{key!r} is not among the keys {sorted(dims)}")
    if options.row_ids is not None and dims.get(options.row_ids) != 0:
        raise ValueError(f"row_ids: {options.row_ids!r} is not a key of dim 0")
    return about(options.words, options.row_ids)


def infer_dtype(vals: Sequence[Any]) -> Any:
    if len(vals) == 0:
        raise ValueError("Cannot infer dtype from empty values; provide an explicit `schema=`.")
    return _scalars("vals", list(vals), Options()).dtype.type


def about(vocabularies: Mapping[str, Sequence[str]] | None, row_ids: str | None) -> dict[str, Any] | None:
    """What a view carries beside its columns."""
    out: dict[str, Any] = {}
    if vocabularies:
        out["vocabularies"] = {key: tuple(words) for key, words in vocabularies.items()}
    if row_ids is not None:
        out["row_ids"] = row_ids
    return out or None


def column(key: str, value: Any, options: Options) -> tuple[Array, list[_core.Level]]:
    """Flat values and levels of one key; its dtype goes into `options.schema` where it was inferred."""
    if len(value) == 0:
        raise ValueError(
            f"Empty list found for key {key}! Nested Ragged Tensors does not support empty tensors."
        )
    if options.schema.get(key) is str or key in options.words:
        flat, levels = _words(key, value, options)
    elif options.trailing_dims.get(key, 0) > 0:
        flat, levels = _blocks(key, value, options)
    elif isinstance(value, np.ndarray) and value.ndim > 1:
        flat, levels = _cast(key, value, options), []
    elif isinstance(value[0], (list, tuple, np.ndarray)):
        flat, levels = _nested(key, value, options)
    else:
        flat, levels = _scalars(key, value, options), []
    if key not in options.schema:
        options.schema[key] = flat.dtype.type if flat.dtype.kind in "biufc" else flat.dtype
    return flat, levels


def _scalars(key: str, value: Any, options: Options) -> Array:
    dtype = options.schema.get(key)
    items = value if isinstance(value, (list, np.ndarray)) else list(value)
    try:
        return _core.from_lists(items, 0, dtype, dtype is None and options.narrow, name=key)[0]
    except TypeError:
        if dtype is None:
            raise ValueError("Vals must all be ints, floats, or bools") from None
        return np.array(items, dtype=dtype)  # None becomes NaN


def _cast(key: str, flat: Array, options: Options) -> Array:
    """Rows with fixed dims in the dtype that the key is to have."""
    cast: Array = _scalars(key, flat.reshape(-1), options).reshape(flat.shape)
    return cast


def _nested(key: str, value: Any, options: Options) -> tuple[Array, list[_core.Level]]:
    dtype = options.schema.get(key)
    try:
        return _core.from_lists(value, -1, dtype, dtype is None and options.narrow, name=key)
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError) and ": expected " not in str(error):
            raise  # a dtype that does not hold the numbers
        raise ValueError(f"Failed to parse {key} as a nested list of numbers!") from error


def _words(key: str, value: Any, options: Options) -> tuple[Array, list[_core.Level]]:
    """Strings as their places in the vocabulary: the one that was given, or all words as they come."""
    known = {word: i for i, word in enumerate(options.words.get(key, ()))}
    given = len(known) if key in options.words else -1
    flat, levels = _core.from_words(value, known, name=key)
    if 0 <= given < len(known):
        raise ValueError(f"{key}: {list(known)[given]!r} is not in its vocabulary of {given} words")
    options.words[key] = list(known)
    dtype = np.min_scalar_type(max(len(known) - 1, 0))
    options.schema[key] = dtype.type
    return flat.astype(dtype), levels


def _blocks(key: str, value: Any, options: Options) -> tuple[Array, list[_core.Level]]:
    """Nested lists that end in arrays, each of `trailing` fixed dimensions, or of those and one ragged."""
    trailing = options.trailing_dims[key]
    items = [value]
    lengths: list[list[int]] = []
    while items and isinstance(items[0], (list, tuple)):
        if not all(isinstance(item, (list, tuple)) for item in items):
            raise ValueError(f"Failed to parse {key} as a nested list of arrays!")
        lengths.append([len(item) for item in items])
        items = [part for item in items for part in item]
    arrays = [np.asarray(item) for item in items]
    extra = {array.ndim - trailing for array in arrays} or {0}
    if extra == {1}:
        lengths.append([len(array) for array in arrays])
        flat = np.concatenate(arrays)
    elif extra == {0} and arrays:
        flat = np.stack(arrays)
    else:
        raise ValueError(f"{key}: expected arrays of {trailing} fixed dims, got {sorted(extra)} more")
    return _cast(key, flat, options), [
        _core.Level.from_lengths(np.array(counts, np.int64)) for counts in lengths[1:]
    ]
