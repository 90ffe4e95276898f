"""Data of dims alone: constants, positions, counts, random numbers, and numbers dropped at random."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dims import moves as model
from varlen import Data, Dim, dims
from varlen.dims import batch_dim
from varlen.testing.model import Model, differences, fill, walk
from varlen.testing.strategies_data import data_of, orders, samples

few = settings(max_examples=60, report_multiple_bugs=False)

TIME, FEATURE = Dim("time", lengths=[2, 0, 3]), Dim(3, name="feature")
INNER = Dim("inner", lengths=[1, 0, 2, 1, 1], over=[TIME.over[0], TIME])


def agree(found, expected, ordered=True):
    assert differences(Model.from_data(found), expected, ordered=ordered) is None


@few
@given(samples())
def test_constants_are_over_any_dims_in_any_order(x):
    agree(dims.full(x.dims, 7), fill(x.dims, lambda at: 7))
    assert dims.zeros(x.dims).dims == x.dims
    assert dims.zeros(x.dims).dtype == np.float64
    assert dims.ones(x.dims, dtype="int8").dtype == np.int8
    assert dims.num_elements_of_shape(x.dims) == len(walk(x.model.axes))


def test_constants_are_like_other_data():
    torch = pytest.importorskip("torch")
    other = Data(torch.zeros(2, dtype=torch.float16), [Dim(2, name="two")])
    made = dims.full([batch_dim, TIME], 3, like=other)
    assert made.values.dtype == torch.float16
    assert made.values.tolist() == [3.0] * 5
    assert dims.zeros([TIME.over[0]], like=other, dtype=np.int64).values.dtype == torch.int64
    assert dims.range_over_dim(TIME, like=other).values.tolist() == [0, 1, 0, 1, 2]
    assert dims.last_frame_position_of_dim(TIME, like=other).values.tolist() == [1, -1, 2]


def test_constants_name_the_dim_that_cannot_be():
    with pytest.raises(ValueError, match=r"dims: 'open' of \[open\] has no lengths"):
        dims.zeros([Dim("open")])
    with pytest.raises(ValueError, match="dims: 'time' has lengths over 'batch', which"):
        dims.zeros([TIME])
    with pytest.raises(ValueError, match="feature"):
        dims.zeros([FEATURE, FEATURE])


def test_positions_are_those_of_each_row():
    found = dims.range_over_dim(TIME)
    assert (found.dims, found.sparse_dim) == ((batch_dim, TIME), TIME)
    assert found.to_list() == [[0, 1], [], [0, 1, 2]]
    assert dims.range_over_dim(FEATURE).to_list() == [0, 1, 2]
    assert dims.range_over_dim(INNER).to_list() == [[[0], []], [], [[0, 1], [0], [0]]]
    assert dims.range_over_dim(Dim("steps", lengths=4)).to_list() == [0, 1, 2, 3]
    assert dims.range_over_dim(2 + TIME).to_list() == [[0, 1, 2, 3], [0, 1], [0, 1, 2, 3, 4]]


def test_numbers_at_equal_distances_begin_anew_in_each_row():
    assert dims.arange(TIME, 5, 2).to_list() == [[5, 7], [], [5, 7, 9]]
    assert dims.arange(FEATURE, 0.5, 0.25).to_list() == [0.5, 0.75, 1.0]
    assert dims.arange(FEATURE).sparse_dim == FEATURE
    assert dims.arange(FEATURE, 1).sparse_dim is None
    assert dims.arange(FEATURE, dtype="float32").sparse_dim is None


def test_counts_and_last_positions_are_over_what_a_dim_is_over():
    assert dims.num_elements_of_shape([TIME]).to_list() == [2, 0, 3]
    assert dims.num_elements_of_shape([FEATURE, TIME]).to_list() == [6, 0, 9]
    assert dims.num_elements_of_shape([batch_dim, TIME, FEATURE]) == 15
    assert dims.num_elements_of_shape([TIME, INNER]).to_list() == [1, 0, 4]
    assert dims.num_elements_of_shape([INNER]).to_list() == [[1, 0], [], [2, 1, 1]]
    last = dims.last_frame_position_of_dim(TIME)
    assert (last.to_list(), last.sparse_dim) == ([1, -1, 2], TIME)
    assert dims.last_frame_position_of_dim(INNER).to_list() == [[0, -1], [], [1, 0, 0]]
    assert dims.last_frame_position_of_dim(FEATURE).item() == 2


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_constants_like_a_data_are_over_its_dims(library):
    x = Data(np.arange(5, dtype=np.int32), [batch_dim, TIME]).transpose([TIME, batch_dim])
    if library == "torch":
        pytest.importorskip("torch")
        x = x.torch()
    for like, number in ((dims.zeros_like(x), 0), (dims.ones_like(x), 1), (dims.full_like(x, 7), 7)):
        assert like.dims == x.dims
        assert like.dtype == x.dtype
        assert like.values.tolist() == [number] * 5
    assert str(dims.full_like(x, 0.5, dtype="float32").dtype).endswith("float32")
    assert dims.zeros_like(x.sum()).item() == 0
    with pytest.raises(dims.OutShapeError):
        dims.ones_like(x, out_shape={TIME})


@few
@given(samples("int64", shapes=["BT", "BTS", "BHT", "B", "F"]), st.data())
def test_one_hot_is_that_of_the_model(x, data):
    classes = Dim(3, name="classes")
    x = data.draw(orders(x))
    given_ints = Data.__mod__(data_of(x, "int64"), 3)
    expected = model.one_hot(Model.from_data(given_ints), classes)
    agree(dims.one_hot(given_ints, classes, dtype="int64"), expected, ordered=False)


def test_one_hot_is_over_classes_of_any_number():
    x = Data(np.array([1, 0]), [batch_dim], sparse_dim=Dim("choices", lengths=[2, 1]))
    assert dims.one_hot(x).to_list() == [[0.0, 1.0], [1.0]]
    assert dims.one_hot(x).feature_dim == x.sparse_dim
    with pytest.raises(ValueError, match=r"x: .* has no sparse_dim"):
        dims.one_hot(Data(np.array([1]), [batch_dim]))
    with pytest.raises(ValueError, match="one_hot: x: 3 at position 0 is no position of"):
        dims.one_hot(Data(np.array([3]), [batch_dim]), FEATURE)


@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated_normal", "randint"])
@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_random_numbers_are_as_many_as_positions_and_as_spread_as_said(kind, library):
    if library == "torch":
        torch = pytest.importorskip("torch")
        generators = [torch.Generator().manual_seed(3) for _ in range(2)]
    else:
        generators = [np.random.default_rng(3), 3]
    options = {"low": -2, "high": 5} if kind in ("uniform", "randint") else {"mean": 1.0, "std": 2.0}
    time = Dim("time", lengths=[3000, 0, 2000])
    drawn = [dims.random(kind, [time, batch_dim], generator=each, **options) for each in generators]
    assert drawn[0].dims == (time, batch_dim)
    values = np.asarray(drawn[0].values)
    assert values.shape == (5000,)
    assert np.array_equal(values, np.asarray(drawn[1].values))
    if kind in ("uniform", "randint"):
        assert -2 <= values.min() < -1.9
        assert 3.9 < values.max() < 5
        assert kind == "uniform" or set(values.tolist()) == set(range(-2, 5))
    else:
        spread = {"normal": 2.0, "truncated_normal": 2 * 0.8796}[kind]
        assert abs(values.mean() - 1) < 0.15
        assert abs(values.std() - spread) < 0.1
        assert kind == "normal" or abs(values - 1).max() <= 4


def test_random_integers_are_positions_of_their_dim():
    x = dims.random("randint", [batch_dim, TIME], sparse_dim=FEATURE, generator=0)
    assert x.sparse_dim == FEATURE
    assert 0 <= x.values.min() <= x.values.max() < 3
    for options, text in (
        ({}, "high: required for integers"),
        ({"low": 3, "high": 3}, "high: there are no numbers from 3 up to 3"),
    ):
        with pytest.raises(ValueError, match=text):
            dims.random("randint", [batch_dim, TIME], **options)
    with pytest.raises(ValueError, match="kind: expected 'uniform', "):
        dims.random("poisson", [FEATURE])
    with pytest.raises(ValueError, match="std"):
        dims.random("normal", [FEATURE], std=-1)


def test_random_numbers_are_like_other_data():
    torch = pytest.importorskip("torch")
    like = Data(torch.zeros(3, dtype=torch.float16), [FEATURE])
    for generator in (None, 0, torch.Generator().manual_seed(0)):
        made = dims.random("normal", [batch_dim, TIME], like=like, generator=generator)
        assert made.values.dtype == torch.float16
    assert dims.random("randint", [FEATURE], high=9, like=like).values.dtype == torch.int64


def test_dropout_keeps_the_mean_and_drops_a_share():
    time = Dim("time", lengths=[3000, 0, 2000])
    x = dims.ones([batch_dim, time, FEATURE])
    found = dims.dropout(x, 0.25, generator=1)
    assert set(np.unique(found.values)) == {0.0, 1 / 0.75}
    assert abs((found.values == 0).mean() - 0.25) < 0.02
    assert dims.dropout(x, 0.25, training=False) is x
    assert dims.dropout(x, 0.0) is x
    assert not dims.dropout(x, 1.0).values.any()


def test_dropout_drops_together_what_is_not_drawn_by_itself():
    x = dims.ones([batch_dim, TIME, FEATURE])
    by_feature = dims.dropout(x, 0.5, axes=FEATURE, generator=1)
    assert (by_feature.values == by_feature.values[0]).all()
    by_frame = dims.dropout(x, 0.5, axes=["B", "T"], generator=1).values
    assert (by_frame == by_frame[:, :1]).all()
    by_time = dims.dropout(x, 0.5, axes="T", generator=3).to_list()
    assert by_time[0] == by_time[2][:2]
    assert dims.dropout(x.transpose(["F", "T", "B"]), 0.5, axes="F").dims == (FEATURE, TIME, batch_dim)


def test_dropout_of_tensors_has_gradients_and_hides_what_is_dropped():
    torch = pytest.importorskip("torch")
    values = torch.full((5, 3), float("nan"), requires_grad=True)
    x = Data(values, [batch_dim, TIME, FEATURE])
    dims.dropout(x, 1.0).values.sum().backward()
    assert not values.grad.any()
    ones = torch.ones(5, 3, dtype=torch.float64, requires_grad=True)
    found = dims.dropout(x._like(ones), 0.5, generator=torch.Generator().manual_seed(1)).values
    found.sum().backward()
    assert torch.equal(ones.grad, found.detach())


def test_dropout_refuses_what_is_no_share():
    x = dims.ones([FEATURE])
    with pytest.raises(ValueError, match=r"p: expected a number from 0 to 1, got 1\.5"):
        dims.dropout(x, 1.5)
    with pytest.raises(TypeError, match="x: expected floats, got int64"):
        dims.dropout(dims.range_over_dim(FEATURE), 0.5)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_learning_goes_on_without_a_frame(library):
    empty, labels = np.zeros((0, 3)), np.zeros(0, np.int64)
    if library == "torch":
        torch = pytest.importorskip("torch")
        empty, labels = torch.tensor(empty), torch.tensor(labels)
    time = Dim("time", lengths=[0, 0])
    x, target = Data(empty, [batch_dim, time, FEATURE]), Data(labels, [batch_dim, time])
    for found in (dims.layer_norm(x, FEATURE), dims.layer_norm(x, time), dims.batch_norm(x, FEATURE)):
        assert found.dims == x.dims
    assert dims.cross_entropy(x, target, FEATURE).to_list() == [[], []]
    assert dims.cross_entropy(x, x, FEATURE).to_list() == [[], []]
    assert dims.one_hot(target, FEATURE).dims == x.dims
    assert dims.ctc_loss(x, target, blank=0).to_list() == [0, 0]
    assert dims.edit_distance(target, target).to_list() == [0, 0]
    assert dims.dropout(x, 0.5).to_list() == [[], []]
    width = Dim(0, name="width")
    nothing = Data(empty[:, :0].reshape(0, 0), [Dim(0, name="rows"), width])
    assert dims.layer_norm(nothing, width).dims == dims.gelu(nothing).dims == nothing.dims


X = Data(np.array([[1, 3], [2, 4]]), [Dim("two", 2), Dim("pair", 2)])


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: dims.random("uniform", X.dims, generator="a"), TypeError, "generator: expected a Generator"),
        (lambda: dims.random("randint", X.dims, low=-(10**30), high=3), ValueError, "low: expected at least"),
        (
            lambda: dims.dropout(X * 1.0, 0.5, generator=object()),
            TypeError,
            "generator: expected a Generator",
        ),
        (lambda: dims.arange(X.dims[0], 2**70), OverflowError, "start: .* does not fit 63 bits"),
        (lambda: dims.clip_by_value(1, 0, 2), TypeError, "x: expected a Data"),
        (lambda: dims.clip_by_value(X, 0, 2**70), OverflowError, "greatest: .* does not fit 63 bits"),
        (lambda: dims.search_sorted(X, np.array([1, 2]), "pair"), ValueError, "values: .*, got shape"),
        (lambda: dims.slice(X, "pair", step=2**70), OverflowError, "step: .* does not fit 63 bits"),
        (lambda: dims.split(X, "pair", [X.dims[1]], out_shapes=3), TypeError, "out_shapes: expected a list"),
        (lambda: dims.combine(np.array([1, 2]), X, 1), ValueError, "op: expected"),
        (lambda: dims.conv_out_dim("pair", 1), TypeError, "dim: expected a Dim"),
        (lambda: dims.where(X > 1, X, 0, broadcast=np.array([1, 2])), TypeError, "broadcast: expected True"),
    ],
)
def test_what_is_no_number_and_no_generator_is_refused(call, error, text):
    with pytest.raises(error, match=text) as found:
        call()
    assert "reason" in vars(found.value)


def test_amounts_are_integers_of_any_kind():
    expected = dims.pad(X, "pair", 1, 2)
    assert dims.pad(X, "pair", np.array(1), np.int64(2)).to_list() == expected.to_list()
    assert dims.slice(X, "pair", np.array(1)).to_list() == dims.slice(X, "pair", 1).to_list()
