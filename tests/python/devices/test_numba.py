"""Device arrays of Numba in, the same out: by stand-ins, whose memory the kernels on the host read."""

import sys
import types

import device_verbs
import numpy as np
import pytest
import varlen as vl
from test_cupy import cupy  # noqa: F401
from varlen import ops

LENGTHS = [3, 0, 2, 1]
VALUES = np.arange(12.0).reshape(6, 2)


class DeviceNDArray:
    """An array of Numba: it shows its memory and stream, has NumPy's shapes and cuts, and no arithmetic."""

    def __init__(self, memory, stream=None):
        self.memory, self.stream = memory, stream
        self.shape, self.ndim, self.dtype, self.size = memory.shape, memory.ndim, memory.dtype, memory.size

    @property
    def __cuda_array_interface__(self):
        return {**self.memory.__array_interface__, "version": 3, "stream": self.stream}

    def __array__(self, *args, **kwargs):
        raise TypeError("an array of Numba is no array of NumPy")

    def __getitem__(self, key):
        return DeviceNDArray(self.memory[key], self.stream)

    def __len__(self):
        return len(self.memory)

    def reshape(self, *shape):
        return DeviceNDArray(self.memory.reshape(*shape), self.stream)

    def copy_to_host(self):
        return self.memory.copy()


@pytest.fixture(autouse=True)
def numba(monkeypatch):
    """What makes an array of Numba of memory that shows itself."""

    def as_cuda_array(array, sync=True):
        assert not sync
        return DeviceNDArray(array.get() if not array.size else array._memory)

    cuda = types.SimpleNamespace(as_cuda_array=as_cuda_array)
    monkeypatch.setitem(sys.modules, "numba", types.SimpleNamespace(cuda=cuda))


STEPS = {
    "reductions": lambda r: (r.sum(), r.mean(), r.max(empty=0), r.argmax(empty=-1)),
    "rows": lambda r: (r.softmax(), r.cumsum(), r.reverse(), r.sort(), r.shift(1)),
    "operators": lambda r: (r + 1, r * r, r - r.mean(), r > 3),
    "subscripts": lambda r: (r[0], r[1:], r[[2, 0]], r[:, :1]),
    "rectangles": lambda r: (
        r.to_dense(),
        r.to_dense(mask=True),
        vl.Ragged.from_dense(r.to_dense(), r.lengths),
    ),
    "joins": lambda r: (vl.concatenate([r, r]), r.to_padded(), r.pack(), list(r)),
    "tables": lambda r: ops.gather_add(r.values, np.array([[0, 1], [2, 2]])),
    "numbers": lambda r: (r.row_ids, r.cu_seqlens),
}


@pytest.mark.parametrize("name", STEPS)
def test_verbs_give_what_they_give_of_numpy(name):
    def make():
        return VALUES, [vl.Level(LENGTHS)]

    device_verbs.check(
        lambda r, _: STEPS[name](r), make, DeviceNDArray, DeviceNDArray, DeviceNDArray.copy_to_host
    )


def test_outputs_are_written_and_given_back():
    out = DeviceNDArray(np.zeros((4, 2)))
    assert ops.reduce_sum(DeviceNDArray(VALUES), LENGTHS, out=out) is out
    assert out.memory.tolist() == ops.reduce_sum(VALUES, LENGTHS).tolist()
    table = DeviceNDArray(np.zeros((3, 2)))
    ops.scatter_add(table, np.array([2, 0, 2]), DeviceNDArray(VALUES[:3]))
    assert table.memory.tolist() == [[2, 3], [0, 0], [4, 6]]


def test_streams_wait_by_events(cupy):  # noqa: F811
    import host_cupy

    asked = host_cupy.Stream.asked
    asked.clear()
    ops.reduce_sum(DeviceNDArray(VALUES, 7), LENGTHS)
    assert set(asked) == {("record", 7), ("wait", 0, 7)}
    asked.clear()
    with host_cupy.stream_of(0, 9):
        ops.reduce_sum(DeviceNDArray(VALUES), LENGTHS)
    assert asked == [("record", 9), ("wait", 0, 9)]


def test_lengths_may_lie_there():
    r = vl.Ragged(DeviceNDArray(VALUES), DeviceNDArray(np.array(LENGTHS)))
    assert r.lengths.tolist() == LENGTHS
    assert r.device == "cuda:0"


def test_without_cupy_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(
        TypeError, match="an array of Numba needs CuPy, which is not installed: pip install cupy"
    ):
        vl.Ragged(DeviceNDArray(VALUES), LENGTHS)
