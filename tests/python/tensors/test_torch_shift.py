"""Rows of tensors that move inside their sequences: the numbers of arrays, gradients, torch.func."""

import importlib

import numpy as np
import pytest
import varlen as vl
from torch_samples import rows
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4]]
CALLS = {
    "reverse": lambda x, lengths: ops.reverse(x, lengths),
    "shift": lambda x, lengths: ops.shift(x, lengths, by=-1),
    "shift each": lambda x, lengths: ops.shift(x, lengths, by=[1 - k for k in range(len(lengths))]),
    "roll": lambda x, lengths: ops.roll(x, lengths, by=1),
    "roll each": lambda x, lengths: ops.roll(x, lengths, by=torch.arange(len(lengths))),
    "back": lambda x, lengths: ops.backprop_reverse(x, lengths),
    "shift back": lambda x, lengths: ops.backprop_shift(x, lengths, by=torch.arange(len(lengths))),
    "roll back": lambda x, lengths: ops.backprop_roll(x, lengths, by=2),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float16", "float64", "int32", "uint8", "bool", "complex64"])
def test_tensors_give_the_numbers_of_arrays(name, dtype):
    for lengths in LENGTHS:
        x = rows(lengths, (2,), getattr(torch, dtype))
        wanted = CALLS[name](x.numpy(), lengths)
        result = CALLS[name](x, lengths)
        assert result.dtype == x.dtype
        assert np.array_equal(result.numpy(), wanted)


def test_fill_and_dtypes_without_a_name():
    x = rows([3], dtype=torch.bfloat16)
    assert ops.shift(x, [3], by=1, fill=9).tolist() == [9, *x[:2].tolist()]
    assert ops.reverse(x, [3]).tolist() == x.flip(0).tolist()
    tiny = x.to(torch.float8_e4m3fn)
    assert torch.equal(ops.reverse(tiny, [3]).float(), tiny.float().flip(0))
    assert torch.equal(ops.roll(tiny, [3], by=1).float(), tiny.float().roll(1))
    assert torch.equal(ops.shift(tiny, [3], by=-3).float(), torch.zeros(3))
    out = torch.empty_like(x)
    assert ops.roll(x, [3], by=1, out=out) is out
    assert ops.shift(x, [3], by=1, out=out) is out
    assert ops.reverse(x, [3], out=out) is out


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_gradients(name, lengths):
    x = rows(lengths, (2,)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: CALLS[name](x, lengths), (x,))
    assert torch.autograd.gradgradcheck(lambda x: CALLS[name](x, lengths), (x,))


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("by", [1, -2, 9])
def test_a_fill_has_no_gradient(lengths, by):
    x = rows(lengths, (2,)).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: ops.shift(x, lengths, by=by, fill=3.5), (x,))
    assert torch.autograd.gradgradcheck(lambda x: ops.shift(x, lengths, by=by, fill=3.5), (x,))
    ops.shift(x, lengths, by=by, fill=3.5).sum().backward()
    assert torch.equal(x.grad, ops.shift(torch.ones_like(x), lengths, by=-by))


def test_methods_of_a_ragged_are_watched_at_any_level():
    x = rows([5]).requires_grad_()
    r = vl.Ragged(x, [[2, 1], [2, 0, 3]])
    plain = vl.Ragged(x.detach().numpy(), [[2, 1], [2, 0, 3]])
    for call in (
        lambda r: r.reverse(),
        lambda r: r.reverse(level=0),
        lambda r: r.roll(1, level=0),
        lambda r: r.shift(1, level=0),
        lambda r: r.shift([0, 1, -1], fill=2),
    ):
        assert call(r).to_list() == call(plain).to_list()
    r.shift(-1, level=0).values.sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 0, 0]
    r.reverse(level=0).values[0].backward()
    assert x.grad.tolist() == [1, 0, 0, 0, 0]


def test_func_transforms():
    lengths = [2, 0, 3]
    x = rows(lengths, (2,))

    def loss(x):
        moved = ops.shift(x, lengths, by=1, fill=3) * ops.roll(x, lengths, by=[1, 2, -1])
        return (moved * ops.reverse(x, lengths)).sum()

    y = x.clone().requires_grad_()
    loss(y).backward()
    assert torch.allclose(torch.func.grad(loss)(x), y.grad)
    batch = torch.stack([x, 2 * x, -x])
    both = torch.func.vmap(torch.func.grad(loss))(batch)
    assert torch.allclose(both, torch.stack([torch.func.grad(loss)(one) for one in batch]))


def test_registered_ops_keep_what_they_promise():
    registered = importlib.import_module("varlen.backends.torch.shift")

    x, offsets, by = rows([5], (2,)), torch.tensor([0, 2, 2, 5]), torch.tensor([1, 0, -1])
    samples = {
        registered._reverse: (x, offsets),
        registered.shift_rows: (x, offsets, by, 1.5),
        registered.roll_rows: (x, offsets, by),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.reverse(x, [2, 2]), ValueError, "add up to 4, but X has 5 rows"),
        (lambda x: ops.shift(x, [5], by=1.5), (TypeError, ValueError), "by: expected"),
        (lambda x: ops.shift(x, [5], by=torch.ones(1)), TypeError, "by: expected integers"),
        (lambda x: ops.roll(x, [5], by=[1, 2]), ValueError, "by: has 2 numbers for 1 sequences"),
        (lambda x: ops.shift(x, [5], by=1, fill=[1, 2]), ValueError, "fill: expected one number"),
        (lambda x: ops.shift(x.int(), [5], by=1, fill=0.5), (TypeError, ValueError), "fill"),
        (
            lambda x: ops.shift(x.to(torch.float8_e5m2), [5], by=1, fill=1e9),
            ValueError,
            "fill: .* does not fit",
        ),
        (lambda x: ops.reverse(x, [5], out=np.empty(5)), TypeError, "out: expected a tensor"),
    ],
)
def test_bad_tensors_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(rows([5], dtype=torch.float32))
    assert ops.roll(torch.ones(5, 2, device="meta"), [2, 3], by=1).shape == (5, 2)
