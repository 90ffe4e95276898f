"""Laws of moves along dims: the dims of results, rows alone, padding, orders, gradients, errors."""

import numpy as np
import pytest
from varlen import Data, Dim, dims
from varlen.dims import AmbiguousAxisError, LengthMismatchError, OutShapeError, batch_dim

time, labels = Dim("time", lengths=[3, 0, 2]), Dim("labels", lengths=[1, 2, 0])
batch, feature = time.over[0], Dim(2, name="feature", kind="feature")
other = Dim(3, name="other", kind="feature")


def sequences(dim=time, dtype=np.float64, features=feature):
    rows = int(dim.lengths.sum())
    numbers = np.arange(rows * features.size) % 7
    return Data(numbers.reshape(rows, features.size).astype(dtype), [batch, dim, features])


words = Dim("words", lengths=[1, 2, 0, 1, 3], over=[batch, time])
nested = Data(np.arange(7), [batch, time, words])


# Dims of results.


def test_dims_of_results_follow_the_algebra():
    x, y = sequences(), sequences(labels)
    assert dims.concat((x, time), (y, labels)).dims == (batch, time + labels, feature)
    assert dims.concat((x, time), (y, labels), (x, time)).dims == (batch, time + labels + time, feature)
    assert dims.concat((x, feature), (sequences(features=other), other)).dims == (
        batch,
        time,
        feature + other,
    )
    assert dims.pad(x, time, 2, labels).dims == (batch, 2 + time + labels, feature)
    assert dims.slice(dims.pad(x, time, 2, 2), 2 + time + 2, 2, -2).dims == (batch, time, feature)
    assert dims.slice(x, time, 1, -1, 2).dims == (
        batch,
        time.sub_left(1).sub_right(1).ceildiv_right(2),
        feature,
    )
    assert dims.slice(x, feature, end=1).dims == (batch, time, feature - 1)
    assert dims.slice(x, feature, -1).dims == (batch, time, feature.sub_left(1))
    both = dims.concat((x, time), (y, labels))
    assert dims.slice(both, time + labels, time).dims == (batch, labels, feature)
    assert dims.slice(both, time + labels, end=time).dims == (batch, time, feature)
    assert dims.window(x, time, other).dims == (batch, time, other, feature)
    assert dims.window(x, time, other, stride=2, padding="valid").dims[1] == (time - other + 1).ceildiv_right(
        2
    )
    assert dims.pool(x, "max", time, 3).dims[1] == dims.conv_out_dim(time, 3, stride=3)
    assert dims.conv_out_dim(time, other, padding="same") == time
    assert dims.conv_out_dim(2 + time + 2, 5) == time
    for moved in (dims.reverse(x), dims.shift(x, "T", 1)):
        assert moved.dims == x.dims


def test_slices_of_a_number_of_positions_are_as_long_as_the_row_lets_them():
    x = sequences()
    assert dims.slice(x, time, end=2).axis("T").lengths.tolist() == [2, 0, 2]
    assert dims.slice(x, time, -2).axis("T").lengths.tolist() == [2, 0, 2]
    fixed = Dim(1, name="one")
    start = Data(np.array([2, 0, 1]), [batch])
    with pytest.raises(
        LengthMismatchError, match=r"1 positions of 'one' from 0 on reach out of row 1 of 'time'"
    ):
        dims.slice(x, time, start, size=fixed)
    few = Dim("few", lengths=[1, 0, 1])
    found = dims.slice(x, time, start, size=few)
    assert found.dims == (batch, few, feature)
    assert found.values.tolist() == x.values[[2, 4]].tolist()


def test_slices_start_over_dims_of_their_own():
    x = Data(np.arange(10).reshape(5, 2), [Dim(5, name="five"), feature])
    start = Data(np.array([3, 0, -1]), [batch])
    found = dims.slice(x, "five", start, size=2)
    assert found.dims_set == {batch, found.dims[1], feature}
    assert found.to_list() == [[[6, 7], [8, 9]], [[0, 1], [2, 3]], [[8, 9]]]


def test_amounts_that_are_over_other_dims_repeat_what_is_moved():
    x = Data(np.arange(2), [Dim(2, name="two")])
    by = Data(np.array([0, 1, -1]), [batch])
    assert dims.shift(x, "two", by, value=9).transpose(["B", "two"]).to_list() == [[0, 1], [9, 0], [1, 9]]
    found = dims.pad(x, "two", Dim("left", lengths=[0, 1, 2]), value=9)
    assert found.transpose([batch, found.dims[0]]).to_list() == [[0, 1], [9, 0, 1], [9, 9, 0, 1]]


def test_out_dim_gets_lengths_or_is_compared():
    x = sequences()
    named = dims.pad(x, time, 1, out_dim=Dim("padded"))
    assert named.axis("padded").lengths.tolist() == [4, 1, 3]
    assert dims.pad(x, time, 1, out_dim=named.axis("padded")).dims == named.dims
    with pytest.raises(LengthMismatchError, match="'time' is 3 long in row 0, but the result has 4 there"):
        dims.pad(x, time, 1, out_dim=time)
    assert dims.slice(x, time, end=2, out_dim=Dim("head")).axis("head").lengths.tolist() == [2, 0, 2]
    later = sequences(time.bind([1, 1, 1]))
    with pytest.raises(LengthMismatchError, match="row 0 of 'time' has length 3 in one and 1 in the other"):
        dims.concat((x, time), (later, time))
    joined = dims.concat((x, time), (later, time), out_dim=Dim("both"))
    assert joined.axis("both").lengths.tolist() == [4, 1, 3]


def test_batches_are_joined_under_a_batch_dim():
    less = time.bind([1, 2], over=[batch_dim.bind(2)])
    part = Data(np.arange(6.0).reshape(3, 2), [less.over[0], less, feature])
    x = Data(np.zeros((3, 2)), [batch, time.bind([3, 0, 0], over=[batch]), feature])
    joined = dims.concat((x, batch), (part, batch), out_dim=batch_dim)
    assert joined.dims == (batch_dim, time, feature)
    assert joined.lengths().tolist() == [3, 0, 0, 1, 2]
    assert (
        dims.split(joined, batch_dim, [batch_dim.bind(3), Dim("rest")])[1].values.tolist()
        == part.values.tolist()
    )


def test_whole_sequences_move_inside_positions():
    turned = dims.reverse(nested, time)
    assert turned.to_list() == [[[], [1, 2], [0]], [], [[4, 5, 6], [3]]]
    assert turned.axis(words).lengths.tolist() == [0, 2, 1, 3, 1]
    assert dims.pad(nested, time, 1).to_list() == [[[], [0], [1, 2], []], [[]], [[], [3], [4, 5, 6]]]
    assert dims.slice(nested, time, 1).to_list() == [[[1, 2], []], [], [[4, 5, 6]]]
    assert dims.shift(nested, time, 1).to_list() == [[[], [0], [1, 2]], [], [[], [3]]]
    assert dims.reverse(nested, batch).to_list() == [[[3], [4, 5, 6]], [], [[0], [1, 2], []]]
    joined = dims.concat((nested, time), (turned, time))
    assert joined.to_list()[2] == [[3], [4, 5, 6], [4, 5, 6], [3]]
    with pytest.raises(ValueError, match="'words' has lengths over 'time'"):
        dims.pool(nested, "max", time, 2)


def test_concat_repeats_over_dims_only_where_that_is_said():
    x, y = sequences(), Data(np.array([[7.0, 8.0]]), [Dim(1, name="one"), feature])
    with pytest.raises(ValueError, match=r"part 1 has the dims \[one\(1\), feature\(2\)\]"):
        dims.concat((x, time), (y, "one"))
    found = dims.concat((y, "one"), (x, time), broadcast=True)
    assert found.dims_set == {batch, y.dims[0] + time, feature}
    assert found.batch_major().to_list()[1] == [[7.0, 8.0]]


def test_stack_and_split_name_what_does_not_fit():
    x = sequences()
    assert dims.stack([x, x]).dims[0].size == 2
    with pytest.raises(LengthMismatchError, match="stack: 'three' is 3 long in row 0, but the result has 2"):
        dims.stack([x, x], Dim(3, name="three"))
    with pytest.raises(ValueError, match=r"xs\[1\]: has the dims"):
        dims.stack([x, x.sum("F")])
    with pytest.raises(
        LengthMismatchError, match=r"^split: 'time' is 3 long in row 0, but the pieces are 1 \+ 1"
    ):
        dims.split(x, time, [Dim("a", lengths=[1, 0, 1]), Dim("b", lengths=[1, 0, 1])])
    with pytest.raises(ValueError, match="dims: 'a' and 'b' have no lengths"):
        dims.split(x, time, [Dim("a"), Dim("b")])
    with pytest.raises(OutShapeError, match="'time' is not expected"):
        dims.concat((x, feature), (x, feature), out_shape={batch, 2 * feature})


def test_bad_arguments_are_named():
    x = sequences()
    with pytest.raises(TypeError, match=r"parts\[0\]: expected a pair of a Data and a dim of it"):
        dims.concat(x)
    with pytest.raises(ValueError, match="expected at least one part, got none"):
        dims.concat()
    with pytest.raises(LengthMismatchError, match="'time' is 1 long in row 0 of part 1, and 3 in the first"):
        dims.concat((x, feature), (sequences(time.bind([1, 1, 1])), feature))
    with pytest.raises(ValueError, match=r"left"):
        dims.pad(x, time, -1)
    with pytest.raises(ValueError, match="mode: expected 'constant', 'reflect' or 'replicate', got 'wrap'"):
        dims.pad(x, time, 1, mode="wrap")
    with pytest.raises(TypeError, match=r"start: expected an int, a Dim or a Data of integers, got 0\.5"):
        dims.slice(x, time, 0.5)
    with pytest.raises(TypeError, match="start: expected integers, got float64"):
        dims.slice(x, time, Data(np.zeros(3), [batch]))
    with pytest.raises(ValueError, match="step: expected an int that is not 0, got 0"):
        dims.slice(x, time, step=0)
    with pytest.raises(ValueError, match="'time' is the dim 'time' itself"):
        dims.shift(x, time, Data(np.zeros(5, int), [batch, time]))
    with pytest.raises(IndexError, match="'labels' is not among"):
        dims.reverse(x, labels)
    with pytest.raises(AmbiguousAxisError):
        dims.reverse(Data(np.zeros(3), [batch, time, labels]))
    with pytest.raises(ValueError, match="padding: expected 'same', 'valid' or an int, got 'full'"):
        dims.pool(x, "max", time, 2, padding="full")
    with pytest.raises(OverflowError, match="padding: 4611686018427387904 positions do not fit 60 bits"):
        dims.pool(x, "max", time, 2, padding=2**62)
    with pytest.raises(
        OverflowError, match="dilation: 1099511627776 positions with a dilation of 2097152 do not"
    ):
        dims.window(x, time, Dim(1 << 40, name="wide"), dilation=1 << 21)
    with pytest.raises(ValueError, match="mode: expected 'sum', 'mean'"):
        dims.pool(x, "median", time, 2)
    with pytest.raises(ValueError, match="width: 'labels' has no one size"):
        dims.window(x, time, labels)


def test_lengths_below_nothing_are_no_lengths_of_a_result():
    short = dims.slice(sequences(), time, 1)  # of three rows, one has none to take off
    assert short.axis("T").lengths.tolist() == [2, 0, 1]
    with pytest.raises(LengthMismatchError, match="'time' is 0 long in row 1, but the result has 1 there"):
        dims.pad(short, "T", 1)
    assert dims.pad(short, "T", 1, out_dim=Dim("again")).lengths().tolist() == [3, 1, 2]


# What is said of values.


def test_what_is_said_of_values_moves_with_them():
    classes = Dim(7, name="classes")
    x = Data(np.arange(5), [batch, time], name="x", sparse_dim=classes, time_dim=time)
    for found in (
        dims.reverse(x),
        dims.pad(x, time, 1),
        dims.concat((x, time), (x, time)),
        dims.slice(x, time, 1),
    ):
        assert found.sparse_dim == classes
        assert found.name is None
        assert found.time_dim == found.dims[1]
    assert dims.stack([x, x]).sparse_dim == classes


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.float32, np.float16, np.complex64])
def test_any_dtype_moves(dtype):
    x = sequences(dtype=dtype)
    rows = x.values
    assert dims.reverse(x).values.tolist() == rows[[2, 1, 0, 4, 3]].tolist()
    assert dims.concat((x, time), (x, time)).values.tolist() == rows[[0, 1, 2, 0, 1, 2, 3, 4, 3, 4]].tolist()
    assert dims.pad(x, time, 1, mode="replicate").dtype == dtype
    for found in (
        dims.pad(x, time, 1),
        dims.shift(x, time, 1),
        dims.slice(x, time, 1),
        dims.window(x, time, other),
    ):
        assert found.dtype == dtype
    for value in (1, True):
        assert dims.pad(x, feature, 1, value=value).values[:, 0].tolist() == [dtype(1).item()] * 5


def test_dtypes_are_promoted():
    joined = dims.concat((sequences(dtype=np.int8), time), (sequences(labels, np.float32), labels))
    assert joined.dtype == np.float32


# Each row is what it is alone, whatever stands in the padding.

taps, out = Dim(3, name="taps"), Dim(4, name="out", kind="feature")
filter = Data(np.linspace(-1, 1, 24).reshape(3, 2, 4), [taps, feature, out])
OPS = {
    "concat": lambda x, dim: dims.concat((x, dim), (x, dim)),
    "stack": lambda x, dim: dims.stack([x, x]),
    "split": lambda x, dim: dims.split(x, dim, [(dim - 1).ceildiv_right(1), Dim("rest")])[0],
    "pad": lambda x, dim: dims.pad(x, dim, 1, 2, value=3.0),
    "pad, reflect": lambda x, dim: dims.pad(x, dim, 1, 2, mode="reflect"),
    "pad, replicate": lambda x, dim: dims.pad(x, dim, 1, 2, mode="replicate"),
    "pad, several": lambda x, dim: dims.pad(x, [dim, "F"], [1, 0], [0, 2]),
    "slice": lambda x, dim: dims.slice(x, dim, 1, -1),
    "slice, size": lambda x, dim: dims.slice(x, dim, -2, size=1),
    "slice, backwards": lambda x, dim: dims.slice(x, dim, None, None, -2),
    "slice, features": lambda x, dim: dims.slice(x, "F", 1),
    "shift": lambda x, dim: dims.shift(x, dim, -1),
    "reverse": lambda x, dim: dims.reverse(x, dim),
    "window": lambda x, dim: dims.window(x, dim, taps, stride=2),
    "window, valid": lambda x, dim: dims.window(x, dim, taps, padding="valid"),
    "window, dilated": lambda x, dim: dims.window(x, dim, taps, dilation=2, padding=1),
    "pool": lambda x, dim: dims.pool(x, "max", dim, 3, padding="same"),
    "pool, mean": lambda x, dim: dims.pool(x, "mean", dim, 2, 1, padding="same"),
    "conv1d": lambda x, dim: dims.conv1d(x, like(filter, x), dim, feature, out, padding="same"),
    "conv1d, strided": lambda x, dim: dims.conv1d(x, like(filter, x), dim, feature, out, stride=2, padding=2),
    "conv1d, dilated": lambda x, dim: dims.conv1d(x, like(filter, x), dim, feature, out, dilation=2),
    "transposed": lambda x, dim: dims.transposed_conv1d(x, like(filter, x), dim, feature, out, stride=2),
    "transposed, same": lambda x, dim: dims.transposed_conv1d(
        x, like(filter, x), dim, feature, out, stride=2, padding="same"
    ),
}


def like(data, x):
    pytest.importorskip("torch")
    return data if isinstance(x.values, np.ndarray) else data.torch()


def padded(lengths, dtype=np.float64):
    """A Data out of a rectangle with NaN in its padding."""
    dim = Dim("time").bind(lengths, over=[batch_dim.bind(len(lengths))])
    block = np.random.default_rng(0).random((len(lengths), max([*lengths, 1]), 2))
    block[np.arange(block.shape[1]) >= np.array(lengths, int)[:, None]] = np.nan
    return Data.from_padded(block.astype(dtype), [dim.over[0], dim, feature]), dim


def rows_of(found):
    found = found.batch_major()
    return found.to_list()


@pytest.mark.parametrize("name", OPS)
def test_a_row_alone_is_its_slice_of_the_batch(name):
    lengths = [4, 1, 6, 0, 3]
    x, dim = padded(lengths)
    rows = rows_of(OPS[name](x, dim))
    for i, length in enumerate(lengths):
        alone = Dim("time").bind([length], over=[batch_dim.bind(1)])
        part = Data(np.array(x.to_list()[i]).reshape(length, 2), [alone.over[0], alone, feature])
        np.testing.assert_allclose(rows_of(OPS[name](part, alone))[0], rows[i], rtol=1e-12)


@pytest.mark.parametrize("name", OPS)
def test_padding_does_not_come_through(name):
    x, dim = padded([4, 1, 6, 3])
    assert not np.isnan(OPS[name](x, dim).values).any()


@pytest.mark.parametrize("name", OPS)
def test_orders_of_dims_change_nothing(name):
    x, dim = padded([4, 1, 6, 0, 3])
    expected = OPS[name](x, dim)
    found = OPS[name](x.transpose([feature, dim, batch_dim]), dim)
    names = [each.name for each in expected.dims]  # slices by numbers are dims of their own
    np.testing.assert_array_equal(found.transpose(names).to_padded(), expected.to_padded())


@pytest.mark.parametrize("lengths", [[], [0], [0, 0]], ids=["no rows", "an empty one", "empty ones"])
@pytest.mark.parametrize("name", OPS)
def test_nothing_is_moved_where_nothing_is(name, lengths):
    x, dim = padded(lengths)
    found = OPS[name](x, dim)
    assert found.values.shape == found._shape.array_shape
    assert not np.isnan(found.values).any()


@pytest.mark.parametrize("name", [name for name in OPS if "conv" not in name and name[:5] != "trans"])
def test_features_of_no_size_move(name):
    none = Dim(0, name="feature", kind="feature")
    x = Data(np.zeros((5, 0)), [batch, time, none])
    found = OPS[name](x, time)
    assert found.values.shape == found._shape.array_shape


@pytest.mark.parametrize("name", OPS)
def test_tensors_move_as_arrays_do(name):
    pytest.importorskip("torch")
    x, dim = padded([4, 1, 6, 0, 3])
    np.testing.assert_allclose(OPS[name](x.torch(), dim).values.numpy(), OPS[name](x, dim).values, rtol=1e-12)


@pytest.mark.parametrize("name", OPS)
def test_gradients_go_through_moves(name):
    torch = pytest.importorskip("torch")
    x, dim = padded([4, 1, 0, 3])
    rows = torch.from_numpy(x.values).requires_grad_()
    assert torch.autograd.gradcheck(lambda values: OPS[name](Data(values, x.dims), dim).values, rows)


# Convolutions.


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_transposed_convolutions_are_those_of_torch(size, stride):
    torch = pytest.importorskip("torch")
    x, dim = padded([4, 1, 6, 3])
    weights = np.random.default_rng(1).random((2, 4, size))  # torch has (in, out, size)
    taps = Dim(size, name="taps")
    kernel = Data(weights, [feature, out, taps])
    found = dims.transposed_conv1d(x, kernel, dim, feature, out, stride=stride)
    same = dims.transposed_conv1d(x, kernel, dim, feature, out, stride=stride, padding="same")
    cut = max(size - stride, 0)
    for row, short, given in zip(found.to_list(), same.to_list(), x.to_list(), strict=True):
        block = torch.tensor(given, dtype=torch.float64).T[None]
        expected = torch.nn.functional.conv_transpose1d(block, torch.from_numpy(weights), stride=stride)[0].T
        expected = torch.nn.functional.pad(expected, (0, 0, 0, max(stride - size, 0)))
        np.testing.assert_allclose(row, expected, rtol=1e-12)
        np.testing.assert_allclose(short, expected[cut // 2 :][: len(given) * stride], rtol=1e-12)


@pytest.mark.parametrize("groups", [1, 2])
def test_convolutions_are_those_of_torch(groups):
    torch = pytest.importorskip("torch")
    channels, few = Dim(4, name="in"), Dim(6, name="out")
    rng = np.random.default_rng(2)
    x = Data(rng.random((5, 4)), [batch, time, channels])
    weights, bias = rng.random((6, 4 // groups, 3)), rng.random(6)
    inner = channels if groups == 1 else channels.div_left(groups)
    kernel = Data(weights, [few, inner, Dim(3, name="taps")])
    found = dims.conv1d(x, kernel, time, channels, few, padding="same", groups=groups, bias=Data(bias, [few]))
    assert found.dims == (batch, time, few)
    for row, given in zip(found.to_list(), x.to_list(), strict=True):
        if not given:
            continue
        block = [
            torch.tensor(given, dtype=torch.float64).T[None],
            torch.from_numpy(weights),
            torch.from_numpy(bias),
        ]
        expected = torch.nn.functional.conv1d(*block, padding="same", groups=groups)[0].T
        np.testing.assert_allclose(row, expected, rtol=1e-12)


def test_channels_may_go_out_as_they_came_in():
    square = Data(
        np.eye(2)[None].repeat(1, 0), [Dim(1, name="taps"), feature.copy(match_priority=1), feature]
    )
    x = sequences()
    found = dims.conv1d(x, square, time, feature.copy(match_priority=1), feature)
    assert found.dims == x.dims
    assert found.values.tolist() == x.values.tolist()


def test_convolutions_name_what_does_not_fit():
    x = sequences()
    with pytest.raises(
        ValueError, match="filter: expected 'feature', 'other' and the positions of the filter"
    ):
        dims.conv1d(x, filter, time, feature, other)
    with pytest.raises(ValueError, match="groups: 3 do not divide the 2 positions of 'feature'"):
        dims.conv1d(x, filter, time, feature, out, groups=3)
    with pytest.raises(IndexError, match="in_dim: 'other' is not among"):
        dims.conv1d(x, filter, time, other, out)
    with pytest.raises(ValueError, match="bias: expected numbers over 'out'"):
        dims.conv1d(x, filter, time, feature, out, bias=Data(np.zeros(2), [feature]))


def test_pools_of_several_dims_are_those_of_boxes():
    torch = pytest.importorskip("torch")
    x = Data(np.arange(24.0).reshape(2, 3, 4), [Dim(2, name="b"), Dim(3, name="h"), Dim(4, name="w")])
    found = dims.pool(x, "mean", ["h", "w"], [3, 2], 1)
    expected = torch.nn.functional.avg_pool2d(torch.from_numpy(x.values)[:, None], (3, 2), 1)[:, 0]
    np.testing.assert_allclose(found.values, expected)


def test_a_dim_takes_the_place_of_one_that_nested_dims_are_over():
    rows = Dim(3, name="rows")
    found = nested.replace_dim(batch, rows)
    assert found.to_list() == nested.to_list()
    assert found.axis(words).over == (rows, time)
    assert found.axis(words).over[1].over == (rows,)
