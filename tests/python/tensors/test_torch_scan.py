"""Running sums, products and extremes of tensors: the numbers of arrays, gradients, torch.func."""

import importlib

import numpy as np
import pytest
import varlen as vl
from kernels import of_cpu
from torch_samples import agree, rows
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4]]
NAMES = ["cumsum", "cumprod", "cummax", "cummin"]
FLAGS = [{}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True}]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("flags", FLAGS)
def test_tensors_give_the_numbers_of_arrays(name, dtype, flags):
    op = getattr(ops, name)
    for lengths in LENGTHS:
        x = rows(lengths, (2,)).abs().to(getattr(torch, dtype))
        wanted = op(x.numpy(), lengths, **flags)
        agree(op(x, lengths, **flags), wanted)
        agree(op(vl.Ragged(x, lengths), **flags).values, wanted)
        out = torch.empty_like(op(x, lengths, **flags))
        assert op(x, torch.tensor(lengths, dtype=torch.int64), out=out, **flags) is out
        if name in NAMES[2:]:
            agree(op(x, lengths, which=True, **flags)[1], op(x.numpy(), lengths, which=True, **flags)[1])


def test_ways_back_give_the_numbers_of_arrays():
    lengths, d, x = [2, 1], rows([3], (2,)), rows([3], (2,), seed=1)
    which = torch.tensor([[0, 0], [1, -1], [0, 0]], dtype=torch.int32)
    agree(ops.backprop_cumsum(d, lengths), ops.backprop_cumsum(d.numpy(), lengths))
    agree(ops.backprop_cumprod(d, x, lengths), ops.backprop_cumprod(d.numpy(), x.numpy(), lengths))
    agree(ops.backprop_cummax(d, which, lengths), ops.backprop_cummax(d.numpy(), which.numpy(), lengths))
    out = torch.empty_like(d)
    assert ops.backprop_cummin(d, which, lengths, out=out) is out
    half = ops.cumsum(rows([300], dtype=torch.bfloat16), [300])
    assert half.dtype == torch.bfloat16


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("flags", FLAGS)
def test_gradients(lengths, flags):
    def of(name):
        # The first of exclusive extremes is infinite, and has no differences.
        return lambda x: torch.nan_to_num(getattr(ops, name)(x, lengths, **flags), posinf=0, neginf=0)

    x = rows(lengths, (2,)).requires_grad_()
    for name in NAMES:
        assert torch.autograd.gradcheck(of(name), (x,))
        assert name == "cumprod" or torch.autograd.gradgradcheck(of(name), (x,))


def test_gradients_of_products_at_zeros_and_of_ways_back():
    x = torch.tensor([2.0, 0.0, 3.0, 0.0, 5.0], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: ops.cumprod(x, [5]), (x,))
    d, which = rows([3]).requires_grad_(), torch.tensor([0, 0, -1])
    for op in (lambda d: ops.backprop_cumsum(d, [2, 1]), lambda d: ops.backprop_cummax(d, which, [2, 1])):
        assert torch.autograd.gradcheck(op, (d,))
        assert torch.autograd.gradgradcheck(op, (d,))
    (first,) = torch.autograd.grad(ops.cumprod(x, [5]).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match="cumprod: a second derivative"):
        first.sum().backward()


def test_methods_of_a_ragged_are_watched_at_any_level():
    x = rows([5]).requires_grad_()
    r = vl.Ragged(x, [[2, 1], [2, 0, 3]])
    plain = vl.Ragged(x.detach().numpy(), [[2, 1], [2, 0, 3]])
    for level in (0, 1):
        assert r.cumsum(level=level).to_list() == plain.cumsum(level=level).to_list()
    r.cumsum(level=0).values.sum().backward()
    assert x.grad.tolist() == [2, 1, 3, 2, 1]


def test_func_transforms():
    lengths = [2, 0, 3]
    x = rows(lengths, (2,))

    def loss(x):
        return (ops.cumsum(x, lengths) ** 2).sum() + (ops.cummax(x, lengths) * ops.cumprod(x, lengths)).sum()

    y = x.clone().requires_grad_()
    loss(y).backward()
    assert torch.allclose(torch.func.grad(loss)(x), y.grad)
    batch = torch.stack([x, 2 * x, -x])
    both = torch.func.vmap(torch.func.grad(loss))(batch)
    assert torch.allclose(both, torch.stack([torch.func.grad(loss)(one) for one in batch]))


def test_registered_ops_keep_what_they_promise():
    registered = importlib.import_module("varlen.backends.torch.scan")

    x, offsets = rows([5], (2,)), torch.tensor([0, 2, 2, 5])
    samples = {
        registered._sum: (x, offsets, True, False),
        registered._prod: (x.to(torch.int32), offsets, False, True),
        registered._prod_back: (x, x, offsets, False, True),
        registered._extreme: (x, offsets, "max", False, True),
        registered._which_back: (x, torch.zeros(5, 2, dtype=torch.int64), offsets),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.cumsum(x, [2, 2]), ValueError, "add up to 4, but X has 5 rows"),
        (lambda x: ops.cumsum(x.to(torch.complex64), [2, 3]), TypeError, "X: expected"),
        (lambda x: ops.cumsum(x, [2, 3], out=torch.empty(3)), ValueError, "out: needs"),
        (lambda x: ops.cumsum(x, [2, 3], out=np.empty(5)), TypeError, "out: expected a tensor"),
        (lambda x: ops.backprop_cumprod(x, x.numpy(), [5]), TypeError, "X: expected a tensor as the other"),
        (lambda x: ops.backprop_cumprod(x[1:], x, [5]), ValueError, "dY: expected"),
        pytest.param(
            lambda x: ops.backprop_cummax(x, torch.full((5,), 5), [5]),
            IndexError,
            "which: 5 in row 0",
            marks=of_cpu("nobody looks at places on a device"),
        ),
        (lambda x: ops.backprop_cummax(x, [0.5] * 5, [5]), TypeError, "which"),
    ],
)
def test_bad_tensors_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(rows([5], dtype=torch.float32))
    assert ops.cumsum(torch.ones(5, 2, device="meta"), [2, 3]).shape == (5, 2)
