"""More of what an expert writes with numba: sequences interleaved, cut and filtered, and their windows."""

from __future__ import annotations

import numpy as np

from . import ONE, jit, u


@jit
def interleave(parts, offsets, out):
    """Sequence i of every part, end to end."""
    at = u(0)
    for i in range(len(offsets[0]) - 1):
        for p in range(len(parts)):
            values = parts[p]
            for j in range(u(offsets[p][i]), u(offsets[p][i + 1])):
                out[at] = values[j]
                at += ONE


@jit
def interleave_rows(parts, offsets, out):
    """The same for rows of several numbers."""
    at = u(0)
    for i in range(len(offsets[0]) - 1):
        for p in range(len(parts)):
            begin, end = u(offsets[p][i]), u(offsets[p][i + 1])
            out[at : at + end - begin] = parts[p][begin:end]
            at += end - begin


@jit
def cut(values, offsets, first, size, out):
    """A part of each sequence."""
    at = u(0)
    for i in range(len(offsets) - 1):
        begin = u(offsets[i] + first[i])
        for j in range(begin, begin + u(size[i])):
            out[at] = values[j]
            at += ONE


@jit
def cut_rows(values, offsets, first, size, out):
    """The same for rows of several numbers."""
    at = u(0)
    for i in range(len(offsets) - 1):
        begin, count = u(offsets[i] + first[i]), u(size[i])
        out[at : at + count] = values[begin : begin + count]
        at += count


@jit
def erase(values, offsets, tokens, out, ends):
    """Numbers that equal no token, and where sequences end then."""
    at = u(0)
    a, b, c = tokens[0], tokens[1], tokens[2]
    for i in range(len(offsets) - 1):
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            value = values[j]
            out[at] = value
            at += u((value != a) & (value != b) & (value != c))
        ends[i] = at


@jit
def windows(values, offsets, out):
    """Each row between its neighbours, zeros where there is none; what is multiplied by the filter."""
    width = u(values.shape[1])
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        for j in range(begin, end):
            for d in range(width):
                out[j, d] = values[j - ONE, d] if j > begin else np.float32(0)
                out[j, width + d] = values[j, d]
                out[j, width + width + d] = values[j + ONE, d] if j + ONE < end else np.float32(0)
