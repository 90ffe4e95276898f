"""Drawn expressions of dims against the words that they mean.

`PYTHONPATH=tests/python/support python -m oracles.dims.expressions --draws 1000000` draws a million.
"""

from __future__ import annotations

import argparse
import operator
import random
from collections.abc import Mapping
from typing import Any

from varlen._core import Dim

from oracles.dims import words
from oracles.dims.words import Expression

NAMES = "pqr"
# With two positions of each name, words that differ for any lengths differ.
LENGTHS = {"p": 2, "q": 3, "r": 2}
# Longer words take the time of many others, and say no more.
MOST_LABELS = 200
_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "ceildiv": Dim.ceildiv_right,
}


def draw(source: random.Random, depth: int = 6) -> Expression:
    """A random expression, as `words` has them.

    >>> draw(random.Random(0), depth=0) in {"p", "q", "r", -2, -1, 0, 1, 2, 3}
    True
    """
    if depth == 0 or source.random() < 0.25:
        return source.choice(NAMES) if source.random() < 0.7 else source.randint(-2, 3)
    sign = source.choice("++-*n")
    if sign == "n":
        return ("-", draw(source, depth - 1))
    return (sign, draw(source, depth - 1), draw(source, depth - 1))


def build(expression: Expression, dims: Mapping[str, Dim]) -> Dim | int:
    """The dim of an expression, made by the operators of `Dim`.

    >>> build(("+", ("*", 2, "p"), 1), {"p": Dim("p")})
    Dim('2*p+1')
    """
    if isinstance(expression, str):
        return dims[expression]
    if isinstance(expression, int):
        return expression
    sign, *parts = expression[0], *(build(part, dims) for part in expression[1:])
    if len(parts) == 1:
        return -parts[0]
    if sign in ("//", "ceildiv"):
        parts[0] = 0 * next(iter(dims.values())) + parts[0]
    result: Dim | int = _OPERATORS[sign](*parts)
    return result


def count_mismatches(draws: int, seed: int = 0, depth: int = 6) -> tuple[int, int, int]:
    """How often dims are equal and their words are not, or the other way around.

    Two thirds of the expressions are followed by one that means the same, written in another way.

    >>> count_mismatches(200)[0]
    0
    """
    source = random.Random(seed)
    mismatches = classes = left_out = done = 0
    while done < draws:
        dims = {name: Dim(name) for name in NAMES}
        by_word: dict[Any, Any] = {}
        by_dim: dict[int, Any] = {}
        for _ in range(min(draws - done, 100_000)):
            done += 1
            expression = draw(source, depth)
            if _most_labels(expression) > MOST_LABELS:
                left_out += 1
                continue
            if source.random() < 0.67:
                expression = rewrite(source, expression)
            dim = 0 * dims["p"] + build(expression, dims)
            word = tuple(words.labels(expression, LENGTHS))
            same_word = by_word.setdefault(word, dim)
            same_dim = by_dim.setdefault(dim._id, (word, dim))
            mismatches += same_word != dim or same_dim[0] != word
        classes += len(by_word)
    return mismatches, classes, left_out


def rewrite(source: random.Random, expression: Expression) -> Expression:
    """An expression that means the same.

    >>> expression = ("*", ("+", "p", "q"), "r")
    >>> again = rewrite(random.Random(1), expression)
    >>> words.labels(again, LENGTHS) == words.labels(expression, LENGTHS)
    True
    """
    if isinstance(expression, tuple):
        expression = (expression[0], *(rewrite(source, part) for part in expression[1:]))
    match expression:
        case ("*", ("+", x, y), z):
            ways: list[Any] = [("+", ("*", x, z), ("*", y, z))]
        case ("*", ("*", x, y), z):
            ways = [("*", x, ("*", y, z))]
        case ("+", ("+", x, y), z):
            ways = [("+", x, ("+", y, z))]
        case ("-", ("+", x, y), z):
            ways = [("+", x, ("-", y, z))]
        case ("-", ("+", x, y)) | ("-", ("-", ("-", x), y)):
            ways = [("-", ("-", y), x)] if expression[1][0] == "+" else [("+", y, x)]
        case ("-", x, y):
            ways = [("+", x, ("-", y)), ("-", ("-", y, x))]
        case ("-", x):
            ways = [("*", -1, x)]
        case ("*", 2, x):
            ways = [("+", x, x)]
        case x:
            ways = [("+", x, 0), ("*", x, 1), ("-", ("+", x, 2), 2)]
    chosen: Expression = source.choice([expression, *ways])
    return chosen


def _most_labels(expression: Any) -> int:
    if isinstance(expression, str):
        return LENGTHS[expression]
    if isinstance(expression, int):
        return abs(expression)
    parts = [_most_labels(part) for part in expression[1:]]
    return parts[0] * parts[1] if expression[0] == "*" else sum(parts)


def main() -> int:
    """Draw, compare, and say how many mismatches there are; 1 where there are any.

    >>> callable(main)
    True
    """
    parser = argparse.ArgumentParser(
        prog="python -m oracles.dims.expressions", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("--draws", type=int, default=20_000, help="how many expressions (20000)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (0)")
    parser.add_argument("--depth", type=int, default=6, help="how deep operators may stand (6)")
    given = parser.parse_args()
    mismatches, classes, left_out = count_mismatches(given.draws, given.seed, given.depth)
    print(f"{given.draws} draws, {left_out} too long, {classes} classes, {mismatches} mismatches")
    return mismatches > 0


if __name__ == "__main__":
    raise SystemExit(main())
