"""Functions of `tf.ragged` that make a `RaggedTensor`, or map one."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from varlen._core import Level
from varlen.arguments import as_array, as_int, as_list, axis_of, fits_memory
from varlen.backends import backend_of
from varlen.backends.values import as_values, like, take
from varlen.errors import naming, type_error, value_error
from varlen.levels import describe_difference, level_from, same_levels
from varlen.ops import combine
from varlen.ops.dense import values_of_list
from varlen.ops.support.inputs import as_bools, nest_rows
from varlen.tf.ragged_tensor import RaggedTensor
from varlen.types import Ragged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from varlen.backends.values import DTypes, RaggedT, Rows, RowsT, SequencesLike

    Ints = NDArray[np.int64]


def constant(
    pylist: Any,
    dtype: DTypeLike | None = None,
    ragged_rank: int | None = None,
    inner_shape: Sequence[int] | None = None,
    name: str | None = None,
    row_splits_dtype: DTypes | None = None,
) -> RaggedTensor[Any] | Any:
    """Make a RaggedTensor from nested lists, as `tf.ragged.constant`.

    Parameters
    ----------
    pylist
        Nested lists or tuples of numbers or strings, or lists of arrays.
    dtype
        The dtype of the values, NumPy's choice by default. Strings get the fixed width of the longest.
    ragged_rank
        The number of levels. Deeper lists must be equally long; they become axes of the rows. By default all
        lists become levels that are not in inner_shape.
    inner_shape
        The shape of a row. That many depths of the innermost lists must be equally long, and become axes.
    name, row_splits_dtype
        Ignored: names have no effect, and splits are int64.

    Returns
    -------
    RaggedTensor or numpy.ndarray
        A level for each depth of the lists. A flat list, or a ragged_rank of 0, gives an array.

    Raises
    ------
    TypeError
        The lists hold None or other objects besides numbers or strings.
    ValueError
        Lists nest to different depths, or less deeply than ragged_rank; lists below ragged_rank differ in
        length from each other or from inner_shape; a string ends in NUL, which fixed-width text cannot keep.

    Examples
    --------
    >>> vl.tf.constant([[3, 1], [4]]).to_list()
    [[3, 1], [4]]
    >>> vl.tf.constant([[[3, 1]], [[4, 1], [5, 9]]], ragged_rank=1).shape
    (2, None, 2)
    >>> vl.tf.constant([["a", "few"], [], ["words"]]).values
    array(['a', 'few', 'words'], dtype='<U5')
    """
    # Numbers in one list are an array, which has no level: one is put around them meanwhile.
    rank_or_none = None if ragged_rank is None else as_int(ragged_rank, "ragged_rank")
    is_flat = rank_or_none == 0 or not any(
        isinstance(x, (list, tuple)) or np.ndim(x) for x in as_list(pylist, "pylist", "values")
    )
    lists = [pylist] if is_flat else pylist
    values: Any
    with naming(data="pylist"):
        values, levels = values_of_list(lists, dtype)
    depth = len(levels) - is_flat
    row_sizes = () if inner_shape is None else as_list(inner_shape, "inner_shape", "sizes")
    row = tuple(as_int(size, "inner_shape") for size in row_sizes)
    rank = depth - len(row) if rank_or_none is None else rank_or_none
    while not len(values) and depth < rank + len(row):  # empty lists do not say how deep they are
        levels, depth = (*levels, Level.from_lengths([0] * levels[-1].total)), depth + 1
    if not 0 <= rank <= depth:
        raise value_error(
            "ragged_rank", f"expected at most the {depth} levels of the lists, got {rank}", number=rank
        )
    if inner_shape is not None and rank + len(row) != depth:
        raise value_error("inner_shape", f"{len(row)} axes and {rank} levels, but the lists have {depth}")
    for level in reversed(levels[rank + is_flat :]):
        if level.shortest != level.longest:
            raise value_error(
                "ragged_rank",
                f"lists below level {rank - 1} have lengths {level.shortest} to {level.longest}",
            )
        values = values.reshape(len(level), level.longest, *values.shape[1:])
    for axis, (size, expected) in enumerate(zip(values.shape[1:], row, strict=False)):
        if size != expected and len(values):
            raise value_error("inner_shape", f"axis {axis} of the rows has {size} entries, not {expected}")
    if row:
        values = values.reshape(len(values), *row)
    return RaggedTensor._make(values, levels[is_flat : is_flat + rank]) if rank else values


@overload
def boolean_mask(data: RaggedT, mask: SequencesLike, name: str | None = None) -> RaggedT: ...
@overload
def boolean_mask(
    data: RowsT | Sequence[Any], mask: SequencesLike, name: str | None = None
) -> RowsT | RaggedTensor[RowsT]: ...
def boolean_mask(data: SequencesLike, mask: SequencesLike, name: str | None = None) -> Rows:
    """Keep what a mask selects, like `tf.ragged.boolean_mask`.

    Parameters
    ----------
    data
        A Ragged, or an array or a tensor of any dtype.
    mask
        Bools: an array over the sequences, or a Ragged that nests like the outer levels of data. Data of
        shape (m0, m1, ..., ...) take bools of shape (m0, m1, ...).
    name
        Ignored.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The class of data. For an array, a mask of one axis gives the rows that it keeps; a mask of more axes
        gives a RaggedTensor with one level for each axis but the first.

    Raises
    ------
    TypeError
        The mask has another dtype.
    ValueError
        The mask nests differently, or has another shape.

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
        raise value_error("mask", f"expected the first axes of data, got {shapes}")
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


def stack(values: Iterable[Any], axis: int = 0, name: str | None = None) -> Ragged[Any]:
    """Stack along a new axis, like `tf.ragged.stack`.

    Parameters
    ----------
    values
        At least one Ragged, array or tensor, all with the same number of axes. Arrays become Raggeds, with as
        many levels as the others have, or as `axis` and differing sizes need.
    axis
        The position of the new axis in the result.
    name
        Ignored.

    Returns
    -------
    Ragged
        The class of the first; a RaggedTensor for arrays.

    Raises
    ------
    TypeError, ValueError
        There is nothing to stack, no such axis, or a part that does not fit; the error names the part.

    Examples
    --------
    >>> a, b = vl.tf.constant([[3, 1], [4]]), vl.tf.constant([[1], [5]])
    >>> vl.tf.stack([a, b]).to_list()
    [[[3, 1], [4]], [[1], [5]]]
    >>> vl.tf.stack([np.array([3, 1]), np.array([4])]).to_list()
    [[3, 1], [4]]
    """
    parts = [
        x if isinstance(x, Ragged) else as_values(x, "values")
        for x in as_list(values, "values", "values to stack")
    ]
    arrays = [x for x in parts if not isinstance(x, Ragged)]
    if not arrays:
        return _stack(parts, axis)
    axes = {x.ndim for x in parts}
    if len(axes) > 1:
        raise value_error("values", f"expected the same number of axes in each, got {sorted(axes)}")
    (count,) = axes
    place = axis_of(axis, count + 1)
    if place == 0 and len({x.shape[1:] for x in parts}) == 1:
        return RaggedTensor.from_list(arrays)
    if count == 1:
        with naming(raggeds="values"):
            return combine.concatenate([_nested(x.reshape(-1, 1), 2) for x in arrays], 1)
    shapes = [x.shape[2:] for x in arrays]
    ragged_axis = max(
        (i for i in builtins.range(count - 2) if len({shape[i] for shape in shapes}) > 1), default=-1
    )
    ranks = [len(x._levels) for x in parts if isinstance(x, Ragged)]
    rank = ranks[0] if ranks else min(max(1, place, ragged_axis + 2), count - 1)
    return _stack([x if isinstance(x, Ragged) else _nested(x, rank + 1) for x in parts], axis)


def _stack(values: list[Any], axis: int) -> Ragged[Any]:
    """`combine.stack`, whose errors are about these values."""
    with naming(raggeds="values"):
        return cast("Ragged[Any]", combine.stack(values, axis))


def stack_dynamic_partitions(
    data: SequencesLike, partitions: SequencesLike, num_partitions: int, name: str | None = None
) -> RaggedTensor[Any]:
    """Group rows by partition, in their order, like `tf.ragged.stack_dynamic_partitions`.

    Parameters
    ----------
    data
        An array or a tensor (n, ...), or a Ragged of n sequences.
    partitions
        (n,) integers from 0 to num_partitions - 1.
    num_partitions
        The number of sequences in the result.
    name
        Ignored.

    Returns
    -------
    RaggedTensor
        (num_partitions, None, ...), one level more than data has; of the dtype of data.

    Raises
    ------
    TypeError
        The partitions are not integers.
    ValueError
        The number of partitions is not that of the rows, or one is out of range; the error names the row.

    Examples
    --------
    >>> vl.tf.stack_dynamic_partitions(np.array([7, 8, 9, 6]), [2, 0, 2, 0], 3).to_list()
    [[8, 6], [], [7, 9]]
    """
    rows = data if isinstance(data, Ragged) else as_values(data, "data")
    ids, count = np.atleast_1d(_integers(partitions, "partitions")), as_int(num_partitions, "num_partitions")
    if len(ids) != len(rows):
        raise value_error("partitions", f"{len(ids)} of them for {len(rows)} rows")
    wrong = (ids < 0) | (ids >= count)
    if wrong.any():
        index = int(wrong.argmax())
        raise value_error(
            "partitions",
            f"row {index} asks for partition {ids[index]}, but there are {count}",
            row=index,
            number=int(ids[index]),
        )
    order = np.argsort(ids, kind="stable")
    level = Level.from_lengths(np.bincount(ids, minlength=count))
    groups = rows[order] if isinstance(rows, Ragged) else take(rows, like(order, rows))
    return RaggedTensor._make(*nest_rows(groups, (level,), "data"))


def map_flat_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Rows:
    """Apply a function to the flat values and keep the levels, like `tf.ragged.map_flat_values`.

    Parameters
    ----------
    op
        A function that returns as many rows as it gets.
    *args, **kwargs
        Its arguments. The values replace each Ragged among them; all Raggeds must nest alike.

    Returns
    -------
    Ragged or object
        The class of the first Ragged; without a Ragged, the result of `op`.

    Raises
    ------
    ValueError
        Ragged arguments nest differently, or the result has another number of rows.

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
            raise value_error("args", f"{describe_difference(first._levels, other._levels)}")
    result = op(*map(_flat_values, args), **{name: _flat_values(x) for name, x in kwargs.items()})
    rows = as_values(result, "op")
    if len(rows) != len(first._values):
        raise value_error("op", f"gave {len(rows)} rows for {len(first._values)}")
    return first._make(rows, first._levels)


def range(
    starts: ArrayLike,
    limits: ArrayLike | None = None,
    deltas: ArrayLike = 1,
    dtype: DTypes | None = None,
    name: str | None = None,
    row_splits_dtype: DTypes | None = None,
) -> RaggedTensor[Any]:
    """Make sequences of integers, each from its start up to its limit, like `tf.ragged.range`.

    Parameters
    ----------
    starts, limits, deltas
        (n,) integers, or one for all. `starts` alone gives the limits, and every sequence starts at 0.
    dtype
        NumPy's dtype of the numbers; int64 by default.
    name, row_splits_dtype
        Ignored: names have no effect, and splits are int64.

    Returns
    -------
    RaggedTensor
        One level.

    Raises
    ------
    ValueError
        A delta is 0, or the arguments differ in shape.
    OverflowError
        There are more numbers than memory holds.

    Examples
    --------
    >>> vl.tf.range([3, 0, 2]).to_list(), vl.tf.range([5, 7], [0, 9], [-2, 1]).to_list()
    ([[0, 1, 2], [], [0, 1]], [[5, 3, 1], [7, 8]])
    """
    end_name = "starts" if limits is None else "limits"
    ends = _integers(starts if limits is None else limits, end_name)
    begins = _integers(0 if limits is None else starts, "starts")
    steps = _integers(deltas, "deltas")
    arrays = {"starts": begins, end_name: ends, "deltas": steps}
    sizes = {name: x.size for name, x in arrays.items() if x.ndim}
    if len(set(sizes.values())) > 1:
        text = " and ".join(f"{size} {name}" for name, size in sizes.items())
        raise value_error(next(iter(sizes)), f"expected one number, or one for each sequence, got {text}")
    begins, ends, steps = np.broadcast_arrays(*(np.atleast_1d(x) for x in (begins, ends, steps)))
    if (steps == 0).any():
        raise value_error(
            "deltas",
            f"sequence {int((steps == 0).argmax())} has a delta of 0",
            row=int((steps == 0).argmax()),
            number=0,
        )
    counts = np.maximum(-((begins - ends) // steps), 0)
    fits_memory(int(counts.sum(dtype=object)), end_name)
    level = Level.from_lengths(counts)
    numbers = begins[level.row_ids] + level.positions * steps[level.row_ids]
    return RaggedTensor._make(
        numbers if dtype is None else backend_of(numbers).cast(numbers, dtype, "dtype"), (level,)
    )


def row_splits_to_segment_ids(
    splits: ArrayLike, name: str | None = None, out_type: DTypes | None = None
) -> Ints:
    """Convert offsets to the sequence id of each row.

    Parameters
    ----------
    splits
        (n + 1,) integers: 0 first, never decreasing.
    name, out_type
        Ignored: ids are int64.

    Returns
    -------
    numpy.ndarray
        int64 (total,), read-only.

    Raises
    ------
    ValueError
        The offsets decrease or do not start at 0.

    Examples
    --------
    >>> vl.tf.row_splits_to_segment_ids([0, 3, 3, 5])
    array([0, 0, 0, 2, 2])
    """
    return level_from(splits, Level.from_offsets, "splits").row_ids


def segment_ids_to_row_splits(
    segment_ids: ArrayLike,
    num_segments: int | None = None,
    out_type: DTypes | None = None,
    name: str | None = None,
) -> Ints:
    """Convert the sequence id of each row to offsets.

    Parameters
    ----------
    segment_ids
        (total,) integers that never decrease.
    num_segments
        The number of sequences; by default the last id + 1.
    out_type, name
        Ignored: splits are int64.

    Returns
    -------
    numpy.ndarray
        int64 (n + 1,), read-only.

    Raises
    ------
    ValueError
        Ids decrease, are below 0 or are not below num_segments.

    Examples
    --------
    >>> vl.tf.segment_ids_to_row_splits([0, 0, 0, 2, 2], 4)
    array([0, 3, 3, 5, 5])
    """
    count = -1 if num_segments is None else as_int(num_segments, "num_segments")
    return level_from(segment_ids, lambda ids: Level.from_row_ids(ids, count), "segment_ids").offsets


def _flat_values(x: SequencesLike) -> Any:
    return x._values if isinstance(x, Ragged) else x


def _integers(x: SequencesLike, argument: str) -> Ints:
    numbers = as_array(x, argument)
    if numbers.dtype.kind not in "iu" or numbers.ndim > 1:
        raise type_error(argument, f"expected integers, one or (n,), got {numbers.dtype}{numbers.shape}")
    return numbers.astype(np.int64, copy=False)
