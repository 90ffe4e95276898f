"""The path of recurrent layers: rows to steps and back, and what a step costs beside its cell."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import yardstick
from ..harness import Case, row
from . import sample

ROWS = "1024 sequences of mean 64, 128 wide"


def _drawn(case: Case) -> tuple[sample.Rows, np.ndarray, np.ndarray, np.ndarray]:
    """Rows, the order of their sequences, where each packed row comes from, the sizes of the steps."""
    source = sample.of_lengths(sample.lengths(case.size(1024, 9), case.size(64, 3)) + 1, case.size(128, 4))
    order = np.argsort(-source.lengths, kind="stable")
    steps = np.arange(source.offsets[-1]) - np.repeat(source.offsets[:-1], source.lengths)
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    places = np.lexsort((np.repeat(ranks, source.lengths), steps))
    return source, order, places, np.bincount(steps)


def _goal(case: Case, source: sample.Rows) -> None:
    case.yardstick("memcpy", yardstick.memcpy, np.zeros_like(source.values), source.values)
    count = len(source.lengths)
    case.over("memcpy", 1.3, count * 0.01, "<= 1.3 memcpy + 10 ns a sequence")


@row("rnn.pack", f"rows to steps without padding, {ROWS}: order, counts, rows")
def _(case: Case) -> None:
    source, _, places, sizes = _drawn(case)
    case.reference = [source.values[places], sizes]

    def shown(packed: Any) -> list[Any]:
        return [packed.values, packed.size_at_t]

    @case.contender("varlen", show=shown)
    def _() -> Any:
        import varlen

        return varlen.Ragged(source.values, source.lengths).pack

    @case.contender("torch pack_padded_sequence, of a padded block", needs="torch", show=_of_torch)
    def _() -> Any:
        from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

        block, lengths = pad_sequence(_tensors(source)), _tensor(source.lengths)
        return lambda: pack_padded_sequence(block, lengths, enforce_sorted=False)

    @case.contender("torch pack_sequence, of a list", needs="torch", show=_of_torch)
    def _() -> Any:
        from torch.nn.utils.rnn import pack_sequence

        tensors = _tensors(source)
        return lambda: pack_sequence(tensors, enforce_sorted=False)

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from .by_hand import rnn as by_hand_rnn

        def by_kernel() -> list[np.ndarray]:
            ranked = np.argsort(-source.lengths, kind="stable")
            counts = np.empty(source.lengths[ranked[0]], np.int64)
            out = np.empty_like(source.values)
            by_hand_rnn.pack_rows(source.values, source.offsets, ranked, counts, out)
            return [out, counts]

        return by_kernel

    _goal(case, source)


@row("rnn.unpack", f"steps without padding to rows, {ROWS}")
def _(case: Case) -> None:
    source, order, places, sizes = _drawn(case)
    case.reference = source.values
    rows = source.values[places]

    @case.contender("varlen", show=lambda result: result.values)
    def _() -> Any:
        import varlen

        return varlen.Packed(rows, source.lengths, order).to_ragged

    @case.contender("torch pad_packed_sequence, to a padded block", needs="torch", show=_flat)
    def _() -> Any:
        from torch.nn.utils.rnn import PackedSequence, pad_packed_sequence

        packed = PackedSequence(_tensor(rows), _tensor(sizes), _tensor(order), None)
        return pad_packed_sequence, packed

    @case.contender("numba", needs="numba")
    def _() -> Any:
        from .by_hand import rnn as by_hand_rnn

        def by_kernel() -> np.ndarray:
            out = np.empty_like(rows)
            by_hand_rnn.unpack_rows(rows, source.offsets, order, sizes, out)
            return out

        return by_kernel

    _goal(case, source)


@row("rnn.step", "a cell of nothing over words of 42 sentences, then over the sentences: what a step costs")
def _(case: Case) -> None:
    draw = np.random.default_rng(0)
    documents = draw.integers(0, case.size(17, 4), 8)
    sentences = draw.integers(0, case.size(300, 5), documents.sum())
    values = draw.normal(size=(sentences.sum(), 4)).astype(np.float32)
    starts = [np.zeros((len(lengths), 4), np.float32) for lengths in (sentences, documents)]
    case.reference = starts[1]

    def nothing(x: Any, h: Any) -> Any:
        return h

    @case.contender("varlen")
    def _() -> Any:
        import varlen

        words = varlen.Ragged(values, [documents, sentences])

        def twice() -> np.ndarray:
            _, h = varlen.sequence.rnn(nothing, words, starts[0])
            return varlen.sequence.rnn(nothing, h, starts[1])[1]

        return twice

    @case.contender("a loop over PackedSequence", needs="torch", show=lambda result: result.numpy())
    def _() -> Any:
        import torch

        words = torch.from_numpy(values)
        starting = [torch.from_numpy(start) for start in starts]
        lengths = [torch.from_numpy(documents), torch.from_numpy(sentences)]

        def twice() -> Any:
            h = _stepped(words, lengths[1], starting[0], nothing)
            return _stepped(h, lengths[0], starting[1], nothing)

        return twice

    case.per("a step", max(1, int(documents.max(initial=0) + sentences.max(initial=0))), 1000, 5900)


def _stepped(rows: Any, lengths: Any, start: Any, cell: Any) -> Any:
    """The last states of a cell, stepped over what torch packs; empty sequences keep what they start with."""
    import torch
    from torch.nn.utils.rnn import pack_sequence

    there = lengths.nonzero()[:, 0]
    packed = pack_sequence([x for x in rows.split(lengths.tolist()) if len(x)], enforce_sorted=False)
    h = start[there][packed.sorted_indices]
    outputs, ended, at = [], [], 0
    for size in packed.batch_sizes.tolist():
        if size < len(h):
            ended.append(h[size:])
            h = h[:size]
        h = cell(packed.data[at : at + size], h)
        outputs.append(h)
        at += size
    torch.cat(outputs)
    last = start.clone()
    last[there] = torch.cat([h, *reversed(ended)])[packed.unsorted_indices]
    return last


def _tensor(array: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(array)


def _tensors(source: sample.Rows) -> list[Any]:
    return list(_tensor(source.values).split(source.lengths.tolist()))


def _of_torch(packed: Any) -> list[np.ndarray]:
    """Its rows in the stable order of equal lengths, which torch does not keep."""
    sizes, order = packed.batch_sizes.numpy(), packed.sorted_indices.numpy()
    lengths = np.searchsorted(-sizes, -np.arange(len(order)))
    stable = np.lexsort((order, -lengths))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    picked = [starts[t] + np.flatnonzero(lengths > t)[np.argsort(np.argsort(stable)[:size], kind="stable")]
              for t, size in enumerate(sizes)]  # fmt: skip
    return [packed.data.numpy()[np.concatenate(picked)], sizes]


def _flat(result: Any) -> np.ndarray:
    block, lengths = result
    return np.concatenate([block.numpy()[:n, k] for k, n in enumerate(lengths.tolist())])
