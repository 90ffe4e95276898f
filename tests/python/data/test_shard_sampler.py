"""An order that reads each shard about once in an epoch: all rows once, near shards mixed, resumable."""

import numpy as np
import pytest
import varlen
from hypothesis import given
from hypothesis import strategies as st
from varlen.data import Dataset, ShardSampler


def shards(counts):
    joints = [varlen.JointNestedRaggedTensorDict({"x": [[i]] * n}) for i, n in enumerate(counts) if n]
    return Dataset(joints)


@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=12),
    st.integers(1, 7),
    st.integers(1, 15),
    st.booleans(),
    st.integers(1, 3),
)
def test_every_row_comes_once(counts, size, window, shuffle, ranks):
    dataset = shards(counts)
    how = {"window": window, "shuffle": shuffle, "seed": 3, "uneven": "empty", "num_replicas": ranks}
    samplers = [ShardSampler(dataset, size, rank=rank, **how) for rank in range(ranks)]
    batches = [list(sampler) for sampler in samplers]
    assert len({len(own) for own in batches}) == 1
    rows = [row for own in batches for batch in own for row in batch]
    assert sorted(rows) == list(range(sum(counts)))
    assert all(len(batch) <= size for own in batches for batch in own)
    if not shuffle and ranks == 1:
        assert rows == sorted(rows)


@pytest.mark.parametrize("window", [1, 4, 16])
def test_shards_are_read_only_under_the_window(window):
    dataset = shards([100] * 60)
    sampler = ShardSampler(dataset, 50, window=window, seed=1)
    batches = np.array(list(sampler)) // 100
    places = [np.flatnonzero((batches == shard).any(axis=1)) for shard in range(60)]
    spans = [place[-1] - place[0] + 1 for place in places]
    assert max(spans) <= 2 * window + 3  # batches: two for each shard, and what the window's ends touch
    meet = [len(np.unique(batch)) for batch in batches]
    assert np.mean(meet) >= {1: 1, 4: 3, 16: 12}[window]
    assert min(meet[:4]) >= 0.4 * np.mean(meet)  # at the edges too


def test_orders_are_of_seed_and_epoch():
    dataset = shards([40] * 20)
    sampler = ShardSampler(dataset, 16, window=4, seed=5)
    first = list(sampler)
    assert list(ShardSampler(dataset, 16, window=4, seed=5)) == first
    assert list(ShardSampler(dataset, 16, window=4, seed=6)) != first
    sampler.set_epoch(1)
    second = list(sampler)
    assert second != first
    order = np.argsort([row for batch in first for row in batch])
    again = np.argsort([row for batch in second for row in batch])
    assert abs(np.corrcoef(order, again)[0, 1]) < 0.7  # of 20 shards, in two random orders


def test_views_and_states():
    dataset = shards([10] * 30).select(np.arange(299, -1, -3))
    sampler = ShardSampler(dataset, 8, window=3, seed=2)
    iterator = iter(sampler)
    seen = [next(iterator) for _ in range(4)]
    again = ShardSampler(dataset, 8, window=3, seed=2)
    again.load_state_dict(sampler.state_dict())
    assert seen + list(again) == list(ShardSampler(dataset, 8, window=3, seed=2))
    with pytest.raises(ValueError, match=r"window 3, here 4"):
        ShardSampler(dataset, 8, window=4, seed=2).load_state_dict(sampler.state_dict())
    other = shards([20] * 15).select(np.arange(299, -1, -3))
    with pytest.raises(ValueError, match=r"shards \w+, here"):
        ShardSampler(other, 8, window=3, seed=2).load_state_dict(sampler.state_dict())
    batches = list(dataset.epoch(batches=ShardSampler(dataset, 8, window=3, seed=2)))
    assert sum(len(batch["x"]) for batch in batches) == 100


def test_wrong_arguments_are_told():
    dataset = shards([3, 4])
    with pytest.raises(TypeError, match="dataset: expected a Dataset, which knows the shards"):
        ShardSampler([1, 2, 3], 2)
    with pytest.raises(ValueError, match="window"):
        ShardSampler(dataset, 2, window=0)
    with pytest.raises(ValueError, match="batch_size"):
        ShardSampler(dataset, 0)
    assert list(ShardSampler(dataset.select([]), 2)) == []
