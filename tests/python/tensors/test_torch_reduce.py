"""Reductions of tensors: the numbers of arrays, gradients of every order, torch.func."""

import importlib
from types import SimpleNamespace

import numpy as np
import pytest
import varlen as vl
from kernels import ON_DEVICE
from torch_samples import agree, rows
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4], [1, 1], [0, 0]]
FULL = [[2, 3], [4], [1, 1, 5]]
SUMS = ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_norm", "reduce_any", "reduce_all"]


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_tensors_give_the_numbers_of_arrays(name, dtype, lengths):
    x = rows(lengths, (2,)).abs().to(getattr(torch, dtype))
    op = getattr(ops, name)
    agree(op(x, lengths), op(x.numpy(), lengths))
    agree(op(vl.Ragged(x, lengths)), op(x.numpy(), lengths))
    out = torch.empty_like(op(x, lengths))
    assert op(x, torch.tensor(lengths, dtype=torch.int64), out=out) is out
    agree(out, op(x.numpy(), lengths))


@pytest.mark.parametrize("lengths", FULL)
def test_extremes_and_ends_give_the_numbers_of_arrays(lengths):
    x = rows(lengths, (2,))
    for op in (ops.reduce_max, ops.reduce_min):
        pairs = op(x, lengths, which=True), op(x.numpy(), lengths, which=True)
        for result, wanted in zip(*pairs, strict=True):
            agree(result, wanted)
    ends = (ops.reduce_max, ops.reduce_min, ops.reduce_first, ops.reduce_last)
    for op in (*ends, ops.argmax, ops.argmin, ops.count):
        agree(op(x, lengths), op(x.numpy(), lengths))


def test_ways_back_give_the_numbers_of_arrays():
    lengths, d = [2, 1], rows([2], (3,))
    which = torch.tensor([[1, 0, 1], [0, 0, 0]], dtype=torch.int32)
    for name, rest in {
        "backprop_reduce_sum": (lengths,),
        "backprop_reduce_mean": (lengths,),
        "backprop_reduce_max": (which, lengths),
        "backprop_reduce_first": (lengths,),
        "backprop_reduce_last": (lengths,),
    }.items():
        op = getattr(ops, name)
        plain = [x.numpy() if isinstance(x, torch.Tensor) else x for x in rest]
        agree(op(d, *rest), op(d.numpy(), *plain))
        out = torch.empty_like(op(d, *rest))
        assert op(d, *rest, out=out) is out


def test_bfloat16_is_added_in_float32_and_rounded_once():
    x = rows([600], dtype=torch.bfloat16)
    result = ops.reduce_sum(x, [300, 300])
    assert result.dtype == torch.bfloat16
    assert torch.equal(result, ops.reduce_sum(x.float(), [300, 300]).bfloat16())


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("trailing", [(), (2,)])
def test_gradients_of_sums(lengths, trailing):
    x = rows(lengths, trailing).requires_grad_()
    for op in (ops.reduce_sum, ops.reduce_mean):
        assert torch.autograd.gradcheck(lambda x, op=op: op(x, lengths), (x,))
        assert torch.autograd.gradgradcheck(lambda x, op=op: op(x, lengths), (x,))


@pytest.mark.parametrize("lengths", FULL)
def test_gradients_of_others(lengths):
    x = rows(lengths, (2,)).requires_grad_()
    firsts = {
        "max": lambda x: ops.reduce_max(x, lengths),
        "min": lambda x: ops.reduce_min(x, lengths),
        "first": lambda x: ops.reduce_first(x, lengths),
        "last": lambda x: ops.reduce_last(x, lengths),
        "norm": lambda x: ops.reduce_norm(x, lengths),
    }
    for op in firsts.values():
        assert torch.autograd.gradcheck(op, (x,))
        assert torch.autograd.gradgradcheck(op, (x,))


def test_gradients_of_ways_back():
    lengths, which = [2, 0, 1], torch.tensor([1, -1, 0])
    d = rows([3]).requires_grad_()
    for op in (
        lambda d: ops.backprop_reduce_sum(d, lengths),
        lambda d: ops.backprop_reduce_mean(d, lengths),
        lambda d: ops.backprop_reduce_max(d, which, lengths),
        lambda d: ops.backprop_reduce_first(d, [2, 1, 1]),
        lambda d: ops.backprop_reduce_last(d, [2, 1, 3]),
    ):
        assert torch.autograd.gradcheck(op, (d,))
        assert torch.autograd.gradgradcheck(op, (d,))


def test_gradients_of_empty_sequences_are_nowhere():
    x = rows([2]).requires_grad_()
    ops.reduce_max(x, [0, 2, 0], empty=-1).sum().backward()
    assert x.grad.sum() == 1
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    ops.reduce_norm(x, [0, 2]).sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_methods_of_a_ragged_are_watched_at_any_level():
    x = rows([4]).requires_grad_()
    r = vl.Ragged(x, [[2, 1], [2, 0, 2]])
    assert r.sum(level=0).shape == (2,)
    inner = r.sum()
    assert isinstance(inner, vl.Ragged)
    assert inner.to_list() == vl.Ragged(x.detach().numpy(), [[2, 1], [2, 0, 2]]).sum().to_list()
    r.mean(level=0).sum().backward()
    assert x.grad.tolist() == [0.5, 0.5, 0.5, 0.5]


def test_func_transforms():
    lengths = [2, 0, 3]
    x = rows(lengths, (2,))

    def loss(x):
        return (ops.reduce_sum(x, lengths) ** 2).sum() + ops.reduce_max(x, lengths, empty=0).sum()

    y = x.clone().requires_grad_()
    loss(y).backward()
    assert torch.equal(torch.func.grad(loss)(x), y.grad)
    batch = torch.stack([x, 2 * x, -x])
    both = torch.func.vmap(torch.func.grad(loss))(batch)
    assert torch.allclose(both, torch.stack([torch.func.grad(loss)(one) for one in batch]))
    jacobian = torch.func.jacrev(lambda x: ops.reduce_mean(x, lengths))(x)
    assert jacobian.shape == (3, 2, 5, 2)
    moved = torch.func.vmap(lambda x: ops.reduce_sum(x, lengths), in_dims=1)(batch.movedim(0, 1))
    assert torch.equal(moved, torch.stack([ops.reduce_sum(one, lengths) for one in batch]))


def test_registered_ops_keep_what_they_promise():
    registered = importlib.import_module("varlen.backends.torch.sums")

    x, offsets = rows([5], (2,)), torch.tensor([0, 2, 2, 5])
    d, which = rows([3], (2,)), torch.tensor([[0, 1], [-1, -1], [2, 0]])
    samples = {
        registered._sum: (x, offsets, "mean", 0),
        registered._expand: (d, offsets, 5, "sum"),
        registered.extreme_rows: (x, offsets, "max", 0),
        registered._expand_which: (d, which, offsets, 5),
        registered.end_rows: (x, torch.tensor([0, 2, 5]), True),
        registered._expand_end: (d, offsets, 5, False),
        registered._norm: (x, offsets, "norm", 0),
        registered._plain: (x, offsets, "any", False),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.reduce_sum(x, [2, 2]), ValueError, "add up to 4, but X has 5 rows"),
        (lambda x: ops.reduce_max(x, [5, 0]), ValueError, "sequence 1 is empty"),
        (lambda x: ops.reduce_sum(x.to(torch.complex64), [2, 3]), TypeError, "X: expected"),
        (lambda x: ops.reduce_sum(x, [2, 3], out=torch.empty(3)), ValueError, "out: needs"),
        (lambda x: ops.reduce_sum(x, [2, 3], out=np.empty(2)), TypeError, "out: expected a tensor"),
        (lambda x: ops.backprop_reduce_sum(x, [1]), ValueError, "5 rows for 1 sequences"),
        (lambda x: ops.backprop_reduce_max(x[:1], [0.5], [5]), TypeError, "which"),
    ],
)
def test_bad_tensors_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(rows([5], dtype=torch.float32))


def test_places_of_no_row_are_refused_on_the_host_and_hold_nothing_on_a_device():
    d, which = torch.ones(1), torch.tensor([7])
    if ON_DEVICE:
        assert not ops.backprop_reduce_max(d, which, [5]).any()
    else:
        with pytest.raises(IndexError, match="which: 7 in row 0"):
            ops.backprop_reduce_max(d, which, [5])


def test_devices_are_refused_and_shapes_alone_are_taken():
    from varlen.backends.torch.autograd import require_device

    with pytest.raises(TypeError, match="X: expected a tensor on the CPU or a CUDA device, got one on mps"):
        require_device(SimpleNamespace(device=torch.device("mps")), "X")
    assert ops.reduce_sum(torch.ones(5, 2, device="meta"), [2, 3]).shape == (2, 2)
