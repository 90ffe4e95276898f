"""Partitions added to a finished folder: a shard each, once, by any engine, and all of them or none."""

import os
from pathlib import Path

import numpy as np
import pytest
import varlen as vl
from growth import run_killed
from varlen import io

FIRST = [{"id": [0, 1], "x": [[1, 2], []], "w": ["a", "b"]}, {"id": [2], "x": [[3]], "w": ["a"]}]
MORE = [{"id": [3], "x": [[4, 5]], "w": ["c"]}, {"id": [4, 5], "x": [[], [6]], "w": ["a", "d"]}]


def build(parts, folder, **options):
    return io.build(parts, None, folder, durable=False, **options)


def lists(folder):
    return vl.open(folder)[:].to_list()


def listing(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def whole(*parts):
    return {key: [row for part in parts for row in part[key]] for key in parts[0]}


@pytest.mark.parametrize("options", [{}, {"workers": 2}, {"checksums": True}])
def test_partitions_are_added_as_shards_and_old_files_stay(tmp_path, options):
    build(FIRST, tmp_path / "a", row_ids="id", **{k: v for k, v in options.items() if k != "workers"})
    before = listing(tmp_path / "a")
    old = vl.open(tmp_path / "a")
    assert len(build(MORE, tmp_path / "a", append=True, **options)) == 6
    after = listing(tmp_path / "a")
    assert sorted(after) == ["index.json", *(f"part-0000{i}.nrt" for i in range(4))]
    assert all(after[name] == raw for name, raw in before.items() if name != "index.json")
    ds = vl.open(tmp_path / "a")
    assert ds[:].to_list() == whole(*FIRST, *MORE)
    assert old[:].to_list() == whole(*FIRST)
    assert ds.rows_of([5, 0]).tolist() == [5, 0]
    assert ds.fields["w"].vocabulary == ("[PAD]", "a", "b", "c", "d")
    if options.get("checksums"):
        assert io.verify(tmp_path / "a") == []


def test_a_folder_that_grows_is_the_one_that_is_built_at_once(tmp_path):
    parts = [{"id": [i], "x": [[i, i + 1]]} for i in range(4)]
    build(parts[:2], tmp_path / "a")
    build(parts[2:3], tmp_path / "a", append=True)
    build(parts[3:], tmp_path / "a", append=True)
    build(parts, tmp_path / "b")
    one, other = listing(tmp_path / "a"), listing(tmp_path / "b")
    assert {n: raw for n, raw in one.items() if n != "index.json"} == {
        n: raw for n, raw in other.items() if n != "index.json"
    }
    assert len(build(parts, tmp_path / "a")) == 4
    assert listing(tmp_path / "a") == one


def test_a_partition_is_added_once_and_in_any_order(tmp_path):
    build(FIRST, tmp_path / "a")
    build([MORE[0], *FIRST], tmp_path / "a", append=True)
    state = listing(tmp_path / "a")
    assert len(build([*FIRST, MORE[0]], tmp_path / "a", append=True)) == 4
    assert listing(tmp_path / "a") == state
    build([MORE[0], MORE[0]], tmp_path / "a", append=True)  # twice in one list is two shards
    assert lists(tmp_path / "a") == whole(*FIRST, MORE[0], MORE[0])


def test_any_finished_folder_grows(tmp_path):
    with io.ShardWriter(tmp_path / "a", 2) as writer:
        writer.append({"x": [[1], [2], []]})
    build([{"x": [[7, 8]]}], tmp_path / "a", append=True)
    with io.ShardWriter(tmp_path / "a", 2, append=True) as writer:
        writer.append({"x": [[9]]})
    build([{"x": [[7, 8]]}, {"x": [[0]]}], tmp_path / "a", append=True)
    assert lists(tmp_path / "a") == {"x": [[1], [2], [], [7, 8], [9], [0]]}


def test_dtypes_are_those_of_the_folder(tmp_path):
    build([{"dim0/x": np.array([0.5, 1], np.float32)}], tmp_path / "a")
    build([{"dim0/x": np.array([2.5])}], tmp_path / "a", append=True)
    before = listing(tmp_path / "a")
    with pytest.raises(RuntimeError, match=r"partition 1: x: 0.1 at row 0 would be rounded to float32"):
        build([{"dim0/x": np.array([1.0])}, {"dim0/x": np.array([0.1])}], tmp_path / "a", append=True)
    left = [name for name in os.listdir(tmp_path / "a") if name not in before]
    assert left == [".part-00002.draft"]  # of the partition that is right, which the next call takes
    build([{"dim0/x": np.array([1.0])}], tmp_path / "a", append=True)
    assert vl.open(tmp_path / "a")["x"].tolist() == [0.5, 1, 2.5, 1]
    assert sorted(os.listdir(tmp_path / "a"))[0] == "index.json"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        ({"id": [9]}, "keys"),
        ({"id": [9], "x": [1], "w": ["a"]}, "x: dim 0"),
        ({"id": [9], "x": [[0.5]], "w": ["a"]}, "x: dtype float64"),
        ({"id": [9], "x": [[1]], "w": [7]}, "w: numbers without a vocabulary"),
    ],
)
def test_rows_that_do_not_fit_are_refused_with_their_partition(tmp_path, rows, text):
    build(FIRST, tmp_path / "a")
    before = listing(tmp_path / "a")
    with pytest.raises(RuntimeError, match=f"partition 0: .*{text}"):
        build([rows], tmp_path / "a", append=True)
    assert listing(tmp_path / "a") == before


def test_ids_of_new_words_fit_or_are_refused(tmp_path):
    build([{"w": ["a"]}], tmp_path / "a")
    before = listing(tmp_path / "a")
    parts = [{"w": [f"{first}-{i}" for i in range(200)]} for first in "bc"]
    with pytest.raises(ValueError, match="w: the word 'c-54' gets an id that does not fit uint8"):
        build(parts, tmp_path / "a", append=True)
    assert {name: raw for name, raw in listing(tmp_path / "a").items() if not name.startswith(".")} == before
    build(parts[:1], tmp_path / "a", append=True)
    assert len(vl.open(tmp_path / "a")) == 201


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"schema": {"x": "i8"}}, "schema: is the folder's"),
        ({"vocabularies": {"w": ["a"]}}, "vocabularies: is the folder's"),
        ({"row_ids": "x"}, "row_ids: 'x', but None"),
        ({"checksums": True}, "checksums: .* has none"),
        ({"padding_id": False}, "padding_id: False"),
    ],
)
def test_what_the_folder_has_is_not_given_again(tmp_path, options, text):
    build(FIRST, tmp_path / "a")
    with pytest.raises(ValueError, match=text):
        build(MORE, tmp_path / "a", append=True, **options)


def test_there_is_a_finished_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no such folder"):
        build(MORE, tmp_path / "none", append=True)
    with pytest.raises(ValueError, match=r"has no index\.json"):
        build(MORE, tmp_path, append=True)
    assert not os.listdir(tmp_path)


def test_accounts_add_up(tmp_path):
    build(FIRST, tmp_path / "a")
    build(MORE, tmp_path / "a", append=True)
    account = vl.open(tmp_path / "a").account
    account.check()
    assert (account.rows.source.values, account.rows.result.values) == (6, 6)
    assert account.columns["x"].result.values == 6


BUILD = """io.build([{"x": [[4]], "w": ["c"]}, {"x": [[5, 6]], "w": ["d"]}], None, sys.argv[1], append=True)
"""


def test_a_kill_at_any_step_leaves_the_old_rows_or_the_new_and_the_next_call_ends_it(tmp_path):
    old = {"x": [[1], []], "w": ["a", "b"]}
    parts = [{"x": [[4]], "w": ["c"]}, {"x": [[5, 6]], "w": ["d"]}]
    states, stop, code = [], 0, 9
    while code == 9:
        stop += 1
        folder = tmp_path / str(stop)
        build([old], folder)
        code = run_killed(BUILD, folder, stop)
        rows = lists(folder)
        assert rows in (old, whole(old, *parts))
        states.append(rows != old)
        build(parts, folder, append=True)
        assert lists(folder) == whole(old, *parts)
        if not states[-1]:
            names = ["index.json", *(f"part-0000{i}.nrt" for i in range(3))]
            assert sorted(os.listdir(folder)) == names
    assert code == 0
    assert stop > 10
    assert states == sorted(states)
    assert states[-1]
