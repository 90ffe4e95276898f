"""A part of each sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from varlen import _core
from varlen.backends.values import apply_rows
from varlen.levels import resolve_level
from varlen.sequence.inputs import gradient_rows, per_sequence, scatter_rows, select, sequences
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike


@eager_only()
def sequence_slice(
    input: RaggedT, offset: Any, length: SequencesLike, name: str | None = None, *, level: int = -1
) -> RaggedT:
    """Take `length` rows of each sequence from `offset` on.

    Parameters
    ----------
    input
        `Ragged` of rows of any dtype and shape.
    offset, length
        Integers (n,) or (n, 1), one for each sequence of the level; a `Ragged` of them; or one for all.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level whose sequences are cut: by rows at the innermost (-1), otherwise by whole sequences of the
        level below.

    Returns
    -------
    Ragged
        The slices, with as many levels as `input`; those above `level` are shared. The values are a copy.

    Raises
    ------
    IndexError
        A slice leaves its sequence, which the message names; or there is no such level.
    ValueError
        An offset or a length is below 0, or there are more or fewer of them than sequences.
    OverflowError
        An offset or a length does not fit 63 bits.
    TypeError
        `input` is not a Ragged, or offsets or lengths are not integers.

    Notes
    -----
    As Paddle's `sequence_slice`, which takes one level and reads only int64.

    Examples
    --------
    >>> vl.sequence_slice(vl.Ragged([1, 2, 3, 4, 5], [3, 2]), [0, 1], [2, 1]).to_list()
    [[1, 2], [5]]
    >>> vl.sequence_slice(vl.Ragged.from_list([[[1, 2], [3]], [[4]]]), 0, 1, level=0).to_list()
    [[[1, 2]], [[4]]]
    """
    r = sequences(input, "input")
    level_index = resolve_level(level, r.levels)
    units = r.levels[level_index]
    begins = per_sequence(offset, len(units), "offset", None)
    sizes = per_sequence(length, len(units), "length", None)
    if level_index == len(r.levels) - 1:
        values, out_level = apply_rows(r.values, lambda rows: _core.cut(rows, units, begins, sizes))
        return cast("RaggedT", r._make(values, (*r.levels[:level_index], out_level)))
    index, out_level = _core.cut(np.arange(units.total), units, begins, sizes)
    values, inner_levels = select(r, level_index + 1, index)
    return cast("RaggedT", r._make(values, (*r.levels[:level_index], out_level, *inner_levels)))


def backprop_sequence_slice(
    dY: SequencesLike, input: RaggedT, offset: Any, length: SequencesLike, *, level: int = -1
) -> RaggedT:
    """The gradient of `sequence_slice`: zeros for rows outside the slices.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_slice`: a `Ragged`, or its rows.
    input, offset, length, level
        The arguments of `sequence_slice`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Examples
    --------
    >>> r = vl.Ragged([1.0, 2.0, 3.0], [2, 1])
    >>> vl.sequence.backprop_sequence_slice([5.0, 6.0], r, [1, 0], 1).values
    array([0., 5., 6.])
    """
    r = sequences(input, "input")
    result = sequence_slice(r._make(np.arange(r.total), r.levels), offset, length, level=level)
    d = gradient_rows(dY, result.total, result.levels, inner=tuple(r.values.shape[1:]))
    return cast("RaggedT", r._make(scatter_rows(d, result.values, r.total), r.levels))
