"""Levels added and dropped, axes merged and split, and rows step by step, as methods of a Ragged."""

from __future__ import annotations

import math
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from varlen._core import Level, RaggedBase
from varlen.arguments import SMALLEST, as_int, axis_of
from varlen.backends.values import ArrayT
from varlen.errors import index_error, type_error, value_error
from varlen.levels import check_levels, flatten_levels, level_from, nest_levels, resolve_level
from varlen.ops.dims import merge_dims
from varlen.ops.pack import pack
from varlen.ops.support.inputs import same_kind
from varlen.ops.time_major import ragged2padded
from varlen.tracing import count_of, eager_only

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from varlen.backends.values import Lengths, RowsLike
    from varlen.levels import Levels
    from varlen.types.packed import Packed
    from varlen.types.padded import Padded


class Structure(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them: its levels, and its rows in another order of storage.

    Values that stay in place are shared, and so are the levels that stay.

    Examples
    --------
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.drop_level(0).to_list(), r.drop_level(1).to_list()
    ([[1, 2], [3], [4]], [[1, 2, 3], [4]])
    >>> vl.Ragged([3, 1, 4], [1, 2]).pack().steps()
    [array([1, 3]), array([4])]
    """

    __slots__ = ()

    @eager_only()
    def add_level(self, lengths: Lengths, level: int = 0, *, empty: str | None = None) -> Self:
        """Add a level that groups the items of `level`.

        Parameters
        ----------
        lengths
            The number of items in each group: sequences of `level`, or rows if the new level is the
            innermost. Or a Level.
        level
            The place of the new level: 0 groups whole sequences under a new outermost level, -1 cuts the
            innermost sequences into groups of rows.
        empty
            The sequence of the level above that gets an empty group at the border of two: the one "before"
            the border or the one "after" it. None refuses such a group.

        Returns
        -------
        Ragged
            A Ragged with one more level, over the same values.

        Raises
        ------
        IndexError
            There is no such place.
        ValueError
            The lengths do not add up, or a group lies in two sequences of the level above.

        Examples
        --------
        >>> r = vl.Ragged([1, 2, 3, 4], [3, 1])
        >>> r.add_level([2]).to_list(), r.add_level([2, 1, 1], -1).to_list()
        ([[[1, 2, 3], [4]]], [[[1, 2], [3]], [[4]]])
        """
        depth = len(self._levels)
        place: int = as_int(level, "level", SMALLEST)
        if not -depth - 1 <= place <= depth:
            raise index_error(
                "level", f"{place} is out of range: a new level can have number 0 to {depth}", number=place
            )
        place %= depth + 1
        groups = level_from(lengths, Level.from_lengths, "lengths")
        if place == 0:
            check_levels(len(self._levels[0]), (groups,), "lengths")
            outer_levels: Levels = nest_levels((groups,), "lengths", empty)
            return self._make(self._values, (*outer_levels, *self._levels))
        pair: Levels = nest_levels((self._levels[place - 1], groups), "lengths", empty, place - 1)
        return self._make(self._values, (*self._levels[: place - 1], *pair, *self._levels[place:]))

    @eager_only()
    def drop_level(self, level: int = 0) -> Self:
        """Remove a level; its contents move to the level above. The inverse of `add_level`.

        The outermost level disappears. Any other merges with the level above, whose sequences then directly
        hold the contents of the sequences of `level`.

        Parameters
        ----------
        level
            The level to remove: 0 is the outermost, -1 the innermost.

        Returns
        -------
        Ragged
            A Ragged with one level fewer, over the same values.

        Raises
        ------
        IndexError
            There is no such level.
        ValueError
            There is no other level.

        Examples
        --------
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).drop_level(-1).to_list()
        [[1, 2, 3], [4]]
        """
        levels: Levels = self._levels
        place: int = resolve_level(level, levels)
        if len(levels) == 1:
            raise value_error("level", "a Ragged needs at least one", "its rows without a level are .values")
        if place == 0:
            return self._make(self._values, levels[1:])
        return self._make(
            self._values,
            (*levels[: place - 1], flatten_levels(levels[place - 1 : place + 1]), *levels[place + 1 :]),
        )

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Self | ArrayT:
        """Merge a range of axes, as `torch.flatten` and `ops.merge_dims` do.

        Parameters
        ----------
        start_dim, end_dim
            The first and the last axis that become one; negatives count from the end.

        Returns
        -------
        Ragged, or array or tensor
            The result, which shares the values. It is an array if no ragged axis is left: if the first axis
            is 0, and the last is the last ragged one or after it.

        Raises
        ------
        ValueError
            There is no such axis, or the first is after the last.

        Examples
        --------
        >>> r = vl.Ragged([[3, 1], [4, 1], [5, 9]], [1, 2])
        >>> r.flatten(1).to_list(), r.flatten()
        ([[3, 1], [4, 1, 5, 9]], array([3, 1, 4, 1, 5, 9]))
        """
        ndim = len(self._levels) + self._values.ndim
        first, last = axis_of(start_dim, ndim, "start_dim"), axis_of(end_dim, ndim, "end_dim")
        if first > last:
            raise value_error("start_dim", f"{first} is after end_dim, {last}", number=first)
        result: Self | ArrayT = merge_dims(self, first, last)
        return result

    def reshape(self, *shape: Any) -> Self | ArrayT:
        """Give the rows another shape, or lay all rows end to end, as `numpy.reshape` and `torch.reshape`.

        Parameters
        ----------
        *shape
            The sizes, or one sequence of them. They begin with those of the container, (n, None, ...), where
            -1 may stand for n or None: the rest is the new shape of a row. Or they begin with -1 and have
            numbers alone: then all rows are laid end to end, as (-1,) or (-1, d). One size of a row may be
            -1, and is inferred.

        Returns
        -------
        Ragged, or array or tensor
            A Ragged with the same levels; or the rows end to end, without levels. Values are shared.

        Raises
        ------
        ValueError
            The sizes are not those of the sequences, or do not multiply to the size of a row, so that rows of
            different sequences would be mixed.

        Examples
        --------
        >>> r = vl.Ragged([[3, 1, 4, 1], [5, 9, 2, 6]], [1, 1])
        >>> r.reshape(2, None, 2, 2).shape
        (2, None, 2, 2)
        >>> r.reshape(-1, 4).shape
        (2, 4)
        """
        sizes = tuple(shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
        values: Any = self._values
        depth: int = len(self._levels)
        is_flat = sizes[:1] == (-1,) and None not in sizes and -1 not in sizes[1 : depth + 1]
        rest = sizes[1:] if is_flat else sizes[depth + 1 :]
        axes = (count_of(self._levels[0]), *(None,) * depth)
        if not is_flat and not all(
            size == -1 or size == own for size, own in zip_longest(sizes[: depth + 1], axes, fillvalue=0)
        ):
            raise value_error(
                "shape", f"expected it to begin with {axes}, or -1 for all rows end to end, got {sizes}"
            )
        width, product = math.prod(values.shape[1:]), math.prod([size for size in rest if size != -1])
        if rest.count(-1) == 1 and product:
            rest = tuple(width // product if size == -1 else size for size in rest)
            product = math.prod(rest)
        if not (width % product == 0 if is_flat and product else width == product):
            raise value_error(
                "shape", f"{sizes} does not divide the rows, of shape {tuple(values.shape[1:])}"
            )
        rows = values.reshape(-1 if is_flat and product else values.shape[0], *rest)
        if is_flat:
            return rows  # type: ignore[no-any-return]
        result: Self = same_kind(self, rows)
        return result

    def unflatten(self, dim: int, sizes: Sequence[int]) -> Self:
        """Split one axis of the rows into several, as `torch.unflatten` does.

        Parameters
        ----------
        dim
            An axis after the ragged ones; negatives count from the end.
        sizes
            The sizes of the new axes; one of them may be -1, and is inferred.

        Returns
        -------
        Ragged
            A Ragged with the same levels, which shares the values.

        Raises
        ------
        TypeError
            The axis is ragged, or axis 0; `add_level` groups sequences, and rows inside them.
        ValueError
            There is no such axis, or the sizes do not multiply to its size.

        Examples
        --------
        >>> vl.Ragged([[3, 1, 4, 1]], [1]).unflatten(-1, (2, -1)).to_list()
        [[[[3, 1], [4, 1]]]]
        """
        row_axis = axis_of(dim, len(self._levels) + self._values.ndim, "dim") - len(self._levels)
        if row_axis < 1:
            raise type_error(
                "dim",
                f"expected an axis of the rows, {len(self._levels) + 1} or more, got {dim}; "
                "add_level() groups sequences, and rows inside them",
            )
        values: Any = self._values
        shape = tuple(values.shape)
        product = math.prod([size for size in sizes if size != -1])
        is_divisible = list(sizes).count(-1) == 1 and product > 0 and shape[row_axis] % product == 0
        if not is_divisible and (min(sizes, default=0) < 0 or product != shape[row_axis]):
            raise value_error(
                "sizes", f"{tuple(sizes)} do not multiply to the size of the axis, {shape[row_axis]}"
            )
        widths = [shape[row_axis] // product if size == -1 else size for size in sizes]
        rows = values.reshape(*shape[:row_axis], *widths, *shape[row_axis + 1 :])
        result: Self = same_kind(self, rows)
        return result

    def to_padded(
        self, *, ties: str = "reversed", fill: RowsLike | None = None, max_bytes: int | None = None
    ) -> Padded[ArrayT]:
        """Convert to a Padded: time-major, the longest sequence first; as `ops.ragged2padded`.

        Parameters
        ----------
        ties, fill, max_bytes
            As in `ops.ragged2padded`.

        Returns
        -------
        Padded
            A block (longest, n, ...) of the kind and dtype of the values.

        Raises
        ------
        ValueError
            As in `ops.ragged2padded`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).to_padded().data
        array([[1, 3],
               [4, 0]])
        """
        ragged: Any = self
        result: Padded[ArrayT] = ragged2padded(ragged, ties=ties, fill=fill, max_bytes=max_bytes)
        return result

    def pack(self, *, level: int = -1, order: Any = "stable") -> Packed[ArrayT]:
        """Pack the sequences of a level step by step, the longest first, without padding.

        Parameters
        ----------
        level, order
            As in `ops.pack`.

        Returns
        -------
        Packed
            The same rows step by step, of the kind and dtype of the values.

        Raises
        ------
        IndexError, ValueError
            As in `ops.pack`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [1, 2]).pack().steps()
        [array([1, 3]), array([4])]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).pack(level=0)[0].to_list()
        [[1, 2], [4]]
        """
        result: Packed[ArrayT] = pack(self, level=level, order=order)
        return result
