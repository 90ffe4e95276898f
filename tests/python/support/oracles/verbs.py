"""What each kernel means, in plain Python on nested lists, at most ten lines each: what tests hold to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

Rows = Sequence[Any]


def offsets(lengths: Sequence[int]) -> list[int]:
    """N lengths to n + 1 offsets.

    >>> offsets([3, 0, 2])
    [0, 3, 3, 5]
    """
    out = [0]
    for length in lengths:
        out.append(out[-1] + length)
    return out


def row_ids(lengths: Sequence[int]) -> list[int]:
    """The sequence of each row.

    >>> row_ids([3, 0, 2])
    [0, 0, 0, 2, 2]
    """
    return [i for i, length in enumerate(lengths) for _ in range(length)]


def positions(lengths: Sequence[int]) -> list[int]:
    """The place of each row inside its sequence.

    >>> positions([3, 0, 2])
    [0, 1, 2, 0, 1]
    """
    return [j for length in lengths for j in range(length)]


def nest(rows: Rows, levels: Sequence[Sequence[int]]) -> list[Any]:
    """Rows laid end to end and the lengths of each level, outermost first, to nested lists.

    >>> nest([7, 8, 9], [[1, 2], [2, 0, 1]])
    [[[7, 8]], [[], [9]]]
    """
    nested = list(rows)
    for lengths in reversed(levels):
        ends = offsets(lengths)
        nested = [nested[a:b] for a, b in pairwise(ends)]
    return nested


def gather(nested: Rows, index: Any) -> list[Any]:
    """Sequences by a slice, by integers, or by bools.

    >>> gather([[1], [], [2, 3]], [-1, 0]), gather([[1], [], [2, 3]], [True, False, True])
    ([[2, 3], [1]], [[1], [2, 3]])
    """
    if isinstance(index, slice):
        return list(nested[index])
    if len(index) and all(isinstance(i, bool) for i in index):
        return [row for row, keep in zip(nested, index, strict=True) if keep]
    return [nested[i] for i in index]


def window(nested: Rows, window: slice) -> list[Any]:
    """A slice of every sequence.

    >>> window([[1, 2], [], [3, 4, 5]], slice(-2, None))
    [[1, 2], [], [4, 5]]
    """
    return [row[window] for row in nested]


def concat(parts: Sequence[Rows], axis: int = 0) -> list[Any]:
    """One after another, or sequence by sequence.

    >>> concat([[[1], []], [[2], [3]]], axis=1)
    [[1, 2], [3]]
    """
    if axis == 0:
        return [row for part in parts for row in part]
    return [[x for row in rows for x in row] for rows in zip(*parts, strict=True)]


def pad(
    nested: Rows, sizes: Sequence[int], fill: Any, side: str = "right", truncate: str = "right"
) -> list[Any]:
    """Every sequence to sizes[0] slots, those inside it to sizes[1], and so on.

    >>> pad([[1, 2, 3], [4]], [2], 0), pad([[[1]], []], [1, 2], 0, "left")
    ([[1, 2], [4, 0]], [[[0, 1]], [[0, 0]]])
    """
    out: list[Any] = []
    for row in nested:
        kept = row[max(0, len(row) - sizes[0]) :] if truncate == "left" else row[: sizes[0]]
        gap: list[Any] = [[] if sizes[1:] else fill] * (sizes[0] - len(kept))
        full = [*gap, *kept] if side == "left" else [*kept, *gap]
        out.append(pad(full, sizes[1:], fill, side, truncate) if sizes[1:] else full)
    return out


def flatten(nested: Rows, depth: int) -> tuple[list[Any], list[list[int]]]:
    """Nested lists to leaves and the lengths of `depth` levels, outermost first. `nest` turned round.

    >>> flatten([[[7, 8]], [[], [9]]], 2)
    ([7, 8, 9], [[1, 2], [2, 0, 1]])
    """
    rows, levels = list(nested), []
    for _ in range(depth):
        levels.append([len(row) for row in rows])
        rows = [leaf for row in rows for leaf in row]
    return rows, levels


def narrowest(leaves: Rows) -> str:
    """The name of the smallest dtype that holds them: bool, an unsigned or signed integer, or float32.

    >>> narrowest([True]), narrowest([True, 300]), narrowest([1, -1]), narrowest([1, 0.5])
    ('bool', 'uint16', 'int8', 'float32')
    """
    if any(isinstance(leaf, float) for leaf in leaves):
        return "float32"
    if all(isinstance(leaf, bool) for leaf in leaves):
        return "bool"
    kind, spare = ("uint", 0) if min(leaves) >= 0 else ("int", 1)
    need = max(max(leaves).bit_length(), (-min(leaves) - 1).bit_length() if spare else 0) + spare
    return next(f"{kind}{bits}" for bits in (8, 16, 32, 64) if need <= bits)


def broadcast_rows(outer: Rows, lengths: Sequence[int], how: str = "first", fill: Any = 0) -> list[Any]:
    """A value for each sequence to a value for each of its places: the first of them, or all with "repeat".

    >>> broadcast_rows([7, 8, 9], [2, 0, 1]), broadcast_rows([7, 8, 9], [2, 0, 1], "repeat")
    ([7, 0, 9], [7, 7, 9])
    """
    places = [(value, j) for value, length in zip(outer, lengths, strict=True) for j in range(length)]
    return [value if j == 0 or how == "repeat" else fill for value, j in places]


def longest(nested: Rows, depth: int) -> list[int]:
    """The length of the longest list on each of `depth` axes below the outermost: sizes that cut nothing.

    >>> longest([[[1, 2], [3]], []], 2), longest([], 2)
    ([2, 2], [0, 0])
    """
    return [max(lengths, default=0) for lengths in flatten(nested, depth)[1]]


def present(nested: Rows, depth: int) -> list[Any]:
    """True for every leaf under `depth` levels: what `pad` makes a mask of.

    >>> present([[7, 8], []], 1), pad(present([[7, 8], []], 1), [2], False)
    ([[True, True], []], [[True, True], [False, False]])
    """
    return [present(row, depth - 1) if depth else True for row in nested]


def cut(
    row: Rows, start: int | None, end: int | None, room: int | None, truncate: str = "right"
) -> list[Any]:
    """A window of a sequence: what a slice leaves of it, and of that `room` places at most.

    >>> cut([1, 2, 3, 4], -3, None, 2), cut([1, 2, 3, 4], None, None, 2, "left")
    ([2, 3], [3, 4])
    """
    kept = list(row[start:end])
    if room is None or len(kept) <= room:
        return kept
    return kept[len(kept) - room :] if truncate == "left" else kept[:room]


def join(before: Rows, row: Rows, after: Rows, most: int | None = None, truncate: str = "right") -> list[Any]:
    """A sequence between a prefix and a suffix; where they are more than `most` together, it gives way.

    >>> join([0], [1, 2, 3], [9], 4), join([0], [1, 2, 3], [9], 4, "left")
    ([0, 1, 2, 9], [0, 2, 3, 9])
    """
    room = None if most is None else max(0, most - len(before) - len(after))
    return [*before, *cut(row, None, None, room, truncate), *after]


def reduce(rows: Rows, lengths: Sequence[int], op: Callable[[Rows], Any], empty: Any = None) -> list[Any]:
    """What `op` makes of the rows of each sequence; `empty` of those without.

    >>> reduce([3, 1, 4], [2, 0, 1], max, empty=-1)
    [3, -1, 4]
    """
    return [op(sequence) if len(sequence) else empty for sequence in nest(rows, [lengths])]


def scan(
    rows: Rows,
    lengths: Sequence[int],
    join: Callable[[Any, Any], Any],
    start: Any = None,
    reverse: bool = False,
) -> list[Any]:
    """Each row joined with all before it in its sequence; with `start`, that and those before it alone.

    >>> scan([3, 1, 4, 1], [3, 1], max), scan([3, 1, 4, 1], [3, 1], max, -1, reverse=True)
    ([3, 3, 4, 1], [4, 4, -1, -1])
    """
    out: list[Any] = []
    for sequence in nest(rows, [lengths]):
        row = sequence[::-1] if reverse else sequence
        result = list(accumulate(row if start is None else [start, *row], join))[: len(row)]
        out += result[::-1] if reverse else result
    return out


def shift(rows: Rows, lengths: Sequence[int], by: Sequence[int], fill: Any = None) -> list[Any]:
    """The rows of sequence i moved by[i] places on, `fill` where none arrives; without it round and round.

    >>> shift([1, 2, 3, 4], [3, 1], [1, -1], 0), shift([1, 2, 3, 4], [3, 1], [1, -1])
    ([0, 1, 2, 0], [3, 1, 2, 4])
    """
    out: list[Any] = []
    for sequence, k in zip(nest(rows, [lengths]), by, strict=True):
        n = len(sequence)
        inside = (0 <= t - k < n or fill is None for t in range(n))
        out += [sequence[(t - k) % n] if there else fill for t, there in enumerate(inside)]
    return out


def einsum(equation: str, *operands: Sequence[Any]) -> list[Any]:
    """The sum of products of each sequence by itself, without the letter of sequences.

    >>> [int(x) for x in einsum("t,t->", [[1, 2], []], [[3, 4], []])]
    [11, 0]
    """
    return [np.einsum(equation, *blocks) for blocks in zip(*operands, strict=True)]


def expand(rows: Rows, lengths: Sequence[int]) -> list[Any]:
    """Row i as often as sequence i is long.

    >>> expand([7, 8], [2, 1])
    [7, 7, 8]
    """
    return [row for row, length in zip(rows, lengths, strict=True) for _ in range(length)]


def windows(lengths: Sequence[int], room: int, stride: int) -> list[tuple[int, int, int]]:
    """(row, begin, end) of windows that step through every sequence; the last one reaches its end.

    >>> windows([3, 0], 2, 2), windows([5], 2, 3)
    ([(0, 0, 2), (0, 2, 3)], [(0, 0, 2), (0, 3, 5)])
    """
    out = []
    for row, length in enumerate(lengths):
        begins = range(0, length, stride)
        last = next((k for k, begin in enumerate(begins) if begin + room >= length), len(begins) - 1)
        out += [(row, begin, min(begin + room, length)) for begin in begins[: last + 1]]
    return out


def seq2col(nested: Rows, left: int, right: int, dilation: int = 1, stride: int = 1) -> list[Any]:
    """Every stride-th row of each sequence as its places, None outside the sequence.

    >>> seq2col([[1], [2, 3]], 1, 1), seq2col([[1, 2, 3]], 0, 1, dilation=2, stride=2)
    ([[[None, 1, None]], [[None, 2, 3], [2, 3, None]]], [[[1, 3], [3, None]]])
    """
    reach = range(-left * dilation, right * dilation + 1, dilation)
    return [
        [[row[t + k] if 0 <= t + k < len(row) else None for k in reach] for t in range(0, len(row), stride)]
        for row in nested
    ]


def places_of(used: Rows, total: int) -> list[list[tuple[int, int]]]:
    """For each row 0, 1, ... the (row, place) of what `seq2col` made of them that it stands in, in order.

    >>> places_of(seq2col([[0, 1]], 1, 0), 2)
    [[(0, 1), (1, 0)], [(1, 1)]]
    """
    out: list[list[tuple[int, int]]] = [[] for _ in range(total)]
    for t, places in enumerate(row for rows in used for row in rows):
        for k, name in enumerate(places):
            if name is not None:
                out[name].append((t, k))
    return out


def full_windows(lengths: Sequence[int], size: int, step: int) -> list[tuple[int, int, int]]:
    """(row, begin, end) of those of `windows` that are not cut short.

    >>> full_windows([5, 1], 2, 2)
    [(0, 0, 2), (0, 2, 4)]
    """
    return [(row, begin, end) for row, begin, end in windows(lengths, size, step) if end - begin == size]


def budget(lengths: Sequence[int], max_tokens: int, max_count: int, padded: bool) -> list[int]:
    """Where each of consecutive batches ends; a sequence over the budget is alone in its batch.

    >>> budget([2, 2, 3], 5, 9, padded=False), budget([2, 2, 3], 5, 9, padded=True)
    ([2, 3], [2, 3])
    """
    ends: list[int] = []
    batch = list(lengths[:1])
    for i, length in enumerate(lengths[1:], start=1):
        batch.append(length)
        cost = max(batch) * len(batch) if padded else sum(batch)
        if cost > max_tokens or len(batch) > max_count:
            ends, batch = [*ends, i], [length]
    return ends + [len(lengths)] * bool(lengths)


def bins(lengths: Sequence[int], size: int, window: int, best: bool) -> list[list[int]]:
    """Sequences put whole into bins of one size, the longest of each window first.

    >>> bins([2, 5, 3, 3], 8, 4, best=True), bins([2, 5, 3, 3], 8, 2, best=True)
    ([[1, 2], [3, 0]], [[1, 0], [2, 3]])
    """
    done: list[list[int]] = []
    for begin in range(0, len(lengths), window):
        held: list[list[int]] = []
        turns: list[int] = []  # which sequence each bin was filled with last
        rows = sorted(range(len(lengths))[begin : begin + window], key=lambda row: -lengths[row])
        for turn, row in enumerate(rows):
            rooms = [size - sum(lengths[k] for k in some) for some in held]
            fits = [(room, -turns[b], b) for b, room in enumerate(rooms) if room >= lengths[row]]
            if not fits:
                held, turns, fits = [*held, []], [*turns, turn], [(size, -turn, len(held))]
            b = min(fits)[2] if best else fits[0][2]
            held[b].append(row)
            turns[b] = turn
        done += held
    return done


def order(lengths: Sequence[int], ties: str = "reversed") -> list[int]:
    """The longest first: which sequence is in each column of a time-major block.

    >>> order([2, 3, 2, 3]), order([2, 3, 2, 3], "stable")
    ([3, 1, 2, 0], [1, 3, 0, 2])
    """
    if ties == "stable":
        return sorted(range(len(lengths)), key=lambda i: -lengths[i])
    return sorted(range(len(lengths)), key=lambda i: (lengths[i], i), reverse=True)


def columns(nested: Rows, ties: str = "reversed") -> list[list[Any]]:
    """The rows that are there at each step, in the order of the columns.

    >>> columns([[1], [2, 3], []])
    [[2, 1], [3]]
    """
    rows = [nested[i] for i in order([len(row) for row in nested], ties)]
    return [[row[t] for row in rows if t < len(row)] for t in range(max(map(len, rows), default=0))]


def softmax(numbers: Sequence[float], lengths: Sequence[int], temperature: float = 1.0) -> list[float]:
    """Exponentials as shares of their sum in each sequence, of finite numbers.

    >>> softmax([0.0, 0.0, 5.0], [2, 1])
    [0.5, 0.5, 1.0]
    """
    result = []
    for row in nest(numbers, [lengths]):
        lifted = [math.exp((x - max(row)) / temperature) for x in row]
        result += [x / math.fsum(lifted) for x in lifted]
    return result
