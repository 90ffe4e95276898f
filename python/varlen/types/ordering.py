"""Sequences in order, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen import _core
from varlen._core import Level
from varlen.arguments import as_int
from varlen.backends import backend_of
from varlen.backends.values import is_tensor

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


def _rectangle(rows: Any, level: Level, k: int, fill: Any) -> Any:
    """(n, k, ...) of sequences that have at most k rows."""
    if not is_tensor(rows):
        return _core.pad(rows, (level,), fill=fill, sizes=k)
    if level.longest == 0:
        from varlen.backends.torch.sort import filled

        return filled(rows, len(level), k, fill)
    from varlen.backends.torch.pad import pad

    return pad(rows, (level,), fill=fill, pad_to_multiple=k)


class Ordering:
    """Methods of `varlen.Ragged`, which inherits them.

    All take `level`: the level inside whose sequences rows are ordered, together with all that nests below
    it, whose borders are then gone; -1 is the innermost. Trailing dimensions are ordered column by column.
    NaN comes last, ascending and descending; equal numbers keep their order. The functions of `varlen.ops`
    say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.sort().to_list(), r.sort(level=0).to_list()
    ([[[2, 3], [1]], [[4]]], [[1, 2, 3], [4]])
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

        def _over(self, level: int) -> tuple[Values, Level, Levels]: ...

        def _under(self, rows: Any, above: Levels) -> Any: ...

    def sort(self, level: int = -1, *, descending: bool = False) -> Self:
        """The rows of each sequence in ascending order, or in descending.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sort(descending=True).to_list()
        [[4, 3, 1], [], [5, 1]]
        """
        values, over, above = self._over(level)
        return self._make(backend_of(values).sort(values, over, bool(descending))[0], (*above, over))

    def argsort(self, level: int = -1, *, descending: bool = False) -> Self:
        """The places inside each sequence in the order of its numbers: int64.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).argsort().to_list()
        [[1, 0, 2], [], [0, 1]]
        """
        values, over, above = self._over(level)
        return self._make(
            backend_of(values).sort(values, over, bool(descending), None, False, True)[1], (*above, over)
        )

    def topk(
        self, k: int, level: int = -1, *, largest: bool = True, dense: bool = False, fill: Any = 0
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
        values, over, above = self._over(level)
        most = as_int(k, "k", 1)
        best, which, kept = backend_of(values).sort(values, over, bool(largest), most, True, True)
        if not dense:
            return self._make(best, (*above, kept)), self._make(which, (*above, kept))
        return (
            self._under(_rectangle(best, kept, most, fill), above),
            self._under(_rectangle(which, kept, most, -1), above),
        )

    def unique(self, level: int = -1, *, inverse: bool = False, counts: bool = False) -> Any:
        """The distinct numbers of each sequence in order; which of them each row is, and how often each is.

        Examples
        --------
        >>> values, often = vl.Ragged([3, 1, 3, 5], [3, 1]).unique(counts=True)
        >>> values.to_list(), often.to_list()
        ([[1, 3], [5]], [[1, 2], [1]])
        """
        values, over, above = self._over(level)
        found, which, often, kept = backend_of(values).unique(values, over, bool(inverse), bool(counts))
        result = self._make(found, (*above, kept))
        if not (inverse or counts):
            return result
        rest = (self._make(which, (*above, over)),) if inverse else ()
        return (result, *rest, self._make(often, (*above, kept))) if counts else (result, *rest)

    def rank(self, level: int = -1, *, method: str = "ordinal", descending: bool = False) -> Self:
        """The rank of each number inside its sequence, from 1; `method` says what equal ones get.

        Examples
        --------
        >>> vl.Ragged([3, 1, 3, 5], [3, 1]).rank(method="average").to_list()
        [[2.5, 1.0, 2.5], [1.0]]
        """
        values, over, _ = self._over(level)
        return self._make(backend_of(values).rank(values, over, method, bool(descending)), self._levels)
