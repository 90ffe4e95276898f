"""Layers and losses of torch on a Ragged: each sequence's result is that of the sequence alone."""

import pytest
import varlen as vl

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

LENGTHS = [3, 0, 5, 1]


def ragged(width=6, lengths=LENGTHS, dtype=torch.float64):
    x = torch.randn(sum(lengths), width, dtype=dtype, requires_grad=True)
    return x, vl.Ragged(x, lengths)


def same(found, parts):
    torch.testing.assert_close(found.values, torch.cat([part for part in parts if len(part)]))


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
@pytest.mark.parametrize("options", [{}, {"num_layers": 2, "bidirectional": True}])
def test_recurrent_layers_run_over_each_sequence(kind, options):
    x, r = ragged()
    layer = getattr(nn, kind)(6, 4, batch_first=True, **options)
    y, state = layer(r)
    same(y, [layer(part[None])[0][0] for part in r if len(part)])
    assert y.lengths.tolist() == LENGTHS
    states = state if isinstance(state, tuple) else (state,)
    for i, part in enumerate(r):
        if len(part):
            alone = layer(part[None])[1]
            alone = alone if isinstance(alone, tuple) else (alone,)
            for h, wanted in zip(states, alone, strict=True):
                torch.testing.assert_close(h[:, i], wanted[:, 0])
        else:
            assert all(not h[:, i].any() for h in states)
    y.sum().sum().backward()
    assert x.grad.abs().min() > 0
    start = tuple(torch.randn_like(h) for h in states)
    _, kept = layer(r, start if kind == "LSTM" else start[0])
    kept = kept if isinstance(kept, tuple) else (kept,)
    for h, first in zip(kept, start, strict=True):
        torch.testing.assert_close(h[:, 1], first[:, 1])  # the empty sequence
    nothing, _ = layer(vl.Ragged(x[:0], [0, 0]))
    assert nothing.lengths.tolist() == [0, 0]
    assert nothing.values.shape == (0, y.values.shape[1])


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_recurrent_layers_with_time_first_run_over_each_sequence(kind):
    _, r = ragged()
    layer = getattr(nn, kind)(6, 4, 2, bidirectional=True)
    wanted, state = layer(r)
    same(wanted, [layer(part)[0] for part in r if len(part)])
    for h, alone in zip(state, layer(r[2])[1], strict=True):
        torch.testing.assert_close(h[..., 2, :], alone)
    # As a module that counts time first has it: batches come with their first axes swapped, and go so.
    swapped, other = layer(r.transpose(0, 1))
    assert swapped.shape == (None, 4, 8)
    torch.testing.assert_close(swapped.transpose(0, 1).values, wanted.values)
    torch.testing.assert_close(other, state)
    layer(r, torch.zeros(4, 4, 4) if kind != "LSTM" else (torch.zeros(4, 4, 4),) * 2)
    with pytest.raises(RuntimeError, match="hidden"):
        layer(r, torch.zeros(4, 3, 4) if kind != "LSTM" else (torch.zeros(4, 3, 4),) * 2)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
def test_transformers_with_time_first_take_a_ragged():
    _, r = ragged()
    _, target = ragged(lengths=[2, 0, 4, 3])
    model = nn.Transformer(6, 2, 1, 1, 12, dropout=0)
    parts = [(a, b) for a, b in zip(r, target, strict=True) if len(a)]
    same(model(r, target), [model(a, b) for a, b in parts])
    with pytest.raises(RuntimeError, match="batch number"):
        model(r, target[:3])


def test_an_adaptive_softmax_leads_to_rows():
    x, r = ragged(lengths=[3, 1, 4, 1])
    layer = nn.AdaptiveLogSoftmaxWithLoss(6, 20, [5, 10], div_value=2.0)
    targets = vl.Ragged(torch.randint(0, 20, (9,)), levels=r.levels)
    for call in (lambda: layer(r, targets), lambda: layer.predict(r)):
        with pytest.raises(TypeError, match=r"takes rows, and no Ragged; pass r\.values and target\.values"):
            call()
    with pytest.raises(AttributeError, match=r"new_empty'; use \.values\.new_empty\(\)$"):
        layer.log_prob(r)
    output, _ = layer(x, targets.values)
    assert vl.Ragged(output, levels=r.levels).sum().shape == (4,)
    assert torch.argmax(r, dim=1).shape == (4, 6)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"padding": 1}, {"padding": "same"}, {"padding": "same", "dilation": 3},
        {"stride": 2, "padding": 2}, {"stride": 3}, {"dilation": 2, "padding": 2, "groups": 2},
        {"bias": False, "padding": "valid"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_convolutions_go_along_each_sequence(kernel, options):
    x, r = ragged(lengths=[5, 9, 7, 6])
    layer = nn.Conv1d(6, 4, kernel, **options)
    y = layer(r)
    same(y, [layer(part.T[None])[0].T for part in r])
    y.values.square().sum().backward()
    found, x.grad = x.grad, None
    sum(layer(part.T[None]).square().sum() for part in r).backward()
    torch.testing.assert_close(found, x.grad)


def test_convolutions_of_short_sequences_have_no_rows():
    _, r = ragged(lengths=[1, 0, 4])
    assert nn.Conv1d(6, 2, 3)(r).lengths.tolist() == [0, 0, 2]
    assert nn.Conv1d(6, 2, 3, padding=1)(r).lengths.tolist() == [1, 0, 4]
    assert nn.Conv1d(6, 2, 3)(r[:2]).values.shape == (0, 2)


def test_batch_norm_counts_rows():
    x, r = ragged()
    a, b = nn.BatchNorm1d(6), nn.BatchNorm1d(6)
    torch.testing.assert_close(a(r).values, b(x))
    torch.testing.assert_close(a.running_var, b.running_var)
    torch.testing.assert_close(a.eval()(r).values, b.eval()(x))


@pytest.mark.parametrize("batch_first", [True, False])
def test_multi_head_attention_stays_inside_sequences(batch_first):
    _, r = ragged()
    layer = nn.MultiheadAttention(6, 2, batch_first=batch_first)
    y, weights = layer(r, r, r)
    parts = [layer(part, part, part) for part in r if len(part)]
    same(y, [part for part, _ in parts])
    torch.testing.assert_close(weights.values, torch.cat([part.flatten() for _, part in parts]))
    assert weights.shape == (4, None, None)
    assert weights.levels[0] is r.levels[0]
    assert layer(r, r, r, need_weights=False)[1] is None
    mask = torch.ones(5, 5, dtype=torch.bool).triu(1)
    y, weights = layer(r, r, r, attn_mask=mask)
    causal, _ = layer(r, r, r, attn_mask=mask, is_causal=True, need_weights=False)
    own = [layer(part, part, part, attn_mask=mask[: len(part), : len(part)]) for part in r if len(part)]
    for found in (y, causal):
        same(found, [part for part, _ in own])
    torch.testing.assert_close(weights.values, torch.cat([part.flatten() for _, part in own]))
    _, short = ragged(lengths=[1, 2, 0, 3])
    y, weights = layer(r, short, short)
    same(y, [layer(a, b, b)[0] if len(b) else layer.out_proj(a * 0) for a, b in zip(r, short, strict=True)])
    for name in ("key_padding_mask",):
        with pytest.raises(TypeError, match=f"^{name}: attention of a Ragged has none"):
            layer(r, r, r, **{name: torch.zeros(4, 5, dtype=torch.bool)})
    _, each = layer(r, r, r, average_attn_weights=False)
    own = [layer(part, part, part, average_attn_weights=False)[1] for part in r if len(part)]
    torch.testing.assert_close(each.values, torch.cat([part.movedim(0, -1).flatten(0, 1) for part in own]))


def test_keys_and_values_of_other_widths():
    _, r = ragged()
    _, k = ragged(3)
    layer = nn.MultiheadAttention(6, 2, kdim=3, vdim=3, batch_first=True)
    same(layer(r, k, k)[0], [layer(a, b, b)[0] for a, b in zip(r, k, strict=True) if len(a)])


@pytest.mark.parametrize("is_training", [True, False])
def test_transformers_take_a_ragged(is_training):
    _, r = ragged()
    layer = nn.TransformerEncoderLayer(6, 2, 12, batch_first=True, dropout=0)
    encoder = nn.TransformerEncoder(layer, 2).train(is_training)
    same(encoder(r), [encoder(part[None])[0] for part in r if len(part)])
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 12, batch_first=True, dropout=0), 1)
    same(decoder(r, r), [decoder(part[None], part[None])[0] for part in r if len(part)])


class Tagger(nn.Module):
    """As written for [batch, time, feature]."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.norm = nn.LayerNorm(6)
        self.drop = nn.Dropout(0.0)
        self.lstm = nn.LSTM(6, 4, batch_first=True, bidirectional=True)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)
        self.out = nn.Linear(8, 3)

    def forward(self, ids):
        x = self.drop(self.norm(self.embed(ids)))
        x, _ = self.lstm(x)
        y, _ = self.attend(x, x, x, need_weights=False)
        return self.out(torch.relu(x + y))


def test_a_module_written_for_batches_takes_a_ragged():
    model, ids = Tagger(), vl.Ragged(torch.randint(0, 10, (9,)), LENGTHS)
    targets = vl.Ragged(torch.randint(0, 3, (9,)), LENGTHS)
    logits = model(ids)
    same(logits, [model(part[None])[0] for part in ids if len(part)])
    F.cross_entropy(logits, targets).backward()
    assert all(p.grad is not None for p in model.parameters())


LOSSES = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "huber_loss", "kl_div", "l1_loss", "mse_loss",
    "poisson_nll_loss", "smooth_l1_loss", "soft_margin_loss",
]  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.filterwarnings("ignore:reduction")
def test_losses_count_rows(name, reduction):
    x, y = (vl.Ragged(torch.rand(9, 2), LENGTHS) for _ in range(2))
    loss = getattr(F, name)
    found, wanted = loss(x, y, reduction=reduction), loss(x.values, y.values, reduction=reduction)
    if reduction == "none":
        assert found.levels is x.levels
        found = found.values
    torch.testing.assert_close(found, wanted)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_losses_of_classes_take_classes_per_row(name):
    _, r = ragged()
    loss, classes = getattr(F, name), vl.Ragged(torch.randint(0, 6, (9,)), LENGTHS)
    classes.values[0] = -100
    weight = torch.rand(6)
    for options in ({}, {"reduction": "sum"}, {"weight": weight}):
        torch.testing.assert_close(loss(r, classes, **options), loss(r.values, classes.values, **options))
    by_sequence = loss(r, classes, reduction="none").sum()
    assert by_sequence.shape == (4,)
    torch.testing.assert_close(by_sequence.sum(), loss(r.values, classes.values, reduction="sum"))


def test_other_reductions_and_losses():
    x, y = (vl.Ragged(torch.rand(9, 2), LENGTHS) for _ in range(2))
    for reduction in ("sum", "batchmean", "batchmean"):
        count = 4 if reduction == "batchmean" else 1  # sequences, also where a call has shown the way
        torch.testing.assert_close(
            F.kl_div(x, y, reduction=reduction), F.kl_div(x.values, y.values, reduction="sum") / count
        )
    torch.testing.assert_close(
        F.triplet_margin_loss(x, y, x * 2), F.triplet_margin_loss(x.values, y.values, x.values * 2)
    )
    torch.testing.assert_close(
        nn.GaussianNLLLoss()(x, y, x), nn.GaussianNLLLoss()(x.values, y.values, x.values)
    )
    with pytest.raises(
        TypeError, match=r"^target: torch\.mse_loss takes a Ragged beside a Ragged; use vl\.Ragged\("
    ):
        F.mse_loss(x, y.values)
    with pytest.raises(ValueError, match=r"^target: torch\.mse_loss takes Raggeds that nest alike: "):
        F.mse_loss(x, vl.Ragged(y.values, [9]))


def test_ctc_is_that_of_torch():
    _, r = ragged()
    probs, labels = r.log_softmax(axis=-1), vl.Ragged(torch.tensor([1, 2, 3]), [1, 0, 2, 0])
    for reduction in ("mean", "sum", "none"):
        found = F.ctc_loss(probs, labels, LENGTHS, [1, 0, 2, 0], reduction=reduction)
        wanted = F.ctc_loss(
            probs.to_dense().transpose(0, 1), labels.values, torch.tensor(LENGTHS),
            torch.tensor([1, 0, 2, 0]), reduction=reduction,
        )  # fmt: skip
        torch.testing.assert_close(found, wanted)
    with pytest.raises(ValueError, match=r"^input_lengths: differ from the lengths of the Ragged"):
        F.ctc_loss(probs, labels, [1] * 4, [1, 0, 2, 0])


CALLS = {
    "linear": lambda r: F.linear(r, torch.ones(4, 6)),
    "layer_norm": lambda r: F.layer_norm(r, (6,)),
    "rms_norm": lambda r: F.rms_norm(r, [6]),
    "batch_norm": lambda r: F.batch_norm(r, None, None, training=True),
    "gelu": lambda r: F.gelu(r, approximate="tanh"),
    "add": lambda r: torch.add(r, r, alpha=2),
    "add a number": lambda r: torch.add(r, 2),
    "mse": lambda r: F.mse_loss(r, r * 2),
    "kl": lambda r: F.kl_div(r, torch.exp(r), reduction="sum"),
    "mse, each": lambda r: F.mse_loss(r, r * 2, reduction="none"),
    "hinge": lambda r: F.margin_ranking_loss(r, r * 2, torch.sign(r)),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_second_call_gives_what_the_first_gave(name):
    x, r = ragged()
    wanted = CALLS[name](x)
    for _ in range(3):
        found = CALLS[name](r)
        if wanted.ndim:
            assert type(found) is vl.Ragged
            assert found.levels is r.levels
            found = found.values
        torch.testing.assert_close(found, wanted)
    (gradient,) = torch.autograd.grad(found.square().sum(), x)
    torch.testing.assert_close(gradient, torch.autograd.grad(wanted.square().sum(), x)[0])


class Special(vl.Ragged):
    """A class of a user's own."""


def test_a_second_call_refuses_what_the_first_refused():
    x, r = ragged()
    other = vl.Ragged(x, [9, 0, 0, 0])
    weight = torch.ones(6, 6)
    for _ in range(2):
        F.linear(r, weight)
        F.mse_loss(r, r)
        torch.add(r, r)
        with pytest.raises(TypeError):
            F.linear(x, vl.Ragged(weight, [6]))
        with pytest.raises((TypeError, RuntimeError)):
            F.linear(vl.Ragged(x[:, 0], LENGTHS), weight)
        with pytest.raises(TypeError, match=r"^target: torch\.mse_loss takes a Ragged beside a Ragged"):
            F.mse_loss(r, x)
        with pytest.raises(ValueError, match=r"^target: torch\.mse_loss takes Raggeds that nest alike"):
            F.mse_loss(r, other)
        with pytest.raises(ValueError, match="nest"):
            torch.add(r, other)
        with pytest.raises(TypeError, match="batch_norm takes a Ragged with rows"):
            F.batch_norm(r.unflatten(-1, (2, 3)), None, None, training=True)
    # Levels that are equal, and not the same, nest alike; rows of fewer axes go to each number of a row.
    again = vl.Ragged(x, LENGTHS)
    torch.testing.assert_close(F.mse_loss(r, again), F.mse_loss(x, x))
    column = vl.Ragged(x[:, 0], levels=r.levels)
    torch.testing.assert_close(torch.add(r, column).values, x + x[:, :1])
    special = Special(x, LENGTHS)
    assert type(torch.relu(special)) is Special
    assert type(F.linear(special, weight)) is Special


def test_sizes_are_those_of_axes():
    _, r = ragged()
    assert (r.size, r.size(0), r.size(-1), r.size()) == (54, 4, 6, (4, None, 6))
    assert r.dim() == r.ndim == 3
    assert r.numpy().size == 54
    with pytest.raises(TypeError, match=r"^dim: axis 1 is ragged"):
        r.size(1)
    assert r.unflatten(-1, (2, 3)).transpose(2, 3).shape == (4, None, 3, 2)
    with pytest.raises(TypeError, match=r"^dim0: axis 1 is ragged, or the sequences, and stays where it is"):
        r.unflatten(-1, (2, 3)).transpose(1, 2)
    swapped = r.transpose(0, 1)
    assert swapped.transpose(1, 0) is r
    assert (swapped.size(), swapped.dim()) == ((None, 4, 6), 3)
    with pytest.raises(TypeError, match=r"torch\.relu cannot take a Ragged with its time first"):
        torch.relu(swapped)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r: nn.Conv1d(5, 2, 1)(r), "^input: rows have 6 channels, the weight takes 5$"),
        (lambda r: nn.BatchNorm1d(6)(r.unflatten(-1, (6, 1))), r"rows \(channels,\)|4D"),
        (lambda r: F.conv1d(r.values[None], r), r"rows \(channels,\)"),
        (lambda r: F.conv1d(r.numpy(), torch.ones(1, 6, 1)), r"use r\.torch\(\)"),
    ],
)
def test_bad_input_names_the_way(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(ragged()[1])
