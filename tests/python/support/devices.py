"""Arrays of a device, as tests of verbs have them: the kernels run on the host, thread by thread."""

from types import SimpleNamespace

import numpy as np
from varlen import _core

try:
    from varlen import _cuda_host
except ImportError:  # the tests that need it skip
    _cuda_host = None


class Array:
    """An array of a library that nothing here knows, but for how it shows its memory."""

    def __init__(self, numbers):
        self.numbers = numbers

    def __getitem__(self, key):
        return Array(self.numbers[key])

    @property
    def __cuda_array_interface__(self):
        return {**self.numbers.__array_interface__, "version": 3}


def contiguous(array):
    return Array(np.ascontiguousarray(array.numbers))


def empty(shape, dtype, device):
    array = Array(np.empty(shape, dtype))
    if pool is not None:
        pool.append(array.numbers)
    return array


pool = None  # where there is one, it keeps the memory of all arrays that verbs make, as a graph does
_core.register(
    array_library=SimpleNamespace(
        array=Array, empty=empty, contiguous=contiguous, current=lambda array: (0, 0)
    )
)


class Capture:
    """A graph: what is put on streams is kept, and done by `replay`. Whatever waits for the device raises."""

    def __enter__(self):
        global pool
        pool = self._pool = []
        _cuda_host.begin_capture()
        return self

    def __exit__(self, *_):
        global pool
        pool = None
        _cuda_host.end_capture()

    def replay(self):
        _cuda_host.replay()


def call(verb, *args):
    return _core.on_tensors(verb, *args)
