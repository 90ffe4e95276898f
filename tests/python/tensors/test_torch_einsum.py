"""Einsum of tensors: the numbers of arrays, gradients of every order, torch.func and graphs."""

import numpy as np
import pytest
import varlen as vl
from einsum_samples import EQUATIONS, EXTENTS, Sample, samples
from varlen import ops

torch = pytest.importorskip("torch")

SOME = [
    "btd,bsd->bts",
    "bts,bsd->btd",
    "bhts,bshd->bthd",
    "btk,btm->km",
    "btd,dk->btk",
    "bd,btd->bt",
    "btd->bd",
]
SOME += [
    "btd->d",
    "bts->bst",
    "btd->",
    "btd,bs->bd",
    "btd,bsd,bsk->btk",
    "bt,bt->b",
    "bhtd->hd",
    "bd,bdk->bk",
]
LENGTHS = ([2, 0, 1], [1, 2, 3])


def said(sample):
    return {**{k: n for k, n in EXTENTS.items() if k in "".join(sample.terms)}, **sample.lengths}


def tensors(sample, dtype=torch.float64, grad=False):
    return [torch.from_numpy(x).to(dtype).requires_grad_(grad) for x in sample.operands]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_tensors_give_the_numbers_of_arrays(equation):
    for sample in samples(equations=[equation]):
        found = ops.einsum(equation, *tensors(sample), lengths=said(sample))
        assert torch.equal(found, torch.from_numpy(sample.result))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int32", "bool", "float16", "bfloat16"])
def test_each_dtype_is_kept(dtype):
    for equation in ("btd,bsd->bts", "btd->bd", "bd,bdk->bk"):
        sample = Sample(
            equation, {"t": [2, 0, 3], "s": [1, 2, 2]}, dtype="bool" if dtype == "bool" else "f8", low=0
        )
        found = ops.einsum(equation, *tensors(sample, getattr(torch, dtype)), lengths=said(sample))
        assert found.dtype == getattr(torch, dtype)
        assert torch.equal(found, torch.from_numpy(sample.result).to(found.dtype))


def test_arrays_beside_tensors_and_out():
    sample = Sample("btd,dk->btk", {"t": [2, 3], "s": []} | {"s": [0, 0]})
    x, w = sample.operands
    for given in ((torch.from_numpy(x), w), (x, torch.from_numpy(w))):
        assert torch.equal(
            ops.einsum("btd,dk->btk", *given, lengths=said(sample)), torch.from_numpy(sample.result)
        )
    out = torch.empty(sample.result.shape, dtype=torch.float64)
    assert ops.einsum("btd,dk->btk", *tensors(sample), lengths=said(sample), out=out) is out
    assert torch.equal(out, torch.from_numpy(sample.result))


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("equation", SOME)
def test_gradients_are_right(equation, dtype):
    sample = Sample(equation, dict(zip("ts", LENGTHS, strict=True)), {"h": 2, "d": 2, "k": 1, "m": 2, "e": 1})
    lengths = {**{k: sample.extents[k] for k in said(sample) if k in sample.extents}, **sample.lengths}
    given = tensors(sample, dtype, grad=True)
    if dtype.is_complex:
        given = [(x * (1 + 0.5j)).detach().requires_grad_() for x in given]
    assert torch.autograd.gradcheck(lambda *x: ops.einsum(equation, *x, lengths=lengths), given)
    if not dtype.is_complex:
        assert torch.autograd.gradgradcheck(lambda *x: ops.einsum(equation, *x, lengths=lengths), given)


def attention(q, k, v):
    return ops.einsum("bts,bsd->btd", ops.softmax(ops.einsum("btd,bsd->bts", q, k)), v)


def raggeds(t, s, seed=0):
    draw = torch.Generator().manual_seed(seed)
    sizes = ((t, 3), (s, 3), (s, 2))
    made = [torch.randn(sum(x), d, dtype=torch.float64, generator=draw).requires_grad_() for x, d in sizes]
    return [vl.Ragged(x, n) for x, (n, _) in zip(made, sizes, strict=True)]


def test_attention_has_the_gradients_of_torch():
    t, s = [3, 0, 4], [2, 5, 1]
    q, k, v = raggeds(t, s)
    attention(q, k, v).values.pow(2).sum().backward()
    found = [x.values.grad.clone() for x in (q, k, v)]
    parts = [x.values.detach().requires_grad_() for x in (q, k, v)]
    total = 0
    for a, b, c in zip(*(x.split(n) for x, n in zip(parts, (t, s, s), strict=True)), strict=True):
        total = total + (torch.softmax(a @ b.T, -1) @ c).pow(2).sum()
    total.backward()
    for x, y in zip(found, parts, strict=True):
        assert torch.allclose(x, y.grad, rtol=1e-10)


def test_no_gradient_is_made_that_nobody_asks_for():
    q, k, _ = raggeds([3, 1], [2, 2])
    fixed = k.values.detach()
    ops.einsum("btd,bsd->bts", q.values, fixed, lengths={"t": [3, 1], "s": [2, 2]}).sum().backward()
    assert q.values.grad is not None
    assert fixed.grad is None


# torch itself warns of what it loads for a derivative ahead.
@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")
def test_transforms_of_torch_func():
    sample = Sample("btd,bsd->bts", {"t": [2, 1], "s": [1, 3]})
    x, y = tensors(sample)

    def run(x, y):
        return ops.einsum("btd,bsd->bts", x, y, lengths=sample.lengths)

    def loss(x, y):
        return run(x, y).pow(2).sum()

    watched = x.clone().requires_grad_()
    loss(watched, y).backward()
    assert torch.allclose(torch.func.grad(loss)(x, y), watched.grad)
    many = torch.stack([x, x + 1, x * 2])
    assert torch.allclose(
        torch.func.vmap(run, (0, None))(many, y), torch.stack([run(each, y) for each in many])
    )
    both = torch.func.vmap(torch.func.grad(loss), (0, None))(many, y)
    assert torch.allclose(both[0], watched.grad)
    tangent = torch.func.jvp(lambda x: run(x, y), (x,), (x,))[1]
    assert torch.allclose(tangent, run(x, y))


def test_a_graph_holds_attention_for_all_sizes():
    torch.compiler.reset()
    compiled = torch.compile(attention, fullgraph=True, backend="aot_eager")
    for k, (t, s) in enumerate((([2, 1, 3], [1, 4, 2]), ([4, 5], [2, 2]), ([2, 2, 9, 1], [3, 3, 1, 2]))):
        given, other = raggeds(t, s), raggeds(t, s)
        with torch._dynamo.config.patch(error_on_recompile=k > 1):
            found, wanted = compiled(*given), attention(*other)
        assert torch.allclose(found.values, wanted.values)
        assert [x.lengths.tolist() for x in found.levels] == [x.lengths.tolist() for x in wanted.levels]
        for result in (found, wanted):
            result.values.pow(2).sum().backward()
        for x, y in zip(given, other, strict=True):
            assert torch.allclose(x.values.grad, y.values.grad)
    torch.compiler.reset()


@pytest.mark.parametrize("equation", ["btk,btm->km", "btd,dk->btk", "bhts,bshd->bthd", "btd->bd"])
def test_a_graph_holds_arrays_and_lengths(equation):
    torch.compiler.reset()
    sample = Sample(equation, {"t": [2, 1], "s": [1, 3]})
    extents = {letter: EXTENTS[letter] for letter in "h" if letter in equation}

    def run(*x):
        return ops.einsum(equation, *x[:-1], lengths={**extents, **x[-1]})

    levels = {letter: vl.Level(n) for letter, n in sample.lengths.items()}
    compiled = torch.compile(run, fullgraph=True, backend="aot_eager")
    assert torch.equal(compiled(*tensors(sample), levels), torch.from_numpy(sample.result))
    torch.compiler.reset()


def test_ops_have_shapes_without_numbers():
    meta = torch.ones((5, 2), device="meta", dtype=torch.float32)
    offsets = torch.tensor([0, 2, 5], device="meta")
    pair, one = torch.ops.varlen.einsum_pair, torch.ops.varlen.einsum_one
    assert pair(meta, meta, [offsets], "btd,bte->bde;bt;de", [2, 2], 0).shape == (2, 2, 2)
    assert pair(meta, meta, [offsets, offsets], "btd,bsd->bts;bts;d", [2], 13).shape == (13,)
    assert one(meta, [offsets], "btd->bd;bt;d", [2], 0).shape == (2, 2)


def test_bad_input_is_refused_by_name():
    x = torch.ones(3, 2)
    with pytest.raises(ValueError, match=r"operands\[1\]: d is 3 long"):
        ops.einsum("btd,dk->btk", x, torch.ones(3, 2), lengths={"t": [2, 1]})
    with pytest.raises((TypeError, ValueError), match="out"):
        ops.einsum("btd->bd", x, lengths={"t": [2, 1]}, out=np.ones((2, 2)))
    with pytest.raises(ValueError, match="out"):
        ops.einsum("btd->btd", x.requires_grad_(), lengths={"t": [2, 1]}, out=torch.ones(3, 2))
