"""Lookups, spans, alignments and insertions of tensors: the numbers of arrays, gradients of every order."""

import numpy as np
import pytest
import varlen as vl
from varlen import ops

torch = pytest.importorskip("torch")

INDICES = torch.tensor([[0, 1], [3, 3], [1, 0]])
AT = vl.Ragged(np.array([[0, 2], [1, 3], [0, 0], [0, 2]]), [2, 1, 0, 1])
ALIGNMENT = vl.Ragged(np.array([0, 1, 2, 1, 0, 1]), [[2, 0, 0, 2], [3, 0, 1, 2]])
PLACES = vl.Ragged(np.array([0, 3, 3, 0, 1]), [3, 1, 0, 1])
LENGTHS = [3, 0, 1, 2]


def rows(*shape, dtype=torch.float64, seed=0):
    return (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 4).to(dtype)


def agree(result, wanted):
    if isinstance(wanted, vl.Ragged):
        assert result.levels == wanted.levels
        result, wanted = result.values, wanted.values
    assert isinstance(result, torch.Tensor)
    assert result.detach().numpy().dtype == wanted.dtype
    assert np.array_equal(result.detach().numpy(), wanted)


CALLS = {
    "gather_add": (lambda x: ops.gather_add(x, INDICES), (4, 2)),
    "backprop_gather_add": (lambda x: ops.backprop_gather_add(x, INDICES, 5), (3, 2)),
    "gather_add of a Ragged": (lambda x: ops.gather_add(x, vl.Ragged(INDICES, [3])).values, (4,)),
    "spans": (lambda x: ops.spans(x, AT, lengths=LENGTHS).values, (6, 2)),
    "backprop_spans": (lambda x: ops.backprop_spans(x, AT, LENGTHS), (6, 2)),
    "align": (lambda x: ops.align(x, ALIGNMENT, lengths=LENGTHS).values, (6,)),
    "backprop_align": (lambda x: ops.backprop_align(x, ALIGNMENT, LENGTHS), (6, 2)),
    "insert_rows": (lambda x: ops.insert_rows(x, PLACES, lengths=LENGTHS).values, (6, 2)),
    "insert_rows of x": (lambda x: ops.insert_rows(x, PLACES, rows=x[:5], lengths=LENGTHS).values, (6, 2)),
    "backprop_insert_rows": (lambda x: ops.backprop_insert_rows(x, PLACES, LENGTHS)[0], (11, 2)),
    "rows taken out": (lambda x: ops.backprop_insert_rows(x, PLACES, LENGTHS)[1], (11,)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8", "bool"])
def test_tensors_give_the_numbers_of_arrays(name, dtype):
    call, shape = CALLS[name]
    x = rows(*shape).abs().to(getattr(torch, dtype))
    agree(call(x), call(x.numpy()))


def test_raggeds_of_tensors_stay_raggeds_of_tensors():
    x = rows(6, 2)
    r, s = vl.Ragged(x, LENGTHS), vl.Ragged(x.numpy(), LENGTHS)
    agree(ops.spans(r, AT), ops.spans(s, AT))
    agree(ops.align(r, ALIGNMENT), ops.align(s, ALIGNMENT))
    agree(ops.insert_rows(r, PLACES), ops.insert_rows(s, PLACES))
    agree(
        ops.backprop_spans(ops.spans(r, AT), AT, LENGTHS), ops.backprop_spans(ops.spans(s, AT), AT, LENGTHS)
    )
    y, z = ops.insert_rows(r, PLACES), ops.insert_rows(s, PLACES)
    agree(ops.backprop_insert_rows(y, PLACES, LENGTHS)[0], ops.backprop_insert_rows(z, PLACES, LENGTHS)[0])
    assert ops.spans(rows(6).to(torch.complex64), AT, lengths=LENGTHS).dtype == torch.complex64


def test_bfloat16_is_added_in_float32_and_rounded_once():
    table = torch.tensor([256.0, 1.0, 1.0], dtype=torch.bfloat16)
    assert ops.gather_add(table, [[0, 1, 2]]).item() == 258
    table = torch.tensor([256.0, 0.0], dtype=torch.bfloat16)
    assert ops.scatter_add(table, [0, 0, 1], torch.ones(3, dtype=torch.bfloat16)) is None
    assert table.tolist() == [258, 1]


def test_scatter_add_writes_into_the_tensor():
    table, values = rows(4, 2), rows(3, 2, seed=1)
    want = table.numpy().copy()
    ops.scatter_add(want, [1, 0, 1], values.numpy())
    version = table._version
    ops.scatter_add(table, torch.tensor([1, 0, 1], dtype=torch.int32), values)
    agree(table, want)
    assert table._version > version
    for call, error, text in (
        (lambda: ops.scatter_add(table, [0], values.numpy()), TypeError, "values: expected a tensor"),
        (
            lambda: ops.scatter_add(table, [0], values[:1].float()),
            TypeError,
            "values: expected torch.float64",
        ),
        (lambda: ops.scatter_add(table.T, [0], values[:1]), ValueError, "table: is not C-contiguous"),
        (lambda: ops.scatter_add(table.requires_grad_(), [0], values[:1]), ValueError, "autograd watches"),
    ):
        with pytest.raises(error, match=text):
            call()
    assert np.array_equal(table.detach().numpy(), want)


@pytest.mark.parametrize("name", CALLS)
def test_gradients(name):
    call, shape = CALLS[name]
    x = rows(*shape).requires_grad_()
    assert torch.autograd.gradcheck(call, (x,))
    assert torch.autograd.gradgradcheck(call, (x,))


def test_gradients_where_nothing_is():
    empty = vl.Ragged(np.zeros((0, 2), np.int64), [0, 0])
    x = torch.zeros((0, 2), dtype=torch.float64, requires_grad=True)
    for call in (
        lambda x: ops.spans(x, empty, lengths=[0, 0]).values,
        lambda x: ops.insert_rows(x, vl.Ragged(np.zeros(0, np.int64), [0, 0]), lengths=[0, 0]).values,
        lambda x: ops.align(x, vl.Ragged(np.zeros(0, np.int64), [0, 0]), lengths=[0, 0]).values,
        lambda x: ops.gather_add(x, torch.zeros((3, 0), dtype=torch.int64)),
    ):
        call(x).sum().backward()
        assert x.grad.shape == (0, 2)


@pytest.mark.parametrize("name", CALLS)
def test_func_transforms(name):
    call, shape = CALLS[name]
    x = rows(*shape)

    def loss(x):
        return (call(x) ** 2).sum()

    y = x.clone().requires_grad_()
    loss(y).backward()
    assert torch.allclose(torch.func.grad(loss)(x), y.grad)
    batch = torch.stack([x, 2 * x])
    both = torch.func.vmap(torch.func.grad(loss))(batch)
    assert torch.allclose(both, torch.stack([torch.func.grad(loss)(one) for one in batch]))


def test_rows_that_are_put_in_have_gradients():
    x, new = rows(6, 2).requires_grad_(), rows(5, 2, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x, new: ops.insert_rows(x, PLACES, rows=new, lengths=LENGTHS).values, (x, new)
    )
    for bad, error in ((new.float(), ValueError), (new[:2], ValueError), (new.detach().numpy(), TypeError)):
        with pytest.raises(error, match="rows: expected"):
            ops.insert_rows(x, PLACES, rows=bad, lengths=LENGTHS)


def test_registered_ops_keep_what_they_promise():
    from varlen.backends.torch import scatter as torch_scatter
    from varlen.backends.torch import span as torch_span

    samples = {
        torch_scatter._gather: (rows(4, 2), INDICES),
        torch_scatter._gradient_op: (rows(3, 2), INDICES, 5),
        torch_span._insert: (rows(4, 2), rows(2, 2), torch.tensor([1, 4])),
    }
    for op, args in samples.items():
        torch.library.opcheck(op.torch_op, args, test_utils=("test_schema", "test_faketensor"))


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: ops.gather_add(x, [[0, 5]]), IndexError, "indices: position 0, 1 holds 5"),
        (lambda x: ops.gather_add(x, torch.tensor([[0.5]])), TypeError, "indices: expected integers"),
        (lambda x: ops.gather_add(x, [[0]], out=torch.zeros(3)), ValueError, "out: needs"),
        (lambda x: ops.backprop_gather_add(x, [[0]], 1), ValueError, "dY: has 5 rows for 1 of indices"),
        (lambda x: ops.spans(x, [[0, 6]]), IndexError, "span 0 of sequence 0 is 0 to 6"),
    ],
)
def test_bad_tensors_are_refused(call, error, text):
    with pytest.raises(error, match=text):
        call(rows(5, dtype=torch.float32))
