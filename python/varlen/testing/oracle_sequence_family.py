"""What Paddle's family of ops means, in a few lines of plain Python each; sequences are nested lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Rows = Sequence[Any]
Nested = Sequence[Rows]


def sequence_pool(nested: Nested, kind: str, pad: float = 0.0) -> list[Any]:
    """One number for each sequence of numbers.

    Examples
    --------
    >>> sequence_pool([[1, 3], []], "sqrt")
    [2.82842712474619, 0.0]
    """
    made: dict[str, Any] = {
        "average": lambda row: sum(row) / len(row),
        "sum": sum,
        "sqrt": lambda row: sum(row) / len(row) ** 0.5,
        "max": max,
        "last": lambda row: row[-1],
        "first": lambda row: row[0],
    }
    return [made[kind](row) if len(row) else pad for row in nested]


def sequence_concat(parts: Sequence[Nested]) -> list[Any]:
    """Sequence i of every part, end to end.

    Examples
    --------
    >>> sequence_concat([[[1], [2]], [[3], []]])
    [[1, 3], [2]]
    """
    return [[x for row in rows for x in row] for rows in zip(*parts, strict=True)]


def sequence_slice(nested: Nested, offset: Sequence[int], length: Sequence[int]) -> list[Any]:
    """A part of each sequence.

    Examples
    --------
    >>> sequence_slice([[1, 2, 3], [4, 5]], [0, 1], [2, 1])
    [[1, 2], [5]]
    """
    return [list(row[o : o + n]) for row, o, n in zip(nested, offset, length, strict=True)]


def sequence_pad(nested: Nested, pad: Any, maxlen: int) -> list[Any]:
    """Sequences of one length.

    Examples
    --------
    >>> sequence_pad([[1, 2], []], 7, 3)
    [[1, 2, 7], [7, 7, 7]]
    """
    return [[*row, *[pad] * (maxlen - len(row))] for row in nested]


def sequence_reshape(nested: Nested, new_dim: int) -> list[Any]:
    """The numbers of each sequence in rows of another width.

    Examples
    --------
    >>> sequence_reshape([[[1, 2, 3, 4]], []], 2)
    [[[1, 2], [3, 4]], []]
    """
    flat = [[x for row in rows for x in row] for rows in nested]
    return [[row[i : i + new_dim] for i in range(0, len(row), new_dim)] for row in flat]


def sequence_enumerate(nested: Nested, win_size: int, pad: Any = 0) -> list[Any]:
    """Each item with those behind it.

    Examples
    --------
    >>> sequence_enumerate([[1, 2], [4]], 2)
    [[[1, 2], [2, 0]], [[4, 0]]]
    """
    return [
        [[*row[t : t + win_size], *[pad] * (t + win_size - len(row))] for t in range(len(row))]
        for row in nested
    ]


def sequence_erase(nested: Nested, tokens: Rows) -> list[Any]:
    """Sequences without the items that are among tokens.

    Examples
    --------
    >>> sequence_erase([[2, 6], [2]], [2])
    [[6], []]
    """
    return [[x for x in row if x not in tokens] for row in nested]
