"""What expressions of dims mean: words of labelled positions, in a few lines over tuples.

An expression is a name, an int, ("-", x), or ("+", x, y), ("-", x, y), ("*", x, y).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Expression = str | int | tuple[Any, ...]
Label = tuple[Any, ...]
Word = list[tuple[Label, int]]

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "ceildiv": lambda x, y: -(-x // y),
}


def labels(expression: Expression, lengths: Mapping[str, int]) -> Word:
    """The word of an expression: its positions, each a label, and 1 or -1 where it is taken off.

    A position that stands beside its own inverse vanishes with it.

    >>> labels(("*", "p", ("+", 1, "q")), {"p": 1, "q": 1})
    [((('p', 0),), 1), ((('p', 0), ('q', 0)), 1)]
    >>> labels(("-", ("+", "p", 1), 1), {"p": 1}) == labels("p", {"p": 1})
    True
    """
    if isinstance(expression, str):
        return [(((expression, i),), 1) for i in range(lengths[expression])]
    if isinstance(expression, int):
        return [((), 1 if expression > 0 else -1)] * abs(expression)
    parts = [labels(part, lengths) for part in expression[1:]]
    if expression[0] == "*":
        return reduced(
            [x for at, sign in parts[0] for x in _signed(sign, [(at + b, s) for b, s in parts[1]])]
        )
    last = _signed(1 if expression[0] == "+" else -1, parts[-1])
    return reduced([x for part in parts[:-1] for x in part] + last)


def _signed(sign: int, word: Word) -> Word:
    return word if sign > 0 else [(at, -s) for at, s in reversed(word)]


def reduced(word: Word) -> Word:
    """A word without positions that stand beside their own inverse.

    >>> reduced([("a", 1), ("b", 1), ("b", -1), ("a", -1), ("c", 1)])
    [('c', 1)]
    """
    out: Word = []
    for at, sign in word:
        if out and out[-1] == (at, -sign):
            out.pop()
        else:
            out.append((at, sign))
    return out


def length(expression: Expression, lengths: Mapping[str, Any]) -> int | NDArray[np.int64]:
    """The length of an expression as plain arithmetic, not yet cut off at 0.

    >>> length(("+", ("*", 2, "p"), 1), {"p": 3})
    7
    """
    result: int | NDArray[np.int64]
    if isinstance(expression, str):
        result = lengths[expression]
    elif isinstance(expression, int):
        result = expression
    elif len(expression) == 2:
        result = -length(expression[1], lengths)
    else:
        x, y = (length(part, lengths) for part in expression[1:])
        result = _ARITHMETIC[expression[0]](x, y)
    return result
