"""Where tests put arrays on a device: into memory of torch's allocator, or of the driver's own."""

import contextlib
import ctypes
import functools
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import varlen
from kernels import ON_DEVICE as EMULATED  # the kernels of devices take arrays and tensors of the host
from varlen import _core

# Torch has a CUDA device that is memory of the host: `pytest -p host_cuda`.
HOST_CUDA = "host_cuda" in sys.modules
ON_HOST = EMULATED or HOST_CUDA  # there is no device: the kernels run on the host, thread by thread


@contextlib.contextmanager
def by_cpu():
    """Calls inside are made by the CPU's kernels, where those of devices stand in for them."""
    if not EMULATED:
        yield
        return
    from varlen import _cuda_host

    _core.forget_kernels()
    try:
        yield
    finally:
        _core.register(host_kernels=_cuda_host.kernels)


class Driver:
    """The functions of the driver that a program without torch needs; the first device's own context."""

    def __init__(self):
        self._library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, self.context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), device)
        self.enter()

    def call(self, name, *args):
        error = getattr(self._library, name)(*args)
        if error:
            raise RuntimeError(f"{name}: error {error} of the driver")

    def enter(self):
        """Make the context that of this thread."""
        self.call("cuCtxSetCurrent", self.context)

    def allocate(self, size):
        address = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        return address.value

    def free(self, address):
        self.call("cuMemFree_v2", ctypes.c_uint64(address))

    def write(self, address, array):
        self.call(
            "cuMemcpyHtoD_v2", ctypes.c_uint64(address), ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(array.nbytes),
        )  # fmt: skip
        self.call("cuCtxSynchronize")  # other streams do not wait for what is still under way

    def read(self, array, address):
        self.call("cuCtxSynchronize")
        self.call(
            "cuMemcpyDtoH_v2", ctypes.c_void_p(array.ctypes.data), ctypes.c_uint64(address),
            ctypes.c_size_t(array.nbytes),
        )  # fmt: skip

    def new_stream(self):
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)  # does not wait for the default stream
        return stream.value

    def end_stream(self, stream):
        self.call("cuStreamDestroy_v2", ctypes.c_void_p(stream))


class Block:
    """Memory of the driver's, given back when nobody needs it."""

    alive = 0

    def __init__(self, size):
        self.driver = driver()
        self.address = self.driver.allocate(size) if size else 0
        Block.alive += 1

    def __del__(self):
        if self.address:
            self.driver.free(self.address)  # waits for the device
        Block.alive -= 1


class DriverArray:
    """An array that shows its memory by `__cuda_array_interface__`; of no library that varlen knows."""

    stream = 0  # that kernels are put on

    def __init__(self, shape, dtype, block=None, address=None):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)
        size = int(np.prod(self.shape)) * self.dtype.itemsize
        self.block = Block(size) if block is None else block
        self.address = self.block.address if address is None else address

    @classmethod
    def of(cls, array):
        result = cls(array.shape, array.dtype)
        result.write(array)
        return result

    def write(self, array):
        if array.size:
            driver().write(self.address, np.ascontiguousarray(array))

    def numpy(self):
        result = np.empty(self.shape, self.dtype)
        if result.size:
            driver().read(result, self.address)
        return result

    def __getitem__(self, key):
        begin, end, _ = key.indices(self.shape[0])
        step = int(np.prod(self.shape[1:])) * self.dtype.itemsize
        shape = (max(end - begin, 0), *self.shape[1:])
        return DriverArray(shape, self.dtype, self.block, self.address + begin * step)

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None,
            "version": 3,
        }


@functools.cache
def driver():
    """The driver, of which DriverArrays are known to the core from now on."""
    found = Driver()
    _core.register(
        array_library=SimpleNamespace(
            array=DriverArray,
            empty=lambda shape, dtype, device: DriverArray(shape, dtype),
            contiguous=lambda array: array,
            current=lambda array: (0, DriverArray.stream),
        )
    )
    varlen.cuda.load()
    return found


def torch_with_cuda():
    """The module, where it has CUDA, or where the kernels run on the host; else the test skips."""
    torch = pytest.importorskip("torch")
    pytest.importorskip("varlen.backends.torch")  # makes tensors known to the core
    if not (ON_HOST or torch.cuda.is_available()):
        why = f"torch {torch.__version__} sees no CUDA device"
        if os.environ.get("REQUIRE_CUDA") == "1":
            pytest.fail(f"REQUIRE_CUDA=1, but {why}", pytrace=False)
        pytest.skip(why)
    return torch


class OfTorch:
    """Tensors: memory of the caching allocator, on the current stream."""

    name = "torch"

    def __init__(self):
        self.torch = torch_with_cuda()
        self.type = self.torch.Tensor

    def put(self, array):
        tensor = self.torch.from_numpy(np.ascontiguousarray(array))
        return tensor.clone() if EMULATED else tensor.to("cuda")

    def is_there(self, tensor):
        return isinstance(tensor, self.torch.Tensor) and tensor.is_cuda != EMULATED

    def take(self, tensor):
        return tensor.cpu().numpy()


class OfDriver:
    """Arrays that are known by their interface alone."""

    name = "driver"

    def __init__(self):
        if ON_HOST:
            from devices import Array

            self.type = Array
        else:
            driver().enter()
            self.type = DriverArray

    def put(self, array):
        return self.type(np.array(array)) if ON_HOST else DriverArray.of(np.asarray(array))

    def is_there(self, array):
        return isinstance(array, self.type)

    def take(self, array):
        return array.numbers if ON_HOST else array.numpy()


MEMORIES = {each.name: each for each in (OfTorch, OfDriver)}
