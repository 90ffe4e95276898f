"""Ranks of samplers: where they are found, what they share, how the last step ends."""

import subprocess
import sys

import numpy as np
import pytest
from deep import mostly_deep
from hypothesis import given
from hypothesis import strategies as st
from varlen.data import BatchSampler, BinPacking, LengthBuckets, TokenBudget
from varlen.data.ranks import as_rank

MAKE = {
    "fixed": lambda lengths, **how: BatchSampler(lengths, 3, **how),
    "buckets": lambda lengths, **how: LengthBuckets(lengths, 3, **how),
    "budget": lambda lengths, **how: TokenBudget(lengths, 40, **how),
    "ragged budget": lambda lengths, **how: TokenBudget(lengths, 40, padded=False, **how),
    "bins": lambda lengths, **how: BinPacking(lengths, 40, **how),
}


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("WORLD_SIZE", "RANK", "NODE_RANK", "LOCAL_RANK"):
        monkeypatch.delenv(name, raising=False)


def shares(make, lengths, ranks, **how):
    return [list(make(lengths, num_replicas=ranks, rank=r, **how)) for r in range(ranks)]


@given(
    st.sampled_from(list(MAKE)),
    st.lists(st.integers(0, 40), max_size=30),
    st.integers(1, 5),
    st.booleans(),
    st.integers(0, 3),
)
def test_every_row_comes_once_where_ends_are_empty(name, lengths, ranks, shuffle, seed):
    parts = shares(MAKE[name], lengths, ranks, shuffle=shuffle, seed=seed, uneven="empty")
    assert len({len(part) for part in parts}) == 1
    assert sorted(row for part in parts for batch in part for row in batch) == list(range(len(lengths)))


@given(
    st.sampled_from(list(MAKE)),
    st.lists(st.integers(0, 40), max_size=30),
    st.integers(1, 5),
    st.booleans(),
)
def test_uneven_ends_are_repeated_or_dropped(name, lengths, ranks, shuffle):
    whole = list(MAKE[name](lengths, shuffle=shuffle, num_replicas=1, rank=0))
    for uneven in ("repeat", "drop"):
        if uneven == "drop" and 0 < len(whole) < ranks:
            sampler = MAKE[name](lengths, shuffle=shuffle, uneven=uneven, num_replicas=ranks, rank=0)
            said = f"uneven: 'drop' leaves no batch: there are {len(whole)} for {ranks} ranks; pass 'repeat'"
            for call in (list, len):
                with pytest.raises(ValueError, match=said):
                    call(sampler)
            assert "(0 batches" in repr(sampler)
            continue
        parts = shares(MAKE[name], lengths, ranks, shuffle=shuffle, uneven=uneven)
        count = len(whole) // ranks if uneven == "drop" else -(-len(whole) // ranks)
        assert [len(part) for part in parts] == [count] * ranks
        dealt = [tuple(batch) for step in zip(*parts, strict=True) for batch in step]
        assert set(dealt) <= set(map(tuple, whole))
        assert len(set(dealt)) == min(len(whole), len(dealt))
        assert all(dealt)


@pytest.mark.parametrize("name", MAKE)
def test_ranks_have_about_as_many_tokens_in_each_step(name):
    lengths = np.minimum(np.random.default_rng(0).lognormal(2, 1, 4000).astype(int), 40)
    parts = shares(MAKE[name], lengths, 4, shuffle=True)
    pads = name not in ("ragged budget", "bins")

    def tokens(batch):
        return lengths[batch].max() * len(batch) if pads else lengths[batch].sum()

    steps = np.array([[tokens(batch) for batch in part] for part in parts])[:, :-1]
    waits = (steps.max(0) - steps.mean(0)).sum() / steps.sum()
    mixed = np.random.default_rng(1).permutation(steps.ravel()).reshape(steps.shape)
    assert waits < 0.005
    assert name == "bins" or waits * 5 < (mixed.max(0) - mixed.mean(0)).sum() / mixed.sum()
    assert abs(np.diff(steps.sum(1))).max() < 0.02 * steps.sum(1).mean()


def test_ranks_are_found_in_the_environment(monkeypatch):
    assert as_rank(None, None) == (1, 0)
    monkeypatch.setenv("WORLD_SIZE", "4")
    with pytest.raises(
        ValueError, match="the environment has WORLD_SIZE=4 and no RANK; pass num_replicas and rank"
    ):
        BatchSampler(9, 2)
    monkeypatch.setenv("RANK", "3")
    sampler = BatchSampler(9, 2)
    assert (sampler.num_replicas, sampler.rank) == (4, 3)
    assert "rank 3 of 4" in repr(sampler)
    own = BatchSampler(9, 2, num_replicas=1, rank=0)
    assert (own.num_replicas, own.rank) == (1, 0)
    monkeypatch.setenv("RANK", "two")
    with pytest.raises(ValueError, match="expected a number in the environment, got RANK='two'"):
        TokenBudget([1, 2], 4)
    monkeypatch.setenv("RANK", "4")
    with pytest.raises(ValueError, match="rank: expected 0 to 3, got 4"):
        LengthBuckets([1, 2], 4)


def test_what_is_given_fits_what_is_found(monkeypatch):
    assert as_rank(1, None) == (1, 0)
    with pytest.raises(ValueError, match="rank: expected a number with num_replicas=4, but got none"):
        BatchSampler(9, 2, num_replicas=4)
    with pytest.raises(ValueError, match="num_replicas: expected a number with rank=1, but got none"):
        BatchSampler(9, 2, rank=1)
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("RANK", "1")
    assert [as_rank(4, None), as_rank(None, 2), as_rank(1, None)] == [(4, 1), (4, 2), (1, 0)]
    with pytest.raises(ValueError, match="num_replicas: there are 4 processes, got 2; pass rank, too"):
        BatchSampler(9, 2, num_replicas=2)


def test_processes_of_lightning_on_one_machine_know_their_ranks(monkeypatch):
    for name, text in {"WORLD_SIZE": "4", "LOCAL_RANK": "3", "NODE_RANK": "0"}.items():
        monkeypatch.setenv(name, text)
    assert as_rank(None, None) == (4, 3)
    monkeypatch.setenv("NODE_RANK", "1")  # and how many each machine has is not said
    with pytest.raises(ValueError, match="or make the sampler after the process group"):
        as_rank(None, None)


def test_wrong_ends_are_named():
    with pytest.raises(ValueError, match="uneven: expected 'repeat', 'drop', 'empty' or None, got 'cut'"):
        BatchSampler(3, 1, uneven="cut")
    assert BatchSampler(3, 2, drop_last=True).uneven == "drop"
    assert BatchSampler(3, 2).uneven == "repeat"


OF_A_GROUP = """
import os
import sys
import torch
import torch.distributed as dist
import varlen as vl

rank, ranks, store = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
early = vl.data.BatchSampler(45, 4, uneven="empty")  # before there is a group
whole = list(vl.data.BatchSampler(45, 4, num_replicas=1, rank=0))
how = {"shuffle": True, "uneven": "empty"}
told = [vl.data.BatchSampler(45, 4, **how) for _ in range(2)]
given = [vl.data.BatchSampler(45, 4, num_replicas=n, rank=min(rank, n - 1), **how) for n in (ranks, 3)]
for one, other in zip(told, given):
    one.load_state_dict(other.state_dict(batches=1))
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
rows = [[i] * (i % 7) for i in range(45)]
ds = vl.data.Dataset(vl.JointNestedRaggedTensorDict({"id": list(range(45)), "x": rows}))


def gathered(sampler, keep=lambda step: True):
    own = [ds.batch(batch)["id"].tolist() for step, batch in enumerate(sampler) if keep(step)]
    every = [None] * ranks
    dist.all_gather_object(every, own)
    assert len({len(part) for part in every}) == 1, every
    return sorted(row for part in every for batch in part for row in batch)


assert gathered(early) == list(range(45))
assert list(early)[:-1] == whole[rank::ranks][: len(early) - 1]
assert list(told[0]) == list(given[0])[1:]
others = [vl.data.BatchSampler(45, 4, num_replicas=3, rank=n, **how) for n in range(3)]
assert gathered(told[1]) == sorted(row for other in others for batch in list(other)[1:] for row in batch)
few = vl.data.BatchSampler(3, 2, uneven="empty")  # fewer batches than ranks
assert gathered(few) == [0, 1, 2]
assert gathered(vl.data.BatchSampler(0, 2, uneven="empty")) == []
for uneven in ("repeat", "drop"):
    some = vl.data.BatchSampler(ds, 4, uneven=uneven)
    count = 12 // ranks * ranks if uneven == "drop" else -(-12 // ranks) * ranks
    rows = [row for k in range(count) for row in whole[k % 12]]
    assert gathered(some) == sorted(rows)
for make in (
    lambda: vl.data.BatchSampler(ds, 4, shuffle=True, uneven="empty"),
    lambda: vl.data.TokenBudget(ds, 20, uneven="empty"),
    lambda: vl.data.BinPacking(ds, 20, uneven="empty"),
):
    sampler = make()
    assert (sampler.rank, sampler.num_replicas) == (rank, ranks)
    assert gathered(sampler) == list(range(45))
    begun = iter(sampler)
    first = [next(begun), next(begun)]
    state = [sampler.state_dict() if rank == 0 else None]
    dist.broadcast_object_list(state)
    sampler = make()
    sampler.load_state_dict(state[0])
    again = make()
    assert first + list(sampler) == list(again)
    # The steps are those of a training loop: each rank comes to each of them.
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    for batch in vl.data.TokenBudget(ds, 20, uneven="repeat"):
        values = torch.tensor(ds.batch(batch, layout="ragged")["x"]).float()[:, None]
        model(values).sum().backward()
print("as expected")
dist.destroy_process_group()
sys.stdout.flush()
os._exit(0)  # a thread of gloo that lets go of a tensor while the interpreter ends aborts the process
"""


@pytest.mark.parametrize("ranks", mostly_deep([1, 2, 4], 2))
def test_processes_of_a_group_share_every_row(ranks, tmp_path):
    pytest.importorskip("torch")
    command = [sys.executable, "-c", OF_A_GROUP]
    running = [
        subprocess.Popen(
            [*command, str(rank), str(ranks), str(tmp_path / "store")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(ranks)
    ]
    ends = [(*process.communicate(timeout=100), process.returncode) for process in running]
    assert [(out, code) for out, _, code in ends] == [("as expected\n", 0)] * ranks, ends


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("ranks", [2, 3])
def test_accelerate_deals_out_every_row_of_a_sampler_that_is_no_share(name, ranks):
    shards = pytest.importorskip("accelerate.data_loader").BatchSamplerShard

    def dealt(**how):
        sampler = MAKE[name](lengths, **how)
        return [list(shards(sampler, ranks, rank)) for rank in range(ranks)]

    lengths = list(range(1, 32))  # the last batch is short, wherever it comes
    shares = dealt(num_replicas=1, rank=0)
    assert {row for share in shares for batch in share for row in batch} == set(range(31))
    assert len({len(share) for share in shares}) == 1
    if name == "bins":
        assert all(batch.bins is not None for share in shares for batch in share)
    with pytest.raises(ValueError, match="a share already; give num_replicas=1, rank=0"):
        dealt(num_replicas=ranks, rank=0)


def test_a_sampler_in_the_place_of_lengths_says_who_puts_it_there():
    torch = pytest.importorskip("torch.utils.data")
    with pytest.raises(TypeError, match="use_distributed_sampler=False"):
        BatchSampler(torch.DistributedSampler(range(9), 2, 0), batch_size=2)
