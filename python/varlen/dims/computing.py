"""Operations as methods of Data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from varlen.dims.ops.reduce import DEFAULT, reduce

if TYPE_CHECKING:
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape


class Computing:
    """Methods of `varlen.Data`, which inherits them; the functions of `varlen.dims` say more.

    Examples
    --------
    >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
    >>> x.sum("T").values, x.mean("*").item()
    (array([4., 5.]), 3.0)
    """

    __slots__: tuple[str, ...] = ()

    def sum(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
        dtype: Any = None,
        overflow: str = "wrap",
    ) -> Data[Any]:
        """The sum over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing 0.
        out_shape
            The dims that are expected.
        dtype, overflow
            As those of `dims.reduce`.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.sum("T").values
        array([4., 5.])
        """
        return reduce(self, "sum", axis, empty=empty, out_shape=out_shape, dtype=dtype, overflow=overflow)

    def mean(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
        dtype: Any = None,
    ) -> Data[Any]:
        """The mean over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing NaN.
        out_shape
            The dims that are expected.
        dtype
            As those of `dims.reduce`.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.mean("T").values
        array([2., 5.])
        """
        return reduce(self, "mean", axis, empty=empty, out_shape=out_shape, dtype=dtype)

    def max(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The greatest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing -inf, of no integers an error.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.max("T").values
        array([3., 5.])
        """
        return reduce(self, "max", axis, empty=empty, out_shape=out_shape)

    def min(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The least number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing inf, of no integers an error.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.min("T").values
        array([1., 5.])
        """
        return reduce(self, "min", axis, empty=empty, out_shape=out_shape)

    def prod(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
        dtype: Any = None,
        overflow: str = "wrap",
    ) -> Data[Any]:
        """The product over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing 1.
        out_shape
            The dims that are expected.
        dtype, overflow
            As those of `dims.reduce`.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.prod("T").values
        array([3., 5.])
        """
        return reduce(self, "prod", axis, empty=empty, out_shape=out_shape, dtype=dtype, overflow=overflow)

    def any(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """Whether any is true over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing False.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.any("T").values
        array([ True,  True])
        """
        return reduce(self, "any", axis, empty=empty, out_shape=out_shape)

    def all(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """Whether all are true over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing True.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.all("T").values
        array([ True,  True])
        """
        return reduce(self, "all", axis, empty=empty, out_shape=out_shape)

    def argmax(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The place of the greatest number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing -1.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.argmax("T").values
        array([0, 0])
        """
        return reduce(self, "argmax", axis, empty=empty, out_shape=out_shape)

    def argmin(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The place of the least number over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing -1.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.argmin("T").values
        array([1, 0])
        """
        return reduce(self, "argmin", axis, empty=empty, out_shape=out_shape)

    def logsumexp(
        self: Any,
        axis: Axis | Sequence[Axis] = "*",
        *,
        empty: Any = DEFAULT,
        out_shape: OutShape | None = None,
    ) -> Data[Any]:
        """The logarithm of the sum of exponentials over some dims, as `dims.reduce`.

        Parameters
        ----------
        axis
            The dims that go; all of them if nothing is said.
        empty
            What comes of no positions; of nothing -inf.
        out_shape
            The dims that are expected.

        Returns
        -------
        Data
            Over the dims that stay.

        Examples
        --------
        >>> x = vl.Data(np.array([3.0, 1.0, 5.0]), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.logsumexp("T").values.round(2)
        array([3.13, 5.  ])
        """
        return reduce(self, "logsumexp", axis, empty=empty, out_shape=out_shape)
