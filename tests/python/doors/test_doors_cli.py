"""The command line's doors: misuse is 2, failure is 1, each in one line, and everything stays as it was."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import varlen
from varlen import io
from varlen.cli import main

GOOD = [{"id": 1, "w": ["a"]}, {"id": 2, "w": []}]


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a good file of each kind, and shards."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in GOOD))
    io.save("a.nrt", {"dim1/bounds": np.array([2, 3]), "dim1/t": np.array([5, 6, 7])})
    with io.ShardWriter("shards", 1) as writer:
        writer.append({"dim0/x": np.arange(2)})
    os.makedirs("other")
    (tmp_path / "other" / "notes.txt").write_text("mine")
    (tmp_path / "other" / "t.csv").write_text("a,b\n1,2\n")
    os.makedirs("empty")
    return tmp_path


def state(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def fails(capsys, folder, code, text, *arguments):
    """The command ends with this code and this line, and changes nothing."""
    before = state(folder)
    try:
        got = main([str(argument) for argument in arguments])
    except SystemExit as stop:
        got = stop.code
    err = capsys.readouterr().err
    assert got == code, err
    assert err.count("\n") == 1
    assert err.startswith("varlen")
    assert text in err
    assert state(folder) == before


OUT = ["convert", "a.jsonl", "o.nrt"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["nonsense"], "invalid choice: 'nonsense'"),
        (["--nonsense", "info", "a.nrt"], "unrecognized arguments: --nonsense"),
        (["inof", "a.nrt"], "did you mean info?"),
        (["info", "a.nrt", "--batchsize", "1"], "--batchsize 1; did you mean --batch-size?"),
        (["demo", "--fiels=3"], "did you mean --files?"),
        (["bench", "--lsit"], "did you mean --list?"),
        ([*OUT, "--groupby", "id"], "unrecognized arguments: --groupby id; did you mean --group-by?"),
        ([*OUT, "--rows_per_shard=3", "--qiuet"], "did you mean --rows-per-shard and --quiet?"),
        (["info"], "FILE|FOLDER"),
        (["info", "a.nrt", "more"], "unrecognized arguments: more"),
        (["info", "a.nrt", "--batch-size", "x"], "--batch-size: invalid int value: 'x'"),
        (["info", "a.nrt", "--batch-size", "0"], "--batch-size: expected at least 1, got 0"),
        (["demo", "--files", "-1"], "--files: expected at least 1, got -1"),
        (["demo", "--files", "1.5"], "--files: invalid int value: '1.5'"),
        (["demo", "--batch-size", "0"], "--batch-size: expected at least 1, got 0"),
        (["bench", "--rows", "("], "--rows: '(' is not a regular expression"),
        (["bench", "--quick", "yes"], "unrecognized arguments: yes"),
        (["convert"], "arguments are required: IN"),
        (["convert", "a.jsonl"], "OUT"),
        (["convert", "a.nrt", "a.jsonl", "o.nrt"], "a.nrt: is a data set, which is converted alone"),
        (["convert", ".", "o.nrt"], "a.jsonl holds lines and other/t.csv a table; convert them apart"),
        (["convert", "none", "o.nrt"], "cannot tell the format from ''"),
        ([*OUT, "--nulls", "drop"], "--nulls: invalid choice: 'drop'"),
        ([*OUT, "--nulls", "NaN"], "did you mean nan?"),
        ([*OUT, "--nulls", "fill"], "--nulls fill and --fill VALUE go together"),
        ([*OUT, "--fill", "3"], "--nulls fill and --fill VALUE go together"),
        ([*OUT, "--batch-rows", "0"], "--batch-rows: expected at least 1, got 0"),
        ([*OUT, "--rows-per-shard", "0"], "--rows-per-shard: expected at least 1, got 0"),
        ([*OUT, "--rows-per-shard", "x"], "--rows-per-shard: invalid int value: 'x'"),
        ([*OUT, "--columns", ""], "--columns: an empty name"),
        ([*OUT, "--columns", "id,"], "--columns: an empty name"),
        ([*OUT, "--columns", "id, id"], "--columns: 'id' is given twice"),
        ([*OUT, "--constant", "id"], "--constant needs --group-by"),
        ([*OUT, "--group-by", "id", "--constant", "id"], "--constant: 'id' is a column of --group-by"),
        ([*OUT, "--group-by", "id", "--constant", "a,a"], "--constant: 'a' is given twice"),
        (["convert", "t.csv", "o.nrt", "--regroup"], "--regroup needs --group-by"),
        (
            ["convert", "t.csv", "o.nrt", "--group-by", "p", "--group-by", "p"],
            "--group-by: 'p' is given twice",
        ),
        (["convert", "a.jsonl", "shards", "--force"], "shards: is a folder"),
        (["convert", "a.jsonl", "a.nrt", "--force", "--rows-per-shard", "1"], "a.nrt: is a file"),
        (["convert", "a.jsonl", "a.jsonl", "--force"], "a.jsonl: IN and OUT are the same file"),
        (["convert", "a.jsonl", "/dev/null", "--force"], "/dev/null: is neither a file nor a folder"),
    ],
)
def test_misuse_is_said_in_a_line(capsys, here, arguments, text):
    fails(capsys, here, 2, text, *arguments)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["info", "none.nrt"], "none.nrt"),
        (["info", "a.jsonl"], "a.jsonl: is JSON, no .nrt file; `varlen convert` makes one of it"),
        (["info", "other/t.csv"], "t.csv: is text, a table like CSV, and no .nrt file; `varlen convert`"),
        (["info", "empty"], "empty: it is empty"),
        (["info", "other"], "other: it holds a .csv file; `varlen convert` makes a data set of such"),
        (["info", "none/*.nrt"], "no file is called"),
        (["info", "/dev/null"], "/dev/null: not a regular file"),
        (["demo", "nowhere"], "nowhere: not a folder"),
        (["demo", "a.jsonl"], "a.jsonl: not a folder"),
        (["demo", "empty"], "empty: no files to read"),
        (["demo", "other", "--save", "none/x.nrt"], "none/x.nrt: there is no folder none"),
        (["demo", "other", "--save", "empty"], "empty: is a folder, --save takes a file"),
        (["bench", "--json", "none/x.json"], "--json: there is no folder none"),
        (["bench", "--json", "empty"], "--json: empty is a folder"),
        (["convert", "none.jsonl", "o.nrt"], "none.jsonl: no such file"),
        (["convert", "a.jsonl", "a.nrt"], "a.nrt: already exists; --force replaces it"),
        (["convert", "a.jsonl", "shards", "--rows-per-shard", "1"], "shards: already exists"),
        (["convert", "a.jsonl", "other", "--rows-per-shard", "1", "--force"], "other: holds 'notes.txt'"),
        (["convert", "a.jsonl", "none/o.nrt"], "none/o.nrt: there is no folder none"),
        (["convert", "a.jsonl", "none/o", "--rows-per-shard", "1"], "none/o: there is no folder none"),
        (["convert", "a.jsonl", "a.jsonl/o.nrt"], "a.jsonl/o.nrt: there is no folder a.jsonl"),
        ([*OUT, "--group-by", "x"], "a.jsonl: --group-by: no key 'x'; there are id, w"),
        ([*OUT, "--group-by", "w"], "a.jsonl: --group-by: lists are no group, in the key 'w'"),
        ([*OUT, "--columns", "x"], "a.jsonl, line 1: no value for 'x'; see --nulls"),
        ([*OUT, "--row-ids", "x"], "a.jsonl: --row-ids: 'x' is not a key with one value a record"),
        ([*OUT, "--row-ids", "w"], "a.jsonl: --row-ids: 'w' is not a key with one value a record"),
    ],
)
def test_failure_is_said_in_a_line(capsys, here, arguments, text):
    fails(capsys, here, 1, text, *arguments)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("x", "a.jsonl: --constant: no column 'x'; there are id, w"),
        ("w", "a.jsonl: --constant: 'w' holds lists"),
    ],
)
def test_columns_that_cannot_be_constant_are_named(capsys, here, name, text):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    fails(capsys, here, 1, text, *OUT, "--group-by", "id", "--constant", name)


@pytest.mark.parametrize(
    "arguments", [["other/t.csv"], ["a.jsonl", "--group-by", "id"]], ids=["a table", "lines in groups"]
)
def test_what_needs_pyarrow_says_how_to_get_it(capsys, here, monkeypatch, arguments):
    for name in [name for name in sys.modules if name.startswith("varlen.cli.conversion.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    fails(capsys, here, 1, "pip install 'varlen[arrow]'", "convert", *arguments, "o.nrt")


def test_bench_names_rows_and_options_that_are_there(capfd, monkeypatch):
    root = Path(__file__).parents[3]
    monkeypatch.chdir(root)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.syspath_prepend(root)
    assert main(["bench", "--rows", "typo"]) == 2
    assert capfd.readouterr().err == "--rows: no row matches 'typo'; --list names them all\n"
    assert main(["bench", "--list", "--rows", "^epoch"]) == 0
    listed = capfd.readouterr().out.splitlines()
    assert listed
    assert all(line.startswith("epoch") for line in listed)


HALF = "\\ud800"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        ("[1]", "in.jsonl, line 1: expected an object, got list"),
        ('{"a": 1}\n{"a": \n', "in.jsonl, line 2: Expecting value"),
        ('{"a": 1}\n{"a": "\udcff"}', "in.jsonl, line 2: 'utf-8' codec can't decode byte 0xff"),
        ('{"a": ' + "[" * 99999 + "]" * 99999 + "}", "in.jsonl, line 1: "),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", "in.jsonl, line 1: 'a': nested deeper than 64 levels"),
        ('{"a": 1}\n\n\n{"b": 2}', "in.jsonl, line 4: no value for 'a'; see --nulls"),
        ('{"a": 1, "b": 2, "a": 3}', "in.jsonl, line 1: the key 'a' comes twice"),
        ('{"a": [1]}\n\n{"a": [null]}', "line 3: 'a'[0]: expected a number, got NoneType; see --nulls"),
        ('{"a": [1]}\n{"a": [2, "x"]}', "in.jsonl, line 2: 'a'[1]: expected a number, got str"),
        ('{"a": [1]}\n{"a": [[2]]}', "in.jsonl, line 2: 'a'[0]: expected a number, got list"),
        ('{"a": [[1]]}\n{"a": [2]}', "in.jsonl, line 2: 'a'[0]: expected a list or an array, got int"),
        ('{"a": 1}\n{"a": {"b": 1}}', "in.jsonl, line 2: 'a': expected a number, got dict"),
        (f'{{"a": 1}}\n{{"a": {2**64}}}', f"in.jsonl, line 2: 'a': {2**64} does not fit 64 bits"),
        (f'{{"a": {2**63}}}\n{{"a": -1}}', "in.jsonl, lines 1 to 2: 'a': no 64-bit integer type holds both"),
        (
            '{"a": [1], "b": [1]}\n\n{"a": [1], "b": []}',
            "line 3: 'b' has a list of 0 where 'a' has one of 1, at depth 1",
        ),
        (
            '{"a": [[1], [2]], "b": [[], []]}',
            "line 1: 'b' has a list of 0 where 'a' has one of 1, at depth 2",
        ),
        ('{"a": "' + HALF + '"}', "in.jsonl: entries: '\\ud800'"),
        ('{"' + HALF + '": 1}', "in.jsonl: keys: unpaired surrogate in the key"),
        ('{"bounds": [1]}', "in.jsonl: Reserved meta-names ['bounds']"),
    ],
)
@pytest.mark.parametrize(
    "target", [["o.nrt"], ["a.nrt", "--force"], ["shards", "--rows-per-shard", "1", "--force"]]
)
def test_lines_that_cannot_be_converted_are_named(capsys, here, lines, text, target):
    (here / "in.jsonl").write_text(lines, errors="surrogateescape")
    fails(capsys, here, 1, text, "convert", "in.jsonl", *target)


def tables():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    apart = {"a": [[1], [2], [3]], "b": [[1], [2], [3, 4]]}
    return {
        "null": pa.table({"p": [1, 1, 2, 2], "x": [1, 2, 3, None]}),
        "order": pa.table({"p": [1, 2, 1, 1], "x": [1, None, 3, 4]}),
        "lists": pa.table({"p": [1, 1, 2], "x": [[1], [2, 3], [4, None]]}),
        "group": pa.table({"p": [1, 1, 2, None], "x": [1, 2, 3, 4]}),
        "groups": pa.table({"p": [1, 1, 2, 3, 4, None], "x": [1, 2, 3, 4, 5, 6]}),
        "apart": pa.table(apart),
        "words": pa.table({"w": ["a", None, "b"]}),
        "twice": pa.table([[1], [2]], names=["a", "a"]),
        "bytes": pa.table({"x": [b"a"]}),
        "reserved": pa.table({"bounds": [1]}),
        "mixed": pa.table({"p": [1, 2, 1], "x": [1, 2, 3]}),
    }


P = ["--group-by", "p"]


@pytest.mark.parametrize(
    ("name", "options", "text"),
    [
        ("null", [], "in.parquet: x: null at row 3; see --nulls"),
        ("null", ["--batch-rows", "3"], "in.parquet: x: null at row 3;"),
        ("null", [*P, "--batch-rows", "1"], "in.parquet: x: null at row 3;"),
        ("null", [*P, "--regroup"], "in.parquet: x: null at row 3; see --nulls"),
        ("order", [*P, "--regroup"], "in.parquet: x: null at row 1; see --nulls"),
        ("group", [*P, "--regroup"], "in.parquet: p: null at row 3; a group needs a value"),
        ("lists", ["--batch-rows", "2"], "in.parquet: x: null at row 2;"),
        ("lists", [*P, "--batch-rows", "1"], "in.parquet: x: null at row 2;"),
        ("group", [*P, "--batch-rows", "2"], "in.parquet: p: null at row 3; a group needs a value"),
        (
            "apart",
            ["--batch-rows", "1"],
            "in.parquet: 'b' has a list of 2 where 'a' has one of 1, at row 2;",
        ),
        ("mixed", P, "in.parquet: p: the rows of 1 are not together"),
        (
            "words",
            ["--nulls", "nan"],
            "in.parquet: w: null at row 1 among strings, which have no NaN; see --null-word",
        ),
        ("twice", [], "in.parquet: two columns have the name 'a'"),
        ("bytes", [], "in.parquet: x: expected numbers, times or text, got type binary"),
        ("reserved", [], "in.parquet: Reserved meta-names ['bounds']"),
        ("null", ["--columns", "y"], "in.parquet: no column 'y'; there are p, x"),
        ("null", ["--group-by", "y"], "in.parquet: no column 'y'; there are p, x"),
        (
            "null",
            ["--nulls", "fill", "--fill", "1.5"],
            "in.parquet: --fill: 1.5 does not fit int64, the type of x",
        ),
        ("null", ["--nulls", "fill", "--fill", "a"], "in.parquet: --fill: 'a' does not fit int64"),
        (
            "null",
            ["--nulls", "nan", "--row-ids", "y"],
            "in.parquet: --row-ids: 'y' is not a key with one value a record",
        ),
    ],
)
def test_rows_that_cannot_be_converted_are_named(capsys, here, name, options, text):
    table = tables()[name]
    import pyarrow.parquet as pq

    pq.write_table(table, "in.parquet")
    for target in (["o.nrt"], ["a.nrt", "--force"], ["shards", "--rows-per-shard", "1", "--force"]):
        fails(capsys, here, 1, text, "convert", "in.parquet", *target, *options)


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow", "csv"])
@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n3\n", b"PAR1 nonsense PAR1", b"ARROW1\0\0nonsense"])
def test_files_that_are_no_tables_are_named(capsys, here, suffix, content):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    if suffix == "csv" and b"nonsense" in content:
        content = b'"'
    (here / f"in.{suffix}").write_bytes(content)
    fails(capsys, here, 1, f"in.{suffix}", "convert", f"in.{suffix}", "o.nrt")


def test_forced_shards_take_the_place_of_the_old_ones(here):
    assert main(["convert", "a.jsonl", "shards", "--rows-per-shard", "2", "--force", "--quiet"]) == 0
    assert sorted(path.name for path in (here / "shards").iterdir()) == ["index.json", "part-00000.nrt"]
    assert varlen.open("shards").batch([0, 1], keys=["id"])["id"].tolist() == [1, 2]
    assert sorted(path.name for path in here.iterdir()) == ["a.jsonl", "a.nrt", "empty", "other", "shards"]
