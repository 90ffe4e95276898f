"""Sequences to one row each, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_int
from varlen.backends.values import is_tensor, like
from varlen.levels import flatten_levels, not_empty, resolve_level
from varlen.types.axes import along, axes_of

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


def reduced(op: str, values: Any, level: Level, empty: Any = None, out: Any = None, ddof: float = 0) -> Any:
    """One row for each sequence of a level over arrays or tensors.

    Examples
    --------
    >>> reduced("sum", np.array([3, 1, 4]), vl.Level([2, 1]), 0)
    array([4, 4])
    """
    if is_tensor(values):
        from varlen.backends.torch import reduce as torch_reduce
        from varlen.backends.torch import statistics as torch_statistics

        if op in ("prod", "var", "std", "logsumexp"):
            return torch_statistics.reduce(op, values, level, empty, out, ddof)
        return torch_reduce.reduce(op, values, level, empty, out)
    return _core.reduce(op, values, level, empty, out, ddof)


def extreme(op: str, values: Any, level: Level, empty: Any = None, narrow: bool = False) -> tuple[Any, Any]:
    """The largest or smallest number of each sequence, and the first row inside it that holds it: int64.

    `narrow`: int32, or an OverflowError where that does not count the rows of a sequence.

    Examples
    --------
    >>> extreme("max", np.array([3, 1, 4]), vl.Level([2, 1]))
    (array([3, 4]), array([0, 0]))
    """
    if is_tensor(values):
        from varlen.backends.torch import reduce as torch_reduce

        return torch_reduce.extreme(op, values, level, empty, narrow)
    return _core.reduce_extreme(op, values, level, empty, narrow)


def place(op: str, values: Any, level: Level, empty: Any = None) -> Any:
    """The first row inside each sequence that holds its largest or smallest number; `empty` where is none.

    Examples
    --------
    >>> place("max", np.array([3, 1, 4]), vl.Level([2, 0, 1]), -1)
    array([ 0, -1,  0])
    """
    if empty is None:
        return extreme(op, values, level)[1]
    number = as_int(empty, "empty", -(2**63))
    which = extreme(op, values, level, 0)[1]
    gone = like(level.lengths == 0, which).reshape(-1, *(1 for _ in which.shape[1:]))
    return which.masked_fill(gone, number) if is_tensor(which) else np.where(gone, number, which)


def end(values: Any, level: Level, last: bool, empty: Any = None) -> Any:
    """The first or last row of each sequence; `empty`, a number or a row, where there is none.

    Examples
    --------
    >>> end(np.array([3, 1, 4]), vl.Level([2, 0, 1]), True, -1)
    array([ 1, -1,  4])
    """
    if empty is None:
        not_empty(level)
    if is_tensor(values):
        from varlen.backends.torch import reduce as torch_reduce

        return torch_reduce.end(values, level, last, empty)
    if empty is None:
        return _core.gather_column(values, (level,), -1 if last else 0)[0]
    cut = "left" if last else "right"
    return _core.pad(values, (level,), fill=empty, max_len=1, truncate=cut, sizes=1)[:, 0]


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

    def sum(self, level: int = -1, *, axis: Any = None, empty: Any = 0) -> Any:
        """The sum of the rows of each sequence, column by column.

        Floats keep their dtype, integers and bools become int64 or uint64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sum()
        array([8, 0, 6])
        """
        return self._reduced("sum", level, axis, empty)

    def mean(self, level: int = -1, *, axis: Any = None, empty: Any = 0) -> Any:
        """The mean of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([3.0, 1.0, 5.0], [2, 1]).mean()
        array([2., 5.])
        """
        return self._reduced("mean", level, axis, empty)

    def prod(self, level: int = -1, *, axis: Any = None, empty: Any = 1) -> Any:
        """The product of the rows of each sequence, column by column.

        Dtypes as for sums.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).prod()
        array([3, 4])
        """
        return self._reduced("prod", level, axis, empty)

    def max(self, level: int = -1, *, axis: Any = None, empty: Any = None) -> Any:
        """The largest row of each sequence, column by column; NaN where there is one.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).max()
        array([3, 4])
        """
        return self._reduced("max", level, axis, empty)

    def min(self, level: int = -1, *, axis: Any = None, empty: Any = None) -> Any:
        """The smallest row of each sequence, column by column; NaN where there is one.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).min()
        array([1, 4])
        """
        return self._reduced("min", level, axis, empty)

    def any(self, level: int = -1, *, axis: Any = None, empty: Any = False) -> Any:
        """Whether any row of each sequence is true, column by column.

        Not zero is true.

        Examples
        --------
        >>> vl.Ragged([0, 1, 0], [2, 1]).any()
        array([ True, False])
        """
        return self._reduced("any", level, axis, empty)

    def all(self, level: int = -1, *, axis: Any = None, empty: Any = True) -> Any:
        """Whether all rows of each sequence are true, column by column.

        Not zero is true.

        Examples
        --------
        >>> vl.Ragged([0, 1, 2], [2, 1]).all()
        array([False,  True])
        """
        return self._reduced("all", level, axis, empty)

    def norm(self, level: int = -1, *, axis: Any = None, empty: Any = 0) -> Any:
        """The Euclidean norm of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([3.0, 4.0, 2.0], [2, 1]).norm()
        array([5., 2.])
        """
        return self._reduced("norm", level, axis, empty)

    def var(self, level: int = -1, *, axis: Any = None, ddof: float = 0, empty: Any = float("nan")) -> Any:
        """The variance of the rows of each sequence, column by column; NaN of no more than `ddof` rows.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).var()
        array([1., 0.])
        """
        return self._reduced("var", level, axis, empty, ddof)

    def std(self, level: int = -1, *, axis: Any = None, ddof: float = 0, empty: Any = float("nan")) -> Any:
        """The standard deviation of the rows of each sequence: the root of `var`.

        Examples
        --------
        >>> vl.Ragged([1.0, 3.0, 5.0], [2, 1]).std()
        array([1., 0.])
        """
        return self._reduced("std", level, axis, empty, ddof)

    def logsumexp(self, level: int = -1, *, axis: Any = None, empty: Any = float("-inf")) -> Any:
        """The logarithm of the sum of the exponentials of the rows of each sequence, column by column.

        Floats keep their dtype, others become float64.

        Examples
        --------
        >>> vl.Ragged([7.0, -np.inf, 5.0], [2, 1]).logsumexp()
        array([7., 5.])
        """
        return self._reduced("logsumexp", level, axis, empty)

    def argmax(self, level: int = -1, *, empty: int | None = None) -> Any:
        """The first place inside each sequence that holds its largest number, column by column: int64.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmax()
        array([1, 0])
        """
        values, over, above = self._over(level)
        return self._under(place("max", values, over, empty), above)

    def argmin(self, level: int = -1, *, empty: int | None = None) -> Any:
        """The first place inside each sequence that holds its smallest number, column by column: int64.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).argmin()
        array([0, 0])
        """
        values, over, above = self._over(level)
        return self._under(place("min", values, over, empty), above)

    def first(self, level: int = -1, *, empty: Any = None) -> Any:
        """The first row of each sequence; `empty` may be a row.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 0, 1]).first(empty=-1)
        array([ 3, -1,  4])
        """
        values, over, above = self._over(level)
        return self._under(end(values, over, False, empty), above)

    def last(self, level: int = -1, *, empty: Any = None) -> Any:
        """The last row of each sequence; `empty` may be a row.

        Examples
        --------
        >>> vl.Ragged([3, 9, 4], [2, 1]).last()
        array([9, 4])
        """
        values, over, above = self._over(level)
        return self._under(end(values, over, True, empty), above)

    def count(self, level: int = -1) -> Any:
        """How many values each sequence has: int64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).count()
        array([2, 1])
        """
        values, over, above = self._over(level)
        return self._under(like(over.lengths, values), above)

    def _reduced(self, op: str, level: int, axis: Any, empty: Any, ddof: float = 0) -> Any:
        if axis is None:
            values, over, above = self._over(level)
            return self._under(reduced(op, values, over, empty, ddof=ddof), above)
        if level != -1:
            raise ValueError(f"level, axis: give one of them, not {level} and {axis}")
        axes = axes_of(axis, len(self._levels) + self._values.ndim)
        values, over, above, whole = along(self._values, self._levels, axes)
        result = reduced(op, values, over, empty, ddof=ddof)
        return result[0] if whole else self._under(result, above)

    def _over(self, level: int) -> tuple[Values, Level, Levels]:
        """The values, one level that cuts them as all from `level` down do, and the levels above."""
        at = resolve_level(level, self._levels)
        return self._values, flatten_levels(self._levels[at:]), self._levels[:at]

    def _under(self, rows: Any, above: Levels) -> Any:
        return self._make(rows, above) if above else rows
