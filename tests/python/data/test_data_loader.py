"""Inside torch's DataLoader, with workers of every start method, and where torch is not there."""

import copy
import functools
import multiprocessing
import pickle
import subprocess
import sys

import numpy as np
import pytest
import varlen.io
from batches import Table, assert_same
from deep import mostly_deep
from varlen.data import Collate, Dataset, LengthBuckets, TokenBudget

# torch warns of more workers than the machine has cores.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")

METHODS = ["fork", "spawn", "forkserver"]


def _how(method):
    """The options of a loader's workers; those that start anew import torch, which takes seconds each."""
    context = multiprocessing.get_context(method)
    if method == "forkserver":
        context.set_forkserver_preload(["torch", "varlen.data"])  # once for all of them
    return {"num_workers": 1 if method == "spawn" else 2, "multiprocessing_context": context, "timeout": 100}


SKELETON = [[2, 0, 3], [], [1], [4, 4], [0], [1, 1, 1]] * 4


@functools.cache
def _path(folder):
    joint = Table(SKELETON, 2).joint()
    held = {f"dim{d}/bounds": joint.bounds(d) for d in (1, 2)}
    pairs = zip(joint.names, joint.dims, strict=True)
    held |= {f"dim{dim}/{name}": np.array(joint.values(name)) for name, dim in pairs}
    path = str(folder / "rows.nrt")
    varlen.io.save(path, held)
    return path


@pytest.fixture
def ds(tmp_path):
    return varlen.open(_path(tmp_path))


def loader(*args, **options):
    data = pytest.importorskip("torch.utils.data")
    return data.DataLoader(*args, **options)


def arrays(batch):
    return {name: tensor.numpy() for name, tensor in batch.items()}


def test_loader_makes_batches_in_this_process(ds):
    sampler = TokenBudget(ds.lengths, 12, seed=1)
    collate = ds.collator(framework="torch", flatten=True, padding_side="left")
    result = list(loader(ds, batch_sampler=sampler, collate_fn=collate))
    assert len(result) == len(sampler)
    for batch, rows in zip(result, sampler, strict=True):
        assert_same(
            arrays(batch), arrays(ds.batch(rows, flatten=True, padding_side="left", framework="torch"))
        )
    plain = list(loader(ds, batch_size=5, shuffle=True, collate_fn=ds.collate))
    assert sum(len(batch["y"]) for batch in plain) == len(ds)
    single = list(loader(ds, batch_size=None))
    assert len(single) == len(ds)


@pytest.mark.parametrize("method", mostly_deep(METHODS, "fork", "spawn"))
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning")  # on one core
def test_loader_makes_batches_in_workers(ds, method):
    if method == "fork" and sys.platform == "darwin":
        pytest.skip("fork is not safe there")
    ds.batch(np.arange(len(ds)))  # threads and plans that a fork must not trip over
    sampler = LengthBuckets(ds.lengths, 4, seed=1)
    collate = ds.collator(framework="torch", max_len=3, window="random", seed=5)
    workers = loader(ds, batch_sampler=sampler, collate_fn=collate, **_how(method))
    result = list(workers)
    assert len(result) == len(sampler)
    for batch, rows in zip(result, sampler, strict=True):
        wanted = ds.batch(rows, max_len=3, window="random", seed=5, framework="torch")
        assert_same(arrays(batch), arrays(wanted))


def test_loader_collates_samples_of_other_datasets():
    samples = [{"x": np.arange(i % 3), "y": i, "name": str(i)} for i in range(6)]
    result = list(loader(samples, batch_size=3, collate_fn=Collate(framework="torch", padding_side="left")))
    assert result[0]["x"].tolist() == [[0, 0], [0, 0], [0, 1]]
    assert result[1]["name"] == ["3", "4", "5"]


def test_random_windows_differ_by_epoch_in_a_collator(ds):
    collate = ds.collator(max_len=1, window="random", seed=5, keys=["a"])
    rows = list(range(len(ds)))
    first = collate(rows)["a"].tolist()
    assert collate(rows)["a"].tolist() == first
    collate.set_epoch(1)
    assert collate(rows)["a"].tolist() != first


def _windows(loader):
    """Where the window of each row began, and the rows in order: y names the row."""
    starts = {}
    for batch in loader:
        starts |= dict(zip(batch["y"].tolist(), batch["window/start"].tolist(), strict=True))
    return starts


def _numbered(tmp_path, rows=40):
    joint = Table([[1] * 50] * rows, 2).joint().select(["y", "a"])
    joint = joint.with_column("y", 0, np.arange(rows))
    varlen.joint.JointNestedRaggedTensorDict._wrap(joint).save(tmp_path / "numbered.nrt")
    return varlen.open(tmp_path / "numbered.nrt")


@pytest.mark.parametrize("method", mostly_deep(METHODS, "fork"))
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_epochs_reach_workers_that_live_on(tmp_path, method):
    """Random windows depend on seed, epoch and row, whatever the workers and whenever those started."""
    if method == "fork" and sys.platform == "darwin":
        pytest.skip("fork is not safe there")
    ds = _numbered(tmp_path)
    rows = np.arange(len(ds))
    how = {"max_len": 3, "window": "random", "windows": True, "seed": 5}
    wanted = [ds.batch(rows, epoch=epoch, **how)["window/start"].tolist() for epoch in range(4)]
    assert len(set(map(tuple, wanted))) == 4
    workers = _how(method) | {"persistent_workers": True}

    collate = ds.collator(**how)
    plain = loader(ds, batch_size=7, shuffle=True, collate_fn=collate, **workers)
    for epoch in (0, 2, 1, 3):
        collate.set_epoch(epoch)
        starts = _windows(plain)
        assert [starts[row] for row in rows.tolist()] == wanted[epoch]

    sampler = LengthBuckets(ds.lengths, 4, seed=1)
    dealt = loader(ds, batch_sampler=sampler, collate_fn=ds.collator(**how), **workers)
    for epoch in (0, 3, 1):
        sampler.set_epoch(epoch)
        starts = _windows(dealt)
        assert [starts[row] for row in rows.tolist()] == wanted[epoch]


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_generator_seeds_all_workers_alike(tmp_path, workers):
    ds = _numbered(tmp_path)
    how = {"max_len": 3, "window": "random", "windows": True}
    collate = ds.collator(seed=np.random.default_rng(7), **how)
    wanted = collate(list(range(len(ds))))["window/start"].tolist()
    again = ds.collator(seed=np.random.default_rng(7), **how)
    starts = _windows(loader(ds, batch_size=4, collate_fn=again, num_workers=workers))
    assert [starts[row] for row in range(len(ds))] == wanted


def test_the_epoch_of_a_copied_collator_is_its_own(ds):
    collate = ds.collator(max_len=1, window="random", seed=5)
    collate.set_epoch(2)
    for other in (pickle.loads(pickle.dumps(collate)), copy.deepcopy(collate)):
        assert other.epoch == 2
        other.set_epoch(4)
        assert collate.epoch == 2
        collate.set_epoch(2)
        assert other.epoch == 4


def test_a_collator_follows_the_epoch_of_the_sampler_until_it_is_told(ds):
    collate = ds.collator(max_len=1, window="random", windows=True, seed=5)
    sampler = TokenBudget(ds.lengths, 12)
    sampler.set_epoch(3)
    rows = next(iter(sampler))
    assert (rows.epoch, pickle.loads(pickle.dumps(rows)).epoch, rows == list(rows)) == (3, 3, True)

    def start(epoch):
        return ds.batch(rows, max_len=1, window="random", windows=True, seed=5, epoch=epoch)["window/start"]

    assert collate(rows)["window/start"].tolist() == start(3).tolist() != start(0).tolist()
    assert collate(ds.__getitems__(rows))["window/start"].tolist() == start(3).tolist()
    assert collate(list(rows))["window/start"].tolist() == start(0).tolist()
    batch = next(iter(ds.epoch(batches=sampler, max_len=1, window="random", windows=True, seed=5)))
    assert batch["window/start"].tolist() == start(3).tolist()
    batch = next(iter(ds.epoch(batches=sampler, epoch=1, max_len=1, window="random", windows=True, seed=5)))
    assert batch["window/start"].tolist() == start(1).tolist()
    collate.set_epoch(1)
    assert collate(rows)["window/start"].tolist() == start(1).tolist()


def test_records_have_no_windows_of_a_seed(ds):
    collate = ds.collator(max_len=1, window="random", seed=5)
    with pytest.raises(ValueError, match="seed: random windows depend on row numbers, which records do not"):
        collate([ds[0], ds[2]])
    assert len(ds.collator(max_len=1, window="random")([ds[0], ds[2]])["y"]) == 2


NO_TORCH = """
import sys
sys.modules["torch"] = None
import numpy as np
import varlen
from varlen.data import Collate, TokenBudget
ds = varlen.open(sys.argv[1])
for rows in TokenBudget(ds.lengths, 12):
    assert ds.collate(ds.__getitems__(rows))["y"].size == len(rows)
assert len(list(ds.epoch(5, shuffle=True, prefetch=2, progress=False))) == 5
assert Collate()([np.ones(2), np.ones(1)])[0].shape == (2, 2)
try:
    ds.batch([0], framework="torch")
except ImportError:
    print("fine")
"""


def test_data_works_without_torch(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", NO_TORCH, _path(tmp_path)],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.stdout == "fine\n", done.stderr


def test_data_never_imports_torch():
    code = "import sys, varlen.data; ds = varlen.data.Dataset; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "False\n"


def test_dataset_survives_a_fork_of_its_threads(ds):
    import multiprocessing

    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    wanted = ds.batch(np.arange(len(ds)))["y"].sum()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_sum_of, [ds] * 3) == [wanted] * 3


def _sum_of(ds: Dataset):
    return ds.batch(np.arange(len(ds)))["y"].sum()
