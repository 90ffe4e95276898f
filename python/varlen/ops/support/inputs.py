"""Rows and the level whose sequences are an op's units, from what a caller gave.

A container is known by what it carries: values, levels, and how another of its class is made of such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import tracing
from varlen._core import Level, RaggedBase, register
from varlen.arguments import LARGEST, as_array, as_int, as_ints
from varlen.backends import backend_of
from varlen.backends.values import as_values, is_tensor
from varlen.errors import dtype_error, instance_error, overflow_error, type_error, value_error
from varlen.levels import check_levels, flatten_levels, is_on_device, resolve_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Axes, Lengths, SequencesLike
    from varlen.levels import Levels

__all__ = [
    "as_bools",
    "as_level",
    "count_rows",
    "nest_rows",
    "nested",
    "one_level",
    "regroup",
    "rows_along",
    "rows_and_level",
    "rows_and_levels",
    "rows_and_sequences",
    "rows_of",
    "same_kind",
    "units_of",
    "whole_numbers",
]


def rows_and_levels(X: object, lengths: Any, argument: str = "X") -> tuple[Any, Levels]:
    """The rows and all levels of a container, or of an array with lengths, a level, or several."""
    if isinstance(X, RaggedBase):
        if lengths is not None:
            raise type_error("lengths", f"not allowed, because {argument} is a Ragged, which has its own")
        return X._values, X._levels
    if lengths is None:
        raise type_error("lengths", f"required, because {argument} is not a Ragged")
    values = as_values(X, argument)
    return values, (as_level(lengths, values.shape[0], argument),)


def units_of(X: Any, lengths: Any, level: int = -1, argument: str = "X") -> tuple[Any, Level, Levels]:
    """The rows, the level whose sequences are the units, as it cuts the rows, and the levels above it."""
    if lengths is None and isinstance(X, RaggedBase):
        values, levels = X._values, X._levels
    else:
        values, levels = rows_and_levels(X, lengths, argument)
    if type(level) is int and level == -1:
        return values, levels[-1], levels[:-1]
    place = resolve_level(level, levels)
    return values, flatten_levels(levels[place:]), levels[:place]


def rows_along(
    X: SequencesLike, lengths: Lengths, axis: Axes, level: int = -1, argument: str = "X"
) -> tuple[Any, Levels]:
    """The rows and levels of an op that goes along an axis, or several, and so takes no level."""
    if as_int(level, "level", -LARGEST) != -1:
        raise value_error("", f"level, axis: pass one of them, got both, {level} and {axis}")
    return rows_and_levels(X, lengths, argument)


def rows_and_level(
    X: SequencesLike, lengths: object, argument: str = "X", level: int = -1
) -> tuple[Any, Level]:
    """The rows and the level whose sequences are the units, as it cuts the rows."""
    values, units, _ = units_of(X, lengths, level, argument)
    return values, units


def rows_and_sequences(X: Any, lengths: Any, argument: str = "X") -> tuple[Any, Level]:
    """As `rows_and_level`, but an array without lengths is one sequence."""
    if lengths is not None or isinstance(X, RaggedBase):
        return rows_and_level(X, lengths, argument)
    values = as_values(X, argument)
    return values, Level.from_lengths(np.array([len(values)]))


def one_level(ragged: object, argument: str = "ragged") -> Level:
    """The level of a Ragged that has no more than that."""
    if not isinstance(ragged, RaggedBase):
        raise instance_error(argument, "a Ragged", ragged)
    if len(ragged._levels) != 1:
        raise value_error(
            argument,
            f"has {len(ragged._levels)} levels, but a Padded holds one; keep only the innermost with "
            "Ragged(r.values, levels=r.levels[-1:])",
        )
    return ragged._levels[0]


def as_level(lengths: Lengths, count: int | None = None, argument: str = "X") -> Level:
    """A level from lengths, or the one that was given, over `count` rows of an argument."""
    is_array = type(lengths) is np.ndarray
    if is_array or type(lengths) is Level:
        graph_level = tracing.is_tracing()
    else:
        backend_of(lengths)  # the first tensor of all brings what says whether it is traced
        graph_level = tracing.is_traced(lengths)
    if graph_level:
        message = "add up to {}, but " + argument + " has {} rows"
        traced_level: Any = tracing.as_traced(tracing.level_of(lengths, "lengths", count, message))
        return cast("Level", traced_level)
    if type(lengths) is Level:
        level = lengths
    elif is_array:
        level = Level.from_lengths(lengths)
    elif is_on_device(lengths):
        level = Level.from_lengths(lengths, total=count)
    else:
        level = Level.from_lengths(as_ints(lengths))
    if count is not None and not level._fits(count):
        raise value_error("lengths", f"add up to {level.total}, but {argument} has {count} rows")
    return level


def count_rows(levels: Sequence[Level], lengths: object) -> None:
    """Wait for lengths on a device that came without a `Level`, which could say how many rows there are."""
    if type(lengths) is Level:
        return
    items = lengths if isinstance(lengths, (list, tuple)) else [lengths]
    for level, item in zip(levels, items, strict=False):
        if not (type(item) is Level or level.is_on_host):
            level.sync()


def _level(
    cls: type[Level],
    lengths: Lengths,
    *,
    total: int | None = None,
    max_len: int | None = None,
    check: bool = False,
) -> Any:
    # A graph checks its levels where its ops read them, and asks its tensors for the longest length.
    return as_level(lengths, total, "total")


_level.__qualname__ = "Level.__new__"
register(traced_level=_level)  # Level(lengths) itself stays in C


def same_kind(X: SequencesLike, rows: SequencesLike) -> Any:
    """Rows in the place of those of X: under its levels and of its class, where X is a container."""
    if not isinstance(X, RaggedBase):
        return rows
    return tracing.make(type(X), rows, X._levels) if tracing.is_tracing() else X._make(rows, X._levels)


def regroup(X: SequencesLike, rows: object, levels: Levels) -> Any:
    """Rows in the place of those of X: under these levels and of its class, where X is a container."""
    if not isinstance(X, RaggedBase):
        return rows
    return tracing.make(type(X), rows, levels) if tracing.is_tracing() else X._make(rows, levels)


def rows_of(X: SequencesLike, argument: str) -> Any:
    """The rows of a container or of an array, whatever its levels."""
    return X._values if isinstance(X, RaggedBase) else as_values(X, argument)


def nest_rows(
    values: SequencesLike, levels: Levels, argument: str, values_argument: str = "values"
) -> tuple[Any, Levels]:
    """Rows under these levels; of a Ragged, whose sequences are the rows, its values under all levels."""
    if isinstance(values, RaggedBase):
        check_levels(len(values), levels, argument)
        return values._values, (*levels, *values._levels)
    rows = as_values(values, values_argument)
    check_levels(len(rows), levels, argument)
    return rows, levels


def whole_numbers(value: Any, argument: str) -> Any:
    """Integers, int64, from an array or a tensor of such, or from nothing."""
    kind: Any = getattr(value, "dtype", None)
    if is_tensor(value) and value.numel() and (kind.is_floating_point or kind.is_complex):
        raise dtype_error(argument, "integers", kind)  # NumPy may have no name for it
    numbers = as_array(value, argument)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise dtype_error(argument, "integers", kind or numbers.dtype)
    if numbers.dtype == np.uint64 and numbers.max(initial=0) > LARGEST:
        k = int((numbers.reshape(-1) > LARGEST).argmax())
        raise overflow_error(
            argument,
            f"entry {k} is {numbers.reshape(-1)[k]}, beyond int64",
            row=k,
            number=int(numbers.reshape(-1)[k]),
        )
    return numbers.astype(np.int64, copy=False)


def nested(value: object, argument: str, axes: int = 1) -> tuple[Any, Levels]:
    """Rows and levels of a Ragged, or of an array; axes of rows become levels until there are `axes`."""
    levels: Levels = ()
    if isinstance(value, RaggedBase):
        values, levels = value._values, value._levels
    else:
        values = as_values(value, argument)
    if len(levels) + values.ndim < axes:
        raise value_error(argument, f"has {len(levels) + values.ndim} axes, expected {axes} or more")
    while len(levels) < axes - 1:
        count, width = values.shape[:2]
        levels = (*levels, Level.from_offsets(np.arange(count + 1) * width))
        values = values.reshape(count * width, *values.shape[2:])
    return values, levels


def as_bools(numbers: object, value: object, argument: str) -> Any:
    """Bools, `value` as they are or in a Ragged, on the host or in a graph; an empty list is bools too."""
    if tracing.is_traced(numbers):
        return tracing.tensors.as_bools(numbers, argument)
    mask = as_array(numbers, argument)
    if mask.dtype != np.bool_ and (mask.size or hasattr(value, "dtype")):
        raise dtype_error(argument, "bools", mask.dtype)
    return mask.astype(np.bool_, copy=False)
