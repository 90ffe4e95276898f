"""Rows of any dtype that change places inside their sequence: reversed, shifted, rolled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, RaggedBase
from varlen.arguments import as_array, check_output, is_zero
from varlen.backends import arrays, backend_of
from varlen.errors import name_argument, value_error
from varlen.levels import resolve_level
from varlen.ops.support.inputs import regroup, rows_and_levels
from varlen.tracing import eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from varlen.backends.values import Lengths, Output, SameT, SequencesLike
    from varlen.levels import Levels


def reverse(
    X: SameT | Sequence[Any], lengths: Lengths | None = None, *, level: int = -1, out: Any = None
) -> SameT:
    """Reverse the rows of each sequence.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, an array or a tensor, or a `Ragged`.
    lengths
        (n,) integers, or a `Level`; omit it with a Ragged.
    level
        The level whose contents move: rows for the innermost (-1), else whole sequences of the level below.
    out
        (total, ...) of the dtype of X, C-contiguous, not overlapping X: filled and returned. For the
        innermost level only.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        The array holds Python objects, or lengths are negative or do not add up to the rows.

    Notes
    -----
    As Paddle's `sequence_reverse`, but for any dtype, and without rows too.

    Examples
    --------
    >>> vl.ops.reverse([3, 1, 4, 1, 5], [3, 2])
    array([4, 1, 3, 5, 1])
    """
    result: SameT = _move("reverse", X, lengths, level, out)
    return result


def shift(
    X: SameT | Sequence[Any],
    lengths: Lengths | None = None,
    *,
    by: Any,
    level: int = -1,
    fill: Any = 0,
    out: Any = None,
) -> SameT:
    """Shift the rows of each sequence by `by` places. Rows that leave it are lost.

    Parameters
    ----------
    X, lengths, level, out
        As in `reverse`.
    by
        The number of places: an int, or (n,) integers, one for each sequence. A positive number shifts
        towards the end. It may exceed the length.
    fill
        The value where no row arrives: a number, or a row. 0 stands for zero bytes. Above the innermost
        level, empty sequences arrive.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        As in `reverse`; or `by` is not an integer, or not one for each sequence; or the dtype cannot hold
        `fill`.
    OverflowError
        `by` exceeds 64 bits.

    Examples
    --------
    >>> vl.ops.shift([3, 1, 4, 1, 5], [3, 2], by=1)
    array([0, 3, 1, 0, 1])
    >>> vl.ops.shift([3, 1, 4, 1, 5], [3, 2], by=[-2, 0], fill=9)
    array([4, 9, 9, 1, 5])
    """
    result: SameT = _move("shift", X, lengths, level, out, by, fill)
    return result


def roll(
    X: SameT | Sequence[Any], lengths: Lengths | None = None, *, by: Any, level: int = -1, out: Any = None
) -> SameT:
    """Shift the rows of each sequence by `by` places; rows that leave re-enter at the other end.

    Parameters
    ----------
    X, lengths
        As in `reverse`.
    by
        As in `shift`.
    level, out
        As in `reverse`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of X, a Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As `shift`.

    Notes
    -----
    `np.roll` of each sequence.

    Examples
    --------
    >>> vl.ops.roll([3, 1, 4, 1, 5], [3, 2], by=1)
    array([4, 3, 1, 5, 1])
    """
    result: SameT = _move("roll", X, lengths, level, out, by)
    return result


def backprop_reverse(
    dY: SameT | Sequence[Any], lengths: Lengths | None = None, *, level: int = -1, out: Output | None = None
) -> SameT:
    """The gradient of `reverse`: the reversed gradient.

    Parameters
    ----------
    dY
        (total, ...), the gradient of the result of `reverse`: an array, a tensor or a `Ragged`.
    lengths, level
        The arguments of `reverse`.
    out
        (total, ...) of the dtype of dY, C-contiguous, not overlapping dY: filled and returned. For the
        innermost level only.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of dY. A Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError
        As in `reverse`.

    Examples
    --------
    >>> vl.ops.backprop_reverse(np.array([1.0, 2.0, 4.0]), [2, 1])
    array([2., 1., 4.])
    """
    try:
        result: SameT = reverse(dY, lengths, level=level, out=out)
    except Exception as error:
        raise name_argument(error, X="dY") from None
    return result


def backprop_shift(
    dY: SameT | Sequence[Any], lengths: Lengths | None = None, *, by: Any, level: int = -1, out: Any = None
) -> SameT:
    """The gradient of `shift`: rows move back by `by` places, and zeros follow.

    Parameters
    ----------
    dY
        (total, ...), the gradient of the result of `shift`: an array, a tensor or a `Ragged`.
    lengths, by, level
        The arguments of `shift`.
    out
        (total, ...) of the dtype of dY, C-contiguous, not overlapping dY: filled and returned. For the
        innermost level only.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of dY. A Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As in `shift`.

    Examples
    --------
    >>> vl.ops.backprop_shift(np.array([1.0, 2.0, 4.0]), [2, 1], by=1)
    array([2., 0., 0.])
    """
    return _move_back(shift, dY, lengths, by, level, out)


def backprop_roll(
    dY: SameT | Sequence[Any], lengths: Lengths | None = None, *, by: Any, level: int = -1, out: Any = None
) -> SameT:
    """The gradient of `roll`: rows move back by `by` places.

    Parameters
    ----------
    dY, lengths, by, level, out
        As in `backprop_shift`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (total, ...) of the dtype of dY. A Ragged for a Ragged.

    Raises
    ------
    TypeError, ValueError, OverflowError
        As in `roll`.

    Examples
    --------
    >>> vl.ops.backprop_roll(np.array([1.0, 2.0, 4.0]), [3], by=1)
    array([2., 4., 1.])
    """
    return _move_back(roll, dY, lengths, by, level, out)


def _move_back(
    verb: Any,
    dY: SameT | Sequence[Any],
    lengths: Lengths | None,
    by: SequencesLike,
    level: int,
    out: Output | None,
) -> SameT:
    """Rows moved by a verb as many places back."""
    if out is not None:
        check_output(out, by)
    try:
        result: SameT = verb(dY, lengths, by=_negate(by), level=level, out=out)
    except Exception as error:
        raise name_argument(error, X="dY") from None
    return result


def _negate(by: object) -> Any:
    """As many places back; what is not an integer is left for the core to refuse."""
    if isinstance(by, int) and not isinstance(by, bool):
        return -by
    moves = as_array(by, "by")
    if moves.size == 0:
        return moves.astype(np.int64)
    return -moves.astype(np.int64) if moves.dtype.kind in "iu" else by


def _move(verb: str, X: Any, lengths: Any, level: int, out: Any, *options: Any) -> Any:
    """The rows of each sequence, or the sequences of a level above, moved by a verb of the backend."""
    if out is not None:
        check_output(out, X, lengths, *options)
    if lengths is None and isinstance(X, RaggedBase):
        values, levels = X._values, X._levels
    else:
        values, levels = rows_and_levels(X, lengths)
    innermost = len(levels) - 1
    place = innermost if type(level) is int and level == -1 else resolve_level(level, levels)
    if place == innermost:
        return regroup(X, getattr(backend_of(values), verb)(values, levels[place], *options, out), levels)
    if out is not None:
        raise value_error("out", f"at level {level} whole sequences move; leave it out")
    if verb == "shift" and not is_zero(options[1]):
        raise value_error(
            "fill", f"at level {level} gaps become empty sequences; leave it out; got {options[1]!r}"
        )
    return _move_units(verb, X, values, levels, place, *options)


@eager_only("a level above the innermost of reverse, roll or shift")
def _move_units(
    verb: str, X: Any, values: SequencesLike, levels: Levels, place: int, *options: object
) -> Any:
    """Whole sequences of the level below, and an empty one behind them for what a shift leaves."""
    count = levels[place].total
    options = (options[0], count) if verb == "shift" else options
    order = getattr(arrays, verb)(np.arange(count), levels[place], *options)
    offsets = levels[place + 1].offsets
    inner = (Level.from_offsets(np.append(offsets, offsets[-1])), *levels[place + 2 :])
    rows, new_levels = backend_of(values).apply_rows(values, lambda part: _core.gather(part, inner, order))
    return X._make(rows, (*levels[: place + 1], *new_levels))
