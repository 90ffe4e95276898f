"""Batches for a device, where there is none: blocks of the host's memory, and what is missing."""

import multiprocessing
import pathlib
import pickle
import sys

import numpy as np
import pytest
import varlen as vl
from varlen import _core
from varlen.data import Dataset, DeviceLoader, StagedBatch

torch = pytest.importorskip("torch")

TABLE = {"x": [[1, 2, 3], [], [4]], "c": [[[1.5], [2.5, 3.5], []], [], [[4.5]]]}


@pytest.fixture
def ds():
    return Dataset(vl.JointNestedRaggedTensorDict(TABLE))


def no_device():
    if vl.cuda.is_available() or _core.has_kernels():
        pytest.skip("there is a device here")


def test_devices_are_named_as_torch_names_them(ds):
    for bad in ("gpu", "mps", "cuda:x", "cuda:", torch.device("meta")):
        with pytest.raises(ValueError, match="device: expected 'cpu', 'cuda' or 'cuda:<number>', got"):
            ds.batch([0], device=bad)
    for bad in (True, 1.5, b"cuda"):
        with pytest.raises(TypeError, match=r"device: expected .cuda., a number, a torch\.device or a cupy"):
            ds.collator(device=bad)
    with pytest.raises(ValueError, match="device: expected at least 0, got -1"):
        ds.epoch(2, device=-1)
    with pytest.raises(ValueError, match="framework: NumPy arrays have no device"):
        ds.batch([0], device="cuda", framework="numpy")


def test_missing_devices_are_told_in_one_sentence(ds):
    no_device()
    with pytest.raises(RuntimeError, match=r"device: .+"):
        ds.batch([0], device="cuda")
    with pytest.raises(RuntimeError, match="device: "):
        next(iter(ds.epoch(2, device="cuda", prefetch=1)))
    with pytest.raises(RuntimeError, match="device: "):
        next(iter(DeviceLoader([ds.collator(device="cuda")([0])])))


def test_cpu_is_a_device_of_tensors(ds):
    batch = ds.batch([2, 0], device=torch.device("cpu"))
    assert batch.device == "cpu"
    assert torch.equal(batch["x"], ds.batch([2, 0], framework="torch")["x"])


def test_blocks_hold_rows_as_they_are_stored(ds):
    staged = ds.collator(device="cuda", masks=False, keys=["x"], pad_to_multiple_of=1000)([0, 2])
    # Two ends of eight bytes, and four numbers of one, which are eight bytes each in the batch.
    assert isinstance(staged, StagedBatch)
    assert staged.nbytes == 128 + 4
    assert repr(staged) == "StagedBatch(['x'], 132 bytes)"
    again = pickle.loads(pickle.dumps(staged))
    assert bytes(again._block.array[128:]) == bytes([1, 2, 3, 4])


def file_of(array):
    """The file that is mapped where an array lies."""
    for line in pathlib.Path("/proc/self/maps").read_text().splitlines():
        begin, end = (int(text, 16) for text in line.split(maxsplit=1)[0].split("-"))
        if begin <= array.ctypes.data < end:
            return line
    raise AssertionError("not mapped")


def test_workers_send_blocks_in_shared_memory(ds):
    collate = ds.collator(device="cuda")
    data = torch.utils.data.DataLoader(
        ds, batch_size=2, collate_fn=collate, num_workers=1,
        multiprocessing_context=multiprocessing.get_context("spawn"),
    )  # fmt: skip
    batches = list(data)
    assert [len(batch._outputs) for batch in batches] == [4, 4]
    if sys.platform.startswith("linux"):
        assert all("varlen-batch" in file_of(batch._block.array) for batch in batches)
    wanted = collate([0, 1])._block.array
    assert np.array_equal(batches[0]._block.array[128:144], wanted[128:144])


def test_errors_are_those_of_the_batch(ds):
    collate = ds.collator(device="cuda", pad_to=2)
    with pytest.raises(ValueError, match="pad_to: the longest sequence of axis 1 takes 3 slots, over 2"):
        collate([0])
    with pytest.raises(IndexError, match="rows"):
        collate([9])
    deep = [[1]]
    for _ in range(9):
        deep = [deep]
    nest = Dataset(vl.JointNestedRaggedTensorDict({"x": deep}))
    with pytest.raises(ValueError, match="device: a padded batch has 10 ragged axes, over 8"):
        nest.collator(device="cuda")([0])
    flat = nest.collator(device="cuda", flatten=True)([0])
    assert flat.nbytes > 0


def test_recipes_of_others_are_refused(ds):
    plan = _core.StagedBatch(_batcher(), np.array([0]))
    block = np.zeros(plan.nbytes, np.uint8)
    plan.write(block)
    with pytest.raises(TypeError, match="block: expected a writeable array of uint8"):
        plan.write(block.view(np.int8))
    with pytest.raises(ValueError, match=f"block: has {len(block) - 1} bytes, the batch needs {len(block)}"):
        plan.write(block[:-1])
    with pytest.raises(TypeError, match="block: expected memory of a device, got list"):
        _core.unstage(plan.recipe, [], [0, 0])
    with pytest.raises(TypeError, match="StagedBatch"):
        pickle.dumps(plan)


def _batcher():
    joint = vl.JointNestedRaggedTensorDict({"x": [[1, 2]]})._view()
    fill = np.zeros(1, np.uint8)
    return _core.Batcher([joint], [""], None, None, ["x"], [1], [fill], [None], {})


def test_batches_know_where_they_are(ds):
    batch = ds.batch([0, 2])
    assert (batch.device, batch.to("cpu") is batch, batch.cpu() is batch) == ("cpu", True, True)
    with pytest.raises(TypeError, match="a NumPy array lies on the CPU, not on cuda"):
        batch.cuda()
    meta = ds.batch([0, 2], framework="torch", layout="ragged").to("meta")
    assert (type(meta), meta.device, meta["dim1/max_length"]) == (type(batch), "meta", 3)
    assert {**batch} == dict(batch.items())
    assert type(pickle.loads(pickle.dumps(batch))) is type(batch)


def test_joint_dicts_go_where_torch_takes_them():
    table = {
        **TABLE,
        "id": [7, 8, 9],
        "day": [[np.datetime64("2020-01-01", "D")] * 3, [], [np.datetime64("NaT")]],
    }
    table["day"] = [np.array(days, "M8[D]") for days in table["day"]]
    joint = vl.JointNestedRaggedTensorDict(table, row_ids="id")
    assert (joint.device, joint.to("cpu") is joint, joint.cpu() is joint) == ("cpu", True, True)
    there = joint.to("meta")
    assert (there.device, sorted(there)) == ("meta", ["c", "day", "id", "x"])
    assert there["c"].levels[0] is there["x"].levels[0]
    assert there["c"].lengths.tolist() == [3, 0, 1]
    assert there["day"].values.dtype == torch.int64
    assert there.to("meta") is there
    with pytest.raises(TypeError, match="nowhere"):
        joint.to("nowhere")


def test_joint_dicts_come_back_as_they_were():
    from varlen.joint.device_methods import _tensors_of

    table = {**TABLE, "id": [7, 8, 9], "day": [np.array(days, "M8[D]") for days in ([1, 2, 3], [], ["NaT"])]}
    joint = vl.JointNestedRaggedTensorDict(table, row_ids="id")
    back = pickle.loads(pickle.dumps(_tensors_of(joint))).to_joint()
    assert type(back) is type(joint)
    assert back.equals(joint, equal_nan=True)
    assert (back.schema, back.row_ids, back.tensors["dim1/day"].dtype) == (joint.schema, "id", "M8[D]")
