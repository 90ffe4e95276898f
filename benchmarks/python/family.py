"""Ops on sequences as Paddle names them: interleaved, cut, filtered, pooled and convolved."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

# Of memcpy, and of the product alone.
GOAL = 1.15
GEMM = 1.1


def _ragged(source: sample.Rows) -> Any:
    import varlen

    return varlen.Ragged(source.values, source.lengths)


def _awkward(source: sample.Rows) -> Any:
    import awkward

    content = awkward.contents.NumpyArray(source.values)
    return awkward.Array(awkward.contents.ListOffsetArray(awkward.index.Index64(source.offsets), content))


def _flat(array: Any) -> np.ndarray:
    import awkward

    return awkward.flatten(array).to_numpy()


def _counts(array: Any) -> np.ndarray:
    import awkward

    return awkward.num(array).to_numpy()


def _concat(case: Case, parts: int, mean: int, width: int) -> None:
    count = case.size(2_097_152 // parts // mean // max(1, width), 21)
    sources = [sample.rows(count, mean, width, seed=p) for p in range(parts)]
    lengths = np.stack([source.lengths for source in sources], axis=1)
    ends = np.cumsum([0, *(len(source.values) for source in sources)])
    starts = np.stack([source.offsets[:-1] + a for source, a in zip(sources, ends, strict=False)], axis=1)

    def order() -> np.ndarray:
        """The rows of all parts laid end to end, in the order that they get."""
        flat, sizes = starts.reshape(-1), lengths.reshape(-1)
        return np.repeat(flat - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())

    case.reference = np.concatenate([source.values for source in sources])[order()]
    out = case.buffer(case.reference.shape, case.reference.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.sequence_concat, [_ragged(source) for source in sources]

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import family as by_hand_family

        values = tuple(source.values for source in sources)
        offsets = tuple(source.offsets for source in sources)
        return by_hand_family.interleave_rows if width else by_hand_family.interleave, values, offsets, out

    @case.contender("NumPy concatenate and index")
    def _() -> Any:
        return lambda: np.concatenate([source.values for source in sources])[order()]

    @case.contender("awkward", needs="awkward", show=_flat)
    def _() -> Any:
        import awkward

        arrays = [_awkward(source) for source in sources]
        return lambda: awkward.concatenate(arrays, axis=1)

    case.yardstick("memcpy", yardstick.memcpy, out, case.reference)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


for _parts in (2, 8):
    for _width in (0, 64):
        _named = f"rows of {_width} numbers" if _width else "plain numbers"

        @row(
            f"sequence.concat.{_parts}.{_width or 1}",
            f"sequence_concat of {_parts} inputs, {_named}, mean length 64, 8 MB",
        )
        def _(case: Case, parts: int = _parts, width: int = _width) -> None:
            _concat(case, parts, 64, width)


def _slice(case: Case, width: int) -> None:
    source = sample.rows(case.size(16_384 // max(1, width), 21), 128, width)
    values, lengths, offsets = source
    first, size = lengths // 4, lengths // 2
    inside = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
    case.reference = values[
        (inside >= np.repeat(first, lengths)) & (inside < np.repeat(first + size, lengths))
    ]
    out = case.buffer(case.reference.shape, values.dtype)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.sequence_slice, _ragged(source), first, size

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from .by_hand import family as by_hand_family

        return by_hand_family.cut_rows if width else by_hand_family.cut, values, offsets, first, size, out

    @case.contender("NumPy index")
    def _() -> Any:
        def cut() -> np.ndarray:
            begins = offsets[:-1] + first
            return values[np.repeat(begins - np.cumsum(size) + size, size) + np.arange(size.sum())]

        return cut

    case.yardstick("memcpy", yardstick.memcpy, out, case.reference)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


for _width in (0, 64):
    _named = f"rows of {_width} numbers" if _width else "plain numbers"

    @row(f"sequence.slice.{_width or 1}", f"sequence_slice of {_named}, mean length 128, half of each, 4 MB")
    def _(case: Case, width: int = _width) -> None:
        _slice(case, width)


@row("sequence.erase", "sequence_erase of 3 tokens, 1 in 33 of int64, mean length 64, 8 MB")
def _(case: Case) -> None:
    lengths = sample.lengths(case.size(16_384, 21), 64)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    values = np.random.default_rng(1).integers(0, 100, int(offsets[-1]))
    source = sample.Rows(values, lengths, offsets)
    tokens = np.array([3, 50, 97])
    keep = ~np.isin(values, tokens)
    ends = np.concatenate([[0], np.cumsum(keep)])[offsets[1:]]
    case.reference = [values[keep], ends]
    out, made_ends = case.buffer(len(values), values.dtype), case.buffer(len(lengths), np.int64)

    @case.contender("varlen", show=lambda result: [result.values, result.offsets[1:]])
    def _() -> Any:
        import varlen

        return varlen.sequence_erase, _ragged(source), tokens

    @case.contender("numba", needs="numba", show=lambda _: [out[: ends[-1]], made_ends])
    def _() -> Any:
        from .by_hand import family as by_hand_family

        return by_hand_family.erase, values, offsets, tokens, out, made_ends

    @case.contender("NumPy mask")
    def _() -> Any:
        def erased() -> Any:
            left = (values != 3) & (values != 50) & (values != 97)
            return [values[left], np.concatenate([[0], np.cumsum(left)])[offsets[1:]]]

        return erased

    @case.contender(
        "awkward",
        needs="awkward",
        show=lambda result: [_flat(result), np.cumsum(_counts(result))],
    )
    def _() -> Any:
        array = _awkward(source)
        return lambda: array[(array != 3) & (array != 50) & (array != 97)]

    case.yardstick("memcpy", yardstick.memcpy, out, values)
    case.over("memcpy", GOAL, text=f"<= {GOAL:g} of memcpy")


def _pool(case: Case, kind: str, outer: bool) -> None:
    """Of skewed lengths, in cache."""
    source = sample.drawn("zipf", case.size(2_048, 21), 16)
    groups = np.full(len(source.lengths) // 3, 3)
    groups[-1] += len(source.lengths) - groups.sum()
    offsets = source.offsets[np.concatenate([[0], np.cumsum(groups)])] if outer else source.offsets
    by_numpy = {"sum": np.add, "max": np.maximum}[kind]
    case.reference = by_numpy.reduceat(source.values, offsets[:-1])
    out = case.buffer(len(offsets) - 1, np.float32)
    case.per("an element", len(source.values), 0.25, best=0.7)

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        r = varlen.Ragged(source.values, [groups, source.lengths])
        if outer:
            return lambda: varlen.sequence_pool(r, kind, level=0)
        return lambda: varlen.sequence_pool(r, kind).values

    @case.contender("numba", needs="numba", show=lambda _: out)
    def _() -> Any:
        from . import by_hand

        return getattr(by_hand, f"reduce_{kind}"), source.values, offsets, out

    @case.contender("torch segment_reduce", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        values, lengths = torch.from_numpy(source.values), torch.from_numpy(np.diff(offsets))
        return lambda: torch.segment_reduce(values, kind, lengths=lengths, unsafe=True)

    @case.contender("awkward", needs="awkward", show=lambda result: np.asarray(result))
    def _() -> Any:
        import awkward

        array = _awkward(sample.Rows(source.values, np.diff(offsets), offsets))
        return lambda: getattr(awkward, kind)(array, axis=-1)


for _kind in ("sum", "max"):
    for _outer in (False, True):

        @row(
            f"sequence.pool.{_kind}.{'outer' if _outer else 'last'}",
            f"sequence_pool ({_kind}) at the {'outer' if _outer else 'last'} of two levels, skewed lengths",
        )
        def _(case: Case, kind: str = _kind, outer: bool = _outer) -> None:
            _pool(case, kind, outer)


@row("sequence.conv", "sequence_conv, width 3, 128 to 128 numbers, mean length 64, 8 MB")
def _(case: Case) -> None:
    source = sample.rows(case.size(256, 5), 64, 128)
    values, lengths, offsets = source
    filter = np.random.default_rng(2).integers(-3, 4, (3 * 128, 128)).astype(np.float32)
    columns = np.zeros((len(values), 3 * 128), np.float32)
    for a, b in pairwise(offsets):
        columns[a + 1 : b, :128] = values[a : max(a, b - 1)]
        columns[a:b, 128:256] = values[a:b]
        columns[a : max(a, b - 1), 256:] = values[a + 1 : b]
    case.reference = columns @ filter
    out = case.buffer(case.reference.shape, np.float32)

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.sequence_conv, _ragged(source), filter

    @case.contender("numba and NumPy", needs="numba")
    def _() -> Any:
        from .by_hand import family as by_hand_family

        laid = np.empty_like(columns)

        def conv() -> np.ndarray:
            by_hand_family.windows(values, offsets, laid)
            return laid @ filter

        return conv

    @case.contender("torch conv1d, padded", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        torch.set_num_threads(1)
        padded = torch.from_numpy(sample.padded(source)).transpose(1, 2).contiguous()
        weight = torch.from_numpy(filter.reshape(3, 128, 128).transpose(2, 1, 0).copy())
        there = torch.arange(padded.shape[2]) < torch.from_numpy(lengths)[:, None]
        return lambda: torch.nn.functional.conv1d(padded, weight, padding=1).transpose(1, 2)[there]

    case.yardstick("the product", np.matmul, columns, filter, out)
    case.over("the product", GEMM, text=f"<= {GEMM:g} of the product alone")
