"""Sequences to rectangles and back, and masks of lengths."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import sequence as oracle
from sequences import everywhere, gradient
from varlen.ops.reduce import wrap_units
from varlen.sequence import backprop_sequence_pad, backprop_sequence_unpad
from varlen.testing import strategies


def test_pad_gives_what_paddle_gives():
    r = vl.Ragged([1, 2, 3, 4, 5], [2, 3])
    _, length = vl.sequence_pad(r, 0, maxlen=4)
    assert everywhere(lambda x: vl.sequence_pad(x, 0, maxlen=4)[0], r) == [[1, 2, 0, 0], [3, 4, 5, 0]]
    assert (length.tolist(), length.dtype) == ([2, 3], np.int64)
    pairs = vl.Ragged(np.arange(10).reshape(5, 2), [2, 3])
    padded = everywhere(lambda x: vl.sequence_pad(x, np.array([8, 9]))[0], pairs)
    assert padded[0] == [[0, 1], [2, 3], [8, 9]]
    r = vl.Ragged([1, 2, 3], [0, 2, 0, 1, 0])
    assert everywhere(lambda x: vl.sequence_pad(x, 7, 3)[0], r) == [
        [7, 7, 7], [1, 2, 7], [7, 7, 7], [3, 7, 7], [7, 7, 7]
    ]  # fmt: skip
    assert everywhere(lambda x: vl.sequence_pad(x, 7, 3)[1], r) == [0, 2, 0, 1, 0]
    cube = vl.Ragged(np.ones((12, 2, 5)), [2, 3, 4, 3])
    assert vl.sequence_pad(cube, np.zeros((2, 5)), 7)[0].shape == (4, 7, 2, 5)
    with pytest.raises(ValueError, match="maxlen: 3, but sequence 2 of level 0 has 4 rows"):
        vl.sequence_pad(cube, 0, 3)
    assert vl.sequence_pad(cube.astype("i2"), 1)[0].dtype == np.int16


def test_pad_rounds_no_integers():
    r = vl.Ragged([2**53 + 1, 2**63 - 1], [1, 1])
    assert vl.sequence_pad(r, -(2**63) + 1, 2)[0][:, 1].tolist() == [-(2**63) + 1] * 2
    assert vl.sequence_pad(r, 0)[0].ravel().tolist() == r.values.tolist()
    none = vl.sequence_pad(vl.Ragged(np.ones((0, 2)), [0, 0]), 0)
    assert (none[0].shape, none[1].tolist()) == ((2, 0, 2), [0, 0])


def test_pad_refuses_to_cut_and_to_round():
    r = vl.Ragged([1, 2, 3, 4, 5], [2, 3])
    with pytest.raises(ValueError, match="maxlen: 2, but sequence 1 of level 0 has 3 rows"):
        vl.sequence_pad(r, 0, 2)
    with pytest.raises(ValueError, match=r"pad_value: 0\.5 does not fit int64"):
        vl.sequence_pad(r, 0.5)
    with pytest.raises(TypeError, match="x: expected a Ragged, got ndarray"):
        vl.sequence_pad(r.values, 0)
    torch = pytest.importorskip("torch")
    for wrong in (2**70, "a", [1, 2]):
        with pytest.raises(ValueError, match=r"^pad_value: "):
            vl.sequence_pad(vl.Ragged(torch.ones(2), [2]), wrong)


def test_unpad_gives_what_paddle_gives():
    result = vl.sequence_unpad(np.arange(1, 16).reshape(3, 5, 1), [2, 3, 4])
    assert result.values[:, 0].tolist() == [1, 2, 6, 7, 8, 11, 12, 13, 14]
    assert result.lengths.tolist() == [2, 3, 4]
    block = np.arange(1, 9).reshape(4, 2, 1)
    result = vl.sequence_unpad(block, np.array([[2], [0], [0], [1]]))
    assert result.values.ravel().tolist() == [1, 2, 7]
    below = vl.Ragged(block, [2, 2])
    assert vl.sequence_unpad(below, vl.Ragged([2, 0, 0, 1], [2, 2])).to_list() == [
        [[[1], [2]], []],
        [[], [[7]]],
    ]
    assert vl.sequence_unpad(block, [0] * 4).values.shape == (0, 1)


def test_unpad_refuses_lengths_that_do_not_fit():
    block = np.ones((2, 3))
    with pytest.raises(ValueError, match="length: sequence 1 has 4 rows, but x 3"):
        vl.sequence_unpad(block, [1, 4])
    with pytest.raises(ValueError, match="length: sequence 0 has -1, expected 0 or more"):
        vl.sequence_unpad(block, [-1, 4])
    with pytest.raises(ValueError, match="length: expected 2 numbers, one a sequence"):
        vl.sequence_unpad(block, [1])
    with pytest.raises(TypeError, match="length: expected integers, got float64"):
        vl.sequence_unpad(block, [1.0, 2.0])
    with pytest.raises(ValueError, match="x: expected 2 dimensions or more, got 1"):
        vl.sequence_unpad(np.ones(2), [1, 1])
    with pytest.raises(ValueError, match="length: level 0 adds up to 3, but level 1 has 4 sequences"):
        vl.sequence_unpad(np.ones((2, 3, 3)), (np.array([1, 2]), np.array([1, 1, 1, 1])))


@given(strategies.lengths(), strategies.dtypes(), st.integers(0, 3))
def test_pad_is_what_the_oracle_says_and_unpad_goes_back(lengths, dtype, more):
    r = vl.Ragged(np.arange(1, sum(lengths) + 1).astype(dtype), np.array(lengths, np.int64))
    width = max(lengths, default=0) + more
    fill = np.array(0, dtype)[()] if dtype.kind in "MS" else 0
    fill = np.zeros((), dtype)[()] if dtype.kind == "S" else fill
    out, length = vl.sequence_pad(r, 0, width)
    assert out.dtype == dtype
    wanted = oracle.sequence_pad([list(row) for row in r], fill, width)
    assert np.array_equal(out, np.array(wanted, dtype).reshape(len(lengths), width))
    back = vl.sequence_unpad(out, length)
    assert back.equals(r)
    outs, lengths_of = vl.sequence_pad(deeper(r), 0, width)
    assert np.array_equal(raised(outs), out)
    assert vl.sequence_unpad(outs, lengths_of).equals(deeper(r))


def test_pad_takes_levels_together_and_unpad_goes_back():
    r = vl.Ragged.from_list([[[1, 2], [3]], [], [[], [4, 5], [3]]])
    out, length = vl.sequence_pad(r, 9, [3, 2], level=0)
    assert out.tolist() == [[[1, 2], [3, 9], [9, 9]], [[9, 9]] * 3, [[9, 9], [4, 5], [3, 9]]]
    assert vl.sequence_unpad(out, length).equals(r)
    with pytest.raises(ValueError, match="maxlen: 1, but sequence 0 of level 1 has 2 rows"):
        vl.sequence_pad(r, 9, [3, 1], level=0)


@pytest.mark.parametrize("level", [-1, 0])
def test_pad_and_unpad_are_the_gradients_of_each_other(level):
    torch = pytest.importorskip("torch")
    r = vl.Ragged(np.random.default_rng(1).normal(size=(5, 2)), [[2, 1], [2, 0, 3]])
    dx, d = gradient(torch, lambda x: vl.sequence_pad(x, 1.5, level=level)[0], r)
    out, length = vl.sequence_pad(r, 1.5, level=level)
    dY = wrap_units(r, d, r.levels[: len(r.levels) + level] if level < 0 else ())
    assert np.array_equal(backprop_sequence_pad(dY, r, level=level).values, dx)
    numbers = length.values if isinstance(length, vl.Ragged) else length
    block = out.values if isinstance(out, vl.Ragged) else out
    x = torch.tensor(block, requires_grad=True)
    rows = vl.sequence_unpad(x, numbers).values
    d = torch.randn(rows.shape, dtype=rows.dtype)
    (dx,) = torch.autograd.grad(rows, x, d)
    assert np.array_equal(backprop_sequence_unpad(d.numpy(), block, numbers), dx.numpy())
    assert torch.equal(backprop_sequence_unpad(d, x, numbers), dx)


def test_pad_of_tensors_keeps_their_dtype():
    torch = pytest.importorskip("torch")
    r = vl.Ragged(torch.tensor([1, 2, 3], dtype=torch.bfloat16), [2, 1])
    out, length = vl.sequence_pad(r, 0.5, 3)
    assert out.tolist() == [[1, 2, 0.5], [3, 0.5, 0.5]]
    assert (out.dtype, length.dtype) == (torch.bfloat16, torch.int64)
    assert vl.sequence_unpad(out, length).to_list() == [[1, 2], [3]]


def test_mask_gives_what_paddle_gives():
    assert vl.sequence_mask([3, 1, 1, 0], 4).tolist() == [[1, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0] * 4]
    assert vl.sequence_mask([3, 1], 2, bool).tolist() == [[True, True], [True, False]]
    assert vl.sequence_mask([]).shape == (0, 0)
    result = vl.sequence_mask(np.array([[0, 3, 4], [5, 7, 9]], np.uint8), 10, "float32")
    assert (result.shape, result.sum(), result.dtype) == ((2, 3, 10), 28, np.float32)
    for dtype in ("bool", "u1", "i4", "f8"):
        again = vl.sequence_mask([[0, 3, 4], [5, 7, 9]], 10, dtype)
        assert again.dtype == dtype
        assert np.array_equal(again, result)
    assert vl.sequence_mask([2.0, 1.5]).tolist() == [[1, 1], [1, 1]]
    assert vl.sequence_mask([2, 1], 0).shape == (2, 0)


def test_mask_takes_sequences_of_any_level():
    r = vl.Ragged(np.ones(3), [2, 1])
    assert everywhere(vl.sequence_mask, r) == [[1, 1], [1, 0]]
    assert vl.sequence_mask(vl.Ragged(np.ones(3), [[2, 1], [2, 0, 1]]), level=0).tolist() == [[1, 1], [1, 0]]


def test_mask_of_tensors_is_a_tensor():
    torch = pytest.importorskip("torch")
    result = vl.sequence_mask(torch.tensor([2, 1]), dtype=torch.bool)
    assert result.tolist() == [[True, True], [True, False]]
    assert vl.sequence_mask(torch.tensor([2, 1])).dtype == torch.int64
    assert vl.sequence_mask([2, 1], dtype=torch.float16).dtype == np.float16


def test_mask_refuses_negative_lengths_and_widths():
    with pytest.raises(ValueError, match="maxlen"):
        vl.sequence_mask([1], -1)
    with pytest.raises(ValueError, match=r"x: the length at \(1, 0\) is -2"):
        vl.sequence_mask([[1], [-2]])
    with pytest.raises(ValueError, match=r"x: the length at \(0,\) is nan"):
        vl.sequence_mask([np.nan])
    with pytest.raises(TypeError, match="x: expected lengths"):
        vl.sequence_mask(["a"])
