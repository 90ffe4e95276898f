"""Items picked by their numbers or by a mask, at any axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from varlen import _core, tracing
from varlen._core import Level, RaggedBase
from varlen.arguments import as_bool, as_int, axis_of, row_of_ints
from varlen.backends import backend_of
from varlen.backends.values import as_values, like, one_device, take
from varlen.errors import index_error, value_error
from varlen.levels import (
    check_nest,
    flatten_levels,
    mask_level,
)
from varlen.ops.support.inputs import as_bools, nested, rows_and_levels, whole_numbers
from varlen.ops.support.outputs import new_ragged, ragged_like

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from varlen.backends.values import ArrayT, Lengths, RaggedT, Rows, RowsT, SequencesLike, Values
    from varlen.levels import Levels
    from varlen.types import Ragged

    Ints = NDArray[np.int64]


_subscript = RaggedBase.__getitem__  # that of C, whatever a subclass has


@overload
def gather(
    X: RaggedT, indices: SequencesLike, lengths: None = None, *, axis: int | None = None, batch_dims: int = 0
) -> RaggedT | Any: ...
@overload
def gather(
    X: RowsT | Sequence[Any],
    indices: SequencesLike,
    lengths: Lengths,
    *,
    axis: int | None = None,
    batch_dims: int = 0,
) -> Ragged[RowsT] | Any: ...
def gather(
    X: Any, indices: SequencesLike, lengths: Any = None, *, axis: int | None = None, batch_dims: int = 0
) -> Rows:
    """Take items along an axis by index, from the whole container or inside each sequence.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.
    indices
        Integers, an array or a Ragged of any depth; with `batch_dims` its first axes are those of X. Numbers
        count from 0 in the sequence that they pick from; none may be negative.
    axis
        The axis to take items along: 0 for sequences, then their contents, then the axes of rows; by default
        `batch_dims`. Beyond `batch_dims`, all sequences use the same indices.
    batch_dims
        The number of leading axes that X and the indices share.

    Returns
    -------
    numpy.ndarray, torch.Tensor or Ragged
        The items taken: the axes of X before `axis`, those of `indices` after `batch_dims`, then those of X
        after `axis`. An array if none of them is ragged.

    Raises
    ------
    TypeError
        The indices are not integers.
    IndexError
        An index is negative or beyond its sequence; the message names the sequence.
    ValueError
        There is no such axis, or the indices nest differently in the shared axes.

    Notes
    -----
    As TensorFlow's `tf.gather` and `tf.gather(batch_dims=)`.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    >>> r.gather([2, 0]).to_list(), r.gather([[2], [1]]).to_list()
    ([[1, 5], [3, 1, 4]], [[[1, 5]], [[]]])
    >>> r.gather(vl.Ragged([2, 0, 1], [2, 0, 1]), batch_dims=1).to_list()
    [[4, 3], [], [5]]
    """
    if axis is None and lengths is None and isinstance(X, RaggedBase) and type(batch_dims) is int:
        is_plain = type(indices) is list or type(indices) is np.ndarray
        in_graph = tracing.is_tracing() if is_plain else tracing.is_traced(indices)
        plain = not batch_dims and not isinstance(indices, RaggedBase) and not in_graph
        numbers = row_of_ints(indices) if plain else None
        if numbers is not None and _core.in_range(numbers, len(X)):
            return _subscript(X, numbers)
    values, levels = rows_and_levels(X, lengths)
    depth = len(levels)
    ndim = depth + values.ndim
    batch_depth = as_int(batch_dims, "batch_dims")
    dim = axis_of(batch_depth if axis is None else axis, ndim, "batch_dims" if axis is None else "axis")
    if tracing.is_traced(indices._values if isinstance(indices, RaggedBase) else indices):
        graph: Any = backend_of(values)
        result, nest = graph.gather_axis(values, levels, indices, dim, batch_depth)
        return ragged_like(X, result, nest) if nest else result
    if batch_depth > min(dim, depth):
        raise value_error(
            "batch_dims", f"expected at most {min(dim, depth)}, got {batch_depth}", number=batch_depth
        )
    if dim > depth:
        return ragged_like(X, _gathered_in_rows(values, indices, dim - depth, batch_depth), levels)
    ids, nest = _nested_down(indices, "indices", max(batch_depth, 1))
    ids = whole_numbers(ids, "indices")
    prefix = max(batch_depth - 1, 0)
    check_nest(nest[:prefix], levels[:prefix], "indices")
    if dim == 0:
        _in_range(ids, len(levels[0]))
        return take_items(X, values, levels, ids, nest)
    ids, inner = _numbers_of(ids, nest[prefix:], levels, dim, batch_depth)
    level = levels[dim - 1]
    sequences = flatten_levels(inner).row_ids if inner else np.arange(len(level))
    _in_range(ids, level.lengths[sequences], sequences, dim > batch_depth)
    return take_items(X, values, levels[dim:], level.offsets[sequences] + ids, (*levels[: dim - 1], *inner))


@overload
def boolean_mask(
    X: RaggedT, mask: SequencesLike, lengths: None = None, *, flatten: Literal[False] = False
) -> RaggedT: ...
@overload
def boolean_mask(
    X: RaggedBase[ArrayT], mask: SequencesLike, lengths: None = None, *, flatten: bool
) -> ArrayT | Any: ...
@overload
def boolean_mask(
    X: RowsT | Sequence[Any], mask: SequencesLike, lengths: Lengths, *, flatten: Literal[False] = False
) -> Ragged[RowsT]: ...
@overload
def boolean_mask(
    X: RowsT | Sequence[Any], mask: SequencesLike, lengths: Lengths, *, flatten: bool
) -> RowsT | Any: ...
def boolean_mask(X: Any, mask: SequencesLike, lengths: Any = None, *, flatten: bool = False) -> Rows:
    """Keep what a mask marks: sequences, their children or numbers, depending on the depth of the mask.

    Parameters
    ----------
    X
        (total, ...) rows of any dtype, an array or a tensor; or a `Ragged`.
    mask
        Bools: an array with one for each outermost sequence, a Ragged of outer levels with one for each of
        its rows, or a Ragged that nests as X, and may have the axes of its rows too.
    lengths
        The lengths: integers, or a `Level`; omit them with a Ragged.
    flatten
        If True, drop the levels of the mask, as TensorFlow's `tf.boolean_mask`. Otherwise sequences keep
        their place, as in `tf.ragged.boolean_mask`.

    Returns
    -------
    Ragged, numpy.ndarray or torch.Tensor
        What the mask keeps, a copy in the dtype of X: a Ragged of the levels of the mask and those below it.
        With `flatten` only those below; an array if there are none.

    Raises
    ------
    TypeError
        The mask does not hold bools.
    ValueError
        The mask nests differently.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    >>> r.boolean_mask(r > 1).to_list(), r.boolean_mask([True, True, False]).to_list()
    ([[3, 4], [], [5]], [[3, 1, 4], []])
    >>> r.boolean_mask(r > 1, flatten=True)
    array([3, 4, 5])
    """
    values, levels = rows_and_levels(X, lengths)
    ndim = len(levels) + values.ndim
    bools, nest = nested(mask, "mask")
    one_device(bools, "mask", values, "X")
    axes = len(nest) + bools.ndim
    if axes > ndim:
        raise value_error("mask", f"has {axes} axes, X has {ndim}")
    bools, nest = _nested_down(mask, "mask", axes)
    inner = new_ragged(values, levels)
    values, levels = nested(inner, "X", max(axes, len(levels) + 1))
    check_nest(nest, levels[: axes - 1], "mask")
    keep = as_bools(bools, mask, "mask")
    count = tracing.count_of(levels[0])
    if not nest and tracing.holds_surely(keep.shape[0] != count):
        raise value_error("mask", f"has {len(keep)} entries for {count} sequences")
    if nest and len(levels) < axes and not tracing.is_tracing():
        parts = backend_of(values).compress(values, nest[-1], keep)
        if parts is not NotImplemented:
            values, level = parts
            return values if as_bool(flatten, "flatten") else ragged_like(X, values, (*nest[:-1], level))
    if nest:
        nest = (*nest[:-1], mask_level(nest[-1], keep))
    places = backend_of(keep).true_places(keep)
    return take_items(X, values, levels[axes - 1 :], places, () if as_bool(flatten, "flatten") else nest)


def _nested_down(value: object, argument: str, axes: int) -> tuple[Any, Levels]:
    """Numbers, and levels for all axes before theirs, of which there are `axes` or more."""
    values, nest = nested(value, argument, axes)
    inner = new_ragged(values, nest) if nest else values
    return nested(inner, argument, len(nest) + values.ndim)


def _numbers_of(ids: Ints, inner: Levels, levels: Levels, dim: int, batch_depth: int) -> tuple[Any, Levels]:
    """The numbers that each sequence of level `dim` - 1 takes, from those of the batch that it is in."""
    if batch_depth == 0:
        first = len(inner[0]) if inner else len(ids)
        inner = (Level.from_offsets(np.array([0, first])), *inner)
    else:
        count, own_count = len(levels[batch_depth - 1]), len(inner[0] if inner else ids)
        if own_count != count:
            raise value_error("indices", f"has {own_count} sequences, level {batch_depth - 1} has {count}")
    if dim == batch_depth:
        return ids, inner
    n = len(levels[dim - 1])
    batch_of = (
        flatten_levels(levels[batch_depth - 1 : dim - 1]).row_ids if batch_depth else np.zeros(n, np.int64)
    )
    if not inner:
        return ids[batch_of], inner
    return _core.gather(ids, inner, batch_of)


def take_items(
    X: SequencesLike, values: Values, inner_levels: Levels, rows: Ints, outer_levels: Levels
) -> Any:
    """Items of an axis by their numbers in the whole, with what nests below them, under levels above."""
    if inner_levels:
        values, inner_levels = backend_of(values).gather(values, inner_levels, rows)
    else:
        values = take(values, rows)
    levels = (*outer_levels, *inner_levels)
    return ragged_like(X, values, levels) if levels else values


def _gathered_in_rows(values: Any, indices: SequencesLike, axis: int, batch_depth: int) -> Any:
    if batch_depth or isinstance(indices, RaggedBase):
        raise value_error("indices", "along an axis of the rows, expected an array and batch_dims=0")
    ids = whole_numbers(indices, "indices")
    _in_range(ids.reshape(-1), values.shape[axis])
    return as_values(values[(slice(None),) * axis + (like(ids, values),)])


def _in_range(ids: Ints, sizes: Any, sequences: Ints | None = None, is_repeat: bool = False) -> None:
    """Refuse numbers of items that are not there; repeated ones do not stand where the caller put them."""
    if sequences is None and ids.ndim == 1 and _core.in_range(ids, sizes):
        return
    bad = (ids < 0) | (ids >= sizes)
    if bad.any():
        k = int(bad.argmax())
        size = np.broadcast_to(sizes, ids.shape)[k]
        where = "" if sequences is None else f" of sequence {sequences[k]}"
        which = f"{ids[k]}" if is_repeat else f"entry {k} is {ids[k]},"
        raise index_error(
            "indices", f"{which} out of range for {size} items{where}", row=k, number=int(ids[k])
        )
