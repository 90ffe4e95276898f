"""An op of each noun inside a compiled step: what it gives and what flows back are those outside."""

import numpy as np
import pytest
import varlen as vl
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
