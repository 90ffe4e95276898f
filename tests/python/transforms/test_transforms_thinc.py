"""Transforms around Thinc's Models: a Model comes back, which takes and gives Thinc's containers."""

import numpy as np
import pytest
import varlen as vl
from varlen import transforms

pytest.importorskip("thinc", reason="Thinc is not installed")

from thinc import api
from thinc.types import Padded, Ragged


def sequences():
    rng = np.random.default_rng(0)
    return [rng.random((n, 3), np.float32) for n in (2, 1, 4)]


def initialized(model):
    return model.initialize(X=sequences(), Y=[np.zeros((len(x), 2), "f") for x in sequences()])


def arrays(x):
    if isinstance(x, (Ragged, vl.Ragged)):
        return [x.dataXd if isinstance(x, Ragged) else x.values]
    return (
        [x.data]
        if isinstance(x, (Padded, vl.Padded))
        else [np.concatenate(x)]
        if isinstance(x, list)
        else [x]
    )


KINDS = (list, Ragged, Padded, vl.Ragged, vl.Padded)


# Linear takes no block, which with_array makes of what is padded.
@pytest.mark.parametrize(
    ("name", "kind"),
    [("with_array", kind) for kind in KINDS if kind not in (Padded, vl.Padded)]
    + [(name, kind) for name in ("with_ragged", "with_padded", "with_list") for kind in KINDS],
)
def test_models_come_back_and_do_what_thincs_own_do(name, kind):
    linear = api.Linear()
    inner = linear if name == "with_array" else api.with_array2d(linear)
    ours = initialized(getattr(transforms, name)(inner))
    theirs = getattr(api, name)(inner)
    assert isinstance(ours, api.Model)
    assert ours.name == f"{name}({inner.name})"
    assert (ours.get_dim("nO"), ours.get_dim("nI")) == (2, 3)
    seqs = sequences()
    lengths = np.array([len(x) for x in seqs], "i")
    X = {
        list: seqs,
        Ragged: Ragged(np.concatenate(seqs), lengths),
        Padded: api.NumpyOps().list2padded(seqs),
        vl.Ragged: vl.Ragged(np.concatenate(seqs), lengths),
        vl.Padded: vl.Padded.from_list(seqs),
    }[kind]
    given = {
        vl.Ragged: lambda x: Ragged(x.values, lengths),
        vl.Padded: lambda x: Padded(x.data, *x._fields),
    }.get(kind, lambda x: x)
    Y, backprop = ours(X, True)
    want, back = theirs(given(X), True)
    assert type(Y) is kind
    np.testing.assert_array_equal(*arrays(Y), *arrays(want))
    dX = backprop(Y)
    assert type(dX) is kind
    grads = linear.get_grad("W").copy()
    linear.set_grad("W", 0 * grads)
    np.testing.assert_array_equal(*arrays(dX), *arrays(back(want)))
    np.testing.assert_array_equal(grads, linear.get_grad("W"))


def test_lengths_go_out_as_the_array_that_came():
    model = initialized(transforms.with_array(api.Linear()))
    X = Ragged(np.concatenate(sequences()), np.array([2, 1, 4], "i"))
    Y, backprop = model(X, True)
    assert Y.lengths is X.lengths
    assert backprop(Y).lengths is X.lengths


def test_models_stand_in_chains_of_thinc_and_learn():
    model = api.chain(
        api.list2ragged(),
        transforms.with_array(api.Relu(8)),
        transforms.expand_window(1).to_thinc(),
        transforms.residual(transforms.with_array(api.Relu(24))),
        transforms.reduce_mean().to_thinc(),
        api.Linear(1),
    )
    X = sequences()
    goal = np.array([[1.0], [0.0], [-1.0]], "f")
    model.initialize(X=X, Y=goal)
    optimizer = api.Adam(0.02)
    losses = []
    for _ in range(60):
        Y, backprop = model.begin_update(X)
        losses.append(float(((Y - goal) ** 2).sum()))
        backprop(Y - goal)
        model.finish_update(optimizer)
    assert losses[-1] < 0.2 * losses[0]


def test_chains_of_both_are_thincs():
    model = transforms.chain(
        transforms.list2ragged(), transforms.with_array(api.Linear()), transforms.ragged2list()
    )
    assert isinstance(model, api.Model)
    initialized(model)
    Y, backprop = model(sequences(), True)
    assert [y.shape for y in Y] == [(2, 2), (1, 2), (4, 2)]
    assert [x.shape for x in backprop(Y)] == [(2, 3), (1, 3), (4, 3)]
    assert transforms.chain(api.Linear()).name == "linear"


def test_copies_of_models_have_parameters_of_their_own():
    model = initialized(transforms.with_list(transforms.with_array(api.Linear())))
    again = model.copy()
    again.layers[0].layers[0].set_param("W", np.ones((2, 3), "f"))
    again.layers[0].layers[0].set_param("b", np.zeros(2, "f"))
    X = [np.ones((1, 3), "f")]
    assert again.predict(X)[0].tolist() == [[3, 3]]
    assert model.predict(X)[0].tolist() != [[3, 3]]
    loaded = initialized(transforms.with_list(transforms.with_array(api.Linear())))
    loaded.from_bytes(again.to_bytes())
    assert loaded.predict(X)[0].tolist() == [[3, 3]]


@pytest.mark.parametrize("name", ["concatenate", "add"])
def test_models_together(name):
    one, two = (transforms.with_array(api.Linear(2)) for _ in range(2))
    model = getattr(transforms, name)(one, two)
    assert model.layers == [one, two]
    model.initialize(X=sequences())
    Y, backprop = model(sequences(), True)
    a, b = one.predict(sequences()), two.predict(sequences())
    for y, p, q in zip(Y, a, b, strict=True):
        np.testing.assert_array_equal(y, np.hstack([p, q]) if name == "concatenate" else p + q)
    assert [x.shape for x in backprop(Y)] == [x.shape for x in sequences()]


def test_other_layers_keep_their_places_beside_models():
    model = transforms.concatenate(lambda X, is_train: (X, lambda d: d), transforms.with_array(api.Linear(2)))
    model.initialize(X=sequences())
    Y, backprop = model(sequences(), True)
    assert [y.shape for y in Y] == [(2, 5), (1, 5), (4, 5)]
    np.testing.assert_array_equal(Y[0][:, :3], sequences()[0])
    assert [x.shape for x in backprop(Y)] == [(2, 3), (1, 3), (4, 3)]


def test_reductions_as_models_take_thincs_ragged():
    for op in ("sum", "mean", "max", "first", "last"):
        ours, theirs = getattr(transforms, f"reduce_{op}")().to_thinc(), getattr(api, f"reduce_{op}")()
        X = Ragged(np.concatenate(sequences()), np.array([2, 1, 4], "i"))
        Y, backprop = ours(X, True)
        want, back = theirs(X, True)
        np.testing.assert_allclose(Y, want, rtol=1e-6)
        dX = backprop(Y)
        assert isinstance(dX, Ragged)
        np.testing.assert_allclose(dX.data, back(want).data, rtol=1e-6)
