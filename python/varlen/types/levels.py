"""Levels from what people give: lengths, offsets, or Level objects, for one level or several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from varlen._core import Level
from varlen.types.arguments import whole
from varlen.types.values import as_ints

Levels = tuple[Level, ...]


def levels_from(count: int, lengths: Any = None, offsets: Any = None, levels: Any = None) -> Levels:
    """Levels over `count` rows, from exactly one of lengths, offsets and levels, outermost first.

    Raises
    ------
    TypeError
        None or more than one of them, or a dtype that is no integer.
    ValueError
        A negative length, decreasing offsets, or levels that do not fit each other or the rows.

    Examples
    --------
    >>> levels_from(3, lengths=[2, 1])
    (Level(2 sequences, 3 rows, lengths 1 to 2),)
    """
    given = [x for x in (lengths, offsets, levels) if x is not None]
    if len(given) != 1:
        named = {"lengths": lengths, "offsets": offsets, "levels": levels}
        names = " and ".join(name for name, value in named.items() if value is not None)
        raise TypeError(f"give exactly one of lengths, offsets and levels, got {names or 'none'}")
    name = "lengths" if lengths is not None else "levels" if offsets is None else "offsets"
    make = Level.from_lengths if name == "lengths" else Level.from_offsets
    made = each_level(given[0], make, name)
    if not made:
        raise ValueError(f"{name}: a Ragged needs at least one level")
    check(count, made, name)
    return made


def check(count: int, levels: Levels, argument: str = "levels") -> None:
    """Refuse levels that do not fit each other or the rows.

    Examples
    --------
    >>> check(4, (Level([2, 1]),))
    Traceback (most recent call last):
    ValueError: levels: the lengths add up to 3, but there are 4 values
    """
    for d in range(len(levels) - 1):
        if levels[d].total != len(levels[d + 1]):
            raise ValueError(
                f"{argument}: the lengths of level {d} add up to {levels[d].total}, "
                f"but level {d + 1} has {len(levels[d + 1])} sequences"
            )
    if levels[-1].total != count:
        raise ValueError(
            f"{argument}: the lengths add up to {levels[-1].total}, but there are {count} values"
        )


def same(a: Levels, b: Levels) -> bool:
    """Whether two containers nest alike: by identity where they share levels, else by comparison.

    Examples
    --------
    >>> same((Level([1]),), (Level([1]),))
    True
    """
    return len(a) == len(b) and all(x is y or x == y for x, y in zip(a, b, strict=True))


def difference(a: Levels, b: Levels) -> str:
    """Where two nestings part, in words; what an error says.

    Examples
    --------
    >>> difference((Level([1, 2]),), (Level([1, 3]),))
    'sequence 1 of level 0 has length 2 in one and 3 in the other'
    """
    if len(a) != len(b):
        return f"one has {len(a)} levels, the other {len(b)}"
    for d, (x, y) in enumerate(zip(a, b, strict=True)):
        if len(x) != len(y):
            return f"level {d} has {len(x)} sequences in one and {len(y)} in the other"
        if x != y:
            i = int((x.lengths != y.lengths).argmax())
            return (
                f"sequence {i} of level {d} has length {x.lengths[i]} in one and {y.lengths[i]} in the other"
            )
    return "they do not differ"


def composed(levels: Levels) -> Level:
    """One level that cuts the rows as the first of `levels` does through all that nest below it.

    Examples
    --------
    >>> composed((Level([2, 1]), Level([3, 0, 2]))).lengths
    array([3, 2])
    """
    over = levels[0]
    for below in levels[1:]:
        over = Level.from_offsets(below.offsets[over.offsets])
    return over


def place_of(level: int, levels: Levels, argument: str = "level") -> int:
    """The level that a caller means, counted from the outermost; negatives count from the innermost.

    Raises
    ------
    IndexError
        There is no such level.

    Examples
    --------
    >>> place_of(-1, (Level([2, 1]), Level([3, 0, 2])))
    1
    """
    depth = len(levels)
    at = whole(level, argument, -(2**63))
    if not -depth <= at < depth:
        raise IndexError(f"{argument}: {at} is out of range for {depth} levels")
    return at % depth


def not_empty(level: Level) -> None:
    """Refuse sequences without rows.

    Raises
    ------
    ValueError
        Naming the first.

    Examples
    --------
    >>> not_empty(Level([2, 0]))
    Traceback (most recent call last):
    ValueError: lengths: sequence 1 is empty
    """
    if len(level) and level.shortest == 0:
        raise ValueError(f"lengths: sequence {int((level.lengths == 0).argmax())} is empty")


def each_level(given: Any, make: Callable[[Any], Level], name: str) -> Levels:
    """One Level for each array of lengths (or offsets) that is given; not yet held against each other.

    Examples
    --------
    >>> each_level([[2], [1, 3]], Level.from_lengths, "lengths")
    (Level(1 sequences, 2 rows, lengths 2 to 2), Level(2 sequences, 4 rows, lengths 1 to 3))
    """
    if type(given) is Level:
        return (given,)
    if type(given) is np.ndarray and name != "levels":
        return (make(given),)
    nested = isinstance(given, (list, tuple)) and any(hasattr(x, "__len__") for x in given)
    if name == "levels" and not nested and not isinstance(given, (list, tuple)):
        raise TypeError("levels: expected a tuple of levels, outermost first; for one array use offsets=")
    if not nested and name != "levels":
        return (make(as_ints(given)),)
    made = []
    for d, item in enumerate(given):
        try:
            made.append(item if isinstance(item, Level) else make(as_ints(item)))
        except (TypeError, ValueError, OverflowError) as error:
            place = name if len(given) == 1 else f"{name}[{d}]"
            raise type(error)(f"{place}: {str(error).partition(': ')[2]}") from None
    return tuple(made)
