"""Softmax inside sequences, and its logarithm."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen.ops.softmax import exponentiate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT

__all__ = [
    "log_softmax",
    "softmax",
]


@overload
def softmax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, temperature: float = 1.0,
    out: Any = None, inplace: bool = False,
) -> RaggedT: ...
@overload
def softmax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    temperature: float = 1.0, out: Any = None, inplace: bool = False,
) -> RowsT: ...
def softmax(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, temperature: float = 1.0,
    out: Any = None, inplace: bool = False,
) -> Rows:
    """The softmax of each sequence's rows, column by column.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis along which shares add up to one, counted as in NumPy. Axis 0 runs across
        the sequences, position by position; -1 is the last axis of the rows.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    temperature
        The divisor of X, 1e-30 to 1e30: above 1 evens the shares out, below 1 sharpens them.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.
    inplace
        Write the result into X, C-contiguous floats, and return X.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged. Floats keep their dtype; integers and bools give float64.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; the temperature is not above zero; there is no such
        axis, or both an axis and a level are given; with `inplace`, X is read-only, not contiguous or not
        floats.
    IndexError
        There is no such level.

    See Also
    --------
    log_softmax, backprop_softmax

    Notes
    -----
    As Thinc's `Ops.softmax_sequences`, which clips to [-20, 20] instead of subtracting the largest number.
    NaN or +inf makes its column of the sequence NaN, and so do numbers that are all -inf; beside other
    numbers -inf gives 0. A gradient of 0 stays 0 in such a column, so that values a loss leaves out make
    nothing else NaN. Float16 and bfloat16 are computed in float32. A sequence gives the same bits alone, in a
    batch and with any number of threads.

    Examples
    --------
    >>> vl.ops.softmax(np.array([0.0, 0.0, 3.0]), [2, 1])
    array([0.5, 0.5, 1. ])
    >>> vl.ops.softmax(np.array([[0.0, 0.0], [1.0, 1.0]]), [1, 1], axis=-1)
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return exponentiate(X, lengths, False, axis, level, temperature, out, inplace)


@overload
def log_softmax(
    X: RaggedT, lengths: None = None, *, axis: int | None = None, level: int = -1, temperature: float = 1.0,
    out: Any = None, inplace: bool = False,
) -> RaggedT: ...
@overload
def log_softmax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: int | None = None, level: int = -1,
    temperature: float = 1.0, out: Any = None, inplace: bool = False,
) -> RowsT: ...
def log_softmax(
    X: Any, lengths: Any = None, *, axis: int | None = None, level: int = -1, temperature: float = 1.0,
    out: Any = None, inplace: bool = False,
) -> Rows:
    """The logarithm of `softmax`, computed directly, so that tiny shares keep their precision.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a Ragged.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    axis
        Instead of `level`: the axis along which shares add up to one, counted as in NumPy. Axis 0 runs across
        the sequences, position by position; -1 is the last axis of the rows.
    level
        The level whose sequences each start anew; -1 is the innermost. All levels are kept.
    temperature
        The divisor of X, 1e-30 to 1e30: above 1 evens the shares out, below 1 sharpens them.
    out
        (total, ...) of the result's dtype, C-contiguous, not overlapping X: filled and returned.
    inplace
        Write the result into X, C-contiguous floats, and return X.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), a Ragged for a Ragged. Floats keep their dtype; integers and bools give float64.

    Raises
    ------
    TypeError
        The values are not numbers.
    ValueError
        Lengths are negative or do not add up to the rows; the temperature is not above zero; there is no such
        axis, or both an axis and a level are given; with `inplace`, X is read-only, not contiguous or not
        floats.
    IndexError
        There is no such level.

    See Also
    --------
    softmax, backprop_log_softmax

    Examples
    --------
    >>> vl.ops.log_softmax(np.array([0.0, 1000.0, 3.0]), [2, 1])
    array([-1000.,     0.,     0.])
    """
    return exponentiate(X, lengths, True, axis, level, temperature, out, inplace)
