"""Functions of `tf.ragged` that make a `RaggedTensor`, or map one."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from varlen._core import Level
from varlen.arguments import as_int, fits_memory
from varlen.backends import backend_of
from varlen.backends.values import as_ints, as_values, take
from varlen.levels import describe_difference, level_from, same_levels
from varlen.ops import combine
from varlen.ops.inputs import as_bools
from varlen.tf.ragged_tensor import RaggedTensor
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from varlen.backends.values import RaggedT, Rows, RowsT

    Ints = NDArray[np.int64]


def constant(
    pylist: Any, dtype: DTypeLike | None = None, ragged_rank: int | None = None
) -> RaggedTensor[Any]:
    """A RaggedTensor of nested lists, as `tf.ragged.constant`.

    Parameters
    ----------
    pylist
        Nested lists or tuples of numbers or strings, or lists of arrays.
    dtype
        Of the values; by default what NumPy would give them.
    ragged_rank
        How many levels; the lists below have to be equally long, and become axes of the rows. By default all
        are levels.

    Returns
    -------
    RaggedTensor
        With a level for each depth of the lists.

    Raises
    ------
    TypeError
        None or other objects among the numbers.
    ValueError
        Nesting of different depth; a ragged_rank beyond it; lists below ragged_rank of different lengths.

    Examples
    --------
    >>> vl.tf.constant([[3, 1], [4]]).to_list()
    [[3, 1], [4]]
    >>> vl.tf.constant([[[3, 1]], [[4, 1], [5, 9]]], ragged_rank=1).shape
    (2, None, 2)
    """
    r: RaggedTensor[Any] = RaggedTensor.from_list(pylist, dtype)
    if ragged_rank is None:
        return r
    levels, values = r._levels, r._values
    kept = as_int(ragged_rank, "ragged_rank", 1)
    if kept > len(levels):
        raise ValueError(f"ragged_rank: {kept} levels, but the lists have {len(levels)}")
    for level in reversed(levels[kept:]):
        if level.shortest != level.longest:
            raise ValueError(
                f"ragged_rank: lists below level {kept - 1} have lengths {level.shortest} to {level.longest}"
            )
        values = values.reshape(len(level), level.longest, *values.shape[1:])
    return r._make(values, levels[:kept])


@overload
def boolean_mask(data: RaggedT, mask: Any) -> RaggedT: ...
@overload
def boolean_mask(data: RowsT | Sequence[Any], mask: Any) -> RowsT | RaggedTensor[RowsT]: ...
def boolean_mask(data: Any, mask: Any) -> Rows:
    """What a mask is true for, as `tf.ragged.boolean_mask`: sequences keep their place.

    Parameters
    ----------
    data
        A Ragged, or an array or a tensor of any dtype.
    mask
        Bools: an array over the sequences, or a Ragged that nests as the outer levels of data do. For an
        array (m0, m1, ..., ...) bools (m0, m1, ...).

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        Of the class of data. Of an array the rows that a mask of one axis keeps, and a RaggedTensor where the
        mask has more axes: one level for each axis but the first.

    Raises
    ------
    TypeError
        A mask of another dtype.
    ValueError
        A mask that nests differently, or has another shape.

    Examples
    --------
    >>> r = vl.tf.constant([[3, 1, 4], [], [1, 5]])
    >>> vl.tf.boolean_mask(r, r > 1).to_list()
    [[3, 4], [], [5]]
    >>> vl.tf.boolean_mask([[3, 1], [4, 5]], [[True, False], [True, True]]).to_list()
    [[3], [4, 5]]
    """
    if isinstance(data, Ragged):
        return data.boolean_mask(mask)
    values = as_values(data, "data")
    if isinstance(mask, Ragged):
        axes = len(mask._levels) + mask._values.ndim
        return _nested(values, axes).boolean_mask(mask)
    bools = as_values(mask, "mask")
    axes = bools.ndim
    if tuple(bools.shape) != tuple(values.shape[:axes]):
        shapes = f"{tuple(bools.shape)} for data of shape {tuple(values.shape)}"
        raise ValueError(f"mask: expected the first axes of data, got {shapes}")
    if axes > 1:
        return _nested(values, axes).boolean_mask(_nested(bools, axes))
    keep = as_bools(bools, mask, "mask")
    return take(values, backend_of(keep).true_places(keep))


def _nested(values: Any, axes: int) -> RaggedTensor[Any]:
    """The first axes of an array as levels of equal lengths."""
    shape = tuple(values.shape[:axes])
    levels = tuple(
        Level.from_lengths(np.full(math.prod(shape[:d]), shape[d], np.int64)) for d in builtins.range(1, axes)
    )
    return RaggedTensor._make(values.reshape(math.prod(shape), *values.shape[axes:]), levels)


def stack(values: Iterable[Ragged[Any]], axis: int = 0) -> Ragged[Any]:
    """One after another along a new axis, as `tf.ragged.stack`.

    Parameters
    ----------
    values
        At least one Ragged; all with as many levels and rows of one shape.
    axis
        Where the new axis stands in the result.

    Returns
    -------
    Ragged
        Of the class of the first.

    Raises
    ------
    TypeError, ValueError
        Nothing to stack, no such axis, or parts that do not fit; the part is named.

    Examples
    --------
    >>> a, b = vl.tf.constant([[3, 1], [4]]), vl.tf.constant([[1], [5]])
    >>> vl.tf.stack([a, b]).to_list()
    [[[3, 1], [4]], [[1], [5]]]
    """
    return combine.stack(values, axis)


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Rows:
    """What a function makes of the flat values, under the same levels; as `tf.ragged.map_flat_values`.

    Parameters
    ----------
    op
        Gives as many rows as it sees.
    *args, **kwargs
        Its arguments. A Ragged among them is replaced by its values; all of them nest alike.

    Returns
    -------
    Ragged or object
        Of the class of the first Ragged; what `op` gives where there is none.

    Raises
    ------
    ValueError
        Ragged arguments that nest differently, or a result of another number of rows.

    Examples
    --------
    >>> vl.tf.map_flat_values(np.sqrt, vl.tf.constant([[9.0, 1.0], [4.0]])).to_list()
    [[3.0, 1.0], [2.0]]
    """
    raggeds = [x for x in (*args, *kwargs.values()) if isinstance(x, Ragged)]
    if not raggeds:
        return op(*args, **kwargs)
    first = raggeds[0]
    for other in raggeds[1:]:
        if not same_levels(first._levels, other._levels):
            raise ValueError(f"args: {describe_difference(first._levels, other._levels)}")
    result = op(*map(_flat, args), **{name: _flat(x) for name, x in kwargs.items()})
    rows = as_values(result, "op")
    if len(rows) != len(first._values):
        raise ValueError(f"op: gave {len(rows)} rows for {len(first._values)}")
    return first._make(rows, first._levels)


def range(starts: ArrayLike, limits: ArrayLike | None = None, deltas: ArrayLike = 1) -> RaggedTensor[Any]:
    """For each sequence the integers from its start up to its limit; as `tf.ragged.range`.

    Parameters
    ----------
    starts, limits, deltas
        (n,) integers, or one for all. With starts alone they are the limits, and every sequence starts at 0.

    Returns
    -------
    RaggedTensor
        One level, int64.

    Raises
    ------
    ValueError
        A delta of 0; numbers of different shapes.
    OverflowError
        More numbers than memory holds.

    Examples
    --------
    >>> vl.tf.range([3, 0, 2]).to_list(), vl.tf.range([5, 7], [0, 9], [-2, 1]).to_list()
    ([[0, 1, 2], [], [0, 1]], [[5, 3, 1], [7, 8]])
    """
    end_name = "starts" if limits is None else "limits"
    ends = _integers(starts if limits is None else limits, end_name)
    begins = _integers(0 if limits is None else starts, "starts")
    steps = _integers(deltas, "deltas")
    counted = {"starts": begins, end_name: ends, "deltas": steps}
    sizes = {name: x.size for name, x in counted.items() if x.ndim}
    if len(set(sizes.values())) > 1:
        many = " and ".join(f"{size} {name}" for name, size in sizes.items())
        raise ValueError(f"{next(iter(sizes))}: expected one number, or one for each sequence, got {many}")
    begins, ends, steps = np.broadcast_arrays(*(np.atleast_1d(x) for x in (begins, ends, steps)))
    if (steps == 0).any():
        raise ValueError(f"deltas: sequence {int((steps == 0).argmax())} has a delta of 0")
    counts = np.maximum(-((begins - ends) // steps), 0)
    fits_memory(int(counts.sum(dtype=object)), end_name)
    level = Level.from_lengths(counts)
    return RaggedTensor._make(begins[level.row_ids] + level.positions * steps[level.row_ids], (level,))


def row_splits_to_segment_ids(splits: ArrayLike) -> Ints:
    """The sequence of each row, from offsets.

    Parameters
    ----------
    splits
        (n + 1,) integers: 0 first, never decreasing.

    Returns
    -------
    numpy.ndarray
        int64 (total,), read-only.

    Raises
    ------
    ValueError
        Offsets that decrease or do not start at 0.

    Examples
    --------
    >>> vl.tf.row_splits_to_segment_ids([0, 3, 3, 5])
    array([0, 0, 0, 2, 2])
    """
    return level_from(splits, Level.from_offsets, "splits").row_ids


def segment_ids_to_row_splits(segment_ids: ArrayLike, num_segments: int | None = None) -> Ints:
    """Offsets, from the sequence of each row.

    Parameters
    ----------
    segment_ids
        (total,) integers that never decrease.
    num_segments
        How many sequences; by default the last id + 1.

    Returns
    -------
    numpy.ndarray
        int64 (n + 1,), read-only.

    Raises
    ------
    ValueError
        Ids that decrease, are below 0 or beyond num_segments.

    Examples
    --------
    >>> vl.tf.segment_ids_to_row_splits([0, 0, 0, 2, 2], 4)
    array([0, 3, 3, 5, 5])
    """
    count = -1 if num_segments is None else as_int(num_segments, "num_segments")
    return level_from(segment_ids, lambda ids: Level.from_row_ids(ids, count), "segment_ids").offsets


def _flat(x: Any) -> Any:
    return x._values if isinstance(x, Ragged) else x


def _integers(x: Any, argument: str) -> Ints:
    numbers = np.asarray(as_ints(x))
    if numbers.dtype.kind not in "iu" or numbers.ndim > 1:
        raise TypeError(f"{argument}: expected integers, one or (n,), got {numbers.dtype}{numbers.shape}")
    return numbers.astype(np.int64, copy=False)
