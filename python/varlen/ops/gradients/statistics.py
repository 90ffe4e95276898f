"""The gradients of reductions that depend on the values: of products, norms, variances and their like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import check_output
from varlen.backends import backend_of
from varlen.errors import name_argument, value_error
from varlen.ops.support.inputs import rows_and_level, rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen.backends.values import Lengths, Output, RowsT, SequencesLike

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def backprop_reduce_var(
    d_vars: RowsT | Sequence[Any], X: Any, lengths: Any = None, *, ddof: float = 0, out: Any = None
) -> RowsT:
    """The gradient of `reduce_var`: 2 d (x - mean) / (length - ddof).

    Parameters
    ----------
    d_vars
        (n, ...) of the dtype of X.
    X
        (total, ...) floats, an array or a tensor, or a Ragged, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    ddof
        The `ddof` of `reduce_var`.
    out
        Of the shape and dtype of X, C-contiguous: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of X. NaN in sequences of no more than `ddof` rows.

    Raises
    ------
    TypeError, ValueError
        The values are not floats, the gradient has another dtype or shape, or the lengths do not add up to
        the rows.

    Examples
    --------
    >>> vl.ops.backprop_reduce_var(np.array([1.0, 1.0]), np.array([1.0, 3.0, 5.0]), [2, 1])
    array([-1.,  1.,  0.])
    """
    result: RowsT = _reduce_gradient("var", d_vars, "d_vars", X, lengths, ddof, out)
    return result


def backprop_reduce_std(
    d_stds: RowsT | Sequence[Any], X: Any, lengths: Any = None, *, ddof: float = 0, out: Any = None
) -> RowsT:
    """The gradient of `reduce_std`: d (x - mean) / ((length - ddof) std).

    Parameters
    ----------
    d_stds
        (n, ...) of the dtype of X.
    X, lengths, ddof, out
        As in `backprop_reduce_var`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of X. 0 where the deviation is 0; NaN in sequences of no more than `ddof`
        rows.

    Raises
    ------
    TypeError, ValueError
        As in `backprop_reduce_var`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_std(np.array([1.0, 1.0]), np.array([1.0, 3.0, 5.0]), [2, 1])
    array([-0.5,  0.5,  0. ])
    """
    result: RowsT = _reduce_gradient("std", d_stds, "d_stds", X, lengths, ddof, out)
    return result


def backprop_reduce_logsumexp(
    d_sums: RowsT | Sequence[Any], X: Any, lengths: Any = None, *, out: Any = None
) -> RowsT:
    """The gradient of `reduce_logsumexp`: d times the softmax of X.

    Parameters
    ----------
    d_sums
        (n, ...) of the dtype of X.
    X, lengths, out
        As in `backprop_reduce_var`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of X.

    Raises
    ------
    TypeError, ValueError
        As in `backprop_reduce_var`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_logsumexp(np.array([1.0, 4.0]), np.zeros(3), [2, 1])
    array([0.5, 0.5, 4. ])
    """
    result: RowsT = _reduce_gradient("logsumexp", d_sums, "d_sums", X, lengths, 0, out)
    return result


def backprop_reduce_norm(
    d_norms: RowsT | Sequence[Any], X: Any, lengths: Any = None, *, out: Any = None
) -> RowsT:
    """The gradient of `reduce_norm`: d x / norm.

    Parameters
    ----------
    d_norms
        (n, ...) of the dtype of X.
    X, lengths, out
        As in `backprop_reduce_var`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of X. 0 where the norm is 0.

    Raises
    ------
    TypeError, ValueError
        As in `backprop_reduce_var`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_norm(np.array([5.0, 1.0]), np.array([3.0, 4.0, 0.0]), [2, 1])
    array([3., 4., 0.])
    """
    result: RowsT = _reduce_gradient("norm", d_norms, "d_norms", X, lengths, 0, out)
    return result


def backprop_reduce_prod(
    d_prods: RowsT | Sequence[Any], X: Any, lengths: Any = None, *, out: Any = None
) -> RowsT:
    """The gradient of `reduce_prod`: d times the product of the other rows.

    It divides by nothing, so zeros among the rows are safe.

    Parameters
    ----------
    d_prods
        (n, ...) of the dtype of X.
    X, lengths, out
        As in `backprop_reduce_var`.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        (total, ...) of the dtype of X.

    Raises
    ------
    TypeError, ValueError
        As in `backprop_reduce_var`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_prod(np.array([1.0, 1.0]), np.array([0.0, 4.0, 7.0]), [2, 1])
    array([4., 0., 1.])
    """
    result: RowsT = _reduce_gradient("prod", d_prods, "d_prods", X, lengths, 0, out)
    return result


def _reduce_gradient(
    op: str,
    d: SequencesLike,
    argument: str,
    X: SequencesLike,
    lengths: Lengths | None,
    ddof: float,
    out: Output | None,
) -> Any:
    if out is not None:
        check_output(out, d, X, lengths)
    values, level = rows_and_level(X, lengths)
    rows = rows_of(d, argument)
    shape = (len(level), *values.shape[1:])
    if tuple(rows.shape) != shape:
        raise value_error(argument, f"expected {shape}, a row for each sequence, got {tuple(rows.shape)}")
    try:
        return backend_of(values).backprop_reduce(op, rows, values, level, ddof, out, argument)
    except Exception as error:
        raise name_argument(error, d=argument) from None
