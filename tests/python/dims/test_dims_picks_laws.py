"""Laws of what takes, brings and cuts values by position: tensors, gradients, dtypes, padding."""

import numpy as np
import pytest
from varlen import Data, Dim, Ragged, dims
from varlen.ops.faces.folds import EMPTY as FOLDS

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
batch = dims.batch_dim
LENGTHS = [3, 0, 2]
two = Dim("two", 2)


def frames(dtype="float64", lengths=LENGTHS, name="time"):
    time = Dim(name, lengths=lengths)
    count = int(time.lengths.sum())
    numbers = np.array([5, 2, 2, 8, 1, 7, 3, 9, 4, 6] * 3)[: 2 * count].reshape(count, 2)
    return Data(numbers.astype(dtype), [batch, time, two])


def step(x):
    """0 and 1 by turns in each row."""
    rest = x.mean(two) * 0 if x.dtype != bool else x.any(two) & False
    places = dims.cumsum(rest.numpy().cast("int64") + 1, exclusive=True)
    return places % 2


# Each as a function of a Data [batch, time, two]; all of what it gives that holds numbers.
OPS = {
    "gather": lambda x: [dims.gather(x, dims.argsort(x, "time"))],
    "gather_clip": lambda x: [
        dims.gather(dims.flatten(x, [batch, "time"]), step(x) + 1, "flat", clip=True),
    ],
    "scatter": lambda x: [dims.scatter(x, step(x), Dim("bins", 2))],
    "scatter_max": lambda x: [dims.scatter(x, step(x), Dim("bins", 2), mode="max", fill=0)],
    "scatter_mean": lambda x: [dims.scatter(x, step(x), Dim("bins", 2), mode="mean", fill=0)],
    "cumsum": lambda x: [dims.cumsum(x)],
    "cumprod": lambda x: [dims.cumprod(x, exclusive=True)],
    "cummax": lambda x: [dims.cummax(x)],
    "cummin": lambda x: [dims.cummin(x, two, reverse=True)],
    "repeat": lambda x: [dims.repeat(x, "time", 2)[0]],
    "repeat_counts": lambda x: [dims.repeat(x, "time", step(x) + 1)[0]],
    "masked_select": lambda x: [dims.masked_select(x, step(x) == 0, "time")[0]],
    "masked_scatter": lambda x: [
        dims.masked_scatter(
            dims.masked_select(x, step(x) == 0, "time")[0], step(x) == 0, x.axis("time"), backup=x
        )
    ],
    "masked_scatter_number": lambda x: [
        dims.masked_scatter(dims.masked_select(x, step(x) == 0, "time")[0], step(x) == 0, x.axis("time"))
    ],
    "merge_dims": lambda x: [dims.merge_dims(x, ["time", two])],
    "merge_dims_apart": lambda x: [dims.merge_dims(x, [two, "time"])],
    "split_dims": lambda x: [dims.split_dims(x, "time", [Dim("half"), Dim("pair", 2)], pad_value=0)],
    "flatten": lambda x: [dims.flatten(x, ["time", batch])],
    "unflatten": lambda x: [
        dims.unflatten(dims.flatten(x, ["time", batch]), "flat", [x.axis("time"), x.axis(batch)])
    ],
    "sort": lambda x: list(dims.sort(x, "time", descending=True)),
    "argsort": lambda x: [dims.argsort(x, two)],
    "top_k": lambda x: [dims.top_k(x, "time", 2)[0], *dims.top_k(x, "time", 2)[1]],
    "top_k_both": lambda x: [dims.top_k(x, [two, "time"], 3)[0], *dims.top_k(x, [two, "time"], 3)[1]],
    "unique": lambda x: list(dims.unique(x, "time")[:3]),
    "search_sorted": lambda x: [dims.search_sorted(dims.sort(x, "time")[0], 2, "time")],
}
WITHOUT_GRADIENT = ("argsort", "unique", "search_sorted")


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int16", "bool"])
def test_tensors_give_what_arrays_give(name, dtype):
    x = frames(dtype)
    for one, other in zip(OPS[name](x), OPS[name](x.torch()), strict=True):
        assert isinstance(other.values, torch.Tensor)
        assert one.dtype == other.values.numpy().dtype
        assert [dim.name for dim in one.dims] == [dim.name for dim in other.dims]
        assert np.array_equal(one.values, other.values.numpy(), equal_nan=one.dtype.kind == "f")


@pytest.mark.parametrize("name", [name for name in OPS if name not in WITHOUT_GRADIENT])
def test_gradients_are_those_of_finite_differences(name):
    x = frames()
    numbers = torch.from_numpy(x.values + np.arange(10).reshape(5, 2) * 0.1).requires_grad_()

    def function(values):
        return OPS[name](Data(values, x.dims))[0].values

    assert torch.autograd.gradcheck(function, (numbers,))


@pytest.mark.parametrize("name", [name for name in OPS if name not in ("gather_clip", "flatten")])
def test_a_row_alone_is_its_slice_of_the_batch(name):
    x = frames()
    for row, length in enumerate(LENGTHS):
        begin = sum(LENGTHS[:row])
        alone = Data(x.values[begin : begin + length], [batch, Dim("time", lengths=[length]), two])
        for whole, part in zip(OPS[name](x), OPS[name](alone), strict=True):
            assert nested(whole)[row] == nested(part)[0]


def nested(x):
    """Lists in lists, the batch outside, dims behind those that they are over."""
    first = x.batch_major().dims
    return x.transpose(sorted(first, key=lambda dim: (dim != batch, len(dim.over)))).to_list()


@pytest.mark.parametrize("name", OPS)
def test_padding_is_never_read(name):
    x = frames()
    block = x.to_padded(fill=np.nan)
    time = x.axis("time")
    padded = Data.from_padded(block, [batch, time, two])
    for one, other in zip(OPS[name](x), OPS[name](padded.padded(np.nan)), strict=True):
        assert np.array_equal(one.values, other.values)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("lengths", [[], [0, 0], [0]])
def test_nothing_gives_nothing(name, lengths):
    for found in OPS[name](frames(lengths=lengths)):
        assert found.values.size == 0 or name.startswith(("scatter", "search"))
        assert not found.values.any()


@pytest.mark.parametrize("name", OPS)
def test_order_of_dims_makes_no_difference(name):
    x = frames()
    for one, other in zip(OPS[name](x), OPS[name](x.transpose([two, "time", batch])), strict=True):
        assert {*one.dims} == {*other.dims} or len(one.dims) == len(other.dims)
        assert np.array_equal(np.sort(one.values, axis=None), np.sort(other.values, axis=None))


@pytest.mark.parametrize("mode", FOLDS)
def test_every_fold_is_a_mode_of_scatter_and_of_pool(mode):
    x = Data(np.array([3.0, 1.0, 4.0, 5.0]), [batch, Dim("time", lengths=[3, 1])])
    bins = x._like(np.array([1, 1, 0, 2]))
    found = dims.scatter(x, bins, Dim("bins", 3), mode=mode, axis=["B", "T"]).values
    assert np.array_equal(found, getattr(Ragged([4.0, 3.0, 1.0, 5.0], [1, 2, 1]), mode)())
    found = dims.pool(x, mode, "T", 2).values
    assert np.array_equal(found, getattr(Ragged([3.0, 1.0], [2]), mode)())
