"""``varlen convert`` on what people have on disk: several files, outside words, order, static tables."""

import bz2
import collections
import csv
import decimal
import gzip
import itertools
import json
import lzma
import os
import pathlib
import random
import signal
import uuid

import numpy as np
import pytest
import varlen
from varlen.cli import main

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def convert(*arguments):
    """Converts, and opens what it wrote: the last argument before the options."""
    assert main(["convert", *map(str, arguments), "--quiet"]) == 0
    names = itertools.takewhile(lambda argument: not str(argument).startswith("--"), arguments)
    return varlen.open(list(names)[-1])


def rows_of(data):
    return [row.to_list() for row in data]


def refused(capsys, folder, *arguments):
    """What the command says when it fails; it leaves nothing behind."""
    before = sorted(folder.rglob("*"))
    capsys.readouterr()
    assert main(["convert", *map(str, arguments)]) in (1, 2)
    assert sorted(folder.rglob("*")) == before
    return capsys.readouterr().err.splitlines()


def write_csv(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file, delimiter="\t" if str(path).endswith(".tsv") else ",").writerows([header, *rows])


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def say(capsys, *arguments):
    """What the command says when it succeeds."""
    capsys.readouterr()
    assert main(["convert", *map(str, arguments)]) == 0
    return capsys.readouterr().out


# Several inputs.


def test_files_folders_and_patterns_are_one_data_set(here):
    (here / "in").mkdir()
    write_csv("in/b.csv", ["a", "w"], [[3, "z"], [4, "x"]])
    write_csv("in/a.tsv", ["w", "a"], [["x", 1], ["y", 2]])
    pq.write_table(pa.table({"a": pa.array([5], pa.int16()), "w": ["y"]}), "in/c.parquet")
    (here / "in" / "_SUCCESS").write_text("")
    expected = [{"a": i + 1, "w": w} for i, w in enumerate("xyzxy")]
    assert rows_of(convert("in", "o.nrt")) == expected
    assert rows_of(convert("in/[ab].*", "in/c.parquet", "p.nrt")) == expected
    assert rows_of(convert("in", "out", "--rows-per-shard", 2)) == expected


def test_options_may_stand_between_the_names(here, capsys):
    for name, x in (("a", 1), ("b", 2), ("c", 3)):
        write_csv(f"{name}.csv", ["x"], [[x]])
    for arguments in (
        ["a.csv", "b.csv", "--batch-rows", "5", "c.csv", "o.nrt"],
        ["a.csv", "--quiet", "b.csv", "--batch-rows", "5", "c.csv", "--force", "o.nrt"],
        ["--force", "a.csv", "b.csv", "c.csv", "--quiet", "o.nrt"],
    ):
        assert main(["convert", *arguments]) == 0
        assert rows_of(varlen.open("o.nrt")) == [{"x": 1}, {"x": 2}, {"x": 3}]
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["convert", "a.csv", "b.csv", "--batch", "5", "c.csv", "--nope", "q.nrt"])
    assert "unrecognized arguments" in capsys.readouterr().err


def test_records_of_several_files_of_lines_go_on(here):
    write_lines(here / "a.jsonl", [{"x": [1, 2]}, {"x": []}])
    write_lines(here / "b.jsonl", [{"x": [2.5]}])
    assert rows_of(convert("a.jsonl", "b.jsonl", "o.nrt")) == [{"x": [1, 2]}, {"x": []}, {"x": [2.5]}]


def test_a_group_may_span_files(here):
    write_csv("a.csv", ["p", "x"], [[1, 1], [2, 2]])
    write_csv("b.csv", ["p", "x"], [[2, 3], [3, 4]])
    rows = rows_of(convert("a.csv", "b.csv", "o.nrt", "--group-by", "p"))
    assert rows == [{"p": 1, "x": [1]}, {"p": 2, "x": [2, 3]}, {"p": 3, "x": [4]}]


def test_files_that_differ_are_named(here, capsys):
    write_csv("a.csv", ["a", "b"], [[1, 2]])
    write_csv("b.csv", ["a"], [[1]])
    write_csv("c.csv", ["a", "b", "c"], [[1, 2, 3]])
    write_csv("d.csv", ["a", "b"], [["word", 2]])
    write_csv("n.csv", ["a", "b"], [["7", "2"], ["", "2"]])
    assert "b.csv: no column 'b'; a.csv has it" in refused(capsys, here, "a.csv", "b.csv", "o.nrt")[0]
    assert "the column 'c' is not in a.csv" in refused(capsys, here, "a.csv", "c.csv", "o.nrt")[0]
    text = refused(capsys, here, "a.csv", "d.csv", "o.nrt", "--types", "a=int64")[0]
    assert "d.csv, line 2: a: 'word' is no int64" in text
    assert "n.csv: a: null at line 3" in refused(capsys, here, "a.csv", "n.csv", "o.nrt")[0]
    assert "given twice" in refused(capsys, here, "a.csv", "./a.csv", "o.nrt")[0]
    assert "no file matches" in refused(capsys, here, "*.parquet", "o.nrt")[0]
    (here / "year=2020").mkdir()
    write_csv("year=2020/a.csv", ["a"], [[1]])
    assert "holds a column that the files lack" in refused(capsys, here, ".", "o.nrt")[0]


PACKED = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: pa.compress(data, "zstd", asbytes=True),
}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_compressed_inputs_are_read(here, packed, suffix):
    text = b"x\n1\n2\n" if suffix == "csv" else b'{"x": 1}\n{"x": 2}\n'
    (here / f"a.{suffix}.{packed}").write_bytes(PACKED[packed](text))
    assert rows_of(convert(f"a.{suffix}.{packed}", "o.nrt")) == [{"x": 1}, {"x": 2}]


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("cut", [lambda b: b[:-9], lambda b: b[: len(b) // 2], lambda b: b"x,y\n1,2\n"])
def test_a_compressed_file_that_was_cut_is_named(here, capsys, packed, cut):
    rows = range(3000)
    lines = b"".join(b'{"x": %d}\n' % i for i in rows), b"x\n" + b"".join(b"%d\n" % i for i in rows)
    for name, text in zip(("a.jsonl", "a.csv"), lines, strict=True):
        (here / f"{name}.{packed}").write_bytes(cut(PACKED[packed](text)))
        said = refused(capsys, here, f"{name}.{packed}", "o.nrt")
        assert said[0].startswith(f"varlen: {name}.{packed}: is cut short or damaged, or no .{packed} file: ")


def test_a_table_that_is_packed_as_a_whole_is_refused(here, capsys):
    (here / "c.parquet.gz").write_bytes(b"")
    assert "unpack this one" in refused(capsys, here, "c.parquet.gz", "o.nrt")[0]


def test_keys_keep_the_order_of_the_columns(here, capsys):
    """In the file, in `info` and in batches; a group column stands where the table has it."""
    names = ["z", "day", "p", "a", "w"]
    rows = [[0.5, 1, 7, 2, "x"], [1.5, 2, 7, 3, "y"]]
    write_csv("t.csv", names, rows)
    pq.write_table(pa.table(dict(zip(names, zip(*rows, strict=True), strict=True))), "t.parquet")
    write_lines(here / "t.jsonl", [dict(zip(names, row, strict=True)) for row in rows])
    for source in ("t.csv", "t.parquet", "t.jsonl"):
        for target in (["o.nrt"], ["out", "--rows-per-shard", 1], ["n.nrt", "--narrow"]):
            data = convert(source, *target, "--force")
            assert data.keys() == list(data.batch([0, 1])) == list(data[0].to_list()) == names
            assert main(["info", target[0]]) == 0
            lines = capsys.readouterr().out.splitlines()
            assert [line.split()[0] for line in lines[3:8]] == names
    grouped = convert("t.csv", "g.nrt", "--group-by", "p")
    assert grouped.keys() == names
    assert [name for name in grouped.batch([0]) if "/" not in name] == ["p", "z", "day", "a", "w"]
    assert convert("t.csv", "c.nrt", "--columns", "w,a,p").keys() == ["w", "a", "p"]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_the_delimiter_is_found_where_the_header_has_no_comma(here, capsys, sign):
    (here / "a.csv").write_text(f'\n"a{sign}b"{sign}w\n1{sign}"x,{sign}y"\n2{sign}z\n')
    (here / "s.csv").write_text(
        f"a{sign}b{sign}age\n1{sign}8\n".replace(f"a{sign}b", "'id'").replace("'", "")
    )
    assert main(["convert", "a.csv", "o.nrt"]) == 0
    assert f"a.csv: its fields end at {sign!r}, as the header shows" in capsys.readouterr().out
    assert rows_of(varlen.open("o.nrt")) == [{f"a{sign}b": 1, "w": f"x,{sign}y"}, {f"a{sign}b": 2, "w": "z"}]
    (here / "e.csv").write_text("id\n1\n")
    assert rows_of(convert("e.csv", "p.nrt", "--row-ids", "id", "--static", "s.csv")) == [{"id": 1, "age": 8}]
    (here / "b.csv").write_text(f"a{sign}b\n1\n")  # one column, whose name has the sign
    assert rows_of(convert("b.csv", "q.nrt")) == [{f"a{sign}b": 1}]
    (here / "c.csv").write_text(f"a{sign}b,w\n1{sign}2,3\n")
    assert convert("c.csv", "r.nrt").keys() == [f"a{sign}b", "w"]


def test_the_delimiter_is_the_one_that_was_said(here, capsys):
    (here / "a.csv").write_text("a,b^c\n1,5^2\n")
    assert rows_of(convert("a.csv", "o.nrt", "--delimiter", "^")) == [{"a,b": "1,5", "c": 2}]
    (here / "b.csv").write_text("a\tb\n1\t2\n")
    for given in ("\t", "\\t", "tab"):
        assert rows_of(convert("b.csv", "o.nrt", "--force", "--delimiter", given)) == [{"a": 1, "b": 2}]
    for given in ("", "ab", '"', "\n", "é"):
        assert (
            "--delimiter: expected one sign"
            in refused(capsys, here, "a.csv", "p.nrt", "--delimiter", given)[0]
        )
    write_lines(here / "a.jsonl", [{"x": 1}])
    assert "--delimiter: no CSV among" in refused(capsys, here, "a.jsonl", "p.nrt", "--delimiter", ";")[0]


def test_lines_are_counted_as_the_file_has_them(here, capsys):
    """Through empty lines, the header and quoted newlines: a row is at the line in which it begins."""
    text = '\n"a\nb",w\n1,"x\n\ny"\n\n,z\n3,\n12x,t\n'
    (here / "a.csv").write_text(text.replace("12x", "4"))
    said = refused(capsys, here, "a.csv", "o.nrt", "--nulls", "refuse")
    assert "null at line 8" in said[0]
    assert "w: null at line 9" in said[1]
    for newline in ("\n", "\r\n"):
        (here / "b.csv").write_bytes(text.replace("a\nb", "a").replace("\n", newline).encode())
        said = refused(capsys, here, "b.csv", "o.nrt", "--types", "a=int64")
        assert said[0].startswith("varlen: b.csv, line 9: a: '12x' is no int64")
        (here / "c.csv").write_bytes(f'id,x{newline}1,"p{newline}q"{newline}{newline}1,r{newline}'.encode())
        static = ["--row-ids", "id", "--static", "c.csv"]
        write_csv("e.csv", ["id"], [[1]])
        said = refused(capsys, here, "e.csv", "o.nrt", *static)
        assert "c.csv: id: 1 at line 5 is at line 2 already" in said[0]


# Types.


def test_the_type_of_a_column_is_that_of_all_its_values(here, monkeypatch):
    many = 200_000  # more than the reader looks at first
    write_csv("a.csv", ["x", "w", "n"], [[i, "a", ""] for i in range(many)] + [[0.5, "b", 7]])
    data = convert("a.csv", "o.nrt", "--nulls", "nan")
    last = data[many].to_list()
    assert (last["x"], last["w"], last["n"]) == (0.5, "b", 7)
    assert data[many - 1].to_list()["x"] == many - 1


def test_types_are_what_was_asked(here, capsys):
    write_csv("a.csv", ["code", "x"], [["007", 1], ["08", 2]])
    data = convert("a.csv", "o.nrt", "--types", "code=str,x=int8")
    assert rows_of(data) == [{"code": "007", "x": 1}, {"code": "08", "x": 2}]
    assert data.fields["x"].dtype == np.int8
    pq.write_table(pa.table({"code": [[7], [8, 9]], "x": [300, 1]}), "a.parquet")
    assert rows_of(convert("a.parquet", "p.nrt", "--types", "code=str"))[1]["code"] == ["8", "9"]
    assert "300" in refused(capsys, here, "a.parquet", "q.nrt", "--types", "x=int8")[0]
    write_lines(here / "a.jsonl", [{"x": [1, 2]}])
    assert convert("a.jsonl", "l.nrt", "--types", "x=float32").fields["x"].dtype == np.float32
    write_lines(here / "b.jsonl", [{"x": [7, "08"]}, {"x": []}])
    assert rows_of(convert("b.jsonl", "m.nrt", "--types", "x=str")) == [{"x": ["7", "08"]}, {"x": []}]
    write_lines(here / "c.jsonl", [{"x": 1.5}])
    assert "'x'" in refused(capsys, here, "c.jsonl", "q.nrt", "--types", "x=str")[0]
    assert "no key 'y'" in refused(capsys, here, "c.jsonl", "q.nrt", "--types", "y=int8")[0]
    for wrong, text in (("x", "no A=TYPE"), ("x=word", "neither str"), ("y=str", "no column 'y'")):
        assert text in refused(capsys, here, "a.csv", "q.nrt", "--types", wrong)[0]


def test_whole_numbers_are_exact_or_refused(here, capsys):
    """No integer becomes a float that is another number, in one file, over several, beside nulls."""
    large = 2**53 + 1
    write_csv("wide.csv", ["x"], [[2**64 - 1], [3]])
    assert convert("wide.csv", "o.nrt").fields["x"].dtype == np.uint64
    assert rows_of(varlen.open("o.nrt")) == [{"x": 2**64 - 1}, {"x": 3}]
    write_csv("even.csv", ["x"], [[0.5], [10**20]])
    assert rows_of(convert("even.csv", "e.nrt")) == [{"x": 0.5}, {"x": 1e20}]
    write_csv("beside.csv", ["x"], [[large], [0.5]])
    write_csv("below.csv", ["x"], [[-1]])
    for name, x in {"i": pa.array([large, -1]), "u": pa.array([2**63 + 1], pa.uint64()), "f": [0.5]}.items():
        pq.write_table(pa.table({"x": x}), f"{name}.parquet")
    pq.write_table(pa.table({"x": pa.array([large, None])}), "null.parquet")
    write_lines(here / "mixed.jsonl", [{"x": [1]}, {"x": [0.5, large]}])
    for arguments, text in [
        (
            ["wide.csv", "below.csv", "--types", "x=uint64"],
            "below.csv, line 2: x: '-1' is no uint64, as --types says",
        ),
        (["i.parquet", "f.parquet"], f"x: {large} is beyond the integers of float64"),
        (["i.parquet", "u.parquet"], f"x: {2**63 + 1} is beyond the integers of float64"),
        (
            ["null.parquet", "--nulls", "nan", "--batch-rows", 1],
            f"x: {large} is beyond the integers of float64",
        ),
        (["null.parquet", "--nulls", "nan"], "--nulls nan makes of a column with nulls; take --nulls fill"),
        (["mixed.jsonl"], f"mixed.jsonl, line 2: 'x'[1]: {large} does not fit float64"),
    ]:
        sources = [one for one in arguments if "." in str(one)]
        assert text in refused(capsys, here, *sources, "q.nrt", *arguments[len(sources) :])[0]
    assert rows_of(convert("beside.csv", "t.nrt", "--types", "x=float64")) == [{"x": 2.0**53}, {"x": 0.5}]
    assert rows_of(convert("i.parquet", "f.parquet", "v.nrt", "--types", "x=str"))[0] == {"x": str(large)}
    data = convert("mixed.jsonl", "m.nrt", "--types", "x=float64")
    assert rows_of(data) == [{"x": [1.0]}, {"x": [0.5, 2.0**53]}]


# These stand behind more rows, too, than are read at once.
FAR = [["389", "V10"], ["9007199254740993.0"], ["2020-01-01", "5"]]


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        (["5", "-7", " 0", "12 "], np.int64),
        ([str(2**63 - 1), str(-(2**63))], np.int64),
        (["3", str(2**64 - 1)], np.uint64),
        (["1.50", "5", "1e5", ".5", "5.", "-0", "1E-05", "1e+308"], np.float64),
        (["0.1", "0.30000000000000004", "1.000000000000000056e-01", "5e-324", "1e22"], np.float64),
        (["0.10000000000000000", str(10**20), "inf", "-Infinity"], np.float64),
        (["true", "FALSE"], np.bool_),
        (["2020-01-02", "2021-01-01"], "M8[D]"),
        (["2020-01-02", "2020-01-02 03:04", "2020-01-02T03:04:05"], "M8[s]"),
        (["2020-01-02T03:04:05.25"], "M8[ns]"),
        (["2999-01-02T03:04:05.25"], "M8[us]"),
        (["0389", "389"], str),
        (["389", "V10"], str),
        (["+5", "5"], str),
        (["007.5"], str),
        (["-01"], str),
        ([str(2**64)], str),
        ([str(2**63), "-1"], str),
        (["0.5", str(2**53 + 1)], str),
        (["0.5", str(10**19 + 1)], str),
        (["0.1234567890123456789"], str),
        (["9007199254740993.0"], str),
        (["1e400"], str),
        (["1e-400"], str),
        (["true", "1"], str),
        (["2020-13-01"], str),
        (["2020-01-01", "5"], str),
        (["12:30:00"], str),
    ],
)
def test_a_column_is_numbers_where_its_texts_come_back(here, texts, dtype):
    for rows in (texts, texts[::-1], [*["7"] * 200_000, *texts] if texts in FAR else texts):
        write_csv("a.csv", ["x"], [[text] for text in rows])
        data = convert("a.csv", "o.nrt", "--force")
        if dtype is str:
            assert data.fields["x"].vocabulary is not None
            assert [data[i].to_list()["x"] for i in (0, len(rows) - 1)] == [rows[0], rows[-1]]
            assert set(texts) <= set(data.fields["x"].vocabulary)
        else:
            assert data.fields["x"].dtype == np.dtype(dtype)
            values = data.batch(range(len(rows)))["x"]
            read = {"i": int, "u": int, "f": float, "b": lambda text: text.lower() == "true"}
            read["M"] = lambda text: np.datetime64(
                text.replace(" ", "T"), "ns" if "9" not in text[:4] else "us"
            )
            assert values.tolist() == np.array([read[values.dtype.kind](t) for t in rows], dtype).tolist()


def test_the_kind_of_a_column_is_that_of_all_files_and_is_said(here, capsys):
    write_csv("a.csv", ["code", "n"], [["389", 1], ["", 2], ["250", 3]])
    write_csv("b.csv", ["code", "n"], [["0389", 4]])
    write_csv("c.csv", ["code", "n"], [["V10", 5]])
    for order in (["a.csv", "b.csv"], ["b.csv", "a.csv"], ["a.csv", "c.csv"]):
        odd = "'V10' (c.csv, line 2) is none" if "c.csv" in order else "'0389' (b.csv, line 2) does not come"
        said = say(capsys, *order, "o.nrt", "--force", "--null-word", "?")
        assert "  code: is text: " in said
        assert odd in said
        assert {"389", "?", "250"} < set(varlen.open("o.nrt").fields["code"].vocabulary)
    assert "is text" not in say(capsys, "a.csv", "n.nrt", "--nulls", "nan")
    assert [
        row["code"]
        for row in rows_of(
            convert("a.csv", "b.csv", "f.nrt", "--types", "code=int64", "--nulls", "fill", "--fill", "0")
        )
    ] == [389, 0, 250, 389]
    convert("a.csv", "b.csv", "train.nrt", "--null-word", "?")
    write_csv("valid.csv", ["code", "n"], [["250", 9]])
    assert rows_of(convert("valid.csv", "valid.nrt", "--vocabulary", "train.nrt")) == [
        {"code": "250", "n": 9}
    ]


def test_decimals_are_whole_numbers_or_doubles_that_give_them_back(here, capsys):
    ids, prices = [2**53, 2**53 + 1], [decimal.Decimal("1.10"), decimal.Decimal("-0.07")]
    columns = {"id": pa.array(ids, pa.decimal128(20)), "price": pa.array(prices, pa.decimal256(40, 2))}
    pq.write_table(pa.table(columns), "a.parquet")
    wide = [2**64 - 1, 2**63], [decimal.Decimal("9.99"), decimal.Decimal(0)]
    columns = {"id": pa.array(wide[0], pa.decimal128(20)), "price": pa.array(wide[1], pa.decimal128(9, 2))}
    pq.write_table(pa.table(columns), "b.parquet")
    expected = [{"id": id, "price": float(price)} for id, price in zip(ids, prices, strict=True)]
    for options in ([], ["--types", "id=int64"], ["--batch-rows", 1]):
        data = convert("a.parquet", "o.nrt", "--force", *options)
        assert rows_of(data) == expected
        assert data.fields["id"].dtype == np.int64
    data = convert("a.parquet", "b.parquet", "both.nrt", "--batch-rows", 1)
    assert [row["id"] for row in rows_of(data)] == [*ids, *wide[0]]
    assert rows_of(convert("a.parquet", "w.nrt", "--types", "id=str,price=str"))[1] == {
        "id": str(2**53 + 1),
        "price": "-0.07",
    }
    assert (
        "b.parquet: id: 18446744073709551615 at row 0 does not fit int64"
        in refused(capsys, here, "b.parquet", "q.nrt", "--types", "id=int64")[0]
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("9007199254740993.5", pa.decimal128(20, 1)),
        ("18446744073709551616", pa.decimal128(38, 0)),
        ("0.1234567890123456789", pa.decimal256(76, 19)),
    ],
)
@pytest.mark.parametrize("nest", [lambda x: x, lambda x: [x, x], lambda x: {"c": x}])
def test_decimals_that_no_number_holds_are_named(here, capsys, value, kind, nest):
    values = [nest(decimal.Decimal(0)), nest(decimal.Decimal(value))]
    types = {list: pa.list_(kind), dict: pa.struct({"c": kind})}
    pq.write_table(pa.table({"x": pa.array(values, types.get(type(values[0]), kind))}), "a.parquet")
    key = "x.c" if isinstance(values[0], dict) else "x"
    text = f"a.parquet: {key}: {value} at row 1 "
    assert text in refused(capsys, here, "a.parquet", "o.nrt", "--batch-rows", 1)[0]
    if kind.scale and key == "x":
        found = rows_of(convert("a.parquet", "o.nrt", "--types", "x=float64"))
        assert found == [{"x": nest(0.0)}, {"x": nest(float(value))}]


@pytest.mark.parametrize("dtype", [pa.int8(), pa.bool_(), pa.uint32()])
def test_nulls_in_some_of_the_pieces_become_nan(here, dtype):
    pq.write_table(pa.table({"x": pa.array([1, 0, None, 1]).cast(dtype)}), "a.parquet")
    data = convert("a.parquet", "o.nrt", "--nulls", "nan", "--batch-rows", 2)
    assert str([row["x"] for row in rows_of(data)]) == "[1.0, 0.0, nan, 1.0]"


def test_a_column_of_nulls_has_the_type_that_it_has_in_other_files(here):
    """As pandas writes a column where a partition lacks all values."""
    pq.write_table(pa.table({"w": pa.nulls(2), "x": pa.nulls(2), "l": pa.nulls(2)}), "0.parquet")
    pq.write_table(pa.table({"w": ["a"], "x": [7], "l": [["b"]]}), "1.parquet")
    for order in (["0.parquet", "1.parquet"], ["1.parquet", "0.parquet"]):
        name = f"{order[0]}.nrt"
        data = convert(*order, name, "--nulls", "fill", "--fill", "-1", "--null-word", "?")
        expected = [{"w": "?", "x": -1, "l": []}] * 2, [{"w": "a", "x": 7, "l": ["b"]}]
        assert rows_of(data) == [
            row for rows in (expected if order[0] < "1" else expected[::-1]) for row in rows
        ]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 0, 2]])
def test_times_of_several_units_are_kept_whole(here, order):
    """The finest unit holds them all, whichever file comes last."""
    exact = np.array(["2020-01-01T10:30:00.000001", "2020-01-02", "2020-01-03T00:00:01"], "M8[us]")
    for i, kind in enumerate([pa.timestamp("us"), pa.date32(), pa.timestamp("s")]):
        pq.write_table(pa.table({"t": pa.array(exact[i : i + 1]).cast(kind)}), f"{i}.parquet")
    data = convert(*(f"{i}.parquet" for i in order), "o.nrt")
    assert data.fields["t"].dtype == np.dtype("M8[us]")
    assert (data.batch([0, 1, 2])["t"] == exact[order]).all()


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
def test_times_with_a_zone_become_utc_and_go_with_no_others(here, capsys, kind):
    write_times(f"zoned.{kind}", ["2020-01-01T01:00:00+01:00", "2020-07-01T00:00:00Z"])
    write_times(f"naive.{kind}", ["2020-01-01T01:00:00", "2020-07-01"])
    types = ["--types", "t=datetime64[s]"]
    said = say(capsys, f"zoned.{kind}", "o.nrt", *(types if kind == "jsonl" else []))
    assert "  t: times of " in said
    assert "became UTC" in said
    data = varlen.open("o.nrt")
    assert data.batch([0, 1])["t"].astype("M8[s]").tolist() == utc("2020-01-01", "2020-07-01")
    assert convert(f"zoned.{kind}", "s.nrt", *types).fields["t"].dtype == np.dtype("M8[s]")
    assert "UTC" not in say(capsys, f"naive.{kind}", "n.nrt", *types)
    for order in (["zoned", "naive"], ["naive", "zoned"]):
        for options in [types] if kind == "jsonl" else [[], types]:
            said = refused(capsys, here, *(f"{name}.{kind}" for name in order), "q.nrt", *options)
            assert "zone" in said[0]
            assert "t" in said[0]
            assert f".{kind}" in said[0]
    if kind != "parquet":
        write_times(f"mixed.{kind}", ["2020-01-01T01:00:00+01:00", "2020-07-01T00:00:00"])
        said = refused(capsys, here, f"mixed.{kind}", "q.nrt", *types)
        assert f"mixed.{kind}" in said[0]
        assert "'2020-07-01T00:00:00'" in said[0]
        assert "line" in said[0]


def utc(*days):
    return np.array(days, "M8[s]").tolist()


def write_times(path, texts):
    if path.endswith(".csv"):
        write_csv(path, ["t"], [[text] for text in texts])
    elif path.endswith(".jsonl"):
        write_lines(pathlib.Path(path), [{"t": text} for text in texts])
    else:
        zone = "Europe/Berlin" if "+" in texts[0] else None
        values = pa.array(texts).cast(pa.timestamp("s", zone))
        pq.write_table(pa.table({"t": values}), path)


def test_numbers_and_text_are_no_column_together(here, capsys):
    """Ids of words and numbers look alike."""
    pq.write_table(pa.table({"c": [0, 1]}), "n.parquet")
    pq.write_table(pa.table({"c": ["b", "a"]}), "w.parquet")
    pq.write_table(pa.table({"c": pa.nulls(1)}), "null.parquet")
    write_csv("n.csv", ["c"], [[1], [0]])
    for names in (["n.parquet", "w.parquet"], ["w.parquet", "n.csv"]):
        text = "c is text in w.parquet and not in n."
        assert text in refused(capsys, here, *names, "o.nrt")[0]
        assert text in refused(capsys, here, *names[::-1], "o.nrt")[0]
        assert len(rows_of(convert(*names, "o.nrt", "--types", "c=str", "--force"))) == 4
        (here / "o.nrt").unlink()
    rows = rows_of(convert("null.parquet", "w.parquet", "o.nrt", "--null-word", "?"))
    assert [row["c"] for row in rows] == ["?", "b", "a"]
    write_lines(here / "a.jsonl", [{"c": 1}, {"c": "x"}])
    assert "a.jsonl, line 2: 'c': expected a number, got str" in refused(capsys, here, "a.jsonl", "q.nrt")[0]


def test_digits_of_lines_are_kept_or_named(here, capsys):
    long = "0.1234567890123456789"
    (here / "a.jsonl").write_text(f'{{"x": [0.1], "s": "{long}"}}\n{{"x": [1, {long}], "s": ""}}\n')
    said = refused(capsys, here, "a.jsonl", "o.nrt")
    assert f"a.jsonl, line 2: 'x': {long} has more digits than a double; see --types" in said[0]
    assert rows_of(convert("a.jsonl", "o.nrt", "--types", "x=float64"))[1]["x"] == [1.0, float(long)]
    (here / "b.jsonl").write_text('{"x": [0.30000000000000004, 1.000000000000000056e-01, 5e-324]}\n')
    assert rows_of(convert("b.jsonl", "p.nrt")) == [{"x": [0.30000000000000004, 0.1, 5e-324]}]
    (here / "c.jsonl").write_text('{"x": 1e400}\n')
    assert "'x': 1e400 has more digits than a double" in refused(capsys, here, "c.jsonl", "q.nrt")[0]


def test_texts_of_lines_are_what_types_say(here, capsys):
    records = [{"t": ["2020-01-01", "2020-01-01 10:30"], "n": "0389"}, {"t": [], "n": "7"}]
    write_lines(here / "a.jsonl", records)
    data = convert("a.jsonl", "o.nrt", "--types", "t=datetime64[m],n=int64")
    assert data.fields["t"].dtype == np.dtype("M8[m]")
    assert [row["n"] for row in rows_of(data)] == [389, 7]
    times = np.array(records[0]["t"], "M8[m]").tolist()
    assert data[0].to_list()["t"] == times
    said = refused(capsys, here, "a.jsonl", "p.nrt", "--types", "t=datetime64[D]")[0]
    assert "a.jsonl, line 1: 't': '2020-01-01 10:30' is no datetime64[D]" in said
    write_lines(here / "b.jsonl", [{"t": "2020-01-01"}, {"t": None}, {"t": "never"}])
    said = refused(capsys, here, "b.jsonl", "p.nrt", "--types", "t=datetime64[s]", "--nulls", "nan")
    assert "b.jsonl, line 3: 't': 'never' is no datetime64[s], as --types says" in said[0]
    write_lines(here / "c.jsonl", [{"t": "2020-01-01"}, {"t": None}])
    data = convert("c.jsonl", "p.nrt", "--types", "t=datetime64[s]", "--nulls", "nan")
    assert np.isnat(data.batch([1])["t"]).all()


def test_times_that_no_unit_holds_are_named(here, capsys):
    pq.write_table(pa.table({"t": pa.array(np.array(["3000-01-01T10:30"], "M8[us]"))}), "far.parquet")
    pq.write_table(pa.table({"t": pa.array(np.array([1], "M8[ns]"))}), "fine.parquet")
    pq.write_table(pa.table({"t": pa.array(np.array([7], "m8[s]"))}), "span.parquet")
    pq.write_table(pa.table({"t": [7]}), "number.parquet")
    for sources, options, text in [
        (["far", "fine"], [], "far.parquet: t: 3000-01-01T10:30:00.000000 does not fit datetime64[ns]"),
        (["fine"], ["--types", "t=datetime64[us]"], "t: 1970-01-01T00:00:00.000000001 at row 0 does not fit"),
        (["fine", "number"], [], "t: no dtype holds both datetime64[ns] and int64; see --types"),
        (["number", "span"], [], "t: no dtype holds both int64 and timedelta64[s]; see --types"),
    ]:
        names = [f"{name}.parquet" for name in sources]
        assert text in refused(capsys, here, *names, "q.nrt", *options)[0]


# Declared types: what does not fit is refused where it lies.
BEYOND = [
    ("a.csv", "x\n0.5\n1e300\n", "float32", "a.csv: x: 1e+300 at line 3 does not fit float32"),
    ("a.csv", "x\n1e400\n", "float64", "a.csv, line 2: x: '1e400' is no double"),
    ("a.csv", "x\n1\n1e5\n", "float16", "a.csv: x: 100000.0 at line 3 does not fit float16"),
    ("a.csv", "x\n2020-01-01T12:00\n", "datetime64[D]", "x: 2020-01-01T12:00:00 at line 2 does not fit"),
    ("a.jsonl", '{"x": "1e400"}', "float64", "a.jsonl, line 1: 'x': '1e400' is no float64"),
    ("a.jsonl", '{"x": "1e5"}', "float16", "'1e5' is no float16"),
    ("a.jsonl", '{"x": "1_0"}', "int64", "'1_0' is no int64"),
    ("a.jsonl", '{"x": "\u0663"}', "float32", "is no float32"),
    ("a.jsonl", '{"x": "7"}', "bool", "'7' is no bool"),
    ("a.jsonl", '{"x": 5}', "datetime64[s]", "line 1: 'x': dtype int64, but --types says datetime64[s]: 5"),
    ("a.jsonl", '{"x": [[1], [2]]}\n{"x": [[3, 4], [5, 300]]}', "int8", "line 2: 'x': 300 does not fit int8"),
]


@pytest.mark.parametrize(("name", "text", "dtype", "said"), BEYOND)
def test_a_value_that_a_declared_type_does_not_hold_is_named_where_it_lies(
    here, capsys, name, text, dtype, said
):
    (here / name).write_text(text)
    assert said in refused(capsys, here, name, "o.nrt", "--types", f"x={dtype}")[0]


def test_values_of_declared_types_are_named_by_their_own_file_and_row(here, capsys):
    pq.write_table(pa.table({"x": [[1, 2], [3]], "w": ["5", "a"]}), "a.parquet")
    pq.write_table(pa.table({"x": [[1, 2], [70000]], "w": ["6", "7"]}), "b.parquet")
    said = refused(capsys, here, "a.parquet", "b.parquet", "o.nrt", "--types", "x=int16")
    assert said == ["varlen: b.parquet: x: 70000 at row 1 does not fit int16"]
    said = refused(capsys, here, "a.parquet", "o.nrt", "--types", "w=int64")
    assert said == ["varlen: a.parquet: w: holds text, but --types says int64; cast it first"]
    said = refused(capsys, here, "a.parquet", "o.nrt", "--types", "x=datetime64[s]")
    assert said == ["varlen: a.parquet: x: dtype int64, but --types says datetime64[s]: 1 at row 0"]
    pq.write_table(pa.table({"x": pa.array([[1, 2], [3, 4]], pa.list_(pa.int8(), 2))}), "c.parquet")
    rows = rows_of(convert("c.parquet", "c.nrt", "--types", "x=str"))
    assert rows == [{"x": ["1", "2"]}, {"x": ["3", "4"]}]
    pq.write_table(pa.table({"x": [b"a", b"\xff"]}), "d.parquet")
    said = refused(capsys, here, "d.parquet", "o.nrt", "--types", "x=str")[0]
    assert said.startswith("varlen: d.parquet: x: binary cannot be read as text")


def test_truth_and_halves_are_types_of_texts(here):
    write_lines(here / "a.jsonl", [{"x": "true"}, {"x": "0"}])
    assert [row["x"] for row in rows_of(convert("a.jsonl", "a.nrt", "--types", "x=bool"))] == [True, False]
    write_csv("b.csv", ["x"], [["0.1"], ["inf"], [" 2 "]])
    data = convert("b.csv", "b.nrt", "--types", "x=float16")
    assert data.fields["x"].dtype == np.float16
    assert [row["x"] for row in rows_of(data)] == [np.float16(0.1), float("inf"), 2]


# Keys and files that differ.


@pytest.mark.parametrize(
    ("late", "options", "first"),
    [
        (5, ["--nulls", "nan"], float("nan")),
        (5, ["--nulls", "fill", "--fill", "0.5"], 0.5),
        ("w", ["--null-word", "?"], "?"),
        ("w", ["--nulls", "fill", "--fill", "0"], "0"),
        ({"b": 5}, ["--nulls", "nan"], float("nan")),
        ("2020-01-01", ["--nulls", "nan", "--types", "a=datetime64[D]"], None),
    ],
)
def test_a_key_that_comes_late_has_nulls_before_it(here, late, options, first):
    write_lines(here / "a.jsonl", [{"x": 1}])
    write_lines(here / "b.jsonl", [{"x": 2, "a": late}])
    one, two = rows_of(convert("a.jsonl", "b.jsonl", "o.nrt", *options))
    key = "a.b" if isinstance(late, dict) else "a"
    assert one[key] == first or (first is not None and first != first and one[key] != one[key])
    assert str(two[key]).startswith(str(late["b"] if isinstance(late, dict) else late))


def test_files_that_differ_in_kind_are_named(here, capsys):
    tables = {
        "number": pa.table({"x": [1]}),
        "object": pa.table({"x": [{"y": 1}]}),
        "list": pa.table({"x": [[1]]}),
        "span": pa.table({"x": pa.array([5], pa.duration("s"))}),
        "time": pa.table({"x": pa.array([5], pa.timestamp("ms"))}),
    }
    for name, table in tables.items():
        pq.write_table(table, f"{name}.parquet")
    for first, second, text in [
        ("number", "object", "keys ['x'] are missing and ['x.y'] are new"),
        ("number", "list", "x: dim 1"),
        ("span", "time", "x: no dtype holds both timedelta64[s] and datetime64[ms]"),
        ("time", "span", "x: no dtype holds both datetime64[ms] and timedelta64[s]"),
    ]:
        said = refused(capsys, here, f"{first}.parquet", f"{second}.parquet", "o.nrt")
        assert len(said) == 1
        assert said[0].startswith(f"varlen: {second}.parquet: ")
        assert text in said[0]
    write_lines(here / "a.jsonl", [{"x": {"q": 1}}])
    write_lines(here / "b.jsonl", [{"x": {"p": 1, "q": 1}}])
    said = refused(capsys, here, "b.jsonl", "a.jsonl", "o.nrt")
    assert said == ["varlen: a.jsonl, line 1: no value for 'x.p'; see --nulls"]
    assert said == refused(capsys, here, "a.jsonl", "b.jsonl", "o.nrt")


@pytest.mark.parametrize(
    ("options", "dims"),
    [
        ([], [0, 0, 1, 0]),
        (["--group-by", "p"], [0, 1, 2, 1]),
        (["--group-by", "p", "--group-by", "q", "--regroup"], [0, 1, 3, 2]),
        (["--group-by", "p", "--constant", "q", "--sort-by", "t"], [0, 0, 2, 1]),
        (["--rows-per-shard", "2", "--nulls", "nan", "--narrow"], [0, 0, 1, 0]),
    ],
)
def test_columns_of_a_table_without_rows_are_there(here, capsys, options, dims):
    columns = {"p": pa.int64(), "q": pa.string(), "x": pa.list_(pa.float32()), "t": pa.timestamp("us")}
    table = pa.table({name: pa.array([], kind) for name, kind in columns.items()})
    pq.write_table(table, "a.parquet")
    fields = convert("a.parquet", "o", *options).fields if "--rows-per-shard" in options else None
    fields = fields or convert("a.parquet", "o.nrt", *options).fields
    assert [(name, field.dim) for name, field in fields.items()] == list(zip(columns, dims, strict=True))
    assert [fields[name].dtype for name in "pxt"] == ["int64", "float32", "M8[us]"]
    assert fields["q"].vocabulary == ("[PAD]",)
    said = refused(capsys, here, "a.parquet", "--infer-schema", "e.toml")
    assert said == ["varlen: a.parquet: has no rows, so the types of its columns are unknown"]


@pytest.mark.parametrize("view", ["list_view", "large_list_view"])
def test_views_of_lists_are_read_as_text(here, view):
    kind = getattr(pa, view)(pa.int64())
    array = pa.array([[7], [1, 2], [], None, [3]], kind).slice(1)
    pa.feather.write_feather(pa.table({"x": array}), "a.arrow")
    data = convert("a.arrow", "o.nrt", "--types", "x=str", "--nulls", "nan")
    assert data[:].to_list()["x"] == [["1", "2"], [], [], ["3"]]


def test_a_header_alone_is_a_table_without_rows(here, capsys):
    write_csv("a.csv", ["x", "w"], [[1, "a"]])
    for text in ("w,x", "w,x\n"):
        (here / "b.csv").write_text(text)
        assert rows_of(convert("a.csv", "b.csv", "o.nrt", "--force")) == [{"x": 1, "w": "a"}]
    (here / "b.csv").write_text('x,"w')
    assert "a quote in the names of columns does not end" in refused(capsys, here, "b.csv", "p.nrt")[0]
    write_lines(here / "a.jsonl", [{"x": {}}, {"x": {}}])
    assert "2 records, but none of them has a value" in refused(capsys, here, "a.jsonl", "p.nrt")[0]


def test_text_that_is_no_utf8_is_named(here, capsys):
    (here / "a.csv").write_bytes(b"id,w\n1,a\n2,\xe9\n")
    assert refused(capsys, here, "a.csv", "o.nrt")[0].startswith("varlen: a.csv, line 3: no UTF-8 text")


def test_a_type_that_no_file_holds_is_said_once(here, capsys):
    pq.write_table(pa.table({"t": pa.array([1, 2], pa.time64("us"))}), "a.parquet")
    said = refused(capsys, here, "a.parquet", "o.nrt", "--batch-rows", 1)
    assert said == [
        "varlen: a.parquet: t: expected a column with a NumPy dtype, got type time64[us]; "
        "--columns leaves one out"
    ]


def test_columns_of_uuids_runs_and_tensors_are_converted(here):
    ids = pa.array([bytes([i]) * 16 for i in (2, 2, 1)], pa.binary(16)).cast(pa.uuid())
    flat = pa.array(np.arange(12, dtype=np.float32))
    kind = pa.fixed_shape_tensor(pa.float32(), [2, 2])
    table = {
        "id": ids,
        "t": pa.ExtensionArray.from_storage(kind, pa.FixedSizeListArray.from_arrays(flat, 4)),
    }
    pq.write_table(pa.table(table), "a.parquet")
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([7, 9]))
    words = pa.RunEndEncodedArray.from_arrays(pa.array([1, 3], pa.int32()), pa.array(["a", "b"]))
    with pa.ipc.new_file("b.arrow", (whole := pa.table({**table, "r": runs, "w": words})).schema) as sink:
        sink.write_table(whole)
    texts = [str(uuid.UUID(bytes=bytes([i]) * 16)) for i in (2, 1)]
    tensors = np.arange(12.0).reshape(3, 2, 2).tolist()
    for source in ("a.parquet", "b.arrow"):
        for options in (["--group-by", "id"], ["--group-by", "id", "--regroup", "--sort-by", "id"]):
            rows = rows_of(convert(source, "o.nrt", "--force", *options))
            rows.sort(key=lambda row: row["id"], reverse=True)
            assert [row["id"] for row in rows] == texts
            assert [row["t"] for row in rows] == [tensors[:2], tensors[2:]]
    assert rows_of(convert("b.arrow", "p.nrt", "--columns", "w,r")) == [
        {"w": "a", "r": 7},
        {"w": "b", "r": 7},
        {"w": "b", "r": 9},
    ]


def test_an_index_of_pandas_is_left_out(here, capsys):
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"a": [1, 3, 4, 2]}).iloc[[0, 1, 3]]
    frame.to_parquet("a.parquet")
    frame.to_csv("a.csv")
    for source in ("a.parquet", "a.csv"):
        assert main(["convert", source, f"{source}.nrt"]) == 0
        assert "an index of pandas was left out" in capsys.readouterr().out
        assert rows_of(varlen.open(f"{source}.nrt")) == [{"a": 1}, {"a": 3}, {"a": 2}]
    kept = rows_of(convert("a.parquet", "k.nrt", "--columns", "__index_level_0__,a"))
    assert [row["__index_level_0__"] for row in kept] == [0, 1, 3]


# Words.


def test_reserved_words_take_the_first_ids(here, capsys):
    write_csv("a.csv", ["w"], [["x"], ["y"], ["x"]])
    data = convert("a.csv", "o.nrt", "--reserve", "[PAD],[UNK],[MASK]")
    assert data.fields["w"].vocabulary == ("[PAD]", "[UNK]", "[MASK]", "x", "y")
    assert data.batch([0, 1, 2])["w"].tolist() == [3, 4, 3]
    write_csv("b.csv", ["w"], [["x"], ["[PAD]"]])
    text = refused(capsys, here, "b.csv", "p.nrt", "--reserve", "[PAD]")[0]
    assert "b.csv: w: the word '[PAD]' is reserved at line 3" in text


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_words_leave_id_0_to_padding(here, capsys, suffix):
    """In batches padding reads as no word of the data, at every depth; ids of rows are not padded."""
    rows = [{"id": "b", "w": "x"}, {"id": "b", "w": "y"}, {"id": "a", "w": "x"}]
    if suffix == "jsonl":
        write_lines(here / "a.jsonl", rows)
    elif suffix == "csv":
        write_csv("a.csv", ["id", "w"], [list(row.values()) for row in rows])
    else:
        pq.write_table(pa.Table.from_pylist(rows), "a.parquet")
    options = ["--group-by", "id", "--row-ids", "id"]
    data = convert(f"a.{suffix}", "o.nrt", *options)
    field = data.fields["w"]
    assert (field.vocabulary, field.padding_id) == (("[PAD]", "x", "y"), 0)
    assert data.fields["id"].vocabulary == ("b", "a")
    words = np.array(field.vocabulary)[data.batch([0, 1])["w"]]
    assert words.tolist() == [["x", "y"], ["x", "[PAD]"]]
    assert rows_of(data) == [{"id": "b", "w": ["x", "y"]}, {"id": "a", "w": ["x"]}]
    bare = convert(f"a.{suffix}", "b.nrt", *options, "--no-padding-id")
    assert (bare.fields["w"].vocabulary, bare.fields["w"].padding_id) == (("x", "y"), None)
    chosen = convert(f"a.{suffix}", "c.nrt", *options, "--reserve", "[UNK],[PAD]")
    assert chosen.fields["w"].vocabulary == ("[UNK]", "[PAD]", "x", "y")
    assert chosen.batch([0, 1])["w"].tolist() == [[2, 3], [2, 1]]
    for name, text in (
        ("o", "3 words, padding id 0"),
        ("b", "2 words, no padding id"),
        ("c", "padding id 1"),
    ):
        capsys.readouterr()
        assert main(["info", f"{name}.nrt"]) == 0
        said = capsys.readouterr().out
        assert text in said
        assert "2 words, row ids" in said or name == "c"


def test_the_word_of_padding_among_values_is_refused_or_taken(here, capsys):
    write_csv("a.csv", ["w"], [["x"], ["[PAD]"]])
    text = refused(capsys, here, "a.csv", "o.nrt")[0]
    assert "a.csv: w: the word '[PAD]' is reserved at line 3; --no-padding-id takes it" in text
    assert rows_of(convert("a.csv", "o.nrt", "--no-padding-id")) == [{"w": "x"}, {"w": "[PAD]"}]
    (here / "words.json").write_text(json.dumps({"w": ["x", "[PAD]"]}))
    assert rows_of(convert("a.csv", "p.nrt", "--vocabulary", "words.json"))[1] == {"w": "[PAD]"}


@pytest.mark.parametrize("kind", ["nrt", "shards", "json", "txt"])
def test_words_from_outside_keep_their_ids(here, capsys, kind):
    write_csv("train.csv", ["w", "x"], [["b", 1], ["a", 2]])
    convert("train.csv", "train.nrt", "--reserve", "[UNK]")
    convert("train.csv", "out", "--reserve", "[UNK]", "--rows-per-shard", 1)
    (here / "words.json").write_text(json.dumps({"w": ["[UNK]", "b", "a"]}))
    (here / "words.txt").write_text("[UNK]\nb\na\n")
    given = {"nrt": "train.nrt", "shards": "out", "json": "words.json", "txt": "w=words.txt"}[kind]
    write_csv("valid.csv", ["w", "x"], [["a", 1], ["new", 2], ["b", 3], ["new", 4], ["newer", 5]])
    code = main(["convert", "valid.csv", "valid.nrt", "--vocabulary", given, "--unknown", "[UNK]"])
    assert code == 0
    assert "w: 3 values of 2 words outside the vocabulary became '[UNK]'" in capsys.readouterr().out
    data = varlen.open("valid.nrt")
    added = ("[PAD]",) if kind in ("nrt", "shards") else ()  # as in the training set
    assert data.fields["w"].vocabulary == (*added, "[UNK]", "b", "a")
    assert data.batch(range(5))["w"].tolist() == [i + len(added) for i in [2, 0, 1, 0, 0]]
    text = refused(capsys, here, "valid.csv", "q.nrt", "--vocabulary", given)[0]
    assert "w: the word 'new' is not in the vocabulary given at line 3; see --unknown" in text
    write_lines(here / "valid.jsonl", [{"w": [["a"], ["b", "new"]]}, {"w": []}])
    lines = convert("valid.jsonl", "l.nrt", "--vocabulary", given, "--unknown", "[UNK]")
    assert lines[0].to_list() == {"w": [["a"], ["b", "[UNK]"]]}
    text = refused(capsys, here, "valid.jsonl", "q.nrt", "--vocabulary", given)[0]
    assert "valid.jsonl, line 1: 'w': the word 'new' is not in the vocabulary" in text


def test_row_ids_are_no_words_of_other_rows(here):
    write_lines(here / "train.jsonl", [{"id": "a", "w": ["x"]}, {"id": "b", "w": ["y"]}])
    write_lines(here / "valid.jsonl", [{"id": "c", "w": ["y", "z"]}, {"id": "a", "w": []}])
    convert("train.jsonl", "train.nrt", "--row-ids", "id", "--reserve", "[UNK]")
    outside = ["--vocabulary", "train.nrt", "--unknown", "[UNK]"]
    data = convert("valid.jsonl", "valid.nrt", "--row-ids", "id", *outside)
    assert data.rows_of(["a", "c"]).tolist() == [1, 0]
    assert rows_of(data) == [{"id": "c", "w": ["y", "[UNK]"]}, {"id": "a", "w": []}]
    data = convert("valid.jsonl", "asked.nrt", "--vocabulary", "id=train.nrt", "--unknown", "[UNK]")
    assert data.fields["id"].vocabulary == ("[UNK]", "a", "b")


def test_vocabularies_that_cannot_be_used_are_named(here, capsys):
    write_csv("a.csv", ["w", "x"], [["a", 1]])
    (here / "twice.txt").write_text("a\nb\na\n")
    (here / "x.json").write_text(json.dumps({"x": ["a"]}))
    (here / "bad.json").write_text("[1]")
    for given, text in (
        ("w=twice.txt", "the word 'a' comes twice"),
        ("twice.txt", "needs its key"),
        ("none.txt", "no such file"),
        ("w=x.json", "no words of 'w'"),
        ("x.json", "x: the word '1' is not in the vocabulary given"),
        ("bad.json", "expected an object of keys to lists of words"),
    ):
        assert text in refused(capsys, here, "a.csv", "o.nrt", "--vocabulary", given)[0], given
    (here / "w.txt").write_text("a\n")
    both = ("--vocabulary", "w=w.txt", "--unknown", "?")
    assert "--unknown '?' is not in the vocabulary" in refused(capsys, here, "a.csv", "o.nrt", *both)[0]
    assert "--unknown goes with" in refused(capsys, here, "a.csv", "o.nrt", "--unknown", "?")[0]


def test_nulls_among_words_are_said(here, capsys):
    write_csv("a.csv", ["w", "x"], [["a", 1], ["", 2], ["NA", ""]])
    assert "a.csv: w: null at line 3" in refused(capsys, here, "a.csv", "o.nrt", "--columns", "w")[0]
    data = convert("a.csv", "o.nrt", "--null-word", "[UNK]", "--reserve", "[UNK]", "--nulls", "nan")
    assert data.batch([0, 1, 2])["w"].tolist() == [2, 1, 3]  # NA is a word, sodium
    assert np.isnan(data.batch([0, 1, 2])["x"][2])
    pq.write_table(pa.table({"w": [["a", None], []]}), "a.parquet")
    assert rows_of(convert("a.parquet", "p.nrt", "--null-word", "?"))[0] == {"w": ["a", "?"]}
    write_lines(here / "a.jsonl", [{"w": ["a", None], "x": [1, None]}, {"w": [None], "x": [3]}])
    said = refused(capsys, here, "a.jsonl", "r.nrt", "--nulls", "nan")
    assert said[0] == "varlen: a.jsonl, line 1: 'w'[1]: expected text, got NoneType; see --null-word"
    lines = convert("a.jsonl", "l.nrt", "--null-word", "?", "--nulls", "fill", "--fill", "0")
    assert rows_of(lines) == [{"w": ["a", "?"], "x": [1, 0]}, {"w": ["?"], "x": [3]}]
    filled = convert("a.jsonl", "f.nrt", "--nulls", "fill", "--fill", "0")
    assert rows_of(filled) == [{"w": ["a", "0"], "x": [1, 0]}, {"w": ["0"], "x": [3]}]


@pytest.mark.parametrize("options", [[], ["--narrow"], ["--reserve", "[PAD]"]])
def test_nulls_before_the_first_word_become_words(here, options):
    write_lines(here / "a.jsonl", [{"w": [None]}, {"w": []}])
    write_lines(here / "b.jsonl", [{"w": [str(i) for i in range(256)]}])
    data = convert("a.jsonl", "b.jsonl", "o.nrt", "--nulls", "nan", "--null-word", "[PAD]", *options)
    assert rows_of(data)[:2] == [{"w": ["[PAD]"]}, {"w": []}]
    assert rows_of(data)[2] == {"w": [str(i) for i in range(256)]}
    assert data.fields["w"].dtype.kind in "iu"


# Order.


def _random_events(rng, patients, rows):
    events = [
        (rng.randrange(patients), rng.randrange(4), rng.randrange(50), rng.choice(["a", "bb", "c"]))
        for _ in range(rows)
    ]
    rng.shuffle(events)
    return events


def _gather(events, *, in_order, sort):
    """The model: patients of visits of events, in plain dicts."""
    patients = {}
    for p, v, t, w in events:
        patients.setdefault(p, {}).setdefault(v, []).append((t, w))
    keys = sorted(patients) if in_order else list(patients)
    out = []
    for p in keys:
        visits = patients[p]
        ordered = sorted(visits) if sort else list(visits)
        inner = [sorted(visits[v], key=lambda e: e[0]) if sort else visits[v] for v in ordered]
        times, words = ([[e[k] for e in events] for events in inner] for k in (0, 1))
        out.append({"p": p, "v": ordered, "t": times, "w": words})
    return out


@pytest.mark.parametrize("budget", [1 << 28, 1000])
@pytest.mark.parametrize("sort", [None, "v,t", "p,v,t"])
def test_regroup_gathers_and_orders(here, monkeypatch, budget, sort):
    from varlen.cli.conversion import regroup

    monkeypatch.setattr(regroup, "BUDGET", budget)
    events = _random_events(random.Random(0), 37, 3000)
    write_csv("a.csv", "pvtw", events[:1000])
    pq.write_table(pa.table(dict(zip("pvtw", zip(*events[1000:], strict=True), strict=True))), "b.parquet")
    options = ["--group-by", "p", "--group-by", "v", "--regroup", "--batch-rows", 100]
    options += ["--sort-by", sort] if sort else []
    expected = _gather(events, in_order=bool(sort) and sort[0] == "p", sort=bool(sort))
    assert rows_of(convert("a.csv", "b.parquet", "o.nrt", *options)) == expected
    assert sorted(path.name for path in here.iterdir()) == ["a.csv", "b.parquet", "o.nrt"]


def test_a_command_that_is_terminated_leaves_nothing(here, monkeypatch):
    write_csv("a.csv", ["p", "x"], [[i % 3, i] for i in range(50)])
    monkeypatch.setattr("varlen.cli.conversion.regroup.BUDGET", 1)
    monkeypatch.setattr(
        "sys.argv",
        ["varlen", "convert", "a.csv", "o.nrt", "--group-by", "p", "--regroup", "--batch-rows", "5"],
    )
    seen = []

    def stop(*_):
        seen.extend(here.glob(".varlen-*"))
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("varlen.cli.conversion.joints.group_rows", stop)
    before = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit, match="143"):
            main()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(seen) == 1
    assert [path.name for path in here.iterdir()] == ["a.csv"]


def test_regroup_of_words_in_dictionaries(here):
    keys = pa.array(["b", "a", "b", "c", "a"]).dictionary_encode()
    pq.write_table(pa.table({"p": keys, "x": [1, 2, 3, 4, 5]}), "a.parquet")
    rows = rows_of(convert("a.parquet", "o.nrt", "--group-by", "p", "--regroup", "--sort-by", "p,x"))
    assert rows == [{"p": "a", "x": [2, 5]}, {"p": "b", "x": [1, 3]}, {"p": "c", "x": [4]}]


@pytest.mark.parametrize("options", [[], ["--regroup"]])
def test_words_in_dictionaries_group_as_others_do(here, capsys, options):
    """Of narrow ids, with entries that are not used, or null."""
    ids = pa.DictionaryArray.from_arrays(pa.array([1, 3, 0, 0], pa.int8()), pa.array(["y", "x", None, "x"]))
    table = pa.table({"p": [1, 1, 2, 2], "v": ids, "n": [1, 2, 3, 4]})
    pa.feather.write_feather(table, "a.feather")
    rows = rows_of(convert("a.feather", "o.nrt", "--group-by", "p", "--group-by", "v", *options))
    assert rows == [{"p": 1, "v": ["x"], "n": [[1, 2]]}, {"p": 2, "v": ["y"], "n": [[3, 4]]}]
    rows = rows_of(convert("a.feather", "o.nrt", "--group-by", "v", "--force", *options))
    assert [row["n"] for row in rows] == [[1, 2], [3, 4]]
    null = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["y", None]))
    pa.feather.write_feather(pa.table({"p": [1, 1], "v": null}), "b.feather")
    for groups in (["v"], ["p", "v"]):
        names = [word for name in groups for word in ("--group-by", name)]
        said = refused(capsys, here, "b.feather", "q.nrt", *names, *options)
        assert said == ["varlen: b.feather: v: null at row 1; a group needs a value"]


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow has no views of text")
@pytest.mark.parametrize("options", [[], ["--regroup"]])
def test_words_in_views_group_as_others_do(here, options):
    """As Polars writes its text, Categorical and Enum."""
    words = pa.array(["u", "v"], pa.string_view())
    category = pa.DictionaryArray.from_arrays(pa.array([0, 0, 1], pa.uint32()), words)
    text = pa.array(["x", "x", "y"], pa.string_view())
    lists = pa.array([["a"], [], ["b"]], pa.list_(pa.string_view()))
    pa.feather.write_feather(pa.table({"p": category, "s": text, "w": lists, "n": [1, 2, 3]}), "a.feather")
    for key, expected in (("p", ["u", "v"]), ("s", ["x", "y"])):
        rows = rows_of(convert("a.feather", "o.nrt", "--group-by", key, "--force", *options))
        assert [row[key] for row in rows] == expected
        assert [row["n"] for row in rows] == [[1, 2], [3]]
        assert [row["w"] for row in rows] == [[["a"], []], [["b"]]]


@pytest.mark.parametrize("options", [[], ["--regroup"]])
@pytest.mark.parametrize("keys", [[0.5, 0.5, None], [7, 7, None], [True, True, None], [None, None, None]])
def test_nan_makes_no_group_of_its_own(here, capsys, keys, options):
    write_lines(here / "a.jsonl", [{"p": key, "x": i} for i, key in enumerate(keys)])
    arguments = ("o.nrt", "--group-by", "p", "--nulls", "nan", *options)
    line = keys.index(None) + 1
    said = refused(capsys, here, "a.jsonl", *arguments)
    assert said == [f"varlen: a.jsonl: p: null at line {line}; a group needs a value"]
    floats = [float("nan") if key is None else float(key) for key in keys]
    pq.write_table(pa.table({"p": floats, "x": [1, 2, 3]}), "a.parquet")
    assert f"p: null at row {line - 1}; a group" in refused(capsys, here, "a.parquet", *arguments)[0]


def test_regroup_orders_integers_of_64_bits(here):
    pq.write_table(pa.table({"p": pa.array([2**64 - 1, 5, 2**63], pa.uint64()), "x": [1, 2, 3]}), "a.parquet")
    data = convert("a.parquet", "o.nrt", "--group-by", "p", "--regroup", "--sort-by", "p")
    assert rows_of(data.with_key("n", np.arange(3)))[2] == {"p": 2**64 - 1, "x": [1], "n": 2}


def test_sort_by_orders_lists_words_and_what_is_below(here, capsys):
    record = {"id": 1, "t": [3, 1, 2, 1], "w": ["z", "y", "a", "x"], "deep": [[1, 2], [], [3], [4]]}
    write_lines(here / "a.jsonl", [record, {"id": 2, "t": [], "w": [], "deep": []}])
    by_time = rows_of(convert("a.jsonl", "o.nrt", "--sort-by", "t"))[0]
    assert by_time["w"] == ["y", "x", "a", "z"]
    assert by_time["deep"] == [[], [4], [3], [1, 2]]
    by_both = rows_of(convert("a.jsonl", "p.nrt", "--sort-by", "t,w"))[0]
    assert by_both["w"] == ["x", "y", "a", "z"]
    assert rows_of(convert("a.jsonl", "q.nrt", "--sort-by", "w"))[0]["t"] == [2, 1, 1, 3]
    assert "'id' has one value a record" in refused(capsys, here, "a.jsonl", "r.nrt", "--sort-by", "id")[0]
    assert "no key 'x'" in refused(capsys, here, "a.jsonl", "r.nrt", "--sort-by", "x")[0]
    write_csv("a.csv", ["p", "x"], [[1, 2]])
    text = refused(capsys, here, "a.csv", "r.nrt", "--group-by", "p", "--sort-by", "p")[0]
    assert "records are ordered by --regroup alone" in text


# Events in lines.


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [[], ["--sort-by", "p,v,t"]])
def test_events_in_lines_group_as_tables_do(here, monkeypatch, seed, options):
    """Two files, small pieces, words and numbers as groups: what is made is what a table of them gives."""
    from varlen.cli.conversion import lines

    monkeypatch.setattr(lines, "_PIECE", 200)
    rng = random.Random(seed)
    events = _random_events(rng, 9, 120)
    if seed % 2:
        events = [(f"p{p}", v, t, w) for p, v, t, w in events]
    records = [dict(zip("pvtw", event, strict=True)) for event in events]
    write_lines(here / "a.jsonl", records[:50])
    (here / "b.jsonl").write_text("\n".join(json.dumps(record) + "\n" for record in records[50:]))
    pq.write_table(pa.Table.from_pylist(records), "t.parquet")
    groups = ["--group-by", "p", "--group-by", "v", "--regroup", "--narrow", *options]
    data = convert("a.jsonl", "b.jsonl", "o.nrt", *groups)
    table = convert("t.parquet", "p.nrt", *groups)
    assert rows_of(data) == rows_of(table)
    assert data.schema == table.schema
    assert [field.dim for field in data.fields.values()] == [0, 1, 2, 2]
    assert data.keys() == list("pvtw")


def test_events_in_lines_keep_lists_types_words_and_static_tables(here, capsys):
    records = [
        {"id": 7, "t": 1, "labs": [{"c": "x", "v": 1}, {"c": "y", "v": 0.5}], "w": None, "ok": True},
        {"id": 7, "t": 2.5, "labs": [], "w": "a", "ok": False},
        {"id": 8, "t": 3, "labs": [{"c": "x", "v": 2**40}], "w": "zz", "ok": True},
    ]
    write_lines(here / "a.jsonl", records)
    write_csv("s.csv", ["id", "age"], [[8, 70], [7, 8]])
    write_lines(here / "words.json", [{"w": ["?", "a"]}])
    options = ["--group-by", "id", "--static", "s.csv", "--types", "t=float32"]
    options += ["--null-word", "?", "--vocabulary", "words.json", "--unknown", "?", "--reserve", "[R]"]
    data = convert("a.jsonl", "o.nrt", *options)
    assert rows_of(data) == [
        {
            "id": 7,
            "t": [1.0, 2.5],
            "labs.c": [["x", "y"], []],
            "labs.v": [[1.0, 0.5], []],
            "w": ["?", "a"],
            "ok": [True, False],
            "age": 8,
        },
        {
            "id": 8,
            "t": [3.0],
            "labs.c": [["x"]],
            "labs.v": [[2.0**40]],
            "w": ["?"],
            "ok": [True],
            "age": 70,
        },
    ]
    assert data.fields["t"].dtype == np.float32
    assert data.fields["labs.c"].vocabulary == ("[PAD]", "[R]", "x", "y")
    write_lines(here / "apart.jsonl", [records[0], records[2], records[1]])
    text = refused(capsys, here, "apart.jsonl", "p.nrt", *options)[0]
    assert "id: the rows of 7 are not together" in text
    assert "let --regroup gather them" in text
    assert rows_of(convert("apart.jsonl", "p.nrt", *options, "--regroup")) == rows_of(data)
    (here / "none.jsonl").write_text("")
    assert len(convert("none.jsonl", "n.nrt", "--group-by", "id")) == 0


# Columns with one value a record.

PEOPLE = [[7, "f", 1, ""], [7, "f", 2, ""], [8, "m", 3, 0.5], [7, "f", 4, ""], [9, "f", 5, 2]]


def write_people(path, people):
    names = ["id", "sex", "x", "age"]
    if str(path).endswith(".csv"):
        write_csv(path, names, people)
        return
    records = [dict(zip(names, [None if v == "" else v for v in row], strict=True)) for row in people]
    if str(path).endswith(".jsonl"):
        write_lines(path, records)
    else:
        pq.write_table(pa.Table.from_pylist(records), path)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
def test_constant_columns_are_one_value_a_record(here, capsys, suffix):
    write_people(here / f"a.{suffix}", PEOPLE)
    options = ["--group-by", "id", "--regroup", "--nulls", "nan", "--constant"]
    data = convert(f"a.{suffix}", "o.nrt", *options, "sex,age", "--row-ids", "id")
    assert {name: field.dim for name, field in data.fields.items()} == {"id": 0, "sex": 0, "x": 1, "age": 0}
    rows = rows_of(data)
    assert [(row["id"], row["sex"], row["x"]) for row in rows] == [
        (7, "f", [1, 2, 4]),
        (8, "m", [3]),
        (9, "f", [5]),
    ]
    assert str([row["age"] for row in rows]) == "[nan, 0.5, 2.0]"
    shards = convert(f"a.{suffix}", "out", *options, "age", "--columns", "x", "--rows-per-shard", 1)
    assert shards.keys() == ["id", "age", "x"]
    assert "no column 'y'" in refused(capsys, here, f"a.{suffix}", "q.nrt", *options, "y")[0]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("regroup", [True, False])
def test_a_column_with_two_values_in_a_record_is_refused(here, capsys, suffix, regroup):
    people = [*PEOPLE[:4], [7, "m", 6, 3], [9, "f", 5, 2], [9, "d", 6, 2], [9, "m", 7, 2]]
    if not regroup:
        people.sort(key=lambda row: row[0])
    write_people(here / f"a.{suffix}", people)
    options = ["--group-by", "id", "--nulls", "nan", "--constant", "sex,age", *["--regroup"] * regroup]
    said = refused(capsys, here, f"a.{suffix}", "q.nrt", *options)
    places = {"csv": "line {}", "jsonl": "line {}", "parquet": "row {}"}[suffix]
    ahead = {"csv": 2, "jsonl": 1, "parquet": 0}[suffix]
    first, second = (people.index(row) + ahead for row in ([7, "m", 6, 3], [9, "d", 6, 2]))
    assert sorted(said) == [
        "varlen: 3 wrong rows, nothing was written",
        f"varlen: a.{suffix}, {places.format(first)}: age: 3.0, but nan before in the record of id 7; "
        "--constant needs one value per record",
        f"varlen: a.{suffix}, {places.format(first)}: sex: 'm', but 'f' before in the record of id 7; "
        "--constant needs one value per record",
        f"varlen: a.{suffix}, {places.format(second)}: sex: 'd', but 'f' before in the record of id 9; "
        "--constant needs one value per record",
    ]


def test_fields_of_a_constant_object_are_constant(here):
    records = [
        {"id": 1, "home": {"zip": 7, "city": "x"}, "x": 1},
        {"id": 1, "home": {"zip": 7, "city": "x"}, "x": 2},
    ]
    write_lines(here / "a.jsonl", records)
    pq.write_table(pa.Table.from_pylist(records), "a.parquet")
    for source in ("a.jsonl", "a.parquet"):
        data = convert(source, "o.nrt", "--force", "--group-by", "id", "--constant", "home")
        assert rows_of(data) == [{"id": 1, "home.zip": 7, "home.city": "x", "x": [1, 2]}]


# Static tables.


def test_static_tables_are_joined_by_id(here, capsys):
    write_csv("e.csv", ["p", "x"], [["b", 1], ["b", 2], ["a", 3], ["c", 4]])
    write_csv("s.csv", ["p", "age", "sex"], [["a", 70, "F"], ["b", 8, "M"], ["d", 1, "F"]])
    options = ["--group-by", "p", "--static", "s.csv"]
    text = refused(capsys, here, "e.csv", "o.nrt", *options)[0]
    assert "s.csv: no row for p 'c', one of 1 such records" in text
    code = main(["convert", "e.csv", "o.nrt", *options, "--nulls", "nan", "--null-word", "?"])
    said = capsys.readouterr().out
    assert code == 0
    assert "s.csv: 1 ids have no record, and were left out" in said
    assert "s.csv: 1 ids of records have no row" in said
    rows = rows_of(varlen.open("o.nrt"))
    assert [(r["p"], r["sex"], r["x"]) for r in rows] == [
        ("b", "M", [1, 2]),
        ("a", "F", [3]),
        ("c", "?", [4]),
    ]
    assert [r["age"] for r in rows[:2]] == [8, 70]
    assert np.isnan(rows[2]["age"])
    write_lines(here / "e.jsonl", [{"p": "b", "x": [1]}, {"p": "a", "x": []}])
    rows = rows_of(convert("e.jsonl", "l.nrt", "--row-ids", "p", "--static", "s.csv"))
    assert rows == [{"p": "b", "x": [1], "age": 8, "sex": "M"}, {"p": "a", "x": [], "age": 70, "sex": "F"}]


def test_static_ids_are_read_as_those_of_the_records(here):
    write_csv("e.csv", ["id", "x"], [["007", 1], ["7", 2]])
    write_csv("s.csv", ["id", "age"], [["007", 70], ["7", 8]])
    data = convert("e.csv", "o.nrt", "--group-by", "id", "--static", "s.csv", "--types", "id=str")
    assert rows_of(data) == [{"id": "007", "x": [1], "age": 70}, {"id": "7", "x": [2], "age": 8}]
    for unit in ("us", "ns"):
        when = pa.array([0, 10**9], pa.timestamp(unit))
        pq.write_table(pa.table({"id": when, "x": [1, 2]}), "e.parquet")
        pq.write_table(pa.table({"id": when.cast(pa.timestamp(unit, "UTC")), "age": [3, 4]}), "s.parquet")
        data = convert("e.parquet", f"{unit}.nrt", "--row-ids", "id", "--static", "s.parquet")
        assert [row["age"] for row in rows_of(data)] == [3, 4]


def test_a_static_value_that_is_missing_is_named_by_its_id(here, capsys):
    write_csv("e.csv", ["id"], [[1], [4]])
    pq.write_table(pa.table({"id": [4, 1], "age": [None, 70], "w": ["a", None]}), "s.parquet")
    arguments = ["e.csv", "q.nrt", "--row-ids", "id", "--static", "s.parquet"]
    assert "s.parquet: age: null for id 4; see --nulls" in refused(capsys, here, *arguments)[0]
    assert "s.parquet: w: null for id 1 among" in refused(capsys, here, *arguments, "--nulls", "nan")[0]
    write_lines(here / "t.jsonl", [{"id": "1"}])
    arguments[0] = "t.jsonl"
    assert "s.parquet: id is no text, but text in the records" in refused(capsys, here, *arguments)[0]


@pytest.mark.parametrize("grouped", [True, False])
def test_nulls_of_static_tables_are_filled_and_counted(here, capsys, grouped):
    ages, sexes = {1: 5, 3: None, 4: 5}, {3: "F", 1: None, 9: "M"}
    records = [(1, [7, 8]), (3, [7]), (4, [9, 9])]
    pq.write_table(pa.table({"id": list(ages), "age": list(ages.values())}), "a.parquet")
    write_csv("s.csv", ["id", "sex"], [[key, sex or ""] for key, sex in sexes.items()])
    write_csv("e.csv", ["id", "x"], [[key, x] for key, xs in records for x in xs])
    write_lines(here / "e.jsonl", [{"id": key, "x": xs} for key, xs in records])
    source = ["e.csv", "o.nrt", "--group-by", "id"] if grouped else ["e.jsonl", "o.nrt", "--row-ids", "id"]
    tables = ["--static", "a.parquet", "--static", "s.csv"]
    data = convert(*source, *tables, "--nulls", "fill", "--fill", "0", "--null-word", "?")
    assert rows_of(data) == [
        {"id": key, "x": xs, "age": ages[key] or 0, "sex": sexes.get(key) or "?"} for key, xs in records
    ]
    account = data.account
    age, sex = account.columns["age"], account.columns["sex"]
    assert (age.source.values, age.reasons["nulls became 0"].changed) == (3, 1)
    assert (sex.source.values, sex.reasons["nulls became '?'"].changed) == (3, 2)
    assert sex.reasons["ids without a record"].left_out == sex.reasons["records without a row"].left_out * -1


def test_a_null_of_a_static_table_is_named_where_the_records_need_one_pass(here, capsys):
    pq.write_table(pa.table({"id": [1, 2], "x": [3, 4]}), "e.parquet")
    write_csv("s.csv", ["id", "age"], [[1, 5.5], [2, ""]])
    lines = refused(capsys, here, "e.parquet", "o.nrt", "--row-ids", "id", "--static", "s.csv")
    assert lines == ["varlen: s.csv: age: null for id 2; see --nulls"]


@pytest.mark.parametrize("policy", [[], ["--nulls", "nan"]])
def test_a_static_table_without_rows_is_refused(here, capsys, policy):
    write_lines(here / "e.jsonl", [{"id": 1, "x": [3]}])
    pq.write_table(pa.table({"id": pa.array([], pa.int64()), "age": pa.array([], pa.int8())}), "s.parquet")
    lines = refused(capsys, here, "e.jsonl", "o.nrt", "--row-ids", "id", "--static", "s.parquet", *policy)
    assert lines == ["varlen: s.parquet: holds no row"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("by_schema", [True, False])
def test_texts_that_declared_numbers_do_not_give_back_are_said(here, suffix, by_schema):
    rows = [["007", "01.5"], ["7", "2"], ["-07", "+2.5"], ["0", "0.5"]]
    if suffix == "csv":
        write_csv("e.csv", ["x", "f"], rows)
    else:
        write_lines(here / "e.jsonl", [{"x": x, "f": f} for x, f in rows])
    kinds = {"x": "int64", "f": "float64"}
    schema = varlen.io.Schema({name: {"kind": "number", "dtype": kind} for name, kind in kinds.items()})
    schema.write("s.toml")
    options = ["--schema", "s.toml"] if by_schema else ["--types", "x=int64,f=float64"]
    data = convert(f"e.{suffix}", "o.nrt", *options)
    assert rows_of(data) == [{"x": int(x), "f": float(f)} for x, f in rows]
    why = "texts that begin with a zero or a plus, which their numbers do not give back"
    reasons = [data.account.columns[name].reasons[why] for name in kinds]
    assert [one.changed for one in reasons] == [2, 2]
    assert reasons[0].first == [f"e.csv, line 2: {rows[0][0]!r}" if suffix == "csv" else "e.jsonl: '007'"]


def test_static_tables_that_cannot_be_joined_are_named(here, capsys):
    write_csv("e.csv", ["p", "x"], [[1, 1], [2, 2]])
    write_csv("twice.csv", ["p", "a"], [[1, 1], [1, 2]])
    write_csv("other.csv", ["q", "a"], [[1, 1]])
    write_csv("same.csv", ["p", "x"], [[1, 1], [2, 2]])
    pq.write_table(pa.table({"p": [1, 2], "l": [[1], [2]]}), "lists.parquet")
    for name, text in (
        ("twice.csv", "p: 1 at line 3 is at line 2 already"),
        ("other.csv", "no column 'p'; there are q, a"),
        ("same.csv", "'x' is a key of the records already"),
        ("lists.parquet", "'l' holds lists"),
    ):
        assert text in refused(capsys, here, "e.csv", "o.nrt", "--group-by", "p", "--static", name)[0], name
    assert "--static joins by" in refused(capsys, here, "e.csv", "o.nrt", "--static", "same.csv")[0]
    write_csv("twice.csv", ["p", "a"], [[1, 1], [1, 2], [2, 3], [2, 4]])
    lines = refused(capsys, here, "e.csv", "o.nrt", "--group-by", "p", "--static", "twice.csv")
    assert [line.split(": ", 3)[3][:11] for line in lines[:2]] == ["1 at line 3", "2 at line 5"]
    assert "2 wrong rows, nothing was written" in lines[2]


# Objects in lines.


def test_objects_in_lists_become_keys(here, monkeypatch):
    from varlen.cli.conversion import lines

    records = [
        {"id": 1, "events": []},
        {
            "id": 2,
            "events": [{"t": 1, "labs": []}, {"t": 2, "labs": [{"c": "x", "v": 0.5}]}],
            "home": {"zip": 7},
        },
        {
            "id": 3,
            "events": [{"t": 3, "labs": [{"c": "y", "v": 1.5}, {"c": "x", "v": 2}]}],
            "home": {"zip": 8},
        },
    ]
    records[0]["home"] = {"zip": 6}
    write_lines(here / "a.jsonl", records)
    expected = [
        {
            "id": r["id"],
            "events.t": [e["t"] for e in r["events"]],
            "events.labs.c": [[lab["c"] for lab in e["labs"]] for e in r["events"]],
            "events.labs.v": [[lab["v"] for lab in e["labs"]] for e in r["events"]],
            "home.zip": r["home"]["zip"],
        }
        for r in records
    ]
    assert rows_of(convert("a.jsonl", "o.nrt")) == expected
    monkeypatch.setattr(lines, "_PIECE", 1)  # a line a piece, the first without any event
    assert rows_of(convert("a.jsonl", "p.nrt")) == expected
    chosen = rows_of(convert("a.jsonl", "q.nrt", "--columns", "events"))
    assert list(chosen[0]) == ["events.t", "events.labs.c", "events.labs.v"]


def test_objects_that_lack_a_field_are_named(here, capsys):
    write_lines(here / "a.jsonl", [{"e": [{"t": 1, "c": 2}]}, {"e": [{"t": 1}]}, {"e": [3]}, {"e": []}])
    said = refused(capsys, here, "a.jsonl", "o.nrt")
    assert any("line 2: 'e.c'" in line for line in said)
    assert any("line 3: 'e': expected an object" in line for line in said)
    write_lines(here / "b.jsonl", [{"e": [{"t": 1, "c": 2}]}, {"e": [{"t": 1}]}, {"e": None}])
    rows = rows_of(convert("b.jsonl", "o.nrt", "--nulls", "fill", "--fill", "0", "--columns", "e"))
    assert rows == [{"e.t": [1], "e.c": [2]}, {"e.t": [1], "e.c": [0]}, {"e.t": [], "e.c": []}]


def test_two_keys_of_one_name_are_refused(here, capsys):
    write_lines(here / "a.jsonl", [{"a.b": 1, "a": {"b": 2}}])
    assert "line 1: two keys are called 'a.b'" in refused(capsys, here, "a.jsonl", "o.nrt")[0]
    (here / "b.jsonl").write_text('{"a": {"b": 2, "b": 3}}\n')
    assert "b.jsonl, line 1: the key 'b' comes twice" in refused(capsys, here, "b.jsonl", "o.nrt")[0]
    (here / "c.csv").write_text("a,b,a\n1,2,3\n")
    assert "c.csv: two columns have the name 'a'" in refused(capsys, here, "c.csv", "o.nrt")[0]
    pq.write_table(pa.table({"v.c": [1], "v": [{"c": 2}]}), "d.parquet")
    said = refused(capsys, here, "d.parquet", "o.nrt")[0]
    assert "two columns have the name 'v.c': 'v' makes it" in said
    assert rows_of(convert("d.parquet", "o.nrt", "--columns", "v")) == [{"v.c": 2}]
    pq.write_table(pa.table([pa.array([1]), pa.array([2])], ["a", "a"]), "e.parquet")
    assert "two columns have the name 'a'" in refused(capsys, here, "e.parquet", "p.nrt")[0]
    twice = pa.StructArray.from_arrays([pa.array([1]), pa.array([2])], ["c", "c"])
    pq.write_table(pa.table({"v": twice}), "f.parquet")
    assert "two of its fields have the name 'v.c'" in refused(capsys, here, "f.parquet", "p.nrt")[0]


# Wrong rows.


def test_every_wrong_line_is_named(here, capsys):
    lines = ['{"a": 1}', "{", '{"a": [1]}', "[]", '{"b": 2}', '{"a": 2}', '{"a": null}']
    (here / "a.jsonl").write_text("\n".join(lines))
    said = refused(capsys, here, "a.jsonl", "o.nrt")
    assert [int(line.split("line ")[1].split(":")[0]) for line in said[:-1]] == [2, 4, 5, 7, 3]
    assert said[-1] == "varlen: 5 wrong rows, nothing was written"
    write_csv("a.csv", ["x", "w"], [[1, "a"], ["12x", "b"], [3, "c"], ["?", "d"]])
    with open("a.csv", "a") as file:
        file.write("1,2,3\n")
    many = [[i, 100 * "a"] for i in range(30_000)]  # some blocks of the reader
    write_csv("b.csv", ["x", "w"], [*many, ["12x", "b"], [3, "c\nd"], ["?", "d"]])
    said = refused(capsys, here, "b.csv", "o.nrt", "--types", "x=int64")
    assert said[0] == "varlen: b.csv, line 30002: x: '12x' is no int64, as --types says"
    assert said[1].startswith("varlen: b.csv, line 30005: x: '?'")
    assert "a.csv, line 6: 3 fields, but 2 columns" in refused(capsys, here, "a.csv", "o.nrt")[0]


def test_times_with_a_zone_are_not_wrong_beside_wrong_numbers(here, capsys):
    here.joinpath("a.csv").write_text("t,x\n2020-01-02T03:04:05Z,1\n2020-01-03T03:04:05Z,one\n")
    said = refused(capsys, here, "a.csv", "o.nrt", "--types", "t=datetime64[s],x=int64")
    assert said == ["varlen: a.csv, line 3: x: 'one' is no int64, as --types says"]


def test_every_wrong_row_of_a_table_is_named(here, capsys):
    rows = [[i // 5, "" if i % 4 == 1 else i, "" if i == 6 else "a"] for i in range(20)]
    write_csv("a.csv", ["p", "x", "w"], rows[:12])
    write_csv("b.csv", ["p", "x", "w"], rows[12:])
    wanted = ["a.csv: x: null at line 3", "a.csv: x: null at line 7", "a.csv: w: null at line 8"]
    wanted += ["a.csv: x: null at line 11", "b.csv: x: null at line 3", "b.csv: x: null at line 7"]
    for options in ([], ["--group-by", "p"], ["--group-by", "p", "--regroup"], ["--batch-rows", "3"]):
        said = refused(capsys, here, "a.csv", "b.csv", "o.nrt", *options)
        assert [line.split(": ", 1)[1].split(";")[0].split(" among")[0] for line in said[:-1]] == wanted
        assert said[-1] == "varlen: 6 wrong rows, nothing was written"
    write_csv("c.csv", ["w"], [[word] for word in "aabacbab"])
    (here / "w.txt").write_text("a\n")
    said = refused(capsys, here, "c.csv", "o.nrt", "--vocabulary", "w=w.txt")
    assert [int(line.split("at line ")[1].split(";")[0]) for line in said[:-1]] == [4, 6, 7, 9]


def test_wrong_rows_of_a_table_that_are_not_shown_are_not_counted(here, capsys):
    write_csv("a.csv", ["x", "w"], [["", "a"]] * 3000)
    said = refused(capsys, here, "a.csv", "o.nrt")
    assert len(said) == 21
    assert said[-1] == "varlen: more than 20 wrong rows, nothing was written"


def test_many_wrong_lines_are_counted(here, capsys):
    (here / "a.jsonl").write_text('{"a": 1}\n' + "{\n" * 1000)
    said = refused(capsys, here, "a.jsonl", "o.nrt")
    assert len(said) == 22
    assert said[-2:] == ["varlen: and 980 more", "varlen: 1,000 wrong rows, nothing was written"]


@pytest.mark.parametrize("seed", range(6))
def test_random_tables_are_what_a_model_makes_of_them(here, seed):
    rng = random.Random(seed)
    events = _random_events(rng, 9, 200)
    files = collections.defaultdict(list)
    for event in events:
        files[rng.randrange(3)].append(event)
    ordered = [event for _, part in sorted(files.items()) for event in part]
    for k, part in sorted(files.items()):
        if rng.random() < 0.5:
            write_csv(f"{k}.csv", "pvtw", part)
        else:
            write_csv(f"{k}.tsv", "pvtw", part)
    options = ["--group-by", "p", "--group-by", "v", "--regroup", "--reserve", "[PAD]"]
    data = convert(*(sorted(path.name for path in here.glob("?.?sv"))), "o.nrt", *options)
    assert rows_of(data) == _gather(ordered, in_order=False, sort=False)
    assert data.fields["w"].vocabulary[0] == "[PAD]"
