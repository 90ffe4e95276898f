"""Running numbers along a dim."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.dims.ops.scan import scan

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


def cumsum(
    x: Data[Any], axis: Axis = "T", *, exclusive: bool = False, reverse: bool = False,
    out_shape: OutShape | None = None, dtype: Any = None, overflow: str = "wrap",
) -> Data[Any]:
    """The running sum along a dim; each row starts anew.

    Parameters
    ----------
    x
        Numbers, complex ones too, or bools.
    axis
        The dim along which they are added. Where another dim is over it, positions that are the same in that
        one are added.
    exclusive
        Leave the number itself out: the first position holds 0.
    reverse
        From the last position of each row to the first.
    out_shape
        The expected dims.
    dtype, overflow
        As those of `reduce`.

    Returns
    -------
    Data
        Over the same dims. Floats keep their dtype; bools and signed integers give int64, unsigned ones
        uint64.

    Raises
    ------
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.
    OverflowError
        With `overflow="raise"` a sum that its dtype cannot hold.

    Notes
    -----
    As RETURNN's `cumsum`, which goes on through the padding.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.cumsum(x).to_list()
    [[3, 4, 8], [5]]
    >>> vl.dims.cumsum(x, exclusive=True, reverse=True).to_list()
    [[5, 4, 0], [0]]
    """
    return scan("sum", x, axis, exclusive, reverse, out_shape, dtype, overflow)


def cumprod(
    x: Data[Any], axis: Axis = "T", *, exclusive: bool = False, reverse: bool = False,
    out_shape: OutShape | None = None, dtype: Any = None, overflow: str = "wrap",
) -> Data[Any]:
    """The running product along a dim; each row starts anew.

    Parameters
    ----------
    x
        Real numbers or bools.
    axis
        As those of `cumsum`.
    exclusive
        Leave the number itself out: the first position holds 1.
    reverse, out_shape, dtype, overflow
        As those of `cumsum`.

    Returns
    -------
    Data
        Over the same dims, with the dtypes of `cumsum`.

    Raises
    ------
    IndexError, OutShapeError, OverflowError
        As `cumsum`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.cumprod(x).to_list()
    [[3, 3, 12], [5]]
    """
    return scan("prod", x, axis, exclusive, reverse, out_shape, dtype, overflow)


def cummax(
    x: Data[Any], axis: Axis = "T", *, exclusive: bool = False, reverse: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The largest number so far along a dim; NaN from the first NaN on.

    Parameters
    ----------
    x, axis
        As those of `cumsum`.
    exclusive
        Leave the number itself out: the first position holds the lowest number of the dtype, -inf of floats.
    reverse, out_shape
        As those of `cumsum`.

    Returns
    -------
    Data
        Over the same dims, of the same dtype.

    Raises
    ------
    IndexError, OutShapeError
        As `cumsum`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.cummax(x).to_list()
    [[3, 3, 4], [5]]
    """
    return scan("max", x, axis, exclusive, reverse, out_shape)


def cummin(
    x: Data[Any], axis: Axis = "T", *, exclusive: bool = False, reverse: bool = False,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The smallest number so far along a dim; NaN from the first NaN on.

    Parameters
    ----------
    x, axis
        As those of `cumsum`.
    exclusive
        Leave the number itself out: the first position holds the highest number of the dtype, inf of floats.
    reverse, out_shape
        As those of `cumsum`.

    Returns
    -------
    Data
        Over the same dims, of the same dtype.

    Raises
    ------
    IndexError, OutShapeError
        As `cumsum`.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4, 5]), [vl.dims.batch_dim, vl.Dim("time", lengths=[3, 1])])
    >>> vl.dims.cummin(x, reverse=True).to_list()
    [[1, 1, 4], [5]]
    """
    return scan("min", x, axis, exclusive, reverse, out_shape)
