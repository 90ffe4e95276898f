"""Arrays of CuPy in, arrays of CuPy out: by a stand-in for it, whose memory the kernels on the host read."""

import pickle
import sys
from typing import ClassVar

import device_verbs
import numpy as np
import pytest
import varlen as vl
from kernels import ON_DEVICE
from varlen import _core, ops
from varlen.backends import backend_of
from varlen.backends.kinds import CupyArray

pytest.importorskip("varlen._cuda_host", reason="needs the kernels that run on the host")
if "cupy" in sys.modules:
    pytest.skip("CuPy itself is loaded: tests/cuda has it", allow_module_level=True)
if ON_DEVICE:
    pytest.skip("the kernels take the host's arrays, and none of a device", allow_module_level=True)

VALUES = np.arange(12.0).reshape(6, 2)
LENGTHS = [3, 0, 2, 1]
CASES = [pytest.param(make, step, id=f"{make.__name__}-{name}") for make, name, step in device_verbs.CASES]


@pytest.fixture(scope="module", autouse=True)
def cupy():
    """The stand-in, as long as these tests run."""
    import host_cupy

    yield host_cupy.install()
    for name in host_cupy.MODULES:
        sys.modules.pop(name, None)
    _core.forget_kernels()


@pytest.fixture
def r(cupy):
    return vl.Ragged(cupy.asarray(VALUES), LENGTHS)


@pytest.mark.parametrize(("make", "step"), CASES)
def test_verbs_give_what_they_give_of_numpy(make, step, cupy):
    device_verbs.check(step, make, cupy.asarray, cupy.ndarray, cupy.asnumpy)


@pytest.mark.parametrize(("make", "step"), CASES)
def test_verbs_stay_on_the_second_device(make, step, cupy):
    def put(x):
        with cupy.cuda.Device(1):
            return cupy.asarray(x)

    with cupy.cuda.Device(1):
        values, levels = make()
        for x in device_verbs.leaves(step(vl.Ragged(put(values), levels=tuple(levels)), put)):
            assert not isinstance(x, cupy.ndarray) or x.device.id == 1


def test_arrays_have_what_their_type_says(cupy):
    said = {name for name in vars(CupyArray) if not name.startswith("_") or name in dir(np.ndarray)}
    assert len(said) > 40
    assert said <= set(dir(cupy.ndarray))


def test_core_verbs_need_no_current_device(cupy):
    with cupy.cuda.Device(1):
        x = cupy.asarray(VALUES)
    r = vl.Ragged(x, LENGTHS)
    for result in (r.sum(), r.softmax().values, r.to_dense(), r[[1, 0]].values, (r * 2).values, r.row_ids):
        assert result.device.id == 1


def test_two_devices_in_one_call_are_refused(cupy):
    with cupy.cuda.Device(1):
        other = cupy.asarray(VALUES)
    with pytest.raises(ValueError, match="expected an array on device 0, got one on device 1"):
        ops.backprop_softmax(cupy.asarray(VALUES), other, LENGTHS)
    with pytest.raises(ValueError, match="expected an array on device 0, got one on the host"):
        ops.backprop_softmax(cupy.asarray(VALUES), VALUES, LENGTHS)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_integers_beyond_a_dtype_are_refused_there(cupy, dtype):
    x = cupy.asarray(np.array([1, 2**62, 2**62, 2**62, 2**62], dtype))
    with pytest.raises(OverflowError, match=f"sum: {2**64} in sequence 1 is beyond {dtype}"):
        ops.reduce_sum(x, [1, 4], overflow="raise")
    with pytest.raises(
        OverflowError, match=f"cumprod: about 2\\.12676e\\+37 in sequence 1 is beyond {dtype}"
    ):
        ops.cumprod(x, [1, 4], overflow="raise")


def test_outputs_are_written_there(cupy):
    x, out = cupy.asarray(VALUES), cupy.asarray(np.full((4, 2), -1.0))
    assert ops.reduce_sum(x, LENGTHS, out=out) is out
    assert out.tolist() == ops.reduce_sum(VALUES, LENGTHS).tolist()
    block = cupy.asarray(np.zeros((4, 3, 2)))
    assert vl.Ragged(x, LENGTHS).to_dense(out=block) is block
    assert block.tolist() == vl.Ragged(VALUES, LENGTHS).to_dense().tolist()
    with pytest.raises(ValueError, match="out: expected an array on device 0, got one on the host"):
        ops.reduce_sum(x, LENGTHS, out=np.zeros((4, 2)))


def test_outputs_of_functions_are_written_there(cupy, r):
    kept = r.copy()
    assert np.add(r, 1, out=kept) is kept
    assert cupy.add(r, 1, out=kept) is kept
    assert kept.values.tolist() == (VALUES + 1).tolist()
    out = cupy.asarray(np.zeros_like(VALUES))
    ops.softmax(r, axis=2, out=out)
    assert out.tolist() == r.softmax(axis=2).values.tolist()
    for wrong, error in ((np.zeros((6, 2)), TypeError), (cupy.asarray(np.zeros(6)), ValueError)):
        with pytest.raises(error, match=r"^out: "):
            ops.softmax(r, axis=2, out=wrong)


@pytest.mark.parametrize("fill", [None, -1, [7, 8]])
def test_rectangles_take_a_dtype_that_their_own_numbers_fit(cupy, fill):
    values = np.arange(12).reshape(6, 2) * 20
    x, how = cupy.asarray(values), {"dtype": "i1", "fill": fill, "padding_side": "left", "positions": True}
    found = ops.gather_dense(x, [1, 0], LENGTHS, **how)
    picked = ops.gather_dense(values[:3], [1, 0], LENGTHS[:2], **how)
    for y, wanted in zip(found, picked, strict=True):
        assert (y.dtype, y.get().tobytes()) == (wanted.dtype, wanted.tobytes())
    with pytest.raises(ValueError, match="values: element 7 is 140, which does not fit int8"):
        ops.gather_dense(x, [2], LENGTHS, **how)
    with pytest.raises(ValueError, match="fill: 300 does not fit int8"):
        ops.gather_dense(x, [1], LENGTHS, dtype="i1", fill=300)


@pytest.mark.parametrize("dtype", ["i1", "u4", "i8", "u8"])
def test_indices_there_have_one_width_and_one_range(cupy, r, dtype):
    out_of_range = 2**64 - 1 if dtype == "u8" else 100
    named = cupy.asarray(np.array([2, out_of_range], dtype))
    block, mask = ops.gather_dense(r, named, fill=7)
    everything, present = r.to_dense(fill=7, mask=True)
    assert block.tolist() == [everything[2].tolist(), np.full(everything.shape[1:], 7).tolist()]
    assert mask.tolist() == [present[2].tolist(), [False] * everything.shape[1]]


def test_tables_are_added_to_in_place(cupy):
    table = cupy.asarray(np.zeros((3, 2)))
    ops.scatter_add(table, np.array([2, 0, 2]), cupy.asarray(VALUES[:3]))
    assert table.tolist() == [[2, 3], [0, 0], [4, 6]]


def test_lengths_offsets_and_indices_may_lie_there(cupy, r):
    assert vl.Ragged(r.values, cupy.asarray(np.array(LENGTHS))).equals(r)
    assert vl.Ragged(r.values, offsets=cupy.asarray(r.offsets.copy())).equals(r)
    assert vl.Level(cupy.asarray(np.array(LENGTHS))) == r.levels[0]
    assert ops.reduce_sum(r.values, cupy.asarray(np.array(LENGTHS))).tolist() == r.sum().tolist()
    assert vl.Ragged.from_row_ids(r.values, r.row_ids, count=4).equals(r)


def test_containers_go_there_and_back(cupy, r):
    for x in (r, r.to_padded(), r.pack()):
        assert x.device == "cuda:0"
        assert x.to("cuda:0") is x
        there = x.to("cuda:1")
        assert there.device == "cuda:1"
        assert x.cpu().device == "cpu"
        assert there.cpu().equals(x.cpu())
    with pytest.raises(ValueError, match="device: expected 'cpu', 'cuda' or 'cuda:N', got 'tpu'"):
        r.to("tpu")
    with pytest.raises(TypeError, match="pin_memory: the values lie on cuda:0"):
        r.pin_memory()


def test_pickles_and_copies_keep_the_kind(cupy, r):
    for x in (pickle.loads(pickle.dumps(r)), r.copy()):
        assert isinstance(x.values, cupy.ndarray)
        assert x.equals(r)
    assert str(r).startswith("Ragged(4 sequences")


def test_kernels_run_on_the_current_stream(cupy):
    import host_cupy

    x = cupy.asarray(VALUES)
    current = backend_of(x).library.current
    assert current(x) == (0, 0)
    with host_cupy.stream_of(0, 7):
        assert current(x) == (0, 7)
        assert ops.reduce_sum(x, LENGTHS).tolist() == ops.reduce_sum(VALUES, LENGTHS).tolist()


def test_strides_are_laid_end_to_end(cupy):
    wide = cupy.asarray(np.arange(24.0).reshape(6, 4))
    for x, y in ((wide[:, ::2], wide.get()[:, ::2]), (wide.T, wide.get().T)):
        n = len(y)
        assert ops.reduce_sum(x, [n]).tolist() == ops.reduce_sum(np.ascontiguousarray(y), [n]).tolist()
        assert vl.Ragged(x, [n]).values.tolist() == y.tolist()


def test_arrays_of_numpy_are_no_items_of_lists_of_cupys(cupy):
    x = cupy.asarray(VALUES)
    with pytest.raises(
        TypeError, match=r"data: item 1 of depth 1: expected an array of cupy, got numpy\.ndarray"
    ):
        vl.Ragged.from_list([x, VALUES])
    with pytest.raises(TypeError, match=r"X\[1\]: expected an array of cupy, got numpy\.ndarray"):
        ops.flatten([x, VALUES])


def test_functions_and_operators_of_cupy_take_containers(cupy, r):
    row, whole = cupy.asarray(np.array([1.5, 2])), vl.Ragged(VALUES, LENGTHS)
    for found, wanted in (
        (cupy.exp(r), np.exp(whole)),
        (row * r, np.array([1.5, 2]) * whole),
        (row - r, np.array([1.5, 2]) - whole),
        (cupy.add(r, 1), whole + 1),
        (np.add(row, r), np.add(np.array([1.5, 2]), whole)),
        (row < r, np.array([1.5, 2]) < whole),
    ):
        assert isinstance(found.values, cupy.ndarray)
        assert found.to_list() == wanted.to_list()


def test_no_rows_are_rows(cupy):
    for shape in ((0,), (0, 2), (3, 0)):
        x = cupy.asarray(np.zeros(shape))
        lengths = [0, shape[0]]
        assert ops.reduce_sum(x, lengths).shape == (2, *shape[1:])
        assert vl.Ragged(x, lengths).to_dense().shape == (2, *shape)


def test_bfloat16_is_known_by_the_dtype(cupy):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = VALUES[:, 0].astype(ml_dtypes.bfloat16)
    found = ops.reduce_sum(cupy.asarray(x), LENGTHS)
    assert found.dtype == ml_dtypes.bfloat16
    assert found.get().astype(float).tolist() == ops.reduce_sum(x, LENGTHS).astype(float).tolist()
    block = vl.Ragged(cupy.asarray(x), LENGTHS).to_dense(fill=1)
    assert block.get().tobytes() == vl.Ragged(x, LENGTHS).to_dense(fill=1).tobytes()


def test_numbers_that_do_not_fit_a_dtype_are_named(cupy):
    r = vl.Ragged(cupy.asarray(np.array([1, 300, 2])), [2, 1])
    with pytest.raises(ValueError, match="values: element 1 is 300, which does not fit uint8"):
        r.to_dense(dtype=np.uint8)
    assert r.to_dense(dtype=np.int16).dtype == np.int16
    with pytest.raises(ValueError, match="fill: 300 does not fit int8"):
        vl.Ragged(cupy.asarray(np.zeros(3, np.int8)), [2, 1]).to_dense(fill=300)


def test_what_has_no_way_there_says_so(cupy, r):
    with pytest.raises(TypeError, match="cupy has no spacing"):
        np.spacing(r)
    zeros = cupy.asarray(np.zeros((1, 1, 1)))
    with pytest.raises(TypeError, match="params: lie on a device, where varlen has no LSTM"):
        ops.lstm_forward_training(
            cupy.asarray(np.zeros(20)), zeros, zeros, cupy.asarray(np.ones((3, 2))), [2, 1]
        )


def test_arrays_of_an_unknown_library_are_refused_in_a_sentence():
    class Foreign:
        __cuda_array_interface__: ClassVar = {
            "shape": (2,),
            "typestr": "<f8",
            "data": (0, False),
            "version": 3,
        }

    with pytest.raises(TypeError, match=r"values: a Foreign on a device; give cupy\.asarray"):
        vl.Ragged(Foreign(), [2])
