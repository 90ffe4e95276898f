"""Items picked, left out, repeated and put in, at any axis, as methods of a Ragged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from varlen import _core
from varlen._core import Level, RaggedBase
from varlen.arguments import as_int, as_list, axis_of, fits_memory
from varlen.backends.values import as_values, broadcast_rows, is_tensor, like, row_as, take
from varlen.levels import (
    counted_before,
    describe_difference,
    flatten_levels,
    reindex,
    resolve_level,
    same_levels,
)
from varlen.ops.inputs import as_bools, nested, whole_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Self

    from varlen.backends.values import Values
    from varlen.levels import Levels

    Ints = NDArray[np.int64]


def _in_range(ids: Ints, sizes: Any, owners: Ints | None = None, repeated: bool = False) -> None:
    """Refuse numbers of items that are not there; repeated ones do not stand where the caller put them."""
    bad = (ids < 0) | (ids >= sizes)
    if bad.any():
        k = int(bad.argmax())
        size = np.broadcast_to(sizes, ids.shape)[k]
        where = "" if owners is None else f" of sequence {owners[k]}"
        which = f"{ids[k]}" if repeated else f"entry {k} is {ids[k]},"
        raise IndexError(f"indices: {which} out of range for {size} items{where}")


class Choosing:
    """Methods of `varlen.Ragged`, which inherits them.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    >>> r.boolean_mask(r > 1).to_list(), r.tile([1, 2]).to_list()
    ([[3, 4], [], [5]], [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]])
    """

    __slots__ = ()

    if TYPE_CHECKING:
        _values: Values
        _levels: Levels

        @property
        def ndim(self) -> int: ...

        @classmethod
        def _make(cls, values: Any, levels: Any) -> Self: ...

        def __getitem__(self, key: Any, /) -> Any: ...

        def _under(self, rows: Any, above: Levels) -> Any: ...

    def broadcast_rows(self, rows: Any, level: int = -1) -> Self:
        """A row for each sequence of a level, given to all values below it: a Ragged that nests as this one.

        What operators do with a Ragged of fewer levels, as a method.

        Parameters
        ----------
        rows
            An array (sequences of `level`, ...), or a Ragged of the levels above it, which says the level.

        Raises
        ------
        ValueError
            More or fewer rows than sequences, a Ragged that nests otherwise.
        IndexError
            There is no such level.

        Examples
        --------
        >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
        >>> r.spread([7, 8], level=0).to_list(), r.spread([7, 8, 9]).to_list()
        ([[[7, 7], [7]], [[8]]], [[[7, 7], [8]], [[9]]])
        """
        levels = self._levels
        if isinstance(rows, RaggedBase):
            at = len(rows._levels)
            if at >= len(levels):
                raise ValueError(f"rows: has {at} levels, expected fewer than {len(levels)}")
            if not same_levels(rows._levels, levels[:at]):
                raise ValueError(f"rows: nests otherwise: {describe_difference(levels[:at], rows._levels)}")
            given = rows._values
        else:
            at, given = resolve_level(level, levels), as_values(rows, "rows")
        if len(given) != len(levels[at]):
            raise ValueError(f"rows: has {len(given)} rows, level {at} has {len(levels[at])} sequences")
        return self._make(broadcast_rows(given, flatten_levels(levels[at:])), levels)

    def tile(self, multiples: Any) -> Self:
        """What lies along each axis, so many times, end to end.

        Parameters
        ----------
        multiples
            A number for each axis, 0 or more.

        Raises
        ------
        ValueError
            Another number of numbers than axes, or one below 0.

        Notes
        -----
        As TensorFlow's `tf.tile`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([1, 2]).to_list()
        [[3, 1, 3, 1], [4, 4]]
        >>> vl.Ragged([3, 1, 4], [2, 1]).tile([2, 1]).to_list()
        [[3, 1], [4], [3, 1], [4]]
        """
        times = [as_int(m, "multiples") for m in as_list(multiples, "multiples", "numbers, one an axis")]
        if len(times) != self.ndim:
            raise ValueError(f"multiples: {len(times)} numbers for {self.ndim} axes")
        levels, values = self._levels, self._values
        depth = len(levels)
        fits_memory(max(levels[-1].total, len(levels[0])) * math.prod(times), "multiples")
        if any(m != 1 for m in times[depth + 1 :]):
            inner = (1, *times[depth + 1 :])
            values = values.repeat(inner) if is_tensor(values) else np.tile(values, inner)
        r = self._make(values, levels)
        for axis in range(depth, 0, -1):
            if times[axis] != 1:
                r = r._tiled(axis - 1, times[axis])
        return r if times[0] == 1 else r[np.tile(np.arange(len(levels[0])), times[0])]

    def _tiled(self, at: int, times: int) -> Self:
        """The content of each sequence of a level, so many times."""
        levels = self._levels
        n = len(levels[at])
        content = self._make(self._values, levels[at:])[np.repeat(np.arange(n), times)]
        offsets = content._levels[0].offsets[np.arange(n + 1) * times]
        outer = (*levels[:at], Level.from_offsets(offsets))
        return self._make(content._values, (*outer, *content._levels[1:]))

    def gather(self, indices: Any, axis: int | None = None, batch_dims: int = 0) -> Any:
        """Items of an axis by their numbers: of the whole, or of each sequence from numbers of its own.

        Parameters
        ----------
        indices
            Integers, an array or a Ragged of any depth; with `batch_dims` its first axes are those of this
            Ragged. Numbers count from 0 in the sequence that they pick from; none is negative.
        axis
            Of what items are picked: 0 sequences, then what is in them, then rows' axes; `batch_dims` by
            default. Beyond `batch_dims` all sequences take the same numbers.
        batch_dims
            How many axes both share.

        Returns
        -------
        The axes before `axis`, those of `indices` behind `batch_dims`, those behind `axis`; an array where
        no axis of it is ragged by kind.

        Raises
        ------
        TypeError
            Indices that are no integers.
        IndexError
            One that is negative or beyond its sequence, which is named.
        ValueError
            No such axis; indices that nest otherwise in the axes that both share.

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
        shared = as_int(batch_dims, "batch_dims")
        at = axis_of(shared if axis is None else axis, self.ndim)
        depth = len(self._levels)
        if shared > min(at, depth):
            raise ValueError(f"batch_dims: expected at most {min(at, depth)}, got {shared}")
        if at > depth:
            return self._gathered_in_rows(indices, at - depth, shared)
        given, nest = nested(indices, "indices", max(shared, 1))
        given, nest = nested(self._make(given, nest) if nest else given, "indices", len(nest) + given.ndim)
        ids = whole_numbers(given, "indices")
        kept = max(shared - 1, 0)
        if not same_levels(nest[:kept], self._levels[:kept]):
            raise ValueError(
                f"indices: nests otherwise: {describe_difference(self._levels[:kept], nest[:kept])}"
            )
        if at == 0:
            _in_range(ids, len(self._levels[0]))
            return self._picked(ids, nest, 0)
        ids, inner = self._numbers_of(ids, nest[kept:], at, shared)
        level = self._levels[at - 1]
        owners = flatten_levels(inner).row_ids if inner else np.arange(len(level))
        _in_range(ids, level.lengths[owners], owners, at > shared)
        return self._picked(level.offsets[owners] + ids, (*self._levels[: at - 1], *inner), at)

    def _numbers_of(self, ids: Ints, inner: Levels, at: int, shared: int) -> tuple[Any, Levels]:
        """The numbers that each sequence of level `at` - 1 takes, from those of the batch that it is in."""
        levels = self._levels
        if shared == 0:
            first = len(inner[0]) if inner else len(ids)
            inner = (Level.from_offsets(np.array([0, first])), *inner)
        else:
            count, given = len(levels[shared - 1]), len(inner[0] if inner else ids)
            if given != count:
                raise ValueError(f"indices: has {given} sequences, level {shared - 1} has {count}")
        if at == shared:
            return ids, inner
        n = len(levels[at - 1])
        owner = flatten_levels(levels[shared - 1 : at - 1]).row_ids if shared else np.zeros(n, np.int64)
        if not inner:
            return ids[owner], inner
        return _core.gather(ids, inner, owner)

    def _picked(self, rows: Ints, above: Levels, at: int) -> Any:
        """Items of an axis by their numbers in the whole, below levels that are given."""
        below = self._levels[at:]
        if not below:
            return self._under(take(self._values, rows), above)
        content = self._make(self._values, below)[rows]
        return self._make(content._values, (*above, *content._levels))

    def _gathered_in_rows(self, indices: Any, axis: int, shared: int) -> Self:
        if shared or isinstance(indices, RaggedBase):
            raise ValueError("indices: along an axis of rows, expected an array, and no batch_dims")
        ids = whole_numbers(indices, "indices")
        _in_range(ids.reshape(-1), self._values.shape[axis])
        values = self._values[(slice(None),) * axis + (like(ids, self._values),)]
        return self._make(as_values(values), self._levels)

    def boolean_mask(self, mask: Any, *, flatten: bool = False) -> Any:
        """What a mask is true for: sequences, what is in them, or numbers, as deep as the mask goes.

        Parameters
        ----------
        mask
            Bools: an array over the outermost sequences, a Ragged of the outer levels with a bool for each
            of its rows, or one that nests as this one, rows' axes included where it has them.
        flatten
            What is left, without the levels of the mask, as TensorFlow's `tf.boolean_mask`; else sequences
            keep their place, as with `tf.ragged.boolean_mask`.

        Raises
        ------
        TypeError
            A mask of another dtype.
        ValueError
            A mask that nests otherwise.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.boolean_mask(r > 1).to_list(), r.boolean_mask([True, True, False]).to_list()
        ([[3, 4], [], [5]], [[3, 1, 4], []])
        >>> r.boolean_mask(r > 1, flatten=True)
        array([3, 4, 5])
        """
        given, nest = nested(mask, "mask")
        axes = len(nest) + given.ndim
        if axes > self.ndim:
            raise ValueError(f"mask: has {axes} axes, this Ragged {self.ndim}")
        given, nest = nested(self._make(given, nest) if nest else given, "mask", axes)
        values, levels = nested(self, "self", max(axes, len(self._levels) + 1))
        if not same_levels(nest, levels[: axes - 1]):
            raise ValueError(f"mask: nests otherwise: {describe_difference(levels[: axes - 1], nest)}")
        there = as_bools(given, mask, "mask")
        if not nest and len(there) != len(levels[0]):
            raise ValueError(f"mask: has {len(there)} entries for {len(levels[0])} sequences")
        if nest:
            nest = (*nest[:-1], reindex(nest[-1], counted_before(there)))
        r = self._make(values, levels)
        return r._picked(np.flatnonzero(there), () if flatten else nest, axes - 1)

    def fill_empty_rows(self, default: Any) -> tuple[Self, Any]:
        """One row in each innermost sequence that had none, and which those were.

        Parameters
        ----------
        default
            The row: a number, or what broadcasts to one.

        Returns
        -------
        (Ragged, indicator)
            Bools, True for sequences that were empty: (n,), or a Ragged of the levels above.

        Raises
        ------
        ValueError
            A default that the dtype cannot hold, or of another shape.

        Notes
        -----
        As TensorFlow's `tf.ragged.fill_empty_rows`.

        Examples
        --------
        >>> filled, was_empty = vl.Ragged([3, 1, 4], [2, 0, 1]).fill_empty_rows(-1)
        >>> filled.to_list(), was_empty
        ([[3, 1], [-1], [4]], array([False,  True, False]))
        """
        level, values = self._levels[-1], self._values
        empty = level.lengths == 0
        filled = Level.from_lengths(np.where(empty, 1, level.lengths))
        row = row_as(default, values, "default")
        if isinstance(values, np.ndarray):
            before = level.offsets[:-1][empty]
            rows = np.broadcast_to(row, (len(before), *row.shape[1:]))
            result = _core.insert_rows(values, before, np.ascontiguousarray(rows))
        else:
            from varlen.backends.torch.concat import concat

            index = np.full(filled.total, level.total)
            index[~np.repeat(empty, filled.lengths)] = np.arange(level.total)
            result = take(concat([values, row]), index)
        r = self._make(result, (*self._levels[:-1], filled))
        return r, self._under(like(empty, values), self._levels[:-1])
