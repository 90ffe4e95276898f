"""Copies change their way with the bytes of a row, a sequence or a piece: tests stand on both sides of each.

Results are those of plain NumPy, and nothing is written around the output.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import varlen as vl
from kernels import Guarded, draw
from varlen import _core


@pytest.mark.parametrize("width", [1, 4, 16, 17, 32])
@pytest.mark.parametrize("mean", [4, 5, 255, 256, 257, 1024, 4096, 4097])
def test_sequences_that_move_alike_move_as_each_by_itself(width, mean):
    # All rows at once where the move is up to a quarter of the mean and a sequence is up to 4096 bytes.
    raw = np.random.default_rng(width).integers(0, 255, (4 * mean + 3, width), np.uint8)
    for lengths in ([mean] * 4 + [3], [0, 2 * mean, 1, mean, mean - 1, 3], [4 * mean + 3]):
        values = raw.view(f"V{width}")[:, 0]
        quarter = (4 * mean + 3) // len(lengths) // 4
        for by in (1, quarter, quarter + 1, -1, -quarter, -quarter - 1, mean, -2 * mean):
            want = []
            for rows in np.split(values, np.cumsum(lengths)[:-1]):
                moved = np.zeros_like(rows)
                kept = max(0, len(rows) - abs(by))
                moved[max(0, by) : max(0, by) + kept] = rows[max(0, -by) : max(0, -by) + kept]
                want.append(moved)
            guarded = Guarded(values.dtype, values.shape)
            vl.ops.shift(values, lengths, by=by, out=guarded.out)
            assert guarded.out.tobytes() == np.concatenate(want).tobytes(), (lengths[:3], by)
            guarded.check()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("bytes_", [4080, 4096, 4112, 9000])
def test_windows_give_rows_back_however_wide_they_are(dtype, bytes_):
    # dY is read once from end to end where its rows are up to 4096 bytes.
    for n in (1, 2):
        places = 2 * n + 1
        columns = bytes_ // np.dtype(dtype).itemsize // places
        for more in (0, 1):
            lengths = [5, 0, 1, 2, 3]
            d = draw(11 * places * (columns + more), dtype, n).reshape(11, -1) % 8
            guarded = Guarded(dtype, (11, columns + more))
            vl.ops.backprop_seq2col(d, n, lengths=lengths, out=guarded.out)
            want = np.zeros((11, columns + more), dtype)
            start = 0
            for length in lengths:
                for row in range(length):
                    for place in range(places):
                        if 0 <= row + place - n < length:
                            want[start + row + place - n] += d[start + row].reshape(places, -1)[place]
                start += length
            np.testing.assert_array_equal(guarded.out, want)
            guarded.check()


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "V12"])
@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("row_bytes", [96, 124, 128, 132, 144, 512, 4096, 16_380, 16_384, 16_400, 20_000])
def test_dense_rows_of_any_width_are_laid_end_to_end_and_nothing_behind_them(dtype, side, row_bytes):
    kind = np.dtype(dtype)
    slots = max(2, row_bytes // kind.itemsize)
    for lengths in (
        [slots],
        [1, 0, slots],
        [slots - 1, slots, 2, 1, slots],
        [slots // 2] * 5 + [slots, 1, 0],
    ):
        raw = np.random.default_rng(slots).integers(0, 255, sum(lengths) * kind.itemsize, np.uint8)
        values = raw.view(kind)
        dense = np.zeros((len(lengths), slots), kind)
        for row, part in zip(dense, np.split(values, np.cumsum(lengths)[:-1]), strict=True):
            at = slots - len(part) if side == "left" else 0
            row[at : at + len(part)] = part
        for shift in (0, 8):
            guarded = Guarded(kind, values.shape, shift)
            _core.unpad(dense, vl.Level(lengths), padding_side=side, out=guarded.out)
            assert guarded.out.tobytes() == values.tobytes(), lengths
            guarded.check()


# Bytes of a sequence around a vector, around two, and from where on copies are calls.
@pytest.mark.parametrize("bytes_", [4, 28, 32, 36, 60, 64, 68, 128, 480, 508, 512, 516, 2044, 2048, 2052])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "complex128"])
def test_pieces_of_any_size_are_put_where_they_belong(bytes_, dtype):
    kind = np.dtype(dtype)
    rows = max(1, bytes_ // kind.itemsize)
    sizes = [rows, max(0, rows - 1), 0, rows + 1, 1, rows]
    values = np.random.default_rng(rows).integers(0, 100, sum(sizes)).astype(dtype)
    pieces = np.split(values, np.cumsum(sizes)[:-1])
    for count in (1, 2, len(pieces)):
        some = pieces[:count]
        whole = np.concatenate(some)
        guarded = Guarded(kind, whole.shape)
        vl.ops.list2ragged(some, out=guarded.out)
        np.testing.assert_array_equal(guarded.out, whole)
        guarded.check()
        for side, fill in itertools.product(("left", "right"), (0, 7)):
            for width in (max(map(len, some)), max(map(len, some)) + 1):
                want = np.full((count, width), fill, kind)
                for row, piece in zip(want, some, strict=True):
                    at = width - len(piece) if side == "left" else 0
                    row[at : at + len(piece)] = piece
                guarded = Guarded(kind, want.shape)
                vl.ops.pad(
                    some,
                    pad_to_multiple_of=width,
                    padding_side=side,
                    fill=fill,
                    out=guarded.out,
                )
                np.testing.assert_array_equal(guarded.out, want)
                guarded.check()
    twice = [vl.Ragged(values, sizes), vl.Ragged(values[::-1].copy(), sizes[::-1])]
    mixed = vl.ops.concatenate(twice, axis=1)
    want = [
        np.concatenate(two) for two in zip(*(np.split(r.values, r.offsets[1:-1]) for r in twice), strict=True)
    ]
    np.testing.assert_array_equal(mixed.values, np.concatenate(want))


@pytest.mark.parametrize("columns", [1, 2, 3, 1023, 1024, 1025, 2047, 2048, 2049, 3100])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "V12", "V200"])
def test_columns_of_a_block_are_taken_tile_by_tile(columns, dtype):
    kind = np.dtype(dtype)
    lengths = np.random.default_rng(columns).integers(0, 5, columns)
    lengths[-1] = 5
    count = lengths.sum()
    values = np.random.default_rng(1).integers(0, 255, count * kind.itemsize, np.uint8).view(kind)
    for fill in (None, 3):
        if fill is not None and kind.kind == "V":
            continue
        padded = vl.ops.ragged2padded(vl.Ragged(values, lengths), **({} if fill is None else {"fill": fill}))
        data = np.asarray(padded.data)
        order = np.asarray(padded.indices)
        parts = np.split(values, np.cumsum(lengths)[:-1])
        want = np.zeros((5, columns), kind) if fill is None else np.full((5, columns), fill, kind)
        for column, i in enumerate(order):
            want[: lengths[i], column] = parts[i]
        assert data.tobytes() == want.tobytes()
        back = vl.ops.padded2ragged(padded)
        assert np.asarray(back.values).tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", [">i2", ">i4", ">u8", ">f2", ">f4", ">f8", "<f4"])
def test_a_fill_has_the_byte_order_of_the_rows(dtype):
    for trailing, fill in (((), 258), ((3,), [1, 258, 3]), ((3,), 258)):
        values = draw(3 * int(np.prod(trailing, dtype=int)), dtype).reshape(-1, *trailing)
        want = np.empty((2, 2, *trailing), dtype)
        want[...] = fill
        want[0], want[1, :1] = values[:2], values[2:]
        result = _core.pad(values, vl.Level([2, 1]), fill=fill)
        assert result.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(result, want)
