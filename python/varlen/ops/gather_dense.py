"""Some sequences as a rectangle, with its mask and the places of its rows: what a model takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen.arguments import as_bool, as_int, over_limit, overflow_of_multiple
from varlen.backends import arrays, backend_of
from varlen.backends.values import memory_of
from varlen.errors import name_argument
from varlen.ops.support.inputs import rows_and_levels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, DTypes, Lengths, RowsLike, RowsT, SequencesLike


@overload
def gather_dense(
    X: RaggedBase[ArrayT], indices: SequencesLike | None = None, lengths: None = None, *,
    padding_side: str = "right",
    fill: RowsLike | None = None, max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    dtype: DTypes | None = None, pad_to_multiple_of: int = 1, positions: Literal[False] = False,
    max_bytes: int | None = None,
) -> tuple[ArrayT, ArrayT]: ...  # fmt: skip
@overload
def gather_dense(
    X: RaggedBase[ArrayT], indices: SequencesLike | None = None, lengths: None = None, *,
    padding_side: str = "right",
    fill: RowsLike | None = None, max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    dtype: DTypes | None = None, pad_to_multiple_of: int = 1, positions: Literal[True],
    max_bytes: int | None = None,
) -> tuple[ArrayT, ArrayT, ArrayT]: ...  # fmt: skip
@overload
def gather_dense(
    X: RowsT | Sequence[Any], indices: SequencesLike, lengths: Lengths, *, padding_side: str = "right",
    fill: RowsLike | None = None, max_len: int | Sequence[int | None] | None = None, truncate: str = "right",
    dtype: DTypes | None = None, pad_to_multiple_of: int = 1, positions: bool = False,
    max_bytes: int | None = None,
) -> tuple[RowsT, ...]: ...  # fmt: skip
def gather_dense(
    X: Any,
    indices: Any = None,
    lengths: Any = None,
    *,
    padding_side: str = "right",
    fill: RowsLike | None = None,
    max_len: int | Sequence[int | None] | None = None,
    truncate: str = "right",
    dtype: DTypes | None = None,
    pad_to_multiple_of: int = 1,
    positions: bool = False,
    max_bytes: int | None = None,
) -> tuple[Any, ...]:
    """Take sequences and pad them to a rectangle, with its mask and, on request, positions.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor, or a Ragged.
    indices
        The sequences to take, any number of times: integers (negative ones count from the end), a mask or a
        slice; None for all.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    padding_side, fill, max_len, truncate, dtype, pad_to_multiple_of, max_bytes
        As in `to_dense`.
    positions
        If True, also return the position of each row in its sequence, on the innermost axis; 0 in the
        padding.

    Returns
    -------
    tuple
        (block, mask), or (block, mask, positions): (k, width, ...) as `to_dense` gives it, bools and int64
        (k, width), or (k, width, width of the next level, ...).

    Raises
    ------
    IndexError
        An index on the host is out of range.
    ValueError
        As in `to_dense`.

    See Also
    --------
    to_dense, gather, positions

    Notes
    -----
    Equals `to_dense(X[indices], mask=True)` and `to_dense(positions(X[indices]))`, but never makes the rows
    in between. On a device it is one kernel, and one more to change the dtype of the rectangle: a float too
    large for the dtype becomes infinite; integers that may not fit are checked first, which waits. Indices on
    the device are not read by the host: the block is as wide as the longest of all sequences, or as
    `max_len`, and an index out of range gives a row of fill, under autograd and in a graph too. If lengths
    lie only on the device, the block is as wide as their `max_len`, for any indices.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    >>> block, mask, positions = vl.ops.gather_dense(r, [2, 0], fill=-1, positions=True)
    >>> block
    array([[ 1,  5, -1],
           [ 3,  1,  4]])
    >>> positions
    array([[0, 1, 0],
           [0, 1, 2]])
    """
    values, levels = rows_and_levels(X, lengths)
    as_bool(positions, "positions")
    multiple = as_int(pad_to_multiple_of, "pad_to_multiple_of", 1)
    how = (padding_side, fill, max_len, truncate, dtype, multiple, max_bytes)
    try:
        backend = backend_of(values)
        if hasattr(indices, "dtype") and backend is arrays:
            indices = memory_of(indices)
        result: tuple[Any, ...] = backend.gather_dense(values, levels, indices, positions, *how)
    except OverflowError as error:
        raise overflow_of_multiple(error) from None
    except (TypeError, ValueError, IndexError) as error:
        raise over_limit(name_argument(error, index="indices")) from None
    return result
