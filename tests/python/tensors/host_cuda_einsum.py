"""Einsum of tensors of a CUDA device that is memory of the host, by padded blocks.

pytest -p host_cuda tests/python/tensors/host_cuda_einsum.py
"""

import sys

import numpy as np
import pytest
import torch
import varlen as vl
from einsum_samples import EQUATIONS, EXTENTS, samples
from varlen import ops

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")

GROUPS = [([3, 1, 0, 5, 5, 1, 9], [2, 4, 1, 0, 0, 4, 9]), ([], []), ([0, 0], [0, 0]), ([2, 2], [3, 3])]


@pytest.mark.parametrize("equation", EQUATIONS)
def test_blocks_give_the_numbers_of_arrays(equation):
    for sample in samples(GROUPS, equations=[equation]):
        given = [torch.from_numpy(x).cuda() for x in sample.operands]
        extents = {k: n for k, n in EXTENTS.items() if k in "".join(sample.terms)}
        found = ops.einsum(equation, *given, lengths={**extents, **sample.lengths})
        assert found.device.type == "cuda"
        assert found.is_contiguous()
        assert torch.equal(found.cpu(), torch.from_numpy(sample.result))


def test_attention_has_its_gradients_there():
    draw = torch.Generator().manual_seed(0)
    t, s = [3, 0, 9, 1], [2, 5, 1, 4]
    here = [torch.randn(sum(n), 2, 4, generator=draw) for n in (t, s, s)]

    def gradients(tensors):
        q, k, v = (vl.Ragged(x.requires_grad_(), n) for x, n in zip(tensors, (t, s, s), strict=True))
        weights = ops.softmax(ops.einsum("bthd,bshd->bhts", q, k))
        result = ops.einsum("bhts,bshd->bthd", weights, v).values
        result.pow(2).sum().backward()
        return [result.detach().cpu(), *(x.values.grad.cpu() for x in (q, k, v))]

    there = gradients([x.clone().cuda() for x in here])
    for found, wanted in zip(there, gradients(here), strict=True):
        assert torch.allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_numbers_that_no_library_multiplies_there_are_refused():
    x = torch.ones(3, 2, dtype=torch.int32).cuda()
    with pytest.raises(TypeError, match="operands: expected floats or complex numbers on cuda"):
        ops.einsum("btk,btm->bkm", x, x, lengths={"t": np.array([2, 1])})
