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


def test_instance_norms_are_group_norms_of_one_channel():
    _, r = ragged(lengths=[3, 2, 5])
    torch.testing.assert_close(F.instance_norm(r).values, nn.GroupNorm(6, 6, affine=False)(r).values)
    with pytest.raises(TypeError, match=r"^running_mean: .* keeps no mean; leave it out$"):
        F.instance_norm(r, torch.zeros(6), torch.ones(6))


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
    ):
        check(layer, lengths)


def test_pooling_with_gaps_and_of_short_sequences():
    check(nn.MaxPool1d(3, 1, 1, dilation=2), [5, 7, 6])
    _, r = ragged()
    assert nn.MaxPool1d(4)(r).lengths.tolist() == [0, 0, 1, 0]
    for option in ("ceil_mode", "return_indices"):
        with pytest.raises(TypeError, match=rf"^{option}: pooling of a Ragged .*; leave it out$"):
            nn.MaxPool1d(2, **{option: True})(r)
    with pytest.raises(ValueError, match=r"^padding: expected 0 to half of the kernel, 1, got 2$"):
        F.max_pool1d(r, 2, padding=2)


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
