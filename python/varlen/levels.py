"""Levels from arguments: lengths, offsets, or Level objects, for one level or several."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, cast

import numpy as np

from varlen import _core, tracing
from varlen._core import Level, is_placed
from varlen.arguments import SMALLEST, as_int, as_ints, as_list, one_of
from varlen.errors import index_error, name_argument, type_error, value_error

Levels = tuple[Level, ...]

_FALSE = np.zeros(1, np.bool_)


def levels_from(
    count: int | None, lengths: object = None, offsets: object = None, levels: object = None
) -> Levels:
    """Levels over `count` rows, from exactly one of lengths, offsets and levels, outermost first.

    If `count` is None, the innermost gives the number of rows.
    """
    if (lengths is None) + (offsets is None) + (levels is None) != 2:
        options = {"lengths": lengths, "offsets": offsets, "levels": levels}
        names = " and ".join(name for name, value in options.items() if value is not None)
        raise type_error("", f"expected exactly one of lengths, offsets and levels, got {names or 'none'}")
    name = "lengths" if lengths is not None else "levels" if offsets is None else "offsets"
    arguments = lengths if lengths is not None else levels if offsets is None else offsets
    if tracing.is_tracing() if type(arguments) is np.ndarray else tracing.is_traced(arguments):
        return tracing.levels_of(arguments, name, count)
    make = Level.from_lengths if name == "lengths" else Level.from_offsets
    result = each_level(arguments, make, name, count)
    if not result:
        raise value_error(name, "a Ragged needs at least one level")
    check_levels(count, result, name)
    return result


def check_levels(count: int | None, levels: Levels, argument: str = "levels") -> None:
    """Refuse levels that do not fit each other or the rows; None stands for any number of rows."""
    for d in range(len(levels) - 1):
        if not levels[d]._fits(len(levels[d + 1])):
            fault = f"the lengths of level {d} add up to {levels[d].total}, but level {d + 1}"
            raise value_error(argument, f"{fault} has {len(levels[d + 1])} sequences")
    if count is not None and not levels[-1]._fits(count):
        fault = f"the lengths add up to {levels[-1].total}, but there are {count} values"
        raise value_error(argument, fault)


def same_levels(a: Levels, b: Levels) -> bool:
    """Whether two containers nest alike: by identity if they share levels, else by comparison."""
    if tracing.is_tracing():
        return tracing.same_levels(a, b)
    return a == b


def describe_difference(a: Levels, b: Levels, first: int = 0) -> str:
    """The first difference of two nestings, as the text of an error. Levels are counted from `first`."""
    return find_difference(a, b, first)[0]


def find_difference(a: Levels, b: Levels, first: int = 0) -> tuple[str, int | None]:
    """The first difference of two nestings in words, and the sequence, if it is one."""
    if len(a) != len(b):
        return f"one has {len(a)} levels, the other {len(b)}", None
    for d, (x, y) in enumerate(zip(a, b, strict=True), first):
        if len(x) != len(y):
            return f"level {d} has {len(x)} sequences in one and {len(y)} in the other", None
        if x != y:
            i = int((x.lengths != y.lengths).argmax())
            text = f"sequence {i} of level {d} has length {x.lengths[i]} in one and {y.lengths[i]}"
            return f"{text} in the other", i
    return "they do not differ", None


def flatten_levels(levels: Levels) -> Level:
    """One level that cuts the rows as the first of `levels` does through all that nest below it.

    The levels keep it: the next call gives the same object, or one that shares its numbers.
    """
    if tracing.is_tracing():
        graph_level: Level = tracing.flatten_levels(levels)
        return graph_level
    flat = levels[-1]
    for level in levels[-2::-1]:
        flat = level.compose(flat)
    return flat


def equal_lengths(count: int, length: int) -> Level:
    """The level of `count` sequences of equal length."""
    if tracing.is_tracing():
        graph_level: Any = tracing.equal_lengths(count, length)
        return cast("Level", graph_level)
    return Level.from_offsets(np.arange(count + 1) * length)


def scale_level(level: Level, times: int) -> Level:
    """The level of sequences that are `times` times as long."""
    if tracing.is_tracing():
        graph_level: Any = tracing.TracedLevel(tracing.offsets_of(level) * times, level.total * times)
        return cast("Level", graph_level)
    return Level.from_offsets(level.offsets * times)


def levels_over_rows(levels: Levels) -> Levels:
    """Each level as it cuts the rows, through all that nest below it; the innermost is shared."""
    result = [levels[-1]]
    for level in reversed(levels[:-1]):
        result.append(level.compose(result[-1]))
    return tuple(reversed(result))


def nest_levels(row_levels: Levels, argument: str, empty: str | None = None, first: int = 0) -> Levels:
    """Levels that all cut the same rows, as levels that nest. The inverse of `levels_over_rows`."""
    if empty is not None:
        one_of(empty, "empty", ("before", "after"))
    levels = []
    for d, (parent, child) in enumerate(pairwise(row_levels), first):
        if parent.total != child.total:
            fault = f"the lengths of level {d} add up to {parent.total}, those of level {d + 1}"
            raise value_error(argument, f"{fault} to {child.total}")
        if len(parent) == 0 and len(child):
            fault = f"level {d} has no sequences, but level {d + 1} has {len(child)}"
            raise value_error(argument, fault)
        ends, cuts = child.offsets, parent.offsets[1:-1]
        left, right = np.searchsorted(ends, cuts), np.searchsorted(ends, cuts, side="right")
        unclear = left == right if empty else right - left != 1
        if unclear.any():
            i = int(unclear.argmax())
            where = f"sequence {i} of level {d} ends at {cuts[i]},"
            if left[i] == right[i]:
                raise value_error(argument, f"{where} inside a sequence of level {d + 1}")
            fault = f"{where} beside an empty sequence of level {d + 1}"
            raise value_error(argument, fault, "pass empty='before' or empty='after'")
        inner = left if empty == "after" else right - 1
        edges = ([0], inner, [len(child)]) if len(parent) else ([0],)
        levels.append(Level.from_offsets(np.concatenate(edges)))
    return (*levels, row_levels[-1])


def counted_before(marks: Any) -> Any:
    """The number of True before each place, and in all: int64 (n + 1,)."""
    if tracing.is_tracing():
        return tracing.tensors.counted_before(marks)
    counts = np.zeros(len(marks) + 1, np.int64)
    np.cumsum(marks, out=counts[1:])
    return counts


def mask_level(level: Level, marks: Any) -> Level:
    """The level of the items whose marks are True, a bool each."""
    if tracing.is_tracing():
        graph_level: Any = tracing.TracedLevel(counted_before(marks)[tracing.offsets_of(level)], None)
        return cast("Level", graph_level)
    return _core.erase(marks, level, _FALSE)[1]


def resolve_level(level: int, levels: Levels, argument: str = "level") -> int:
    """The level that a caller means, counted from the outermost; negatives count from the innermost."""
    depth = len(levels)
    place = as_int(level, argument, SMALLEST)
    if not -depth <= place < depth:
        raise index_error(argument, f"{place} is out of range for {depth} levels", number=place)
    return place % depth


def not_empty(level: Level) -> None:
    """Refuse sequences without rows."""
    if not level.is_on_host:
        raise value_error(
            "lengths", "lengths on a device may contain 0, which the host cannot see", "pass empty="
        )
    if len(level) and level.shortest == 0:
        place = int((level.lengths == 0).argmax())
        raise value_error(
            "lengths", f"sequence {place} is empty", "pass empty= for its result", row=place, number=0
        )


def first_longer(level: Level, limit: int) -> int | None:
    """The first sequence of more rows than `limit`, or None."""
    if level.longest <= limit:
        return None
    is_longer = level.lengths > limit
    return int(is_longer.argmax()) if is_longer.any() else None


def each_level(value: Any, make: Callable[..., Level], name: str, count: int | None = None) -> Levels:
    """One Level for each given array of lengths (or offsets); not yet compared with each other.

    Numbers on a device need the number of rows: `count` for the innermost.
    """
    if type(value) is Level:
        return (value,)
    if type(value) is np.ndarray and name != "levels":
        return (level_from(value, make, name),)
    if is_on_device(value) and name != "levels":
        return (level_from(value, make, name, count),)
    nested = isinstance(value, (list, tuple)) and any(hasattr(x, "__len__") for x in value)
    if name == "levels" and not nested and not isinstance(value, (list, tuple)):
        raise type_error(
            "levels", "expected a tuple of levels, outermost first", "pass a single array as offsets="
        )
    if not nested and name != "levels":
        return (level_from(value, make, name),)
    is_list = len(value) > 1
    levels: Levels = ()
    for d, x in reversed(tuple(enumerate(value))):
        rows = len(levels[0]) if levels else count
        levels = (level_from(x, make, f"{name}[{d}]" if is_list else name, rows), *levels)
    return levels


def is_on_device(value: object) -> bool:
    """Whether it is an array or a tensor on a device that has kernels."""
    if isinstance(value, (np.ndarray, list, tuple)) or tracing.is_tracing():
        return False
    is_cuda = getattr(value, "is_cuda", None)  # of a tensor, which makes the other one at each call
    shows = hasattr(value, "__cuda_array_interface__") if is_cuda is None else is_cuda
    return bool(shows) and is_placed(value)


def level_from(value: object, make: Callable[..., Level], argument: str, count: int | None = None) -> Level:
    """The given level, or one that `make` makes from an array; its errors name `argument`.

    `count` is the number of rows, which numbers on a device do not show.
    """
    if isinstance(value, Level):
        return value
    try:
        if type(value) is np.ndarray:
            return make(value)
        if is_on_device(value) and make in (Level.from_lengths, Level.from_offsets):
            return make(value, total=count)
        return make(as_ints(value))
    except (TypeError, ValueError, OverflowError, MemoryError) as error:
        raise name_argument(error, argument) from None


def nested_levels(value: object, make: Callable[[Any], Level], argument: str) -> Levels:
    """One Level for each array of a list, outermost first; not yet compared with each other."""
    items = as_list(value, argument, "arrays, one a level")
    if not items:
        raise value_error(argument, "a Ragged needs at least one level")
    for d, item in enumerate(items):
        if not hasattr(item, "__len__") or getattr(item, "ndim", 1) == 0:
            kind = type(item).__name__
            raise type_error(
                argument, f"expected a list of arrays, one per level; item {d} is of type {kind}"
            )
    return tuple(level_from(item, make, f"{argument}[{d}]") for d, item in enumerate(items))


def check_nest(nest: Levels, expected: Levels, argument: str) -> None:
    """Refuse an argument with other levels."""
    if not same_levels(nest, expected):
        verb = "nest" if argument.endswith("s") else "nests"
        text, row = find_difference(nest, expected)
        raise value_error(argument, f"{verb} differently: {text}", row=row)
