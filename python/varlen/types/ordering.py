"""Sequences in order, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.sort import argsort, rank, sort, topk, unique

if TYPE_CHECKING:
    from typing_extensions import Self


class Ordering:
    """Methods of `varlen.Ragged`, which inherits them.

    All take `level`: the level inside whose sequences rows are ordered, together with all that nests below
    it, whose borders are then gone; -1 is the innermost. `sort` and `argsort` take `axis` in its stead.
    Trailing dimensions are ordered column by column. NaN comes last, ascending and descending; equal numbers
    keep their order. The functions of `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.sort().to_list(), r.sort(level=0).to_list()
    ([[[2, 3], [1]], [[4]]], [[1, 2, 3], [4]])
    """

    __slots__ = ()

    def sort(self, axis: int | None = None, *, level: int = -1, descending: bool = False) -> Self:
        """The rows of each sequence in ascending order, or in descending.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sort(descending=True).to_list()
        [[4, 3, 1], [], [5, 1]]
        """
        result: Self = sort(self, axis=axis, level=level, descending=descending)
        return result

    def argsort(self, axis: int | None = None, *, level: int = -1, descending: bool = False) -> Self:
        """The places inside each sequence in the order of its numbers: int64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).argsort().to_list()
        [[1, 0, 2], [], [0, 1]]
        """
        result: Self = argsort(self, axis=axis, level=level, descending=descending)
        return result

    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: bool = False, fill: Any = 0
    ) -> tuple[Any, Any]:
        """The k largest numbers of each sequence in order, and their places; all of a shorter one.

        With `dense` a rectangle (n, k, ...) of each, or a Ragged of the levels above with such rows; `fill`
        and -1 stand behind what a shorter sequence has.

        Examples
        --------
        >>> best, which = vl.Ragged([3, 1, 4, 5], [3, 1]).topk(2)
        >>> best.to_list(), which.to_list()
        ([[4, 3], [5]], [[2, 0], [0]])
        """
        return topk(self, k=k, level=level, largest=largest, dense=dense, fill=fill)

    def unique(self, *, level: int = -1, inverse: bool = False, counts: bool = False) -> Any:
        """The distinct numbers of each sequence in order; which of them each row is, and how often each is.

        Examples
        --------
        >>> values, often = vl.Ragged([3, 1, 3, 5], [3, 1]).unique(counts=True)
        >>> values.to_list(), often.to_list()
        ([[1, 3], [5]], [[1, 2], [1]])
        """
        return unique(self, level=level, inverse=inverse, counts=counts)

    def rank(self, *, level: int = -1, method: str = "ordinal", descending: bool = False) -> Self:
        """The rank of each number inside its sequence, from 1; `method` says what equal ones get.

        Examples
        --------
        >>> vl.Ragged([3, 1, 3, 5], [3, 1]).rank(method="average").to_list()
        [[2.5, 1.0, 2.5], [1.0]]
        """
        result: Self = rank(self, level=level, method=method, descending=descending)
        return result
