"""Rows and rectangles as TensorFlow's RaggedTensor has them: doors, partitions, and whole axes."""

import itertools

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen.testing import oracle
from varlen.testing.strategies import levels, raggeds

FACE = vl.Ragged
DIGITS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def same(a, b):
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def test_doors_of_one_example():
    want = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
    r = FACE.from_row_splits(DIGITS, [0, 4, 4, 7, 8, 8])
    assert r.to_list() == want
    for made in (
        FACE.from_row_lengths(DIGITS, [4, 0, 3, 1, 0]),
        FACE.from_row_starts(DIGITS, [0, 4, 4, 7, 8]),
        FACE.from_row_limits(DIGITS, [4, 4, 7, 8, 8]),
        FACE.from_value_rowids(DIGITS, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5),
    ):
        assert made.equals(r)
        assert made.values is DIGITS
    assert r.row_splits is r.offsets
    assert r.row_lengths().tolist() == [4, 0, 3, 1, 0]
    assert r.row_starts().tolist() == [0, 4, 4, 7, 8]
    assert r.row_limits().tolist() == [4, 4, 7, 8, 8]
    assert r.value_rowids() is r.row_ids
    assert (r.nrows(), r.ragged_rank, r.uniform_row_length) == (5, 1, None)
    assert r.flat_values is DIGITS


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_doors_take_what_views_give(data):
    depth = data.draw(st.integers(1, 4))
    lengths = data.draw(levels(depth, max_rows=4, max_length=3))
    rows = np.arange(sum(lengths[-1]))
    r = FACE.from_nested_row_lengths(rows, lengths)
    assert r.to_list() == oracle.nest(rows.tolist(), lengths)
    assert r.ragged_rank == depth
    inner = FACE(rows, levels=r.levels[1:]) if depth > 1 else rows
    for made in (
        FACE.from_row_splits(inner, r.row_splits),
        FACE.from_row_lengths(inner, r.row_lengths()),
        FACE.from_row_starts(inner, r.row_starts()),
        FACE.from_row_limits(inner, r.row_limits()),
        FACE.from_value_rowids(inner, r.value_rowids(), r.nrows()),
        FACE.from_row_lengths(inner, r.levels[0]),
    ):
        assert made.equals(r)
        assert same(made.levels[1:], r.levels[1:])
    for views in (r.nested_row_splits, r.nested_row_lengths(), r.nested_value_rowids()):
        assert len(views) == depth
        assert not any(view.flags.writeable for view in views)
    axis = data.draw(st.integers(1, depth))
    found = r.row_lengths(axis)
    found = found.tolist() if axis == 1 else found.to_list()
    assert found == oracle.nest(lengths[axis - 1], lengths[: axis - 1])
    uniform = set(lengths[0])
    assert r.uniform_row_length == (uniform.pop() if len(uniform) == 1 else None)


def test_uniform_rows():
    rows = np.arange(6)
    assert FACE.from_uniform_row_length(rows, 3).to_list() == [[0, 1, 2], [3, 4, 5]]
    assert FACE.from_uniform_row_length(rows[:0], 0, nrows=3).to_list() == [[], [], []]
    assert len(FACE.from_uniform_row_length(rows[:0], 0)) == 0
    nested = FACE.from_uniform_row_length(FACE(rows, [3, 1, 0, 2]), 2)
    assert nested.to_list() == [[[0, 1, 2], [3]], [[], [4, 5]]]
    assert (nested.uniform_row_length, nested.ragged_rank) == (2, 2)


def test_sizes_of_axes():
    r = FACE.from_nested_row_lengths(np.zeros((5, 2, 3)), [[2, 0, 1], [1, 0, 4]])
    assert r.bounding_shape().tolist() == [3, 2, 4, 2, 3]
    assert r.bounding_shape(2) == 4
    assert r.bounding_shape([0, -1]).tolist() == [3, 3]
    assert r.row_lengths(0) == 3
    assert r.row_lengths(2).to_list() == [[1, 0], [], [4]]
    assert r.row_lengths(3).to_list() == [[[2], []], [], [[2] * 4]]
    assert r.row_lengths(4).to_list()[0] == [[[3, 3]], []]


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
    made = FACE.from_tensor(block, lengths=counts, ragged_rank=2)
    assert made.to_list() == [[[5], [], [0, 0]], [[], [0], []]]
    assert made.row_lengths(2).to_list() == counts.tolist()


def cut(nested, shape, fill):
    """A rectangle of nested lists; None is as large as need be."""
    size = len(nested) if shape[0] is None else shape[0]
    if len(shape) == 1:
        return [nested[i] if i < len(nested) else fill for i in range(size)]
    return [cut(nested[i] if i < len(nested) else [], shape[1:], fill) for i in range(size)]


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_rectangles_of_any_shape(data):
    r = data.draw(raggeds(dtype="int64", trailing=()))
    sizes = [data.draw(st.none() | st.integers(0, 4)) for _ in range(r.ndim)]
    bounds = r.bounding_shape().tolist()
    want = [b if s is None else s for b, s in zip(bounds, sizes, strict=True)]
    if sizes[0] is not None:  # the sequences that are left say how large the rest has to be
        below = r[: sizes[0]].bounding_shape().tolist()
        want[1:] = [b if s is None else s for b, s in zip(below[1:], sizes[1:], strict=True)]
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
    r = data.draw(raggeds(dtype="int64", trailing=data.draw(st.sampled_from([(), (2,), (2, 3), (0,)]))))
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
    r = data.draw(raggeds(dtype="int64", trailing=data.draw(st.sampled_from([(), (2,)]))))
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
        lambda x: nested(x).slice_in_level(1, 1, 3).values,
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


R = FACE.from_nested_row_lengths(np.arange(4), [[2, 0, 1], [1, 0, 3]])
BLOCK = np.zeros((2, 3, 2))
ROWS = np.arange(4)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: FACE.from_row_splits(ROWS, [0, 3]), ValueError, "row_splits: the lengths add up to 3, but"),
        (
            lambda: FACE.from_row_splits(ROWS, [1, 4]),
            ValueError,
            "row_splits: offsets must start at 0, got 1",
        ),
        (lambda: FACE.from_row_splits(R, [0, 4]), ValueError, "row_splits: the lengths add up to 4, but"),
        (
            lambda: FACE.from_row_lengths(ROWS, [5, -1]),
            ValueError,
            "row_lengths: row 1 has a negative length",
        ),
        (lambda: FACE.from_row_lengths(ROWS, [4.0]), TypeError, "row_lengths: expected integers, got dtype"),
        (lambda: FACE.from_row_lengths(5, [4]), ValueError, "values: expected at least one dimension"),
        (
            lambda: FACE.from_row_starts(ROWS, [1, 2]),
            ValueError,
            "row_starts: the first sequence starts at 1, not",
        ),
        (lambda: FACE.from_row_starts(ROWS, [0, 3, 2]), ValueError, "row_starts: row 2 starts at 2, before"),
        (
            lambda: FACE.from_row_starts(ROWS, [0, 5]),
            ValueError,
            "the last sequence starts at 5, but there are 4",
        ),
        (
            lambda: FACE.from_row_starts(ROWS, []),
            ValueError,
            "row_starts: the lengths add up to 0, but there are 4",
        ),
        (lambda: FACE.from_row_limits(ROWS, [3, 2]), ValueError, "row_limits: row 1 ends at 2, before"),
        (lambda: FACE.from_row_limits(ROWS, [3, 5]), ValueError, "row_limits: the lengths add up to 5, but"),
        (
            lambda: FACE.from_value_rowids(ROWS, [0, 0, 2, 1], 3),
            ValueError,
            "value_rowids: row ids must not decrease",
        ),
        (
            lambda: FACE.from_value_rowids(ROWS, [0, 0, 1, 5], 3),
            ValueError,
            "position 3 holds row id 5, which is not",
        ),
        (
            lambda: FACE.from_value_rowids(ROWS, [0, 1]),
            ValueError,
            "value_rowids: the lengths add up to 2, but",
        ),
        (lambda: FACE.from_value_rowids(ROWS, [0] * 4, -1), ValueError, "nrows: expected at least 0, got -1"),
        (
            lambda: FACE.from_uniform_row_length(ROWS, 3),
            ValueError,
            "1 sequences of 3 make 3, but there are 4",
        ),
        (
            lambda: FACE.from_uniform_row_length(ROWS, 0),
            ValueError,
            "0 sequences of 0 make 0, but there are 4",
        ),
        (
            lambda: FACE.from_uniform_row_length(ROWS, 2, 3),
            ValueError,
            "3 sequences of 2 make 6, but there are 4",
        ),
        (
            lambda: FACE.from_uniform_row_length(ROWS, -2),
            ValueError,
            "uniform_row_length: expected at least 0",
        ),
        (
            lambda: FACE.from_nested_row_splits(ROWS, [0, 4]),
            TypeError,
            "nested_row_splits: expected a list of arrays",
        ),
        (
            lambda: FACE.from_nested_row_lengths(ROWS, []),
            ValueError,
            "nested_row_lengths: a Ragged needs at least",
        ),
        (
            lambda: FACE.from_nested_row_lengths(ROWS, [[3], [2, 2]]),
            ValueError,
            "nested_row_lengths: the lengths of level 0 add up to 3, but level 1 has 2 sequences",
        ),
        (
            lambda: FACE.from_nested_value_rowids(ROWS, [[0, 0], [0, 0, 2, 2]]),
            ValueError,
            r"nested_value_rowids\[1\]: position 2 holds row id 2",
        ),
        (
            lambda: FACE.from_nested_value_rowids(ROWS, [[0, 0], [0, 0, 1, 1]], [1]),
            ValueError,
            "nested_nrows: 1 numbers for 2 levels",
        ),
        (lambda: R.row_lengths(3), ValueError, "axis: 3 is out of range for 3 axes"),
        (lambda: R.bounding_shape(3), ValueError, "axis: 3 is out of range for 3 axes"),
        (lambda: R.merge_dims(2, 1), ValueError, "outer_axis: 2 is behind inner_axis, 1"),
        (lambda: R.merge_dims(0, 3), ValueError, "inner_axis: 3 is out of range for 3 axes"),
        (lambda: R.expand_dims(4), ValueError, "axis: 4 is out of range for a new one beside 3"),
        (
            lambda: R.with_values(ROWS),
            ValueError,
            "new_values: the lengths add up to 3, but there are 4 values",
        ),
        (
            lambda: R.with_flat_values(ROWS[:3]),
            ValueError,
            "new_values: the lengths add up to 4, but there are 3",
        ),
        (lambda: FACE.from_tensor(BLOCK, [1, 4]), ValueError, "length"),
        (lambda: FACE.from_tensor(BLOCK, [1, -1]), ValueError, "lengths: row 1 has a negative length"),
        (lambda: FACE.from_tensor(BLOCK, [1]), ValueError, "1"),
        (
            lambda: FACE.from_tensor(BLOCK, [1, 1], 0),
            ValueError,
            "lengths, padding: give one of them at most",
        ),
        (
            lambda: FACE.from_tensor(BLOCK, padding=[0, 0, 0]),
            ValueError,
            r"padding: shape \(3,\) does not broadcast",
        ),
        (lambda: FACE.from_tensor(BLOCK, padding=R), TypeError, "padding: expected a number or one row"),
        (lambda: FACE.from_tensor(BLOCK, ragged_rank=3), ValueError, "3 levels need more dimensions than 3"),
        (
            lambda: FACE.from_tensor(BLOCK, ragged_rank=0),
            ValueError,
            "ragged_rank: expected at least 1, got 0",
        ),
        (
            lambda: FACE.from_tensor(BLOCK, ([1, 1], [1, 1]), ragged_rank=3),
            ValueError,
            "ragged_rank: 3 levels, but lengths are of 2",
        ),
        (lambda: R.to_tensor(shape=[2, 2]), ValueError, "shape: 2 sizes for 3 axes"),
        (lambda: R.to_tensor(shape=[2, -1, 2]), ValueError, "shape: expected at least 0, got -1"),
        (lambda: R.to_tensor(shape=[2, 2**20, 2**20]), ValueError, "over max_bytes"),
        (lambda: R.to_tensor(0.5), ValueError, "fill"),
        (lambda: R.to_tensor([1, 2]), ValueError, r"default_value: shape \(2,\) does not broadcast"),
        (
            lambda: FACE(BLOCK, [1, 1]).to_tensor(shape=[2, 2, 3, 3]),
            ValueError,
            "shape: axis 3 has 2 entries, not 3",
        ),
    ],
)
def test_bad_input_is_refused_by_name_and_place(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_axes_count_from_the_end():
    for outer, inner in itertools.combinations_with_replacement(range(3), 2):
        a, b = R.merge_dims(outer, inner), R.merge_dims(outer - 3, inner - 3)
        assert a.equals(b) if hasattr(a, "levels") else (a == b).all()
