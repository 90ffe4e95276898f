"""An op of each noun inside a compiled step: what it gives and what flows back are those outside."""

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep
from kernels import of_cpu
from torch_samples import rows
from varlen import ops

torch = pytest.importorskip("torch")

from torch._dynamo.testing import CompileCounterWithBackend  # noqa: E402

LEVEL = vl.Level([2, 0, 3])
FULL = vl.Level([2, 3])
STEPS = {
    "flatten": lambda x: ops.flatten([x[:2], x[2:]]),
    "list2padded": lambda x: ops.list2padded([x[:2], x[2:]]).data,
    "to_dense": lambda x: vl.Ragged(x, levels=[LEVEL]).to_dense(),
    "reduce_mean": lambda x: ops.reduce_mean(x, LEVEL),
    "reduce_max": lambda x: ops.reduce_max(x, FULL),
    "reduce_var": lambda x: ops.reduce_var(x, FULL),
    "softmax": lambda x: ops.softmax(x, LEVEL),
    "cumprod": lambda x: ops.cumprod(x, LEVEL),
    "shift": lambda x: ops.shift(x, LEVEL, by=1),
    "sort": lambda x: ops.sort(x, LEVEL),
    "seq2col": lambda x: ops.seq2col(x, 1, lengths=LEVEL),
    "gather_add": lambda x: ops.gather_add(x, np.array([[0, 4], [2, 2]])),
    "insert_rows": lambda x: ops.insert_rows(x, [1, 4], rows=x[:2] * 3).values,
    "pack": lambda x: vl.Ragged(x, levels=[LEVEL]).pack().values,
    "lstm": lambda x: ops.lstm_forward_training(
        x.reshape(-1).repeat(2), x[:1, :1, None], x[1:2, :1, None], x, [3, 2]
    )[0],
}


# What torch itself says and does where a graph ends, as it does at what asks the core for shapes.
@pytest.mark.filterwarnings(
    "ignore:The .grad attribute of a Tensor",
    "ignore:Dynamo does not know how to trace:UserWarning",
    "ignore::DeprecationWarning",
)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=of_cpu("the LSTM has kernels for the CPU alone")) if name == "lstm" else name
        for name in STEPS
    ],
)
def test_compile_is_not_broken(name):
    def step(x):
        result = STEPS[name](x * 2)
        return result, (result**2).sum()

    backend = CompileCounterWithBackend("aot_eager")
    x = rows([5], (2,)).requires_grad_()
    y = x.detach().clone().requires_grad_()
    torch.compiler.reset()  # else it gives up after some steps
    result, loss = torch.compile(step, backend=backend)(x)
    wanted, plain = step(y)
    loss.backward()
    plain.backward()
    assert backend.frame_count > 0
    assert torch.equal(result, wanted)
    assert torch.allclose(x.grad, y.grad)
    assert x.grad.abs().sum() > 0


def unpacked(r):
    a, b, *rest = r
    return a.sum() - b.sum() * len(rest)


OF_RAGGED = {
    "row": lambda r: r.row(0) * 2,
    "row_behind": lambda r: (r.softmax() + 1).row(-1) * r.sum()[0],
    "index": lambda r: r[0] + r[1:].values.sum(),
    "column": lambda r: r[:, 0] + r[:, -1],
    "loop": lambda r: torch.stack([row.sum(0) for row in r]),
    "loop_of_results": lambda r: torch.stack([row.sum(0) for row in r * 2]),
    "zip": lambda r: sum((a * b).sum() for a, b in zip(r, r.softmax(), strict=True)),
    "enumerate": lambda r: sum(k * row.sum() for k, row in enumerate(r)),
    "unpack": unpacked,
    "list": lambda r: list(r)[1] * 3,
    "split": lambda r: r.split(2)[1].values * 2,
    "deep_row": lambda r: vl.Ragged(r.values, [[1, 2], [3, 1, 2]]).row(1).sum(),
    "deep_loop": lambda r: sum(x.mean().sum() for x in vl.Ragged(r.values, [[1, 2], [3, 1, 2]])),
    "whole_axis": lambda r: r.sum(axis=0),
    "window": lambda r: r.sliding_window(2).values,
    "pack": lambda r: r.pack().to_ragged().values,
    "padded": lambda r: torch.cat([p.flatten() for p in vl.Padded.from_ragged(r).to_list()]),
    "softmax": lambda r: r.softmax().values,
    "operators": lambda r: (abs(2 - r) * r * r.sum()).values,
    "to_dense": lambda r: r.to_dense(padding_side="left"),
    "scans": lambda r: (r.cumsum(reverse=True) + r.cummax()).values,
    "functions": lambda r: torch.nn.functional.softmax(torch.exp(r), dim=1).values,
}


@pytest.mark.filterwarnings("ignore:.*:UserWarning", "ignore::DeprecationWarning")  # torch's own
@pytest.mark.parametrize(
    "name",
    mostly_deep(
        OF_RAGGED, "row_behind", "index", "zip", "unpack", "deep_loop", "window", "operators", "functions"
    ),
)
def test_what_is_entered_after_a_graph_ends_is_what_it_is_outside(name):
    call = OF_RAGGED[name]

    def of_lengths(x, lengths):
        r = vl.Ragged(x * 1, lengths)
        torch._dynamo.graph_break()
        return call(r)

    lengths = torch.tensor([3, 1, 2])
    y = rows([6], (2,)).requires_grad_()
    wanted = call(vl.Ragged(y, lengths))
    (wanted**2).sum().backward()
    for step, given in ((call, lambda x: (vl.Ragged(x, lengths),)), (of_lengths, lambda x: (x, lengths))):
        torch.compiler.reset()
        x = y.detach().clone().requires_grad_()
        result = torch.compile(step, backend="eager")(*given(x))
        assert torch.equal(result, wanted)
        (result**2).sum().backward()
        assert torch.allclose(x.grad, y.grad)
