"""Functions of sequences as one graph of torch.compile: offsets are inputs, forward and backward."""

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import varlen as vl
from torch_samples import rows, some_of
from varlen import ops

torch = pytest.importorskip("torch")

import varlen.backends.torch.graph  # noqa: E402  registers the ops
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

F = torch.nn.functional
LENGTHS = ([2, 1, 3], [4, 5, 1, 2], [2, 2, 3, 3, 9])
INDEX = torch.tensor([1, 0, 1])

OF_RAGGED = {
    "astype": lambda r: r.astype(torch.float64),
    "broadcast_rows": lambda r: r.broadcast_rows(r.mean()),
    "ends": lambda r: r.first() + r.last(empty=-1.0),
    "composed": lambda r: r.ptp() * r.argmin() + r.mode() + r.norm(),
    "extremes": lambda r: r.max() * r.argmax() + r.min(empty=0.0),
    "functions": lambda r: F.linear(torch.exp(F.softmax(r, dim=1)), torch.ones(3, 2, dtype=torch.float64)),
    "gather": lambda r: r.gather(INDEX),
    "log_softmax": lambda r: r.log_softmax(temperature=2.0),
    "moves": lambda r: r.reverse() + r.roll(1) * r.shift(1, fill=-1),
    "operators": lambda r: abs(2 - r) * r * r.sum() + torch.arange(2.0) * r**2,
    "parts": lambda r: r.values * r.lengths.sum() + r.offsets[-1] + r.cu_seqlens.sum() * r.shape[0],
    "places": lambda r: r.values * (r.row_ids + r.positions)[:, None],
    "row": lambda r: r.row(1),
    "scans": lambda r: r.cumsum(reverse=True) + r.cumprod() * r.cummax(),
    "sequence_pool": lambda r: sum(vl.sequence_pool(r, kind) for kind in ("sqrt", "average", "max", "last")),
    "sequence_expand": lambda r: vl.sequence_expand(r, r),
    "sequence_expand_as": lambda r: vl.sequence_expand_as(r.sum(), r),
    "softmax": lambda r: r.softmax(),
    "sort": lambda r: r.sort(),
    "statistics": lambda r: r.std() + r.var() * r.logsumexp() + r.prod(),
    "sums": lambda r: r.sum() / r.count()[:, None] + r.mean() + r.any() + r.all(),
    "to_dense": lambda r: r.to_dense(),
    "to_dense_cut": lambda r: r.to_dense(max_len=4, pad_to_multiple_of=3, padding_side="left"),
    "to_dense_mask": lambda r: r.to_dense(mask=True, fill=-1.0),
    "to_dense_row": lambda r: r.to_dense(fill=[1.0, 2.0]),
    "unpad_lengths": lambda r: ops.from_dense(r.to_dense() * 2, r.lengths),
    "unpad_mask": lambda r: ops.from_dense(r.to_dense() * 2, mask=ops.mask(r)),
}

OF_LENGTHS = {
    "broadcast_rows": lambda x, n: ops.broadcast_rows(x, ops.reduce_mean(x, n), n),
    "cumsum": lambda x, n: ops.cumsum(x, n),
    "gather": lambda x, n: ops.gather(x, INDEX, n),
    "mask": lambda x, n: x.sum() * torch.as_tensor(ops.mask(n, padding_side="left")).float(),
    "pad": lambda x, n: ops.to_dense(x, n),
    "ragged": lambda x, n: vl.Ragged(x, n).softmax(),
    "ragged_pad": lambda x, n: vl.Ragged(x, n).to_dense(padding_side="left"),
    "reduce_first": lambda x, n: ops.reduce_first(x, n),
    "reduce_max": lambda x, n: ops.reduce_max(x, n, empty=0),
    "reduce_sum": lambda x, n: ops.reduce_sum(x, n),
    "segment_ids": lambda x, n: x * torch.as_tensor(ops.segment_ids(n) + ops.positions(n))[:, None],
    "softmax": lambda x, n: ops.softmax(x, n),
    "unpad": lambda x, n: ops.from_dense(ops.to_dense(x, n), n),
}


@pytest.fixture(autouse=True)
def fresh():
    torch.compiler.reset()
    yield
    torch.compiler.reset()


def parts(result):
    """The tensors of a result, and the levels."""
    if isinstance(result, tuple):
        return [part for each in result for part in parts(each)]
    return [result.values, result.levels] if isinstance(result, vl.Ragged) else [result]


def parts_of(call):
    """A verb that gives its first tensor."""
    return lambda *args: parts(call(*args))[0]


def agree(compiled, step, x, *rest):
    """One call of both, forward and backward: the same results, levels and gradients."""
    y = x.detach().clone().requires_grad_()
    results, wanted = parts(compiled(x, *rest)), parts(step(y, *rest))
    assert len(results) == len(wanted)
    for result, other in zip(results, wanted, strict=True):
        assert torch.equal(result, other) if isinstance(other, torch.Tensor) else result == other
        assert type(result) is type(other)
    weights = torch.arange(1.0, results[0].numel() + 1).reshape(results[0].shape)
    (results[0] * weights).sum().backward()
    (wanted[0] * weights).sum().backward()
    assert torch.allclose(x.grad, y.grad)


def check_graph(step, rest_of):
    """`step(x, *rest)` compiles to one graph, then to one for all sizes, and no more."""
    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for k, lengths in enumerate(LENGTHS):
        x = rows([sum(lengths)], (2,)).requires_grad_()
        with torch._dynamo.config.patch(error_on_recompile=k > 1):
            agree(compiled, step, x, *rest_of(lengths))


@pytest.mark.parametrize("name", some_of(OF_RAGGED))
def test_ragged_as_an_argument_is_one_graph(name):
    compiled = torch.compile(OF_RAGGED[name], fullgraph=True, backend="aot_eager")
    for k, lengths in enumerate(LENGTHS):
        x = rows([sum(lengths)], (2,)).requires_grad_()
        with torch._dynamo.config.patch(error_on_recompile=k > 1):
            agree(
                lambda x, n: compiled(vl.Ragged(x, n)),
                lambda x, n: OF_RAGGED[name](vl.Ragged(x, n)),
                x,
                np.array(lengths),
            )


@pytest.mark.parametrize(
    "name", ["gather", "row", "scans", "sequence_expand", "sort", "sums", "to_dense_mask"]
)
def test_a_graph_that_may_break_gives_the_same(name):
    compiled = torch.compile(lambda x, n: OF_RAGGED[name](vl.Ragged(x, n)), backend="aot_eager")
    for lengths in LENGTHS[:2]:
        x = rows([sum(lengths)], (2,)).requires_grad_()
        agree(compiled, lambda x, n: OF_RAGGED[name](vl.Ragged(x, n)), x, torch.tensor(lengths))


@pytest.mark.parametrize("kind", ["tensor", "Level"])
@pytest.mark.parametrize("name", some_of(OF_LENGTHS))
def test_lengths_as_an_argument_are_one_graph(name, kind):
    check_graph(OF_LENGTHS[name], lambda n: (torch.tensor(n) if kind == "tensor" else vl.Level(n),))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_offsets_as_an_argument_are_one_graph(dtype):
    check_graph(
        lambda x, offsets: (vl.Ragged(x, offsets=offsets).softmax() * torch.arange(2.0)).sum(),
        lambda n: (torch.tensor(np.cumsum([0, *n]), dtype=dtype),),
    )


def test_two_levels_are_one_graph():
    def step(x, lengths):
        r = vl.Ragged(x, [torch.full_like(lengths[:1], lengths.shape[0]), lengths])
        return r.softmax(level=0), r.sum(), r.sum(level=0), r.to_dense()

    check_graph(step, lambda n: (torch.tensor(n),))


@pytest.mark.parametrize("given", ["Ragged", "lengths"])
def test_nothing_breaks_the_graph(given):
    steps = {
        "pad": lambda r: r.to_dense(),
        "unpad": lambda r: ops.from_dense(r.values[None], torch.tensor([3])),
        "reduce": lambda r: r.sum() + r.mean() + r.max() + r.min(),
        "softmax": lambda r: r.softmax(),
        "gather": lambda r: r.gather(INDEX),
        "expand": lambda r: vl.sequence_expand_as(r.sum(), r),
        "scan": lambda r: r.cumsum(),
    }
    x, lengths = torch.ones(3, 2), torch.tensor([2, 1])
    with torch._dynamo.config.patch(capture_scalar_outputs=True, capture_dynamic_output_shape_ops=True):
        for step in steps.values():
            torch.compiler.reset()
            if given == "Ragged":
                explained = torch._dynamo.explain(step)(vl.Ragged(x, [2, 1]))
            else:
                explained = torch._dynamo.explain(lambda x, n, step=step: step(vl.Ragged(x, n)))(x, lengths)
            assert (explained.graph_break_count, explained.graph_count) == (0, 1)


def test_levels_from_outside_stay_the_objects_that_they_are():
    r = vl.Ragged(torch.ones(3), [2, 1])
    result = torch.compile(lambda r: r.softmax() + 1, fullgraph=True, backend="aot_eager")(r)
    assert type(result) is vl.Ragged
    assert result.levels[0] is r.levels[0]


def test_levels_of_a_graph_leave_it_as_levels():
    step = torch.compile(lambda x, n: vl.Ragged(x, n) * 2, fullgraph=True, backend="aot_eager")
    result = step(torch.ones(3), torch.tensor([2, 1], dtype=torch.int32))
    assert type(result.levels[0]) is vl.Level
    assert result.lengths.tolist() == [2, 1]
    assert result[1:].to_list() == [[2.0]]


@pytest.mark.parametrize(
    "step",
    [
        lambda x, n: vl.Ragged(x, levels=[vl.Level(n)]).softmax(),
        lambda x, n: vl.Ragged(x, levels=vl.Level(n)) * 2,
        lambda x, n: ops.softmax(x, vl.Level(n)),
        lambda x, n: vl.Ragged(x, levels=[vl.Level([n.shape[0]]), vl.Level(n)]).sum(level=0),
    ],
)
def test_levels_are_made_inside_a_graph(step):
    check_graph(step, lambda n: (torch.tensor(n),))


def test_levels_made_inside_a_graph_are_checked_when_it_runs():
    step = torch.compile(
        lambda x, n: vl.Ragged(x, levels=[vl.Level(n)]).values, fullgraph=True, backend="aot_eager"
    )
    with pytest.raises(ValueError, match="lengths: row 1 has a negative length, -1"):
        step(torch.ones(3), torch.tensor([4, -1]))
    with pytest.raises(ValueError, match="levels: the lengths add up to 4, but there are 3 values"):
        step(torch.ones(3), torch.tensor([2, 2]))


def test_level_is_called_as_ever_outside_of_graphs():
    assert vl.Level.__new__(vl.Level, [2, 1]) == vl.Level([2, 1]) == vl.Level(lengths=torch.tensor([2, 1]))
    assert list(inspect.signature(vl.Level).parameters) == ["lengths", "total", "max_len", "check"]
    with pytest.raises(ValueError, match="lengths: row 0 has a negative length, -1"):
        vl.Level([-1])


def test_compiled_functions_stay_right_behind_an_exported_one():
    x, n = torch.ones(3), torch.tensor([2, 1])
    step = torch.compile(lambda x, n: ops.softmax(x, n), fullgraph=True, backend="aot_eager")
    before = step(x, n)
    make_fx(lambda x, n: ops.softmax(x, n), tracing_mode="symbolic")(x, n)
    assert torch.equal(step(x, n), before)
    assert torch.equal(step(torch.ones(4), torch.tensor([2, 2])), torch.full((4,), 0.5))


TRANSFORMED = {name: OF_LENGTHS[name] for name in ("cumsum", "gather", "pad", "reduce_sum", "softmax")}


@pytest.mark.parametrize("name", TRANSFORMED)
def test_gradients_and_batches_of_torch_func_are_part_of_a_graph(name):
    call = parts_of(TRANSFORMED[name])

    def gradient(x, n):
        return torch.func.grad(lambda x: call(x, n).sin().sum())(x)

    def batch(x, n):
        return torch.func.vmap(lambda x: call(x, n))(torch.stack([x, x * 2]))

    for step in (gradient, batch):
        compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
        for lengths in LENGTHS[:2]:
            x, n = rows([sum(lengths)], (2,)), torch.tensor(lengths)
            assert torch.allclose(compiled(x, n), step(x, n))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own
@pytest.mark.filterwarnings("ignore:Dynamo does not know how to trace:UserWarning")  # torch's own
@pytest.mark.parametrize("name", ["cumsum", "pad", "reduce_sum", "softmax"])
def test_derivatives_ahead_are_refused_in_a_graph_and_right_without(name):
    call = parts_of(TRANSFORMED[name])

    def ahead(x, n):
        return torch.func.jvp(lambda x: call(x, n), (x,), (x,))[1]

    x, n = rows([6], (2,)), torch.tensor(LENGTHS[0])
    with pytest.raises(torch._dynamo.exc.Unsupported, match="a graph holds no derivative in forward mode"):
        torch.compile(ahead, fullgraph=True, backend="aot_eager")(x, n)
    assert torch.allclose(torch.compile(ahead, backend="aot_eager")(x, n), ahead(x, n))


def test_empty_batches_are_one_graph():
    def step(x, lengths):
        r = vl.Ragged(x, lengths)
        return r.sum(), r.mean(empty=1), r.softmax(), r.to_dense()

    compiled = torch.compile(step, fullgraph=True, backend="aot_eager")
    for lengths in ([], [0, 0], [0, 2]):
        x = rows([sum(lengths)], (2,)).requires_grad_()
        agree(compiled, step, x, torch.tensor(lengths, dtype=torch.int64))


@pytest.mark.parametrize(
    ("lengths", "match"),
    [([2, -1, 2], "lengths: row 1 has a negative length, -1"), ([2, 2], "add up to 4, but X has 3 rows")],
)
def test_lengths_are_checked_when_the_graph_runs(lengths, match):
    step = torch.compile(lambda x, n: ops.softmax(x, n), fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match=match):
        step(torch.ones(3), torch.tensor(lengths))


def test_offsets_and_empty_sequences_are_checked_when_the_graph_runs():
    step = torch.compile(
        lambda x, o: vl.Ragged(x, offsets=o).max(), fullgraph=True, backend="aot_eager", dynamic=True
    )
    with pytest.raises(ValueError, match="offsets: row 1 ends at 1, before the row in front of it"):
        step(torch.ones(3), torch.tensor([0, 2, 1, 3]))
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        step(torch.ones(3), torch.tensor([0, 2, 2, 3]))
    torch.compiler.reset()
    unused = torch.compile(lambda x, o: vl.Ragged(x, offsets=o) * 2, fullgraph=True, backend="aot_eager")
    with pytest.raises(ValueError, match="offsets: the lengths add up to 2, but there are 3 values"):
        unused(torch.ones(3), torch.tensor([0, 1, 2]))


def test_numbers_of_sequences_are_checked_when_the_graph_runs():
    step = torch.compile(lambda r, k: r.gather(k).values, fullgraph=True, backend="aot_eager")
    r = vl.Ragged(torch.arange(3), [2, 1])
    assert step(r, torch.tensor([1, 0])).tolist() == [2, 0, 1]
    with pytest.raises(RuntimeError, match="indices: one is negative"):
        step(r, torch.tensor([1, -1]))
    with pytest.raises(IndexError, match="index 2 at position 1 is out of range"):
        step(r, torch.tensor([1, 2]))


@pytest.mark.parametrize(
    ("dtype", "empty"),
    [
        (torch.int64, float("nan")),
        (torch.int64, 1.5),
        (torch.uint8, 300),
        (torch.float32, 1e300),
        (torch.bool, 2),
    ],
)
def test_numbers_for_empty_sequences_have_to_fit_in_a_graph(dtype, empty):
    for verb in ("first", "last"):
        step = torch.compile(
            lambda x, verb=verb: getattr(vl.Ragged(x, [2, 0]), verb)(empty=empty),
            fullgraph=True,
            backend="aot_eager",
        )
        with pytest.raises(Exception, match=re.escape(f"empty: {empty} does not fit")):
            step(torch.ones(2, dtype=dtype))


@pytest.mark.parametrize(("dtype", "wrong"), [(torch.float16, 1e30), (torch.int8, 300.0), (torch.int8, 0.5)])
def test_numbers_have_to_fit_a_dtype_when_the_graph_runs(dtype, wrong):
    step = torch.compile(lambda r: r.to_dense(dtype=dtype), fullgraph=True, backend="aot_eager")
    x = torch.tensor([1.0, 2.0, 3.0])
    assert torch.equal(step(vl.Ragged(x, [2, 1])), torch.tensor([[1, 2], [3, 0]], dtype=dtype))
    x[1] = wrong
    with pytest.raises(RuntimeError, match="does not fit"):
        step(vl.Ragged(x, [2, 1]))


def test_largest_of_a_rectangle_are_one_graph():
    step = torch.compile(lambda r: r.topk(2, dense=True)[0], fullgraph=True, backend="aot_eager")
    r = vl.Ragged(torch.tensor([3.0, 1.0, 4.0, 1.0]), [3, 1])
    assert torch.equal(step(r), r.topk(2, dense=True)[0])


def test_containers_that_differ_are_refused_when_the_graph_runs():
    step = torch.compile(lambda r, s: (r + s).values, fullgraph=True, backend="aot_eager")
    r = vl.Ragged(torch.ones(3), [2, 1])
    assert step(r, vl.Ragged(torch.ones(3), [2, 1])).tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="sequence 0 of level 0 has length 1 in one and 2 in the other"):
        step(r, vl.Ragged(torch.ones(3), [1, 2]))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own
@pytest.mark.deep
def test_inductor_runs_a_training_step():
    def step(x, offsets, weights):
        r = vl.Ragged(x, offsets=offsets)
        return (r.softmax() * weights).sum().relu().sum() + r.to_dense().square().mean()

    compiled = torch.compile(step, fullgraph=True, dynamic=True)
    for lengths in LENGTHS[:2]:
        x = rows([sum(lengths)], (2,)).requires_grad_()
        y = x.detach().clone().requires_grad_()
        offsets, weights = torch.tensor(np.cumsum([0, *lengths])), torch.tensor([1.0, 2.0])
        loss, wanted = compiled(x, offsets, weights), step(y, offsets, weights)
        loss.backward()
        wanted.backward()
        assert torch.allclose(loss, wanted)
        assert torch.allclose(x.grad, y.grad)


X = torch.arange(6.0).reshape(3, 2)
OFFSETS = torch.tensor([0, 2, 3])
REGISTERED = {
    "reduce_sum": (X, OFFSETS, "mean", 0),
    "reduce_extreme": (X, OFFSETS, "max", None),
    "reduce_end": (X, OFFSETS, True),
    "reduce_norm": (X, OFFSETS, "norm", 0),
    "reduce_statistic": (X, OFFSETS, "var", 0, 0.0),
    "expand": (X[:2], OFFSETS, 3, "sum"),
    "softmax_sequences": (X, OFFSETS, True, 1.0),
    "cumsum": (X, OFFSETS, False, True),
    "cumprod": (X, OFFSETS, False, False),
    "cumextreme": (X, OFFSETS, "min", False, False),
    "reverse": (X, OFFSETS),
    "shift": (X, OFFSETS, torch.tensor([1, 0]), 0),
    "roll": (X, OFFSETS, torch.tensor([1, 0])),
    "pad": (X, [OFFSETS], [2], [-1], "right", "right", 0, None),
    "unpad": (X[None].repeat(2, 1, 1), [OFFSETS], [3], [-1], 3, "right", "right"),
    "rows_of": (X[None].repeat(2, 1, 1), [OFFSETS], [3], 3, "left"),
    "checked_offsets": (torch.tensor([2, 1], dtype=torch.int32), "lengths", 3, "{} for {}"),
    "same_offsets": (OFFSETS, OFFSETS.clone(), 0),
    "offsets_from_mask": (torch.tensor([[True, False], [True, True]]), "right"),
    "longest": (OFFSETS,),
    "positions": (OFFSETS, 3),
    "gather_places": ([torch.tensor([0, 1, 2]), OFFSETS], torch.tensor([1, 1])),
    "window_places": ([OFFSETS], 0, 1, None, None),
    "column_places": ([OFFSETS], 0),
    "gather_add": (X, torch.tensor([[0, 2], [1, 1]])),
    "insert_rows": (X, X[:1], torch.tensor([1])),
}


@pytest.mark.parametrize("name", REGISTERED)
def test_registered_ops_keep_the_rules_of_torch(name):
    def given(x):
        return x.detach().clone().requires_grad_(x.is_floating_point()) if isinstance(x, torch.Tensor) else x

    args = tuple(list(map(given, x)) if isinstance(x, list) else given(x) for x in REGISTERED[name])
    torch.library.opcheck(getattr(torch.ops.varlen, name).default, args)


@pytest.mark.parametrize(
    "call",
    [
        "vl.Ragged(x, n).softmax().values",
        pytest.param("vl.ops.mask(n)", marks=pytest.mark.deep),
    ],
)
def test_first_tensor_of_a_process_may_come_inside_a_graph(call):
    code = f"""
import torch, varlen as vl
def step(x, n):
    return {call}
print(torch.compile(step, fullgraph=True, backend="aot_eager")(torch.ones(3), torch.tensor([2, 1])).shape)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:varlen", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "torch.Size" in done.stdout
