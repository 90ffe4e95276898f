"""Kernels by set of instructions: which one runs, and that all of them agree."""

import platform

import pytest
from house import in_python
from varlen import _core

SETS = ["baseline", "avx2", "avx512"]

# Lengths on both sides of a vector, of a block and of a tile; the digest is of every byte that came out.
SAMPLES = """
import hashlib
import numpy as np
import varlen as vl

rng = np.random.default_rng(5)
digest = hashlib.sha256()


def see(*results):
    for each in results:
        for array in each if isinstance(each, tuple) else (each,):
            values = getattr(array, "values", array)
            digest.update(np.ascontiguousarray(values).tobytes())


for shape in [(), (1,), (3,), (8,), (33,), (300,)]:
    lengths = rng.integers(0, 40, 60)
    lengths[::7] = 0
    lengths[5] = 900
    for dtype in ["f4", "f8", "f2", "i1", "i4", "i8", "u8"]:
        values = (rng.standard_normal((lengths.sum(), *shape)) * 50).astype(dtype)
        r = vl.Ragged(values, lengths)
        see(r.sum(), r.max(empty=0), r.min(empty=0), r.cumsum(), r.sort(), r.shift(1))
        see(r.reverse(), r[::2], r[[3, 1, 5]], r.to_dense())
        if dtype[0] == "f":
            see(r.mean(), r.var(), r.cumprod())
        if dtype == "f8":
            see(r.softmax(), r.logsumexp())
        if dtype == "f4":  # its exp is another series with AVX2
            wide = vl.Ragged(values.astype("f8"), lengths)
            np.testing.assert_allclose(r.softmax().values, wide.softmax().values, rtol=4e-5, atol=1e-37)
            np.testing.assert_allclose(r.logsumexp(), wide.logsumexp(), rtol=1e-6)
        if shape == () and dtype[0] != "f":
            see(vl.sequence_erase(r, [1, 2, 3]))
# Chains of 64 numbers, runs without a branch up to 128, blocks of 4096, sequences watched together.
for lengths in ([31, 32, 33, 63, 64, 65], [127, 128, 129], [1] * 40 + [128], [4095, 4096, 4097, 70_000]):
    for dtype in ["f4", "f8"]:
        values = (rng.standard_normal(sum(lengths)) * 50).astype(dtype)
        values[::11] *= 0
        for marks in ([], [np.inf, -np.inf], [np.nan]):
            values[7 : 7 + len(marks)] = marks
            r = vl.Ragged(values, lengths)
            with np.errstate(invalid="ignore"):
                see(r.max(), r.min())
                see(np.nan_to_num(r.sum()), np.nan_to_num(r.mean()))
# Rows around one, two, four, six and eight vectors.
for columns in [9, 12, 15, 16, 17, 31, 63, 64, 65, 96, 128, 130]:
    for dtype in ["f4", "f8", "i8"]:
        lengths = [1, 2, 0, 4, 5, 30, 4097]
        r = vl.Ragged((rng.standard_normal((sum(lengths), columns)) * 50).astype(dtype), lengths)
        see(r.sum(), r.max(empty=0), r.min(empty=0))
print(digest.hexdigest())
"""


def run_with(name):
    code = "from varlen import _core; print(_core.instruction_set())"
    return in_python(code, VARLEN_ISA=name)[0]


def test_the_environment_bounds_the_set_from_above():
    best = run_with("")
    assert best in SETS
    for name in SETS:
        assert run_with(name) == SETS[min(SETS.index(name), SETS.index(best))]


@pytest.mark.parametrize("name", ["", "AVX2", "sse", "avx2 "])
def test_other_names_change_nothing(name):
    assert run_with(name) == run_with("avx512")


def test_the_baseline_is_all_there_is_elsewhere():
    if platform.machine().lower() not in ("x86_64", "amd64"):
        assert _core.instruction_set() == "baseline"


def test_every_set_gives_the_same_numbers():
    wanted = in_python(SAMPLES, VARLEN_ISA="baseline")[0]
    for name in SETS[1:]:
        assert in_python(SAMPLES, VARLEN_ISA=name)[0] == wanted, name
