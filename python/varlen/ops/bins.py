"""Numbers counted, sequence by sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import RaggedBase
from varlen.arguments import as_int, fits_memory
from varlen.backends import backend_of
from varlen.backends.values import as_values, like, one_device
from varlen.errors import value_error
from varlen.levels import check_nest
from varlen.ops.reduce import wrap_units
from varlen.ops.support.inputs import units_of, whole_numbers
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen._core import Level
    from varlen.backends.values import ArrayT, Lengths, Rows, RowsT, SequencesLike


@overload
def bincount(
    X: RaggedBase[ArrayT],
    lengths: None = None,
    *,
    minlength: int = 0,
    weights: SequencesLike | None = None,
    level: int = -1,
) -> ArrayT | Any: ...
@overload
def bincount(
    X: RowsT | Sequence[Any],
    lengths: Lengths,
    *,
    minlength: int = 0,
    weights: SequencesLike | None = None,
    level: int = -1,
) -> RowsT: ...
@eager_only()
def bincount(
    X: Any, lengths: Any = None, *, minlength: int = 0, weights: Any = None, level: int = -1
) -> Rows:
    """Count how often each number occurs in each sequence, or add up weights.

    Parameters
    ----------
    X
        (T,) integers from 0 on, an array or a tensor; or a `Ragged`.
    lengths
        The lengths: integers, or a `Level`.
    minlength
        The least number of bins; by default as many as the largest number needs.
    weights
        (T,), one for each row; or a Ragged that nests as X.
    level
        The level whose sequences are processed; levels below it are merged. -1 is the innermost.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The counts: (n, k), for more levels a Ragged of those above; int64, or float64 with weights. For
        tensors the dtype is that of the weights, and autograd follows them. The call waits for a device once,
        to read the smallest and the largest number.

    Raises
    ------
    TypeError
        X does not hold integers; or `lengths` are given with a Ragged, or missing with an array.
    ValueError
        A number is below 0 (the message names it), the weights have another shape, or the lengths do not add
        up to T.

    Examples
    --------
    >>> vl.ops.bincount([1, 1, 2, 0], [3, 1])
    array([[0, 2, 1],
           [1, 0, 0]])
    """
    values, units, outer_levels = units_of(X, lengths, level)
    if isinstance(weights, RaggedBase):
        if isinstance(X, RaggedBase):
            check_nest(weights._levels, X._levels, "weights")
        weights = weights._values
    elif weights is not None:
        weights = as_values(weights, "weights")
    one_device(weights, "weights", values, "X")
    return wrap_units(X, _counts(values, units, minlength, weights), outer_levels)


def _counts(ids: Any, level: Level, minlength: int, weights: Any) -> Any:
    """How often each number is in each sequence, (n, k), or the sums of weights in its stead."""
    if ids.ndim != 1:
        raise value_error("X", f"expected numbers, got rows of shape {tuple(ids.shape[1:])}")
    minimum = as_int(minlength, "minlength")
    if weights is not None and tuple(weights.shape) != (len(ids),):
        raise value_error("weights", f"have shape {tuple(weights.shape)}, expected ({len(ids)},)")
    result = backend_of(ids).counts_there(ids, level, minimum, weights)
    if result is not None:
        return result
    numbers = whole_numbers(ids, "X")
    if numbers.size and numbers.min() < 0:
        k = int((numbers < 0).argmax())
        raise value_error(
            "X",
            f"row {k}, in sequence {level.row_ids[k]}, is {numbers[k]}, expected 0 or more",
            row=k,
            number=int(numbers[k]),
        )
    width = max(minimum, int(numbers.max(initial=-1)) + 1)
    n = len(level)
    size = fits_memory(n * width, "minlength")
    cells = level.row_ids * width + numbers
    if weights is None:
        return like(np.bincount(cells, minlength=size)[:size].reshape(n, width), ids)
    counts = backend_of(weights).bincount(cells, weights, size).reshape(n, width)
    return like(counts, ids) if backend_of(weights) is not backend_of(ids) else counts
