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
# Lengths by fours, and blocks of them; those that fit 32 bits and others.
for count in [1, 3, 4, 5, 7, 8, 1023, 1024, 1025]:
    for bits in [8, 31, 32, 33, 45]:
        level = vl.Level(rng.integers(0, 1 << bits, count))
        see(level.offsets, np.array([level.longest, level.shortest]))
# Pieces and dense rows of a few words up to some vectors, on either side.
for rows in [1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 127, 128, 129, 5000]:
    for dtype in ["u1", "i2", "f4", "f8", "c16"]:
        pieces = [np.arange(n).astype(dtype) for n in (rows, 0, 1, rows - 1, rows)]
        r = vl.ops.list2ragged(pieces)
        for side in ["left", "right"]:
            dense = r.to_dense(padding_side=side, fill=3)
            see(dense, vl.ops.pad(pieces, padding_side=side), vl.ops.pad(pieces, padding_side=side, fill=7))
            see(vl.Ragged.from_dense(dense, r.lengths, padding_side=side))
        see(r.reverse(), vl.ops.seq2col(r.values, 1, lengths=r.lengths))
        see(r[[4, 0, 1]])
        if dtype != "c16":
            see(*vl.ops.unique(r, counts=True))
        if dtype[0] == "u" or dtype[0] == "i":
            see(vl.sequence_erase(r, range(0, 2 * min(rows, 17), 2)))
# Tables of rows around a vector, looked up by fours and by other numbers of rows.
for columns in [1, 7, 8, 9, 33, 257]:
    for dtype in ["f4", "f8", "f2", "i4"]:
        table = (rng.standard_normal((50, columns)) * 50).astype(dtype)
        for each in [1, 3, 4, 9]:
            at = rng.integers(0, 50, (20, each))
            see(vl.ops.gather_add(table, at), vl.ops.backprop_gather_add(table[:20], at, 50))
        lengths = [3, 0, 40, 7]
        see(vl.ops.backprop_seq2col(np.repeat(table, 3, 1), 1, lengths=lengths))
        see(vl.ops.argsort(table, lengths), vl.ops.rank(table, lengths, method="average"))
        see(*vl.ops.topk(table, lengths, k=2))
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
