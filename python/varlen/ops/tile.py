"""What lies along each axis, several times over."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import Level
from varlen.arguments import as_int, as_list, fits_memory
from varlen.backends import backend_of
from varlen.errors import value_error
from varlen.ops.support.inputs import rows_and_levels
from varlen.ops.support.outputs import ragged_like
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, RaggedT, Rows, RowsT, SequencesLike
    from varlen.types import Ragged


@overload
def tile(X: RaggedT, multiples: SequencesLike, lengths: None = None) -> RaggedT: ...
@overload
def tile(X: RowsT | Sequence[Any], multiples: SequencesLike, lengths: Lengths) -> Ragged[RowsT]: ...
@eager_only()
def tile(X: Any, multiples: SequencesLike, lengths: Any = None) -> Rows:
    """Repeat the contents of each axis end to end.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.
    multiples
        The number of repeats for each axis, 0 or more.

    Raises
    ------
    ValueError
        The numbers do not match the axes, or one is below 0.

    Notes
    -----
    As TensorFlow's `tf.tile`.

    Examples
    --------
    >>> vl.Ragged([3, 1, 4], [2, 1]).tile([1, 2]).to_list()
    [[3, 1, 3, 1], [4, 4]]
    >>> vl.Ragged([3, 1, 4], [2, 1]).tile([2, 1]).to_list()
    [[3, 1], [4], [3, 1], [4]]
    """
    values, levels = rows_and_levels(X, lengths)
    depth, ndim = len(levels), len(levels) + values.ndim
    times = [as_int(m, "multiples") for m in as_list(multiples, "multiples", "numbers, one an axis")]
    if len(times) != ndim:
        raise value_error("multiples", f"{len(times)} numbers for {ndim} axes")
    fits_memory(max(levels[-1].total, len(levels[0])) * math.prod(times), "multiples")
    backend = backend_of(values)
    if any(m != 1 for m in times[depth + 1 :]):
        values = backend.tile(values, (1, *times[depth + 1 :]))
    for place in reversed(range(depth)):
        if times[place + 1] != 1:  # the content of each sequence of the level
            n, copies = len(levels[place]), times[place + 1]
            values, (inner, *inner_levels) = backend.gather(
                values, levels[place:], np.repeat(np.arange(n), copies)
            )
            outer = Level.from_offsets(inner.offsets[np.arange(n + 1) * copies])
            levels = (*levels[:place], outer, *inner_levels)
    if times[0] != 1:
        values, levels = backend.gather(values, levels, np.tile(np.arange(len(levels[0])), times[0]))
    return ragged_like(X, values, levels)
