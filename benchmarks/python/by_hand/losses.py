"""What an expert writes by hand for edit distances: the plain table, a row at a time, with numba."""

from __future__ import annotations

from typing import Any

import numba


@numba.njit(cache=False, nogil=True)
def edit_distance(a: Any, b: Any, offsets: Any, row: Any, out: Any) -> None:
    """Distances of pairs of as many rows."""
    for i in range(len(offsets) - 1):
        begin, end = offsets[i], offsets[i + 1]
        for j in range(end - begin + 1):
            row[j] = j
        for s in range(begin, end):
            corner = row[0]
            row[0] += 1
            left = row[0]
            for t in range(begin, end):
                above = row[t - begin + 1]
                left = min(corner + (a[s] != b[t]), left + 1, above + 1)
                corner = above
                row[t - begin + 1] = left
        out[i] = row[end - begin]
