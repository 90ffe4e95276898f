"""Rows that change places inside their sequence, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.shift import reverse, roll, shift

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels


class Shifts:
    """Methods of `varlen.Ragged`, which inherits them.

    Each gives a Ragged of the same shape. `level` is the one inside whose sequences something moves: rows,
    where it is the innermost, which -1 stands for; else whole sequences of the level below. The functions of
    `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.reverse().to_list(), r.reverse(level=0).to_list()
    ([[[2, 1], [3]], [[4]]], [[[3], [1, 2]], [[4]]])
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

    def reverse(self, *, level: int = -1) -> Self:
        """What is in each sequence, last to first.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).reverse().to_list()
        [[1, 3], [4]]
        """
        result: Self = reverse(self, level=level)
        return result

    def shift(self, by: Any, *, level: int = -1, fill: Any = 0) -> Self:
        """What is in each sequence, `by` places on: one int, or one for each sequence of the level.

        What leaves the sequence is lost. Where nothing arrives there is `fill`; above the innermost level, an
        empty sequence.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).shift(-1, fill=9).to_list()
        [[1, 9], [9]]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).shift(1, level=0).to_list()
        [[[], [1, 2]], [[]]]
        """
        result: Self = shift(self, by=by, level=level, fill=fill)
        return result

    def roll(self, by: Any, *, level: int = -1) -> Self:
        """What is in each sequence, `by` places on, round and round: one int, or one for each sequence.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1], [3, 1]).roll(1).to_list()
        [[4, 3, 1], [1]]
        """
        result: Self = roll(self, by=by, level=level)
        return result
