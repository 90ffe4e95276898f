"""Norms, pooling and bags of torch on a Ragged: each sequence's result is that of the sequence alone."""

import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

LENGTHS = [3, 0, 5, 1]


def ragged(width=6, lengths=LENGTHS):
    x = torch.randn(sum(lengths), width, dtype=torch.float64, requires_grad=True)
    return x, vl.Ragged(x, lengths)


def check(layer, lengths=LENGTHS, width=6):
    """The result and the gradient of a layer of (batch, channels, time), and those of each sequence alone."""
    x, r = ragged(width, lengths)
    found = layer(r)
    parts = [layer(part.T[None])[0].T for part in r if len(part)]
    wanted = torch.cat([found.values[:0], *parts])
    torch.testing.assert_close(found.values, wanted)
    d = torch.randn_like(wanted)
    if wanted.numel():
        (a,), (b,) = (torch.autograd.grad(y, x, d, retain_graph=True) for y in (found.values, wanted))
        torch.testing.assert_close(a, b)
    return found


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norms_stay_inside_sequences(groups):
    layer = nn.GroupNorm(groups, 6)
    nn.init.normal_(layer.weight)
    nn.init.normal_(layer.bias)
    assert check(layer, [3, 0, 5, 2]).lengths.tolist() == [3, 0, 5, 2]
    check(nn.GroupNorm(groups, 6, affine=False), [4, 2])
    nest = vl.Ragged(torch.randn(9, 6), [[1, 3], LENGTHS])
    assert layer(nest).levels is nest.levels


@pytest.mark.parametrize("is_affine", [False, True])
def test_instance_norms_stay_inside_sequences(is_affine):
    layer = nn.InstanceNorm1d(6, affine=is_affine)
    if is_affine:
        nn.init.normal_(layer.weight)
        nn.init.normal_(layer.bias)
    check(layer, [3, 0, 5, 2])
    _, r = ragged(lengths=[3, 2, 5])
    torch.testing.assert_close(F.instance_norm(r).values, nn.GroupNorm(6, 6, affine=False)(r).values)
    halves = vl.Ragged((r.values.detach() / 8 + 50).bfloat16(), [3, 2, 5])
    wanted = torch.cat([F.instance_norm(part.T[None].float())[0].T for part in halves])
    torch.testing.assert_close(F.instance_norm(halves).values, wanted.bfloat16(), atol=1e-3, rtol=0.016)
    with pytest.raises(ValueError, match="to match num_features"):
        nn.InstanceNorm1d(5, affine=True)(r)


def test_instance_norms_keep_the_mean_of_sequences_as_of_a_batch():
    x = torch.randn(3, 4, 6)
    ours, theirs = (nn.InstanceNorm1d(6, track_running_stats=True, affine=True) for _ in range(2))
    for momentum in (0.1, 0.5):
        ours.momentum = theirs.momentum = momentum
        wanted = theirs(x.transpose(1, 2)).transpose(1, 2).flatten(0, 1)
        # The variance of one row is unknown, so that a sequence of one row tells nothing, as an empty one.
        r = vl.Ragged(torch.cat([x.flatten(0, 1), torch.randn(1, 6)]), [4, 0, 4, 4, 1])
        torch.testing.assert_close(ours(r).values[:-1], wanted)
        for name in ("running_mean", "running_var"):
            torch.testing.assert_close(getattr(ours, name), getattr(theirs, name))
    wanted = theirs.eval()(x.transpose(1, 2)).transpose(1, 2).flatten(0, 1)
    torch.testing.assert_close(ours.eval()(r).values[:-1], wanted)
    kept = ours.running_mean.clone()
    ours.train()(vl.Ragged(torch.randn(2, 6), [1, 0, 1]))
    assert ours.running_mean.equal(kept)


@given(
    st.lists(st.sampled_from([0, 4, 5, 6, 9, 11]), min_size=1, max_size=6),
    st.integers(1, 4), st.integers(1, 3), st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=40)
def test_pooling_goes_along_each_sequence(lengths, kernel, stride, has_padding):
    padding = kernel // 2 if has_padding else 0
    for layer in (
        nn.MaxPool1d(kernel, stride, padding),
        nn.MaxPool1d(kernel, padding=padding),
        nn.AvgPool1d(kernel, stride, padding),
        nn.AvgPool1d(kernel, stride, padding, count_include_pad=False),
        nn.MaxPool1d(kernel, stride, padding, ceil_mode=True),
        nn.AvgPool1d(kernel, stride, padding, ceil_mode=True),
        nn.AvgPool1d(kernel, stride, padding, ceil_mode=True, count_include_pad=False),
    ):
        check(layer, lengths)


def test_pooling_with_gaps_and_of_short_sequences():
    check(nn.MaxPool1d(3, 1, 1, dilation=2), [5, 7, 6])
    _, r = ragged()
    assert nn.MaxPool1d(4)(r).lengths.tolist() == [0, 0, 1, 0]
    assert nn.MaxPool1d(4, ceil_mode=True)(r).lengths.tolist() == [1, 0, 2, 1]
    check(nn.MaxPool1d(3, 2, 1, dilation=2, ceil_mode=True), [5, 7, 6, 4])
    halves = vl.Ragged(r.values.detach().bfloat16(), LENGTHS)
    for layer in (nn.MaxPool1d(2, ceil_mode=True), nn.AvgPool1d(2, ceil_mode=True)):
        found = layer(halves).values
        wanted = torch.cat([layer(part.float().T[None])[0].T for part in halves if len(part)])
        torch.testing.assert_close(found, wanted.bfloat16())
    with pytest.raises(ValueError, match=r"^padding: expected 0 to half of the kernel, 1, got 2$"):
        F.max_pool1d(r, 2, padding=2)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 2, "padding": 1, "dilation": 2},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    ],
)
def test_indices_of_pooling_are_those_inside_each_sequence(options):
    lengths = [3, 0, 5, 4]
    _, r = ragged(lengths=lengths)
    layer = nn.MaxPool1d(return_indices=True, **options)
    rows, indices = layer(r)
    assert rows.levels[0] is indices.levels[0]
    for part, row, index in zip(r, rows, indices, strict=True):
        wanted = layer(part.T) if len(part) else (row.T, index.T)
        torch.testing.assert_close((row.T, index.T), wanted)


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.LazyConv1d(4, 3, padding=1),
        lambda: nn.LazyConvTranspose1d(4, 3),
        lambda: nn.LazyLinear(4),
        lambda: nn.LazyBatchNorm1d(),
        lambda: nn.LazyInstanceNorm1d(affine=True),
    ],
)
def test_lazy_modules_find_the_channels_of_rows(make):
    _, r = ragged()
    layer = make()
    first = layer(r)
    assert "Lazy" not in type(layer).__name__
    assert r.shape == (len(LENGTHS), None, 6)
    torch.testing.assert_close(layer(r).values, first.values)
    assert any(6 in p.shape for p in layer.parameters())


def test_power_pooling_goes_along_each_sequence():
    check(nn.LPPool1d(2, 3, 2), [5, 0, 3, 8])
    check(nn.LPPool1d(1.0, 2, ceil_mode=True), [5, 0, 4, 8])
    with pytest.raises(TypeError, match=r"lp_pool1d takes a Ragged with rows \(channels,\)"):
        nn.LPPool1d(2, 3)(vl.Ragged(torch.ones(3), [3]))


@given(
    st.lists(st.sampled_from([0, 1, 2, 3, 6]), min_size=1, max_size=5),
    st.integers(1, 4), st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2]), st.data(),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_transposed_convolutions_go_along_each_sequence(lengths, kernel, stride, gap, groups, data):
    more = data.draw(st.integers(0, max(stride, gap) - 1))
    least = gap * (kernel - 1) + more  # what the shortest sequence gives, less one
    padding = data.draw(st.integers(0, least // 2))
    layer = nn.ConvTranspose1d(6, 4, kernel, stride, padding, more, groups, dilation=gap)
    check(layer, lengths)


def test_transposed_convolutions_that_cut_all_have_no_rows():
    _, r = ragged(lengths=[1, 0, 4])
    assert nn.ConvTranspose1d(6, 2, 2, padding=1)(r).lengths.tolist() == [0, 0, 3]
    nest = vl.Ragged(r.values, [[1, 2], [1, 0, 4]])
    y = nn.ConvTranspose1d(6, 2, 3)(nest)
    assert y.levels[0] is nest.levels[0]
    assert y.levels[1].lengths.tolist() == [3, 0, 6]


@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_padding_takes_rows_of_the_same_sequence(mode, dtype):
    check(nn.Conv1d(6, 4, 3, padding="same", padding_mode=mode, dilation=2), [3, 0, 5, 4])
    check(nn.Conv1d(6, 4, 3, 2, padding=1, padding_mode=mode), [3, 7, 5])
    _, r = ragged(lengths=[3, 0, 5])
    r = r.to(dtype)
    pad = {"reflect": nn.ReflectionPad1d, "replicate": nn.ReplicationPad1d, "circular": nn.CircularPad1d}[
        mode
    ]
    for numbers in ((2, 1), (0, 2), (1, 0), (0, 0)):
        found = pad(numbers)(r)
        assert found.lengths.tolist() == [3 + sum(numbers), 0, 5 + sum(numbers)]
        wanted = torch.cat([F.pad(part.T[None], numbers, mode=mode)[0].T for part in r if len(part)])
        assert found.values.equal(wanted)


def test_padding_by_a_number_goes_along_channels_and_sequences():
    x, r = ragged()
    found = F.pad(r, (1, 0, 2, 1), value=3.0)
    wanted = torch.cat([F.pad(part, (1, 0, 2, 1), value=3.0) for part in r])
    assert found.values.equal(wanted)
    assert found.lengths.tolist() == [6, 3, 8, 4]
    (gradient,) = torch.autograd.grad(found.values.sum(), x)
    assert gradient.equal(torch.ones_like(x))
    assert F.pad(r, (0, 0, 2, 0)).values[:2].equal(torch.zeros(2, 6))
    assert F.pad(vl.Ragged(x[:0], [0, 0]), (0, 0, 1, 0)).lengths.tolist() == [1, 1]


def test_whole_channels_drop_out():
    _, r = ragged(64)
    r = r.detach() * 0 + 1
    y = nn.Dropout1d(0.25)(r)
    for part in y:
        assert ((part == part[:1]).all()) if len(part) else True
    assert set(y.values.unique().tolist()) == {0.0, 1 / 0.75}
    assert nn.Dropout1d(0.25).eval()(r).values.equal(r.values)
    assert not F.dropout1d(r, 1.0).values.any()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_are_sequences(mode):
    bag = nn.EmbeddingBag(10, 4, mode=mode)
    ids = vl.Ragged(torch.randint(0, 10, (9,)), LENGTHS)
    wanted = bag(ids.values, torch.tensor([0, 3, 3, 8]))
    torch.testing.assert_close(bag(ids), wanted)
    nest = vl.Ragged(ids.values, [[1, 3], LENGTHS])
    assert bag(nest).lengths.tolist() == [1, 3]
    if mode == "sum":
        weights = vl.Ragged(torch.rand(9), LENGTHS)
        wanted = bag(ids.values, torch.tensor([0, 3, 3, 8]), per_sample_weights=weights.values)
        torch.testing.assert_close(bag(ids, per_sample_weights=weights), wanted)
        with pytest.raises(ValueError, match=r"^per_sample_weights: "):
            bag(ids, per_sample_weights=vl.Ragged(torch.rand(9), [9, 0, 0, 0]))
    with pytest.raises(TypeError, match=r"^offsets: a Ragged has its own"):
        bag(ids, torch.tensor([0]))


def test_functions_of_two_rows_take_two_ragged():
    (x, r), (y, s) = ragged(), ragged()
    torch.testing.assert_close(nn.CosineSimilarity(-1)(r, s).values, nn.CosineSimilarity(-1)(x, y))
    torch.testing.assert_close(F.cosine_similarity(r, s, dim=2).values, F.cosine_similarity(x, y))
    torch.testing.assert_close(nn.PairwiseDistance()(r, s).values, nn.PairwiseDistance()(x, y))
    layer = nn.Bilinear(6, 6, 3)
    torch.testing.assert_close(layer(r, s).values, layer(x, y))
    with pytest.raises(TypeError, match=r"^dim: axis 1 is no axis of the rows; use dim=-1, the last$"):
        F.cosine_similarity(r, s)
    with pytest.raises(ValueError, match="nest alike"):
        F.pairwise_distance(r, vl.Ragged(y, [9, 0, 0, 0]))
    with pytest.raises(TypeError, match="takes two Raggeds"):
        F.pairwise_distance(r, y)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda r: nn.GroupNorm(2, 6)(r.unflatten(-1, (6, 1))), r"rows \(channels,\)"),
        (lambda r: F.group_norm(r, 4), "^num_groups: rows have 6 channels, no multiple of 4$"),
        (lambda r: F.group_norm(r.detach().numpy(), 2), r"use r\.torch\(\)"),
        (
            lambda r: F.pad(r, (1, 2)),
            r"^pad: 2 numbers .* pass pad=\(0, 0, 1, 2\), for channels \(1, 2, 0, 0\)$",
        ),
        (lambda r: F.pad(r, (1, 2, 3)), "^pad: expected 4 numbers, got 3$"),
        (lambda r: F.pad(r, (1, -2), mode="circular"), "^pad: expected at least 0, got -2$"),
        (lambda r: F.pad(r, (1, 1), mode="wrap"), "^mode: expected 'constant', 'reflect', "),
        (lambda r: F.pad(r, (1, 1), mode="reflect"), "^pad: reflect by 1 takes 2 rows, sequence 3 has 1$"),
        (lambda r: F.pad(r, (2, 1), mode="circular"), "^pad: circular by 2 takes 2 rows, sequence 3 has 1$"),
        (lambda r: nn.ConvTranspose1d(5, 2, 1)(r), "^input: rows have 6 channels, the weight takes 5$"),
        (
            lambda r: F.conv_transpose1d(r, torch.ones(6, 1, 2), output_padding=1),
            "^output_padding: expected less than the stride or the dilation, 1, got 1$",
        ),
        (lambda r: F.dropout1d(r, 2.0), "^p: expected a share from 0 to 1, got 2.0$"),
        (
            lambda r: nn.EmbeddingBag(6, 2)(r),
            "^input: torch.embedding_bag takes a Ragged of",
        ),
    ],
)
def test_bad_input_names_the_way(call, text):
    with pytest.raises((TypeError, ValueError), match=text):
        call(ragged()[1])


class Convolutional(nn.Module):
    """As written for [batch, time, feature], with its channels before the time in the middle."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(6, 6, 3, padding=1)
        self.second = nn.Conv1d(6, 4, 3, padding=1, padding_mode="replicate")
        self.norm = nn.InstanceNorm1d(4, affine=True)
        self.out = nn.Linear(4, 2)

    def forward(self, x):
        y = x.transpose(1, 2)
        y = 1 - (y + F.relu(self.first(y))) / 2
        y = F.pad(F.gelu(y), (1, 1), value=0.5)
        y = -self.norm(self.second(F.max_pool1d(y, 3, stride=1)))
        pooled = F.adaptive_avg_pool1d(y, 1).squeeze(-1) + y.mean(-1) * y.sum(dim=2) + y.amax(-1)
        return self.out(y.transpose(-1, -2)), pooled


def test_a_module_that_puts_channels_first_takes_a_ragged():
    torch.manual_seed(0)
    _, r = ragged(lengths=[3, 4, 2])
    model = Convolutional()
    rows, pooled = model(r)
    alone = [model(part[None]) for part in r]
    torch.testing.assert_close(rows.values, torch.cat([part[0] for part, _ in alone]))
    torch.testing.assert_close(pooled, torch.cat([part for _, part in alone]))


def test_a_ragged_with_its_channels_first_refuses_what_is_ambiguous():
    _, r = ragged()
    x = r.transpose(1, 2)
    assert (x.shape, x.size(1), x.dim(), x.dtype) == ((4, 6, None), 6, 3, r.dtype)
    assert x.transpose(2, 1) is r
    for call, text in (
        (lambda: torch.softmax(x, 1), r"softmax cannot take .* use it behind x\.transpose\(1, 2\)"),
        (lambda: F.relu(x).transpose(0, 1), "axes 1 and 2 swapped can swap them back, got 0 and 1"),
        (lambda: torch.add(x, torch.ones(6, 1)), "cannot take a Ragged with its channels"),
        (lambda: x + torch.ones(6, 1), "cannot take a Ragged with its channels|unsupported"),
        (lambda: x.mean(1), "^dim: expected 2, the time, got 1"),
        (lambda: F.adaptive_avg_pool1d(x, 2), "cannot take a Ragged with its channels"),
    ):
        with pytest.raises(TypeError, match=text):
            call()
