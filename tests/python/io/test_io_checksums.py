"""Checksums: every flipped byte is found, when it was asked for, and what is found names file and tensor."""

import json
import pickle
import shutil
import sys
import tempfile

import numpy as np
import pytest
import varlen as vl
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io

ROWS = {
    "dim0/id": np.array([7, 9, 300]),
    "dim1/bounds": np.array([2, 3, 3]),
    "dim1/time": np.arange(3.0),
    "dim1/word": np.array(["a", "b", "a"]),
    "dim2/bounds": np.array([1, 1, 4]),
    "dim2/code": np.array([5, 6, 7, 8], np.uint8),
}


def write(path, **options):
    io.save(path, ROWS, row_ids="id", checksums=True, durable=False, **options)
    return path


def shards(folder, rows=7, **options):
    with io.ShardWriter(folder, 3, checksums=True, durable=False, **options) as writer:
        for first in range(0, rows, 2):
            lists = [[n] * (n % 4) for n in range(first, min(first + 2, rows))]
            writer.append({"x": lists, "word": [f"w{n % 3}" for n in range(first, first + len(lists))]})
    return folder


@pytest.fixture(params=[False, True], ids=["plain", "compressed"])
def compress(request):
    return request.param


def flip(path, at, bits=1):
    raw = bytearray(path.read_bytes())
    raw[at] ^= bits
    path.write_bytes(raw)


def begin_of(path, full):
    """The first byte of a tensor in its file."""
    header = io.read_header(path)
    name = full if full in header.names else f"compressed/{full}"
    return header.data_start + header.describe(header.names.index(name))[3]


def test_checksums_are_those_of_xxhash_and_other_readers_ignore_them(tmp_path):
    from safetensors.numpy import load_file

    path = write(tmp_path / "a.nrt")
    file, arrays = io.open_file(path), load_file(path)
    assert file.checksums == {
        name: f"xxh3_64:{xxhash.xxh3_64_hexdigest(array.tobytes())}" for name, array in arrays.items()
    }
    io.save(tmp_path / "plain.nrt", ROWS, row_ids="id")
    assert vl.open(path)[:].to_list() == vl.open(tmp_path / "plain.nrt")[:].to_list()
    assert io.open_file(tmp_path / "plain.nrt").checksum is None
    upstream = pytest.importorskip("nested_ragged_tensors.ragged_numpy").JointNestedRaggedTensorDict
    assert upstream(tensors_fp=path)[0].to_dense()["code"].tolist() == [[5], [0]]


@pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])
@pytest.mark.parametrize("bits", [1, 0x20, 0x80])
def test_a_flip_of_every_byte_of_a_file_is_found(tmp_path, mmap, bits, compress):
    path = write(tmp_path / "a.nrt", compress=compress)
    whole = path.read_bytes()
    for at in range(len(whole)):
        flip(path, at, bits)
        with pytest.raises(io.FileFormatError) as caught:
            vl.open(path, mmap=mmap, verify="open")
        assert caught.value.file == str(path)
        path.write_bytes(whole)
    vl.open(path, mmap=mmap, verify="open")


def test_a_flip_of_every_byte_of_a_folder_is_found_by_verify(tmp_path, compress):
    folder = shards(tmp_path / "a", compress=compress)
    assert io.verify(folder) == []
    for path in sorted(folder.iterdir()):
        whole = path.read_bytes()
        for at in range(len(whole)):
            flip(path, at)
            faults = io.verify(folder)
            assert [fault.file for fault in faults] == [str(path)], at
            path.write_bytes(whole)
    assert io.verify(folder) == []


@settings(max_examples=40, deadline=None)
@given(
    lists=st.lists(st.lists(st.integers(-9, 9), max_size=4), min_size=1, max_size=9),
    size=st.integers(1, 4),
    at=st.floats(0, 1, exclude_max=True),
    bits=st.integers(1, 255),
    compress=st.booleans(),
)
def test_rows_come_back_and_flips_are_found_in_any_shape(lists, size, at, bits, compress):
    from pathlib import Path

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "a"
        with io.ShardWriter(folder, size, checksums=True, durable=False, compress=compress) as writer:
            writer.append({"x": [np.array(row, np.int64) for row in lists]})
        ds = vl.open(folder, verify="read")
        assert [ds[i].to_list()["x"] for i in range(len(lists))] == lists
        files = sorted(folder.iterdir())
        sizes = np.cumsum([path.stat().st_size for path in files])
        place = int(at * sizes[-1])
        which = int(np.searchsorted(sizes, place, side="right"))
        flip(files[which], place - int(sizes[which]), bits)  # counted from its end
        assert [fault.file for fault in io.verify(folder)] == [str(files[which])]
        with pytest.raises(io.FileFormatError):
            vl.open(folder, verify="open")


def test_a_fault_names_its_file_its_tensor_and_both_checksums(tmp_path, compress):
    path = write(tmp_path / "a.nrt", compress=compress)
    expected = io.open_file(path).checksums["compressed/dim2/code" if compress else "dim2/code"]
    flip(path, begin_of(path, "dim2/code"))
    (fault,) = io.verify(path)
    assert isinstance(fault, io.ChecksumError)
    assert (fault.file, fault.argument, fault.key, fault.dim) == (str(path), "dim2/code", "code", 2)
    assert fault.expected == expected != fault.found
    assert str(fault) == (
        f"{path}: dim2/code: the checksum is {fault.found}, expected {expected}: "
        "its bytes are not those that were written"
    )
    again = pickle.loads(pickle.dumps(fault))
    assert (str(again), again.key, again.found) == (str(fault), "code", fault.found)


READS = {
    "batch": lambda ds: ds.batch([0]),
    "tensors": lambda ds: pytest.importorskip("torch") and ds.batch([0], framework="torch"),
    "ragged": lambda ds: ds.batch([-1], layout="ragged"),
    "window": lambda ds: ds.batch([0], max_len=1, window="random", seed=0),
    "row": lambda ds: ds[0],
    "slice": lambda ds: ds[0:2],
    "rows": lambda ds: ds[[1, 0]],
    "key": lambda ds: ds["code"],
    "view": lambda ds: ds.select([1, 0]).batch([0]),
    "chain": lambda ds: ds.concat(vl.Dataset(ds_in_memory())).batch([0]),
    "more keys": lambda ds: ds.with_key("more", np.arange(3)).batch([0]),
    "loader": lambda ds: list(vl.data.Loader(ds, 2)),
    "epoch": lambda ds: list(ds.epoch(2)),
    "collate": lambda ds: ds.collate([0]),
    "items": lambda ds: ds.__getitems__([0])[0].to_list(),
    "map": lambda ds: ds.map(lambda row: row, ds.paths[0] + "2"),
    "save": lambda ds: ds.save(ds.paths[0] + "2"),
    "frame": lambda ds: pytest.importorskip("pyarrow").table(ds),
    "validate": lambda ds: ds.source.validate(),
    "joints": lambda ds: ds.source.joints,
    "read": lambda ds: ds.source.read(0),
    "worker": lambda ds: pickle.loads(pickle.dumps(ds)).batch([0]),
}


def ds_in_memory():
    return vl.JointNestedRaggedTensorDict(
        {"id": [1], "time": [[0.5]], "word": [["a"]], "code": [[[1]]]}, row_ids="id"
    )


@pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])
@pytest.mark.parametrize("name", READS)
def test_each_first_read_finds_a_flip(tmp_path, name, mmap, compress):
    path = write(tmp_path / "a.nrt", compress=compress)
    READS[name](vl.open(path, mmap=mmap, verify="read"))
    flip(path, begin_of(path, "dim2/code") + 2)  # of the last row, which a read of the first finds too
    ds = vl.open(path, mmap=mmap, verify="read")
    with pytest.raises(io.ChecksumError, match="dim2/code"):
        READS[name](ds)
    assert vl.open(path, mmap=mmap)[0].to_list()["code"] == [[5], []]  # nobody asked


@pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])
@pytest.mark.parametrize(
    ("full", "read"),
    [
        ("dim1/bounds", lambda ds: ds.lengths),
        ("dim2/bounds", lambda ds: ds.lengths_at(2)),
        ("dim0/id", lambda ds: ds.rows_of([7])),
        ("dim0/id", lambda ds: ds.filter(lambda rows: rows["id"] > 8)),
        ("dim1/bounds", lambda ds: ds.batch([0], keys=["time"])),
        ("dim1/bounds", lambda ds: ds.with_key("more", np.arange(3), ).batch([0], keys=["time"])),
        ("dim1/bounds", lambda ds: ds.source.prefetch([0]) or ds.source.read_many([0], 0, 1)),
    ],
)  # fmt: skip
def test_levels_and_ids_are_verified_too(tmp_path, full, read, mmap, compress):
    path = write(tmp_path / "a.nrt", compress=compress)
    flip(path, begin_of(path, full))
    with pytest.raises(io.FileFormatError, match=full):
        read(vl.open(path, mmap=mmap, verify="read"))


def test_only_what_is_read_is_verified_and_only_once(tmp_path, compress):
    path = write(tmp_path / "a.nrt", compress=compress)
    flip(path, begin_of(path, "dim2/code"))
    ds = vl.open(path, verify="read")
    assert ds.batch([0], keys=["time"])["time"].tolist() == [[0, 1]]
    names = io.open_file(path).header.names
    assert {names[i] for i in io.open_file(path)._right_tensors} == {
        "dim1/bounds",
        "dim2/bounds",
        "dim1/time",
    }
    for _ in range(2):
        with pytest.raises(io.ChecksumError):
            ds.batch([0])
    flip(path, begin_of(path, "dim2/code"))


def test_later_batches_hash_nothing(tmp_path, monkeypatch, compress):
    calls = []
    monkeypatch.setattr(xxhash, "xxh3_64", lambda own=xxhash.xxh3_64: calls.append(0) or own())
    folder = shards(tmp_path / "a", compress=compress)
    ds = vl.open(folder, verify="read")
    calls.clear()
    # A compressed file has the header of the plain one too, and its levels are decoded when it is opened.
    first, last, header = (9, 11, 2) if compress else (5, 8, 1)
    ds.batch([0])
    assert len(calls) == first  # the level and the keys of one shard, and the headers of the others
    ds.batch([1, 2])
    assert len(calls) == first
    ds.batch([0, 5])
    assert len(calls) == last
    for _ in range(2):
        ds.batch(range(7))
    count = len(calls)
    ds.batch(range(7), keys=["x"])
    vl.open(folder, verify="read", keys=["x"])
    assert len(calls) == count + 1 + header  # index and first header of the second open


def test_shards_that_no_row_is_read_of_are_not_read(tmp_path, compress):
    folder = shards(tmp_path / "a", compress=compress)
    flip(folder / "part-00002.nrt", begin_of(folder / "part-00002.nrt", "dim1/x"))
    ds = vl.open(folder, verify="read")
    assert ds.batch([1, 4], keys=["x"])["x"].shape == (2, 1)
    assert ds[1].to_list()["x"] == [1]
    for read in (lambda: ds.batch([6]), lambda: ds[6], lambda: ds.batch([-1], keys=["x"])):
        with pytest.raises(io.ChecksumError, match=r"part-00002\.nrt: dim1/x"):
            read()


@pytest.mark.parametrize("verify", ["read", "open"])
def test_files_without_checksums_are_refused_where_bytes_are_to_be_verified(tmp_path, verify):
    io.save(tmp_path / "a.nrt", ROWS)
    text = r"a.nrt: its bytes cannot be verified: it has no checksums; write it with checksums=True"
    with pytest.raises(io.FileFormatError, match=text):
        vl.open(tmp_path / "a.nrt", verify=verify)
    assert len(io.verify(tmp_path / "a.nrt")) == 1
    with io.ShardWriter(tmp_path / "b", 2) as writer:
        writer.append({"x": [1, 2, 3]})
    with pytest.raises(io.FileFormatError, match=r"index.json: its bytes cannot be verified"):
        vl.open(tmp_path / "b", verify=verify)
    shutil.rmtree(tmp_path / "b")
    folder = shards(tmp_path / "b")
    with io.Writer(folder / "part-00001.nrt") as writer:  # another one in its place
        writer.append({"x": [[1], [2], [3]], "word": ["w0", "w1", "w2"]})
    assert io.verify(folder)


def test_a_listed_shard_in_the_place_of_another_is_found(tmp_path):
    folder = shards(tmp_path / "a", 6)
    a, b = folder / "part-00000.nrt", folder / "part-00001.nrt"
    with io.ShardWriter(tmp_path / "b", 3, checksums=True) as writer:
        writer.append({"x": [[0], [0], [0]], "word": ["w0", "w1", "w2"]})
        writer.append({"x": [[1], [1], [1]], "word": ["w0", "w1", "w2"]})
    a, b = tmp_path / "b" / "part-00000.nrt", tmp_path / "b" / "part-00001.nrt"
    a_bytes, b_bytes = a.read_bytes(), b.read_bytes()
    assert len(a_bytes) == len(b_bytes)
    a.write_bytes(b_bytes), b.write_bytes(a_bytes)
    with pytest.raises(io.ChecksumError, match=r"part-00000\.nrt: header"):
        vl.open(tmp_path / "b", verify="read")
    assert [fault.argument for fault in io.verify(tmp_path / "b")] == ["header", "header"]


def test_without_the_package_what_was_asked_for_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "a.nrt")
    monkeypatch.setitem(sys.modules, "xxhash", None)
    text = r"verify: checksums need the package xxhash, .*; pip install varlen\[checksums\]"
    for call in (
        lambda: vl.open(path, verify="read"),
        lambda: vl.open(path, verify="open"),
        lambda: io.verify(path),
    ):
        with pytest.raises(ImportError, match=text):
            call()
    for call in (
        lambda: io.save(tmp_path / "b.nrt", ROWS, checksums=True),
        lambda: io.Writer(tmp_path / "b.nrt", checksums=True),
        lambda: io.ShardWriter(tmp_path / "b", 2, checksums=True),
        lambda: io.build([{"x": [1]}], None, tmp_path / "b", checksums=True),
        lambda: vl.open(path).save(tmp_path / "b.nrt", checksums=True),
    ):
        with pytest.raises(ImportError, match="checksums: checksums need the package xxhash"):
            call()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.nrt"]
    assert vl.open(path)[0].to_list()["id"] == 7  # whoever does not ask needs nothing


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"verify": "always"}, "verify: expected 'never', 'read' or 'open', got 'always'"),
        ({"verify": True}, "verify: expected 'never', 'read' or 'open', got True"),
        ({"on_bad_shard": "skip"}, "on_bad_shard: 'skip' needs verify='open'"),
        ({"on_bad_shard": "skip", "verify": "read"}, "on_bad_shard: 'skip' needs verify='open'"),
        ({"on_bad_shard": "warn", "verify": "open"}, "on_bad_shard: expected 'error' or 'skip'"),
    ],
)
def test_options_that_make_no_sense_are_refused(tmp_path, options, text):
    path = write(tmp_path / "a.nrt")
    with pytest.raises(ValueError, match=text):
        vl.open(path, **options)


BADS = {
    "flip": lambda path: flip(path, -1),
    "header": lambda path: flip(path, 40),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-3]),
    "empty": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
}


@pytest.mark.parametrize("account", [False, True], ids=["counted", "with account"])
@pytest.mark.parametrize("bad", BADS)
def test_a_bad_shard_is_left_out_where_asked_and_its_rows_are_in_the_account(
    tmp_path, bad, account, compress
):
    folder = shards(tmp_path / "plain", compress=compress)
    if account:
        vl.open(folder).save(tmp_path / "a", rows_per_shard=3, checksums=True, compress=compress)
        folder = tmp_path / "a"
    lists = vl.open(folder)[:].to_list()
    wrong = folder / "part-00001.nrt"
    BADS[bad](wrong)
    with pytest.raises((io.FileFormatError, FileNotFoundError), match=r"part-00001\.nrt"):
        vl.open(folder, verify="open")
    assert {fault.file for fault in io.verify(folder)} == {str(wrong)}
    ds = vl.open(folder, verify="open", on_bad_shard="skip")
    assert ds[:].to_list() == {key: rows[:3] + rows[6:] for key, rows in lists.items()}
    (left,) = ds.source.bad_shards
    assert (left.path, left.rows, left.first) == (str(wrong), 3, 3)
    assert left.places == f"rows 3 to 5 of {wrong}"
    ds.account.check()
    assert (ds.account.rows.source.values, ds.account.rows.result.values) == (7, 4)
    reason = ds.account.rows.reasons["in bad shards"]
    assert (reason.left_out, reason.first) == (3, [left.places])
    if account or bad == "flip":
        assert ds.account.columns["x"].left_out == sum(map(len, lists["x"][3:6]))
    again = pickle.loads(pickle.dumps(ds))
    assert len(again) == 4
    assert len(again.source.bad_shards) == 1
    ds.save(tmp_path / "rest.nrt")
    assert vl.open(tmp_path / "rest.nrt").account.rows.left_out == 3


def test_files_without_an_index_are_skipped_where_their_rows_can_be_counted(tmp_path):
    paths = [write(tmp_path / f"{i}.nrt") for i in range(3)]
    flip(paths[1], -1)
    ds = vl.open(tmp_path, verify="open", on_bad_shard="skip")
    assert len(ds) == 6
    assert ds.source.bad_shards[0].first == 3
    assert ds.account.rows.left_out == 3
    assert ds.account.columns["code"].left_out == 4
    flip(paths[1], 20)
    with pytest.raises(io.FileFormatError, match=r"1.nrt.*its rows are unknown, as no index counts them"):
        vl.open(tmp_path, verify="open", on_bad_shard="skip")
    assert len(vl.open([paths[0], paths[2]], verify="open", on_bad_shard="skip")) == 6
    flip(paths[0], -1)
    with pytest.raises(io.ChecksumError, match=r"0.nrt"):  # none is left
        vl.open(paths[0], verify="open", on_bad_shard="skip")


def test_writers_of_pieces_store_the_checksums_of_save(tmp_path):
    with io.Writer(tmp_path / "a.nrt", checksums=True, widen=True, narrow=True) as writer:
        for n in (3, 300, 70_000):
            writer.append({"x": [[n, 1], []], "word": ["a", str(n)]})
    file = io.open_file(tmp_path / "a.nrt")
    for name, text in file.checksums.items():
        assert text == f"xxh3_64:{xxhash.xxh3_64_hexdigest(file.array(name).tobytes())}"
    assert io.verify(tmp_path / "a.nrt") == []
    J = vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]})
    J.save(tmp_path / "b.nrt", checksums=True)
    assert io.verify(tmp_path / "b.nrt") == []


def test_a_large_writer_spills_and_its_checksums_hold(tmp_path, monkeypatch):
    monkeypatch.setattr("varlen.io.column_buffer._BUDGET", 1000)
    with io.Writer(tmp_path / "a.nrt", checksums=True) as writer:
        writer._buffer._budget = 1000
        for n in range(50):
            writer.append({"x": [list(range(n))] * 20})
    assert io.verify(tmp_path / "a.nrt") == []


@pytest.mark.parametrize("workers", [1, 2])
def test_builds_store_checksums_and_resume_with_them(tmp_path, workers, compress):
    parts = [{"x": [[1, 2], [3]], "w": ["a", "b"]}, {"x": [[4], [300]], "w": ["a", "c"]}]
    options = {"checksums": True, "compress": compress}
    io.build(parts, None, tmp_path / "a", workers=workers, **options)
    assert io.verify(tmp_path / "a") == []
    (tmp_path / "a" / "part-00001.nrt").unlink()
    assert len(io.build(parts, None, tmp_path / "a", **options)) == 4
    assert io.verify(tmp_path / "a") == []
    with pytest.raises(FileExistsError, match="another make or other options"):
        io.build(parts, None, tmp_path / "a")


def test_files_behind_urls_are_verified(tmp_path, compress):
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    folder = shards(tmp_path / "a", compress=compress)
    memory.put(str(folder), "/checksums", recursive=True)
    url = "memory://checksums"
    assert io.verify(url) == []
    assert vl.open(url, verify="read").batch([6, 0], keys=["x"])["x"].tolist() == [[6, 6], [0, 0]]
    whole = memory.cat("/checksums/part-00001.nrt")
    memory.pipe("/checksums/part-00001.nrt", whole[:-1] + bytes([whole[-1] ^ 1]))
    ds = vl.open(url, verify="read")
    assert len(ds.batch([6, 0])["x"]) == 2
    with pytest.raises(io.ChecksumError, match=r"part-00001\.nrt"):
        ds.batch([3])
    assert [fault.file for fault in io.verify(url)] == ["memory://checksums/part-00001.nrt"]
    ds = vl.open(url, verify="open", on_bad_shard="skip")
    assert len(ds) == 4
    assert ds.account.rows.left_out == 3
    cached = vl.open(url, verify="read", cache=tmp_path / "cache")
    with pytest.raises(io.ChecksumError, match=r"part-00001\.nrt"):
        cached.batch([3])
    memory.rm("/checksums", recursive=True)


def test_metadata_of_checksums_that_is_damaged_is_refused(tmp_path):
    from safetensors.numpy import save_file

    for text in ("3", '{"dim0/x": 3}', "{"):
        metadata = {"varlen.checksum": "xxh3_64:" + "0" * 16, "varlen.checksums": text}
        save_file({"dim0/x": np.arange(3)}, tmp_path / "a.nrt", metadata=metadata)
        with pytest.raises(io.FileFormatError, match=r"a.nrt: .*varlen.checksums"):
            vl.open(tmp_path / "a.nrt", verify="read")
    index = shards(tmp_path / "b") / "index.json"
    table = json.loads(index.read_text())
    table["shards"][0]["checksum"] = 3
    index.write_text(json.dumps(table))
    with pytest.raises(io.FileFormatError, match=r"part-00000\.nrt' has the checksum 3"):
        vl.open(tmp_path / "b")


def test_words_that_look_like_a_checksum_do_not_hide_the_own_one(tmp_path):
    word = '"varlen.checksum":"xxh3_64:0000000000000000"'
    rows = {"dim0/word": np.array([word, "varlen.checksum"]), f"dim0/{word.replace('/', '_')}": np.arange(2)}
    io.save(tmp_path / "a.nrt", rows, checksums=True, metadata={"note": word})
    assert io.verify(tmp_path / "a.nrt") == []
