"""Handles: shared, safe to fork, spawn and pickle, and never silent about a file that is another by now."""

import gc
import multiprocessing
import os
import pickle
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import varlen as vl
from varlen import _core, io
from varlen.io import FileFormatError, StaleFileError, layout

BOTH = pytest.mark.parametrize("mmap", [True, False], ids=["mapped", "pread"])


def entries(n=3, seed=0):
    rng = np.random.default_rng(seed)
    outer = rng.integers(0, 4, n)
    inner = rng.integers(0, 4, outer.sum())
    return {
        "dim0/id": rng.permutation(n) + 100,
        "dim1/bounds": np.cumsum(outer),
        "dim1/t": rng.random(outer.sum(), np.float32),
        "dim2/bounds": np.cumsum(inner),
        "dim2/code": rng.integers(0, 9, inner.sum()).astype(np.uint16),
        "dim2/point": rng.random((inner.sum(), 3)),
    }


def save(path, **options):
    io.save(path, entries(**options), row_ids="id")
    return path


def content(joint):
    return {name: joint.values(name).tolist() for name in joint.names}


@BOTH
def test_structure_is_told_without_reading_data(tmp_path, mmap):
    file = io.open_file(save(tmp_path / "a.nrt"), mmap=mmap)
    assert (file.count, file.depth, file.row_ids) == (3, 2, "id")
    assert sorted(file.names) == ["code", "id", "point", "t"]
    field = file.fields["point"]
    assert (field.dim, field.dtype, field.tag, field.trailing) == (2, np.float64, "F64", (3,))
    assert repr(file) == f"File('{tmp_path}/a.nrt', 3 rows, 4 keys, depth 2)"


@BOTH
def test_keys_can_be_chosen_and_bring_their_levels_only(tmp_path, mmap):
    file = io.open_file(save(tmp_path / "a.nrt"), mmap=mmap)
    joint = file.joint(["t"])
    assert (joint.names, joint.depth, len(joint)) == (["t"], 1, 3)
    assert file.joint(["id"]).depth == 0
    with pytest.raises(KeyError, match=r"'nope' is not in .*; there are"):
        file.joint(["nope"])
    with pytest.raises(KeyError, match="dim9/t"):
        file.array("dim9/t")


def test_unchanged_files_share_a_handle_that_nobody_keeps(tmp_path):
    path = save(tmp_path / "a.nrt")
    file = io.open_file(path)
    assert io.open_file(str(path)) is file
    assert io.open_file(os.path.relpath(path)) is file
    assert io.open_file(path, mmap=False) is not file
    assert file.joint() is file.joint()
    alive = weakref.ref(file)
    values = file.joint().values("t")
    expected = values.tolist()
    del file
    gc.collect()
    assert alive() is None
    assert values.tolist() == expected  # the map lives as long as a view of it


@BOTH
def test_a_file_replaced_underneath_is_noticed(tmp_path, mmap):
    path = save(tmp_path / "a.nrt")
    file = io.open_file(path, mmap=mmap)
    before = content(file.joint())
    pickled = pickle.dumps(file)
    assert pickle.loads(pickled) is file
    save(path, n=5, seed=1)
    with pytest.raises(StaleFileError, match=r"was replaced since it was opened: .* bytes then"):
        file.check()
    file.guard()  # nothing that is mapped is gone
    if mmap:
        assert content(file.joint()) == before  # the map is still of the old file
    else:
        with pytest.raises(StaleFileError, match="is not the file that was opened"):
            file.joint()
    again = io.open_file(path, mmap=mmap)
    assert again is not file
    assert again.count == 5
    del file
    gc.collect()
    with pytest.raises(StaleFileError, match="is not the file that was opened"):
        pickle.loads(pickled)
    os.unlink(path)
    with pytest.raises(StaleFileError, match="cannot be found any more"):
        again.check()


@pytest.mark.parametrize("change", ["grow", "shrink", "touch"])
def test_a_file_changed_in_place_is_noticed(tmp_path, change):
    path = save(tmp_path / "a.nrt")
    mapped, read = io.open_file(path), io.open_file(path, mmap=False)
    size = path.stat().st_size
    if change == "touch":
        os.utime(path, ns=(1, 1))
    else:
        os.truncate(path, size + (8 if change == "grow" else -8))
    for file in (mapped, read):
        for look in (file.check, file.guard):
            with pytest.raises(StaleFileError, match="was changed in place"):
                look()
    with pytest.raises(StaleFileError):
        read.joint()
    if change != "touch":
        with pytest.raises(FileFormatError):
            io.open_file(path)


def test_a_file_cut_while_it_is_read_is_an_error(tmp_path):
    path = save(tmp_path / "a.nrt", n=50)
    file = io.open_file(path, mmap=False)
    reader = file.reader()
    os.truncate(path, path.stat().st_size - 100)
    with pytest.raises(StaleFileError, match="was cut short"):
        reader.read(np.array([0]), np.array([file.header.data_size]))
    reader.close()
    with pytest.raises(ValueError, match="closed"):
        reader.read(np.array([0]), np.array([1]))


@pytest.mark.parametrize(("begin", "end"), [(-1, 2), (5, 4), (0, 10**9), (2**63 - 1, 2**63 - 1)])
def test_ranges_outside_the_data_are_refused(tmp_path, begin, end):
    reader = io.open_file(save(tmp_path / "a.nrt"), mmap=False).reader()
    with pytest.raises(FileFormatError, match="range 1 lies outside"):
        reader.read(np.array([0, begin]), np.array([1, end]))
    with pytest.raises(ValueError, match="as many"):
        reader.read(np.array([0, 1]), np.array([1]))


@pytest.mark.parametrize("mode", ["missing", "folder", "fifo", "device", "unreadable name"])
def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path, mode):
    path = tmp_path / "x"
    error, text = FileNotFoundError, "No such file"
    if mode == "folder":
        path.mkdir()
        error, text = IsADirectoryError, "Is a directory"
    elif mode == "fifo":
        os.mkfifo(path)
        error, text = FileFormatError, "not a regular file"
    elif mode == "device":
        path, error, text = Path("/dev/zero"), FileFormatError, "not a regular file"
    elif mode == "unreadable name":
        path, error, text = "a\0b", ValueError, "null"
    with pytest.raises(error, match=text):
        io.open_file(path)


def _work(args):
    file, expected = args
    return content(file.joint()) == expected and content(io.open_file(file.path).joint()) == expected


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_handles_go_to_other_processes(tmp_path, method):
    path = save(tmp_path / "a.nrt", n=20)
    mapped, read = io.open_file(path), io.open_file(path, mmap=False)
    expected = content(mapped.joint())
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(_work, [(mapped, expected), (read, expected)]) == [True, True]


def test_many_threads_share_a_handle(tmp_path):
    path = save(tmp_path / "a.nrt", n=200)
    expected = content(io.open_file(path).joint())
    gc.collect()
    wrong = []

    def look():
        for _ in range(20):
            file = io.open_file(path)
            if (
                content(file.joint()) != expected
                or content(io.open_file(path, mmap=False).joint()) != expected
            ):
                wrong.append(file)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


NESTS = {
    "a name without dim": ({"a": np.zeros(1)}, "tensor 'a' .*: the name is not dimK/name"),
    "a dim with a leading zero": ({"dim01/a": np.zeros(1)}, "not dimK/name"),
    "a dim of minus zero": ({"dim-0/a": np.zeros(1)}, "not dimK/name"),
    "a dim of minus one with a leading zero": ({"dim-01/a": np.zeros(1)}, "not dimK/name"),
    "a dim without a number": ({"dim-/a": np.zeros(1)}, "not dimK/name"),
    "a dim without a slash": ({"dim1": np.zeros(1)}, "not dimK/name"),
    "too deep": ({"dim31/a": np.zeros(1)}, "nested too deep"),
    "far too deep": ({"dim99999999999/a": np.zeros(1)}, "not dimK/name"),
    "no rows": ({"dim0/a": np.array(3.0)}, "a tensor without dimensions"),
    "no bounds": ({"dim1/a": np.zeros(1)}, "no bounds for level 1"),
    "no middle bounds": ({"dim1/bounds": [1], "dim3/bounds": [1], "dim3/a": [1.0]}, "no bounds for level 2"),
    "bounds of floats": ({"dim1/bounds": np.zeros(2)}, "bounds must be one-dimensional integers"),
    "bounds of two dimensions": ({"dim1/bounds": np.zeros((2, 2), int)}, "bounds must be one-dimensional"),
    "bounds of level 0": ({"dim0/bounds": [1]}, "bounds of a level below 1"),
    "keys of different rows": ({"dim0/a": [1], "dim0/b": [1, 2]}, "another number of rows than 'dim0/"),
    "key and level differ": ({"dim0/a": [1], "dim1/bounds": [1, 2]}, "another number of rows than"),
    "last bound too low": (
        {"dim1/bounds": [1, 2], "dim1/a": [1, 2, 3]},
        "bounds: ends at 2, but dim 1 has 3",
    ),
    "last bound too high": (
        {"dim1/bounds": [1, 4], "dim1/a": [1, 2, 3]},
        "bounds: ends at 4, but dim 1 has 3",
    ),
    "negative last bound": ({"dim1/bounds": [1, -4]}, "bounds: ends at -4"),
    "levels that do not meet": (
        {"dim1/bounds": [1, 2], "dim2/bounds": [1, 2, 3]},
        "dim1/bounds: ends at 2, but dim 1 has 3",
    ),
    "a name at two dims": (
        {"dim0/a": [1], "dim1/bounds": [1], "dim1/a": [1]},
        "same name is there at another",
    ),
    "no bounds for no sequences": (
        {"dim1/bounds": np.zeros(0, int), "dim1/a": [1]},
        "ends at 0, but dim 1 has 1",
    ),
}


@BOTH
@pytest.mark.parametrize("name", NESTS)
def test_tensors_that_do_not_nest_are_refused_at_opening(tmp_path, name, mmap):
    arrays, text = NESTS[name]
    path = tmp_path / "a.nrt"
    safetensors.numpy.save_file({key: np.asarray(value) for key, value in arrays.items()}, path)
    with pytest.raises(FileFormatError, match=text) as caught:
        io.open_file(path, mmap=mmap)
    assert str(caught.value).startswith(str(path))


@BOTH
@pytest.mark.parametrize(
    ("outer", "inner", "bad"),
    [
        ([2, 1, 3], [1, 2, 3], 0),
        ([1, 2, 3], [2, 1, 3], 0),
        ([-1, 2, 3], [1, 2, 3], 0),
        ([1, 9, 3], [1, 2, 3], 1),
    ],
)
def test_bounds_are_checked_where_they_are_read(tmp_path, outer, inner, bad, mmap):
    path = tmp_path / "a.nrt"
    arrays = {"dim1/bounds": outer, "dim2/bounds": inner, "dim2/a": [1, 2, 3]}
    safetensors.numpy.save_file({key: np.asarray(value) for key, value in arrays.items()}, path)
    source = io.open_shards(path, mmap=mmap)
    with pytest.raises(FileFormatError, match="bounds"):
        source.validate()
    with pytest.raises(ValueError, match="bounds"):
        [source.read(row) for row in range(3)]


def test_metadata_is_not_trusted_either(tmp_path):
    path = tmp_path / "a.nrt"
    tensors = {"dim0/a": np.array([0, 1])}
    for metadata, text in (
        ({"varlen.version": "2"}, "written as version 2; this varlen reads up to 1"),
        ({"varlen.version": "x"}, "'x' is not a version"),
        ({"varlen.version": "1", "varlen.schema": "{"}, "varlen.schema: not JSON"),
        ({"varlen.version": "1", "varlen.schema": "[" * 100_000}, "not JSON"),
        ({"varlen.version": "1", "varlen.schema": "[]"}, "not an object with keys"),
        ({"varlen.version": "1", "varlen.schema": '{"keys":{"a":1}}'}, "key 'a' is not an object"),
        ({"varlen.version": "1", "varlen.schema": '{"row_ids":"b"}'}, "'b' is not a key of dim 0"),
        ({"varlen.version": "1", "varlen.schema": '{"keys":{"a":{"dtype":"datetime64[x]"}}}'}, "no dtype"),
        ({"varlen.version": "1", "varlen.vocabulary.a": "{}"}, "vocabulary of 'a': not a list of strings"),
        ({"varlen.version": "1", "varlen.vocabulary.a": "[1]"}, "not a list of strings"),
    ):
        safetensors.numpy.save_file(tensors, path, metadata)
        with pytest.raises(FileFormatError, match=text):
            io.open_shards(path).row_ids  # noqa: B018
    safetensors.numpy.save_file(tensors, path, {"varlen.version": "2"})
    with pytest.raises(FileFormatError, match=r"a\.nrt: written as version 2"):
        io.open_file(path)
    tensors = {"dim0/a": np.array([0.0, 1.0])}
    about = {"varlen.version": "1", "varlen.schema": '{"keys":{"a":{"dtype":"datetime64[s]"}}}'}
    safetensors.numpy.save_file(tensors, path, about)
    with pytest.raises(FileFormatError, match="stored as float64, not int64"):
        io.open_shards(path).names  # noqa: B018
    about = {
        "varlen.version": "1",
        "varlen.schema": '{"new":1,"keys":{"a":{"dtype":"f8","new":2}}}',
        "x": "y",
    }
    safetensors.numpy.save_file(tensors, path, about)
    assert io.open_file(path).values("a").tolist() == [0, 1]


def test_tensors_that_lie_askew_are_copied(tmp_path):
    header = b'{"dim0/a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},'
    header += b'"dim0/b":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}}'
    path = tmp_path / "a.nrt"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\7" + np.float64(2.5).tobytes())
    values = io.open_file(path).joint().values("b")
    assert values.flags.aligned
    assert values.tolist() == [2.5]


def test_the_layout_of_a_file_is_kept_once_its_time_tells_states_apart(tmp_path):
    path = tmp_path / "a.nrt"
    io.save(path, {"dim0/x": np.arange(3)})
    file = io.open_file(path)
    assert layout.known_layout(file.identity) is None  # a change now might have the same time
    hour_ago = path.stat().st_mtime_ns - 3600 * 10**9
    os.utime(path, ns=(hour_ago, hour_ago))
    file = io.open_file(path)
    assert layout.known_layout(file.identity) is file.layout


def test_a_reader_reads_ranges_in_the_order_they_are_named_and_none_beyond_the_file(tmp_path):
    path = tmp_path / "a.nrt"
    vl.JointNestedRaggedTensorDict({"x": [[1, 2], [3]]}).save(path)
    start = _core.MappedFile(path).header.data_start
    data = path.read_bytes()[start:]
    size = len(data)
    reader = _core.FileReader(path, None, start)
    for begins, ends in (
        ([0], [size]),
        ([0, 3], [3, 5]),  # these touch, the next overlap, leave a gap, go back, are empty
        ([0, 2], [4, 6]),
        ([0, 5], [2, 9]),
        ([5, 0], [9, 2]),
        ([4, 4, size, size - 1], [4, 5, size, size]),
        ([], []),
    ):
        want = b"".join(data[a:b] for a, b in zip(begins, ends, strict=True))
        assert reader.read(np.array(begins, np.int64), np.array(ends, np.int64)).tobytes() == want
    before = reader.bytes_read
    for begins, ends in (
        ([0], [size + 1]),
        ([size], [size + 1]),
        ([0, -1], [2, 3]),
        ([0, 3], [2, 2]),
        ([2**62], [2**63 - 1]),
    ):
        with pytest.raises(ValueError, match=r"a\.nrt: range \d lies outside the data"):
            reader.read(np.array(begins), np.array(ends))
    assert reader.bytes_read == before
