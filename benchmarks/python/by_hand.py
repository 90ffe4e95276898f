"""What an expert writes in an afternoon with numba: plain loops, no bounds checks, no fast-math."""

from __future__ import annotations

import numba
import numpy as np

jit = numba.njit(cache=True, boundscheck=False, fastmath=False, error_model="numpy")


@jit
def offsets_of(lengths, offsets):
    """Offsets, the longest and the total in one pass."""
    total = np.int64(0)
    longest = np.int64(0)
    offsets[0] = 0
    for i in range(len(lengths)):
        n = lengths[i]
        total += n
        longest = max(longest, n)
        offsets[i + 1] = total
    return longest, total


@jit
def pad(values, offsets, out):
    """Rows of one value to a rectangle, zeros to the right."""
    for i in range(out.shape[0]):
        start = offsets[i]
        n = offsets[i + 1] - start
        for j in range(n):
            out[i, j] = values[start + j]
        for j in range(n, out.shape[1]):
            out[i, j] = 0


@jit
def pad_wide(values, offsets, out):
    """Rows of many values to a block, zeros to the right."""
    for i in range(out.shape[0]):
        start = offsets[i]
        n = offsets[i + 1] - start
        out[i, :n] = values[start : start + n]
        out[i, n:] = 0


@jit
def pad_two(values, outer, inner, out):
    """Two ragged levels to a block, zeros to the right of both."""
    for i in range(out.shape[0]):
        first = outer[i]
        rows = outer[i + 1] - first
        for r in range(rows):
            start = inner[first + r]
            n = inner[first + r + 1] - start
            for j in range(n):
                out[i, r, j] = values[start + j]
            for j in range(n, out.shape[2]):
                out[i, r, j] = 0
        out[i, rows:] = 0


@jit
def unpad(dense, offsets, out):
    """A rectangle back to rows laid end to end."""
    for i in range(dense.shape[0]):
        start = offsets[i]
        n = offsets[i + 1] - start
        for j in range(n):
            out[start + j] = dense[i, j]


@jit
def gather_offsets(offsets, index, out_offsets):
    """Offsets of the rows at `index`."""
    total = np.int64(0)
    out_offsets[0] = 0
    for k in range(len(index)):
        i = index[k]
        total += offsets[i + 1] - offsets[i]
        out_offsets[k + 1] = total
    return total


@jit
def gather_values(values, offsets, index, out_offsets, out):
    """Values of the rows at `index`."""
    for k in range(len(index)):
        start = offsets[index[k]]
        at = out_offsets[k]
        for j in range(out_offsets[k + 1] - at):
            out[at + j] = values[start + j]


def gather(values, offsets, index, out_offsets, out):
    """Rows at `index` into buffers that are large enough."""
    total = gather_offsets(offsets, index, out_offsets)
    gather_values(values, offsets, index, out_offsets, out)
    return out[:total]


@jit
def move_ends(ends, counts):
    """Ends that were laid end to end, each part moved by the last end before it."""
    at = 0
    before = np.int64(0)
    for part in range(len(counts)):
        for i in range(at, at + counts[part]):
            ends[i] += before
        at += counts[part]
        if at > 0:
            before = ends[at - 1]


@jit
def take(table, rows, out):
    """Rows of a table."""
    for i in range(len(rows)):
        out[i] = table[rows[i]]


@jit
def batch_sizes(bounds1, bounds2, rows, starts, ends):
    """Longest window in events, longest event in codes, events and codes of a batch of windows."""
    most_events = most_codes = events = codes = np.int64(0)
    for b in range(len(rows)):
        row = rows[b]
        base = bounds1[row - 1] if row > 0 else 0
        first, last = base + starts[row], base + ends[row]
        most_events = max(most_events, last - first)
        events += last - first
        at = bounds2[first - 1] if first > 0 else 0
        codes += bounds2[last - 1] - at if last > first else 0
        for e in range(first, last):
            most_codes = max(most_codes, bounds2[e] - at)
            at = bounds2[e]
    return most_events, most_codes, events, codes


@jit
def batch_padded(
    bounds1, bounds2, time, one, two, rows, starts, ends, mask1, out_time, mask2, out_one, out_two
):
    """Windows of many rows to padded outputs, two levels, three keys and two masks."""
    for b in range(len(rows)):
        row = rows[b]
        base = bounds1[row - 1] if row > 0 else 0
        first = base + starts[row]
        count = ends[row] - starts[row]
        for e in range(count):
            mask1[b, e] = True
            out_time[b, e] = time[first + e]
        for e in range(count, mask1.shape[1]):
            mask1[b, e] = False
            out_time[b, e] = 0
        for e in range(count):
            at = bounds2[first + e - 1] if first + e > 0 else 0
            n = bounds2[first + e] - at
            for j in range(n):
                mask2[b, e, j] = True
                out_one[b, e, j] = one[at + j]
                out_two[b, e, j] = two[at + j]
            for j in range(n, mask2.shape[2]):
                mask2[b, e, j] = False
                out_one[b, e, j] = 0
                out_two[b, e, j] = 0
        mask2[b, count:] = False
        out_one[b, count:] = 0
        out_two[b, count:] = 0


@jit
def batch_ragged(
    bounds1, bounds2, time, one, two, rows, starts, ends, ends1, ends2, out_time, out_one, out_two
):
    """Windows of many rows laid end to end, two levels and three keys."""
    events = codes = np.int64(0)
    for b in range(len(rows)):
        row = rows[b]
        base = bounds1[row - 1] if row > 0 else 0
        first, last = base + starts[row], base + ends[row]
        if last > first:
            at = bounds2[first - 1] if first > 0 else 0
            n = bounds2[last - 1] - at
            out_time[events : events + last - first] = time[first:last]
            for e in range(first, last):
                ends2[events + e - first] = codes + bounds2[e] - at
            out_one[codes : codes + n] = one[at : at + n]
            out_two[codes : codes + n] = two[at : at + n]
            codes += n
            events += last - first
        ends1[b] = events
    return events, codes


@jit
def nothing(values, offsets, index):
    """Take three arrays and do nothing with them."""
