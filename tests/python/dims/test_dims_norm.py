"""Layer norm and batch norm over dims: against the model, over valid positions alone, with gradients."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.dims import arithmetic as model
from varlen import Data, Dim, dims
from varlen.dims import batch_dim
from varlen.testing.model import Model, differences, take
from varlen.testing.strategies_data import data_of, orders, row_alone, samples

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
few = settings(max_examples=60, report_multiple_bugs=False)

TIME, FEATURE = Dim("time", lengths=[2, 0, 3]), Dim(3, name="feature")


def agree(found, expected, tolerance=1e-8, ordered=True):
    assert differences(Model.from_data(found), expected, tolerance=tolerance, ordered=ordered) is None


def frames(seed=0, dtype=np.float64):
    draw = np.random.default_rng(seed)
    return Data(draw.standard_normal((5, 3)).astype(dtype), [batch_dim, TIME, FEATURE])


def plain(values, eps):
    mean, variance = values.mean(-1, keepdims=True), values.var(-1, keepdims=True)
    return (values - mean) / np.sqrt(variance + eps)


@few
@given(samples(), st.data())
def test_layer_norm_is_over_any_dims(x, data):
    over = [dim for dim in x.dims if data.draw(st.booleans())]
    expected = model.layer_norm(x.model, over, epsilon=0.1)
    agree(dims.layer_norm(data_of(x), over, eps=0.1), expected)
    other = data.draw(orders(x))
    agree(dims.layer_norm(data_of(other), over, eps=0.1), expected, ordered=False)


@few
@given(samples(shapes=["BT", "BTF", "BTS", "BTSF"]), st.data())
def test_layer_norm_of_a_row_alone_is_its_slice(x, data):
    over = data.draw(st.sampled_from([dim for letter, dim in x.letters().items() if letter != "B"]))
    whole = dims.layer_norm(data_of(x), over, eps=0.1)
    for row in range(x.model.axis(batch_dim).length({})):
        alone = dims.layer_norm(data_of(row_alone(x, row)), over, eps=0.1)
        agree(alone, take(Model.from_data(whole), batch_dim, [row]))


def test_layer_norm_takes_scale_and_bias_over_any_dims():
    x = frames()
    expected = plain(x.values, 1e-6)
    scale, bias = (Data(np.array(n), [FEATURE]) for n in ([1.0, 2.0, 3.0], [0.5, 0.0, -1.0]))
    by_row = Data(np.array([1.0, 2.0, 3.0]), [batch_dim])
    found = dims.layer_norm(x, FEATURE, scale=scale, bias=bias)
    assert np.allclose(found.values, expected * scale.values + bias.values)
    assert np.allclose(dims.layer_norm(x, FEATURE, bias=bias).values, expected + bias.values)
    found = dims.layer_norm(x, FEATURE, scale=by_row, bias=bias)
    assert np.allclose(found.values, expected * np.array([1, 1, 3, 3, 3])[:, None] + bias.values)
    found = dims.layer_norm(x, FEATURE, scale=scale.cast("float32"))
    assert np.allclose(found.values, expected * scale.values)
    over_time = dims.layer_norm(x, TIME, scale=scale, bias=by_row)
    assert over_time.dims == x.dims
    with pytest.raises(ValueError, match="scale: 'other' is not in"):
        dims.layer_norm(x, FEATURE, scale=Data(np.zeros(2), [Dim(2, name="other")]))


@pytest.mark.parametrize("dtype", ["int64", "bool", "float16", "float32"])
def test_layer_norm_gives_floats_of_any_numbers(dtype):
    x = frames().cast(dtype)
    for over in (FEATURE, TIME):
        found = dims.layer_norm(x, over, eps=0.1)
        wanted = dims.layer_norm(x.cast("float64"), over, eps=0.1)
        assert "float" in str(found.dtype)
        assert np.allclose(found.values, wanted.values, atol=2e-2 if dtype == "float16" else 1e-5)
    if dtype.startswith("float"):
        assert dims.layer_norm(x, FEATURE).dtype == x.dtype


def test_norms_do_not_read_padding():
    block = np.full((3, 3, 3), np.nan)
    x = frames()
    for row, length in enumerate(TIME.lengths):
        block[row, :length] = x.to_padded()[row, :length]
    other = Data.from_padded(block, [batch_dim, TIME, FEATURE])
    for norm in (
        lambda x: dims.layer_norm(x, TIME),
        lambda x: dims.layer_norm(x, FEATURE),
        lambda x: dims.batch_norm(x, FEATURE),
    ):
        assert np.array_equal(norm(other).values, norm(x).values)
        assert np.isfinite(norm(other).values).all()


@few
@given(samples(shapes=["BTF", "BTSF", "BHTF", "BF", "F"]), st.data())
def test_batch_norm_is_over_valid_frames(x, data):
    feature = x.letters()["F"]
    expected = model.batch_norm(x.model, feature, epsilon=0.1)
    agree(dims.batch_norm(data_of(x), feature, eps=0.1), expected)
    agree(dims.batch_norm(data_of(data.draw(orders(x))), feature, eps=0.1), expected, ordered=False)


def test_batch_norm_takes_statistics_scale_and_bias():
    x = frames()
    scale, bias = (Data(np.array(n), [FEATURE]) for n in ([1.0, 2.0, 3.0], [0.5, 0.0, -1.0]))
    mean, variance = np.array([1.0, 2.0, 3.0]), np.array([4.0, 1.0, 0.25])
    given_ones = dims.Moments(*(Data(n, [FEATURE]) for n in (mean, variance, np.ones(3, np.int64))))
    found = dims.batch_norm(x, FEATURE, statistics=given_ones, scale=scale, bias=bias, eps=0.5)
    wanted = (x.values - mean) / np.sqrt(variance + 0.5) * scale.values + bias.values
    assert np.allclose(found.values, wanted)


def test_running_statistics_go_nearer_by_momentum():
    x = frames()
    now = dims.moments(x, [batch_dim, TIME])
    assert np.allclose(now.mean.values, x.values.mean(0))
    assert np.allclose(now.variance.values, x.values.var(0))
    assert now.frames.values.tolist() == [5, 5, 5]
    running = dims.Moments.initial(FEATURE).updated(now, 0.25).updated(now, 0.25)
    assert np.allclose(running.mean.values, x.values.mean(0) * (1 - 0.75**2))
    assert np.allclose(running.variance.values, 0.75**2 + x.values.var(0) * (1 - 0.75**2))
    assert running.frames.values.tolist() == [10, 10, 10]
    with pytest.raises(ValueError, match="momentum: expected a number from 0 to 1, got 2"):
        running.updated(now, 2)


def test_running_statistics_stay_where_a_batch_has_no_frames():
    nothing = Data(np.zeros((0, 3)), [batch_dim, TIME.bind([0, 0]), FEATURE])
    now = dims.moments(nothing, ["B", "T"])
    running = dims.Moments.initial(FEATURE).updated(now)
    assert running.mean.values.tolist() == [0, 0, 0]
    assert running.variance.values.tolist() == [1, 1, 1]
    by_row = dims.moments(frames(), "T")
    assert by_row.frames.values.tolist() == [[2] * 3, [0] * 3, [3] * 3]
    assert np.isnan(by_row.mean.values[1]).all()


@pytest.mark.parametrize("over", ["feature", "time", ["time", "feature"]])
def test_norms_of_tensors_have_gradients(over):
    torch = pytest.importorskip("torch")
    x = frames()
    tensor = torch.tensor(x.values, requires_grad=True)
    scale = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)

    def normed(values, scale):
        weights = Data(scale, [FEATURE])
        return dims.layer_norm(x._like(values), over, scale=weights, bias=weights, eps=0.1).values

    def batch_normed(values, scale):
        return dims.batch_norm(x._like(values), FEATURE, scale=Data(scale, [FEATURE]), eps=0.1).values

    for function in (normed, batch_normed):
        assert torch.autograd.gradcheck(function, (tensor, scale))
    weights = Data(scale.detach().numpy(), [FEATURE])
    wanted = dims.layer_norm(x, over, scale=weights, bias=weights, eps=0.1)
    assert np.allclose(normed(tensor, scale).detach().numpy(), wanted.values)
    running = dims.Moments.initial(FEATURE, like=x._like(tensor)).updated(
        dims.moments(x._like(tensor), ["B", "T"])
    )
    assert not running.mean.values.requires_grad
    assert isinstance(running.frames.values, torch.Tensor)


def test_norm_says_which_dim_is_not_there():
    with pytest.raises(IndexError, match="in_dim: 'other' is not among"):
        dims.layer_norm(frames(), Dim(2, name="other"))
    with pytest.raises(vl.dims.OutShapeError):
        dims.layer_norm(frames(), FEATURE, out_shape={FEATURE})


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
@pytest.mark.parametrize("over", ["time", "feature", "both", "batch"])
def test_norms_of_small_floats_hold_squares_that_these_do_not(dtype, over):
    torch = pytest.importorskip("torch")
    time, feature = vl.Dim("time", lengths=[2, 1]), vl.Dim("feature", 2)
    exact = vl.Data(np.array([[0.0, 1024], [2048, 0], [4, 2]]), [batch_dim, time, feature])
    small = vl.Data(torch.tensor(exact.values).to(getattr(torch, dtype)), exact.dims)
    given = [exact, small]
    if dtype == "float16":
        given.append(vl.Data(exact.values.astype(np.float16), exact.dims))

    def norm(x):
        if over == "batch":
            return vl.dims.batch_norm(x, feature)
        return vl.dims.layer_norm(x, {"time": time, "feature": feature, "both": [time, feature]}[over])

    wanted, *found = (norm(x) for x in given)
    for x, result in zip(given[1:], found, strict=True):
        assert result.dtype == x.dtype
        numbers = torch.as_tensor(result.values).double().numpy()
        assert np.allclose(numbers, wanted.values, atol=0.2 if dtype.startswith("float8") else 0.02)


@pytest.mark.parametrize("tensors", [False, True])
def test_norms_of_complex_numbers_are_refused(tensors):
    values = np.array([[1 + 1j, 2], [3, 4j]])
    if tensors:
        values = pytest.importorskip("torch").tensor(values)
    feature = vl.Dim("feature", 2)
    x = vl.Data(values, [batch_dim, feature])
    for norm in (vl.dims.layer_norm, vl.dims.batch_norm, vl.dims.moments):
        with pytest.raises(TypeError, match="x: expected bool, integers or floats, got complex128"):
            norm(x, feature)
