"""What tests on a device share: kinds of memory, and torch where it has CUDA."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))  # the cases, and how they are compared

import memory as memories


@pytest.fixture(params=memories.MEMORIES)
def memory(request):
    """Puts arrays on the device and takes them back, by each allocator."""
    return memories.MEMORIES[request.param]()


@pytest.fixture
def torch():
    """The module, where it has CUDA, or where the kernels run on the host."""
    return memories.torch_with_cuda()


@pytest.fixture
def device():
    """What tensors are put on: the device, or the host where the kernels run there."""
    return "cpu" if memories.ON_HOST else "cuda"
