"""Functions of RETURNN's frontend against NumPy on rectangles, whose padding is NaN."""

import inspect
import re

import house
import numpy as np
import pytest
import varlen as vl
import varlen.returnn.frontend as rf
from varlen.dims import LengthMismatchError
from varlen.returnn import Dim, FeatureDim, SpatialDim, Tensor, batch_dim

LENGTHS = [3, 0, 2]
TIME, FEATURE = SpatialDim("time", LENGTHS), FeatureDim("feature", 4)
IS_THERE = np.arange(3) < np.array(LENGTHS)[:, None]
BLOCK = np.random.default_rng(0).normal(size=(3, 3, 4))
BLOCK[~IS_THERE] = np.nan


@pytest.fixture(params=["numpy", "torch"])
def kind(request):
    if request.param == "torch":
        return pytest.importorskip("torch").from_numpy
    return np.asarray


@pytest.fixture
def x(kind):
    return Tensor("x", [batch_dim, TIME, FEATURE], raw_tensor=kind(BLOCK.copy()))


def same(result, wanted, lengths=LENGTHS):
    """Whether a Tensor over the batch, a time and more has the rows of a rectangle, but for the padding."""
    assert isinstance(result, Tensor)
    rows = [np.asarray(row) for row in result.to_list()]
    assert [len(row) for row in rows] == list(lengths)
    for row, block in zip(rows, wanted, strict=True):
        if len(row):
            np.testing.assert_allclose(row, block[: len(row)], rtol=1e-6)


def test_numbers_are_computed_one_by_one(x):
    positive = np.abs(BLOCK) + 1
    y = rf.abs(x) + 1
    for name in ("ceil", "cos", "expm1", "floor", "log1p", "sin", "exp", "log", "sqrt"):
        same(getattr(rf, name)(y), getattr(np, name)(positive))
    same(rf.round(x), np.rint(BLOCK))
    same(rf.rsqrt(y), 1 / np.sqrt(positive))
    same(rf.reciprocal(y), 1 / positive)
    same(rf.neg(x), -BLOCK)
    same(rf.elu(x), np.where(BLOCK > 0, BLOCK, np.expm1(BLOCK)))
    same(rf.relu_square(x), np.maximum(BLOCK, 0) ** 2)
    extremes = rf.where(x > 0, np.inf, rf.where(x > -0.5, 0.0, -np.inf))
    same(rf.is_finite(extremes), (BLOCK > -0.5) & (BLOCK <= 0))
    same(rf.is_infinite(extremes), (BLOCK <= -0.5) | (BLOCK > 0))
    same(rf.is_neg_infinite(extremes), BLOCK <= -0.5)
    same(rf.logical_not(x > 0), BLOCK <= 0)
    same(rf.safe_log(rf.relu(x), eps=1e-3), np.log(np.maximum(BLOCK, 1e-3)))
    assert rf.identity(x) is x


def test_least_logarithm_is_that_of_the_dtype(x):
    smallest = {"float64": 5e-324, "float32": 1.4e-45, "float16": 6e-8}
    for dtype, number in smallest.items():
        log = rf.safe_log(rf.cast(rf.zeros_like(x), dtype))
        assert np.asarray(log.values.max()) == pytest.approx(np.log(number), rel=1e-2)
    if not isinstance(x.values, np.ndarray):
        assert float(rf.safe_log(rf.cast(rf.zeros_like(x), "bfloat16")).values.max()) == pytest.approx(
            -92, rel=1e-2
        )


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("true_divide", np.true_divide),
        ("floor_divide", np.floor_divide),
        ("mod", np.mod),
        ("pow", np.power),
        ("maximum", np.maximum),
        ("minimum", np.minimum),
        ("log_add_exp", lambda a, b: np.log(np.exp(a) + np.exp(b))),
        ("squared_difference", lambda a, b: (a - b) ** 2),
        ("ceil_divide", lambda a, b: np.ceil(a / b)),
        ("equal", np.equal),
        ("not_equal", np.not_equal),
        ("less", np.less),
        ("less_equal", np.less_equal),
        ("greater", np.greater),
        ("greater_equal", np.greater_equal),
        ("logical_and", lambda a, b: np.logical_and(a > 1, b > 1)),
        ("logical_or", lambda a, b: np.logical_or(a > 1, b > 1)),
    ],
)
def test_two_operands_line_up_by_their_dims(x, kind, name, function):
    numbers = np.array([1.0, 2.0, 0.5, 1.5])
    y = Tensor("y", [FEATURE], raw_tensor=kind(numbers))
    positive, base = np.abs(BLOCK) + 1, rf.abs(x) + 1
    operands = (base > 1, y > 1) if name.startswith("logical") else (base, y)
    same(getattr(rf, name)(*operands), function(positive, numbers))


def test_several_operands_are_brought_together(x, kind):
    least, greatest = Tensor("a", [TIME.over[0]], raw_tensor=kind(np.array([-0.5, 0.0, 0.1]))), 0.5
    bounds = np.array([-0.5, 0.0, 0.1])[:, None, None]
    same(rf.clip_by_value(x, least, greatest), np.clip(BLOCK, bounds, 0.5))
    same(rf.clip_by_value(x, clip_value_max=0.0), np.minimum(BLOCK, 0))
    assert rf.clip_by_value(x) is x
    same(rf.maximum(x, 0.0, least), np.maximum(np.maximum(BLOCK, 0), bounds))
    same(rf.lerp(x, -x, 0.25), BLOCK * 0.5)
    y = Tensor("y", [FEATURE], raw_tensor=kind(np.arange(4.0)))
    other = rf.reduce_sum(x, axis=FEATURE)
    wanted = np.nansum(BLOCK, 2)[..., None]
    same(rf.combine_bc(other, "+", y), wanted + np.arange(4.0))
    same(rf.compare_bc(other, "<", y), wanted < np.arange(4.0))
    with pytest.raises(ValueError, match="broadcast"):
        rf.less(other, y)
    with pytest.raises(ValueError, match="broadcast"):
        rf.lerp(other, y, 0.5)
    assert rf.lerp(other, y, 0.5, allow_broadcast_all_sources=True).dims == x.dims


def test_numbers_of_python_are_chosen_as_float32_and_int32(x):
    assert str(rf.where(x > 0, 1.0, 0.0).dtype).endswith("float32")
    assert str(rf.where(x > 0, 1, 0).dtype).endswith("int32")
    same(rf.where(x > 0, 1, 0), BLOCK > 0)


def test_values_of_dims(x):
    assert str(rf.zeros_like(x).dtype) == str(x.dtype)
    assert type(rf.ones_like(x).values) is type(x.values)
    same(rf.zeros_like(x), np.zeros_like(BLOCK))
    same(rf.ones_like(x), np.ones_like(BLOCK))
    same(rf.constant(7, dims=x.dims), np.full(BLOCK.shape, 7))
    assert rf.sequence_mask(TIME).raw_tensor.tolist() == IS_THERE.tolist()
    assert (
        rf.sequence_mask([TIME, FEATURE]).raw_tensor.tolist() == np.repeat(IS_THERE[..., None], 4, 2).tolist()
    )
    assert rf.sequence_mask(FEATURE).dims == (FEATURE,)
    assert rf.num_elements_of_shape([batch_dim, TIME, FEATURE], use_mask=False) == 20
    assert rf.num_elements_of_shape(TIME).to_list() == LENGTHS
    assert rf.last_frame_position_of_dim(TIME).to_list() == [2, -1, 1]
    assert rf.zeros([FEATURE], feature_dim=FEATURE, device="cpu").feature_dim == FEATURE
    dense = rf.sparse_to_dense(rf.reduce_argmax(x, axis=FEATURE), label_value=2.0, other_value=-1.0)
    at = np.nan_to_num(BLOCK).argmax(2)[..., None] == np.arange(4)
    same(dense, np.where(at, 2.0, -1.0))


def test_tensor_fills_dims(kind):
    scalar = Tensor("s", [], raw_tensor=kind(np.asarray(2.5)))
    same(rf.full(dims=[batch_dim, TIME], fill_value=scalar), np.full((3, 3), 2.5))
    assert rf.full(dims=[TIME, batch_dim], fill_value=scalar).dims == (TIME, batch_dim)
    assert str(rf.full(dims=[FEATURE], fill_value=scalar).dtype) == str(scalar.dtype)
    assert str(rf.full(dims=[FEATURE], fill_value=scalar, dtype="int32").dtype).endswith("int32")
    each = Tensor("e", [batch_dim], raw_tensor=kind(np.arange(3)))
    same(rf.full(dims=[batch_dim, TIME], fill_value=each), np.repeat(np.arange(3), 3).reshape(3, 3))


def test_gradient_flows_to_what_fills_dims_and_stops_where_it_is_said():
    torch = pytest.importorskip("torch")
    weight = torch.tensor(2.0, requires_grad=True)
    full = rf.full(dims=[batch_dim, TIME], fill_value=rf.convert_to_tensor(weight))
    full.values.sum().backward()
    assert weight.grad == 5
    assert not rf.stop_gradient(full).values.requires_grad
    assert rf.stop_gradient(full).values.tolist() == full.values.tolist()
    own = rf.copy(full)
    assert own.values.requires_grad
    assert own.values.data_ptr() != full.values.data_ptr()


def test_values_go_to_devices(x):
    torch = pytest.importorskip("torch")
    for made in (
        rf.zeros([FEATURE], device="meta"),
        rf.range_over_dim(TIME, device="meta"),
        rf.full(dims=[TIME.over[0], TIME], fill_value=1, device=torch.device("meta")),
        rf.convert_to_tensor([1, 2], dims=[Dim(2, name="two")], device="meta"),
        rf.random_normal([FEATURE], device="meta"),
        rf.sequence_mask(TIME, device="meta"),
        rf.copy_to_device(x, "meta"),
    ):
        assert made.device == "meta"
    assert rf.copy_to_device(x) is x
    assert rf.convert_to_tensor(3.0, device="meta", keep_scalar_on_cpu=True).device == "cpu"
    assert rf.convert_to_tensor([1.0] * 4, dims=[FEATURE], feature_dim=FEATURE).feature_dim == FEATURE


def test_dtypes_are_told():
    assert rf.convert_to_tensor(0.5).dtype == np.dtype(rf.get_default_float_dtype())
    assert rf.convert_to_tensor(5).dtype == np.dtype(rf.get_default_int_dtype())
    assert rf.range_over_dim(TIME).dtype == np.dtype(rf.get_default_array_index_dtype())
    assert rf.is_float_dtype("float16")
    assert not rf.is_float_dtype("bool")


def test_dims_are_replaced(x):
    other = Dim(None, name="other")
    replaced, dim = rf.replace_dim(x, in_dim=TIME, out_dim=other)
    same(replaced, BLOCK)
    assert dim == other
    assert dim.lengths.tolist() == LENGTHS
    again, new = rf.replace_dim(x, in_dim=TIME)
    assert new != TIME
    assert again.dims == (batch_dim, new, FEATURE)
    with pytest.raises(LengthMismatchError):
        rf.replace_dim(x, in_dim=TIME, out_dim=SpatialDim("short", [1, 0, 2]))
    assert rf.set_sparse_dim(rf.range_over_dim(TIME), Dim(9, name="nine")).sparse_dim.size == 9


def test_positions_are_joined_and_parted(x, kind):
    y = Tensor("y", [batch_dim, TIME, Dim(1, name="one")], raw_tensor=kind(np.ones((3, 3, 1))))
    joined = rf.concat_features(x.copy(feature_dim=FEATURE), y.copy(feature_dim=y.dims[2]))
    same(joined, np.concatenate([BLOCK, np.ones((3, 3, 1))], 2))
    assert joined.feature_dim == FEATURE + y.dims[2]
    frame = Tensor("f", [batch_dim, FEATURE], raw_tensor=kind(np.arange(12.0).reshape(3, 4)))
    longer, dim = rf.cum_concat_step(frame, prev_accum=x, axis=TIME)
    assert dim == TIME + 1
    wanted = [[*BLOCK[b, :n], np.arange(12.0).reshape(3, 4)[b]] for b, n in enumerate(LENGTHS)]
    same(longer, wanted, [4, 1, 3])
    for k, part in enumerate(rf.unstack(x, axis=FEATURE)):
        same(part, BLOCK[:, :, k])
    same(rf.stack(rf.unstack(x, axis=FEATURE), out_dim=FEATURE)[0].transpose(x.dims).copy(), BLOCK)
    with pytest.raises(ValueError, match="axis: expected a dim of fixed size"):
        rf.unstack(x, axis=TIME)
    same(rf.gather(x, indices=2, axis=FEATURE), BLOCK[:, :, 2])
    with pytest.raises(ValueError, match=r"source 0, .* has no feature dim"):
        rf.concat_features(rf.range_over_dim(TIME))


def test_half_of_the_features_is_a_gate(x):
    result, half = rf.gating(x, axis=FEATURE)
    assert half == FEATURE.div_left(2)
    same(result, BLOCK[..., :2] / (1 + np.exp(-BLOCK[..., 2:])))
    out = Dim(2, name="out")
    result, half = rf.gating(x.copy(feature_dim=FEATURE), gate_func=rf.relu, act_func=rf.neg, out_dim=out)
    assert half == out
    same(result, -BLOCK[..., :2] * np.maximum(BLOCK[..., 2:], 0))
    with pytest.raises(ValueError, match="axis: expected an even number of features"):
        rf.gating(x, axis=TIME)


def test_pieces_of_features_are_reduced(x):
    result = rf.reduce_out(x.copy(feature_dim=FEATURE), mode="max", num_pieces=2)
    same(result, BLOCK.reshape(3, 3, 2, 2).max(3))
    assert result.feature_dim.size == 2
    out = Dim(2, name="out")
    assert rf.reduce_out(x, mode="sum", num_pieces=2, out_dim=out).dims == (batch_dim, TIME, out)
    with pytest.raises(ValueError, match="has no feature dim"):
        rf.reduce_out(rf.range_over_dim(TIME), mode="max", num_pieces=2)


@pytest.mark.parametrize("correction", [0, 1])
def test_moments_are_of_valid_positions(x, correction):
    mean, variance = rf.moments(x, [batch_dim, TIME], correction=correction, use_mask=False)
    np.testing.assert_allclose(np.asarray(mean.values), np.nanmean(BLOCK, (0, 1)))
    np.testing.assert_allclose(np.asarray(variance.values), np.nanvar(BLOCK, (0, 1), ddof=correction))
    with pytest.raises(ValueError, match="distributed"):
        rf.moments(x, TIME, distributed=True)
    with pytest.raises(ValueError, match="distributed"):
        rf.reduce_sum(x, axis=TIME, distributed=True)


def test_numbers_are_normalized_over_dims(x):
    mean, variance = (f(BLOCK, (0, 1)) for f in (np.nanmean, np.nanvar))
    same(rf.normalize(x, axis=[batch_dim, TIME], epsilon=0.1), (BLOCK - mean) / np.sqrt(variance + 0.1))


def test_labels_are_smoothed(x, kind):
    labels = rf.reduce_argmax(x, axis=FEATURE)
    at = np.nan_to_num(BLOCK).argmax(2)[..., None] == np.arange(4)
    wanted = np.where(at, 0.9, 0.1 / 3)
    same(rf.label_smoothing(labels, 0.1), wanted)
    same(rf.smooth_one_hot(labels, label_prob=0.9), wanted)
    same(rf.label_smoothing(rf.one_hot(labels), 0.1, axis=FEATURE), wanted)
    share = Tensor("s", [], raw_tensor=kind(np.asarray(0.1)))
    same(rf.label_smoothing(labels, share), wanted)
    for call in (lambda: rf.label_smoothing(x, 0.1, axis=TIME), lambda: rf.smooth_one_hot(x, label_prob=0.1)):
        with pytest.raises(ValueError, match="expected classes of a fixed size"):
            call()


def test_paths_of_labels_and_edits(x):
    torch = pytest.importorskip("torch")
    words = SpatialDim("words", [2, 0, 1])
    targets = Tensor(
        "y", [batch_dim, words], raw_tensor=np.array([[1, 3], [9, 9], [2, 9]]), sparse_dim=FEATURE
    )
    dims = {"input_spatial_dim": TIME, "targets_spatial_dim": words}
    logits = rf.convert_to_tensor(torch.from_numpy(BLOCK), dims=x.dims)
    logs = torch.log_softmax(torch.from_numpy(np.nan_to_num(BLOCK)), 2).transpose(0, 1)
    counts = torch.tensor(LENGTHS), torch.tensor([2, 0, 1])
    spelled = torch.tensor([[1, 3], [1, 1], [2, 1]])
    wanted = torch.nn.functional.ctc_loss(logs, spelled, *counts, blank=0, reduction="none")
    loss = rf.ctc_loss(logits=logits, targets=targets, blank_index=0, use_native_op=True, **dims)
    np.testing.assert_allclose(loss.values.numpy(), wanted.numpy(), atol=1e-9)
    logs = rf.log_softmax(logits, axis=FEATURE)
    again = rf.ctc_loss(logits=logs, logits_normalized=True, targets=targets, blank_index=0, **dims)
    np.testing.assert_allclose(again.values.numpy(), wanted.numpy(), atol=1e-9)
    for word, value in (("max_approx", True), ("label_loop", False)):
        with pytest.raises(ValueError, match=word):
            rf.ctc_loss(logits=logits, targets=targets, blank_index=0, **dims, **{word: value})
    distance = rf.edit_distance(targets, words, targets + 1, words, dtype="int64")
    assert distance.values.tolist() == [2, 0, 1]
    assert distance.values.dtype == np.int64


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_is_that_of_each_row(x, is_causal):
    asked, _ = rf.replace_dim(x, in_dim=TIME, out_dim=(dim := Dim(None, name="asked")))
    options = {"causal_query_spatial_dim": dim} if is_causal else {"att_dropout": 0.5, "scale": 0.5}
    result = rf.dot_attention(asked, x, x + 1, key_dim=FEATURE, axis=TIME, **options)
    wanted = []
    for row, n in zip(BLOCK, LENGTHS, strict=True):
        energy = row[:n] @ row[:n].T / 2
        weights = np.exp(np.where(np.tri(n) > 0, energy, -np.inf) if is_causal else energy)
        wanted.append(weights / weights.sum(1, keepdims=True) @ (row[:n] + 1))
    assert result.dims_set == {batch_dim, dim, FEATURE}
    same(rf.cast(result, "float64").copy_transpose([batch_dim, dim, FEATURE]), wanted)
    with pytest.raises(ValueError, match="query: has 'time'"):
        rf.dot_attention(x, x, x, key_dim=FEATURE, axis=TIME)


@pytest.mark.parametrize(
    ("sides", "before"), [({}, 1), ({"window_right": 0}, 3), ({"window_left": Dim(0)}, 0)]
)
@pytest.mark.parametrize("stride", [1, 2])
def test_windows_go_along_rows(x, sides, before, stride):
    width = Dim(4, name="width")
    result, dim = rf.window(x, spatial_dim=TIME, window_dim=width, pad_value=7.0, stride=stride, **sides)
    wanted = []
    for row, n in zip(BLOCK, LENGTHS, strict=True):
        padded = np.pad(row[:n], ((before, 3 - before), (0, 0)), constant_values=7.0)
        wanted.append([padded[k : k + 4] for k in range(0, n, stride)])
    same(result, wanted, [len(row) for row in wanted])
    assert dim == (TIME if stride == 1 else TIME.ceildiv_right(2))
    assert result.dims == (batch_dim, dim, width, FEATURE)


def test_windows_are_refused_that_are_not_as_wide_as_their_sides(x):
    width = Dim(2, name="width")
    with pytest.raises(ValueError, match=r"window_left: 1 \+ 1 \+ 1 differs from the size of window_dim, 2"):
        rf.window(x, spatial_dim=TIME, window_dim=width, window_left=1, window_right=1)
    valid, dim = rf.window(x, spatial_dim=TIME, window_dim=width, padding="valid", use_mask=True)
    same(
        valid,
        [[row[k : k + 2] for k in range(n - 1)] for row, n in zip(BLOCK, LENGTHS, strict=True)],
        [2, 0, 1],
    )
    assert dim == TIME - width + 1


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_pooling_is_that_of_each_row(x, mode):
    function = {"max": np.max, "avg": np.mean}[mode]
    options = {"mode": mode, "pool_size": 2, "padding": "same"}
    result, dim = rf.pool1d(x, in_spatial_dim=TIME, **options)
    rows = [row[:n] for row, n in zip(BLOCK, LENGTHS, strict=True)]
    wanted = [[function(row[k : k + 2], 0) for k in range(0, len(row), 2)] for row in rows]
    same(result, wanted, [2, 0, 1])
    assert dim == TIME.ceildiv_right(2)
    several, dims = rf.pool(x, nd=1, in_spatial_dims=TIME, out_spatial_dims=Dim(None, name="out"), **options)
    same(several, wanted, [2, 0, 1])
    assert dims[0].name == "out"
    if mode == "max":
        same(rf.max_pool1d(x, pool_size=2, padding="same", in_spatial_dim=TIME)[0], wanted, [2, 0, 1])
        both, dims = rf.max_pool(x, pool_size=(1, 2), in_spatial_dims=[TIME, FEATURE])
        same(both, BLOCK.reshape(3, 3, 2, 2).max(3))
        assert dims[0] == TIME
    with pytest.raises(ValueError, match="mode: expected 'max' or 'avg'"):
        rf.pool(x, mode="min", pool_size=2, in_spatial_dims=TIME)
    with pytest.raises(ValueError, match="nd: 2, but there are 1 dims"):
        rf.pool(x, nd=2, mode="max", pool_size=2, in_spatial_dims=TIME)


def test_convolutions_are_those_of_each_row(x, kind):
    taps, out = Dim(2, name="taps"), Dim(3, name="out")
    numbers = np.random.default_rng(1).normal(size=(2, 4, 3))
    weights = Tensor("w", [taps, FEATURE, out], raw_tensor=kind(numbers))
    bias = Tensor("b", [out], raw_tensor=kind(np.arange(3.0)))
    dims = {"in_dim": FEATURE, "out_dim": out, "in_spatial_dims": [TIME], "filter": weights}
    dims |= {"filter_size": [taps], "bias": bias}
    shorter, (dim,) = rf.conv(x, padding="valid", strides=[1], **dims)
    wanted = [
        [np.einsum("ti,tio->o", row[k : k + 2], numbers) + np.arange(3.0) for k in range(n - 1)]
        for row, n in zip(BLOCK, LENGTHS, strict=True)
    ]
    same(shorter, wanted, [2, 0, 1])
    assert [dim] == rf.make_conv_out_spatial_dims([TIME], filter_size=taps, padding="valid")
    assert rf.conv(x, padding="same", out_spatial_dims=[TIME], **dims)[1] == [TIME]
    longer, (dim,) = rf.transposed_conv(x, padding="valid", **dims)
    copies = np.einsum("bti,kio->btko", BLOCK, numbers) + np.arange(3.0)
    same(longer, copies.reshape(3, 6, 3), [6, 0, 4])
    assert dim == TIME * 2
    cut, _ = rf.transposed_conv(x, padding="valid", remove_padding=1, **dims)
    same(cut, copies.reshape(3, 6, 3)[:, 1:], [4, 0, 2])
    with pytest.raises(ValueError, match="in_spatial_dims: expected one"):
        rf.conv(x, padding="valid", **dims | {"in_spatial_dims": [TIME, FEATURE]})
    with pytest.raises(ValueError, match="filter_size: 'time' is not among"):
        rf.conv(x, padding="valid", **dims | {"filter_size": [TIME]})
    with pytest.raises(ValueError, match="output_padding"):
        rf.transposed_conv(x, padding="valid", output_padding=1, **dims)


def test_places_are_counted_and_averaged(x, kind):
    places = Tensor("i", [batch_dim, TIME], raw_tensor=kind(np.array([[0, 2, 2], [0, 0, 0], [1, 1, 0]])))
    bins = Dim(3, name="bins")
    to = {"indices": rf.set_sparse_dim(places, bins), "indices_dim": TIME}
    assert rf.scatter_count(**to).to_list() == [[1, 0, 2], [0, 0, 0], [0, 2, 0]]
    assert rf.scatter_count(**to, fill_value=-1).to_list() == [[1, -1, 2], [-1, -1, -1], [-1, 2, -1]]
    zeros = np.zeros(4)
    mean = rf.scatter_mean(x, **to, fill_value=0.0)
    wanted = [[BLOCK[0, 0], zeros, BLOCK[0, 1:].mean(0)], [zeros] * 3, [zeros, BLOCK[2, :2].mean(0), zeros]]
    same(mean, wanted, [3, 3, 3])
    same(rf.exp(rf.scatter_logsumexp(x, **to)), rf.scatter(rf.exp(x), **to).raw_tensor, [3, 3, 3])
    assert rf.scatter(x, **to, use_mask=False).dims == (batch_dim, bins, FEATURE)


def test_numbers_are_found_in_rows(x, kind):
    ordered, _, _ = rf.sort(x, axis=TIME, stable=True)
    bounds = Tensor("v", [batch_dim, FEATURE], raw_tensor=kind(np.zeros((3, 4))))
    for side in ("left", "right"):
        found = rf.search_sorted(ordered, bounds, axis=TIME, side=side)
        wanted = [(row[:n] < 0).sum(0).tolist() for row, n in zip(BLOCK, LENGTHS, strict=True)]
        assert found.copy_transpose([batch_dim, FEATURE]).to_list() == wanted
        assert str(found.dtype).endswith("int32")
    same(rf.top_k_mask(x, axis=FEATURE, k=2), np.sort(BLOCK, 2)[..., 2:3] <= BLOCK)
    k = Tensor("k", [], raw_tensor=np.asarray(2))
    assert rf.top_k(x, axis=FEATURE, k=k, sorted=False)[2].size == 2


def test_what_means_nothing_here_is_taken(x):
    assert rf.concat((x, TIME), (x, TIME), handle_dynamic_dims=True)[1] == TIME + TIME
    scalar = Tensor("s", [], raw_tensor=np.asarray(7.0))
    padded, _ = rf.pad(x, axes=[TIME], padding=[(1, 0)], value=scalar, handle_dynamic_dims=False)
    same(padded, np.pad(BLOCK, ((0, 0), (1, 0), (0, 0)), constant_values=7.0), [4, 1, 3])
    same(
        rf.shift_right(x, axis=TIME, pad_value=scalar),
        np.pad(BLOCK, ((0, 0), (1, 0), (0, 0)), constant_values=7.0),
    )
    with pytest.raises(ValueError, match="value: expected a number, or a tensor without dims"):
        rf.pad(x, axes=[TIME], padding=[(1, 0)], value=rf.reduce_sum(x, axis=FEATURE))
    assert rf.reverse_sequence(x, axis=TIME, handle_dynamic_dims=False).dims == x.dims
    frames, flat = rf.pack_padded(x, dims=[batch_dim, TIME], enforce_sorted=True)
    assert frames.dims == (flat, FEATURE)
    to = {"axis": FEATURE, "dims": [Dim(None, name="n"), Dim(3, name="three")]}
    for pads, value in ((True, None), (None, 0), (True, 0)):
        parts = rf.split_dims(x, **to, pad_to_multiples=pads, pad_value=value)
        same(parts, np.pad(BLOCK, ((0, 0), (0, 0), (0, 2))).reshape(3, 3, 2, 3))
    with pytest.raises(ValueError, match="4"):
        rf.split_dims(x, **to, pad_to_multiples=False, pad_value=0)
    counts = rf.cast(rf.ones([batch_dim, TIME]), "int64")
    same(rf.repeat(values=x, in_spatial_dim=TIME, repeats=counts)[0], BLOCK)
    assert rf.dropout(x, scalar / 10).dims == x.dims


def test_random_numbers_are_drawn_as_is_said():
    dims = [batch_dim, TIME, Dim(999, name="many")]
    uniform = rf.random_uniform(
        dims, minval=2, maxval=Tensor("m", [], raw_tensor=np.asarray(3.0)), static=True
    )
    assert uniform.dtype == "float32"
    assert uniform.dims == tuple(dims)
    assert 2 <= uniform.values.min() < uniform.values.max() < 3
    bounded = rf.random(dims, distribution="uniform", bound=0.5, dtype="float64", algorithm="philox")
    assert -0.5 <= bounded.values.min() < -0.4
    assert 0.4 < bounded.values.max() < 0.5
    words = Dim(5, name="words")
    ints = rf.random_uniform(dims, dtype="int32", sparse_dim=words, maxval=5, auto_update_state=True)
    assert set(ints.values.ravel().tolist()) == set(range(5))
    assert ints.sparse_dim == words
    normal = rf.random_normal(dims, mean=3.0, stddev=0.5, seed=[1, 2])
    assert normal.values.tolist() == rf.random_normal(dims, mean=3.0, stddev=0.5, seed=[1, 2]).values.tolist()
    assert normal.values.mean() == pytest.approx(3, abs=0.1)
    assert normal.values.std() == pytest.approx(0.5, abs=0.05)
    cut = rf.random_truncated_normal(dims, stddev=0.5, minval=-1.0, maxval=1.0, feature_dim=dims[2])
    assert abs(cut.values).max() <= 1
    assert cut.feature_dim == dims[2]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"distribution": "gamma"}, "distribution: expected 'uniform', 'normal'"),
        ({"distribution": "normal", "explicit_state": 1}, "explicit_state: expected None"),
        ({"distribution": "normal", "out": 1}, "out: expected None"),
        (
            {"distribution": "truncated_normal", "maxval": 1.0},
            "maxval: expected 2.0, two standard deviations",
        ),
    ],
)
def test_random_numbers_of_another_kind_are_refused(options, text):
    with pytest.raises(ValueError, match=text):
        rf.random([FEATURE], **options)


def test_step_tells_its_number():
    try:
        rf.init_train_step_run_ctx(step=5, epoch=2)
        assert rf.get_run_ctx() == rf.RunCtx(stage="train_step", train_flag=True, step=5, epoch=2)
        assert rf.get_run_ctx_step() == 5
        rf.init_forward_step_run_ctx(expected_outputs=None, step=7)
        assert rf.get_run_ctx() == rf.RunCtx(stage="forward_step", step=7)
    finally:
        rf.reset_run_ctx()
    assert rf.get_run_ctx_step() == 0
    assert isinstance(rf.range_over_dim(TIME), vl.Data)


def test_dims_that_are_not_there_are_named(x):
    other, width = SpatialDim("other", [1, 2, 3]), Dim(2, name="width")
    weights = rf.ones([width, FEATURE, out := Dim(1, name="out")])
    options = {
        "in_dim": FEATURE,
        "out_dim": out,
        "filter": weights,
        "filter_size": [width],
        "padding": "same",
    }
    for call in (
        lambda: rf.window(x, spatial_dim=other, window_dim=width),
        lambda: rf.max_pool1d(x, pool_size=2, in_spatial_dim=other),
        lambda: rf.conv(x, in_spatial_dims=[other], **options),
        lambda: rf.transposed_conv(x, in_spatial_dims=[other], **options),
        lambda: rf.slice(x, axis=other, start=1),
        lambda: rf.top_k_mask(x, axis=other, k=1),
        lambda: rf.replace_dim(x, in_dim=other),
    ):
        with pytest.raises(IndexError, match="'other' is not among"):
            call()


def test_page_says_what_is_there_and_what_is_not():
    page = (house.ROOT / "docs/coming/returnn.md").read_text()
    gone = page.split("## What varlen lacks")[1]
    for name in re.findall(r"`rf\.(\w+)", page):
        assert name in rf.__all__, name
    rows = [line.split("|")[1] for line in gone.splitlines() if line.startswith("| `")]
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert len(names) > 50
    assert not set(names) & set(dir(rf))


def test_new_tensors_are_like_another(kind):
    like = rf.cast(Tensor("x", [FEATURE], raw_tensor=kind(np.arange(4))), "float16")
    some = [FEATURE, Dim(2, name="two")]
    made = [
        rf.zeros(some, like=like),
        rf.ones(some, like=like),
        rf.full(dims=some, fill_value=3, like=like),
        rf.full(dims=some, fill_value=like, like=like),
        rf.constant(0.5, dims=some, like=like),
        rf.random_uniform(some, like=like),
        rf.random_normal(some, like=like),
        rf.random_truncated_normal(some, like=like),
        rf.random(some, distribution="normal", like=like),
    ]
    for x in made:
        assert [x.dtype, type(x.values), x.dims] == ["float16", type(like.values), tuple(some)]
    assert rf.ones(some, dtype="int32", like=like).dtype == "int32"
    assert type(rf.sequence_mask(TIME, like=like).values) is type(like.values)


def test_mean_of_a_class_without_rows_is_0(x):
    words = Dim(3, name="words")
    ids = rf.set_sparse_dim(Tensor("ids", [FEATURE], raw_tensor=np.array([2, 0, 2, 0])), words)
    ids = ids if isinstance(x.values, np.ndarray) else ids.torch()
    for found in (
        rf.scatter_mean(x, indices=ids, indices_dim=FEATURE),
        rf.scatter(x, indices=ids, indices_dim=FEATURE, mode="mean"),
    ):
        places = found.copy_transpose([batch_dim, TIME, words])
        same(
            places,
            np.stack([BLOCK[..., 1::2].mean(-1), 0 * BLOCK[..., 0], BLOCK[..., ::2].mean(-1)], axis=-1),
        )
    found = rf.scatter_mean(x, indices=ids, indices_dim=FEATURE, fill_value=7.0)
    assert np.unique(np.asarray(rf.gather(found, axis=words, indices=1).values)).tolist() == [7.0]


def test_windows_have_the_dim_that_was_asked_for(x):
    for sides in ({}, {"window_right": 0}, {"stride": 2}):
        out, width = Dim(None, name="out"), Dim(2, name="width")
        y, dim = rf.window(x, spatial_dim=TIME, window_dim=width, out_spatial_dim=out, **sides)
        assert dim == out
        assert y.dims == (batch_dim, out, width, FEATURE)


def test_repeats_are_scaled_where_a_row_becomes_too_long():
    counts = Tensor("n", [batch_dim, TIME], "int32", raw_tensor=np.array([[1, 9, 0], [0, 0, 0], [2, 2, 0]]))
    found, dim = rf.repeat(counts, in_spatial_dim=TIME, repeats=counts, max_len_factor=2)
    assert found.to_list() == [[1, 9, 9, 9, 9, 9], [], [2, 2, 2, 2]]
    assert dim.lengths.tolist() == [6, 0, 4]
    assert rf.repeat(counts, in_spatial_dim=TIME, repeats=5, max_len_factor=2)[1].lengths.tolist() == [
        6,
        0,
        4,
    ]
    with pytest.raises(ValueError, match="max_len_factor: expected at least 1"):
        rf.repeat(counts, in_spatial_dim=TIME, repeats=counts, max_len_factor=0.5)


def test_positions_of_a_tensor_are_counted(x):
    assert rf.num_elements_of_shape([batch_dim, TIME], source=x) == 5
    lengths = rf.num_elements_of_shape(TIME, source=x)
    assert lengths.to_list() == LENGTHS
    assert type(lengths.values) is type(x.values)
    with pytest.raises(ValueError, match="lacks 'other'"):
        rf.num_elements_of_shape(Dim(2, name="other"), source=x)
    with pytest.raises(ValueError, match="distributed"):
        rf.num_elements_of_shape(TIME, distributed=True)


def test_moments_are_of_the_dtype_that_is_asked_for(x):
    half = rf.cast(x, "float16")
    assert [each.dtype for each in rf.moments(half, TIME)] == ["float16"] * 2
    assert [each.dtype for each in rf.moments(half, TIME, compute_dtype="float32")] == ["float32"] * 2


# What a function is given beside the tensor that is wrong, by the name of the argument.
BESIDE = {"distribution": "normal", "mode": "max", "kind": "+", "axes": [TIME], "axis": TIME, "padding": 1}


def tensors_of(function):
    """The arguments of a function that are tensors, or tensors and numbers."""
    parameters = inspect.signature(function).parameters
    return [name for name, each in parameters.items() if each.annotation.partition(" |")[0] == "Data[Any]"]


FUNCTIONS = [name for name in rf.__all__ if inspect.isfunction(f := getattr(rf, name)) and tensors_of(f)]


def test_most_functions_of_the_frontend_take_tensors():
    assert len(FUNCTIONS) > 120


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_has_no_dims_is_refused_by_the_name_of_the_argument(name):
    function = getattr(rf, name)
    tensors, parameters = tensors_of(function), inspect.signature(function).parameters
    fit = Tensor("x", [batch_dim, TIME, FEATURE], raw_tensor=BLOCK.copy())
    needed = [
        each for each, p in parameters.items() if p.default is p.empty and p.kind is not p.VAR_POSITIONAL
    ]
    for wrong in tensors:
        call = inspect.signature(function).bind_partial()
        several = parameters[wrong].kind is inspect.Parameter.VAR_POSITIONAL
        for given in (np.zeros(3), [0.0, 1.0]):
            values = {each: fit if each in tensors else BESIDE.get(each) for each in needed}
            values[wrong] = (given,) if several else given
            call.arguments = {each: values[each] for each in parameters if each in values}
            argument = f"{wrong}[0]" if several else wrong
            with pytest.raises(TypeError, match="expected a Tensor") as caught:
                function(*call.args, **call.kwargs)
            assert caught.value.argument == argument
