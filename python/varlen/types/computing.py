"""Numbers of each sequence summed up, run through, normalised and counted, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen._core import RaggedBase
from varlen.backends.values import ArrayT
from varlen.ops import reduce_ends
from varlen.ops.attention import attention_pool
from varlen.ops.bins import bincount
from varlen.ops.differences import diff
from varlen.ops.reduce import count, reduced
from varlen.ops.scan import scanned
from varlen.ops.search import searchsorted
from varlen.ops.softmax import log_softmax, softmax
from varlen.ops.window import sliding_window

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from varlen.backends.values import Axes, RaggedT


class Computing(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them.

    All take `level`: the level whose sequences become one row each, together with all that nests below it;
    -1 is the innermost. Of a Ragged of one level they give an array (n, ...), of a deeper one a Ragged of the
    levels above. Those that compute take `axis` in its stead, one or several, as a Ragged of TensorFlow does:
    0 is across the sequences, place by place, and what is left is as long as the longest of what comes
    together. `empty` is what a sequence without rows gives; None refuses it with a ValueError that names
    it. The functions of `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.sum().to_list(), r.sum(level=0)
    ([[3, 3], [4]], array([6, 4]))
    >>> r.sum(axis=0).to_list(), r.sum(axis=1).to_list(), r.sum(axis=(0, 1))
    ([[5, 2], [3]], [[4, 2], [4]], array([8, 2]))
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.cumsum().to_list(), r.cumsum(level=0).to_list()
    ([[[1, 3], [3]], [[4]]], [[[1, 3], [6]], [[4]]])
    >>> r.cumsum(axis=0).to_list()
    [[[1, 2], [3]], [[5]]]
    >>> r = vl.Ragged.from_list([[[0.0, 0.0], [5.0]], [[1.0]]])
    >>> r.softmax().to_list()
    [[[0.5, 0.5], [1.0]], [[1.0]]]
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.diff().to_list(), r.diff(level=0).to_list()
    ([[[-1], []], [[]]], [[-1, -1], []])
    """

    __slots__ = ()

    def sum(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None, overflow: str = "wrap"
    ) -> ArrayT | Any:
        """The sum of the rows of each sequence, column by column; as `ops.reduce_sum`.

        Parameters
        ----------
        axis
            In place of `level`: the axis, or several, of the container that go, as NumPy counts them.
        level
            The level whose sequences become one row each; -1 is the innermost.
        empty
            What a sequence without rows gives; None refuses it.
        dtype
            In which rows are added up, and what the result has, as NumPy's `dtype`.
        overflow
            "raise" refuses integers that the result's dtype cannot hold; "wrap" keeps what is left of them.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, int64 for bools and signed, uint64 for unsigned integers.

        Raises
        ------
        TypeError
            Values that are not numbers.
        ValueError
            A sequence without rows where `empty` is None, which is named; an `empty` that the dtype cannot
            hold; no such axis, or an axis and a level.
        IndexError
            There is no such level.
        OverflowError
            With "raise" a sum that its dtype cannot hold.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum()
        array([8, 0, 6])
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum(dtype=np.float32)
        array([8., 0., 6.], dtype=float32)
        """
        return reduced("sum", self, None, axis, level, empty, None, 0, dtype, overflow)

    def mean(self, axis: Axes = None, *, level: int = -1, empty: Any = 0, dtype: Any = None) -> ArrayT | Any:
        """The mean of the rows of each sequence, column by column; as `ops.reduce_mean`.

        Parameters
        ----------
        axis, level, empty, dtype
            As those of `ops.reduce_mean`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, float64 for other numbers.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_mean`.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 5.0], [2, 1]).mean()
        array([2., 5.])
        """
        return reduced("mean", self, None, axis, level, empty, None, 0, dtype)

    def prod(
        self, axis: Axes = None, *, level: int = -1, empty: Any = 1, dtype: Any = None, overflow: str = "wrap"
    ) -> ArrayT | Any:
        """The product of the rows of each sequence, column by column; as `ops.reduce_prod`.

        Parameters
        ----------
        axis, level, empty, dtype, overflow
            As those of `ops.reduce_prod`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, int64 for bools and signed, uint64 for unsigned integers.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError
            As those of `ops.reduce_prod`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).prod()
        array([3, 4])
        """
        return reduced("prod", self, None, axis, level, empty, None, 0, dtype, overflow)

    def max(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The largest number of each sequence, column by column; as `ops.reduce_max`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_max`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; NaN where there is one.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_max`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).max()
        array([3, 4])
        """
        return reduced("max", self, None, axis, level, empty)

    def min(self, axis: Axes = None, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The smallest number of each sequence, column by column; as `ops.reduce_min`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_min`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values; NaN where there is one.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_min`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).min()
        array([1, 4])
        """
        return reduced("min", self, None, axis, level, empty)

    def any(self, axis: Axes = None, *, level: int = -1, empty: Any = False) -> ArrayT | Any:
        """Whether any row of each sequence is not zero, column by column; as `ops.reduce_any`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_any`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Bools.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_any`.

        Examples
        --------
        >>> vl.Ragged([0, 1, 0], [2, 1]).any()
        array([ True, False])
        """
        return reduced("any", self, None, axis, level, empty)

    def all(self, axis: Axes = None, *, level: int = -1, empty: Any = True) -> ArrayT | Any:
        """Whether all rows of each sequence are not zero, column by column; as `ops.reduce_all`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_all`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Bools.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_all`.

        Examples
        --------
        >>> vl.Ragged([0, 1, 2], [2, 1]).all()
        array([False,  True])
        """
        return reduced("all", self, None, axis, level, empty)

    def norm(self, axis: Axes = None, *, level: int = -1, empty: Any = 0) -> ArrayT | Any:
        """The Euclidean norm of the rows of each sequence, column by column; as `ops.reduce_norm`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_norm`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, float64 for other numbers.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_norm`.

        Examples
        --------
        >>> vl.Ragged([3.0, 4.0, 2.0], [2, 1]).norm()
        array([5., 2.])
        """
        return reduced("norm", self, None, axis, level, empty)

    def var(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan")
    ) -> ArrayT | Any:
        """The variance of the rows of each sequence, column by column; as `ops.reduce_var`.

        Parameters
        ----------
        axis, level, ddof, empty
            As those of `ops.reduce_var`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, float64 for other numbers. NaN for sequences of no more than `ddof`
            rows.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_var`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).var()
        array([1., 0.])
        """
        return reduced("var", self, None, axis, level, empty, None, ddof)

    def std(
        self, axis: Axes = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan")
    ) -> ArrayT | Any:
        """The standard deviation of the rows of each sequence, column by column; as `ops.reduce_std`.

        Parameters
        ----------
        axis, level, ddof, empty
            As those of `ops.reduce_std`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, float64 for other numbers. NaN for sequences of no more than `ddof`
            rows.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_std`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).std()
        array([1., 0.])
        """
        return reduced("std", self, None, axis, level, empty, None, ddof)

    def logsumexp(self, axis: Axes = None, *, level: int = -1, empty: Any = float("-inf")) -> ArrayT | Any:
        """The logarithm of the sum of exponentials of each sequence; as `ops.reduce_logsumexp`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.reduce_logsumexp`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            Floats of the same dtype, float64 for other numbers.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.reduce_logsumexp`.

        Examples
        --------
        >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
        array([7., 5.])
        """
        return reduced("logsumexp", self, None, axis, level, empty)

    def argmax(self, axis: Axes = None, *, level: int = -1, empty: int | None = None) -> ArrayT | Any:
        """The first place of the largest number of each sequence, column by column; as `ops.argmax`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.argmax`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            int64 places, counted inside the sequence; NaN counts as the largest.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.argmax`.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmax()
        array([1, 0])
        """
        return reduce_ends.argmax(self, axis=axis, level=level, empty=empty)

    def argmin(self, axis: Axes = None, *, level: int = -1, empty: int | None = None) -> ArrayT | Any:
        """The first place of the smallest number of each sequence, column by column; as `ops.argmin`.

        Parameters
        ----------
        axis, level, empty
            As those of `ops.argmin`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            int64 places, counted inside the sequence; NaN counts as the smallest.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.argmin`.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmin()
        array([0, 0])
        """
        return reduce_ends.argmin(self, axis=axis, level=level, empty=empty)

    def first(self, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The first row of each sequence; as `ops.reduce_first`.

        Parameters
        ----------
        level
            The level whose sequences become one row each; -1 is the innermost.
        empty
            What a sequence without rows gives: a number or a row; None refuses it.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values.

        Raises
        ------
        ValueError
            A sequence without rows where `empty` is None, which is named; an `empty` that the dtype cannot
            hold.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)
        array([ 3, -1,  4])
        """
        return reduce_ends.reduce_first(self, level=level, empty=empty)

    def last(self, *, level: int = -1, empty: Any = None) -> ArrayT | Any:
        """The last row of each sequence; as `ops.reduce_last`.

        Parameters
        ----------
        level, empty
            As those of `ops.reduce_last`.

        Returns
        -------
        (n, ...) array or tensor, or Ragged of the levels above
            The dtype of the values.

        Raises
        ------
        ValueError, IndexError
            As those of `ops.reduce_last`.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).last()
        array([9, 4])
        """
        return reduce_ends.reduce_last(self, level=level, empty=empty)

    def count(self, *, level: int = -1) -> ArrayT | Any:
        """How many values each sequence has; as `ops.count`.

        Parameters
        ----------
        level
            The level whose sequences are counted through; -1 is the innermost.

        Returns
        -------
        (n,) array or tensor, or Ragged of the levels above
            int64; all that lies below the level counts, levels in between do not.

        Raises
        ------
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).count()
        array([2, 1])
        """
        return count(self, level=level)

    def cumsum(
        self,
        axis: int | None = None,
        *,
        level: int = -1,
        exclusive: bool = False,
        reverse: bool = False,
        dtype: Any = None,
        overflow: str = "wrap",
    ) -> Self:
        """The running sum of each sequence, column by column; as `ops.cumsum`.

        Parameters
        ----------
        axis
            In place of `level`: the axis of the container that is gone along, as NumPy counts them.
        level
            The level inside whose sequences it goes; -1 is the innermost.
        exclusive
            Leave out the row itself; the first of a sequence is then 0.
        reverse
            Begin at the end of each sequence.
        dtype, overflow
            As those of `sum`.

        Returns
        -------
        Ragged
            Nests as this one. Floats of the same dtype, int64 for bools and signed, uint64 for unsigned
            integers.

        Raises
        ------
        TypeError
            Values that are not numbers.
        ValueError
            There is no such axis, or an axis and a level are given.
        IndexError
            There is no such level.
        OverflowError
            With "raise" a sum that its dtype cannot hold.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).cumsum().to_list()
        [[3, 4], [4]]
        """
        result: Self = scanned("sum", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cumprod(
        self,
        axis: int | None = None,
        *,
        level: int = -1,
        exclusive: bool = False,
        reverse: bool = False,
        dtype: Any = None,
        overflow: str = "wrap",
    ) -> Self:
        """The running product of each sequence, column by column; as `ops.cumprod`.

        Parameters
        ----------
        axis, level, exclusive, reverse, dtype, overflow
            As those of `ops.cumprod`.

        Returns
        -------
        Ragged
            Nests as this one. Floats of the same dtype, int64 for bools and signed, uint64 for unsigned
            integers.

        Raises
        ------
        TypeError, ValueError, IndexError, OverflowError
            As those of `ops.cumprod`.

        Examples
        --------
        >>> vl.Ragged([3, 2, 4], [2, 1]).cumprod().to_list()
        [[3, 6], [4]]
        """
        result: Self = scanned("prod", self, None, axis, level, exclusive, reverse, None, dtype, overflow)
        return result

    def cummax(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The largest number so far of each sequence, column by column; as `ops.cummax`.

        Parameters
        ----------
        axis, level, exclusive, reverse
            As those of `ops.cummax`.

        Returns
        -------
        Ragged
            Nests as this one. The dtype of the values; NaN from the first one on.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.cummax`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummax().to_list()
        [[3, 3, 4], [2]]
        """
        result: Self = scanned("max", self, None, axis, level, exclusive, reverse)
        return result

    def cummin(
        self, axis: int | None = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The smallest number so far of each sequence, column by column; as `ops.cummin`.

        Parameters
        ----------
        axis, level, exclusive, reverse
            As those of `ops.cummin`.

        Returns
        -------
        Ragged
            Nests as this one. The dtype of the values; NaN from the first one on.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.cummin`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummin().to_list()
        [[3, 1, 1], [2]]
        """
        result: Self = scanned("min", self, None, axis, level, exclusive, reverse)
        return result

    def softmax(self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0) -> Self:
        """Exponentials of the rows of each sequence, as shares of their sum; as `ops.softmax`.

        Parameters
        ----------
        axis
            In place of `level`: the axis of the container that is gone along, as NumPy counts them.
        level
            The level inside whose sequences it goes; -1 is the innermost.
        temperature
            Values are divided by it first; above 0.

        Returns
        -------
        Ragged
            Nests as this one. Floats of the same dtype, float64 for other numbers.

        Raises
        ------
        TypeError
            Values that are not numbers.
        ValueError
            A temperature that is not above 0; no such axis, or an axis and a level.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([0.0, 0.0, 7.0], [2, 1]).softmax().values
        array([0.5, 0.5, 1. ])
        """
        result: Self = softmax(self, axis=axis, level=level, temperature=temperature)
        return result

    def log_softmax(self, axis: int | None = None, *, level: int = -1, temperature: float = 1.0) -> Self:
        """The logarithm of `softmax`, without its rounding; as `ops.log_softmax`.

        Parameters
        ----------
        axis, level, temperature
            As those of `ops.log_softmax`.

        Returns
        -------
        Ragged
            Nests as this one. Floats of the same dtype, float64 for other numbers.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.log_softmax`.

        Examples
        --------
        >>> vl.Ragged([0.0, 1000.0, 7.0], [2, 1]).log_softmax().values
        array([-1000.,     0.,     0.])
        """
        result: Self = log_softmax(self, axis=axis, level=level, temperature=temperature)
        return result

    def attention_pool(self, scores: Any, *, level: int = -1, temperature: float = 1.0) -> ArrayT | Any:
        """The rows of each sequence added up by the softmax of their scores; as `ops.attention_pool`.

        Parameters
        ----------
        scores
            (total,), or (total, heads), or a Ragged of these that nests as this one.
        level
            The level whose sequences become one row each; -1 is the innermost.
        temperature
            What the scores are divided by.

        Returns
        -------
        (n, ...) or (n, heads, ...) array or tensor, or Ragged of the levels above
            Zeros for a sequence without rows.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.attention_pool`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).attention_pool(np.zeros(3))
        array([2., 5.])
        """
        return attention_pool(self, scores, level=level, temperature=temperature)

    def diff(self, n: int = 1, *, level: int = -1) -> Self:
        """Each row less the one before it in its sequence, n times over; as `np.diff`.

        Parameters
        ----------
        n
            How often; a sequence loses n rows, or all.
        level
            The level inside whose sequences it happens; -1 is the innermost.

        Returns
        -------
        Ragged
            Fewer rows of the same dtype: bools are compared, unsigned integers go round. Watched by autograd.

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
        result: Self = diff(self, n=n, level=level)
        return result

    def bincount(self, minlength: int = 0, weights: Any = None, *, level: int = -1) -> ArrayT | Any:
        """How often each number from 0 on is in each sequence, or the sum of its weights.

        Parameters
        ----------
        minlength, weights, level
            As those of `ops.bincount`.

        Returns
        -------
        (n, k) array or tensor, or Ragged of the levels above
            int64, or with weights float64; of tensors, the dtype of the weights, through which gradients
            flow.

        Raises
        ------
        TypeError, ValueError
            As those of `ops.bincount`.

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
    def searchsorted(
        self, v: RaggedT | ArrayLike | ArrayT, side: str = "left", *, level: int = -1
    ) -> RaggedT | ArrayT:
        """Where numbers go in the sequence of their number, which ascends, so that it still does.

        Parameters
        ----------
        v, side, level
            As those of `ops.searchsorted`.

        Returns
        -------
        array, tensor or Ragged
            As v: places inside the sequences, int64, from 0 to their lengths.

        Raises
        ------
        ValueError
            Another side; another number of sequences; rows of several.

        Notes
        -----
        As `np.searchsorted`. That sequences ascend, NaN last, is not checked.

        Examples
        --------
        >>> r = vl.Ragged([1, 3, 5, 2], [3, 1])
        >>> r.searchsorted(vl.Ragged([4, 0, 2], [2, 1]), side="right").to_list(), r.searchsorted([3, 3])
        ([[2, 0], [1]], array([1, 1]))
        """
        queries: Any = v
        result: RaggedT | ArrayT = searchsorted(self, queries, side=side, level=level)
        return result

    def sliding_window(self, width: int, *, level: int = -1) -> Self:
        """Each row with the `width` - 1 behind it, where its sequence has as many.

        Nothing is padded: a sequence loses `width` - 1 rows, or all. `ops.windows` has shorter windows and
        steps, `sequence_enumerate` pads, `ops.ngrams` hashes.

        Parameters
        ----------
        width, level
            As those of `ops.sliding_window`.

        Returns
        -------
        Ragged
            Rows (width, ...) of the same dtype. Watched by autograd.

        Raises
        ------
        ValueError
            A width below 1, or a result beyond half of the machine's memory.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sliding_window(2).to_list()
        [[[3, 1], [1, 4]], [], [[1, 5]]]
        """
        result: Self = sliding_window(self, width=width, level=level)
        return result
