"""What columns are meant to be: declared once, kept with the data, enforced for all that comes later."""

import json
import multiprocessing
import os
from dataclasses import replace
from decimal import Decimal

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
FIXED = st.builds(
    SchemaColumn,
    st.just("number"),
    st.just("int8"),
    trailing=st.lists(st.integers(0, 5), max_size=2),
    level=st.just(1),
)
NAMED = st.builds(SchemaColumn, st.just("code"), level=st.just(2), dims=st.just(["visit", "code"]))
COLUMNS |= FIXED | NAMED
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
    plain = {name: replace(column, note=None) for name, column in columns.items()}
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
    tensors = pa.schema({"m": pa.list_(pa.fixed_shape_tensor(pa.int8(), (2, 3), permutation=[1, 0]))})
    assert Schema.from_arrow(tensors)["m"] == SchemaColumn("number", "int8", level=1, trailing=(3, 2))
    inner = pa.list_(pa.list_(pa.float32(), 3), 2)
    assert Schema.from_arrow(pa.schema({"m": inner}))["m"].trailing == (2, 3)
    with pytest.raises(ValueError, match=r"two columns have the name 'v\.c'"):
        Schema.from_arrow(pa.schema([("v.c", pa.int8()), ("v", pa.struct({"c": pa.int8()}))]))
    with pytest.raises(TypeError, match="x: expected numbers, times or text, got type binary"):
        Schema.from_arrow(pa.schema({"x": pa.binary()}))


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ({"kind": "word"}, "'x': kind"),
        ({"dtype": "int8"}, "'x': expected a kind"),
        ({"kind": "code", "size": 3}, "'x': there is no 'size'"),
        ({"kind": "code", "dtype": "int8"}, "'x': dtype: 'int8' does not fit kind 'code'"),
        ({"kind": "id", "dtype": "float64"}, "does not fit kind 'id'"),
        ({"kind": "number", "dtype": "int7"}, "'int7' is no dtype"),
        ({"kind": "number"}, "does not fit kind 'number'"),
        ({"kind": "number", "dtype": "int8", "zone": "UTC"}, "zone: is for times"),
        ({"kind": "time", "dtype": "datetime64[s]", "zone": "Mars"}, "zone: 'Mars' is no time zone"),
        ({"kind": "time", "dtype": "datetime64[s]", "zone": ""}, "zone: '' is no time zone"),
        ({"kind": "time", "dtype": "datetime64[s]", "zone": "+25:00"}, r"zone: '\+25:00' is no time zone"),
        ({"kind": "time", "dtype": "datetime64[s]", "zone": "../etc"}, "zone: '../etc' is no time zone"),
        ({"kind": "code", "level": -1}, "level: expected at least 0"),
        ({"kind": "code", "nullable": 1}, "nullable: expected bool, got 1"),
        ({"kind": "code", "trailing": 3}, "trailing: expected a list of int, got 3"),
        ({"kind": "code", "trailing": [True]}, "trailing: expected a list of int"),
        ({"kind": "code", "trailing": [-1]}, "trailing: expected sizes from 0"),
        ({"kind": "code", "dims": "ab"}, "dims: expected a list of str, got 'ab'"),
        ({"kind": "code", "level": 1, "dims": ["a", "b"]}, "dims: 2 names .* for 1 axes"),
        ({"kind": "code", "level": 2, "dims": ["a", "a"]}, "dims: expected names that differ"),
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


# Fixed dims, and names of dims.

POINTS = Schema(
    {
        "xyz": SchemaColumn("number", "float32", level=1, trailing=(3,), dims=("visit", "axis")),
        "pair": SchemaColumn("code", trailing=(2,)),
        "code": SchemaColumn("code", level=2, dims=("visit", "code")),
    }
)


def points(**changed):
    return {
        "xyz": [[[1, 2, 3], [4, 5, 6]], []],
        "pair": [["a", "b"], ["b", "b"]],
        "code": [[["a"], ["b", "c"]], []],
    } | changed


def as_tables(given):
    """As Arrow infers it, and with lists of a fixed size."""
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    yield pa.table(given)
    fixed = {
        "xyz": pa.array(given["xyz"], pa.list_(pa.list_(pa.float32(), 3))),
        "pair": pa.array(given["pair"], pa.list_(pa.string(), 2)),
    }
    yield pa.table(given | fixed)
    yield pa.table(given | fixed).to_batches()[0]


@pytest.mark.parametrize("door", ["Writer", "ShardWriter", "build"])
def test_fixed_dims_are_taken_and_kept(tmp_path, door):
    arrays = points(
        xyz=[np.arange(1, 7).reshape(2, 3), np.empty((0, 3))], pair=np.array([["a", "b"], ["b", "b"]])
    )
    for number, given_rows in enumerate([points(), arrays]):
        write_with(door, POINTS, tmp_path / str(number), given_rows)
        data = varlen.open(tmp_path / str(number))
        assert [data[i].to_list() for i in (0, 1)] == [{k: v[i] for k, v in points().items()} for i in (0, 1)]
        assert [data.fields[name].trailing for name in points()] == [(3,), (2,), ()]
        assert open_shards(tmp_path / str(number)).schema == POINTS
        assert data.batch([0, 1])["xyz"].shape == (2, 2, 3)


@pytest.mark.parametrize("door", ["Writer", "ShardWriter", "build"])
@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"xyz": [[[1, 2, 3], [4, 5]], []]}, "xyz: a list of 2 at row 0, but its fixed dims say 3"),
        ({"xyz": [[[1, 2, 3], [4, 5, 6]], [[1]]]}, "xyz: a list of 1 at row 1, but its fixed dims say 3"),
        ({"pair": [["a", "b"], ["b"]]}, "pair: a list of 1 at row 1, but its fixed dims say 2"),
        ({"xyz": [[1, 2], []]}, "xyz: "),
        ({"pair": ["a", "b"]}, "pair: expected 1 fixed dims, of arrays or lists"),
        (
            {"xyz": [np.ones((2, 4)), np.ones((0, 4))]},
            r"xyz: values of fixed dims \(4,\), but the schema says",
        ),
    ],
)
def test_other_fixed_dims_are_refused(tmp_path, door, changed, text):
    with pytest.raises((ValueError, RuntimeError), match=text):
        write_with(door, POINTS, tmp_path / "a", points(**changed))
    assert not list(tmp_path.glob("a/*.nrt"))


def test_save_checks_fixed_dims(tmp_path):
    schema = Schema({"x": SchemaColumn("number", "int8", trailing=(2,))})
    save(tmp_path / "a.nrt", {"dim0/x": np.ones((3, 2), "i1")}, schema=schema)
    assert open_file(tmp_path / "a.nrt").schema == schema
    with pytest.raises(ValueError, match=r"x: values of fixed dims \(3,\), but the schema says \(2,\)"):
        save(tmp_path / "b.nrt", {"dim0/x": np.ones((2, 3), "i1")}, schema=schema)


def test_files_say_which_fixed_dims_their_keys_have(tmp_path):
    save(tmp_path / "a.nrt", {"dim0/x": np.ones((3, 2), "i1")})
    assert open_file(tmp_path / "a.nrt").schema == Schema(
        {"x": SchemaColumn("number", "int8", trailing=(2,))}
    )


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"a": (1, (), ["visit"]), "b": (1, (), ["day"])}, "level 1 is 'day' in 'b', but 'visit' in 'a'"),
        (
            {"a": (1, (), ["visit"]), "b": (0, (3,), ["visit"])},
            "'visit' is size 3 of 'b', but level 1 of 'a'",
        ),
        ({"a": (0, (2,), ["xy"]), "b": (0, (3,), ["xy"])}, "'xy' is size 3 of 'b', but size 2 of 'a'"),
    ],
)
def test_names_of_dims_mean_one_thing(columns, text):
    made = {
        name: SchemaColumn("code", level=level, trailing=trailing, dims=dims)
        for name, (level, trailing, dims) in columns.items()
    }
    with pytest.raises(ValueError, match=f"dims: {text}"):
        Schema(made)


def test_files_of_other_kinds_and_dims_are_no_data_set(tmp_path):
    """A kind beside another, and names of dims beside others; what says nothing goes with all."""
    columns = {
        "number": SchemaColumn("number", "int64", level=1),
        "id": SchemaColumn("id", "int64", level=1),
        "visit": SchemaColumn("number", "int64", level=1, dims=["visit"]),
        "day": SchemaColumn("number", "int64", level=1, dims=["day"]),
    }
    for name, column in columns.items():
        write_with("Writer", Schema({"x": column}), tmp_path / f"{name}.nrt", {"x": [[1]]})
    write_with("Writer", None, tmp_path / "plain.nrt", {"x": [[1]]})
    for one, other, text in (
        ("number", "id", "values of kind 'id', not 'number'"),
        ("id", "number", "values of kind 'number', not 'id'"),
        ("visit", "day", r"dims \['day'\], not \['visit'\]"),
    ):
        with pytest.raises(ValueError, match=rf"{other}\.nrt: key 'x' .*{one}\.nrt.*{text}"):
            varlen.open([tmp_path / f"{one}.nrt", tmp_path / f"{other}.nrt"]).batch([0, 1])
    for one, other in (("number", "visit"), ("id", "plain"), ("plain", "id")):
        assert len(varlen.open([tmp_path / f"{one}.nrt", tmp_path / f"{other}.nrt"]).batch([0, 1]))


def test_what_is_saved_of_a_data_set_keeps_its_schema(tmp_path):
    """As a file and as shards, of views and of several data sets; with a key more, which says what it is."""
    write_with("Writer", EVENTS, tmp_path / "a.nrt", rows())
    data = varlen.open(tmp_path / "a.nrt")
    longer = {**EVENTS, "n": SchemaColumn("number", "int64")}
    for number, (view, schema) in enumerate(
        [
            (data, EVENTS),
            (data.select([1]), EVENTS),
            (data.filter(min_len=2), EVENTS),
            (data.concat(varlen.open(tmp_path / "a.nrt")), EVENTS),
            (data.with_key("n", np.array([5, 6])), Schema(longer)),
        ]
    ):
        view.save(tmp_path / f"{number}.nrt")
        view.save(tmp_path / f"{number}", rows_per_shard=1)
        assert read_schema(tmp_path / f"{number}.nrt") == schema
        assert read_schema(tmp_path / f"{number}") == schema
    write_with("Writer", None, tmp_path / "plain.nrt", {"x": [[1]]})
    varlen.open(tmp_path / "plain.nrt").save(tmp_path / "again.nrt")
    assert not open_shards(tmp_path / "again.nrt").declared
    assert open_shards(tmp_path / "0.nrt").declared == EVENTS


def test_data_have_the_dims_that_are_declared(tmp_path):
    write_with("Writer", POINTS, tmp_path / "a.nrt", points())
    data = varlen.open(tmp_path / "a.nrt")
    for one in (data, data.select([1, 0]), data.with_key("n", np.array([5, 6]))):
        batch = one.batch([0, 1], layout="named")
        assert [dim.name for dim in batch["xyz"].dims] == ["batch", "visit", "axis"]
        assert [dim.name for dim in batch["code"].dims] == ["batch", "visit", "code"]
        assert [dim.name for dim in batch["pair"].dims] == ["batch", "pair"]
        assert batch["xyz"].axis("visit") == batch["code"].axis("visit")
        assert batch["xyz"].sum("axis").dims == batch["code"].dims[:2]
    own = [varlen.dims.batch_dim, varlen.Dim("day"), varlen.Dim("event")]
    assert [dim.name for dim in data.batch([0], layout="named", dims=own)["xyz"].dims] == [
        "batch",
        "day",
        "xyz",
    ]
    flat = data.batch([0, 1], layout="named", flatten=True)
    assert [dim.name for dim in flat["code"].dims] == ["batch", "flat"]


# Tables of Arrow.


@pytest.mark.parametrize("door", ["Writer", "ShardWriter", "build"])
def test_tables_are_rows_under_a_schema(tmp_path, door):
    for number, table in enumerate(as_tables(points())):
        write_with(door, POINTS, tmp_path / str(number), table)
        assert varlen.open(tmp_path / str(number))[:].to_list() == points()
        assert open_shards(tmp_path / str(number)).schema == POINTS
    if door == "build":
        columns = varlen.open(tmp_path / "0").account.columns
        assert {name: columns[name].source.values for name in points()} == {"xyz": 2, "pair": 2, "code": 3}


@pytest.mark.parametrize("door", ["Writer", "ShardWriter", "build"])
def test_tables_are_rows_without_a_schema(tmp_path, door):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    times = pa.array([[0], [1, 2]], pa.list_(pa.timestamp("s", "UTC")))
    visits = pa.array([[{"c": "x", "n": 1}], [{"c": "y", "n": 2}, {"c": "x", "n": 3}]])
    table = pa.table({"id": [2**53 + 1, 2], "t": times, "v": visits})
    want = {"id": [2**53 + 1, 2], "v.c": [["x"], ["y", "x"]], "v.n": [[1], [2, 3]]}
    for number, given_rows in enumerate([table, table.to_batches()[0], table.slice(0, 2)]):
        write_with(door, None, tmp_path / str(number), given_rows)
        data = varlen.open(tmp_path / str(number))
        found = data[:].to_list()
        assert {name: found[name] for name in want} == want
        assert data.fields["t"].dtype == np.dtype("M8[s]")
        assert data.fields["v.c"].vocabulary == ("[PAD]", "x", "y")


def test_map_takes_tables(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    write_with("Writer", None, tmp_path / "a.nrt", {"id": [1, 2], "w": [["a"], ["b", "a"]]})
    made = varlen.open(tmp_path / "a.nrt").map(
        lambda rows: pa.table(rows.to_list()), tmp_path / "b.nrt", batched=True
    )
    assert made[:].to_list() == {"id": [1, 2], "w": [["a"], ["b", "a"]]}
    assert made.fields["w"].vocabulary == ("[PAD]", "a", "b")
    with pytest.raises(ValueError, match="map: rows 0 to 1: x: null at row 1"):
        varlen.open(tmp_path / "a.nrt").map(
            lambda _: pa.table({"x": [1, None]}), tmp_path / "c.nrt", batched=True
        )


def test_frames_that_export_a_table_are_rows(tmp_path):
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame = polars.DataFrame({"id": [1, 2], "w": [["a"], ["b", "a"]]})
    write_with("Writer", None, tmp_path / "a.nrt", frame)
    assert varlen.open(tmp_path / "a.nrt")[:].to_list() == {"id": [1, 2], "w": [["a"], ["b", "a"]]}


def test_nulls_of_tables_are_refused_or_nan_where_the_schema_allows_them(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pa.table({"x": pa.array([1.5, None], pa.float32()), "w": ["a", "b"]})
    columns = {"x": SchemaColumn("number", "float32"), "w": SchemaColumn("code")}
    write_with("Writer", Schema(columns), tmp_path / "a.nrt", table)
    assert np.isnan(varlen.open(tmp_path / "a.nrt").batch([0, 1])["x"]).tolist() == [False, True]
    strict = Schema(columns | {"x": SchemaColumn("number", "float32", nullable=False)})
    for schema, given_rows, text in (
        (strict, table, "x: null at row 1; the schema says that there is none"),
        (None, table, "x: null at row 1; fill them, or give a Schema"),
        (Schema(columns), pa.table({"x": [1.5], "w": pa.array([None], pa.string())}), "w: null at row 0"),
    ):
        with pytest.raises(ValueError, match=text):
            write_with("Writer", schema, tmp_path / "b.nrt", given_rows)
        with pytest.raises(RuntimeError, match=text):
            build([given_rows], None, tmp_path / "b", schema=schema)
    account = build([table], None, tmp_path / "c", schema=Schema(columns)).account
    assert (account.columns["x"].source.nulls, account.columns["x"].result.nulls) == (1, 1)


def test_tables_that_are_no_rows_are_refused(tmp_path):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    zoned = Schema({"t": SchemaColumn("time", "datetime64[s]")})
    twice = pa.table([pa.array([1]), pa.array([{"x": 1}])], ["v.x", "v"])
    for schema, table, text in (
        (None, twice, r"two columns have the name 'v\.x'"),
        (
            None,
            pa.table({"a": [[1], [2]], "b": [[1], [2, 3]]}),
            "row 1 of level 1 has length 2 in 'b' and 1 in 'a'",
        ),
        (
            zoned,
            pa.table({"t": pa.array([0], pa.timestamp("s", "UTC"))}),
            "t: times have a zone, but the schema",
        ),
        (zoned, pa.table({"u": [1]}), "has no column 't'"),
    ):
        with (
            pytest.raises((ValueError, RuntimeError), match=text),
            Writer(tmp_path / "a.nrt", schema=schema) as one,
        ):
            one.append(table)


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


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("nulls", [["--nulls", "fill", "--fill", "0"], ["--nulls", "nan"], []])
def test_no_option_lets_nulls_into_a_column_that_has_none(here, capsys, kind, nulls):
    """Not --nulls, nor --null-word, nor an id that a static table lacks; a nullable column takes them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = [{"id": 1, "x": 1.5, "w": "a"}, {"id": 2, "x": None, "w": None}]
    if kind == "parquet":
        pq.write_table(pa.Table.from_pylist(records), "a.parquet")
    elif kind == "csv":
        (here / "a.csv").write_text("id,x,w\n1,1.5,a\n2,,\n")
    else:
        (here / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    columns = {
        "id": SchemaColumn("id", "int64", False),
        "x": SchemaColumn("number", "float64", False),
        "w": SchemaColumn("code"),
    }
    options = [f"a.{kind}", "o.nrt", "--schema", "s.toml", "--quiet", "--null-word", "none", *nulls]
    for name in ("x", "w"):
        strict = {key: replace(column, nullable=key != name) for key, column in columns.items()}
        Schema(strict).write("s.toml")
        assert main(["convert", *options]) == 1
        said = capsys.readouterr().err
        assert f"a.{kind}" in said
        assert name in said
        assert "the schema says that there is none" in said
        assert not (here / "o.nrt").exists()
    Schema({key: replace(column, nullable=True) for key, column in columns.items()}).write("s.toml")
    assert main(["convert", *options]) == 0
    data = varlen.open("o.nrt")
    assert data[:].to_list()["w"] == ["a", "none"]
    x = data.batch([0, 1])["x"][1]
    assert x == 0 if "fill" in nulls else np.isnan(x)


def test_no_option_lets_nulls_into_fields_of_structs_and_static_tables(here, capsys):
    (here / "a.jsonl").write_text('{"id": 1, "v": {"x": 1.5}}\n{"id": 2, "v": {"x": null}}\n')
    columns = {"id": SchemaColumn("id", "int64"), "v.x": SchemaColumn("number", "float64", False)}
    Schema(columns).write("s.toml")
    fill = ["--schema", "s.toml", "--nulls", "fill", "--fill", "0", "--quiet"]
    assert main(["convert", "a.jsonl", "o.nrt", *fill]) == 1
    assert (
        "a.jsonl, line 2: no value for 'v.x'; the schema says that there is none" in capsys.readouterr().err
    )
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": [1, 2], "v": [{"x": 1.5}, {"x": None}]}), "a.parquet")
    assert main(["convert", "a.parquet", "o.nrt", *fill]) == 1
    assert "v.x: null at row 1" in capsys.readouterr().err
    (here / "b.csv").write_text("id\n1\n2\n")
    (here / "people.csv").write_text("id,age\n1,30\n")
    Schema({"id": SchemaColumn("id", "int64"), "age": SchemaColumn("number", "int64", False)}).write("s.toml")
    assert main(["convert", "b.csv", "o.nrt", "--static", "people.csv", "--row-ids", "id", *fill]) == 1
    said = capsys.readouterr().err
    assert "people.csv: age: null for id 2; the schema says that there is none" in said


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "fixed"])
def test_a_conversion_makes_fixed_dims(here, capsys, kind):
    import pyarrow.parquet as pq

    tables = dict(zip(("parquet", "fixed", ""), as_tables(points()), strict=True))
    name = "a.jsonl" if kind == "jsonl" else "a.parquet"
    if kind == "jsonl":
        lines = ({key: value[i] for key, value in points().items()} for i in (0, 1))
        (here / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        pq.write_table(tables[kind], name)
    POINTS.write("s.toml")
    assert main(["convert", name, "o.nrt", "--schema", "s.toml", "--quiet"]) == 0
    assert varlen.open("o.nrt")[:].to_list() == points()
    assert read_schema("o.nrt") == POINTS
    assert varlen.open("o.nrt").account.columns["xyz"].source.values == 2
    if kind == "fixed":  # other lists are levels, until somebody says what they are
        assert main(["convert", "--infer-schema", "i.toml", name, "--quiet"]) == 0
        assert read_schema("i.toml")["xyz"].trailing == (3,)
    wide = {**POINTS, "xyz": replace(POINTS["xyz"], trailing=(4,))}
    Schema(wide).write("s.toml")
    assert main(["convert", name, "p.nrt", "--schema", "s.toml", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert name in said
    assert "xyz" in said
    assert not (here / "p.nrt").exists()


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_rows_of_other_fixed_dims_are_named_in_any_piece(here, capsys, name):
    rows = [[1, 2, 3], [4, 5, 6], [7, 8]]
    if name == "a.jsonl":
        (here / name).write_text("".join(json.dumps({"x": row}) + "\n" for row in rows))
    else:
        pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"x": rows}), name)
    Schema({"x": SchemaColumn("number", "int64", trailing=(3,))}).write("s.toml")
    assert main(["convert", name, "o.nrt", "--schema", "s.toml", "--batch-rows", "1", "--quiet"]) == 1
    said = capsys.readouterr().err
    assert ("line 3" if name == "a.jsonl" else "x: a list of 2 at row 2, but") in said
    assert "a list of 2" in said


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_errors_name_who_says_a_type(here, capsys, kind):
    Schema({"t": SchemaColumn("time", "datetime64[s]"), "x": SchemaColumn("number", "int64")}).write("s.toml")
    if kind == "csv":
        (here / "a.csv").write_text("t,x\n2020-01-01,1\n2020-01-01,one\n")
        name, value = "x", "one"
    else:
        (here / "a.jsonl").write_text('{"t": "2020-01-01", "x": 1}\n{"t": "never", "x": 1}\n')
        name, value = "t", "never"
    kinds = {"x": "int64", "t": "datetime64[s]"}
    for options, said in (
        (["--schema", "s.toml"], "the schema"),
        (["--types", ",".join(f"{key}={kinds[key]}" for key in kinds)], "--types"),
    ):
        assert main(["convert", f"a.{kind}", "o.nrt", *options]) == 1
        assert f"{name!r}: " in (text := capsys.readouterr().err) or f"{name}: " in text
        assert f"{value!r} is no {kinds[name]}, as {said} says" in text


def refusals(capsys, text, name):
    """What the command says of an input that is not what a schema of one column says."""
    with open("s.toml", "w") as file:
        file.write(f"[columns.a]\n{text}")
    capsys.readouterr()
    assert main(["convert", name, "o.nrt", "--force", "--schema", "s.toml", "--quiet"]) in (0, 1)
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_ids_come_back_from_the_whole_numbers_that_they_are_declared_as(here, capsys, name):
    for texts, wrong in ((["389", " 7 "], []), (["389", "0389"], [(True, True)])):
        lines = [f'{{"a": "{text}"}}' for text in texts] if name == "a.jsonl" else ["a", *texts]
        (here / name).write_text("\n".join(lines))
        found = refusals(capsys, 'kind = "id"\ndtype = "int64"\n', name)
        assert [("'0389'" in line, "does not come back from int64" in line) for line in found] == wrong


def test_values_against_the_schema_are_named_where_they_lie(here, capsys):
    (here / "a.jsonl").write_text('{"a": 1}\n\n{"a": 9007199254740993}\n')
    (here / "t.jsonl").write_text('{"a": "2020-01-01T00:00:00Z"}\n')
    assert refusals(capsys, 'kind = "number"\ndtype = "float64"\n', "a.jsonl") == [
        "varlen: a.jsonl, line 3: 'a': 9007199254740993 does not fit float64"
    ]
    assert refusals(capsys, 'kind = "time"\ndtype = "datetime64[s]"\n', "t.jsonl") == [
        "varlen: t.jsonl, line 1: 'a': times have a zone, but the schema says none"
    ]
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": [Decimal("0.12345678901234567890")]}), "d.parquet")
    assert (
        "d.parquet: a: 0.12345678901234567890 at row 0 has more digits than a double"
        in (refusals(capsys, 'kind = "number"\ndtype = "float64"\n', "d.parquet")[0])
    )
    (here / "s.toml").write_text("[columns]\na = 5\n")
    assert main(["convert", "a.jsonl", "o.nrt", "--schema", "s.toml"]) == 1
    assert capsys.readouterr().err.startswith("varlen: s.toml: columns: 'a': expected a dict")
    assert main(["convert", "t.jsonl", "o.nrt", "--types", "a=datetime64"]) == 2
    assert "a: 'datetime64' has no unit" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_schema_that_is_inferred_holds_for_its_own_input(here, capsys, kind):
    """Lists that are null, and structs, among what it is inferred from."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = [
        {"x": [1, 2], "w": [["a"], None], "s": {"y": [0.5]}, "n": [3]},
        {"x": None, "w": None, "s": None, "n": []},
    ]
    if kind == "jsonl":
        (here / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        pq.write_table(pa.Table.from_pylist(records), "a.parquet")
    found = []
    for key in ("x", "w", "s", "n"):
        options = [f"a.{kind}", "--columns", key, "--quiet", "--force"]
        assert main(["convert", "--infer-schema", "s.toml", *options]) == 0
        found += [(name, column.nullable) for name, column in read_schema("s.toml").items()]
        options += ["--nulls", "nan", "--null-word", "?", "--schema", "s.toml"]
        assert main(["convert", options[0], "o.nrt", *options[1:]]) == 0
    assert found == [("x", True), ("w", True), ("s.y", True), ("n", False)]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "+01:00", "-09:30"])
def test_zones_of_the_world_are_zones(zone, monkeypatch):
    import zoneinfo

    text = f'[columns.t]\nkind = "time"\ndtype = "datetime64[s]"\nzone = "{zone}"\n'
    assert Schema.from_toml(text)["t"].zone == zone
    # A machine without a list of zones reads what another one wrote.
    monkeypatch.setattr(zoneinfo, "available_timezones", set)
    monkeypatch.setattr(zoneinfo, "ZoneInfo", lambda name: (_ for _ in ()).throw(ValueError(name)))
    assert Schema.from_toml(text)["t"].zone == zone


def test_a_schema_knows_the_types_that_a_writer_takes(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.compute as pc

    runs = pc.run_end_encode(pa.array([7, 7, 9], pa.int16()))
    words = pc.run_end_encode(pa.array(["a", "a", "b"]))
    table = pa.table({"n": runs, "w": words})
    schema = Schema.from_arrow(table.schema)
    assert schema.dtypes == {"n": np.dtype("i2"), "w": str}
    with Writer(tmp_path / "x.nrt", schema=schema) as writer:
        writer.append(table)
    assert [row.to_list() for row in varlen.open(tmp_path / "x.nrt")] == [
        {"n": 7, "w": "a"},
        {"n": 7, "w": "a"},
        {"n": 9, "w": "b"},
    ]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning", "ignore:.*fork:RuntimeWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_worker_writes_frames_of_polars(tmp_path):
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    part = pl.DataFrame({"x": [[1, 2], [], [3]] * 50, "w": ["a", "b", "a"] * 50})
    frame = pl.concat([part, part], rechunk=False)
    frame.group_by("w").agg(pl.col("x").first())  # its threads have begun

    def write():
        with Writer(tmp_path / "x.nrt") as writer:
            writer.append(frame)

    process = multiprocessing.get_context("fork").Process(target=write)
    process.start()
    process.join(20)
    if process.is_alive():
        process.kill()
    assert process.exitcode == 0
    rows = varlen.open(tmp_path / "x.nrt")
    assert (len(rows), rows[0].to_list()) == (300, {"x": [1, 2], "w": "a"})
