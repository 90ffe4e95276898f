"""The gradients of running sums, products and extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.arguments import as_bool, check_output
from varlen.backends import backend_of
from varlen.errors import name_argument
from varlen.ops.scan import scan_rows
from varlen.ops.support.inputs import rows_and_level, rows_of, same_kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, Output, SameT, SequencesLike


def backprop_cumsum(
    dY: SameT | Sequence[Any],
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    out: Any = None,
) -> SameT:
    """The gradient of `cumsum`: the running sum in the other direction.

    Parameters
    ----------
    dY
        (total, ...), the gradient of the result of `cumsum`: an array, a tensor or a `Ragged`.
    lengths, level, exclusive, reverse
        The arguments of `cumsum`.
    out
        As in `cumsum`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...), with the dtypes of `cumsum`. A Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Examples
    --------
    >>> vl.ops.backprop_cumsum(np.array([1.0, 2.0, 4.0]), [2, 1])
    array([3., 2., 4.])
    """
    try:
        result: SameT = scan_rows(
            "sum", dY, lengths, None, level, exclusive, not as_bool(reverse, "reverse"), out
        )
    except Exception as error:
        raise name_argument(error, X="dY") from None
    return result


def backprop_cumprod(
    dY: SameT | Sequence[Any],
    X: Any,
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    exclusive: bool = False,
    reverse: bool = False,
    out: Output | None = None,
) -> SameT:
    """The gradient of `cumprod`. It divides by nothing, so zeros in X are safe.

    Parameters
    ----------
    dY
        (total, ...) floats, the gradient of the result of `cumprod`.
    X
        The X of `cumprod`, of the dtype and shape of dY: an array, a tensor or a `Ragged`.
    lengths, level, exclusive, reverse
        The arguments of `cumprod`.
    out
        As in `cumprod`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of X. A Ragged if X is one.

    Raises
    ------
    TypeError, ValueError
        The values are not floats, dY and X differ in dtype or shape; or as in `cumsum`.

    Examples
    --------
    >>> vl.ops.backprop_cumprod(np.ones(3), np.array([3.0, 0.0, 5.0]), [3])
    array([ 1., 18.,  0.])
    """
    if out is not None:
        check_output(out, dY, X, lengths)
    values, units = rows_and_level(X, lengths, level=level)
    d = rows_of(dY, "dY")
    backend = backend_of(values, d)
    result: SameT = same_kind(X, backend.backprop_cumprod(d, values, units, exclusive, reverse, out))
    return result


def backprop_cummax(
    dY: SameT | Sequence[Any],
    which: SequencesLike,
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    out: Output | None = None,
) -> SameT:
    """The gradient of `cummax` and `cummin`: each row sums dY over the places where it was the extreme.

    Parameters
    ----------
    dY
        (total, ...) floats, the gradient of the result of `cummax`: an array, a tensor or a `Ragged`.
    which
        The positions of `cummax(which=True)`: (total, ...) integers, rows inside the sequence, or -1 for
        none.
    lengths, level
        The arguments of `cummax`.
    out
        (total, ...) of the dtype of dY, C-contiguous, not overlapping it: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of dY. A Ragged if dY is one.

    Raises
    ------
    IndexError
        A row is out of range for its sequence; the message names it.
    TypeError, ValueError
        The values are not floats, `which` has another shape; or as in `cumsum`.

    Notes
    -----
    Float32 is added in float64, float16 and bfloat16 in float32.

    Examples
    --------
    >>> vl.ops.backprop_cummax(np.array([1.0, 2.0, 4.0, 8.0]), [0, 0, 2, 0], [3, 1])
    array([3., 0., 4., 8.])
    """
    if out is not None:
        check_output(out, dY, which, lengths)
    d, units = rows_and_level(dY, lengths, "dY", level)
    places = rows_of(which, "which")
    result: SameT = same_kind(dY, backend_of(d).backprop_scan_which(d, places, units, out))
    return result


def backprop_cummin(
    dY: SameT | Sequence[Any],
    which: SequencesLike,
    lengths: Lengths | None = None,
    *,
    level: int = -1,
    out: Output | None = None,
) -> SameT:
    """The gradient of `cummin`; the same function as `backprop_cummax`.

    Parameters
    ----------
    dY, which, lengths, level, out
        As in `backprop_cummax`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of dY. A Ragged if dY is one.

    Raises
    ------
    IndexError, TypeError, ValueError
        As in `backprop_cummax`.

    Examples
    --------
    >>> vl.ops.backprop_cummin(np.array([1.0, 2.0, 4.0, 8.0]), [0, 0, 2, 0], [3, 1])
    array([3., 0., 4., 8.])
    """
    result: SameT = backprop_cummax(dY, which, lengths, level=level, out=out)
    return result
