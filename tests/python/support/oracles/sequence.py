"""What Paddle's family of ops means, in a few lines of plain Python each; sequences are nested lists."""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul
from typing import Any

Rows = Sequence[Any]
Nested = Sequence[Rows]


def sequence_pool(nested: Nested, kind: str, pad: float = 0.0) -> list[Any]:
    """One number for each sequence of numbers.

    >>> sequence_pool([[1, 3], []], "sqrt")
    [2.82842712474619, 0.0]
    """
    result: dict[str, Any] = {
        "average": lambda row: sum(row) / len(row),
        "sum": sum,
        "sqrt": lambda row: sum(row) / len(row) ** 0.5,
        "max": max,
        "last": lambda row: row[-1],
        "first": lambda row: row[0],
    }
    return [result[kind](row) if len(row) else pad for row in nested]


def sequence_expand(nested: Nested, times: Sequence[int]) -> list[Any]:
    """Sequence k, times[k] times.

    >>> sequence_expand([[1, 2], [3]], [2, 0])
    [[1, 2], [1, 2]]
    """
    return [list(row) for row, n in zip(nested, times, strict=True) for _ in range(n)]


def sequence_concat(parts: Sequence[Nested]) -> list[Any]:
    """Sequence i of every part, end to end.

    >>> sequence_concat([[[1], [2]], [[3], []]])
    [[1, 3], [2]]
    """
    return [[x for row in rows for x in row] for rows in zip(*parts, strict=True)]


def sequence_slice(nested: Nested, offset: Sequence[int], length: Sequence[int]) -> list[Any]:
    """A part of each sequence.

    >>> sequence_slice([[1, 2, 3], [4, 5]], [0, 1], [2, 1])
    [[1, 2], [5]]
    """
    return [list(row[o : o + n]) for row, o, n in zip(nested, offset, length, strict=True)]


def sequence_pad(nested: Nested, pad: Any, maxlen: int) -> list[Any]:
    """Sequences of one length.

    >>> sequence_pad([[1, 2], []], 7, 3)
    [[1, 2, 7], [7, 7, 7]]
    """
    return [[*row, *[pad] * (maxlen - len(row))] for row in nested]


def sequence_reshape(nested: Nested, new_dim: int) -> list[Any]:
    """The numbers of each sequence in rows of another width.

    >>> sequence_reshape([[[1, 2, 3, 4]], []], 2)
    [[[1, 2], [3, 4]], []]
    """
    flat = [[x for row in rows for x in row] for rows in nested]
    return [[row[i : i + new_dim] for i in range(0, len(row), new_dim)] for row in flat]


def sequence_enumerate(nested: Nested, win_size: int, pad: Any = 0) -> list[Any]:
    """Each item with those behind it.

    >>> sequence_enumerate([[1, 2], [4]], 2)
    [[[1, 2], [2, 0]], [[4, 0]]]
    """
    return [
        [[*row[t : t + win_size], *[pad] * (t + win_size - len(row))] for t in range(len(row))]
        for row in nested
    ]


def sequence_erase(nested: Nested, tokens: Rows) -> list[Any]:
    """Sequences without the items that are among tokens.

    >>> sequence_erase([[2, 6], [2]], [2])
    [[6], []]
    """
    return [[x for x in row if x not in tokens] for row in nested]


def sequence_conv(
    nested: Nested, filter: Rows, start: int, length: int, padding: Rows | None = None, stride: int = 1
) -> list[Any]:
    """Windows of rows, laid flat, times a filter.

    >>> sequence_conv([[[1], [2]]], [[1], [10]], 0, 2)
    [[[21], [2]]]
    """
    width, before = len(filter) // length, max(0, -start)

    def at(rows: Rows, k: int) -> Any:
        if 0 <= k < len(rows) or padding is None:
            return rows[k] if 0 <= k < len(rows) else [0] * width
        return padding[before + (k if k < 0 else k - len(rows))]

    result = []
    for rows in nested:
        flat = [[x for k in range(length) for x in at(rows, t + start + k)] for t in range(len(rows))]
        result.append([[sum(map(mul, x, w)) for w in zip(*filter, strict=True)] for x in flat[::stride]])
    return result


def row_conv(nested: Nested, filter: Rows) -> list[Any]:
    """Rows and those behind them, number by number times a row of the filter each.

    >>> row_conv([[[1], [2]]], [[1], [10]])
    [[[21], [2]]]
    """
    return [
        [
            [sum(w[d] * r[d] for w, r in zip(filter, rows[t:], strict=False)) for d in range(len(rows[t]))]
            for t in range(len(rows))
        ]
        for rows in nested
    ]


def sequence_scatter(table: Sequence[Rows], index: Nested, updates: Nested) -> list[Any]:
    """Rows after the updates of their sequence were added.

    >>> sequence_scatter([[0, 0]], [[1, 1]], [[3, 4]])
    [[0, 7]]
    """
    result = [list(row) for row in table]
    for row, places, numbers in zip(result, index, updates, strict=True):
        for place, number in zip(places, numbers, strict=True):
            row[place] += number
    return result


def sequence_topk_avg_pooling(
    nested: Nested, rows: Sequence[int], columns: Sequence[int], topks: Sequence[int], channels: int
) -> list[Any]:
    """Of each row of each channel the sum of its k largest numbers, by k.

    >>> sequence_topk_avg_pooling([[1, 5, 3]], [1], [3], [1, 2], 1)
    [[[5.0, 4.0]]]
    """
    result = []
    for x, r, c in zip(nested, rows, columns, strict=True):
        best = [sorted(x[i * c : (i + 1) * c], reverse=True) for i in range(channels * r)]
        result.append(
            [[sum(best[ch * r + i][:k]) / k for ch in range(channels) for k in topks] for i in range(r)]
        )
    return result


def im2sequence(image: Sequence[Sequence[Rows]], size: tuple[int, int], stride: tuple[int, int]) -> list[Any]:
    """The patches of an image (C, H, W), laid flat.

    >>> im2sequence([[[1, 2, 3]]], (1, 2), (1, 1))
    [[1, 2], [2, 3]]
    """
    down, across = len(image[0]) - size[0] + 1, len(image[0][0]) - size[1] + 1
    return [
        [channel[y + a][x + b] for channel in image for a in range(size[0]) for b in range(size[1])]
        for y in range(0, down, stride[0])
        for x in range(0, across, stride[1])
    ]
