"""A row for each sequence, given to all values below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from varlen import tracing
from varlen._core import RaggedBase
from varlen.backends.values import as_values, one_device
from varlen.backends.values import broadcast_rows as broadcast
from varlen.errors import value_error
from varlen.levels import check_nest, flatten_levels, resolve_level
from varlen.ops.support.inputs import rows_and_levels
from varlen.ops.support.outputs import ragged_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT, SequencesLike
    from varlen.types import Ragged


@overload
def broadcast_rows(X: RaggedT, rows: SequencesLike, lengths: None = None, *, level: int = -1) -> RaggedT: ...
@overload
def broadcast_rows(
    X: RowsT | Sequence[Any], rows: SequencesLike, lengths: Lengths, *, level: int = -1
) -> Ragged[RowsT]: ...
def broadcast_rows(X: Any, rows: SequencesLike, lengths: Any = None, *, level: int = -1) -> Rows:
    """Repeat one row per sequence for all values below it: a Ragged that nests like X.

    Operators do the same with a Ragged of fewer levels.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    rows
        An array (sequences of `level`, ...), or a Ragged of the levels above, which decides the level.

    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.
    level
        The level whose sequences get the rows of an array; -1 is the innermost.

    Returns
    -------
    Ragged
        The repeated rows, which nest as X and keep their dtype.

    Raises
    ------
    ValueError
        There are more or fewer rows than sequences, or a Ragged nests differently.
    IndexError
        There is no such level.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> vl.ops.broadcast_rows(r, [7, 8], level=0).to_list(), vl.ops.broadcast_rows(r, [7, 8, 9]).to_list()
    ([[[7, 7], [7]], [[8]]], [[[7, 7], [8]], [[9]]])
    """
    values, levels = rows_and_levels(X, lengths)
    if isinstance(rows, RaggedBase):
        place = len(rows._levels)
        if place >= len(levels):
            raise value_error("rows", f"has {place} levels, expected fewer than {len(levels)}")
        check_nest(rows._levels, levels[:place], "rows")
        row_values = rows._values
    else:
        place, row_values = resolve_level(level, levels), as_values(rows, "rows")
    one_device(row_values, "rows", values, "X")
    count = tracing.count_of(levels[place])
    if tracing.holds_surely(row_values.shape[0] != count):
        raise value_error("rows", f"has {len(row_values)} rows, level {place} has {count} sequences")
    return ragged_like(X, broadcast(row_values, flatten_levels(levels[place:])), levels)
