"""Reduce each sequence to one row, as Paddle pools them."""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen._core import Level
from varlen.arguments import as_bool, one_of, refuse_mask
from varlen.backends import backend_of
from varlen.backends.numeric import cast, float64_values, floats, is_complex, numbers
from varlen.backends.numpy.order import is_ordered, refuse
from varlen.backends.values import as_ints, like
from varlen.errors import name_argument, value_error
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import fill_for, gradient_rows, sequences

if TYPE_CHECKING:
    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, RaggedT, Rows, RowsLike, SequencesLike

_ENDS = ("last", "first")
_TYPES = ("average", "sum", "sqrt", "max", *_ENDS)
_VERBS = {"average": "mean", "sqrt": "mean"}


@overload
def sequence_pool(
    input: RaggedBase[ArrayT], pool_type: str, is_test: bool = False, pad_value: RowsLike = 0.0, *,
    level: int = -1, with_index: Literal[False] = False,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def sequence_pool(
    input: RaggedBase[ArrayT], pool_type: str, is_test: bool = False, pad_value: RowsLike = 0.0, *,
    level: int = -1, with_index: Literal[True],
) -> tuple[ArrayT | Any, ArrayT | Any]: ...  # fmt: skip
@overload
def sequence_pool(
    input: SequencesLike, pool_type: str, is_test: bool = False, pad_value: RowsLike = 0.0, *,
    level: int = -1,
    with_index: bool,
) -> Rows | tuple[Rows, Rows]: ...  # fmt: skip
def sequence_pool(
    input: SequencesLike,
    pool_type: str,
    is_test: bool = False,
    pad_value: RowsLike = 0.0,
    *,
    level: int = -1,
    with_index: bool = False,
) -> Rows | tuple[Rows, Rows]:
    """Reduce each sequence to one row: average, sum, sum / sqrt(length), maximum, last or first row.

    Parameters
    ----------
    input
        `Ragged` of rows (T, ...), pooled column by column. "last" and "first" take any dtype, the other types
        take numbers. "max" also takes times, durations and text, "average" times and durations, "sum"
        durations.
    pool_type
        "average", "sum", "sqrt", "max", "last" or "first", in any case.
    is_test
        Accepted for compatibility with Paddle, and ignored.
    pad_value
        The result for a sequence without rows: a number, or for "last" and "first" also a row. For other
        dtypes, 0 means a duration of zero, empty text, and NaT for times.
    level
        The level whose sequences become one row each; levels below it are merged. -1 is the innermost.
    with_index
        For "max": return (rows, index). The index, int64, is the row of `input.values` that holds the largest
        number of each column, or the first of equal ones; -1 for a sequence without rows.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...), an array or a tensor as the values are; under more levels a `Ragged` of those above. Floats,
        times, durations and text keep their dtype. Integers become float64 in "average" and "sqrt", int64 or
        uint64 in "sum". With `with_index` also the index.

    Raises
    ------
    TypeError
        `input` is not a Ragged, or its dtype has no such pool.
    ValueError
        The pool_type is unknown, the dtype cannot hold pad_value, or `with_index` is combined with another
        type than "max".
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_pool`, for any depth and dtype, and with fewer rows than sequences.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 3, 2, 4, 6, 5, 1], [2, 3, 2, 0])
    >>> vl.sequence_pool(r, "average"), vl.sequence_pool(r, "last", pad_value=-1.0)
    (array([2., 4., 3., 0.]), array([ 3.,  6.,  1., -1.]))
    >>> vl.sequence_pool(r, "max", with_index=True)
    (array([3., 6., 5., 0.]), array([ 1,  4,  5, -1]))
    """
    r, kind = sequences(input, "input"), _kind(pool_type)
    if as_bool(with_index, "with_index") and kind != "max":
        raise value_error("with_index", f'only "max" has one, not "{kind}"')
    values, units, outer_levels = units_of(r, None, level)
    refuse_mask(pad_value, "pad_value")
    if is_ordered(values):
        pad_value = np.datetime64("NaT") if _is_zero_time(values, pad_value) else fill_for(values, pad_value)
        if kind not in _ENDS:
            refuse("mean" if kind == "average" else kind, values, "input")
    elif kind not in _ENDS:
        numbers(values, "input")
    backend = backend_of(values)
    try:
        if with_index:
            result, which = backend.reduce_extreme("max", values, units, pad_value)
            return wrap_units(r, result, outer_levels), wrap_units(r, _rows(which, units), outer_levels)
        if kind in _ENDS:
            result = backend.reduce_end(values, units, kind == "last", fill_for(values, pad_value))
        else:
            result = backend.reduce(_VERBS.get(kind, kind), values, units, pad_value)
    except (ValueError, TypeError, OverflowError) as error:
        name_argument(error, lengths="input", advice="pass pad_value= for its result")
        raise name_argument(error, fill="pad_value", empty="pad_value") from None
    return wrap_units(r, _times_root(result, units, 1) if kind == "sqrt" else result, outer_levels)


def backprop_sequence_pool(dY: SequencesLike, input: RaggedT, pool_type: str, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_pool`; the results of empty sequences pass none on.

    Parameters
    ----------
    dY
        (n, ...), the gradient of the result of `sequence_pool`: an array, a tensor or a `Ragged`, of floats.
        Integers work too, except for "average" and "sqrt", which divide.
    input, pool_type, level
        The arguments of `sequence_pool`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Raises
    ------
    TypeError, ValueError, IndexError
        As in `sequence_pool`; or dY has another shape, does not hold numbers, or holds integers that would be
        divided.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 3, 2, 4], [2, 0, 2])
    >>> vl.sequence.backprop_sequence_pool([1.0, 9.0, 4.0], r, "average").to_list()
    [[0.5, 0.5], [], [2.0, 2.0]]
    """
    r, kind = sequences(input, "input"), _kind(pool_type)
    values, units, outer_levels = units_of(r, None, level)
    if kind not in _ENDS:
        numbers(values, "input")
    d = numbers(gradient_rows(dY, len(units), outer_levels, inner=tuple(values.shape[1:])), "dY", True)
    if kind in ("average", "sqrt"):
        floats(d, "dY")
    backend = backend_of(d)
    if kind == "max":
        which = backend_of(values).reduce_extreme("max", values, units, 0)[1]
        which = as_ints(which) if isinstance(d, np.ndarray) else which
        result = backend.expand_which(d, units, which) if units.total else _no_rows(d)
    elif kind in _ENDS:
        full = np.flatnonzero(units.lengths)
        out_level = Level.from_bounds(units.offsets[1:][full])
        result = backend.expand_end(
            d[like(full, d)] if len(full) < len(units) else d, out_level, kind == "last"
        )
    elif kind == "average":
        result = backend.expand_mean(d, units)
    else:
        result = backend.expand(_times_root(d, units, -1) if kind == "sqrt" else d, units)
    return typing.cast("RaggedT", r._make(result, r.levels))


def _kind(pool_type: object) -> str:
    kind = pool_type.lower() if isinstance(pool_type, str) else pool_type
    one_of(kind, "pool_type", _TYPES)
    return str(kind)


def _no_rows(d: Any) -> Any:
    """No rows like those of d."""
    return d[:0]


def _is_zero_time(values: Any, pad_value: Any) -> bool:
    """Whether pad_value is a plain 0 for times, which would mean 1970."""
    return values.dtype.kind == "M" and type(pad_value) in (int, float) and pad_value == 0


def _rows(which: Any, units: Level) -> Any:
    """Places inside sequences as rows of all, -1 where a sequence has none."""
    column = (-1, *(1 for _ in which.shape[1:]))
    starts = like(units.offsets[:-1], which).reshape(column)
    is_empty = like(units.lengths == 0, which).reshape(column)
    return backend_of(which).where(~is_empty, which + starts, -1)


def _times_root(rows: Any, units: Level, power: int) -> Any:
    """One row a sequence, times the root of how many rows the sequence has (1 for none), or divided by it."""
    lengths = backend_of(rows).level_array(units, "lengths", rows)
    root = cast(lengths.clip(1), float64_values(rows)).reshape(-1, *(1 for _ in rows.shape[1:])) ** (
        power / 2
    )
    wide = rows if is_complex(rows) else cast(rows, float64_values(rows))
    return cast(wide * root, rows.dtype)
