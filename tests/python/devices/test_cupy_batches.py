"""Batches on a device without torch: arrays of CuPy, by a stand-in for it, bit for bit the CPU's."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import varlen as vl
from device_batches import (
    KINDS,
    OPTIONS,
    ROWS,
    TABLE,
    batch_after_a_child_was_told,
    dataset_of,
    fitting,
)
from house import TESTS
from kernels import ON_DEVICE
from varlen import _core
from varlen.data import Batch, Buffers, Dataset, DeviceLoader
from varlen.data.devices.cupy_device import kind_name

host = pytest.importorskip("varlen._cuda_host", reason="needs the kernels that run on the host")
if "cupy" in sys.modules:
    pytest.skip("CuPy itself is loaded: tests/cuda has it", allow_module_level=True)
if ON_DEVICE:
    pytest.skip("the kernels take the host's arrays, and none of a device", allow_module_level=True)

SMALL = {"x": [[1, 2, 3], [], [4]]}


@pytest.fixture(scope="module", autouse=True)
def cupy():
    """The stand-in, as long as these tests run."""
    import host_cupy

    yield host_cupy.install()
    for name in host_cupy.MODULES:
        sys.modules.pop(name, None)
    _core.forget_kernels()


@pytest.fixture(autouse=True)
def asked():
    """What was asked of streams."""
    host.asked()
    return host.asked


@pytest.fixture(params=KINDS)
def ds(request, tmp_path):
    return dataset_of(request.param, tmp_path)


@pytest.fixture
def small():
    return Dataset(vl.JointNestedRaggedTensorDict(SMALL))


def same_bits(batch, wanted, device=0):
    cupy = sys.modules["cupy"]
    assert type(batch) is Batch
    assert list(batch) == list(wanted)
    for name, x in wanted.items():
        if not isinstance(x, np.ndarray):
            assert batch[name] == x
            continue
        y = batch[name]
        dtype = np.dtype(np.int64) if x.dtype.kind in "mM" else x.dtype
        assert isinstance(y, cupy.ndarray), name
        assert (y.device.id, y.dtype, y.shape) == (device, dtype, x.shape), name
        assert y.get().tobytes() == x.tobytes(), name


@pytest.mark.parametrize("name", OPTIONS)
def test_batches_are_those_of_the_cpu(ds, name):
    options = fitting(ds, OPTIONS[name])
    wanted = ds.batch(ROWS, **options)
    same_bits(ds.batch(ROWS, device="cuda", framework="cupy", **options), wanted)
    seed = options.pop("seed", None)
    staged = ds.collator(framework="cupy", seed=seed, **options)(ROWS)
    same_bits(pickle.loads(pickle.dumps(staged)).to(), wanted)
    pinned = staged.pin_memory()
    same_bits(pinned.cuda(1), wanted, 1)
    same_bits(pinned.to(0, non_blocking=False), wanted)


def test_devices_are_named_in_many_ways(small, cupy):
    wanted = small.batch([2, 0])
    for device in ("cuda:1", 1, np.int64(1), cupy.cuda.Device(1)):
        batch = small.batch([2, 0], device=device, framework="cupy")
        same_bits(batch, wanted, 1)
        assert (batch.device, batch.cuda(1) is batch) == ("cuda:1", True)
    with cupy.cuda.Device(1):
        same_bits(small.batch([2, 0], framework="cupy"), wanted, 1)
    same_bits(small.batch([2, 0], device=cupy.cuda.Device(0)), wanted)  # it says whose arrays are meant


def test_whose_arrays_is_asked_of_the_device_then_of_what_was_imported(small, cupy, monkeypatch):
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        monkeypatch.setitem(sys.modules, name, None)
    same_bits(small.batch([0], device="cuda"), small.batch([0]))
    assert isinstance(small.batch([0])["x"], np.ndarray)
    for name in ("cupy", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setattr("varlen.backends.devices.find_spec", lambda name: None)
    with pytest.raises(RuntimeError, match="neither is installed: pip install cupy-cuda13x, or torch"):
        small.batch([0], device="cuda")
    monkeypatch.setattr("varlen.backends.devices.find_spec", lambda name: name == "cupy" or None)
    with pytest.raises(RuntimeError, match=r"device: .* needs CuPy, which is not installed: pip install"):
        small.batch([0], device="cuda")


def test_work_goes_on_the_current_stream(small, cupy, asked):
    small.batch([0, 2], framework="cupy")
    assert asked() == ["pinned copy on 0", "record 0"]
    with cupy.cuda.Stream() as stream:
        small.batch([0, 2], framework="cupy", dtype="float32", padding_side="left")
        assert asked() == [f"pinned copy on {stream.ptr}", f"record {stream.ptr}"]


def test_next_batch_is_on_its_way_before_one_is_given(small, asked):
    collate = small.collator(framework="cupy")
    loader = DeviceLoader([collate([i]).pin_memory() for i in (0, 2, 0)])
    asked()
    batches = iter(loader)
    first = next(batches)
    found = asked()
    side = found[1].split()[0]
    assert side != "0"
    # Memory of the batch is the loop's, which may have used it before; then the copy, and the loop waits.
    sent = ["record 0", f"{side} waits for 0", f"pinned copy on {side}", f"record {side}", f"record {side}"]
    assert found == [*sent, *sent, f"0 waits for {side}"]
    same_bits(first, small.batch([0]))
    same_bits(next(batches), small.batch([2]))
    assert asked() == [*sent, f"0 waits for {side}"]
    batches.close()  # what was sent and not received is the loop's again
    assert asked() == [f"record {side}", f"0 waits for {side}"]
    batches = iter(DeviceLoader([collate([0]), collate([2])]))
    next(batches)
    assert f"pinned copy on {side}" in asked()  # streams are used again


def test_batches_of_cupy_go_from_one_device_to_another(small, asked):
    wanted = small.batch([0, 2], layout="ragged")
    there = small.batch([0, 2], layout="ragged", framework="cupy", device=0)
    found = list(DeviceLoader([there, there.to("cuda:1")], 1))
    assert [batch.device for batch in found] == ["cuda:1", "cuda:1"]
    for batch in found:
        same_bits(batch, wanted, 1)
    assert next(iter(DeviceLoader([there], 0))) is there
    assert there.cpu()["x"].tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_epochs_come_there_and_stay(ds, prefetch, layout):
    how = {"shuffle": True, "seed": 5, "layout": layout}
    found = list(ds.epoch(2, framework="cupy", device=1, prefetch=prefetch, **how))
    wanted = list(ds.epoch(2, **how))
    assert len(found) == len(wanted) == 3
    for batch, other in zip(found, wanted, strict=True):
        same_bits(batch, other, 1)


def test_outputs_are_written_there(small, cupy):
    out = {"x": cupy.asarray(np.full(12, 9, np.uint8)), "dim1/mask": cupy.asarray(np.zeros((3, 3), bool))}
    batch = small.batch([0, 1, 2], framework="cupy", out=out)
    same_bits(batch, small.batch([0, 1, 2]))
    assert batch["dim1/mask"] is out["dim1/mask"]
    assert out["x"].tolist() == [1, 2, 3, 0, 0, 0, 4, 0, 0, 9, 9, 9]
    small.batch([2, 0], framework="cupy", layout="ragged", out={"x": out["x"]})
    assert out["x"].tolist()[:4] == [4, 1, 2, 3]


def test_outputs_that_do_not_fit_are_refused(small, cupy):
    there = cupy.asarray(np.zeros(6, np.uint8))
    with cupy.cuda.Device(1):
        elsewhere = cupy.asarray(np.zeros(6, np.uint8))
        strided = cupy.asarray(np.zeros(12, np.uint8))[::2]
    for error, match, x in (
        (TypeError, r"out\['x'\]: expected an array of CuPy on cuda:0, got ndarray", np.zeros(6, np.uint8)),
        (ValueError, r"out\['x'\]: expected an array on cuda:0, got one on cuda:1", elsewhere),
        (TypeError, r"out\['x'\]: has dtype int32, the batch gives uint8", there.astype(np.int32)),
        (ValueError, r"out\['x'\]: has room for 5 entries, the batch needs 6", there[:5]),
    ):
        with pytest.raises(error, match=match):
            small.batch([0, 1], framework="cupy", device=0, out={"x": x})
    with pytest.raises(ValueError, match=r"out\['x'\]: must be contiguous"):
        small.batch([0, 1], framework="cupy", device=1, out={"x": strided})
    with pytest.raises(ValueError, match="out: the batch has no 'y'"):
        small.batch([0, 1], framework="cupy", out={"y": there})
    with pytest.raises(TypeError, match="out: Buffers are memory of the host"):
        small.batch([0, 1], framework="cupy", out=Buffers())
    same_bits(small.batch([0, 1], framework="cupy"), small.batch([0, 1]))


def test_what_cannot_be_is_refused_in_one_sentence(small):
    with pytest.raises(ValueError, match="device: expected one of cuda:0 to cuda:1, got cuda:9"):
        small.batch([0], device=9, framework="cupy")
    with pytest.raises(ValueError, match="framework: CuPy arrays lie on CUDA devices, not on the CPU"):
        small.batch([0], device="cpu", framework="cupy")
    with pytest.raises(TypeError, match=r"framework: CuPy has no dtype for \|V8, that of 'x'"):
        kind_name("x", np.dtype("V8"), None)
    with pytest.raises(TypeError, match="loader: expected batches from a varlen collator, got dict"):
        next(iter(DeviceLoader([{}])))


def test_want_of_pinned_memory_leaves_nothing_half_made(small):
    staged = small.collator(framework="cupy")([0, 2])
    rows = Dataset(vl.JointNestedRaggedTensorDict({"x": [list(range(400_000))]}))
    host.fail_next(2)
    with pytest.raises(MemoryError, match=r"the host has no .* bytes of pinned memory left"):
        rows.batch([0], framework="cupy")  # larger than any before
    same_bits(staged.to(), small.batch([0, 2]))
    same_bits(rows.batch([0], framework="cupy"), rows.batch([0]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_are_told(small):
    same_bits(batch_after_a_child_was_told(small, framework="cupy"), small.batch([2]))


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_workers_of_torchs_loader_make_what_becomes_arrays_of_cupy(small):
    torch = pytest.importorskip("torch")
    collate = small.collator(framework="cupy", padding_side="left")
    loader = torch.utils.data.DataLoader(small, batch_size=2, collate_fn=collate, num_workers=1)
    found = list(DeviceLoader(loader))
    assert len(found) == 2
    for batch, rows in zip(found, ([0, 1], [2]), strict=True):
        same_bits(batch, small.batch(rows, padding_side="left"))


def test_no_kernels_are_told(small, cupy, monkeypatch):
    _core.forget_kernels()
    try:
        with pytest.raises(RuntimeError, match=r"device: .+"):
            small.batch([0], framework="cupy")
    finally:
        _core.register(kernels=host.kernels)
    monkeypatch.setattr(cupy.cuda.runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(RuntimeError, match=r"device: CuPy 14.2.0 sees no CUDA device"):
        small.batch([0], framework="cupy")


def test_joint_dicts_go_there_and_back(cupy, monkeypatch):
    joint = vl.JointNestedRaggedTensorDict(TABLE)
    for there in (joint.to(cupy.cuda.Device(1)), joint.cuda(cupy.cuda.Device(1), non_blocking=True)):
        assert there.device == "cuda:1"
        assert isinstance(there["code"].values, cupy.ndarray)
        assert isinstance(there["id"], cupy.ndarray)
        assert there["code"].levels[0] is there["time"].levels[0]
        assert there["code"].sum().values.tolist() == [15, 0, 9, 15, 6, 6, 0]
        assert there["day"].values.dtype == np.int64
        assert there.to_joint().equals(joint, equal_nan=True)
        assert pickle.loads(pickle.dumps(there)).to_joint().equals(joint, equal_nan=True)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert joint.to("cuda").device == "cuda:0"
    assert joint.to("cpu") is joint
    with pytest.raises(ValueError, match="device: expected one of cuda:0 to cuda:1, got 5"):
        joint.to(5)


def test_torch_is_never_imported():
    """What a program does that has CuPy alone."""
    program = """
import sys
sys.modules["torch"] = None
sys.path.append(sys.argv[1])
import host_cupy
import varlen as vl
J = vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]})
ds = vl.data.Dataset(J)
print(ds.batch([2, 0], device="cuda")["x"].tolist())
print([batch["x"].tolist() for batch in ds.epoch(2, device="cuda", prefetch=1)])
print([batch["x"].tolist() for batch in vl.data.DeviceLoader([ds.collator(device="cuda")([0])])])
print(J.cuda()["x"].sum().tolist())
try:
    J.pin_memory()
except TypeError as error:
    print(error)
print([name for name in sys.modules if name.startswith(("torch", "varlen.backends.torch"))])
"""
    command = [sys.executable, "-c", program, str(TESTS / "python/support")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert result.stdout.splitlines() == [
        "[[4, 0, 0], [1, 2, 3]]",
        "[[[1, 2, 3], [0, 0, 0]], [[4]]]",
        "[[[1, 2, 3]]]",
        "[6, 0, 4]",
        "pin_memory: needs torch, which is not installed; to('cuda') works without it",
        "['torch']",
    ]
