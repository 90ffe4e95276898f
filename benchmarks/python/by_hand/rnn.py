"""Rows to steps without padding and back, as an expert writes it with numba."""

from __future__ import annotations

from . import ONE, ZERO, jit, u


@jit
def pack_rows(values, offsets, order, sizes, out):
    """The rows of step 0, those of step 1 and so on, of sequences in this order, longest first."""
    size, width, to = u(len(order)), u(out.shape[1]), ZERO
    for t in range(u(len(sizes))):
        while size > ZERO and u(offsets[order[size - ONE] + 1] - offsets[order[size - ONE]]) <= t:
            size -= ONE
        sizes[t] = size
        for k in range(size):
            at = u(offsets[order[k]]) + t
            for j in range(width):
                out[to, j] = values[at, j]
            to += ONE


@jit
def unpack_rows(rows, offsets, order, sizes, out):
    """Steps to rows: `pack` undone."""
    width, at = u(out.shape[1]), ZERO
    for t in range(u(len(sizes))):
        for k in range(u(sizes[t])):
            to = u(offsets[order[k]]) + t
            for j in range(width):
                out[to, j] = rows[at, j]
            at += ONE
