"""`varlen append`: rows of files added to a folder, as one conversion of all files would have them."""

import json
import os

import pytest
import varlen as vl
from test_cli import run, write_lines
from varlen import io

FIRST = [{"id": 7, "code": ["a", "b"], "t": [1.5, 2.0]}, {"id": 8, "code": ["c"], "t": [0.5]}]
MORE = [{"id": 9, "code": ["d", "a"], "t": [3, 2.25]}, {"id": 10, "code": [], "t": []}]


@pytest.fixture
def folder(tmp_path, capsys):
    lines = write_lines(tmp_path / "a.jsonl", FIRST)
    code, _, err = run(
        capsys, "convert", lines, tmp_path / "v", "--rows-per-shard", "1", "--row-ids", "id", "--checksums"
    )
    assert code == 0, err
    return tmp_path / "v"


def state(folder):
    return {name: os.stat(os.path.join(folder, name)).st_mtime_ns for name in os.listdir(folder)}


def test_lines_are_added_as_if_they_had_been_there(folder, tmp_path, capsys):
    more = write_lines(tmp_path / "b.jsonl", MORE)
    code, out, err = run(capsys, "append", more, folder)
    assert code == 0, err
    assert out.startswith(f"{folder}: 2 records added to 2, 3 keys, ")
    assert "in: 2 rows of 1 file, 6 values in 3 columns; out: 6 values" in out
    both = write_lines(tmp_path / "both.jsonl", FIRST + MORE)
    how = ("--rows-per-shard", "1", "--row-ids", "id", "--quiet")
    assert run(capsys, "convert", both, tmp_path / "w", *how)[0] == 0
    ds, whole = vl.open(folder, verify="open"), vl.open(tmp_path / "w")
    assert ds[:].to_list() == whole[:].to_list()
    assert ds.fields["code"].vocabulary == whole.fields["code"].vocabulary
    assert ds.rows_of([10, 7]).tolist() == [3, 0]
    assert ds.schema == whole.schema
    assert io.verify(folder) == []
    account = ds.account
    account.check()
    assert [os.path.basename(name) for name in account.files] == ["a.jsonl", "b.jsonl"]
    assert (account.rows.source.values, account.rows.result.values) == (4, 4)


def test_events_are_grouped_as_they_were(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("who,word\n1,x\n1,y\n2,x\n")
    (tmp_path / "b.csv").write_text("who,word\n3,z\n3,x\n")
    how = ("--group-by", "who")
    assert run(capsys, "convert", tmp_path / "a.csv", tmp_path / "v", *how, "--rows-per-shard", "5")[0] == 0
    code, out, err = run(capsys, "append", tmp_path / "b.csv", tmp_path / "v", *how, "--json")
    assert code == 0, err
    assert json.loads(out)["rows"]["in"]["values"] == 2
    assert vl.open(tmp_path / "v")[:].to_list() == {"who": [1, 2, 3], "word": [["x", "y"], ["x"], ["z", "x"]]}


def test_data_sets_are_added_too(folder, tmp_path, capsys):
    vl.JointNestedRaggedTensorDict(
        {"id": [9], "code": [["e", "a"]], "t": [[4.0, 5.0]]}, schema={"t": "f8"}
    ).save(tmp_path / "b.nrt")
    code, out, err = run(capsys, "append", tmp_path / "b.nrt", folder)
    assert (code, out) == (0, f"{folder}: 1 records added to 2\n"), err
    ds = vl.open(folder)
    assert ds[:].to_list()["code"] == [["a", "b"], ["c"], ["e", "a"]]
    ds.account.check()
    ds.delete([0])
    more = tmp_path / "more"
    ds.select([2]).with_key("id", [11]).save(more, rows_per_shard=3)
    assert run(capsys, "append", "--quiet", more, folder) == (0, "", "")
    assert vl.open(folder)["id"].tolist() == [8, 9, 11]
    assert run(capsys, "append", folder, folder)[0] == 2


@pytest.mark.parametrize("with_schema", [False, True])
def test_empty_lists_are_as_deep_as_those_of_the_folder(tmp_path, capsys, with_schema):
    first = {"id": 1, "tok": [[1, 2], [3]], "word": [["a", "b"], ["c"]], "t": [0.5, 1.5]}
    empty = {"id": 2, "tok": [], "word": [], "t": []}
    lines = write_lines(tmp_path / "a.jsonl", [first])
    more = write_lines(tmp_path / "b.jsonl", [empty])
    assert run(capsys, "convert", lines, tmp_path / "v", "--rows-per-shard", "2", "--quiet")[0] == 0
    if with_schema:
        how = ("--schema", tmp_path / "v")
        assert run(capsys, "convert", more, tmp_path / "b.nrt", *how, "--quiet") == (0, "", "")
        more = tmp_path / "b.nrt"
    assert run(capsys, "append", more, tmp_path / "v", "--quiet") == (0, "", "")
    ds = vl.open(tmp_path / "v")
    assert ds[1].to_list() == empty
    assert [field.dim for field in ds.fields.values()] == [0, 2, 2, 1]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ({"id": 9, "code": ["d"]}, "keys ['t'] are missing"),
        ({"id": 9, "code": ["d"], "t": [1.0], "u": 1}, "u"),
        ({"id": "x", "code": ["d"], "t": []}, "b.jsonl, line 1: 'id': 'x' is no int64"),
        ({"id": 2**70, "code": ["d"], "t": []}, "b.jsonl, line 1: 'id'"),
        ({"id": 9, "code": [["d"]], "t": []}, "code"),
        ({"id": 9, "code": ["[PAD]"], "t": []}, "the word '[PAD]' is reserved"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_added(folder, tmp_path, capsys, line, fault):
    before = state(folder)
    code, _, err = run(capsys, "append", write_lines(tmp_path / "b.jsonl", [line]), folder)
    assert code == 1
    assert fault in err
    assert state(folder) == before


def test_folders_that_are_none_are_named(folder, tmp_path, capsys):
    lines = write_lines(tmp_path / "b.jsonl", MORE)
    code, _, err = run(capsys, "append", lines, tmp_path / "none")
    assert (code, "there is no such folder; `varlen convert --rows-per-shard N` makes one" in err) == (
        1,
        True,
    )
    code, _, err = run(capsys, "append", lines, tmp_path)
    assert (code, "is no folder of shards with an index" in err) == (1, True)
    code, _, err = run(capsys, "convert", lines, folder, "--rows-per-shard", "1")
    assert (code, "--force replaces it; `varlen append` adds to it" in err) == (1, True)
    code, _, err = run(capsys, "convert", lines, folder)
    assert (code, "`varlen append` adds to a folder of shards" in err) == (2, True)
    assert run(capsys, "append", tmp_path / "missing.jsonl", folder)[0] != 0
    assert run(capsys, "append", lines)[0] == 2
    with pytest.raises(SystemExit):
        run(capsys, "append", lines, folder, "--row-ids", "id")
    with io.ShardWriter(folder, 1, append=True) as writer:
        code, _, err = run(capsys, "append", lines, folder)
        assert (code, "another writer is at work in the folder" in err) == (1, True)
        writer.discard()


def test_a_folder_without_an_account_stays_without_one(tmp_path, capsys):
    with io.ShardWriter(tmp_path / "v", 2) as writer:
        writer.append({"x": [1, 2, 3]})
    lines = write_lines(tmp_path / "b.jsonl", [{"x": 4}])
    code, _, err = run(capsys, "append", lines, tmp_path / "v", "--rows-per-shard", "1")
    assert code == 0, err
    assert vl.open(tmp_path / "v")["x"].tolist() == [1, 2, 3, 4]
    assert vl.open(tmp_path / "v").source.counts.tolist() == [2, 1, 1]
