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


def codes(r):
    """Five codes for the rows of a Ragged."""
    return (r.sum(axis=-1) * 10).long() % 5


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
    "sdpa, causal": lambda: lambda r: sdpa(r, r * 2, r, is_causal=True, scale=0.5),
    "sdpa, grouped": lambda: lambda r: sdpa(heads(r, 3), heads(r, 1), heads(r, 1), enable_gqa=True),
    "sdpa, mask": lambda: lambda r: sdpa(r, r, r, attn_mask=r.values.mean() * MASK),
    "sdpa, dropout": lambda: lambda r: sdpa(r, r, r, dropout_p=0.5),
    "attend, window": lambda: lambda r: vl.ops.attend(r, r, r[..., :2].softmax(), window=(1, 0)),
    "attention": lambda: attention(nn.MultiheadAttention(6, 2, batch_first=True)),
    "attention, time first": lambda: time_first(nn.MultiheadAttention(6, 3)),
    "attention, weights": lambda: weights(nn.MultiheadAttention(6, 2), average_attn_weights=False),
    "conv1d": lambda: nn.Conv1d(6, 4, 3, padding=1),
    "conv1d, strided": lambda: nn.Conv1d(6, 4, 2, stride=2, dilation=2, groups=2, bias=False),
    "conv1d, transposed": lambda: nn.ConvTranspose1d(6, 4, 3, stride=2, output_padding=1, groups=2),
    "max_pool1d": lambda: nn.MaxPool1d(2, padding=1),
    "max_pool1d, ceil": lambda: nn.MaxPool1d(3, 2, ceil_mode=True),
    "max_pool1d, indices": lambda: Calling(
        nn.MaxPool1d(2, return_indices=True), lambda layer, r: torch.mul(*layer(r))
    ),
    "avg_pool1d": lambda: nn.AvgPool1d(2, padding=1, count_include_pad=False),
    "channels first": lambda: Calling(
        nn.Conv1d(6, 6, 3, padding=1),
        lambda layer, r: (F.pad(layer(r.transpose(1, 2)), (1, 0)) * 2).transpose(1, 2),
    ),
    "pad": lambda: Calling(None, lambda _, r: F.pad(r, (1, 0, 0, 2), value=2.0)),
    "pad, replicate": lambda: nn.ReplicationPad1d(2),
    "embedding_bag, max": lambda: Calling(nn.EmbeddingBag(5, 3, mode="max"), lambda bag, r: bag(codes(r))),
    "dropout": lambda: nn.Dropout(0.3),
    "dropout1d": lambda: nn.Dropout1d(0.3),
    "batch_norm": lambda: nn.BatchNorm1d(6),
    "layer_norm": lambda: nn.LayerNorm(6),
    "group_norm": lambda: nn.GroupNorm(2, 6),
    "glu": lambda: nn.GLU(),
    "prelu": lambda: nn.PReLU(6),
    "gru, dropout": lambda: Calling(
        nn.GRU(6, 4, 2, dropout=0.3, batch_first=True), lambda layer, r: layer(r)[0]
    ),
    "lstm": lambda: Calling(
        nn.LSTM(6, 4, batch_first=True, bidirectional=True), lambda layer, r: layer(r)[1][0]
    ),
    "lstm, time first": lambda: Calling(
        nn.LSTM(6, 4), lambda layer, r: layer(r.transpose(0, 1))[0].transpose(0, 1)
    ),
    "median": lambda: lambda r: torch.median(F.pad(r, (0, 0, 0, 1)), 1, keepdim=True)[0],
    "nansum": lambda: lambda r: torch.nansum(r.masked_fill(r > 1, torch.nan), 1),
    "repeat": lambda: lambda r: torch.repeat_interleave(r, 2, 1),
    "repeat, counts": lambda: lambda r: r.repeat_interleave((r.values[:, 0] > 0).long(), 1),
    "repeat, sequences": lambda: lambda r: r.repeat_interleave(3, 0),
    "view": lambda: lambda r: r.view(-1),
    "view, rows": lambda: lambda r: r.view(r.size(0), -1, 2, 3),
    "numel": lambda: lambda r: r if 6 * r.values.shape[0] == r.numel() else r * 0,
    "size": lambda: lambda r: r * r.size(0) + r.values.sum() * r.size / (2 * r.size + 1 - r.size % 5),
}


BY_AOT = ("sdpa, dropout", "conv1d, strided")


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
        with torch._dynamo.config.patch(error_on_recompile=bool(results), allow_rnn=True):
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
    runs = run_both({name: LAYERS[name]() for name in BY_AOT}, "aot_eager")
    for name in BY_AOT:
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
