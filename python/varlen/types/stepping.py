"""Sequences side by side, step by step, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.pack import pack
from varlen.ops.time_major import ragged2padded

if TYPE_CHECKING:
    from varlen.types.packed import Packed
    from varlen.types.padded import Padded


class Stepping:
    """Methods of `varlen.Ragged`, which inherits them.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [1, 2]).pack().steps()
    [array([1, 3]), array([4])]
    """

    __slots__ = ()

    def to_padded(self, *, ties: str = "reversed", fill: Any = None, max_bytes: int | None = None) -> Padded:
        """The sequences of one level side by side, time-major, the longest first; `ops.ragged2padded`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_padded().data
        array([[1, 3],
               [4, 0]])
        """
        ragged: Any = self
        result: Padded = ragged2padded(ragged, ties=ties, fill=fill, max_bytes=max_bytes)
        return result

    def pack(self, *, level: int = 0, order: Any = "stable") -> Packed:
        """The sequences of a level side by side, step by step, the longest first, without padding.

        Parameters
        ----------
        level
            Whose sequences are stepped through, -1 for the innermost. Above the innermost a step holds whole
            sub-sequences. The levels above are kept for the way back.
        order
            Of sequences that are equally long: "stable", "reversed" as Thinc has it, or "torch"; a
            permutation; or a `RankTable` to share, which has a level of its own.

        Raises
        ------
        IndexError
            There is no such level.
        ValueError
            No such order, no permutation, a table of other lengths.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().steps()
        [array([1, 3]), array([4])]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).pack()[0].to_list()
        [[1, 2], [4]]
        """
        return pack(self, level=level, order=order)
