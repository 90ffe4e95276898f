"""RETURNN's names: tensors of rectangles, templates, functions of its frontend, and its own objects."""

import copy
import importlib
import io
import pickle

import numpy as np
import pytest
import varlen as vl
import varlen.returnn.frontend as rf
from varlen.dims import DataDict, DataSpec, DataSpecs, LengthMismatchError, OutShapeError
from varlen.returnn import (
    Dim,
    FeatureDim,
    SpatialDim,
    Tensor,
    TensorDict,
    batch_dim,
    from_returnn,
    to_returnn,
)
from varlen.returnn.tensor import as_tensor

TIME, FEATURE = SpatialDim("time", [3, 0, 2]), FeatureDim("feature", 4)
BLOCK = np.arange(36.0).reshape(3, 3, 4)
BLOCK[1] = BLOCK[2, 2] = np.nan


@pytest.fixture(params=["numpy", "torch"])
def x(request):
    torch = pytest.importorskip("torch")
    block = BLOCK if request.param == "numpy" else torch.from_numpy(BLOCK)
    return Tensor("x", dims=[batch_dim, TIME, FEATURE], dtype="float64", raw_tensor=block)


def test_tensor_has_the_valid_values_of_a_rectangle(x):
    assert x.dims == (batch_dim, TIME, FEATURE)
    assert x.values.tolist() == [*BLOCK[0].tolist(), *BLOCK[2, :2].tolist()]
    assert x.raw_tensor.tolist() == np.nan_to_num(BLOCK).tolist()
    assert x.name == "x"
    assert x.get_sequence_lengths().tolist() == [3, 0, 2]
    assert x.dims_set == {batch_dim, TIME, FEATURE}


def test_tensor_without_values_is_a_template():
    template = Tensor("x", [batch_dim, TIME], "int32", sparse_dim=FEATURE)
    assert isinstance(template, DataSpec)
    assert template.sparse_dim == FEATURE
    schema = TensorDict({"data": template, "classes": {"dim_tags": [batch_dim], "dtype": "int64"}})
    assert isinstance(schema, DataSpecs)
    assert schema.data["classes"].get_axis_from_description("B") == 0
    assert schema["data"] is template
    assert schema.copy_template().for_inference()["data"].name == "x"
    assert list(schema) == ["data", "classes"]


def test_dtype_is_a_string(x):
    assert x.dtype == "float64"
    assert rf.is_float_dtype(x.dtype)
    assert not rf.is_float_dtype(rf.reduce_argmax(x, axis=FEATURE).dtype)
    assert (x > 1).dtype == "bool"
    if not isinstance(x.values, np.ndarray):
        half = rf.cast(x, "bfloat16")
        assert half.dtype == half.copy_template().dtype == "bfloat16"
        assert rf.zeros(x.dims, like=half).dtype == rf.cast(x, half.dtype).dtype == "bfloat16"


@pytest.mark.parametrize("is_template", [False, True])
def test_axes_are_told_with_values_and_without(x, is_template):
    both = [batch_dim, SpatialDim("time"), FEATURE]
    y = Tensor("x", both, "float32") if is_template else x
    time = both[1] if is_template else TIME
    assert [y.get_axis_from_description(word) for word in ("B", "T", "F", time, "stag:tim")] == [
        0,
        1,
        2,
        1,
        1,
    ]
    assert y.get_axes_from_description("except_batch") == [1, 2]
    assert y.get_dim_tag_from_description("time") == y.get_dim_tag(1) == y.get_time_dim_tag() == time
    assert [y.batch_dim_axis, y.time_dim_axis, y.feature_dim_axis] == [0, 1, 2]
    assert [y.batch_shape, y.shape, y.dim, y.batch_ndim] == [(None, None, 4), (None, 4), 4, 3]
    assert [y.is_batch_major, y.is_time_major, y.copy_as_time_major().is_time_major] == [True, False, True]
    assert [y.get_dynamic_axes(), y.get_static_axes(), y.get_spatial_batch_axes()] == [[1], [2], [1]]
    assert [y.get_batch_axis(0), y.get_batch_axis_excluding_batch(2), y.time_dim_axis_excluding_batch] == [
        1,
        1,
        0,
    ]
    assert [y.has_axis("T"), y.has_axis("width"), y.have_dim_tag(FEATURE)] == [True, False, True]
    assert y.remaining_dims([batch_dim, FEATURE]) == [time]
    assert y.copy_transpose([2, batch_dim, time]).dims == (FEATURE, batch_dim, time)
    assert y.copy_move_axis(0, -1).dims == (time, FEATURE, batch_dim)
    assert y.copy_swap_axes(0, 1).dims == (time, batch_dim, FEATURE)
    assert y.copy_as_batch_feature_major().dims == (batch_dim, FEATURE, time)
    assert y.copy_with_feature_dim_axis(0).copy_as_bt_or_tb_major().dims == y.dims
    assert y.copy_template_excluding_time_dim().dims == (batch_dim, FEATURE)
    assert y.copy_template_replace_dim_tag("T", TIME, name="z").name == "z"
    assert y.verify_out_shape(set(both[::2]) | {time}) is y
    for wrong in (lambda: y.get_dim_tag(3), lambda: y.get_axis_from_description("width")):
        with pytest.raises(IndexError):
            wrong()
    with pytest.raises(ValueError, match="perm: expected each of"):
        y.copy_transpose([0, 0, 1])
    with pytest.raises(OutShapeError, match="'time' is not expected"):
        y.verify_out_shape({batch_dim, FEATURE})


def test_template_keeps_what_is_said_of_it():
    words, time = Dim(9, name="words"), SpatialDim("time")
    template = Tensor("x", [batch_dim, time], "int32", sparse_dim=words, available_for_inference=False)
    assert repr(template) == "Template('x', [batch, time], int32, sparse_dim=words(9))"
    assert template.raw_tensor is None
    assert template.copy_as_time_major().sparse_dim == template.feature_dim_or_sparse_dim == words
    assert not template.copy("y").available_for_inference
    dense = template.copy_template_dense()
    assert [dense.dims, dense.dtype, dense.sparse_dim] == [(batch_dim, time, words), "float32", None]
    assert template.dim_tags_set_implicit == {batch_dim, time, words}


def test_tensor_dict_holds_tensors(x):
    batch = TensorDict({"x": x})
    assert isinstance(batch, DataDict)
    assert batch.data["x"] is x
    assert batch.copy_template()["x"].dims == x.dims
    assert list(pickle.loads(pickle.dumps(batch))["x"].lengths()) == [3, 0, 2]


def test_operators_and_functions_give_tensors(x):
    for made in (x + 1, 2 * x, x - x, x > 0, -x, rf.reduce_sum(x, axis=TIME), rf.cast(x, "float32")):
        assert isinstance(made, Tensor)
    assert (x == x).values.all()
    assert hash(x) == hash(x)
    assert x.copy_transpose([FEATURE, TIME, batch_dim]).dims == (FEATURE, TIME, batch_dim)
    bias = Tensor("b", [FEATURE], raw_tensor=np.zeros(4))
    assert bias.copy_compatible_to_dims([batch_dim, FEATURE]).dims == (FEATURE,)


def test_tensor_says_its_class_and_has_the_members_of_the_other_library(x):
    assert repr(x.numpy()) == "Tensor('x', [batch(3), time(0 to 3), feature(4)], float64)"
    assert repr(x.numpy() + 1).startswith("Tensor([batch")
    assert "Tensor" in x._repr_html_()
    assert x.remaining_dims() == list(x.dims)
    assert x.remaining_dims([batch_dim, FEATURE]) == [TIME]
    assert x.remaining_dims(TIME) == [batch_dim, FEATURE]
    with pytest.raises(IndexError, match="'other' is not among"):
        x.remaining_dims(Dim(2, name="other"))
    assert [x.have_batch_axis(), x.have_time_axis(), x.have_feature_axis()] == [True] * 3
    assert [x.has_axis(FEATURE), x.has_axis("spatial"), x.has_axis("stag:tim"), x.has_axis("tim")] == [
        True,
        True,
        True,
        False,
    ]
    several = rf.expand_dim(x, Dim(2, name="head")).copy(feature_dim=None)
    assert several.has_axis("F")
    assert not rf.reduce_sum(x, axis=x.dims[:2]).has_axis("T")
    assert x.get_batch_dim_tag() == batch_dim
    assert x.get_time_dim_tag() == x.get_dim_tag_from_description("T") == TIME
    assert x.num_elements() == 20
    assert x.copy("y").name == "y"
    assert isinstance(x.copy(), Tensor)
    assert x.copy_template(dtype="float32").dtype == "float32"
    assert x.copy_template("y").dims == x.dims
    assert x.copy_masked(-1.0, dims=[TIME]) is x
    assert as_tensor(x.padded()).copy_masked(-1.0).values.tolist()[1] == [[-1.0] * 4] * 3
    assert x.copy_as_time_major().dims == (TIME, batch_dim, FEATURE)
    assert x.copy_as_time_major().copy_as_batch_major().dims[0] == batch_dim
    assert x.copy_transpose([FEATURE, TIME, batch_dim]).copy_with_feature_last().dims[2] == FEATURE


def test_out_shape_is_verified_by_the_words_of_both(x):
    target = rf.reduce_argmax(x, axis=FEATURE)
    wanted = {batch_dim, TIME}
    assert target.verify_out_shape(wanted, allow_missing_implicit_dims=True) is target
    assert target.verify_out_shape(wanted) is target
    for word in ("allow_missing_implicit", "allow_missing_implicit_dims"):
        with pytest.raises(OutShapeError, match="feature"):
            target.verify_out_shape(wanted, **{word: False})


@pytest.mark.parametrize("mode", ["sum", "mean", "max", "min", "logsumexp", "logmeanexp", "argmax", "argmin"])
def test_reductions_are_those_of_dims(x, mode):
    wanted = vl.dims.reduce(x, mode, TIME)
    for result in (getattr(rf, f"reduce_{mode}")(x, axis=TIME), rf.reduce(x, mode=mode, axis=TIME)):
        assert result.dims == (batch_dim, FEATURE)
        np.testing.assert_array_equal(np.asarray(result.values), np.asarray(wanted.values))
    assert getattr(rf, f"reduce_{mode}")(x, axis=TIME, use_mask=False).dims == (batch_dim, FEATURE)


def test_bools_are_reduced(x):
    assert rf.reduce_any(x > 30, axis=[TIME, FEATURE]).to_list() == [False, False, True]
    assert rf.reduce_all(x >= 0, axis=[TIME, FEATURE]).to_list() == [True, True, True]


@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("+", np.add),
        ("sub", np.subtract),
        ("*", np.multiply),
        ("truediv", np.true_divide),
        ("//", np.floor_divide),
        ("mod", np.mod),
        ("**", np.power),
        ("max", np.maximum),
        ("minimum", np.minimum),
    ],
)
def test_operands_are_combined_by_kind(kind, function):
    a = Tensor("a", [batch_dim, TIME], raw_tensor=np.arange(1.0, 10.0).reshape(3, 3))
    b = Tensor("b", [batch_dim], raw_tensor=np.array([2.0, 3.0, 4.0]))
    result = rf.combine(a, kind, b)
    assert result.values.tolist() == function(a.values, np.array([2.0, 2, 2, 4, 4])).tolist()
    assert rf.combine(a, kind, 2.0).values.tolist() == function(a.values, 2.0).tolist()
    assert rf.combine(a, kind, b, dim_order=[TIME]).dims == (TIME, batch_dim)


@pytest.mark.parametrize(
    ("kind", "function"),
    [("==", np.equal), ("not_equal", np.not_equal), ("<", np.less), (">=", np.greater_equal)],
)
def test_operands_are_compared_by_kind(kind, function):
    a = Tensor("a", [FEATURE], raw_tensor=np.arange(4))
    assert rf.compare(a, kind, 2).values.tolist() == function(np.arange(4), 2).tolist()
    with pytest.raises(ValueError, match=r"kind: expected .* got 'like'"):
        rf.compare(a, "like", 2)
    with pytest.raises(ValueError, match="kind"):
        rf.combine(a, kind, 2)


def test_operands_without_a_common_dim_ask_for_it():
    a, b = Tensor("a", [FEATURE], raw_tensor=np.arange(4)), Tensor("b", [batch_dim], raw_tensor=np.arange(3))
    with pytest.raises(ValueError, match="broadcast"):
        rf.combine(a, "+", b)
    assert rf.combine(a, "+", b, allow_broadcast_all_sources=True).ndim == 2


def test_attention_over_two_dynamic_dims(x):
    pytest.importorskip("torch")
    source = SpatialDim("source", [2, 1, 3])
    y = rf.convert_to_tensor(np.ones((3, 3, 4)), dims=[batch_dim, source, FEATURE])
    y = y if isinstance(x.values, np.ndarray) else y.torch()
    energy = rf.matmul(x, y, reduce=FEATURE)
    weights = rf.softmax(energy, axis=source, use_mask=True)
    assert weights.dims == (batch_dim, TIME, source)
    context = rf.dot(weights, y, reduce=source, use_mask=False)
    assert context.dims_set == {batch_dim, TIME, FEATURE}
    np.testing.assert_allclose(np.asarray(context.values), 1.0)
    greatest = np.asarray(rf.log_softmax(energy, axis=source).values).max()
    np.testing.assert_allclose(greatest, -np.log(2))  # of two positions or three


def test_dims_are_added(x):
    pytest.importorskip("torch")
    head = Dim(2, name="head")
    assert rf.expand_dim(x, head).dims_set == {*x.dims, head}
    assert rf.expand_dims(x, [head, Dim(3, name="more")]).ndim == 5
    assert rf.copy_to_device(x.torch(), "cpu").device == "cpu"
    assert rf.where(x > 5, x, 0.0).dims == x.dims
    assert rf.convert_to_tensor(x) is x


def test_rectangle_of_other_lengths_is_refused():
    with pytest.raises(LengthMismatchError, match="'time' is 3 long, but axis 1 of block is 2 long"):
        Tensor("x", [batch_dim, TIME, FEATURE], raw_tensor=BLOCK[:, :2])


def test_tensors_of_the_other_library_come_and_go():
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("returnn.tensor")
    lengths = theirs.Tensor(
        "t", dims=[theirs.batch_dim], dtype="int32", raw_tensor=torch.tensor([2, 1], dtype=torch.int32)
    )
    time = theirs.Dim(lengths, name="time")
    feature = theirs.Dim(3, name="feature", kind=theirs.Dim.Types.Feature)
    raw = torch.arange(12.0).reshape(2, 2, 3)
    x = theirs.Tensor("x", dims=[theirs.batch_dim, time, feature], dtype="float32", raw_tensor=raw)
    y = theirs.Tensor(
        "y",
        dims=[theirs.batch_dim, time],
        dtype="int64",
        sparse_dim=feature,
        raw_tensor=torch.tensor([[1, 2], [0, 99]]),
    )
    dims = {}
    a, b = from_returnn(x, dims), from_returnn(y, dims)
    assert a.dims[:2] == b.dims
    assert b.sparse_dim == a.dims[2]
    assert a.to_list() == [raw[0].tolist(), raw[1, :1].tolist()]
    assert b.to_list() == [[1, 2], [0]]
    back = {}
    again, other = to_returnn(a, back), to_returnn(b, back)
    assert again.dims[:2] == other.dims
    assert again.dims[1].dyn_size_ext.raw_tensor.tolist() == [2, 1]
    assert again.raw_tensor.tolist() == a.raw_tensor.tolist()
    assert from_returnn(again).to_list() == a.to_list()
    inner = vl.Dim("inner").bind([1, 3, 0], a.dims[:2])
    nested = vl.Data(torch.arange(4), [*inner.over, inner])
    assert from_returnn(to_returnn(nested)).to_list() == nested.to_list() == [[[0], [1, 2, 3]], [[]]]


def test_the_other_library_is_asked_for_where_it_is_needed(x):
    try:
        importlib.import_module("returnn")
    except ImportError:
        with pytest.raises(ImportError, match="returnn"):
            to_returnn(x)


def test_moves_are_those_of_dims(x):
    both, total = rf.concat((x, TIME), (x, TIME))
    assert total == TIME + TIME
    first, second = rf.split(both, axis=total, out_dims=[TIME, TIME.copy(name="again", same_as_self=False)])
    assert first.to_list() == second.to_list() == x.to_list()
    padded, (longer,) = rf.pad(x, axes=[TIME], padding=[(2, 1)], value=0.0)
    assert longer == 2 + TIME + 1
    assert rf.pad(x, axes=[TIME], padding=(2, 1))[0].dims == padded.dims
    assert rf.slice(padded, axis=longer, start=2, end=-1)[0].to_list() == x.to_list()
    backwards = rf.reverse_sequence(x, axis=TIME)
    assert backwards.to_list() == [row[::-1] for row in x.to_list()]
    right = rf.shift_right(x, axis=TIME, pad_value=0.0)
    assert right.to_list()[2] == [[0.0] * 4, x.to_list()[2][0]]
    left = rf.shift_left(x, axis=TIME, pad_value=0.0)
    assert left.to_list()[2] == [x.to_list()[2][1], [0.0] * 4]
    many, count = rf.stack([x, x])
    assert many.dims_set == {*x.dims, count}


def test_picks_are_those_of_dims(x):
    frames, flat = rf.pack_padded(x, dims=x.dims[:2])
    assert frames.to_list() == [frame for row in x.to_list() for frame in row]
    assert rf.pad_packed(frames, in_dim=flat, dims=x.dims[:2]).to_list() == x.to_list()
    assert rf.pad_packed(frames, in_dim=flat, dims=[batch_dim, TIME]).to_list() == x.to_list()
    score = rf.reduce_sum(x, axis=FEATURE)
    kept, some = rf.masked_select(x, mask=score > 10, dims=[TIME])
    assert kept.lengths(some).tolist() == [2, 0, 2]
    again = rf.masked_scatter(kept, x, mask=score > 10, dims=[TIME], in_dim=some)
    assert again.to_list() == x.to_list()
    best, places, dim = rf.top_k(x, axis=FEATURE, k=2)
    assert best.to_list()[0][0] == [3.0, 2.0]
    assert places.sparse_dim == FEATURE
    assert dim.size == 2
    assert rf.gather(x, indices=places).transpose([*x.dims[:2], dim]).to_list() == best.to_list()
    assert rf.cumsum(x, spatial_dim=TIME).dims == x.dims
    ordered, order, _ = rf.sort(-score, axis=TIME)
    assert (-rf.gather(score, indices=order, axis=TIME)).to_list() == ordered.to_list()
    merged, product = rf.merge_dims(rf.expand_dim(x, Dim(2, name="head")), dims=["head", FEATURE])
    assert product.size == 8
    assert rf.split_dims(merged, axis=product, dims=[Dim(2, name="h"), FEATURE]).ndim == 4


def test_losses_and_values_are_those_of_dims(x):
    target = rf.reduce_argmax(x, axis=FEATURE)
    loss = rf.cross_entropy(estimated=x, target=target, axis=FEATURE, estimated_type="logits")
    assert loss.dims == (batch_dim, TIME)
    hot = rf.one_hot(target)
    assert hot.dims_set == set(x.dims)
    assert rf.range_over_dim(TIME, dtype="int32").dtype == "int32"
    assert rf.zeros(x.dims).values.sum() == 0
    assert rf.ones(x.dims, dtype="float32").values.sum() == 20
    assert rf.full(dims=[FEATURE], fill_value=3, dtype="int64", sparse_dim=FEATURE).sparse_dim == FEATURE
    assert isinstance(rf.relu(x), Tensor)
    np.testing.assert_allclose(np.asarray(rf.log(rf.exp(x)).values), np.asarray(x.values))


def test_dropout_drops_under_the_train_flag_alone(x):
    torch = pytest.importorskip("torch")

    def has_dropped(**options):
        return (np.asarray(rf.dropout(x, 0.99, **options).values) == 0).sum() > 5

    assert rf.get_run_ctx().stage == "init"
    try:
        assert not has_dropped()
        assert has_dropped(on_forward=True)
        rf.init_train_step_run_ctx(train_flag=True)
        assert has_dropped()
        assert has_dropped(axis=False)
        rf.init_train_step_run_ctx(train_flag=torch.tensor(False))
        assert rf.get_run_ctx() == rf.RunCtx(stage="train_step", train_flag=False)
        assert rf.dropout(x, 0.99).to_list() == x.to_list()
        rf.init_forward_step_run_ctx()
        assert rf.get_run_ctx().stage == "forward_step"
        assert not has_dropped()
    finally:
        rf.reset_run_ctx()


def test_dtypes_of_numbers_are_float32_and_int32_and_those_of_lists_are_of_numpy():
    torch = pytest.importorskip("torch")
    assert rf.zeros([FEATURE]).dtype == rf.ones([FEATURE]).dtype == "float32"
    assert rf.zeros([FEATURE], dtype="int64").dtype == rf.ones([FEATURE], dtype="int64").dtype == "int64"
    wanted = [
        (0.5, "float32"),
        (2, "int32"),
        (True, "bool"),
        (np.float64(2), "float64"),
        (np.int8(2), "int8"),
    ]
    for value, dtype in wanted:
        assert rf.full(dims=[FEATURE], fill_value=value).dtype == np.dtype(dtype)
        assert rf.convert_to_tensor(value).dtype == np.dtype(dtype)
    assert rf.full(dims=[FEATURE], fill_value=2, dtype="float64").dtype == "float64"
    assert rf.convert_to_tensor([0.5] * 4, dims=[FEATURE]).dtype == "float64"
    assert rf.convert_to_tensor(np.zeros(4), dims=[FEATURE]).dtype == "float64"
    assert rf.convert_to_tensor(torch.zeros(4).double(), dims=[FEATURE]).dtype == "float64"
    assert rf.convert_to_tensor([1, 0], dims=[Dim(2, name="two")], sparse_dim=FEATURE).dtype == "int64"
    with pytest.raises(OverflowError, match=r"1099511627776 does not fit int32.*pass dtype='int64'"):
        rf.convert_to_tensor(2**40)
    assert rf.convert_to_tensor(2**40, dtype="int64").item() == 2**40


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), "torch"])
def test_tensors_stay_tensors_when_they_are_copied_and_saved(way):
    time, feature = Dim("time", lengths=[2, 1]), Dim("feature", 3)
    x = Tensor("x", [batch_dim, time, feature], "float32", raw_tensor=np.ones((2, 2, 3), np.float32))
    if way == "torch":
        torch = pytest.importorskip("torch")
        file = io.BytesIO()
        torch.save(x, file)
        file.seek(0)
        result = torch.load(file, weights_only=True)
    else:
        result = way(x)
    assert type(result) is Tensor
    assert result.dtype == "float32"
    assert result.dims == x.dims
    assert result.raw_tensor.tolist() == x.raw_tensor.tolist()
