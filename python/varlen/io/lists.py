"""Lists of rows as people write them: with None, dates of Python, tensors and Raggeds among the values."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from varlen import _core
from varlen.backends.nested import first_leaf
from varlen.backends.values import is_tensor
from varlen.errors import value_error
from varlen.io.columns import ColumnOptions, build_joint, check_durations, without_tensor

__all__: list[str] = []

_PLAIN = frozenset((int, float, bool, str))
_TIMES: dict[type, str] = {
    datetime.date: "M8[D]",
    datetime.datetime: "M8[us]",
    datetime.timedelta: "m8[us]",
    np.datetime64: "M8",  # in the unit that holds all of them
    np.timedelta64: "m8",
}


def build_rows(columns: Mapping[str, object], options: Callable[[], ColumnOptions]) -> _core.Joint:
    """The joint of keys to nested lists of whatever a row may hold; `options` makes the same ones each time.

    >>> day = datetime.date(2024, 2, 29)
    >>> options = lambda: ColumnOptions(narrow=False, nulls=True)
    >>> joint = build_rows({"x": [[None, 1]], "t": [[day, None]]}, options)
    >>> joint.values("x"), joint.values("t")
    (array([nan,  1.]), array(['2024-02-29',        'NaT'], dtype='datetime64[D]'))
    """
    first = {name: value if _is_plain(value) else as_lists(value, name) for name, value in columns.items()}
    try:
        return build_joint(first, options(), "rows")
    except (TypeError, ValueError, OverflowError) as error:
        lists = {name: as_lists(value, name) for name, value in columns.items()}  # plain where they begin
        try:
            return build_joint(lists, options(), "rows")
        except (TypeError, ValueError, OverflowError):
            raise error from error.__cause__  # of the values as they came


def _is_plain(value: object) -> bool:
    """Whether the first value in nested lists is one that the core reads; other containers are no lists."""
    leaf = first_leaf(value) if isinstance(value, (list, tuple)) else None
    return leaf is None or type(leaf) in _PLAIN or isinstance(leaf, (np.ndarray, np.generic))


def as_lists(value: Any, name: str) -> Any:
    """The value with lists in place of Raggeds in lists, and arrays in place of tensors and Python's times.

    >>> as_lists([[datetime.date(2024, 2, 29), None], []], "t")
    [array(['2024-02-29',        'NaT'], dtype='datetime64[D]'), []]
    """
    if not isinstance(value, (list, tuple)):
        return value
    kinds = set(map(type, value))
    if kinds <= _PLAIN:
        return value
    kinds.discard(type(None))  # of a time that is not there
    unit = _TIMES.get(kinds.pop()) if len(kinds) == 1 else None
    return as_times(value, unit, name) if unit else [_as_item(item, name) for item in value]


def _as_item(item: Any, name: str) -> Any:
    if hasattr(item, "levels") and hasattr(item, "values"):
        return [_as_item(row, name) for row in item]
    if type(item) in _TIMES and not isinstance(item, np.generic):
        return as_times([item], _TIMES[type(item)], name)[0]
    item = without_tensor(name, item) if is_tensor(item) else as_lists(item, name)
    return item[()] if isinstance(item, np.ndarray) and item.ndim == 0 else item


def as_times(values: Any, unit: str, name: str) -> np.ndarray:
    """Times of Python and None; those with a zone in UTC, and not beside times without."""
    if unit.startswith("m8"):
        check_durations(name, values)
    has_zone = [getattr(value, "tzinfo", None) is not None for value in values if value is not None]
    if not any(has_zone):
        return np.array(values, unit)
    if not all(has_zone):
        times = [value for value in values if value is not None]
        with_zone, no_zone = times[has_zone.index(True)], times[has_zone.index(False)]
        raise value_error(
            name, f"{with_zone} has a zone and {no_zone} has none", "give all of them one, or none"
        )
    utc = [v if v is None else v.astimezone(datetime.timezone.utc).replace(tzinfo=None) for v in values]
    return np.array(utc, unit)
