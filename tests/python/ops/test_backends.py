"""Verbs of the backends: each is there for arrays and for tensors, and ops and methods give the same."""

import importlib
import inspect

import numpy as np
import pytest
import varlen as vl
from varlen import ops
from varlen.backends import arrays, backend_of
from varlen.backends.namespace import NamespaceBackend
from varlen.backends.table import VERBS, Backend


def test_backends_have_the_verbs_of_the_table_and_no_others():
    tensors = pytest.importorskip("varlen.backends.torch")
    for backend in (arrays, tensors):
        assert set(backend.__all__) == set(VERBS), backend.__name__
        assert all(callable(getattr(backend, verb)) for verb in VERBS)
    assert not [verb for verb in VERBS if not callable(getattr(NamespaceBackend, verb, None))]


@pytest.mark.parametrize("verb", VERBS)
def test_the_table_says_in_a_line_what_a_verb_takes_and_gives(verb):
    meaning = inspect.getdoc(getattr(Backend, verb))
    assert meaning.endswith(".")
    assert "\n" not in meaning


def test_values_are_of_torch_where_one_of_them_is():
    torch = pytest.importorskip("torch")
    tensors = importlib.import_module("varlen.backends.torch")
    assert backend_of(np.zeros(1), 3, None) is arrays
    assert backend_of(np.zeros(1), torch.zeros(1)) is backend_of(torch.zeros(1), 3) is tensors
    assert backend_of(None, torch.float32) is tensors


def test_names_of_ops_are_verbs_and_no_modules():
    for name in ops.__all__:
        assert callable(getattr(ops, name)), name
        assert not inspect.ismodule(getattr(ops, name)), name


R = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
BOTH = {
    "bincount": (lambda x, n: ops.bincount(x, n, minlength=7), lambda r: r.bincount(7)),
    "boolean_mask": (lambda x, n: ops.boolean_mask(x, R > 1, n), lambda r: r.boolean_mask(R > 1)),
    "broadcast_rows": (
        lambda x, n: ops.broadcast_rows(x, ops.reduce_sum(x, n), n),
        lambda r: r.broadcast_rows(r.sum()),
    ),
    "diff": (lambda x, n: ops.diff(x, n), lambda r: r.diff()),
    "fill_empty_rows": (lambda x, n: ops.fill_empty_rows(x, -1, n), lambda r: r.fill_empty_rows(-1)),
    "gather": (lambda x, n: ops.gather(x, [2, 0], n), lambda r: r.gather([2, 0])),
    "gather_deep": (lambda x, n: ops.gather(x, [[2], [0]], n), lambda r: r.gather([[2], [0]])),
    "pack": (lambda x, n: ops.pack(x, n).values, lambda r: r.pack().values),
    "searchsorted": (
        lambda x, n: ops.searchsorted(ops.sort(x, n), [2, 2, 2], n),
        lambda r: r.sort().searchsorted([2, 2, 2]),
    ),
    "sliding_window": (lambda x, n: ops.sliding_window(x, n, width=2), lambda r: r.sliding_window(2)),
    "tile": (lambda x, n: ops.tile(x, [2, 2], n), lambda r: r.tile([2, 2])),
    "to_dense": (
        lambda x, n: ops.to_dense(x, n, fill=-1, pad_to_multiple_of=2),
        lambda r: r.to_dense(fill=-1, pad_to_multiple_of=2),
    ),
    "topk": (lambda x, n: ops.topk(x, n, k=2, dense=True), lambda r: r.topk(2, dense=True)),
    "unique": (lambda x, n: ops.unique(x, n, counts=True), lambda r: r.unique(counts=True)),
}


def plain(result):
    """Lists of what an op gave, and of what it is made."""
    if isinstance(result, tuple):
        return [plain(part) for part in result]
    return type(result).__name__, result.to_list() if isinstance(result, vl.Ragged) else result.tolist()


@pytest.mark.parametrize("name", BOTH)
def test_an_op_gives_for_arrays_and_containers_what_the_method_gives(name):
    op, method = BOTH[name]
    assert plain(op(R.values, R.lengths)) == plain(op(R, None)) == plain(method(R))


@pytest.mark.parametrize("name", BOTH)
def test_an_op_gives_for_tensors_what_it_gives_for_arrays(name):
    torch = pytest.importorskip("torch")
    _, method = BOTH[name]
    tensor = vl.Ragged(torch.tensor(R.values), R.lengths)
    result = method(tensor)
    parts = result if isinstance(result, tuple) else (result,)
    assert all(
        isinstance(part.values if isinstance(part, vl.Ragged) else part, torch.Tensor) for part in parts
    )
    as_lists = str(plain(result)).replace("Tensor", "ndarray")
    assert as_lists == str(plain(method(R)))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("cut", ["left", "right"])
@pytest.mark.parametrize("max_len", [None, 1, [2, 1]])
def test_gradients_of_rectangles_are_those_of_their_rows(side, cut, max_len):
    torch = pytest.importorskip("torch")
    levels = (vl.Level([2, 0, 1]), vl.Level([2, 0, 3]))
    x = torch.randn(5, 2, dtype=torch.float64, requires_grad=True)

    def dense(x, fill=0.5):
        r = vl.Ragged(x, levels=levels)
        return r.to_dense(padding_side=side, truncate=cut, max_len=max_len, fill=fill, pad_to_multiple_of=2)

    assert torch.autograd.gradcheck(dense, (x,))
    assert torch.autograd.gradgradcheck(dense, (x,))
    wanted = vl.Ragged(x.detach().numpy(), levels=levels).to_dense(
        padding_side=side, truncate=cut, max_len=max_len, fill=0.5, pad_to_multiple_of=2
    )
    assert np.array_equal(dense(x).detach().numpy(), wanted)
    row = [1.0, 2.0]
    assert np.array_equal(dense(x, row).detach().numpy(), dense(x.detach(), row).numpy())


def test_rows_of_rectangles_have_gradients():
    torch = pytest.importorskip("torch")
    block = torch.randn(2, 3, 2, dtype=torch.float64, requires_grad=True)
    for side in ("left", "right"):
        assert torch.autograd.gradcheck(
            lambda b, side=side: vl.Ragged.from_dense(b, [2, 3], padding_side=side).values, (block,)
        )
    with pytest.raises(ValueError, match="4"):
        vl.Ragged.from_dense(block, [2, 4])


def test_rectangles_without_rows_keep_their_graph():
    torch = pytest.importorskip("torch")
    x = torch.zeros(0, 2, requires_grad=True)
    vl.Ragged(x, [0, 0]).to_dense(max_len=3).sum().backward()
    assert x.grad.shape == (0, 2)


def test_sequences_of_watched_tensors_are_views():
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0).reshape(6, 2).requires_grad_()
    r = vl.Ragged(x, levels=(vl.Level([2, 1]), vl.Level([1, 2, 3])))
    for part, begin, end in ((r[1:], 3, 6), (r[1], 3, 6), (r[-1], 3, 6), (r[:1], 0, 3), (r[2:], 6, 6)):
        assert torch.equal(part.values, x[begin:end])
        assert part.values.data_ptr() == x[begin:end].data_ptr()
        assert part.values.requires_grad
    picked = r[[1, 0, 1]]
    picked.values.sum().backward()
    assert x.grad[:, 0].tolist() == [1, 1, 1, 2, 2, 2]
