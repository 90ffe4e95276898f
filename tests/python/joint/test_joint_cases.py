"""What a joint dict answers, case by case, the same from memory and from a file."""

import re

import numpy as np
import pytest
from joint_data import HELD, RAW, hold, lists, same
from varlen.joint import JointNestedRaggedTensorDict as Joint


@pytest.fixture(params=HELD)
def make(request, tmp_path):
    return lambda raw, **options: hold(Joint(raw, **options), request.param, tmp_path)


@pytest.fixture
def J0(make):
    return make(RAW)


def test_sizes_and_dims_of_keys(J0):
    assert (len(J0), J0.max_n_dims, J0.min_n_dims) == (3, 3, 2)
    assert J0.keys() == {"T", "id", "val"}
    assert (J0.keys_at_dim(0), J0.keys_at_dim(1), J0.keys_at_dim(2)) == (set(), {"T"}, {"id", "val"})
    assert J0.keys_at_dim(7) == set()


def test_tensors_stand_in_the_order_of_the_keys():
    J = Joint({"A": [[1, 2, 3], [4, 5]], "B": [1, 2]})
    assert list(J.tensors) == ["dim1/bounds", "dim1/A", "dim0/B"]
    assert J.tensors["dim1/bounds"].tolist() == [3, 5]
    assert J.tensors["dim1/A"].dtype == J.tensors["dim0/B"].dtype == np.uint8


def test_int_drops_the_first_dim(J0):
    assert lists(J0[1].to_dense()) == {
        "T": [4, 5],
        "dim1/mask": [[True, False, False], [True, True, True]],
        "id": [[3, 0, 0], [3, 2, 2]],
        "val": np.float32([[3, 0, 0], [3.3, 2, 0]]).tolist(),
    }


def test_padding_shrinks_to_the_rows_that_are_left(J0):
    dense = J0[2].to_dense()
    assert dense["id"].tolist() == [[0, 0], [8, 9]]
    assert dense["val"].tolist() == [[0, 0], [1, 0]]


def test_key_without_leaves_is_left_out_but_its_mask(J0):
    part = J0[2][0:1]
    dense = part.to_dense()
    assert dense.keys() == {"T", "dim1/mask"}
    assert dense["T"].tolist() == [6]
    assert dense["dim1/mask"].shape == (1, 0)
    assert part.to_dense(empty_keys=True)["id"].shape == (1, 0)
    assert J0[2, :1].to_dense().keys() == {"T", "dim1/mask"}


@pytest.mark.parametrize("index", [np.array([0, 2]), [0, 2], np.array([0, 2], np.uint8), [0, -1]])
def test_array_of_ints_gathers(J0, index):
    dense = J0[index].to_dense()
    assert dense["T"].tolist() == [[1, 2, 3], [6, 7, 0]]
    assert dense["id"].shape == (2, 3, 3)
    assert dense["id"][1].tolist() == [[0, 0, 0], [8, 9, 0], [0, 0, 0]]


def test_gather_keeps_order_negatives_and_duplicates(J0):
    assert J0[np.array([-1, 0])].tensors["dim1/bounds"].tolist() == [2, 5]
    twice = J0[np.array([1, 1], np.uint8)]
    assert twice.tensors["dim1/bounds"].tolist() == [2, 4]
    assert twice.to_list()["T"] == [[4, 5], [4, 5]]


def test_tuple_of_int_and_slice(J0):
    assert lists(J0[0, :2].select("T", "id").to_dense())["id"] == [[1, 2, 3], [3, 4, 0]]
    assert J0[0, :2].to_dense()["T"].tolist() == [1, 2]
    assert J0[1, 1:].to_dense()["T"].tolist() == [5]
    assert J0[1, 1:].to_dense()["id"].tolist() == [[3, 2, 2]]
    assert len(J0[0, 0:100]) == 3


def test_two_ints_leave_shallow_keys_behind(J0):
    part = J0[0, 1]
    assert part.to_dense().keys() == {"id", "val"}
    assert part.to_dense()["id"].tolist() == [3, 4]
    assert part.tensors["dim-1/T"].tolist() == [2]
    assert J0[0, -1].to_dense()["id"].tolist() == [1, 2]


def test_ints_down_to_one_value(J0):
    assert J0[0, 1, 1].tensors["dim-1/id"].tolist() == [4]
    assert J0[0, 0, 1:].to_dense()["id"].tolist() == [2, 3]
    assert (len(J0[0, 1, 1]), J0[0, 1, 1].to_dense(), J0[0, 1, 1].max_n_dims) == (0, {}, 0)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        (3, "Index 3 is out of range at dim 0 (length 3)."),
        (-4, "Index -4 is out of range at dim 0 (length 3)."),
        (np.int64(3), "Index 3 is out of range at dim 0 (length 3)."),
        (np.array([0, -4]), "Index -4 is out of range at dim 0 (length 3)."),
        ((0, 3), "Index 3 is out of range at dim 1 (length 3)."),
        ((2, 0, 0), "Index 0 is out of range at dim 2 (length 0)."),
        ((9, "x"), "Index 9 is out of range at dim 0 (length 3)."),
        (
            (0, 0, 0, 0),
            "Too many indices for JointNestedRaggedTensorDict: got 4 indices but max_n_dims is 3.",
        ),
    ],
)
def test_index_out_of_range_is_named(J0, index, text):
    with pytest.raises(IndexError, match=f"^{re.escape(text)}$"):
        J0[index]


STEP = "Only slices with step size of None or 1 are supported; got 2"


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        ((slice(1, 2), slice(1, None)), ValueError, "Multi-level non-int slicing is not supported."),
        (slice(None, None, 2), ValueError, "Only slices with step size of None or 1 are supported; got 2"),
        (
            (0, slice(None, None, 2)),
            ValueError,
            "Only slices with step size of None or 1 are supported; got 2",
        ),
        (1.0, TypeError, "<class 'float'> not supported for JointNestedRaggedTensorDict slicing"),
        (None, TypeError, "<class 'NoneType'> not supported for JointNestedRaggedTensorDict slicing"),
        (..., TypeError, "<class 'ellipsis'> not supported for JointNestedRaggedTensorDict slicing"),
        (np.array([0.5]), TypeError, "<class 'numpy.ndarray'> not supported for JointNested"),
        (np.array([[0]]), TypeError, "<class 'numpy.ndarray'> not supported for JointNested"),
        (
            (0, 2.4),
            TypeError,
            "<class 'float'> at index 1 not supported for JointNestedRaggedTensorDict tuple",
        ),
    ],
)
def test_index_of_another_kind_is_refused(J0, index, error, text):
    with pytest.raises(error, match=f"^{re.escape(text)}"):
        J0[index]


def test_slices_count_their_bounds_anew(J0):
    part = J0[1:].tensors
    assert part["dim1/bounds"].tolist() == [2, 4]
    assert part["dim2/bounds"].tolist() == [1, 4, 4, 6]
    for empty in (J0[3:3], J0[1:1]):
        assert {name: a.dtype for name, a in empty.tensors.items()} == {
            "dim1/bounds": np.int64,
            "dim1/T": np.uint8,
            "dim2/bounds": np.int64,
            "dim2/id": np.uint8,
            "dim2/val": np.float32,
        }
        assert all(len(array) == 0 for array in empty.tensors.values())


def test_slices_of_one_dim_clip(make):
    J = make({"T": [1, 2, 3]})
    assert J[5:10].tensors["dim0/T"].tolist() == []
    assert J[5:10].tensors["dim0/T"].dtype == np.uint8
    assert J[1:9].tensors["dim0/T"].tolist() == [2, 3]
    assert J[-2:].tensors["dim0/T"].tolist() == [2, 3]


def test_dense_of_both_sides(make):
    J = make(
        {"T": [[1, 2, 3], [4, 5]], "id": [[[1, 2, 3], [3, 4], [1, 2]], [[3], [3, 2, 2]]]},
        schema={"T": int, "id": int},
    )
    right, left = J.to_dense(), J.to_dense(padding_side="left")
    assert list(right) == list(left) == ["dim1/mask", "T", "dim2/mask", "id"]
    assert right["T"].tolist() == [[1, 2, 3], [4, 5, 0]]
    assert left["T"].tolist() == [[1, 2, 3], [0, 4, 5]]
    assert left["dim1/mask"].tolist() == [[True, True, True], [False, True, True]]
    assert left["dim2/mask"][1].tolist() == [[False] * 3, [False, False, True], [True] * 3]
    assert left["id"][1].tolist() == [[0, 0, 0], [0, 0, 3], [3, 2, 2]]
    assert right["id"].dtype == np.int64


def test_levels_without_a_key_have_no_mask(make):
    assert make({"id": [[[1, 2], [3]], [[4]]]}).to_dense().keys() == {"dim2/mask", "id"}


def test_dense_keeps_dtypes_and_nan(make):
    J = make(
        {"b": [[True], [False, True]], "h": [[1.5], [float("nan"), 2.0]], "u": [[1], [2, 3]]},
        schema={"h": "float16"},
    )
    dense = J.to_dense()
    assert [dense[key].dtype.name for key in "bhu"] == ["bool", "float16", "uint8"]
    assert dense["b"].tolist() == [[True, False], [False, True]]
    np.testing.assert_array_equal(dense["h"], [[1.5, 0.0], [np.nan, 2.0]])


def test_empty_rows(make):
    J = make({"a": [[], [1]]})
    assert J.tensors["dim1/bounds"].tolist() == [0, 1]
    assert lists(J.to_dense()) == {"dim1/mask": [[False], [True]], "a": [[0], [1]]}
    deep = make({"a": [[], [[1, 2], [3]]]})
    assert deep.to_dense()["a"].tolist() == [[[0, 0], [0, 0]], [[1, 2], [3, 0]]]
    assert deep.to_dense(padding_side="left")["a"].tolist() == [[[0, 0], [0, 0]], [[1, 2], [0, 3]]]
    assert deep.tensors["dim1/bounds"].tolist() == [0, 2]
    assert deep.tensors["dim2/bounds"].tolist() == [2, 3]


def test_rows_without_leaves_need_a_schema(make):
    assert make({"a": [[[]], [[1]]]}).max_n_dims == make({"a": [[[1]], []]}).max_n_dims == 3
    with pytest.raises(ValueError, match="Cannot infer dtype from empty values; provide an explicit"):
        Joint({"a": [[]]})
    J = make({"a": [[], []]}, schema={"a": int})
    assert lists(J.to_dense()) == {"dim1/mask": [[], []]}
    assert J.tensors["dim1/bounds"].tolist() == [0, 0]


def test_nothing_at_all(make):
    with pytest.raises(
        ValueError, match="Empty list found for key S! Nested Ragged Tensors does not support"
    ):
        Joint({"S": []})
    assert repr(Joint({})) == "JointNestedRaggedTensorDict(processed_tensors={}, schema={})"
    J = make({})
    assert (J.tensors, J.keys(), len(J), J.to_dense()) == ({}, set(), 0, {})


def test_repr_shows_what_the_constructor_takes():
    J = Joint({"A": [[1, 2, 3], [4, 5]], "B": [1, 2]})
    assert (
        repr(J)
        == str(J)
        == (
            "JointNestedRaggedTensorDict(processed_tensors={'dim1/bounds': array([3, 5]), "
            "'dim1/A': array([1, 2, 3, 4, 5], dtype=uint8), 'dim0/B': array([1, 2], dtype=uint8)}, "
            "schema={'A': <class 'numpy.uint8'>, 'B': <class 'numpy.uint8'>})"
        )
    )


def test_equality(make):
    J = make({"a": [[1.0, float("nan")], [2.0]]})
    assert make({"a": [[1.0, float("nan")], [2.0]]}) != J
    assert J.equals(make({"a": [[1.0, float("nan")], [2.0]]}), equal_nan=True)
    assert J != {"a": 1}
    assert make({"a": [[1], [2]]}) == make({"a": [[1.0], [2.0]]})
    assert make({"a": [[1], [2]]}) != make({"b": [[1], [2]]})
    assert make({"a": [[1], [2]]}) != make({"a": [[1, 2], []]})
    with pytest.raises(TypeError, match="unhashable"):
        hash(J)


def test_squeeze_and_unsqueeze(make):
    wide = make({"T": [[1, 2]], "id": [[[10, 20], [30, 40]]]})
    direct = Joint({"T": [1, 2], "id": [[10, 20], [30, 40]]})
    assert wide.squeeze(0) == direct
    assert wide.squeeze(0).schema == direct.schema
    assert direct.unsqueeze(0) == wide
    assert direct.unsqueeze(0).squeeze(0) == direct
    assert make({"T": [1, 2]}).unsqueeze(0).tensors["dim1/bounds"].tolist() == [2]
    for change in (wide.squeeze, wide.unsqueeze):
        with pytest.raises(ValueError, match="Only supports dim = 0 for now; got 1"):
            change(1)


def test_none_in_slices(J0):
    same(J0[1, None:None].to_dense(), J0[1].to_dense())
    same(J0[None:None].to_dense(), J0.to_dense())
