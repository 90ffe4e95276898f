"""What tests on a device share: kinds of memory, and torch where it has CUDA."""

import memory as memories
import pytest


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
    """What tensors are put on: the device, or the host where the kernels take its tensors."""
    return "cpu" if memories.EMULATED else "cuda"
