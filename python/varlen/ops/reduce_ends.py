"""The ends of sequences: largest and smallest rows, first and last ones, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import is_tensor, like
from varlen.ops.inputs import rows_and_level
from varlen.types.reductions import end, extreme, place

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def reduce_max(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The largest number of each sequence, column by column, and the row that holds it.

    Parameters
    ----------
    X, lengths
        As those of `reduce_sum`.
    empty
        What a sequence without rows gives; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n, ...): the first row inside the sequence that holds it, -1 in a
    sequence without rows. A NaN is the maximum, wherever it is.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.
    TypeError
        Values that are no numbers.
    OverflowError
        A row number beyond int32.

    Notes
    -----
    As Thinc's `Ops.reduce_max`, but that NaN is the maximum wherever it is, and any dtype is taken.

    Examples
    --------
    >>> most, which = vl.ops.reduce_max(np.array([[4, 1], [2, 3], [5, 5]]), [2, 1])
    >>> most.tolist(), which.tolist()
    ([[4, 3], [5, 5]], [[0, 1], [0, 0]])
    """
    return extreme("max", *rows_and_level(X, lengths), empty, narrow=True)


def argmax(X: Any, lengths: Any = None, *, empty: int | None = None) -> Array:
    """The first row inside each sequence that holds its largest number, column by column: int64 (n, ...).

    `empty`, an integer, is what a sequence without rows gives; by default it is refused.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_max`.

    Examples
    --------
    >>> vl.ops.argmax([3, 9, 9, 4], [3, 1])
    array([1, 0])
    """
    values, level = rows_and_level(X, lengths)
    return place("max", values, level, empty)


def reduce_min(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The smallest number of each sequence, column by column, and the row that holds it.

    Parameters
    ----------
    X, lengths
        As those of `reduce_sum`.
    empty
        What a sequence without rows gives; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n, ...): the first row inside the sequence that holds it, -1 in a
    sequence without rows. A NaN is the minimum, wherever it is.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.
    TypeError
        Values that are no numbers.
    OverflowError
        A row number beyond int32.

    Notes
    -----
    The counterpart of `reduce_max`, which Thinc lacks.

    Examples
    --------
    >>> most, which = vl.ops.reduce_min(np.array([[4, 1], [2, 3], [5, 5]]), [2, 1])
    >>> most.tolist(), which.tolist()
    ([[2, 1], [5, 5]], [[1, 0], [0, 0]])
    """
    return extreme("min", *rows_and_level(X, lengths), empty, narrow=True)


def argmin(X: Any, lengths: Any = None, *, empty: int | None = None) -> Array:
    """The first row inside each sequence that holds its smallest number, column by column: int64 (n, ...).

    `empty`, an integer, is what a sequence without rows gives; by default it is refused.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_min`.

    Examples
    --------
    >>> vl.ops.argmin([3, 9, 9, 4], [3, 1])
    array([0, 0])
    """
    values, level = rows_and_level(X, lengths)
    return place("min", values, level, empty)


def reduce_first(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The first row of each sequence, and the offsets.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    empty
        What a sequence without rows gives, a number or a row; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int32 (n + 1,), which `backprop_reduce_first` takes.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.

    Notes
    -----
    As Thinc's `Ops.reduce_first`; dtype and trailing dimensions stay with no sequences too.

    Examples
    --------
    >>> vl.ops.reduce_first([3, 1, 4], [2, 1])
    (array([3, 4]), array([0, 2, 3], dtype=int32))
    """
    values, level = rows_and_level(X, lengths)
    return end(values, level, False, empty), _as_int32(like(level.offsets, values), level, "starts_ends")


def reduce_last(X: Any, lengths: Any = None, *, empty: Any = None) -> tuple[Array, Array]:
    """The last row of each sequence, and the rows that they are.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    empty
        What a sequence without rows gives, a number or a row; by default it is refused.

    Returns
    -------
    (n, ...) of the dtype of X, and int64 (n,), which `backprop_reduce_last` takes; -1 where there is no row.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.

    Notes
    -----
    As Thinc's `Ops.reduce_last`; dtype and trailing dimensions stay with no sequences too.

    Examples
    --------
    >>> vl.ops.reduce_last([3, 1, 4], [2, 1])
    (array([1, 4]), array([1, 2]))
    """
    values, level = rows_and_level(X, lengths)
    result, lasts = end(values, level, True, empty), level.offsets[1:] - 1
    if empty is not None:
        lasts[level.lengths == 0] = -1
    return result, like(lasts, values)


def _as_int32(numbers: Any, level: Level, argument: str) -> Any:
    if level.total > np.iinfo(np.int32).max:
        raise OverflowError(f"{argument}: {level.total} rows do not fit int32")
    return numbers.int() if is_tensor(numbers) else numbers.astype(np.int32)
