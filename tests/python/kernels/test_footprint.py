"""An output is written only where it lies apart from all that the call reads."""

import numpy as np
import pytest
import varlen as vl
from varlen._core import is_apart
from varlen.backends import backend_of


def as_tensor(array):
    torch = pytest.importorskip("torch")
    backend_of(torch.Tensor())  # the core knows tensors from the first on
    return torch.from_numpy(array)


WORLDS = [np.asarray, as_tensor]


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("other", WORLDS)
def test_memory_that_meets_is_found_at_every_place_of_the_inputs(world, other):
    memory = np.zeros(12)
    out = world(memory[4:8])
    for begin in range(12):
        for end in range(begin, 13):
            read = other(memory[begin:end])
            meets = np.shares_memory(memory[4:8], memory[begin:end])
            for inputs in ((read,), (None, 1, read), ([read],), ((other(np.ones(3)), read),)):
                assert is_apart(out, inputs) == (not meets), (begin, end)
            assert is_apart(out, (vl.Ragged(read, lengths=[end - begin]),)) == (not meets)


@pytest.mark.parametrize("world", WORLDS)
def test_strides_count_to_the_last_byte(world):
    memory = np.zeros((4, 6))
    out = world(memory[2])
    assert is_apart(out, (world(memory[:2, ::2]), world(memory[3:].T)))
    assert not is_apart(out, (world(memory[:3, ::2]),))
    assert not is_apart(out, (world(memory[::3]),))  # what lies between takes a closer look
    assert is_apart(memory[2], (memory[1::-1],))
    assert not is_apart(memory[0], (memory[1::-1],))


@pytest.mark.parametrize("world", WORLDS)
def test_an_output_with_gaps_takes_a_closer_look(world):
    memory = np.zeros((4, 6))
    assert is_apart(world(memory), ())
    assert is_apart(world(memory[:1, :3]), ())
    assert is_apart(world(memory[:0, ::2]), ())
    assert not is_apart(world(memory[:, :3]), ())
    assert not is_apart(world(memory).T, ())


def test_objects_that_are_not_known_take_a_closer_look():
    out = np.zeros(3)
    assert is_apart(out, (None, True, 2, 0.5, "right", [1, 2], [[1], [2]], vl.Level([1, 2]), [], ()))
    assert not is_apart(out, (object(),))
    assert not is_apart(out, ([np.ones(2), object()],))
    for output in ([1.0], None, object(), np.ma.array(out, mask=[0, 1, 0])):
        assert not is_apart(output, ())


@pytest.mark.parametrize("arguments", [(), (np.zeros(2),), (np.zeros(2), [np.ones(2)])])
def test_an_output_and_a_tuple_are_expected(arguments):
    with pytest.raises(TypeError, match="is_apart: expected an output and a tuple"):
        is_apart(*arguments)
