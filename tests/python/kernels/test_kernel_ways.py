"""Where a kernel changes its way, with size, alignment, width, dtype or threads, tests stand on both sides.

Results are those of NumPy or plain Python, and nothing is written around the output.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import varlen as vl
from deep import mostly_deep
from kernels import Guarded, draw
from varlen import _core

# One sequence of so many rows: below, at and above what is worked in one part, in one go, by one thread.
GIANT = [65_535, 65_536, 65_537, 131_073, 262_143, 524_288, 524_289, 1_048_577]


DTYPES = ["float32", "float64", "int32", "uint8", "bool"]
# Up to the 4 MB from which on a sequence is worked in another way, and a little beyond.
GIANTS = [
    (rows, dtype, columns)
    for rows, dtype, columns in itertools.product(GIANT, DTYPES, [1, 3])
    if rows * columns * np.dtype(dtype).itemsize <= 6 << 20
]


@pytest.mark.parametrize(("rows", "dtype", "columns"), GIANTS)
def test_a_giant_sequence_is_reduced_to_its_last_row(rows, dtype, columns, any_threads):
    values = draw(rows * columns, dtype).reshape(rows, columns)
    for lengths in ([rows], [1, rows - 2, 1], [0, rows]):
        starts = np.cumsum([0, *lengths])
        own = [values[a:b] for a, b in itertools.pairwise(starts)]
        level = vl.Level(lengths)
        wide = values.dtype if values.dtype.kind == "f" else None
        np.testing.assert_array_equal(
            vl.ops.reduce_sum(values, level), [x.sum(0, dtype=np.float64 if wide else None) for x in own]
        )
        last = [x.max(0) if len(x) else np.zeros(columns, dtype) for x in own]
        np.testing.assert_array_equal(vl.ops.reduce_max(values, level, empty=0), last)
    # The very last row counts, and so does the first of every part.
    marked = np.zeros((rows, columns), dtype)
    for row in [n - 1 for n in (rows, 65_536, 65_537, rows // 2) if n <= rows]:
        marked[row] = 1
        assert vl.ops.reduce_sum(marked, [rows]).tolist() == [[1] * columns]
        assert vl.ops.reduce_max(marked, [rows], which=True)[1].tolist() == [[row] * columns]
        marked[row] = 0


@pytest.mark.parametrize("verb", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("columns", [1, 2, 4, 5, 33])
@pytest.mark.parametrize("shift", [0, 8, 40])
def test_a_scan_fills_its_output_and_nothing_around_it(verb, dtype, columns, shift):
    function = {
        "cumsum": np.cumsum,
        "cumprod": np.cumprod,
        "cummax": np.maximum.accumulate,
        "cummin": np.minimum.accumulate,
    }[verb]
    for lengths in ([1], [3, 0, 5], [2] * 9, [31, 1, 64], [4] * 16 + [3], [257]):
        values = draw(sum(lengths) * columns, dtype, len(lengths)).reshape(-1, columns)
        if verb == "cumprod":
            values = np.sign(values.astype(np.float64)).astype(dtype)
        for reverse in (False, True):
            expected = []
            for rows in np.split(values, np.cumsum(lengths)[:-1]):
                step = -1 if reverse else 1
                expected.append(function(rows[::step], axis=0)[::step] if len(rows) else rows)
            want = np.concatenate(expected)
            kind = vl.ops.__dict__[verb](values, lengths, reverse=reverse).dtype
            guarded = Guarded(kind, values.shape, shift)
            getattr(vl.ops, verb)(values, lengths, reverse=reverse, out=guarded.out)
            np.testing.assert_array_equal(guarded.out, want.astype(kind))
            guarded.check()


@pytest.mark.parametrize("rows", [32_767, 65_537, 300_001])
@pytest.mark.parametrize("verb", ["cumsum", "cummax", "reverse", "softmax", "sort"])
def test_giant_sequences_fill_their_output_and_nothing_around_it(rows, verb, any_threads):
    values = draw(rows, "float64")
    expected = getattr(vl.ops, verb)(values, [rows])
    truth = {
        "cumsum": np.cumsum,
        "cummax": np.maximum.accumulate,
        "reverse": lambda x: x[::-1],
        "sort": np.sort,
        "softmax": lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(),
    }[verb](values)
    np.testing.assert_allclose(expected, truth, rtol=1e-12)
    for shift in (0, 8):
        guarded = Guarded("float64", (rows,), shift)
        getattr(vl.ops, verb)(values, [rows], out=guarded.out)
        np.testing.assert_array_equal(guarded.out, expected)
        guarded.check()


SIZES = [
    1,
    7,
    8,
    9,
    15,
    16,
    17,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    129,
    255,
    256,
    257,
    1023,
    1025,
    16_384,
    16_400,
]


@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "complex128", "V3", "V24"])
@pytest.mark.parametrize("shift", [0, 8, 16, 24])
@pytest.mark.parametrize("padding_side", ["left", "right"])
def test_pad_fills_any_width_at_any_alignment_and_nothing_around_it(dtype, shift, padding_side):
    kind = np.dtype(dtype)
    for size in SIZES:
        width = max(1, size // kind.itemsize)
        lengths = [width, 0, max(1, width // 2), 1, width, width - 1]
        count = sum(lengths)
        values = np.random.default_rng(size).integers(0, 255, count * kind.itemsize, np.uint8).view(kind)
        want = np.zeros((len(lengths), width), kind)
        starts = np.cumsum([0, *lengths])
        for i, n in enumerate(lengths):
            at = width - n if padding_side == "left" else 0
            want[i, at : at + n] = values[starts[i] : starts[i] + n]
        for past in (False, True):
            guarded = Guarded(kind, want.shape, shift)
            vl._core.pad(
                values, vl.Level(lengths), padding_side=padding_side, out=guarded.out, past_caches=past
            )
            assert guarded.out.tobytes() == want.tobytes(), (size, past)
            guarded.check()


@pytest.mark.parametrize("dtype", ["complex128", "float64", "int32", "uint8"])
@pytest.mark.parametrize("fill", [0, 7])
def test_a_fill_lands_whole_in_an_output_that_is_aligned_to_its_numbers_alone(dtype, fill):
    # An output aligned to 8 bytes is all that NumPy asks of numbers of 16.
    for width in (1, 2, 3, 5, 9, 17, 70, 2000):
        for trailing in ((), (3,)):
            values = draw((width + 1) * int(np.prod(trailing, dtype=int)), dtype).reshape(-1, *trailing)
            want = np.full((3, width, *trailing), fill, dtype)
            want[0], want[2, :1] = values[:width], values[width:]
            for past in (False, True):
                for shift in (0, 8, 24, 56):
                    guarded = Guarded(dtype, want.shape, shift)
                    _core.pad(values, vl.Level([width, 0, 1]), fill=fill, out=guarded.out, past_caches=past)
                    np.testing.assert_array_equal(guarded.out, want)
                    guarded.check()


@pytest.mark.parametrize("bytes_", [262_143, 262_144, 262_145, 266_240, 524_288, 4 << 20, (4 << 20) + 4096])
def test_recycled_memory_is_never_larger_than_its_buffer(bytes_):
    # Two arrays that live at once share no byte, however their memory came about. One row each: how it is
    # filled does not matter.
    vl._core.release_memory()
    row = np.zeros(1, np.int64)
    for again in (bytes_, bytes_ + 4096, bytes_ - 4096, bytes_ + 1, bytes_ * 9 // 8, bytes_ * 2):
        first = _core.take_rows(np.zeros((1, bytes_), np.uint8), row)
        del first
        held = []
        for mark in range(6):
            made = _core.take_rows(np.full((1, again), mark, np.uint8), row)
            made[...] = mark
            held.append(made)
        for mark, made in enumerate(held):
            assert made.min() == made.max() == mark, (bytes_, again)
        spans = sorted((x.ctypes.data, x.ctypes.data + x.nbytes) for x in held)
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))
        del held, made
    vl._core.release_memory()


@pytest.mark.parametrize("rest", [1, 100, 4095, 4096, 4097])
def test_recycled_memory_holds_what_is_written_past_a_page(rest):
    # The memory of the smaller array is not handed to one that is a page larger.
    small = (1 << 20) // 8 * 9
    del_me = _core.take_rows(np.zeros(small // 8), np.arange(small // 8))
    address = del_me.ctypes.data
    del del_me
    guard = [np.zeros(small // 8) for _ in range(4)]
    big = _core.take_rows(np.zeros(small // 8 + rest), np.arange(small // 8 + rest))
    if big.ctypes.data == address:
        big[...] = 1.0
        del big
        assert not any(x.any() for x in guard)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("index", ["i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("columns", mostly_deep([1, 4, 300], 1, 300))
@pytest.mark.parametrize("each", mostly_deep([0, 1, 3, 4, 5], 0, 3, 4))
def test_lookups_are_read_in_either_byte_order(order, index, columns, each, any_threads):
    rng = np.random.default_rng(each)
    for n in (1, 1500):
        table = draw(300 * columns, "float32").reshape(300, columns)
        at = rng.integers(0, 300, (n, each))
        given = at.astype(order + index)
        want = table[at].sum(1)
        np.testing.assert_array_equal(vl.ops.gather_add(table, given), want)
        np.testing.assert_array_equal(vl.ops.gather_add(table.astype(">f4"), given), want)
        back = np.zeros_like(table)
        d = draw(n * columns, "float32", 1).reshape(n, columns)
        np.add.at(back, at, d[:, None])
        np.testing.assert_array_equal(vl.ops.backprop_gather_add(d, given, 300), back)
        if each:
            added = table.copy()
            values = np.repeat(d[:, None], each, 1)
            vl.ops.scatter_add(added, given, values)
            np.testing.assert_array_equal(added, table + back)


@pytest.mark.parametrize("columns", mostly_deep([1, 2, 3, 4, 8, 16, 17, 64], 1, 2, 3, 8, 17))
@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "V12"])
@pytest.mark.parametrize("verb", ["reverse", "roll", "shift", "expand", "gather", "unpad", "pack"])
def test_rows_of_any_width_are_moved_and_nothing_around_them(verb, dtype, columns, any_threads):
    kind = np.dtype(dtype)
    for lengths in ([5], [1, 0, 2, 3], [1] * 40, [300, 2, 1, 0, 64], [20_000]):
        count = sum(lengths)
        raw = np.random.default_rng(count).integers(0, 255, count * columns * kind.itemsize, np.uint8)
        values = raw.view(kind).reshape(count, columns)
        parts = np.split(values, np.cumsum(lengths)[:-1])
        level = vl.Level(lengths)
        if verb == "expand":
            values = (
                values[: len(lengths)] if len(lengths) <= count else np.zeros((len(lengths), columns), kind)
            )
            want = np.repeat(values, lengths, 0)
            guarded = Guarded(kind, want.shape)
            _core.expand(values, level, out=guarded.out)
            result = guarded.out
        elif verb == "gather":
            r = vl.Ragged(values, level)
            order = np.random.default_rng(1).permutation(len(lengths))
            result, want = r[order].values, np.concatenate([parts[i] for i in order])
            guarded = Guarded(kind, (1,))
        elif verb == "pack":
            p = vl.Ragged(values, level).to_padded()
            result, want = p.to_ragged().values, values
            guarded = Guarded(kind, (1,))
        elif verb == "unpad":
            dense = vl.Ragged(values, level).to_dense()
            guarded = Guarded(kind, values.shape)
            result = _core.unpad(dense, level, out=guarded.out)
            want = values
        else:
            by = {"reverse": None, "roll": 2, "shift": 1}[verb]
            moved = {
                "reverse": lambda x: x[::-1],
                "roll": lambda x: np.roll(x, 2, 0),
                "shift": lambda x: np.concatenate([np.zeros_like(x[:1]), x[:-1]]),
            }[verb]
            want = np.concatenate([moved(x) if len(x) else x for x in parts])
            guarded = Guarded(kind, values.shape, 4 if kind.itemsize == 4 else 0)
            named = {} if by is None else {"by": by}
            result = getattr(vl.ops, verb)(values, level, **named, out=guarded.out)
        assert result.tobytes() == want.tobytes(), lengths
        guarded.check()


@pytest.mark.parametrize("fill", [None, 0.0, 2.5])
@pytest.mark.parametrize("by", [0, 1, -2, 99, [1, -1, 0, 2]])
def test_the_gradient_of_a_shift_is_the_transposed_shift_whatever_the_fill(fill, by):
    torch = pytest.importorskip("torch")
    lengths = [3, 0, 4, 1]
    x = torch.arange(16.0, dtype=torch.float64).reshape(8, 2).requires_grad_()
    weights = torch.arange(1.0, 17.0, dtype=torch.float64).reshape(8, 2)
    r = vl.Ragged(x, lengths)
    (r.shift(by) if fill is None else r.shift(by, fill=fill)).values.mul(weights).sum().backward()
    moves = by if isinstance(by, list) else [by] * len(lengths)
    want, start = np.zeros((8, 2)), 0
    for length, move in zip(lengths, moves, strict=True):
        for row in range(length):
            if 0 <= row + move < length:
                want[start + row] = weights[start + row + move].numpy()
        start += length
    np.testing.assert_array_equal(x.grad.numpy(), want)
    d = weights.numpy()
    np.testing.assert_array_equal(vl.ops.backprop_shift(d, lengths, by=np.array(moves)), want)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 31, 32, 33, 255, 256, 257, 1024, 1025, 131_071, 131_073])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16"])
def test_runs_of_any_length_are_sorted_stably(count, dtype):
    values = draw(count, dtype, count)
    for lengths in ([count], [count, 0, 1, count]):
        all_values = np.concatenate([values, values[:1], values])[: sum(lengths)]
        r = vl.Ragged(all_values, lengths)
        parts = np.split(all_values, np.cumsum(lengths)[:-1])
        np.testing.assert_array_equal(r.sort().values, np.concatenate([np.sort(x) for x in parts]))
        places = np.concatenate([np.argsort(x, kind="stable") for x in parts])
        np.testing.assert_array_equal(r.argsort().values, places)


@pytest.mark.parametrize("count", [1, 7, 8, 15, 16, 31, 32, 63, 64, 65, 1000])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("tokens", [0, 1, 2, 4, 5, 9])
def test_erase_agrees_with_plain_python_at_every_count(count, dtype, tokens):
    values = draw(count, dtype, 3)
    gone = sorted(set(draw(40, dtype, 4).tolist()))[:tokens]
    cut = sorted({0, count // 3, count // 3, count - 1, count})
    lengths = np.diff([0, *cut, count])
    parts = np.split(values, np.cumsum(lengths)[:-1])
    erased = vl.sequence_erase(vl.Ragged(values, lengths), gone)
    assert erased.to_list() == [[x for x in part.tolist() if x not in gone] for part in parts]


@pytest.mark.parametrize("width", [1, 2, 4, 8, 16, 32, 48, 100, 128, 136, 1000])
def test_an_expansion_past_the_caches_is_whole(width):
    # Large outputs go past the caches, by lines where rows are lines and put together where they are not.
    count = (40 << 20) // width
    rows = np.random.default_rng(0).integers(0, 255, (4, width), np.uint8)
    level = vl.Level([count // 2, 0, 3, count - count // 2 - 3])
    for shift in (0, 8):
        guarded = Guarded(np.uint8, (count, width), shift)
        _core.expand(rows, level, out=guarded.out)
        ends = level.offsets
        for i in range(4):
            part = guarded.out[ends[i] : ends[i + 1]]
            assert (part[:1000] == rows[i]).all()
            assert (part[-1000:] == rows[i]).all()
            if len(part):
                assert (part.view(f"V{width}") == rows[i : i + 1].view(f"V{width}")).all()
        guarded.check()


ENDS = [1, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000, 4095, 4096, 4097, 16_385, 70_001]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", ENDS)
@pytest.mark.parametrize("columns", [1, 2, 8, 16])
def test_extremes_find_nan_wherever_it_lies(dtype, n, columns):
    lengths = [n, 0, 1, n, 2] if columns == 1 else [n, 0, 1]
    rng = np.random.default_rng(n)
    values = rng.standard_normal((sum(lengths), columns)).astype(dtype)
    values[0] = -np.inf
    values[-1] = np.inf
    for row in (
        sorted({*range(min(n, 70)), *range(max(0, n - 70), n), n // 2}) if columns == 1 else [0, n - 1]
    ):
        marked = values.copy()
        marked[row, columns - 1] = np.nan
        guarded = Guarded(dtype, (len(lengths), columns))
        _core.reduce("max", marked, vl.Level(lengths), -1, guarded.out)
        guarded.check()
        own = np.split(marked, np.cumsum(lengths)[:-1])
        want = [x.max(0) if len(x) else np.full(columns, -1, dtype) for x in own]
        np.testing.assert_array_equal(guarded.out, want)
    np.testing.assert_array_equal(
        vl.ops.reduce_min(values, lengths, empty=5),
        [x.min(0) if len(x) else np.full(columns, 5) for x in np.split(values, np.cumsum(lengths)[:-1])],
    )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", ENDS[:-1])
def test_a_sum_is_the_same_alone_and_among_others(dtype, n):
    rng = np.random.default_rng(n)
    values = (rng.standard_normal(n) * 1e3).astype(dtype)
    alone = vl.ops.reduce_sum(values, [n])[0]
    for before, behind in ((0, 1), (3, 0), (1, 200), (129, 5000)):
        around = np.concatenate([np.ones(before, dtype), values, np.ones(behind, dtype)])
        lengths = [1] * before + [n] + [behind]
        assert vl.ops.reduce_sum(around, lengths)[before] == alone
        assert vl.ops.reduce_sum(around, [before, n, behind])[1] == alone
        shares = vl.ops.softmax(around, [before, n, behind])[before : before + n]
        np.testing.assert_array_equal(shares, vl.ops.softmax(values, [n]))


# Columns around one, two, four, six, eight and twelve vectors of 32 and 64 bytes.
WIDTHS = [3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 95, 96, 97, 100, 127, 128, 129, 300]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("shift", [0, 8])
def test_rows_of_any_width_are_summed_to_their_last_column(dtype, columns, shift):
    for lengths in ([1], [2, 0, 3], [4, 5, 1], [7, 8, 9], [4097]):
        values = draw(sum(lengths) * columns, dtype, columns).reshape(-1, columns)
        level = vl.Level(lengths)
        own = [x.sum(0) for x in np.split(values, np.cumsum(lengths)[:-1])]
        guarded = Guarded(dtype, (len(lengths), columns), shift)
        _core.reduce("sum", values, level, 0, guarded.out)
        np.testing.assert_array_equal(guarded.out, own)
        guarded.check()
        if dtype != "int64":
            shares = vl.ops.softmax(values, level)
            np.testing.assert_allclose(
                vl.ops.reduce_sum(shares, level), [[float(n > 0)] * columns for n in lengths], rtol=1e-4
            )


@pytest.mark.parametrize(("dtype", "columns"), [("float32", 257), ("float64", 129), ("float64", 130)])
def test_the_last_columns_of_a_giant_sequence_are_softened_as_the_others(dtype, columns, any_threads):
    values = draw(4097 * columns, dtype, 1).reshape(-1, columns)
    shares = np.exp(values - values.max(0), dtype=np.float64)
    shares /= shares.sum(0)
    np.testing.assert_allclose(vl.ops.softmax(values, [4097]), shares, rtol=1e-5, atol=1e-9)
    spread = vl.Ragged(values, [4097]).var()
    np.testing.assert_allclose(spread, values.var(0, dtype=np.float64)[None], rtol=1e-5)


@pytest.mark.parametrize("columns", [16, 24, 64, 96, 100, 130])
def test_rows_past_the_caches_are_summed_as_those_within(columns):
    values = np.random.default_rng(columns).standard_normal((1_200_000 // columns, columns), np.float32)
    lengths = [5, 20, 1, 0, 7] * (len(values) // 33)
    values = values[: sum(lengths)]
    whole = vl.ops.reduce_sum(values, lengths)
    few = lengths[:50]
    np.testing.assert_array_equal(whole[:50], vl.ops.reduce_sum(values[: sum(few)], few))


def odd_floats(count, dtype, seed=0):
    """Numbers, infinities, zeros of both signs, and quiet NaN of either sign with marks of their own."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng(seed)
    if kind.kind == "c":
        part = f"{kind.byteorder}f{kind.itemsize // 2}"
        return odd_floats(2 * count, part, seed).view(kind)
    values = draw(count, kind, seed)
    if kind.kind != "f":
        return values
    size = kind.itemsize
    quiet = {2: 0x7E00, 4: 0x7FC00000, 8: 0x7FF8000000000000}[size]
    marks = rng.integers(0, 1 << {2: 8, 4: 20, 8: 50}[size], count, np.uint64) | np.uint64(quiet)
    marks |= rng.integers(0, 2, count, np.uint64) << np.uint64(8 * size - 1)
    nans = marks.astype(f"u{size}").view(f"f{size}").view(f"u{size}").astype(f"{kind.byteorder}u{size}")
    bits = values.view(f"{kind.byteorder}u{size}")
    at = rng.random(count)
    bits[at < 0.2] = nans[at < 0.2]
    values[(at > 0.2) & (at < 0.25)] = np.inf
    values[(at > 0.25) & (at < 0.3)] = -0.0
    return values


CASTS = [
    ("float32", "float64"),
    (">f4", "float64"),
    (">f8", "float64"),
    ("float16", "float32"),
    ("int8", "int64"),
    (">i4", "int64"),
    ("uint16", "float32"),
    ("bool", "uint8"),
    ("float64", "float32"),
]


@pytest.mark.parametrize(("dtype", "to"), CASTS)
@pytest.mark.parametrize("shift", [0, 8, 24])
@pytest.mark.parametrize("past", [False, True], ids=["cached", "past"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_values_converted_past_the_caches_are_those_converted_in_them(dtype, to, shift, past, side):
    # 4096 bytes are converted at a time: sequences end below, at and above that, and many end inside it.
    once = 4096 // np.dtype(to).itemsize
    for trailing in ((), (3,)):
        columns = int(np.prod(trailing, dtype=int))
        step = once // columns
        for lengths in ([step - 1, 0, step, 1, step + 1], [3 * step + 1, 2], [3, 0, 2, 1] * 700, [step * 9]):
            values = odd_floats(sum(lengths) * columns, dtype, len(lengths)).reshape(-1, *trailing)
            want = np.full((len(lengths), max(lengths), *trailing), 1, to)
            parts = np.split(values.astype(to), np.cumsum(lengths)[:-1])
            for row, part in zip(want, parts, strict=True):
                at = len(row) - len(part) if side == "left" else 0
                row[at : at + len(part)] = part
            guarded = Guarded(to, want.shape, shift)
            level = vl.Level(lengths)
            _core.pad(values, level, side, fill=1, dtype=to, out=guarded.out, past_caches=past)
            assert guarded.out.tobytes() == want.tobytes(), lengths
            guarded.check()


def as_moved(verb, values, lengths):
    """What a verb that moves rows gives, in NumPy's words."""
    parts = np.split(values, np.cumsum(lengths)[:-1])
    if verb == "expand":
        return np.repeat(values[: len(lengths)], lengths, 0)
    if verb == "pad":
        want = np.zeros((len(lengths), max(lengths), *values.shape[1:]), values.dtype)
        for row, part in zip(want, parts, strict=True):
            row[: len(part)] = part
        return want
    if verb == "list2padded":
        order = sorted(range(len(lengths)), key=lambda i: (lengths[i], i), reverse=True)
        want = np.zeros((max(lengths), len(lengths), *values.shape[1:]), values.dtype)
        for column, i in enumerate(order):
            want[: lengths[i], column] = parts[i]
        return want
    if verb == "seq2col":
        zero = np.zeros_like(values[:1])
        around = [
            np.stack([np.concatenate([zero, x[:-1]]), x, np.concatenate([x[1:], zero])], 1)
            for x in parts
            if len(x)
        ]
        return np.concatenate(around).reshape(len(values), -1)
    if verb == "padded2ragged":
        return values
    moved = {
        "reverse": lambda x: x[::-1],
        "roll": lambda x: np.roll(x, 3, 0),
        "shift": lambda x: np.concatenate([np.zeros_like(x[:3]), x[:-3]]),
    }[verb]
    return np.concatenate([moved(x) if len(x) else x for x in parts])


def move(verb, values, level, shift):
    if verb == "list2padded":
        return _core.ragged2padded(values, level)[0], None
    if verb == "padded2ragged":
        return vl.ops.padded2ragged(vl.ops.ragged2padded(vl.Ragged(values, level))).values, None
    if verb == "seq2col":
        return _core.seq2col(values, level, 1, 1)[0], None
    shape = (len(level), level.longest, *values.shape[1:]) if verb == "pad" else values.shape
    guarded = Guarded(values.dtype, shape, shift)
    if verb == "expand":
        _core.expand(values[: len(level)], level, out=guarded.out)
    elif verb == "pad":
        _core.pad(values, level, out=guarded.out)
    else:
        named = {} if verb == "reverse" else {"by": 3}
        getattr(vl.ops, verb)(values, level, **named, out=guarded.out)
    return guarded.out, guarded


@pytest.mark.parametrize("megabytes", [1, 36])
@pytest.mark.parametrize(
    ("dtype", "columns", "shift"),
    [
        ("float32", 1, 4),
        pytest.param(">f4", 3, 4, marks=pytest.mark.deep),
        (">f8", 16, 8),
        pytest.param("complex128", 1, 8, marks=pytest.mark.deep),
        ("complex128", 4, 8),
        pytest.param("float64", 8, 8, marks=pytest.mark.deep),
        ("float16", 7, 2),
    ],
)
@pytest.mark.parametrize(
    "verb", ["pad", "expand", "reverse", "roll", "shift", "list2padded", "padded2ragged", "seq2col"]
)
def test_rows_keep_every_byte_on_both_sides_of_the_caches(verb, dtype, columns, shift, megabytes):
    # Outputs go past the caches from half of the last one on, which is counted as 8 to 32 MB.
    rows = (megabytes << 20) // (np.dtype(dtype).itemsize * columns)
    if verb == "seq2col":
        rows //= 3
    lengths = [rows // 2, 0, 3, rows // 4, rows - rows // 2 - rows // 4 - 3]
    # As bytes without a meaning, which NumPy does not swap either.
    raw = np.resize(odd_floats(65_537, dtype).view(f"V{np.dtype(dtype).itemsize}"), (rows, columns))
    result, guarded = move(verb, raw.view(dtype), vl.Level(lengths), shift)
    want = as_moved(verb, raw, lengths)
    assert result.dtype == dtype
    assert result.shape == want.shape
    assert result.tobytes() == want.tobytes()
    if guarded is not None:
        guarded.check()


# What fits 32 bits, what lies under the exponent of a double, and what is summed one by one.
HUGE = [
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**32 + 6,
    2**33 - 1,
    2**33,
    2**51,
    2**52 - 1,
    2**52,
    2**53,
    2**62,
]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("huge", HUGE)
def test_lengths_of_any_size_are_summed_and_compared(huge, dtype):
    if huge > np.iinfo(dtype).max:
        return
    for count, place in itertools.product((1, 3, 4, 5, 8, 9, 1025), (0, 1, 2, 3, 7, 1023, 1024)):
        if place >= count:
            continue
        lengths = np.resize([5, 3, 9, 4, 2**20 + 1], count).astype(dtype)
        lengths[place] = huge
        level = vl.Level(lengths)
        assert level.offsets.tolist() == [0, *itertools.accumulate(lengths.tolist())]
        assert level.longest == huge
        assert level.shortest == lengths.min()


@pytest.mark.parametrize("verb", ["cumsum", "cumprod"])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_short_sequences_are_scanned_whatever_blocks_they_take(verb, exclusive, reverse):
    # Sequences of up to 32 floats are listed in blocks of four, 248 blocks at a time; longer ones are not.
    for length in (1, 3, 4, 5, 27, 28, 29, 31, 32, 33, 35, 36, 37, 40, 65):
        for before, behind in ((0, 90), (90, 0), (20, 30), (246, 100), (247, 100), (248, 100)):
            lengths = [4] * before + [length] + [3, 1, 0] * behind
            values = np.resize(np.array([2, -1, 0.5, -2, 1, 1, 0.5, -1], np.float32), sum(lengths))
            want = []
            for rows in np.split(values, np.cumsum(lengths)[:-1]):
                rows = rows[::-1] if reverse else rows
                first = np.full(min(len(rows), 1), 0 if verb == "cumsum" else 1, np.float32)
                rows = np.concatenate([first, rows[:-1]]) if exclusive else rows
                joined = getattr(np, verb)(rows)
                want.append(joined[::-1] if reverse else joined)
            guarded = Guarded("float32", values.shape)
            getattr(vl.ops, verb)(values, lengths, exclusive=exclusive, reverse=reverse, out=guarded.out)
            np.testing.assert_array_equal(guarded.out, np.concatenate(want))
            guarded.check()


def running_extreme(rows, verb, first):
    """The running extreme of each row: the first of equals, NaN from the first one on."""
    best, out = first, []
    for row in rows.tolist():
        if np.isnan(row) or (row > best if verb == "cummax" else row < best):
            best = row
        out.append(best)
    return np.array(out, rows.dtype)


@pytest.mark.parametrize("verb", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("nan", [False, True])
def test_a_running_extreme_starts_anew_with_its_sequence_wherever_that_is(verb, dtype, nan):
    # Plain float32 goes sixteen rows at once, and the starts of 2048 rows are marked at once.
    lowest = -np.inf if verb == "cummax" else np.inf
    drawn = np.random.default_rng(26)
    for total in (1, 15, 16, 17, 31, 32, 33, 2047, 2048, 2049, 2064, 4096, 4100):
        for mean in (1, 3, 16, 40, total):
            cuts = (
                np.sort(drawn.integers(0, total + 1, total // mean)) if mean < total else np.array([0, total])
            )
            lengths = np.diff(np.concatenate([[0], cuts, [total]]))
            values = drawn.integers(-4, 5, total).astype(dtype)
            values[drawn.integers(0, total, total // 8)] = -0.0
            values[drawn.integers(0, total, total // 16)] = lowest
            if nan:
                values[drawn.integers(0, total, 1 + total // 64)] = np.nan
            want = np.concatenate(
                [running_extreme(rows, verb, lowest) for rows in np.split(values, np.cumsum(lengths)[:-1])]
            )
            guarded = Guarded(dtype, values.shape)
            getattr(vl.ops, verb)(values, lengths, out=guarded.out)
            np.testing.assert_array_equal(guarded.out, want)
            np.testing.assert_array_equal(np.signbit(guarded.out), np.signbit(want))
            guarded.check()


@pytest.mark.parametrize("verb", ["cummax", "cummin"])
def test_a_running_extreme_is_nan_in_its_own_sequence_alone(verb):
    for lane in range(35):
        for length in (1, 2, 5, 16, 17):
            values = np.zeros(3 * 16 + 5, np.float32)
            values[lane] = np.nan
            lengths = [length] * (len(values) // length) + [len(values) % length]
            stop = min(len(values), (lane // length + 1) * length)
            is_nan = np.zeros(len(values), bool)
            is_nan[lane:stop] = True
            np.testing.assert_array_equal(np.isnan(getattr(vl.ops, verb)(values, lengths)), is_nan)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_running_extreme_is_nan_from_where_there_is_one(dtype, columns, reverse):
    # NaN is looked for in up to 1024 rows at once.
    for length in (1, 2, 1023, 1024, 1025, 2049):
        for row in sorted({0, 1, length // 2, 1022, 1023, 1024, 1025, length - 2, length - 1}):
            if not 0 <= row < length:
                continue
            values = np.zeros((3 + length + 2, columns), dtype)
            values[3 + row, -1] = np.nan
            for verb in ("cummax", "cummin"):
                result = getattr(vl.ops, verb)(values, [3, length, 0, 2], reverse=reverse)
                nans = np.zeros(values.shape, bool)
                nans[3 : 3 + row + 1 if reverse else None, -1] = reverse
                if not reverse:
                    nans[3 + row : 3 + length, -1] = True
                np.testing.assert_array_equal(np.isnan(result), nans)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("rows", [400_000, 1_100_001])
def test_products_of_a_part_that_leave_the_range_are_no_part_of_any_other(rows, dtype, reverse, any_threads):
    values = np.full(rows, 2, dtype)
    values[-1 if reverse else 0] = 0
    assert not vl.ops.cumprod(values, [rows], reverse=reverse).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("k", [1, 16, 17, 32, 33, 100])
@pytest.mark.parametrize("kind", ["drawn", "rising", "falling"])
def test_the_largest_are_the_first_of_a_stable_sort(dtype, k, kind, any_threads):
    """By a heap, by digits, and by both: where few are wanted, where some are, and where many are."""
    lengths = [1023, 1024, 1025, 0, 9_000, k]
    level = vl.Level.from_lengths(lengths)
    values = draw(level.total, dtype, seed=k)
    if kind != "drawn":
        values = np.sort(values)[:: 1 if kind == "rising" else -1].copy()
    for largest in (True, False):
        best, which = vl.ops.topk(values, level, k=k, largest=largest)
        for i, n in enumerate(lengths):
            mine = values[level.offsets[i] : level.offsets[i + 1]].astype(np.float64)
            order = np.argsort(-mine if largest else mine, kind="stable")[:k]
            assert which[i].tolist() == order.tolist(), (i, n, largest)
            assert best[i].tolist() == mine[order].tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("mean", [1, 3, 8, 16, 33, 200])
def test_short_sequences_are_reversed_up_to_both_ends_of_memory(dtype, mean, any_threads):
    """Vectors run over the end of a sequence and read before its start, but for the first and the last."""
    lengths = np.random.default_rng(mean).integers(0, 2 * mean + 1, 300)
    for first, last in ((0, 0), (1, 1), (4 * mean, 5 * mean + 70)):
        level = vl.Level.from_lengths([first, *lengths, last])
        values = draw(level.total, dtype, seed=mean)
        guarded = Guarded(dtype, values.shape, values.itemsize)
        _core.reverse(values, level, out=guarded.out)
        guarded.check()
        wanted = [values[a:b][::-1] for a, b in itertools.pairwise(level.offsets)]
        np.testing.assert_array_equal(guarded.out, np.concatenate(wanted))


@pytest.mark.parametrize("bytes_each", [8191, 8192, 8193, 16_384, 100_000])
@pytest.mark.parametrize("ahead", [0, 1, 511, 512, 513, 2048, 4095])
def test_long_copies_are_whole_wherever_both_ends_stand_in_a_page(bytes_each, ahead):
    room = np.zeros(4 * bytes_each + 3 * 4096, np.uint8)
    begin = -room.ctypes.data % 4096 + 4
    values = room[begin : begin + 3 * bytes_each].reshape(3, bytes_each)
    values[:] = draw(3 * bytes_each, np.uint8).reshape(values.shape)
    guarded = Guarded(np.uint8, (3 * bytes_each + 2 * 4096,))
    start = (4 + ahead - guarded.out.ctypes.data) % 4096
    out = guarded.out[start : start + 3 * bytes_each].reshape(values.shape)
    guarded.out[:] = 7
    _core.reverse(values, vl.Level([3]), out=out)
    np.testing.assert_array_equal(out, values[::-1])
    assert (guarded.out[:start] == 7).all()
    assert (guarded.out[start + values.size :] == 7).all()
    guarded.check()


# Up to 128 bytes rows are copied from where they lie, up to 384 they are held in registers.
REPEATED = [31, 32, 33, 64, 127, 128, 129, 160, 161, 192, 193, 255, 256, 257, 320, 321, 383, 384, 385]


@pytest.mark.parametrize("width", REPEATED)
@pytest.mark.parametrize("shift", [0, 1, 16])
def test_rows_of_a_few_lines_are_repeated_any_number_of_times(width, shift, any_threads):
    times = np.random.default_rng(width).integers(0, 9, 3000)
    times[[5, 700]] = 600, 0
    rows = draw(3000 * width, np.uint8).reshape(-1, width)
    guarded = Guarded(np.uint8, (int(times.sum()), width), shift)
    _core.expand(rows, vl.Level.from_lengths(times), out=guarded.out)
    guarded.check()
    np.testing.assert_array_equal(guarded.out, np.repeat(rows, times, axis=0))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
@pytest.mark.parametrize("n", [1, 8, 48, 49, 95, 96, 97, 111, 500, 4095, 4096, 4097, 9001])
def test_repeats_of_a_sequence_are_added_one_after_another(dtype, n, any_threads):
    # Sequences of n numbers: wide ones are read up to five repeats at once, from front to back.
    times = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13])
    d = draw(n * int(times.sum()), np.float64)
    d = d.astype(dtype) if np.dtype(dtype).kind == "f" else (d * 1000).astype(dtype)
    d[: n * 3] *= -1
    x = vl.Ragged(np.zeros(n * len(times), dtype), [n] * len(times))
    got = vl.sequence.backprop_sequence_expand(d, x, vl.Level.from_lengths(times)).values
    parts = np.split(d, np.cumsum(times * n)[:-1])
    want = np.concatenate([part.reshape(-1, n).sum(0, dtype) for part in parts])
    if n * d.itemsize > 256:  # shorter ones are added four by four
        want = np.zeros((len(times), n), dtype)
        for row, part in zip(want, parts, strict=True):
            for repeat in part.reshape(-1, n):
                row += repeat
        want = want.reshape(-1)
        np.testing.assert_array_equal(got, want)
    else:
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


def test_repeats_past_one_block_are_added_whatever_their_width(any_threads):
    for n, repeats in ((200, 4097), (97, 8200), (600, 12_289)):
        d = np.random.default_rng(n).integers(-9, 9, (repeats, n)).astype(np.float32)
        x = vl.Ragged(np.zeros(n, np.float32), [n])
        got = vl.sequence.backprop_sequence_expand(d.reshape(-1), x, vl.Level([repeats])).values
        np.testing.assert_array_equal(got, d.sum(0, np.float64).astype(np.float32))


@pytest.mark.parametrize("by", [-9, -1, 0, 1, 3, 16])
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float32", "float64", "S3", "complex128"])
def test_short_sequences_are_shifted_alike_over_every_block(dtype, by, any_threads):
    # All rows are copied in blocks of 16 KB, and the ends of sequences written in each of them.
    kind = np.dtype(dtype)
    lengths = np.random.default_rng(by + 9).integers(0, 130, 2500)
    lengths[[0, 7, 8, 900, -1]] = 0, 3, 0, 5000, 1
    count = int(lengths.sum())
    values = draw(count * kind.itemsize, np.uint8).view(kind)
    fill = np.full(kind.itemsize, 7, np.uint8).view(kind)[0]
    ids = np.repeat(np.arange(len(lengths)), lengths)
    came = np.arange(count) - by
    inside = (came >= 0) & (came < count)
    inside[inside] = ids[came[inside]] == ids[inside]
    want = np.where(inside, values[np.clip(came, 0, count - 1)], fill)
    guarded = Guarded(kind, (count,))
    vl.ops.shift(values, vl.Level.from_lengths(lengths), by=by, fill=fill, out=guarded.out)
    guarded.check()
    assert guarded.out.tobytes() == want.tobytes()


@pytest.mark.parametrize("width", [3, 16, 96, 384])
@pytest.mark.parametrize("longest", [2, 6, 12, 40])
def test_ranges_of_changing_lengths_are_gathered_and_nothing_around_them(width, longest, any_threads):
    # Copied over their ends where the next range is written again, to the byte from 4 KB on and at the last.
    rng = np.random.default_rng(width + longest)
    lengths = rng.integers(0, longest + 1, 900)
    values = draw(int(lengths.sum()) * width, np.uint8).reshape(-1, width)
    parts = np.split(values, np.cumsum(lengths)[:-1])
    for order in (rng.permutation(900), np.array([899, 0, 898]), np.repeat(rng.permutation(900)[:300], 5)):
        want = np.concatenate([parts[i] for i in order])
        taken = vl.Ragged(values, lengths)[order].values
        assert taken.tobytes() == want.tobytes()
