"""Rows of arrays taken, by the spans of sequences, and put in."""

from __future__ import annotations

from typing import Any

import numpy as np

from varlen import _core
from varlen.arguments import as_ints, refuse_gradient
from varlen.backends.numpy.rows import as_rows


def insert_rows(
    values: Any, places: np.ndarray, rows: Any = None, max_bytes: int | None = None
) -> np.ndarray:
    """New rows, zeros by default, each in front of the row of `values` that it names."""
    if rows is not None and not isinstance(rows, np.ndarray):
        refuse_gradient(rows, "rows")
        new_rows = as_rows(as_ints(rows), "rows")
        rows = _core.fill_row(new_rows, values.dtype, new_rows.shape, "rows")[0]
    elif rows is not None and rows.dtype.newbyteorder("=") == values.dtype.newbyteorder("="):
        rows = rows.astype(values.dtype, copy=False)
    return _core.insert_rows(values, places, rows, max_bytes)


def insert_row(values: Any, places: np.ndarray, row: Any) -> np.ndarray:
    """One row (1, ...), in front of each of the rows that are named."""
    rows = np.broadcast_to(row, (len(places), *row.shape[1:]))
    return _core.insert_rows(values, places, np.ascontiguousarray(rows))
