"""Calls that may wait for a network, many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

__all__ = []

_Item = TypeVar("_Item")
_T = TypeVar("_T")

_AT_ONCE = 8


def map_items(function: Callable[[_Item], _T], items: Iterable[_Item], waits: bool = True) -> list[_T]:
    """The results of all items, in their order; after an error no further item begins.

    waits: True makes some at once, in threads; else one comes after another.

    >>> map_items(abs, [-1, 2])
    [1, 2]
    """
    item_list = list(items)
    if len(item_list) < 2 or not waits:
        return [function(item) for item in item_list]
    from concurrent.futures import ThreadPoolExecutor  # not needed by those who map files

    with ThreadPoolExecutor(min(_AT_ONCE, len(item_list))) as pool:
        calls = [pool.submit(function, item) for item in item_list]
        try:
            return [call.result() for call in calls]
        finally:
            for call in calls:
                call.cancel()
