"""Threads cut large work anywhere, inside sequences too: what lies on both sides comes out as without a cut.

From 2 MB on, work is cut into as many as four shares a thread. Sizes here are no multiple of their number.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import varlen as vl
from kernels import Guarded
from varlen import _core

ROWS = 700_013  # of float32: 2.8 MB


def drawn_lengths(total: int, most: int, seed: int = 0) -> Any:
    """Lengths from 0 to `most` that add up to `total`."""
    lengths = np.random.default_rng(seed).integers(0, most + 1, 2 * total // most + 4)
    ends = np.minimum(np.cumsum(lengths), total)
    ends[-1] = total
    return np.diff(ends, prepend=0)


def drawn_values(count: int, dtype: Any = "float32", seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-50, 50, count).astype(dtype)


# Sequences that end far apart, close together, and one that all threads share.
LEVELS = {
    "short": lambda: drawn_lengths(ROWS, 5),
    "medium": lambda: drawn_lengths(ROWS, 3000),
    "one": lambda: np.array([0, 2, ROWS - 3, 1]),
}


@pytest.fixture(params=list(LEVELS))
def lengths(request: pytest.FixtureRequest) -> Any:
    return LEVELS[request.param]()


def flat(result: Any) -> Any:
    return np.asarray(getattr(result, "values", result))


def anew(function: Any, *args: Any, **named: Any) -> Any:
    """What a function gives in memory that held something else before: what it does not write shows."""
    before = function(*args, **named)
    for each in before if isinstance(before, tuple) else (before,):
        flat(each).reshape(-1).view(np.uint8)[...] = 0x5A
    del before, each
    return function(*args, **named)


def parts(values: Any, lengths: Any) -> list[Any]:
    return np.split(values, np.cumsum(lengths)[:-1])


def test_rows_put_between_others_stand_where_they_are_asked_for(lengths, any_threads):
    values = np.arange(ROWS, dtype=np.float32)
    # Between every two rows and around them: a row of these is the first of each share, or the one before it.
    for step in (1, 2, 3):
        before = np.arange(0, ROWS + 1, step)
        result = anew(_core.insert_rows, values, before, -np.arange(len(before), dtype=np.float32))
        want = np.insert(values, before, -np.arange(len(before), dtype=np.float32))
        np.testing.assert_array_equal(result, want)
        kept, taken = anew(_core.remove_rows, result, before)
        np.testing.assert_array_equal(kept, values)
        np.testing.assert_array_equal(taken, -np.arange(len(before), dtype=np.float32))


def window_sums(d: Any, lengths: Any, n: int) -> Any:
    """What each row gets back from the windows of 2n + 1 places that it stood in."""
    d = d.reshape(len(d), 2 * n + 1, -1)
    result = np.zeros_like(d[:, 0])
    own = np.repeat(np.arange(len(lengths)), lengths)
    for place in range(2 * n + 1):
        by = place - n  # window t has row t + by at this place
        source = d[max(0, -by) : len(d) - max(0, by), place]
        same = own[max(0, -by) : len(d) - max(0, by)] == own[max(0, by) : len(d) - max(0, -by)]
        result[max(0, by) : len(d) - max(0, -by)] += source * same[:, None]
    return result


@pytest.mark.parametrize(("dtype", "n"), [("float32", 1), ("float64", 2), ("float16", 2)])
def test_windows_give_rows_back_across_a_cut(lengths, dtype, n, any_threads):
    some = lengths[: np.searchsorted(np.cumsum(lengths), 300_000) + 1]
    some[-1] -= max(0, some.sum() - 300_001)
    count = some.sum()
    d = drawn_values(count * (2 * n + 1), dtype, 1).reshape(count, -1) % 4
    np.testing.assert_array_equal(anew(vl.ops.backprop_seq2col, d, n, lengths=some), window_sums(d, some, n))


def test_windows_are_averaged_and_shared_out_across_a_cut(lengths, any_threads):
    x = drawn_values(ROWS, "float64")
    how = {"size": 4, "step": 2}
    anew(vl.ops.backprop_average_windows, 1 - x, lengths, **how)  # so that no memory holds what is to come
    shared = flat(anew(vl.ops.backprop_average_windows, x, lengths, **how))
    np.testing.assert_allclose(flat(anew(vl.ops.backprop_windows, shared, lengths, **how)), x)
    windows = flat(anew(vl.ops.windows, x, lengths, **how))
    np.testing.assert_allclose(flat(anew(vl.ops.average_windows, windows, lengths, **how)), x)


def test_sequences_are_picked_in_any_order(lengths, any_threads):
    values = np.arange(ROWS, dtype=np.float32)
    r = vl.Ragged(values, lengths)
    order = np.random.default_rng(0).permutation(len(lengths))
    starts = np.cumsum(lengths) - lengths
    ends = np.cumsum(lengths[order])
    want = np.arange(ROWS) + np.repeat(starts[order] - (ends - lengths[order]), lengths[order])
    result = r[order]
    np.testing.assert_array_equal(result.values, want)
    np.testing.assert_array_equal(result.offsets[1:], ends)


def test_sequences_follow_each_other_across_a_cut(any_threads):
    for first, second in (("short", "short"), ("one", "short"), ("short", "one")):
        a, b = LEVELS[first](), LEVELS[second]()
        n = min(len(a), len(b))
        a, b = a[:n], b[:n]
        x = vl.Ragged(np.arange(a.sum(), dtype=np.float32), a)
        y = vl.Ragged(-np.arange(b.sum(), dtype=np.float32), b)
        result = vl.ops.concatenate([x, y, x], axis=1)
        rows = np.concatenate([np.repeat(3 * np.arange(n) + k, m) for k, m in enumerate((a, b, a))])
        both = np.concatenate([x.values, y.values, x.values])
        np.testing.assert_array_equal(result.values, both[np.argsort(rows, kind="stable")])


def test_arrays_are_laid_end_to_end_across_a_cut(lengths, any_threads):
    values = np.arange(ROWS, dtype=np.float32)
    pieces = parts(values, lengths)
    result = anew(vl.ops.list2ragged, pieces)
    np.testing.assert_array_equal(result.values, values)
    np.testing.assert_array_equal(result.lengths, lengths)
    np.testing.assert_array_equal(anew(_core.concat, pieces), values)


def test_results_go_back_to_the_rows_that_they_came_from(lengths, any_threads):
    d = drawn_values(len(lengths), "float32", 3) + 100
    starts, ends = np.cumsum(lengths) - lengths, np.cumsum(lengths)
    some = lengths > 0
    spread = np.repeat(d, lengths)
    guarded = Guarded("float32", (ROWS,))
    vl.ops.backprop_reduce_sum(d, lengths, out=guarded.out)
    np.testing.assert_array_equal(guarded.out, spread)
    guarded.check()
    first, last = np.zeros(ROWS, np.float32), np.zeros(ROWS, np.float32)
    first[starts[some]], last[ends[some] - 1] = d[some], d[some]
    np.testing.assert_array_equal(anew(vl.ops.backprop_reduce_first, d, lengths), first)
    np.testing.assert_array_equal(anew(vl.ops.backprop_reduce_last, d, lengths), last)
    which = np.where(some, lengths // 2, -1)
    middle = np.zeros(ROWS, np.float32)
    middle[(starts + which)[some]] = d[some]
    np.testing.assert_array_equal(anew(vl.ops.backprop_reduce_max, d, which, lengths), middle)


@pytest.mark.parametrize("by", [1, -1, 2, 40, -40])
def test_rows_move_across_a_cut(lengths, by, any_threads):
    values = np.arange(1, ROWS + 1, dtype=np.float32)
    row = np.arange(ROWS)
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    of = np.repeat(lengths, lengths)
    at = row - starts
    inside = (at - by >= 0) & (at - by < of)
    moved = np.where(inside, values[np.clip(row - by, 0, ROWS - 1)], -1)
    np.testing.assert_array_equal(anew(vl.ops.shift, values, lengths, by=by, fill=-1), moved)
    np.testing.assert_array_equal(anew(vl.ops.roll, values, lengths, by=by), values[starts + (at - by) % of])
    np.testing.assert_array_equal(anew(vl.ops.reverse, values, lengths), values[starts + of - 1 - at])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "uint8"])
def test_equal_extremes_of_a_run_are_the_first_of_it_across_a_cut(dtype, any_threads):
    # Runs of one number that are longer than a share.
    for lengths in ([ROWS], [ROWS // 2, 5, ROWS - ROWS // 2 - 5]):
        values = np.concatenate([np.arange(n) // 200_000 for n in lengths]).astype(dtype)
        for reverse in (False, True):
            given = values[::-1].copy() if reverse else values
            level = lengths[::-1] if reverse else lengths
            found, which = anew(vl.ops.cummax, given, level, reverse=reverse, which=True)
            np.testing.assert_array_equal(found, given)
            want = [np.arange(n) // 200_000 * 200_000 for n in lengths]
            if reverse:
                want = [n - 1 - x[::-1] for n, x in zip(level, want[::-1], strict=True)]
            np.testing.assert_array_equal(which, np.concatenate(want))


@pytest.mark.parametrize("dtype", ["float32", "int64", "float64", "uint32"])
def test_keys_that_differ_between_shares_alone_are_put_in_order(dtype, any_threads):
    # Each share of the first sequence holds one number.
    n = 1 << 19
    shares = (np.arange(n) // (n // 16))[::-1].astype(dtype)
    halves = (np.arange(n) < n // 2).astype(dtype)
    for values in (shares, halves, drawn_values(n, "int32").astype(dtype)):
        for descending in (False, True):
            result, which = anew(vl.ops.topk, values, [n], k=n, largest=descending)
            order = np.argsort(-values.astype(np.float64) if descending else values, kind="stable")
            np.testing.assert_array_equal(flat(result).reshape(-1), values[order])
            np.testing.assert_array_equal(flat(which).reshape(-1), order)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_sequences_of_several_shares_are_put_in_order(dtype, any_threads):
    lengths = drawn_lengths(300_001, 2000)
    values = drawn_values(300_001, dtype)
    own = np.repeat(np.arange(len(lengths)), lengths)
    order = np.lexsort((np.arange(len(values)), values, own))
    np.testing.assert_array_equal(anew(vl.ops.sort, values, lengths), values[order])
    starts = np.repeat(np.cumsum(lengths) - lengths, lengths)
    np.testing.assert_array_equal(anew(vl.ops.argsort, values, lengths), order - starts)


@pytest.mark.parametrize(
    ("dtype", "columns"), [("float32", 1), ("float32", 32), ("float32", 64), ("float16", 16), ("int64", 8)]
)
def test_all_that_is_added_to_a_row_is_added_by_one_share(dtype, columns, any_threads):
    n = (9 << 18) // (columns * np.dtype(dtype).itemsize) + 1
    rng = np.random.default_rng(columns)
    values = rng.integers(0, 2, (n, columns)).astype(dtype)
    for rows, at in (
        (40, rng.integers(3, 37, n)),  # long runs, and rows without any in front, between and behind
        (3, np.ones(n, np.int64)),
        (n + 7, rng.permutation(n) + 2),
        (2 * n, rng.integers(0, n, n) * 2),
    ):
        if dtype == "float16" and rows < n:
            continue  # sums past 2048 are rounded
        want = np.stack([np.bincount(at, column, rows) for column in values.T], 1)
        guarded = Guarded(dtype, (rows, columns))
        guarded.out.view(np.uint8)[...] = 0x5A
        vl.ops.backprop_gather_add(values, at[:, None], rows, out=guarded.out)
        np.testing.assert_array_equal(guarded.out, want.astype(dtype))
        guarded.check()
        table = np.ones((rows, columns), dtype)
        vl.ops.scatter_add(table, at, values)
        np.testing.assert_array_equal(table, (want + 1).astype(dtype))


def test_hashes_of_all_shares_are_those_of_each(any_threads):
    ids = np.arange(100_003, dtype=np.uint64)
    whole = anew(vl.ops.hash, ids, 7)
    for begin in (0, 49_999, 100_002):
        np.testing.assert_array_equal(
            whole[begin : begin + 100], anew(vl.ops.hash, ids[begin : begin + 100], 7)
        )
    lengths = [3, 50_000, 1, 0, 49_999]
    grams = flat(anew(vl.ops.ngrams, 2, ids, lengths=lengths))
    pairs = np.flatnonzero(~np.isin(np.arange(1, len(ids) + 1), np.cumsum(lengths)))
    assert len(grams) == len(pairs)
    for k in (0, 1, 2, 3, 25_000, 49_000, 50_000, 50_001, 99_000, len(pairs) - 1):
        pair = flat(anew(vl.ops.ngrams, 2, ids[pairs[k] : pairs[k] + 2], lengths=[2]))
        np.testing.assert_array_equal(grams[k : k + 1], pair)


@pytest.mark.parametrize("pieces", [1, 2, 3, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_largest_piece_is_found_in_all_shares(dtype, pieces, any_threads):
    n = 200_003
    x = drawn_values(n * pieces, dtype).reshape(n, 1, pieces)
    x[::97] = np.nan
    best, which = anew(_core.maxout, x)
    want = np.where(np.isnan(x[..., 0]), 0, np.argmax(x, -1))
    np.testing.assert_array_equal(which, want)
    np.testing.assert_array_equal(best, np.take_along_axis(x, want[..., None], -1)[..., 0])


@pytest.mark.parametrize(
    ("dtype", "to"),
    [("float32", "float64"), ("int16", "float32"), ("float64", "float16"), ("uint8", "int64")],
)
def test_numbers_are_converted_in_all_shares(dtype, to, any_threads):
    values = drawn_values(ROWS, dtype)
    np.testing.assert_array_equal(anew(_core.cast, values, np.dtype(to)), values.astype(to))


@pytest.mark.parametrize("most", [3, 300, ROWS])
def test_rows_of_a_block_are_packed_and_unpacked_across_a_cut(most, any_threads):
    lengths = drawn_lengths(ROWS, most) if most < ROWS else np.array([ROWS // 2, 0, ROWS - ROWS // 2])
    values = np.arange(1, ROWS + 1, dtype=np.float32)
    order = np.argsort(-lengths, kind="stable")
    at = np.concatenate([np.arange(n) for n in lengths[order]])
    column = np.repeat(np.arange(len(lengths)), lengths[order])
    starts = np.repeat((np.cumsum(lengths) - lengths)[order], lengths[order])
    step_by_step = values[(starts + at)[np.lexsort((column, at))]]
    packed = vl.ops.pack(values, lengths)
    sizes = np.bincount(at)
    np.testing.assert_array_equal(packed.values.sum(dtype=np.float64), values.sum(dtype=np.float64))
    np.testing.assert_array_equal(packed.to_ragged().values, values)
    padded = vl.Ragged(values, lengths).to_padded()
    np.testing.assert_array_equal(padded.size_at_t, sizes)
    np.testing.assert_array_equal(padded.to_ragged().values, values)
    if (np.asarray(packed.indices) == order).all():
        np.testing.assert_array_equal(packed.values, step_by_step)
