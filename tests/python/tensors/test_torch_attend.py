"""Attention inside sequences: each sequence's result is what torch computes for it alone."""

import math

import numpy as np
import pytest
import varlen as vl
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch.nn.functional import scaled_dot_product_attention as sdpa  # noqa: E402
from varlen.backends.torch import attend as kernels  # noqa: E402
from varlen.ops import attend  # noqa: E402


def draw(lengths, heads, d, dtype=torch.float64):
    shape = (sum(lengths), d) if heads is None else (sum(lengths), heads, d)
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def alone(q, k, v, mask=None, causal=False, window=None, scale=None):
    """The plain attention of one sequence, (length, heads, d) or (length, d)."""
    if len(q) == 0 or len(k) == 0:
        return q.new_zeros((*q.shape[:-1], v.shape[-1]))
    a, b, c = (x.transpose(0, 1) if x.ndim == 3 else x for x in (q, k, v))
    if a.ndim == 3:
        b, c = (x.repeat_interleave(len(a) // len(x), 0) for x in (b, c))
    scores = a @ b.transpose(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    apart = torch.arange(len(k)) - torch.arange(len(q))[:, None]
    seen = torch.ones(apart.shape, dtype=torch.bool)
    if window is not None:
        seen = (apart >= -window[0]) & (apart <= window[1])
    if causal:
        seen = seen & (apart <= 0)
    if mask is not None:
        part = mask[..., : len(q), : len(k)]
        scores = scores.masked_fill(~part, -math.inf) if part.dtype is torch.bool else scores + part
    scores = scores.masked_fill(~seen, -math.inf)
    result = scores.softmax(-1).nan_to_num(0) @ c
    return result.transpose(0, 1) if result.ndim == 3 else result


def check(lengths, key_lengths, heads, few, d, dv=None, dtype=torch.float64, **options):
    q = draw(lengths, heads, d, dtype)
    k, v = draw(key_lengths, few, d, dtype), draw(key_lengths, few, dv or d, dtype)
    found = attend(vl.Ragged(q, lengths), vl.Ragged(k, key_lengths), vl.Ragged(v, key_lengths), **options)
    parts = zip(q.split(lengths), k.split(key_lengths), v.split(key_lengths), strict=True) if lengths else ()
    wanted = torch.cat([q.new_zeros((0, *q.shape[1:-1], dv or d)), *(alone(*x, **options) for x in parts)])
    assert found.lengths.tolist() == lengths
    torch.testing.assert_close(found.values, wanted)
    if not wanted.requires_grad:
        return
    d_result = torch.randn_like(wanted)
    gradients = [
        torch.autograd.grad(y, (q, k, v), d_result, allow_unused=True) for y in (found.values, wanted)
    ]
    for a, b in zip(*gradients, strict=True):
        torch.testing.assert_close(a, torch.zeros_like(a) if b is None else b)


lengths = st.lists(st.integers(0, 9), max_size=12)
heads = st.sampled_from([(None, None), (1, 1), (4, 4), (4, 2), (3, 1)])
windows = st.none() | st.tuples(st.integers(0, 4), st.integers(0, 4))


@given(lengths, heads, st.booleans(), windows, st.booleans())
@settings(deadline=None, max_examples=60)
def test_each_sequence_attends_as_alone(lengths, heads, causal, window, cheap):
    kernels._plan.cache_clear()
    saved, kernels._CALL = kernels._CALL, 0 if cheap else kernels._CALL
    try:
        check(lengths, lengths, *heads, 4, causal=causal, window=window)
    finally:
        kernels._CALL = saved
        kernels._plan.cache_clear()


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=10), heads, st.booleans())
@settings(deadline=None, max_examples=40)
def test_keys_of_other_lengths(pairs, heads, causal):
    a, b = ([pair[i] for pair in pairs] for i in (0, 1))
    check(a, b, *heads, 4, causal=causal)
    check(a, b, *heads, 4, dv=3, causal=causal)


@pytest.mark.parametrize("shape", ["", "heads", "batch"])
@pytest.mark.parametrize("dtype", [torch.bool, torch.float64])
def test_masks_are_cut_to_each_sequence(shape, dtype):
    sizes = [3, 0, 5, 4, 5]
    q, k, v = (draw(sizes, 2, 4) for _ in range(3))
    front = {"": (), "heads": (2,), "batch": (5, 2)}[shape]
    mask = (
        torch.rand(*front, 6, 5, dtype=torch.float64)
        if dtype is not torch.bool
        else torch.rand(*front, 6, 5) > 0.3
    )
    if dtype is torch.bool:
        mask[..., 0] = True
    r = [vl.Ragged(x, sizes) for x in (q, k, v)]
    found = sdpa(*r, attn_mask=mask)
    for i, (a, b, c) in enumerate(zip(*r, strict=True)):
        wanted = alone(a, b, c, mask[i] if shape == "batch" else mask)
        torch.testing.assert_close(found[i], wanted)
    if dtype is not torch.bool:
        bias = mask.requires_grad_()
        sdpa(*r, attn_mask=bias).values.sum().backward()
        assert bias.grad.shape == bias.shape
        assert bool((bias.grad[..., 5, :] == 0).all())


def test_the_function_of_torch_takes_what_it_takes():
    r = vl.Ragged(draw([3, 2], 2, 4), [3, 2])
    torch.testing.assert_close(sdpa(r, r, r).values, attend(r, r, r).values)
    torch.testing.assert_close(sdpa(r, r, r, None, 0.0, True).values, attend(r, r, r, causal=True).values)
    torch.testing.assert_close(sdpa(r, r, r, scale=2.0)[1], alone(r[1], r[1], r[1], scale=2.0))
    few = vl.Ragged(draw([3, 2], 1, 4), [3, 2])
    torch.testing.assert_close(sdpa(r, few, few, enable_gqa=True)[0], alone(r[0], few[0], few[0]))
    dropped = sdpa(r, r, r, dropout_p=0.5)
    assert dropped.shape == r.shape
    with pytest.raises(ValueError, match=r"^attn_mask: pass either a mask or is_causal, got both$"):
        sdpa(r, r, r, torch.zeros(3, 3), is_causal=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_dtypes_are_kept(dtype):
    sizes = [3, 0, 5]
    r = vl.Ragged(draw(sizes, 2, 8, dtype), sizes)
    result = attend(r, r, r, causal=True)
    assert result.dtype is dtype
    wanted = torch.cat([alone(x.double(), x.double(), x.double(), causal=True) for x in r])
    torch.testing.assert_close(result.values.double(), wanted, rtol=0.02, atol=0.02)


def test_levels_above_are_kept_and_numbers_of_others_do_not_matter():
    x = draw([2, 1, 3], 2, 4)
    r = vl.Ragged(x, [[2, 1], [2, 1, 3]])
    assert attend(r, r, r).levels[0] is r.levels[0]
    spoilt = x.detach().clone()
    spoilt[2] = math.nan  # the only row of sequence 1
    s = vl.Ragged(spoilt, [2, 1, 3])
    result = attend(s, s, s)
    assert not result[0].isnan().any()
    assert not result[2].isnan().any()
    assert result[1].isnan().all()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_kernels_of_nested_tensors_agree():
    sizes = [3, 1, 5]
    rows = [draw(sizes, 2, 4).detach() for _ in range(3)]
    r = [vl.Ragged(x, sizes) for x in rows]
    found = kernels._through_nested(rows, r[0].levels[0], False, None, 0.0)
    torch.testing.assert_close(found, attend(*r).values)


def test_functions_of_torch_func_and_of_modes_go_their_way():
    sizes = [3, 0, 2]
    x = draw(sizes, 2, 4).detach()
    gradient = torch.func.grad(lambda x: attend(*[vl.Ragged(x, sizes)] * 3).values.square().sum())(x)
    y = x.clone().requires_grad_()
    attend(*[vl.Ragged(y, sizes)] * 3).values.square().sum().backward()
    torch.testing.assert_close(gradient, y.grad)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        r = vl.Ragged(x.float(), sizes)
        assert attend(r, r, r).dtype is sdpa(*[x.float()[None]] * 3).dtype


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda r: attend(r.values, r, r), TypeError, "^q: expected a Ragged, got Tensor"),
        (lambda r: attend(r.numpy(), r, r), TypeError, r"^q: attention .*; use q\.torch\(\)"),
        (lambda r: attend(r, r, r.float()), TypeError, r"^v: expected floats of one dtype"),
        (lambda r: attend(r.long(), r.long(), r.long()), TypeError, r"^q: expected floats"),
        (lambda r: attend(r, r[:2], r[:2]), ValueError, r"^k: has 2 sequences, q has 3$"),
        (lambda r: attend(r, r, vl.Ragged(r.values, [2, 1, 3])), ValueError, r"^v: nests otherwise than k"),
        (lambda r: attend(r, r[..., :2], r[..., :2]), ValueError, "^k: has 2 numbers"),
        (lambda r: attend(r, r[:, :, :3], r[:, :, :3]), ValueError, r"^k: 4 heads .* 3 and 3"),
        (lambda r: attend(r, r, r, mask=torch.ones(2, 2)), ValueError, "^mask: .* does not cover"),
        (lambda r: attend(r, r, r, mask=torch.ones(3, 3, 3)), ValueError, "^mask: .* begins with"),
        (lambda r: attend(r, r, r, mask=torch.ones(3, 3).long()), ValueError, "^mask: expected"),
        (lambda r: attend(r, r, r, window=(1, 2, 3)), ValueError, r"^window: expected \(before, after\)"),
        (lambda r: attend(r, r, r, window=-1), ValueError, "^window"),
        (lambda r: attend(r, r, r, dropout=1.0), ValueError, "^dropout: expected a share"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(call, error, text):
    with pytest.raises(error, match=text):
        call(vl.Ragged(torch.zeros(6, 4, 4, dtype=torch.float64), [3, 0, 3]))


def test_plans_put_sequences_of_about_equal_length_together():
    sizes = np.random.default_rng(0).integers(1, 200, 256)
    level = vl.Level(sizes)
    plan = kernels._plan(level, level, 128, "cpu")
    assert 1 < len(plan.buckets) < 160
    assert sum(len(bucket.sequences) for bucket in plan.buckets) == 256
    assert sum(len(bucket.queries.rows) for bucket in plan.buckets) < 1.3 * sizes.sum()


def test_sequences_of_one_length_that_follow_each_other_are_not_copied():
    level = vl.Level([7, 7, 7, 0, 2])
    plan = kernels._plan(level, level, 128, "cpu")
    assert [bucket.queries.run for bucket in plan.buckets] == [slice(0, 21), slice(21, 23)]
    x = draw([7, 7, 7, 2], 2, 4)
    block = kernels._pick(x, plan.buckets[0].queries, 3, 7)
    assert block.data_ptr() == x.data_ptr()


def test_rows_of_any_strides_attend():
    sizes = [3, 0, 5]
    x = torch.randn(8, 3, 2, 4, dtype=torch.float64, requires_grad=True)
    parts = [vl.Ragged(x[:, i], sizes) for i in range(3)]
    turned = torch.randn(4, 2, 8, dtype=torch.float64).permute(2, 1, 0)
    for q, k, v in (parts, [vl.Ragged(turned, sizes)] * 3):
        found = attend(q, k, v)
        wanted = torch.cat([alone(*one) for one in zip(q, k, v, strict=True)])
        torch.testing.assert_close(found.values, wanted)
    (found,) = torch.autograd.grad(attend(*parts).values.sum(), x)
    (wanted,) = torch.autograd.grad(torch.cat([alone(*one) for one in zip(*parts, strict=True)]).sum(), x)
    torch.testing.assert_close(found, wanted)
