"""Sequences side by side, step by step, without padding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from varlen.ops.support.inputs import rows_and_levels
from varlen.ops.support.outputs import packed_class, ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import RaggedBase
    from varlen.backends.values import RowsT
    from varlen.types import Packed


@eager_only()
def pack(
    X: RaggedBase[RowsT] | RowsT | Sequence[Any],
    lengths: Any = None,
    *,
    level: int = -1,
    order: Any = "stable",
) -> Packed[RowsT]:
    """Pack the sequences of a level step by step, the longest first, without padding.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose sequences are stepped through. Above the innermost, a step holds whole sub-sequences.
        The levels above are kept for the way back.
    order
        The order of equally long sequences: "stable", "reversed" as in Thinc, or "torch"; a permutation; or a
        `RankTable` to share, which has its own level.

    Returns
    -------
    Packed
        The packed sequences; `to_ragged` converts them back.

    Raises
    ------
    IndexError
        There is no such level.
    ValueError
        The order is unknown or no permutation, or the table has other lengths.

    Examples
    --------
    >>> vl.ops.pack([3, 1, 4], [1, 2]).steps()
    [array([1, 3]), array([4])]
    """
    ragged = ragged_like(X, *rows_and_levels(X, lengths))
    result: Packed[Any] = packed_class().from_ragged(ragged, level=level, order=order)
    return result
