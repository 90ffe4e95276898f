"""Layers of torch on a Ragged in one graph of torch.compile, for any number of sequences."""

import pytest
import varlen as vl

torch = pytest.importorskip("torch")

import varlen.backends.torch.graph  # noqa: E402  registers the ops
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

LENGTHS = ([3, 0, 5, 1], [2, 4, 1, 2, 6], [1, 3, 0])
MASK = torch.randn(6, 6)


def heads(r, count):
    """The rows (6,) of a Ragged as so many heads of two numbers."""
    return r.unflatten(-1, (3, 2))[:, :, :count]


class Calling(nn.Module):
    """A layer, and how it is called."""

    def __init__(self, layer, call):
        super().__init__()
        self.layer, self.call = layer, call

    def forward(self, r):
        return self.call(self.layer, r)


def weights(layer, **options):
    return Calling(layer, lambda layer, r: layer(r, r, r, **options)[1])


def attention(layer, **options):
    return Calling(layer, lambda layer, r: layer(r, r, r, need_weights=False, **options)[0])


def time_first(layer):
    call = lambda layer, r: layer(*[r.transpose(0, 1)] * 3, need_weights=False)[0].transpose(0, 1)  # noqa: E731
    return Calling(layer, call)


sdpa = F.scaled_dot_product_attention
LAYERS = {
    "sdpa": lambda: lambda r: sdpa(r, r, r),
    "sdpa, causal": lambda: lambda r: sdpa(r, r * 2, r, is_causal=True, scale=0.5),
    "sdpa, grouped": lambda: lambda r: sdpa(heads(r, 3), heads(r, 1), heads(r, 1), enable_gqa=True),
    "sdpa, mask": lambda: lambda r: sdpa(r, r, r, attn_mask=r.values.mean() * MASK),
    "sdpa, dropout": lambda: lambda r: sdpa(r, r, r, dropout_p=0.5),
    "attend, window": lambda: lambda r: vl.ops.attend(r, r, r[..., :2].softmax(), window=(1, 0)),
    "attention": lambda: attention(nn.MultiheadAttention(6, 2, batch_first=True)),
    "attention, time first": lambda: time_first(nn.MultiheadAttention(6, 3)),
    "attention, weights": lambda: weights(nn.MultiheadAttention(6, 2, batch_first=True)),
    "attention, each head": lambda: weights(nn.MultiheadAttention(6, 2), average_attn_weights=False),
    "transformer": lambda: nn.TransformerEncoderLayer(6, 2, 12, batch_first=True, dropout=0),
}


BY_AUTOGRAD_OF_GRAPHS = ("sdpa, mask", "sdpa, dropout")  # whose gradients are a graph too


def run(layers, function, lengths):
    """What layers give, each of rows of its own, and the gradients of the rows and of all parameters."""
    torch.manual_seed(len(lengths))
    rows = {name: torch.randn(sum(lengths), 6, requires_grad=True) for name in layers}
    results = function(rows, torch.tensor(lengths))
    loss = sum(values.square().sum() for values, _ in results.values())
    parameters = [p for layer in layers.values() if isinstance(layer, nn.Module) for p in layer.parameters()]
    gradients = torch.autograd.grad(loss, [*rows.values(), *parameters], materialize_grads=True)
    return results, dict(zip(rows, gradients, strict=False)), gradients[len(rows) :]


def run_both(layers, backend):
    """Layers outside of a graph, and all of them in one: both for each number of sequences."""

    def each(rows, lengths):
        results = {name: layers[name](vl.Ragged(x, lengths)) for name, x in rows.items()}
        return {
            name: (y.values, [level.offsets for level in y.levels]) if isinstance(y, vl.Ragged) else (y, [])
            for name, y in results.items()
        }

    torch.compiler.reset()
    compiled = torch.compile(each, fullgraph=True, dynamic=True, backend=backend)
    results = []
    for lengths in LENGTHS:
        wanted = run(layers, each, lengths)
        with torch._dynamo.config.patch(error_on_recompile=bool(results)):
            results.append((run(layers, compiled, lengths), wanted))
    torch.compiler.reset()
    return results


@pytest.fixture(scope="module")
def runs():
    torch.manual_seed(0)
    return run_both({name: make() for name, make in LAYERS.items()}, "eager")


def same(name, runs):
    for (found, gradients, _), (wanted, wanted_gradients, _) in runs:
        torch.testing.assert_close(found[name][0], wanted[name][0])
        for a, b in zip(found[name][1], wanted[name][1], strict=True):
            assert a.tolist() == b.tolist()
        torch.testing.assert_close(gradients[name], wanted_gradients[name])


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_in_a_graph_gives_what_it_gives_outside(name, runs):
    same(name, runs)


def test_parameters_have_the_gradients_that_they_have_outside(runs):
    for (*_, found), (*_, wanted) in runs:
        assert len(found) > 20
        torch.testing.assert_close(found, wanted)


def test_gradients_are_a_graph_too():
    runs = run_both({name: LAYERS[name]() for name in BY_AUTOGRAD_OF_GRAPHS}, "aot_eager")
    for name in BY_AUTOGRAD_OF_GRAPHS:
        same(name, runs)


def test_a_graph_refuses_what_does_not_fit():
    def attend(x, lengths, key_lengths):
        return sdpa(vl.Ragged(x, lengths), *[vl.Ragged(x, key_lengths)] * 2)

    def unbacked(numbers):
        lengths = torch.tensor(numbers)
        torch._dynamo.decorators.mark_unbacked(lengths, 0)
        return lengths

    compiled = torch.compile(attend, fullgraph=True, dynamic=True, backend="eager")
    x = torch.randn(5, 4)
    compiled(x, unbacked([2, 3]), unbacked([1, 4]))
    with pytest.raises(ValueError, match=r"^k: has 3 sequences, q has 2$"):
        compiled(x, unbacked([2, 3]), unbacked([1, 3, 1]))
