"""The loader: epochs, states, errors and ends, by threads of one process."""

import gc
import itertools
import json
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen.data import Loader, TokenBudget

LISTS = [list(range(i, i + i % 9)) for i in range(60)]


def dataset():
    return vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": list(range(60)), "x": LISTS}))


@pytest.fixture(scope="module")
def ds():
    return dataset()


def ids(batches):
    return [batch["id"].tolist() for batch in batches]


def same(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b, strict=True):
        assert x.keys() == y.keys()
        for name in x:
            np.testing.assert_array_equal(x[name], y[name])


def threads_left():
    return [t for t in threading.enumerate() if t.name.startswith("varlen-prefetch")]


@pytest.mark.parametrize(("prefetch", "threads"), [(1, 1), (2, 2), (5, 3)])
@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_epochs_follow_each_other(ds, prefetch, threads, layout):
    how = {"shuffle": True, "seed": 3, "max_len": 4, "window": "random", "layout": layout}
    loader = Loader(ds, 7, prefetch=prefetch, threads=threads, **how)
    assert len(loader) == 9
    found = [list(loader) for _ in range(3)]  # batches are kept, and stay as they are
    for epoch, batches in enumerate(found):
        same(batches, list(ds.epoch(7, epoch=epoch, **how)))
        assert sorted(i for batch in ids(batches) for i in batch) == list(range(60))
    assert ids(found[0]) != ids(found[1])
    loader.set_epoch(1)
    same(list(loader), found[1])
    assert not threads_left()


@given(st.integers(0, 9), st.integers(1, 3), st.integers(0, 2))
def test_a_loader_goes_on_where_the_loop_was(taken, prefetch, epoch):
    ds = dataset()

    def make(prefetch):
        sampler = TokenBudget(ds, 30, seed=1)
        return Loader(ds, batches=sampler, prefetch=prefetch, seed=5, max_len=3, window="random")

    whole, begun, again = make(1), make(prefetch), make(2)
    for loader in (whole, begun):
        loader.set_epoch(epoch)
    wanted, following = list(whole), list(whole)
    batches = iter(begun)
    first = [next(batches) for _ in range(min(taken, len(wanted)))]
    state = json.loads(json.dumps(begun.state_dict()))
    assert state["sampler"]["batches"] == len(first)
    batches.close()
    again.load_state_dict(state)
    same(first + list(again), wanted)
    same(list(again), following)


def test_an_epoch_that_was_set_counts_whatever_the_last_pass_had(ds):
    loader = Loader(ds, 7, shuffle=True)
    batches = iter(loader)
    next(batches)
    loader.set_epoch(4)
    sampler = loader.state_dict()["sampler"]
    assert (sampler["epoch"], sampler["batches"]) == (4, 0)
    for _ in loader:
        loader.set_epoch(9)
    assert loader.state_dict()["sampler"]["epoch"] == 9


@pytest.mark.parametrize("taken", [2, 9, None])
def test_an_epoch_that_was_set_again_begins_anew_for_a_state_too(ds, taken):
    """Also where the last iteration was of this epoch, and was left or has ended."""
    loader, again = (Loader(ds, 7, shuffle=True, seed=3) for _ in range(2))
    first = ids(loader)
    loader.set_epoch(0)
    batches = iter(loader)
    for _ in range(len(loader) if taken is None else taken):
        next(batches)
    assert loader.state_dict()["sampler"]["batches"] == (9 if taken is None else taken)
    if taken is None:
        assert list(batches) == []
    batches.close()
    loader.set_epoch(0)
    again.load_state_dict(loader.state_dict())
    assert ids(again) == first
    assert ids(loader) == first


@pytest.mark.parametrize("door", ["epoch", "Loader", "IterableDataset"])
def test_batches_are_of_the_dataset_and_there_each_time(ds, door):
    make = {"epoch": ds.epoch, "Loader": lambda **how: Loader(ds, **how)}.get(door)
    if make is None:
        pytest.importorskip("torch")
        make = lambda **how: vl.data.IterableDataset(ds, **how)  # noqa: E731
    for sampler in (TokenBudget(ds.select(range(59)), 30), vl.data.BinPacking([9] * 61, 4, too_long="split")):
        count = 59 if isinstance(sampler, TokenBudget) else 61
        text = f"the sampler was made for {count} rows, but the dataset has 60"
        with pytest.raises(ValueError, match=text):
            make(batches=sampler)
    split = vl.data.BinPacking(ds, 4, too_long="split")
    assert sum(map(len, split)) > 60
    assert make(batches=split) is not None
    batches = make(batches=(rows for rows in [[1, 2], [3]]))
    assert ids(batches) == [[1, 2], [3]]
    with pytest.raises(ValueError, match="a generator yields its batches only once, and they are used up"):
        next(iter(batches))


def test_an_epoch_without_batches_is_one_too(ds):
    loader = Loader(ds.select([]), 7)
    assert list(loader) == []
    assert loader.state_dict()["sampler"]["epoch"] == 1


def test_passes_at_the_same_time_are_of_one_epoch(ds):
    loader = Loader(ds, 7, shuffle=True)
    one, other = iter(loader), iter(loader)
    first = [next(one), next(other)]
    same(first[:1] + list(one), first[1:] + list(other))
    assert loader.state_dict()["sampler"]["epoch"] == 1


def test_an_iteration_is_the_next_epoch_also_after_one_that_was_left(ds):
    def make():
        return Loader(ds, 7, shuffle=True, seed=4, prefetch=3, threads=2)

    def some(loader, most=None):
        return ids(itertools.islice(loader, most))

    loader, epochs = make(), []
    for epoch in range(4):
        loader.set_epoch(epoch)
        epochs.append(some(loader))
    loader = make()
    assert some(loader, 2) == epochs[0][:2]
    state = loader.state_dict()
    assert some(loader, 1) == epochs[1][:1]
    assert some(loader) == epochs[2]
    loader.set_epoch(1)
    assert some(loader, 2) == epochs[1][:2]
    loader.set_epoch(1)  # once more
    assert some(loader) == epochs[1]
    loader.load_state_dict(state)
    assert some(loader) == epochs[0][2:]
    assert some(loader, 0) == []  # nothing was asked for
    assert some(loader) == epochs[1]


def test_ranks_share_the_rows(ds):
    parts = [Loader(ds, 7, uneven="empty", num_replicas=4, rank=rank) for rank in range(4)]
    assert sorted(i for part in parts for batch in ids(part) for i in batch) == list(range(60))


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_comes_where_its_batch_is_asked_for(threads):
    class Broken:
        def __len__(self):
            return 12

        def __getitem__(self, index):
            if index == 7:
                raise ZeroDivisionError("row 7")
            return {"x": [index]}

    loader = Loader(Broken(), 2, prefetch=2, threads=threads)
    for _ in range(2):  # it can be iterated again
        batches = iter(loader)
        assert [next(batches)["x"].tolist() for _ in range(3)] == [[[0], [1]], [[2], [3]], [[4], [5]]]
        with pytest.raises(ZeroDivisionError, match="row 7") as raised:
            next(batches)
        assert any(entry.name == "__getitem__" for entry in raised.traceback)
        assert not threads_left()


@pytest.mark.parametrize("kind", ["Loader", "epoch", "Prefetcher"])
def test_an_iteration_that_ends_inside_a_row_loses_nothing_silently(kind, monkeypatch):
    class Exhausted:
        def __len__(self):
            return 4

        def __getitem__(self, index):
            return next(iter([0] if index < 2 else []))

    ds = dataset()
    monkeypatch.setattr(type(ds), "_run", lambda self, options, rows, **_: [Exhausted()[i] for i in rows])
    batches = {
        "Loader": lambda: Loader(Exhausted(), 1, collate_fn=list),
        "epoch": lambda: ds.epoch(1),
        "Prefetcher": lambda: vl.data.Prefetcher(lambda i, _: Exhausted()[i], range(4)),
    }
    got = iter(batches[kind]())
    next(got), next(got)
    with pytest.raises(RuntimeError, match="raised StopIteration"):
        next(got)


def test_samples_of_other_datasets_are_collated():
    samples = [{"x": [1.5] * n, "y": n} for n in (3, 0, 1)]
    loader = Loader(samples, 2, padding_side="left", fill={"x": -1.0})
    first, second = loader
    assert first["x"].tolist() == [[1.5] * 3, [-1] * 3]
    assert second["y"].tolist() == [1]
    assert [list(batch) for batch in Loader(range(5), 2, collate_fn=tuple)] == [[0, 1], [2, 3], [4]]


def test_what_is_left_early_leaves_no_threads(ds):
    for batch in Loader(ds, 4, prefetch=3, threads=2):
        assert len(batch["id"]) == 4
        break
    gc.collect()
    assert not threads_left()
    loader = Loader(ds, 4)
    one, other = iter(loader), iter(loader)
    assert ids([next(one), next(other), next(one)]) == [[0, 1, 2, 3], [0, 1, 2, 3], [4, 5, 6, 7]]
    del one, other
    gc.collect()
    assert not threads_left()


def test_a_loader_is_pickled_for_a_process_of_its_own(ds):
    loader = Loader(ds, 7, shuffle=True, seed=2)
    assert ids(pickle.loads(pickle.dumps(loader))) == ids(loader)


ENDS = {
    "at the end of the interpreter": "batches = iter(loader); next(batches); print('done')",
    "by Ctrl-C": """
import _thread, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background begin without it
class Slow:
    def __len__(self): return 9
    def __getitem__(self, index):
        if index == 3:
            _thread.interrupt_main()
            time.sleep(0.3)
        return index
try:
    for batch in vl.data.Loader(Slow(), 1): pass
except KeyboardInterrupt:
    assert not [t for t in threading.enumerate() if t.name.startswith("varlen")]
    print('done')
""",
    "in a fork": """
batches = iter(loader); next(batches)
pid = os.fork()
if pid == 0:
    assert [len(batch["id"]) for batch in loader] == [1] * 4
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
print('done')
""",
}


@pytest.mark.parametrize("name", ENDS)
def test_a_process_ends_cleanly(name):
    start = """
import os, threading, time
import varlen as vl
ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": [0, 1, 2, 3], "x": [[1], [2], [3], []]}))
loader = vl.data.Loader(ds, 1, prefetch=2, threads=2)
"""
    command = [sys.executable, "-c", start + ENDS[name]]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")


def test_repr_says_what_comes(ds):
    assert repr(ds.epoch(7)) == "Epoch(BatchSampler(9 batches of 60 rows in epoch 0))"  # no lengths were read
    assert repr(Loader([[1]] * 5, 2)) == "Loader(BatchSampler(3 batches of 5 rows in epoch 0), 2 made ahead)"
    assert repr(Loader(ds, 7, num_replicas=2, rank=1, threads=2)) == (
        "Loader(BatchSampler(5 batches of 60 rows in epoch 0, 50.0% padding, rank 1 of 2), "
        "2 made ahead by 2 threads)"
    )


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda ds: Loader(ds), ValueError, "batch_size: pass either batch_size or batches"),
        (
            lambda ds: Loader(ds, 2, batches=[[0]]),
            ValueError,
            "batch_size: pass either batch_size or batches",
        ),
        (
            lambda ds: Loader(ds, batches=[[0]], rank=0),
            ValueError,
            "batches: are already shared between ranks",
        ),
        (lambda ds: Loader(ds, batches=[[0]], shuffle=True), ValueError, "batches: come in a fixed order"),
        (lambda ds: Loader(ds, 2, prefetch=0), ValueError, "prefetch: expected at least 1, got 0"),
        (lambda ds: Loader(ds, 2, threads=3), ValueError, "threads: expected 1 to prefetch=2, got 3"),
        (lambda ds: Loader(ds, 2, seed=None), TypeError, "seed: expected an int"),
        (lambda ds: Loader(ds, 2, num_workers=2), TypeError, "'num_workers'; threads= says"),
        (lambda ds: Loader([1], 2, num_workers=2), TypeError, "'num_workers'; threads= says"),
        (
            lambda ds: ds.epoch(2, num_workers=2),
            TypeError,
            "'num_workers'; it is of a DataLoader, whose coll",
        ),
        (lambda ds: ds.batch(["P003"]), TypeError, r"got dtype <U4; rows_of\(\) finds rows by their ids"),
        (lambda ds: Loader(ds, batch_sampler=[[0]]), TypeError, "'batch_sampler'; batches= takes"),
        (lambda ds: Loader(ds, sampler=[0]), TypeError, "'sampler'; batches= takes"),
        (lambda ds: Loader(ds, max_length=2), TypeError, "'max_length'; did you mean 'max_len'"),
        (
            lambda ds: Loader(ds, 2, collate_fn=list),
            ValueError,
            "collate_fn: not allowed: a Dataset makes its",
        ),
        (
            lambda ds: Loader("visits.nrt", 2, collate_fn=3),
            TypeError,
            "collate_fn: expected a function",
        ),
        (lambda ds: Loader(iter([]), 2), TypeError, "dataset: expected __len__ and __getitem__"),
        (lambda ds: Loader("visits.nrt", 2), TypeError, "got 'visits.nrt'; varlen.open opens files"),
        (
            lambda ds: Loader({"train": ds, "test": ds}, 2),
            TypeError,
            r"dataset: expected rows by number, got dict of \['train', 'test'\]",
        ),
        (
            lambda ds: Loader([1], 2, collate_fn=list, fill=0),
            ValueError,
            "fill: collate_fn makes",
        ),
        (lambda ds: Loader([1], 2, flatten=True), TypeError, "there is no option 'flatten'"),
        (
            lambda ds: Loader([1], 2, uneven="empty", num_replicas=2, rank=0),
            ValueError,
            "uneven: 'empty' needs a batch without samples",
        ),
    ],
)
def test_what_does_not_fit_is_refused(ds, make, error, text):
    with pytest.raises(error, match=text):
        make(ds)
