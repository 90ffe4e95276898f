"""Many files as one sequence: opened by name or index; rows and windows touch their own bytes only."""

import gc
import json
import os
import pickle
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from test_io_file import content, entries, save
from varlen import _core, io
from varlen.io import FileFormatError, ShardSet, StaleFileError
from varlen.io.schema import Field
from varlen.io.shard_index import Shard
from varlen.joint import JointNestedRaggedTensorDict as Joint

GOLDEN = Path(__file__).parents[2] / "golden"
BOTH = pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])


@pytest.fixture
def folder(tmp_path):
    for i, n in enumerate((3, 0, 4)):
        part = entries(n, seed=i)
        part["dim0/id"] += 1000 * i
        io.save(tmp_path / f"part-{i}.nrt", part, row_ids="id")
    return tmp_path


def rows_of(source):
    """What every row holds, by slicing the shards' own joints: the plain way."""
    return [content(joint.row(i)) for joint in source.joints for i in range(len(joint))]


@BOTH
def test_a_folder_a_list_and_a_pattern_are_the_same_sequence(folder, mmap):
    source = io.open_shards(folder, mmap=mmap)
    assert len(source) == 7
    assert source.counts.tolist() == [3, 0, 4]
    assert source.offsets.tolist() == [0, 3, 3, 7]
    expected = rows_of(source)
    names = sorted(os.listdir(folder))
    for path in ([folder / name for name in names], str(folder / "part-?.nrt"), str(folder / "*")):
        assert rows_of(io.open_shards(path, mmap=mmap)) == expected
    assert [content(row) for row in source] == expected
    assert [content(source.read(i)) for i in range(7)] == expected
    assert repr(source) == "ShardSet(3 files, 7 rows, 4 keys, depth 2)"
    assert len(io.open_shards(folder / "part-0.nrt", mmap=mmap)) == 3


@BOTH
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_rows_and_windows_read_as_they_slice(tmp_path_factory, mmap, data):
    folder = tmp_path_factory.mktemp("shards")
    for i in range(2):
        io.save(
            folder / f"{i}.nrt", entries(data.draw(st.integers(0, 5)), seed=data.draw(st.integers(0, 99)))
        )
    source = io.open_shards(folder, mmap=mmap)
    n = len(source)
    rows = data.draw(st.lists(st.integers(-n, n - 1), max_size=6) if n else st.just([]))
    window = st.one_of(st.none(), st.lists(st.integers(-4, 4), min_size=len(rows), max_size=len(rows)))
    starts, ends = data.draw(window), data.draw(window)
    many = source.read_many(rows, starts, ends)
    assert len(many) == len(rows)
    many.check()
    joints = [joint.row(i) for joint in source.joints for i in range(len(joint))]
    for at, row in enumerate(rows):
        begin = None if starts is None else starts[at]
        end = None if ends is None else ends[at]
        expected = joints[row].get(slice(begin, end))
        got = many.row(at)
        for name, dim in zip(got.names, got.dims, strict=True):
            if dim >= 0:
                assert got.values(name).tolist() == expected.values(name).tolist()
        assert got.bounds(1).tolist() == expected.bounds(1).tolist()
        assert many.select(["id"]).values("id")[at] == joints[row].values("id")[0]
        assert content(source.read(row, begin, end)) == content(got)


def test_reads_of_a_window_touch_its_bytes_only(tmp_path):
    n, wide = 1000, 100
    path = tmp_path / "a.nrt"
    values = np.arange(n * wide * 4, dtype=np.float64)
    tensors = {"dim1/bounds": np.arange(1, n + 1) * wide, "dim2/bounds": np.arange(1, n * wide + 1) * 4}
    io.save(path, {**tensors, "dim2/x": values, "dim1/t": np.arange(n * wide), "dim0/s": np.arange(n)})
    source = io.open_shards(path, mmap=False)

    def read_bytes():
        text = Path("/proc/self/io").read_text()
        return int(next(line for line in text.splitlines() if line.startswith("rchar")).split()[1])

    overhead = -read_bytes() + read_bytes()
    before = read_bytes()
    window = source.read(500, 10, 15)
    touched = read_bytes() - before - overhead
    assert window.values("x").tolist() == values[(500 * wide + 10) * 4 : (500 * wide + 15) * 4].tolist()
    # Two bounds, the row's own value, five times and their bounds with the one in front, twenty values.
    assert touched <= 2 * 8 + 8 + 5 * 8 + 6 * 8 + 20 * 8 + 64
    before = read_bytes()
    source.read_many(np.arange(0, n, 10), np.zeros(100, int), np.ones(100, int))
    assert read_bytes() - before - overhead <= 100 * (2 * 8 + 8 + 8 + 2 * 8 + 4 * 8) + 64


@BOTH
def test_keys_can_be_chosen(folder, mmap):
    source = io.open_shards(folder, mmap=mmap, keys=["t"])
    assert source.names == ["t"]
    assert source.depth == 1
    assert source.read(0).names == ["t"]
    assert [joint.names for joint in source.joints] == [["t"], ["t"], ["t"]]
    with pytest.raises(KeyError, match="nope"):
        io.open_shards(folder, mmap=mmap, keys=["t", "nope"])


@BOTH
def test_rows_are_found_by_their_ids(folder, mmap):
    source = io.open_shards(folder, mmap=mmap)
    ids = np.concatenate([joint.values("id") for joint in source.joints])
    rng = np.random.default_rng(0)
    order = rng.permutation(len(ids))
    assert source.rows_of(ids[order]).tolist() == order.tolist()
    assert source.rows_of(ids[3]) == 3
    assert source.rows_of([]).tolist() == []
    with pytest.raises(KeyError, match="5 at position 1 is no row's id"):
        source.rows_of([ids[0], 5])
    io.save(folder / "part-1.nrt", entries(3, seed=0), row_ids="id")
    with pytest.raises(ValueError, match=r"rows \d+ and \d+ both have the id 10"):
        io.open_shards(folder, mmap=mmap).rows_of([1])
    safetensors.numpy.save_file(entries(3), folder / "plain.nrt")
    with pytest.raises(ValueError, match="hold no row ids"):
        io.open_shards(folder / "plain.nrt", mmap=mmap).rows_of([1])


@BOTH
def test_rows_are_found_by_ids_that_are_words(tmp_path, mmap):
    io.save(
        tmp_path / "a.nrt",
        {"dim0/who": np.array(["bob", "ann", "éva"]), "dim0/x": np.arange(3)},
        row_ids="who",
    )
    source = io.open_shards(tmp_path, mmap=mmap)
    assert source.rows_of(["éva", "bob"]).tolist() == [2, 0]
    assert source.rows_of("ann") == 1
    with pytest.raises(KeyError, match="zoe at position 1 is no row's id"):
        source.rows_of(["ann", "zoe"])


@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ([7], IndexError, "7 at position 0 is out of range for 7 rows"),
        ([0, -8], IndexError, "-8 at position 1"),
        ([0.5], TypeError, "expected integers"),
        (["a"], TypeError, "expected integers"),
    ],
)
def test_rows_that_are_not_there_are_refused(folder, rows, error, text):
    with pytest.raises(error, match=text) as raised:
        io.open_shards(folder).read_many(rows)
    if error is IndexError:
        assert raised.value.number == rows[raised.value.row]


def test_windows_must_be_one_a_row(folder):
    source = io.open_shards(folder)
    with pytest.raises(ValueError, match="expected one a row, 2"):
        source.read_many([0, 1], [0, 1, 2])
    with pytest.raises(TypeError, match="expected integers"):
        source.read_many([0, 1], [0.0, 1.0])
    io.save(folder / "flat.nrt", {"dim0/x": np.arange(3)})
    assert io.open_shards(folder / "flat.nrt").read(1).values("x").tolist() == [1]
    with pytest.raises(ValueError, match="have no windows"):
        io.open_shards(folder / "flat.nrt").read(1, 0, 1)


SECOND = {
    "a key less": (lambda e: e.pop("dim1/t"), "has no key 't'"),
    "a key more": (lambda e: e.update({"dim0/new": e["dim0/id"]}), "has keys \\['new'\\]"),
    "another dtype": (
        lambda e: e.update({"dim1/t": e["dim1/t"].astype("M8[s]")}),
        r"'t' .* dtype datetime64\[s\] instead of float32",
    ),
    "another dim": (
        lambda e: e.update({"dim2/t": e["dim2/code"].astype("f4"), "dim1/t": None}),
        "'t' .* dim 2 instead of 1",
    ),
    "another shape": (
        lambda e: e.update({"dim2/point": e["dim2/point"][:, :2]}),
        r"'point' .* \(2,\) instead of \(3,\)",
    ),
    "words": (lambda e: e.update({"dim2/code": e["dim2/code"].astype(str)}), "'code'"),
}


@BOTH
@pytest.mark.parametrize("change", SECOND)
def test_shards_that_do_not_fit_are_named(folder, change, mmap):
    part = entries(3, seed=8)
    alter, text = SECOND[change]
    alter(part)
    io.save(
        folder / "part-1.nrt",
        {name: array for name, array in part.items() if array is not None},
        row_ids="id",
    )
    with pytest.raises(FileFormatError, match=f"part-1.nrt.*{text}"):
        io.open_shards(folder, mmap=mmap)


def test_vocabularies_may_grow_from_shard_to_shard(tmp_path):
    def word(path, ids, words):
        io.save(tmp_path / path, {"dim0/w": np.array(ids)}, vocabularies={"w": words})

    word("a.nrt", [0, 1], ["x", "y"])
    word("b.nrt", [2, 0], ["x", "y", "z"])
    assert io.open_shards(tmp_path).fields["w"].vocabulary == ("x", "y", "z")
    word("b.nrt", [1, 0], ["y", "x"])
    with pytest.raises(FileFormatError, match=r"b\.nrt: key 'w' .* another vocabulary"):
        io.open_shards(tmp_path)


def test_paths_that_lead_nowhere_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no \.nrt file in folder"):
        io.open_shards(tmp_path)
    with pytest.raises(FileNotFoundError, match="no file is called"):
        io.open_shards(str(tmp_path / "*.nrt"))
    with pytest.raises(FileNotFoundError):
        io.open_shards(tmp_path / "a.nrt")
    with pytest.raises(ValueError, match="list of files is empty"):
        io.open_shards([])
    with pytest.raises(TypeError, match="expected a path"):
        io.open_shards(7)
    with pytest.raises(ValueError, match=r"^path: expected a path, got ''$"):
        io.open_shards("")  # not the folder that the process is in


def test_a_cache_is_a_folder_for_files_behind_urls(folder):
    for paths in (folder, [folder], str(folder / "*.nrt")):
        with pytest.raises(ValueError, match=r"cache: .* is no URL; only files behind URLs are copied"):
            io.open_shards(paths, cache=folder)
    with pytest.raises(TypeError, match="cache: expected a folder, got bool"):
        io.open_shards("memory://shards", cache=True)


def test_threads_that_open_shards_lose_no_words(tmp_path, monkeypatch):
    words = ["a", "b", "c", "d"]
    paths = [str(tmp_path / f"{i}.nrt") for i in range(4)]
    for i, path in enumerate(paths):
        Joint({"w": [words[: i + 1]]}, schema={"w": str}).save(path)
    fields = io.open_file(paths[0]).fields
    source = ShardSet(tuple(Shard(path, 1, fields=fields) for path in paths), True, None)
    real = Field.join

    def slowly(self, other):
        joined = real(self, other)
        time.sleep(0.05)  # others join theirs meanwhile, where they may
        return joined

    monkeypatch.setattr(Field, "join", slowly)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(source.file, [3, 2, 1]))
    assert source.fields["w"].vocabulary == ("[PAD]", *words)
    assert source.read(3).meta["vocabularies"]["w"] == ("[PAD]", *words)


@BOTH
def test_an_index_is_believed_as_far_as_files_bear_it_out(tmp_path, mmap):
    path = tmp_path / "data"
    with io.ShardWriter(path, rows_per_shard=2, row_ids="id") as writer:
        writer.append(entries(5))
    index = json.loads((path / "index.json").read_text())
    source = io.open_shards(path, mmap=mmap)
    assert [file is not None for file in source._files] == [True, False, False]  # the rest when it is needed
    assert rows_of(io.open_shards(path / "index.json", mmap=mmap)) == rows_of(source)

    def refused(text, opens=True, **changes):
        (path / "index.json").write_text(json.dumps({**index, **changes}))
        with pytest.raises(FileFormatError, match=text):
            io.open_shards(path, mmap=mmap).validate() if opens else io.open_shards(path, mmap=mmap)

    shards = index["shards"]
    refused("says 6 rows, its shards have 5", rows=6)
    refused("not an index of shards", format="other")
    refused("version 3", version=3)
    refused("no list of shards", shards={})
    refused("shard 0 has no path", shards=[{}])
    refused("is not the name of a file in its folder", shards=[{**shards[0], "path": "../a.nrt"}])
    refused("is not the name of a file in its folder", shards=[{**shards[0], "path": "/etc/passwd"}])
    refused("shard 'no.nrt': No such file", shards=[{**shards[0], "path": "no.nrt"}])
    refused("has True rows", shards=[{**shards[0], "rows": True}])
    refused("has -1 rows", shards=[{**shards[0], "rows": -1}])
    refused(r"part-00000.nrt' has \d+ bytes, the index says 5", shards=[{**shards[0], "size": 5}])
    refused(
        r"part-00001.nrt: has 2 rows, its index says 3", shards=[shards[0], {**shards[1], "rows": 3}], rows=5
    )
    refused(
        "key 't' does not fit what the index says", keys={"t": {"dim": 2, "tag": "F32", "dtype": "float32"}}
    )
    refused("key 't': not a dim", keys={"t": {}})
    refused("key 't': not a dim", keys={"t": {"dim": 1, "tag": ["F32"]}})
    refused(
        "part-00002.nrt: has 1 rows, its index says 0", shards=[*shards[:2], {**shards[2], "rows": 0}], rows=4
    )
    (path / "index.json").write_text("[" * 100_000)
    with pytest.raises(FileFormatError, match="not JSON"):
        io.open_shards(path)


@BOTH
def test_sources_pickle_and_notice_other_files(folder, mmap):
    source = io.open_shards(folder, mmap=mmap)
    expected = rows_of(source)
    pickled = pickle.dumps(source)
    del source
    assert rows_of(pickle.loads(pickled)) == expected
    pickle.loads(pickled).check()
    save(folder / "part-2.nrt", n=4, seed=9)
    with pytest.raises(StaleFileError, match=r"part-2\.nrt: is not the file that was opened"):
        pickle.loads(pickled).validate()


@BOTH
@pytest.mark.parametrize("how", ["replaced", "written"])
@pytest.mark.parametrize("when", ["before unpickling", "after unpickling", "after another shard was read"])
def test_shards_of_the_same_size_are_told_apart_after_unpickling(tmp_path, mmap, how, when):
    with io.ShardWriter(tmp_path / "s", 2) as writer:
        writer.append({"dim0/x": np.arange(6)})
    path, other = tmp_path / "s" / "part-00001.nrt", tmp_path / "other.nrt"
    source = io.open_shards(tmp_path / "s", mmap=mmap)
    assert source.read_many(range(6)).values("x").tolist() == [0, 1, 2, 3, 4, 5]
    pickled, before = pickle.dumps(source), path.stat()
    unindexed = pickle.dumps(io.open_shards(str(tmp_path / "s" / "part-*")))
    del source
    gc.collect()  # no handle is left that could be given again

    def replace():
        io.save(other, {"dim0/x": np.array([70, 71])})
        assert other.stat().st_size == before.st_size
        if how == "replaced":
            other.replace(path)
            os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        else:
            path.write_bytes(other.read_bytes())

    if when == "before unpickling":
        replace()
    source = pickle.loads(pickled)
    if when == "after unpickling":
        replace()
    assert source.read(0).values("x").tolist() == [0]
    if when == "after another shard was read":
        replace()
    assert source.read(5).values("x").tolist() == [5]
    for read in (lambda: source.read(2), lambda: pickle.loads(unindexed)):
        with pytest.raises(StaleFileError, match=r"part-00001\.nrt: is not the file that was opened"):
            read()


def test_a_mapped_shard_that_was_cut_is_not_touched(folder):
    source = io.open_shards(folder)
    source.guard()
    os.truncate(folder / "part-2.nrt", 100)
    with pytest.raises(StaleFileError, match=r"part-2\.nrt: was changed in place"):
        source.read_many([0, 6])
    with pytest.raises(StaleFileError, match=r"part-2\.nrt: was changed in place"):
        source.guard()
    source.guard([0, 1])
    assert len(source.read_many([0, 1])) == 2


@pytest.mark.parametrize("rows", [[], [0], [6, 0, 0, 3]])
def test_prefetch_takes_any_rows(folder, rows):
    for keys in (None, ["t"]):
        source = io.open_shards(folder, keys=keys)
        source.prefetch(rows)
        source.prefetch(rows, np.zeros(len(rows), int), np.ones(len(rows), int))
        assert len(source.read_many(rows)) == len(rows)


@BOTH
@pytest.mark.parametrize("name", ["first_generation", "nested_ragged_tensors_0_3_0"])
def test_files_of_every_generation_are_read(name, mmap):
    source = io.open_shards(GOLDEN / f"{name}.safetensors", mmap=mmap)
    assert sorted(source.names) == ["S", "T", "id", "val"]
    assert [source.fields[key].dim for key in ("S", "T", "id")] == [0, 1, 2]
    joint = source.joint(0)
    assert joint.row(1).values("T").tolist() == [4, 5]
    assert joint.row(2).bounds(1).tolist() == [0, 2]
    assert source.read(0, 1, 3).values("id").tolist() == [3, 4, 1, 2]
    assert source.read_many([2, 0]).values("S").tolist() == [9, 7]
    source.validate()


@BOTH
def test_levels_of_lengths_alone_are_added_up(tmp_path, mmap):
    path = tmp_path / "a.nrt"
    tensors = {"dim1/lengths": np.array([2, 0, 1]), "dim1/x": np.arange(3), "dim0/y": np.arange(3)}
    safetensors.numpy.save_file(tensors, path)
    source = io.open_shards(path, mmap=mmap)
    assert sorted(source.names) == ["x", "y"]
    assert isinstance(source.file(0).level(1), _core.Level)
    assert source.read_many([2, 1, 0]).values("x").tolist() == [2, 0, 1]
    tensors["dim1/lengths"] = np.array([2, -1, 2])
    safetensors.numpy.save_file(tensors, path)
    with pytest.raises(FileFormatError, match="negative length"):
        io.open_shards(path, mmap=mmap).read(0)
    tensors["dim1/lengths"] = np.array([2, 1, 1])
    safetensors.numpy.save_file(tensors, path)
    with pytest.raises(FileFormatError, match="adds up to 4, but dim 1 has 3 rows"):
        io.open_shards(path, mmap=mmap).read(0)


@BOTH
def test_a_key_called_lengths_is_a_key(tmp_path, mmap):
    path = tmp_path / "a.nrt"
    tensors = {"dim1/bounds": np.array([1, 3]), "dim1/lengths": np.array([7, 8, 9])}
    for metadata in (None, {"varlen.version": "1"}):
        safetensors.numpy.save_file(tensors, path, metadata)
        assert io.open_shards(path, mmap=mmap).read(1).values("lengths").tolist() == [8, 9]
    tensors["dim1/lengths"] = np.array([1, 2])
    safetensors.numpy.save_file(tensors, path, {"varlen.version": "1"})
    with pytest.raises(FileFormatError, match="lengths: has 2 rows, but dim 1 has 3"):
        io.open_shards(path, mmap=mmap).names  # noqa: B018


def test_upstream_reads_what_is_written_here(tmp_path):
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy")
    path = tmp_path / "a.nrt"
    io.save(path, {name: array for name, array in entries(6).items() if array.ndim == 1}, row_ids="id")
    theirs = upstream.JointNestedRaggedTensorDict(tensors_fp=path)
    theirs.tensors  # noqa: B018 - loads it, for upstream cannot read an empty last row from a file
    ours = io.open_shards(path)
    assert theirs.keys() == set(ours.names)
    for row in range(6):
        got, expected = theirs[row].tensors, ours.read(row)
        for name, dim in zip(expected.names, expected.dims, strict=True):
            if dim >= 0:
                assert got[f"dim{dim}/{name}"].tolist() == expected.values(name).tolist()
    back = tmp_path / "b.nrt"
    theirs.save(back)
    assert rows_of(io.open_shards(back)) == rows_of(ours)


@BOTH
@pytest.mark.parametrize("windows", [{}, {"starts": 0, "ends": 1}])
def test_rows_carry_the_words_of_all_shards_and_their_ids(tmp_path, mmap, windows):
    for i, words in enumerate((["a", "b"], ["a", "b", "c"])):
        rows = {"dim0/id": np.arange(2) + 2 * i, "dim1/bounds": np.array([1, 2]), "dim1/w": np.array([0, 1])}
        io.save(tmp_path / f"{i}.nrt", rows, vocabularies={"w": words}, row_ids="id")
    source = io.open_shards(tmp_path, mmap=mmap)
    found = {"vocabularies": {"w": ("a", "b", "c")}, "row_ids": "id"}
    assert source.read_many([3, 0], **windows).meta == found
    assert source.read_many([0], **windows).meta == found
    assert [joint.meta for joint in source.joints] == [found, found]
    assert io.open_file(tmp_path / "0.nrt").joint(["w"]).meta == {"vocabularies": {"w": ("a", "b")}}


@BOTH
def test_shards_of_other_row_ids_are_refused(tmp_path, mmap):
    io.save(tmp_path / "0.nrt", {"dim0/a": np.arange(2), "dim0/b": np.arange(2)}, row_ids="a")
    for other in ("b", None):
        io.save(tmp_path / "1.nrt", {"dim0/a": np.arange(2), "dim0/b": np.arange(2)}, row_ids=other)
        with pytest.raises(FileFormatError, match=rf"1\.nrt: row ids are {other!r}, .* have 'a'"):
            io.open_shards(tmp_path, mmap=mmap)
