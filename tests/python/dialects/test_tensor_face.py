"""Rectangles and whole axes as TensorFlow's RaggedTensor has them: padded, cut, merged, put in, replaced."""

import itertools

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.testing.strategies import raggeds

FACE = vl.tf.RaggedTensor


def tf(r):
    return FACE(r.values, levels=r.levels)


def same(a, b):
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def test_rectangles_lose_padding_at_their_ends_alone():
    block = np.array([[5, 7, 0], [0, 3, 0], [0, 0, 0], [6, 0, 2]])
    assert FACE.from_tensor(block, padding=0).to_list() == [[5, 7], [0, 3], [], [6, 0, 2]]
    assert FACE.from_tensor(block, lengths=[1, 0, 2, 3]).to_list() == [[5], [], [0, 0], [6, 0, 2]]
    whole = FACE.from_tensor(block)
    assert whole.to_list() == block.tolist()
    assert np.shares_memory(whole.values, block)
    wide = np.stack([block, block], axis=2)
    assert FACE.from_tensor(wide, padding=[0, 0]).lengths.tolist() == [2, 2, 0, 3]
    wide[0, 2, 1] = 1
    assert FACE.from_tensor(wide, padding=[0, 0]).lengths.tolist() == [3, 2, 0, 3]
    holes = np.array([[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan]])
    assert FACE.from_tensor(holes, padding=np.nan).lengths.tolist() == [1, 2]
    assert FACE.from_tensor(np.zeros((2, 0)), padding=0).to_list() == [[], []]
    assert FACE.from_tensor(np.zeros((2, 3, 0)), padding=0).lengths.tolist() == [0, 0]


def test_rectangles_of_several_levels():
    block = np.array([[[5, 0], [7, 0], [0, 0]], [[6, 0], [0, 0], [0, 0]]])
    assert FACE.from_tensor(block, lengths=([2, 1], [1, 1, 1])).to_list() == [[[5], [7]], [[6]]]
    assert FACE.from_tensor(block, ragged_rank=2).to_list() == block.tolist()
    assert FACE.from_tensor(block, ragged_rank=2, padding=0).to_list() == [[[5], [7], []], [[6], [], []]]
    counts = np.array([[1, 0, 2], [0, 1, 0]])
    result = FACE.from_tensor(block, lengths=counts, ragged_rank=2)
    assert result.to_list() == [[[5], [], [0, 0]], [[], [0], []]]
    assert result.row_lengths(2).to_list() == counts.tolist()


def cut(nested, shape, fill):
    """A rectangle of nested lists; None is as large as need be."""
    size = len(nested) if shape[0] is None else shape[0]
    if len(shape) == 1:
        return [nested[i] if i < len(nested) else fill for i in range(size)]
    return [cut(nested[i] if i < len(nested) else [], shape[1:], fill) for i in range(size)]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_rectangles_of_any_shape(data):
    r = tf(data.draw(raggeds(dtype="int64", trailing=())))
    sizes = [data.draw(st.none() | st.integers(0, 4)) for _ in range(r.ndim)]
    bounds = r.bounding_shape().tolist()
    want = [b if s is None else s for b, s in zip(bounds, sizes, strict=True)]
    found = r.to_tensor(-1, shape=sizes)
    assert found.shape == tuple(want)
    assert found.tolist() == cut(r.to_list(), want, -1)
    assert r.to_tensor().tolist() == r.to_dense().tolist()


def test_rectangles_are_filled_with_rows():
    r = FACE(np.arange(6).reshape(3, 2), [1, 2])
    assert r.to_tensor([7, 8], shape=[3, 2, 2]).tolist()[::2] == [[[0, 1], [7, 8]], [[7, 8], [7, 8]]]
    assert r.to_tensor([7], shape=[1, 2, None]).tolist() == [[[0, 1], [7, 7]]]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_axes_merged(data):
    r = tf(data.draw(raggeds(dtype="int64", trailing=data.draw(st.sampled_from([(), (2,), (2, 3), (0,)])))))
    outer = data.draw(st.integers(0, r.ndim - 1))
    inner = data.draw(st.integers(outer, r.ndim - 1))
    found = r.merge_dims(outer, inner - r.ndim)
    nested = r.to_list()

    def merged(nested, at, times):
        if at:
            return [merged(each, at - 1, times) for each in nested]
        for _ in range(times):
            nested = [x for each in nested for x in each]
        return nested

    assert (found.to_list() if hasattr(found, "levels") else found.tolist()) == merged(
        nested, outer, inner - outer
    )
    assert found.ndim == r.ndim - (inner - outer)


@given(st.data())
@settings(max_examples=30, deadline=None)
def test_axes_put_in_and_merged_away(data):
    r = tf(data.draw(raggeds(dtype="int64", trailing=data.draw(st.sampled_from([(), (2,)])))))
    axis = data.draw(st.integers(0, r.ndim))
    found = r.expand_dims(axis - r.ndim - 1)
    assert found.ndim == r.ndim + 1

    def wrapped(nested, at):
        return [nested] if at == 0 else [wrapped(each, at - 1) for each in nested]

    assert found.to_list() == wrapped(r.to_list(), axis)
    assert found.equals(r.expand_dims(axis))
    if 0 < axis < r.ndim:
        assert found.merge_dims(axis, axis + 1).equals(r)


def test_values_replaced():
    r = FACE.from_nested_row_lengths(np.arange(4.0), [[2, 0, 1], [1, 0, 3]])
    flat = r.with_flat_values(np.arange(8).reshape(4, 2))
    assert same(flat.levels, r.levels)
    assert flat.shape == (3, None, None, 2)
    assert r.with_values([7, 8, 9]).to_list() == [[7, 8], [], [9]]
    below = FACE([1, 2], [0, 2, 0])
    assert r.with_values(below).to_list() == [[[], [1, 2]], [], [[]]]
    assert r.with_values(below).levels[0] is r.levels[0]
    assert r.with_flat_values(FACE([1], [0, 1, 0, 0])).ragged_rank == 3


def test_tensors_keep_their_gradients():
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0, dtype=torch.float64).reshape(6, 2).requires_grad_()
    there = torch.tensor([1, 1, 1, 1, 1, 0])[:, None]
    counts = [[2, 0, 1], [1, 3, 2]]

    def nested(x):
        return FACE.from_nested_row_lengths(x, counts)

    for call in (
        lambda x: nested(x).merge_dims(1, 2).values,
        lambda x: nested(x).merge_dims(0, 2),
        lambda x: nested(x).merge_dims(2, 3).values,
        lambda x: nested(x).expand_dims(3).values,
        lambda x: nested(x).to_tensor(-1.0, shape=[4, 1, 2, None]),
        lambda x: nested(x).to_tensor(shape=[2, 3, 4, 2]),
        lambda x: FACE.from_tensor((x * there).reshape(2, 3, 2), padding=[0, 0]).values,
        lambda x: FACE.from_tensor(x.reshape(2, 3, 2), lengths=[1, 2]).values,
        lambda x: FACE.from_tensor(x.reshape(2, 3, 2), ragged_rank=2).values,
        lambda x: vl.lod.LoDTensor(x, levels=nested(x).levels).slice_in_level(1, 1, 3).values,
    ):
        assert torch.autograd.gradcheck(call, x)
        with_gradient, plain = call(x), call(x.detach())
        assert torch.equal(with_gradient.detach(), plain)
    half = FACE.from_tensor(torch.tensor([[1, 0], [0, 0]], dtype=torch.bfloat16), padding=0)
    assert half.lengths.tolist() == [1, 0]
    assert half.to_tensor(torch.tensor(3), shape=[2, 2]).tolist() == [[1, 3], [3, 3]]
    inner = FACE.from_tensor(torch.zeros(1, 2, 2), padding=torch.zeros(2))
    assert inner.lengths.tolist() == [0]
    assert nested(x).row_lengths(2).to_list() == [[1, 3], [], [2]]


def test_axes_count_from_the_end():
    r = FACE.from_nested_row_lengths(np.arange(4), [[2, 0, 1], [1, 0, 3]])
    for outer, inner in itertools.combinations_with_replacement(range(3), 2):
        a, b = r.merge_dims(outer, inner), r.merge_dims(outer - 3, inner - 3)
        assert a.equals(b) if hasattr(a, "levels") else (a == b).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("kind", ["array", "tensor"])
def test_padding_is_a_number_of_the_dtype(dtype, kind):
    r = FACE(np.array([1.5, 2], dtype), [1, 1])
    block = r.to_tensor(0.1, shape=[None, 2])
    if kind == "tensor":
        block = pytest.importorskip("torch").from_numpy(block)
    assert FACE.from_tensor(block, padding=0.1).to_list() == r.to_list()


@pytest.mark.parametrize(("dtype", "padding"), [("u1", 256), ("i1", 255), ("i4", 2**32 + 3), ("i8", 0.5)])
def test_padding_that_the_dtype_does_not_hold_is_refused(dtype, padding):
    block = np.array([[1, 3], [0, 0]], dtype)
    torch = pytest.importorskip("torch")
    for each in (block, torch.from_numpy(block)):
        with pytest.raises(ValueError, match=f"padding: .*{padding}.* not fit"):
            FACE.from_tensor(each, padding=padding)


def test_lists_of_lengths_are_levels():
    block = np.arange(12).reshape(2, 2, 3)
    for lengths in ([[1, 1], [2, 3]], ([1, 1], [2, 3]), [np.array([1, 1]), np.array([2, 3])]):
        assert FACE.from_tensor(block, lengths).to_list() == [[[0, 1]], [[6, 7, 8]]]
    with pytest.raises(ValueError, match="lengths: the lengths of level 0 add up to 3, but level 1 has 2"):
        FACE.from_tensor(block, ([1, 2], [2, 3]))


def test_rectangles_are_as_wide_as_what_is_left_out():
    assert FACE([1, 2, 3, 4], [1, 3]).to_tensor(shape=[1, None]).tolist() == [[1, 0, 0]]


def test_text_is_padding_too():
    assert FACE.from_tensor(np.array([["a", ""], ["", "b"]]), padding="").to_list() == [["a"], ["", "b"]]
    assert FACE.from_tensor(np.array([[b"a", b"-"]]), padding=b"-").to_list() == [[b"a"]]


def test_numbers_of_arrays_are_lengths():
    block = np.arange(4).reshape(2, 2)
    torch = pytest.importorskip("torch")
    for lengths in ([np.array(1), np.array(2)], [np.int64(1), 2], [torch.tensor(1), torch.tensor(2)]):
        assert FACE.from_tensor(block, lengths).to_list() == [[0], [2, 3]]
