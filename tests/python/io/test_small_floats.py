"""Floats of 8 and 16 bits in files: their numbers, with ml_dtypes and in processes that do not see it."""

import subprocess
import sys

import numpy as np
import pytest
import varlen
from varlen import io
from varlen.io import small_floats

ml_dtypes = pytest.importorskip("ml_dtypes")

NAMES = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "float8_e8m0fnu", "float8_e5m2fnuz", "float8_e4m3fnuz"]
ROWS = [[1.0, 2.0], [], [4.0]]


@pytest.mark.parametrize("name", NAMES)
def test_every_pattern_of_bits_is_the_number_that_ml_dtypes_reads(name):
    width = 16 if name == "bfloat16" else 8
    bits = np.arange(2**width, dtype=f"u{width // 8}").reshape(2, -1)
    found = small_floats.as_float32(bits.view(small_floats.stand_in(name)))
    expected = bits.view(getattr(ml_dtypes, name)).astype(np.float32)
    np.testing.assert_array_equal(found, expected, strict=True)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(expected[numbers]))
    assert small_floats.name_of(small_floats.stand_in(name)) == name


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    tensors = {f"dim1/{name}": np.array([1, 2, 4], getattr(ml_dtypes, name)) for name in NAMES}
    tensors["dim1/bounds"] = np.array([2, 2, 3])
    io.save(folder / "a.nrt", tensors)
    (folder / "shards").mkdir()
    for part in "ab":
        io.save(folder / "shards" / f"{part}.nrt", tensors)
    return folder


def test_files_keep_their_dtypes_with_ml_dtypes(folder):
    data = varlen.open(folder / "a.nrt")
    assert {key: field.dtype.name for key, field in data.fields.items()} == {name: name for name in NAMES}


HIDDEN = """
import sys

sys.modules["ml_dtypes"] = None
import numpy as np
import varlen
from varlen import io
from varlen.cli.info import describe

folder = sys.argv[1]
NAMES, ROWS = %r, %r
Joint = varlen.JointNestedRaggedTensorDict


def same(found, rows=ROWS):
    assert set(found) == set(NAMES), found
    for values in found.values():
        assert values == rows, values


for path in (f"{folder}/a.nrt", f"{folder}/shards"):
    for mmap in (True, False):
        data = varlen.open(path, mmap=mmap)
        rows = list(range(len(data)))
        many = ROWS * (len(rows) // 3)
        assert {field.dtype.name for field in data.fields.values()} == {"float32"}
        padded = data.batch([0, 1, 2], masks=False, fill=-1)
        assert {x.dtype.name for x in padded.values()} == {"float32"}
        same({key: x.tolist() for key, x in padded.items()}, [[1, 2], [-1, -1], [4, -1]])
        ragged = data.batch([0, 2], layout="ragged", dtype="f8", nan=0.0, masks=False)
        same({key: ragged[key].tolist() for key in NAMES}, [1.0, 2.0, 4.0])
        same(data[0].to_list(), [1.0, 2.0])
        same(data[:].to_list(), many)
        same(data[[2, 0]].to_list(), [[4.0], [1.0, 2.0]])
        sums = {key: value.sum().tolist() for key, value in data[:].items()}
        same(sums, [3.0, 0.0, 4.0] * (len(many) // 3))
        same(data.map(lambda J: J, f"{folder}/map.nrt", progress=False)[:].to_list(), many)
        data.save(f"{folder}/save.nrt")
        same(varlen.open(f"{folder}/save.nrt")[:].to_list(), many)
        keyed = data.with_key("one", np.ones(len(rows))).batch([0, 2], keys=NAMES, masks=False)
        same({key: x.tolist() for key, x in keyed.items()}, [[1.0, 2.0], [4.0, 0.0]])
        one = data.source.read(0)
        same({key: one.values(key).tolist() for key in NAMES}, [1.0, 2.0])
same(Joint(tensors_fp=f"{folder}/a.nrt").to_list())
same(Joint(tensors_fp=f"{folder}/a.nrt")[0].to_list(), [1.0, 2.0])
same(Joint.load_slice(f"{folder}/a.nrt", 0).to_list(), [1.0, 2.0])
file = io.open_file(f"{folder}/a.nrt")
same({key: file.values(key).tolist() for key in NAMES}, [1.0, 2.0, 4.0])
same({key: file.array(f"dim1/{key}").tolist() for key in NAMES}, [1.0, 2.0, 4.0])
assert {key: entry["dtype"] for key, entry in describe(file.path)["keys"].items()} == {n: n for n in NAMES}
try:
    file.joint().values("bfloat16") + 1
except TypeError:
    print("refused")
"""


def hidden(script, *given):
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, given)],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_arrays_are_float32_without_ml_dtypes(folder):
    assert hidden(HIDDEN % (NAMES, ROWS), folder) == ["refused"]


TENSORS = """
import sys

sys.modules["ml_dtypes"] = None
import torch
import varlen
import varlen.returnn.frontend as rf

NAMES = %r
for mmap in (True, False):
    data = varlen.open(sys.argv[1] + "/a.nrt", mmap=mmap)
    batch = data.batch([0, 2], framework="torch", layout="ragged", keys=NAMES)
    for name in NAMES:
        dtype = getattr(torch, name)
        assert batch[name].dtype == dtype, batch[name]
        assert batch[name].float().tolist() == [1.0, 2.0, 4.0]
    made = data.batch([0, 2], framework="torch", dtype=torch.bfloat16, fill=-1, masks=False)
    assert {x.dtype for x in made.values()} == {torch.bfloat16}
    assert made["float8_e5m2"].tolist() == [[1.0, 2.0], [4.0, -1.0]]
for dtype in ("bfloat16", torch.bfloat16):
    ones = rf.ones([varlen.Dim("two", 2)], dtype=dtype)
    assert (ones.values.dtype, ones.values.tolist()) == (torch.bfloat16, [1.0, 1.0])
    assert rf.cast(rf.zeros_like(ones), dtype).values.dtype == torch.bfloat16
print("done")
"""


def test_tensors_need_no_ml_dtypes(folder):
    torch = pytest.importorskip("torch")
    assert hidden(TENSORS % [name for name in NAMES if hasattr(torch, name)], folder) == ["done"]


@pytest.mark.parametrize("tag", ["F4", "F6_E2M3", "F6_E3M2"])
def test_numbers_that_share_a_byte_are_refused(tmp_path, tag):
    table = f'{{"dim0/a":{{"dtype":"{tag}","shape":[4],"data_offsets":[0,2]}}}}'.encode().ljust(120)
    (tmp_path / "a.nrt").write_bytes(len(table).to_bytes(8, "little") + table + b"\0\0")
    with pytest.raises(io.FileFormatError, match=r"a.nrt: .*the dtype is not known"):
        varlen.open(tmp_path / "a.nrt")
