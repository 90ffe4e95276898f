"""What an expert writes in an afternoon with numba: plain loops, no bounds checks, no fast-math.

Indices are unsigned throughout: numba then drops the test for negative ones, and inner loops become vectors.
Rows of several numbers are handed over flat, with their width.
"""

from __future__ import annotations

import numba
import numpy as np

jit = numba.njit(cache=True, boundscheck=False, fastmath=False, error_model="numpy")
u = np.uint64
ZERO, ONE = u(0), u(1)


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
def pad(values, offsets, width, out):
    """Rows to a rectangle, zeros to the right; values and each row of the output are flat."""
    w, size = u(width), u(out.shape[1])
    for i in range(u(out.shape[0])):
        start = u(offsets[i]) * w
        n = u(offsets[i + ONE]) * w - start
        for j in range(n):
            out[i, j] = values[start + j]
        for j in range(n, size):
            out[i, j] = 0


@jit
def pad_two(values, outer, inner, out):
    """Two ragged levels to a block, zeros to the right of both."""
    rows_most, size = u(out.shape[1]), u(out.shape[2])
    for i in range(u(out.shape[0])):
        first = u(outer[i])
        rows = u(outer[i + ONE]) - first
        for r in range(rows):
            start = u(inner[first + r])
            n = u(inner[first + r + ONE]) - start
            for j in range(n):
                out[i, r, j] = values[start + j]
            for j in range(n, size):
                out[i, r, j] = 0
        for r in range(rows, rows_most):
            for j in range(size):
                out[i, r, j] = 0


@jit
def unpad(dense, offsets, width, out):
    """A rectangle back to rows laid end to end; the output and each row of the rectangle are flat."""
    w = u(width)
    for i in range(u(dense.shape[0])):
        start = u(offsets[i]) * w
        n = u(offsets[i + ONE]) * w - start
        for j in range(n):
            out[start + j] = dense[i, j]


@jit
def pack(values, offsets, order, sizes, out):
    """Rows to a time-major block of columns in this order, longest first; zeros behind their ends."""
    size, width = u(len(order)), u(out.shape[2])
    for t in range(u(out.shape[0])):
        while size > ZERO and u(offsets[order[size - ONE] + 1] - offsets[order[size - ONE]]) <= t:
            size -= ONE
        sizes[t] = size
        for k in range(size):
            at = u(offsets[order[k]]) + t
            for j in range(width):
                out[t, k, j] = values[at, j]
        for k in range(size, u(len(order))):
            for j in range(width):
                out[t, k, j] = 0


@jit
def unpack(data, offsets, order, out):
    """A time-major block to rows end to end, in their original order."""
    width = u(data.shape[2])
    for k in range(u(len(order))):
        start = u(offsets[order[k]])
        for t in range(u(offsets[order[k] + 1]) - start):
            for j in range(width):
                out[start + t, j] = data[t, k, j]


@jit
def gather_offsets(offsets, index, out_offsets):
    """Offsets of the rows at `index`."""
    total = np.int64(0)
    out_offsets[0] = 0
    for k in range(u(len(index))):
        i = u(index[k])
        total += offsets[i + ONE] - offsets[i]
        out_offsets[k + ONE] = total
    return total


@jit
def gather_values(values, offsets, index, out_offsets, width, out):
    """Values of the rows at `index`, flat."""
    w = u(width)
    for k in range(u(len(index))):
        start = u(offsets[u(index[k])]) * w
        at = u(out_offsets[k]) * w
        for j in range(u(out_offsets[k + ONE]) * w - at):
            out[at + j] = values[start + j]


@jit
def seq2col(values, offsets, width, window, out):
    """Each row between its neighbours, zeros where there is none; values and the output are flat."""
    w, wide = u(width), u(width * (2 * window + 1))
    for i in range(u(len(offsets) - 1)):
        start, stop = offsets[i], offsets[i + ONE]
        for t in range(start, stop):
            first, last = max(t - window, start), min(t + window + 1, stop)
            row = u(t) * wide
            gap = u(first - t + window) * w
            n = u(last - first) * w
            source = u(first) * w
            for j in range(gap):
                out[row + j] = 0
            for j in range(n):
                out[row + gap + j] = values[source + j]
            for j in range(gap + n, wide):
                out[row + j] = 0


@jit
def backprop_seq2col(given, offsets, width, window, out):
    """The places that each row was used in, added up; both are flat."""
    w, wide = u(width), u(width * (2 * window + 1))
    for i in range(u(len(offsets) - 1)):
        start, stop = offsets[i], offsets[i + ONE]
        for t in range(start, stop):
            to = u(t) * w
            first, last = max(t - window, start), min(t + window + 1, stop)
            at = u(first) * wide + u(t - first + window) * w
            for j in range(w):
                out[to + j] = given[at + j]
            for s in range(first + 1, last):
                at = u(s) * wide + u(t - s + window) * w
                for j in range(w):
                    out[to + j] += given[at + j]


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
    width = u(table.shape[1])
    for i in range(u(len(rows))):
        row = u(rows[i])
        for j in range(width):
            out[i, j] = table[row, j]


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
def batch_padded(given, rows, starts, ends, mask1, out_time, mask2, out_one, out_two):
    """Windows of many rows to padded outputs, two levels, three keys and two masks."""
    bounds1, bounds2, time, one, two = given
    most, depth = u(mask2.shape[1]), u(mask2.shape[2])
    for b in range(u(len(rows))):
        row = u(rows[b])
        first = u(starts[row]) + (u(bounds1[row - ONE]) if row > ZERO else ZERO)
        count = u(ends[row] - starts[row])
        for e in range(count):
            mask1[b, e] = True
            out_time[b, e] = time[first + e]
        for e in range(count, most):
            mask1[b, e] = False
            out_time[b, e] = 0
        for e in range(count):
            at = u(bounds2[first + e - ONE]) if first + e > ZERO else ZERO
            n = u(bounds2[first + e]) - at
            for j in range(n):
                mask2[b, e, j] = True
            for j in range(n, depth):
                mask2[b, e, j] = False
            for j in range(n):
                out_one[b, e, j] = one[at + j]
            for j in range(n, depth):
                out_one[b, e, j] = 0
            for j in range(n):
                out_two[b, e, j] = two[at + j]
            for j in range(n, depth):
                out_two[b, e, j] = 0
        mask2[b, count:] = False
        out_one[b, count:] = 0
        out_two[b, count:] = 0


@jit
def batch_ragged(given, rows, starts, ends, ends1, out_time, ends2, out_one, out_two):
    """Windows of many rows laid end to end, two levels and three keys."""
    bounds1, bounds2, time, one, two = given
    events = codes = ZERO
    for b in range(u(len(rows))):
        row = u(rows[b])
        first = u(starts[row]) + (u(bounds1[row - ONE]) if row > ZERO else ZERO)
        count = u(ends[row] - starts[row])
        if count > ZERO:
            at = u(bounds2[first - ONE]) if first > ZERO else ZERO
            n = u(bounds2[first + count - ONE]) - at
            for e in range(count):
                out_time[events + e] = time[first + e]
            for e in range(count):
                ends2[events + e] = bounds2[first + e] + np.int64(codes) - np.int64(at)
            for j in range(n):
                out_one[codes + j] = one[at + j]
            for j in range(n):
                out_two[codes + j] = two[at + j]
            codes += n
            events += count
        ends1[b] = events


@jit
def reduce_sum(values, offsets, out):
    """Sums of plain numbers."""
    for i in range(len(out)):
        total = np.float32(0)
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            total += values[j]
        out[i] = total


@jit
def reduce_mean(values, offsets, out):
    """Means of plain numbers, none of no rows being zero."""
    for i in range(len(out)):
        total = np.float32(0)
        begin, end = u(offsets[i]), u(offsets[i + 1])
        for j in range(begin, end):
            total += values[j]
        out[i] = total / np.float32(max(end - begin, u(1)))


@jit
def reduce_max(values, offsets, out):
    """The largest of plain numbers; -inf of none."""
    for i in range(len(out)):
        most = np.float32(-np.inf)
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            most = max(most, values[j])
        out[i] = most


@jit
def reduce_rows(values, offsets, out):
    """Sums of rows of several numbers."""
    columns = u(values.shape[1])
    for i in range(len(out)):
        for c in range(columns):
            out[i, c] = 0
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            for c in range(columns):
                out[i, c] += values[j, c]


@jit
def max_rows(values, offsets, out, which):
    """The largest of each column and its row; sequences have rows."""
    columns = u(values.shape[1])
    for i in range(len(out)):
        begin = u(offsets[i])
        for c in range(columns):
            out[i, c] = values[begin, c]
            which[i, c] = 0
        for j in range(begin + ONE, u(offsets[i + 1])):
            at = np.int32(j - begin)
            for c in range(columns):
                x = values[j, c]
                better = x > out[i, c]
                out[i, c] = x if better else out[i, c]
                which[i, c] = at if better else which[i, c]


@jit
def repeat_rows(rows, offsets, out):
    """Row i for every row of sequence i."""
    columns = u(rows.shape[1])
    for i in range(len(rows)):
        for j in range(u(offsets[i]), u(offsets[i + 1])):
            for c in range(columns):
                out[j, c] = rows[i, c]


@jit
def nothing(values, offsets, index):
    """Take three arrays and do nothing with them."""
