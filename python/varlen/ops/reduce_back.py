"""The gradients of reductions: one row for each sequence to the rows of the sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.ops.inputs import as_level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen.backends.values import RowsT

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def backprop_reduce_sum(d_sums: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_sum`: row i for every row of sequence i, (total, ...) of any dtype.

    Raises
    ------
    ValueError
        As many rows as there are sequences were expected.

    Examples
    --------
    >>> vl.ops.backprop_reduce_sum(np.array([1.0, 2.0]), [2, 1])
    array([1., 1., 2.])
    """
    rows, level = as_values(d_sums, "d_sums"), as_level(lengths)
    result: RowsT = backend_of(rows).expand(rows, level, out)
    return result


def backprop_reduce_mean(d_means: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_mean`: row i divided by the length of sequence i, for every row of it. Floats.

    Raises
    ------
    TypeError, ValueError
        Other numbers than floats; as many rows as there are sequences were expected.

    Examples
    --------
    >>> vl.ops.backprop_reduce_mean(np.array([1.0, 2.0]), [2, 1])
    array([0.5, 0.5, 2. ])
    """
    rows, level = as_values(d_means, "d_means"), as_level(lengths)
    result: RowsT = backend_of(rows).expand_mean(rows, level, out)
    return result


def backprop_reduce_max(
    d_maxes: RowsT | Sequence[Any], which: Any, lengths: Any, *, out: Any = None
) -> RowsT:
    """The gradient of `reduce_max`: each number to the row that `which` says, else zeros.

    Parameters
    ----------
    d_maxes
        (n, ...) of any dtype.
    which
        (n, ...) integers: the row inside each sequence; -1 in a sequence without rows, which takes none.
    lengths
        (n,) integers, or a `Level`.

    Raises
    ------
    IndexError
        A row that its sequence does not have; number, row and length are named.
    ValueError
        Shapes that differ, or another number of rows than sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_max(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_which(d_maxes, "d_maxes", which, lengths, out)
    return result


def backprop_reduce_min(d_mins: RowsT | Sequence[Any], which: Any, lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_min`; otherwise as `backprop_reduce_max`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_min(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_which(d_mins, "d_mins", which, lengths, out)
    return result


def backprop_reduce_first(d_firsts: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_first`: row i for the first row of sequence i, zeros for the others.

    Parameters
    ----------
    d_firsts
        (n, ...) of any dtype; rows of sequences without rows go nowhere.
    lengths
        (n,) integers, or a `Level`.
    out
        (total, ...) of the dtype of d_firsts, C-contiguous: filled and given back.

    Returns
    -------
    (total, ...) of the dtype of d_firsts.

    Raises
    ------
    ValueError
        Another number of rows than sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_first(np.array([1.0, 2.0]), [2, 1])
    array([1., 0., 2.])
    """
    result: RowsT = _expanded_end(d_firsts, "d_firsts", lengths, False, out)
    return result


def backprop_reduce_last(d_lasts: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_last`: row i for the last row of sequence i, zeros for the others.

    Parameters
    ----------
    d_lasts, lengths, out
        As those of `backprop_reduce_first`.

    Returns
    -------
    (total, ...) of the dtype of d_lasts.

    Raises
    ------
    ValueError
        Another number of rows than sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_last(np.array([1.0, 2.0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_end(d_lasts, "d_lasts", lengths, True, out)
    return result


def _expanded_which(rows: Any, argument: str, which: Any, lengths: Any, out: Any) -> Any:
    rows, level = as_values(rows, argument), as_level(lengths)
    return backend_of(rows).expand_which(rows, level, which, out)


def _expanded_end(rows: Any, argument: str, lengths: Any, last: bool, out: Any) -> Any:
    rows, level = as_values(rows, argument), as_level(lengths)
    return backend_of(rows).expand_end(rows, level, last, out)
