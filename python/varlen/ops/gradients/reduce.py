"""The gradients of reductions: one row for each sequence to the rows of the sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import check_output
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.errors import name_argument
from varlen.ops.support.inputs import as_level

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen.backends.values import Lengths, Output, RowsT, SequencesLike

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def backprop_reduce_sum(
    d_sums: RowsT | Sequence[Any], lengths: Lengths, *, out: Output | None = None
) -> RowsT:
    """The gradient of `reduce_sum`: every row of sequence i gets row i.

    Parameters
    ----------
    d_sums
        (n, ...) of any dtype, an array or a tensor.
    lengths
        (n,) integers, or a `Level`.
    out
        (total, ...) of the dtype of d_sums, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_sums.

    Raises
    ------
    ValueError
        The number of rows differs from the sequences, or `out` has another shape.

    Notes
    -----
    As Thinc's `Ops.backprop_reduce_sum`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_sum(np.array([1.0, 2.0]), [2, 1])
    array([1., 1., 2.])
    """
    if out is not None:
        check_output(out, d_sums, lengths)
    rows, level = as_values(d_sums, "d_sums"), as_level(lengths)
    try:
        result: RowsT = backend_of(rows).expand(rows, level, out)
    except Exception as error:
        raise name_argument(error, rows="d_sums") from None
    return result


def backprop_reduce_mean(
    d_means: RowsT | Sequence[Any], lengths: Lengths, *, out: Output | None = None
) -> RowsT:
    """The gradient of `reduce_mean`: every row of sequence i gets row i divided by its length.

    Parameters
    ----------
    d_means
        (n, ...) floats, an array or a tensor.
    lengths, out
        As in `backprop_reduce_sum`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_means.

    Raises
    ------
    TypeError
        The values are not floats.
    ValueError
        The number of rows differs from the sequences, or `out` has another shape.

    Notes
    -----
    As Thinc's `Ops.backprop_reduce_mean`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_mean(np.array([1.0, 2.0]), [2, 1])
    array([0.5, 0.5, 2. ])
    """
    if out is not None:
        check_output(out, d_means, lengths)
    rows, level = as_values(d_means, "d_means"), as_level(lengths)
    try:
        result: RowsT = backend_of(rows).expand_mean(rows, level, out)
    except Exception as error:
        raise name_argument(error, rows="d_means") from None
    return result


def backprop_reduce_max(
    d_maxes: RowsT | Sequence[Any], which: Any, lengths: Any, *, out: Any = None
) -> RowsT:
    """The gradient of `reduce_max`: the row that `which` names gets the number, the others zero.

    Parameters
    ----------
    d_maxes
        (n, ...) of any dtype, an array or a tensor.
    which
        (n, ...) integers: the row inside each sequence; -1 for a sequence without rows.
    lengths
        (n,) integers, or a `Level`.
    out
        (total, ...) of the dtype of d_maxes, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_maxes.

    Raises
    ------
    IndexError
        A row is out of range for its sequence; the message names the number, the row and the length.
    ValueError
        Shapes differ, or the number of rows differs from the sequences.

    Notes
    -----
    As Thinc's `Ops.backprop_reduce_max`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_max(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_which(d_maxes, "d_maxes", which, lengths, out)
    return result


def backprop_reduce_min(d_mins: RowsT | Sequence[Any], which: Any, lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_min`: the row that `which` names gets the number, the others zero.

    Parameters
    ----------
    d_mins
        (n, ...) of any dtype, an array or a tensor.
    which, lengths, out
        As in `backprop_reduce_max`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_mins.

    Raises
    ------
    IndexError, ValueError
        As in `backprop_reduce_max`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_min(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_which(d_mins, "d_mins", which, lengths, out)
    return result


def backprop_reduce_first(d_firsts: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_first`: the first row of sequence i gets row i, the others zeros.

    Parameters
    ----------
    d_firsts
        (n, ...) of any dtype; the rows for empty sequences are not used.
    lengths
        (n,) integers, or a `Level`.
    out
        (total, ...) of the dtype of d_firsts, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_firsts.

    Raises
    ------
    ValueError
        The number of rows differs from the sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_first(np.array([1.0, 2.0]), [2, 1])
    array([1., 0., 2.])
    """
    result: RowsT = _expanded_end(d_firsts, "d_firsts", lengths, False, out)
    return result


def backprop_reduce_last(d_lasts: RowsT | Sequence[Any], lengths: Any, *, out: Any = None) -> RowsT:
    """The gradient of `reduce_last`: the last row of sequence i gets row i, the others zeros.

    Parameters
    ----------
    d_lasts, lengths, out
        As in `backprop_reduce_first`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of d_lasts.

    Raises
    ------
    ValueError
        The number of rows differs from the sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_last(np.array([1.0, 2.0]), [2, 1])
    array([0., 1., 2.])
    """
    result: RowsT = _expanded_end(d_lasts, "d_lasts", lengths, True, out)
    return result


def _expanded_which(
    rows: SequencesLike, argument: str, which: SequencesLike, lengths: Lengths, out: Output | None
) -> Any:
    if out is not None:
        check_output(out, rows, which, lengths)
    rows, level = as_values(rows, argument), as_level(lengths)
    try:
        return backend_of(rows).expand_which(rows, level, which, out)
    except Exception as error:
        raise name_argument(error, rows=argument) from None


def _expanded_end(
    rows: SequencesLike, argument: str, lengths: Lengths, last: bool, out: Output | None
) -> Any:
    if out is not None:
        check_output(out, rows, lengths)
    rows, level = as_values(rows, argument), as_level(lengths)
    try:
        return backend_of(rows).expand_end(rows, level, last, out)
    except Exception as error:
        raise name_argument(error, rows=argument) from None
