"""Several containers side by side: chosen from by a condition, or each item with each of the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varlen._core import Level
from varlen.backends.values import as_ints, is_tensor, like, take
from varlen.levels import flatten_levels, resolve_level, same_levels
from varlen.ops.inputs import as_bools, nested
from varlen.types.arithmetic import model_of, operand
from varlen.types.combine import alike, concatenate, parts_of
from varlen.types.ragged import Ragged


def where(condition: Any, x: Any, y: Any) -> Ragged:
    """Of x where a condition is true, of y where it is not: value by value, or whole sequences.

    Parameters
    ----------
    condition
        Bools: a Ragged that nests as x and y or has fewer levels, or an array (n,), one for each sequence.
    x, y
        Raggeds, one of them or the condition at least; arrays and numbers as operators take them. Where x and
        y nest differently below the condition, whole sequences are taken from the one or the other.

    Raises
    ------
    TypeError
        A condition that is not bools, or no Ragged at all.
    ValueError
        What nests differently otherwise.

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
    raggeds = [each for each in (condition, x, y) if isinstance(each, Ragged)]
    if not raggeds:
        raise TypeError("where: expected a Ragged among condition, x and y")
    given, nest = nested(condition, "condition")
    there = as_bools(given, condition, "condition")
    if isinstance(condition, (list, tuple)):
        condition = there
    if isinstance(x, Ragged) and isinstance(y, Ragged) and not _fit(x.levels, y.levels):
        return _sequences(there, nest, x, y)
    model, room = model_of((condition, x, y))
    mask, a, b = (operand(each, model, room) for each in (condition, x, y))
    return model._make(_chosen(mask, a, b), model.levels)


def _chosen(there: Any, a: Any, b: Any) -> Any:
    """`np.where` of arrays, tensors and numbers."""
    tensor = next((each for each in (a, b, there) if is_tensor(each)), None)
    if tensor is None:
        return np.where(there, _held(a, b, "x"), _held(b, a, "y"))
    there, a, b = (like(x, tensor) if isinstance(x, np.ndarray) and x.ndim else x for x in (there, a, b))
    if is_tensor(a):
        return a.where(there, b)
    return b.where(~there, a) if is_tensor(b) else like(np.where(as_ints(there), a, b), tensor)


def _held(x: Any, other: Any, argument: str) -> Any:
    """An int beside an array as a number of the array's dtype, which has to hold it."""
    if type(x) is not int or not isinstance(other, np.ndarray):
        return x
    try:
        return np.asarray(x, np.result_type(other, x))
    except OverflowError:
        raise OverflowError(f"{argument}: {x} does not fit {other.dtype}") from None


def _fit(a: Any, b: Any) -> bool:
    """Whether the one nests as the other does, down to the level where either ends."""
    depth = min(len(a), len(b))
    return same_levels(a[:depth], b[:depth])


def _sequences(there: Any, nest: Any, x: Ragged, y: Ragged) -> Ragged:
    """Whole sequences of the level below the condition."""
    depth = len(nest)
    parts = [x, y]
    if len(x.levels) != len(y.levels) or depth >= len(x.levels):
        raise ValueError(
            f"condition: has {depth} levels; x and y, which nest differently, have {len(x.levels)}"
        )
    alike(
        [x._make(x.values, (*nest, *x.levels[depth:])) if depth else x, *parts], depth, "condition, x and y"
    )
    n = len(x.levels[depth])
    if there.ndim != 1 or len(there) != n or len(y.levels[depth]) != n:
        raise ValueError(
            f"condition: has shape {there.shape} for {n} sequences of x, {len(y.levels[depth])} of y"
        )
    both = concatenate([part._make(part.values, part.levels[depth:]) for part in parts])
    picked: Ragged = both[np.arange(n) + np.where(there, 0, n)]
    return picked._make(picked.values, (*x.levels[:depth], *picked.levels))


def cross(raggeds: Iterable[Ragged], level: int = -1) -> tuple[Ragged, ...]:
    """Every item of a sequence with every item of the sequences of its number in the others.

    Parameters
    ----------
    raggeds
        At least one, with as many levels and sequences; alike above `level`. Rows may differ in all else.
    level
        Whose sequences are crossed: rows together with all that nests below it; -1 is the innermost.

    Returns
    -------
    tuple of Ragged
        One for each that was given, which share their levels: row k of all of them is a combination. The
        last runs fastest. Columns of keys can then be hashed, joined or looked up together.

    Raises
    ------
    TypeError, ValueError
        Nothing to cross, or parts that do not fit; the part is named.
    IndexError
        There is no such level.
    OverflowError
        More combinations than int64 counts.

    Notes
    -----
    As TensorFlow's `tf.ragged.cross`, which joins the combinations to strings.

    Examples
    --------
    >>> a, b = vl.cross([vl.Ragged([1, 2, 3], [2, 1]), vl.Ragged([7, 8], [2, 0])])
    >>> a.to_list(), b.to_list()
    ([[1, 1, 2, 2], []], [[7, 8, 7, 8], []])
    """
    parts = parts_of(raggeds, "raggeds")
    at = resolve_level(level, parts[0].levels)
    alike(parts, at, "raggeds")
    over = [flatten_levels(part.levels[at:]) for part in parts]
    for p, each in enumerate(over):
        if len(each) != len(over[0]):
            raise ValueError(f"raggeds: part {p} has {len(each)} sequences, the first has {len(over[0])}")
    lengths = np.array([each.lengths for each in over])
    if np.prod(lengths.astype(np.float64), axis=0).sum() > 2**62:
        raise OverflowError("raggeds: the combinations do not fit 63 bits")
    level_of = Level.from_lengths(np.prod(lengths, axis=0))
    ids, place = level_of.row_ids, level_of.positions
    result = []
    for part, each in zip(reversed(parts), reversed(over), strict=True):
        place, item = np.divmod(place, each.lengths[ids])
        rows = take(part.values, each.offsets[ids] + item)
        result.append(part._make(rows, (*parts[0].levels[:at], level_of)))
    return tuple(reversed(result))
