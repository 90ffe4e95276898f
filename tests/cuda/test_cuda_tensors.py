"""Containers of tensors on a device: every verb gives what it gives on the CPU, forward and backward."""

import numpy as np
import pytest
import varlen as vl
from memory import by_cpu
from varlen import ops

pytestmark = pytest.mark.cuda(on_host=True)

LENGTHS = [3, 0, 5, 1, 300, 0, 2]
TOTAL = sum(LENGTHS)
INDEX = [4, 0, 6, 4]

# Rows that change places: the same bits.
MOVES = {
    "to_dense": lambda r: r.to_dense(),
    "to_dense on the left": lambda r: r.to_dense(padding_side="left", fill=-1.0),
    "to_dense, cut": lambda r: r.to_dense(max_len=4),
    "from_dense": lambda r: vl.Ragged.from_dense(r.to_dense(), lengths=r.lengths),
    "to_padded": lambda r: r.to_padded().data,
    "to_padded and back": lambda r: r.to_padded().to_ragged(),
    "pack and back": lambda r: r.pack().to_ragged(),
    "row": lambda r: r[4],
    "rows": lambda r: r[1:5],
    "rows by index": lambda r: r[INDEX],
    "rows by mask": lambda r: r[r.lengths > 1],
    "slices": lambda r: r[:, :2],
    "slices by steps": lambda r: r[:, ::-2],
    "gather": lambda r: r.gather(INDEX),
    "reverse": lambda r: r.reverse(),
    "roll": lambda r: r.roll(2),
    "shift": lambda r: r.shift(1),
    "tile": lambda r: r.tile([2, 1, 1]),
    "broadcast_rows": lambda r: r.broadcast_rows(r.values[: len(LENGTHS)]),
    "concatenate": lambda r: ops.concatenate([r, r], axis=1),
    "stack": lambda r: ops.stack([r, r]),
    "seq2col": lambda r: ops.seq2col(r.values, 1, lengths=r.lengths),
    "windows": lambda r: ops.windows(r, size=2, step=1),
    "insert_rows": lambda r: ops.insert_rows(r, np.array([0, 3, 300]), row_ids=[0, 2, 4]),
    "spans": lambda r: ops.spans(r, np.array([[1, 3], [20, 290], [7, 9]]), row_ids=[0, 4, 4]),
    "gather_add": lambda r: ops.gather_add(r.values, np.array([[0], [7], [7], [310]])),
    "boolean_mask": lambda r: r.boolean_mask(vl.Ragged(np.arange(TOTAL) % 3 > 0, LENGTHS)),
    "sort": lambda r: r.sort(),
    "sort, descending": lambda r: r.sort(descending=True),
    "topk": lambda r: r.topk(2)[0],
    "max": lambda r: r.max(empty=0),
    "min": lambda r: r.min(empty=0),
    "first": lambda r: r.first(empty=0),
    "last": lambda r: r.last(empty=0),
    "cummax": lambda r: r.cummax(),
    "cummin": lambda r: r.cummin(),
    "sequence_expand": lambda r: vl.sequence_expand(r, vl.Ragged(np.zeros(7), [2, 0, 1, 1, 0, 2, 1])),
    "sequence_pad": lambda r: vl.sequence.sequence_pad(r, 0.0)[0],
    "sequence_slice": lambda r: vl.sequence.sequence_slice(r, [1, 0, 2, 0, 100, 0, 0], [1, 0, 3, 1, 7, 0, 2]),
    "sequence_concat": lambda r: vl.sequence.sequence_concat([r, r.reverse()]),
    "split": lambda r: r.split(3)[1],
}
# Numbers that are added up, each side in an order of its own.
SUMS = {
    "sum": lambda r: r.sum(),
    "mean": lambda r: r.mean(empty=0),
    "prod": lambda r: r.prod(),
    "norm": lambda r: r.norm(),
    "var": lambda r: r.var(empty=0),
    "std": lambda r: (r + r.values.new_tensor([0.5])).std(empty=0),
    "logsumexp": lambda r: r.logsumexp(empty=0),
    "softmax": lambda r: r.softmax(),
    "log_softmax": lambda r: r.log_softmax(),
    "cumsum": lambda r: r.cumsum(),
    "cumprod": lambda r: r.cumprod(),
    "diff": lambda r: r.diff(),
    "average_windows": lambda r: ops.average_windows(
        ops.windows(r, size=2, step=1), r.lengths, size=2, step=1
    ),
    "arithmetic": lambda r: (r * 2 - r.reverse()) / 3,
    "tanh": lambda r: r.tanh(),
    "sequence_pool": lambda r: sum(vl.sequence_pool(r, kind) for kind in ("sum", "average", "sqrt")),
    "sequence_conv": lambda r: vl.sequence.sequence_conv(r, r.values.new_ones(3 * r.values.shape[1], 2) / 8),
    "row_conv": lambda r: vl.sequence.row_conv(r, r.values.new_ones(2, r.values.shape[1]) / 2),
    "matmul": lambda r: r @ (r.values.new_ones(r.values.shape[1], 3) / 2),
    "attention pooling": lambda r: (r.softmax() * r).sum(),
}
# What has no gradient.
PLAIN = {
    "argmax": lambda r: r.argmax(empty=-1),
    "argmin": lambda r: r.argmin(empty=-1),
    "argsort": lambda r: r.argsort(),
    "rank": lambda r: r.rank(),
    "any": lambda r: (r > 0).any(),
    "all": lambda r: (r > 0).all(),
    "count": lambda r: (r > 0).sum(),
    "unique": lambda r: r.unique(),
    "mask": lambda r: r.to_dense(mask=True)[1],
    "astype": lambda r: r.astype(r.values.new_empty(0).double().dtype),
}


def numbers_of(result):
    """The tensor in a result."""
    while hasattr(result, "levels"):
        result = result.values
    return result[0] if isinstance(result, tuple) else result


def drawn(torch, dtype, width, seed=0):
    x = np.random.default_rng(seed).uniform(-1.2, 1.2, (TOTAL, width)).astype(np.float32)
    return torch.from_numpy(x).to(getattr(torch, dtype))


def both(torch, device, call, x):
    """The result on the device and on the CPU, and the leaves that they were made of."""
    leaves = x.clone().to(device).requires_grad_(), x.clone().requires_grad_()
    got = numbers_of(call(vl.Ragged(leaves[0], LENGTHS)))
    with by_cpu():
        wanted = numbers_of(call(vl.Ragged(leaves[1], LENGTHS)))
    assert got.device == leaves[0].device
    assert got.dtype == wanted.dtype
    return got, wanted, leaves


def backward(got, wanted, leaves, torch):
    d = torch.from_numpy(np.random.default_rng(9).standard_normal(tuple(wanted.shape))).to(wanted.dtype)
    got.backward(d.to(got.device))
    with by_cpu():
        wanted.backward(d)
    return leaves[0].grad.cpu(), leaves[1].grad


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", MOVES)
def test_moves_give_the_same_bits_and_gradients(torch, device, name, dtype, width):
    got, wanted, leaves = both(torch, device, MOVES[name], drawn(torch, dtype, width))
    torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=0)
    if not wanted.requires_grad:
        return
    close = {"float32": 1e-6, "float16": 4e-3, "bfloat16": 3e-2}[dtype]  # a row read twice adds two gradients
    torch.testing.assert_close(*backward(got, wanted, leaves, torch), rtol=close, atol=close)


@pytest.mark.parametrize("width", [1, 4])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_and_their_gradients_are_close(torch, device, name, dtype, width):
    got, wanted, leaves = both(torch, device, SUMS[name], drawn(torch, dtype, width))
    close = {"float64": 1e-10, "float32": 1e-4, "float16": 2e-2, "bfloat16": 1e-1}[dtype]
    torch.testing.assert_close(got.cpu(), wanted, rtol=close, atol=close)
    torch.testing.assert_close(*backward(got, wanted, leaves, torch), rtol=close, atol=close)


@pytest.mark.parametrize("name", PLAIN)
def test_what_has_no_gradient_is_the_same(torch, device, name):
    x = drawn(torch, "float32", 1)[:, 0]
    got = numbers_of(PLAIN[name](vl.Ragged(x.to(device), LENGTHS)))
    with by_cpu():
        wanted = numbers_of(PLAIN[name](vl.Ragged(x.clone(), LENGTHS)))
    assert got.device.type == device
    torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=0)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("verb", ["sum", "max", "softmax", "cumsum", "reverse", "sort"])
def test_every_level_is_reduced_and_moved(torch, device, level, verb):
    def call(x):
        ragged = vl.Ragged(x, (vl.Level([2, 0, 3, 2]), vl.Level(LENGTHS)))
        if verb == "max":
            return numbers_of(ragged.max(level=level, empty=0))
        return numbers_of(getattr(ragged, verb)(level=level))

    x = drawn(torch, "float32", 2)
    with by_cpu():
        wanted = call(x.clone())
    torch.testing.assert_close(call(x.to(device)).cpu(), wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["softmax", "logsumexp", "norm", "cumsum"])
def test_second_derivatives_are_those_of_the_cpu(torch, device, name):
    def call(x):
        y = numbers_of(SUMS[name](vl.Ragged(x, LENGTHS)))
        (d,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
        return torch.autograd.grad((d * d).sum(), x)[0]

    x = drawn(torch, "float64", 2)
    got = call(x.clone().to(device).requires_grad_())
    with by_cpu():
        wanted = call(x.clone().requires_grad_())
    torch.testing.assert_close(got.cpu(), wanted, rtol=1e-8, atol=1e-8)


def test_tensors_of_any_strides(torch, device):
    x = drawn(torch, "float32", 6)
    got = vl.Ragged(x.to(device)[:, ::2], LENGTHS).reverse().values
    with by_cpu():
        wanted = vl.Ragged(x[:, ::2].contiguous(), LENGTHS).reverse().values
    torch.testing.assert_close(got.cpu(), wanted, rtol=0, atol=0)
