"""Times, durations and text in order: the kernels see integers that lie in the same order, and never NaT.

A time is 64 bits, of which NaT is the lowest number. As a signed number NaT comes before all times; as an
unsigned one with half the range added, behind them. Text is the place that it has among the distinct words.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen.backends.numpy.memory import assign
from varlen.errors import error_of
from varlen.levels import not_empty

if TYPE_CHECKING:
    from varlen._core import Level

# The letters that NumPy has for times, durations, text and bytes.
_TIMES, _DURATIONS, _TEXT = "M", "m", "US"
_ALL = _TIMES + _DURATIONS + _TEXT

# What has a meaning for which of them. What orders has one for all.
_MEANINGS = {"sum": _DURATIONS, "mean": _TIMES + _DURATIONS, "std": _DURATIONS, "any": _DURATIONS,
             "all": _DURATIONS, "max": _ALL, "min": _ALL}  # fmt: skip
_HINTS = {
    _TIMES: "times have max, min, mean, sort and diff, which gives durations",
    _DURATIONS: "durations have sum, mean, std, max, min, sort, cumsum and diff, and divided by one another "
    "they are numbers",
    _TEXT: "text has max, min, sort, unique and rank",
}

_HALF = np.uint64(2**63 - 1)
_NAT = np.iinfo(np.int64).min


def is_ordered(values: Any) -> bool:
    """Whether values are times, durations or text of arrays: they have an order, and are no numbers."""
    return isinstance(values, np.ndarray) and values.dtype.kind in _ALL


def refuse(verb: str, values: Any, argument: str = "X") -> None:
    """Refuse a verb that has no meaning for times, durations or text; nothing for other values."""
    kind = values.dtype.kind
    if kind in _ALL and kind not in _MEANINGS.get(verb, ""):
        hint = next(text for kinds, text in _HINTS.items() if kind in kinds)
        fault = f"expected bool, integers or floats, got {values.dtype}, for which {verb} has no meaning"
        raise error_of(TypeError, argument, fault, hint)


def reduce(op: str, values: Any, level: Level, empty: Any = None, out: Any = None, ddof: float = 0) -> Any:
    """One row for each sequence; NaT where one of the rows is NaT."""
    if values.dtype.kind not in _ALL:
        return _core.reduce(op, values, level, empty, out, ddof)
    refuse(op, values)
    if op in ("any", "all"):
        return _core.reduce(op, _numbers(values), level, empty, out)
    if empty is None:
        not_empty(level)
    rows = _reduce_order(op, values, level, ddof)
    return _output(_with_empty(op, rows, values, level, empty), out)


def reduce_dense(
    op: str,
    block: Any,
    level: Level,
    padding_side: str = "right",
    empty: Any = None,
    out: Any = None,
    ddof: float = 0,
) -> Any:
    """The same of the rows of a padded rectangle that are there."""
    if block.dtype.kind not in _ALL:
        return _core.reduce_dense(op, block, level, padding_side, empty, out, ddof)
    refuse(op, block)
    return reduce(op, _core.unpad(block, (level,), padding_side), level, empty, out, ddof)


def reduce_extreme(
    op: str, values: Any, level: Level, empty: Any = None, narrow: bool = False
) -> tuple[Any, Any]:
    """The largest or smallest row of each sequence, and the first row that holds it; NaT before all."""
    if values.dtype.kind not in _ALL:
        return _core.reduce_extreme(op, values, level, empty, narrow)
    keys, restore = _keys_of(values, op == "max")
    extremes, which = _core.reduce_extreme(op, keys, level, None if empty is None else 0, narrow)
    return _with_empty(op, restore(extremes), values, level, empty), which


def scan(
    op: str, values: Any, level: Level, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> Any:
    """Each row with those before it; NaT from the first NaT on."""
    if values.dtype.kind not in _ALL:
        return _core.scan(op, values, level, exclusive, reverse, out)
    if op in ("max", "min"):
        keys, restore = _keys_to_scan(op, values, exclusive)
        return _output(restore(_core.scan(op, keys, level, exclusive, reverse)), out)
    if op != "sum" or values.dtype.kind != _DURATIONS:
        refuse(f"cum{op}", values)
    sums = _core.scan("sum", _numbers(values), level, exclusive, reverse)
    gaps = np.isnat(values)
    if gaps.any():
        sums[_core.scan("max", gaps.view(np.uint8), level, exclusive, reverse) != 0] = _NAT
    return _output(sums.view(_native(values)), out)


def scan_extreme(
    op: str, values: Any, level: Level, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> tuple[Any, Any]:
    """Running extremes, and the row inside its sequence that holds each."""
    if values.dtype.kind not in _ALL:
        extremes = _core.scan(op, values, level, exclusive, reverse, out)
        return extremes, _core.scan_which(extremes, level, exclusive, reverse)
    keys, restore = _keys_to_scan(op, values, exclusive)
    extremes = _core.scan(op, keys, level, exclusive, reverse)
    return _output(restore(extremes), out), _core.scan_which(extremes, level, exclusive, reverse)


def sort(
    values: Any,
    level: Level,
    descending: bool = False,
    limit: int | None = None,
    with_values: bool = True,
    with_places: bool = False,
    out: Any = None,
) -> tuple[Any, Any, Level]:
    """The first rows of each sequence in order, their places, and their level; NaT last."""
    if values.dtype.kind not in _ALL:
        return _core.sort(values, level, descending, limit, with_values, with_places, out)
    keys, restore = _keys_of(values, not descending)
    rows, places, new_level = _core.sort(keys, level, descending, limit, with_values, with_places)
    return (_output(restore(rows), out) if with_values else None), places, new_level


def unique(
    values: Any, level: Level, inverse: bool = False, counts: bool = False
) -> tuple[Any, Any, Any, Level]:
    """The distinct rows of each sequence in order; all NaT are one, which comes last."""
    if values.dtype.kind not in _ALL:
        return _core.unique(values, level, inverse, counts)
    keys, restore = _keys_of(values, True)
    rows, *rest = _core.unique(keys, level, inverse, counts)
    return (restore(rows), *rest)


def rank(values: Any, level: Level, method: str, descending: bool = False) -> Any:
    """The rank of each row inside its sequence; NaT last."""
    keys = _keys_of(values, not descending)[0] if values.dtype.kind in _ALL else values
    return _core.rank(keys, level, method, descending)


def softmax(
    values: Any, level: Level, log: bool, temperature: float, out: Any = None, inplace: bool = False
) -> Any:
    """The core's, which knows neither times nor text."""
    refuse("log_softmax" if log else "softmax", values)
    return _core.softmax(values, level, log, temperature, out, inplace)


def _reduce_order(op: str, values: Any, level: Level, ddof: float) -> Any:
    """Rows of sequences, anything where a sequence is empty."""
    if op in ("max", "min"):
        keys, restore = _keys_of(values, op == "max")
        return restore(_core.reduce(op, keys, level, 0))
    numbers = _numbers(values)
    if op == "sum":
        rows = _core.reduce("sum", numbers, level, 0)
    elif op == "mean":
        rows = _mean(numbers, level, values.dtype.kind == _DURATIONS)
    else:
        spread = np.rint(_core.reduce("std", numbers.astype(np.float64), level, 0, None, ddof))
        with np.errstate(invalid="ignore"):
            rows = np.where(np.isfinite(spread), spread, _NAT).astype(np.int64)
    gaps = np.isnat(values)
    if gaps.any():
        rows[_core.reduce("any", gaps, level, False)] = _NAT
    return rows.view(_native(values))


def _mean(numbers: Any, level: Level, to_zero: bool) -> Any:
    """The exact mean of integers, rounded down or towards zero; sums of halves do not overflow."""
    counts = np.maximum(level.lengths, 1).reshape(-1, *(1 for _ in numbers.shape[1:]))
    high, rest = np.divmod(_core.reduce("sum", numbers >> 32, level, 0), counts)
    low, rest = np.divmod((rest << 32) + _core.reduce("sum", numbers & 0xFFFFFFFF, level, 0), counts)
    mean = (high << 32) + low
    return mean + ((mean < 0) & (rest > 0)) if to_zero else mean


def _with_empty(op: str, rows: Any, values: Any, level: Level, empty: Any) -> Any:
    gaps = level.lengths == 0
    if empty is not None and gaps.any():
        if op == "mean" and values.dtype.kind == _TIMES and type(empty) is int and empty == 0:
            empty = np.datetime64("NaT")  # a mean of no times is no time, the first of 1970 neither
        rows[gaps] = _core.fill_row(empty, rows.dtype, rows.shape[1:], "empty")[0]
    return rows


def _output(rows: Any, out: Any) -> Any:
    return rows if out is None else assign(out, rows)


def _native(values: Any) -> Any:
    return values.dtype.newbyteorder("=")


def _numbers(values: Any) -> Any:
    """Times as the int64 that they are, NaT the lowest."""
    return np.ascontiguousarray(values, _native(values)).view(np.int64)


def _keys_of(
    values: Any, nat_is_last: bool, reaches_lowest: bool = False
) -> tuple[Any, Callable[[Any], Any]]:
    """Integers in the order of the values, and the way back, which may have to know the lowest integer."""
    if values.dtype.kind in _TEXT:
        words, codes = np.unique(values, return_inverse=True)
        words = words.astype(_native(values), copy=False)
        if not len(words):
            words = np.zeros(1, words.dtype)  # what stands for a sequence without rows
        return codes.reshape(values.shape), words.__getitem__
    numbers, dtype = _numbers(values), _native(values)
    if not (nat_is_last and (reaches_lowest or numbers.min(initial=0) == _NAT)):
        return numbers, lambda keys: keys.view(dtype)
    return numbers.view(np.uint64) + _HALF, lambda keys: (keys - _HALF).view(dtype)


def _keys_to_scan(op: str, values: Any, exclusive: bool) -> tuple[Any, Callable[[Any], Any]]:
    keys, restore = _keys_of(values, op == "max", exclusive)
    if not exclusive or values.dtype.kind not in _TEXT:
        return keys, restore
    if op == "min":
        raise error_of(
            TypeError,
            "",
            f"{values.dtype} has no highest text, which exclusive=True gives a first row",
            context="cummin",
        )
    lowest = np.zeros(1, _native(values))  # the empty text, before all others
    return keys, lambda rows: np.where(rows < 0, lowest, restore(np.maximum(rows, 0)))
