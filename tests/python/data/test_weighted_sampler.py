"""Rows drawn by their weights: how often, once or again; ranks, states, bad input."""

import json
from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.data import WeightedSampler


def flat(batches):
    return [row for batch in batches for row in batch]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([0, 0.5, 1, 7]), min_size=1, max_size=30),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.integers(0, 3),
)
def test_draws_are_rows_with_a_weight(weights, size, replacement, drop_last, seed):
    if not any(weights):
        weights[-1] = 1
    nonzero = [row for row, weight in enumerate(weights) if weight]
    how = {"replacement": replacement, "drop_last": drop_last, "seed": seed}
    count = len(weights) if replacement else len(nonzero)
    sampler = WeightedSampler(len(weights), size, weights, **how)
    if drop_last and count < size:
        with pytest.raises(ValueError, match="drop_last: it leaves out all rows"):
            list(sampler)
        return
    batches = list(sampler)
    rows = flat(batches)
    assert set(rows) <= set(nonzero)
    assert len(rows) == (count // size * size if drop_last else count)
    assert all(len(batch) == size for batch in batches[:-1])
    if not replacement:
        assert len(set(rows)) == len(rows)
        if not drop_last:
            assert sorted(rows) == nonzero


def test_draws_follow_the_weights():
    weights = np.array([0, 1, 2, 3, 0, 4.0])
    counts = np.bincount(flat(WeightedSampler(6, 100, weights, num_samples=50_000)), minlength=6)
    expected = weights / weights.sum()
    off = abs(counts / 50_000 - expected)
    assert (off <= 5 * np.sqrt(expected * (1 - expected) / 50_000)).all()


def test_draws_without_replacement_are_those_of_one_after_another():
    weights = [1, 2, 5]
    trials = 6000
    counts = Counter()
    sampler = WeightedSampler(3, 2, weights, num_samples=2, replacement=False)
    for epoch in range(trials):
        sampler.set_epoch(epoch)
        counts[tuple(flat(sampler))] += 1
    for first, second in permutations(range(3), 2):
        chance = weights[first] / 8 * weights[second] / (8 - weights[first])
        assert counts[first, second] / trials == pytest.approx(chance, abs=5 * np.sqrt(chance / trials))


def test_ranks_and_states_are_those_of_every_sampler():
    def make(**how):
        return WeightedSampler(40, 3, np.arange(40), num_samples=31, **how)

    whole = list(make(num_replicas=1, rank=0))
    parts = [list(make(num_replicas=2, rank=rank, uneven="empty")) for rank in (0, 1)]
    assert Counter(map(tuple, parts[0] + parts[1])) - Counter([()]) == Counter(map(tuple, whole))
    for count in range(len(whole) + 1):
        begun, again = make(), make()
        batches = iter(begun)
        first = [next(batches) for _ in range(count)]
        again.load_state_dict(json.loads(json.dumps(begun.state_dict())))
        again.set_epoch(0)
        assert first + list(again) == whole
    other = WeightedSampler(40, 3, np.arange(40)[::-1], num_samples=31)
    with pytest.raises(ValueError, match="state: was saved for other data or options: weights"):
        other.load_state_dict(make().state_dict())


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: WeightedSampler(3, 1, [1, 2]), ValueError, r"weights: expected one for each of 3 rows, got"),
        (lambda: WeightedSampler(3, 1, [1, -2, 1]), ValueError, "weights: row 1 has -2; expected numbers"),
        (lambda: WeightedSampler(2, 1, [1, np.nan]), ValueError, "weights: row 1 has nan; expected"),
        (lambda: WeightedSampler(2, 1, [np.inf, 1]), ValueError, "weights: row 0 has inf; expected"),
        (lambda: WeightedSampler(2, 1, [0, 0]), ValueError, "weights: all 2 are 0; expected one above 0"),
        (lambda: WeightedSampler(2, 1, ["a", "b"]), TypeError, "weights: expected numbers, got dtype"),
        (lambda: WeightedSampler(2, 0), ValueError, "batch_size: expected at least 1, got 0"),
        (lambda: WeightedSampler(2, 1, num_samples=0), ValueError, "num_samples: expected at least 1, got 0"),
        (
            lambda: WeightedSampler(3, 1, [0, 1, 1], num_samples=3, replacement=False),
            ValueError,
            "num_samples: expected at most 2, the rows with a weight above 0, got 3; pass replacement=True",
        ),
        (lambda: WeightedSampler(0, 1, num_samples=3), ValueError, "num_samples: expected at most 0"),
        (lambda: WeightedSampler(3, 1, shuffle=True), TypeError, "no option 'shuffle'"),
    ],
)
def test_weights_that_do_not_fit_are_refused(make, error, text):
    with pytest.raises(error, match=text):
        make()
    assert list(WeightedSampler(0, 1)) == []
