"""Verbs and functions of dims as methods of a Data."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

from varlen.backends.values import ArrayT
from varlen.dims import export, make, named_arrays
from varlen.dims.axes import every_place, first
from varlen.dims.ops.combine import compatible_to
from varlen.dims.ops.reduce import DEFAULT, reduce

if TYPE_CHECKING:
    import numpy as np
    import xarray

    from varlen._core import Dim
    from varlen.dims.axes import Axis
    from varlen.dims.data import Data
    from varlen.dims.out_shape import OutShape
    from varlen.types import Ragged


class DeclaredMethods(Generic[ArrayT]):
    """Methods of `varlen.Data`, which inherits them."""

    __slots__: tuple[str, ...] = ()

    @classmethod
    def from_list(cls: Any, rows: Any, dims: Sequence[Dim], **facts: Any) -> Data[np.ndarray]:
        """Make Data from nested lists, or lists of arrays, with one level for each dim.

        Parameters
        ----------
        rows
            Lists of numbers, arrays or tensors.
        dims
            A Dim for each level, the outermost first. Those without lengths get the lengths of the lists,
            which depend on the earlier dims without a fixed size; those with lengths are checked.
        **facts
            `name`, `dtype`, `sparse_dim`, `feature_dim`, `time_dim`, `beam`, `available_for_inference`, as
            `Data` takes them.

        Returns
        -------
        Data
            The values of the lists. Dims of fixed size come after those whose lengths differ.

        Raises
        ------
        ValueError
            The lists are nested deeper or less deep.
        LengthMismatchError
            Lengths differ from those of a dim; the message names the row.

        Examples
        --------
        >>> time = vl.Dim("time")
        >>> x = vl.Data.from_list([[3, 1], [], [4]], [vl.dims.batch_dim, time])
        >>> x, x.axis(time).lengths
        (Data([batch(3), time(0 to 2)], int64), array([2, 0, 1]))
        """
        return make.from_list(rows, dims, **facts)

    @classmethod
    def from_padded(
        cls: Any, block: Any, dims: Sequence[Dim], *, side: str = "right", **facts: Any,
    ) -> Data[Any]:
        """Make Data from a rectangle with one axis per dim, in any order. Its padding is never read.

        Parameters
        ----------
        block
            An array or a tensor.
        dims
            A Dim for each axis, with lengths unless its size is fixed.
        side
            The side of the padding: "right" or "left".
        **facts
            As in `from_list`.

        Returns
        -------
        Data
            A copy of the valid values.

        Raises
        ------
        ValueError
            The block has another number of axes, or a dim has no lengths.
        LengthMismatchError
            An axis is shorter than its dim.

        Examples
        --------
        >>> time = vl.Dim("time", lengths=[2, 1])
        >>> vl.Data.from_padded(np.array([[3, 4], [1, 9]]), [time, vl.dims.batch_dim]).to_list()
        Traceback (most recent call last):
        ValueError: a dim must come after the dims that its lengths depend on: [time(1 to 2), batch(2)]
        >>> vl.Data.from_padded(np.array([[3, 4], [1, 9]]), [time, vl.dims.batch_dim]).batch_major().to_list()
        [[3, 1], [4]]
        """
        return make.from_padded(block, dims, side, **facts)

    @classmethod
    def from_packed(cls: Any, values: ArrayT, dims: Sequence[Dim], **facts: Any) -> Data[ArrayT]:
        """Make Data from valid values that lie end to end, as `Data` itself does; nothing is copied.

        Parameters
        ----------
        values, dims, **facts
            As in `Data`.

        Returns
        -------
        Data
            These values over dims.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> vl.Data.from_packed(np.array([3, 1, 4]), x.dims).to_list()
        [[3, 1], [4]]
        """
        result: Data[ArrayT] = cls(values, dims, **facts)
        return result

    @classmethod
    def from_ragged(cls: Any, ragged: Ragged[ArrayT], dims: Sequence[Dim], **facts: Any) -> Data[ArrayT]:
        """Make Data from a Ragged: a dim for its sequences, one for each level and each axis of a row.

        Parameters
        ----------
        ragged
            A `Ragged`, whose values and levels are shared.
        dims
            A Dim for each axis. Those without lengths get those of the levels.
        **facts
            As in `from_list`.

        Returns
        -------
        Data
            The same values.

        Raises
        ------
        ValueError
            The number of dims differs from the axes.
        LengthMismatchError
            Lengths differ from those of a dim; the message names the row.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4], [2, 1])
        >>> x = vl.Data.from_ragged(r, [vl.dims.batch_dim, vl.Dim("time")])
        >>> x, x.values is r.values
        (Data([batch(2), time(1 to 2)], int64), True)
        """
        return make.from_ragged(ragged, dims, **facts)

    @classmethod
    def from_xarray(cls: Any, array: Any, dims: Sequence[Dim] = (), **facts: Any) -> Data[np.ndarray]:
        """Make Data from an xarray DataArray. Its padding is never read.

        Parameters
        ----------
        array
            A `xarray.DataArray`.
        dims
            Dims for the axes of their names. Other axes get new dims, whose lengths come from a coordinate
            "NAME_lengths", else from the size; string labels become their vocabulary.
        **facts
            As in `from_list`.

        Returns
        -------
        Data
            A copy of the valid values.

        Raises
        ------
        ValueError
            A dim names no axis.
        LengthMismatchError
            An axis is shorter than its dim.

        Examples
        --------
        >>> try:
        ...     array = vl.Data(np.zeros(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])]).to_xarray()
        ... except ImportError:
        ...     pass
        ... else:
        ...     assert vl.Data.from_xarray(array).lengths("time").tolist() == [2, 1]
        """
        return named_arrays.from_xarray(array, dims, **facts)

    def to_xarray(self: Any, fill: Any = None) -> xarray.DataArray:
        """Convert to an xarray DataArray: a rectangle, with a coordinate "NAME_lengths" per ragged dim.

        Parameters
        ----------
        fill
            The value of the padding. By default NaN for floats, the class "[PAD]" of a vocabulary, else 0.

        Returns
        -------
        xarray.DataArray
            A DataArray, whose axes have the names of the dims.

        Raises
        ------
        ImportError
            xarray is not installed.
        ValueError
            Two dims have the same name.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> try:
        ...     array = x.to_xarray()
        ... except ImportError:
        ...     pass
        ... else:
        ...     assert array.dims == ("batch", "time")
        """
        result: xarray.DataArray = named_arrays.to_xarray(self, fill)
        return result

    def to_list(self: Any) -> list[Any]:
        """Convert to nested lists, one level for each dim.

        Returns
        -------
        list
            The lists; for a Data without dims, the number.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.to_list()
        [[0, 1], [2]]
        """
        result: list[Any] = export.to_list(self)
        return result

    def to_padded(
        self: Any, order: Sequence[Axis] | None = None, *, fill: Any = None, side: str = "right",
        out: Any = None,
    ) -> ArrayT:
        """Convert to a rectangle with one axis for each dim.

        Parameters
        ----------
        order
            All dims, in the order of the axes. By default the order of `dims`.
        fill
            The fill value. By default the class "[PAD]" of a vocabulary, else 0.
        side
            The side of the padding: "right" or "left".
        out
            A C-contiguous array of the result's shape and dtype, which is filled and returned.

        Returns
        -------
        numpy.ndarray or torch.Tensor
            The rectangle. A dim whose lengths differ becomes as long as the longest.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.to_padded()
        array([[0, 1],
               [2, 0]])
        >>> x.to_padded(["T", "B"], fill=-1).tolist()
        [[0, 2], [1, -1]]
        """
        result: ArrayT = export.to_padded(self, order, fill, side, out)
        return result

    def to_ragged(self: Any) -> Ragged[ArrayT]:
        """Convert to a Ragged, whose levels are the dims after the first; nothing is copied.

        Returns
        -------
        Ragged
            A Ragged with a level for each dim after the first, up to the last whose lengths differ.

        Raises
        ------
        ValueError
            No dim after the first has different lengths, or a dim comes before one that its lengths depend
            on.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.to_ragged().to_list()
        [[0, 1], [2]]
        """
        return export.to_ragged(self)

    def mask(self: Any, axis: Axis | Sequence[Axis] = "dynamic") -> Data[Any]:
        """Make a mask that is True where the rectangle of the dims has values.

        Parameters
        ----------
        axis
            Dims or words for them.

        Returns
        -------
        Data
            The mask, in padded storage.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.mask("T").values
        array([[ True,  True],
               [ True, False]])
        """
        return export.mask(self, axis)

    def padded(self: Any, fill: Any = None, side: str = "right") -> Data[ArrayT]:
        """Convert to padded storage: a rectangle whose padding no operation reads.

        Parameters
        ----------
        fill
            The fill value. By default the class "[PAD]" of a vocabulary, else 0.
        side
            The side of the padding: "right" or "left".

        Returns
        -------
        Data
            The same data in padded storage. Operations on it return packed storage.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> y = x.padded()
        >>> y.values.tolist(), (y + 1).values
        ([[0, 1], [2, 0]], array([1, 2, 3]))
        """
        return export.padded(self, fill, side)

    def transpose(self: Any, order: Sequence[Axis]) -> Data[ArrayT]:
        """Reorder the dims, for lists and rectangles. No values move.

        Parameters
        ----------
        order
            All of its dims, or words for them.

        Returns
        -------
        Data
            The same values.

        Raises
        ------
        ValueError
            A dim is missing, or appears twice.

        Examples
        --------
        >>> x = vl.Data(np.zeros((2, 3)), [vl.Dim("two", 2), vl.Dim("three", 3)])
        >>> x.transpose(["dim:3", "dim:2"])
        Data([three(3), two(2)], float64)
        """
        result: Data[ArrayT] = self._reorder_dims(every_place(self, order))
        return result

    def batch_major(self: Any) -> Data[ArrayT]:
        """Move the batch dim to the front.

        Returns
        -------
        Data
            The same values.

        Examples
        --------
        >>> x = vl.Data(np.zeros((2, 3)), [vl.Dim("two", 2), vl.dims.batch_dim])
        >>> x.batch_major()
        Data([batch(3), two(2)], float64)
        """
        result: Data[ArrayT] = self._reorder_dims(first(self, "B"))
        return result

    def time_major(self: Any) -> Data[ArrayT]:
        """Move the time dim to the front, then the batch.

        Returns
        -------
        Data
            The same values.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.time_major()
        Data([time(1 to 2), batch(2)], int64)
        """
        result: Data[ArrayT] = self._reorder_dims(first(self, "T", "B"))
        return result

    def compatible_to(self: Any, dims: Sequence[Dim], *, expand: bool = False) -> Data[ArrayT]:
        """Bring the dims into the given order; `expand` repeats values over missing dims.

        Parameters
        ----------
        dims
            All dims of this Data, and any others.
        expand
            If True, dims that it lacks are added; otherwise they are left out.

        Returns
        -------
        Data
            The values, with the dims in this order.

        Raises
        ------
        ValueError
            `dims` lacks a dim of this Data.

        Examples
        --------
        >>> two, three = vl.Dim("two", 2), vl.Dim("three", 3)
        >>> x = vl.Data(np.array([1, 2, 3]), [three])
        >>> x.compatible_to([two, three]), x.compatible_to([two, three], expand=True)
        (Data([three(3)], int64), Data([two(2), three(3)], int64))
        """
        return compatible_to(self, dims, expand)

    def replace_dim(self: Any, old: Axis, new: Dim) -> Data[ArrayT]:
        """Replace one dim by another.

        Parameters
        ----------
        old
            A dim of this Data, or words for it.
        new
            A dim of the same lengths, or one without lengths, which gets them.

        Returns
        -------
        Data
            The same values.

        Raises
        ------
        LengthMismatchError
            The lengths differ.

        Examples
        --------
        >>> x = vl.Data(np.arange(3), [vl.dims.batch_dim, vl.Dim("time", lengths=[2, 1])])
        >>> x.replace_dim("T", vl.Dim("frames"))
        Data([batch(2), frames(1 to 2)], int64)
        """
        return make.replace_dim(self, old, new)

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
            The result for no positions. By default 0; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default NaN; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.
        dtype
            The dtype of accumulator and result. For an integer dtype values are converted to it first, and
            the mean is truncated.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default 1; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default -inf, for integers an error; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default inf, for integers an error; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default -1; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default -1; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default False; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default True; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default 0; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default NaN; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default NaN; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. By default -inf; None raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. None, the default, raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
            The result for no positions. None, the default, raises an error.
        out_shape
            The dims that the result must have; None skips the check.

        Returns
        -------
        Data
            The results, over the remaining dims.

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
