"""Sequences to one row each, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen._core import Level
from varlen.levels import flatten_levels, resolve_level
from varlen.ops import reduce_ends
from varlen.ops.reduce import count, reduced

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


class Reductions:
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
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

    def sum(self, axis: Any = None, *, level: int = -1, empty: Any = 0) -> Any:
        """The sum of the rows of each sequence, column by column.

        Floats keep their dtype, integers and bools become int64 or uint64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum()
        array([8, 0, 6])
        """
        return reduced("sum", self, None, axis, level, empty)

    def mean(self, axis: Any = None, *, level: int = -1, empty: Any = 0) -> Any:
        """The mean of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 5.0], [2, 1]).mean()
        array([2., 5.])
        """
        return reduced("mean", self, None, axis, level, empty)

    def prod(self, axis: Any = None, *, level: int = -1, empty: Any = 1) -> Any:
        """The product of the rows of each sequence, column by column.

        Dtypes as for sums.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).prod()
        array([3, 4])
        """
        return reduced("prod", self, None, axis, level, empty)

    def max(self, axis: Any = None, *, level: int = -1, empty: Any = None) -> Any:
        """The largest row of each sequence, column by column; NaN where there is one.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).max()
        array([3, 4])
        """
        return reduced("max", self, None, axis, level, empty)

    def min(self, axis: Any = None, *, level: int = -1, empty: Any = None) -> Any:
        """The smallest row of each sequence, column by column; NaN where there is one.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).min()
        array([1, 4])
        """
        return reduced("min", self, None, axis, level, empty)

    def any(self, axis: Any = None, *, level: int = -1, empty: Any = False) -> Any:
        """Whether any row of each sequence is true, column by column.

        Not zero is true.

        Examples
        --------
        >>> vl.Ragged([0, 1, 0], [2, 1]).any()
        array([ True, False])
        """
        return reduced("any", self, None, axis, level, empty)

    def all(self, axis: Any = None, *, level: int = -1, empty: Any = True) -> Any:
        """Whether all rows of each sequence are true, column by column.

        Not zero is true.

        Examples
        --------
        >>> vl.Ragged([0, 1, 2], [2, 1]).all()
        array([False,  True])
        """
        return reduced("all", self, None, axis, level, empty)

    def norm(self, axis: Any = None, *, level: int = -1, empty: Any = 0) -> Any:
        """The Euclidean norm of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([3.0, 4.0, 2.0], [2, 1]).norm()
        array([5., 2.])
        """
        return reduced("norm", self, None, axis, level, empty)

    def var(self, axis: Any = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan")) -> Any:
        """The variance of the rows of each sequence, column by column; NaN of no more than `ddof` rows.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).var()
        array([1., 0.])
        """
        return reduced("var", self, None, axis, level, empty, None, ddof)

    def std(self, axis: Any = None, *, level: int = -1, ddof: float = 0, empty: Any = float("nan")) -> Any:
        """The standard deviation of the rows of each sequence: the root of `var`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).std()
        array([1., 0.])
        """
        return reduced("std", self, None, axis, level, empty, None, ddof)

    def logsumexp(self, axis: Any = None, *, level: int = -1, empty: Any = float("-inf")) -> Any:
        """The logarithm of the sum of the exponentials of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
        array([7., 5.])
        """
        return reduced("logsumexp", self, None, axis, level, empty)

    def argmax(self, axis: Any = None, *, level: int = -1, empty: int | None = None) -> Any:
        """The first place inside each sequence that holds its largest number, column by column: int64.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmax()
        array([1, 0])
        """
        return reduce_ends.argmax(self, axis=axis, level=level, empty=empty)

    def argmin(self, axis: Any = None, *, level: int = -1, empty: int | None = None) -> Any:
        """The first place inside each sequence that holds its smallest number, column by column: int64.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmin()
        array([0, 0])
        """
        return reduce_ends.argmin(self, axis=axis, level=level, empty=empty)

    def first(self, *, level: int = -1, empty: Any = None) -> Any:
        """The first row of each sequence; `empty` may be a row.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)
        array([ 3, -1,  4])
        """
        return reduce_ends.reduce_first(self, level=level, empty=empty)

    def last(self, *, level: int = -1, empty: Any = None) -> Any:
        """The last row of each sequence; `empty` may be a row.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).last()
        array([9, 4])
        """
        return reduce_ends.reduce_last(self, level=level, empty=empty)

    def count(self, *, level: int = -1) -> Any:
        """How many values each sequence has: int64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).count()
        array([2, 1])
        """
        return count(self, level=level)

    def _over(self, level: int) -> tuple[Values, Level, Levels]:
        """The values, one level that cuts them as all from `level` down do, and the levels above."""
        at = resolve_level(level, self._levels)
        return self._values, flatten_levels(self._levels[at:]), self._levels[:at]

    def _under(self, rows: Any, above: Levels) -> Any:
        return self._make(rows, above) if above else rows
