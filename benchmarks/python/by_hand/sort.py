"""Order inside sequences, as an expert writes it with numba."""

from __future__ import annotations

import numpy as np

from . import ONE, ZERO, jit, u


@jit
def sort(values, offsets, out):
    """Short sequences by insertion, long ones by numba's sort."""
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        if end - begin > u(32):
            out[begin:end] = np.sort(values[begin:end])
            continue
        for j in range(begin, end):
            x = values[j]
            at = j
            while at > begin and out[at - ONE] > x:
                out[at] = out[at - ONE]
                at -= ONE
            out[at] = x


@jit
def argsort(values, offsets, out):
    """Places inside sequences: short ones by insertion, long ones by numba's stable sort."""
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        if end - begin > u(32):
            out[begin:end] = np.argsort(values[begin:end], kind="mergesort")
            continue
        for j in range(begin, end):
            x = values[j]
            at = j
            while at > begin and values[begin + u(out[at - ONE])] > x:
                out[at] = out[at - ONE]
                at -= ONE
            out[at] = np.int64(j - begin)


@jit
def topk(values, offsets, k, out, which):
    """The k largest of sequences that have as many, kept in order while others are looked at."""
    last = u(k) - ONE
    for i in range(len(offsets) - 1):
        begin, end = u(offsets[i]), u(offsets[i + 1])
        first = u(i) * u(k)
        for j in range(begin, end):
            x = values[j]
            seen = j - begin
            if seen > last:
                if not x > out[first + last]:
                    continue
                seen = last
            at = seen
            while at > ZERO and out[first + at - ONE] < x:
                out[first + at] = out[first + at - ONE]
                which[first + at] = which[first + at - ONE]
                at -= ONE
            out[first + at] = x
            which[first + at] = np.int64(j - begin)
