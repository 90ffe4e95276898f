"""TensorFlow's functions and members: constants, stacks, sparse entries, arguments in their order."""

import inspect

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from varlen.testing.strategies import raggeds

RaggedTensor, SparseTensor, constant, stack = (
    vl.tf.RaggedTensor,
    vl.tf.SparseTensor,
    vl.tf.constant,
    vl.tf.stack,
)

# The parameters of TensorFlow 2.16, in its order.
SIGNATURES = {
    "constant": "pylist dtype ragged_rank inner_shape name row_splits_dtype",
    "boolean_mask": "data mask name",
    "range": "starts limits deltas dtype name row_splits_dtype",
    "row_splits_to_segment_ids": "splits name out_type",
    "segment_ids_to_row_splits": "segment_ids num_segments out_type name",
    "stack": "values axis name",
    "stack_dynamic_partitions": "data partitions num_partitions name",
    "RaggedTensor.bounding_shape": "axis name out_type",
    "RaggedTensor.from_nested_row_lengths": "flat_values nested_row_lengths name validate",
    "RaggedTensor.from_nested_row_splits": "flat_values nested_row_splits name validate",
    "RaggedTensor.from_nested_value_rowids": "flat_values nested_value_rowids nested_nrows name validate",
    "RaggedTensor.from_row_lengths": "values row_lengths name validate",
    "RaggedTensor.from_row_limits": "values row_limits name validate",
    "RaggedTensor.from_row_splits": "values row_splits name validate",
    "RaggedTensor.from_row_starts": "values row_starts name validate",
    "RaggedTensor.from_sparse": "st_input name row_splits_dtype",
    "RaggedTensor.from_tensor": "tensor lengths padding ragged_rank name row_splits_dtype",
    "RaggedTensor.from_uniform_row_length": "values uniform_row_length nrows name validate",
    "RaggedTensor.from_value_rowids": "values value_rowids nrows name validate",
    "RaggedTensor.get_shape": "",
    "RaggedTensor.merge_dims": "outer_axis inner_axis",
    "RaggedTensor.nested_row_lengths": "name",
    "RaggedTensor.nested_value_rowids": "name",
    "RaggedTensor.nrows": "out_type name",
    "RaggedTensor.numpy": "",
    "RaggedTensor.row_lengths": "axis name",
    "RaggedTensor.row_limits": "name",
    "RaggedTensor.row_starts": "name",
    "RaggedTensor.to_list": "",
    "RaggedTensor.to_sparse": "name",
    "RaggedTensor.to_tensor": "default_value name shape",
    "RaggedTensor.value_rowids": "name",
    "RaggedTensor.with_flat_values": "new_values",
    "RaggedTensor.with_row_splits_dtype": "dtype",
    "RaggedTensor.with_values": "new_values",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_those_of_tensorflow_in_their_order(name):
    function = vl.tf
    for part in name.split("."):
        function = getattr(function, part)
    names = [each for each in inspect.signature(function).parameters if each != "self"]
    assert names == SIGNATURES[name].split()


def test_constants_of_strings_are_text():
    r = constant([["a", "few"], [], ["words"]])
    assert r.values.dtype == "<U5"
    assert r.to_list() == [["a", "few"], [], ["words"]]
    assert constant([[b"a", b"\xff\x01"], []]).values.tolist() == [b"a", b"\xff\x01"]
    assert constant([["", "ü"], ["日本"]], "<U8").values.tolist() == ["", "ü", "日本"]
    assert constant([[["a", "b"]], []], inner_shape=[2]).values.tolist() == [["a", "b"]]
    with pytest.raises(ValueError, match=r"pylist: 'a\\x00' ends in NUL"):
        constant([["a\0"]])
    with pytest.raises(TypeError, match=r"pylist\[1\]\[0\]: expected text, got int"):
        constant([["a"], [1]])
    with pytest.raises(TypeError, match="pylist: expected bytes like the first string, got str"):
        constant([[b"a", "b"]])


def test_constants_have_as_many_levels_as_are_asked_for():
    lists = [[[1, 2], [3, 4]], []]
    for options in ({"inner_shape": (2,)}, {"ragged_rank": 1}, {"ragged_rank": 1, "inner_shape": (2,)}):
        r = constant(lists, **options)
        assert r.shape == (2, None, 2)
        assert r.to_list() == lists
    assert type(constant([[1, 2], [3, 4]], ragged_rank=0)) is np.ndarray
    assert constant([1.5, 2]).tolist() == [1.5, 2.0]
    assert constant([], inner_shape=(2,), ragged_rank=1).shape == (0, None, 2)
    assert constant([[], []], inner_shape=(3,), ragged_rank=2).shape == (2, None, None, 3)
    for options, text in (
        ({"inner_shape": (3,)}, "inner_shape: axis 0 of the rows has 2 entries, not 3"),
        ({"inner_shape": (2,), "ragged_rank": 2}, "inner_shape: 1 axes and 2 levels, but the lists have 2"),
        ({"ragged_rank": 3}, "ragged_rank: expected at most the 2 levels of the lists, got 3"),
        ({"ragged_rank": 0}, "ragged_rank: lists below level -1 have lengths 0 to 2"),
    ):
        with pytest.raises(ValueError, match=text):
            constant(lists, **options)


def test_arrays_are_stacked_as_raggeds_are():
    a, b = np.arange(6).reshape(2, 3), np.array([[6, 7]])
    assert stack([np.array([3, 1]), np.array([4])]).to_list() == [[3, 1], [4]]
    assert stack([np.array([3, 1]), np.array([4, 5])], 1).to_list() == [[3, 4], [1, 5]]
    assert stack([a, a[:1]]).shape == (2, None, 3)
    assert stack([a, b]).to_list() == [a.tolist(), b.tolist()]
    assert stack([a, a[:, :1]], axis=1).to_list() == [[[0, 1, 2], [0]], [[3, 4, 5], [3]]]
    assert stack([a, a], axis=2).to_list() == np.stack([a, a], 2).tolist()
    mixed = stack([constant([[1, 2], [3]]), a])
    assert type(mixed) is RaggedTensor
    assert mixed.to_list() == [[[1, 2], [3]], a.tolist()]
    with pytest.raises(ValueError, match=r"values: expected the same number of axes in each, got \[1, 2\]"):
        stack([a, a[0]])


def test_rows_are_dealt_out_to_partitions_in_their_order():
    assert vl.tf.stack_dynamic_partitions(np.array([[7], [8], [9]]), [2, 0, 2], 4).to_list() == [
        [[8]],
        [],
        [[7], [9]],
        [],
    ]
    deep = vl.tf.stack_dynamic_partitions(constant([[1, 2], [], [3]]), np.array([1, 0, 1], np.int32), 2)
    assert deep.to_list() == [[[]], [[1, 2], [3]]]
    with pytest.raises(ValueError, match="partitions: row 1 asks for partition 2, but there are 2"):
        vl.tf.stack_dynamic_partitions([1, 2], [0, 2], 2)
    with pytest.raises(ValueError, match="partitions: 1 of them for 2 rows"):
        vl.tf.stack_dynamic_partitions([1, 2], [0], 2)


def entries(nested, depth, at=()):
    if depth == 0:
        return [(at, nested)]
    return [entry for i, inner in enumerate(nested) for entry in entries(inner, depth - 1, (*at, i))]


@given(raggeds())
@settings(max_examples=30, deadline=None)
def test_sparse_entries_are_where_the_lists_have_them(r):
    r = RaggedTensor(r.values, levels=r.levels)
    sparse = r.to_sparse()
    expected = entries(r.to_list(), r.ndim)
    assert [tuple(place) for place in sparse.indices.tolist()] == [place for place, _ in expected]
    assert sparse.values.shape == (len(expected),)
    assert sparse.values.tobytes() == np.ascontiguousarray(r.values).tobytes()
    assert sparse.dense_shape.tolist() == list(r.to_tensor().shape)
    if r.ndim == 2:
        back = RaggedTensor.from_sparse(sparse)
        assert back.row_lengths().tolist() == r.row_lengths().tolist()
        assert back.values.tobytes() == sparse.values.tobytes()


def test_sparse_entries_that_are_no_rows_are_refused():
    for indices, text in (
        ([[0, 0], [0, 2]], r"row 0 has an entry in column 2, but none in column 1"),
        ([[0, 0], [2, 0]], r"entry 1 is at \(2, 0\), beyond the shape \(2, 3\)"),
        ([[0, 0], [0, 3]], r"entry 1 is at \(0, 3\), beyond the shape"),
        ([[1, 0], [0, 0]], r"entry 1 is at \(0, 0\), out of order"),
        ([[0, 0]], r"1 indices for 2 values"),
    ):
        with pytest.raises(ValueError, match=f"st_input: {text}"):
            RaggedTensor.from_sparse(SparseTensor(indices, [7, 8], (2, 3)))
    with pytest.raises(ValueError, match="st_input: expected 2 axes, got 3"):
        RaggedTensor.from_sparse(SparseTensor(np.zeros((0, 3), int), [], (2, 3, 1)))
    with pytest.raises(TypeError, match="st_input: expected a SparseTensor, got list"):
        RaggedTensor.from_sparse([[1]])


def test_sparse_tensors_of_torch_become_rows():
    torch = pytest.importorskip("torch")
    r = RaggedTensor.from_sparse(torch.tensor([[1, 2], [0, 0], [3, 0]]).to_sparse())
    assert r.to_list() == [[1, 2], [], [3]]
    values = torch.arange(3.0, requires_grad=True)
    sparse = RaggedTensor(values, [2, 1]).to_sparse()
    shape = tuple(sparse.dense_shape)
    dense = torch.sparse_coo_tensor(sparse.indices.T, sparse.values, shape, check_invariants=True).to_dense()
    assert dense.tolist() == [[0.0, 1.0], [2.0, 0.0]]
    sparse.values.sum().backward()
    assert values.grad.tolist() == [1.0, 1.0, 1.0]


def test_sequences_are_arrays_in_arrays_of_objects():
    ragged = constant([[[1, 2], [3]], [], [[4]]]).numpy()
    assert ragged.dtype == object
    assert [[inner.tolist() for inner in outer] for outer in ragged] == [[[1, 2], [3]], [], [[4]]]
    assert constant([[[1, 2]], [[3, 4]]]).numpy().tolist() == [[[1, 2]], [[3, 4]]]
    assert constant([[[1, 2], [3, 4]], []]).numpy()[1].shape == (0, 2)
    torch = pytest.importorskip("torch")
    (one, two) = RaggedTensor(torch.arange(3.0, requires_grad=True), [2, 1]).numpy()
    assert (one.tolist(), two.tolist()) == ([0.0, 1.0], [2.0])


def test_splits_stay_int64_and_are_held_against_the_dtype():
    r = constant([[1, 2], [3]])
    assert r.with_row_splits_dtype(np.int32) is r
    assert r.with_row_splits_dtype("int64").row_splits.dtype == np.int64
    with pytest.raises(TypeError, match="dtype: expected int32 or int64, got float32"):
        r.with_row_splits_dtype("float32")
    long = RaggedTensor(np.broadcast_to(np.zeros((), "V0"), 2**31), [2**31])
    with pytest.raises(OverflowError, match="dtype: a split of 2147483648 does not fit int32"):
        long.with_row_splits_dtype(np.int32)


def test_ranges_have_the_dtype_that_is_asked_for():
    assert vl.tf.range([3, 1], dtype=np.int8).values.dtype == np.int8
    with pytest.raises(ValueError, match=r"dtype: element 128 .* is 128, which does not fit int8"):
        vl.tf.range([129], dtype=np.int8)
