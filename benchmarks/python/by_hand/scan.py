"""More of what an expert writes with numba: what runs along a sequence, and rows that change places in it."""

from __future__ import annotations

import numpy as np

from . import ONE, jit, u


@jit
def cumsum(values, offsets, out):
    """Running sums of plain numbers."""
    for i in range(len(offsets) - 1):
        total = np.float32(0)
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            total += values[j]
            out[j] = total


@jit
def cummax(values, offsets, out):
    """Running maxima of plain numbers."""
    for i in range(len(offsets) - 1):
        most = np.float32(-np.inf)
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            most = max(most, values[j])
            out[j] = most


@jit
def cumsum_rows(values, offsets, out):
    """Running sums of rows of several numbers."""
    columns = u(values.shape[1])
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        if begin < end:
            for c in range(columns):
                out[begin, c] = values[begin, c]
        for j in range(begin + ONE, end):
            for c in range(columns):
                out[j, c] = out[j - ONE, c] + values[j, c]


@jit
def reverse(values, offsets, out):
    """Plain numbers, last to first."""
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        for j in range(begin, end):
            out[j] = values[begin + (end - ONE - j)]


@jit
def reverse_rows(values, offsets, out):
    """Rows of several numbers, last to first."""
    columns = u(values.shape[1])
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        for j in range(begin, end):
            row = begin + (end - ONE - j)
            for c in range(columns):
                out[j, c] = values[row, c]


@jit
def shift(values, offsets, by, out):
    """Plain numbers so many places on, zeros before them."""
    most = u(by)
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        first = min(begin + most, end)
        for j in range(begin, first):
            out[j] = 0
        for j in range(first, end):
            out[j] = values[j - most]


@jit
def there_and_back(values, offsets, mask, yes, no, out):
    """Rows of several numbers where a mask says True of their sequence, the others, and all of them again."""
    columns = u(values.shape[1])
    a, b = u(0), u(0)
    for i in range(len(mask)):
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            if mask[i]:
                for c in range(columns):
                    yes[a, c] = values[j, c]
                a += ONE
            else:
                for c in range(columns):
                    no[b, c] = values[j, c]
                b += ONE
    a, b = u(0), u(0)
    for i in range(len(mask)):
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            if mask[i]:
                for c in range(columns):
                    out[j, c] = yes[a, c]
                a += ONE
            else:
                for c in range(columns):
                    out[j, c] = no[b, c]
                b += ONE
