"""The account of a conversion: of a folder with planted faults, and with losses that somebody plants."""

import json

import numpy as np
import pytest
import varlen as vl
from varlen.cli import main
from varlen.io import Account, ShardWriter, Writer

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv, feather
from varlen.cli.conversion import csv_tables, joints, lines, regroup, tables
from varlen.cli.conversion.words import Vocabularies


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def convert(capsys, *arguments):
    """The account that --json prints, which is that of the file."""
    assert main(["convert", *map(str, arguments), "--json"]) == 0
    account = Account.from_dict(json.loads(capsys.readouterr().out))
    account.check()
    target = next(str(a) for a in arguments if str(a).startswith("o"))
    assert vl.open(target).account == account
    return account


def reasons(balance):
    return {why: (reason.left_out, reason.changed) for why, reason in balance.reasons.items()}


def events(seed=0, rows=40):
    """Events of six patients in a Parquet file and a CSV file, the third patient in both; times have gaps."""
    rng = np.random.default_rng(seed)
    patient = np.sort(rng.integers(0, 6, rows))
    value = rng.normal(size=rows)
    return pa.table(
        {
            "patient": patient,
            "code": rng.choice(["HR", "BP", "V10"], rows),
            "value": pa.array(value, mask=np.arange(rows) % 7 == 0),
            "note": ["x"] * rows,
        }
    )


def test_files_without_rows_and_columns_without_fields_are_in_the_account(here, capsys):
    (here / "a.jsonl").write_text("")
    (here / "b.jsonl").write_text('{"x": [{}], "y": 1}\n')
    account = convert(capsys, "a.jsonl", "b.jsonl", "o.nrt")
    assert (account.files, account.unread) == ({"a.jsonl": 0, "b.jsonl": 1}, {"x": "objects without a field"})
    feather.write_feather(pa.table({"x": pa.array([{}], pa.struct([])), "y": [1]}), "a.feather")
    assert convert(capsys, "a.feather", "o2.nrt").unread == {"x": "structs without a field"}


def test_nulls_that_nan_fills_are_nulls_still(here, capsys):
    pq.write_table(pa.table({"x": [0.5, None]}), "a.parquet")
    x = convert(capsys, "a.parquet", "o.nrt", "--nulls", "fill", "--fill", "nan").columns["x"]
    assert (x.source.nulls, x.result.nulls, reasons(x)) == (1, 1, {"nulls became nan": (0, 1)})


# A folder of tables.


@pytest.mark.parametrize("shards", [(), ("--rows-per-shard", 2)])
def test_a_folder_of_tables_is_accounted_for_row_by_row(here, capsys, shards):
    table = events()
    pq.write_table(table.slice(0, 25), "a.parquet", row_group_size=6)
    csv.write_csv(table.slice(25), "b.csv")
    (here / "words.txt").write_text("[UNK]\nHR\nBP\n")
    people = sorted(set(table.column("patient").to_pylist()))
    rows = [f"{p},{60 + p}" for p in [*people[1:], 77, 78]]  # one without a row, two without a record
    (here / "people.csv").write_text("\n".join(["patient,age", *rows]) + "\n")
    account = convert(
        capsys, "a.parquet", "b.csv", "out", *shards,
        *("--group-by", "patient", "--columns", "code,value", "--nulls", "nan", "--batch-rows", 7),
        *("--vocabulary", "code=words.txt", "--unknown", "[UNK]", "--static", "people.csv"),
    )  # fmt: skip
    groups, codes = len(people), table.column("code").to_pylist()
    assert account.files == {"a.parquet": 25, "b.csv": 15, "people.csv": groups + 1}
    assert reasons(account.rows) == {
        "nested into groups": (40 - groups, 0),
        "joined by id, from static tables": (groups + 1, 0),
    }
    assert account.rows.result.values == groups
    code, value, age = (account.columns[name] for name in ("code", "value", "age"))
    assert (code.source.values, code.result.values, code.result.words) == (40, 40, 3)
    unknown = code.reasons["words outside the vocabulary became '[UNK]'"]
    assert (unknown.left_out, unknown.changed) == (0, codes.count("V10"))
    assert unknown.first[0] == f"a.parquet, row {codes.index('V10')}: 'V10'"
    missing = table.column("value").null_count
    assert (value.source.nulls, value.result.nulls) == (missing, missing)
    assert reasons(age) == {"ids without a record": (2, 0), "records without a row": (-1, 0)}
    assert (age.source.values, age.result.values) == (groups + 1, groups)
    patient = account.columns["patient"]
    assert reasons(patient)["repeats in a group"] == (40 - groups, 0)
    assert patient.result.distinct == groups
    assert account.unread == {"note": "not among --columns"}


def test_values_of_nested_columns_and_structs_are_counted(here, capsys):
    rows = [
        {"x": [1, 2], "v": [{"t": 1.5, "c": "a"}]},
        {"x": [], "v": []},
        {"x": [2], "v": [{"t": None, "c": "b"}]},
    ]
    kind = pa.struct(
        {"x": pa.list_(pa.int64()), "v": pa.list_(pa.struct({"t": pa.float64(), "c": pa.string()}))}
    )
    pq.write_table(pa.Table.from_struct_array(pa.array(rows, kind)).select(["v"]), "v.parquet")
    account = convert(capsys, "v.parquet", "o.nrt", "--nulls", "nan")
    assert {
        name: (b.source.values, b.source.nulls, b.result.nulls) for name, b in account.columns.items()
    } == {
        "v.t": (2, 1, 1),
        "v.c": (2, 0, 0),
    }
    pq.write_table(pa.Table.from_struct_array(pa.array(rows, kind)).select(["x"]), "x.parquet")
    assert convert(capsys, "x.parquet", "o2.nrt").columns["x"].source.as_dict() == {
        "values": 3,
        "nulls": 0,
        "distinct": 2,
    }


@pytest.mark.parametrize("nulls", [("nan",), ("fill", "--fill", "-1")])
def test_nulls_that_become_values_are_said(here, capsys, nulls):
    (here / "t.csv").write_text("id,x,w\n1,,a\n2,0.5,\n3,nan,b\n")
    account = convert(capsys, "t.csv", "o.nrt", "--nulls", *nulls, "--null-word", "?")
    w = account.columns["w"]
    assert reasons(w) == {"nulls became '?'": (0, 1)}
    assert (w.source.nulls, w.result.nulls) == (1, 0)
    x = account.columns["x"]
    assert x.source.nulls == 2  # CSV has NaN for a null, too
    assert (x.result.nulls, reasons(x)) == (
        (2, {}) if nulls == ("nan",) else (0, {"nulls became -1": (0, 2)})
    )


def test_times_of_several_units_and_numbers_that_become_text_balance(here, capsys):
    for i, unit in enumerate(("s", "us")):
        pq.write_table(
            pa.table({"t": pa.array([0, (10**6) ** i], pa.timestamp(unit)), "c": [1, 2]}), f"{i}.parquet"
        )
    account = convert(capsys, "0.parquet", "1.parquet", "o.nrt", "--types", "c=str")
    assert (account.columns["t"].source.distinct, account.columns["t"].result.distinct) == (None, 2)
    assert account.columns["c"].result.words == 3  # and one that pads


def test_regroup_and_constants_balance(here, capsys):
    (here / "t.csv").write_text("p,sex,x\n1,f,1\n2,m,2\n1,f,3\n")
    account = convert(capsys, "t.csv", "o.nrt", "--group-by", "p", "--regroup", "--constant", "sex")
    assert {name: reasons(b) for name, b in account.columns.items()} == {
        "p": {"repeats in a group": (1, 0)},
        "sex": {"repeats in a group": (1, 0)},
        "x": {},
    }


# JSON lines.


def test_a_folder_of_lines_is_accounted_for(here, capsys):
    records = [{"id": 1, "x": [1, 2, None], "v": [{"c": "a"}, {}], "skip": 1}, {"id": 2, "v": []}]
    (here / "a.jsonl").write_text("\n\n".join(map(json.dumps, records)) + "\n")
    (here / "b.jsonl").write_text(json.dumps({"id": 3, "x": [], "v": [{"c": "z"}]}) + "\n")
    account = convert(
        capsys, "a.jsonl", "b.jsonl", "o.nrt", "--nulls", "fill", "--fill", "0", "--columns", "id,v"
    )
    assert account.files == {"a.jsonl": 2, "b.jsonl": 1}
    assert account.unread == {"x": "not among --columns", "skip": "not among --columns"}
    assert reasons(account.columns["v.c"]) == {"nulls became '0'": (0, 1)}
    assert account.columns["v.c"].source.as_dict() == {"values": 3, "nulls": 1}
    account = convert(capsys, "a.jsonl", "b.jsonl", "o2.nrt", "--nulls", "nan", "--columns", "x")
    assert account.columns["x"].source.as_dict() == {"values": 3, "nulls": 1}
    assert account.columns["x"].result.nulls == 1


def test_events_in_lines_are_accounted_for_as_those_of_tables(here, capsys):
    rows = [{"p": 1, "c": "a"}, {"p": 1, "c": "b"}, {"p": 2, "c": "z"}]
    (here / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (here / "words.txt").write_text("a\nb\n?\n")
    words = ("--vocabulary", "c=words.txt", "--unknown", "?")
    account = convert(capsys, "a.jsonl", "o.nrt", "--group-by", "p", *words)
    assert reasons(account.columns["p"]) == {"repeats in a group": (1, 0)}
    assert account.columns["c"].reasons["words outside the vocabulary became '?'"].first == [
        "a.jsonl, line 3: 'z'"
    ]


# What is lost is found.


def _without_last_row(tables):
    for table in tables:
        yield table.slice(0, table.num_rows - 1)


def _shorter(found):
    """The columns of an Arrow column with a value less at the end of the last list."""
    out = {}
    for key, column in found.items():
        if not column.levels:
            return found
        lengths = column.levels[0].lengths.copy()
        lengths[np.flatnonzero(lengths)[-1]] -= 1
        out[key] = type(column)(column.values[:-1], (vl.Level(lengths),), column.vocabulary)
    return out


def _plant(monkeypatch, where):
    if where == "a row of the reader":
        pieces = tables.TableReader._pieces
        monkeypatch.setattr(
            tables.TableReader, "_pieces", lambda self, one: _without_last_row(pieces(self, one))
        )
    elif where == "a row of groups":
        group_rows = joints.group_rows
        monkeypatch.setattr(joints, "group_rows", lambda ts, names: group_rows(_without_last_row(ts), names))
    elif where == "a value of a list":
        columns_of = joints.columns_of
        monkeypatch.setattr(joints, "columns_of", lambda *args: _shorter(columns_of(*args)))
    elif where == "a column":
        join = joints.join_columns
        monkeypatch.setattr(joints, "join_columns", lambda t, *args: join(t.drop_columns(["x"]), *args))
    elif where == "an id":
        columns_of = joints.columns_of

        def merged(*args):
            found = columns_of(*args)
            if "p" in found and found["p"].vocabulary is None:
                found["p"] = type(found["p"])(np.minimum(found["p"].values, 1), (), None)
            return found

        monkeypatch.setattr(joints, "columns_of", merged)
    elif where == "a word":
        columns_of = joints.columns_of

        def exchanged(*args):
            found = columns_of(*args)
            if "w" in found:  # as a dictionary with wrong ids would have it
                found["w"] = type(found["w"])(np.minimum(found["w"].values, 1), (), found["w"].vocabulary)
            return found

        monkeypatch.setattr(joints, "columns_of", exchanged)
    elif where == "an id of a word":
        encode = Vocabularies.encode
        monkeypatch.setattr(Vocabularies, "encode", lambda *args: np.minimum(encode(*args), 2))
    elif where == "a row of the writer":
        append = Writer.append
        monkeypatch.setattr(Writer, "append", lambda self, rows: append(self, rows.slice(0, len(rows) - 1)))
    elif where == "a shard":
        finish = ShardWriter._finish

        def forget(self):
            finish(self)
            self._shards = self._shards[:1]

        monkeypatch.setattr(ShardWriter, "_finish", forget)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("a row of the reader", "rows: 5 values in"),
        ("a row of groups", "rows: 5 values in"),
        ("a value of a list", "column 'x': 6 values in, 4 out"),  # of both pieces
        ("a column", "column 'x': 6 values in, 0 out"),
        ("an id", "column 'p': 3 distinct values in, 2 out"),
        ("a word", "column 'w': 3 distinct values in, 2 out"),
        ("an id of a word", "column 'w': 3 distinct values in, 2 out"),
        ("a row of the writer", "rows: 5 values in"),
        ("a shard", "rows: 5 values in"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_what_a_conversion_of_tables_loses_is_found(here, capsys, monkeypatch, where, text, kind):
    table = pa.table({"p": [0, 0, 1, 1, 2], "x": [[1], [2, 3], [4], [], [5, 6]], "w": list("abcab")})
    if kind == "parquet":
        pq.write_table(table, "t.parquet")
    elif where == "a row of the reader":
        pytest.skip("Arrow's files are counted by the reader alone")
    else:
        feather.write_feather(table, "t.arrow")
    options = ("--group-by", "p", "--nulls", "refuse")
    assert main(["convert", f"t.{kind}", "o.nrt", *options, "--quiet"]) == 0
    assert main(["convert", f"t.{kind}", "out", "--rows-per-shard", "1", *options, "--quiet"]) == 0
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    _plant(monkeypatch, where)
    for target in (["out", "--rows-per-shard", "1"], [] if where == "a shard" else ["o.nrt"]):
        if target:
            capsys.readouterr()
            assert main(["convert", f"t.{kind}", *target, *options, "--force", "--quiet"]) == 1
            assert text in capsys.readouterr().err
    now = {
        path: path.read_bytes() for path in here.rglob("*") if path.is_file() and path.parent.name[0] != "."
    }
    assert now == before


@pytest.mark.parametrize("name", ["read_csv", "_record", "_flat_column"])
def test_what_a_conversion_of_text_loses_is_found(here, capsys, monkeypatch, name):
    if name == "read_csv":
        (here / "t.csv").write_text("x\n1\n2\n3\n")
        monkeypatch.setattr(tables, name, lambda *args: _without_last_row(csv_tables.read_csv(*args)))
        text = "rows: 3 values in, 2 out"
    else:
        (here / "t.jsonl").write_text('{"x": [1]}\n{"x": [2, 3]}\n{"x": [4]}\n')
        real = getattr(lines, name)

        def lose(*args):
            found = real(*args)
            if name == "_record":
                if args[1] == 2:
                    raise StopIteration
                return found
            return found[0][:-1], [vl.Level([*found[1][0].lengths[:-1], found[1][0].lengths[-1] - 1])]

        monkeypatch.setattr(lines, name, lose)
        text = "column 'x': 4 values in, 3 out"
        if name == "_record":
            monkeypatch.setattr(lines, "_records", _forgetful(lines._records))
            monkeypatch.setattr(lines, name, real)
            text = "rows: 3 values in, 2 out"
    capsys.readouterr()
    source = "t.csv" if name == "read_csv" else "t.jsonl"
    assert main(["convert", source, "o.nrt", "--quiet"]) == 1
    assert text in capsys.readouterr().err
    assert not (here / "o.nrt").exists()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "nested.parquet", "dictionary.parquet"])
def test_words_are_counted_as_they_come_and_as_they_go(here, capsys, monkeypatch, suffix):
    words = ["a", "b", "a", "c", "d"]
    if suffix == "csv":
        (here / "t.csv").write_text("w\n" + "\n".join(words) + "\n")
    elif suffix == "jsonl":
        (here / "t.jsonl").write_text("".join(json.dumps({"w": word}) + "\n" for word in words))
    else:
        column = pa.array(words).dictionary_encode() if suffix[0] == "d" else pa.array(words)
        if suffix[0] == "n":
            column = pa.array([["a", "b"], [], ["a", "c", "d"]], pa.list_(pa.string_view()))
        pq.write_table(pa.table({"w": column}), f"t.{suffix}")
    assert main(["convert", f"t.{suffix}", "o.nrt", "--quiet"]) == 0
    found = vl.open("o.nrt").account.columns["w"].as_dict()
    assert found["in"] == {"values": 5, "nulls": 0, "distinct": 4, "words": 4}
    assert found["out"]["distinct"] == 4
    encode = Vocabularies.encode
    monkeypatch.setattr(Vocabularies, "encode", lambda *args: np.minimum(encode(*args), 3))
    capsys.readouterr()
    assert main(["convert", f"t.{suffix}", "p.nrt", "--quiet"]) == 1
    assert "column 'w': 4 distinct values in, 3 out" in capsys.readouterr().err
    assert not (here / "p.nrt").exists()


def test_texts_that_become_fewer_numbers_balance(here, capsys):
    (here / "t.csv").write_text("x,t\n1,2020-01-01T00:00:00Z\n1.0,2020-01-01T01:00:00+01:00\n")
    (here / "t.jsonl").write_text('{"t": "2020-01-01T00:00:00Z"}\n{"t": "2020-01-01T01:00:00+01:00"}\n')
    pq.write_table(pa.table({"x": ["1", "1.0"], "t": ["2020-01-01", "2020-01-01T00:00:00"]}), "t.parquet")
    for source, types in (("t.csv", "x=float32"), ("t.jsonl", "t=datetime64[s]")):
        assert main(["convert", source, "o.nrt", "--force", "--types", types, "--quiet"]) == 0, source


def _forgetful(records):
    def forget(*args):
        for numbers, found in records(*args):
            yield numbers[:-1], found[:-1]

    return forget


def test_what_regroup_loses_is_found(here, capsys, monkeypatch):
    (here / "t.csv").write_text("p,x\n1,1\n2,2\n1,3\n")
    read = regroup.GatheredRows.__iter__
    monkeypatch.setattr(regroup.GatheredRows, "__iter__", lambda self: _without_last_row(read(self)))
    assert main(["convert", "t.csv", "o.nrt", "--group-by", "p", "--regroup", "--quiet"]) == 1
    assert "rows: 3 values in" in capsys.readouterr().err


def test_the_summary_is_a_few_lines(here, capsys):
    pq.write_table(events(), "a.parquet")
    assert main(["convert", "a.parquet", "o.nrt", "--group-by", "patient", "--nulls", "nan"]) == 0
    said = capsys.readouterr().out.splitlines()
    groups = len(vl.open("o.nrt"))
    assert said[1] == f"  in: 40 rows of 1 file, 160 values in 4 columns; out: {120 + groups} values"
    assert said[2] == f"  left out: {40 - groups} rows, nested into groups"
    assert said[3] == f"  left out: {40 - groups} values of patient, repeats in a group"
