"""Running sums, products and extremes of sequences, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.scan import scanned

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


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

    def cumsum(
        self, axis: Any = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The running sum of each sequence, column by column.

        Floats keep their dtype, integers and bools become int64 or uint64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).cumsum().to_list()
        [[3, 4], [4]]
        """
        result: Self = scanned("sum", self, None, axis, level, exclusive, reverse)
        return result

    def cumprod(
        self, axis: Any = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The running product of each sequence, column by column.

        Dtypes as for sums.

        Examples
        --------
        >>> vl.Ragged([3, 2, 4], [2, 1]).cumprod().to_list()
        [[3, 6], [4]]
        """
        result: Self = scanned("prod", self, None, axis, level, exclusive, reverse)
        return result

    def cummax(
        self, axis: Any = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The largest row so far of each sequence, column by column; NaN from the first one on.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummax().to_list()
        [[3, 3, 4], [2]]
        """
        result: Self = scanned("max", self, None, axis, level, exclusive, reverse)
        return result

    def cummin(
        self, axis: Any = None, *, level: int = -1, exclusive: bool = False, reverse: bool = False
    ) -> Self:
        """The smallest row so far of each sequence, column by column; NaN from the first one on.

        The dtype stays.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 2], [3, 1]).cummin().to_list()
        [[3, 1, 1], [2]]
        """
        result: Self = scanned("min", self, None, axis, level, exclusive, reverse)
        return result
