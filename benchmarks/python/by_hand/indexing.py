"""Masks and places inside sequences."""

from __future__ import annotations

import numpy as np

from . import ONE, ZERO, jit, u


@jit
def select(values, offsets, limit):
    """The numbers above a limit, and where they end in each sequence."""
    out, ends = np.empty_like(values), np.empty(len(offsets) - 1, np.int64)
    place = ZERO
    for i in range(u(len(ends))):
        for j in range(u(offsets[i]), u(offsets[i + ONE])):
            out[place] = values[j]
            if values[j] > limit:
                place += ONE
        ends[i] = place
    return out[:place], ends


@jit
def pick(values, offsets, order):
    """The numbers of each sequence in an order of its own; -1 where a place is outside."""
    out = np.empty_like(values)
    for i in range(u(len(offsets) - 1)):
        start, size = u(offsets[i]), u(offsets[i + ONE]) - u(offsets[i])
        for j in range(start, start + size):
            place = u(order[j])
            out[j] = values[start + place] if place < size else -1.0
    return out


@jit
def pairs(values, offsets, rows, columns):
    """The number at each column of each row; -1 where there is none."""
    out = np.empty(len(rows), values.dtype)
    for k in range(u(len(rows))):
        row = u(rows[k])
        size = u(offsets[row + ONE]) - u(offsets[row])
        column = u(columns[k])
        out[k] = values[u(offsets[row]) + column] if column < size else -1.0
    return out
