"""Running sums, products and extremes: each row with those before it. The gradients are in scan_back.py."""

from __future__ import annotations

from typing import Any

from varlen import _core
from varlen.backends.values import is_tensor
from varlen.ops.inputs import rows_and_level, same_kind
from varlen.types.scans import scanned


def cumsum(
    X: Any, lengths: Any = None, *, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> Any:
    """The running sum of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X
        (total, ...) numbers or bools, an array or a tensor, or a `Ragged`, whose innermost level is taken.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    exclusive
        Leave the row itself out: the first row is 0, the next one the first row of X, and so on.
    reverse
        From the last row of each sequence to the first.
    out
        (total, ...) of the result's dtype, C-contiguous, not in the memory of X: filled and given back.

    Returns
    -------
    (total, ...), a Ragged for a Ragged: floats of the same dtype, int64 for bools and signed, uint64 for
    unsigned integers, which wrap.

    Raises
    ------
    TypeError, ValueError
        Values that are no numbers, lengths that are negative or do not add up to the rows.

    Notes
    -----
    Float32 is added in float64, float16 and bfloat16 in float32, and each number that is written is rounded
    once; float64 is added row after row, as `np.cumsum` does. A sequence gives the same bits alone, in a
    batch and with any number of threads. Nothing is ever subtracted: NaN, an infinity or a large number
    stays in its sequence.

    Examples
    --------
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2])
    array([3, 4, 8, 1, 6])
    >>> vl.ops.cumsum([3, 1, 4, 1, 5], [3, 2], exclusive=True)
    array([0, 3, 4, 0, 1])
    >>> vl.ops.cumsum(vl.Ragged([3, 1, 4, 1, 5], [3, 2]), reverse=True).to_list()
    [[8, 5, 4], [6, 5]]
    """
    values, level = rows_and_level(X, lengths)
    return same_kind(X, scanned("sum", values, level, exclusive, reverse, out))


def cumprod(
    X: Any, lengths: Any = None, *, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> Any:
    """The running product of each sequence, column by column. Each sequence starts anew.

    Parameters
    ----------
    X, lengths, reverse, out
        As those of `cumsum`.
    exclusive
        Leave the row itself out: the first row is 1.

    Returns
    -------
    (total, ...), a Ragged for a Ragged: dtypes as those of `cumsum`, and numbers rounded as there.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Examples
    --------
    >>> vl.ops.cumprod([3, 2, 4, 5, 2], [3, 2])
    array([ 3,  6, 24,  5, 10])
    """
    values, level = rows_and_level(X, lengths)
    return same_kind(X, scanned("prod", values, level, exclusive, reverse, out))


def cummax(
    X: Any,
    lengths: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    which: bool = False,
    out: Any = None,
) -> Any:
    """The largest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X, lengths, reverse, out
        As those of `cumsum`.
    exclusive
        Leave the row itself out: the first row is the lowest number of the dtype, -inf of floats.
    which
        Say which row it is, too.

    Returns
    -------
    (total, ...) of the dtype of X, a Ragged for a Ragged. With `which` a pair: that, and int64 of the same
    shape, the row inside the sequence that holds the number, the first of equal ones in the direction of the
    scan; -1 where no row came before.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Notes
    -----
    As `torch.cummax` with `which`, but that it names the first of equal numbers, as `reduce_max` does.

    Examples
    --------
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2])
    array([3, 3, 4, 1, 5])
    >>> vl.ops.cummax([3, 1, 4, 1, 5], [3, 2], which=True)[1]
    array([0, 0, 2, 0, 1])
    """
    return _extreme("max", X, lengths, exclusive, reverse, which, out)


def cummin(
    X: Any,
    lengths: Any = None,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    which: bool = False,
    out: Any = None,
) -> Any:
    """The smallest number so far of each sequence, column by column; NaN from the first NaN on.

    Parameters
    ----------
    X, lengths, reverse, which, out
        As those of `cummax`.
    exclusive
        Leave the row itself out: the first row is the highest number of the dtype, inf of floats.

    Returns
    -------
    As `cummax`.

    Raises
    ------
    TypeError, ValueError
        As `cumsum`.

    Examples
    --------
    >>> vl.ops.cummin([3, 1, 4, 1, 5], [3, 2])
    array([3, 1, 1, 1, 1])
    """
    return _extreme("min", X, lengths, exclusive, reverse, which, out)


def _extreme(op: str, X: Any, lengths: Any, exclusive: bool, reverse: bool, which: bool, out: Any) -> Any:
    values, level = rows_and_level(X, lengths)
    if not which:
        return same_kind(X, scanned(op, values, level, exclusive, reverse, out))
    if is_tensor(values):
        from varlen.backends.torch import scan as torch_scan

        found, places = torch_scan.extreme(op, values, level, exclusive, reverse, out)
    else:
        found = _core.scan(op, values, level, exclusive, reverse, out)
        places = _core.scan_which(found, level, exclusive, reverse)
    return same_kind(X, found), same_kind(X, places)
