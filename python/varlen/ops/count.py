"""Neighbours compared, numbers counted and looked up, sequence by sequence."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, fits_memory
from varlen.backends.values import apply_rows, as_values, is_tensor, like
from varlen.ops.inputs import rows_and_level, whole_numbers
from varlen.ops.outputs import new_ragged

if TYPE_CHECKING:
    from numpy.typing import NDArray


def diff(X: Any, lengths: Any = None, *, n: int = 1) -> Any:
    """Each row less the one before it in its sequence, n times over; a sequence loses n rows, or all.

    Parameters
    ----------
    X
        (T, ...), an array or a tensor of numbers, bools or dates; or a `Ragged`, whose innermost sequences
        are taken.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    n
        How often, 0 or more.

    Returns
    -------
    Ragged
        As many levels as X has; the dtype is that of a difference. Watched by autograd.

    Raises
    ------
    TypeError
        `lengths` beside a Ragged, or none beside an array.
    ValueError
        n is below 0; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.diff([3, 1, 4, 1, 5], [3, 0, 2]).to_list()
    [[-2, 3], [], [4]]
    """
    values, level = rows_and_level(X, lengths)
    result, kept = differences(values, level, as_int(n, "n"))
    return new_ragged(result, (*(X._levels[:-1] if isinstance(X, RaggedBase) else ()), kept))


def bincount(X: Any, lengths: Any = None, *, minlength: int = 0, weights: Any = None) -> Any:
    """How often each number from 0 on is in each sequence, or the sum of its weights.

    Parameters
    ----------
    X
        (T,) integers from 0 on, an array or a tensor; or a `Ragged`, whose innermost sequences are taken.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    minlength
        At least so many numbers are counted; else as many as the largest needs.
    weights
        (T,), one for each row.

    Returns
    -------
    (n, k): int64, or with weights float64; of tensors, the dtype of the weights.

    Raises
    ------
    TypeError
        X is no integers; `lengths` beside a Ragged, or none beside an array.
    ValueError
        A number below 0, which is named; weights of another shape; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.bincount([1, 1, 2, 0], [3, 1])
    array([[0, 2, 1],
           [1, 0, 0]])
    """
    values, level = rows_and_level(X, lengths)
    given = weights._values if isinstance(weights, RaggedBase) else weights
    return counted(values, level, minlength, None if given is None else as_values(given, "weights"))


def searchsorted(X: Any, queries: Any, lengths: Any = None, *, side: str = "left") -> Any:
    """Where numbers go in the sequence of their number, which ascends, so that it still does.

    Parameters
    ----------
    X
        (T,) numbers that ascend in each sequence, NaN last; an array or a tensor, or a `Ragged`.
    queries
        A `Ragged` with as many sequences, or an array (n, ...), a row for each.
    lengths
        How many rows each sequence has: integers, or a `Level`.
    side
        "left" before equal numbers, "right" behind them.

    Returns
    -------
    As `queries`: places inside the sequences, int64.

    Raises
    ------
    TypeError
        `lengths` beside a Ragged, or none beside an array.
    ValueError
        Another side; queries for another number of sequences; lengths that do not add up to T.

    Examples
    --------
    >>> vl.ops.searchsorted([1, 3, 5, 2], [4, 3], [3, 1])
    array([2, 1])
    """
    if isinstance(X, RaggedBase) and lengths is None:
        container: Any = X
        return container.searchsorted(queries, side)
    values, level = rows_and_level(X, lengths)
    return new_ragged(values, (level,)).searchsorted(queries, side)


AFTER, BEFORE = slice(1, None), slice(None, -1)


def differences(values: Any, level: Level, n: int = 1) -> tuple[Any, Level]:
    """Each row less the one before it in its sequence, n times over, and their level.

    Examples
    --------
    >>> differences(np.array([3, 1, 4]), Level([2, 1]))
    (array([-2]), Level(2 sequences, 1 rows, lengths 0 to 1))
    """
    for _ in range(min(n, max(level.longest, 1))):  # once at least, for the dtype
        if is_tensor(values):
            (later, level), (sooner, _) = (_window(values, level, part) for part in (AFTER, BEFORE))
            values = _less(later, sooner)
            continue
        subtract: Any = np.not_equal if values.dtype == np.bool_ else np.subtract
        result = np.empty(values.shape, subtract(values[:0], values[:0]).dtype)
        with np.errstate(all="ignore"):  # across borders too, which are then left out
            subtract(values[1:], values[:-1], out=result[:-1])
        values, (level,) = _core.gather_window(result, (level,), BEFORE)
    return values, level


def _less(a: Any, b: Any) -> Any:
    """`a - b` of tensors of any dtype that has differences in NumPy."""
    kind = str(a.dtype).removeprefix("torch.")
    if kind == "bool":
        return a != b
    if kind in ("uint16", "uint32", "uint64"):  # torch subtracts their bits as signed ones alone
        signed = getattr(sys.modules["torch"], kind[1:])
        return (a.view(signed) - b.view(signed)).view(a.dtype)
    return a - b


def _window(values: Any, level: Level, part: slice) -> tuple[Any, Level]:
    """Part of each sequence of a tensor."""
    rows, (kept,) = apply_rows(values, lambda rows: _core.gather_window(rows, (level,), part))
    return rows, kept


def counted(ids: Any, level: Level, minlength: int = 0, weights: Any = None) -> Any:
    """How often each number is in each sequence, (n, k), or the sums of weights in its stead.

    Examples
    --------
    >>> counted(np.array([1, 1, 0]), Level([2, 1]))
    array([[0, 2],
           [1, 0]])
    """
    if ids.ndim != 1:
        raise ValueError(f"values: expected numbers, got rows of shape {tuple(ids.shape[1:])}")
    numbers = whole_numbers(ids, "values")
    if numbers.size and numbers.min() < 0:
        k = int((numbers < 0).argmax())
        raise ValueError(
            f"values: row {k}, in sequence {level.row_ids[k]}, is {numbers[k]}, which is below 0"
        )
    width = max(as_int(minlength, "minlength"), int(numbers.max(initial=-1)) + 1)
    n = len(level)
    size = fits_memory(n * width, "minlength")
    cells = level.row_ids * width + numbers
    if weights is None:
        return like(np.bincount(cells, minlength=size)[:size].reshape(n, width), ids)
    if len(weights) != len(ids) or weights.ndim != 1:
        raise ValueError(f"weights: have shape {tuple(weights.shape)}, expected ({len(ids)},)")
    if is_tensor(weights):
        zeros, places = weights.new_zeros(size), (like(cells, weights),)
        return zeros.index_put(places, weights, accumulate=True).reshape(n, width)
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"weights: expected numbers, got {weights.dtype}")
    return like(np.bincount(cells, weights, minlength=size)[:size].reshape(n, width), ids)


def found_in(values: Any, level: Level, queries: Any, owners: NDArray[np.int64], side: str) -> Any:
    """The place inside its sequence, which ascends, before which each query goes: int64.

    Examples
    --------
    >>> found_in(np.array([3, 5, 4]), Level([2, 1]), np.array([4, 4]), np.array([0, 1]), "left")
    array([1, 0])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side: expected 'left' or 'right', got {side!r}")
    rows, asked = _numbers(values), _numbers(queries)
    if rows.ndim != 1 or asked.ndim != 1:
        raise ValueError("values: expected numbers to search in, and numbers to search for")
    begin = level.offsets[owners]
    low, high = begin.copy(), level.offsets[owners + 1]
    for _ in range(int(level.longest).bit_length()):
        middle = (low + high) >> 1
        there = rows[np.minimum(middle, len(rows) - 1)]
        behind = _before(there, asked) if side == "left" else ~_before(asked, there)
        behind &= low < high
        low, high = np.where(behind, middle + 1, low), np.where(behind, high, middle)
    return like(low - begin, values)


def _numbers(values: Any) -> Any:
    if not is_tensor(values):
        return values
    from varlen.backends.torch.autograd import as_numbers

    return as_numbers(values.detach().cpu())


def _before(a: Any, b: Any) -> Any:
    """Whether a comes before b, in the order of sorting: NaN last."""
    return (a < b) | ((b != b) & (a == a))
