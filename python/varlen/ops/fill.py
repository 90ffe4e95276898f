"""A row for sequences that have none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import Level
from varlen.backends import backend_of
from varlen.backends.values import like, row_as
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import rows_and_levels
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsLike, RowsT
    from varlen.types import Ragged


@overload
def fill_empty_rows(X: RaggedT, default: RowsLike, lengths: None = None) -> tuple[RaggedT, Rows]: ...
@overload
def fill_empty_rows(
    X: RowsT | Sequence[Any], default: RowsLike, lengths: Lengths
) -> tuple[Ragged[RowsT], RowsT]: ...
@eager_only()
def fill_empty_rows(X: Any, default: RowsLike, lengths: Any = None) -> tuple[Rows, Rows]:
    """Put one row into each empty innermost sequence, and return which were empty.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    default
        The row: a number, or an array that broadcasts to a row.
    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.

    Returns
    -------
    (Ragged, indicator)
        The filled Ragged, and bools that are True for sequences that were empty: (n,), or a Ragged of the
        levels above.

    Raises
    ------
    ValueError
        The dtype cannot hold `default`, or its shape does not fit.

    Notes
    -----
    As TensorFlow's `tf.ragged.fill_empty_rows`.

    Examples
    --------
    >>> filled, was_empty = vl.Ragged([3, 1, 4], [2, 0, 1]).fill_empty_rows(-1)
    >>> filled.to_list(), was_empty
    ([[3, 1], [-1], [4]], array([False,  True, False]))
    """
    values, levels = rows_and_levels(X, lengths)
    level = levels[-1]
    empty = level.lengths == 0
    row = row_as(default, values, "default")
    result = backend_of(values).insert_row(values, level.offsets[:-1][empty], row)
    new_level = Level.from_lengths(np.where(empty, 1, level.lengths))
    r = ragged_like(X, result, (*levels[:-1], new_level))
    return r, wrap_units(r, like(empty, values), levels[:-1])
