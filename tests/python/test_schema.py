"""What columns are meant to be: declared once, kept with the data, enforced for all that comes later."""

import json

import numpy as np
import pytest
import varlen
from hypothesis import given
from hypothesis import strategies as st
from varlen.cli import main
from varlen.io import (
    Schema,
    SchemaColumn,
    ShardWriter,
    Writer,
    build,
    open_file,
    open_shards,
    read_schema,
    save,
)

COLUMNS = st.one_of(
    st.builds(SchemaColumn, st.sampled_from(["id", "code", "text"]), note=st.none() | st.text(max_size=4)),
    st.builds(
        SchemaColumn,
        st.just("number"),
        st.sampled_from(["bool", "int8", "uint64", "float32"]),
        st.booleans(),
        st.integers(0, 2),
    ),
    st.builds(
        SchemaColumn,
        st.just("time"),
        st.sampled_from(["datetime64[s]", "datetime64[ns]"]),
        st.booleans(),
        zone=st.sampled_from([None, "UTC"]),
    ),
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)

EVENTS = Schema(
    {
        "id": SchemaColumn("id", "int64"),
        "code": SchemaColumn("code", level=1),
        "t": SchemaColumn("time", "datetime64[s]", level=1, zone="UTC"),
        "value": SchemaColumn("number", "float32", nullable=False, level=1),
    }
)


def rows(**changed):
    return {
        "id": [1, 2],
        "code": [["a"], ["b", "a"]],
        "t": [np.array(["2020-01-01"], "M8[s]"), np.array(["2020-01-01", "2021-01-01"], "M8[s]")],
        "value": [[0.5], [1.0, 2.0]],
    } | changed


@given(st.dictionaries(NAMES, COLUMNS, max_size=4))
def test_a_schema_comes_back_from_toml(columns):
    schema = Schema(columns)
    assert Schema.from_toml(schema.to_toml() or "[columns]") == schema
    assert list(Schema.from_toml(schema.to_toml() or "[columns]")) == list(columns)


@given(st.dictionaries(NAMES, COLUMNS, max_size=4))
def test_a_schema_comes_back_from_arrow(columns):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    found = Schema.from_arrow(Schema(columns).to_arrow())
    plain = {name: SchemaColumn(c.kind, c.dtype, c.nullable, c.level, c.zone) for name, c in columns.items()}
    assert found == Schema(plain)


def test_schemas_of_arrow_are_columns():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    inner = pa.struct({"c": pa.string(), "t": pa.timestamp("ms", "Europe/Berlin"), "d": pa.date32()})
    schema = pa.schema({"v": pa.list_(inner), "n": pa.decimal128(20), "p": pa.decimal128(9, 2)})
    found = Schema.from_arrow(schema)
    assert list(found) == ["v.c", "v.t", "v.d", "n", "p"]
    assert [found[name].dtype for name in found] == [
        None,
        "datetime64[ms]",
        "datetime64[D]",
        "int64",
        "float64",
    ]
    assert (found["v.t"].zone, found["v.t"].level) == ("UTC", 1)
    with pytest.raises(ValueError, match=r"two columns are called 'v\.c'"):
        Schema.from_arrow(pa.schema([("v.c", pa.int8()), ("v", pa.struct({"c": pa.int8()}))]))
    with pytest.raises(TypeError, match="x: columns of type binary hold no numbers"):
        Schema.from_arrow(pa.schema({"x": pa.binary()}))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ({"kind": "word"}, "'x': kind"),
        ({"dtype": "int8"}, "'x': expected a kind"),
        ({"kind": "code", "size": 3}, "'x': there is no 'size'"),
        ({"kind": "code", "dtype": "int8"}, "'x': dtype: 'int8' does not go with kind 'code'"),
        ({"kind": "id", "dtype": "float64"}, "does not go with kind 'id'"),
        ({"kind": "number", "dtype": "int7"}, "'int7' is no dtype"),
        ({"kind": "number"}, "does not go with kind 'number'"),
        ({"kind": "number", "dtype": "int8", "zone": "UTC"}, "zone: is for times"),
        ({"kind": "code", "level": -1}, "level: expected at least 0"),
        ({"kind": "code", "nullable": 1}, "nullable: expected bool, got 1"),
    ],
)
def test_columns_that_contradict_themselves_are_named(column, text):
    with pytest.raises(ValueError, match=text):
        Schema({"x": column})


def write_with(door, schema, path, given):
    if door == "Writer":
        with Writer(path, schema=schema) as writer:
            writer.append(given)
    elif door == "ShardWriter":
        with ShardWriter(path, 1, schema=schema) as writer:
            writer.append(given)
    else:
        build([given], None, path, schema=schema)


@pytest.mark.parametrize("door", ["Writer", "ShardWriter", "build"])
def test_a_schema_is_kept_and_enforced(tmp_path, door):
    path = tmp_path / "good"
    write_with(door, EVENTS, path, rows())
    found = open_shards(path)
    assert found.schema == EVENTS
    assert read_schema(path if path.is_dir() else path.rename(tmp_path / "good.nrt")) == EVENTS
    wrong = [
        (rows(value=[[0.5], [1.0, np.nan]]), "value: null at row"),
        (rows(code=[[1], [2, 3]]), "code"),
        (rows(value=[["x"], ["y", "z"]]), "value"),
        (rows(id=[[1], [2, 3]]), "id: level 1, but the schema says 0"),
        (rows(id=[1.5, 2]), "id"),
        (rows(more=[1, 2]), "has a column 'more' that the schema lacks"),
        ({name: value for name, value in rows().items() if name != "code"}, "has no column 'code', which"),
    ]
    for i, (given_rows, text) in enumerate(wrong):
        with pytest.raises((ValueError, TypeError, RuntimeError), match=text):
            write_with(door, EVENTS, tmp_path / f"bad-{i}", given_rows)
        assert not list(tmp_path.glob(f"bad-{i}/*.nrt"))


def test_a_build_that_goes_on_keeps_the_schema(tmp_path):
    build([rows()], None, tmp_path / "b", schema=EVENTS)
    more = rows(code=[["z"], ["b", "a"]])
    assert build([rows(), more], None, tmp_path / "b", schema=EVENTS).schema == EVENTS
    assert [open_file(path).schema for path in open_shards(tmp_path / "b").paths] == [EVENTS, EVENTS]


def test_files_without_a_schema_say_what_their_keys_are(tmp_path):
    save(tmp_path / "a.nrt", {"dim0/x": np.arange(3), "dim0/w": np.array(["a", "b", "a"])})
    found = open_file(tmp_path / "a.nrt").schema
    assert found == Schema({"x": SchemaColumn("number", "int64"), "w": SchemaColumn("code")})
    (tmp_path / "a.toml").write_text("[columns.x]\nkind = 3\n")
    with pytest.raises(ValueError, match=r"a\.toml: columns: 'x'"):
        read_schema(tmp_path / "a.toml")


def test_files_of_times_with_and_without_a_zone_are_no_data_set(tmp_path):
    naive = Schema({"t": SchemaColumn("time", "datetime64[s]")})
    zoned = Schema({"t": SchemaColumn("time", "datetime64[s]", zone="UTC")})
    for name, schema in (("a", naive), ("b", zoned)):
        write_with("Writer", schema, tmp_path / f"{name}.nrt", {"t": np.array(["2020-01-01"], "M8[s]")})
    with pytest.raises(ValueError, match=r"b\.nrt: key 't' .*times of UTC, not times without a zone"):
        varlen.open([tmp_path / "a.nrt", tmp_path / "b.nrt"]).batch([0, 1])
    assert len(varlen.open([tmp_path / "b.nrt"])) == 1


# The command line.


@pytest.fixture
def here(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of(kind, records):
    if kind == "jsonl":
        return "".join(json.dumps(record) + "\n" for record in records)
    return "\n".join([",".join(records[0]), *(",".join(map(str, r.values())) for r in records)]) + "\n"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_schema_is_inferred_edited_and_enforced(here, capsys, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    def write(name, records):
        if kind == "parquet":
            pq.write_table(pa.Table.from_pylist(records), f"{name}.parquet")
        else:
            (here / f"{name}.{kind}").write_text(text_of(kind, records))

    write("train", [{"id": 1, "code": "V10", "n": 3}, {"id": 2, "code": "389", "n": 4}])
    write("valid", [{"id": 3, "code": "389", "n": 300}, {"id": 4, "code": "250", "n": 4}])
    assert main(["convert", "--infer-schema", "e.toml", f"train.{kind}", "--quiet"]) == 0
    schema = read_schema("e.toml")
    assert {name: column.kind for name, column in schema.items()} == {
        "id": "number",
        "code": "code",
        "n": "number",
    }
    assert not any(column.nullable for column in schema.values())
    assert not list(here.glob("*.nrt"))
    edited = (here / "e.toml").read_text().replace('kind = "number"', 'kind = "id"', 1)
    (here / "e.toml").write_text(edited.replace('"int64"\nnullable = false\n', '"int16"\nnullable = false\n'))
    for name in ("train", "valid"):
        assert main(["convert", f"{name}.{kind}", f"{name}.nrt", "--schema", "e.toml", "--quiet"]) == 0
    assert read_schema("valid.nrt") == read_schema("e.toml")
    assert varlen.open("valid.nrt").fields["n"].dtype == np.int16
    assert varlen.open("valid.nrt").fields["code"].vocabulary[-2:] == ("389", "250")
    write("far", [{"id": 3, "code": "389", "n": 3}, {"id": 4, "code": "389", "n": 70_000}])
    place = "row 1" if kind == "parquet" else "line 3" if kind == "csv" else "line 2"
    write("none", [{"id": 3, "code": "389"}])
    write("more", [{"id": 3, "code": "389", "n": 1, "z": 2}])
    for name, text in (
        ("far", "70000"),
        ("far", place),
        ("none", "has no column 'n', which the schema has"),
        ("more", "has a column 'z' that the schema lacks"),
    ):
        capsys.readouterr()
        assert main(["convert", f"{name}.{kind}", "o.nrt", "--schema", "train.nrt"]) == 1
        said = capsys.readouterr().err
        assert text in said
        assert f"{name}.{kind}" in said
        assert not (here / "o.nrt").exists()


def test_info_says_what_columns_are(here, capsys):
    (here / "a.csv").write_text("id,code,t\n1,V10,2020-01-01T00:00:00Z\n2,389,2020-01-01T00:00:00+01:00\n")
    assert main(["convert", "a.csv", "a.nrt", "--quiet"]) == 0
    assert main(["info", "a.nrt"]) == 0
    said = capsys.readouterr().out
    assert "UTC" in said
    assert "'V10' (a.csv, line 2) is none" in said
    assert main(["info", "a.nrt", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["keys"]["t"]["zone"] == "UTC"


def test_options_of_schemas_that_exclude_each_other_are_refused(here, capsys):
    (here / "a.csv").write_text("x\n1\n")
    Schema({"x": SchemaColumn("number", "int8")}).write("x.toml")
    for options, text in (
        (["a.csv", "o.nrt", "--schema", "x.toml", "--infer-schema", "y.toml"], "exclude each other"),
        (["a.csv", "o.nrt", "--schema", "x.toml", "--types", "x=int8"], "'x' is in --schema already"),
        (["a.csv"], "OUT: give the file"),
    ):
        assert main(["convert", *options]) == 2
        assert text in capsys.readouterr().err
    assert main(["convert", "a.csv", "o.nrt", "--schema", "none.toml"]) == 1
