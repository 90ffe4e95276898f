"""Sequences repeated, and repeats added up, as an expert writes it with numba."""

from __future__ import annotations

from . import ONE, ZERO, jit, u


@jit
def repeat_sequences(values, offsets, times, out):
    """Sequence k, times[k] times."""
    to = ZERO
    for k in range(u(len(times))):
        begin, end = u(offsets[k]), u(offsets[k + ONE])
        for _ in range(times[k]):
            for j in range(begin, end):
                out[to] = values[j]
                to += ONE


@jit
def add_sequences(rows, offsets, times, out):
    """The rows of each repeat onto those of its sequence."""
    columns, at = u(rows.shape[1]), ZERO
    for k in range(u(len(times))):
        begin, end = u(offsets[k]), u(offsets[k + ONE])
        for j in range(begin, end):
            for c in range(columns):
                out[j, c] = 0
        for _ in range(times[k]):
            for j in range(begin, end):
                for c in range(columns):
                    out[j, c] += rows[at, c]
                at += ONE
