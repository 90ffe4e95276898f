"""Lookups of arrays, and what is added to the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.arguments import as_ints
from varlen.backends.numpy.rows import as_rows, native_order
from varlen.errors import value_error

if TYPE_CHECKING:
    from numpy.typing import NDArray


def gather_add(table: Any, indices: Any, out: Any = None) -> NDArray[Any]:
    """Add up the table rows that each row of indices selects."""
    return _core.gather_add(table, as_ints(indices), out)


def backprop_gather_add(d: Any, indices: Any, rows: int, out: Any = None) -> NDArray[Any]:
    """For each row of the table the sum of the rows of `d` that name it."""
    return _core.backprop_gather_add(d, as_ints(indices), rows, out)


def scatter_add(table: Any, indices: Any, values: Any) -> None:
    """Add each row of values to the table row at its index, in place."""
    rows = as_rows(as_ints(values), "values")
    if not isinstance(table, np.ndarray) or table.dtype.isnative:
        _core.scatter_add(table, as_ints(indices), rows)
        return
    if not table.flags.writeable:
        raise value_error("table", "is read-only")
    result = native_order(table)
    _core.scatter_add(result, as_ints(indices), rows)
    table[...] = result
