"""Wide rows are worked on 128, 256 or 512 columns at a time: tests stand on both sides of each tile.

Every column has numbers of its own, so that one that is taken for another shows; nothing is written around
the output.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import varlen as vl
from kernels import Guarded
from varlen import _core

COLUMNS = [127, 128, 129, 255, 256, 257, 300, 511, 512, 513, 700, 1025]
LENGTHS = [3, 0, 1, 6]


def draw(rows: int, columns: int, dtype: Any, seed: int = 0) -> Any:
    """Whole numbers from -4 to 4 without zero, so that sums are exact and products do not vanish."""
    numbers = np.random.default_rng(seed).integers(1, 5, (rows, columns))
    signs = np.random.default_rng(seed + 1).integers(0, 2, (rows, columns)) * 2 - 1
    return (numbers if np.dtype(dtype).kind == "u" else numbers * signs).astype(dtype)


def parts(values: Any, lengths: Any = LENGTHS) -> list[Any]:
    return np.split(values, np.cumsum(lengths)[:-1])


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8", "uint16", "int64", "bool", ">f4"])
def test_every_column_is_reduced(dtype, columns):
    values = draw(sum(LENGTHS), columns, dtype)
    if dtype == "bool":
        values = np.random.default_rng(columns).integers(0, 2, values.shape).astype(bool)
    level = vl.Level(LENGTHS)
    rows = [x for x in parts(values) if len(x)]
    kept = [0, 2, 3]
    exact = {
        "sum": lambda x: x.sum(0, dtype=np.float64),
        "max": lambda x: x.max(0),
        "min": lambda x: x.min(0),
        "any": lambda x: x.any(0),
        "all": lambda x: x.all(0),
        "prod": lambda x: x.prod(0, dtype=np.float64),
    }
    for op, function in exact.items():
        shape = (len(LENGTHS), columns)
        kind = _core.reduce(op, values, level, 1).dtype
        guarded = Guarded(kind, shape)
        _core.reduce(op, values, level, 1, guarded.out)
        np.testing.assert_array_equal(guarded.out[kept], [function(x) for x in rows], op)
        assert (guarded.out[1] == 1).all()
        guarded.check()
    near = {
        "mean": lambda x: x.mean(0, dtype=np.float64),
        "var": lambda x: x.var(0, dtype=np.float64),
        "std": lambda x: x.std(0, dtype=np.float64),
        "norm": lambda x: np.sqrt((x.astype(np.float64) ** 2).sum(0)),
        "logsumexp": lambda x: np.log(np.exp(x.astype(np.float64)).sum(0)),
    }
    for op, function in near.items():
        result = getattr(vl.ops, f"reduce_{op}")(values, LENGTHS, empty=1)
        want = [function(x) for x in rows]
        np.testing.assert_allclose(result[kept], want, rtol=2e-3 if dtype == "float16" else 1e-5, atol=1e-5)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("marked", [False, True], ids=["clean", "nan"])
def test_every_column_has_the_place_of_its_extreme(dtype, columns, marked):
    values = draw(sum(LENGTHS), columns, dtype)
    if marked:
        if np.dtype(dtype).kind != "f":
            return
        # Another row has it in each column; in the last sequence the last number alone.
        values[np.arange(columns) % 3, np.arange(columns)] = np.nan
        values[-1, -1] = np.nan
    for name, function in (("max", np.argmax), ("min", np.argmin)):
        found, which = getattr(vl.ops, f"reduce_{name}")(values, LENGTHS, empty=0, which=True)
        for i, x in enumerate(parts(values)):
            if len(x) == 0:
                assert (which[i] == -1).all()
                continue
            want = function(x, axis=0)
            np.testing.assert_array_equal(which[i], want)
            np.testing.assert_array_equal(found[i], np.take_along_axis(x, want[None], 0)[0])


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_column_has_its_own_gradient(dtype, columns):
    x = draw(sum(LENGTHS), columns, dtype)
    d = draw(len(LENGTHS), columns, dtype, 5)
    prods = vl.ops.backprop_reduce_prod(d, x, LENGTHS)
    norms = vl.ops.backprop_reduce_norm(d, x, LENGTHS)
    variances = vl.ops.backprop_reduce_var(d, x, LENGTHS)
    for i, (of_prod, of_norm, of_var, own) in enumerate(
        zip(parts(prods), parts(norms), parts(variances), parts(x), strict=True)
    ):
        if len(own) == 0:
            continue
        np.testing.assert_allclose(of_prod, d[i] * own.prod(0) / own, rtol=1e-5)
        np.testing.assert_allclose(of_norm, d[i] * own / np.sqrt((own**2).sum(0)), rtol=1e-5)
        centred = own - own.mean(0)
        np.testing.assert_allclose(of_var, d[i] * 2 * centred / len(own), rtol=1e-5, atol=1e-5)


SCANS = {
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "cummax": np.maximum.accumulate,
    "cummin": np.minimum.accumulate,
}


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int8"])
@pytest.mark.parametrize("verb", list(SCANS))
def test_every_column_is_scanned(verb, dtype, columns):
    values = draw(sum(LENGTHS), columns, dtype)
    for reverse in (False, True):
        step = -1 if reverse else 1
        want = [SCANS[verb](x[::step].astype(np.float64), axis=0)[::step] for x in parts(values)]
        kind = getattr(vl.ops, verb)(values, LENGTHS, reverse=reverse).dtype
        guarded = Guarded(kind, values.shape)
        getattr(vl.ops, verb)(values, LENGTHS, reverse=reverse, out=guarded.out)
        np.testing.assert_array_equal(guarded.out, np.concatenate(want).astype(kind))
        guarded.check()
    if verb in ("cummax", "cummin"):
        found, which = getattr(vl.ops, verb)(values, LENGTHS, which=True)
        d = draw(len(values), columns, "float64", 7)
        back = getattr(vl.ops, f"backprop_{verb}")(d, which, LENGTHS)
        for result, at, own, given, rows in zip(*map(parts, (found, which, values, d, back)), strict=True):
            np.testing.assert_array_equal(np.take_along_axis(own, at, 0), result)
            wanted = np.zeros_like(rows)
            for row, places in zip(given, at, strict=True):
                wanted[places, np.arange(columns)] += row
            np.testing.assert_array_equal(rows, wanted)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_column_has_the_gradient_of_its_products(dtype, columns):
    x = draw(sum(LENGTHS), columns, dtype)
    d = draw(len(x), columns, dtype, 3)
    back = vl.ops.backprop_cumprod(d, x, LENGTHS)
    for result, own, given in zip(parts(back), parts(x), parts(d), strict=True):
        products = np.cumprod(own.astype(np.float64), 0) * given
        np.testing.assert_allclose(result, np.cumsum(products[::-1], 0)[::-1] / own, rtol=1e-5)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("lengths", [LENGTHS, [40, 1, 0, 9]], ids=["short", "pieces"])
def test_every_column_is_softened(dtype, columns, lengths):
    values = draw(sum(lengths), columns, dtype)
    shares = [np.exp(x.astype(np.float64) - x.max(0)) for x in parts(values, lengths) if len(x)]
    want = np.concatenate([x / x.sum(0) for x in shares])
    rtol = 2e-3 if dtype == "float16" else 1e-5
    guarded = Guarded(dtype, values.shape)
    vl.ops.softmax(values, lengths, out=guarded.out)
    np.testing.assert_allclose(guarded.out, want, rtol=rtol)
    guarded.check()
    np.testing.assert_allclose(vl.ops.log_softmax(values, lengths), np.log(want), rtol=rtol, atol=1e-4)
    d = draw(len(values), columns, dtype, 9)
    soft = guarded.out.astype(np.float64)
    back = [y * (g - (g * y).sum(0)) for y, g in zip(parts(soft, lengths), parts(d, lengths), strict=True)]
    result = vl.ops.backprop_softmax(d, guarded.out, lengths)
    np.testing.assert_allclose(
        result,
        np.concatenate(back),
        rtol=1e-2 if dtype == "float16" else 1e-4,
        atol=2e-2 if dtype == "float16" else 1e-5,
    )


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int16", "bool"])
@pytest.mark.parametrize("each", [1, 3, 4, 6])
def test_every_column_is_looked_up_and_added(dtype, columns, each):
    table = draw(9, columns, dtype)
    at = np.random.default_rng(each).integers(0, 9, (7, each))
    guarded = Guarded(dtype, (7, columns))
    vl.ops.gather_add(table, at, out=guarded.out)
    want = np.stack([table[row].sum(0, dtype=None if dtype == "bool" else table.dtype) for row in at])
    np.testing.assert_array_equal(guarded.out, want.astype(dtype))
    guarded.check()
    d = draw(7, columns, dtype, 2)
    wide = np.zeros((9, columns), np.float64)
    for row, many in zip(d, at, strict=True):
        np.add.at(wide, many, row)
    guarded = Guarded(dtype, (9, columns))
    vl.ops.backprop_gather_add(d, at, 9, out=guarded.out)
    np.testing.assert_array_equal(guarded.out, wide.astype(dtype))
    guarded.check()


@pytest.mark.parametrize("columns", [1, *COLUMNS])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_every_column_of_repeats_is_added(dtype, columns):
    # A sequence of 2 rows is there three times, one of 3 rows once, and one of 1 row not at all.
    blocks, times = [2, 3, 1], [3, 1, 0]
    groups = [b * t for b, t in zip(blocks, times, strict=True)]
    d = draw(sum(groups), columns, dtype)
    result = _core.reduce_blocks(d, vl.Level(groups), vl.Level(blocks))
    own = parts(d, groups)
    want = [x.reshape(t, b, columns).sum(0) for x, b, t in zip(own, blocks, times, strict=True)]
    np.testing.assert_array_equal(result, np.concatenate(want))


# Sequences of 4 MB and more are cut by rows, by columns, or both, whatever the number of threads.
GIANT_COLUMNS = [8, 16, 255, 256, 257, 384, 511, 513, 700]


@pytest.mark.parametrize("columns", GIANT_COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_column_of_a_giant_sequence_is_scanned_from_either_end(dtype, columns, any_threads):
    rows = (4 << 20) // columns // np.dtype(dtype).itemsize + 3
    values = np.random.default_rng(columns).integers(0, 2, (rows + 2, columns)).astype(dtype)
    for verb in ("cumsum", "cummax"):
        for reverse in (False, True):
            step = -1 if reverse else 1
            guarded = Guarded(dtype, values.shape)
            getattr(vl.ops, verb)(values, [1, rows, 1], reverse=reverse, out=guarded.out)
            want = SCANS[verb](values[1:-1][::step], axis=0)[::step]
            np.testing.assert_array_equal(guarded.out[1:-1], want)
            np.testing.assert_array_equal(guarded.out[[0, -1]], values[[0, -1]])
            guarded.check()


@pytest.mark.parametrize("columns", GIANT_COLUMNS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_column_of_a_giant_sequence_that_is_not_the_first_has_its_extreme(dtype, columns, any_threads):
    rows = (4 << 20) // columns // np.dtype(dtype).itemsize + 1
    values = np.zeros((rows + 5, columns), dtype)
    at = np.random.default_rng(columns).integers(0, rows, columns)
    values[2 + at, np.arange(columns)] = 1 + np.arange(columns)
    values[0], values[-1] = -5, -7
    level = vl.Level([2, rows, 0, 3])
    found, which = vl.ops.reduce_max(values, level, empty=3, which=True)
    np.testing.assert_array_equal(found[1], 1 + np.arange(columns))
    np.testing.assert_array_equal(which[1], at)
    np.testing.assert_array_equal(which[[0, 2, 3]], [[1] * columns, [-1] * columns, [0] * columns])
    np.testing.assert_array_equal(found[[0, 2, 3]], [[0] * columns, [3] * columns, [0] * columns])
    sums = vl.ops.reduce_sum(values, level)
    np.testing.assert_array_equal(sums[1], 1 + np.arange(columns))
    values[1 + rows, -1] = np.nan
    found, which = vl.ops.reduce_max(values, level, empty=3, which=True)
    assert np.isnan(found[1, -1])
    assert which[1, -1] == rows - 1
    np.testing.assert_array_equal(found[1, :-1], 1 + np.arange(columns - 1))


@pytest.mark.parametrize("columns", [1, 3, 257])
@pytest.mark.parametrize("block", [5, 1000, 1001])
def test_giant_repeats_are_added_to_their_last_number(columns, block, any_threads):
    times = (4 << 20) // 4 // columns // block + 1
    d = np.random.default_rng(block).integers(0, 3, (block * times + 1, columns)).astype(np.float32)
    result = _core.reduce_blocks(d, vl.Level([0, block * times, 1]), vl.Level([0, block, 1]))
    want = d[:-1].reshape(times, block, columns).sum(0, dtype=np.float64)
    np.testing.assert_array_equal(result[:-1], want)
    np.testing.assert_array_equal(result[-1], d[-1])
