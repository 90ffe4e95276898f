"""Indexing, operators, joins and axes of a Ragged as one graph of torch.compile; and what no graph holds."""

import importlib
import inspect
import pkgutil
import re
import sys

import numpy as np
import pytest
import varlen as vl
from house import ROOT
from torch_samples import rows, some_of
from varlen import ops

torch = pytest.importorskip("torch")

F = torch.nn.functional
LENGTHS = ([2, 1, 3], [4, 5, 1, 2], [2, 2, 3, 3, 9])
OUTER = ([2, 1], [1, 0, 3], [2, 2, 0, 1])
WEIGHT = torch.tensor([1.5, 2.0], dtype=torch.float64)
PLACES = torch.tensor([1, 0])


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def parts(result):
    """The tensors of a result, and the offsets of its levels."""
    if isinstance(result, (tuple, list)):
        return [part for each in result for part in parts(each)]
    if isinstance(result, vl.Ragged):
        return [result.values, *(torch.as_tensor(level.offsets.copy()) for level in result.levels)]
    return [torch.as_tensor(result)]


def check_graph(step, make):
    """`step` of a Ragged is one graph for all sizes, both ways, with the results that it has outside."""
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for k in range(len(LENGTHS)):
        r, s = make(k), make(k)
        with torch._dynamo.config.patch(error_on_recompile=k > 1):
            results, wanted = parts(compiled(r)), parts(step(s))
        assert len(results) == len(wanted)
        for result, other in zip(results, wanted, strict=True):
            assert result.dtype == other.dtype
            assert result.shape == other.shape
            assert torch.allclose(result.double(), other.double(), equal_nan=True)
        for each in (results, wanted):
            watched = [x for x in each if x.requires_grad]
            if watched:
                sum((x * torch.arange(1.0, x.numel() + 1).reshape(x.shape)).sum() for x in watched).backward()
        if r.values.grad is not None:
            assert torch.allclose(r.values.grad, s.values.grad)


def flat(k):
    return vl.Ragged((rows([sum(LENGTHS[k])], (2,)).abs() + 1).requires_grad_(), np.array(LENGTHS[k]))


def whole(k):
    return vl.Ragged(torch.arange(sum(LENGTHS[k])) % 7 + 1, np.array(LENGTHS[k]))


def deep(k):
    inner = LENGTHS[k][: sum(OUTER[k])]
    x = (rows([sum(inner)], (2,)) + 3).requires_grad_()
    return vl.Ragged(x, [np.array(OUTER[k]), np.array(inner)])


OF_FLAT = {
    "subscripts": lambda r: (r[1], r[-1], r[1:], r[::-1], r[:-1:2], r[[1, 0]], r[PLACES], r[r.lengths > 1]),
    "a tensor of one number": lambda r: (r[PLACES[0]], r.row(PLACES[1]), r[r.lengths[0] - 3]),
    "columns": lambda r: (
        r[:, 0],
        r[:, -1],
        r[:, :1],
        r[:, 1:],
        r[1:, :2],
        r[:, ::-1],
        r[:, :, 1],
        len(r) * r,
    ),
    "gather": lambda r: (r.gather([0], axis=1), r.gather(PLACES, axis=2)),
    "gather_batch": lambda r: r.gather(vl.Ragged(torch.zeros_like(r.row_ids), levels=r.levels), batch_dims=1),
    "joins": lambda r: (vl.concatenate([r, r[1:]]), vl.concatenate([r, r * 2], 1), vl.concatenate([r, r], 2)),
    "stacks": lambda r: (vl.stack([r, r]), vl.stack([r, r], 1), torch.cat([r, r])),
    "where": lambda r: (vl.where(r > 3, r, 0.0), vl.where(r > 3, r, -r), torch.where(r > 3, r, WEIGHT)),
    "boolean_mask": lambda r: (r.boolean_mask(r.sum(axis=2) > 6), r.boolean_mask(r.count() > 1)),
    "axes": lambda r: (
        r.sum(axis=1),
        r.mean(axis=2),
        r.max(axis=(1, 2)),
        r.sum(axis=(0, 1)),
        r.softmax(axis=2),
    ),
    "order": lambda r: (r.topk(2), r.diff(), r.argsort(), r.rank(), r.argmax(empty=-1)),
    "masks": lambda r: (
        r.sum() * ops.mask(r, 2).sum(),
        ops.block_mask(r, True, 1),
        ops.block_mask(r, dtype=torch.float32),
    ),
    "sizes": lambda r: r * (r.size + r.nbytes + r.total + r.longest + r.shape[0] + r.ndim),
    "floats": lambda r: (
        r - WEIGHT,
        r / WEIGHT,
        r % WEIGHT,
        r**WEIGHT,
        WEIGHT - r,
        WEIGHT / r,
        WEIGHT % r,
        WEIGHT**r,
        divmod(r, 2.0)[1],
    ),
    "reduced": lambda r: (r - r.mean(), r / r.sum(), (r - r.max()).softmax(), r.tanh()),
    "products": lambda r: (
        vl.matmul(r, torch.ones(2, 3, dtype=torch.float64)),
        torch.matmul(r, torch.ones(2, 3, dtype=torch.float64)),
        ops.einsum("btd,dk->btk", r, torch.ones(2, 3, dtype=torch.float64)),
    ),
    "comparisons": lambda r: (
        r < WEIGHT,
        r >= WEIGHT,
        r == WEIGHT,
        r != WEIGHT,
        (r > 3) & (r < 4) | (r == 3),
    ),
    "pool": lambda r: (vl.sequence_pool(r, "sum"), vl.sequence_pool(r, "max"), vl.sequence_concat([r, r])),
    "einsum": lambda r: (
        ops.einsum("btd,bsd->bts", r, r * 2),
        ops.einsum("bts,bsd->btd", ops.einsum("btd,bsd->bts", r, r), r),
        ops.einsum("btd,bte->de", r, r),
        ops.einsum("btd->bd", r),
    ),
    "attention": lambda r: (r.attention_pool(r[:, :, 0]), r.attention_pool(r.values * 2, temperature=0.5)),
    "masked_pool": lambda r: tuple(
        ops.reduce_dense(r.to_dense(padding_side="left"), r.lengths, op, padding_side="left", empty=0)
        for op in ("mean", "sum", "max", "logsumexp", "any")
    ),
    "batches": lambda r: (
        ops.gather_dense(r, [1, 0, 1], max_len=2, padding_side="left", positions=True),
        ops.gather_dense(r, PLACES, pad_to_multiple_of=4, fill=-1.0),
        ops.gather_dense(r),
    ),
    "rectangles": lambda r: (vl.sequence_pad(r, 0.0), vl.Ragged.from_dense(r.to_dense(), r.lengths)),
}
OF_WHOLE = {
    "integers": lambda r: (
        r // 2,
        r % 2,
        r << 1,
        r >> 1,
        r & 3,
        r | 3,
        r ^ 3,
        r.__invert__(),
        torch.bitwise_not(r),
    ),
    "beside_tensors": lambda r: tuple(
        part
        for t in (torch.arange(1, r.shape[0] + 1),)
        for part in (
            r // t,
            r % t,
            r << t,
            r >> t,
            r & t,
            r | t,
            r ^ t,
            t // r,
            t % r,
            t << r,
            t >> r,
            t & r,
            t | r,
            t ^ r,
        )
    ),
}
OF_DEEP = {
    "gather": lambda r: (r.gather(PLACES), r.row(0), r[-1], r[1:], r[PLACES]),
    "columns": lambda r: (r[:, :1], r[:, :, :1], r[:, :, 0]),
    "levels": lambda r: (r.sum(), r.sum(level=0), r.softmax(level=0), r.cumsum(level=0), r.to_dense()),
    "joins": lambda r: (vl.concatenate([r, r]), vl.concatenate([r, r * 2], 1), vl.concatenate([r, r], 2)),
    "outer": lambda r: (r - r.mean(), r - r.mean(level=0), r.broadcast_rows(r.sum(level=0), level=0)),
}


@pytest.mark.parametrize("name", some_of(OF_FLAT))
def test_what_is_done_to_sequences_is_one_graph(name):
    check_graph(OF_FLAT[name], flat)


@pytest.mark.parametrize("name", OF_WHOLE)
def test_operators_of_integers_are_one_graph(name):
    check_graph(OF_WHOLE[name], whole)


@pytest.mark.parametrize("name", some_of(OF_DEEP))
def test_what_is_done_to_two_levels_is_one_graph(name):
    check_graph(OF_DEEP[name], deep)


def test_numbers_that_a_graph_does_not_fix_fill_sequences_without_rows():
    def pools(r, fill):
        kinds = ("sum", "average", "sqrt", "max", "first", "last")
        return [vl.sequence_pool(r, kind, pad_value=fill) for kind in kinds]

    step = torch.compile(pools, fullgraph=True, backend="aot_eager", dynamic=True)
    r = vl.Ragged(rows([3], (2,)), [2, 0, 1])
    for fill in (0.0, 2.5):
        for result, wanted in zip(step(r, fill), pools(r, fill), strict=True):
            assert torch.allclose(result, wanted)


def test_sizes_of_one_and_none_and_other_depths_are_graphs_of_their_own():
    counted = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")
    step = torch.compile(lambda r: r.softmax() * 2, fullgraph=True, backend=counted)
    for lengths in ([2, 1, 3], [4, 5, 1, 2], [3], [], [0, 0]):
        r = vl.Ragged(torch.arange(float(sum(lengths))), lengths)
        assert torch.allclose(step(r).values, r.softmax().values * 2)
    r = vl.Ragged(torch.arange(3.0), [[2], [2, 1]])
    assert torch.allclose(step(r).values, r.softmax().values * 2)
    before = counted.frame_count
    assert 3 <= before <= 7
    r = vl.Ragged(torch.arange(8.0), [3, 1, 4])
    assert torch.allclose(step(r).values, r.softmax().values * 2)
    assert counted.frame_count == before


def marked():
    """The names of the public functions and methods that say that no graph holds them."""
    packages = [importlib.import_module(f"varlen.{package}") for package in ("ops", "sequence")]
    modules = [
        importlib.import_module(module.name)
        for package in packages
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
    ]
    found = [
        pair for owner in (*modules, vl.Ragged) for pair in inspect.getmembers(owner, inspect.isfunction)
    ]
    return {name for name, value in found if "_torchdynamo_disable" in vars(value) and name[0] != "_"}


def test_the_manual_names_the_verbs_that_no_graph_holds():
    text = (ROOT / "docs/guides/torch.md").read_text()
    table = re.search(r"These names run only outside of graphs:.*?\n:::\n", text, flags=re.DOTALL)[0]
    assert set(re.findall(r"`(\w+)`", table)) == marked()


OUTSIDE = {
    "tile": lambda r: r.tile([1, 2, 1]),
    "unique": lambda r: r.unique(),
    "pack": lambda r: r.pack(),
    "ragged2padded": lambda r: r.to_padded(),
    "to_list": lambda r: r.to_list(),
    "seq2col": lambda r: ops.seq2col(r, 1),
    "an axis above the innermost": lambda r: r.sum(axis=0),
    "sequence_erase": lambda r: vl.sequence_erase(r, [1]),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_verbs_that_no_graph_holds_say_so_by_name(name):
    step = torch.compile(OUTSIDE[name], fullgraph=True, backend="aot_eager")
    with pytest.raises(torch._dynamo.exc.Unsupported, match=f"{name} of varlen runs only outside of graphs"):
        step(flat(0))


@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace:UserWarning")  # torch's own
def test_verbs_that_no_graph_holds_run_between_graphs():
    r = vl.Ragged(torch.tensor([3.0, 3.0, 4.0]), [2, 1])
    step = torch.compile(lambda r: (r * 2).unique() + 1, backend="aot_eager")
    assert step(r).to_list() == [[7.0], [9.0]]


def test_subscripts_of_subclasses_run_no_frame_of_python():
    class Named(vl.Ragged):
        pass

    class Own(vl.Ragged):
        def __getitem__(self, key):
            return "own"

    for kind in (vl.Ragged, Named):
        r = kind(np.arange(3), [2, 1])
        frames = []
        sys.setprofile(lambda frame, event, arg: frames.append(frame.f_code) if event == "call" else None)  # noqa: B023
        try:
            for _ in range(100):  # until the interpreter has seen enough to take a way of its own
                picked, count, row = r[1:], len(r), r[0]
        finally:
            sys.setprofile(None)
        assert not frames
        assert (type(picked), count, row.tolist()) == (kind, 2, [0, 1])
        assert (r.__getitem__(-1).tolist(), r.__len__()) == ([2], 2)
    assert Own(np.arange(3), [2, 1])[0] == "own"
    assert len(Own(np.arange(3), [2, 1])) == 2


def put(r, x):
    """A copy of r with x where numbers are above 0."""
    r = r.clone()
    r[r > 0] = x
    return r


PAIRS = {
    "pairs": lambda r: r[torch.tensor([0, 2, 0]), torch.tensor([1, 0, -1])],
    "lists": lambda r: r[[0, -1], [1, 0]],
    "one of several": lambda r: r[torch.tensor([0, 2]), 0],
    "rows": lambda r: r[torch.tensor([[0, 2]]), torch.tensor([[0], [1]]), 1],
    "numbers": lambda r: put(r, 0.5),
    "others": lambda r: put(r, r * 2),
    "mse_loss": lambda r: F.mse_loss(r, r * 2),
    "kl_div": lambda r: F.kl_div(r, torch.exp(r), reduction="batchmean"),
    "cross_entropy": lambda r: F.cross_entropy(r, r.argmax(axis=2), reduction="none"),
    "batch_norm": lambda r: F.batch_norm(r, None, None, training=True),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_writes_and_losses_are_one_graph(name):
    compiled = torch.compile(PAIRS[name], fullgraph=True, backend="aot_eager")
    for lengths in ([3, 0, 2], [2, 1, 4], [4, 1, 3, 2]):
        x = torch.randn(sum(lengths), 2, generator=torch.Generator().manual_seed(1))
        results = []
        for call in (compiled, PAIRS[name]):
            leaf = x.clone().requires_grad_()
            y = call(vl.Ragged(leaf, lengths))
            rows = y.values if isinstance(y, vl.Ragged) else y
            results.append((rows, torch.autograd.grad(rows.square().sum(), leaf)[0]))
        torch.testing.assert_close(*results)


def write(r, row, some, rows):
    """Copies of r, written to by ints, slices, rows, pairs and columns."""
    copies = [r.clone() for _ in range(5)]
    copies[0][0], copies[0][-1], copies[0][1:] = row, 2.0, r[1:] * 2
    copies[1][1:3], copies[1][torch.tensor([0])] = some, 0.5
    copies[2][rows] = r[rows] * 3
    copies[3][rows, [0, 0]], copies[3][:, 0, 1] = 7.0, 1.0
    copies[4][1:3] = torch.tensor([4.0, 5.0])
    indices = (vl.Ragged(numbers, levels=r.levels) for numbers in (r.row_ids, r.positions))
    return [*copies, r[tuple(indices)]]


def test_writes_are_one_graph():
    compiled = torch.compile(write, fullgraph=True, dynamic=True, backend="aot_eager")
    for lengths in ([3, 1, 2], [2, 4, 1, 3]):
        results = []
        for call in (compiled, write):
            x = torch.randn(sum(lengths), 2, generator=torch.Generator().manual_seed(1)).requires_grad_()
            some = vl.Ragged(torch.ones(sum(lengths[1:3]), 2), lengths[1:3])
            copies = call(vl.Ragged(x, lengths), torch.full((lengths[0], 2), 3.0), some, torch.tensor([2, 0]))
            loss = sum(r.values.square().sum() for r in copies)
            results.append(([r.to_list() for r in copies], torch.autograd.grad(loss, x)[0]))
        torch.testing.assert_close(*results)


def test_writes_that_do_not_fit_are_refused():
    r = vl.Ragged(torch.zeros(5, 2), [3, 0, 2])
    compiled = torch.compile(lambda r, x: r.__setitem__(0, x), fullgraph=True, dynamic=True, backend="eager")
    compiled(r, torch.ones(3, 2))
    assert r.values.sum() == 6
    with pytest.raises((RuntimeError, ValueError)):
        compiled(r, torch.ones(2, 2))
    assert r.values.sum() == 6


def test_pairs_and_writes_are_checked_when_the_graph_runs():
    r = vl.Ragged(torch.randn(5, 2), [3, 0, 2])
    pairs = torch.compile(lambda r, i, j: r[i, j], fullgraph=True, backend="aot_eager")
    assert pairs(r, torch.tensor([-1]), torch.tensor([1])).equal(r.values[4:])
    for i, j in ((3, 0), (-4, 0), (0, 3), (1, 0), (2, -3)):
        with pytest.raises((RuntimeError, IndexError)):
            pairs(r, torch.tensor([i]), torch.tensor([j]))
    written = torch.compile(lambda r, mask: r.__setitem__(mask, 1.0), fullgraph=True, backend="aot_eager")
    other = vl.Ragged(torch.ones(5, 2, dtype=torch.bool), [2, 1, 2])
    with pytest.raises((RuntimeError, ValueError)):
        written(r, other)
    whole = vl.Ragged(torch.ones(5, dtype=torch.long), [3, 0, 2])
    with pytest.raises(Exception, match=r"0\.5"):
        torch.compile(put, fullgraph=True, backend="aot_eager")(whole, 0.5)
