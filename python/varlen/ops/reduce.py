"""Sequences to one row each: what verbs of `faces/` compute. Gradients are in gradients/reduce.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import SMALLEST, as_bool, as_int, check_output
from varlen.backends import backend_of
from varlen.backends.values import row_as
from varlen.errors import value_error
from varlen.ops.faces.folds import COMPOSED
from varlen.ops.support.accumulator import WRAP, accumulate
from varlen.ops.support.axes import axes_of, rows_along_axes
from varlen.ops.support.inputs import regroup, rows_along, units_of

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.backends.values import Axes, DTypes, Lengths, RowsLike, SequencesLike


def reduce_rows(
    op: str,
    X: Any,
    lengths: Any,
    axis: Any,
    level: int,
    empty: Any,
    out: Any = None,
    ddof: float = 0,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Any:
    """One row for each sequence of a level, or along axes: what `reduce_sum` and its kin share."""
    if out is not None:
        check_output(out, X, lengths)
    if axis is None:
        values, units, outer_levels = units_of(X, lengths, level)
        if dtype is None and overflow is WRAP and op not in COMPOSED:
            rows = backend_of(values).reduce(op, values, units, empty, out, ddof)
        else:
            rows = _rows_of(op, values, units, empty, out, ddof, dtype, overflow)
        return regroup(X, rows, outer_levels) if outer_levels else rows
    values, levels = rows_along(X, lengths, axis, level)
    axes = axes_of(axis, len(levels) + values.ndim)
    values, units, outer_levels, is_one = rows_along_axes(values, levels, axes)
    rows = _rows_of(op, values, units, empty, None if is_one else out, ddof, dtype, overflow, axis)
    if is_one:
        row = rows[0]
        return row if out is None else backend_of(rows).assign(out, row)
    return wrap_units(X, rows, outer_levels)


def _rows_of(
    op: str,
    values: SequencesLike,
    units: Level,
    empty: RowsLike,
    out: Any,
    ddof: float,
    dtype: DTypes,
    overflow: str,
    axis: Axes = None,
) -> Any:
    where = "sequence {}" if axis is None else f"line {{}} along axis {axis}"
    options = {"empty": empty, "ddof": ddof} if ddof else {"empty": empty}
    return accumulate("reduce", op, values, units, options, dtype, overflow, out, where)


def wrap_units(X: SequencesLike, rows: SequencesLike, outer_levels: Any) -> Any:
    """Rows of units, under the levels above them where there are such: then of the class of X."""
    return regroup(X, rows, outer_levels) if outer_levels else rows


def count_rows(X: SequencesLike, lengths: Any, level: int) -> Any:
    """How many rows each sequence of a level has."""
    values, units, outer_levels = units_of(X, lengths, level)
    return wrap_units(X, backend_of(values).level_array(units, "lengths", values), outer_levels)


def extreme(
    op: str, X: Any, lengths: Any, axis: Axes, level: int, empty: RowsLike, which: bool, out: Any
) -> Any:
    """The largest or smallest row of each sequence, and where it is if `which` asks for it."""
    if which is False or not as_bool(which, "which"):
        return reduce_rows(op, X, lengths, axis, level, empty, out)
    if axis is not None or out is not None:
        name = "axis" if out is None else "out"
        raise value_error(name, "cannot be combined with which=True")
    values, units, outer_levels = units_of(X, lengths, level)
    extremes, places = backend_of(values).reduce_extreme(op, values, units, empty)
    return wrap_units(X, extremes, outer_levels), wrap_units(X, places, outer_levels)


def extreme_place(op: str, X: SequencesLike, lengths: Any, axis: Axes, level: int, empty: Any) -> Any:
    """The place of the largest or smallest number of each sequence."""
    if axis is None:
        values, units, outer_levels = units_of(X, lengths, level)
        places = _places_of(op, values, units, empty)
        return regroup(X, places, outer_levels) if outer_levels else places
    values, levels = rows_along(X, lengths, axis, level)
    axes = axes_of(axis, len(levels) + values.ndim)
    if len(axes) > 1 or axes[0] < len(levels):
        choices = f"{len(levels)}, inside the innermost sequences, or an axis of their rows"
        raise value_error("axis", f"which=True needs axis={choices}, got {axis!r}")
    values, units, outer_levels, is_one = rows_along_axes(values, levels, axes)
    places = _places_of(op, values, units, empty)
    return places[0] if is_one else wrap_units(X, places, outer_levels)


def _places_of(op: str, values: SequencesLike | None, level: Any, empty: object) -> Any:
    backend = backend_of(values)
    if empty is None:
        return backend.reduce_extreme(op, values, level)[1]
    number = as_int(empty, "empty", SMALLEST)
    places = backend.reduce_extreme(op, values, level, 0)[1]
    is_empty = backend.ufunc("equal", [backend.level_array(level, "lengths", places), 0], {})
    return backend.where(is_empty.reshape(-1, *(1 for _ in places.shape[1:])), number, places)


def end_row(X: SequencesLike, lengths: Lengths | None, level: int, last: bool, empty: RowsLike) -> Any:
    """The first or last row of each sequence."""
    values, units, outer_levels = units_of(X, lengths, level)
    row = None if empty is None else row_as(empty, values, "empty")[0]
    rows = backend_of(values).reduce_end(values, units, last, row)
    return regroup(X, rows, outer_levels) if outer_levels else rows
