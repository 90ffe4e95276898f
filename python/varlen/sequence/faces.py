"""The first and the last step of sequences."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.sequence.pool import backprop_sequence_pool, sequence_pool

if TYPE_CHECKING:
    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, RaggedT


def sequence_first_step(input: RaggedBase[ArrayT], *, level: int = -1) -> ArrayT | Any:
    """The first row of each sequence; zeros, or NaT, for an empty one: `sequence_pool` with "first".

    Parameters
    ----------
    input
        `Ragged` of rows (T, ...) of any dtype.
    level
        The level whose sequences become one row each; levels below it are merged. -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of `input`; under more levels a `Ragged` of those above.

    Raises
    ------
    TypeError
        `input` is not a Ragged.
    IndexError
        There is no such level.

    Notes
    -----
    As Paddle's `sequence_first_step`, for any depth and dtype.

    Examples
    --------
    >>> vl.sequence_first_step(vl.Ragged([3, 1, 4], [2, 0, 1]))
    array([3, 0, 4])
    """
    return sequence_pool(input, "first", level=level)


def sequence_last_step(input: RaggedBase[ArrayT], *, level: int = -1) -> ArrayT | Any:
    """The last row of each sequence; zeros, or NaT, for an empty one: `sequence_pool` with "last".

    Parameters
    ----------
    input, level
        As in `sequence_first_step`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of `input`; under more levels a `Ragged` of those above.

    Raises
    ------
    TypeError, IndexError
        As in `sequence_first_step`.

    Notes
    -----
    As Paddle's `sequence_last_step`, for any depth and dtype.

    Examples
    --------
    >>> vl.sequence_last_step(vl.Ragged([3, 1, 4], [2, 0, 1]))
    array([1, 0, 4])
    """
    return sequence_pool(input, "last", level=level)


def backprop_sequence_first_step(dY: Any, input: RaggedT, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_first_step`: the first row of sequence i gets row i, the others zeros.

    Parameters
    ----------
    dY
        (n, ...) numbers, an array, a tensor or a `Ragged`: the gradient of the result of
        `sequence_first_step`.
    input, level
        The arguments of `sequence_first_step`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Raises
    ------
    TypeError, ValueError, IndexError
        As in `sequence_first_step`; or dY has another shape, or does not hold numbers.

    Examples
    --------
    >>> vl.sequence.backprop_sequence_first_step([5.0], vl.Ragged([3.0, 1.0], [2])).values
    array([5., 0.])
    """
    return backprop_sequence_pool(dY, input, "first", level=level)


def backprop_sequence_last_step(dY: Any, input: RaggedT, *, level: int = -1) -> RaggedT:
    """The gradient of `sequence_last_step`: the last row of sequence i gets row i, the others zeros.

    Parameters
    ----------
    dY, input, level
        As in `backprop_sequence_first_step`.

    Returns
    -------
    Ragged
        Nests as `input`, of the dtype of dY.

    Raises
    ------
    TypeError, ValueError, IndexError
        As in `sequence_last_step`; or dY has another shape, or does not hold numbers.

    Examples
    --------
    >>> vl.sequence.backprop_sequence_last_step([5.0], vl.Ragged([3.0, 1.0], [2])).values
    array([0., 5.])
    """
    return backprop_sequence_pool(dY, input, "last", level=level)
