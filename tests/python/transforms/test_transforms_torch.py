"""Transforms around torch modules: gradients are autograd's, and containers stay of the kind that came."""

import numpy as np
import pytest
import varlen as vl
from test_transforms import KINDS, container, sequences
from varlen import transforms

torch = pytest.importorskip("torch")

LENGTHS = [2, 0, 4, 1]


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def rows(width=3, dtype=np.float32):
    return np.random.default_rng(0).random((sum(LENGTHS), width)).astype(dtype)


def steps(module, seqs):
    """What a recurrent module makes of each sequence by itself."""
    width = (module.proj_size or module.hidden_size) * (2 if module.bidirectional else 1)
    return [module(x[:, None])[0][:, 0] if len(x) else x.new_zeros((0, width)) for x in seqs]


def close(got, want):
    assert len(got) == len(want)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["with_array", "with_array2d", "with_ragged", "with_list"])
def test_linear_has_the_gradients_of_torch(kind, name):
    module = torch.nn.Linear(3, 2)
    inner = module if name in ("with_array", "with_array2d") else None
    layer = getattr(transforms, name)(inner or (
        transforms.with_array(module) if name == "with_ragged" else transforms.map_list(module)
    ))  # fmt: skip
    values, d = rows(), rows(2)
    X, dY = container(kind, values, LENGTHS), container(kind, d, LENGTHS)
    Y, backprop = layer(X, True)
    assert type(Y) is type(X)
    dX = backprop(dY)
    assert type(dX) is type(X)
    got = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    x = torch.from_numpy(values).requires_grad_()
    want = module(x)
    want.backward(torch.from_numpy(d))
    level = vl.Level(LENGTHS)
    close(sequences(Y), list(vl.Ragged(want.detach(), levels=[level])))
    close(sequences(dX), list(vl.Ragged(x.grad, levels=[level])))
    close(got, [p.grad for p in module.parameters()])
    for part in sequences(dX):
        assert isinstance(part, np.ndarray)
        assert part.dtype == np.float32


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [torch.nn.LSTM, torch.nn.GRU])
def test_recurrent_modules_read_no_padding(kind, make):
    module = make(3, 4, bidirectional=True)
    X, d = container(kind, rows(), LENGTHS), rows(8)
    Y, backprop = transforms.with_padded(module)(X, True)
    seqs = [torch.from_numpy(x).requires_grad_() for x in sequences(X)]
    want = steps(module, seqs)
    assert type(Y) is type(X)
    close(sequences(Y), [y.detach() for y in want])
    dX = backprop(container(kind, d, LENGTHS))
    got = [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    for y, g in zip(want, vl.Ragged(d, LENGTHS), strict=True):
        if len(y):
            y.backward(torch.from_numpy(g))
    close(sequences(dX), [x.grad if len(x) else x.detach() for x in seqs])
    close(got, [p.grad for p in module.parameters()])


@pytest.mark.parametrize("kind", KINDS)
def test_recurrent_modules_see_a_ragged_as_they_do_a_padded(kind):
    module = torch.nn.LSTM(3, 4, bidirectional=True)
    X = container(kind, rows(), LENGTHS)
    one, two = (getattr(transforms, name)(module).predict(X) for name in ("with_ragged", "with_padded"))
    close(sequences(one), sequences(two))


def test_recurrent_modules_step_through_arrays():
    module = torch.nn.LSTM(3, 4)
    X = np.random.default_rng(0).random((4, 2, 3), np.float32)
    Y, backprop = transforms.with_padded(module)(X, True)
    close(Y, module(torch.from_numpy(X))[0].detach())
    assert backprop(Y).shape == X.shape


@pytest.mark.parametrize("lengths", [[], [0, 0]])
def test_recurrent_modules_take_no_rows(lengths):
    module = torch.nn.LSTM(3, 4, bidirectional=True)
    X = vl.Ragged(np.zeros((0, 3), np.float32), lengths)
    Y, backprop = transforms.with_padded(module)(X, True)
    assert Y.values.shape == (0, 8)
    assert Y.levels[0] is X.levels[0]
    assert backprop(Y).values.shape == (0, 3)


@pytest.mark.parametrize("make", ["with_array", "with_padded", "with_ragged", "with_list", "expand_window"])
def test_autograd_flows_through_tensors(make):
    """No backprop is called: the graph of the caller goes through the layer."""
    x = torch.from_numpy(rows(dtype=np.float64)).requires_grad_()
    inner = {"with_list": transforms.map_list(torch.tanh), "with_array": torch.tanh}.get(
        make, transforms.with_array(torch.tanh)
    )
    layer = transforms.expand_window(1) if make == "expand_window" else getattr(transforms, make)(inner)

    def run(values):
        result, _ = layer(vl.Ragged(values, LENGTHS), True)
        return result.values

    assert torch.autograd.gradcheck(run, (x,))
    Y, _ = layer(vl.Ragged(x, LENGTHS), True)
    Y.values.sum().backward()
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("op", ["sum", "mean", "max", "first", "last"])
def test_autograd_flows_through_reductions(op):
    lengths = [2, 4, 1]
    x = torch.from_numpy(rows(dtype=np.float64)).requires_grad_()
    layer = getattr(transforms, f"reduce_{op}")()
    assert torch.autograd.gradcheck(lambda values: layer(vl.Ragged(values, lengths), True)[0], (x,))
    Y, backprop = layer(vl.Ragged(x.detach(), lengths), True)
    d = torch.rand_like(Y)
    (want,) = torch.autograd.grad(layer(vl.Ragged(x, lengths), True)[0], x, d)
    torch.testing.assert_close(backprop(d).values, want)


def test_tensors_stay_tensors_and_both_ways_back_agree():
    module = torch.nn.LSTM(3, 4, bidirectional=True)
    layer = transforms.chain(transforms.with_padded(module), transforms.reduce_sum())
    x = torch.from_numpy(rows()).requires_grad_()
    h = 2 * x  # the graph of the caller begins before the layer
    Y, _ = layer(vl.Ragged(h, LENGTHS), True)
    assert isinstance(Y, torch.Tensor)
    d = torch.rand_like(Y)
    Y.backward(d)
    want, grads = x.grad, [p.grad.clone() for p in module.parameters()]
    module.zero_grad()
    x.grad = None
    Y, backprop = layer(vl.Ragged(2 * x, LENGTHS), True)
    dX = backprop(d)
    torch.testing.assert_close(2 * dX.values, want)
    assert x.grad is None  # what lies before the layer is the caller's to call
    for p, grad in zip(module.parameters(), grads, strict=True):
        torch.testing.assert_close(p.grad, grad)


def test_memory_is_shared():
    class Doubled(torch.nn.Module):
        def forward(self, x):
            self.to_library = x
            return x

    module, values = Doubled(), rows()
    Y = transforms.with_array(module).predict(vl.Ragged(values, LENGTHS))
    assert np.shares_memory(module.to_library.numpy(), values)
    assert np.shares_memory(Y.values, values)


def test_predict_runs_in_eval_mode_and_leaves_modes_alone():
    module = torch.nn.Sequential(torch.nn.Dropout(0.5), torch.nn.BatchNorm1d(3))
    module[1].eval()
    layer = transforms.with_array(module)
    r = vl.Ragged(rows(), LENGTHS)
    assert layer.predict(r).equals(layer.predict(r))
    assert [part.training for part in module.modules()] == [True, True, False]
    Y, _ = layer(r, False)
    assert Y.equals(layer.predict(r))
    tensor = layer.predict(vl.Ragged(torch.from_numpy(rows()).requires_grad_(), LENGTHS)).values
    assert not tensor.requires_grad


def test_integers_have_gradients_of_zeros():
    module = torch.nn.Embedding(5, 2)
    r = vl.Ragged(np.array([1, 4, 1]), [1, 2])
    Y, backprop = transforms.with_array(module)(r, True)
    assert Y.values.shape == (3, 2)
    assert backprop(Y._make(np.ones((3, 2), np.float32), Y.levels)).to_list() == [[0], [0, 0]]
    assert module.weight.grad[:, 0].tolist() == [0, 2, 0, 0, 1]


def test_frozen_modules_give_gradients_of_inputs_alone():
    module = torch.nn.Linear(3, 2).requires_grad_(False)
    _, backprop = transforms.with_array(module)(rows(), True)
    np.testing.assert_allclose(
        backprop(np.ones((7, 2), "f")), np.ones((7, 2), "f") @ module.weight.numpy(), rtol=1e-6
    )
    assert module.weight.grad is None


def test_modules_see_containers_of_tensors():
    class Look(torch.nn.Module):
        def forward(self, x):
            self.to_library = x
            return x.data.tanh() if isinstance(x, vl.Padded) else x.values.tanh()

    module, r = Look(), vl.Ragged(rows(), LENGTHS)
    for name, kind in (("with_padded", vl.Padded), ("with_ragged", vl.Ragged)):
        Y, backprop = getattr(transforms, name)(module)(r, True)
        assert isinstance(module.to_library, kind)
        np.testing.assert_allclose(Y.values, np.tanh(r.values), rtol=1e-6)
        np.testing.assert_allclose(backprop(r).values, r.values * (1 - Y.values**2), rtol=1e-4)


def test_layers_together_let_autograd_flow():
    x = torch.from_numpy(rows(dtype=np.float64)).requires_grad_()
    tanh = transforms.with_array(torch.tanh)
    for layer in (
        transforms.concatenate(tanh, lambda X: X),
        transforms.add(tanh, tanh),
        transforms.residual(tanh),
    ):
        assert torch.autograd.gradcheck(lambda v, f=layer: f(vl.Ragged(v, LENGTHS), True)[0].values, (x,))


def test_what_a_module_does_not_use_has_gradients_of_zeros():
    class Alone(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.unused = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))

        def forward(self, x):
            return self.used.expand(len(x), 2)

    module = Alone()
    _, backprop = transforms.with_array(module)(rows(), True)
    assert not backprop(np.ones((7, 2), np.float32)).any()
    assert module.used.grad.tolist() == [7, 7]
    assert module.unused.grad is None


def test_bfloat16_results_are_float32_arrays():
    module = torch.nn.Linear(3, 2).to(torch.bfloat16)

    class Narrow(torch.nn.Module):
        def forward(self, x):
            return module(x.to(torch.bfloat16))

    Y, backprop = transforms.with_array(Narrow())(rows(), True)
    assert Y.dtype == np.float32
    assert backprop(Y).dtype == np.float32


def test_gradients_of_another_kind_are_refused():
    _, backprop = transforms.with_array(torch.nn.Linear(3, 2))(vl.Ragged(rows(), LENGTHS), True)
    good = vl.Ragged(rows(2), LENGTHS)
    for bad in (good.astype(np.float64), vl.Ragged(torch.from_numpy(rows(2)), LENGTHS), good.values):
        with pytest.raises(ValueError, match="the gradient"):
            backprop(bad)
    backprop(good)
