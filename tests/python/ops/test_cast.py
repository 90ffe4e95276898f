"""cast: NumPy's numbers where they fit, a refusal that names the element where they do not."""

import math

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from hypothesis import given
from hypothesis import strategies as st
from varlen import _core

INTS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f2", ml_dtypes.bfloat16, "f4", "f8"]
ALL = ["?", *INTS, *FLOATS]
NUMBERS = [0, 1, -1, 2, 127, 128, 255, 256, -128, -129, 32767, 32768, 65504, 65535, 65536, 2**24, 2**24 + 1]
NUMBERS += [2**31 - 1, 2**31, -(2**31), 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)]
REALS = [0.5, -0.0, 1.5, 1e-8, 1e5, 1e300, -1e300, math.inf, -math.inf, math.nan, 5e-324, 65519.0, 65520.0]


def is_float(dtype):
    return np.dtype(dtype) in map(np.dtype, FLOATS)


def bounds(dtype):
    if np.dtype(dtype).kind == "b":
        return 0, 1
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def fits(x, dtype):
    """What stays finite fits a float, whole numbers in range fit the rest."""
    if is_float(dtype):
        with np.errstate(over="ignore"):
            return not math.isfinite(x) or bool(np.isfinite(np.float64(x).astype(dtype)))
    low, high = bounds(dtype)
    return math.isfinite(x) and x == int(x) and low <= int(x) <= high


def samples(dtype):
    if is_float(dtype):
        with np.errstate(over="ignore"):
            return np.array([*map(float, NUMBERS), *REALS]).astype(dtype)
    low, high = bounds(dtype)
    return np.array([x for x in NUMBERS if low <= x <= high], dtype)


@pytest.mark.parametrize("to", ALL, ids=str)
@pytest.mark.parametrize("source", ALL, ids=str)
def test_cast_equals_numpy_where_it_fits_and_names_what_does_not(source, to):
    values = samples(source)
    exact = [float(x) if is_float(source) else int(x) for x in values]
    good = [fits(x, to) for x in exact]
    if not all(good):
        with pytest.raises(ValueError, match=rf"values: element {good.index(False)} .*does not fit"):
            _core.cast(values, to)
    kept = values[np.array(good)]
    got = _core.cast(np.tile(kept, 20), to)  # long enough for vectors and their tail
    assert got.dtype == np.dtype(to)
    with np.errstate(over="ignore", invalid="ignore"):
        want = kept.astype(to)
    np.testing.assert_array_equal(got.astype("f8"), np.tile(want, 20).astype("f8"))
    assert is_float(to) or got.tolist() == np.tile(want, 20).tolist()


@pytest.mark.parametrize("half", ["f2", ml_dtypes.bfloat16], ids=str)
def test_cast_of_every_half_is_exact(half):
    values = np.arange(65536, dtype=np.uint16).view(half)
    np.testing.assert_array_equal(_core.cast(values, "f4"), values.astype("f4"))
    back = _core.cast(values.astype("f4"), half)
    number = ~np.isnan(values.astype("f4"))
    np.testing.assert_array_equal(back.view(np.uint16)[number], values.view(np.uint16)[number])
    assert np.isnan(back.astype("f4")[~number]).all()


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=200))
def test_cast_to_halves_rounds_as_numpy_does(bits):
    values = np.array(bits, np.uint32).view(np.float32)
    for half in ("f2", ml_dtypes.bfloat16):
        with np.errstate(over="ignore", invalid="ignore"):
            want = values.astype(half).astype("f4")
        lost = np.isfinite(values) & np.isinf(want)
        if lost.any():
            with pytest.raises(ValueError, match=f"element {int(lost.argmax())} .*does not fit"):
                _core.cast(values, half)
        np.testing.assert_array_equal(_core.cast(values[~lost], half).astype("f4"), want[~lost])


def test_cast_rounds_once():
    # just above the middle between two halves, by less than a float can tell
    above = 1 + 2.0**-8 + 2.0**-40
    assert float(_core.cast(np.array([above]), ml_dtypes.bfloat16)[0]) == 1 + 2.0**-7
    assert float(_core.cast(np.array([1 + 2.0**-11 + 2.0**-40]), "f2")[0]) == 1 + 2.0**-10
    assert float(_core.cast(np.array([-(2**62) - 2**54 - 1]), ml_dtypes.bfloat16)[0]) == -(2**62) - 2**55
    assert float(_core.cast(np.array([2**63 + 2**55 + 1], np.uint64), ml_dtypes.bfloat16)[0]) == 2**63 + 2**56


@pytest.mark.parametrize("source", FLOATS, ids=str)
@pytest.mark.parametrize("to", ["i1", "f4", "f8", "?"])
def test_cast_replaces_nan(source, to):
    values = np.array([1, np.nan, 0, np.nan] * 9).astype(source)
    assert _core.cast(values, to, nan=1).tolist() == [1, 1, 0, 1] * 9
    if not is_float(to):
        with pytest.raises(ValueError, match=r"element 1 \(row 1\) is nan, which does not fit"):
            _core.cast(values, to)


def test_cast_names_the_row_of_wide_values():
    values = np.zeros((5000, 3))
    values[4321, 2] = 0.5
    with pytest.raises(
        ValueError, match=r"values: element 12965 \(row 4321\) is 0.5, which does not fit int64"
    ):
        _core.cast(values, "i8")


def test_cast_refuses_what_is_no_number():
    with pytest.raises(TypeError, match="values: complex128 does not become float64"):
        _core.cast(np.zeros(3, complex), "f8")
    with pytest.raises(TypeError, match="values: arrays of Python objects"):
        _core.cast(np.zeros(3, object), "f8")
    assert _core.cast(np.arange(3, dtype=">i2"), "i8").tolist() == [0, 1, 2]
    assert _core.cast(np.zeros((0, 3)), "i1").shape == (0, 3)


@pytest.mark.parametrize("dtype", [">i2", ">u4", ">i8", ">f4", ">f8"])
def test_fills_of_the_other_byte_order_are_held_to_the_same(dtype):
    native = np.dtype(dtype).newbyteorder("=")
    row = np.zeros((1, 2))
    for fill in (7, 0, [5, 6], np.int16(3)):
        result = vl.Ragged(row.astype(dtype), [1, 0]).to_dense(fill=fill)
        assert result.dtype == dtype
        assert result.tolist() == vl.Ragged(row.astype(native), [1, 0]).to_dense(fill=fill).tolist()
    if np.dtype(dtype).kind != "f":
        for fill in (70000.5, 2**64, -(2**63) - 1):
            with pytest.raises(ValueError, match=r"fill: .* does not fit"):
                vl.Ragged(row.astype(dtype), [1, 0]).to_dense(fill=fill)
    if dtype == ">i2":
        with pytest.raises(ValueError, match="fill: 70000 does not fit int16"):
            vl.Ragged(row.astype(dtype), [1, 0]).to_dense(fill=70000)


def test_fills_of_text_and_dates_are_not_cut():
    text, days = vl.Ragged(np.array(["a"]), [1, 0]), vl.Ragged(np.array([1], "M8[D]"), [1, 0])
    assert text.to_dense(fill="z").tolist() == [["a"], ["z"]]
    assert np.isnat(days.to_dense(fill=np.datetime64("NaT", "s"))[1, 0])
    assert days.to_dense(fill=np.datetime64("2020-01-01T00"))[1, 0] == np.datetime64("2020-01-01")
    for fill in (True, 1e40, 7, 12, 1 + 5j, b"\xff"):
        with pytest.raises(ValueError, match=r"fill: .* does not fit <U1"):
            text.to_dense(fill=fill)
    hours = vl.Ragged(np.array([1], "m8[D]"), [1, 0])
    for r, fill in ((text, "zz"), (days, np.datetime64("2020-01-01T12")), (hours, np.timedelta64(25, "h"))):
        with pytest.raises(ValueError, match=r"fill: .* does not fit"):
            r.to_dense(fill=fill)
