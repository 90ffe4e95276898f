"""Deleted rows taken out of files: the same rows before and after, and no more is written than has to be."""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import steps
import varlen as vl
from deep import mostly_deep
from growth import run_killed
from varlen import io
from varlen.io import compaction

HERE = os.path.dirname(steps.__file__)
N = 12
ROWS = {
    "id": list(range(N)),
    "word": [f"w{i % 4}" for i in range(N)],
    "x": [[[float(i), float("nan")]] * (i % 3) for i in range(N)],
    "day": np.arange(N).astype("datetime64[D]"),
}
DELETED = [0, 1, 5, 11]
KEPT = [i for i in range(N) if i not in DELETED]


def make(path, deletions=DELETED, **options):
    with io.ShardWriter(path, 3, row_ids="id", durable=False, **options) as writer:
        writer.append(ROWS)
    if deletions:
        vl.open(path).delete(deletions)
    return str(path)


def bytes_of(folder):
    result = {}
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as file:
            result[name] = file.read()
    return result


def texts(ds):
    """All that the rows say, where NaN is NaN."""
    return repr(ds[:].to_list())


@pytest.fixture(params=mostly_deep(["loop", "processes", "dask", "ray"], "loop", "processes"))
def engine(request, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([HERE, *sys.path]))
    if request.param == "ray":
        ray = pytest.importorskip("ray")
        ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
        yield {"engine": "ray"}
        ray.shutdown()
        return
    if request.param == "dask":
        pytest.importorskip("dask")
    yield {"loop": {}, "processes": {"workers": 2}, "dask": {"engine": "dask"}}[request.param]


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")
@pytest.mark.parametrize("checks", [False, True])
def test_only_files_with_deleted_rows_are_written_anew(tmp_path, engine, checks):
    folder = make(tmp_path / "a", checksums=checks)
    before, files = texts(vl.open(folder)), bytes_of(folder)
    shards = io.compact(folder, **engine)
    assert [os.path.basename(path) for path in shards.paths] == [
        "part-00000-1.nrt", "part-00001-1.nrt", "part-00002.nrt", "part-00003-1.nrt",
    ]  # fmt: skip
    assert shards.counts.tolist() == [1, 2, 3, 2]
    ds = vl.open(folder, verify="open" if checks else "never")
    assert texts(ds) == before
    assert ds.source.fields.keys() == ROWS.keys()
    assert len(ds.source.deletions) == 0
    now = bytes_of(folder)
    assert all(now[name] == raw for name, raw in files.items() if name != "index.json")
    assert now.keys() - files.keys() == {f"part-0000{i}-1.nrt" for i in (0, 1, 3)}
    if checks:
        assert io.verify(folder) == []


def test_what_the_files_say_beside_their_rows_stays(tmp_path):
    columns = {"x": io.SchemaColumn("number", "float32", level=1), "id": io.SchemaColumn("id", "int64")}
    schema = io.Schema(columns)
    path = tmp_path / "a"
    account = io.Account({"memory": 4})
    for name, count in (("id", 4), ("x", 6)):
        account.column(name).source.values = count
    with io.ShardWriter(
        path, 2, row_ids="id", schema=schema, account=account, metadata={"who": "me"}
    ) as writer:
        writer.append({"id": [5, 6, 7, 8], "x": [[1.0], [2.0, 3.0], [4.0], [5.0, 6.0]]})
    ds = vl.open(path)
    before = ds.source.file(1)
    rest = ds.delete(ids=[7])
    counted = rest.account
    counted.check()
    io.compact(path)
    now = vl.open(path)
    file = now.source.file(1)
    assert file.header.metadata["who"] == "me"
    assert (file.schema, file.row_ids) == (before.schema, "id")
    assert {n: (f.dim, f.dtype, f.tag) for n, f in file.fields.items()} == {
        n: (f.dim, f.dtype, f.tag) for n, f in before.fields.items()
    }
    account = now.account
    account.check()
    reason = account.rows.reasons["deleted"]
    assert (reason.left_out, reason.first) == (1, ["row 2"])
    assert {name: b.reasons["deleted"].left_out for name, b in account.columns.items()} == {"id": 1, "x": 1}
    assert account.rows.result.values == 3
    now.delete([0])
    io.compact(path)
    account = vl.open(path).account
    account.check()
    assert account.rows.reasons["deleted"].left_out == 2


def test_words_and_their_ids_stay(tmp_path):
    folder = make(tmp_path / "a", deletions=[i for i in range(N) if i % 4 != 3])
    ids = vl.open(folder)["word"]
    io.compact(folder)
    ds = vl.open(folder)
    assert ds.fields["word"].vocabulary == ("[PAD]", "w0", "w1", "w2", "w3")
    assert ds["word"].tolist() == ids.tolist()
    assert ds.source.file(0).fields["word"].dtype == np.int32


def test_readers_of_the_old_files_go_on_until_they_are_cleaned(tmp_path):
    folder = make(tmp_path / "a")
    read, lazy, every = vl.open(folder), vl.open(folder), vl.open(folder, mmap=False)
    whole = texts(read)
    io.compact(folder)
    assert all(texts(ds) == whole for ds in (lazy, every))
    assert all(texts(ds.reload()) == whole for ds in (read, lazy, every))
    io.compact(folder, clean=True)
    assert sorted(os.listdir(folder)) == [
        "index.json", "part-00000-1.nrt", "part-00001-1.nrt", "part-00002.nrt", "part-00003-1.nrt",
    ]  # fmt: skip
    assert texts(read) == whole
    assert texts(read.reload()) == whole
    other = make(tmp_path / "b")
    unread = vl.open(other)
    io.compact(other, clean=True)
    with pytest.raises(FileNotFoundError, match=r"is gone since .*; reload\(\) .*part-00001\.nrt"):
        texts(unread)
    assert texts(unread.reload()) == whole  # the files say what they were made of


def test_generations_follow_each_other(tmp_path):
    folder = make(tmp_path / "a")
    for rows in ([0], [0], [0, 1]):
        ds = vl.open(folder).delete(rows)
        io.compact(folder)
        assert texts(vl.open(folder)) == texts(ds)
    assert vl.open(folder)["id"].tolist() == KEPT[4:]
    table = bytes_of(folder)
    io.compact(folder)  # nothing is left to do
    assert bytes_of(folder) == table
    io.compact(folder, clean=True)
    assert set(os.listdir(folder)) == {"index.json", *map(os.path.basename, vl.open(folder).paths)}
    with io.ShardWriter(folder, 3, append=True) as writer:
        writer.append({name: values[:2] for name, values in ROWS.items()})
    assert vl.open(folder)["id"].tolist() == [*KEPT[4:], 0, 1]
    assert os.path.basename(vl.open(folder).paths[-1]) == "part-00004.nrt"


def test_an_append_keeps_what_is_to_be_cleaned(tmp_path):
    folder = make(tmp_path / "a")
    io.compact(folder)
    with io.ShardWriter(folder, 3, append=True) as writer:
        writer.append({name: values[-1:] for name, values in ROWS.items()})
    io.compact(folder, clean=True)
    assert len(os.listdir(folder)) == 1 + 5


def test_wrong_bytes_get_no_right_checksum(tmp_path):
    folder = make(tmp_path / "a", checksums=True)
    path = f"{folder}/part-00001.nrt"
    before = bytes_of(folder)
    with open(path, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        byte = file.read(1)
        file.seek(-1, os.SEEK_END)
        file.write(bytes([byte[0] ^ 1]))
    with pytest.raises(io.ChecksumError, match=r"part-00001\.nrt: dim"):
        io.compact(folder)
    assert bytes_of(folder)["index.json"] == before["index.json"]
    with open(path, "wb") as file:
        file.write(before["part-00001.nrt"])
    io.compact(folder)
    assert io.verify(folder) == []


COMPACT = "io.compact(sys.argv[1])\n"


@pytest.mark.parametrize("is_deep", mostly_deep([True, False], False))
def test_a_kill_at_any_step_changes_no_row_and_the_next_run_goes_on(tmp_path, is_deep):
    stop, code, resumed = 0, 9, 0
    checks, step = is_deep, 1 if is_deep else 5
    while code == 9:
        stop += step
        folder = make(tmp_path / str(stop), checksums=checks)
        before = texts(vl.open(folder))
        code = run_killed(COMPACT, folder, stop)
        ds = vl.open(folder, verify="open" if checks else "never")
        assert texts(ds) == before
        waiting = {name: os.stat(f"{folder}/{name}").st_ino for name in os.listdir(folder) if "shard" in name}
        io.compact(folder)
        assert texts(vl.open(folder)) == before
        inodes = {os.stat(path).st_ino for path in vl.open(folder).paths}
        resumed += sum(node in inodes for name, node in waiting.items() if name.endswith(".shard"))
        io.compact(folder, clean=True)
        assert set(os.listdir(folder)) == {"index.json", *map(os.path.basename, vl.open(folder).paths)}
        assert texts(vl.open(folder)) == before
    assert code == 0
    assert stop > 12
    assert resumed > 1  # files that were written are not written again


def test_a_kill_while_cleaning(tmp_path):
    stop, code = 0, 9
    while code == 9:
        stop += 3
        folder = make(tmp_path / str(stop))
        before = texts(vl.open(folder))
        io.compact(folder)
        code = run_killed("io.compact(sys.argv[1], clean=True)\n", folder, stop)
        assert texts(vl.open(folder)) == before
        io.compact(folder, clean=True)
        assert len(os.listdir(folder)) == 1 + 4
    assert stop > 3


def test_rows_deleted_after_a_stopped_run_are_taken_out_too(tmp_path):
    folder = make(tmp_path / "a")
    stop = 4
    while not any(name.endswith(".shard") for name in os.listdir(folder)):
        assert run_killed(COMPACT, folder, stop) == 9
        stop += 3
    before = texts(vl.open(folder).delete([0]))
    io.compact(folder, clean=True)
    assert vl.open(folder)["id"].tolist() == KEPT[1:]
    assert texts(vl.open(folder)) == before


def test_readers_see_the_same_rows_all_the_time(tmp_path):
    folder = make(tmp_path / "a", deletions=[])
    seen, faults, done = [], [], threading.Event()

    def read():
        while not done.is_set():
            try:
                seen.append(tuple(vl.open(folder)["id"].tolist()))
            except Exception as error:
                faults.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    states = [tuple(range(N))]
    for row in (0, 3, 3, 6):
        states.append(tuple(vl.open(folder).delete([row])["id"].tolist()))
        io.compact(folder, durable=False)
    done.set()
    thread.join()
    assert faults == []
    assert set(seen) <= set(states)
    order = [states.index(state) for state in seen]
    assert order == sorted(order)


def test_names_of_other_writers_are_kept_apart(tmp_path):
    folder = make(tmp_path / "a")
    for name in ("part-00000.nrt", "part-00001.nrt"):
        os.rename(f"{folder}/{name}", f"{folder}/x{name}")
    with open(f"{folder}/index.json") as file:
        text = file.read().replace('"part-00000', '"xpart-00000').replace('"part-00001', '"xpart-00001')
    with open(f"{folder}/index.json", "w") as file:
        file.write(text)
    before = texts(vl.open(folder))
    io.compact(folder, clean=True)
    assert texts(vl.open(folder)) == before
    assert [os.path.basename(path) for path in vl.open(folder).paths] == [
        "part-00004-1.nrt", "part-00005-1.nrt", "part-00002.nrt", "part-00003-1.nrt",
    ]  # fmt: skip


def test_what_cannot_be_compacted_is_named(tmp_path):
    folder = make(tmp_path / "a", deletions=[])
    path = vl.open(folder).paths[0]
    with pytest.raises(ValueError, match="compact: is a file, and rows are deleted from folders"):
        io.compact(path)
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        io.compact(tmp_path / "none")
    os.mkdir(tmp_path / "empty")
    with pytest.raises(ValueError, match=r"has no index\.json"):
        io.compact(tmp_path / "empty")
    with pytest.raises(ValueError, match="engine"):
        io.compact(folder, engine="none")
    with pytest.raises(TypeError, match="clean"):
        io.compact(folder, clean=np.zeros(2))
    assert io.compact(f"{folder}/index.json").counts.tolist() == [3, 3, 3, 3]


def varlen(*arguments):
    command = [sys.executable, "-m", "varlen", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_command_says_what_it_did(tmp_path):
    folder = make(tmp_path / "a")
    assert "8 rows, 4 deleted, " in varlen("info", folder).stdout
    result = varlen("compact", folder)
    assert result.returncode == 0
    assert result.stdout.startswith(f"{folder}: 8 rows, ")
    assert "4 deleted rows taken out of 3 files; the old ones stay until --clean" in result.stdout
    assert varlen("compact", "--clean", "--quiet", folder).stdout == ""
    assert len(os.listdir(folder)) == 5
    result = varlen("compact", tmp_path / "none")
    assert (result.returncode, "no such folder" in result.stderr) == (1, True)


def test_compressed_files_stay_compressed(tmp_path):
    rows = {"x": [[i * k for k in range(50)] for i in range(20)], "id": list(range(20))}
    with io.ShardWriter(tmp_path / "a", 10, compress=True, checksums=True) as writer:
        writer.append(rows)
    ds = vl.open(tmp_path / "a").delete([3, 12, 13])
    batch = ds.batch([0, 3, 16], layout="ragged")
    assert batch["id"].tolist() == [0, 4, 19]
    assert batch["dim1/offsets"].tolist() == [0, 50, 100, 150]
    before = ds[:].to_list()
    io.compact(tmp_path / "a", clean=True)
    now = vl.open(tmp_path / "a", verify="read")
    assert now[:].to_list() == before
    assert now.source.decodes
    assert io.verify(tmp_path / "a") == []


@pytest.mark.parametrize("share", [0.001, 0.1, 0.9])
def test_a_file_says_which_rows_it_left_out(tmp_path, share):
    rows = np.flatnonzero(np.random.default_rng(3).random(50_000) < share)
    source = compaction.CompactedFile("part-00000.nrt", 50_000, 7, 2**60, rows)
    text = json.dumps([source.as_entry()])
    assert len(text) < 200 + 2 * len(rows)
    io.save(tmp_path / "a.nrt", {"dim0/x": np.arange(3)}, metadata={"compact.sources": text})
    [again] = compaction.sources_of(io.open_file(tmp_path / "a.nrt"))
    assert again[:4] == source[:4]
    np.testing.assert_array_equal(again.deletions, rows)
    entry = source.as_entry()
    for wrong in ("", "{", "[[]]", "3", "[" * 9999, [[*entry[:4], "x"]], [[*entry[:4], entry[4][:-8]]],
                  [["a", 5, 1, 1, entry[4]]], [[1, *entry[1:]]], [["a", -1, 1, 1, entry[4]]]):  # fmt: skip
        wrong = wrong if isinstance(wrong, str) else json.dumps(wrong)
        io.save(tmp_path / "a.nrt", {"dim0/x": np.arange(3)}, metadata={"compact.sources": wrong})
        assert compaction.sources_of(io.open_file(tmp_path / "a.nrt")) == []


def test_rows_of_a_file_that_does_not_say_are_compared(tmp_path, monkeypatch):
    monkeypatch.setattr(compaction, "_MOST_SOURCES", 10)
    folder = make(tmp_path / "a")
    ds = vl.open(folder)
    whole = texts(ds)
    io.compact(folder)
    assert texts(ds.reload()) == whole
    assert {
        io.open_file(path).user_metadata.get("compact.sources", "[]") for path in vl.open(folder).paths
    } == {"[]"}
