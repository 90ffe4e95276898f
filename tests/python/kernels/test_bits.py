"""Blocks of bits: every number comes back, from any range, and nothing that a file says is trusted."""

from __future__ import annotations

import struct

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.bits import decode
from varlen import _core

BLOCK, RECORD = 1024, 24
DTYPES = ["u1", "i1", "?", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8", "M8[s]", "c8"]


def entry(values):
    blocks, records = _core.encode_bits(values)
    return np.concatenate([blocks, records])


def words(bits, dtype, begin, end):
    return bits.read([begin], [end]).view(dtype)


def same(a, b):
    is_same = a == b  # without a difference for the eye, which takes minutes
    assert is_same


def check(values):
    """The entry of the values, whose numbers come back: all, some, and as the oracle reads them."""
    data, n, width = entry(values), values.size, values.itemsize
    bits = _core.Bits(data, n, width)
    raw = values.reshape(-1).view(np.uint8)
    same(bits.read([0], [n]).tobytes(), raw.tobytes())
    same(decode(data.tobytes(), n, width), raw.tobytes())
    rng = np.random.default_rng(n)
    begins = rng.integers(0, n + 1, 40)
    ends = np.minimum(n, begins + rng.integers(0, 1500, 40))
    parts = [raw[b * width : e * width] for b, e in zip(begins, ends, strict=True)]
    same(bits.read(begins, ends).tobytes(), np.concatenate(parts).tobytes())
    return data


def kinds(data, n):
    records = data[len(data) - RECORD * -(-n // BLOCK) :].reshape(-1, RECORD)
    return set(records[:, 16].tolist())


@given(
    st.sampled_from([np.dtype(d) for d in DTYPES]).flatmap(
        lambda dtype: hnp.arrays(dtype, st.integers(1, 60), elements=hnp.from_dtype(dtype), fill=st.nothing())
    ),
    st.integers(1, 40),
)
def test_numbers_of_every_dtype_come_back_bit_for_bit(values, repeats):
    check(np.repeat(values, repeats))
    check(np.tile(values, repeats))


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_numbers_are_an_entry_of_no_bytes(dtype):
    data = entry(np.empty(0, dtype))
    assert len(data) == 0
    assert len(_core.Bits(data, 0, np.dtype(dtype).itemsize).read([0], [0])) == 0


@pytest.mark.parametrize("bits", [0, 1, 2, 7, 8, 13, 24, 25, 26, 31, 32, 33, 47, 56, 57, 58, 63, 64])
@pytest.mark.parametrize("n", [1, 15, 16, 17, 1023, 1024, 1025, 2500])
def test_codes_of_every_width_come_back(bits, n):
    rng = np.random.default_rng(bits)
    numbers = (
        rng.integers(0, 2**bits, n, dtype=np.uint64) if bits < 64 else rng.integers(0, 2**64, n, np.uint64)
    )
    check(numbers + np.uint64(12345))
    if bits <= 32:
        check(numbers.astype(np.uint32))
    if bits <= 16:
        check(numbers.astype(np.uint16))
    check(np.cumsum(numbers))


def test_each_block_takes_the_kind_that_its_numbers_need():
    rng = np.random.default_rng(0)
    n = 3000
    assert kinds(check(rng.integers(0, 5000, n)), n) == {1}
    assert kinds(check(np.cumsum(rng.integers(0, 9, n))), n) == {2}
    assert kinds(check(np.round(rng.lognormal(3, 1, n), 2)), n) == {3}
    assert kinds(check(np.round(rng.lognormal(3, 1, n), 1).astype(np.float32)), n) == {3}
    assert kinds(check(rng.standard_normal(n)), n) == {0}
    assert kinds(check(rng.integers(0, 2**16, n).astype(np.uint16)), n) == {0}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_decimals_keep_each_nan_and_the_sign_of_zero(dtype):
    rng = np.random.default_rng(1)
    values = np.round(rng.normal(50, 30, 4000), 1).astype(dtype)
    words_of = values.view(f"u{values.itemsize}")
    values[rng.random(4000) < 0.7] = np.nan
    values[::97], values[5::301], values[7::500], values[9::700] = -0.0, np.inf, -np.inf, 1 / 3
    words_of[11::400] = np.array([np.nan], dtype).view(words_of.dtype)[0] | 5  # another NaN
    data = check(values)
    assert kinds(data, 4000) == {3}
    assert len(data) < 0.5 * values.nbytes


def test_a_few_outliers_do_not_widen_their_block():
    values = np.random.default_rng(0).integers(0, 16, 2048)
    plain = len(entry(values))
    values[[3, 700, 1500]] = [2**60, 2**40, 2**62]
    assert len(check(values)) <= plain + 30


@pytest.mark.parametrize("count", [2048, 5000])
def test_ranges_are_written_exactly(count):
    values = np.random.default_rng(0).integers(0, 5000, count)
    bits = _core.Bits(entry(values), count, 8)
    assert words(bits, np.int64, 1000, 1030).tolist() == values[1000:1030].tolist()
    with pytest.raises(ValueError, match="ends"):
        bits.read([0], [count + 1])
    with pytest.raises(ValueError, match="ends"):
        bits.read([5], [4])
    with pytest.raises(ValueError, match="as many as begins"):
        bits.read([5], [4, 6])


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="width"):
        _core.Bits(np.zeros(9, np.uint8), 1, 3)
    with pytest.raises(ValueError, match="count"):
        _core.Bits(np.zeros(9, np.uint8), -1, 4)
    with pytest.raises(ValueError, match="data"):
        _core.Bits(np.zeros(9, np.int32), 1, 4)
    with pytest.raises(TypeError, match="values"):
        _core.encode_bits(np.zeros(9, np.complex128))


def damaged(**fields):
    """An entry of one block of frames, of which the record says something else."""
    values = np.random.default_rng(0).integers(0, 5000, 1000).astype(fields.pop("dtype", np.int64))
    data = entry(values)
    names = ["base", "place", "kind", "bits", "digits", "flags", "outliers", "zero"]
    record = dict(zip(names, struct.unpack("<QQBBBBHH", data[-RECORD:].tobytes()), strict=True))
    data[-RECORD:] = np.frombuffer(struct.pack("<QQBBBBHH", *{**record, **fields}.values()), np.uint8)
    return _core.Bits(data, 1000, values.itemsize)


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"kind": 4}, "is of a kind"),
        ({"kind": 3, "dtype": np.int16}, "is of a kind"),
        ({"bits": 65}, "wider than its numbers"),
        ({"bits": 17, "dtype": np.int16}, "wider than its numbers"),
        ({"kind": 3, "digits": 16}, "too many digits"),
        ({"place": 2**63}, "past the end"),
        ({"place": 9}, "past the end"),
        ({"bits": 64}, "past the end"),
        ({"kind": 0}, "past the end"),
        ({"outliers": 65535}, "past the end"),
        ({"bits": 1, "outliers": 3}, "outlier past its end"),
    ],
)
def test_a_record_that_lies_is_an_error_that_names_the_block(fields, fault):
    with pytest.raises(ValueError, match=f"block 0 .*{fault}"):
        damaged(**fields).read([0], [10])


def test_an_entry_too_short_for_its_records_is_an_error():
    with pytest.raises(ValueError, match="block 1 has no record"):
        _core.Bits(np.zeros(30, np.uint8), 5000, 4).read([0], [1])


@given(st.data())
def test_any_bytes_are_numbers_or_an_error(data):
    width = data.draw(st.sampled_from([1, 2, 4, 8]))
    count = data.draw(st.integers(0, 3000))
    values = np.random.default_rng(data.draw(st.integers(0, 9))).integers(0, 200, count).astype(f"u{width}")
    raw = entry(values)
    for _ in range(data.draw(st.integers(0, 6)) if len(raw) else 0):
        raw[-1 - data.draw(st.integers(0, min(len(raw) - 1, 100)))] = data.draw(st.integers(0, 255))
    raw = raw[: len(raw) - data.draw(st.integers(0, min(len(raw), 40)))].copy()
    begin = data.draw(st.integers(0, count))
    end = data.draw(st.integers(begin, count))
    try:
        out = _core.Bits(raw, count, width).read([begin], [end])
    except ValueError:
        return
    assert len(out) == (end - begin) * width
