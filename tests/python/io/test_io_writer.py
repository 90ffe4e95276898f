"""Files written in pieces: the same as if written at once, or not at all."""

import errno
import itertools
import os
import signal
import subprocess
import sys
import tempfile
from functools import partial

import ml_dtypes
import numpy as np
import pytest
import varlen
from hypothesis import given, settings
from hypothesis import strategies as st
from test_io_file import content, entries
from test_io_save import Faulty
from varlen import _core, io
from varlen.io import atomic, column_buffer, shard_writer


def names_in(folder):
    return sorted(os.listdir(folder))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 12),
    st.lists(st.integers(0, 12), max_size=4),
    st.integers(0, 99),
    st.sampled_from([0, 100, 10**6]),
)
def test_pieces_make_the_file_that_one_save_makes(tmp_path_factory, n, cuts, seed, budget):
    folder = tmp_path_factory.mktemp("w")
    io.save(folder / "a.nrt", entries(n, seed=seed), row_ids="id")
    joint = io.open_file(folder / "a.nrt").joint()
    edges = [0, *sorted(min(cut, n) for cut in cuts), n]
    with io.Writer(folder / "b.nrt", row_ids="id") as writer:
        writer._buffer._budget = budget
        for begin, end in itertools.pairwise(edges):
            writer.append(joint.slice(begin, end))
        assert writer.rows == n
        assert names_in(folder) == ["a.nrt"]  # what waits has no name
    assert (folder / "b.nrt").read_bytes() == (folder / "a.nrt").read_bytes()


@pytest.mark.parametrize("copying", ["by the system", "by us", "half"])
def test_columns_are_copied_however_the_system_can(tmp_path, monkeypatch, copying):
    calls = []

    def copy(source, out, count, offset):
        calls.append(count)
        if copying == "by us" or (copying == "half" and len(calls) > 1):
            raise OSError(errno.EXDEV, "not across file systems")
        return os.copy_file_range(source, out, max(1, count // 2), offset)

    class System:
        def __getattr__(self, name):
            return copy if name == "copy_file_range" else getattr(os, name)

    monkeypatch.setattr(column_buffer, "os", System())
    monkeypatch.setattr(column_buffer, "_CHUNK", 64)
    whole = entries(50)
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer._buffer._budget = 500
        for _ in range(3):
            writer.append(whole)
    assert calls
    joint = io.open_file(tmp_path / "a.nrt").joint()
    joint.check()
    for name in joint.names:
        one = whole[f"dim{joint.dims[joint.names.index(name)]}/{name}"]
        assert np.array_equal(joint.values(name), np.concatenate([one] * 3))


def test_memory_stays_bounded(tmp_path):
    writer = io.Writer(tmp_path / "a.nrt")
    writer._buffer._budget = 10_000
    piece = {"dim1/bounds": np.array([500, 1000]), "dim1/x": np.arange(1000)}
    for _ in range(100):
        writer.append(piece)
        assert sum(tail.nbytes for tails in writer._buffer._tails.values() for tail in tails) <= 20_000
    writer.close()
    assert io.open_file(tmp_path / "a.nrt").count == 200


def test_what_the_caller_changes_afterwards_is_not_written(tmp_path):
    piece = {"dim1/bounds": np.array([1, 2]), "dim1/x": np.arange(2)}
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append(piece)
        piece["dim1/x"][:] = 99
        piece["dim1/bounds"][:] = 99
    assert io.open_file(tmp_path / "a.nrt").joint().values("x").tolist() == [0, 1]


def flat(**keys):
    return {f"dim0/{name}": np.asarray(values) for name, values in keys.items()}


def test_dtypes_that_differ_are_refused_and_name_the_key(tmp_path):
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append(flat(x=np.uint8([1]), t=np.array([0], "M8[s]")))
        for piece, text in (
            (
                flat(x=np.uint16([1]), t=np.array([0], "M8[s]")),
                "x: dtype uint16, but uint8 in the pieces before; give",
            ),
            (
                flat(x=np.uint8([1]), t=np.array([0], "M8[ns]")),
                r"t: dtype datetime64\[ns\], but datetime64\[s\]",
            ),
            (flat(x=np.uint8([1]), t=np.array([0])), "t: dtype int64"),
            (flat(x=np.uint8([1])), r"keys \['t'\] are missing and \[\] are new"),
            (flat(x=np.uint8([1]), t=np.array([0], "M8[s]"), y=[1]), r"\['y'\] are new"),
            (
                flat(x=np.uint8([[1]]), t=np.array([0], "M8[s]")),
                r"x: dim 0, trailing shape \(1,\), but 0 and \(\)",
            ),
            ({"dim0/t": np.array([0], "M8[s]"), "dim1/bounds": [1], "dim1/x": np.uint8([1])}, "x: dim 1"),
            ({**flat(x=np.uint8([1]), t=np.array([0], "M8[s]")), "dim1/bounds": [0]}, "1 levels, but 0"),
            (flat(x=np.complex128([1]), t=np.array([0], "M8[s]")), "x: a file cannot hold dtype complex128"),
            ({"dim1/x": [1]}, "no dim1/bounds"),
            ({"dim0/x": [1], "dim0/t": [1, 2]}, "'t' has 2 rows, but dim 0 has 1"),
            (7, "expected a joint dict or a dict, got int"),
        ):
            with pytest.raises((ValueError, TypeError), match=text):
                writer.append(piece)
        writer.append(flat(x=np.uint8([2]), t=np.array([5], "M8[s]")))
    file = io.open_file(tmp_path / "a.nrt")
    assert file.values("x").tolist() == [1, 2]
    assert file.values("t").tolist() == np.array([0, 5], "M8[s]").tolist()


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("u1", "u2", "u2"),
        ("u2", "u1", "u2"),
        ("u1", "i1", "i2"),
        ("i4", "f4", "f8"),
        ("f4", "f2", "f4"),
        ("u1", "f4", "f4"),
    ],
)
def test_dtypes_widen_where_that_is_asked(tmp_path, first, second, kind):
    with io.Writer(tmp_path / "a.nrt", widen=True) as writer:
        writer._buffer._budget = 0
        for dtype in (first, second, first):
            writer.append(flat(x=np.arange(3).astype(dtype)))
    values = io.open_file(tmp_path / "a.nrt").values("x")
    assert values.dtype == np.dtype(kind)
    assert values.tolist() == [0, 1, 2] * 3


NARROW = [([0, 255], "u1"), ([0, 256], "u2"), ([-1, 127], "i1"), ([-1, 128], "i2"), ([-40000, 1], "i4")]
NARROW += [([0, 2**40], "u8"), ([-1, 2**40], "i8")]


@pytest.mark.parametrize(("values", "kind"), NARROW)
def test_integers_narrow_where_that_is_asked(tmp_path, values, kind):
    with io.Writer(tmp_path / "a.nrt", narrow=True, schema={"kept": "i8"}) as writer:
        for value in values:
            writer.append(flat(x=[value], kept=[value], f=[0.5]))
    file = io.open_file(tmp_path / "a.nrt")
    assert file.values("x").dtype == np.dtype(kind)
    assert file.values("x").tolist() == file.values("kept").tolist() == values
    assert file.values("f").dtype == np.float64
    with pytest.raises(ValueError, match="narrow: cannot be used: all shards share"):
        io.ShardWriter(tmp_path / "s", rows_per_shard=1, narrow=True)


@pytest.mark.parametrize(("first", "second"), [("u8", "i8"), ("?", "u1"), ("u1", "M8[s]")])
def test_dtypes_that_nothing_holds_are_refused(tmp_path, first, second):
    with io.Writer(tmp_path / "a.nrt", widen=True) as writer:
        writer.append(flat(x=np.arange(2).astype(first)))
        with pytest.raises(ValueError, match="x: "):
            writer.append(flat(x=np.arange(2).astype(second)))


def test_a_schema_pins_dtypes_and_checks_values(tmp_path):
    schema = {"x": np.int16, "f": "float32", "b": ml_dtypes.bfloat16, "t": "M8[ms]"}
    with io.Writer(tmp_path / "a.nrt", schema=schema) as writer:
        writer.append(flat(x=np.uint8([1]), f=[0.1], b=[1.5], t=np.array([1], "M8[s]")))
        writer.append(flat(x=np.int64([-300]), f=[np.nan], b=[np.inf], t=np.array(["NaT"], "M8[D]")))
        for piece, text in (
            (
                flat(x=[40000], f=[0.0], b=[0.0], t=np.array([1], "M8[s]")),
                "x: 40000 at row 0 does not fit int16",
            ),
            (flat(x=[0.5], f=[0.0], b=[0.0], t=np.array([1], "M8[s]")), "x: 0.5 at row 0 does not fit int16"),
            (flat(x=[np.nan], f=[0.0], b=[0.0], t=np.array([1], "M8[s]")), "x: nan at row 0"),
            (
                flat(x=np.uint64([2**63]), f=[0.0], b=[0.0], t=np.array([1], "M8[s]")),
                "x: 9223372036854775808",
            ),
            (
                flat(x=[1], f=[1e300], b=[0.0], t=np.array([1], "M8[s]")),
                r"f: 1e\+300 at row 0 does not fit float32",
            ),
            (flat(x=[1], f=[1.0], b=[0.0], t=[1]), r"t: dtype int64, but the schema says datetime64\[ms\]"),
        ):
            with pytest.raises(ValueError, match=text):
                writer.append(piece)
    file = io.open_file(tmp_path / "a.nrt")
    assert {name: file.fields[name].dtype for name in schema} == {
        name: np.dtype(d) for name, d in schema.items()
    }
    assert file.values("x").tolist() == [1, -300]
    assert file.values("b").astype(float).tolist() == [1.5, np.inf]
    assert np.isnat(file.values("t")).tolist() == [False, True]


def test_words_keep_their_ids_from_piece_to_piece(tmp_path):
    with io.Writer(tmp_path / "a.nrt", vocabularies={"w": ["pad"]}) as writer:
        writer.append(flat(w=["b", "a"]))
        with pytest.raises(ValueError, match="new in this piece"):
            writer.append(flat(w=["never"], x=[1]))
        writer.append(flat(w=["c", "b"]))
    file = io.open_file(tmp_path / "a.nrt")
    assert file.fields["w"].vocabulary == ("pad", "b", "a", "c")
    assert file.values("w").tolist() == [1, 2, 3, 1]
    assert file.values("w").dtype == np.uint8


def test_nested_lists_may_hold_words(tmp_path):
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append({"id": ["p", "q"], "w": [[], []]})
        writer.append({"id": ["p"], "w": [["b", "a", "b"]]})
        with pytest.raises(TypeError, match=r"w\[0\]\[1\]: expected text, got int"):
            writer.append({"id": ["p"], "w": [["b", 1]]})
        with pytest.raises(ValueError, match=r"parse w as .* numbers! \(w\[0\]\[1\]: .* got str\)"):
            writer.append({"id": ["p"], "w": [[1, "b"]]})
        for record in ({"id": "p", "w": ["b"]}, {"id": ["p"], "w": 1}):
            with pytest.raises(TypeError, match=r"rows: .* is one (str|int); a dict holds many rows"):
                writer.append(record)
    rows = varlen.open(tmp_path / "a.nrt")[:].to_list()
    assert rows == {"id": ["p", "q", "p"], "w": [[], [], ["b", "a", "b"]]}


def test_pieces_bring_their_own_words(tmp_path):
    def piece(ids, words):
        meta = {"vocabularies": {"w": words}}
        return _core.Joint(["w"], [0], [np.array(ids, np.uint8)], [], len(ids), meta)

    pieces = [piece([0, 1], ["a", "b"]), piece([1, 0, 1], ["b", "c"])]
    with io.Writer(tmp_path / "a.nrt") as writer, io.ShardWriter(tmp_path / "s", rows_per_shard=2) as shards:
        for one in pieces:
            writer.append(one)
            shards.append(one)
        with pytest.raises(ValueError, match="w: ids 0 to 2, for 1 strings"):
            writer.append(piece([0, 2], ["a"]))
    for source in (io.open_shards(tmp_path / "a.nrt"), io.open_shards(tmp_path / "s")):
        source.validate()
        words = source.fields["w"].vocabulary
        assert [words[i] for joint in source.joints for i in joint.values("w")] == ["a", "b", "c", "b", "c"]


def worded(ids, words):
    meta = {"vocabularies": {"w": words}} if words else None
    return _core.Joint(["w"], [0], [np.array(ids, np.uint8)], [], len(ids), meta)


@pytest.mark.parametrize("shards", [False, True])
def test_words_of_another_vocabulary_are_mapped_or_refused(tmp_path, shards):
    path, first = tmp_path / "a", worded([0, 1, 0], ["a", "b"])

    def writer(**options):
        return io.ShardWriter(path, 2, **options) if shards else io.Writer(path, **options)

    with writer() as out:
        out.append(first)
        out.append(worded([1, 0, 2], ["c", "b", "a"]))
        out.append(worded([], None))
    source = io.open_shards(path)
    source.validate()  # opens all shards, each of which may bring words
    words = source.fields["w"].vocabulary
    assert [words[i] for joint in source.joints for i in joint.values("w")] == ["a", "b", "a", "b", "c", "a"]
    for one, two, text in (
        (first, worded([1], None), "w: numbers without a vocabulary, but .* words such as 'a'"),
        (worded([1], None), first, "w: 'a' is a word, the pieces before hold numbers"),
        (worded([1], None), flat(w=["z"]), "w: 'z' is a word, the pieces before hold numbers"),
    ):
        path = tmp_path / f"b{len(os.listdir(tmp_path))}"
        out = writer()
        out.append(one)
        with pytest.raises(ValueError, match=text):
            out.append(two)
        out.discard()
    path = tmp_path / "given"
    with io.Writer(path, vocabularies={"w": ["x", "y"]}) as out:
        out.append(worded([1, 0, 1], None))
        out.append(worded([0, 1], ["y", "z"]))
        out.append(worded([2], None))
    source = io.open_shards(path)
    source.validate()  # opens all shards, each of which may bring words
    words = source.fields["w"].vocabulary
    assert [words[i] for joint in source.joints for i in joint.values("w")] == ["y", "x", "y", "y", "z", "z"]
    with io.Writer(tmp_path / "c", vocabularies={"w": ["x"]}) as out:
        with pytest.raises(ValueError, match="w: ids 0 to 1, for 1 strings"):
            out.append(worded([0, 1], None))
        out.append(worded([0], None))


def test_rows_of_a_data_set_keep_their_words(tmp_path):
    raw = {"code": [["a", "b"], ["c"]], "at": [np.array([1, 2], "M8[s]"), np.array([3], "M8[s]")]}
    for i, codes in enumerate(([["a", "b"], ["c"]], [["c", "a"], ["b"]])):
        varlen.JointNestedRaggedTensorDict({**raw, "code": codes}, schema={"code": str}).save(
            tmp_path / f"{i}.nrt"
        )
    with io.Writer(tmp_path / "out.nrt") as writer:
        for i in range(2):
            rows = io.open_file(tmp_path / f"{i}.nrt").joint()
            writer.append(rows.slice(0, len(rows)))
    joint = varlen.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "out.nrt")
    assert joint.to_list()["code"] == [["a", "b"], ["c"], ["c", "a"], ["b"]]
    assert joint["at"].values.dtype == np.dtype("M8[s]")


@pytest.mark.parametrize(
    ("count", "dtype"), [(1, "u1"), (255, "u1"), (256, "u1"), (257, "u2"), (65536, "u2"), (65537, "u4")]
)
def test_ids_have_the_smallest_dtype_for_their_vocabulary(tmp_path, count, dtype):
    words = np.array([f"w{i}" for i in range(count)])
    none = {"padding_id": False}
    io.save(tmp_path / "saved.nrt", flat(w=words), **none)
    with io.Writer(tmp_path / "written.nrt", **none) as writer:
        for part in np.array_split(words, min(count, 3)):
            writer.append(flat(w=part))
    joint = varlen.JointNestedRaggedTensorDict({"w": words.tolist()}, schema={"w": str}, **none)
    joint.save(tmp_path / "joint.nrt")
    varlen.JointNestedRaggedTensorDict({"w": [words]}, **none).save(tmp_path / "array.nrt")
    for name in ("saved", "written", "joint", "array"):
        file = io.open_file(tmp_path / f"{name}.nrt")
        assert file.fields["w"].dtype == np.dtype(dtype), name
        assert file.fields["w"].vocabulary == tuple(words)
        assert np.array_equal(file.values("w"), np.arange(count))


def test_words_beyond_the_dtype_of_ids_are_refused(tmp_path):
    words = [f"w{i}" for i in range(256)]
    for array in (np.array(words), np.array(words, object)):
        with io.Writer(tmp_path / "a.nrt", ids=np.uint8) as writer:
            with pytest.raises(ValueError, match="w: the word 'w255' gets an id that does not fit uint8"):
                writer.append(flat(w=array))
            writer.append(flat(w=array[:255]))
        assert io.open_file(tmp_path / "a.nrt").values("w").tolist() == list(range(1, 256))


def test_nested_lists_and_joint_dicts_are_pieces_too(tmp_path):
    rows = [{"id": [7, 8], "t": [[1.5, 2], [3]], "w": [[["a", "b"], ["c"]], [[]]]}]
    rows.append({"id": [9], "t": [[4]], "w": [[["d", "a"]]]})
    with io.Writer(tmp_path / "a.nrt", schema={"w": str, "t": "f4"}, narrow=True, row_ids="id") as writer:
        writer.append(rows[0])
        writer.append(varlen.JointNestedRaggedTensorDict(rows[1], schema={"w": str}, narrow=False))
    joint = varlen.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "a.nrt")
    assert joint.vocabularies["w"] == ("[PAD]", "a", "b", "c", "d")
    assert joint.to_list() == {key: rows[0][key] + rows[1][key] for key in rows[0]}
    fields = io.open_file(tmp_path / "a.nrt").fields
    assert [fields[name].dtype.name for name in ("id", "t", "w")] == ["uint8", "float32", "uint8"]


def test_a_writer_that_is_not_closed_leaves_nothing(tmp_path):
    path = tmp_path / "a.nrt"
    path.write_bytes(b"old")

    def stopped():
        with io.Writer(path) as writer:
            writer.append(entries(3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    writer = io.Writer(path)
    writer.append(entries(3))
    del writer
    writer = io.Writer(path)
    writer.discard()
    writer.close()
    with pytest.raises(ValueError, match="the writer is closed"):
        writer.append(entries(3))
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.nrt"]


def test_a_fault_at_any_call_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.nrt"
    path.write_bytes(b"old")

    def write():
        with io.Writer(path) as writer:
            writer._buffer._budget = 200
            writer.append(entries(9))
            writer.append(entries(9))

    for at in range(1, 200):
        faulty = Faulty(at)
        monkeypatch.setattr(atomic, "os", faulty)
        try:
            write()
        except OSError as error:
            failed = error.errno == errno.ENOSPC
        else:
            failed = False
        monkeypatch.setattr(atomic, "os", os)
        assert failed == (len(faulty.calls) >= at)
        if not failed:
            break
        assert names_in(tmp_path) == ["a.nrt"]
        if "replace" not in faulty.calls[:-1]:
            assert path.read_bytes() == b"old"
    assert at > 12
    assert io.open_file(path).count == 18


def test_a_kill_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.nrt"
    path.write_bytes(b"old")
    code = (
        "import os, signal, sys, numpy as np\n"
        "from varlen import io\n"
        "writer = io.Writer(sys.argv[1])\n"
        "writer._buffer._budget = 0\n"
        "writer.append({'dim0/x': np.arange(9)})\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, path]).returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    assert names_in(tmp_path) == ["a.nrt"]


def test_shards_fill_one_after_the_other(tmp_path):
    io.save(tmp_path / "whole.nrt", entries(10), row_ids="id")
    joint = io.open_file(tmp_path / "whole.nrt").joint()
    with io.ShardWriter(tmp_path / "s", rows_per_shard=4, row_ids="id") as writer:
        for begin in range(0, 10, 3):
            writer.append(joint.slice(begin, begin + 3))
        assert not [name for name in names_in(tmp_path / "s") if not name.startswith(".")]
    source = io.open_shards(tmp_path / "s")
    assert source.counts.tolist() == [4, 4, 2]
    assert [content(row) for row in source] == [content(joint.row(i)) for i in range(10)]
    assert names_in(tmp_path / "s") == ["index.json", "part-00000.nrt", "part-00001.nrt", "part-00002.nrt"]
    with pytest.raises(FileExistsError, match=r"holds index\.json already"):
        io.ShardWriter(tmp_path / "s", rows_per_shard=4)


def test_shards_share_a_vocabulary(tmp_path):
    with io.ShardWriter(tmp_path / "s", rows_per_shard=2) as writer:
        writer.append(flat(w=np.array(["b", "a", "c", "b", "d"], object)))
    source = io.open_shards(tmp_path / "s")
    source.validate()
    words = source.fields["w"].vocabulary
    assert [words[i] for joint in source.joints for i in joint.values("w")] == ["b", "a", "c", "b", "d"]


def test_shards_without_rows_are_a_data_set(tmp_path):
    with io.ShardWriter(tmp_path / "s", rows_per_shard=2):
        pass
    assert len(io.open_shards(tmp_path / "s")) == 0
    with pytest.raises(ValueError, match="rows_per_shard: expected at least 1, got 0"):
        io.ShardWriter(tmp_path / "t", rows_per_shard=0)


def test_shards_that_fail_leave_nothing(tmp_path):
    writer = io.ShardWriter(tmp_path / "s", rows_per_shard=1)
    writer.append(flat(x=np.arange(3)))
    with pytest.raises(ValueError, match="x: dtype float64"):
        writer.append(flat(x=np.arange(3.0)))
    assert names_in(tmp_path) == []
    writer.close()
    writer = io.ShardWriter(tmp_path / "s", rows_per_shard=2, widen=True)
    writer.append(flat(x=np.arange(3, dtype=np.uint8)))
    with pytest.raises(ValueError, match="x: dtype uint16 instead of uint8 in the shards before; give"):
        writer.append(flat(x=np.arange(3, dtype=np.uint16)))
    assert names_in(tmp_path) == []
    (tmp_path / "s").mkdir()
    writer = io.ShardWriter(tmp_path / "s", rows_per_shard=1)
    writer.append(flat(x=np.arange(3)))
    with pytest.raises(TypeError, match="expected a joint dict"), writer:
        writer.append(7)
    assert names_in(tmp_path / "s") == []


@pytest.mark.parametrize("error", [errno.ENOSPC, KeyboardInterrupt])
@pytest.mark.parametrize("is_there", [False, True])
def test_a_fault_at_any_call_leaves_no_shard(tmp_path, monkeypatch, error, is_there):
    folder = tmp_path / "s"
    if is_there:
        folder.mkdir()
    for at in range(1, 200):
        faulty = Faulty(at, error, names=(*Faulty.NAMES, "rename"))
        for module in (atomic, shard_writer):
            monkeypatch.setattr(module, "os", faulty)
        try:
            with io.ShardWriter(folder, rows_per_shard=2) as writer:
                writer.append(flat(x=np.arange(3)))
                writer.append(flat(x=np.arange(2)))
            failed = False
        except (OSError, KeyboardInterrupt):
            failed = True
        for module in (atomic, shard_writer):
            monkeypatch.setattr(module, "os", os)
        if not failed:
            break
        assert folder.exists() == is_there, faulty.calls
        assert not is_there or names_in(folder) == [], faulty.calls
    assert at > 25
    assert faulty.calls.count("rename") == 3
    assert len(io.open_shards(folder)) == 5


def test_an_index_that_cannot_be_written_leaves_no_shard(tmp_path, monkeypatch):
    def fail(*args):
        raise OSError(errno.ENOSPC, "no space")

    writer = io.ShardWriter(tmp_path / "s", rows_per_shard=1)
    writer.append(flat(x=np.arange(3)))
    monkeypatch.setattr(shard_writer, "write_index", fail)
    with pytest.raises(OSError, match="no space"):
        writer.close()
    assert names_in(tmp_path) == []


EXTREMES = [
    np.array([2**63 - 1, -(2**63), 2**53 + 1], "i8"),
    np.array([2**64 - 1, 2**53 + 1, 0], "u8"),
    np.array([0x7FF8000000000123, 0xFFF0000000000000, 1], "u8").view("f8"),
    np.array([0x7FC00123, 0x80000000, 1], "u4").view("f4"),
    np.array([0x7E01, 0x8000, 1], "u2").view("f2"),
    np.array([0x7FC1, 0x8000, 1], "u2").view(ml_dtypes.bfloat16),
    np.array([0x7FC00123, 0x80000000] * 3, "u4").view("c8"),
    np.array([True, False, True]),
    np.array(["NaT", 1, -1], "M8[ns]"),
    np.array([2**63 - 1, -1, 0], "i8").view("m8[s]"),
    np.array([1, 2, 3], ">i4"),
]


@pytest.mark.parametrize("values", EXTREMES, ids=lambda values: str(values.dtype))
@pytest.mark.parametrize("budget", [0, 10**6])
@pytest.mark.parametrize("options", [{}, {"widen": True}])
def test_values_are_written_bit_by_bit(tmp_path, monkeypatch, values, budget, options):
    monkeypatch.setattr(column_buffer, "_CHUNK", 8)
    with io.Writer(tmp_path / "a.nrt", **options) as writer:
        writer._buffer._budget = budget
        for _ in range(3):
            writer.append(flat(x=values))
    native = values.astype(values.dtype.newbyteorder("="))
    file = io.open_file(tmp_path / "a.nrt")
    assert file.values("x").dtype == native.dtype
    assert file.values("x").tobytes() == 3 * native.tobytes()
    io.save(tmp_path / "saved.nrt", flat(x=values))
    assert io.open_file(tmp_path / "saved.nrt").values("x").tobytes() == native.tobytes()


@pytest.mark.parametrize("chunk", [8, 24, 64])
def test_values_that_widen_keep_their_numbers(tmp_path, monkeypatch, chunk):
    monkeypatch.setattr(column_buffer, "_CHUNK", chunk)
    parts = [np.array([2**32 - 1, 0], "u4"), np.array([-(2**63), 2**53 + 1], "i8"), np.array([-1], "i1")]
    with io.Writer(tmp_path / "a.nrt", widen=True) as writer:
        writer._buffer._budget = 0
        for part in (*parts, *parts):
            writer.append(flat(x=part))
    values = io.open_file(tmp_path / "a.nrt").values("x")
    assert values.dtype == np.int64
    assert values.tolist() == 2 * [2**32 - 1, 0, -(2**63), 2**53 + 1, -1]


def test_a_padding_word_that_is_given_takes_id_0_before_the_words_of_pieces(tmp_path):
    """Of writers, shards and partitions that are built; batches are padded with it."""
    given, pieces = {"code": ["[PAD]"]}, [{"code": [["a", "b"], ["a"]]}, {"code": [["c"], ["b", "c"]]}]
    with io.Writer(tmp_path / "a.nrt", vocabularies=given) as writer:
        for piece in pieces:
            writer.append(piece)
    with io.ShardWriter(tmp_path / "shards", 2, vocabularies=given) as shards:
        for piece in pieces:
            shards.append(piece)
    io.build([0, 1], pieces.__getitem__, tmp_path / "built", vocabularies=given)
    for name in ("a.nrt", "shards", "built"):
        data = varlen.open(tmp_path / name)
        assert data.fields["code"].padding_id == 0
        assert data.batch(range(4))["code"].tolist() == [[1, 2], [1, 0], [3, 0], [2, 3]]
        assert data.fields["code"].vocabulary == (
            "[PAD]",
            "a",
            "b",
            "c",
        )  # of all shards, now that they are open


def test_times_of_the_other_byte_order_are_times(tmp_path):
    times = np.array(["2020-01-01", "NaT"], ">M8[s]")
    for rows in ({"x": times}, {"dim1/bounds": np.array([1, 2]), "dim1/x": times}):
        with io.Writer(tmp_path / "a.nrt") as writer:
            writer.append(rows)
        values = io.open_file(tmp_path / "a.nrt").joint().values("x")
        np.testing.assert_array_equal(values, times.astype("M8[s]"), strict=True)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([5], "m8[s]"), "M8[s]"),
        (np.array([5], "M8[s]"), "m8[s]"),
        (np.array([5], "M8[s]"), "M8[D]"),
        (np.array([1500], "m8[ms]"), "m8[s]"),
    ],
)
def test_times_are_of_the_kind_and_the_unit_of_the_schema_or_refused(tmp_path, values, dtype):
    for rows in ({"x": values}, {"dim0/x": values}, {"x": list(values)}, {"x": [values]}):
        with io.Writer(tmp_path / "a.nrt", schema={"x": dtype}) as writer:
            with pytest.raises((ValueError, OverflowError), match=r"x.*(fit|schema|go into)"):
                writer.append(rows)
            writer.discard()
    with pytest.raises((ValueError, OverflowError), match="x"):
        varlen.JointNestedRaggedTensorDict({"x": [values]}, schema={"x": np.dtype(dtype)})


def test_a_dtype_that_no_file_holds_is_refused_before_the_piece_is_kept(tmp_path):
    with io.Writer(tmp_path / "a.nrt", widen=True) as writer:
        writer.append({"x": np.array([2**25 + 1])})
        with pytest.raises(TypeError, match=r"^x: a file cannot hold dtype complex128"):
            writer.append({"x": np.array([1j], "c8")})
        writer.append({"x": np.array([7])})
    assert io.open_file(tmp_path / "a.nrt").joint().values("x").tolist() == [2**25 + 1, 7]


@pytest.mark.parametrize(
    "values", [[5], [True], ["a", "b"], np.array(["2020"], "M8[s]"), np.array([1.5], "f4")], ids=str
)
def test_a_shard_without_values_of_a_key_has_the_dtype_of_those_before(tmp_path, values):
    with io.ShardWriter(tmp_path / "a", 1) as writer:
        for row in (values, [], values):
            writer.append({"x": [row]})
    rows = [list(row["x"]) for row in varlen.open(tmp_path / "a")]
    whole = varlen.open(tmp_path / "a")[:].to_list()["x"]
    assert [len(row) for row in rows] == [len(values), 0, len(values)]
    assert [list(row) for row in whole] == [list(np.asarray(v).tolist()) for v in (values, [], values)]


def _one_key(piece):
    return {"n": piece}


def test_rows_with_a_shape_follow_rows_without(tmp_path):
    with io.Writer(tmp_path / "a.nrt") as writer:
        writer.append({"x": [[], []], "y": [[], []]})
        writer.append({"x": [[np.arange(3)]], "y": [["a"]]})
        writer.append({"x": [[]], "y": [[]]})
    assert varlen.open(tmp_path / "a.nrt")[:].to_list() == {
        "x": [[], [], [[0, 1, 2]], []],
        "y": [[], [], ["a"], []],
    }


def test_a_key_with_a_value_keeps_its_dim(tmp_path):
    one = io.Writer(tmp_path / "b.nrt")
    one.append({"n": [[1]]})
    with pytest.raises(ValueError, match=r"n: dim 2, .*but 1 and \(\) in the pieces before$"):
        one.append({"n": [[[1]]]})
    one.discard()


def test_partitions_without_a_value_have_the_dims_of_others(tmp_path):
    io.build([[[], []], [[[1]]]], _one_key, tmp_path / "a", schema={"n": "int64"})
    shards = io.open_shards(tmp_path / "a")
    assert [shards.file(i).depth for i in range(2)] == [2, 2]
    assert varlen.open(tmp_path / "a")[:].to_list() == {"n": [[], [], [[1]]]}


def nested(depth):
    rows = st.integers(-5, 5)
    for _ in range(depth):
        rows = st.lists(rows, max_size=3)
    return st.lists(rows, min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_lists_that_end_before_their_values_are_as_deep_as_others(data):
    """Whichever piece, shard or partition they are in, before the others or behind them."""
    depth = data.draw(st.integers(1, 3))
    pieces = data.draw(st.lists(nested(depth), min_size=1, max_size=5))
    full = [[1]] if depth == 1 else [[[1]]] if depth == 2 else [[[[1]]]]
    pieces.insert(data.draw(st.integers(0, len(pieces))), full)
    rows = [row for piece in pieces for row in piece]
    with tempfile.TemporaryDirectory() as folder:
        with io.Writer(f"{folder}/a.nrt", durable=False) as writer:
            for piece in pieces:
                writer.append({"n": piece})
        schema = io.Schema({"n": {"kind": "number", "dtype": "int64", "level": depth}})
        with io.ShardWriter(f"{folder}/shards", 2, schema=schema) as writer:
            for piece in pieces:
                writer.append({"n": piece})
        io.build(pieces, _one_key, f"{folder}/built")
        for name in ("a.nrt", "shards", "built"):
            ds = varlen.open(f"{folder}/{name}")
            assert ds[:].to_list() == {"n": rows}
            assert ds.fields["n"].dim == depth
        ds.map(lambda row: row.to_list(), f"{folder}/mapped", rows_per_shard=2)
        assert varlen.open(f"{folder}/mapped")[:].to_list() == {"n": rows}
        with io.ShardWriter(f"{folder}/built", 2, append=True) as writer:
            writer.append({"n": [[]]})
        assert varlen.open(f"{folder}/built")[-1].to_list() == {"n": []}


BARE = [
    [[[], []], [[1, 2], [3]]],
    [[[], []], [["u"], ["v", "u"]]],
    [[[], []], [[[1.5]], []]],
    [[[], []], [[[]], []], [[], []], [[[True], []], []], [[], []]],
    [[["u"], []], [[], []], [[], ["v"]]],
    [[[], []], [[], []]],
]


@pytest.mark.parametrize("pieces", BARE)
@pytest.mark.parametrize("options", [{}, {"compress": True, "checksums": True, "metadata": {"from": "here"}}])
def test_shards_without_a_value_are_of_the_kind_of_later_ones(tmp_path, pieces, options):
    with io.ShardWriter(tmp_path / "a", 2, durable=False, **options) as writer:
        for i, piece in enumerate(pieces):
            writer.append({"x": piece, "n": [2 * i, 2 * i + 1]})
    ds = varlen.open(tmp_path / "a", verify="open" if options else "never")
    rows = [row for piece in pieces for row in piece]
    assert ds[:].to_list() == {"x": rows, "n": list(range(len(rows)))}
    files = [io.open_file(path) for path in ds.paths]
    assert len({(file.fields["x"].dim, file.fields["x"].dtype) for file in files}) == 1
    assert all(file.user_metadata == options.get("metadata", {}) for file in files)
    assert names_in(tmp_path / "a") == ["index.json", *map(os.path.basename, ds.paths)]


def test_shards_with_values_are_not_made_another_kind(tmp_path):
    writer = io.ShardWriter(tmp_path / "a", 1, durable=False)
    for row in ([], [1], []):
        writer.append({"x": [row]})
    with pytest.raises(ValueError, match=r"x: dtype float64 instead of int64 in the shards before"):
        writer.append({"x": [[2.5]]})
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("schema", [None, {"id": "i8", "x": "f4"}])
@pytest.mark.parametrize("make", [io.Writer, partial(io.ShardWriter, rows_per_shard=2)])
def test_files_without_rows_open(tmp_path, schema, make):
    with make(tmp_path / "a.nrt", schema=schema, row_ids="id"):
        pass
    shards = io.open_shards(tmp_path / "a.nrt")
    assert (len(shards), list(shards.fields), shards.row_ids) == (0, [], None)
