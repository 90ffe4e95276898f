"""Replace nulls among the numbers of samples: None in lists, and masked values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from varlen.arguments import one_of
from varlen.backends.values import is_tensor, memory_of
from varlen.errors import value_error

__all__: list[str] = []

NullPolicy = Literal["refuse", "nan", "fill", "drop"]
_POLICIES = ("refuse", "nan", "fill", "drop")

HINT = (
    "give Collate(nulls='fill'), whose mask is False there, nulls='nan', or nulls='drop', which leaves them "
    "out of lists"
)

_MOST_LEVELS = 65  # the core refuses lists that are nested deeper, and those that hold themselves

#: Integers up to here are doubles.
_LARGEST = 2**53


def checked_policy(policy: object) -> Any:
    """The option `nulls`: a word for all keys, or a mapping from keys."""
    for key, one in policy.items() if isinstance(policy, Mapping) else (("", policy),):
        one_of(one, f"nulls of {key!r}" if isinstance(policy, Mapping) else "nulls", _POLICIES)
    return policy


def holds_null(value: object, limit: int = _MOST_LEVELS, visits: set[int] | None = None) -> bool:
    """Whether a value is null, or has one in it at any depth."""
    if value is None or value is np.ma.masked:
        return True
    if not isinstance(value, list):
        return isinstance(value, np.ma.MaskedArray)
    visits = set() if visits is None else visits
    if id(value) in visits:  # a list that is in itself, or in several places
        return False
    visits.add(id(value))
    kinds = set(map(type, value))
    if type(None) in kinds or not (limit and kinds & {list, np.ma.MaskedArray}):
        return type(None) in kinds
    return any(holds_null(item, limit - 1, visits) for item in value)


def place_of_null(items: list[Any], limit: int = _MOST_LEVELS) -> tuple[int, str] | None:
    """The first sample with a null, and the place in it; None if there is none."""
    for i, item in enumerate(items):
        if not holds_null(item):
            continue
        if isinstance(item, list):
            inner = place_of_null(item, limit - 1) if limit else None
            if inner is not None:
                return i, f"[{inner[0]}]{inner[1]}"
            continue
        null = np.ma.getmaskarray(item) if isinstance(item, np.ma.MaskedArray) else np.array(True)
        if null.any():
            return i, f"[{int(null.argmax())}]" if null.ndim else ""
    return None


def first_leaf(items: object, depth: int = 0) -> tuple[int, Any] | None:
    """The first value that is neither a list nor null, and its depth in lists; None if there is none."""
    if not isinstance(items, list) or depth > _MOST_LEVELS:
        return None if items is None or items is np.ma.masked else (depth, items)
    leaves = (first_leaf(item, depth + 1) for item in items)
    return next((leaf for leaf in leaves if leaf is not None), None)


def depth_of(items: object, limit: int = _MOST_LEVELS) -> int:
    """The depth of nested lists."""
    if not limit or not isinstance(items, list):
        return 0
    return 1 + max((depth_of(item, limit - 1) for item in items), default=0)


def as_stand(dtype: Any) -> Any:
    """A value of a dtype, that stands for nulls until they have theirs."""
    is_time = isinstance(dtype, (str, np.dtype)) and str(dtype).startswith(("datetime64", "timedelta64"))
    return np.zeros((), dtype)[()] if is_time else 0


def without_nulls(
    items: list[Any], policy: NullPolicy, first: tuple[int, Any] | None = None
) -> tuple[list[Any], list[Any] | None]:
    """Values with a number instead of each null, and the places of the nulls in the same structure.

    "drop" leaves nulls out of lists, and gives no places. A null instead of a list or an array becomes an
    empty one.
    """
    first = first_leaf(items) if first is None else first
    assert first is not None
    depth, leaf = first
    stand = leaf.data if isinstance(leaf, np.ma.MaskedArray) else leaf
    if getattr(leaf, "ndim", 0):
        stand = stand[:0]
    elif policy == "drop" and depth == 1:
        raise value_error(
            "", "is a single null, and nulls='drop' can only drop nulls from lists", "use 'nan' or 'fill'"
        )
    pairs = [_drop_nulls(item, depth - 1, stand, policy == "drop") for item in items]
    return [item for item, _ in pairs], None if policy == "drop" else [null for _, null in pairs]


def _drop_nulls(value: object, depth: int, stand: object, drops: bool) -> tuple[Any, Any]:
    """A value `depth` lists above the numbers or arrays, and where it is null."""
    is_null = value is None or value is np.ma.masked
    if depth == 0:
        return _leaf_without(stand if is_null else value, is_null, drops)
    if is_null:
        return [], []
    if not isinstance(value, list):
        return value, value  # of another depth: refused where it is read
    rest = [item for item in value if not (drops and (item is None or item is np.ma.masked))]
    pairs = [_drop_nulls(item, depth - 1, stand, drops) for item in rest]
    return [item for item, _ in pairs], [null for _, null in pairs]


def _leaf_without(value: Any, is_null: bool, drops: bool) -> tuple[Any, Any]:
    """A number or an array, and where it is null."""
    if isinstance(value, np.ma.MaskedArray):
        if drops:
            return value.compressed(), None
        return value.data, np.ma.getmaskarray(value)
    if getattr(value, "ndim", 0):
        return value, np.zeros(len(value), bool)
    return value, is_null


def as_floats(name: str, values: Any) -> Any:
    """Numbers in a dtype that has NaN: integers and bools as float64, which holds each of them."""
    if is_tensor(values) and (values.is_floating_point() or values.is_complex()):
        return values
    array = memory_of(values)
    if array.dtype.kind not in "iub":
        return values
    if array.dtype.itemsize > 4 and array.size and max(-int(array.min()), int(array.max())) > _LARGEST:
        large = int(array.flat[np.abs(array.astype(np.float64)).argmax()])
        raise value_error(
            f"samples{name}",
            f"{large} is beyond the integers of float64, which nulls='nan' makes of them",
            "use nulls='fill'",
        )
    floats = array.astype(np.float64)
    if not is_tensor(values):
        return floats
    import torch

    return torch.from_numpy(floats)


def rows_of_masked(values: Any, null: Any, lengths: Any) -> Iterator[Any]:
    """The rows of flat values, as masked arrays where some are null."""
    begin = 0
    for length in lengths:
        span = slice(begin, begin := begin + length)
        yield np.ma.array(values[span], mask=null[span]) if null[span].any() else values[span]
