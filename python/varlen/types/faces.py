"""Verbs as methods of a Ragged."""

# Written by python/faces: change its declarations, and run `python python/faces`.
# fmt: off

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen._core import RaggedBase
from varlen.backends.values import ArrayT
from varlen.ops.reduce import count_rows, end_row, extreme, extreme_place, reduce_rows
from varlen.ops.scan import scan_rows, scanned_extreme
from varlen.ops.softmax import exponentiate

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Axes


class VerbMethods(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them."""

    __slots__ = ()

    def sum(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None,
        overflow: str = "wrap",
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
        return reduce_rows("sum", self, None, axis, level, empty, None, 0, dtype, overflow)

    def mean(self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None) -> ArrayT | Any:
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
        return reduce_rows("mean", self, None, axis, level, empty, None, 0, dtype)

    def prod(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 1, dtype: Any = None,
        overflow: str = "wrap",
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
        return reduce_rows("prod", self, None, axis, level, empty, None, 0, dtype, overflow)

    def max(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
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
        return extreme("max", self, None, axis, level, empty, False, None)

    def min(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
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
        return extreme("min", self, None, axis, level, empty, False, None)

    def argmax(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
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
        return extreme_place("max", self, None, axis, level, empty)

    def argmin(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
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
        return extreme_place("min", self, None, axis, level, empty)

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

    def any(self, axis: Axes = None, *, level: int = -1, empty: Any = False) -> ArrayT | Any:
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
        return reduce_rows("any", self, None, axis, level, empty, None)

    def all(self, axis: Axes = None, *, level: int = -1, empty: Any = True) -> ArrayT | Any:
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
        return reduce_rows("all", self, None, axis, level, empty, None)

    def norm(self, axis: Axes = None, *, level: int = -1, empty: Any = 0) -> ArrayT | Any:
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
        return reduce_rows("norm", self, None, axis, level, empty, None)

    def var(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan"),
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
        return reduce_rows("var", self, None, axis, level, empty, None, ddof)

    def std(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan"),
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
        return reduce_rows("std", self, None, axis, level, empty, None, ddof)

    def logsumexp(self, axis: Axes = None, *, level: int = -1, empty: Any = float("-inf")) -> ArrayT | Any:
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
        return reduce_rows("logsumexp", self, None, axis, level, empty, None)

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
        dtype: Any = None, overflow: str = "wrap",
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
        result: Self = scan_rows("sum", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cumprod(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
        dtype: Any = None, overflow: str = "wrap",
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
        result: Self = scan_rows("prod", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cummax(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
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
            Leave out the row itself: the first row is the lowest number of the dtype, -inf of floats.
        reverse
            Run from the last row of each sequence to the first.

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
        result: Self = scanned_extreme("max", self, None, axis, level, exclusive, reverse, False, None)
        return result

    def cummin(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False,
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
            Leave out the row itself: the first row is the highest number of the dtype, inf of floats.
        reverse
            Run from the last row of each sequence to the first.

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
        result: Self = scanned_extreme("min", self, None, axis, level, exclusive, reverse, False, None)
        return result

    def softmax(self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0) -> Self:
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
        result: Self = exponentiate(self, None, False, axis, level, temperature, None, False)
        return result

    def log_softmax(self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0) -> Self:
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
        result: Self = exponentiate(self, None, True, axis, level, temperature, None, False)
        return result
