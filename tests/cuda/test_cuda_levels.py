"""Levels whose lengths a device made: nothing waits for them, graphs follow them, lies are told."""

import gc

import numpy as np
import pytest
import varlen as vl
from memory import HOST_CUDA
from varlen import _core

LENGTHS = [3, 0, 5, 70, 2, 300]
TOTAL = sum(LENGTHS)
LONG = 200_000_000  # cycles of the device: a tenth of a second

STEPS = {
    "attention": lambda r: (r.softmax() * r).sum(),
    "mean": lambda r: r.mean(empty=0),
    "sort": lambda r: r.sort().values,
    "moved": lambda r: r.reverse().roll(1).values,
    "dense": lambda r: r.to_dense(),
    "mask": lambda r: vl.ops.mask(r),
    "row_ids": lambda r: r.row_ids,
}


@pytest.fixture(autouse=True)
def _has_a_device(torch):
    if not (HOST_CUDA or torch.cuda.is_available()):
        pytest.skip("the kernels on the host take tensors of the CPU, whose lengths show")


def rows(torch, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((TOTAL, 2))).cuda()


def born(torch, lengths=LENGTHS, **said):
    return vl.Level(torch.tensor(lengths).cuda(), **said)


@pytest.mark.cuda(on_host=True)
@pytest.mark.parametrize("step", STEPS)
def test_lengths_of_the_device_give_what_those_of_the_host_give(torch, step):
    x = rows(torch)
    level = born(torch, max_len=300)
    found = STEPS[step](vl.Ragged(x, level))
    assert not level.is_on_host
    assert torch.equal(found, STEPS[step](vl.Ragged(x, vl.Level(LENGTHS))))
    assert level == vl.Level(LENGTHS)


@pytest.mark.cuda(on_host=True)
@pytest.mark.parametrize("count", [0, 1, 8192, 8193, 100_000])
def test_offsets_of_any_number_of_lengths(torch, count):
    lengths = np.random.default_rng(count).integers(0, 9, count)
    for dtype in (torch.int32, torch.int64, torch.uint8):
        assert vl.Level(torch.from_numpy(lengths).to(dtype).cuda()) == vl.Level(lengths)


@pytest.mark.cuda(on_host=True)
def test_lies_are_told(torch):
    x = rows(torch)
    r = vl.Ragged(x, born(torch, [3, 0, 5, 70, 2, 301]))
    if not HOST_CUDA:
        r.softmax()
        torch.cuda.synchronize()
    with pytest.raises(ValueError, match=r"lengths: they add up to 381, but there are 380 rows"):
        r.softmax()
    with pytest.raises(ValueError, match=r"lengths: row 1 has a negative length, -1"):
        born(torch, [1, -1], check=True)


@pytest.mark.cuda
@pytest.mark.parametrize("step", STEPS)
def test_verbs_wait_for_no_lengths(torch, step):
    x = rows(torch)
    STEPS[step](vl.Ragged(x, born(torch, max_len=300)))  # the module is loaded
    lengths = torch.tensor(LENGTHS).cuda()
    torch.cuda.synchronize()
    torch.cuda._sleep(5 * LONG)
    STEPS[step](vl.Ragged(x, vl.Level(lengths, max_len=300)))
    ran_ahead = not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    assert ran_ahead


@pytest.mark.cuda
@pytest.mark.parametrize("step", STEPS)
def test_graphs_follow_lengths_that_change(torch, step):
    x, lengths = rows(torch), torch.tensor(LENGTHS).cuda()

    def run():
        return STEPS[step](vl.Ragged(x, vl.Level(lengths, total=TOTAL, max_len=TOTAL)))

    run()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = run()
    for seed in (1, 2):
        lengths.copy_(torch.from_numpy(np.random.default_rng(seed).permutation(LENGTHS)))
        x.copy_(rows(torch, seed))
        graph.replay()
        assert torch.equal(result, run())


@pytest.mark.cuda
def test_graphs_hold_levels_of_the_host(torch):
    x = rows(torch)
    call = _core.on_tensors
    call(_core.reverse, x, vl.Level(LENGTHS))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = call(_core.reverse, x, vl.Level(LENGTHS))
    gc.collect()
    others = [vl.Level([k]) for k in range(1000)]  # where the level was
    x.copy_(rows(torch, 1))
    graph.replay()
    assert torch.equal(result, call(_core.reverse, x, vl.Level(LENGTHS)))
    assert len(others) == 1000


@pytest.mark.cuda
def test_what_waits_leaves_a_capture_as_it_is(torch):
    x = rows(torch)
    level = born(torch, total=TOTAL)
    wanted = _core.on_tensors(_core.reverse, x, level)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        with pytest.raises(RuntimeError, match="has to wait for the device"):
            level.sync()
        result = _core.on_tensors(_core.reverse, x, level)
    graph.replay()
    assert torch.equal(result, wanted)


@pytest.mark.cuda
def test_other_streams_come_after_the_one_of_the_lengths(torch):
    x = rows(torch)
    wanted = _core.on_tensors(_core.reverse, x, vl.Level(LENGTHS))
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(first):
        lengths = torch.zeros(len(LENGTHS), dtype=torch.int64, device="cuda")
        torch.cuda._sleep(LONG)
        lengths.copy_(torch.tensor(LENGTHS))
        level = vl.Level(lengths, total=TOTAL)
    with torch.cuda.stream(second):
        result = _core.on_tensors(_core.reverse, x, level)
    torch.cuda.synchronize()
    assert torch.equal(result, wanted)


@pytest.mark.cuda
def test_errors_of_others_are_left_to_them(torch):
    x = rows(torch)
    with pytest.raises(torch.OutOfMemoryError):
        torch.empty(2**50, dtype=torch.uint8, device="cuda")
    with pytest.raises(torch.OutOfMemoryError):
        _core.on_tensors(_core.expand, x[:2], vl.Level([2**44, 1]))
    result = _core.on_tensors(_core.reverse, x, vl.Level(LENGTHS))
    torch.cuda.synchronize()
    assert result.shape == x.shape
