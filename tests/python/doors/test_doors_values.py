"""Values at every door where data comes in: each comes out as what went in, or is refused with its place.

A cell is a door and a kind of value, and says which of the two it is, or that the loss was asked for by name.
OUTSIDE are kinds that the library which makes the input refuses itself: no door of varlen sees them.
"""

import contextlib
import datetime as dt
import decimal
import itertools
import json
import math
import re
import uuid
from io import StringIO

import numpy as np
import pytest
import varlen
from varlen import JointNestedRaggedTensorDict as Joint
from varlen import Ragged, io
from varlen.cli import main
from varlen.data import Dataset, collate

ml_dtypes = pytest.importorskip("ml_dtypes")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

UTC, CET = dt.timezone.utc, dt.timezone(dt.timedelta(hours=1))
D, NAN, INF, BIG = decimal.Decimal, float("nan"), float("inf"), 2**53 + 1

# Two or three rows of each kind.
KINDS = {
    "int64": [[-(2**63), 2**63 - 1], [0]],
    "uint64": [[2**64 - 1], [2**63]],
    "beyond doubles": [[BIG], [-BIG]],
    "int beside float": [[BIG], [0.5]],
    "int beyond 64 bits": [[2**64], [1]],
    "both signs": [[2**63 + 1], [-1]],
    "bool": [[True, False], [True]],
    "bool beside int": [[True], [2]],
    "float64": [[1.7976931348623157e308, -5e-324], [0.1]],
    "float32": [np.array([3.4028235e38, 1e-45], "f4"), np.array([0.1], "f4")],
    "float16": [np.array([65504, 6e-8], "f2"), np.array([0.1], "f2")],
    "bfloat16": [np.array([1.5, 3e38], ml_dtypes.bfloat16), np.array([0.1], ml_dtypes.bfloat16)],
    "tenths": [[0.1, 0.2], [1 / 3]],
    "minus zero": [[-0.0], [0.0]],
    "nan": [[NAN], [1.0]],
    "infinity": [[INF, -INF], [1.0]],
    "complex": [[1j], [2j]],
    "decimal": [[D("0.10"), D("7")], [D("-1.5")]],
    "long decimal": [[D("9007199254740993")], [D("1")]],
    "text": [["a", "b"], ["a"]],
    "text like numbers": [["0389", "389"], ["1e5"]],
    "unicode": [["\u00e9", "e\u0301", "\U0001f600"], ["\u4e2d"]],
    "empty text": [["", "a"], [""]],
    "nul": [["a\0", "a"], ["\0b"]],
    "long text": [["x" * 70000], ["y"]],
    "numpy text": [[np.str_("a")], [np.str_("b"), np.str_("a")]],
    "bytes": [[b"a"], [b"\xff"]],
    "datetime": [[dt.datetime(2020, 1, 2, 3, 4, 5, 6)], [dt.datetime(1900, 1, 1)]],
    "zone": [[dt.datetime(2020, 1, 2, 3, tzinfo=CET)], [dt.datetime(2020, 1, 2, 3, tzinfo=UTC)]],
    "zone beside none": [[dt.datetime(2020, 1, 2, 3, tzinfo=UTC), dt.datetime(2020, 1, 2)]],
    "date": [[dt.date(2020, 1, 2)], [dt.date(1, 1, 1)]],
    "nanoseconds": [np.array(["2020-01-02T03:04:05.000000006"], "M8[ns]"), np.array(["1700"], "M8[ns]")],
    "nat": [np.array(["2020-01-02", "NaT"], "M8[s]"), np.array(["1700-01-01"], "M8[s]")],
    "two units": [np.array(["3000-01-01"], "M8[s]"), np.array(["2020-01-01T00:00:00.000000001"], "M8[ns]")],
    "duration": [np.array([5, -1], "m8[s]"), np.array([0], "m8[s]")],
    "duration beside int": [[np.timedelta64(1, "s"), 5]],
    "time of day": [[dt.time(1, 2, 3)], [dt.time(0)]],
    "uuid": [[uuid.UUID(int=7)], [uuid.UUID(int=2**127)]],
    "null first": [[None, 1], [2]],
    "null last": [[1, 2], [3, None]],
    "null row": [None, [1]],
    "null text": [["a", None], ["b"]],
    "empty rows": [[], [1], []],
    "nested empties": [[[]], [[1], []]],
    "two kinds": [[1, "a"], ["b"]],
    "two depths": [[1], [[2]]],
}  # fmt: skip


def rows_back(path):
    """The rows of a key as lists, words as text, times as NumPy has them."""
    whole = varlen.open(path)[:]
    column = whole["x"]
    if "x" in whole.vocabularies or getattr(column, "values", column).dtype.kind not in "mM":
        return whole.to_list()["x"]
    return list(column) if isinstance(column, np.ndarray) else [list(row) for row in column]


def rows_of(whole):
    """The rows of a key as lists, words as text, numbers as NumPy has them."""
    column = whole["x"]
    if "x" in whole.vocabularies:
        return whole.to_list()["x"]
    return [list(row) for row in column]


def write(folder, rows):
    with io.Writer(folder / "a.nrt") as writer:
        writer.append({"x": rows})
    return rows_back(folder / "a.nrt")


def widen(folder, rows):
    with io.Writer(folder / "a.nrt", widen=True) as writer:
        for row in rows:
            writer.append({"x": [row]})
    return rows_back(folder / "a.nrt")


def shard(folder, rows):
    with io.ShardWriter(folder / "a", 1) as writer:
        writer.append({"x": rows})
    return rows_back(folder / "a")


def build(folder, rows):
    io.build([{"x": [row]} for row in rows], None, folder / "a", durable=False)
    return rows_back(folder / "a")


def mapped(folder, rows):
    numbers = Dataset(Joint({"i": list(range(len(rows)))}))
    numbers.map(lambda row: {"x": rows[row.to_list()["i"]]}, folder / "a.nrt", progress=False)
    return rows_back(folder / "a.nrt")


def opened(folder, rows):
    paths = [folder / f"{i}.nrt" for i in range(len(rows))]
    for path, row in zip(paths, rows, strict=True):
        with io.Writer(path, durable=False) as writer:
            writer.append({"x": [row]})
    return rows_back(paths)


def dataset(folder, rows):
    return rows_of(Dataset([Joint({"x": [row]}, narrow=False) for row in rows])[:])


def joint(folder, rows):
    return rows_of(Joint({"x": rows}))


def wide(folder, rows):
    return rows_of(Joint({"x": rows}, narrow=False))


def saved(folder, rows):
    Joint({"x": rows}, narrow=False).save(folder / "a.nrt")
    return rows_back(folder / "a.nrt")


def from_list(folder, rows):
    return [list(row) for row in Ragged.from_list(rows)]


def collated(folder, rows):
    batch = collate([{"x": row} for row in rows])
    values, mask = batch["x"], batch.get("x/mask")
    if mask is None:
        return values
    if values.ndim < 3:
        return [list(value[keep]) for value, keep in zip(values, mask, strict=True)]
    padded = zip(values, mask, map(len, rows), strict=True)
    return [[list(v[keep]) for v, keep in zip(a, b, strict=True)][:count] for a, b, count in padded]


def arrow_of(rows):
    """An array of lists. A column of Arrow has one type: what has none raises here."""
    leaves = [x for row in rows if row is not None for x in row]
    if len({getattr(x, "tzinfo", None) is None for x in leaves}) > 1:
        raise TypeError("one column of Arrow has no times with a zone beside times without")
    if any(isinstance(x, uuid.UUID) for x in leaves):
        stored = pa.array([x.bytes for x in leaves], pa.binary(16))
        offsets = pa.array(np.cumsum([0, *map(len, rows)]), pa.int32())
        return pa.ListArray.from_arrays(offsets, pa.ExtensionArray.from_storage(pa.uuid(), stored))
    dtypes = {x.dtype for x in leaves if isinstance(x, np.generic) and not isinstance(x, np.str_)}
    if len(dtypes) > 1:
        raise TypeError("one column of Arrow has one unit")
    if dtypes == {np.dtype(ml_dtypes.bfloat16)}:
        return pa.array([row.tolist() for row in rows], pa.list_(pa.float32()))
    if dtypes and len(leaves) > 0 and all(isinstance(x, np.generic) for x in leaves):
        return pa.array(list(rows), pa.list_(pa.from_numpy_dtype(dtypes.pop())))
    large = leaves and all(type(x) is int and 2**63 <= x < 2**64 for x in leaves)
    return pa.array(rows, pa.list_(pa.uint64()) if large else None)


def from_arrow(folder, rows):
    from varlen.interop import arrow

    column = arrow.from_arrow(arrow_of(rows))
    if column.vocabulary is None:
        return [list(row) for row in Ragged(column.values, column.levels)]
    leaves = np.array(column.vocabulary, object)[column.values].tolist()
    ends = column.levels[0].offsets.tolist()
    return [leaves[a:b] for a, b in itertools.pairwise(ends)]


def convert(folder, source, *options):
    with contextlib.redirect_stderr(text := StringIO()):
        code = main(["convert", str(source), str(folder / "a.nrt"), "--quiet", *options])
    if code:
        raise ValueError(text.getvalue())
    return rows_back(folder / "a.nrt")


def parquet(folder, rows):
    pq.write_table(pa.table({"x": arrow_of(rows)}), folder / "a.parquet")
    return convert(folder, folder / "a.parquet")


def lines(folder, rows):
    of_times = [isinstance(row, np.ndarray) and row.dtype.kind in "mM" for row in rows]
    given = [list(row) if times else getattr(row, "tolist", lambda row=row: row)()
             for row, times in zip(rows, of_times, strict=True)]  # fmt: skip
    (folder / "a.jsonl").write_text("".join(json.dumps({"x": row}) + "\n" for row in given))
    return convert(folder, folder / "a.jsonl")


DOORS = {
    "Writer": write, "Writer(widen=True)": widen, "ShardWriter": shard, "build": build, "map": mapped,
    "open": opened, "Dataset": dataset, "joint dict": joint, "narrow=False": wide, "save": saved,
    "from_list": from_list, "collate": collated, "from_arrow": from_arrow, "Parquet": parquet,
    "JSON lines": lines,
}  # fmt: skip

KEPT, REFUSED, ASKED, OUTSIDE, NAN = "kept", "refused", "asked", "outside", "NaN for null"
MEMORY = ("Dataset", "joint dict", "narrow=False", "save", "from_list")  # doors without a file
PIECES = ("Writer", "Writer(widen=True)", "ShardWriter", "build", "open")  # doors of a Writer
ARROW = ("from_arrow", "Parquet")
LISTS = (*PIECES, "map", *MEMORY, "collate")
OWN_WORDS = {"open": REFUSED, "Dataset": REFUSED}  # parts that were made apart number their words apart
TIMES = {**dict.fromkeys(MEMORY, REFUSED), "JSON lines": OUTSIDE}  # Python's; NumPy's are taken
NULLS = dict.fromkeys((*LISTS, *ARROW, "JSON lines"), REFUSED)

# What is not KEPT, and what every refusal says.
CELLS = {
    "int beside float": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE)}, "9007199254740993"),
    "int beyond 64 bits": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE)}, "18446744073709551616"),
    "both signs": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE)}, "9223372036854775809|uint64 and int64"),
    "bool beside int": (
        {"Writer(widen=True)": REFUSED, "JSON lines": REFUSED, **dict.fromkeys(ARROW, OUTSIDE)},
        "bool and int64|2 beside true",
    ),
    "float64": ({"joint dict": REFUSED}, "1.7976931348623157e.308"),
    "tenths": ({"joint dict": ASKED}, ""),
    "complex": (
        {
            **dict.fromkeys((*PIECES, "map", "joint dict", "save"), REFUSED),
            **dict.fromkeys((*ARROW, "JSON lines"), OUTSIDE),
        },
        "complex128|ints, floats, or bools",
    ),
    "decimal": ({"JSON lines": OUTSIDE}, ""),
    "long decimal": (
        {**dict.fromkeys((*PIECES, "map", *MEMORY), REFUSED), "JSON lines": OUTSIDE},
        r"9007199254740993'\) has more digits",
    ),
    "text like numbers": (OWN_WORDS, "another vocabulary"),
    "unicode": (OWN_WORDS, "another vocabulary"),
    "nul": ({**OWN_WORDS, "from_list": REFUSED}, "another vocabulary|cannot keep"),
    "long text": (OWN_WORDS, "another vocabulary"),
    "numpy text": (OWN_WORDS, "another vocabulary"),
    "bytes": (
        {**NULLS, "collate": KEPT, "from_arrow": KEPT, "from_list": KEPT, "JSON lines": OUTSIDE},
        "got bytes|binary",
    ),
    "datetime": (TIMES, "got datetime"),
    "zone": (TIMES, "got datetime"),
    "zone beside none": (
        {**TIMES, **dict.fromkeys((*PIECES, "map"), REFUSED), **dict.fromkeys(ARROW, OUTSIDE)},
        "got datetime|has a zone",
    ),
    "date": (TIMES, "got date"),
    "nanoseconds": ({"JSON lines": OUTSIDE}, ""),
    "nat": ({**dict.fromkeys(ARROW, REFUSED), "JSON lines": OUTSIDE}, "null at row 0"),
    "two units": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE), "JSON lines": OUTSIDE}, r"datetime64\[n?s\]"),
    "duration": ({"JSON lines": OUTSIDE}, ""),
    "duration beside int": (
        {**NULLS, **dict.fromkeys((*ARROW, "JSON lines"), OUTSIDE)},
        r"int64 beside others of timedelta64\[s\]",
    ),
    "time of day": (
        {**NULLS, "collate": KEPT, "from_arrow": KEPT, "JSON lines": OUTSIDE},
        "got time|type time64",
    ),
    "uuid": ({**NULLS, "collate": KEPT, **dict.fromkeys(ARROW, KEPT), "JSON lines": OUTSIDE}, "got UUID"),
    "null first": ({**NULLS, **dict.fromkeys((*PIECES, "map"), NAN)}, "NoneType|null"),
    "null last": ({**NULLS, **dict.fromkeys((*PIECES, "map"), NAN)}, "NoneType|null"),
    "null row": (NULLS, "NoneType|null|no value|dim 1, trailing|has dim 1 instead of 0|keys and dims"),
    "null text": ({**NULLS, "collate": KEPT}, "NoneType|null|got str"),
    "two kinds": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE)}, "got str"),
    "two depths": ({**NULLS, **dict.fromkeys(ARROW, OUTSIDE)}, "nested deeper|dim"),
}
PLACE = re.compile(r"\bx\b|\bdata\b|\bvals\b")  # the column, or what a door without one calls its argument


def same(found, given):
    """Whether a value is the one that was given: the bits of floats, the moment of times, text as text."""
    if isinstance(given, (list, np.ndarray)):
        return len(found) == len(given) and all(map(same, found, given))
    if isinstance(given, (dt.date, np.datetime64)):
        if getattr(given, "tzinfo", None) is not None:
            given = given.astimezone(UTC).replace(tzinfo=None)
        if getattr(found, "tzinfo", None) is not None:
            found = found.astimezone(UTC).replace(tzinfo=None)
        one, other = np.datetime64(found), np.datetime64(given)
        return one == other or (np.isnat(one) and np.isnat(other))
    if isinstance(given, dt.time) and not isinstance(found, dt.time):  # Arrow's, as the time since midnight
        return np.timedelta64(dt.datetime.combine(dt.date.min, given) - dt.datetime.min) == found
    if isinstance(given, decimal.Decimal):
        return D(str(found)) == given
    if isinstance(given, uuid.UUID):
        return str(found) == str(given)
    if isinstance(given, float):
        return (found != found and given != given) or (
            found == given and np.copysign(1, found) == np.copysign(1, given)
        )
    return found == given and isinstance(found, str) == isinstance(given, str)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS)
def test_a_value_comes_out_as_it_went_in_or_is_refused_with_its_place(tmp_path, door, kind):
    rows = KINDS[kind]
    cells, says = CELLS.get(kind, ({}, ""))
    outcome = cells.get(door, KEPT)
    if outcome == KEPT:
        assert same(DOORS[door](tmp_path, rows), rows)
    elif outcome == NAN:
        filled = [[math.nan if x is None else float(x) for x in row] for row in rows]
        np.testing.assert_equal([list(row) for row in DOORS[door](tmp_path, rows)], filled)
    elif outcome == ASKED:
        found = DOORS[door](tmp_path, rows)
        assert [[x.dtype for x in row] for row in found] == [[np.float32] * len(row) for row in rows]
        assert found == [np.float32(row).tolist() for row in rows] or same(
            found, [np.float32(r) for r in rows]
        )
    elif outcome == OUTSIDE:
        errors = (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError)
        with pytest.raises(errors):
            DOORS[door](tmp_path, rows)
        assert not list(tmp_path.glob("a.nrt"))
    else:
        with pytest.raises((ValueError, TypeError, OverflowError, RuntimeError)) as caught:
            DOORS[door](tmp_path, rows)
        text = f"{caught.value} {caught.value.__cause__ or ''}"
        assert re.search(says, text), text
        assert PLACE.search(text), text
        assert not list(tmp_path.glob("a.nrt"))


# Cells of a table: what comes out, or what the refusal says.
TABLE = {
    "int64": (["-9223372036854775808", "9223372036854775807"], [-(2**63), 2**63 - 1]),
    "uint64": (["18446744073709551615", "0"], [2**64 - 1, 0]),
    "beyond doubles": (["9007199254740993", "1"], [BIG, 1]),
    "int beside float": (["9007199254740993", "0.5"], ["9007199254740993", "0.5"]),
    "int beyond 64 bits": (["18446744073709551616", "1"], ["18446744073709551616", "1"]),
    "both signs": (["9223372036854775809", "-1"], ["9223372036854775809", "-1"]),
    "float64": (["1.7976931348623157e308", "-5e-324"], [1.7976931348623157e308, -5e-324]),
    "minus zero": (["-0.0", "0.5"], [-0.0, 0.5]),
    "infinity": (["inf", "1.5"], [INF, 1.5]),
    "text like numbers": (["0389", "389"], ["0389", "389"]),
    "one word": (["389", "V10"], ["389", "V10"]),
    "long digits": (["0.12345678901234567890", "1.5"], ["0.12345678901234567890", "1.5"]),
    "unicode": (["\u00e9", "e\u0301"], ["\u00e9", "e\u0301"]),
    "long text": (["x" * 70000, "y"], ["x" * 70000, "y"]),
    "date": (["2020-01-02", "0001-01-01"], [dt.date(2020, 1, 2), dt.date(1, 1, 1)]),
    "empty text": (["", "a"], "x: null at line 2"),
    "empty number": (["", "1"], "x: null at line 2"),
    "zone beside none": (["2020-01-02T03:00:00+01:00", "2020-01-02T03:00:00"], "line 3.* has none"),
}


@pytest.mark.parametrize("kind", TABLE)
def test_a_cell_of_a_table_comes_out_as_it_went_in_or_is_refused_with_its_line(tmp_path, kind):
    cells, expected = TABLE[kind]
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{cell},{i}\n" for i, cell in enumerate(cells)))
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=f"a.csv.*{expected}|x.*{expected}"):
            convert(tmp_path, tmp_path / "a.csv")
    else:
        assert same(convert(tmp_path, tmp_path / "a.csv"), expected)
