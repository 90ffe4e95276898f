"""Folds that are composed of other verbs: a function for each, by the name of its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends.numeric import is_bool
from varlen.errors import type_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from varlen._core import Level
    from varlen.backends.table import Backend
    from varlen.backends.values import RowsLike, SequencesLike


def own_verb(name: str) -> Callable[[Any, Any, Level, Any], Any]:
    """A fold that backends have a verb of its own for, of values, a level and what empty gives."""
    return lambda backend, values, level, empty: getattr(backend, name)(values, level, empty)


def ptp(backend: Backend, values: SequencesLike, level: Level, empty: RowsLike) -> Any:
    """The largest number less the smallest one."""
    if is_bool(values):
        raise type_error("X", "expected integers or floats, got bool, for which ptp has no meaning")
    min_empty = None if empty is None else 0  # what is taken off `empty` in a sequence without rows
    extremes = [backend.reduce("max", values, level, empty), backend.reduce("min", values, level, min_empty)]
    return backend.ufunc("subtract", extremes, {})


def amax(backend: Backend, values: SequencesLike, level: Level, empty: RowsLike) -> Any:
    """The largest number, as `torch.amax` has it: all that equal it share the gradient."""
    return _shared_extreme("max", backend, values, level, empty)


def amin(backend: Backend, values: SequencesLike, level: Level, empty: RowsLike) -> Any:
    """The smallest number, likewise."""
    return _shared_extreme("min", backend, values, level, empty)


def _shared_extreme(op: str, backend: Any, values: Any, level: Level, empty: RowsLike) -> Any:
    best = backend.reduce(op, values, level, empty)
    if not getattr(values, "requires_grad", False):
        return best
    best = best.detach()
    wide = backend.expand(best, level)
    is_best = (values == wide) | ((values != values) & (wide != wide))
    count = backend.expand(backend.reduce("sum", is_best.long(), level, 0), level)
    # 0 with the gradient of the number; what is not finite is itself, and changes no sum of its like.
    own = backend.where(values.isfinite(), values - values.detach(), values)
    return best + backend.reduce("sum", backend.where(is_best, own / count, 0), level, 0)


def mode(backend: Backend, values: SequencesLike, level: Level, empty: RowsLike) -> Any:
    """The least of the most frequent numbers; NaN are equal, and the largest."""
    fill = None if empty is None else backend.row_as(empty, values, "empty")[0]
    rows = backend.sort(values, level, with_places=False)[0]
    # How many rows before each equal it: the most, before the last row of what is wanted.
    repeats = backend.ufunc("subtract", [backend.rank(rows, level, how) for how in ("ordinal", "min")], {})
    place = backend.expand(backend.reduce_extreme("max", repeats, level, 0)[1], level)
    own = backend.level_array(level, "positions", rows).reshape(-1, *(1 for _ in rows.shape[1:]))
    is_found = backend.ufunc("equal", [own, place], {})
    # The others become the first number, which is not above it.
    first_rows = backend.expand(backend.reduce_end(rows, level, False, fill), level)
    return backend.reduce("max", backend.where(is_found, rows, first_rows), level, empty)
