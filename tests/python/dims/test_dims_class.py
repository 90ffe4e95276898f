"""Data: how it is made and refused, which dims words mean, and what is said of it."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen import Data, Dim
from varlen._core import Shape
from varlen.dims import (
    AmbiguousAxisError,
    FeatureDim,
    ImplicitDim,
    ImplicitDynSizeDim,
    ImplicitSparseDim,
    LengthMismatchError,
    OptionalDim,
    OutShapeError,
    SpatialDim,
    batch_dim,
    combine,
    concat,
    cumprod,
    cumsum,
    dot,
    reduce,
    repeat,
    softmax,
    top_k,
    where,
)

TIME = SpatialDim("time", [3, 0, 2])
SOURCE = SpatialDim("source", [2, 4, 1])
MODEL = FeatureDim("model", 4)
BATCH = TIME.over[0]


def of(*dims, dtype="float64"):
    shape = Shape([dims[k] for k in Shape.arranged(dims, static_last=True)])
    count = int(np.prod(shape.array_shape))
    return Data(np.arange(count, dtype=dtype).reshape(shape.array_shape), shape.dims)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda: Data(np.zeros(4), [BATCH, TIME]),
            ValueError,
            r"expected the shape \(5,\) of \[batch\(3\), time",
        ),
        (
            lambda: Data(np.zeros((3, 3)), [BATCH, TIME]),
            ValueError,
            "rectangle with padding .* Data.from_padded",
        ),
        (
            lambda: Data(np.zeros(5), ["batch", TIME]),
            TypeError,
            r"dims\[0\]: expected a Dim, got 'batch'; make one",
        ),
        (lambda: Data(np.zeros(5), TIME), TypeError, "dims: expected a sequence of dims"),
        (
            lambda: Data(np.zeros(5), [TIME, BATCH]),
            ValueError,
            "'time' has lengths over 'batch', which has to come",
        ),
        (
            lambda: Data(np.zeros((4, 4)), [MODEL, MODEL]),
            ValueError,
            "'model' is in it twice; tell them apart",
        ),
        (lambda: Data(np.zeros(3), [Dim("a"), Dim("b")]), ValueError, "'b' has no lengths"),
        (
            lambda: Data(np.zeros(5), [BATCH.bind(4), TIME]),
            LengthMismatchError,
            "'batch' has length 4 in one and 3",
        ),
        (
            lambda: Data(np.zeros(4), [MODEL], sparse_dim=MODEL),
            TypeError,
            "positions of a sparse_dim are integers",
        ),
        (
            lambda: Data(np.arange(4) + 1, [MODEL], sparse_dim=Dim("w", 4)),
            ValueError,
            r"4 at position 3 is no .* w\(4\)",
        ),
        (lambda: Data(np.zeros(4), [MODEL], beam=True), TypeError, "beam: expected a Beam, got bool"),
        (lambda: Data(np.zeros(4), [MODEL], name=3), TypeError, "name: expected a str, got int"),
        (lambda: Data(np.zeros(4), [MODEL]).copy(name=3), TypeError, "name: expected a str, got int"),
        (
            lambda: Data(np.zeros(4), [MODEL], time_dim=TIME),
            ValueError,
            r"time_dim: .* is not among \[model\(4\)\]",
        ),
        (
            lambda: Data.from_list([[1], [2, 3]], [BATCH, TIME]),
            LengthMismatchError,
            "'batch' is 3 long, but 2 are given",
        ),
        (
            lambda: Data.from_list([[1], [2], [3]], [batch_dim, TIME]),
            LengthMismatchError,
            "'time' is 3 long in row 0, but 1 are given",
        ),
        (lambda: Data.from_list([[1]], [batch_dim, TIME, MODEL]), ValueError, "dims: 3 dims"),
        (
            lambda: Data.from_padded(np.zeros((2, 3)), [batch_dim, Dim("x")]),
            ValueError,
            "'x' has no lengths, and a",
        ),
        (
            lambda: Data.from_padded(np.zeros((3, 2)), [batch_dim, TIME]),
            LengthMismatchError,
            r"'time' is 3 long, but axis 1 of block is 2 long",
        ),
        (lambda: Data.from_padded(np.zeros(3), [batch_dim, TIME]), ValueError, "expected 2 axes"),
        (
            lambda: Data([[1, 2], [3]], [batch_dim, TIME]),
            ValueError,
            "lists of different lengths .* Data.from_list",
        ),
        (
            lambda: np.where(of(BATCH) > 1, 1, 0),
            TypeError,
            "np.where cannot take a Data; .* dims.where for where",
        ),
        (
            lambda: of(BATCH)[0],
            TypeError,
            r"cannot be indexed by position.* dims.slice, dims.gather .* x.to_list\(\)",
        ),
        (lambda: list(of(BATCH)), TypeError, "cannot be indexed by position"),
        (lambda: 1 in of(BATCH), TypeError, "cannot be indexed by position"),
        (lambda: of(BATCH) @ of(BATCH), TypeError, "@: does not say .*; use dims.dot"),
        (lambda: np.zeros(3) @ of(BATCH), TypeError, "@: does not say .*; use dims.dot"),
        (
            lambda: f"{of(BATCH):.2f}",
            TypeError,
            r"format: Data\(.* is many values, and '.2f' is for one number",
        ),
        (
            lambda: of(BATCH).detach(),
            TypeError,
            r"detach: NumPy arrays have no gradients; use x.torch\(\)",
        ),
        (lambda: of(BATCH).sum().backward(), TypeError, "backward: NumPy arrays have no gradients"),
        (lambda: Data.from_ragged([[1]], [batch_dim, TIME]), TypeError, "expected a Ragged, got list"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_format_is_that_of_the_text_and_of_one_number():
    assert f"{of(BATCH)}" == str(of(BATCH))
    assert f"{of(BATCH).mean():.3f}" == "1.000"


def test_namesakes_are_told_from_one_dim():
    other = SpatialDim("time", [3, 0, 2])
    with pytest.raises(
        ValueError, match=r"add: no operand .*; 'time' is a different dim in each \(see Dim.declare"
    ):
        of(BATCH, TIME) + of(BATCH, other)
    with pytest.raises(ValueError, match=r"pass broadcast=True to dims.combine$"):
        of(BATCH, TIME) + of(BATCH, SOURCE)


def test_lengths_that_differ_name_the_operator():
    with pytest.raises(
        LengthMismatchError, match=r"^add: row 1 of 'time' has length 0 in one and 1 in the other"
    ):
        of(BATCH, TIME) + of(BATCH, TIME.bind([3, 1, 1]))


def test_gradients_go_back_from_one_number():
    torch = pytest.importorskip("torch")
    leaf = torch.ones(4, dtype=torch.float64, requires_grad=True)
    x = Data(leaf, [MODEL], name="x")
    assert x.requires_grad
    assert not of(MODEL).requires_grad
    assert not x.detach().requires_grad
    assert x.detach().name == "x"
    assert x.detach().values.data_ptr() == leaf.data_ptr()
    with pytest.raises(ValueError, match=r"backward: Data\('x', .* holds several numbers"):
        x.backward()
    (x * of(MODEL)).sum().backward()
    assert leaf.grad.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_dims_without_lengths_are_bound():
    x = Data(np.zeros((5, 7)), [batch_dim, TIME, Dim("wide")])
    assert [dim.max_size() for dim in x.dims] == [3, 3, 7]
    y = Data.from_list([[[1, 2], [3]], [[4]]], [batch_dim, Dim("outer"), inner := Dim("inner")])
    assert y.axis(inner).over == (batch_dim, y.axis("outer"))
    assert y.axis(inner).lengths.tolist() == [2, 1, 1]
    # Where dims of one size make no difference, lengths are not over them.
    time, pair = Dim("t"), Dim("pair", 2)
    assert Data.from_list([[[1, 2], [3, 4]], [[5], [6]]], [batch_dim, pair, time]).axis(time).over == (
        batch_dim,
    )
    assert Data.from_list([[[1, 2], [3]], [[5], [6]]], [batch_dim, pair, time]).axis(time).over == (
        batch_dim,
        pair,
    )


def test_memory_is_shared_and_levels_are_one_object():
    values = np.arange(5)
    x = Data(values, [BATCH, TIME])
    assert x.values is values
    assert x.levels[0] is TIME.level
    ragged = x.to_ragged()
    assert ragged.values is values
    assert ragged.levels[0] is TIME.level
    again = Data.from_ragged(ragged, [batch_dim, Dim("frames")])
    assert again.values is values
    assert again.axis("frames").level is TIME.level
    assert Data(values, [BATCH, TIME])._shape is x._shape


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("B", ["batch"]),
        ("t", ["time"]),
        ("F", ["model"]),
        ("BT", ["batch", "time"]),
        ("tbF", ["time", "batch", "model"]),
        ("T?", ["time"]),
        ("time", ["time"]),
        ("spatial", ["time"]),
        ("dynamic", ["time"]),
        ("dyn", ["time"]),
        ("static", ["model"]),
        ("dim:4", ["model"]),
        ("stag:TI", ["time"]),
        ("stag-single:-1:im", ["time"]),
        ("tag:mod", ["model"]),
        ("except_batch", ["time", "model"]),
        ("except_time", ["model"]),
        ("*", ["batch", "time", "model"]),
        (["F", TIME], ["model", "time"]),
    ],
)
def test_words_mean_dims(words, expected):
    assert [dim.name for dim in of(BATCH, TIME, MODEL).axes(words)] == expected


@pytest.mark.parametrize(
    ("words", "error", "text"),
    [
        ("T", AmbiguousAxisError, "'T' may be 'time' or 'source'; give the Dim"),
        ("stag:s", AmbiguousAxisError, "'stag:s' may be 'seconds' or 'source'"),
        ("F", IndexError, "'F' fits none of"),
        ("dim:9", IndexError, "'dim:9' fits none"),
        ("stag:x", IndexError, "'stag:x' fits none"),
        ("nothing", IndexError, "'nothing' fits none"),
        (MODEL, IndexError, "'model' is not among"),
        (1, TypeError, "got 1; axes have no numbers, only dims"),
        (["B", BATCH], ValueError, "'batch' is given twice"),
    ],
)
def test_words_that_say_too_little_are_refused(words, error, text):
    x = of(BATCH, TIME, SOURCE)
    if words == "stag:s":
        x = x.replace_dim(TIME, Dim("seconds"))
    with pytest.raises(error, match=text):
        x.axes(words)


def test_named_time_and_feature_are_meant():
    x = of(BATCH, TIME, SOURCE).copy(time_dim=SOURCE)
    assert x.time_dim == SOURCE
    assert x.axis("T") == SOURCE
    assert of(BATCH, TIME).feature_dim is None
    assert of(MODEL).time_dim is None
    assert of(MODEL).batch_dim is None


def test_out_shape_is_verified():
    x = of(BATCH, TIME, MODEL)
    assert x.verify_out_shape({MODEL, TIME, batch_dim}) is x
    assert x.verify_out_shape([MODEL, TIME, batch_dim, OptionalDim(SOURCE)]) is x
    classes = of(BATCH, TIME, dtype="int64").copy(sparse_dim=Dim("classes", 9))
    assert classes.verify_out_shape({batch_dim, TIME}) is classes
    implicit = ImplicitSparseDim(classes.sparse_dim)
    assert classes.verify_out_shape({batch_dim, TIME, implicit}, allow_missing_implicit=False) is classes
    assert of().verify_out_shape(()).dims == ()
    for expected, text in [
        ({TIME, batch_dim}, "expected {.*}, got .*: 'model' is not expected"),
        ([TIME, batch_dim, MODEL, SOURCE], "'source' is missing"),
        ([TIME, batch_dim, MODEL, ImplicitDim(SOURCE)], "'source' is missing, not implicit"),
        ([TIME, batch_dim, ImplicitDynSizeDim(MODEL)], "'model' is an axis, not implicit"),
        ([TIME, TIME, batch_dim, MODEL], "'time' is given twice"),
    ]:
        with pytest.raises(OutShapeError, match=text):
            x.verify_out_shape(expected)
    with pytest.raises(OutShapeError, match="'classes' is implicit, and not expected"):
        classes.verify_out_shape({batch_dim, TIME}, allow_missing_implicit=False)
    with pytest.raises(TypeError, match="expected: expected a set of dims, got Dim"):
        x.verify_out_shape(TIME)
    with pytest.raises(OutShapeError, match="'model' is not expected"):
        reduce(x, "sum", TIME, out_shape={batch_dim})


def test_operands_without_names_are_refused():
    x = of(BATCH, TIME)
    for call in (lambda: x + np.zeros(5), lambda: np.zeros(5) + x, lambda: np.zeros(5) < x):
        with pytest.raises(
            TypeError, match=r"axes of an array of shape \(5,\) have no names; make it a Data"
        ):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        x + "a"
    with pytest.raises(ValueError, match=r"no operand has all dims of \[batch\(3\)\] and \[model\(4\)\]"):
        of(BATCH) + of(MODEL)
    assert combine("+", of(BATCH), of(MODEL), broadcast=True).dims == (BATCH, MODEL)
    with pytest.raises(ValueError, match=r"op: expected .* got 'plus'"):
        combine("plus", x, x)
    with pytest.raises(ValueError, match="the truth value of several numbers is ambiguous"):
        bool(x)
    assert bool(of().copy(name="one") == 0)


def test_lengths_that_differ_are_named_with_the_row():
    x = of(BATCH, TIME)
    other = Data(np.zeros(6), [BATCH, TIME.bind([3, 1, 2])])
    for call in (lambda: x + other, lambda: dot(x, other, TIME), lambda: dot(x, other, batch_dim)):
        with pytest.raises(
            LengthMismatchError, match="row 1 of 'time' has length 0 in one and 1 in the other"
        ):
            call()
    with pytest.raises(LengthMismatchError, match="'time' is up to 3 long in one and 2 in the other"):
        x + Data(np.zeros(2), [TIME.bind(2)])
    assert (x * 0 + Data(np.arange(9.0), [TIME.bind(9)])).to_list() == [[0, 1, 2], [], [0, 1]]


def test_nothing_is_the_extreme_of_no_integers():
    x = of(BATCH, TIME, dtype="int64")
    with pytest.raises(
        ValueError, match="'time' has no positions in row 1, and int64 no max of nothing; pass empty="
    ):
        x.max(TIME)
    assert x.max(TIME, empty=-7).values.tolist() == [2, -7, 4]
    for mode in ("ptp", "mode"):
        for dtype in ("int64", "float32"):
            text = f"'time' has no positions in row 1, and {dtype} no {mode} of nothing; pass empty="
            with pytest.raises(ValueError, match=text) as raised:
                reduce(of(BATCH, TIME, dtype=dtype), mode, TIME)
            assert raised.value.row == 1
    with pytest.raises(ValueError, match="mode: expected 'sum', "):
        reduce(x, "median", TIME)


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_numbers_have_sums_means_norms_and_running_sums(library, dtype):
    real = of(BATCH, TIME, MODEL)
    x = (real * (2 - 1j) + 3j).cast(dtype)
    rows = [np.array(row, dtype).reshape(-1, 4) for row in x.to_list()]
    if library == "torch":
        pytest.importorskip("torch")
        x = x.torch()
    for over, found in ((TIME, [row.sum(0) for row in rows]), ("*", sum(row.sum() for row in rows))):
        assert np.allclose(x.sum(over).to_list(), found, rtol=1e-6)
        assert str(x.sum(over).dtype).endswith(dtype)
    assert np.allclose(x.sum(BATCH).to_list(), [rows[0][0] + rows[2][0], rows[0][1] + rows[2][1], rows[0][2]])
    means = x.mean(TIME).to_list()
    assert np.allclose([means[0], means[2]], [rows[0].mean(0), rows[2].mean(0)])
    assert np.isnan(means[1]).all()
    assert str(x.mean(TIME).dtype).endswith(dtype)
    assert x.sum(TIME, empty=7 - 1j).to_list()[1] == [7 - 1j] * 4
    norms = reduce(x, "norm", TIME)
    assert np.allclose(norms.to_list(), [np.linalg.norm(row, axis=0) for row in rows])
    running = cumsum(x, TIME).to_list()
    assert all(
        np.allclose(np.reshape(found, (-1, 4)), row.cumsum(0))
        for found, row in zip(running, rows, strict=True)
    )
    assert cumsum(x, TIME, exclusive=True).to_list()[0][0] == [0] * 4


def test_complex_numbers_that_have_no_such_thing_are_refused_by_name():
    x = of(BATCH, TIME).cast("complex64")
    for mode in ("prod", "max", "var", "logsumexp"):
        with pytest.raises(TypeError, match=rf"{mode} of \[batch\(3\), .* got complex64"):
            reduce(x, mode, "*")
    with pytest.raises(TypeError, match=r"cumprod of \[batch\(3\), .* got complex64"):
        cumprod(x, TIME)


def test_gradients_of_complex_sums_are_those_of_torch():
    torch = pytest.importorskip("torch")
    leaf = torch.arange(5.0, dtype=torch.float64).mul(1 + 2j).requires_grad_()
    x = Data(leaf, [BATCH, TIME])
    for mode, wanted in (
        ("sum", leaf[:3].sum().abs()),
        ("mean", leaf[:3].mean().abs()),
        ("norm", leaf[:3].norm()),
    ):
        found = reduce(x, mode, TIME).values[0].abs()
        ways = [torch.autograd.grad(each, leaf, retain_graph=True)[0] for each in (found, wanted)]
        assert torch.allclose(*ways)


def test_dot_refuses_what_it_cannot_sum():
    x, w = of(BATCH, TIME, MODEL), of(MODEL, Dim("out", 2))
    with pytest.raises(IndexError, match=r"reduce: 'source' is neither in \[batch.* nor in \[model"):
        dot(x, w, SOURCE)
    with pytest.raises(ValueError, match="reduce: a dim is given twice"):
        dot(x, w, [MODEL, MODEL])
    with pytest.raises(TypeError, match="b: expected a Data, got ndarray"):
        dot(x, np.zeros(4), MODEL)


def test_a_square_matrix_has_one_dim_twice():
    square = Data(np.arange(16.0).reshape(4, 4), [MODEL, MODEL.copy(match_priority=1)])
    x = of(BATCH, TIME, MODEL)
    assert np.allclose(dot(x, square, MODEL).values, x.values @ square.values.T)
    assert dot(x, square, MODEL).dims == x.dims


def test_plans_follow_what_is_declared_the_same():
    lengths = [2, 1]
    p, q = Dim("p", lengths=lengths), Dim("q", lengths=lengths)
    x, y = Data(np.ones(3), [batch_dim, p]), Data(np.ones(3), [batch_dim, q])
    assert combine("+", x, y, broadcast=True).ndim == 3
    assert dot(x, y, p).dims == (batch_dim, q)
    p.declare_same_as(q)
    assert combine("+", x, y).ndim == 2
    assert dot(x, y, p).dims == (batch_dim,)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_have_the_same_dims(way):
    x = of(BATCH, TIME, MODEL).transpose([MODEL, BATCH, TIME]).copy(name="x", time_dim=TIME)
    again = way(x)
    assert repr(again) == repr(x)
    assert again.to_padded().tolist() == x.to_padded().tolist()
    assert (again + x).dims == x.dims


class Named(Data):
    """A class of a user, which has attributes."""


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copies_are_of_the_class_and_have_its_attributes(way):
    x = Named(np.ones((3, 4)), [BATCH, MODEL])
    x.label = "mine"
    again = way(x)
    assert type(again) is Named
    assert again.label == "mine"
    assert again.to_list() == x.to_list()


def test_reprs_say_dims_lengths_and_dtype():
    x = of(BATCH, TIME, MODEL)
    assert repr(x) == "Data([batch(3), time(0 to 3), model(4)], float64)"
    assert repr(x.padded()) == "Data([batch(3), time(0 to 3), model(4)], float64, padded)"
    labels = of(BATCH, TIME, dtype="int64").copy(sparse_dim=Dim("classes", 9), available_for_inference=False)
    assert repr(labels) == (
        "Data([batch(3), time(0 to 3)], int64, sparse_dim=classes(9), available_for_inference=False)"
    )
    assert "time" in x._repr_html_()
    assert "<svg" in x._repr_html_()


def test_padding_is_never_read():
    block = np.full((3, 5, 4), np.nan)
    for i, n in enumerate([3, 0, 2]):
        block[i, :n] = i + 1
    for side in ("right", "left"):
        given = (
            block
            if side == "right"
            else np.stack([np.roll(row, 5 - n, 0) for row, n in zip(block, [3, 0, 2], strict=True)])
        )
        x = Data.from_padded(given, [batch_dim, TIME, MODEL], side=side)
        assert x.values[:, 0].tolist() == [1, 1, 1, 3, 3]
        for y in (x + 1, softmax(x, TIME), x.padded(np.nan) * 2, x.sum(batch_dim), dot(x, x, TIME)):
            assert not np.isnan(y.values).any()
    assert x.padded(side="left").masked(7).values[2, 0].tolist() == [7] * 4


def test_order_of_dims_is_how_it_is_shown_alone():
    x = of(BATCH, TIME, MODEL)
    for order in ([MODEL, BATCH, TIME], [BATCH, MODEL, TIME]):
        y = x.transpose(order)
        assert y.values is x.values
        assert y.dims == tuple(order)
        assert (y + x).values.tolist() == (x + x).values.tolist()
        assert np.moveaxis(x.to_padded(), 2, order.index(MODEL)).tolist() == y.to_padded().tolist()
        assert y.sum(TIME).batch_major().to_padded().tolist() == x.sum(TIME).to_padded().tolist()
    assert x.time_major().dims == (TIME, BATCH, MODEL)
    with pytest.raises(ValueError, match=r"order: 'model' of .* is missing"):
        x.transpose([BATCH, TIME])
    with pytest.raises(ValueError, match="a dim must come after the dims that its lengths depend on"):
        x.time_major().to_list()


def test_results_go_into_what_is_given():
    out = np.empty((3, 3))
    assert of(BATCH, TIME).to_padded(out=out) is out
    assert out.tolist() == [[0, 1, 2], [0, 0, 0], [3, 4, 0]]
    assert vl.Data is Data
    assert vl.dims.Data is Data


def test_arrays_go_where_tensors_are_whatever_the_order():
    torch = pytest.importorskip("torch")
    x = of(BATCH, TIME)
    t = x.torch()
    for result in (
        x + t,
        t + x,
        x - t,
        t * x,
        np.array(2.0) * t,
        t * np.float32(2),
        concat((x, TIME), (t, TIME)),
    ):
        assert isinstance(result.values, torch.Tensor)
    assert (x == t).values.all()
    assert not (t != x).values.any()
    assert (np.array(2.0) * t.cast("float32")).dtype == torch.float32


def test_computed_numbers_are_no_positions_of_a_dim():
    labels = of(BATCH, TIME, dtype="int64").copy(sparse_dim=Dim("words", 9))
    for result in (
        labels == 1,
        labels * 0.5,
        labels + 1,
        labels.cast("float32"),
        -labels,
        labels + of(BATCH, TIME),
    ):
        assert result.sparse_dim is None
        assert result.copy(name="again").sparse_dim is None
    assert where(labels == 1, labels, labels).sparse_dim == labels.sparse_dim
    assert labels.cast("int32").sparse_dim == labels.sparse_dim


def test_a_dim_that_is_there_twice_is_told_by_priority():
    again = MODEL.copy(match_priority=1)
    square = Data(np.arange(16).reshape(4, 4), [MODEL, again])
    assert square.transpose([again, MODEL]).to_padded().tolist() == np.arange(16).reshape(4, 4).T.tolist()
    assert square.transpose([MODEL, again]).to_list() == square.to_list()
    assert square.transpose([again, MODEL]).to_list() == np.arange(16).reshape(4, 4).T.tolist()
    assert (square + square.transpose([again, MODEL])).to_list() == (square * 2).to_list()


@pytest.mark.parametrize("moved", [False, True])
def test_an_axis_of_equal_dims_is_the_one_of_its_priority(moved):
    again = MODEL.copy(match_priority=1)
    numbers = np.arange(16.0).reshape(4, 4)
    square = Data(numbers, [MODEL, again])
    if moved:
        square = square.transpose([again, MODEL])
    for axis, dim in enumerate((MODEL, again)):
        other = (again, MODEL)[axis]
        assert square.sum(dim).to_list() == numbers.sum(axis).tolist()
        assert square.sum(dim).dims[0].match_priority == other.match_priority
        assert square.argmax([dim, other]).item() == 15
        assert np.allclose(
            softmax(square, dim).transpose([MODEL, again]).values.sum(axis), np.ones(4), rtol=1e-12
        )
        best = top_k(square, dim, 2)[0]
        highest = np.sort(numbers, axis)
        highest = highest[:1:-1] if axis == 0 else highest[:, :1:-1]
        assert best.to_padded(
            [dim for dim in best.dims if dim == MODEL] + [dim for dim in best.dims if dim != MODEL]
        ).tolist() == (highest.T.tolist() if axis == 0 else highest.tolist())
    assert square.sum(MODEL.copy(match_priority=7)).to_list() == numbers.sum(1).tolist()
    with pytest.raises(
        AmbiguousAxisError, match=r"'model' is 2 dims of .*, of match_priority [01] and [01]; give"
    ):
        square.sum("model")


def test_dims_that_were_declared_the_same_later_are_ambiguous():
    p, q = Dim("p", lengths=[2, 1]), Dim("q", lengths=[2, 1])
    x = combine("+", Data(np.ones(3), [batch_dim, p]), Data(np.ones(3), [batch_dim, q]), broadcast=True)
    p.declare_same_as(q)
    with pytest.raises(AmbiguousAxisError, match=r"'p' is 2 dims of \[batch\(2\), p.* declared the same"):
        x.sum(p)


def test_nothing_is_refused_where_it_is_to_be():
    x = of(BATCH, TIME)
    for mode in ("sum", "mean", "argmax"):
        with pytest.raises(
            ValueError, match=f"'time' has no positions in row 1, and empty=None refuses the {mode}"
        ):
            reduce(x, mode, TIME, empty=None)
    with pytest.raises(TypeError, match=r"prod of \[batch\(3\), .* floats, got complex"):
        x.cast("complex64").prod(TIME)


def test_all_dims_go_where_none_is_said():
    x = of(BATCH, TIME, MODEL)
    assert x.sum().item() == x.values.sum()
    assert x.mean().dims == ()


def test_print_shows_numbers():
    assert str(of(BATCH, TIME)).endswith("float64)\n[[0, 1, 2], [], [3, 4]]")
    assert str(of(BATCH, TIME).sum()) == "Data([], float64)\n10.0"
    assert str(of(MODEL)).endswith("[0. 1. 2. 3.]")


def test_what_is_no_data_is_refused():
    for call in (lambda: softmax(np.ones(2), TIME), lambda: reduce([1], "sum", "T")):
        with pytest.raises(TypeError, match="expected a Data, got"):
            call()
    with pytest.raises(IndexError, match=r"'time' is not among .*; the one of that name is another dim"):
        of(BATCH, TIME).lengths(Dim("time"))


def test_counts_beyond_63_bits_are_refused():
    row = Dim("row", lengths=[5])
    x = Data(np.arange(5.0), [batch_dim, row])
    for counts in ([2**62] * 4 + [1], [2**62, 2**62, 0, 0, 0]):
        with pytest.raises(OverflowError, match=r"counts: add up to .*, which does not fit 63 bits"):
            repeat(x, row, Data(np.array(counts), x.dims))
    with pytest.raises(OverflowError, match="does not fit 63 bits"):
        repeat(x, row, 2**62)


@pytest.mark.parametrize(
    "make",
    [
        np.asarray,
        np.array,
        lambda x: np.asarray(x, np.float64),
        lambda x: np.asarray([x, x]),
        lambda x: np.testing.assert_array_equal(x, x.values),
    ],
)
def test_no_array_is_made_of_data_without_a_word(make):
    pytest.importorskip("torch")
    for x in (of(BATCH, TIME), of(BATCH), of(BATCH, TIME).torch()):
        with pytest.raises(TypeError, match=r"use its \.values, .* or its \.to_padded\(\)"):
            make(x)


def test_numbers_of_numpy_are_operands():
    x = of(BATCH, TIME)
    for two in (np.float64(2), np.int64(2), np.array(2.0)):
        for y in (two * x, x * two):
            assert type(y) is Data
            np.testing.assert_array_equal(y.values, x.values * 2)
        assert (two < x).values.tolist() == (x.values > 2).tolist()
