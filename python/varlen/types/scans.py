"""Running sums, products and extremes of sequences, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen._core import Level
from varlen.arguments import axis_of
from varlen.backends.values import is_tensor
from varlen.types.axes import in_line

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


def scanned(
    op: str, values: Any, level: Level, exclusive: bool = False, reverse: bool = False, out: Any = None
) -> Any:
    """Each row with those before it in its sequence, of arrays or tensors.

    Examples
    --------
    >>> scanned("sum", np.array([3, 1, 4]), vl.Level([2, 1]))
    array([3, 4, 4])
    """
    if is_tensor(values):
        from varlen.backends.torch import scan as torch_scan

        return torch_scan.scan(op, values, level, exclusive, reverse, out)
    return _core.scan(op, values, level, exclusive, reverse, out)


class Scans:
    """Methods of `varlen.Ragged`, which inherits them.

    Each gives a Ragged of the same levels. `level` is the one whose sequences start anew, together with all
    that nests below it; -1 is the innermost. Or `axis`, along which they run: 0 is across the sequences,
    place by place. `exclusive` leaves the row itself out, `reverse` goes from the last row to the first. The
    functions of `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.cumsum().to_list(), r.cumsum(level=0).to_list()
    ([[[1, 3], [3]], [[4]]], [[[1, 3], [6]], [[4]]])
    >>> r.cumsum(axis=0).to_list()
    [[[1, 2], [3]], [[5]]]
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

        def _over(self, level: int) -> tuple[Values, Level, Levels]: ...

    def cumsum(
        self, level: int = -1, *, axis: Any = None, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The running sum of each sequence, column by column.

        Floats keep their dtype, integers and bools become int64 or uint64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).cumsum().to_list()
        [[3, 4], [4]]
        """
        return self._scanned("sum", level, axis, exclusive, reverse)

    def cumprod(
        self, level: int = -1, *, axis: Any = None, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The running product of each sequence, column by column.

        Dtypes as for sums.

        Examples
        --------
        >>> vl.Ragged([3, 2, 4], [2, 1]).cumprod().to_list()
        [[3, 6], [4]]
        """
        return self._scanned("prod", level, axis, exclusive, reverse)

    def cummax(
        self, level: int = -1, *, axis: Any = None, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The largest row so far of each sequence, column by column; NaN from the first one on.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummax().to_list()
        [[3, 3, 4], [2]]
        """
        return self._scanned("max", level, axis, exclusive, reverse)

    def cummin(
        self, level: int = -1, *, axis: Any = None, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The smallest row so far of each sequence, column by column; NaN from the first one on.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummin().to_list()
        [[3, 1, 1], [2]]
        """
        return self._scanned("min", level, axis, exclusive, reverse)

    def _scanned(self, op: str, level: int, axis: Any, exclusive: bool, reverse: bool) -> Self:
        if axis is None:
            values, over, _ = self._over(level)
            return self._make(scanned(op, values, over, exclusive, reverse), self._levels)
        if level != -1:
            raise ValueError(f"level, axis: give one of them, not {level} and {axis}")
        at = axis_of(axis, len(self._levels) + self._values.ndim)
        rows, over, back = in_line(self._values, self._levels, at)
        return self._make(back(scanned(op, rows, over, exclusive, reverse)), self._levels)
