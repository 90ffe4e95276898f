"""Collating samples of any dataset: dicts, tuples, arrays, tensors, numbers, nested lists, strings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from varlen import _core
from varlen.arguments import as_dtype, as_int, as_list
from varlen.data.collator import collate_joints
from varlen.data.options import BatchOptions, Side, one_row
from varlen.data.plan import to_torch

__all__ = ["Collate", "collate"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Collate:
    """A function for DataLoader's `collate_fn` that pads, or lays end to end, what has different lengths.

    Samples have one structure, and the batch has it too:

    ==================================  ==================================================================
    in the samples                      in the batch
    ==================================  ==================================================================
    a mapping                           a dict; what comes beside a value is called `key/mask` and so on
    a tuple, a named tuple              a tuple of as many; in place of values and what comes beside, a pair
    arrays, tensors of one dimension    rows padded to (samples, longest, ...), and a bool mask, True where
    and more; lists of numbers          data is; or `layout="ragged"`: end to end, and int64 offsets, in a
                                        mapping also int32 `cu_seqlens` and `max_length`
    lists of lists, of arrays           padded on every axis that is a list, and the mask of all
    numbers, arrays of no dimension     stacked
    JointNestedRaggedTensorDict         as `Dataset.batch` has them
    strings, bytes, None, the rest      a list
    ==================================  ==================================================================

    Parameters
    ----------
    layout
        "padded" or "ragged"; ragged takes one level, arrays and flat lists.
    padding_side, truncate
        "right" or "left".
    max_len
        Longer rows are cut, at the `truncate` side.
    pad_to_multiple
        The padded length is a multiple of it.
    fill, dtype
        Of padding, of the output: one for all, or a mapping from keys. Zero, and NumPy's promotion, by
        default.
    masks
        False leaves them out.
    framework
        "numpy", "torch", or None: tensors where a sample holds one.

    Examples
    --------
    >>> from varlen.data import Collate
    >>> batch = Collate(padding_side="left")([{"x": [1, 2, 3], "name": "a"}, {"x": [4], "name": "b"}])
    >>> batch["x"], batch["name"]
    (array([[1, 2, 3],
           [0, 0, 4]]), ['a', 'b'])
    >>> batch["x/mask"]
    array([[ True,  True,  True],
           [False, False,  True]])
    """

    layout: Literal["padded", "ragged"] = "padded"
    padding_side: Side = "right"
    truncate: Side = "right"
    max_len: int | None = None
    pad_to_multiple: int = 1
    fill: Any = None
    dtype: Any = None
    masks: bool = True
    framework: Literal["numpy", "torch"] | None = None

    def __post_init__(self) -> None:
        if self.framework not in ("numpy", "torch", None):
            raise ValueError(f"framework: expected 'numpy', 'torch' or None; got {self.framework!r}")
        as_int(self.pad_to_multiple, "pad_to_multiple", 1)
        for dtype in self.dtype.values() if isinstance(self.dtype, Mapping) else (self.dtype,):
            if dtype is not None:
                as_dtype(dtype, "dtype", objects=True)
        self._batch_options()

    def __call__(self, samples: Sequence[Any]) -> Any:
        """The batch of these samples. Raises ValueError or TypeError that names the key and the sample."""
        items = as_list(samples, "samples", "samples")
        if not items:
            raise ValueError("samples: a batch needs at least one")
        return self._merge("", items)

    def _merge(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        if isinstance(first, Mapping):
            return self._merge_mappings(name, items)
        if isinstance(first, tuple):
            return self._merge_tuples(name, items)
        if isinstance(first, (str, bytes)) or first is None:
            return items
        if isinstance(first, _core.Joint) or hasattr(first, "_view"):
            return collate_joints(items, self._batch_options())
        return _bare(self._leaf(name, items)) if _is_data(first) else items

    def _merge_mappings(self, name: str, items: list[Any]) -> dict[str, Any]:
        out: dict[str, Any] = {}
        for i, item in enumerate(items):
            if not isinstance(item, Mapping) or item.keys() != items[0].keys():
                keys = sorted(map(str, item)) if isinstance(item, Mapping) else type(item).__name__
                first = sorted(map(str, items[0]))
                raise ValueError(f"samples[{i}]{name}: has {keys}, samples[0] has {first}")
        for key in items[0]:
            values = [item[key] for item in items]
            if _is_data(values[0]):
                leaf = self._leaf(f"{name}[{key!r}]", values, key)
                out[key] = leaf.pop("")
                out |= {f"{key}/{beside}": value for beside, value in leaf.items()}
            else:
                out[key] = self._merge(f"{name}[{key!r}]", values)
        return out

    def _merge_tuples(self, name: str, items: list[Any]) -> Any:
        first = items[0]
        for i, item in enumerate(items):
            if not isinstance(item, tuple) or len(item) != len(first):
                raise ValueError(f"samples[{i}]{name}: expected a tuple of {len(first)}, as samples[0] has")
        merged = [self._merge(f"{name}[{k}]", [item[k] for item in items]) for k in range(len(first))]
        return type(first)(*merged) if hasattr(first, "_fields") else tuple(merged)

    def _leaf(self, name: str, items: list[Any], key: Any = None) -> dict[str, Any]:
        """The values under "", and what comes beside them."""
        tensors = any(_is_tensor(item) for item in items)
        try:
            result = self._arrays([_as_array(item) for item in items], key)
        except (ValueError, TypeError, OverflowError) as error:
            raise type(error)(f"samples{name}: {error}") from None
        torch = self.framework == "torch" or (self.framework is None and tensors)
        return to_torch(result) if torch else result

    def _arrays(self, items: list[Any], key: Any) -> dict[str, Any]:
        fill = self.fill.get(key, 0) if isinstance(self.fill, Mapping) else (self.fill or 0)
        dtype = self.dtype.get(key) if isinstance(self.dtype, Mapping) else self.dtype
        if _rank(items[0]) == 0:
            return {"": _numbers(items, dtype)}
        if any(isinstance(item, list) for item in items):
            values, levels = _core.from_lists(items, dtype=dtype)
            if len(levels) > 1:
                return self._deep(values, levels, fill)
            items = np.split(values, levels[0].offsets[1:-1])
        if self.layout == "ragged":
            return _ragged(*_core.list2ragged(self._cut(items), dtype))
        dense = _core.list2dense(
            items,
            self.pad_to_multiple,
            fill,
            self.padding_side,
            self.max_len,
            self.truncate,
            self.masks,
            dtype=dtype,
        )
        return {"": dense[0], "mask": dense[1]} if self.masks else {"": dense}

    def _cut(self, items: list[Array]) -> list[Array]:
        if self.max_len is None:
            return items
        most = self.max_len
        return [
            item[max(0, len(item) - most) :] if self.truncate == "left" else item[:most] for item in items
        ]

    def _deep(self, values: Array, levels: list[_core.Level], fill: Any) -> dict[str, Any]:
        if self.layout == "ragged":
            raise ValueError("lists of lists have more than one level; give layout='padded', or flat lists")
        depth = len(levels)
        row = one_row("fill", "", values.shape[1:], values.dtype, fill)
        result = _core.Joint([""], [depth], [values], levels).dense(
            padding_side=self.padding_side,
            truncate=self.truncate,
            fill={"": row},
            max_sizes=[] if self.max_len is None else [self.max_len],
            masks=self.masks,
        )
        out = {"": result.get("", np.empty((len(levels[0]), *[0] * depth), values.dtype))}
        return out | ({"mask": result[f"dim{depth}/mask"]} if self.masks else {})

    def _batch_options(self) -> BatchOptions:
        given: dict[str, Any] = {} if self.layout == "ragged" else {"pad_to_multiple": self.pad_to_multiple}
        return BatchOptions(
            max_len=self.max_len,
            padding_side=self.padding_side,
            truncate=self.truncate,
            fill=self.fill,
            dtype=self.dtype,
            masks=self.masks,
            layout=self.layout,
            framework=self.framework or "numpy",
            **given,
        )


def collate(samples: Sequence[Any]) -> Any:
    """Samples of any dataset as one padded batch: `Collate()` as a plain function.

    Examples
    --------
    >>> from varlen.data import collate
    >>> collate([(np.array([1.5, 2.5]), 0), (np.array([3.5]), 1)])
    ((array([[1.5, 2.5],
           [3.5, 0. ]]), array([[ True,  True],
           [ True, False]])), array([0, 1]))
    """
    return _DEFAULT(samples)


def _numbers(items: list[Any], dtype: Any) -> Array:
    """A number of each sample."""
    try:
        array = np.asarray(items, dtype)
    except ValueError:
        raise ValueError("a number in the first sample, but not in all") from None
    text = array.dtype.kind in "SU" and dtype is None and not all(isinstance(x, str) for x in items)
    if array.dtype.hasobject or text:
        _core.from_lists(items, 0, name="samples")  # says which one is no number
        raise TypeError(f"dtype: {array.dtype} holds what is no number")
    return array


def _is_tensor(value: Any) -> bool:
    return type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "numpy")


def _is_data(value: Any) -> bool:
    _core.refuse_cycles(value, "samples")
    while isinstance(value, list):
        value = value[0] if value else 0
    return isinstance(value, (np.ndarray, np.generic, bool, int, float, complex)) or _is_tensor(value)


def _as_array(value: Any) -> Any:
    if _is_tensor(value):
        return value.detach().resolve_conj().resolve_neg().numpy()
    if isinstance(value, list) and any(_is_tensor(inner) for inner in value):
        return [_as_array(inner) for inner in value]
    return value


def _rank(value: Any) -> int:
    return 1 if isinstance(value, list) else int(np.ndim(value))


def _ragged(values: Array, level: _core.Level) -> dict[str, Any]:
    if level.total > np.iinfo(np.int32).max:
        raise OverflowError(f"cu_seqlens: {level.total} rows do not fit int32")
    cu_seqlens = level.offsets.astype(np.int32)
    return {
        "": values,
        "offsets": level.offsets.copy(),
        "cu_seqlens": cu_seqlens,
        "max_length": level.longest,
    }


def _bare(leaf: dict[str, Any]) -> Any:
    """A leaf that stands beside no key: the values, or a pair."""
    beside = leaf.get("mask", leaf.get("offsets"))
    return leaf[""] if beside is None else (leaf[""], beside)


_DEFAULT: Callable[[Sequence[Any]], Any] = Collate()
