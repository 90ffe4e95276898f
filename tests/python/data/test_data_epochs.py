"""What an epoch holds: every row once, in an order and with windows that its seed and number alone decide."""

import itertools

import numpy as np
import pytest
import varlen
from varlen.data import Dataset, LengthBuckets, TokenBudget, batching
from varlen.joint import JointNestedRaggedTensorDict as Joint

PAIRS = list(itertools.product(range(3), range(3)))
LENGTHS = (np.arange(40) * 7 % 23).tolist()
PLACES = ["memory", "parts", "mapped", "read", "mapped shards", "read shards", "many shards"]


@pytest.fixture(params=PLACES)
def ds(request, tmp_path, monkeypatch):
    """Forty rows of fifty events, each number its own; y names the row."""
    raw = {
        "y": list(range(40)),
        "x": [[row * 100 + i for i in range(50)] for row in range(40)],
        "c": [[[row, i] for i in range(50)] for row in range(40)],
    }
    whole = Joint(raw, narrow=False)
    parts = [whole[a : a + 8] for a in range(0, 40, 8)]
    where = request.param
    if where == "memory":
        return Dataset(whole)
    if where == "parts":
        return Dataset(parts)
    if where == "many shards":  # more than are opened together
        monkeypatch.setattr(batching, "_OPEN_TOGETHER", 3)
    for i, part in enumerate(parts if where.endswith("shards") else [whole]):
        part.save(tmp_path / f"{i}.nrt")
    return varlen.open(tmp_path, mmap=not where.startswith("read"))


def rows_of(batches):
    return [batch["y"].tolist() for batch in batches]


def all_differ(orders):
    return len({repr(order) for order in orders}) == len(orders)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: LengthBuckets(LENGTHS, 4, seed=seed),
        lambda seed: LengthBuckets(LENGTHS, 4, seed=seed, buckets=[5, 15]),
        lambda seed: TokenBudget(LENGTHS, 60, seed=seed),
    ],
)
def test_every_seed_and_epoch_of_a_sampler_is_an_order_of_its_own(make):
    orders = []
    for seed, epoch in PAIRS:
        sampler = make(seed)
        sampler.set_epoch(epoch)
        orders.append(list(sampler))
    assert all_differ(orders)


def test_every_seed_and_epoch_of_a_dataset_is_an_order_of_its_own(ds):
    orders = [rows_of(ds.epoch(7, shuffle=True, seed=s, epoch=e, keys=["y"])) for s, e in PAIRS]
    assert all_differ(orders)
    for order in orders:
        assert sorted(itertools.chain(*order)) == list(range(40))
    assert rows_of(ds.epoch(7, shuffle=True, seed=1, epoch=2, keys=["y"])) == orders[PAIRS.index((1, 2))]


@pytest.mark.parametrize("window", ["random", "balanced_random"])
@pytest.mark.parametrize(
    "more", [{}, {"flatten": True}, {"suffix": {"x": [-1]}, "keys": ["x", "y"]}], ids=str
)
def test_random_windows_depend_on_seed_epoch_and_row_wherever_rows_lie(ds, window, more):
    how = {"max_len": 6, "window": window, "windows": True, **more}
    rows = [33, 2, 17, 39, 0]
    whole = Dataset(ds[:])
    starts = []
    for seed, epoch in PAIRS:
        batch = ds.batch(rows, seed=seed, epoch=epoch, **how)
        wanted = whole.batch(rows, seed=seed, epoch=epoch, **how)
        for name in ("window/start", "window/end", "x"):
            np.testing.assert_array_equal(batch[name], wanted[name], strict=True)
        alone = [ds.batch([row], seed=seed, epoch=epoch, **how)["window/start"][0] for row in rows]
        assert alone == batch["window/start"].tolist()
        starts.append(alone)
    assert all_differ(starts)


@pytest.mark.parametrize("size", [1, 3, 4, 8, 13, 39, 40, 41])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_drop_last_leaves_out_what_is_not_full_and_nothing_else(ds, size, prefetch):
    every, full = range(40), range(40 // size * size)
    for drop_last, rows in ((False, every), (True, full)):
        batches = ds.epoch(size, drop_last=drop_last, keys=["y"], prefetch=prefetch)
        if not rows:
            with pytest.raises(ValueError, match="drop_last: it leaves out all rows"):
                iter(batches)
            continue
        found = rows_of(batches)
        assert found == [list(rows[a : a + size]) for a in range(0, len(rows), size)]
        assert len(batches) == len(found)


@pytest.mark.parametrize("size", [1, 3, 4, 8, 13, 39, 40, 41])
@pytest.mark.parametrize("shuffle", [False, True])
def test_drop_last_of_a_sampler_leaves_out_what_is_not_full_and_nothing_else(size, shuffle):
    low = sum(length <= 9 for length in LENGTHS)
    for how, count in (({}, 40 // size), ({"buckets": [9]}, low // size + (40 - low) // size)):
        buckets = LengthBuckets(LENGTHS, size, shuffle=shuffle, drop_last=True, **how)
        if count:
            assert [len(batch) for batch in buckets] == [size] * count
    budget = TokenBudget(LENGTHS, 30, shuffle=shuffle)
    assert list(TokenBudget(LENGTHS, 30, shuffle=shuffle, drop_last=True)) == list(budget)


@pytest.mark.parametrize(
    ("replicas", "drop_last"), [*((n, False) for n in range(1, 6)), *((n, True) for n in range(1, 5))]
)
def test_replicas_take_turns(replicas, drop_last):
    whole = list(LengthBuckets(LENGTHS[:16], 4, shuffle=False))  # four batches
    how = {"shuffle": False, "num_replicas": replicas, "drop_last": drop_last}
    shares = [list(LengthBuckets(LENGTHS[:16], 4, rank=r, **how)) for r in range(replicas)]
    count = 4 // replicas if drop_last else -(-4 // replicas)
    assert shares == [[whole[(r + k * replicas) % 4] for k in range(count)] for r in range(replicas)]


def test_options_in_turn_are_those_of_their_call(ds):
    """More of them than are remembered, over and over."""
    for _ in range(3):
        for most in range(1, 21):
            batch = ds.batch([5, 30], max_len=most, keys=["x"], fill={"x": most}, pad_to=20)
            want = [[row * 100 + i if i < most else most for i in range(20)] for row in (5, 30)]
            assert batch["x"].tolist() == want
