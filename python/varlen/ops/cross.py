"""Each item of a sequence with each of those of the sequences beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

import numpy as np

from varlen._core import Level
from varlen.backends.values import take
from varlen.errors import overflow_error, value_error
from varlen.levels import flatten_levels, resolve_level
from varlen.ops.combine import parts_of, require_same_nesting
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from varlen.backends.values import RaggedT


@eager_only()
def cross(raggeds: Iterable[RaggedT], *, level: int = -1) -> tuple[RaggedT, ...]:
    """Pair every item of a sequence with every item of the matching sequences of the others.

    Parameters
    ----------
    raggeds
        At least one Ragged. All have the same number of levels and sequences, and nest alike above `level`.
        Their rows may differ otherwise.
    level
        The level whose sequences are crossed; levels below it are merged. -1 is the innermost.

    Returns
    -------
    tuple of Ragged
        A Ragged for each input; they share their levels. Row k of all of them is one combination, and the
        last input varies fastest. Columns of keys can then be hashed, joined or looked up together.

    Raises
    ------
    TypeError, ValueError
        There is nothing to cross, or a part does not fit; the message names it.
    IndexError
        There is no such level.
    OverflowError
        There are more combinations than int64 can count.

    Notes
    -----
    As TensorFlow's `tf.ragged.cross`, which joins each combination into a string.

    Examples
    --------
    >>> a, b = vl.cross([vl.Ragged([1, 2, 3], [2, 1]), vl.Ragged([7, 8], [2, 0])])
    >>> a.to_list(), b.to_list()
    ([[1, 1, 2, 2], []], [[7, 8, 7, 8], []])
    """
    parts = parts_of(raggeds, "raggeds")
    depth = resolve_level(level, parts[0]._levels)
    require_same_nesting(parts, depth, "raggeds")
    units = [flatten_levels(part._levels[depth:]) for part in parts]
    for p, unit in enumerate(units):
        if len(unit) != len(units[0]):
            raise value_error("raggeds", f"part {p} has {len(unit)} sequences, the first has {len(units[0])}")
    lengths = np.array([inner.lengths for inner in units])
    if np.prod(lengths.astype(np.float64), axis=0).sum() > 2**62:
        raise overflow_error("raggeds", "their combinations are more than 63 bits can count")
    level_of = Level.from_lengths(np.prod(lengths, axis=0))
    ids, place = level_of.row_ids, level_of.positions
    result = []
    for part, unit in zip(reversed(parts), reversed(units), strict=True):
        place, item = np.divmod(place, unit.lengths[ids])
        rows = take(part._values, unit.offsets[ids] + item)
        result.append(part._make(rows, (*parts[0]._levels[:depth], level_of)))
    return cast("tuple[RaggedT, ...]", tuple(reversed(result)))
