"""Saving: what is written reads equal here and by the wheel, and is written whole or not at all."""

import errno
import json
import os
import signal
import stat
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from safetensors import safe_open
from varlen import io
from varlen.io import atomic, schema
from varlen.joint import JointNestedRaggedTensorDict

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8"]
DTYPES += [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2]

BOUNDS = np.array([2, 2, 3])


def rows(**keys):
    return {"dim1/bounds": BOUNDS, **{f"dim1/{name}": values for name, values in keys.items()}}


@pytest.mark.parametrize("dtype", [np.dtype(d) for d in DTYPES], ids=str)
@pytest.mark.parametrize("trailing", [(), (3,), (2, 0), (2, 3)], ids=str)
def test_dtypes_and_trailing_dimensions_keep(tmp_path, dtype, trailing):
    rng = np.random.default_rng(0)
    values = np.frombuffer(rng.bytes(3 * int(np.prod(trailing)) * dtype.itemsize), np.uint8)
    values = (values & 1).view("?") if dtype == np.bool_ else values.view(dtype)
    values = values.reshape(3, *trailing)
    path = tmp_path / "a.nrt"
    io.save(path, rows(x=values))
    for mmap in (True, False):
        file = io.open_file(path, mmap=mmap)
        back = file.values("x")
        assert back.dtype == dtype
        assert back.shape == values.shape
        assert back.tobytes() == values.tobytes()
        assert not back.flags.writeable
        assert file.fields["x"].trailing == trailing
        assert file.joint().row(0).values("x").tobytes() == values[:2].tobytes()
    with safe_open(path, "np") as wheel:
        assert sorted(wheel.keys()) == ["dim1/bounds", "dim1/x"]
        assert wheel.get_tensor("dim1/bounds").tolist() == BOUNDS.tolist()
        assert wheel.metadata()["varlen.version"] == "1"
    raw = dict(safetensors.deserialize(path.read_bytes()))["dim1/x"]
    assert bytes(raw["data"]) == values.tobytes()
    assert tuple(raw["shape"]) == values.shape


@pytest.mark.parametrize("dtype", [np.dtype(d) for d in DTYPES if not isinstance(d, type)], ids=str)
def test_what_the_wheel_writes_reads_equal(tmp_path, dtype):
    values = np.arange(3).astype(dtype)
    path = tmp_path / "a.nrt"
    safetensors.numpy.save_file(rows(x=values), path)
    back = io.open_file(path).values("x")
    assert back.dtype == dtype
    assert back.tolist() == values.tolist()


def test_data_begins_at_a_cache_line_and_padding_is_space(tmp_path):
    path = tmp_path / "a.nrt"
    for n in range(20):
        io.save(path, {f"dim0/{'k' * n}k": np.zeros(2, np.uint8), "dim0/z": np.zeros(2)})
        raw = path.read_bytes()
        size = int.from_bytes(raw[:8], "little")
        assert (8 + size) % 64 == 0
        text = raw[8 : 8 + size].decode()
        assert text.startswith("{")
        assert text.rstrip(" ").endswith("}")
        table = json.loads(text)
        assert list(table)[1:] == [f"dim0/{'k' * n}k", "dim0/z"]  # keys in their order
        assert table["dim0/z"]["data_offsets"] == [0, 16]  # the widest dtype is laid first


@pytest.mark.parametrize(
    "values",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.asfortranarray(np.arange(6.0).reshape(3, 2)),
        np.arange(6)[::2],
        np.arange(3)[::-1],
        np.arange(3, dtype=">i4"),
        np.arange(3, dtype=">f8").reshape(3, 1),
        np.broadcast_to(np.float32(7), (3, 2)),
    ],
    ids=["transposed", "fortran", "strided", "backwards", "big-endian", "big-endian 2-d", "broadcast"],
)
def test_any_memory_order_is_written_row_by_row(tmp_path, values):
    path = tmp_path / "a.nrt"
    io.save(path, rows(x=values))
    assert np.array_equal(io.open_file(path).values("x"), values)
    assert np.array_equal(safetensors.numpy.load_file(path)["dim1/x"], values)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns", "D", "M"])
def test_times_keep_their_unit(tmp_path, unit):
    times = np.array(["2020-01-01", "NaT", "1960-02-03"], f"M8[{unit}]")
    spans = np.array([1, -5, 7]).astype(f"m8[{unit}]")
    path = tmp_path / "a.nrt"
    io.save(path, rows(at=times, took=spans))
    file = io.open_file(path)
    assert file.fields["at"].unit == unit
    assert file.values("at").dtype == times.dtype
    assert np.array_equal(file.values("at"), times, equal_nan=True)
    assert np.array_equal(file.joint().values("took"), spans)
    assert safetensors.numpy.load_file(path)["dim1/at"].dtype == np.int64


@pytest.mark.parametrize("kind", ["str", "object"])
def test_strings_become_ids_and_a_vocabulary(tmp_path, kind):
    words = np.array(["b", 'quote "\n', "😀"], kind)
    path = tmp_path / "a.nrt"
    io.save(path, rows(word=words))
    file = io.open_file(path)
    field = file.fields["word"]
    assert [field.vocabulary[i] for i in file.values("word")] == words.tolist()
    assert field.dtype == np.uint8
    io.save(path, rows(word=np.array([1, 1, 0])), vocabularies={"word": ["x", "y"]})
    assert io.open_file(path).fields["word"].vocabulary == ("x", "y")


@pytest.mark.parametrize(
    ("entries", "options", "error", "text"),
    [
        (rows(x=np.zeros(3, "c16")), {}, TypeError, "dim1/x: a file cannot hold dtype complex128"),
        (rows(x=np.zeros(3, "S4")), {}, TypeError, "dim1/x"),
        (rows(x=np.array([1, None, "a"], object)), {}, TypeError, "x: position 0 holds int"),
        (rows(x=np.zeros(3, "m8")), {}, TypeError, "x: times need a unit"),
        (rows(x=np.zeros(4)), {}, ValueError, "ends at 3, but dim 1 has 4 rows"),
        ({**rows(x=np.zeros(3)), "dim0/y": np.zeros(2)}, {}, ValueError, "another number of rows"),
        ({"dim1/x": np.zeros(3)}, {}, ValueError, "no bounds for level 1"),
        ({"dim2/bounds": BOUNDS}, {}, ValueError, "no bounds for level 1"),
        ({"dim1/bounds": np.array([2, 1, 3])}, {}, ValueError, "row 1 ends at 1, before"),
        ({"dim1/bounds": np.array([2.0])}, {}, ValueError, "bounds are 1-d int64"),
        ({"dim1/bounds": BOUNDS.astype(np.int32)}, {}, ValueError, "bounds are 1-d int64"),
        (rows(x=np.float32(3)), {}, ValueError, "no rows"),
        (rows(x=np.zeros(3)), {"row_ids": "x"}, ValueError, "'x' is not a key of dim 0"),
        (rows(x=np.zeros(3)), {"vocabularies": {"x": ["a"]}}, TypeError, "ids are integers"),
        (
            rows(x=np.array([0, 1, 2])),
            {"vocabularies": {"x": ["a"]}},
            ValueError,
            "ids 0 to 2, for 1 strings",
        ),
        (rows(x=np.zeros(3)), {"vocabularies": {"y": ["a"]}}, ValueError, "no key 'y'"),
        (rows(x=np.zeros(3)), {"metadata": {"a": 1}}, TypeError, "expected strings"),
        (rows(x=np.zeros(3)), {"metadata": {"varlen.version": "7"}}, ValueError, "varlen's own"),
        (rows(**{"\ud800": np.zeros(3)}), {}, ValueError, "an unpaired surrogate"),
        ({"__metadata__": np.zeros(3)}, {}, ValueError, "not a name for a tensor"),
    ],
)
def test_what_could_not_be_read_again_is_refused(tmp_path, entries, options, error, text):
    path = tmp_path / "a.nrt"
    path.write_bytes(b"old")
    with pytest.raises(error, match=text):
        io.save(path, entries, **options)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.nrt"]


def test_vocabularies_too_large_for_a_header_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(schema, "_MAX_VOCABULARY", 1000)
    words = [f"{i:0100d}" for i in range(11)]
    with pytest.raises(ValueError, match="more than a header holds"):
        io.save(tmp_path / "a.nrt", rows(x=np.zeros(3, int)), vocabularies={"x": words})


def test_targets_are_resolved(tmp_path):
    real, link = tmp_path / "real.nrt", tmp_path / "link.nrt"
    io.save(real, rows(x=np.zeros(3)))
    real.chmod(0o640)
    link.symlink_to(real)
    io.save(link, rows(x=np.ones(3)))
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert io.open_file(real).values("x").tolist() == [1, 1, 1]
    umask = os.umask(0o027)
    try:
        io.save(tmp_path / "new.nrt", rows(x=np.ones(3)))
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "new.nrt").stat().st_mode) == 0o640
    with pytest.raises(IsADirectoryError):
        io.save(tmp_path, rows(x=np.ones(3)))
    with pytest.raises(FileNotFoundError):
        io.save(tmp_path / "no" / "a.nrt", rows(x=np.ones(3)))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ValueError, match="not a regular file"):
        io.save(tmp_path / "fifo", rows(x=np.ones(3)))


class Faulty:
    """The system, but the call number `at` of those that write fails; `short` makes writes small instead."""

    NAMES = ("open", "writev", "fchmod", "fsync", "replace", "close", "stat")

    def __init__(self, at, error=errno.ENOSPC, short=False, names=NAMES):
        self.names = names
        self.at, self.error, self.short, self.calls = at, error, short, []

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in self.names:
            return real

        def call(*args):
            self.calls.append(name)
            if len(self.calls) == self.at:
                if name == "close":
                    real(*args)
                raise (
                    self.error
                    if isinstance(self.error, type)
                    else OSError(self.error, os.strerror(self.error))
                )
            if name == "writev" and self.short:
                first = memoryview(args[1][0]).cast("B")[:5]
                return real(args[0], [first])
            return real(*args)

        return call


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO, errno.EDQUOT])
def test_a_fault_at_any_call_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    path = tmp_path / "a.nrt"
    io.save(path, rows(x=np.arange(3)))
    old = path.read_bytes()
    for at in range(1, 100):
        faulty = Faulty(at, error)
        monkeypatch.setattr(atomic, "os", faulty)
        try:
            io.save(path, rows(x=np.arange(3) + 10))
        except OSError as caught:
            said = caught.errno
        else:
            said = None
        monkeypatch.setattr(atomic, "os", os)
        assert said == (error if len(faulty.calls) >= at else None)
        assert os.listdir(tmp_path) == ["a.nrt"]
        if len(faulty.calls) < at:
            break
        # After the rename the new file is there, whole: what failed is that the folder may forget it.
        new = "replace" in faulty.calls[:-1]
        assert (path.read_bytes() == old) is not new
        assert io.open_file(path).values("x").tolist() == [0 + 10 * new, 1 + 10 * new, 2 + 10 * new]
        if new:
            io.save(path, rows(x=np.arange(3)))
    assert at > 9
    assert set(faulty.calls) == set(Faulty.NAMES)


@pytest.mark.parametrize("write", ["save", "Writer", "ShardWriter", "joint"])
@pytest.mark.parametrize("at", range(1, 60))
def test_an_interrupt_at_any_call_leaves_no_temporary_file(tmp_path, monkeypatch, write, at):
    path = tmp_path / "a.nrt"
    io.save(path, rows(x=np.arange(3)))
    faulty = Faulty(at, KeyboardInterrupt)
    monkeypatch.setattr(atomic, "os", faulty)
    try:
        save_by(write, path, tmp_path / "shards")
    except KeyboardInterrupt:
        pass
    else:
        assert len(faulty.calls) < at
    monkeypatch.setattr(atomic, "os", os)
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.endswith(atomic.SUFFIX)]
    assert io.open_file(path).values("x").tolist() in ([0, 1, 2], [10, 11, 12])


def save_by(write, path, folder, **options):
    """Writes the same rows in one of the ways that there are."""
    new = rows(x=np.arange(3) + 10)
    if write == "save":
        io.save(path, new, **options)
    elif write == "joint":
        JointNestedRaggedTensorDict(processed_tensors=new).save(path, **options)
    else:
        writer = io.Writer(path, **options) if write == "Writer" else io.ShardWriter(folder, 2, **options)
        with writer:
            writer.append(new)


class Recorder:
    """The system, with the calls that make a file safe written down: name, and file or folder."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in ("writev", "fsync", "replace"):
            return real

        def call(*args):
            kind = ""
            if name == "fsync":
                kind = " folder" if stat.S_ISDIR(os.fstat(args[0]).st_mode) else " file"
            self.calls.append(name + kind)
            return real(*args)

        return call


@pytest.mark.parametrize("write", ["save", "Writer", "joint"])
def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch, write):
    recorder = Recorder()
    monkeypatch.setattr(atomic, "os", recorder)
    save_by(write, tmp_path / "a.nrt", None)
    steps = [
        call for call, before in zip(recorder.calls, [None, *recorder.calls], strict=False) if call != before
    ]
    assert steps == ["writev", "fsync file", "replace", "fsync folder"]
    recorder.calls.clear()
    save_by(write, tmp_path / "b.nrt", None, durable=False)
    assert set(recorder.calls) == {"writev", "replace"}
    assert (tmp_path / "a.nrt").read_bytes() == (tmp_path / "b.nrt").read_bytes()


def test_shards_are_on_the_disk_before_their_index(tmp_path, monkeypatch):
    recorder = Recorder()
    monkeypatch.setattr(atomic, "os", recorder)
    save_by("ShardWriter", None, tmp_path / "safe")
    files = 3 * ["fsync file", "replace", "fsync folder"]
    assert [call for call in recorder.calls if call != "writev"] == [*files, "fsync folder"]  # the names last
    recorder.calls.clear()
    save_by("ShardWriter", None, tmp_path / "quick", durable=False)
    assert set(recorder.calls) == {"writev", "replace"}
    assert sorted(os.listdir(tmp_path / "safe")) == sorted(os.listdir(tmp_path / "quick"))


def test_short_writes_are_gone_on_with(tmp_path, monkeypatch):
    path = tmp_path / "a.nrt"
    faulty = Faulty(0, short=True)
    monkeypatch.setattr(atomic, "os", faulty)
    io.save(path, rows(x=np.arange(3), y=np.arange(3.0)))
    assert faulty.calls.count("writev") > 50
    assert io.open_file(path).values("y").tolist() == [0, 1, 2]


def test_more_tensors_than_the_system_writes_at_once(tmp_path):
    entries = {f"dim0/k{i}": np.full(2, i, np.int16) for i in range(2500)}
    io.save(tmp_path / "a.nrt", entries)
    loaded = safetensors.numpy.load_file(tmp_path / "a.nrt")
    assert all(np.array_equal(loaded[name], array) for name, array in entries.items())


# Is killed at the event that it is told, counted from the first of its saves: before or after a call of the
# system, whatever code makes it. Writes are short, so that many of the events lie inside the data.
_KILLED = """
import json, os, signal, sys
import numpy as np
from varlen import io

writev, events, at = os.writev, [], -1
os.writev = lambda fd, views: writev(fd, [memoryview(views[0]).cast("B")[:2000]])

def strike(frame, event, call):
    if event not in ("c_call", "c_return") or call.__module__ != "posix":
        return
    if call.__name__ not in ("fspath", "lstat"):  # as many as the path has parts
        if len(events) == at:
            os.kill(os.getpid(), signal.SIGKILL)
        events.append([event, call.__name__])

def save(n):
    io.save(sys.argv[1], {"dim1/bounds": np.array([2000, 4000]), "dim1/x": np.full(4000, n)})

def saves(n):
    sys.setprofile(strike)
    while len(events) <= max(at, 200):
        n += 1
        save(n)
    sys.setprofile(None)

save(0)  # what is loaded by the first one is no event
saves(0)
print(json.dumps(events[:200]), flush=True)
for line in sys.stdin:
    pid = os.fork()
    if pid == 0:
        events, at = [], int(line)
        saves(1000 * (at + 1))
        os._exit(0)
    print(os.WTERMSIG(os.waitpid(pid, 0)[1]), flush=True)
"""


def test_200_kills_leave_the_old_file_or_the_new_one(tmp_path):
    path = tmp_path / "a.nrt"
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    events = json.loads(child.stdout.readline())
    renamed = np.cumsum([event == ["c_return", "replace"] for event in events])
    assert renamed[-1] >= 2
    assert len({name for _, name in events} & {"open", "writev", "fsync", "replace", "close"}) == 5
    assert sum(name == "writev" for _, name in events) > 50
    value = int(np.unique(io.open_file(path).values("x"))[0])
    for at in range(200):
        child.stdin.write(f"{at}\n")
        child.stdin.flush()
        assert child.stdout.readline() == f"{signal.SIGKILL.value}\n"
        if renamed[at]:
            value = 1000 * (at + 1) + renamed[at]
        file = io.open_file(path)
        file.validate()
        assert np.unique(file.values("x")).tolist() == [value], (at, events[at])
    child.communicate()
    assert child.returncode == 0
    left = [name for name in os.listdir(tmp_path) if name != "a.nrt"]
    assert 0 < len(left) < 200
    assert all(name.startswith(".a.nrt.") and name.endswith(".varlen-tmp") for name in left)
