"""Nested lists and arrays to the flat columns of a joint dict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, as_int, unmasked, words_of

__all__: list[str] = []

Array = np.ndarray[Any, Any]

RESERVED = ("bounds", "mask")


def check_names(names: Sequence[str], argument: str) -> None:
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{argument}: keys are strings, got {name!r}")
        if not name:
            raise ValueError(f"{argument}: a key has no name, which no file could give back")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"{argument}: half a character in the key {name!r}")
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
        self.schema = {key: _dtype_of(key, dtype) for key, dtype in (schema or {}).items()}
        self.narrow = narrow
        self.trailing_dims = {
            key: as_int(n, f"trailing_dims of {key!r}") for key, n in (trailing_dims or {}).items()
        }
        self.row_ids = row_ids
        self.words = {key: words_of(key, words) for key, words in (vocabularies or {}).items()}


def _dtype_of(key: str, dtype: Any) -> Any:
    """The dtype as it was given, once NumPy knows it; `str` asks for a vocabulary."""
    as_dtype(dtype, f"schema: key {key!r}")
    return dtype


def from_raw(raw: Mapping[str, Any], options: Options) -> tuple[_core.Joint, dict[str, Any]]:
    """The view and the schema of raw values; see the constructor for what is refused."""
    check_names(list(raw), "raw_tensors")
    names: list[str] = []
    dims: list[int] = []
    values: list[Array] = []
    levels: list[_core.Level] = []
    makers: list[str] = []  # the key that each level was first seen in
    count = -1
    for key, value in raw.items():
        flat, own = column(key, value, options)
        rows = len(own[0]) if own else len(flat)
        if count >= 0 and rows != count:
            if own and levels:
                check_nesting(levels[0], own[0], 1, key, makers[0])
            raise ValueError(f"Inconsistent lengths! {key} has {rows} rows at dim 0, {names[0]} has {count}")
        count = rows
        for number, (have, new) in enumerate(zip(levels, own, strict=False), start=1):
            check_nesting(have, new, number, key, makers[number - 1])
        makers += [key] * (len(own) - len(levels))
        levels += own[len(levels) :]
        names.append(key)
        dims.append(len(own))
        values.append(flat)
    carried = _about(options, dict(zip(names, dims, strict=True)))
    return _core.Joint(names, dims, values, levels, count, carried), options.schema


def check_nesting(have: _core.Level, new: _core.Level, number: int, key: str, others: str) -> None:
    """Refuses a level of a key that is not the one that is there: says which, and where they part."""
    if have == new:
        return
    both = f"Inconsistent bounds tensors! {have.bounds} vs. {new.bounds}"
    if len(have) != len(new):
        raise ValueError(
            f"{both}: level {number} has {len(new)} rows in {key!r} and {len(have)} in {others!r}"
        )
    row = int((have.lengths != new.lengths).argmax())
    raise ValueError(
        f"{both}: row {row} of level {number} has length {new.lengths[row]} in {key!r} "
        f"and {have.lengths[row]} in {others!r}"
    )


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
    try:
        return _core.from_lists(list(vals), 0, None, True, name="vals")[0].dtype.type
    except TypeError as error:
        raise ValueError("Vals must all be ints, floats, or bools") from error


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
    unmasked(value, key)
    if not hasattr(value, "__len__") or not hasattr(value, "__getitem__") or isinstance(value, Mapping):
        raise TypeError(f"{key}: expected a list, a tuple or an array, got {type(value).__name__}")
    if isinstance(value, np.ndarray) and value.ndim == 0:
        raise TypeError(f"{key}: expected a list, a tuple or an array, got a scalar")
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
        return _numbers(key, items, 0, options)[0]
    except TypeError as error:
        if dtype is None:
            raise ValueError("Vals must all be ints, floats, or bools") from error  # which has the place
        kind = np.dtype(dtype).kind
        if kind == "f":
            return _numbers(key, [np.nan if item is None else item for item in items], 0, options)[0]
        if kind in "iub":
            raise
        return np.array(items, dtype=dtype)  # text as dates, say


def _numbers(key: str, value: Any, depth: int, options: Options) -> tuple[Array, list[_core.Level]]:
    dtype = options.schema.get(key)
    try:
        return _core.from_lists(value, depth, dtype, dtype is None and options.narrow, name=key)
    except ValueError as error:
        if str(error).startswith((f"{key}[", f"{key}:")):
            raise
        raise ValueError(f"{error} (key {key!r})") from None


def _cast(key: str, flat: Array, options: Options) -> Array:
    """Rows with fixed dims in the dtype that the key is to have."""
    cast: Array = _scalars(key, flat.reshape(-1), options).reshape(flat.shape)
    return cast


def _nested(key: str, value: Any, options: Options) -> tuple[Array, list[_core.Level]]:
    try:
        return _numbers(key, value, -1, options)
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
    arrays = [np.asarray(unmasked(item, key)) for item in items]
    dims = arrays[0].ndim if arrays else trailing
    for i, array in enumerate(arrays):
        if array.ndim not in (trailing, trailing + 1) or array.ndim != dims:
            raise ValueError(
                f"{key}: expected arrays of {trailing} fixed dims, or of those and a ragged one, all alike; "
                f"array {i} has {array.ndim}"
            )
        shape = array.shape[dims - trailing :]
        if shape != arrays[0].shape[dims - trailing :]:
            raise ValueError(f"{key}: array {i} has rows of shape {shape}, unlike the first")
    if dims > trailing:
        lengths.append([len(array) for array in arrays])
        flat = np.concatenate(arrays)
    elif arrays:
        flat = np.stack(arrays)
    else:
        raise ValueError(f"{key}: expected arrays of {trailing} fixed dims, there is none")
    return _cast(key, flat, options), [
        _core.Level.from_lengths(np.array(counts, np.int64)) for counts in lengths[1:]
    ]
