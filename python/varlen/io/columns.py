"""Nested lists and arrays to flat columns under shared levels."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, as_int, check_key, new_words, refuse_mask, vocabularies_of
from varlen.backends.nested import first_leaf
from varlen.errors import (
    as_record,
    error_of,
    instance_error,
    overflow_error,
    row_error,
    type_error,
    value_error,
)
from varlen.io.dtypes import cast_exactly, kind_of, row_of
from varlen.io.row_ids import row_ids_error
from varlen.io.schema import encode_strings, id_dtype, make_metadata
from varlen.io.time_texts import are_moments, time_of

if TYPE_CHECKING:
    from varlen.backends.values import DTypes


__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]

RESERVED = ("bounds", "mask")

# As deep as the core reads lists.
_MAX_DEPTH = 64

_LONGEST = datetime.timedelta(microseconds=2**63 - 1)


def check_names(names: Sequence[str], argument: str) -> None:
    for name in names:
        check_key(name, argument)
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise value_error(argument, f"unpaired surrogate in the key {name!r}")
    clashes = set(RESERVED) & set(names)
    if clashes:
        raise value_error(
            "",
            f"Reserved meta-names {sorted(clashes)} cannot be used as user tensor names; they collide with "
            "internal ragged-structure tensors.",
        )


class ColumnOptions:
    """Options for columns from raw values. `first_words` gives the first words of a key's vocabulary.

    `nulls`: None among numbers without a schema is NaN, and lists may have no rows.
    """

    def __init__(
        self,
        schema: Mapping[str, Any] | None = None,
        narrow: bool | None = None,
        trailing_dims: Mapping[str, int | tuple[int, ...]] | None = None,
        vocabularies: Mapping[str, Sequence[str]] | None = None,
        row_ids: str | None = None,
        first_words: Callable[[str], Sequence[str]] = new_words,
        nulls: bool = False,
    ) -> None:
        self.first_words = first_words
        self.nulls = nulls
        check_names(list(schema or {}), "schema")
        self.schema = {key: _check_dtype(key, dtype) for key, dtype in (schema or {}).items()}
        self.narrow = narrow
        self.trailing = {
            key: n if isinstance(n, tuple) else (-1,) * as_int(n, f"trailing_dims of {key!r}")
            for key, n in (trailing_dims or {}).items()
        }
        self.trailing_dims = {key: len(sizes) for key, sizes in self.trailing.items()}
        self.row_ids = row_ids
        self.vocabularies = vocabularies_of(vocabularies)

    def narrows(self, value: object) -> bool:
        """Whether numbers get the smallest dtype that holds them: by default those of lists alone."""
        if self.narrow is not None:
            return self.narrow
        leaf = first_leaf(value)
        return not isinstance(leaf, np.ndarray) or leaf.dtype.kind == "O"


def _check_dtype(key: str, dtype: DTypes | None) -> Any:
    """The dtype as it was given, once NumPy knows it; `str`, for any text, asks for a vocabulary."""
    return str if as_dtype(dtype, f"schema: key {key!r}").kind in "UT" else dtype


def build_joint(raw: Mapping[str, object], options: ColumnOptions, argument: str) -> _core.Joint:
    """The columns of nested lists and arrays by their keys; inferred dtypes go into `options.schema`."""
    check_names(list(raw), argument)
    names: list[str] = []
    dims: list[int] = []
    values: list[Array] = []
    levels: list[_core.Level] = []
    level_keys: list[str] = []  # the key that each level was first seen in
    count = -1
    for key, value in raw.items():
        flat, own = build_column(key, value, options)
        rows = len(own[0]) if own else len(flat)
        if count >= 0 and rows != count:
            if own and levels:
                check_nesting(levels[0], own[0], 1, key, level_keys[0])
            raise value_error(
                "", f"Inconsistent lengths! {key} has {rows} rows at dim 0, {names[0]} has {count}"
            )
        count = rows
        for number, (have, new) in enumerate(zip(levels, own, strict=False), start=1):
            check_nesting(have, new, number, key, level_keys[number - 1])
        level_keys += [key] * (len(own) - len(levels))
        levels += own[len(levels) :]
        names.append(key)
        dims.append(len(own))
        values.append(flat)
    metadata = _metadata(options, dict(zip(names, dims, strict=True)))
    return _core.Joint(names, dims, values, levels, count, metadata)


def check_nesting(first: _core.Level, level: _core.Level, number: int, key: str, others: str) -> None:
    """Refuse a key whose level differs from an earlier key's; the text names both and the difference."""
    if first == level:
        return
    prefix = f"Inconsistent bounds tensors! {first.bounds} vs. {level.bounds}"
    if len(first) != len(level):
        raise value_error(
            "", f"{prefix}: level {number} has {len(level)} rows in {key!r} and {len(first)} in {others!r}"
        )
    row = int((first.lengths != level.lengths).argmax())
    raise value_error(
        "",
        f"{prefix}: row {row} of level {number} has length {level.lengths[row]} in {key!r} "
        f"and {first.lengths[row]} in {others!r}",
        row=row,
    )


def _metadata(options: ColumnOptions, dims: Mapping[str, int]) -> dict[str, Any] | None:
    for key in (*options.vocabularies, *options.trailing_dims):
        if key not in dims:
            raise error_of(KeyError, "", f"{key!r} is not among the keys {sorted(dims)}")
    if options.row_ids is not None and dims.get(options.row_ids) != 0:
        raise row_ids_error(options.row_ids)
    return make_metadata(options.vocabularies, options.row_ids)


def infer_dtype(vals: Sequence[object]) -> Any:
    if len(vals) == 0:
        raise value_error("", "Cannot infer dtype from empty values", "provide an explicit `schema=`.")
    try:
        return _core.from_lists(list(vals), 0, None, True, name="vals")[0].dtype.type
    except TypeError as error:
        raise value_error("", "Vals must all be ints, floats, or bools") from error
    except OverflowError:  # an integer beside floats that rounding would change: they are floats all the same
        return np.float32


def build_column(key: str, value: object, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    """Flat values and levels of one key; an inferred dtype goes into `options.schema`.

    A Ragged, recognized by its `values` and `levels`, keeps its nesting, and arrays keep their dtype; only
    nested lists are inspected.
    """
    refuse_mask(value, key)
    if hasattr(value, "values") and hasattr(value, "levels"):
        flat, levels = _from_ragged(key, value, options)
    elif type(value).__module__.startswith("pyarrow."):
        flat, levels = _from_arrow(key, value, options)
    else:
        flat, levels = _from_nested(key, _as_arrays(key, value), options)
    if key not in options.schema:
        options.schema[key] = flat.dtype.type if flat.dtype.kind in "biufc" else flat.dtype
    return flat, levels


def without_tensor(key: str, value: Any) -> Any:
    """The value; a tensor, or an array of another library, as an array that shares its memory."""
    if isinstance(value, np.ndarray) or not hasattr(value, "__dlpack__"):
        return value
    try:
        return np.asarray(refuse_mask(value, key))
    except (TypeError, RuntimeError) as error:  # on another device, or of a dtype NumPy lacks
        raise type_error(key, f"values of {type(value).__name__} cannot become an array: {error}") from None


def _as_arrays(key: str, value: Any) -> Any:
    """The value, or nested lists that begin with a tensor, with arrays in place of tensors."""
    if not isinstance(value, (list, tuple)):
        return without_tensor(key, value)
    leaf = first_leaf(value)
    is_array = isinstance(leaf, np.ndarray) or hasattr(leaf, "levels") or not hasattr(leaf, "__dlpack__")
    return value if is_array or not len(leaf.shape) else [_as_arrays(key, item) for item in value]


def _from_ragged(key: str, ragged: Any, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    flat, levels = np.asarray(without_tensor(key, ragged.values)), list(ragged.levels)
    dim_count = options.trailing_dims.get(key)
    if dim_count is not None and dim_count != flat.ndim - 1:
        raise value_error(key, f"trailing_dims says {dim_count}, its rows have {flat.ndim - 1} dims")
    return array_column(key, flat, options, levels), levels


def _from_arrow(key: str, array: Any, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    """A column of Arrow, whose words get the same ids as words in lists."""
    from varlen.interop.arrow import Nulls, columns_of

    columns = columns_of(array, key, Nulls(why="fill it first"))
    if columns.keys() != {key}:
        raise value_error(key, f"a struct of {', '.join(columns) or 'no field'}", "give each field as a key")
    column = columns[key]
    if column.vocabulary is not None:
        return _from_nested(key, array.to_pylist(), options)
    flat = array_column(key, column.values, options, column.levels)
    return fold_levels(key, flat, column.levels, options.trailing.get(key, ()))


def _from_nested(key: str, value: object, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    if not hasattr(value, "__len__") or not hasattr(value, "__getitem__") or isinstance(value, Mapping):
        raise instance_error(key, "a list, a tuple or an array", value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        raise type_error(key, "expected a list, a tuple or an array, got a scalar")
    if len(value) == 0 and not isinstance(value, np.ndarray):
        if options.nulls:
            has_words = options.schema.get(key) is str or key in options.vocabularies
            flat = (_from_strings if has_words else _nested)(key, [[]], options)[0]
            return flat.reshape(0, *options.trailing.get(key, ())), []
        raise value_error(
            "", f"Empty list found for key {key}! Nested Ragged Tensors does not support empty tensors."
        )
    leaf = first_leaf(value)
    is_text = key not in options.schema and (
        _holds_text(leaf) if isinstance(leaf, np.ndarray) else isinstance(leaf, str)
    )
    if isinstance(value, np.ndarray) and (value.ndim > 1 or value.size == 0 or value.dtype.kind in "mMUT"):
        return array_column(key, value, options), []
    row_shape = options.trailing.get(key, ())
    if options.schema.get(key) is str or key in options.vocabularies or is_text:
        return fold_levels(key, *_from_strings(key, value, options), row_shape)
    if row_shape and isinstance(leaf, np.ndarray):
        return _blocks(key, value, options)
    if key not in options.schema and _holds_times(leaf):
        return fold_levels(key, *_from_times(key, value, options), row_shape)
    if isinstance(value[0], (list, tuple, np.ndarray)) or len(getattr(value[0], "shape", ())):
        return fold_levels(key, *_nested(key, value, options), row_shape)
    return fold_levels(key, _scalars(key, value, options), [], row_shape)


def fold_levels(
    key: str, flat: Array, levels: Sequence[_core.Level], row_shape: Sequence[int]
) -> tuple[Array, list[_core.Level]]:
    """The innermost levels as fixed dims of these sizes; -1 takes the size of the first list.

    Raises ValueError for too few levels, or a list of another length, whose row it names.

    >>> fold_levels("x", np.arange(4), [_core.Level([2]), _core.Level([2, 2])], (2,))[0].tolist()
    [[0, 1], [2, 3]]
    """
    count = len(levels) - len(row_shape)
    if not row_shape or flat.ndim > 1:
        return flat, list(levels)
    if count < 0:
        raise value_error(
            key, f"expected {len(row_shape)} fixed dims, of arrays or lists; there are {len(levels)} levels"
        )
    sizes = []
    for number, size in enumerate(row_shape, start=count):
        lengths = levels[number].lengths
        size = size if size >= 0 else int(lengths[0]) if len(lengths) else 0
        wrong = lengths != size
        if wrong.any():
            index = int(wrong.argmax())
            rest = f", but its fixed dims say {size}"
            raise row_error(key, f"a list of {lengths[index]}", row_of(levels[:number], index), rest)
        sizes.append(size)
    return flat.reshape(len(levels[count]), *sizes), list(levels[:count])


def _holds_text(array: Array) -> bool:
    if array.dtype.kind == "O":
        return array.size > 0 and isinstance(array.reshape(-1)[0], str)
    return array.dtype.kind in "UT"


def _holds_times(leaf: object) -> bool:
    if isinstance(leaf, np.ndarray):
        return leaf.dtype.kind in "mM"
    return isinstance(leaf, (np.datetime64, np.timedelta64))


def cast_array(key: str, array: Array, options: ColumnOptions) -> Array:
    """Flat rows in the dtype of the schema, if it names one; strings as ids."""
    dtype = options.schema.get(key)
    if _holds_text(array) or dtype is str:
        return array_column(key, array, options)
    return _with_unit(key, array if dtype is None else _core.cast(array, dtype))


def array_column(key: str, array: Array, options: ColumnOptions, levels: Sequence[_core.Level] = ()) -> Array:
    """Rows of an array, with any fixed dims, in the dtype of the key."""
    dtype = options.schema.get(key)
    if dtype is str or key in options.vocabularies or (dtype is None and _holds_text(array)):
        return _as_ids(key, array, options)
    own = None if dtype is None else np.dtype(dtype)
    if own is not None and (array.dtype.kind in "mM" or own.kind in "mM"):
        if array.dtype.kind in "OUT":
            return _times_of(key, array.reshape(-1).tolist(), own, levels).reshape(array.shape)
        return _with_unit(key, cast_exactly(key, array, own, levels=levels))
    if dtype is None and (array.size == 0 or array.dtype.kind not in "biufO"):
        is_wide = options.narrows(array) and array.dtype.kind == "f"
        return _with_unit(key, array.astype(np.float32) if is_wide else array)
    rows: Array = _scalars(key, array.reshape(-1), options).reshape(array.shape)
    return rows


def _from_times(key: str, value: Any, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    depth = -1 if isinstance(value[0], (list, tuple, np.ndarray)) else 0
    if options.nulls:
        value = _with_null(value, np.array("NaT", first_leaf(value).dtype)[()])
    try:
        flat, levels = _core.from_lists(_without_empty_arrays(value), depth, None, False, name=key)
    except TypeError as error:
        raise value_error("", f"Failed to parse {key} as a nested list of times!") from error
    return _with_unit(key, flat), levels


def _with_unit(key: str, times: Array) -> Array:
    if times.dtype.kind in "mM" and np.datetime_data(times.dtype)[0] == "generic":
        raise type_error(key, f"times need a unit, such as {times.dtype}[ns]")
    return times


def _without_empty_arrays(value: object) -> Any:
    """The same lists with empty lists in place of empty arrays, which then do not decide the dtype."""
    if isinstance(value, np.ndarray):
        return value if len(value) else []
    if (
        not isinstance(value, (list, tuple))
        or not value
        or not isinstance(value[0], (list, tuple, np.ndarray))
    ):
        return value
    return [_without_empty_arrays(item) for item in value]


def _has_empty_array(value: object, depth: int) -> bool:
    if isinstance(value, np.ndarray):
        return len(value) == 0
    return (
        depth > 0 and isinstance(value, (list, tuple)) and any(_has_empty_array(v, depth - 1) for v in value)
    )


def _scalars(key: str, value: Any, options: ColumnOptions) -> Array:
    dtype = options.schema.get(key)
    items = value if isinstance(value, (list, np.ndarray)) else list(value)
    try:
        return _numbers(key, items, 0, options)[0]
    except (TypeError, ValueError) as error:
        if dtype is not None and np.dtype(dtype).kind in "mM":
            return _times_of(key, items, np.dtype(dtype))
        if isinstance(error, ValueError):
            raise
        if dtype is None:
            nulls = [i for i, item in enumerate(items) if item is None]
            if nulls and any(isinstance(item, (list, tuple, np.ndarray)) for item in items):
                raise row_error(key, "null", nulls[0], " in the place of a list") from None
            if nulls and _takes_nulls(items, options):
                return _scalars(key, [np.nan if item is None else item for item in items], options)
            raise value_error("", "Vals must all be ints, floats, or bools") from error  # which has the place
        kind = kind_of(np.dtype(dtype))
        if kind == "f":
            return _numbers(key, [np.nan if item is None else item for item in items], 0, options)[0]
        if kind in "iub":
            raise
        return np.array(items, dtype=dtype)


def _times_of(key: str, items: Any, dtype: np.dtype, levels: Sequence[_core.Level] = ()) -> Array:
    """Texts and Python's times in a unit, which must hold them; NaN alone is as None."""
    if all(item is None or (isinstance(item, (float, np.floating)) and item != item) for item in items):
        return np.full(len(items), "NaT", dtype)
    with contextlib.suppress(TypeError, ValueError):  # NumPy reads texts faster; others are named below
        if dtype.kind == "M" and are_moments(items):
            return cast_exactly(key, np.array(items, "M8"), dtype)
    check_durations(key, items)
    times: list[Any] = list(items)
    zones: dict[int, str] = {}
    for i, item in enumerate(items):
        try:
            if isinstance(item, str):
                times[i], zone = time_of(item, dtype)
                zones[zone] = item
            elif not _is_time(item, dtype):
                raise value_error("", f"expected times, got {item!r}")
        except ValueError:
            rest = f", but the schema says {dtype}"
            raise row_error(key, f"expected times, got {item!r}", row_of(levels, i), rest) from None
    if {0, 1} <= zones.keys():
        raise value_error(key, f"{zones[1]!r} has a zone and {zones[0]!r} has none")
    own = np.array(times, f"{dtype.kind}8")  # of the unit that holds all of them
    return cast_exactly(key, own, dtype, levels=levels)


def check_durations(key: str, items: Any) -> None:
    """Refuse a timedelta whose microseconds do not fit 64 bits: NumPy would wrap them."""
    for item in items:
        if isinstance(item, datetime.timedelta) and not -_LONGEST <= item <= _LONGEST:
            raise overflow_error(key, f"{item!r} does not fit timedelta64[us]")


def _is_time(item: object, dtype: np.dtype) -> bool:
    """Whether an item is None or of this kind of time: not a number, which NumPy takes for one."""
    kind = getattr(getattr(item, "dtype", None), "kind", None)
    time_type = datetime.date if dtype.kind == "M" else datetime.timedelta
    return item is None or (isinstance(item, time_type) if kind is None else kind == dtype.kind)


def _numbers(key: str, value: object, depth: int, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    dtype = options.schema.get(key)
    try:
        return _core.from_lists(value, depth, dtype, dtype is None and options.narrows(value), name=key)
    except ValueError as error:
        if getattr(error, "argument", "").startswith((key, f"{key}[")):
            raise
        reason = vars(as_record(error, ValueError))["reason"]
        raise value_error("", f"{reason} (key {key!r})") from None


def _nested(key: str, value: object, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    is_inferred = options.schema.get(key) is None
    if not is_inferred and np.dtype(options.schema[key]).kind in "mM":
        with contextlib.suppress(TypeError, ValueError):  # unless they are numbers
            return _numbers(key, value, -1, options)
        return _nested_times(key, value, np.dtype(options.schema[key]))
    try:
        if is_inferred and first_leaf(value) is None and _has_empty_array(value, _MAX_DEPTH):
            flat, levels = _core.from_lists(value, -1, None, False, name=key)  # nothing else tells the dtype
            return array_column(key, flat, options), levels
        if is_inferred and isinstance(first_leaf(value), np.ndarray):
            return _numbers(key, _without_empty_arrays(value), -1, options)
        try:
            flat, levels = _numbers(key, value, -1, options)
        except TypeError:
            takes_nulls = _takes_nulls(value, options)
            if not (takes_nulls if is_inferred else kind_of(np.dtype(options.schema[key])) == "f"):
                raise
            flat, levels = _numbers(key, _with_null(value, np.nan), -1, options)  # as of rows without a level
        if is_inferred and not levels[-1].lengths.all() and _has_empty_array(value, len(levels)):
            return _numbers(key, _without_empty_arrays(value), -1, options)
        return flat, levels
    except (TypeError, ValueError) as error:
        if isinstance(error, ValueError) and getattr(error, "code", "") != "nesting":
            raise  # a dtype that does not hold the numbers
        raise value_error("", f"Failed to parse {key} as a nested list of numbers!") from error


def _nested_times(key: str, value: object, dtype: np.dtype) -> tuple[Array, list[_core.Level]]:
    """Texts, times and None in nested lists, in a unit that must hold them."""
    leaves: list[object] = []
    try:
        levels = _core.from_lists(_places_of(value, leaves), -1, None, False, name=key)[1]
        return _times_of(key, leaves, dtype, levels), levels
    except (TypeError, ValueError) as error:
        if getattr(error, "argument", "") == key:
            raise
        raise value_error("", f"Failed to parse {key} as a nested list of times!") from error


def _places_of(value: object, leaves: list[object]) -> Any:
    """The same lists with 0 in place of each value, which goes into `leaves`."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_places_of(item, leaves) for item in value]
    leaves.append(value)
    return 0


def _takes_nulls(value: object, options: ColumnOptions) -> bool:
    """Whether None is NaN: not beside true and false, which would become numbers."""
    return options.nulls and not isinstance(first_leaf(value), (bool, np.bool_))


def _with_null(value: object, null: object) -> Any:
    """The same lists with `null` in place of None among values; None in place of a list is refused later."""
    if not isinstance(value, (list, tuple)):
        return value
    is_leaf = not any(isinstance(item, (list, tuple, np.ndarray)) for item in value)
    return [null if item is None and is_leaf else _with_null(item, null) for item in value]


def _from_strings(key: str, value: object, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    """Strings as ids of the given vocabulary, or of a new one in order of first appearance."""
    id_map = _known_words(key, options)
    flat, levels = _core.from_words(list(value) if isinstance(value, np.ndarray) else value, id_map, name=key)
    return _with_words(key, flat, id_map, options), levels


def _as_ids(key: str, array: Array, options: ColumnOptions) -> Array:
    """The ids of an array of words; ids of a given vocabulary as they are."""
    if key in options.vocabularies and array.dtype.kind in "iu":
        return _check_ids(key, array, options)
    id_map = _known_words(key, options)
    if array.size and not _holds_text(array):
        _core.from_words(array.reshape(-1).tolist(), id_map, name=key)  # names what is no text
    return _with_words(key, encode_strings(array, id_map), id_map, options)


def _known_words(key: str, options: ColumnOptions) -> dict[str, int]:
    words = options.vocabularies.get(key)
    return {word: i for i, word in enumerate(options.first_words(key) if words is None else words)}


def _with_words(key: str, ids: Array, id_map: dict[str, int], options: ColumnOptions) -> Array:
    """The ids in the smallest dtype for their words; the words go into `options.vocabularies`."""
    if key in options.vocabularies and len(id_map) > (count := len(options.vocabularies[key])):
        raise value_error(key, f"{list(id_map)[count]!r} is not in its vocabulary of {count} words")
    options.vocabularies[key] = list(id_map)
    dtype = id_dtype(len(id_map))
    options.schema[key] = dtype.type
    return ids.astype(dtype)


def _check_ids(key: str, ids: Array, options: ColumnOptions) -> Array:
    count = len(options.vocabularies[key])
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < count:
        raise value_error(key, f"ids {ids.min()} to {ids.max()}, for a vocabulary of {count} words")
    return ids


def _blocks(key: str, value: Any, options: ColumnOptions) -> tuple[Array, list[_core.Level]]:
    """Nested lists that end in arrays, each of `trailing` fixed dimensions, or of those and one ragged."""
    dim_count = options.trailing_dims[key]
    items = [value]
    lengths: list[list[int]] = []
    while items and isinstance(items[0], (list, tuple)):
        if not all(isinstance(item, (list, tuple)) for item in items):
            raise value_error("", f"Failed to parse {key} as a nested list of arrays!")
        lengths.append([len(item) for item in items])
        items = [part for item in items for part in item]
    arrays = [np.asarray(refuse_mask(item, key)) for item in items]
    dims = arrays[0].ndim if arrays else dim_count
    for i, array in enumerate(arrays):
        if array.ndim not in (dim_count, dim_count + 1) or array.ndim != dims:
            raise value_error(
                key,
                f"expected arrays of {dim_count} fixed dims, or of those and a ragged one, all alike; "
                f"array {i} has {array.ndim}",
            )
        shape = array.shape[dims - dim_count :]
        if shape != arrays[0].shape[dims - dim_count :]:
            raise value_error(key, f"array {i} has rows of shape {shape}, unlike the first")
    if dims > dim_count:
        lengths.append([len(array) for array in arrays])
        flat = _core.list2ragged(arrays)[0]  # in the dtype that holds the values of all
    elif arrays:
        flat = _core.list2ragged([array[None] for array in arrays])[0]
    else:
        raise value_error(key, f"expected arrays of {dim_count} fixed dims, there is none")
    return array_column(key, flat, options), [
        _core.Level.from_lengths(np.array(counts, np.int64)) for counts in lengths[1:]
    ]
