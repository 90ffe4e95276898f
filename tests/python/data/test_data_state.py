"""States of samplers and epochs: a run that was stopped goes on bit for bit."""

import io
import json
import pickle

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.data import BatchSampler, BinPacking, LengthBuckets, TokenBudget

LENGTHS = np.random.default_rng(0).integers(0, 9, 60)
MAKE = {
    "fixed": lambda **how: BatchSampler(LENGTHS, 4, shuffle=True, **how),
    "buckets": lambda **how: LengthBuckets(LENGTHS, 4, buckets=[3, 6], **how),
    "budget": lambda **how: TokenBudget(LENGTHS, 20, max_batch=5, **how),
    "bins": lambda **how: BinPacking(LENGTHS, 20, window=30, **how),
}


@pytest.fixture(scope="module")
def ds():
    rows = [list(range(i, i + n)) for i, n in enumerate(LENGTHS)]
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": list(range(60)), "x": rows}))


@given(st.sampled_from(list(MAKE)), st.integers(0, 12), st.integers(0, 3), st.integers(0, 5))
def test_what_was_left_comes_next(name, taken, epoch, seed):
    whole, begun, again = (MAKE[name](seed=seed) for _ in range(3))
    whole.set_epoch(epoch)
    begun.set_epoch(epoch)
    batches = iter(begun)
    first = [next(batches) for _ in range(min(taken, len(begun)))]
    again.load_state_dict(json.loads(json.dumps(begun.state_dict())))
    again.set_epoch(epoch)  # as a loop over epochs does
    assert len(again) == len(whole)
    assert first + list(again) == list(whole)
    again.set_epoch(epoch + 1)
    whole.set_epoch(epoch + 1)
    assert list(again) == list(whole)


def test_the_iteration_behind_the_rest_is_whole():
    sampler = BatchSampler(10, 3)
    sampler.load_state_dict(BatchSampler(10, 3).state_dict(batches=2))
    assert [list(sampler), list(sampler)] == [
        [[6, 7, 8], [9]],
        [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]],
    ]
    assert sampler.state_dict()["batches"] == 4


def test_the_end_of_an_epoch_has_nothing_left():
    state = BatchSampler(10, 3).state_dict(batches=4)
    told, untold = BatchSampler(10, 3), BatchSampler(10, 3)
    for sampler in (told, untold):
        sampler.load_state_dict(state)
    told.set_epoch(0)
    assert [len(list(told)), len(list(told))] == [0, 4]
    assert [len(list(untold)), len(list(untold))] == [0, 4]


@given(
    st.sampled_from(list(MAKE)),
    st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3)), max_size=3),
    st.integers(1, 4),
)
def test_other_numbers_of_ranks_go_on_where_all_were(name, runs, last):
    """Runs of so many ranks that stop after so many steps: each row comes once over all of them."""
    state, seen = None, []
    for ranks, steps in [*runs, (last, None)]:
        how = {"num_replicas": ranks, "uneven": "empty"}
        samplers = [MAKE[name](rank=r, **how) for r in range(ranks)]
        if state is not None:
            for sampler in samplers:
                sampler.load_state_dict(state)
        given_out = [list(sampler)[:steps] for sampler in samplers]
        had = sum(k for _, k in state["steps"]) if state else 0
        seen += [row for part in given_out for batch in part for row in batch]
        states = [
            sampler.state_dict(had + len(part)) for sampler, part in zip(samplers, given_out, strict=True)
        ]
        assert all(each == states[0] for each in states)
        state = states[0]
    assert sorted(seen) == list(range(60))


@pytest.mark.parametrize(
    ("other", "text"),
    [
        (
            lambda: LengthBuckets(LENGTHS[1:], 4),
            "rows 60, here 59; tokens 239, here 232; lengths [0-9a-f]{16}, here [0-9a-f]{16}",
        ),
        (lambda: LengthBuckets(LENGTHS[::-1], 4), "options: lengths [0-9a-f]{16}, here"),
        (lambda: LengthBuckets(LENGTHS, 5, seed=2), "seed 0, here 2; batch_size 4, here 5"),
        (lambda: LengthBuckets(LENGTHS, 4, buckets=[3]), r"buckets None, here \[3\]"),
        (lambda: LengthBuckets(LENGTHS, 4, uneven="drop"), "uneven repeat, here drop"),
        (lambda: BatchSampler(LENGTHS, 4, shuffle=True), "sampler LengthBuckets, here BatchSampler"),
    ],
)
def test_a_state_of_something_else_is_refused(other, text):
    state = LengthBuckets(LENGTHS, 4).state_dict(batches=2)
    sampler = other()
    with pytest.raises(
        ValueError, match="state: was saved for other data or " + ".*" + text.removeprefix("options: ")
    ):
        sampler.load_state_dict(state)
    assert sampler.state_dict()["batches"] == 0


@pytest.mark.parametrize("state", [{}, None, {"epoch": 1}, [1], {"sampler": 1, "data": 2, "options": 3}])
def test_what_is_no_state_is_refused(state, ds):
    with pytest.raises(TypeError, match=r"the result of a sampler's state_dict\(\), got [\[{N]"):
        BatchSampler(3, 1).load_state_dict(state)
    with pytest.raises(TypeError, match=r"the result of state_dict\(\) of an epoch or a loader, got"):
        ds.epoch(4).load_state_dict(state)


def test_the_state_of_a_loader_holds_that_of_its_sampler(ds):
    state = ds.epoch(4).state_dict()
    with pytest.raises(TypeError, match=r"got {.*}; state\['sampler'\] is of the sampler"):
        BatchSampler(len(ds), 4).load_state_dict(state)
    BatchSampler(len(ds), 4).load_state_dict(state["sampler"])


@pytest.mark.parametrize(
    "change",
    [
        {"data": 5},
        {"options": None},
        {"steps": []},
        {"steps": 3},
        {"steps": [[1, -2]]},
        {"steps": [[0, 2]]},
        {"steps": [[1]]},
        {"steps": [["a", 2]]},
        {"steps": [[1, 2**70]]},
        {"epoch": -1},
        {"epoch": None},
        {"steps": [[1, 5]]},
    ],
    ids=str,
)
def test_a_damaged_state_is_refused_and_changes_nothing(change):
    sampler = BatchSampler(10, 3)
    sampler.load_state_dict(sampler.state_dict(batches=2))
    with pytest.raises((TypeError, ValueError), match="state: "):
        sampler.load_state_dict({**sampler.state_dict(), **change})
    assert sampler.state_dict()["batches"] == 2
    assert list(sampler) == [[6, 7, 8], [9]]


def test_states_go_through_json_pickle_and_torch(ds):
    torch = pytest.importorskip("torch")
    for make in MAKE.values():
        epoch = ds.epoch(batches=make(), max_len=3, window="random", seed=4)
        next(iter(epoch))
        state, file = epoch.state_dict(), io.BytesIO()
        torch.save(state, file)
        file.seek(0)
        assert torch.load(file, weights_only=True) == state
        assert json.loads(json.dumps(state)) == state == pickle.loads(pickle.dumps(state))


def test_a_pass_that_was_left_says_nothing_of_the_next():
    sampler = BatchSampler(10, 3)
    left = iter(sampler)
    next(left)
    sampler.set_epoch(1)
    assert next(left) == [3, 4, 5]
    assert sampler.state_dict()["batches"] == 0
    late = iter(sampler)
    next(late)
    next(left)
    assert sampler.state_dict()["batches"] == 1
    sampler.load_state_dict(sampler.state_dict(batches=3))
    next(late)
    assert sampler.state_dict()["batches"] == 3


def other_rows(change):
    """The rows of `ds` with other numbers in them, of the same lengths."""
    raw = {"id": list(range(60)), "x": [list(range(i, i + n)) for i, n in enumerate(LENGTHS)]}
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict(change(raw)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda raw: {**raw, "y": raw["x"]}, "key y None, here uint8 of dim 1"),
        (lambda raw: {"x": raw["x"]}, "key id uint8 of dim 0, here None"),
        (
            lambda raw: {**raw, "x": [[i + 0.5 for i in row] for row in raw["x"]]},
            "key x uint8 of dim 1, here float32",
        ),
        (lambda raw: {**raw, "id": raw["id"][::-1]}, "row 0 holds other values"),
    ],
    ids=["another key", "a key less", "another dtype", "other numbers"],
)
def test_rows_of_the_same_lengths_that_hold_something_else_are_refused(ds, change, text):
    state = ds.epoch(4).state_dict()
    other = other_rows(change).epoch(4)
    with pytest.raises(ValueError, match=f"state: was saved for other data.*: .*{text}"):
        other.load_state_dict(state)
    other_rows(lambda raw: raw).epoch(4).load_state_dict(state)
    ds.select(range(60)).epoch(4).load_state_dict(state)


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"max_len": 4}, r"max_len \[3\], here \[4\]"),
        ({"window": "to_end"}, "window random, here to_end"),
        ({"truncate": "left"}, "truncate right, here left"),
    ],
)
def test_options_that_decide_what_a_row_gives_are_those_of_the_state(ds, how, text):
    first = {"max_len": 3, "window": "random", "seed": 1}
    state = ds.epoch(4, **first).state_dict()
    with pytest.raises(ValueError, match=f"state: was saved for other data or options: {text}"):
        ds.epoch(4, **{**first, **how}).load_state_dict(state)
    ds.epoch(4, **first, prefetch=2, padding_side="left", lengths=True).load_state_dict(state)


def test_batches_that_were_never_there_are_refused():
    sampler = BatchSampler(10, 3)
    with pytest.raises(ValueError, match="batches: expected 0 to 4, got 5"):
        sampler.state_dict(batches=5)
    with pytest.raises(ValueError, match="batches: expected at least 0, got -1"):
        sampler.state_dict(batches=-1)


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert x.keys() == y.keys()
        for name in x:
            np.testing.assert_array_equal(x[name], y[name])


def copied(batches):
    return [{name: np.array(x) for name, x in batch.items()} for batch in batches]


@pytest.mark.parametrize("prefetch", [0, 3])
@pytest.mark.parametrize("kind", ["rows", "sampler"])
def test_an_epoch_goes_on_with_its_random_windows(ds, prefetch, kind):
    def make():
        how = {"batch_size": 7, "shuffle": True} if kind == "rows" else {"batches": MAKE["budget"](seed=3)}
        return ds.epoch(seed=5, max_len=2, window="random", prefetch=prefetch, **how)

    whole, begun, again = copied(make()), make(), make()
    batches = iter(begun)
    first = copied([next(batches) for _ in range(3)])
    state = json.loads(json.dumps(begun.state_dict()))
    assert state["sampler"]["batches"] == 3
    batches.close()
    again.load_state_dict(state)
    same(first + copied(again), whole)
    same(copied(again), whole)


def test_the_state_of_an_epoch_before_its_first_pass_is_that_of_its_sampler(ds):
    sampler = MAKE["budget"]()
    sampler.load_state_dict(MAKE["budget"]().state_dict(batches=3))
    epoch = ds.epoch(batches=sampler)
    assert epoch.state_dict()["sampler"]["batches"] == 3
    next(iter(epoch))
    assert epoch.state_dict()["sampler"]["batches"] == 4


def test_an_epoch_that_cannot_be_drawn_again_has_no_state(ds):
    for how in (
        {"shuffle": True},
        {"max_len": 2, "window": "random"},
        {"shuffle": True, "seed": np.random.default_rng(0)},
    ):
        with pytest.raises(ValueError, match=r"seed: a Generator cannot repeat its draws, .*; pass an int"):
            ds.epoch(4, **how).state_dict()
    with pytest.raises(TypeError, match="a list_iterator has no state"):
        ds.epoch(batches=iter([[0, 1]])).state_dict()
    state = ds.epoch(4, shuffle=True, seed=1).state_dict()
    with pytest.raises(ValueError, match="state: was saved for other data or options: seed 1, here 2"):
        ds.epoch(4, shuffle=True, seed=2).load_state_dict(state)


@pytest.mark.parametrize("door", ["Loader", "epoch", "IterableDataset"])
def test_a_list_of_batches_goes_on_at_every_point(ds, door):
    given = [
        [0, 1],
        (2, 3, 4),
        np.array([5]),
        slice(6, 9),
        np.arange(60) > 56,
        vl.data.records.RowNumbers([9], 4),
    ]
    options = {"max_len": 2, "window": "random", "seed": 3}

    def make(batches=given):
        if door == "epoch":
            return ds.epoch(batches=batches, **options)
        if door == "IterableDataset":
            pytest.importorskip("torch")
        return getattr(vl.data, door)(ds, batches=batches, **options)

    whole = copied(make())
    assert [batch["id"].tolist() for batch in whole[:3]] == [[0, 1], [2, 3, 4], [5]]
    assert len(make()) == len(whole) == 6
    for count in range(7):
        begun, again = make(), make([list(rows) if isinstance(rows, tuple) else rows for rows in given])
        batches = iter(begun)
        first = copied([next(batches) for _ in range(count)])
        again.load_state_dict(json.loads(json.dumps(begun.state_dict())))
        same(first + copied(again), whole)
    other = make([[0, 2], *given[1:]])
    with pytest.raises(ValueError, match="state: was saved for other data or options: rows"):
        other.load_state_dict(make().state_dict())
    with pytest.raises(ValueError, match="batches 6, here 1"):
        make(given[:1]).load_state_dict(make().state_dict())


def test_a_list_of_batches_has_other_windows_in_each_epoch(ds):
    loader = vl.data.Loader(ds, batches=[[i] for i in range(60)], max_len=1, window="random", seed=3)
    assert repr(loader) == "Loader(list(60 batches), 2 made ahead)"
    first, second = copied(loader), copied(loader)
    assert [batch["id"].tolist() for batch in first] == [batch["id"].tolist() for batch in second]
    assert any((a["x"] != b["x"]).any() for a, b in zip(first, second, strict=True))
    loader.set_epoch(0)
    same(copied(loader), first)


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("after", [0, 1])
def test_a_dataloader_goes_on_with_other_workers(ds, before, after):
    """Workers take batches from the sampler ahead, so the loop says how many it has had."""
    torch_data = pytest.importorskip("torch.utils.data")

    def loader(sampler, workers):
        how = {"collate_fn": ds.collator(max_len=2, window="random", seed=7), "batch_sampler": sampler}
        return torch_data.DataLoader(ds, num_workers=workers, **how)

    sampler = MAKE["buckets"]()
    sampler.set_epoch(2)
    whole = copied(loader(sampler, 0))
    batches = iter(loader(sampler, before))
    first = copied([next(batches) for _ in range(4)])
    state = sampler.state_dict(batches=4)
    del batches
    again = MAKE["buckets"]()
    again.load_state_dict(state)
    same(first + copied(loader(again, after)), whole)


@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated")  # torchdata calls it
@pytest.mark.parametrize("workers", [0, 2])
def test_a_stateful_dataloader_goes_on(ds, workers):
    loaders = pytest.importorskip("torchdata.stateful_dataloader")

    def make():
        how = {"collate_fn": ds.collator(max_len=2, window="random", seed=7), "num_workers": workers}
        return loaders.StatefulDataLoader(ds, batch_sampler=MAKE["budget"](seed=1), **how)

    whole = copied(make())
    begun = make()
    batches = iter(begun)
    first = copied([next(batches) for _ in range(5)])
    state = begun.state_dict()
    del batches
    again = make()
    again.load_state_dict(state)
    same(first + copied(again), whole)
    same(copied(again), whole)
    ended = make()
    list(ended)
    again.load_state_dict(ended.state_dict())
    same(copied(again), whole)
