"""The doors of files and writers: what cannot be read again is not written, and the old file stays."""

import os
import re

import numpy as np
import pytest
import varlen
from doors import WHOLE, doors, masked, refuses
from varlen import io
from varlen.joint import JointNestedRaggedTensorDict as Joint

ENDS = np.array([2, 2, 3])
FLAT = {"dim1/bounds": ENDS, "dim1/a": np.arange(3)}

PIECES = [
    ({5: ENDS}, TypeError, "(names|keys) are strings.*, got 5"),
    ({"dim0/a": np.array([1, None])}, TypeError, "a: position 0 holds int, not a string"),
    ({"dim0/a": np.array(["a", None])}, TypeError, "a: position 1 holds NoneType, not a string"),
    ({"dim0/a": masked()}, TypeError, "dim0/a: expected an array without a mask"),
    ({"dim0/a": [[1], [2, 3]]}, ValueError, "dim0/a: not a rectangle of values"),
    ({"dim0/a": np.array(3)}, ValueError, "dim0/a.*dimension"),
    ({"dim0/a": np.ones(2, "g")}, TypeError, "a file cannot hold dtype"),
    ({"dim0/a": np.zeros(1, "i4,i4")}, TypeError, "a file cannot hold dtype"),
    ({"dim0/a": np.zeros(1, "m8")}, TypeError, "a: times need a unit"),
    ({**FLAT, "dim1/bounds": ENDS * 1.0}, (TypeError, ValueError), "dim1/bounds: .*float64"),
    ({**FLAT, "dim1/bounds": ENDS[None]}, ValueError, "dim1/bounds: "),
    ({**FLAT, "dim1/bounds": np.array([2, 1, 3])}, ValueError, "dim1/bounds: row 1 ends at 1"),
    ({**FLAT, "dim1/bounds": np.array([-1, 1, 3])}, ValueError, "dim1/bounds: row 0 ends at -1"),
    ({**FLAT, "dim1/a": np.arange(4)}, ValueError, "4|bounds"),
    ({"dim1/a": ENDS}, ValueError, "no (bounds for level 1|dim1/bounds)"),
    ({**FLAT, "dim0/a": ENDS}, ValueError, "a"),
    ({**FLAT, "dim0/s": ENDS[1:]}, ValueError, "s"),
]


@pytest.fixture
def folder(tmp_path):
    io.save(tmp_path / "a.nrt", {"dim0/s": np.array([70, 30, 50]), **FLAT}, row_ids="s")
    return tmp_path


@pytest.mark.parametrize(
    ("entries", "error", "text"),
    [
        *PIECES,
        (None, TypeError, "entries: expected a dict from names of tensors to arrays, got NoneType"),
        ([1], TypeError, "entries: expected a dict"),
        ({"dim0/a": None}, TypeError, "a: position 0 holds NoneType"),
        ({"dim0/\ud800": ENDS}, ValueError, "an unpaired surrogate"),
        ({"__metadata__": ENDS}, ValueError, "entries: '__metadata__' is not a name"),
    ],
)
def test_what_cannot_be_read_again_is_not_saved(folder, entries, error, text):
    refuses(lambda x: io.save(folder / "a.nrt", x), entries, error, text, folder)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"vocabularies": ["a"]}, TypeError, "vocabularies: expected a dict from keys to words, got list"),
        ({"vocabularies": {"z": ["a"]}}, ValueError, "vocabularies: there is no key 'z'"),
        ({"vocabularies": {"a": "xyz"}}, TypeError, "vocabularies of 'a': expected a list of words, got str"),
        (
            {"vocabularies": {"a": None}},
            TypeError,
            "vocabularies of 'a': expected a list of words, got NoneType",
        ),
        (
            {"vocabularies": {"a": ["x", 2, "z"]}},
            TypeError,
            "vocabularies: word 1 of 'a': expected a string, got int",
        ),
        (
            {"vocabularies": {"a": ["x", "y", "x"]}},
            ValueError,
            "vocabularies: key 'a' has the word 'x' twice",
        ),
        ({"vocabularies": {"a": ["x"]}}, ValueError, "vocabularies: key 'a' holds ids 0 to 2, for 1 strings"),
        ({"row_ids": "z"}, ValueError, "row_ids: 'z' is not a key of dim 0"),
        ({"row_ids": 3}, ValueError, "row_ids: 3 is not a key of dim 0"),
        ({"metadata": ["a"]}, TypeError, "metadata: expected a dict from keys to strings, got list"),
        ({"metadata": {"a": 1}}, TypeError, "metadata: expected strings, got 'a': 1"),
        ({"metadata": {"varlen.x": "1"}}, ValueError, "metadata: 'varlen.x' is a key of varlen's own"),
    ],
)
def test_what_is_said_about_keys_fits_them(folder, options, error, text):
    refuses(lambda x: io.save(folder / "a.nrt", {"dim0/a": np.arange(3)}, **x), options, error, text, folder)


@pytest.mark.parametrize("door", [io.open_file, io.open_shards, io.read_header, varlen.open])
@pytest.mark.parametrize(
    ("path", "error"),
    [
        (None, TypeError),
        (3.5, TypeError),
        ({}, TypeError),
        ("/no/such", FileNotFoundError),
        ("a\0b", ValueError),
    ],
)
def test_paths_lead_somewhere(door, path, error):
    refuses(door, path, error, "")


READERS = [io.open_file, io.open_shards, io.read_header, varlen.open, io.verify]


def write_shards(path, **options):
    with io.ShardWriter(path, 2, **options) as writer:
        writer.append({"a": [1]})


WRITERS = [
    write_shards,
    lambda path: write_shards(path, append=True),
    lambda path: io.build([0], lambda _: {"a": [1]}, path),
    lambda path: io.save(path, {"dim0/a": np.arange(3)}),
    lambda path: varlen.open("a.nrt").map(lambda rows: rows, path, rows_per_shard=2),
    lambda path: varlen.open("a.nrt").save(path, rows_per_shard=2),
    lambda path: varlen.open("a.nrt").save_manifest(path),
    lambda path: varlen.open("a.nrt").with_file(path),
    io.compact,
]


@pytest.mark.parametrize("door", READERS + WRITERS)
@pytest.mark.parametrize("path", ["", b"", "a\0b", b"a\0b"])
def test_a_path_is_not_empty_and_has_no_null(door, path, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    with pytest.raises(ValueError, match=r"^(path|folder): expected a (path|folder), got "):
        door(path)
    assert sorted(folder.iterdir()) == before


def test_paths_of_bytes_are_those_of_text(folder, tmp_path):
    name, raw = tmp_path / "ünï", os.fsencode(tmp_path / "ünï")
    write_shards(raw)
    varlen.open(raw).save_manifest(raw + b".json")
    for path in (name, raw, [raw], raw + b".json", raw + b"/part-*.nrt"):
        ds = varlen.open(path)
        assert ds[:].to_list() == {"a": [1]}
        assert ds.reload()[:].to_list() == {"a": [1]}
    other = varlen.Dataset(varlen.JointNestedRaggedTensorDict({"b": [2]}))
    assert other.with_file([raw])[:].to_list() == {"b": [2], "a": [1]}


def test_lists_of_files_hold_files(folder):
    for given, error in (([], ValueError), ([None], TypeError), ([str(folder / "a.nrt"), 3], TypeError)):
        refuses(varlen.open, given, error, "path: ")
    assert io.open_file(os.fsencode(folder / "a.nrt")).count == 3


@pytest.mark.parametrize(
    ("keys", "error", "text"),
    [
        (3, TypeError, "keys: expected a list of keys, got int"),
        (["a", "z"], KeyError, r"keys: \['z'\] not in .*; available: \['a', 's'\]"),
        ([3], KeyError, r"keys: \[3\] not in"),
    ],
)
def test_keys_are_in_the_files(folder, keys, error, text):
    refuses(lambda k: varlen.open(folder / "a.nrt", keys=k), keys, error, text, folder)


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda s: s.locate([0, 3]), IndexError, "rows: 3 at position 1 is out of range for 3 rows"),
        (lambda s: s.locate(np.array([2**64 - 1], "u8")), IndexError, f"rows: {2**64 - 1} at position 0"),
        (lambda s: s.read_many(np.array([2**63], "u8")), IndexError, f"rows: {2**63} at position 0"),
        (lambda s: s.read_many([0.0]), TypeError, "rows: expected integers, got float64"),
        (lambda s: s.read_many([0, None]), TypeError, "rows: expected integers, got object"),
        (lambda s: s.read_many(masked((0, 1))), TypeError, "rows: expected an array without a mask"),
        (
            lambda s: s.read_many([0], masked((0,), (1,))),
            TypeError,
            "starts, ends: expected an array without a mask",
        ),
        (lambda s: s.read_many([0], [0.5]), TypeError, "starts, ends: expected integers"),
        (lambda s: s.read_many([0, 1], [0, 1, 2]), ValueError, "starts, ends: expected one a row, 2"),
        (lambda s: s.read(1.5), TypeError, "rows: expected integers, got float64"),
        (lambda s: s.read(None), TypeError, "rows: expected integers, got object"),
        (lambda s: s.read(0, 1.5), TypeError, "starts, ends: expected integers, got float64"),
        (lambda s: s.read(2**70), TypeError, "rows: expected integers, got object"),
        (lambda s: s.rows_of([70, None]), TypeError, "ids: expected integers or strings, position 1"),
        (lambda s: s.rows_of([1]), KeyError, "ids: 1 at position 0 is no row's id"),
        (lambda s: s.file(0).values("z"), KeyError, r"'z' is not in .*; there are \['a', 's'\]"),
        (lambda s: s.file(0).array("dim3/z"), KeyError, "'dim3/z' is not in"),
        (lambda s: s.file(0).joint(3), TypeError, "keys: expected a list of keys, got int"),
        (lambda s: s.file(0).level(0), IndexError, "number: expected a level from 1 to 1, got 0"),
        (lambda s: s.file(0).level(-1), IndexError, "number: expected a level from 1 to 1, got -1"),
    ],
)
def test_sources_read_what_is_there(folder, mmap, call, error, text):
    source = io.open_shards(folder / "a.nrt", mmap=mmap)
    with pytest.raises(error, match=text):
        call(source)
    far = np.array([2**64 - 1], "u8")
    assert len(source.read_many([0], ends=far).values("a")) == 2
    assert source.read_many(np.array([2, 0], ">i4")).values("s").tolist() == [50, 70]


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        *PIECES,
        (None, TypeError, "rows: expected a joint dict or a dict, got NoneType"),
        ([1], TypeError, "rows: expected a joint dict or a dict, got list"),
        ({}, ValueError, r"rows: keys \['a'\] are missing"),
        (
            {"dim1/bounds": ENDS, "dim1/z": ENDS},
            ValueError,
            r"rows: keys \['a'\] are missing and \['z'\] are new",
        ),
        ({"dim0/a": np.arange(3)}, ValueError, "a: dim 0, trailing shape .* but 1"),
        ({**FLAT, "dim1/a": np.arange(3.0)}, ValueError, "a: dtype float64, but int64 in the pieces before"),
        ({**FLAT, "dim1/a": np.array([2**63] * 3, "u8")}, ValueError, "a: dtype uint64, but int64"),
        ({**FLAT, "dim1/a": np.ones((3, 2), int)}, ValueError, r"a: dim 1, trailing shape \(2,\)"),
        ({"a": [[1, {}]]}, ValueError, r"a\[0\]\[1\]: expected a number, got dict"),
        ({"a": [[1, None]]}, ValueError, "a: dtype float64, but int64 in the pieces before"),
        (Joint({"a": [[1]]}), ValueError, "a: dtype uint8, but int64 in the pieces before"),
    ],
)
def test_writers_keep_what_they_have(folder, rows, error, text):
    with io.Writer(folder / "w.nrt") as writer:
        writer.append(FLAT)
        refuses(writer.append, rows, error, text, folder)
        writer.append(FLAT)
    assert io.open_file(folder / "w.nrt").joint().values("a").tolist() == [0, 1, 2] * 2
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.append(FLAT)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"schema": ["a"]}, TypeError, "schema: expected a dict from keys to dtypes, got list"),
        ({"schema": {"a": "nope"}}, TypeError, "expected a NumPy dtype, got 'nope'"),
        ({"vocabularies": 3}, TypeError, "vocabularies: expected a dict from keys to words, got int"),
        ({"vocabularies": {"a": ["x", "x"]}}, ValueError, "vocabularies: key 'a' has the word 'x' twice"),
        ({"metadata": 3}, TypeError, "metadata: expected a dict from keys to strings, got int"),
        ({"ids": "f4"}, TypeError, "ids: expected an integer dtype, got float32"),
        ({"row_ids": "z"}, ValueError, "row_ids: 'z' is not a key of dim 0"),
        ({"schema": {"a": "i1"}}, ValueError, "a: 300 at row 1 does not fit int8"),
    ],
)
def test_writers_name_options_that_do_not_fit(folder, options, error, text):
    def write(options):
        with io.Writer(folder / "a.nrt", **options) as writer:
            writer.append({"dim0/a": np.array([1, 300])})

    refuses(write, options, error, text, folder)


@pytest.mark.parametrize(
    ("door", "given", "error", "text"),
    doors(WHOLE, rows_per_shard=lambda x: io.ShardWriter("/no/such/folder", x)),
)
def test_numbers_are_whole(door, given, error, text):
    refuses(door, given, error, text)


def test_shards_do_not_mix_with_files_that_are_there(folder):
    refuses(lambda x: io.ShardWriter(x, 2), folder, FileExistsError, "the folder holds a.nrt already")
    refuses(lambda x: io.ShardWriter(x, 2), folder / "a.nrt", FileExistsError, "")
    with pytest.raises(ValueError, match="narrow: cannot be used: all shards share their dtypes"):
        io.ShardWriter(folder / "b", 2, narrow=True)
    with (
        pytest.raises(TypeError, match="rows: expected a joint dict"),
        io.ShardWriter(folder / "b", 2) as writer,
    ):
        writer.append(3)
    assert sorted(os.listdir(folder)) == ["a.nrt"]


KEYS = {
    "vocabularies": ({"vocabularies": {1: ["a"]}}, "vocabularies: keys are strings, got 1"),
    "metadata": ({"metadata": {1: "a"}}, "metadata: expected strings, got 1: 'a'"),
    "row_ids": ({"row_ids": 1}, "row_ids: "),
}


@pytest.mark.parametrize(("options", "text"), KEYS.values(), ids=KEYS)
def test_keys_that_are_no_strings_are_refused_before_anything_is_written(options, text, tmp_path):
    rows = {"dim0/x": np.arange(2)}
    doors = {
        "Writer": lambda: io.Writer(tmp_path / "a.nrt", **options),
        "ShardWriter": lambda: io.ShardWriter(tmp_path / "shards", 3, **options),
        "save": lambda: io.save(tmp_path / "a.nrt", rows, **options),
    }
    if "metadata" not in options:
        doors["build"] = lambda: io.build([0], lambda part: rows, tmp_path / "built", **options)
    if "vocabularies" in options:
        doors["joint dict"] = lambda: Joint({"x": [[1]]}, **options)
    for door in doors.values():
        with pytest.raises((TypeError, ValueError), match=f"^{re.escape(text)}"):
            door()
    assert not list(tmp_path.iterdir())


def test_a_build_has_a_limit_of_workers(tmp_path):
    with pytest.raises(ValueError, match=r"^workers: expected at most 1024, got "):
        io.build([0], len, tmp_path / "built", workers=2**40)
    assert not list(tmp_path.iterdir())
