"""Average the k largest numbers of each row of a table."""

from __future__ import annotations

import typing
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_int, as_list, one_number_error
from varlen.backends import backend_of
from varlen.backends.numeric import cast, float64_values, floats, is_float, is_nan, numbers, widen_halves
from varlen.backends.values import as_ints, like
from varlen.errors import value_error
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import gradient_rows, sequences
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike, Values


@eager_only()
def sequence_topk_avg_pooling(
    input: RaggedT, row: Any, col: Any, topks: Sequence[int], channel_num: int, *, level: int = -1
) -> RaggedT:
    """Sum the k largest numbers of each row of each item's tables, and divide by k, for each k.

    Parameters
    ----------
    input
        `Ragged` of numbers (T,) or (T, 1). Item i holds `channel_num` tables, row after row. A table has as
        many rows as sequence i of `row`, and as many columns as sequence i of `col`.
    row, col
        Each a `Ragged`, of which only the lengths are read.
    topks
        The numbers k, 1 or more each. A row with fewer than k columns sums all of them, and still divides by
        k. NaN counts as the largest number, so a row with one gives NaN for every k.
    channel_num
        The tables of an item, 1 or more.
    level
        The level of the items in all three inputs; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        Nests as `row`, with rows (channel_num * len(topks),): for each channel one number for each k. Floats
        keep their dtype, others become float64; float16 and bfloat16 are added up and divided in float32.

    Raises
    ------
    ValueError
        An item does not have the size of its tables (the message names it), numbers of items differ, or a k
        is below 1.
    TypeError
        An input is not a Ragged, or `input` does not hold bools, integers or floats.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's op `sequence_topk_avg_pooling`, which takes only ascending topks. Among equal numbers it gives
    the gradient to the last ones; here the first ones get it.

    Examples
    --------
    >>> x = vl.Ragged([1.0, 5, 3, 2, 2, 9], [6])
    >>> row, col = vl.Ragged(np.zeros(2), [2]), vl.Ragged(np.zeros(3), [3])
    >>> vl.sequence_topk_avg_pooling(x, row, col, [1, 2, 4], 1).values
    array([[5.  , 4.  , 2.25],
           [9.  , 5.5 , 3.25]])
    """
    r, row_ragged, tables, order, ks = _tables(input, row, col, topks, channel_num, level)
    values = r.values.reshape(-1)
    k_max = _largest_k(tables, ks)
    best, _, out_level = _top_k(
        values if is_float(values) else cast(values, float64_values(values)), tables, k_max
    )
    ends = np.minimum(ks, k_max) - 1
    with np.errstate(invalid="ignore"):  # inf beside -inf is NaN, which says enough
        sums = widen_halves(backend_of(best).pad(best, (out_level,), sizes=[k_max])).cumsum(1)
    means = sums[:, like(ends, sums)] / cast(like(np.array(ks), sums), sums.dtype)
    result = cast(means, best.dtype)
    count = as_int(channel_num, "channel_num", 1)
    return typing.cast(
        "RaggedT",
        row_ragged._make(
            result[like(order, values)].reshape(row_ragged.total, count * len(ks)), row_ragged.levels
        ),
    )


def backprop_sequence_topk_avg_pooling(
    dY: SequencesLike,
    input: RaggedT,
    row: Any,
    col: Any,
    topks: Sequence[int],
    channel_num: int,
    *,
    level: int = -1,
) -> RaggedT:
    """The gradient of `sequence_topk_avg_pooling`: each of the k largest numbers gets 1 / k.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_topk_avg_pooling`, of floats: a `Ragged`, or its rows.
    input, row, col, topks, channel_num, level
        The arguments of `sequence_topk_avg_pooling`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Raises
    ------
    TypeError, ValueError, IndexError
        As in `sequence_topk_avg_pooling`; or dY does not hold floats, has another shape, or nests otherwise.

    Examples
    --------
    >>> x = vl.Ragged([1.0, 5, 3], [3])
    >>> row, col = vl.Ragged(np.zeros(1), [1]), vl.Ragged(np.zeros(3), [3])
    >>> vl.sequence.backprop_sequence_topk_avg_pooling([[1.0, 1.0]], x, row, col, [1, 2], 1).values
    array([0. , 1.5, 0.5])
    """
    r, row_ragged, tables, order, ks = _tables(input, row, col, topks, channel_num, level)
    gradient = floats(
        gradient_rows(dY, row_ragged.total, row_ragged.levels, inner=(channel_num * len(ks),)), "dY"
    )
    k_max = _largest_k(tables, ks)
    _, which, out_level = _top_k(r.values.reshape(-1), tables, k_max)
    d = widen_halves(gradient).reshape(-1, len(ks))
    d = d[like(np.argsort(order), d)]
    d_best = _zeros(d, k_max)
    for i, k in enumerate(ks):
        d_best[:, :k] += d[:, i : i + 1] / k
    d_best = cast(d_best, gradient.dtype)
    backend = backend_of(d_best)
    which = np.asarray(as_ints(which)) if isinstance(d_best, np.ndarray) else which
    dX = backend.unsort(backend.unpad(d_best, (out_level,)), tables, out_level, which)
    return typing.cast("RaggedT", r._make(dX.reshape(r.values.shape), r.levels))


def _largest_k(tables: Level, ks: list[int]) -> int:
    """The most numbers of a row that a sum adds: no more than the longest row has."""
    return max(1, min(max(ks), tables.longest))


def _top_k(values: Values, tables: Level, k_max: int) -> tuple[Any, Any, Level]:
    """The largest numbers of each row, NaN first; their positions in the row; and the level of both."""
    if isinstance(values, np.ndarray):
        values = cast(values, values.dtype.newbyteorder("="))
    if not is_float(values) or not bool(is_nan(values).any()):
        return backend_of(values).sort(values, tables, True, k_max, True, True)
    # The order of the core has NaN last.
    rows = backend_of(values).order_with_nan_first(values, tables)[like(tables.positions < k_max, values)]
    out_level = _core.sort_kept(tables, k_max)
    return values[rows], rows - like(np.repeat(tables.offsets[:-1], out_level.lengths), rows), out_level


def _zeros(d: Any, width: int) -> Any:
    """Rows of zeros, as many as d has."""
    shape = (len(d), width)
    return backend_of(d).zeros(d, shape)


def _tables(
    input: SequencesLike, row: Any, col: Any, topks: object, channel_num: int, level: int
) -> tuple[Ragged[Any], Ragged[Any], Level, Any, list[int]]:
    """The arguments, a level over the rows of all tables, and the table row of each row and channel."""
    r, row_ragged, col_ragged = sequences(input, "input"), sequences(row, "row"), sequences(col, "col")
    numbers(r.values, "input")
    count = as_int(channel_num, "channel_num", 1)
    ks = [as_int(k, f"topks[{i}]", 1) for i, k in enumerate(as_list(topks, "topks", "integers"))]
    if not ks:
        raise value_error("topks", "expected one number or more")
    if r.values.shape[1:] not in ((), (1,)):
        raise one_number_error("input", r.values.shape[1:], "rows of one number")
    items, rows, columns = (units_of(item, None, level)[1] for item in (r, row_ragged, col_ragged))
    for name, units in (("row", rows), ("col", columns)):
        if len(units) != len(items):
            raise value_error(name, f"has {len(units)} sequences, input has {len(items)}")
    expected = count * rows.lengths * columns.lengths
    if (expected != items.lengths).any():
        i = int((expected != items.lengths).argmax())
        raise value_error(
            "input",
            f"item {i} has {items.lengths[i]} numbers, expected {count} tables of "
            f"{rows.lengths[i]} rows and {columns.lengths[i]} columns",
            row=i,
            number=int(items.lengths[i]),
        )
    tables = Level.from_lengths(np.repeat(columns.lengths, count * rows.lengths))
    starts = np.repeat(count * rows.offsets[:-1], rows.lengths) + rows.positions
    steps = np.repeat(rows.lengths, rows.lengths)
    order = (starts[:, None] + np.arange(count) * steps[:, None]).reshape(-1)
    return r, row_ragged, tables, order, ks
