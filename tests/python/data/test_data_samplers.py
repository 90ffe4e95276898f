"""Samplers: every row once an epoch, the budget kept, replicas that agree."""

import pickle

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen import _core
from varlen.data import BatchSampler, BinPacking, Dataset, LengthBuckets, TokenBudget

LENGTHS = st.lists(st.integers(0, 20), max_size=40)


def flat(batches):
    return [row for batch in batches for row in batch]


@settings(max_examples=60, deadline=None)
@given(
    LENGTHS, st.integers(1, 7), st.booleans(), st.sampled_from([{}, {"bucket_size": 5}, {"buckets": [3, 9]}])
)
def test_length_buckets_hold_every_row_once(lengths, size, shuffle, how):
    sampler = LengthBuckets(lengths, size, shuffle=shuffle, seed=3, **how)
    batches = list(sampler)
    assert sorted(flat(batches)) == list(range(len(lengths)))
    assert len(sampler) == len(batches)
    assert all(0 < len(batch) <= size for batch in batches)
    if "buckets" in how:
        for batch in batches:
            assert len(set(np.searchsorted(how["buckets"], np.array(lengths)[batch]))) == 1
    if any(len(batch) == size for batch in batches):
        kept = LengthBuckets(lengths, size, shuffle=shuffle, seed=3, drop_last=True, **how)
        assert all(len(batch) == size for batch in kept)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda n: BatchSampler(n, 9, drop_last=True), "drop_last: it leaves out all rows"),
        (lambda n: LengthBuckets([3] * n, 9, drop_last=True), "drop_last: it leaves out all rows"),
        (lambda n: BinPacking([3] * n, 9, batch_size=9, drop_last=True), "drop_last: it leaves out all rows"),
        (
            lambda n: TokenBudget([3] * n, 2, too_long="skip"),
            "too_long: 'skip' leaves out all rows, each over",
        ),
        (
            lambda n: BinPacking([3] * n, 2, too_long="skip"),
            "too_long: 'skip' leaves out all rows, each over",
        ),
    ],
)
def test_an_epoch_that_loses_every_row_is_refused(make, text):
    for ask in (len, list, lambda sampler: list(vl.data.Loader(range(8), batches=sampler))):
        with pytest.raises(ValueError, match=f"{text}.*an epoch of 8 rows has no batch"):
            ask(make(8))
    assert list(make(0)) == []


def test_length_buckets_sort_within_a_bucket():
    lengths = np.random.default_rng(0).integers(1, 200, 1000)
    sorted_batches = list(LengthBuckets(lengths, 10, shuffle=False))
    assert flat(sorted_batches) == np.argsort(lengths, kind="stable").tolist()
    assert LengthBuckets(lengths, 10).padding_share() < 0.05
    assert LengthBuckets(lengths, 10, bucket_size=10).padding_share() > 0.2


def test_a_length_at_an_edge_is_in_the_bucket_that_ends_there():
    assert list(LengthBuckets([3, 4, 3, 4], 4, buckets=[3], shuffle=False)) == [[0, 2], [1, 3]]


def test_batches_without_values_pad_nothing():
    assert LengthBuckets([0, 0, 0], 2).padding_share() == 0
    assert TokenBudget([], 3).padding_share() == 0


@settings(max_examples=80, deadline=None)
@given(LENGTHS, st.integers(1, 30), st.integers(1, 5), st.booleans())
def test_token_budget_packs_as_a_loop_does(lengths, tokens, most, padded):
    result = _core.token_budget(np.array(lengths, np.int64), tokens, most, padded)
    assert result.tolist() == oracle.budget(lengths, tokens, most, padded)


@settings(max_examples=60, deadline=None)
@given(LENGTHS, st.integers(20, 60), st.booleans(), st.booleans())
def test_token_budget_is_kept(lengths, tokens, padded, shuffle):
    batches = list(TokenBudget(lengths, tokens, padded=padded, shuffle=shuffle))
    assert sorted(flat(batches)) == list(range(len(lengths)))
    for batch in batches:
        some = [lengths[row] for row in batch]
        assert (max(some) * len(some) if padded else sum(some)) <= tokens


def test_token_budget_of_rows_that_are_too_long():
    with pytest.raises(ValueError, match="row 1 has 9 tokens, over max_tokens=5"):
        TokenBudget([1, 9, 2], 5)
    assert [1] in list(TokenBudget([1, 9, 2], 5, too_long="alone"))
    assert sorted(flat(TokenBudget([1, 9, 2], 5, too_long="skip"))) == [0, 2]
    assert sorted(flat(TokenBudget([1, 9, 2], 5, max_len=4))) == [0, 1, 2]


@pytest.mark.parametrize(
    "make",
    [
        lambda n, **k: LengthBuckets(n, 3, **k),
        lambda n, **k: TokenBudget(n, 40, **k),
        lambda n, **k: BinPacking(n, 40, **k),
    ],
)
def test_samplers_share_among_replicas(make):
    lengths = np.random.default_rng(1).integers(0, 20, 53)
    whole = list(make(lengths, seed=5))
    for replicas in (2, 3, 7):
        parts = [list(make(lengths, seed=5, num_replicas=replicas, rank=r)) for r in range(replicas)]
        assert len({len(part) for part in parts}) == 1
        assert len(make(lengths, seed=5, num_replicas=replicas, rank=1)) == len(parts[1])
        dealt = [batch for group in zip(*parts, strict=True) for batch in group]
        assert sorted(dealt[: len(whole)]) == sorted(whole)
        assert dealt[len(whole) :] == dealt[: len(dealt) - len(whole)]
        short = [list(make(lengths, num_replicas=replicas, rank=r, drop_last=True)) for r in range(replicas)]
        assert len({len(part) for part in short}) == 1
        rows = flat(flat(short))
        assert len(set(rows)) == len(rows)


def test_samplers_change_with_the_epoch_alone():
    lengths = np.random.default_rng(1).integers(0, 20, 50)
    sampler, same = LengthBuckets(lengths, 4, seed=2), LengthBuckets(lengths, 4, seed=2)
    first = list(sampler)
    assert list(sampler) == first == list(same)
    sampler.set_epoch(1)
    assert list(sampler) != first
    assert list(pickle.loads(pickle.dumps(sampler))) == list(sampler)
    sampler.set_epoch(0)
    assert list(sampler) == first
    assert list(LengthBuckets(lengths, 4, seed=3)) != first


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: LengthBuckets([1.5], 2), TypeError, "lengths: expected integers"),
        (lambda: LengthBuckets([[1]], 2), ValueError, "lengths: expected one dimension"),
        (
            lambda: LengthBuckets([1], 2, shuffle=7),
            TypeError,
            "shuffle: expected True or False, got 7; use seed=",
        ),
        (lambda: LengthBuckets([2, -1], 2), ValueError, "lengths: row 1 has a negative length, -1"),
        (lambda: LengthBuckets([1], 0), ValueError, "batch_size: expected at least 1, got 0"),
        (lambda: LengthBuckets([1], 1.0), TypeError, "batch_size: expected an int"),
        (lambda: LengthBuckets([1], 1, buckets=[2, 2]), ValueError, "buckets: expected increasing lengths"),
        (lambda: LengthBuckets([1], 1, buckets=[2], bucket_size=3), ValueError, "got both"),
        (lambda: LengthBuckets([1], 1, seed=-1), ValueError, "seed: expected at least 0, got -1"),
        (lambda: LengthBuckets([1], 1, num_replicas=2, rank=2), ValueError, "rank: expected 0 to 1, got 2"),
        (lambda: TokenBudget([1], 0), ValueError, "max_tokens: expected at least 1"),
        (lambda: TokenBudget([1], 1, too_long="cut"), ValueError, "too_long: expected"),
        (lambda: _core.token_budget([1, -2], 5, 5, True), ValueError, "lengths: row 1 has a negative length"),
        (lambda: _core.step_windows([3], 0, 1), ValueError, "max_len: expected at least 1"),
    ],
)
def test_samplers_refuse_what_does_not_fit(make, error, text):
    with pytest.raises(error, match=text):
        make()


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=6), st.integers(1, 6), st.integers(1, 8))
def test_windows_step_through_every_row(lengths, room, stride):
    rows, starts, ends = _core.step_windows(np.array(lengths, np.int64), room, stride)
    assert list(zip(rows.tolist(), starts.tolist(), ends.tolist(), strict=True)) == oracle.windows(
        lengths, room, stride
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=6), st.integers(1, 6), st.integers(1, 8), st.booleans())
def test_windows_reach_the_end_of_their_rows_where_they_leave_no_gap(lengths, room, stride, deep):
    ds = one_key(lengths)
    rows, starts, ends = ds.windows(room, stride, flatten=deep)
    for row, length in enumerate(lengths):
        mine = [(a, b) for r, a, b in zip(rows, starts, ends, strict=True) if r == row]
        assert [a for a, _ in mine] == list(range(0, length, stride))[: len(mine)]
        covered = {event for a, b in mine for event in range(a, b)}
        if stride <= room:
            assert covered == set(range(length))
        else:
            assert covered == {event for event in range(length) if event % stride < room}
    assert [array.tolist() for array in one_key([10]).windows(1, 7)] == [[0, 0], [0, 7], [1, 8]]
    assert [array.tolist() for array in one_key([10]).windows(7)] == [[0, 0], [0, 7], [7, 10]]


def one_key(lengths):
    level = _core.Level.from_lengths(lengths)
    return Dataset(_core.Joint(["x"], [1], [np.arange(level.total)], [level]))


def windows(ds, rows, **options):
    result = ds.batch(rows, windows=True, **options)
    return result["window/start"], result["window/end"]


def test_random_windows_depend_on_seed_epoch_and_row_alone():
    ds = one_key([50, 3, 80])
    rows = np.array([0, 1, 2, 0, -1])
    starts, ends = windows(ds, rows, max_len=7, window="random", seed=4)
    assert (starts[0], starts[2]) == (starts[3], starts[4])
    assert (ends - starts).tolist() == [7, 3, 7, 7, 7]
    for i, row in enumerate(rows):
        alone, _ = windows(ds, [row], max_len=7, window="random", seed=4)
        assert alone[0] == starts[i]
    assert windows(ds, rows, max_len=7, window="random", seed=4, epoch=1)[0].tolist() != starts.tolist()
    for other in (5, 4 + 2**32, 4 + 2**63):  # all 64 bits count
        assert windows(ds, rows, max_len=7, window="random", seed=other)[0].tolist() != starts.tolist()
    rng = np.random.default_rng(0)
    a = windows(ds, [0] * 50, max_len=7, window="random", seed=rng)[0]
    assert len(set(a.tolist())) > 5
    assert a.tolist() != windows(ds, [0] * 50, max_len=7, window="random", seed=rng)[0].tolist()
    again = windows(ds, [0] * 50, max_len=7, window="random", seed=np.random.default_rng(0))[0]
    assert a.tolist() == again.tolist()
    assert len(set(windows(ds, [0] * 50, max_len=7, window="random")[0].tolist())) > 5


def test_random_windows_are_as_likely_everywhere():
    ds = one_key([10])
    rows = np.zeros(20_000, np.int64)
    starts, ends = windows(ds, rows, max_len=4, window="random", seed=np.random.default_rng(1))
    assert np.bincount(starts, minlength=7).min() > 20_000 / 7 * 0.9
    assert set((ends - starts).tolist()) == {4}
    starts, ends = windows(ds, rows, max_len=4, window="balanced_random", seed=np.random.default_rng(1))
    seen = sum(np.bincount(np.arange(a, b), minlength=10) for a, b in zip(starts, ends, strict=True))
    assert seen.min() > seen.max() * 0.9
    assert ((ends - starts) >= 1).all()
    assert ends.max() == 10


def test_windows_lie_inside_start_and_end():
    ds = one_key([10, 6])
    for window in ("from_start", "to_end", "random", "balanced_random"):
        starts, ends = windows(ds, [0, 1], max_len=3, window=window, start=[2, 1], end=[-1, 3], seed=0)
        assert 2 <= starts[0] < ends[0] <= 9
        assert (starts[1], ends[1]) == (1, 3)
    assert windows(ds, [0], max_len=3, window="to_end")[0].tolist() == [7]
    assert windows(ds, [0], max_len=3, window="from_start")[0].tolist() == [0]
    assert windows(ds, [0], max_len=3, truncate="left")[0].tolist() == [7]
    assert windows(ds, [0])[1].tolist() == [10]
