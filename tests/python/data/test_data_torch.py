"""Batches of tensors: dtypes that torch computes with, whatever the values are stored as."""

import subprocess
import sys

import numpy as np
import pytest
import varlen
import varlen.io
from varlen import _core
from varlen.data import Buffers, Collate, Dataset
from varlen.joint import JointNestedRaggedTensorDict as Joint

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")

TIMES = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[s]")
SECONDS = TIMES.astype(np.int64).tolist()
VALUES = {
    "u1": np.array([1, 2, 3], np.uint8),
    "u2": np.array([1, 2, 3], np.uint16),
    "i4": np.array([1, 2, 3], np.int32),
    "u8": np.array([1, 2, 3], np.uint64),
    "b": np.array([True, False, True]),
    "f2": np.array([1, 2, 3], np.float16),
    "f4": np.array([1, 2, 3], np.float32),
    "bf": np.array([1, 2, 3], ml_dtypes.bfloat16),
    "t": TIMES,
    "d": np.array([5, 6, 7], "m8[ms]"),
}
DTYPES = {
    "u1": torch.int64, "u2": torch.int64, "i4": torch.int64, "u8": torch.int64, "b": torch.bool,
    "f2": torch.float16, "f4": torch.float32, "bf": torch.bfloat16, "t": torch.int64, "d": torch.int64,
}  # fmt: skip


@pytest.fixture(params=["memory", "parts", "mapped", "read"])
def ds(request, tmp_path):
    levels = [_core.Level([2, 0, 1])]
    whole = _core.Joint(list(VALUES), [1] * len(VALUES), list(VALUES.values()), levels)
    if request.param == "memory":
        return Dataset(whole)
    if request.param == "parts":
        return Dataset([whole.slice(0, 1), whole.slice(1, 3)])
    Joint._wrap(whole).save(tmp_path / "a.nrt")
    return varlen.open(tmp_path / "a.nrt", mmap=request.param == "mapped")


@pytest.mark.parametrize("layout", ["padded", "ragged"])
def test_tensors_have_dtypes_that_torch_computes_with(ds, layout):
    batch = ds.batch([0, 1, 2], layout=layout, framework="torch")
    assert {key: batch[key].dtype for key in VALUES} == DTYPES
    index = (lambda x: x) if layout == "ragged" else (lambda x: x[batch["dim1/mask"]])
    assert torch.arange(9)[index(batch["u2"])].tolist() == [1, 2, 3]
    assert index(batch["t"]).tolist() == SECONDS
    assert index(batch["bf"]).tolist() == [1.0, 2.0, 3.0]
    assert (ds.fields["t"].unit, ds.fields["d"].unit) == ("s", "ms")


def test_tensors_have_the_dtypes_that_are_asked_for(ds):
    asked = {
        "u1": torch.int32, "u2": "int32", "i4": torch.uint8, "u8": torch.uint64, "f4": torch.bfloat16,
        "f2": "bfloat16", "bf": torch.float64, "t": torch.int64, "b": torch.float16,
    }  # fmt: skip
    batch = ds.batch([2, 0], framework="torch", dtype=asked)
    want = {key: getattr(torch, str(dtype).removeprefix("torch.")) for key, dtype in asked.items()}
    assert {key: batch[key].dtype for key in asked} == want
    assert batch["f4"].tolist() == batch["bf"].tolist() == [[3, 0], [1, 2]]
    arrays = ds.batch([2, 0], dtype={"f4": torch.bfloat16, "u1": torch.int32, "bf": torch.float32})
    assert [arrays[key].dtype for key in ("f4", "u1", "bf")] == [ml_dtypes.bfloat16, np.int32, np.float32]
    assert ds.batch([0], dtype=torch.float64, keys=["u1", "f4"])["u1"].dtype == np.float64


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"dtype": {"u1": torch.complex32}},
            TypeError,
            "'u1'.* complex32",
        ),
        ({"dtype": {"u1": "bfloat17"}}, TypeError, "dtype of 'u1': expected a NumPy dtype"),
        ({"dtype": {"t": torch.int32}}, TypeError, "'t' is datetime64.* does not become int32"),
        ({"fill": {"bf": 1e39}}, ValueError, "fill of 'bf': 1e.39 does not fit bfloat16"),
        ({"fill": {"u1": 2**63}}, ValueError, "fill of 'u1': .* does not fit int64"),
    ],
)
def test_dtypes_that_do_not_fit_are_refused(ds, options, error, text):
    with pytest.raises(error, match=text):
        ds.batch([0, 1], framework="torch", **options)


def test_numbers_beyond_int64_are_refused():
    ds = Dataset(_core.Joint(["x"], [0], [np.array([1, 2**63], np.uint64)], []))
    assert ds.batch([0], framework="torch")["x"].dtype == torch.int64
    with pytest.raises(ValueError, match=r"'x' row 1 .*give dtype="):
        ds.batch([0, 1], framework="torch")


def test_times_are_filled_and_joined_in_their_unit(ds):
    batch = ds.batch([1, 2], keys=["t"], framework="torch", fill={"t": -1}, prefix={"t": [7]}, pad_to=3)
    assert batch["t"].tolist() == [[7, -1, -1], [7, SECONDS[2], -1]]
    batch = ds.batch([1], keys=["t"], framework="torch", fill=np.datetime64("NaT"), pad_to=1)
    assert batch["t"].tolist() == [[np.iinfo(np.int64).min]]


def test_parts_of_tensors_are_integers_of_torch(ds):
    batch = ds.batch([0], keys=["u1"], framework="torch", parts=True, lengths=True, windows=True, max_len=1)
    for name in ("dim1/part", "dim1/lengths", "window/start", "window/end"):
        assert batch[name].dtype == torch.int64
    assert torch.arange(4)[batch["dim1/part"]].tolist() == [[2]]


def test_batches_of_no_keys_are_empty(ds):
    assert ds.batch([0], keys=[], parts=True, framework="torch") == ds.batch([0], keys=[], parts=True) == {}


def test_outputs_may_be_tensors_of_any_dtype(ds):
    out = {
        "t": torch.zeros(4, dtype=torch.int64),
        "bf": torch.zeros(4, dtype=torch.bfloat16),
        "u2": torch.zeros(4, dtype=torch.int64),
        "dim1/mask": torch.zeros(4, dtype=torch.bool),
    }
    batch = ds.batch([0, 2], keys=["t", "bf", "u2"], framework="torch", out=out)
    for name, buffer in out.items():
        assert batch[name].data_ptr() == buffer.data_ptr()
        assert batch[name].dtype == buffer.dtype
    assert out["t"].tolist() == [*SECONDS[:2], SECONDS[2], 0]
    assert out["bf"].tolist() == [1, 2, 3, 0]
    buffers = Buffers()
    batch = ds.batch([0, 2], framework="torch", out=buffers)
    assert batch["t"].tolist() == [SECONDS[:2], [SECONDS[2], 0]]


def test_collators_give_the_same_dtypes(ds):
    collate = ds.collator(framework="torch")
    for samples in ([0, 1, 2], [ds[0], ds[1], ds[2]]):
        batch = collate(samples)
        assert {key: batch[key].dtype for key in VALUES} == DTYPES


def test_collate_of_arrays_gives_the_same_dtypes():
    for key, dtype in DTYPES.items():
        (rows, mask) = Collate(framework="torch")([VALUES[key][:2], VALUES[key][2:]])
        assert rows.dtype == dtype, key
        assert mask.dtype == torch.bool
        number = Collate(framework="torch")([VALUES[key][0], VALUES[key][1]])
        assert number.dtype == dtype, key
    rows, _ = Collate(framework="torch")([TIMES[:2], TIMES[2:]])
    assert rows.tolist() == [SECONDS[:2], [SECONDS[2], 0]]
    assert Collate(framework="torch", dtype=torch.int32)([VALUES["u2"], VALUES["u2"]])[0].dtype == torch.int32
    with pytest.raises((ValueError, OverflowError), match="samples: "):
        Collate(framework="torch")([np.uint64(2**63), np.uint64(1)])


@pytest.mark.parametrize("layout", ["padded", "ragged"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.uint8, torch.int16], ids=str)
def test_collate_keeps_the_dtype_of_tensors(dtype, side, layout):
    samples = [torch.tensor([1, 2, 3]).to(dtype), torch.tensor([4]).to(dtype)]
    rows, beside = Collate(layout=layout, padding_side=side)(samples)
    assert rows.dtype == dtype
    want = [[1, 2, 3], [4, 0, 0] if side == "right" else [0, 0, 4]]
    assert rows.float().tolist() == (want if layout == "padded" else [1, 2, 3, 4])
    assert beside.tolist() == ([[x != 0 for x in row] for row in want] if layout == "padded" else [0, 3, 4])
    filled = Collate(fill=2)(samples)[0]
    assert filled.float().tolist() == [[1, 2, 3], [4, 2, 2]]
    batch = Collate(max_len=2)([{"x": x, "n": x[0]} for x in samples])
    assert batch["x"].float().tolist() == [[1, 2], [4, 0]]
    assert batch["n"].dtype == dtype
    assert batch["n"].float().tolist() == [1, 4]


def test_collate_promotes_tensors_as_torch_does():
    small, large = torch.ones(2, dtype=torch.bfloat16), torch.full((1,), 300.0)
    assert Collate()([small, large, small])[0].dtype == torch.float32
    assert Collate()([small, small.half()])[0].dtype == torch.float32
    assert Collate()([small, torch.tensor([7])])[0].dtype == torch.bfloat16
    assert (
        Collate()([torch.ones(1, dtype=torch.uint8), torch.ones(1, dtype=torch.int16)])[0].dtype
        == torch.int16
    )
    assert Collate(dtype=torch.bfloat16)([large, large])[0].dtype == torch.bfloat16
    assert Collate(dtype=torch.float32)([small, small])[0].dtype == torch.float32
    assert Collate(dtype="float64")([small, small])[0].dtype == torch.float64
    assert Collate(framework="numpy")([small, small])[0].dtype == ml_dtypes.bfloat16
    deep = Collate()([[small, small], [small[:1]]])[0]
    assert (deep.dtype, deep.tolist()) == (torch.bfloat16, [[[1, 1], [1, 1]], [[1, 0], [0, 0]]])
    with pytest.raises(ValueError, match=r"samples: fill: 1e.39 does not fit bfloat16"):
        Collate(fill=1e39)([small, small[:1]])


def test_collate_refuses_tensors_whose_gradient_would_be_lost():
    samples = [torch.ones(2, requires_grad=True), torch.ones(1)]
    with pytest.raises(ValueError, match="gradients, which would be lost here; pass tensor"):
        Collate()(samples)
    with torch.no_grad():
        assert Collate()(samples)[0].tolist() == [[1.0, 1.0], [1.0, 0.0]]


def test_collate_takes_tensors_with_a_conjugate_bit():
    x = torch.tensor([1 + 2j, 3 - 1j])
    assert Collate()([x.conj(), x[:1].conj()])[0].tolist() == [[1 - 2j, 3 + 1j], [1 - 2j, 0]]
    assert Collate()([x.conj().imag, x[:1].imag])[0].tolist() == [[-2, 1], [2, 0]]


WITHOUT_ML_DTYPES = """
import sys
import numpy
import torch
import varlen
from varlen.data import Collate
assert "ml_dtypes" not in sys.modules
sys.modules["ml_dtypes"] = None
x = torch.tensor([1.5, 2.0], dtype=torch.bfloat16)
assert Collate(fill=-1)([x, x[:1]])[0].tolist() == [[1.5, 2.0], [1.5, -1.0]]
ds = varlen.open(sys.argv[1])
batch = ds.batch([0, 1, 2], framework="torch", keys=["bf"])["bf"]
assert (batch.dtype, batch.tolist()) == (torch.bfloat16, [[1, 2], [0, 0], [3, 0]])
for dtype in (torch.float32, torch.bfloat16, torch.float64):
    batch = ds.batch([0], framework="torch", keys=["bf"], dtype=dtype, masks=False)["bf"]
    assert (batch.dtype, batch.tolist()) == (dtype, [[1.0, 2.0]])
array = numpy.array([1.5])
for lists in ([{"x": [1.5]}, {"x": [2, 3]}], [{"x": 1.5}, {"x": 2}], [{"x": array}, {"x": [2, 3]}]):
    made = Collate(dtype=torch.bfloat16, framework="torch", masks=False, fill=-1)(lists)["x"]
    assert made.dtype == torch.bfloat16
    assert made.tolist() in ([[1.5, -1.0], [2.0, 3.0]], [1.5, 2.0])
try:
    Collate()([x, torch.tensor([257])])
except OverflowError as error:
    print(error)
try:
    ds.batch([0], framework="numpy", keys=["bf"], dtype=torch.bfloat16)
except TypeError as error:
    print(error)
"""


def test_bfloat16_needs_no_ml_dtypes_as_tensors(tmp_path):
    whole = _core.Joint(["bf"], [1], [VALUES["bf"]], [_core.Level([2, 0, 1])])
    Joint._wrap(whole).save(tmp_path / "a.nrt")
    command = [sys.executable, "-c", WITHOUT_ML_DTYPES, str(tmp_path / "a.nrt")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.splitlines() == [
        "samples[1]: 257 does not fit torch.bfloat16; give a dtype",
        "dtype: bfloat16 needs the package ml_dtypes, which is not installed",
    ], done.stderr
