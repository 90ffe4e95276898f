"""The gradients of reductions: one row for each sequence to the rows of the sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level
from varlen.backends.values import as_ints, as_values, is_tensor
from varlen.ops.inputs import as_level

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def backprop_reduce_sum(d_sums: Any, lengths: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_sum`: row i for every row of sequence i, (total, ...) of any dtype.

    Raises
    ------
    ValueError
        As many rows as there are sequences were expected.

    Examples
    --------
    >>> vl.ops.backprop_reduce_sum(np.array([1.0, 2.0]), [2, 1])
    array([1., 1., 2.])
    """
    rows, level = as_values(d_sums, "d_sums"), as_level(lengths)
    if is_tensor(rows):
        return _on_tensors().expand(rows, level, "sum", out)
    return _core.expand(rows, level, out)


def backprop_reduce_mean(d_means: Any, lengths: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_mean`: row i divided by the length of sequence i, for every row of it. Floats.

    Raises
    ------
    TypeError, ValueError
        Other numbers than floats; as many rows as there are sequences were expected.

    Examples
    --------
    >>> vl.ops.backprop_reduce_mean(np.array([1.0, 2.0]), [2, 1])
    array([0.5, 0.5, 2. ])
    """
    rows, level = as_values(d_means, "d_means"), as_level(lengths)
    if is_tensor(rows):
        return _on_tensors().expand(rows, level, "mean", out)
    return _core.expand(_core.divided_by_lengths(rows, level), level, out)


def backprop_reduce_max(d_maxes: Any, which: Any, lengths: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_max`: each number to the row that `which` says, else zeros.

    Parameters
    ----------
    d_maxes
        (n, ...) of any dtype.
    which
        (n, ...) integers: the row inside each sequence; -1 in a sequence without rows, which takes none.
    lengths
        (n,) integers, or a `Level`.

    Raises
    ------
    IndexError
        A row that its sequence does not have; number, row and length are named.
    ValueError
        Shapes that differ, or another number of rows than sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_max(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    return _expanded_which(d_maxes, "d_maxes", which, lengths, out)


def backprop_reduce_min(d_mins: Any, which: Any, lengths: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_min`; otherwise as `backprop_reduce_max`.

    Examples
    --------
    >>> vl.ops.backprop_reduce_min(np.array([1.0, 2.0]), np.array([1, 0]), [2, 1])
    array([0., 1., 2.])
    """
    return _expanded_which(d_mins, "d_mins", which, lengths, out)


def backprop_reduce_first(d_firsts: Any, starts_ends: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_first`: row i for the first row of sequence i, zeros for the others.

    Parameters
    ----------
    d_firsts
        (n, ...) of any dtype.
    starts_ends
        (n + 1,) offsets, as `reduce_first` gives them.

    Raises
    ------
    ValueError
        Offsets that decrease, or another number of rows than sequences.

    Examples
    --------
    >>> vl.ops.backprop_reduce_first(np.array([1.0, 2.0]), [0, 2, 3])
    array([1., 0., 2.])
    """
    return _expanded_end(d_firsts, "d_firsts", Level.from_offsets(as_ints(starts_ends)), False, out)


def backprop_reduce_last(d_lasts: Any, lasts: Any, *, out: Any = None) -> Array:
    """The gradient of `reduce_last`: row i for row lasts[i], zeros for the others.

    Parameters
    ----------
    d_lasts
        (n, ...) of any dtype.
    lasts
        (n,) increasing row numbers, as `reduce_last` gives them; -1 for a sequence without rows.

    Raises
    ------
    ValueError
        Row numbers that do not increase, or another number of them than rows.

    Examples
    --------
    >>> vl.ops.backprop_reduce_last(np.array([1.0, 2.0]), [1, 2])
    array([0., 1., 2.])
    """
    rows = np.asarray(as_ints(lasts))
    level = Level.from_bounds(np.maximum.accumulate(rows) + 1)
    repeated = np.flatnonzero((level.lengths == 0) & (rows != -1))
    if len(repeated):
        i = int(repeated[0])
        raise ValueError(f"lasts: sequence {i} is empty, but its last row is {rows[i]}")
    return _expanded_end(d_lasts, "d_lasts", level, True, out)


def _expanded_which(rows: Any, argument: str, which: Any, lengths: Any, out: Any) -> Any:
    rows, level = as_values(rows, argument), as_level(lengths)
    if is_tensor(rows):
        return _on_tensors().expand_which(rows, level, which, out)
    return _core.expand_which(rows, level, as_values(which, "which"), out)


def _expanded_end(rows: Any, argument: str, level: Level, last: bool, out: Any) -> Any:
    rows = as_values(rows, argument)
    if is_tensor(rows):
        return _on_tensors().expand_end(rows, level, last, out)
    return _core.expand_end(rows, level, last, out)


def _on_tensors() -> Any:
    from varlen.backends.torch import reduce as torch_reduce

    return torch_reduce
