"""Layers of `varlen.thinc` beside Thinc's own: results, kinds, dtypes, shapes, gradients and parameters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import thinc
from varlen.testing import strategies

pytest.importorskip("thinc", reason="thinc is not installed")

import thinc.api as api
from thinc_pair import STOCK


def linear(of, nO=2, nI=3):
    """The same weights each time: both draw from NumPy's global state."""
    np.random.seed(nO)  # noqa: NPY002
    return of.Linear(nO, nI).initialize()


def attention(of):
    np.random.seed(0)  # noqa: NPY002
    return of.ParametricAttention(3).initialize()


def dropout(of):
    model = of.chain(of.Dropout(), of.noop())
    assert of.set_dropout_rate(model, 0.5) is model
    return model


def double(of):
    return of.Model("double", lambda model, X, is_train: (X * 2, lambda dY: dY * 2))


# name: (the layer, which kinds of X it is tried with)
LAYERS = {
    "list2array": (lambda of: of.list2array(), "list"),
    "list2ragged": (lambda of: of.list2ragged(), "list"),
    "list2padded": (lambda of: of.list2padded(), "list"),
    "ragged2list": (lambda of: of.ragged2list(), "ragged"),
    "padded2list": (lambda of: of.padded2list(), "padded"),
    "with_array": (lambda of: of.with_array(linear(of)), "list ragged array"),
    "with_array of a block": (lambda of: of.with_array(double(of)), "padded"),
    "with_array with room": (lambda of: of.with_array(double(of), pad=2), "list"),
    "with_array2d": (lambda of: of.with_array2d(linear(of)), "list ragged padded array"),
    "with_padded": (lambda of: of.with_padded(of.with_array2d(linear(of))), "list ragged padded block four"),
    "with_ragged": (lambda of: of.with_ragged(of.with_array(linear(of))), "list ragged padded pair"),
    "with_list": (lambda of: of.with_list(of.with_array(linear(of))), "list ragged padded"),
    "with_flatten": (lambda of: of.with_flatten_v2(of.with_array(linear(of))), "nested"),
    "with_getitem": (lambda of: of.with_getitem(1, of.with_array(linear(of))), "items"),
    "map_list": (lambda of: of.map_list(linear(of)), "list"),
    "reduce_sum": (lambda of: of.reduce_sum(), "ragged"),
    "reduce_mean": (lambda of: of.reduce_mean(), "ragged"),
    "reduce_max": (lambda of: of.reduce_max(), "full"),
    "reduce_first": (lambda of: of.reduce_first(), "full"),
    "reduce_last": (lambda of: of.reduce_last(), "full"),
    "expand_window": (lambda of: of.expand_window(2), "ragged array"),
    "concatenate": (lambda of: of.concatenate(linear(of), linear(of, 4)), "array"),
    "add": (lambda of: of.add(linear(of), linear(of)), "array"),
    "residual": (lambda of: of.residual(of.with_array(linear(of, 3))), "list ragged array"),
    "chain": (lambda of: of.chain(of.list2ragged(), of.with_array(linear(of)), of.reduce_mean()), "list"),
    "clone": (lambda of: of.clone(linear(of, 3), 3), "array"),
    "noop": (lambda of: of.noop(linear(of)), "list ragged padded array"),
    "Linear": (linear, "array"),
    "tuplify": (lambda of: of.tuplify(linear(of), linear(of, 4)), "array"),
    "ParametricAttention": (attention, "ragged"),
    "Dropout": (dropout, "list ragged padded array"),
}
# Ours say in their names what Thinc's do not.
NAMED = ("with_array2d", "with_padded", "with_getitem", "map_list", "add")
CASES = [(name, kind) for name, (_, kinds) in LAYERS.items() for kind in kinds.split()]


@st.composite
def sequences(draw, least=0):
    """Arrays of normal numbers, three wide; some row at all, for Thinc's sake."""
    lengths = [max(least, n) for n in draw(strategies.lengths())]
    lengths = [*lengths, 1] if sum(lengths) == 0 else lengths
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    return [rng.normal(size=(n, 3)).astype("f") for n in lengths]


def of_kind(kind, of, arrays):
    """The arrays as a kind of X, of Thinc or of ours."""
    lengths = np.array([len(x) for x in arrays], "i")
    if kind in ("ragged", "full"):
        return of.Ragged(np.concatenate(arrays), lengths)
    if kind == "padded":
        ops = STOCK if of is api else thinc.NumpyOps()
        return ops.list2padded(arrays)
    made = {
        "list": arrays,
        "array": np.concatenate(arrays),
        "block": np.stack([x for x in arrays if len(x) == lengths.max()], 1),
        "pair": (np.concatenate(arrays), lengths),
        "nested": [arrays[:1], [], arrays[1:]],
        "items": ("first", arrays),
    }
    if kind == "four":
        padded = STOCK.list2padded(arrays)
        return padded.data, padded.size_at_t, padded.lengths, padded.indices
    return made[kind]


def alike(got, want):
    """Of the same kind, structure and dtypes; numbers to the rounding of float32."""
    if isinstance(want, (api.Ragged, api.Padded)):
        assert type(got) is (thinc.Ragged if isinstance(want, api.Ragged) else thinc.Padded)
        for name in vars(want):
            if name not in ("data_shape", "starts_ends"):
                alike(getattr(got, name), getattr(want, name))
    elif isinstance(want, (list, tuple)):
        assert isinstance(got, type(want))
        assert len(got) == len(want)
        for one, other in zip(got, want, strict=True):
            alike(one, other)
    elif isinstance(want, np.ndarray):
        # Thinc's two axes without elements lose their width.
        assert got.dtype == want.dtype
        assert got.shape == want.shape or want.size == got.size == 0
        np.testing.assert_allclose(got, np.reshape(want, got.shape), rtol=2e-5, atol=2e-6)
    else:
        assert got == want


@pytest.mark.parametrize(("name", "kind"), CASES)
@given(data=st.data())
@settings(max_examples=6)
def test_layers_give_what_thincs_give(name, kind, data):
    arrays = data.draw(sequences(1 if kind == "full" else 0))
    make = LAYERS[name][0]
    ours, theirs = make(thinc), make(api)
    assert ours.name == theirs.name or name in NAMED
    X, want_X = of_kind(kind, thinc, arrays), of_kind(kind, api, [x.copy() for x in arrays])
    alike(ours.predict(X), theirs.predict(want_X))
    np.random.seed(7)  # noqa: NPY002
    Y, backprop = ours.begin_update(X)
    np.random.seed(7)  # noqa: NPY002
    want, want_backprop = theirs.begin_update(want_X)
    alike(Y, want)
    alike(backprop(Y), want_backprop(want))
    grads, want_grads = ours.get_gradients().values(), theirs.get_gradients().values()
    assert len(grads) == len(want_grads)
    for (weights, grad), (want_weights, want_grad) in zip(grads, want_grads, strict=True):
        alike(weights, want_weights)
        np.testing.assert_allclose(grad, want_grad, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("bi", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_lstm_begins_with_thincs_weights_and_gives_its_results(bi, depth):
    arrays = [np.random.default_rng(n).normal(size=(n, 3)).astype("f") for n in (2, 5, 1)]
    models = []
    for of in (thinc, api):
        np.random.seed(0)  # noqa: NPY002
        models.append(of.with_padded(of.LSTM(4, 3, bi=bi, depth=depth)).initialize())
    ours, theirs = models
    assert ours.get_dim("nO") == theirs.get_dim("nO") == 4
    for name in ("LSTM", "HC0"):
        np.testing.assert_array_equal(*(m.layers[0].get_param(name) for m in models))
    alike(ours.predict(arrays), theirs.predict(arrays))
    Y, backprop = ours.begin_update(arrays)
    alike(Y, theirs.begin_update(arrays)[0])
    assert [d.shape for d in backprop(Y)] == [x.shape for x in arrays]
    assert ours.layers[0].get_grad("LSTM").shape == theirs.layers[0].get_param("LSTM").shape


# What `initialize` finds out of some data: the layer, X and Y.
X, WIDE = np.ones((2, 3), "f"), np.ones((2, 4), "f")
SHAPES = {
    "Linear": (lambda of: of.Linear(), X, WIDE),
    "chain": (lambda of: of.chain(of.Linear(5), of.Linear()), X, WIDE),
    "chain of lists": (lambda of: of.chain(of.list2array(), of.Linear(5), of.Linear(4)), [X], None),
    "chain without data": (lambda of: of.chain(of.Linear(5, 3), of.Linear(4, 5)), None, None),
    "with_array": (lambda of: of.with_array(of.Linear()), [X], [WIDE]),
    "with_padded": (lambda of: of.with_padded(of.LSTM(4)), [X], None),
    "concatenate": (lambda of: of.concatenate(of.Linear(1), of.Linear(3)), X, None),
    "add": (lambda of: of.add(of.Linear(4), of.Linear(4)), X, None),
    "residual": (lambda of: of.residual(of.Linear(3)), X, None),
    "clone": (lambda of: of.clone(of.Linear(3, 3), 2), X, None),
}


@pytest.mark.parametrize("name", SHAPES)
def test_sizes_are_found_as_thinc_finds_them(name):
    make, X, Y = SHAPES[name]
    found = []
    for of in (thinc, api):
        model = make(of).initialize(X=X, Y=Y)
        found.append([{dim: node.maybe_get_dim(dim) for dim in node.dim_names} for node in model.walk()])
    ours, theirs = found
    for one, other in zip(ours, theirs, strict=True):  # ours may know one more
        assert one.items() >= {dim: size for dim, size in other.items() if size is not None}.items()
    assert [node.param_names for node in model.walk()] == [node.param_names for node in make(thinc).walk()]


def test_bidirectional_reads_backwards_and_gives_each_its_half_of_the_gradient():
    """Thinc reads forwards twice."""
    np.random.seed(0)  # noqa: NPY002
    forth, back = (thinc.LSTM(2, 3).initialize() for _ in range(2))
    model = thinc.with_padded(thinc.bidirectional(forth, back))
    arrays = [np.random.default_rng(n).normal(size=(n, 3)).astype("f") for n in (2, 0, 5, 2)]
    Y, backprop = model.begin_update(arrays)
    one, one_back = thinc.with_padded(forth).begin_update(arrays)
    other, other_back = thinc.with_padded(back).begin_update([x[::-1] for x in arrays])
    for y, a, b in zip(Y, one, other, strict=True):
        np.testing.assert_allclose(y, np.concatenate([a, b[::-1]], 1), rtol=1e-6)
    d = [np.random.default_rng(len(y)).normal(size=y.shape).astype("f") for y in Y]
    parts = one_back([x[:, :2] for x in d]), other_back([x[::-1, 2:] for x in d])
    for dX, a, b in zip(backprop(d), *parts, strict=True):
        np.testing.assert_allclose(dX, a + b[::-1], rtol=1e-5, atol=1e-6)
    with pytest.raises(TypeError, match="Padded"):
        model.layers[0].predict(arrays)


def test_bidirectional_finds_its_sizes_and_copies_what_reads_forwards():
    model = thinc.with_padded(thinc.bidirectional(thinc.LSTM()))
    model.initialize(X=[X], Y=[WIDE])
    both = model.layers[0].layers
    assert [layer.get_dim("nO") for layer in both] == [2, 2]
    assert both[0] is not both[1]
    assert model.predict([X])[0].shape == (2, 4)


@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (0, 0, 2)])
def test_with_padded_takes_a_block_without_steps_or_columns(shape):
    model = thinc.with_padded(thinc.Model("same", lambda model, X, is_train: (X, lambda d: d)))
    block = np.zeros(shape, np.float32)
    Y, backprop = model.begin_update(block)
    assert Y.shape == backprop(block).shape == shape
