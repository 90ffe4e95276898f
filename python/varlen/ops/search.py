"""Numbers looked up in sequences that ascend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import one_of
from varlen.backends import backend_of
from varlen.backends.values import like
from varlen.levels import describe_difference, same_levels
from varlen.ops.inputs import nested, units_of
from varlen.ops.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from varlen._core import Level
    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT


@overload
def searchsorted(
    X: Any, v: RaggedT, lengths: Lengths | None = None, *, side: str = "left", level: int = -1
) -> RaggedT: ...
@overload
def searchsorted(
    X: Any, v: RowsT | Sequence[Any], lengths: Lengths | None = None, *, side: str = "left", level: int = -1
) -> RowsT: ...
@eager_only()
def searchsorted(X: Any, v: Any, lengths: Any = None, *, side: str = "left", level: int = -1) -> Rows:
    """Where numbers go in the sequence of their number, which ascends, so that it still does.

    Parameters
    ----------
    X
        (T,) numbers that ascend in each sequence, NaN last; an array or a tensor, or a `Ragged`.
    v
        What is looked up: a `Ragged` with as many sequences at the level, whatever their lengths, or an
        array (n, ...), a row for each.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    side
        "left" before equal numbers, "right" behind them.
    level
        The level whose sequences are gone through, together with all that nests below it, whose borders are
        then gone; -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 of the shape of v, a Ragged for a Ragged: places inside the sequences.

    Raises
    ------
    TypeError
        `lengths` beside a Ragged, or none beside an array.
    ValueError
        Another side; queries for another number of sequences; lengths that do not add up to T.

    Notes
    -----
    As `np.searchsorted`. That sequences ascend, NaN last, is not checked.

    Examples
    --------
    >>> vl.ops.searchsorted([1, 3, 5, 2], [4, 3], [3, 1])
    array([2, 1])
    """
    values, units, above = units_of(X, lengths, level)
    at = len(above)
    given, nest = nested(v, "v", at + 1)
    if not same_levels(nest[:at], above):
        raise ValueError(f"v: nests differently: {describe_difference(above, nest[:at])}")
    count = len(nest[at]) if len(nest) > at else len(given)
    if count != len(units):
        raise ValueError(f"v: has {count} sequences, expected {len(units)}")
    sequences = np.arange(count)
    for below in nest[at:]:
        sequences = sequences[below.row_ids]
    shape = tuple(given.shape)
    sequences = np.repeat(sequences, int(np.prod(shape[1:]))) if len(shape) > 1 else sequences
    found = _search(values, units, given.reshape(-1), sequences, side).reshape(shape)
    return ragged_like(v if isinstance(v, RaggedBase) else X, found, nest) if nest else found


def _search(values: Any, level: Level, queries: Any, sequences: NDArray[np.int64], side: str) -> Any:
    """The place inside its sequence, which ascends, before which each query goes: int64."""
    one_of(side, "side", ("left", "right"))
    rows, asked = (backend_of(x).readable(x) for x in (values, queries))
    if rows.ndim != 1 or asked.ndim != 1:
        raise ValueError("values: expected numbers to search in, and numbers to search for")
    begin = level.offsets[sequences]
    low, high = begin.copy(), level.offsets[sequences + 1]
    for _ in range(int(level.longest).bit_length()):
        middle = (low + high) >> 1
        candidates = rows[np.minimum(middle, len(rows) - 1)]
        behind = _before(candidates, asked) if side == "left" else ~_before(asked, candidates)
        behind &= low < high
        low, high = np.where(behind, middle + 1, low), np.where(behind, high, middle)
    return like(low - begin, values)


def _before(a: Any, b: Any) -> Any:
    """Whether a comes before b, in the order of sorting: NaN last."""
    return (a < b) | ((b != b) & (a == a))
