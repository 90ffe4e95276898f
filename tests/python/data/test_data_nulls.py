"""Nulls among the numbers of samples: named, filled with a mask, NaN, or left out, from every door."""

import warnings

import numpy as np
import pytest
from varlen.data import Collate, collate, pack

ROWS = [
    {"x": [1, None, 3], "f": [0.5, None], "v": [[1, None], None, [3]], "y": 5, "s": "a"},
    {"x": [4], "f": [], "v": [[]], "y": None, "s": None},
    {"x": None, "f": [1.5], "v": [], "y": 7, "s": "c"},
]
KEYS = list(ROWS[0])


def as_rows():
    return ROWS


def as_columns():
    return {key: [row[key] for row in ROWS] for key in KEYS}


def as_table():
    return pytest.importorskip("pyarrow").Table.from_pylist(ROWS)


def as_tables():
    table = as_table()
    return [table.slice(i, 1) for i in range(3)]


def as_scalars():
    table = as_table()
    return [{key: table[key][i] for key in KEYS} for i in range(3)]


def as_polars():
    return pytest.importorskip("polars").DataFrame(ROWS, strict=False)


def as_pandas():
    frame = pytest.importorskip("pandas").DataFrame(ROWS)
    frame["y"] = frame["y"].astype("Int64")
    return frame


def as_frames():
    frame = as_pandas()
    return [frame.iloc[i : i + 1] for i in range(3)]


def as_masked():
    rows = [dict(row) for row in ROWS]
    rows[0]["x"] = np.ma.array([1, 2, 3], mask=[False, True, False])
    rows[0]["f"] = np.ma.array([0.5, 2], mask=[False, True])
    rows[1]["x"], rows[1]["f"], rows[2]["f"] = np.array([4]), np.array([]), np.array([1.5])
    rows[1]["y"] = np.ma.masked
    return rows


DOORS = [
    as_rows, as_columns, as_table, as_tables, as_scalars, as_polars, as_pandas, as_frames, as_masked,
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
def test_nulls_are_filled_and_masked(door):
    batch = Collate(nulls="fill", fill={"x": -1, "y": -2}, framework="numpy")(door())
    assert batch["x"].tolist() == [[1, -1, 3], [4, -1, -1], [-1, -1, -1]]
    assert batch["x/mask"].tolist() == [[True, False, True], [True, False, False], [False] * 3]
    assert batch["f"].tolist() == [[0.5, 0], [0, 0], [1.5, 0]]
    assert batch["f/mask"].tolist() == [[True, False], [False, False], [True, False]]
    assert batch["v"].tolist() == [[[1, 0], [0, 0], [3, 0]], [[0, 0]] * 3, [[0, 0]] * 3]
    assert batch["v/mask"].sum() == 2
    assert (batch["y"].tolist(), batch["y/mask"].tolist()) == ([5, -2, 7], [True, False, True])
    assert [batch[key].dtype.kind for key in ("x", "f", "v", "y")] == ["i", "f", "i", "i"]
    assert batch["s"] == ["a", None, "c"]


@pytest.mark.parametrize("door", DOORS)
def test_nulls_become_nan(door):
    batch = Collate(nulls={"x": "nan", "f": "nan", "y": "nan"}, keys=["x", "f", "y"], fill=-1)(door())
    np.testing.assert_array_equal(batch["x"], [[1, np.nan, 3], [4, -1, -1], [-1, -1, -1]])
    assert batch["x/mask"].tolist() == [[True] * 3, [True, False, False], [False] * 3]
    np.testing.assert_array_equal(batch["f"], [[0.5, np.nan], [-1, -1], [1.5, -1]])
    np.testing.assert_array_equal(batch["y"], [5, np.nan, 7])
    assert {batch[key].dtype for key in ("x", "f", "y")} == {np.dtype(float)}


@pytest.mark.parametrize("door", DOORS)
def test_nulls_are_left_out_of_lists(door):
    batch = Collate(nulls="drop", keys=["x", "f", "v", "s"])(door())
    assert batch["x"].tolist() == [[1, 3], [4, 0], [0, 0]]
    assert batch["x/mask"].sum(1).tolist() == [2, 1, 0]
    assert batch["f"].tolist() == [[0.5], [0], [1.5]]
    assert batch["v"].tolist() == [[[1], [3]], [[0], [0]], [[0], [0]]]
    with pytest.raises(ValueError, match=r"samples\['y'\]: is a single null, and nulls='drop' can only drop"):
        Collate(nulls="drop", keys=["y"])(door())


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("key", "place"),
    [("x", r"\[0\]\['x'\]\[1\]"), ("f", r"\[0\]\['f'\]\[1\]"), ("v", r"\[0\]\['v'\]\[0\]\[1\]"),
     ("y", r"\[1\]\['y'\]")],
)  # fmt: skip
def test_nulls_are_named_by_sample_key_and_place(door, key, place):
    with pytest.raises(ValueError, match=f"samples{place}: is null; give Collate"):
        Collate(keys=[key])(door())


def test_the_dtype_is_the_same_with_nulls_and_without():
    pa = pytest.importorskip("pyarrow")
    kind = pa.list_(pa.int32())
    for nulls, dtype in (("fill", np.int32), ("drop", np.int32), ("nan", np.float64)):
        for values in ([[1, None], [2]], [[1, 3], [2]], [None, [2]]):
            batch = Collate(nulls=nulls)(pa.table({"x": pa.array(values, kind)}))
            assert batch["x"].dtype == dtype
    batch = Collate(nulls="fill")([{"y": 1}, {"y": 2}])
    assert batch["y/mask"].tolist() == [True, True]  # in every batch


def test_batches_of_models_hide_nulls():
    torch = pytest.importorskip("torch")
    how = {
        "nulls": "fill",
        "fill": 9,
        "names": {"x": "input_ids"},
        "attention_mask": True,
        "keys": ["x", "labels"],
    }
    rows = [{"x": row["x"], "labels": row["y"]} for row in ROWS]
    batch = Collate(**how)(rows)
    assert batch["input_ids"].tolist() == [[1, 9, 3], [4, 9, 9], [9, 9, 9]]
    assert batch["attention_mask"].tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    assert batch["labels"].tolist() == [5, -100, 7]  # which losses leave out
    assert sorted(batch) == ["attention_mask", "input_ids", "labels"]
    assert batch["input_ids"].dtype == batch["labels"].dtype == torch.int64


@pytest.mark.parametrize("dtype", ["int64", "float32", "bfloat16"])
def test_a_sample_without_a_tensor_is_an_empty_one(dtype):
    torch = pytest.importorskip("torch")
    one = torch.tensor([1, 2], dtype=getattr(torch, dtype))
    values, mask = Collate(nulls="fill", fill=3)([None, one])
    assert (values.tolist(), mask.tolist()) == ([[3, 3], [1, 2]], [[False, False], [True, True]])
    assert values.dtype == one.dtype


def test_ragged_batches_say_where_nulls_were():
    batch = Collate(nulls="fill", layout="ragged", keys=["x", "y"])(ROWS)
    assert (batch["x"].tolist(), batch["x/mask"].tolist()) == ([1, 0, 3, 4], [True, False, True, True])
    assert batch["x/offsets"].tolist() == [0, 3, 4, 4]
    assert Collate(nulls="drop", layout="ragged", keys=["x"])(ROWS)["x"].tolist() == [1, 3, 4]


def test_nulls_of_lists_that_hold_no_numbers():
    assert Collate(nulls="fill")([{"x": []}, {"x": None}])["x"].shape == (2, 0)
    assert Collate(nulls="fill")([{"s": None}, {"s": None}])["s"] == [None, None]  # words, for all we know
    with pytest.raises(ValueError, match=r"samples\['x'\]: all are null, so their type is unknown"):
        Collate(nulls={"x": "fill"})([{"x": None}, {"x": None}])
    with pytest.raises(ValueError, match=r"all are null, .*; give dtype=\{'x': \.\.\.\}"):
        Collate(nulls={"x": "fill"})([{"x": [None]}, {"x": []}])
    with pytest.raises(TypeError, match=r"samples\[1\]\['u'\]: has dict, samples\[0\] has NoneType"):
        collate([{"u": None}, {"u": {"v": 1}}])


@pytest.mark.parametrize("dtype", ["int64", "float32", "bool", "datetime64[s]"])
@pytest.mark.parametrize("values", [[None, None], [[None], []], [[None], None], [[[None]], []]], ids=str)
def test_samples_that_are_all_null_have_the_dtype_that_is_declared(values, dtype):
    fill = np.ones((), dtype)[()]
    collate = Collate(nulls="fill", fill={"x": fill}, dtype={"x": dtype})
    batch = collate([{"x": value} for value in values])
    assert batch["x"].dtype == dtype
    assert (batch["x"] == fill).all()
    assert not batch["x/mask"].any()
    with pytest.raises(ValueError, match=r"samples\[0\]\['x'\].*: is null"):
        Collate(dtype={"x": dtype})([{"x": value} for value in values])
    some = [{"x": value} for value in values] + [{"x": _like(values[0], fill)}]
    assert collate(some)["x"].dtype == batch["x"].dtype
    assert collate(some)["x"].ndim == batch["x"].ndim


def _like(value, number):
    return [_like(item, number) for item in value] if isinstance(value, list) else number


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="nulls: expected 'refuse', 'nan', 'fill' or 'drop', got 'zero'"):
        Collate(nulls="zero")
    with pytest.raises(KeyError, match="nulls: 'z' is not one of"):
        Collate(nulls={"z": "fill"})([{"x": [1]}])
    with pytest.raises(ValueError, match=r"\['x'\]: 9007199254740993 is beyond the integers of float64"):
        Collate(nulls="nan")([{"x": [2**53 + 1, None]}])
    with pytest.raises((ValueError, OverflowError), match="fill"):
        Collate(nulls="fill", fill=300, dtype={"y": "uint8"})([{"y": 3}, {"y": None}])
    nest = [None]
    nest.append(nest)
    with pytest.raises(ValueError, match="samples"), warnings.catch_warnings():
        Collate(nulls="fill")([{"x": nest}])
    assert repr(Collate(nulls="fill")) == "Collate(nulls='fill')"


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_one_row_are_packed(library):
    frame = pytest.importorskip(library).DataFrame
    rows = [[1, 2], [3], [4, 5, 6]]
    packed = pack([frame({"x": [row]}) for row in rows], 4)
    assert packed["x"].tolist() == pack({"x": rows}, 4)["x"].tolist()


NUMBERS = {"i": "int8", "f": "float32", "b": "bool_"}


def as_all_null(library):
    """Two samples that are all null, in columns of numbers, lists of numbers, and text."""
    pa = pytest.importorskip("pyarrow")
    kinds = {key: getattr(pa, name)() for key, name in NUMBERS.items()}
    kinds |= {"l": pa.list_(pa.int8()), "deep": pa.list_(pa.list_(pa.float64())), "s": pa.string()}
    table = pa.table({key: pa.nulls(2, kind) for key, kind in kinds.items()})
    if library == "scalars":
        return [{key: table.column(key)[i] for key in kinds} for i in range(2)]
    if library == "tables":
        return [table[:1], table[1:]]
    if library == "polars":
        return pytest.importorskip("polars").from_arrow(table)
    if library == "pandas":
        return table.to_pandas(types_mapper=pytest.importorskip("pandas").ArrowDtype)
    return table


@pytest.mark.parametrize("library", ["arrow", "tables", "scalars", "polars", "pandas"])
def test_columns_that_are_all_null_are_what_their_type_says(library):
    samples = as_all_null(library)
    filled = Collate(nulls="fill")(samples)
    assert [filled[key].dtype.kind for key in NUMBERS] == ["i", "f", "b"]
    assert all(filled[key].tolist() == [0, 0] for key in NUMBERS)
    assert not any(filled[f"{key}/mask"].any() for key in NUMBERS)
    assert (filled["l"].shape, filled["l"].dtype.kind, len(filled["deep"])) == ((2, 0), "i", 2)
    assert filled["s"] == [None, None]
    holes = Collate(nulls="nan")(samples)
    assert all(np.isnan(holes[key]).all() for key in NUMBERS)
    with pytest.raises(ValueError, match=r"samples\[0\]\['i'\]: is null; give Collate"):
        Collate()(samples)
    assert Collate(keys=["s"])(samples)["s"] == [None, None]


def test_nullable_columns_of_pandas_that_are_all_null_have_their_kind():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"i": pd.array([None] * 2, "Int8"), "b": pd.array([None] * 2, "boolean"), "o": [None] * 2}
    )
    batch = Collate(nulls="fill")(frame)
    assert (batch["i"].dtype.kind, batch["b"].dtype.kind, batch["o"]) == ("i", "b", [None, None])
