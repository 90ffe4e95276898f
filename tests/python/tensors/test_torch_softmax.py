"""Softmax of tensors: the numbers of arrays, gradients of first and second order, torch.func."""

import numpy as np
import pytest
import varlen as vl
from torch_samples import agree, rows
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [4], [1, 1]]
FORWARD = [ops.softmax, ops.log_softmax]
BACKWARD = [ops.backprop_softmax, ops.backprop_log_softmax]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_tensors_give_the_numbers_of_arrays(dtype, lengths):
    x = rows(lengths, (2,), getattr(torch, dtype))
    for forward, backward in zip(FORWARD, BACKWARD, strict=True):
        y = forward(x, lengths, temperature=2)
        agree(y, forward(x.numpy(), lengths, temperature=2))
        agree(forward(vl.Ragged(x, lengths), temperature=2).values, y.numpy())
        out = torch.empty_like(y)
        assert forward(x, torch.tensor(lengths, dtype=torch.int64), temperature=2, out=out) is out
        agree(out, y.numpy())
        agree(forward(x, lengths, axis=1), forward(x.numpy(), lengths, axis=1))
        d = rows(lengths, (2,), y.dtype, seed=1)
        agree(backward(d, y, lengths), backward(d.numpy(), y.numpy(), lengths))
        agree(backward(d, y.numpy(), lengths), backward(d.numpy(), y.numpy(), lengths))
    if x.is_floating_point():
        wanted = ops.softmax(x, lengths)
        assert ops.softmax(x, lengths, inplace=True) is x
        agree(x, wanted.numpy())


def test_halves_that_numpy_lacks_are_computed_in_float():
    x = rows([3, 2], dtype=torch.bfloat16)
    result = ops.softmax(x, [3, 2])
    assert result.dtype == torch.bfloat16
    wanted = ops.softmax(x.float(), [3, 2]).to(torch.bfloat16)
    assert torch.equal(result, wanted)


def test_sequences_agree_with_torch():
    x = rows([5], (3,))
    assert torch.allclose(ops.softmax(x, [5]), torch.softmax(x, 0))
    assert torch.allclose(ops.log_softmax(x, [5], temperature=3), torch.log_softmax(x / 3, 0))
    r = vl.Ragged(x, [2, 3])
    assert torch.equal(r.softmax().values, ops.softmax(x, [2, 3]))
    assert torch.equal(r.log_softmax(temperature=2).values, ops.log_softmax(r, temperature=2).values)


@pytest.mark.parametrize("forward", FORWARD)
@pytest.mark.parametrize("lengths", LENGTHS)
def test_gradients_are_right(forward, lengths):
    x = rows(lengths, (2,)).requires_grad_()

    def run(x):
        return forward(x, lengths, temperature=1.5)

    assert torch.autograd.gradcheck(run, (x,))
    assert torch.autograd.gradgradcheck(run, (x,))


@pytest.mark.parametrize(("forward", "backward"), list(zip(FORWARD, BACKWARD, strict=True)))
def test_ways_back_have_gradients(forward, backward):
    lengths = [2, 0, 3]
    y = forward(rows(lengths, (2,)), lengths).requires_grad_()
    d = rows(lengths, (2,), seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda d, y: backward(d, y, lengths, temperature=2), (d, y))


@pytest.mark.parametrize("forward", FORWARD)
def test_transforms_of_torch_func(forward):
    lengths = vl.Level([2, 0, 3])
    x = rows([5], (2,))
    weights = rows([5], (2,), seed=1)

    def loss(x):
        return (forward(x, lengths) * weights).sum()

    watched = x.clone().requires_grad_()
    loss(watched).backward()
    assert torch.allclose(torch.func.grad(loss)(x), watched.grad)
    many = torch.stack([x, x + weights])
    result = torch.func.vmap(lambda x: forward(x, lengths))(many)
    assert torch.allclose(result, torch.stack([forward(x, lengths) for x in many]))
    both = torch.func.vmap(torch.func.grad(loss))(many)
    assert torch.allclose(both[0], watched.grad)


def test_ops_have_shapes_without_numbers():
    meta = torch.ones((5, 2), device="meta", dtype=torch.float16)
    offsets = torch.tensor([0, 2, 5], device="meta")
    result = torch.ops.varlen.softmax_sequences(meta, offsets, False, 1.0)
    assert (result.shape, result.dtype) == (meta.shape, meta.dtype)
    back = torch.ops.varlen.backprop_softmax_sequences(meta, meta, offsets, False, 1.0)
    assert (back.shape, back.dtype) == (meta.shape, meta.dtype)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.softmax(x, [2]), ValueError, "lengths: add up to 2"),
        (lambda x: ops.softmax(x, [3], out=torch.ones(3, dtype=torch.float16)), ValueError, "out"),
        (lambda x: ops.softmax(x, [3], out=np.ones(3)), TypeError, "out: expected a tensor"),
        (lambda x: ops.softmax(x.int(), [3], inplace=True), TypeError, "X: expected floats"),
        (lambda x: ops.softmax(x, [3], temperature=0), ValueError, "temperature"),
        (lambda x: ops.softmax(x.clone().requires_grad_(), [3], inplace=True), ValueError, "out"),
        (lambda x: ops.backprop_softmax(x, x.half(), [3]), TypeError, "Y: expected"),
        (lambda x: ops.backprop_softmax(x, x[:2], [3]), ValueError, "Y: expected the shape"),
    ],
)
def test_bad_input_is_refused_by_name(call, error, text):
    x = torch.ones(3)
    with pytest.raises(error, match=text):
        call(x)
    assert torch.equal(x, torch.ones(3))


# What makes a result NaN or infinite, with the gradients that go through them.
STRANGE = [[-np.inf, -np.inf], [np.inf, 1.0], [np.nan, 1.0]]
IN_SEQUENCES = [
    *FORWARD, ops.reduce_logsumexp, ops.reduce_std, ops.reduce_var, ops.reduce_norm, ops.reduce_prod,
    ops.cumprod, ops.reduce_max, ops.reduce_min, ops.reduce_mean, ops.cumsum, ops.cummax,
]  # fmt: skip


def left_out(y, lengths):
    """The sum of what is not of the first sequence, as a loss with a mask has it."""
    of = torch.arange(len(lengths))
    of = of if len(y) == len(lengths) else of.repeat_interleave(torch.tensor(lengths))
    return torch.where((of > 0).reshape(-1, *(1 for _ in y.shape[1:])), y, 0).float().pow(2).sum()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("strange", STRANGE)
@pytest.mark.parametrize("verb", IN_SEQUENCES, ids=lambda verb: verb.__name__)
def test_a_gradient_of_0_stays_0_beside_nan_and_infinities(verb, strange, dtype):
    for columns in ((), (3,)):
        first = torch.tensor(strange).reshape(-1, *(1 for _ in columns)).expand(2, *columns)
        x = torch.cat([first, rows([3], columns, torch.float32)]).to(getattr(torch, dtype)).requires_grad_()
        (gradient,) = torch.autograd.grad(left_out(verb(x, [2, 3]), [2, 3]), x)
        alone = x[2:].detach().requires_grad_()
        (wanted,) = torch.autograd.grad(verb(alone, [3]).float().pow(2).sum(), alone)
        assert torch.equal(gradient[:2], torch.zeros(2, *columns, dtype=x.dtype))
        assert torch.equal(gradient[2:], wanted)


@pytest.mark.parametrize("verb", IN_SEQUENCES[:7], ids=lambda verb: verb.__name__)
def test_the_second_gradient_stays_in_its_sequence_too(verb):
    x = torch.tensor([*STRANGE[0], 1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(left_out(verb(x, [2, 3]), [2, 3]), x, create_graph=True)
    (second,) = torch.autograd.grad(gradient.pow(2).sum(), x)
    assert second[:2].tolist() == [0, 0]
    assert second.isfinite().all()


@pytest.mark.parametrize("verb", IN_SEQUENCES[:7], ids=lambda verb: verb.__name__)
def test_a_gradient_that_is_not_0_meets_the_nan(verb):
    x = torch.tensor([np.nan, 1.0, 1.0, 2.0], requires_grad=True)
    verb(x, [2, 2]).sum().backward()
    assert x.grad[:2].isnan().any()
    assert x.grad[2:].isfinite().all()


def test_a_jvp_by_two_gradients_goes_through_gradients_of_0():
    x = torch.tensor([1.0, 2.0, 4.0], dtype=torch.float64)
    for verb in (ops.reduce_logsumexp, ops.reduce_norm, ops.softmax):
        _, found = torch.autograd.functional.jvp(lambda x, verb=verb: verb(x, [2, 1]), x, x)
        step = 1e-6
        wanted = (verb(x + step * x, [2, 1]) - verb(x - step * x, [2, 1])) / (2 * step)
        assert torch.allclose(found, wanted, atol=1e-6)
