"""Each row with those before it: what verbs of `faces/` compute. Gradients are in gradients/scan.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import as_bool, axis_of, check_output
from varlen.backends import backend_of
from varlen.errors import value_error
from varlen.ops.support.accumulator import WRAP, accumulate
from varlen.ops.support.axes import in_line
from varlen.ops.support.inputs import rows_along, same_kind, units_of

if TYPE_CHECKING:
    from varlen._core import Level
    from varlen.backends.values import Axes, DTypes, Lengths, Output, SequencesLike


def scan_rows(
    op: str,
    X: Any,
    lengths: Any,
    axis: Any,
    level: int,
    exclusive: bool,
    reverse: bool,
    out: Any = None,
    dtype: Any = None,
    overflow: str = "wrap",
) -> Any:
    """Each row with those before it, in the sequences of a level or along an axis."""
    if out is not None:
        check_output(out, X, lengths)
    if axis is None:
        values, units, _ = units_of(X, lengths, level)
        if dtype is None and overflow is WRAP:
            rows = backend_of(values).scan(op, values, units, exclusive, reverse, out)
        else:
            rows = _scan(op, values, units, exclusive, reverse, out, dtype, overflow)
        return same_kind(X, rows)
    values, levels = rows_along(X, lengths, axis, level)
    rows, units, restore = in_line(values, levels, axis_of(axis, len(levels) + values.ndim))
    result = restore(_scan(op, rows, units, exclusive, reverse, None, dtype, overflow, axis))
    return same_kind(X, result if out is None else backend_of(rows).assign(out, result))


def _scan(
    op: str,
    rows: SequencesLike,
    units: Level,
    exclusive: bool,
    reverse: bool,
    out: Any,
    dtype: DTypes,
    overflow: str,
    axis: Axes = None,
) -> Any:
    where = "sequence {}" if axis is None else f"line {{}} along axis {axis}"
    how = {"exclusive": exclusive, "reverse": reverse}
    return accumulate("scan", op, rows, units, how, dtype, overflow, out, where)


def scanned_extreme(
    op: str,
    X: SequencesLike,
    lengths: Lengths | None,
    axis: Axes,
    level: int,
    exclusive: bool,
    reverse: bool,
    which: bool,
    out: Output | None,
) -> Any:
    """The largest or smallest row so far, and which it is if `which` asks for it."""
    if which is False or not as_bool(which, "which"):
        return scan_rows(op, X, lengths, axis, level, exclusive, reverse, out)
    if axis is not None:
        raise value_error("axis", "cannot be combined with which=True")
    if out is not None:
        check_output(out, X, lengths)
    values, units, _ = units_of(X, lengths, level)
    extremes, places = backend_of(values).scan_extreme(op, values, units, exclusive, reverse, out)
    return same_kind(X, extremes), same_kind(X, places)
