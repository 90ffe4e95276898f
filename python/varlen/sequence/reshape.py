"""Cut the numbers of each sequence into rows of another width."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

from varlen._core import Level
from varlen.arguments import as_int
from varlen.errors import value_error
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import gradient_rows, sequences
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike


@eager_only()
def sequence_reshape(input: RaggedT, new_dim: int, *, level: int = -1) -> RaggedT:
    """Cut the numbers of each sequence into rows of `new_dim`.

    Parameters
    ----------
    input
        `Ragged` of rows (T, ...) of any dtype; rows of several dimensions are read flat.
    new_dim
        The width of the new rows, 1 or more.
    level
        The level whose sequences are cut; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        Rows (T', new_dim) that share the memory of `input`, under the levels down to `level`.

    Raises
    ------
    ValueError
        new_dim is below 1, or does not divide the numbers of a sequence; the message names the sequence.
    TypeError
        `input` is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_reshape`, which takes one level and rows of one dimension, and kills the process if
    new_dim is 0.

    Examples
    --------
    >>> r = vl.Ragged([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], [1, 0, 2])
    >>> vl.sequence_reshape(r, 2).to_list()
    [[[1, 2], [3, 4]], [], [[5, 6], [7, 8], [9, 10], [11, 12]]]
    """
    r, width = sequences(input, "input"), as_int(new_dim, "new_dim", 1)
    values, units, outer_levels = units_of(r, None, level)
    row = math.prod(values.shape[1:])
    numbers = units.offsets * row
    if (numbers % width).any():
        i = int((numbers % width != 0).argmax()) - 1
        raise value_error(
            "new_dim",
            f"sequence {i} has {units.lengths[i]} rows of {row}, not rows of {width}",
            row=i,
            number=int(units.lengths[i]),
        )
    out_level = units if row == width else Level.from_offsets(numbers // width)
    return cast("RaggedT", r._make(values.reshape(out_level.total, width), (*outer_levels, out_level)))


def backprop_sequence_reshape(dY: SequencesLike, input: RaggedT, new_dim: int, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_reshape`: the same numbers, cut into the rows of `input`.

    Parameters
    ----------
    dY
        The gradient of the result of `sequence_reshape`: a `Ragged`, or its rows.
    input, new_dim, level
        The arguments of `sequence_reshape`.

    Returns
    -------
    Ragged
        The gradient, which nests as `input`, in its shape and the dtype of dY.

    Raises
    ------
    ValueError, TypeError, IndexError
        As in `sequence_reshape`; or dY has another shape, or nests differently.

    Examples
    --------
    >>> r = vl.Ragged([[1.0, 2.0], [3.0, 4.0]], [1, 1])
    >>> vl.sequence.backprop_sequence_reshape([[5.0], [6.0], [7.0], [8.0]], r, 1).values
    array([[5., 6.],
           [7., 8.]])
    """
    ragged = sequences(input, "input")
    result = sequence_reshape(ragged, new_dim, level=level)
    d = gradient_rows(dY, result.total, result.levels, inner=tuple(result.values.shape[1:]))
    return cast("RaggedT", result._make(d.reshape(ragged.values.shape), ragged.levels))
