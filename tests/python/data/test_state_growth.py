"""Runs that go on after rows were added: an epoch keeps its rows, the next has all, changes are told."""

import itertools
import json

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io

LENGTHS = [3, 1, 0, 7, 2, 2, 9, 4, 1, 5, 6, 3]

SAMPLERS = {
    "BatchSampler": lambda n, **how: vl.data.BatchSampler(n, 3, shuffle=True, seed=1, **how),
    "in order": lambda n, **how: vl.data.BatchSampler(n, 3, **how),
    "LengthBuckets": lambda n, **how: vl.data.LengthBuckets(n, 2, bucket_size=5, seed=1, **how),
    "TokenBudget": lambda n, **how: vl.data.TokenBudget(n, 12, seed=1, **how),
    "skips": lambda n, **how: vl.data.TokenBudget(n, 6, seed=1, too_long="skip", **how),
    "WeightedSampler": lambda n, **how: vl.data.WeightedSampler(
        n, 3, [1 + (i % 3) * 2 for i in range(len(n))], seed=1, **how
    ),
    "without replacement": lambda n, **how: vl.data.WeightedSampler(
        n, 3, [i % 3 for i in range(1, len(n) + 1)], replacement=False, seed=1, **how
    ),
    "BinPacking": lambda n, **how: vl.data.BinPacking(n, 10, batch_size=2, seed=1, **how),
    "pieces": lambda n, **how: vl.data.BinPacking(n, 4, batch_size=2, too_long="split", seed=1, **how),
}


def saved(sampler, count):
    batches = list(itertools.islice(sampler, count))
    return batches, json.loads(json.dumps(sampler.state_dict()))


def plain(batches):
    return [(list(batch), getattr(batch, "start", None), getattr(batch, "bins", None)) for batch in batches]


@pytest.mark.parametrize("name", SAMPLERS)
@pytest.mark.parametrize("taken", [0, 2])
def test_an_epoch_goes_on_with_the_rows_that_it_began_with(name, taken):
    make = SAMPLERS[name]
    first, more = np.array(LENGTHS), np.array([*LENGTHS, 4, 8, 1, 2])
    whole = plain(make(first))
    batches, state = saved(make(first), taken)
    again = make(more)
    again.load_state_dict(state)
    assert again.new_rows == range(12, 16)
    assert plain(batches) + plain(again) == whole
    assert len(again) == len(whole)
    again.set_epoch(1)
    assert again.new_rows == range(16, 16)
    fresh = make(more)
    fresh.set_epoch(1)
    assert plain(again) == plain(fresh)


@pytest.mark.parametrize("name", SAMPLERS)
def test_it_may_be_stopped_and_grow_twice_among_other_ranks(name):
    make = SAMPLERS[name]
    sets = [np.array(LENGTHS), np.array([*LENGTHS, 4, 1]), np.array([*LENGTHS, 4, 1, 6, 2, 2])]
    whole = plain(make(sets[0]))
    one, state = saved(make(sets[0]), 1)
    middle = make(sets[1])
    middle.load_state_dict(state)
    two = list(itertools.islice(middle, 1))
    state = json.loads(json.dumps(middle.state_dict()))
    assert state["data"]["rows"] == make(sets[0]).state_dict()["data"]["rows"]
    ranks = [make(sets[2], num_replicas=2, rank=rank, uneven="empty") for rank in (0, 1)]
    state["options"]["uneven"] = "empty"
    rest = []
    for sampler in ranks:
        sampler.load_state_dict(state)
        assert sampler.new_rows == range(12, 17)
        rest += [batch for batch in sampler if len(batch)]
    key = sorted(map(repr, plain(one) + plain(two) + plain(rest)))
    assert key == sorted(map(repr, whole))


@settings(max_examples=50, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 40), min_size=1, max_size=60),
    more=st.lists(st.integers(0, 40), max_size=5),
    data=st.data(),
)
def test_a_row_that_changed_is_told(lengths, more, data):
    row = data.draw(st.integers(0, len(lengths) - 1))
    change = data.draw(st.integers(-lengths[row], 20).filter(bool))
    state = vl.data.BatchSampler(lengths, 3).state_dict()
    other = [*lengths, *more]
    other[row] += change
    text = f"row {row} is {abs(change)} {'longer' if change > 0 else 'shorter'}"
    with pytest.raises(ValueError, match=f"state: was saved for other data.*; {text}$"):
        vl.data.BatchSampler(other, 3).load_state_dict(state)
    vl.data.BatchSampler([*lengths, *more], 3).load_state_dict(state)


def test_of_many_changes_the_first_is_placed():
    lengths = np.arange(1600) % 7
    state = vl.data.BatchSampler(lengths, 3).state_dict()
    other = lengths.copy()
    other[[750, 900, 1300]] += [1, 3, 2]
    with pytest.raises(ValueError, match="the first row that differs is one of 700 to 799"):
        vl.data.BatchSampler(other, 3).load_state_dict(state)
    swapped = lengths[::-1].copy()
    with pytest.raises(ValueError, match="the first row that differs is one of 0 to 99"):
        vl.data.BatchSampler(swapped, 3).load_state_dict(state)


def test_fewer_rows_are_refused_as_before():
    state = vl.data.BatchSampler(LENGTHS, 3).state_dict()
    with pytest.raises(ValueError, match="rows 12, here 11"):
        vl.data.BatchSampler(LENGTHS[:-1], 3).load_state_dict(state)
    assert "new rows" not in repr(vl.data.BatchSampler(LENGTHS, 3))


def test_what_is_new_is_shown():
    sampler = vl.data.BatchSampler([*LENGTHS, 1, 2], 3, shuffle=True)
    sampler.load_state_dict(vl.data.BatchSampler(LENGTHS, 3, shuffle=True).state_dict())
    assert repr(sampler).startswith("BatchSampler(4 batches of 12 rows in epoch 0, ")
    assert "2 new rows from the next on" in repr(sampler)


def test_a_state_that_never_was_leaves_the_sampler_as_it_is():
    state = vl.data.BatchSampler(LENGTHS, 3).state_dict()
    state["steps"] = [[1, 99]]
    sampler = vl.data.BatchSampler([*LENGTHS, 5], 3)
    with pytest.raises(ValueError, match="99 batches of epoch 0 were taken, of 4"):
        sampler.load_state_dict(state)
    assert sampler.new_rows == range(13, 13)
    assert len(list(sampler)) == 5


def rows(begin, end):
    return {"id": list(range(begin, end)), "x": [list(range(i % 5)) for i in range(begin, end)]}


def grow(folder, begin, end):
    with io.ShardWriter(folder, 4, append=begin > 0, durable=False) as writer:
        writer.append(rows(begin, end))


@pytest.mark.parametrize("door", ["Loader", "epoch", "IterableDataset"])
@pytest.mark.parametrize("sampler", [None, "BatchSampler", "ShardSampler"])
def test_a_loop_over_a_folder_goes_on(tmp_path, door, sampler):
    if door == "IterableDataset":
        pytest.importorskip("torch")

    def make(ds):
        how = {"batch_size": 3, "shuffle": True}
        if sampler:
            kind = getattr(vl.data, sampler)
            how = {"batches": kind(ds, 3, shuffle=True, seed=5)}
        return ds.epoch(**how, seed=5) if door == "epoch" else getattr(vl.data, door)(ds, **how, seed=5)

    grow(tmp_path / "a", 0, 14)
    ds = vl.open(tmp_path / "a")
    whole = [batch["id"].tolist() for batch in make(ds)]
    loop = make(ds)
    batches = iter(loop)
    first = [next(batches)["id"].tolist() for _ in range(2)]
    state = json.loads(json.dumps(loop.state_dict()))
    grow(tmp_path / "a", 14, 21)
    again = make(ds.reload())
    again.load_state_dict(state)
    assert again.state_dict()["sampler"]["batches"] == 2
    assert first + [batch["id"].tolist() for batch in again] == whole
    if door == "Loader":
        assert again.sampler.new_rows == range(21, 21)
        assert sorted(i for batch in again for i in batch["id"].tolist()) == list(range(21))


def test_a_row_that_holds_something_else_is_told(tmp_path):
    grow(tmp_path / "a", 0, 14)
    state = vl.data.Loader(vl.open(tmp_path / "a"), 3).state_dict()
    changed = {**rows(0, 16), "id": [*range(13), 99, 14, 15]}
    for number, (each, text) in enumerate(((rows(0, 16), ""), (changed, "row 13 holds other values"))):
        with io.ShardWriter(tmp_path / str(number), 4) as writer:
            writer.append(each)
        loader = vl.data.Loader(vl.open(tmp_path / str(number)), 3)
        if not text:
            loader.load_state_dict(state)
            assert loader.sampler.new_rows == range(14, 16)
            continue
        with pytest.raises(ValueError, match=f"state: was saved for other data: {text}"):
            loader.load_state_dict(state)


def test_rows_of_several_sources_have_states(tmp_path):
    grow(tmp_path / "a", 0, 14)
    ds = vl.open(tmp_path / "a")
    memory = vl.Dataset(vl.JointNestedRaggedTensorDict(rows(14, 16)))
    state = vl.data.Loader(ds, 3).state_dict()
    both = vl.open(tmp_path / "a").concat(memory.select([1, 0]))
    for each in (both, both.select(range(16)), ds.with_key("y", list(range(14)))):
        loader = vl.data.Loader(each, 3, keys=["id", "x"])
        loader.load_state_dict(state)
        assert len(list(loader)) == 5
