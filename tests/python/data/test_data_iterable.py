"""Batches as an IterableDataset of torch: shared out to workers, and gone on with to the bit."""

import json
import os
import pickle
import sys
import types

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep
from varlen.data import BatchSampler, BinPacking, IterableDataset, TokenBudget
from varlen.data.passes import Pass, Passes

torch = pytest.importorskip("torch", reason="torch is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated"),  # torchdata calls it
]

LENGTHS = np.random.default_rng(0).integers(0, 9, 60)
MAKE = {
    "fixed": lambda: BatchSampler(LENGTHS, 4, shuffle=True),
    "budget": lambda: TokenBudget(LENGTHS, 20, seed=3),
    "bins": lambda: BinPacking(LENGTHS, 20, window=30, seed=1),
}
ROWS = {"id": list(range(60)), "x": [list(range(i, i + n)) for i, n in enumerate(LENGTHS)]}
DS = vl.data.Dataset(vl.JointNestedRaggedTensorDict(ROWS))


def make(name="budget"):
    return IterableDataset(DS, batches=MAKE[name](), framework="torch", seed=5, max_len=3, window="random")


def loader(batches, workers, kind=torch.utils.data.DataLoader, **options):
    return kind(batches, batch_size=None, num_workers=workers, **options)


def lists(batches):
    return [{name: x.tolist() for name, x in batch.items()} for batch in batches]


def epochs_of(name, count=3):
    """Each epoch as the sampler and the dataset give it."""
    sampler, result = MAKE[name](), []
    for epoch in range(count):
        sampler.set_epoch(epoch)
        how = {"seed": 5, "max_len": 3, "window": "random"}
        result.append(lists(DS.batch(rows, epoch=epoch, **how) for rows in sampler))
    return result


@pytest.mark.parametrize("workers", mostly_deep([0, 1, 2, 3], 0, 2))
@pytest.mark.parametrize("name", MAKE)
def test_workers_share_the_batches_in_the_order_of_the_sampler(name, workers):
    batches, wanted = make(name), epochs_of(name, 2)
    dealt = loader(batches, workers)
    assert len(dealt) == len(wanted[0])
    assert [lists(dealt) for _ in range(2)] == wanted  # each pass is of the next epoch
    batches.set_epoch(0)
    assert [lists(dealt) for _ in range(2)] == wanted


@pytest.mark.parametrize("method", mostly_deep(["fork", "spawn"], "fork"))
def test_epochs_reach_workers_that_live_on(method):
    batches, wanted = make(), epochs_of("budget")
    how = {"persistent_workers": True, "multiprocessing_context": method, "timeout": 100}
    dealt = loader(batches, 1 if method == "spawn" else 2, **how)
    for epoch in (0, 2, 1):
        batches.set_epoch(epoch)
        assert lists(dealt) == wanted[epoch]
    assert lists(dealt) == wanted[2]  # the next one, which nobody set


@pytest.mark.parametrize("workers", [0, 2])
def test_each_pass_is_of_the_next_epoch_whatever_a_loop_does(workers):
    batches, (first, second, third, fourth) = make(), epochs_of("budget", 4)
    dealt = loader(batches, workers)
    torch.manual_seed(0)
    assert lists(dealt) == first
    torch.manual_seed(0)  # as loops do that repeat themselves
    held = iter(dealt)  # left early, and alive
    assert lists([next(held)]) == second[:1]
    assert lists(dealt) == third
    assert batches.state_dict(batches=3)["sampler"]["epoch"] == 2
    again = make()
    again.load_state_dict(batches.state_dict(batches=3))
    dealt = loader(again, workers)
    assert lists(dealt) == third[3:]
    assert lists(dealt) == fourth


def test_passes_that_begin_together_are_of_epochs_of_their_own():
    batches, wanted = make(), epochs_of("budget", 3)
    one, two = zip(*zip(batches, batches, strict=False), strict=True)
    count = min(map(len, wanted[:2]))
    assert (lists(one), lists(two)) == (wanted[0][:count], wanted[1][:count])
    assert lists(batches) == wanted[2]


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("method", [None, "fork", "spawn"])
def test_batches_of_batches_are_refused(method):
    how = {"num_workers": 1 if method else 0, "multiprocessing_context": method}
    for options in ({}, {"batch_size": 7}, {"batch_size": 7, "collate_fn": list}):
        with pytest.raises(ValueError, match="pass batch_size=None; if a loop needs"):
            list(torch.utils.data.DataLoader(make(), **options, **how))
    alone = torch.utils.data.DataLoader(make(), batch_size=1, collate_fn=the_only_one, **how)
    assert lists(alone) == epochs_of("budget", 1)[0]


def the_only_one(batches):
    [batch] = batches
    return batch


def test_a_state_is_of_the_last_pass_whoever_made_it():
    batches, wanted = make(), epochs_of("budget", 3)
    assert [lists(loader(batches, workers)) for workers in (0, 1)] == wanted[:2]
    state = batches.state_dict(batches=4)
    assert lists(loader(batches, 0)) == wanted[2]
    assert batches.state_dict()["sampler"]["epoch"] == 2
    again = make()
    again.load_state_dict(state)
    assert lists(loader(again, 1)) == wanted[1][4:]
    assert lists(loader(again, 0)) == wanted[2]


def test_a_sampler_that_is_told_itself_is_heard():
    sampler, wanted = MAKE["budget"](), epochs_of("budget", 3)
    sampler.set_epoch(1)
    how = {"framework": "torch", "seed": 5, "max_len": 3, "window": "random"}
    batches = IterableDataset(DS, batches=sampler, **how)
    assert lists(loader(batches, 0)) == wanted[1]
    sampler.set_epoch(0)
    assert lists(loader(batches, 2)) == wanted[0]
    sampler.set_epoch(2)
    begun = iter(sampler)
    next(begun), next(begun)
    state = sampler.state_dict()
    sampler.load_state_dict(state)
    assert lists(loader(batches, 2)) == wanted[2][2:]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_forked_ranks_count_their_own_passes():
    batches, wanted = make(), epochs_of("budget", 2)
    ranks = []
    for workers in (0, 1, 0):
        rank = os.fork()
        if rank == 0:
            dealt = loader(batches, workers)
            same = [lists(dealt) for _ in range(2)] == wanted
            os._exit(0 if same else 1)
        ranks.append(rank)
    assert [os.waitpid(rank, 0)[1] for rank in ranks] == [0, 0, 0]


def test_a_pass_that_begins_late_is_of_no_other_epoch():
    passes = Passes(4)
    early, late = ([Pass(9, 5, 0, first, 2) for _ in range(2)] for first in (10, 12))  # of one seed
    assert passes.begin(early[0]) == (4, False)
    assert passes.begin(late[0]) == (5, False)
    assert passes.begin(early[1]) == (4, False)
    assert passes.begin(late[1]) == (5, False)
    assert passes.begin(Pass(9, 5, 1, 12, 2)) == (6, False)  # the same workers once more
    assert passes.begin(Pass(8, 5, 0, 12, 2)) == (4, False)  # of another process
    for repeat in range(200):
        assert passes.begin(Pass(9, 5, 2 + repeat, 12, 2)) == (7 + repeat, False)


@pytest.mark.usefixtures("short_waits")
@pytest.mark.parametrize("workers", [0, 1])
def test_the_dispatcher_of_accelerate_is_refused_with_what_to_pass(workers, monkeypatch):
    accelerate = pytest.importorskip("accelerate.data_loader")
    batches, wanted = make(), epochs_of("budget", 1)
    dispatcher = accelerate.DataLoaderDispatcher(batches, batch_size=None, num_workers=workers)
    assert lists(dispatcher) == wanted[0]  # of one process
    monkeypatch.setattr(accelerate, "PartialState", lambda: types.SimpleNamespace(num_processes=2))
    with pytest.raises(
        (ValueError, RuntimeError), match=r"give prepare\(\) a varlen.data.Loader, or DataLoader"
    ):
        list(dispatcher)


@pytest.mark.parametrize(("before", "after"), [(0, 0), (0, 2), (2, 0), (2, 3)])
@pytest.mark.parametrize("taken", [0, 5, 16])
def test_a_loop_goes_on_with_other_workers(before, after, taken):
    begun, again = make(), make()
    first, following = epochs_of("budget", 2)
    batches = iter(loader(begun, before))
    had = lists(next(batches) for _ in range(taken))
    del batches
    again.load_state_dict(json.loads(json.dumps(begun.state_dict(batches=taken))))
    rest = loader(again, after)
    assert had + lists(rest) == first
    assert lists(rest) == following  # not the rest once more
    again.load_state_dict(begun.state_dict(batches=taken))
    for epoch, wanted in enumerate((first[taken:], following)):
        again.set_epoch(epoch)
        assert lists(rest) == wanted


@pytest.mark.parametrize(("workers", "lives_on"), [(0, False), (2, False), (2, True)])
def test_a_stateful_dataloader_goes_on_twice(workers, lives_on):
    kind = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    wanted, following, third = epochs_of("budget", 3)
    had, state = [], None
    for count in (5, 4):
        begun = loader(make(), workers, kind, persistent_workers=lives_on)
        if state is not None:
            begun.load_state_dict(state)
        batches = iter(begun)
        had += lists(next(batches) for _ in range(count))
        state = begun.state_dict()
        del batches
    again = loader(make(), workers, kind, persistent_workers=lives_on)
    again.load_state_dict(state)
    assert had + lists(again) == wanted
    assert lists(again) == following
    ended = again.state_dict()
    later = loader(make(), workers, kind, persistent_workers=lives_on)
    later.load_state_dict(ended)
    assert lists(later) == third  # whatever the number of workers


def test_a_stateful_dataloader_goes_on_from_a_state_of_the_loop():
    kind = pytest.importorskip("torchdata.stateful_dataloader").StatefulDataLoader
    wanted, _ = epochs_of("budget", 2)
    begun, again = make(), make()
    begun.load_state_dict(make().state_dict(batches=5))
    first, later = loader(begun, 2, kind), loader(again, 2, kind)
    batches = iter(first)
    had = lists(next(batches) for _ in range(3))
    state = first.state_dict()
    del batches
    later.load_state_dict(state)
    assert had + lists(later) == wanted[5:]


def test_ranks_and_workers_share_every_row():
    seen = []
    for rank in range(2):
        batches = IterableDataset(DS, 7, uneven="empty", num_replicas=2, rank=rank, framework="torch")
        dealt = list(loader(batches, 2))
        assert len(dealt) == 5
        seen += [row for batch in dealt for row in batch["id"].tolist()]
    assert sorted(seen) == list(range(60))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems send as torch does")
def test_batches_of_workers_travel_in_memory_that_is_used_again():
    pages = set()
    for batch in loader(make("fixed"), 1, persistent_workers=True):
        assert type(batch) is vl.data.Batch
        pages.add(batch["x"].data_ptr() // 4096)
    assert len(pages) <= 8  # of 15 batches


def test_a_copy_is_of_its_own():
    batches = make()
    batches.set_epoch(2)
    copied = pickle.loads(pickle.dumps(batches))
    batches.set_epoch(1)
    assert lists(copied) == epochs_of("budget")[2]


def test_the_state_of_a_worker_is_for_that_worker():
    batches = make()
    state = batches.state_dict(batches=2)
    batches.load_state_dict({**state, "worker": [1, 3, 2]})
    with pytest.raises(ValueError, match="state: belongs to worker 1 of 3, but this is worker 0 of 1"):
        list(batches)
    with pytest.raises(ValueError, match="state: expected three numbers of a worker, got 'first'"):
        batches.load_state_dict({**state, "worker": "first"})
    with pytest.raises(TypeError, match=r"state: expected the result of state_dict\(\) of an epoch"):
        batches.load_state_dict(None)


def test_it_is_an_iterable_dataset_of_torch():
    assert isinstance(make(), torch.utils.data.IterableDataset)
    assert repr(IterableDataset(DS, 7)) == (
        "IterableDataset(BatchSampler(9 batches of 60 rows in epoch 0, 42.7% padding))"
    )


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: IterableDataset([1, 2], 2), TypeError, "dataset: expected a varlen.Dataset, got list"),
        (lambda: IterableDataset(DS), ValueError, "batch_size: pass either batch_size or batches"),
        (
            lambda: IterableDataset(DS, 2, batches=[[0]]),
            ValueError,
            "batch_size: pass either batch_size or batches",
        ),
        (
            lambda: IterableDataset(DS, batches=[[0]], rank=0),
            ValueError,
            "batches: are already shared between ranks",
        ),
        (
            lambda: IterableDataset(DS, batches=[[0]], shuffle=True),
            ValueError,
            "batches: come in a fixed order",
        ),
        (
            lambda: IterableDataset(DS, 2, device="cuda"),
            ValueError,
            "device: workers make batches on the host",
        ),
        (lambda: IterableDataset(DS, 2, prefetch=2), TypeError, "prefetch"),
        (lambda: IterableDataset(DS, 2, seed=None), TypeError, "seed: expected an int"),
        (
            lambda: IterableDataset(DS, batches=iter([[0]])).state_dict(),
            TypeError,
            "a list_iterator has no state",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_the_shards_of_accelerate_are_of_all_batches():
    accelerate = pytest.importorskip("accelerate.data_loader")

    def shard(number, **share):
        batches = IterableDataset(DS, 7, framework="torch", **share)
        return accelerate.IterableDatasetShard(batches, 1, True, num_processes=2, process_index=number)

    dealt = [batch["id"].tolist() for number in range(2) for batch in shard(number, num_replicas=1, rank=0)]
    assert sorted(row for rows in dealt for row in rows) == list(range(56))
    for rank in range(2):
        with pytest.raises(ValueError, match="which are a share already; give num_replicas=1, rank=0"):
            list(shard(rank, num_replicas=2, rank=rank))
