"""Rows and rectangles as TensorFlow's RaggedTensor has them: doors, partitions, and whole axes."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import verbs as oracle
from varlen.testing.strategies import levels

FACE = vl.tf.RaggedTensor
DIGITS = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def same(a, b):
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def test_doors_of_one_example():
    want = [[3, 1, 4, 1], [], [5, 9, 2], [6], []]
    r = FACE.from_row_splits(DIGITS, [0, 4, 4, 7, 8, 8])
    assert r.to_list() == want
    for result in (
        FACE.from_row_lengths(DIGITS, [4, 0, 3, 1, 0]),
        FACE.from_row_starts(DIGITS, [0, 4, 4, 7, 8]),
        FACE.from_row_limits(DIGITS, [4, 4, 7, 8, 8]),
        FACE.from_value_rowids(DIGITS, [0, 0, 0, 0, 2, 2, 2, 3], nrows=5),
    ):
        assert result.equals(r)
        assert result.values is DIGITS
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
    for result in (
        FACE.from_row_splits(inner, r.row_splits),
        FACE.from_row_lengths(inner, r.row_lengths()),
        FACE.from_row_starts(inner, r.row_starts()),
        FACE.from_row_limits(inner, r.row_limits()),
        FACE.from_value_rowids(inner, r.value_rowids(), r.nrows()),
        FACE.from_row_lengths(inner, r.levels[0]),
    ):
        assert result.equals(r)
        assert same(result.levels[1:], r.levels[1:])
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
        (lambda: R.merge_dims(2, 1), ValueError, "outer_axis: 2 is after inner_axis, 1"),
        (lambda: R.merge_dims(0, 3), ValueError, "inner_axis: 3 is out of range for 3 axes"),
        (
            lambda: R.expand_dims(4),
            ValueError,
            "axis: 4 is out of range: a new [a-z]+ can have number 0 to 3",
        ),
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
            lambda: FACE.from_tensor(BLOCK, np.ones((2, 1), int)),
            ValueError,
            "lengths: expected one dimension",
        ),
        (
            lambda: FACE.from_uniform_row_length([], 0, 2**60),
            OverflowError,
            "nrows: .* do not fit into memory",
        ),
        (lambda: R.to_tensor(shape=[2**60, 0, 0]), OverflowError, "shape: .* do not fit into memory"),
        (
            lambda: FACE.from_tensor(BLOCK, [1, 1], 0),
            ValueError,
            "lengths, padding: pass at most one of them",
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
        (lambda: R.to_tensor(0.5), ValueError, "default_value: 0.5 does not fit"),
        (lambda: R.to_tensor([1, 2]), ValueError, r"default_value: expected one number, got shape \(2,\)"),
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


def test_inner_levels_that_end_empty_are_counted_by_the_level_above():
    r = FACE.from_nested_value_rowids([7, 8, 9], [[0, 1, 1], [0, 0, 1]])
    assert r.to_list() == [[[7, 8]], [[9], []]]


def test_axes_of_lengths_count_from_the_end_too():
    r = FACE.from_list([[[1, 2], [3]], []])
    assert r.row_lengths(axis=-1).to_list() == r.row_lengths(axis=2).to_list() == [[2, 1], []]
    with pytest.raises(ValueError, match="axis: 3 is out of range for 3 axes"):
        r.row_lengths(axis=3)


def test_texts_say_what_was_wrong():
    with pytest.raises(ValueError, match="row_lengths: setting an array element with a sequence"):
        FACE.from_row_lengths([7, 8, 9], [[1], [2, 3]])
    with pytest.raises(ValueError, match="value_rowids: row ids must not decrease, but position 2 holds 0"):
        FACE.from_value_rowids([7, 8, 9], [0, 1, 0])
