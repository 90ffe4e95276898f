"""float16 and bfloat16: computed with as they lie in memory, in float32, and rounded once at the end."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import varlen as vl
from house import in_python
from kernels import ON_DEVICE, assert_sums
from varlen import _core

HALVES = ["float16", ml_dtypes.bfloat16]
REDUCTIONS = ["sum", "mean", "max", "min", "prod", "norm", "logsumexp", "var", "std"]

# Both sides of a vector, of what one pass takes, of where elements are widened in pairs, of a block, a part.
LENGTHS = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 160, 255, 257, 1000]
BLOCKS = [4095, 4096, 4097, 8191, 8193, 65_535, 65_536, 65_537, 131_073]
COLUMNS = [1, 2, 3, 4, 7, 8, 9, 16, 31, 96, 511, 512, 513]


def draw(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(dtype)


def specials(dtype):
    """NaN, infinities, zeros of both signs, the smallest, the largest subnormal and the largest number."""
    bits = [0x7FFF, 0xFFFF, 0x0000, 0x8000, 0x0001, 0x8001]
    bits += [0x7C00, 0xFC00, 0x03FF, 0x7BFF] if dtype == "float16" else [0x7F80, 0xFF80, 0x007F, 0x7F7F]
    return np.array(bits, np.uint16).view(dtype)


def same(a, b):
    """The same bits, but for those of NaN."""
    assert a.dtype == b.dtype
    with np.errstate(invalid="ignore"):
        nan = np.isnan(b)
        np.testing.assert_array_equal(np.isnan(a), nan)
    np.testing.assert_array_equal(np.where(nan, 0, a.view(np.uint16)), np.where(nan, 0, b.view(np.uint16)))


def guarded(shape, dtype):
    memory = np.full(int(np.prod(shape)) + 64, 0xA5A5, np.uint16)
    return memory, memory[32:-32].view(dtype).reshape(shape)


def reduced_as_float32(op, values, level):
    """The numbers of halves, by the way of float32, rounded once."""
    with np.errstate(over="ignore"):
        return _core.reduce(op, values.astype(np.float32), level, 0).astype(values.dtype)


def check_reduction(op, values, level):
    memory, out = guarded((len(level), *values.shape[1:]), values.dtype)
    _core.reduce(op, values, level, 0, out)
    if ON_DEVICE:
        assert_sums(out, reduced_as_float32(op, values, level))
    else:
        same(out, reduced_as_float32(op, values, level))
    assert (memory[:32] == 0xA5A5).all(), "written in front of the output"
    assert (memory[-32:] == 0xA5A5).all(), "written behind the output"


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_reduction_is_that_of_float32_rounded_once(dtype, columns, op):
    rows = LENGTHS if columns < 100 else LENGTHS[:13]
    level = vl.Level(rows)
    shape = (level.total,) if columns == 1 else (level.total, columns)
    check_reduction(op, draw(shape, dtype), level)
    for length in rows:  # the values end where the sequence does
        check_reduction(op, draw((length, *shape[1:]), dtype, length), vl.Level([length]))


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("rows", BLOCKS)
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_a_long_sequence_is_that_of_float32_rounded_once(dtype, rows, op):
    for columns in (1, 3, 4):
        shape = (rows + 3,) if columns == 1 else (rows + 3, columns)
        check_reduction(op, draw(shape, dtype), vl.Level([1, rows, 2]))


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_special_numbers_are_reduced_as_in_float32(dtype, op):
    odd = specials(dtype)
    for length in (1, 5, 32, 150, 5000):
        values = np.tile(draw(length, dtype), len(odd))
        values[np.arange(len(odd)) * length + length // 2] = odd
        check_reduction(op, values, vl.Level([length] * len(odd)))
        check_reduction(op, np.stack([values, values[::-1]], 1), vl.Level([length] * len(odd)))
    pairs = np.stack(np.meshgrid(odd, odd), -1).reshape(-1)
    check_reduction(op, pairs, vl.Level([2] * (len(odd) ** 2)))


def test_sums_are_rounded_to_even_and_become_infinite():
    half = np.array([2048, 1, 2050, 1, 65504, 15, 65504, 16], np.float16)
    level = vl.Level([2, 2, 2, 2])
    np.testing.assert_array_equal(vl.ops.reduce_sum(half, level), [2048, 2052, 65504, np.inf])
    brain = np.array([256, 1, 258, 1, 3.39e38, 1, 3.39e38, 3.39e38], np.float32).astype(ml_dtypes.bfloat16)
    sums = vl.ops.reduce_sum(brain, level).astype(np.float32)
    np.testing.assert_array_equal(sums[:2], [256, 260])
    assert np.isfinite(sums[2])
    assert sums[3] == np.inf


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_every_half_is_widened_to_its_number_and_back(dtype):
    every = np.arange(65_536, dtype=np.uint16).view(dtype)
    wide = every.astype(np.float32)
    for start in (0, 1, 3):
        for count in (0, 1, 7, 8, 9, 65_000):
            some = every[start : start + count]
            np.testing.assert_array_equal(_core.cast(some, np.float32), wide[start : start + count])
            same(_core.cast(wide[start : start + count], dtype), some)


@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_float32_is_narrowed_to_the_nearest_half(dtype):
    """Halfway cases and their neighbours, of every exponent; what is finite stays so or is refused."""
    every = np.arange(65_536, dtype=np.uint16).view(dtype).astype(np.float32)
    every = every[np.isfinite(every)]
    with np.errstate(over="ignore", invalid="ignore"):
        middle = (every[:-1] + every[1:]) / 2
    near = np.concatenate([middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, 0)])
    with np.errstate(over="ignore"):
        wanted = near.astype(dtype)
    near, wanted = (x[np.isfinite(wanted.astype(np.float32))] for x in (near, wanted))
    same(_core.cast(near, dtype), wanted)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "cumsum", "cumprod", "cummax", "sort"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
def test_rows_in_place_are_those_of_float32_rounded_once(dtype, name):
    for columns in (1, 3, 8, 33):
        values = draw((sum(LENGTHS), columns), dtype)
        r = vl.Ragged(values, LENGTHS)
        wide = vl.Ragged(values.astype(np.float32), LENGTHS)

        def call(given):
            return (given.log_softmax() if name == "log_softmax" else getattr(given, name)()).values

        want = call(wide).astype(dtype)
        got = call(r)
        if name in ("cumsum", "cumprod"):  # float32 is added in float64, halves in float32
            np.testing.assert_allclose(got.astype(float), want.astype(float), rtol=2e-2, atol=1e-3)
        else:
            same(got, want)


EACH_SET = """
import hashlib
import ml_dtypes
import numpy as np
from varlen import _core

rng = np.random.default_rng(5)
digest = hashlib.sha256()
for dtype in (np.dtype("f2"), np.dtype(ml_dtypes.bfloat16)):
    every = np.arange(65_536, dtype=np.uint16).view(dtype)
    wide = _core.cast(every, np.float32)
    digest.update(wide.tobytes() + _core.cast(wide, dtype).tobytes())
    nan = rng.integers(0x7F800001, 0x80000000, 1001).astype(np.uint32).view(np.float32)
    digest.update(_core.cast(nan, dtype).tobytes() + _core.cast(-nan, dtype).tobytes())
    for columns in (1, 2, 5, 8, 40):
        lengths = [*range(140), 5000, 0, 70_000]
        values = rng.standard_normal((sum(lengths), columns)).astype("f4").astype(dtype)
        level = _core.Level(lengths)
        for op in ("sum", "mean", "max", "min", "prod", "norm"):
            digest.update(_core.reduce(op, values, level, 0).tobytes())
        digest.update(_core.scan("sum", values, level, False, False).tobytes())
        digest.update(_core.sort(values, level)[0].tobytes())
print(digest.hexdigest())
"""


def test_every_set_of_instructions_gives_the_same_halves():
    wanted = in_python(EACH_SET, VARLEN_ISA="baseline")[0]
    for name in ("avx2", "avx512"):
        assert in_python(EACH_SET, VARLEN_ISA=name)[0] == wanted, name


@pytest.mark.parametrize("given", ["int32", "uint32", "int64", "uint64", "float64"])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_are_rounded_once_on_their_way_to_bfloat16(given, sign):
    # Next to the middle of two of its numbers, by less than float32 or float64 could tell.
    bits = {"int32": 31, "uint32": 32, "int64": 63, "uint64": 64, "float64": 100}[given]
    if sign < 0 and given.startswith("u"):
        return
    for high in {24, 25, 30, 31, 52, 53, 54, 61, 62, 63, 80} & set(range(bits)):
        step = 1 << (high - 7)
        for lower in (1 << high, (1 << high) + step):  # the nearest even one lies below, then above
            least = 1 << max(0, high - 52) if given == "float64" else 1
            middle = lower + step // 2
            even = lower if lower == 1 << high else lower + step
            cases = {middle - least: lower, middle: even, middle + least: lower + step}
            for number, want in cases.items():
                result = _core.cast(np.array([sign * number]).astype(given), ml_dtypes.bfloat16)
                assert float(result.astype(np.float64)[0]) == sign * want, (high, number)


def test_the_logarithm_of_a_mean_of_exponentials_is_rounded_once():
    time = vl.Dim("time", lengths=[400, 3])
    exact = vl.Data(np.linspace(-1, 1, 403), [vl.dims.batch_dim, time])
    halves = vl.Data(exact.values.astype(np.float16), exact.dims)
    wanted, found = (vl.dims.reduce(x, "logmeanexp", time).values for x in (exact, halves))
    assert found.dtype == np.float16
    assert np.allclose(found, wanted, atol=3e-4)
