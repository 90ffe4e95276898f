"""Repeat sequences as often as the lengths of others say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core, tracing
from varlen._core import Level
from varlen.arguments import fits_memory
from varlen.backends import backend_of
from varlen.backends.values import as_values, broadcast_rows, one_device
from varlen.errors import value_error
from varlen.levels import flatten_levels, resolve_level
from varlen.ops.support.outputs import ragged_like
from varlen.sequence.inputs import gradient_rows, in_parts, sequences
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import RaggedBase
    from varlen.backends.values import RowsT, SameT, SequencesLike
    from varlen.levels import Levels


def sequence_expand(
    x: SameT | Sequence[Any],
    y: SequencesLike,
    ref_level: int = -1,
    name: str | None = None,
    *,
    level: int = -1,
) -> SameT:
    """Repeat each whole sequence k of x as many times as sequence k of y is long.

    Parameters
    ----------
    x
        `Ragged` whose sequences are repeated, of rows of any dtype and shape; or an array of rows (n, ...),
        each of which is a sequence.
    y
        A `Ragged`, of which only the lengths are read, or a `Level`.
    ref_level
        The level of y whose lengths are the numbers of repeats; by default the innermost.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level of x whose sequences are repeated, with all that nests below them; the innermost by
        default.

    Returns
    -------
    Ragged or array
        The repeated sequences, with as many levels as x: a repeat is a separate sequence, inside the same
        sequence of the level above. Rows for an array. The values are a copy.

    Raises
    ------
    ValueError
        x has more or fewer sequences than the level of y.
    IndexError
        No such level of x or y.
    TypeError
        y is not a Ragged, or x has no rows.
    OverflowError
        The repeats exceed any memory.

    Notes
    -----
    As Paddle's `sequence_expand`, which refuses rows of one dimension, and an x of two levels.

    Examples
    --------
    >>> x, y = vl.Ragged([1, 2, 3, 4], [2, 2]), vl.Ragged(np.zeros(8), [[2, 2], [3, 3, 1, 1]])
    >>> vl.sequence_expand(x, y, ref_level=0).to_list()
    [[1, 2], [1, 2], [3, 4], [3, 4]]
    >>> vl.sequence_expand([1, 2, 3], vl.Ragged(np.zeros(5), [2, 0, 3]))
    array([1, 1, 3, 3, 3])
    >>> words = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> vl.sequence_expand(words, vl.Level([2, 1]), level=0).to_list()
    [[[1, 2], [3]], [[1, 2], [3]], [[4]]]
    """
    times = _times(y, ref_level)
    if not isinstance(x, Ragged):
        rows = as_values(x, "x")
        _check_count(times, rows.shape[0], "rows")
        _check_memory(times.total, rows)
        return cast("SameT", backend_of(rows).broadcast_rows(rows, times))
    index = resolve_level(level, x.levels)
    _check_count(times, tracing.count_of(x.levels[index]), "sequences")
    _check_memory(times.total, x.values)
    if tracing.holds_surely(times.total * x.total >= 2**60):
        _groups(x.levels[index:], times)
    values, inner_levels = backend_of(x.values).repeat(x.values, x.levels[index:], times)
    return cast("SameT", ragged_like(x, values, (*_outer_levels(x.levels, index, times), *inner_levels)))


def backprop_sequence_expand(
    dY: SequencesLike, x: SameT | Sequence[Any], y: SequencesLike, ref_level: int = -1, *, level: int = -1
) -> SameT:
    """The gradient of `sequence_expand` for x: each row sums the gradients of its repeats.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_expand`: a `Ragged`, or its rows. The repeats of a row are
        added one after another, floats in float64 from 4096 repeats on. The bits of the result do not depend
        on the number of threads.
    x, y, ref_level, level
        The arguments of `sequence_expand`.

    Returns
    -------
    Ragged or array
        Nests as x; zeros for a sequence without repeats. Floats keep the dtype of dY; integers become int64
        or uint64, as sums do.

    Examples
    --------
    >>> x, y = vl.Ragged([1.0, 2.0, 3.0], [2, 1]), vl.Level([2, 0])
    >>> vl.sequence.backprop_sequence_expand([0.1, 0.2, 0.3, 0.4], x, y).to_list()
    [[0.4, 0.6000000000000001], [0.0]]
    """
    times = _times(y, ref_level)
    if not isinstance(x, Ragged):
        rows = as_values(x, "x")
        _check_count(times, rows.shape[0], "rows")
        d = gradient_rows(dY, times.total, inner=tuple(rows.shape[1:]))
        return cast("SameT", in_parts(d, lambda part: backend_of(part).reduce("sum", part, times, 0)))
    index = resolve_level(level, x.levels)
    _check_count(times, len(x.levels[index]), "sequences")
    groups, blocks = _groups(x.levels[index:], times)
    levels = _repeat_levels(x.levels, index, times) if isinstance(dY, Ragged) else ()
    d = gradient_rows(dY, groups.total, levels, inner=tuple(x.values.shape[1:]))
    backend = backend_of(d)
    return cast(
        "SameT",
        x._make(backend.in_parts(d, lambda part: backend.reduce_blocks(part, groups, blocks)), x.levels),
    )


def sequence_expand_as(
    x: SequencesLike, y: SequencesLike, name: str | None = None, *, level: int = -1
) -> Ragged[Any]:
    """Repeat row k of x for every row of sequence k of y.

    Parameters
    ----------
    x
        Rows (n, ...) of any dtype: an array, or a `Ragged`, whose levels are ignored.
    y
        A `Ragged`, of which only the levels are read.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level of y that has n sequences; a row goes to all the rows of its sequence, whatever nests
        between. The innermost by default.

    Returns
    -------
    Ragged
        The repeated rows, which nest as y and share its levels.

    Raises
    ------
    ValueError
        x has more or fewer rows than y has sequences.
    IndexError
        There is no such level.
    TypeError
        y is not a Ragged, or x has no rows.

    Notes
    -----
    As Paddle's `sequence_expand_as`, which takes y of one level.

    Examples
    --------
    >>> vl.sequence_expand_as([1, 2, 3], vl.Ragged(np.zeros(4), [3, 0, 1])).to_list()
    [[1, 1, 1], [], [3]]
    """
    units, levels = _rows_per_unit(y, level)
    rows = x.values if isinstance(x, Ragged) else as_values(x, "x")
    if isinstance(y, Ragged):
        one_device(rows, "x", y.values, "y")
    _check_count(units, rows.shape[0], "rows")
    _check_memory(units.total, rows)
    kind = x if isinstance(x, Ragged) else y
    result: Ragged[Any] = ragged_like(kind, broadcast_rows(rows, units), levels)
    return result


def backprop_sequence_expand_as(
    dY: RaggedBase[RowsT] | RowsT | Sequence[Any], y: SequencesLike, *, level: int = -1
) -> RowsT:
    """The gradient of `sequence_expand_as` for x: each row sums the gradients of its sequence.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_expand_as`: a `Ragged`, or its rows.
    y, level
        The arguments of `sequence_expand_as`.

    Returns
    -------
    array
        (n, ...) rows. Floats keep the dtype of dY, integers become int64 or uint64.

    Examples
    --------
    >>> vl.sequence.backprop_sequence_expand_as([1.0, 2.0, 4.0], vl.Ragged(np.zeros(3), [2, 0, 1]))
    array([3., 0., 4.])
    """
    units, levels = _rows_per_unit(y, level)
    return cast(
        "RowsT",
        in_parts(
            gradient_rows(dY, units.total, levels),
            lambda part: backend_of(part).reduce("sum", part, units, 0),
        ),
    )


def _times(y: Any, ref_level: int) -> Level:
    """The level whose lengths are the numbers of repeats."""
    if isinstance(y, Level):
        resolve_level(ref_level, (y,), "ref_level")
        return y
    levels = y._levels if isinstance(y, Ragged) else sequences(y, "y")._levels
    return levels[resolve_level(ref_level, levels, "ref_level")]


def _check_count(times: Level, count: int, what: str) -> None:
    total = tracing.count_of(times)
    if tracing.holds_surely(total != count):
        raise value_error("x", f"has {count} {what}, but the level of y has {total} sequences")


def _check_memory(count: int, rows: Any) -> None:
    """Refuse a result of `count` such rows if it exceeds any memory."""
    numbers = count * max(1, math.prod(rows.shape[1:]) * rows.dtype.itemsize // 8)
    if tracing.holds_surely(numbers >= 2**60 - 2):
        fits_memory(numbers, "y")


def _outer_levels(levels: Levels, index: int, times: Level) -> Levels:
    """The levels above; the innermost of them counts the sequences after they were repeated."""
    return (*levels[: index - 1], flatten_levels((levels[index - 1], times))) if index else ()


def _repeat_levels(levels: Levels, index: int, times: Level) -> Levels:
    """The levels of the result of `sequence_expand`."""
    empty_rows = np.empty((levels[-1].total, 0), np.uint8)
    return (*_outer_levels(levels, index, times), *_core.gather(empty_rows, levels[index:], times.row_ids)[1])


def _groups(levels: Levels, times: Level) -> tuple[Level, Level]:
    """The rows of each sequence with all its repeats, and without."""
    blocks = flatten_levels(levels)
    if times.total * blocks.longest >= 2**60:  # the products may wrap around
        fits_memory(int((times.lengths * blocks.lengths.astype(np.float64)).sum()), "y")
    return Level.from_lengths(times.lengths * blocks.lengths), blocks


def _rows_per_unit(y: SequencesLike, level: int) -> tuple[Level, Levels]:
    levels = sequences(y, "y").levels
    return flatten_levels(levels[resolve_level(level, levels) :]), levels
