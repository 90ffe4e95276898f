"""The command line: what it prints, what it writes, and its exit codes."""

import json
import os
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import varlen
from varlen.cli import main

LINES = [
    {"id": 7, "word": [["to", "be"], ["or"]], "t": [0.5, 1]},
    {"id": 300, "word": [], "t": []},
    {"id": 9, "word": [["not", "to", "be"]], "t": [2]},
]


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_help_and_version_end_well(capsys):
    for arguments in (
        ["--help"],
        ["--version"],
        *([name, "--help"] for name in ("demo", "info", "convert", "verify", "bench")),
    ):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert stop.value.code == 0
        assert capsys.readouterr().out.strip()


def test_a_command_builds_no_parser_of_another(tmp_path):
    program = (
        "import sys; from varlen.cli import main; code = main(['info', sys.argv[1]]);"
        "commands = {f'varlen.cli.{name}' for name in ('convert', 'demo', 'info', 'verify', 'bench')};"
        "print(code, sorted(commands & set(sys.modules)))"
    )
    visits = varlen.JointNestedRaggedTensorDict({"time": [[0.5], []]})
    visits.save(tmp_path / "visits.nrt")
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "visits.nrt")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "0 ['varlen.cli.info']"


def test_misuse_ends_with_2(capsys, tmp_path):
    with pytest.raises(SystemExit) as stop:
        main(["nonsense"])
    assert stop.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
    source = write_lines(tmp_path / "a.jsonl", LINES)
    for arguments, text in (
        (["convert", source, tmp_path / "o.nrt", "--nulls", "fill"], "--fill"),
        (["convert", source, tmp_path / "o.nrt", "--regroup"], "--regroup needs --group-by"),
        (["convert", source, tmp_path / "o.nrt", "--rows-per-shard", "0"], "--rows-per-shard"),
        (["convert", source, tmp_path], "is a folder"),
        (["convert", tmp_path / "a.xyz", tmp_path / "o.nrt"], "cannot tell the format"),
        (["demo", "--files", "0"], "--files"),
        (["info", tmp_path / "a.nrt", "-o", tmp_path / "a.html"], "-o needs --html"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, text in err, err.count("\n")) == (2, True, 1)


def test_failure_ends_with_1_and_one_line(capsys, tmp_path):
    (tmp_path / "bad.nrt").write_bytes(b"nonsense")
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    (tmp_path / "here.nrt").write_bytes(b"")
    good = write_lines(tmp_path / "a.jsonl", LINES)
    for arguments, text in (
        (["info", tmp_path / "none.nrt"], "none.nrt"),
        (["info", tmp_path / "bad.nrt"], "bad.nrt"),
        (["convert", tmp_path / "none.jsonl", tmp_path / "o.nrt"], "no such file"),
        (["convert", tmp_path / "bad.jsonl", tmp_path / "o.nrt"], "line 2"),
        (["convert", good, tmp_path / "here.nrt"], "--force"),
        (["demo", tmp_path / "nowhere"], "not a folder"),
    ):
        code, _, err = run(capsys, *arguments)
        assert (code, text in err, err.count("\n")) == (1, True, 1), err
    assert not (tmp_path / "o.nrt").exists()


def test_json_lines_become_a_file(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    target = tmp_path / "a.nrt"
    code, out, _ = run(capsys, "convert", source, target, "--narrow", "--row-ids", "id")
    assert code == 0
    assert "3 records" in out
    J = varlen.JointNestedRaggedTensorDict(tensors_fp=target)
    assert J.to_list()["word"] == [record["word"] for record in LINES]
    assert J.to_list()["t"] == [record["t"] for record in LINES]
    assert J.schema["id"] == np.uint16
    assert J.schema["t"] == np.float32
    assert varlen.open(target).rows_of([9, 7]).tolist() == [2, 0]


def test_depth_and_dtype_are_those_of_all_lines(tmp_path, monkeypatch):
    from varlen.cli.conversion import lines

    monkeypatch.setattr(lines, "_PIECE", 1)  # a line a piece
    records = [{"a": [[]], "b": 1}, {"a": [[1], []], "b": 2.5}, {"a": [], "b": 3}]
    source = write_lines(tmp_path / "a.jsonl", records)
    assert main(["convert", source, str(tmp_path / "a.nrt"), "--quiet"]) == 0
    J = varlen.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "a.nrt")
    assert J.to_list() == {"a": [[[]], [[1], []], []], "b": [1.0, 2.5, 3.0]}


def test_nulls_become_what_was_asked(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", [{"a": [1, None]}, {"a": [2]}])
    target = tmp_path / "a.nrt"
    assert run(capsys, "convert", source, target)[0] == 1
    assert run(capsys, "convert", source, target, "--nulls", "fill", "--fill", "-1")[0] == 0
    assert varlen.JointNestedRaggedTensorDict(tensors_fp=target).to_list() == {"a": [[1, -1], [2]]}
    assert run(capsys, "convert", source, target, "--nulls", "nan", "--force")[0] == 0
    values = varlen.JointNestedRaggedTensorDict(tensors_fp=target)["a"].values
    np.testing.assert_array_equal(values, [1, np.nan, 2])


def test_keys_that_nest_differently_are_named(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", [{"a": [1], "b": [1]}, {"a": [1], "b": [1, 2]}])
    code, _, err = run(capsys, "convert", source, tmp_path / "a.nrt")
    assert code == 1
    assert (
        "'b' has a list of 2 where 'a' has one of 1, at depth 1; keys of a file have as many values each"
        in err
    )
    assert run(capsys, "convert", source, tmp_path / "a.nrt", "--columns", "b")[0] == 0


TABLE = {
    "patient": [1, 1, 1, 2, 2, 3],
    "visit": ["a", "a", "b", "a", "b", "b"],
    "x": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5],
    "codes": [[1], [2, 3], [], [4], [5, 6, 7], [8]],
}


def write_table(path, rows=None):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table(TABLE) if rows is None else pa.table(TABLE).take(rows)
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(table, path)
    elif path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table.drop_columns(["codes"]), path)
    elif path.suffix == ".feather":
        from pyarrow import feather

        feather.write_feather(table, str(path))
    else:
        with pa.ipc.new_stream(path, table.schema) as sink:
            sink.write_table(table)
    return path


NESTED = [[[1.5, 2.5], [3.5]], [[4.5], [5.5]], [[6.5]]]


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow", ".csv"])
@pytest.mark.parametrize("batch", ["2", "65536"])
def test_tables_nest_by_groups(tmp_path, suffix, batch):
    source = write_table(tmp_path / f"t{suffix}")
    target = tmp_path / "t.nrt"
    groups = ["--group-by", "patient", "--group-by", "visit"]
    assert main(["convert", str(source), str(target), *groups, "--batch-rows", batch, "--quiet"]) == 0
    found = varlen.JointNestedRaggedTensorDict(tensors_fp=target).to_list()
    assert found["patient"] == [1, 2, 3]
    assert found["visit"] == [["a", "b"], ["a", "b"], ["b"]]
    assert found["x"] == NESTED
    if suffix != ".csv":
        assert found["codes"][0] == [[[1], [2, 3]], [[]]]


def test_rows_of_a_group_stand_together_or_are_gathered(capsys, tmp_path):
    source = write_table(tmp_path / "t.parquet", [0, 3, 1, 2, 4, 5])
    target = tmp_path / "t.nrt"
    groups = ["--group-by", "patient", "--group-by", "visit"]
    code, _, err = run(capsys, "convert", source, target, *groups)
    assert code == 1
    assert "patient: the rows of 1 are not together" in err
    assert run(capsys, "convert", source, target, *groups, "--regroup")[0] == 0
    assert varlen.JointNestedRaggedTensorDict(tensors_fp=target).to_list()["x"] == NESTED


def test_shards_are_one_sequence(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    assert run(capsys, "convert", source, tmp_path / "out", "--rows-per-shard", "2")[0] == 0
    ds = varlen.open(tmp_path / "out")
    assert len(ds) == 3
    assert ds.lengths.tolist() == [2, 0, 1]
    code, out, _ = run(capsys, "info", tmp_path / "out")
    assert code == 0
    assert "3 rows" in out
    assert "2 shards" in out


def test_info_says_what_is_there(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    run(capsys, "convert", source, tmp_path / "a.nrt", "--row-ids", "id")
    code, out, _ = run(capsys, "info", tmp_path / "a.nrt")
    assert code == 0
    for text in (
        "3 rows",
        "word",
        "5 words, padding id 0",
        "row ids",
        "level 2: 3 sequences, 6 rows",
        "padding in batches of 32",
    ):
        assert text in out
    code, out, _ = run(capsys, "info", tmp_path / "a.nrt", "--json", "--batch-size", "2")
    found = json.loads(out)
    assert found["rows"] == 3
    assert found["keys"]["t"] == {
        "dim": 1,
        "dtype": "float64",
        "rows": 3,
        "trailing": [],
        "words": None,
        "padding_id": None,
        "kind": "number",
        "nullable": True,
        "zone": None,
        "dims": [],
        "note": None,
    }
    assert found["levels"][0]["longest"] == 2
    assert 0 <= found["levels"][0]["padding"]["sorted"] < 1


class Outline(HTMLParser):
    """The tags of a page, its texts, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.links, self.open = Counter(), [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "line"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_info_writes_a_page_that_stands_alone(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source = write_lines(tmp_path / "a.jsonl", LINES)
    run(capsys, "convert", source, tmp_path / "a <b>.nrt", "--row-ids", "id")
    code, out, _ = run(capsys, "info", "--html", tmp_path / "a <b>.nrt", "--account", "--batch-size", 3)
    assert (code, out.split(":")[0]) == (0, "a <b>.html")
    outline = Outline(Path("a <b>.html").read_text())
    assert outline.open == []
    assert outline.links == []
    assert (outline.tags["svg"], outline.tags["script"], outline.tags["table"]) == (4, 0, 4)
    for text in ("5 words, padding id 0", "Level 2: 3 sequences, 6 rows", "length 2: 1 sequence", "shuffled"):
        assert text in outline.texts, outline.texts
    assert any("a <b>.nrt" in text for text in outline.texts)
    code, _, err = run(capsys, "info", "--html", tmp_path / "a <b>.nrt")
    assert (code, "already exists; --force replaces it" in err) == (1, True)
    assert run(capsys, "info", "--html", tmp_path / "a <b>.nrt", "--force")[0] == 0
    assert Outline(Path("a <b>.html").read_text()).tags["table"] == 3


def test_a_page_shows_every_batch_size_that_fits(tmp_path):
    from varlen.cli.info import describe

    varlen.JointNestedRaggedTensorDict({"x": [[1] * n for n in (1, 2, 3, 4, 0, 5)]}).save(tmp_path / "a.nrt")
    (level,) = describe(tmp_path / "a.nrt", 3, pictures=True)["levels"]
    assert level["histogram"] == {"edges": [0, 1, 2, 3, 4, 5, 6], "counts": [1] * 6}
    assert level["padding_by_size"]["batch_sizes"] == [2, 3, 4]
    assert level["padding_by_size"]["sorted"] == pytest.approx([3 / 18, 6 / 21, 7 / 22])
    assert "histogram" not in describe(tmp_path / "a.nrt")["levels"][0]


def test_a_page_of_no_rows_has_no_pictures(capsys, tmp_path):
    varlen.JointNestedRaggedTensorDict({"x": [[1]]})[:0].save(tmp_path / "a.nrt")
    assert run(capsys, "info", "--html", tmp_path / "a.nrt", "-o", tmp_path / "page.html")[0] == 0
    assert Outline((tmp_path / "page.html").read_text()).tags["svg"] == 0


@pytest.mark.parametrize(("top", "low"), [(1, 0), (3, 3), (97, 0), (4106, 7), (0.05, 0), (1.0, 0), (1e9, 0)])
def test_ticks_are_few_and_round(top, low):
    from varlen.display.svg import _ticks

    ticks = [tick for tick in _ticks(top, top > 1, low) if tick >= low]
    assert 1 <= len(ticks) <= 7
    assert ticks[-1] <= top * (1 + 1e-6)
    assert all(float(f"{tick:.2g}") == pytest.approx(tick) for tick in ticks)


def test_the_table_of_keys_is_aligned_for_every_dtype(capsys, tmp_path):
    arrays = {
        "dim0/a": np.zeros(1, "?"),
        "dim0/longer_name": np.zeros((1, 2), "M8[100ns]"),
        "dim0/day": np.zeros(1, "M8[D]"),
        "dim1/bounds": np.array([20_000]),
        "dim1/x": np.zeros(20_000, "u1"),
    }
    varlen.io.save(tmp_path / "a.nrt", arrays, row_ids="a")
    lines = run(capsys, "info", tmp_path / "a.nrt")[1].splitlines()[2:7]
    end = len("longer_name  dim  datetime64[100ns]  20,000")
    assert lines[0].endswith("rows")
    assert {len(line.split("  rows of")[0].split("  row ids")[0]) for line in lines} == {end}
    assert all(line[end - 1].isdigit() for line in lines[1:])


def test_demo_goes_from_files_to_batches(capsys, tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    for i in range(5):
        (folder / f"m{i}.py").write_text("def f(x):\n    return x + 1\n" * (i + 1))
    (folder / "broken.py").write_text("'''")
    code, out, err = run(capsys, "demo", folder, "--batch-size", "2", "--save", tmp_path / "kept.nrt")
    assert code == 0
    assert "tokenizing" in err
    assert (out + err).count("batches/s") == 1
    for text in ("5 files > 30 lines", "kept.nrt", "nothing read", "3 shuffled batches", "padding", "token"):
        assert text in out, out
    J = varlen.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "kept.nrt")
    assert J.to_list()["token"][0][0] == ["def", "f", "(", "x", ")", ":"]


def test_demo_ends_with_commands_that_run(capsys, tmp_path):
    (tmp_path / "m.py").write_text("def f(x):\n    return x + 1\n")
    kept = tmp_path / "kept.nrt"
    _, out, _ = run(capsys, "demo", tmp_path, "--save", kept)
    steps = [line.split("  # ")[0].split() for line in out.split("what to try next\n")[1].splitlines()]
    commands = [step[1:] for step in steps if step[0] == "varlen"]
    assert commands == [["info", str(kept)], ["convert", "--help"]]
    assert run(capsys, *commands[0])[0] == 0
    code = next(line for line in out.splitlines() if "python -c" in line).split('"')[1]
    exec(code)
    assert "[[0 4]\n [0 4]]" in capsys.readouterr().out


def test_python_dash_m_runs_it():
    done = subprocess.run(
        [sys.executable, "-m", "varlen", "--version"], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"varlen {varlen.__version__}\n")


@pytest.mark.parametrize("numbers", [(1, 300, 2), (300, 1, 2), (1, 2, 300), (-1, 300, 1), (1, -300, 2)])
def test_narrow_dtypes_hold_every_piece_whichever_comes_last(tmp_path, monkeypatch, numbers):
    from varlen.cli.conversion import lines

    monkeypatch.setattr(lines, "_PIECE", 1)  # a line a piece
    source = write_lines(tmp_path / "a.jsonl", [{"a": [x], "b": x / 2} for x in numbers])
    assert main(["convert", source, str(tmp_path / "a.nrt"), "--narrow", "--quiet"]) == 0
    J = varlen.JointNestedRaggedTensorDict(tensors_fp=tmp_path / "a.nrt")
    assert J.to_list() == {"a": [[x] for x in numbers], "b": [x / 2 for x in numbers]}
    assert J.schema == {"a": np.uint16 if min(numbers) > 0 else np.int16, "b": np.float32}


def test_words_of_every_piece_are_kept(tmp_path, monkeypatch):
    from varlen.cli.conversion import lines

    monkeypatch.setattr(lines, "_PIECE", 1)
    records = [{"w": ["b"]}, {"w": []}, {"w": ["a", "b"]}, {"w": ["c", "a"]}]
    source = write_lines(tmp_path / "a.jsonl", records)
    assert main(["convert", source, str(tmp_path / "out"), "--rows-per-shard", "1", "--quiet"]) == 0
    assert [row.to_list() for row in varlen.open(tmp_path / "out")] == records


def test_lines_are_counted_through_all_pieces(capsys, tmp_path, monkeypatch):
    from varlen.cli.conversion import lines

    monkeypatch.setattr(lines, "_PIECE", 1)
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n{"a": 2}\n{"a": null}\n')
    code, _, err = run(capsys, "convert", tmp_path / "a.jsonl", tmp_path / "a.nrt")
    assert (code, "line 4: no value for 'a'" in err) == (1, True), err


def test_padding_share_counts_the_last_batch():
    from varlen.cli.info import padding_share

    assert padding_share(np.array([2, 2, 1, 3]), 3) == 1 - 8 / 9
    assert padding_share(np.array([2, 2, 5]), 2) == 0
    assert padding_share(np.array([1, 3, 1, 3]), 2) == 1 - 8 / 12
    assert padding_share(np.array([], int), 2) == 0
    assert padding_share(np.array([0, 0]), 2) == 0


def test_info_adds_up_all_shards(capsys, tmp_path):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    run(capsys, "convert", source, tmp_path / "out", "--rows-per-shard", "1")
    found = json.loads(run(capsys, "info", tmp_path / "out", "--json")[1])
    files = list((tmp_path / "out").glob("*.nrt"))
    assert found["bytes"] == sum(file.stat().st_size for file in files)
    assert (found["shards"], found["rows"]) == (3, 3)
    assert [(level["sequences"], level["rows"]) for level in found["levels"]] == [(3, 3), (3, 6)]
    assert (found["levels"][0]["shortest"], found["levels"][0]["longest"]) == (0, 2)


def test_the_demo_takes_its_share_of_every_folder(tmp_path):
    from varlen.cli.demo import _sample_evenly

    files = [tmp_path / str(i) for i in range(10)]
    assert _sample_evenly(files, 10) == _sample_evenly(files, 11) == files
    assert [int(path.name) for path in _sample_evenly(files, 4)] == [0, 2, 5, 7]


@pytest.mark.parametrize(
    ("numbers", "dtype"), [((0, 200), np.uint8), ((0, 256), np.uint16), ((-1, 127), np.int8)]
)
def test_narrow_integers_are_unsigned_where_none_is_negative(tmp_path, numbers, dtype):
    source = write_lines(tmp_path / "a.jsonl", [{"a": x} for x in numbers])
    assert main(["convert", source, str(tmp_path / "a.nrt"), "--narrow", "--quiet"]) == 0
    assert varlen.open(tmp_path / "a.nrt").schema["a"] == dtype


def test_old_shards_stay_where_new_ones_cannot_take_their_place(capsys, tmp_path, monkeypatch):
    source = write_lines(tmp_path / "a.jsonl", LINES)
    target = tmp_path / "out"
    assert run(capsys, "convert", source, target, "--rows-per-shard", "2")[0] == 0
    before = {path.name: path.read_bytes() for path in target.iterdir()}
    rename = os.rename

    def fails(old, new):
        if str(old).endswith("-new"):
            raise OSError("no more room")
        return rename(old, new)

    monkeypatch.setattr(os, "rename", fails)
    code, _, err = run(capsys, "convert", source, target, "--rows-per-shard", "1", "--force")
    assert (code, err) == (1, "varlen: no more room\n")
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "out"]
