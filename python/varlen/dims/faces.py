"""Verbs as methods of a Data."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims.ops.reduce import DEFAULT, reduce

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


class VerbMethods:
    """Methods of `varlen.Data`, which inherits them."""

    __slots__: tuple[str, ...] = ()

    def sum(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None, dtype: Any = None, overflow: str = "wrap",
    ) -> Data[Any]:
        """The sum over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default 0; None raises an error.
        out_shape
            The expected dims.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.sum(time).values
        array([4., 5.])
        """
        return reduce(self, "sum", axis, empty=empty, out_shape=out_shape, dtype=dtype, overflow=overflow)

    def mean(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None, dtype: Any = None,
    ) -> Data[Any]:
        """The mean over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default NaN; None raises an error.
        out_shape
            The expected dims.
        dtype
            The dtype of accumulator and result. For an integer dtype values are converted to it first, and
            the mean is truncated.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.mean(time).values
        array([2., 5.])
        """
        return reduce(self, "mean", axis, empty=empty, out_shape=out_shape, dtype=dtype)

    def prod(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None, dtype: Any = None, overflow: str = "wrap",
    ) -> Data[Any]:
        """The product over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default 1; None raises an error.
        out_shape
            The expected dims.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.prod(time).values
        array([3., 5.])
        """
        return reduce(self, "prod", axis, empty=empty, out_shape=out_shape, dtype=dtype, overflow=overflow)

    def max(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The largest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default -inf, of no integers an error; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.max(time).values
        array([3., 5.])
        """
        return reduce(self, "max", axis, empty=empty, out_shape=out_shape)

    def min(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The smallest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default inf, of no integers an error; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.min(time).values
        array([1., 5.])
        """
        return reduce(self, "min", axis, empty=empty, out_shape=out_shape)

    def argmax(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The position of the largest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default -1; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.argmax(time).values
        array([0, 0])
        """
        return reduce(self, "argmax", axis, empty=empty, out_shape=out_shape)

    def argmin(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The position of the smallest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default -1; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.argmin(time).values
        array([1, 0])
        """
        return reduce(self, "argmin", axis, empty=empty, out_shape=out_shape)

    def any(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """Whether any is true over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default False; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.any(time).values
        array([ True,  True])
        """
        return reduce(self, "any", axis, empty=empty, out_shape=out_shape)

    def all(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """Whether all are true over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default True; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.all(time).values
        array([ True,  True])
        """
        return reduce(self, "all", axis, empty=empty, out_shape=out_shape)

    def norm(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The Euclidean norm over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default 0; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.norm(time).values
        array([3.16227766, 5.        ])
        """
        return reduce(self, "norm", axis, empty=empty, out_shape=out_shape)

    def var(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The variance over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default NaN; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.var(time).values
        array([1., 0.])
        """
        return reduce(self, "var", axis, empty=empty, out_shape=out_shape)

    def std(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The standard deviation over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default NaN; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.std(time).values
        array([1., 0.])
        """
        return reduce(self, "std", axis, empty=empty, out_shape=out_shape)

    def logsumexp(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The logarithm of the sum of exponentials over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default -inf; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.logsumexp(time).values
        array([3.12692801, 5.        ])
        """
        return reduce(self, "logsumexp", axis, empty=empty, out_shape=out_shape)

    def ptp(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The largest number minus the smallest over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default an error; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.ptp(time).values
        array([2., 0.])
        """
        return reduce(self, "ptp", axis, empty=empty, out_shape=out_shape)

    def mode(
        self: Any, axis: Axis | Sequence[Axis] = "*", *, empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The most frequent number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims to reduce; all of them by default.
        empty
            The result for no positions, by default an error; None raises an error.
        out_shape
            The expected dims.

        Returns
        -------
        Data
            Over the dims that stay.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError, OutShapeError
            As `dims.reduce`.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, time])
        >>> x.mode(time).values
        array([1., 5.])
        """
        return reduce(self, "mode", axis, empty=empty, out_shape=out_shape)
