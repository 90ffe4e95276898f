"""The ends of sequences: largest and smallest rows, first and last ones, and where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

from varlen.arguments import as_bool, as_int
from varlen.backends import backend_of
from varlen.backends.values import row_as
from varlen.ops.axes import along, axes_of
from varlen.ops.inputs import rows_along, units_of
from varlen.ops.reduce import reduced, wrap_units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import torch
    from numpy.typing import NDArray

    from varlen._core import RaggedBase
    from varlen.backends.values import ArrayT, Axes, Lengths, Rows, RowsT

    Array: TypeAlias = NDArray[Any] | torch.Tensor


@overload
def reduce_max(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_max(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> RowsT: ...  # fmt: skip
@overload
def reduce_max(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[ArrayT | Any, ArrayT | Any]: ...  # fmt: skip
@overload
def reduce_max(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
def reduce_max(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = None,
    which: bool = False,
    out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The largest number of each sequence, column by column.

    Parameters
    ----------
    X, lengths, axis, level
        As those of `reduce_sum`.
    empty
        What a sequence without rows gives; by default it is refused.
    which
        Give also the first row inside each sequence that holds the number; not along other axes.
    out
        (n, ...) of the dtype of X, C-contiguous: filled and given back; not together with `which`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. A NaN is the maximum, wherever
        it is.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.
    TypeError
        Values that are not numbers.

    Notes
    -----
    As Thinc's `Ops.reduce_max`, which always gives the rows too: `varlen.thinc.VarlenOps` does.

    Examples
    --------
    >>> X = np.array([[4, 1], [2, 3], [5, 5]])
    >>> vl.ops.reduce_max(X, [2, 1]).tolist()
    [[4, 3], [5, 5]]
    >>> vl.ops.reduce_max(X, [2, 1], which=True)[1].tolist()
    [[0, 1], [0, 0]]
    """
    return _extreme("max", X, lengths, axis, level, empty, which, out)


@overload
def argmax(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1,
    empty: int | None = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def argmax(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1,
    empty: int | None = None,
) -> RowsT: ...  # fmt: skip
def argmax(
    X: Any, lengths: Any = None, *, axis: Any = None, level: int = -1, empty: int | None = None
) -> Rows:
    """The first row inside each sequence that holds its largest number, column by column: int64 (n, ...).

    Parameters
    ----------
    X, lengths, axis, level
        As those of `reduce_sum`.
    empty
        An integer, what a sequence without rows gives; by default it is refused.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), for more levels a Ragged of those above.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_max`.

    Examples
    --------
    >>> vl.ops.argmax([3, 9, 9, 4], [3, 1])
    array([1, 0])
    """
    return _arg_extreme("max", X, lengths, axis, level, empty)


@overload
def reduce_min(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def reduce_min(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[False] = False, out: Any = None,
) -> RowsT: ...  # fmt: skip
@overload
def reduce_min(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[ArrayT | Any, ArrayT | Any]: ...  # fmt: skip
@overload
def reduce_min(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1, empty: Any = None,
    which: Literal[True], out: Any = None,
) -> tuple[RowsT, RowsT]: ...  # fmt: skip
def reduce_min(
    X: Any,
    lengths: Any = None,
    *,
    axis: Any = None,
    level: int = -1,
    empty: Any = None,
    which: bool = False,
    out: Any = None,
) -> Rows | tuple[Rows, Rows]:
    """The smallest number of each sequence, column by column.

    Parameters
    ----------
    X, lengths, axis, level, empty, which, out
        As those of `reduce_max`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged, or a tuple of two
        (n, ...) of the dtype of X, for more levels a Ragged of those above. With `which` also the place
        inside each sequence, int64 (n, ...), -1 where a sequence has no rows. A NaN is the minimum, wherever
        it is.

    Raises
    ------
    ValueError, TypeError
        As those of `reduce_max`.

    Notes
    -----
    The counterpart of `reduce_max`, which Thinc lacks.

    Examples
    --------
    >>> X = np.array([[4, 1], [2, 3], [5, 5]])
    >>> vl.ops.reduce_min(X, [2, 1]).tolist()
    [[2, 1], [5, 5]]
    >>> vl.ops.reduce_min(X, [2, 1], which=True)[1].tolist()
    [[1, 0], [0, 0]]
    """
    return _extreme("min", X, lengths, axis, level, empty, which, out)


@overload
def argmin(
    X: RaggedBase[ArrayT], lengths: None = None, *, axis: Axes = None, level: int = -1,
    empty: int | None = None,
) -> ArrayT | Any: ...  # fmt: skip
@overload
def argmin(
    X: RowsT | Sequence[Any], lengths: Lengths, *, axis: Axes = None, level: int = -1,
    empty: int | None = None,
) -> RowsT: ...  # fmt: skip
def argmin(
    X: Any, lengths: Any = None, *, axis: Any = None, level: int = -1, empty: int | None = None
) -> Rows:
    """The first row inside each sequence that holds its smallest number, column by column: int64 (n, ...).

    Parameters
    ----------
    X, lengths, axis, level, empty
        As those of `argmax`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        int64 (n, ...), for more levels a Ragged of those above.

    Raises
    ------
    TypeError, ValueError
        As those of `reduce_min`.

    Examples
    --------
    >>> vl.ops.argmin([3, 9, 9, 4], [3, 1])
    array([0, 0])
    """
    return _arg_extreme("min", X, lengths, axis, level, empty)


@overload
def reduce_first(
    X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1, empty: Any = None
) -> ArrayT | Any: ...
@overload
def reduce_first(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, empty: Any = None
) -> RowsT: ...
def reduce_first(X: Any, lengths: Any = None, *, level: int = -1, empty: Any = None) -> Rows:
    """The first row of each sequence.

    Parameters
    ----------
    X
        (total, ...) of any dtype of fixed width, or a Ragged.
    lengths
        (n,) integers, or a `Level`; none beside a Ragged.
    level
        As that of `reduce_sum`.
    empty
        What a sequence without rows gives, a number or a row; by default it is refused.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        A sequence without rows and no `empty`; it is named. Lengths that do not add up to the rows.

    Notes
    -----
    As Thinc's `Ops.reduce_first`, which gives the offsets too; dtype and trailing dimensions stay with no
    sequences as well.

    Examples
    --------
    >>> vl.ops.reduce_first([3, 1, 4], [2, 1])
    array([3, 4])
    """
    return _end(X, lengths, level, False, empty)


@overload
def reduce_last(
    X: RaggedBase[ArrayT], lengths: None = None, *, level: int = -1, empty: Any = None
) -> ArrayT | Any: ...
@overload
def reduce_last(
    X: RowsT | Sequence[Any], lengths: Lengths, *, level: int = -1, empty: Any = None
) -> RowsT: ...
def reduce_last(X: Any, lengths: Any = None, *, level: int = -1, empty: Any = None) -> Rows:
    """The last row of each sequence.

    Parameters
    ----------
    X, lengths, level, empty
        As those of `reduce_first`.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        (n, ...) of the dtype of X, for more levels a Ragged of those above.

    Raises
    ------
    ValueError
        As those of `reduce_first`.

    Notes
    -----
    As Thinc's `Ops.reduce_last`, which gives the numbers of the rows too.

    Examples
    --------
    >>> vl.ops.reduce_last([3, 1, 4], [2, 1])
    array([1, 4])
    """
    return _end(X, lengths, level, True, empty)


def _extreme(op: str, X: Any, lengths: Any, axis: Any, level: int, empty: Any, which: bool, out: Any) -> Any:
    if not as_bool(which, "which"):
        return reduced(op, X, lengths, axis, level, empty, out)
    if axis is not None or out is not None:
        name = "axis" if out is None else "out"
        raise ValueError(f"{name}: cannot be combined with which=True")
    values, units, above = units_of(X, lengths, level)
    found, places = backend_of(values).reduce_extreme(op, values, units, empty)
    return wrap_units(X, found, above), wrap_units(X, places, above)


def _arg_extreme(op: str, X: Any, lengths: Any, axis: Any, level: int, empty: Any) -> Any:
    if axis is None:
        values, units, above = units_of(X, lengths, level)
        return wrap_units(X, _places_of(op, values, units, empty), above)
    values, levels = rows_along(X, lengths, axis, level)
    axes = axes_of(axis, len(levels) + values.ndim)
    if len(axes) > 1 or axes[0] < len(levels):
        ragged = f"{len(levels)}, inside the innermost sequences, or an axis of their rows"
        raise ValueError(f"axis: places are counted along axis {ragged}; got {axis!r}")
    values, units, above, is_one = along(values, levels, axes)
    places = _places_of(op, values, units, empty)
    return places[0] if is_one else wrap_units(X, places, above)


def _places_of(op: str, values: Any, level: Any, empty: Any) -> Any:
    backend = backend_of(values)
    if empty is None:
        return backend.reduce_extreme(op, values, level)[1]
    number = as_int(empty, "empty", -(2**63))
    places = backend.reduce_extreme(op, values, level, 0)[1]
    is_empty = backend.ufunc("equal", [backend.of_level(level, "lengths", places), 0], {})
    return backend.where(is_empty.reshape(-1, *(1 for _ in places.shape[1:])), number, places)


def _end(X: Any, lengths: Any, level: int, last: bool, empty: Any) -> Any:
    values, units, above = units_of(X, lengths, level)
    row = None if empty is None else row_as(empty, values, "empty")[0]
    return wrap_units(X, backend_of(values).reduce_end(values, units, last, row), above)
