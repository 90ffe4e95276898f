"""Times, durations and text in order, against NumPy on each sequence alone."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import varlen as vl

LENGTHS = [3, 0, 5, 1, 2, 4]
TOTAL = sum(LENGTHS)
OUTER = [2, 0, 3, 1]

DTYPES = ["M8[s]", ">M8[D]", "m8[ms]", ">m8[us]", "U3", ">U2", "S2"]
TIMED = DTYPES[:4]


def drawn(dtype: str, shape: Any = TOTAL, nat: bool = True) -> Any:
    rng = np.random.default_rng(5)
    if np.dtype(dtype).kind in "US":
        words = np.array(["", "a", "b", "ab", "zz", "B"])
        return rng.choice(words, shape).astype(dtype)
    numbers = rng.integers(-4, 4, shape)
    if nat:
        numbers[rng.random(shape) < 0.15] = np.iinfo(np.int64).min
    return numbers.astype("i8").view(dtype.lstrip(">")).astype(dtype)


def sequences(values: Any, lengths: Any = LENGTHS) -> list[Any]:
    return np.split(values, np.cumsum(lengths)[:-1])


def same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype.newbyteorder("=") or found.dtype.kind in "US"
    assert found.dtype.kind == expected.dtype.kind
    assert (found == expected).all() or np.array_equal(found, expected, equal_nan=found.dtype.kind in "mM")


def best_of(op: str, rows: Any) -> Any:
    """NumPy has no maximum of text along an axis before 2.0, Python has."""
    if rows.dtype.kind in "US":
        return np.sort(rows, axis=0)[-1 if op == "max" else 0]
    return getattr(rows, op)(axis=0)


@pytest.mark.parametrize("shape", [(TOTAL,), (TOTAL, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["max", "min"])
def test_extremes_are_those_of_numpy_and_nat_is_one(op: str, dtype: str, shape: Any) -> None:
    values = drawn(dtype, shape)
    empty = values[0].reshape(-1)[0]
    expected = [best_of(op, rows) if len(rows) else np.full(shape[1:], empty) for rows in sequences(values)]
    r = vl.Ragged(values, LENGTHS)
    same(getattr(r, op)(empty=empty), np.stack(expected).astype(dtype))
    out = np.empty((len(LENGTHS), *shape[1:]), np.dtype(dtype).newbyteorder("="))
    function = getattr(vl.ops, f"reduce_{op}")
    assert function(values, LENGTHS, empty=empty, out=out) is out
    same(out, np.stack(expected).astype(dtype))
    dense = vl.ops.reduce_dense(r.to_dense(), LENGTHS, op, empty=empty)
    same(dense, np.stack(expected).astype(dtype))
    full = [rows for rows in sequences(values) if len(rows)]
    places = getattr(r, f"arg{op}")(empty=-1)
    found = np.stack([best_places(op, rows) for rows in full])
    same(places[np.array(LENGTHS) > 0], found)
    assert (places[np.array(LENGTHS) == 0] == -1).all()


def best_places(op: str, rows: Any) -> Any:
    best = best_of(op, rows)
    return ((rows == best) | ((rows != rows) & (best != best))).argmax(axis=0)


def test_an_extreme_of_nothing_is_refused_and_text_that_does_not_fit_too() -> None:
    r = vl.Ragged(np.array(["a", "b"]), [2, 0])
    with pytest.raises(ValueError, match="sequence 1 is empty"):
        r.max()
    with pytest.raises((ValueError, OverflowError), match="empty"):
        r.max(empty="longer")
    same(
        vl.Ragged(np.array([5], "M8[s]"), [1, 0]).max(empty=np.datetime64("NaT")),
        np.array([5, "NaT"], "M8[s]"),
    )
    nothing = vl.Ragged(np.empty(0, "U3"), [0, 0])
    same(nothing.max(empty="x"), np.array(["x", "x"], "U3"))
    assert nothing.sort().to_list() == [[], []]
    assert nothing.unique().to_list() == [[], []]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("op", ["max", "min"])
def test_running_extremes_keep_the_first_nat_and_name_the_row(op: str, dtype: str) -> None:
    values = drawn(dtype)
    function = getattr(vl.ops, f"cum{op}")
    expected = [best_of(op, rows[: i + 1]) for rows in sequences(values) for i in range(len(rows))]
    found, which = function(values, LENGTHS, which=True)
    same(found, np.array(expected, dtype))
    same(function(values, LENGTHS), np.array(expected, dtype))
    same(
        which,
        np.array([best_places(op, rows[: i + 1]) for rows in sequences(values) for i in range(len(rows))]),
    )
    backwards = [best_of(op, rows[i:]) for rows in sequences(values) for i in range(len(rows))]
    same(function(values, LENGTHS, reverse=True), np.array(backwards, dtype))


def test_a_running_extreme_of_no_rows_is_the_end_of_the_order() -> None:
    times = np.array([5, 3], "M8[s]")
    assert vl.ops.cummax(times, [2], exclusive=True).astype("i8").tolist() == [-(2**63) + 1, 5]
    assert vl.ops.cummin(times, [2], exclusive=True).astype("i8").tolist() == [2**63 - 1, 5]
    assert vl.ops.cummax(np.array(["b", "a"]), [2], exclusive=True).tolist() == ["", "b"]
    with pytest.raises(TypeError, match="cummin: <U1 has no highest text"):
        vl.ops.cummin(np.array(["b"]), [1], exclusive=True)


def descending(rows: Any) -> Any:
    """Places in descending order: the earlier of equal ones first, NaT last."""
    gaps = np.isnat(rows) if rows.dtype.kind in "mM" else np.zeros(len(rows), bool)
    codes = np.unique(rows, return_inverse=True)[1]
    return np.lexsort((-codes, gaps))


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorting_keeps_equal_rows_in_their_order_and_puts_nat_last(dtype: str) -> None:
    values = drawn(dtype)
    parts = sequences(values)
    r = vl.Ragged(values, LENGTHS)
    places = [np.argsort(rows, kind="stable") for rows in parts]
    same(r.sort().values, np.concatenate([rows[p] for rows, p in zip(parts, places, strict=True)]))
    same(r.argsort().values, np.concatenate(places))
    backwards = [descending(rows) for rows in parts]
    same(
        r.sort(descending=True).values, np.concatenate([x[p] for x, p in zip(parts, backwards, strict=True)])
    )
    same(r.argsort(descending=True).values, np.concatenate(backwards))
    best, which = r.topk(2)
    same(best.values, np.concatenate([x[p][:2] for x, p in zip(parts, backwards, strict=True)]))
    same(which.values, np.concatenate([p[:2] for p in backwards]))
    worst, _ = r.topk(2, largest=False)
    same(worst.values, np.concatenate([x[p][:2] for x, p in zip(parts, places, strict=True)]))
    out = np.empty(TOTAL, values.dtype.newbyteorder("="))
    assert vl.ops.sort(values, LENGTHS, out=out) is out
    same(out, r.sort().values)
    same(np.sort(r).values, r.sort().values)
    same(np.argsort(r, axis=-1, kind="stable").values, r.argsort().values)


@pytest.mark.parametrize("dtype", DTYPES)
def test_distinct_rows_and_ranks_are_those_of_numpy(dtype: str) -> None:
    values = drawn(dtype)
    parts = sequences(values)
    found, inverse, counts = vl.ops.unique(values, LENGTHS, inverse=True, counts=True)
    expected = [np.unique(rows, return_inverse=True, return_counts=True) for rows in parts]
    same(found.values, np.concatenate([each[0] for each in expected]))
    assert found.lengths.tolist() == [len(each[0]) for each in expected]
    same(inverse, np.concatenate([each[1] for each in expected]))
    same(counts.values, np.concatenate([each[2] for each in expected]))
    same(vl.ops.rank(values, LENGTHS, method="dense"), np.concatenate([each[1] + 1 for each in expected]))
    backwards = np.concatenate([np.argsort(descending(rows)) + 1 for rows in parts])
    same(vl.ops.rank(values, LENGTHS, descending=True), backwards)


@pytest.mark.parametrize("dtype", DTYPES)
def test_levels_and_axes_order_as_they_order_numbers(dtype: str) -> None:
    values = drawn(dtype, nat=False)
    codes = np.unique(values, return_inverse=True)[1]
    r, numbers = (vl.Ragged(x, levels=[vl.Level(OUTER), vl.Level(LENGTHS)]) for x in (values, codes))
    words = np.unique(values)
    for options in ({"level": 0}, {"level": 1}, {"axis": 0}, {"axis": 1}, {"axis": 2}, {"axis": (0, 1, 2)}):
        found, by_number = r.max(**options, empty=values[0]), numbers.max(**options, empty=codes[0])
        found, by_number = (x.values if isinstance(x, vl.Ragged) else x for x in (found, by_number))
        same(found, words[by_number])
    for options in ({"level": 0}, {"axis": 0}, {"axis": 1}):
        same(r.sort(**options).values, words[numbers.sort(**options).values])
        same(r.cummin(**options).values, words[numbers.cummin(**options).values])
    same(np.max(r, axis=(0, 1, 2)), words.max() if values.dtype.kind in "mM" else words[-1])
    if values.dtype.kind in "mM":  # NumPy has no maximum of two texts
        whole = np.max(r, axis=2, initial=words[-1])
        same(whole.values, np.full(sum(OUTER), words[-1]))


@pytest.mark.parametrize("dtype", ["m8[ms]", ">m8[us]"])
def test_durations_add_up_as_in_numpy(dtype: str) -> None:
    values = drawn(dtype, (TOTAL, 2))
    parts = sequences(values)
    r = vl.Ragged(values, LENGTHS)
    zero = np.zeros(2, dtype)
    same(r.sum(), np.stack([rows.sum(axis=0) for rows in parts]))
    same(r.mean(), np.stack([rows.mean(axis=0) if len(rows) else zero for rows in parts]).astype(dtype))
    same(r.cumsum().values, np.concatenate([rows.cumsum(axis=0) for rows in parts]))
    backwards = [rows[::-1].cumsum(axis=0)[::-1] for rows in parts]
    same(r.cumsum(reverse=True).values, np.concatenate(backwards))
    same(r.any(), np.stack([(rows.astype("i8") != 0).any(axis=0) for rows in parts]))
    same(
        r.sum(empty=np.timedelta64("NaT")),
        np.stack([x.sum(0) if len(x) else zero + np.timedelta64("NaT") for x in parts]),
    )
    same(r.diff().values, np.concatenate([np.diff(rows, axis=0) for rows in parts if len(rows)]))
    same(np.sum(r, axis=1), r.sum())


def test_the_deviation_of_durations_is_one_rounded_to_their_unit() -> None:
    values = np.array([1, 3, 5, "NaT", 2], "m8[s]")
    same(vl.ops.reduce_std(values, [3, 2, 0]), np.array([2, "NaT", "NaT"], "m8[s]"))
    same(vl.ops.reduce_std(values[:3], [3], ddof=1), np.array([2], "m8[s]"))


def test_a_mean_of_times_is_exact_beyond_what_their_sum_holds() -> None:
    late = np.array(["2200-01-01", "2200-01-03", "NaT", "1969-12-31T23:59:59.999999998"], "M8[ns]")
    expected = np.array(["2200-01-02", "NaT", "1969-12-31T23:59:59.999999998", "NaT"], "M8[ns]")
    same(vl.ops.reduce_mean(late, [2, 1, 1, 0]), expected)
    many = np.repeat(late[:2], 500)
    same(vl.ops.reduce_mean(many, [1000]), expected[:1])
    long = np.array([2**62, 2**62, 2**62, -7, 0], "m8[s]")
    same(vl.ops.reduce_mean(long, [3, 2]), np.array([2**62, -3], "m8[s]"))


def test_durations_are_multiplied_and_divided_and_times_moved() -> None:
    r = vl.Ragged(np.array([4, -6, 9], "m8[s]"), [2, 1])
    t = vl.Ragged(np.array([10, 20, 30], "M8[s]"), [2, 1])
    assert (r / np.timedelta64(2, "s")).to_list() == [[2.0, -3.0], [4.5]]
    same((r * 2).values, np.array([8, -12, 18], "m8[s]"))
    same((r / 2).values, np.array([2, -3, 4], "m8[s]"))
    same(abs(r).values, np.array([4, 6, 9], "m8[s]"))
    same((t - t).values, np.zeros(3, "m8[s]"))
    same((t + r).values, np.array([14, 14, 39], "M8[s]"))
    same((t - t.min()[:, None]).values, np.array([0, 10, 0], "m8[s]"))
    same(t.diff().values, np.array([10], "m8[s]"))
    windows = vl.Ragged(np.array([1, 3, 8], "m8[s]"), [3]).sliding_window(2)
    same(windows.mean(axis=2).values, np.array([2, 5], "m8[s]"))
    assert t.searchsorted(np.array([15, 30], "M8[s]")).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("verb", "dtype"),
    [("sum", "M8[s]"), ("prod", "m8[s]"), ("mean", "U1"), ("std", "M8[s]"), ("var", "m8[s]"), ("norm", "S1"),
     ("logsumexp", "m8[s]"), ("cumsum", "M8[s]"), ("cumprod", "m8[s]"), ("softmax", "U1"), ("diff", "S1"),
     ("log_softmax", "m8[s]"), ("any", "U1")],
)  # fmt: skip
def test_what_has_no_meaning_is_refused_by_the_names_of_verb_and_dtype(verb: str, dtype: str) -> None:
    values = np.zeros(3, dtype)
    with pytest.raises(
        TypeError,
        match=rf"^X: .*, got {re.escape(str(values.dtype))}, for which {verb} has no meaning; ",
    ):
        getattr(vl.Ragged(values, [2, 1]), verb)()


@pytest.mark.parametrize("values", [np.array(["a", "b", "c"]), np.array([1, 2, 3], "M8[s]")], ids=str)
@pytest.mark.parametrize("other", [1, 1.5, True, np.int8(1)], ids=str)
def test_text_and_times_equal_no_number_as_in_numpy(values, other) -> None:
    r, numbers = vl.Ragged(values, [2, 1]), vl.Ragged(np.arange(3), [2, 1])
    assert (r == other).to_list() == (r == numbers).to_list() == [[False, False], [False]]
    assert (r != other).to_list() == (r != numbers).to_list() == [[True, True], [True]]
    with pytest.raises(TypeError, match=r"^equal: has no meaning for"):
        np.equal(r, other)


def test_arithmetic_that_has_no_meaning_is_refused_by_name() -> None:
    t = vl.Ragged(np.zeros(3, "M8[s]"), [2, 1])
    with pytest.raises(TypeError, match=r"^multiply: has no meaning for datetime64\[s\] and int64$"):
        t * 2
    with pytest.raises(TypeError, match=r"^absolute: has no meaning for datetime64\[s\]$"):
        abs(t)
    with pytest.raises(TypeError, match=r"^X: expected numbers, got datetime64"):
        t.attention_pool(np.zeros(3))


def test_named_axes_order_times_and_text() -> None:
    time = vl.Dim("time", lengths=[2, 1])
    for values in (np.array([5, 3, 9], "M8[s]"), np.array(["b", "a", "c"])):
        x = vl.Data(values, [vl.dims.batch_dim, time])
        same(vl.dims.reduce(x, "max", time).values, values[[0, 2]])
        same(vl.dims.reduce(x, "argmin", time).values, np.array([1, 0]))
    durations = vl.Data(np.array([5, 3, 9], "m8[s]"), [vl.dims.batch_dim, time])
    same(vl.dims.reduce(durations, "sum", time).values, np.array([8, 9], "m8[s]"))
