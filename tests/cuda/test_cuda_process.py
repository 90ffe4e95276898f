"""What a process keeps of a device: no memory, no state; forked children and wrong places are told."""

import gc
import os

import device_calls
import house
import numpy as np
import pytest
import varlen as vl
from memory import Block, DriverArray, OfDriver, OfTorch
from varlen import _core

pytestmark = [pytest.mark.cuda, pytest.mark.filterwarnings("ignore:The given NumPy array is not w")]

CALLS = {**device_calls.MOVES, **device_calls.NUMBERS}


def run(memory, name):
    verb, *args = CALLS[name]
    placed = [memory.put(x) if isinstance(x, np.ndarray) and x.dtype.kind == "f" else x for x in args]
    _core.on_tensors(verb, *placed)


@pytest.mark.parametrize("name", CALLS)
def test_calls_keep_no_memory_of_torch(torch, name):
    memory = OfTorch()
    run(memory, name)  # the ends of the levels stay with them
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        run(memory, name)
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_calls_keep_no_memory_of_the_driver():
    memory = OfDriver()
    for name in CALLS:
        run(memory, name)
    gc.collect()
    before = Block.alive
    for name in CALLS:
        run(memory, name)
    gc.collect()
    assert Block.alive == before


def test_levels_give_their_memory_back(torch):
    x = torch.zeros(70_000, 1, device="cuda")
    _core.on_tensors(_core.reverse, x, vl.Level([70_000]))
    before = torch.cuda.memory_allocated()
    level = vl.Level([7] * 10_000)
    _core.on_tensors(_core.reverse, x, level)
    assert torch.cuda.memory_allocated() > before
    del level
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_gradients_keep_no_memory(torch):
    def step():
        x = torch.ones(1000, 4, device="cuda", requires_grad=True)
        ragged = vl.Ragged(x, [300, 0, 700])
        (ragged.softmax().max(empty=0).sum() + ragged.to_dense().sum()).backward()

    step()
    gc.collect()
    before = torch.cuda.memory_allocated()
    for _ in range(3):
        step()
    gc.collect()
    assert torch.cuda.memory_allocated() == before


def test_want_of_memory_is_the_allocators_own_error(torch):
    rows = torch.ones(2, 1, dtype=torch.uint8, device="cuda")
    before = torch.cuda.memory_allocated()
    with pytest.raises(torch.OutOfMemoryError, match="memory"):
        _core.on_tensors(_core.expand, rows, vl.Level([2**44, 1]))
    gc.collect()
    assert torch.cuda.memory_allocated() <= before + 1024  # the ends of the level, until it is gone
    assert _core.on_tensors(_core.expand, rows, vl.Level([2, 1])).flatten().tolist() == [1, 1, 1]


FORKED = """
import os, sys
import torch, varlen as vl
from varlen import _core
import varlen.backends.torch
x = torch.arange(6.0, device="cuda").reshape(3, 2)
_core.on_tensors(_core.reverse, x, vl.Level([3]))
torch.cuda.synchronize()
child = os.fork()
if child == 0:
    try:
        print(vl.cuda.status().code)
        print(vl.cuda.status())
        try:
            _core.on_tensors(_core.reverse, x, vl.Level([3]))
            print("computed")
        except RuntimeError as error:
            print("refused:", str(error).splitlines()[0])
        sys.stdout.flush()
    finally:
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(_core.on_tensors(_core.reverse, x, vl.Level([3]))[0].tolist())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_children_are_told(torch):
    code, sentence, refused, of_parent = house.in_python(FORKED)[0].splitlines()
    assert code == "forked"
    assert sentence == "CUDA cannot be used in a forked child of a process that used it; spawn it instead."
    assert refused.startswith("refused:")
    assert of_parent == "[4.0, 5.0]"


def test_host_and_device_are_told_apart(torch):
    x = torch.zeros(5, 2, device="cuda")
    level = device_calls.LEVEL
    with pytest.raises(ValueError, match=r"^out: expected an array on device 0, got one on the host"):
        _core.on_tensors(_core.reverse, x, level, torch.zeros(5, 2))
    with pytest.raises(ValueError, match=r"^arrays: expected an array on the host, got one on device 0"):
        _core.on_tensors(_core.concat, [torch.zeros(5, 2), x])
    with pytest.raises(TypeError, match=r"^index: lies on a device; give it on the CPU"):
        _core.on_tensors(_core.gather, x, (level,), torch.zeros(2, dtype=torch.int64, device="cuda"))


@pytest.fixture
def two(torch):
    count = torch.cuda.device_count()
    if count < 2:
        pytest.skip(f"needs two CUDA devices, there is {count}")
    return torch.device("cuda", 0), torch.device("cuda", 1)


def test_tensors_of_two_devices_are_refused(torch, two):
    here, there = (torch.zeros(5, 2, device=each) for each in two)
    with pytest.raises(ValueError, match=r"^arrays: expected an array on device 0, got one on device 1"):
        _core.on_tensors(_core.concat, [here, there])
    with pytest.raises(ValueError, match=r"^out: expected an array on device 1, got one on device 0"):
        _core.on_tensors(_core.reverse, there, device_calls.LEVEL, here)


@pytest.mark.parametrize("name", ["reverse", "pad", "softmax", "sum", "sort"])
def test_verbs_run_on_the_device_of_their_rows(torch, two, name):
    verb, x, *rest = CALLS[name]
    results = [_core.on_tensors(verb, torch.from_numpy(x).to(device), *rest) for device in two]
    firsts = [result[0] if isinstance(result, tuple) else result for result in results]
    assert [first.device for first in firsts] == list(two)
    assert torch.equal(firsts[0].cpu(), firsts[1].cpu())
    assert torch.cuda.current_device() == 0


def test_memory_of_two_allocators_goes_through_one_call(torch):
    memory = OfDriver()
    rows = torch.arange(10.0, dtype=torch.float64, device="cuda").reshape(5, 2)
    out = memory.put(np.zeros((5, 2)))
    assert isinstance(out, DriverArray)
    torch.cuda.synchronize()
    result = _core.on_tensors(_core.reverse, rows, device_calls.LEVEL, out)
    assert result is out
    np.testing.assert_array_equal(memory.take(out), rows.cpu().numpy()[[2, 1, 0, 4, 3]])
