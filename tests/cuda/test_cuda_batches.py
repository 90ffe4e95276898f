"""Batches of a dataset on a device: what the CPU's batch is, bit for bit, by whatever way it went there."""

import os
import pickle
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
from varlen import _core
from varlen.data import Buffers, Dataset, DeviceLoader, TokenBudget

pytestmark = pytest.mark.cuda(on_host="host_cuda")


@pytest.fixture(params=KINDS)
def ds(request, tmp_path):
    return dataset_of(request.param, tmp_path)


@pytest.fixture
def device(torch):
    return torch.device("cuda", 0)


def same_bits(batch, wanted):
    torch = sys.modules["torch"]
    assert list(batch) == list(wanted)
    for name, x in wanted.items():
        if not isinstance(x, torch.Tensor):
            assert batch[name] == x
            continue
        y = batch[name]
        assert (y.device.type, y.dtype, y.shape) == ("cuda", x.dtype, x.shape), name
        assert y.cpu().numpy().tobytes() == x.numpy().tobytes(), name


@pytest.mark.parametrize("name", OPTIONS)
def test_batches_are_those_of_the_cpu(ds, device, name):
    options = fitting(ds, OPTIONS[name])
    wanted = ds.batch(ROWS, framework="torch", **options)
    same_bits(ds.batch(ROWS, device=device, **options), wanted)
    seed = options.pop("seed", None)
    staged = ds.collator(device="cuda", seed=seed, **options)(ROWS)
    same_bits(pickle.loads(pickle.dumps(staged)).to(), wanted)
    same_bits(staged.pin_memory().to(device), wanted)


@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_batches_of_nothing_have_their_dtypes(ds, device, layout):
    for rows in ([], [1], [1, 1]):
        same_bits(ds.batch(rows, device=0, layout=layout), ds.batch(rows, framework="torch", layout=layout))


def test_rows_of_several_numbers_and_fills_of_their_own(device):
    rng = np.random.default_rng(0)
    levels = [_core.Level([2, 0, 3])]
    widths = {"a": (3,), "b": (2, 2), "c": (16,), "d": ()}
    arrays = [rng.integers(0, 99, (5, *shape)).astype(np.uint8) for shape in widths.values()]
    ds = Dataset(_core.Joint(list(widths), [1] * 4, arrays, levels))
    fill = {"a": [1, 2, 3], "b": [[1, 2], [3, 4]], "c": list(range(16)), "d": 5}
    for dtype in (None, "int16", "float64"):
        how = {"fill": fill, "dtype": dtype, "padding_side": "left"}
        same_bits(ds.batch([2, 0, 1], device=device, **how), ds.batch([2, 0, 1], framework="torch", **how))


def test_batches_of_many_keys_take_several_launches(device):
    ds = Dataset(vl.JointNestedRaggedTensorDict({f"k{i}": [[i, 1], [], [2]] for i in range(60)}))
    same_bits(ds.batch([2, 0, 1], device=device), ds.batch([2, 0, 1], framework="torch"))


def test_one_giant_row_and_many_empty_ones(device):
    lengths = [0] * 500 + [20_000] + [1] * 500
    values = np.random.default_rng(0).random(20_500, np.float32)
    ds = Dataset(_core.Joint(["x"], [1], [values], [_core.Level(lengths)]))
    rows = [500, 0, 999]
    same_bits(ds.batch(rows, device=device), ds.batch(rows, framework="torch"))


def test_outputs_are_written_there(torch, device):
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    out = {
        "x": torch.full((12,), -1, device=device),
        "dim1/mask": torch.zeros(3, 3, dtype=bool, device=device),
    }
    batch = ds.batch([0, 1, 2], device=device, out=out)
    same_bits(batch, ds.batch([0, 1, 2], framework="torch"))
    assert batch["dim1/mask"] is out["dim1/mask"]
    assert out["x"].tolist() == [1, 2, 3, 0, 0, 0, 4, 0, 0, -1, -1, -1]
    ragged = ds.batch([0, 2], device=device, layout="ragged", out={"x": out["x"]})
    assert out["x"].tolist()[:4] == [1, 2, 3, 4]
    assert ragged["x"].data_ptr() == out["x"].data_ptr()


def test_outputs_that_do_not_fit_are_refused(torch, device):
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))

    def refused(error, match, **out):
        with pytest.raises(error, match=match):
            ds.batch([0, 1], device=device, out=out)

    refused(
        ValueError, r"out\['x'\]: expected a tensor on cuda:0, got one on cpu", x=torch.zeros(6, dtype=int)
    )
    refused(TypeError, r"out\['x'\]: expected a tensor on cuda:0, got ndarray", x=np.zeros(6, int))
    there = torch.zeros(6, dtype=int, device=device)
    refused(TypeError, r"out\['x'\]: has dtype torch.int32, the batch gives torch.int64", x=there.int())
    refused(ValueError, r"out\['x'\]: has room for 5 entries, the batch needs 6", x=there[:5])
    refused(ValueError, r"out\['x'\]: must be contiguous", x=torch.zeros(12, dtype=int, device=device)[::2])
    refused(ValueError, "out: the batch has no 'y'", y=there)
    with pytest.raises(TypeError, match="out: Buffers are memory of the host"):
        ds.batch([0, 1], device=device, out=Buffers())
    same_bits(ds.batch([0, 1], device=device), ds.batch([0, 1], framework="torch"))


def test_devices_that_are_not_there_are_refused():
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    with pytest.raises(ValueError, match=r"device: expected one of cuda:0 to cuda:\d+, got cuda:99"):
        ds.batch([0], device=99)
    with pytest.raises(ValueError, match="device: a staged batch can only go to a CUDA device"):
        ds.collator(device="cuda")([0]).to("cpu")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_are_told():
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    assert batch_after_a_child_was_told(ds, device="cuda")["x"].tolist() == [[4]]


@pytest.mark.parametrize("pin", [False, True])
def test_workers_make_what_their_parent_takes_there(torch, ds, device, pin, monkeypatch):
    if "host_cuda" in sys.modules:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)  # the loader asks before it pins
        monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    batches = TokenBudget(ds.lengths, 4, shuffle=False)
    options = {"padding_side": "left", "nan": 0.0, "lengths": True}
    data = torch.utils.data.DataLoader(
        ds, batch_sampler=batches, collate_fn=ds.collator(device=device, **options), num_workers=2,
        pin_memory=pin,
    )  # fmt: skip
    found = list(DeviceLoader(data, device))
    assert len(found) == len(list(batches)) > 1
    for batch, rows in zip(found, batches, strict=True):
        same_bits(batch, ds.batch(rows, framework="torch", **options))


@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_epochs_come_there_and_stay(torch, ds, device, prefetch, layout):
    how = {"shuffle": True, "seed": 5, "layout": layout}
    found = list(ds.epoch(2, device=device, prefetch=prefetch, **how))
    wanted = list(ds.epoch(2, framework="torch", **how))
    assert len(found) == len(wanted) == 3
    for batch, other in zip(found, wanted, strict=True):
        same_bits(batch, other)


def test_batches_of_tensors_go_there_and_back(torch, device):
    ds = Dataset(vl.JointNestedRaggedTensorDict({"x": [[1, 2, 3], [], [4]]}))
    batch = ds.batch([0, 2], framework="torch", layout="ragged")
    there = batch.to(device)
    assert (type(there), there.device, there["dim1/max_length"]) == (type(batch), "cuda:0", 3)
    assert there.cuda() is there
    same_bits(there, batch)
    assert there.cpu().device == "cpu"
    pinned = batch.pin_memory()
    assert pinned["x"].is_pinned()
    same_bits(pinned.cuda(non_blocking=True), batch)
    assert next(iter(DeviceLoader([batch])))["x"].tolist() == [1, 2, 3, 4]
    with pytest.raises(TypeError, match="loader: expected batches from a varlen collator, got dict"):
        next(iter(DeviceLoader([{}])))


def test_joint_dicts_go_there_and_back(torch, device):
    joint = vl.JointNestedRaggedTensorDict(TABLE)
    for there in (joint.to(device), joint.cuda(), joint.pin_memory().to(device, non_blocking=True)):
        assert there.device == "cuda:0"
        assert there["code"].sum().values.tolist() == [15, 0, 9, 15, 6, 6, 0]
        assert there["time"].to_dense().cpu()[0].tolist()[::2] == [0.5, 2.0]
        assert there.to_joint().equals(joint, equal_nan=True)
