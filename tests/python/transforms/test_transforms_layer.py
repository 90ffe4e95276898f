"""Layers: how what is called becomes one, and what layers of all kinds say."""

import pickle

import numpy as np
import pytest
import varlen as vl
from test_transforms import WRAPS, Linear, identity
from varlen import thinc, transforms
from varlen.transforms import Layer


def test_layers_are_told_how_to_be_called_by_their_signature():
    def by_name(x, *, is_train):
        return x, lambda d: d

    def with_option(x, scale=2):
        return scale * x

    def by_place(x, train):
        return x, lambda d: d

    assert transforms.as_layer(by_name)(1, True)[1](3) == 3
    assert transforms.as_layer(by_place)(1, True)[1](3) == 3
    assert transforms.as_layer(with_option).predict(4) == 8
    assert transforms.as_layer(Linear(np.eye(2))).predict(np.ones((1, 2))).shape == (1, 2)
    with pytest.raises(TypeError, match="with_option is a function f"):
        transforms.as_layer(with_option)(4, True)[1](1)
    with pytest.raises(
        TypeError, match=r"must return \(y, backprop\) when called as f\(x, is_train\), got int"
    ):
        transforms.as_layer(lambda x, is_train: x).predict(4)
    with pytest.raises(TypeError, match="expected a callable, got int"):
        transforms.with_array(4)
    with pytest.raises(ValueError, match="is_train=False"):
        transforms.with_array(identity)(np.ones(1), False)[1](np.ones(1))


def test_layers_are_named_and_know_their_layers():
    layer = transforms.with_padded(transforms.chain(np.tanh, identity))
    assert layer.name == "with_padded(tanh>>identity)"
    assert [inner.name for inner in layer.layers] == ["tanh>>identity"]
    assert isinstance(layer, Layer)
    assert repr(layer) == "Layer('with_padded(tanh>>identity)')"


def test_layers_are_picklable():
    r = vl.Ragged(np.arange(3.0), [1, 2])
    layers = [getattr(transforms, name)(transforms.with_array(np.negative)) for name in WRAPS[2:4]]
    layers += [
        transforms.with_array(np.negative, pad=2),
        transforms.expand_window(2),
        transforms.reduce_max(),
    ]
    layers += [transforms.concatenate(transforms.residual(np.negative), np.square)]
    for layer in layers:
        again = pickle.loads(pickle.dumps(layer))
        a, b = again.predict(r), layer.predict(r)
        assert a.equals(b) if isinstance(a, vl.Ragged) else np.array_equal(a, b)


def test_examples_of_thincs_page_run_with_the_import_changed():
    """Those of "Variable-length sequences"; what its Linear is may be of any framework here."""
    sequences = [thinc.alloc2f(7, 5) + 1, thinc.alloc2f(2, 5) + 2, thinc.alloc2f(4, 5) + 3]
    list2ragged_model = transforms.list2ragged()
    ragged = list2ragged_model.predict(sequences)
    assert ragged.data.shape == (13, 5)
    assert ragged.data.shape[0] == ragged.lengths.sum()
    assert (ragged.data[:7] == 1).all()
    assert (ragged.data[7:9] == 2).all()
    assert (ragged.data[9:] == 3).all()
    assert ragged[0].shape == (7, 5)
    model = transforms.as_layer(Linear(np.ones((5, 6), np.float32)))
    output = model.predict(ragged.data)
    ragged_out = vl.Ragged(output, ragged.lengths)
    assert ragged_out.equals(transforms.with_array(model).predict(ragged))
    sequences3d = [thinc.alloc3f(5, 6, 7), thinc.alloc3f(10, 6, 7)]
    ragged3d = list2ragged_model.predict(sequences3d)
    assert ragged3d.data.shape == (15, 42)
    assert ragged3d.dataXd.shape == (15, 6, 7)
    padded = transforms.list2padded().predict(sequences)
    assert padded.data.shape == (7, 3, 5)
    assert (padded.data[:, 0] == 1).all()
    assert (padded.data[:4, 1] == 3).all()
    assert (padded.data[:2, 2] == 2).all()
    assert list(padded.indices) == [0, 2, 1]
    assert isinstance(padded[0], vl.Padded)
    assert padded[0].data.shape == (7, 1, 5)
