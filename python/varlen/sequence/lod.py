"""Sequences made from data and the lengths of its levels, and the levels of data replaced or added to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen._core import Level
from varlen.arguments import as_int, as_list, fits_memory
from varlen.backends.values import as_values, is_tensor
from varlen.levels import check_levels, describe_difference, each_level, nested_levels, same_levels
from varlen.types import Ragged

if TYPE_CHECKING:
    from varlen.levels import Levels


def create_lod_tensor(data: Any, recursive_seq_lens: Any, place: Any = None) -> Ragged:
    """Data under levels, as Paddle's `create_lod_tensor`.

    Parameters
    ----------
    data
        Rows laid end to end: an array or a tensor, which is shared, or a Ragged, whose levels are replaced.
        Or nested lists, whose lengths have to be those that are said; a row is one number then, (total, 1).
    recursive_seq_lens
        A list of lengths for each level, outermost first.
    place
        Not looked at: the rows are where they are.

    Raises
    ------
    TypeError
        Data of another kind.
    ValueError
        Lengths that do not fit each other, the rows, or the lists, where the first that differs is named.

    Examples
    --------
    >>> vl.sequence.create_lod_tensor([[1, 2, 3], [3, 4]], [[3, 2]]).shape
    (2, None, 1)
    """
    name = "recursive_seq_lens"
    if isinstance(data, (list, tuple)):
        levels = nested_levels(recursive_seq_lens, Level.from_lengths, name)
        if not data:
            check_levels(0, levels, name)
            return Ragged(Ragged.from_list([[]]).values[:, None], levels=levels)
        lists = Ragged.from_list(data)
        if not same_levels(lists.levels, levels):
            raise ValueError(f"{name}: data nests otherwise: {describe_difference(lists.levels, levels)}")
        values = lists.values
        return Ragged(values[:, None] if values.ndim == 1 else values, levels=levels)
    if isinstance(data, Ragged):
        data = data.values
    elif not (isinstance(data, np.ndarray) or is_tensor(data)):
        raise TypeError(f"data: expected an array, lists or a Ragged, got {type(data).__name__}")
    levels = nested_levels(recursive_seq_lens, Level.from_lengths, name)
    check_levels(len(as_values(data, "data")), levels, name)
    return Ragged(data, levels=levels)


def create_random_int_lodtensor(
    recursive_seq_lens: Any,
    base_shape: Sequence[int] | int,
    place: Any,
    low: int,
    high: int,
    *,
    seed: int | None = None,
) -> Ragged:
    """Random integers from low to high, both among them, under levels; as Paddle's.

    Parameters
    ----------
    recursive_seq_lens
        A list of lengths for each level, outermost first.
    base_shape
        Of one row.
    place
        Not looked at.
    seed
        The same numbers for the same seed; others each time for None.

    Raises
    ------
    ValueError
        Levels that do not fit each other, sizes below 0, or a high below low.

    Examples
    --------
    >>> r = vl.sequence.create_random_int_lodtensor([[2, 1]], [4], None, 0, 9, seed=1)
    >>> r.shape, r.dtype
    ((2, None, 4), dtype('int64'))
    """
    levels = nested_levels(recursive_seq_lens, Level.from_lengths, "recursive_seq_lens")
    sizes = [base_shape] if np.ndim(base_shape) == 0 else as_list(base_shape, "base_shape", "sizes")
    shape = [as_int(size, "base_shape") for size in sizes]
    least, most = as_int(low, "low", -(2**63)), as_int(high, "high", -(2**63))
    if most < least:
        raise ValueError(f"high: expected at least low, which is {least}, got {most}")
    rows = levels[-1].total
    check_levels(rows, levels, "recursive_seq_lens")
    fits_memory(rows * math.prod(shape), "base_shape")
    values = np.random.default_rng(seed).integers(least, most, (rows, *shape), np.int64, endpoint=True)
    return Ragged(values, levels=levels)


def lod_reset(x: Any, y: Any = None, target_lod: Any = None) -> Ragged:
    """The same rows under other levels, as Paddle's `lod_reset`. Rows are shared, and so is their gradient.

    Parameters
    ----------
    x
        Rows, or a Ragged, whose levels are all replaced.
    y
        A Ragged, whose levels are taken, all of them and shared; or integers, read as `target_lod`, before
        which it goes.
    target_lod
        A `Level`, or integers for one: lengths, as Paddle's documentation has them, or offsets, as its op
        takes them, whichever fits the rows; or a list of either for several levels.

    Raises
    ------
    ValueError
        Neither of y and target_lod; what fits neither as lengths nor as offsets, or as both ([0, 0, 5] over
        5 rows), where only a `Level` says which.

    Examples
    --------
    >>> x = vl.Ragged(np.arange(10), [3, 2, 5])
    >>> lod_reset(x, target_lod=[7, 3]).lengths, lod_reset(x, target_lod=[0, 7, 10]).lengths
    (array([7, 3], dtype=int32), array([7, 3], dtype=int32))
    """
    values = _rows(x)
    if isinstance(y, Ragged):
        check_levels(len(values), y.levels, "y")
        return y._make(values, y.levels)
    if y is None and target_lod is None:
        raise ValueError("y, target_lod: give one of them, the levels that the rows get")
    given, argument = (target_lod, "target_lod") if y is None else (y, "y")
    return Ragged._make(values, _read(given, len(values), argument))


def lod_append(x: Any, level: Any, *, empty: str | None = None) -> Ragged:
    """The rows of each innermost sequence in sequences of their own, as Paddle's `lod_append`.

    Parameters
    ----------
    x
        A Ragged, which gets one more level, or rows, which get their first.
    level
        How the rows are cut, as `target_lod` of `lod_reset`. The innermost sequences of x now count the new
        ones, and are as many rows as before.
    empty
        Where a new sequence without rows lies between two of x: "before" or "after", the one that holds it.

    Raises
    ------
    ValueError
        A new sequence that lies in two of x, or that is empty and lies between two; what `lod_reset` refuses.

    Examples
    --------
    >>> x = vl.Ragged(np.arange(6), [2, 3, 1])
    >>> lod_append(x, [1, 1, 2, 1, 1]).recursive_sequence_lengths()
    [[2, 2, 1], [1, 1, 2, 1, 1]]
    """
    values = _rows(x)
    if isinstance(level, Ragged):
        raise TypeError(
            "level: expected lengths, offsets or a Level, got a Ragged; lod_reset takes its levels"
        )
    levels = _read(level, len(values), "level")
    if len(levels) != 1:
        raise ValueError(f"level: expected one level, got {len(levels)}")
    if not isinstance(x, Ragged):
        return Ragged._make(values, levels)
    try:
        return x.add_level(levels[0], -1, empty=empty)
    except ValueError as error:
        raise ValueError(str(error).replace("lengths:", "level:", 1)) from None


def _rows(x: Any) -> Any:
    return x.values if isinstance(x, Ragged) else as_values(x, "x")


def _read(given: Any, rows: int, argument: str) -> Levels:
    """Levels from lengths or from offsets, whichever fits so many rows."""
    fits, reasons = [], []
    for make in (Level.from_lengths, Level.from_offsets):
        try:
            levels = each_level(_flat(given), make, argument)
            check_levels(rows, levels, argument)
        except ValueError as error:
            reasons.append(str(error).partition(": ")[2])
        else:
            fits.append(levels)
    if len(fits) == 2 and fits[0] != fits[1]:
        raise ValueError(
            f"{argument}: fits {rows} rows as lengths, and as offsets too; a Level says which it is"
        )
    if not fits and reasons[0] == reasons[1]:
        raise ValueError(f"{argument}: {reasons[0]}")
    if not fits:
        raise ValueError(f"{argument}: as lengths: {reasons[0]}; as offsets: {reasons[1]}")
    return fits[0]


def _flat(given: Any) -> Any:
    """One level's integers of any shape with one axis longer than 1, as data may come; levels as they are."""
    if isinstance(given, (list, tuple, Level)):
        return given
    return given.reshape(-1) if getattr(given, "ndim", 1) == 2 and 1 in given.shape else given
