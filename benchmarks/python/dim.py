"""Dims: sums, products, equality and hashes, fresh and seen before.

The peer is the word of labels that an expression means, in plain Python. RETURNN, which this follows, takes
5 us for a sum that it has in its cache, 16 us for one that it has not, 78 us for a chain of paddings, and
0.08 us for `==`, as far as is published; it cannot be installed beside varlen.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import varlen

from ..harness import Case, row

LENGTHS = {"p": 2, "q": 3}
PADS = 10


def _dims() -> tuple[Any, Any]:
    p, q = (varlen.Dim(name, lengths=length) for name, length in LENGTHS.items())
    return p, q


def _linear(p: Any) -> Any:
    return 2 * p + 1


def _chain(p: Any) -> Any:
    for _ in range(PADS):
        p = p + 1
    return p


def _chain_of_words() -> Any:
    expression: Any = "p"
    for _ in range(PADS):
        expression = ("+", expression, 1)
    return expression


def _labels(expression: Any, lengths: dict[str, int]) -> list[Any]:
    """The positions that an expression means, each a tuple of the positions of names."""
    if isinstance(expression, str):
        return [((expression, i),) for i in range(lengths[expression])]
    if isinstance(expression, int):
        return [()] * expression
    first, second = (_labels(part, lengths) for part in expression[1:])
    return [a + b for a in first for b in second] if expression[0] == "*" else first + second


def _length(dim: Any) -> int:
    return int(dim.lengths)


def _contenders(case: Case, expression: Any, call: Callable[..., Any], *dims: Any) -> None:
    case.reference = len(_labels(expression, LENGTHS))

    @case.contender("varlen", show=_length)
    def _() -> Any:
        return call, *dims

    @case.contender("words of labels", show=len)
    def _() -> Any:
        return _labels, expression, LENGTHS


@row("dim.sum", "p + q of two dims with lengths, seen before")
def _(case: Case) -> None:
    p, q = _dims()
    seen = p + q
    case.within("<= 1 us", 1.0)
    _contenders(case, ("+", "p", "q"), operator.add, p, q)
    case.stack.callback(seen.max_size)  # held until the row is over


@row("dim.sum.fresh", "p + q of two dims with lengths, forgotten each time")
def _(case: Case) -> None:
    p, q = _dims()
    case.within("<= 1 us", 1.0)
    _contenders(case, ("+", "p", "q"), operator.add, p, q)


@row("dim.linear", "2 * p + 1, two operations")
def _(case: Case) -> None:
    p, _ = _dims()
    case.per("an operation", 2, 1000.0)
    _contenders(case, ("+", ("*", 2, "p"), 1), _linear, p)


@row("dim.chain", "ten paddings by 1, one after the other")
def _(case: Case) -> None:
    p, _ = _dims()
    case.per("an operation", PADS, 1000.0)
    _contenders(case, _chain_of_words(), _chain, p)


@row("dim.equal", "p + q == another p + q")
def _(case: Case) -> None:
    p, q = _dims()
    word = _labels(("+", "p", "q"), LENGTHS)
    case.reference = True
    case.within("<= 60 ns", 60.0, "ns")

    @case.contender("varlen")
    def _() -> Any:
        return operator.eq, p + q, p + q

    @case.contender("words of labels")
    def _() -> Any:
        return operator.eq, word, list(word)


@row("dim.hash", "hash(p + q)")
def _(case: Case) -> None:
    p, q = _dims()
    word = tuple(_labels(("+", "p", "q"), LENGTHS))
    case.reference = True
    case.within("<= 60 ns", 60.0, "ns")

    @case.contender("varlen", show=lambda number: number == hash(p + q))
    def _() -> Any:
        return hash, p + q

    @case.contender("words of labels", show=lambda number: number == hash(word))
    def _() -> Any:
        return hash, word
