"""Calls that may wait for a network, many at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Executor

__all__ = []

_Item = TypeVar("_Item")
_T = TypeVar("_T")

_AT_ONCE = 32
MOST_AT_ONCE = 128  # requests: a batch of 50 rows of 20 shards has some 85, which go together

_threads: list[Executor] = []  # of `ask_all`, kept for the next batch; at most one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.clear)


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
        return _results(pool, function, item_list)


def ask_all(function: Callable[[_Item], _T], items: Iterable[_Item]) -> list[_T]:
    """The same for calls that wait for no other of these calls: all share the threads of this process.

    >>> ask_all(abs, [-1, 2])
    [1, 2]
    """
    item_list = list(items)
    if len(item_list) < 2:
        return [function(item) for item in item_list]
    from concurrent.futures import ThreadPoolExecutor

    if not _threads:
        _threads.append(ThreadPoolExecutor(MOST_AT_ONCE, "varlen-ranges"))
    return _results(_threads[0], function, item_list)


def _results(pool: Executor, function: Callable[[_Item], _T], items: list[_Item]) -> list[_T]:
    calls = [pool.submit(function, item) for item in items]
    try:
        return [call.result() for call in calls]
    finally:
        for call in calls:
            call.cancel()
