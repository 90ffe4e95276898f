"""What lookups, spans, insertions and hashes mean, in a few lines of plain Python each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_64, _32 = 2**64 - 1, 2**32 - 1


def gather_add(table: Sequence[Any], indices: Sequence[Sequence[int]], zero: Any = 0) -> list[Any]:
    """The sum of the rows that each row of indices names.

    >>> gather_add([1, 2, 4], [[0, 2], [1, 1]])
    [5, 4]
    """
    return [sum((table[i] for i in row), zero) for row in indices]


def scatter_add(table: Sequence[Any], indices: Sequence[int], values: Sequence[Any]) -> list[Any]:
    """The table after each row of values was added to the row that its index names.

    >>> scatter_add([0, 0, 1], [2, 2], [3, 4])
    [0, 0, 8]
    """
    result = list(table)
    for i, value in zip(indices, values, strict=True):
        result[i] = result[i] + value
    return result


def spans(nested: Sequence[Sequence[Any]], at: Sequence[Sequence[tuple[int, int]]]) -> list[Any]:
    """The rows of each span of each sequence.

    >>> spans([[1, 2, 3], [4]], [[(0, 2), (1, 3)], []])
    [[[1, 2], [2, 3]], []]
    """
    return [[list(row[a:b]) for a, b in some] for row, some in zip(nested, at, strict=True)]


def align(nested: Sequence[Sequence[Any]], alignment: Sequence[Sequence[Sequence[int]]]) -> list[Any]:
    """The rows of the pieces of each token of each sequence.

    >>> align([[1, 2, 3], [4]], [[[0, 1], [2]], [[]]])
    [[[1, 2], [3]], [[]]]
    """
    return [
        [[row[k] for k in token] for token in tokens] for row, tokens in zip(nested, alignment, strict=True)
    ]


def insert_rows(
    nested: Sequence[Sequence[Any]], at: Sequence[Sequence[int]], rows: Sequence[Sequence[Any]]
) -> list[Any]:
    """Each sequence with rows put in front of those that `at` says.

    >>> insert_rows([[1, 2], [3]], [[1, 2], []], [[7, 8], []])
    [[1, 7, 2, 8], [3]]
    """
    result = []
    for row, places, new in zip(nested, at, rows, strict=True):
        put = [[x for p, x in zip(places, new, strict=True) if p == t] for t in range(len(row) + 1)]
        result.append([x for t, old in enumerate([*row, None]) for x in [*put[t], old]][:-1])
    return result


def murmur64(keys: Sequence[int]) -> int:
    """MurmurHash64A of keys of 64 bits, seed 0.

    >>> murmur64([1])
    10357027354812746030
    """
    m, h = 0xC6A4A7935BD1E995, 8 * len(keys) * 0xC6A4A7935BD1E995 & _64
    for k in keys:
        k = k * m & _64
        h = (h ^ ((k ^ k >> 47) * m & _64)) * m & _64
    h = (h ^ h >> 47) * m & _64
    return h ^ h >> 47


def murmur128(key: int, seed: int) -> list[int]:
    """MurmurHash3_x64_128 of one key of 64 bits, as words of 32 bits.

    >>> murmur128(1, 0)
    [4211459146, 4457399, 3547175942, 1032506804]
    """
    k = key * 0x87C37B91114253D5 & _64
    k = (k << 31 | k >> 33) * 0x4CF5AD432745937F & _64
    words = _mixed(seed ^ k ^ 8, seed ^ 8)
    for by in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        words = [(w ^ w >> 33) * by & _64 for w in words]
    words = _mixed(*(w ^ w >> 33 for w in words))
    return [word >> shift & _32 for word in words for shift in (0, 32)]


def _mixed(a: int, b: int) -> list[int]:
    first = (a + b) & _64
    return [first, (b + first) & _64]
