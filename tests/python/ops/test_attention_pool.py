"""Attention pooling: what softmax, a product and a sum give, in one pass over the values."""

import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import ops

CLOSE = {"f2": 5e-3, "f4": 2e-5, "f8": 1e-11}


@pytest.fixture
def torch():
    """The module, where it is installed."""
    return pytest.importorskip("torch")


def chain(X, scores, level):
    shares = ops.softmax(scores, level)
    shares = shares.reshape(*scores.shape, *(1 for _ in X.shape[1:]))
    return ops.reduce_sum(shares * (X[:, None] if scores.ndim == 2 else X), level)


def drawn(lengths, trailing, heads, dtype):
    random = np.random.default_rng(0)
    level = vl.Level(lengths)
    X = random.normal(size=(level.total, *trailing)).astype(dtype)
    return X, random.normal(size=(level.total, *heads)).astype(dtype), level


@given(
    st.lists(st.integers(0, 9), max_size=5),
    st.sampled_from([(), (1,), (3,), (2, 5), (0,), (40,), (515,)]),
    st.sampled_from([(), (1,), (3,), (0,)]),
    st.sampled_from(list(CLOSE)),
)
def test_it_gives_what_its_parts_give(lengths, trailing, heads, dtype):
    X, scores, level = drawn(lengths, trailing, heads, dtype)
    found, wanted = ops.attention_pool(X, scores, level), chain(X, scores, level)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, CLOSE[dtype], CLOSE[dtype])


@given(
    st.lists(st.integers(0, 9), max_size=5),
    st.sampled_from([(), (3,), (2, 5), (0,), (40,)]),
    st.sampled_from([(), (1,), (3,), (0,)]),
    st.sampled_from(["f4", "f8"]),
)
def test_its_gradient_is_that_of_its_parts(lengths, trailing, heads, dtype):
    torch = pytest.importorskip("torch")
    X, scores, level = drawn(lengths, trailing, heads, dtype)
    found = ops.attention_pool(X, scores, level)
    d = np.random.default_rng(1).normal(size=found.shape).astype(dtype)
    given = [torch.tensor(x, requires_grad=True) for x in (X, scores)]
    chain(*given, level).backward(torch.tensor(d))
    for gradient, x in zip(ops.backprop_attention_pool(d, X, scores, level), given, strict=True):
        np.testing.assert_allclose(gradient, x.grad, 50 * CLOSE[dtype], 50 * CLOSE[dtype])


@pytest.mark.parametrize("trailing", [(3,), (20,), (1,)])
def test_long_sequences_are_added_up_in_parts(trailing):
    X, scores, level = drawn([70_000, 0, 5000, 130], trailing, (2,), "f4")
    found = ops.attention_pool(X, scores, level)
    wanted = ops.attention_pool(X.astype("f8"), scores.astype("f8"), level)
    np.testing.assert_allclose(found, wanted, 2e-4, 2e-5)
    alone = [
        ops.attention_pool(X[a:b], scores[a:b], [b - a])
        for a, b in zip(level.offsets, level.offsets[1:], strict=False)
    ]
    assert np.concatenate(alone).tobytes() == found.tobytes()


def test_sequences_without_rows_give_zeros():
    assert ops.attention_pool(np.ones((2, 3)), np.zeros(2), [0, 2, 0]).tolist() == [[0] * 3, [1] * 3, [0] * 3]


def test_levels_above_stay():
    r = vl.Ragged.from_list([[[1.0, 3.0], [5.0]], []])
    scores = r * 0
    assert r.attention_pool(scores).to_list() == [[2.0, 5.0], []]
    assert r.attention_pool(scores, level=0).tolist() == [3.0, 0.0]
    assert r.attention_pool(np.zeros((3, 2))).to_list() == [[[2.0, 2.0], [5.0, 5.0]], []]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        (np.zeros(2), r"scores: expected \(3,\) or \(3, heads\) for 3 rows, got \(2,\)"),
        (np.zeros((3, 1, 1)), "scores: expected"),
        (vl.Ragged(np.zeros(3), [3]), "scores: nest differently"),
    ],
)
def test_scores_that_do_not_fit_are_refused(scores, said):
    with pytest.raises(ValueError, match=said):
        ops.attention_pool(vl.Ragged(np.ones(3), [2, 1]), scores)
    with pytest.raises(TypeError, match="X: expected numbers"):
        ops.attention_pool(np.array(["a"]), np.zeros(1), [1])


def test_autograd_follows_twice(torch):
    torch.manual_seed(0)
    level = vl.Level([3, 0, 2, 1])
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    scores = torch.randn(6, 3, dtype=torch.float64, requires_grad=True)

    def pooled(x, scores):
        return ops.attention_pool(x, scores, level, temperature=0.7)

    assert torch.autograd.gradcheck(pooled, (x, scores))
    assert torch.autograd.gradgradcheck(pooled, (x, scores))
    many = torch.vmap(pooled, in_dims=(None, 0))(x, torch.stack([scores, scores * 2]))
    assert torch.allclose(many[1], pooled(x, scores * 2))


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_halves_are_weighed_in_float32(torch, name):
    dtype = getattr(torch, name)
    x, scores = torch.randn(50, 8).to(dtype).requires_grad_(), torch.randn(50).to(dtype)
    found = ops.attention_pool(x, scores, [50])
    wanted = ops.attention_pool(x.detach().double(), scores.double(), [50])
    assert found.dtype == dtype
    assert torch.equal(found.detach(), wanted.to(dtype))
    found.sum().backward()
    assert x.grad.dtype == dtype
    assert ops.attention_pool(x, scores.float(), [50]).dtype == torch.float32


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("heads", [(), (3,)])
@pytest.mark.parametrize("columns", [2, 40])
def test_a_pool_of_nothing_but_masked_rows_keeps_its_nan_to_itself(torch, name, heads, columns):
    dtype = getattr(torch, name)
    x = torch.ones(5, columns).to(dtype).requires_grad_()
    scores = torch.zeros(5, *heads).index_fill(0, torch.arange(2), -torch.inf).requires_grad_()
    pooled = ops.attention_pool(x, scores, [2, 3])
    assert pooled[0].isnan().all()
    pooled[1].float().sum().backward()
    assert not x.grad[:2].any()
    assert not scores.grad[:2].any()
    assert x.grad.isfinite().all()
    assert scores.grad.isfinite().all()
