"""Pad sequences to rectangles, and remove the padding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen._core import Level
from varlen.arguments import ints_per_level
from varlen.backends import backend_of
from varlen.backends.values import as_values, one_device
from varlen.errors import naming, value_error
from varlen.levels import first_longer, resolve_level
from varlen.ops.reduce import wrap_units
from varlen.sequence.inputs import (
    array_of,
    fill_for,
    gradient_rows,
    naming_pad_value,
    per_sequence,
    sequences,
)
from varlen.tracing import eager_only
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, RaggedT, RowsLike, RowsT, SameT, SequencesLike
    from varlen.levels import Levels


def sequence_pad(
    x: RaggedBase[ArrayT],
    pad_value: RowsLike,
    maxlen: int | Sequence[int | None] | None = None,
    name: str | None = None,
    *,
    level: int = -1,
) -> tuple[ArrayT | Any, ArrayT | Any]:
    """Pad every sequence to one length, and return the original lengths.

    Parameters
    ----------
    x
        `Ragged` of rows (T, ...) of any dtype.
    pad_value
        A number, or a row: an array of the rows' trailing shape. The dtype must hold it exactly.
    maxlen
        The length of the padded sequences, by default that of the longest. Nothing is cut: a smaller number
        raises ValueError.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level to pad; -1 is the innermost. The levels below it are padded too, as by `Ragged.to_dense`;
        maxlen may then be a list with a length, or None, for each level.

    Returns
    -------
    out : numpy.ndarray, torch.Tensor or Ragged
        (n, maxlen, ...) of the dtype of x; with levels below `level`, (n, maxlen, next maxlen, ..., ...). If
        there are levels above `level`, a Ragged of those levels with such rows.
    length : numpy.ndarray, torch.Tensor, Ragged or tuple
        int64 (n,); with levels below `level`, a tuple of the lengths at each level, which `sequence_unpad`
        takes.

    Raises
    ------
    ValueError
        maxlen is less than the length of a sequence (the message names it), or the dtype cannot hold
        pad_value.
    TypeError
        x is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_pad`, which takes one level, rows of at least one dimension, and four dtypes; on the
    GPU it rounds integers above 2**24.

    Examples
    --------
    >>> vl.sequence_pad(vl.Ragged([1, 2, 3, 4, 5], [2, 3]), 0, maxlen=4)
    (array([[1, 2, 0, 0],
           [3, 4, 5, 0]]), array([2, 3]))
    >>> out, length = vl.sequence_pad(vl.Ragged.from_list([[[1, 2], [3]], [[4]]]), 0, level=0)
    >>> out.tolist(), length
    ([[[1, 2], [3, 0]], [[4, 0], [0, 0]]], (array([2, 1]), array([2, 1, 1])))
    """
    r = sequences(x)
    index = resolve_level(level, r.levels)
    outer_levels, levels = r.levels[:index], r.levels[index:]
    widths = _widths(levels, maxlen, index)
    one_device(pad_value, "pad_value", r.values, "x")
    fill = fill_for(r.values, pad_value)
    name = "x" if maxlen is None else "maxlen"
    with naming_pad_value(), naming(values=name, sizes=name, advice="take fewer rows, or keep them ragged"):
        out = backend_of(r.values).pad(r.values, levels, fill=fill, sizes=widths)
    backend = backend_of(r.values)
    length = tuple([backend.level_array(item, "lengths", r.values) for item in levels])
    outer = length[0]
    if len(levels) > 1:
        return wrap_units(r, out, outer_levels), length
    return wrap_units(r, out, outer_levels), wrap_units(r, outer, outer_levels)


def backprop_sequence_pad(dY: SequencesLike, x: RaggedT, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_pad`: the rows keep theirs, the padding's is dropped.

    Parameters
    ----------
    dY
        The gradient of the rectangle: an array, a tensor, or a `Ragged` of the levels above.
    x, level
        The arguments of `sequence_pad`.

    Returns
    -------
    Ragged
        Nests as x.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 2.0, 3.0], [2, 1])
    >>> vl.sequence.backprop_sequence_pad([[5.0, 6.0], [7.0, 8.0]], r).to_list()
    [[5.0, 6.0], [7.0]]
    """
    r = sequences(x)
    index = resolve_level(level, r.levels)
    levels = r.levels[index:]
    block = gradient_rows(dY, len(levels[0]), r.levels[:index])
    inner, row_shape = tuple(r.values.shape[1:]), tuple(block.shape[len(levels) + 1 :])
    if block.ndim > len(levels) and row_shape != inner:
        raise value_error("dY", f"has rows of shape {row_shape}, expected {inner}")
    return cast("RaggedT", r._make(_rows_of(block, levels, "dY"), r.levels))


@eager_only()
def sequence_unpad(
    x: RowsT | RaggedBase[RowsT] | Sequence[Any], length: SequencesLike | Level, name: str | None = None
) -> Ragged[RowsT]:
    """Remove the padding of sequences: the inverse of `sequence_pad`.

    Parameters
    ----------
    x
        (n, maxlen, ...), an array or a tensor; or a `Ragged` of such rows, whose levels stay above.
    length
        The lengths of the sequences: integers (n,) or (n, 1), a `Ragged` of them, or a `Level`; or a tuple of
        these, one for each level that `sequence_pad` padded, outermost first.
    name
        Accepted for compatibility with Paddle, and ignored.

    Returns
    -------
    Ragged
        Rows (T, ...) under one new level, or as many as `length` has.

    Raises
    ------
    ValueError
        A length is below 0 or above maxlen (the message names it), or there are more or fewer lengths than
        sequences.
    TypeError
        The lengths are not integers.
    OverflowError
        A length does not fit 63 bits.

    Notes
    -----
    As Paddle's `sequence_unpad`, which returns rows (T, 1) for (n, maxlen), and kills the process if all
    lengths are 0. The new levels are the innermost, so there is no `level`.

    Examples
    --------
    >>> vl.sequence_unpad(np.array([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), [2, 0, 1]).to_list()
    [[1, 2], [], [7]]
    """
    outer: Levels = x.levels if isinstance(x, Ragged) else ()
    block: Any = x.values if isinstance(x, Ragged) else as_values(x, "x")
    levels: Levels = _levels_of(length, len(block))
    return Ragged._make(_rows_of(block, levels, "x"), (*outer, *levels))


def backprop_sequence_unpad(
    dY: SequencesLike, x: SameT | Sequence[Any], length: SequencesLike | Level
) -> SameT:
    """The gradient of `sequence_unpad`: zeros for the padding of x.

    Parameters
    ----------
    dY
        The gradient of the rows: a `Ragged`, or its values.
    x, length
        The arguments of `sequence_unpad`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The gradient, in the kind and shape of x.

    Examples
    --------
    >>> vl.sequence.backprop_sequence_unpad([5.0, 6.0], np.zeros((2, 2)), [0, 2])
    array([[0., 0.],
           [5., 6.]])
    """
    block = x.values if isinstance(x, Ragged) else as_values(x, "x")
    levels = _levels_of(length, len(block))
    outer = x.levels if isinstance(x, Ragged) else ()
    _check_fit(block, levels, "x")
    inner = tuple(block.shape[len(levels) + 1 :])
    rows = gradient_rows(dY, levels[-1].total, (*outer, *levels), inner=inner)
    widths = list(block.shape[1 : len(levels) + 1])
    result = backend_of(rows).pad(rows, levels, sizes=widths)
    return cast("SameT", x._make(result, x.levels) if isinstance(x, Ragged) else result)


def _widths(levels: Levels, maxlen: object, index: int) -> list[int]:
    """The length that the sequences of each level get."""
    widths = []
    for d, (level, limit) in enumerate(
        zip(levels, ints_per_level(maxlen, "maxlen", len(levels)), strict=True)
    ):
        i = None if limit is None else first_longer(level, limit)
        if i is not None:
            raise value_error(
                "maxlen",
                f"{limit}, but sequence {i} of level {index + d} has {level.lengths[i]} rows",
                row=i,
                number=int(level.lengths[i]),
            )
        widths.append(level.longest if limit is None else limit)
    return widths


def _levels_of(length: SequencesLike | Level, count: int) -> Levels:
    """The levels that a length, or one a level, stands for."""
    columns = _columns(length, count)
    if columns:
        is_list = len(columns) > 1
        levels = tuple(
            _level(item, f"length[{d}]" if is_list else "length") for d, item in enumerate(columns)
        )
        if len(levels[0]) != count:
            raise value_error("length", f"expected {count} numbers, one a sequence, got {len(levels[0])}")
        for d in range(len(levels) - 1):
            if levels[d].total != len(levels[d + 1]):
                raise value_error(
                    "length",
                    f"level {d} adds up to {levels[d].total}, but level {d + 1} has "
                    f"{len(levels[d + 1])} sequences",
                )
        return levels
    return (Level.from_lengths(per_sequence(length, count, "length")),)


def _columns(length: object, count: int) -> list[Any]:
    """The numbers of each level where several are given, or a Level."""
    if isinstance(length, Level):
        return [length]
    if not isinstance(length, (tuple, list)) or not all(_is_column(item) for item in length):
        return []
    columns: list[Any] = [item if isinstance(item, Level) else array_of(item, "length") for item in length]
    # As many columns of one number as there are sequences are the rows of one column.
    one = len(columns) == count and all(getattr(item, "size", 0) == 1 for item in columns)
    return [np.stack([item.reshape(-1) for item in columns])] if one and columns else columns


def _is_column(value: object) -> bool:
    return isinstance(value, (Level, Ragged, list, tuple)) or getattr(value, "ndim", 0) > 0


def _level(value: Any, argument: str) -> Level:
    return (
        value if isinstance(value, Level) else Level.from_lengths(per_sequence(value, len(value), argument))
    )


def _rows_of(block: object, levels: Levels, argument: str) -> Any:
    """The rows of a rectangle that the levels say are there."""
    _check_fit(block, levels, argument)
    return backend_of(block).unpad(block, levels)


def _check_fit(block: Any, levels: Levels, argument: str) -> None:
    """Refuse a rectangle that does not hold the levels."""
    if block.ndim <= len(levels):
        raise value_error(argument, f"expected {len(levels) + 1} dimensions or more, got {block.ndim}")
    if len(block) != len(levels[0]):
        raise value_error(argument, f"has {len(block)} rows for {len(levels[0])} sequences")
    for d, level in enumerate(levels):
        width = block.shape[d + 1]
        i = first_longer(level, width)
        if i is not None:
            raise value_error(
                "length",
                f"sequence {i} has {level.lengths[i]} rows, but {argument} {width}",
                row=i,
                number=int(level.lengths[i]),
            )
