"""Join each row of a sequence with the rows that follow it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_int, is_zero
from varlen.backends import backend_of
from varlen.errors import naming, value_error
from varlen.levels import resolve_level
from varlen.ops.window import backprop_seq2col
from varlen.sequence.inputs import (
    fill_for,
    gradient_rows,
    in_parts,
    naming_pad_value,
    scatter_rows,
    select,
    sequences,
)
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, RowsLike, SequencesLike, Values


@eager_only()
def sequence_enumerate(
    input: RaggedT, win_size: int, pad_value: RowsLike = 0, name: str | None = None, *, level: int = -1
) -> RaggedT:
    """Join each row with the next `win_size` - 1 rows of its sequence, padded beyond its end.

    Parameters
    ----------
    input
        `Ragged` of numbers (T,) or (T, 1), or of rows of any dtype and shape.
    win_size
        The rows to join, 1 or more.
    pad_value
        The number where there is no row.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level whose contents are joined: rows at the innermost (-1), otherwise whole sequences of the
        level below. In that case empty sequences pad, and no pad_value may be given.

    Returns
    -------
    Ragged
        Nests as `input`, with rows (T, win_size) of numbers, (T, win_size, ...) of other rows. Above the
        innermost level one level more: each sequence of the level below becomes a window of `win_size`.

    Raises
    ------
    ValueError
        win_size is below 1 or exceeds memory, or the dtype cannot hold pad_value.
    TypeError
        `input` is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_enumerate`, which takes integers, one level, and a win_size of 2 and more.

    Examples
    --------
    >>> vl.sequence_enumerate(vl.Ragged([1, 2, 3, 4, 5], [3, 2]), 2).to_list()
    [[[1, 2], [2, 3], [3, 0]], [[4, 5], [5, 0]]]
    >>> vl.sequence_enumerate(vl.Ragged.from_list([[[1, 2], [3]]]), 2, level=0).to_list()
    [[[[1, 2], [3]], [[3], []]]]
    """
    r, size = sequences(input, "input"), as_int(win_size, "win_size", 1)
    index = resolve_level(level, r.levels)
    if index < len(r.levels) - 1:
        if not is_zero(pad_value):
            raise value_error("pad_value", f"at level {level} empty sequences pad, not {pad_value!r}")
        return cast("RaggedT", _sequence_windows(r, index, size))
    values, units = r.values, r.levels[-1]
    inner = _inner(values)
    fill = fill_for(values, pad_value)
    result = _windows(values.reshape(len(values), 1, *inner), units, size).reshape(len(values), size, *inner)
    if is_zero(pad_value):
        return cast("RaggedT", r._make(result, r.levels))
    with naming_pad_value():
        return cast("RaggedT", r._make(_fill_ends(result, units, size, fill), r.levels))


def backprop_sequence_enumerate(
    dY: SequencesLike, input: RaggedT, win_size: int, *, level: int = -1
) -> RaggedT:
    """The gradient of `sequence_enumerate`: each row sums the gradients of all windows that hold it.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_enumerate`: a `Ragged`, or its rows.
    input, win_size, level
        The arguments of `sequence_enumerate`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 2.0, 3.0], [2, 1])
    >>> vl.sequence.backprop_sequence_enumerate([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], r, 2).values
    array([1., 5., 5.])
    """
    r, size = sequences(input, "input"), as_int(win_size, "win_size", 1)
    index = resolve_level(level, r.levels)
    if index < len(r.levels) - 1:
        result = _sequence_windows(r._make(np.arange(r.total), r.levels), index, size)
        d = gradient_rows(dY, result.total, result.levels, inner=tuple(r.values.shape[1:]))
        return cast("RaggedT", r._make(scatter_rows(d, result.values, r.total), r.levels))
    inner, units = _inner(r.values), r.levels[-1]
    d = gradient_rows(dY, r.total, r.levels, inner=(size, *inner))
    dX = in_parts(d, lambda part: _sums(part, units, size))
    return cast("RaggedT", r._make(dX.reshape(r.values.shape), r.levels))


def _sums(d: Any, units: Level, size: int) -> Any:
    """For each row the sum of its places in the windows."""
    column = d.reshape(len(d), size, math.prod(d.shape[2:]), 1)
    return backprop_seq2col(column, 0, right=size - 1, lengths=units).reshape(len(d), *d.shape[2:])


def _inner(values: Values) -> tuple[int, ...]:
    """The shape of a row inside a window: none for plain numbers, and for rows of one."""
    shape = tuple(values.shape[1:])
    return () if shape == (1,) else shape


def _windows(rows: Any, units: Level, size: int) -> Any:
    """Each row with those behind it, and zeros beyond the end."""
    with naming("win_size"):
        result = backend_of(rows).seq2col(rows, units, 0, size - 1)[0]
    return (
        result if result.dtype == rows.dtype else result.view(rows.dtype)
    )  # a dtype without a name of its own


def _fill_ends(result: Any, units: Level, size: int, fill: RowsLike) -> Any:
    """The windows with their places behind the end of sequences filled."""
    gaps = ~_core.seq2col(np.ones((units.total, 1, 1), np.bool_), units, 0, size - 1)[0]
    gaps = gaps.reshape(units.total, size, *(1 for _ in result.shape[2:]))
    return backend_of(result).fill_where(result, gaps, fill)


def _sequence_windows(r: Ragged[Any], index: int, size: int) -> Ragged[Any]:
    """Windows of the sequences below level `index`."""
    units = r.levels[index]
    # An empty sequence is put behind all others: it has number 0 when they are counted from the end.
    inner_level = r.levels[index + 1]
    padded = Level.from_offsets(np.append(inner_level.offsets, inner_level.total))
    countdown = np.arange(units.total, 0, -1).reshape(-1, 1, 1)
    order = units.total - _windows(countdown, units, size).reshape(-1)
    values = r.values
    needs_gradient = bool(getattr(values, "requires_grad", False))
    source = np.arange(r.total) if needs_gradient else values
    rows, levels = select(r._make(source, (padded, *r.levels[index + 2 :])), 0, order)
    if needs_gradient:  # rows come more than once: their gradients are added in a fixed order
        rows = backend_of(values).take_rows(values, rows)
    windows = Level.from_lengths(np.full(units.total, size))
    return r._make(rows, (*r.levels[: index + 1], windows, *levels))
