"""Every door that takes a dtype: what NumPy knows none of is refused in the package's own words."""

import numpy as np
import pytest
import varlen as vl
from doors import doors, refuses
from varlen import Ragged, io, ops

DTYPES = [
    ("no such", TypeError, "expected a NumPy dtype, got 'no such'"),
    ("M8[parsec]", TypeError, r"expected a NumPy dtype, got 'M8\[parsec\]'"),
    (3, TypeError, "expected a NumPy dtype, got 3"),
    (b"\xff", TypeError, r"expected a NumPy dtype, got b'\\xff'"),
    ((2, 3, 4), TypeError, r"expected a NumPy dtype, got \(2, 3, 4\)"),
    ([("a", "i4"), ("a", "i4")], TypeError, r"expected a NumPy dtype, got \[\('a', 'i4'\)"),
    ("no" * 100, TypeError, "expected a NumPy dtype, got 'nono.*nono'$"),
]

LISTS = [[1, 2], [3]]


def joint():
    return vl.JointNestedRaggedTensorDict({"t": LISTS})


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(
        DTYPES,
        **{
            "dtype from_list": lambda x: Ragged.from_list(LISTS, x),
            "dtype astype": lambda x: Ragged([1, 2], [2]).astype(x),
            "dtype to_dense": lambda x: Ragged([1, 2], [2]).to_dense(dtype=x),
            "dtype pad": lambda x: ops.pad([np.arange(2)], dtype=x),
            "dtype list2ragged": lambda x: ops.list2ragged([np.arange(2)], dtype=x),
            "dtype with_key of an array": lambda x: joint().with_key("a", np.arange(3), 1, dtype=x),
            "dtype with_key of lists": lambda x: joint().with_key("a", LISTS, dtype=x),
            "dtype of a batch": lambda x: vl.data.Dataset(joint()).batch([0], dtype=x),
            "dtype of a key": lambda x: vl.data.Dataset(joint()).batch([0], dtype={"t": x}),
            "dtype of samples": lambda x: vl.data.Collate(dtype=x)([np.arange(2)]),
            "dtype of numbers": lambda x: vl.data.Collate(dtype=x)([1, 2]),
            "dtype of lists": lambda x: vl.data.Collate(dtype=x)([[1], [2]]),
            "schema of a joint dict": lambda x: vl.JointNestedRaggedTensorDict({"t": [1]}, schema={"t": x}),
        },
    ),
)
def test_dtypes_are_those_of_numpy(door, given, error, text):
    refuses(door, given, error, text)


@pytest.mark.parametrize(("given", "error", "text"), DTYPES)
def test_writers_leave_nothing_where_a_dtype_is_none(tmp_path, given, error, text):
    for make in (io.Writer, lambda path, **options: io.ShardWriter(path, 2, **options)):
        refuses(
            lambda x, make=make: make(tmp_path / "a", schema={"t": x}),
            given,
            error,
            f"schema: key 't': {text}",
        )
        refuses(lambda x, make=make: make(tmp_path / "a", ids=x), given, error, f"ids: {text}")
    assert not list(tmp_path.iterdir())


def test_none_is_no_dtype_where_one_is_needed():
    for door in (
        Ragged([1], [1]).astype,
        lambda x: vl.JointNestedRaggedTensorDict({"t": [1]}, schema={"t": x}),
    ):
        refuses(door, None, TypeError, "expected a NumPy dtype, got None")


def test_tensors_dtypes_are_not_numpys():
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match=r"dtype: expected a NumPy dtype, got torch\.int8"):
        Ragged([1], [1]).to_dense(dtype=torch.int8)
