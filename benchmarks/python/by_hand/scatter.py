"""Lookups and spans as an expert writes them with numba; see `by_hand`."""

from __future__ import annotations

import numpy as np

from . import ONE, ZERO, jit, u


@jit
def gather_add(table, indices, out):
    """Sums of rows of a table, all of them flat; four rows at a time."""
    K, width = u(indices.shape[1]), u(out.shape[1])
    for t in range(u(len(indices))):
        a, b = u(indices[t, ZERO]) * width, u(indices[t, ONE]) * width
        c, d = u(indices[t, u(2)]) * width, u(indices[t, u(3)]) * width
        for j in range(width):
            out[t, j] = table[a + j] + table[b + j] + table[c + j] + table[d + j]
        for k in range(u(4), K):
            a = u(indices[t, k]) * width
            for j in range(width):
                out[t, j] += table[a + j]


@jit
def backprop_gather_add(given, indices, out):
    """Rows added where their indices say."""
    width = u(given.shape[1])
    out[:] = 0
    for t in range(u(len(indices))):
        for k in range(u(indices.shape[1])):
            at = u(indices[t, k]) * width
            for j in range(width):
                out[at + j] += given[t, j]


@jit
def spans(values, starts, at, out):
    """The rows of spans, flat, one after another."""
    width = u(values.shape[1])
    done = ZERO
    for s in range(u(len(at))):
        for row in range(u(starts[s] + at[s, 0]), u(starts[s] + at[s, 1])):
            for j in range(width):
                out[done + j] = values[row, j]
            done += width


@jit
def take(values, rows, out):
    """Some rows."""
    width = u(values.shape[1])
    for k in range(u(len(rows))):
        row = u(rows[k])
        for j in range(width):
            out[k, j] = values[row, j]


@jit
def insert(values, before, out):
    """Rows with rows of zeros between them."""
    width = u(values.shape[1])
    k = done = ZERO
    n = u(len(before))
    for t in range(u(len(values)) + ONE):
        while k < n and u(before[k]) == t:
            for j in range(width):
                out[done, j] = np.float32(0)
            done += ONE
            k += ONE
        if t < u(len(values)):
            for j in range(width):
                out[done, j] = values[t, j]
            done += ONE
