"""Numbers looked up in sequences that ascend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import one_of
from varlen.backends import backend_of
from varlen.backends.values import one_device
from varlen.errors import value_error
from varlen.levels import check_nest
from varlen.ops.support.inputs import nested, units_of
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT, SequencesLike


@overload
def searchsorted(
    X: SequencesLike, v: RaggedT, lengths: Lengths | None = None, *, side: str = "left", level: int = -1
) -> RaggedT: ...
@overload
def searchsorted(
    X: SequencesLike,
    v: RowsT | Sequence[Any],
    lengths: Lengths | None = None,
    *,
    side: str = "left",
    level: int = -1,
) -> RowsT: ...
@eager_only()
def searchsorted(X: Any, v: Any, lengths: Any = None, *, side: str = "left", level: int = -1) -> Rows:
    """Find where numbers go in each ascending sequence; as `np.searchsorted`.

    Parameters
    ----------
    X
        (T,) numbers that ascend in each sequence, NaN last; an array or a tensor, or a `Ragged`.
    v
        The numbers to look up: a `Ragged` with as many sequences at the level, of any lengths, or an array
        (n, ...) with a row for each sequence.
    lengths
        The lengths: integers, or a `Level`.
    side
        "left" of equal numbers, or "right" of them.
    level
        The level whose sequences are processed; levels below it are merged. -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        Positions inside the sequences, int64 in the shape of v; a Ragged for a Ragged.

    Raises
    ------
    TypeError
        `lengths` are given with a Ragged, or missing with an array.
    ValueError
        The side is unknown, `v` has another number of sequences, or the lengths do not add up to T.

    Notes
    -----
    As `np.searchsorted`. Sequences must ascend, with NaN last; this is not checked.

    Examples
    --------
    >>> vl.ops.searchsorted([1, 3, 5, 2], [4, 3], [3, 1])
    array([2, 1])
    """
    values, units, outer_levels = units_of(X, lengths, level)
    depth = len(outer_levels)
    queries, nest = nested(v, "v", depth + 1)
    one_device(queries, "v", values, "X")
    check_nest(nest[:depth], outer_levels, "v")
    count = len(nest[depth]) if len(nest) > depth else len(queries)
    if count != len(units):
        raise value_error("v", f"has {count} sequences, expected {len(units)}")
    sequences = np.arange(count)
    for inner_level in nest[depth:]:
        sequences = sequences[inner_level.row_ids]
    shape = tuple(queries.shape)
    sequences = np.repeat(sequences, int(np.prod(shape[1:]))) if len(shape) > 1 else sequences
    one_of(side, "side", ("left", "right"))
    keys = queries.reshape(-1)
    if values.ndim != 1 or keys.ndim != 1:
        raise value_error("values", "expected plain numbers in both, not rows with axes")
    if isinstance(values, np.ndarray):
        values, keys = (backend_of(item).readable(item) for item in (values, keys))
    places = backend_of(values).search(values, units, keys, sequences, side).reshape(shape)
    return ragged_like(v if isinstance(v, RaggedBase) else X, places, nest) if nest else places
