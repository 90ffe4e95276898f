"""Mappings of the same keys, one a row, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from varlen import _core
from varlen.errors import value_error

__all__: list[str] = []

_NO_NUMBERS = (str, bytes, list, np.ndarray, Mapping)


def columns_of_mappings(
    name: str,
    items: list[Any],
    argument: str,
    keys: list[Any] | None = None,
    read: bool = False,
) -> dict[Any, Any]:
    """The values of all items by the given keys, or by the keys of the first."""
    columns: dict[Any, Any] | None = _core.columns(items, read, keys)
    if columns is None:
        _check_alike(name, items, argument, keys)
        columns = {key: [item[key] for item in items] for key in (items[0] if keys is None else keys)}
    return {
        key: _without_objects(values) if type(values) is list else values for key, values in columns.items()
    }


def _without_objects(values: list[object]) -> list[Any]:
    """Arrays of Python objects as lists: `datasets` with format "numpy" give them for lists of text."""
    if np.ndarray not in set(map(type, values)):
        return values
    return list(map(_without_object, values))


def _without_object(value: object) -> Any:
    if not isinstance(value, np.ndarray) or not value.dtype.hasobject:
        return value
    if value.ndim == 0:
        return value.item()
    if value.size and not any(isinstance(item, _NO_NUMBERS) for item in value.flat):
        return value  # numbers, or nothing, in Python objects: refused where arrays are padded
    return list(map(_without_object, value))


def _check_alike(name: str, items: list[Any], argument: str, choice: Sequence[object] | None) -> None:
    """Refuse samples that are not mappings, lack a key, or differ in keys from the first."""
    keys = items[0].keys()
    first = f"{argument}[0]"
    for i, item in enumerate(items):
        place = f"{argument}[{i}]{name}"
        if not isinstance(item, Mapping):
            raise value_error(place, f"has {type(item).__name__}, {first} has {_sort(keys)}")
        which = [f"{key!r} is missing" for key in (keys if choice is None else choice) if key not in item]
        which += [f"{first} lacks {key!r}" for key in item if choice is None and key not in keys]
        if which:
            raise value_error(place, f"has {_sort(item)}, {first} has {_sort(keys)}; {which[0]}")


def _sort(keys: Iterable[object]) -> list[str]:
    return sorted(map(str, keys))
