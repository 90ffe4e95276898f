"""A Ragged as nested lists, and as an iterator over its sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen.backends import backend_of

if TYPE_CHECKING:
    from varlen.types.ragged import Ragged

VIEWS = 4096  # views of sequences that are made in one call


def to_list(r: Ragged[Any]) -> list[Any]:
    """Nested lists; `Ragged.to_list`."""
    return _core.to_lists(backend_of(r._values).readable(r._values), r._levels)


def iterate(r: Ragged[Any]) -> Iterator[Any]:
    """The sequences of a Ragged, one after another, sharing memory."""
    if len(r._levels) > 1:
        return (r.row(i) for i in range(len(r)))
    return (row for start in range(0, len(r), VIEWS) for row in _views(r[start : start + VIEWS]))


def _views(r: Ragged[Any]) -> list[Any]:
    return backend_of(r._values).split(r._values, r._levels[0])
