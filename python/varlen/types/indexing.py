"""Indexing: NumPy's rules on the first axis and across axes, and what is ragged inside each sequence."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core, tracing
from varlen._core import RaggedBase
from varlen.arguments import as_ints, check_step, index_array, number_in, raise_index
from varlen.backends import backend_of
from varlen.backends.numeric import is_bool
from varlen.backends.values import as_values, is_tensor, like, take
from varlen.errors import as_record, index_error, name_argument, with_fields
from varlen.levels import check_nest, describe_difference, equal_lengths, same_levels
from varlen.ops.gather import boolean_mask, gather, take_items
from varlen.ops.support.inputs import same_kind, whole_numbers
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from varlen._core import Level
    from varlen.types.ragged import Ragged

    Ints = NDArray[np.int64]


subscript = RaggedBase.__getitem__  # that of C, before a tracer is shown another


def get(r: Ragged[Any], key: Any) -> Any:
    """`r[key]`.

    A slice of step 1 shares values, any other choice of sequences copies them.
    """
    kind = type(key)
    if kind is int:
        return row(r, key)
    plain = kind is np.ndarray and key.ndim == 1 and (tracing.is_tracing() or key.dtype.kind in "iub")
    if kind is slice or plain:
        return _take(r, key)
    if kind is list:
        return _take(r, _index(key))
    if isinstance(key, RaggedBase):
        return _by_ragged(r, key)
    if isinstance(key, tuple):
        return _index_levels(r, key)
    if key is Ellipsis:
        return r[:]
    if key is None:
        return add_axes(r, [0])
    i = int_index(key)
    return row(r, i) if i is not None else _pick(r, key)


def row(r: Ragged[Any], i: Any) -> Any:
    """Sequence i, sharing memory."""
    values, inner_levels = backend_of(r._values).gather_row(r._values, r._levels, i)
    return ragged_like(r, values, inner_levels) if inner_levels else values


def _pick(r: Ragged[Any], key: object) -> Ragged[Any]:
    """The sequences of a slice, a mask or integers."""
    return _take(r, key if isinstance(key, slice) else _index(key))


def _index(key: object) -> Any:
    if tracing.is_traced(key):
        return tracing.tensors.as_key(key)
    try:
        return index_array(key)
    except IndexError as error:
        is_nested = isinstance(key, list) and any(isinstance(item, (list, tuple)) for item in key)
        if not is_nested and getattr(key, "ndim", 1) < 2:
            raise
        way = "r[varlen.Ragged.from_list(key)] works inside each sequence, as r.gather and r.boolean_mask"
        raise with_fields(error, advice=way) from None


def _take(r: Ragged[Any], index: slice | np.ndarray[Any, np.dtype]) -> Ragged[Any]:
    result: Ragged[Any] = ragged_like(r, *backend_of(r._values).gather(r._values, r._levels, index))
    return result


def _window(r: Ragged[Any], window: slice, index: object = None) -> Ragged[Any]:
    """A slice of every sequence, or of those of an index."""
    parts = backend_of(r._values).gather_window(r._values, r._levels, window, index)
    result: Ragged[Any] = ragged_like(r, *parts)
    return result


def _by_ragged(r: Ragged[Any], key: Any) -> Any:
    """What a ragged mask keeps, or what ragged integers pick, inside the sequences of the levels above."""
    if is_bool(key._values):
        return boolean_mask(r, key)
    depth = len(key._levels)
    if "int" not in str(key._values.dtype):
        raise index_error(
            "index",
            f"a Ragged of {key._values.dtype} is no index",
            "use bools, as r > 1 gives, or integers; r.boolean_mask(mask) and r.gather(indices) take them",
        )
    if key._values.ndim > 1 or depth > len(r._levels):
        raise index_error(
            "index",
            f"a Ragged of {key.ndim} axes with integers is ambiguous for {r.ndim} axes",
            "use r.gather(indices, axis=, batch_dims=), or index the values",
        )
    try:
        places = _nested_places(key, r._levels[:depth])
        if places is not None:
            outer_levels = (*r._levels[: depth - 1], key._levels[-1])
            return take_items(r, r._values, r._levels[depth:], places, outer_levels)
        return gather(r, _from_end(key, r._levels[depth - 1]), batch_dims=depth)
    except (IndexError, ValueError) as error:
        raise name_argument(error, "index") from None


def _nested_places(key: Any, levels: tuple[Level, ...]) -> Ints | None:
    """The items that ragged integers name; None where one is outside, or a graph is made."""
    units, level = key._levels[-1], levels[-1]
    if tracing.is_tracing() or len(units) != len(level):
        return None
    check_nest(key._levels[:-1], levels[:-1], "index")
    return _core.inner_places(whole_numbers(key._values, "index"), level, units)


def _from_end(key: Any, level: Level) -> Any:
    """Ragged integers after negative ones were counted from the end of the sequence that they pick from."""
    numbers = key._values
    if tracing.is_traced(numbers):
        owners = tracing.as_traced(key._levels[-1]).row_ids
        lengths = tracing.offsets_of(level).diff()
        return same_kind(key, numbers + (numbers < 0) * lengths[owners])
    ids = whole_numbers(numbers, "index")
    units = key._levels[-1]
    if ids.min(initial=0) >= 0 or len(units) != len(level):
        return key
    return same_kind(key, _places(ids, level, units.row_ids))


def _places(ids: Ints, level: Level, sequences: Any) -> Ints:
    """Numbers inside sequences of a level, negative ones counted from the end; none is out of range."""
    sizes = level.lengths[sequences]
    bad = (ids < -sizes) | (ids >= sizes)
    if bad.any():
        ids, sizes, sequences = (part[bad] for part in np.broadcast_arrays(ids, sizes, sequences))
        raise index_error(
            "",
            f"index {ids[0]} is out of range for sequence {sequences[0]} of length {sizes[0]}",
            _way(int(ids[0])),
            row=int(sequences[0]),
            number=int(ids[0]),
        )
    return np.where(ids < 0, ids + sizes, ids)


def inner_places(ids: Ints, level: Level, sequences: Ints) -> Ints:
    """The items that numbers name inside sequences of a level, (n,) of both."""
    places = _core.inner_places(ids, level, sequences)
    return level.offsets[sequences] + _places(ids, level, sequences) if places is None else places


def _way(position: int) -> str:
    """What gives an item of each sequence where some are too short."""
    name = {0: "r.first(empty=...)", -1: "r.last(empty=...)"}.get(position)
    shortest = position if position >= 0 else -position - 1
    keep = f"r[r.lengths > {shortest}] keeps the sequences that have one"
    return f"{name} fills, {keep}" if name else keep


def _index_levels(r: Ragged[Any], key: tuple[Any, ...]) -> Any:
    if len(key) == 2 and type(key[0]) is slice and type(key[1]) is slice and key[0] == slice(None):
        return _window(r, key[1])
    keys = keys_of(key, r.ndim)
    if any(item is None for item in keys):
        return _new_axes(r, keys)
    if any(isinstance(item, RaggedBase) for item in keys):
        are_pairs = len(keys) > 1 and all(_is_ragged_index(item) for item in keys[:2])
        return _ragged_pairs(r, keys) if are_pairs else _ragged_key(r, keys)
    if len(keys) > 1 and _is_pair(keys[0], keys[1]):
        return _pairs(r, keys)
    i = int_index(keys[0])
    if i is not None:
        result = row(r, i)
        return _index_content(result, keys[1:]) if len(keys) > 1 else result
    if len(keys) == 1:
        return r[keys[0]]
    if is_all(keys[0]):
        return _inner(r, keys[1:])
    if len(keys) == 2 and isinstance(keys[1], slice) and not is_view(keys[0]):
        index = keys[0] if isinstance(keys[0], slice) else _index(keys[0])
        return _window(r, keys[1], index)  # what the window leaves out is not copied
    return _inner(_pick(r, keys[0]), keys[1:])


def _inner(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """Axis 1 and those below it, for every sequence of r."""
    if all(is_all(key) for key in keys):
        return r
    first, inner_keys = keys[0], keys[1:]
    all_rows = (slice(None), *inner_keys)
    position = int_index(first)
    if position is not None:
        try:
            values, rest = backend_of(r._values).gather_column(r._values, r._levels, position)
        except IndexError as error:
            raise with_fields(error, advice=_way(position)) from None
        content = ragged_like(r, values, rest) if rest else values
        return _index_content(content, all_rows) if inner_keys else content
    if not isinstance(first, slice):
        return _block(r, first, inner_keys)
    if not is_all(first):
        r = _window(r, first)
    if all(is_all(key) for key in inner_keys):
        return r
    # Below axis 1 lies a container or an array of its own, whose first axis is that of the rows of axis 1.
    outer, inner = r.levels[0], r.levels[1:]
    content = ragged_like(r, r.values, inner) if inner else r.values
    content = _index_content(content, all_rows)
    if tracing.holds_surely(content.shape[0] != outer.total):
        raise index_error("", "the indices below the ragged axis must keep its rows in place")
    if inner and hasattr(content, "levels"):
        return ragged_like(r, content.values, (outer, *content.levels))
    return ragged_like(r, as_values(content), (outer,))


def _is_row(key: object) -> bool:
    """Whether a key is an array of numbers or bools, or a list of them."""
    if isinstance(key, (slice, int)):
        return False
    return isinstance(key, (list, range)) or (hasattr(key, "dtype") and getattr(key, "ndim", 0) > 0)


def _is_pair(first: object, second: object) -> bool:
    """Whether two keys say number by number where items are, as arrays of integers do."""
    if _is_row(first):
        return _is_row(second) or int_index(second) is not None
    return False


def _numbers(key: Any) -> Any:
    """An array of integers or bools from a key of a ragged axis, of any number of axes."""
    numbers = np.asarray(as_ints(key))
    if numbers.size == 0 and not hasattr(key, "dtype"):
        return numbers.astype(np.int64)
    if numbers.dtype.kind not in "iub":
        raise index_error(
            "", f"a ragged axis takes ints, slices, lists or arrays of integers, got {type(key).__name__}"
        )
    return numbers


def _item_numbers(key: Any) -> Any:
    """Integers of an axis behind the first."""
    numbers = _numbers(key)
    if numbers.dtype.kind == "b":
        raise index_error(
            "",
            "a mask of bools on a ragged axis is ambiguous, because sequences differ in length",
            "use a ragged mask, r[mask], which r.boolean_mask(mask) takes too, or r.gather([0, 2], axis=1)",
        )
    return numbers


def _pairs(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """The items that several keys name, one number of each at a time: `r[rows, columns]`."""
    if tracing.is_tracing():
        return _traced_pairs(r, keys)
    levels, end = r._levels, 1
    while end < min(len(keys), len(levels := r._levels) + 1) and not isinstance(keys[end], slice):
        end += 1
    first = _numbers(keys[0])
    if first.dtype.kind == "b":
        if first.shape != (len(r),):
            raise index_error("", f"a mask of shape {first.shape} for {len(r)} sequences")
        first = np.flatnonzero(first)
    numbers = [first, *(_item_numbers(key) for key in keys[1:end])]
    try:
        numbers = list(np.broadcast_arrays(*numbers))
    except ValueError:
        shapes = " and ".join(str(part.shape) for part in numbers)
        raise index_error(
            "", f"indices of shapes {shapes} name no pairs", "use r[rows][:, columns] for all of both"
        ) from None
    shape = numbers[0].shape
    places, *inner_numbers = (part.reshape(-1) for part in numbers)
    if not _core.in_range(places, len(r)):
        bad = (places < -len(r)) | (places >= len(r))
        if bad.any():
            number = int(places[bad][0])
            raise index_error("", f"index {number} is out of range for {len(r)} sequences", number=number)
        places = np.where(places < 0, places + len(r), places).astype(np.int64)
    for level, ids in zip(levels, inner_numbers, strict=False):
        places = inner_places(ids, level, places)
    return _items(r, places.reshape(shape), levels[end - 1 :], keys[end:])


def _is_ragged_index(key: Any) -> bool:
    return isinstance(key, RaggedBase) and "int" in str(key._values.dtype)


def _ragged_pairs(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """The items that Raggeds of integers name, which nest alike: they nest as those do."""
    first: Any = keys[0]
    for key in keys[1:]:
        if isinstance(key, RaggedBase) and not same_levels(key._levels, first._levels):
            raise index_error(
                "index", f"the Raggeds nest differently: {describe_difference(first._levels, key._levels)}"
            )
    items = _pairs(r, tuple(key._values if isinstance(key, RaggedBase) else key for key in keys))
    levels, rows = (items._levels, items._values) if isinstance(items, RaggedBase) else ((), items)
    return ragged_like(r, rows, (*first._levels, *levels))


def _traced_pairs(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """The same in a graph, of one level."""
    if len(r._levels) > 1 or any(isinstance(key, slice) for key in keys[:2]):
        raise index_error("", "pairs of indices at several levels run only outside of graphs")
    places = tracing.tensors.pair_places(r._levels[0], *keys[:2])
    rows = take(r._values, places.reshape(-1))
    rows = rows.reshape((*places.shape, *rows.shape[1:]))
    front = (*[slice(None)] * places.ndim, *keys[2:])
    return rows[front] if len(keys) > 2 else rows


def _items(r: Ragged[Any], places: Ints, inner_levels: tuple[Level, ...], keys: tuple[Any, ...]) -> Any:
    """Items of a level, or rows, by their numbers in the whole, in their shape, and what keys pick below."""
    if not inner_levels:
        if not all(is_all(key) for key in keys):
            return _index_content(r._values, (like(places, r._values), *keys))
        rows = take(r._values, places.reshape(-1))
        return rows.reshape((*places.shape, *rows.shape[1:]))
    values, rest = backend_of(r._values).gather(r._values, inner_levels, places.reshape(-1))
    if any(_is_row(key) for key in keys):
        raise index_error("", "arrays of indices on several ragged axes are ambiguous", "use r.gather")
    result = _inner(ragged_like(r, values, rest), keys) if keys else ragged_like(r, values, rest)
    if not isinstance(result, RaggedBase):
        return result.reshape((*places.shape, *result.shape[1:]))
    for axis in range(places.ndim - 1, 0, -1):
        groups = equal_lengths(int(np.prod(places.shape[:axis])), places.shape[axis])
        result = ragged_like(r, result._values, (groups, *result._levels))
    return result


def _block(r: Ragged[Any], key: Any, inner_keys: tuple[Any, ...]) -> Any:
    """The same items of every sequence, by an array of their numbers: `r[:, [0, 2]]`."""
    if tracing.is_tracing():
        result = gather(r, key, axis=1)
        return result if any(not is_all(item) for item in inner_keys) else _rectangle(r, result)
    ids = _item_numbers(key)
    level = r._levels[0]
    sequences = np.arange(len(level)).reshape(-1, *(1,) * ids.ndim)
    places = level.offsets[sequences] + _places(ids, level, sequences)
    return _items(r, places, r._levels[1:], inner_keys)


def _rectangle(r: Ragged[Any], block: Ragged[Any]) -> Any:
    """Rows of as many items for each sequence as an array, where no level is below them."""
    if len(block._levels) > 1:
        return block
    rows: Any = block._values
    return rows.reshape((tracing.count_of(r._levels[0]), -1, *rows.shape[1:]))


def _ragged_key(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """A ragged key behind full slices, which it says itself."""
    place = next(k for k, item in enumerate(keys) if isinstance(item, RaggedBase))
    if not all(is_all(item) for k, item in enumerate(keys) if k != place):
        raise index_error(
            "",
            "a ragged mask or index beside other keys is ambiguous",
            "use one after the other, as r[mask][:, 0], or r.boolean_mask and r.gather",
        )
    return _by_ragged(r, keys[place])


def _new_axes(r: Ragged[Any], keys: tuple[Any, ...]) -> Any:
    """Axes of length 1 where a key is None, among ints and slices."""
    axes, plain = [], []
    out = 0
    for key in keys:
        if key is None:
            axes.append(out)
        else:
            plain.append(key)
            if not isinstance(key, slice) and int_index(key) is None:
                raise index_error(
                    "",
                    "new axes (None) go with ints and slices only",
                    "index first, and add axes to the result",
                )
        out += key is None or isinstance(key, slice)
    result = r[tuple(plain)] if plain else r
    return add_axes(result, axes)


def add_axes(result: Any, axes: list[int]) -> Any:
    """A result with an axis of length 1 at each of these places, in the order in which they come."""
    for axis in axes:
        if not isinstance(result, RaggedBase):
            shape = tuple(result.shape)
            result = result.reshape((*shape[:axis], 1, *shape[axis:]))
            continue
        levels = result._levels
        if axis > len(levels):
            rows, row_axis = result._values, axis - len(levels)
            shape = tuple(rows.shape)
            result = ragged_like(result, rows.reshape((*shape[:row_axis], 1, *shape[row_axis:])), levels)
        else:
            count = tracing.count_of(levels[max(axis - 1, 0)])
            new = equal_lengths(1, count) if axis == 0 else equal_lengths(count, 1)
            place = max(axis - 1, 0)
            result = ragged_like(result, result._values, (*levels[:place], new, *levels[place:]))
    return result


def _index_content(content: Any, keys: tuple[Any, ...]) -> Any:
    """The content below the first axis, at these keys; errors of an array's library become records."""
    if is_tensor(content) and any(isinstance(key, slice) and (key.step or 1) < 0 for key in keys):
        content, keys = _forward(content, keys)
    try:
        return content[keys]
    except (IndexError, ValueError) as error:
        if isinstance(content, RaggedBase) or tracing.is_tracing():
            raise
        for size, key in zip(content.shape, keys, strict=False):
            if isinstance(key, slice):
                check_step(key)
            i = None if isinstance(key, slice) else int_index(key)
            if i is not None and not -size <= i < size:
                text = f"index {i} is out of range for an axis of size {size}"
                raise index_error("", text, number=i) from None
        raise as_record(error, type(error)) from None


def _forward(content: Any, keys: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """A tensor with its slices of negative steps taken, which torch lacks, and the keys that are left."""
    rest = list(keys)
    for axis, key in enumerate(keys):
        if isinstance(key, slice) and (key.step or 1) < 0:
            places = np.arange(content.shape[axis])[key]
            content, rest[axis] = content.index_select(axis, like(places, content)), slice(None)
    return content, tuple(rest)


def keys_of(key: Any, ndim: int) -> tuple[Any, ...]:
    """A key as a tuple with its Ellipsis written out; never empty."""
    key = key if isinstance(key, tuple) else (key,)
    dots = [k for k, item in enumerate(key) if item is Ellipsis]
    count = sum(item is not None and item is not Ellipsis for item in key)
    if len(dots) > 1:
        raise index_error("", "an index can only have a single ellipsis ('...')")
    if count > ndim:
        raise index_error("", f"too many indices: there are {ndim} axes, but {count} were indexed")
    if dots:
        fill = (slice(None),) * (ndim - count)
        key = (*key[: dots[0]], *fill, *key[dots[0] + 1 :])
    return key or (slice(None),)


def is_all(key: object) -> bool:
    """Whether a key is a slice of everything."""
    return isinstance(key, slice) and key.start in (None, 0) and key.stop is None and key.step in (None, 1)


def is_view(key: object) -> bool:
    """Whether a key is a slice that shares memory."""
    return isinstance(key, slice) and key.step in (None, 1)


def int_index(key: Any) -> int | None:
    """The integer that a key is, None for slices and arrays."""
    if type(key) is int:
        return key
    if isinstance(key, (bool, np.bool_)):
        raise_index(key)
    if isinstance(key, (slice, list, range)):
        return None
    if hasattr(key, "dtype"):
        if tracing.is_tracing():
            number: int | None = tracing.tensors.int_in(key)
            return number
        return operator.index(number_in(key)) if key.ndim == 0 and "int" in str(key.dtype) else None
    try:
        return operator.index(key)
    except TypeError:
        return None
