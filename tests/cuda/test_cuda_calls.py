"""Verbs of the core on a device: what they give is what they give of arrays, in memory of any allocator."""

import device_calls
import numpy as np
import pytest
import varlen as vl
from memory import by_cpu
from varlen import _core

# Orders that are shared come as tensors that must not be written.
pytestmark = [
    pytest.mark.cuda(on_host=True),
    pytest.mark.filterwarnings("ignore:The given NumPy array is not w"),
]

MOVES, NUMBERS, LEVEL = device_calls.MOVES, device_calls.NUMBERS, device_calls.LEVEL


def is_rows(x):
    """Rows go to the device; indices, counts and places are numbers of the host."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "f"


def on_device(memory, verb, *args):
    """The call with its rows on the device, and what it gives taken back."""
    placed = [memory.put(x) if is_rows(x) else x for x in args]
    result = _core.on_tensors(verb, *placed)
    rows = result[0] if isinstance(result, tuple) else result
    assert memory.is_there(rows)
    return back(memory, result)


def back(memory, result):
    if isinstance(result, memory.type):
        return memory.take(result)
    if isinstance(result, list | tuple):
        return [back(memory, each) for each in result]
    return result.lengths if isinstance(result, vl.Level) else result


def flat(result):
    """What a call gives, one after another."""
    if isinstance(result, list | tuple):
        return [each for part in result for each in flat(part)]
    return [result.lengths if isinstance(result, vl.Level) else result]


def with_dtype(call, dtype):
    verb, *args = call
    return verb, *(x.astype(dtype) if is_rows(x) else x for x in args)


def wanted_of(call):
    with by_cpu():
        return flat(call[0](*call[1:]))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", MOVES)
def test_moves_give_the_same_bits(memory, name, dtype):
    call = with_dtype(MOVES[name], dtype)
    for got, wanted in zip(flat(on_device(memory, *call)), wanted_of(call), strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert np.asarray(got).dtype == np.asarray(wanted).dtype


@pytest.mark.parametrize("dtype", ["u1", "i8"])
@pytest.mark.parametrize("name", MOVES)
def test_moves_take_rows_of_any_width(memory, name, dtype):
    verb, x, *rest = MOVES[name]
    x = x.astype(dtype)
    got = flat(back(memory, _core.on_tensors(verb, memory.put(x), *rest)))
    for one, other in zip(got, wanted_of((verb, x, *rest)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_close_and_the_same_at_every_call(memory, name, dtype):
    call = with_dtype(NUMBERS[name], dtype)
    first, again = flat(on_device(memory, *call)), flat(on_device(memory, *call))
    close = {"f2": 4e-3, "f4": 1e-5, "f8": 1e-12}[dtype]
    for got, same, wanted in zip(first, again, wanted_of(call), strict=True):
        if wanted is None:
            assert got is None
            continue
        assert np.asarray(got).tobytes() == np.asarray(same).tobytes()
        assert np.asarray(got).dtype == np.asarray(wanted).dtype
        np.testing.assert_allclose(got, wanted, rtol=close, atol=close)


SHAPES = {
    "no sequences": [],
    "all empty": [0, 0, 0],
    "one giant": [100_003],
    "a giant among small ones": [1, 0, 70_001, 2, 3],
    "many small ones": [3, 0, 1] * 700,
    "around a block": [255, 256, 257, 1023, 1024, 1025],
}
VERBS = {
    "sum": lambda x, level: _core.reduce("sum", x, level, 0),
    "max": lambda x, level: _core.reduce("max", x, level, 0),
    "logsumexp": lambda x, level: _core.reduce("logsumexp", x, level, 0),
    "softmax": _core.softmax,
    "cumsum": lambda x, level: _core.scan("sum", x, level),
    "cummax": lambda x, level: _core.scan("max", x, level),
    "sort": lambda x, level: _core.sort(x, level)[0],
    "reverse": _core.reverse,
    "pad": lambda x, level: _core.pad(x, (level,)),
}
EXACT = {"max", "cummax", "sort", "reverse", "pad"}


@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("verb", VERBS)
def test_lengths_of_any_skew(memory, verb, shape, width):
    level = vl.Level(SHAPES[shape])
    x = np.random.default_rng(1).standard_normal((level.total, width)).astype(np.float32)
    (got,) = flat(on_device(memory, VERBS[verb], x, level))
    (wanted,) = wanted_of((VERBS[verb], x, level))
    if verb in EXACT:
        np.testing.assert_array_equal(got, wanted)
    else:
        atol = 1e-6 * max(1, np.abs(wanted).max(initial=0))
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=atol * 10)


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "pad"])
def test_sequence_gives_the_same_alone_and_in_any_batch(memory, verb):
    lengths = [5, 3001, 0, 700]
    level = vl.Level(lengths)
    x = np.random.default_rng(2).standard_normal((level.total, 2)).astype(np.float32)
    (whole,) = flat(on_device(memory, VERBS[verb], x, level))
    ends = np.cumsum(lengths)
    for i, end in enumerate(ends):
        rows = x[end - lengths[i] : end]
        (alone,) = flat(on_device(memory, VERBS[verb], rows, vl.Level(lengths[i : i + 1])))
        of_row = len(whole) == len(lengths)
        part = whole[i : i + 1] if of_row else whole[end - lengths[i] : end]
        assert alone.tobytes() == part.tobytes()


@pytest.mark.parametrize("verb", ["reverse", "softmax", "cumsum"])
def test_outputs_are_filled_and_given_back(memory, verb):
    x = np.random.default_rng(3).standard_normal((5, 2)).astype(np.float32)
    run = {
        "reverse": lambda x, out: _core.reverse(x, LEVEL, out),
        "softmax": lambda x, out: _core.softmax(x, LEVEL, False, 1.0, out),
        "cumsum": lambda x, out: _core.scan("sum", x, LEVEL, False, False, out),
    }[verb]
    out = memory.put(np.zeros_like(x))
    assert _core.on_tensors(run, memory.put(x), out) is out
    with by_cpu():
        np.testing.assert_allclose(memory.take(out), run(x, None), rtol=1e-6)


def test_what_fails_changes_nothing(memory):
    out = memory.put(np.full((5, 2), 7.0))
    with pytest.raises(ValueError, match="out"):
        _core.on_tensors(_core.reverse, memory.put(np.zeros((5, 3))), LEVEL, out)
    with pytest.raises(IndexError, match="index 3 at position 0"):
        _core.on_tensors(_core.gather, memory.put(np.zeros((5, 2))), (LEVEL,), [3])
    assert (memory.take(out) == 7).all()
    got = on_device(memory, _core.reverse, device_calls.X, LEVEL)  # a call that has nothing to do with it
    np.testing.assert_array_equal(got, device_calls.X[[2, 1, 0, 4, 3]])
