"""Variances, logarithms of sums and products of tensors: the numbers of arrays, and their gradients."""

from functools import partial

import numpy as np
import pytest
import torch_samples
import varlen as vl
from torch_samples import rows
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4], [2, 1]]
NAMES = ["var", "std", "logsumexp", "prod"]


agree = partial(torch_samples.agree, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_tensors_give_the_numbers_of_arrays(name, dtype, lengths):
    x = rows(lengths, (2,)).abs().to(getattr(torch, dtype))
    op = getattr(ops, f"reduce_{name}")
    agree(op(x, lengths), op(x.numpy(), lengths))
    out = torch.empty_like(op(x, lengths))
    assert op(vl.Ragged(x, lengths), out=out) is out
    agree(out, op(x.numpy(), lengths))


@pytest.mark.parametrize("name", [*NAMES, "norm"])
def test_ways_back_give_the_numbers_of_arrays(name):
    lengths = [2, 0, 3]
    x, d = rows(lengths, (2,)), rows([3], (2,), seed=1)
    back = getattr(ops, f"backprop_reduce_{name}")
    result = back(d, x, lengths)
    assert np.allclose(result.numpy(), back(d.numpy(), x.numpy(), lengths), rtol=1e-12)
    assert torch.equal(back(d.numpy(), x, lengths), result)
    with pytest.raises(TypeError, match=f"d_{'sum' if name == 'logsumexp' else name}s: expected"):
        back(d.float(), x, lengths)
    with pytest.raises(TypeError, match="X: expected floats"):
        back(d, x.int(), lengths)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("lengths", [[2, 3], [4], [2, 2], []])
def test_gradients_are_right(name, lengths):
    x = rows(lengths, (2,)).requires_grad_()

    def run(x):
        return getattr(ops, f"reduce_{name}")(x, lengths)

    assert torch.autograd.gradcheck(run, (x,))
    assert torch.autograd.gradgradcheck(run, (x,))


def test_products_with_zeros_have_second_derivatives_and_no_third():
    x = torch.tensor([2.0, 0.0, 3.0, 0.0, 0.0, 5.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(lambda x: ops.reduce_prod(x, [3, 0, 3]), (x,))
    back = torch.ones(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda d, x: ops.backprop_reduce_prod(d, x, [3, 3]), (back, x))
    (first,) = torch.autograd.grad(ops.reduce_prod(x, [6]).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="cumprod: a second derivative"):
        second.sum().backward()


@pytest.mark.parametrize("name", NAMES)
def test_empty_sequences_get_no_gradient(name):
    x = rows([2, 0, 3]).requires_grad_()
    result = getattr(ops, f"reduce_{name}")(x, [2, 0, 3], empty=0)
    result.sum().backward()
    alone = x.detach()[:2].requires_grad_()
    getattr(ops, f"reduce_{name}")(alone, [2]).sum().backward()
    assert torch.allclose(x.grad[:2], alone.grad)
    assert torch.isfinite(x.grad).all()
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        getattr(ops, f"reduce_{name}")(x, [2, 0, 3], empty=None)


@pytest.mark.parametrize("name", NAMES)
def test_transforms_of_torch_func(name):
    lengths = vl.Level([2, 3])
    x = rows([5], (2,))

    def loss(x):
        return getattr(ops, f"reduce_{name}")(x, lengths).sum()

    watched = x.clone().requires_grad_()
    loss(watched).backward()
    assert torch.allclose(torch.func.grad(loss)(x), watched.grad)
    both = torch.func.vmap(torch.func.grad(loss))(torch.stack([x, x + 1]))
    assert torch.allclose(both[0], watched.grad)


@pytest.mark.parametrize("op", ["var", "std"])
def test_empty_sequences_leave_second_derivatives_finite(op):
    x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64, requires_grad=True)
    w = torch.ones(3, dtype=torch.float64, requires_grad=True)
    result = getattr(vl.Ragged(x, [1, 0, 2]), op)(empty=3.0)
    (first,) = torch.autograd.grad((result * w).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad((first**2).sum(), w)
    assert second.tolist() == [0, 0, pytest.approx(4 if op == "var" else 1)]
