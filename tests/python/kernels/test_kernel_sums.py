"""Sums of rows keep their order of additions, bit by bit, whichever loop takes them.

Rows fold in registers up to a number of vectors and in strips of columns beyond, near and past the caches;
lookups are copied block by block. Tests stand on both sides of each, and nothing is written around outputs.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import varlen as vl
from kernels import Guarded, assert_sums
from varlen import _core

# On both sides of each number of vectors of 32 and 64 bytes that has a loop of its own, and of strips.
NUMBERS = [9, 12, 15, 16, 17, 24, 31, 32, 33, 47, 48, 49, 63, 64, 65, 80, 81, 95, 96, 97, 127, 128, 129, 144]
COLUMNS = [*NUMBERS, 192, 193, 256, 257, 300, 511, 512, 513, 700]
LENGTHS = [5, 0, 1, 4, 3, 8, 33, 2, 7]
SHORT_ROW = 256  # bytes up to which four rows are added at once


def numbers(rows: int, columns: int, dtype: Any, seed: int = 0) -> Any:
    """Numbers whose sums depend on the order of additions."""
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, columns)) * 10.0 ** rng.integers(-3, 4, (rows, columns))).astype(dtype)


def in_order(rows: Any) -> Any:
    """The sum of some rows: short ones by four, then one by one."""
    total, at = None, 0
    if rows[0].nbytes <= SHORT_ROW:
        for at in range(0, len(rows) - 3, 4):
            a, b, c, d = rows[at : at + 4]
            four = (a + b) + (c + d)
            total = four if total is None else total + four
        at = len(rows) // 4 * 4
    for row in rows[at:]:
        total = row if total is None else total + row
    return total


def cut(values: Any, lengths: Any) -> list[Any]:
    return [values[a:b] for a, b in itertools.pairwise(np.cumsum([0, *lengths]))]


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shift", [0, 8])
def test_rows_are_added_in_the_stated_order(dtype, columns, shift):
    values = numbers(sum(LENGTHS), columns, dtype)
    values[3, columns // 2] = np.nan
    values[4, columns - 1] = -0.0
    own = cut(values, LENGTHS)
    want = np.stack([in_order(x) if len(x) else np.full(columns, 7, dtype) for x in own])
    guarded = Guarded(dtype, want.shape, shift)
    _core.reduce("sum", values, vl.Level(LENGTHS), 7, guarded.out)
    assert_sums(guarded.out, want)
    guarded.check()
    rows = np.maximum(LENGTHS, 1)[:, None].astype(dtype)
    mean = np.where(np.array(LENGTHS)[:, None] > 0, guarded.out / rows, 7).astype(dtype)
    np.testing.assert_array_equal(_core.reduce("mean", values, vl.Level(LENGTHS), 7), mean)
    for i, alone in enumerate(own):
        if len(alone):
            sums = _core.reduce("sum", alone, vl.Level([len(alone)]), 7)
            assert sums[0].tobytes() == guarded.out[i].tobytes()


@pytest.mark.parametrize("columns", [200, 256, 300, 512, 1024])
@pytest.mark.parametrize("more", [-1, 0, 1, 9])
def test_strips_of_columns_take_a_few_rows_at_once(columns, more):
    for rows in (8, 32768 // (4 * columns), 65536 // (4 * columns)):
        values = numbers(rows + more + 3, columns, "float32", rows)
        lengths = [rows + more, 3]
        want = np.stack([in_order(x) for x in cut(values, lengths)])
        guarded = Guarded("float32", want.shape)
        _core.reduce("sum", values, vl.Level(lengths), 0, guarded.out)
        assert_sums(guarded.out, want)
        guarded.check()


@pytest.mark.parametrize("columns", [16, 64, 96, 300])
@pytest.mark.parametrize("more", [-16, 0, 16])
def test_rows_past_the_caches_are_added_as_those_in_them(columns, more, any_threads):
    count = ((4 << 20) // (64 * columns)) + more  # sequences of 16 rows: on both sides of 4 MB
    values = numbers(16 * count, columns, "float32")
    together = _core.reduce("sum", values, vl.Level([16] * count), 0)
    for a, b in ((0, count // 2), (count // 2, count)):
        part = _core.reduce("sum", values[16 * a : 16 * b], vl.Level([16] * (b - a)), 0)
        assert part.tobytes() == together[a:b].tobytes()
    assert_sums(together[-1], in_order(values[-16:]))


@pytest.mark.parametrize("each", [1, 3, 4, 170, 171, 511, 512, 513, 1024, 1025])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("columns", [1, 16, 96, 257])
def test_lookups_are_added_from_left_to_right_whatever_is_copied_at_once(each, dtype, columns):
    n = max(2, 600 // each)
    rows = 40
    table = numbers(rows, columns, "float32")
    at = np.random.default_rng(each).integers(0, rows, (n, each)).astype(dtype)
    at[-1, -1] = rows - 1
    want = table[at[:, 0]]
    for k in range(1, each):
        want = want + table[at[:, k]]
    guarded = Guarded("float32", want.shape, 4)
    vl.ops.gather_add(table, at, out=guarded.out)
    assert_sums(guarded.out, want)
    guarded.check()
    back = np.zeros_like(table)
    given = numbers(n, columns, "float32", 1)
    np.add.at(back, at, given[:, None])
    guarded = Guarded("float32", back.shape, 4)
    vl.ops.backprop_gather_add(given, at, rows, out=guarded.out)
    assert_sums(guarded.out, back)
    guarded.check()


@pytest.mark.parametrize("place", [0, 511, 512, 1023, 1024, 1025, 2999])
@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_a_lookup_that_is_no_row_is_named_wherever_it_stands(place, dtype):
    table = np.zeros((9, 3), np.float32)
    at = np.zeros((1000, 3), dtype)
    for wrong in (9, 2**31 - 1, -1 if dtype[0] == "i" else np.iinfo(dtype).max):
        at.flat[place] = wrong
        with pytest.raises(IndexError, match=f"position {place // 3}, {place % 3} holds {wrong}"):
            vl.ops.gather_add(table, at)


@pytest.mark.parametrize("size", [255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 3000])
def test_long_sequences_anywhere_are_gathered(size, any_threads):
    lengths = np.full(300, size)
    lengths[::7] += 40
    lengths[3::50] = 0
    values = np.random.default_rng(size).integers(0, 256, lengths.sum()).astype(np.uint8)
    own = cut(values, lengths)
    picked = np.random.default_rng(1).integers(0, 300, 500)
    found = vl.Ragged(values, lengths)[picked]
    np.testing.assert_array_equal(found.values, np.concatenate([own[i] for i in picked]))
    np.testing.assert_array_equal(found.lengths, lengths[picked])
