"""Lookups: several rows of a table to one row each, and what is added to the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import as_int, check_output
from varlen.backends import backend_of
from varlen.backends.values import as_values
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import ArrayLike

    from varlen.backends.values import Output, Rows, RowsT, SequencesLike
    from varlen.types import Ragged

    Array: TypeAlias = np.ndarray | torch.Tensor


@overload
def gather_add(
    table: RowsT | Sequence[Any], indices: RaggedBase[Any], *, out: Output | None = None
) -> Ragged[RowsT]: ...
@overload
def gather_add(
    table: RowsT | Sequence[Any], indices: ArrayLike | torch.Tensor, *, out: Output | None = None
) -> RowsT: ...
def gather_add(table: SequencesLike, indices: SequencesLike, *, out: Output | None = None) -> Rows:
    """Add up the table rows that each row of indices selects.

    Parameters
    ----------
    table
        (V, ...) numbers or bools, an array or a tensor.
    indices
        (T, K) integers of any dtype, from 0 to V - 1; or a `Ragged` of such rows.
    out
        C-contiguous, of the result's shape and dtype: filled and returned.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The sums: (T, ...) of the dtype of the table, zeros if K is 0; a Ragged for Ragged indices. They are
        added from the first index to the last, float16 and bfloat16 in float32 and rounded once; on a device
        in a fixed order of its own. Integers wrap; bools are combined by "or".

    Raises
    ------
    IndexError
        An index is below 0 or no row of the table; the message names its position.
    TypeError
        The table has another dtype, or the indices are not integers.
    ValueError
        The indices do not have two dimensions, or `out` has another shape.

    See Also
    --------
    backprop_gather_add : the gradient.

    Notes
    -----
    As Thinc's `Ops.gather_add`, which reads other memory for the index V and for indices below 0.

    Examples
    --------
    >>> table = np.array([[0, 1], [2, 3], [4, 5], [6, 7]])
    >>> vl.ops.gather_add(table, [[0, 1], [3, 3]])
    array([[ 2,  4],
           [12, 14]])
    """
    if out is not None:
        check_output(out, table, indices)
    values = as_values(table, "table")
    places, ragged = _indices(indices)
    result = backend_of(values).gather_add(values, places, out)
    return result if ragged is None else ragged._make(result, ragged._levels)


def backprop_gather_add(
    dY: RowsT | Sequence[Any], indices: SequencesLike, rows: int, *, out: Output | None = None
) -> RowsT:
    """The gradient of `gather_add`: each row of the table sums the rows of dY that selected it.

    Parameters
    ----------
    dY
        (T, ...) numbers, the gradient of the result of `gather_add`: an array, a tensor, or a `Ragged`.
    indices
        The indices of `gather_add`.
    rows
        The number of rows of the table, V.
    out
        C-contiguous, of the result's shape and dtype: filled and returned.

    Returns
    -------
    numpy.ndarray or torch.Tensor
        The sums: (V, ...) of the dtype of dY. They are added in the order of the rows of dY, for any number
        of threads, float16 and bfloat16 in float32 and rounded once. Integers wrap; bools are combined by
        "or".

    Raises
    ------
    IndexError
        An index is no row of the table; the message names its position.
    TypeError, ValueError
        As in `gather_add`; or `dY` has another number of rows than the indices.

    Notes
    -----
    Thinc adds column after column of the indices with `Ops.scatter_add`.

    Examples
    --------
    >>> vl.ops.backprop_gather_add(np.array([1.0, 10.0]), [[0, 1], [3, 3]], 4)
    array([ 1.,  1.,  0., 20.])
    """
    if out is not None:
        check_output(out, dY, indices)
    values = as_values(dY._values if isinstance(dY, RaggedBase) else dY, "dY")
    places, _ = _indices(indices)
    result: RowsT = backend_of(values).backprop_gather_add(values, places, as_int(rows, "rows"), out)
    return result


@eager_only()
def scatter_add(table: SequencesLike, indices: SequencesLike, values: SequencesLike) -> None:
    """Add each row of values to the table row at its index, in place.

    Parameters
    ----------
    table
        (V, ...) numbers, C-contiguous and writable: an array, or a tensor that autograd does not watch.
    indices
        Integers of any dtype and shape, from 0 to V - 1. A row may be named any number of times.
    values
        (*shape of indices, ...), of the dtype of the table.

    Raises
    ------
    IndexError
        An index is below 0 or no row of the table; the message names its position.
    TypeError
        The values have another dtype, or the indices are not integers.
    ValueError
        The values have another shape; or the table is read-only, not contiguous, or shares memory with the
        values.

    Notes
    -----
    As Thinc's `Ops.scatter_add`, which skips int32 indices below 0, and counts int64 ones from the end. Rows
    are added in their order, for any number of threads; float16 and bfloat16 in float32, rounded once. If an
    error is raised, the table is unchanged.

    Examples
    --------
    >>> table = np.zeros(3)
    >>> vl.ops.scatter_add(table, [0, 2, 0], np.array([1.0, 5.0, 2.0]))
    >>> table
    array([3., 0., 5.])
    """
    check_output(table, indices, values, argument="table")
    backend_of(table).scatter_add(table, _integers(indices), values)


def _indices(indices: SequencesLike) -> tuple[Any, RaggedBase[Any] | None]:
    """Rows of indices, and the Ragged that they came in."""
    if isinstance(indices, RaggedBase):
        return indices._values, indices
    return _integers(indices), None


def _integers(indices: SequencesLike) -> Any:
    """Indices as they are, or what NumPy reads; an empty list holds integers too."""
    if hasattr(indices, "dtype"):
        return as_values(indices, "indices")
    result: Any = as_values(indices, "indices")
    return result if np.size(result) else result.astype(np.int64)
