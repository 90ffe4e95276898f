"""Data from and to arrays of xarray."""

import numpy as np
import pytest
import varlen as vl
from varlen.dims import FeatureDim, LengthMismatchError, batch_dim

TIME = vl.Dim("time", lengths=[2, 0, 1])
SOURCE = vl.Dim("source").bind([1, 2, 1], [batch_dim.bind(3), TIME])
LETTERS = FeatureDim("letters", vocab=["a", "b"])
X = vl.Data(np.arange(6.0).reshape(3, 2), [batch_dim, TIME, LETTERS], name="x")


@pytest.fixture
def xarray():
    return pytest.importorskip("xarray", reason="xarray comes with the extra `test`")


def test_array_of_xarray_has_names_lengths_and_labels(xarray):
    array = X.to_xarray()
    assert isinstance(array, xarray.DataArray)
    assert array.dims == ("batch", "time", "letters")
    assert array.name == "x"
    assert array["time_lengths"].values.tolist() == [2, 0, 1]
    assert array["letters"].values.tolist() == ["a", "b"]
    assert np.isnan(array.values[1]).all()
    assert array.sum(["batch", "time"]).values.tolist() == X.sum([batch_dim, TIME]).to_list()
    assert X.to_xarray(fill=-1).values[1].tolist() == [[-1, -1]] * 2
    assert X.cast("int32").to_xarray().values[1].tolist() == [[0, 0]] * 2


@pytest.mark.parametrize("order", [["B", "T", "F"], ["F", "T", "B"]])
def test_data_comes_back_from_xarray(xarray, order):
    x = X.transpose(order)
    again = vl.Data.from_xarray(x.to_xarray(), [TIME, LETTERS])
    assert again.dims == x.dims
    assert again.batch_major().to_list() == x.batch_major().to_list() or order[0] != "B"
    new = vl.Data.from_xarray(x.to_xarray())
    assert [dim.name for dim in new.dims] == [dim.name for dim in x.dims]
    assert new.lengths("time").tolist() == [2, 0, 1]
    assert new.axis("letters").vocab.labels == ("a", "b")
    np.testing.assert_array_equal(new.values, X.values)


def test_lengths_over_lengths_come_back_from_xarray(xarray):
    x = vl.Data(np.arange(4), [batch_dim.bind(3), TIME, SOURCE])
    again = vl.Data.from_xarray(x.to_xarray(), [TIME, SOURCE])
    assert again.to_list() == x.to_list() == [[[0], [1, 2]], [], [[3]]]


def test_plain_array_of_xarray_has_dims_of_its_sizes(xarray):
    array = xarray.DataArray(np.arange(6).reshape(2, 3), dims=["a", "b"])
    assert vl.Data.from_xarray(array).to_list() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ValueError, match=r"'time' names no axis of \('a', 'b'\)"):
        vl.Data.from_xarray(array, [TIME])


def test_two_dims_of_one_name_are_refused(xarray):
    x = vl.Data(np.zeros((2, 2)), [vl.Dim("a", 2), vl.Dim("a", 2)])
    with pytest.raises(ValueError, match="one is twice in"):
        x.to_xarray()
    with pytest.raises(ValueError, match="one name is twice"):
        vl.Data.from_xarray(X.to_xarray(), [TIME, vl.Dim("time", lengths=[1])])


def test_axis_that_is_shorter_than_a_dim_is_refused(xarray):
    array = xarray.DataArray(np.zeros((3, 1)), dims=["batch", "time"])
    with pytest.raises(LengthMismatchError, match="'time' is 2 long"):
        vl.Data.from_xarray(array, [TIME])
