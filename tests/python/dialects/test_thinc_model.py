"""Model of `varlen.thinc` beside Thinc's: what it is asked, what it refuses, and what it learns."""

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from varlen import thinc
from varlen.thinc import Linear, Model, chain, noop, with_array

api = pytest.importorskip("thinc.api", reason="thinc is not installed")

BOTH = pytest.mark.parametrize("of", [thinc, api], ids=["varlen", "Thinc"])


def forward(model, X, is_train):
    return X * model.get_param("scale"), lambda dY: dY


def scale(of, **options):
    return of.Model("scale", forward, params={"scale": None}, dims={"nO": None, "nI": 3}, **options)


def tree(of):
    """Two layers, the second of them twice."""
    inner = of.Linear(3, 3)
    return of.chain(of.with_array(of.Linear(3, 3)), inner, inner)


def outcome(call):
    try:
        result = call()
    except Exception as error:
        return type(error)
    return result.tolist() if isinstance(result, np.ndarray) else result


ONE = np.ones(1, "f")
ASKED = {
    "has_dim": lambda m: [m.has_dim(name) for name in ("nO", "nI", "none")],
    "get_dim": lambda m: m.get_dim("nI"),
    "get_dim of none": lambda m: m.get_dim("none"),
    "get_dim without a size": lambda m: m.get_dim("nO"),
    "maybe_get_dim": lambda m: [m.maybe_get_dim(name) for name in ("nO", "nI", "none")],
    "set_dim": lambda m: (m.set_dim("nO", 2), m.get_dim("nO")),
    "set_dim of none": lambda m: m.set_dim("none", 2),
    "set_dim twice": lambda m: m.set_dim("nI", 2),
    "set_dim by force": lambda m: (m.set_dim("nI", 2, force=True), m.get_dim("nI")),
    "set_dim by force, too late": lambda m: (m.set_param("scale", ONE), m.set_dim("nI", 2, force=True)),
    "has_param": lambda m: [m.has_param(name) for name in ("scale", "none")],
    "get_param of none": lambda m: m.get_param("none"),
    "get_param, too early": lambda m: m.get_param("scale"),
    "maybe_get_param": lambda m: [m.maybe_get_param(name) for name in ("scale", "none")],
    "set_param": lambda m: (m.set_param("scale", ONE), m.has_param("scale"), m.get_param("scale").tolist()),
    "set_param to none": lambda m: (m.set_param("scale", None), m.has_param("scale")),
    "has_grad": lambda m: m.has_grad("scale"),
    "get_grad of none": lambda m: m.get_grad("scale"),
    "maybe_get_grad": lambda m: m.maybe_get_grad("scale"),
    "inc_grad": lambda m: (
        m.set_param("scale", ONE),
        m.inc_grad("scale", ONE),
        m.inc_grad("scale", ONE),
        m.get_grad("scale").tolist(),
        m.grad_names,
    ),
    "set_grad": lambda m: (m.set_grad("scale", 3 * ONE), m.get_grad("scale").tolist()),
    "names": lambda m: (m.dim_names, m.param_names, m.grad_names, m.ref_names),
    "attrs": lambda m: (m.attrs.update(drop=0.5), m.attrs["drop"]),
    "has_ref": lambda m: m.has_ref("inner"),
    "get_ref of none": lambda m: m.get_ref("inner"),
    "set_ref": lambda m: (m.set_ref("self", m), m.get_ref("self") is m, m.has_ref("self")),
    "set_ref to none": lambda m: (m.set_ref("self", None), m.has_ref("self"), m.maybe_get_ref("self")),
    "get_ref, unset": lambda m: (m.set_ref("self", None), m.get_ref("self")),
    "predict": lambda m: (m.set_param("scale", 2 * ONE), m.predict(ONE).tolist()),
    "use_params": lambda m: (m.set_param("scale", ONE), used(m), m.get_param("scale").tolist()),
    "walk": lambda m: list(m.walk(order="sideways")),
    "operators": lambda m: m >> m,
    "name": lambda m: (setattr(m, "name", "other"), m.name),
    "initialize": lambda m: m.initialize() is m,
}


def used(model):
    with model.use_params({(model.id, "scale"): 5 * ONE, (model.id + 1, "scale"): ONE}):
        return model.predict(ONE).tolist()


@pytest.mark.parametrize("name", ASKED)
def test_answers_are_thincs(name):
    ours, theirs = (outcome(lambda of=of: ASKED[name](scale(of))) for of in (thinc, api))
    assert ours == theirs


def test_refs_are_to_models_of_the_tree_alone():
    for of in (thinc, api):
        with pytest.raises(ValueError, match="not in tree"):
            scale(of).set_ref("other", scale(of))


@pytest.mark.parametrize("order", ["bfs", "dfs_pre", "dfs_post"])
def test_walks_meet_each_layer_once_in_thincs_order(order):
    ours, theirs = ([node.name for node in tree(of).walk(order=order)] for of in (thinc, api))
    assert ours == theirs
    assert len(ours) == 4


@BOTH
def test_ids_are_of_one_model_each(of):
    models = [of.noop() for _ in range(5)]
    assert len({model.id for model in models}) == 5


@BOTH
def test_nodes_are_replaced_and_removed(of):
    model, X = tree(of).initialize(), np.ones((2, 3), "f")
    model.predict(X)  # what it calls then is looked up again afterwards
    old, new = model.layers[1], of.noop()
    model.set_ref("inner", old)
    assert model.replace_node(old, new)
    assert not model.replace_node(old, new)
    assert model.layers[1] is model.layers[2] is model.get_ref("inner") is new
    model.remove_node(new)
    assert len(model.layers) == 1
    assert model.has_ref("inner") is None
    np.testing.assert_array_equal(model.predict(X), model.layers[0].predict(X))
    model.layers.append(old)
    np.testing.assert_array_equal(model.predict(X), old.predict(model.layers[0].predict(X)))


@BOTH
def test_callbacks_are_replaced(of):
    model = of.noop()
    model.replace_callbacks(lambda model, X, is_train: (2 * X, lambda dY: dY), init=None)
    assert model.predict(4) == 8
    assert model.initialize() is model


@BOTH
def test_copies_share_nothing(of):
    model = tree(of).initialize()
    model.layers[1].inc_grad("b", np.ones(3, "f"))
    made = model.copy()
    np.testing.assert_array_equal(*(m.predict(np.ones((2, 3), "f")) for m in (made, model)))
    assert made.layers[1] is made.layers[2]
    assert made.id != model.id
    for one, other in zip(made.walk(), model.walk(), strict=True):
        assert one is not other
        for name in one.param_names:
            np.testing.assert_array_equal(one.get_param(name), other.get_param(name))
            assert not np.shares_memory(one.get_param(name), other.get_param(name))
    np.testing.assert_array_equal(made.layers[1].get_grad("b"), np.ones(3))


def test_copies_keep_ops_and_point_to_copies():
    ops = thinc.NumpyOps()
    model = chain(noop(), scale(thinc, ops=ops))
    model.set_ref("last", model.layers[1])
    model.set_ref("none", None)
    made = model.copy()
    assert made.get_ref("last") is made.layers[1]
    assert made.ref_names == ("last", "none")
    assert made.layers[1].ops is ops
    model.layers[1].ops = other = thinc.NumpyOps()
    assert model.layers[1].ops is other


@BOTH
def test_operators_are_defined_for_a_block(of):
    symbols = ["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "^", "|"]
    a, b = of.Linear(3, 3), of.Linear(3, 3)
    with of.Model.define_operators({symbol: lambda x, y, s=symbol: s for symbol in symbols}):
        made = [a + b, a - b, a * b, a @ b, a / b, a // b, a % b, a**b, a << b, a >> b, a & b, a ^ b, a | b]
    assert made == symbols
    with pytest.raises(TypeError, match="Undefined operator: >>"):
        a >> b


def trained(of):
    """The predictions of a network before and after some steps."""
    rng = np.random.default_rng(3)
    X = [rng.normal(size=(n, 4)).astype("f") for n in (3, 1, 5, 2)]
    Y = rng.normal(size=(4, 2)).astype("f")
    np.random.seed(1)  # noqa: NPY002
    model = of.chain(of.list2ragged(), of.with_array(of.Linear(8)), of.reduce_mean(), of.Linear())
    model.initialize(X=X, Y=Y)
    before = model.predict(X)
    for _ in range(20):
        guess, backprop = model.begin_update(X)
        backprop(guess - Y)
        model.finish_update(lambda key, weights, gradient: (weights - 0.05 * gradient, gradient * 0))
        for node in model.walk():
            for name in node.grad_names:
                node.set_grad(name, np.zeros_like(node.get_grad(name)))
    return before, model.predict(X), Y


def test_networks_learn_as_thincs_do():
    ours, theirs = trained(thinc), trained(api)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    before, after, Y = ours
    assert np.square(after - Y).sum() < 0.5 * np.square(before - Y).sum()


def test_models_go_wherever_layers_do():
    model = Linear(2, 3).initialize()
    r = vl.Ragged(np.ones((3, 3), "f"), [2, 1])
    layer = vl.transforms.with_array(model)
    assert type(layer) is vl.transforms.Layer
    assert type(layer.predict(r)) is vl.Ragged
    assert type(with_array(model).predict(r)) is thinc.Ragged
    assert repr(model) == "Model('linear')"


def test_thincs_own_models_make_thincs_models():
    model = with_array(api.Linear(2, 3))
    assert isinstance(model, api.Model)
    assert isinstance(chain(thinc.list2ragged(), with_array(api.Linear(2, 3))), api.Model)


def test_functions_and_layers_of_torch_are_layers():
    assert with_array(np.tanh).predict(thinc.Ragged([0.0], [1])).to_list() == [[0.0]]
    torch = pytest.importorskip("torch")
    model = with_array(torch.nn.Linear(3, 2))
    assert model.predict([np.ones((2, 3), "f")])[0].shape == (2, 2)


LISTS = [np.ones((2, 3), "f"), np.ones((4, 3), "f")]


def test_models_are_pickled_and_copied_whole():
    model = thinc.with_padded(chain(thinc.LSTM(2), thinc.with_array2d(Linear(4)))).initialize(X=LISTS)
    kept, copied = pickle.loads(pickle.dumps(model)), copy.deepcopy(model)
    for made in (kept, copied):
        assert [(type(node), node.name) for node in made.walk()] == [
            (Model, node.name) for node in model.walk()
        ]
        for one, other in zip(made.predict(LISTS), model.predict(LISTS), strict=True):
            np.testing.assert_array_equal(one, other)
    assert kept.id == model.id != copied.id
    kept.__setstate__((None, {"_id": 10**9}))  # as from another process
    assert noop().id > 10**9


def test_depth_of_an_lstm_is_at_least_one():
    for of in (thinc, api):
        with pytest.raises(ValueError, match="depth"):
            of.LSTM(2, 3, depth=0)
    assert thinc.PyTorchLSTM(2, 3, depth=0).name == "noop"


def test_clones_are_counted():
    assert thinc.clone(Linear(2, 2), 1).name == "linear"
    assert thinc.clone(Linear(2, 2), 0).name == "noop"
    with pytest.raises(ValueError, match="n: "):
        thinc.clone(Linear(2, 2), -1)


def test_noop_keeps_its_layers_for_those_who_walk_them():
    a, b = thinc.noop(), thinc.noop()
    assert thinc.noop(a, b).layers == [a, b]
