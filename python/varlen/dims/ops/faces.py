"""Running numbers along a dim, softmax, and numbers that are all the same."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims.ops.make_values import fill, fill_like
from varlen.dims.ops.scan import scan
from varlen.dims.ops.softmax import shares

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from varlen._core import Dim
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
        Numbers, including complex ones, or bools.
    axis
        The dim to add along. If the lengths of another dim depend on it, equal positions of that dim are
        added.
    exclusive
        Leave the number itself out: the first position holds 0.
    reverse
        From the last position of each row to the first.
    out_shape
        The dims that the result must have; None skips the check.
    dtype, overflow
        As in `reduce`.

    Returns
    -------
    Data
        The running sums, over the same dims. Floats keep their dtype; bools and signed integers give int64,
        unsigned ones uint64.

    Raises
    ------
    IndexError
        There is no such dim.
    OutShapeError
        The dims differ from the expected ones.
    OverflowError
        With `overflow="raise"`, the dtype cannot hold a sum.

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
        As in `cumsum`.
    exclusive
        Leave the number itself out: the first position holds 1.
    reverse, out_shape, dtype, overflow
        As in `cumsum`.

    Returns
    -------
    Data
        The running products, over the same dims, with the dtypes of `cumsum`.

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
        As in `cumsum`.
    exclusive
        Leave the number itself out: the first position holds the lowest number of the dtype, -inf for floats.
    reverse, out_shape
        As in `cumsum`.

    Returns
    -------
    Data
        The largest numbers so far, over the same dims, of the same dtype.

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
        As in `cumsum`.
    exclusive
        Leave the number itself out: the first position holds the highest number of the dtype, inf for floats.
    reverse, out_shape
        As in `cumsum`.

    Returns
    -------
    Data
        The smallest numbers so far, over the same dims, of the same dtype.

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


def softmax(
    x: Data[Any], axis: Axis | Sequence[Axis] = "T", *, scale: float = 1.0,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The softmax over some dims: exp(scale * x) divided by its sum, computed stably.

    Parameters
    ----------
    x
        Numbers.
    axis
        The dims over which they sum to one.
    scale
        The factor by which numbers are multiplied first: one over a temperature.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The shares, over the same dims. A row without positions has none, not even NaN.

    Raises
    ------
    ValueError
        The scale is not above zero.
    IndexError
        There is no such dim.

    Notes
    -----
    As RETURNN's `softmax`, without a mask: there is no padding.

    Examples
    --------
    >>> time = vl.Dim("time", lengths=[2, 0, 1])
    >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, time])
    >>> vl.dims.softmax(x, time).to_list()
    [[0.5, 0.5], [], [1.0]]
    """
    return shares(x, axis, scale, out_shape)


def log_softmax(
    x: Data[Any], axis: Axis | Sequence[Axis] = "T", *, scale: float = 1.0,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """The logarithm of `softmax`.

    Parameters
    ----------
    x, axis, scale, out_shape
        As in `softmax`.

    Returns
    -------
    Data
        The logarithms, over the same dims.

    Raises
    ------
    ValueError, IndexError
        As `softmax`.

    Examples
    --------
    >>> x = vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.log_softmax(x).values.round(3)
    array([-0.693, -0.693,  0.   ])
    """
    return shares(x, axis, scale, out_shape, log=True)


def zeros(
    dims: Sequence[Dim], *, dtype: DTypeLike | None = None, like: Data[Any] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """A Data of zeros.

    Parameters
    ----------
    dims
        Dims with lengths, in any order, including the dims that their lengths depend on.
    dtype
        By default the dtype of `like`; without `like`, float64.
    like
        A Data that gives the kind of array, device and dtype.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The zeros, over `dims`.

    Raises
    ------
    ValueError
        A dim has no lengths, appears twice, or lacks a dim that its lengths depend on.
    OutShapeError
        The dims differ from the expected ones.

    Examples
    --------
    >>> vl.dims.zeros([vl.dims.batch_dim, vl.Dim("time", lengths=[2, 0])]).to_list()
    [[0.0, 0.0], []]
    """
    return fill(0, dims, dtype, like, out_shape)


def zeros_like(
    x: Data[Any], *, dtype: DTypeLike | None = None, out_shape: OutShape | None = None,
) -> Data[Any]:
    """A Data of zeros, like another Data.

    Parameters
    ----------
    x
        A Data that gives the dims, the kind of array, the device and the dtype.
    dtype
        By default the dtype of `x`.
    out_shape
        The dims that the result must have; None skips the check.

    Returns
    -------
    Data
        The zeros, over the dims of `x`.

    Raises
    ------
    OutShapeError
        The dims differ from the expected ones.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.zeros_like(x).to_list()
    [[0, 0], [0]]
    """
    return fill_like(0, x, dtype, out_shape)


def ones(
    dims: Sequence[Dim], *, dtype: DTypeLike | None = None, like: Data[Any] | None = None,
    out_shape: OutShape | None = None,
) -> Data[Any]:
    """A Data of ones.

    Parameters
    ----------
    dims, dtype, like, out_shape
        As in `zeros`.

    Returns
    -------
    Data
        The ones, over `dims`.

    Raises
    ------
    ValueError, OutShapeError
        As in `zeros`.

    Examples
    --------
    >>> vl.dims.ones([vl.Dim("two", 2)]).values
    array([1., 1.])
    """
    return fill(1, dims, dtype, like, out_shape)


def ones_like(
    x: Data[Any], *, dtype: DTypeLike | None = None, out_shape: OutShape | None = None,
) -> Data[Any]:
    """A Data of ones, like another Data.

    Parameters
    ----------
    x, dtype, out_shape
        As in `zeros_like`.

    Returns
    -------
    Data
        The ones, over the dims of `x`.

    Raises
    ------
    OutShapeError
        The dims differ from the expected ones.

    Examples
    --------
    >>> x = vl.Data(np.array([3, 1, 4]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> vl.dims.ones_like(x).to_list()
    [[1, 1], [1]]
    """
    return fill_like(1, x, dtype, out_shape)
