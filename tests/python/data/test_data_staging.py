"""Blocks of pinned memory that go to a device one after another, where torch and CuPy are not needed."""

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from devices import Array
from kernels import ON_DEVICE
from varlen import _core
from varlen.data.devices.staging import FreshBlocks, Ring

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")


@pytest.fixture(autouse=True)
def asked():
    """What was asked of streams; events come at once again behind the test."""
    _core.register(host_kernels=host.kernels)
    host.asked()
    yield host.asked
    host.hold_events(False)
    if not ON_DEVICE:
        _core.forget_kernels()


def there(size=100):
    return Array(np.zeros(size, np.uint8))


def address(block):
    return block.array.ctypes.data


def sent(ring, size):
    """A block that is on its way."""
    block = ring.take(size)
    block.send(there(size))
    block.give_back()
    return block


def test_bytes_arrive(asked):
    block, array = Ring(0).take(3), there(5)
    block.array[:] = [3, 1, 4]
    block.send(array)
    assert array.numbers.tolist() == [3, 1, 4, 0, 0]
    assert asked() == ["pinned copy on 0", "record 0"]
    block.send(array, non_blocking=False)
    assert asked() == ["pinned copy on 0", "record 0", "synchronize"]


def test_ring_waits_for_the_device_where_all_buffers_are_on_their_way(asked):
    host.hold_events(True)
    ring = Ring(0, 2)
    first, second = sent(ring, 10), sent(ring, 20)
    assert address(first) != address(second)
    asked()
    block = ring.take(30)
    assert address(block) == address(first)  # that was sent first
    assert asked() == ["synchronize"]
    block.give_back()
    assert address(ring.take(5)) == address(first)  # at once
    assert asked() == []


def test_ring_takes_what_is_free_and_lets_it_grow(asked):
    ring = Ring(0, 2)
    where = address(sent(ring, 100))
    assert address(sent(ring, 50)) == where
    large = sent(ring, 10_000_000)
    assert len(large.array) == 10_000_000
    assert "synchronize" not in asked()


def test_rings_without_a_count_make_what_is_needed():
    ring = Ring(0, None)
    blocks = [ring.take(10) for _ in range(5)]
    where = {address(block) for block in blocks}
    assert len(where) == 5
    del blocks
    assert address(ring.take(10)) in where  # given back when nobody held it


def test_threads_wait_for_each_other_at_a_ring():
    ring = Ring(0, 1)
    block = ring.take(10)
    found = []
    thread = threading.Thread(target=lambda: found.append(address(ring.take(10))))
    thread.start()
    thread.join(0.05)
    assert found == []
    where = address(block)
    block.give_back()
    thread.join()
    assert found == [where]


def test_want_of_pinned_memory_leaves_a_ring_as_it_was():
    ring = Ring(0, 1)
    host.fail_next(2)
    with pytest.raises(MemoryError, match="the host has no 65536 bytes of pinned memory left"):
        ring.take(10)
    block = ring.take(10)
    block.give_back()
    host.fail_next(2)
    with pytest.raises(MemoryError, match="pinned memory"):
        ring.take(1 << 20)
    assert len(ring.take(1 << 20).array) == 1 << 20


def test_errors_of_copies_are_told_by_the_call_that_met_them():
    block = Ring(0).take(10)
    host.fail_next(999)
    with pytest.raises(RuntimeError, match="send: CUDA: an error of the host"):
        block.send(there())
    block.send(there())
    with pytest.raises(ValueError, match="nbytes: expected 0 to 5, got 10"):
        block.send(there(5))
    with pytest.raises(TypeError, match="to: expected memory of a device, got list"):
        block.send([])
    host.begin_capture()
    try:
        with pytest.raises(RuntimeError, match="send: has to wait for the device"):
            block.send(there())
    finally:
        host.end_capture()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_leave_the_memory_to_their_parent():
    ring = Ring(0, 1)
    block = ring.take(10)
    child = os.fork()
    if child == 0:
        told = False
        try:
            block.send(there())
        except RuntimeError as error:
            told = "forked child" in str(error)
        block.give_back()
        os._exit(0 if told else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    block.send(there())


def test_pinned_memory_is_not_pickled_but_blocks_are():
    block = Ring(0).take(3)
    block.array[:] = [3, 1, 4]
    again = pickle.loads(pickle.dumps(block))
    block.array[:] = 0
    assert again.array.tolist() == [3, 1, 4]
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle 'PinnedMemory' object"):
            way(_core.PinnedMemory(0, 8))


def test_own_memory_has_exactly_what_is_asked_for():
    block = FreshBlocks().take(7)
    assert (block.array.dtype, len(block.array)) == (np.uint8, 7)
