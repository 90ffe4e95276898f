"""Updates of rows, means of the largest numbers of tables, and patches of images."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from nested import deeper, raised
from oracles import sequence as oracle
from sequences import gradient
from varlen import sequence
from varlen.testing import strategies


def scattered(table, index, updates):
    """At one level, and two levels deeper."""
    result = vl.sequence_scatter(table, index, updates)
    below = deeper(vl.Ragged(table, levels=(vl.Level(np.ones(len(table), np.int64)),)))
    rows = below._make(table, below.levels[:2])
    again = vl.sequence_scatter(rows, deeper(index), deeper(updates))
    assert again.levels == rows.levels
    assert np.array_equal(again.values, result)
    return result.tolist()


def test_scatter_gives_what_paddle_gives():
    lengths = [3, 5, 4]
    ids = vl.Ragged([0, 1, 2, 5, 4, 3, 2, 1, 3, 2, 5, 4], lengths)
    updates = vl.Ragged([0.3, 0.3, 0.4, 0.1, 0.2, 0.3, 0.4, 0.0, 0.2, 0.3, 0.1, 0.4], lengths)
    wanted = [[1.3, 1.3, 1.4, 1, 1, 1], [1, 1, 1.4, 1.3, 1.2, 1.1], [1, 1, 1.3, 1.2, 1.4, 1.1]]
    assert np.allclose(scattered(np.ones((3, 6)), ids, updates), wanted)
    result = scattered(np.zeros((2, 2), int), vl.Ragged([1, 1, 1], [3, 0]), vl.Ragged([1, 2, 4], [3, 0]))
    assert result == [[0, 7], [0, 0]]


def test_scatter_takes_any_numbers():
    index = vl.Ragged([0, 1, 1], [2, 1])
    for dtype in ("bool", "float16", ">f8", ">i4"):
        result = vl.sequence_scatter(np.zeros((2, 2), dtype), index, np.ones(3, dtype))
        assert result.astype(int).tolist() == [[1, 1], [0, 1]]
    torch = pytest.importorskip("torch")
    table = torch.tensor([[256.0], [0.0]], dtype=torch.bfloat16)
    rows = torch.ones(3, dtype=torch.bfloat16)
    result = vl.sequence_scatter(table, vl.Ragged([0, 0, 0], [2, 1]), rows)
    assert (result.dtype, result.tolist()) == (torch.bfloat16, [[258], [1]])


def test_scatter_takes_inner_sequences_together():
    index = vl.Ragged([0, 1, 1, 0], [[2, 1], [1, 2, 1]])
    table = np.zeros((2, 2))
    assert vl.sequence_scatter(table, index, np.array([1.0, 2, 3, 4]), level=0).tolist() == [[1, 5], [4, 0]]
    assert not table.any()


@given(strategies.lengths(5, 4), st.sampled_from(["int8", "int64", "float64"]), st.integers(1, 3))
def test_scatter_is_what_the_oracle_says(lengths, dtype, width):
    rng = np.random.default_rng(width)
    level = np.array(lengths, np.int64)
    index = vl.Ragged(rng.integers(0, width, sum(lengths)).astype("u2"), level)
    updates = vl.Ragged(rng.integers(0, 3, sum(lengths)).astype(dtype), level)
    table = rng.integers(0, 9, (len(lengths), width)).astype(dtype)
    result = scattered(table, index, updates)
    assert result == oracle.sequence_scatter(table.tolist(), index.to_list(), updates.to_list())


def test_scatter_has_the_gradients_of_autograd():
    torch = pytest.importorskip("torch")
    index = vl.Ragged(torch.tensor([0, 2, 2]), [2, 0, 1])
    x = torch.randn(3, 3, 2, dtype=torch.float64, requires_grad=True)
    rows = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    result = vl.sequence_scatter(x, index, rows)
    d = torch.randn(result.shape, dtype=torch.float64)
    dx, d_rows = torch.autograd.grad(result, (x, rows), d)
    for back in (
        sequence.backprop_sequence_scatter(d, index),
        sequence.backprop_sequence_scatter(d.numpy(), index),
    ):
        assert np.array_equal(np.asarray(back[0]), dx.numpy())
        assert np.array_equal(np.asarray(back[1].values), d_rows.numpy())
    below = sequence.backprop_sequence_scatter(d, deeper(index))[1]
    assert raised(below).equals(index._make(d_rows, index.levels))
    assert torch.autograd.gradcheck(lambda x, rows: vl.sequence_scatter(x, index, rows), (x, rows))
    assert np.array_equal(
        result.detach().numpy(), vl.sequence_scatter(x.detach().numpy(), index, rows.detach().numpy())
    )

    places = vl.Ragged(np.array([0, 2, 2]), [2, 0, 1])

    def loss(rows):
        return (vl.sequence_scatter(x.detach(), places, rows) ** 2).sum()

    (want,) = torch.autograd.grad(loss(rows), rows)
    assert torch.allclose(torch.func.grad(loss)(rows.detach()), want)
    both = torch.func.vmap(torch.func.grad(loss))(torch.stack([rows.detach(), rows.detach() * 2]))
    assert torch.allclose(both[0], want)
    assert torch.autograd.gradgradcheck(loss, rows)


def test_scatter_refuses_places_that_are_not_there():
    index, table = vl.Ragged([0, 1, 2], [1, 2]), np.zeros((2, 2))
    with pytest.raises(IndexError, match="entry 1 of sequence 1 is 2, the rows of input have 2 places"):
        vl.sequence_scatter(table, index, np.ones(3))
    with pytest.raises(IndexError, match="index: entry 0 of sequence 0 is -1"):
        vl.sequence_scatter(table, vl.Ragged([-1], [1, 0]), np.ones(1))
    with pytest.raises(ValueError, match="index: has 2 sequences for 3 rows of input"):
        vl.sequence_scatter(np.zeros((3, 2)), index, np.ones(3))
    with pytest.raises(ValueError, match="updates: nests differently from index: sequence 0 of level 0"):
        vl.sequence_scatter(np.zeros((2, 3)), index, vl.Ragged(np.ones(3), [2, 1]))
    with pytest.raises(ValueError, match="updates: has 2 rows, index has 3"):
        vl.sequence_scatter(np.zeros((2, 3)), index, np.ones(2))
    with pytest.raises(TypeError, match="updates: expected float64 as input, got int64"):
        vl.sequence_scatter(np.zeros((2, 3)), index, np.ones(3, int))
    with pytest.raises(TypeError, match="index: expected integers, got float64"):
        vl.sequence_scatter(table, vl.Ragged([0.0], [1, 0]), np.ones(1))


def test_topk_avg_pooling_gives_what_paddle_gives():
    x = vl.Ragged([1.0, 5, 3, 2, 2, 9], [6])
    row, col = vl.Ragged(np.zeros(2), [2]), vl.Ragged(np.zeros(3), [3])
    result = vl.sequence_topk_avg_pooling(x, row, col, [1, 2, 4], 1)
    assert result.to_list() == [[[5, 4, 2.25], [9, 5.5, 3.25]]]
    below = vl.sequence_topk_avg_pooling(deeper(x), deeper(row), deeper(col), [1, 2, 4], 1)
    assert raised(below).equals(result)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=4), st.integers(1, 3))
def test_topk_avg_pooling_is_what_the_oracle_says(sizes, channels):
    rows, cols = ([size[k] for size in sizes] for k in (0, 1))
    lengths = [channels * r * c for r, c in sizes]
    rng = np.random.default_rng(len(sizes))
    x = vl.Ragged(rng.integers(-9, 9, sum(lengths)).astype(float), np.array(lengths, np.int64))
    row, col = (vl.Ragged(np.zeros(sum(n)), np.array(n, np.int64)) for n in (rows, cols))
    result = vl.sequence_topk_avg_pooling(x, row, col, [3, 1], channels)
    wanted = oracle.sequence_topk_avg_pooling(x.to_list(), rows, cols, [3, 1], channels)
    assert np.allclose(result.values.reshape(-1), [n for item in wanted for line in item for n in line])
    assert result.levels == row.levels
    below = vl.sequence_topk_avg_pooling(deeper(x), deeper(row), deeper(col), [3, 1], channels)
    assert np.array_equal(below.values, result.values)
    assert below.levels == deeper(row).levels


def test_topk_avg_pooling_has_the_gradient_of_autograd():
    torch = pytest.importorskip("torch")
    row, col = vl.Ragged(np.zeros(3), [2, 0, 1]), vl.Ragged(np.zeros(5), [3, 1, 1])
    r = vl.Ragged(np.random.default_rng(1).normal(size=14), [12, 0, 2])
    dx, d = gradient(torch, lambda x: vl.sequence_topk_avg_pooling(x, row, col, [4, 1, 2], 2), r)
    for kind in (np.asarray, torch.tensor):
        x = vl.Ragged(kind(r.values), levels=r.levels)
        back = sequence.backprop_sequence_topk_avg_pooling(kind(d), x, row, col, [4, 1, 2], 2)
        assert np.allclose(np.asarray(back.values), dx)
        inputs = (deeper(each) for each in (x, row, col))
        below = sequence.backprop_sequence_topk_avg_pooling(kind(d), *inputs, [4, 1, 2], 2)
        assert raised(below).equals(back)


def test_topk_avg_pooling_refuses_tables_of_another_size():
    row, col = vl.Ragged(np.zeros(2), [2]), vl.Ragged(np.zeros(3), [3])
    with pytest.raises(ValueError, match="item 0 has 5 numbers, expected 1 tables of 2 rows and 3 columns"):
        vl.sequence_topk_avg_pooling(vl.Ragged(np.ones(5), [5]), row, col, [1], 1)
    with pytest.raises(ValueError, match=r"topks\[1\]"):
        vl.sequence_topk_avg_pooling(vl.Ragged(np.ones(6), [6]), row, col, [1, 0], 1)
    with pytest.raises(ValueError, match="row: has 1 sequences, input has 2"):
        vl.sequence_topk_avg_pooling(vl.Ragged(np.ones(6), [6, 0]), row, col, [1], 1)


@given(
    st.tuples(st.integers(1, 4), st.integers(1, 4)), st.integers(1, 3), st.integers(1, 2), st.integers(0, 2)
)
def test_im2sequence_is_what_the_oracle_says(size, stride, channels, pad):
    height, width = size[0] + 1, size[1] + 2
    images = np.arange(2 * channels * height * width).reshape(2, channels, height, width)
    result = vl.im2sequence(images, size, stride, pad)
    padded = np.pad(images, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    assert result.to_list() == [oracle.im2sequence(each.tolist(), size, (stride, stride)) for each in padded]


def test_im2sequence_takes_sizes_of_each_image_paddings_of_each_side_and_levels():
    images = np.arange(32.0).reshape(2, 1, 4, 4)
    result = vl.im2sequence(images, 2, 1, 0, [[4, 4], [2, 3]], 1)
    assert result.lengths.tolist() == [9, 2]
    assert result[1].tolist() == [[16, 17, 20, 21], [17, 18, 21, 22]]
    assert vl.im2sequence(images, 2, 1, 0, [[8, 8], [3, 5]], 2).lengths.tolist() == [9, 2]
    result = vl.im2sequence(images, (1, 2), (4, 4), (1, 2, 0, 0))
    assert result[0].tolist() == [[0, 0], [0, 0], [0, 0], [14, 15]]
    result = vl.im2sequence(vl.Ragged(images, [0, 2]), 4)
    assert [level.lengths.tolist() for level in result.levels] == [[0, 2], [1, 1]]
    assert vl.im2sequence(images[:0], 2).values.shape == (0, 4)


def test_im2sequence_has_the_gradient_of_autograd():
    torch = pytest.importorskip("torch")
    x = torch.randn(2, 2, 3, 4, dtype=torch.float64, requires_grad=True)
    for sizes in (None, [[3, 4], [2, 2]]):
        options = (2, (1, 2), (1, 0), sizes)
        result = vl.im2sequence(x, *options)
        plain = vl.im2sequence(x.detach().numpy(), *options)
        assert np.array_equal(result.values.detach().numpy(), plain.values)
        d = torch.randn(result.values.shape, dtype=torch.float64)
        (dx,) = torch.autograd.grad(result.values, x, d)
        for each in (d, d.numpy()):
            back = sequence.backprop_im2sequence(each, x, *options)
            assert np.allclose(np.asarray(back), dx.numpy())


def test_im2sequence_refuses_patches_that_no_image_has():
    images = np.ones((1, 1, 2, 2))
    with pytest.raises(ValueError, match=r"\(3, 3\) is larger than an image with padding, \(2, 2\)"):
        vl.im2sequence(images, 3)
    with pytest.raises(ValueError, match="stride"):
        vl.im2sequence(images, 1, 0)
    with pytest.raises(ValueError, match=r"input: expected images \(n, C, H, W\), got shape \(2, 2\)"):
        vl.im2sequence(images[0, 0])
    with pytest.raises(ValueError, match=r"input_image_size: image 0 is \(3, 2\)"):
        vl.im2sequence(images, 1, 1, 0, [[3, 2]])
    with pytest.raises(ValueError, match="padding: expected one number or two, got 3"):
        vl.im2sequence(images, 1, 1, [1, 1, 1])
