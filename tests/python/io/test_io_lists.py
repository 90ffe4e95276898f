"""None, dates, tensors and Raggeds in lists: the same rows through a writer, shards, a build and a map."""

import datetime

import numpy as np
import pytest
import varlen as vl
import varlen.io
from hypothesis import given, settings
from hypothesis import strategies as st

DAY = datetime.date(2024, 2, 29)
MINUTE = datetime.datetime(2024, 2, 29, 12, 30)


LONGEST = datetime.timedelta(microseconds=2**63 - 1)


def of_writer(rows, folder):
    with varlen.io.Writer(folder / "a.nrt") as writer:
        writer.append(rows)
    return vl.open(folder / "a.nrt")


def of_shards(rows, folder):
    with varlen.io.ShardWriter(folder / "shards", rows_per_shard=2) as writer:
        writer.append(rows)
    return vl.open(folder / "shards")


def of_build(rows, folder):
    varlen.io.build([rows], None, folder / "build")
    return vl.open(folder / "build")


def of_map(rows, folder):
    return _numbers(rows).map(lambda part: rows, folder / "map.nrt", batched=True)


def of_map_of_rows(rows, folder):
    place = iter(range(len(next(iter(rows.values())))))

    def row(_, number=place):
        i = next(number)
        return {name: column[i] for name, column in rows.items()}

    return _numbers(rows).map(row, folder / "rows.nrt")


def _numbers(rows):
    count = len(next(iter(rows.values())))
    return vl.Dataset(vl.JointNestedRaggedTensorDict({"x": list(range(count))}))


WAYS = [of_writer, of_shards, of_build, of_map, of_map_of_rows]
_values = {
    "float": st.floats(allow_nan=False, width=32),
    "int": st.integers(-(2**40), 2**40),
    "day": st.dates(),
    "minute": st.datetimes(min_value=datetime.datetime(1900, 1, 1)),
    "delta": st.timedeltas(-LONGEST, LONGEST),
}


@st.composite
def columns(draw, depth):
    value = st.none() | _values[draw(st.sampled_from(sorted(_values)))]
    item = value
    for _ in range(depth):
        item = st.lists(item, max_size=3)
    return draw(st.lists(item, min_size=1, max_size=5))


def plain(rows):
    """The rows as lists, with None for NaN and NaT."""
    if isinstance(rows, list):
        return [plain(item) for item in rows]
    return None if rows is None or rows != rows else rows


def leaves(rows):
    return [leaf for item in rows for leaf in leaves(item)] if isinstance(rows, list) else [rows]


@settings(max_examples=40, deadline=None)
@given(st.data(), st.sampled_from(WAYS))
def test_values_that_are_missing_come_back_missing(tmp_path_factory, data, way):
    depth = data.draw(st.integers(0, 2))
    rows = data.draw(columns(depth))
    own = way({"n": rows}, tmp_path_factory.mktemp("lists"))
    values = [leaf for leaf in leaves(rows) if leaf is not None]
    if values:
        assert own.fields["n"].dim == depth
        assert (
            own.fields["n"].dtype.kind
            == {float: "f", int: "if"}.get(
                type(values[0]), "m" if isinstance(values[0], datetime.timedelta) else "M"
            )[-1 if None in leaves(rows) else 0]
        )
        assert plain(own[:].to_list()["n"]) == rows


@pytest.mark.parametrize("way", WAYS)
def test_tensors_dates_and_raggeds_are_rows(tmp_path, way):
    torch = pytest.importorskip("torch")
    rows = {
        "tensor": [torch.tensor([1, 2]), torch.tensor([3]), torch.tensor([], dtype=torch.int64)],
        "scalar": [torch.tensor(1.5), torch.tensor(2.5), torch.tensor(0.0)],
        "lists": [[torch.tensor(1), torch.tensor(2)], [torch.tensor(3)], []],
        "day": [DAY, None, DAY],
        "minutes": [[MINUTE, None], [None], []],
        "dose": [[None, 1], [2], []],
        "numpy": [[np.datetime64(DAY), None], [np.datetime64(MINUTE, "s")], []],
    }
    own = way(rows, tmp_path)[:].to_list()
    assert own["tensor"] == own["lists"] == [[1, 2], [3], []]
    assert own["scalar"] == [1.5, 2.5, 0.0]
    assert own["day"] == rows["day"]
    assert own["minutes"] == rows["minutes"]
    assert plain(own["dose"]) == rows["dose"]
    midnight = datetime.datetime.combine(DAY, datetime.time())
    assert own["numpy"] == [[midnight, None], [MINUTE], []]
    (tmp_path / "r").mkdir()
    ragged = {"y": [vl.Ragged([1, 2, 3], [2, 1]), vl.Ragged([4, 5, 6], [1, 2])]}
    assert way(ragged, tmp_path / "r")[:].to_list() == {"y": [[[1, 2], [3]], [[4], [5, 6]]]}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("rows", "error", "text"),
    [
        ([[1], [None, 2**53 + 1]], OverflowError, r"n\[1\]\[1\]: 9007199254740993 does not fit float64"),
        ([["a"], ["b", None]], TypeError, r"n\[1\]\[1\]: expected text, got NoneType"),
        ([[True], [None]], ValueError, r"n\[1\]\[0\]: expected a number, got NoneType"),
        ([[1.5], None], ValueError, r"n.*\[1\]: expected a list or an array, got NoneType"),
        ([[1], [{}]], ValueError, r"n\[1\]\[0\]: expected a number, got dict"),
        ([[1.5], [DAY]], ValueError, r"n\[1\]\[0\]: expected a number, got date"),
        (
            [[MINUTE, MINUTE.replace(tzinfo=datetime.timezone.utc)], []],
            ValueError,
            "n: 2024-02-29 12:30:00.00:00 has a zone and 2024-02-29 12:30:00 has none",
        ),
    ],
)
def test_values_that_fit_nothing_are_named(tmp_path, way, rows, error, text):
    if way is of_map_of_rows:
        text = r"map: rows? \d"  # of a row alone its place in that
    kinds = (error, RuntimeError) if way is of_build else (error, ValueError)
    with pytest.raises(kinds, match=text):
        way({"n": rows}, tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".nrt", ".json")]


ROWS = {"id": [7], "x": [[1, 2]], "deep": [[["a"], ["b", "a"]]], "day": [[datetime.date(2024, 2, 29), None]]}
NO_ROWS = {name: [] for name in ROWS}


@pytest.mark.parametrize("pieces", [[NO_ROWS, ROWS], [ROWS, NO_ROWS], [NO_ROWS, NO_ROWS, ROWS]])
@pytest.mark.parametrize("way", ["writer", "shards", "build", "append", "build append"])
def test_pieces_may_have_no_rows(tmp_path, way, pieces):
    folder, is_append = tmp_path / "a", way.endswith("append")
    if is_append:
        of_build(ROWS, tmp_path)
        folder = tmp_path / "build"
    if way.startswith("build"):
        varlen.io.build([*enumerate(pieces)], lambda part: part[1], folder, append=is_append)
    else:
        kind = {"writer": varlen.io.Writer}.get(way, varlen.io.ShardWriter)
        how = {} if way == "writer" else {"rows_per_shard": 1, "append": is_append}
        with kind(folder, **how) as writer:
            for piece in pieces:
                writer.append(piece)
    ds = vl.open(folder)
    assert ds[:].to_list() == {name: column * (1 + is_append) for name, column in ROWS.items()}
    assert [field.dim for field in ds.fields.values()] == [0, 1, 2, 1]
    ds.account.check()


def test_lists_without_rows_have_the_dtypes_of_the_schema(tmp_path):
    schema = varlen.io.Schema(
        {
            "x": {"kind": "number", "dtype": "float32", "level": 1, "trailing": [2]},
            "word": {"kind": "code", "level": 2},
            "day": {"kind": "time", "dtype": "datetime64[D]"},
        }
    )
    with varlen.io.Writer(tmp_path / "a.nrt", schema=schema) as writer:
        writer.append({"x": [], "word": [], "day": []})
    ds = vl.open(tmp_path / "a.nrt")
    assert len(ds) == 0
    assert ds.source.schema == schema
    assert len(_numbers({"x": [0]}).map(lambda part: {"x": []}, tmp_path / "map.nrt", batched=True)) == 0
    with pytest.raises(ValueError, match="x has 1 rows at dim 0, id has 0"):
        of_writer({"id": [], "x": [[1]]}, tmp_path)


def test_a_schema_still_says_which_nulls_there_may_be(tmp_path):
    for schema, rows, text in [
        ({"n": "i4"}, [[None, 1]], r"n\[0\]\[0\]: expected a number, got NoneType"),
        ({"n": "i4"}, [[DAY]], r"n\[0\]\[0\]: datetime64.D. values do not go into int32, such as 2024-02-29"),
        (varlen.io.Schema({"n": varlen.io.SchemaColumn("number", "f4", nullable=False, level=1)}),
         [[1.0], [None]], "n: null at row 1, but the schema says that there is none"),
    ]:  # fmt: skip
        with (
            pytest.raises(ValueError, match=text),
            varlen.io.Writer(tmp_path / "a.nrt", schema=schema) as writer,
        ):
            writer.append({"n": rows})
    with varlen.io.Writer(tmp_path / "a.nrt", schema={"n": "f4", "t": "M8[s]"}) as writer:
        writer.append({"n": [[None, 1]], "t": [[DAY, None]]})
    own = vl.open(tmp_path / "a.nrt")
    assert own.schema == {"n": np.dtype("f4"), "t": np.dtype("M8[s]")}
    assert np.isnan(own[0]["n"]).tolist() == [True, False]


TIMES = [
    ("datetime64[D]", DAY),
    ("datetime64[s]", MINUTE),
    ("timedelta64[ms]", datetime.timedelta(seconds=5)),
]
OF_TIMES = [
    (0, [DAY, None]), (0, [None, None]), (1, [[DAY], []]), (1, [[], []]), (1, [[DAY, None], [None]]),
    (1, [[None], [DAY]]), (1, [[], [None]]), (2, [[[None], []], [[DAY, None]]]), (2, [[], [[None, None]]]),
    (2, [[], [[]]]),
]  # fmt: skip


def exchange(rows, time):
    return [exchange(row, time) for row in rows] if isinstance(rows, list) else rows and time


@pytest.mark.parametrize(("dtype", "time"), TIMES, ids=[dtype for dtype, _ in TIMES])
@pytest.mark.parametrize(("level", "rows"), OF_TIMES, ids=str)
def test_declared_times_may_be_missing_at_every_place(tmp_path, level, rows, dtype, time):
    rows = exchange(rows, time)
    schema = varlen.io.Schema({"x": {"kind": "time", "dtype": dtype, "level": level}})
    first = [[[time]], [time], time][2 - level]
    for number, how in enumerate(({"schema": schema}, {"schema": {"x": dtype}}, {})):
        path = tmp_path / f"{number}.nrt"
        with varlen.io.Writer(path, **how) as writer:
            for part in ([first], rows):
                writer.append({"x": part})
        assert vl.open(path)[1:].to_list() == {"x": rows}, how
    with varlen.io.ShardWriter(tmp_path / "shards", 2, schema=schema) as writer:
        writer.append({"x": rows})
    for _ in range(2):
        with varlen.io.ShardWriter(tmp_path / "shards", 2, append=True) as writer:
            writer.append({"x": rows})
    assert vl.open(tmp_path / "shards")[:].to_list() == {"x": rows * 3}
    if level < 2:
        joint = vl.JointNestedRaggedTensorDict({"x": [first, *rows]}, schema={"x": np.dtype(dtype)})
        assert joint.to_list() == {"x": [first, *rows]}


@pytest.mark.parametrize("rows", [[DAY, 5.5], [[DAY], [5.5]], [["2024-02-29", 5.5]], [[[DAY], []], [[5.5]]]])
def test_what_is_no_time_is_named(tmp_path, rows):
    for schema in ({"x": "M8[D]"}, {"x": np.dtype("M8[s]")}):
        with pytest.raises(ValueError, match=r"x: expected times, got 5\.5"):
            vl.JointNestedRaggedTensorDict({"x": rows}, schema=schema)
        writer = varlen.io.Writer(tmp_path / "a.nrt", schema=schema)
        with writer, pytest.raises(ValueError, match=r"x: expected times, got 5\.5"):
            writer.append({"x": rows})


@pytest.mark.parametrize("way", [of_writer, of_shards, of_map], ids=lambda way: way.__name__)
def test_durations_that_wrap_in_numpy_are_refused(tmp_path, way):
    moment = datetime.timedelta(microseconds=1)
    for rows in ([LONGEST], [[None, -LONGEST], []]):
        (folder := tmp_path / str(len(rows))).mkdir()
        assert way({"x": rows}, folder)[:].to_list() == {"x": rows}
    for rows in ([LONGEST + moment], [[moment], [-LONGEST - 2 * moment]]):
        with pytest.raises(OverflowError, match=r"x: .*timedelta.* does not fit timedelta64\[us\]"):
            way({"x": rows}, tmp_path)
        with pytest.raises(OverflowError, match=r"x: .*timedelta.* does not fit timedelta64\[us\]"):
            vl.JointNestedRaggedTensorDict({"x": rows}, schema={"x": np.dtype("m8[s]")})


def test_map_keeps_a_key_of_one_value_a_row(tmp_path):
    torch = pytest.importorskip("torch")
    ds = vl.Dataset(
        vl.JointNestedRaggedTensorDict(
            {"age": [61, 35, 70], "place": np.arange(6.0).reshape(3, 2), "x": [[1, 2, 3], [], [4]]}
        )
    )
    for size in (1, 2, 1000):
        kept = ds.map(
            lambda row: {
                "age": row["age"] * 2, "old": row["age"], "place": row["place"], "x": row["x"],
                "of": float(row["age"][0]),
            },
            tmp_path / "m.nrt", batch_size=size,
        )  # fmt: skip
        assert {name: field.dim for name, field in kept.fields.items()} == {
            "age": 0, "old": 0, "place": 0, "x": 1, "of": 0}  # fmt: skip
        assert kept[:].to_list() == {
            "age": [122, 70, 140], "old": [61, 35, 70], "place": [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]],
            "x": [[1, 2, 3], [], [4]], "of": [61.0, 35.0, 70.0]}  # fmt: skip
        same = ds.map(lambda row: {"age": torch.tensor(row["age"])}, tmp_path / "t.nrt", batch_size=size)
        assert same[:].to_list() == {"age": [61, 35, 70]}
        lists = ds.map(lambda row: {"age": row["age"].tolist()}, tmp_path / "l.nrt", batch_size=size)
        assert lists.fields["age"].dim == 1
        with pytest.raises(ValueError, match=r"map: row 1: 'age' has one value a row, got an array of 2"):
            ds.map(
                lambda row: {"age": np.repeat(row["age"], 1 + (row["age"][0] == 35))},
                tmp_path / "no.nrt", batch_size=size,
            )  # fmt: skip
    assert not (tmp_path / "no.nrt").exists()
