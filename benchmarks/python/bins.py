"""Sequences packed into bins of one size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..harness import Case, row

SIZE = 2048
WINDOW = 10_000
# Of a second, for each sequence.
GOAL = 100.0


def _of_lists(bins: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The bin of each sequence, from the sequences of each bin."""
    out = np.empty(len(bins), np.int64)
    out[bins] = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return out


def _by_hand(lengths: np.ndarray, bins: np.ndarray) -> None:
    """Windows by themselves, each sorted."""
    from .by_hand import bins as by_hand_bins

    opened = 0
    for begin in range(0, len(lengths), WINDOW):
        some = lengths[begin : begin + WINDOW]
        order = np.argsort(-some, kind="stable")
        put = np.empty(len(some), np.int64)
        by_hand_bins.first_fit(some[order], SIZE, put)
        bins[begin + order] = put + opened
        opened += int(put.max()) + 1


@row("bins.first_fit", "1 M lengths packed into bins of 2048, first-fit decreasing")
def _(case: Case) -> None:
    count = case.size(1_000_000, 3000)
    drawn = np.exp(np.random.default_rng(0).normal(5.5, 0.9, count))
    lengths = np.minimum(drawn.astype(np.int64) + 1, SIZE)
    case.reference = _plain(lengths)
    case.per("a sequence", count, GOAL)

    @case.contender("varlen", show=lambda result: _of_lists(*result))
    def _() -> Any:
        from varlen import _core

        return _core.fill_bins, lengths, SIZE, WINDOW, False

    bins = np.empty(count, np.int64)

    @case.contender("numba", needs="numba", show=lambda _: bins)
    def _() -> Any:
        return _by_hand, lengths, bins


def _plain(lengths: np.ndarray) -> np.ndarray:
    """Where each sequence goes: the rooms of the bins of a window as one array."""
    bins = np.empty(len(lengths), np.int64)
    opened = 0
    for begin in range(0, len(lengths), WINDOW):
        some = lengths[begin : begin + WINDOW]
        rooms = np.full(len(some), SIZE)
        for k in np.argsort(-some, kind="stable"):
            at = int(np.argmax(rooms >= some[k]))
            rooms[at] -= some[k]
            bins[begin + k] = opened + at
        opened += int(np.count_nonzero(rooms < SIZE))
    return bins


@row("bins.pack", "10,000 sequences packed into rows of 2048, tokens and positions, best fit")
def _(case: Case) -> None:
    count = case.size(10_000, 50)
    rng = np.random.default_rng(0)
    lengths = np.minimum(np.exp(rng.normal(5.5, 0.9, count)).astype(np.int64) + 1, SIZE)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = rng.integers(1, 5000, offsets[-1])
    case.reference = np.bincount(tokens)
    case.per("a token", len(tokens), 10.0)

    def of_all(found: np.ndarray) -> np.ndarray:
        return np.bincount(found[found > 0], minlength=len(case.reference))

    @case.contender("varlen", show=lambda batch: of_all(batch["input_ids"].reshape(-1)))
    def _() -> Any:
        import varlen

        ragged = varlen.Ragged(tokens, offsets=offsets)
        return lambda: varlen.data.pack({"input_ids": ragged}, SIZE)

    @case.contender(
        "TRL",
        needs=("trl", "datasets"),
        show=lambda d: of_all(np.concatenate(list(d.with_format("numpy")["input_ids"]))),
    )
    def _() -> Any:
        import datasets
        import pyarrow
        from trl.data_utils import pack_dataset

        lists = pyarrow.LargeListArray.from_arrays(offsets, tokens)
        held = datasets.Dataset(pyarrow.table({"input_ids": lists}))
        how = {"keep_in_memory": True, "load_from_cache_file": False, "batch_size": WINDOW}
        datasets.disable_progress_bars()
        return lambda: pack_dataset(held, SIZE, map_kwargs=how)

    @case.contender(
        "torchtune",
        needs=("torchtune.datasets", "torchao.dtypes.nf4tensor"),
        show=lambda packed: of_all(np.concatenate([one["tokens"] for one in packed.packs])),
    )
    def _() -> Any:
        from functools import partial

        from torchtune.datasets import PackedDataset, _packed

        samples = [
            {"tokens": some.tolist(), "labels": some.tolist()} for some in np.split(tokens, offsets[1:-1])
        ]
        _packed.tqdm = partial(_packed.tqdm, disable=True)
        return lambda: PackedDataset(samples, max_seq_len=SIZE)
