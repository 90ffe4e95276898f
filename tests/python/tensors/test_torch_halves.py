"""Tensors of bfloat16 and float16: read where they lie, with the numbers that arrays of them give."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from varlen import _core

torch = pytest.importorskip("torch")
from varlen.backends.torch.autograd import as_numbers, from_numbers, in_float32  # noqa: E402

HALVES = {torch.bfloat16: np.dtype(ml_dtypes.bfloat16), torch.float16: np.dtype(np.float16)}
LENGTHS = [3, 0, 33, 130, 1, 16]
LEVEL = vl.Level(LENGTHS)
PLACES = np.array([[0, 1], [5, 5], [182, 7]])


VERBS = {
    "sum": lambda r: r.sum(),
    "mean": lambda r: r.mean(empty=1.5),
    "max": lambda r: r.max(empty=-2),
    "min": lambda r: r.min(empty=0),
    "prod": lambda r: r.prod(),
    "norm": lambda r: r.norm(),
    "logsumexp": lambda r: r.logsumexp(),
    "var": lambda r: r.var(empty=0),
    "std": lambda r: r.std(empty=0),
    "any": lambda r: r.any(),
    "all": lambda r: r.all(),
    "argmax": lambda r: r.argmax(empty=-1),
    "reduce_max": lambda r: vl.ops.reduce_max(r.values, LEVEL, empty=0),
    "softmax": lambda r: r.softmax().values,
    "log_softmax": lambda r: r.log_softmax(temperature=0.5).values,
    "cumsum": lambda r: r.cumsum().values,
    "cumprod": lambda r: r.cumprod(exclusive=True).values,
    "cummax": lambda r: r.cummax(reverse=True).values,
    "sort": lambda r: r.sort(descending=True).values,
    "argsort": lambda r: r.argsort().values,
    "topk": lambda r: r.topk(2)[0].values,
    "rank": lambda r: r.rank(method="average").values,
    "unique": lambda r: vl.ops.unique(r.values.reshape(len(r.values), -1)[:, 0], LEVEL).values,
    "shift": lambda r: r.shift(1, fill=0.1).values,
    "roll": lambda r: r.roll(2).values,
    "reverse": lambda r: r.reverse().values,
    "first": lambda r: r.first(empty=7),
    "gather_add": lambda r: vl.ops.gather_add(r.values, PLACES),
    "backprop_gather_add": lambda r: vl.ops.backprop_gather_add(r.values[:3], PLACES, 200),
    "to_dense": lambda r: r.to_dense(fill=0.1),
    "seq2col": lambda r: vl.ops.seq2col(r.values.reshape(len(r.values), -1), 1, lengths=LENGTHS),
    "backprop_softmax": lambda r: vl.ops.backprop_softmax(r.values, r.values, LEVEL),
    "backprop_cumprod": lambda r: vl.ops.backprop_cumprod(r.values, r.values, LEVEL),
    "backprop_reduce_sum": lambda r: vl.ops.backprop_reduce_sum(r.values[:6], LEVEL),
    "backprop_reduce_mean": lambda r: vl.ops.backprop_reduce_mean(r.values[:6], LEVEL),
}


def pair(dtype, columns):
    """The same numbers as a tensor and as an array."""
    shape = (sum(LENGTHS),) if columns == 1 else (sum(LENGTHS), columns)
    tensor = torch.from_numpy(np.random.default_rng(1).standard_normal(shape)).to(dtype)
    return tensor, tensor.view(torch.int16).numpy().view(HALVES[dtype])


def as_bits(given):
    if isinstance(given, (tuple, list)):
        return [as_bits(each) for each in given]
    if isinstance(given, vl.Ragged):
        given = given.values
    if isinstance(given, torch.Tensor):
        given = given.detach()
        return given.view(torch.int16).numpy() if given.dtype in HALVES else given.numpy()
    given = np.asarray(given)
    return given.view(np.int16) if given.dtype in HALVES.values() else given


@pytest.fixture
def unwidened(monkeypatch):
    """No tensor of halves is converted as a whole."""
    for name in ("float", "to", "double", "type"):
        convert = getattr(torch.Tensor, name)

        def refuse(self, *args, convert=convert, **named):
            assert self.dtype not in HALVES or self.numel() < 20, "converted as a whole"
            return convert(self, *args, **named)

        monkeypatch.setattr(torch.Tensor, name, refuse)


@pytest.mark.parametrize("verb", sorted(VERBS))
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_tensor_of_halves_gives_the_bits_of_the_array(dtype, verb, request):
    for columns in (1, 3):
        tensor, array = pair(dtype, columns)
        want = VERBS[verb](vl.Ragged(array, LENGTHS))
        request.getfixturevalue("unwidened")
        got = VERBS[verb](vl.Ragged(tensor, LENGTHS))
        request.getfixturevalue("monkeypatch").undo()
        assert len(got) == len(want)
        for a, b in zip(as_bits([got])[0:], as_bits([want]), strict=True):
            assert isinstance(a, list) or a.dtype == b.dtype
            np.testing.assert_equal(a, b)


GRADIENTS = [
    "sum",
    "mean",
    "max",
    "softmax",
    "log_softmax",
    "cumsum",
    "cummax",
    "sort",
    "gather_add",
    "shift",
]


@pytest.mark.parametrize("verb", GRADIENTS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_gradients_of_halves_are_halves_and_near_those_of_float32(dtype, verb):
    tensor, _ = pair(dtype, 3)
    found = []
    for leaf in (tensor.clone(), tensor.float()):
        leaf.requires_grad_()
        result = VERBS[verb](vl.Ragged(leaf, LENGTHS))
        weights = torch.arange(result.numel()).reshape(result.shape) % 5 / 4
        result.backward(weights.to(result.dtype))
        assert leaf.grad.dtype == leaf.dtype
        found.append(leaf.grad.float())
    torch.testing.assert_close(*found, rtol=4e-2, atol=4e-2)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_the_numbers_of_a_tensor_are_its_memory(dtype):
    tensor, array = pair(dtype, 3)
    for part in (tensor, tensor[5:], tensor[:0], torch.nn.Parameter(tensor)):
        numbers = as_numbers(part)
        assert numbers.shape == tuple(part.shape)
        assert numbers.size == 0 or numbers.ctypes.data == part.data_ptr()
        back = from_numbers(numbers, tensor)
        assert back.dtype == dtype
        assert torch.equal(back, part)
    np.testing.assert_array_equal(as_numbers(tensor).view(np.int16), array.view(np.int16))


def test_a_negative_bit_is_read_as_what_it_says():
    tensor = torch._neg_view(torch.tensor([1.0, -2.0], dtype=torch.bfloat16))
    assert vl.Ragged(tensor, [2]).sum().tolist() == [1.0]
    assert as_numbers(tensor).view(ml_dtypes.bfloat16).tolist() == [-1.0, 2.0]


def test_a_block_of_bfloat16_is_filled_and_written_to():
    values = torch.arange(1.0, 4).bfloat16()
    wanted = torch.tensor([[1.0, 2.0], [3.0, 0.1]], dtype=torch.bfloat16)
    for given in (values, torch._neg_view(-values)):
        r = vl.Ragged(given, [2, 1])
        out = torch.zeros(2, 2, dtype=torch.bfloat16)
        assert torch.equal(r.to_dense(fill=0.1), wanted)
        assert r.to_dense(fill=0.1, out=out) is out
        assert torch.equal(out, wanted)
        assert torch.equal(r.to_dense(fill=0.1, mask=True)[0], wanted)


def test_bfloat16_is_called_by_its_name():
    values = torch.ones(3, dtype=torch.bfloat16)
    r = vl.Ragged(values, [3, 0])
    with pytest.raises(ValueError, match=r"empty: 1e\+39 does not fit bfloat16"):
        r.sum(empty=1e39)
    with pytest.raises(ValueError, match=r"fill: 3.4e\+38 does not fit bfloat16"):
        r.shift(1, fill=3.4e38)
    numbers = as_numbers(values)
    with pytest.raises(TypeError, match="Y: expected bfloat16 as dY, got float32"):
        _core.backprop_softmax(numbers, np.ones(3, np.float32), vl.Level([3]))
    for odd in (1j, "1", np.array("2020", "M8[D]")):
        with pytest.raises(ValueError, match="does not fit bfloat16"):
            _core.reduce("sum", numbers, vl.Level([3, 0]), odd)


def test_the_dtype_for_bfloat16_needs_no_package():
    assert _core.bfloat16.itemsize == 2
    copied = np.dtype(_core.bfloat16.descr)
    assert copied is not _core.bfloat16
    for dtype in (_core.bfloat16, copied):
        numbers = np.array([0x3F80, 0x4000], np.uint16).view(dtype)
        assert _core.cast(numbers, np.float32).tolist() == [1.0, 2.0]
        assert _core.reduce("sum", numbers, vl.Level([2]), 0).view(np.uint16).tolist() == [0x4040]
    with pytest.raises(TypeError, match="expected bool, integers or floats"):
        _core.reduce("sum", np.zeros(2, [("bits", "u2")]), vl.Level([2]), 0)


def test_in_float32_converts_what_is_bfloat16_alone():
    ones = as_numbers(torch.ones(2, dtype=torch.bfloat16))
    one, other = in_float32(lambda x, y: (x + y, x))(ones, np.ones(2, np.float32))
    assert one.dtype == other.dtype == _core.bfloat16
    assert in_float32(np.add)(1, 2) == 3


def test_sums_into_a_table_of_bfloat16_are_written_in_place():
    table = torch.zeros(4, 3, dtype=torch.bfloat16)
    memory = table.data_ptr()
    vl.ops.scatter_add(table, np.array([1, 1, 3]), torch.full((3, 3), 0.5, dtype=torch.bfloat16))
    assert table.data_ptr() == memory
    assert table[:, 0].tolist() == [0.0, 1.0, 0.0, 0.5]


OF_TORCH = {
    "sum": torch.sum, "mean": torch.mean, "prod": torch.prod, "std": torch.std, "var": torch.var,
    "logsumexp": torch.logsumexp, "norm": lambda x, dim: torch.norm(x, dim=dim), "max": torch.amax,
    "min": torch.amin, "any": torch.any, "argmax": torch.argmax, "cumsum": torch.cumsum,
    "cumprod": torch.cumprod, "cummax": lambda x, dim: torch.cummax(x, dim)[0], "softmax": torch.softmax,
    "log_softmax": torch.log_softmax, "sort": lambda x, dim: torch.sort(x, dim)[0],
    "diff": lambda x, dim: torch.diff(x, dim=dim), "sigmoid": lambda x, dim: torch.sigmoid(x),
    "tanh": lambda x, dim: torch.tanh(x),
}  # fmt: skip


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", OF_TORCH)
def test_verbs_give_the_dtype_of_torch_under_autocast(name, dtype):
    x = torch.tensor([[1.5, 2.0], [0.5, 3.0], [2.0, 1.0]], dtype=dtype, requires_grad=True)
    r = vl.Ragged(x, [2, 1])
    plain = getattr(r, name)()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result, wanted = getattr(r, name)(), OF_TORCH[name](x, 0)
        assert result.dtype == wanted.dtype
        assert (name != "prod" or dtype.itemsize > 2) == (result.dtype == plain.dtype)
        assert (r @ torch.ones(2, 2, dtype=dtype)).dtype == (x @ torch.ones(2, 2, dtype=dtype)).dtype
    if result.dtype.is_floating_point and name not in ("sort", "diff"):
        rows = result.values if isinstance(result, vl.Ragged) else result
        (grad,) = torch.autograd.grad(rows.float().sum(), x)
        assert grad.dtype == dtype
    assert getattr(r, name)().dtype == plain.dtype


def test_products_in_a_graph_give_the_dtype_of_torch_under_autocast():
    def step(r):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return r.prod()

    r = vl.Ragged(torch.ones(3, 2, dtype=torch.bfloat16), [2, 1])
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    assert compiled(r).dtype == step(r).dtype == torch.float32
