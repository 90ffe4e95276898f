"""Several containers to one, chosen from by a condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import RaggedBase
from varlen.backends import backend_of
from varlen.backends.numeric import is_bool
from varlen.backends.values import one_device
from varlen.errors import type_error, value_error
from varlen.levels import same_levels
from varlen.ops.combine import concatenate, require_same_nesting
from varlen.ops.support.inputs import as_bools, nested, same_kind
from varlen.ops.support.operands import align

if TYPE_CHECKING:
    from varlen.backends.values import SequencesLike
    from varlen.types import Ragged


def where(condition: Any, x: Any, y: SequencesLike) -> Ragged[Any]:
    """Choose from x where a condition is true, else from y, by value or by whole sequence.

    Parameters
    ----------
    condition
        Bools: a Ragged that nests as x and y or has fewer levels, or an array (n,), one for each sequence.
    x, y
        Ragged, arrays or numbers, as operators take them; at least one of them or the condition is a Ragged.
        If x and y nest differently below the condition, whole sequences are taken from one or the other.

    Returns
    -------
    Ragged
        A new Ragged that nests as the deepest of the three, in the dtype to which NumPy promotes x and y.

    Raises
    ------
    TypeError
        The condition does not hold bools, or none of the three is a Ragged.
    ValueError
        The three nest differently in another way.

    Notes
    -----
    As TensorFlow's `tf.where`.

    Examples
    --------
    >>> a, b = vl.Ragged([3, 1, 4], [2, 1]), vl.Ragged([7, 8, 9], [2, 1])
    >>> vl.where(a > 1, a, 0).to_list(), vl.where([False, True], a, b).to_list()
    ([[3, 0], [4]], [[7, 8], [4]])
    >>> vl.where([False, True], a, vl.Ragged([7], [1, 0])).to_list()
    [[7], [4]]
    """
    is_ragged = isinstance(condition, RaggedBase)
    if not (is_ragged or isinstance(x, RaggedBase) or isinstance(y, RaggedBase)):
        raise type_error("where", "expected a Ragged as condition, x or y")
    rows = x._values if isinstance(x, RaggedBase) else x
    other = y._values if isinstance(y, RaggedBase) else y
    one_device(rows, "x", other, "y")
    bools, nest = (condition._values, condition._levels) if is_ragged else nested(condition, "condition")
    one_device(bools, "condition", rows, "x")
    one_device(bools, "condition", other, "y")
    mask = bools if is_bool(bools) else as_bools(bools, condition, "condition")
    if isinstance(condition, (list, tuple)):
        condition = mask
    if isinstance(x, RaggedBase) and isinstance(y, RaggedBase) and not _fit(x._levels, y._levels):
        pair: Any = (x, y)
        return _sequences(mask, nest, *pair)
    if not is_ragged and mask.ndim == 1:
        _, row_ndim, _ = align((), (x, y))
        condition = mask.reshape(-1, *(1,) * row_ndim)  # one for each sequence, however wide its rows
    model, _, (mask, a, b) = align((condition, x, y))
    result: Ragged[Any] = same_kind(model, backend_of(a, b, mask).where(mask, a, b))
    return result


def _fit(a: Any, b: Any) -> bool:
    """Whether the one nests as the other does, down to the level where either ends."""
    depth = min(len(a), len(b))
    return same_levels(a[:depth], b[:depth])


def _sequences(mask: Any, nest: Any, x: Ragged[Any], y: Ragged[Any]) -> Ragged[Any]:
    """Whole sequences of the level below the condition, whose numbers have to show."""
    mask = as_bools(mask, mask, "condition")
    depth = len(nest)
    parts = [x, y]
    if len(x._levels) != len(y._levels) or depth >= len(x._levels):
        raise value_error(
            "condition", f"has {depth} levels; x and y, which nest differently, have {len(x._levels)}"
        )
    require_same_nesting(
        [x._make(x._values, (*nest, *x._levels[depth:])) if depth else x, *parts], depth, "condition, x and y"
    )
    n = len(x._levels[depth])
    if mask.ndim != 1 or len(mask) != n or len(y._levels[depth]) != n:
        raise value_error(
            "condition", f"has shape {mask.shape} for {n} sequences of x, {len(y._levels[depth])} of y"
        )
    pool = concatenate([part._make(part._values, part._levels[depth:]) for part in parts])
    result: Ragged[Any] = pool[np.arange(n) + np.where(mask, 0, n)]
    return result._make(result._values, (*x._levels[:depth], *result._levels))
