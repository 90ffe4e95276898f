"""More than 2**31 elements on a device: indices and products of sizes have 64 bits."""

import pytest
import varlen as vl
from varlen import _core

pytestmark = [pytest.mark.cuda, pytest.mark.slow]

MANY = 2**31 + 4099  # elements
GB = 2**30


@pytest.fixture
def room(torch):
    """Skips, with the reason, where the device has not so many bytes."""

    def ask(count):
        torch.cuda.empty_cache()
        free, _ = torch.cuda.mem_get_info()
        if free < count:
            pytest.skip(f"needs {count / GB:.0f} GB of the device's memory, {free / GB:.0f} are free")

    yield ask
    torch.cuda.empty_cache()


def bytes_of(torch, count, width=1):
    """Rows of bytes that differ from their neighbours."""
    x = torch.arange(251, dtype=torch.uint8, device="cuda").repeat(-(-count // 251))[:count]
    return x.reshape(-1, width)


LEVELS = {"one giant": [MANY], "a giant behind small ones": [5, 0, MANY - 6, 1]}


@pytest.mark.parametrize("lengths", LEVELS.values(), ids=LEVELS)
def test_rows_are_reversed(torch, room, lengths):
    room(10 * GB)
    level, x = vl.Level(lengths), bytes_of(torch, MANY)
    got = _core.on_tensors(_core.reverse, x, level)
    at = 0
    for length in lengths:
        assert torch.equal(got[at : at + length], x[at : at + length].flip(0))
        at += length


@pytest.mark.parametrize("width", [1, 16, 4096])
def test_rows_are_padded_and_back(torch, room, width):
    room(14 * GB)
    count = MANY // width
    level = vl.Level([count - count // 3, count // 3])
    x = bytes_of(torch, count * width, width)
    block = _core.on_tensors(_core.pad, x, (level,), "right", 7, False, None, "right", None, None, 1, 2**40)
    first = int(level.lengths[0])
    assert torch.equal(block[0], x[:first])
    assert torch.equal(block[1, : count - first], x[first:])
    assert (block[1, count - first :] == 7).all()
    assert torch.equal(_core.on_tensors(_core.unpad, block, (level,)), x)


def test_rows_are_repeated(torch, room):
    room(4 * GB)
    level = vl.Level([1, MANY - 2, 1])
    got = _core.on_tensors(
        _core.expand, torch.tensor([[1], [2], [3]], dtype=torch.uint8, device="cuda"), level
    )
    assert (int(got[0]), int(got[1]), int(got[-2]), int(got[-1])) == (1, 2, 2, 3)
    assert int(got.sum(dtype=torch.int64)) == 2 * MANY


@pytest.mark.parametrize("lengths", LEVELS.values(), ids=LEVELS)
def test_sums_and_extremes(torch, room, lengths):
    room(5 * GB)
    level, x = vl.Level(lengths), torch.ones(MANY, 1, dtype=torch.int8, device="cuda")
    x[MANY - 2] = 9
    sums = _core.on_tensors(lambda x: _core.reduce("sum", x, level, 0), x)
    wanted = [n + 8 * (n > 6) for n in lengths]
    assert sums.flatten().tolist() == wanted
    found, which = _core.on_tensors(lambda x: _core.reduce_extreme("max", x, level, 0), x)
    giant = max(range(len(lengths)), key=lengths.__getitem__)
    assert int(found[giant]) == 9
    assert int(which[giant]) == MANY - 2 - sum(lengths[:giant])


def test_running_sums(torch, room):
    room(42 * GB)
    x = torch.ones(MANY, 1, dtype=torch.int8, device="cuda")
    got = _core.on_tensors(lambda x: _core.scan("sum", x, vl.Level([5, MANY - 5])), x)
    assert got[[4, 5, MANY - 1]].flatten().tolist() == [5, 1, MANY - 5]
    assert bool((got[6:] - got[5:-1] == 1).all())


def test_softmax_of_a_giant(torch, room):
    room(20 * GB)
    x = torch.zeros(MANY, 1, dtype=torch.float16, device="cuda")
    x[-1] = 20
    got = _core.on_tensors(_core.softmax, x, vl.Level([MANY]))
    total = torch.exp(torch.tensor(20.0)) + MANY - 1
    torch.testing.assert_close(
        float(got[-1]), float(torch.exp(torch.tensor(20.0)) / total), rtol=2e-3, atol=1e-4
    )


def test_rows_of_large_tensors_are_gathered(torch, room):
    room(10 * GB)
    width = 2**20
    count = MANY // width + 1
    x = torch.arange(count, device="cuda").to(torch.int16).repeat_interleave(width).reshape(count, width)
    rows, _ = _core.on_tensors(_core.gather, x, (vl.Level([1] * count),), [count - 1, 0, count - 2])
    assert rows[:, [0, -1]].tolist() == [[count - 1] * 2, [0] * 2, [count - 2] * 2]
