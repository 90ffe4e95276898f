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


def test_every_step_of_a_folder_keeps_them(folder, tmp_path):
    whole = varlen.open(folder / "shards")
    data = whole.select([0, 1, 2])
    names = {name: name for name in NAMES}
    data.save(tmp_path / "own", rows_per_shard=2, compress=True)
    with io.ShardWriter(tmp_path / "own", 2, append=True) as writer:
        writer.append(whole[3:])
    data.map(lambda rows: rows, tmp_path / "map", rows_per_shard=2)
    data.filter(min_len=1, path=tmp_path / "filter", rows_per_shard=1)
    for part, rows in (("own", ROWS * 2), ("map", ROWS), ("filter", [ROWS[0], ROWS[2]])):
        made = varlen.open(tmp_path / part)
        assert {key: field.dtype.name for key, field in made.fields.items()} == names, part
        assert made[:].to_list() == dict.fromkeys(NAMES, rows), part
    schema = io.Schema.of(whole.fields)
    assert {key: column.dtype for key, column in schema.items()} == names
    assert io.Schema.from_toml(schema.to_toml()) == schema


@pytest.mark.parametrize("name", NAMES)
def test_batches_of_tensors_have_the_dtype_of_their_own_name(folder, name):
    torch = pytest.importorskip("torch")
    data, dtype = varlen.open(folder / "a.nrt"), getattr(torch, name)
    out = torch.zeros(3, 2, dtype=dtype)
    for how in ({}, {"out": {name: out}}, {"dtype": dtype}):
        batch = data.batch([2, 0, 0], framework="torch", keys=[name], masks=False, fill=1, **how)
        assert batch[name].dtype == dtype
        assert batch[name].float().tolist() == [[4, 1], [1, 2], [1, 2]]
    assert out.float().tolist() == [[4, 1], [1, 2], [1, 2]]
    if name != "bfloat16":
        with pytest.raises(ValueError, match=f"^nan: '{name}' is {name}, whose NaN is not replaced"):
            data.batch([0], nan=0, keys=[name])


def test_nulls_among_them_are_nan_and_are_counted(tmp_path):
    declared = {"kind": "number", "dtype": "bfloat16", "level": 1}
    schema = io.Schema({"x": declared})
    assert schema.dtypes["x"].name == "bfloat16"
    with io.Writer(tmp_path / "a.nrt", schema=schema) as writer:
        writer.append({"x": [[1.5, None], [], [2]]})
    np.testing.assert_equal(varlen.open(tmp_path / "a.nrt")[:].to_list(), {"x": [[1.5, np.nan], [], [2]]})
    signalling = np.array([0x7F81, 0x3FC0], np.uint16).view(ml_dtypes.bfloat16)
    pieces = {"dim1/bounds": np.array([2]), "dim1/x": signalling}
    with io.Writer(tmp_path / "b.nrt", schema=schema) as writer:
        writer.append(pieces)
    varlen.open(tmp_path / "b.nrt").save(tmp_path / "c.nrt")
    made = varlen.open(tmp_path / "c.nrt")
    assert made["x"].values.tobytes() == signalling.tobytes()
    assert made.account.columns["x"].result.nulls == 1
    strict = io.Schema({"x": {**declared, "nullable": False}})
    with (
        pytest.raises(ValueError, match="x: null at row 0"),
        io.Writer(tmp_path / "d", schema=strict) as writer,
    ):
        writer.append(pieces)
    made.save(tmp_path / "e", rows_per_shard=1)
    with io.ShardWriter(tmp_path / "e", 1, append=True) as writer:
        writer.append({"x": [[0.5]]})
    writer = io.ShardWriter(tmp_path / "e", 1, append=True)
    with pytest.raises(ValueError, match=r"x: 0\.1 at row 0 would be rounded to bfloat16"):
        writer.append({"x": [[0.1]]})
    assert varlen.open(tmp_path / "e")[1].to_list() == {"x": [0.5]}


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
