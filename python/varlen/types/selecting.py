"""Rows and sequences picked, repeated, moved and put in order, as methods of a Ragged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast, overload

from varlen._core import RaggedBase
from varlen.backends.values import ArrayT
from varlen.ops.broadcast import broadcast_rows
from varlen.ops.fill import fill_empty_rows
from varlen.ops.gather import boolean_mask, gather
from varlen.ops.shift import reverse, roll, shift
from varlen.ops.sort import rank, sort_rows, topk, unique
from varlen.ops.tile import tile

if TYPE_CHECKING:
    from typing_extensions import Self

    from varlen.backends.values import RowsLike, SequencesLike


class SelectingMethods(RaggedBase[ArrayT]):
    """Methods of `varlen.Ragged`, which inherits them: what is picked, repeated, moved and ordered.

    `level` names the level inside whose sequences something happens; -1 is the innermost. Methods that move
    take whole sequences of the level below where it is not the innermost. Those that order see all numbers
    of a sequence, with all that nests below it, whose borders are then gone; `axis` in its stead orders along
    an axis. NaN comes last, ascending and descending; equal numbers keep their order. The functions of
    `varlen.ops` say more.

    Examples
    --------
    >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
    >>> r.boolean_mask(r > 1).to_list(), r.tile([1, 2]).to_list()
    ([[3, 4], [], [5]], [[3, 1, 4, 3, 1, 4], [], [1, 5, 1, 5]])
    >>> r = vl.Ragged.from_list([[[3, 2], [1]], [[4]]])
    >>> r.sort().to_list(), r.sort(level=0).to_list()
    ([[[2, 3], [1]], [[4]]], [[1, 2, 3], [4]])
    >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
    >>> r.reverse().to_list(), r.reverse(level=0).to_list()
    ([[[2, 1], [3]], [[4]]], [[[3], [1, 2]], [[4]]])
    """

    __slots__ = ()

    def broadcast_rows(self, rows: SequencesLike, *, level: int = -1) -> Self:
        """Repeat one row per sequence for all values below it: a Ragged that nests like this one.

        What operators do with a Ragged of fewer levels, as a method.

        Parameters
        ----------
        rows, level
            As those of `ops.broadcast_rows`.

        Returns
        -------
        Ragged
            Nests as this one; values of the kind and dtype of the rows.

        Raises
        ------
        ValueError, IndexError
            As those of `ops.broadcast_rows`.

        Examples
        --------
        >>> r = vl.Ragged.from_list([[[1, 2], [3]], [[4]]])
        >>> r.broadcast_rows([7, 8], level=0).to_list(), r.broadcast_rows([7, 8, 9]).to_list()
        ([[[7, 7], [7]], [[8]]], [[[7, 7], [8]], [[9]]])
        """
        result: Self = broadcast_rows(self, rows, level=level)
        return result

    def tile(self, multiples: SequencesLike) -> Self:
        """Repeat the contents of each axis end to end.

        Parameters
        ----------
        multiples
            The number of repeats for each axis, 0 or more.

        Returns
        -------
        Ragged
            With the same levels and dtype, each axis repeated.

        Raises
        ------
        ValueError
            The numbers do not match the axes, or one is below 0.

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
        result: Self = tile(self, multiples)
        return result

    def gather(self, indices: SequencesLike, axis: int | None = None, *, batch_dims: int = 0) -> Self | Any:
        """Take items along an axis by index, from the whole container or inside each sequence.

        Parameters
        ----------
        indices, axis, batch_dims
            As those of `ops.gather`.

        Returns
        -------
        Ragged or array
            The axes before `axis`, those of `indices` behind `batch_dims`, those behind `axis`; an array
            where none of them is ragged.

        Raises
        ------
        TypeError, IndexError, ValueError
            As those of `ops.gather`.

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
        return gather(self, indices, axis=axis, batch_dims=batch_dims)

    @overload
    def boolean_mask(self, mask: SequencesLike, *, flatten: Literal[False] = False) -> Self: ...
    @overload
    def boolean_mask(self, mask: SequencesLike, *, flatten: bool) -> ArrayT | Any: ...
    def boolean_mask(self, mask: SequencesLike, *, flatten: bool = False) -> Self | ArrayT | Any:
        """Keep what a mask marks: sequences, their contents or numbers, depending on the depth of the mask.

        Parameters
        ----------
        mask, flatten
            As those of `ops.boolean_mask`.

        Returns
        -------
        Ragged or array
            A Ragged of the same levels; with `flatten` an array, or a Ragged of the levels below the mask.

        Raises
        ------
        TypeError, ValueError
            As those of `ops.boolean_mask`.

        Examples
        --------
        >>> r = vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2])
        >>> r.boolean_mask(r > 1).to_list(), r.boolean_mask([True, True, False]).to_list()
        ([[3, 4], [], [5]], [[3, 1, 4], []])
        >>> r.boolean_mask(r > 1, flatten=True)
        array([3, 4, 5])
        """
        return boolean_mask(self, mask, flatten=flatten)

    def fill_empty_rows(self, default: RowsLike) -> tuple[Self, ArrayT | Any]:
        """Put one row into each empty innermost sequence, and return which were empty.

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
        return fill_empty_rows(self, default)

    def sort(self, axis: int | None = None, *, level: int = -1, descending: bool = False) -> Self:
        """Sort the rows of each sequence, ascending or descending; as `ops.sort`.

        Parameters
        ----------
        axis
            Instead of `level`: the axis along which numbers are sorted, counted as in NumPy.
        level
            The level inside whose sequences numbers are sorted; levels below it are merged. -1 is the
            innermost.
        descending
            The largest first; NaN stays last.

        Returns
        -------
        Ragged
            Of the same dtype. NaN comes last; equal numbers keep their order. Autograd follows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            There is no such axis, or both an axis and a level are given.
        IndexError
            There is no such level.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).sort(descending=True).to_list()
        [[4, 3, 1], [], [5, 1]]
        """
        result: Self = sort_rows(self, None, axis, level, descending, False)
        return result

    def argsort(self, axis: int | None = None, *, level: int = -1, descending: bool = False) -> Self:
        """The positions that sort each sequence; as `ops.argsort`.

        Parameters
        ----------
        axis, level, descending
            As those of `ops.argsort`.

        Returns
        -------
        Ragged
            int64 places along the axis that is sorted: inside the sequence, and for `axis=0` the numbers of
            the sequences.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.argsort`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1, 5], [3, 0, 2]).argsort().to_list()
        [[1, 0, 2], [], [0, 1]]
        """
        result: Self = sort_rows(self, None, axis, level, descending, True)
        return result

    @overload
    def topk(
        self,
        k: int,
        *,
        level: int = -1,
        largest: bool = True,
        dense: Literal[False] = False,
        fill: RowsLike = 0,
    ) -> tuple[Self, Self]: ...
    @overload
    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: bool, fill: RowsLike = 0
    ) -> tuple[ArrayT | Any, ArrayT | Any]: ...
    def topk(
        self, k: int, *, level: int = -1, largest: bool = True, dense: bool = False, fill: RowsLike = 0
    ) -> tuple[Self | ArrayT | Any, Self | ArrayT | Any]:
        """The k largest numbers of each sequence in order, and their positions; as `ops.topk`.

        Parameters
        ----------
        k
            The number to keep, at least 1; a shorter sequence keeps all.
        level
            The level inside whose sequences they are found; levels below it are merged. -1 is the innermost.
        largest
            True for the largest numbers, largest first; False for the smallest, smallest first.
        dense
            Return rectangles, filled where a sequence is shorter.
        fill
            The fill of the values; positions are filled with -1.

        Returns
        -------
        values, places : Ragged
            Of the dtype of the values, and int64, with min(length, k) rows in each sequence. With `dense`
            arrays (n, k, ...), or of several levels Ragged of those above with such rows.

        Raises
        ------
        TypeError
            The values are not numbers.
        ValueError
            A k below 1, a fill that the dtype cannot hold.
        IndexError
            There is no such level.

        Examples
        --------
        >>> best, which = vl.Ragged([3, 1, 4, 5], [3, 1]).topk(2)
        >>> best.to_list(), which.to_list()
        ([[4, 3], [5]], [[2, 0], [0]])
        """
        return topk(self, k=k, level=level, largest=largest, dense=dense, fill=fill)

    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[False] = False, counts: Literal[False] = False
    ) -> Self: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[True], counts: Literal[False] = False
    ) -> tuple[Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[False] = False, counts: Literal[True]
    ) -> tuple[Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: Literal[True], counts: Literal[True]
    ) -> tuple[Self, Self, Self]: ...
    @overload
    def unique(
        self, *, level: int = -1, inverse: bool = False, counts: bool = False
    ) -> Self | tuple[Self, ...]: ...
    def unique(
        self, *, level: int = -1, inverse: bool = False, counts: bool = False
    ) -> Self | tuple[Self, ...]:
        """The distinct numbers of each sequence, in ascending order; as `ops.unique`.

        Parameters
        ----------
        level, inverse, counts
            As those of `ops.unique`.

        Returns
        -------
        Ragged or tuple of Ragged
            The numbers, as many in a sequence as it has distinct ones; then the inverse, int64, which nests
            as this one; then the counts, int64, like the numbers. All NaN are one, which comes last.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.unique`.

        Examples
        --------
        >>> values, often = vl.Ragged([3, 1, 3, 5], [3, 1]).unique(counts=True)
        >>> values.to_list(), often.to_list()
        ([[1, 3], [5]], [[1, 2], [1]])
        """
        result: Any = unique(self, level=level, inverse=inverse, counts=counts)
        return cast("Self | tuple[Self, ...]", result)

    def rank(self, *, level: int = -1, method: str = "ordinal", descending: bool = False) -> Self:
        """The rank of each number inside its sequence, counted from 1; as `ops.rank`.

        Parameters
        ----------
        level, method, descending
            As those of `ops.rank`.

        Returns
        -------
        Ragged
            Nests as this one: int64, float64 for "average". NaN are equal to each other and rank last.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.rank`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 3, 5], [3, 1]).rank(method="average").to_list()
        [[2.5, 1.0, 2.5], [1.0]]
        """
        result: Self = rank(self, level=level, method=method, descending=descending)
        return result

    def reverse(self, *, level: int = -1) -> Self:
        """Reverse the contents of each sequence; as `ops.reverse`.

        Parameters
        ----------
        level
            As that of `ops.reverse`.

        Returns
        -------
        Ragged
            Of the same lengths at the level; values of the same dtype.

        Raises
        ------
        IndexError
            As those of `ops.reverse`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).reverse().to_list()
        [[1, 3], [4]]
        """
        result: Self = reverse(self, level=level)
        return result

    def shift(self, by: SequencesLike, *, level: int = -1, fill: RowsLike = 0) -> Self:
        """Shift the contents of each sequence by `by` places; as `ops.shift`. Rows that leave it are lost.

        Parameters
        ----------
        by, level, fill
            As those of `ops.shift`.

        Returns
        -------
        Ragged
            Of the same lengths at the level; values of the same dtype.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.shift`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4], [2, 1]).shift(-1, fill=9).to_list()
        [[1, 9], [9]]
        >>> vl.Ragged.from_list([[[1, 2], [3]], [[4]]]).shift(1, level=0).to_list()
        [[[], [1, 2]], [[]]]
        """
        result: Self = shift(self, by=by, level=level, fill=fill)
        return result

    def roll(self, by: SequencesLike, *, level: int = -1) -> Self:
        """Shift the contents of each sequence cyclically by `by` places; as `ops.roll`.

        Parameters
        ----------
        by, level
            As those of `ops.roll`.

        Returns
        -------
        Ragged
            Of the same lengths at the level; values of the same dtype.

        Raises
        ------
        TypeError, ValueError, IndexError
            As those of `ops.roll`.

        Examples
        --------
        >>> vl.Ragged([3, 1, 4, 1], [3, 1]).roll(1).to_list()
        [[4, 3, 1], [1]]
        """
        result: Self = roll(self, by=by, level=level)
        return result
