"""Streams and graphs: verbs work on the caller's stream, wait for nothing, and are captured as they are."""

import device_calls
import numpy as np
import pytest
import varlen as vl
from varlen import _core

pytestmark = pytest.mark.cuda

LENGTHS = [3, 0, 5, 70_001, 2, 300]
LEVEL = vl.Level(LENGTHS)
LONG = 200_000_000  # cycles of the device: a tenth of a second

VERBS = {
    "sum": lambda x, level: _core.reduce("sum", x, level, 0),
    "max": lambda x, level: _core.reduce("max", x, level, 0),
    "softmax": lambda x, level: _core.softmax(x, level),
    "cumsum": lambda x, level: _core.scan("sum", x, level),
    "sort": lambda x, level: _core.sort(x, level)[0],
    "reverse": lambda x, level: _core.reverse(x, level),
    "roll": lambda x, level: _core.roll(x, level, 1),
    "pad": lambda x, level: _core.pad(x, (level,)),
}
WITH_OUT = {
    "sum": lambda x, out: _core.reduce("sum", x, LEVEL, 0, out),
    "softmax": lambda x, out: _core.softmax(x, LEVEL, False, 1.0, out),
    "cumsum": lambda x, out: _core.scan("sum", x, LEVEL, False, False, out),
    "reverse": lambda x, out: _core.reverse(x, LEVEL, out),
}


def rows(torch, seed=0, width=2):
    generator = torch.Generator("cuda").manual_seed(seed)
    return torch.randn(LEVEL.total, width, device="cuda", generator=generator)


def call(verb, x, level=LEVEL):
    return _core.on_tensors(VERBS[verb], x, level)


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_come_after_what_was_put_on_their_stream(torch, verb):
    wanted = call(verb, rows(torch, 1))
    x = torch.zeros(LEVEL.total, 2, device="cuda")
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(LONG)
        x.copy_(rows(torch, 1))
        got = call(verb, x)
    stream.synchronize()
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_wait_for_nothing(torch, verb):
    x = rows(torch)
    call(verb, x)  # the level's ends are there now, and the module is loaded
    torch.cuda.synchronize()
    torch.cuda._sleep(5 * LONG)
    call(verb, x)
    ran_ahead = not torch.cuda.current_stream().query()
    torch.cuda.synchronize()
    assert ran_ahead


@pytest.mark.parametrize("verb", VERBS)
def test_two_streams_do_not_race(torch, verb):
    inputs = [rows(torch, seed) for seed in (1, 2)]
    wanted = [call(verb, x) for x in inputs]
    streams = [torch.cuda.Stream() for _ in inputs]
    torch.cuda.synchronize()
    level = vl.Level(LENGTHS)  # its ends are copied by both
    for _ in range(20):
        got = []
        for x, stream in zip(inputs, streams, strict=True):
            with torch.cuda.stream(stream):
                got.append(call(verb, x, level))
        torch.cuda.synchronize()
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_results_of_one_stream_are_taken_up_by_another(torch):
    x = rows(torch)
    wanted = _core.on_tensors(_core.reverse, x, LEVEL)
    first, second = torch.cuda.Stream(), torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(first):
        torch.cuda._sleep(LONG)
        half = _core.on_tensors(_core.softmax, x, LEVEL)
        back = _core.on_tensors(_core.reverse, _core.on_tensors(_core.reverse, x, LEVEL), LEVEL)
        done = first.record_event()
    with torch.cuda.stream(second):
        second.wait_event(done)
        got = _core.on_tensors(_core.reverse, back, LEVEL)
        total = _core.on_tensors(VERBS["sum"], half, LEVEL)
    second.synchronize()
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)
    torch.testing.assert_close(total[0], torch.ones_like(total[0]))


def test_streams_of_arrays_of_no_library():
    from memory import DriverArray, driver

    library = driver()
    library.enter()
    stream = library.new_stream()
    x = device_calls.X
    try:
        DriverArray.stream = stream
        got = _core.on_tensors(_core.reverse, DriverArray.of(x), device_calls.LEVEL).numpy()
    finally:
        DriverArray.stream = 0
        library.call("cuCtxSynchronize")
        library.end_stream(stream)
    np.testing.assert_array_equal(got, x[[2, 1, 0, 4, 3]])


def captured(torch, run):
    """A graph of run(), made on a stream on which it ran before, and what it gives."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        result = run()
    return graph, result


@pytest.mark.parametrize("verb", VERBS)
def test_graphs_hold_a_verb(torch, verb):
    x = rows(torch, 1)
    graph, result = captured(torch, lambda: call(verb, x))
    for seed in (2, 3):
        x.copy_(rows(torch, seed))
        graph.replay()
        torch.testing.assert_close(result, call(verb, x.clone()), rtol=0, atol=0)


@pytest.mark.parametrize("verb", WITH_OUT)
def test_graphs_write_to_an_output(torch, verb):
    x = rows(torch, 1)
    out = call(verb, x).zero_()
    graph, result = captured(torch, lambda: _core.on_tensors(WITH_OUT[verb], x, out))
    assert result is out
    x.copy_(rows(torch, 2))
    graph.replay()
    torch.testing.assert_close(out, call(verb, x.clone()), rtol=0, atol=0)


def test_graphs_hold_a_step_with_gradients(torch):
    x = rows(torch, 1).requires_grad_()

    def step():
        ragged = vl.Ragged(x, (LEVEL,))
        pooled = (ragged.softmax() * ragged).sum().pow(2).sum()
        return torch.autograd.grad(pooled, x)[0]

    graph, gradient = captured(torch, step)
    with torch.no_grad():
        x.copy_(rows(torch, 2))
    graph.replay()
    torch.testing.assert_close(gradient, step(), rtol=0, atol=0)
