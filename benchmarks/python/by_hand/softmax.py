"""What an expert writes with numba for softmax: exp as a polynomial, so that loops become vectors."""

from __future__ import annotations

import numpy as np

from . import jit, u

LOG2E, UPPER, LOWER = np.float32(1.4426950408889634), np.float32(0.693359375), np.float32(-2.12194440e-4)
HALF, ONE, LEAST = np.float32(0.5), np.float32(1), np.float32(-87)
A, B = np.float32(1.39262135e-3), np.float32(8.36320297e-3)
C, D = np.float32(4.16665544e-2), np.float32(1.66665768e-1)


@jit
def exp_less(values, most, begin, end, out, bits, powers):
    """exp(values - most), which is 1 at most; nothing subnormal."""
    for j in range(begin, end):
        x = max(values[j] - most, LEAST)
        n = np.floor(x * LOG2E + HALF)
        r = (x - n * UPPER) - n * LOWER
        out[j] = ((((A * r + B) * r + C) * r + D) * r + HALF) * (r * r) + r + ONE
        powers[j] = np.int32(n)
    for j in range(begin, end):
        bits[j] += powers[j] << np.int32(23)


@jit
def softmax(values, offsets, out, bits, powers):
    """Softmax of plain numbers; bits are those of out."""
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        most = np.float32(-np.inf)
        for j in range(begin, end):
            most = max(most, values[j])
        exp_less(values, most, begin, end, out, bits, powers)
        a = b = c = d = np.float32(0)
        whole = begin + (end - begin) // u(4) * u(4)
        for j in range(begin, whole, u(4)):
            a += out[j]
            b += out[j + u(1)]
            c += out[j + u(2)]
            d += out[j + u(3)]
        for j in range(whole, end):
            a += out[j]
        share = ONE / ((a + b) + (c + d))
        for j in range(begin, end):
            out[j] *= share


@jit
def softmax_rows(values, offsets, out, bits, powers, columns, most, total):
    """Softmax of rows of several numbers, column by column; all flat."""
    columns = u(columns)
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        for c in range(columns):
            most[c] = np.float32(-np.inf)
            total[c] = 0
        for j in range(begin, end):
            for c in range(columns):
                most[c] = max(most[c], values[j * columns + c])
        for j in range(begin, end):
            for c in range(columns):
                at = j * columns + c
                x = max(values[at] - most[c], LEAST)
                n = np.floor(x * LOG2E + HALF)
                r = (x - n * UPPER) - n * LOWER
                out[at] = ((((A * r + B) * r + C) * r + D) * r + HALF) * (r * r) + r + ONE
                powers[at] = np.int32(n)
            for c in range(columns):
                bits[j * columns + c] += powers[j * columns + c] << np.int32(23)
            for c in range(columns):
                total[c] += out[j * columns + c]
        for c in range(columns):
            total[c] = ONE / total[c]
        for j in range(begin, end):
            for c in range(columns):
                out[j * columns + c] *= total[c]
