"""LoDTensors from data and the lengths of their levels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from varlen._core import Level
from varlen.arguments import SMALLEST, as_int, as_list, fits_memory, is_listed, rng_of
from varlen.backends.values import as_values
from varlen.errors import instance_error, value_error
from varlen.levels import check_levels, describe_difference, nested_levels, same_levels
from varlen.lod.tensor import LoDTensor
from varlen.types import Ragged


def create_lod_tensor(data: Any, recursive_seq_lens: Any, place: Any = None) -> LoDTensor[Any]:
    """Make an LoDTensor from data and lengths, like Paddle's `create_lod_tensor`.

    Parameters
    ----------
    data
        Rows laid end to end: an array or a tensor, which is shared, or a Ragged, whose levels are replaced.
        Or nested lists, whose lengths must agree with `recursive_seq_lens`; the rows are then (total, 1).
    recursive_seq_lens
        A list of lengths for each level, outermost first.
    place
        Accepted for compatibility with Paddle, and ignored: the rows stay where they are.

    Returns
    -------
    LoDTensor
        The LoDTensor, of the dtype of the data; int64 or float64 for lists of Python numbers.

    Raises
    ------
    TypeError
        The data are of another kind.
    ValueError
        The lengths do not fit each other, the rows or the lists. For lists the error names the first
        difference.

    Examples
    --------
    >>> vl.lod.create_lod_tensor([[1, 2, 3], [3, 4]], [[3, 2]]).shape
    (2, None, 1)
    """
    name = "recursive_seq_lens"
    if isinstance(data, (list, tuple)):
        levels = nested_levels(recursive_seq_lens, Level.from_lengths, name)
        if not data:
            check_levels(0, levels, name)
            return LoDTensor(Ragged.from_list([[]]).values[:, None], levels=levels)
        lists = Ragged.from_list(data)
        if not same_levels(lists.levels, levels):
            raise value_error(
                name, f"differs from the lengths of data: {describe_difference(lists.levels, levels)}"
            )
        values = lists.values
        return LoDTensor(values[:, None] if values.ndim == 1 else values, levels=levels)
    if isinstance(data, Ragged):
        data = data.values
    elif not hasattr(data, "shape"):
        raise instance_error("data", "an array, lists or a Ragged", data)
    levels = nested_levels(recursive_seq_lens, Level.from_lengths, name)
    check_levels(len(as_values(data, "data")), levels, name)
    return LoDTensor(data, levels=levels)


def create_random_int_lodtensor(
    recursive_seq_lens: Any,
    base_shape: Sequence[int] | int,
    place: Any,
    low: int,
    high: int,
    *,
    seed: int | None = None,
) -> LoDTensor[Any]:
    """Make an LoDTensor of random integers from low to high, both included.

    Parameters
    ----------
    recursive_seq_lens
        A list of lengths for each level, outermost first.
    base_shape
        The shape of one row, an int or several.
    place
        Accepted for compatibility with Paddle, and ignored.
    low, high
        The smallest and the largest possible integer, within int64.
    seed
        The same seed gives the same numbers; None gives new ones each time.

    Returns
    -------
    LoDTensor
        The LoDTensor: int64 rows of shape `base_shape`, as many as the sum of the innermost lengths.

    Raises
    ------
    ValueError
        The levels do not fit each other, a size is below 0, or high is below low.

    Notes
    -----
    Like Paddle's `create_random_int_lodtensor`.

    Examples
    --------
    >>> r = vl.lod.create_random_int_lodtensor([[2, 1]], [4], None, 0, 9, seed=1)
    >>> r.shape, r.dtype
    ((2, None, 4), dtype('int64'))
    """
    levels = nested_levels(recursive_seq_lens, Level.from_lengths, "recursive_seq_lens")
    sizes = [base_shape] if not is_listed(base_shape) else as_list(base_shape, "base_shape", "sizes")
    shape = [as_int(size, "base_shape") for size in sizes]
    minimum, maximum = as_int(low, "low", SMALLEST), as_int(high, "high", SMALLEST)
    if maximum < minimum:
        raise value_error("high", f"expected at least low, which is {minimum}, got {maximum}")
    rows = levels[-1].total
    check_levels(rows, levels, "recursive_seq_lens")
    fits_memory(rows * math.prod(shape), "base_shape")
    values = rng_of(seed, "seed").integers(minimum, maximum, (rows, *shape), np.int64, endpoint=True)
    return LoDTensor(values, levels=levels)
