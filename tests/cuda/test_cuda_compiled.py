"""Functions of sequences as one graph of torch.compile on a device: they give what eager calls give."""

import importlib

import numpy as np
import pytest
import varlen as vl
from memory import HOST_CUDA, by_cpu

pytestmark = pytest.mark.cuda(on_host=True)

# Of OF_RAGGED in test_torch_fullgraph, those whose constants lie nowhere.
NAMES = ["gather", "log_softmax", "moves", "scans", "softmax", "sort", "statistics", "sums", "to_dense"]
needs_cuda_of_torch = pytest.mark.skipif(HOST_CUDA, reason="torch computes nothing for CUDA here")
LENGTHS = ([2, 1, 3], [4, 5, 1, 2], [2, 2, 3, 3, 9])


@pytest.fixture
def compiled(torch):
    """Compiles a step to one graph; what was compiled is forgotten afterwards."""
    torch.compiler.reset()
    yield lambda step, backend: torch.compile(step, fullgraph=True, backend=backend)
    torch.compiler.reset()


def tensors_of(result):
    result = result if isinstance(result, tuple) else (result,)
    return [each.values if isinstance(each, vl.Ragged) else each for each in result]


def forward_and_back(torch, step, x, lengths):
    """The results of a step, and the gradient of the first."""
    x = x.clone().requires_grad_()
    results = tensors_of(step(vl.Ragged(x, np.array(lengths))))
    first = results[0]
    weights = torch.arange(1.0, first.numel() + 1, device=first.device, dtype=first.dtype)
    (first * weights.reshape(first.shape)).sum().backward()
    return [*(each.detach().cpu() for each in results), x.grad.cpu()]


@pytest.mark.parametrize("name", NAMES)
def test_one_graph_serves_all_lengths(torch, device, compiled, name):
    step = importlib.import_module("test_torch_fullgraph").OF_RAGGED[name]
    whole = compiled(step, "aot_eager")
    for k, lengths in enumerate(LENGTHS):
        x = torch.rand(sum(lengths), 2, dtype=torch.float64, generator=torch.Generator().manual_seed(k)) + 0.5
        with torch._dynamo.config.patch(error_on_recompile=k > 1):
            got = forward_and_back(torch, whole, x.to(device), lengths)
        with by_cpu():
            wanted = forward_and_back(torch, step, x, lengths)
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8)


def pooled(r):
    """Attention pooling, then a rectangle: what models are made of."""
    weights = (r * 2).softmax()
    block, mask = vl.ops.gather_dense(r, [1, 0])
    pools = r.attention_pool(r * 2), vl.ops.reduce_dense(r.to_dense(), r.lengths)
    return (weights * r).sum(), r.max(empty=0.0), r.to_dense(), *pools, block, mask


@pytest.mark.slow
@needs_cuda_of_torch
@pytest.mark.filterwarnings("ignore")  # of torch, about itself and the GPU
def test_inductor_compiles_a_pooling_model(torch, device, compiled):
    whole = compiled(pooled, "inductor")
    for k, lengths in enumerate(LENGTHS):
        x = torch.rand(sum(lengths), 8, generator=torch.Generator().manual_seed(k))
        got = forward_and_back(torch, whole, x.to(device), lengths)
        with by_cpu():
            wanted = forward_and_back(torch, pooled, x, lengths)
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@needs_cuda_of_torch
def test_verbs_give_the_dtype_of_torch_under_autocast(torch, device):
    r = vl.Ragged(torch.rand(6, 4).to(device), LENGTHS[0])
    with torch.autocast(device, dtype=torch.bfloat16):
        half = vl.Ragged(r.values @ torch.rand(4, 4).to(device), LENGTHS[0])
        assert half.values.dtype == torch.bfloat16
        assert half.softmax().values.dtype == torch.softmax(half.values, 0).dtype
        assert half.sum().dtype == torch.sum(half.values, 0).dtype
        assert r.sum().dtype == torch.float32
