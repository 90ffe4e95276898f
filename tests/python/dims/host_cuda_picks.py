"""What takes, brings and cuts values of named dims by position, on tensors of a device.

pytest -p host_cuda tests/python/dims/host_cuda_picks.py
"""

import sys

import numpy as np
import pytest
import torch
from test_dims_picks_laws import OPS, WITHOUT_GRADIENT, frames

if "host_cuda" not in sys.modules:
    raise RuntimeError("run this with pytest -p host_cuda")


# Repeating a tensor is a view of memory of torch's own, which this device does by a copy.
pytestmark = pytest.mark.filterwarnings("ignore:.*aten..unfold")
WITH_GRADIENT = [name for name in OPS if name not in WITHOUT_GRADIENT]


def on_device(x):
    return x._like(torch.from_numpy(x.values.copy()).cuda())


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_a_device_gives_what_the_host_gives(name, dtype):
    x = frames(dtype)
    for one, other in zip(OPS[name](x), OPS[name](on_device(x)), strict=True):
        assert other.values.device.type == "cuda"
        assert np.array_equal(one.values, other.values.cpu().numpy())


@pytest.mark.parametrize("name", WITH_GRADIENT)
def test_gradients_of_a_device_are_those_of_the_host(name):
    x = frames()
    found = []
    for values in (torch.from_numpy(x.values.copy()), on_device(x).values):
        values.requires_grad_()
        OPS[name](x._like(values))[0].values.sum().backward()
        found.append(values.grad.cpu().numpy())
    assert np.array_equal(*found)
