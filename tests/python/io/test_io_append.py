"""Rows added to a finished folder: a reader sees the old data set or the new, whatever happens on the way."""

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from growth import ALL, FIRST, MORE, add, begin, run_killed
from hypothesis import given, settings
from hypothesis import strategies as st
from varlen import io


def lists(folder, **options):
    return vl.open(folder, **options)[:].to_list()


def listing(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@pytest.mark.parametrize("checksums", [False, True])
def test_rows_are_added_and_old_files_stay(tmp_path, checksums):
    folder = begin(tmp_path / "a", checksums=checksums)
    before = listing(folder)
    old = vl.open(folder)
    add(folder)
    after = listing(folder)
    assert lists(folder) == ALL
    assert old[:].to_list() == FIRST
    assert {n: after[n] for n in before if n != "index.json"} == {
        n: raw for n, raw in before.items() if n != "index.json"
    }
    assert sorted(after) == ["index.json", *(f"part-0000{i}.nrt" for i in range(3))]
    if checksums:
        assert io.verify(folder) == []
        assert len(vl.open(folder, verify="open")) == 5


@settings(max_examples=30, deadline=None)
@given(
    pieces=st.lists(
        st.lists(st.tuples(st.lists(st.integers(-9, 9), max_size=3), st.sampled_from("abcd")), max_size=5),
        min_size=1,
        max_size=4,
    ),
    size=st.integers(1, 4),
)
def test_appends_are_lists_that_are_added(pieces, size):
    expected = [([1], "a")]
    with tempfile.TemporaryDirectory() as name:
        begin(Path(name) / "f", {"x": [[1]], "w": ["a"]})
        for piece in pieces:
            with io.ShardWriter(Path(name) / "f", size, append=True, durable=False) as writer:
                if piece:
                    writer.append({"x": [list(x) for x, _ in piece], "w": [w for _, w in piece]})
            expected += piece
            got = lists(Path(name) / "f")
            assert list(zip(got["x"], got["w"], strict=True)) == expected


REFUSALS = [
    ({"x": [[1]]}, r"w: keys \['w'\] are missing; .* has \['x', 'w'\]"),
    ({**MORE, "y": [1, 2]}, r"y: keys \['y'\] are new; .* has \['x', 'w'\]"),
    ({"x": [[1, None], []], "w": ["a", "b"]}, "x: a null or NaN at row 0, but .* holds int64"),
    ({"x": [1, 2], "w": ["a", "b"]}, "x: dim 0"),
    ({"x": [[0.5], []], "w": ["a", "b"]}, "x: dtype float64, but int64"),
    ({"x": [["u"], []], "w": ["a", "b"]}, "x: words, but .* holds numbers"),
    ({"x": [[1], []], "w": [1, 2]}, "w: numbers without a vocabulary, but .* holds words"),
]


@pytest.mark.parametrize(("rows", "text"), REFUSALS)
def test_rows_that_do_not_fit_are_refused_before_anything_is_written(tmp_path, rows, text):
    folder = begin(tmp_path / "a")
    before = listing(folder)
    with pytest.raises(ValueError, match=text):
        add(folder, rows)
    assert listing(folder) == before
    add(folder)
    assert lists(folder) == ALL


def test_numbers_keep_their_dtype_and_lose_nothing(tmp_path):
    def rows(*values):
        return {"dim0/x": np.array(values)}

    folder = begin(tmp_path / "a", {"dim0/x": np.array([0.5, 1], np.float32)})
    add(folder, rows(2, 4.25))
    with pytest.raises(ValueError, match=r"x: 0.1 at row 0 would be rounded to float32"):
        add(folder, rows(0.1))
    assert vl.open(folder)["x"].tolist() == [0.5, 1, 2, 4.25]
    small = begin(tmp_path / "b", {"dim0/x": np.array([1, 2], np.uint8)})
    add(small, rows(3, 255))
    with pytest.raises(ValueError, match="x: 256 at row 1 does not fit uint8"):
        add(small, rows(1, 256))
    assert vl.open(small)["x"].dtype == np.uint8


def test_words_go_on_and_ids_that_do_not_fit_are_refused(tmp_path):
    io.build([{"w": ["a", "b"]}, {"w": ["c"]}], None, tmp_path / "a")
    add(tmp_path / "a", {"w": ["d", "a"]})
    ds = vl.open(tmp_path / "a")
    assert ds[:].to_list() == {"w": ["a", "b", "c", "d", "a"]}
    assert ds.fields["w"].vocabulary == ("[PAD]", "a", "b", "c", "d")
    before = listing(tmp_path / "a")
    with pytest.raises(ValueError, match=r"w: the word 'w251' gets an id that does not fit uint8"):
        add(tmp_path / "a", {"w": [f"w{i}" for i in range(300)]})
    assert listing(tmp_path / "a") == before


def test_two_writers_at_once_are_one_error(tmp_path):
    folder = begin(tmp_path / "a")
    with io.ShardWriter(folder, 2, append=True) as writer:
        writer.append(MORE)
        with pytest.raises(BlockingIOError, match="another writer is at work in the folder"):
            io.ShardWriter(folder, 2, append=True)
        assert lists(folder) == FIRST
    assert lists(folder) == ALL


def test_a_folder_that_is_not_finished_is_refused(tmp_path):
    vl.JointNestedRaggedTensorDict(FIRST).save(tmp_path / "a.nrt")
    with pytest.raises(ValueError, match=r"has no index\.json"):
        io.ShardWriter(tmp_path, 2, append=True)
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        io.ShardWriter(tmp_path / "none", 2, append=True)
    with pytest.raises(FileExistsError, match="append=True adds to a finished folder"):
        io.ShardWriter(begin(tmp_path / "b"), 2)
    with pytest.raises(ValueError, match="schema: is the folder's with append=True"):
        io.ShardWriter(tmp_path / "b", 2, append=True, schema={"x": "i8"})
    assert sorted(os.listdir(tmp_path)) == ["a.nrt", "b"]


def test_a_damaged_index_is_not_sealed_again(tmp_path):
    folder = begin(tmp_path / "a", checksums=True)
    index = folder / "index.json"
    raw = index.read_bytes()
    index.write_bytes(raw.replace(b'"rows": 2', b'"rows":  2', 1))
    with pytest.raises(io.ChecksumError, match="index"):
        add(folder)


def test_accounts_add_up(tmp_path):
    vl.open(begin(tmp_path / "plain")).save(tmp_path / "a", rows_per_shard=2)
    add(tmp_path / "a")
    account = vl.open(tmp_path / "a").account
    account.check()
    assert (account.rows.source.values, account.rows.result.values) == (5, 5)


APPEND = """with io.ShardWriter(sys.argv[1], 2, append=True) as writer:
    writer.append({"x": [[4], [5, 6]], "w": ["c", "a"]})
"""


def test_a_kill_at_any_step_leaves_the_old_rows_or_the_new(tmp_path):
    states, stop, code = [], 0, 9
    while code == 9:
        stop += 1
        folder = begin(tmp_path / str(stop), checksums=True)
        code = run_killed(APPEND, folder, stop)
        rows = lists(folder, verify="open")
        assert rows in (FIRST, ALL)
        assert io.verify(folder) == []
        states.append(rows == ALL)
        add(folder)
        expected = {key: rows[key] + MORE[key] for key in rows}
        assert lists(folder, verify="open") == expected
        count = len(vl.open(folder).paths)
        assert sorted(os.listdir(folder))[0] == "index.json"
        assert len(os.listdir(folder)) == count + 1
    assert code == 0
    assert stop > 10
    assert states == sorted(states)
    assert not states[0]
    assert states[-1]


def save(folder):
    vl.Dataset(vl.JointNestedRaggedTensorDict(FIRST, schema={"w": str})).save(folder, rows_per_shard=1)


@pytest.mark.parametrize("make", [begin, save])
def test_a_reader_of_a_new_folder_sees_all_rows_or_an_error(tmp_path, monkeypatch, make):
    """Around each name that is given, where the writer may be killed, too."""
    seen = []

    def looking(own):
        def call(*arguments, **options):
            look()
            own(*arguments, **options)
            look()

        return call

    def look():
        try:
            seen.append(lists(tmp_path / "a"))
        except (FileNotFoundError, io.FileFormatError):
            seen.append(None)

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, looking(getattr(os, name)))
    make(tmp_path / "a")
    look()
    assert len(seen) > 4
    assert seen[0] is None
    assert seen[-1] == FIRST
    assert all(rows in (None, FIRST) for rows in seen)
    (tmp_path / "a" / "part-00001.nrt").unlink()
    with pytest.raises(FileExistsError, match=r"lacks part-00001\.nrt: a writer is at work there, or was"):
        io.ShardWriter(tmp_path / "a", 2)


def test_readers_during_appends_see_one_state_or_another(tmp_path):
    import threading

    folder = begin(tmp_path / "a")
    seen, done = [], threading.Event()

    def read():
        while not done.is_set():
            seen.append(len(lists(folder)["w"]))

    thread = threading.Thread(target=read)
    thread.start()
    for _ in range(20):
        add(folder)
    done.set()
    thread.join()
    assert set(seen) <= set(range(3, 44, 2))
    assert seen == sorted(seen)
