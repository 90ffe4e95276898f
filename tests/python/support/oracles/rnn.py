"""What the path of recurrent layers has to give, one sequence after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def rnn(
    cell: Callable[[Any, Any], tuple[Any, Any]],
    nested: Sequence[Any],
    init: Sequence[Any],
    reverse: bool = False,
) -> tuple[list[list[Any]], list[Any]]:
    """The outputs of a cell over each sequence, and the state after it.

    >>> rnn(lambda x, h: (h + x, h + x), [[1, 2], []], [0, 7])
    ([[1, 3], []], [3, 7])
    """
    outputs, last = [], []
    for row, h in zip(nested, init, strict=True):
        ys = []
        for x in reversed(row) if reverse else row:
            y, h = cell(x, h)
            ys.append(y)
        outputs.append(ys[::-1] if reverse else ys)
        last.append(h)
    return outputs, last


def beam(
    follows: Sequence[Sequence[float]], first: Sequence[int], k: int, steps: int, end: int | None = None
) -> list[list[tuple[float, list[int]]]]:
    """The best hypotheses of each source, score and tokens, where a token tells how likely the next are.

    >>> beam([[-1, -2], [-3, -4]], [0], 2, 2)
    [[(-2, [0, 0]), (-3, [0, 1])]]
    """
    found = []
    for token in first:
        best: list[tuple[float, list[int]]] = [(0, [])]
        for _ in range(steps):
            more: list[tuple[float, list[int]]] = []
            for score, tokens in best:
                row = follows[tokens[-1] if tokens else token]
                ended = bool(tokens) and tokens[-1] == end
                more += [(score, tokens)] if ended else [(score + p, [*tokens, v]) for v, p in enumerate(row)]
            best = sorted((one for one in more if one[0] > float("-inf")), key=lambda one: -one[0])[:k]
        found.append(best)
    return found
