"""A value under a schema, at each door: it comes out as it went in, or an error names key, row and value."""

import datetime
import json

import numpy as np
import pytest
import varlen as vl
import varlen.cli
from varlen import io

DAY = datetime.date(2024, 2, 29)
VALUES = [
    True, 5, -1, 300, 2**53 + 1, 2**63, 1.5, 2.0, np.nan, np.inf, 1e300, 1j, "a", b"a", DAY,
    datetime.datetime(2024, 2, 29, 1), datetime.timedelta(seconds=90), np.True_, np.int8(5), np.uint64(2**63),
    np.float16(1.5), np.float32(1.5), np.float64(2), np.datetime64("2024-02-29"), np.datetime64(1, "ns"),
    np.timedelta64(90, "s"), np.datetime64("NaT", "s"), np.timedelta64("NaT", "s"), np.str_("a"),
]  # fmt: skip
DTYPES = ["?", "i1", "u1", "i8", "u8", "f2", "f4", "f8", "M8[D]", "M8[s]", "M8[ns]", "m8[s]", "m8[ns]", str]


def expected(value, dtype):
    """What the schema makes of a value, as an array of one; None for what is refused."""
    if dtype is str:
        return np.array([value]) if isinstance(value, str) else None
    array, dtype = np.array([value]), np.dtype(dtype)
    if dtype.kind in "mM" and isinstance(value, float) and value != value:
        return np.array(["NaT"], dtype)
    if isinstance(value, (datetime.date, datetime.timedelta)):
        array = array.astype("m8[us]" if isinstance(value, datetime.timedelta) else "M8[us]")
    if array.dtype.kind not in ("biuf" if dtype.kind in "biuf" else dtype.kind):
        return None
    with np.errstate(all="ignore"):
        cast = array.astype(dtype)
        if dtype.kind == "f":
            return None if np.isinf(cast) and np.isfinite(array.astype("f8")) else cast
        is_same = cast == array if dtype.kind in "biu" else cast.astype(array.dtype) == array
    return cast if is_same or (dtype.kind in "mM" and np.isnat(array)) else None


def array_of(value):
    return np.array([value])


def column_of(path):
    own = io.open_file(path)
    values, words = own.joint().values("x"), own.fields["x"].vocabulary
    return values if words is None else np.array(words)[values]


def of_writer(rows_of):
    def door(value, dtype, folder):
        with io.Writer(folder / "a.nrt", schema={"x": dtype}, durable=False) as writer:
            writer.append(rows_of(value))
        return column_of(folder / "a.nrt")

    return door


def tensors(value):
    torch = pytest.importorskip("torch")
    if not isinstance(value, (bool, int, float, complex)) or value in (2**63, 1e300):
        return {"x": [[], [value]]}
    return {
        "x": [torch.tensor([]), torch.tensor([value])]
        if isinstance(value, float)
        else [[], [torch.tensor(value)]]
    }


def table(value):
    pa = pytest.importorskip("pyarrow")
    kinds = isinstance(value, (complex, np.generic)) or value == 2**63
    return {"x": [[], [value]]} if kinds else pa.table({"x": pa.array([[], [value]])})


def of_shards(value, dtype, folder):
    with io.ShardWriter(folder / "shards", 10, schema={"x": dtype}, durable=False) as writer:
        writer.append({"x": [[], [value]]})
    return column_of(folder / "shards" / "part-00000.nrt")


def of_build(value, dtype, folder):
    io.build([{"x": [[], [value]]}], None, folder / "built", schema={"x": dtype}, durable=False)
    return column_of(folder / "built" / "part-00000.nrt")


def of_joint(rows_of):
    def door(value, dtype, folder):
        joint = vl.JointNestedRaggedTensorDict(rows_of(value), schema={"x": dtype})
        values, words = joint._view().values("x"), (joint._view().meta or {}).get("vocabularies", {}).get("x")
        return values if words is None else np.array(words)[values]

    return door


DOORS = {
    "lists": of_writer(lambda value: {"x": [[], [value]]}),
    "flat lists": of_writer(lambda value: {"x": [value]}),
    "array": of_writer(lambda value: {"x": array_of(value)}),
    "arrays": of_writer(lambda value: {"x": [array_of(value)]}),
    "tensors": of_writer(tensors),
    "table": of_writer(table),
    "shards": of_shards,
    "build": of_build,
    "joint of lists": of_joint(lambda value: {"x": [[], [value]]}),
    "joint of array": of_joint(lambda value: {"x": array_of(value)}),
    "joint of arrays": of_joint(lambda value: {"x": [array_of(value)]}),
}


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("door", DOORS)
def test_a_value_comes_out_as_the_schema_says_or_is_named(tmp_path, door, dtype):
    for number, value in enumerate(VALUES):
        want = expected(value, dtype)
        (folder := tmp_path / str(number)).mkdir()
        if want is not None:
            got = DOORS[door](value, dtype, folder)
            np.testing.assert_array_equal(got, want.astype(got.dtype) if dtype is str else want, str(value))
            assert dtype is str or got.dtype == dtype
            continue
        with pytest.raises((ValueError, TypeError, OverflowError, RuntimeError), match=r"\bx\b") as caught:
            DOORS[door](value, dtype, folder)
        assert not list(folder.glob("**/*.nrt")), (value, caught.value)


@pytest.mark.parametrize("dtype", DTYPES[:-1], ids=str)
def test_lists_of_a_dtype_hold_the_same_or_name_the_place(dtype):
    for value in VALUES:
        want = None if isinstance(value, float) and value != value else expected(value, dtype)
        if isinstance(value, (datetime.date, datetime.timedelta)) or (
            want is None and np.dtype(dtype).kind == "f"
        ):
            continue
        if want is not None:
            np.testing.assert_array_equal(vl.Ragged.from_list([[], [value]], dtype).values, want, strict=True)
            continue
        with pytest.raises((ValueError, TypeError, OverflowError), match=r"data\[1\]\[0\]: "):
            vl.Ragged.from_list([[], [value]], dtype)


@pytest.mark.parametrize("dtype", ["M8[D]", "m8[s]"])
@pytest.mark.parametrize("value", [True, 5, 1.5, np.int64(5), np.uint64(2**63), 1j], ids=repr)
@pytest.mark.parametrize("rows_of", [
    lambda value: {"x": vl.Ragged(array_of(value), [0, 1])},
    lambda value: vl.JointNestedRaggedTensorDict({"x": vl.Ragged(array_of(value), [0, 1])}),
    lambda value: {"dim1/bounds": np.array([0, 1]), "dim1/x": array_of(value)},
    lambda value: {"x": [[], [value]]},
], ids=["Ragged", "joint dict", "full names", "lists"])  # fmt: skip
def test_numbers_are_no_times_and_the_row_is_that_of_the_piece(tmp_path, rows_of, value, dtype):
    with io.Writer(tmp_path / "a.nrt", schema={"x": dtype}) as writer:
        with pytest.raises(ValueError, match=r"^x: .*\b(True|5|1.5|9223372036854775808|1j)\b.* at row 1\b"):
            writer.append(rows_of(value))
        day = np.array(["2024-02-29"], "M8[D]") if dtype == "M8[D]" else np.array([90], "m8[s]")
        writer.append({"x": [[], day]})
    np.testing.assert_array_equal(column_of(tmp_path / "a.nrt"), day)


@pytest.mark.parametrize(("dtype", "text"), [
    ("M8[D]", ""), ("M8[D]", "today"), ("M8[s]", "now"), ("M8[D]", "5"), ("M8[D]", "2024-02-29T01"),
    ("m8[s]", ""), ("m8[s]", "1.5"), ("m8[s]", "-9223372036854775808"),
])  # fmt: skip
@pytest.mark.parametrize("rows_of", [
    lambda text: {"x": [[None], [text]]}, lambda text: {"x": [[], np.array([text])]},
], ids=["lists", "arrays"])  # fmt: skip
def test_texts_are_times_only_as_they_are_written(tmp_path, rows_of, dtype, text):
    with io.Writer(tmp_path / "a.nrt", schema={"x": dtype}) as writer:
        with pytest.raises(ValueError, match=rf"^x: expected times, got .*{text}.* at row 1, but the schema"):
            writer.append(rows_of(text))
        writer.append(
            rows_of("2024-02-29" if dtype == "M8[D]" else "2024-02-29T01:00" if dtype == "M8[s]" else "90")
        )


def test_texts_of_times_have_zones_or_none(tmp_path):
    with io.Writer(tmp_path / "a.nrt", schema={"x": "M8[s]"}) as writer:
        with pytest.raises(
            ValueError, match="'2024-02-29T00:00Z' has a zone and '2024-02-29T00:00' has none"
        ):
            writer.append({"x": [["2024-02-29T00:00Z", "2024-02-29T00:00"]]})
        writer.append({"x": [["2024-02-29T01:00+01:00", "NaT"]]})
    np.testing.assert_array_equal(column_of(tmp_path / "a.nrt"), np.array(["2024-02-29", "NaT"], "M8[s]"))


@pytest.mark.parametrize("rows", [
    [DAY], [["a"], [DAY]], [["a"], DAY], np.array([DAY], object), [np.array([DAY], object)],
], ids=str)  # fmt: skip
def test_what_is_no_text_is_named_by_its_type(rows):
    with pytest.raises((TypeError, ValueError), match=r"x.*text"):
        vl.JointNestedRaggedTensorDict({"x": rows}, schema={"x": str})
    with pytest.raises(TypeError, match=r"x(\[\d\])+: expected text, got date"):
        vl._core.from_words(list(rows), {}, name="x")


@pytest.mark.parametrize("value", [True, 5, 1.5])
def test_lines_are_refused_as_lists_are(tmp_path, capsys, value):
    (tmp_path / "a.jsonl").write_text(json.dumps({"x": []}) + "\n" + json.dumps({"x": [value]}) + "\n")
    schema = io.Schema({"x": {"kind": "time", "dtype": "datetime64[s]", "level": 1}})
    schema.write(tmp_path / "s.toml")
    paths = [str(tmp_path / name) for name in ("a.jsonl", "o.nrt", "s.toml")]
    assert varlen.cli.main(["convert", *paths[:2], "--schema", paths[2]])
    said = capsys.readouterr().err
    assert (
        f"a.jsonl, line 2: 'x': dtype {np.array(value).dtype}, but the schema says datetime64[s]: {value}"
        in said
    )


def append_apart(writer, *pieces):
    with writer:
        for piece in pieces:
            writer.append({"x": piece})


@pytest.mark.parametrize("rows", [[None], [[None]]], ids=str)
def test_dates_after_none_alone_ask_for_a_schema(tmp_path, rows):
    dates = [[DAY]] if isinstance(rows[0], list) else [DAY]
    data = vl.Dataset(vl.JointNestedRaggedTensorDict({"i": [[0], [1]]}))
    for number, door in enumerate((
        lambda path: append_apart(io.Writer(path), rows, dates),
        lambda path: append_apart(io.ShardWriter(path, 1), rows, dates),
        lambda path: io.build([{"x": rows}, {"x": dates}], None, path),
        lambda path: data.map(lambda row: {"x": [rows, dates][int(row["i"][0])]}, path, batch_size=1),
    )):  # fmt: skip
        with pytest.raises(ValueError, match=r"x.*give a schema, as None alone counts as a number"):
            door(tmp_path / str(number))
    append_apart(io.Writer(tmp_path / "a.nrt", schema={"x": "M8[D]"}), rows, dates)
    np.testing.assert_array_equal(column_of(tmp_path / "a.nrt"), np.array(["NaT", DAY], "M8[D]"))


def test_levels_and_dims_out_of_range_are_counted():
    joint = vl.JointNestedRaggedTensorDict({"x": [[1], [2, 3]]})._view()
    for call, text in [
        (lambda: joint.level(7), "level 7 is out of range for 1 levels"),
        (lambda: joint.bounds(2), "level 2 is out of range for 1 levels"),
        (lambda: joint.rows(5), "dim 5 is out of range for 2 dims"),
    ]:
        with pytest.raises(IndexError, match=text):
            call()
