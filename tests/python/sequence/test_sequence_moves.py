"""Rows, and whole sequences, that are reversed, cut, cut anew, put side by side and erased."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import sequence as oracle
from sequences import everywhere, gradient
from varlen import sequence
from varlen.testing import strategies

NESTED = vl.Ragged.from_list([[[1, 2], [3]], [], [[], [4, 5], [3]]])


def test_reverse_gives_what_paddle_gives():
    r = vl.Ragged([1, 2, 3, 4, 5], [2, 3])
    assert everywhere(vl.sequence_reverse, r) == [[2, 1], [5, 4, 3]]
    assert everywhere(vl.sequence_reverse, vl.Ragged(r.values, [0, 2, 0, 3])) == [[], [2, 1], [], [5, 4, 3]]
    result = vl.sequence_reverse(NESTED, level=0)
    assert result.to_list() == [[[3], [1, 2]], [], [[3], [4, 5], []]]


def test_slice_gives_what_paddle_gives():
    r = vl.Ragged([1, 2, 3, 4, 5], [3, 2])
    assert everywhere(lambda x: vl.sequence_slice(x, [0, 1], [2, 1]), r) == [[1, 2], [5]]
    r = vl.Ragged([1, 2, 3, 4, 5], [0, 4, 0, 1, 0])
    result = everywhere(
        lambda x: vl.sequence_slice(x, [0, 1, 0, 0, 0], np.array([[0], [2], [0], [1], [0]])), r
    )
    assert result == [[], [2, 3], [], [5], []]
    r = vl.Ragged(np.arange(100), [20] * 5)
    result = everywhere(lambda x: vl.sequence_slice(x, [1, 2, 3, 4, 5], [10, 8, 6, 4, 2]), r)
    assert [(row[0], len(row)) for row in result] == [(1, 10), (22, 8), (43, 6), (64, 4), (85, 2)]
    result = vl.sequence_slice(NESTED, [1, 0, 1], [1, 0, 2], level=0)
    assert result.to_list() == [[[3]], [], [[4, 5], [3]]]


def test_slice_refuses_what_leaves_a_sequence():
    r = vl.Ragged([1, 2, 3], [2, 1])
    with pytest.raises(IndexError, match="length: 2 from offset 0, but sequence 1 has length 1"):
        vl.sequence_slice(r, 0, 2)
    with pytest.raises(IndexError, match=f"length: {2**63 - 1} from offset 1, but sequence 0 has length 2"):
        vl.sequence_slice(r, 1, 2**63 - 1)
    with pytest.raises(ValueError, match="offset: sequence 1 has -1, expected 0 or more"):
        vl.sequence_slice(r, [0, -1], [1, 1])
    with pytest.raises(ValueError, match="length: sequence 0 has -2, expected 0 or more"):
        vl.sequence_slice(r, 0, [-2, 1])
    with pytest.raises(ValueError, match="length: expected 2 numbers, one a sequence, got shape"):
        vl.sequence_slice(r, 0, [1])
    with pytest.raises(TypeError, match="offset: expected integers, got float64"):
        vl.sequence_slice(r, [0.0, 0.0], 1)


def test_reshape_gives_what_paddle_gives():
    r = vl.Ragged(np.arange(12).reshape(6, 2), [2, 4])
    result = everywhere(lambda x: vl.sequence_reshape(x, 4), r)
    assert result == [[[0, 1, 2, 3]], [[4, 5, 6, 7], [8, 9, 10, 11]]]
    r = vl.Ragged(np.arange(12).reshape(3, 4), [1, 0, 2])
    assert [len(row) for row in everywhere(lambda x: vl.sequence_reshape(x, 2), r)] == [2, 0, 4]
    assert vl.sequence_reshape(r, 4).levels[0] is r.levels[0]
    assert vl.sequence_reshape(vl.Ragged(np.ones((3, 1)), [[2], [1, 2]]), 3, level=0).lengths.tolist() == [1]


def test_reshape_refuses_widths_that_do_not_divide():
    r = vl.Ragged(np.ones((4, 2)), [2, 1, 1])
    with pytest.raises(ValueError, match="new_dim: sequence 1 has 1 rows of 2, not rows of 4"):
        vl.sequence_reshape(r, 4)
    with pytest.raises(ValueError, match="new_dim"):
        vl.sequence_reshape(r, 0)


def test_enumerate_gives_what_paddle_gives():
    r = vl.Ragged([1, 2, 3, 4, 5], [3, 2])
    result = everywhere(lambda x: vl.sequence_enumerate(x, 2), r)
    assert result == [[[1, 2], [2, 3], [3, 0]], [[4, 5], [5, 0]]]
    r = vl.Ragged(np.array([[1], [2], [3]]), [0, 1, 2])
    result = everywhere(lambda x: vl.sequence_enumerate(x, 4, 9), r)
    assert result == [[], [[1, 9, 9, 9]], [[2, 3, 9, 9], [3, 9, 9, 9]]]
    r = vl.Ragged(np.ones(30, np.int32), [9, 4, 11, 6])
    result = vl.sequence_enumerate(r, 30, 7)
    assert result.values.dtype == np.int32
    assert (result.values[:, -1] == 7).all()
    assert vl.sequence_enumerate(vl.Ragged(np.ones((3, 2)), [3]), 2).values.shape == (3, 2, 2)
    assert vl.sequence_enumerate(vl.Ragged(np.array(["a", "b"]), [2]), 2).to_list() == [
        [["a", "b"], ["b", ""]]
    ]
    result = vl.sequence_enumerate(NESTED, 2, level=0)
    assert result.to_list() == [
        [[[1, 2], [3]], [[3], []]],
        [],
        [[[], [4, 5]], [[4, 5], [3]], [[3], []]],
    ]


def test_enumerate_refuses_windows_of_nothing():
    with pytest.raises(ValueError, match="win_size"):
        vl.sequence_enumerate(NESTED, 0)
    with pytest.raises(ValueError, match="pad_value: 300 does not fit uint8"):
        vl.sequence_enumerate(vl.Ragged(np.ones(2, np.uint8), [2]), 2, 300)
    with pytest.raises(ValueError, match="pad_value: at level 0 empty sequences pad, not 9"):
        vl.sequence_enumerate(NESTED, 2, 9, level=0)
    with pytest.raises(ValueError, match=r"pad_value: expected one number, got shape \(2,\)"):
        vl.sequence_enumerate(vl.Ragged(np.ones(2), [2]), 2, [8, 9])


def test_erase_gives_what_paddle_gives():
    r = vl.Ragged([2, 2, 6, 1, 3, 9, 6, 1, 0, 1], [3, 3, 4])
    assert everywhere(lambda x: vl.sequence_erase(x, [2, 3, 5]), r) == [[6], [1, 9], [6, 1, 0, 1]]
    assert everywhere(lambda x: vl.sequence_erase(x, []), r) == r.to_list()
    r = vl.Ragged([2, 2, 6, 1, 3, 9], [[1, 1], [2, 4]])
    result = vl.sequence_erase(r, [2])
    assert result.values.tolist() == [6, 1, 3, 9]
    assert result.levels[1].lengths.tolist() == [0, 4]
    assert result.levels[0] is r.levels[0]
    assert raised(vl.sequence_erase(deeper(r), [2])).equals(result)
    assert everywhere(lambda x: vl.sequence_erase(x, [2]), vl.Ragged([2, 2], [2, 0])) == [[], []]


def test_erase_takes_whole_sequences_above_the_innermost():
    result = vl.sequence_erase(NESTED, [[3], [], [2, 1]], level=0)
    assert result.to_list() == [[[1, 2]], [], [[4, 5]]]
    deep = vl.Ragged.from_list([[[[1, 2], [3]], [[1, 2]]], [[[3], [1, 2]], [[1, 2], [3]]]])
    result = vl.sequence_erase(deep, vl.Ragged.from_list([[[1, 2], [3]], [[7]]]), level=0)
    assert result.to_list() == [[[[1, 2]]], [[[3], [1, 2]]]]
    assert vl.sequence_erase(NESTED, [], level=0).to_list() == NESTED.to_list()


def test_erase_refuses_tokens_that_nest_otherwise():
    with pytest.raises(ValueError, match="tokens: expected 1 levels, as the sequences to erase have, got 2"):
        vl.sequence_erase(NESTED, [[[3]]], level=0)
    with pytest.raises(TypeError, match="tokens: expected numbers"):
        vl.sequence_erase(NESTED, ["a"])
    with pytest.raises(ValueError, match=r"x: expected rows of one number, got shape \(2,\)"):
        vl.sequence_erase(vl.Ragged(np.ones((2, 2)), [2]), [1])


@given(strategies.lengths(), st.sampled_from(["int8", "int64", "float64"]), st.integers(1, 4), st.data())
def test_moves_are_what_the_oracles_say(lengths, dtype, k, data):
    level = np.array(lengths, np.int64)
    r = vl.Ragged(np.random.default_rng(k).integers(0, 5, sum(lengths)).astype(dtype), level)
    plain = r.to_list()
    offset = [data.draw(st.integers(0, n)) for n in lengths]
    length = [data.draw(st.integers(0, n - o)) for n, o in zip(lengths, offset, strict=True)]
    at, size = np.array(offset, np.int64), np.array(length, np.int64)
    assert everywhere(lambda x: vl.sequence_slice(x, at, size), r) == oracle.sequence_slice(
        plain, offset, length
    )
    assert everywhere(lambda x: vl.sequence_erase(x, list(range(k))), r) == oracle.sequence_erase(
        plain, list(range(k))
    )
    assert everywhere(lambda x: vl.sequence_enumerate(x, k, 7), r) == oracle.sequence_enumerate(plain, k, 7)
    wide = vl.Ragged(np.arange(sum(lengths) * 2 * k).reshape(-1, 2 * k), level)
    assert everywhere(lambda x: vl.sequence_reshape(x, k), wide) == oracle.sequence_reshape(wide.to_list(), k)


CALLS = {
    "reverse": (lambda x, level: vl.sequence_reverse(x, level=level), None),
    "slice": (
        lambda x, level: vl.sequence_slice(x, [1, 0, 0], [1, 0, 2], level=level),
        lambda d, x, level: sequence.backprop_sequence_slice(d, x, [1, 0, 0], [1, 0, 2], level=level),
    ),
    "reshape": (
        lambda x, level: vl.sequence_reshape(x, 1, level=level),
        lambda d, x, level: sequence.backprop_sequence_reshape(d, x, 1, level=level),
    ),
    "enumerate": (
        lambda x, level: vl.sequence_enumerate(x, 2, level=level),
        lambda d, x, level: sequence.backprop_sequence_enumerate(d, x, 2, level=level),
    ),
    "erase": (
        lambda x, level: vl.sequence_erase(x, [3] if level else [[3]], level=level),
        lambda d, x, level: sequence.backprop_sequence_erase(
            d, x, [3] if level else [[3]], level=level
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("level", [-1, 0])
def test_moves_have_the_gradient_of_autograd(name, level):
    torch = pytest.importorskip("torch")
    call, back = CALLS[name]
    if name == "reshape":
        r = vl.Ragged(np.random.default_rng(0).normal(size=(6, 2)), NESTED.levels)
    elif level:
        r = vl.Ragged([1.0, 2, 3, 4, 5, 3], [2, 0, 4])
    else:
        r = NESTED.astype(float)
    dx, d = gradient(torch, lambda x: call(x, level), r)
    result = call(r, level)
    of_d = result._make(d, result.levels)
    if back is None:
        assert np.array_equal(sequence.backprop_sequence_reverse(of_d, level=level).values, dx)
    else:
        assert np.array_equal(back(of_d, r, level).values, dx)
        assert np.array_equal(back(torch.tensor(d), r, level).values.numpy(), dx)


@pytest.mark.parametrize("name", CALLS)
def test_moves_of_tensors_are_those_of_arrays(name):
    torch = pytest.importorskip("torch")
    call, _ = CALLS[name]
    for dtype in (torch.int16, torch.bfloat16, torch.float64):
        r = vl.Ragged(np.array([1, 2, 3, 4, 5, 3]), [2, 0, 4])
        result = call(vl.Ragged(torch.tensor([1, 2, 3, 4, 5, 3]).to(dtype), levels=r.levels), -1)
        assert result.values.dtype == dtype
        assert result.to_list() == call(r, -1).to_list()
    x = deeper(vl.Ragged(torch.tensor([1.5, 2, 3]), [2, 1]))
    result = vl.sequence_enumerate(x, 2, 9)
    assert result.values.tolist() == [[1.5, 2], [2, 9], [3, 9]]
