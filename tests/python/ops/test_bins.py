"""Bins of one size filled with whole sequences: as a loop fills them, each once, next to no room left."""

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core
from varlen.data import BinPacking


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 7, 64, 4096, (1 << 20) - 1, 1 << 20, 1 << 40]),
    st.data(),
    st.integers(1, 40),
    st.booleans(),
)
def test_bins_are_those_of_a_loop(size, data, window, best):
    lengths = data.draw(st.lists(st.integers(0, size) | st.integers(0, min(size, 9)), max_size=70))
    rows, offsets = _core.fill_bins(np.array(lengths, np.int64), size, window, best)
    bins = [rows[a:b].tolist() for a, b in pairwise(offsets)]
    assert bins == oracle.bins(lengths, size, window, best)


@pytest.mark.parametrize("fit", ["best", "first"])
@pytest.mark.parametrize("shuffle", [False, True])
def test_packing_holds_every_row_once(fit, shuffle):
    lengths = np.random.default_rng(0).integers(0, 60, 1000)
    batches = list(BinPacking(lengths, 64, fit=fit, window=100, shuffle=shuffle))
    assert sorted(row for batch in batches for row in batch) == list(range(1000))
    assert max(int(lengths[batch].sum()) for batch in batches) <= 64


@pytest.mark.parametrize("fit", ["best", "first"])
def test_packing_leaves_next_to_no_room(fit):
    rng = np.random.default_rng(0)
    lengths = np.minimum(np.exp(rng.normal(5.5, 0.9, 50_000)).astype(np.int64) + 1, 2048)
    sampler = BinPacking(lengths, 2048, fit=fit)
    assert sampler.padding_share() < 0.01
    slots = len(sampler) * 2048
    assert sampler.padding_share() == pytest.approx(1 - lengths.sum() / slots)


def test_packing_changes_with_the_epoch_alone():
    sampler, same = BinPacking(range(1, 50), 60, seed=2), BinPacking(range(1, 50), 60, seed=2)
    first = list(sampler)
    assert list(same) == first
    sampler.set_epoch(1)
    assert list(sampler) != first


def test_rows_that_are_too_long_are_named_cut_or_left_out():
    with pytest.raises(ValueError, match="row 1 has 9 tokens, over size=5; give max_len"):
        BinPacking([1, 9, 2], 5)
    assert sorted(chain(*BinPacking([1, 9, 2], 5, too_long="skip"))) == [0, 2]
    assert list(BinPacking([1, 9, 2], 5, max_len=4, shuffle=False)) == [[1, 0], [2]]


def test_no_rows_fill_no_bins():
    assert list(BinPacking([], 5)) == []
    assert BinPacking([], 5).padding_share() == 0


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: BinPacking([1], 0), ValueError, "size: expected at least 1, got 0"),
        (lambda: BinPacking([1], 2.0), TypeError, "size: expected an int"),
        (lambda: BinPacking([1], 2, window=0), ValueError, "window: expected at least 1, got 0"),
        (lambda: BinPacking([1], 2, fit="worst"), ValueError, "fit: expected"),
        (lambda: BinPacking([1], 2, too_long="alone"), ValueError, "too_long: expected"),
        (lambda: BinPacking([-1], 2), ValueError, "lengths: row 0 has a negative length"),
        (lambda: _core.fill_bins([1, 3], 2, 1, True), ValueError, "lengths: row 1 has 3, over size=2"),
        (lambda: _core.fill_bins([1, -3], 2, 1, True), ValueError, "lengths: row 1 has a negative length"),
        (lambda: _core.fill_bins([1], 0, 1, True), ValueError, "size: expected at least 1, got 0"),
        (lambda: _core.fill_bins([1], 1, 0, True), ValueError, "window: expected at least 1, got 0"),
    ],
)
def test_packing_refuses_what_does_not_fit(make, error, text):
    with pytest.raises(error, match=text):
        make()
