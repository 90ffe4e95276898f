"""Verbs as methods of a Ragged."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen._core import RaggedBase
from varlen.backends.values import ArrayT
from varlen.ops.attention import attention_pool
from varlen.ops.bins import bincount
from varlen.ops.broadcast import broadcast_rows
from varlen.ops.differences import diff
from varlen.ops.fill import fill_empty_rows
from varlen.ops.gather import boolean_mask, gather
from varlen.ops.reduce import count_rows, end_row, extreme, extreme_place, reduce_rows
from varlen.ops.scan import scan_rows, scanned_extreme
from varlen.ops.search import searchsorted
from varlen.ops.shift import reverse, roll, shift
from varlen.ops.softmax import exponentiate
from varlen.ops.sort import rank, sort_rows, topk, unique
from varlen.ops.tile import tile
from varlen.ops.window import sliding_window
from varlen.types.torch_keywords import by_torch_keywords

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self, Unpack

    from varlen.backends.values import Axes, RaggedT, RowsLike, SequencesLike
    from varlen.types.torch_keywords import TorchKeywords


class VerbMethods(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them.

    `level` names the level whose sequences an op takes as its units, with all that nests below; -1 is the
    innermost. Reductions give an array (n, ...), or a Ragged of the levels above if there are any. Instead of
    `level`, `axis` counts axes as in NumPy. `empty` is the result for a sequence without rows. Ops that move
    take whole sequences of the level below if `level` is not the innermost. Ops that order see all numbers of
    a sequence, and drop its inner borders; NaN comes last, and equal numbers keep their order. The functions
    of `varlen.ops` say more.
    """

    __slots__ = ()

    def sum(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None,
        overflow: str = "wrap", **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The sum of each sequence's rows, column by column; as `ops.reduce_sum`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; bools and signed integers give int64, unsigned ones uint64, which wrap.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.
        OverflowError
            With "raise": the dtype cannot hold a result. The error names its sequence and column.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum()
        array([8, 0, 6])
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum(dtype=np.float32)
        array([8., 0., 6.], dtype=float32)
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "sum", torch, axis=axis, level=level, empty=empty, dtype=dtype, overflow=overflow
            )
        else:
            result = reduce_rows("sum", self, None, axis, level, empty, None, 0, dtype, overflow)
        return result

    def mean(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None,
        **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The mean of each sequence's rows, column by column; as `ops.reduce_mean`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        dtype
            The dtype of accumulator and result. For an integer dtype values are converted to it first, and
            the mean is truncated.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; integers and bools give float64.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 5.0], [2, 1]).mean()
        array([2., 5.])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "mean", torch, axis=axis, level=level, empty=empty, dtype=dtype
            )
        else:
            result = reduce_rows("mean", self, None, axis, level, empty, None, 0, dtype)
        return result

    def prod(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 1, dtype: Any = None,
        overflow: str = "wrap", **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The product of each sequence's rows, column by column; as `ops.reduce_prod`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; bools and signed integers give int64, unsigned ones uint64, which wrap.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.
        OverflowError
            With "raise": the dtype cannot hold a result. The error names its sequence and column.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).prod()
        array([3, 4])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "prod", torch, axis=axis, level=level, empty=empty, dtype=dtype, overflow=overflow
            )
        else:
            result = reduce_rows("prod", self, None, axis, level, empty, None, 0, dtype, overflow)
        return result

    def max(
        self, axis: Axes = None, *, level: int = -1, empty: Any = None, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The largest number of each sequence, column by column; as `ops.reduce_max`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; NaN if the sequence holds one.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).max()
        array([3, 4])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(self, "max", torch, axis=axis, level=level, empty=empty)
        else:
            result = extreme("max", self, None, axis, level, empty, False, None)
        return result

    def min(
        self, axis: Axes = None, *, level: int = -1, empty: Any = None, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The smallest number of each sequence, column by column; as `ops.reduce_min`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; NaN if the sequence holds one.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).min()
        array([1, 4])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(self, "min", torch, axis=axis, level=level, empty=empty)
        else:
            result = extreme("min", self, None, axis, level, empty, False, None)
        return result

    def argmax(
        self, axis: Axes = None, *, level: int = -1, empty: Any = None, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The position of each sequence's largest number, column by column; as `ops.argmax`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which places are counted, numbered as in NumPy: that of the
            innermost sequences, or one of their rows.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            An integer: the result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            int64, counted inside the sequence; the first of equal numbers. NaN counts as the largest.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmax()
        array([1, 0])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "argmax", torch, axis=axis, level=level, empty=empty
            )
        else:
            result = extreme_place("max", self, None, axis, level, empty)
        return result

    def argmin(
        self, axis: Axes = None, *, level: int = -1, empty: Any = None, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The position of each sequence's smallest number, column by column; as `ops.argmin`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which places are counted, numbered as in NumPy: that of the
            innermost sequences, or one of their rows.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            An integer: the result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            int64, counted inside the sequence; the first of equal numbers. NaN counts as the smallest.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmin()
        array([0, 0])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "argmin", torch, axis=axis, level=level, empty=empty
            )
        else:
            result = extreme_place("min", self, None, axis, level, empty)
        return result

    def first(self, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The first row of each sequence; as `ops.reduce_first`.

        Parameters
        ----------
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows, a number or a row; None raises an error.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values.

        Raises
        ------
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)
        array([ 3, -1,  4])
        """
        return end_row(self, None, level, False, empty)

    def last(self, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The last row of each sequence; as `ops.reduce_last`.

        Parameters
        ----------
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows, a number or a row; None raises an error.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values.

        Raises
        ------
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).last()
        array([9, 4])
        """
        return end_row(self, None, level, True, empty)

    def any(
        self, axis: Axes = None, *, level: int = -1, empty: Any = False, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """Whether any row of each sequence is true, column by column; as `ops.reduce_any`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Bools.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([0, 1, 0], [2, 1]).any()
        array([ True, False])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(self, "any", torch, axis=axis, level=level, empty=empty)
        else:
            result = reduce_rows("any", self, None, axis, level, empty, None)
        return result

    def all(
        self, axis: Axes = None, *, level: int = -1, empty: Any = True, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """Whether all rows of each sequence are true, column by column; as `ops.reduce_all`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Bools.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([0, 1, 2], [2, 1]).all()
        array([False,  True])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(self, "all", torch, axis=axis, level=level, empty=empty)
        else:
            result = reduce_rows("all", self, None, axis, level, empty, None)
        return result

    def norm(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 0, **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The Euclidean norm of each sequence's rows, column by column; as `ops.reduce_norm`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; integers and bools give float64.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3.0, 4.0, 2.0], [2, 1]).norm()
        array([5., 2.])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "norm", torch, axis=axis, level=level, empty=empty
            )
        else:
            result = reduce_rows("norm", self, None, axis, level, empty, None)
        return result

    def var(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan"),
        **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The variance of each sequence's rows, column by column; as `ops.reduce_var`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        ddof
            Delta degrees of freedom, as in NumPy: the divisor is the number of rows minus `ddof`.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; integers and bools give float64. NaN for sequences of at most `ddof`
            rows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).var()
        array([1., 0.])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "var", torch, axis=axis, level=level, ddof=ddof, empty=empty
            )
        else:
            result = reduce_rows("var", self, None, axis, level, empty, None, ddof)
        return result

    def std(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan"),
        **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The standard deviation of each sequence's rows, column by column; as `ops.reduce_std`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        ddof
            Delta degrees of freedom, as in NumPy: the divisor is the number of rows minus `ddof`.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; integers and bools give float64. NaN for sequences of at most `ddof`
            rows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).std()
        array([1., 0.])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "std", torch, axis=axis, level=level, ddof=ddof, empty=empty
            )
        else:
            result = reduce_rows("std", self, None, axis, level, empty, None, ddof)
        return result

    def logsumexp(
        self, axis: Axes = None, *, level: int = -1, empty: Any = float("-inf"),
        **torch: Unpack[TorchKeywords],
    ) -> ArrayT | Any:
        """The logarithm of the sum of exponentials of each sequence; as `ops.reduce_logsumexp`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats keep their dtype; integers and bools give float64.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
        array([7., 5.])
        """
        if torch:
            result: ArrayT | Any = by_torch_keywords(
                self, "logsumexp", torch, axis=axis, level=level, empty=empty
            )
        else:
            result = reduce_rows("logsumexp", self, None, axis, level, empty, None)
        return result

    def ptp(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The largest number of each sequence minus its smallest, column by column; as `ops.reduce_ptp`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; NaN if the sequence holds one.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).ptp()
        array([2, 0])
        """
        return reduce_rows("ptp", self, None, axis, level, empty, None)

    def mode(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The most frequent number of each sequence, column by column; as `ops.reduce_mode`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis or axes to reduce, counted as in NumPy. Axis 0 reduces across the
            sequences, position by position; the result is as long as the longest sequence.
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.
        empty
            The result for a sequence without rows; None raises an error.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; the smallest number in a tie.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; a sequence has no rows and `empty` is None; the
            dtype cannot hold `empty`; there is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 3, 5, 4], [3, 2]).mode()
        array([3, 4])
        """
        return reduce_rows("mode", self, None, axis, level, empty, None)

    def count(self, *, level: int = -1) -> ArrayT | Any:
        """The number of rows of each sequence; as `ops.count`.

        Parameters
        ----------
        level
            The level whose sequences become one row each; levels below it are merged, levels above it are
            kept. -1 is the innermost.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            int64. Counts the rows below the level, not the items of levels in between.

        Raises
        ------
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).count()
        array([2, 1])
        """
        return count_rows(self, None, level)

    def cumsum(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
        dtype: Any = None, overflow: str = "wrap", **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The running sum of each sequence, column by column; as `ops.cumsum`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
            position by position.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        exclusive
            Leave out the row itself: the first row is 0, the next one the first row of X, and so on.
        reverse
            Run from the last row of each sequence to the first.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one. Floats keep their dtype; bools and signed integers give int64, unsigned ones
            uint64, which wrap.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
        IndexError
            There is no such level.
        OverflowError
            With `overflow="raise"`: the dtype cannot hold a number. The error names it and its position.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).cumsum().to_list()
        [[3, 4], [4]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "cumsum", torch, axis=axis, level=level, exclusive=exclusive, reverse=reverse,
                dtype=dtype, overflow=overflow
            )
        else:
            result = scan_rows("sum", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cumprod(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
        dtype: Any = None, overflow: str = "wrap", **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The running product of each sequence, column by column; as `ops.cumprod`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
            position by position.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        exclusive
            Leave out the row itself: the first row is 1.
        reverse
            Run from the last row of each sequence to the first.
        dtype
            The dtype of accumulator and result, as in NumPy: values are converted to it first.
        overflow
            Integers beyond the dtype of the result: "wrap" wraps them around, as NumPy does; "raise" raises
            an error. The check is exact; it takes a second pass only if the values could overflow.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one. Floats keep their dtype; bools and signed integers give int64, unsigned ones
            uint64, which wrap.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
        IndexError
            There is no such level.
        OverflowError
            With `overflow="raise"`: the dtype cannot hold a number. The error names it and its position.

        Examples
        --------
        >>> vl.Ragged([3, 2, 4], [2, 1]).cumprod().to_list()
        [[3, 6], [4]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "cumprod", torch, axis=axis, level=level, exclusive=exclusive, reverse=reverse,
                dtype=dtype, overflow=overflow
            )
        else:
            result = scan_rows("prod", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cummax(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The largest number so far of each sequence, column by column; as `ops.cummax`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
            position by position.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        exclusive
            Leave out the row itself: the first row is the lowest number of the dtype, -inf for floats.
        reverse
            Run from the last row of each sequence to the first.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one, of the dtype of the values. NaN from the first NaN on.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummax().to_list()
        [[3, 3, 4], [2]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "cummax", torch, axis=axis, level=level, exclusive=exclusive, reverse=reverse
            )
        else:
            result = scanned_extreme("max", self, None, axis, level, exclusive, reverse, False, None)
        return result

    def cummin(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The smallest number so far of each sequence, column by column; as `ops.cummin`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis to run along, counted as in NumPy. Axis 0 runs across the sequences,
            position by position.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        exclusive
            Leave out the row itself: the first row is the highest number of the dtype, inf for floats.
        reverse
            Run from the last row of each sequence to the first.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one, of the dtype of the values. NaN from the first NaN on.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; no such axis, or an axis and a level.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummin().to_list()
        [[3, 1, 1], [2]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "cummin", torch, axis=axis, level=level, exclusive=exclusive, reverse=reverse
            )
        else:
            result = scanned_extreme("min", self, None, axis, level, exclusive, reverse, False, None)
        return result

    def softmax(
        self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The softmax of each sequence's rows, column by column; as `ops.softmax`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which shares add up to one, counted as in NumPy. Axis 0 runs
            across the sequences, position by position; -1 is the last axis of the rows.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        temperature
            The divisor of X, 1e-30 to 1e30: above 1 evens the shares out, below 1 sharpens them.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one. Floats keep their dtype; integers and bools give float64.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; the temperature is not above zero; there is no
            such axis, or both an axis and a level are given; with `inplace`, X is read-only, not contiguous
            or not floats.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([0.0, 0.0, 7.0], [2, 1]).softmax().values
        array([0.5, 0.5, 1. ])
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "softmax", torch, axis=axis, level=level, temperature=temperature
            )
        else:
            result = exponentiate(self, None, False, axis, level, temperature, None, False)
        return result

    def log_softmax(
        self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The logarithm of `softmax`, precise for tiny shares; as `ops.log_softmax`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which shares add up to one, counted as in NumPy. Axis 0 runs
            across the sequences, position by position; -1 is the last axis of the rows.
        level
            The level whose sequences each start anew; -1 is the innermost. All levels are kept.
        temperature
            The divisor of X, 1e-30 to 1e30: above 1 evens the shares out, below 1 sharpens them.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Nests as this one. Floats keep their dtype; integers and bools give float64.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            Lengths are negative or do not add up to the rows; the temperature is not above zero; there is no
            such axis, or both an axis and a level are given; with `inplace`, X is read-only, not contiguous
            or not floats.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([0.0, 1000.0, 7.0], [2, 1]).log_softmax().values
        array([-1000.,     0.,     0.])
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "log_softmax", torch, axis=axis, level=level, temperature=temperature
            )
        else:
            result = exponentiate(self, None, True, axis, level, temperature, None, False)
        return result

    def attention_pool(
        self, scores: SequencesLike, *, level: int = -1, temperature: float = 1.0,
    ) -> ArrayT | Any:
        """The sum of each sequence's rows, weighted by the softmax of scores; as `ops.attention_pool`.

        Parameters
        ----------
        scores
            (total,), or (total, heads), or a Ragged of these that nests as this one.
        level
            The level whose sequences become one row each; -1 is the innermost.
        temperature
            The divisor of the scores.

        Returns
        -------
        (n, ...) or (n, heads, ...) array or tensor, or Ragged of the levels above
            The weighted sums; zeros for a sequence without rows.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.attention_pool`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).attention_pool(np.zeros(3))
        array([2., 5.])
        """
        return attention_pool(self, scores=scores, level=level, temperature=temperature)

    def diff(self, n: int = 1, *, level: int = -1, **torch: Unpack[TorchKeywords]) -> Self:
        """Subtract from each row the previous row of its sequence, n times; as `np.diff`.

        Parameters
        ----------
        n
            The number of times; a sequence loses n rows, or all.
        level
            The level whose sequences are differenced; -1 is the innermost.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            The differences, of the same dtype: bools are compared, unsigned integers wrap. Autograd follows.

        Raises
        ------
        ValueError
            n is below 0.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).diff().to_list()
        [[-2, 3], [], [4]]
        """
        if torch:
            result: Self = by_torch_keywords(self, "diff", torch, n=n, level=level)
        else:
            result = diff(self, n=n, level=level)
        return result

    def bincount(
        self, minlength: int = 0, weights: SequencesLike | None = None, *, level: int = -1,
    ) -> ArrayT | Any:
        """Count how often each number occurs in each sequence, or add up weights.

        Parameters
        ----------
        minlength, weights, level
            As in `ops.bincount`.

        Returns
        -------
        (n, k) array or tensor, or Ragged of the levels above
            int64, or with weights float64; of tensors, the dtype of the weights, through which gradients
            flow.

        Raises
        ------
        TypeError, ValueError
            As in `ops.bincount`.

        Notes
        -----
        As TensorFlow's `tf.math.bincount(axis=-1)`.

        Examples
        --------
        >>> vl.Ragged([1, 1, 2, 0], [3, 1]).bincount(minlength=4)
        array([[0, 2, 1, 0],
               [1, 0, 0, 0]])
        """
        return bincount(self, minlength=minlength, weights=weights, level=level)

    @overload
    def searchsorted(self, v: RaggedT, side: str = "left", *, level: int = -1) -> RaggedT: ...
    @overload
    def searchsorted(self, v: ArrayLike | ArrayT, side: str = "left", *, level: int = -1) -> ArrayT: ...
    def searchsorted(self, v: Any, side: str = "left", *, level: int = -1) -> ArrayT | Any:
        """Find where numbers go in each ascending sequence; as `np.searchsorted`.

        Parameters
        ----------
        v, side, level
            As in `ops.searchsorted`.

        Returns
        -------
        array, tensor or Ragged
            Positions inside the sequences, int64, from 0 to the length, in the form of `v`.

        Raises
        ------
        ValueError
            The side is unknown, `v` has another number of sequences, or rows hold several numbers.

        Notes
        -----
        As `np.searchsorted`. Sequences must ascend, with NaN last; this is not checked.

        Examples
        --------
        >>> r = vl.Ragged([1, 3, 5, 2], [3, 1])
        >>> r.searchsorted(vl.Ragged([4, 0, 2], [2, 1]), side="right").to_list(), r.searchsorted([3, 3])
        ([[2, 0], [1]], array([1, 1]))
        """
        return searchsorted(self, v=v, side=side, level=level)

    def sliding_window(self, width: int, *, level: int = -1) -> Self:
        """Join each row with the next `width` - 1 rows of its sequence, if there are enough.

        Nothing is padded: a sequence loses `width` - 1 rows, or all. `ops.windows` has shorter windows and
        steps, `sequence_enumerate` pads, `ops.ngrams` hashes.

        Parameters
        ----------
        width, level
            As in `ops.sliding_window`.

        Returns
        -------
        Ragged
            Windows: rows (width, ...) of the same dtype. Autograd follows.

        Raises
        ------
        ValueError
            The width is below 1, or the result exceeds half of the machine's memory.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sliding_window(2).to_list()
        [[[3, 1], [1, 4]], [], [[1, 5]]]
        """
        result: Self = sliding_window(self, width=width, level=level)
        return result

    def broadcast_rows(self, rows: SequencesLike, *, level: int = -1) -> Self:
        """Repeat one row per sequence for all values below it: a Ragged that nests like this one.

        Operators do the same with a Ragged of fewer levels.

        Parameters
        ----------
        rows, level
            As in `ops.broadcast_rows`.

        Returns
        -------
        Ragged
            A Ragged that nests as this one, with values of the kind and dtype of the rows.

        Raises
        ------
        ValueError, IndexError
            As in `ops.broadcast_rows`.

        Examples
        --------
        >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
        >>> r.broadcast_rows([7, 8], level=0).to_list(), r.broadcast_rows([7, 8, 9]).to_list()
        ([[[7, 7], [7]], [[8]]], [[[7, 7], [8]], [[9]]])
        """
        result: Self = broadcast_rows(self, rows=rows, level=level)
        return result

    def tile(self, multiples: SequencesLike) -> Self:
        """Repeat the contents of each axis end to end.

        Parameters
        ----------
        multiples
            The number of repeats for each axis, 0 or more.

        Returns
        -------
        Ragged
            The repeated contents, with as many levels and the same dtype.

        Raises
        ------
        ValueError
            The numbers do not match the axes, or one is below 0.

        Notes
        -----
        As TensorFlow's `tf.tile`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([1, 2]).to_list()
        [[3, 1, 3, 1], [4, 4]]
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([2, 1]).to_list()
        [[3, 1], [4], [3, 1], [4]]
        """
        result: Self = tile(self, multiples=multiples)
        return result

    def gather(self, indices: SequencesLike, axis: int | None = None, *, batch_dims: int = 0) -> Self | Any:
        """Take items along an axis by index, from the whole container or inside each sequence.

        Parameters
        ----------
        indices, axis, batch_dims
            As in `ops.gather`.

        Returns
        -------
        Ragged or array
            The items taken: the axes before `axis`, those of `indices` after `batch_dims`, then those after
            `axis`; an array if none of them is ragged.

        Raises
        ------
        TypeError, IndexError, ValueError
            As in `ops.gather`.

        Notes
        -----
        As TensorFlow's `tf.gather` and `tf.gather(batch_dims=)`.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.gather([2, 0]).to_list(), r.gather([[2], [1]]).to_list()
        ([[1, 5], [3, 1, 4]], [[[1, 5]], [[]]])
        >>> r.gather(vl.Ragged([2, 0, 1], [2, 0, 1]), batch_dims=1).to_list()
        [[4, 3], [], [5]]
        """
        return gather(self, indices=indices, axis=axis, batch_dims=batch_dims)

    @overload
    def boolean_mask(self, mask: SequencesLike, *, flatten: Literal[False] = False) -> Self: ...
    @overload
    def boolean_mask(self, mask: SequencesLike, *, flatten: bool) -> ArrayT | Any: ...
    def boolean_mask(self, mask: SequencesLike, *, flatten: bool = False) -> Self | ArrayT | Any:
        """Keep what a mask marks: sequences, their contents or numbers, depending on the depth of the mask.

        Parameters
        ----------
        mask, flatten
            As in `ops.boolean_mask`.

        Returns
        -------
        Ragged or array
            What the mask keeps, with as many levels; with `flatten` an array, or a Ragged of the levels below
            the mask.

        Raises
        ------
        TypeError, ValueError
            As in `ops.boolean_mask`.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.boolean_mask(r > 1).to_list(), r.boolean_mask([True, True, False]).to_list()
        ([[3, 4], [], [5]], [[3, 1, 4], []])
        >>> r.boolean_mask(r > 1, flatten=True)
        array([3, 4, 5])
        """
        return boolean_mask(self, mask=mask, flatten=flatten)

    def fill_empty_rows(self, default: RowsLike) -> tuple[Self, ArrayT | Any]:
        """Put one row into each empty innermost sequence, and return which were empty.

        Parameters
        ----------
        default
            The row: a number, or an array that broadcasts to a row.

        Returns
        -------
        (Ragged, indicator)
            Bools, True for sequences that were empty: (n,), or a Ragged of the levels above.

        Raises
        ------
        ValueError
            The dtype cannot hold `default`, or its shape does not fit.

        Notes
        -----
        As TensorFlow's `tf.ragged.fill_empty_rows`.

        Examples
        --------
        >>> filled, was_empty = vl.Ragged([3, 1, 4], [2, 0, 1]).fill_empty_rows(-1)
        >>> filled.to_list(), was_empty
        ([[3, 1], [-1], [4]], array([False,  True, False]))
        """
        return fill_empty_rows(self, default=default)

    def sort(
        self, axis: int | None = None, *, level: int = -1, descending: bool = False,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """Sort the rows of each sequence, ascending or descending; as `ops.sort`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which numbers are sorted, counted as in NumPy.
        level
            The level inside whose sequences numbers are sorted; levels below it are merged. -1 is the
            innermost.
        descending
            If True, the largest number comes first; NaN stays last.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            The sorted rows, of the same dtype. NaN comes last; equal numbers keep their order. Autograd
            follows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            There is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sort(descending=True).to_list()
        [[4, 3, 1], [], [5, 1]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "sort", torch, axis=axis, level=level, descending=descending
            )
        else:
            result = sort_rows(self, None, axis, level, descending, False)
        return result

    def argsort(
        self, axis: int | None = None, *, level: int = -1, descending: bool = False,
        **torch: Unpack[TorchKeywords],
    ) -> Self:
        """The positions that sort each sequence; as `ops.argsort`.

        Parameters
        ----------
        axis, level, descending
            As in `ops.argsort`.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            Positions along the sorted axis, int64: inside the sequence, or for `axis=0` the numbers of the
            sequences.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.argsort`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).argsort().to_list()
        [[1, 0, 2], [], [0, 1]]
        """
        if torch:
            result: Self = by_torch_keywords(
                self, "argsort", torch, axis=axis, level=level, descending=descending
            )
        else:
            result = sort_rows(self, None, axis, level, descending, True)
        return result

    @overload
    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: Literal[False] = False,
        fill: RowsLike = 0, **torch: Unpack[TorchKeywords],
    ) -> tuple[Self, Self]: ...
    @overload
    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: bool, fill: RowsLike = 0,
        **torch: Unpack[TorchKeywords],
    ) -> tuple[ArrayT | Any, ArrayT | Any]: ...
    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: bool = False, fill: RowsLike = 0,
        **torch: Unpack[TorchKeywords],
    ) -> tuple[Self | ArrayT | Any, Self | ArrayT | Any]:
        """The k largest numbers of each sequence in order, and their positions; as `ops.topk`.

        Parameters
        ----------
        k
            The number to keep, at least 1; a shorter sequence keeps all.
        level
            The level whose sequences are searched; levels below it are merged. -1 is the innermost.
        largest
            True for the largest numbers, largest first; False for the smallest, smallest first.
        dense
            If True, return rectangles, filled up where a sequence is shorter.
        fill
            The fill of the values; positions are filled with -1.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        values, places : Ragged
            The numbers and their positions (int64), min(length, k) rows in each sequence. With `dense` arrays
            (n, k, ...); for several levels, Ragged of the levels above, with such rows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            k is below 1, or the dtype cannot hold `fill`.
        IndexError
            There is no such level.

        Examples
        --------
        >>> best, which = vl.Ragged([3, 1, 4, 5], [3, 1]).topk(2)
        >>> best.to_list(), which.to_list()
        ([[4, 3], [5]], [[2, 0], [0]])
        """
        if torch:
            result: tuple[Self | ArrayT | Any, Self | ArrayT | Any] = by_torch_keywords(
                self, "topk", torch, k=k, level=level, largest=largest, dense=dense, fill=fill
            )
        else:
            result = topk(self, k=k, level=level, largest=largest, dense=dense, fill=fill)
        return result

    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[False] = False, counts: Literal[False] = False,
    ) -> Self: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[True], counts: Literal[False] = False,
    ) -> tuple[Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[False] = False, counts: Literal[True],
    ) -> tuple[Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[True], counts: Literal[True],
    ) -> tuple[Self, Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: bool = False, counts: bool = False,
    ) -> Self | tuple[Self, ...]: ...
    def unique(self, *, level: int = -1, inverse: bool = False, counts: bool = False) -> Self | Any:
        """The distinct numbers of each sequence, in ascending order; as `ops.unique`.

        Parameters
        ----------
        level, inverse, counts
            As in `ops.unique`.

        Returns
        -------
        Ragged or tuple of Ragged
            The distinct numbers of each sequence; then, if asked for, the inverse (int64, nests as this one)
            and the counts (int64, nest as the numbers). All NaN count as one, which comes last.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.unique`.

        Examples
        --------
        >>> values, often = vl.Ragged([3, 1, 3, 5], [3, 1]).unique(counts=True)
        >>> values.to_list(), often.to_list()
        ([[1, 3], [5]], [[1, 2], [1]])
        """
        return unique(self, level=level, inverse=inverse, counts=counts)

    def rank(self, *, level: int = -1, method: str = "ordinal", descending: bool = False) -> Self:
        """The rank of each number inside its sequence, counted from 1; as `ops.rank`.

        Parameters
        ----------
        level, method, descending
            As in `ops.rank`.

        Returns
        -------
        Ragged
            The ranks, which nest as this one: int64, or float64 for "average". All NaN are equal, and rank
            last.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.rank`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 3, 5], [3, 1]).rank(method="average").to_list()
        [[2.5, 1.0, 2.5], [1.0]]
        """
        result: Self = rank(self, level=level, method=method, descending=descending)
        return result

    def reverse(self, *, level: int = -1) -> Self:
        """Reverse the contents of each sequence; as `ops.reverse`.

        Parameters
        ----------
        level
            As in `ops.reverse`.

        Returns
        -------
        Ragged
            The reversed contents, with the same lengths at the level and the same dtype.

        Raises
        ------
        IndexError
            As in `ops.reverse`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).reverse().to_list()
        [[1, 3], [4]]
        """
        result: Self = reverse(self, level=level)
        return result

    def shift(self, by: SequencesLike, *, level: int = -1, fill: RowsLike = 0) -> Self:
        """Shift the contents of each sequence by `by` places; as `ops.shift`. Rows that leave it are lost.

        Parameters
        ----------
        by, level, fill
            As in `ops.shift`.

        Returns
        -------
        Ragged
            The shifted contents, with the same lengths at the level and the same dtype.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.shift`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).shift(-1, fill=9).to_list()
        [[1, 9], [9]]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).shift(1, level=0).to_list()
        [[[], [1, 2]], [[]]]
        """
        result: Self = shift(self, by=by, level=level, fill=fill)
        return result

    def roll(self, by: SequencesLike, *, level: int = -1, **torch: Unpack[TorchKeywords]) -> Self:
        """Shift the contents of each sequence cyclically by `by` places; as `ops.roll`.

        Parameters
        ----------
        by, level
            As in `ops.roll`.
        **torch
            With tensors, `dim`, `keepdim` and what else torch's function of this name takes: the result is
            that function's.

        Returns
        -------
        Ragged
            The shifted contents, with the same lengths at the level and the same dtype.

        Raises
        ------
        TypeError, ValueError, IndexError
            As in `ops.roll`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1], [3, 1]).roll(1).to_list()
        [[4, 3, 1], [1]]
        """
        if torch:
            result: Self = by_torch_keywords(self, "roll", torch, by=by, level=level)
        else:
            result = roll(self, by=by, level=level)
        return result
