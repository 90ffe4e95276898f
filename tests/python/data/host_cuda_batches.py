"""What batches ask of streams on their way to a device, which is memory of the host here.

pytest -p host_cuda tests/python/data/host_cuda_batches.py
"""

import sys

import numpy as np
import pytest
import torch
from varlen import _core, _cuda_host
from varlen.data import Dataset, DeviceLoader

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")


@pytest.fixture(autouse=True)
def events():
    """Nothing asked before counts; events come at once again behind the test."""
    _cuda_host.asked()
    yield _cuda_host
    _cuda_host.hold_events(False)


@pytest.fixture
def ds():
    rng = np.random.default_rng(0)
    return Dataset(_core.Joint(["x"], [1], [rng.random(40)], [_core.Level([4] * 10)]))


def test_batch_is_one_copy_of_pinned_memory(ds, events):
    ds.batch([3, 1], device="cuda", dtype="float32", padding_side="left", lengths=True)
    assert events.asked() == ["pinned copy on 0", "record 0"]


def test_loader_puts_the_next_batch_on_its_way_before_it_gives_one(ds, events):
    collate = ds.collator(device="cuda")
    batches = iter(DeviceLoader([collate([i]).pin_memory() for i in range(3)]))
    events.asked()
    next(batches)
    asked = events.asked()
    side = asked[0].removeprefix("pinned copy on ")
    sent = [f"pinned copy on {side}", f"record {side}", f"record {side}"]  # the block's event, the loop's
    received = [f"0 waits for {side}", "kept for 0", "kept for 0"]  # x and its mask
    assert asked == [*sent, *sent, *received]
    next(batches)
    assert events.asked() == [*sent, *received]
    next(batches)
    assert events.asked() == received


def test_epochs_that_are_made_ahead_go_on_a_stream_of_their_own(ds, events):
    batches = list(ds.epoch(2, device="cuda", prefetch=2))
    assert len(batches) == 5
    asked = events.asked()
    copies = {what for what in asked if "copy" in what}
    assert len(copies) == 1
    side = copies.pop().removeprefix("pinned copy on ")
    assert side != "0"
    assert asked.count(f"0 waits for {side}") == 5
    assert "synchronize" not in asked


def test_buffers_come_back_where_a_batch_fails(ds):
    for _ in range(5):
        with pytest.raises(ValueError, match="out: the batch has no 'y'"):
            ds.batch([0], device="cuda", out={"y": torch.zeros(4, device="cuda")})
    assert ds.batch([0], device="cuda")["x"].shape == (1, 4)
