"""What stands where no value is: one rule for every verb that fills, whatever the dtype."""

import datetime

import numpy as np
import pytest
import varlen as vl
from varlen import _core

DATES = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "M8[D]")
VALUES = {
    "dates": DATES,
    "big-endian dates": DATES.astype(">M8[s]"),
    "spans": np.array([1, 2, 3], "m8[s]"),
    "text": np.array(["a", "bb", "c"]),
    "bytes": np.array([b"a", b"bb", b"c"]),
    "bools": np.array([True, True, True]),
    "complex": np.array([1 + 1j, 2, 3]),
    "halves": np.array([1, 2, 3], np.float16),
    "floats": np.array([1.0, 2, 3], np.float32),
    "integers": np.array([1, 2, 3], np.uint8),
    "records": np.array([(1, 2), (3, 4), (5, 6)], "i4,i4"),
}
FILLS = [0, 5, -1, 1.5, np.nan, np.inf, 1e300, True, 1j, "x", "xyz", b"q"]
FILLS += [
    np.datetime64("NaT"),
    np.datetime64("NaT", "s"),
    np.timedelta64("NaT"),
    np.datetime64("2021-05-05", "s"),
]
FILLS += [
    np.datetime64("2021-05-05T12", "h"),
    np.timedelta64(3, "s"),
    np.timedelta64(1, "ms"),
    2**70,
    -(2**63),
]
FILLS += [datetime.date(2021, 5, 5), datetime.datetime(2021, 5, 5, 12), datetime.timedelta(seconds=3)]
FILLS += ["NaT", "2021-05-05", "2021-05-05T12:00:01.5", b"\xff", "\u00e9", object(), [5], np.array([[5]])]


def joint(values):
    return vl.JointNestedRaggedTensorDict({"t": [values[:2], values[2:2], values[2:]]})


# Each gives the element that stands in a place without a value: sequences of 2, 0 and 1 rows.
VERBS = {
    "to_dense": lambda v, fill: vl.Ragged(v, [2, 0, 1]).to_dense(fill=fill)[1, 0],
    "shift": lambda v, fill: vl.Ragged(v, [2, 0, 1]).shift(1, fill=fill).values[0],
    "fill_empty_rows": lambda v, fill: vl.Ragged(v, [2, 0, 1]).fill_empty_rows(fill)[0].values[2],
    "sequence_pad": lambda v, fill: vl.sequence_pad(vl.Ragged(v, [2, 0, 1]), fill)[0][1, 0],
    "sequence_enumerate": lambda v, fill: vl.sequence_enumerate(vl.Ragged(v, [2, 0, 1]), 2, fill).values[
        1, 1
    ],
    "first": lambda v, fill: vl.Ragged(v, [2, 0, 1]).first(empty=fill)[1],
    "pad": lambda v, fill: vl.ops.pad([v[:2], v[2:]], fill=fill)[1, 1],
    "list2padded": lambda v, fill: vl.ops.list2padded([v[:2], v[2:]], fill=fill).data[1, 1],
    "Collate": lambda v, fill: vl.data.Collate(fill=fill)([{"t": v[:2]}, {"t": v[:0]}])["t"][1, 0],
    "joint to_dense": lambda v, fill: joint(v).to_dense(fill={"t": fill})["t"][1, 0],
    "batch": lambda v, fill: vl.Dataset(joint(v)).batch([0, 1], fill=fill)["t"][1, 0],
}
NO_JOINT = {"text", "bytes", "complex", "records", "halves"}  # kept as other dtypes there, or not at all


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_and_refuses_the_same_fills(verb, kind):
    values = VALUES[kind]
    if verb in ("joint to_dense", "batch") and kind in NO_JOINT:
        values = VALUES["integers"]
    for fill in FILLS:
        try:
            expected = _core.fill_row(fill, values.dtype)
        except ValueError:
            with pytest.raises(ValueError, match="does not fit"):
                VERBS[verb](values, fill)
            continue
        result = VERBS[verb](values, fill)
        assert np.array([result], values.dtype).tobytes() == expected.tobytes(), (verb, fill)


def test_zero_is_the_zero_of_any_dtype():
    for values in VALUES.values():
        assert not any(_core.fill_row(0, values.dtype).tobytes())
        assert _core.fill_row(0, values.dtype, (2, 3)).shape == (1, 2, 3)


def test_nan_and_nat_are_the_same_to_times_and_other_to_numbers():
    for missing in (np.nan, np.datetime64("NaT", "h"), np.timedelta64("NaT")):
        for kind in ("dates", "spans", "big-endian dates"):
            assert np.isnat(_core.fill_row(missing, VALUES[kind].dtype)).all()
    for kind in ("floats", "integers", "bools", "text", "complex"):
        with pytest.raises(ValueError, match=r"x: .*NaT.* does not fit"):
            _core.fill_row(np.datetime64("NaT"), VALUES[kind].dtype, (), "x")


def test_times_take_integers_of_their_unit_and_no_other_numbers():
    assert _core.fill_row(31, DATES.dtype)[0] == np.datetime64("1970-02-01")
    assert _core.fill_row(np.uint8(31), DATES.dtype.newbyteorder(">"))[0] == np.datetime64("1970-02-01")
    for fill in (2**64 - 1, 1.5, True, np.timedelta64(1, "D")):
        with pytest.raises(ValueError, match=r"fill: .* does not fit datetime64"):
            _core.fill_row(fill, DATES.dtype)


MISSING = {"M8[D]": "NaT", ">M8[s]": "NaT", "m8[s]": "NaT", ">f4": np.nan, "f2": np.nan, "i4": 0, "?": 0}


@pytest.mark.parametrize("dtype", MISSING)
@pytest.mark.parametrize("width", [(), (2,)])
def test_a_flattened_batch_marks_missing_values_as_a_flattened_joint_does(dtype, width):
    values = np.ones((3, *width), "i8").astype(dtype)
    gap = np.full(width, MISSING[dtype], dtype)
    J = vl.JointNestedRaggedTensorDict({"t": [values[:2], values[2:]], "x": [[[1], [1, 2]], [[1, 2, 3]]]})
    one = values[0]
    expected = np.array([one, one, gap, one, gap, gap], dtype)
    np.testing.assert_array_equal(J.flatten(fill_mode="nan").tensors["dim1/t"], expected)
    batch = vl.Dataset(J).batch([0, 1], flatten=True, fill_mode="nan", layout="ragged")
    np.testing.assert_array_equal(batch["t"], expected)


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"])
def test_dtypes_of_other_packages_have_their_own_missing_value(name):
    dtype = np.dtype(getattr(pytest.importorskip("ml_dtypes"), name))
    level = _core.Level([1, 2, 3])
    joint = _core.Joint(["t"], [1], [np.ones(3, dtype)], [_core.Level([2, 1]), level])
    found = joint.flatten("nan").values("t").astype(np.float32)
    gap = 0 if name == "float4_e2m1fn" else np.nan
    np.testing.assert_array_equal(found, np.float32([1, 1, gap, 1, gap, gap]))


def test_dates_of_python_and_their_texts_are_times_where_nothing_is_lost():
    day, noon = datetime.date(2021, 5, 5), datetime.datetime(2021, 5, 5, 12)
    seconds = DATES.astype("M8[s]")
    for fill, days, in_seconds in [
        (day, "2021-05-05", "2021-05-05T00:00:00"),
        (noon, None, "2021-05-05T12:00:00"),
        ("2021-05-05", "2021-05-05", "2021-05-05T00:00:00"),
        ("2021-05-05T12", None, "2021-05-05T12:00:00"),
        ("NaT", "NaT", "NaT"),
        ("2021-05-05T00:00:00.5", None, None),
        ("soon", None, None),
        (noon.replace(tzinfo=datetime.timezone.utc), None, None),
    ]:
        for values, expected in ((DATES, days), (seconds, in_seconds)):
            if expected is None:
                with pytest.raises(ValueError, match=r"fill: .* (does not fit|does not hold|time zone)"):
                    vl.Ragged(values, [2, 1]).to_dense(fill=fill)
            else:
                assert str(vl.Ragged(values, [2, 1]).to_dense(fill=fill)[1, 1]) == expected
    spans = vl.Ragged(np.arange(3).astype("m8[s]"), [2, 1])
    assert spans.to_dense(fill=datetime.timedelta(1))[1, 1] == np.timedelta64(86400, "s")
    for fill in (datetime.timedelta(microseconds=1), "3", day):
        with pytest.raises(ValueError, match=r"fill: .* does not fit timedelta64\[s\]"):
            spans.to_dense(fill=fill)
    rows = vl.Ragged(np.repeat(seconds[:, None], 2, axis=1), [2, 1])
    assert rows.to_dense(fill=[day, "NaT"])[1, 1].tolist() == [datetime.datetime(2021, 5, 5), None]
    with pytest.raises(ValueError, match=r"fill: '3000-01-01' does not fit datetime64\[ns\]"):
        vl.Ragged(DATES.astype("M8[ns]"), [2, 1]).to_dense(fill="3000-01-01")


@pytest.mark.parametrize("edge", ["prefix", "suffix"])
def test_edges_of_batches_take_the_times_that_fills_take(edge):
    at = 0 if edge == "prefix" else -1
    for dtype in ("M8[D]", "M8[s]"):
        ds = vl.Dataset(joint(DATES.astype(dtype)))
        for fill in [
            np.datetime64("2021-05-05", "D"),
            np.datetime64("2021-05-05", "s"),
            3,
            "NaT",
            "2021-05-05",
        ]:
            found = ds.batch([0], **{edge: {"t": [fill]}})["t"][0, at]
            np.testing.assert_array_equal(found, _core.fill_row(fill, np.dtype(dtype))[0])
        with pytest.raises(ValueError, match=f"{edge} of 't': .* does not fit datetime64"):
            ds.batch([0], **{edge: {"t": [1.5]}})
    with pytest.raises(ValueError, match=rf"{edge} of 't': .* does not fit datetime64\[D\]"):
        vl.Dataset(joint(DATES)).batch([0], **{edge: {"t": [np.datetime64("2021-05-05T12", "h")]}})


def test_words_of_a_vocabulary_are_taken_as_their_ids():
    J = vl.JointNestedRaggedTensorDict({"c": [["a", "b"], ["c"]], "y": [1.5, 2.5]}, schema={"c": str})
    ds = vl.Dataset(J)
    for fill in ("c", {"c": "c"}, {"c": 3}):
        for dense in (
            J.to_dense(fill=fill),
            ds.batch([0, 1], fill=fill),
            vl.data.Collate(fill=fill)([J[0], J[1]]),
        ):
            assert dense["c"].tolist() == [[1, 2], [3, 3]]
    assert ds.batch([1], prefix={"c": ["b", "a"]})["c"].tolist() == [[2, 1, 3]]
    for call in (J.to_dense, lambda fill: ds.batch([0, 1], fill=fill)):
        with pytest.raises(
            ValueError, match=r"fill of 'c': 'z' is not one of the 4 words of the vocabulary; pass"
        ):
            call(fill="z")
        with pytest.raises(
            ValueError, match=r"fill of 'y': 'c' does not fit float32 without a vocabulary; pass"
        ):
            call(fill={"y": "c"})
    with pytest.raises(ValueError, match=r"prefix of 'c': 'z' is not one of the 4 words"):
        ds.batch([1], prefix={"c": ["z"]})


def test_text_takes_text_alone_and_ascii_both_ways():
    for values, same in ((VALUES["text"], "z"), (VALUES["bytes"], b"z")):
        r = vl.Ragged(values, [2, 1])
        for fill in ("z", b"z", np.str_("z"), np.bytes_(b"z")):
            assert r.to_dense(fill=fill)[1, 1] == same
        for fill in (5, 1.5, True, 1j, "xyz", DATES[0]):
            with pytest.raises(ValueError, match=r"fill: .* does not fit"):
                r.to_dense(fill=fill)
    with pytest.raises(ValueError, match="does not fit"):
        vl.Ragged(VALUES["bytes"], [2, 1]).to_dense(fill="\u00e9")
    with pytest.raises(ValueError, match="does not fit"):
        vl.Ragged(VALUES["text"], [2, 1]).to_dense(fill=b"\xff")


def test_a_fill_for_all_keys_is_asked_to_fit_padded_keys_alone():
    J = vl.JointNestedRaggedTensorDict({"x": [[1.5, 2.5], [3.5]], "y": np.array([1, 2], np.uint8)})
    ds, expected = vl.Dataset(J), [[1.5, 2.5], [3.5, -1]]
    assert J.to_dense(fill=-1)["x"].tolist() == expected
    assert ds.batch([0, 1], fill=-1)["x"].tolist() == expected
    assert vl.data.Collate(fill=-1)([J[0], J[1]])["x"].tolist() == expected
    assert ds.batch([0, 1], fill={"x": -1})["y"].tolist() == [1, 2]
    inner = vl.Dataset(vl.JointNestedRaggedTensorDict({"x": [[1.5], [2.5]], "n": [[3], [2]]}))
    with pytest.raises(ValueError, match="fill of 'n': -1 does not fit uint8"):
        inner.batch([0, 1], fill=-1)
    assert inner.batch([0, 1], fill=-1, layout="ragged")["n"].tolist() == [3, 2]


@pytest.mark.parametrize("fill", [True, np.True_, 1.0, 2**63, np.uint64(2**63)], ids=repr)
@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]"])
def test_what_numpy_takes_for_a_time_fills_none(fill, dtype):
    times = vl.Ragged(np.arange(3).astype(dtype), [2, 1])
    with pytest.raises(ValueError, match=r"fill: .* does not fit (datetime|timedelta)64\[s\]"):
        times.to_dense(fill=fill)
