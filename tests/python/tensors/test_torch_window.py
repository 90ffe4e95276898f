"""Windows of tensors: the numbers of arrays, gradients of every order, torch.func."""

import importlib

import numpy as np
import pytest
import varlen as vl
from varlen import ops

torch = pytest.importorskip("torch")

LENGTHS = [[2, 0, 3], [0], [], [6]]
AROUND = [
    {},
    {"left": 0, "right": 2},
    {"dilation": 2},
    {"stride": 2},
    {"left": 2, "stride": 3, "dilation": 3},
]
STEPS = [{"size": 2, "step": 1}, {"size": 2, "step": 3}, {"size": 3, "step": 2, "drop_last": True}]


def rows(count, trailing=(), dtype=torch.float64):
    return torch.randn((count, *trailing), generator=torch.Generator().manual_seed(count)).to(dtype)


def agree(result, wanted):
    assert isinstance(result, torch.Tensor)
    assert result.detach().numpy().dtype == wanted.dtype
    assert np.array_equal(result.detach().numpy(), wanted)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("trailing", [(), (2,), (2, 3)])
def test_tensors_give_the_numbers_of_arrays(lengths, around, trailing):
    x = rows(sum(lengths), trailing, torch.float32)
    result = ops.seq2col(x, 1, lengths=lengths, **around)
    agree(result, ops.seq2col(x.numpy(), 1, lengths=lengths, **around))
    back = ops.backprop_seq2col(result, 1, lengths=lengths, **around)
    agree(back, ops.backprop_seq2col(result.numpy(), 1, lengths=lengths, **around))
    out = torch.empty_like(result)
    assert ops.seq2col(x, 1, lengths=lengths, out=out, **around) is out


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("steps", STEPS)
def test_windows_give_the_numbers_of_arrays(lengths, steps):
    x = rows(sum(lengths), (2,), torch.float32)
    result, wanted = ops.windows(x, lengths, **steps), ops.windows(x.numpy(), lengths, **steps)
    assert result.levels == wanted.levels
    agree(result.values, wanted.values)
    agree(
        ops.average_windows(result.values, lengths, **steps),
        ops.average_windows(wanted.values, lengths, **steps),
    )
    merged = ops.backprop_windows(result, lengths, **steps)
    agree(merged.values, ops.backprop_windows(wanted, lengths, **steps).values)
    shared = ops.backprop_average_windows(x, lengths, **steps)
    agree(shared.values, ops.backprop_average_windows(x.numpy(), lengths, **steps).values)


@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize("around", AROUND)
def test_gradients_of_neighbours(lengths, around):
    x = rows(sum(lengths), (2,)).requires_grad_()
    call = lambda x: ops.seq2col(x, 1, lengths=lengths, **around)  # noqa: E731
    assert torch.autograd.gradcheck(call, (x,))
    assert torch.autograd.gradgradcheck(call, (x,))


@pytest.mark.parametrize("steps", STEPS)
def test_gradients_of_windows(steps):
    lengths = [2, 0, 5]
    x = rows(7).requires_grad_()
    y = ops.windows(x, lengths, **steps).values.detach().requires_grad_()
    for call, at in (
        (lambda x: ops.windows(x, lengths, **steps).values, x),
        (lambda y: ops.average_windows(y, lengths, **steps), y),
        (lambda y: ops.backprop_windows(y, lengths, **steps), y),
        (lambda x: ops.backprop_average_windows(x, lengths, **steps).values, x),
    ):
        assert torch.autograd.gradcheck(call, (at,))
        assert torch.autograd.gradgradcheck(call, (at,))


def test_gradients_of_windows_of_complex_numbers():
    x = torch.complex(rows(5, (2,)), rows(5, (2,)) + 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: vl.Ragged(x, [3, 0, 2]).sliding_window(2).values, x)
    assert torch.autograd.gradgradcheck(lambda x: vl.Ragged(x, [3, 0, 2]).sliding_window(2).values, x)


def test_ragged_tensors_stay_ragged_and_watched():
    x = rows(5, (2,)).requires_grad_()
    r = ops.seq2col(vl.Ragged(x, [2, 3]), 1)
    assert isinstance(r, vl.Ragged)
    r.values.sum().backward()
    assert x.grad[:, 0].tolist() == [2, 2, 2, 3, 2]


def test_func_transforms():
    lengths = [2, 0, 3]
    batch = rows(3, (5, 2))
    each = [ops.seq2col(one, 1, lengths=lengths) for one in batch]
    assert torch.equal(
        torch.func.vmap(lambda x: ops.seq2col(x, 1, lengths=lengths))(batch), torch.stack(each)
    )

    def loss(x):
        merged = ops.average_windows(
            ops.windows(x, lengths, size=2, step=1).values ** 2, lengths, size=2, step=1
        )
        return (ops.seq2col(x, 1, lengths=lengths) ** 2).sum() + merged.sum()

    x = batch[0].clone().requires_grad_()
    loss(x).backward()
    assert torch.allclose(torch.func.grad(loss)(batch[0]), x.grad)
    assert torch.allclose(torch.func.vmap(torch.func.grad(loss))(batch)[0], x.grad)


def test_registered_ops_keep_what_they_promise():
    registered = importlib.import_module("varlen.backends.torch.window")

    x, offsets = rows(5, (2,)), torch.tensor([0, 2, 2, 5])
    samples = {
        registered._places: (x, offsets, 5, [1, 1, 1, 1], None),
        registered._rows: (rows(5, (3, 2)), offsets, 5, [1, 1, 1, 1], None),
        registered._windows: (x, offsets, 6, [2, 1, 0], False, None),
        registered._merge_op: (rows(6), offsets, 5, [2, 1, 0], True, None),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.seq2col(x, -1), ValueError, "nW"),
        (lambda x: ops.seq2col(x, 1, lengths=[4]), ValueError, "lengths"),
        (lambda x: ops.backprop_seq2col(x, 1), ValueError, "2 numbers a row do not divide into 3 places"),
        (lambda x: ops.backprop_seq2col(x[:, 0], 1), ValueError, "at least two dimensions"),
        (lambda x: ops.backprop_seq2col(x, 0, lengths=[11], stride=2), ValueError, "lengths"),
        (lambda x: ops.windows(x, size=0, step=1), ValueError, "size"),
        (lambda x: ops.average_windows(x, [9], size=2, step=1), ValueError, "Y"),
    ],
)
def test_bad_tensors_are_refused_as_arrays_are(call, error, text):
    x = rows(5, (2,), torch.float32)
    with pytest.raises(error, match=text) as of_tensor:
        call(x)
    with pytest.raises(error) as of_array:
        call(x.numpy())
    assert str(of_tensor.value) == str(of_array.value)


def test_results_over_the_limit_are_refused():
    x = rows(5, (2,), torch.float32)
    with pytest.raises(ValueError, match="takes 120 bytes, over max_bytes=8"):
        ops.seq2col(x, 1, max_bytes=8)
    with pytest.raises(ValueError, match="over max_bytes=8"):
        ops.windows(x, size=2, step=1, max_bytes=8)
