"""Softmax inside sequences, as Paddle's op, with the maximum subtracted."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from varlen.backends import backend_of
from varlen.backends.numeric import as_row_dtype, floats, numbers
from varlen.backends.values import is_tensor
from varlen.ops.support.inputs import units_of
from varlen.sequence.inputs import gradient_rows, sequences

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT, SequencesLike


def sequence_softmax(
    input: RaggedT, use_cudnn: bool = False, name: str | None = None, *, level: int = -1
) -> RaggedT:
    """The softmax of each sequence's rows, column by column.

    Parameters
    ----------
    input
        `Ragged` of rows (T, ...) of numbers.
    use_cudnn
        Accepted for compatibility with Paddle, and ignored.
    name
        Accepted for compatibility with Paddle, and ignored.
    level
        The level whose sequences add up to 1; levels below it are merged. -1 is the innermost.

    Returns
    -------
    Ragged
        Nests as `input`. Floats keep their dtype, others become float64. Empty sequences stay empty.

    Raises
    ------
    TypeError
        `input` is not a Ragged, or does not hold numbers.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_softmax`, which takes rows of one number. On the CPU it overflows, because it does
    not subtract the maximum.

    Examples
    --------
    >>> vl.sequence_softmax(vl.Ragged([0.0, 0.0, 1.0, 4000.0], [2, 2])).to_list()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    r = sequences(input, "input")
    numbers(r.values, "input")
    return cast("RaggedT", r.softmax(level=level))


def backprop_sequence_softmax(dY: SequencesLike, Y: RaggedT, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_softmax`, from its result.

    Parameters
    ----------
    dY
        The gradient of Y: a `Ragged` that nests as Y, or its rows.
    Y
        The result of `sequence_softmax`.
    level
        The `level` of `sequence_softmax`.

    Returns
    -------
    Ragged
        Nests as Y.

    Raises
    ------
    TypeError
        Y is not a Ragged, dY does not hold floats, dtypes differ, or arrays and tensors are mixed.
    ValueError
        dY has another shape, or nests differently.
    IndexError
        There is no such level.

    Examples
    --------
    >>> y = vl.sequence_softmax(vl.Ragged([0.0, 0.0, 5.0], [2, 1]))
    >>> vl.sequence.backprop_sequence_softmax([1.0, 0.0, 1.0], y).to_list()
    [[0.25, -0.25], [0.0]]
    """
    y = sequences(Y, "Y")
    values, units, _ = units_of(y, None, level)
    d = floats(gradient_rows(dY, len(values), y.levels, inner=tuple(values.shape[1:])), "dY")
    if not is_tensor(d):
        as_row_dtype(d, "dY", values, "Y")
    return cast("RaggedT", y._make(backend_of(d).backprop_softmax(d, values, units, False, 1.0), y.levels))
