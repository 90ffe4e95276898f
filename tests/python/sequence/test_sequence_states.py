"""States: an array, or a tuple of them, through every function that moves them; lists of arrays are none."""

import re
from collections import namedtuple

import numpy as np
import pytest
import varlen as vl
from varlen import sequence

torch = pytest.importorskip("torch")

X = vl.Ragged(np.arange(6.0), [1, 3, 2])
TABLE = sequence.sort_by_length(X)
H, C = np.array([[1.0], [2.0], [3.0]]), np.array([[10.0, 11.0], [20.0, 21.0], [30.0, 31.0]])
R = vl.Ragged(np.arange(6.0), [2, 3, 1])
BEAM = vl.Beam(1).step(np.float32([[-1, -2, -3]]), k=3)
MOVES = {
    "reorder": lambda s: sequence.reorder(s, TABLE),
    "backprop_reorder": lambda s: sequence.backprop_reorder(s, TABLE),
    "init_memories": lambda s: sequence.init_memories(s, TABLE),
    "shrink": lambda s: sequence.shrink(s, 1, TABLE),
    "backprop_shrink": lambda s: sequence.backprop_shrink(sequence.shrink(s, 1, TABLE), s),
    "gather": lambda s: BEAM.step(np.log(np.float32([[1, 2], [3, 4], [5, 6]])), k=2).gather(s),
    "rnn": lambda s: sequence.rnn(lambda x, h: (x, h), X, s)[1],
}
Pair = namedtuple("Pair", "h c")


def same(a, b):
    return a.equals(b) if isinstance(a, vl.Ragged) else np.array_equal(a, b) and type(a) is type(b)


@pytest.mark.parametrize("name", MOVES)
@pytest.mark.parametrize("states", [(H, C), (H,), Pair(H, C), (torch.from_numpy(H), C), (H, R, C)])
def test_a_tuple_of_states_is_moved_state_by_state(name, states):
    if name == "rnn" and len(states) == 3:
        states = states[::2]
    result = MOVES[name](states)
    assert type(result) is tuple
    assert len(result) == len(states)
    assert all(same(a, MOVES[name](b)) for a, b in zip(result, states, strict=True))


def test_shrink_of_states_is_shared():
    for one, was in zip(sequence.shrink((H, C), 1, TABLE), (H, C), strict=True):
        assert np.shares_memory(one, was)
        assert len(one) == 2


@pytest.mark.parametrize("name", MOVES)
def test_lists_of_arrays_are_no_states(name):
    argument = {"shrink": "memory", "backprop_shrink": "memory", "gather": "state", "rnn": "init"}.get(
        name, "dY" if name == "backprop_reorder" else "h0" if name == "init_memories" else "x"
    )
    for state in ([H, C], [H, H, H], [torch.from_numpy(H)] * 3, [R]):
        with pytest.raises(TypeError, match=f"^{argument}: expected a tuple of states, got a list of arrays"):
            MOVES[name](state)
    if name == "gather":  # takes tuples in tuples, of stacked layers
        with pytest.raises(TypeError, match=r"^state\[1\]: expected a tuple of states, got a list of arrays"):
            MOVES[name]((H, [H, C]))
        return
    for state, at in ((((H, C), H), 0), ((H, [H, C]), 1)):
        text = re.escape(f"{argument}[{at}]: a {type(state[at]).__name__} of arrays, expected one state")
        with pytest.raises(TypeError, match=f"^{text}"):
            MOVES[name](state)


@pytest.mark.parametrize("name", MOVES)
def test_lists_of_numbers_are_one_array(name):
    for numbers in ([1, 2, 3], [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]):
        for state in (numbers, [np.float64(x) if np.ndim(x) == 0 else x for x in numbers]):
            assert np.array_equal(MOVES[name](state), MOVES[name](np.array(numbers)))
        (result,) = MOVES[name]((numbers,))
        assert np.array_equal(result, MOVES[name](np.array(numbers)))


def test_backprop_shrink_is_adjoint():
    rng = np.random.default_rng(0)
    for t in range(4):
        for memory in (H, C, R, np.zeros((3, 2, 2))):
            kept = sequence.shrink(memory, t, TABLE)
            values, was = (x.values if isinstance(x, vl.Ragged) else x for x in (kept, memory))
            d = rng.normal(size=values.shape)
            dy = vl.Ragged(d, levels=kept.levels) if isinstance(kept, vl.Ragged) else d
            result = sequence.backprop_shrink(dy, memory)
            rows = result.values if isinstance(result, vl.Ragged) else result
            assert rows.shape == was.shape
            assert (rows * was).sum() == pytest.approx((d * values).sum())
            if isinstance(memory, vl.Ragged):
                assert result.levels == memory.levels
                assert sequence.backprop_shrink(d, memory).equals(result)


DEEP = vl.Ragged(np.zeros((4, 2)), [[1, 2], [1, 2, 1]])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: sequence.shrink(5, 1, TABLE), TypeError, "memory: expected rows or sequences, got int"),
        (lambda: sequence.shrink((H, H[:1]), 1, TABLE), ValueError, r"memory\[1\]: has 1 rows, but 2"),
        (lambda: sequence.reorder((H, H[:1]), TABLE), ValueError, r"x\[1\]: has 1 rows"),
        (lambda: BEAM.gather((H[:1], H)), ValueError, r"state\[1\]: has 3 rows, but there were 1"),
        (
            lambda: sequence.rnn(lambda x, h: (x, h), X, (H, H[:1])),
            ValueError,
            r"init\[1\]: has 1 rows for 3 sequences",
        ),
        (
            lambda: sequence.backprop_shrink(vl.Ragged(np.ones(3), [1, 2]), R),
            ValueError,
            "dY: nests differently: sequence 0 of level 0 has length 1 in one and 2 in the other",
        ),
        (
            lambda: sequence.backprop_shrink(vl.Ragged(np.ones((1, 2)), [1]), DEEP),
            ValueError,
            "dY: nests differently: one has 1 levels, the other 2",
        ),
        (lambda: sequence.backprop_shrink(R, np.zeros(6)), ValueError, "dY: nests differently: one has 1"),
        (lambda: sequence.backprop_shrink(R, R[:2]), ValueError, "dY: has 3 sequences, the memory 2"),
        (
            lambda: sequence.backprop_shrink(np.ones(4), R),
            ValueError,
            "dY: has 4 rows, but no sequence of the memory ends there",
        ),
        (lambda: sequence.backprop_shrink(np.ones(7), R), ValueError, "dY: has 7 rows, the memory 6"),
        (
            lambda: sequence.backprop_shrink(np.ones((2, 3)), np.ones((3, 2))),
            ValueError,
            r"dY: has rows of shape \(3,\), expected \(2,\)",
        ),
        (
            lambda: sequence.backprop_shrink(
                vl.Ragged(np.ones((2, 3)), [2]), vl.Ragged(np.ones((3, 2)), [2, 1])
            ),
            ValueError,
            r"dY: has rows of shape \(3,\), expected \(2,\)",
        ),
        (
            lambda: sequence.backprop_shrink((H, C[:, :1]), (H, C)),
            ValueError,
            r"dY\[1\]: has rows of shape \(1,\)",
        ),
        (
            lambda: sequence.backprop_shrink(H, (H, C)),
            TypeError,
            "dY: expected a tuple of 2 states, got ndarray",
        ),
        (
            lambda: sequence.backprop_shrink((H, C, C), (H, C)),
            TypeError,
            "dY: expected a tuple of 2 states, got a tuple of 3",
        ),
        (
            lambda: sequence.backprop_shrink((H, C), H),
            TypeError,
            "dY: expected one state, got a tuple of 2",
        ),
    ],
)
def test_states_refuse_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=f"^{text}"):
        call()
