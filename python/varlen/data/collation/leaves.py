"""The values of one place in many samples as one array: padded, end to end, or stacked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from varlen import _core
from varlen.arguments import NoValue, as_dtype, as_int
from varlen.backends.values import is_tensor
from varlen.data.collation.nulls import HINT, place_of_null
from varlen.data.options import BatchOptions, fill_row, overflow_of_padding
from varlen.data.tensors import TensorLeaf, to_tensors
from varlen.errors import name_item, overflow_error, type_error, value_error, with_fields

if TYPE_CHECKING:
    from collections.abc import Sequence


__all__: list[str] = []

Array = np.ndarray[tuple[Any, ...], np.dtype]
Flat = tuple[Array, list[_core.Level]]

_LISTS = {list}
_MOST_LEVELS = 65  # one more than the core takes
_NOTHING = NoValue()


class Leaves:
    """Makes arrays of the values of one place."""

    def __init__(self, options: BatchOptions) -> None:
        self._values = options.values
        self._has_masks = options.values["masks"]
        self._max_len = self._one_number("max_len")
        self._multiple = self._one_number("pad_to_multiple_of")

    def _one_number(self, name: Literal["max_len", "pad_to_multiple_of"]) -> int | None:
        value = self._values[name]
        return None if value is None else as_int(value, name)

    def read(self, name: str, items: list[Any], dtype: Any) -> Flat | None:
        """Lists of numbers and arrays as values and levels, in one look at each; None where there is more."""
        types = set(map(type, items))
        if list not in types and not any(issubclass(kind, list) for kind in types):
            return None
        try:
            own = None if dtype is None and types == _LISTS else self._array_dtype(dtype, items)
            small = None if own is None or own != _core.bfloat16 else own
            flat = _core.from_lists(items, dtype=np.float64 if small else own, plain=True)
            if flat is None:
                for item in items:
                    _core.refuse_cycles(item, "samples")
                return None
            return flat if small is None else (_core.cast(flat[0], small), flat[1])
        except (OverflowError, ValueError, TypeError) as error:
            raise self._place_error(error, name, items) from None

    def array(
        self, name: str, items: list[Any], fill: Any, dtype: Any, flat: Flat | None = None
    ) -> dict[str, Any]:
        """A dict: the values under "", and their mask or offsets."""
        fill = 0 if fill is None else fill
        try:
            if flat is not None:
                return self._as_asked(self._pad_flat(flat, fill))
            if not _holds_tensor(items):
                own = self._array_dtype(dtype, items)
                if own is None or own != _core.bfloat16:
                    return self._as_asked(self._pad_items(items, fill, own))
                result = self._pad_items(items, fill, np.dtype(np.float64))
                return self._as_asked({**result, "": _core.cast(result[""], own)})
            leaf = TensorLeaf(items, dtype)
            result = self._pad_items(leaf.arrays, leaf.fill(fill), leaf.array_dtype)
            return leaf.to_arrays(result) if self._values["framework"] == "numpy" else leaf.to_tensors(result)
        except (OverflowError, ValueError, TypeError) as error:
            raise self._place_error(error, name, items) from None

    def _as_asked(self, result: dict[str, object]) -> dict[str, Any]:
        return to_tensors(result) if self._values["framework"] == "torch" else result

    def _place_error(self, error: Exception, name: str, items: list[Any]) -> Exception:
        """The error with its place among the samples."""
        null = place_of_null(items)
        if null is not None:
            return value_error(f"samples[{null[0]}]{name}{null[1]}", "is null", HINT, row=null[0])
        if getattr(error, "code", "") == "padded_size":
            return overflow_of_padding(error, self._values, f"samples{name}")
        argument = str(getattr(error, "argument", ""))
        list_of_all, bracket, item = argument.partition("[")
        if bracket and list_of_all in ("arrays", "samples", "values"):  # the first index is a sample
            at, _, inner = item.partition("]")
            error = with_fields(error, argument="")
            return name_item(error, f"samples[{at}]{name}{inner}", advice=_hint(items))
        return name_item(error, f"samples{name}", advice=_hint(items))

    def _array_dtype(self, dtype: Any, items: list[Any]) -> np.dtype | None:
        if dtype is not None:
            return as_dtype(dtype, "dtype", objects=True, stand_in=self._values["framework"] == "torch")
        if set(map(type, items)) == _LISTS:
            return None
        kinds = {item.dtype.kind for item in items if isinstance(item, (np.ndarray, np.generic))}
        # torch takes int64 as indices; lists of integers are int64 anyway.
        return (
            np.dtype(np.int64)
            if self._values["framework"] == "torch" and kinds and kinds <= set("iu")
            else None
        )

    def _pad_flat(self, flat: Flat, fill: Any) -> dict[str, Any]:
        values, levels = flat
        if len(levels) > 1:
            return self._pad_nested(values, levels, fill)
        [level] = levels
        if self._values["layout"] == "ragged":
            cut = self._truncate(_core.ragged2list(values, level))
            return _ragged_entries(*_core.list2ragged(cut, None))
        if self._is_rectangle(level):
            return self._as_rectangle(values, level, fill)
        padded = _core.pad(
            values,
            level,
            self._values["padding_side"],
            fill,
            self._has_masks,
            self._max_len,
            self._values["truncate"],
            pad_to_multiple=self._multiple or 1,
        )
        return {"": padded[0], "mask": padded[1]} if self._has_masks else {"": padded}

    def _pad_items(self, items: list[Any], fill: Any, dtype: np.dtype | None) -> dict[str, Any]:
        if _rank(items[0]) == 0:
            return {"": _stack_numbers(items, dtype)}
        if any(isinstance(item, list) for item in items):
            return self._pad_flat(_core.from_lists(items, dtype=dtype), fill)
        if self._values["layout"] == "ragged":
            return _ragged_entries(*_core.list2ragged(self._truncate(items), dtype))
        dense = _core.list2dense(
            items,
            self._multiple or 1,
            fill,
            self._values["padding_side"],
            self._max_len,
            self._values["truncate"],
            self._has_masks,
            dtype=dtype,
        )
        return {"": dense[0], "mask": dense[1]} if self._has_masks else {"": dense}

    def _is_rectangle(self, level: _core.Level) -> bool:
        """Whether nothing is cut or padded."""
        longest = level.longest
        return (
            level.total == len(level) * longest
            and (self._max_len is None or longest <= self._max_len)
            and (self._multiple is None or longest % self._multiple == 0)
        )

    def _as_rectangle(self, values: Array, level: _core.Level, fill: object) -> dict[str, Any]:
        """Values that nobody else has, as they are."""
        if type(fill) is not int or fill != 0:  # as every dtype holds zero
            fill_row("fill", "", values.shape[1:], values.dtype, fill)
        slots = len(level), level.longest
        out = {"": values.reshape(*slots, *values.shape[1:])}
        if self._has_masks:
            out["mask"] = np.ones(slots, bool)
        return out

    def _pad_nested(self, values: Array, levels: list[_core.Level], fill: object) -> dict[str, Any]:
        if self._values["layout"] == "ragged":
            raise value_error(
                "", "lists of lists have more than one level", "give layout='padded', or flat lists"
            )
        depth = len(levels)
        row = fill_row("fill", "", values.shape[1:], values.dtype, fill)
        result = _core.Joint([""], [depth], [values], levels).dense(
            padding_side=self._values["padding_side"],
            truncate=self._values["truncate"],
            fill={"": row},
            max_sizes=[] if self._max_len is None else [self._max_len],
            masks=self._has_masks,
        )
        out = {"": result.get("", np.empty((len(levels[0]), *[0] * depth), values.dtype))}
        return out | ({"mask": result[f"dim{depth}/mask"]} if self._has_masks else {})

    def _truncate(self, items: list[Array]) -> list[Array]:
        if self._max_len is None:
            return items
        limit, at_left = self._max_len, self._values["truncate"] == "left"
        return [
            item  # no array of rows, which the core refuses by its place
            if np.ndim(item) == 0
            else item[max(0, len(item) - limit) :]
            if at_left
            else item[:limit]
            for item in items
        ]


def holds_data(items: Sequence[object]) -> bool:
    """Whether the values of many samples are numbers: arrays, tensors, numbers, or lists that begin with one.

    The first value that is not an empty list decides for all.
    """
    return next((is_data(leaf) for leaf in map(_first_leaf, items) if leaf is not _NOTHING), True)


def _first_leaf(value: object, depth: int = _MOST_LEVELS) -> Any:
    """The first leaf of a nested list."""
    if not isinstance(value, list):
        return value
    if depth == 0:
        return 0  # the core refuses lists that are nested so deep
    return next(
        (leaf for leaf in (_first_leaf(inner, depth - 1) for inner in value) if leaf is not _NOTHING),
        _NOTHING,
    )


def is_data(leaf: object) -> bool:
    """Whether a value other than a list is a number, an array or a tensor."""
    if isinstance(leaf, (str, bytes)):  # those of NumPy too
        return False
    return isinstance(leaf, (np.ndarray, np.generic, bool, int, float, complex)) or is_tensor(leaf)


def not_data(name: str, items: list[object]) -> list[Any]:
    """Values that stay a list, without numbers, which another order of the samples would make data."""
    for i, item in enumerate(items):
        if item is None or isinstance(item, (str, bytes)):
            continue
        leaf = _first_leaf(item)
        is_number = leaf is not _NOTHING and is_data(leaf)
        if is_number and items[0] is None:
            raise value_error(f"samples[0]{name}", f"is null; {HINT}", row=0)
        if is_number or isinstance(leaf, (Mapping, tuple)):
            first, other = type(items[0]).__name__, type(item).__name__
            raise type_error(f"samples[{i}]{name}", f"has {other}, samples[0] has {first}", row=i)
    return items


def _hint(items: list[Any]) -> str:
    """What to do where some samples have nested lists, and others what a library made arrays of."""
    arrays = [item for item in items if isinstance(item, np.ndarray) or is_tensor(item)]
    has_objects = any(isinstance(array, np.ndarray) and array.dtype.hasobject for array in arrays)
    if has_objects or (len(arrays) < len(items) and any(array.ndim > 1 for array in arrays)):
        return "give nested lists as lists, as `datasets` do without a format"
    return ""


def _stack_numbers(items: list[Any], dtype: np.dtype | None) -> Array:
    """A number of each sample."""
    if type(np.ma.masked) in set(map(type, items)):
        raise type_error("", "a masked number")
    try:
        array = np.asarray(items)
    except ValueError:
        raise value_error("", "a number in the first sample, but not in all") from None
    if dtype is None and array.dtype.kind in "fcmM":
        return _core.from_lists(items, 0, name="samples")[0]  # refuses what others beside it would round
    if dtype is not None and array.dtype != dtype:
        array = _core.cast(array, dtype) if array.dtype.kind in "biuf" else np.asarray(items, dtype)
    text = array.dtype.kind in "SU" and dtype is None and not all(isinstance(x, str) for x in items)
    if array.dtype.hasobject or text:
        _core.from_lists(items, 0, name="samples")  # names the sample that is not a number
        raise type_error("dtype", f"{array.dtype} is not a dtype of numbers")
    return array


def _holds_tensor(value: object, depth: int = _MOST_LEVELS) -> bool:
    """Whether a tensor is among the leaves; the core refuses lists that are nested deeper."""
    if isinstance(value, list):
        return depth > 0 and any(_holds_tensor(inner, depth - 1) for inner in value)
    return is_tensor(value)


def _rank(value: Any) -> int:
    return 1 if isinstance(value, list) else int(np.ndim(value))


def _ragged_entries(values: Array, level: _core.Level) -> dict[str, Any]:
    if level.total > np.iinfo(np.int32).max:
        raise overflow_error("cu_seqlens", f"{level.total} rows do not fit int32")
    cu_seqlens = level.offsets.astype(np.int32)
    return {
        "": values,
        "offsets": level.offsets.copy(),
        "cu_seqlens": cu_seqlens,
        "max_length": level.longest,
    }
