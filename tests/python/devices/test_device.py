"""Arrays of devices: taken by the verbs that have kernels for them, given back as what they are, or refused.

The kernels run on the host, thread by thread, where they were built for that.
"""

import copy
import pickle

import numpy as np
import pytest
import varlen as vl
from devices import Array, call
from varlen import _core

host = pytest.importorskip("varlen._cuda_host", reason="the kernels of devices were not built for the host")

LEVEL = vl.Level([3, 0, 2])


@pytest.fixture(autouse=True)
def _on_host():
    _core.register(host_kernels=host.kernels)
    yield
    _core.forget_kernels()


def test_arrays_of_another_library_come_back_as_such():
    rows = np.arange(10.0).reshape(5, 2)
    block, mask = call(_core.pad, Array(rows), (LEVEL,), "left", -1, True)
    assert type(block) is type(mask) is Array
    wanted, marks = _core.pad(rows, (LEVEL,), "left", -1, True)
    np.testing.assert_array_equal(block.numbers, wanted)
    np.testing.assert_array_equal(mask.numbers, marks)
    back = call(_core.unpad, block, (LEVEL,), "left")
    np.testing.assert_array_equal(back.numbers, rows)


def test_arrays_of_any_strides_are_laid_end_to_end():
    rows = np.arange(6, dtype=np.int16).reshape(2, 3).T
    result = call(_core.expand, Array(rows), LEVEL)
    np.testing.assert_array_equal(result.numbers, rows[[0, 0, 0, 2, 2]])


def test_results_go_to_the_array_that_was_given():
    out = Array(np.zeros((3, 3), np.int32))
    result = call(
        _core.pad, Array(np.arange(5, dtype=np.int32)), (LEVEL,), "right", 7, False, None, "right", out
    )
    assert result is out
    np.testing.assert_array_equal(out.numbers, [[0, 1, 2], [7, 7, 7], [3, 4, 7]])


@pytest.mark.parametrize("fill", [7, [7, 8], np.arange(10.0).reshape(2, 5)])
def test_fills_of_any_length(fill):
    rows = np.arange(5.0 * 10).reshape(5, 2, 5) if np.ndim(fill) == 2 else np.arange(10.0).reshape(5, 2)
    result = call(_core.pad, Array(rows), (LEVEL,), "right", fill)
    _core.forget_kernels()
    np.testing.assert_array_equal(result.numbers, _core.pad(rows, (LEVEL,), "right", fill))


@pytest.mark.parametrize("name", ["lengths", "offsets32", "row_ids", "positions"])
def test_numbers_of_a_level_lie_beside_an_array(name):
    result = call(_core.level_numbers, LEVEL, name, Array(np.zeros(1)))
    np.testing.assert_array_equal(result.numbers, getattr(LEVEL, name))
    assert result.numbers.dtype == getattr(LEVEL, name).dtype


def test_masks_of_blocks_lie_beside_an_array():
    result = call(_core.block_mask, LEVEL, np.array([False, True]), 1, 0, None, None, Array(np.zeros(1)))
    _core.forget_kernels()
    np.testing.assert_array_equal(result.numbers, _core.block_mask(LEVEL, np.array([False, True]), 1, 0))


def test_tensors_come_back_as_tensors_with_gradients():
    torch = pytest.importorskip("torch")
    x = torch.arange(10.0).reshape(5, 2).requires_grad_()
    block = vl.Ragged(x, lengths=[3, 0, 2]).to_dense(fill=-1.0)
    assert type(block) is torch.Tensor
    (block**2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())


def test_what_a_device_array_shows():
    seen = []
    call(lambda x: seen.append(x) or x, Array(np.zeros((5, 2), np.float32)))
    (array,) = seen
    assert repr(array) == "DeviceArray((5, 2), float32, device 0)"
    assert (array.shape, array.ndim, len(array), array.dtype) == ((5, 2), 2, 5, np.float32)
    assert type(array.owner) is Array
    with pytest.raises(TypeError, match=r"^DeviceArray: is made by verbs"):
        _core.DeviceArray()
    for way in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"cannot pickle '.*DeviceArray' object"):
            way(array)


def test_verbs_without_a_kernel_say_so():
    with pytest.raises(TypeError, match=r"^X: lies on a device, and there is no kernel for that"):
        call(_core.maxout, Array(np.zeros((5, 2, 2), np.float32)))


@pytest.fixture
def of_devices():
    """Kernels whose memory the host does not read."""
    _core.forget_kernels()
    _core.register(kernels=host.kernels)


def padded(x, dtype, nan=None, nan_mask=False):
    options = ("left", -1, True, None, "right", None, dtype, 1, None, None, nan, nan_mask)
    return call(_core.pad, x, (LEVEL,), *options)


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8"])
def test_values_are_converted_on_their_way(of_devices, dtype):
    rows = np.arange(10, dtype=np.int32).reshape(5, 2)
    for got, want in zip(padded(Array(rows), np.dtype(dtype)), padded(rows, np.dtype(dtype)), strict=True):
        np.testing.assert_array_equal(got.numbers, want)
        assert got.numbers.dtype == want.dtype
    np.testing.assert_array_equal(call(_core.cast, Array(rows), dtype).numbers, rows)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_nan_is_replaced_and_told_of(of_devices, dtype):
    rows = np.array([1, np.nan, 3, np.nan, np.inf])
    for got, want in zip(
        padded(Array(rows), np.dtype(dtype), 7, True), padded(rows, np.dtype(dtype), 7, True), strict=True
    ):
        np.testing.assert_array_equal(got.numbers, want)
    np.testing.assert_array_equal(call(_core.cast, Array(rows), dtype, 7).numbers, [1, 7, 3, 7, np.inf])


@pytest.mark.parametrize("dtype", ["u1", "f2", "c8", "c16", "V3"])
def test_what_keeps_its_dtype_is_copied(of_devices, dtype):
    rows = np.arange(48, dtype=np.uint8).view(dtype)
    copy = call(_core.cast, Array(rows), rows.dtype).numbers
    assert copy.tobytes() == rows.tobytes()
    assert not np.shares_memory(copy, rows)


def test_numbers_that_nobody_sees_have_to_fit(of_devices):
    for x, dtype in ((np.arange(5), "i4"), (np.arange(5), "u8"), (np.zeros(5), "i8"), (np.arange(5), "?")):
        with pytest.raises(
            TypeError, match=r"^values: numbers of \w+ may not fit \w+, and those on a device"
        ):
            padded(Array(x), np.dtype(dtype))
        with pytest.raises(TypeError, match=r"^values: numbers of \w+ may not fit"):
            call(_core.cast, Array(x), dtype)
    large = call(_core.cast, Array(np.array([1e300, -2.0])), "f4")
    np.testing.assert_array_equal(large.numbers, np.array([np.inf, -2], "f4"))


def test_outputs_lie_where_the_values_do():
    _core.forget_kernels()
    _core.register(kernels=host.kernels)  # of devices alone
    with pytest.raises(ValueError, match=r"^out: expected an array on device 0, got one on the host"):
        call(_core.expand, Array(np.arange(3)), LEVEL, np.zeros(5, int))


def test_only_a_table_of_kernels_is_one():
    with pytest.raises(ValueError, match="incorrect name"):
        _core.register(kernels=np.arange(2).__dlpack__())
