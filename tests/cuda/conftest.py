"""What tests on a device share: kinds of memory, and torch where it has CUDA."""

import os
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
    module = pytest.importorskip("torch")
    if not (memories.ON_HOST or module.cuda.is_available()):
        why = f"torch {module.__version__} sees no CUDA device"
        if os.environ.get("REQUIRE_CUDA") == "1":
            pytest.fail(f"REQUIRE_CUDA=1, but {why}", pytrace=False)
        pytest.skip(why)
    pytest.importorskip("varlen.backends.torch")
    return module


@pytest.fixture
def device():
    """What tensors are put on: the device, or the host where the kernels run there."""
    return "cpu" if memories.ON_HOST else "cuda"
