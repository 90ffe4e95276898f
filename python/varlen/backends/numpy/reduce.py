"""Rows at the ends of sequences, and gradients of what sequences come to."""

from __future__ import annotations

from typing import Any

from varlen import _core
from varlen._core import Level
from varlen.backends.numpy.order import reduce
from varlen.backends.numpy.rows import as_rows
from varlen.errors import name_argument
from varlen.levels import not_empty


def reduce_end(values: Any, level: Level, last: bool, empty: Any = None, verbs: Any = _core) -> Any:
    """The first or last row of each sequence; `empty`, a number or a row, where there is none."""
    if empty is None:
        not_empty(level)
        return verbs.gather_column(values, (level,), -1 if last else 0)[0]
    cut = "left" if last else "right"
    try:
        return verbs.pad(values, (level,), fill=empty, max_len=1, truncate=cut, sizes=1)[:, 0]
    except ValueError as error:
        raise name_argument(error, fill="empty") from None


def expand_which(rows: Any, level: Level, which: Any, out: Any = None) -> Any:
    """The gradient of extremes: row i at one row of sequence i, zeros at the others."""
    return _core.expand_which(rows, level, as_rows(which, "which"), out)


def backprop_reduce(
    op: str, rows: Any, values: Any, level: Level, ddof: float, out: Any = None, argument: str = "d"
) -> Any:
    """The gradient of a reduction that depends on its values: prod, norm, var, std, logsumexp."""
    result = reduce(op, values, level, 0, None, ddof) if op in ("std", "norm") else None
    return _core.backprop_reduce(op, rows, values, level, result, ddof, out)


def broadcast_rows(rows: Any, level: Level) -> Any:
    """Row i for every row of sequence i."""
    return rows[level.row_ids] if rows.dtype.hasobject else _core.expand(as_rows(rows), level)
