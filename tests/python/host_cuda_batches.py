"""What batches ask of streams on their way to a device, which is memory of the host here.

pytest -p host_cuda tests/python/host_cuda_batches.py
"""

import sys
import threading

import numpy as np
import pytest
import torch
from varlen import _core
from varlen.data import Dataset, DeviceLoader
from varlen.data.staging import Ring

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")

import host_cuda

CUDA = torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def events():
    """Nothing asked before counts; events come at once again behind the test."""
    host_cuda.device.asked()
    yield host_cuda.device
    host_cuda.device.hold_events(False)


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
    sent = [f"pinned copy on {side}", f"record {side}"]
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


def test_ring_waits_for_the_device_where_all_buffers_are_on_their_way(events):
    events.hold_events(True)
    ring = Ring(CUDA, 2)
    first, second = ring.take(10), ring.take(20)
    assert first is not second
    first.sent()
    second.sent()
    assert events.asked() == ["record 0", "record 0"]
    assert ring.take(30) is first  # that was sent first
    assert events.asked() == ["synchronize"]
    first.dropped()
    assert ring.take(5) is first  # at once
    assert events.asked() == []


def test_ring_takes_what_is_free_and_lets_it_grow(events):
    ring = Ring(CUDA, 2)
    block = ring.take(100)
    assert (block.bytes.numel(), block.bytes.is_pinned()) == (100, True)
    where = block.bytes.data_ptr()
    block.sent()
    block = ring.take(50)
    assert (block.bytes.numel(), block.bytes.data_ptr()) == (50, where)
    block.sent()
    large = ring.take(10_000_000)
    assert large.bytes.numel() == 10_000_000
    assert events.asked() == ["record 0", "record 0"]


def test_threads_wait_for_each_other_at_a_ring():
    ring = Ring(CUDA, 1)
    block = ring.take(10)
    found = []
    thread = threading.Thread(target=lambda: found.append(ring.take(10)))
    thread.start()
    thread.join(0.05)
    assert found == []
    block.dropped()
    thread.join()
    assert found == [block]


def test_buffers_come_back_where_a_batch_fails(ds):
    for _ in range(5):
        with pytest.raises(ValueError, match="out: the batch has no 'y'"):
            ds.batch([0], device="cuda", out={"y": torch.zeros(4, device="cuda")})
    assert ds.batch([0], device="cuda")["x"].shape == (1, 4)
