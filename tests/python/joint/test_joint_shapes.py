"""Joining, stacking and flattening joint dicts."""

import re
import warnings

import numpy as np
import pytest
from joint_data import HELD, RAW, hold, lists, same
from varlen.joint import JointNestedRaggedTensorDict as Joint


@pytest.fixture(params=HELD)
def make(request, tmp_path):
    return lambda raw, **options: hold(Joint(raw, **options), request.param, tmp_path)


def test_flatten_puts_outer_values_first_in_their_row(make):
    J = make({"ts": [1, 2, 3], "id": [[1, 2, 3], [3, 4], [1, 2]]})
    assert lists(J.flatten().to_dense()) == {"ts": [1, 0, 0, 2, 0, 3, 0], "id": [1, 2, 3, 3, 4, 1, 2]}
    assert len(J.flatten()) == 7
    assert J.flatten(1) == J.flatten()


def test_flatten_merges_the_two_deepest_dims(make):
    J = make(
        {
            "S": [1, 2],
            "ts": [[1, 2, 3], [4, 5]],
            "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]]],
        }
    )
    flat = J.flatten()
    assert flat.max_n_dims == 2
    dense = flat.to_dense()
    assert dense["S"].tolist() == [1, 2]
    assert dense["ts"].tolist() == [[1, 0, 0, 2, 0, 3, 0], [4, 5, 0, 0, 0, 0, 0]]
    assert dense["id"].tolist() == [[1, 2, 3, 3, 4, 1, 2], [3, 3, 2, 2, 0, 0, 0]]


def test_flatten_with_a_dim_between(make):
    J = make(
        {
            "ts": [1, 2, 3],
            "id": [[1], [3, 4], [1]],
            "D": [[[[5, 6], [7]]], [[[8]], [[]]], [[[9, 10]]]],
        }
    )
    dense = J.flatten().to_dense()
    assert dense["id"].tolist() == [[1, 0], [3, 4], [1, 0]]
    assert dense["D"].tolist() == [[[5, 6, 7], [0, 0, 0]], [[8, 0, 0], [0, 0, 0]], [[9, 10, 0], [0, 0, 0]]]


def test_flatten_counts_leaves(make):
    J = make({"a": [[1, 2], [3, 4], [5, 6], [7, 8, 9, 10], [11, 12]]})
    assert len(J.flatten()) == 12
    for dim in (0, -2, 5):
        with pytest.raises(ValueError, match=f"Only supports dim = -1 or 1 for now; got {dim}"):
            J.flatten(dim)


def test_flatten_fills_with_nan_too(make):
    J = make({"t": [float("nan"), 2.0], "c": [[1, 2], [3]]})
    np.testing.assert_array_equal(J.flatten().to_dense()["t"], np.float32([np.nan, 0, 2]))
    np.testing.assert_array_equal(J.flatten(fill_mode="nan").to_dense()["t"], np.float32([np.nan, np.nan, 2]))
    assert J.flatten(fill_mode="repeat").to_dense()["t"][2] == 2
    with pytest.raises(ValueError, match="fill_mode: expected 'first', 'repeat' or 'nan', got 'all'"):
        J.flatten(fill_mode="all")


@pytest.mark.parametrize("count", [1, 2])
def test_flatten_of_empty_rows_warns(make, count):
    J = make({"T": [1, 2][:count], "Z": [[], []][:count]}, schema={"T": int, "Z": int})
    with pytest.warns(UserWarning, match="all inner ragged rows are empty") as caught:
        flat = J.flatten()
    assert caught[0].filename == __file__
    assert str(caught[0].message) == (
        "flatten(): all inner ragged rows are empty, so the flattened length is 0. Values at outer-dim "
        "key(s) ['T'] will be dropped because there are no positions to broadcast them into."
    )
    assert len(flat) == 0
    assert {key: (value.shape, value.dtype) for key, value in flat.to_dense().items()} == {
        "T": ((0,), np.int64),
        "Z": ((0,), np.int64),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(J[:0].flatten()) == 0  # nothing is dropped where there was nothing


def test_stack_is_the_way_back_from_rows(make):
    J = make(RAW)
    assert Joint.vstack([J[i] for i in range(len(J))]) == J
    assert Joint.vstack(J) == J
    same(Joint.vstack([J[0], J[1]]).to_dense(), J[:2].to_dense())
    assert Joint.vstack([J[1]]) == J[1:2]
    with pytest.raises(ValueError, match="Can't concatenate an empty list!"):
        Joint.vstack([])
    with pytest.raises(ValueError, match="Max dims inconsistent!"):
        Joint.vstack([J[0], J[0, 0]])


def test_concatenate_pads_to_the_longest(make):
    a = make({"T": [[1, 2, 3], [4, 5]]}, schema={"T": int})
    b = make({"T": [[6, 7, 8, 9]]}, schema={"T": int})
    assert Joint.concatenate([a, b]).to_dense()["T"].tolist() == [[1, 2, 3, 0], [4, 5, 0, 0], [6, 7, 8, 9]]


def test_concatenate_with_empty_parts(make):
    a = make({"T": [1, 2, 3], "id": [[1, 2, 3], [3, 4], [1, 2]]})
    b = make({"T": [6, 7, 8, 9], "id": [[3], [3, 2, 2], [1], [1]]})
    for parts in ([a[3:], b[3:]], [b[3:], a[3:]]):
        assert Joint.concatenate(parts).to_list() == {"T": [9], "id": [[1]]}
    assert Joint.concatenate([a, b]).to_list()["T"] == [1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        ({"T": [1]}, {"B": [1]}, "Keys inconsistent! {'B'} != {'T'}"),
        ({"T": [1]}, {"T": [[1]]}, "Max dims inconsistent! 2 != 1"),
        (
            {"T": [1]},
            {"T": [1.5]},
            "Schema inconsistent! {'T': <class 'numpy.float32'>} != {'T': <class 'numpy.uint8'>}",
        ),
        ({"T": [1]}, {"T": [256]}, "Schema inconsistent! {'T': <class 'numpy.uint16'>} != {'T': <class"),
        (
            {"T": [1, 2], "B": [[1], [2]]},
            {"B": [1, 2], "T": [[1], [2]]},
            "Keys inconsistent @ dim 0! {'B'} != {'T'}",
        ),
    ],
)
def test_concatenate_names_what_differs(a, b, text):
    with pytest.raises(ValueError, match=f"^{re.escape(text)}"):
        Joint.concatenate([Joint(a), Joint(b)])


def test_concatenate_of_one_and_of_none(make):
    J = make({"T": [1]})
    assert Joint.concatenate([J]) is J
    with pytest.raises(ValueError, match="Can't concatenate an empty list!"):
        Joint.concatenate([])


def test_concatenate_leaves_its_inputs_alone(make):
    a, b, c = (make({"T": rows}) for rows in ([[1, 2]], [[3]], [[4, 5, 6]]))
    ab, ac = Joint.concatenate([a, b]), Joint.concatenate([a, c])
    ab.tensors["dim1/T"][:] = 0
    assert ac.to_list() == {"T": [[1, 2], [4, 5, 6]]}
    assert (a.to_list(), b.to_list()) == ({"T": [[1, 2]]}, {"T": [[3]]})


def test_concatenate_keeps_the_order_of_the_first():
    a, b = Joint(RAW), Joint(RAW)
    assert list(Joint.concatenate([a, b]).tensors) == list(a.tensors)
    shuffled = Joint(processed_tensors=dict(sorted(a.tensors.items(), reverse=True)))
    assert list(Joint.concatenate([shuffled, b]).tensors) == list(shuffled.tensors)


def test_concatenate_takes_any_iterable(make):
    J = make(RAW)
    assert Joint.concatenate(J[i : i + 1] for i in range(3)) == J


def test_static_rows_go_in_front_of_dynamic_ones(make):
    J = make({"code": [[1, 2], [3]], "value": [[0.5, 1.5], [2.5]], "time": [[0.0, 1.0], [2.0]]})
    part = J[0, 0:2]
    static = {"time": [np.nan, np.nan], "code": [9, 10], "value": [1.0, None]}
    front = Joint(static, schema=part.schema)
    both = Joint.concatenate([front, part])
    assert both.to_dense()["code"].tolist() == [9, 10, 1, 2]
    np.testing.assert_array_equal(both.to_dense()["value"], np.float32([1, np.nan, 0.5, 1.5]))
    assert both.schema["code"] == np.uint8


def test_assigned_schemas_that_agree_let_dtypes_promote():
    patient = Joint({"code": [[300], [5]]})
    query = Joint({"code": [[7]]})
    with pytest.raises(ValueError, match="Schema inconsistent!"):
        Joint.concatenate([query, patient])
    query._schema = dict(patient.schema)
    both = Joint.concatenate([query, patient])
    assert both.to_list() == {"code": [[7], [300], [5]]}
    assert both.tensors["dim1/code"].dtype == np.uint16


def test_left_behind_values_come_back_in_a_stack(make):
    J = make({"S": [8, 9, 10], "T": [[1], [2, 3], []]})
    assert Joint.vstack([J[2], J[0]]).to_list() == {"S": [10, 8], "T": [[], [1]]}
    other = Joint({"T": [5]}, schema={"T": np.uint8})
    assert Joint.vstack([J[1], other]).to_list() == {"T": [[2, 3], [5]]}
    assert Joint.vstack([J[0], J[1]]) == J[:2]


def test_values_that_were_indexed_away_stack_to_one_dim(make):
    J = make({"T": [[1], [2, 3]]})
    assert Joint.vstack([J[1, 1], J[0, 0]]).to_list() == {"T": [3, 1]}
