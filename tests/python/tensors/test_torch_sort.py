"""Tensors in order: the numbers of arrays, gradients of every order, torch.func."""

import importlib

import numpy as np
import pytest
import varlen as vl
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4], [1, 1], [70, 3]]


def rows(lengths, trailing=(), dtype=torch.float64, seed=0):
    """Numbers of which no two are equal, where the dtype has so many."""
    count = sum(lengths) * int(np.prod(trailing, dtype=int))
    result = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    return result.reshape(sum(lengths), *trailing).to(dtype)


def agree(result, wanted):
    if isinstance(result, vl.Ragged):
        assert result.lengths.tolist() == wanted.lengths.tolist()
        result, wanted = result.values, wanted.values
    assert isinstance(result, torch.Tensor)
    assert np.array_equal(result.detach().numpy(), wanted)
    assert result.detach().numpy().dtype == wanted.dtype


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_tensors_give_the_numbers_of_arrays(dtype, lengths):
    x = rows(lengths, (2,)).to(getattr(torch, dtype))
    for descending in (False, True):
        for op in (ops.sort, ops.argsort, ops.rank):
            agree(op(x, lengths, descending=descending), op(x.numpy(), lengths, descending=descending))
    agree(ops.rank(x, lengths, method="average"), ops.rank(x.numpy(), lengths, method="average"))
    for dense in (False, True):
        for result, wanted in zip(
            ops.topk(x, lengths, k=2, dense=dense),
            ops.topk(x.numpy(), lengths, k=2, dense=dense),
            strict=True,
        ):
            agree(result, wanted)
    one = x[:, 0].contiguous()
    for result, wanted in zip(
        ops.unique(one, lengths, inverse=True, counts=True),
        ops.unique(one.numpy(), lengths, inverse=True, counts=True),
        strict=True,
    ):
        agree(result, wanted)
    out = torch.empty_like(x)
    assert ops.sort(x, lengths, out=out) is out
    agree(out, ops.sort(x.numpy(), lengths))


def test_nan_is_last_where_torch_has_it_first():
    x = torch.tensor([3.0, float("nan"), 5.0])
    assert ops.argsort(x, [3], descending=True).tolist() == [2, 0, 1]
    assert ops.topk(x, [3], k=1)[0].values.tolist() == [5]
    assert torch.topk(x, 1)[0].isnan()


def test_bfloat16_stays():
    x = torch.tensor([3.0, float("nan"), 1.0], dtype=torch.bfloat16)
    assert ops.sort(x, [3])[:2].tolist() == [1, 3]
    assert ops.sort(x, [3]).dtype == ops.unique(x, [3]).values.dtype == torch.bfloat16
    assert ops.argsort(x, [3]).tolist() == [2, 0, 1]


@pytest.mark.parametrize("lengths", [[2, 0, 3], [0], [], [4]])
@pytest.mark.parametrize("trailing", [(), (2,)])
def test_gradients(lengths, trailing):
    x = rows(lengths, trailing).requires_grad_()
    for op in (
        lambda x: ops.sort(x, lengths, descending=True),
        lambda x: ops.topk(x, lengths, k=2)[0].values,
        lambda x: ops.topk(x, lengths, k=2, dense=True)[0],
    ):
        assert torch.autograd.gradcheck(op, (x,))
        assert torch.autograd.gradgradcheck(op, (x,))


def test_gradients_of_ways_back():
    lengths = [2, 0, 1]
    d = rows([3]).requires_grad_()
    for op in (
        lambda d: ops.backprop_sort(d, torch.tensor([1, 0, 0]), lengths),
        lambda d: (
            ops.backprop_topk(
                vl.Ragged(d, lengths), vl.Ragged(torch.tensor([1, 0, 2]), lengths), [3, 0, 3]
            ).values
        ),
        lambda d: ops.backprop_topk(d.reshape(3, 1), torch.tensor([[1], [-1], [0]]), lengths),
    ):
        assert torch.autograd.gradcheck(op, (d,))
        assert torch.autograd.gradgradcheck(op, (d,))


def test_methods_of_a_ragged_are_watched_at_any_level():
    x = rows([4]).requires_grad_()
    r = vl.Ragged(x, [[2, 1], [2, 0, 2]])
    best, which = r.topk(1, level=0)
    best.values.sum().backward()
    assert which.lengths.tolist() == [1, 1]
    assert x.grad.sum() == 2
    assert r.sort().to_list() == vl.Ragged(x.detach().numpy(), [[2, 1], [2, 0, 2]]).sort().to_list()


def test_func_transforms():
    lengths = [2, 0, 3]
    x = rows(lengths, (2,))
    weight = torch.arange(10.0, dtype=torch.float64).reshape(5, 2)

    def loss(x):
        best = ops.topk(x, lengths, k=2)[0].values
        return (ops.sort(x, lengths) * weight).pow(2).sum() + best.sum()

    y = x.clone().requires_grad_()
    loss(y).backward()
    assert torch.equal(torch.func.grad(loss)(x), y.grad)
    batch = torch.stack([x, 2 * x, -x])
    both = torch.func.vmap(torch.func.grad(loss))(batch)
    assert torch.equal(both, torch.stack([torch.func.grad(loss)(one) for one in batch]))
    ranks = torch.func.vmap(lambda x: ops.rank(x, lengths))(batch)
    assert torch.equal(ranks, torch.stack([ops.rank(one, lengths) for one in batch]))


def test_registered_ops_keep_what_they_promise():
    registered = importlib.import_module("varlen.backends.torch.sort")

    x, offsets, kept = rows([5], (2,)), torch.tensor([0, 2, 2, 5]), torch.tensor([0, 1, 1, 2])
    d, which = rows([2], (2,)), torch.tensor([[0, 1], [2, 0]])
    samples = {
        registered.sort_rows: (x, offsets, kept, 2, True),
        registered._unsort: (d, which, offsets, kept, 5),
        registered._rank: (x, offsets, "average", False),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.sort(x, [2, 2]), ValueError, "add up to 4, but X has 5 rows"),
        (lambda x: ops.sort(x.to(torch.complex64), [2, 3]), TypeError, "X: expected"),
        (lambda x: ops.sort(x, [2, 3], out=torch.empty(3)), ValueError, "out: needs"),
        (lambda x: ops.rank(x, [5], method="best"), ValueError, "method"),
        (lambda x: ops.unique(x.reshape(5, 1), [5]), ValueError, "X: expected numbers"),
        (lambda x: ops.backprop_sort(x, torch.tensor([7, 0, 0, 0, 0]), [5]), IndexError, "which: 7 in row 0"),
    ],
)
def test_bad_tensors_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(rows([5], dtype=torch.float32))
